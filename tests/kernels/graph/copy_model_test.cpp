// SPDX-License-Identifier: MIT
// Copies between random tensors, their messages and vertices carried out by hand.
#include "kernels/graph/copy.h"
#include "kernels/lower/lifetimes.h"
#include "kernels/lower/uses.h"
#include "kernels/workload/random.h"
#include "models/isa/machine_target.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using graph::Place;

constexpr Bytes kHeld = 4096;
constexpr Bytes kFree = 2048; ///< from here on a buffer of the source has room

/// Two tensors of one type and size: elements in pieces with gaps, some of them at several places.
class RandomCopy {
public:
    explicit RandomCopy(std::uint64_t seed) : random_(seed, 11) {
        tiles = 1 + below(4);
        type = below(3) == 0 ? ElementType::F32 : ElementType::F16;
        elements_ = 1 + below(60);
        every_ = 1 + below(3);
        element_ = bytes_of(type);
        for (int i = 0; i < 4; ++i) {
            const auto buffer =
                graph.add_buffer({.name = "b" + std::to_string(i), .padded = below(8) == 0});
            for (TileId tile = 0; tile < tiles; ++tile) {
                graph.hold(buffer, tile, kHeld);
            }
        }
        graph::Tensor source = graph::array_tensor("from", type, elements_);
        graph::Tensor target = graph::array_tensor("to", type, elements_);
        source.given = true;
        target.wanted = true;
        for (std::int64_t first = 0; first < elements_;) {
            const std::int64_t last = below(2) == 0 ? elements_ : first + 1 + below(20);
            add(source, target, first, std::min(last, elements_));
            first = last;
        }
        from = graph.add_tensor(std::move(source));
        to = graph.add_tensor(std::move(target));
    }

    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(random_.below(bound, drawn_++));
    }

    graph::Graph graph{"copy"};
    TileId tiles = 1;
    ElementType type = ElementType::F16;
    graph::TensorId from;
    graph::TensorId to;

private:
    /// Elements [first, last), of which every so manyth has a piece together.
    void add(graph::Tensor& source, graph::Tensor& target, std::int64_t first, std::int64_t last) {
        for (std::int64_t turn = 0; turn < every_ && first + turn < last; ++turn) {
            const std::int64_t count = (last - first - turn + every_ - 1) / every_;
            const auto piece = [&](std::uint32_t buffer, Bytes least) {
                return piece_of(first + turn, count, buffer, least);
            };
            source.pieces.push_back(piece(below(2), 0));
            if (below(5) == 0) {
                target.pieces.push_back(source.pieces.back());
            } else {
                target.pieces.push_back(below(4) == 0 ? piece(below(2), kFree)
                                                      : piece(2 + below(2), 0));
            }
            if (below(6) == 0) {
                source.pieces.push_back(piece(below(2), 0));
            }
            if (below(6) == 0) {
                target.pieces.push_back(piece(2 + below(2), 0));
            }
        }
    }
    graph::Piece piece_of(std::int64_t first, std::int64_t count, std::uint32_t buffer,
                          Bytes least) {
        const TileId tile = below(tiles);
        Bytes& next = next_[{tile, buffer, least}];
        next = std::max(next, least) + element_ * below(below(3) == 0 ? 40 : 3);
        const Bytes stride = element_ * (below(2) == 0 ? 1 : 1 + below(3));
        const Bytes begin = next;
        next += (count - 1) * stride + element_;
        REQUIRE(next <= (least == 0 ? kFree : kHeld));
        const bool backwards = below(8) == 0;
        return {tile,
                {{buffer}, backwards ? begin + (count - 1) * stride : begin},
                first,
                {{count, every_, backwards ? -stride : stride}}};
    }

    workload::CounterRandom random_;
    std::uint64_t drawn_ = 0;
    std::int64_t elements_ = 1;
    std::int64_t every_ = 1;
    Bytes element_ = 2;
    std::map<std::tuple<TileId, std::uint32_t, Bytes>, Bytes> next_;
};

/// Calls `visit(element, tile, place)`.
template <class Visit> void for_elements(const graph::Tensor& tensor, const Visit& visit) {
    for (const graph::Piece& piece : tensor.pieces) {
        const program::PieceDim& dim = piece.dims.at(0);
        for (std::int64_t i = 0; i < dim.count; ++i) {
            visit(piece.host_offset + i * dim.host_stride, piece.tile,
                  piece.place + i * dim.tile_stride);
        }
    }
}

