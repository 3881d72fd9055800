// SPDX-License-Identifier: MIT
#include "base/activity.h"
#include "sim/process/progress_line.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace tessera;
using process::activity_text;

TEST_CASE("activities are told from the outermost in, with how far each is") {
    CHECK(current_activities().empty());
    CHECK(process::activity_text("cora", 80).empty());
    {
        const Activity planning("planning");
        CHECK(process::activity_text("cora", 80) == "cora: planning");
        {
            const Activity placing("message", 2000);
            CHECK(process::activity_text("cora", 80) == "cora: planning: message 0 of 2000");
            placing.step(1024);
            placing.step();
            CHECK(process::activity_text("cora", 80) == "cora: planning: message 1025 of 2000");
            placing.step(1024); // told in lumps, the last of which is not full
            CHECK(process::activity_text("cora", 80) == "cora: planning: message 2000 of 2000");
            placing.at(3, 7);
            CHECK(process::activity_text("cora", 80) == "cora: planning: message 3 of 7");
            CHECK(process::activity_text("cora", 10) == "cora: p...");
        }
        planning.step(4); // a number of steps that nobody knows
        CHECK(process::activity_text("cora", 80) == "cora: planning 4");
        const Activity again("placing");
        CHECK(current_activities().size() == 2);
        CHECK(current_activities()[1].done == 0);
    }
    CHECK(current_activities().empty());
}

TEST_CASE("what has gone on for a while says how fast it is and what is left") {
    ActivityState state{.what = "simulating, step",
                        .done = 100,
                        .total = 400,
                        .unit = "cycles",
                        .units = 12'345'678,
                        .seconds = 10};
    CHECK(process::state_text(state) ==
          "simulating, step 100 of 400, 1,230,000 cycles a second, some 30 s left");
    state.seconds = 1; // of that no rate is known
    CHECK(process::state_text(state) == "simulating, step 100 of 400");
    state.seconds = 10;
    state.total = 0; // nobody knows how many there are
    CHECK(process::state_text(state) == "simulating, step 100, 1,230,000 cycles a second");
    state.units = 0;
    CHECK(process::state_text(state) == "simulating, step 100");
    state.total = 100;
    CHECK(process::state_text(state) == "simulating, step 100 of 100");
    state.done = 0; // of nothing nothing follows
    CHECK(process::state_text(state) == "simulating, step 0 of 100");
    for (const auto& [units, rate] : {std::pair{10, "1"},
                                      {9'994, "999"},
                                      {9'996, "1,000"},
                                      {123'449, "12,300"},
                                      {123'501, "12,400"}}) {
        CAPTURE(units);
        state.units = units;
        CHECK(process::state_text(state) ==
              "simulating, step 0 of 100, " + std::string(rate) + " cycles a second");
    }
}

TEST_CASE("an activity has the units that it was told, and seconds since its begin") {
    const Activity simulating("simulating, step", 0, "cycles");
    simulating.at(3, 9, 1234);
    const auto states = current_activities();
    REQUIRE(states.size() == 1);
    CHECK(states[0].units == 1234);
    CHECK(std::string(states[0].unit) == "cycles");
    CHECK(states[0].seconds >= 0);
    CHECK(states[0].seconds < 60);
    const auto later = current_activities();
    CHECK(later[0].seconds >= states[0].seconds);
}

TEST_CASE("activities of other threads are ignored, their steps are not") {
    const Activity outer("computing", 100);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            const Activity ignored("something else");
            ignored.step();
            ignored.at(1, 2);
            for (int step = 0; step < 25; ++step) {
                outer.step();
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    REQUIRE(current_activities().size() == 1);
    CHECK(current_activities()[0].done == 100);
    CHECK(current_activities()[0].total == 100);
}

TEST_CASE("activities within activities without end are ignored from some depth on") {
    std::vector<std::unique_ptr<Activity>> all;
    for (int i = 0; i < 100; ++i) {
        all.push_back(std::make_unique<Activity>("deeper"));
    }
    CHECK(current_activities().size() >= 4);
    CHECK(current_activities().size() < 100);
    while (!all.empty()) {
        all.pop_back();
    }
    CHECK(current_activities().empty());
}
