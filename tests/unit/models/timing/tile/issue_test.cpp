// SPDX-License-Identifier: MIT
// When instructions issue: worker slots, supervisor dependencies, branches, launches and exits, as
// formulas over the machine's parameters.
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

using namespace tessera;

namespace {

std::string supervisor(const std::string& body) {
    return ".supervisor\n.globl start\nstart:\n" + body + "\nbr $lr\n";
}

Cycles cycles_of(const std::string& body, const spec::MachineSpec& machine = {}) {
    return test::AssembledTile(supervisor(body), machine).run().cycles;
}

/// A supervisor that launches all workers on `worker` and waits.
std::string launching(const std::string& worker) {
    return supervisor("setzi $m0, worker\nrunall $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL") +
           ".worker\n.align 8\nworker:\n" + worker + "\nexitz $mzero\n";
}

} // namespace

TEST_CASE("independent supervisor instructions issue one a cycle and the return takes a branch",
          "[timing][tile]") {
    const spec::MachineSpec machine;
    for (const int count : {0, 1, 7}) {
        std::string body;
        for (int i = 0; i < count; ++i) {
            body += "setzi $m0, 1\n";
        }
        CHECK(cycles_of(body) == count + machine.tile.pipeline_cycles);
    }
}

TEST_CASE("a supervisor instruction waits for its operands", "[timing][tile]") {
    spec::MachineSpec machine;
    for (const Cycles pipeline : {6, 8}) {
        machine.tile.pipeline_cycles = pipeline;
        // setzi at 0, add at `pipeline`, br one later
        CHECK(cycles_of("setzi $m0, 1\nadd $m1, $m0, 1", machine) == pipeline + 1 + pipeline);
        // an independent instruction between them hides one cycle only
        CHECK(cycles_of("setzi $m0, 1\nsetzi $m2, 1\nadd $m1, $m0, 1", machine) ==
              pipeline + 1 + pipeline);
    }
}

TEST_CASE("a supervisor loop of n passes takes a branch each but the last", "[timing][tile]") {
    const spec::MachineSpec machine;
    const Cycles pipeline = machine.tile.pipeline_cycles;
    for (const int n : {1, 2, 10}) {
        // setzi, then n passes of brnzdec: the first waits for setzi, n-1 taken, one not
        const std::string body = fmt::format("setzi $m0, {}\n1: brnzdec $m0, 1b", n - 1);
        CHECK(cycles_of(body) == pipeline + (n - 1) * pipeline + 1 + pipeline);
    }
}

TEST_CASE("weight loads stream one a cycle after their address is set", "[timing][tile]") {
    const spec::MachineSpec machine;
    const Cycles pipeline = machine.tile.pipeline_cycles;
    std::string body = "setzi $m0, 0x80000\nput $CCCSLOAD, $m0\n";
    for (int i = 0; i < 64; i += 2) {
        body += fmt::format("ld128putcs {}\n", i);
    }
    // setzi 0, put at `pipeline`, first load another `pipeline` later, 32 of them, return
    CHECK(cycles_of(body) == 2 * pipeline + 32 + pipeline);
}

TEST_CASE("a launch runs every worker in its slot and the sync waits for the last",
          "[timing][tile]") {
    struct Row {
        std::int64_t workers;
        Cycles pipeline;
    };
    for (const auto& [workers, pipeline] :
         {Row{1, 6}, Row{2, 6}, Row{5, 6}, Row{6, 6}, Row{7, 6}, Row{8, 6}, Row{8, 8}, Row{3, 9}}) {
        CAPTURE(workers, pipeline);
        spec::MachineSpec machine;
        machine.tile.workers = workers;
        machine.tile.pipeline_cycles = pipeline;
        const Cycles round = std::max(workers, pipeline);
        CHECK(machine.tile.round_cycles() == round);
        for (const int instructions : {0, 1, 5}) {
            std::string body;
            for (int i = 0; i < instructions; ++i) {
                body += "setzi $m0, 1\n";
            }
            std::vector<tile::ContextSpan> spans;
            test::AssembledTile tile(launching(body), machine);
            const auto outcome = tile.run("start", &spans);
            const Cycles launch = pipeline; // runall waits for setzi
            REQUIRE(spans.size() == static_cast<std::size_t>(workers));
            Cycles first = spans.front().end - 1;
            Cycles last = 0;
            for (const auto& span : spans) {
                CHECK(span.begin >= launch + pipeline);
                CHECK(span.begin < launch + pipeline + round);
                CHECK(span.begin % round == span.context);
                CHECK(span.end == span.begin + round * instructions + 1); // the exit issues last
                first = std::min(first, span.end - 1);
                last = std::max(last, span.end - 1);
            }
            // the sync issues in the first slot that no worker holds, and ends with the last worker
            if (workers == round) {
                CHECK(outcome.cycles == std::max(first + pipeline + 1, last + pipeline) + pipeline);
            } else {
                CHECK(outcome.cycles == last + 2 * pipeline);
            }
            CHECK(outcome.counts.worker_issues() == workers * (instructions + 1));
        }
    }
}

