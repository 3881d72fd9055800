// SPDX-License-Identifier: MIT
#include "sim/sweep/at_hand.h"
#include "sim/sweep/judge.h"
#include "sim/sweep/source.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;
using Json = nlohmann::json;

namespace {

std::string matmul(int n) {
    return R"({"schema_version": 1, "kind": "matmul", "m": 16, "k": 16, "n": )" +
           std::to_string(n) + "}";
}

/// Sweep files in a folder, run into a store there with results that are made up.
class Bench {
public:
    explicit Bench(const std::string& rest) : file_(write("s.json", sweep_of(rest))) {}

    std::string write(const std::string& name, const std::string& text) const {
        return folder_.write(name, text);
    }
    static std::string sweep_of(const std::string& rest) {
        return R"({"schema_version": 1, "machine": "tiny", )" + rest + "}";
    }

    using Cycles = std::function<double(const PlannedPoint& point)>;

    /// Writes a line for each point of `file`, those of which `cycles` is 0 excepted.
    void run(const std::string& file, const Cycles& cycles, bool with_contents = true) const {
        const Source source = read_source({file, {}, {}, {}}, paths_);
        PointKeys keys(1);
        Planner planner(source.sweep, source.document, paths_, keys);
        StoreWriter writer(folder_.path("store"));
        for (std::int64_t number = 0; number < planner.size(); ++number) {
            const PlannedPoint point = planner.at(number);
            REQUIRE(point.mistakes.empty());
            if (point.is_excluded || cycles(point) == 0) {
                continue;
            }
            Json changes = Json::object();
            for (const Change& change : point.changes) {
                changes[change.path] = change.value;
            }
            Json line{{"key", point.key.text()},
                      {"status", "ok"},
                      {"machine", point.machine},
                      {"workload", point.workload},
                      {"mode", source.sweep.mode},
                      {"changes", changes},
                      {"result", {{"cycles", cycles(point)}}}};
            if (with_contents) {
                line["contents"] = point.contents;
            }
            writer.append_line(line.dump());
        }
    }

    /// What the candidates of `file` come to, in their order; -1 where one is not whole.
    [[nodiscard]] std::vector<double> judged(const std::string& file) const {
        const Source source = read_source({file, {}, {}, {}}, paths_);
        PointKeys keys(1);
        Planner planner(source.sweep, source.document, paths_, keys);
        PointTable table(folder_.path("store"), {"cycles"});
        const auto candidates = candidates_of(planner, source.sweep, table);
        std::vector<Condition> none;
        std::vector<double> values;
        for (const Judged& one : judge(table, candidates, source.sweep.objectives, none)) {
            values.push_back(one.is_whole() ? one.values.front() : -1);
        }
        return values;
    }
    [[nodiscard]] std::vector<double> judged() const { return judged(file_); }
    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] PointTable table() const { return {folder_.path("store"), {"cycles"}}; }

private:
    test::ScratchFolder folder_;
    config::ConfigPaths paths_ = test::source_paths();
    std::string file_;
};

double n_of(const PlannedPoint& point) {
    return point.workload.find("big") != std::string::npos ? 100 : 1;
}

constexpr const char* kWeighted =
    R"("objectives": [{"path": "cycles", "over": "weighted_sum", "weights": [2, 3, 4]}])";

} // namespace

TEST_CASE("weights are of the workloads in the sweep's own order", "[unit][sweep]") {
    const Bench bench(
        R"("workload": ["./z_big.json", "./b.json", "./a.json"],
           "axes": [{"path": "tile.workers", "values": [4, 6]}], )" +
        std::string(kWeighted));
    for (const char* name : {"z_big.json", "a.json", "b.json"}) {
        static_cast<void>(
            bench.write(name, matmul(name[0] == 'z' ? 64 : 16 * (name[0] - 'a' + 1))));
    }
    // whatever the order in which the store has them
    bench.run(bench.file(), [](const PlannedPoint& point) {
        return point.workload == "./a.json" ? 1000.0 : 0.0;
    });
    bench.run(bench.file(), [](const PlannedPoint& point) {
        return point.workload == "./a.json" ? 0.0 : n_of(point);
    });
    CHECK(bench.judged() == std::vector<double>(2, 2 * 100 + 3 * 1 + 4 * 1000));
}

TEST_CASE("equal workloads of different names are lines of their own", "[unit][sweep]") {
    const Bench bench(R"("workload": ["./q1.json", "./q2.json", "./big.json"], )" +
                      std::string(kWeighted));
    for (const char* name : {"q1.json", "q2.json", "big.json"}) {
        static_cast<void>(bench.write(name, matmul(name[0] == 'b' ? 64 : 16)));
    }
    bench.run(bench.file(), n_of);
    CHECK(bench.table().rows() == 3);
    CHECK(bench.judged() == std::vector<double>{2 + 3 + 400});
}

