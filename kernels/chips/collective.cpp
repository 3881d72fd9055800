// SPDX-License-Identifier: MIT
// Collectives of all chips, by a schedule (kernels/collective) in which each step is like the one before,
// a fragment on. The array is cut into a fragment a chip; a fragment has a part on each tile. Chips differ
// by a word, their rank in the ring, so that all run one program:
//
//   repeat N - 1 times: fragment (rank + shift - round) mod N goes to the next chip, which adds it to its
//                       own, or keeps it
#include "base/ceil_div.h"
#include "base/error.h"
#include "base/float16.h"
#include "kernels/chips/chips.h"
#include "kernels/chips/spread_tiles.h"
#include "kernels/collective/schedule.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/workload/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace tessera::chips {
namespace {

using workload::CollectiveKind;
using workload::CollectiveWorkload;

constexpr const char* kOwner = "collective";
constexpr Bytes kUnit = 8; ///< of the codelets that add

/// Where everything is; the same on all chips.
struct Layout {
    std::int64_t chips = 0;
    std::int64_t elements = 0;
    ElementType type = ElementType::F16;
    std::vector<TileId> tiles;     ///< that hold the array
    std::int64_t part = 0;         ///< elements of a fragment on a tile
    std::vector<std::size_t> ring; ///< chips in the order of the ring

    [[nodiscard]] Bytes part_bytes() const { return part * bytes_of(type); }
    [[nodiscard]] std::int64_t fragment() const {
        return part * static_cast<std::int64_t>(tiles.size());
    }
};

std::vector<std::int32_t> numbers(std::int64_t count) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// Round the outside of a ladder; by number where each pair has an edge.
std::vector<std::size_t> ring_of(const spec::MachineSpec& machine) {
    const auto chips =
        machine.system.links.topology == spec::Topology::Full
            ? numbers(machine.system.chips)
            : collective::outside_ring(static_cast<std::int32_t>(machine.system.chips));
    return {chips.begin(), chips.end()};
}

/// The schedule of ranks, which are members in the order of the ring.
collective::Schedule schedule_of(CollectiveKind kind, std::int64_t chips) {
    const auto of = [](CollectiveKind one) {
        switch (one) {
        case CollectiveKind::AllReduce:
            return collective::Kind::AllReduce;
        case CollectiveKind::ReduceScatter:
            return collective::Kind::ReduceScatter;
        case CollectiveKind::AllGather:
            break;
        }
        return collective::Kind::AllGather;
    };
    return collective::ring_schedule(of(kind), numbers(chips));
}

/// Steps of a schedule that are like each other: in round r of them rank m sends fragment
/// (m + shift - r) mod N to rank m + 1.
struct Rounds {
    std::int64_t count = 0;
    std::int64_t shift = 0;
    bool adds = false;
};

std::vector<Rounds> rounds_of(const collective::Schedule& schedule) {
    const std::int64_t members = schedule.members;
    const auto modulo = [members](std::int64_t number) {
        return (number % members + members) % members;
    };
    std::vector<Rounds> all;
    for (const collective::Step& step : schedule.steps) {
        const collective::Send& first = step.sends.at(0);
        const bool goes_on =
            !all.empty() && all.back().adds == first.adds &&
            modulo(all.back().shift - all.back().count + first.from) == first.fragment;
        if (!goes_on) {
            all.push_back({0, modulo(first.fragment - first.from), first.adds});
        }
        for (const collective::Send& send : step.sends) {
            TESSERA_ASSERT(send.adds == first.adds && send.to == modulo(send.from + 1) &&
                           send.fragment ==
                               modulo(send.from + all.back().shift - all.back().count));
        }
        TESSERA_ASSERT(step.sends.size() == static_cast<std::size_t>(members));
        ++all.back().count;
    }
    return all;
}

Layout layout_of(const spec::MachineSpec& machine, const CollectiveWorkload& workload) {
    Layout layout;
    layout.chips = machine.system.chips;
    TESSERA_ASSERT(layout.chips > 1);
    layout.elements = workload.elements;
    layout.type = workload.dtype;
    layout.tiles = spread_tiles(machine, workload.tiles);
    const auto tiles = static_cast<std::int64_t>(layout.tiles.size());
    const std::int64_t unit = kUnit / bytes_of(layout.type);
    const std::int64_t parts = layout.chips * tiles;
    layout.part = ceil_div(ceil_div(layout.elements, parts), unit) * unit;
    layout.ring = ring_of(machine);
    return layout;
}

/// The pieces of the array, tile by tile within each fragment; the last ones may hold less.
graph::Tensor array_of(const Layout& layout, graph::BufferId buffer) {
    graph::Tensor tensor = graph::array_tensor("array", layout.type, layout.elements);
    tensor.given = true;
    tensor.wanted = true;
    for (std::int64_t fragment = 0; fragment < layout.chips; ++fragment) {
        for (std::size_t at = 0; at < layout.tiles.size(); ++at) {
            const std::int64_t first =
                fragment * layout.fragment() + static_cast<std::int64_t>(at) * layout.part;
            const std::int64_t held = std::min(layout.part, layout.elements - first);
            if (held > 0) {
                tensor.pieces.push_back(graph::run_of(layout.tiles[at],
                                                      {buffer, fragment * layout.part_bytes()},
                                                      first, held, layout.type));
            }
        }
    }
    return tensor;
}

class Ring {
public:
    Ring(const spec::MachineSpec& machine, const Layout& layout, graph::Graph& graph)
        : machine_(machine), layout_(layout), graph_(graph),
          array_(graph.add_buffer({.name = "array", .alignment = kUnit, .zeroed = true})),
          rank_(graph.add_buffer({.name = "rank"})) {
        for (const TileId tile : layout.tiles) {
            graph.hold(array_, tile, layout.chips * layout.part_bytes());
            graph.hold(rank_, tile, 4);
        }
        graph.add_tensor(array_of(layout, array_));
        graph::Tensor ranks = graph::array_tensor("rank", ElementType::I32,
                                                  static_cast<std::int64_t>(layout.tiles.size()));
        ranks.given = true;
        ranks.known = true;
        std::int64_t first = 0;
        for (const TileId tile : layout.tiles) {
            ranks.pieces.push_back(graph::run_of(tile, {rank_}, first++, 1, ElementType::I32));
        }
        graph.add_tensor(std::move(ranks));
    }

