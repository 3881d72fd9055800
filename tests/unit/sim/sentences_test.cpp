// SPDX-License-Identifier: MIT
// What the critical path says, of runs known by hand.
#include "sim/result/sentences.h"
#include "tests/support/counted.h"
#include "tests/unit/models/listeners/told.h"
#include "tests/unit/sim/scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using Catch::Contains;
using Catch::Equals;
using counts::Group;
using events::Doing;

namespace {

constexpr std::int64_t kWorkers = 6;

/// Cycles of the workers of a tile in one launch, and of its supervisor.
struct TileTime {
    std::vector<Cycles> workers;
    Cycles supervisor = 20;

    [[nodiscard]] Cycles busiest() const {
        return *std::max_element(workers.begin(), workers.end());
    }
    [[nodiscard]] Cycles cycles() const { return busiest() + supervisor; }
    [[nodiscard]] events::Work work(Cycles bound) const {
        const Cycles mean = std::accumulate(workers.begin(), workers.end(), Cycles{0}) / kWorkers;
        const auto worker = std::max_element(workers.begin(), workers.end()) - workers.begin();
        return {.counts = test::counted({{Group::WorkerIssues, mean}, {Group::Launches, 1}}),
                .bound_cycles = bound,
                .busiest_worker_cycles = busiest(),
                .mean_worker_cycles = mean,
                .uneven = {1, static_cast<int>(worker), busiest(), mean}};
    }
};

TileTime equal(Cycles cycles) {
    return {std::vector<Cycles>(kWorkers, cycles)};
}

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
    /// A compute set in which all could issue what they do in `bound`.
    void computes(const std::vector<TileTime>& tiles, Cycles bound) {
        ++told.step;
        for (TileId tile = 0; tile < tiles.size(); ++tile) {
            told.does(tile, Doing::ComputeSet, tiles[tile].cycles(), 0, tiles[tile].work(bound));
        }
        told.released(0);
    }
    [[nodiscard]] std::string compute(const program::ComputeSet& set = {}) const {
        return result::compute_set_sentence(account.compute_sets()[0], set, kWorkers);
    }
    [[nodiscard]] std::string exchange() const {
        return result::exchange_sentence(account.exchanges()[0]);
    }

    listeners::Account account;
    test::Told told;
};

program::ComputeSet with_work(std::vector<std::int64_t> work) {
    program::ComputeSet set;
    set.work_unit = "non-zeros";
    set.work = std::move(work);
    return set;
}

} // namespace

TEST_CASE(
    "one worker that has a long row is named with it, and the rest of the wait with the rest") {
    Run run;
    const TileTime hub{{52, 52, 980, 52, 52, 52}};
    run.computes({equal(100), hub, equal(100), equal(100)}, 230);
    // 1000 cycles, mean (3 * 120 + 1000) / 4 = 340, so 660 are waited for; the mean worker of tile 1
    // has 1240 / 6 = 206, those of all tiles (300 + 206) / 4 = 126.5: 79.5 more, for 124 / 76 of the
    // work; unequal workers cost 774, on the mean 774 / 4 = 193.5: 580.5 more
    const std::string waits = "tile 1 takes 2.94 times the mean of 4 tiles; 66 % of the step is "
                              "waiting for it: 58 % for unequal workers, of which worker 2 is busy "
                              "for 980 cycles";
    const std::string rest = " and the mean worker for 206; 8 % for 1.63 times the mean non-zeros; "
                             "its issues would fit into 23 % of its time: 77 % is lost to unequal "
                             "workers";
    program::ComputeSet set = with_work({60, 124, 60, 60});
    CHECK_THAT(run.compute(set), Equals(waits + rest));
    set.item_word = "row";
    set.items.resize(2);
    // at the tile's pace 6 * 206 * 88 / 124 = 877 of 980 cycles
    set.items[1] = {17, 88, 2};
    CHECK_THAT(run.compute(set), Equals(waits + ", 90 % of them with row 17," + rest));
    set.items[1].worker = 3; // of another worker: it does not account for this one's time
    CHECK_THAT(run.compute(set), Equals(waits + rest));
    set.items[1] = {17, 49, 2}; // 488 cycles are less than half of 980
    CHECK_THAT(run.compute(set), Equals(waits + rest));
    set.items[1].amount = 50;
    CHECK_THAT(run.compute(set), Contains("51 % of them with row 17,"));
}

