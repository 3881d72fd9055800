// SPDX-License-Identifier: MIT
// Shares of tensors, state without addresses, and what a vertex file's parameters become.
#include "base/error.h"
#include "kernels/exchange_plan/known_schedules.h"
#include "kernels/graph/graph.h"
#include "kernels/own_codelet/definition.h"
#include "kernels/own_codelet/shares.h"
#include "kernels/own_codelet/step.h"
#include "kernels/vertex/state.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using own_codelet::Definition;
using own_codelet::Room;
using own_codelet::Share;
using own_codelet::Shares;
using workload::OwnCodelet;

TEST_CASE("even shares cover all units once, in whole grains but for the last", "[own_codelet]") {
    for (const std::int64_t tiles : {1, 2, 5, 16}) {
        for (const std::int64_t grain : {1, 2, 7}) {
            for (const std::int64_t units : {1, 2, 13, 64, 100}) {
                CAPTURE(tiles, grain, units);
                const TileId first = 4;
                const Shares shares = own_codelet::even_shares({first, tiles}, units, grain);
                std::int64_t next = 0;
                TileId least = first;
                std::int64_t fewest = units;
                std::int64_t most = 0;
                for (const Share& share : shares) {
                    CHECK(share.first == next);
                    CHECK(share.tile >= least);
                    CHECK(share.tile < first + tiles);
                    const bool is_last = &share == &shares.back();
                    CHECK((is_last || share.units % grain == 0));
                    fewest = is_last ? fewest : std::min(fewest, share.units);
                    most = std::max(most, share.units);
                    next += share.units;
                    least = share.tile + 1;
                }
                CHECK(next == units);
                CHECK((fewest == units || most - fewest <= grain));
            }
        }
    }
}

TEST_CASE("a tensor that is added in shares stands in them", "[own_codelet]") {
    graph::Graph graph("g");
    const std::int64_t row = 6;
    const std::int64_t rows = 11;
    const Shares shares = own_codelet::even_shares({2, 4}, rows, 1);
    const Room room{"x", graph::Where::Region1, 16, 0, 32};
    const auto made = own_codelet::add_split(
        graph, {.name = "x", .type = ElementType::F32, .shape = {rows, row}}, shares, row, room);

    const auto found = own_codelet::shares_of(graph.tensors[made.tensor.index], row);
    REQUIRE(found);
    REQUIRE(found->size() == shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
        CHECK((*found)[i].tile == shares[i].tile);
        CHECK((*found)[i].first == shares[i].first);
        CHECK((*found)[i].units == shares[i].units);
    }
    CHECK_FALSE(own_codelet::shares_of(graph.tensors[made.tensor.index], row - 1));

    const auto stands = [&](const Shares& wanted, const Room& wants) {
        const auto standing = own_codelet::standing_as(graph, made.tensor, wanted, row, wants);
        CHECK((!standing || standing->places == made.places));
        return standing.has_value();
    };
    CHECK(stands(shares, room));
    CHECK_FALSE(stands(own_codelet::even_shares({2, 3}, rows, 1), room));
    CHECK_FALSE(stands(shares, {"x", graph::Where::Region0, 16, 0, 32}));
    CHECK_FALSE(stands(shares, {"x", graph::Where::Any, 16, 16, 32}));
    // what the room wants more, the buffer gets
    const Bytes alignment = 64;
    const Bytes behind = 48;
    CHECK(stands(shares, {"x", graph::Where::Any, alignment, 0, behind}));
    CHECK(graph.buffers[made.places.front().buffer.index].alignment == alignment);
    CHECK(graph.buffers[made.places.front().buffer.index].read_beyond == behind);
}

constexpr const char* kVertex = R"({
  "schema_version": 1, "sources": ["dot.S"],
  "parameters": {"rows": 4, "columns": 8, "pairs": "columns / 2"},
  "arrays": {
    "x": {"type": "f32", "shape": ["rows", "columns"]},
    "w": {"type": "f32", "length": "columns"},
    "y": {"type": "f32", "length": "rows"},
    "table": {"type": "u32", "length": 3, "values": [1, 2, 3], "padding_before_bytes": 8}
  },
  "entry": "dot", "kind": "multi_worker",
  "state": [
    {"u16": 3}, {"u8": [1, 2]}, {"pointer": "x", "offset_elements": 2}, {"u32": "rows * 10"},
    {"pointers": ["w", {"array": "table", "offset_bytes": -8}], "list": true, "count": true},
    {"spans": ["y", {"array": "x", "offset_elements": 1, "length": 2}], "list": true},
    {"pointer": "y", "packing": "span"}, {"pointers": ["x", "y"]}, {"f16": 1.5}
  ],
  "expect": {"y": 0}
})";

struct Files {
    test::ScratchFolder folder;
    std::string vertex = folder.write("dot.json", kVertex);
};

OwnCodelet told(const Files& files) {
    OwnCodelet own;
    own.source = "dot.S";
    own.vertex = "dot.json";
    own.vertex_path = files.vertex;
    own.inputs = {{"x", "h"}, {"w", "w"}};
    own.outputs = {{.array = "y", .tensor = "s", .shape = {12}}};
    return own;
}

family::TensorType tensor(std::vector<std::int64_t> shape) {
    return {ElementType::F32, std::move(shape)};
}

