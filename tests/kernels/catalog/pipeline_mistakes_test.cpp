// SPDX-License-Identifier: MIT
// What a pipeline's file can have wrong, with the place at which it is told.
#include "base/float8.h"
#include "kernels/workload/npy.h"
#include "tests/kernels/catalog/pipeline_support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace tessera;
using namespace tessera::test;

namespace {

/// Of a pipeline whose one step is good, so that only its tensors are at fault.
Lines of_tensors(const std::string& tensors) {
    return mistakes(kHead + ("\"tensors\": {\"x\": {\"shape\": [4, 8]},\n" + tensors) +
                    R"(}, "steps": [{"family": "relu", "inputs": ["x"], "output": "y"}]})");
}

Lines of_steps(const std::string& steps) {
    return mistakes(with_steps(steps));
}

/// Of a pipeline of one tensor of this shape and a step that reads it.
Lines of_one_tensor(const std::vector<std::int64_t>& shape) {
    return mistakes(kHead +
                    fmt::format(R"("tensors": {{"x": {{"shape": [{}]}}}}, "steps": [)"
                                R"({{"family": "relu", "inputs": ["x"], "output": "y"}}]}})",
                                fmt::join(shape, ", ")));
}

const char* const kReluX = R"({"family": "relu", "inputs": ["x"], "output": "y"},)";
const char* const kUseW = R"({"family": "relu", "inputs": ["w"], "output": "used"},)";

/// Steps on line 4, behind those that make the rest good.
Lines after_good(const std::string& step) {
    return of_steps(std::string(kReluX) + kUseW + "\n" + step);
}

} // namespace

TEST_CASE("a pipeline without its parts says which are missing", "[unit][catalog]") {
    CHECK(mistakes(R"({"schema_version": 1, "kind": "pipeline"})") ==
          Lines{"a.json:1:1: /steps: missing, expected a list of 1..100000 steps",
                "a.json:1:1: /tensors: missing, expected an object"});
    CHECK(of_steps("") == Lines{"a.json:3:10: /steps: got 0 steps, expected 1..100000 steps; what "
                                "is done, one after the other"});
}

TEST_CASE("a bound is one of whole numbers", "[unit][catalog]") {
    const auto tells = [](const std::string& tensor, const std::string& what) {
        const auto found = of_tensors("\"z\": " + tensor);
        return std::any_of(found.begin(), found.end(), [&](const std::string& line) {
            return line.find(what) != std::string::npos;
        });
    };
    CHECK(tells(R"({"shape": [3], "below": 4})",
                "/tensors/z/below: got a bound of elements of f16, expected it of i32 or u32"));
    CHECK(tells(R"({"shape": [3], "type": "u32", "below": 0})", "/tensors/z/below: got 0"));
}

TEST_CASE("tensors are checked where they stand", "[unit][catalog]") {
    CHECK(of_tensors(R"("z": {"shap": [3]})") ==
          Lines{"a.json:3:6: /tensors/z: missing, expected like or pattern or sequence or shape; "
                "got key 'shap', did you mean 'shape'?"});
    CHECK(of_tensors(R"("z": {"shape": [3, 0]})") ==
          Lines{"a.json:3:20: /tensors/z/shape/1: got 0 elements, expected 1..1000000 elements"});
    CHECK(of_tensors(R"("z": {"shape": 3})") ==
          Lines{"a.json:3:16: /tensors/z/shape: got number 3, expected a list of 1..8 sizes"});
    CHECK(of_tensors(R"("z": {"shape": [3], "type": "f61"})")
              .front()
              .find("a.json:3:29: /tensors/z/type: got string \"f61\", expected one of f16, f32, "
                    "i32, u32, f143, f152; "
                    "did you "
                    "mean 'f16'?") == 0);
    CHECK(of_tensors(R"("z": {"shape": [3], "valeus": "integer"})") ==
          Lines{"a.json:3:21: /tensors/z/valeus: unknown key; did you mean 'values'?"});
    CHECK(of_tensors(R"("z": {"shape": [3], "block": 16})") ==
          Lines{"a.json:3:21: /tensors/z/block: does not go with 'shape'"});
    CHECK(of_tensors(R"("a b": {"shape": [3]})").front() ==
          "a.json:3:1: /tensors/a b: got name 'a b', expected letters, digits, '_' and '-'");
    CHECK(of_tensors(R"("z": {"shape": [1000000, 1000000, 1000000]})") ==
          Lines{"a.json:3:6: /tensors/z: no step reads it, expected it among the inputs of a step; "
                "it would take memory for nothing",
                "a.json:3:16: /tensors/z/shape: got 1000000 x 1000000 x 1000000 elements, expected "
                "at most 1099511627776"});
    CHECK(of_tensors(R"("z": {"shape": [3]})") ==
          Lines{"a.json:3:6: /tensors/z: no step reads it, expected it among the inputs of a step; "
                "it would take memory for nothing"});
}

