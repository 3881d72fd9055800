// SPDX-License-Identifier: MIT
// The law of the two models of a tile: without races, a worker interpreted to its end at launch and
// all contexts clock by clock give the same cycles, counts, spans, registers, memory, and faults.
// Registers may differ in what was read in a race of which nothing comes.
#include "tests/support/assembled_tile.h"
#include "tests/support/random_code.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <array>
#include <random>
#include <string>
#include <vector>

using namespace tessera;

namespace {

constexpr Address kData = 0x80000;
constexpr std::size_t kDataWords = 0x4000;

struct Outcome {
    std::string fault;
    tile::ComputeOutcome phase;
    std::vector<tile::ContextSpan> spans;
    std::vector<std::uint32_t> registers;
    std::vector<std::uint32_t> memory;
    bool raced = false;
};

template <class Tile> Outcome outcome_of(test::BasicAssembledTile<Tile>& tile) {
    std::vector<std::uint32_t> data(kDataWords);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<std::uint32_t>(i * 0x01010101U);
    }
    tile.write(kData, data);
    Outcome outcome;
    try {
        outcome.phase = tile.run("start", &outcome.spans);
    } catch (const tile::TileFault& fault) {
        outcome.fault = fault.what();
        return outcome; // nothing else is defined
    }
    for (int context = -1; context < tile.spec().tile.workers; ++context) {
        const isa::Context& state = tile.core().context(context);
        outcome.registers.insert(outcome.registers.end(), state.main, state.main + 12);
        outcome.registers.insert(outcome.registers.end(), state.aux, state.aux + 8);
    }
    outcome.memory = tile.template read<std::uint32_t>(kData, kDataWords);
    return outcome;
}

/// Runs the program in both models, checks that they agree, and gives the fault, or "no fault".
std::string both(const std::string& text, const spec::MachineSpec& machine = {}) {
    CAPTURE(text);
    test::AssembledTile fast(text, machine);
    test::AssembledLockstepTile lockstep(text, machine);
    const Outcome a = outcome_of(fast);
    const Outcome b = outcome_of(lockstep);
    CHECK(lockstep.core().racing_accesses() == 0);
    CHECK(a.fault == b.fault);
    if (a.fault.empty() && b.fault.empty()) {
        CHECK(a.phase.cycles == b.phase.cycles);
        CHECK(a.phase.counts.worker_issues() == b.phase.counts.worker_issues());
        CHECK(a.phase.counts.worker_bundles() == b.phase.counts.worker_bundles());
        CHECK(a.phase.counts.supervisor_instructions() == b.phase.counts.supervisor_instructions());
        CHECK((a.phase == b.phase)); // and all other counts
        CHECK(a.registers == b.registers);
        CHECK((a.memory == b.memory)); // not printed
        CHECK(a.spans.size() == b.spans.size());
        for (std::size_t i = 0; i < std::min(a.spans.size(), b.spans.size()); ++i) {
            CHECK(a.spans[i].context == b.spans[i].context);
            CHECK(a.spans[i].entry == b.spans[i].entry);
            CHECK(a.spans[i].begin == b.spans[i].begin);
            CHECK(a.spans[i].end == b.spans[i].end);
        }
    }
    return b.fault.empty() ? "no fault" : b.fault;
}

std::string text_of(const std::string& supervisor, const std::string& workers) {
    return ".supervisor\n.globl start\nstart:\n" + supervisor + "\nbr $lr\n.worker\n.align 8\n" +
           workers;
}

/// Each worker writes words of its own, loops as often as its number says.
const std::string kUnevenWorkers = R"(
worker:
    get $m0, $WSR
    and $m0, $m0, 7
    shl $m1, $m0, 8
    setzi $m2, 0x80000
    add $m2, $m2, $m1
    ld32 $a0, $m2, $mzero, 0
    .align 8
1:  { brnzdec $m0, 1b ; f32add $a0, $a0, $a0 }
    st32 $a0, $m2, $mzero, 1
    get $m3, $COUNT_L
    st32 $m3, $m2, $mzero, 2
    rpt 7, 0
    { ld32step $mzero, $mzero, $m2+=, 1 ; fnop }
    exitz $mzero
)";

} // namespace

TEST_CASE("each launch has its busiest worker, and the most uneven launch is told",
          "[unit][tile]") {
    const std::string text = R"(
        .supervisor
        .globl start
start:  setzi $m0, counts
        runall $m0, $mzero, 0
        sync TEXCH_SYNCZONE_LOCAL
        setzi $m0, ends
        run $m0, $mzero, 0
        run $m0, $mzero, 0
        sync TEXCH_SYNCZONE_LOCAL
        sync TEXCH_SYNCZONE_LOCAL
        br $lr
        .worker
counts: get $m0, $WSR
        and $m0, $m0, 7
1:      brnzdec $m0, 1b
ends:   exitz $mzero
)";
    CHECK(both(text) == "no fault");
    test::AssembledTile tile(text, {});
    const tile::ComputeOutcome phase = tile.run("start");
    // worker w of six has 4 + w issues, then two have one each; a sync without workers is no launch
    CHECK(phase.counts.worker_issues() == 6 * 4 + 15 + 2);
    CHECK(phase.counts.launches() == 2);
    CHECK(phase.busiest_issues == 9 + 1);
    std::array<std::int64_t, events::kMostWorkers> issues_of{4, 5, 6, 7, 8, 9};
    ++issues_of[0]; // those of the second launch
    ++issues_of[1];
    CHECK(phase.issues_of == issues_of);
    CHECK((phase.uneven == tile::UnevenLaunch{1, 5, 9, 6 * 4 + 15}));
    // the next phase counts anew
    CHECK((tile.run("start") == phase));
}

