// SPDX-License-Identifier: MIT
#include "kernels/lower/placing.h"

#include "base/error.h"
#include "kernels/lower/code_zone.h"
#include "kernels/lower/lifetimes.h"
#include "models/timing/tile_position.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace tessera::lower {
namespace {

/// Bytes of a buffer on a tile.
struct Share {
    std::uint32_t buffer = 0;
    Bytes bytes = 0;

    friend constexpr auto operator<=>(const Share&, const Share&) = default;
};

/// Tiles with one plan, and the most that any of them holds of each buffer, ascending.
struct Group {
    std::vector<TileId> tiles;
    std::vector<Share> most;
};

/// What each tile holds, and which tiles belong together.
class Tiles {
public:
    explicit Tiles(const graph::Graph& graph, TileId pair_bit) : pair_bit_(pair_bit) {
        for (std::uint32_t buffer = 0; buffer < graph.buffers.size(); ++buffer) {
            for (const graph::Held& held : graph.buffers[buffer].held) {
                of_tile(held.tile).push_back({buffer, held.bytes});
            }
        }
        for (const graph::Buffer& buffer : graph.buffers) {
            beyond_.push_back(buffer.read_beyond);
        }
    }

    /// Tiles that have buffers in common, and those that have some in common with these, and so on;
    /// ascending by their first tile.
    [[nodiscard]] std::vector<Group> together() const {
        std::vector<TileId> parent(held_.size());
        std::iota(parent.begin(), parent.end(), TileId{0});
        const auto root = [&](TileId tile) {
            while (parent[tile] != tile) {
                tile = parent[tile] = parent[parent[tile]];
            }
            return tile;
        };
        std::vector<TileId> first(beyond_.size(), static_cast<TileId>(held_.size()));
        for (TileId tile = 0; tile < held_.size(); ++tile) {
            for (const Share& share : held_[tile]) {
                first[share.buffer] = std::min(first[share.buffer], tile);
                const TileId other = root(first[share.buffer]);
                const TileId own = root(tile);
                parent[std::max(own, other)] = std::min(own, other);
            }
        }
        return groups_by(all(), root);
    }
    /// By the buffers that the tiles of a pair hold.
    [[nodiscard]] std::vector<Group> by_buffers(const Group& group) const {
        return groups_by(group.tiles, [this](TileId tile) {
            auto held = held_by_pair(tile);
            for (auto& of_member : held) {
                for (Share& share : of_member) {
                    share = Share{share.buffer};
                }
            }
            return held;
        });
    }
    /// By these and by how much they hold of them.
    [[nodiscard]] std::vector<Group> by_bytes(const Group& group) const {
        return groups_by(group.tiles, [this](TileId tile) { return held_by_pair(tile); });
    }
    /// The first tile that holds most.
    [[nodiscard]] TileId fullest(const Group& group) const {
        return *std::ranges::max_element(group.tiles, {}, [this](TileId tile) {
            Bytes sum{};
            for (const Share& share : held_[tile]) {
                sum += share.bytes;
            }
            return sum;
        });
    }
    /// Of some buffers, ascending, wherever they are.
    [[nodiscard]] Group of_buffers(const std::vector<std::uint32_t>& buffers) const {
        Group group = group_of(all());
        std::erase_if(group.most, [&](const Share& share) {
            return !std::binary_search(buffers.begin(), buffers.end(), share.buffer);
        });
        return group;
    }
    [[nodiscard]] std::size_t tiles() const { return held_.size(); }

private:
    std::vector<Share>& of_tile(TileId tile) {
        while (tile >= held_.size()) {
            held_.emplace_back();
        }
        return held_[tile];
    }
    [[nodiscard]] std::array<std::vector<Share>, 2> held_by_pair(TileId tile) const {
        const auto held = [this](TileId member) {
            return member < held_.size() ? held_[member] : std::vector<Share>{};
        };
        return {held(tile & ~pair_bit_), held(tile | pair_bit_)};
    }
    /// Those that hold something.
    [[nodiscard]] std::vector<TileId> all() const {
        std::vector<TileId> tiles;
        for (TileId tile = 0; tile < held_.size(); ++tile) {
            if (!held_[tile].empty()) {
                tiles.push_back(tile);
            }
        }
        return tiles;
    }
    [[nodiscard]] Group group_of(std::vector<TileId> tiles) const {
        std::vector<Bytes> most(beyond_.size());
        for (const TileId tile : tiles) {
            for (const Share& share : held_[tile]) {
                most[share.buffer] = std::max(most[share.buffer], share.bytes);
            }
        }
        Group group{std::move(tiles), {}};
        for (std::uint32_t buffer = 0; buffer < most.size(); ++buffer) {
            if (most[buffer] > 0) {
                group.most.push_back({buffer, most[buffer] + beyond_[buffer]});
            }
        }
        return group;
    }
    /// Tiles of one key together, groups by their first tile.
    template <class KeyOf>
    [[nodiscard]] std::vector<Group> groups_by(const std::vector<TileId>& tiles,
                                               KeyOf key_of) const {
        std::map<decltype(key_of(TileId{0})), std::size_t> number;
        std::vector<std::vector<TileId>> parts;
        for (const TileId tile : tiles) {
            const auto [entry, added] = number.try_emplace(key_of(tile), parts.size());
            if (added) {
                parts.emplace_back();
            }
            parts[entry->second].push_back(tile);
        }
        std::vector<Group> groups;
        for (auto& part : parts) {
            groups.push_back(group_of(std::move(part)));
        }
        return groups;
    }

