// SPDX-License-Identifier: MIT
// Stream copies on a chip of four tiles: what waits for them and what runs beside them.
#include "base/error.h"
#include "models/listeners/trace_producer.h"
#include "models/simulation/simulation.h"
#include "models/timing/control_timing.h"
#include "models/timing/port_timing.h"
#include "tests/component/hand_program.h"
#include "traces/coverage.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <vector>

using namespace tessera;
using program::StreamCopy;
using test::HandProgram;
using Kind = program::Step::Kind;

namespace {

constexpr Address kRow = 0x80000;
constexpr std::int64_t kRowBytes = 4096;
constexpr program::ArrayId kFar = program::remote_buffer(0);

/// A buffer of 16 rows; copy 0 reads a row into tile 3, copy 1 writes one from tile 3.
HandProgram streaming_program(program::RemoteBuffer::Place place) {
    HandProgram hand(test::four_tiles(), test::kStubs);
    auto& program = hand.program();
    program.remote_buffers.push_back({"far", place, 16, kRowBytes});
    program.stream_copies.push_back(
        {"load", 0, StreamCopy::Direction::Read, 1, {{3, kRow, kRowBytes, 0}}});
    program.stream_copies.push_back(
        {"store", 0, StreamCopy::Direction::Write, 1, {{3, kRow, kRowBytes, 0}}});
    program.io_tiles = {3};
    return hand;
}

HandProgram streaming_program() {
    return streaming_program(program::RemoteBuffer::Place::StreamingMemory);
}

program::Step stream(Kind kind, std::uint32_t copy, std::int64_t row = 0) {
    auto made = HandProgram::step(kind, copy);
    made.row = row;
    return made;
}

/// Row r of 32-bit words r, r, ...
std::vector<std::uint32_t> numbered_rows() {
    std::vector<std::uint32_t> words;
    for (std::uint32_t row = 0; row < 16; ++row) {
        words.insert(words.end(), static_cast<std::size_t>(kRowBytes / 4), row);
    }
    return words;
}

std::uint32_t first_word(const std::vector<std::byte>& bytes, std::int64_t row) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + row * kRowBytes, sizeof word);
    return word;
}

Cycles alone(const timing::PortTiming& link, bool read) {
    return link.service_cycles(read, link.requested_bytes(kRowBytes), kRowBytes) +
           link.latency_cycles;
}

void check_accounts(const simulation::Simulation& simulation) {
    const auto& account = simulation.account();
    CHECK(simulation.systemc_cycles() == account.cycles());
    for (const auto& tile : account.tiles()) {
        CHECK(tile.sum() == account.cycles());
        CHECK(tile.idle >= 0);
    }
    for (const auto& record : account.streams()) {
        CHECK(record.bytes == record.sent_bytes);
    }
}

} // namespace

TEST_CASE("a copy from row to row goes through tile memory and takes both ways") {
    HandProgram hand = streaming_program();
    hand.then(stream(Kind::StreamCopy, 0, 5)).then(stream(Kind::StreamCopy, 1, 9));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    const auto rows = numbered_rows();
    simulation.write(kFar, std::as_bytes(std::span(rows)));
    simulation.run();
    const auto far = simulation.read(kFar);
    CHECK(first_word(far, 9) == 5);
    CHECK(first_word(far, 8) == 8);
    const auto link = timing::streaming_port(hand.machine());
    const auto& account = simulation.account();
    CHECK(account.phases().stream == alone(link, true) + alone(link, false));
    CHECK(account.cycles() == account.phases().stream);
    CHECK(account.tiles()[3].stream == account.cycles());
    CHECK(account.tiles()[0].idle == account.cycles());
    CHECK(account.streams()[0].bytes == kRowBytes);
    CHECK(account.streams()[0].transfer_cycles == alone(link, true));
    check_accounts(simulation);
}

