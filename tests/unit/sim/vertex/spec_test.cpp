// SPDX-License-Identifier: MIT
#include "base/config/document.h"
#include "kernels/vertex/spec.h"
#include "sim/vertex/report.h"
#include "tests/support/source_path.h"
#include "tests/unit/sim/vertex/support.h"

#include <catch2/catch.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <cmath>
#include <sstream>

using namespace tessera;
using test::VertexFolder;

namespace {

bool schema_accepts(const nlohmann::json& schema_json, const nlohmann::json& document) {
    valijson::Schema schema;
    valijson::SchemaParser{valijson::SchemaParser::kDraft7}.populateSchema(
        valijson::adapters::NlohmannJsonAdapter{schema_json}, schema);
    valijson::Validator validator{valijson::Validator::kStrongTypes};
    return validator.validate(schema, valijson::adapters::NlohmannJsonAdapter{document}, nullptr);
}

std::string text_of(const std::string& path) {
    std::ifstream in(tessera::test::source_path(path));
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

const std::string kExample = tessera::test::source_path("configs/vertices/scaled_add.json");

} // namespace

TEST_CASE("the checked in schemas of vertices are what the program writes", "[unit][vertex]") {
    CHECK(text_of("configs/schemas/vertex.schema.json") == vertex::vertex_schema().dump(2) + "\n");
    CHECK(text_of("configs/schemas/vertex_result.schema.json") ==
          vertex::vertex_result_schema().dump(2) + "\n");
}

TEST_CASE("schema and reader agree on vertex files good and bad", "[unit][vertex]") {
    const VertexFolder folder;
    const auto agree = [&](const std::string& inner, bool good) {
        INFO(inner);
        const std::string text =
            R"({"schema_version": 1, "sources": ["code.S"], "entry": "stop", "kind": "worker")" +
            inner + "}";
        folder.write("v.json", text);
        const auto document = config::parse_document(text, "v.json");
        CHECK(schema_accepts(vertex::vertex_schema(), document.root) == good);
        const auto found = VertexFolder::mistakes(
            [&] { static_cast<void>(vertex::load_vertex(folder.path("v.json"))); });
        CHECK((found == "accepted") == good);
    };
    agree("", true);
    agree(R"(, "arrays": {"x": {"length": 3}})", true);
    agree(R"(, "arrays": {"x": {"shape": ["2*3", 4], "values": [[1, 2], [3]]}})", true);
    agree(R"(, "arrays": {"x": {"length": 3, "values": {"generator": "normal", "mean": 1}}})",
          true);
    agree(R"(, "arrays": {"x": {"values": {"file": "a.npy"}}})", true);
    agree(R"(, "arrays": {"x": {"length": 3, "values": {"each": "i"}}}, "expect": {"x": 1})", true);
    agree(R"(, "arrays": {"x": {"length": 3}}, "state": [{"pointer": "x", "packing": "span"}])",
          true);
    agree(R"(, "state": [{"u8": 1}, {"align": 4}, {"word": "1 << 3"}, {"bytes": [1, 2]}])", true);
    agree(R"(, "arrays": {"x": {"length": true}})", false);
    agree(R"(, "arrays": {"x": {"length": 3, "type": "f64"}})", false);
    agree(R"(, "arrays": {"x": {"length": 3, "region": "fast"}})", false);
    agree(R"(, "arrays": {"x": {"length": 3, "values": {"generator": "sine"}}})", false);
    agree(R"(, "arrays": {"x": {"length": 3, "values": {"generator": "normal", "low": 1}}})",
          false);
    agree(R"(, "state": [{"u64": 1}])", false);
    agree(R"(, "state": [{"u8": 1, "packing": "word"}])", false);
    agree(R"(, "state": {"u8": 1})", false);
    agree(R"(, "code": {"region": 3})", false);
    agree(R"(, "points": [3])", false);
    agree(R"(, "tolerance": {"absolute": -1})", false);
}

TEST_CASE("a vertex file's mistakes are told at once with their places", "[unit][vertex]") {
    const VertexFolder folder;
    folder.write("v.json", "{\n  \"schema_version\": 1,\n  \"source\": [],\n"
                           "  \"entry\": \"stop\",\n  \"kind\": \"workers\",\n"
                           "  \"arrays\": {\"x\": {\"lenght\": 3}}\n}\n");
    const std::string path = folder.path("v.json");
    try {
        static_cast<void>(vertex::load_vertex(path));
        FAIL("accepted");
    } catch (const ConfigError& error) {
        CHECK(std::string(error.what()) ==
              path + ":1:1: /sources: missing, expected an array\n" + path +
                  ":3:3: /source: unknown key; did you mean 'sources'?\n" + path +
                  ":5:11: /kind: got string \"workers\", expected one of supervisor, worker, "
                  "multi_worker; did you mean 'worker'?\n" +
                  path + ":6:20: /arrays/x/lenght: unknown key; did you mean 'length'?");
    }
}

TEST_CASE("each rule of a vertex file has its message", "[unit][vertex]") {
    const VertexFolder folder;
    const std::string x = R"("arrays": {"x": {"length": 3}})";
    CHECK(folder.refusal(R"("arrays": {"x": {"length": 3, "shape": [3]}})") ==
          "/arrays/x/length: does not go with shape");
    CHECK(folder.refusal(R"("arrays": {"1x": {"length": 3}})") ==
          "/arrays/1x: got name '1x', expected letters, digits and '_'");
    CHECK(folder.refusal(R"("arrays": {"x": {"length": 3, "element": {"not_with": ["y"]}}})") ==
          "/arrays/x/element/not_with/0: unknown array 'y'");
    for (const std::string element :
         {R"({"not_with":["x"],"own":true})", R"({"with":["x"]})", R"({"not_with":"x"})", "{}"}) {
        CHECK(folder.refusal(R"("arrays": {"x": {"length": 3, "element": )" + element + "}}") ==
              "/arrays/x/element: got " + element + R"(, expected {"not_with": [arrays]})");
    }
    folder.write("none.json", R"({"schema_version": 1, "sources": [], "entry": "stop",
                                 "kind": "worker"})");
    CHECK(VertexFolder::mistakes([&] {
              static_cast<void>(vertex::load_vertex(folder.path("none.json")));
          }) == "/sources: got an empty array, expected a file");
    CHECK(VertexFolder::mistakes([&] { static_cast<void>(folder.load(R"("calls": [])")); }) ==
          "/calls: got an empty array, expected a call");
    CHECK(folder.refusal(x + R"(, "include_directories": ["a", 3, null])") ==
          "/include_directories/1: got number 3, expected a string\n"
          "/include_directories/2: got null, expected a string");
    CHECK(folder.refusal(x + R"(, "state": [{"pointer": "xx"}])") ==
          "/state/0/pointer: unknown array 'xx'; did you mean 'x'?");
    CHECK(folder.refusal(x + R"(, "state": [{"pointers": ["x", 3]}])") ==
          "/state/0/pointers/1: got number 3, expected the name of an array");
    CHECK(folder.refusal(x + R"(, "state": [{"delta_n": [{"array": "x", "lenght": 2}]}])") ==
          "/state/0/delta_n/0/lenght: unknown key; did you mean 'length'?");
    CHECK(folder.refusal(x + R"(, "expect": {"z": 1})") == "/expect/z: unknown array");
    CHECK(folder.refusal(x + R"(, "expect": {"x": true})").starts_with("/expect/x: got "));
    CHECK(folder.refusal(x + R"(, "expect": {"x": null})").starts_with("/expect/x: got null"));
    CHECK(folder.refusal(x + R"(, "expect": {"x": 0})") == "accepted");
    CHECK(folder.refusal(R"("parameters": {"rows": 1}, "points": [{"row": 2}])") ==
          "/points/0/row: unknown parameter; did you mean 'rows'?");
    CHECK(folder.refusal(R"("parameters": {"rows": [1]})") ==
          "/parameters/rows: got an array, expected a number or an expression");
    CHECK(folder.refusal(R"("parameters": {"rows": 1})", {"parameters.row=3"}) ==
          "parameters.row: unknown parameter; did you mean 'rows'?");
    CHECK(folder.refusal(R"("calls": [{"entry": "stop", "kind": "worker"}])") ==
          "/calls: does not go with entry");
    CHECK(VertexFolder::mistakes([&] { static_cast<void>(folder.load(R"("calls": [{}])")); }) ==
          "/calls/0/entry: missing, expected the symbol to call\n"
          "/calls/0/kind: missing, expected one of supervisor, worker, multi_worker");
    CHECK(VertexFolder::mistakes([&] { static_cast<void>(folder.load(R"("name": "n")")); }) ==
          "/entry: missing, expected the symbol to call, or calls");
}

