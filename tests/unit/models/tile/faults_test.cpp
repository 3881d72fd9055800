// SPDX-License-Identifier: MIT
// Every rule of the machine that a tile program can break stops the run with tile, context, line
// and reason.
#include "models/isa/engine.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>
#include <utility>

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

TEST_CASE("a fault shows the registers of its context that have no fixed value", "[unit][tile]") {
    const auto registers = [](char file, unsigned count) {
        std::string text;
        for (unsigned i = 0; i < count; ++i) {
            text += fmt::format("{}${}{} = 0x{:x}", i == 0 ? "" : ", ", file, i,
                                i < isa::kMainReadOnly ? 3 + i : 0);
        }
        return text;
    };
    std::string sets;
    for (unsigned i = 0; i < isa::kMainReadOnly; ++i) {
        sets += fmt::format("setzi $m{}, {}\n", i, 3 + i);
    }
    CHECK_THAT(fault_of(supervisor(sets + "trap 5")), Catch::EndsWith("; " + registers('m', 14)));
    for (unsigned i = 0; i < 8; ++i) {
        sets += fmt::format("setzi $a{}, {}\n", i, 3 + i);
    }
    CHECK_THAT(fault_of(worker(sets + "trap 5")),
               Catch::EndsWith("; " + registers('m', 14) + ", " + registers('a', 8)));
}

TEST_CASE("a fault names control registers as who runs the code does", "[unit][tile]") {
    // of the first worker too, whose number is 0
    CHECK_THAT(fault_of(worker("setzi $m2, 0x80004\n"
                               "{ ld64 $a0:1, $m2, $mzero, 0 ; uput $FP_CLR, $a2 }")),
               Catch::Contains("tile_0.worker_0 @ ") &&
                   Catch::Contains("{ ld64 $a0:1, $m2, $mzero, 0 ; uput $FP_CLR, $a2 }"));
    CHECK_THAT(fault_of(supervisor("setzi $m0, worker\nrun $m0, $mzero, 0\n"
                                   "put $WORKER0_BASE, $m0\nsync TEXCH_SYNCZONE_LOCAL")),
               Catch::Contains("tile_0.supervisor @ ") &&
                   Catch::Contains("put $WORKER0_BASE, $m0"));
}

TEST_CASE("an access outside memory faults", "[unit][tile]") {
    CHECK_THAT(fault_of(worker("setzi $m2, 0xe8000\nld32 $m3, $m2, 0")),
               Catch::Contains("4-byte access at 0xe8000: outside tile memory 0x4c000..0xe7fff"));
    CHECK_THAT(fault_of(worker("ld32 $m3, $mzero, 0")), Catch::Contains("outside tile memory"));
    CHECK_THAT(fault_of(supervisor("st32 $mzero, $mzero, $mzero, 0")),
               Catch::Contains("tile_0.supervisor @ 0"));
}