    TileId pair_bit_;
    std::vector<std::vector<Share>> held_; ///< by tile, ascending buffers
    std::vector<Bytes> beyond_;            ///< by buffer
};

/// A buffer's name, or where another one of the plan has it, a longer one.
std::string own_name(const std::string& name, const std::set<std::string>& taken) {
    std::string own = name;
    for (int number = 2; taken.contains(own); ++number) {
        own = fmt::format("{} ({})", name, number);
    }
    return own;
}

/// Rows that go together, as a plan knows them.
BufferRequest request_of(const RowBlock& rows, std::size_t number) {
    BufferRequest request{.name = number == 0 ? "exchange rows"
                                              : fmt::format("exchange rows ({})", number + 1),
                          .kind = program::SegmentKind::ExchangeRow,
                          .bytes = rows.bytes,
                          .alignment = kCodeAlignment,
                          .where = Where::Region0,
                          .lifetime = {0, rows.last},
                          .by_codelets = false};
    return request;
}

/// Names of a group's buffers in its plan, where each has its own.
std::vector<std::string> names_in_plan(const graph::Graph& graph, const Group& group,
                                       std::size_t row_blocks) {
    std::vector<std::string> names;
    std::set<std::string> taken{"code"};
    for (std::size_t block = 0; block < row_blocks; ++block) {
        taken.insert(request_of({}, block).name);
    }
    for (const Share& share : group.most) {
        names.push_back(own_name(graph.buffers[share.buffer].name, taken));
        taken.insert(names.back());
    }
    return names;
}

/// What places one group after another, dividing those that do not fit.
class Placer {
public:
    Placer(const spec::MachineSpec& machine, const graph::Graph& graph, const Tiles& tiles,
           std::span<const Need> needs, const CodeRoom& room, const std::vector<std::string>& steps)
        : machine_(machine), graph_(graph), tiles_(tiles), needs_(needs), room_(room),
          steps_(steps) {
        placing.group_of_tile.assign(tiles.tiles(), Placing::kNoGroup);
    }

    void place(const Group& group) {
        if (place_together(group)) {
            return;
        }
        auto parts = tiles_.by_buffers(group);
        if (parts.size() == 1) {
            parts = tiles_.by_bytes(group);
        }
        if (parts.size() == 1) {
            refuse();
        }
        for (const Group& part : parts) {
            place(part);
        }
    }
    /// @throws DoesNotFit
    void check(const Group& group) {
        if (!place_together(group)) {
            refuse();
        }
    }