/// The inputs are in the order of their arrays' names: w, x.
Definition defined(const OwnCodelet& own, const std::vector<std::int64_t>& matrix = {12, 8}) {
    return own_codelet::define(own, "/steps/0", {tensor({matrix.back()}), tensor(matrix)});
}

TEST_CASE("state without addresses is that of arrays with addresses but for them",
          "[own_codelet]") {
    const Files files;
    const auto loaded = vertex::load_vertex(files.vertex);
    const std::int64_t rows = 4;
    const std::int64_t columns = 8;
    std::map<std::string, vertex::ArrayPlace> places{{"x", {0x50000, 4 * rows * columns, 4, 32, 0}},
                                                     {"w", {0x51000, 4 * columns, 4, 32, 0}},
                                                     {"y", {0x52000, 4 * rows, 4, 32, 0}},
                                                     {"table", {0x53010, 12, 4, 32, 16}}};
    const auto scope = vertex::points_of(loaded).front().scope;
    vertex::Evaluation evaluation(loaded, scope);
    const auto& fields = loaded.calls.front().fields;
    const Address at = 0x54000;
    const auto packed = vertex::pack_state(evaluation, fields, places, at);
    const auto made = vertex::state_words(evaluation, fields, places);
    evaluation.throw_if_failed();

    // tables stand behind the words, in their order
    std::vector<Address> tables;
    Address next = at + static_cast<Address>(4 * made.words.size());
    for (const auto& table : made.tables) {
        tables.push_back(next);
        next += static_cast<Address>(4 * table.size());
    }
    const auto value = [&](const vertex::StateWord& word) {
        switch (word.kind) {
        case vertex::StateWord::Kind::Number:
            return word.number;
        case vertex::StateWord::Kind::Pointer:
            return places.at(word.array).address + static_cast<Address>(word.offset);
        case vertex::StateWord::Kind::Table:
            break;
        }
        return tables.at(word.number);
    };
    std::vector<std::uint32_t> words;
    for (const auto& word : made.words) {
        words.push_back(value(word));
    }
    for (const auto& table : made.tables) {
        for (const auto& word : table) {
            words.push_back(value(word));
        }
    }
    std::vector<std::byte> bytes(4 * words.size());
    std::memcpy(bytes.data(), words.data(), bytes.size());
    CHECK(made.tables.size() == 2);
    CHECK(bytes == packed);
}

TEST_CASE("the share is the first size, other sizes are those of the tensors", "[own_codelet]") {
    const Files files;
    const std::int64_t rows = 12;
    const std::int64_t columns = 6;
    const Definition made = defined(told(files), {rows, columns});
    CHECK(made.share == "rows");
    CHECK(made.units == rows);
    CHECK(made.grain == 1);
    CHECK(made.outputs.at(0).shape == std::vector<std::int64_t>{rows});
    std::map<std::string, std::int64_t> units;
    for (const own_codelet::Array& array : made.arrays) {
        units[array.spec.name] = array.unit_elements;
    }
    CHECK(units ==
          std::map<std::string, std::int64_t>{{"x", columns}, {"w", 0}, {"y", 1}, {"table", 0}});
    std::map<std::string, double> numbers;
    const std::int64_t share = 5;
    made.evaluate({}, share, [&](const auto&, vertex::Evaluation& evaluation) {
        numbers = evaluation.scope().numbers;
    });
    CHECK(numbers.at("rows") == static_cast<double>(share));
    CHECK(numbers.at("columns") == static_cast<double>(columns));
    CHECK(numbers.at("pairs") == static_cast<double>(columns) / 2);
}

/// Defines a step on a vertex file of these parameters and arrays. Its output is as large as x.
Definition of_arrays(const std::string& parameters, const std::string& arrays,
                     const std::vector<std::vector<std::int64_t>>& inputs) {
    const Files files;
    OwnCodelet own = told(files);
    static_cast<void>(files.folder.write(
        "dot.json",
        fmt::format(
            R"({{"schema_version": 1, "sources": ["dot.S"], "parameters": {{{}}}, "arrays": {{{}}},
                                   "entry": "dot", "kind": "multi_worker", "state": [{{"pointer": "x"}}, {{"pointer": "y"}}],
                                   "expect": {{"y": 0}}}})",
            parameters, arrays)));
    own.inputs = {{"x", "h"}};
    if (inputs.size() > 1) {
        own.inputs.push_back({"z", "w"});
    }
    own.outputs = {{.array = "y", .tensor = "s", .shape = inputs.front()}};
    std::vector<family::TensorType> types;
    for (const auto& shape : inputs) {
        types.push_back(tensor(shape));
    }
    return own_codelet::define(own, "/steps/0", types);
}

TEST_CASE("an array that counts elements has whole rows of its tensor", "[own_codelet]") {
    const std::int64_t rows = 12;
    const std::int64_t columns = 6;
    const Definition made = of_arrays(
        R"("n": 8)", R"("x": {"type": "f32", "length": "n"}, "y": {"type": "f32", "length": "n"})",
        {{rows, columns}});
    CHECK(made.share == "n");
    CHECK(made.units == rows * columns);
    CHECK(made.grain == columns);
}

