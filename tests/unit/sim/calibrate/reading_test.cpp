// SPDX-License-Identifier: MIT
// Figures of results, in the units of rows.
#include "sim/calibrate/reading.h"
#include "tests/unit/sim/calibrate/support.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::calibrate;
using namespace tessera::test;
using nlohmann::json;

TEST_CASE("a time is cycles over the clock, in the row's unit") {
    const double cycles = 320;
    const double clock = 1.6e9;
    const auto in = [&](const char* unit) {
        const auto row = exchange_row("broadcast one word", "7", "4", "latency", "1", unit);
        return measured(row).read({result_of(cycles, clock)});
    };
    const double all = cycles + fixed_cycles();
    CHECK(in("cycles") == Approx(all));
    CHECK(in("us") == Approx(1e6 * all / clock));
    CHECK(in("ns") == Approx(1e9 * all / clock));
}

TEST_CASE("cycles are of all phases that are named, and each is there") {
    const json result{{"cycles", 100}, {"phases", {{"link", 20}, {"sync", 7}}}};
    const auto cycles = [&](const std::vector<std::string>& phases) {
        return cycles_of(result, Timed{.phases = phases, .steps = {}});
    };
    CHECK(cycles({"all"}) == 100);
    CHECK(cycles({"link"}) == 20);
    CHECK(cycles({"sync", "link"}) == 27);
    CHECK_THROWS_WITH(cycles({"link", "lnk"}), "the run has no phase 'lnk'");
    CHECK(cycles_of(result, Timed{.phases = {"sync"}, .steps = {}, .fixed_cycles = 3}) == 10);
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
    CHECK(measured(row).read({result_of(cycles, clock)}) ==
          Approx(50 * 160 * clock / (cycles + fixed_cycles()) / 1e9));
}

TEST_CASE("the tables that their sync and copies are part of") {
    const double cycles = 300;
    const auto read = [&](const char* workload, const char* bytes) {
        const auto row = exchange_row(workload, "5", bytes, "latency", "1", "cycles");
        return measured(row).read({result_of(cycles, 1e9)}) - fixed_cycles();
    };
    const auto rate = [&](const char* workload) {
        const auto row = exchange_row(workload, "5", "160", "aggregate_bandwidth", "1", "GB/s");
        return 5 * 160 / measured(row).read({result_of(cycles, 1e9)}) - fixed_cycles();
    };
    CHECK(read("gather one word each, n tiles to one", "4") == Approx(cycles));
    CHECK(read("scatter one word each, one tile to n", "4") == Approx(cycles + kOwnPart));
    CHECK(read("all-to-all, one distinct word per pair", "4") == Approx(1.5 * cycles));
    CHECK(rate("scatter 160 B each, one tile to n") == Approx(1.5 * cycles));
    CHECK(rate("gather 160 B each, n tiles to one") == Approx(1.5 * cycles + kOwnPart));
}

TEST_CASE("a word timed without its sync is the exchange row alone") {
    const auto row =
        exchange_row("tile-to-tile one word, device-timed, excludes sync: within a column, maximum",
                     "1", "4", "latency", "1", "cycles");
    CHECK(measured(row).read({result_of(200, 1e9)}) == Approx(200 - kPrologue));
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
    CHECK(cycles_of(result_of(400, 1e9), {.phases = {"sync"}, .steps = {kBring}}) ==
          Approx(400 / 2 + 400 / 4));
    CHECK_THROWS_WITH(cycles_of(result_of(400, 1e9), {.phases = {}, .steps = {kBlur}}),
                      "the run has no step 'blur': compute_sets of role work");
    CHECK_THROWS_WITH(cycles_of(result_of(400, 1e9), {.phases = {}, .steps = {kSecond}}),
                      "the run has no step 'second': compute_sets of role rearrange");
    CHECK_THROWS_AS(cycles_of(result_of(400, 1e9), {.phases = {"stream"}, .steps = {}}), IoError);
}

TEST_CASE("of steps that take turns in a round, the cycles of one are found") {
    json run = result_of(400, 1e9);
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

TEST_CASE("the size that reaches nine tenths of the peak lies where the rate passes it") {
    const auto measurement = measured(exchange_row("broadcast: message size reaching 90% of peak",
                                                   "1216", "", "message_size", "1", "B"));
    const double fixed = 256;
    std::vector<json> results;
    double largest = 0;
    for (const auto& run : measurement.runs) {
        largest = run.workload["bytes"].get<double>();
        results.push_back(result_of(fixed - fixed_cycles() + largest / 8, 1e9));
    }
    // b / (fixed + b / 8) = 0.9 * largest / (fixed + largest / 8)
    const double peak = largest / (fixed + largest / 8);
    const double exact = 0.9 * peak * fixed / (1 - 0.9 * peak / 8);
    CHECK(measurement.read(results) == Approx(exact).epsilon(0.05));
}

TEST_CASE("a time is a time by whatever word") {
    const auto read_of = [](const std::string& metric) {
        return measured(exchange_row("all-to-all", "7", "4", metric)).read({result_of(1000, 1e9)});
    };
    const double latency = read_of("latency");
    for (const std::string metric : {"time", "duration", "Duration"}) {
        INFO(metric);
        CHECK(read_of(metric) == latency);
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
