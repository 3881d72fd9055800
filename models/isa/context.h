// SPDX-License-Identifier: MIT
// The state that instructions act on: one context's registers, its accumulators, and views of the
// tile's memory and weight store. Plain data; the functions of exec/ do the work.
#pragma once

#include "base/units.h"
#include "models/isa/instruction.h"
#include "models/isa/target.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace tessera::isa {

/// A tile's memory as instructions see it.
struct MemoryView {
    std::byte* bytes = nullptr; ///< first byte of region 0
    Address base = 0;
    std::uint32_t span_bytes = 0;
    std::uint32_t region0_bytes = 0;
    std::uint32_t element_shift = 14;
    bool fetch_conflict_faults = true;
    std::uint32_t code_begin =
        0; ///< offsets between which all code lies: a store into code is not modelled
    std::uint32_t code_end = 0;
};

/// The type for which the lanes of a WeightStore are widened.
enum class WeightLanes : std::uint8_t {
    Halves,        ///< FP16, all of them numbers
    SpecialHalves, ///< FP16, some that raise a flag when they are used
    Singles,       ///< FP32
    Quarters143,   ///< FP8 with three fraction bits
    Quarters152,   ///< FP8 with two fraction bits
    Stale,         ///< registers changed since
};

/// The weight store that a tile's contexts share: 64 registers of 64 bits, index unit * 4 + n, and
/// its values widened for the matrix unit when an instruction first needs them so (exec/weights.h).
/// `lanes[n][k][unit]` is half k of register unit * 4 + n; taken as 16 rows of 16, row 2 n + k
/// holds its FP32 value k. `quarters` are the FP8 values.
struct WeightStore {
    std::array<std::uint64_t, 64> registers{};
    alignas(64) float lanes[4][4][16] = {};
    alignas(64) float quarters[4][8][16] = {};
    WeightLanes made_for = WeightLanes::Halves;
    std::array<std::uint16_t, 4>
        special_units{}; ///< by n: units with an infinite or signalling half
    alignas(
        64) float channels[4][4][16] = {}; ///< `lanes` by output channel, for exec/matrix_loop.h
    bool channels_made = false;            ///< of the present lanes
    bool are_numbers = true;               ///< the present lanes of halves: none is infinite or NaN

    /// To be called after a change of `registers`.
    void changed() { made_for = WeightLanes::Stale; }
};

/// Accumulators by unit: AACC[2u] is even[u], AACC[2u + 1] is odd[u]; the second set are units 8
/// to 15.
struct Accumulators {
    alignas(64) float even[16] = {};
    alignas(64) float odd[16] = {};
};

/// The generator's state after `seed` is written to PRNG_SEED. What it is before that is not
/// published: Tessera starts every context with seed 1 (docs/deviations.md, prng-initial).
[[nodiscard]] constexpr std::array<std::uint64_t, 2> seeded_random_state(std::uint32_t seed) {
    const std::uint32_t other = ~seed;
    const std::uint32_t low = (seed << 13U) | (other >> 19U);
    const std::uint32_t high = (other << 13U) | (seed >> 19U);
    return {seed | (static_cast<std::uint64_t>(other) << 32U),
            low | (static_cast<std::uint64_t>(high) << 32U)};
}

/// One executable operation: an instruction with its registers mapped to indices of Context::main
/// and Context::aux, or an internal step of a bundle.
struct MicroOperation {
    std::uint16_t code = 0; ///< an Opcode, or an Internal from Opcode::kCount on
    Broadcast broadcast = Broadcast::None;
    std::uint8_t d = 0;
    std::uint8_t a = 0;
    std::uint8_t b = 0;
    std::uint8_t c = 0;
    std::uint8_t d2 = 0; ///< second destination of ld2x64pace
    std::int32_t imm = 0;
    std::int32_t imm2 = 0;
};

/// Where a store of `$aN` numbers lands: 8..15 read as zero, 16..23 take discarded writes, 24..27
/// hold a loaded value until the other half of the bundle has read its operands.
inline constexpr unsigned kAuxZero = 8;
inline constexpr unsigned kAuxDiscard = 16;
inline constexpr unsigned kAuxStage = 24;
inline constexpr unsigned kMainDiscard = 16;
/// Stepped operands on $m12..$m15 are copied here first, and their new values left here: at most
/// two, or a pair.
inline constexpr unsigned kMainCopies = 18;
inline constexpr unsigned kMainReadOnly = 12; ///< $m12..$m15 keep their values

struct DecodedProgram;
class JumpLog;
class ShadowMemory;

/// One access of an instruction to tile memory, as it happened.
struct MemoryAccess {
    Address address = 0;
    std::uint8_t access_bytes = 0;
    bool writes = false;
    std::array<std::uint32_t, 4> words{}; ///< what stood in the 32-bit words that it touches
};

