// SPDX-License-Identifier: MIT
// What runs of a warm worker share, and in which order they start.
#include "sim/run/run.h"
#include "sim/run/warm_order.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace tessera::run;

namespace {

using Keys = std::vector<std::optional<WarmKeys>>;

/// Keys from "operands plan schedule", a character each; plans and schedules are those of their
/// operands. "-": a run that cannot be.
Keys keys_of(const std::vector<std::string>& runs) {
    Keys keys;
    for (const std::string& run : runs) {
        if (run == "-") {
            keys.emplace_back();
        } else {
            keys.push_back(WarmKeys{run.substr(0, 1), run.substr(0, 2), run.substr(2, 1)});
        }
    }
    return keys;
}

/// A worker that writes down what it does: "O2" operands of run 2 are made, "P2" its plan is made, "2"
/// it starts, "o2<1" and "p2<1" it has what run 1 has. "!" follows what could not be made.
struct Worker {
    explicit Worker(const Keys& of, std::set<std::string> mistakes = {})
        : keys(of), cannot(std::move(mistakes)), has_operands(of.size()), has_plan(of.size()),
          starts(of.size()), drops(of.size()) {
        start_warm(keys, {.make_operands = [&](std::size_t run) { make("O", run, has_operands); },
                          .make_plan = [&](std::size_t run) { make("P", run, has_plan); },
                          .share_operands =
                              [&](std::size_t run, std::size_t from) {
                                  CHECK(keys[run]->operands == keys[from]->operands);
                                  share("o", run, from, has_operands);
                              },
                          .share_plan =
                              [&](std::size_t run, std::size_t from) {
                                  CHECK(keys[run]->plan == keys[from]->plan);
                                  share("p", run, from, has_plan);
                              },
                          .start =
                              [&](std::size_t run) {
                                  add(std::to_string(run));
                                  ++starts[run];
                                  operands_at_start.push_back(has_operands[run]);
                                  plan_at_start.push_back(has_plan[run]);
                                  order.push_back(run);
                              },
                          .drop =
                              [&](std::size_t run) {
                                  CHECK(starts[run] == 1);
                                  ++drops[run];
                              }});
    }

    void make(const std::string& what, std::size_t run, std::vector<bool>& made) {
        CHECK(drops.at(run) == 0);
        const std::string done = what + std::to_string(run);
        if (cannot.contains(done)) {
            add(done + "!");
            throw std::runtime_error("it cannot be made");
        }
        add(done);
        made[run] = true;
        most_operands = std::max(most_operands, held(has_operands, &WarmKeys::operands));
    }
    void share(const std::string& what, std::size_t run, std::size_t from,
               std::vector<bool>& made) {
        CHECK(made[from]);
        CHECK(drops[from] == 0);
        CHECK(starts[run] == 0);
        made[run] = true;
        add(what + std::to_string(run) + "<" + std::to_string(from));
    }
    void add(const std::string& done) { log += (log.empty() ? "" : " ") + done; }

    /// How many different ones runs hold that have not been dropped.
    [[nodiscard]] std::size_t held(const std::vector<bool>& made,
                                   std::string WarmKeys::*key) const {
        std::set<std::string> different;
        for (std::size_t run = 0; run < keys.size(); ++run) {
            if (made[run] && drops[run] == 0) {
                different.insert((*keys[run]).*key);
            }
        }
        return different.size();
    }
    /// How many other runs have the same.
    [[nodiscard]] std::size_t others(std::size_t run, std::string WarmKeys::*key) const {
        return static_cast<std::size_t>(std::count_if(
                   keys.begin(), keys.end(),
                   [&](const auto& one) { return one && (*one).*key == (*keys[run]).*key; })) -
               1;
    }

    const Keys& keys;
    std::set<std::string> cannot;
    std::vector<bool> has_operands;
    std::vector<bool> has_plan;
    std::vector<int> starts;
    std::vector<int> drops;
    std::vector<bool> operands_at_start; ///< in the order of starts, as what follows
    std::vector<bool> plan_at_start;
    std::vector<std::size_t> order;
    std::size_t most_operands = 0;
    std::string log;
};

std::string log_of(const std::vector<std::string>& runs, std::set<std::string> cannot = {}) {
    const Keys keys = keys_of(runs);
    return Worker(keys, std::move(cannot)).log;
}

} // namespace