/// Memories of all tiles, in halves of words.
class Memory {
public:
    explicit Memory(const graph::Graph& graph) : graph_(graph) {}

    std::uint16_t& half(TileId tile, Place place) {
        REQUIRE(place.offset % 2 == 0);
        auto& all = halves_[{tile, place.buffer.index}];
        const auto at = static_cast<std::size_t>(place.offset / 2);
        all.resize(std::max(all.size(), at + 1), kUndefined);
        return all[at];
    }
    void copy(TileId from, Place source, TileId to, Place target, Bytes bytes) {
        std::vector<std::uint16_t> moved;
        for (Bytes at = 0; at < bytes; at += 2) {
            moved.push_back(half(from, source + at));
        }
        for (Bytes at = 0; at < bytes; at += 2) {
            half(to, target + at) = moved[static_cast<std::size_t>(at / 2)];
        }
    }
    void run(const graph::Exchange& exchange) {
        Memory before = *this;
        for (const graph::Message& message : exchange.messages) {
            for (std::uint32_t i = 0; i < message.receivers; ++i) {
                const graph::TilePlace& to = exchange.to[message.first_to + i];
                for (Bytes at = 0; at < message.bytes; at += 2) {
                    half(to.tile, to.place() + at) =
                        before.half(message.from.tile, message.from.place() + at);
                }
            }
        }
    }
    void run(const graph::Vertex& vertex, std::int64_t workers) {
        const auto fields = graph_.fields_of(vertex.fields);
        const std::string& name = graph_.symbols[vertex.symbol];
        const auto share = [&](std::size_t first) {
            return std::int64_t{fields[first].word} * workers + fields[first + 1].word;
        };
        if (name == "copy32" || name == "copy64") {
            const Bytes word = name == "copy32" ? 4 : 8;
            REQUIRE(fields[0].place.offset % word == 0);
            REQUIRE(fields[1].place.offset % word == 0);
            REQUIRE(fields[0].bytes == share(2) * word);
            REQUIRE(fields[1].bytes == fields[0].bytes);
            copy(vertex.tile, fields[0].place, vertex.tile, fields[1].place, fields[0].bytes);
        } else if (name == "gather16") {
            const auto list = words_of(vertex.tile, fields[2]);
            REQUIRE(share(3) == static_cast<std::int64_t>(list.size()));
            for (std::size_t i = 0; i < 2 * list.size(); ++i) {
                const Bytes index = list[i / 2] >> (i % 2 * 16) & 0xffffU;
                half(vertex.tile, fields[1].place + 2 * static_cast<Bytes>(i)) =
                    half(vertex.tile, fields[0].place + 2 * index);
            }
        } else {
            REQUIRE((name == "copy_runs32" || name == "copy_runs64"));
            const Bytes word = name == "copy_runs32" ? 4 : 8;
            const auto list = words_of(vertex.tile, fields[2]);
            REQUIRE(list.size() == 3 * fields[3].word);
            REQUIRE(fields[0].bytes == 0); // its runs say what it reads and writes
            REQUIRE(fields[1].bytes == 0);
            bool all_wide = true;
            for (std::size_t i = 0; i < list.size(); i += 3) {
                REQUIRE(list[i] % word == 0);
                REQUIRE(list[i + 1] % word == 0);
                all_wide = all_wide && (list[i] | list[i + 1] | list[i + 2] * word) % 8 == 0;
                copy(vertex.tile, fields[0].place + list[i], vertex.tile,
                     fields[1].place + list[i + 1], list[i + 2] * word);
            }
            REQUIRE(all_wide == (word == 8));
        }
    }

    static constexpr std::uint16_t kUndefined = 0xffff;

private:
    std::vector<std::uint32_t> words_of(TileId tile, const graph::Field& list) const {
        for (const graph::Held& held : graph_.buffers[list.place.buffer.index].held) {
            if (held.tile == tile) {
                std::vector<std::uint32_t> words(static_cast<std::size_t>(list.bytes / 4));
                REQUIRE(list.place.offset + list.bytes <= held.bytes);
                std::memcpy(words.data(), held.contents->data() + list.place.offset,
                            static_cast<std::size_t>(list.bytes));
                return words;
            }
        }
        return {};
    }

    const graph::Graph& graph_;
    std::map<std::pair<TileId, std::uint32_t>, std::vector<std::uint16_t>> halves_;
};

