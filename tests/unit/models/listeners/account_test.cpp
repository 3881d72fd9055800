// SPDX-License-Identifier: MIT
// Where cycles go: runs made up span by span.
#include "base/error.h"
#include "models/listeners/account.h"
#include "models/listeners/laws.h"
#include "tests/support/counted.h"
#include "tests/unit/models/listeners/told.h"

#include <catch2/catch.hpp>

#include <array>
#include <tuple>
#include <vector>

using namespace tessera;
using counts::Group;
using events::Doing;

namespace {

program::Program two_sets() {
    program::Program program;
    program.compute_sets.resize(2);
    program.exchanges.resize(1);
    program.remote_buffers.resize(1);
    program.stream_copies.resize(1);
    return program;
}

void check_sums(const listeners::Account& account) {
    for (const auto& tile : account.tiles()) {
        CHECK(tile.sum() == account.cycles());
        CHECK(tile.idle >= 0);
    }
}

} // namespace

TEST_CASE("the machine's cycles are the critical tile's, a tile's own five kinds sum to the run") {
    const auto program = two_sets();
    listeners::Account account(program, 3);
    listeners::Laws laws(program, account);
    test::Told run(3, {&account, &laws});
    // Tile 0 is the slowest in the first set, tile 1 in the second and in both together.
    run.does(0, Doing::ComputeSet, 40, 0, {.bound_cycles = 30, .uneven = {}});
    run.does(1, Doing::ComputeSet, 30, 0, {.bound_cycles = 25, .uneven = {}});
    run.step = 2;
    run.does(0, Doing::ComputeSet, 10, 1);
    run.does(1, Doing::ComputeSet, 50, 1);
    run.released(7);
    run.step = 3;
    for (const TileId tile : {0U, 1U, 2U}) {
        run.does(tile, Doing::Control, 5);
        run.does(tile, Doing::Told, 9);
    }
    run.does(2, Doing::ComputeSet, 20, 0, {.bound_cycles = 20, .uneven = {}});
    run.released(0);
    CHECK(account.cycles() == 80 + 7 + 14 + 20);
    CHECK(account.phases().compute == 80 + 5 + 20);
    CHECK(account.phases().exchange == 9);
    CHECK(account.phases().sync == 7);
    CHECK(account.control_cycles() == 5 + 9);
    const auto& first = account.compute_sets()[0];
    CHECK(first.cycles == 30 + 20);
    CHECK(first.slowest_cycles == 40 + 20);
    CHECK(first.bound_cycles == 30 + 20);
    CHECK(first.executions == 2);
    CHECK(first.active_tiles == 1);
    CHECK(first.slowest_tile == 2);
    CHECK(first.tile_cycles == std::vector<Cycles>{40, 30, 20});
    const auto& second = account.compute_sets()[1];
    CHECK(second.cycles == 50);
    CHECK(second.slowest_tile == 1);
    CHECK(second.active_tiles == 2);
    CHECK(account.tiles()[0].idle == 30 + 20);
    CHECK(account.tiles()[2].idle == 80);
    check_sums(account);
    CHECK_NOTHROW(laws.check());
}

TEST_CASE("of equally slow tiles the lowest is named, in whatever order they are told") {
    for (const auto& order : {std::array{1U, 2U, 3U}, std::array{3U, 2U, 1U}}) {
        const auto program = two_sets();
        listeners::Account account(program, 4);
        test::Told run(4, {&account});
        for (const TileId tile : order) {
            run.does(tile, Doing::ComputeSet, tile == 1 ? 10 : 30, 0);
        }
        run.released(1);
        CHECK(account.compute_sets()[0].slowest_tile == 2);
        CHECK(account.compute_sets()[0].active_tiles == 3);
    }
}

