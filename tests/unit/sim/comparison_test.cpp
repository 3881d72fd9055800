// SPDX-License-Identifier: MIT
// What explains the difference of two results made up by hand.
#include "sim/compare/comparison.h"
#include "sim/compare/report.h"
#include "sim/result/result.h"
#include "tests/support/source_path.h"
#include "tests/unit/sim/scene.h"

#include <catch2/catch.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

using namespace tessera;
using compare::Reason;
using Json = nlohmann::json;

namespace {

/// The scene's result, whose only compute set of work is 'multiply' and only exchange 'scatter'.
Json result_of_scene() {
    test::Scene scene;
    return scene.result();
}

Json& step(Json& result, const char* list, const std::string& name) {
    for (Json& one : result[list]) {
        if (one["name"] == name) {
            return one;
        }
    }
    throw std::out_of_range(name);
}

/// Makes a step of the run longer.
void lengthen(Json& result, const char* list, const std::string& name, int cycles) {
    Json& one = step(result, list, name);
    one["cycles"] = one["cycles"].get<int>() + cycles;
    result["cycles"] = result["cycles"].get<int>() + cycles;
}

} // namespace

TEST_CASE("a result beside itself differs in nothing") {
    const Json result = result_of_scene();
    const auto same = compare::compare(result, result);
    CHECK(same.settings.empty());
    CHECK(same.plan.empty());
    CHECK(same.groups.empty());
    CHECK(same.change.largest_first().empty());
    CHECK(same.has_steps);
}

TEST_CASE("what changed is the reason that is told") {
    const Json before = result_of_scene();
    const auto reason_of = [&](const Json& after) {
        const auto found = compare::compare(before, after);
        CHECK(found.change.sum() == Approx(found.b - found.a));
        REQUIRE_FALSE(found.change.largest_first().empty());
        return found.change.largest_first().front();
    };
    SECTION("more issues at the same time each") {
        Json after = before;
        Json& multiply = step(after, "compute_sets", "multiply");
        Json& earlier = step(after, "compute_sets", "multiply");
        earlier["worker_issues"] = 100;
        Json first = after;
        multiply["worker_issues"] = 200;
        multiply["tile_cycles"]["mean"] = 2 * multiply["tile_cycles"]["mean"].get<double>();
        lengthen(after, "compute_sets", "multiply", 40);
        multiply["mean_cycles"] = multiply["mean_cycles"].get<double>() + 40;
        const auto found = compare::compare(first, after);
        CHECK(found.change.sum() == Approx(40));
        CHECK(found.change.largest_first().front() == Reason::Issues);
    }
    SECTION("an exchange beyond its bound") {
        Json after = before;
        lengthen(after, "exchanges", "scatter", 17);
        CHECK(reason_of(after) == Reason::ExchangeOverhead);
    }
    SECTION("a longer bound of the same words") {
        Json after = before;
        Json& scatter = step(after, "exchanges", "scatter");
        scatter["critical_bound_cycles"] = scatter["critical_bound_cycles"].get<int>() + 30;
        lengthen(after, "exchanges", "scatter", 30);
        CHECK(reason_of(after) == Reason::WordTime);
    }
    SECTION("barriers") {
        Json after = before;
        after["phases"]["sync"] = after["phases"]["sync"].get<int>() + 25;
        after["cycles"] = after["cycles"].get<int>() + 25;
        CHECK(reason_of(after) == Reason::BarrierTime);
    }
    SECTION("a step more") {
        Json after = before;
        Json more = step(after, "compute_sets", "multiply");
        more["name"] = "another";
        more["cycles"] = 33;
        after["compute_sets"].push_back(more);
        after["cycles"] = after["cycles"].get<int>() + 33;
        CHECK(reason_of(after) == Reason::StepsOnlyOfB);
    }
    SECTION("the control program") {
        Json after = before;
        after["cycles"] = after["cycles"].get<int>() + 9;
        CHECK(reason_of(after) == Reason::Control);
    }
}