TEST_CASE("random programs without races are the same clock by clock", "[unit][tile]") {
    constexpr unsigned kPrograms = 3000;
    unsigned without_races = 0;
    unsigned ended = 0;
    unsigned unused = 0;
    for (unsigned seed = 0; seed < kPrograms; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const test::RandomProgram program(
            [&random] { return static_cast<std::uint32_t>(random()); });
        const test::RandomOutcome lockstep = program.run_lockstep();
        if (lockstep.raced) {
            continue;
        }
        const test::RandomOutcome fast = program.run(isa::engine());
        const auto shown = [&](const std::string& fault) {
            return lockstep.read_unused ? fault.substr(0, fault.find("; $m0 = ")) : fault;
        };
        CHECK(shown(fast.fault) == shown(lockstep.fault));
        CHECK(fast.cycles == lockstep.cycles);
        ++without_races;
        unused += lockstep.read_unused ? 1 : 0;
        if (lockstep.fault.empty()) { // else the fast model has run other contexts further
            CHECK((fast.counts == lockstep.counts));
            CHECK((lockstep.read_unused || fast.registers == lockstep.registers));
            CHECK((fast.memory == lockstep.memory)); // not printed
            ++ended;
        }
    }
    // or the property would hold of little
    CHECK(without_races > kPrograms / 3);
    CHECK(ended > kPrograms / 20);
    CHECK(unused > kPrograms / 50);
}

TEST_CASE("all workers of uneven length are the same clock by clock", "[unit][tile]") {
    for (const std::int64_t workers : {1, 2, 5, 6, 8}) {
        for (const Cycles pipeline : {1, 6, 7, 16}) {
            spec::MachineSpec machine;
            machine.tile.workers = workers;
            machine.tile.pipeline_cycles = pipeline;
            const std::string text = text_of("setzi $m0, worker\nrunall $m0, $mzero, 0\n"
                                             "sync TEXCH_SYNCZONE_LOCAL",
                                             kUnevenWorkers);
            CHECK(both(text, machine) == "no fault");
        }
    }
}

TEST_CASE("a supervisor beside its workers takes the same slots clock by clock", "[unit][tile]") {
    const std::string beside = R"(
        setzi $m1, 0x8c000
        setzi $m2, 40
    1:  ld32 $m3, $m1, $mzero, 0
        add $m3, $m3, $m2
        st32 $m3, $m1, $mzero, 1
        brnzdec $m2, 1b
    )";
    for (const std::int64_t workers : {1, 3, 6, 8}) {
        for (const std::int64_t launched : {std::int64_t{1}, workers / 2, workers}) {
            spec::MachineSpec machine;
            machine.tile.workers = workers;
            std::string text = "setzi $m0, worker\n";
            for (std::int64_t n = 0; n < launched; ++n) {
                text += "run $m0, $mzero, 0\n";
            }
            text += beside + "sync TEXCH_SYNCZONE_LOCAL\nget $m4, $SCOUNT_L\n";
            CHECK(both(text_of(text, kUnevenWorkers), machine) == "no fault");
        }
    }
}

TEST_CASE("a context that exits and is launched again is the same clock by clock", "[unit][tile]") {
    // the first worker's slot is free again long before the sync
    std::string text = "setzi $m0, quick\n";
    for (int n = 0; n < 5; ++n) {
        text += "run $m0, $mzero, 0\nsetzi $m2, 9\n1: brnzdec $m2, 1b\n";
    }
    text += "sync TEXCH_SYNCZONE_LOCAL\nsetzi $m0, worker\nrunall $m0, $mzero, 0\n"
            "sync TEXCH_SYNCZONE_LOCAL";
    const std::string quick = "quick: add $m5, $m5, 1\nadd $m5, $m5, 1\nexitz $mzero\n.align 8\n";
    CHECK(both(text_of(text, quick + kUnevenWorkers)) == "no fault");
}

