// SPDX-License-Identifier: MIT
// Rows that nobody has seen: other ids, tile counts and sizes.
#include "base/error.h"
#include "models/spec/load.h"
#include "models/timing/exchange_latency.h"
#include "sim/calibrate/measurement.h"
#include "sim/calibrate/reading.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

using namespace tessera;
using namespace tessera::sim::calibrate;
using nlohmann::json;

namespace {

const std::vector<std::string> kMachines{"bow", "c600", "gc2", "gc200", "tiny"};

/// A row of one chip's exchange.
ReferenceRow exchange_row(const std::string& workload, const std::string& tiles,
                          const std::string& bytes, const std::string& metric,
                          const std::string& value = "1", const std::string& unit = "us",
                          const std::string& machine = "GC2 (1216 tiles, 1.6 GHz)") {
    Reference reference;
    add_rows(reference,
             parse_csv("id,machine,workload,table,topology,ipus,tiles,msg_bytes,metric,value,unit\n"
                       "unseen,\"" +
                           machine + "\",\"" + workload + "\",4.x,on-chip,1," + tiles + "," +
                           bytes + "," + metric + "," + value + "," + unit + "\n",
                       "rows.csv"));
    return reference.rows.front();
}

Measurement measured(const ReferenceRow& row) {
    return std::get<Measurement>(measurement_of(row, kMachines));
}

std::string reason(const ReferenceRow& row) {
    return std::get<NotCovered>(measurement_of(row, kMachines)).reason;
}

std::string refusal(const ReferenceRow& row) {
    try {
        static_cast<void>(measurement_of(row, kMachines));
    } catch (const ConfigError& error) {
        return error.diagnostics().front().text();
    }
    return "accepted";
}

constexpr double kPrologue = 30;
constexpr double kOwnPart = 70;

/// As much of a result as readings look at: an exchange of `cycles`, half of them again for sync.
json result(double cycles, double clock_hz) {
    return {{"cycles", 1.5 * cycles},
            {"phases", {{"exchange", cycles}, {"sync", cycles / 2}}},
            {"machine",
             {{"chip", {{"clock_hz", clock_hz}}}, {"exchange", {{"prologue_cycles", kPrologue}}}}},
            {"compute_sets",
             json::array({{{"name", "own part"}, {"role", "rearrange"}, {"cycles", kOwnPart}}})},
            {"exchanges",
             json::array({{{"name", "halo"}, {"role", "bring"}, {"cycles", cycles / 4}}})}};
}

/// What the exchange tables' measuring program adds: the figure of an exchange of no cycles.
double fixed_cycles() {
    const auto row = exchange_row("broadcast one word", "7", "4", "latency", "1", "cycles");
    return measured(row).read({result(0, 1e9)});
}

} // namespace

TEST_CASE("tile counts and message sizes that no row had are taken from the columns") {
    for (const std::string tiles : {"3", "44", "900"}) {
        const auto gather =
            measured(exchange_row("gather one word each, n tiles to one", tiles, "4", "latency"));
        CHECK(gather.group == "exchange: gather");
        CHECK(gather.runs[0].workload["pattern"] == "gather");
        CHECK(gather.runs[0].workload["tiles"] == std::stoi(tiles));
        const auto scatter = measured(exchange_row("scatter 320 B each, one tile to n", tiles,
                                                   "320", "aggregate_bandwidth", "1", "GB/s"));
        CHECK(scatter.runs[0].workload["bytes"] == 320);
    }
}

TEST_CASE("the machine is the one that the row names, with its tiles and clock") {
    const auto run = [](const char* machine) {
        return measured(exchange_row("broadcast one word", "7", "4", "latency", "1", "us", machine))
            .runs[0];
    };
    CHECK(run("GC200 x1 (1472 tiles, 1.33 GHz)").machine == "gc200");
    CHECK(run("GC200 x1 (1472 tiles, 1.33 GHz)").machine_sets ==
          std::vector<std::string>{"chip.tiles=1472", "chip.clock_hz=1.33e9"});
    CHECK(run("Bow-2000, 1 IPU, 1.85 GHz").machine == "bow");
    CHECK(run("C600 x1").machine_sets.empty());
}

