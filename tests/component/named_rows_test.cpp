// SPDX-License-Identifier: MIT
// Stream copies whose rows words of tiles name, on a chip of four tiles.
#include "base/error.h"
#include "models/ipu/run_options.h"
#include "models/simulation/simulation.h"
#include "models/timing/port_timing.h"
#include "tests/component/hand_program.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <span>
#include <utility>
#include <vector>

using namespace tessera;
using program::StreamCopy;
using test::HandProgram;
using Kind = program::Step::Kind;

namespace {

constexpr Address kRow = 0x80000;
constexpr Address kNumbers = 0x90000;
constexpr std::int64_t kRows = 16; ///< of the buffer
constexpr Bytes kRowBytes = 4096;
constexpr Bytes kHalf = kRowBytes / 2;
constexpr std::int64_t kNamed = 3; ///< rows of the copy
constexpr program::ArrayId kFar = program::remote_buffer(0);
constexpr std::uint32_t kLoad = 0;
constexpr std::uint32_t kStore = 1;

/// Copy 0 reads three named rows: two to tile 3 and one to tiles 1 and 2, half each. Copy 1 writes
/// what has come, as neighbouring rows.
HandProgram named_rows(const std::vector<std::uint32_t>& numbers) {
    HandProgram hand(test::four_tiles(), "at_once: br $lr\n");
    program::Program& program = hand.program();
    program.remote_buffers.push_back(
        {"far", program::RemoteBuffer::Place::StreamingMemory, kRows, kRowBytes});
    StreamCopy load{"load", 0, StreamCopy::Direction::Read, kNamed, {}};
    load.pieces = {{3, kRow, kRowBytes, 0},
                   {3, kRow + kRowBytes, kRowBytes, kRowBytes},
                   {1, kRow, kHalf, 2 * kRowBytes},
                   {2, kRow, kHalf, 2 * kRowBytes + kHalf}};
    StreamCopy store = load;
    store.name = "store";
    store.direction = StreamCopy::Direction::Write;
    load.rows_from = {{1, kNumbers, 2, 1, 0, kRows},
                      {2, kNumbers, 2, 1, 0, kRows},
                      {3, kNumbers, 0, 2, 0, kRows}};
    program.stream_copies = {load, store};
    const auto hold = [&](TileId tile, const std::vector<std::uint32_t>& words) {
        program.images[tile].segments.push_back({kNumbers, static_cast<Bytes>(4 * words.size()),
                                                 program::SegmentKind::Tensor, "numbers",
                                                 test::bytes_of_words(words)});
    };
    hold(1, {numbers[2]});
    hold(2, {numbers[2]});
    hold(3, {numbers[0], numbers[1]});
    return hand;
}

program::Step stream(std::uint32_t copy, std::int64_t row = 0) {
    auto made = HandProgram::step(Kind::StreamCopy, copy);
    made.row = row;
    return made;
}

/// Row r of 32-bit words 1000 r + place in the row.
std::vector<std::uint32_t> numbered_rows() {
    std::vector<std::uint32_t> words;
    for (std::uint32_t row = 0; row < kRows; ++row) {
        for (std::uint32_t i = 0; i < kRowBytes / 4; ++i) {
            words.push_back(10000 * row + i);
        }
    }
    return words;
}

std::uint32_t word(const std::vector<std::byte>& bytes, std::int64_t row, Bytes at) {
    std::uint32_t made = 0;
    std::memcpy(&made, bytes.data() + row * kRowBytes + at, sizeof made);
    return made;
}

struct Ran {
    Cycles cycles = 0;
    Cycles of_load = 0;
    std::vector<std::byte> far;
};

Ran run(HandProgram& hand, const ipu::RunOptions& options) {
    simulation::Simulation simulation(hand.machine(), hand.program(), options);
    if (!options.timing) {
        const auto rows = numbered_rows();
        simulation.write(kFar, std::as_bytes(std::span(rows)));
    }
    simulation.run();
    const auto& account = simulation.account();
    for (const auto& tile : account.tiles()) {
        CHECK(tile.sum() == account.cycles());
    }
    CHECK(account.streams()[kLoad].bytes == account.streams()[kLoad].sent_bytes);
    return {account.cycles(), account.streams()[kLoad].transfer_cycles,
            options.timing ? std::vector<std::byte>{} : simulation.read(kFar)};
}

/// The message of a run that stops.
std::string stopped(HandProgram& hand) {
    try {
        static_cast<void>(run(hand, {}));
    } catch (const ProgramError& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("words of its tiles name the rows of a copy") {
    const std::vector<std::uint32_t> numbers{7, 2, 11};
    HandProgram hand = named_rows(numbers);
    constexpr std::int64_t kTo = 12;
    hand.then(stream(kLoad)).then(stream(kStore, kTo));
    const Ran ran = run(hand, {});
    for (std::int64_t row = 0; row < kNamed; ++row) {
        CAPTURE(row);
        const std::uint32_t first = 10000 * numbers[static_cast<std::size_t>(row)];
        CHECK(word(ran.far, kTo + row, 0) == first);
        CHECK(word(ran.far, kTo + row, kHalf) == first + kHalf / 4);
        CHECK(word(ran.far, kTo + row, kRowBytes - 4) == first + kRowBytes / 4 - 1);
    }
    CHECK(word(ran.far, kTo - 1, 0) == 10000 * (kTo - 1));
}

TEST_CASE("numbers count from the row of the step and the base of their words") {
    HandProgram hand = named_rows({1, 0, 2});
    constexpr std::int64_t kFrom = 4;
    constexpr std::int64_t kBase = 3;
    for (auto& numbers : hand.program().stream_copies[kLoad].rows_from) {
        numbers.base = kBase;
        numbers.below = 3;
    }
    hand.then(stream(kLoad, kFrom)).then(stream(kStore, 0));
    const Ran ran = run(hand, {});
    CHECK(word(ran.far, 0, 0) == 10000 * (kFrom + kBase + 1));
    CHECK(word(ran.far, 1, 0) == 10000 * (kFrom + kBase));
    CHECK(word(ran.far, 2, kHalf) == 10000 * (kFrom + kBase + 2) + kHalf / 4);
}

namespace {

/// The cycles of a copy, and those of rounds of load, store and load.
Cycles of_load(const spec::MachineSpec& machine, bool read) {
    const auto link = timing::streaming_port(machine);
    const Bytes requested = 2 * link.requested_bytes(kRowBytes) + 2 * link.requested_bytes(kHalf);
    return link.service_cycles(read, requested, 2 * kRowBytes) + link.latency_cycles;
}

void check_rounds(const std::vector<std::uint32_t>& numbers, bool timing, int threads) {
    constexpr std::uint32_t kRounds = 3;
    HandProgram hand = named_rows(numbers);
    hand.then(stream(kLoad)).then(stream(kStore)).then(stream(kLoad)).repeated(kRounds);
    ipu::RunOptions options;
    options.threads = threads;
    if (timing) {
        options.timing = ipu::TimingOptions{4};
    }
    const auto& machine = hand.machine();
    CHECK(run(hand, options).cycles ==
          kRounds * (2 * of_load(machine, true) + of_load(machine, false) +
                     machine.control.repeat_cycles));
}

} // namespace

TEST_CASE("a copy of named rows takes the service of its bytes and one latency") {
    HandProgram hand = named_rows({7, 2, 11});
    hand.then(stream(kLoad));
    const Ran ran = run(hand, {});
    CHECK(ran.of_load == of_load(hand.machine(), true));
    CHECK(ran.cycles == ran.of_load);
}

TEST_CASE("named rows of any order take equal cycles") {
    check_rounds({7, 2, 11}, false, 1);
}

TEST_CASE("named rows that are all the same take equal cycles, with two threads too") {
    check_rounds({5, 5, 5}, false, 2);
}

TEST_CASE("named rows that nobody knows take equal cycles") {
    check_rounds({7, 2, 11}, true, 1);
}

TEST_CASE("named rows that nobody knows take equal cycles with three threads") {
    check_rounds({7, 2, 11}, true, 3);
}

TEST_CASE("timing mode does not look at numbers that it does not know") {
    HandProgram hand = named_rows({7, 2, kRows});
    hand.then(stream(kLoad));
    ipu::RunOptions options;
    options.timing = ipu::TimingOptions{4};
    CHECK_NOTHROW(run(hand, options));
}

TEST_CASE("a number that names no row stops the run with its row and its tile") {
    HandProgram hand = named_rows({7, kRows, 2});
    hand.then(stream(kLoad));
    CHECK(stopped(hand) == "stream copy load: got number 16 for row 1 of it at tile_3, 0x90004, "
                           "expected 0 to 15: rows of far");
}

TEST_CASE("numbers that may name rows behind the last are refused before they are looked at") {
    HandProgram hand = named_rows({0, 0, 0});
    hand.then(stream(kLoad, 1));
    CHECK(stopped(hand) ==
          "stream copy load: got rows 1 to 17, expected them in the 16 rows of far");
}
