// SPDX-License-Identifier: MIT
// The published-style kernels of the matrix unit and their relatives: exact results, no races, no
// conflicts, and cycles against the published estimators. Deviations:
// docs/deviations.md#published-estimates
#include "tests/kernels/codelets/published_run.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

using namespace tessera;
using test::published_cycles;
using test::run_published;

namespace {

constexpr Cycles kWorkers = 6;

void runs_exactly(const std::string& name) {
    const auto points = run_published(name);
    CHECK(points.size() > 1);
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

/// What `name`=`to` costs beyond `name`=`from`, the other parameters as in `sets`.
Cycles step(const std::string& vertex, std::vector<std::string> sets, const std::string& name,
            int from, int to) {
    sets.push_back(name + "=" + std::to_string(from));
    const Cycles before = published_cycles(vertex, sets);
    sets.back() = name + "=" + std::to_string(to);
    return published_cycles(vertex, sets) - before;
}

struct Estimate {
    std::string vertex;
    std::string type;
    std::map<std::string, std::string> parameters;
    Cycles cycles = 0;
    bool of_worker = false; ///< issues of one worker, not cycles of the tile
};

std::vector<Estimate> read_estimates() {
    std::ifstream in(tessera::test::source_path("configs/reference/vertex_estimates.csv"));
    std::vector<Estimate> estimates;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line.front() == '#' || line.rfind("vertex,", 0) == 0) {
            continue;
        }
        std::istringstream fields(line);
        std::string parameters;
        std::string cycles;
        std::string scope;
        Estimate estimate;
        std::getline(fields, estimate.vertex, ',');
        std::getline(fields, estimate.type, ',');
        std::getline(fields, parameters, ',');
        std::getline(fields, cycles, ',');
        std::getline(fields, scope, ',');
        estimate.cycles = std::stoll(cycles);
        estimate.of_worker = scope == "worker";
        std::istringstream words(parameters);
        for (std::string word; words >> word;) {
            const auto equals = word.find('=');
            if (equals != std::string::npos) {
                estimate.parameters[word.substr(0, equals)] = word.substr(equals + 1);
            }
        }
        estimates.push_back(estimate);
    }
    return estimates;
}

/// Measured over estimated for a vertex file of the list, by parameters; of the rows of at most
/// `most_macs` multiplications (about, where the row does not say).
std::map<std::string, double> ratios(const std::string& list, const std::string& vertex,
                                     double most_macs) {
    std::ifstream in(tessera::test::source_path("configs/reference/") + list + ".json");
    const auto kernels = nlohmann::json::parse(in);
    std::map<std::string, double> found;
    for (const auto& kernel : kernels) {
        if (kernel.at("spec") != vertex || !kernel.contains("estimate")) {
            continue;
        }
        const auto& wanted = kernel["estimate"];
        for (const Estimate& row : read_estimates()) {
            bool fits = row.vertex == wanted.at("vertex") && row.type == wanted.at("type");
            if (wanted.contains("where")) {
                for (const auto& [name, value] : wanted["where"].items()) {
                    fits = fits && row.parameters.count(name) != 0 &&
                           row.parameters.at(name) == value.dump();
                }
            }
            const auto given = row.parameters.find("macs");
            const double macs = given != row.parameters.end()
                                    ? std::stod(given->second)
                                    : 3.0 * static_cast<double>(row.cycles);
            if (!fits || macs > most_macs) {
                continue;
            }
            std::vector<std::string> sets;
            std::string key;
            for (const auto& name : wanted.at("parameters")) {
                sets.push_back(name.get<std::string>() + "=" + row.parameters.at(name));
                key += row.parameters.at(name) + " ";
            }
            const auto points = run_published(vertex, sets);
            CHECK(points.size() == 1);
            const auto& result = points.front().result;
            const Cycles measured =
                row.of_worker ? result.worker_cycles / kWorkers : result.tile_cycles;
            found[key] = static_cast<double>(measured) / static_cast<double>(row.cycles);
        }
    }
    return found;
}

