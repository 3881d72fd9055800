// SPDX-License-Identifier: MIT
// Recordings as files: what is read, what is refused and why, and what is written of a run known by hand.
#include "base/error.h"
#include "models/listeners/account.h"
#include "models/listeners/recorder.h"
#include "sim/recording/write.h"
#include "tests/unit/models/listeners/told.h"
#include "tests/unit/sim/made_recording.h"
#include "traces/deflater.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;
using events::Doing;
using recording::Recording;
using test::Made;
using Json = nlohmann::json;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

/// A whole file of two tiles whose arrays have eight bytes.
struct Whole : Made {
    Whole() {
        header["tiles"] = 2;
        const Json place = add(std::vector<std::uint32_t>{5, 7});
        add_step("exchange", 0, {{"cycles", place}});
        chip()["steps"][0]["pairs"] = {{"count", 1}, {"from", 0}, {"to", place}};
        chip()["tiles_by_kind"] = {{"compute", place}};
        chip()["executions"] = {{"count", 2}, {"left_out", 3}, {"step", place}};
        chip()["window"] = {{"count", 1}, {"tile_cycles", place}};
    }
};

/// Why a file is refused, without its name; empty: it is read.
std::string refusal(const std::filesystem::path& file) {
    try {
        static_cast<void>(Recording(file));
        return "";
    } catch (const IoError& error) {
        const std::string said = error.what();
        const std::size_t name = said.find(file.string());
        REQUIRE(name != std::string::npos);
        return said.substr(0, name) + "F" + said.substr(name + file.string().size());
    }
}

/// The same of a whole file with another value at a place of its header, or without one.
std::string with(const std::string& pointer, const Json& value) {
    Whole made;
    made.header[Json::json_pointer(pointer)] = value;
    return refusal(made.written());
}
std::string without(const std::string& pointer) {
    Whole made;
    const Json::json_pointer at(pointer);
    made.header[at.parent_pointer()].erase(at.back());
    return refusal(made.written());
}

std::string not_one(const std::string& why) {
    return "'F' is no recording: " + why;
}

} // namespace

TEST_CASE("a file is read from its first byte to its last, packed or not", "[unit][sim]") {
    const Whole made;
    CHECK(refusal(made.written()).empty());
    const std::size_t header = test::read_text(made.written()).size() - made.arrays.size();
    for (const std::size_t size : {kMiB - 1, kMiB, kMiB + 1, 2 * kMiB}) {
        Whole longer;
        longer.arrays.resize(size - header, 'x');
        const std::string bytes = test::read_text(longer.written());
        REQUIRE(bytes.size() == size);
        for (const std::string& file :
             {longer.scratch.write("plain", bytes),
              longer.scratch.write("packed",
                                   traces::deflated(bytes, traces::Deflater::Envelope::Gzip))}) {
            Recording read(file);
            CAPTURE(size, file);
            CHECK((read.arrays() == longer.arrays));
            CHECK((std::move(read).take_bytes() == bytes));
        }
    }
    const std::string packed =
        traces::deflated(test::read_text(made.written()), traces::Deflater::Envelope::Gzip);
    CHECK(refusal(made.scratch.write("cut", packed.substr(0, packed.size() - 4))) ==
          "cannot read 'F': it is damaged or cut off");
    CHECK(refusal(made.scratch.path("none")) == "cannot read 'F': No such file or directory");
}

TEST_CASE("what does not begin as a recording is none", "[unit][sim]") {
    const test::ScratchFolder scratch;
    const std::string magic(recording::kMagic);
    const std::string three("\3\0\0\0", 4);
    for (const auto& [bytes, why] : std::vector<std::pair<std::string, std::string>>{
             {"", "it does not begin as one"},
             {magic + "\3\0", "it does not begin as one"},
             {"TSRECORT" + three + "[1]", "it does not begin as one"},
             {magic + std::string(4, '\0'), "its header is no JSON object"},
             {magic + three + "[1", "its header is cut off"},
             {magic + three + "[1]", "its header is no JSON object"},
             {magic + three + "{1}", "its header is no JSON object"},
             {magic + std::string("\2\0\0\0", 4) + "{}", "its version is another one"}}) {
        CAPTURE(bytes);
        CHECK(refusal(scratch.write("f", bytes)) == not_one(why));
    }
}