TEST_CASE("a tensor has at most 2^40 elements, however they are arranged", "[unit][catalog]") {
    constexpr std::int64_t kHalf = 1 << 19;
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    for (const std::vector<std::int64_t>& most : {std::vector{kHalf, kHalf, kMost / kHalf / kHalf},
                                                  {kMost / kHalf / kHalf, kHalf, kHalf},
                                                  {1, kHalf, kHalf, kMost / kHalf / kHalf, 1},
                                                  {kHalf - 1, kHalf + 1, kMost / kHalf / kHalf}}) {
        CAPTURE(most);
        CHECK(of_one_tensor(most).empty());
        auto more = most;
        more.push_back(2);
        CHECK(of_one_tensor(more) ==
              Lines{fmt::format("a.json:2:28: /tensors/x/shape: got {} elements, expected at most "
                                "{}",
                                fmt::join(more, " x "), kMost)});
    }
    CHECK(of_one_tensor({kHalf, kHalf, kMost / kHalf / kHalf + 1}).size() == 1);
    CHECK(of_one_tensor({kHalf - 1, kHalf + 2, kMost / kHalf / kHalf}).size() == 1);
}

TEST_CASE("sparse tensors are checked where they stand", "[unit][catalog]") {
    CHECK(of_tensors(R"("z": {"pattern": {"generator": "uniform", "density": 0.5}})") ==
          Lines{"a.json:3:6: /tensors/z/shape: missing together with pattern.generator, expected a "
                "list of 2 sizes"});
    CHECK(of_tensors(R"("z": {"pattern": {"file": "cora.mtx"}, "layout": "row_major"})") ==
          Lines{"a.json:3:40: /tensors/z/layout: does not go with 'pattern'"});
    CHECK(of_tensors(R"("z": {"pattern": {"file": "cora.mtx"}, "shape": [2708]})") ==
          Lines{"a.json:3:49: /tensors/z/shape: got 1 sizes, expected 2 sizes; its rows and "
                "columns"});
    CHECK(
        of_tensors(R"("z": {"pattern": {"generator": "n_of_m", "density": 0.3}, "shape": [4, 4]})")
            .back() ==
        "a.json:3:53: /tensors/z/pattern/density: got 0.3, 1.2 of each 4 blocks, expected a whole "
        "number of them: 0.25 or 0.5");
    CHECK(
        of_tensors(
            R"("z": {"pattern": {"generator": "n_of_m", "density": 0.125, "group": 0}, "shape": [4, 4]})") ==
        Lines{"a.json:3:69: /tensors/z/pattern/group: got 0 blocks, expected 1..1024 blocks"});
    CHECK(
        of_tensors(
            R"("z": {"pattern": {"generator": "banded", "density": 0.3, "exponent": 2}, "shape": [4, 4]})") ==
        Lines{"a.json:3:58: /tensors/z/pattern/exponent: does not go with generator 'banded'"});
    const auto other_size =
        of_tensors(R"("z": {"pattern": {"file": "cora.mtx"}, "shape": [2708, 2707]})");
    REQUIRE(other_size.size() == 1);
    CHECK(other_size.front() ==
          "a.json:3:49: /tensors/z/shape: got 2708 x 2707, expected 2708 x 2708 as in " +
              source_path("configs/data/cora.mtx") + "; leave it out to take the file's");
}