TEST_CASE("runs share operands, plans and schedules as far as that saves something",
          "[unit][run]") {
    struct Case {
        std::vector<std::string> runs;
        std::string log;
        std::set<std::string> cannot = {};
    };
    for (const Case& one : std::vector<Case>{
             {{}, ""},
             {{"-"}, ""},
             {{"a1x"}, "0"},
             {{"a1x", "-", "b1x"}, "0 2"},
             // operands for two, plans by themselves
             {{"a1x", "a2x"}, "O0 o1<0 0 1"},
             {{"a1x", "b1x", "a2x"}, "O0 o2<0 0 1 2"},
             // a plan for two, which start together
             {{"a1x", "a2x", "a1x"}, "O0 o1<0 o2<0 P0 p2<0 0 2 1"},
             {{"b1x", "a1x", "a1x"}, "0 O1 o2<1 P1 p2<1 1 2"},
             // a plan before four that schedule alike, not before three
             {{"a1x", "a2x", "a3x"}, "O0 o1<0 o2<0 0 1 2"},
             {{"a1x", "a2x", "a3x", "a4x"}, "O0 o1<0 o2<0 o3<0 P0 0 1 2 3"},
             {{"a1x", "a2x", "a3x", "a4x", "a5x"}, "O0 o1<0 o2<0 o3<0 o4<0 P0 0 1 2 3 4"},
             {{"a1x", "a2y", "a3x", "a4x"}, "O0 o1<0 o2<0 o3<0 0 1 2 3"},
             {{"a1y", "a2x", "a3x", "a4x", "a5x"}, "O0 o1<0 o2<0 o3<0 o4<0 0 P1 1 2 3 4"},
             // those that share a plan are none of the four
             {{"a1x", "a2x", "a3x", "a4x", "a4x"}, "O0 o1<0 o2<0 o3<0 o4<0 0 1 2 P3 p4<3 3 4"},
             // nor are those with other operands
             {{"a1x", "b1x", "a2x", "b2x", "c1x"}, "O0 o2<0 0 O1 o3<1 1 2 3 4"},
             {{"a1x", "b1x", "c1x", "d1x"}, "0 1 2 3"},
             // what cannot be made is left to each, and tried once
             {{"a1x", "a2x"}, "O0! 0 1", {"O0", "O1"}},
             {{"a1x", "a1x"}, "O0 o1<0 P0! 0 1", {"P0"}},
             {{"a1x", "a2x", "a3x", "a4x"}, "O0! 0 1 2 3", {"O0"}},
             {{"a1x", "a2x", "a3x", "a4x"}, "O0 o1<0 o2<0 o3<0 P0! 0 1 2 3", {"P0"}}}) {
        CAPTURE(one.runs);
        CHECK(log_of(one.runs, one.cannot) == one.log);
    }
}

TEST_CASE("operands for eight groups of runs are held, and none whose runs have all started",
          "[unit][run]") {
    const std::string letters = "abcdefghi";
    std::vector<std::string> runs;
    for (const char letter : letters) {
        runs.push_back(std::string(1, letter) + "1x");
    }
    for (const char letter : letters) {
        runs.push_back(std::string(1, letter) + "2x");
    }
    // before the operands of i are made, what is left of a starts
    std::string expected;
    for (int run = 0; run < 8; ++run) {
        expected += "O" + std::to_string(run) + " o" + std::to_string(run + 9) + "<" +
                    std::to_string(run) + " " + std::to_string(run) + " ";
    }
    expected += "9 O8 o17<8 8 10 11 12 13 14 15 16 17";
    CHECK(log_of(runs) == expected);
    // the two of b start one after the other: they make room
    runs.insert(runs.begin() + 2, "b2x");
    runs.erase(runs.begin() + 11);
    CHECK(log_of(runs) == "O0 o10<0 0 O1 o2<1 1 2 O3 o11<3 3 O4 o12<4 4 O5 o13<5 5 O6 o14<6 6 "
                          "O7 o15<7 7 O8 o16<8 8 O9 o17<9 9 10 11 12 13 14 15 16 17");
}

