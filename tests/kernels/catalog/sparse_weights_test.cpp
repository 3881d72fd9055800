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
#include <variant>
#include <vector>

using namespace tessera;

namespace {

catalog::LoadedWorkload load_text(const std::string& text) {
    return catalog::load_workload(config::parse_document(text, "a.json"), "a.json",
                                  {.roots = {test::source_path("configs")}});
}

/// A product of x with w, whose section `sparsity` names w.
catalog::LoadedWorkload load(const std::string& w, const std::string& sparsity) {
    const std::string text = fmt::format(
        R"({{"schema_version": 1, "kind": "pipeline", "tensors": {{"x": {{"shape": [16, 32]}}, "w": {}}},
            "steps": [{{"family": "matmul", "inputs": ["x", "w"], "output": "y"}}], "sparsity": {}}})",
        w, sparsity);
    return load_text(text);
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
        static_cast<void>(load_text(text));
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

namespace {

/// "spmm w x [transpose_a] = y, ..." of steps that are all of families.
std::string text_of(const std::vector<workload::PipelineStep>& steps) {
    std::string text;
    for (const auto& step : steps) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", step.family,
                            fmt::join(step.inputs, " "));
        for (const auto& [key, value] : step.options) {
            const auto* word = std::get_if<std::string>(&value);
            text += fmt::format(" [{}{}]", key, word == nullptr ? "" : " " + *word);
        }
        text += fmt::format(" = {}{}", fmt::join(step.outputs, " "),
                            step.name.empty() ? "" : " as " + step.name);
    }
    return text;
}

/// The steps that a product with `a` and `b`, 16 x 16 like the others, becomes where those called w are
/// sparse; `more`: other keys of it.
std::string made_of(const std::string& inputs, const std::string& more = "") {
    std::string tensors = R"("b": {"shape": [16]})";
    std::string used; // all are read
    for (const std::string name : {"w", "x", "c", "b"}) {
        tensors += name == "b" ? "" : ", \"" + name + R"(": {"shape": [16, 16]})";
        if (name != "w") {
            used += fmt::format(R"(, {{"family": "relu", "inputs": ["{0}"], "output": "of_{0}"}})",
                                name);
        }
    }
    const std::string text = fmt::format(
        R"({{"schema_version": 1, "kind": "pipeline", "tensors": {{{}}},
            "steps": [{{"family": "matmul", "inputs": [{}], "output": "y"{}}}{}],
            "sparsity": {{"level": 0.5, "block": 8, "param_name_patterns": "w$"}}}})",
        tensors, inputs, more, used);
    const auto loaded = load_text(text);
    auto steps = std::get<workload::PipelineWorkload>(loaded.workload.kind).steps;
    steps.resize(steps.size() - 3);
    return text_of(steps);
}

} // namespace

