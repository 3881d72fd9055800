// SPDX-License-Identifier: MIT
// Links out of the chip, remote buffers, and the rules of stream copies.
#include "base/error.h"
#include "models/ipu/core/chip_memory.h"
#include "models/memory/core/remote_memory.h"
#include "models/memory/core/stream_copies.h"
#include "models/memory/core/stream_port.h"
#include "models/program/known_words.h"
#include "models/program/remote_sizes.h"
#include "models/program/tile_memory.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

using namespace tessera;
using memory::StreamPort;
using program::StreamCopy;

namespace {

constexpr Address kHere = 0x80000;

/// Four tiles at 1 GHz, so that GB/s are bytes a cycle and microseconds thousands of cycles.
spec::MachineSpec four_tiles() {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    machine.chip.clock_hz = 1e9;
    machine.streaming.read_gbytes_per_s = 8;
    machine.streaming.write_gbytes_per_s = 2;
    machine.streaming.latency_us = 3;
    return machine;
}

/// Buffer "far" of 10 rows of 64 bytes; copy "in" reads two rows into tiles 2 and 3, "out" writes
/// one from tile 3.
program::Program two_copies() {
    program::Program program;
    program.remote_buffers.push_back(
        {"far", program::RemoteBuffer::Place::StreamingMemory, 10, 64});
    program.stream_copies.push_back(
        {"in", 0, StreamCopy::Direction::Read, 2, {{2, kHere, 96, 0}, {3, kHere, 32, 96}}});
    program.stream_copies.push_back(
        {"out", 0, StreamCopy::Direction::Write, 1, {{3, kHere + 32, 64, 0}}});
    program.io_tiles = {2, 3};
    return program;
}

std::string refused(const std::function<void()>& attempt) {
    try {
        attempt();
    } catch (const ProgramError& error) {
        return error.what();
    }
    return "";
}

/// What is said of the copies of `program` after `change`.
std::string broken(const std::function<void(program::Program&)>& change) {
    auto program = two_copies();
    change(program);
    return refused([&] { memory::StreamCopies copies(four_tiles(), program); });
}

} // namespace

TEST_CASE("a copy alone takes its service and the latency") {
    const auto machine = four_tiles();
    const auto timing = timing::streaming_port(machine);
    CHECK(timing.latency_cycles == 3000);
    StreamPort link(timing);
    const auto times = link.begin(500, {true, 6400, 64});
    CHECK(times.service_begin == 500);
    CHECK(times.service_end == 500 + 6400 / 8);
    CHECK(times.end == times.service_end + timing.latency_cycles);
}

TEST_CASE("a tile takes four bytes a cycle however fast the link is") {
    StreamPort link(timing::streaming_port(four_tiles()));
    CHECK(link.begin(0, {true, 6400, 6400}).service_end == 6400 / 4);
    CHECK(link.begin(0, {false, 6400, 6400}).service_end == 6400 / 2);
}

TEST_CASE("a link and a lane take a whole cycle for what is left") {
    auto machine = four_tiles();
    for (const Bytes lane_bytes : {4, 8, 16}) {
        machine.exchange.lane_bytes = lane_bytes;
        for (const Bytes bytes : {1, 4, 7, 8, 9, 12, 15, 16, 17, 6399, 6400, 6401}) {
            const auto up = [&](Bytes width) { return (bytes + width - 1) / width; };
            const auto link = timing::streaming_port(machine);
            CAPTURE(lane_bytes, bytes);
            CHECK(link.service_cycles(true, bytes, 0) == up(8));
            CHECK(link.service_cycles(false, bytes, 0) == up(2));
            CHECK(link.service_cycles(true, 0, bytes) == up(lane_bytes));
            CHECK(link.service_cycles(true, bytes, bytes) == std::max(up(8), up(lane_bytes)));
            CHECK(timing::host_port(machine).service_cycles(true, 0, bytes) == up(lane_bytes));
        }
    }
    machine.exchange.fabric = spec::Fabric::Mesh; // whose lanes are a word wide
    CHECK(timing::streaming_port(machine).service_cycles(true, 0, 6401) == 1601);
}

TEST_CASE("a request is whole or not at all") {
    auto machine = four_tiles();
    machine.streaming.request_bytes = 64;
    const auto link = timing::streaming_port(machine);
    for (const Bytes bytes : {1, 63, 64, 65, 128, 129})
        CHECK(link.requested_bytes(bytes) == (bytes + 63) / 64 * 64);
}

