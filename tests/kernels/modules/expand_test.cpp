// SPDX-License-Identifier: MIT
// Model files: sizes, modules, uses one behind the other, and what they can have wrong.
#include "kernels/modules/expand.h"
#include "tests/kernels/catalog/pipeline_support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test;
using nlohmann::json;

namespace {

/// A product of `in` x `out` weights, as a module on lines 2 to 4; the rest of the file follows from
/// line 5 on.
std::string with_linear(const std::string& rest) {
    return std::string(R"({"schema_version": 1, "kind": "pipeline",)") + "\n" +
           R"("modules": {"linear": {"sizes": ["in", "out"], "inputs": ["x"], "outputs": ["y"],)" +
           "\n" + R"("tensors": {"weight": {"shape": ["in", "out"]}},)" + "\n" +
           R"("steps": [{"family": "matmul", "inputs": ["x", "weight"], "output": "y"}]}},)" +
           "\n" + rest + "}";
}

/// The flat pipeline as its resolved document, without sizes.
json flat(const std::string& text, const Lines& sets = {}) {
    json resolved = load_text(text, sets).resolved;
    resolved.erase("sizes");
    return resolved;
}

/// `count` products one behind the other, written by hand.
std::string chain_by_hand(int count, int size) {
    json tensors{{"x", {{"shape", {4, size}}}}};
    json steps = json::array();
    std::string before = "x";
    for (int i = 0; i < count; ++i) {
        const std::string use = fmt::format("stack.{}", i);
        const bool is_last = i + 1 == count;
        tensors[use + ".weight"] = {{"shape", {size, size}}};
        json step{{"family", "matmul"},
                  {"inputs", {before, use + ".weight"}},
                  {"output", is_last ? "end" : use + ".y"},
                  {"name", use + ".y"}};
        before = step["output"];
        steps.push_back(std::move(step));
    }
    return json{{"schema_version", 1}, {"kind", "pipeline"}, {"tensors", tensors}, {"steps", steps}}
        .dump();
}

const char* const kChain = R"("sizes": {"n": 8, "count": 3},
"tensors": {"x": {"shape": [4, "n"]}},
"steps": [{"module": "linear", "name": "stack", "for": "count", "sizes": {"in": "n", "out": "n"},
           "inputs": ["x"], "output": "end"}])";

} // namespace

TEST_CASE("uses of a module one behind the other are the pipeline that is written by hand",
          "[unit][modules]") {
    CHECK(flat(with_linear(kChain)) == flat(chain_by_hand(3, 8)));
    for (const int count : {1, 2, 7}) {
        for (const int size : {1, 16}) {
            CHECK(flat(with_linear(kChain), {fmt::format("workload.sizes.count={}", count),
                                             fmt::format("workload.sizes.n={}", size)}) ==
                  flat(chain_by_hand(count, size)));
        }
    }
    // the sizes of a run are part of what it is
    CHECK(load_text(with_linear(kChain)).resolved["sizes"] == json{{"n", 8}, {"count", 3}});
}

TEST_CASE("the flat pipeline is a workload file that reads as the model does", "[unit][modules]") {
    const json resolved = flat(with_linear(kChain));
    CHECK(flat(resolved.dump()) == resolved);
    CHECK_FALSE(modules::is_model(resolved));
    CHECK(modules::is_model(load_text(with_linear(kChain)).resolved));
}

TEST_CASE("without \"for\" a use has no number, and a step its module's name of what it writes",
          "[unit][modules]") {
    const json resolved = flat(with_linear(R"("tensors": {"x": {"shape": [4, 8]}},
"steps": [{"module": "linear", "sizes": {"in": 8, "out": 6}, "inputs": ["x"], "output": "end"}])"));
    CHECK(resolved["steps"].size() == 1);
    CHECK(resolved["steps"][0]["name"] == "linear.y");
    CHECK(resolved["steps"][0]["output"] == "end");
    CHECK(resolved["steps"][0]["inputs"] == json{"x", "linear.weight"});
    CHECK(resolved["tensors"]["linear.weight"]["shape"] == json{8, 6});
}

TEST_CASE("modules use modules, with names as paths, inside of repeats too", "[unit][modules]") {
    const json resolved = flat(R"({"schema_version": 1, "kind": "pipeline",
"sizes": {"n": 8},
"modules": {
  "inner": {"inputs": ["x"], "outputs": ["y"],
            "steps": [{"family": "relu", "inputs": ["x"], "output": "between"},
                      {"family": "relu", "inputs": ["between"], "output": "y"}]},
  "outer": {"inputs": ["x"], "outputs": ["y"],
            "steps": [{"module": "inner", "name": "first", "inputs": ["x"], "output": "h"},
                      {"module": "inner", "name": "second", "inputs": ["h"], "output": "y"}]}},
"tensors": {"x": {"shape": ["n", "n"]}},
"steps": [{"repeat": "n / 4", "steps": [{"module": "outer", "inputs": ["x"], "output": "z"}]}]})");
    REQUIRE(resolved["steps"].size() == 1);
    CHECK(resolved["steps"][0]["repeat"] == 2);
    const json& steps = resolved["steps"][0]["steps"];
    REQUIRE(steps.size() == 4);
    CHECK(steps[0]["output"] == "outer.first.between");
    CHECK(steps[1]["output"] == "outer.h");
    CHECK(steps[1]["name"] == "outer.first.y");
    CHECK(steps[2]["inputs"] == json{"outer.h"});
    CHECK(steps[3]["output"] == "z");
    CHECK(steps[3]["name"] == "outer.second.y");
}