TEST_CASE("files that tensors name are found and told where they are named", "[unit][catalog]") {
    const ScratchFolder scratch;
    const auto text = [](const std::string& tensor) {
        return kHead + (R"("tensors": {"x": )" + tensor) +
               R"(}, "steps": [{"family": "spmm", "inputs": ["x", "x"], "output": "y"}]})";
    };
    const auto io_error = [&](const std::string& tensor) -> std::string {
        try {
            static_cast<void>(load_text(text(tensor), {}, scratch.path("a.json")));
        } catch (const IoError& error) {
            return error.what();
        }
        return "";
    };
    // the step is a mistake that hangs on what is not there, so it is not told
    CHECK(io_error(R"({"pattern": {"file": "no.mtx"}})")
              .find("a.json:2:39: /tensors/x/pattern/file: cannot find 'no.mtx'") == 0);
    CHECK(io_error(R"({"shape": [2, 2], "values": "no.npy"})")
              .find("a.json:2:46: /tensors/x/values: cannot find 'no.npy'") == 0);
    static_cast<void>(
        scratch.write("bad.mtx", "%%MatrixMarket matrix coordinate pattern general\n%\n3 x 1\n"));
    const auto bad = mistakes_of(
        [&] {
            static_cast<void>(
                load_text(text(R"({"pattern": {"file": "bad.mtx"}})"), {}, scratch.path("a.json")));
        },
        scratch.path());
    CHECK(bad == Lines{"bad.mtx:3:3: columns: got 'x', expected a whole number"});
    // shapes that hang on the sizes of files of other formats
    static_cast<void>(scratch.write("mask.smtx", "3, 2, 1\n0 0 1 1\n1\n"));
    static_cast<void>(scratch.write("mask.npy", workload::npy_bytes("|b1", {3, 2}, "")));
    static_cast<void>(scratch.write("bad.smtx", "3, 0, 1\n"));
    const auto of_shape = [&](const std::string& file) {
        return mistakes_of(
            [&] {
                static_cast<void>(
                    load_text(text(R"({"shape": [2, 3], "pattern": {"file": ")" + file + R"("}})"),
                              {}, scratch.path("a.json")));
            },
            scratch.path());
    };
    for (const std::string file : {"mask.smtx", "mask.npy"}) {
        REQUIRE(!of_shape(file).empty());
        CHECK(of_shape(file).front() ==
              "a.json:2:28: /tensors/x/shape: got 2 x 3, expected 3 x 2 as in " + file +
                  "; leave it out to take the file's");
    }
    CHECK(of_shape("bad.smtx") == Lines{"bad.smtx:1:4: columns: got 0, expected 1..2147483647"});
}

TEST_CASE("a folder of patterns that cannot be read is told where it is named", "[unit][catalog]") {
    const ScratchFolder scratch;
    std::filesystem::create_directory(scratch.path("patterns"));
    static_cast<void>(scratch.write(
        "patterns/0.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 1\n1 1\n"));
    const auto document =
        config::parse_document(kHead + std::string(R"("tensors": {"w": {"mode": "dynamic",
"sequence": {"folder": "patterns"}}, "x": {"shape": [4, 4]}},
"steps": [{"family": "spmm", "inputs": ["w", "x"], "output": "y"}]})"),
                               "a.json");
    const auto told = [&]() -> std::string {
        try {
            static_cast<void>(catalog::load_workload(
                document, scratch.path("a.json"), source_paths(), {}, toy_shape(), toy_families()));
        } catch (const IoError& error) {
            return error.what();
        }
        return "";
    };
    CHECK(told().empty());
    // no descriptor is left with which it could be read
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const int next = dup(STDIN_FILENO);
    REQUIRE(next >= 0);
    close(next);
    rlimit none = before;
    none.rlim_cur = static_cast<rlim_t>(next);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const std::string without = told();
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(without == "a.json:3:24: /tensors/w/sequence/folder: cannot read folder " +
                         scratch.path("patterns") + ": Too many open files");
}

