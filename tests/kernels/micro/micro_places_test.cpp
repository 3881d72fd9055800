// SPDX-License-Identifier: MIT
// Buffers, control and results of micro-workloads, one by one.
#include "base/float16.h"
#include "kernels/micro/stencil_image.h"
#include "kernels/micro/stream_steps.h"
#include "kernels/workload/micro_workloads.h"
#include "tests/kernels/micro/micro_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace {

using namespace tessera;
using namespace tessera::workload;
using Kind = program::Step::Kind;

/// Of the buffer that is called so: what each tile has of it, where it has something.
std::vector<Bytes> held(const graph::Graph& graph, const std::string& name) {
    std::vector<Bytes> bytes;
    for (const auto& buffer : graph.buffers) {
        for (const auto& of_tile : buffer.held) {
            if (buffer.name == name && of_tile.bytes > 0) {
                bytes.push_back(of_tile.bytes);
            }
        }
    }
    return bytes;
}

} // namespace

TEST_CASE("a stencil has room for its parts with their halos, and no more", "[kernels][micro]") {
    for (const auto& [type, pixel] : {std::pair<StencilType, Bytes>{StencilType::Half4, 8},
                                      {StencilType::Float2, 16},
                                      {StencilType::Float, 16}}) {
        StencilWorkload blur;
        blur.width = 10;
        blur.height = 7;
        blur.dtype = type;
        blur.grid_columns = 3;
        blur.grid_rows = 2;
        const auto graph = micro::emit(test::chip_of(6), blur).graph;
        const std::int64_t widest = 4;
        const std::int64_t highest = 4;
        for (const char* name : {"field 0", "field 1"}) {
            CHECK(held(graph, name) == std::vector<Bytes>(6, (widest + 2) * (highest + 2) * pixel));
        }
        for (const char* name : {"send", "receive"}) {
            CHECK(held(graph, name) == std::vector<Bytes>(6, 2 * (widest + highest) * pixel));
        }
        // the codelet has its weights in its text: its state is the rows' distance and six lists
        const auto machine = test::chip_of(6);
        for (const auto& vertex : graph.compute_sets.back().vertices) {
            const auto fields = graph.fields_of(vertex.fields);
            CHECK(static_cast<std::int64_t>(fields.size()) == 1 + machine.tile.workers);
            CHECK(fields[0].word == static_cast<std::uint32_t>((widest + 2) * pixel));
        }
    }
}

TEST_CASE("a blur rounds every product and every sum, however small", "[kernels][micro]") {
    constexpr std::int64_t kWidth = 5;
    constexpr std::int64_t kHeight = 4;
    for (const bool half : {true, false}) {
        for (const float unit : {1.0F, 0x1p-10F, 0x1p-13F, 0x1p-18F, 0x1p-22F}) {
            CAPTURE(half, unit);
            std::vector<float> image(kWidth * kHeight * 4);
            for (std::size_t i = 0; i < image.size(); ++i) {
                image[i] = unit * static_cast<float>(i * 37 % 101 % 64);
            }
            auto wanted = image;
            const auto rounded = [&](float value) {
                return half ? f16_to_f32(f32_to_f16(value)) : value;
            };
            for (int n = 0; n < 2; ++n) {
                const auto before = wanted;
                for (std::int64_t i = 0; i < kWidth * kHeight * 4; ++i) {
                    const std::int64_t y = i / 4 / kWidth;
                    const std::int64_t x = i / 4 % kWidth;
                    const auto at = [&](std::int64_t dx, std::int64_t dy) {
                        const bool inside =
                            y + dy >= 0 && y + dy < kHeight && x + dx >= 0 && x + dx < kWidth;
                        return inside ? before[static_cast<std::size_t>(i + (dy * kWidth + dx) * 4)]
                                      : 0;
                    };
                    const auto sum_of = [&](const std::vector<float>& values) {
                        float sum = 0;
                        for (const float value : values) {
                            sum = rounded(sum + value);
                        }
                        return sum;
                    };
                    const float corners = sum_of({at(-1, -1), at(1, -1), at(-1, 1), at(1, 1)});
                    const float sides = sum_of({at(0, -1), at(-1, 0), at(1, 0), at(0, 1)});
                    const float sum =
                        sum_of({rounded(corners / 16), rounded(sides / 8), rounded(at(0, 0) / 4)});
                    wanted[static_cast<std::size_t>(i)] = sum;
                }
            }
            CHECK((micro::blurred(image, kWidth, kHeight, 2, half) == wanted));
        }
    }
}