TEST_CASE("rows of several chips and of other machines are not covered") {
    CHECK(reason(exchange_row("broadcast one word", "7", "4", "latency", "1", "us", "GC2 x4")) ==
          "more than one chip");
    CHECK(reason(exchange_row("broadcast one word", "7", "4", "latency", "1", "us",
                              "IPUModel Mk2")) == "machine 'IPUModel Mk2'");
    CHECK(reason(exchange_row("square root of a tile", "7", "4", "latency")) ==
          "no micro-workload for 'square root of a tile', latency");
}

TEST_CASE("a cell that the mapping needs and cannot use is a mistake") {
    CHECK(refusal(exchange_row("broadcast one word", "many", "4", "latency")) ==
          "rows.csv:2:71: tiles: got 'many', expected a number");
    CHECK(refusal(exchange_row("broadcast one word", "2.5", "4", "latency"))
              .find("expected a whole number of at least 1") != std::string::npos);
    CHECK(refusal(exchange_row("broadcast one word", "", "4", "latency"))
              .find("column 'tiles': expected a whole number") != std::string::npos);
    CHECK(refusal(exchange_row("broadcast one word", "7", "4", "latency", "1", "hours"))
              .find("got 'hours', expected one of cycles, ms, ns, s, us") != std::string::npos);
    CHECK(refusal(exchange_row("broadcast one word", "7", "4", "latency", "-1"))
              .find("expected a number above 0") != std::string::npos);
}

TEST_CASE("numbers of the row's machine that no machine can have are told at its cell") {
    const auto of = [](const char* machine) {
        return refusal(exchange_row("broadcast one word", "7", "4", "latency", "1", "us", machine));
    };
    const std::string place = "rows.csv:2:8: machine: ";
    CHECK(of("GC2 (0 tiles)").find(place + "chip.tiles: got 0 tiles, expected 1..") == 0);
    CHECK(of("GC2 (-16 tiles)").find(place + "chip.tiles: got -16 tiles, expected 1..") == 0);
    CHECK(of("GC2 (1,216 tiles)").find(place + "got '1,216' before 'tile', expected a number") ==
          0);
    CHECK(of("GC2 (1.6.3 GHz)").find(place + "got '1.6.3' before 'GHz', expected a number") == 0);
    CHECK(of("GC2 (0 MHz)").find(place + "chip.clock_hz: got 0 Hz, expected ") == 0);
    CHECK(of("GC2 (all tiles, 1600 MHz)") == "accepted");
}

TEST_CASE("a row with more tiles than its machine is a mistake") {
    const auto of = [](const char* workload, const char* tiles) {
        return refusal(exchange_row(workload, tiles, "4", "latency"));
    };
    CHECK(of("gather one word", "1217") ==
          "rows.csv:2:68: tiles: got 1217 tiles, expected 1..1216 (the row's machine)");
    CHECK(of("gather one word", "1216") == "accepted");
}

TEST_CASE("a row whose machine has more tiles than the exchange numbers is a mistake at its cell") {
    const auto of = [](const char* machine) {
        return refusal(
            exchange_row("point-to-point, one word", "1", "4", "latency", "1", "us", machine));
    };
    CHECK(of("GC2 (4096 tiles)") == "accepted");
    CHECK(
        of("GC2 (9000 tiles)").find("machine: chip.tiles: got 9000 tiles, expected at most 8128") !=
        std::string::npos);
}

TEST_CASE("bytes that are no whole words move as the next whole words, and the row says so") {
    const auto measurement =
        measured(exchange_row("gather from n tiles", "7", "13", "bandwidth", "1", "GB/s"));
    CHECK(measurement.runs[0].workload["bytes"] == 16);
    CHECK(measurement.assumed == "messages of 13 B move as 16 B");
}

TEST_CASE("names that are nearly right are told with the right ones") {
    CHECK(reason(exchange_row("broadcast one word", "7", "4", "latency", "1", "us", "GC20 x1")) ==
          "machine 'GC20 x1'; did you mean 'gc2'?");
    CHECK(reason(exchange_row("scatter one word", "7", "4", "latencies"))
              .find("latencies; metrics: latency, bandwidth") != std::string::npos);
    CHECK(refusal(exchange_row("broadcast one word", "7", "4", "latency", "1", "cycle"))
              .find("did you mean 'cycles'?") != std::string::npos);
}