TEST_CASE("all sizes of an array that every tile has are those of its tensor", "[own_codelet]") {
    const std::int64_t taps = 5;
    const std::int64_t columns = 6;
    const Definition made = of_arrays(R"("rows": 4, "taps": 3, "columns": 8)",
                                      R"("x": {"type": "f32", "shape": ["rows", "columns"]},
                     "y": {"type": "f32", "shape": ["rows", "columns"]},
                     "z": {"type": "f32", "shape": ["taps", "columns"]})",
                                      {{12, columns}, {taps, columns}});
    std::map<std::string, double> numbers;
    made.evaluate({}, 2, [&](const auto&, vertex::Evaluation& evaluation) {
        numbers = evaluation.scope().numbers;
    });
    CHECK(numbers.at("taps") == static_cast<double>(taps));
    CHECK(numbers.at("columns") == static_cast<double>(columns));
    CHECK(numbers.at("rows") == 2);
}

std::string mistake(const OwnCodelet& own) {
    try {
        static_cast<void>(defined(own));
    } catch (const ConfigError& error) {
        const Diagnostic& first = error.diagnostics().front();
        return first.pointer + ": " + first.message;
    }
    return {};
}

TEST_CASE("a step that does not go with its vertex file is refused", "[own_codelet]") {
    const Files files;
    CHECK(mistake(told(files)).empty());
    OwnCodelet own = told(files);
    own.outputs.front().shape = {12, 2};
    CHECK(mistake(own) ==
          "/steps/0/outputs/y/shape: got f32 12 x 2, which has 24 elements, expected 12: array 'y' "
          "of dot.json has 12 with rows 12");
    own = told(files);
    own.grain = 5;
    CHECK(mistake(own) == "/steps/0/grain: got a grain of 5 for 12 rows, expected a number "
                          "that divides them");
    own = told(files);
    own.outputs = {{.array = "w", .shape = {8}}, {.array = "y", .tensor = "s", .shape = {12}}};
    own.expect = {{"w", 0}, {"y", 0}};
    CHECK(mistake(own) ==
          "/steps/0/outputs/w: got an array that every tile has all of, expected one that is split "
          "(whose size grows with rows)");
}

/// The first mistake of a step whose vertex file is changed by a merge patch, of inputs w and x.
std::string mistake_with(const std::string& patch, const std::function<void(OwnCodelet&)>& change,
                         const std::vector<family::TensorType>& inputs) {
    const Files files;
    auto text = nlohmann::ordered_json::parse(kVertex); // the first array tells the share
    text.merge_patch(nlohmann::ordered_json::parse(patch));
    static_cast<void>(files.folder.write("dot.json", text.dump()));
    OwnCodelet own = told(files);
    change(own);
    try {
        static_cast<void>(own_codelet::define(own, "/steps/0", inputs));
    } catch (const ConfigError& error) {
        const Diagnostic& first = error.diagnostics().front();
        return first.pointer + ": " + first.message + (first.hint.empty() ? "" : "; " + first.hint);
    }
    return {};
}

TEST_CASE("a pipeline says which keys of a vertex file it has no use for", "[own_codelet]") {
    const auto of = [](const std::string& patch) {
        return mistake_with(patch, [](OwnCodelet&) {}, {tensor({8}), tensor({12, 8})});
    };
    const auto got_it = [](const std::string& pointer, const std::string& instead) {
        return pointer + ": got it in a pipeline, expected " + instead;
    };
    CHECK(of("{}").empty());
    CHECK(of(R"({"state_alignment": 8})") ==
          got_it("/state_alignment", "state at multiples of 4 B"));
    CHECK(of(R"({"state_region": "interleaved"})") ==
          got_it("/state_region", "state in any region"));
    CHECK(of(R"({"code": {"address": 327680}})") ==
          got_it("/code", "code where the pipeline has all of it"));
    CHECK(of(R"({"worker_scratch_bytes": 8})") ==
          got_it("/worker_scratch_bytes", "a codelet that needs no scratch"));
    CHECK(of(R"({"stack_bytes": 8})") == got_it("/stack_bytes", "a codelet that needs no stack"));
    CHECK(of(R"({"synchronises": ["y"]})") ==
          got_it("/synchronises", "contexts that need not wait for each other"));
    CHECK(of(R"({"arrays": {"x": {"address": 327680}}})") ==
          got_it("/arrays/x/address", "an array that may stand anywhere"));
    CHECK(of(R"({"arrays": {"x": {"element": 3}}})") ==
          "/arrays/x/element: got the number of an element in a pipeline, expected \"own\" or "
          "{\"not_with\": [arrays]}");
    CHECK(of(R"({"arrays": {"x": {"element": "own"}}})").empty());
    CHECK(of(R"({"registers": {"m1": 0}})") ==
          got_it("/registers", "a codelet that finds all in its state"));
    CHECK(of(R"({"keeps_m9": false})") == got_it("/keeps_m9", "a vertex that keeps $m9"));
    CHECK(of(R"({"sources": ["dot.S", "dot.S"]})") ==
          "/sources: got 2 sources, expected one: the step's codelet takes its place");
    CHECK(of(R"({"entry": null, "kind": null, "state": null,
                 "calls": [{"entry": "dot", "kind": "worker"}, {"entry": "dot", "kind": "worker"}]})") ==
          "/calls: got 2 calls, expected one in a pipeline");
    CHECK(of(R"({"include_directories": ["more"]})") ==
          "/include_directories: got folders, expected none in a pipeline; a source includes files "
          "by paths from its own folder");
}

