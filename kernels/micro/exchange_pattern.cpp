// SPDX-License-Identifier: MIT
#include "kernels/micro/limits.h"
#include "kernels/micro/message_pattern.h"
#include "kernels/micro/micro.h"
#include "kernels/rearrange/rearrange.h"
#include "kernels/workload/random.h"
#include "models/timing/exchange_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tessera::micro {
namespace {

using workload::CopyLoop;
using workload::ExchangePattern;
using workload::ExchangePatternWorkload;
using workload::SelfCopyWorkload;

constexpr const char* kOwner = "exchange_pattern";
constexpr Bytes kWord = 4;
constexpr const char* kExchange = "exchange";
constexpr const char* kOwnPart = "rearrange: own part";

const char* name_of(ExchangePattern pattern) {
    switch (pattern) {
    case ExchangePattern::PointToPoint:
        return "point to point";
    case ExchangePattern::Pairs:
        return "pairs";
    case ExchangePattern::Broadcast:
        return "broadcast";
    case ExchangePattern::Gather:
        return "gather";
    case ExchangePattern::Scatter:
        return "scatter";
    case ExchangePattern::AllToAll:
        return "all to all";
    case ExchangePattern::Random:
        return "random";
    case ExchangePattern::Transpose:
        return "transpose";
    case ExchangePattern::Shift:
        break;
    }
    return "shift";
}

const char* codelet_of(CopyLoop copies) {
    switch (copies) {
    case CopyLoop::OneWorker:
        return "rearrange_strided";
    case CopyLoop::Paced:
        return "copy_paced";
    case CopyLoop::Workers:
        break;
    }
    return "copy";
}

/// Words of small whole numbers, different from word to word.
std::vector<std::byte> numbers(std::uint64_t seed, Bytes bytes) {
    const workload::CounterRandom random(seed, 1);
    std::vector<float> words(static_cast<std::size_t>(bytes / kWord));
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = static_cast<float>(random.below(1U << 24U, i));
    }
    std::vector<std::byte> made(static_cast<std::size_t>(bytes));
    std::memcpy(made.data(), words.data(), made.size());
    return made;
}

/// The rows of all tiles as one tensor, tile after tile.
graph::Tensor rows_tensor(const std::string& name, const std::vector<Bytes>& row_bytes,
                          graph::BufferId buffer) {
    const Bytes total = std::accumulate(row_bytes.begin(), row_bytes.end(), Bytes{0});
    graph::Tensor tensor = graph::array_tensor(name, ElementType::F32, total / kWord);
    std::int64_t first = 0;
    for (std::size_t tile = 0; tile < row_bytes.size(); ++tile) {
        if (row_bytes[tile] > 0) {
            const std::int64_t words = row_bytes[tile] / kWord;
            tensor.pieces.push_back(
                graph::run_of(static_cast<TileId>(tile), {buffer}, first, words, ElementType::F32));
            first += words;
        }
    }
    return tensor;
}

class PatternGraph {
public:
    PatternGraph(const spec::MachineSpec& machine, MessagePattern pattern, Bytes message_bytes,
                 CopyLoop copies)
        : machine_(machine), pattern_(std::move(pattern)), bytes_(message_bytes), copies_(copies) {}

    [[nodiscard]] graph::Graph graph(const std::string& name, std::int64_t repeats) const {
        graph::Graph graph(name);
        graph.codelets = {codelet_of(copies_)};
        const auto source = graph.add_buffer({.name = "source"});
        const auto destination = graph.add_buffer({.name = "destination", .apart = {source}});
        for (std::size_t tile = 0; tile < pattern_.source_bytes.size(); ++tile) {
            const auto id = static_cast<TileId>(tile);
            graph.hold(source, id, pattern_.source_bytes[tile]);
            graph.hold(destination, id, pattern_.destination_bytes[tile]);
        }
        const auto exchange = graph.add_exchange({kExchange, program::Role::Bring, kOwner});
        std::vector<graph::Receiver> receivers;
        for (const program::Transfer& transfer : pattern_.transfers) {
            receivers.clear();
            for (const auto& to : transfer.destinations) {
                receivers.push_back({to.tile, {destination, Bytes{to.address}}});
            }
            graph.add_message(exchange, transfer.source_tile,
                              {source, Bytes{transfer.source_address}}, bytes_, receivers,
                              timing::pairable(machine_, transfer, bytes_));
        }
        const auto own_part = graph.add_compute_set({kOwnPart, program::Role::Rearrange, kOwner});
        for (const LocalCopy& copy : pattern_.copies) {
            rearrange::add(graph, own_part, copy.tile,
                           copy_calls({source, Bytes{copy.from}}, {destination, Bytes{copy.to}}));
        }
        // Behind the exchange it would take the time in which others still receive, which measured
        // scatters do not show.
        graph.control = graph::repeat(repeats, {graph::run(own_part), graph::run(exchange)});
        auto sent = rows_tensor("source", pattern_.source_bytes, source);
        auto received = rows_tensor("destination", pattern_.destination_bytes, destination);
        sent.given = true;
        received.wanted = true;
        graph.add_tensor(std::move(sent));
        graph.add_tensor(std::move(received));
        return graph;
    }