TEST_CASE("rates and latencies are the spec's in cycles of the clock") {
    auto machine = four_tiles();
    machine.chip.clock_hz = 2e9;
    const auto streaming = timing::streaming_port(machine);
    CHECK(streaming.read_bytes_per_cycle == Approx(4));
    CHECK(streaming.write_bytes_per_cycle == Approx(1));
    CHECK(streaming.latency_cycles == 6000);
    machine.host.read_gbytes_per_s = 6;
    machine.host.write_gbytes_per_s = 3;
    machine.host.latency_us = 0.0012; // 2.4 cycles
    machine.host.request_bytes = 32;
    const auto host = timing::host_port(machine);
    CHECK(host.read_bytes_per_cycle == Approx(3));
    CHECK(host.write_bytes_per_cycle == Approx(1.5));
    CHECK(host.latency_cycles == 2);
    CHECK(host.request_bytes == 32);
    CHECK_FALSE(host.shared_rate);
}

TEST_CASE("copies wait for each other in their direction and show the latency once") {
    auto machine = four_tiles();
    for (const bool shared : {false, true}) {
        machine.streaming.shared_rate = shared;
        StreamPort link(timing::streaming_port(machine));
        const auto first = link.begin(0, {true, 8000, 0});
        const auto second = link.begin(10, {true, 8000, 0});
        CHECK(second.service_begin == first.service_end);
        CHECK(second.end == 2 * 1000 + 3000);
        CHECK(link.begin(20, {false, 2000, 0}).service_begin == (shared ? 2000 : 20));
    }
}

TEST_CASE("chips that share streaming memory have equal parts of it") {
    auto machine = four_tiles();
    machine.streaming.machine_gbytes_per_s = 20;
    for (const auto& [chips, rate] : {std::pair{1, 8.0}, std::pair{4, 5.0}, std::pair{20, 1.0}}) {
        machine.streaming.chips_sharing = chips;
        const auto timing = timing::streaming_port(machine);
        CHECK(timing.read_bytes_per_cycle == Approx(rate));
        CHECK(timing.write_bytes_per_cycle == Approx(std::min(rate, 2.0)));
    }
}

TEST_CASE("pieces are whole requests") {
    auto machine = four_tiles();
    machine.streaming.request_bytes = 64;
    const auto program = two_copies();
    const memory::StreamCopies copies(machine, program);
    CHECK(copies.bytes(0) == 128);
    CHECK(copies.demand(0).requested_bytes == 128 + 64);
    CHECK(copies.demand(0).busiest_tile_bytes == 96);
    CHECK(copies.demand(0).read);
    CHECK_FALSE(copies.demand(1).read);
    CHECK(copies.tiles(0) == std::vector<TileId>{2, 3});
}

TEST_CASE("bytes go from rows to pieces and back") {
    const auto machine = four_tiles();
    const auto program = two_copies();
    const memory::StreamCopies copies(machine, program);
    const ipu::ChipMemory chip(machine);
    const memory::RemoteMemory remote(machine, program);
    const auto rows = remote.buffer(0);
    CHECK(rows.size() == 640);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i] = static_cast<std::byte>(i % 256);
    }
    copies.move({0, 3, 0}, {}, chip, remote);
    CHECK(std::memcmp(chip.at(2, kHere, 96), rows.data() + 3 * 64, 96) == 0);
    CHECK(std::memcmp(chip.at(3, kHere, 32), rows.data() + 3 * 64 + 96, 32) == 0);
    std::memset(chip.at(3, kHere + 32, 64), 0x5a, 64);
    copies.move({1, 9, 0}, {}, chip, remote);
    CHECK(rows[9 * 64 - 1] == std::byte{(9 * 64 - 1) % 256});
    CHECK(rows[9 * 64] == std::byte{0x5a});
    CHECK(rows[639] == std::byte{0x5a});
}