void estimates_hold(const std::string& vertex, double low, double high) {
    const auto found = ratios("published_matrix_kernels", vertex, 100e3);
    CHECK_FALSE(found.empty());
    for (const auto& [parameters, ratio] : found) {
        CAPTURE(vertex, parameters, ratio);
        CHECK(ratio > low);
        CHECK(ratio < high);
    }
}

} // namespace

#define TESSERA_RUNS_EXACTLY(name)                                                                 \
    TEST_CASE("published " name " gives exact results without races", "[kernels][published]") {    \
        runs_exactly(name);                                                                        \
    }

TESSERA_RUNS_EXACTLY("conv_partial_1x1_half_half")
TESSERA_RUNS_EXACTLY("conv_partial_1x1_half_float")
TESSERA_RUNS_EXACTLY("conv_partial_1x1_half_float_128")
TESSERA_RUNS_EXACTLY("conv_partial_1x1_half_float_8")
TESSERA_RUNS_EXACTLY("conv_partial_1x1_half_half_8")
TESSERA_RUNS_EXACTLY("conv_partial_1x1_float_float")
TESSERA_RUNS_EXACTLY("conv_partial_1x1_float_float_128")
TESSERA_RUNS_EXACTLY("conv_partial_1x1_float_float_8")
TESSERA_RUNS_EXACTLY("conv_partial_1x1_quarter_half")
TESSERA_RUNS_EXACTLY("conv_partial_1x1_grouped")
TESSERA_RUNS_EXACTLY("conv_partial_1x4_slic_half_half")
TESSERA_RUNS_EXACTLY("conv_partial_1x4_slic_half_float")
TESSERA_RUNS_EXACTLY("conv_partial_hmac_half_float")
TESSERA_RUNS_EXACTLY("conv_partial_hmac_float_float")
TESSERA_RUNS_EXACTLY("conv_partial_hmac_half_half")
TESSERA_RUNS_EXACTLY("outer_product_half")
TESSERA_RUNS_EXACTLY("outer_product_float")
TESSERA_RUNS_EXACTLY("sparse_dense_elementwise_half_half")
TESSERA_RUNS_EXACTLY("sparse_dense_elementwise_half_float")
TESSERA_RUNS_EXACTLY("sparse_dense_elementwise_float_float")
TESSERA_RUNS_EXACTLY("sparse_dense_dynamic_half_float")
TESSERA_RUNS_EXACTLY("sparse_dense_dynamic_float_float")
TESSERA_RUNS_EXACTLY("sparse_dense_block_4x4_half_half")
TESSERA_RUNS_EXACTLY("sparse_dense_block_8x8_half_half")
TESSERA_RUNS_EXACTLY("sparse_dense_block_16x16_half_half")
TESSERA_RUNS_EXACTLY("sparse_dense_block_4x4_half_float")
TESSERA_RUNS_EXACTLY("sparse_dense_block_8x8_half_float")
TESSERA_RUNS_EXACTLY("sparse_dense_block_16x16_half_float")
TESSERA_RUNS_EXACTLY("sparse_dense_block_4x4_float_float")
TESSERA_RUNS_EXACTLY("sparse_dense_block_8x8_float_float")
TESSERA_RUNS_EXACTLY("sparse_dense_block_16x16_float_float")
TESSERA_RUNS_EXACTLY("dynamic_block4_f16")
TESSERA_RUNS_EXACTLY("dynamic_block8_f16")
TESSERA_RUNS_EXACTLY("dynamic_block16_f16")
TESSERA_RUNS_EXACTLY("dynamic_block4_f32")
TESSERA_RUNS_EXACTLY("dynamic_block8_f32")
TESSERA_RUNS_EXACTLY("dynamic_block16_f32")
TESSERA_RUNS_EXACTLY("dynamic_block4_single")
TESSERA_RUNS_EXACTLY("dynamic_block8_single")
TESSERA_RUNS_EXACTLY("dynamic_block4_values_f32")
TESSERA_RUNS_EXACTLY("dynamic_block8_values_f32")
TESSERA_RUNS_EXACTLY("dynamic_block16_values_f32")
TESSERA_RUNS_EXACTLY("dynamic_block4_values_single")
TESSERA_RUNS_EXACTLY("dynamic_block8_values_single")
TESSERA_RUNS_EXACTLY("dynamic_block4_amp_values_f32")
TESSERA_RUNS_EXACTLY("dynamic_block8_amp_values_f32")
TESSERA_RUNS_EXACTLY("dynamic_block16_amp_values_f32")
TESSERA_RUNS_EXACTLY("dynamic_block4_amp_values_single")
TESSERA_RUNS_EXACTLY("dynamic_block8_amp_values_single")
TESSERA_RUNS_EXACTLY("dynamic_transpose_block4_f16")
TESSERA_RUNS_EXACTLY("dynamic_transpose_block8_f16")
TESSERA_RUNS_EXACTLY("dynamic_transpose_block16_f16")
TESSERA_RUNS_EXACTLY("dynamic_transpose_block4_f32")
TESSERA_RUNS_EXACTLY("dynamic_transpose_block8_f32")

