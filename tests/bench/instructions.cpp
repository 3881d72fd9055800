// SPDX-License-Identifier: MIT
// A fixed piece of work of each kind, on one thread and without the host's vectors, so that the
// instructions which it takes can be counted (tools/instructions.py). What is counted is measured().
//
// usage: bench_instructions CASE
#include "kernels/exchange/exchange_planner.h"
#include "kernels/matmul/matmul.h"
#include "models/exchange/core/fabric.h"
#include "models/isa/engine.h"
#include "models/tile/core/tile_classes.h"
#include "tests/bench/loops.h"
#include "tests/support/exchange_patterns.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <span>
#include <string>

using namespace tessera;

namespace {

/// The work that is counted.
[[gnu::noinline]] void measured(const std::function<void()>& work) {
    work();
}

constexpr int kLaunches = 3;

void run_loop(const char* body, bool rows_at_once) {
    bench::LoopTile tile(body, kLaunches);
    tile.core().set_engine(isa::engines().front());
    tile.core().set_rows_at_once(rows_at_once);
    measured([&] { tile.run(); });
}

/// Where only cycles are wanted: run pass by pass, and counted as what another tile does.
void run_without_data(const char* body) {
    const spec::MachineSpec machine;
    program::KnownWords known(1, machine.memory.region0_begin(), machine.memory.bytes());
    tile::TileClasses classes;
    tile::TimingMode timing{known, classes};
    bench::LoopTile tile(body, kLaunches, &timing);
    tile.core().set_audited(true);
    measured([&] {
        tile.run();
        tile.run();
    });
}

spec::MachineSpec small_machine() {
    spec::MachineSpec machine;
    machine.chip.tiles = 64;
    return machine;
}

exchange_patterns::Transfers pattern(const spec::MachineSpec& machine) {
    exchange_patterns::Layout layout(machine);
    exchange_patterns::random_pairs(layout, 4, 256, 16);
    return layout.take().value();
}

void plan_exchange() {
    const spec::MachineSpec machine = small_machine();
    auto transfers = pattern(machine);
    measured([&] { static_cast<void>(plan::plan_exchange(machine, "bench", transfers)); });
}

void execute_exchange() {
    const spec::MachineSpec machine = small_machine();
    auto exchange = plan::plan_exchange(machine, "bench", pattern(machine));
    for (auto& row : exchange.rows) {
        row.address = machine.memory.region0_begin();
    }
    const auto read_row = [&](TileId tile, Address, std::span<std::uint32_t> words) {
        const auto row = std::find_if(exchange.rows.begin(), exchange.rows.end(),
                                      [&](const auto& one) { return one.tile == tile; });
        std::copy(row->words.begin(), row->words.end(), words.begin());
    };
    measured([&] { static_cast<void>(exchange::execute_rows(machine, exchange, read_row)); });
}

void plan_product() {
    const spec::MachineSpec machine = small_machine();
    workload::MatmulWorkload workload;
    workload.m = 256;
    workload.k = 256;
    workload.n = 256;
    measured([&] { static_cast<void>(matmul::choose(machine, workload)); });
}

} // namespace

int main(int argc, char** argv) {
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    const std::map<std::string, std::function<void()>> cases{
        {"integer_loop", [] { run_loop(bench::kInteger, true); }},
        {"element_sparse_loop", [] { run_loop(bench::kSparse, true); }},
        {"matrix_loop", [] { run_loop(bench::kMatrix, true); }},
        {"matrix_loop_without_data", [] { run_without_data(bench::kMatrix); }},
        {"plan_exchange", plan_exchange},
        {"execute_exchange", execute_exchange},
        {"plan_product", plan_product},
    };
    const auto found = argc == 2 ? cases.find(argv[1]) : cases.end();
    if (found == cases.end()) {
        std::fputs("usage: bench_instructions CASE, one of", stderr);
        for (const auto& [name, work] : cases) {
            std::fprintf(stderr, " %s", name.c_str());
        }
        std::fputs("\n", stderr);
        return 2;
    }
    found->second();
    return 0;
}
