// SPDX-License-Identifier: MIT
#include "kernels/matmul/published/reduce.h"

#include "kernels/graph/copy.h"
#include "kernels/graph/halves.h"
#include "kernels/plan/repeat_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace tessera::matmul {
namespace {

using program::Role;
using published::DensePart;
using published::Run;

Run common(const Run& left, const Run& right) {
    return {std::max(left.first, right.first), std::min(left.last, right.last)};
}

/// A stage of all reductions: of each, as many partial results as there are become `left`.
class Stage {
public:
    Stage(graph::Graph& graph, const PublishedLayout& layout, const PublishedBuffers& buffers,
          std::int64_t step, std::size_t stage)
        : graph_(graph), layout_(layout), buffers_(buffers), cells_(layout.cells()), step_(step),
          stage_(stage) {}

    graph::ExchangeId add(std::int64_t left, Partials& partials_of_parts,
                          std::vector<graph::Step>& steps) {
        const published::DensePlan& plan = layout_.plan();
        const std::string called = layout_.in_step(
            plan.intermediate_depths.empty() ? "reduce" : fmt::format("reduce stage {}", stage_),
            step_);
        const auto bring = graph_.add_exchange(
            {called + ": bring partial results", Role::Reduce, kPublishedOwner});
        reduce_ =
            graph_.add_compute_set({called, Role::Reduce, kPublishedOwner, "partial results"});
        std::size_t number_of_part = 0;
        for (std::int64_t field = 0; field < plan.split.field_parts; ++field) {
            for (std::int64_t out = 0; out < plan.split.out_parts; ++out) {
                std::vector<Partial>& partials = partials_of_parts[number_of_part++];
                std::vector<Partial> summed;
                for (std::int64_t section = 0; section < left; ++section) {
                    summed.push_back(reduce_section(partials, left, section, {0, field, out}));
                }
                partials = std::move(summed);
            }
        }
        std::stable_sort(turns_.begin(), turns_.end(),
                         [](const Turn& one, const Turn& other) { return one.turn < other.turn; });
        for (const Turn& turn : turns_) {
            graph_.add_message(bring, turn.from, turn.place, turn.bytes, turn.to);
        }
        steps.push_back(graph::run(bring));
        steps.push_back(graph::run(reduce_));
        return bring;
    }

private:
    /// Section `section` of `left` of a part's partial results, summed on its own tiles.
    Partial reduce_section(const std::vector<Partial>& partials, std::int64_t left,
                           std::int64_t section, DensePart part) {
        const auto count = static_cast<std::int64_t>(partials.size());
        const Run mine = published::part_of(count, left, section);
        const Run places = published::part_of(layout_.plan().split.in_parts, left, section);
        const std::int64_t cells = layout_.partial_cells(part, step_);
        const auto shares = in_units(
            published::spread_reduction(cells * cells_.out_group, places.size(), cells_.partials),
            cells_.out_group);
        Partial sum;
        for (std::size_t i = 0; i < shares.size(); ++i) {
            part.in = places.first + static_cast<std::int64_t>(i);
            const TileId tile = published::tile_of(layout_.plan().split, part);
            sum.push_back({tile, shares[i], {buffers_.sums[stage_]}});
            graph_.hold(buffers_.sums[stage_], tile, shares[i].size() * sum_cell());
            add_reduce(tile, shares[i],
                       std::span(partials).subspan(static_cast<std::size_t>(mine.first),
                                                   static_cast<std::size_t>(mine.size())),
                       static_cast<std::int64_t>(i));
        }
        return sum;
    }

    /// The sum of `share` on one tile. What stands there already is read in place where it is all
    /// of a partial's share.
    void add_reduce(TileId tile, const Run& share, std::span<const Partial> partials,
                    std::int64_t place_in_section) {
        const Bytes cell = cells_.partial_cell;
        const Bytes bytes = share.size() * cell;
        const auto count = static_cast<std::int64_t>(partials.size());
        std::int64_t own = -1;
        graph::Place own_place;
        for (std::int64_t i = 0; i < count; ++i) {
            for (const HeldCells& held : partials[static_cast<std::size_t>(i)]) {
                if (held.tile == tile && common(held.cells, share).size() == share.size()) {
                    own = i;
                    own_place = held.place + (share.first - held.cells.first) * cell;
                }
            }
        }
        const std::int64_t slots = own < 0 ? count : count - 1;
        graph_.hold(buffers_.slots[stage_], tile, slots * bytes);
        std::int64_t slot = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            if (i == own) {
                continue;
            }
            for (const HeldCells& held : partials[static_cast<std::size_t>(i)]) {
                const Run both = common(held.cells, share);
                if (both.size() <= 0) {
                    continue;
                }
                const graph::Place from = held.place + (both.first - held.cells.first) * cell;
                const graph::Place to{buffers_.slots[stage_],
                                      slot * bytes + (both.first - share.first) * cell};
                if (held.tile == tile) {
                    graph::copy_on_tile(graph_, layout_.machine(), reduce_, tile, from, to,
                                        both.size() * cell);
                } else {
                    turns_.push_back({(i - place_in_section + 2 * count) % count,
                                      held.tile,
                                      from,
                                      both.size() * cell,
                                      {tile, to}});
                }
            }
            ++slot;
        }
        add_sum(tile, own < 0 ? std::nullopt : std::optional(own_place), count, share.size());
    }

