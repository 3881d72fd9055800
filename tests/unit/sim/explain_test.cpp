// SPDX-License-Identifier: MIT
// A result in sentences: which gains, kernels and steps are listed, and in which order.
#include "sim/explain/explain.h"
#include "tests/unit/sim/made_recording.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace tessera;
using explain::Gain;
using test::Made;
using Json = nlohmann::json;

namespace {

constexpr Layout kWide{100'000, false};
constexpr int kRun = 10'000;
constexpr int kLeastGain = kRun / 1000; ///< that is listed
constexpr int kLeastKernel = kRun / 20; ///< or step

/// A result of one chip on which no parameter promises a gain.
Json plain() {
    return {{"cycles", kRun},
            {"sentence", "it is done"},
            {"workload", {{"name", "w"}}},
            {"machine",
             {{"name", "m"},
              {"exchange", {{"fabric", "compiled"}, {"lane_bytes", 16}}},
              {"sync", {{"internal_cycles", 1}}},
              {"amp", {{"steps_per_issue", 4}}},
              {"system", {{"chips", 1}}}}},
            {"counts", {{"barriers", 10}}},
            {"critical_path", {{"sentence", "tile 0 all the time"}}}};
}

Json step(const std::string& name, int cycles) {
    return {{"name", name}, {"cycles", cycles}, {"executions", 1}, {"sentence", "because"}};
}

std::vector<std::string> changes(const std::vector<Gain>& gains) {
    std::vector<std::string> all;
    for (const Gain& gain : gains) {
        all.push_back(gain.change);
    }
    return all;
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        all.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return all;
}

/// The texts of a head's lines, without the head.
std::vector<std::string> under(const std::string& text, const std::string& head) {
    constexpr std::size_t kIndent = 11;
    std::vector<std::string> all;
    bool is_inside = false;
    for (const std::string& line : lines(text)) {
        is_inside = line[0] == ' ' ? is_inside : line.rfind(head, 0) == 0;
        if (is_inside) {
            all.push_back(line.substr(kIndent));
        }
    }
    return all;
}

using Texts = std::vector<std::string>;

} // namespace

TEST_CASE("a gain is listed from a thousandth of the run on, the largest first", "[unit][sim]") {
    const std::vector<std::pair<std::string, std::string>> kinds{
        {"uneven_splits", "without the uneven split of work over tiles"},
        {"unused_tiles", "with work for the tiles that compute nothing"},
        {"unequal_workers", "with equal work for the workers of each tile"},
        {"exchange_overhead", "without prologue, latency and gaps of exchanges"},
        {"rearrangement", "without rearrangements"},
        {"reduction", "with sums that cost nothing"},
        {"stream", "without waits for stream copies"},
        {"link", "without waits for other chips"}};
    CHECK(explain::gains_of(plain()).empty());
    Texts all;
    Json ascending = plain();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const auto& [key, change] = kinds[i];
        Json one = plain();
        one["explanation"][key]["cycles"] = kLeastGain - 1;
        CHECK(explain::gains_of(one).empty());
        one["explanation"][key]["cycles"] = kLeastGain;
        const auto gains = explain::gains_of(one);
        REQUIRE(changes(gains) == Texts{change});
        CHECK(gains[0].cycles == kLeastGain);
        CHECK(gains[0].setting.empty());
        CHECK_FALSE(gains[0].is_exact);
        ascending["explanation"][key]["cycles"] = 100 + i;
        all.insert(all.begin(), change);
    }
    CHECK(changes(explain::gains_of(ascending)) == all);
    // of equal ones the first stands in front
    Json equal = plain();
    Texts in_order;
    for (const auto& [key, change] : kinds) {
        equal["explanation"][key]["cycles"] = kLeastGain;
        in_order.push_back(change);
    }
    CHECK(changes(explain::gains_of(equal)) == in_order);
}