TEST_CASE("files of values are checked against the tensors that name them", "[unit][catalog]") {
    const ScratchFolder scratch;
    const auto told = [&](const std::string& type, const std::vector<std::int64_t>& shape,
                          const std::string& descr, const std::vector<std::int64_t>& of_file) {
        auto bytes = static_cast<std::size_t>(descr.back() - '0');
        for (const std::int64_t size : of_file) {
            bytes *= static_cast<std::size_t>(size);
        }
        static_cast<void>(
            scratch.write("v.npy", workload::npy_bytes(descr, of_file, std::string(bytes, '\0'))));
        Lines lines = mistakes_of(
            [&] {
                static_cast<void>(load_text(
                    kHead +
                        fmt::format(R"("tensors": {{"x": {{"shape": [{}], "type": "{}",)"
                                    "\n\"values\": \"v.npy\"}}}},\n\"steps\": "
                                    R"([{{"family": "relu", "inputs": ["x"], "output": "y"}}]}})",
                                    fmt::join(shape, ", "), type),
                    {}, scratch.path("a.json")));
            },
            scratch.path());
        std::erase_if(lines, [](const auto& line) { // relu takes no whole numbers
            return line.find("v.npy") == std::string::npos;
        });
        return lines;
    };
    const std::string place = "a.json:3:11: /tensors/x/values: ";
    for (const std::string type : {"f16", "f32"}) {
        CHECK(told(type, {5}, "<f8", {5}).empty());
        CHECK(told(type, {2, 3, 4, 5}, "<f4", {2, 3, 4, 5}).empty());
        CHECK(told(type, {2, 3, 4, 5}, "|i1", {24, 5}).empty());
        CHECK(told(type, {2, 3, 4}, "<f2", {2, 4, 3}) ==
              Lines{place + "v.npy: shape: got (2, 4, 3), expected (2, 3, 4)"});
        CHECK(told(type, {3, 4}, "<f2", {12}) ==
              Lines{place + "v.npy: shape: got (12,), expected (3, 4)"});
        CHECK(told(type, {3, 4}, "<c8", {3, 4}).size() == 1);
    }
    CHECK(told("i32", {2, 3, 4}, "<i4", {2, 3, 4}).empty());
    CHECK(told("i32", {2, 3, 4}, "<i4", {6, 4}) ==
          Lines{place + "got 6 x 4 in v.npy, expected 2 x 3 x 4"});
    CHECK(told("u32", {4}, "<i4", {4}) == Lines{place + "got elements <i4 in v.npy, expected <u4"});
}

TEST_CASE("a mistake in one tensor hides no file of another whose name begins alike",
          "[unit][catalog]") {
    const ScratchFolder scratch;
    static_cast<void>(scratch.write("v.npy", workload::npy_bytes("<f4", {3}, std::string(12, 0))));
    for (const std::string other : {"x2", "x-2", "y"}) {
        CAPTURE(other);
        const Lines lines = mistakes_of(
            [&] {
                static_cast<void>(load_text(
                    kHead +
                        fmt::format(
                            R"("tensors": {{"x": {{"shape": [5], "type": "f32", "values": "v.npy"}},
"{0}": {{"shape": [5], "type": "f99"}}}},
"steps": [{{"family": "add", "inputs": ["x", "{0}"], "output": "z"}}]}})",
                            other),
                    {}, scratch.path("a.json")));
            },
            scratch.path());
        CHECK(std::ranges::count_if(lines, [](const std::string& line) {
                  return line.find("v.npy: shape: got (3,), expected") != std::string::npos;
              }) == 1);
        CHECK(std::ranges::count_if(lines, [](const std::string& line) {
                  return line.find("f99") != std::string::npos;
              }) == 1);
    }
}

TEST_CASE("a constant is one that its tensor's type has", "[unit][catalog]") {
    const auto told = [](const std::string& type, double number) {
        return of_tensors(fmt::format(
            R"("w": {{"shape": [4, 8], "type": "{}", "values": "constant", "constant": {}}})", type,
            number));
    };
    for (const auto& [type, largest] : {std::pair<std::string, double>{"f16", 65504},
                                        {"f143", f8_to_f32(0x7f, ElementType::F143)},
                                        {"f152", f8_to_f32(0x7f, ElementType::F152)}}) {
        CAPTURE(type);
        // the tensor is not read, either
        CHECK(told(type, -largest).size() == 1);
        CHECK(told(type, 1.5 * largest).size() == 2);
    }
}