    /// What stands in the slots, and `own` before it, where there is one. Where the slots take much
    /// of a tile they are no array in the published library, but reached by pointers.
    void add_sum(TileId tile, std::optional<graph::Place> own, std::int64_t count,
                 std::int64_t cells) {
        const graph::Place sum{buffers_.sums[stage_]};
        const graph::Place slots{buffers_.slots[stage_]};
        const std::int64_t others = own ? count - 1 : count;
        const Bytes bytes = cells * cells_.partial_cell;
        const Bytes sum_bytes = cells * sum_cell();
        const std::int64_t elements = cells * cells_.out_group;
        const std::string types = is_last() ? cells_.last_types : cells_.types;
        const Bytes element = layout_.machine().memory.element_bytes;
        constexpr std::int64_t kMostInOneArray = 16; // of a tile's memory
        constexpr Bytes kGroupBytes = 16;            // that an instruction adds
        const Bytes taken = (others * bytes + element - 1) / element * element;
        const graph::Field numbers = graph::halves(
            plan::counted_rounds(layout_.machine(), count, "partial results"), elements, "sums");
        graph_.add_work(reduce_, tile, bytes / kGroupBytes * count);
        if (taken * kMostInOneArray >= layout_.machine().memory.bytes()) {
            std::vector<graph::Field> pointers;
            if (own) {
                pointers.push_back(graph::read(*own, bytes));
            }
            for (std::int64_t slot = 0; slot < others; ++slot) {
                pointers.push_back(graph::read(slots + slot * bytes, bytes));
            }
            pointers.push_back(pointers.back()); // the one behind the last is read too
            graph_.add_vertex(reduce_, tile, "ReduceAdd_" + types, program::VertexKind::MultiWorker,
                              {graph::write(sum, sum_bytes),
                               graph::table(graph_.add_table(tile, pointers)), numbers});
        } else if (own && others > 0) {
            graph_.add_vertex(reduce_, tile, "ReduceAddInitial_" + types,
                              program::VertexKind::MultiWorker,
                              {graph::write(sum, sum_bytes), graph::read(slots, others * bytes),
                               numbers, graph::read(*own, bytes)});
        } else {
            graph_.add_vertex(reduce_, tile, "ReduceAddSingleInput_" + types,
                              program::VertexKind::MultiWorker,
                              {graph::write(sum, sum_bytes),
                               graph::read(own ? *own : slots, count * bytes), numbers});
        }
    }

    [[nodiscard]] bool is_last() const {
        return stage_ == layout_.plan().intermediate_depths.size();
    }
    /// Of the sums.
    [[nodiscard]] Bytes sum_cell() const {
        return is_last() ? cells_.result_cell : cells_.partial_cell;
    }

    /// A message of a reduction, and when it is sent: all sections' tiles in step.
    struct Turn {
        std::int64_t turn = 0;
        TileId from = 0;
        graph::Place place;
        Bytes bytes = 0;
        graph::Receiver to;
    };

    graph::Graph& graph_;
    const PublishedLayout& layout_;
    const PublishedBuffers& buffers_;
    const PublishedCells& cells_;
    std::int64_t step_;
    std::size_t stage_;
    graph::ComputeSetId reduce_;
    std::vector<Turn> turns_;
};

} // namespace

Partials partials_of(const PublishedLayout& layout, const PublishedBuffers& buffers,
                     std::int64_t step) {
    const published::DenseSplit& split = layout.plan().split;
    Partials partials_of_parts;
    for (std::int64_t field = 0; field < split.field_parts; ++field) {
        for (std::int64_t out = 0; out < split.out_parts; ++out) {
            std::vector<Partial>& partials = partials_of_parts.emplace_back();
            for (std::int64_t in = 0; in < split.in_parts; ++in) {
                const DensePart here{in, field, out};
                const std::int64_t cells = layout.partial_cells(here, step);
                Partial& partial = partials.emplace_back();
                if (cells > 0) {
                    partial.push_back({published::tile_of(split, here), {0, cells}, {buffers.out}});
                }
            }
        }
    }
    return partials_of_parts;
}

graph::ExchangeId add_reduction(graph::Graph& graph, const PublishedLayout& layout,
                                const PublishedBuffers& buffers, std::int64_t step,
                                Partials& partials, std::vector<graph::Step>& steps) {
    std::vector<std::int64_t> left = layout.plan().intermediate_depths;
    left.push_back(1);
    graph::ExchangeId last;
    for (std::size_t stage = 0; stage < left.size(); ++stage) {
        last = Stage(graph, layout, buffers, step, stage).add(left[stage], partials, steps);
    }
    return last;
}

} // namespace tessera::matmul