TEST_CASE("lanes of twice the width take half the bounds of exchanges", "[unit][sim]") {
    Json one = plain();
    one["exchanges"] = {{{"critical_bound_cycles", 300}}, {{"critical_bound_cycles", 101}}};
    CHECK(explain::gains_of(one).empty()); // 16 bytes are the widest
    for (const int bytes : {4, 8}) {
        one["machine"]["exchange"]["lane_bytes"] = bytes;
        const auto gains = explain::gains_of(one);
        REQUIRE(gains.size() == 1);
        CHECK(gains[0].change == "with lanes of " + std::to_string(2 * bytes) + " bytes");
        CHECK(gains[0].setting == "exchange.lane_bytes=" + std::to_string(2 * bytes));
        CHECK(gains[0].cycles == 401 / 2.0);
        CHECK_FALSE(gains[0].is_exact);
    }
    one["machine"]["exchange"]["lane_bytes"] = 0;
    CHECK(explain::gains_of(one).empty());
    one["machine"]["exchange"] = {{"fabric", "other"}, {"lane_bytes", 4}};
    CHECK(explain::gains_of(one).empty());
}

TEST_CASE("barriers of half the cycles are exact where nothing else is waited for", "[unit][sim]") {
    Json one = plain();
    for (const auto& [cycles, half] : {std::pair{2, 1}, {31, 15}, {126, 63}}) {
        one["machine"]["sync"]["internal_cycles"] = cycles;
        const auto gains = explain::gains_of(one);
        REQUIRE(gains.size() == 1);
        CHECK(gains[0].change == "with barriers of " + std::to_string(half) + " cycles");
        CHECK(gains[0].setting == "sync.internal_cycles=" + std::to_string(half));
        CHECK(gains[0].cycles == 10 * (cycles - half));
        CHECK(gains[0].is_exact);
    }
    Json streams = one;
    streams["activity"]["streaming_bytes"] = 4; // of a point, too, whose steps nobody has kept
    CHECK_FALSE(explain::gains_of(streams).at(0).is_exact);
    Json chips = one;
    chips["machine"]["system"]["chips"] = 2;
    CHECK_FALSE(explain::gains_of(chips).at(0).is_exact);
    CHECK(
        under(explain::run_text(one, kWide), "gains") ==
        Texts{
            "with barriers of 63 cycles (--set sync.internal_cycles=63): 6.3 % less, 630 cycles"});
    CHECK(
        under(explain::run_text(chips, kWide), "gains") ==
        Texts{"with barriers of 63 cycles (--set sync.internal_cycles=63): at most 6.3 % less, 630 "
              "cycles"});
}

TEST_CASE("twice the matrix steps an issue take half of these issues' share", "[unit][sim]") {
    Json one = plain();
    const auto set = [](int cycles, int issues, int matrix) {
        return Json{{"cycles", cycles},
                    {"worker_issues", issues},
                    {"counts", {{"worker_issues", {{"matrix", matrix}}}}}};
    };
    one["compute_sets"] = {set(1000, 800, 200), set(500, 0, 0), set(600, 300, 300)};
    const double half = 1000 * 0.25 / 2 + 600 * 1.0 / 2;
    for (const auto& [rate, words] : {std::pair{0.5, "1 matrix step an issue"},
                                      {1.0, "2 matrix steps an issue"},
                                      {2.0, "4 matrix steps an issue"}}) {
        one["machine"]["amp"]["steps_per_issue"] = rate;
        const auto gains = explain::gains_of(one);
        REQUIRE(gains.size() == 1);
        CHECK(gains[0].change == std::string("with ") + words);
        CHECK(gains[0].setting == "amp.steps_per_issue=" + std::string(1, words[0]));
        CHECK(gains[0].cycles == Approx(half));
        CHECK_FALSE(gains[0].is_exact);
    }
    for (const double rate : {0.0, 2.5, 4.0}) {
        one["machine"]["amp"]["steps_per_issue"] = rate;
        CHECK(explain::gains_of(one).empty());
    }
}