TEST_CASE("a product with a sparse matrix becomes a sparse one and what is done to it",
          "[unit][catalog]") {
    const std::string turned_a = R"(, "transpose_a": true)";
    const std::string turned_b = R"(, "transpose_b": true)";
    // the sparse one on the left
    const std::string w_x = R"("w", "x")";
    CHECK(made_of(w_x) == "spmm w x = y");
    CHECK(made_of(w_x, turned_a) == "spmm w x [transpose_a] = y");
    CHECK(made_of(w_x, turned_b) == "spmm w x [transpose_b] = y");
    CHECK(made_of(w_x, R"(, "name": "n", "partials": "f32", "plan": "published")") ==
          "spmm w x [partials f32] [plan published] = y as n");
    // x w = (w' x')'
    const std::string x_w = R"("x", "w")";
    const std::string turned = "transpose y_turned = y";
    CHECK(made_of(x_w) == "spmm w x [transpose_a] [transpose_b] = y_turned, " + turned);
    CHECK(made_of(x_w, turned_a) == "spmm w x [transpose_a] = y_turned, " + turned);
    CHECK(made_of(x_w, turned_b) == "spmm w x [transpose_b] = y_turned, " + turned);
    CHECK(made_of(x_w, turned_a + turned_b) == "spmm w x = y_turned, " + turned);
    CHECK(made_of(x_w, R"(, "name": "n", "partials": "f32")") ==
          "spmm w x [partials f32] [transpose_a] [transpose_b] = n_turned, "
          "transpose n_turned = y as n");
    // what follows
    CHECK(made_of(R"("w", "x", "b")") == "spmm w x = y_product, bias y_product b = y");
    CHECK(made_of(R"("w", "x", "c")", R"(, "accumulate": true)") ==
          "spmm w x = y_product, add y_product c = y");
    CHECK(made_of(w_x, R"(, "activation": "none")") == "spmm w x = y");
    CHECK(made_of(w_x, R"(, "activation": "relu")") == "spmm w x = y_product, relu y_product = y");
    CHECK(made_of(w_x, R"(, "activation": "gelu")") == "spmm w x = y_product, gelu y_product = y");
    CHECK(made_of(R"("w", "x", "b")", R"(, "activation": "relu")") ==
          "spmm w x = y_product, bias y_product b = y_biased, relu y_biased = y");
    CHECK(made_of(R"("x", "w", "b", "c")", R"(, "accumulate": true)") ==
          "spmm w x [transpose_a] [transpose_b] = y_turned, transpose y_turned = y_product, "
          "bias y_product b = y_biased, add y_biased c = y");
}

TEST_CASE("products inside repeats are rewritten too, and mistakes are told of the product",
          "[unit][catalog]") {
    const std::string tensors = R"("x": {"shape": [16, 32]}, "w": {"shape": [32, 16]})";
    const std::string of_w = R"({"family": "matmul", "inputs": ["x", "w"], "output": "y"})";
    const auto load_steps = [&](const std::string& steps) {
        const std::string text = fmt::format(
            R"({{"schema_version": 1, "kind": "pipeline", "tensors": {{{}}}, "steps": [{}],
                "sparsity": {{"level": 0.5, "block": 8, "param_name_patterns": "w$"}}}})",
            tensors, steps);
        return std::get<workload::PipelineWorkload>(load_text(text).workload.kind);
    };
    const auto made = load_steps(R"({"repeat": 3, "steps": [)" + of_w + "]}");
    REQUIRE(made.steps.size() == 1);
    CHECK(text_of(made.steps.front().children) ==
          "spmm w x [transpose_a] [transpose_b] = y_turned, transpose y_turned = y");
    // the file's pointer, wherever the step stands behind rewritten ones
    const std::string clash = R"({"family": "relu", "inputs": ["x"], "output": "y_turned"})";
    CHECK(
        pruned(tensors, clash + ", " + of_w)
            .find("/steps/1: got a tensor or step 'y_turned', expected another name: one that the "
                  "sparse product makes is called so") != std::string::npos);
    const std::string named =
        R"({"name": "n", "family": "relu", "inputs": ["x"], "output": "y_turned"}, )";
    CHECK(pruned(tensors, named + of_w).find("/steps/1: got a tensor or step 'y_turned'") !=
          std::string::npos);
    const std::string inside = R"({"repeat": 2, "steps": [)" + clash + "]}, ";
    CHECK(pruned(tensors, inside + of_w).find("/steps/1: got a tensor or step 'y_turned'") !=
          std::string::npos);
    // of one operand it is no product: that is all that is told
    const std::string one = pruned(tensors, R"({"family": "matmul", "inputs": ["w"], "output": "y"},
                           {"family": "relu", "inputs": ["x"], "output": "z"})");
    CHECK(one.find("got 1 tensors") != std::string::npos);
    CHECK(lines(one) == 1);
    CHECK(pruned(tensors,
                 R"({"family": "matmul", "inputs": ["x", "w"], "unmirrored": true, "output": "y"})")
              .find("/steps/0/unmirrored: got true, expected false for a product with 'w'") !=
          std::string::npos);
}

