// SPDX-License-Identifier: MIT
// The parts of the simulator by themselves, with Google Benchmark and its options:
//
//   ENGINE/LOOP               worker bundles a second on one core (items_per_second)
//   plan/PATTERN/BYTES        an exchange of a whole chip becomes rows, on all host threads
//   execute/PATTERN/BYTES     its rows are checked and carried out
//   links/CHIPS/BYTES         packet hops a second on one core, random messages of all tiles
//   supersteps                nothing to do but the superstep itself
#include "tests/bench/micro.h"

#include "base/heap.h"

#include <systemc>

#include <benchmark/benchmark.h>
#include <cstdlib>

int sc_main(int /*argc*/, char* /*argv*/[]) {
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

int main(int argc, char** argv) {
    tessera::keep_freed_memory();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    tessera::bench::add_loops();
    tessera::bench::add_exchanges();
    tessera::bench::add_links();
    tessera::bench::add_supersteps();
    setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    return sc_core::sc_elab_and_sim(argc, argv);
}
