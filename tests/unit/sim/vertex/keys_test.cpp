// SPDX-License-Identifier: MIT
// Every key of a vertex file has a case in which it moves what is laid out or what a comparison
// says: a key that is read and forgotten fails here, and so does a new key without a case.
#include "kernels/vertex/shapes.h"
#include "sim/vertex/check.h"
#include "tests/unit/sim/vertex/support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using test::VertexFolder;

namespace {

const spec::MachineSpec kMachine;

/// All that a bench is made of, as text.
std::string text_of(const vertex::Bench& bench) {
    std::string text;
    for (const auto& [name, value] : bench.parameters) {
        text += fmt::format("parameter {} {}\n", name, value);
    }
    for (const auto& placed : bench.memory) {
        text += fmt::format("memory {} {:#x} {}\n", placed.name, placed.address, placed.bytes);
    }
    for (const auto& [address, bytes] : bench.synchronising) {
        text += fmt::format("synchronising {:#x} {}\n", address, bytes);
    }
    for (const auto& segment : bench.image.segments) {
        text += fmt::format("segment {} {:#x} {}", segment.name, segment.address, segment.bytes);
        for (const std::byte byte :
             segment.data == nullptr ? std::vector<std::byte>{} : *segment.data) {
            text += fmt::format(" {}", std::to_integer<int>(byte));
        }
        text += '\n';
    }
    for (const auto& phase : bench.phases) {
        text += "phase\n";
        for (const auto& call : phase.calls) {
            text += fmt::format("call {} {} {:#x} {}\n", call.entry_name,
                                static_cast<int>(call.kind), call.state, call.keeps_m9);
        }
        for (const auto& given : phase.registers) {
            text += fmt::format("register {} {}\n", given.place, given.value);
        }
    }
    for (const auto& array : bench.arrays) {
        text += fmt::format("array {} {}", array.name, array.type->name);
        for (const auto extent : array.shape) {
            text += fmt::format(" {}", extent);
        }
        for (const std::byte byte : array.initial) {
            text += fmt::format(" {}", std::to_integer<int>(byte));
        }
        for (const double value : array.expected.value_or(std::vector<double>{})) {
            text += fmt::format(" expected {}", value);
        }
        text += '\n';
    }
    return text;
}

/// What comes of a file with these keys: the benches of all its points and what `expect` says of
/// arrays that the run leaves alone.
std::string outcome(const VertexFolder& folder, const std::string& keys) {
    folder.write("v.json", R"({"schema_version": 1, )" + keys + "}");
    const auto loaded = vertex::load_vertex(folder.path("v.json"), {});
    std::string text;
    for (const auto& point : vertex::points_of(loaded)) {
        const auto bench = vertex::lay_out(loaded, kMachine, point, {});
        vertex::PointResult result;
        for (const auto& array : bench.arrays) {
            result.arrays.push_back(array.initial);
        }
        text += text_of(bench);
        for (const auto& check : vertex::check_arrays(bench, result, loaded.spec.tolerance)) {
            text += fmt::format("check {} {}\n", check.name, check.wrong);
        }
    }
    return text;
}

/// A key, and two files that differ in it alone.
struct Case {
    std::string key;
    std::string one;
    std::string other;
};

void check_cases(const std::vector<Case>& cases) {
    const VertexFolder folder;
    folder.write("more.S", ".worker\n.globl more\nmore:\nnop\nexitz $mzero\n");
    folder.write("uses.S", "#include \"v.h\"\n.worker\n.globl stop\nstop:\nsetzi $m0, N\n"
                           "exitz $mzero\n");
    folder.write("plain.S", ".worker\n.globl stop\nstop:\nsetzi $m0, N\nexitz $mzero\n");
    std::filesystem::create_directories(folder.path("a"));
    std::filesystem::create_directories(folder.path("b"));
    folder.write("a/v.h", "#define N 1\n");
    folder.write("b/v.h", "#define N 2\n");
    folder.write("one.bin", "\x01\x02");
    folder.write("two.bin", "\x03\x04");
    for (const Case& each : cases) {
        CAPTURE(each.key, each.one, each.other);
        std::string one;
        std::string other;
        REQUIRE_NOTHROW(one = outcome(folder, each.one));
        REQUIRE_NOTHROW(other = outcome(folder, each.other));
        CHECK(one == outcome(folder, each.one));
        CHECK(one != other);
    }
}

/// Keys that only name things, choose what stands beside the file, or have one value.
const std::set<std::string> kOnlyTold{"schema_version", "name",  "description",
                                      "machine",        "label", "worker"};

/// That each key of the shape, the last word of its path, has a case.
void check_all_have_cases(const config::Shape& shape, const std::vector<Case>& cases) {
    for (const auto& parameter : config::parameters(shape)) {
        CAPTURE(parameter.path);
        const auto found = std::any_of(cases.begin(), cases.end(), [&](const Case& each) {
            return each.key == parameter.path;
        });
        CHECK((found || kOnlyTold.count(parameter.path) == 1));
    }
}

const std::string kStart = R"("sources": ["code.S"], )";
const std::string kCall = R"("entry": "stop", "kind": "multi_worker")";

/// A file that has these keys beside its source and its entry.
std::string with(const std::string& keys) {
    return kStart + keys + ", " + kCall;
}

/// Two files with two values of a key of an array.
Case of_array(const std::string& key, const std::string& one, const std::string& other,
              const std::string& beside = R"("length": 4)") {
    const auto file = [&](const std::string& value) {
        return with(R"("arrays": {"first": {"type": "u8", "length": 3}, "x": {)" + beside +
                    (beside.empty() ? "" : ", ") + "\"" + key + "\": " + value + "}}");
    };
    return {key, file(one), file(other)};
}

/// Two files with two values of a key of an array's values; `others` are further keys of them.
Case of_values(const std::string& key, const std::string& one, const std::string& other,
               const std::string& others = {}) {
    const auto file = [&](const std::string& value) {
        return with(R"("arrays": {"x": {"type": "f32", "shape": [2, 10], "values": {)" + others +
                    (others.empty() ? "" : ", ") + "\"" + key + "\": " + value + "}}}");
    };
    return {key, file(one), file(other)};
}

/// Two files with two values of a key of a field of the state.
Case of_state(const std::string& key, const std::string& one, const std::string& other,
              const std::string& others = {}) {
    const auto file = [&](const std::string& value) {
        return with(R"("arrays": {"x": {"type": "u16", "length": 64, "values": {"each": "i"}},
                                  "y": {"type": "f32", "length": 32}},
                       "state": [{"u8": 1}, {)" +
                    others + (others.empty() ? "" : ", ") + "\"" + key + "\": " + value + "}]");
    };
    return {key, file(one), file(other)};
}

} // namespace

