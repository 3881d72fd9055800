// SPDX-License-Identifier: MIT
#include "sim/sweep/command/standing.h"
#include "sim/sweep/source.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;
using Json = nlohmann::json;

namespace {

/// A sweep of `candidates` on two workloads, and a store with results that are made up.
class Screened {
public:
    /// Cycles and busy tiles of each candidate, in their order; 0 cycles: no result.
    Screened(const std::vector<int>& cycles, const std::vector<int>& busy) {
        const std::string file = folder_.write("s.json", R"({"schema_version": 1,
            "machine": "tiny", "workload": ["tiny_matmul", "tiny_spmm_b1"],
            "axes": [{"path": "sync.internal_cycles", "range": [1, )" +
                                                             std::to_string(cycles.size()) +
                                                             R"(, 1]}],
            "objectives": [{"path": "cycles", "over": "worst"},
                           {"path": "tiles_busy", "goal": "max", "over": "worst"}],
            "constraints": ["tiles_busy < 1000"]})");
        source_ = read_source({file, {}, {}, {}}, paths_);
        planner_.emplace(source_->sweep, source_->document, paths_, keys_);
        StoreWriter writer(folder_.path("store"));
        for (std::int64_t number = 0; number < planner_->size(); ++number) {
            const PlannedPoint point = planner_->at(number);
            const auto at = static_cast<std::size_t>(*planner_->sample_of(number));
            Json changes = Json::object();
            for (const Change& change : point.changes) {
                changes[change.path] = change.value;
            }
            Json line{{"key", point.key.text()},
                      {"status", "ok"},
                      {"machine", point.machine},
                      {"workload", point.workload},
                      {"mode", "timing"},
                      {"changes", changes},
                      {"contents", point.contents},
                      {"result", {{"cycles", cycles[at]}, {"tiles_busy", busy[at]}}}};
            if (cycles[at] == 0) {
                line["status"] = "crash";
            }
            writer.append_line(line.dump());
        }
    }

    /// The candidates that are kept.
    std::vector<std::size_t> kept(double percent) {
        std::vector<Condition> constraints = constraints_of(source_->sweep, source_->document);
        std::vector<MetricColumn> metrics = metrics_of(source_->sweep, source_->document);
        const BestPoints best = best_points(folder_.path("store"), source_->sweep, constraints,
                                            metrics, *planner_, paths_, percent);
        CHECK(std::is_sorted(best.numbers.begin(), best.numbers.end()));
        std::vector<std::size_t> samples;
        for (const std::int64_t number : best.numbers) {
            samples.push_back(static_cast<std::size_t>(*planner_->sample_of(number)));
        }
        std::vector<std::size_t> candidates = samples;
        candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
        CHECK(2 * candidates.size() == samples.size()); // each with both workloads
        left_out = best.left_out.count();
        return candidates;
    }

    std::size_t left_out = 0;

private:
    test::ScratchFolder folder_;
    config::ConfigPaths paths_ = test::source_paths();
    PointKeys keys_{1};
    std::optional<Source> source_;
    std::optional<Planner> planner_;
};

} // namespace

TEST_CASE("a screen keeps the candidates of the least sum of ranks, rounded up", "[unit][sweep]") {
    const std::vector<int> cycles{50, 10, 20, 0, 30, 60, 40, 1};
    const std::vector<int> busy{6, 1, 5, 9, 7, 8, 2, 1000};
    // 0 ends in a crash and 1000 breaks the constraint; all numbers differ, so that ranks do
    const auto rank_sum = [&](std::size_t one) {
        std::size_t sum = 0;
        for (std::size_t other = 0; other < cycles.size(); ++other) {
            const bool counts = cycles[other] != 0 && busy[other] < 1000;
            sum += counts && cycles[other] < cycles[one] ? 1 : 0;
            sum += counts && busy[other] > busy[one] ? 1 : 0;
        }
        return sum;
    };
    std::vector<std::size_t> order{0, 1, 2, 4, 5, 6};
    std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
        // of equals the better one in the last objective
        return std::pair(rank_sum(one), -busy[one]) < std::pair(rank_sum(other), -busy[other]);
    });
    Screened screened(cycles, busy);
    for (const double percent : {1.0, 12.5, 13.0, 25.0, 26.0, 50.0, 75.0, 99.0, 100.0}) {
        CAPTURE(percent);
        const auto most =
            static_cast<std::size_t>(std::ceil(static_cast<double>(cycles.size()) * percent / 100));
        std::vector<std::size_t> expected(
            order.begin(),
            order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size())));
        std::sort(expected.begin(), expected.end());
        CHECK(screened.kept(percent) == expected);
        CHECK(screened.left_out == 2);
    }
}

TEST_CASE("a sweep that says nothing of what is good is about cycles", "[unit][sweep]") {
    const auto objectives = objectives_of({});
    REQUIRE(objectives.size() == 1);
    CHECK(objectives.front().path == "cycles");
    CHECK_FALSE(objectives.front().largest);
    SweepSpec own;
    own.objectives = {{"tiles_busy", true, {}, {}}};
    REQUIRE(objectives_of(own).size() == 1);
    CHECK(objectives_of(own).front().path == "tiles_busy");
}