TEST_CASE("unknown families, keys and words are told with the nearest", "[unit][catalog]") {
    CHECK(after_good(R"({"family": "rleu", "inputs": ["x"], "output": "z"})") ==
          Lines{"a.json:4:12: /steps/2/family: got string \"rleu\", expected one of matmul, spmm, "
                "relu, gelu, softmax, bias, scale, cast, gather; did you mean 'relu'?"});
    CHECK(after_good(R"({"familly": "relu", "inputs": ["x"], "output": "z"})") ==
          Lines{"a.json:4:1: /steps/2: missing, expected family or codelet or repeat or while or "
                "if or load or store or next or parallel; got key "
                "'familly', did you mean 'family'?"});
    CHECK(after_good(
              R"({"family": "matmul", "inputs": ["x", "w"], "output": "z", "partails": "f32"})") ==
          Lines{"a.json:4:59: /steps/2/partails: unknown key; did you mean 'partials'?"});
    CHECK(after_good(R"({"family": "relu", "inputs": ["x"], "output": "z", "partials": "f32"})") ==
          Lines{"a.json:4:52: /steps/2/partials: does not go with family 'relu'"});
    CHECK(after_good(
              R"({"family": "matmul", "inputs": ["x", "w"], "output": "z", "partials": "f23"})") ==
          Lines{"a.json:4:71: /steps/2/partials: got string \"f23\", expected one of f16, f32; did "
                "you mean 'f32'?"});
    CHECK(after_good(R"({"family": "scale", "inputs": ["x"], "output": "z", "factor": "two"})") ==
          Lines{"a.json:4:63: /steps/2/factor: got string \"two\", expected a number"});
    CHECK(after_good("3") == Lines{"a.json:4:1: /steps/2: got number 3, expected an object"});
    CHECK(after_good(R"({"repeat": 3, "step": []})") ==
          Lines{"a.json:4:1: /steps/2/steps: missing, expected a list of 1..100000 steps",
                "a.json:4:15: /steps/2/step: unknown key; did you mean 'steps'?"});
}

TEST_CASE("inputs are tensors that exist where they are read", "[unit][catalog]") {
    CHECK(after_good(R"({"family": "relu", "inputs": ["xx"], "output": "z"})") ==
          Lines{"a.json:4:31: /steps/2/inputs/0: unknown tensor 'xx'; did you mean 'x'?"});
    CHECK(after_good(R"({"family": "matmul", "inputs": ["x"], "output": "z"})") ==
          Lines{"a.json:4:32: /steps/2/inputs: got 1 tensors, expected 2 tensors; names of the "
                "tensors that it reads: a, b"});
    CHECK(after_good(R"({"family": "relu", "inputs": "x", "output": "z"})") ==
          Lines{"a.json:4:30: /steps/2/inputs: got string \"x\", expected a list of 1 tensors"});
    CHECK(after_good(R"({"family": "relu", "inputs": [1], "output": "z"})") ==
          Lines{"a.json:4:31: /steps/2/inputs/0: got number 1, expected a name of letters, digits, "
                "'_' and '-'"});
    CHECK(after_good(R"({"family": "relu", "inputs": ["z"], "output": "v"},
{"family": "relu", "inputs": ["x"], "output": "z"})") ==
          Lines{"a.json:4:31: /steps/2/inputs/0: got 'z', which step /steps/3 is the first to "
                "write, expected a tensor that is given or written before"});
    // one slip of the pen is one mistake: w is not told as never read
    CHECK(
        of_steps(std::string(kReluX) + R"({"family": "relu", "inputs": ["ww"], "output": "z"})") ==
        Lines{"a.json:3:92: /steps/1/inputs/0: unknown tensor 'ww'; did you mean 'w'?"});
    CHECK(of_steps(R"({"family": "relu", "inputs": ["x"], "output": "y"})") ==
          Lines{"a.json:2:42: /tensors/w: no step reads it, expected it among the inputs of a "
                "step; it would take memory for nothing"});
}

TEST_CASE("what a family refuses is told at the input or option", "[unit][catalog]") {
    CHECK(after_good(R"({"family": "matmul", "inputs": ["w", "x"], "output": "z"})") ==
          Lines{"a.json:4:38: /steps/2/inputs/1: got 4 rows, expected 6"});
    CHECK(after_good(R"({"family": "scale", "inputs": ["w"], "output": "z", "factor": 0})") ==
          Lines{"a.json:4:63: /steps/2/factor: got 0, expected another number"});
    const std::string sparse =
        kHead +
        std::string(
            R"("tensors": {"s": {"shape": [4, 4], "pattern": {"generator": "banded", "density": 1}}, "x": {"shape": [4, 8]}},)"
            "\n\"steps\": [{\"family\": ");
    CHECK(mistakes(sparse + R"("relu", "inputs": ["s"], "output": "z"}, )"
                            "\n"
                            R"({"family": "spmm", "inputs": ["x", "x"], "output": "v"}]})") ==
          Lines{"a.json:3:41: /steps/0/inputs/0: got a sparse matrix, expected a dense one",
                "a.json:4:31: /steps/1/inputs/0: got a dense matrix, expected a sparse one"});
    CHECK(
        mistakes(sparse + R"("spmm", "inputs": ["s", "x"], "output": "s"}]})") ==
        Lines{
            "a.json:3:62: /steps/0/output: got f16 4 x 8 to be written to 's', expected f16 4 x 4, "
            "sparse as it is"});
}