TESSERA_RUNS_EXACTLY("dynamic_elements_f16")
TESSERA_RUNS_EXACTLY("dynamic_elements_f32")
TESSERA_RUNS_EXACTLY("dynamic_elements_single")
TESSERA_RUNS_EXACTLY("dynamic_elements_indirect_f32")
TESSERA_RUNS_EXACTLY("dynamic_elements_indirect_single")
TESSERA_RUNS_EXACTLY("dynamic_elements_input_f16")
TESSERA_RUNS_EXACTLY("dynamic_elements_input_f32")
TESSERA_RUNS_EXACTLY("dynamic_elements_input_single")
TESSERA_RUNS_EXACTLY("dynamic_elements_values_f32")
TESSERA_RUNS_EXACTLY("dynamic_elements_values_single")

TEST_CASE("published 1x1 convolutions cost the estimated cycles a pixel", "[kernels][published]") {
    // four pixels more a worker, two in groups, one out group
    CHECK(step("conv_partial_1x1_half_half", {"K=32", "N=16"}, "M_field", 24, 48) ==
          kWorkers * 4 * 2 * 4);
    CHECK(step("conv_partial_1x1_half_float", {"K=32", "N=16"}, "M_field", 24, 48) ==
          kWorkers * 4 * 2 * 4 * 2);
    // the first in group also zeroes eight words a pixel
    CHECK(step("conv_partial_1x1_float_float", {"K=16", "N=16"}, "M_field", 24, 48) ==
          kWorkers * 4 * (2 * 8 + 8));
    CHECK(step("conv_partial_1x1_quarter_half", {"K=64", "N=16"}, "M_field", 24, 48) ==
          kWorkers * 4 * 2 * 4);
    // 8 outputs a group: FP32 zeroes four words a pixel
    CHECK(step("conv_partial_1x1_half_float_8", {"K=32", "N=8"}, "M_field", 24, 48) ==
          kWorkers * 4 * 2 * 4);
    CHECK(step("conv_partial_1x1_half_half_8", {"K=32", "N=8"}, "M_field", 24, 48) ==
          kWorkers * 4 * 2 * 4);
    CHECK(step("conv_partial_1x1_float_float_8", {"K=16", "N=8"}, "M_field", 24, 48) ==
          kWorkers * 4 * (2 * 8 + 4));
}

TEST_CASE("published FP32 1x1 convolutions take two pixels together", "[kernels][published]") {
    // two in groups: a third pixel is a round of the loop, less a branch around it
    CHECK(step("conv_partial_1x1_float_float", {"K=16", "N=16"}, "M_field", 12, 18) ==
          kWorkers * (2 * (8 - 1) + 8));
    CHECK(step("conv_partial_1x1_float_float_8", {"K=16", "N=8"}, "M_field", 12, 18) ==
          kWorkers * (2 * (8 - 1) + 4));
}

