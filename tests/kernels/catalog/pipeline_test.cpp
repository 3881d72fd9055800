// SPDX-License-Identifier: MIT
#include "kernels/workload/values.h"
#include "tests/kernels/catalog/pipeline_support.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::test;
using workload::PipelineStep;
using workload::ValuesSpec;
using NodeKind = pipeline::Node::Kind;

namespace {

/// Two layers on a citation graph.
const char* const kGcn = R"({"schema_version": 1, "kind": "pipeline", "seed": 3,
"tensors": {
    "adjacency": {"pattern": {"file": "cora.mtx", "values": "gcn"}},
    "features": {"shape": [2708, 1433], "values": "integer", "layout": "row_major"},
    "w1": {"shape": [1433, 16]}, "w2": {"shape": [16, 7]}},
"steps": [
    {"family": "spmm", "inputs": ["adjacency", "features"], "output": "h1", "partials": "f32"},
    {"family": "matmul", "inputs": ["h1", "w1"], "output": "h2"},
    {"family": "relu", "inputs": ["h2"], "output": "h3"},
    {"family": "spmm", "inputs": ["adjacency", "h3"], "output": "h4"},
    {"name": "last", "family": "matmul", "inputs": ["h4", "w2"], "output": "h5"},
    {"family": "softmax", "inputs": ["h5"], "output": "classes"}]})";

} // namespace

TEST_CASE("a pipeline is read with its tensors and steps", "[unit][catalog]") {
    const auto gcn = pipeline_of(kGcn);
    CHECK(gcn.seed == 3);
    REQUIRE(gcn.tensors.size() == 4);
    const auto& adjacency = gcn.tensors[0];
    CHECK(adjacency.name == "adjacency");
    REQUIRE(adjacency.is_sparse());
    CHECK(adjacency.pattern->path == source_path("configs/data/cora.mtx"));
    CHECK(adjacency.pattern->file_values == workload::PatternSpec::FileValues::Gcn);
    CHECK(adjacency.shape == std::vector<std::int64_t>{2708, 2708}); // as the file says
    CHECK(adjacency.block == 1);
    const auto& features = gcn.tensors[1];
    CHECK(features.shape == std::vector<std::int64_t>{2708, 1433});
    CHECK(features.type == ElementType::F16);
    CHECK(features.values.kind == ValuesSpec::Kind::Integer);
    CHECK(features.values.key == "/tensors/features/values");
    CHECK(features.row_major);
    CHECK(features.grain_bytes == 8);
    CHECK_FALSE(gcn.tensors[2].row_major);

    REQUIRE(gcn.steps.size() == 6);
    CHECK(gcn.steps[0].family == "spmm");
    CHECK(gcn.steps[0].inputs == Lines{"adjacency", "features"});
    CHECK(gcn.steps[0].outputs == std::vector<std::string>{"h1"});
    CHECK(gcn.steps[0].called() == "h1");
    CHECK(std::get<std::string>(gcn.steps[0].options.at("partials")) == "f32");
    CHECK(gcn.steps[1].options.empty());
    CHECK(gcn.steps[4].called() == "last");
}

TEST_CASE("a pipeline is resolved to steps with types and tensors", "[unit][catalog]") {
    const auto gcn = pipeline_of(kGcn);
    const auto resolved = catalog::resolve(gcn, toy_families());
    CHECK(resolved.mistakes.empty());
    const auto& [name, tensors, steps, io_tiles] = resolved.pipeline;
    REQUIRE(tensors.size() == 10);
    CHECK(io_tiles == 0);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        INFO(tensors[i].name);
        CHECK(tensors[i].given == (i < gcn.tensors.size()));
        CHECK_FALSE(tensors[i].wanted);
    }
    REQUIRE(tensors[0].type.sparse != nullptr);
    CHECK(tensors[0].type.sparse->rows == 2708);
    CHECK(tensors[0].type.sparse->blocks() == 0); // known when planning
    CHECK(tensors[1].row_major);
    CHECK(tensors[4].name == "h1");
    CHECK(tensors[4].type.shape == std::vector<std::int64_t>{2708, 1433});
    CHECK(tensors[9].name == "classes");
    CHECK(tensors[9].type.shape == std::vector<std::int64_t>{2708, 7});
    REQUIRE(steps.size() == 6);
    CHECK(steps[3].inputs == std::vector<std::size_t>{0, 6});
    CHECK(steps[3].outputs.at(0) == 7);
    CHECK(steps[3].pointer == "/steps/3");
    CHECK(steps[4].name == "last");
    CHECK(steps[4].family == &kToyMatmul);
    CHECK(steps[4].step != nullptr);
}