TEST_CASE(
    "what the critical path did is that of its own tiles, mean tiles are those that take part") {
    const auto program = two_sets();
    listeners::Account account(program, 4);
    test::Told run(4, {&account});
    const auto work = [](Cycles bound, std::int64_t launch, Cycles busiest, Cycles mean) {
        return events::Work{.counts = test::counted({{Group::Launches, 2}}),
                            .bound_cycles = bound,
                            .busiest_worker_cycles = busiest + 5,
                            .mean_worker_cycles = mean + 5,
                            .uneven = {launch, 1, busiest, mean}};
    };
    run.does(0, Doing::ComputeSet, 40, 0, work(39, 1, 20, 10)); // busier, but not critical
    run.does(1, Doing::ComputeSet, 50, 0, work(30, 2, 25, 16));
    run.released(0);
    run.does(2, Doing::ComputeSet, 70, 0, work(90, 1, 60, 20)); // a bound of more than its time
    run.released(0);
    const auto& record = account.compute_sets()[0];
    CHECK(record.bound_cycles == 39 + 90);
    CHECK(record.critical.bound_cycles == 30 + 70);
    CHECK(record.critical.work.busiest_worker_cycles == 25 + 5 + 60 + 5);
    CHECK(record.critical.work.mean_worker_cycles == 16 + 5 + 20 + 5);
    CHECK(record.critical.work.counts.launches() == 4);
    CHECK(record.critical.uneven_tile == 2);
    CHECK(record.critical.work.uneven.busiest == 60);
    CHECK(record.counts.launches() == 6);
    CHECK(record.busiest_worker == std::vector<Cycles>{25, 30, 65, 0});
    CHECK(record.mean_worker == std::vector<Cycles>{15, 21, 25, 0});
    // two tiles in the first execution, one in the second
    CHECK(record.mean.cycles == (40 + 50) / 2.0 + 70);
    CHECK(record.mean.busiest_worker == (25 + 30) / 2.0 + 65);
    CHECK(record.mean.mean_worker == (15 + 21) / 2.0 + 25);
    CHECK(record.mean.launches == 2 + 2);
    REQUIRE(record.path.size() == 2);
    CHECK(record.path[0].parts == 1);
}

TEST_CASE("a launch that is as uneven as one before is not told instead of it") {
    const auto program = two_sets();
    listeners::Account account(program, 4);
    test::Told run(4, {&account});
    for (const TileId tile : {3U, 1U}) {
        run.does(tile, Doing::ComputeSet, 50, 0, {.uneven = {1, 0, 30, 20}});
        run.released(0);
    }
    CHECK(account.compute_sets()[0].critical.uneven_tile == 3);
}

TEST_CASE("the bound of an exchange on the critical path is the fuller lane of its tile") {
    const auto program = two_sets();
    listeners::Account account(program, 4);
    test::Told run(4, {&account});
    run.moved({.bound_cycles = 90});
    run.does(0, Doing::Exchange, 95, 0, {}, {90, 3});
    run.does(1, Doing::Exchange, 80, 0, {}, {4, 60});
    run.step = 2;
    run.does(1, Doing::ComputeSet, 100, 0);
    run.released(0);
    const auto& record = account.exchanges()[0];
    CHECK(record.cycles == 80);
    CHECK(record.bound_cycles == 90);
    CHECK(record.critical.bound_cycles == 60);
    CHECK(record.critical.lane_in == 4);
    CHECK(record.critical.lane_out == 60);
    CHECK(record.mean.fuller_lane == (90 + 60) / 2.0);
}

TEST_CASE("the bound of a link exchange on the critical path is that of its execution") {
    auto program = two_sets();
    program.link_exchanges.resize(2);
    listeners::Account account(program, 4);
    test::Told run(4, {&account});
    run.linked({.exchange = 1, .end = 80, .bound_cycles = 70, .bound_by = "turn"});
    run.phase(Doing::Link, 1, {{1, 80}, {2, 75}});
    run.linked({.exchange = 1, .begin = 80, .end = 120, .bound_cycles = 60, .bound_by = "edge"});
    run.phase(Doing::Link, 1, {{2, 40}}); // less than the bound, which is of the whole chip
    const auto& record = account.links()[1];
    CHECK(record.bound_cycles == 70 + 60);
    CHECK(record.critical.bound_cycles == 70 + 40);
    CHECK(record.bound_by == "edge");
    CHECK(account.links()[0].critical.bound_cycles == 0);
}

