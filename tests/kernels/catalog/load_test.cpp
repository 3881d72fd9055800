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

#include <map>
#include <set>
#include <tuple>

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

TEST_CASE("a matrix in place of a workload is the sparse operand of a product", "[unit][catalog]") {
    const test::ScratchFolder scratch;
    const std::string file =
        scratch.write("graph.mtx", "%%MatrixMarket matrix coordinate real general\n"
                                   "3 5 2\n1 1 2.5\n3 4 -1\n");
    const auto loaded = catalog::load_workload(file, {}, {"workload.block=4"});
    CHECK(loaded.workload.name == "graph");
    const auto& product = std::get<workload::SpmmWorkload>(loaded.workload.kind);
    CHECK(product.n == catalog::kMatrixColumns);
    CHECK(product.block == 4);
    CHECK(product.pattern.path == file);
    CHECK(product.pattern.file_values == workload::PatternSpec::FileValues::File);
    REQUIRE(loaded.inputs.size() == 1); // what keys of points are made of
    CHECK(loaded.inputs.front().path == file);

    CHECK_THROWS_AS(catalog::read_workload(scratch.path("absent.mtx")), IoError);
    CHECK_THROWS_AS(catalog::read_workload(scratch.write("none.mtx", "{}")), ConfigError);
}

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
    const auto of_4 = scratch.write(
        "of_4.npy", workload::npy_bytes_f16(std::vector<std::uint16_t>(16, 0x3c00), {4, 4}));
    const auto path = std::filesystem::path(file).parent_path() / "a.json";
    for (const std::string key : {"values", "values_a", "values_b", "values_c"}) {
        CAPTURE(key);
        const auto loaded =
            load(matmul(2, 2, 2, fmt::format(R"(, "accumulate": true, "{}": "v.npy")", key)),
                 path.string());
        const auto& given = std::get<workload::MatmulWorkload>(loaded.workload.kind);
        const auto& values = key == "values"     ? given.values
                             : key == "values_a" ? *given.values_a
                             : key == "values_b" ? *given.values_b
                                                 : *given.values_c;
        CHECK(values.kind == Kind::File);
        CHECK(values.path == file);
        CHECK(values.key == "/" + key);
        CHECK(loaded.resolved[key] == "v.npy"); // as it was written
        CHECK_THROWS_AS(
            load(matmul(2, 2, 2, fmt::format(R"(, "accumulate": true, "{}": "w.npy")", key)),
                 path.string()),
            IoError);
    }
    for (const std::string key : {"values", "values_b", "values_c"}) {
        CAPTURE(key);
        const auto loaded =
            load(spmm(fmt::format(R"(, "m": 4, "k": 4, "accumulate": true, "{}": "of_4.npy")", key),
                      kUniform),
                 path.string());
        const auto& given = std::get<workload::SpmmWorkload>(loaded.workload.kind);
        CHECK((key == "values"     ? given.values
               : key == "values_b" ? *given.values_b
                                   : *given.values_c)
                  .path == of_4);
    }
    const auto cora = load(spmm("", R"({"file": "cora.mtx"})"));
    CHECK(std::get<workload::SpmmWorkload>(cora.workload.kind).pattern.path ==
          test::source_path("configs/data/cora.mtx"));
}