/// The access to bytes inside memory that comes next.
[[nodiscard]] inline MemoryAccess access_to(const MemoryView& memory, Address address,
                                            unsigned access_bytes, bool writes) {
    MemoryAccess access{address, static_cast<std::uint8_t>(access_bytes), writes};
    const std::uint32_t offset = address - memory.base;
    std::memcpy(access.words.data(), memory.bytes + offset / 4U * 4U,
                access_bytes < 4 ? 4 : access_bytes);
    return access;
}

enum class ConflictKind : std::uint8_t {
    Fetch,   ///< data in the region-0 element that instructions are fetched from
    Element, ///< two accesses of one instruction in one memory element
};

/// A memory rule that an instruction broke, where the run was to go on.
struct MemoryConflict {
    ConflictKind kind = ConflictKind::Fetch;
    Address address = 0;
};

/// Accesses and conflicts of a context, as the observed engine (stepped_engine.h) notes them. The caller
/// empties it.
struct AccessLog {
    std::vector<MemoryAccess> accesses;
    std::vector<MemoryConflict> conflicts;
    bool conflicts_fault = true; ///< false: conflicts are noted here and the run goes on
};

struct Context {
    static constexpr std::int64_t kNoIssue = -2; ///< one that no issue follows

    alignas(32) std::uint32_t aux[32] = {};
    /// 0..15 architectural (14 and 15 read zero), 16 and 17 take discarded writes, 18 and 19 copies
    std::uint32_t main[20] = {};
    Accumulators accumulators;
    MemoryView* memory = nullptr;
    WeightStore* weights = nullptr;
    const DecodedProgram* program = nullptr;         ///< the one that is being executed
    std::span<const DecodedProgram* const> programs; ///< all that the tile holds

    std::uint32_t fp_control = 0; ///< FP_CTL
    std::uint32_t fp_status = 0;  ///< FP_STS: sticky flags
    std::uint32_t tas = 0;        ///< $TAS: scalars of f32v2axpy and f16v4mix
    std::uint32_t fp_format = 0;  ///< FP_NFMT: which of two FP8 formats
    std::uint32_t fp_scale = 0;   ///< FP_SCL: of FP8 products and conversions
    /// PRNG: {P01:P00}, {P11:P10}
    std::array<std::uint64_t, 2> random = seeded_random_state(1);
    std::array<std::uint32_t, 2> debug{};     ///< DBG_DATA and DBG_BRK_ID: plain storage
    const Target* machine = &kDefaultTarget;  ///< what the generation of the machine can do
    std::int32_t number = -1;                 ///< worker number, or -1 for the supervisor
    Cycles start_cycle = 0;                   ///< of the first issue
    std::int64_t unaligned_bundle_issues = 1; ///< extra, branch to a bundle at 4 mod 8
    std::int64_t cycles_per_issue = 6;        ///< slots of a round; 1 for the supervisor
    std::uint32_t fetch_window_bytes = 16;    ///< how far instructions are fetched ahead
    std::int64_t issue_limit = 0;             ///< a worker that has not exited by then never will
    /// Slots used: less those that Position counts up to the running operation; after an exit all.
    std::int64_t issues = 0;
    JumpLog* jump_log = nullptr;    ///< of all workers of the tile, or of the supervisor
    std::size_t program_number = 0; ///< of `program`, in `programs` and in the log
    std::int64_t* jumps = nullptr;  ///< JumpLog::times of `program`
    /// Where steps of the matrix unit share issues (Target::steps_sharing): the issue of the last
    /// one, and how many it holds.
    std::int64_t step_issue = kNoIssue;
    std::int64_t steps_in_issue = 0;

    // control state
    Address target = 0; ///< where a taken branch goes
    bool taken = false;
    bool exited = false;
    std::uint32_t repeat_count = 0; ///< passes still to do of the running rpt body
    bool rows_at_once = true;       ///< whether matrix-unit bodies may be done by rows at all
    bool repeat_by_rows =
        false; ///< the running body may still be done by rows (exec/matrix_loop.h)
    Address repeat_first = 0;
    Address repeat_end = 0; ///< first address behind the body
    const MicroOperation* repeat_first_operation = nullptr;
    const MicroOperation* repeat_end_operation = nullptr; ///< its BodyEnd
    std::int64_t repeat_issues = 0; ///< what going back to the first operation adds

    /// For the shadow engine only: what it knows of memory, its registers $m0..$m11 that it does not
    /// know, as bits, and those that follow from a round that the phase has not had to know yet.
    ShadowMemory* shadow = nullptr;
    std::uint32_t unknown = 0;
    std::uint32_t by_round = 0;

    AccessLog* log = nullptr; ///< only the observed engine writes it, and needs it
};

/// Stops the run: a rule of the machine is broken, or the case is not modelled.
struct ExecutionFault {
    std::string reason;
    bool not_modelled = false;
    const MicroOperation* operation = nullptr;
    bool needs_data = false; ///< not modelled, as timing mode has no tensor data
    bool endless = false;    ///< a limit of cycles: the context seems to loop for ever
};

/// Thrown by an engine that runs one context at a time where a context comes to a WaitLoop: the
/// phase has to be run slot by slot.
struct ContextsMeet {};

} // namespace tessera::isa
