// SPDX-License-Identifier: MIT
// What calls find in registers, launches and their cycles, races and what they change, and how all
// that is shown.
#include "base/error.h"
#include "sim/vertex/call_watch.h"
#include "sim/vertex/report.h"
#include "sim/vertex/run.h"
#include "tests/unit/sim/vertex/support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cstring>
#include <vector>

using namespace tessera;
using test::VertexFolder;

namespace {

const spec::MachineSpec kMachine;
const Cycles kWorkers = kMachine.tile.workers;

/// Workers store $m7 and $a3 into out[2 * number]; supervisors launch loops of several lengths.
constexpr const char* kCode = R"(
        .worker
        .globl shows
shows:  get $m0, $WSR
        and $m0, $m0, 7
        ld32 $m1, $mvertex_base, $mzero, 0
        shl $m0, $m0, 3
        add $m1, $m1, $m0
        st32 $m7, $m1, $mzero, 0
        st32 $a3, $m1, $mzero, 1
        exitz $mzero
        .globl work
work:   brnzdec $m6, work
        exitz $mzero
        .globl uneven
uneven: get $m6, $WSR
        and $m6, $m6, 7
        bri work
        .globl same
same:   ld32 $m1, $mvertex_base, $mzero, 0
        setzi $m2, 5
        st32 $m2, $m1, $mzero, 0
        exitz $mzero
        .globl ahead
ahead:  get $m0, $WSR
        and $m0, $m0, 7
        ld32 $m1, $mvertex_base, $mzero, 0
        shl $m0, $m0, 2
        add $m1, $m1, $m0
        ld32 $m3, $m1, $mzero, 1
        add $m3, $m3, 1
        st32 $m0, $m1, $mzero, 0
        exitz $mzero
        .globl differs
differs: ld32 $m1, $mvertex_base, $mzero, 0
        get $m0, $WSR
        and $m0, $m0, 7
        setzi $m2, 9
        sub $m2, $m2, $m0
        mul $m6, $m2, 3
1:      brnzdec $m6, 1b
        st32 $m2, $m1, $mzero, 0
        exitz $mzero
        .supervisor
        .globl m_shows
m_shows: ld32 $m0, $m0, $mzero, 0
        st32 $m3, $m0, $mzero, 0
        st32 $m8, $m0, $mzero, 1
        br $lr
        .globl thrice
thrice: setzi $m1, uneven
        setzi $m2, 3
1:      runall $m1, $mzero, 0
        sync TEXCH_SYNCZONE_LOCAL
        brnzdec $m2, 1b
        setzi $m1, work
        run $m1, $mzero, 0
        run $m1, $mzero, 0
        setzi $m3, 30
1:      brnzdec $m3, 1b
        run $m1, $mzero, 0
        sync TEXCH_SYNCZONE_LOCAL
        br $lr
        .globl counts
counts: setzi $m9, 3
        br $lr
        .globl pushes
pushes: add $sp, $sp, -8
        br $lr
)";

const std::string kOut =
    R"("arrays": {"out": {"type": "u32", "length": 12}}, "state": [{"pointer": "out"}], )";

struct Ran {
    vertex::Bench bench;
    vertex::PointResult result;

    [[nodiscard]] std::vector<double> out() const {
        return vertex::element_values(*bench.arrays.front().type, result.arrays.front());
    }
    [[nodiscard]] std::string text() const {
        const auto point = vertex::point_json(kMachine, bench, result, {}, false);
        return vertex::report_text(
            vertex::result_json("v", "bow", vertex::Json::object(), {point}, nullptr));
    }
};

Ran run(const std::string& calls, const vertex::RunSettings& settings = {}) {
    const VertexFolder folder;
    folder.write("code.S", kCode);
    const auto loaded = folder.load(kOut + calls);
    Ran ran{vertex::lay_out(loaded, kMachine, vertex::points_of(loaded).front(), {}), {}};
    ran.result = vertex::run_bench(kMachine, ran.bench, settings);
    return ran;
}

std::string failure(const std::string& calls) {
    try {
        static_cast<void>(run(calls));
    } catch (const ProgramError& error) {
        return error.what();
    }
    return "accepted";
}

bool holds(const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
    return text.find(part) != std::string::npos;
}

double bits_of(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

} // namespace

