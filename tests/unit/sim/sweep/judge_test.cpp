// SPDX-License-Identifier: MIT
#include "sim/sweep/judge.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;
using Json = nlohmann::json;

namespace {

struct Point {
    std::string workload;
    Json changes;
    Json result;
    std::string status = "ok";
};

/// A store of such points.
class Store {
public:
    explicit Store(const std::vector<Point>& points) {
        StoreWriter writer(folder_.path("s"));
        for (std::size_t i = 0; i < points.size(); ++i) {
            Json line{{"key", sha256(std::to_string(i)).text()},
                      {"status", points[i].status},
                      {"machine", "configs/machines/bow.json"},
                      {"workload", points[i].workload},
                      {"mode", "timing"},
                      {"changes", points[i].changes}};
            if (points[i].status == "ok") {
                line["result"] = points[i].result;
            }
            writer.append(line);
        }
    }
    [[nodiscard]] PointTable table(const std::vector<std::string>& paths) const {
        return {folder_.path("s"), paths};
    }

private:
    test::ScratchFolder folder_;
};

std::vector<std::size_t> all_rows(const PointTable& table) {
    std::vector<std::size_t> rows(table.rows());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    return rows;
}

std::vector<Condition> no_constraints;

Objective objective(const std::string& path, bool largest = false,
                    Objective::Over over = Objective::Over::GeometricMean,
                    std::vector<double> weights = {}) {
    return {path, largest, over, std::move(weights)};
}

} // namespace

TEST_CASE("a table has what was asked for and what points change", "[unit][sweep]") {
    const Store store({{"a", {{"tile.workers", 4}}, {{"cycles", 10}, {"plan", {{"paired", "b"}}}}},
                       {"b", {{"exchange.fabric", "mesh"}}, {{"cycles", 2.5}}},
                       {"b", {{"tile.workers", 6}}, {}, "does_not_fit"}});
    PointTable table = store.table({"cycles", "plan.paired", "no.such"});
    REQUIRE(table.rows() == 3);
    CHECK(table.changed() == std::vector<std::string>{"exchange.fabric", "tile.workers"});
    const auto text = [&](std::size_t row, const std::string& path) {
        return table.text(table.at(row, table.column(path).value()));
    };
    CHECK(text(0, "machine") == "bow");
    CHECK(text(0, "cycles") == "10");
    CHECK(text(1, "cycles") == "2.5");
    CHECK(text(2, "cycles").empty());
    CHECK(text(0, "plan.paired") == "b");
    CHECK(text(1, "exchange.fabric") == "mesh");
    CHECK(text(0, "exchange.fabric").empty());
    CHECK(text(0, "no.such").empty());
    CHECK(table.is_ok(1));
    CHECK_FALSE(table.is_ok(2));
    CHECK(table.column("workload.n") == std::nullopt);

    CHECK(Condition("tile.workers == 4").holds(table, 0));
    CHECK_FALSE(Condition("tile.workers < 9").holds(table, 1)); // it has none
    CHECK(Condition("exchange.fabric == mesh").holds(table, 1));
    CHECK_FALSE(Condition("exchange.fabric == ring").holds(table, 1));
    CHECK(Condition("workload == a || workload == b && cycles < 3").holds(table, 1));
    CHECK(Condition("status == does_not_fit").holds(table, 2));
    CHECK_THROWS_AS(Condition("cycles <"), expression::Error);
}

TEST_CASE("points that differ in their workload alone are judged together", "[unit][sweep]") {
    const auto point = [](const std::string& workload, int workers, double cycles) {
        return Point{workload, {{"tile.workers", workers}}, {{"cycles", cycles}}};
    };
    const Store store({point("a", 4, 2), point("b", 4, 8), point("a", 6, 3), point("b", 6, 3),
                       point("a", 8, 1)}); // 8 has not run b
    PointTable table = store.table({"cycles"});
    const auto candidates = candidates_in(table, all_rows(table));
    const auto values = [&](const Objective& one) {
        std::vector<double> found;
        for (const Judged& judged : judge(table, candidates, {one}, no_constraints)) {
            found.push_back(judged.is_whole() ? judged.values.front() : -1);
        }
        return found;
    };
    using Over = Objective::Over;
    const auto mean = values(objective("cycles"));
    REQUIRE(mean.size() == 3);
    CHECK(mean[0] == Approx(std::sqrt(2.0 * 8)));
    CHECK(mean[1] == Approx(3));
    CHECK(mean[2] == -1);
    CHECK(values(objective("cycles", false, Over::Worst)) == std::vector<double>{8, 3, -1});
    CHECK(values(objective("cycles", true, Over::Worst)) == std::vector<double>{2, 3, -1});
    CHECK(values(objective("cycles", false, Over::WeightedSum, {10, 1})) ==
          std::vector<double>{28, 33, -1});
    std::vector<Condition> below_8{Condition("cycles < 8")};
    const auto kept = judge(table, candidates, {objective("cycles")}, below_8);
    CHECK_FALSE(kept[0].keeps_constraints());
    CHECK(kept[1].keeps_constraints());
}