TEST_CASE("other lines of a store are not judged, nor those of another content", "[unit][sweep]") {
    const Bench bench(R"("workload": "./w.json", "axes": [{"path": "tile.workers",
        "values": [4, 6]}], "objectives": [{"path": "cycles"}])");
    static_cast<void>(bench.write("w.json", matmul(16)));
    const auto cycles = [](double value) { return [value](const PlannedPoint&) { return value; }; };
    bench.run(bench.file(), cycles(7));
    static_cast<void>(bench.write("w.json", matmul(32))); // the same name
    CHECK(bench.judged().empty());
    bench.run(bench.file(), cycles(5));
    CHECK(bench.judged() == std::vector<double>{5, 5});
    const std::string other = bench.write(
        "other.json", Bench::sweep_of(R"("workload": "./w.json", "axes": [{"path": "tile.workers",
            "values": [2]}], "objectives": [{"path": "cycles"}])"));
    bench.run(other, cycles(3));
    CHECK(bench.judged() == std::vector<double>{5, 5});
    CHECK(bench.judged(other) == std::vector<double>{3});
    const PointTable table = bench.table();
    REQUIRE(table.rows() == 5);
    CHECK(table.text(table.at(0, PointTable::kWorkload)) !=
          table.text(table.at(2, PointTable::kWorkload)));
    CHECK(table.at(2, PointTable::kWorkload) == table.at(4, PointTable::kWorkload));
}

TEST_CASE("settings that one workload alone has do not part candidates", "[unit][sweep]") {
    const Bench bench(R"("workload": ["tiny_matmul", "tiny_spmm_b1"],
        "axes": [{"path": "workload.block", "values": [1, 16]}],
        "objectives": [{"path": "cycles", "over": "worst"}])");
    bench.run(bench.file(), [](const PlannedPoint& point) {
        return point.workload == "tiny_matmul" ? 5.0 : point.changes[0].value == 1 ? 4.0 : 6.0;
    });
    CHECK(bench.table().rows() == 3); // the matmul comes twice, with one name
    CHECK(bench.judged() == std::vector<double>{5, 6});
    // and yet they are told as what they change
    const Source source = read_source({bench.file(), {}, {}, {}}, test::source_paths());
    PointKeys keys(1);
    const auto paths = test::source_paths();
    Planner planner(source.sweep, source.document, paths, keys);
    PointTable table = bench.table();
    const auto candidates = candidates_of(planner, source.sweep, table);
    std::vector<Condition> none;
    const auto judged = judge(table, candidates, source.sweep.objectives, none);
    REQUIRE(judged.size() == 2);
    const std::size_t block = table.column("workload.block").value();
    CHECK(judged[0].setting(table, block).number == 1);
    CHECK(judged[1].setting(table, block).number == 16);
    const auto effects = effects_of(table, judged, source.sweep.objectives, {});
    REQUIRE(effects.size() == 1);
    CHECK(effects.front().levels.size() == 2);
}

TEST_CASE("a candidate without one of its lines is not whole", "[unit][sweep]") {
    const Bench bench(R"("workload": ["tiny_matmul", "tiny_spmm_b1"],
        "axes": [{"path": "tile.workers", "values": [4, 6, 2]}],
        "exclude": ["tile.workers == 2 && workload.kind == spmm"],
        "objectives": [{"path": "cycles", "over": "worst"}])");
    bench.run(bench.file(), [](const PlannedPoint& point) {
        return point.workload == "tiny_matmul" || point.changes[0].value != 6 ? 9.0 : 0.0;
    });
    CHECK(bench.judged() == std::vector<double>{9, -1, -1});
}

TEST_CASE("points of a sweep's own are judged by the workloads that they name", "[unit][sweep]") {
    const Bench bench(R"("workload": "tiny_matmul",
        "points": [{"tile.workers": 4}, {"tile.workers": 4, "workload": "tiny_spmm_b1"},
                   {"tile.workers": 6, "workload": "tiny_spmm_b1"}, {"tile.workers": 6}],
        "objectives": [{"path": "cycles", "over": "weighted_sum", "weights": [10]}])");
    bench.run(bench.file(), [](const PlannedPoint& point) {
        return (point.workload == "tiny_matmul" ? 2.0 : 3.0) * point.changes[0].value.get<double>();
    });
    CHECK(bench.judged() == std::vector<double>{4 * 23, 6 * 23});
}