TEST_CASE("steps of a use that runs again have the name of the outermost such use",
          "[unit][modules]") {
    const auto steps_of = [](const char* inner, const char* outer, const char* use) {
        return flat(std::string(R"({"schema_version": 1, "kind": "pipeline", "modules": {
  "inner": {)") + inner +
                    R"("inputs": ["x"], "outputs": ["y"],
            "steps": [{"family": "relu", "inputs": ["x"], "output": "y"}]},
  "outer": {)" + outer +
                    R"("inputs": ["x"], "outputs": ["y"],
            "steps": [{"module": "inner", "inputs": ["x"], "output": "h"},
                      {"family": "gelu", "inputs": ["h"], "output": "y"}]}},
"tensors": {"x": {"shape": [8, 8]}},
"steps": [{"module": "outer", "for": 2, )" +
                    use + R"("inputs": ["x"], "output": "z"}]})")["steps"];
    };
    const auto names = [](const json& steps) {
        Lines lines;
        for (const json& step : steps) {
            lines.push_back(step.value("recompute", "none"));
        }
        return lines;
    };
    const char* again = R"("recompute": true, )";
    const Lines of_outer{"outer.0", "outer.0", "outer.1", "outer.1"};
    CHECK(names(steps_of("", "", "")) == Lines{"none", "none", "none", "none"});
    CHECK(names(steps_of(again, "", "")) ==
          Lines{"outer.0.inner", "none", "outer.1.inner", "none"});
    CHECK(names(steps_of("", again, "")) == of_outer);
    CHECK(names(steps_of(again, again, "")) == of_outer);
    CHECK(names(steps_of("", "", again)) == of_outer);
}

TEST_CASE("a phased use is the repeat that is written by hand", "[unit][modules]") {
    // The output goes on from round to round, and "side" is one tensor for all rounds.
    const auto phased = [](const std::string& use) {
        return flat(std::string(R"({"schema_version": 1, "kind": "pipeline", "io_tiles": 2,
"modules": {
  "inner": {"inputs": ["x"], "outputs": ["y"], "tensors": {"bias": {"shape": [8]}},
            "steps": [{"family": "bias", "inputs": ["x", "bias"], "output": "y"}]},
  "layer": {"inputs": ["x", "side"], "outputs": ["y"], "tensors": {"weight": {"shape": [8, 8]}},
            "steps": [{"family": "matmul", "inputs": ["x", "weight"], "output": "p"},
                      {"module": "inner", "inputs": ["p"], "output": "q"},
                      {"family": "matmul", "inputs": ["q", "side"], "output": "y"}]}},
"tensors": {"a": {"shape": [4, 8]}, "b": {"shape": [8, 8]}},
"steps": [{"module": "layer", "name": "s", "for": 3, "phased": true, "inputs": ["a", "b"], )") +
                    use + "}]}");
    };
    struct Keys {
        std::string output;
        std::string of_load; // more keys
        std::string of_step;
        std::string place = "remote";
    };
    const auto by_hand = [](const Keys& keys) {
        json document = json::parse(fmt::format(
            R"({{"schema_version": 1, "kind": "pipeline", "io_tiles": 2,
"tensors": {{"a": {{"shape": [4, 8]}}, "b": {{"shape": [8, 8]}},
             "s.weight": {{"shape": [3, 8, 8], "place": "{3}"}},
             "s.inner.bias": {{"shape": [3, 8], "place": "{3}"}}}},
"steps": [
{{"family": "scale", "factor": 1, "inputs": ["a"], "output": "{0}"}},
{{"repeat": 3, "steps": [
   {{"load": "s.weight", "output": "s.round.weight"{1}}},
   {{"family": "matmul"{2}, "inputs": ["{0}", "s.round.weight"], "output": "s.round.p"}},
   {{"load": "s.inner.bias", "output": "s.round.inner.bias"{1}}},
   {{"family": "bias"{2}, "name": "s.round.inner.y", "inputs": ["s.round.p", "s.round.inner.bias"],
     "output": "s.round.q"}},
   {{"family": "matmul"{2}, "inputs": ["s.round.q", "b"], "output": "s.round.y"}},
   {{"family": "scale", "name": "s.round.y_passed", "factor": 1, "inputs": ["s.round.y"],
     "output": "{0}"}}]}}]}})",
            keys.output, keys.of_load, keys.of_step, keys.place));
        if (keys.output == "a") { // it stands where it goes on
            document["steps"].erase(0);
        }
        return flat(document.dump());
    };
    CHECK(phased(R"("output": "end")") == by_hand({"end", "", ""}));
    CHECK(phased(R"("output": "a")") == by_hand({"a", "", ""}));
    CHECK(phased(R"("outputs": [null])") == by_hand({"s.y", "", ""}));
    CHECK(phased(R"("prefetch": 0, "output": "end")") == by_hand({"end", "", ""}));
    CHECK(phased(R"("prefetch": 1, "output": "end")") ==
          by_hand({"end", R"(, "prefetch": 1)", ""}));
    CHECK(phased(R"("recompute": true, "output": "end")") ==
          by_hand({"end", "", R"(, "recompute": "s.round")"}));
    CHECK(phased(R"("rows": "tiles", "output": "end")") == by_hand({"end", "", "", "tile_rows"}));
}