TEST_CASE("a file of an operand has the sizes that the product reads it in", "[unit][catalog]") {
    const test::ScratchFolder scratch;
    // m, k, n = 2, 3, 4: no two operands are alike
    using Sizes = std::vector<std::int64_t>;
    const std::vector<Sizes> all{{2, 3},    {3, 2},    {3, 4},    {4, 3},    {2, 4},
                                 {4, 2},    {1, 4},    {5, 2, 3}, {5, 3, 2}, {5, 3, 4},
                                 {5, 4, 3}, {5, 2, 4}, {5, 1, 4}};
    const auto name_of = [](const Sizes& sizes) {
        return fmt::format("of_{}.npy", fmt::join(sizes, "_"));
    };
    for (const Sizes& sizes : all) {
        std::size_t elements = 1;
        for (const std::int64_t size : sizes) {
            elements *= static_cast<std::size_t>(size);
        }
        static_cast<void>(scratch.write(
            name_of(sizes), workload::npy_bytes("<f4", sizes, std::string(4 * elements, 0))));
    }
    const auto taken = [&](const std::string& text) {
        std::vector<Sizes> some;
        for (const Sizes& sizes : all) {
            try {
                static_cast<void>(
                    load(fmt::format(fmt::runtime(text), name_of(sizes)), scratch.path("a.json")));
                some.push_back(sizes);
            } catch (const ConfigError& error) {
                CHECK(error.diagnostics().size() == 1);
                CHECK(error.diagnostics().front().message.find("shape: got") != std::string::npos);
            }
        }
        return some;
    };
    const auto of_matmul = [&](const std::string& key, const std::string& more) {
        return taken(R"({{"schema_version": 1, "kind": "matmul", "m": 2, "k": 3, "n": 4, )" + more +
                     "\"" + key + R"(": "{}"}})");
    };
    const std::string turned_a = R"("transpose_a": true, )";
    const std::string turned_b = R"("transpose_b": true, )";
    for (const std::string more : {"", R"("groups": 5, )"}) {
        const auto grouped = [&](Sizes sizes) {
            if (!more.empty()) { // one below the other will do as well, but no file here is so long
                sizes.insert(sizes.begin(), 5);
            }
            return std::vector<Sizes>{sizes};
        };
        CAPTURE(more);
        CHECK(of_matmul("values_a", more) == grouped({2, 3}));
        CHECK(of_matmul("values_a", more + turned_a) == grouped({3, 2}));
        CHECK(of_matmul("values_a", more + turned_b) == grouped({2, 3}));
        CHECK(of_matmul("values_b", more) == grouped({3, 4}));
        CHECK(of_matmul("values_b", more + turned_b) == grouped({4, 3}));
        CHECK(of_matmul("values_b", more + turned_a) == grouped({3, 4}));
        CHECK(of_matmul("values_bias", more + R"("bias": true, )") == grouped({1, 4}));
        CHECK(of_matmul("values_c", more + R"("accumulate": true, )" + turned_a) ==
              grouped({2, 4}));
    }
    const auto of_spmm = [&](const std::string& key, const std::string& more,
                             const std::string& sizes, const std::string& pattern) {
        return taken(R"({{"schema_version": 1, "kind": "spmm", "n": 4, )" + sizes + more + "\"" +
                     key + R"(": "{}", "pattern": )" + pattern + "}}");
    };
    static_cast<void>(
        scratch.write("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n"));
    static_cast<void>(scratch.write(
        "a_turned.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 2 1\n1 1\n"));
    const std::string generated = R"({{"generator": "uniform", "density": 0.5}})";
    const std::string of_file = R"({{"file": "a.mtx"}})";
    const std::string of_turned = R"({{"file": "a_turned.mtx"}})";
    const std::string sums = R"("accumulate": true, )";
    for (const auto& [sizes, pattern, more] :
         {std::tuple<std::string, std::string, std::string>{R"("m": 2, "k": 3, )", generated, ""},
          {R"("m": 2, "k": 3, )", generated, turned_a},
          {"", of_file, ""},
          {"", of_turned, turned_a}}) {
        CAPTURE(pattern, more);
        CHECK(of_spmm("values_b", more, sizes, pattern) == std::vector<Sizes>{{3, 4}});
        CHECK(of_spmm("values_b", more + turned_b, sizes, pattern) == std::vector<Sizes>{{4, 3}});
        CHECK(of_spmm("values_c", more + sums, sizes, pattern) == std::vector<Sizes>{{2, 4}});
        CHECK(of_spmm("values_b", more + sums, sizes, pattern) == std::vector<Sizes>{{3, 4}});
    }
    CHECK(
        taken(
            R"({{"schema_version": 1, "kind": "top_k", "rows": 4, "n": 3, "k": 1, "values": "{}"}})") ==
        std::vector<Sizes>{{4, 3}});
}