    graph::Step steps(const Rounds& rounds) {
        const std::string name = rounds.adds ? "reduce-scatter" : "all-gather";
        graph::LinkExchange link{name + ": to the next chip", kOwner};
        for (std::size_t at = 0; at < layout_.tiles.size(); ++at) {
            link.sends.push_back(indexed(kTo, at, rounds.shift));
            link.receives.push_back(indexed(kFrom, at, rounds.shift - 1));
        }
        if (!rounds.adds) {
            const auto exchange = graph_.add_link_exchange(std::move(link));
            return graph::repeat(rounds.count, {graph::run(exchange)});
        }
        graph_.need_codelet("add_to_fragment");
        const auto come =
            graph_.add_buffer({.name = "come", .alignment = kUnit, .apart = {array_}});
        const auto round = graph_.add_round(name);
        const auto add = graph_.add_compute_set({name + ": add", program::Role::Reduce, kOwner});
        for (std::size_t at = 0; at < layout_.tiles.size(); ++at) {
            const TileId tile = layout_.tiles[at];
            graph_.hold(come, tile, layout_.part_bytes());
            graph_.hold(round, tile, 4);
            link.receives[at].place = {come};
            link.receives[at].indexed.reset();
            add_part(add, tile, come, round, rounds.shift - 1 - layout_.chips);
        }
        const auto exchange = graph_.add_link_exchange(std::move(link));
        return graph::repeat(rounds.count, {graph::run(exchange), graph::run(add)}, round);
    }

    static constexpr std::uint32_t kTo = 0; ///< channel to the next chip of the ring
    static constexpr std::uint32_t kFrom = 1;

private:
    /// A part of fragment rank + shift - round.
    [[nodiscard]] graph::LinkMessage indexed(std::uint32_t channel, std::size_t at,
                                             std::int64_t shift) const {
        return {channel,
                static_cast<std::uint32_t>(at),
                layout_.tiles[at],
                {array_},
                layout_.part_bytes(),
                graph::LinkIndex{{rank_}, -1, layout_.part_bytes(), layout_.chips, shift}};
    }