TEST_CASE("a streamed triad loads and stores as far ahead as it may", "[kernels][micro]") {
    for (const std::int64_t prefetch : {0, 1, 2, 3, 9}) {
        for (const std::int64_t rounds : {1, 2, 3, 5}) {
            CAPTURE(prefetch, rounds);
            StreamedTriadWorkload triad;
            triad.io_tiles = 2;
            triad.prefetch = prefetch;
            triad.chunk_elements = 8;
            triad.elements = rounds * 4 * triad.chunk_elements;
            triad.repeats = 3;
            const auto graph = micro::emit(test::chip_of(6), triad).graph;
            std::vector<std::string> got;
            for (const auto& step : graph.control.children) {
                if (step.kind == Kind::Exchange) {
                    got.push_back(graph.exchanges.at(step.index).name);
                } else if (step.kind == Kind::Repeat) {
                    got.push_back(fmt::format("triad {}", step.count));
                } else {
                    got.push_back(fmt::format("{} {} row {}",
                                              step.kind == Kind::StreamStart  ? "start"
                                              : step.kind == Kind::StreamWait ? "wait"
                                                                              : "do",
                                              graph.stream_copies.at(step.index).name, step.row));
                }
            }
            const std::int64_t slots = std::max<std::int64_t>(1, std::min(prefetch, rounds));
            std::vector<std::string> wanted;
            const auto load = [&](const char* how, std::int64_t round) {
                for (const char* array : {"b", "c"}) {
                    wanted.push_back(
                        fmt::format("{} load {} {} row {}", how, array, round % slots, round));
                }
            };
            const auto store = [&](const char* how, std::int64_t round) {
                wanted.push_back(fmt::format("{} store a {} row {}", how, round % slots, round));
            };
            for (std::int64_t round = 0; prefetch > 0 && round < slots; ++round) {
                load("start", round);
            }
            for (std::int64_t round = 0; round < rounds; ++round) {
                load(prefetch > 0 ? "wait" : "do", round);
                wanted.push_back(fmt::format("in {}", round % slots));
                if (prefetch > 0 && round + slots < rounds) {
                    load("start", round + slots);
                }
                wanted.emplace_back("triad 3");
                if (prefetch > 0 && round - slots >= 0) {
                    store("wait", round - slots); // its row is to be filled again
                }
                wanted.push_back(fmt::format("out {}", round % slots));
                store(prefetch > 0 ? "start" : "do", round);
            }
            for (std::int64_t round = rounds - slots; prefetch > 0 && round < rounds; ++round) {
                store("wait", round);
            }
            CHECK(got == wanted);
            // rows of all computing tiles, and what each IO tile has of them
            for (const auto& buffer : graph.remote_buffers) {
                CHECK(buffer.rows == rounds);
                CHECK(buffer.row_bytes == 4 * triad.chunk_elements * 4);
            }
            CHECK(static_cast<std::int64_t>(graph.stream_copies.size()) == 3 * slots);
            for (const auto& copy : graph.stream_copies) {
                REQUIRE(copy.pieces.size() == 2);
                CHECK(copy.pieces[0].tile == 4);
                CHECK(copy.pieces[1].tile == 5);
                CHECK(copy.pieces[0].offset == 0);
                CHECK(copy.pieces[1].offset == 2 * triad.chunk_elements * 4);
                CHECK(copy.pieces[1].bytes == 2 * triad.chunk_elements * 4);
                const std::string& array = graph.remote_buffers.at(copy.remote_buffer).name;
                const bool stores = copy.name.starts_with("store ");
                CHECK(copy.name.substr(stores ? 6 : 5, 1) == array);
                CHECK(stores == (array == "a"));
                CHECK(copy.direction == (stores ? program::StreamCopy::Direction::Write
                                                : program::StreamCopy::Direction::Read));
                CHECK(copy.rows == 1);
            }
            // a tile that computes has slices and no rows, an IO tile has rows and no slices
            const Bytes slice = triad.chunk_elements * 4;
            for (const auto& buffer : graph.buffers) {
                std::map<TileId, Bytes> held;
                for (const auto& one : buffer.held) {
                    held[one.tile] = one.bytes;
                }
                const std::map<TileId, Bytes> on_four{
                    {0, slice}, {1, slice}, {2, slice}, {3, slice}};
                CHECK((held == (buffer.name.starts_with("slice of ")
                                    ? on_four
                                    : std::map<TileId, Bytes>{{4, 2 * slice}, {5, 2 * slice}})));
            }
        }
    }
}

