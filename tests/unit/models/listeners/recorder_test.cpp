// SPDX-License-Identifier: MIT
// What a recorder keeps of runs made up span by span.
#include "models/listeners/account.h"
#include "models/listeners/recorder.h"
#include "tests/unit/models/listeners/told.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <vector>

using namespace tessera;
using events::Doing;
using listeners::Recorder;
using Column = listeners::RecordedColumn;
using Numbers = std::vector<std::uint64_t>;

namespace {

program::Program program_of(std::size_t compute_sets, std::size_t exchanges) {
    program::Program program;
    program.compute_sets.resize(compute_sets);
    program.exchanges.resize(exchanges);
    return program;
}

std::map<Column, Numbers> columns_of(const Recorder& recorder, std::size_t step) {
    std::map<Column, Numbers> columns;
    for (const auto& [column, numbers] : recorder.columns(step)) {
        columns[column] = numbers;
    }
    return columns;
}

events::Work work_of(std::int64_t issues, std::int64_t steps) {
    events::Work work;
    work.counts.at(counts::Group::WorkerIssues, counts::Class::Matrix) = issues;
    work.counts.at(counts::Group::MatrixSteps, counts::MatrixStep::F16v4Siso) = steps;
    return work;
}

} // namespace

TEST_CASE("a step that ran once has begins, issues and matrix steps by tile") {
    const auto program = program_of(1, 0);
    Recorder recorder(program, 3);
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
    CHECK(columns.size() == 3);
    CHECK(columns.at(Column::Begin) == Numbers{0, listeners::kNoPart, 2});
    CHECK(columns.at(Column::Issues) == Numbers{80, 0, 30});
    CHECK(columns.at(Column::MatrixSteps) == Numbers{40, 0, 10});
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
    Recorder recorder(program, 2);
    test::Told told(2, {&recorder});
    for (const auto& [one, other] : {std::pair{30, 20}, {10, 60}, {40, 15}}) {
        told.phase(Doing::ComputeSet, 0, {{0, one}, {1, other}});
        told.phase(Doing::Exchange, 0, {{0, 5}, {1, 6}}, {}, {.in = 3, .out = 4});
    }
    const auto columns = columns_of(recorder, 0);
    CHECK(columns.at(Column::First) == Numbers{30, 20});
    CHECK(columns.at(Column::Last) == Numbers{40, 15});
    CHECK(columns.at(Column::Least) == Numbers{10, 15});
    CHECK(columns.at(Column::Most) == Numbers{40, 60});
    CHECK(columns.at(Column::Slowest) == Numbers{10, 60});
    CHECK(columns.at(Column::Begin) == Numbers{0, 0});
    const auto exchange = columns_of(recorder, 1);
    CHECK(exchange.at(Column::Received) == Numbers{9, 9});
    CHECK(exchange.at(Column::Sent) == Numbers{12, 12});
    CHECK_FALSE(exchange.contains(Column::Issues));
    CHECK(recorder.steps()[0].executions == 3);
    REQUIRE(recorder.executions().size() == 6);
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(recorder.executions()[i].step == i % 2);
        CHECK((i == 0 || recorder.executions()[i].begin == recorder.executions()[i - 1].end));
    }
}

TEST_CASE("of a step that has not run there is nothing") {
    const auto program = program_of(2, 0);
    Recorder recorder(program, 2);
    test::Told told(2, {&recorder});
    told.phase(Doing::ComputeSet, 1, {{0, 5}});
    CHECK(recorder.columns(0).empty());
    CHECK_FALSE(recorder.columns(1).empty());
}

TEST_CASE("what is packed in between comes out as it went in, and memory stays below its limit") {
    constexpr std::size_t kTiles = 64;
    constexpr std::size_t kSteps = 30'000; // raw some 46 MB
    const auto program = program_of(kSteps, 0);
    Recorder recorder(program, kTiles);
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
        CHECK(columns.at(Column::Most) == most_and_last[again].first);
        CHECK(columns.at(Column::Last) == most_and_last[again].second);
    }
}
