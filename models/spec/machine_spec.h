// SPDX-License-Identifier: MIT
// Every parameter of a machine, as plain structs. The name of a field is its JSON key, its --set
// path
// (`tile.workers`) and the prefix of its errors. Defaults are those of `bow`.
#pragma once

#include "base/units.h"

#include <cstdint>
#include <string>

namespace tessera::spec {

/// Instruction-set generation: ipu1 (GC2), ipu2 (GC200, Bow), ipu21 (C600).
enum class Generation { Ipu1, Ipu2, Ipu21 };

/// What a region-0 data access inside the instruction fetch window does.
enum class FetchConflict { Error, Ignore };

struct ChipSpec {
    Generation generation = Generation::Ipu2;
    std::int64_t tiles = 1472;
    double clock_hz = 1.85e9;
};

struct TileSpec {
    std::int64_t workers = 6;   ///< worker contexts = issue slots
    Cycles pipeline_cycles = 6; ///< source of launch, branch, dependency and exit costs
    Cycles unaligned_bundle_issues =
        1; ///< extra worker issues, taken branch to a bundle at 4 mod 8
    FetchConflict fetch_conflict = FetchConflict::Error;
};

struct MemorySpec {
    std::int64_t base = 0x4c000;   ///< first byte of region 0
    Bytes region0_bytes = 0x34000; ///< executable, not interleaved
    Bytes region1_bytes = 0x68000; ///< interleaved by two, not executable
    Bytes element_bytes = 0x4000;  ///< one 64-bit access a cycle each

    [[nodiscard]] Address region0_begin() const { return static_cast<Address>(base); }
    [[nodiscard]] Address region1_begin() const {
        return static_cast<Address>(base + region0_bytes);
    }
    [[nodiscard]] Address end() const {
        return static_cast<Address>(base + region0_bytes + region1_bytes);
    }
    [[nodiscard]] Bytes bytes() const { return region0_bytes + region1_bytes; }
};

struct AmpSpec {
    std::int64_t sets = 2;          ///< sets of eight units (1 on ipu1)
    std::int64_t macs_f16_f16 = 64; ///< multiply-accumulates a tile cycle, FP16 partials
    std::int64_t macs_f16_f32 = 32; ///< the same with FP32 partials
    std::int64_t macs_f32_f32 = 16;
};

struct ExchangeSpec {
    bool pair_double = true;          ///< 8 B a cycle into tile pairs that receive the same data
    std::int64_t pair_min_items = 64; ///< shortest 64-bit message, in 8-byte items
    std::int64_t max_words_per_send = 64;
    std::int64_t max_words_per_sendoff = 4096;
    Cycles mux_to_pointer_cycles = 52;    ///< from a mux event to the pointer, row 0
    Cycles mux_to_pointer_row_cycles = 2; ///< more of it for each row of the grid
    Cycles row_tail_cycles = 6;           ///< events a row stays alive after its last arrival
    Cycles row_return_cycles = 6;         ///< the `br` that ends a row
    Cycles prologue_cycles = 30;          ///< base pointers, sync and call before a row
};

struct SyncSpec {
    Cycles internal_cycles = 126; ///< last arrival to last release, one chip
};

struct ControlSpec {
    Cycles step_cycles = 11; ///< entering one compute set from the control program
};

struct MachineSpec {
    std::string name = "bow";
    ChipSpec chip;
    TileSpec tile;
    MemorySpec memory;
    AmpSpec amp;
    ExchangeSpec exchange;
    SyncSpec sync;
    ControlSpec control;
};

} // namespace tessera::spec
