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
    Json also = Json::object(); ///< what else its line says
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
            line.update(points[i].also);
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
    const std::uint32_t below = GENERATE(1000U, 40U); // of few values many are equal
    for (int i = 0; i < 300; ++i) {
        Judged one;
        one.rows = {static_cast<std::size_t>(i)};
        one.values = {chance(below), chance(below)};
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
    CHECK(front.size() > 1);
}

TEST_CASE("points that are equal are all on the front, in their order", "[unit][sweep]") {
    const std::vector<Objective> objectives{objective("x"), objective("y", true)};
    std::vector<Judged> judged(5);
    for (const std::size_t equal : {1U, 2U, 4U}) {
        judged[equal].values = {3, 7};
    }
    judged[0].values = {3, 6};
    judged[3].values = {4, 7};
    CHECK(front_of(judged, objectives) == std::vector<std::size_t>{1, 2, 4});
    for (const Objective& one : objectives) {
        CHECK_FALSE(is_better(one, 5, 5));
        CHECK(is_better(one, 5, 6) != one.largest);
        CHECK(is_better(one, 6, 5) == one.largest);
    }
}

TEST_CASE("why a point is not compared is said of the row that shows it", "[unit][sweep]") {
    const auto point = [](int workers, const std::string& workload, const Json& result) {
        return Point{workload, {{"tile.workers", workers}}, result};
    };
    const auto cycles = [](double value) { return Json{{"cycles", value}, {"empty_matrices", 0}}; };
    std::vector<Point> points;
    for (int workers = 1; workers <= 8; ++workers) {
        points.push_back(point(workers, "a", cycles(workers == 7 ? 200 : workers)));
    }
    points.push_back(point(1, "b", {}));
    points.back().status = "does_not_fit";
    points.back().also = {{"message", "tile 3: too much"}};
    points.push_back(point(2, "b", {{"cycles", 9}, {"empty_matrices", 1}}));
    points.back().also = {{"note", "only zeros"}};
    points.push_back(point(3, "b", {{"watts", 9}}));
    points.push_back(point(4, "b", cycles(0)));
    for (const int workers : {5, 7, 8}) {
        points.push_back(point(workers, "b", cycles(workers)));
    }
    PointTable table = Store(points).table({"cycles", "empty_matrices", "message", "note"});
    const auto candidates = candidates_in(table, all_rows(table));
    std::vector<Condition> constraints{Condition("cycles < 200"), Condition("cycles < 1000")};
    const auto judged = judge(table, candidates, {objective("cycles")}, constraints);
    REQUIRE(judged.size() == 8);
    const std::vector<std::string> why{
        "does_not_fit",
        "has computed no product",
        "has no cycles",
        "has no geometric mean of cycles, which is not above 0 everywhere",
        "",
        "has run 1 of 2 workloads",
        "",
        ""};
    for (std::size_t i = 0; i < judged.size(); ++i) {
        CAPTURE(i);
        CHECK(judged[i].candidate == &candidates[i]);
        CHECK(judged[i].why_not_whole == why[i]);
        CHECK(judged[i].is_whole() == why[i].empty());
        // a constraint on what a row has not does not hold either
        CHECK(judged[i].broken == (i == 0 || i == 2 || i == 6 ? "cycles < 200" : ""));
        CHECK(is_comparable(table, i)); // the rows of workload a
    }
    CHECK_FALSE(is_comparable(table, 8));
    CHECK_FALSE(is_comparable(table, 9));
    CHECK(judged[0].row_not_whole == 8);
    CHECK(judged[1].row_not_whole == 9);
    CHECK(judged[2].row_not_whole == 10);
    CHECK(judged[3].row_not_whole == 3);
    CHECK(judged[5].row_not_whole == 5);
    const std::vector<std::string> reasons{
        "1 does_not_fit, as bow b tile.workers=1: tile 3: too much",
        "1 has computed no product, as bow b tile.workers=2: only zeros",
        "1 has no cycles, as bow b tile.workers=3",
        "1 has no geometric mean of cycles, which is not above 0 everywhere, as bow a "
        "tile.workers=4",
        "1 has run 1 of 2 workloads, as bow a tile.workers=6"};
    CHECK(left_out(table, judged, false).lines(9) == reasons);
    auto with_constraints = reasons;
    with_constraints.insert(with_constraints.begin(),
                            "1 breaks 'cycles < 200', as bow a tile.workers=7");
    CHECK(left_out(table, judged, true).lines(9) == with_constraints);
    CHECK(front_of(judged, {objective("cycles")}) == std::vector<std::size_t>{4});
}