TEST_CASE("a sync repeats one barrier", "[kernels][micro]") {
    SyncWorkload sync;
    sync.repeats = 7;
    const auto emitted = micro::emit(test::chip_of(2), sync);
    const auto& control = emitted.graph.control;
    CHECK(control.kind == Kind::Repeat);
    CHECK(control.count == 7);
    REQUIRE(control.children.size() == 1);
    CHECK(control.children[0].kind == Kind::Sync);
    CHECK(emitted.graph.name == "sync, 7 times");
    CHECK(emitted.values().expected.empty());
}

TEST_CASE("the host gives what is read and has what is written", "[kernels][micro]") {
    HostTransferWorkload transfer;
    transfer.bytes = 12;
    transfer.repeats = 2;
    const auto machine = test::chip_of(3);
    const auto bytes = micro::marked_bytes(3 * 12, 1);
    for (const auto& [direction, from, to, says] :
         {std::tuple{StreamDirection::Read, program::remote_buffer(0), program::tensor(0), "to"},
          std::tuple{StreamDirection::Write, program::tensor(0), program::remote_buffer(0),
                     "from"}}) {
        transfer.direction = direction;
        const auto emitted = micro::emit(machine, transfer);
        CHECK(emitted.graph.name == fmt::format("host {} tiles, 12 B to each of 3, 2 times", says));
        const auto values = emitted.values();
        CHECK((values.given.at(0).array == from));
        CHECK((values.expected.at(0).array == to));
        CHECK((values.given[0].bytes == bytes));
        CHECK((values.expected[0].bytes == bytes));
        CHECK(emitted.arrivals.has_value() == (direction == StreamDirection::Read));
        CHECK(emitted.graph.remote_buffers.at(0).place == program::RemoteBuffer::Place::Host);
        CHECK(emitted.graph.remote_buffers.at(0).name == "host");
        CHECK(emitted.graph.control.count == 2);
    }
}

TEST_CASE("a paced stream has its first array alone in the region that is read 16 bytes at a time",
          "[kernels][micro]") {
    MemoryStreamWorkload stream;
    stream.op = workload::StreamOp::Add;
    stream.dtype = ElementType::F32;
    stream.elements = 64;
    for (const auto codelet : {workload::StreamCodelet::Paced, workload::StreamCodelet::Vector}) {
        stream.codelet = codelet;
        const bool paced = codelet == workload::StreamCodelet::Paced;
        const auto emitted = micro::emit(test::chip_of(1), stream);
        std::map<std::string, const graph::Buffer*> arrays;
        for (const graph::Buffer& buffer : emitted.graph.buffers) {
            arrays[buffer.name] = &buffer;
        }
        for (const std::string name : {"a", "b", "c"}) {
            CAPTURE(paced, name);
            CHECK((arrays.at(name)->where == graph::Where::Region1) == (paced && name == "a"));
            // no two are in one element, so that a bundle has both
            CHECK(arrays.at(name)->apart.size() == (paced ? name.front() - 'a' : 0U));
        }
    }
}

TEST_CASE("a stream has room for its longest share and what its loop reads behind it",
          "[kernels][micro]") {
    for (const StreamOp op : {StreamOp::Copy, StreamOp::Triad, StreamOp::Read}) {
        for (const StreamCodelet codelet : {StreamCodelet::Vector, StreamCodelet::Vendor}) {
            MemoryStreamWorkload stream;
            stream.op = op;
            stream.codelet = codelet;
            stream.elements = 4 * 25; // 25 units on 4 tiles
            if (!stream.mistakes().empty()) {
                continue;
            }
            const auto machine = test::chip_of(4);
            const auto graph = micro::emit(machine, stream).graph;
            const Bytes share = 7 * 16;
            const bool two = op == StreamOp::Triad;
            const bool reads = op == StreamOp::Read;
            CAPTURE(static_cast<int>(op), static_cast<int>(codelet));
            CHECK(held(graph, "a") == std::vector<Bytes>(4, share));
            CHECK(held(graph, "b") == std::vector<Bytes>(two ? 4 : 0, share));
            CHECK(held(graph, "c") ==
                  std::vector<Bytes>(4, reads ? machine.tile.workers * 16 : share));
            CHECK(held(graph, "product") ==
                  std::vector<Bytes>(two && codelet == StreamCodelet::Vendor ? 4 : 0, share));
            for (const auto& buffer : graph.buffers) {
                CHECK(buffer.read_beyond == (reads && buffer.name == "c" ? 0 : 32));
            }
        }
    }
}