    Placing placing;

private:
    bool place_together(const Group& group) {
        const auto names = names_in_plan(graph_, group, room_.rows.size());
        std::map<std::uint32_t, std::size_t> number; // by buffer
        for (std::size_t i = 0; i < group.most.size(); ++i) {
            number[group.most[i].buffer] = i;
        }
        std::vector<BufferRequest> requests;
        for (std::size_t i = 0; i < group.most.size(); ++i) {
            const auto [index, bytes] = group.most[i];
            const graph::Buffer& buffer = graph_.buffers[index];
            const Need& need = needs_[index];
            BufferRequest request{names[i],         buffer.kind,      bytes,
                                  buffer.alignment, buffer.where,     {},
                                  need.lifetime,    need.by_codelets, need.by_rows};
            for (const graph::BufferId other : buffer.apart) {
                if (const auto found = number.find(other.index); found != number.end()) {
                    request.apart_from.push_back(names[found->second]);
                }
            }
            requests.push_back(std::move(request));
        }
        MemoryPlan memory(machine_, room_.code);
        bool fits = true;
        for (std::size_t block = 0; block < room_.rows.size(); ++block) {
            fits = memory.place(request_of(room_.rows[block], block)) && fits;
        }
        fits = memory.place_all(requests) && fits;
        if (fits) {
            take(group, names, std::move(memory));
        } else {
            why_ = why_not(memory, tiles_.fullest(group), steps_);
        }
        return fits;
    }

    void take(const Group& group, const std::vector<std::string>& names, MemoryPlan memory) {
        for (const TileId tile : group.tiles) {
            placing.group_of_tile[tile] = static_cast<std::uint32_t>(placing.plans.size());
        }
        auto& buffers = placing.buffers.emplace_back(graph_.buffers.size());
        std::map<std::string_view, std::uint32_t> number;
        for (std::size_t i = 0; i < names.size(); ++i) {
            number[names[i]] = group.most[i].buffer;
        }
        for (const MemoryPlan::Buffer& at : memory.buffers()) {
            if (const auto found = number.find(at.name); found != number.end()) {
                buffers[found->second] = at;
            }
        }
        placing.plans.push_back(std::move(memory));
    }

    /// For the group that was tried last.
    [[noreturn]] void refuse() const {
        throw DoesNotFit(fmt::format("{} does not fit in tile memory: {}", graph_.name, why_));
    }

    const spec::MachineSpec& machine_;
    const graph::Graph& graph_;
    const Tiles& tiles_;
    std::span<const Need> needs_;
    const CodeRoom& room_;
    const std::vector<std::string>& steps_;
    std::string why_;
};

/// Where the plans, which agree on it, have the rows; and what the fullest plan holds.
void note_rows(Placing& placing, std::size_t row_blocks) {
    placing.rows.clear();
    placing.bytes_used = 0;
    for (const MemoryPlan& plan : placing.plans) {
        if (plan.used_bytes() > placing.bytes_used) {
            placing.bytes_used = plan.used_bytes();
            placing.bytes_by_buffer = plan.sizes();
        }
    }
    for (std::size_t block = 0; block < row_blocks && !placing.plans.empty(); ++block) {
        placing.rows.push_back(placing.plans.front().address(request_of({}, block).name));
    }
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
              std::span<const Need> needs, const CodeRoom& room,
              const std::vector<std::string>& steps) {
    const Tiles tiles(graph, timing::pair_bit(machine.chip));
    Placer placer(machine, graph, tiles, needs, room, steps);
    for (const Group& group : tiles.together()) {
        placer.place(group);
    }
    note_rows(placer.placing, room.rows.size());
    return std::move(placer.placing);
}

bool move_rows(const spec::MachineSpec& machine, Placing& placing, std::span<const RowBlock> rows) {
    if (placing.plans.empty()) {
        return rows.empty();
    }
    MemoryPlan all(machine, placing.plans.front().code());
    for (const MemoryPlan& plan : placing.plans) {
        all.join(plan);
    }
    all.forget_rows();
    for (std::size_t block = 0; block < rows.size(); ++block) {
        if (!all.place(request_of(rows[block], block))) {
            return false;
        }
    }
    for (MemoryPlan& plan : placing.plans) {
        plan.take_rows(all);
    }
    note_rows(placing, rows.size());
    return true;
}

void check_together(const spec::MachineSpec& machine, const graph::Graph& graph,
                    const std::vector<graph::BufferId>& buffers, const std::string& step) {
    std::vector<std::uint32_t> together;
    for (const graph::BufferId buffer : buffers) {
        together.push_back(buffer.index);
    }
    std::sort(together.begin(), together.end());
    const std::vector<Need> always(graph.buffers.size());
    const CodeRoom least{.code = machine.memory.element_bytes, .rows = {}};
    const Tiles tiles(graph, timing::pair_bit(machine.chip));
    const std::vector<std::string> steps{step};
    Placer(machine, graph, tiles, always, least, steps).check(tiles.of_buffers(together));
}

} // namespace tessera::lower
