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