TEST_CASE("tensors of a step are those of the arrays of its vertex file", "[own_codelet]") {
    const auto of = [](const std::function<void(OwnCodelet&)>& change,
                       std::vector<family::TensorType> inputs = {tensor({8}), tensor({12, 8})}) {
        return mistake_with("{}", change, inputs);
    };
    using nlohmann::json;
    const auto same = [](OwnCodelet&) {};
    CHECK(of(same).empty());
    CHECK(of([](OwnCodelet& own) {
              own.inputs = {{"xx", "h"}, {"w", "w"}};
          }) == "/steps/0/inputs/xx: dot.json has no array 'xx'; did you mean 'x'?");
    CHECK(of([](OwnCodelet& own) { own.outputs.front().array = "yy"; }) ==
          "/steps/0/outputs/yy: dot.json has no array 'yy'; did you mean 'y'?");
    // a list takes arrays in the file's order, without those that are written: x, w, table
    CHECK(of(
              [](OwnCodelet& own) {
                  own.inputs = json{"h", "w"};
              },
              {tensor({12, 8}), tensor({8})})
              .empty());
    CHECK(of(
              [](OwnCodelet& own) {
                  own.inputs = json{"h", "w", "t", "u"};
              },
              {tensor({12, 8}), tensor({8}), tensor({3}), tensor({3})}) ==
          "/steps/0/inputs: got 4 tensors, expected at most 3, as dot.json has arrays besides the "
          "outputs: x, w, table; {\"array\": \"tensor\"} names an array that is written, too");
    CHECK(of([](OwnCodelet& own) {
              own.parameters = {{"row", 4}};
          }) == "/steps/0/parameters/row: dot.json has no parameter 'row'; did you mean 'rows'?");
    CHECK(of([](OwnCodelet& own) {
              own.parameters = {{"columns", "8"}};
          }) == "/steps/0/parameters/columns: got string \"8\", expected a number");
    CHECK(of([](OwnCodelet& own) {
              own.parameters = {{"rows", 4}};
          }) ==
          "/steps/0/parameters/rows: got a value of what a tile's share says, expected it of other "
          "parameters");
    CHECK(of([](OwnCodelet& own) { own.expect = json::object(); }) ==
          "/steps/0/expect: nothing says what array 'y' shall hold, expected values here or in "
          "\"expect\" of dot.json");
    CHECK(of([](OwnCodelet& own) {
              own.expect = {{"y", 1}, {"x", 1}};
          }) == "/steps/0/expect/x: got 'x', expected an array that is an output");
    for (const json& given : {json(true), json(nullptr)}) {
        CHECK(of([&](OwnCodelet& own) {
                  own.expect = {{"y", given}};
              }).ends_with(", expected values"));
    }
    CHECK(of(same, {tensor({8}), {ElementType::F16, {12, 8}}}) ==
          "/steps/0/inputs/x: got f16 12 x 8, expected f32 as array 'x' of dot.json");
    auto sparse = tensor({12, 8});
    sparse.sparse = std::make_shared<workload::SparsePattern>();
    CHECK(of(same, {tensor({8}), sparse}) ==
          "/steps/0/inputs/x: got a sparse matrix, expected a dense tensor");
    CHECK(of([](OwnCodelet& own) { own.outputs.front().type = "f16"; }) ==
          "/steps/0/outputs/y/type: got f16, expected f32 as in dot.json");
    CHECK(of([](OwnCodelet& own) { own.outputs.front().type = "f32"; }).empty());
    CHECK(of(
              [](OwnCodelet& own) {
                  own.inputs = json::object();
                  own.outputs.front().shape.clear();
              },
              {}) ==
          "/steps/0/outputs/y/shape: missing, expected its sizes: the step has no inputs");
    CHECK(of(same, {tensor({8}), tensor({})}) ==
          "/steps/0/inputs/x: got a tensor without sizes, expected one that can be split");
    CHECK(
        of([](OwnCodelet& own) {
            own.parameters = {{"columns", 6}};
        }) ==
        "/steps/0/inputs/x: got f32 12 x 8, whose rows have 8 elements, expected 6 as array 'x' of "
        "dot.json");
    // an array that is read and written has one shape
    CHECK(of(
              [](OwnCodelet& own) {
                  own.inputs = {{"x", "h"}, {"w", "w"}, {"y", "s"}};
              },
              {tensor({8}), tensor({12, 8}), tensor({12})})
              .empty());
    CHECK(of(
              [](OwnCodelet& own) {
                  own.inputs = {{"x", "h"}, {"w", "w"}, {"y", "s"}};
              },
              {tensor({8}), tensor({12, 8}), tensor({4, 3})}) ==
          "/steps/0/outputs/y/shape: got 12, expected 4 x 3 as the input that is array 'y', too");
    CHECK(of([](OwnCodelet& own) { own.split = OwnCodelet::Split::Elements; }) ==
          "/steps/0/split: got elements, expected rows: array 'x' of dot.json has 2 sizes");
}

TEST_CASE("a tile's share is a parameter that sizes of arrays grow with", "[own_codelet]") {
    const auto of = [](const std::string& arrays) {
        return mistake_with(R"({"arrays": {)" + arrays + "}}", [](OwnCodelet&) {},
                            {tensor({8}), tensor({12, 8})});
    };
    const auto no_name = [](const std::string& pointer, const std::string& got) {
        return "/arrays/x/" + pointer + ": got " + got +
               ", expected the name of a parameter: a tile's share of the tensor";
    };
    CHECK(of(R"("x": {"shape": [5, "columns"]})") == no_name("shape/0", "number 5"));
    CHECK(of(R"("x": {"shape": ["2 * rows", "columns"]})") ==
          no_name("shape/0", "string \"2 * rows\""));
    CHECK(of(R"("x": {"shape": null, "length": 5})") == no_name("length", "number 5"));
    CHECK(of(R"("x": {"shape": null, "values": [1]})") == no_name("length", "no size"));
    CHECK(of(R"("x": {"shape": []})") == no_name("length", "no size"));
    CHECK(of(R"("y": {"length": "rows + 1"})") ==
          "/arrays/y: got an array of 13 elements with rows 12 and of 25 with twice as many, "
          "expected twice as many elements, or as many");
}

