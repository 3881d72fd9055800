// SPDX-License-Identifier: MIT
#include "base/activity.h"
#include "sim/process/progress_line.h"

#include <catch2/catch.hpp>

#include <memory>
#include <thread>
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
            CHECK(process::activity_text("cora", 10) == "cora: plan");
        }
        planning.step(4); // a number of steps that nobody knows
        CHECK(process::activity_text("cora", 80) == "cora: planning 4");
        const Activity again("placing");
        CHECK(current_activities().size() == 2);
        CHECK(current_activities()[1].done == 0);
    }
    CHECK(current_activities().empty());
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