TEST_CASE("rows of shuffled numbers are as long as their type has numbers", "[unit][catalog]") {
    const auto told = [](const std::string& dtype, std::int64_t n) {
        return refusal(fmt::format(
            R"({{"schema_version": 1, "kind": "top_k", "n": {}, "k": 1, "dtype": "{}", "values": "shuffled"}})",
            n, dtype));
    };
    const std::int64_t most = 2048; // binary16 has all whole numbers up to 2^11
    CHECK(told("f16", most).empty());
    CHECK(told("f16", most + 1)
              .find("/values: got shuffled rows of 2049 elements in f16, expected at most 2048: "
                    "f16 does not have all larger numbers") != std::string::npos);
    CHECK(told("f32", most + 1).empty());
}

TEST_CASE("a tensor is named of files that have several", "[unit][catalog]") {
    CHECK(refusal(spmm("", R"({"file": "cora.mtx", "tensor": "w"})"))
              .find("/pattern/tensor: got 'w' of cora.mtx, expected a tensor of a .safetensors "
                    "file") != std::string::npos);
}

TEST_CASE("a path of a workload is one that --set takes", "[unit][catalog]") {
    const auto resolved = load(R"({"schema_version": 1, "kind": "pipeline", "sizes": {"width": 8},
                 "tensors": {"x": {"shape": [4, "width"]}},
                 "steps": [{"family": "relu", "inputs": ["x"], "output": "y"}]})")
                              .resolved;
    for (const std::string path :
         {"workload.sizes.width", "workload.tensors.x.values", "workload.seed"}) {
        CHECK(catalog::is_workload_path(path, resolved));
    }
    for (const std::string path : {"workload.sizes.height", "workload.sizes", "workload.sizes.",
                                   "workload.tensors.w.values", "sizes.width"}) {
        CHECK_FALSE(catalog::is_workload_path(path, resolved));
    }
    const auto without = load(matmul(4, 4, 4)).resolved;
    CHECK(catalog::is_workload_path("workload.m", without));
    CHECK_FALSE(catalog::is_workload_path("workload.sizes.m", without));
    CHECK_FALSE(catalog::is_workload_path("workload.sizes.m"));
    CHECK(catalog::is_workload_path("workload.m"));
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

TEST_CASE("a file that is not found is told with all places that were looked at",
          "[unit][catalog]") {
    const test::ScratchFolder scratch;
    const auto beside = scratch.path("a.json");
    const auto text = matmul(2, 2, 2, R"(, "values_a": "w.npy")");
    const std::string data = test::source_path("configs/data/w.npy");
    CHECK_THROWS_WITH(load(text, beside),
                      Catch::Contains("/values_a: cannot find 'w.npy'; looked for " +
                                      scratch.path("w.npy") + ", " + data));
    // what is said on the command line is looked for where that is
    CHECK_THROWS_WITH(load(matmul(2, 2, 2), beside, {"workload.values_a=w.npy"}),
                      Catch::Contains("cannot find 'w.npy'; looked for w.npy, " + data));
    CHECK_THROWS_WITH(load(text, beside, {"workload.m=3"}),
                      Catch::Contains("looked for " + scratch.path("w.npy") + ", "));
}

TEST_CASE("roots are no whole numbers", "[unit][catalog]") {
    const char* const cora = R"({"file": "cora.mtx", "values": "gcn"})";
    CHECK(refusal(spmm(R"(, "values": "integer")", cora))
              .find("/pattern/values: got gcn together with values 'integer', expected whole "
                    "numbers; 'ones' keeps the pattern") != std::string::npos);
    CHECK(refusal(spmm(R"(, "values": "uniform")", cora)).empty());
}