TEST_CASE("a section names tensors that products read", "[unit][catalog]") {
    std::string tensors = R"("x": {"shape": [16, 32]}, "w": {"shape": [32, 16]},
                                   "u": {"shape": [16, 16], "known": true})";
    const std::string steps = R"({"family": "matmul", "inputs": ["x", "w"], "output": "y"},
{"if": "n", "then": [{"family": "relu", "inputs": ["u"], "output": "z"}]})";
    const auto with = [&](const std::string& section) {
        const std::string text = fmt::format(
            R"({{"schema_version": 1, "kind": "pipeline", "tensors": {{{}, "n": {{"shape": [1], "type": "i32"}}}},
"steps": [{}], "sparsity": {}}})",
            tensors, steps, section);
        try {
            static_cast<void>(load_text(text));
        } catch (const ConfigError& error) {
            const std::string told = error.what();
            return told.substr(told.find('/'));
        }
        return std::string();
    };
    CHECK(with(R"({"level": 0.5, "block": 8, "param_name_patterns": "w$"})").empty());
    CHECK(with(R"({"level": 0.5, "block": 8})") ==
          "/sparsity: expected param_name_patterns: expressions for names of tensors");
    CHECK(with(R"({"level": 0.5, "block": 8, "param_name_patterns": []})") ==
          "/sparsity/param_name_patterns: got no expression, expected one at least");
    CHECK(with(R"({"block": 8, "param_name_patterns": {"w$": 0.5}})").empty());
    tensors += R"(, "v": {"shape": [16, 16]})";
    CHECK(with(R"({"level": 0.5, "block": 8, "param_name_patterns": ["w$", "^v"]})")
              .ends_with("/sparsity/param_name_patterns/1: '^v' names 'v', which no product reads, "
                         "expected an operand of a matmul; tensors that are not named stay dense"));
}

TEST_CASE("a tensor that cannot be sparse says why at the key that does not allow it",
          "[unit][catalog]") {
    const std::string used =
        R"({"load": "w", "output": "h"}, {"family": "relu", "inputs": ["h"], "output": "z"})";
    struct Case {
        std::string w, steps, told;
    };
    const std::string why = ", since 'w$' in sparsity names it";
    const std::string product = R"({"family": "matmul", "inputs": ["x", "w"], "output": "y"})";
    const std::string relu = R"({"family": "relu", "inputs": ["w"], "output": "z"})";
    for (const auto& [w, steps, told] :
         {Case{R"({"shape": [2, 32, 16], "place": "host"})", used,
               "/tensors/w/shape: got 2 x 32 x 16, expected rows and columns" + why},
          Case{R"({"shape": [32, 16], "place": "host"})", used,
               "/tensors/w/place: got a tensor outside the tiles, expected one on the tiles" + why},
          Case{R"({"shape": [32, 16], "type": "i32", "below": 4})",
               R"({"family": "add", "inputs": ["w", "w"], "output": "z"})",
               "/tensors/w/type: got i32, expected f16 or f32" + why},
          Case{R"({"shape": [32], "known": true})", relu,
               "/tensors/w/shape: got 32, expected rows and columns" + why},
          Case{R"({"shape": [32, 16], "pattern": {"generator": "uniform", "density": 0.5}})",
               R"({"family": "spmm", "inputs": ["w", "x"], "transpose_b": false, "output": "y"})",
               "/tensors/w: got a sparse matrix, expected a dense one" + why}}) {
        const std::string text =
            pruned(R"("x": {"shape": [16, 32]}, "w": )" + w,
                   steps + R"(, {"family": "relu", "inputs": ["x"], "output": "other"})");
        INFO(text);
        CHECK(text.find(told) != std::string::npos);
    }
}
