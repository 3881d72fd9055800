// SPDX-License-Identifier: MIT
// Control and status registers of workers and of the supervisor.
#include "models/isa/context.h"
#include "tests/support/tile_program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace tessera;
using test::kIn;
using Words = std::vector<std::uint32_t>;

namespace {

Words worker(const std::string& body, std::size_t words, const std::string& before = "",
             const spec::MachineSpec& machine = {}) {
    return test::output_of(test::worker_program(body, before), {}, words, machine);
}

Words supervisor(const std::string& body, std::size_t words,
                 const spec::MachineSpec& machine = {}) {
    return test::output_of(test::supervisor_program(body), {}, words, machine);
}

/// What uget reads after `before`, by a supervisor that did `launch` first.
std::uint32_t aux_register(const std::string& name, const std::string& before,
                           const std::string& launch = "", const spec::MachineSpec& machine = {}) {
    return worker(before + "\nuget $a0, " + name + "\nst32 $a0, $m3, $mzero, 0", 1, launch,
                  machine)[0];
}

std::string set_aux(const std::string& name, std::uint32_t value) {
    return fmt::format("ldconst $a1, {:#x}\nuput {}, $a1\n", value, name);
}

spec::MachineSpec ipu21() {
    spec::MachineSpec machine;
    machine.chip.generation = spec::Generation::Ipu21;
    return machine;
}

} // namespace

TEST_CASE("a worker reads where it is and what it was launched with", "[unit][tile]") {
    const std::string before = "setzi $m0, 0x98000\nput $WORKER0_BASE, $m0\n";
    test::AssembledTile tile(test::worker_program(
        "here: get $m4, $PC\nst32 $m4, $m3, $mzero, 0\nget $m4, $WSR\nst32 $m4, $m3, $mzero, 1\n"
        "get $m4, $VERTEX_BASE\nst32 $m4, $m3, $mzero, 2\nget $m4, $WORKER_BASE\n"
        "st32 $m4, $m3, $mzero, 3\nget $m4, $COUNT_U\nst32 $m4, $m3, $mzero, 4",
        ".globl here\n" + before));
    tile.run();
    CHECK(tile.read<std::uint32_t>(test::kOut, 5) ==
          Words{tile.symbol("here"), 0, tile.spec().memory.region0_begin(), 0x98000, 0});
}

TEST_CASE("the cycle counter counts tile clocks", "[unit][tile]") {
    const auto counts = worker("get $m4, $COUNT_L\nnop\nget $m5, $COUNT_L\n"
                               "st32 $m4, $m3, $mzero, 0\nst32 $m5, $m3, $mzero, 1",
                               2);
    const spec::MachineSpec machine;
    CHECK(counts[1] - counts[0] == 2 * machine.tile.workers);
    const auto supervisors = supervisor("get $m4, $SCOUNT_L\nget $m5, $SCOUNT_L\n"
                                        "st32 $m4, $m3, $mzero, 0\nst32 $m5, $m3, $mzero, 1",
                                        2);
    CHECK(supervisors[1] - supervisors[0] == 1);
}

TEST_CASE("the repeat registers show the last repeat", "[unit][tile]") {
    test::AssembledTile tile(test::worker_program(
        ".align 8\nnop\nrpt 3, 1\nfirst: { nop ; fnop }\n{ nop ; fnop }\n"
        "get $m4, $REPEAT_COUNT\nst32 $m4, $m3, $mzero, 0\nget $m4, $REPEAT_FIRST\n"
        "st32 $m4, $m3, $mzero, 1\nget $m4, $REPEAT_END\nst32 $m4, $m3, $mzero, 2",
        ".globl first\n"));
    tile.run();
    CHECK(tile.read<std::uint32_t>(test::kOut, 3) ==
          Words{0, tile.symbol("first"), tile.symbol("first") + 16});
}

TEST_CASE("debug registers are storage of each context", "[unit][tile]") {
    const std::string both = "setzi $m4, 7\nput $DBG_DATA, $m4\nput $DBG_BRK_ID, $m3\n"
                             "get $m5, $DBG_DATA\nget $m6, $DBG_BRK_ID\n"
                             "st32 $m5, $m3, $mzero, 0\nst32 $m6, $m3, $mzero, 1";
    CHECK(worker(both, 2) == Words{7, test::kOut});
    CHECK(supervisor(both, 2) == Words{7, test::kOut});
}

TEST_CASE("registers that do not exist read 0 and ignore writes", "[unit][tile]") {
    const std::string both = "put 0x7f, $m3\nget $m4, 0x7f\nadd $m4, $m4, 1\n"
                             "put $PC, $m3\nst32 $m4, $m3, $mzero, 0\n";
    CHECK(worker(both, 1) == Words{1});
    CHECK(supervisor(both + "put 0x2f, $m3\nget $m5, $SSR\nst32 $m5, $m3, $mzero, 1", 2) ==
          Words{1, 0});
    CHECK(aux_register("0x1ff", set_aux("0x1ff", 5)) == 0);
    CHECK(aux_register("$FP_CLR", "") == 0);
    CHECK(aux_register("$FP_STS", set_aux("$FP_STS", 7)) == 0);
}