TEST_CASE("a use knows which one of several it is", "[unit][modules]") {
    const json resolved = flat(with_linear(R"x("tensors": {"x": {"shape": [4, 8]}},
"steps": [{"module": "linear", "name": "l", "for": 3, "inputs": ["x"], "output": "end",
           "sizes": {"in": "8 * (index + 1)", "out": "8 * (index + 2)"
}
}])x"));
    for (int i = 0; i < 3; ++i) {
        CHECK(resolved["tensors"][fmt::format("l.{}.weight", i)]["shape"] ==
              json{8 * (i + 1), 8 * (i + 2)});
    }
}

TEST_CASE("sizes are expressions of each other, in any order", "[unit][modules]") {
    const auto shape = [](const std::string& sizes, const Lines& sets = {}) {
        return flat(R"({"schema_version": 1, "kind": "pipeline", "sizes": {)" + sizes +
                        R"(}, "tensors": {"x": {"shape": ["a", "b"]}},
"steps": [{"family": "relu", "inputs": ["x"], "output": "y"}]})",
                    sets)["tensors"]["x"]["shape"];
    };
    CHECK(shape(R"("a": "b * c", "b": "c + 1", "c": 3)") == json{12, 4});
    CHECK(shape(R"("a": "b * c", "b": "c + 1", "c": 3)", {"workload.sizes.c=1"}) == json{2, 2});
    CHECK(shape(R"("a": "b * c", "b": "c + 1", "c": 3)", {"workload.sizes.b=c * c"}) ==
          json{27, 9});
}

TEST_CASE("mistakes of sizes are told where they stand", "[unit][modules]") {
    const auto of = [](const std::string& sizes, const Lines& sets = {}) {
        return mistakes(R"({"schema_version": 1, "kind": "pipeline",)"
                        "\n\"sizes\": {" +
                            sizes + R"(},
"tensors": {"x": {"shape": ["rows", 8]}},
"steps": [{"family": "relu", "inputs": ["x"], "output": "y"}]})",
                        sets);
    };
    CHECK(of(R"("rows": 4)").empty());
    CHECK(of(R"("rows": "row + 1", "hidden": 8)") ==
          Lines{"a.json:2:19: /sizes/rows: 'row + 1', character 1: unknown name 'row'",
                "a.json:3:29: /tensors/x/shape/0: 'rows', character 1: unknown name 'rows'"});
    CHECK(of(R"("rows": "r", "r": "rows")").size() == 2);
    CHECK(of(R"("rows": 2.5)") == Lines{"a.json:3:29: /tensors/x/shape/0: got number 2.5, "
                                        "expected a whole number of elements"});
    CHECK(of(R"("rows": [4])").front() ==
          "a.json:2:19: /sizes/rows: got an array, expected a number or an expression of sizes");
    CHECK(of(R"("rows": 4)", {"workload.sizes.row=5"}) ==
          Lines{"--set: workload.sizes.row: unknown size; did you mean 'workload.sizes.rows'?"});
    CHECK(of(R"("rows": 4)",
             {"workload.sizes.rows=" + std::string(500, '[') + std::string(500, ']')}) ==
          Lines{"--set: workload.sizes.rows: nested deeper than 64"});
    CHECK(of(R"("rows": 4)", {"workload.sizes.rows=0"}) ==
          Lines{"a.json:3:29: /tensors/x/shape/0: got 0 elements, expected 1..1000000 "
                "elements"});
}