TEST_CASE("a remote buffer is written as a whole") {
    HandProgram hand = streaming_program();
    hand.then(stream(Kind::StreamCopy, 0));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    for (const std::int64_t bytes : {std::int64_t{0}, 15 * kRowBytes, 16 * kRowBytes - 1,
                                     16 * kRowBytes, 16 * kRowBytes + 1}) {
        CAPTURE(bytes);
        const std::vector<std::byte> host(static_cast<std::size_t>(bytes));
        if (bytes == 16 * kRowBytes) {
            CHECK_NOTHROW(simulation.write(kFar, host));
        } else {
            CHECK_THROWS_AS(simulation.write(kFar, host), ProgramError);
        }
    }
}

TEST_CASE("the host is another link") {
    HandProgram hand = streaming_program(program::RemoteBuffer::Place::Host);
    hand.then(stream(Kind::StreamCopy, 0));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    CHECK(simulation.account().cycles() == alone(timing::host_port(hand.machine()), true));
    check_accounts(simulation);
}

TEST_CASE("a copy in the background takes no time beside a longer computation") {
    HandProgram hand = streaming_program();
    const auto set = hand.compute_set("work", {{0, "loop_of_50"}, {1, "loop_of_50"}});
    constexpr std::uint32_t kRounds = 200;
    auto work = HandProgram::step(Kind::Repeat, 0, {HandProgram::step(Kind::ComputeSet, set)});
    work.count = kRounds;
    hand.then(stream(Kind::StreamStart, 0, 2)).then(work).then(stream(Kind::StreamWait, 0));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    const auto& machine = hand.machine();
    const auto& account = simulation.account();
    const Cycles computing =
        kRounds * (machine.control.step_cycles + hand.stub_cycles("loop_of_50") +
                   machine.control.repeat_cycles);
    const Cycles transfer = alone(timing::streaming_port(machine), true);
    REQUIRE(transfer < computing);
    CHECK(account.phases().stream == 0);
    // start and wait are steps of tile 3
    CHECK(account.cycles() == computing);
    // The control program's own cycles are every tile's; in the rest tile 3 streams.
    CHECK(account.tiles()[3].stream > transfer * 3 / 4);
    CHECK(account.tiles()[3].stream <= transfer);
    CHECK(account.tiles()[2].stream == 0);
    CHECK(account.streams()[0].transfer_cycles == transfer);
    check_accounts(simulation);
}

TEST_CASE("a copy's transfer has its wait for the link, its bound only its service") {
    HandProgram hand = streaming_program();
    constexpr std::uint32_t kSecond = 2;
    hand.program().stream_copies.push_back(
        {"load more", 0, StreamCopy::Direction::Read, 1, {{3, kRow + kRowBytes, kRowBytes, 0}}});
    hand.then(stream(Kind::StreamStart, 0, 1)).then(stream(Kind::StreamStart, kSecond, 2));
    hand.then(stream(Kind::StreamWait, 0)).then(stream(Kind::StreamWait, kSecond));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    const auto link = timing::streaming_port(hand.machine());
    const Cycles service = link.service_cycles(true, link.requested_bytes(kRowBytes), kRowBytes);
    const Cycles step = hand.machine().control.step_cycles;
    REQUIRE(step < service);
    const auto& streams = simulation.account().streams();
    CHECK(streams[0].transfer_cycles == service + link.latency_cycles);
    CHECK(streams[kSecond].transfer_cycles == 2 * service + link.latency_cycles - step);
    CHECK(streams[0].bound_cycles == service);
    CHECK(streams[kSecond].bound_cycles == service);
    check_accounts(simulation);
}

TEST_CASE("a wait lasts what is left of the copy") {
    HandProgram hand = streaming_program();
    const auto set = hand.compute_set("work", {{0, "loop_of_50"}});
    hand.then(stream(Kind::StreamStart, 0)).then_compute(set).then(stream(Kind::StreamWait, 0));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    const auto& control = hand.machine().control;
    const Cycles transfer = alone(timing::streaming_port(hand.machine()), true);
    const auto& account = simulation.account();
    CHECK(account.cycles() == transfer + control.step_cycles);
    // tile 3 waits from the step in which it has started the copy
    CHECK(account.phases().stream == transfer - control.step_cycles);
    check_accounts(simulation);
}

