// SPDX-License-Identifier: MIT
// What the host gives micro-workloads, and how they are spread over tiles: against formulas of
// their own.
#include "base/error.h"
#include "base/float16.h"
#include "kernels/micro/message_pattern.h"
#include "kernels/micro/stencil_image.h"
#include "kernels/micro/stream_steps.h"
#include "kernels/workload/random.h"
#include "models/timing/tile_position.h"
#include "tests/kernels/micro/micro_bench.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <tuple>

namespace {

using namespace tessera;
using namespace tessera::workload;
using Catch::Contains;

/// Elements of what the host gives as `array`, as numbers.
std::vector<double> given(const micro::Values& values, program::ArrayId array, ElementType type) {
    for (const auto& one : values.given) {
        if (one.array == array) {
            std::vector<double> numbers;
            const auto bytes = static_cast<std::size_t>(bytes_of(type));
            for (std::size_t at = 0; at < one.bytes.size(); at += bytes) {
                std::uint16_t half = 0;
                float single = 0;
                std::memcpy(type == ElementType::F16 ? static_cast<void*>(&half) : &single,
                            one.bytes.data() + at, bytes);
                numbers.push_back(type == ElementType::F16 ? double{f16_to_f32(half)}
                                                           : double{single});
            }
            return numbers;
        }
    }
    FAIL("nothing is given as array " << array.index);
    return {};
}

std::vector<double> numbers(std::int64_t count,
                            const std::function<std::int64_t(std::int64_t)>& value) {
    std::vector<double> made;
    for (std::int64_t i = 0; i < count; ++i) {
        made.push_back(static_cast<double>(value(i)));
    }
    return made;
}

std::string refused(const std::function<void()>& plan) {
    try {
        plan();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("streams and sums are of small whole numbers that their place says", "[kernels][micro]") {
    MemoryStreamWorkload stream;
    stream.elements = 240;
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        stream.dtype = type;
        const auto plan = test::plan_micro(test::chip_of(1), stream);
        CHECK(given(plan.values, program::tensor(0), type) ==
              numbers(stream.elements, [](auto i) { return i % 13 + 1; }));
        CHECK(given(plan.values, program::tensor(1), type) ==
              numbers(stream.elements, [](auto i) { return i % 7; }));
        StreamedTriadWorkload triad;
        triad.dtype = type;
        triad.io_tiles = 1;
        triad.chunk_elements = 16;
        triad.elements = 100; // whole rows of 48 are streamed
        const auto streamed = test::plan_micro(test::chip_of(4), triad);
        CHECK(given(streamed.values, program::remote_buffer(0), type) ==
              numbers(3 * 48, [](auto i) { return i % 31 - 15; }));
        CHECK(given(streamed.values, program::remote_buffer(1), type) ==
              numbers(3 * 48, [](auto i) { return i * 7 % 29 - 14; }));
        RearrangeWorkload rearrange;
        rearrange.rows = 20;
        rearrange.columns = 120;
        rearrange.dtype = type;
        const std::int64_t elements = rearrange.rows * rearrange.columns;
        CHECK(given(test::plan_micro(test::chip_of(2), rearrange).values, program::tensor(0),
                    type) == numbers(2 * elements, [&](auto i) {
                  return (i % elements * 7 + i / elements * 13) % 2003 + 1;
              }));
    }
    ReductionWorkload sum;
    sum.operands = 12;
    CHECK(given(test::plan_micro(test::chip_of(5), sum).values, program::tensor(0),
                ElementType::F32) == numbers(5 * sum.operands, [&](auto i) {
              const std::int64_t tile = i / sum.operands;
              return i % sum.operands == 0 ? tile % 3 + 20 : i % sum.operands % 5 - 2;
          }));
    const std::vector<float> image = micro::first_image(13, 7);
    CHECK(std::vector<double>(image.begin(), image.end()) ==
          numbers(13 * 7 * 4, [](auto i) { return (i * 2654435761 >> 9) % 256; }));
    for (const std::uint32_t salt : {0U, 1U}) {
        std::vector<std::uint32_t> words(9);
        const auto bytes = micro::marked_bytes(36, salt);
        REQUIRE(bytes.size() == 36);
        std::memcpy(words.data(), bytes.data(), 36);
        for (std::uint32_t i = 0; i < 9; ++i) {
            CHECK(words[i] == (i + salt) * 2654435761U);
        }
    }
}

TEST_CASE("messages have numbers of 24 bits that the seed says", "[kernels][micro]") {
    ExchangePatternWorkload shift;
    shift.pattern = ExchangePattern::Shift;
    shift.bytes = 20;
    shift.seed = 5;
    const CounterRandom random(shift.seed, 1);
    CHECK(given(test::plan_micro(test::chip_of(4), shift).values, program::tensor(0),
                ElementType::F32) == numbers(4 * 5, [&](auto i) {
              return static_cast<std::int64_t>(
                  random.below(1U << 24U, static_cast<std::uint64_t>(i)));
          }));
}

TEST_CASE("the remote buffer's rows are marked, and chunk after chunk arrives",
          "[kernels][micro]") {
    RemoteBufferWorkload read;
    read.rows = 6;
    read.row_bytes = 32;
    read.chunk_rows = 2;
    read.repeats = 3;
    const auto machine = test::chip_of(2);
    auto emitted = micro::emit(machine, read);
    REQUIRE(emitted.arrivals);
    CHECK(emitted.arrivals->copies == read.repeats * read.rows / read.chunk_rows);
    CHECK(emitted.arrivals->bytes == read.chunk_rows * read.row_bytes);
    CHECK(emitted.choices == std::map<std::string, std::int64_t>{{"tiles", 2}, {"copies", 3}});
    const auto values = emitted.values();
    const auto all = micro::marked_bytes(read.rows * read.row_bytes, 1);
    CHECK((values.given.at(0).bytes == all));
    CHECK((values.expected.at(0).bytes ==
           std::vector<std::byte>(all.end() - emitted.arrivals->bytes, all.end())));
    CHECK(emitted.graph.control.count == 3);
    REQUIRE(emitted.graph.stream_copies.size() == 1);
    const auto& copy = emitted.graph.stream_copies.front();
    CHECK(copy.name == "read");
    CHECK(copy.owner == "remote_buffer");
    CHECK(copy.direction == program::StreamCopy::Direction::Read);
    CHECK(copy.rows == read.chunk_rows);
    std::vector<std::int64_t> rows;
    for (const auto& step : emitted.graph.control.children) {
        rows.push_back(step.row);
    }
    CHECK(rows == std::vector<std::int64_t>{0, 2, 4});
    auto write = read;
    write.direction = StreamDirection::Write;
    const auto written = micro::emit(machine, write);
    CHECK_FALSE(written.arrivals);
    CHECK(written.graph.stream_copies.at(0).name == "write");
    CHECK(written.graph.stream_copies.at(0).direction == program::StreamCopy::Direction::Write);
    const auto chunk = micro::marked_bytes(read.chunk_rows * read.row_bytes, 1);
    CHECK((written.values().given.at(0).bytes == chunk));
    auto expected = chunk;
    expected.insert(expected.end(), chunk.begin(), chunk.end());
    expected.insert(expected.end(), chunk.begin(), chunk.end());
    CHECK((written.values().expected.at(0).bytes == expected));
}

TEST_CASE("bytes are spread in whole requests where they are made of them, else in words",
          "[kernels][micro]") {
    for (const Bytes request : {4, 6, 8, 64}) {
        for (const std::int64_t tiles : {1, 3, 5}) {
            for (const Bytes bytes : {4, 8, 12, 64, 192, 256, 324}) {
                CAPTURE(request, tiles, bytes);
                const Bytes unit = request % 4 == 0 && bytes % request == 0 ? request : 4;
                const auto pieces = micro::spread_over(bytes, 7, tiles, {}, request);
                const std::int64_t units = bytes / unit;
                CHECK(static_cast<std::int64_t>(pieces.size()) == std::min(tiles, units));
                Bytes done = 0;
                TileId last = 6;
                for (const auto& piece : pieces) {
                    CHECK(piece.offset == done);
                    CHECK(piece.bytes % unit == 0);
                    CHECK(piece.bytes >= units / tiles * unit);
                    CHECK(piece.bytes <= (units + tiles - 1) / tiles * unit);
                    CHECK(piece.tile > last);
                    CHECK(piece.tile < 7 + tiles);
                    done += piece.bytes;
                    last = piece.tile;
                }
                CHECK(done == bytes);
                const auto tensor = micro::tensor_of("t", pieces);
                CHECK(tensor.shape == std::vector<std::int64_t>{bytes / 4});
                std::int64_t words = 0;
                for (const auto& piece : tensor.pieces) {
                    CHECK(piece.host_offset == words);
                    words += piece.dims.back().count;
                }
                CHECK(words == bytes / 4);
            }
        }
    }
}

namespace {

using Sent = std::tuple<TileId, Address, TileId, Address>; ///< from, where, to, where

/// All of them in their order, own parts after the others.
std::vector<Sent> sent(const micro::MessagePattern& pattern, Bytes bytes) {
    std::vector<Sent> all;
    for (const auto& transfer : pattern.transfers) {
        CHECK(transfer.bytes == bytes);
        CHECK_FALSE(transfer.paired);
        for (const auto& to : transfer.destinations) {
            all.emplace_back(transfer.source_tile, transfer.source_address, to.tile, to.address);
        }
    }
    for (const auto& copy : pattern.copies) {
        all.emplace_back(copy.tile, copy.from, copy.tile, copy.to);
    }
    return all;
}

} // namespace

TEST_CASE("who sends what to whom is as the pattern says", "[kernels][micro]") {
    constexpr Bytes kBytes = 12;
    constexpr std::int64_t kTiles = 6;
    const auto machine = test::chip_of(kTiles);
    const auto slot = [](std::int64_t number) { return static_cast<Address>(number * kBytes); };
    const auto tile = [](std::int64_t number) { return static_cast<TileId>(number); };
    for (const bool self : {false, true}) {
        for (const std::int64_t tiles : {0, 2, 3, 4, 5}) {
            const std::int64_t used = tiles == 0 ? kTiles : tiles;
            ExchangePatternWorkload workload;
            workload.bytes = kBytes;
            workload.include_self = self;
            workload.tiles = tiles;
            workload.source = 2;
            workload.destination = 2;
            CAPTURE(self, tiles);
            const auto check = [&](ExchangePattern pattern, std::vector<Sent> expected) {
                CAPTURE(static_cast<int>(pattern));
                // own parts come last
                std::stable_partition(expected.begin(), expected.end(), [](const Sent& one) {
                    return std::get<0>(one) != std::get<2>(one);
                });
                std::erase_if(expected, [&](const Sent& one) {
                    return !self && std::get<0>(one) == std::get<2>(one);
                });
                workload.pattern = pattern;
                const auto got = micro::message_pattern(machine, workload);
                CHECK((sent(got, kBytes) == expected));
                std::vector<Bytes> source(kTiles);
                std::vector<Bytes> destination(kTiles);
                for (const auto& [from, at, to, where] : expected) {
                    source[from] = std::max(source[from], Bytes{at} + kBytes);
                    destination[to] = std::max(destination[to], Bytes{where} + kBytes);
                }
                CHECK(got.source_bytes == source);
                CHECK(got.destination_bytes == destination);
            };
            std::vector<Sent> all;
            std::vector<Sent> shift;
            std::vector<Sent> pairs;
            std::vector<Sent> turned;
            const std::int64_t even = used / 2 * 2;
            std::int64_t rows = 1;
            for (std::int64_t r = 2; r * r <= used; ++r) {
                rows = used % r == 0 ? r : rows;
            }
            const std::int64_t columns = used / rows;
            for (std::int64_t from = 0; from < used; ++from) {
                shift.emplace_back(tile(from), 0, tile((from + 1) % used), 0);
                if (from < even) {
                    pairs.emplace_back(tile(from), 0, tile((from + even / 2) % even), 0);
                }
                const std::int64_t row = from / columns;
                const std::int64_t column = from % columns;
                turned.emplace_back(tile(from), 0, tile(column * rows + row), 0);
                for (std::int64_t to = 0; to < used; ++to) {
                    all.emplace_back(tile(from), slot(to), tile(to), slot(from));
                }
            }
            check(ExchangePattern::AllToAll, all);
            check(ExchangePattern::Shift, shift);
            check(ExchangePattern::Pairs, pairs);
            if (rows > 1) {
                check(ExchangePattern::Transpose, turned);
            }
            // around tile 2: the others, then its partner
            std::vector<TileId> around;
            if (self) {
                around.push_back(2);
            }
            const auto partner = timing::partner_tile(machine.chip, 2);
            REQUIRE(partner);
            for (std::int64_t other = 0; other < kTiles; ++other) {
                if (other != 2 && tile(other) != *partner) {
                    around.push_back(tile(other));
                }
            }
            around.push_back(*partner);
            if (tiles > 0) {
                around.resize(static_cast<std::size_t>(tiles));
            }
            std::vector<Sent> broadcast;
            std::vector<Sent> gather;
            std::vector<Sent> scatter;
            for (const TileId other : around) {
                const auto number = static_cast<std::int64_t>(gather.size());
                broadcast.emplace_back(tile(2), 0, other, 0);
                gather.emplace_back(other, 0, tile(2), slot(number));
                scatter.emplace_back(tile(2), slot(number), other, 0);
            }
            check(ExchangePattern::Broadcast, broadcast);
            check(ExchangePattern::Gather, gather);
            check(ExchangePattern::Scatter, scatter);
            // one of the chip's tiles that are left, drawn by the sender's number
            std::vector<TileId> left(kTiles);
            std::iota(left.begin(), left.end(), TileId{0});
            const CounterRandom random(workload.seed, 0);
            std::vector<Sent> drawn;
            for (std::int64_t from = 0; from < used; ++from) {
                const auto many = static_cast<std::uint64_t>(kTiles - from);
                auto at = random.below(many, static_cast<std::uint64_t>(from));
                if (left[at] == tile(from) && many > 1) {
                    at = (at + 1) % many;
                }
                drawn.emplace_back(tile(from), 0, left[at], 0);
                std::swap(left[at], left[many - 1]);
            }
            check(ExchangePattern::Random, drawn);
        }
    }
}

TEST_CASE("the chosen grid has the smallest part of all grids, and of those the shortest border",
          "[kernels][micro]") {
    for (const auto& [width, height] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                        {7, 3},
                                        {3, 7},
                                        {24, 24},
                                        {5, 100},
                                        {64, 48}}) {
        for (std::int64_t tiles = 1; tiles <= 40; ++tiles) {
            CAPTURE(width, height, tiles);
            using Cost = std::pair<std::int64_t, std::int64_t>;
            const auto cost = [](const micro::PartGrid& grid) {
                return Cost{grid.widest() * grid.highest(), grid.widest() + grid.highest()};
            };
            Cost best{width * height, width + height};
            for (std::int64_t columns = 1; columns <= std::min(width, tiles); ++columns) {
                for (std::int64_t rows = 1; rows <= height && rows * columns <= tiles; ++rows) {
                    best = std::min(best, cost({columns, rows, width, height}));
                }
            }
            const auto grid = micro::choose_grid(width, height, tiles);
            CHECK(cost(grid) == best);
            CHECK(grid.parts() <= tiles);
            CHECK((grid.columns <= width && grid.rows <= height));
        }
    }
}

TEST_CASE("a stencil's grid has a tile and a pixel for each part", "[kernels][micro]") {
    StencilWorkload blur;
    blur.width = 3;
    blur.height = 2;
    const auto refusal = [&](std::int64_t columns, std::int64_t rows, std::int64_t tiles) {
        blur.grid_columns = columns;
        blur.grid_rows = rows;
        return refused([&] { static_cast<void>(micro::emit(test::chip_of(tiles), blur)); });
    };
    CHECK(refusal(3, 2, 6).empty());
    for (const auto& [columns, rows, tiles] :
         {std::tuple{3, 2, 5}, std::tuple{4, 1, 6}, std::tuple{1, 3, 6}}) {
        CHECK(refusal(columns, rows, tiles) ==
              fmt::format("workload: /grid_columns: got a grid of {} x {} tiles, expected at most "
                          "{} tiles on machine 'bow' (chip.tiles) and a pixel for each of them",
                          columns, rows, tiles));
    }
}

TEST_CASE("a worker blurs as many pixels as the others, or one more", "[kernels][micro]") {
    for (const auto& [width, height] :
         {std::pair<std::int64_t, std::int64_t>{5, 4}, {1, 7}, {40, 1}, {3, 1}}) {
        CAPTURE(width, height);
        StencilWorkload blur;
        blur.width = width;
        blur.height = height;
        const auto machine = test::chip_of(1);
        const auto emitted = micro::emit(machine, blur);
        const auto& tables = emitted.graph.tables;
        REQUIRE(static_cast<std::int64_t>(tables.size()) == machine.tile.workers);
        std::int64_t all = 0;
        for (const auto& table : tables) {
            const auto fields = emitted.graph.fields_of(table.fields);
            const std::size_t runs = (fields.size() - 1) / 3;
            CHECK(fields[0].word == static_cast<std::uint32_t>(runs) - 1U);
            std::int64_t pixels = 0;
            for (std::size_t run = 0; run < runs; ++run) {
                const std::int64_t count = fields[3 * run + 3].word + 1;
                CHECK(count >= 1);
                CHECK(count <= width);
                CHECK(fields[3 * run + 2].bytes == count * 8);
                CHECK(fields[3 * run + 1].bytes == 2 * (width + 2) * 8 + (count + 2) * 8);
                pixels += count;
            }
            CHECK(runs <= static_cast<std::size_t>((pixels + width - 1) / width + 1));
            CHECK(pixels >= width * height / machine.tile.workers);
            CHECK(pixels <= (width * height - 1) / machine.tile.workers + 1);
            all += pixels;
        }
        CHECK(all == width * height);
    }
}

TEST_CASE("twelve operands are one worker's work, and groups are as many as their members",
          "[kernels][micro]") {
    const auto vertices = [](std::int64_t operands) {
        ReductionWorkload sum;
        sum.operands = operands;
        return test::plan_micro(test::chip_of(1), sum)
            .program.compute_sets.at(0)
            .tiles.at(0)
            .vertices.size();
    };
    CHECK(vertices(12) == 1);
    CHECK(vertices(13) == 2);
    for (std::int64_t tiles = 2; tiles <= 26; ++tiles) {
        CAPTURE(tiles);
        ReductionWorkload sum;
        sum.operands = 3;
        sum.stages = 2;
        const auto plan = test::plan_micro(test::chip_of(tiles), sum);
        const bool two = tiles > 3;
        CHECK(plan.choices.at("stages") == (two ? 2 : 1));
        const auto groups =
            two ? static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(tiles)))) : 1;
        std::map<TileId, std::int64_t> members;
        for (const auto& transfer : plan.program.exchanges.at(0).transfers) {
            REQUIRE(transfer.destinations.size() == 1);
            CHECK(transfer.bytes == 4);
            ++members[transfer.destinations.front().tile];
        }
        CHECK(plan.program.exchanges.at(0).transfers.size() ==
              static_cast<std::size_t>(tiles - groups));
        for (const auto& [leader, others] : members) {
            CHECK(others + 1 >= tiles / groups);
            CHECK(others + 1 <= (tiles + groups - 1) / groups);
        }
        if (two) {
            CHECK(plan.program.exchanges.at(1).transfers.size() ==
                  static_cast<std::size_t>(groups - 1));
        }
    }
}