TEST_CASE("calls find the registers that the file gives", "[unit][vertex]") {
    const auto all = run(R"j("entry": "shows", "kind": "multi_worker",
                             "registers": {"m7": "3 * 4", "a3": {"f32": "1 / 4"}})j");
    for (std::size_t worker = 0; worker < 6; ++worker) {
        CHECK(all.out()[2 * worker] == 12);
        CHECK(all.out()[2 * worker + 1] == bits_of(0.25F));
    }
    const auto one =
        run(R"j("entry": "shows", "kind": "worker", "registers": {"m7": -1, "a3": "addr(out)"})j");
    CHECK(one.out()[0] == 0xffffffff);
    CHECK(one.out()[1] == one.bench.arrays.front().address);
    CHECK(one.out()[2] == 0);
    const auto chief =
        run(R"("entry": "m_shows", "kind": "supervisor", "registers": {"m3": 7, "m8": 8})");
    CHECK(chief.out()[0] == 7);
    CHECK(chief.out()[1] == 8);
    // of a phase of its own
    const auto two = run(R"("calls": [{"entry": "shows", "kind": "worker", "registers": {"m7": 1}},
        {"entry": "m_shows", "kind": "supervisor", "new_phase": true, "registers": {"m3": 2}}])");
    CHECK(two.out()[0] == 2);
    CHECK(run(R"("calls": [{"entry": "shows", "kind": "worker", "registers": {"m7": 1}},
                           {"entry": "shows", "kind": "multi_worker", "new_phase": true}])")
              .out() == std::vector<double>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("registers that a call does not have free are refused", "[unit][vertex]") {
    const VertexFolder folder;
    const auto refusal = [&](const std::string& kind, const std::string& registers) {
        return VertexFolder::mistakes([&] {
            static_cast<void>(folder.load(R"("entry": "stop", "kind": ")" + kind +
                                          R"(", "registers": )" + registers));
        });
    };
    for (const std::string name : {"m0", "m9", "m10", "m11", "m12", "a0", "x"}) {
        CHECK(refusal("supervisor", R"({")" + name + R"(": 1})") ==
              "/registers/" + name + ": unknown register, expected one of m1..m8");
    }
    CHECK(refusal("supervisor", R"({"m1": 1, "m8": 1})") == "accepted");
    for (const std::string kind : {"worker", "multi_worker"}) {
        CHECK(refusal(kind, R"({"m0": 1, "m11": 1, "a0": 1, "a7": 1})") == "accepted");
        for (const std::string name : {"m12", "a8"}) {
            CHECK(refusal(kind, R"({")" + name + R"(": 1})") ==
                  "/registers/" + name + ": unknown register, expected one of m0..m11 and a0..a7");
        }
    }
    CHECK(refusal("worker", R"({"m0": [1]})") ==
          "/registers/m0: got an array, expected a number, an expression or {\"f32\": ...}");
    CHECK(refusal("worker", R"({"m0": {"f64": 1}})").find("/registers/m0: got") == 0);
    CHECK(VertexFolder::mistakes([&] {
              static_cast<void>(folder.load(
                  R"("calls": [{"entry": "stop", "kind": "worker"},
                               {"entry": "stop", "kind": "worker", "registers": {"m0": 1}}])"));
          }) ==
          "/calls/1/registers: got registers of a call inside a phase, where they are what the "
          "call before left, expected new_phase: true");
    CHECK(folder.bench_refusal(R"("registers": {"m0": 4294967296})") ==
          "/registers/m0: got 4294967296, expected a whole number of -2147483648..4294967295");
    CHECK(folder.bench_refusal(R"("registers": {"m0": {"f32": 1e39}})") ==
          "/registers/m0/f32: got 1e+39, expected a number within f32");
}

TEST_CASE("a vertex that keeps no frame may be called", "[unit][vertex]") {
    const std::string of = R"("entry": "counts", "kind": "supervisor")";
    CHECK(failure(of).find("returned with $m9") != std::string::npos);
    CHECK(failure(of + R"(, "keeps_m9": true)").find("returned with $m9") != std::string::npos);
    CHECK(failure(of + R"(, "keeps_m9": false)") == "accepted");
    // the stack pointer is kept in any case
    CHECK(
        failure(R"("entry": "pushes", "kind": "supervisor", "keeps_m9": false)").find("with $sp") !=
        std::string::npos);
    // of this call only
    CHECK(failure(R"("calls": [{"entry": "m_shows", "kind": "supervisor", "keeps_m9": false},
                               {"entry": "counts", "kind": "supervisor"}])")
              .find("returned with $m9") != std::string::npos);
}