TEST_CASE("chunks of one step are one group, other steps are not") {
    Json before = result_of_scene();
    Json& multiply = step(before, "compute_sets", "multiply");
    multiply["name"] = "multiply chunk 0";
    Json after = before;
    Json more = after["compute_sets"][0];
    more["name"] = "multiply chunk 1";
    after["compute_sets"].push_back(more);
    after["cycles"] = after["cycles"].get<int>() + more["cycles"].get<int>();
    const auto found = compare::compare(before, after);
    REQUIRE(found.groups.size() == 1);
    CHECK(found.groups[0].name == "multiply chunks");
    CHECK(found.groups[0].steps_a == 1);
    CHECK(found.groups[0].steps_b == 2);
    CHECK(found.change.at(Reason::StepsOnlyOfA) == 0);
    CHECK(found.change.at(Reason::StepsOnlyOfB) == 0);
}

TEST_CASE("steps that only one has do not cancel those that only the other has") {
    const Json before = result_of_scene();
    Json after = before;
    Json& multiply = step(after, "compute_sets", "multiply");
    multiply["name"] = "renamed";
    const auto found = compare::compare(before, after);
    const double cycles = multiply["cycles"].get<double>();
    CHECK(found.change.sum() == 0);
    CHECK(found.change.at(Reason::StepsOnlyOfA) == -cycles);
    CHECK(found.change.at(Reason::StepsOnlyOfB) == cycles);
}

TEST_CASE("the reasons sum to the change, whatever changes") {
    std::mt19937 random(3);
    for (int i = 0; i < 200; ++i) {
        const Json before = result_of_scene();
        Json after = before;
        for (const char* list : {"compute_sets", "exchanges"}) {
            for (Json& one : after[list]) {
                for (auto& [key, value] : one.items()) {
                    if (value.is_number_unsigned() || value.is_number_integer()) {
                        value = value.get<int>() + static_cast<int>(random() % 50);
                    }
                }
            }
        }
        after["cycles"] = 100 + static_cast<int>(random() % 1000);
        after["phases"]["sync"] = static_cast<int>(random() % 100);
        after["counts"]["barriers"] = static_cast<int>(random() % 5);
        const auto found = compare::compare(before, after);
        CHECK(found.change.sum() == Approx(found.b - found.a).margin(1e-6));
    }
}

TEST_CASE("the checked in schema of comparisons is the one the program writes, and accepts them") {
    std::ifstream file(test::source_path("configs/schemas/diff.schema.json"));
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    CHECK(text == result::json_text(compare::comparison_schema()));
    valijson::Schema schema;
    const Json schema_json = compare::comparison_schema();
    valijson::SchemaParser{valijson::SchemaParser::kDraft7}.populateSchema(
        valijson::adapters::NlohmannJsonAdapter{schema_json}, schema);
    const auto accepts = [&](const Json& document) {
        valijson::Validator validator{valijson::Validator::kStrongTypes};
        return validator.validate(schema, valijson::adapters::NlohmannJsonAdapter{document},
                                  nullptr);
    };
    const Json before = result_of_scene();
    Json after = before;
    lengthen(after, "exchanges", "scatter", 17);
    after["machine"]["chip"]["tiles"] = 5;
    Json comparison = compare::comparison_json(compare::compare(before, after));
    CHECK(accepts(comparison));
    CHECK(comparison["settings"].size() == 1);
    CHECK(comparison["reasons"].size() == 1);
    comparison["more"] = 1;
    CHECK_FALSE(accepts(comparison));
}

