// SPDX-License-Identifier: MIT
#include "kernels/catalog/load.h"
#include "kernels/workload/npy.h"
#include "tests/support/source_path.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::catalog;
using namespace tessera::workload;
using tessera::test::Lines;
using tessera::test::mistakes_of;
using tessera::test::ScratchFolder;
using tessera::test::source_paths;

namespace {

/// A file of values.
std::string ones(std::int64_t rows, std::int64_t columns) {
    const auto elements = static_cast<std::size_t>(rows * columns);
    return workload::npy_bytes_f32(std::vector<float>(elements, 1), {rows, columns});
}

Lines mistakes(const std::string& text, const Lines& sets = {}) {
    const ScratchFolder scratch;
    const auto file = scratch.write("a.json", text);
    return mistakes_of([&] { static_cast<void>(load_workload(file, source_paths(), sets)); },
                       scratch.path());
}

std::string io_error(const std::string& file, const Lines& sets = {}) {
    try {
        static_cast<void>(load_workload(file, source_paths(), sets));
    } catch (const IoError& error) {
        return error.what();
    }
    return "";
}

const char* const kSpmm = R"({"schema_version": 1, "kind": "spmm", "mode": "static", "n": 4,)"
                          "\n";

} // namespace

TEST_CASE("every workload in configs loads and its resolved form loads to the same",
          "[unit][config]") {
    const auto entries = config::list_configs(source_paths(), "workloads");
    REQUIRE(entries.size() >= 10);
    for (const auto& entry : entries) {
        INFO(entry.name);
        const auto loaded = load_workload(entry.name, source_paths());
        CHECK(loaded.workload.name == entry.name);
        const ScratchFolder scratch;
        const auto copy = scratch.write("copy.json", loaded.resolved.dump());
        CHECK(load_workload(copy, source_paths()).resolved == loaded.resolved);
    }
}

TEST_CASE("a matmul is read with its defaults", "[unit][config]") {
    const ScratchFolder scratch;
    const auto file = scratch.write(
        "small.json", R"({"schema_version": 1, "kind": "matmul", "m": 2, "k": 3, "n": 4})");
    const auto loaded = load_workload(file, {});
    CHECK(loaded.workload.name == "small");
    const auto& matmul = std::get<MatmulWorkload>(loaded.workload.kind);
    CHECK(matmul.m == 2);
    CHECK(matmul.k == 3);
    CHECK(matmul.n == 4);
    CHECK(matmul.partials == MatmulWorkload{}.partials);
    CHECK(matmul.seed == MatmulWorkload{}.seed);
    CHECK(matmul.values.kind == ValuesSpec::Kind::Uniform);
}

TEST_CASE("cora is read with its pattern from the data folder", "[unit][config]") {
    const auto loaded = load_workload("cora", source_paths());
    const auto& spmm = std::get<SpmmWorkload>(loaded.workload.kind);
    CHECK(spmm.m == 0); // as the pattern file says
    CHECK(spmm.n == 512);
    CHECK(spmm.pattern.source == PatternSpec::Source::File);
    CHECK(spmm.pattern.file_values == PatternSpec::FileValues::Gcn);
    CHECK(spmm.pattern.path == tessera::test::source_path("configs/data/cora.mtx"));
    CHECK(std::filesystem::is_regular_file(spmm.pattern.path));
    CHECK(loaded.resolved["pattern"]["file"] == "cora.mtx");
    CHECK_FALSE(loaded.resolved.contains("m"));
}

TEST_CASE("a generated pattern and its block are read", "[unit][config]") {
    const auto loaded = load_workload(
        "spmm_static_b16_4096", source_paths(),
        {"workload.pattern.generator=banded", "workload.pattern.seed=7", "workload.partials=f32"});
    const auto& spmm = std::get<SpmmWorkload>(loaded.workload.kind);
    CHECK(spmm.m == 4096);
    CHECK(spmm.block == 16);
    CHECK(spmm.partials == ElementType::F32);
    CHECK(spmm.pattern.source == PatternSpec::Source::Banded);
    CHECK(spmm.pattern.density == 0.0625);
    CHECK(spmm.pattern.seed == 7);
    CHECK(loaded.origins.at("/pattern/seed").text() == "--set");
}