TEST_CASE("a word of the tile that asks says the row") {
    HandProgram hand = streaming_program();
    hand.program().images[3].segments.push_back(
        {0x90000, 4, program::SegmentKind::Tensor, "row", test::bytes_of_words({7})});
    auto load = stream(Kind::StreamCopy, 0);
    load.value = program::TileValue{3, 0x90000};
    hand.then(load).then(stream(Kind::StreamCopy, 1, 0));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    const auto rows = numbered_rows();
    simulation.write(kFar, std::as_bytes(std::span(rows)));
    simulation.run();
    CHECK(first_word(simulation.read(kFar), 0) == 7);
    CHECK(simulation.account().phases().sync == 0);
    check_accounts(simulation);
}

namespace {

void check_rows_by_round(bool timing) {
    constexpr std::uint32_t kRounds = 3;
    HandProgram hand = streaming_program();
    auto load = stream(Kind::StreamCopy, 0, 5);
    load.row_a_round = 1;
    auto store = stream(Kind::StreamCopy, 1, 12);
    store.row_a_round = -2;
    hand.then(load).then(store).repeated(kRounds);
    ipu::RunOptions options;
    if (timing) {
        options.timing = ipu::TimingOptions{4};
    }
    simulation::Simulation simulation(hand.machine(), hand.program(), std::move(options));
    if (!timing) {
        const auto rows = numbered_rows();
        simulation.write(kFar, std::as_bytes(std::span(rows)));
    }
    simulation.run();
    for (std::uint32_t round = 0; round < kRounds && !timing; ++round) {
        CHECK(first_word(simulation.read(kFar), 12 - 2 * round) == 5 + round);
    }
    const auto link = timing::streaming_port(hand.machine());
    CHECK(simulation.account().phases().stream ==
          kRounds * (alone(link, true) + alone(link, false)));
    CHECK(simulation.account().phases().sync == 0);
    CHECK(simulation.account().control_cycles() == kRounds * hand.machine().control.repeat_cycles);
    check_accounts(simulation);
}

} // namespace

TEST_CASE("each round of a repeat has rows of its own") {
    check_rows_by_round(false);
}

TEST_CASE("timing mode knows the rows of a round") {
    check_rows_by_round(true);
}

namespace {

/// Asks and ends in their order: "asked 5", "ended 5".
class AskedAndEnded final : public events::Listener {
public:
    explicit AskedAndEnded(std::vector<std::string>& told) : told_(told) {}
    void copy_ended(const events::Flight& flight) override {
        if (flight.read) {
            told_.push_back("ended " + std::to_string(flight.row));
        }
    }

private:
    std::vector<std::string>& told_;
};

/// Rounds in which rows 5, 6, 7 come and are put into rows 12, 11, 10, the host adding 100 to the words of
/// what it is asked for. Returns what was told.
std::vector<std::string> check_asked(program::RemoteBuffer::Place place, bool known, bool timing) {
    constexpr std::uint32_t kRounds = 3;
    constexpr std::uint32_t kAdded = 100;
    HandProgram hand = streaming_program(place);
    hand.program().remote_buffers[0].known = known;
    auto load = stream(Kind::StreamCopy, 0, 5);
    load.row_a_round = 1;
    auto store = stream(Kind::StreamCopy, 1, 12);
    store.row_a_round = -1;
    hand.then(load).then(store).repeated(kRounds);
    std::vector<std::string> told;
    AskedAndEnded ends(told);
    ipu::RunOptions options{.listeners = {&ends}};
    options.ask_host = [&](std::uint32_t copy, std::int64_t row, std::span<std::byte> rows) {
        CHECK(copy == 0);
        REQUIRE(rows.size() == static_cast<std::size_t>(kRowBytes));
        std::uint32_t word = 0;
        std::memcpy(&word, rows.data(), sizeof word);
        CHECK(word == static_cast<std::uint32_t>(row)); // as it was written before the run
        word += kAdded;
        std::memcpy(rows.data(), &word, sizeof word);
        told.push_back("asked " + std::to_string(row));
    };
    if (timing) {
        options.timing = ipu::TimingOptions{4};
    }
    simulation::Simulation simulation(hand.machine(), hand.program(), std::move(options));
    const auto rows = numbered_rows();
    if (!timing || known) {
        simulation.write(kFar, std::as_bytes(std::span(rows)));
    }
    simulation.run();
    const bool asks = place == program::RemoteBuffer::Place::Host && (known || !timing);
    for (std::uint32_t round = 0; round < kRounds && (known || !timing); ++round) {
        CHECK(first_word(simulation.read(kFar), 12 - static_cast<std::int64_t>(round)) ==
              5 + round + (asks ? kAdded : 0));
    }
    const auto link = place == program::RemoteBuffer::Place::Host
                          ? timing::host_port(hand.machine())
                          : timing::streaming_port(hand.machine());
    CHECK(simulation.account().phases().stream ==
          kRounds * (alone(link, true) + alone(link, false)));
    return told;
}

const std::vector<std::string> kAskedAsTheyBegin = {"asked 5", "ended 5", "asked 6",
                                                    "ended 6", "asked 7", "ended 7"};
const std::vector<std::string> kNeverAsked = {"ended 5", "ended 6", "ended 7"};

} // namespace

