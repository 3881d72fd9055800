// SPDX-License-Identifier: MIT
// What conditions and objectives may name.
#include "kernels/catalog/load.h"
#include "models/spec/load.h"
#include "sim/result/result.h"
#include "sim/sweep/command/result_paths.h"
#include "sim/sweep/condition.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;
using Json = nlohmann::json;

namespace {

/// Paths of a schema that stand for one value, walked once more; lists have none.
// NOLINTNEXTLINE(misc-no-recursion)
void note_leaves(const Json& schema, const std::string& path, std::set<std::string>& leaves) {
    const std::string before = path.empty() ? "" : path + ".";
    for (const Json& form : schema.value("oneOf", Json::array())) {
        note_leaves(form, path, leaves);
    }
    if (schema.contains("oneOf")) {
        return;
    }
    const Json others = schema.value("additionalProperties", Json(false));
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [key, inner] : properties.items()) {
        note_leaves(inner, before + key, leaves);
    }
    if (others.is_object()) {
        note_leaves(others, before + "NAME", leaves);
        return;
    }
    if (schema.contains("properties") || schema.value("type", Json()) == "array") {
        return;
    }
    const Json type = schema.value("type", Json());
    const std::string first = type.is_array()    ? type.at(0).get<std::string>()
                              : type.is_string() ? type.get<std::string>()
                                                 : "";
    leaves.insert(first == "object" ? before + "NAME" : path);
}

/// The mistakes of a sweep of one workload and one axis.
test::Lines mistakes(const Json& also) {
    Json text{{"schema_version", 1},
              {"machine", "tiny"},
              {"workload", "./w.json"},
              {"axes", {{{"path", "tile.workers"}, {"values", {2, 4}}}}}};
    text.update(also);
    const test::ScratchFolder folder;
    const std::string file = folder.write("s.json", text.dump());
    const auto document = config::read_document(file);
    test::Lines lines =
        test::mistakes_of([&] { check_result_paths(read_sweep(document), document); });
    for (std::string& line : lines) { // from the pointer on
        line.erase(0, line.find(": /") + 2);
    }
    return lines;
}

} // namespace

TEST_CASE("results have the paths of their schema, but for what points say and lists",
          "[unit][sweep]") {
    std::set<std::string> leaves;
    note_leaves(result::result_schema(), "", leaves);
    std::erase_if(leaves, [](const std::string& path) {
        const std::string first = path.substr(0, path.find('.'));
        return (path != first && (first == "host" || first == "machine" || first == "workload")) ||
               path == "schema_version" || path == "status" || path == "energy.outside_steps_j";
    });
    const std::vector<std::string>& paths = result_paths();
    CHECK(std::vector<std::string>(leaves.begin(), leaves.end()) == paths); // sorted, each once
    CHECK(paths.size() > 100);
    CHECK(std::count(paths.begin(), paths.end(), "cycles") == 1);
}

TEST_CASE("a path that runs and estimates have is described as that of runs", "[unit][sweep]") {
    const auto all = described_result_paths();
    const auto of = [&](const std::string& path) {
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const auto& one) { return one.first == path; });
        REQUIRE(found != all.end());
        return found->second;
    };
    const Json run = result::result_schema().at("oneOf").at(0).at("properties");
    const Json estimate = result::result_schema().at("oneOf").at(1).at("properties");
    REQUIRE(estimate.at("plan").at("description") != run.at("plan").at("description"));
    CHECK(of("plan.NAME") == run.at("plan").at("description"));
    REQUIRE(estimate.at("cycles").at("description") != run.at("cycles").at("description"));
    CHECK(of("cycles") == run.at("cycles").at("description"));
}

TEST_CASE("a path of a result is one of the schema, one with any name in it, or of a line",
          "[unit][sweep]") {
    for (const std::string& path : result_paths()) {
        CAPTURE(path);
        CHECK(is_result_path(path));
        CHECK_FALSE(is_result_path(path + "x") != path.ends_with(".NAME"));
        CHECK_FALSE(is_result_path("x" + path));
        if (path.ends_with(".NAME")) {
            const std::string before = path.substr(0, path.size() - 5);
            CHECK(is_result_path(before + ".anything"));
            CHECK_FALSE(is_result_path(before));
            CHECK_FALSE(is_result_path(before + "_anything"));
        }
    }
    for (const char* path :
         {"machine", "workload", "mode", "status", "host.wall_s", "host.peak_rss_bytes"}) {
        CAPTURE(path);
        CHECK(is_result_path(path));
    }
    for (const char* path : {"host", "host.plan_s", "machine.name", "workload.name",
                             "schema_version", "", "tile.workers"}) {
        CAPTURE(path);
        CHECK_FALSE(is_result_path(path));
    }
}

TEST_CASE("metrics name results, parameters and each other, and mean nothing else",
          "[unit][sweep]") {
    const auto metrics = [](const Json& all) { return mistakes({{"metrics", all}}); };
    CHECK(metrics({{"a", "cycles / chip.tiles"}, {"b", "a * energy.total_j * area.total_mm2"}})
              .empty());
    CHECK(metrics({{"a", "cycels * 2"}}) ==
          test::Lines{"/metrics/a: no result has 'cycels'; did you mean 'cycles'?"});
    CHECK(metrics({{"cycles", "seconds"}}) ==
          test::Lines{"/metrics/cycles: 'cycles' means something else already"});
    CHECK(metrics({{"tile.workers", "seconds"}}) ==
          test::Lines{"/metrics/tile.workers: 'tile.workers' means something else already"});
    CHECK(metrics({{"tiny", "seconds"}}) ==
          test::Lines{"/metrics/tiny: 'tiny' means something else already"});
    CHECK(metrics({{"a", "b + 1"}, {"b", "a + 1"}}) ==
          test::Lines{"/metrics/a: it follows from itself: a needs b needs a"});
    CHECK(metrics({{"a", "1 +"}}).size() == 1);
    CHECK(metrics({{"a b", "1"}}).size() == 1);
    CHECK(metrics({{"a", 3}}) ==
          test::Lines{"/metrics/a: got number 3, expected an expression in quotes"});
}