TEST_CASE("every unit is as large as its name says") {
    struct Known {
        const char* unit;
        const char* base;
        double size;
    };
    const double kibi = 1024;
    const std::vector<Known> known{{"s", "s", 1},
                                   {"ms", "s", 1e-3},
                                   {"us", "s", 1e-6},
                                   {"ns", "s", 1e-9},
                                   {"cycles", "cycles", 1},
                                   {"B/s", "B/s", 1},
                                   {"kB/s", "B/s", 1e3},
                                   {"MB/s", "B/s", 1e6},
                                   {"GB/s", "B/s", 1e9},
                                   {"TB/s", "B/s", 1e12},
                                   {"KiB/s", "B/s", kibi},
                                   {"MiB/s", "B/s", kibi * kibi},
                                   {"B", "B", 1},
                                   {"kB", "B", 1e3},
                                   {"KiB", "B", kibi},
                                   {"MiB", "B", kibi * kibi},
                                   {"%", "1", 0.01},
                                   {"1", "1", 1},
                                   {"GiB/s", "B/s", kibi * kibi * kibi},
                                   {"GFLOP/s", "flop/s", 1e9},
                                   {"TFLOP/s", "flop/s", 1e12}};
    for (const auto& [unit, base, size] : known) {
        CAPTURE(unit);
        const auto row = exchange_row("broadcast one word", "7", "4", "latency", "1", unit);
        CHECK(unit_in(row, base) == Approx(size));
    }
}

TEST_CASE("a time is cycles over the clock, in the row's unit") {
    const double cycles = 320;
    const double clock = 1.6e9;
    const auto in = [&](const char* unit) {
        const auto row = exchange_row("broadcast one word", "7", "4", "latency", "1", unit);
        return measured(row).read({result(cycles, clock)});
    };
    const double all = cycles + fixed_cycles();
    CHECK(in("cycles") == Approx(all));
    CHECK(in("us") == Approx(1e6 * all / clock));
    CHECK(in("ns") == Approx(1e9 * all / clock));
}

TEST_CASE("units are what they say: prefixes of 1000, binary ones of 1024") {
    const auto size = [](const std::string& unit, const std::string& base) {
        return unit_in(exchange_row("x", "7", "4", "latency", "1", unit), base);
    };
    const std::vector<std::tuple<std::string, std::string, double>> units{
        {"s", "s", 1},
        {"ms", "s", 1e-3},
        {"us", "s", 1e-6},
        {"\u00b5s", "s", 1e-6},
        {"ns", "s", 1e-9},
        {"cycles", "cycles", 1},
        {"B/s", "B/s", 1},
        {"kB/s", "B/s", 1000},
        {"KiB/s", "B/s", 1024},
        {"MB/s", "B/s", std::pow(1000, 2)},
        {"MiB/s", "B/s", std::pow(1024, 2)},
        {"GB/s", "B/s", std::pow(1000, 3)},
        {"GiB/s", "B/s", std::pow(1024, 3)},
        {"TB/s", "B/s", std::pow(1000, 4)},
        {"B", "B", 1},
        {"kB", "B", 1000},
        {"KiB", "B", 1024},
        {"MiB", "B", std::pow(1024, 2)},
        {"%", "1", 0.01},
        {"1", "1", 1},
        {"GFLOP/s", "flop/s", 1e9},
        {"TFLOP/s", "flop/s", 1e12}};
    for (const auto& [unit, base, expected] : units) {
        CAPTURE(unit);
        CHECK(size(unit, base) == Approx(expected));
    }
    CHECK_THROWS_AS(size("KiB", "B/s"), ConfigError);
}

TEST_CASE("a rate is all bytes that arrive over the time") {
    const double cycles = 1000;
    const double clock = 2e9;
    const auto row = exchange_row("broadcast 160 B, one tile to n tiles", "50", "160",
                                  "aggregate_bandwidth", "1", "GB/s");
    CHECK(measured(row).read({result(cycles, clock)}) ==
          Approx(50 * 160 * clock / (cycles + fixed_cycles()) / 1e9));
}

TEST_CASE("the tables that their sync and copies are part of") {
    const double cycles = 300;
    const auto read = [&](const char* workload, const char* bytes) {
        const auto row = exchange_row(workload, "5", bytes, "latency", "1", "cycles");
        return measured(row).read({result(cycles, 1e9)}) - fixed_cycles();
    };
    const auto rate = [&](const char* workload) {
        const auto row = exchange_row(workload, "5", "160", "aggregate_bandwidth", "1", "GB/s");
        return 5 * 160 / measured(row).read({result(cycles, 1e9)}) - fixed_cycles();
    };
    CHECK(read("gather one word each, n tiles to one", "4") == Approx(cycles));
    CHECK(read("scatter one word each, one tile to n", "4") == Approx(cycles + kOwnPart));
    CHECK(read("all-to-all, one distinct word per pair", "4") == Approx(1.5 * cycles));
    CHECK(rate("scatter 160 B each, one tile to n") == Approx(1.5 * cycles));
    CHECK(rate("gather 160 B each, n tiles to one") == Approx(1.5 * cycles + kOwnPart));
}