TEST_CASE("nothing on the front is beaten, and all else is", "[unit][sweep]") {
    // the front is known by trying all
    const std::vector<Objective> objectives{objective("x"), objective("y", true)};
    std::vector<Judged> judged;
    std::uint32_t bits = 7;
    const auto chance = [&](std::uint32_t below) {
        bits = bits * 1664525U + 1013904223U;
        return static_cast<double>((bits >> 16U) % below);
    };
    for (int i = 0; i < 300; ++i) {
        Judged one;
        one.rows = {static_cast<std::size_t>(i)};
        one.values = {chance(1000), chance(1000)};
        one.broken = i % 7 != 0 ? "" : "x < 1";
        if (i % 11 == 0) {
            one.values.clear();
        }
        judged.push_back(one);
    }
    const auto beats = [&](const Judged& one, const Judged& other) {
        const bool no_worse = one.values[0] <= other.values[0] && one.values[1] >= other.values[1];
        return no_worse && one.values != other.values;
    };
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        const auto counts = [](const Judged& one) {
            return one.is_whole() && one.keeps_constraints();
        };
        if (counts(judged[i]) && std::none_of(judged.begin(), judged.end(), [&](const auto& other) {
                return counts(other) && beats(other, judged[i]);
            })) {
            expected.push_back(i);
        }
    }
    auto front = front_of(judged, objectives);
    std::sort(front.begin(), front.end());
    CHECK(front == expected);
    CHECK(front.size() > 2);
}

TEST_CASE("effects of a power law are its exponents", "[unit][sweep]") {
    std::vector<Point> grid;
    std::vector<Point> one_at_a_time{{"a", Json::object(), {{"cycles", 1000.0}}}};
    for (const double x : {1.0, 2.0, 4.0}) {
        for (const double y : {1.0, 3.0}) {
            for (const int seed : {1, 2}) {
                grid.push_back({"a",
                                {{"x", x}, {"y", y}, {"workload.tensors.g.pattern.seed", seed}},
                                {{"cycles", 1000 * std::pow(x, -0.5) * std::pow(y, 2) *
                                                (seed == 1 ? 1 : 1.1)}}});
            }
        }
        if (x > 1) {
            one_at_a_time.push_back({"a", {{"x", x}}, {{"cycles", 1000 * std::pow(x, -0.5)}}});
        }
    }
    one_at_a_time.push_back({"a", {{"y", 3}}, {{"cycles", 9000.0}}});
    const std::vector<Objective> objectives{objective("cycles")};
    for (const auto* points : {&grid, &one_at_a_time}) {
        PointTable table = Store(*points).table({"cycles"});
        const auto candidates = candidates_in(table, all_rows(table));
        const auto judged = judge(table, candidates, objectives, no_constraints);
        const auto effects = effects_of(table, judged, objectives, {{"x", 1.0}, {"y", 1.0}});
        REQUIRE(effects.size() == 2);
        CHECK(effects[0].path == "y"); // the largest first
        CHECK(effects[0].largest_over_smallest == Approx(9));
        CHECK(effects[0].elasticity.value() == Approx(2));
        CHECK(effects[1].path == "x");
        CHECK(effects[1].elasticity.value() == Approx(-0.5));
        CHECK(effects[1].levels.size() == 3);
        CHECK(effects[1].levels.front().value == "1");
        const auto spread = spread_of(table, judged, objectives);
        CHECK(spread.size() == (points == &grid ? 1 : 0));
        if (points == &grid) {
            CHECK(spread.front().groups == 6);
            CHECK(spread.front().paths == "workload.tensors.g.pattern.seed");
            CHECK(spread.front().largest_over_smallest == Approx(1.1));
        }
    }
}