TEST_CASE("a tile with more work is late for its work") {
    Run run;
    run.computes({equal(100), equal(300), equal(100), equal(100)}, 310);
    // mean (3 * 120 + 320) / 4 = 170; of the mean worker's 300 cycles 150 are the mean
    CHECK_THAT(
        run.compute(with_work({50, 150, 50, 50})),
        Equals("tile 1 takes 1.88 times the mean of 4 tiles; 47 % of the step is waiting for "
               "it: 47 % for 2.00 times the mean non-zeros"));
    // tiles without any do not count
    CHECK_THAT(run.compute(with_work({0, 150, 50, 0})), Contains("1.50 times the mean non-zeros"));
}

TEST_CASE("a tile whose way is slow is late for its issues, not for its work") {
    Run run;
    run.computes({equal(100), equal(300), equal(100), equal(100)}, 310);
    CHECK_THAT(
        run.compute(with_work({50, 50, 50, 50})),
        Equals("tile 1 takes 1.88 times the mean of 4 tiles; 47 % of the step is waiting for "
               "it: 47 % for 2.00 times the mean issues for as many non-zeros"));
    // work that grows by a fifth accounts for a fifth of the mean of 150
    CHECK_THAT(run.compute(with_work({50, 64, 50, 50})),
               Contains(": 38 % for 1.67 times the mean issues for as many non-zeros; 9 % for 1.20 "
                        "times the mean non-zeros"));
    CHECK_THAT(run.compute(), Contains(": 47 % for 2.00 times the mean issues of workers"));
    CHECK_THAT(run.compute(with_work({50, 0, 50, 50})), // what it does is not counted as work
               Contains(": 47 % for 2.00 times the mean issues of workers"));
}

TEST_CASE("a tile whose supervisor is slow is late for its supervisor") {
    Run run;
    TileTime slow = equal(100);
    slow.supervisor = 220;
    run.computes({equal(100), slow, equal(100), equal(100)}, 0);
    CHECK_THAT(
        run.compute(with_work({50, 50, 50, 50})),
        Equals("tile 1 takes 1.88 times the mean of 4 tiles; 47 % of the step is waiting for "
               "it: 47 % for launches, syncs and the supervisor's own instructions, 220 cycles "
               "where the mean is 70"));
}

TEST_CASE("what makes the critical tile faster is told as less") {
    Run run;
    TileTime slow = equal(50);
    slow.supervisor = 270;
    run.computes({equal(100), slow, equal(100), equal(100)}, 0);
    // mean 170; the supervisor 270 - 82.5, the workers 50 - 87.5
    CHECK_THAT(run.compute(), Contains("47 % of the step is waiting for it: 59 % for launches"));
    CHECK_THAT(run.compute(), Contains("; less 12 % for 0.57 times the mean issues of workers"));
}

TEST_CASE("unequal workers on all tiles alike cost time without a wait of tiles") {
    Run run;
    const TileTime seven_rows{{200, 100, 100, 100, 100, 100}};
    run.computes({seven_rows, seven_rows, seven_rows}, 125);
    CHECK_THAT(run.compute(),
               Equals("tile 0 takes as long as the mean of 3 tiles; its issues would "
                      "fit into 57 % of its time: 38 % is lost to unequal workers, of "
                      "which worker 0 is busy for 200 cycles and the mean worker for "
                      "116, 5 % to launches, syncs and the supervisor"));
}