TEST_CASE("sticky flags are set by arithmetic and cleared bit by bit", "[unit][tile]") {
    // an infinite half is an invalid operand; 60000 * 60000 overflows
    const std::string invalid = "setzi $a2, 0x7c00\nf16v2add $a3, $a2, $azero\n";
    const std::string overflow = "setzi $a2, 0x7b00\nf16v2mul $a3, $a2, $a2\n";
    CHECK(aux_register("$FP_STS", "") == 0);
    CHECK(aux_register("$FP_STS", invalid) == 1);
    CHECK(aux_register("$FP_STS", invalid + overflow) == 5);
    CHECK(aux_register("$FP_STS", invalid + overflow + set_aux("$FP_CLR", 1)) == 4);
    CHECK(aux_register("$FP_STS", invalid + overflow + set_aux("$FP_CLR", 4)) == 1);
    CHECK(aux_register("$FP_STS", invalid + overflow + set_aux("$FP_CLR", 2)) == 5);
    CHECK(aux_register("$FP_STS", invalid + overflow + set_aux("$FP_CLR", 8)) == 5);
    const std::string twice = "setzi $m0, worker\nrun $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\n";
    // the second launch starts with clear flags: read first, raise then
    CHECK(worker("uget $a0, $FP_STS\nst32 $a0, $m3, $mzero, 0\n" + invalid, 1, twice) == Words{0});
}

TEST_CASE("FP_CLR zeroes accumulators only with ZAACC", "[unit][tile]") {
    const std::string body = "ldconst $a0, 0x3f800000\nmov $a1, $a0\nf32v2mac $a0:1, $a0:1\n";
    const std::string drain = "f32v2gina $a0:1, $azeros, 0\nst64 $a0:1, $m3, $mzero, 0";
    CHECK(worker(body + set_aux("$FP_CLR", 7) + drain, 2) == Words{0x3f800000, 0x3f800000});
    CHECK(worker(body + set_aux("$FP_CLR", 8) + drain, 2) == Words{0, 0});
}

TEST_CASE("FP_CTL holds traps and modes and comes from FP_ICTL", "[unit][tile]") {
    CHECK(aux_register("$FP_CTL", set_aux("$FP_CTL", 0xffffffff)) == 0x1f0007);
    CHECK(aux_register("$FP_CTL", "") == 0);
    CHECK(aux_register("$FP_CTL", "", "ldconst $m0, 0x180002\nput $FP_ICTL, $m0\n") == 0x180002);
    CHECK_THAT(test::fault_text_of(test::worker_program(set_aux("$FP_CTL", 1) +
                                                        "setzi $a2, 0x7c00\n"
                                                        "f16v2add $a3, $a2, $azero\n")),
               Catch::Contains("floating-point exception"));
    // launches set it anew
    const std::string twice = "setzi $m0, worker\nrun $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\n";
    CHECK(worker("uget $a0, $FP_CTL\nst32 $a0, $m3, $mzero, 0\n" + set_aux("$FP_CTL", 0x100000), 1,
                 twice) == Words{0});
}

TEST_CASE("the random state is four words which a seed fills", "[unit][tile]") {
    const std::string seed = set_aux("$PRNG_SEED", 0x12345678);
    CHECK(aux_register("$PRNG_0_0", seed) == 0x12345678);
    CHECK(aux_register("$PRNG_0_1", seed) == 0xedcba987);
    CHECK(aux_register("$PRNG_1_0", seed) == (0x12345678U << 13U | 0xedcba987U >> 19U));
    CHECK(aux_register("$PRNG_1_1", seed) == (0xedcba987U << 13U | 0x12345678U >> 19U));
    CHECK(aux_register("$PRNG_SEED", seed) == 0);
    std::uint32_t value = 0xa5000001;
    std::string all;
    for (const std::string name : {"$PRNG_0_0", "$PRNG_0_1", "$PRNG_1_0", "$PRNG_1_1"}) {
        all += set_aux(name, value++);
    }
    CHECK(aux_register("$PRNG_0_0", all) == 0xa5000001);
    CHECK(aux_register("$PRNG_0_1", all) == 0xa5000002);
    CHECK(aux_register("$PRNG_1_0", all) == 0xa5000003);
    CHECK(aux_register("$PRNG_1_1", all) == 0xa5000004);
    test::AssembledTile tile(test::worker_program(all));
    tile.run();
    CHECK(tile.core().context(0).random[0] == 0xa5000002a5000001ULL);
    CHECK(tile.core().context(0).random[1] == 0xa5000004a5000003ULL);
}