TEST_CASE("set options change a workload under its own prefix", "[unit][config]") {
    const auto loaded =
        load_workload("tiny_matmul", source_paths(), {"workload.n=64", "workload.values=uniform"});
    const auto& matmul = std::get<MatmulWorkload>(loaded.workload.kind);
    CHECK(matmul.n == 64);
    CHECK(matmul.values.kind == ValuesSpec::Kind::Uniform);
    const auto bad = [](const std::string& option) {
        return mistakes_of(
            [&] { static_cast<void>(load_workload("tiny_matmul", source_paths(), {option})); });
    };
    CHECK(bad("workload.n=0") ==
          Lines{"--set: workload.n: got 0 columns, expected 1..1000000 columns"});
    CHECK(bad("workload.valeus=integer") ==
          Lines{"--set: workload.valeus: unknown key; did you mean 'workload.values'?"});
    CHECK(bad("workload.partials=f31") == Lines{"--set: workload.partials: got string \"f31\", "
                                                "expected one of f16, f32; did you mean 'f32'?"});
    CHECK(bad("workload.dtype=f64") ==
          Lines{"--set: workload.dtype: got string \"f64\", "
                "expected one of f16, f32, f143, f152; did you mean 'f143'?"});
    // the file says f16 partials
    REQUIRE(bad("workload.dtype=f32").size() == 1);
    CHECK_THAT(bad("workload.dtype=f32").front(),
               Catch::EndsWith("/partials: got f16, expected f32 for dtype f32"));
    CHECK(bad("workload.block=16") ==
          Lines{"--set: workload.block: does not go with kind 'matmul'"});
    // byte is near to bytes, which other kinds have
    CHECK(bad("workload.byte=4") == Lines{"--set: workload.byte: unknown key"});
    const auto other_kind = bad("workload.kind=sync");
    REQUIRE(!other_kind.empty());
    CHECK(
        other_kind.front().find(": does not go with kind 'sync'; because of --set workload.kind") !=
        std::string::npos);
    const auto split = split_overrides({"tile.workers=4", "workload.n=3", "workloads=1"});
    CHECK(split.machine == Lines{"tile.workers=4", "workloads=1"});
    CHECK(split.workload == Lines{"workload.n=3"});
}

/// "matmul, spmm, ...": all kinds, as messages list them.
std::string kinds() {
    std::string out;
    for (const auto& form : catalog::workload_shape().alternatives) {
        out += (out.empty() ? "" : ", ") + form.name;
    }
    return out;
}

TEST_CASE("a workload without a known kind says which there are", "[unit][config]") {
    REQUIRE(kinds().rfind("matmul, spmm, sync", 0) == 0);
    CHECK(mistakes(R"({"schema_version": 1, "kind": "matmull"})") ==
          Lines{"a.json:1:31: /kind: got string \"matmull\", expected one of " + kinds() +
                "; did you mean 'matmul'?"});
    CHECK(mistakes(R"({"schema_version": 1})") ==
          Lines{"a.json:1:1: /kind: missing, expected one of " + kinds()});
    CHECK(mistakes(R"({"knid": "spmm"})") ==
          Lines{"a.json:1:1: /kind: missing, expected one of " + kinds() +
                "; got key 'knid', did you mean 'kind'?"});
}

TEST_CASE("keys of another form are told apart from unknown ones", "[unit][config]") {
    CHECK(mistakes(R"({"schema_version": 1, "kind": "matmul", "m": 2, "k": 3, "n": 4,)"
                   "\n"
                   R"("block": 16, "colour": 1})") ==
          Lines{"a.json:2:1: /block: does not go with kind 'matmul'",
                "a.json:2:14: /colour: unknown key"});
    CHECK(mistakes(std::string(kSpmm) + R"("pattern": {"file": "a.mtx", "density": 1}})") ==
          Lines{"a.json:2:30: /pattern/density: does not go with 'file'"});
}