TEST_CASE("memory ends with its last word, to accesses of any length", "[unit][tile]") {
    // Memory ends in front of 0xe8000. An access that reaches over the end is outside, and one that ends
    // there or before is misaligned or none.
    for (const auto& [bytes, text] :
         {std::pair{1U, "ldz8 $m3, $m2, 0"}, std::pair{2U, "ldz16 $m3, $m2, $mzero, 0"},
          std::pair{4U, "ld32 $m3, $m2, $mzero, 0"}, std::pair{8U, "ld64 $a0:1, $m2, $mzero, 0"}}) {
        for (Address address = 0xe7ff0; address < 0xe8008; ++address) {
            CAPTURE(text, address);
            const std::string told =
                fault_of(worker(fmt::format("setzi $m2, {:#x}\n{}", address, text)));
            if (address + bytes > 0xe8000) {
                CHECK_THAT(told, Catch::Contains("outside tile memory 0x4c000..0xe7fff"));
            } else if (address % bytes != 0) {
                CHECK_THAT(told, Catch::Contains("misaligned"));
            } else {
                CHECK(told == "no fault");
            }
        }
    }
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

TEST_CASE("launches need an entry that is code in region 0 and whole words", "[unit][tile]") {
    for (const std::string launch : {"run", "runall"}) {
        CAPTURE(launch);
        const auto fault = [&launch](const std::string& entry, const std::string& base) {
            return fault_of(supervisor("setzi $m0, " + entry + "\nsetzi $m1, " + base + "\n" +
                                       launch + " $m0, $m1, 0\nsync TEXCH_SYNCZONE_LOCAL"));
        };
        CHECK(fault("worker", "0x80000") == "no fault");
        CHECK_THAT(fault("worker + 2", "0x80000"), Catch::Contains("must be multiples of 4"));
        CHECK_THAT(fault("worker", "0x80002"), Catch::Contains("must be multiples of 4"));
        CHECK_THAT(fault("0x80000", "0x80000"), Catch::Contains("outside region 0"));
        CHECK_THAT(fault("0x60000", "0x80000"), Catch::Contains("no code there"));
    }
    CHECK_THAT(fault_of(worker("setzi $m4, 0x80000\nbr $m4")), Catch::Contains("no code there"));
}

TEST_CASE("a worker is stopped where it branches or repeats beyond the limit of a phase",
          "[unit][tile]") {
    constexpr std::int64_t kLimit = 100; ///< issues of a worker
    spec::MachineSpec machine;
    machine.tile.phase_limit_cycles = kLimit * machine.tile.round_cycles();
    // The worker's code stands first: issues count from there.
    const std::string launch = ".supervisor\n.globl start\nstart: setzi $m0, worker\n"
                               "run $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\nbr $lr\n";
    for (const isa::Engine& engine : isa::engines()) {
        for (const std::int64_t times : {kLimit - 1, kLimit, kLimit + 1}) {
            for (const char* const loop : {"setzi $m0, {}\n1: brnzdec $m0, 1b\n",
                                           "{{ rpt {}, 0 ; fnop }}\n{{ nop ; fnop }}\n"}) {
                CAPTURE(engine.name, times, loop);
                test::AssembledTile tile(
                    ".worker\nworker: " + fmt::format(fmt::runtime(loop), times) +
                        "exitz $mzero\n" + launch,
                    machine);
                tile.core().set_engine(engine);
                std::string told;
                try {
                    tile.run();
                } catch (const tile::TileFault& fault) {
                    told = fault.what();
                }
                // else the supervisor comes too late
                CHECK((told.find("the worker has not exited") != std::string::npos) ==
                      (times > kLimit));
            }
        }
    }
}

TEST_CASE("a worker base may not be set while the worker is active", "[unit][tile]") {
    const std::string launch = "setzi $m0, worker\nrun $m0, $mzero, 0\n";
    CHECK_THAT(fault_of(supervisor(launch + "put $WORKER0_BASE, $m0\nsync TEXCH_SYNCZONE_LOCAL")),
               Catch::Contains("a worker's base is set while it is active"));
    CHECK(fault_of(supervisor(launch + "put $WORKER1_BASE, $m0\nsync TEXCH_SYNCZONE_LOCAL")) ==
          "no fault");
    CHECK_THAT(fault_of(supervisor(launch + "setzi $m1, 7\nput $CR, $m1\n"
                                            "sync TEXCH_SYNCZONE_LOCAL")),
               Catch::Contains("zeroed while a worker is active"));
}

TEST_CASE("weight loads check their address", "[unit][tile]") {
    const auto load = [](const std::string& address, const std::string& instruction) {
        return fault_of(
            supervisor("setzi $m2, " + address + "\nput $CCCSLOAD, $m2\n" + instruction));
    };
    CHECK_THAT(load("0x80004", "ld64putcs 0"), Catch::Contains("8-byte weight load at 0x80004"));
    CHECK_THAT(load("0x80008", "ld128putcs 0"), Catch::Contains("16-byte weight load at 0x80008"));
    CHECK_THAT(load("0xe8000", "ld64putcs 0"), Catch::Contains("outside tile memory"));
    CHECK_THAT(load("0x4e000", "ld64putcs 0"), Catch::Contains("code being fetched"));
    CHECK_THAT(load("0x80000", "ld128putcs 63"), Catch::Contains("weight register 64"));
}

TEST_CASE("who may execute what", "[unit][tile]") {
    for (const std::string instruction :
         {"run $m0, $m0, 0", "runall $m0, $m0, 0", "sync 2", "ld64putcs 0", "ld128putcs 0"}) {
        CAPTURE(instruction);
        // in worker code only as data: the assembler refuses it
        CHECK_THAT(fault_of(supervisor("setzi $m0, code\nrun $m0, $mzero, 0\n"
                                       "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\ncode: " +
                                       instruction)),
                   Catch::Contains("is a supervisor instruction"));
    }
    CHECK_THAT(fault_of(supervisor("setzi $m0, code\nrun $m0, $mzero, 0\n"
                                   "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\ncode: send 1, 0, 0")),
               Catch::Contains("a supervisor instruction in worker code"));
    for (const std::string instruction :
         {"fnop", "exitz $m0", "rpt 1, 0\n{ nop ; fnop }", "ld64 $a0:1, $m0, 0"}) {
        CAPTURE(instruction);
        CHECK_THAT(fault_of(supervisor("bri code\n.worker\n.align 8\nnop\ncode: " + instruction +
                                       "\n.supervisor")),
                   Catch::Contains("a worker instruction in supervisor code"));
    }
    CHECK_THAT(fault_of(worker("trap 5")),
               Catch::Contains("trap 5 at") && Catch::Contains(": trap 5;"));
    CHECK_THAT(fault_of(supervisor("trap 15")), Catch::Contains("trap 15"));
    CHECK_THAT(fault_of(supervisor("strap 7")), Catch::Contains("trap 7"));
}

TEST_CASE("words that break a rule of instructions say which", "[unit][isa]") {
    const auto word = [](const std::string& words) {
        return fault_of(worker("bri 1f\n.align 8\n1: .word " + words));
    };
    CHECK_THAT(word("0x0cd12200"),
               Catch::Contains("a pair or quad does not start")); // ld64step $a13:14
    CHECK_THAT(word("0x1cee4f00"), Catch::Contains("two results go to one register"));
    // ld32step $m1, $m0, $m1+=, 1
    CHECK_THAT(word("0x0c101001"), Catch::Contains("its result goes to the register that steps"));
    // ldb16b16 $a0:1, $m0, $m1++, $m1>>
    CHECK_THAT(word("0x0d001102"), Catch::Contains("two results go to one register"));
    // { nop ; fnop } with bit 31 set in both halves
    CHECK_THAT(word("0x99e00000, 0xb2d00000"), Catch::Contains("bit 31 is set in the second half"));
    CHECK_THAT(word("0x99e00000, 0x19e00000"), Catch::Contains("a main and an aux instruction"));
    CHECK_THAT(word("0xc3020000, 0x32d00000"), Catch::Contains("a main and an aux instruction"));
    // { ld32 $a0, ... ; setzi $a0, 0 }
    CHECK_THAT(word("0x8202f000, 0x32000000"), Catch::Contains("both halves of the bundle"));
    CHECK_THAT(word("0x19e00000, 0xf0000000, 0"), Catch::Contains("no multiple of 8"));
    CHECK_THAT(fault_of(".supervisor\n.globl start\nstart: bri 1f\n.align 8\n1: .word 0xf0000000"),
               Catch::Contains("its second word is missing"));
}

TEST_CASE("repeat bodies obey their rules", "[unit][tile]") {
    const std::string nop = "0x99e00000, 0x32d00000";
    const auto repeat = [](const std::string& padding, const std::string& words) {
        return fault_of(worker("bri 1f\n.align 8\n" + padding + "1: .word 0x1b000100, " + words));
    };
    CHECK(repeat("nop\n", nop) == "no fault");
    CHECK_THAT(repeat("", nop), Catch::Contains("8-byte boundary"));
    CHECK_THAT(repeat("nop\n", "0x19e00000"), Catch::Contains("something else than bundles"));
    // { brz $m0, 0 ; fnop }, { get $m0, 0 ; fnop }
    for (const std::string first : {"0x93000000", "0xc3010000"}) {
        CHECK_THAT(repeat("nop\n", first + ", 0x32d00000"),
                   Catch::Contains("a control, system or unknown instruction"));
    }
}

TEST_CASE("paced accesses obey their rules", "[unit][tile]") {
    const auto paced = [](const std::string& a0, const std::string& a1, const std::string& a2,
                          const std::string& instruction) {
        return fault_of(worker("setzi $m0, " + a0 + "\nsetzi $m1, " + a1 + "\nsetzi $m2, " + a2 +
                               "\ntapack $m4:5, $m0, $m1, $m2\n" + instruction));
    };
    const std::string three = "ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0";
    CHECK(paced("0x80000", "0x80008", "0x88000", three) == "no fault");
    CHECK_THAT(paced("0x80000", "0x50000", "0x88000", three), Catch::Contains("executable region"));
    CHECK_THAT(paced("0x80000", "0x80008", "0x80010", three),
               Catch::Contains("one memory element"));
    CHECK_THAT(paced("0x80000", "0x80008", "0x80018", three),
               Catch::Contains("one memory element"));
    CHECK_THAT(paced("0x80004", "0x80008", "0x88000", three), Catch::Contains("misaligned"));
    for (const std::string small : {"ld64a32pace", "ld64b16pace"}) {
        CHECK_THAT(paced("0x80000", "0x80010", "0", small + " $a0:1, $a2, $m4:5+=, $mzero, 0"),
                   Catch::Contains("one memory element"));
    }
    CHECK_THAT(paced("0x80000", "0", "0x80010", "ldst64pace $a0:1, $a2:3, $m4:5+=, $mzero, 0"),
               Catch::Contains("one memory element"));
    CHECK_THAT(paced("0", "0", "0x80004", "st64pace $a0:1, $m4:5+=, $mzero, 0"),
               Catch::Contains("misaligned"));
    for (const std::string list :
         {"ldd16a64 $a0:1", "ldd16a32 $a0", "ldd16b16 $a0", "ldd16v2a32 $a0"}) {
        CHECK_THAT(fault_of(worker("setzi $m2, 0x80000\nsetzi $m4, 0x80010\n" + list +
                                   ", $m4++, $m2, $m6@")),
                   Catch::Contains("one memory element"));
    }
}

TEST_CASE("loads that want the interleaved region get all of it", "[unit][tile]") {
    const spec::MachineSpec machine;
    const std::int64_t border = machine.memory.region1_begin();
    const std::int64_t end = machine.memory.end();
    for (const std::int64_t at : {border - 16, border, border + 16, end - 16}) {
        CAPTURE(at);
        const bool inside = at >= border;
        const std::string wide =
            fault_of(worker(fmt::format("setzi $m2, {}\nld128 $a0:3, $m2, $mzero, 0", at)));
        CHECK((wide == "no fault") == inside);
        CHECK((wide.find("outside the interleaved region") == std::string::npos) == inside);
        // the other two accesses are in elements of their own
        const std::string second =
            fault_of(worker(fmt::format("setzi $m0, {}\nsetzi $m1, {}\nsetzi $m2, {}\n"
                                        "tapack $m4:5, $m0, $m1, $m2\n"
                                        "ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0",
                                        border + 0x20000, at, border + 0x40000)));
        CHECK((second == "no fault") == inside);
        CHECK((second.find("in the executable region") == std::string::npos) == inside);
    }
}

TEST_CASE("the fetch window of a supervisor is longer", "[unit][tile]") {
    // the load stands 40 bytes before its data's element: only a supervisor's window reaches it
    const auto words = [](int count) {
        std::string text;
        for (int i = 0; i < count; ++i) {
            text += ".word 0\n";
        }
        return text;
    };
    CHECK_THAT(fault_of(supervisor("setzi $m2, 0x50000\nbri 1f\n" + words(0x1000 - 10 - 2) +
                                   "1: ld32 $m4, $m2, 0")),
               Catch::Contains("code being fetched"));
    CHECK(fault_of(".supervisor\n.globl start\nstart: setzi $m0, worker\nrun $m0, $mzero, 0\n"
                   "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n" +
                   words(0x1000 - 10 - 5) +
                   "worker: setzi $m2, 0x50000\nld32 $m4, $m2, 0\nexitz $mzero\n") == "no fault");
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

TEST_CASE("a fault in the last words of memory shows their instruction", "[unit][tile]") {
    spec::MachineSpec machine;
    machine.tile.fetch_conflict = spec::FetchConflict::Ignore;
    machine.memory.region0_bytes = machine.memory.element_bytes;
    machine.memory.region1_bytes = 0;
    for (const std::string last : {"trap 5", "{ ld32 $m3, $mzero, $mzero, 0 ; fnop }"}) {
        const int bytes = last.front() == '{' ? 8 : 4;
        const std::string text =
            fault_of(".supervisor\n.globl start\nstart: setzi $m0, worker\nrunall $m0, $mzero, 0\n"
                     "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n.align 8\nworker: bri at_end\n" +
                         fmt::format(".org {}\nat_end: {}\n", machine.memory.bytes() - bytes, last),
                     machine);
        CHECK_THAT(text, Catch::Contains(": " + last));
    }
}