TEST_CASE("remote buffers that do not fit are refused") {
    auto machine = four_tiles();
    auto program = two_copies();
    machine.streaming.capacity_bytes = 640;
    CHECK_NOTHROW(memory::RemoteMemory(machine, program));
    machine.streaming.capacity_bytes = 639;
    CHECK_THROWS_AS(memory::RemoteMemory(machine, program), DoesNotFit);
    program.remote_buffers[0].place = program::RemoteBuffer::Place::Host;
    CHECK_NOTHROW(memory::RemoteMemory(machine, program));
    // Beside host buffers of any size streaming memory holds what it holds, wherever they stand.
    for (const bool host_first : {true, false}) {
        std::vector<program::RemoteBuffer> buffers{
            {"a", program::RemoteBuffer::Place::StreamingMemory, 10, 64},
            {"b", program::RemoteBuffer::Place::StreamingMemory, 3, 4}};
        buffers.insert(host_first ? buffers.begin() : buffers.begin() + 1,
                       {"host", program::RemoteBuffer::Place::Host, 1'000'000, 64});
        CHECK(program::remote_sizes(buffers, 652, "m") ==
              (host_first ? std::vector<Bytes>{64'000'000, 640, 12}
                          : std::vector<Bytes>{640, 64'000'000, 12}));
        CHECK_THROWS_AS(program::remote_sizes(buffers, 651, "m"), DoesNotFit);
    }
    const auto of_rows = [](std::int64_t rows, Bytes row_bytes) {
        return program::remote_sizes(
            {{"host", program::RemoteBuffer::Place::Host, rows, row_bytes}}, 0, "m");
    };
    CHECK(of_rows(1, 4) == std::vector<Bytes>{4});
    CHECK(of_rows(Bytes{1} << 46, 16) == std::vector<Bytes>{Bytes{1} << 50});
    CHECK_THROWS_AS(of_rows((Bytes{1} << 46) + 1, 16), ProgramError);
    CHECK_THROWS_AS(of_rows(0, 4), ProgramError);
    CHECK_THROWS_AS(of_rows(1, 2), ProgramError);
    CHECK_THROWS_AS(of_rows(1, 0), ProgramError);
    program.remote_buffers[0].row_bytes = 6;
    CHECK_THROWS_AS(memory::RemoteMemory(machine, program), ProgramError);
    program = two_copies(); // the longer copy has 128 bytes
    machine.streaming.copy_limit_bytes = 128;
    CHECK_NOTHROW(memory::StreamCopies(machine, program));
    machine.streaming.copy_limit_bytes = 127;
    CHECK_THROWS_AS(memory::StreamCopies(machine, program), DoesNotFit);
    program.remote_buffers[0].place = program::RemoteBuffer::Place::Host; // which has no limit
    CHECK_NOTHROW(memory::StreamCopies(machine, program));
}

TEST_CASE("stream copies that are wrong are refused") {
    CHECK(broken([](auto& program) { program.stream_copies[0].buffer = 1; }) ==
          "stream copy in: got remote buffer 1, expected a number below 1");
    CHECK(broken([](auto& program) { program.stream_copies[0].rows = 11; }) ==
          "stream copy in: got 11 rows, expected 1..10, which far has");
    CHECK(broken([](auto& program) { program.stream_copies[0].rows = 1; }) ==
          "stream copy in: its pieces hold 128 bytes, expected 1 rows of 64");
    CHECK(broken([](auto& program) { program.stream_copies[0].pieces[1].offset = 92; }) ==
          "stream copy in: a piece begins at byte 92, expected 96: pieces hold each byte once");
    CHECK(broken([](auto& program) { program.stream_copies[0].pieces[1].tile = 4; }) ==
          "stream copy in: a piece has 32 bytes at tile_4, 0x80000, expected them in tile memory");
    CHECK(broken([](auto& program) { program.stream_copies[0].pieces[1].address = 0x80002; }) ==
          "stream copy in: a piece has 32 bytes from 96 at tile_3, 0x80002, expected whole words");
}

TEST_CASE("pieces stand in tile memory, in whole words, from its first byte to its last") {
    const auto machine = four_tiles();
    const auto begin = static_cast<Bytes>(machine.memory.region0_begin());
    const auto end = static_cast<Bytes>(machine.memory.end());
    // the first piece of "in": 96 bytes
    const auto at = [&](Bytes address) {
        return broken([&](auto& program) {
            program.stream_copies[0].pieces[0].address = static_cast<Address>(address);
        });
    };
    const auto outside = Catch::Matchers::EndsWith("expected them in tile memory");
    const auto broken_words = Catch::Matchers::EndsWith("expected whole words");
    CHECK(at(begin).empty());
    CHECK(at(end - 96).empty());
    CHECK_THAT(at(begin - 4), outside);
    CHECK_THAT(at(end - 92), outside);
    CHECK_THAT(at(begin + 2), broken_words);
    const auto sizes = [&](Bytes first, Bytes offset) {
        return broken([&](auto& program) {
            program.stream_copies[0].pieces[0].bytes = first;
            program.stream_copies[0].pieces[1].bytes = 128 - first;
            program.stream_copies[0].pieces[1].offset = offset;
        });
    };
    CHECK(sizes(92, 92).empty());
    CHECK_THAT(sizes(94, 94), broken_words);
    CHECK_THAT(sizes(96, 94), broken_words);
    for (const Bytes bytes : {-4, -1, 0}) {
        CHECK_THAT(sizes(bytes, bytes), outside);
    }
    for (const Bytes bytes : {1, 2, 3, 5}) {
        CHECK_THAT(sizes(bytes, bytes), broken_words);
    }
    CHECK(sizes(4, 4).empty());
    CHECK_FALSE(broken([](auto& program) { program.stream_copies[0].rows = 0; }).empty());
    CHECK(broken([](auto& program) {
              program.stream_copies[1].rows = 10;
              program.stream_copies[1].pieces[0].bytes = 640;
          }).empty());
}