TEST_CASE("what one form requires is not asked of another", "[unit][config]") {
    // A generator's m and k are not missed where the file decides, which a key of the generator
    // only disturbs.
    CHECK(
        mistakes(std::string(kSpmm) + R"("pattern": {"file": "a.mtx", "generator": "uniform"}})") ==
        Lines{"a.json:2:30: /pattern/generator: does not go with 'file'"});
    CHECK(mistakes(std::string(kSpmm) + R"("pattern": {"generator": "uniform", "density": 0.5}})")
              .size() == 2);
    CHECK(mistakes(std::string(kSpmm) +
                   R"("m": 4, "k": 4, "pattern": {"generator": "uniform", "density": 0.5}})")
              .empty());
}

TEST_CASE("missing parts of a sparse workload are told", "[unit][config]") {
    CHECK(mistakes(std::string(kSpmm) + R"("block": 2})") ==
          Lines{"a.json:1:1: /pattern: missing, expected an object",
                "a.json:2:10: /block: got number 2, expected one of 1, 4, 8, 16"});
    CHECK(mistakes(std::string(kSpmm) + R"("pattern": {"genrator": "uniform"}})") ==
          Lines{"a.json:2:12: /pattern: missing, expected file or generator; got key 'genrator', "
                "did you mean 'generator'?"});
    CHECK(mistakes(std::string(kSpmm) +
                   R"("pattern": {"generator": "uniform", "density": 0}, "k": 3})") ==
          Lines{"a.json:1:1: /m: missing together with pattern.generator, expected 1..1000000 "
                "rows",
                "a.json:2:48: /pattern/density: got 0, expected 1e-06..1"});
}

TEST_CASE("keys of a pattern's generator go with no other", "[unit][config]") {
    const std::string head = std::string(kSpmm) + R"("m": 8, "k": 8, "pattern": {"density": 0.5,)"
                                                  "\n";
    const auto loaded = [&](const std::string& keys) {
        const ScratchFolder scratch;
        const auto file = scratch.write("a.json", head + keys + "}}");
        return load_workload(file, source_paths());
    };
    const auto pattern = [&](const std::string& keys) {
        return std::get<SpmmWorkload>(loaded(keys).workload.kind).pattern;
    };
    CHECK(pattern(R"("generator": "power_law")").source == PatternSpec::Source::PowerLaw);
    CHECK(pattern(R"("generator": "power_law")").exponent == 1.0);
    CHECK(pattern(R"("generator": "power_law", "exponent": 0.5)").exponent == 0.5);
    CHECK(pattern(R"("generator": "n_of_m")").source == PatternSpec::Source::NOfM);
    CHECK(pattern(R"("generator": "n_of_m")").group == 4);
    CHECK(pattern(R"("generator": "n_of_m", "group": 2, "seed": 3)").group == 2);
    const auto resolved = [&](const std::string& keys) {
        return loaded(keys).resolved["pattern"].dump();
    };
    CHECK(resolved(R"("generator": "uniform")") ==
          R"({"density":0.5,"generator":"uniform","seed":1})");
    CHECK(resolved(R"("generator": "banded")") ==
          R"({"density":0.5,"generator":"banded","seed":1})");
    CHECK(resolved(R"("generator": "power_law")") ==
          R"({"density":0.5,"exponent":1.0,"generator":"power_law","seed":1})");
    CHECK(resolved(R"("generator": "n_of_m")") ==
          R"({"density":0.5,"generator":"n_of_m","group":4,"seed":1})");

    const auto wrong = [&](const std::string& keys, const Lines& sets = {}) {
        return mistakes(head + keys + "}}", sets);
    };
    CHECK(wrong(R"("generator": "uniform", "exponent": 2)") ==
          Lines{"a.json:3:25: /pattern/exponent: does not go with generator 'uniform'"});
    CHECK(wrong(R"("generator": "power_law", "group": 2)") ==
          Lines{"a.json:3:27: /pattern/group: does not go with generator 'power_law'"});
    CHECK(wrong(R"("generator": "n_of_m", "exponent": 2)") ==
          Lines{"a.json:3:24: /pattern/exponent: does not go with generator 'n_of_m'"});
    CHECK(wrong(R"("generator": "n_of_m", "values": "ones")") ==
          Lines{"a.json:3:24: /pattern/values: does not go with 'generator'"});
    CHECK(wrong(R"("generator": "banded", "file": "cora.mtx")").size() == 2); // density, generator
    CHECK(
        wrong(R"("generator": "n_of_m", "group": 2)", {"workload.pattern.generator=banded"}) ==
        Lines{"a.json:3:24: /pattern/group: does not go with generator 'banded'; because of --set "
              "workload.pattern.generator"});
    CHECK(
        wrong(R"("generator": "power-law")") ==
        Lines{"a.json:3:14: /pattern/generator: got string \"power-law\", expected one of uniform, "
              "banded, power_law, n_of_m; did you mean 'power_law'?"});
    CHECK(wrong(R"("generator": "power_law", "exponent": 0)") ==
          Lines{"a.json:3:39: /pattern/exponent: got 0, expected 1e-06..16"});
    CHECK(wrong(R"("generator": "n_of_m", "group": 0)") ==
          Lines{"a.json:3:33: /pattern/group: got 0 blocks, expected 1..1024 blocks"});
    CHECK(wrong(R"("generator": "n_of_m", "group": 3)") ==
          Lines{"a.json:2:40: /pattern/density: got 0.5, 1.5 of each 3 blocks, expected a whole "
                "number of them: 0.333333 or 0.666667"});
    CHECK(wrong(R"("generator": "n_of_m")", {"workload.pattern.density=0.1"}) ==
          Lines{"--set: workload.pattern.density: got 0.1, 0.4 of each 4 blocks, expected a whole "
                "number of them: 0.25"});
}

