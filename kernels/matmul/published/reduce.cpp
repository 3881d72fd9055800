// SPDX-License-Identifier: MIT
#include "kernels/graph/halves.h"
#include "kernels/matmul/published/emitter.h"
#include "kernels/plan/repeat_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::matmul {

using program::Role;

namespace {

Range common(const Range& left, const Range& right) {
    return {std::max(left.first, right.first), std::min(left.last, right.last)};
}

} // namespace

/// A stage of all reductions: of each, as many partial results as there are become `left`.
struct PublishedEmitter::Stage {
    /// A message of a reduction, and when it is sent: all sections' tiles in step.
    struct Turn {
        std::int64_t turn = 0;
        TileId from = 0;
        graph::Place place;
        Bytes bytes = 0;
        graph::Receiver to;
    };

    std::int64_t left = 1;
    graph::ComputeSetId set;
    graph::BufferId slots;
    graph::BufferId sums;
    Bytes sum_cell = 0;     ///< of the sums
    const char* types = ""; ///< of the vertices: "half_half"
    std::vector<Turn> turns = {};
};

Partials PublishedEmitter::partials_of_step() const {
    Partials made(static_cast<std::size_t>(split_.field_parts * split_.out_parts));
    for (TileId tile = 0; tile < layout_.tiles(); ++tile) { // parts of k come last
        const std::int64_t cells = share(tile).partial_cells();
        Partial& partial = made[tile % made.size()].emplace_back();
        if (cells > 0) {
            partial.push_back({tile, {0, cells}, {buffers_.out}});
        }
    }
    return made;
}

graph::ExchangeId PublishedEmitter::add_reduction() {
    std::vector<std::int64_t> left = layout_.plan.intermediate_depths;
    left.push_back(1);
    graph::ExchangeId last;
    for (std::size_t stage = 0; stage < left.size(); ++stage) {
        last = add_stage(stage, left[stage]);
    }
    return last;
}

graph::ExchangeId PublishedEmitter::add_stage(std::size_t number, std::int64_t left) {
    const std::size_t stages = layout_.plan.intermediate_depths.size();
    const bool is_last = number == stages;
    const std::string called =
        layout_.in_step(stages == 0 ? "reduce" : fmt::format("reduce stage {}", number), step_);
    const auto bring =
        graph_.add_exchange({called + ": bring partial results", Role::Reduce, kPublishedOwner});
    Stage stage{left,
                graph_.add_compute_set({called, Role::Reduce, kPublishedOwner, "partial results"}),
                buffers_.slots[number],
                buffers_.sums[number],
                is_last ? cells_.result_cell : cells_.partial_cell,
                is_last ? cells_.last_types : cells_.types};
    for (TileId first = 0; first < partials_.size(); ++first) { // of the tiles of a part
        std::vector<Partial> summed;
        for (std::int64_t section = 0; section < left; ++section) {
            summed.push_back(reduce_section(stage, partials_[first], section, share(first)));
        }
        partials_[first] = std::move(summed);
    }
    std::ranges::stable_sort(stage.turns, {}, &Stage::Turn::turn);
    for (const Stage::Turn& turn : stage.turns) {
        graph_.add_message(bring, turn.from, turn.place, turn.bytes, turn.to);
    }
    graph::run_next(steps_, bring, stage.set);
    return bring;
}

/// A section of a part's partial results, one of `left`, summed on its own tiles.
Partial PublishedEmitter::reduce_section(Stage& stage, const std::vector<Partial>& partials,
                                         std::int64_t section, TileShare of) {
    const auto count = std::ssize(partials);
    const Range mine = published::part_of(count, stage.left, section);
    const Range places = published::part_of(split_.in_parts, stage.left, section);
    const auto shares = in_units(published::spread_reduction(of.partial_cells() * cells_.out_group,
                                                             places.size(), cells_.partials),
                                 cells_.out_group);
    Partial sum;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        of.part.in = places.first + static_cast<std::int64_t>(i);
        const TileId tile = published::tile_of(split_, of.part);
        sum.push_back({tile, shares[i], {stage.sums}});
        graph_.hold(stage.sums, tile, shares[i].size() * stage.sum_cell);
        add_reduce(stage, tile, shares[i],
                   std::span(partials).subspan(static_cast<std::size_t>(mine.first),
                                               static_cast<std::size_t>(mine.size())),
                   static_cast<std::int64_t>(i));
    }
    return sum;
}