TEST_CASE("numbers of FP8 stand as bytes of their format", "[own_codelet]") {
    for (const auto& [name, type] :
         {std::pair<std::string, ElementType>{"f8_143", ElementType::F143},
          {"f8_152", ElementType::F152},
          {"u8", ElementType::U8}}) {
        for (const ElementType given : {ElementType::F143, ElementType::F152, ElementType::U8}) {
            CAPTURE(name, name_of(given));
            const std::string told =
                mistake_with(R"({"arrays": {"x": {"type": ")" + name + R"("}}})",
                             [](OwnCodelet&) {}, {tensor({8}), {given, {12, 8}}});
            CHECK(told.empty() == (given == type));
        }
    }
}

TEST_CASE("a share of tiles is what stands at one index of the first size", "[own_codelet]") {
    // 3 tiles with 4 x 8 of x each
    const auto of = [](const std::function<void(OwnCodelet&)>& change,
                       const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& y,
                       const std::vector<std::int64_t>& w = {8}) {
        return mistake_with("{}",
                            [&](OwnCodelet& own) {
                                own.split = OwnCodelet::Split::Tiles;
                                own.outputs.front().shape = y;
                                change(own);
                            },
                            {tensor(w), tensor(x)});
    };
    const auto same = [](OwnCodelet&) {};
    CHECK(of(same, {3, 4, 8}, {3, 4}).empty());
    CHECK(of(same, {3, 4, 8}, {3, 4}, {3, 8}).empty()); // w by tile, too
    CHECK(of([](OwnCodelet& own) { own.grain = 2; }, {3, 4, 8}, {3, 4}) ==
          "/steps/0/grain: got a grain with split tiles, expected it with rows or elements");
    CHECK(
        of(same, {4, 8}, {4}) ==
        "/steps/0/inputs/x: got f32 4 x 8, expected a size that counts tiles before the 2 of array "
        "'x' of dot.json");
    CHECK(of(same, {3, 4, 8}, {12}) == "/steps/0/outputs/y: got an array that every tile has all "
                                       "of, expected one that is split (a "
                                       "first size that counts tiles)");
    CHECK(
        of(same, {3, 4, 8}, {3, 5}) ==
        "/steps/0/outputs/y/shape: got f32 3 x 5, which has 15 elements, expected 12: array 'y' of "
        "dot.json has 4 on each of 3 tiles");
}

/// A step whose vertex file is changed by a merge patch, on 12 rows of so many columns.
struct PatchedStep {
    Files files;
    std::unique_ptr<family::Step> step;

    explicit PatchedStep(const std::string& patch, std::int64_t columns = 8) {
        auto text = nlohmann::ordered_json::parse(kVertex);
        text.merge_patch(nlohmann::ordered_json::parse(patch));
        static_cast<void>(files.folder.write("dot.json", text.dump()));
        OwnCodelet own = told(files);
        own.source_path =
            files.folder.write("dot.S", ".worker\n.align 8\n.globl dot\ndot: exitz $mzero\n");
        step = own_codelet::step_of(defined(own, {12, columns}));
    }
    void emit(graph::Graph& graph, std::int64_t tiles) const {
        spec::MachineSpec machine;
        machine.chip.tiles = tiles;
        exchange_plan::KnownSchedules known;
        static_cast<void>(step->emit(graph, {machine, known, 0, "step"},
                                     std::vector<std::optional<graph::TensorId>>(2)));
    }
};

/// The graph of such a step. On five tiles 12 rows are shares of 2 and 3.
graph::Graph emitted_with(const std::string& patch, std::int64_t columns = 8,
                          std::int64_t tiles = 4) {
    graph::Graph graph("g");
    PatchedStep(patch, columns).emit(graph, tiles);
    return graph;
}

/// The graph of a step whose vertex file has `array` for y, on four tiles, on inputs of so many columns.
graph::Graph emitted(const std::string& array, std::int64_t columns = 8) {
    return emitted_with(R"({"arrays": {)" + array + "}}", columns);
}

const graph::Buffer& buffer_of(const graph::Graph& graph, const std::string& array) {
    const auto found = std::ranges::find_if(graph.buffers, [&](const graph::Buffer& buffer) {
        return buffer.name == array || buffer.name.ends_with(": " + array);
    });
    REQUIRE(found != graph.buffers.end());
    return *found;
}

