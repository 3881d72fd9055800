// SPDX-License-Identifier: MIT
// What the critical path says, of runs known by hand.
#include "sim/sentences.h"
#include "tests/unit/models/listeners/told.h"
#include "tests/unit/sim/scene.h"

#include <catch2/catch.hpp>

using namespace tessera;
using Catch::Contains;
using Catch::Equals;
using events::Doing;

namespace {

/// Four tiles and one step of each kind.
struct Run {
    Run() : account(program(), 4), told(4, {&account}) {}

    static program::Program program() {
        program::Program made;
        made.compute_sets.resize(1);
        made.exchanges.resize(1);
        made.stream_copies.resize(1);
        return made;
    }
    [[nodiscard]] std::string compute(const program::ComputeSet& set = {}) const {
        return sim::compute_set_sentence(account.compute_sets()[0], set);
    }
    [[nodiscard]] std::string exchange() const {
        return sim::exchange_sentence(account.exchanges()[0]);
    }

    listeners::Account account;
    test::Told told;
};

} // namespace

TEST_CASE("a compute set's sentence says what the critical tile has more than others") {
    Run run;
    run.told.phase(Doing::ComputeSet, 0, {{0, 50}, {1, 100}, {2, 50}, {3, 50}},
                   {.bound_cycles = 60});
    // mean (50 + 100 + 50 + 50) / 4 = 62.5; of 100 cycles 37.5 are waiting
    CHECK_THAT(run.compute(), Equals("tile 1 takes 1.60 times the mean time; 38 % of the step is "
                                     "waiting for it; the slowest tile could issue it in 60 % of "
                                     "its time"));
    program::ComputeSet set;
    set.work_unit = "non-zeros";
    set.work = {10, 30, 10, 10};
    CHECK_THAT(run.compute(set), Contains("tile 1 has 2.00 times the mean non-zeros; 38 %"));
    set.work = {10, 10, 10, 10}; // it is slow for another reason
    CHECK_THAT(run.compute(set), Contains("1.60 times the mean time for no more non-zeros than"));
    set.work = {0, 30, 0, 10}; // the mean is of those that have any
    CHECK_THAT(run.compute(set), Contains("1.50 times the mean non-zeros"));
}

TEST_CASE("tiles that take the same wait for none") {
    Run run;
    run.told.phase(Doing::ComputeSet, 0, {{0, 50}, {1, 50}, {2, 50}}, {.bound_cycles = 50});
    CHECK_THAT(run.compute(), Equals("tile 0 takes as long as the mean of 3 tiles"));
    Run alone;
    alone.told.phase(Doing::ComputeSet, 0, {{2, 50}}, {.bound_cycles = 50});
    CHECK_THAT(alone.compute(), Equals("tile 2 alone has a part in it"));
}

TEST_CASE("a tile that is critical for something else is not called slow") {
    Run run;
    run.told.does(1, Doing::ComputeSet, 90);
    run.told.does(0, Doing::ComputeSet, 10);
    run.told.step = 2;
    run.told.does(0, Doing::Exchange, 100);
    run.told.released(0);
    CHECK_THAT(run.compute(), Contains("tile 0 takes 0.20 of the mean time"));
    CHECK_THAT(run.compute(), !Contains("waiting for it"));
}

TEST_CASE("several tiles in turn are counted and the one with most is named") {
    Run run;
    for (const TileId slow : {3U, 2U, 3U}) {
        run.told.phase(Doing::ComputeSet, 0, {{0, 10}, {slow, 40}});
    }
    CHECK_THAT(run.compute(), Contains("2 tiles in turn, tile 3 most, take"));
    const auto path = sim::critical_path(run.account);
    CHECK(path.tiles == 2);
    CHECK(path.tile == 3);
    CHECK(path.tile_cycles == 80);
    CHECK_THAT(path.sentence,
               Equals("2 tiles in turn, tile 3 for 66.7 % of the run: work 100.0 %"));
}

TEST_CASE("an exchange is held to its bound, and near it nobody is blamed") {
    for (const auto& [cycles, says] :
         {std::pair<Cycles, const char*>{104, "1.04 times its bound: the busiest lane is full"},
          {125, "tile 0 takes 1.25 times the bound; 20 % of the step is prologue, latency and gaps "
                "in the schedule"}}) {
        Run run;
        run.told.moved({.bytes = 400, .sent_bytes = 400, .bound_cycles = 100});
        run.told.phase(Doing::Exchange, 0, {{0, cycles}, {1, 50}});
        CHECK_THAT(run.exchange(), Equals(says));
    }
    Run empty;
    empty.told.moved({});
    empty.told.phase(Doing::Exchange, 0, {{0, 30}});
    CHECK_THAT(empty.exchange(), Equals("tile 0 takes 30 cycles in which no words move"));
}

TEST_CASE("steps off the critical path are said to be so") {
    Run run;
    CHECK_THAT(run.compute(), Equals("did not run"));
    CHECK_THAT(run.exchange(), Equals("did not run"));
    CHECK_THAT(sim::critical_path(run.account).sentence, Equals("nothing but barriers"));
    run.told.ended({.begin = 0, .end = 40, .tiles = {}});
    CHECK_THAT(sim::stream_sentence(run.account.streams()[0]), Equals("nothing waits for it"));
}

TEST_CASE("a stream copy says how much of it is waited for, and how busy its link is") {
    Run run;
    run.told.ended(
        {.begin = 0, .service_begin = 10, .service_end = 40, .end = 60, .bytes = 4, .tiles = {}});
    run.told.phase(Doing::Stream, 0, {{1, 45}});
    CHECK_THAT(sim::stream_sentence(run.account.streams()[0]),
               Equals("tile 1 is waiting 75 % of the time from its start to its end, in which the "
                      "link is busy for 50 %"));
}

TEST_CASE("the critical path's roles and barriers add up to the run") {
    test::Scene scene;
    const auto path = scene.result()["critical_path"];
    Cycles sum = 0;
    for (const auto& part : path["cycles"]) {
        sum += part.get<Cycles>();
    }
    CHECK(sum == 210);
    CHECK(path["cycles"]["work"] == 100);
    CHECK(path["cycles"]["bring"] == 40);
    CHECK(path["cycles"]["reduce"] == 20);
    CHECK(path["cycles"]["barriers"] == 50);
    CHECK(path["tile"] == 0);
    CHECK(path["tile_cycles"] == 160);
}
