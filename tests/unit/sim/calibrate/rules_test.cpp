// SPDX-License-Identifier: MIT
// What runs for each kind of row, what of it is timed and how the figure comes of it.
#include "sim/calibrate/groups.h"
#include "sim/calibrate/rules.h"
#include "tests/unit/sim/calibrate/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::calibrate;
using namespace tessera::test;
using nlohmann::json;

namespace {

using Columns = std::vector<std::pair<std::string, std::string>>;

json exchange(const char* pattern, int tiles, int bytes, json others = json::object()) {
    others.update({{"schema_version", 1},
                   {"kind", "exchange_pattern"},
                   {"pattern", pattern},
                   {"tiles", tiles},
                   {"bytes", bytes}});
    return others;
}

json stream(const char* op, const char* type, int elements, const char* codelet) {
    return {{"schema_version", 1}, {"kind", "memory_stream"}, {"op", op},
            {"dtype", type},       {"elements", elements},    {"codelet", codelet}};
}

json stencil(int width, int height, json others = json::object()) {
    others.update({{"schema_version", 1},
                   {"kind", "stencil"},
                   {"width", width},
                   {"height", height},
                   {"dtype", "f16"},
                   {"iterations", 2}});
    return others;
}

/// A result of `cycles`, its phases and steps all of other lengths.
json run_of(double cycles, double clock_hz = 2e9) {
    json run = result_of(cycles, clock_hz);
    run["phases"]["compute"] = cycles / 8;
    run["compute_sets"] = json::array();
    for (const auto& [role, part] :
         std::vector<std::pair<const char*, double>>{{"rearrange", 0.125},
                                                     {"rearrange", 0.25},
                                                     {"work", 0.375},
                                                     {"rearrange", 0.5},
                                                     {"rearrange", 0.625},
                                                     {"work", 0.75}}) {
        run["compute_sets"].push_back({{"name", "s"}, {"role", role}, {"cycles", part * cycles}});
    }
    return run;
}

Columns with(Columns columns, const Columns& more) {
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
}

} // namespace