TEST_CASE("a header that lacks something is refused by what it lacks", "[unit][sim]") {
    for (const Json& value : {Json(recording::kSchemaVersion - 1),
                              Json(recording::kSchemaVersion + 1), Json("2"), Json()}) {
        CHECK(with("/schema_version", value) == not_one("its version is another one"));
    }
    const std::string tiles = not_one("it does not say how many tiles there are");
    for (const Json& value :
         {Json(0), Json(-1), Json(1.5), Json("2"), Json(), Json((1 << 20) + 1)}) {
        CHECK(with("/tiles", value) == tiles);
    }
    Whole most;
    most.header["tiles"] = 1 << 20;
    most.arrays.resize(std::size_t{4} << 20U);
    CHECK(refusal(most.written()).empty());
    CHECK(with("/tiles", 1).empty());
    const std::string chips = not_one("it does not say which chips there are");
    for (const char* const gone : {"/chips", "/last"}) {
        CHECK(without(gone) == chips);
    }
    for (const auto& [place, value] : {std::pair<const char*, Json>{"/chips", 3},
                                       {"/chips", Json::object()},
                                       {"/last", 1},
                                       {"/last", -1},
                                       {"/last", "0"},
                                       {"/last", 0.5}}) {
        CHECK(with(place, value) == chips);
    }
    const std::string steps = not_one("its list of steps is not whole");
    for (const auto& [place, value] : {std::pair<const char*, Json>{"/chips/0", 3},
                                       {"/chips/0/steps", Json::object()},
                                       {"/chips/0/steps/0", "x"},
                                       {"/chips/0/steps/0/columns", Json::array()}}) {
        CHECK(with(place, value) == steps);
    }
    for (const char* const gone : {"/chips/0/steps", "/chips/0/steps/0/kind",
                                   "/chips/0/steps/0/index", "/chips/0/steps/0/columns"}) {
        CHECK(without(gone) == steps);
    }
    CHECK(without("/chips/0/steps/0/columns/cycles") == not_one("a step has no cycles"));
    const std::string kinds = not_one("it does not say what tiles spend cycles on");
    CHECK(without("/chips/0/tiles_by_kind") == kinds);
    CHECK(with("/chips/0/tiles_by_kind", Json::array()) == kinds);
    // each chip is looked at, not the last one alone
    Whole two;
    two.header["chips"].push_back(two.header["chips"][0]);
    CHECK(refusal(two.written()).empty());
    for (const unsigned chip : {0U, 1U}) {
        Whole one;
        one.header["chips"].push_back(one.header["chips"][0]);
        one.header["chips"][chip].erase("tiles_by_kind");
        CHECK(refusal(one.written()) == kinds);
    }
}