TEST_CASE("the bound of a stream copy on the critical path is the service in that time") {
    const auto program = two_sets();
    for (const auto& [begin, end, bound] : {std::tuple<Cycles, Cycles, Cycles>{10, 40, 30},
                                            {-20, 30, 30},
                                            {30, 80, 15},
                                            {45, 60, 0}}) {
        listeners::Account account(program, 4);
        test::Told run(4, {&account});
        run.ended(
            {.begin = -20, .service_begin = begin, .service_end = end, .end = 90, .tiles = {}});
        run.phase(Doing::Stream, 0, {{1, 45}}); // cycles 0 to 45
        CHECK(account.streams()[0].critical.bound_cycles == bound);
        run.phase(Doing::Stream, 0, {{1, 45}}); // the next wait is for another execution
        CHECK(account.streams()[0].critical.bound_cycles == bound);
    }
}

TEST_CASE("what a copy waits for on the critical path is its own service, not another copy's") {
    program::Program program = two_sets();
    program.stream_copies.resize(2);
    listeners::Account account(program, 2);
    test::Told run(2, {&account});
    const std::array<std::pair<Cycles, Cycles>, 2> service{{{5, 25}, {25, 60}}};
    for (std::uint32_t copy = 0; copy < service.size(); ++copy) {
        const auto& [begin, end] = service[copy];
        run.ended(
            {.copy = copy, .service_begin = begin, .service_end = end, .end = end, .tiles = {}});
    }
    run.does(0, Doing::Stream, 40, 0);
    run.step = 2;
    run.does(0, Doing::Stream, 20, 1);
    run.released(0);
    CHECK(account.streams()[0].critical.bound_cycles == 25 - 5);
    CHECK(account.streams()[1].critical.bound_cycles == 60 - 40);
}

TEST_CASE("bytes of copies are counted by the link and the way that they take") {
    using counts::Stream;
    program::Program program = two_sets();
    listeners::Account account(program, 1);
    test::Told run(1, {&account});
    Bytes all = 0;
    Bytes bytes = 8;
    Cycles transfers = 0;
    Cycles services = 0;
    std::vector<std::pair<Stream, Bytes>> expected;
    for (const auto& [name, read, port] :
         {std::tuple{events::kStreamingMemoryPort, true, Stream::MemoryRead},
          std::tuple{events::kStreamingMemoryPort, false, Stream::MemoryWrite},
          std::tuple{events::kHostPort, true, Stream::HostRead},
          std::tuple{events::kHostPort, false, Stream::HostWrite}}) {
        const Cycles wait = bytes;
        const Cycles service = 3 * bytes;
        run.ended({.port = name,
                   .read = read,
                   .begin = 100,
                   .service_begin = 100 + wait,
                   .service_end = 100 + wait + service,
                   .end = 100 + wait + service + 7,
                   .sent_bytes = bytes + 4,
                   .bytes = bytes,
                   .tiles = {}});
        expected.emplace_back(port, bytes);
        all += bytes;
        transfers += wait + service + 7;
        services += service;
        bytes *= 2;
    }
    const auto& record = account.streams()[0];
    for (const auto& [port, moved] : expected) {
        CHECK(record.counts.at(Group::StreamBytes, port) == moved);
        CHECK(account.counts().at(Group::StreamBytes, port) == moved);
    }
    CHECK(record.bytes == all);
    CHECK(record.sent_bytes == all + 4 * 4);
    CHECK(record.executions == 4);
    CHECK(record.transfer_cycles == transfers);
    CHECK(record.bound_cycles == services);
}

