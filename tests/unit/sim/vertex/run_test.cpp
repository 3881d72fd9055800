// SPDX-License-Identifier: MIT
#include "sim/vertex/check.h"
#include "sim/vertex/fit.h"
#include "sim/vertex/report.h"
#include "sim/vertex/run.h"
#include "tests/unit/sim/vertex/support.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <string>

using namespace tessera;
using test::VertexFolder;

namespace {

const spec::MachineSpec kMachine;

/// A worker stores its number plus one into out[number], and once more into out[0].
constexpr const char* kStores = R"(
        .worker
        .globl own
own:
        get $m0, $WSR
        and $m0, $m0, 7
        ld32 $m1, $mvertex_base, $mzero, 0
        add $m2, $m0, 1
        shl $m0, $m0, 2
        add $m1, $m1, $m0
        st32step $m2, $mzero, $m1+=, 1
        exitz $mzero
        .globl same
same:
        ld32 $m1, $mvertex_base, $mzero, 0
        ld32 $m2, $m1, $mzero, 0
        add $m2, $m2, 1
        st32step $m2, $mzero, $m1+=, 1
        exitz $mzero
        .globl keep
keep:
        add $m7, $m7, 1
        ld32 $m1, $mvertex_base, $mzero, 0
        st32step $m7, $mzero, $m1+=, 1
        exitz $mzero
        .globl scratch
scratch:
        ld32 $m1, $mvertex_base, $mzero, 0
        mov $m2, $mworker_base
        st32step $m2, $mzero, $m1+=, 1
        exitz $mzero
        .supervisor
        .globl chief
chief:
        ld32 $m1, $m0, $mzero, 0
        st32step $sp, $mzero, $m1+=, 1
        br $lr
)";

/// Supervisor vertices, most of which break the calling convention.
constexpr const char* kBreaches = R"(
        .supervisor
        .globl good
good:   add $sp, $sp, -8
        st32 $m9, $sp, $mzero, 0
        st32 $lr, $sp, $mzero, 1
        setzi $m9, 3
        setzi $m8, 0x1234
        call $lr, 1f
        ld32 $m9, $sp, $mzero, 0
        ld32 $lr, $sp, $mzero, 1
        add $sp, $sp, 8
        br $lr
1:      br $lr
        .globl gone
gone:   br $mzero
        .globl gone_by_frame
gone_by_frame:
        br $m9
        .globl lost_link
lost_link:
        setzi $lr, 0
        br $lr
        .globl counts
counts: setzi $m9, 3
1:      brnzdec $m9, 1b
        br $lr
        .globl frame_is_link
frame_is_link:
        mov $m9, $lr
        br $m9
        .globl pushes
pushes: add $sp, $sp, -8
        br $lr
        .globl skips
skips:  add $lr, $lr, 4
        br $lr
        .globl leaves
leaves: setzi $m1, slow
        run $m1, $mzero, 0
        br $lr
        .globl waits
waits:  sync 2
        br $lr
        .globl loops
loops:  bri loops
        .worker
slow:   setzi $m0, 20
1:      brnzdec $m0, 1b
        exitz $mzero
        .globl falls
falls:  nop
)";

/// Runs `entries` of kBreaches one after the other as supervisor vertices.
vertex::PointResult run_breaches(const std::vector<std::string>& entries,
                                 const spec::MachineSpec& machine = {},
                                 const vertex::RunSettings& settings = {}) {
    const VertexFolder folder;
    folder.write("code.S", kBreaches);
    std::string calls;
    for (const auto& entry : entries) {
        calls += (calls.empty() ? "" : ", ") + (R"({"entry": ")" + entry + R"(", "kind": ")") +
                 (entry == "slow"    ? "multi_worker"
                  : entry == "falls" ? "worker"
                                     : "supervisor") +
                 R"("})";
    }
    const auto loaded = folder.load(R"("arrays": {}, "calls": [)" + calls + "]");
    const auto bench = vertex::lay_out(loaded, machine, vertex::points_of(loaded).front(), {});
    return vertex::run_bench(machine, bench, settings);
}

/// The message, from the run on both models; the lock-step model by itself says the same.
std::string breach(const std::vector<std::string>& entries) {
    std::string first;
    for (const bool lockstep_only : {false, true}) {
        vertex::RunSettings settings;
        settings.lockstep_only = lockstep_only;
        std::string text = "accepted";
        try {
            static_cast<void>(run_breaches(entries, {}, settings));
        } catch (const ProgramError& error) {
            text = error.what();
        }
        CHECK((!lockstep_only || text == first));
        first = text;
    }
    return first;
}

