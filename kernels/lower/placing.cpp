// SPDX-License-Identifier: MIT
#include "kernels/lower/placing.h"

#include "base/error.h"
#include "kernels/lower/lifetimes.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <numeric>
#include <set>
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

/// A buffer's name, or where another one of the plan has it, a longer one.
std::string own_name(const std::string& name, const std::set<std::string>& taken) {
    std::string own = name;
    for (int number = 2; taken.contains(own); ++number) {
        own = fmt::format("{} ({})", name, number);
    }
    return own;
}

/// Exchange instructions of a tile that has most of them, as far as messages tell. Too few cost a
/// second round.
Bytes likely_row_bytes(const graph::Graph& graph) {
    constexpr Bytes kOfMessage = 24; // at most, in the common case
    std::vector<Bytes> of_tile;
    Bytes most = 0;
    const auto add = [&](TileId tile) {
        if (tile >= of_tile.size()) {
            of_tile.resize(tile + std::size_t{1});
        }
        most = std::max(most, of_tile[tile] += kOfMessage);
    };
    for (const graph::Exchange& exchange : graph.exchanges) {
        for (const graph::Message& message : exchange.messages) {
            add(message.from.tile);
        }
        for (const graph::TilePlace& to : exchange.to) {
            add(to.tile);
        }
    }
    return most;
}

/// Names of the graph's buffers in a plan of the group, where each has its own.
std::vector<std::string> names_in_plan(const graph::Graph& graph,
                                       const std::vector<std::uint32_t>& group) {
    std::vector<std::string> names(graph.buffers.size());
    std::set<std::string> taken{"code"};
    for (const std::uint32_t index : group) {
        names[index] = own_name(graph.buffers[index].name, taken);
        taken.insert(names[index]);
    }
    return names;
}

/// All of a group, ascending, each as long as its lifetime says. @throws DoesNotFit
MemoryPlan placed(const spec::MachineSpec& machine, const graph::Graph& graph,
                  const std::vector<std::uint32_t>& group, const std::vector<std::string>& names,
                  std::span<const Need> needs, CodeRoom code,
                  const std::vector<std::string>& steps) {
    std::vector<BufferRequest> requests;
    for (const std::uint32_t index : group) {
        const graph::Buffer& buffer = graph.buffers[index];
        const Need& need = needs[index];
        BufferRequest request{names[index],     buffer.kind,      most_held(buffer),
                              buffer.alignment, buffer.where,     {},
                              need.lifetime,    need.by_codelets, need.by_rows};
        for (const graph::BufferId other : buffer.apart) {
            if (std::binary_search(group.begin(), group.end(), other.index)) {
                request.apart_from.push_back(names[other.index]);
            }
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

std::vector<Need> needs_of(const graph::Graph& graph, const Uses& uses) {
    const auto lifetimes = lifetimes_of(graph, uses);
    const auto exchanges = static_cast<StepNumber>(graph.compute_sets.size());
    const auto copies = static_cast<StepNumber>(exchanges + graph.exchanges.size());
    std::vector<Need> needs;
    for (std::uint32_t buffer = 0; buffer < graph.buffers.size(); ++buffer) {
        Need need{lifetimes[buffer], false, false};
        const auto tiles = uses.of(graph::BufferId{buffer});
        for (const UsesOnTile& tile : tiles) {
            for (const Use& use : uses.of(tile)) {
                const bool copied = use.step >= copies; // perhaps meanwhile
                need.by_codelets = need.by_codelets || use.step < exchanges || copied;
                need.by_rows = need.by_rows || use.step >= exchanges;
            }
        }
        if (tiles.empty()) {
            const bool is_state = graph.buffers[buffer].kind == program::SegmentKind::VertexState;
            need = {lifetimes[buffer], true, !is_state};
        }
        needs.push_back(need);
    }
    return needs;
}

Placing place(const spec::MachineSpec& machine, const graph::Graph& graph,
              std::span<const Need> needs, CodeRoom code, const std::vector<std::string>& steps) {
    Placing placing;
    placing.code = code;
    placing.buffers.resize(graph.buffers.size());
    for (const auto& group : Groups(graph).all()) {
        const auto names = names_in_plan(graph, group);
        const MemoryPlan memory = placed(machine, graph, group, names, needs, code, steps);
        for (const std::uint32_t index : group) {
            for (const auto& at : memory.buffers()) {
                if (at.name == names[index]) {
                    placing.buffers[index] = at;
                }
            }
        }
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
    std::sort(group.begin(), group.end());
    const std::vector<Need> always(graph.buffers.size());
    const CodeRoom least{.code = machine.memory.element_bytes, .rows = 0};
    static_cast<void>(
        placed(machine, graph, group, names_in_plan(graph, group), always, least, {step}));
}

Placing first_place(const spec::MachineSpec& machine, const graph::Graph& graph,
                    std::span<const Need> needs, CodeRoom& code,
                    const std::vector<std::string>& steps) {
    // Rows that outgrow their room cost all exchanges a second planning: what else is in their last element is theirs
    // where it is free.
    const Bytes element = machine.memory.element_bytes;
    const Bytes likely = likely_row_bytes(graph);
    const Bytes generous = (code.code + likely + element - 1) / element * element - code.code;
    std::exception_ptr answer; // the one with rows as they are likely
    for (const Bytes rows : {generous, likely, Bytes{0}}) {
        try {
            Placing placing = place(machine, graph, needs, {code.code, rows}, steps);
            code.rows = rows;
            return placing;
        } catch (const DoesNotFit&) {
            answer = rows == likely ? std::current_exception() : answer;
        }
    }
    std::rethrow_exception(answer);
}

} // namespace tessera::lower
