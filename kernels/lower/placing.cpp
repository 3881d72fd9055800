// SPDX-License-Identifier: MIT
#include "kernels/lower/placing.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tessera::lower {
namespace {

/// Sets of buffers: those of one tile belong together, and so on.
class Groups {
public:
    explicit Groups(const graph::Graph& graph) : parent_(graph.buffers.size()) {
        std::iota(parent_.begin(), parent_.end(), 0U);
        std::map<TileId, std::uint32_t> of_tile;
        for (std::uint32_t buffer = 0; buffer < graph.buffers.size(); ++buffer) {
            for (const graph::Held& held : graph.buffers[buffer].held) {
                const auto [entry, first] = of_tile.emplace(held.tile, buffer);
                parent_[root(buffer)] = root(entry->second);
            }
        }
    }
    /// Buffers of one group, ascending; groups by their first buffer.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> all() {
        std::map<std::uint32_t, std::size_t> number;
        std::vector<std::vector<std::uint32_t>> groups;
        for (std::uint32_t buffer = 0; buffer < parent_.size(); ++buffer) {
            const auto [entry, added] = number.emplace(root(buffer), groups.size());
            if (added) {
                groups.emplace_back();
            }
            groups[entry->second].push_back(buffer);
        }
        return groups;
    }

private:
    std::uint32_t root(std::uint32_t buffer) {
        while (parent_[buffer] != buffer) {
            buffer = parent_[buffer] = parent_[parent_[buffer]];
        }
        return buffer;
    }

    std::vector<std::uint32_t> parent_;
};

Bytes most_held(const graph::Buffer& buffer) {
    Bytes most = 0;
    for (const graph::Held& held : buffer.held) {
        most = std::max(most, held.bytes);
    }
    return most == 0 ? 0 : most + buffer.read_beyond;
}

/// The first tile that holds most of the group.
TileId fullest_tile(const graph::Graph& graph, const std::vector<std::uint32_t>& group) {
    std::map<TileId, Bytes> held_by;
    for (const std::uint32_t buffer : group) {
        for (const graph::Held& held : graph.buffers[buffer].held) {
            held_by[held.tile] += held.bytes;
        }
    }
    const auto fullest =
        std::max_element(held_by.begin(), held_by.end(), [](const auto& left, const auto& right) {
            return left.second < right.second;
        });
    return fullest == held_by.end() ? 0 : fullest->first;
}

/// All of a group, each as long as its lifetime says. @throws DoesNotFit
MemoryPlan placed(const spec::MachineSpec& machine, const graph::Graph& graph,
                  const std::vector<std::uint32_t>& group,
                  std::span<const program::Lifetime> lifetimes, CodeRoom code,
                  const std::vector<std::string>& steps) {
    std::vector<BufferRequest> requests;
    for (const std::uint32_t index : group) {
        const graph::Buffer& buffer = graph.buffers[index];
        BufferRequest request{buffer.name,  buffer.kind, most_held(buffer), buffer.alignment,
                              buffer.where, {},          lifetimes[index]};
        for (const graph::BufferId other : buffer.apart) {
            request.apart_from.push_back(graph.buffers.at(other.index).name);
        }
        requests.push_back(std::move(request));
    }
    MemoryPlan memory(machine, code);
    if (!memory.place_all(requests)) {
        throw DoesNotFit(fmt::format("{} does not fit in tile memory: {}", graph.name,
                                     why_not(memory, fullest_tile(graph, group), steps)));
    }
    return memory;
}

} // namespace

Placing place(const spec::MachineSpec& machine, const graph::Graph& graph,
              std::span<const program::Lifetime> lifetimes, CodeRoom code,
              const std::vector<std::string>& steps) {
    Placing placing;
    placing.buffers.resize(graph.buffers.size());
    for (const auto& group : Groups(graph).all()) {
        const MemoryPlan memory = placed(machine, graph, group, lifetimes, code, steps);
        for (const std::uint32_t index : group) {
            for (const auto& placed : memory.buffers()) {
                if (placed.name == graph.buffers[index].name) {
                    placing.buffers[index] = placed;
                }
            }
        }
        placing.code_zone_bytes = memory.code_zone_bytes();
        if (memory.used_bytes() > placing.bytes_used) {
            placing.bytes_used = memory.used_bytes();
            placing.bytes_by_buffer = memory.sizes();
        }
    }
    return placing;
}

void check_together(const spec::MachineSpec& machine, const graph::Graph& graph,
                    const std::vector<graph::BufferId>& buffers, const std::string& step) {
    std::vector<std::uint32_t> group;
    for (const graph::BufferId buffer : buffers) {
        group.push_back(buffer.index);
    }
    const std::vector<program::Lifetime> always(graph.buffers.size());
    const CodeRoom least{.code = machine.memory.element_bytes, .rows = 0};
    static_cast<void>(placed(machine, graph, group, always, least, {step}));
}

} // namespace tessera::lower
