// SPDX-License-Identifier: MIT
// What a recorder keeps of runs made up span by span.
#include "models/listeners/account.h"
#include "models/listeners/recorder.h"
#include "tests/unit/models/listeners/told.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace tessera;
using events::Doing;
using listeners::Recorder;
using Numbers = std::vector<std::uint64_t>;

namespace {

program::Program program_of(std::size_t compute_sets, std::size_t exchanges) {
    program::Program program;
    program.compute_sets.resize(compute_sets);
    program.exchanges.resize(exchanges);
    return program;
}

spec::MachineSpec machine_of(std::size_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = static_cast<std::int64_t>(tiles);
    return machine;
}

std::map<std::string, Numbers> columns_of(const Recorder& recorder, std::size_t step) {
    std::map<std::string, Numbers> columns;
    for (const auto& [column, numbers] : recorder.columns(step)) {
        columns[column] = numbers;
    }
    return columns;
}

/// Of the first two workers the second has a third of the issues.
events::Work work_of(std::int64_t issues, std::int64_t steps) {
    events::Work work;
    work.counts.at(counts::Group::WorkerIssues, counts::Class::Matrix) = issues;
    work.issues_of = {issues - issues / 3, issues / 3};
    work.counts.at(counts::Group::MatrixSteps, counts::MatrixStep::F16v4Siso) = steps;
    return work;
}

} // namespace

TEST_CASE("a step that ran once has begins, issues and matrix steps by tile") {
    const auto program = program_of(1, 0);
    Recorder recorder(program, machine_of(3));
    test::Told told(3, {&recorder});
    told.does(0, Doing::Control, 7);
    told.does(2, Doing::Control, 9);
    told.step = 1;
    told.does(0, Doing::ComputeSet, 100, 0, work_of(80, 40));
    told.does(2, Doing::ComputeSet, 50, 0, work_of(30, 10));
    told.released(5);
    REQUIRE(recorder.steps().size() == 1);
    CHECK(recorder.steps()[0].executions == 1);
    const auto columns = columns_of(recorder, 0);
    CHECK(columns.size() == 3 + static_cast<std::size_t>(spec::MachineSpec().tile.workers));
    CHECK(columns.at("begin") == Numbers{0, listeners::kNoPart, 2});
    CHECK(columns.at("issues") == Numbers{80, 0, 30});
    CHECK(columns.at("issues_of_0") == Numbers{54, 0, 20});
    CHECK(columns.at("issues_of_1") == Numbers{26, 0, 10});
    CHECK(columns.at("issues_of_2") == Numbers{0, 0, 0});
    CHECK(columns.at("matrix_steps") == Numbers{40, 0, 10});
    REQUIRE(recorder.executions().size() == 1);
    CHECK(recorder.executions()[0].begin == 7);
    CHECK(recorder.executions()[0].end == 107);
    REQUIRE(recorder.releases().size() == 1);
    CHECK(recorder.releases()[0].last_arrival == 107);
    CHECK(recorder.releases()[0].cycle == 112);
    CHECK(recorder.releases()[0].critical == 0);
}

TEST_CASE("a step that ran often has the first, last, least, most and slowest of each tile") {
    const auto program = program_of(1, 1);
    Recorder recorder(program, machine_of(2));
    test::Told told(2, {&recorder});
    // the second and the third are as slow as each other
    for (const auto& [one, other] : {std::pair{30, 20}, {10, 60}, {60, 17}, {40, 15}}) {
        told.phase(Doing::ComputeSet, 0, {{0, one}, {1, other}});
        told.phase(Doing::Exchange, 0, {{0, 5}, {1, 6}}, {}, {.in = 3, .out = 4});
    }
    const auto columns = columns_of(recorder, 0);
    CHECK(columns.at("first") == Numbers{30, 20});
    CHECK(columns.at("last") == Numbers{40, 15});
    CHECK(columns.at("least") == Numbers{10, 15});
    CHECK(columns.at("most") == Numbers{60, 60});
    CHECK(columns.at("slowest") == Numbers{10, 60});
    CHECK(columns.at("begin") == Numbers{0, 0});
    const auto exchange = columns_of(recorder, 1);
    CHECK(exchange.at("received") == Numbers{12, 12});
    CHECK(exchange.at("sent") == Numbers{16, 16});
    CHECK_FALSE(exchange.contains("issues"));
    CHECK(recorder.steps()[0].executions == 4);
    REQUIRE(recorder.executions().size() == 8);
    for (std::size_t i = 0; i < 8; ++i) {
        CHECK(recorder.executions()[i].step == i % 2);
        CHECK((i == 0 || recorder.executions()[i].begin == recorder.executions()[i - 1].end));
    }
}

