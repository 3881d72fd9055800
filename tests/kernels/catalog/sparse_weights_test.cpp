// SPDX-License-Identifier: MIT
// The section `sparsity` of a pipeline: a tensor with a mistake has this one alone.
#include "base/config/document.h"
#include "base/error.h"
#include "kernels/catalog/load.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

using namespace tessera;

namespace {

/// A product of x with w, whose section `sparsity` names w.
catalog::LoadedWorkload load(const std::string& w, const std::string& sparsity) {
    const std::string text = fmt::format(
        R"({{"schema_version": 1, "kind": "pipeline", "tensors": {{"x": {{"shape": [16, 32]}}, "w": {}}},
            "steps": [{{"family": "matmul", "inputs": ["x", "w"], "output": "y"}}], "sparsity": {}}})",
        w, sparsity);
    return catalog::load_workload(config::parse_document(text, "a.json"), "a.json",
                                  {.roots = {test::source_path("configs")}});
}

std::string mistakes(const std::string& w, const std::string& sparsity) {
    try {
        static_cast<void>(load(w, sparsity));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

std::string section(double level, int block) {
    return fmt::format(R"({{"level": {}, "block": {}, "param_name_patterns": "w$"}})", level,
                       block);
}

} // namespace

TEST_CASE("a level prunes so many blocks, and not all of them", "[unit][catalog]") {
    struct Case {
        double level;
        std::int64_t kept; ///< of 32 / 8 x 16 / 8
    };
    for (const auto& [level, kept] :
         {Case{0, 8}, Case{0.5, 4}, Case{0.0625, 7}, Case{0.06, 8}, Case{0.9, 1}, Case{0.93, 1}}) {
        CAPTURE(level);
        const auto made = load(R"({"shape": [32, 16]})", section(level, 8));
        REQUIRE(made.sparse_weights.size() == 1);
        CHECK(made.sparse_weights.front().kept_blocks == kept);
        CHECK(made.sparse_weights.front().blocks == 8);
    }
    const std::string all = mistakes(R"({"shape": [32, 16]})", section(0.94, 8));
    CHECK(all.find("got level 0.94, which prunes all 8 blocks of 'w'") != std::string::npos);
}

TEST_CASE("what is wrong with a tensor is told once", "[unit][catalog]") {
    struct Case {
        std::string w;
        std::string told;
    };
    // each with a level that would prune all blocks, of which nothing is to be said then
    for (const auto& [w, told] :
         {Case{R"({"shape": [32, 12]})", "got 32 x 12, expected multiples of 8, the block"},
          Case{R"({"shape": [32, 16], "layout": "row_major"})", "got row_major, expected codelet"},
          Case{R"({"shape": [32, 16], "values": "constant", "constant": 1})",
               "got constant, expected"}}) {
        CAPTURE(w);
        const std::string text = mistakes(w, section(0.99, 8));
        INFO(text);
        CHECK(text.find(told) != std::string::npos);
        CHECK(text.find("prunes all") == std::string::npos);
        CHECK(lines(text) == 1);
    }
}