TEST_CASE("mistakes of uses are told where they stand", "[unit][modules]") {
    const auto of = [](const std::string& step) {
        return mistakes(with_linear(R"("tensors": {"x": {"shape": [4, 8]}},)"
                                    "\n\"steps\": [" +
                                    step + "]"));
    };
    const std::string use = R"("inputs": ["x"], "output": "end")";
    const std::string sizes = R"("sizes": {"in": 8, "out": 6})";
    CHECK(of(R"({"module": "linear", )" + sizes + ", " + use + "}").empty());
    CHECK(of(R"({"module": "linaer", )" + sizes + ", " + use + "}") ==
          Lines{"a.json:6:22: /steps/0/module: got 'linaer', expected the name of a module; did "
                "you mean 'linear'?"});
    CHECK(of(R"({"module": "linear", "sizes": {"in": 8}, )" + use + "}") ==
          Lines{"a.json:6:11: /steps/0: missing size 'out' of module 'linear'"});
    CHECK(of(R"({"module": "linear", "sizes": {"in": 8, "out": 6, "ot": 1}, )" + use + "}")
              .front()
              .find("module 'linear' has no size 'ot'; did you mean 'out'?") != std::string::npos);
    CHECK(of(R"({"module": "linear", )" + sizes + R"(, "inputs": [], "output": "end"})") ==
          Lines{"a.json:6:72: /steps/0/inputs: got 0 tensors, expected 1: x"});
    CHECK(of(R"({"module": "linear", )" + sizes + R"(, "for": 0, )" + use + "}")
              .front()
              .find("got 0 times, expected a whole number from 1 to 100000") != std::string::npos);
    CHECK(of(R"({"module": "linear", "nmae": "l", )" + sizes + ", " + use + "}")
              .front()
              .find("unknown key; did you mean 'name'?") != std::string::npos);
    // Steps behind the use are not told to miss what it would have made.
    CHECK(of(R"({"module": "linear", "nmae": "l", )" + sizes + ", " + use +
             R"(}, {"family": "relu", "inputs": ["end"], "output": "z"})") ==
          Lines{"a.json:6:32: /steps/0/nmae: unknown key; did you mean 'name'?"});
    const std::string twice = R"({"module": "linear", )" + sizes + ", " + use + "}";
    CHECK(of(twice + ", " + twice).front() ==
          fmt::format("a.json:6:{}: /steps/1: got a second use 'linear', expected another name; "
                      "\"name\" tells uses of a module apart",
                      std::string_view("\"steps\": [").size() + twice.size() + 3));
    // a name of the pipeline's own that is that of a use
    CHECK(
        mistakes(with_linear(
            R"("tensors": {"linear.weight": {"shape": [8, 6]}, "x": {"shape": [4, 8]}}, "steps": [)" +
            twice + "]")) == Lines{"a.json:5:30: /tensors/linear.weight: got a second tensor "
                                   "'linear.weight', expected one"});
}

TEST_CASE("uses and tensors are counted where modules have no steps", "[unit][modules]") {
    constexpr int kDepth = 30; // 2^30 uses of the innermost
    const auto doubled = [](const std::string& innermost) {
        std::string modules = "\"m0\": " + innermost;
        for (int i = 1; i < kDepth; ++i) {
            modules += fmt::format(R"(,
"m{0}": {{"steps": [{{"module": "m{1}", "name": "a"}}, {{"module": "m{1}", "name": "b"}}]}})",
                                   i, i - 1);
        }
        return mistakes(fmt::format(
            R"({{"schema_version": 1, "kind": "pipeline", "modules": {{{}}},
"tensors": {{"x": {{"shape": [4, 4]}}}},
"steps": [{{"module": "m{}"}}, {{"family": "relu", "inputs": ["x"], "output": "y"}}]}})",
            modules, kDepth - 1));
    };
    const auto has = [](const Lines& lines, const std::string& text) {
        return lines.size() == 1 && lines.front().find(text) != std::string::npos;
    };
    CHECK(has(doubled(R"({"steps": []})"), "got more uses of modules, expected at most 100000"));
    const std::string of = R"({"tensors": {"v": {"shape": [4]}, "w": {"shape": [4]},
                               "u": {"shape": [4]}}, "steps": []})";
    CHECK(has(doubled(of), "got more tensors, expected at most 100000"));
    CHECK(has(doubled(R"({"tensors": {"w": {"shape": [4]}}, "steps": [
                {"family": "relu", "inputs": ["w"], "output": "a"},
                {"family": "relu", "inputs": ["w"], "output": "b"},
                {"family": "relu", "inputs": ["w"], "output": "c"}]})"),
              "got more steps, expected at most 100000"));
}