TEST_CASE("a pattern's file has one of the known endings", "[unit][config]") {
    const auto of = [](const std::string& name) {
        return mistakes(std::string(kSpmm) + R"("pattern": {"file": ")" + name + "\"}}");
    };
    CHECK(of("a.csv") == Lines{"a.json:2:21: /pattern/file: got string \"a.csv\", expected a name "
                               "that ends in .mtx, .smtx, .npy, .npz, .safetensors, .mtx.gz, "
                               ".smtx.gz or .npy.gz"});
    for (const std::string name : {"a.mtx", "a.smtx", "a.npy", "a.npz", "a.safetensors", "a.mtx.gz",
                                   "a.smtx.gz", "a.npy.gz"}) {
        const ScratchFolder scratch;
        const auto made = scratch.write(name, "");
        const auto file = scratch.write("a.json", std::string(kSpmm) + R"("pattern": {"file": ")" +
                                                      name + "\"}}");
        const auto loaded = load_workload(file, source_paths());
        CHECK(std::get<SpmmWorkload>(loaded.workload.kind).pattern.path == made);
    }
}

TEST_CASE("a tensor is named of a .safetensors file only", "[unit][config]") {
    const auto of = [](const std::string& name) {
        return mistakes(std::string(kSpmm) + R"("pattern": {"file": ")" + name +
                        R"(", "tensor": "fc1"}})");
    };
    CHECK(of("a.npz") == Lines{"a.json:2:40: /pattern/tensor: got 'fc1' of a.npz, expected a "
                               "tensor of a .safetensors file"});
}

TEST_CASE("files that a workload names are looked up beside it first", "[unit][config]") {
    const ScratchFolder scratch;
    const std::string text = std::string(kSpmm) + R"("pattern": {"file": "cora.mtx"}})";
    const auto file = scratch.write("a.json", text);
    const auto found = [&](const Lines& sets = {}) {
        return std::get<SpmmWorkload>(load_workload(file, source_paths(), sets).workload.kind);
    };
    CHECK(found().pattern.path == tessera::test::source_path("configs/data/cora.mtx"));
    const auto beside =
        scratch.write("cora.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n");
    CHECK(found().pattern.path == beside);
    const auto values = scratch.write("x.npy", ones(3, found().n));
    CHECK(found({"workload.values=" + values}).values.path == values);
    CHECK(found({"workload.values=" + values}).values.kind == ValuesSpec::Kind::File);
    // a name may be the suffix alone
    CHECK(
        io_error(file, {"workload.values=.npy"}).rfind("--set: workload.values: cannot find", 0) ==
        0);
    // what is typed is not beside the file
    CHECK(
        io_error(file, {"workload.values=x.npy"}).rfind("--set: workload.values: cannot find", 0) ==
        0);
}