TEST_CASE("gains say how much they are at most, and what to set", "[unit][sim]") {
    Json one = plain();
    one["explanation"]["uneven_splits"]["cycles"] = 1234;
    one["machine"]["sync"]["internal_cycles"] = 141;
    CHECK(under(explain::run_text(one, kWide), "gains") ==
          Texts{"without the uneven split of work over tiles: at most 12.3 % less, 1,234 cycles",
                "with barriers of 70 cycles (--set sync.internal_cycles=70): 7.1 % less, 710 "
                "cycles"});
    one["activity"]["host_bytes"] = 1; // the host may only be waited for longer
    CHECK(under(explain::run_text(one, kWide), "gains")[1] ==
          "with barriers of 70 cycles (--set sync.internal_cycles=70): at most 7.1 % less, 710 "
          "cycles");
}

TEST_CASE("a run is told in its own words, an estimate without steps", "[unit][sim]") {
    Json one = plain();
    CHECK(
        lines(explain::run_text(one, kWide)) ==
        Texts{"run        w on m: 10,000 cycles, it is done", "critical   tile 0 all the time",
              "steps      none are kept: the point's sweep was run without --keep full, and gains "
              "that follow from steps are not told"});
    one.erase("critical_path");
    one["explanation"]["uneven_splits"]["cycles"] = kRun; // an estimate has nothing to gain from
    CHECK(lines(explain::run_text(one, kWide)) ==
          Texts{"run        w on m: 10,000 cycles, it is done",
                "           an estimate has no steps to explain"});
}

TEST_CASE("kernels are listed from a twentieth of the run on, where there are several",
          "[unit][sim]") {
    const auto kernel = [](const char* name, int cycles) {
        return Json{{"name", name}, {"cycles", cycles}};
    };
    Json one = plain();
    one["kernels"] = {kernel("alone", kRun)};
    CHECK(under(explain::run_text(one, kWide), "kernels").empty());
    one["kernels"] = {kernel("least", kLeastKernel), kernel("below", kLeastKernel - 1),
                      kernel("most", 8000), kernel("like least", kLeastKernel)};
    CHECK(under(explain::run_text(one, kWide), "kernels") == Texts{"most: 80.0 % of the run",
                                                                   "least: 5.0 % of the run",
                                                                   "like least: 5.0 % of the run"});
    one["kernels"][2].update(
        {{"compute", 4000}, {"exchange", 2000}, {"sync", 1000}, {"stream", 600}, {"link", 400}});
    CHECK(under(explain::run_text(one, kWide), "kernels")[0] ==
          "most: 80.0 % of the run; compute 50.0 %, exchange 25.0 %, barriers 12.5 %, waits for "
          "streams 7.5 %, waits for other chips 5.0 %");
    one["kernels"][2]["compute"] = 0;
    CHECK(under(explain::run_text(one, kWide), "kernels")[0].find(
              "of the run; exchange 25.0 %, barriers") != std::string::npos);
}

TEST_CASE("five steps at most are listed, from a twentieth of the run on", "[unit][sim]") {
    Json one = plain();
    one["compute_sets"] = {step("c least", kLeastKernel), step("c below", kLeastKernel - 1)};
    one["exchanges"] = {step("e most", 3000), step("e like least", kLeastKernel)};
    one["streams"] = {step("s", 2000)};
    one["link_exchanges"] = {step("l", 1000)};
    const Texts five{"e most (30.0 %): because", "s (20.0 %): because", "l (10.0 %): because",
                     "c least (5.0 %): because", "e like least (5.0 %): because"};
    CHECK(under(explain::run_text(one, kWide), "steps") == five);
    one["streams"].push_back(step("c sixth", kLeastKernel));
    CHECK(under(explain::run_text(one, kWide), "steps") == five);
    one["link_exchanges"] = Json::array();
    one["streams"] = Json::array();
    CHECK(under(explain::run_text(one, kWide), "steps") == Texts{five[0], five[3], five[4]});
}