TEST_CASE("a geometric mean is there for numbers above 0, however small", "[unit][sweep]") {
    for (const double small : {-1.0, 0.0, 0.5}) {
        PointTable table = Store({{"a", Json::object(), {{"share", small}}},
                                  {"b", Json::object(), {{"share", 2}}}})
                               .table({"share"});
        const auto candidates = candidates_in(table, all_rows(table));
        const auto judged = judge(table, candidates, {objective("share")}, no_constraints);
        REQUIRE(judged.size() == 1);
        CHECK(judged.front().is_whole() == (small > 0));
        if (small > 0) {
            CHECK(judged.front().values.front() == Approx(std::sqrt(2 * small)));
        }
    }
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

TEST_CASE("the levels of a path are those of its points, in the order of their values",
          "[unit][sweep]") {
    const std::map<std::string, double> fabrics{{"mesh", 0.3}, {"ring", 0.2}};
    const std::map<int, double> sizes{{0, 5}, {9, 4}, {10, 1}};
    std::vector<Point> grid;
    for (const auto& [size, by_size] : sizes) {
        for (const auto& [fabric, by_fabric] : fabrics) {
            const Json changes{
                {"also", fabric == "mesh" ? 8 : 2}, {"fabric", fabric}, {"size", size}, {"z", 7}};
            grid.push_back({"a", changes, {{"share", by_fabric * by_size}}});
        }
    }
    grid.push_back(
        {"a", {{"fabric", "none"}, {"size", 11}, {"also", 1}, {"z", 7}}, {{"share", 0}}});
    PointTable table = Store(grid).table({"share"});
    const auto candidates = candidates_in(table, all_rows(table));
    const std::vector<Objective> objectives{objective("share", false, Objective::Over::Worst)};
    const auto judged = judge(table, candidates, objectives, no_constraints);
    const auto effects = effects_of(table, judged, objectives, {});
    REQUIRE(effects.size() == 3); // not z, which is the same everywhere
    CHECK(effects[0].path == "size");
    CHECK(effects[0].largest_over_smallest == Approx(5.0 / 1));
    CHECK_FALSE(effects[0].elasticity); // of 0 there is no logarithm
    REQUIRE(effects[0].levels.size() == sizes.size());
    for (std::size_t i = 0; const auto& [size, by_size] : sizes) {
        const Effect::Level& level = effects[0].levels[i++];
        CHECK(level.value == std::to_string(size));
        CHECK(level.mean == Approx(std::sqrt(0.3 * 0.2) * by_size));
        CHECK(level.points == 2);
    }
    // equal effects keep the order of their paths
    for (const std::size_t i : {1U, 2U}) {
        CHECK(effects[i].path == (i == 1 ? "also" : "fabric"));
        CHECK(effects[i].largest_over_smallest == Approx(0.3 / 0.2));
        REQUIRE(effects[i].levels.size() == 2);
        CHECK(effects[i].levels[0].points == sizes.size());
    }
    CHECK(effects[1].elasticity.value() == Approx(std::log(1.5) / std::log(4.0)));
    CHECK_FALSE(effects[2].elasticity);
}

TEST_CASE("a path that has one value with a result has no effect", "[unit][sweep]") {
    PointTable table = Store({{"a", {{"x", 1}}, {{"share", 3}}}, {"a", {{"x", 2}}, {{"share", 0}}}})
                           .table({"share"});
    const auto candidates = candidates_in(table, all_rows(table));
    const std::vector<Objective> objectives{objective("share", false, Objective::Over::Worst)};
    const auto judged = judge(table, candidates, objectives, no_constraints);
    CHECK(effects_of(table, judged, objectives, {}).empty());
}

TEST_CASE("without a point that changes nothing all points count for all paths", "[unit][sweep]") {
    std::vector<Point> points;
    for (const int x : {1, 2}) {
        points.push_back({"a", {{"x", x}}, {{"cycles", x}}});
        points.push_back({"a", {{"x", x}, {"y", 4}}, {{"cycles", 10 * x}}});
    }
    PointTable table = Store(points).table({"cycles"});
    const auto candidates = candidates_in(table, all_rows(table));
    const std::vector<Objective> objectives{objective("cycles")};
    const auto judged = judge(table, candidates, objectives, no_constraints);
    const auto effects = effects_of(table, judged, objectives, {});
    REQUIRE(effects.size() == 2);
    CHECK(effects[0].path == "y");
    CHECK(effects[0].largest_over_smallest == Approx(10));
    CHECK_FALSE(effects[0].elasticity); // "as it is" is no number
    REQUIRE(effects[0].levels.size() == 2);
    CHECK(effects[0].levels[0].value + " " + effects[0].levels[1].value == "4 as it is");
    CHECK(effects[1].levels[0].points == 2);
    CHECK(effects[1].elasticity.value() == Approx(1));
}

TEST_CASE("seeds part points only where there are several of them", "[unit][sweep]") {
    const auto point = [](int x, int seed, double share) {
        return Point{"a", {{"x", x}, {"workload.seed", seed}, {"seed", seed}}, {{"share", share}}};
    };
    const std::vector<Objective> objectives{objective("share", false, Objective::Over::Worst)};
    const auto spread = [&](const std::vector<Point>& points) {
        PointTable table = Store(points).table({"share"});
        const auto candidates = candidates_in(table, all_rows(table));
        return spread_of(table, judge(table, candidates, objectives, no_constraints), objectives);
    };
    // the least is neither the first nor the last; a group of one and one with 0 do not count
    const auto found = spread({point(1, 1, 0.6), point(1, 2, 0.2), point(1, 3, 0.4), point(2, 1, 9),
                               point(2, 2, 36), point(3, 1, 5), point(4, 1, 0), point(4, 2, 7)});
    REQUIRE(found.size() == 1);
    CHECK(found.front().paths == "seed, workload.seed");
    CHECK(found.front().groups == 2);
    CHECK(found.front().largest_over_smallest == Approx(std::sqrt(0.6 / 0.2 * 36 / 9)));
    CHECK(spread({point(1, 1, 5), point(2, 1, 6)}).empty());
    CHECK(spread({{"a", {{"x", 1}}, {{"share", 5}}}, {"a", {{"x", 1}}, {{"share", 6}}}}).empty());
}