bool starts_with(const std::string& text, const std::string& start) {
    INFO(text);
    CHECK(text.rfind(start, 0) == 0);
    return text.rfind(start, 0) == 0;
}

struct Ran {
    vertex::Bench bench;
    vertex::PointResult result;

    [[nodiscard]] std::vector<double> out() const {
        return vertex::element_values(*bench.arrays.front().type, result.arrays.front());
    }
    [[nodiscard]] Address block(const std::string& name) const {
        for (const auto& placed : bench.memory) {
            if (placed.name == name) {
                return placed.address;
            }
        }
        return 0;
    }
};

Ran run(const std::string& calls, const vertex::RunSettings& settings = {}) {
    const VertexFolder folder;
    folder.write("code.S", kStores);
    const auto loaded = folder.load(
        R"("arrays": {"out": {"type": "u32", "length": 6}}, "state": [{"pointer": "out"}], )" +
        calls);
    Ran ran{vertex::lay_out(loaded, kMachine, vertex::points_of(loaded).front(), {}), {}};
    ran.result = vertex::run_bench(kMachine, ran.bench, settings);
    return ran;
}

vertex::Point point(double rows) {
    return {{{{"rows", rows}}, {}, {}}, {{"rows", rows}}};
}

} // namespace

TEST_CASE("all workers of a vertex run and their cycles are counted", "[unit][vertex]") {
    const auto ran = run(R"("entry": "own", "kind": "multi_worker")");
    CHECK(ran.out() == std::vector<double>{1, 2, 3, 4, 5, 6});
    REQUIRE(ran.result.phases.size() == 1);
    REQUIRE(ran.result.phases[0].workers.size() == 6);
    const Cycles workers = kMachine.tile.workers;
    constexpr Cycles kIssues = 8; // instructions of `own`
    for (const auto& worker : ran.result.phases[0].workers) {
        CHECK(worker.cycles == kIssues * workers);
        CHECK(worker.entry == "own");
    }
    CHECK(ran.result.workers.issues == kIssues * workers);
    CHECK(ran.result.workers.issue_cycles == kIssues * workers * workers);
    CHECK(ran.result.by_mnemonic.at("st32step") == workers);
    CHECK(ran.result.by_class.at("store") == workers);
    CHECK(ran.result.by_lane.at("main") == kIssues * workers);
    // Each cycle of the supervisor is an issue or has a reason.
    Cycles supervisor = ran.result.supervisor.issue_cycles;
    for (const auto& [reason, cycles] : ran.result.supervisor.stall_cycles) {
        supervisor += cycles;
    }
    CHECK(supervisor == ran.result.tile_cycles);
}

TEST_CASE("the lines of a run have all its issues, and all its cycles but the launches'",
          "[unit][vertex]") {
    for (const char* calls : {R"("entry": "own", "kind": "multi_worker")",
                              R"("entry": "chief", "kind": "supervisor")"}) {
        const auto ran = run(calls);
        const auto& result = ran.result;
        std::int64_t issues = 0;
        Cycles cycles = 0;
        for (const auto& line : result.lines) {
            issues += line.issues;
            cycles += line.cycles;
            // the supervisor runs the stub and the chief, all six workers what is theirs
            CHECK(line.workers ==
                  (line.source == "stub" || ran.result.workers.issues == 0 ? 0 : 6));
        }
        CHECK(issues == result.workers.issues + result.supervisor.issues);
        Cycles stalls = 0;
        for (const auto* activity : {&result.workers, &result.supervisor}) {
            for (const auto& [reason, stalled] : activity->stall_cycles) {
                CHECK(stalled > 0);
                stalls += reason == "launch" ? 0 : stalled;
            }
        }
        CHECK(stalls > 0);
        CHECK(cycles == result.workers.issue_cycles + result.supervisor.issue_cycles + stalls);
    }
}