TEST_CASE("copies under way in one buffer or one tile meet only where one of them writes") {
    const auto machine = four_tiles();
    auto program = two_copies(); // "in" has rows 4 and 5, "out" writes row 5 unless told otherwise
    program.remote_buffers.push_back(
        {"other", program::RemoteBuffer::Place::StreamingMemory, 10, 64});
    const auto said = [&](std::uint32_t first, std::uint32_t second) {
        memory::StreamCopies copies(machine, program);
        copies.start({first, 5, 1}, 3);
        return refused([&] { copies.start({second, 5, 2}, 7); });
    };
    CHECK_FALSE(said(1, 0).empty()); // rows that are written are read
    program.stream_copies[1].buffer = 1;
    CHECK(said(1, 0).empty());
    CHECK(said(0, 1).empty());
    // two that read the same rows into different tiles, or write the same bytes of a tile to
    // different buffers
    program.stream_copies.push_back(
        {"in too", 0, StreamCopy::Direction::Read, 1, {{1, kHere, 64, 0}}});
    CHECK(said(0, 2).empty());
    program.stream_copies.push_back(
        {"out too", 0, StreamCopy::Direction::Write, 1, {{3, kHere + 32, 64, 0}}});
    CHECK(said(1, 3).empty());
    program.stream_copies[3].buffer = 1;
    CHECK_FALSE(said(1, 3).empty()); // both write row 5
    program.stream_copies[2].pieces[0] = {2, kHere + 92, 64, 0};
    CHECK_FALSE(said(0, 2).empty()); // both write the tile
    program.stream_copies[2].pieces[0].address = kHere + 96;
    CHECK(said(0, 2).empty());
    program.stream_copies[2].pieces[0].address = kHere - 64;
    CHECK(said(0, 2).empty());
    program.stream_copies[2].pieces[0].address = kHere - 60;
    CHECK_FALSE(said(0, 2).empty());
}

TEST_CASE("rows of a copy are in its buffer from the first to the last") {
    const auto machine = four_tiles();
    const auto program = two_copies();
    const memory::StreamCopies copies(machine, program);
    for (const auto& [row, good] :
         {std::pair{-1, false}, std::pair{0, true}, std::pair{8, true}, std::pair{9, false}}) {
        CHECK(refused([&] { copies.check_rows(0, row); }).empty() == good);
    }
}

TEST_CASE("nothing touches what a copy under way has") {
    const auto machine = four_tiles();
    auto program = two_copies();
    program.compute_sets.push_back({"work", {{}, {}, {}, {0x4c000, {}}}});
    memory::StreamCopies copies(machine, program);
    CHECK(refused([&] {
              copies.start({0, 9, 1}, 7);
          }) == "stream copy in: got rows 9 to 11, expected them in the 10 rows of far");
    CHECK(copies.under_way() == 0);
    copies.start({0, 4, 1}, 0);
    CHECK(refused([&] {
              copies.start({0, 0, 2}, 7);
          }) == "stream copy in: started at cycle 7 while it is under way");
    CHECK(refused([&] {
              copies.start({1, 5, 2}, 7);
          }) == "stream copy out: started at cycle 7 on rows of far that in, under way, also has");
    program.stream_copies[1].pieces[0].address = kHere + 28;
    CHECK(refused([&] {
              copies.start({1, 6, 2}, 7);
          }) == "stream copy out: started at cycle 7 on tile_3, 0x8001c, which in, under way, has");
    program.stream_copies[1].pieces[0].address = kHere - 28; // the first byte that both have
    CHECK(refused([&] {
              copies.start({1, 6, 2}, 7);
          }) == "stream copy out: started at cycle 7 on tile_3, 0x80000, which in, under way, has");
    program.stream_copies[1].pieces[0].address = kHere + 28;
    const memory::TileRange beside{2, kHere + 96, 4};
    const memory::TileRange inside{2, kHere + 92, 4};
    CHECK(refused([&] { copies.check_ranges("exchange x", {&beside, 1}, 9); }).empty());
    CHECK(refused([&] {
              copies.check_ranges("exchange x", {&inside, 1}, 9);
          }) ==
          "exchange x: uses tile_2, 0x8005c at cycle 9 while stream copy in, under way, has it");
    // the first byte that both have
    for (const Bytes lower : {Bytes{4}, Bytes{64}}) {
        const memory::TileRange round{2, kHere - static_cast<Address>(lower), lower + 200};
        CHECK(
            refused([&] {
                copies.check_ranges("exchange x", {&round, 1}, 9);
            }) ==
            "exchange x: uses tile_2, 0x80000 at cycle 9 while stream copy in, under way, has it");
    }
    // two tiles wait for it
    copies.left(0);
    CHECK(copies.under_way() > 0);
    copies.left(0);
    CHECK(copies.under_way() == 0);
    CHECK(refused([&] { copies.check_ranges("exchange x", {&inside, 1}, 9); }).empty());
    program.io_tiles = {3};
    CHECK(refused([&] { copies.check_background(0); }) ==
          "stream copy in: tile_2 is not an IO tile, so it cannot take part in the background");
}