TEST_CASE("an output that is there already is written anew as it was", "[unit][catalog]") {
    CHECK(after_good(R"({"family": "matmul", "inputs": ["x", "w"], "output": "x"})") ==
          Lines{"a.json:4:54: /steps/2/output: got f16 4 x 6 to be written to 'x', expected f16 4 "
                "x 8 as it is"});
    CHECK(after_good(R"({"family": "cast", "inputs": ["x"], "output": "x"})") ==
          Lines{"a.json:4:47: /steps/2/output: got f32 4 x 8 to be written to 'x', expected f16 4 "
                "x 8 as it is"});
    CHECK(after_good(R"({"family": "cast", "inputs": ["x"], "output": "x", "to": "f16"})").empty());
    CHECK(after_good(R"({"family": "relu", "inputs": ["x"], "output": "a b"})") ==
          Lines{"a.json:4:47: /steps/2/output: got string \"a b\", expected a name of letters, "
                "digits, '_' and '-'"});
}

TEST_CASE("no two steps have one name", "[unit][catalog]") {
    CHECK(after_good(R"({"family": "relu", "inputs": ["x"], "output": "y"})") ==
          Lines{"a.json:4:47: /steps/2/output: got a second step 'y', expected another name than "
                "that of /steps/0; a step without \"name\" has that of its output"});
    CHECK(after_good(R"({"name": "y", "family": "relu", "inputs": ["x"], "output": "z"})") ==
          Lines{"a.json:4:10: /steps/2/name: got a second step 'y', expected another name than "
                "that of /steps/0"});
    CHECK(after_good(R"({"name": "again", "family": "relu", "inputs": ["x"], "output": "y"})")
              .empty());
}

TEST_CASE("branches of a parallel keep apart", "[unit][catalog]") {
    const auto branches = [](const std::string& first, const std::string& second) {
        return after_good("{\"parallel\": [{\"tiles\": 4, \"steps\": [" + first +
                          "]},\n{\"tiles\": 4, \"steps\": [" + second + "]}]}");
    };
    const std::string relu = R"({"family": "relu", "inputs": ["x"], "output": "p"})";
    const std::string other = R"({"family": "gelu", "inputs": ["x"], "output": "q"})";
    CHECK(branches(relu, other).empty());
    CHECK(branches(relu, R"({"family": "gelu", "inputs": ["p"], "output": "q"})") ==
          Lines{"a.json:5:54: /steps/2/parallel/1/steps/0/inputs/0: got 'p', which branch 0 of the "
                "same parallel writes, expected a tensor that no other branch writes; branches run "
                "side by side"});
    CHECK(branches(R"({"family": "gelu", "inputs": ["y"], "output": "q"})",
                   R"({"name": "n", "family": "gelu", "inputs": ["x"], "output": "y"})") ==
          Lines{"a.json:4:68: /steps/2/parallel/0/steps/0/inputs/0: got 'y', which branch 1 of the "
                "same parallel writes, expected a tensor that no other branch writes; branches run "
                "side by side"});
    CHECK(branches(relu, R"({"name": "n", "family": "relu", "inputs": ["x"], "output": "p"})") ==
          Lines{"a.json:5:83: /steps/2/parallel/1/steps/0/output: got 'p', which branch 0 of the "
                "same parallel writes too, expected a tensor that no other branch writes"});
    CHECK(branches(relu, R"({"repeat": 3, "steps": [)" + other + "]}") ==
          Lines{"a.json:5:35: /steps/2/parallel/1/steps/0/repeat: repeat inside a branch of "
                "parallel is not supported yet; a repeat may stand around the parallel"});
    CHECK(branches(relu, R"({"parallel": [{"tiles": 2, "steps": [)" + other + "]}]}") ==
          Lines{"a.json:5:37: /steps/2/parallel/1/steps/0/parallel: parallel inside a branch of "
                "parallel is not supported yet"});
    CHECK(branches(relu, "") ==
          Lines{"a.json:5:23: /steps/2/parallel/1/steps: got 0 steps, expected 1..100000 steps; "
                "what these tiles do"});
    CHECK(after_good(R"({"parallel": [{"tiles": 3, "steps": [)" + relu + "]}]}") ==
          Lines{"a.json:4:25: /steps/2/parallel/0/tiles: got 3 tiles, expected an even number: "
                "whole pairs"});
    CHECK(after_good(R"({"parallel": []})") ==
          Lines{"a.json:4:14: /steps/2/parallel: got 0 branches, expected 1..100000 branches; what "
                "is done side by side, each on tiles of its own"});
    // what a branch writes is there for all behind the parallel
    CHECK(after_good("{\"parallel\": [{\"tiles\": 4, \"steps\": [" + relu +
                     R"(]}]}, {"family": "gelu", "inputs": ["p"], "output": "last"})")
              .empty());
}

