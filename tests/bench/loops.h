// SPDX-License-Identifier: MIT
// Worker loops that the interpreter is measured on, each launched on all workers of a tile, some
// times one after another.
#pragma once

#include "models/isa/assembler.h"
#include "models/isa/machine_target.h"
#include "models/spec/machine_spec.h"
#include "models/tile/core/tile_core.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace tessera::bench {

inline const char* const kFrame = R"(
        .supervisor
        .globl start
        start:
            setzi $m0, worker
            setzi $m1, LAUNCHES
        1:  runall $m0, $mzero, 0
            sync TEXCH_SYNCZONE_LOCAL
            brnzdec $m1, 1b
            br $lr
        .worker
        .align 8
        worker:
)";

inline const char* const kMatrix = R"(
            setzi $m4, 0x80000
            setzi $m5, 0x90000
            setzi $m6, 0x8ffa8
            tapack $m4:5, $m4, $m5, $m6
            .align 8
            { rpt 1000, 3 ; fnop }
            { ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0 ; f16v4hihov4amp $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P0 }
            { ld2xst64pace $a0:3, $a6:7, $m4:5+=, $mzero, 0 ; f16v4hihov4amp $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P1 }
            { ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0 ; f16v4hihov4amp $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P2 }
            { ld2xst64pace $a0:3, $a6:7, $m4:5+=, $mzero, 0 ; f16v4hihov4amp $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P3 }
            exitz $mzero
)";

inline const char* const kMatrixSingles = R"(
            setzi $m4, 0x80000
            setzi $m5, 0x90000
            setzi $m6, 0x8ffa8
            tapack $m4:5, $m4, $m5, $m6
            .align 8
            { rpt 1000, 3 ; fnop }
            { ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0 ; f16v4sisoamp $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P0 }
            { ld2xst64pace $a0:3, $a6:7, $m4:5+=, $mzero, 0 ; f16v4sisoamp $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P1 }
            { ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0 ; f16v4sisoamp $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P2 }
            { ld2xst64pace $a0:3, $a6:7, $m4:5+=, $mzero, 0 ; f16v4sisoamp $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P3 }
            exitz $mzero
)";

inline const char* const kSparse = R"(
            setzi $m2, 0x80000
            setzi $m3, 0x90000
            setzi $m4, 0xa0000
            setzi $m5, 0
            .align 8
            { rpt 1000, 2 ; fnop }
            { ld64 $a2:3, $m2, $m5, 1 ; f16v8acc $a4:7 }
            { ldd16a64 $a2:3, $m3++, $m2, $m5@ ; f16v4mul $a6:7, $a0:BL, $a2:3 }
            { ldb16step $a0, $mzero, $m4+=, 1 ; f16v4mul $a4:5, $a0:BL, $a2:3 }
            exitz $mzero
)";

inline const char* const kInteger = R"(
            setzi $m2, 2000
            .align 8
        1:  add $m3, $m3, 1
            xor $m4, $m3, $m4
            brnzdec $m2, 1b
            exitz $mzero
)";

/// A tile with a loop.
class LoopTile {
public:
    explicit LoopTile(const char* body, int launches = 401, tile::TimingMode* timing = nullptr)
        : codelets_{isa::assemble("bench",
                                  {{"bench.S", "#define LAUNCHES " + std::to_string(launches - 1) +
                                                   "\n" + kFrame + body}},
                                  machine_.memory.region0_begin(),
                                  isa::options_for(isa::kDefaultTarget))},
          memory_(static_cast<std::size_t>(machine_.memory.bytes()) / 8), cache_(codelets_),
          core_(machine_, 0, reinterpret_cast<std::byte*>(memory_.data())) {
        const auto& words = codelets_.front().words;
        auto bytes = std::make_shared<std::vector<std::byte>>(words.size() * 4);
        std::memcpy(bytes->data(), words.data(), bytes->size());
        program::Image image;
        image.segments.push_back({codelets_.front().address, static_cast<Bytes>(bytes->size()),
                                  program::SegmentKind::Code, "bench", bytes});
        if (timing != nullptr) {
            core_.set_timing(*timing);
        }
        core_.load(image, cache_);
    }

    tile::TileCore& core() { return core_; }
    tile::ComputeOutcome run() { return core_.run(codelets_.front().symbols.at("start")); }

private:
    spec::MachineSpec machine_;
    std::vector<program::Codelet> codelets_;
    std::vector<std::uint64_t> memory_;
    tile::CodeCache cache_;
    tile::TileCore core_;
};

} // namespace tessera::bench