TEST_CASE("published dot products cost the estimated cycles an output and pixel",
          "[kernels][published]") {
    // one pixel more a worker: 7, and for each of 8 outputs 6 and the words of 16 inputs
    CHECK(step("conv_partial_hmac_half_float", {"inChans=16", "outChans=8"}, "field", 12, 18) ==
          kWorkers * (7 + 8 * (6 + 4)));
    CHECK(step("conv_partial_hmac_half_float", {"field=12", "outChans=8"}, "inChans", 16, 20) ==
          kWorkers * 2 * 8);
    // the estimate has 7 an output here
    CHECK(step("conv_partial_hmac_float_float", {"inChans=16", "outChans=8"}, "field", 12, 18) ==
          kWorkers * (7 + 8 * (6 + 8)));
}

TEST_CASE("published outer products cost the estimated issues an input", "[kernels][published]") {
    for (const char* type : {"half", "float"}) {
        const int words = std::string(type) == "half" ? 4 : 8;
        CHECK(step(std::string("outer_product_") + type, {"chans=128", "chansPerGroup=16"}, "width",
                   4, 5) == kWorkers * 8 * (3 + words));
    }
}

TEST_CASE("published element-sparse products cost the estimated cycles a non-zero",
          "[kernels][published]") {
    const std::vector<std::string> wide = {"rows_perWorker=4", "n=32"};
    CHECK(step("sparse_dense_elementwise_half_half", wide, "nzPerRow", 8, 9) ==
          kWorkers * 4 * 4 * 3);
    CHECK(step("sparse_dense_elementwise_float_float", wide, "nzPerRow", 8, 9) ==
          kWorkers * 4 * 4 * 6);
    const std::vector<std::string> dynamic = {"numX_perWorker=4", "numZ=8"};
    CHECK(step("sparse_dense_dynamic_half_float", dynamic, "numY", 8, 9) == kWorkers * 4 * 3);
    CHECK(step("sparse_dense_dynamic_float_float", dynamic, "numY", 8, 9) == kWorkers * 4 * 6);
    const std::vector<std::string> eight = {"rows_perWorker=4", "n=8"};
    CHECK(step("sparse_dense_elementwise_half_half", eight, "nzPerRow", 8, 9) == kWorkers * 4 * 3);
    const std::vector<std::string> four = {"rows_perWorker=4", "n=4"};
    CHECK(step("sparse_dense_elementwise_half_half", four, "nzPerRow", 8, 9) == kWorkers * 4 * 2);
    // eight more columns: 11 and three a non-zero, for each row
    CHECK(step("sparse_dense_elementwise_half_half", {"rows_perWorker=4", "nzPerRow=8"}, "n", 24,
               32) == kWorkers * 4 * (11 + 3 * 8));
    // four more: 7 and two a non-zero
    CHECK(step("sparse_dense_elementwise_half_half", {"rows_perWorker=4", "nzPerRow=8"}, "n", 16,
               20) == kWorkers * 4 * (7 + 2 * 8));
}

TEST_CASE("published block-sparse products cost the estimated cycles a column",
          "[kernels][published]") {
    const std::vector<std::string> blocks = {"rowBlocks=2", "nzBlocksPerRow=3"};
    const auto column = [&](const std::string& name) {
        return step("sparse_dense_block_" + name, blocks, "n_perWorker", 8, 10);
    };
    CHECK(column("4x4_half_half") == kWorkers * 2 * 6 * 1);
    CHECK(column("8x8_half_half") == kWorkers * 2 * 6 * 2);
    CHECK(column("16x16_half_half") == kWorkers * 2 * 6 * 4);
    CHECK(column("4x4_half_float") == kWorkers * 2 * 6 * 2);
    CHECK(column("8x8_half_float") == kWorkers * 2 * 6 * 4);
    CHECK(column("16x16_half_float") == kWorkers * 2 * 6 * 2 * 4);
    CHECK(column("4x4_float_float") == kWorkers * 2 * 6 * 4);
    CHECK(column("8x8_float_float") == kWorkers * 2 * 6 * 8);
    CHECK(column("16x16_float_float") == kWorkers * 2 * 6 * 2 * 8);
}

