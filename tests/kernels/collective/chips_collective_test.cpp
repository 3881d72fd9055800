// SPDX-License-Identifier: MIT
// The one program of all chips of a ring, done step by step on each chip's words: what it leaves is what the
// collective says, and what the host expects.
#include "base/float16.h"
#include "kernels/chips/chips.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using workload::CollectiveKind;
using workload::CollectiveWorkload;

namespace {

using Words = std::vector<std::uint32_t>;

constexpr auto kKinds = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter,
                         CollectiveKind::AllGather};

spec::MachineSpec machine_of(std::int64_t chips, std::int64_t tiles,
                             spec::Topology topology = spec::Topology::Full) {
    spec::MachineSpec machine;
    machine.system.chips = chips;
    machine.system.links.topology = topology;
    machine.chip.tiles = tiles;
    return machine;
}

CollectiveWorkload workload_of(CollectiveKind kind, std::int64_t elements, ElementType type,
                               std::int64_t repeats = 1) {
    CollectiveWorkload workload;
    workload.collective = kind;
    workload.elements = elements;
    workload.dtype = type;
    workload.repeats = repeats;
    return workload;
}

/// Does the steps of a graph of 32-bit numbers on all chips at once.
class Chips {
public:
    explicit Chips(const chips::Emitted& emitted)
        : emitted_(emitted), graph_(emitted.graphs.front()), memory_(emitted.peers.size()) {
        for (std::size_t chip = 0; chip < memory_.size(); ++chip) {
            for (std::uint32_t buffer = 0; buffer < graph_.buffers.size(); ++buffer) {
                for (const graph::Held& held : graph_.buffers[buffer].held) {
                    memory_[chip][{buffer, held.tile}].resize(
                        static_cast<std::size_t>(held.bytes / 4));
                }
            }
            const auto& ranks = emitted.ranks.front().words_of_chip[chip];
            put(chip, "rank", {ranks.begin(), ranks.end()});
        }
    }
    void put(std::size_t chip, const std::string& tensor, const Words& words) {
        each_word(tensor, [&](const auto& at, std::size_t word, std::size_t element) {
            memory_[chip].at(at).at(word) = words.at(element);
        });
    }
    [[nodiscard]] Words get(std::size_t chip, const std::string& tensor, std::size_t count) const {
        Words words(count);
        std::size_t seen = 0;
        each_word(tensor, [&](const auto& at, std::size_t word, std::size_t element) {
            words.at(element) = memory_[chip].at(at).at(word);
            ++seen;
        });
        CHECK(seen == count);
        return words;
    }
    void run() { run(graph_.control, 0); }

private:
    using At = std::pair<std::uint32_t, TileId>; ///< buffer, tile

    template <class Visit> void each_word(const std::string& name, const Visit& visit) const {
        const auto tensor = std::ranges::find(graph_.tensors, name, &graph::Tensor::name);
        REQUIRE(tensor != graph_.tensors.end());
        for (const graph::Piece& piece : tensor->pieces) {
            REQUIRE(piece.dims.size() == 1);
            CHECK(piece.dims[0].count > 0); // no tile has a piece of nothing
            for (std::int64_t i = 0; i < piece.dims[0].count; ++i) {
                visit(At{piece.place.buffer.index, piece.tile},
                      static_cast<std::size_t>(piece.place.offset / 4 + i),
                      static_cast<std::size_t>(piece.host_offset + i));
            }
        }
    }

    void run(const graph::Step& step, std::int64_t round) {
        using Kind = graph::Step::Kind;
        if (step.kind == Kind::LinkExchange) {
            exchange(graph_.link_exchanges.at(step.index), round);
        } else if (step.kind == Kind::ComputeSet) {
            for (const graph::Vertex& vertex : graph_.compute_sets.at(step.index).vertices) {
                for (auto& memory : memory_) {
                    add(memory, vertex, round);
                }
            }
        }
        for (std::uint32_t i = 0; i < step.count; ++i) {
            for (const graph::Step& child : step.children) {
                run(child, step.kind == Kind::Repeat ? i : round);
            }
        }
    }