TEST_CASE(
    "words of an exchange, its rounds and its barriers are counted as often as they are told") {
    constexpr Bytes kWord = 4;
    const auto program = two_sets();
    listeners::Account account(program, 2);
    test::Told run(2, {&account});
    Bytes received = 0;
    Bytes sent = 0;
    std::int64_t rounds = 0;
    Cycles bounds = 0;
    for (const std::int64_t times : {1, 5}) {
        const events::Moved moved{.bytes = 24 * kWord * times,
                                  .sent_bytes = 10 * kWord * times,
                                  .bound_cycles = 30 * times,
                                  .times = times};
        run.moved(moved);
        received += moved.bytes;
        sent += moved.sent_bytes;
        bounds += moved.bound_cycles;
        rounds += times;
    }
    const auto& record = account.exchanges()[0];
    CHECK(record.bytes == received);
    CHECK(record.sent_bytes == sent);
    CHECK(record.counts.at(Group::Words, counts::Word::Received) == received / kWord);
    CHECK(record.counts.at(Group::Words, counts::Word::Sent) == sent / kWord);
    CHECK(record.counts.at(Group::Barriers, counts::Only::All) == rounds);
    CHECK(record.executions == rounds);
    CHECK(record.bound_cycles == bounds);
}

TEST_CASE("barriers of a run are those that it is told, but for the program's end") {
    const auto program = two_sets();
    listeners::Account account(program, 1);
    std::int64_t barriers = 0;
    for (const bool ends : {false, false, true}) {
        for (const std::int64_t times : {1, 4}) {
            account.released({.ends_program = ends, .path = {}, .times = times});
            barriers += ends ? 0 : times;
            CHECK(account.counts().at(Group::Barriers, counts::Only::All) == barriers);
        }
    }
}

TEST_CASE("a part of the path that is told as several rounds counts as so many") {
    const auto program = two_sets();
    listeners::Account account(program, 1);
    std::int64_t parts = 0;
    Cycles at = 0;
    for (const std::int64_t times : {1, 6, 2}) {
        const events::PathSpan part{
            0, {.doing = Doing::ComputeSet, .begin = at, .end = at + 10 * times, .times = times}};
        at = part.span.end;
        account.released({.last_arrival = at, .cycle = at, .path = {&part, 1}});
        parts += times;
        REQUIRE(account.compute_sets()[0].path.size() == 1);
        CHECK(account.compute_sets()[0].path[0].parts == parts);
        CHECK(account.compute_sets()[0].path[0].cycles == at);
        CHECK(account.path()[0].parts == parts);
    }
}

TEST_CASE("work of all tiles is added up") {
    const auto program = two_sets();
    listeners::Account account(program, 2);
    test::Told run(2, {&account});
    run.does(0, Doing::ComputeSet, 10, 0,
             {.counts = test::counted({{Group::WorkerIssues, 6},
                                       {Group::WorkerBundles, 5},
                                       {Group::SupervisorInstructions, 2}}),
              .uneven = {}});
    run.does(1, Doing::ComputeSet, 10, 0,
             {.counts = test::counted({{Group::WorkerIssues, 1},
                                       {Group::WorkerBundles, 1},
                                       {Group::SupervisorInstructions, 3}}),
              .uneven = {}});
    run.released(1);
    const auto& record = account.compute_sets()[0];
    CHECK(record.counts.worker_issues() == 7);
    CHECK(record.counts.worker_bundles() == 6);
    CHECK(record.counts.supervisor_instructions() == 5);
}

