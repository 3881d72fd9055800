// SPDX-License-Identifier: MIT
// What micro-workloads are called: whole sentences, with every choice that they name.
#include "base/error.h"
#include "kernels/workload/micro_workloads.h"
#include "tests/kernels/micro/micro_bench.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace {

using namespace tessera;
using namespace tessera::workload;

constexpr std::int64_t kTiles = 4;

template <class Workload> std::string sentence(const Workload& workload) {
    return micro::emit(test::chip_of(kTiles), workload).graph.name;
}

} // namespace

TEST_CASE("a stream is called by its operation, elements and loop", "[kernels][micro]") {
    MemoryStreamWorkload stream;
    stream.elements = 480;
    stream.repeats = 7;
    for (const auto& [op, op_name] : {std::pair{StreamOp::Copy, "copy"},
                                      {StreamOp::Scale, "scale"},
                                      {StreamOp::Add, "add"},
                                      {StreamOp::Triad, "triad"},
                                      {StreamOp::Read, "read"}}) {
        for (const auto& [codelet, codelet_name] : {std::pair{StreamCodelet::Paced, "paced"},
                                                    {StreamCodelet::Vector, "vector"},
                                                    {StreamCodelet::Vendor, "vendor"},
                                                    {StreamCodelet::Naive, "naive"}}) {
            for (const auto& [type, type_name] :
                 {std::pair{ElementType::F16, "f16"}, {ElementType::F32, "f32"}}) {
                stream.op = op;
                stream.codelet = codelet;
                stream.dtype = type;
                CHECK(sentence(stream) == fmt::format("STREAM {} of 480 {} elements, {} loop, 7 "
                                                      "times",
                                                      op_name, type_name, codelet_name));
            }
        }
    }
    StreamedTriadWorkload triad;
    triad.elements = 100;
    triad.chunk_elements = 16;
    triad.prefetch = 3;
    triad.repeats = 5;
    for (const auto& [type, type_name] :
         {std::pair{ElementType::F16, "f16"}, {ElementType::F32, "f32"}}) {
        triad.dtype = type;
        CHECK(sentence(triad) == fmt::format("streamed triad, 100 {} elements, 1 IO tiles, "
                                             "prefetch 3, computed 5 times",
                                             type_name));
    }
}

TEST_CASE("an exchange is called by its pattern, and a copy by its tiles", "[kernels][micro]") {
    ExchangePatternWorkload exchange;
    exchange.bytes = 24;
    for (const auto& [pattern, name] : {std::pair{ExchangePattern::PointToPoint, "point to point"},
                                        {ExchangePattern::Pairs, "pairs"},
                                        {ExchangePattern::Broadcast, "broadcast"},
                                        {ExchangePattern::Gather, "gather"},
                                        {ExchangePattern::Scatter, "scatter"},
                                        {ExchangePattern::AllToAll, "all to all"},
                                        {ExchangePattern::Random, "random"},
                                        {ExchangePattern::Transpose, "transpose"},
                                        {ExchangePattern::Shift, "shift"}}) {
        exchange.pattern = pattern;
        exchange.repeats = 1;
        CHECK(sentence(exchange) == fmt::format("{} of 24 B messages", name));
        exchange.repeats = 2;
        CHECK(sentence(exchange) == fmt::format("{} of 24 B messages, 2 times", name));
    }
    SelfCopyWorkload copy;
    copy.bytes = 32;
    CHECK(sentence(copy) == "copy of 32 B inside each of 4 tiles");
    copy.tiles = 3;
    copy.repeats = 6;
    CHECK(sentence(copy) == "copy of 32 B inside each of 3 tiles, 6 times");
    RearrangeWorkload rearrange;
    rearrange.rows = 6;
    rearrange.columns = 10;
    rearrange.repeats = 2;
    CHECK(sentence(rearrange) == "6 x 10 f32 elements on each of 4 tiles, 2 times");
    rearrange.dtype = ElementType::F16;
    rearrange.cast = true;
    rearrange.tiles = 2;
    CHECK(sentence(rearrange) == "6 x 10 f16 elements on each of 2 tiles, cast, 2 times");
    rearrange.transpose = true;
    CHECK(sentence(rearrange) ==
          "6 x 10 f16 elements on each of 2 tiles, cast, transposed, 2 times");
    rearrange.cast = false;
    CHECK(sentence(rearrange) == "6 x 10 f16 elements on each of 2 tiles, transposed, 2 times");
}