    using Memory = std::map<At, Words>;

    /// Where a message begins, in words: with an index, by the rank on the tile and the round.
    [[nodiscard]] static std::size_t
    first_word(const Memory& memory, const graph::LinkMessage& message, std::int64_t round) {
        if (!message.indexed) {
            return static_cast<std::size_t>(message.place.offset / 4);
        }
        const graph::LinkIndex& index = *message.indexed;
        const std::int64_t rank = memory.at({index.word.buffer.index, message.tile}).at(0);
        const std::int64_t number = rank + index.sign * round + index.shift;
        const std::int64_t fragment = (number % index.count + index.count) % index.count;
        return static_cast<std::size_t>((message.place.offset + fragment * index.stride) / 4);
    }
    void exchange(const graph::LinkExchange& exchange, std::int64_t round) {
        const std::vector<Memory> before = memory_; // all send what they have
        for (std::size_t chip = 0; chip < memory_.size(); ++chip) {
            for (const graph::LinkMessage& send : exchange.sends) {
                const program::Peer peer = emitted_.peers[chip].at(send.channel);
                const auto receive =
                    std::ranges::find_if(exchange.receives, [&](const graph::LinkMessage& one) {
                        return one.channel == peer.channel && one.index == send.index;
                    });
                REQUIRE(receive != exchange.receives.end());
                CHECK(receive->bytes == send.bytes);
                CHECK(receive->tile == send.tile);
                const Words& from = before[chip].at({send.place.buffer.index, send.tile});
                Words& to = memory_[peer.chip].at({receive->place.buffer.index, receive->tile});
                const std::size_t first = first_word(before[chip], send, round);
                const std::size_t into = first_word(before[peer.chip], *receive, round);
                const auto count = static_cast<std::size_t>(send.bytes / 4);
                REQUIRE(first + count <= from.size());
                REQUIRE(into + count <= to.size());
                std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), count,
                            to.begin() + static_cast<std::ptrdiff_t>(into));
            }
        }
    }
    /// As kernels/codelets/add_to_fragment.S has its state.
    void add(Memory& memory, const graph::Vertex& vertex, std::int64_t round) const {
        const auto field = [&](std::uint32_t number) {
            return graph_.fields.at(vertex.fields.first + number);
        };
        const auto words = [&](std::uint32_t number) -> Words& {
            return memory.at({field(number).place.buffer.index, vertex.tile});
        };
        const std::int64_t rank = words(12).at(0);
        const std::int64_t fragments = field(15).word;
        const auto shift = static_cast<std::int32_t>(field(16).word);
        CHECK((shift >= -fragments && shift < 0)); // what the codelet counts on
        const std::int64_t fragment = (rank - round + shift + 2 * fragments) % fragments;
        const auto first = static_cast<std::size_t>(fragment * field(14).word / 4);
        const std::size_t count = 2 * units_of(vertex);
        for (std::size_t i = 0; i < count; ++i) {
            words(9).at(first + i) = words(3).at(first + i) + words(6).at(i);
        }
    }
    /// Rows of units of 8 bytes, the last one perhaps shorter, are dealt to the workers in turn.
    [[nodiscard]] std::size_t units_of(const graph::Vertex& vertex) const {
        const auto word = [&](std::uint32_t number) {
            return static_cast<std::int64_t>(graph_.fields.at(vertex.fields.first + number).word);
        };
        const std::int64_t rows = word(0);
        const std::int64_t row = word(1);
        const std::int64_t last = word(2);
        CHECK((last > 0 && last <= row));
        CHECK(rows <= spec::MachineSpec{}.tile.workers); // each has one at most
        for (const std::uint32_t side : {4U, 7U, 10U}) {
            CHECK(word(side) == row * 8);
            CHECK(word(side + 1) == row * 8 * (spec::MachineSpec{}.tile.workers - 1));
        }
        return static_cast<std::size_t>((rows - 1) * row + last);
    }

    const chips::Emitted& emitted_;
    const graph::Graph& graph_;
    std::vector<Memory> memory_; ///< by chip
};

