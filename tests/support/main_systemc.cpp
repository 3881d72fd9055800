// SPDX-License-Identifier: MIT
// Catch runs inside sc_main, and a SystemC warning or error fails the test. One elaboration a
// process: run these programs through ctest, which starts each TEST_CASE by itself.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <systemc>

#include <cstdlib>

int sc_main(int argc, char* argv[]) {
    return Catch::Session().run(argc, argv);
}

int main(int argc, char* argv[]) {
    setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 0);
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
    sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
    return sc_core::sc_elab_and_sim(argc, argv);
}
