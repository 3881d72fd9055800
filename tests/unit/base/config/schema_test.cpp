// SPDX-License-Identifier: MIT
// valijson knows nothing of our reader: the two must say the same of every document.
#include "base/config/read.h"
#include "kernels/catalog/load.h"
#include "kernels/modules/expand.h"
#include "models/spec/load.h"
#include "tests/support/source_path.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

using namespace tessera;
using namespace tessera::config;

namespace {

const std::filesystem::path kSchemas = tessera::test::source_path("configs/schemas");

bool schema_accepts(const nlohmann::json& schema_json, const nlohmann::json& document) {
    valijson::Schema schema;
    valijson::SchemaParser{valijson::SchemaParser::kDraft7}.populateSchema(
        valijson::adapters::NlohmannJsonAdapter{schema_json}, schema);
    valijson::Validator validator{valijson::Validator::kStrongTypes};
    return validator.validate(schema, valijson::adapters::NlohmannJsonAdapter{document}, nullptr);
}

template <class Owner> bool reader_accepts(const Shape& shape, const Document& document) {
    Owner owner;
    return read(shape, document, &owner).empty();
}

bool machine_reader_accepts(const Document& document) {
    return reader_accepts<spec::MachineSpec>(spec::machine_shape(), document);
}

bool workload_reader_accepts(const Document& document) {
    return reader_accepts<workload::Workload>(catalog::workload_shape(), document);
}

/// Of a model file, with what it includes.
bool model_reader_accepts(const Document& document, const std::string& file) {
    try {
        static_cast<void>(catalog::load_workload(document, file, test::source_paths()));
        return true;
    } catch (const ConfigError&) {
        return false;
    }
}

const char* const kMatmul = R"("schema_version": 1, "kind": "matmul", "m": 2, "k": 3, "n": 4)";
const char* const kSpmm = R"("schema_version": 1, "kind": "spmm", "mode": "static", "n": 4)";

} // namespace

TEST_CASE("the schemas in configs are what the program writes", "[unit][config]") {
    CHECK(test::read_text(kSchemas / "machine.schema.json") ==
          spec::machine_schema().dump(2) + "\n");
    CHECK(test::read_text(kSchemas / "workload.schema.json") ==
          catalog::workload_schema().dump(2) + "\n");
}

// Hidden: run `test_unit_config "[write-schemas]"` after a change of a description.
TEST_CASE("writes the schemas", "[.][write-schemas]") {
    std::ofstream(kSchemas / "machine.schema.json") << spec::machine_schema().dump(2) << '\n';
    std::ofstream(kSchemas / "workload.schema.json") << catalog::workload_schema().dump(2) << '\n';
    CHECK(std::filesystem::exists(kSchemas / "workload.schema.json"));
}

TEST_CASE("schema and reader accept every file in configs", "[unit][config]") {
    const auto machines = list_configs(test::source_paths(), "machines");
    const auto workloads = list_configs(test::source_paths(), "workloads");
    REQUIRE(machines.size() >= 5);
    REQUIRE(workloads.size() >= 10);
    for (const auto& entry : machines) {
        INFO(entry.file);
        const auto document = read_document(entry.file);
        CHECK(schema_accepts(spec::machine_schema(), document.root));
        CHECK(machine_reader_accepts(document));
    }
    for (const auto& entry : workloads) {
        INFO(entry.file);
        const auto document = read_document(entry.file);
        CHECK(schema_accepts(catalog::workload_schema(), document.root));
        CHECK((modules::is_model(document.root)
                   ? model_reader_accepts(document, entry.file.string())
                   : workload_reader_accepts(document)));
    }
}

TEST_CASE("schema and reader agree on model files good and bad", "[unit][config]") {
    const auto agree = [](const std::string& sizes, const std::string& tensors,
                          const std::string& step, bool good) {
        const std::string text = R"({"schema_version": 1, "kind": "pipeline", )" + sizes +
                                 R"("modules": {"m": {"sizes": ["n"], "inputs": ["x"],)"
                                 R"("outputs": ["y"], "tensors": {"w": {"shape": ["n", "n"]}},)"
                                 R"("steps": [{"family": "matmul", "inputs": ["x", "w"],)"
                                 R"("output": "y"}]}}, "tensors": {)" +
                                 tensors + R"(}, "steps": [)" + step + "]}";
        INFO(text);
        const auto document = parse_document(text, "a.json");
        CHECK(schema_accepts(catalog::workload_schema(), document.root) == good);
        CHECK(model_reader_accepts(document, "a.json") == good);
    };
    const std::string sizes = R"("sizes": {"n": 16}, )";
    const std::string x = R"("x": {"shape": ["n", "n"]})";
    const auto use = [](const std::string& keys) {
        return R"({"module": "m", "inputs": ["x"], "output": "z")" + keys + "}";
    };
    agree(sizes, x, use(""), true);
    agree(sizes, x, use(R"(, "for": "n / 8", "name": "a", "sizes": {"n": "2 * 8"})"), true);
    agree(sizes, x, R"({"repeat": "n", "steps": [)" + use("") + "]}", true);
    agree(R"("sizes": {"n": "8 + 8"}, )", x, use(""), true);
    agree(R"("sizes": {"n": [16]}, )", x, use(""), false);
    agree(R"("sizes": 16, )", x, use(""), false);
    agree(sizes, R"("x": {"shape": "n"})", use(""), false);
    agree(sizes, x, use(R"(, "fro": 2)"), false);
    agree(sizes, x, use(R"(, "for": 1.5)"), false);
    agree(sizes, x, use(R"(, "name": "a b")"), false);
    agree(sizes, x, use(R"(, "sizes": {"n": true})"), false);
}