TEST_CASE("workers' issues are told by the lanes that do something in them", "[unit][vertex]") {
    const VertexFolder folder;
    folder.write("code.S", R"(
        .worker
        .globl lanes
lanes:
        add $m0, $m0, 1
        f32add $a1, $a1, $a0
        f32add $a1, $a1, $a0
        { add $m0, $m0, 1 ; f32add $a1, $a1, $a0 }
        { nop ; f32add $a1, $a1, $a0 }
        { add $m0, $m0, 1 ; fnop }
        { nop ; fnop }
        exitz $mzero
)");
    const auto loaded = folder.load(R"("arrays": {}, "entry": "lanes", "kind": "multi_worker")");
    const auto bench = vertex::lay_out(loaded, kMachine, vertex::points_of(loaded).front(), {});
    const auto result = vertex::run_bench(kMachine, bench, {});
    const std::int64_t workers = kMachine.tile.workers;
    CHECK(result.by_lane ==
          std::map<std::string, std::int64_t>{
              {"main", 3 * workers}, {"aux", 3 * workers}, {"both", workers}, {"none", workers}});
}

TEST_CASE("instructions are told by what they do, those of the stub too", "[unit][vertex]") {
    const VertexFolder folder;
    folder.write("code.S", R"(
        .worker
        .globl kinds
kinds:
        get $m0, $WSR
        ld32 $m1, $mvertex_base, $mzero, 0
        ld32 $m2, $mvertex_base, $mzero, 1
        tapack $m4:5, $m1, $mzero, $m2
        nop
        f32add $a1, $azero, $azero
        { nop ; fnop }
        { add $m3, $m0, 1 ; f16v8acc $a0:3 }
        f16v4sisoamp $a0:1, $a0:1, $azeros, TAMP_F16V4_E4_P0
        f16v4hihoslic $a0, $a2:3, $a4, TSLIC_F16V4_1x4_W1
        ldst64pace $a0:1, $a4:5, $m4:5+=, $mzero, 0
        st32step $m3, $mzero, $m1+=, 1
        bri 1f
1:      exitz $mzero
)");
    const auto loaded = folder.load(
        R"("arrays": {"x": {"type": "u32", "length": 64}, "y": {"type": "u32", "length": 64, "element": 4}},
           "state": [{"pointer": "x"}, {"pointer": "y"}], "entry": "kinds", "kind": "worker")");
    const auto bench = vertex::lay_out(loaded, kMachine, vertex::points_of(loaded).front(), {});
    const auto result = vertex::run_bench(kMachine, bench, {});
    // the stub sets two registers, runs the worker, waits for it and returns
    using Counts = std::map<std::string, std::int64_t>;
    CHECK(result.by_class == Counts{{"accumulate", 1},
                                    {"aux_arithmetic", 1},
                                    {"control", 2 + 1},
                                    {"load", 2},
                                    {"load_store", 1},
                                    {"main_arithmetic", 2 + 2},
                                    {"matrix", 2},
                                    {"nop", 3},
                                    {"store", 1},
                                    {"system", 1 + 2}});
    CHECK(result.by_mnemonic == Counts{{"add", 1},
                                       {"br", 1},
                                       {"bri", 1},
                                       {"exitz", 1},
                                       {"f16v4hihoslic", 1},
                                       {"f16v4sisoamp", 1},
                                       {"f16v8acc", 1},
                                       {"f32add", 1},
                                       {"fnop", 1},
                                       {"get", 1},
                                       {"ld32", 2},
                                       {"ldst64pace", 1},
                                       {"nop", 2},
                                       {"run", 1},
                                       {"setzi", 2},
                                       {"st32step", 1},
                                       {"sync", 1},
                                       {"tapack", 1}});
    CHECK(result.by_lane == Counts{{"aux", 3}, {"both", 1}, {"main", 8}, {"none", 2}});
}

TEST_CASE("one worker and the supervisor run as the kind says", "[unit][vertex]") {
    const auto worker = run(R"("entry": "own", "kind": "worker")");
    CHECK(worker.out() == std::vector<double>{1, 0, 0, 0, 0, 0});
    CHECK(worker.result.phases[0].workers.size() == 1);
    const auto chief = run(R"("entry": "chief", "kind": "supervisor")");
    CHECK(chief.out().front() == chief.block("stack") + 1024);
    CHECK(chief.result.phases[0].workers.empty());
}

TEST_CASE("workers have scratch of the size that the file gives", "[unit][vertex]") {
    const auto ran = run(R"("worker_scratch_bytes": 500, "entry": "scratch", "kind": "worker")");
    CHECK(ran.out().front() == ran.block("worker_scratch"));
    for (const auto& placed : ran.bench.memory) {
        if (placed.name == "worker_scratch") {
            CHECK(placed.bytes == 6 * 504); // on 8 bytes each
        }
    }
}