TEST_CASE("an array lies within the file, wherever the header names it", "[unit][sim]") {
    const std::string damaged = "'F' is damaged: an array is not there";
    const auto array = [](const Json& type, const Json& offset) {
        return Json{{"type", type}, {"offset", offset}};
    };
    const std::string columns = "/chips/0/steps/0/columns/";
    CHECK(with(columns + "cycles", 3).empty());
    CHECK(with(columns + "more", array("u32", 0)).empty());
    for (const Json& place :
         {array("f64", 0), array("u32", 1), array("u32", 8), array("u32", 9),
          array("u32", std::size_t{1} << 60U), array("u32", -4), array("u32", "0"), array("u8", 0),
          Json{{"type", "u32"}}, Json{{"offset", 0}}, Json("x"), Json()}) {
        CAPTURE(place);
        CHECK(with(columns + "cycles", place) == damaged);
        CHECK(with(columns + "more", place) == damaged);
        CHECK(with("/chips/0/tiles_by_kind/idle", place) == damaged);
    }
    // a table has as many numbers as it counts, those by tile one for each tile too
    for (const auto& [table, column, fits] : {std::tuple{"executions", "begin", 2},
                                              {"releases", "cycle", 2},
                                              {"window", "tile_begin", 1},
                                              {"window", "begin", 2},
                                              {"steps/0/pairs", "words", 2},
                                              {"steps/0/pairs", "tile_of", 2}}) {
        for (const int count : {0, 1, 2, 3}) {
            CAPTURE(table, column, count);
            CHECK(with(fmt::format("/chips/0/{}", table),
                       {{"count", count}, {"left_out", 9}, {column, array("u32", 0)}}) ==
                  (count <= fits ? "" : damaged));
        }
        const std::string no_count =
            not_one(fmt::format("its table '{}' has no count",
                                std::string(table).substr(std::string(table).rfind('/') + 1)));
        // an event has a byte at least, and there are eight
        CHECK(with(fmt::format("/chips/0/{}", table), {{"count", 8}}).empty());
        for (const Json& value : {Json{{"count", 9}}, Json{{"count", -1}}, Json{{"count", "1"}},
                                  Json::object(), Json(3)}) {
            CAPTURE(value);
            CHECK(with(fmt::format("/chips/0/{}", table), value) == no_count);
        }
    }
    CHECK(without("/chips/0/executions").empty());
}

TEST_CASE("numbers of a recording are those of the chip that ends last", "[unit][sim]") {
    Whole made;
    made.header["chips"].push_back(
        {{"steps", Json::array()}, {"tiles_by_kind", Json::object()}, {"number", 1}});
    made.header["last"] = 1U;
    made.add_step("stream", 0, {{"cycles", made.add(std::vector<double>{0.5, 1e10})}});
    made.add_step("stream", 1, {{"cycles", 6}});
    const Recording read = made.read();
    CHECK(read.chip()["number"] == 1);
    CHECK(read.tiles() == 2);
    CHECK(read.step("exchange", 0) == nullptr);
    CHECK(read.step("stream", 2) == nullptr);
    const auto cycles = [&](std::size_t index) {
        return read.numbers(read.step("stream", index)->at("columns").at("cycles"), 2);
    };
    CHECK(cycles(0) == std::vector<double>{0.5, 1e10});
    CHECK(cycles(1) == std::vector<double>{6, 6});
    CHECK(read.numbers({{"type", "u32"}, {"offset", 0U}}, 2) == std::vector<double>{5, 7});
    CHECK(read.numbers({{"type", "u32"}, {"offset", 4U}}, 1) == std::vector<double>{7});
    CHECK_THROWS_AS(read.numbers({{"type", "u32"}, {"offset", 4U}}, 6), IoError);
}