TEST_CASE("sums, blurs, barriers and streams are called by their sizes", "[kernels][micro]") {
    ReductionWorkload sum;
    sum.operands = 9;
    sum.repeats = 3;
    CHECK(sentence(sum) == "sum of 9 operands on each of 4 tiles, one sum, 3 times");
    sum.outputs = 2;
    sum.tiles = 2;
    CHECK(sentence(sum) == "sum of 9 operands on each of 2 tiles, a sum a tile, 3 times");
    StencilWorkload blur;
    blur.width = 9;
    blur.height = 5;
    blur.iterations = 2;
    for (const auto& [type, name] : {std::pair{StencilType::Half4, "half4"},
                                     {StencilType::Float2, "float2"},
                                     {StencilType::Float, "float"}}) {
        blur.dtype = type;
        CHECK(sentence(blur) == fmt::format("blur of 9 x 5 pixels, {}, 2 times", name));
    }
    CHECK(sentence(SyncWorkload{10}) == "sync, 10 times");
    RemoteBufferWorkload rows;
    rows.rows = 6;
    rows.row_bytes = 32;
    rows.chunk_rows = 2;
    HostTransferWorkload host;
    host.bytes = 8;
    host.tiles = 3;
    host.repeats = 4;
    for (const bool read : {true, false}) {
        rows.direction = host.direction = read ? StreamDirection::Read : StreamDirection::Write;
        CHECK(sentence(rows) ==
              fmt::format("remote buffer {}, 6 rows of 32 B, 2 at a time, 1 times",
                          read ? "read" : "write"));
        CHECK(sentence(host) ==
              fmt::format("host {} tiles, 8 B to each of 3, 4 times", read ? "to" : "from"));
    }
}

TEST_CASE("a streamed triad is computed so often in all and no more", "[kernels][micro]") {
    StreamedTriadWorkload triad;
    triad.chunk_elements = 16;
    const auto machine = test::chip_of(kTiles); // an IO tile and three that compute
    const std::int64_t row = (kTiles - triad.io_tiles) * triad.chunk_elements;
    for (const std::int64_t rounds : {1, 3}) {
        for (const std::int64_t over : {0, 1}) {
            triad.elements = row * (rounds - 1) + 1 + over * (row - 1);
            triad.repeats = kMostRounds / rounds;
            CHECK(micro::emit(machine, triad).choices.at("rounds") == rounds);
            ++triad.repeats;
            CHECK_THROWS_WITH(
                micro::emit(machine, triad),
                Catch::Contains(fmt::format("/repeats: got {} times in each of {} rounds, expected "
                                            "at most {} in all",
                                            triad.repeats, rounds, kMostRounds)));
        }
    }
    triad.repeats = 1;
    triad.io_tiles = kTiles / 2;
    CHECK_NOTHROW(micro::emit(machine, triad));
    ++triad.io_tiles;
    CHECK_THROWS_WITH(micro::emit(machine, triad),
                      Catch::Contains("/io_tiles: got 3 IO tiles, expected 1..2 on machine 'bow' "
                                      "with its 4 tiles (chip.tiles): each serves another that "
                                      "computes"));
    triad.io_tiles = 1;
    CHECK_THROWS_WITH(micro::emit(test::chip_of(1), triad),
                      Catch::Contains("/io_tiles: got 1 IO tiles, expected none on machine 'bow' "
                                      "with its 1 tiles"));
}