TEST_CASE("the host is asked for each row once, when its copy begins") {
    CHECK(check_asked(program::RemoteBuffer::Place::Host, false, false) == kAskedAsTheyBegin);
}

TEST_CASE("nobody is asked for rows in streaming memory") {
    CHECK(check_asked(program::RemoteBuffer::Place::StreamingMemory, false, false) == kNeverAsked);
}

TEST_CASE("timing mode asks the host for known rows") {
    CHECK(check_asked(program::RemoteBuffer::Place::Host, true, true) == kAskedAsTheyBegin);
}

TEST_CASE("a row that is not there in some round stops the run") {
    HandProgram hand = streaming_program();
    auto load = stream(Kind::StreamCopy, 0, 14);
    load.row_a_round = 1;
    hand.then(load).repeated(3);
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    CHECK_THROWS_WITH(simulation.run(), "stream copy load: got rows 16 to 17, expected them in the "
                                        "16 rows of far");
}

TEST_CASE("a word of another tile has to be told first") {
    HandProgram hand = streaming_program();
    hand.program().images[1].segments.push_back(
        {0x90000, 4, program::SegmentKind::Tensor, "row", test::bytes_of_words({7})});
    auto load = stream(Kind::StreamCopy, 0);
    load.value = program::TileValue{1, 0x90000};
    hand.then(load);
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    const auto& machine = hand.machine();
    CHECK(simulation.account().cycles() == machine.sync.internal_cycles +
                                               timing::word_broadcast_cycles(machine, 1) +
                                               alone(timing::streaming_port(machine), true));
    check_accounts(simulation);
}

TEST_CASE("a word of one of two tiles that copy has to be told to the other") {
    HandProgram hand = streaming_program();
    hand.program().images[2].segments.push_back(
        {0x90000, 4, program::SegmentKind::Tensor, "row", test::bytes_of_words({7})});
    hand.program().stream_copies.push_back(
        {"load both",
         0,
         StreamCopy::Direction::Read,
         2,
         {{2, kRow, kRowBytes, 0}, {3, kRow, kRowBytes, kRowBytes}}});
    constexpr std::uint32_t kBoth = 2;
    auto load = stream(Kind::StreamCopy, kBoth);
    load.value = program::TileValue{2, 0x90000};
    hand.then(load);
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    const auto& machine = hand.machine();
    CHECK(simulation.account().cycles() ==
          machine.sync.internal_cycles + timing::word_broadcast_cycles(machine, 2) +
              simulation.account().streams()[kBoth].transfer_cycles);
    check_accounts(simulation);
}

