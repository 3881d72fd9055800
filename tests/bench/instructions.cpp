// SPDX-License-Identifier: MIT
// A fixed piece of work of each kind, on one thread and without the host's vectors, so that the
// instructions which it takes can be counted (tools/instructions.py). What is counted is measured().
//
// usage: bench_instructions CASE
#include "kernels/exchange_plan/exchange_planner.h"
#include "kernels/job/job.h"
#include "models/exchange/core/fabric.h"
#include "models/isa/engine.h"
#include "models/simulation/simulation.h"
#include "models/tile/core/tile_classes.h"
#include "tests/bench/exchange_cases.h"
#include "tests/bench/loops.h"
#include "tests/support/run_program.h"

#include <systemc>
#include <tbb/global_control.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;

namespace {

/// The work that is counted.
[[gnu::noinline]] void measured(const std::function<void()>& work) {
    work();
}

constexpr int kLaunches = 3;

void run_tile(bench::BenchTile& tile) {
    tile.core().set_engine(isa::engines().front());
    measured([&] { tile.run(); });
}

void run_loop(const char* body) {
    bench::LoopTile tile(body, kLaunches);
    run_tile(tile);
}

void run_blocks() {
    bench::BlockSparseTile tile("spmm_block16_f16", 1);
    run_tile(tile);
}

/// Where only cycles are wanted: run pass by pass, and counted as what another tile does.
void run_without_data(const char* body) {
    const spec::MachineSpec machine = bench::machine_of_loops();
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

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

constexpr std::int64_t kTilesOfExchange = 64;
constexpr std::int64_t kTilesOfJob = 16;

bench::patterns::Transfers pattern(const spec::MachineSpec& machine) {
    bench::patterns::Layout layout(machine);
    bench::patterns::random_pairs(layout, 4, 256, 16);
    return layout.take().value();
}

void plan_exchange() {
    const spec::MachineSpec machine = machine_of(kTilesOfExchange);
    auto transfers = pattern(machine);
    measured([&] { static_cast<void>(exchange_plan::plan_exchange(machine, "bench", transfers)); });
}

void execute_exchange() {
    const spec::MachineSpec machine = machine_of(kTilesOfExchange);
    auto exchange = exchange_plan::plan_exchange(machine, "bench", pattern(machine));
    measured([&] { static_cast<void>(bench::execute(machine, exchange)); });
}

workload::MatmulWorkload dense() {
    workload::MatmulWorkload workload;
    workload.m = workload.k = workload.n = 128;
    return workload;
}

workload::SpmmWorkload sparse(std::int64_t block) {
    workload::SpmmWorkload workload;
    workload.m = workload.k = 128;
    workload.n = 32;
    workload.block = block;
    workload.pattern.density = 0.125;
    return workload;
}

template <class Kind> std::unique_ptr<job::Job> job_of(Kind kind) {
    return job::make_job({"bench", std::move(kind)});
}

template <class Kind> void plan_job(Kind kind) {
    const spec::MachineSpec machine = machine_of(kTilesOfJob);
    const auto job = job_of(std::move(kind));
    job->share(job::Operands::None);
    measured([&] { job->plan(machine, job::Operands::None); });
}

/// From loading the tiles to the answer, with data.
template <class Kind> void run_job(Kind kind) {
    const spec::MachineSpec machine = machine_of(kTilesOfJob);
    const auto job = job_of(std::move(kind));
    const auto& program = job->plan(machine);
    std::map<program::ArrayId, std::vector<std::byte>> operands;
    for (const auto& operand : job->operands()) {
        operands[operand.array].assign(operand.bytes.begin(), operand.bytes.end());
    }
    measured([&] {
        static_cast<void>(test::run_program(machine, program, operands, isa::engines().front()));
    });
}

/// A whole chip with SystemC, in timing mode: its engine is the same on every host.
void run_chip() {
    const spec::MachineSpec machine = machine_of(kTilesOfJob);
    const auto job = job_of(dense());
    const auto& program = job->plan(machine, job::Operands::None);
    measured([&] {
        simulation::Simulation simulation(machine, program,
                                          {.threads = 1, .timing = ipu::TimingOptions{}});
        simulation.run();
    });
}

const std::map<std::string, std::function<void()>> kCases{
    {"integer_loop", [] { run_loop(bench::kInteger); }},
    {"element_sparse_loop", [] { run_loop(bench::kSparse); }},
    {"matrix_loop", [] { run_loop(bench::kMatrix); }},
    {"matrix_loop_without_data", [] { run_without_data(bench::kMatrix); }},
    {"block_sparse_vertex", run_blocks},
    {"plan_exchange", plan_exchange},
    {"execute_exchange", execute_exchange},
    {"plan_dense", [] { plan_job(dense()); }},
    {"plan_sparse", [] { plan_job(sparse(1)); }},
    {"run_dense", [] { run_job(dense()); }},
    {"run_sparse", [] { run_job(sparse(1)); }},
    {"run_block_sparse", [] { run_job(sparse(16)); }},
    {"time_dense", run_chip},
};

const std::function<void()>* chosen = nullptr;
std::exception_ptr failure;

} // namespace

// What needs a chip runs in here; the rest does as well.
int sc_main(int /*argc*/, char* /*argv*/[]) {
    try {
        (*chosen)();
    } catch (...) {
        failure = std::current_exception();
    }
    return 0;
}

int main(int argc, char** argv) {
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    const auto found = argc == 2 ? kCases.find(argv[1]) : kCases.end();
    if (found == kCases.end()) {
        std::fputs("usage: bench_instructions CASE, one of", stderr);
        for (const auto& [name, work] : kCases) {
            std::fprintf(stderr, " %s", name.c_str());
        }
        std::fputs("\n", stderr);
        return 2;
    }
    chosen = &found->second;
    setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    sc_core::sc_elab_and_sim(argc, argv);
    if (failure != nullptr) {
        std::rethrow_exception(failure);
    }
    return 0;
}