TEST_CASE("a root is one of the tiles of long messages and keeps or copies its own") {
    const auto workload = [](const char* text, const char* bytes) {
        return measured(exchange_row(text, "5", bytes, "aggregate_bandwidth", "1", "GB/s"))
            .runs[0]
            .workload;
    };
    CHECK(workload("scatter 160 B each, one tile to n", "160")["tiles"] == 4);
    const json gather = workload("gather 160 B each, n tiles to one", "160");
    CHECK(gather["tiles"] == 5);
    CHECK(gather["include_self"] == true);
    CHECK(gather["copies"] == "one_worker");
    CHECK_FALSE(workload("gather 12 B each, n tiles to one", "12").contains("copies"));
}

TEST_CASE("a copy between memory regions is paced") {
    const auto row = exchange_row("copy inside a tile, standard to interleaved memory", "1", "640",
                                  "latency", "1", "cycles", "C600 x1");
    const auto measurement = measured(row);
    CHECK(measurement.group == "self copy");
    CHECK(measurement.runs[0].workload["copies"] == "paced");
    json run = result(0, 1e9);
    run["phases"]["compute"] = 222;
    CHECK(measurement.read({run}) == Approx(222));
}

TEST_CASE("a word timed without its sync is the exchange row alone") {
    const auto row =
        exchange_row("tile-to-tile one word, device-timed, excludes sync: within a column, maximum",
                     "1", "4", "latency", "1", "cycles");
    CHECK(measured(row).read({result(200, 1e9)}) == Approx(200 - kPrologue));
}

TEST_CASE("steps are found by their roles, and missing ones are told") {
    constexpr StepsOf kBring{
        .called = "halo exchange", .list = "exchanges", .role = program::Role::Bring};
    constexpr StepsOf kBlur{.called = "blur", .list = "compute_sets", .role = program::Role::Work};
    constexpr StepsOf kSecond{.called = "second",
                              .list = "compute_sets",
                              .role = program::Role::Rearrange,
                              .turn = 1,
                              .turns = 2};
    CHECK(cycles_of(result(400, 1e9), {.phases = {"sync"}, .steps = {kBring}}) ==
          Approx(400 / 2 + 400 / 4));
    CHECK_THROWS_WITH(cycles_of(result(400, 1e9), {.phases = {}, .steps = {kBlur}}),
                      "the run has no step 'blur': compute_sets of role work");
    CHECK_THROWS_WITH(cycles_of(result(400, 1e9), {.phases = {}, .steps = {kSecond}}),
                      "the run has no step 'second': compute_sets of role rearrange");
    CHECK_THROWS_AS(cycles_of(result(400, 1e9), {.phases = {"stream"}, .steps = {}}), IoError);
}