TEST_CASE("TAS and the FP8 registers", "[unit][tile]") {
    CHECK(aux_register("$TAS", set_aux("$TAS", 0xdeadbeef)) == 0xdeadbeef);
    for (const std::string name : {"0x109", "0x10a"}) {
        CAPTURE(name);
        CHECK(aux_register(name, set_aux(name, 3)) == 0); // ipu2 has none
        CHECK(aux_register(name, set_aux(name, 3), "", ipu21()) == 3);
    }
    // by their numbers, as only ipu21 has the names
    const std::string launch = "setzi $m0, 2\nput 0x31, $m0\nsetzi $m0, 5\nput 0x33, $m0\n";
    CHECK(aux_register("$FP_NFMT", "", launch, ipu21()) == 2);
    CHECK(aux_register("$FP_SCL", "", launch, ipu21()) == 5);
    CHECK(aux_register("0x109", "", launch) == 0);
}

TEST_CASE("the supervisor's registers keep what is written", "[unit][tile]") {
    std::vector<std::string> names = {"$FP_ICTL", "$WORKER0_BASE", "$WORKER5_BASE", "$CCCSLOAD"};
    for (int number = 0xa0; number <= 0xab; ++number) {
        names.push_back(std::to_string(number)); // exchange registers
    }
    for (const std::string& name : names) {
        CAPTURE(name);
        CHECK(supervisor("ldconst $m4, 0x90004\nput " + name + ", $m4\nget $m5, " + name +
                             "\nst32 $m5, $m3, $mzero, 0",
                         1) == Words{name == "$FP_ICTL" ? 0x90004U & 0x1f0007U : 0x90004U});
    }
    CHECK(supervisor("put $FP_INFMT, $m3\nget $m5, $FP_INFMT\nst32 $m5, $m3, $mzero, 0", 1,
                     ipu21()) == Words{test::kOut});
    CHECK(supervisor("put 0x33, $m3\nget $m5, 0x33\nst32 $m5, $m3, $mzero, 0", 1) == Words{0});
    CHECK(supervisor("get $m5, $TILE_ID\nadd $m5, $m5, 1\nst32 $m5, $m3, $mzero, 0", 1) ==
          Words{1}); // tile 0
    // weight loads move their address on
    CHECK(supervisor("setzi $m4, 0x80000\nput $CCCSLOAD, $m4\nld64putcs 0\nld64putcs 1\n"
                     "ld128putcs 2\nget $m5, $CCCSLOAD\nst32 $m5, $m3, $mzero, 0",
                     1) == Words{0x80020});
}

TEST_CASE("CR does any combination of its commands", "[unit][tile]") {
    const std::string load = "setzi $m4, 0x80000\nput $CCCSLOAD, $m4\nld128putcs 0\n";
    for (const unsigned command : {0U, 1U, 2U, 3U, 4U, 5U, 7U}) {
        CAPTURE(command);
        test::AssembledTile tile(test::supervisor_program(
            load + fmt::format("setzi $m5, {}\nput $CR, $m5\nget $m6, $CR\n"
                               "st32 $m6, $m3, $mzero, 0",
                               command)));
        tile.write(kIn, Words{1, 2, 3, 4});
        tile.run();
        CHECK(tile.read<std::uint32_t>(test::kOut, 1) == Words{0});
        const bool zeroed = (command & 4U) != 0;
        CHECK((tile.core().context(-1).weights->registers[1] == 0) == zeroed);
    }
}

TEST_CASE("CTXT_STS says who runs", "[unit][tile]") {
    const std::string body = "get $m5, $CTXT_STS\nst32 $m5, $m3, $mzero, 0\nsetzi $m0, worker\n"
                             "run $m0, $mzero, 0\nrun $m0, $mzero, 0\nget $m5, $CTXT_STS\n"
                             "st32 $m5, $m3, $mzero, 1\nsync TEXCH_SYNCZONE_LOCAL\n"
                             "get $m5, $CTXT_STS\nst32 $m5, $m3, $mzero, 2";
    CHECK(test::output_of(test::supervisor_program(body, "nop\nnop\nnop\nnop"), {}, 3) ==
          Words{0b1, 0b10101, 0b1});
}

TEST_CASE("what launches retain and set", "[unit][tile]") {
    // the second launch adds to what the first left in $m, $a and the random state
    const std::string twice = "setzi $m0, worker\nrun $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\n";
    CHECK(worker("add $m7, $m7, 5\nst32 $m7, $m3, $mzero, 0\natom $m6, $a7\nadd $m6, $m6, 1\n"
                 "st32 $m6, $m3, $mzero, 1\nld32 $a7, $m3, $mzero, 1\n"
                 "uget $a0, $TAS\nst32 $a0, $m3, $mzero, 2\nuput $TAS, $a7",
                 3, twice) == Words{10, 2, 1});
}