TEST_CASE("every kind of row has its workload, its time and what was assumed") {
    struct Kind {
        Columns columns;
        const char* group;
        json workload;
        const char* timed;
        const char* assumed;
    };
    const auto of = [](const char* workload, const char* metric, const char* unit,
                       const Columns& more) {
        return with({{"workload", workload}, {"metric", metric}, {"unit", unit}}, more);
    };
    const Columns word{{"tiles", "3"}, {"msg_bytes", "4"}};
    const Columns long_message{{"tiles", "6"}, {"msg_bytes", "160"}};
    const json one_worker{{"include_self", true}, {"copies", "one_worker"}};
    const json self_copy{{"schema_version", 1}, {"kind", "self_copy"}, {"tiles", 1}, {"bytes", 16}};
    const auto copy = [&](int bytes, const char* copies) {
        json workload = self_copy;
        workload["bytes"] = bytes;
        if (copies != nullptr) {
            workload["copies"] = copies;
        }
        return workload;
    };
    const auto reads = [](int tiles, const char* codelet) {
        return json{{"schema_version", 1}, {"kind", "memory_stream"},
                    {"op", "read"},        {"tiles", tiles},
                    {"codelet", codelet},  {"elements", tiles * 98'304 / 4}};
    };
    const auto sums = [](int tiles, int operands, int outputs) {
        return json{{"schema_version", 1},
                    {"kind", "reduction"},
                    {"tiles", tiles},
                    {"operands", operands},
                    {"outputs", outputs}};
    };
    const Columns two_operands{{"tiles", "5"}, {"operands_per_tile", "7"}};
    const json all_tiles{{"grid_columns", 19}, {"grid_rows", 64}};
    const std::string standard = "copy inside a tile, standard to interleaved memory";
    const char* const gbs = "GB/s";
    const std::vector<Kind> kinds{
        {of("hardware global synchronisation on chip", "latency", "cycles", {}),
         "sync",
         {{"schema_version", 1}, {"kind", "sync"}, {"repeats", 100}},
         "all",
         ""},
        {of("concurrent one-word transfers to random tiles", "total_latency", "us", word),
         "exchange: one word", exchange("random", 3, 4), "sync + exchange", ""},
        {of("concurrent pairs", "aggregate_bandwidth", gbs, {{"tiles", "6"}}), "exchange: pairs",
         exchange("pairs", 6, 102'400), "exchange + 48 cycles", "messages of 102400 B"},
        {of("concurrent pairs", "aggregate_bandwidth", gbs, {{"tiles", "2"}}), "exchange: pairs",
         exchange("pairs", 2, 102'400), "exchange + 48 cycles", "messages of 102400 B"},
        {of("concurrent pairs", "aggregate_bandwidth", gbs, {{"tiles", "3"}, {"msg_bytes", "8"}}),
         "exchange: pairs", exchange("shift", 3, 8), "exchange + 48 cycles", ""},
        {of("gather, self copy", "bandwidth", gbs,
            {{"tiles", "1"}, {"msg_bytes", "16"}, {"note", "a self copy"}}),
         "self copy", copy(16, "one_worker"), "compute", ""},
        {of("gather, self copy", "bandwidth", gbs,
            {{"tiles", "1"}, {"msg_bytes", "17"}, {"note", "a self copy"}}),
         "self copy", copy(20, nullptr), "compute", "messages of 17 B move as 20 B"},
        {of(standard.c_str(), "latency", "cycles", {{"msg_bytes", "16"}}), "self copy",
         copy(16, "paced"), "compute", ""},
        {of(standard.c_str(), "latency", "cycles", {{"msg_bytes", "12"}}), "self copy",
         copy(12, nullptr), "compute", ""},
        {of("copy inside a tile", "latency", "cycles", {{"msg_bytes", "24"}}), "self copy",
         copy(24, "one_worker"), "compute", ""},
        {of("broadcast", "latency", "us", word), "exchange: broadcast",
         exchange("broadcast", 3, 4, {{"source", 1215}}), "exchange + 48 cycles", ""},
        {of("broadcast", "bandwidth", gbs, long_message), "exchange: broadcast",
         exchange("broadcast", 8, 160, {{"source", 1215}}), "exchange + 48 cycles", ""},
        {of("gather", "latency", "us", word), "exchange: gather", exchange("gather", 3, 4),
         "exchange + 48 cycles", ""},
        {of("gather", "latency", "us", {{"tiles", "1"}, {"msg_bytes", "4"}}), "exchange: gather",
         exchange("gather", 1, 4), "exchange + 48 cycles", ""},
        {of("gather", "bandwidth", gbs, long_message), "exchange: long gather",
         exchange("gather", 6, 160, one_worker), "sync + exchange + step 'rearrange' + 48 cycles",
         ""},
        {of("scatter", "latency", "us", word), "exchange: scatter",
         exchange("scatter", 3, 4, {{"include_self", true}}),
         "exchange + step 'rearrange' + 48 cycles", ""},
        {of("scatter", "bandwidth", gbs, long_message), "exchange: long scatter",
         exchange("scatter", 5, 160), "sync + exchange + 48 cycles", ""},
        {of("scatter", "bandwidth", gbs, {{"tiles", "2"}, {"msg_bytes", "6"}}),
         "exchange: long scatter", exchange("scatter", 1, 8), "sync + exchange + 48 cycles",
         "messages of 6 B move as 8 B"},
        {of("all-to-all", "bandwidth", gbs, {{"tiles", "6"}}), "exchange: all to all",
         exchange("all_to_all", 6, 102'400), "sync + exchange + 48 cycles", "messages of 102400 B"},
        {of("stream copy FP32", "bandwidth", gbs, {{"elems", "4096"}}), "STREAM",
         stream("copy", "f32", 4096, "vector"), "all", ""},
        {of("stream mul", "bandwidth", gbs, {{"elems", "4096"}}), "STREAM",
         stream("scale", "f32", 4096, "vector"), "all", ""},
        {of("stream scale, vendor primitives", "time", "us", {{"elems", "4096"}}), "STREAM",
         stream("scale", "f32", 4096, "vendor"), "all", ""},
        {of("stream add in plain C++", "bandwidth", gbs, {{"elems", "4096"}}), "STREAM",
         stream("add", "f32", 4096, "naive"), "all", ""},
        {of("stream triad FP16 naive", "bandwidth", gbs, {}), "STREAM",
         stream("triad", "f16", 10'000'000, "naive"), "all", "10000000 elements"},
        {of("stream triad FP32 paced", "flop_rate", "TFLOP/s", {}), "STREAM",
         stream("triad", "f32", 5'000'000, "paced"), "all", "5000000 elements"},
        {of("stream triad", "bandwidth", gbs, {{"source", "Louw, 2021"}}), "STREAM",
         stream("triad", "f32", 5'000'000, "vector"), "all", "5000000 elements"},
        {of("stream triad", "bandwidth", gbs,
            {{"source", "BabelStream"}, {"elems", "8"}, {"machine", "GC200"}}),
         "STREAM", stream("triad", "f32", 8, "vector"), "all", ""},
        {of("local SRAM read, 128-bit", "bandwidth", gbs, {{"tiles", "3"}}), "memory reads",
         reads(3, "paced"), "all", "98304 B on each tile"},
        {of("local SRAM read, 64-bit", "bandwidth", gbs, {}), "memory reads", reads(1216, "vector"),
         "all", "98304 B on each tile"},
        {of("local SRAM read, 32-bit", "bandwidth", gbs, {{"tiles", "1216"}}), "memory reads",
         reads(1216, "naive"), "all", "98304 B on each tile"},
        {of("sum reduction", "latency", "us", two_operands), "reduction", sums(5, 7, 1),
         "all + 1102 cycles", ""},
        {of("independent single-tile reductions", "bandwidth", gbs, two_operands),
         "reduction: independent", sums(5, 7, 5), "all + 3055 cycles", ""},
        {of("3x3 blur, phase breakdown", "sync:sync", "cycles",
            {{"dtype", "f16"}, {"nx", "40"}, {"ny", "30"}}),
         "stencil: sync", stencil(40, 30), "sync", ""},
        {of("3x3 blur, phase breakdown", "halo:exchange", "cycles",
            {{"dtype", "f16"}, {"nx", "40"}, {"machine", "GC2 (12 tiles)"}}),
         "stencil: exchange", stencil(2200, 1122), "step 'halo exchange'", "2200 x 1122 pixels"},
        {of("3x3 blur, phase breakdown", "halo:pre", "cycles",
            {{"dtype", "f16"}, {"machine", "GC2"}}),
         "stencil: copies", stencil(2200, 1122, all_tiles), "step 'halo pre'",
         "2200 x 1122 pixels, 19 x 64 parts"},
        {of("3x3 blur, phase breakdown", "halo:post", "cycles",
            {{"dtype", "f16"}, {"ny", "30"}, {"machine", "GC2"}}),
         "stencil: copies", stencil(2200, 1122, all_tiles), "step 'halo post'",
         "2200 x 1122 pixels, 19 x 64 parts"},
        {of("3x3 blur, phase breakdown", "compute:compute", "cycles",
            {{"dtype", "f16"}, {"nx", "40"}, {"ny", "64"}}),
         "stencil: compute", stencil(40, 64, all_tiles), "step 'blur'", "19 x 64 parts"},
        {of("3x3 blur, phase breakdown", "compute:compute", "cycles",
            {{"dtype", "f16"}, {"nx", "19"}, {"ny", "64"}}),
         "stencil: compute", stencil(19, 64, all_tiles), "step 'blur'", "19 x 64 parts"},
        {of("3x3 blur, phase breakdown", "compute:compute", "cycles",
            {{"dtype", "f16"}, {"nx", "18"}, {"ny", "64"}}),
         "stencil: compute", stencil(18, 64), "step 'blur'", ""},
        {of("Gaussian blur, iterations", "time", "us",
            {{"dtype", "f16"}, {"nx", "40"}, {"ny", "63"}, {"iters", "10"}}),
         "stencil: iterations", stencil(40, 63), "all, from 2 blurs, a repeat", ""},
        {of("Gaussian blur, iterations", "time", "us",
            {{"dtype", "f16"}, {"nx", "2200"}, {"ny", "1122"}, {"iters", "10"}}),
         "stencil: iterations", stencil(2200, 1122, all_tiles), "all, from 2 blurs, a repeat",
         "19 x 64 parts"},
        {of("host to tiles", "bandwidth", gbs,
            {{"topology", "host"}, {"tiles", "3"}, {"msg_bytes", "10"}}),
         "host",
         {{"schema_version", 1},
          {"kind", "host_transfer"},
          {"direction", "read"},
          {"tiles", 3},
          {"bytes", 12}},
         "all",
         "messages of 10 B move as 12 B"},
        {of("attn-remote", "duration", "s",
            {{"seq_len", "300"},
             {"chunk", "100"},
             {"batch", "2"},
             {"n_head", "3"},
             {"head_dim", "5"}}),
         "remote buffer",
         {{"schema_version", 1},
          {"kind", "remote_buffer"},
          {"direction", "read"},
          {"rows", 1},
          {"row_bytes", 2 * 100 * 2 * 3 * 5},
          {"repeats", 4}},
         "all, from 4 of 6 chunks",
         "the transfers alone: attention itself has its own rows"},
        {of("attn-remote", "duration", "s",
            {{"seq_len", "7"},
             {"chunk", "100"},
             {"batch", "1"},
             {"n_head", "1"},
             {"head_dim", "1"}}),
         "remote buffer",
         {{"schema_version", 1},
          {"kind", "remote_buffer"},
          {"direction", "read"},
          {"rows", 1},
          {"row_bytes", 16},
          {"repeats", 2}},
         "all, from 2 of 2 chunks",
         "the transfers alone: attention itself has its own rows"},
    };
    for (const Kind& kind : kinds) {
        CAPTURE(kind.columns.front().second, kind.group);
        const auto measurement = measured(row_of(kind.columns));
        CHECK(measurement.group == kind.group);
        REQUIRE(measurement.runs.size() == 1);
        CHECK(measurement.runs[0].workload == kind.workload);
        CHECK(measurement.timed == kind.timed);
        CHECK(measurement.assumed == kind.assumed);
    }
}

TEST_CASE("a figure is the time or the rate of what the run moved") {
    constexpr double kClock = 2e9;
    constexpr double kFixed = 48; // of the exchange tables
    struct Figure {
        Columns columns;
        double amount; ///< of bytes or flops; 0: a time
        double timed;  ///< cycles of run_of(800)
    };
    const auto rate = [](const char* workload, const Columns& more) {
        return with({{"workload", workload}, {"metric", "bandwidth"}, {"unit", "B/s"}}, more);
    };
    const auto time = [](const char* workload, const Columns& more,
                         const char* metric = "latency") {
        return with({{"workload", workload}, {"metric", metric}, {"unit", "cycles"}}, more);
    };
    const auto flops = [](const char* workload) {
        return Columns{{"workload", workload},
                       {"metric", "flop_rate"},
                       {"unit", "GFLOP/s"},
                       {"elems", "1003"}};
    };
    constexpr double kAll = 1200;
    constexpr double kExchange = 800;
    constexpr double kSync = 400;
    constexpr double kCopies = (0.125 + 0.25 + 0.5 + 0.625) * kExchange;
    const Columns message{{"tiles", "6"}, {"msg_bytes", "13"}};
    const Columns elements{{"elems", "1003"}};
    const Columns operands{{"tiles", "5"}, {"operands_per_tile", "7"}};
    const Columns part{{"dtype", "f16"}, {"nx", "40"}, {"ny", "30"}};
    const char* const phases = "3x3 blur, phase breakdown";
    const std::vector<Figure> figures{
        {time("hardware global synchronisation on chip", {}), 0, kAll / 100},
        {rate("concurrent pairs", {{"tiles", "6"}}), 6 * 102'400, kExchange + kFixed},
        {rate("concurrent pairs", message), 6 * 13, kExchange + kFixed},
        {rate("gather", message), 6 * 13, kExchange + kSync + kCopies + kFixed},
        {rate("scatter", message), 6 * 13, kExchange + kSync + kFixed},
        {time("scatter", message), 0, kExchange + kCopies + kFixed},
        {time("concurrent one-word transfers to random tiles", message), 0, kExchange + kSync},
        {rate("copy inside a tile", message), 13, kExchange / 8},
        {rate("stream copy", elements), 2 * 4 * 1003, kAll},
        {rate("stream scale", elements), 2 * 4 * 1003, kAll},
        {rate("stream add", elements), 3 * 4 * 1003, kAll},
        {rate("stream triad", elements), 3 * 4 * 1003, kAll},
        {rate("stream triad FP16", elements), 3 * 2 * 1003, kAll},
        {rate("stream triad FP16", {}), 3 * 2 * 10e6, kAll},
        {flops("stream scale"), 1003 / 1e9, kAll},
        {flops("stream add"), 1003 / 1e9, kAll},
        {flops("stream triad FP16"), 2 * 1003 / 1e9, kAll},
        {time("stream triad", elements), 0, kAll},
        {rate("local SRAM read, 64-bit", {{"tiles", "3"}}), 3 * 98'304, kAll},
        {rate("sum reduction", operands), 4 * 5 * 7, kAll + 1102},
        {time("independent single-tile reductions", operands), 0, kAll + 3055},
        {time(phases, part, "sync:sync"), 0, kSync / 2},
        {time(phases, part, "halo:exchange"), 0, kExchange / 4 / 2},
        {time(phases, part, "halo:pre"), 0, (0.125 + 0.5) * kExchange / 2},
        {time(phases, part, "halo:post"), 0, (0.25 + 0.625) * kExchange / 2},
        {time(phases, part, "compute:compute"), 0, (0.375 + 0.75) * kExchange / 2},
        {time("Gaussian blur, iterations", with(part, {{"iters", "10"}}), "time"), 0,
         kAll * 10}, // two blurs are one of ten repeats
        {rate("host to tiles", with(message, {{"topology", "host"}})), 6 * 13, kAll},
        {time("host to tiles", with(message, {{"topology", "host"}})), 0, kAll},
        {time("attn-remote",
              {{"seq_len", "300"},
               {"chunk", "100"},
               {"batch", "2"},
               {"n_head", "3"},
               {"head_dim", "5"}},
              "duration"),
         0, kAll * 6 / 4},
    };
    for (const Figure& figure : figures) {
        CAPTURE(figure.columns[0].second, figure.columns[1].second);
        const auto measurement = measured(row_of(figure.columns));
        const double expected =
            figure.amount > 0 ? figure.amount * kClock / figure.timed : figure.timed;
        CHECK(measurement.read({run_of(kExchange, kClock)}) == Approx(expected).epsilon(1e-12));
    }
}

TEST_CASE("the clock is the one of the row's machine, whoever measured it") {
    const auto sets = [](const char* machine, const char* source) {
        return measured(row_of({{"workload", "stream triad"},
                                {"machine", machine},
                                {"source", source},
                                {"metric", "bandwidth"},
                                {"unit", "GB/s"}}))
            .runs.at(0)
            .machine_sets;
    };
    using Sets = std::vector<std::string>;
    CHECK(sets("GC2 (16 tiles, 1.6 GHz)", "Louw") == Sets{"chip.tiles=16", "chip.clock_hz=1.6e9"});
    CHECK(sets("GC2", "BabelStream").empty());
    CHECK(sets("GC2 (1.3 GHz)", "") == Sets{"chip.clock_hz=1.3e9"});
}

TEST_CASE("from n tiles to a root are at most all others") {
    for (const int tiles : {1, 2, 1214, 1215, 1216}) {
        const auto row = exchange_row("gather", std::to_string(tiles), "4", "latency");
        CHECK(measured(row).runs.at(0).workload.at("tiles") == std::min(tiles, 1215));
    }
}

TEST_CASE("a tile's message to itself is not covered, but for a gather's") {
    const std::string elided = "a tile's message to itself that takes less time than launching "
                               "workers: the measured program leaves it where it is";
    CHECK(reason(exchange_row("scatter", "1", "4", "latency")) == elided);
    CHECK(reason(exchange_row("scatter", "1", "160", "bandwidth", "1", "GB/s")) == elided);
    CHECK(reason(exchange_row("copy to self (local memory)", "1", "4", "latency")) == elided);
    CHECK(refusal(exchange_row("scatter", "2", "4", "latency")) == "accepted");
    CHECK(measured(exchange_row("all-to-all", "1", "4", "latency")).runs.size() == 1);
    CHECK(reason(row_of({{"workload", "attn-local"}})) ==
          "attention itself has its own rows, and these move nothing");
}

TEST_CASE("a part of a broadcast's peak is the rate over that of a large message") {
    const auto row = [](const char* unit) {
        return exchange_row("broadcast", "7", "1001", "fraction_of_peak", "1", unit);
    };
    const auto measurement = measured(row("1"));
    CHECK(measurement.group == std::string("exchange: broadcast"));
    REQUIRE(measurement.runs.size() == 2);
    CHECK(measurement.runs[0].workload == exchange("broadcast", 8, 1004, {{"source", 1215}}));
    CHECK(measurement.runs[1].workload == exchange("broadcast", 8, 102'400, {{"source", 1215}}));
    CHECK(measurement.timed == "exchange + 48 cycles");
    CHECK(measurement.assumed ==
          "the peak is the rate at 102400 B, messages of 1001 B move as 1004 B");
    const std::vector<json> results{result_of(500 - 48, 1e9), result_of(20'000 - 48, 1e9)};
    const double part = (1001.0 / 500) / (102'400.0 / 20'000);
    CHECK(measurement.read(results) == Approx(part).epsilon(1e-12));
    CHECK(measured(row("%")).read(results) == Approx(100 * part).epsilon(1e-12));
}

TEST_CASE("nine tenths of a peak lie on the straight line between two sizes") {
    const std::array<double, 8> sizes{2048, 4096, 8192, 12'288, 16'384, 24'576, 49'152, 102'400};
    const auto row = [](const char* unit) {
        return exchange_row("broadcast: message size reaching 90% of peak", "1216", "",
                            "message_size", "1", unit);
    };
    const auto measurement = measured(row("B"));
    REQUIRE(measurement.runs.size() == sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        CHECK(measurement.runs[i].workload ==
              exchange("broadcast", 1214, static_cast<int>(sizes[i]), {{"source", 1215}}));
    }
    CHECK(measurement.timed == "exchange + 48 cycles");
    CHECK(measurement.assumed == "the peak is the rate at 102400 B");
    const auto read = [&](const std::vector<double>& rates, const char* unit = "B") {
        std::vector<json> results;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            results.push_back(result_of(sizes[i] / rates[i] - 48, 1e9));
        }
        return measured(row(unit)).read(results);
    };
    // the line's two ends and its middle, in each of the gaps
    for (std::size_t gap = 1; gap < sizes.size(); ++gap) {
        for (const double part : {0.25, 0.5, 0.75}) {
            CAPTURE(gap, part);
            std::vector<double> rates(sizes.size(), 10.0);
            std::fill_n(rates.begin(), gap, 9 - part);
            rates[gap] = 10 - part;
            rates.back() = 10;
            const double step = rates[gap] - rates[gap - 1];
            const double at = sizes[gap - 1] + (sizes[gap] - sizes[gap - 1]) * part / step;
            CHECK(read(rates) == Approx(at).epsilon(1e-9));
        }
    }
    CHECK(read({9.5, 9.6, 9.7, 9.8, 10, 10, 10, 10}) == Approx(2048)); // all are above
    CHECK(read({1, 9.5, 1, 1, 1, 1, 1, 10}) < 4096);                   // the first that is
    CHECK(read({9.5, 9.6, 9.7, 9.8, 10, 10, 10, 10}, "KiB") == Approx(2));
}

TEST_CASE("rows of a remote buffer are one each where a copy holds no more") {
    const auto measurement =
        measured(row_of({{"machine", "Bow"},
                         {"workload", "sparq-attn"},
                         {"batch", "2"},
                         {"n_head", "3"},
                         {"head_dim", "64"},
                         {"seq_len", std::to_string((std::int64_t{1} << 27) / 2 + 1)},
                         {"r", "5"},
                         {"k", "50"},
                         {"metric", "duration"}}));
    CHECK(measurement.runs.at(0).workload["rows"] == 1);
    CHECK(measurement.timed == "all: 30 copies of components, twice 1 of positions");
    CHECK(measurement.assumed.find("messages of 134217730 B move as 134217732 B") == 0);
}

TEST_CASE("whole words are the next multiple of four bytes") {
    for (std::int64_t bytes = 1; bytes < 20; ++bytes) {
        std::int64_t words = 0;
        while (words * 4 < bytes) {
            ++words;
        }
        CHECK(whole_words(bytes) == 4 * words);
        Measurement measurement;
        assume_words(measurement, bytes);
        CHECK(measurement.assumed.empty() == (bytes % 4 == 0));
    }
}

TEST_CASE("a product of counts is at most what all memories hold") {
    const auto product = [](const char* a, const char* b) -> std::string {
        const auto row = row_of({{"batch", a}, {"n_head", b}});
        try {
            return std::to_string(needed_product(row, {"batch", "n_head"}));
        } catch (const ConfigError& error) {
            return error.diagnostics().front().text();
        }
    };
    CHECK(product("6", "7") == "42");
    CHECK(product("10000000", "100000000") == "1000000000000000");
    CHECK(product("10000001", "100000000").find("n_head: got a product of batch, n_head above") !=
          std::string::npos);
    CHECK(product("", "7") == "rows.csv:2:34: batch: column 'batch': expected a whole number");
    const auto attention = [](const char* chunk) {
        return refusal(row_of({{"workload", "attn-remote"},
                               {"metric", "duration"},
                               {"seq_len", "10"},
                               {"chunk", chunk},
                               {"batch", "1000000"},
                               {"n_head", "1000"},
                               {"head_dim", "1000"}}));
    };
    CHECK(attention("1000") == "accepted");
    CHECK(attention("1001") == "rows.csv:2:50: batch: got a product of chunk, n_head, head_dim, "
                               "batch above 1000000000000000");
}

TEST_CASE("equal workloads on equal machines are one run, others are not") {
    const Run run{"gc2", {"chip.tiles=16"}, {{"kind", "sync"}}};
    const auto key = [](const Run& other) { return other.key(); };
    CHECK(key(run) == key(Run{"gc2", {"chip.tiles=16"}, {{"kind", "sync"}}}));
    CHECK(key(run) != key(Run{"bow", {"chip.tiles=16"}, {{"kind", "sync"}}}));
    CHECK(key(run) != key(Run{"gc2", {"chip.tiles=17"}, {{"kind", "sync"}}}));
    CHECK(key(run) != key(Run{"gc2", {"chip.tiles=16"}, {{"kind", "stencil"}}}));
}

TEST_CASE("every rule's group is one of those that are told") {
    for (const auto* rules :
         {&exchange_rules(), &memory_rules(), &reduction_rules(), &stencil_rules(),
          &streaming_rules(), &product_rules(), &convolution_rules(), &attention_rules(),
          &link_rules(), &recall_rules()}) {
        for (const Rule& rule : *rules) {
            CAPTURE(rule.group);
            CHECK_NOTHROW(check_group_name(rule.group));
        }
    }
    const auto refused = [](const char* name) {
        try {
            check_group_name(name);
        } catch (const ConfigError& error) {
            return error.diagnostics().front().text();
        }
        return std::string("accepted");
    };
    CHECK(refused("hots") == "--group: no group 'hots'; did you mean 'host'?");
    CHECK(refused("zzzzzz").find(
              "groups: micro, kernels, models, links, STREAM, memory reads, exchange: ") !=
          std::string::npos);
}

TEST_CASE("where only the metric does not fit, those that do are told") {
    CHECK(reason(exchange_row("broadcast", "7", "4", "height")) ==
          "no micro-workload for 'broadcast', height; metrics: latency, bandwidth, "
          "fraction_of_peak");
    CHECK(reason(exchange_row("gather", "7", "4", "height")) ==
          "no micro-workload for 'gather', height; metrics: latency, bandwidth");
    CHECK(reason(row_of({{"workload", "attn-remote"}})) ==
          "no micro-workload for 'attn-remote', latency; metrics: duration");
    CHECK(reason(row_of({{"workload", "host to tiles"}})) ==
          "no micro-workload for 'host to tiles', latency");
}