/// The sum of `share` on one tile. What stands there already is read in place where it is all
/// of a partial's share.
void PublishedEmitter::add_reduce(Stage& stage, TileId tile, const Range& share,
                                  std::span<const Partial> partials,
                                  std::int64_t place_in_section) {
    const Bytes cell = cells_.partial_cell;
    const Bytes bytes = share.size() * cell;
    const auto count = std::ssize(partials);
    std::int64_t own = -1;
    std::optional<graph::Place> own_place;
    for (std::int64_t i = 0; i < count; ++i) {
        for (const HeldCells& held : partials[static_cast<std::size_t>(i)]) {
            if (held.tile == tile && common(held.cells, share).size() == share.size()) {
                own = i;
                own_place = held.place + (share.first - held.cells.first) * cell;
            }
        }
    }
    graph_.hold(stage.slots, tile, (own_place ? count - 1 : count) * bytes);
    std::int64_t slot = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        if (i == own) {
            continue;
        }
        for (const HeldCells& held : partials[static_cast<std::size_t>(i)]) {
            const Range both = common(held.cells, share);
            if (both.size() <= 0) {
                continue;
            }
            const graph::Place from = held.place + (both.first - held.cells.first) * cell;
            const graph::Place to{stage.slots, slot * bytes + (both.first - share.first) * cell};
            const Bytes moved = both.size() * cell;
            if (held.tile == tile) {
                graph::copy_on_tile(graph_, layout_.machine, stage.set, tile, from, to, moved);
            } else {
                const std::int64_t turn = (i - place_in_section + 2 * count) % count;
                stage.turns.push_back({turn, held.tile, from, moved, {tile, to}});
            }
        }
        ++slot;
    }
    add_sum(stage, tile, own_place, count, share.size());
}

/// What stands in the slots, and `own` before it, where there is one. Where the slots take much
/// of a tile they are no array in the published library, but reached by pointers.
void PublishedEmitter::add_sum(const Stage& stage, TileId tile, std::optional<graph::Place> own,
                               std::int64_t count, std::int64_t cells) {
    constexpr std::int64_t kMostInOneArray = 16; // of a tile's memory
    constexpr Bytes kGroupBytes = 16;            // that an instruction adds
    const spec::MachineSpec& machine = layout_.machine;
    const graph::Place slots{stage.slots};
    const std::int64_t others = own ? count - 1 : count;
    const Bytes bytes = cells * cells_.partial_cell;
    const Bytes element = machine.memory.element_bytes;
    const Bytes taken = ceil_div(others * bytes, element) * element;
    const graph::Field sum = graph::write({stage.sums}, cells * stage.sum_cell);
    const graph::Field numbers = graph::halves(
        plan::counted_rounds(machine, count, "partial results"), cells * cells_.out_group, "sums");
    graph_.add_work(stage.set, tile, bytes / kGroupBytes * count);
    const auto add_vertex = [&](const char* kind, std::initializer_list<graph::Field> state) {
        graph_.add_vertex(stage.set, tile, fmt::format("{}_{}", kind, stage.types),
                          program::VertexKind::MultiWorker, state);
    };
    if (taken * kMostInOneArray >= machine.memory.bytes()) {
        std::vector<graph::Field> pointers;
        if (own) {
            pointers.push_back(graph::read(*own, bytes));
        }
        for (std::int64_t slot = 0; slot < others; ++slot) {
            pointers.push_back(graph::read(slots + slot * bytes, bytes));
        }
        pointers.push_back(pointers.back()); // the one behind the last is read too
        add_vertex("ReduceAdd", {sum, graph::table(graph_.add_table(tile, pointers)), numbers});
    } else if (own && others > 0) {
        add_vertex("ReduceAddInitial",
                   {sum, graph::read(slots, others * bytes), numbers, graph::read(*own, bytes)});
    } else {
        add_vertex("ReduceAddSingleInput",
                   {sum, graph::read(own ? *own : slots, count * bytes), numbers});
    }
}

} // namespace tessera::matmul