TEST_CASE("a wrong number of uses hides no other mistake and makes none", "[unit][modules]") {
    const auto found = mistakes(with_linear(R"("tensors": {"x": {"shape": [4, 8]}},
"steps": [{"module": "linear", "for": "lenght", "sizes": {"in": 8, "out": 6},
           "inputs": ["x"], "output": "end"},
          {"family": "relu", "inputs": ["end"], "output": "y"}])"));
    REQUIRE(found.size() == 1);
    CHECK(found.front().find("/steps/0/for") != std::string::npos);
}

TEST_CASE("what is wrong in a module is told once, with its first use", "[unit][modules]") {
    const auto found = mistakes(R"({"schema_version": 1, "kind": "pipeline",
"modules": {"m": {"inputs": ["x"], "outputs": ["y"],
"steps": [{"family": "relu", "inputs": ["x"], "output": "h"},
{"family": "relu", "inputs": ["g"], "output": "y"}]}},
"tensors": {"x": {"shape": [4, 8]}},
"steps": [{"module": "m", "name": "l", "for": 5, "inputs": ["x"], "output": "z"}]})");
    REQUIRE(found.size() == 1);
    CHECK(found[0].find("a.json:4:31: /modules/m/steps/1/inputs/0: ") == 0);
    CHECK(found[0].find(", in l.0") != std::string::npos);
}

TEST_CASE("a phased use has no other one inside, whatever their rounds", "[unit][modules]") {
    for (const int outer : {1, 2}) {
        for (const int inner : {1, 2}) {
            CAPTURE(outer, inner);
            CHECK(mistakes(fmt::format(R"({{"schema_version": 1, "kind": "pipeline",
"modules": {{"a": {{"inputs": ["x"], "outputs": ["y"],
"steps": [{{"family": "relu", "inputs": ["x"], "output": "y"}}]}},
"b": {{"inputs": ["x"], "outputs": ["y"], "steps": [
{{"module": "a", "for": {}, "phased": true, "inputs": ["x"], "output": "y"}}]}}}},
"tensors": {{"x": {{"shape": [4, 8]}}}},
"steps": [{{"module": "b", "for": {}, "phased": true, "inputs": ["x"], "output": "z"}}]}})",
                                       inner, outer)) ==
                  Lines{"a.json:5:37: /modules/b/steps/0/phased: got a phased use inside another "
                        "one, expected one, in b.round"});
        }
    }
}

TEST_CASE("a phased use has rounds", "[unit][modules]") {
    CHECK(mistakes(with_linear(R"("tensors": {"x": {"shape": [4, 8]}},
"steps": [{"module": "linear", "sizes": {"in": 8, "out": 8}, "phased": true, "inputs": ["x"],
           "output": "end"}])")) ==
          Lines{"a.json:6:72: /steps/0/phased: got a phased use without \"for\", expected how many "
                "rounds it has"});
}

TEST_CASE("what stands among the steps of a module and is no step is told", "[unit][modules]") {
    for (const std::string wrong : {"1", "\"relu\"", "null", "[]", "true"}) {
        CAPTURE(wrong);
        const Lines found = mistakes(fmt::format(R"({{"schema_version": 1, "kind": "pipeline",
"modules": {{"m": {{"inputs": ["x"], "outputs": ["y"], "steps": [{},
{{"family": "relu", "inputs": ["x"], "output": "y"}}]}}}},
"tensors": {{"x": {{"shape": [4, 8]}}}},
"steps": [{{"module": "m", "inputs": ["x"], "output": "z"}}]}})",
                                                 wrong));
        REQUIRE(found.size() == 1);
        CHECK(found[0].find("a.json:2:64: /modules/m/steps/0: ") == 0);
    }
}

