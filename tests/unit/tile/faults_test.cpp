// SPDX-License-Identifier: MIT
// Every rule of the machine that a tile program can break stops the run with tile, context, line and reason.
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>

#include <string>

using namespace tessera;

namespace {

std::string fault_of(const std::string& text, const spec::MachineSpec& machine = {}) {
    test::AssembledTile tile(text, machine);
    try {
        tile.run();
    } catch (const tile::TileFault& fault) {
        return fault.what();
    }
    return "no fault";
}

std::string worker(const std::string& body) {
    return ".supervisor\n.globl start\nstart: setzi $m0, worker\nrunall $m0, $mzero, 0\n"
           "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n.align 8\nworker:\n" +
           body + "\nexitz $mzero\n";
}

std::string supervisor(const std::string& body) {
    return ".supervisor\n.globl start\nstart:\n" + body +
           "\nbr $lr\n.worker\n.align 8\nworker: exitz $mzero\n";
}

} // namespace

TEST_CASE("a misaligned access faults with its line and registers", "[unit][tile]") {
    const std::string text = fault_of(worker("setzi $m2, 0x80004\nld64 $a0:1, $m2, $mzero, 0"));
    CHECK_THAT(text, Catch::Contains("tile_0.worker_0 @ "));
    CHECK_THAT(text, Catch::Contains("test.S:11: ld64 $a0:1, $m2, $mzero, 0"));
    CHECK_THAT(text, Catch::Contains("8-byte access at 0x80004: misaligned"));
    CHECK_THAT(text, Catch::Contains("$m2 = 0x80004"));
}

TEST_CASE("an access outside memory faults", "[unit][tile]") {
    CHECK_THAT(fault_of(worker("setzi $m2, 0xe8000\nld32 $m3, $m2, 0")),
               Catch::Contains("4-byte access at 0xe8000: outside tile memory 0x4c000..0xe7fff"));
    CHECK_THAT(fault_of(worker("ld32 $m3, $mzero, 0")), Catch::Contains("outside tile memory"));
    CHECK_THAT(fault_of(supervisor("st32 $mzero, $mzero, $mzero, 0")),
               Catch::Contains("tile_0.supervisor @ 0"));
}

TEST_CASE("region 0 data in the element of the fetched code faults unless ignored",
          "[unit][tile]") {
    const std::string text = worker("setzi $m2, 0x4e000\nld32 $m3, $m2, 0");
    CHECK_THAT(fault_of(text), Catch::Contains("in the memory element of the code being fetched"));
    spec::MachineSpec machine;
    machine.tile.fetch_conflict = spec::FetchConflict::Ignore;
    CHECK(fault_of(text, machine) == "no fault");
    CHECK(fault_of(worker("setzi $m2, 0x50000\nld32 $m3, $m2, 0")) ==
          "no fault"); // the next element
}

TEST_CASE("two accesses of one instruction in one element fault", "[unit][tile]") {
    const auto paced = [](const std::string& first, const std::string& second) {
        return fault_of(worker(
            "setzi $m0, " + first + "\nsetzi $m1, " + second +
            "\ntapack $m4:5, $m0, $m1, $mzero\nld2x64pace $a0:1, $a2:3, $m4:5+=, $mzero, 0"));
    };
    CHECK_THAT(paced("0x80000", "0x80010"),
               Catch::Contains("in one memory element: 0x80000 and 0x80010"));
    CHECK(paced("0x80000", "0x80008") == "no fault"); // the other member of the pair
    CHECK(paced("0x80000", "0x88000") == "no fault"); // the next pair
    CHECK_THAT(paced("0x50000", "0x53ff8"), Catch::Contains("in one memory element"));
    CHECK(paced("0x50000", "0x54000") == "no fault");
}

TEST_CASE("128-bit accesses need the interleaved region and alignment", "[unit][tile]") {
    CHECK_THAT(fault_of(worker("setzi $m2, 0x50000\nld128 $a0:3, $m2, 0")),
               Catch::Contains("interleaved region"));
    CHECK_THAT(fault_of(worker("setzi $m2, 0x80008\nld128 $a0:3, $m2, 0")),
               Catch::Contains("misaligned"));
    CHECK_THAT(fault_of(supervisor("setzi $m2, 0x50000\nput $CCCSLOAD, $m2\nld128putcs 0")),
               Catch::Contains("interleaved region"));
}

TEST_CASE("the weight store may not be written while a worker is active", "[unit][tile]") {
    const std::string launch =
        "setzi $m0, worker\nsetzi $m2, 0x80000\nput $CCCSLOAD, $m2\nrun $m0, $mzero, 0\n";
    CHECK_THAT(fault_of(supervisor(launch + "ld64putcs 0\nsync TEXCH_SYNCZONE_LOCAL")),
               Catch::Contains("sync first"));
    CHECK(fault_of(supervisor(launch + "sync TEXCH_SYNCZONE_LOCAL\nld64putcs 0")) == "no fault");
}

TEST_CASE("launch rules", "[unit][tile]") {
    CHECK_THAT(fault_of(supervisor("setzi $m0, worker\nrun $m0, $mzero, 0\nrunall $m0, $mzero, 0")),
               Catch::Contains("runall while a worker is active"));
    CHECK_THAT(fault_of(supervisor("setzi $m0, worker\nrun $m0, $mzero, 0")),
               Catch::Contains("the phase ends while a worker is active"));
    CHECK_THAT(fault_of(supervisor("setzi $m0, 0x60000\nrunall $m0, $mzero, 0")),
               Catch::Contains("no code there"));
}

TEST_CASE("what is not modelled says so", "[unit][tile]") {
    CHECK_THAT(fault_of(supervisor("sync 1")), Catch::Contains("beyond the tile"));
    CHECK_THAT(fault_of(supervisor("delay 4")),
               Catch::Contains("delay 4") && Catch::Contains("inside a vertex is not modelled"));
    CHECK_THAT(fault_of(supervisor(".align 8\nsendpicp 1, 0, 0, 0, 0, 0, 0")),
               Catch::Contains("sendpicp 1, 0, 0, 0, 0, 0, 0") && Catch::Contains("not modelled"));
    CHECK_THAT(fault_of(worker("setzi $m2, 0x4c000\nst32 $m2, $m2, $mzero, 0")),
               Catch::Contains("fetched"));
    spec::MachineSpec machine;
    machine.tile.fetch_conflict = spec::FetchConflict::Ignore;
    CHECK_THAT(fault_of(worker("setzi $m2, 0x4c000\nst32 $m2, $m2, $mzero, 0"), machine),
               Catch::Contains("self-modifying code is not modelled"));
}

TEST_CASE("a word that is no instruction and code that runs out fault", "[unit][tile]") {
    CHECK_THAT(fault_of(worker("bri 1f\n.align 4\n1: .word 0x40ffffff")),
               Catch::Contains("not an instruction"));
    CHECK_THAT(fault_of(".supervisor\n.globl start\nstart: nop"),
               Catch::Contains("past the end of the code"));
}
