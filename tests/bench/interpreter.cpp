// SPDX-License-Identifier: MIT
// How many worker bundles a second one core executes: loops of the matrix unit by rows and bundle by
// bundle, of element-sparse products and of integers, with each engine. Google Benchmark's options.
#include "models/isa/engine.h"
#include "tests/bench/loops.h"

#include <benchmark/benchmark.h>
#include <string>

using namespace tessera;

namespace {

void loop(benchmark::State& state, const isa::Engine& engine, const char* body, bool rows_at_once) {
    bench::LoopTile tile(body);
    tile.core().set_rows_at_once(rows_at_once);
    tile.core().set_engine(engine);
    std::int64_t bundles = 0;
    for (auto _ : state) {
        bundles += tile.run().worker_bundles;
    }
    state.SetItemsProcessed(bundles);
}

} // namespace

int main(int argc, char** argv) {
    struct Case {
        const char* name;
        const char* body;
        bool rows_at_once;
    };
    const Case cases[] = {{"matrix_f16_by_rows", bench::kMatrix, true},
                          {"matrix_f16_by_bundles", bench::kMatrix, false},
                          {"matrix_f32_partials_by_rows", bench::kMatrixSingles, true},
                          {"element_sparse", bench::kSparse, true},
                          {"element_sparse_by_bundles", bench::kSparse, false},
                          {"integer", bench::kInteger, true}};
    for (const isa::Engine& engine : isa::engines()) {
        for (const Case& one : cases) {
            benchmark::RegisterBenchmark((std::string(engine.name) + "/" + one.name).c_str(),
                                         [&engine, one](benchmark::State& state) {
                                             loop(state, engine, one.body, one.rows_at_once);
                                         })
                ->Unit(benchmark::kMillisecond);
        }
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