TEST_CASE("every key of a vertex file has a case in which it moves something", "[unit][vertex]") {
    const std::string x = R"("arrays": {"x": {"type": "f32", "length": 2, "values": [1, 100]}}, )";
    const std::string n = R"("arrays": {"x": {"type": "u8", "length": "n"}}, )";
    const std::string call = R"("calls": [{"entry": "stop", "kind": "worker"},
                                          {"entry": "stop", "kind": "worker")";
    const std::vector<Case> cases{
        {"sources", with(R"("name": "v")"),
         R"("sources": ["code.S", "more.S"], "name": "v", )" + kCall},
        {"include_directories", R"("sources": ["uses.S"], "include_directories": ["a"], )" + kCall,
         R"("sources": ["uses.S"], "include_directories": ["b"], )" + kCall},
        {"defines", R"("sources": ["plain.S"], "defines": {"N": 1}, )" + kCall,
         R"("sources": ["plain.S"], "defines": {"N": 2}, )" + kCall},
        {"parameters", with(n + R"("parameters": {"n": 3})"),
         with(n + R"("parameters": {"n": 4})")},
        {"points", with(n + R"("parameters": {"n": 3}, "points": [{"n": 5}])"),
         with(n + R"("parameters": {"n": 3}, "points": [{"n": 5}, {"n": 6}])")},
        {"arrays", with(R"("arrays": {})"), with(R"("arrays": {"x": {"length": 1}})")},
        {"entry", R"("sources": ["code.S", "more.S"], "entry": "stop", "kind": "worker")",
         R"("sources": ["code.S", "more.S"], "entry": "more", "kind": "worker")"},
        {"kind", kStart + R"("entry": "stop", "kind": "worker")",
         kStart + R"("entry": "stop", "kind": "multi_worker")"},
        {"state", with(R"("state": [{"u32": 1}])"), with(R"("state": [{"u32": 2}])")},
        {"registers", with(R"("registers": {"m7": 1})"), with(R"("registers": {"m7": 2})")},
        {"keeps_m9", kStart + R"("entry": "back", "kind": "supervisor", "keeps_m9": true)",
         kStart + R"("entry": "back", "kind": "supervisor", "keeps_m9": false)"},
        {"state_alignment",
         with(R"("arrays": {"x": {"length": 1}}, "state": [{"u32": 1}], "state_alignment": 8)"),
         with(R"("arrays": {"x": {"length": 1}}, "state": [{"u32": 1}], "state_alignment": 4096)")},
        {"state_region", with(R"("state": [{"u32": 1}], "state_region": "executable")"),
         with(R"("state": [{"u32": 1}], "state_region": "interleaved")")},
        {"calls", kStart + R"("calls": [{"entry": "stop", "kind": "worker"}])",
         kStart + call + "}]"},
        {"new_phase", kStart + call + R"(, "new_phase": false}])",
         kStart + call + R"(, "new_phase": true}])"},
        {"synchronises", with(x + R"("synchronises": ["x"])"),
         with(x + R"("synchronises": [{"array": "x", "length": 1}])")},
        {"code.element", with(R"("code": {"element": 3})"), with(R"("code": {"element": 4})")},
        {"code.address", with(R"("code": {"address": 311296})"),
         with(R"("code": {"address": 311328})")},
        {"worker_scratch_bytes", with(R"("worker_scratch_bytes": 64)"),
         with(R"("worker_scratch_bytes": 72)")},
        {"stack_bytes", with(R"("stack_bytes": 64)"), with(R"("stack_bytes": 72)")},
        {"expect", with(x + R"("expect": {"x": [1, 100]})"),
         with(x + R"("expect": {"x": [1, 99]})")},
        {"tolerance.absolute",
         with(x + R"("expect": {"x": [1, 101]}, "tolerance": {"absolute": 0.5})"),
         with(x + R"("expect": {"x": [1, 101]}, "tolerance": {"absolute": 1.5})")},
        {"tolerance.relative",
         with(x + R"("expect": {"x": [1, 101]}, "tolerance": {"relative": 0.005})"),
         with(x + R"("expect": {"x": [1, 101]}, "tolerance": {"relative": 0.02})")},
    };
    check_cases(cases);
    check_all_have_cases(vertex::vertex_shape(), cases);
    check_all_have_cases(vertex::call_shape(), cases);
}