TEST_CASE("a recorder of fewer workers has no column of those that the machine has not") {
    const auto program = program_of(1, 0);
    auto machine = machine_of(1);
    machine.tile.workers = 2;
    Recorder recorder(program, machine);
    test::Told told(1, {&recorder});
    told.phase(Doing::ComputeSet, 0, {{0, 100}}, work_of(90, 1));
    const auto columns = columns_of(recorder, 0);
    CHECK(columns.at("issues_of_1") == Numbers{30});
    CHECK_FALSE(columns.contains("issues_of_2"));
}

TEST_CASE("a window has every execution that meets it, and no other") {
    constexpr Cycles kEach = 10; // cycles of an execution: number n takes [10 n, 10 n + 10)
    constexpr int kExecutions = 9;
    const auto program = program_of(2, 0);
    const auto numbers_in = [&](Cycles from, Cycles to) {
        Recorder recorder(program, machine_of(2), listeners::RecordedWindow{from, to});
        test::Told told(2, {&recorder});
        for (int number = 0; number < kExecutions; ++number) {
            told.phase(Doing::ComputeSet, static_cast<std::uint32_t>(number % 2), {{1, kEach}});
        }
        std::vector<Cycles> numbers;
        for (std::size_t i = 0; i < recorder.window_executions(); ++i) {
            const listeners::WindowExecution one = recorder.window_execution(i);
            numbers.push_back(one.execution.begin / kEach);
            CHECK(one.execution.end == one.execution.begin + kEach);
            CHECK(one.execution.step == static_cast<std::uint32_t>(numbers.back() % 2));
            CHECK(one.begin == std::vector<std::uint32_t>{listeners::kNoPart, 0});
            CHECK(one.cycles == std::vector<std::uint32_t>{0, kEach});
        }
        CHECK(recorder.window_left_out() == 0);
        CHECK(recorder.executions().size() == kExecutions);
        return numbers;
    };
    const std::vector<std::tuple<Cycles, Cycles, std::vector<Cycles>>> cases{
        {0, 1, {0}},   {9, 10, {0}},     {9, 11, {0, 1}}, {10, 20, {1}},
        {35, 36, {3}}, {79, 81, {7, 8}}, {90, 1000, {}},  {0, 1000, {0, 1, 2, 3, 4, 5, 6, 7, 8}}};
    for (const auto& [from, to, expected] : cases) {
        CAPTURE(from, to);
        CHECK(numbers_in(from, to) == expected);
    }
}

TEST_CASE("in a window a tile's begin counts from the first of its execution's tiles") {
    const auto program = program_of(1, 0);
    Recorder recorder(program, machine_of(2), listeners::RecordedWindow{0, 1000});
    test::Told told(2, {&recorder});
    for (const Cycles late : {4, 7}) {
        ++told.step;
        told.does(0, Doing::Control, 20 + late);
        told.does(1, Doing::Control, 20);
        told.does(0, Doing::ComputeSet, 30);
        told.does(1, Doing::ComputeSet, 5);
        told.released(3);
    }
    REQUIRE(recorder.window_executions() == 2);
    CHECK(recorder.window_execution(0).begin == std::vector<std::uint32_t>{4, 0});
    CHECK(recorder.window_execution(1).begin == std::vector<std::uint32_t>{7, 0});
    CHECK(recorder.window_execution(1).cycles == std::vector<std::uint32_t>{30, 5});
    CHECK(recorder.window_execution(0).execution.begin == 20);
}