TEST_CASE("absent files are io errors with the place that names them", "[unit][config]") {
    const ScratchFolder scratch;
    CHECK(io_error(scratch.path("absent.json")) ==
          scratch.path("absent.json") + ": cannot be read: No such file or directory");
    const auto file =
        scratch.write("a.json", std::string(kSpmm) + R"("pattern": {"file": "absent.mtx"}})");
    CHECK(io_error(file) == file + ":2:21: /pattern/file: cannot find 'absent.mtx'; looked for " +
                                scratch.path("absent.mtx") + ", " +
                                tessera::test::source_path("configs/data/absent.mtx"));
    CHECK(mistakes_of([] { static_cast<void>(load_workload("coar", source_paths())); }) ==
          Lines{"unknown workload 'coar'; did you mean 'cora'?"});
}

TEST_CASE("a product's operands may have values of their own", "[unit][config]") {
    const ScratchFolder scratch;
    const auto matmul_of = [&](const std::string& keys, const Lines& sets = {}) {
        const auto file = scratch.write(
            "w.json",
            R"({"schema_version": 1, "kind": "matmul", "m": 2, "k": 3, "n": 4)" + keys + "}");
        return load_workload(file, {}, sets);
    };
    const auto plain = matmul_of("");
    CHECK(plain.resolved.count("values_a") == 0);
    CHECK(&std::get<MatmulWorkload>(plain.workload.kind).of_a() ==
          &std::get<MatmulWorkload>(plain.workload.kind).values);

    const std::string a = scratch.write("a.npy", ones(2, 3));
    const std::string b = scratch.write("b.npy", ones(3, 4));
    const auto loaded =
        matmul_of(R"(, "values": "integer", "values_a": "a.npy")", {"workload.values_b=" + b});
    const auto& matmul = std::get<MatmulWorkload>(loaded.workload.kind);
    CHECK(matmul.values.kind == ValuesSpec::Kind::Integer);
    CHECK(matmul.of_a().path == a);
    CHECK(std::string(matmul.of_a().key) == "/values_a");
    CHECK(matmul.of_b().path == b);
    CHECK(std::string(matmul.of_b().key) == "/values_b");
    CHECK(loaded.resolved["values_a"] == "a.npy");
    const auto integer = matmul_of(R"(, "values_b": "integer")");
    CHECK(std::get<MatmulWorkload>(integer.workload.kind).of_a().kind == ValuesSpec::Kind::Uniform);
    CHECK(std::get<MatmulWorkload>(integer.workload.kind).of_b().kind == ValuesSpec::Kind::Integer);

    const auto file =
        scratch.write("s.json", std::string(kSpmm) + R"("m": 2, "k": 3, "values_b": "b.npy",
 "pattern": {"generator": "uniform", "density": 1}})");
    const auto sparse = load_workload(file, {}, {"workload.n=4"});
    CHECK(std::get<SpmmWorkload>(sparse.workload.kind).of_b().path == b);
    CHECK(std::get<SpmmWorkload>(sparse.workload.kind).values.kind == ValuesSpec::Kind::Uniform);
}

TEST_CASE("the values of an operand are checked where they are named", "[unit][config]") {
    const std::string head = R"({"schema_version": 1, "kind": "matmul", "m": 2, "k": 3, "n": 4,)"
                             "\n";
    CHECK(
        mistakes(head + R"("values_a": "random"})") ==
        Lines{"a.json:2:13: /values_a: got string \"random\", expected one of uniform, integer or "
              "a name that ends in .npy"});
    CHECK(mistakes(head + R"("values_c": "integer"})").size() == 1);
    CHECK(mistakes(std::string(kSpmm) + R"("m": 2, "k": 3, "values_a": "integer",
 "pattern": {"generator": "uniform", "density": 1}})") ==
          Lines{"a.json:2:17: /values_a: does not go with kind 'spmm'; did you mean 'values_c'?"});
    const ScratchFolder scratch;
    const auto file = scratch.write("w.json", head + R"("values_b": "absent.npy"})");
    CHECK(io_error(file).find("w.json:2:13: /values_b: cannot find 'absent.npy'") !=
          std::string::npos);
}