TEST_CASE("mistakes that need a point are told with the expression", "[unit][vertex]") {
    const VertexFolder folder;
    CHECK(folder.bench_refusal(R"("arrays": {"x": {"length": "n + 1"}})") ==
          "/arrays/x/length: 'n + 1', character 1: unknown name 'n'");
    CHECK(folder.bench_refusal(R"("arrays": {"x": {"length": "7 / 2"}})") ==
          "/arrays/x/length: got 3.5, expected a whole number of 0..2097152 elements");
    CHECK(folder.bench_refusal(R"("arrays": {"x": {"type": "u8"}})") ==
          "/arrays/x/length: missing, expected length or shape");
    CHECK(folder.bench_refusal(R"("arrays": {"x": {"length": 2, "values": [1, 2, 3]}})") ==
          "/arrays/x/values: got 3 values, expected 2");
    CHECK(folder.bench_refusal(R"("arrays": {"x": {"type": "u8", "values": [1, 256]}})") ==
          "/arrays/x/values/1: got 256, expected a whole number of 0..255 (u8)");
    CHECK(folder.bench_refusal(R"("arrays": {"x": {"type": "f16", "values": [7e4]}})") ==
          "/arrays/x/values/0: got 70000, expected -65504..65504 (f16)");
    CHECK(folder.bench_refusal(R"("arrays": {"x": {"length": 8, "address": 12}})") ==
          "/arrays/x/address: got 0xc, expected a multiple of 16 in tile memory, "
          "0x4c000..0xe7fff");
    CHECK(folder.bench_refusal(R"("defines": {"N": 0.5})") ==
          "/defines/N: got 0.5, expected a whole number of -2147483648..4294967295");
    CHECK(VertexFolder::mistakes([&] {
              const auto loaded = folder.load(R"("entry": "stopp", "kind": "worker")");
              static_cast<void>(vertex::lay_out(loaded, {}, vertex::points_of(loaded).front(), {}));
          }) == "/entry: no symbol 'stopp'; did you mean 'stop'?");
}