TEST_CASE("every key of an array has a case in which it moves something", "[unit][vertex]") {
    std::vector<Case> cases{
        of_array("type", R"("u16")", R"("i16")"),
        of_array("shape", "[2, 3]", "[3, 2]", ""),
        of_array("length", "3", "4", ""),
        of_array("values", "1", "2"),
        of_array("region", R"("executable")", R"("interleaved")"),
        of_array("element", "3", "4"),
        of_array("alignment", "16", "512"),
        of_array("padding_bytes", "0", "64"),
        of_array("padding_before_bytes", "0", "64"),
        of_array("address", "335872", "335880", R"("length": 4, "alignment": 8)"),
    };
    for (const std::string element : {R"("own")", R"({"not_with": ["first"]})"}) {
        cases.push_back(of_array("element", element, "3"));
        cases.back().other = of_array("length", "4", "4", "").one; // as if nothing was said
    }
    check_cases(cases);
    check_all_have_cases(vertex::array_shape(), cases);
}

TEST_CASE("every key of values has a case in which it moves something, in every form that has it",
          "[unit][vertex]") {
    std::vector<Case> cases{
        of_values("each", R"("i")", R"("i0")"),
        of_values("each", R"("i0")", R"("i1")"),
        of_values("generator", R"("arange")", R"("permutation")"),
        {"file",
         with(R"("arrays": {"x": {"type": "u8", "length": 2, "values": {"file": "one.bin"}}})"),
         with(R"("arrays": {"x": {"type": "u8", "length": 2, "values": {"file": "two.bin"}}})")},
    };
    const std::map<std::string, std::vector<std::string>> keys{
        {"integers", {"low", "high", "seed"}},
        {"uniform", {"low", "high", "seed"}},
        {"normal", {"mean", "deviation", "seed"}},
        {"arange", {"start", "step"}},
        {"permutation", {"start", "seed"}}};
    for (const auto& [generator, its_keys] : keys) {
        // so that low is below high in any case
        const std::map<std::string, std::pair<std::string, std::string>> values{
            {"low", {"-3", "-4"}}, {"high", {"1000", "2000"}},     {"seed", {"1", "2"}},
            {"mean", {"1", "2"}},  {"deviation", {"0.5", "0.25"}}, {"start", {"3", "4"}},
            {"step", {"2", "5"}}};
        for (const auto& key : its_keys) {
            std::string others = R"("generator": ")" + generator + "\"";
            if (key == "low" || key == "seed") {
                others +=
                    generator == "integers" || generator == "uniform" ? R"(, "high": 1000)" : "";
            }
            cases.push_back(of_values(key, values.at(key).first, values.at(key).second, others));
        }
    }
    check_cases(cases);
    check_all_have_cases(vertex::values_shape(), cases);
}

