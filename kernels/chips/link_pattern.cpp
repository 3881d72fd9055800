// SPDX-License-Identifier: MIT
// Messages between chips for their own sake: one exchange, of which each chip has its part.
#include "base/error.h"
#include "kernels/chips/chips.h"
#include "kernels/chips/spread_tiles.h"
#include "kernels/micro/limits.h"
#include "kernels/workload/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace tessera::chips {
namespace {

using workload::LinkPatternKind;
using workload::LinkPatternWorkload;

constexpr const char* kPattern = "link_pattern";

struct End {
    std::size_t chip = 0;
    TileId tile = 0;

    friend auto operator<=>(const End&, const End&) = default;
};
struct Pair {
    End from;
    End to;
};

/// Each tile of each chip to a tile of another chip, no tile twice.
std::vector<Pair> random_pairs(std::size_t chips, const std::vector<TileId>& tiles,
                               std::uint64_t seed) {
    std::vector<Pair> pairs;
    for (std::size_t chip = 0; chip < chips; ++chip) {
        for (const TileId tile : tiles) {
            pairs.push_back({{chip, tile}, {chip, tile}});
        }
    }
    const workload::CounterRandom random(seed, 1);
    std::uint64_t drawn = 0;
    const auto swap_with = [&](std::size_t at, std::size_t below) {
        std::swap(pairs[at].to, pairs[random.below(below, drawn++)].to);
    };
    for (std::size_t at = pairs.size(); at > 1; --at) {
        swap_with(at - 1, at);
    }
    const auto stays = [](const Pair& pair) { return pair.from.chip == pair.to.chip; };
    for (std::size_t at = 0; at < pairs.size(); ++at) { // those that stay change with others
        while (stays(pairs[at])) {
            const std::size_t other = random.below(pairs.size(), drawn++);
            std::swap(pairs[at].to, pairs[other].to);
            if (stays(pairs[other])) {
                std::swap(pairs[at].to, pairs[other].to);
            }
        }
    }
    return pairs;
}

std::vector<Pair> pairs_of(const spec::MachineSpec& machine, const LinkPatternWorkload& workload) {
    const auto chips = static_cast<std::size_t>(machine.system.chips);
    const auto chip = [&](const char* key, std::int64_t number) {
        if (number >= machine.system.chips) {
            throw micro::wrong_value(key, fmt::format("got chip {}, expected one below {}, the "
                                                      "system.chips of machine {}",
                                                      number, chips, machine.name));
        }
        return static_cast<std::size_t>(number);
    };
    TESSERA_ASSERT(chips > 1);
    if (workload.pattern == LinkPatternKind::Random) {
        return random_pairs(chips, spread_tiles(machine, workload.tiles), workload.seed);
    }
    const std::size_t from = chip("source", workload.source);
    const std::size_t to = chip("destination", workload.destination);
    if (workload.pattern == LinkPatternKind::PointToPoint) {
        const TileId tile = micro::checked_tile(machine, "tile", workload.tile);
        return {{{from, tile}, {to, tile}}};
    }
    std::vector<Pair> pairs;
    for (const TileId tile : spread_tiles(machine, workload.tiles)) {
        pairs.push_back({{from, tile}, {to, tile}});
        if (workload.pattern == LinkPatternKind::BulkBoth) {
            pairs.push_back({{to, tile}, {from, tile}});
        }
    }
    return pairs;
}

std::vector<std::byte> words_of(std::uint64_t seed, std::size_t chip, Bytes bytes) {
    const workload::CounterRandom random(seed, chip + 2);
    std::vector<std::byte> made(static_cast<std::size_t>(bytes));
    for (std::size_t at = 0; at < made.size(); at += 4) {
        const auto word = static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 32U, at));
        std::memcpy(made.data() + at, &word, sizeof word);
    }
    return made;
}

/// The tiles of a chip that send, or receive, ascending; each of their messages is a row of a tensor.
struct Rows {
    std::vector<TileId> tiles;

    [[nodiscard]] Bytes bytes(Bytes message) const {
        return static_cast<Bytes>(tiles.size()) * message;
    }
    [[nodiscard]] std::size_t place_of(TileId tile) const {
        return static_cast<std::size_t>(std::ranges::lower_bound(tiles, tile) - tiles.begin());
    }
    [[nodiscard]] graph::Tensor tensor(const char* name, graph::BufferId buffer,
                                       Bytes message) const {
        graph::Tensor made = graph::array_tensor(name, ElementType::I32, bytes(message) / 4);
        for (std::size_t row = 0; row < tiles.size(); ++row) {
            made.pieces.push_back(graph::run_of(tiles[row], {buffer},
                                                static_cast<std::int64_t>(row) * message / 4,
                                                message / 4, ElementType::I32));
        }
        return made;
    }
};

} // namespace