TEST_CASE("a recording is of a result that has its cycles, tiles, clock and executions",
          "[unit][sim]") {
    Whole made;
    made.chip()["steps"][0]["executions"] = 4;
    made.add_step("compute_set", 0, {{"cycles", 1}});
    made.add_step("compute_set", 1, {{"cycles", 1}});
    made.chip()["steps"][1]["executions"] = 2;
    made.chip()["steps"][2]["executions"] = 3;
    const Recording read = made.read();
    const Json result{{"cycles", 10'000},
                      {"machine", {{"chip", {{"tiles", 2}, {"clock_hz", 1e9}}}}},
                      {"compute_sets", {{{"executions", 2}}, {{"executions", 3}}}},
                      {"exchanges", {{{"executions", 4}}}},
                      {"streams", Json::array()}};
    const auto is_of_one_with = [&](const char* pointer, const Json& value) {
        Json other = result;
        other[Json::json_pointer(pointer)] = value;
        return read.is_of(other);
    };
    CHECK(read.is_of(result));
    CHECK(read.is_of(Json::object())); // which says nothing
    CHECK(is_of_one_with("/workload", {{"name", "label"}}));
    CHECK(is_of_one_with("/exchanges", "left out"));
    for (const auto& [pointer, value] :
         std::vector<std::pair<const char*, Json>>{{"/cycles", 10'001},
                                                   {"/machine/chip/tiles", 3},
                                                   {"/machine/chip/clock_hz", 2e9},
                                                   {"/exchanges/0/executions", 5},
                                                   {"/exchanges/0", 4},
                                                   {"/exchanges/0", Json::object()},
                                                   {"/exchanges", Json::array()},
                                                   {"/exchanges/1", {{"executions", 4}}},
                                                   {"/compute_sets/0/executions", 3},
                                                   {"/compute_sets/1/executions", 2},
                                                   {"/streams/0", {{"executions", 1}}}}) {
        CAPTURE(pointer, value);
        CHECK_FALSE(is_of_one_with(pointer, value));
    }
    // a step is at its own place in the list
    Whole turned;
    turned.chip()["steps"][0]["index"] = 1;
    turned.chip()["steps"][0]["executions"] = 4;
    CHECK_FALSE(turned.read().is_of({{"exchanges", {{{"executions", 4}}}}}));
}

namespace {

/// A run, and what listeners heard of it.
struct Heard {
    Heard(program::Program of, std::size_t tiles,
          std::optional<listeners::RecordedWindow> window = std::nullopt)
        : program(std::move(of)), account(program, static_cast<std::int64_t>(tiles)),
          recorder(program, machine_of(tiles), window), told(tiles, {&account, &recorder}) {}
    static spec::MachineSpec machine_of(std::size_t tiles) {
        spec::MachineSpec machine;
        machine.chip.tiles = static_cast<std::int64_t>(tiles);
        machine.tile.workers = 2;
        return machine;
    }
    [[nodiscard]] recording::ChipFacts facts() const { return {account, recorder, program}; }

    program::Program program;
    listeners::Account account;
    listeners::Recorder recorder;
    test::Told told;
};

/// The header of what is written; arrays in the place of where they are, behind their type.
Json written(const std::vector<recording::ChipFacts>& chips, std::size_t last = 0) {
    const recording::Facts facts{"a machine", "by hand", "timing", 2e9, chips, last};
    std::string bytes;
    recording::write(facts, [&](std::string_view more) { bytes += more; });
    const test::ScratchFolder scratch;
    const std::string file = scratch.write("plain", bytes);
    CHECK(test::read_text(file) == bytes);
    const Recording read(file);
    CHECK(
        std::move(Recording(scratch.write("packed", recording::compressed(facts)))).take_bytes() ==
        bytes);
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + recording::kMagic.size(), sizeof length);
    Json header = Json::parse(bytes.substr(recording::kMagic.size() + sizeof length, length));
    std::size_t told = 0; // bytes of arrays
    const std::function<void(Json&, std::size_t)> resolve = [&](Json& value, std::size_t count) {
        for (auto& [key, inner] : value.items()) {
            if (inner.is_object() && inner.contains("offset")) {
                const std::size_t size = count * (key.rfind("tile_", 0) == 0 ? read.tiles() : 1);
                told += size * (inner["type"] == recording::kU32 ? 4 : 8);
                const Json numbers = read.numbers(inner, size);
                inner = {{inner["type"], numbers}};
            } else if (inner.is_structured()) {
                resolve(inner, inner.is_object() && inner.contains("count")
                                   ? inner["count"].get<std::size_t>()
                                   : read.tiles());
            }
        }
    };
    resolve(header, read.tiles());
    CHECK(told == read.arrays().size()); // none is there twice, and none is not named
    return header;
}

Json array(const char* type, const std::vector<double>& numbers) {
    return {{type, numbers}};
}

} // namespace

TEST_CASE("a written file says what a run known by hand did", "[unit][sim]") {
    program::Program program;
    program.compute_sets.resize(1);
    program.compute_sets[0].name = "multiply";
    program.exchanges.resize(2);
    program.exchanges[0].name = "scatter";
    program.exchanges[0].transfers = {
        {.source_tile = 0, .bytes = 8, .destinations = {{.tile = 1}, {.tile = 2}}},
        {.source_tile = 0, .bytes = 20, .destinations = {{.tile = 2}}}};
    program.exchanges[1] = program.exchanges[0];
    program.exchanges[1].name = "never";
    Heard run(program, 3, listeners::RecordedWindow{130, 140});
    events::Work work;
    work.counts.at(counts::Group::WorkerIssues, counts::Class::Matrix) = 70;
    work.issues_of = {40, 30};
    work.counts.at(counts::Group::MatrixSteps, counts::MatrixStep::F16v4Siso) = 9;
    run.told.phase(Doing::ComputeSet, 0, {{0, 100}, {1, 60}}, work); // [0, 100)
    run.told.released(20);                                           // [100, 120)
    run.told.moved({});
    run.told.phase(Doing::Exchange, 0, {{0, 12}, {1, 10}, {2, 11}}, {},
                   {.in = 3, .out = 4}); // [120, 132)
    run.told.moved({});
    run.told.phase(Doing::Exchange, 0, {{0, 12}, {1, 13}, {2, 9}}, {},
                   {.in = 3, .out = 4}); // [132, 145)
    const Json header = written({run.facts()});
    const Json multiply{{"begin", array("u32", {0, 0, double(listeners::kNoPart)})},
                        {"cycles", array("u32", {100, 60, 0})},
                        {"issues", array("u32", {70, 0, 0})},
                        {"issues_of_0", array("u32", {40, 0, 0})},
                        {"issues_of_1", array("u32", {30, 0, 0})},
                        {"matrix_steps", array("u32", {9, 0, 0})}};
    const Json scatter{{"begin", 0},
                       {"cycles", array("u32", {24, 23, 20})},
                       {"first", array("u32", {12, 10, 11})},
                       {"last", array("u32", {12, 13, 9})},
                       {"least", array("u32", {12, 10, 9})},
                       {"most", array("u32", {12, 13, 11})},
                       {"slowest", array("u32", {12, 13, 9})},
                       {"received", 6},
                       {"sent", 8}};
    const Json pairs{{"count", 2},
                     {"from", array("u32", {0, 0})},
                     {"to", array("u32", {1, 2})},
                     // 2 words to tile 1, 2 and 5 to tile 2, in each of two executions
                     {"words", array("f64", {2 * 2, 2 * (2 + 5)})}};
    const Json steps{{{"kind", "compute_set"},
                      {"index", 0},
                      {"name", "multiply"},
                      {"executions", 1},
                      {"columns", multiply}},
                     {{"kind", "exchange"},
                      {"index", 0},
                      {"name", "scatter"},
                      {"executions", 2},
                      {"columns", scatter},
                      {"pairs", pairs}},
                     {{"kind", "exchange"},
                      {"index", 1},
                      {"name", "never"},
                      {"executions", 0},
                      {"columns", {{"cycles", 0}}}}};
    const Json chip{{"chip", 0},
                    {"cycles", 145},
                    {"steps", steps},
                    {"executions",
                     {{"count", 3},
                      {"left_out", 0},
                      {"step", array("u32", {0, 1, 1})},
                      {"begin", array("f64", {0, 120, 132})},
                      {"end", array("f64", {100, 132, 145})},
                      {"times", array("u32", {1, 1, 1})}}},
                    {"releases",
                     {{"count", 4},
                      {"left_out", 0},
                      {"last_arrival", array("f64", {100, 100, 132, 145})},
                      {"cycle", array("f64", {100, 120, 132, 145})},
                      {"critical", array("u32", {0, 0, 0, 1})},
                      {"times", array("u32", {1, 1, 1, 1})}}},
                    {"window",
                     {{"from", 130},
                      {"to", 140},
                      {"count", 2},
                      {"left_out", 0},
                      {"step", array("u32", {1, 1})},
                      {"begin", array("f64", {120, 132})},
                      {"times", array("u32", {1, 1})},
                      {"tile_begin", array("u32", {0, 0, 0, 0, 0, 0})},
                      {"tile_cycles", array("u32", {12, 10, 11, 12, 13, 9})}}},
                    {"tiles_by_kind",
                     {{"compute", array("u32", {100, 60, 0})},
                      {"exchange", array("u32", {24, 23, 20})},
                      {"sync", 20},
                      {"stream", 0},
                      {"link", 0},
                      {"idle", array("u32", {145 - 20 - 124, 145 - 20 - 83, 145 - 20 - 20})}}}};
    CHECK(header["chips"][0] == chip);
    Json of_run = header;
    of_run.erase("chips");
    CHECK(of_run == Json{{"schema_version", recording::kSchemaVersion},
                         {"machine", "a machine"},
                         {"workload", "by hand"},
                         {"mode", "timing"},
                         {"clock_hz", 2e9},
                         {"tiles", 3},
                         {"block_tiles", 1},
                         {"cycles", 145},
                         {"last", 0}});
}

TEST_CASE("numbers are written in 32 bits where they fit, and once where they are equal",
          "[unit][sim]") {
    constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
    program::Program program;
    program.compute_sets.resize(1);
    for (const auto& [cycles, type] : {std::pair{kMost, "u32"}, {kMost + 1, "f64"}}) {
        Heard run(program, 2);
        run.told.phase(Doing::ComputeSet, 0, {{0, static_cast<Cycles>(cycles)}, {1, 1}});
        const Json header = written({run.facts()});
        CHECK(header["chips"][0]["steps"][0]["columns"]["cycles"] == array(type, {cycles, 1}));
    }
    Heard equal(program, 2);
    equal.told.phase(Doing::ComputeSet, 0, {{0, 8}, {1, 8}});
    CHECK(written({equal.facts()})["chips"][0]["steps"][0]["columns"]["cycles"] == 8);
}

TEST_CASE("pairs of tiles are told by 46 blocks of tiles at most", "[unit][sim]") {
    for (const auto& [tiles, block] :
         {std::pair{1, 1}, {46, 1}, {47, 2}, {92, 2}, {93, 3}, {1472, 32}}) {
        program::Program program;
        program.exchanges.resize(1);
        const auto last = static_cast<TileId>(tiles - 1);
        program.exchanges[0].transfers = {
            {.source_tile = last, .bytes = 12, .destinations = {{.tile = 0}, {.tile = last}}}};
        Heard run(program, static_cast<std::size_t>(tiles));
        run.told.moved({});
        run.told.phase(Doing::Exchange, 0, {{0, 5}});
        const Json header = written({run.facts()});
        CAPTURE(tiles);
        CHECK(header["block_tiles"] == block);
        const double of_last = (tiles - 1) / block;
        const Json& pairs = header["chips"][0]["steps"][0]["pairs"];
        if (tiles == 1) { // to itself, twice
            CHECK(pairs["words"] == array("f64", {6}));
            continue;
        }
        CHECK(pairs["from"] == array("u32", {of_last, of_last}));
        CHECK(pairs["to"] == array("u32", {0, of_last}));
        CHECK(pairs["words"] == array("f64", {3, 3}));
    }
}

TEST_CASE("a file has a part for each chip, and the steps of the result are the last one's",
          "[unit][sim]") {
    program::Program program;
    program.compute_sets.resize(1);
    Heard one(program, 2);
    Heard other(program, 2);
    one.told.phase(Doing::ComputeSet, 0, {{0, 30}});
    other.told.phase(Doing::ComputeSet, 0, {{0, 20}});
    for (const std::size_t last : {0U, 1U}) {
        const Json header = written({one.facts(), other.facts()}, last);
        CHECK(header["last"] == last);
        CHECK(header["cycles"] == (last == 0 ? 30 : 20));
        REQUIRE(header["chips"].size() == 2);
        for (const std::size_t chip : {0U, 1U}) {
            CHECK(header["chips"][chip]["chip"] == chip);
            CHECK(header["chips"][chip]["cycles"] == (chip == 0 ? 30 : 20));
            CHECK_FALSE(header["chips"][chip].contains("window"));
        }
    }
}
