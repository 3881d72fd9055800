// SPDX-License-Identifier: MIT
// Loops of one tile on one core, with each engine that this host can run and with that of timing
// mode, which here runs every pass of every loop. And what a phase costs that timing mode counts.
#include "models/isa/engine.h"
#include "models/tile/core/tile_classes.h"
#include "tests/bench/loops.h"
#include "tests/bench/micro.h"

#include <benchmark/benchmark.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::bench {
namespace {

using MakeTile = std::function<std::unique_ptr<BenchTile>(tile::TimingMode*)>;

struct Loop {
    std::string name;
    MakeTile make;
    bool at_once = true; ///< rows of matrix loops and passes of sparse ones
};

MakeTile loop_tile(const char* body) {
    return [body](tile::TimingMode* timing) {
        return std::make_unique<LoopTile>(body, kUsualLaunches, timing);
    };
}

std::unique_ptr<BenchTile> element_sparse_tile(tile::TimingMode* timing) {
    auto tile = std::make_unique<LoopTile>(kSparse, kUsualLaunches, timing);
    if (timing != nullptr) {
        timing->known.learn(0, kSparseOffsets, kSparseOffsetBytes);
    }
    return tile;
}

MakeTile block_sparse_tile(const std::string& codelet) {
    return [codelet](tile::TimingMode* timing) {
        return std::make_unique<BlockSparseTile>(codelet, 16, timing);
    };
}

std::vector<Loop> all_loops() {
    return {{"integer", loop_tile(kInteger)},
            {"element_sparse", element_sparse_tile},
            {"element_sparse_by_bundles", element_sparse_tile, false},
            {"block_sparse", block_sparse_tile("spmm_block16_f16")},
            {"block_sparse_f32_partials", block_sparse_tile("spmm_block16_f32")},
            {"matrix_f16", loop_tile(kMatrix)},
            {"matrix_f16_by_bundles", loop_tile(kMatrix), false},
            {"matrix_f16_f32_partials", loop_tile(kMatrixSingles)},
            {"matrix_f32", loop_tile(kMatrixSingleInputs)},
            {"matrix_f8", loop_tile(kMatrixQuarters)}};
}

void measure(benchmark::State& state, BenchTile& tile) {
    std::int64_t bundles = 0;
    for (auto _ : state) {
        bundles += tile.run().counts.worker_bundles();
    }
    state.SetItemsProcessed(bundles);
}

void with_data(benchmark::State& state, const isa::Engine& engine, const Loop& loop) {
    const auto tile = loop.make(nullptr);
    tile->core().set_rows_at_once(loop.at_once);
    tile->core().set_engine(engine);
    measure(state, *tile);
}

void without_data(benchmark::State& state, const Loop& loop, bool every_pass) {
    const spec::MachineSpec machine = machine_of_loops();
    program::KnownWords known(1, machine.memory.region0_begin(), machine.memory.bytes());
    tile::TileClasses classes;
    tile::TimingMode timing{known, classes};
    const auto tile = loop.make(&timing);
    tile->core().set_audited(every_pass);
    tile->run();
    measure(state, *tile);
}

} // namespace

void add_loops() {
    const auto add = [](const std::string& name, const auto& body) {
        benchmark::RegisterBenchmark(name.c_str(), body)->Unit(benchmark::kMicrosecond);
    };
    for (const isa::Engine& engine : isa::engines()) {
        for (const Loop& loop : all_loops()) {
            add(engine.name + ("/" + loop.name),
                [&engine, loop](benchmark::State& state) { with_data(state, engine, loop); });
        }
    }
    for (const Loop& loop : all_loops()) {
        if (loop.at_once) {
            add("shadow/" + loop.name,
                [loop](benchmark::State& state) { without_data(state, loop, true); });
        }
    }
    const Loop counted{"block_sparse", block_sparse_tile("spmm_block16_f16")};
    add("counted/block_sparse",
        [counted](benchmark::State& state) { without_data(state, counted, false); });
}

} // namespace tessera::bench