TEST_CASE("the sparse matrices of a plan reach the families", "[unit][catalog]") {
    const auto gcn = pipeline_of(kGcn);
    workload::SpmmWorkload adjacency;
    adjacency.pattern = *gcn.tensors[0].pattern;
    const auto matrix =
        std::make_shared<const workload::SparseF16>(workload::make_sparse(adjacency));
    const auto resolved = catalog::resolve(gcn, toy_families(), {{"adjacency", matrix}});
    CHECK(resolved.pipeline.tensors[0].type.sparse == matrix);
}

TEST_CASE("repeat and parallel are read as a tree", "[unit][catalog]") {
    const auto text = with_steps(R"(
        {"family": "relu", "inputs": ["x"], "output": "h"},
        {"repeat": 10, "steps": [
            {"name": "again", "family": "scale", "inputs": ["h"], "output": "h", "factor": 0.5},
            {"repeat": 2, "steps": [{"family": "gelu", "inputs": ["h"], "output": "g"}]}]},
        {"parallel": [
            {"tiles": 736, "steps": [{"family": "matmul", "inputs": ["x", "w"], "output": "p"}]},
            {"tiles": 8, "steps": [{"family": "relu", "inputs": ["x"], "output": "q"},
                                   {"family": "gelu", "inputs": ["q"], "output": "r"}]}]})");
    const auto workload = pipeline_of(text);
    REQUIRE(workload.steps.size() == 3);
    CHECK(workload.steps[1].kind == PipelineStep::Kind::Repeat);
    CHECK(workload.steps[1].repeats == 10);
    CHECK(std::get<double>(workload.steps[1].children.at(0).options.at("factor")) == 0.5);
    CHECK(workload.steps[2].kind == PipelineStep::Kind::Parallel);
    CHECK(workload.steps[2].children.at(0).kind == PipelineStep::Kind::Branch);
    CHECK(workload.steps[2].children.at(0).tiles == 736);

    const auto resolved = catalog::resolve(workload, toy_families());
    REQUIRE(resolved.mistakes.empty());
    const auto& steps = resolved.pipeline.steps;
    CHECK(steps[1].kind == NodeKind::Repeat);
    CHECK(steps[1].repeats == 10);
    CHECK(steps[1].children.at(0).outputs == steps[0].outputs); // written anew
    CHECK(steps[1].children.at(1).children.at(0).pointer == "/steps/1/steps/1/steps/0");
    CHECK(steps[2].kind == NodeKind::Parallel);
    CHECK(steps[2].children.at(1).kind == NodeKind::Branch);
    CHECK(steps[2].children.at(1).tiles == 8);
    CHECK(steps[2].children.at(1).children.at(1).pointer == "/steps/2/parallel/1/steps/1");
}

TEST_CASE("the resolved form of a pipeline has every key and loads to the same",
          "[unit][catalog]") {
    const auto loaded = load_text(kGcn);
    CHECK(loaded.resolved["tensors"]["adjacency"]["pattern"]["file"] == "cora.mtx");
    CHECK_FALSE(loaded.resolved["tensors"]["adjacency"].contains("shape")); // as the file says
    CHECK(loaded.resolved["tensors"]["features"]["grain_bytes"] == 8);
    CHECK_FALSE(loaded.resolved["tensors"]["w1"].contains("grain_bytes"));
    CHECK(loaded.resolved["tensors"]["w1"]["values"] == "uniform");
    CHECK(loaded.resolved["steps"][1]["partials"] == "f16"); // not told
    CHECK_FALSE(loaded.resolved["steps"][1].contains("name"));
    CHECK(load_text(loaded.resolved.dump()).resolved == loaded.resolved);

    const auto tree = load_text(with_steps(R"({"repeat": 3, "steps": [{"parallel": [
        {"tiles": 2, "steps": [{"family": "scale", "inputs": ["x"], "output": "y"}]},
        {"tiles": 2, "steps": [{"family": "relu", "inputs": ["w"], "output": "v"}]}]}]})"));
    CHECK(tree.resolved["steps"][0]["steps"][0]["parallel"][0]["steps"][0]["factor"] == 2);
    CHECK(load_text(tree.resolved.dump()).resolved == tree.resolved);
}

TEST_CASE("a tensor of a file of several stands in the resolved form as it was told",
          "[unit][catalog]") {
    const test::ScratchFolder scratch;
    const std::string head = R"({"x": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}})";
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(head.size());
    const std::string file = scratch.write("m.safetensors", bytes + head + std::string(8, '\0'));
    auto document = config::parse_document(fmt::format(R"({{"schema_version": 1, "kind": "pipeline",
"tensors": {{"x": {{"shape": [2, 1], "type": "f32", "values": "{}"}}}},
"steps": [{{"family": "relu", "inputs": ["x"], "output": "y"}}]}})",
                                                       file),
                                           scratch.path("a.json"));
    const auto resolved = [&] {
        return catalog::load_workload(document, scratch.path("a.json"), source_paths()).resolved;
    };
    const auto told = resolved();
    CHECK(told["tensors"]["x"]["values"] == file);
    document.root = told;
    CHECK(resolved() == told);
}