TEST_CASE("calls run one after the other and registers are kept between them", "[unit][vertex]") {
    const auto one = run(R"("calls": [{"entry": "keep", "kind": "worker"},
                                      {"entry": "keep", "kind": "worker"}])");
    CHECK(one.out().front() == 2);
    CHECK(one.result.phases.size() == 1);
    const auto two = run(R"("calls": [{"entry": "keep", "kind": "worker"},
                                      {"entry": "chief", "kind": "supervisor"},
                                      {"entry": "keep", "kind": "worker", "new_phase": true}])");
    CHECK(two.out().front() == 2);
    REQUIRE(two.result.phases.size() == 2);
    CHECK(two.result.tile_cycles ==
          two.result.phases[0].outcome.cycles + two.result.phases[1].outcome.cycles);
}

TEST_CASE("a phase tells instructions, and the turns that they took", "[unit][vertex]") {
    const VertexFolder folder;
    folder.write("code.S", ".worker\n.globl stop\nstop:\nnop\nf32sqrt $a0, $azero\nnop\n"
                           "exitz $mzero\n");
    const auto bench = folder.bench(R"("arrays": {})");
    const auto result = vertex::run_bench(kMachine, bench, {});
    const auto json = vertex::point_json(kMachine, bench, result, {}, false);
    constexpr std::int64_t kInstructions = 4;
    constexpr std::int64_t kRootWaits = 4; // of five turns
    const auto& phase = json.at("phases").at(0);
    CHECK(phase.at("worker_instructions") == kMachine.tile.workers * kInstructions);
    CHECK(phase.at("worker_issues") == kMachine.tile.workers * (kInstructions + kRootWaits));
}

TEST_CASE(
    "each cycle of a worker is an issue or has a reason, and branches to bundles at 4 modulo 8 "
    "have their share",
    "[unit][vertex]") {
    const auto run_code = [](const std::string& loop) {
        const VertexFolder folder;
        folder.write("code.S", ".worker\n.globl stop\n.align 8\nstop:\nf32sqrt $a0, $azero\n"
                               "setzi $m0, 9\n" +
                                   loop +
                                   "1: { add $m1, $m1, 1 ; f32add $a1, $a1, $azero }\n"
                                   "brnzdec $m0, 1b\nexitz $mzero\n");
        const auto bench = folder.bench(R"("arrays": {})");
        return vertex::run_bench(kMachine, bench, {});
    };
    const auto aligned = run_code("");
    const auto moved = run_code("nop\n");
    CHECK(aligned.placement.cycles == 0);
    CHECK(aligned.placement.share == 0);
    CHECK(moved.placement.cycles > 0);
    for (const auto* result : {&aligned, &moved}) {
        const auto& stalls = result->workers.stall_cycles;
        constexpr Cycles kRootWaits = 4; // of five turns
        CHECK(stalls.at("multi_cycle") ==
              kRootWaits * kMachine.tile.workers * kMachine.tile.round_cycles());
        CHECK(stalls.count("unaligned_bundle") == (result == &moved ? 1 : 0));
        Cycles told = result->workers.issue_cycles;
        for (const auto& [reason, cycles] : stalls) {
            told += reason == "launch" ? 0 : cycles;
        }
        Cycles taken = 0;
        for (const auto& worker : result->phases.at(0).workers) {
            taken += worker.cycles;
        }
        CHECK(told == taken);
        CHECK(result->placement.share ==
              Approx(static_cast<double>(result->placement.cycles) / static_cast<double>(taken)));
    }
    // without workers there is nothing to have a share of
    const auto chief = run(R"("entry": "chief", "kind": "supervisor")").result;
    CHECK(chief.workers.issue_cycles == 0);
    CHECK(chief.placement.share == 0);
}

TEST_CASE("a call may have a state of its own", "[unit][vertex]") {
    const auto ran = run(R"("calls": [{"entry": "own", "kind": "worker",
                                       "state": [{"pointer": "out", "offset_elements": 3}]}])");
    CHECK(ran.out() == std::vector<double>{0, 0, 0, 1, 0, 0});
}

TEST_CASE("workers that share a word race", "[unit][vertex]") {
    vertex::RunSettings settings;
    settings.lockstep_only = true;
    const auto ran = run(R"("entry": "same", "kind": "multi_worker")", settings);
    REQUIRE_FALSE(ran.result.phases[0].races.empty());
    CHECK(ran.result.phases[0].races.front().address == ran.bench.arrays.front().address);
    const auto json = vertex::point_json(kMachine, ran.bench, ran.result, {}, false);
    CHECK(json.at("races").at(0).at("first").at("instruction").get<std::string>().find("32") !=
          std::string::npos);
    CHECK(
        run(R"("entry": "own", "kind": "multi_worker")", settings).result.phases[0].races.empty());
}