TEST_CASE("schema and reader agree on machines good and bad", "[unit][config]") {
    const auto agree = [](const std::string& text, bool good) {
        INFO(text);
        const auto document = parse_document(text, "a.json");
        CHECK(schema_accepts(spec::machine_schema(), document.root) == good);
        CHECK(machine_reader_accepts(document) == good);
    };
    const auto with = [](const std::string& inner) {
        return R"({"schema_version": 1, )" + inner + "}";
    };
    agree(R"({"schema_version": 1})", true);
    agree(with(R"("tile": {})"), true);
    agree(with(R"("tile": {"workers": 1})"), true);
    agree(with(R"("tile": {"workers": 8, "fetch_conflict": "ignore"})"), true);
    agree(with(R"("chip": {"clock_hz": 1000000})"), true);
    agree("{}", false);
    agree("[]", false);
    agree("3", false);
    agree(R"({"schema_version": 2})", false);
    agree(R"({"schema_version": "1"})", false);
    agree(with(R"("extends": 3)"), false);
    agree(with(R"("colour": 3)"), false);
    agree(with(R"("tile": 3)"), false);
    agree(with(R"("tile": null)"), false);
    agree(with(R"("tile": {"workers": 0})"), false);
    agree(with(R"("tile": {"workers": 9})"), false);
    agree(with(R"("tile": {"workers": 2.5})"), false);
    agree(with(R"("tile": {"workers": "4"})"), false);
    agree(with(R"("tile": {"workers": true})"), false);
    agree(with(R"("tile": {"worker": 4})"), false);
    agree(with(R"("tile": {"fetch_conflict": "warn"})"), false);
    agree(with(R"("chip": {"clock_hz": "fast"})"), false);
    agree(with(R"("chip": {"clock_hz": 0.5})"), false);
    agree(with(R"("exchange": {"pair_double": 1})"), false);
}