TEST_CASE("executions beyond what a window may hold are counted and not kept") {
    constexpr std::size_t kTiles = 2048;
    const auto program = program_of(1, 0);
    Recorder recorder(program, machine_of(kTiles), listeners::RecordedWindow{0, 1'000'000'000});
    test::Told told(kTiles, {&recorder});
    std::mt19937 random(3);
    constexpr std::int64_t kTimes = 3000; // some four bytes a tile, which do not compress well
    std::vector<test::Told::Share> shares(kTiles);
    for (std::int64_t time = 0; time < kTimes; ++time) {
        for (std::size_t tile = 0; tile < kTiles; ++tile) {
            shares[tile] = {static_cast<TileId>(tile), 1 + static_cast<Cycles>(random() % 60'000)};
        }
        told.phase(Doing::ComputeSet, 0, shares);
    }
    CHECK(recorder.window_left_out() > 0);
    CHECK(static_cast<std::int64_t>(recorder.window_executions()) + recorder.window_left_out() ==
          kTimes);
    CHECK(recorder.bytes() < 2 * Recorder::kMostWindowBytes);
}

TEST_CASE("executions and releases beyond what is kept are counted, and count in their columns") {
    constexpr std::size_t kMost = Recorder::kMostEvents;
    const auto program = program_of(1, 0);
    Recorder recorder(program, machine_of(1));
    test::Told told(1, {&recorder});
    for (std::size_t done = 0; done < kMost; ++done) {
        told.phase(Doing::ComputeSet, 0, {{0, 3}});
    }
    CHECK(recorder.executions().size() == kMost);
    CHECK(recorder.executions_left_out() == 0);
    CHECK(recorder.releases().size() == kMost);
    CHECK(recorder.releases_left_out() == 0);
    told.phase(Doing::ComputeSet, 0, {{0, 5}});
    told.phase(Doing::ComputeSet, 0, {{0, 4}});
    CHECK(recorder.executions().size() == kMost);
    CHECK(recorder.executions_left_out() == 2);
    CHECK(recorder.releases().size() == kMost);
    CHECK(recorder.releases_left_out() == 2);
    CHECK(recorder.steps()[0].executions == static_cast<std::int64_t>(kMost) + 2);
    CHECK(columns_of(recorder, 0).at("most") == Numbers{5});
    CHECK(columns_of(recorder, 0).at("last") == Numbers{4});
}

TEST_CASE("of a step that has not run there is nothing") {
    const auto program = program_of(2, 0);
    Recorder recorder(program, machine_of(2));
    test::Told told(2, {&recorder});
    told.phase(Doing::ComputeSet, 1, {{0, 5}});
    CHECK(recorder.columns(0).empty());
    CHECK_FALSE(recorder.columns(1).empty());
}

TEST_CASE("what is packed in between comes out as it went in, and memory stays below its limit") {
    constexpr std::size_t kTiles = 64;
    constexpr std::size_t kSteps = 30'000; // raw some 46 MB
    const auto program = program_of(kSteps, 0);
    Recorder recorder(program, machine_of(kTiles));
    test::Told told(kTiles, {&recorder});
    std::mt19937 random(7);
    std::map<std::size_t, std::pair<Numbers, Numbers>> most_and_last;
    const auto run = [&](std::size_t set) {
        std::vector<test::Told::Share> shares;
        auto& [most, last] = most_and_last[set];
        most.resize(kTiles);
        last.resize(kTiles);
        for (std::size_t tile = 0; tile < kTiles; ++tile) {
            const Cycles cycles = 1 + static_cast<Cycles>(random() % 1000);
            shares.push_back({static_cast<TileId>(tile), cycles});
            last[tile] = static_cast<std::uint64_t>(cycles);
            most[tile] = std::max(most[tile], last[tile]);
        }
        told.phase(Doing::ComputeSet, static_cast<std::uint32_t>(set), shares);
    };
    for (std::size_t set = 0; set < kSteps; ++set) {
        run(set);
    }
    CHECK(recorder.bytes() < std::size_t{64} << 20U);
    for (const std::size_t again : {std::size_t{0}, std::size_t{1}, kSteps / 2, kSteps - 1}) {
        run(again);
        const auto columns = columns_of(recorder, again);
        CHECK(columns.at("most") == most_and_last[again].first);
        CHECK(columns.at("last") == most_and_last[again].second);
    }
}