TEST_CASE("a module that uses itself is a mistake", "[unit][modules]") {
    const auto found = mistakes(R"({"schema_version": 1, "kind": "pipeline",
"modules": {"a": {"inputs": ["x"], "outputs": ["y"],
"steps": [{"module": "b", "inputs": ["x"], "output": "y"}]},
"b": {"inputs": ["x"], "outputs": ["y"],
"steps": [{"module": "a", "inputs": ["x"], "output": "y"}]}},
"tensors": {"x": {"shape": [4, 8]}},
"steps": [{"module": "a", "inputs": ["x"], "output": "z"}]})");
    REQUIRE(found.size() == 1);
    CHECK(found[0].find("a.json:5:22: /modules/b/steps/0/module: module 'a' uses itself") == 0);
}

TEST_CASE("modules come from other files, each once", "[unit][modules]") {
    const ScratchFolder scratch;
    static_cast<void>(
        scratch.write("shared.json", R"({"include": ["more.json"], "modules": {"twice": {
"inputs": ["x"], "outputs": ["y"], "steps": [
{"module": "once", "name": "a", "inputs": ["x"], "output": "h"},
{"module": "once", "name": "b", "inputs": ["h"], "output": "y"}]}}})"));
    static_cast<void>(
        scratch.write("more.json", R"({"include": ["shared.json"], "modules": {"once": {
"inputs": ["x"], "outputs": ["y"], "steps": [{"family": "relu", "inputs": ["x"], "output": "y"}]}}})"));
    const std::string text = R"({"schema_version": 1, "kind": "pipeline",
"include": ["shared.json"], "tensors": {"x": {"shape": [4, 8]}},
"steps": [{"module": "twice", "inputs": ["x"], "output": "y"}]})";
    const std::string file = scratch.write("model.json", text);
    const auto loaded = catalog::load_workload(catalog::read_workload(file), file, source_paths(),
                                               {}, toy_shape(), toy_families());
    CHECK(loaded.resolved["steps"].size() == 2);
    CHECK(loaded.inputs.size() == 2); // a result depends on both files
    // in one file it is the same model
    const json whole =
        modules::with_included(config::parse_document(text, file), file, source_paths());
    CHECK_FALSE(whole.contains("include"));
    CHECK(load_text(whole.dump()).resolved["steps"] == loaded.resolved["steps"]);
    CHECK(mistakes(R"({"schema_version": 1, "kind": "pipeline", "include": ["none.json"],
"tensors": {"x": {"shape": [4, 8]}},
"steps": [{"family": "relu", "inputs": ["x"], "output": "y"}]})")
              .front()
              .find("a.json:1:55: /include/0: cannot find 'none.json'; looked for ") == 0);
}

TEST_CASE("a model file with tensors or steps of another type is told as any pipeline",
          "[unit][modules]") {
    const auto of = [](const std::string& tensors, const std::string& steps) {
        return mistakes(with_linear("\"tensors\": " + tensors + ",\n\"steps\": " + steps));
    };
    const auto tells = [&](const std::string& tensors, const std::string& what) {
        const auto told = of(tensors, R"([{"module": "linear", "sizes": {"in": 8, "out": 6},)"
                                      R"("inputs": ["x"], "output": "end"}])");
        return std::ranges::count(told, "a.json:5:12: /tensors: got " + what +
                                            ", expected an object") == 1;
    };
    CHECK(tells("3", "number 3"));
    CHECK(tells("[]", "an array"));
    CHECK(tells("null", "null"));
    CHECK(of(R"({"x": {"shape": [4, 8]}})", "3") ==
          Lines{"a.json:6:10: /steps: got number 3, expected a list of 1..100000 steps"});
}

TEST_CASE("what is wrong in a module of one line is told once too", "[unit][modules]") {
    const auto found = mistakes(
        R"({"schema_version": 1, "kind": "pipeline", "modules": {"m": {"inputs": ["x"], "outputs": ["y"], )"
        R"("steps": [{"family": "bias", "inputs": ["x", "g"], "output": "y"}]}}, )"
        R"("tensors": {"x": {"shape": [4, 8]}}, )"
        R"("steps": [{"module": "m", "name": "l", "for": 5, "inputs": ["x"], "output": "z"}]})");
    CHECK(found.size() == 1);
}