TEST_CASE("worker cycles are those of the slowest worker of each launch", "[unit][vertex]") {
    const auto ran = run(R"("entry": "thrice", "kind": "supervisor")");
    const auto& launches = ran.result.phases.front().launches;
    REQUIRE(launches.size() == 5);
    // get, and, bri, number + 1 branches, exitz; the last worker has most
    const Cycles uneven = kWorkers * (3 + kWorkers + 1);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(launches[i].workers == kWorkers);
        CHECK(launches[i].cycles == uneven);
        CHECK(launches[i].entry == "uneven");
        CHECK((i == 0 || launches[i].begin >= launches[i - 1].end));
    }
    // $m6 is -1 behind its loop: one more branch, exitz; worker 0 ran twice up to the sync
    const auto& last = launches[4];
    CHECK(last.entry == "work");
    CHECK(last.workers == 2);
    CHECK(last.cycles > 2 * kWorkers);
    Cycles sum = 0;
    for (const auto& launch : launches) {
        sum += launch.cycles;
    }
    CHECK(ran.result.worker_cycles == sum);
    const auto& runs = ran.result.phases.front().workers;
    CHECK(runs.size() == static_cast<std::size_t>(4 * kWorkers + 3));
    CHECK(runs.front().launch == 0);
    CHECK(runs.back().launch == 4);
    CHECK(runs[6].launch == 1);
    for (std::size_t i = 0; i < launches.size(); ++i) {
        Cycles begin = ran.result.tile_cycles;
        Cycles end = 0;
        for (const auto& worker : runs) {
            begin = worker.launch == i ? std::min(begin, worker.begin) : begin;
            end = worker.launch == i ? std::max(end, worker.end) : end;
        }
        CHECK(launches[i].begin == begin);
        CHECK(launches[i].end == end);
    }
    const std::string text = ran.text();
    CHECK(holds(text, "launches          workers  cycles  begin  entry\n             0-3  "));
    CHECK(holds(text, "uneven, each\n"));
    CHECK(holds(text, fmt::format("workers      {} cycles, the slowest of each launch\n", sum)));
}

TEST_CASE("two multi-worker calls of a phase are two launches", "[unit][vertex]") {
    const auto once = run(R"("entry": "uneven", "kind": "multi_worker")");
    const auto twice = run(R"("calls": [{"entry": "uneven", "kind": "multi_worker"},
                                        {"entry": "uneven", "kind": "multi_worker"}])");
    CHECK(once.result.phases.front().launches.size() == 1);
    CHECK(twice.result.phases.front().launches.size() == 2);
    CHECK(twice.result.worker_cycles == 2 * once.result.worker_cycles);
    const auto apart = run(R"("calls": [{"entry": "uneven", "kind": "multi_worker"},
                              {"entry": "uneven", "kind": "multi_worker", "new_phase": true}])");
    CHECK(apart.result.worker_cycles == 2 * once.result.worker_cycles);
    CHECK(apart.result.phases[1].workers.front().launch == 0);
}

TEST_CASE("workers that take the same are shown in one line", "[unit][vertex]") {
    const auto same = run(R"("entry": "shows", "kind": "multi_worker")").text();
    CHECK(holds(same, "\nworkers 0-5  48 cycles each, "));
    const auto uneven = run(R"("entry": "uneven", "kind": "multi_worker")").text();
    CHECK(holds(uneven, "\nworker 0     30 cycles, "));
    CHECK(holds(uneven, "\nworker 5     60 cycles, "));
    CHECK(uneven.find("the slowest of each launch") == std::string::npos);
}

TEST_CASE("equal writes and values that nobody uses are no races", "[unit][vertex]") {
    const auto same = run(R"("entry": "same", "kind": "multi_worker")");
    CHECK(same.result.phases.front().racing_accesses == 0);
    CHECK(same.out().front() == 5);
    // each reads the word that the next one writes, and only adds one to it
    const auto ahead = run(R"("entry": "ahead", "kind": "multi_worker")");
    CHECK(ahead.result.phases.front().racing_accesses == 0);
    CHECK(ahead.result.phases.front().unused_reads > 0);
    CHECK(ahead.result.warnings.empty());
}