TEST_CASE("tiles that a machine has not are named with those that it has", "[kernels][micro]") {
    ExchangePatternWorkload workload;
    workload.pattern = ExchangePattern::PointToPoint;
    const auto refusal = [&](std::int64_t tiles) {
        return refused([&] { static_cast<void>(micro::emit(test::chip_of(tiles), workload)); });
    };
    workload.source = 3;
    workload.destination = 0;
    CHECK(refusal(4).empty());
    workload.source = 4;
    CHECK(refusal(4) ==
          "workload: /source: got tile 4, expected 0..3 on machine 'bow' (chip.tiles)");
    workload.source = 0;
    workload.destination = 4;
    CHECK(refusal(4) ==
          "workload: /destination: got tile 4, expected 0..3 on machine 'bow' (chip.tiles)");
    workload.destination = 1;
    CHECK(refusal(1) ==
          "workload: /destination: got tile 1, expected 0..0 on machine 'bow' (chip.tiles)");
    workload.destination = 0;
    workload.pattern = ExchangePattern::Gather;
    workload.tiles = 2;
    CHECK(refusal(2) ==
          "workload: /tiles: got 2 tiles, expected 1..1 on machine 'bow' (chip.tiles)");
    workload.tiles = 1;
    CHECK(refusal(2).empty());
    CHECK(refusal(1) == "workload: /tiles: got 1 tiles, expected none on machine 'bow', whose 1 "
                        "tiles (chip.tiles) are too few");
}

TEST_CASE("remote buffers are held twice: as the host gives them and as they come to be",
          "[kernels][micro]") {
    constexpr Bytes kGiB = Bytes{1} << 30;
    const std::vector<Bytes> sizes{1024 * kGiB, 512 * kGiB, 256 * kGiB};
    CHECK_THROWS_WITH(micro::need_memory_of_buffers(sizes, "rows"),
                      Catch::StartsWith("rows: needs 3584.0 GiB of the host's memory"));
    CHECK_NOTHROW(micro::need_memory_of_buffers({}, "nothing"));
}
