// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "models/ipu/core/chip_memory.h"
#include "models/ipu/core/tensor_io.h"
#include "models/listeners/account.h"
#include "models/listeners/laws.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <numeric>
#include <utility>

using namespace tessera;

namespace {

spec::MachineSpec tiles(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

std::vector<std::uint16_t> read_halves(const program::Tensor& tensor,
                                       const ipu::ChipMemory& memory) {
    std::vector<std::uint16_t> host(static_cast<std::size_t>(ipu::elements_of(tensor)));
    ipu::read_tensor(tensor, memory, std::as_writable_bytes(std::span(host)));
    return host;
}

std::vector<std::uint16_t> halves_at(const ipu::ChipMemory& memory, TileId tile, Address address) {
    std::vector<std::uint16_t> halves(12);
    std::memcpy(halves.data(), memory.at(tile, address, 24), 24);
    return halves;
}

/// A 4 x 6 matrix whose columns 0..2 stand transposed on tile 0 and 3..5 row by row on tile 1.
program::Tensor two_pieces(Address base) {
    program::Tensor tensor;
    tensor.name = std::string("a");
    tensor.shape = {4, 6};
    tensor.pieces.push_back({0, base, 0, {{3, 1, 8}, {4, 6, 2}}});
    tensor.pieces.push_back({1, base, 3, {{4, 6, 6}, {3, 1, 2}}});
    return tensor;
}

} // namespace

TEST_CASE("a tile may have no more than what its program names") {
    const auto machine = tiles(4);
    const Address base = machine.memory.region0_begin();
    program::Program program;
    program.images.resize(2);
    program.images[0].segments = {{base + 64, 100, program::SegmentKind::Code, "code", nullptr},
                                  {base, 20, program::SegmentKind::Tensor, "x", nullptr}};
    program.images[1].segments = {{base, 8, program::SegmentKind::Tensor, "y", nullptr}};
    program.image_of_tile = {0, 1, 1, program::Program::kNoImage};
    CHECK(ipu::named_bytes(machine, program) == std::vector<Bytes>{164, 8, 8, 0});
    program.tensors = {two_pieces(base + 200)};
    CHECK(ipu::named_bytes(machine, program) == std::vector<Bytes>{200 + 24, 200 + 24, 8, 0});
    program.exchanges.resize(1);
    program.exchanges[0].transfers = {{1, base + 300, 16, false, {{3, base + 40}, {2, base}}}};
    CHECK(ipu::named_bytes(machine, program) == std::vector<Bytes>{224, 316, 16, 56});
    program.stream_copies.resize(1);
    program.stream_copies[0].pieces = {{3, base + 80, 12, 0}};
    program.control.children.resize(1);
    program.control.children[0].value = program::TileValue{2, base + 96};
    CHECK(ipu::named_bytes(machine, program) == std::vector<Bytes>{224, 316, 100, 92});
    program.functions.resize(1);
    program.functions[0].body.value = program::TileValue{3, base + 120};
    const auto named = ipu::named_bytes(machine, program);
    CHECK(named == std::vector<Bytes>{224, 316, 100, 124});

    const ipu::ChipMemory memory(machine, named);
    for (TileId tile = 0; tile < 4; ++tile) {
        CHECK(memory.bytes_of_tile(tile) == named[tile]);
        CHECK_NOTHROW(memory.at(tile, base, named[tile]));
        CHECK_THROWS_AS(memory.at(tile, base, named[tile] + 1), ProgramError);
        CHECK(reinterpret_cast<std::uintptr_t>(memory.of_tile(tile)) % 4096 == 0);
        CHECK((tile == 0 || memory.of_tile(tile) >= memory.of_tile(tile - 1) + named[tile - 1]));
    }
    // an address that no tile has is refused where it is used
    program.tensors[0].pieces[0].address = machine.memory.end() - 4;
    program.tensors[0].pieces[1].tile = 17;
    CHECK(ipu::named_bytes(machine, program)[0] == machine.memory.bytes());
}

TEST_CASE("words in which elements of a known tensor stand are known as a whole") {
    const auto machine = tiles(2);
    const Address base = machine.memory.region0_begin();
    const auto known_words = [&](const program::Tensor& tensor) {
        program::KnownWords known(2, base, machine.memory.bytes());
        ipu::learn_tensor(tensor, known);
        std::vector<Address> words; // behind the base, of tile 1
        for (Address word = 0; word < 200; word += 4) {
            CHECK_FALSE(known.is_known(0, base + word));
            if (known.is_known(1, base + word)) {
                words.push_back(word);
            }
        }
        return words;
    };
    using Words = std::vector<Address>;
    program::Tensor tensor;
    tensor.shape = {6};
    // halves that begin or end within a word
    tensor.pieces = {{1, base + 2, 0, {{3, 1, 2}}}};
    CHECK(known_words(tensor) == Words{0, 4});
    tensor.pieces = {{1, base + 8, 0, {{3, 1, 2}}}};
    CHECK(known_words(tensor) == Words{8, 12});
    tensor.pieces = {{1, base + 8, 0, {{4, 1, 2}}}};
    CHECK(known_words(tensor) == Words{8, 12});
    tensor.pieces = {{1, base + 10, 0, {{1, 1, 2}}}};
    CHECK(known_words(tensor) == Words{8});
    // rows apart from each other, and two pieces
    tensor.pieces = {{1, base + 64, 0, {{2, 3, 32}, {3, 1, 2}}}, {1, base + 128, 0, {{1, 1, 2}}}};
    CHECK(known_words(tensor) == Words{64, 68, 96, 100, 128});
    tensor.type = ElementType::F32;
    tensor.pieces = {{1, base + 12, 0, {{3, 1, 4}}}};
    CHECK(known_words(tensor) == Words{12, 16, 20});
}

TEST_CASE("a tensor may stand backwards in a tile and in the host's array") {
    const auto machine = tiles(1);
    ipu::ChipMemory memory(machine);
    const Address first = machine.memory.region0_begin();
    std::vector<std::uint16_t> host(6);
    std::iota(host.begin(), host.end(), std::uint16_t{100});
    // rows from the last address down, and the host's columns from the last one
    program::Tensor tensor;
    tensor.shape = {2, 3};
    tensor.pieces.push_back({0, first + 6, 2, {{2, 3, -6}, {3, -1, 2}}});
    ipu::write_tensor(tensor, std::as_bytes(std::span(host)), memory);
    auto halves = halves_at(memory, 0, first);
    halves.resize(6);
    CHECK(halves == std::vector<std::uint16_t>{105, 104, 103, 102, 101, 100});
    CHECK(read_halves(tensor, memory) == host);

    // one place further down is outside memory, one element further down outside the array
    tensor.pieces[0].address = first + 4;
    CHECK_THROWS_AS(ipu::write_tensor(tensor, std::as_bytes(std::span(host)), memory),
                    ProgramError);
    tensor.pieces[0].address = first + 6;
    tensor.pieces[0].host_offset = 1;
    CHECK_THROWS_WITH(
        ipu::write_tensor(tensor, std::as_bytes(std::span(host)), memory),
        "tensor : a piece on tile_0 holds elements [-1, 5), expected them inside [0, 6)");
}

TEST_CASE("elements of one dimension may stand apart in a tile") {
    const auto machine = tiles(1);
    ipu::ChipMemory memory(machine);
    const Address first = machine.memory.region0_begin();
    program::Tensor tensor;
    tensor.shape = {3};
    tensor.pieces.push_back({0, first, 0, {{3, 1, 6}}});
    const std::vector<std::uint16_t> host{7, 8, 9};
    ipu::write_tensor(tensor, std::as_bytes(std::span(host)), memory);
    auto halves = halves_at(memory, 0, first);
    halves.resize(7);
    CHECK(halves == std::vector<std::uint16_t>{7, 0, 0, 8, 0, 0, 9});
    CHECK(read_halves(tensor, memory) == host);
}

TEST_CASE("each element of a piece goes where its strides say, in whatever order its sizes are") {
    constexpr std::int64_t kColumns = 4;
    constexpr Bytes kElement = 2;
    const auto machine = tiles(1);
    const Address first = machine.memory.region0_begin();
    // rows, columns, and places that lie side by side or apart
    for (const Bytes between_columns : {kElement, 3 * kElement}) {
        for (const Bytes between_rows : {kColumns * between_columns, 9 * between_columns}) {
            for (const bool columns_first : {false, true}) {
                CAPTURE(between_columns, between_rows, columns_first);
                const program::PieceDim rows{3, kColumns, between_rows};
                const program::PieceDim columns{kColumns, 1, between_columns};
                program::Tensor tensor;
                tensor.shape = {rows.count, columns.count};
                tensor.pieces.push_back({0, first, 0, {rows, columns}});
                if (columns_first) {
                    std::swap(tensor.pieces[0].dims[0], tensor.pieces[0].dims[1]);
                }
                std::vector<std::uint16_t> host(
                    static_cast<std::size_t>(rows.count * columns.count));
                std::iota(host.begin(), host.end(), std::uint16_t{1});
                ipu::ChipMemory memory(machine);
                ipu::write_tensor(tensor, std::as_bytes(std::span(host)), memory);
                for (std::int64_t row = 0; row < rows.count; ++row) {
                    for (std::int64_t column = 0; column < columns.count; ++column) {
                        const auto at =
                            static_cast<Address>(row * between_rows + column * between_columns);
                        std::uint16_t there = 0;
                        std::memcpy(&there, memory.at(0, first + at, kElement), kElement);
                        CHECK(there == row * kColumns + column + 1);
                    }
                }
                CHECK(read_halves(tensor, memory) == host);
            }
        }
    }
}

TEST_CASE("a piece of no elements touches nothing") {
    const auto machine = tiles(1);
    ipu::ChipMemory memory(machine);
    program::Tensor tensor;
    tensor.shape = {2};
    tensor.pieces.push_back({7, 0, 99, {{0, 1, 2}}});
    std::vector<std::uint16_t> host(2, 5);
    CHECK_NOTHROW(ipu::write_tensor(tensor, std::as_bytes(std::span(host)), memory));
    CHECK(read_halves(tensor, memory) == std::vector<std::uint16_t>{0, 0});
}

TEST_CASE("tensors go to strided pieces and come back") {
    const auto machine = tiles(2);
    ipu::ChipMemory memory(machine);
    const Address base = machine.memory.region1_begin();
    const auto tensor = two_pieces(base);
    std::vector<std::uint16_t> host(24);
    std::iota(host.begin(), host.end(), std::uint16_t{100});
    ipu::write_tensor(tensor, std::as_bytes(std::span(host)), memory);
    CHECK(halves_at(memory, 0, base) ==
          std::vector<std::uint16_t>{100, 106, 112, 118, 101, 107, 113, 119, 102, 108, 114, 120});
    CHECK(halves_at(memory, 1, base) ==
          std::vector<std::uint16_t>{103, 104, 105, 109, 110, 111, 115, 116, 117, 121, 122, 123});
    CHECK(read_halves(tensor, memory) == host);
}

TEST_CASE("a tensor that does not fit its array or the memory is refused") {
    const auto machine = tiles(2);
    ipu::ChipMemory memory(machine);
    std::vector<std::uint16_t> host(24);
    const auto bytes = std::as_bytes(std::span(host));
    auto tensor = two_pieces(machine.memory.region1_begin());
    CHECK_THROWS_WITH(ipu::write_tensor(tensor, bytes.subspan(2), memory),
                      "tensor a: got 46 bytes, expected 24 elements of 2 bytes");
    tensor.pieces[1].host_offset = 4;
    CHECK_THROWS_WITH(
        ipu::write_tensor(tensor, bytes, memory),
        "tensor a: a piece on tile_1 holds elements [4, 25), expected them inside [0, 24)");
    tensor.pieces[1].host_offset = 3;
    tensor.pieces[1].address = machine.memory.end() - 2;
    CHECK_THROWS_AS(ipu::write_tensor(tensor, bytes, memory), ProgramError);
    tensor.pieces[1].tile = 2;
    CHECK_THROWS_AS(ipu::write_tensor(tensor, bytes, memory), ProgramError);
}

TEST_CASE("a piece that reaches below its array or address 0 is refused by name") {
    const auto machine = tiles(1);
    ipu::ChipMemory memory(machine);
    constexpr std::int64_t kElements = 4;
    const std::vector<std::uint16_t> host(kElements);
    const auto refused = [&](std::int64_t host_stride, std::int64_t first, Bytes tile_stride,
                             Address address) {
        program::Tensor tensor;
        tensor.name = "x";
        tensor.shape = {kElements};
        tensor.pieces.push_back({0, address, first, {{kElements, host_stride, tile_stride}}});
        try {
            ipu::write_tensor(tensor, std::as_bytes(std::span(host)), memory);
        } catch (const ProgramError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const Address base = machine.memory.region0_begin();
    CHECK(refused(1, 0, 2, base).empty());
    CHECK(refused(-1, kElements - 1, 2, base).empty());
    CHECK_THAT(refused(-1, kElements - 2, 2, base),
               Catch::StartsWith("tensor x: a piece on tile_0 holds elements [-1, 3)"));
    CHECK(refused(1, 0, -2, base + 2 * (kElements - 1)).empty());
    const auto stride = -static_cast<Bytes>(base); // the second element is at address 0
    CHECK_THAT(refused(1, 0, stride, base), Catch::StartsWith("tensor x: a piece on tile_0"));
}

TEST_CASE("tile memory ends where the machine says") {
    const auto machine = tiles(4);
    const ipu::ChipMemory memory(machine);
    const Address begin = machine.memory.region0_begin();
    CHECK(memory.at(3, begin, machine.memory.bytes()) == memory.of_tile(3));
    CHECK_THROWS_AS(memory.at(3, begin, machine.memory.bytes() + 1), ProgramError);
    CHECK_THROWS_AS(memory.at(3, begin - 4, 4), ProgramError);
    CHECK_THROWS_AS(memory.at(4, begin, 4), ProgramError);
    CHECK_THROWS_AS(memory.at(0, begin + 8, -4), ProgramError);
    CHECK_THROWS_AS(memory.at(0, machine.memory.end(), 4), ProgramError);
    CHECK(memory.at(0, machine.memory.end(), 0) != nullptr);
}

namespace {

/// One exchange of 100 bytes to two tiles, done three times.
struct ExchangeRun {
    ExchangeRun() {
        program::Transfer transfer;
        transfer.bytes = 100;
        transfer.destinations = {{1, 0}, {2, 0}};
        program.exchanges.push_back({"bring", {transfer}, {}});
        record.executions = 3;
        record.bytes = 3 * 2 * transfer.bytes;
    }
    program::Program program;
    listeners::StepRecord record;
};

} // namespace

TEST_CASE("bytes sent are bytes received") {
    ExchangeRun run;
    CHECK_NOTHROW(listeners::check_bytes(run.program, {&run.record, 1}));
    run.record.bytes -= 4;
    CHECK_THROWS_WITH(listeners::check_bytes(run.program, {&run.record, 1}),
                      "exchange bring: got 596 bytes received, expected the 600 that were sent");
}

TEST_CASE("rows of a stream copy sent are bytes received") {
    program::Program program;
    program.remote_buffers.push_back(
        {"table", program::RemoteBuffer::Place::StreamingMemory, 8, 64});
    program.stream_copies.push_back({"fetch", 0, program::StreamCopy::Direction::Read, 2, {}});
    listeners::StepRecord record;
    record.executions = 3;
    record.bytes = 3 * 2 * 64;
    CHECK_NOTHROW(listeners::check_streams(program, {&record, 1}));
    record.bytes += 4;
    CHECK_THROWS_WITH(listeners::check_streams(program, {&record, 1}),
                      "stream copy fetch: got 388 bytes received, expected the 384 that were sent");
}

TEST_CASE("the six kinds of a tile's cycles sum to the run") {
    const listeners::CyclesByKind right{
        .compute = 10, .exchange = 20, .sync = 30, .stream = 40, .link = 60, .idle = 50};
    std::vector<listeners::CyclesByKind> tiles(3, right);
    CHECK_NOTHROW(listeners::check_cycles(210, tiles));
    tiles[1].stream += 1;
    CHECK_THROWS_WITH(listeners::check_cycles(210, tiles),
                      "tile_1: got 10 compute + 20 exchange + 30 sync + 41 stream + 60 link + 50 "
                      "idle = 211 cycles, expected the 210 of the run");
    tiles[1] = {.compute = 260, .exchange = 0, .sync = 0, .stream = 0, .idle = -50};
    CHECK_THROWS_AS(listeners::check_cycles(210, tiles), ProgramError);
}