TEST_CASE("a step is told by what its name begins with, the slowest five", "[unit][sim]") {
    Json one = plain();
    for (int i = 1; i <= 7; ++i) {
        one["compute_sets"].push_back(step("part " + std::to_string(i), 100 * i));
    }
    one["exchanges"] = {step("a part", 5000)};
    const std::string text = explain::step_text(one, "part", nullptr, kWide);
    CHECK(under(text, "step") == Texts{"part 7: 700 cycles in 1 execution, 7.0 % of the run",
                                       "part 6: 600 cycles in 1 execution, 6.0 % of the run",
                                       "part 5: 500 cycles in 1 execution, 5.0 % of the run",
                                       "part 4: 400 cycles in 1 execution, 4.0 % of the run",
                                       "part 3: 300 cycles in 1 execution, 3.0 % of the run"});
    CHECK(under(text, "why") == Texts(5, "because"));
    CHECK(under(text, "bound").empty());
    CHECK(under(text, "tiles").empty());
    one["exchanges"][0].update({{"critical_bound_cycles", 4000}, {"executions", 3}});
    const std::string bound = explain::step_text(one, "a", nullptr, kWide);
    CHECK(under(bound, "step") == Texts{"a part: 5,000 cycles in 3 executions, 50.0 % of the run"});
    CHECK(
        under(bound, "bound") ==
        Texts{"4,000 cycles: what the critical tile does takes at least so long; without all that "
              "is above it the run takes 10.0 % less"});
    CHECK_THROWS_WITH(explain::step_text(one, "pert 3", nullptr),
                      "explain: no step is called 'pert 3'; did you mean 'part 3'?");
    CHECK_THROWS_WITH(explain::step_text(one, "qqqqqqqqqqqq", nullptr),
                      "explain: no step is called 'qqqqqqqqqqqq'");
    CHECK_THROWS_WITH(explain::step_text(plain(), "part", nullptr),
                      Catch::Contains("the result has no steps"));
}

TEST_CASE("a step with a recording is told as its tiles saw it", "[unit][sim]") {
    // tile i takes 100 + i cycles, but tiles 18 and 19 have no part
    std::vector<std::uint32_t> begin(20, 0);
    std::vector<std::uint32_t> cycles;
    std::vector<double> issues;
    for (std::uint32_t i = 0; i < 20; ++i) {
        cycles.push_back(i < 18 ? 100 + i : 0);
        issues.push_back(i < 18 ? 10.0 * i : 0.0);
    }
    begin[18] = begin[19] = test::kNoPart;
    Made made;
    made.add_step("exchange", 0, {{"cycles", 7}});
    made.add_step("compute_set", 1,
                  {{"begin", made.add(begin)},
                   {"cycles", made.add(cycles)},
                   {"issues", made.add(issues)},
                   {"matrix_steps", 0},
                   {"issues_of_0", made.add(issues)},
                   {"issues_of_1", 7},
                   {"issues_of_2", 9},
                   {"sent", 5}});
    made.add_step("compute_set", 0, {{"cycles", 0}});
    const auto recording = made.read();
    Json one = plain();
    one["compute_sets"] = {step("other", 50), step("multiply", 117)};
    one["compute_sets"][1]["critical_tile"] = 17;
    const std::string text = explain::step_text(one, "multiply", &recording, kWide);
    // of 18 tiles the ninth takes 108 and the sixteenth 115 cycles; 0.95 * 117 is 111.15
    CHECK(
        under(text, "tiles") ==
        Texts{"18 of 20 have a part: least 100, half of them at most 108, nine in ten at most 115, "
              "most 117; 6 within 5 % of that",
              "issue slots: tile 17 has 170, 2.00 times the mean of 85",
              "cycles in which words go out: tile 17 has 5, 0.90 times the mean of 6",
              "of tile 17's workers, number 0 has most issue slots, 170, and number 1 has fewest, "
              "7"});
    CHECK(under(explain::step_text(one, "other", &recording, kWide), "tiles") ==
          Texts{"no tile waits in it"});
    // a result that names a tile beyond the recording's is told of the last one
    one["compute_sets"][1]["critical_tile"] = 20;
    CHECK(explain::step_text(one, "multiply", &recording, kWide).find("tile 19 has 0, 0.00") !=
          std::string::npos);
    one["compute_sets"][1]["critical_tile"] = -1;
    CHECK(explain::step_text(one, "multiply", &recording, kWide).find("tile 0 has 0, 0.00") !=
          std::string::npos);
    one["compute_sets"].push_back(step("third", 1));
    CHECK(under(explain::step_text(one, "third", &recording, kWide), "tiles").empty());
}

