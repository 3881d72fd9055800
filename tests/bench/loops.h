// SPDX-License-Identifier: MIT
// Worker loops that the interpreter is measured on, each launched on all workers of a tile, some
// times one after another.
#pragma once

#include "kernels/codelets/embedded_sources.h"
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

/// Both operands are singles; a pair of inputs feeds two steps.
inline const char* const kMatrixSingleInputs = R"(
            setzi $m4, 0x80000
            setzi $m5, 0x90000
            setzi $m6, 0x8ffa8
            tapack $m4:5, $m4, $m5, $m6
            .align 8
            { rpt 500, 7 ; fnop }
            { ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0 ; f32sisov2amp $a4:5, $a0, $a2:3, TAMP_F32_E4_P2 }
            { ld2xst64pace $a0:3, $a6:7, $m4:5+=, $mzero, 0 ; f32sisov2amp $a6:7, $a1, $a2:3, TAMP_F32_E4_P3 }
            { ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0 ; f32sisov2amp $a4:5, $a0, $a2:3, TAMP_F32_E4_P4 }
            { ld2xst64pace $a0:3, $a6:7, $m4:5+=, $mzero, 0 ; f32sisov2amp $a6:7, $a1, $a2:3, TAMP_F32_E4_P5 }
            { ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0 ; f32sisov2amp $a4:5, $a0, $a2:3, TAMP_F32_E4_P6 }
            { ld2xst64pace $a0:3, $a6:7, $m4:5+=, $mzero, 0 ; f32sisov2amp $a6:7, $a1, $a2:3, TAMP_F32_E4_P7 }
            { ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0 ; f32sisov2amp $a4:5, $a0, $a2:3, TAMP_F32_E4_P0 }
            { ld2xst64pace $a0:3, $a6:7, $m4:5+=, $mzero, 0 ; f32sisov2amp $a6:7, $a1, $a2:3, TAMP_F32_E4_P1 }
            exitz $mzero
)";

/// FP8 operands, FP16 partials: of the third generation.
inline const char* const kMatrixQuarters = R"(
#include <poplar/TileConstants.hpp>
            setzi $m4, 0x80000
            setzi $m5, 0x90000
            setzi $m6, 0x8ffa8
            tapack $m4:5, $m4, $m5, $m6
            .align 8
            { rpt 1000, 3 ; fnop }
            { ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0 ; f8v8hihov4amp $a4:5, $a0:1, $a2:3, TAMP_F8V8_E4_P0 }
            { ld2xst64pace $a0:3, $a6:7, $m4:5+=, $mzero, 0 ; f8v8hihov4amp $a6:7, $a0:1, $a2:3, TAMP_F8V8_E4_P1 }
            { ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0 ; f8v8hihov4amp $a4:5, $a0:1, $a2:3, TAMP_F8V8_E4_P2 }
            { ld2xst64pace $a0:3, $a6:7, $m4:5+=, $mzero, 0 ; f8v8hihov4amp $a6:7, $a0:1, $a2:3, TAMP_F8V8_E4_P3 }
            exitz $mzero
)";

/// What kSparse adds to its address stands here, for all passes: known where there are no data.
constexpr Address kSparseOffsets = 0x90000;
constexpr Bytes kSparseOffsetBytes = 4096;

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

/// The product of 16 x 16 blocks (kernels/codelets/spmm_block16.S), called some times.
inline const char* const kBlockFrame = R"(
        .supervisor
        .globl start
        start:
            mov $m9, $lr
            setzi $m8, LAUNCHES
        1:  setzi $m0, STATE
            call $lr, CODELET
            brnzdec $m8, 1b
            br $m9
)";

/// A tile with code whose symbol `start` is run.
class BenchTile {
public:
    /// `timing`, if given, outlives the tile, which then has no data.
    BenchTile(spec::MachineSpec machine, const std::vector<isa::SourceFile>& sources,
              tile::TimingMode* timing)
        : machine_(std::move(machine)), codelets_{assembled(machine_, sources)},
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
    [[nodiscard]] Address symbol(const std::string& name) const {
        return codelets_.front().symbols.at(name);
    }
    tile::ComputeOutcome run() { return core_.run(symbol("start")); }

private:
    static program::Codelet assembled(const spec::MachineSpec& machine,
                                      const std::vector<isa::SourceFile>& sources) {
        isa::AssemblyOptions options = isa::options_for(isa::target_of(machine));
        options.embedded = codelets::embedded_sources();
        return isa::assemble("bench", sources, machine.memory.region0_begin(), options);
    }

    spec::MachineSpec machine_;
    std::vector<program::Codelet> codelets_;
    std::vector<std::uint64_t> memory_;
    tile::CodeCache cache_;
    tile::TileCore core_;
};

constexpr int kUsualLaunches = 41;

/// A machine that has all the loops' instructions.
inline spec::MachineSpec machine_of_loops() {
    spec::MachineSpec machine;
    machine.chip.generation = spec::Generation::Ipu21;
    return machine;
}

/// A tile with one of the loops.
class LoopTile : public BenchTile {
public:
    explicit LoopTile(const char* body, int launches = kUsualLaunches,
                      tile::TimingMode* timing = nullptr)
        : BenchTile(machine_of_loops(),
                    {{"bench.S",
                      "#define LAUNCHES " + std::to_string(launches - 1) + "\n" + kFrame + body}},
                    timing) {}
};

/// A tile with a list of 16 weight loads, each over 384 columns. `codelet` is spmm_block16_f16 or
/// spmm_block16_f32.
class BlockSparseTile : public BenchTile {
public:
    explicit BlockSparseTile(const std::string& codelet, int launches,
                             tile::TimingMode* timing = nullptr)
        : BenchTile(machine_of_loops(), sources(codelet, launches), timing) {
        const Address entry = symbol(codelet + "_add");
        put(kState, {kWeights, kEntries, kLoads - 1, kColumns / 6, kColumns % 6}, timing);
        std::vector<std::uint32_t> list;
        for (std::uint32_t load = 0; load < kLoads; ++load) {
            list.insert(list.end(), {kInputs, kOutputs, entry});
        }
        put(kEntries, list, timing);
    }

private:
    static constexpr std::uint32_t kLoads = 16;
    static constexpr std::uint32_t kColumns = 384;
    static constexpr Address kState = 0x7c000;
    static constexpr Address kEntries = 0x7c100;
    static constexpr Address kWeights = 0x80000;
    static constexpr Address kInputs = 0x90000;
    static constexpr Address kOutputs = 0xa0000;

    static std::vector<isa::SourceFile> sources(const std::string& codelet, int launches) {
        const std::string text = "#define LAUNCHES " + std::to_string(launches - 1) +
                                 "\n#define CODELET " + codelet + "\n#define STATE " +
                                 std::to_string(kState) + "\n" + kBlockFrame;
        const std::string type = codelet.substr(codelet.rfind('_'));
        std::vector<isa::SourceFile> chosen{{"bench.S", text}};
        for (const auto& source : codelets::embedded_sources()) {
            if (source.name == codelet + ".S" || source.name == "matmul_amp" + type + ".S") {
                chosen.push_back(source);
            }
        }
        return chosen;
    }

    void put(Address at, const std::vector<std::uint32_t>& words, tile::TimingMode* timing) {
        const auto to = core().memory(at, static_cast<Bytes>(words.size() * 4));
        std::memcpy(to.data(), words.data(), to.size());
        if (timing != nullptr) {
            timing->known.learn(0, at, static_cast<Bytes>(to.size()));
        }
    }
};

} // namespace tessera::bench