/// Buffers of `to` with gaps of less than 64 bytes between elements, or an end that is no whole
/// double word, or that are padded.
std::vector<bool> zeroed_of(const graph::Graph& graph, const graph::Tensor& to) {
    std::map<std::pair<std::uint32_t, TileId>, std::vector<Bytes>> begins;
    for_elements(to, [&](std::int64_t, TileId tile, Place place) {
        begins[{place.buffer.index, tile}].push_back(place.offset);
    });
    std::vector<bool> zeroed(graph.buffers.size());
    for (auto& [key, offsets] : begins) {
        std::sort(offsets.begin(), offsets.end());
        bool found = graph.buffers[key.first].padded;
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            const Bytes end = offsets[i] + bytes_of(to.type);
            const Bytes gap = i + 1 < offsets.size() ? offsets[i + 1] - end : end % 8;
            found = found || (gap > 0 && gap < 64);
        }
        zeroed[key.first] = zeroed[key.first] || found;
    }
    return zeroed;
}

} // namespace

TEST_CASE("messages and vertices of a copy bring every element to all its places",
          "[kernels][copy]") {
    std::map<std::string, int> seen;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        CAPTURE(seed);
        RandomCopy random(seed);
        graph::Graph& graph = random.graph;
        spec::MachineSpec machine;
        machine.chip.tiles = random.tiles;
        machine.tile.workers = 1 + random.below(6);
        const auto zeroed = zeroed_of(graph, graph.tensors[random.to.index]);
        graph.control = graph::sequence({graph::add_copy(graph, machine, random.from, random.to,
                                                         program::Role::Rearrange, "test")});
        for (std::size_t i = 0; i < zeroed.size(); ++i) {
            REQUIRE(graph.buffers[i].zeroed == zeroed[i]);
        }
        REQUIRE_NOTHROW(lower::lifetimes_of(graph, lower::Uses(graph)));

        Memory memory(graph);
        const graph::Tensor& from = graph.tensors[random.from.index];
        const graph::Tensor& to = graph.tensors[random.to.index];
        const Bytes halves = bytes_of(random.type) / 2;
        const auto value = [&](std::int64_t element, Bytes half) {
            return static_cast<std::uint16_t>(1 + element * halves + half);
        };
        for_elements(from, [&](std::int64_t element, TileId tile, Place place) {
            for (Bytes half = 0; half < halves; ++half) {
                memory.half(tile, place + 2 * half) = value(element, half);
            }
        });
        for (std::uint32_t buffer = 0; buffer < graph.buffers.size(); ++buffer) {
            for (const graph::Held& held : graph.buffers[buffer].held) {
                if (held.contents != nullptr &&
                    graph.buffers[buffer].name == "rearrange to: zero") {
                    REQUIRE(held.bytes == 4);
                    memory.half(held.tile, {{buffer}, 0}) = 0;
                    memory.half(held.tile, {{buffer}, 2}) = 0;
                }
            }
        }
        for (const graph::Step& step : graph.control.children.at(0).children) {
            if (step.kind == graph::Step::Kind::Exchange) {
                memory.run(graph.exchanges[step.index]);
                continue;
            }
            for (const graph::Vertex& vertex : graph.compute_sets[step.index].vertices) {
                memory.run(vertex, machine.tile.workers);
                ++seen[graph.symbols[vertex.symbol]];
            }
        }
        for_elements(to, [&](std::int64_t element, TileId tile, Place place) {
            for (Bytes half = 0; half < halves; ++half) {
                CAPTURE(element, tile, place.buffer.index, place.offset, half);
                REQUIRE(memory.half(tile, place + 2 * half) == value(element, half));
            }
        });

        // what a gather makes beside elements is zero
        std::set<std::tuple<TileId, std::uint32_t, Bytes>> in_elements;
        for_elements(to, [&](std::int64_t, TileId tile, Place place) {
            for (Bytes half = 0; half < halves; ++half) {
                in_elements.emplace(tile, place.buffer.index, place.offset + 2 * half);
            }
        });
        for (const graph::ComputeSet& set : graph.compute_sets) {
            for (const graph::Vertex& vertex : set.vertices) {
                const graph::Field& made = graph.fields_of(vertex.fields)[1];
                for (Bytes at = 0; at < made.bytes; at += 2) {
                    const Place place = made.place + at;
                    if (graph.symbols[vertex.symbol] == "gather16" &&
                        in_elements.count({vertex.tile, place.buffer.index, place.offset}) == 0) {
                        REQUIRE(memory.half(vertex.tile, place) == 0);
                        ++seen["zeros"];
                    }
                }
            }
        }

        // of the temporary each tile has what its gathers read
        std::map<TileId, Bytes> read;
        for (const graph::ComputeSet& set : graph.compute_sets) {
            for (const graph::Vertex& vertex : set.vertices) {
                if (graph.symbols[vertex.symbol] == "gather16") {
                    const graph::Field& use = graph.fields_of(vertex.fields)[5];
                    read[vertex.tile] = std::max(read[vertex.tile], use.place.offset + use.bytes);
                }
            }
        }
        for (const graph::Buffer& buffer : graph.buffers) {
            if (buffer.name == "rearrange to: words") {
                std::map<TileId, Bytes> held;
                for (const graph::Held& one : buffer.held) {
                    held[one.tile] += one.bytes;
                }
                REQUIRE(held == read);
            }
        }

        // the k-th messages of all tiles before any next one; apart from where they go
        std::map<TileId, std::size_t> sent;
        std::size_t turn = 0;
        for (const graph::Exchange& exchange : graph.exchanges) {
            for (const graph::Message& message : exchange.messages) {
                const std::size_t own = sent[message.from.tile]++;
                REQUIRE(own >= turn);
                turn = own;
                for (std::uint32_t i = 0; i < message.receivers; ++i) {
                    const auto& to_buffer = exchange.to[message.first_to + i].buffer;
                    const auto& apart = graph.buffers[to_buffer.index].apart;
                    REQUIRE(std::count(apart.begin(), apart.end(), message.from.buffer) ==
                            (to_buffer == message.from.buffer ? 0 : 1));
                }
                seen["receivers"] += message.receivers > 1 ? 1 : 0;
            }
        }
    }
    for (const char* what : {"copy32", "copy64", "copy_runs32", "gather16", "receivers", "zeros"}) {
        CAPTURE(what);
        CHECK(seen[what] > 20);
    }
}