TEST_CASE("bytes before an array are whole alignments of it", "[own_codelet]") {
    struct Case {
        Bytes before;
        Bytes alignment;
        Bytes offset;
    };
    for (const auto& [before, alignment, offset] :
         {Case{0, 1, 0}, Case{0, 8, 0}, Case{1, 8, 8}, Case{7, 16, 16}, Case{8, 8, 8},
          Case{9, 8, 16}, Case{16, 16, 16}, Case{17, 16, 32}}) {
        CAPTURE(before, alignment);
        const graph::Graph graph = emitted(fmt::format(
            R"("y": {{"type": "f32", "length": "rows", "alignment": {}, "padding_before_bytes": {}}})",
            alignment, before));
        const std::uint32_t y =
            static_cast<std::uint32_t>(&buffer_of(graph, "y") - graph.buffers.data());
        std::optional<Bytes> least;
        for (const graph::Field& field : graph.fields) {
            if (field.kind == graph::Field::Kind::Pointer && field.place.buffer.index == y) {
                least = std::min(least.value_or(field.place.offset), field.place.offset);
            }
        }
        REQUIRE(least);
        CHECK(*least == offset);
    }
}

TEST_CASE("an array has on every tile the room that the tile which wants most does",
          "[own_codelet]") {
    const Bytes most_rows = 3;
    const graph::Graph graph = emitted_with(R"({"arrays": {
        "y": {"padding_bytes": "4 * rows", "alignment": "rows == 2 ? 64 : 8"},
        "table": {"values": [5, 6, 7], "padding_before_bytes": "16 * rows"}}})",
                                            8, 5);
    CHECK(buffer_of(graph, "y").read_beyond == 4 * most_rows);
    CHECK(buffer_of(graph, "y").alignment == 64);
    // its values stand behind the room, also where the tile wants less before them
    const graph::Buffer& table = buffer_of(graph, "table");
    CHECK(table.held.size() == 5);
    for (const graph::Held& held : table.held) {
        CAPTURE(held.tile);
        std::vector<std::uint32_t> words(held.contents->size() / 4);
        std::memcpy(words.data(), held.contents->data(), held.contents->size());
        std::vector<std::uint32_t> wanted(16 * most_rows / 4, 0);
        wanted.insert(wanted.end(), {5, 6, 7});
        CHECK(words == wanted);
    }
}

TEST_CASE("tiles of a step, and steps of a graph, assemble a source with the same macros",
          "[own_codelet]") {
    const std::string share = R"({"defines": {"ROWS": "rows"}})";
    const graph::Graph even = emitted_with(share);
    REQUIRE(even.own_codelets.size() == 1);
    CHECK(even.own_codelets.begin()->second == "#define ROWS 3\n#include \"./dot.S\"\n");
    try {
        static_cast<void>(emitted_with(share, 8, 5));
        FAIL("shares of 2 and 3 rows have other macros");
    } catch (const ConfigError& error) {
        const Diagnostic& told = error.diagnostics().front();
        CHECK(told.pointer == "/defines");
        CHECK(told.message ==
              "got macros that differ between tiles with 2 and with 3 rows, expected "
              "the same: all tiles have one code");
        CHECK(told.hint == "shares are equal where the number of tiles divides them");
    }
    PatchedStep step(R"({"defines": {"WIDTH": 8}})");
    graph::Graph graph("g");
    step.emit(graph, 4);
    step.emit(graph, 5);
    CHECK(graph.own_codelets.size() == 1);
    graph.own_codelets.begin()->second =
        "#define WIDTH 6\n#include \"./dot.S\"\n"; // another step's
    CHECK_THROWS_WITH(
        step.emit(graph, 4),
        Catch::EndsWith("dot.S: not modelled: a source that two steps assemble with different "
                        "macros; see docs/workloads.md#codelets-of-your-own"));
}

TEST_CASE("a tile expects of its share what the vertex file does of an array", "[own_codelet]") {
    PatchedStep patched(
        R"json({"expect": {"y": {"each": "at(table, i) + at(x, i * columns)"}},
                "tolerance": {"absolute": 0.5, "relative": 0.25}})json");
    graph::Graph graph("g");
    patched.emit(graph, 4); // three rows on each
    const std::int64_t columns = 8;
    const auto value = [](std::vector<std::int64_t> shape, const std::vector<float>& elements) {
        family::Value made{tensor(std::move(shape)), std::vector<std::byte>(4 * elements.size())};
        std::memcpy(made.bytes.data(), elements.data(), made.bytes.size());
        return made;
    };
    std::vector<float> x(12 * columns, -1); // the first of each row counts alone
    std::vector<float> right(12);
    for (std::size_t row = 0; row < right.size(); ++row) {
        x[row * columns] = static_cast<float>(row);
        right[row] = static_cast<float>(row + row % 3 + 1); // the table is 1, 2, 3
    }
    const family::Value w = value({columns}, std::vector<float>(columns));
    const family::Value rows = value({12, columns}, x);
    const std::vector<const family::Value*> inputs{&w, &rows};
    const auto checked = [&](const std::vector<float>& y) {
        return patched.step->check(inputs, std::vector{value({12}, y)}, 1);
    };
    CHECK(checked(right).passed);
    std::vector<float> within = right;
    std::vector<float> beyond = right;
    for (const std::size_t row : {7U, 8U, 11U}) { // tile 2 has rows 6 to 8
        within[row] += 0.5F + 0.25F * right[row];
        beyond[row] += 0.625F + 0.25F * right[row];
    }
    CHECK(checked(within).passed);
    const family::Checked wrong = checked(beyond);
    CHECK_FALSE(wrong.passed);
    CHECK(wrong.failed_elements == 3);
    CHECK_THAT(wrong.sentence,
               Catch::StartsWith("WRONG: 3 of 12 elements; array 'y' of tile 2, element 1: got "
                                 "11.875, expected 9 by ")); // 9 + 0.625 + 9 / 4
}