    /// Rows of equal length for the workers, the last one perhaps shorter.
    void add_part(graph::ComputeSetId set, TileId tile, graph::BufferId come, graph::BufferId round,
                  std::int64_t shift) {
        const std::int64_t units = layout_.part_bytes() / kUnit;
        const std::int64_t row =
            plan::counted_rounds(machine_, ceil_div(units, machine_.tile.workers), "a fragment");
        const std::int64_t rows = ceil_div(units, row);
        const bool whole = layout_.type == ElementType::I32;
        const std::int64_t ahead = whole ? 0 : 1; // loops that load a unit ahead
        const Bytes row_bytes = row * kUnit;
        const Bytes skip = row_bytes * (machine_.tile.workers - 1);
        const Bytes all = layout_.chips * layout_.part_bytes();
        const std::string entry = "add_to_fragment_" + std::string(name_of(layout_.type));
        using graph::Access;
        graph_.add_vertex(
            set, tile, entry, program::VertexKind::MultiWorker,
            {graph::word(rows), graph::word(row - ahead),
             graph::word(units - (rows - 1) * row - ahead),
             graph::pointer({array_}, all, Access::Read), graph::word(row_bytes), graph::word(skip),
             graph::read({come}, layout_.part_bytes()), graph::word(row_bytes), graph::word(skip),
             graph::pointer({array_}, all, Access::WritePart), graph::word(row_bytes),
             graph::word(skip), graph::read({rank_}, 4), graph::round_of(round),
             graph::word(layout_.part_bytes()), graph::word(layout_.chips), graph::word(shift)});
        graph_.add_work(set, tile, units);
    }

    const spec::MachineSpec& machine_;
    const Layout& layout_;
    graph::Graph& graph_;
    graph::BufferId array_;
    graph::BufferId rank_;
};

/// Elements of an array as bytes, and back.
class Elements {
public:
    Elements(ElementType type, std::int64_t count)
        : type_(type), bytes(static_cast<std::size_t>(count * bytes_of(type))) {}

    void draw(std::uint64_t seed, std::size_t chip) {
        const workload::CounterRandom random(seed, chip + 1);
        const std::size_t count = bytes.size() / static_cast<std::size_t>(bytes_of(type_));
        for (std::size_t i = 0; i < count; ++i) {
            if (type_ == ElementType::I32) {
                put(i, static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 32U, i)));
            } else {
                constexpr std::uint64_t kSteps = 1U << 20U; // all but a few of them not in F16
                const float value =
                    static_cast<float>(random.below(kSteps + 1, i)) / (kSteps / 2.0F) - 1.0F;
                put_float(i, value);
            }
        }
    }
    /// x + y as the tiles add, rounded to the type.
    void add(const Elements& other, std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; ++i) {
            if (type_ == ElementType::I32) {
                put(i, get<std::uint32_t>(i) + other.get<std::uint32_t>(i));
            } else {
                put_float(i, get_float(i) + other.get_float(i));
            }
        }
    }
    void take(const Elements& other, std::size_t first, std::size_t count) {
        const auto size = static_cast<std::size_t>(bytes_of(type_));
        std::memcpy(bytes.data() + first * size, other.bytes.data() + first * size, count * size);
    }

private:
    template <class Word> [[nodiscard]] Word get(std::size_t i) const {
        Word word{};
        std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
        return word;
    }
    template <class Word> void put(std::size_t i, Word word) {
        std::memcpy(bytes.data() + i * sizeof word, &word, sizeof word);
    }
    [[nodiscard]] float get_float(std::size_t i) const {
        return type_ == ElementType::F16 ? f16_to_f32(get<std::uint16_t>(i)) : get<float>(i);
    }
    void put_float(std::size_t i, float value) {
        if (type_ == ElementType::F16) {
            put(i, f32_to_f16(value));
        } else {
            put(i, value);
        }
    }

    ElementType type_;

public:
    std::vector<std::byte> bytes;
};