TEST_CASE("a bundle issues once and a repeat adds no cycles", "[timing][tile]") {
    const spec::MachineSpec machine;
    const auto issues = [](const std::string& worker) {
        return test::AssembledTile(launching(worker)).run().counts.worker_issues() /
               spec::MachineSpec{}.tile.workers;
    };
    CHECK(issues("{ setzi $m0, 1 ; setzi $a0, 1 }") == 1 + 1);
    for (const int passes : {0, 1, 2, 100}) {
        const auto body =
            fmt::format("{{ rpt {}, 1 ; fnop }}\n{{ nop ; fnop }}\n{{ nop ; fnop }}", passes);
        CHECK(issues(body) == 1 + 2 * passes + 1);
    }
}

TEST_CASE("a branch to a bundle at four modulo eight costs the configured issues",
          "[timing][tile]") {
    for (const Cycles extra : {0, 1}) {
        spec::MachineSpec machine;
        machine.tile.unaligned_bundle_issues = extra;
        const auto issues = [&](const std::string& body) {
            return test::AssembledTile(launching(body), machine).run().counts.worker_issues() /
                   machine.tile.workers;
        };
        // bri at 0, bundle at 4: unaligned; with a nop between, the bundle stands at 8
        CHECK(issues("bri 1f\n1: { nop ; fnop }") == 3 + extra);
        CHECK(issues("bri 1f\nnop\n1: { nop ; fnop }") == 3);
        CHECK(issues("bri 1f\n1: nop") == 3); // solo targets are free
    }
}

TEST_CASE("a register branch to a bundle at four modulo eight costs the same", "[timing][tile]") {
    for (const Cycles extra : {0, 1, 3}) {
        spec::MachineSpec machine;
        machine.tile.unaligned_bundle_issues = extra;
        const auto issues = [&](const std::string& body) {
            return test::AssembledTile(launching(body), machine).run().counts.worker_issues() /
                   machine.tile.workers;
        };
        const std::string branch = "setzi $m1, 1f\nbr $m1\n"; // stands at 0 and 4
        CHECK(issues(branch + "nop\n1: { nop ; fnop }") == 4 + extra);
        CHECK(issues(branch + "1: { nop ; fnop }") == 4);
        CHECK(issues(branch + "nop\n1: nop") == 4);
        CHECK(issues("call $m1, 1f\n1: { nop ; fnop }") == 3 + extra);
        CHECK(issues("nop\ncall $m1, 1f\n1: { nop ; fnop }") == 4);
    }
}

TEST_CASE("the supervisor issues in every slot that no worker holds", "[timing][tile]") {
    // workers that outlast the supervisor's count; between the two instructions it has so many
    // slots of each round
    for (std::int64_t workers = 1; workers <= 8; ++workers) {
        spec::MachineSpec machine;
        machine.tile.workers = workers;
        const Cycles pipeline = machine.tile.pipeline_cycles;
        const Cycles round = machine.tile.round_cycles();
        for (std::int64_t launched = 1; launched <= workers; ++launched) {
            std::string text = "setzi $m5, 0x80000\nsetzi $m0, worker\n";
            for (std::int64_t n = 0; n < launched; ++n) {
                text += "run $m0, $mzero, 0\n";
            }
            constexpr Cycles kRounds = 4;
            const Cycles free = round - launched;
            text +=
                "setzi $m4, 3\n2: brnzdec $m4, 2b\nget $m1, $SCOUNT_L\n"; // until all hold theirs
            for (Cycles n = 1; n < kRounds * free; ++n) {
                text += "nop\n";
            }
            text += "get $m2, $SCOUNT_L\nst32 $m1, $m5, $mzero, 0\nst32 $m2, $m5, $mzero, 1\n"
                    "sync TEXCH_SYNCZONE_LOCAL";
            test::AssembledTile tile(supervisor(text) +
                                         ".worker\n.align 8\nworker: nop\nrpt 40, 0\n"
                                         "{ nop ; fnop }\nexitz $mzero\n",
                                     machine);
            tile.run();
            const auto counts = tile.read<std::uint32_t>(0x80000, 2);
            CAPTURE(workers, launched, pipeline);
            if (free > 0) {
                CHECK(static_cast<Cycles>(counts[1] - counts[0]) == kRounds * round);
            } else { // suspended until the first worker is done
                CHECK(static_cast<Cycles>(counts[0]) > 40 * round);
            }
        }
    }
}