    [[nodiscard]] std::vector<std::byte> expected(const std::vector<std::byte>& sent) const {
        const auto source = starts(pattern_.source_bytes);
        const auto destination = starts(pattern_.destination_bytes);
        std::vector<std::byte> received(static_cast<std::size_t>(destination.back()));
        const auto move = [&](TileId from, Address at, TileId to, Address address) {
            std::memcpy(received.data() + destination[to] + address,
                        sent.data() + source[from] + at, static_cast<std::size_t>(bytes_));
        };
        for (const auto& transfer : pattern_.transfers) {
            for (const auto& to : transfer.destinations) {
                move(transfer.source_tile, transfer.source_address, to.tile, to.address);
            }
        }
        for (const LocalCopy& copy : pattern_.copies) {
            move(copy.tile, copy.from, copy.tile, copy.to);
        }
        return received;
    }

    [[nodiscard]] Bytes delivered_bytes() const {
        std::size_t messages = pattern_.copies.size();
        for (const auto& transfer : pattern_.transfers) {
            messages += transfer.destinations.size();
        }
        return static_cast<Bytes>(messages) * bytes_;
    }
    [[nodiscard]] Bytes sent_bytes() const { return starts(pattern_.source_bytes).back(); }
    [[nodiscard]] std::int64_t messages() const {
        return static_cast<std::int64_t>(pattern_.transfers.size());
    }
    [[nodiscard]] std::int64_t copies() const {
        return static_cast<std::int64_t>(pattern_.copies.size());
    }

private:
    /// Where every tile's row begins in the tensor, and where the last one ends.
    static std::vector<Bytes> starts(const std::vector<Bytes>& row_bytes) {
        std::vector<Bytes> at{0};
        std::partial_sum(row_bytes.begin(), row_bytes.end(), std::back_inserter(at));
        return at;
    }

    [[nodiscard]] rearrange::Calls copy_calls(graph::Place from, graph::Place to) const {
        constexpr Bytes kItem = 8;
        switch (copies_) {
        case CopyLoop::OneWorker:
            return {rearrange::strided({from, kItem}, {to, kItem}, bytes_ / kItem, kItem)};
        case CopyLoop::Paced:
            return rearrange::paced_copy(machine_, from, to, bytes_);
        case CopyLoop::Workers:
            break;
        }
        return rearrange::copy(machine_, from, to, bytes_);
    }

    spec::MachineSpec machine_;
    MessagePattern pattern_;
    Bytes bytes_;
    CopyLoop copies_;
};

Emitted emit_pattern(const PatternGraph& pattern, const std::string& what, std::uint64_t seed,
                     std::int64_t repeats) {
    const std::string sentence = repeats == 1 ? what : fmt::format("{}, {} times", what, repeats);
    Emitted emitted{pattern.graph(sentence, repeats), [pattern, seed] {
                        auto sent = numbers(seed, pattern.sent_bytes());
                        auto received = pattern.expected(sent);
                        return Values{{{program::tensor(0), std::move(sent)}},
                                      {{program::tensor(1), std::move(received)}}};
                    }};
    emitted.useful_bytes = pattern.delivered_bytes() * repeats;
    emitted.choices = {{"messages", pattern.messages()}, {"copies_in_tile", pattern.copies()}};
    return emitted;
}

} // namespace

Emitted emit(const spec::MachineSpec& machine, const ExchangePatternWorkload& workload) {
    const PatternGraph graph(machine, message_pattern(machine, workload), workload.bytes,
                             workload.copies);
    const std::string sentence =
        fmt::format("{} of {} B messages", name_of(workload.pattern), workload.bytes);
    return emit_pattern(graph, sentence, workload.seed, workload.repeats);
}

Emitted emit(const spec::MachineSpec& machine, const SelfCopyWorkload& workload) {
    const std::int64_t tiles = tiles_or_all(machine, workload.tiles, machine.chip.tiles);
    MessagePattern pattern;
    pattern.source_bytes.resize(static_cast<std::size_t>(machine.chip.tiles));
    pattern.destination_bytes.resize(pattern.source_bytes.size());
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        pattern.copies.push_back({static_cast<TileId>(tile), 0, 0});
        pattern.source_bytes[static_cast<std::size_t>(tile)] = workload.bytes;
        pattern.destination_bytes[static_cast<std::size_t>(tile)] = workload.bytes;
    }
    const PatternGraph graph(machine, std::move(pattern), workload.bytes, workload.copies);
    const std::string sentence =
        fmt::format("copy of {} B inside each of {} tiles", workload.bytes, tiles);
    return emit_pattern(graph, sentence, workload.seed, workload.repeats);
}

} // namespace tessera::micro