TEST_CASE("a tile that would idle streams while a copy of it is under way in the background") {
    const auto program = two_sets();
    const std::array<TileId, 1> tiles{2};
    for (const auto& [begin, end] : {std::pair<Cycles, Cycles>{0, 60},
                                     {0, 100},
                                     {0, 103},
                                     {0, 130},
                                     {0, 400},
                                     {30, 60},
                                     {30, 400}}) {
        CAPTURE(begin, end);
        listeners::Account account(program, 4);
        test::Told run(4, {&account});
        run.begun({.background = true, .begin = begin, .end = end, .tiles = tiles});
        run.does(0, Doing::ComputeSet, 100, 0);
        run.released(5);
        run.step = 2;
        run.does(2, Doing::ComputeSet, 10, 1);
        run.does(0, Doing::ComputeSet, 100, 1);
        run.released(0);
        const auto meanwhile = [&](Cycles from, Cycles to) {
            return std::max<Cycles>(0, std::min(to, end) - std::max(from, begin));
        };
        CHECK(account.tiles()[2].stream == meanwhile(0, 100) + meanwhile(115, 205));
        CHECK(account.tiles()[3].stream == 0);
        CHECK(account.phases().stream == 0);
        check_sums(account);
    }
}

TEST_CASE("a tile streams to the end of the longest of its copies") {
    const auto program = two_sets();
    const std::array<TileId, 1> tiles{2};
    for (const Cycles later : {60, 130, 250}) {
        listeners::Account account(program, 4);
        test::Told run(4, {&account});
        run.begun({.background = true, .begin = 0, .end = 200, .tiles = tiles});
        run.begun({.background = true, .begin = 20, .end = later, .tiles = tiles});
        run.does(0, Doing::ComputeSet, 150, 0);
        run.released(0);
        run.does(0, Doing::ComputeSet, 150, 0);
        run.released(0);
        CHECK(account.tiles()[2].stream == std::max<Cycles>(200, later));
    }
}

TEST_CASE("between two copies of a tile it idles") {
    const auto program = two_sets();
    const std::array<TileId, 1> tiles{1};
    listeners::Account account(program, 2);
    test::Told run(2, {&account});
    run.begun({.background = true, .begin = 0, .end = 20, .tiles = tiles});
    run.begun({.background = true, .begin = 50, .end = 70, .tiles = tiles});
    run.does(0, Doing::ComputeSet, 60, 0);
    run.released(0);
    CHECK(account.tiles()[1].stream == 20 + 10);
    CHECK(account.tiles()[1].idle == 30);
}

TEST_CASE("spans of a tile with a gap, or a path that ends early, break a law") {
    const auto program = two_sets();
    const listeners::Account account(program, 2);
    listeners::Laws laws(program, account);
    const events::Span first{.doing = Doing::Control, .begin = 0, .end = 5};
    const events::Span gap{.doing = Doing::Control, .begin = 6, .end = 9};
    const auto tell = [&](const events::Span& span, Cycles end) {
        laws.segment({.tile = 1, .begin = 0, .end = end, .spans = {&span, 1}, .contexts = {}});
    };
    CHECK_NOTHROW(tell(first, 5));
    CHECK_THROWS_WITH(tell(gap, 9), "tile_1: got a span of cycles [6, 9), expected it to begin at "
                                    "5 and to last");
    const events::Span next{.doing = Doing::Control, .begin = 5, .end = 9};
    CHECK_THROWS_WITH(tell(next, 10), "tile_1: got spans up to cycle 9, expected 10");
    const std::array<events::PathSpan, 1> path{{{1, first}}};
    CHECK_THROWS_WITH(laws.released({.last_arrival = 9, .cycle = 9, .critical = 1, .path = path}),
                      Catch::StartsWith("critical path: got it up to cycle 5, expected 9"));
    const std::array<events::PathSpan, 2> whole{{{1, first}, {1, next}}};
    CHECK_THROWS_AS(laws.released({.last_arrival = 9, .cycle = 9, .critical = 0, .path = whole}),
                    ProgramError);
    CHECK_NOTHROW(laws.released({.last_arrival = 9, .cycle = 12, .critical = 1, .path = whole}));
    CHECK_THROWS_AS(laws.released({.last_arrival = 14, .cycle = 15, .critical = 0, .path = {}}),
                    ProgramError);
}
