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

namespace {

/// The mistakes of a pipeline with these tensors and steps, whose section prunes the tensors that end so.
std::string pruned(const std::string& tensors, const std::string& steps,
                   const std::string& pattern = "w$", const std::string& more = "") {
    const std::string text = fmt::format(
        R"({{"schema_version": 1, "kind": "pipeline", "tensors": {{{}}}, "steps": [{}],
            "sparsity": {{"level": 0.5, "block": 8, "param_name_patterns": "{}"}}{}}})",
        tensors, steps, pattern, more);
    try {
        static_cast<void>(catalog::load_workload(config::parse_document(text, "a.json"), "a.json",
                                                 {.roots = {test::source_path("configs")}}));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("where an expression names no tensor, five matrices are named that it could",
          "[unit][catalog]") {
    for (const int count : {1, 5, 6}) {
        std::string tensors = R"("v": {"shape": [8]})"; // no matrix
        std::string steps = R"({"family": "bias", "inputs": ["a0", "v"], "output": "y"})";
        std::string names;
        for (int i = 0; i < count; ++i) {
            tensors += fmt::format(R"(, "a{}": {{"shape": [8, 8]}})", i);
            steps +=
                fmt::format(R"(, {{"family": "relu", "inputs": ["a{0}"], "output": "z{0}"}})", i);
            names += i < 5 ? fmt::format("{}a{}", i == 0 ? "" : ", ", i) : "";
        }
        const std::string told = pruned(tensors, steps, "none_of_them");
        CAPTURE(told);
        CHECK(told.ends_with("'none_of_them' names no tensor; matrices are " + names +
                             (count > 5 ? " and others" : "")));
        CHECK(lines(told) == 1);
    }
}

TEST_CASE("a sparse tensor is one of two operands of a product, and nothing else",
          "[unit][catalog]") {
    const std::string tensors = R"("x": {"shape": [16, 32]}, "w": {"shape": [32, 16]},
                                   "u": {"shape": [32, 16]}, "s": {"shape": [16, 16]})";
    const auto told = [&](const std::string& steps, const std::string& pattern = "w$") {
        const std::string w = pattern == "w$" ? "x" : "w"; // each is read
        const std::string used =
            R"(, {"family": "relu", "inputs": [")" + w + R"("], "output": "o1"},
{"family": "relu", "inputs": ["u"], "output": "o2"}, {"family": "matmul", "inputs": ["s", "x"], "output": "o3"})";
        const std::string text = pruned(tensors, steps + used, pattern);
        return text.substr(std::min(text.find("/steps"), text.size()));
    };
    const std::string of_w = R"({"family": "matmul", "inputs": ["x", "w"], "output": "y"})";
    const std::string hint = "; as a sparse matrix it is an operand of products alone";
    CHECK(told(of_w).empty());
    CHECK(told(R"({"family": "matmul", "inputs": ["w", "x"], "output": "y"})").empty());
    CHECK(told(of_w + R"(, {"family": "relu", "inputs": ["w"], "output": "z"})") ==
          "/steps/1/inputs/0: reads 'w', which 'w$' in sparsity makes sparse" + hint);
    // the third operand of a product is no factor
    CHECK(
        told(
            R"({"family": "matmul", "inputs": ["x", "u", "s"], "accumulate": true, "output": "y"})",
            "s$") == "/steps/0/inputs/2: reads 's', which 's$' in sparsity makes sparse" + hint);
    CHECK(told(R"({"family": "matmul", "inputs": ["s", "s"], "output": "y"})", "s$")
              .find("/steps/0/inputs/1: multiplies with another sparse matrix 's'") == 0);
    CHECK(told(of_w + R"(, {"family": "relu", "inputs": ["u"], "output": "w"})") ==
          "/steps/1/output: writes 'w', which 'w$' in sparsity makes sparse" + hint);
}

TEST_CASE("tensors that only training reads are no mistake beside sparse weights",
          "[unit][catalog]") {
    const std::string tensors = R"("x": {"shape": [16, 32]}, "w": {"shape": [32, 16]},
                                   "y_gradient": {"shape": [16, 16]})";
    const std::string of_w = R"({"family": "matmul", "inputs": ["x", "w"], "output": "y"})";
    CHECK(pruned(tensors, of_w, "w$", R"(, "train": {"outputs": ["y"], "with_respect_to": ["x"]})")
              .empty());
    CHECK(pruned(tensors, of_w).find("/tensors/y_gradient: no step reads it") != std::string::npos);
}