TEST_CASE("an array has elements of memory apart from those that its file names", "[own_codelet]") {
    const auto apart = [](const std::string& element) {
        const graph::Graph graph =
            emitted(R"("y": {"type": "f32", "length": "rows")" + element + "}");
        std::set<std::string> names;
        for (const graph::BufferId other : buffer_of(graph, "y").apart) {
            const std::string& name = graph.buffers[other.index].name;
            CHECK(names.insert(name.substr(name.rfind(' ') + 1)).second); // each once
        }
        return names;
    };
    using Names = std::set<std::string>;
    CHECK(apart("") == Names{});
    CHECK(apart(R"(, "element": {"not_with": ["x"]})") == Names{"x"});
    CHECK(apart(R"(, "element": {"not_with": ["w", "x"]})") == Names{"w", "x"});
    CHECK(apart(R"(, "element": "own")") == Names{"table", "w", "x"});
}

TEST_CASE("an array of more elements than a tile has bytes for is refused", "[own_codelet]") {
    const std::string y = R"("y": {"type": "f32", "length": "rows"})";
    // of x a tile has three rows
    const std::int64_t most = 638976 / 4 / 3;
    CHECK_THROWS_WITH(
        emitted(y, most + 1),
        Catch::Contains(fmt::format("array 'x' with {} elements on a tile", 3 * (most + 1))));
    CHECK_NOTHROW(emitted(y, most));
}

/// The shares in which a step works whose input stands in `standing`, on four tiles. Its codelet reads x
/// and writes y, of as many elements.
Shares worked_in(OwnCodelet::Split split, std::int64_t grain,
                 const std::vector<std::int64_t>& shape, std::int64_t unit_elements,
                 const Shares& standing) {
    const Files files;
    static_cast<void>(files.folder.write("dot.json", R"({
      "schema_version": 1, "sources": ["dot.S"], "parameters": {"n": 4},
      "arrays": {"x": {"type": "f32", "length": "n"}, "y": {"type": "f32", "length": "n"}},
      "entry": "dot", "kind": "multi_worker", "state": [{"pointer": "x"}, {"pointer": "y"}],
      "expect": {"y": 0}})"));
    OwnCodelet own = told(files);
    own.source_path =
        files.folder.write("dot.S", ".worker\n.align 8\n.globl dot\ndot: exitz $mzero\n");
    own.inputs = {{"x", "h"}};
    own.outputs = {{.array = "y", .tensor = "s", .shape = shape}};
    own.split = split;
    own.grain = grain;
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    exchange_plan::KnownSchedules known;
    graph::Graph graph("g");
    const auto given =
        own_codelet::add_split(graph, {.name = "h", .type = ElementType::F32, .shape = shape},
                               standing, unit_elements, {"h", graph::Where::Any, 8, 0, 0});
    const family::Emitted made =
        own_codelet::step_of(own_codelet::define(own, "/steps/0", {tensor(shape)}))
            ->emit(graph, {machine, known, 0, "step"}, std::vector{std::optional(given.tensor)});
    const auto written =
        own_codelet::shares_of(graph.tensors[made.outputs.front().index], unit_elements);
    REQUIRE(written);
    // the input is read where it stands if the step works there, and brought otherwise
    const bool is_there = made.inputs.front() == given.tensor;
    CHECK(is_there == std::ranges::equal(*written, standing, [](const Share& a, const Share& b) {
              return a.tile == b.tile && a.first == b.first && a.units == b.units;
          }));
    return *written;
}

/// Shares one behind the other: tile and units of each.
Shares one_by_one(const std::vector<std::pair<TileId, std::int64_t>>& units_of_tiles) {
    Shares shares;
    std::int64_t next = 0;
    for (const auto& [tile, units] : units_of_tiles) {
        shares.push_back({tile, next, units});
        next += units;
    }
    return shares;
}

TEST_CASE("a step works where its input stands unless a tile has too much or parts of grains",
          "[own_codelet]") {
    using Split = OwnCodelet::Split;
    struct Case {
        Split split;
        std::int64_t grain;
        std::vector<std::int64_t> shape;
        std::vector<std::pair<TileId, std::int64_t>> standing;
        bool works_there;
    };
    const std::vector<Case> cases{
        // even shares have 3 of 12 units: a tile may have twice as many, and no more
        {Split::Rows, 0, {12}, {{0, 6}, {2, 6}}, true},
        {Split::Rows, 0, {12}, {{1, 5}, {2, 6}, {3, 1}}, true},
        {Split::Rows, 0, {12}, {{0, 7}, {1, 5}}, false},
        {Split::Rows, 0, {12}, {{0, 5}, {1, 7}}, false},
        // the grain is 2, so that even shares have at most 4: 2, 4, 2 and 4
        {Split::Rows, 2, {12}, {{0, 6}, {1, 6}}, true},
        {Split::Rows, 2, {12}, {{0, 4}, {3, 8}}, true},
        {Split::Rows, 2, {12}, {{0, 2}, {1, 10}}, false},
        {Split::Rows, 2, {12}, {{0, 5}, {1, 7}}, false},
        {Split::Rows, 2, {12}, {{0, 4}, {1, 3}, {2, 5}}, false},
        // two elements of 4 bytes fill a unit of memory; the last tile may have a part of one
        {Split::Elements, 0, {13}, {{0, 6}, {1, 7}}, true},
        {Split::Elements, 0, {13}, {{0, 7}, {1, 6}}, false},
        {Split::Elements, 0, {13}, {{0, 4}, {1, 3}, {2, 6}}, false},
        {Split::Elements, 0, {14}, {{0, 8}, {1, 6}}, true},
        {Split::Elements, 0, {14}, {{0, 10}, {1, 4}}, false},
        // a tile has what stands at one index of the first size
        {Split::Tiles, 0, {3, 4}, {{1, 1}, {2, 1}, {3, 1}}, true},
        {Split::Tiles, 0, {3, 4}, {{1, 2}, {3, 1}}, false},
        // tile 4 is none of the step's
        {Split::Rows, 0, {12}, {{2, 4}, {3, 4}, {4, 4}}, false}};
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& one = cases[i];
        CAPTURE(i);
        const std::int64_t unit = one.split == Split::Tiles ? one.shape.back() : 1;
        const Shares standing = one_by_one(one.standing);
        const Shares worked = worked_in(one.split, one.grain, one.shape, unit, standing);
        const bool is_there = worked.size() == standing.size() &&
                              worked.front().units == standing.front().units &&
                              worked.back().tile == standing.back().tile;
        CHECK(is_there == one.works_there);
    }
}

