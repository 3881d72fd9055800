// SPDX-License-Identifier: MIT
// What a table of points is given that its lines do not have: parameters, energy, area and metrics.
#include "sim/result/cost_tables.h"
#include "sim/sweep/command/reckoned.h"
#include "tests/unit/sim/sweep/frozen_store.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;
using test::activity;
using test::kFlops;
using test::kSeconds;
using test::result_of_run;
using Json = nlohmann::json;

namespace {

using Paths = std::vector<std::string>;

MetricColumn metric(const std::string& name, const std::string& text) {
    return {name, PointFormula(text)};
}

/// A store with what tables have of it.
class Store : public test::FrozenStore {
public:
    /// The table with these columns reckoned.
    PointTable table(const Paths& asked, std::vector<MetricColumn> metrics = {}) const {
        const Paths paths = with_needs(asked, metrics);
        PointTable made(path(), paths);
        reckon(made, paths, metrics, path(), configs());
        return made;
    }
    /// What one column has by row; "" where that is nothing.
    std::vector<std::string> column(const std::string& path,
                                    const std::vector<MetricColumn>& metrics = {}) const {
        const PointTable made = table({path}, metrics);
        std::vector<std::string> texts;
        for (std::size_t row = 0; row < made.rows(); ++row) {
            texts.push_back(made.text(made.value(row, made.column(path).value())));
        }
        return texts;
    }
};

} // namespace

TEST_CASE("a path needs what it is reckoned from, each once") {
    const auto more = [](Paths paths, const std::vector<MetricColumn>& metrics = {}) {
        const std::size_t given = paths.size();
        Paths all = with_needs(std::move(paths), metrics);
        return Paths(all.begin() + static_cast<std::ptrdiff_t>(given), all.end());
    };
    CHECK(more({}).empty());
    CHECK(more({"cycles", "energy", "areas", "workload.energy.x", "energy_j"}).empty());
    const Paths area = more({"area.total_mm2"});
    CHECK(area.size() > 10);
    for (const char* const path :
         {"chip.tiles", "tile.workers", "area.worker_mm2", "energy.static_w"}) {
        CHECK(std::count(area.begin(), area.end(), path) == 1);
    }
    // energy needs what ran too
    Paths energy;
    for (const cost::Amount& amount : cost::kAmounts) {
        energy.push_back(std::string("activity.") + amount.key);
    }
    energy.insert(energy.end(), {"seconds", "flops"});
    energy.insert(energy.end(), area.begin(), area.end());
    CHECK(more({"energy.total_j"}) == energy);
    CHECK(more({"energy.by_kind.static_j", "area.total_mm2"}) == energy);
    std::erase(energy, "seconds");
    CHECK(more({"seconds", "energy.total_j"}) == energy);
    // a parameter of that name is none of the results
    CHECK(more({"energy.static_w"}).empty());
    CHECK(more({"area.worker_mm2"}).empty());
    // metrics that are asked for, with what these name
    const std::vector<MetricColumn> metrics{metric("first", "cycles + seconds"),
                                            metric("other", "flops"),
                                            metric("last", "first * tflops + cycles")};
    CHECK(more({"cycles"}, metrics).empty());
    CHECK(more({"last"}, metrics) == Paths{"first", "tflops", "cycles", "seconds"});
    CHECK(more({"other", "first"}, metrics) == Paths{"flops", "cycles", "seconds"});
}

TEST_CASE("parameters that no point changes are those of the frozen files") {
    Store store;
    store.add({{"cycles", 1}});
    store.add({{"cycles", 2}}, {{"workload.n", 64}});
    store.add({{"cycles", 3}}, {}, {{"machine", "other"}, {"workload", "else"}});
    store.add({{"cycles", 4}}, {}, {{"contents", {{"machine", "0"}, {"workload", "0"}}}});
    CHECK(store.column("energy.static_w") == Paths{"3", "3", "", ""});
    CHECK(store.column("memory.region0_bytes") == Paths{"262144", "262144", "", ""});
    CHECK(store.column("workload.kind") == Paths{"matmul", "matmul", "", ""});
    CHECK(store.column("workload.n") == Paths{"48", "64", "", ""});
    CHECK(store.column("workload.block") == Paths{"", "", "", ""}); // products have none
    // results are no parameters
    CHECK(store.column("cycles") == Paths{"1", "2", "3", "4"});
}