TEST_CASE("the files that a workload names are listed with the places that name them",
          "[unit][catalog]") {
    const test::ScratchFolder scratch;
    constexpr std::int64_t kOfCora = 2708;
    for (const auto& [name, rows, columns] :
         {std::tuple<const char*, std::int64_t, std::int64_t>{"a.npy", 2, 2},
          {"b.npy", 2, 2},
          {"c.npy", 1, 2},
          {"x.npy", kOfCora, 4}}) {
        const std::vector<std::uint16_t> ones(static_cast<std::size_t>(rows * columns), 0x3c00);
        static_cast<void>(scratch.write(name, workload::npy_bytes_f16(ones, {rows, columns})));
    }
    const auto loaded = load(matmul(2, 2, 2,
                                    R"(, "bias": true, "values_a": "a.npy", "values_b": "b.npy",
                                       "values_bias": "c.npy")"),
                             scratch.path("a.json"));
    const auto& made = std::get<workload::MatmulWorkload>(loaded.workload.kind);
    CHECK(made.of_a().path == scratch.path("a.npy"));
    CHECK(made.of_b().path == scratch.path("b.npy"));
    CHECK(made.of_bias().path == scratch.path("c.npy"));
    std::vector<std::string> found;
    for (const auto& input : loaded.inputs) {
        found.push_back(input.pointer + " " + input.path.filename().string());
    }
    CHECK(found ==
          std::vector<std::string>{"/values_a a.npy", "/values_b b.npy", "/values_bias c.npy"});
    const auto sparse =
        load(spmm(R"(, "values_b": "x.npy")", R"({"file": "cora.mtx"})"), scratch.path("a.json"));
    REQUIRE(sparse.inputs.size() == 2);
    CHECK(sparse.inputs[0].pointer == "/values_b");
    CHECK(sparse.inputs[1].pointer == "/pattern/file");
    CHECK(load(matmul(2, 2, 2)).inputs.empty());
}

TEST_CASE("every way to say a pattern is that pattern, and is written as it was said",
          "[unit][catalog]") {
    using Source = workload::PatternSpec::Source;
    const auto read = [](const std::string& pattern) {
        const auto loaded = load(spmm(R"(, "m": 64, "k": 64)", pattern));
        return std::pair(std::get<workload::SpmmWorkload>(loaded.workload.kind).pattern,
                         loaded.resolved["pattern"]);
    };
    for (const auto& [name, source] : {std::pair{"uniform", Source::Uniform},
                                       {"banded", Source::Banded},
                                       {"power_law", Source::PowerLaw},
                                       {"n_of_m", Source::NOfM}}) {
        CAPTURE(name);
        const auto [pattern, resolved] =
            read(fmt::format(R"({{"generator": "{}", "density": 0.25, "seed": 7}})", name));
        CHECK(pattern.source == source);
        CHECK(pattern.density == 0.25);
        CHECK(pattern.seed == 7);
        CHECK(resolved["generator"] == name);
        CHECK(resolved["density"] == 0.25);
        CHECK(resolved.contains("exponent") == (source == Source::PowerLaw));
        CHECK(resolved.contains("group") == (source == Source::NOfM));
        CHECK_FALSE(resolved.contains("file"));
    }
    CHECK(read(R"({"generator": "power_law", "density": 0.25, "exponent": 2.5})").first.exponent ==
          2.5);
    CHECK(read(R"({"generator": "n_of_m", "density": 0.25, "group": 8})").first.group == 8);
    const auto of_file = load(spmm("", R"({"file": "cora.mtx", "duplicates": "sum"})"));
    CHECK(std::get<workload::SpmmWorkload>(of_file.workload.kind).pattern.duplicates ==
          workload::Duplicates::Sum);
    CHECK(of_file.resolved["pattern"]["file"] == "cora.mtx");
    CHECK_FALSE(of_file.resolved["pattern"].contains("generator"));
}

TEST_CASE("a density that keeps no whole number of a group's blocks is refused where it stands",
          "[unit][catalog]") {
    const auto of = [](const std::string& density) {
        return refusal(spmm(R"(, "m": 64, "k": 64)",
                            R"({"generator": "n_of_m", "density": )" + density + "}"));
    };
    CHECK(of("0.5").empty());
    CHECK(of("0.3").find("/pattern/density: got 0.3, 1.2 of each 4 blocks, expected a whole "
                         "number of them: 0.25 or 0.5") != std::string::npos);
}