TEST_CASE("a tensor stands in shares where each tile has one run of whole units, without gaps",
          "[own_codelet]") {
    graph::Graph graph("g");
    const auto buffer = graph.add_buffer({.name = "b"});
    const auto tensor_of = [&](const std::vector<graph::Piece>& pieces) {
        graph::Tensor made{.name = "x", .type = ElementType::F32, .shape = {4, 3}};
        made.pieces = pieces;
        return made;
    };
    const auto run = [&](TileId tile, std::int64_t first, std::int64_t count) {
        return graph::run_of(tile, {buffer, 0}, first, count, ElementType::F32);
    };
    const auto shares = own_codelet::shares_of(tensor_of({run(5, 6, 6), run(7, 0, 6)}), 3);
    REQUIRE(shares); // in the order of the elements, whatever that of the pieces
    REQUIRE(shares->size() == 2);
    CHECK((*shares)[0].tile == 7);
    CHECK((*shares)[0].first == 0);
    CHECK((*shares)[0].units == 2);
    CHECK((*shares)[1].tile == 5);
    CHECK((*shares)[1].first == 2);
    CHECK((*shares)[1].units == 2);
    CHECK_FALSE(own_codelet::shares_of(tensor_of({}), 3));
    CHECK_FALSE(own_codelet::shares_of(tensor_of({run(1, 0, 6)}), 3)); // the end lacks
    CHECK_FALSE(own_codelet::shares_of(tensor_of({run(1, 3, 9)}), 3)); // the begin
    CHECK_FALSE(own_codelet::shares_of(tensor_of({run(1, 0, 3), run(2, 6, 6)}), 3)); // the middle
    CHECK_FALSE(own_codelet::shares_of(tensor_of({run(1, 0, 6), run(1, 6, 6)}), 3)); // two runs
    CHECK_FALSE(own_codelet::shares_of(tensor_of({run(1, 0, 7), run(2, 7, 5)}), 3)); // no whole row
    auto apart = run(1, 0, 12);
    apart.dims[0].tile_stride = 8;
    CHECK_FALSE(own_codelet::shares_of(tensor_of({apart}), 3));
    auto turned = run(1, 0, 12);
    turned.dims[0].host_stride = 2;
    CHECK_FALSE(own_codelet::shares_of(tensor_of({turned}), 3));
}

TEST_CASE("an array stands in a buffer whose place suits its room", "[own_codelet]") {
    const auto stands = [](Bytes offset, Bytes buffer_alignment, graph::Where where,
                           const Room& room) {
        graph::Graph graph("g");
        const auto buffer =
            graph.add_buffer({.name = "b", .alignment = buffer_alignment, .where = where});
        graph::Tensor made{.name = "x", .type = ElementType::F32, .shape = {8}};
        made.pieces = {graph::run_of(3, {buffer, offset}, 0, 8, ElementType::F32)};
        const auto tensor = graph.add_tensor(std::move(made));
        return own_codelet::standing_as(graph, tensor, {{3, 0, 8}}, 1, room).has_value();
    };
    using graph::Where;
    const auto room = [](Bytes alignment, Where where = Where::Any, Bytes before = 0) {
        return Room{"x", where, alignment, before, 0};
    };
    CHECK(stands(0, 8, Where::Any, room(8)));
    CHECK(stands(8, 8, Where::Any, room(8)));
    CHECK_FALSE(stands(4, 8, Where::Any, room(4))); // memory is read by eight bytes
    CHECK(stands(16, 8, Where::Any, room(16)));     // the buffer gets the alignment
    CHECK_FALSE(stands(8, 8, Where::Any, room(16)));
    CHECK_FALSE(stands(0, 24, Where::Any, room(16))); // no multiple of each other
    CHECK(stands(0, 32, Where::Any, room(16)));
    CHECK_FALSE(stands(0, 8, Where::Any, room(8, Where::Any, 8))); // nothing is before it
    for (const Where has : {Where::Any, Where::Region0, Where::Region1}) {
        for (const Where wants : {Where::Any, Where::Region0, Where::Region1}) {
            CHECK(stands(0, 8, has, room(8, wants)) ==
                  (has == wants || has == Where::Any || wants == Where::Any));
        }
    }
}

} // namespace