TEST_CASE("a fraction of a cycle of a link is a cycle") {
    auto machine = four_tiles(); // 8 and 2 bytes a cycle
    const auto timing = timing::streaming_port(machine);
    for (const Bytes bytes : {1, 7, 8, 9, 15, 16, 17}) {
        CHECK(timing.service_cycles(true, bytes, 0) == (bytes + 7) / 8);
        CHECK(timing.service_cycles(false, bytes, 0) == (bytes + 1) / 2);
        // a tile's lane: four bytes a cycle
        CHECK(timing.service_cycles(true, 0, bytes) == (bytes + 3) / 4);
    }
    machine.streaming.request_bytes = 64;
    const auto whole = timing::streaming_port(machine);
    for (const auto& [bytes, requested] :
         {std::pair{1, 64}, std::pair{63, 64}, std::pair{64, 64}, std::pair{65, 128}}) {
        CHECK(whole.requested_bytes(bytes) == requested);
    }
}

TEST_CASE("the host's link has the host's rates and one each way") {
    auto machine = four_tiles();
    machine.host.read_gbytes_per_s = 4;
    machine.host.write_gbytes_per_s = 3;
    machine.host.latency_us = 2.0004;
    machine.host.request_bytes = 12;
    machine.streaming.shared_rate = true;
    const auto timing = timing::host_port(machine);
    CHECK(timing.read_bytes_per_cycle == Approx(4));
    CHECK(timing.write_bytes_per_cycle == Approx(3));
    CHECK(timing.latency_cycles == 2000); // to the nearest
    CHECK(timing.request_bytes == 12);
    CHECK_FALSE(timing.shared_rate);
    machine.host.latency_us = 2.0006;
    CHECK(timing::host_port(machine).latency_cycles == 2001);
}

TEST_CASE("remote buffers share the capacity, those of the host have none") {
    using Place = program::RemoteBuffer::Place;
    auto machine = four_tiles();
    program::Program program;
    program.remote_buffers = {{"a", Place::StreamingMemory, 4, 64},
                              {"h", Place::Host, 1000, 64},
                              {"b", Place::StreamingMemory, 2, 96}};
    machine.streaming.capacity_bytes = 4 * 64 + 2 * 96;
    const memory::RemoteMemory remote(machine, program);
    CHECK(remote.buffer(1).size() == 64000);
    CHECK(remote.buffer(2).size() == 192);
    --machine.streaming.capacity_bytes;
    CHECK_THROWS_WITH(memory::RemoteMemory(machine, program),
                      Catch::Matchers::StartsWith(
                          "remote buffer b: got 2 rows of 96 B beside 256 B of other buffers, "
                          "expected at most 447 B in all"));
    machine.streaming.capacity_bytes = 0;
    program.remote_buffers = {{"h", Place::Host, 1, 4}};
    CHECK_NOTHROW(memory::RemoteMemory(machine, program));
    for (const auto& [rows, bytes] : {std::pair{0, 4}, std::pair{1, 0}, std::pair{1, 2}}) {
        program.remote_buffers = {{"h", Place::Host, rows, bytes}};
        CHECK_THROWS_AS(memory::RemoteMemory(machine, program), ProgramError);
    }
}

TEST_CASE("copies that nothing orders may not begin in another order than the program's") {
    const auto machine = four_tiles();
    auto program = two_copies();
    program.stream_copies[1].pieces[0] = {1, kHere, 64, 0};
    const auto said = [&](std::int64_t row, bool release) {
        memory::StreamCopies copies(machine, program);
        copies.start({1, row, 8}, 3); // "out", which is quick
        copies.left(1);
        if (release) {
            copies.released();
        }
        return refused([&] { copies.start({0, 4, 7}, 90); });
    };
    CHECK(said(5, false) == "stream copy in: started at cycle 90 on rows of far that out, of a "
                            "later step and begun before it, also has");
    CHECK(said(6, false).empty());
    CHECK(said(5, true).empty());
}