TEST_CASE("all mistakes of a pipeline are told at once", "[unit][catalog]") {
    const auto found = mistakes(kHead + std::string(R"("seed": -1,
"tensors": {"x": {"shape": [4, 8], "type": "f61"}, "w": {"shape": [8, 6]}, "v": {"shape": [2]}},
"steps": [
{"family": "matmul", "inputs": ["x", "w"], "output": "y"},
{"family": "rleu", "inputs": ["y", "wx"], "output": "z"},
{"family": "matmul", "inputs": ["w", "w"], "output": "u", "partails": 1},
{"family": "bias", "inputs": ["w", "v"], "output": "t"},
{"family": "relu", "inputs": ["tt"], "output": "y"}]})"));
    CHECK(found ==
          Lines{"a.json:2:9: /seed: got -1, expected 0..9007199254740992",
                "a.json:3:44: /tensors/x/type: got string \"f61\", expected one of f16, f32, "
                "i32, u32, f143, f152; did you mean 'f16'?",
                "a.json:6:12: /steps/1/family: got string \"rleu\", expected one of matmul, spmm, "
                "relu, gelu, softmax, bias, scale, cast, gather; did you mean 'relu'?",
                "a.json:6:36: /steps/1/inputs/1: unknown tensor 'wx'; did you mean 'w'?",
                "a.json:7:59: /steps/2/partails: unknown key; did you mean 'partials'?",
                "a.json:8:36: /steps/3/inputs/1: got 2 elements, expected 6",
                "a.json:9:31: /steps/4/inputs/0: unknown tensor 'tt'; did you mean 't'?",
                "a.json:9:48: /steps/4/output: got a second step 'y', expected another name than "
                "that of /steps/0; a step without \"name\" has that of its output"});
}

TEST_CASE("overrides reach tensors by name and steps by number", "[unit][catalog]") {
    const std::string text = with_steps(
        R"({"family": "matmul", "inputs": ["x", "w"], "output": "y"},
{"repeat": 2, "steps": [{"family": "scale", "inputs": ["y"], "output": "z"}]})");
    const auto loaded =
        load_text(text, {"workload.tensors.x.values=integer", "workload.steps.0.partials=f32",
                         "workload.steps.1.repeat=7", "workload.steps.1.steps.0.factor=3",
                         "workload.tensors.w.shape=[8,5]"});
    CHECK(loaded.resolved["tensors"]["x"]["values"] == "integer");
    CHECK(loaded.resolved["steps"][0]["partials"] == "f32");
    CHECK(loaded.resolved["steps"][1]["repeat"] == 7);
    CHECK(loaded.resolved["steps"][1]["steps"][0]["factor"] == 3);
    CHECK(loaded.origins.at("/steps/1/repeat").text() == "--set");
    CHECK(mistakes(text, {"workload.tensors.x.vlaues=integer"}) ==
          Lines{"--set: workload.tensors.x.vlaues: unknown key; did you mean "
                "'workload.tensors.x.values'?"});
    CHECK(mistakes(text, {"workload.steps.2.partials=f32"}).size() == 1);
    CHECK(mistakes(text, {"workload.tensors.w.shape=[7,5]"}) ==
          Lines{"a.json:3:48: /steps/0/inputs/1: got 7 rows, expected 8"});
    CHECK(mistakes(text, {"workload.tensors.w.shape=[7,0]"}) ==
          Lines{"--set: workload.tensors.w.shape.1: got 0 elements, expected 1..1000000 elements"});
    CHECK(mistakes(text, {"workload.steps=[]"}) ==
          Lines{"--set: workload.steps: got 0 steps, expected 1..100000 steps; what is done, one "
                "after the other"});
}

