// SPDX-License-Identifier: MIT
#include "sim/calibrate/run_facts.h"
#include "sim/calibrate/unexplained.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace tessera::calibrate;
using nlohmann::json;

namespace {

constexpr double kWord = 0.25;
constexpr double kStep = 300;

/// Rows whose gap is exactly so much a word and a step.
std::vector<Gap> made_rows() {
    std::vector<Gap> gaps;
    for (const auto& [words, steps] : {std::pair{1000.0, 4.0}, {20'000.0, 6.0}, {512.0, 9.0}}) {
        const double simulated = 10'000 + words;
        gaps.push_back({.measured_cycles = simulated + kWord * words + kStep * steps,
                        .simulated_cycles = simulated,
                        .words = words,
                        .steps = steps});
    }
    return gaps;
}

} // namespace

TEST_CASE("of rows that are made of words and steps, the fit is what they are made of") {
    const auto gaps = made_rows();
    const auto of = unexplained(gaps);
    CHECK(of.rows == 3);
    const double sum = kWord * (1000 + 20'000 + 512) + kStep * (4 + 6 + 9);
    CHECK(of.cycles == Approx(sum));
    CHECK(of.share == Approx(sum / (30'000 + 1000 + 20'000 + 512 + sum)));
    REQUIRE(of.fit);
    CHECK(of.fit->cycles_per_word == Approx(kWord));
    CHECK(of.fit->cycles_per_step == Approx(kStep));
    CHECK(of.fit->explained == Approx(1));
}

TEST_CASE("what goes with neither words nor steps stays unexplained") {
    // gaps at a right angle to both: two rows of equal words and steps that differ up and down
    std::vector<Gap> gaps;
    for (const double gap : {50.0, -50.0}) {
        for (const auto& [words, steps] : {std::pair{100.0, 4.0}, {300.0, 5.0}}) {
            gaps.push_back({1000 + gap, 1000, words, steps});
        }
    }
    const auto of = unexplained(gaps);
    CHECK(of.cycles == Approx(0).margin(1e-9));
    REQUIRE(of.fit);
    CHECK(of.fit->cycles_per_word == Approx(0).margin(1e-9));
    CHECK(of.fit->cycles_per_step == Approx(0).margin(1e-9));
    CHECK(of.fit->explained == Approx(0).margin(1e-9));
}

TEST_CASE("rows that do not tell words and steps apart have no fit") {
    CHECK_FALSE(unexplained({}).fit);
    CHECK(unexplained({}).share == 0);
    auto gaps = made_rows();
    gaps.pop_back();
    CHECK_FALSE(unexplained(gaps).fit); // as many rows as unknowns
    gaps = made_rows();
    for (auto& gap : gaps) {
        gap.words = 10 * gap.steps;
    }
    CHECK_FALSE(unexplained(gaps).fit);
}

TEST_CASE("facts of a run: its steps, most cycles first, barriers among them") {
    const json result{
        {"cycles", 1000},
        {"phases", {{"sync", 120}, {"compute", 500}, {"exchange", 380}}},
        {"machine", {{"chip", {{"tiles", 4}}}}},
        {"compute_sets", json::array({{{"name", "multiply"}, {"cycles", 500}, {"executions", 2}}})},
        {"exchanges",
         json::array({{{"name", "bring"}, {"cycles", 80}, {"executions", 1}, {"words", 60}},
                      {{"name", "reduce"}, {"cycles", 300}, {"executions", 3}, {"words", 20}}})},
        {"streams", json::array()}};
    const auto facts = facts_of(result);
    CHECK(facts.cycles == 1000);
    REQUIRE(facts.sync_cycles);
    CHECK(*facts.sync_cycles == 120);
    CHECK(facts.steps == 6);
    CHECK(facts.words_per_tile == 20);
    REQUIRE(facts.by_step.size() == 4);
    CHECK(facts.by_step[0].name == "multiply");
    CHECK(facts.by_step[1].name == "reduce");
    CHECK(facts.by_step[2].name == "sync");
    CHECK(facts.by_step[3].cycles == 80);
}

TEST_CASE("steps of equal cycles stand in the order of the run, barriers behind them") {
    json result{{"cycles", 100},
                {"phases", {{"sync", 20}}},
                {"machine", {{"chip", {{"tiles", 4}}}}},
                {"compute_sets", json::array()},
                {"exchanges", json::array()},
                {"streams", json::array()}};
    for (const char* const name : {"b", "a", "d", "c"}) {
        result["compute_sets"].push_back({{"name", name}, {"cycles", 20}, {"executions", 1}});
    }
    std::string order;
    for (const auto& step : facts_of(result).by_step) {
        order += step.name + " ";
    }
    CHECK(order == "b a d c sync ");
}

TEST_CASE("facts of a vertex: its workers and the rest") {
    const auto facts = facts_of({{"cycles", 420}, {"worker_cycles", 240}, {"machine", {}}});
    CHECK_FALSE(facts.sync_cycles);
    REQUIRE(facts.by_step.size() == 2);
    CHECK(facts.by_step[1].name == "supervisor");
    CHECK(facts.by_step[1].cycles == 180);
}