/// Returns what each chip begins with, and what the schedule leaves on it, step by step.
ChipValues values_of(const Layout& layout, CollectiveKind kind, std::uint64_t seed,
                     std::int64_t repeats) {
    const auto chips = static_cast<std::size_t>(layout.chips);
    std::vector<Elements> arrays(chips, Elements(layout.type, layout.elements));
    ChipValues values;
    const program::ArrayId array = program::tensor(0);
    for (std::size_t chip = 0; chip < chips; ++chip) {
        arrays[chip].draw(seed, chip);
        values.given.push_back({chip, array, arrays[chip].bytes});
    }
    const auto length = static_cast<std::size_t>(layout.fragment());
    const auto all = static_cast<std::size_t>(layout.elements);
    const auto do_step = [&](const collective::Step& step) {
        // no fragment of a member is sent and written in one step
        for (const collective::Send& send : step.sends) {
            const std::size_t first =
                std::min(all, static_cast<std::size_t>(send.fragment) * length);
            const std::size_t count = std::min(all, first + length) - first;
            const Elements& from = arrays[layout.ring[static_cast<std::size_t>(send.from)]];
            Elements& to = arrays[layout.ring[static_cast<std::size_t>(send.to)]];
            if (send.adds) {
                to.add(from, first, count);
            } else {
                to.take(from, first, count);
            }
        }
    };
    const collective::Schedule schedule = schedule_of(kind, layout.chips);
    for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
        std::ranges::for_each(schedule.steps, do_step);
    }
    for (std::size_t chip = 0; chip < chips; ++chip) {
        values.expected.push_back({chip, array, arrays[chip].bytes});
    }
    return values;
}

const char* name_of(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::AllReduce:
        return "ring all-reduce";
    case CollectiveKind::ReduceScatter:
        return "ring reduce-scatter";
    case CollectiveKind::AllGather:
        break;
    }
    return "ring all-gather";
}

} // namespace

Emitted emit(const spec::MachineSpec& machine, const CollectiveWorkload& workload) {
    const Layout layout = layout_of(machine, workload);
    const std::vector<Rounds> rounds = rounds_of(schedule_of(workload.collective, layout.chips));
    graph::Graph graph(fmt::format(
        "{} of {} {} elements on {} chips{}", name_of(workload.collective), layout.elements,
        tessera::name_of(layout.type), layout.chips,
        workload.repeats == 1 ? std::string() : fmt::format(", {} times", workload.repeats)));
    Ring ring(machine, layout, graph);
    std::vector<graph::Step> steps;
    for (const Rounds& one : rounds) {
        steps.push_back(ring.steps(one));
    }
    graph.control = graph::repeat(workload.repeats, std::move(steps));

    Emitted emitted;
    emitted.graphs.push_back(std::move(graph));
    const auto chips = static_cast<std::size_t>(layout.chips);
    emitted.graph_of_chip.assign(chips, 0);
    emitted.zones.emplace_back(chips, 0U);
    emitted.peers.resize(chips);
    program::Ranks ranks{"rank", {}};
    ranks.words_of_chip.resize(chips);
    for (std::size_t rank = 0; rank < chips; ++rank) {
        const std::size_t chip = layout.ring[rank];
        const auto next = static_cast<std::uint32_t>(layout.ring[(rank + 1) % chips]);
        const auto before = static_cast<std::uint32_t>(layout.ring[(rank + chips - 1) % chips]);
        emitted.peers[chip] = {{next, Ring::kFrom}, {before, Ring::kTo}};
        ranks.words_of_chip[chip].assign(layout.tiles.size(), static_cast<std::int32_t>(rank));
    }
    emitted.ranks.push_back(std::move(ranks));
    emitted.values = [layout, kind = workload.collective, seed = workload.seed,
                      repeats = workload.repeats] {
        return values_of(layout, kind, seed, repeats);
    };
    emitted.useful_bytes = static_cast<Bytes>(rounds.size()) * (layout.chips - 1) *
                           layout.elements * bytes_of(layout.type) * workload.repeats;
    emitted.choices = {{"chips", layout.chips},
                       {"tiles", static_cast<std::int64_t>(layout.tiles.size())},
                       {"part_bytes", layout.part_bytes()}};
    return emitted;
}

} // namespace tessera::chips