TEST_CASE("of several launches the most uneven is named, and whether it is all") {
    Run run;
    TileTime tile{{200, 100, 100, 100, 100, 100}};
    events::Work work = tile.work(150);
    work.counts.at(Group::Launches) = 3;
    work.uneven.launch = 2;
    run.told.does(0, Doing::ComputeSet, 220, 0, work);
    run.told.released(0);
    CHECK_THAT(run.compute(), Contains("unequal workers, of which in launch 2 worker 0 is busy"));
    // in all launches 200 - 700 / 6 = 84 cycles, of which it has at least a half, or less
    for (const auto& [mean, named] :
         {std::pair{158, "of which in launch 2 worker 0 is busy"},
          {159, "of which among others in launch 2 worker 0 is busy"}}) {
        Run several;
        work.uneven.mean = mean;
        several.told.does(0, Doing::ComputeSet, 220, 0, work);
        several.told.released(0);
        CHECK_THAT(several.compute(), Contains(named));
    }
}

TEST_CASE("a row is named that keeps its worker busy for half its time") {
    Run run;
    const TileTime hub{{340, 52, 52, 52, 52, 52}}; // 600 cycles for 60 items: 10 for each
    run.computes({equal(52), hub, equal(52), equal(52)}, 0);
    program::ComputeSet set = with_work({31, 60, 31, 31});
    set.item_word = "row";
    set.items.resize(2);
    set.items[1] = {7, 17, 0};
    CHECK_THAT(run.compute(set), Contains("340 cycles, 50 % of them with row 7, and"));
    set.items[1].amount = 16;
    CHECK_THAT(run.compute(set), Contains("340 cycles and the mean worker"));
}

TEST_CASE("a launch that is small is lost to launching") {
    Run run;
    const TileTime small{std::vector<Cycles>(kWorkers, 12), 40};
    run.told.does(2, Doing::ComputeSet, small.cycles(), 0, small.work(13));
    run.told.released(0);
    CHECK_THAT(run.compute(),
               Equals("tile 2 alone has a part in it; its issues would fit into 25 % "
                      "of its time: 75 % is lost to launches, syncs and the "
                      "supervisor"));
}

TEST_CASE("tiles that take the same wait for none") {
    Run run;
    run.told.phase(Doing::ComputeSet, 0, {{0, 50}, {1, 50}, {2, 50}},
                   {.bound_cycles = 50, .uneven = {}});
    CHECK_THAT(run.compute(), Equals("tile 0 takes as long as the mean of 3 tiles"));
    Run alone;
    alone.told.phase(Doing::ComputeSet, 0, {{2, 50}}, {.bound_cycles = 50, .uneven = {}});
    CHECK_THAT(alone.compute(), Equals("tile 2 alone has a part in it"));
}

TEST_CASE("a tile takes as long as the mean where two digits would show no difference") {
    for (const auto& [cycles, said] : std::vector<std::pair<Cycles, std::string>>{
             {994, "tile 0 takes 0.99 of the mean of 2 tiles"},
             {995, "tile 0 takes as long as the mean of 2 tiles"},
             {1004, "tile 0 takes as long as the mean of 2 tiles"},
             {1006, "tile 0 takes 1.01 times the mean of 2 tiles"}}) {
        Run run;
        run.told.does(1, Doing::ComputeSet, 2000 - cycles);
        run.told.does(0, Doing::ComputeSet, cycles);
        run.told.step = 2;
        run.told.does(0, Doing::Exchange, 100);
        run.told.released(0);
        CHECK_THAT(run.compute(), Catch::StartsWith(said));
    }
}