namespace {

/// A comparison with so many settings and groups, each group a cycle longer than the one before it.
compare::Comparison made_up(int settings, int groups) {
    compare::Comparison made;
    made.name_a = "w on m";
    made.name_b = "v on m";
    made.has_steps = true;
    for (int i = 0; i < settings; ++i) {
        made.settings.push_back({"path_" + std::to_string(i), i, nullptr});
    }
    for (int i = 0; i < groups; ++i) {
        compare::Group group{
            "compute_set", "group_" + std::to_string(i), 1, 1, 0, 5.0 + i, {}, {}, {}};
        group.change.at(Reason::Issues) = group.b;
        made.change.add(group.change);
        made.b += group.b;
        made.groups.push_back(group);
    }
    return made;
}

int count_of(const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("twenty settings and ten groups of steps are told, and how many more there are") {
    for (const int settings : {0, 1, 20, 21, 45}) {
        for (const int groups : {0, 1, 10, 11, 30}) {
            CAPTURE(settings, groups);
            const std::string text = compare::comparison_text(made_up(settings, groups));
            CHECK(count_of(text, "path_") == std::min(settings, 20));
            CHECK(has(text, "none differs") == (settings == 0));
            // the one that has most of the reason is named with it
            CHECK(count_of(text, "group_") == std::min(groups, 10) + (groups > 0 ? 1 : 0));
            CHECK(has(text, "no cycle differs") == (groups == 0));
            CHECK(has(text, "and " + std::to_string(settings - 20) + " more; --json lists all") ==
                  (settings > 20));
            CHECK(has(text, "and " + std::to_string(groups - 10) + " more; --json lists all") ==
                  (groups > 10));
            CHECK(count_of(text, "lists all") == (settings > 20 ? 1 : 0) + (groups > 10 ? 1 : 0));
        }
    }
}

TEST_CASE("a reason names the group that has most of it, from one cycle on") {
    const auto named = [](double first, double second, Reason reason = Reason::Issues) {
        compare::Comparison made = made_up(0, 2);
        made.change = {};
        made.groups[0].change = {};
        made.groups[1].change = {};
        made.groups[0].change.at(reason) = first;
        made.groups[1].change.at(reason) = second;
        made.change.at(reason) = 100;
        const std::string text = compare::comparison_text(made);
        const std::size_t begin = text.find("because");
        const std::string line = text.substr(begin, text.find('\n', begin) - begin);
        return has(line, "'") ? line.substr(line.find("'")) : "";
    };
    CHECK(named(1, 0.5) == "'group_0' +1");
    CHECK(named(0.5, 1) == "'group_1' +1");
    CHECK(named(0.99, 0.5).empty());
    CHECK(named(-3, 2) == "'group_0' -3");
    CHECK(named(-0.99, 0.5).empty());
    CHECK(named(1'234'567, 3, Reason::Words) == "'group_0' +1,234,567");
    CHECK(named(4, 4) == "'group_0' +4"); // of equals the first
    // a group may take as long as before for reasons that cancel each other
    compare::Comparison made = made_up(0, 1);
    made.groups[0].a = made.groups[0].b;
    CHECK(has(compare::comparison_text(made), "group_0               5  5      +0  workers"));
}

TEST_CASE("figures that differ are told in digits that say something") {
    const auto told = [](double a, double b) {
        compare::Comparison made = made_up(0, 0);
        made.figures = {{"figure", a, b}};
        const std::string text = compare::comparison_text(made);
        const std::size_t begin = text.find("figure ");
        std::string line;
        for (const char c : begin == std::string::npos ? "" : text.substr(begin)) {
            line += c == '\n' || (c == ' ' && line.ends_with(' ')) ? "" : std::string(1, c);
        }
        return line;
    };
    CHECK(told(2, 2).empty());
    CHECK(told(1, 2) == "figure 1 2 100.0 % more");
    CHECK(told(2, 1) == "figure 2 1 50.0 % less");
    CHECK(told(0, 3) == "figure 0 3");
    CHECK(told(999.4567, 1000.4567) == "figure 999.5 1,000 0.1 % more");
    CHECK(told(0.125, 1234567.8) == "figure 0.125 1,234,568 987654140.0 % more");
    CHECK(told(1e15, 999'999'999'999'999) == "figure 1e+15 999,999,999,999,999 0.0 % less");
    CHECK(told(-1000.5, -999.5) == "figure -1,001 -999.5 0.1 % less");
}

TEST_CASE("values are told as they are, cut behind forty characters") {
    compare::Comparison made = made_up(0, 0);
    const auto told = [&](const Json& value) {
        made.settings = {{"path", value, 7}};
        const std::string text = compare::comparison_text(made);
        const std::size_t begin = text.find("path  ") + 6;
        return text.substr(begin, text.find("  7\n") - begin);
    };
    CHECK(told(nullptr) == "none");
    CHECK(told("word") == "word");
    CHECK(told(1.5) == "1.5");
    CHECK(told(Json::array({1, 2})) == "[1,2]");
    CHECK(told(std::string(40, 'a')) == std::string(40, 'a'));
    CHECK(told(std::string(41, 'a')) == std::string(37, 'a') + "...");
}

namespace {

/// A compute set. Of its tiles those that take part come to `of_active` cycles on the mean; on the
/// critical one the busiest worker has so many cycles more than the mean worker, and on all tiles.
Json set_of(const std::string& name, int cycles, double mean, double of_active, int active,
            int critical_more, double mean_more, int issues) {
    return {{"name", name},
            {"role", "work"},
            {"cycles", cycles},
            {"tile_cycles", {{"mean", mean}}},
            {"mean_cycles", of_active},
            {"active_tiles", active},
            {"critical_busiest_worker_cycles", 50 + critical_more},
            {"critical_mean_worker_cycles", 50},
            {"busiest_worker_cycles", {{"mean", 20 + mean_more}}},
            {"mean_worker_cycles", {{"mean", 20}}},
            {"worker_issues", issues}};
}

Json move_of(const std::string& name, int cycles, int bound, int bytes) {
    return {{"name", name}, {"cycles", cycles}, {"critical_bound_cycles", bound}, {"bytes", bytes}};
}

/// Results of four tiles with steps of every kind. Their cycles are those of the steps, of barriers,
/// and of the control program.
struct ByHand {
    Json a{{"cycles", 100 + 5 + 50 + 3 + 30 + 8 + 10 + 4},
           {"machine",
            {{"name", "m"},
             {"description", "one"},
             {"schema_version", 1},
             {"chip", {{"tiles", 4}, {"clock_hz", 2}}}}},
           {"workload", {{"name", "w"}, {"description", "one"}, {"n", 16}}},
           {"plan", {{"parts", 2}, {"of", {{"same", 1}}}, {"list", {1}}}},
           {"flops", 5},
           {"tflops", 3},
           {"seconds", 0.5},
           {"gbytes_per_s", "none"},
           {"phases", {{"sync", 10}}},
           {"counts", {{"barriers", 2}}},
           {"compute_sets",
            {set_of("multiply chunk 0", 100, 60, 80, 3, 20, 6, 400),
             set_of("reduce", 5, 5, 5, 4, 0, 0, 9)}},
           {"exchanges", {move_of("scatter", 50, 40, 1000), move_of("same", 3, 3, 4)}},
           {"streams", {move_of("load", 30, 0, 100)}},
           {"link_exchanges", {move_of("swap", 8, 0, 10)}}};
    Json b{
        {"cycles", 90 + 30 + 70 + 3 + 7 + 20 + 12 + 18 + 5},
        {"machine",
         {{"name", "m2"},
          {"description", "other"},
          {"schema_version", 2},
          {"chip", {{"tiles", 4}}},
          {"sync", {{"cycles", 2}}}}},
        {"workload", {{"name", "w"}, {"description", "other"}, {"n", 32}, {"list", {1}}}},
        {"plan", {{"parts", 3}, {"of", {{"same", 1}}}, {"list", {2}}}},
        {"flops", 5},
        {"seconds", 0.25},
        {"gbytes_per_s", 7},
        {"phases", {{"sync", 18}}},
        {"counts", {{"barriers", 3}}},
        {"compute_sets",
         {set_of("multiply chunk 0", 90, 50, 50, 4, 0, 0, 300),
          set_of("multiply chunk 1", 30, 30, 30, 4, 0, 0, 300)}},
        {"exchanges",
         {move_of("scatter", 70, 60, 2000), move_of("same", 3, 3, 4), move_of("bring", 7, 7, 8)}},
        {"streams", {move_of("load", 20, 0, 50)}},
        {"link_exchanges", {move_of("swap", 12, 0, 10)}}};
    /// Returns what each reason is worth, the largest first.
    std::vector<std::pair<Reason, double>> reasons{
        {Reason::Words, 40 * (2000 / 1000 - 1)},
        {Reason::UnevenSplits, 40 - (100 - 80 - (20 - 4 * 6 / 3))},
        {Reason::Issues, 60 * (600 / 400. - 1)},
        {Reason::UnusedTiles, -(80 - 60)},
        {Reason::WordTime, 60 - 40 - 40},
        {Reason::StreamBytes, 30 * (50 / 100. - 1)},
        {Reason::UnequalWorkers, -(20 - 4 * 6 / 3)},
        {Reason::IssueTime, (50 + 30) - 60 - 30},
        {Reason::StepsOnlyOfB, 7},
        {Reason::StepsOnlyOfA, -5},
        {Reason::Barriers, 10 * (3 / 2. - 1)},
        {Reason::StreamTime, 20 - 30 + 15},
        {Reason::LinkTime, 12 - 8},
        {Reason::BarrierTime, 18 - 10 - 5},
        {Reason::Control, 5 - 4}};
};

} // namespace

TEST_CASE("a comparison of steps of every kind, reason by reason and as a whole text") {
    const ByHand results;
    const auto found = compare::compare(results.a, results.b);
    const auto order = found.change.largest_first();
    REQUIRE(order.size() == results.reasons.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        CAPTURE(i);
        CHECK(order[i] == results.reasons[i].first);
        CHECK(found.change.at(order[i]) == Approx(results.reasons[i].second));
    }
    CHECK(compare::comparison_text(found) ==
          R"(A          w on m: 210 cycles
B          w on m2: 255 cycles, 21.4 % more
settings                  A     B
           chip.clock_hz  2     none
           machine        m     m2
           sync.cycles    none  2
           workload.list  none  [1]
           workload.n     16    32
plan                   A  B
           plan.parts  2  3
because    +40  exchanges deliver more words: 'scatter' +40
           +32  work is split over tiles less evenly: 'multiply chunks' +32
           +30  workers issue more: 'multiply chunks' +30
           -20  fewer tiles compute nothing: 'multiply chunks' -20
           -20  a word takes the busiest lane less time: 'scatter' -20
           -15  stream copies that are waited for move less: 'load' -15
           -12  workers of a tile have more equal work: 'multiply chunks' -12
           -10  an issue takes a tile less time: 'multiply chunks' -10
            +7  steps that only B has: 'bring' +7
            -5  steps that only A has: 'reduce' -5
            +5  more barriers
            +5  a streamed byte is waited for longer: 'load' +5
            +4  a byte between chips is waited for longer: 'swap' +4
            +3  a barrier takes longer
            +1  the control program takes longer
           +45  together
steps      largest change first    A    B  change  mostly because
           multiply chunks       100  120     +20  work is split over tiles less evenly
           scatter                50   70     +20  exchanges deliver more words
           load                   30   20     -10  stream copies that are waited for move less
           bring                   0    7      +7  steps that only B has
           reduce                  5    0      -5  steps that only A has
           swap                    8   12      +4  a byte between chips is waited for longer
figures                   A     B
           cycles       210   255  21.4 % more
           seconds      0.5  0.25  50.0 % less
           phases.sync   10    18  80.0 % more
)");
    // members are places in the lists of the kind
    std::vector<std::vector<std::size_t>> members;
    for (const compare::Group& group : found.groups) {
        members.push_back(group.members_a);
        members.push_back(group.members_b);
    }
    CHECK(members == std::vector<std::vector<std::size_t>>{
                         {0}, {0, 1}, {0}, {0}, {0}, {0}, {}, {2}, {1}, {}, {0}, {0}});
}

TEST_CASE("a comparison as JSON has all that its text has, and what is equal too") {
    const ByHand results;
    const Json found = compare::comparison_json(compare::compare(results.a, results.b));
    CHECK((found["a"] == Json{{"name", "w on m"}, {"cycles", 210}}));
    CHECK((found["b"] == Json{{"name", "w on m2"}, {"cycles", 255}}));
    CHECK(found["has_steps"] == true);
    CHECK(found["change"] == 255 - 210);
    const auto rows = [](const Json& all) {
        std::string text;
        for (const Json& one : all) {
            text += one["path"].get<std::string>() + " " + one["a"].dump() + " " + one["b"].dump() +
                    "\n";
        }
        return text;
    };
    CHECK(rows(found["settings"]) == "chip.clock_hz 2 null\n"
                                     "machine \"m\" \"m2\"\n"
                                     "sync.cycles null 2\n"
                                     "workload.list null [1]\n"
                                     "workload.n 16 32\n");
    CHECK(rows(found["plan"]) == "plan.parts 2 3\n");
    CHECK(rows(found["figures"]) == "cycles 210.0 255.0\n"
                                    "seconds 0.5 0.25\n"
                                    "phases.sync 10.0 18.0\n"
                                    "flops 5.0 5.0\n");
    std::string steps;
    for (const Json& one : found["steps"]) {
        double sum = 0;
        for (const Json& reason : one["reasons"]) {
            sum += reason["cycles"].get<double>();
        }
        CHECK(sum == Approx(one["b"].get<double>() - one["a"].get<double>()));
        steps += one["kind"].get<std::string>() + " " + one["name"].get<std::string>() + " " +
                 one["steps_a"].dump() + " " + one["steps_b"].dump() + " " + one["a"].dump() + " " +
                 one["b"].dump() + " " + one["reasons"][0]["reason"].get<std::string>() + "\n";
    }
    CHECK(steps == "compute_set multiply chunks 1 2 100.0 120.0 uneven_splits\n"
                   "exchange scatter 1 1 50.0 70.0 words\n"
                   "stream load 1 1 30.0 20.0 stream_bytes\n"
                   "exchange bring 0 1 0.0 7.0 steps_only_of_b\n"
                   "compute_set reduce 1 0 5.0 0.0 steps_only_of_a\n"
                   "link_exchange swap 1 1 8.0 12.0 link_time\n");
    CHECK((found["reasons"][0] == Json{{"reason", "words"},
                                       {"sentence", "exchanges deliver more words"},
                                       {"cycles", 40.0}}));
    CHECK(found["reasons"][4]["sentence"] == "a word takes the busiest lane less time");
}

TEST_CASE("parts of a compute set are no less than 0 and sum to its cycles") {
    // a set of 100 cycles on four tiles beside one of 0 cycles that computes as much
    const auto parts = [](double mean, double of_active, int active, int critical_more,
                          double mean_more) {
        Json before = result_of_scene();
        before["exchanges"] = Json::array();
        before["compute_sets"] = {set_of("s", 0, 0, 0, 4, 0, 0, 0)};
        Json after = before;
        after["compute_sets"] = {
            set_of("s", 100, mean, of_active, active, critical_more, mean_more, 0)};
        const auto change = compare::compare(before, after).groups.at(0).change;
        CHECK(change.sum() == Approx(100));
        return std::vector<double>{change.at(Reason::IssueTime), change.at(Reason::UnusedTiles),
                                   change.at(Reason::UnequalWorkers),
                                   change.at(Reason::UnevenSplits)};
    };
    using Parts = std::vector<double>;
    CHECK(parts(40, 70, 3, 10, 0) == Parts{40, 30, 10, 20});
    CHECK(parts(40, 70, 2, 20, 4) == Parts{40, 30, 20 - 4 / 2 * 4, 30 - (20 - 4 / 2 * 4)});
    CHECK(parts(40, 70, 0, 30, 5) == Parts{40, 30, 30 - 4 * 5, 20}); // as of one tile
    CHECK(parts(40, 70, 4, 31, 0) == Parts{40, 30, 30, 0});          // no more than is left
    CHECK(parts(40, 70, 4, 3, 5) == Parts{40, 30, 0, 30});           // other tiles have more
    CHECK(parts(40, 30, 4, 3, 0) == Parts{40, 0, 3, 57});
    CHECK(parts(120, 130, 4, 3, 0) == Parts{100, 0, 0, 0});
    CHECK(parts(40, 130, 4, 3, 0) == Parts{40, 60, 0, 0});
}

TEST_CASE("an amount is a reason where both have some of it") {
    const auto exchange = [](int bound_a, int bytes_a, int bound_b, int bytes_b) {
        Json before = result_of_scene();
        Json after = before;
        before["exchanges"] = {move_of("e", 50, bound_a, bytes_a)};
        after["exchanges"] = {move_of("e", 50, bound_b, bytes_b)};
        const auto change = compare::compare(before, after).change;
        return std::vector<double>{change.at(Reason::Words), change.at(Reason::WordTime),
                                   change.at(Reason::ExchangeOverhead)};
    };
    using Changes = std::vector<double>;
    CHECK(exchange(10, 4, 40, 8) == Changes{10, 20, -30});
    CHECK(exchange(10, 0, 40, 8) == Changes{0, 30, -30});
    CHECK(exchange(10, 4, 40, 0) == Changes{0, 30, -30});
    CHECK(exchange(60, 4, 70, 4) == Changes{0, 0, 0}); // bounds of several rounds that are shorter
}

TEST_CASE("steps are alike by kind, role and name, and a reason counts from half a cycle on") {
    Json before = result_of_scene();
    before["exchanges"] = {move_of("e round 3", 50, 0, 0), move_of("e part 12", 50, 0, 0)};
    Json after = before;
    after["exchanges"][0]["role"] = "other";
    const auto found = compare::compare(before, after);
    REQUIRE(found.groups.size() == 2);
    CHECK(found.groups[0].name == "e rounds");
    CHECK(found.change.at(Reason::StepsOnlyOfA) == -50);
    CHECK(found.change.at(Reason::StepsOnlyOfB) == 50);

    compare::Cycles cycles;
    cycles.at(Reason::Words) = 0.5;
    cycles.at(Reason::Issues) = -0.5;
    cycles.at(Reason::Control) = 0.499;
    CHECK(cycles.largest_first() == std::vector<Reason>{Reason::Issues, Reason::Words});

    for (const char* const list : {"compute_sets", "exchanges"}) {
        Json without = before;
        without.erase(list);
        for (const auto& [a, b] : {std::pair{before, without}, {without, before}}) {
            const auto short_one = compare::compare(a, b);
            CHECK_FALSE(short_one.has_steps);
            CHECK(short_one.groups.empty());
            CHECK(has(compare::comparison_text(short_one), "has no steps to compare"));
        }
    }
}

TEST_CASE("a side is told as more or less than the other where the other has cycles") {
    const auto told = [](double a, double b) {
        compare::Comparison made = made_up(0, 0);
        made.a = a;
        made.b = b;
        const std::string text = compare::comparison_text(made);
        const std::size_t begin = text.find("B  ");
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    CHECK(told(0, 0) == "B          v on m: 0 cycles, the same");
    CHECK(told(7, 7) == "B          v on m: 7 cycles, the same");
    CHECK(told(0, 7) == "B          v on m: 7 cycles");
    CHECK(told(8, 7) == "B          v on m: 7 cycles, 12.5 % less");
    CHECK(told(8, 9) == "B          v on m: 9 cycles, 12.5 % more");
}