TEST_CASE("of tiles that come to a copy last and together the lowest is on the critical path") {
    HandProgram hand = streaming_program();
    constexpr std::int64_t kTaking = 3; // tiles 1, 2, 3
    StreamCopy all{"load all", 0, StreamCopy::Direction::Read, kTaking, {}};
    for (TileId tile = 1; tile <= kTaking; ++tile) {
        all.pieces.push_back({tile, kRow, kRowBytes, (tile - 1) * kRowBytes});
    }
    hand.program().stream_copies.push_back(all);
    const auto set = hand.compute_set("work", {{2, "loop_of_50"}, {3, "loop_of_50"}});
    hand.then_compute(set).then(stream(Kind::StreamCopy, 2));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    const auto& path = simulation.account().compute_sets()[set].path;
    REQUIRE(path.size() == 1);
    CHECK(path[0].tile == 2);
    CHECK(path[0].cycles == hand.machine().control.step_cycles + hand.stub_cycles("loop_of_50"));
    check_accounts(simulation);
}

TEST_CASE("a copy in the background on a tile that is no IO tile stops the run") {
    HandProgram hand = streaming_program();
    hand.program().io_tiles = {2};
    hand.then(stream(Kind::StreamStart, 0)).then(stream(Kind::StreamWait, 0));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    CHECK_THROWS_WITH(simulation.run(), Catch::Matchers::Contains("tile_3 is not an IO tile"));
}

TEST_CASE("a row that is not there stops the run") {
    HandProgram hand = streaming_program();
    hand.then(stream(Kind::StreamCopy, 0, 16));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    CHECK_THROWS_WITH(simulation.run(), "stream copy load: got rows 16 to 17, expected them in the "
                                        "16 rows of far");
}

TEST_CASE("a compute set on a tile that streams stops the run") {
    HandProgram hand = streaming_program();
    const auto set = hand.compute_set("work", {{3, "at_once"}});
    hand.then(stream(Kind::StreamStart, 0)).then_compute(set).then(stream(Kind::StreamWait, 0));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    CHECK_THROWS_WITH(simulation.run(),
                      "compute set work: tile_3 is to compute at cycle 11 while stream copy load, "
                      "under way, uses 0x80000 there");
}

TEST_CASE("an exchange of what a copy has stops the run, one beside it does not") {
    HandProgram hand = streaming_program();
    program::Transfer beside;
    beside.source_tile = 3;
    beside.source_address = kRow + static_cast<Address>(kRowBytes);
    beside.bytes = 64;
    beside.destinations = {{0, 0x90000}};
    auto inside = beside;
    inside.source_address -= 4;
    const auto good = hand.exchange("good", {beside});
    const auto bad = hand.exchange("bad", {inside});
    hand.then(stream(Kind::StreamStart, 0)).then_exchange(good).then_exchange(bad);
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    CHECK_THROWS_WITH(simulation.run(),
                      Catch::Matchers::StartsWith("exchange bad: uses tile_3, 0x80ffc at cycle ") &&
                          Catch::Matchers::EndsWith("while stream copy load, under way, has it"));
    CHECK(simulation.account().exchanges()[good].executions == 1);
}