TEST_CASE("what a race changes is told", "[unit][vertex]") {
    // the worker of the highest number is the first to store, and the last to be launched
    const auto ran = run(R"("entry": "differs", "kind": "multi_worker")");
    CHECK(ran.result.phases.front().racing_accesses > 0);
    CHECK(ran.result.warnings.empty());
    REQUIRE(ran.result.order);
    CHECK(ran.result.order->words == 1);
    CHECK(ran.result.order->first_word == ran.bench.arrays.front().address);
    CHECK(ran.result.order->other_cycles == ran.result.tile_cycles);
    CHECK(
        holds(ran.text(), fmt::format("their order decides 1 word of memory, the first at {:#x};\n "
                                      "            shown is the machine's, slot by slot",
                                      ran.bench.arrays.front().address)));
    CHECK(ran.out().front() == 9); // the slowest, which one after the other is the first
    const auto odd = run(R"("calls": [{"entry": "differs", "kind": "multi_worker",
                                       "state": [{"pointer": "out", "offset_elements": 1}]}])");
    REQUIRE(odd.result.order);
    CHECK(odd.result.order->first_word == odd.bench.arrays.front().address + 4);
    vertex::RunSettings settings;
    settings.lockstep_only = true;
    const auto observed = run(R"("entry": "differs", "kind": "multi_worker")", settings);
    CHECK(observed.out().front() == 9); // the slowest
    CHECK_FALSE(observed.result.order);
    const std::string text = observed.text();
    CHECK(holds(text, "RACE"));
    CHECK(holds(text, "code.S:"));
    CHECK(holds(text, "more of them\n"));
    CHECK(text.find("RACE") == text.rfind("RACE")); // of one line of code, whichever workers
}

TEST_CASE("places are shown relative to the vertex file", "[unit][vertex]") {
    const auto ran = run(R"("entry": "shows", "kind": "worker")");
    CHECK(ran.bench.codelets.front().files.front() == "code.S");
    CHECK(holds(ran.text(), "issues  code.S:"));
}

TEST_CASE("a vertex file's mistakes come before those of its sources", "[unit][vertex]") {
    const VertexFolder folder;
    folder.write("code.S", ".worker\nstop: setzi $m0, X\nNAME\nexitz $mzero\n");
    const auto refusal = [&](const std::string& inner) { return folder.bench_refusal(inner); };
    CHECK(refusal(R"("defines": {"X": "f"})") == "/defines/X: 'f', character 1: unknown name 'f'");
    CHECK(refusal(R"("defines": {"X": "f"}, "stack_bytes": -1, "state": [{"align": "0"}])") ==
          "/defines/X: 'f', character 1: unknown name 'f'\n"
          "/stack_bytes: got -1, expected a whole number of 0..2097152 B\n"
          "/state/0/align: got 0, expected a whole number of 1..32768 B");
    // of the source, once the file is right
    CHECK(refusal(R"("defines": {"X": 1})").find("instruction 'NAME': not known") !=
          std::string::npos);
    const std::string texts = R"j("defines": {"X": {"text": "(2 + 3)"}, "NAME": {"text": "nop"}})j";
    CHECK(refusal(texts) == "accepted");
    CHECK(folder.bench(texts).codelets.front().words.front() == 0x19000005);
    for (const std::string wrong :
         {R"({"txt": "x"})", R"({"text": 3})", "[1]", "true", R"({"text": "x", "more": 1})"}) {
        CAPTURE(wrong);
        CHECK(folder.refusal(R"("defines": {"X": )" + wrong + "}").find("/defines/X: got ") == 0);
    }
}

TEST_CASE("a supervisor vertex runs from its call to behind it, wherever its code stands",
          "[unit][vertex]") {
    constexpr Address kStub = 0x50000;
    vertex::BenchPhase phase;
    phase.stub = kStub;
    phase.stub_end = kStub + 16;
    phase.calls.resize(1);
    phase.calls[0].entry_name = "v";
    phase.calls[0].returns_to = kStub + 8;
    const isa::Context context;
    const auto registers = [&](int /*number*/) -> const isa::Context& { return context; };
    const auto issues = [&](const std::vector<Address>& addresses) {
        vertex::CallWatch watch;
        watch.begin_phase(phase);
        for (const Address address : addresses) {
            watch.issued(address, registers);
        }
        watch.end_phase();
    };
    constexpr Address kCall = kStub + 4;
    CHECK_NOTHROW(issues({kStub, kCall, kStub + 8, kStub + 12}));
    // code right before the stub, and right behind it
    CHECK_NOTHROW(issues({kCall, kStub - 4, kStub + 16, kStub + 8}));
    for (const Address wrong : {kStub, kCall, kStub + 12}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(issues({kCall, wrong}), ProgramError);
    }
    CHECK_THROWS_AS(issues({kStub, kCall, kStub + 16}), ProgramError); // it never returned
}