TEST_CASE("modules and files of them are told where they are wrong", "[unit][modules]") {
    const auto of = [](const std::string& more) {
        return mistakes("{\"schema_version\": 1, \"kind\": \"pipeline\",\n" + more + R"(,
"tensors": {"x": {"shape": [4, 8]}}, "steps": [{"family": "relu", "inputs": ["x"], "output": "y"}]})");
    };
    CHECK(of(R"("include": "shared.json")") ==
          Lines{"a.json:2:12: /include: got string \"shared.json\", expected a list of files"});
    CHECK(of(R"("include": 3)") ==
          Lines{"a.json:2:12: /include: got number 3, expected a list of files"});
    CHECK(of(R"("include": [["a"]])") ==
          Lines{"a.json:2:13: /include/0: got an array, expected the name of a file"});
    CHECK(of(R"("modules": [])") ==
          Lines{"a.json:2:12: /modules: got an array, expected an object of modules"});
    CHECK(of(R"("sizes": [3])") ==
          Lines{"a.json:2:10: /sizes: got an array, expected an object of sizes"});
    CHECK(of(R"("sizes": {"a b": 3})") ==
          Lines{"a.json:2:11: /sizes/a b: got name 'a b', expected letters, digits and '_', the "
                "first no digit"});
    CHECK(of(R"("sizes": {"a": "b", "b": "c", "c": "a"})") ==
          Lines{"a.json:2:16: /sizes/a: size 'a' depends on itself, expected one that does not"});
    CHECK(of(R"("sizes": {"a": "a"})") ==
          Lines{"a.json:2:16: /sizes/a: size 'a' depends on itself, expected one that does not"});
}

TEST_CASE("a module is in one file, and files are at most a hundred", "[unit][modules]") {
    const ScratchFolder scratch;
    const std::string once = R"({"modules": {"m": {"inputs": ["x"], "outputs": ["y"], "steps": [
{"family": "relu", "inputs": ["x"], "output": "y"}]}}})";
    static_cast<void>(scratch.write("a.json", once));
    static_cast<void>(scratch.write("b.json", once));
    const auto of = [&](const std::string& include) {
        const std::string file = scratch.write(
            "model.json", R"({"schema_version": 1, "kind": "pipeline", "include": [)" + include +
                              R"(],
"tensors": {"x": {"shape": [4, 8]}}, "steps": [{"module": "m", "inputs": ["x"], "output": "y"}]})");
        return mistakes_of(
            [&] {
                static_cast<void>(catalog::load_workload(catalog::read_workload(file), file,
                                                         source_paths(), {}, toy_shape(),
                                                         toy_families()));
            },
            scratch.path());
    };
    CHECK(of(R"("a.json")").empty());
    CHECK(of(R"("a.json", "./a.json")").empty()); // the same file
    CHECK(of(R"("a.json", "b.json")") ==
          Lines{"b.json:1:14: /modules/m: got a second module 'm', expected one; the other is at "
                "a.json:1:14: /modules/m"});
    std::string chain = R"("a.json")";
    for (int i = 1; i < 100; ++i) {
        const std::string name = fmt::format("more{}.json", i);
        static_cast<void>(scratch.write(name, R"({"modules": {}})"));
        chain += ", \"" + name + "\"";
    }
    CHECK(of(chain).empty());
    static_cast<void>(scratch.write("last.json", R"({"modules": {}})"));
    const Lines more = of(chain + R"(, "last.json")");
    REQUIRE(more.size() == 1);
    CHECK(more.front().ends_with(": /include/100: got more files, expected at most 100"));
}

