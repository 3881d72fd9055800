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
using graph::Step;
using program::Lifetime;

/// Bytes, as ascending intervals that do not touch.
class Intervals {
public:
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
    /// Keeps the bytes that are in `other` too.
    void keep_common(const Intervals& other) {
        std::vector<std::pair<Bytes, Bytes>> common;
        auto own = all_.begin();
        auto its = other.all_.begin();
        while (own != all_.end() && its != other.all_.end()) {
            const Bytes begin = std::max(own->first, its->first);
            const Bytes end = std::min(own->second, its->second);
            if (begin < end) {
                common.emplace_back(begin, end);
            }
            if (own->second < its->second) {
                ++own;
            } else {
                ++its;
            }
        }
        all_ = std::move(common);
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

/// A word that the control program uses itself: while no leaf runs, or before a leaf begins.
struct ControlUse {
    StepNumber step = 0;
    std::uint32_t at = 0; ///< reads: the last leaf before it (0: the first), or the copy's
    std::vector<std::uint32_t> around; ///< its loops
};

/// What a walk comes by: a leaf, a control use, or where ways part that lead to the same place. One way of
/// a loop that may not run at all is past it.
struct Event {
    enum class Kind : std::uint8_t { Leaf, ControlUse, OneWay, OtherWay, Together };
    Kind kind = Kind::Leaf;
    std::uint32_t number = 0; ///< of the leaf or control use
};

/// The leaves of a control program, and its loops, inner before outer.
class Walk {
public:
    explicit Walk(const graph::Graph& graph) : graph_(graph) {
        visit(graph.control);
        for (ControlUse& use : control_uses) {
            number_loops(use);
        }
        around.resize(leaves.size());
        for (std::uint32_t loop = 0; loop < loops.size(); ++loop) {
            for (std::uint32_t leaf = loops[loop].first; leaf <= loops[loop].last; ++leaf) {
                around[leaf].push_back(loop);
            }
        }
    }

    std::vector<Event> events;
    std::vector<std::optional<Leaf>> leaves; ///< nothing: a step that touches no memory
    std::vector<ControlUse> control_uses;
    std::vector<Loop> loops;
    std::vector<std::vector<std::uint32_t>> around; ///< by leaf: its loops

private:
    static constexpr std::uint32_t kNoLoop = 0xffffffff; ///< of a loop without leaves

    void visit(const Step& step) {
        const auto first = static_cast<std::uint32_t>(leaves.size());
        switch (step.kind) {
        case Step::Kind::Sequence:
            visit_children(step);
            return;
        case Step::Kind::Repeat:
        case Step::Kind::While: {
            const bool may_not_run = step.kind == Step::Kind::While || step.count == 0;
            const bool is_while = step.kind == Step::Kind::While;
            const StepNumber number = number_if_used(step);
            if (is_while) {
                use(step, number, true);
            }
            if (may_not_run) {
                mark(Event::Kind::OneWay);
            }
            const auto opened = static_cast<std::uint32_t>(loop_numbers_.size());
            loop_numbers_.push_back(kNoLoop);
            open_.push_back(opened);
            if (!is_while) {
                use(step, number, false); // stores the round
            }
            visit_children(step);
            if (is_while) {
                use(step, number, true); // for the next round
            }
            open_.pop_back();
            if (may_not_run) {
                mark(Event::Kind::OtherWay);
                mark(Event::Kind::Together);
            }
            if (leaves.size() > first) {
                loop_numbers_[opened] = static_cast<std::uint32_t>(loops.size());
                loops.push_back({first, static_cast<std::uint32_t>(leaves.size() - 1)});
            }
            return;
        }
        case Step::Kind::If:
            use(step, number_if_used(step), true);
            mark(Event::Kind::OneWay);
            for (std::size_t i = 0; i < step.children.size(); ++i) {
                if (i == 1) {
                    mark(Event::Kind::OtherWay);
                }
                visit(step.children[i]);
            }
            if (step.children.size() < 2) {
                mark(Event::Kind::OtherWay);
            }
            mark(Event::Kind::Together);
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
            use(step, number_if_used(step), false);
            add(step, number_of(graph_, graph::CopyId{step.index}));
            return;
        case Step::Kind::LinkExchange:
            add(step, number_of(graph_, graph::LinkId{step.index}));
            return;
        case Step::Kind::Sync:
            leaves.emplace_back();
        }
    }
    void visit_children(const Step& step) {
        for (const Step& child : step.children) {
            visit(child);
        }
    }
    void mark(Event::Kind kind) { events.push_back({kind}); }
    void add(const Step& step, StepNumber number) {
        if (!is_empty(graph_, step)) {
            events.push_back({Event::Kind::Leaf, static_cast<std::uint32_t>(leaves.size())});
            leaves.push_back(Leaf{number, step.kind == Step::Kind::StreamWait});
        }
    }
    StepNumber number_if_used(const Step& step) {
        return number_of_control_use(graph_, uses_memory(step) ? uses_++ : 0);
    }
    /// `before`: of the leaf that comes next.
    void use(const Step& step, StepNumber number, bool before) {
        if (!uses_memory(step)) {
            return;
        }
        const auto next = static_cast<std::uint32_t>(leaves.size());
        events.push_back(
            {Event::Kind::ControlUse, static_cast<std::uint32_t>(control_uses.size())});
        control_uses.push_back({number, before && next > 0 ? next - 1 : next, open_});
    }
    /// Loops are numbered when they end; until then a use has those that were open.
    void number_loops(ControlUse& use) const {
        std::vector<std::uint32_t> numbers;
        for (const std::uint32_t opened : use.around) {
            if (loop_numbers_[opened] != kNoLoop) {
                numbers.push_back(loop_numbers_[opened]);
            }
        }
        use.around = std::move(numbers);
    }

    const graph::Graph& graph_;
    std::uint32_t uses_ = 0;          ///< steps that use memory themselves, so far
    std::vector<std::uint32_t> open_; ///< loops around the step at hand, as they were opened
    std::vector<std::uint32_t> loop_numbers_; ///< in `loops`, as they were opened
};

/// The leaves at which a buffer is used on tiles with the same uses, and what they need of loops.
class Tracker {
public:
    Tracker(const graph::Graph& graph, const Walk& walk, const graph::Buffer& buffer, bool given)
        : graph_(graph), walk_(walk), buffer_(buffer), given_(given),
          crosses(walk.loops.size(), false) {}

    /// Uses of one tile, by step. Its first `contents` bytes are there from the start.
    void add(TileId tile, std::span<const Use> uses, Bytes contents) {
        Written written{{}, std::vector<Intervals>(walk_.loops.size())};
        written.ever.add(0, contents);
        std::vector<std::pair<Written, Written>> ways; // where they part, and behind the first
        for (const Event& event : walk_.events) {
            switch (event.kind) {
            case Event::Kind::Leaf: {
                const Leaf& leaf = *walk_.leaves[event.number];
                visit(tile, {leaf.step, event.number, walk_.around[event.number]}, leaf.is_wait,
                      uses, written);
                break;
            }
            case Event::Kind::ControlUse: {
                const ControlUse& use = walk_.control_uses[event.number];
                visit(tile, {use.step, use.at, use.around}, false, uses, written);
                break;
            }
            case Event::Kind::OneWay:
                ways.emplace_back(written, Written{});
                break;
            case Event::Kind::OtherWay:
                ways.back().second = std::exchange(written, std::move(ways.back().first));
                break;
            case Event::Kind::Together:
                written.keep_common(ways.back().second);
                ways.pop_back();
            }
        }
    }

private:
    /// Bytes that are written whatever way was taken.
    struct Written {
        Intervals ever;
        std::vector<Intervals> in_iteration; ///< by loop

        void keep_common(const Written& other) {
            ever.keep_common(other.ever);
            for (std::size_t loop = 0; loop < in_iteration.size(); ++loop) {
                in_iteration[loop].keep_common(other.in_iteration[loop]);
            }
        }
    };

    /// Where a step uses memory.
    struct Point {
        StepNumber step = 0;
        std::uint32_t at = 0;                  ///< leaf
        std::span<const std::uint32_t> around; ///< its loops
    };

    void visit(TileId tile, const Point& point, bool is_wait, std::span<const Use> uses,
               Written& written) {
        const auto& [step, at, around] = point;
        const auto first =
            std::lower_bound(uses.begin(), uses.end(), step,
                             [](const Use& one, StepNumber number) { return one.step < number; });
        for (auto use = first; use != uses.end() && use->step == step; ++use) {
            if (!lifetime) {
                lifetime = Lifetime{at, at};
            }
            lifetime->first = std::min(lifetime->first, at);
            lifetime->last = std::max(lifetime->last, at);
            const Access access = is_wait ? Access::Read : use->access;
            if (access == Access::Read && !given_ && !written.ever.has(use->begin, use->end)) {
                throw ProgramError(fmt::format(
                    "{}: bytes {}..{} of '{}' are read, and nothing has written all of them",
                    place_of_fault(graph_, step, tile), use->begin, use->end - 1, buffer_.name));
            }
            for (const std::uint32_t loop : around) {
                if (access != Access::Write &&
                    !written.in_iteration[loop].has(use->begin, use->end)) {
                    crosses[loop] = true;
                }
                if (access != Access::Read) {
                    written.in_iteration[loop].add(use->begin, use->end);
                }
            }
            if (access != Access::Read) {
                written.ever.add(use->begin, use->end);
            }
        }
    }

    const graph::Graph& graph_;
    const Walk& walk_;
    const graph::Buffer& buffer_;
    bool given_; ///< all of it, before the first step

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
    std::map<TileId, Bytes> contents;
    for (const graph::Held& held : buffer.held) {
        if (held.contents != nullptr) {
            contents[held.tile] = static_cast<Bytes>(held.contents->size());
        }
    }
    const bool given = host.given || !contents.empty();
    Tracker tracker(graph, walk, buffer, host.given || buffer.zeroed);
    // most tiles use a buffer alike
    std::vector<std::pair<std::span<const Use>, Bytes>> known;
    for (const UsesOnTile& tile : uses.of(graph::BufferId{index})) {
        const auto of_tile = uses.of(tile);
        const auto there = contents.find(tile.tile);
        const Bytes bytes = there == contents.end() ? 0 : there->second;
        const bool is_known = std::any_of(known.begin(), known.end(), [&](const auto& other) {
            return other.second == bytes && std::equal(other.first.begin(), other.first.end(),
                                                       of_tile.begin(), of_tile.end());
        });
        if (!is_known) {
            tracker.add(tile.tile, of_tile, bytes);
            known.emplace_back(of_tile, bytes);
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
        // what crosses rounds may be read between leaves, at a border of the loop
        if (tracker.crosses[loop] || (used_inside && outside)) {
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

std::vector<std::uint32_t> last_runs(const graph::Graph& graph) {
    const Walk walk(graph);
    std::vector<std::uint32_t> last(graph.compute_sets.size() + graph.exchanges.size() +
                                    graph.stream_copies.size() + graph.link_exchanges.size());
    for (std::uint32_t at = 0; at < walk.leaves.size(); ++at) {
        if (const auto& leaf = walk.leaves[at]) {
            last[leaf->step] = std::max(last[leaf->step], at);
            for (const std::uint32_t loop : walk.around[at]) {
                last[leaf->step] = std::max(last[leaf->step], walk.loops[loop].last);
            }
        }
    }
    return last;
}

std::vector<std::string> step_names(const graph::Graph& graph) {
    std::vector<std::string> names;
    for (const auto& leaf : Walk(graph).leaves) {
        names.push_back(leaf ? name_of(graph, leaf->step) : "sync");
    }
    return names;
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