TEST_CASE("published matrix kernels are within 15 percent of their estimates",
          "[kernels][published]") {
    estimates_hold("conv_partial_1x1_half_half", 0.85, 1.15);
    estimates_hold("conv_partial_1x1_half_float", 0.85, 1.15);
    estimates_hold("outer_product_half", 0.85, 1.15);
    estimates_hold("outer_product_float", 0.85, 1.15);
    estimates_hold("sparse_dense_elementwise_half_half", 0.85, 1.15);
    estimates_hold("sparse_dense_elementwise_float_float", 0.85, 1.15);
    for (const char* block : {"4x4_half_half", "8x8_half_half", "16x16_half_half",
                              "8x8_float_float", "16x16_float_float"}) {
        estimates_hold(std::string("sparse_dense_block_") + block, 0.85, 1.15);
    }
}

TEST_CASE("published kernels whose fixed part differs stay in their explained bounds",
          "[kernels][published]") {
    estimates_hold("conv_partial_1x1_float_float", 0.85, 1.2);
    estimates_hold("conv_partial_1x1_quarter_half", 0.7, 1.0);
    estimates_hold("conv_partial_hmac_half_float", 0.7, 1.0);
    estimates_hold("conv_partial_hmac_float_float", 0.65, 1.0);
    estimates_hold("sparse_dense_block_4x4_float_float", 0.85, 1.2);
    estimates_hold("sparse_dense_dynamic_half_float", 0.95, 1.45);
    estimates_hold("sparse_dense_dynamic_float_float", 0.95, 1.25);
}

TEST_CASE("codelets of dynamic products are within 5 percent of published estimates, but for the "
          "rows that docs/deviations.md explains",
          "[kernels][published]") {
    using Row = std::pair<std::string, std::string>;
    const std::set<Row> apart{
        // worker starts of more than one bucket
        {"dynamic_elements_f32", "8 16 32 4 2 3 "},
        {"dynamic_elements_f32", "8 16 32 8 4 3 "},
        {"dynamic_elements_f32", "8 16 32 32 16 3 "},
        {"dynamic_elements_single", "8 16 32 4 2 3 "},
        {"dynamic_elements_single", "8 16 32 16 8 3 "},
        // a launch for each row
        {"dynamic_elements_input_f32", "4 8 8 1 1 1 "},
        {"dynamic_elements_input_f32", "8 8 32 1 1 1 "},
        {"dynamic_elements_input_f32", "32 32 128 1 1 1 "},
        {"dynamic_elements_input_single", "4 8 8 1 1 1 "},
        // fewer issues beside the products
        {"dynamic_elements_values_f32", "16 64 64 "},
        {"dynamic_block8_values_single", "1 1 4 "},
        {"dynamic_block8_values_single", "4 2 8 "},
        {"dynamic_block16_values_f32", "1 1 4 "},
        {"dynamic_block16_values_f32", "4 2 8 "},
        // more of them
        {"dynamic_block4_single", "4 2 8 "},
    };
    std::ifstream in(tessera::test::source_path("configs/reference/dynamic_codelets.json"));
    std::set<std::string> vertices;
    for (const auto& kernel : nlohmann::json::parse(in)) {
        vertices.insert(kernel.at("spec").get<std::string>());
    }
    std::size_t found_apart = 0;
    for (const std::string& vertex : vertices) {
        for (const auto& [parameters, ratio] : ratios("dynamic_codelets", vertex, 600e3)) {
            CAPTURE(vertex, parameters, ratio);
            const bool is_apart = apart.count({vertex, parameters}) != 0;
            found_apart += is_apart ? 1 : 0;
            CHECK((std::abs(ratio - 1) > 0.05) == is_apart);
            CHECK(ratio > 0.75);
            CHECK(ratio < 1.35);
        }
    }
    CHECK(found_apart == apart.size());
}