TEST_CASE("a gather goes on over gaps of up to 64 bytes", "[kernels][copy]") {
    for (Bytes gap = 52; gap <= 76; gap += 4) {
        graph::Graph graph("gaps");
        const auto from = graph.add_buffer({.name = "from"});
        const auto to = graph.add_buffer({.name = "to"});
        graph.hold(from, 0, 64);
        graph.hold(to, 0, 256);
        graph::Tensor source = graph::array_tensor("source", ElementType::F16, 4);
        graph::Tensor target = graph::array_tensor("target", ElementType::F16, 4);
        source.pieces.push_back(graph::run_of(0, {from, 2}, 0, 4, ElementType::F16));
        target.pieces.push_back(graph::run_of(0, {to}, 0, 2, ElementType::F16));
        target.pieces.push_back(graph::run_of(0, {to, 4 + gap}, 2, 2, ElementType::F16));
        const auto source_id = graph.add_tensor(std::move(source));
        const auto target_id = graph.add_tensor(std::move(target));
        static_cast<void>(
            graph::add_copy(graph, {}, source_id, target_id, program::Role::Rearrange, "test"));
        const auto& vertices = graph.compute_sets.at(0).vertices;
        const auto gathers = std::count_if(vertices.begin(), vertices.end(), [&](const auto& one) {
            return graph.symbols[one.symbol] == "gather16";
        });
        CAPTURE(gap);
        CHECK(gathers == (gap <= 64 ? 1 : 2));
        CHECK(graph.buffers[to.index].zeroed == (gap < 64 || (8 + gap) % 8 != 0));
    }
}

TEST_CASE("a gather makes at most 16000 words, and what its workers can count", "[kernels][copy]") {
    constexpr std::int64_t kMost = 16'000;
    for (const std::int64_t words : {kMost - 1, kMost, kMost + 1, 2 * kMost + 1}) {
        graph::Graph graph("many");
        const auto from = graph.add_buffer({.name = "from"});
        const auto to = graph.add_buffer({.name = "to"});
        graph.hold(from, 0, 4 * words + 4);
        graph.hold(to, 0, 4 * words);
        graph::Tensor source = graph::array_tensor("source", ElementType::F16, 2 * words);
        graph::Tensor target = source;
        source.pieces.push_back(graph::run_of(0, {from, 2}, 0, 2 * words, ElementType::F16));
        target.pieces.push_back(graph::run_of(0, {to}, 0, 2 * words, ElementType::F16));
        const auto source_id = graph.add_tensor(std::move(source));
        const auto target_id = graph.add_tensor(std::move(target));
        static_cast<void>(
            graph::add_copy(graph, {}, source_id, target_id, program::Role::Rearrange, "test"));
        std::vector<std::int64_t> made;
        for (const graph::Vertex& vertex : graph.compute_sets.at(0).vertices) {
            if (graph.symbols[vertex.symbol] == "gather16") {
                made.push_back(graph.fields_of(vertex.fields)[1].bytes / 4);
            }
        }
        std::vector<std::int64_t> expected;
        for (std::int64_t left = words; left > 0; left -= kMost) {
            expected.push_back(std::min(left, kMost));
        }
        CHECK(made == expected);
    }
}