Emitted emit(const spec::MachineSpec& machine, const LinkPatternWorkload& workload) {
    const auto chips = static_cast<std::size_t>(machine.system.chips);
    const std::vector<Pair> pairs = pairs_of(machine, workload);
    std::vector<Rows> sources(chips);
    std::vector<Rows> targets(chips);
    for (const Pair& pair : pairs) {
        sources[pair.from.chip].tiles.push_back(pair.from.tile);
        targets[pair.to.chip].tiles.push_back(pair.to.tile);
    }
    for (std::size_t chip = 0; chip < chips; ++chip) {
        std::ranges::sort(sources[chip].tiles);
        std::ranges::sort(targets[chip].tiles);
    }
    Emitted emitted;
    std::vector<graph::LinkExchange> exchanges(chips, {.name = "between chips", .owner = kPattern});
    std::vector<graph::BufferId> source_of;
    std::vector<graph::BufferId> target_of;
    emitted.peers.resize(chips);
    for (std::size_t chip = 0; chip < chips; ++chip) {
        graph::Graph& graph = emitted.graphs.emplace_back(fmt::format(
            "{} messages of {} B between {} chips{}", pairs.size(), workload.bytes, chips,
            workload.repeats == 1 ? std::string() : fmt::format(", {} times", workload.repeats)));
        const auto source = graph.add_buffer({.name = "source"});
        const auto target = graph.add_buffer({.name = "destination", .apart = {source}});
        for (const TileId tile : sources[chip].tiles) {
            graph.hold(source, tile, workload.bytes);
        }
        for (const TileId tile : targets[chip].tiles) {
            graph.hold(target, tile, workload.bytes);
        }
        source_of.push_back(source);
        target_of.push_back(target);
        emitted.graph_of_chip.push_back(chip);
        for (std::size_t other = 0; other < chips; ++other) { // channel b of chip a leads to b
            emitted.peers[chip].push_back(
                {static_cast<std::uint32_t>(other), static_cast<std::uint32_t>(chip)});
        }
    }
    std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> sent;
    for (const Pair& pair : pairs) {
        const std::uint32_t index = sent[{pair.from.chip, pair.to.chip}]++;
        exchanges[pair.from.chip].sends.push_back({static_cast<std::uint32_t>(pair.to.chip),
                                                   index,
                                                   pair.from.tile,
                                                   {source_of[pair.from.chip]},
                                                   workload.bytes});
        exchanges[pair.to.chip].receives.push_back({static_cast<std::uint32_t>(pair.from.chip),
                                                    index,
                                                    pair.to.tile,
                                                    {target_of[pair.to.chip]},
                                                    workload.bytes});
    }
    for (std::size_t chip = 0; chip < chips; ++chip) {
        graph::Graph& graph = emitted.graphs[chip];
        auto given = sources[chip].tensor("source", source_of[chip], workload.bytes);
        auto wanted = targets[chip].tensor("destination", target_of[chip], workload.bytes);
        given.given = true;
        wanted.wanted = true;
        graph.add_tensor(std::move(given));
        graph.add_tensor(std::move(wanted));
        const auto exchange = graph.add_link_exchange(std::move(exchanges[chip]));
        graph.control = graph::repeat(workload.repeats, {graph::run(exchange)});
    }
    emitted.zones.emplace_back(chips, 0U);
    emitted.values = [=, seed = workload.seed, bytes = workload.bytes] {
        ChipValues values;
        std::vector<std::vector<std::byte>> received(chips);
        for (std::size_t chip = 0; chip < chips; ++chip) {
            values.given.push_back(
                {chip, program::tensor(0), words_of(seed, chip, sources[chip].bytes(bytes))});
            received[chip].resize(static_cast<std::size_t>(targets[chip].bytes(bytes)));
        }
        const auto size = static_cast<std::size_t>(bytes);
        for (const Pair& pair : pairs) {
            const auto& from = values.given[pair.from.chip].bytes;
            std::memcpy(
                received[pair.to.chip].data() + targets[pair.to.chip].place_of(pair.to.tile) * size,
                from.data() + sources[pair.from.chip].place_of(pair.from.tile) * size, size);
        }
        for (std::size_t chip = 0; chip < chips; ++chip) {
            values.expected.push_back({chip, program::tensor(1), std::move(received[chip])});
        }
        return values;
    };
    emitted.useful_bytes = static_cast<Bytes>(pairs.size()) * workload.bytes * workload.repeats;
    emitted.choices = {{"chips", machine.system.chips},
                       {"messages", static_cast<std::int64_t>(pairs.size())}};
    return emitted;
}

} // namespace tessera::chips