TEST_CASE("every key of a field of vertex state has a case in which it moves something",
          "[unit][vertex]") {
    const std::string scaled = R"("pointer": "x", "packing": "scaled16")";
    std::vector<Case> cases{
        of_state("word", R"j("addr(x)")j", R"j("addr(y)")j"),
        of_state("bytes", "[1, 2]", "[1, 3]"),
        of_state("align", "8", "16"),
        of_state("pointer", R"("x")", R"("y")"),
        of_state("offset_bytes", "2", "4", R"("pointer": "x")"),
        of_state("offset_elements", "1", "2", R"("pointer": "x")"),
        of_state("packing", R"("word")", R"("span")", R"("pointer": "x")"),
        of_state("length", "5", "6", R"("pointer": "x", "packing": "span")"),
        of_state("length", "5", "6", R"("pointer": "x", "packing": "short_span")"),
        of_state("shift", "3", "4", R"j("base": "addr(x) - 64", )j" + scaled),
        of_state("base", R"j("addr(x)")j", R"j("addr(x) - 16")j", scaled),
        of_state("pointers", R"(["x", "y"])", R"(["y", "x"])"),
        of_state("list", "false", "true", R"("pointers": ["x", "y"])"),
        of_state("count", "false", "true", R"("pointers": ["x", "y"])"),
        of_state("count", "false", "true", R"("delta_n": ["x", "y"])"),
        of_state("count", R"("u16")", R"("bits31_24")", R"("pointers": ["x", "y"], "list": true)"),
        of_state("count", R"("u8")", R"("bits31_24")", R"("delta_n": ["x", "y"])"),
        of_state("spans", R"(["x", "y"])", R"(["y", "x"])"),
        of_state("list", "false", "true", R"("spans": ["x"])"),
        of_state("packing", R"("span")", R"("short_span")", R"("spans": ["x"])"),
        of_state("count", "false", "true", R"("spans": ["x"])"),
        of_state("delta_n", R"(["x", "y"])", R"(["y", "x"])", R"("element_bytes": 2)"),
        of_state("base_array", R"("x")", R"("y")", R"("delta_n": ["y"], "element_bytes": 2)"),
        of_state("element_bytes", "2", "4", R"("delta_n": ["x", "y"])"),
    };
    for (const std::string type : {"u8", "i8", "u16", "i16", "u32", "i32", "f16", "f32"}) {
        cases.push_back(of_state(type, "1", "2"));
    }
    check_cases(cases);
    check_all_have_cases(vertex::state_shape(), cases);
}