TEST_CASE(
    "a tile that is critical for something else is not called slow, and the slowest is named") {
    Run run;
    run.told.does(1, Doing::ComputeSet, 90);
    run.told.does(0, Doing::ComputeSet, 10);
    run.told.step = 2;
    run.told.does(0, Doing::Exchange, 100);
    run.told.released(0);
    CHECK_THAT(run.compute(),
               Contains("tile 0 takes 0.20 of the mean of 2 tiles, and is last for"));
    CHECK_THAT(run.compute(), !Contains("waiting for it"));
    CHECK_THAT(run.compute(), Contains("; tile 1 takes longest, 90 cycles, but is not waited for"));
}

TEST_CASE("several tiles in turn are counted and the one with most is named") {
    Run run;
    for (const TileId slow : {3U, 2U, 3U}) {
        run.told.phase(Doing::ComputeSet, 0, {{0, 10}, {slow, 40}});
    }
    CHECK_THAT(run.compute(), Contains("2 tiles in turn, tile 3 most, take"));
    const auto path = result::critical_path(run.account);
    CHECK(path.tiles == 2);
    CHECK(path.tile == 3);
    CHECK(path.tile_cycles == 80);
    CHECK_THAT(path.sentence,
               Equals("2 tiles in turn, tile 3 for 66.7 % of the run: work 100.0 %"));
}

TEST_CASE("what a chip waits before it begins is a part of the critical path, that of links") {
    Run run;
    run.told.phase(Doing::Delayed, 0, {{0, 30}, {1, 30}});
    run.told.phase(Doing::ComputeSet, 0, {{0, 40}, {1, 10}});
    const auto path = result::critical_path(run.account);
    CHECK(path.by_role[static_cast<std::size_t>(program::Role::Link)] == 30);
    CHECK(std::accumulate(path.by_role.begin(), path.by_role.end(), path.barriers) ==
          run.account.cycles());
}

TEST_CASE("an exchange is held to the lane of the critical tile, and near it nobody is blamed") {
    struct Case {
        Cycles cycles;
        events::Lanes lanes;
        const char* says;
    };
    for (const auto& [cycles, lanes, says] :
         {Case{104, {100, 7}, "1.04 times its bound: the incoming lane of tile 0 is full"},
          Case{104, {7, 100}, "1.04 times its bound: the outgoing lane of tile 0 is full"},
          Case{
              125,
              {100, 100},
              "tile 0 takes 1.25 times what its incoming lane needs; 20 % of the step is prologue, "
              "latency and gaps in the schedule"}}) {
        Run run;
        run.told.moved({.bytes = 400, .sent_bytes = 400, .bound_cycles = 500}); // of another lane
        run.told.does(0, Doing::Exchange, cycles, 0, {}, lanes);
        run.told.does(1, Doing::Exchange, cycles, 0, {}, lanes);
        run.told.released(0);
        CHECK_THAT(run.exchange(), Equals(says));
        CHECK(run.account.exchanges()[0].critical.bound_cycles == 100);
    }
    Run empty;
    empty.told.moved({});
    empty.told.phase(Doing::Exchange, 0, {{0, 30}});
    CHECK_THAT(empty.exchange(), Equals("tile 0 takes 30 cycles in which none of its words move"));
}

TEST_CASE(
    "an exchange that waits for one tile says whether its lane or something else accounts for it") {
    Run run;
    run.told.moved({});
    run.told.does(0, Doing::Exchange, 200, 0, {}, {160, 10});
    run.told.does(1, Doing::Exchange, 100, 0, {}, {10, 80});
    run.told.released(0);
    // mean 150; the fuller lanes have 160 and 80, mean 120
    CHECK_THAT(run.exchange(),
               Contains("; 25 % is waiting for it: 20 % for 1.33 times the mean of "
                        "the tiles' fuller lanes; 5 % for prologue, latency and gaps"));
}

TEST_CASE("steps off the critical path are said to be so") {
    Run run;
    CHECK_THAT(run.compute(), Equals("did not run"));
    CHECK_THAT(run.exchange(), Equals("did not run"));
    CHECK_THAT(result::critical_path(run.account).sentence, Equals("nothing but barriers"));
    run.told.ended({.begin = 0, .end = 40, .tiles = {}});
    CHECK_THAT(result::stream_sentence(run.account.streams()[0]), Equals("nothing waits for it"));
}

