// SPDX-License-Identifier: MIT
// Products as their files say: the ends of their sizes, and the files that they name.
#include "base/config/document.h"
#include "base/error.h"
#include "kernels/catalog/load.h"
#include "kernels/workload/npy.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace tessera;
using Kind = workload::ValuesSpec::Kind;

namespace {

catalog::LoadedWorkload load(const std::string& text, const std::string& file = "a.json",
                             const std::vector<std::string>& sets = {}) {
    return catalog::load_workload(config::parse_document(text, "a.json"), file,
                                  {.roots = {test::source_path("configs")}}, sets);
}

std::string refusal(const std::string& text, const std::vector<std::string>& sets = {}) {
    try {
        static_cast<void>(load(text, "a.json", sets));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

std::string matmul(std::int64_t m, std::int64_t k, std::int64_t n, const std::string& more = "") {
    return fmt::format(R"({{"schema_version": 1, "kind": "matmul", "m": {}, "k": {}, "n": {}{}}})",
                       m, k, n, more);
}

std::string spmm(const std::string& sizes, const std::string& pattern) {
    return fmt::format(
        R"({{"schema_version": 1, "kind": "spmm", "mode": "static", "n": 4{}, "pattern": {}}})",
        sizes, pattern);
}

const char* const kUniform = R"({"generator": "uniform", "density": 0.5})";

} // namespace

TEST_CASE("sizes of products are from 1 up to the longest dimension", "[unit][catalog]") {
    const std::int64_t longest = 1'000'000;
    for (const std::int64_t side : {std::int64_t{1}, longest}) {
        for (const int which : {0, 1, 2}) {
            const auto size = [&](int dimension) { return dimension == which ? side : 5; };
            const auto loaded = load(matmul(size(0), size(1), size(2)));
            const auto& made = std::get<workload::MatmulWorkload>(loaded.workload.kind);
            CHECK(made.m == size(0));
            CHECK(made.k == size(1));
            CHECK(made.n == size(2));
        }
        const auto loaded = load(spmm(fmt::format(R"(, "m": {}, "k": 5)", side), kUniform));
        CHECK(std::get<workload::SpmmWorkload>(loaded.workload.kind).m == side);
        const auto turned = load(spmm(fmt::format(R"(, "m": 5, "k": {})", side), kUniform));
        CHECK(std::get<workload::SpmmWorkload>(turned.workload.kind).k == side);
    }
    for (const std::int64_t side : {std::int64_t{0}, longest + 1}) {
        for (const auto& [text, key] :
             {std::pair{matmul(side, 5, 5), "m"}, std::pair{matmul(5, side, 5), "k"},
              std::pair{matmul(5, 5, side), "n"},
              std::pair{spmm(fmt::format(R"(, "m": {}, "k": 5)", side), kUniform), "m"},
              std::pair{spmm(fmt::format(R"(, "m": 5, "k": {})", side), kUniform), "k"}}) {
            CHECK(refusal(text).find(fmt::format("/{}: got {} ", key, side)) != std::string::npos);
        }
    }
}

TEST_CASE("partials of a product are as its operands if nothing else is said", "[unit][catalog]") {
    const auto partials = [](const std::string& more, const std::vector<std::string>& sets = {}) {
        return std::get<workload::MatmulWorkload>(
                   load(matmul(4, 4, 4, more), "a.json", sets).workload.kind)
            .partials;
    };
    CHECK(partials("") == ElementType::F16);
    CHECK(partials(R"(, "partials": "f32")") == ElementType::F32);
    CHECK(partials(R"(, "dtype": "f32")") == ElementType::F32);
    CHECK(partials(R"(, "dtype": "f16", "partials": "f32")") == ElementType::F32);
    CHECK(partials("", {"workload.dtype=f32"}) == ElementType::F32);
    CHECK(load(matmul(4, 4, 4, R"(, "dtype": "f32")")).resolved["partials"] == "f32");
    CHECK(refusal(matmul(4, 4, 4, R"(, "dtype": "f32", "partials": "f16")"))
              .find("/partials: got f16, expected f32 for dtype f32") != std::string::npos);
}

TEST_CASE("values of a bias need a bias", "[unit][catalog]") {
    const auto made =
        load(matmul(4, 4, 4, R"(, "bias": true, "activation": "relu", "values": "integer")"));
    const auto& product = std::get<workload::MatmulWorkload>(made.workload.kind);
    CHECK(product.bias);
    CHECK(product.activation == workload::Activation::Relu);
    CHECK(product.of_bias().kind == Kind::Integer);
    CHECK(refusal(matmul(4, 4, 4, R"(, "values_bias": "uniform")"))
              .find("/values_bias: got values, expected none where bias is false") !=
          std::string::npos);
}

TEST_CASE("values and their files are those of the operands that they are said of",
          "[unit][catalog]") {
    const auto made = load(matmul(2, 3, 4, R"(, "values": "integer", "values_b": "uniform")"));
    const auto& product = std::get<workload::MatmulWorkload>(made.workload.kind);
    CHECK(product.of_a().kind == Kind::Integer);
    CHECK(product.of_b().kind == Kind::Uniform);
    CHECK(made.resolved["values"] == "integer");
    CHECK(made.resolved["values_b"] == "uniform");
    CHECK_FALSE(made.resolved.contains("values_a"));
    const test::ScratchFolder scratch;
    const auto file = scratch.write(
        "v.npy", workload::npy_bytes_f16(std::vector<std::uint16_t>(4, 0x3c00), {2, 2}));
    const auto path = std::filesystem::path(file).parent_path() / "a.json";
    for (const std::string key : {"values", "values_a", "values_b"}) {
        CAPTURE(key);
        const auto loaded =
            load(matmul(2, 2, 2, fmt::format(R"(, "{}": "v.npy")", key)), path.string());
        const auto& given = std::get<workload::MatmulWorkload>(loaded.workload.kind);
        const auto& values = key == "values"     ? given.values
                             : key == "values_a" ? *given.values_a
                                                 : *given.values_b;
        CHECK(values.kind == Kind::File);
        CHECK(values.path == file);
        CHECK(values.key == "/" + key);
        CHECK(loaded.resolved[key] == "v.npy"); // as it was written
        CHECK_THROWS_AS(
            load(matmul(2, 2, 2, fmt::format(R"(, "{}": "w.npy")", key)), path.string()), IoError);
    }
    for (const std::string key : {"values", "values_b"}) {
        CAPTURE(key);
        const auto loaded = load(
            spmm(fmt::format(R"(, "m": 4, "k": 4, "{}": "v.npy")", key), kUniform), path.string());
        const auto& given = std::get<workload::SpmmWorkload>(loaded.workload.kind);
        CHECK((key == "values" ? given.values : *given.values_b).path == file);
    }
    const auto cora = load(spmm("", R"({"file": "cora.mtx"})"));
    CHECK(std::get<workload::SpmmWorkload>(cora.workload.kind).pattern.path ==
          test::source_path("configs/data/cora.mtx"));
}

TEST_CASE("overrides that begin with 'workload.' are the workload's", "[unit][catalog]") {
    const auto split = catalog::split_overrides(
        {"chip.tiles=4", "workload.m=3", "a.workload.m=3", "workloads.m=1", "workload.n=7"});
    CHECK(split.workload == std::vector<std::string>{"workload.m=3", "workload.n=7"});
    CHECK(split.machine ==
          std::vector<std::string>{"chip.tiles=4", "a.workload.m=3", "workloads.m=1"});
    const auto loaded = load(matmul(1, 2, 3), "folder/name.json", {"workload.m=9"});
    CHECK(std::get<workload::MatmulWorkload>(loaded.workload.kind).m == 9);
    CHECK(loaded.workload.name == "name");
}

TEST_CASE("a step of no known family still names its tensors", "[unit][catalog]") {
    const auto of_step = [](const std::string& step) {
        return refusal(R"({"schema_version": 1, "kind": "pipeline",
            "tensors": {"x": {"shape": [4, 8]}},
            "steps": [)" +
                       step + R"(, {"family": "relu", "inputs": ["h"], "output": "y"}]})");
    };
    // x is read and h is there: only the family is wrong
    const auto lines_of = [&](const std::string& step) {
        const auto text = of_step(step);
        return std::count(text.begin(), text.end(), '\n') + 1;
    };
    CHECK(lines_of(R"({"family": "rleu", "inputs": ["x"], "output": "h"})") == 1);
    CHECK(of_step(R"({"family": "rleu", "inputs": ["x"]})").find("unknown tensor 'h'") !=
          std::string::npos);
    CHECK(
        of_step(R"({"family": "rleu", "inputs": ["x"], "output": 3})").find("unknown tensor 'h'") !=
        std::string::npos);
}