TEST_CASE("points take their own parameters and options win over them", "[unit][vertex]") {
    const VertexFolder folder;
    const std::string text = R"("parameters": {"n": 4, "twice": "2 * n"},
        "points": [{"n": 1}, {"n": 2, "twice": 7}, {"n": 1}], "entry": "stop", "kind": "worker")";
    using Shown = std::vector<std::pair<std::string, double>>;
    const auto points = vertex::points_of(folder.load(text));
    REQUIRE(points.size() == 2);
    CHECK(points[0].shown == Shown{{"n", 1}, {"twice", 2}});
    CHECK(points[1].shown == Shown{{"n", 2}, {"twice", 7}});
    const auto fixed = vertex::points_of(folder.load(text, {"parameters.n=9"}));
    REQUIRE(fixed.size() == 2);
    CHECK(fixed[0].shown == Shown{{"n", 9}, {"twice", 18}});
}

TEST_CASE("the example file is right and its result fits the schema", "[unit][vertex]") {
    const auto loaded = vertex::load_vertex(kExample);
    const spec::MachineSpec machine;
    nlohmann::json points = nlohmann::json::array();
    for (const auto& point : vertex::points_of(loaded)) {
        const auto bench = vertex::lay_out(loaded, machine, point, {});
        const auto result = vertex::run_bench(machine, bench, {});
        const auto checks = vertex::check_arrays(bench, result, loaded.spec.tolerance);
        REQUIRE(checks.size() == 1);
        CHECK(vertex::passed(checks));
        const double pairs = point.scope.numbers.at("pairs");
        // The first worker has the most pairs; see the codelet for the closed form.
        const auto issues = 16 + 4 * static_cast<Cycles>(std::ceil(pairs / 6));
        CHECK(result.worker_cycles == 6 * issues);
        points.push_back(vertex::point_json(machine, bench, result, checks, true));
    }
    auto document =
        vertex::result_json("scaled_add", "bow", vertex::Json::object(), points, nullptr);
    CHECK(schema_accepts(vertex::vertex_result_schema(), document));
    document["points"][0].erase("lines");
    CHECK_FALSE(schema_accepts(vertex::vertex_result_schema(), document));
}