TEST_CASE("whatever runs share, each starts once with what could be made for it", "[unit][run]") {
    std::mt19937 random(5);
    const auto below = [&](unsigned most) { return static_cast<unsigned>(random() % most); };
    for (int repeat = 0; repeat < 300; ++repeat) {
        Keys keys(1 + below(40));
        const unsigned operands = 1 + below(20);
        const unsigned plans = 1 + below(8);
        std::set<std::string> cannot;
        for (std::size_t run = 0; run < keys.size(); ++run) {
            if (below(10) > 0) {
                const std::string of = std::to_string(below(operands));
                keys[run] =
                    WarmKeys{of, of + "/" + std::to_string(below(plans)), std::to_string(below(2))};
            }
            if (below(10) == 0) {
                cannot.insert((below(2) == 0 ? "O" : "P") + std::to_string(run));
            }
        }
        const Worker worker(keys, cannot);
        CHECK(worker.most_operands <= 8);
        for (std::size_t run = 0; run < keys.size(); ++run) {
            CHECK(worker.starts[run] == (keys[run] ? 1 : 0));
            CHECK(worker.drops[run] == worker.starts[run]);
        }
        for (std::size_t at = 0; at < worker.order.size(); ++at) {
            const std::size_t run = worker.order[at];
            if (worker.others(run, &WarmKeys::operands) == 0) {
                CHECK_FALSE(worker.operands_at_start[at]);
            } else if (cannot.empty()) {
                CHECK(worker.operands_at_start[at]);
            }
            if (worker.others(run, &WarmKeys::plan) > 0 && cannot.empty()) {
                CHECK(worker.plan_at_start[at]);
            }
        }
    }
}

TEST_CASE("runs share what their modes, workloads and machines make alike", "[unit][run]") {
    struct Like {
        bool operands, plan;
        std::optional<bool> schedule; ///< nothing: either will do
    };
    struct Case {
        const char* mode;
        std::vector<std::string> sets;
        Like like; ///< as the run in timing mode without settings
    };
    const auto keys_of_run = [](const std::string& mode, std::vector<std::string> sets,
                                const char* machine = "tiny") {
        tessera::cli::RunCommand command;
        command.machine = machine;
        command.mode = mode;
        command.sets = std::move(sets);
        const PreparedRun made(command, "tiny_matmul", tessera::test::source_paths());
        return std::tuple(made.operands_key(), made.plan_key(), made.schedule_key());
    };
    const auto [operands, plan, schedule] = keys_of_run("timing", {});
    for (const Case& one : std::vector<Case>{
             {"timing", {}, {true, true, true}},
             // operands are made where there is data, and a plan is none of an estimate
             {"functional", {}, {false, false, true}},
             {"", {}, {false, false, true}},
             {"estimate", {}, {true, false, true}},
             {"timing", {"workload.n=24"}, {false, false, true}},
             {"timing", {"workload.seed=77"}, {false, false, true}},
             // a plan counts cycles, whatever they last
             {"timing", {"chip.clock_hz=1e9"}, {true, true, {}}},
             {"timing", {"sync.internal_cycles=20"}, {true, false, true}},
             {"timing", {"memory.element_bytes=8192"}, {true, false, true}},
             {"timing", {"exchange.lane_bytes=8"}, {true, false, false}},
             {"timing", {"chip.tiles=8"}, {true, false, false}}}) {
        CAPTURE(one.mode, one.sets);
        const auto [its_operands, its_plan, its_schedule] = keys_of_run(one.mode, one.sets);
        CHECK((its_operands == operands) == one.like.operands);
        CHECK((its_plan == plan) == one.like.plan);
        CHECK((its_schedule == schedule) == one.like.schedule.value_or(its_schedule == schedule));
    }
    // the name of a machine is none of what it does
    CHECK(std::get<1>(keys_of_run("timing", {"chip.tiles=4"}, "bow")) == plan);
    CHECK(std::get<1>(keys_of_run("timing", {"chip.tiles=6"}, "bow")) != plan);
}