TEST_CASE("named rows that could not be asked for are refused") {
    const auto broken_named = [](const std::function<void(StreamCopy&)>& change) {
        return broken([&](program::Program& program) {
            StreamCopy& copy = program.stream_copies.front();
            copy.pieces = {{2, kHere, 64, 0}, {3, kHere, 64, 64}};
            copy.rows_from = {{2, kHere + 0x100, 0, 1, 0, 10}, {3, kHere + 0x100, 1, 1, 0, 10}};
            change(copy);
        });
    };
    CHECK(broken_named([](StreamCopy&) {}).empty());
    CHECK(broken_named([](StreamCopy& copy) { copy.direction = StreamCopy::Direction::Write; }) ==
          "stream copy in: words name the rows that it writes, expected them of one that reads");
    CHECK(broken_named([](StreamCopy& copy) { copy.rows_from.pop_back(); }) ==
          "stream copy in: a piece has 64 bytes from 64 at tile_3, 0x80000, expected bytes of one "
          "row that a word of the tile names");
    CHECK(broken_named([](StreamCopy& copy) {
              copy.pieces = {{2, kHere, 128, 0}};
          }) ==
          "stream copy in: a piece has 128 bytes from 0 at tile_2, 0x80000, expected bytes of one "
          "row that a word of the tile names");
    CHECK(broken_named([](StreamCopy& copy) { copy.rows_from[1].address += 2; }) ==
          "stream copy in: 1 words at tile_3, 0x80102 name rows, expected words of tile memory");
    CHECK(broken_named([](StreamCopy& copy) { copy.rows_from[1].count = 0; }) ==
          "stream copy in: 0 words at tile_3, 0x80100 name rows, expected words of tile memory");
    CHECK(broken_named([](StreamCopy& copy) { std::swap(copy.rows_from[0], copy.rows_from[1]); }) ==
          "stream copy in: words of tile_2 name rows 0 to 0 of 2, expected ascending ones");
    CHECK(broken_named([](StreamCopy& copy) { copy.rows_from[1].count = 2; }) ==
          "stream copy in: words of tile_3 name rows 1 to 2 of 2, expected ascending ones");
}

TEST_CASE("a copy of named rows meets writes of every row that its words could name") {
    auto program = two_copies();
    StreamCopy& copy = program.stream_copies.front();
    copy.pieces = {{2, kHere, 64, 0}, {2, kHere + 64, 64, 64}};
    copy.rows_from = {{2, kHere + 0x100, 0, 2, 4, 3}}; // rows 4 to 6
    for (const std::int64_t row : {3, 4, 6, 7}) {
        CAPTURE(row);
        memory::StreamCopies copies(four_tiles(), program);
        copies.start({0, 0, 0}, 0);
        const std::string told = refused([&] { copies.start({1, row, 1}, 5); });
        CHECK(told.empty() == (row < 4 || row > 6));
    }
}

namespace {

/// Copy "in" with two rows, each in a tile that names it by the word at `kWords`.
constexpr Address kWords = kHere + 0x100;
StreamCopy two_named() {
    StreamCopy copy = two_copies().stream_copies.front();
    copy.pieces = {{2, kHere, 64, 0}, {3, kHere, 64, 64}};
    copy.rows_from = {{2, kWords, 0, 1, 0, 10}, {3, kWords, 1, 1, 0, 10}};
    return copy;
}

std::string broken_if(const std::function<void(StreamCopy&)>& change) {
    return broken([&](program::Program& program) {
        program.stream_copies.front() = two_named();
        change(program.stream_copies.front());
    });
}

/// The words of four tiles from `kHere` on.
class FewWords final : public program::TileMemory {
public:
    [[nodiscard]] std::byte* at(TileId tile, Address address, Bytes bytes) const override {
        CHECK(bytes == 4);
        auto& word = words_.at(tile).at((address - kHere) / 4);
        return reinterpret_cast<std::byte*>(&word);
    }
    std::uint32_t& word(TileId tile, Address address) {
        return words_.at(tile).at((address - kHere) / 4);
    }

private:
    mutable std::array<std::array<std::uint32_t, 256>, 4> words_{};
};

} // namespace