TEST_CASE("of steps that take turns in a round, the cycles of one are found") {
    json run = result(400, 1e9);
    run["compute_sets"] = json::array();
    for (const char* role : {"rearrange", "rearrange", "work", "rearrange", "rearrange", "work"}) {
        const double cycles = std::pow(10, static_cast<double>(run["compute_sets"].size()));
        run["compute_sets"].push_back({{"name", "step"}, {"role", role}, {"cycles", cycles}});
    }
    const auto cycles = [&](program::Role role, std::size_t turn, std::size_t turns) {
        const StepsOf steps{
            .called = "", .list = "compute_sets", .role = role, .turn = turn, .turns = turns};
        return cycles_of(run, {.phases = {}, .steps = {steps}});
    };
    CHECK(cycles(program::Role::Rearrange, 0, 2) == Approx(1'001));
    CHECK(cycles(program::Role::Rearrange, 1, 2) == Approx(10'010));
    CHECK(cycles(program::Role::Rearrange, 0, 1) == Approx(11'011));
    CHECK(cycles(program::Role::Work, 0, 1) == Approx(100'100));
}

TEST_CASE("sparse attention reads rows of components, then keys and values") {
    const std::int64_t heads = 2 * 3;
    const auto row_of = [](const std::string& components) {
        Reference reference;
        add_rows(reference,
                 parse_csv("id,machine,workload,batch,n_head,head_dim,seq_len,r,k,metric,"
                           "value,unit\nunseen,Bow,sparq-attn,2,3,64,4096," +
                               components + ",50,duration,1,cycles\n",
                           "rows.csv"));
        return measured(reference.rows.front());
    };
    const auto few = row_of("5");
    CHECK(few.group == "remote buffer: rows");
    CHECK(few.runs[0].workload["rows"] == heads * 5);
    CHECK(few.runs[0].workload["row_bytes"] == 4096 * 2);
    CHECK(few.runs[1].workload["rows"] == heads * 50);
    CHECK(few.runs[1].workload["row_bytes"] == 64 * 2);
    const double components = 700;
    const double positions = 90;
    const std::vector<json> results{result(components, 1e9), result(positions, 1e9)};
    CHECK(few.read(results) == Approx(1.5 * (components + 2 * positions)));

    const std::int64_t most_rows = (std::int64_t{1} << 27) / (4096 * 2);
    const auto many = row_of(std::to_string(most_rows)); // heads copies of the largest size
    CHECK(many.runs[0].workload["chunk_rows"] == most_rows);
    CHECK(many.read(results) == Approx(1.5 * (heads * components + 2 * positions)));

    // a row more than two in each of three copies: a fourth one, and all hold as much as the
    // fullest
    const std::int64_t uneven = most_rows / 2 + 1;
    const auto cut = row_of(std::to_string(uneven));
    CHECK(heads * uneven % 4 != 0);
    CHECK(cut.runs[0].workload["chunk_rows"] == (heads * uneven + 3) / 4);
}

TEST_CASE("the last chunk of keys and values may be a part of one") {
    const auto timed = [](int positions) {
        Reference reference;
        add_rows(reference, parse_csv("id,machine,workload,batch,n_head,head_dim,seq_len,chunk,"
                                      "metric,value,unit\nunseen,Bow,attn-remote,1,2,64," +
                                          std::to_string(positions) + ",100,duration,1,cycles\n",
                                      "rows.csv"));
        return measured(reference.rows.front()).timed;
    };
    CHECK(timed(299) == timed(300));
    CHECK(timed(201) == timed(300));
    CHECK(timed(300).find("from 4 of 6 chunks") != std::string::npos);
    CHECK(timed(301).find("from 4 of 8 chunks") != std::string::npos);
}

TEST_CASE("arrays of a stream are whole pieces of 16 bytes") {
    const auto elements = [](int given) {
        Reference reference;
        add_rows(reference, parse_csv("id,machine,workload,elems,metric,value,unit\n"
                                      "unseen,Bow,stream triad FP16," +
                                          std::to_string(given) + ",bandwidth,1,GB/s\n",
                                      "rows.csv"));
        return measured(reference.rows.front()).runs[0].workload["elements"];
    };
    CHECK(elements(8000) == 8000);
    CHECK(elements(8001) == 8008);
    CHECK(elements(8004) == 8008);
    CHECK(elements(8008) == 8008);
}

TEST_CASE("the size that reaches nine tenths of the peak lies where the rate passes it") {
    const auto measurement = measured(exchange_row("broadcast: message size reaching 90% of peak",
                                                   "1216", "", "message_size", "1", "B"));
    const double fixed = 256;
    std::vector<json> results;
    double largest = 0;
    for (const auto& run : measurement.runs) {
        largest = run.workload["bytes"].get<double>();
        results.push_back(result(fixed - fixed_cycles() + largest / 8, 1e9));
    }
    // b / (fixed + b / 8) = 0.9 * largest / (fixed + largest / 8)
    const double peak = largest / (fixed + largest / 8);
    const double exact = 0.9 * peak * fixed / (1 - 0.9 * peak / 8);
    CHECK(measurement.read(results) == Approx(exact).epsilon(0.05));
}

TEST_CASE("a time is a time by whatever word") {
    const auto read_of = [](const std::string& metric) {
        return measured(exchange_row("all-to-all", "7", "4", metric)).read({result(1000, 1e9)});
    };
    const double latency = read_of("latency");
    for (const std::string metric : {"time", "duration", "Duration"}) {
        INFO(metric);
        CHECK(read_of(metric) == latency);
    }
}

TEST_CASE("from four on the last island of a broadcast listens as a whole, but for the root's") {
    constexpr int kTiles = 1216;
    const auto listeners = [](int tiles) {
        const auto row = exchange_row("broadcast one word", std::to_string(tiles), "4", "latency");
        return measured(row).runs.at(0).workload.at("tiles").get<int>();
    };
    for (const int tiles : {1, 2, 3}) {
        CHECK(listeners(tiles) == tiles);
    }
    for (const int tiles : {4, 8, 600, kTiles - 4}) {
        CHECK(listeners(tiles) == tiles);
        CHECK(listeners(tiles - 1) == (tiles == 4 ? 3 : tiles));
    }
    for (const int tiles : {kTiles - 3, kTiles - 2, kTiles - 1}) {
        CHECK(listeners(tiles) == kTiles - 2);
    }
}

namespace {

/// A machine of a row with so many tiles.
struct Reduced {
    explicit Reduced(int count)
        : text("GC2 (" + std::to_string(count) + " tiles)"),
          timing(spec::load_machine("gc2", test::source_paths(),
                                    {"chip.tiles=" + std::to_string(count)})
                     .spec),
          tiles(static_cast<TileId>(count)) {}

    /// The first pair whose `cost` is least.
    template <class Cost> [[nodiscard]] std::pair<TileId, TileId> least(const Cost& cost) const {
        std::pair<TileId, TileId> pair{0, 1};
        std::optional<double> best;
        for (TileId from = 0; from < tiles; ++from) {
            for (TileId to = 0; to < tiles; ++to) {
                const std::optional<double> here =
                    from == to ? std::nullopt : std::optional<double>(cost(from, to));
                if (here && !std::isinf(*here) && (!best || *here < *best)) {
                    best = here;
                    pair = {from, to};
                }
            }
        }
        return pair;
    }
    [[nodiscard]] Measurement row(const std::string& workload) const {
        return measured(exchange_row(workload, "1", "4", "latency", "1", "cycles", text));
    }

    std::string text;
    timing::ExchangeTiming timing;
    TileId tiles;
};

std::pair<TileId, TileId> pair_of(const Run& run) {
    return {run.workload.at("source").get<TileId>(), run.workload.at("destination").get<TileId>()};
}

} // namespace

TEST_CASE("a word between two tiles is that of the first pair with the extreme time") {
    using Position = timing::TilePosition;
    const auto same_column = [](const Position& from, const Position& to) {
        return from.column == to.column;
    };
    const auto any = [](const Position&, const Position&) { return true; };
    // columns run out and back: the eighth is beside the ninth, the first beside the last
    const auto right_to_left = [](const Position& from, const Position& to) {
        return (from.column == 7 || from.column == 8) && (to.column == 0 || to.column == 15);
    };
    struct Case {
        const char* row;
        std::function<bool(const Position&, const Position&)> allowed;
        double sign; ///< -1: the most
    };
    const std::vector<Case> cases{{"within a column, minimum", same_column, 1},
                                  {"within a column, maximum", same_column, -1},
                                  {"across columns, maximum", any, -1},
                                  {"right-most columns to left-most", right_to_left, 1}};
    for (const int tiles : {72, 256}) {
        const Reduced machine(tiles);
        const auto& timing = machine.timing;
        for (const Case& one : cases) {
            CAPTURE(tiles, one.row);
            const auto expected = machine.least([&](TileId from, TileId to) {
                const auto word = std::max(timing.latency(from, to), timing.mux_to_pointer(to));
                return one.allowed(timing.grid().position(from), timing.grid().position(to))
                           ? one.sign * static_cast<double>(word)
                           : std::numeric_limits<double>::infinity();
            });
            const auto row = machine.row(
                std::string("tile-to-tile one word, device-timed, excludes sync: ") + one.row);
            CHECK(pair_of(row.runs.at(0)) == expected);
        }
    }
}

TEST_CASE("an ordinary pair's latency is next to the mean of all pairs") {
    for (const int tiles : {2, 4, 6, 16, 72, 256}) {
        CAPTURE(tiles);
        const Reduced machine(tiles);
        double sum = 0;
        for (TileId from = 0; from < machine.tiles; ++from) {
            for (TileId to = 0; to < machine.tiles; ++to) {
                sum += from == to ? 0 : static_cast<double>(machine.timing.latency(from, to));
            }
        }
        const double mean = sum / (tiles * (tiles - 1));
        const auto expected = machine.least([&](TileId from, TileId to) {
            return std::abs(static_cast<double>(machine.timing.latency(from, to)) - mean);
        });
        CHECK(pair_of(machine.row("point-to-point, one word").runs.at(0)) == expected);
    }
}

TEST_CASE("a row of the grid adds the difference of the farthest and the nearest over the rows") {
    const std::string workload = "tile-to-tile one word, device-timed, excludes sync: per island";
    for (const int tiles : {64, 128, 192, 256, 1216}) {
        CAPTURE(tiles);
        const Reduced machine(tiles);
        const auto& grid = machine.timing.grid();
        const auto row = exchange_row(workload, "1", "4", "latency", "1", "cycles", machine.text);
        if (grid.rows() < 3) {
            CHECK(reason(row) == "the chip has fewer than three rows");
            continue;
        }
        const auto measurement = measured(row);
        REQUIRE(measurement.runs.size() == 2);
        const auto home = grid.position(0);
        const std::vector<std::int64_t> rows{1, grid.rows() - 1};
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto [from, to] = pair_of(measurement.runs[i]);
            CHECK(from == 0);
            CHECK(grid.position(to).row == rows[i]);
            CHECK(grid.position(to).column == home.column);
            CHECK(grid.position(to).sub == home.sub);
        }
        const auto steps = static_cast<double>(grid.rows() - 2);
        const double near = 100;
        for (const double more : {0.0, 1.0, 34.0, -34.0}) {
            CHECK(measurement.read({result(near, 1e9), result(near + more, 1e9)}) ==
                  Approx(std::abs(more) / steps));
        }
    }
}

TEST_CASE("a number stands before its unit with blanks between them or none") {
    const auto sets = [](const std::string& machine) {
        return measured(exchange_row("broadcast one word", "7", "4", "latency", "1", "us", machine))
            .runs[0]
            .machine_sets;
    };
    using Sets = std::vector<std::string>;
    for (const std::string blanks : {"", " ", "   "}) {
        for (const std::string before : {" ", " (", " ,("}) {
            CAPTURE(blanks, before);
            CHECK(sets("GC2" + before + "16" + blanks + "tiles)") == Sets{"chip.tiles=16"});
            CHECK(sets("GC2" + before + "1.5" + blanks + "GHz)") == Sets{"chip.clock_hz=1.5e9"});
            CHECK(sets("GC2" + before + "1500" + blanks + "MHz)") == Sets{"chip.clock_hz=1500e6"});
        }
    }
    CHECK(sets("GC2, no tiles told").empty());
}

TEST_CASE("several chips are a number of times other than one") {
    const auto times = [](const std::string& machine) {
        const auto mapped = measurement_of(
            exchange_row("broadcast one word", "7", "4", "latency", "1", "us", machine), kMachines);
        return std::holds_alternative<NotCovered>(mapped);
    };
    for (const std::string one :
         {"GC2", "GC2 x1", "GC2 x", "GC2 xy", "GC2 x1, 16 tiles", "GC2x4"}) {
        CAPTURE(one);
        CHECK(times(one) == (one == "GC2x4")); // a machine that nobody knows
    }
    for (const std::string several :
         {"GC2 x2", "GC2 x4", "GC2 x10", "GC2 x11", "GC2 x1 x4", "GC2 x16 (16 tiles)"}) {
        CAPTURE(several);
        CHECK(times(several));
    }
}

TEST_CASE("what is timed is told with all its parts") {
    constexpr StepsOf kStep{.called = "halo", .list = "exchanges", .role = program::Role::Bring};
    const std::vector<std::pair<Timed, std::string>> known{
        {{.phases = {"sync"}, .steps = {}}, "sync"},
        {{.phases = {"sync", "exchange"}, .steps = {}}, "sync + exchange"},
        {{.phases = {"sync"}, .steps = {kStep, kStep}}, "sync + step 'halo' + step 'halo'"},
        {{.phases = {}, .steps = {kStep}, .fixed_cycles = 1}, "step 'halo' + 1 cycles"},
        {{.phases = {"sync"}, .steps = {}, .fixed_cycles = 0.5}, "sync + 0.5 cycles"},
        {{.phases = {"sync"}, .steps = {}, .fixed_cycles = -1}, "sync + -1 cycles"},
        {{.phases = {"sync"}, .steps = {}, .fixed_cycles = 0, .row_only = true},
         "sync without prologue"}};
    for (const auto& [timed, text] : known) {
        CHECK(timed.text() == text);
    }
}