TEST_CASE("an objective is a result, a metric or a parameter", "[unit][sweep]") {
    const auto objective = [](const std::string& path) {
        return mistakes({{"metrics", {{"per_area", "1 / (seconds * area.total_mm2)"}}},
                         {"objectives", {{{"path", path}}}}});
    };
    for (const char* path : {"cycles", "per_area", "chip.tiles", "energy.total_j"}) {
        CAPTURE(path);
        CHECK(objective(path).empty());
    }
    CHECK(objective("per_aera") ==
          test::Lines{"/objectives/0/path: no result has 'per_aera'; did you mean 'per_area'?"});
}

TEST_CASE("parameters are those of machines, and those of workloads with their prefix",
          "[unit][sweep]") {
    CHECK(is_parameter("tile.workers"));
    CHECK(is_parameter("workload.n"));
    CHECK_FALSE(is_parameter("n"));
    CHECK_FALSE(is_parameter("workload.tile.workers"));
    CHECK_FALSE(is_parameter("cycles"));
    for (const std::string& path : result_paths()) { // a column means one thing
        CAPTURE(path);
        CHECK_FALSE(is_parameter(path));
    }
}

TEST_CASE("choices are the whole words of parameters that have some", "[unit][sweep]") {
    std::set<std::string> words{"ok", "timing", "functional", "estimate"};
    for (const config::Shape* shape : {&spec::machine_shape(), &catalog::workload_shape()}) {
        for (const config::Parameter& one : config::parameters(*shape)) {
            std::istringstream range(one.type == "text" ? one.range : "");
            for (std::string word; std::getline(range, word, '|');) {
                words.insert(word);
            }
        }
    }
    CHECK(words.contains("mesh"));
    CHECK(words.contains("f16"));
    for (const std::string& word : words) {
        CAPTURE(word);
        CHECK(is_choice(word));
        for (const std::string& other :
             {word + "x", word.substr(1), word.substr(0, word.size() - 1)}) {
            CHECK(is_choice(other) == words.contains(other));
        }
    }
    CHECK_FALSE(is_choice("mesh|ring"));
    CHECK_FALSE(is_choice("1..8")); // a range of numbers is no word
}

TEST_CASE("constraints name results, parameters, words and what the sweep runs; objectives results",
          "[unit][sweep]") {
    const auto constraint = [](const char* text) { return mistakes({{"constraints", {text}}}); };
    for (const char* good :
         {"cycles < 5", "tile.workers == 4", "workload.n == 4", "status == ok", "machine == tiny",
          "workload == w", "mode == timing", "exchange.fabric == mesh"}) {
        CAPTURE(good);
        CHECK(constraint(good).empty());
    }
    CHECK(constraint("cycle < 5") ==
          test::Lines{"/constraints/0: no result has 'cycle'; did you mean 'cycles'?"});
    CHECK(constraint("machine == bow") == test::Lines{"/constraints/0: no result has 'bow'"});
    CHECK(constraint("hos.wall_s < 5") ==
          test::Lines{"/constraints/0: no result has 'hos.wall_s'; did you mean 'host.wall_s'?"});
    CHECK(mistakes(
              {{"constraints", {"cycles < 5", "cycle < 5"}},
               {"objectives", {{{"path", "cycles"}}, {{"path", "wat"}}, {{"path", "cycle"}}}}}) ==
          test::Lines{"/constraints/1: no result has 'cycle'; did you mean 'cycles'?",
                      "/objectives/1/path: no result has 'wat'",
                      "/objectives/2/path: no result has 'cycle'; did you mean 'cycles'?"});
}

TEST_CASE("a constraint may take the work of a point, which is less where points are many",
          "[unit][sweep]") {
    // sums of so many terms take more than one step each and less than ten
    const auto sum = [](std::int64_t terms) {
        return Json{"sum(i, 1, " + std::to_string(terms) + ", i) > cycles"};
    };
    const auto fits = [&](std::int64_t terms, const Json& also) {
        Json text{{"constraints", sum(terms)}};
        text.update(also);
        const test::Lines lines = mistakes(text);
        if (!lines.empty()) {
            CHECK_THAT(lines.at(0), Catch::StartsWith("/constraints/0: 'sum(i, 1, "));
        }
        return lines.empty();
    };
    const auto most_terms = [&](const Json& also) {
        std::int64_t few = 1;
        std::int64_t many = 1'000'000;
        REQUIRE(fits(few, also));
        REQUIRE_FALSE(fits(many, also));
        while (many - few > 1) {
            const std::int64_t middle = (few + many) / 2;
            (fits(middle, also) ? few : many) = middle;
        }
        return few;
    };
    // the points of the axes and those of the sweep's own share the work of all
    const auto own = [](std::size_t points) {
        return Json{{"points", Json(points, {{"tile.workers", 2}})}};
    };
    constexpr std::size_t kOfAxes = 2;
    constexpr std::size_t kFew = 1000;
    const auto of = [](std::size_t points) {
        return work_of_point(static_cast<std::int64_t>(points)).most;
    };
    REQUIRE(of(kFew) == 2 * of(2 * kFew));
    const std::int64_t of_few = most_terms(own(kFew - kOfAxes));
    const std::int64_t of_many = most_terms(own(2 * kFew - kOfAxes));
    CHECK(std::abs(of_few - 2 * of_many) < 30); // the sum begins and ends, too
}