TEST_CASE("what is wrong with rows outside the tiles is told with its place", "[unit][catalog]") {
    const auto of_rows = [](const std::string& place, const std::string& step) {
        return mistakes(kHead +
                        (R"("tensors": {"x": {"shape": [4, 8]},)"
                         "\n\"rows\": {\"shape\": [5, 4, 8], \"place\": " +
                         place + "}},\n\"steps\": [" + kReluX + "\n") +
                        step + "]}");
    };
    CHECK(of_rows(R"("host")", R"({"load": "rows", "output": "h", "row": 4})").empty());
    CHECK(of_rows(R"("remote")", R"({"load": "row", "output": "h"})") ==
          Lines{"a.json:5:10: /steps/1/load: unknown tensor 'row'; did you mean 'rows'?"});
    CHECK(of_rows(R"("remote")", R"({"load": "rows", "output": "h", "row": 5})") ==
          Lines{"a.json:5:40: /steps/1/row: got row 5 of 'rows', expected rows 0 to 4, which are "
                "all"});
    CHECK(
        of_rows(R"("host")",
                R"({"name": "s", "store": "x", "into": "y"}, {"store": "x", "into": "rows"})") ==
        Lines{"a.json:5:37: /steps/1/into: got 'y', which is on the tiles, expected a tensor with "
              "place host, remote or tile_rows"});
    CHECK(of_rows(R"("remot")", R"({"load": "rows", "output": "h"})") ==
          Lines{"a.json:3:39: /tensors/rows/place: got string \"remot\", expected one of tiles, "
                "tile_rows, host, remote; "
                "did you mean 'remote'?"});
}

TEST_CASE("a sequence of patterns is of a dynamic tensor, and has as many as there are rounds",
          "[unit][catalog]") {
    const auto of = [](const std::string& sparse, const std::string& steps,
                       const std::string& behind = "") {
        return mistakes(kHead + ("\"tensors\": {\"w\": {\"shape\": [16, 8], " + sparse +
                                 "\"pattern\": {\"generator\": \"uniform\", \"density\": 0.5}},\n"
                                 "\"x\": {\"shape\": [8, 4]}},\n\"steps\": [" +
                                 steps + "\n" + behind +
                                 R"({"family": "spmm", "inputs": ["w", "x"], "output": "y"}]})"));
    };
    const std::string dynamic = R"("mode": "dynamic", )";
    const std::string four = R"("sequence": {"patterns": 4}, )";
    const std::string next = R"({"next": "w"},)";
    CHECK(of(dynamic + four, next).empty());
    CHECK(of(dynamic, next) ==
          Lines{"a.json:4:20: /steps/0/next: got 'w', expected a tensor with \"mode\": \"dynamic\" "
                "and a sequence"});
    CHECK(of(dynamic + four, R"({"next": "x"},)") ==
          Lines{"a.json:4:20: /steps/0/next: got 'x', expected a tensor with \"mode\": \"dynamic\" "
                "and a sequence"});
    CHECK(of(dynamic + four, R"({"next": "v"},)") ==
          Lines{"a.json:4:20: /steps/0/next: unknown tensor 'v'"});
    for (const std::int64_t rounds : {4, 5}) {
        const auto found =
            of(dynamic + four,
               fmt::format(R"({{"repeat": {}, "steps": [{{"next": "w"}}]}},)", rounds));
        CHECK(found == (rounds == 4 ? Lines{}
                                    : Lines{"a.json:4:44: /steps/0/steps/0/next: got 5 rounds, "
                                            "expected at most as many as 'w' has patterns in its "
                                            "sequence, 4"}));
    }
    CHECK(
        of(dynamic + R"("sequence": {"regrow": "gradient"}, )", next) ==
        Lines{"a.json:2:68: /tensors/w/sequence/gradients: missing, expected the name of a tensor "
              "with the norms of the gradient's blocks, as \"regrow\": \"gradient\" needs them"});
    CHECK(of(four, "") ==
          Lines{"a.json:2:49: /tensors/w/sequence: got a sequence of patterns, expected \"mode\": "
                "\"dynamic\" with it"});
    CHECK(
        of(dynamic + four, R"({"parallel": [{"tiles": 2, "steps": [{"next": "w"}]}]},)") ==
        Lines{"a.json:4:57: /steps/0/parallel/0/steps/0/next: next inside a branch of parallel is "
              "not supported yet; a next may stand around the parallel"});
    CHECK(
        of(dynamic + four, next, next) ==
        Lines{"a.json:5:10: /steps/1/next: got a second step 'next_w', expected another name than "
              "that of /steps/0; \"name\" gives it another one"});
}