TEST_CASE("schema and reader agree on workloads good and bad", "[unit][config]") {
    const auto agree = [](const std::string& inner, bool good) {
        INFO(inner);
        const auto document = parse_document("{" + inner + "}", "a.json");
        CHECK(schema_accepts(catalog::workload_schema(), document.root) == good);
        CHECK(workload_reader_accepts(document) == good);
    };
    const std::string matmul = kMatmul;
    const std::string spmm = kSpmm;
    const std::string file = spmm + R"(, "pattern": {"file": "a.mtx"})";
    const std::string generated = spmm + R"(, "pattern": {"generator": "uniform", "density": 0.5})";
    agree(matmul, true);
    agree(matmul + R"(, "values": "integer", "partials": "f32", "seed": 9007199254740992)", true);
    agree(matmul + R"(, "values": "a/b.npy")", true);
    agree(file, true);
    agree(file + R"(, "m": 5, "block": 16)", true);
    agree(generated + R"(, "m": 5, "k": 6)", true);
    agree(spmm + R"(, "pattern": {"file": "a.smtx", "values": "gcn"})", true);
    agree(spmm + R"(, "pattern": {"file": "b/a.npy"})", true);
    agree(spmm + R"(, "pattern": {"file": "a_smtx"})", false);
    const auto skewed = [&](const std::string& keys) {
        return spmm + R"(, "m": 8, "k": 8, "pattern": {"density": 0.5, "generator": )" + keys + "}";
    };
    agree(skewed(R"("power_law")"), true);
    agree(skewed(R"("power_law", "exponent": 1.5, "seed": 2)"), true);
    agree(skewed(R"("n_of_m")"), true);
    agree(skewed(R"("n_of_m", "group": 16)"), true);
    agree(skewed(R"("power_law", "exponent": 0)"), false);
    agree(skewed(R"("power_law", "group": 4)"), false);
    agree(skewed(R"("n_of_m", "exponent": 1)"), false);
    agree(skewed(R"("n_of_m", "group": 1.5)"), false);
    agree(skewed(R"("uniform", "group": 4)"), false);
    agree(skewed(R"("banded", "exponent": 1)"), false);
    agree(skewed(R"("random")"), false);
    const std::string pipeline = R"("schema_version": 1, "kind": "pipeline")";
    const std::string tensors =
        pipeline + R"(, "tensors": {"s": {"pattern": {"file": "a.mtx"}}, "x": {"shape": [4, 8]}})";
    const auto steps = [&](const std::string& inner) {
        return tensors + ", \"steps\": [" + inner + "]";
    };
    const std::string step = R"({"family": "spmm", "inputs": ["s", "x"], "output": "y"})";
    agree(steps(step), true);
    agree(
        steps(
            R"({"name": "n", "family": "matmul", "inputs": ["s", "x"], "output": "y", "partials": "f32"})"),
        true);
    agree(steps(R"({"repeat": 3, "steps": [)" + step + "]}"), true);
    agree(
        steps(R"({"parallel": [{"tiles": 2, "steps": [{"repeat": 2, "steps": [)" + step + "]}]}]}"),
        true);
    agree(pipeline + R"(, "tensors": {}, "steps": [)" + step + "]", true);
    agree(
        pipeline +
            R"(, "tensors": {"x": {"shape": [1], "type": "f32", "layout": "row_major", "grain_bytes": 64}}, "steps": [)" +
            step + "]",
        true);
    agree(pipeline, false);
    agree(tensors, false);
    agree(steps(""), false);
    agree(steps("3"), false);
    agree(steps("{}"), false);
    agree(steps(R"({"family": "spmm", "inputs": ["s"], "output": "y"})"), false);
    agree(steps(R"({"family": "spmm", "inputs": ["s", 1], "output": "y"})"), false);
    agree(steps(R"({"family": "spmm", "inputs": ["s", "x"], "output": "y z"})"), false);
    agree(steps(R"({"family": "spmm", "inputs": ["s", "x"]})"), false);
    agree(steps(R"({"family": "spmn", "inputs": ["s", "x"], "output": "y"})"), false);
    agree(steps(R"({"family": "spmm", "inputs": ["s", "x"], "output": "y", "partials": "f8"})"),
          false);
    agree(steps(R"({"family": "spmm", "inputs": ["s", "x"], "output": "y", "repeat": 2})"), false);
    agree(steps(R"({"repeat": 0, "steps": [)" + step + "]}"), false);
    agree(steps(R"({"repeat": 2, "steps": []})"), false);
    agree(steps(R"({"repeat": 2, "steps": [{"repeat": 2, "steps": 3}]})"), false);
    agree(steps(R"({"parallel": [{"steps": [)" + step + "]}]}"), false);
    agree(steps(R"({"parallel": {}})"), false);
    for (const char* tensor :
         {R"("x": {})", R"("x": 3)", R"("x y": {"shape": [1]})", R"("x": {"shape": []})",
          R"("x": {"shape": [1, 0]})", R"("x": {"shape": [1.5]})", R"("x": {"shape": ["1"]})",
          R"("x": {"shape": [1], "type": "f8"})", R"("x": {"shape": [1], "block": 1})",
          R"("x": {"pattern": {"file": "a.mtx"}, "layout": "row_major"})",
          R"("x": {"pattern": {"file": "a.mtx"}, "shape": [1]})",
          R"("x": {"pattern": {"generator": "banded", "density": 1}})"}) {
        agree(pipeline + ", \"tensors\": {" + tensor + "}, \"steps\": [" + step + "]", false);
    }
    agree("", false);
    agree(R"("schema_version": 1)", false);
    agree(R"("schema_version": 1, "kind": "conv")", false);
    agree(R"("schema_version": 1, "kind": 3)", false);
    agree(R"("kind": "matmul", "m": 2, "k": 3, "n": 4)", false);
    agree(R"("schema_version": 1, "kind": "matmul", "m": 2, "k": 3)", false);
    agree(matmul + R"(, "block": 16)", false);
    agree(matmul + R"(, "dtype": "f32")", true);
    agree(matmul + R"(, "dtype": "f64")", false);
    agree(matmul + R"(, "values": "random")", false);
    agree(matmul + R"(, "values": "a_npy")", false);
    agree(matmul + R"(, "seed": -1)", false);
    agree(spmm, false);
    agree(spmm + R"(, "pattern": {})", false);
    agree(spmm + R"(, "pattern": {"file": "a.csv"})", false);
    agree(spmm + R"(, "pattern": {"file": "a.mtx", "density": 0.5})", false);
    agree(spmm + R"(, "pattern": {"file": "a.mtx", "generator": "uniform"})", false);
    agree(spmm + R"(, "pattern": {"file": "a.mtx", "values": "two"})", false);
    agree(generated, false);
    agree(generated + R"(, "m": 5)", false);
    agree(generated + R"(, "m": 0, "k": 6)", false);
    agree(generated + R"(, "m": 5, "k": 6, "block": 8)", true);
    agree(generated + R"(, "m": 5, "k": 6, "block": 2)", false);
    agree(generated + R"(, "m": 5, "k": 1000001)", false);
}
