// SPDX-License-Identifier: MIT
#include "kernels/lower/lifetimes.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace tessera::lower {
namespace {

using graph::Access;
using program::Lifetime;
using program::Step;

/// Bytes, as ascending intervals that do not touch.
class Intervals {
public:
    void clear() { all_.clear(); }
    void add(Bytes begin, Bytes end) {
        auto first = std::lower_bound(all_.begin(), all_.end(), begin,
                                      [](const auto& one, Bytes at) { return one.second < at; });
        auto last = first;
        while (last != all_.end() && last->first <= end) {
            begin = std::min(begin, last->first);
            end = std::max(end, last->second);
            ++last;
        }
        all_.insert(all_.erase(first, last), {begin, end});
    }
    [[nodiscard]] bool has(Bytes begin, Bytes end) const {
        const auto after =
            std::upper_bound(all_.begin(), all_.end(), begin,
                             [](Bytes at, const auto& one) { return at < one.first; });
        return after != all_.begin() && std::prev(after)->second >= end;
    }

private:
    std::vector<std::pair<Bytes, Bytes>> all_;
};

struct Leaf {
    StepNumber step = 0;
    bool is_wait = false; ///< for a copy that began before
};
struct Loop {
    std::uint32_t first = 0; ///< leaves
    std::uint32_t last = 0;
};

/// The leaves of a control program, and its loops, inner before outer.
class Walk {
public:
    explicit Walk(const graph::Graph& graph) : graph_(graph) {
        visit(graph.control);
        around.resize(leaves.size());
        for (std::uint32_t loop = 0; loop < loops.size(); ++loop) {
            for (std::uint32_t leaf = loops[loop].first; leaf <= loops[loop].last; ++leaf) {
                around[leaf].push_back(loop);
            }
        }
    }

    std::vector<std::optional<Leaf>> leaves; ///< nothing: a step that touches no memory
    std::vector<Loop> loops;
    std::vector<std::vector<std::uint32_t>> around; ///< by leaf: its loops

private:
    void visit(const Step& step) {
        const auto first = static_cast<std::uint32_t>(leaves.size());
        switch (step.kind) {
        case Step::Kind::Sequence:
        case Step::Kind::Repeat:
        case Step::Kind::While:
        case Step::Kind::If:
            for (const Step& child : step.children) {
                visit(child);
            }
            if ((step.kind == Step::Kind::Repeat || step.kind == Step::Kind::While) &&
                leaves.size() > first) {
                loops.push_back({first, static_cast<std::uint32_t>(leaves.size() - 1)});
            }
            return;
        case Step::Kind::Call:
            throw NotModelled("calls in a graph: not modelled; see docs/kernels.md");
        case Step::Kind::ComputeSet:
            add(step, number_of(graph_, graph::ComputeSetId{step.index}));
            return;
        case Step::Kind::Exchange:
            add(step, number_of(graph_, graph::ExchangeId{step.index}));
            return;
        case Step::Kind::StreamCopy:
        case Step::Kind::StreamStart:
        case Step::Kind::StreamWait:
            add(step, number_of(graph_, graph::CopyId{step.index}));
            return;
        case Step::Kind::Sync:
            leaves.emplace_back();
        }
    }
    void add(const Step& step, StepNumber number) {
        if (!is_empty(graph_, step)) {
            leaves.push_back(Leaf{number, step.kind == Step::Kind::StreamWait});
        }
    }

    const graph::Graph& graph_;
};

/// The leaves at which a buffer is used on tiles with the same uses, and what they need of loops.
class Tracker {
public:
    Tracker(const graph::Graph& graph, const Walk& walk, const graph::Buffer& buffer, bool given)
        : graph_(graph), walk_(walk), buffer_(buffer), given_(given),
          crosses(walk.loops.size(), false) {}