TEST_CASE("words that name rows stand in tile memory from its first to its last") {
    const auto machine = four_tiles();
    const auto begin = machine.memory.region0_begin();
    const auto end = machine.memory.end();
    const auto outside = Catch::Matchers::EndsWith("expected words of tile memory");
    const auto at = [](Address address, std::int64_t count) {
        return broken_if([&](StreamCopy& copy) {
            copy.pieces = {{2, kHere, 64, 0}, {2, kHere + 64, 64, 64}};
            copy.rows_from = {{2, address, 0, count, 0, 10}};
            if (count == 1) {
                copy.rows_from.push_back({2, kWords, 1, 1, 0, 10});
            }
        });
    };
    for (const std::int64_t count : {1, 2}) {
        const auto bytes = static_cast<Address>(4 * count);
        CHECK(at(begin, count).empty());
        CHECK(at(end - bytes, count).empty());
        CHECK_THAT(at(begin - 4, count), outside);
        CHECK_THAT(at(end - bytes + 4, count), outside);
        for (const Address off : {1, 2, 3}) {
            CHECK_THAT(at(begin + off, count), outside);
        }
    }
    CHECK(broken_if([](StreamCopy& copy) {
              copy.pieces[1].tile = 0;
              copy.rows_from = {{0, kWords, 1, 1, 0, 10}, {2, kWords, 0, 1, 0, 10}};
          }).empty());
    CHECK_THAT(broken_if([](StreamCopy& copy) { copy.rows_from[1].tile = 4; }), outside);
}

TEST_CASE(
    "words of a tile name its rows in ascending order, each once, and none before the first") {
    using Numbers = std::vector<program::RowNumbers>;
    const auto is_good = [](const Numbers& numbers) {
        const std::string told = broken_if([&](StreamCopy& copy) {
            copy.rows = 3;
            copy.pieces = {{2, kHere, 64, 0}, {2, kHere + 64, 64, 64}, {2, kHere + 128, 64, 128}};
            copy.rows_from = numbers;
        });
        if (!told.empty()) {
            CHECK_THAT(told, Catch::Matchers::EndsWith("expected ascending ones"));
        }
        return told.empty();
    };
    CHECK(is_good({{2, kWords, 0, 3, 0, 10}}));
    CHECK(is_good({{2, kWords, 0, 1, 0, 10}, {2, kWords + 8, 1, 2, 0, 10}}));
    CHECK(is_good({{2, kWords, 0, 2, 0, 10}, {2, kWords, 2, 1, 0, 10}})); // one word, two rows
    CHECK_FALSE(is_good({{2, kWords, -1, 4, 0, 10}}));
    CHECK_FALSE(is_good({{2, kWords, 0, 4, 0, 10}}));
    CHECK_FALSE(is_good({{2, kWords, 1, 3, 0, 10}}));
    CHECK_FALSE(is_good({{2, kWords, 0, 2, 0, 10}, {2, kWords, 1, 2, 0, 10}}));
    CHECK_FALSE(is_good({{2, kWords, 1, 2, 0, 10}, {2, kWords, 0, 1, 0, 10}}));
    CHECK_FALSE(is_good({{2, kWords, 0, 3, 0, 10}, {1, kWords, 0, 3, 0, 10}}));
    CHECK(is_good({{1, kWords, 0, 3, 0, 10}, {2, kWords, 0, 3, 0, 10}})); // each tile has its own
}

TEST_CASE("a piece has bytes of one row that its tile names") {
    const auto told = [](const std::vector<program::StreamPiece>& pieces) {
        return broken_if([&](StreamCopy& copy) {
            copy.pieces = pieces;
            copy.rows_from = {{2, kWords, 0, 2, 0, 10}, {3, kWords, 1, 1, 0, 10}};
        });
    };
    const auto other_rows = Catch::Matchers::EndsWith("that a word of the tile names");
    CHECK(told({{2, kHere, 32, 0}, {2, kHere + 32, 32, 32}, {3, kHere, 64, 64}}).empty());
    CHECK(told({{2, kHere, 64, 0}, {2, kHere + 64, 4, 64}, {3, kHere, 60, 68}}).empty());
    CHECK_THAT(told({{2, kHere, 60, 0}, {2, kHere + 60, 68, 60}}), other_rows);
    CHECK_THAT(told({{2, kHere, 68, 0}, {2, kHere + 68, 60, 68}}), other_rows);
    CHECK_THAT(told({{3, kHere, 64, 0}, {3, kHere + 64, 64, 64}}),
               other_rows); // row 0 is of tile 2
    CHECK_THAT(told({{1, kHere, 64, 0}, {3, kHere, 64, 64}}), other_rows);
    CHECK_THAT(told({{2, kHere, 64, 0}, {0, kHere, 64, 64}}), other_rows);
    CHECK(broken_if([](StreamCopy& copy) { // a row of the buffer may come several times
              copy.rows = 12;
              copy.pieces = {{2, kHere, 64, 0}};
              for (std::int64_t row = 1; row < copy.rows; ++row) {
                  copy.pieces.push_back({2, static_cast<Address>(kHere + 64 * row), 64, 64 * row});
              }
              copy.rows_from = {{2, kWords, 0, copy.rows, 0, 10}};
          })
              .empty());
}