TEST_CASE("a stream copy says how much of it is waited for, and how busy its link is") {
    Run run;
    run.told.ended(
        {.begin = 0, .service_begin = 10, .service_end = 40, .end = 60, .bytes = 4, .tiles = {}});
    run.told.phase(Doing::Stream, 0, {{1, 45}});
    CHECK_THAT(result::stream_sentence(run.account.streams()[0]),
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

TEST_CASE("what is lost is told from a hundredth of the step on") {
    const auto told = [](const TileTime& tile) {
        Run run;
        run.computes({tile, tile, tile, tile}, 940); // of 1000 cycles
        const std::string said = run.compute();
        return said.substr(said.find(" time: ") + 7);
    };
    // unequal workers cost what the busiest has over the mean: 10 cycles, and 9
    CHECK_THAT(told({{980, 968, 968, 968, 968, 968}}),
               Catch::StartsWith("1 % is lost to unequal workers, ") &&
                   Catch::EndsWith(", 5 % to launches, syncs and the supervisor"));
    CHECK(told({{980, 970, 969, 969, 969, 969}}) ==
          "5 % is lost to launches, syncs and the supervisor");
}

TEST_CASE("an exchange is as good as at its bound up to a twentieth beyond it") {
    const auto told = [](Cycles cycles) {
        Run run;
        run.told.moved({});
        run.told.does(0, Doing::Exchange, cycles, 0, {}, {100, 7});
        run.told.does(1, Doing::Exchange, cycles, 0, {}, {100, 7});
        run.told.released(0);
        return run.exchange();
    };
    CHECK(told(100) == "1.00 times its bound: the incoming lane of tile 0 is full");
    CHECK(told(105) == "1.05 times its bound: the incoming lane of tile 0 is full");
    CHECK(told(106) == "tile 0 takes 1.06 times what its incoming lane needs; 6 % of the step is "
                       "prologue, latency and gaps in the schedule");
}

TEST_CASE("waiting for the critical tile is told from a hundredth of a compute set on, and from a "
          "twentieth of an exchange on") {
    const auto computes = [](Cycles other) {
        Run run;
        run.computes({equal(980), equal(other - 20)}, 0); // with their supervisors 1000 and `other`
        return run.compute();
    };
    CHECK(computes(980) == "tile 0 takes 1.01 times the mean of 2 tiles; 1 % of the step is "
                           "waiting for it: 1 % for 1.01 times the mean issues of workers");
    CHECK(computes(982) == "tile 0 takes 1.01 times the mean of 2 tiles");
    const auto exchanges = [](Cycles other) {
        Run run;
        run.told.moved({});
        run.told.does(0, Doing::Exchange, 1000, 0, {}, {1000, 7});
        run.told.does(1, Doing::Exchange, other, 0, {}, {1000, 7});
        run.told.released(0);
        return run.exchange();
    };
    const std::string full = "1.00 times its bound: the incoming lane of tile 0 is full";
    CHECK(exchanges(900) == full + "; 5 % is waiting for it: 5 % for prologue, latency and gaps");
    CHECK(exchanges(902) == full);
}

TEST_CASE("issue slots that are full to nineteen of twenty are not spoken of") {
    const auto told = [](Cycles bound) {
        Run run;
        run.computes({equal(980), equal(980)}, bound); // of 1000 cycles
        return run.compute();
    };
    const std::string head = "tile 0 takes as long as the mean of 2 tiles";
    CHECK(told(950) == head);
    CHECK(told(949) == head + "; its issues would fit into 95 % of its time: 5 % is lost to "
                              "launches, syncs and the supervisor");
    CHECK(told(0) == head); // nothing is known of them
}