TEST_CASE("a supervisor vertex returns behind its call", "[unit][vertex]") {
    CHECK(breach({"good", "good"}) == "accepted");
    for (const std::string entry : {"gone", "lost_link"}) {
        CHECK(breach({"good", entry, "good"}) ==
              "'" + entry +
                  "': ended the phase by a branch to address 0, expected a return to the launch "
                  "stub by br $lr");
    }
    CHECK(breach({"gone_by_frame"}).find("branch to 0xfedcb: no code there") != std::string::npos);
    CHECK(starts_with(breach({"skips", "good"}), "'skips': returned to 0x"));
}

TEST_CASE("a supervisor vertex keeps the frame and the stack pointer", "[unit][vertex]") {
    const std::string kept = " as at its call: a supervisor vertex keeps it";
    // 0 is what a stub that keeps its own return address in $m9 has there.
    CHECK(breach({"good", "counts"}) ==
          "'counts': returned with $m9 = 0x0, expected 0xfedcb" + kept);
    CHECK(starts_with(breach({"frame_is_link", "good"}), "'frame_is_link': returned with $m9 = "));
    CHECK(starts_with(breach({"pushes", "good"}), "'pushes': returned with $sp = "));
}

TEST_CASE("a supervisor vertex that leaves workers running is named", "[unit][vertex]") {
    const auto left = run_breaches({"leaves", "waits", "leaves", "waits"});
    CHECK(left.warnings == std::vector<std::string>{"'leaves': returned while workers ran: sync "
                                                    "TEXCH_SYNCZONE_LOCAL first"});
    CHECK(run_breaches({"good"}).warnings.empty());
    const auto ends = breach({"leaves"});
    CHECK(starts_with(ends, "'leaves': tile_0.supervisor @ "));
    CHECK(ends.find("the phase ends while a worker is active") != std::string::npos);
    const auto again = breach({"leaves", "slow"});
    CHECK(starts_with(again, "'leaves': tile_0.supervisor @ "));
    CHECK(again.find("runall while a worker is active") != std::string::npos);
}

TEST_CASE("a worker that runs into the stub is not the fault of the vertex before it",
          "[unit][vertex]") {
    for (const auto& entries : {std::vector<std::string>{"falls"}, {"good", "falls"}}) {
        CHECK(starts_with(breach(entries), "tile_0.worker_0 @ "));
    }
}

TEST_CASE("a mark in the stub costs no cycles", "[unit][vertex]") {
    // setzi, setzi, call, br: two branches of six cycles and the vertex's own
    CHECK(run_breaches({"waits"}).tile_cycles == 1 + 1 + 6 + 1 + 6 + 6);
}

TEST_CASE("an endless loop ends at the limit", "[unit][vertex]") {
    spec::MachineSpec machine;
    machine.tile.phase_limit_cycles = 10'000;
    CHECK_THROWS_WITH(run_breaches({"loops"}, machine),
                      Catch::Contains("bri") && Catch::Contains("it seems to loop for ever"));
}

TEST_CASE("wrong elements are counted and the first are listed", "[unit][vertex]") {
    auto ran = run(R"("expect": {"out": [1, 2, 3, 4, 5, 6]}, "entry": "own", "kind": "worker")");
    auto checks = vertex::check_arrays(ran.bench, ran.result, {});
    REQUIRE(checks.size() == 1);
    CHECK_FALSE(vertex::passed(checks));
    CHECK(checks[0].wrong == 5);
    CHECK(checks[0].first.front().index == 1);
    CHECK(checks[0].first.front().expected == 2);
    CHECK(vertex::check_arrays(ran.bench, ran.result, {4.0, 0})[0].wrong == 2);
    CHECK(vertex::check_arrays(ran.bench, ran.result, {0, 1.0})[0].wrong == 0);
    const auto json = vertex::point_json(kMachine, ran.bench, ran.result, checks, false);
    const auto text = vertex::report_text(
        vertex::result_json("v", "bow", vertex::Json::object(), {json}, nullptr));
    CHECK(text.find("out: WRONG: 5 of 6 elements") != std::string::npos);
    CHECK(text.find("[1] got 0, expected 2") != std::string::npos);
}

