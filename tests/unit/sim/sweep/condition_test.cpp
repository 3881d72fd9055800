// SPDX-License-Identifier: MIT
#include "base/config/document.h"
#include "sim/sweep/condition.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;
using Json = nlohmann::json;

namespace {

/// A table of as many points, of 0, 1, 2, ... cycles.
PointTable table_of(std::size_t points) {
    const test::ScratchFolder folder;
    StoreWriter writer(folder.path("s"));
    for (std::size_t i = 0; i < points; ++i) {
        writer.append_line(Json{
            {"key", sha256(std::to_string(i)).text()},
            {"status", "ok"},
            {"machine", "bow"},
            {"workload", "a"},
            {"mode", "timing"},
            {"changes", Json::object()},
            {"result",
             {{"cycles", i}}}}.dump());
    }
    return {folder.path("s"), {"cycles"}};
}

std::vector<bool> kept(Condition& condition, PointTable& table) {
    std::vector<bool> rows;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        rows.push_back(condition.holds(table, row));
    }
    return rows;
}

/// Steps of one evaluation: a character each, the end, and what a term of the sum takes.
std::string sum_of(std::int64_t terms) {
    return "sum(k,0," + std::to_string(terms) + ",k)+1";
}

} // namespace

TEST_CASE("a condition without a value does not hold, and says where it was written",
          "[unit][sweep]") {
    PointTable table = table_of(4);
    const auto document = config::parse_document(
        R"({"schema_version": 1, "workload": "a",
 "constraints": ["cycles < 3", "12 / (cycles % 2) > 1"]})",
        "f.json");
    std::vector<Condition> constraints = constraints_of(read_sweep(document), document);
    REQUIRE(constraints.size() == 2);
    CHECK(kept(constraints[0], table) == std::vector<bool>{true, true, true, false});
    CHECK(constraints[0].failure().empty());
    CHECK(kept(constraints[1], table) == std::vector<bool>{false, true, false, true});
    CHECK(constraints[1].failure() ==
          "f.json:2:32: /constraints/1: '12 / (cycles % 2) > 1', character 4: division by zero; so "
          "it does not hold for 2 points");
    CHECK(all_hold(constraints, table, 1));
    CHECK_FALSE(all_hold(constraints, table, 3));
}

TEST_CASE("a formula that is not finite has no value, and says so once with the number of points",
          "[unit][sweep]") {
    PointTable table = table_of(3);
    PointFormula formula("cycles * 1e200 * 1e200", {"f.json", 1, 2, "/metrics/x", "", ""});
    CHECK(formula.value(table, 0) == 0);
    CHECK(formula.failure("so it has no value for").empty());
    CHECK_FALSE(formula.value(table, 1));
    CHECK_FALSE(formula.value(table, 2));
    CHECK(formula.failure("so it has no value for") ==
          "f.json:1:2: /metrics/x: 'cycles * 1e200 * 1e200': it is not finite; so it has no value "
          "for 2 points");
}

TEST_CASE("a condition has a limit of work at each point, and less of it at each of many",
          "[unit][sweep]") {
    CHECK(work_of_point(0).most == kMostStepsOfPoints);
    CHECK(work_of_point(1).most == kMostStepsOfPoints);
    CHECK(work_of_point(4).most == kMostStepsOfPoints / 4);
    CHECK(work_of_point(4000).most == 10'000);
    CHECK(work_of_point(4001).most == 10'000);
    CHECK(work_of_point(10'000'000).most == 10'000);

    // a term takes two steps: what it is, and to go on
    constexpr std::size_t kPoints = 4000;
    PointTable many = table_of(kPoints);
    const std::int64_t most = work_of_point(kPoints).most;
    const auto length = static_cast<std::int64_t>(sum_of(1000).size()) + 1;
    Condition last(sum_of((most - length) / 2));
    CHECK(last.holds(many, 0));
    CHECK(last.failure().empty());
    Condition first(sum_of((most - length) / 2 + 1));
    CHECK_FALSE(first.holds(many, 0));
    CHECK(first.failure().find("the expressions of a point may take 10000 steps in all") !=
          std::string::npos);
    PointTable one = table_of(1);
    CHECK(first.holds(one, 0));
}
