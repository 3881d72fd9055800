// SPDX-License-Identifier: MIT
// Bundles a second of one tile on one core: a matrix-unit loop by rows and bundle by bundle, an
// element-sparse loop and an integer loop, with each engine. Prints JSON.
#include "models/isa/assembler.h"
#include "models/isa/engine.h"
#include "models/tile/core/tile_core.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace tessera;

namespace {

const char* const kFrame = R"(
        .supervisor
        .globl start
        start:
            setzi $m0, worker
            setzi $m1, 400
        1:  runall $m0, $mzero, 0
            sync TEXCH_SYNCZONE_LOCAL
            brnzdec $m1, 1b
            br $lr
        .worker
        .align 8
        worker:
)";

const char* const kMatrix = R"(
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

const char* const kSparse = R"(
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

const char* const kInteger = R"(
            setzi $m2, 2000
            .align 8
        1:  add $m3, $m3, 1
            xor $m4, $m3, $m4
            brnzdec $m2, 1b
            exitz $mzero
)";

double bundles_per_s(const isa::Engine& engine, const char* body, bool rows_at_once) {
    const spec::MachineSpec machine;
    std::vector<program::Codelet> codelets{
        isa::assemble("bench", {{"bench.S", std::string(kFrame) + body}},
                      machine.memory.region0_begin(), isa::options_for(isa::kDefaultTarget))};
    std::vector<std::uint64_t> memory(static_cast<std::size_t>(machine.memory.bytes()) / 8);
    tile::CodeCache cache(codelets);
    tile::TileCore core(machine, 0, reinterpret_cast<std::byte*>(memory.data()));
    auto bytes = std::make_shared<std::vector<std::byte>>(codelets[0].words.size() * 4);
    std::memcpy(bytes->data(), codelets[0].words.data(), bytes->size());
    program::Image image;
    image.segments.push_back({codelets[0].address, static_cast<Bytes>(bytes->size()),
                              program::SegmentKind::Code, "bench", bytes});
    core.load(image, cache);
    core.set_rows_at_once(rows_at_once);
    core.set_engine(engine);
    double best = 0;
    for (int run = 0; run < 3; ++run) {
        const auto start = std::chrono::steady_clock::now();
        const auto outcome = core.run(codelets[0].symbols.at("start"));
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        best = std::max(best, static_cast<double>(outcome.worker_bundles) / seconds);
    }
    return best;
}

} // namespace

int main() {
    const char* before = "{";
    for (const isa::Engine& engine : isa::engines()) {
        fmt::print("{}\"{}\": {{\"matrix_by_rows\": {:.4g}, \"matrix_by_bundles\": {:.4g}, "
                   "\"element_sparse\": {:.4g}, \"integer\": {:.4g}}}",
                   before, engine.name, bundles_per_s(engine, kMatrix, true),
                   bundles_per_s(engine, kMatrix, false), bundles_per_s(engine, kSparse, true),
                   bundles_per_s(engine, kInteger, true));
        before = ",\n ";
    }
    fmt::print("}}\n");
    return 0;
}