TEST_CASE("a candidate that comes again is judged once", "[unit][sweep]") {
    const Bench bench(R"("workload": ["tiny_matmul", "tiny_spmm_b1"],
        "axes": [{"path": "tile.workers", "values": [4, 6, 4, 2]}],
        "points": [{"tile.workers": 2, "workload.n": 8, "workload": "tiny_matmul"},
                   {"workload.n": 8, "tile.workers": 2, "workload": "tiny_spmm_b1"}],
        "objectives": [{"path": "cycles", "over": "worst"}])");
    bench.run(bench.file(), [](const PlannedPoint& point) {
        const bool is_own = point.changes.size() > 1;
        return (point.workload == "tiny_matmul" ? 10 : 20) +
               (is_own ? 5 : point.changes[0].value.get<double>());
    });
    // the two points of its own are one candidate, in whatever order they have their settings
    CHECK(bench.judged() == std::vector<double>{24, 26, 22, 25});
    // those of which the store has only a part are no known ones
    CHECK(bench.table().rows() == 8);
}

TEST_CASE("workloads that points alone name come behind those of the sweep, as they come",
          "[unit][sweep]") {
    const Bench bench(R"("workload": ["./b.json", "./c.json"],
        "points": [{"workload": "./z.json"}, {"workload": "./a.json"}, {"workload": "./c.json"},
                   {"workload": "./b.json"}],
        "objectives": [{"path": "cycles"}])");
    for (const char name : {'a', 'b', 'c', 'z'}) {
        static_cast<void>(bench.write(std::string{name} + ".json", matmul(16 * (name - 'a' + 1))));
    }
    bench.run(bench.file(), [](const PlannedPoint& point) { return point.workload[2]; });
    const auto paths = test::source_paths();
    const Source source = read_source({bench.file(), {}, {}, {}}, paths);
    PointKeys keys(1);
    Planner planner(source.sweep, source.document, paths, keys);
    const PointTable table = bench.table();
    const auto order_of = [&](const std::vector<Candidate>& candidates) {
        REQUIRE(candidates.size() == 1);
        std::string names;
        for (const Candidate::Line& line : candidates.front().lines) {
            names += table.text(table.at(line.row.value(), PointTable::kWorkload));
        }
        return names;
    };
    CHECK(order_of(candidates_of(planner, source.sweep, table)) == "bcza");
    // the same without the sweep: those that are named, then as they are found
    std::vector<std::size_t> rows(table.rows());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    CHECK(order_of(candidates_in(table, rows, {"./c.json"})) == "czab");
    CHECK(order_of(candidates_in(table, rows, {})) == "zacb");
}

TEST_CASE("a store of an older version is judged where names tell workloads apart",
          "[unit][sweep]") {
    const auto values = [](const Bench& bench) {
        const Source source = read_source({bench.file(), {}, {}, {}}, test::source_paths());
        PointTable table = bench.table();
        CHECK_FALSE(table.has_contents(0));
        std::vector<std::size_t> rows{2, 0, 1, 3};
        const auto candidates = candidates_of_older(source.sweep, table, rows);
        std::vector<Condition> none;
        std::vector<double> found;
        for (const Judged& one : judge(table, candidates, source.sweep.objectives, none)) {
            found.push_back(one.is_whole() ? one.values.front() : -1);
        }
        return found;
    };
    const std::string objectives =
        R"("axes": [{"path": "tile.workers", "values": [4, 6]}],
           "objectives": [{"path": "cycles", "over": "weighted_sum", "weights": [10, 1]}])";
    const Bench good(R"("workload": ["./big.json", "./a.json"], )" + objectives);
    const Bench unclear(R"("workload": ["./x/a.json", "./a.json"], )" + objectives);
    for (const Bench* bench : {&good, &unclear}) {
        static_cast<void>(bench->write("big.json", matmul(64)));
        static_cast<void>(bench->write("a.json", matmul(16)));
        static_cast<void>(bench->write("x/a.json", matmul(32)));
        bench->run(bench->file(), n_of, false);
    }
    CHECK(values(good) == std::vector<double>{1001, 1001});
    CHECK_THROWS_WITH(values(unclear), Catch::Contains("called 'a'"));
}

TEST_CASE("a filter leaves out what it does not name of all candidates", "[unit][sweep]") {
    const std::vector<Candidate> all{
        {{{0, 0, 7, false}, {1, 1, 8, false}}},
        {{{0, 2, 9, false}, {1, 3, std::nullopt, false}}},
    };
    const auto lines = [&](const std::vector<std::size_t>& rows) {
        std::vector<std::vector<std::optional<std::size_t>>> found;
        for (const Candidate& one : among(all, rows)) {
            found.emplace_back();
            for (const Candidate::Line& line : one.lines) {
                found.back().push_back(line.row);
            }
        }
        return found;
    };
    using Rows = std::vector<std::vector<std::optional<std::size_t>>>;
    CHECK(lines({7, 8, 9}) == Rows{{7, 8}, {9, std::nullopt}});
    CHECK(lines({7, 9}) == Rows{{7}, {9}});
    CHECK(lines({8}) == Rows{{8}, {std::nullopt}});
    CHECK(lines({7, 8}) == Rows{{7, 8}, {std::nullopt, std::nullopt}});
    CHECK(lines({}) == Rows{{}, {}});
}