TEST_CASE("bytes of a piece begin in the row that its word names, behind the base") {
    const auto machine = four_tiles();
    auto program = two_copies();
    StreamCopy& copy = program.stream_copies.front();
    copy.rows = 3;
    copy.pieces = {{2, kHere, 64, 0},         // row 0
                   {2, kHere + 64, 24, 64},   // row 1, its begin
                   {3, kHere, 40, 88},        // row 1, its end
                   {3, kHere + 40, 64, 128}}; // row 2
    copy.rows_from = {{2, kWords, 0, 2, 3, 5}, {3, kWords + 16, 1, 2, 1, 6}};
    const memory::StreamCopies copies(machine, program);
    FewWords words;
    words.word(2, kWords) = 4; // the largest
    words.word(2, kWords + 4) = 0;
    words.word(3, kWords + 16) = 5;
    words.word(3, kWords + 20) = 2;
    const auto named = [&](std::int64_t row, program::KnownWords* known = nullptr) {
        return copies.named_bytes(0, row, words, known);
    };
    CHECK(named(0) == std::vector<Bytes>{64 * 7, 64 * 3, 64 * 6 + 24, 64 * 3});
    CHECK(named(2) == std::vector<Bytes>{64 * 9, 64 * 5, 64 * 8 + 24, 64 * 5});

    program::KnownWords known(4, static_cast<Address>(machine.memory.base), machine.memory.bytes());
    for (const TileId tile : {2, 3}) {
        known.learn(tile, kWords, 64);
    }
    CHECK(named(0, &known) == named(0));
    known.forget(3, kWords + 16, 4);
    constexpr Bytes kUnknown = memory::StreamCopies::kUnknown;
    CHECK(named(0, &known) == std::vector<Bytes>{64 * 7, 64 * 3, kUnknown, 64 * 3});
    words.word(3, kWords + 16) = 6; // unknown numbers are not looked at
    CHECK_NOTHROW(named(0, &known));
    CHECK(refused([&] { static_cast<void>(named(0)); }) ==
          "stream copy in: got number 6 for row 1 of it at tile_3, 0x80110, expected 0 to 5: rows "
          "of far");
    words.word(3, kWords + 16) = 0;
    words.word(2, kWords) = 5;
    CHECK(refused([&] { static_cast<void>(named(0)); }) ==
          "stream copy in: got number 5 for row 0 of it at tile_2, 0x80100, expected 0 to 4: rows "
          "of far");

    // rows that words could name: 1 to 7 of both
    for (const auto& [row, good] :
         {std::pair{-2, false}, std::pair{-1, true}, std::pair{2, true}, std::pair{3, false}}) {
        CAPTURE(row);
        CHECK(refused([&] { copies.check_rows(0, row); }).empty() == good);
    }
}

TEST_CASE("a copy does not begin while another one writes the words that name its rows") {
    const auto machine = four_tiles();
    auto program = two_copies();
    program.stream_copies.front() = two_named();
    program.stream_copies.front().rows_from[1].below = 5;
    program.stream_copies.front().rows_from[0].below = 5;
    const auto said = [&](StreamCopy::Direction direction, TileId tile, Address address) {
        program.stream_copies[1].direction = direction;
        program.stream_copies[1].pieces = {{tile, address, 64, 0}};
        memory::StreamCopies copies(machine, program);
        copies.start({1, 9, 1}, 3);
        return refused([&] { copies.start({0, 0, 2}, 7); });
    };
    using Direction = StreamCopy::Direction;
    CHECK(said(Direction::Read, 3, kWords) ==
          "stream copy in: started at cycle 7 by words at tile_3, 0x80100, which out, under way, "
          "has");
    CHECK_FALSE(said(Direction::Read, 2, kWords - 60).empty());
    CHECK(said(Direction::Read, 2, kWords - 64).empty());
    CHECK(said(Direction::Read, 2, kWords + 4).empty());
    CHECK(said(Direction::Read, 1, kWords).empty());
    CHECK(said(Direction::Write, 3, kWords).empty()); // it reads them too
}