TEST_CASE("generated patterns need the sizes that a file would have", "[unit][catalog]") {
    CHECK(refusal(spmm("", kUniform)).find("/m: missing") != std::string::npos);
    CHECK(refusal(spmm(R"(, "m": 4)", kUniform)).find("/k: missing") != std::string::npos);
    CHECK(refusal(spmm(R"(, "m": 4, "k": 4)", kUniform)).empty());
    for (const std::int64_t block : {1, 2, 4, 8, 16, 17}) {
        const bool is_one = block != 2 && block != 17;
        CHECK(refusal(spmm(fmt::format(R"(, "m": 64, "k": 64, "block": {})", block), kUniform))
                  .empty() == is_one);
    }
}

TEST_CASE("what a product may say is all in it", "[unit][catalog]") {
    const auto made = load(matmul(2, 3, 4,
                                  R"(, "groups": 5, "transpose_a": true, "transpose_b": true,
                                     "plan": "published", "seed": 9, "dtype": "f143",
                                     "activation": "gelu")"));
    const auto& product = std::get<workload::MatmulWorkload>(made.workload.kind);
    CHECK(product.groups == 5);
    CHECK(product.transpose_a);
    CHECK(product.transpose_b);
    CHECK(product.plan == workload::PlanKind::Published);
    CHECK(product.seed == 9);
    CHECK(product.dtype == ElementType::F143);
    CHECK(product.partials == ElementType::F16);
    CHECK(product.activation == workload::Activation::Gelu);
    const auto turned = load(spmm(R"(, "m": 4, "k": 4, "transpose_a": true, "transpose_b": true,
                                     "dtype": "f32", "plan": "published")",
                                  kUniform));
    const auto& sparse = std::get<workload::SpmmWorkload>(turned.workload.kind);
    CHECK(sparse.transpose_a);
    CHECK(sparse.transpose_b);
    CHECK(sparse.dtype == ElementType::F32);
    CHECK(sparse.partials == ElementType::F32);
    CHECK(sparse.plan == workload::PlanKind::Published);
}

TEST_CASE("a parameter of one form of an object says which form that is", "[unit][catalog]") {
    std::map<std::string, std::set<std::string>> forms; // by path
    for (const config::Parameter& one :
         config::parameters(catalog::workload_shape(), catalog::kSetPrefix)) {
        forms[one.path].insert(one.form);
    }
    using Forms = std::set<std::string>;
    const auto of = [&](const std::string& path) { return forms.at("workload." + path); };
    const std::string spmm = "workload.kind=spmm, ";
    const std::string pipeline = "workload.kind=pipeline, ";
    const std::string tensor = "workload.tensors.NAME.";
    CHECK(of("transpose_b") == Forms{"workload.kind=matmul", "workload.kind=spmm"});
    CHECK(of("pattern.exponent") == Forms{spmm + "workload.pattern.generator=power_law"});
    CHECK(of("pattern.duplicates") == Forms{spmm + "with workload.pattern.file"});
    CHECK(of("tensors.NAME.below") == Forms{pipeline + "with " + tensor + "shape"});
    CHECK(of("tensors.NAME.pattern.group") ==
          Forms{pipeline + tensor + "pattern.generator=n_of_m"});
    CHECK(of("tensors.NAME.pattern.duplicates") ==
          Forms{pipeline + "with " + tensor + "pattern.file"});
    CHECK(of("tensors.NAME.sequence.folder") == Forms{pipeline + "with " + tensor + "sequence"});
    CHECK(of("steps.N.into") == Forms{pipeline + "with workload.steps.N.store"});
    CHECK(of("train.optimiser.momentum") ==
          Forms{pipeline + "workload.train.optimiser.family=descent",
                pipeline + "workload.train.optimiser.family=sgd"});
}