TEST_CASE("random supervisors beside their workers are the same clock by clock", "[unit][tile]") {
    // $m0 and $m5 entries, $m1 data of the supervisor's own, $m2 and $m3 numbers
    const std::vector<std::string> pieces = {
        "run $m0, $mzero, 0\n",
        "run $m5, $mzero, 0\n",
        "sync TEXCH_SYNCZONE_LOCAL\n",
        "sync TEXCH_SYNCZONE_LOCAL\nrunall $m0, $mzero, 0\n",
        "sync TEXCH_SYNCZONE_LOCAL\nput $CCCSLOAD, $m1\nld64putcs 1\nld64putcs 2\n",
        "put $CCCSLOAD, $m1\n",
        "setzi $m2, 3\n1: brnzdec $m2, 1b\n",
        "setzi $m2, 17\n1: add $m3, $m3, $m2\nbrnzdec $m2, 1b\n",
        "ld32 $m3, $m1, $mzero, 0\nadd $m3, $m3, 1\nst32 $m3, $m1, $mzero, 0\n",
        "call $m10, leaf\n",
        "get $m4, $SCOUNT_L\n",
        "nop\n",
    };
    int ended = 0;
    constexpr int kPrograms = 150;
    for (int seed = 0; seed < kPrograms; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(static_cast<unsigned>(seed));
        spec::MachineSpec machine;
        machine.tile.workers = 1 + static_cast<int>(random() % 8);
        machine.tile.pipeline_cycles = 1 + static_cast<int>(random() % 12);
        std::string text = "mov $m9, $lr\nsetzi $m0, worker\nsetzi $m5, quick\n"
                           "setzi $m1, 0x8c000\n";
        for (int i = 0; i < 24; ++i) {
            text += pieces[random() % pieces.size()];
        }
        text += "sync TEXCH_SYNCZONE_LOCAL\nbr $m9\nleaf: add $m3, $m3, $m3\nbr $m10\n";
        // a launch without a free worker faults, in both at the same clock
        ended += both(text_of(text, "quick: exitz $mzero\n.align 8\n" + kUnevenWorkers), machine) ==
                         "no fault"
                     ? 1
                     : 0;
    }
    CHECK(ended > kPrograms / 4);
}

TEST_CASE("weight loads and nested calls are the same clock by clock", "[unit][tile]") {
    const std::string text = R"(
        mov $m9, $lr
        setzi $m0, 0x80000
        call $m10, load
        call $m10, load
        setzi $m0, worker
        runall $m0, $mzero, 0
        sync TEXCH_SYNCZONE_LOCAL
        br $m9
    load:
        mov $m8, $lr
        put $CCCSLOAD, $m0
        ld64putcs 3
        ld64putcs 4
        ld128putcs 8
        ld64putcs 11
        call $m10, inner
        br $m8
    inner:
        add $m0, $m0, 64
    )";
    CHECK(both(text_of(text, kUnevenWorkers)) == "no fault");
}

TEST_CASE("of all contexts the first in time to fault is reported by both models", "[unit][tile]") {
    const std::string slow = "slow: setzi $m0, 20\n1: brnzdec $m0, 1b\nld32 $m1, $mzero, 0\n"
                             "exitz $mzero\n.align 8\n";
    const std::string fast = "fast: nop\nld32 $m1, $mzero, 0\nexitz $mzero\n.align 8\n";
    const std::string workers = fast + slow;
    const std::string both_run =
        "setzi $m0, slow\nrun $m0, $mzero, 0\nsetzi $m0, fast\nrun $m0, $mzero, 0\n";
    // the second launch faults first
    CHECK_THAT(both(text_of(both_run + "sync TEXCH_SYNCZONE_LOCAL", workers)),
               Catch::Contains("tile_0.worker_1 @ "));
    // the supervisor does before a worker that was launched earlier
    const std::string slow_only = "setzi $m0, slow\nrun $m0, $mzero, 0\n";
    CHECK_THAT(both(text_of(slow_only + "ld32 $m1, $mzero, $mzero, 0", workers)),
               Catch::Contains("tile_0.supervisor @ "));
    // and does not where it comes later
    CHECK_THAT(both(text_of(slow_only + "setzi $m2, 90\n1: brnzdec $m2, 1b\n"
                                        "ld32 $m1, $mzero, $mzero, 0",
                            workers)),
               Catch::Contains("tile_0.worker_0 @ "));
    CHECK_THAT(both(text_of(slow_only, workers)),
               Catch::Contains("the phase ends while a worker is active"));
}

TEST_CASE("endless loops are found by both models", "[unit][tile]") {
    spec::MachineSpec machine;
    machine.tile.phase_limit_cycles = 5000;
    const std::string worker = "worker: nop\n1: bri 1b\n";
    CHECK_THAT(
        both(text_of("setzi $m0, worker\nrunall $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL", worker),
             machine),
        Catch::Contains("loop for ever"));
    CHECK_THAT(both(text_of("1: bri 1b", worker), machine), Catch::Contains("loop for ever"));
}

TEST_CASE("supervisor code may follow the end of a repeat body", "[unit][tile]") {
    // the words before it are a worker's loop that ends where the supervisor's code goes on
    const std::string text = ".supervisor\n.globl start\nstart: setzi $m0, 1\nbri 2f\n.worker\n"
                             ".align 8\n1: { rpt 3, 0 ; fnop }\n{ nop ; fnop }\n.supervisor\n"
                             "2: add $m0, $m0, 1\nbr $lr\n";
    CHECK(both(text) == "no fault");
}