TEST_CASE("the pipelines of configs go together", "[unit][catalog]") {
    std::size_t pipelines = 0;
    for (const auto& entry : config::list_configs(source_paths(), "workloads")) {
        const auto document = config::read_document(entry.file);
        if (document.root.value("kind", "") == "pipeline") {
            INFO(entry.name);
            ++pipelines;
            CHECK_NOTHROW(catalog::load_workload(document, entry.file, source_paths()));
        }
    }
    CHECK(pipelines >= 3);
}

namespace {

/// Expects that `resolved` says all that a file says; it may say more.
void expect_said(const nlohmann::json& told, const nlohmann::json& resolved,
                 const std::string& pointer) {
    INFO(pointer);
    if (told.is_object() && resolved.is_object()) {
        for (const auto& [key, value] : told.items()) {
            INFO(key);
            REQUIRE(resolved.contains(key));
            expect_said(value, resolved.at(key), pointer + "/" + key);
        }
    } else if (told.is_array() && resolved.is_array()) {
        REQUIRE(told.size() == resolved.size());
        for (std::size_t i = 0; i < told.size(); ++i) {
            expect_said(told.at(i), resolved.at(i), pointer + "/" + std::to_string(i));
        }
    } else {
        CHECK(told == resolved);
    }
}

} // namespace

TEST_CASE("what a workload's file says stands in its resolved form, which loads to the same",
          "[unit][catalog]") {
    std::size_t workloads = 0;
    for (const auto& entry : config::list_configs(source_paths(), "workloads")) {
        auto document = config::read_document(entry.file);
        if (document.root.contains("sizes") || document.root.contains("extends") ||
            document.root.dump().find("\"use\"") != std::string::npos) {
            continue; // its resolved form is flat
        }
        INFO(entry.name);
        ++workloads;
        auto told = document.root;
        told.erase("description");
        const auto resolved = catalog::load_workload(document, entry.file, source_paths()).resolved;
        expect_said(told, resolved, "");
        document.root = resolved;
        CHECK(catalog::load_workload(document, entry.file, source_paths()).resolved == resolved);
    }
    CHECK(workloads >= 40);
    // keys that few files have
    const std::string text = R"({"schema_version": 1, "kind": "pipeline", "seed": 11, "io_tiles": 4,
"tensors": {
    "x": {"shape": [4, 8], "type": "f32", "values": "constant", "constant": 0.25, "known": true},
    "n": {"shape": [2], "type": "u32", "below": 7, "known": true},
    "r": {"shape": [5, 4, 8], "type": "f32", "place": "host"},
    "t": {"shape": [3, 4, 8], "type": "f32", "place": "tile_rows"},
    "m": {"shape": [4, 8], "layout": "row_major", "grain_bytes": 24},
    "d": {"shape": [32, 32], "block": 16, "mode": "dynamic", "capacity": 0.5, "excess": 2,
          "pattern": {"generator": "n_of_m", "density": 0.5, "group": 2, "seed": 5},
          "sequence": {"patterns": 9, "fraction": 0.25, "decay": "none", "prune": "random", "seed": 3}},
    "y": {"shape": [6, 32]}},
"steps": [
    {"name": "first", "family": "relu", "inputs": ["m"], "output": "h"},
    {"repeat": 2, "steps": [
        {"name": "in", "load": "r", "output": "b", "row": 3, "row_a_round": -2, "prefetch": 2},
        {"family": "add", "inputs": ["x", "b"], "output": "x"},
        {"name": "out", "store": "x", "into": "t", "row": 1, "row_a_round": 0}]},
    {"if": "n", "element": 1, "then": [{"family": "gelu", "inputs": ["m"], "output": "g"}],
                              "else": [{"name": "other", "family": "relu", "inputs": ["m"], "output": "g"}]},
    {"name": "next", "next": "d"},
    {"family": "spmm", "inputs": ["d", "y"], "output": "z", "transpose_b": true}]})";
    auto document = config::parse_document(text, "a.json");
    const auto told = document.root;
    const auto resolved = catalog::load_workload(document, "a.json", source_paths()).resolved;
    expect_said(told, resolved, "");
    document.root = resolved;
    CHECK(catalog::load_workload(document, "a.json", source_paths()).resolved == resolved);
}