TEST_CASE("six active workers suspend the supervisor until one exits", "[timing][tile]") {
    const spec::MachineSpec machine;
    const Cycles pipeline = machine.tile.pipeline_cycles;
    // worker 0 exits at once, the others later: the supervisor's next instruction takes worker 0's
    // slot
    const std::string text =
        supervisor("setzi $m0, worker\nrunall $m0, $mzero, 0\nget $m1, $SCOUNT_L\n"
                   "setzi $m2, 0x80000\nst32 $m1, $m2, $mzero, 0\n"
                   "sync TEXCH_SYNCZONE_LOCAL") +
        ".worker\n.align 8\nworker: get $m0, $WSR\nbrz $m0, 1f\nnop\nnop\nnop\nnop\n1: exitz "
        "$mzero\n";
    std::vector<tile::ContextSpan> spans;
    test::AssembledTile tile(text);
    tile.run("start", &spans);
    const Cycles exit_0 = spans.front().end - 1;
    CHECK(tile.read<std::uint32_t>(0x80000, 1).front() == exit_0 + pipeline);
}

TEST_CASE("a launch while all workers are active takes the one that exits first, when it has",
          "[timing][tile]") {
    const spec::MachineSpec machine;
    const auto workers = static_cast<std::size_t>(machine.tile.workers);
    for (const int longer : {0, 1, 5}) {
        CAPTURE(longer);
        std::string body = "setzi $m0, worker\nsetzi $m1, shorter\n";
        for (std::size_t i = 0; i < workers; ++i) {
            body += static_cast<int>(i) < longer ? "run $m0, $mzero, 0\n" : "run $m1, $mzero, 0\n";
        }
        std::string text = supervisor(body + "run $m1, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL");
        text += ".worker\nworker:\n";
        for (int i = 0; i < 60; ++i) {
            text += i == 30 ? "shorter: nop\n" : "nop\n";
        }
        std::vector<tile::ContextSpan> spans;
        test::AssembledTile(text + "exitz $mzero\n").run("start", &spans);
        std::vector<tile::ContextSpan> launched;
        std::copy_if(spans.begin(), spans.end(), std::back_inserter(launched),
                     [](const auto& span) { return span.context >= 0; });
        std::stable_sort(launched.begin(), launched.end(),
                         [](const auto& a, const auto& b) { return a.begin < b.begin; });
        REQUIRE(launched.size() == workers + 1);
        const auto first =
            std::min_element(launched.begin(), launched.end() - 1,
                             [](const auto& a, const auto& b) { return a.end < b.end; });
        CHECK(launched.back().context == first->context);
        CHECK(first->context == longer);
        // issued in the slot in which that one would have gone on
        CHECK(launched.back().begin == first->end - 1 + 2 * machine.tile.pipeline_cycles);
    }
}

TEST_CASE("a discarded write makes nobody wait", "[timing][tile]") {
    const Cycles pipeline = spec::MachineSpec{}.tile.pipeline_cycles;
    CHECK(cycles_of("add $mzero, $mzero, 1\nadd $m1, $mzero, 1") == 2 + pipeline);
}

TEST_CASE("a phase that passes its limit is taken for an endless loop", "[timing][tile]") {
    spec::MachineSpec machine;
    const auto ends = [&machine](const std::string& text) {
        try {
            test::AssembledTile(text, machine).run();
        } catch (const tile::TileFault& fault) {
            CHECK_THAT(fault.what(), Catch::Contains("loop for ever"));
            return false;
        }
        return true;
    };
    const auto waiting = [](int passes) {
        return launching(fmt::format("nop\nrpt {}, 0\n{{ nop ; fnop }}", passes));
    };
    machine.tile.phase_limit_cycles = 6'000;
    CHECK_FALSE(ends(supervisor("1: bri 1b")));
    CHECK_FALSE(ends(launching("1: bri 1b")));
    CHECK_FALSE(ends(waiting(2'000)));
    machine.tile.phase_limit_cycles = 18'000;
    CHECK(ends(waiting(2'000)));
}