    /// Uses of one tile, by step.
    void add(TileId tile, std::span<const Use> uses) {
        defined_.clear();
        std::vector<Intervals> in_iteration(walk_.loops.size());
        for (std::uint32_t at = 0; at < walk_.leaves.size(); ++at) {
            for (const std::uint32_t loop : walk_.around[at]) {
                if (walk_.loops[loop].first == at) {
                    in_iteration[loop].clear();
                }
            }
            if (walk_.leaves[at]) {
                visit(tile, *walk_.leaves[at], at, uses, in_iteration);
            }
        }
    }

private:
    void visit(TileId tile, const Leaf& leaf, std::uint32_t at, std::span<const Use> uses,
               std::vector<Intervals>& in_iteration) {
        const auto first =
            std::lower_bound(uses.begin(), uses.end(), leaf.step,
                             [](const Use& one, StepNumber step) { return one.step < step; });
        for (auto use = first; use != uses.end() && use->step == leaf.step; ++use) {
            if (!lifetime) {
                lifetime = Lifetime{at, at};
            }
            lifetime->first = std::min(lifetime->first, at);
            lifetime->last = std::max(lifetime->last, at);
            const Access access = leaf.is_wait ? Access::Read : use->access;
            if (access == Access::Read && !given_ && !defined_.has(use->begin, use->end)) {
                throw ProgramError(fmt::format(
                    "{}: step '{}', tile {}: bytes {}..{} of '{}' are read, and nothing has "
                    "written all of them",
                    graph_.name, name_of(graph_, leaf.step), tile, use->begin, use->end - 1,
                    buffer_.name));
            }
            for (const std::uint32_t loop : walk_.around[at]) {
                if (access != Access::Write && !in_iteration[loop].has(use->begin, use->end)) {
                    crosses[loop] = true;
                }
                if (access != Access::Read) {
                    in_iteration[loop].add(use->begin, use->end);
                }
            }
            if (access != Access::Read) {
                defined_.add(use->begin, use->end);
            }
        }
    }

    const graph::Graph& graph_;
    const Walk& walk_;
    const graph::Buffer& buffer_;
    bool given_; ///< all of it, before the first step
    Intervals defined_;

public:
    std::optional<Lifetime> lifetime;
    std::vector<bool> crosses; ///< by loop
};

/// What the host does with buffers.
struct HostUse {
    bool given = false;
    bool wanted = false;
};

std::vector<HostUse> host_uses(const graph::Graph& graph) {
    std::vector<HostUse> uses(graph.buffers.size());
    for (const graph::Tensor& tensor : graph.tensors) {
        for (const graph::Piece& piece : tensor.pieces) {
            HostUse& use = uses.at(piece.place.buffer.index);
            use.given = use.given || tensor.given;
            use.wanted = use.wanted || tensor.wanted;
        }
    }
    return uses;
}

Lifetime lifetime_of(const graph::Graph& graph, const Walk& walk, const Uses& uses,
                     std::uint32_t index, const HostUse& host) {
    const graph::Buffer& buffer = graph.buffers[index];
    const bool constant =
        std::any_of(buffer.held.begin(), buffer.held.end(),
                    [](const graph::Held& held) { return held.contents != nullptr; });
    const bool given = host.given || constant;
    Tracker tracker(graph, walk, buffer, given || buffer.zeroed);
    // most tiles use a buffer alike
    std::vector<std::span<const Use>> known;
    for (const UsesOnTile& tile : uses.of(graph::BufferId{index})) {
        const auto of_tile = uses.of(tile);
        const bool is_known = std::any_of(known.begin(), known.end(), [&](const auto& other) {
            return std::equal(other.begin(), other.end(), of_tile.begin(), of_tile.end());
        });
        if (!is_known) {
            tracker.add(tile.tile, of_tile);
            known.push_back(of_tile);
        }
    }
    if (buffer.zeroed || (!tracker.lifetime && !given && !host.wanted)) {
        return {};
    }
    Lifetime lifetime = tracker.lifetime.value_or(Lifetime{});
    lifetime.first = given ? 0 : lifetime.first;
    lifetime.last = host.wanted ? Lifetime::kEnd : lifetime.last;
    for (std::size_t loop = 0; loop < walk.loops.size(); ++loop) {
        const Loop& over = walk.loops[loop];
        const bool used_inside = lifetime.first <= over.last && lifetime.last >= over.first;
        const bool outside = lifetime.first < over.first || lifetime.last > over.last;
        if (used_inside && (outside || tracker.crosses[loop])) {
            lifetime.first = std::min(lifetime.first, over.first);
            lifetime.last = std::max(lifetime.last, over.last);
        }
    }
    return lifetime;
}

} // namespace

bool is_empty(const graph::Graph& graph, const Step& leaf) {
    if (leaf.kind == Step::Kind::ComputeSet) {
        return graph.compute_sets.at(leaf.index).vertices.empty();
    }
    return leaf.kind == Step::Kind::Exchange && graph.exchanges.at(leaf.index).messages.empty();
}

std::vector<Lifetime> lifetimes_of(const graph::Graph& graph, const Uses& uses) {
    const Walk walk(graph);
    const auto host = host_uses(graph);
    std::vector<Lifetime> lifetimes;
    for (std::uint32_t buffer = 0; buffer < graph.buffers.size(); ++buffer) {
        lifetimes.push_back(lifetime_of(graph, walk, uses, buffer, host[buffer]));
    }
    return lifetimes;
}

} // namespace tessera::lower