TEST_CASE("a vertex file has at most a thousand points", "[unit][vertex]") {
    const VertexFolder folder;
    const auto points = [&](std::size_t count) {
        std::string list;
        for (std::size_t i = 0; i < count; ++i) {
            list += i == 0 ? "{}" : ", {}";
        }
        return folder.refusal(R"("parameters": {"rows": 1}, "points": [)" + list + "]");
    };
    CHECK(points(1000) == "accepted");
    CHECK(points(1001) == "/points: got 1001 points, expected at most 1000");
}

TEST_CASE("every item of a list of paths is a string", "[unit][vertex]") {
    const VertexFolder folder;
    CHECK(folder.refusal(R"("include_directories": [3])") ==
          "/include_directories/0: got number 3, expected a string");
    CHECK(folder.refusal(R"("include_directories": [true, ".", {}])") ==
          "/include_directories/0: got boolean true, expected a string\n"
          "/include_directories/2: got an object, expected a string");
    CHECK(folder.refusal(R"("include_directories": ["."])") == "accepted");
}

TEST_CASE("values that are neither a list nor a file give an array no shape", "[unit][vertex]") {
    const VertexFolder folder;
    const auto refusal = [&](const std::string& values) {
        return folder.bench_refusal(R"("arrays": {"x": {"type": "u8", "values": )" + values + "}}");
    };
    const std::string without = refusal("3");
    CHECK(without.find("/arrays/x") == 0);
    for (const std::string values :
         {"\"1 + 2\"", R"({"generator": "arange"})", R"({"each": "i0"})"}) {
        CAPTURE(values);
        CHECK(refusal(values) == without);
    }
}

TEST_CASE("a parameter is not called as an index of each is", "[unit][vertex]") {
    const VertexFolder folder;
    for (const std::string name : {"i", "i0", "i12"}) {
        CHECK(folder.refusal(R"("parameters": {")" + name + R"(": 3})") ==
              "/parameters/" + name + ": got parameter '" + name +
                  R"(', expected another name: in "each" it is an index)");
    }
    for (const std::string name : {"ii", "i_0", "i0a", "j", "x"}) {
        CHECK(
            folder
                .load(R"("parameters": {")" + name + R"(": 3}, "entry": "stop", "kind": "worker")")
                .arrays.empty());
    }
}

TEST_CASE("names of a vertex file are names of the expression language", "[unit][vertex]") {
    const VertexFolder folder;
    const auto told = [](const std::string& pointer, const std::string& name) {
        return pointer + "/" + name + ": got name '" + name + "', expected letters, digits and '_'";
    };
    for (const std::string name : {"1x", "x-y", "x y", ".x"}) {
        CAPTURE(name);
        const std::string one = "{\"" + name + "\": 1}";
        CHECK(folder.refusal(R"("parameters": )" + one) == told("/parameters", name));
        CHECK(folder.refusal(R"("defines": )" + one) == told("/defines", name));
        CHECK(folder.refusal(R"("arrays": {")" + name + R"(": {"length": 1}})") ==
              told("/arrays", name));
        CHECK(folder.refusal(R"("points": [)" + one + "]") ==
              told("/points/0", name) + "\n/points/0/" + name + ": unknown parameter");
    }
    for (const std::string name : {"x", "_x1", "Xy"}) {
        CAPTURE(name);
        const std::string one = "{\"" + name + "\": 1}";
        CHECK(folder.refusal(R"("parameters": )" + one + R"(, "points": [)" + one +
                             R"(], "defines": )" + one + R"(, "arrays": {")" + name +
                             R"(": {"length": 1}})") == "accepted");
    }
}