Words words_of(const std::vector<std::byte>& bytes) {
    Words words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

} // namespace

TEST_CASE("the program of a ring leaves on each chip what its collective says",
          "[kernels][collective]") {
    for (const CollectiveKind kind : kKinds) {
        for (const std::int64_t chips : {2, 3, 4, 8}) {
            for (const std::int64_t tiles : {1, 3}) {
                // parts are whole units of two words: the first two leave some of them empty
                for (const std::int64_t elements : {std::int64_t{1}, 2 * chips * tiles - 4,
                                                    2 * chips * tiles, std::int64_t{150}}) {
                    for (const std::int64_t repeats : {1, 2}) {
                        if (elements < 1) {
                            continue;
                        }
                        CAPTURE(static_cast<int>(kind), chips, tiles, elements, repeats);
                        const auto emitted =
                            chips::emit(machine_of(chips, tiles),
                                        workload_of(kind, elements, ElementType::I32, repeats));
                        const auto values = emitted.values();
                        Chips all(emitted);
                        std::vector<Words> given;
                        for (const auto& one : values.given) {
                            given.push_back(words_of(one.bytes));
                            all.put(one.chip, "array", given.back());
                        }
                        all.run();
                        const auto many = static_cast<std::size_t>(elements);
                        for (const auto& one : values.expected) {
                            CHECK(all.get(one.chip, "array", many) == words_of(one.bytes));
                        }
                        if (repeats > 1) {
                            continue;
                        }
                        // the chip of rank r has fragment r: of all-gather its own, else the sum
                        const std::size_t part = static_cast<std::size_t>(
                            (elements + 2 * chips * tiles - 1) / (2 * chips * tiles) * 2);
                        for (std::size_t chip = 0; chip < given.size(); ++chip) {
                            const Words left = all.get(chip, "array", many);
                            for (std::size_t i = 0; i < many; ++i) {
                                const std::size_t owner =
                                    i / (part * static_cast<std::size_t>(tiles));
                                std::uint32_t sum = 0;
                                for (const Words& of : given) {
                                    sum += of[i];
                                }
                                if (kind == CollectiveKind::AllGather) {
                                    CHECK(left[i] == given[owner][i]);
                                } else if (kind == CollectiveKind::AllReduce || owner == chip) {
                                    CHECK(left[i] == sum);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("floats of a fragment are summed from the next chip of the ring round to its own",
          "[kernels][collective]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const std::int64_t chips = 4;
        const std::int64_t elements = 64;
        const auto emitted = chips::emit(machine_of(chips, 2, spec::Topology::Ladder),
                                         workload_of(CollectiveKind::AllReduce, elements, type));
        const auto values = emitted.values();
        const auto number = [&](const std::vector<std::byte>& bytes, std::size_t i) {
            if (type == ElementType::F32) {
                float value = 0;
                std::memcpy(&value, bytes.data() + 4 * i, 4);
                return value;
            }
            std::uint16_t half = 0;
            std::memcpy(&half, bytes.data() + 2 * i, 2);
            return f16_to_f32(half);
        };
        const std::vector<std::size_t> ring{0, 2, 3, 1}; // round the outside of the ladder
        int inexact = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
            const std::size_t rank = i / 16; // a fragment has a quarter
            float sum = 0;
            float exact = 0;
            for (std::size_t step = 1; step <= ring.size(); ++step) {
                const float own = number(values.given[ring[(rank + step) % 4]].bytes, i);
                CHECK(std::fabs(own) <= 1);
                sum += own;
                exact += own;
                sum = type == ElementType::F16 ? f16_to_f32(f32_to_f16(sum)) : sum;
            }
            inexact += sum != exact ? 1 : 0;
            for (const auto& expected : values.expected) {
                CHECK(number(expected.bytes, i) == sum);
            }
        }
        CHECK((inexact > 0) == (type == ElementType::F16));
    }
}

TEST_CASE("a collective says what it is, who is next to whom, and what it moves",
          "[kernels][collective]") {
    const std::int64_t elements = 100;
    for (const CollectiveKind kind : kKinds) {
        const std::int64_t halves = kind == CollectiveKind::AllReduce ? 2 : 1;
        const auto emitted = chips::emit(machine_of(4, 3, spec::Topology::Ladder),
                                         workload_of(kind, elements, ElementType::F16, 3));
        const std::string name = kind == CollectiveKind::AllReduce       ? "ring all-reduce"
                                 : kind == CollectiveKind::ReduceScatter ? "ring reduce-scatter"
                                                                         : "ring all-gather";
        CHECK(emitted.graphs.front().name == name + " of 100 f16 elements on 4 chips, 3 times");
        CHECK(emitted.useful_bytes == halves * (4 - 1) * elements * 2 * 3);
        // 100 over 12 parts, in units of four
        CHECK(emitted.choices == std::map<std::string, std::int64_t>{
                                     {"chips", 4}, {"tiles", 3}, {"part_bytes", 12 * 2}});
        CHECK(emitted.graph_of_chip == std::vector<std::size_t>{0, 0, 0, 0});
        CHECK(emitted.zones == std::vector<std::vector<std::uint32_t>>{{0, 0, 0, 0}});
        // 0 2 3 1: channel 0 to the next one's channel 1, and back
        using Peers = std::vector<program::Peer>;
        CHECK(emitted.peers ==
              std::vector<Peers>{
                  {{2, 1}, {1, 0}}, {{0, 1}, {3, 0}}, {{3, 1}, {0, 0}}, {{1, 1}, {2, 0}}});
        REQUIRE(emitted.ranks.size() == 1);
        CHECK(emitted.ranks[0].tensor == "rank");
        CHECK(emitted.ranks[0].words_of_chip ==
              std::vector<std::vector<std::int32_t>>{{0, 0, 0}, {3, 3, 3}, {1, 1, 1}, {2, 2, 2}});
    }
    CHECK(chips::emit(machine_of(2, 3), workload_of(CollectiveKind::AllGather, 5, ElementType::F32))
              .graphs.front()
              .name == "ring all-gather of 5 f32 elements on 2 chips");
}

TEST_CASE("a part is dealt to workers in rows of units, of which loops over floats load one ahead",
          "[kernels][collective]") {
    const auto rows_of = [](ElementType type, std::int64_t units) {
        const std::int64_t elements = 2 * units * (8 / bytes_of(type)); // two chips with a tile
        const auto emitted = chips::emit(
            machine_of(2, 1), workload_of(CollectiveKind::ReduceScatter, elements, type));
        const graph::Graph& graph = emitted.graphs.front();
        REQUIRE(graph.compute_sets.size() == 1);
        const graph::ComputeSet& set = graph.compute_sets.front();
        CHECK(set.work == std::vector<std::int64_t>{units});
        const graph::Field* const state = &graph.fields[set.vertices.at(0).fields.first];
        return std::vector<std::uint32_t>{state[0].word, state[1].word, state[2].word};
    };
    // six workers; rows, rounds of a row, and of the last one
    using Rows = std::vector<std::uint32_t>;
    CHECK(rows_of(ElementType::I32, 1) == Rows{1, 1, 1});
    CHECK(rows_of(ElementType::I32, 6) == Rows{6, 1, 1});
    CHECK(rows_of(ElementType::I32, 7) == Rows{4, 2, 1});
    CHECK(rows_of(ElementType::I32, 12) == Rows{6, 2, 2});
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        CHECK(rows_of(type, 1) == Rows{1, 0, 0});
        CHECK(rows_of(type, 7) == Rows{4, 1, 0});
        CHECK(rows_of(type, 12) == Rows{6, 1, 1});
    }
}