TEST_CASE("a use says what of it does not go with the module or with its rounds",
          "[unit][modules]") {
    const auto of = [](const std::string& keys, const std::string& of_module = "") {
        Lines lines = mistakes(R"({"schema_version": 1, "kind": "pipeline", "io_tiles": 2,
"modules": {"m": {"inputs": ["x"], "outputs": ["y"], "tensors": {"w": {"shape": [8])" +
                               of_module + R"(}},
"steps": [{"family": "bias", "inputs": ["x", "w"], "output": "y"}]},
"none": {"tensors": {"v": {"shape": [8]}},
"steps": [{"family": "relu", "inputs": ["v"], "output": "h"}]}},
"tensors": {"a": {"shape": [4, 8]}},
"steps": [
{)" + keys + R"(},
{"family": "relu", "name": "used", "inputs": ["a"], "output": "of_a"}]})");
        for (std::string& line : lines) { // without the place in the file
            line.erase(0, line.find('/'));
        }
        return lines;
    };
    const std::string m = R"("module": "m", "inputs": ["a"], "output": "z")";
    const std::string rounds = m + R"(, "for": 3, "phased": true)";
    CHECK(of(m).empty());
    CHECK(of(rounds).empty());
    CHECK(of(m + R"(, "prefetch": 1)") ==
          Lines{"/steps/0/prefetch: got rows to be brought ahead, expected a phased "
                "use, which has rows"});
    CHECK(of(m + R"(, "rows": "tiles")") ==
          Lines{"/steps/0/rows: got a place of rows, expected a phased use, which has "
                "rows"});
    CHECK(of(m + R"(, "for": 2, "rows": "remote")").empty());
    CHECK(of(rounds + R"(, "prefetch": -1)") ==
          Lines{"/steps/0/prefetch: got -1 rows, expected a whole number from 0 to "
                "100000"});
    CHECK(of(rounds + R"(, "prefetch": "1 / 2")") ==
          Lines{"/steps/0/prefetch: got 0.5 rows, expected a whole number from 0 to "
                "100000"});
    for (const auto& [times, is_good] :
         {std::pair{"100000", true}, {"100001", false}, {"0", false}}) {
        const auto found = of(R"("module": "none", "for": )" + std::string(times));
        // so many are too many steps, which is another mistake
        CHECK(std::ranges::any_of(found, [](const std::string& line) {
                  return line.find("times, expected a whole number from 1 to 100000") !=
                         std::string::npos;
              }) == !is_good);
    }
    CHECK(of(R"("module": "none", "inputs": ["a"])") ==
          Lines{"/steps/0/inputs: got 1 tensors, expected none"});
    CHECK(of(R"("module": "m", "inputs": ["a"])") ==
          Lines{"/steps/0/outputs: got 0 tensors, expected 1: y"});
    CHECK(of(R"("module": "m", "inputs": ["a"], "outputs": ["y", "z"])") ==
          Lines{"/steps/0/outputs: got 2 tensors, expected 1: y"});
    CHECK(of(R"("module": "m", "inputs": ["b"], "output": "z")") ==
          Lines{"/steps/0/inputs/0: unknown tensor 'b'"});
    CHECK(of(m + R"(, "sizes": {"n": 3})") ==
          Lines{"/steps/0/sizes/n: module 'm' has no size 'n'"});
    // rows have no other place or pattern
    CHECK(of(rounds, R"(, "place": "host")") ==
          Lines{"/modules/m/tensors/w/place: got 'place' of a tensor in a phased use, "
                "expected none: its rows stand in streaming memory, in m.round"});
    CHECK(of(rounds + R"(, "rows": "tiles")", R"(, "layout": "row_major")") ==
          Lines{"/modules/m/tensors/w/layout: got 'layout' of a tensor in a phased "
                "use, expected none: its rows stand on the tiles, in m.round"});
}

TEST_CASE("tensors of codelets in modules are called by their paths", "[unit][modules]") {
    const ScratchFolder scratch;
    const json document = json::parse(R"({"schema_version": 1, "kind": "pipeline",
"modules": {"m": {"inputs": ["x"], "outputs": ["y"], "tensors": {"w": {"shape": [8]}}, "steps": [
  {"codelet": "c.s", "vertex": "c.json", "inputs": {"left": "x", "right": "w"},
   "outputs": {"y": {}, "more": {"shape": [4]}, "third": {"tensor": "t"}}},
  {"codelet": "c.s", "vertex": "c.json", "inputs": ["x", "more"], "outputs": {"other": {"tensor": "y"}}}]}},
"tensors": {"a": {"shape": [4, 8]}},
"steps": [{"module": "m", "name": "u", "inputs": ["a"], "output": "z"}]})");
    const auto file = config::parse_document(document.dump(), "a.json");
    const auto& shape = toy_shape();
    const auto& pipeline = *std::ranges::find_if(shape.alternatives, [](const auto& kind) {
                                return kind.name == "pipeline";
                            })->shape;
    const auto made =
        modules::expand(file, "a.json", source_paths(), *pipeline.find("tensors")->shape,
                        *pipeline.find("steps")->shape);
    CHECK(made.mistakes.empty());
    const json& steps = made.document.root.at("steps");
    REQUIRE(steps.size() == 2);
    CHECK(steps[0]["inputs"] == json{{"left", "a"}, {"right", "u.w"}});
    CHECK(steps[0]["outputs"] == json{{"y", {{"tensor", "z"}}},
                                      {"more", {{"shape", {4}}, {"tensor", "u.more"}}},
                                      {"third", {{"tensor", "u.t"}}}});
    CHECK_FALSE(steps[0].contains("name")); // its first output has one that is its own
    CHECK(steps[1]["inputs"] == json{"a", "u.more"});
    CHECK(steps[1]["outputs"] == json{{"other", {{"tensor", "z"}}}});
    CHECK(steps[1]["name"] == "u.y");
}