namespace {

/// What stops a run in which an exchange into tile 3 follows the start of `copy`.
std::string stopped_by(std::uint32_t copy, Address destination) {
    HandProgram hand = streaming_program();
    program::Transfer into;
    into.source_tile = 0;
    into.source_address = 0x90000;
    into.bytes = 8;
    into.destinations = {{3, destination}};
    const auto exchange = hand.exchange("into", {into});
    hand.then(stream(Kind::StreamStart, copy)).then_exchange(exchange);
    hand.then(stream(Kind::StreamWait, copy));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    try {
        simulation.run();
    } catch (const ProgramError& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("an exchange into what a copy writes stops the run at its first byte") {
    CHECK_THAT(stopped_by(0, kRow - 4), Catch::Matchers::StartsWith("exchange into: uses tile_3"));
}

TEST_CASE("an exchange into what a copy reads stops the run at its last byte") {
    CHECK_THAT(stopped_by(1, kRow + kRowBytes - 4),
               Catch::Matchers::StartsWith("exchange into: uses tile_3"));
}

TEST_CASE("an exchange that ends before what a copy has does not stop the run") {
    CHECK(stopped_by(0, kRow - 8).empty());
}

TEST_CASE("an exchange that begins behind what a copy has does not stop the run") {
    CHECK(stopped_by(1, kRow + kRowBytes).empty());
}

namespace {

/// A decision on a word of tile 3 while copy 0 writes there.
std::string decided_on(Address address) {
    HandProgram hand = streaming_program();
    auto look = HandProgram::step(Kind::If, 0, {HandProgram::step(Kind::Sequence)});
    look.value = program::TileValue{3, address};
    hand.then(stream(Kind::StreamStart, 0)).then(look).then(stream(Kind::StreamWait, 0));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    try {
        simulation.run();
    } catch (const ProgramError& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("a decision on a word that a copy under way writes stops the run") {
    CHECK_THAT(decided_on(kRow + kRowBytes - 4),
               Catch::Matchers::StartsWith("a control step: uses tile_3, 0x80ffc"));
}

TEST_CASE("a decision on the first word that a copy under way writes stops the run") {
    CHECK_THAT(decided_on(kRow),
               Catch::Matchers::StartsWith("a control step: uses tile_3, 0x80000"));
}

TEST_CASE("a decision on a word behind a copy under way does not stop the run") {
    CHECK(decided_on(kRow + kRowBytes).empty());
}

TEST_CASE("a decision on a word before a copy under way does not stop the run") {
    CHECK(decided_on(kRow - 4).empty());
}

TEST_CASE("copies that queue take their wait too, and count each time") {
    HandProgram hand = streaming_program();
    auto& program = hand.program();
    program.io_tiles = {2, 3};
    program.stream_copies.push_back(
        {"load 2", 0, StreamCopy::Direction::Read, 1, {{2, kRow, kRowBytes, 0}}});
    std::vector<program::Step> body{stream(Kind::StreamStart, 0), stream(Kind::StreamStart, 2),
                                    stream(Kind::StreamWait, 0), stream(Kind::StreamWait, 2),
                                    HandProgram::step(Kind::Sync)};
    auto repeat = HandProgram::step(Kind::Repeat, 0, body);
    repeat.count = 3;
    hand.then(repeat);
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    const auto link = timing::streaming_port(hand.machine());
    const Cycles service = alone(link, true) - link.latency_cycles;
    const auto& streams = simulation.account().streams();
    CHECK(streams[0].transfer_cycles == 3 * alone(link, true));
    // the second one, another tile's, starts with the first and waits for the first one's service
    CHECK(streams[2].transfer_cycles == 3 * (alone(link, true) + service));
    for (const int copy : {0, 2}) {
        CHECK(streams[copy].executions == 3);
        CHECK(streams[copy].bytes == 3 * kRowBytes);
        CHECK(streams[copy].sent_bytes == 3 * kRowBytes);
        CHECK(streams[copy].bound_cycles == 3 * service);
    }
    check_accounts(simulation);
}

TEST_CASE("a copy that nothing waits for stops the run at its end") {
    HandProgram hand = streaming_program();
    hand.then(stream(Kind::StreamStart, 0));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    CHECK_THROWS_WITH(simulation.run(),
                      "stream copy load: under way at the end of the program, cycle 11: nothing "
                      "waits for it");
}

TEST_CASE("a wait for a copy that is not under way stops the run") {
    HandProgram hand = streaming_program();
    hand.then_compute(hand.compute_set("work", {{3, "loop_of_50"}}));
    hand.then(stream(Kind::StreamWait, 1));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    CHECK_THROWS_WITH(
        simulation.run(),
        fmt::format("stream copy store: waited for at cycle {} but not under way",
                    hand.machine().control.step_cycles + hand.stub_cycles("loop_of_50")));
}

TEST_CASE("a copy that is started again while it is under way stops the run") {
    HandProgram hand = streaming_program();
    hand.then(stream(Kind::StreamStart, 0)).then(stream(Kind::StreamStart, 0));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    CHECK_THROWS_WITH(simulation.run(),
                      fmt::format("stream copy load: started at cycle {} while it is under way",
                                  hand.machine().control.step_cycles));
}

TEST_CASE("streams are in the trace, on tiles and on their link") {
    HandProgram hand = streaming_program();
    const auto set = hand.compute_set("work", {{0, "loop_of_50"}});
    hand.then(stream(Kind::StreamStart, 0)).then_compute(set).then(stream(Kind::StreamWait, 0));
    hand.then(stream(Kind::StreamCopy, 1, 3));
    traces::Selection selection;
    selection.level = traces::Level::Tile;
    selection.tiles.assign(4, true);
    traces::CoverageSink sink(selection);
    traces::NameTable names;
    listeners::TraceProducer trace(hand.program(), hand.machine(), sink, names);
    ipu::RunOptions options;
    options.listeners = {&trace};
    simulation::Simulation simulation(hand.machine(), hand.program(), options);
    simulation.run();
    const auto& account = simulation.account();
    const auto stream_of = [&](traces::Track track) { return sink.totals(track)[3]; };
    CHECK(sink.problems(account.cycles()).empty());
    CHECK(stream_of(traces::machine_track()) == account.phases().stream);
    CHECK(stream_of(traces::tile_track(3)) == account.tiles()[3].stream);
    CHECK(sink.totals(traces::tile_track(3))[4] == account.tiles()[3].idle);
    CHECK(stream_of(traces::port_track(traces::Port::StreamingMemory, true)) ==
          account.streams()[0].bound_cycles);
    CHECK(stream_of(traces::port_track(traces::Port::StreamingMemory, false)) ==
          account.streams()[1].bound_cycles);
    CHECK(stream_of(traces::port_track(traces::Port::Host, true)) == 0);
}

namespace {

constexpr const char* kSpin = R"(
.supervisor
.globl spin
spin:
    setzi $m1, 0x80000
    ld32 $m0, $m1, $mzero, 0
1:  brnzdec $m0, 1b
    br $lr
)";

/// Tile 3 spins as often as the word says that it reads from row 2, where it may have put one that is
/// unknown before.
void check_known_rows(bool known, bool spoilt) {
    constexpr std::uint32_t kTurns = 7;
    constexpr Cycles kTurn = 6; // of the supervisor, which waits for its own result
    HandProgram hand(test::four_tiles(), kSpin);
    auto& program = hand.program();
    program.remote_buffers.push_back(
        {"far", program::RemoteBuffer::Place::StreamingMemory, 16, kRowBytes, known});
    for (const auto direction : {StreamCopy::Direction::Read, StreamCopy::Direction::Write}) {
        program.stream_copies.push_back(
            {direction == StreamCopy::Direction::Read ? "load" : "store",
             0,
             direction,
             1,
             {{3, kRow, kRowBytes, 0}}});
    }
    const auto spin = hand.compute_set("spin", {{3, "spin"}});
    if (spoilt) {
        hand.then(stream(Kind::StreamCopy, 1, 2));
    }
    hand.then(stream(Kind::StreamCopy, 0, 2)).then_compute(spin);
    ipu::RunOptions options;
    options.timing = ipu::TimingOptions{4};
    simulation::Simulation simulation(hand.machine(), hand.program(), std::move(options));
    const std::vector<std::uint32_t> rows(static_cast<std::size_t>(16 * kRowBytes / 4), kTurns);
    simulation.write(kFar, std::as_bytes(std::span(rows)));
    if (!known || spoilt) {
        CHECK_THROWS_AS(simulation.run(), NeedsData);
        return;
    }
    simulation.run();
    CHECK(simulation.account().compute_sets()[spin].slowest_cycles ==
          hand.machine().control.step_cycles + hand.stub_cycles("spin", 3) + kTurn * kTurns);
    check_accounts(simulation);
}

} // namespace

TEST_CASE("rows of a known buffer are known where they come", "[component][system]") {
    check_known_rows(true, false);
}
TEST_CASE("rows of another buffer are not", "[component][system]") {
    check_known_rows(false, false);
}
TEST_CASE("what a tile puts into a known buffer is known if it was", "[component][system]") {
    check_known_rows(true, true);
}

namespace {

/// A step of copy 0, which reads a row into tile 3, or of copy 1, which writes one; or of copy 2, which
/// reads from a buffer that is not known.
struct RowStep {
    std::uint32_t copy;
    std::int64_t row;
};

/// A known row comes to tile 3; tile 0 replaces its word 1 by one that is unknown. Behind `steps` tile
/// 3 spins as often as its word `looked_at` says. Returns whether that is known.
bool is_known_behind(const std::vector<RowStep>& steps, std::uint32_t looked_at) {
    constexpr std::uint32_t kTurns = 7;
    HandProgram hand(test::four_tiles(), fmt::format(R"(
.supervisor
.globl spin
spin:
    setzi $m1, {:#x}
    ld32 $m0, $m1, $mzero, {}
1:  brnzdec $m0, 1b
    br $lr
)",
                                                     kRow, looked_at));
    auto& program = hand.program();
    for (const bool known : {true, false}) {
        program.remote_buffers.push_back({known ? "far" : "other",
                                          program::RemoteBuffer::Place::StreamingMemory, 16,
                                          kRowBytes, known});
    }
    const std::vector<program::StreamPiece> row{{3, kRow, kRowBytes, 0}};
    program.stream_copies = {{"load", 0, StreamCopy::Direction::Read, 1, row},
                             {"store", 0, StreamCopy::Direction::Write, 1, row},
                             {"load other", 1, StreamCopy::Direction::Read, 1, row}};
    program::Transfer spoil;
    spoil.source_tile = 0;
    spoil.source_address = 0x90000;
    spoil.bytes = 4;
    spoil.destinations = {{3, kRow + 4}};
    const auto exchange = hand.exchange("spoil", {spoil});
    const auto spin = hand.compute_set("spin", {{3, "spin"}});
    hand.then(stream(Kind::StreamCopy, 0, 2)).then_exchange(exchange);
    for (const RowStep& step : steps) {
        hand.then(stream(Kind::StreamCopy, step.copy, step.row));
    }
    hand.then_compute(spin);
    ipu::RunOptions options;
    options.timing = ipu::TimingOptions{4};
    simulation::Simulation simulation(hand.machine(), hand.program(), std::move(options));
    const std::vector<std::uint32_t> rows(static_cast<std::size_t>(16 * kRowBytes / 4), kTurns);
    simulation.write(kFar, std::as_bytes(std::span(rows)));
    try {
        simulation.run();
        return true;
    } catch (const NeedsData&) {
        return false;
    }
}

} // namespace

TEST_CASE("a word that was unknown when it went out comes back unknown", "[component][system]") {
    CHECK_FALSE(is_known_behind({{1, 3}, {0, 3}}, 1));
}
TEST_CASE("the word behind one that was unknown when it went out comes back known",
          "[component][system]") {
    CHECK(is_known_behind({{1, 3}, {0, 3}}, 2));
}
TEST_CASE("a word that went out unknown is known in all other rows", "[component][system]") {
    CHECK(is_known_behind({{1, 3}, {0, 4}}, 1));
}
TEST_CASE("what stands behind a row in a tile does not go out with it", "[component][system]") {
    CHECK(is_known_behind({{1, 3}, {0, 4}}, 0));
}
TEST_CASE("a word that went out unknown and then known comes back known", "[component][system]") {
    CHECK(is_known_behind({{1, 3}, {0, 2}, {1, 3}, {0, 3}}, 1));
}
TEST_CASE("rows of a buffer that is not known replace known words by unknown ones",
          "[component][system]") {
    CHECK_FALSE(is_known_behind({{2, 2}}, 0));
}