TEST_CASE("words beside those that a gather makes are copied whole", "[kernels][copy]") {
    // Two words, one of two halves from elsewhere, and two words behind gaps of so many bytes.
    for (const Bytes before : {0, 4}) {
        for (const Bytes behind : {0, 4}) {
            graph::Graph graph("beside");
            const auto from = graph.add_buffer({.name = "from"});
            const auto to = graph.add_buffer({.name = "to"});
            graph.hold(from, 0, 64);
            graph.hold(to, 0, 64);
            graph::Tensor source = graph::array_tensor("source", ElementType::F16, 10);
            graph::Tensor target = source;
            const auto add = [&](std::int64_t first, std::int64_t elements, Bytes there,
                                 Bytes here) {
                source.pieces.push_back(
                    graph::run_of(0, {from, there}, first, elements, ElementType::F16));
                target.pieces.push_back(
                    graph::run_of(0, {to, here}, first, elements, ElementType::F16));
            };
            add(0, 4, 0, 0);
            add(4, 2, 18, 8 + before);
            add(6, 4, 40, 12 + before + behind);
            const auto source_id = graph.add_tensor(std::move(source));
            const auto target_id = graph.add_tensor(std::move(target));
            static_cast<void>(
                graph::add_copy(graph, {}, source_id, target_id, program::Role::Rearrange, "test"));
            int gathers = 0;
            for (const graph::Vertex& vertex : graph.compute_sets.at(0).vertices) {
                if (graph.symbols[vertex.symbol] == "gather16") {
                    const graph::Field& made = graph.fields_of(vertex.fields)[1];
                    CHECK(made.place == graph::Place{to, 8 + before});
                    CHECK(made.bytes == 4);
                    ++gathers;
                }
            }
            CHECK(gathers == 1);
        }
    }
}

TEST_CASE("a run on a tile takes as few vertices as their loops can make", "[kernels][copy]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 1;
    for (const std::int64_t workers : {1, 2, 6}) {
        machine.tile.workers = workers;
        const std::int64_t most = workers * isa::target_of(machine).repeat_count_mask();
        for (const Bytes word : {4, 8}) {
            for (const std::int64_t words : {most - 1, most, most + 1, 2 * most, 2 * most + 1}) {
                graph::Graph graph("run");
                const auto from = graph.add_buffer({.name = "from"});
                const auto to = graph.add_buffer({.name = "to"});
                const std::int64_t elements = words * word / 4;
                graph::Tensor source = graph::array_tensor("source", ElementType::F32, elements);
                graph::Tensor target = source;
                source.pieces.push_back(
                    graph::run_of(0, {from, word}, 0, elements, ElementType::F32));
                target.pieces.push_back(graph::run_of(0, {to}, 0, elements, ElementType::F32));
                const auto source_id = graph.add_tensor(std::move(source));
                const auto target_id = graph.add_tensor(std::move(target));
                static_cast<void>(graph::add_copy(graph, machine, source_id, target_id,
                                                  program::Role::Rearrange, "test"));
                const auto& vertices = graph.compute_sets.at(0).vertices;
                REQUIRE(static_cast<std::int64_t>(vertices.size()) == (words + most - 1) / most);
                std::int64_t done = 0;
                for (const graph::Vertex& vertex : vertices) {
                    const auto fields = graph.fields_of(vertex.fields);
                    const std::int64_t here = std::min(words - done, most);
                    CHECK(graph.symbols[vertex.symbol] == (word == 8 ? "copy64" : "copy32"));
                    CHECK(fields[0].place == graph::Place{from, word + done * word});
                    CHECK(fields[1].place == graph::Place{to, done * word});
                    CHECK(fields[0].bytes == here * word);
                    CHECK(fields[2].word == here / workers);
                    CHECK(fields[3].word == here % workers);
                    done += here;
                }
            }
        }
    }
}
