// SPDX-License-Identifier: MIT
// The published-style kernels of configs/reference/published_vector_kernels.json: exact results, no
// races, no conflicts, and cycles against the published estimators. Deviations:
// docs/deviations.md#published-estimates
#include "tests/kernels/codelets/published_run.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <optional>
#include <sstream>

using namespace tessera;
using test::run_published;

namespace {

constexpr Cycles kWorkers = 6;

nlohmann::json read_kernels() {
    std::ifstream in(tessera::test::source_path("configs/reference/published_vector_kernels.json"));
    return nlohmann::json::parse(in);
}

struct Estimate {
    std::vector<std::string> sets; ///< name=value of the kernel's parameters
    Cycles cycles = 0;
    bool of_worker = false; ///< issues of one worker, not cycles of the tile
};

/// The rows of configs/reference/vertex_estimates.csv that a kernel is compared with.
std::vector<Estimate> estimates_of(const nlohmann::json& wanted) {
    std::ifstream in(tessera::test::source_path("configs/reference/vertex_estimates.csv"));
    std::vector<Estimate> estimates;
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        std::string vertex;
        std::string type;
        std::string parameters;
        std::string cycles;
        std::string scope;
        std::getline(fields, vertex, ',');
        std::getline(fields, type, ',');
        std::getline(fields, parameters, ',');
        std::getline(fields, cycles, ',');
        std::getline(fields, scope, ',');
        if (vertex != wanted.at("vertex") || type != wanted.at("type")) {
            continue;
        }
        Estimate estimate;
        estimate.cycles = std::stoll(cycles);
        estimate.of_worker = scope == "worker";
        std::istringstream words(parameters);
        for (std::string word; words >> word;) {
            for (const auto& name : wanted.at("parameters")) {
                if (word.rfind(name.get<std::string>() + "=", 0) == 0) {
                    estimate.sets.push_back(word);
                }
            }
        }
        CHECK(estimate.sets.size() == wanted.at("parameters").size());
        estimates.push_back(estimate);
    }
    return estimates;
}

} // namespace

TEST_CASE("published vector kernels give exact results without races", "[kernels][published]") {
    const auto kernels = read_kernels();
    CHECK(kernels.size() > 50);
    for (const auto& kernel : kernels) {
        const auto name = kernel.at("spec").get<std::string>();
        const auto points = run_published(name);
        CHECK_FALSE(points.empty());
        for (const auto& point : points) {
            CAPTURE(name, point.parameters);
            CHECK_FALSE(point.checks.empty());
            for (const auto& check : point.checks) {
                CAPTURE(check.name);
                CHECK(check.elements > 0);
                CHECK(check.wrong == 0);
            }
            for (const auto& phase : point.result.phases) {
                CHECK(phase.races.empty());
                CHECK(phase.conflicts.empty());
            }
        }
    }
}

TEST_CASE("published vector kernels keep the bounds to their estimates",
          "[kernels][published][large]") {
    constexpr Cycles kMostCycles = 20000; // larger rows say nothing new
    for (const auto& kernel : read_kernels()) {
        if (!kernel.contains("estimate")) {
            continue;
        }
        const auto name = kernel.at("spec").get<std::string>();
        std::optional<Cycles> excess;
        std::size_t compared = 0;
        for (const Estimate& row : estimates_of(kernel.at("estimate"))) {
            if (row.cycles > kMostCycles) {
                continue;
            }
            const auto points = run_published(name, row.sets);
            REQUIRE(points.size() == 1);
            const auto& result = points.front().result;
            const Cycles measured =
                row.of_worker ? result.worker_cycles / kWorkers : result.tile_cycles;
            const double ratio = static_cast<double>(measured) / static_cast<double>(row.cycles);
            CAPTURE(name, points.front().parameters, measured, row.cycles);
            CHECK(ratio >= kernel.at("bounds").at(0).get<double>());
            CHECK(ratio <= kernel.at("bounds").at(1).get<double>());
            // the same slope in everything: all that differs is a constant
            if (kernel.at("same_slope").get<bool>()) {
                CHECK(excess.value_or(measured - row.cycles) == measured - row.cycles);
            }
            excess = measured - row.cycles;
            ++compared;
        }
        CAPTURE(name);
        CHECK(compared > 1);
    }
}