TEST_CASE("each value of a vertex file has the forms that its place takes", "[unit][vertex]") {
    const VertexFolder folder;
    struct Form {
        std::string text;
        std::string got; ///< as a refusal names it
        bool is_value;   ///< a number or an expression
    };
    const std::vector<Form> forms{{"1", "number 1", true},
                                  {"\"1 + 1\"", "", true},
                                  {"0.5", "number 0.5", true},
                                  {"true", "boolean true", false},
                                  {"null", "null", false},
                                  {"[1]", "an array", false},
                                  {R"({"text": "a"})", "an object", false},
                                  {R"({"f32": 1})", "an object", false},
                                  {R"({"text": 1})", "an object", false},
                                  {R"({"text": "a", "f32": 1})", "an object", false}};
    for (const auto& form : forms) {
        CAPTURE(form.text);
        const auto refusal = [&](const std::string& place, const std::string& pointer, bool accepts,
                                 const std::string& expected) {
            const std::string text = place + form.text + "}";
            CHECK(
                folder.refusal(text) ==
                (accepts ? "accepted" : pointer + ": got " + form.got + ", expected " + expected));
        };
        refusal(R"("parameters": {"n": )", "/parameters/n", form.is_value,
                "a number or an expression");
        refusal(R"("defines": {"N": )", "/defines/N",
                form.is_value || form.text == R"({"text": "a"})",
                R"(a number, an expression or {"text": "..."})");
        refusal(R"("registers": {"m0": )", "/registers/m0",
                form.is_value || form.text == R"({"f32": 1})",
                R"(a number, an expression or {"f32": ...})");
    }
}

TEST_CASE("registers of a call are those that its kind leaves free", "[unit][vertex]") {
    const VertexFolder folder;
    const auto refusal = [&](const std::string& kind, const std::string& name) {
        return VertexFolder::mistakes([&] {
            static_cast<void>(folder.load(R"("entry": "stop", "kind": ")" + kind +
                                          R"(", "registers": {")" + name + R"(": 1})"));
        });
    };
    for (int number = 0; number <= 15; ++number) {
        CAPTURE(number);
        const std::string m = "m" + std::to_string(number);
        const std::string a = "a" + std::to_string(number);
        const bool is_supervisors = number >= 1 && number <= 8;
        CHECK(refusal("supervisor", m) ==
              (is_supervisors ? "accepted"
                              : "/registers/" + m + ": unknown register, expected one of m1..m8"));
        CHECK(refusal("supervisor", a) ==
              "/registers/" + a + ": unknown register, expected one of m1..m8");
        const std::string workers = ": unknown register, expected one of m0..m11 and a0..a7";
        for (const std::string kind : {"worker", "multi_worker"}) {
            CHECK(refusal(kind, m) == (number <= 11 ? "accepted" : "/registers/" + m + workers));
            CHECK(refusal(kind, a) == (number <= 7 ? "accepted" : "/registers/" + a + workers));
        }
    }
}

TEST_CASE("registers go with the first call of a phase", "[unit][vertex]") {
    const VertexFolder folder;
    const std::string stop = R"("entry": "stop", "kind": "worker")";
    const auto refusal = [&](const std::string& second) {
        return VertexFolder::mistakes([&] {
            static_cast<void>(folder.load(R"("calls": [{"registers": {"m0": 1}, )" + stop + "}, {" +
                                          second + stop + "}]"));
        });
    };
    CHECK(refusal("") == "accepted");
    CHECK(refusal(R"("registers": {}, )") == "accepted");
    CHECK(refusal(R"("registers": {"m0": 1}, "new_phase": true, )") == "accepted");
    CHECK(
        refusal(R"("registers": {"m0": 1}, )") ==
        "/calls/1/registers: got registers of a call inside a phase, where they are what the call "
        "before left, expected new_phase: true");
}