TEST_CASE("a recording has its numbers, and is refused where some are not there", "[unit][sim]") {
    Made made;
    made.header["tiles"] = 3;
    made.add_step("stream", 2,
                  {{"most", made.add(std::vector<std::uint32_t>{1, 2, 3})},
                   {"least", made.add(std::vector<double>{0.5, 1e12, -1})},
                   {"cycles", 4},
                   {"same", 4}});
    const auto read = made.read();
    CHECK(read.tiles() == 3);
    CHECK(read.arrays() == made.arrays);
    const Json* const columns = &read.step("stream", 2)->at("columns");
    CHECK(read.numbers(columns->at("most"), 3) == std::vector<double>{1, 2, 3});
    CHECK(read.numbers(columns->at("least"), 3) == std::vector<double>{0.5, 1e12, -1});
    CHECK(read.numbers(columns->at("same"), 3) == std::vector<double>{4, 4, 4});
    CHECK(read.step("stream", 1) == nullptr);
    CHECK(read.step("exchange", 2) == nullptr);

    CHECK_THROWS_WITH(recording::Recording(made.written(1)),
                      Catch::Contains("an array is not there"));
    CHECK_THROWS_WITH(recording::Recording(made.written(made.arrays.size() + 1)),
                      Catch::Contains("its header is cut off"));
    const std::size_t whole = made.header.dump().size() + made.arrays.size() + 12;
    for (const std::size_t kept :
         {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{11}}) {
        CHECK_THROWS_WITH(recording::Recording(made.written(whole - kept)),
                          Catch::Contains("it does not begin as one"));
    }
    CHECK_THROWS_WITH(recording::Recording(made.written(whole - 12)),
                      Catch::Contains("its header is cut off"));
    const auto refused = [&](const char* key, const Json& value, const char* why) {
        Made other;
        other.header = made.header;
        other.arrays = made.arrays;
        other.header[Json::json_pointer(key)] = value;
        CHECK_THROWS_WITH(other.read(), Catch::Contains(why));
    };
    for (const Json& tiles : {Json(0), Json(-1), Json(1.5), Json("3"), Json((1U << 20U) + 1)}) {
        refused("/tiles", tiles, "it does not say how many tiles there are");
    }
    refused("/schema_version", recording::kSchemaVersion + 1, "its version is another one");
    refused("/chips/0/steps", 7, "its list of steps is not whole");
    const char* const kNoChips = "it does not say which chips there are";
    refused("/chips", 7, kNoChips);
    refused("/last", 1U, kNoChips); // there is one chip
    refused("/last", -1, kNoChips);
    refused("/last", "0", kNoChips);
    refused("/chips/0", 7, "its list of steps is not whole");
    refused("/chips/0/tiles_by_kind", 7, "it does not say what tiles spend cycles on");
    refused("/chips/0/tiles_by_kind/idle", {{"type", "u32"}, {"offset", 100'000}},
            "an array is not there");
    refused("/chips/0/steps/0/columns", Json::object(), "a step has no cycles");
    refused("/chips/0/executions", Json::object(), "its table 'executions' has no count");
    const Json beyond{{"count", 10U}, {"begin", {{"type", "f64"}, {"offset", 0U}}}};
    for (const char* const table : {"executions", "releases", "window"}) {
        refused((std::string("/chips/0/") + table).c_str(), beyond, "an array is not there");
    }
    refused("/chips/0/steps/0/pairs", beyond, "an array is not there");
    const Json by_tile{{"count", 4U}, {"tile_begin", {{"type", "u32"}, {"offset", 0U}}}};
    refused("/chips/0/window", by_tile, "an array is not there"); // of three tiles 48 of 36 bytes
    for (const char* const lost : {"kind", "index", "columns"}) {
        Json steps = made.chip()["steps"];
        steps[0].erase(lost);
        refused("/chips/0/steps", steps, "its list of steps is not whole");
    }
    const auto wrong = [&](const Json& place) {
        Json steps = made.chip()["steps"];
        steps[0]["columns"]["most"] = place;
        refused("/chips/0/steps", steps, "an array is not there");
    };
    wrong("text");
    wrong({{"offset", 0}});
    wrong({{"type", "u32"}});
    wrong({{"type", "u64"}, {"offset", 0}});
    wrong({{"type", "u32"}, {"offset", -4}});
    wrong({{"type", "u32"}, {"offset", made.arrays.size() - 11}});
    wrong({{"type", "f64"}, {"offset", made.arrays.size() - 23}});
    wrong({{"type", "u32"}, {"offset", made.arrays.size() + 1}});
    // a list of nothing stands behind the last array, or anywhere before
    for (const std::size_t offset : {std::size_t{0}, made.arrays.size()}) {
        Made with_nothing;
        with_nothing.header = made.header;
        with_nothing.arrays = made.arrays;
        with_nothing.chip()["executions"] = {{"count", 0U},
                                             {"begin", {{"type", "f64"}, {"offset", offset}}}};
        CHECK_NOTHROW(with_nothing.read());
        with_nothing.chip()["executions"]["begin"]["offset"] = made.arrays.size() + 1;
        CHECK_THROWS_WITH(with_nothing.read(), Catch::Contains("an array is not there"));
    }
    Made most;
    most.header["tiles"] = 1U << 20U;
    CHECK(most.read().tiles() == 1U << 20U);
}

TEST_CASE("of several chips the one that ends last has the result's steps", "[unit][sim]") {
    Made made;
    made.add_step("exchange", 0, {{"cycles", 7}});
    made.header["chips"].push_back(made.header["chips"][0]);
    made.header["last"] = 1U;
    made.chip()["steps"][0]["columns"]["cycles"] = 8;
    const auto read = made.read();
    CHECK(read.step("exchange", 0)->at("columns").at("cycles") == 8);
    made.header["last"] = 0U;
    CHECK(made.read().step("exchange", 0)->at("columns").at("cycles") == 7);
}

TEST_CASE("a recording is of a run whose cycles, tiles and clock it has", "[unit][sim]") {
    Made made;
    const auto read = made.read();
    const Json same{{"cycles", kRun}, {"machine", {{"chip", {{"tiles", 20}, {"clock_hz", 1e9}}}}}};
    CHECK(read.is_of(same));
    CHECK(read.is_of(Json::object())); // it tells nothing
    Json more = same;                  // a step that the recording has not
    more["exchanges"] = {{{"executions", 1}}};
    CHECK_FALSE(read.is_of(more));
    Made with_step;
    with_step.add_step("exchange", 0, {{"cycles", 7}});
    with_step.chip()["steps"][0]["executions"] = 1;
    const auto other_read = with_step.read();
    CHECK(other_read.is_of(more));
    more["exchanges"][0]["executions"] = 2;
    CHECK_FALSE(other_read.is_of(more));
    more["exchanges"] = Json::array();
    CHECK_FALSE(other_read.is_of(more));
    for (const char* const pointer : {"/cycles", "/machine/chip/tiles", "/machine/chip/clock_hz"}) {
        Json other = same;
        other[Json::json_pointer(pointer)] = 1;
        CHECK_FALSE(read.is_of(other));
    }
}