TEST_CASE("energy and area are those of the machine of a point") {
    Store store;
    const auto expected = [&](const char* part, const char* path,
                              const std::vector<std::string>& sets = {},
                              std::optional<double> flops = kFlops) {
        const spec::MachineSpec machine = store.machine(sets);
        const Json values = std::string(part) == "area"
                                ? result::area_values(machine)
                                : result::energy_values(activity(), kSeconds, flops, machine);
        return values.at(Json::json_pointer(path)).get<double>();
    };
    store.add(result_of_run());
    // each machine parameter that a point changes counts
    const std::vector<std::pair<std::string, Json>> settings{{"tile.workers", 4},
                                                             {"chip.tiles", 6},
                                                             {"chip.clock_hz", 2e9},
                                                             {"exchange.lane_bytes", 8},
                                                             {"amp.steps_per_issue", 2},
                                                             {"memory.region0_bytes", 131072},
                                                             {"memory.region1_bytes", 458752},
                                                             {"chip.generation", "ipu1"},
                                                             {"energy.static_w", 20},
                                                             {"energy.board_w", 50},
                                                             {"area.worker_mm2", 0.5}};
    for (const auto& [path, value] : settings) {
        store.add(result_of_run(), {{path, value}});
    }
    const std::size_t whole = 1 + settings.size();
    Json changed = result_of_run();
    changed["activity"].erase("barriers");
    store.add(changed); // area alone
    changed = result_of_run();
    changed.erase("seconds");
    store.add(changed); // the same
    changed = result_of_run();
    changed.erase("flops");
    store.add(changed); // no energy of an operation
    store.add(result_of_run(), {}, {{"status", "crash"}});
    store.add(result_of_run(), {}, {{"machine", "other"}});

    const PointTable table = store.table(
        {"energy.total_j", "energy.by_kind.static_j", "energy.pj_per_flop", "area.total_mm2"});
    const auto at = [&](std::size_t row, const char* path) -> std::optional<double> {
        const Cell cell = table.value(row, table.column(path).value());
        return cell.is_number() ? std::optional(cell.number) : std::nullopt;
    };
    REQUIRE(table.rows() == whole + 5);
    for (std::size_t row = 0; row < whole; ++row) {
        std::vector<std::string> sets;
        if (row > 0) {
            const auto& [path, value] = settings[row - 1];
            sets.push_back(path + "=" +
                           (value.is_string() ? value.get<std::string>() : value.dump()));
        }
        CAPTURE(row, sets);
        CHECK(at(row, "energy.total_j") == expected("energy", "/total_j", sets));
        CHECK(at(row, "energy.by_kind.static_j") == expected("energy", "/by_kind/static_j", sets));
        CHECK(at(row, "energy.pj_per_flop") == expected("energy", "/pj_per_flop", sets));
        CHECK(at(row, "area.total_mm2") == expected("area", "/total_mm2", sets));
    }
    for (const std::size_t row : {whole, whole + 1}) {
        CHECK_FALSE(at(row, "energy.total_j"));
        CHECK(at(row, "area.total_mm2") == expected("area", "/total_mm2"));
    }
    CHECK(at(whole + 2, "energy.total_j") == expected("energy", "/total_j"));
    CHECK_FALSE(at(whole + 2, "energy.pj_per_flop"));
    for (const std::size_t row : {whole + 3, whole + 4}) { // no result, or no known machine
        CHECK_FALSE(at(row, "energy.total_j"));
        CHECK_FALSE(at(row, "area.total_mm2"));
    }
}

TEST_CASE("metrics are reckoned of points that are ok, in their order, from all that these have") {
    Store store;
    store.add({{"cycles", 100}});
    store.add({{"cycles", 200}}, {}, {{"status", "crash"}});
    store.add({{"cycles", 0}}, {{"workload.n", 96}});
    const std::vector<MetricColumn> metrics{metric("inverse", "1 / cycles"),
                                            metric("each", "inverse * workload.n"),
                                            metric("cost", "area.total_mm2 / area.total_mm2")};
    CHECK(store.column("inverse", metrics) == Paths{"0.01", "", ""});
    CHECK(store.column("each", metrics) == Paths{"0.48", "", ""});
    CHECK(store.column("cost", metrics) == Paths{"1", "", "1"});
    CHECK_FALSE(store.table({"cycles"}, metrics).column("inverse"));
}