TEST_CASE("a fit finds the coefficients that made the values", "[unit][vertex]") {
    std::vector<vertex::Point> points;
    std::vector<double> measured;
    for (const double rows : {1.0, 2.0, 5.0, 9.0}) {
        points.push_back(point(rows));
        measured.push_back(40 + 3 * rows + 0.5 * rows * rows);
    }
    const auto exact = vertex::fit("a + b*rows + rows*c*rows", points, measured);
    REQUIRE(exact.coefficients.size() == 3);
    CHECK(exact.coefficients[0].second == Approx(40));
    CHECK(exact.coefficients[1].second == Approx(3));
    CHECK(exact.coefficients[2].second == Approx(0.5));
    CHECK(exact.largest_residual < 1e-9);
    CHECK(vertex::fit("a + 3*rows + b*rows*rows", points, measured).coefficients[1].second ==
          Approx(0.5));
    // Two points of one parameter value: the best constant is their mean.
    const auto mean = vertex::fit("a", {point(1), point(2)}, {10, 14});
    CHECK(mean.coefficients[0].second == Approx(12));
    CHECK(mean.largest_residual == Approx(2));
    // The largest one may lie below the fit as well as above it.
    for (const double far : {4.0, 16.0}) {
        const auto one = vertex::fit("a", {point(1), point(2), point(3)}, {10, 10, far});
        CHECK(one.largest_residual == Approx(std::abs(far - 10) * 2 / 3));
    }
}

TEST_CASE("formulas that cannot be fitted say why", "[unit][vertex]") {
    const auto refusal = [](const std::string& formula) {
        try {
            vertex::check_formula(formula, {point(1), point(2)});
        } catch (const vertex::FitError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    CHECK(refusal("a + b*rows") == "accepted");
    CHECK(refusal("a*b + rows") == "--fit: 'a*b + rows': is not linear in its unknown names");
    CHECK(refusal("a*a") == "--fit: 'a*a': is not linear in its unknown names");
    CHECK(refusal("a +") ==
          "--fit: 'a +': character 4: got the end, expected a number, a name or '('");
    CHECK(refusal("rows") == "--fit: 'rows': got no unknown name, expected one, for example a in "
                             "'a + b*rows'");
    CHECK(refusal("a + b*rows + c*rows*rows") ==
          "--fit: 'a + b*rows + c*rows*rows': got 2 points, expected 3 or more for so many "
          "unknowns");
    CHECK(refusal("a + b") == "--fit: 'a + b': the points do not tell its unknowns apart");
    const vertex::Point other{{{{"columns", 2}}, {}, {}}, {{"columns", 2}}};
    CHECK_THROWS_WITH(vertex::check_formula("a + b*rows", {point(1), other}),
                      Catch::StartsWith("--fit: 'a + b*rows': character 7: "));
}

TEST_CASE("a phase is followed slot by slot up to a limit, and no further than the machine's",
          "[unit][vertex]") {
    const VertexFolder folder;
    folder.write("code.S", R"(
        .worker
        .globl stop
stop:
        setzi $m0, 500
1:      add $m0, $m0, -1
        brnz $m0, 1b
        exitz $mzero
)");
    const auto outcome = [&](const spec::MachineSpec& machine, Cycles limit) {
        const auto bench = folder.bench(R"("arrays": {"x": {"length": 1}})", machine);
        vertex::RunSettings settings;
        settings.lockstep_limit_cycles = limit;
        try {
            return std::to_string(vertex::run_bench(machine, bench, settings).tile_cycles);
        } catch (const std::exception& error) {
            return std::string(error.what());
        }
    };
    spec::MachineSpec machine;
    const std::string whole = outcome(machine, vertex::RunSettings{}.lockstep_limit_cycles);
    const Cycles cycles = std::stoll(whole);
    CHECK(cycles >= 2 * 500 * machine.tile.round_cycles());
    CHECK(outcome(machine, 2 * cycles) == whole);
    CHECK(outcome(machine, cycles / 2)
              .find("got a phase of more than " + std::to_string(cycles / 2) + " cycles") !=
          std::string::npos);
    // the machine's own limit is told as such, whichever limit there is beside it
    machine.tile.phase_limit_cycles = cycles / 2;
    for (const Cycles limit : {cycles / 2, 2 * cycles}) {
        const std::string told = outcome(machine, limit);
        CHECK(told != whole);
        CHECK(told.find("got a phase of more than") == std::string::npos);
    }
}
