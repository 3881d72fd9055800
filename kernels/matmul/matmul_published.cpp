// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_published.h"

#include "base/error.h"
#include "kernels/graph/cells.h"
#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/published/dense_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera::matmul {
namespace {

using program::Role;
using published::DensePart;
using published::Run;

constexpr const char* kPublishedOwner = "matmul";
constexpr Bytes kWord = 8;            ///< of what codelets load and store
constexpr Bytes kBehindPartials = 32; ///< that codelets may read
constexpr Bytes kStackBytes = 32;     ///< of ConvPartial1x1Out_*
constexpr std::int64_t kResultGroupF32 = 8;

/// Channels and bytes of what a plan's vertices read and write.
struct Layout {
    std::int64_t in_group = 0;  ///< channels of a cell of X
    std::int64_t out_group = 0; ///< of a cell of partial results
    ElementType data = ElementType::F16;
    ElementType partials = ElementType::F16;
    ElementType result = ElementType::F16;
    Bytes in_cell = 0;
    Bytes block = 0; ///< weights of an in-group and an out-group
    Bytes partial_cell = 0;
    Bytes result_cell = 0;
    std::int64_t out_stride = 1; ///< words from a pass's last one of a column to its next column
    std::string multiply = {};
    std::string codelet = {};
    const char* types = ""; ///< of a reduction that goes on: "half_half"
    const char* last_types = "";
};

Layout layout_of(const published::DenseProblem& problem, const published::DenseVertex& vertex) {
    const bool f32 = problem.data == ElementType::F32;
    const bool wide = problem.partials == ElementType::F32;
    const bool narrow = vertex.out_group == 8;
    const bool quarter = bytes_of(problem.data) == 1;
    Layout layout{.in_group = vertex.in_group,
                  .out_group = vertex.out_group,
                  .data = problem.data,
                  .partials = problem.partials,
                  .result = problem.result()};
    const Bytes element = bytes_of(problem.data);
    const Bytes partial = bytes_of(problem.partials);
    layout.in_cell = vertex.in_group * element;
    layout.block = vertex.out_group * layout.in_cell;
    layout.partial_cell = vertex.out_group * partial;
    layout.result_cell = vertex.out_group * bytes_of(layout.result);
    layout.out_stride = (vertex.out_group - vertex.units) * partial / kWord + 1;
    layout.codelet = f32 && narrow     ? "published/conv_partial_1x1_float_8"
                     : f32             ? "published/conv_partial_1x1_float"
                     : narrow && !wide ? "published/conv_partial_1x1_half_8"
                                       : "published/conv_partial_1x1";
    layout.multiply = std::string(f32       ? "ConvPartial1x1Out_float_float"
                                  : quarter ? "ConvPartial1x1Out_quarter_half"
                                  : wide    ? "ConvPartial1x1Out_half_float"
                                            : "ConvPartial1x1Out_half_half") +
                      (narrow ? "_8" : "");
    layout.types = wide ? "float_float" : "half_half";
    layout.last_types = f32 ? "float_float" : wide ? "float_half" : "half_half";
    return layout;
}

/// Cells [first, last) of a partial result on a tile, from `place` on.
struct HeldCells {
    TileId tile = 0;
    Run cells;
    graph::Place place;
};
/// A partial result: all of its cells, in order.
using Partial = std::vector<HeldCells>;

Run common(const Run& left, const Run& right) {
    return {std::max(left.first, right.first), std::min(left.last, right.last)};
}

class PublishedEmitter {
public:
    PublishedEmitter(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload,
                     const published::DensePlan& plan, const Layout& layout,
                     const std::string& name)
        : machine_(machine), workload_(workload), plan_(plan), layout_(layout),
          out_groups_((workload.m + layout.out_group - 1) / layout.out_group),
          in_groups_((workload.k + layout.in_group - 1) / layout.in_group),
          epilogue_(workload, Epilogue::Neighbours::OfColumn), graph_(name) {}

    graph::Graph run() {
        graph_.codelets = {layout_.codelet, "published/reduce_add", "copy"};
        if (casts()) {
            graph_.codelets.emplace_back("published/cast_fill_1d");
        }
        if (regroups()) {
            graph_.codelets.emplace_back("rearrange");
        }
        for (const std::string& source : epilogue_.codelets()) {
            graph_.codelets.push_back(source);
        }
        start_tensors();
        add_buffers();
        std::vector<program::Step> steps;
        for (step_ = 0; step_ < plan_.split.out_serial; ++step_) {
            add_step(steps);
        }
        graph_.control = graph::sequence(std::move(steps));
        graph_.add_tensor(std::move(weights_tensor_));
        add_inputs_tensor();
        graph_.add_tensor(std::move(result_tensor_));
        add_bias_tensor();
        return std::move(graph_);
    }

private:
    [[nodiscard]] TileId tiles() const { return static_cast<TileId>(plan_.tiles()); }
    [[nodiscard]] DensePart part(TileId tile) const {
        return published::part_on(plan_.split, tile);
    }
    [[nodiscard]] Run field_of(const DensePart& part) const {
        return published::part_of(workload_.n, plan_.split.field_parts, part.field);
    }
    /// In this step.
    [[nodiscard]] Run out_groups_of(const DensePart& part) const {
        const std::int64_t most = plan_.tile.out_groups * plan_.split.out_parts;
        const std::int64_t first = most * step_;
        const Run mine = published::part_of(std::min(most, out_groups_ - first),
                                            plan_.split.out_parts, part.out);
        return {first + mine.first, first + mine.last};
    }
    [[nodiscard]] bool is_serial() const { return plan_.split.out_serial > 1; }
    [[nodiscard]] std::string in_step(const std::string& name) const {
        return is_serial() ? fmt::format("{} {}", name, step_) : name;
    }
    [[nodiscard]] Run in_groups_of(const DensePart& part) const {
        return published::part_of(in_groups_, plan_.split.in_parts, part.in);
    }
    [[nodiscard]] std::int64_t input_cells(const DensePart& part) const {
        return in_groups_of(part).size() * field_of(part).size();
    }
    [[nodiscard]] std::int64_t weight_blocks(const DensePart& part) const {
        return in_groups_of(part).size() * out_groups_of(part).size();
    }
    [[nodiscard]] std::int64_t partial_cells(const DensePart& part) const {
        return out_groups_of(part).size() * field_of(part).size();
    }
    [[nodiscard]] bool inputs_move() const { return plan_.split.out_parts > 1; }
    [[nodiscard]] bool weights_move() const { return plan_.split.field_parts > 1; }

    /// Sums that nothing was added to are of the partials' type still.
    [[nodiscard]] bool casts() const {
        return plan_.split.in_parts == 1 && layout_.partials != layout_.result;
    }
    /// FP32 results leave in groups of 8 rows.
    [[nodiscard]] bool regroups() const {
        return layout_.result == ElementType::F32 && layout_.out_group != kResultGroupF32;
    }

    /// Cells of a piece of X on the tiles that need it; blocks of a piece of W.
    [[nodiscard]] std::vector<Run> home_cells(const DensePart& part) const {
        return in_units(
            published::spread_inputs(input_cells(part) * layout_.in_group, plan_, layout_.data),
            layout_.in_group);
    }
    [[nodiscard]] std::vector<Run> home_blocks(const DensePart& part) const {
        const std::int64_t elements = layout_.in_group * layout_.out_group;
        return in_units(
            published::spread_weights(weight_blocks(part) * elements, plan_, layout_.data),
            elements);
    }
    [[nodiscard]] static std::vector<Run> in_units(std::vector<Run> runs, std::int64_t elements) {
        for (Run& run : runs) {
            run = {run.first / elements, run.last / elements};
        }
        return runs;
    }

    void start_tensors() {
        weights_tensor_ = {.name = "a", .type = layout_.data, .shape = {workload_.m, workload_.k}};
        weights_tensor_.given = true;
        result_tensor_ = {.name = "c", .type = layout_.result, .shape = {workload_.m, workload_.n}};
        result_tensor_.wanted = true;
        home_bytes_.resize(tiles());
        result_bytes_.resize(tiles());
    }

    void add_buffers() {
        using graph::Where;
        const bool pads_k = workload_.k % layout_.in_group != 0;
        const bool pads_a = pads_k || workload_.m % layout_.out_group != 0;
        out_ = graph_.add_buffer(
            {.name = "partials", .where = Where::Region1, .read_beyond = kBehindPartials});
        weights_ = graph_.add_buffer({.name = "weights", .padded = pads_a, .apart = {out_}});
        x_ = graph_.add_buffer({.name = "x", .padded = pads_k, .apart = {out_}});
        home_weights_ =
            graph_.add_buffer({.name = "home of a", .padded = pads_a, .apart = {x_, weights_}});
        slice_ = graph_.add_buffer({.name = "slice of a", .apart = {x_, weights_}});
        home_x_ =
            graph_.add_buffer({.name = "home of b", .padded = pads_k, .apart = {x_, weights_}});
        stack_ = graph_.add_buffer({.name = "stack", .kind = program::SegmentKind::Stack});
        result_ = graph_.add_buffer({.name = "result"});
        cast_ = graph_.add_buffer({.name = "cast", .apart = {out_}});
        regrouped_ = graph_.add_buffer({.name = "regrouped"});
        if (epilogue_.has_bias()) {
            bias_ = graph_.add_buffer({.name = "bias", .padded = true});
        }
        for (std::size_t stage = 0; stage <= plan_.intermediate_depths.size(); ++stage) {
            slots_.push_back(graph_.add_buffer(
                {.name = fmt::format("slices stage {}", stage), .read_beyond = kBehindPartials}));
            sums_.push_back(graph_.add_buffer({.name = fmt::format("sums stage {}", stage),
                                               .read_beyond = kBehindPartials,
                                               .apart = {slots_.back()}}));
        }
        for (TileId tile = 0; tile < tiles(); ++tile) {
            graph_.hold(stack_, tile, kStackBytes);
        }
    }

    /// All out groups, or one serial step's.
    void add_step(std::vector<program::Step>& steps) {
        const auto multiply = graph_.add_compute_set(
            {in_step("multiply"), Role::Work, kPublishedOwner, "multiply-accumulates"});
        const bool inputs_before = is_serial() && plan_.split.inputs_once;
        if (inputs_before && step_ == 0) {
            const auto bring = graph_.add_exchange({"bring inputs", Role::Bring, kPublishedOwner});
            bring_inputs(bring, multiply);
            steps.push_back(graph::run(bring));
        }
        const auto slice =
            graph_.add_compute_set({in_step("slice of a"), Role::Bring, kPublishedOwner, "bytes"});
        const auto bring = graph_.add_exchange({in_step("bring"), Role::Bring, kPublishedOwner});
        if (!inputs_before) {
            bring_inputs(bring, multiply);
        }
        bring_weights(slice, bring, multiply);
        last_exchange_ = bring;
        steps.push_back(graph::run(slice));
        steps.push_back(graph::run(bring));
        partials_.clear();
        for (TileId tile = 0; tile < tiles(); ++tile) {
            const DensePart here = part(tile);
            graph_.hold(out_, tile, partial_cells(here) * layout_.partial_cell);
            graph_.hold(weights_, tile, weight_blocks(here) * layout_.block);
            graph_.hold(x_, tile, input_cells(here) * layout_.in_cell);
            add_multiply(multiply, tile);
        }
        steps.push_back(graph::run(multiply));
        for (std::int64_t field = 0; field < plan_.split.field_parts; ++field) {
            for (std::int64_t out = 0; out < plan_.split.out_parts; ++out) {
                partials_.push_back(partials_of(field, out));
            }
        }
        if (plan_.split.in_parts > 1) {
            std::vector<std::int64_t> left = plan_.intermediate_depths;
            left.push_back(1);
            for (std::size_t stage = 0; stage < left.size(); ++stage) {
                add_stage(stage, left[stage], steps);
            }
        }
        if (casts()) {
            cast(steps);
        }
        if (regroups()) {
            regroup(steps);
        }
        if (is_serial()) {
            update_result(steps);
        }
        if (step_ == 0) {
            bring_bias();
        }
        add_epilogue(steps);
        add_results();
    }

    void copy(graph::ComputeSetId set, TileId tile, graph::Place from, graph::Place to,
              Bytes bytes) {
        const std::int64_t workers = machine_.tile.workers;
        const std::int64_t words = bytes / kWord;
        graph_.add_vertex(set, tile, "copy64", program::VertexKind::MultiWorker,
                          {graph::read(from, bytes), graph::write(to, bytes),
                           graph::word(words / workers), graph::word(words % workers)});
    }

    /// Both tiles of a pair need the same inputs: they take them together, but for what one of
    /// them holds.
    void bring_inputs(graph::ExchangeId bring, graph::ComputeSetId multiply) {
        if (!inputs_move()) {
            return;
        }
        const std::int64_t outs = plan_.split.out_parts;
        const bool paired = outs % 2 == 0 && machine_.exchange.pair_double;
        std::vector<std::vector<graph::Receiver>> partners;
        for (std::int64_t turn = 0; turn < outs; ++turn) {
            for (std::int64_t first = 0; first < plan_.tiles(); first += outs) {
                const DensePart group = part(static_cast<TileId>(first));
                const auto homes = home_cells(group);
                if (turn >= static_cast<std::int64_t>(homes.size())) {
                    continue;
                }
                const Run run = homes[static_cast<std::size_t>(turn)];
                const auto holder = static_cast<TileId>(first + turn);
                const Bytes bytes = run.size() * layout_.in_cell;
                const graph::Place from{home_x_};
                const graph::Place to{x_, run.first * layout_.in_cell};
                graph_.hold(home_x_, holder, bytes);
                copy(multiply, holder, from, to, bytes);
                std::vector<graph::Receiver> others;
                for (std::int64_t out = 0; out < outs; ++out) {
                    if (paired ? out / 2 != turn / 2 : out != turn) {
                        others.push_back({static_cast<TileId>(first + out), to});
                    }
                }
                if (!others.empty()) {
                    graph_.add_message(bring, holder, from, bytes, others, paired);
                }
                if (paired) {
                    graph_.add_message(bring, holder, from, bytes,
                                       {static_cast<TileId>(first + (turn ^ 1)), to});
                }
            }
        }
    }

    /// What each tile holds of this step's weights, and who else needs it. The slice of a serial step
    /// is copied out of what stands there for all steps.
    void bring_weights(graph::ComputeSetId slice, graph::ExchangeId bring,
                       graph::ComputeSetId multiply) {
        const std::int64_t fields = plan_.split.field_parts;
        for (std::int64_t turn = 0; turn < fields; ++turn) {
            for (TileId tile = 0; tile < tiles(); ++tile) {
                const DensePart holder = part(tile);
                if (holder.field != turn) {
                    continue;
                }
                const auto homes = weights_move() ? home_blocks(holder)
                                                  : std::vector{Run{0, weight_blocks(holder)}};
                if (turn >= static_cast<std::int64_t>(homes.size())) {
                    continue;
                }
                const Run run = homes[static_cast<std::size_t>(turn)];
                const Bytes bytes = run.size() * layout_.block;
                if (!weights_move() && !is_serial()) {
                    add_blocks(tile, {weights_}, run);
                    continue;
                }
                graph::Place from{home_weights_, home_bytes_[tile]};
                home_bytes_[tile] += bytes;
                graph_.hold(home_weights_, tile, home_bytes_[tile]);
                add_blocks(tile, from, run);
                if (is_serial()) {
                    const graph::Place sliced{weights_move() ? slice_ : weights_};
                    graph_.hold(sliced.buffer, tile, bytes);
                    copy(slice, tile, from, sliced, bytes);
                    graph_.add_work(slice, tile, bytes);
                    from = sliced;
                }
                if (weights_move()) {
                    send_weights(bring, multiply, holder, from,
                                 {weights_, run.first * layout_.block}, bytes);
                }
            }
        }
    }

    void send_weights(graph::ExchangeId bring, graph::ComputeSetId multiply,
                      const DensePart& holder, graph::Place from, graph::Place to, Bytes bytes) {
        const TileId tile = published::tile_of(plan_.split, holder);
        copy(multiply, tile, from, to, bytes);
        std::vector<graph::Receiver> others;
        for (std::int64_t field = 0; field < plan_.split.field_parts; ++field) {
            if (field != holder.field) {
                others.push_back(
                    {published::tile_of(plan_.split, {holder.in, field, holder.out}), to});
            }
        }
        graph_.add_message(bring, tile, from, bytes, others);
    }

    /// FP_INFMT: a bit each for data and weights.
    [[nodiscard]] std::int64_t format() const {
        constexpr std::int64_t kBothF143 = 3;
        return layout_.data == ElementType::F143 ? kBothF143 : 0;
    }

    void add_multiply(graph::ComputeSetId set, TileId tile) {
        const DensePart here = part(tile);
        const std::int64_t columns = field_of(here).size();
        const std::int64_t outs = out_groups_of(here).size();
        if (outs == 0) {
            return;
        }
        const std::int64_t ins = in_groups_of(here).size();
        std::vector<graph::Field> words;
        const auto pointers = [&](std::int64_t count, const auto& place) {
            words.clear();
            for (std::int64_t i = 0; i < count; ++i) {
                words.push_back(place(i));
            }
            return graph::table(graph_.add_table(tile, words));
        };
        const graph::Field out_table = pointers(outs, [&](std::int64_t i) {
            return graph::write({out_, i * columns * layout_.partial_cell},
                                columns * layout_.partial_cell);
        });
        const graph::Field weights_table = pointers(ins * outs, [&](std::int64_t i) {
            return graph::read({weights_, i * layout_.block}, layout_.block);
        });
        const graph::Field in_table = pointers(ins, [&](std::int64_t i) {
            return graph::read({x_, i * columns * layout_.in_cell}, columns * layout_.in_cell);
        });
        graph_.add_work(set, tile, columns * outs * ins);
        std::vector<graph::Field> state{out_table,
                                        weights_table,
                                        in_table,
                                        worklists(tile, columns),
                                        graph::word((outs - 1) << 16),
                                        graph::word((ins - 1) | (1 << 16)),
                                        graph::word(layout_.out_stride | (format() << 16)),
                                        graph::use({stack_}, kStackBytes, graph::Access::Write)};
        if (bytes_of(layout_.data) == 1) {
            state.push_back(graph::word(0)); // FP_ISCL
        }
        graph_.add_vertex(set, tile, layout_.multiply, program::VertexKind::Supervisor, state);
    }

    /// First output column, columns, first input column of each worker, 16 bits each; columns as words of 8
    /// bytes.
    graph::Field worklists(TileId tile, std::int64_t columns) {
        const std::int64_t workers = machine_.tile.workers;
        std::vector<std::uint32_t> halves;
        for (std::int64_t worker = 0; worker < workers; ++worker) {
            const std::int64_t first = worker * columns / workers;
            const std::int64_t last = (worker + 1) * columns / workers;
            for (const std::int64_t number : {first * layout_.partial_cell / kWord, last - first,
                                              first * layout_.in_cell / kWord}) {
                halves.push_back(static_cast<std::uint32_t>(number));
            }
        }
        halves.resize((halves.size() + 1) / 2 * 2);
        std::vector<graph::Field> words;
        for (std::size_t i = 0; i < halves.size(); i += 2) {
            words.push_back(graph::word(halves[i] | (halves[i + 1] << 16)));
        }
        return graph::table(graph_.add_table(tile, words));
    }

    /// The partial results of one part of the result, on whole tiles each.
    [[nodiscard]] std::vector<Partial> partials_of(std::int64_t field, std::int64_t out) const {
        std::vector<Partial> partials;
        for (std::int64_t in = 0; in < plan_.split.in_parts; ++in) {
            const DensePart here{in, field, out};
            Partial& partial = partials.emplace_back();
            if (partial_cells(here) > 0) {
                partial.push_back(
                    {published::tile_of(plan_.split, here), {0, partial_cells(here)}, {out_}});
            }
        }
        return partials;
    }

    /// A stage of all reductions: of each, as many partial results as there are become `left`.
    void add_stage(std::size_t stage, std::int64_t left, std::vector<program::Step>& steps) {
        const std::string called = in_step(
            plan_.intermediate_depths.empty() ? "reduce" : fmt::format("reduce stage {}", stage));
        const auto bring = graph_.add_exchange(
            {called + ": bring partial results", Role::Reduce, kPublishedOwner});
        const auto reduce =
            graph_.add_compute_set({called, Role::Reduce, kPublishedOwner, "partial results"});
        turns_.clear();
        std::size_t number_of_part = 0;
        for (std::int64_t field = 0; field < plan_.split.field_parts; ++field) {
            for (std::int64_t out = 0; out < plan_.split.out_parts; ++out) {
                std::vector<Partial>& partials = partials_[number_of_part++];
                std::vector<Partial> summed;
                for (std::int64_t section = 0; section < left; ++section) {
                    summed.push_back(
                        reduce_section(reduce, partials, left, section, {0, field, out}, stage));
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
        steps.push_back(graph::run(reduce));
        last_exchange_ = bring;
    }

    /// Section `section` of `left` of a part's partial results, summed on its own tiles.
    Partial reduce_section(graph::ComputeSetId reduce, const std::vector<Partial>& partials,
                           std::int64_t left, std::int64_t section, DensePart part,
                           std::size_t stage) {
        const auto count = static_cast<std::int64_t>(partials.size());
        const Run mine = published::part_of(count, left, section);
        const Run places = published::part_of(plan_.split.in_parts, left, section);
        const std::int64_t cells = partial_cells(part);
        const auto shares = in_units(
            published::spread_reduction(cells * layout_.out_group, places.size(), layout_.partials),
            layout_.out_group);
        Partial sum;
        for (std::size_t i = 0; i < shares.size(); ++i) {
            part.in = places.first + static_cast<std::int64_t>(i);
            const TileId tile = published::tile_of(plan_.split, part);
            sum.push_back({tile, shares[i], {sums_[stage]}});
            graph_.hold(sums_[stage], tile, shares[i].size() * sum_cell(stage));
            add_reduce(reduce, tile, shares[i],
                       std::span(partials).subspan(static_cast<std::size_t>(mine.first),
                                                   static_cast<std::size_t>(mine.size())),
                       static_cast<std::int64_t>(i), stage);
        }
        return sum;
    }

    /// The sum of `share` on one tile. What stands there already is read in place where it is all
    /// of a partial's share.
    void add_reduce(graph::ComputeSetId reduce, TileId tile, const Run& share,
                    std::span<const Partial> partials, std::int64_t place_in_section,
                    std::size_t stage) {
        const Bytes cell = layout_.partial_cell;
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
        graph_.hold(slots_[stage], tile, slots * bytes);
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
                const graph::Place to{slots_[stage],
                                      slot * bytes + (both.first - share.first) * cell};
                if (held.tile == tile) {
                    copy(reduce, tile, from, to, both.size() * cell);
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
        add_sum(reduce, tile, own < 0 ? std::nullopt : std::optional(own_place), count,
                share.size(), stage);
    }

    /// What stands in the slots, and `own` before it, where there is one. Where the slots take much
    /// of a tile they are no array in the published library, but reached by pointers.
    void add_sum(graph::ComputeSetId reduce, TileId tile, std::optional<graph::Place> own,
                 std::int64_t count, std::int64_t cells, std::size_t stage) {
        const graph::Place sum{sums_[stage]};
        const graph::Place slots{slots_[stage]};
        const std::int64_t others = own ? count - 1 : count;
        const Bytes bytes = cells * layout_.partial_cell;
        const Bytes sum_bytes = cells * sum_cell(stage);
        const std::int64_t elements = cells * layout_.out_group;
        const std::string types = is_last(stage) ? layout_.last_types : layout_.types;
        const Bytes element = machine_.memory.element_bytes;
        constexpr std::int64_t kMostInOneArray = 16; // of a tile's memory
        constexpr Bytes kGroupBytes = 16;            // that an instruction adds
        const Bytes taken = (others * bytes + element - 1) / element * element;
        const graph::Field numbers = graph::word(count | (elements << 16));
        graph_.add_work(reduce, tile, bytes / kGroupBytes * count);
        if (taken * kMostInOneArray >= machine_.memory.bytes()) {
            std::vector<graph::Field> pointers;
            if (own) {
                pointers.push_back(graph::read(*own, bytes));
            }
            for (std::int64_t slot = 0; slot < others; ++slot) {
                pointers.push_back(graph::read(slots + slot * bytes, bytes));
            }
            pointers.push_back(pointers.back()); // the one behind the last is read too
            graph_.add_vertex(reduce, tile, "ReduceAdd_" + types, program::VertexKind::MultiWorker,
                              {graph::write(sum, sum_bytes),
                               graph::table(graph_.add_table(tile, pointers)), numbers});
        } else if (own && others > 0) {
            graph_.add_vertex(reduce, tile, "ReduceAddInitial_" + types,
                              program::VertexKind::MultiWorker,
                              {graph::write(sum, sum_bytes), graph::read(slots, others * bytes),
                               numbers, graph::read(*own, bytes)});
        } else {
            graph_.add_vertex(reduce, tile, "ReduceAddSingleInput_" + types,
                              program::VertexKind::MultiWorker,
                              {graph::write(sum, sum_bytes),
                               graph::read(own ? *own : slots, count * bytes), numbers});
        }
    }

    /// Blocks [first, last) of this step's weights of a tile.
    void add_blocks(TileId tile, graph::Place place, const Run& blocks) {
        const DensePart here = part(tile);
        const Run outs = out_groups_of(here);
        const Run ins = in_groups_of(here);
        for (std::int64_t at = blocks.first; at < blocks.last;) {
            const std::int64_t in = ins.first + at / outs.size();
            const std::int64_t out = outs.first + at % outs.size();
            const std::int64_t rows = layout_.out_group;
            const std::int64_t whole = workload_.m / rows - out;
            const std::int64_t count =
                std::clamp<std::int64_t>(whole, 1, std::min(outs.last - out, blocks.last - at));
            const std::int64_t channels = std::min(rows, workload_.m - out * rows);
            const std::int64_t inputs =
                std::min(layout_.in_group, workload_.k - in * layout_.in_group);
            graph::Piece piece;
            piece.tile = tile;
            piece.place = place + (at - blocks.first) * layout_.block;
            piece.host_offset = out * rows * workload_.k + in * layout_.in_group;
            piece.dims = {{count, rows * workload_.k, layout_.block},
                          {channels, workload_.k, layout_.in_cell},
                          {inputs, 1, bytes_of(layout_.data)}};
            weights_tensor_.pieces.push_back(std::move(piece));
            at += count;
        }
    }

    void add_inputs_tensor() {
        graph::Tensor tensor{
            .name = "b", .type = layout_.data, .shape = {workload_.k, workload_.n}};
        tensor.given = true;
        for (TileId tile = 0; tile < tiles(); ++tile) {
            const DensePart here = part(tile);
            graph::CellGrid cells;
            cells.rows = field_of(here).size();
            cells.group = layout_.in_group;
            cells.cell_bytes = layout_.in_cell;
            cells.element_bytes = bytes_of(layout_.data);
            cells.first_row = field_of(here).first;
            cells.first_group = in_groups_of(here).first;
            cells.host_inner = workload_.k;
            cells.host_row_stride = 1;
            cells.host_inner_stride = workload_.n;
            if (!inputs_move()) {
                graph::add_cells(tensor, tile, {x_}, cells, 0, input_cells(here));
                continue;
            }
            const auto homes = home_cells(here);
            if (here.out < static_cast<std::int64_t>(homes.size())) {
                const Run run = homes[static_cast<std::size_t>(here.out)];
                graph::add_cells(tensor, tile, {home_x_}, cells, run.first, run.last);
            }
        }
        graph_.add_tensor(std::move(tensor));
    }

    /// This step's sums join those of the steps before it.
    void update_result(std::vector<program::Step>& steps) {
        const auto update =
            graph_.add_compute_set({in_step("update"), Role::Reduce, kPublishedOwner, "bytes"});
        for (auto& partials : partials_) {
            for (HeldCells& held : partials.front()) {
                const Bytes bytes = held.cells.size() * layout_.result_cell;
                const graph::Place to{result_, result_bytes_[held.tile]};
                result_bytes_[held.tile] += bytes;
                graph_.hold(result_, held.tile, result_bytes_[held.tile]);
                copy(update, held.tile, held.place, to, bytes);
                graph_.add_work(update, held.tile, bytes);
                held.place = to;
            }
        }
        steps.push_back(graph::run(update));
    }

    void add_results() {
        for (const auto& partials : partials_) {
            for (const HeldCells& held : partials.front()) {
                const DensePart here = part(held.tile);
                const std::int64_t first_group = out_groups_of(here).first;
                graph::CellGrid cells;
                cells.rows = field_of(here).size();
                cells.group = layout_.out_group;
                cells.cell_bytes = layout_.result_cell;
                cells.element_bytes = bytes_of(layout_.result);
                cells.first_row = field_of(here).first;
                cells.first_group = first_group;
                cells.host_inner = workload_.m;
                cells.host_row_stride = 1;
                cells.host_inner_stride = workload_.n;
                if (!regroups()) {
                    graph::add_cells(result_tensor_, held.tile, held.place, cells, held.cells.first,
                                     held.cells.last);
                    continue;
                }
                cells.group /= 2;
                cells.cell_bytes /= 2;
                for_columns(held, [&](std::int64_t group, const Run& columns, Bytes offset) {
                    cells.rows = columns.size();
                    cells.first_row = field_of(here).first + columns.first;
                    cells.first_group = 2 * (first_group + group);
                    graph::add_cells(result_tensor_, held.tile, held.place + offset, cells, 0,
                                     2 * columns.size());
                });
            }
        }
    }

    [[nodiscard]] Bytes bias_bytes(const Run& columns) const {
        return (columns.size() * bytes_of(layout_.result) + kWord - 1) / kWord * kWord;
    }

    /// Each part of the columns has its bias on the first tile that has some of its result; the
    /// others of them get it from there.
    void bring_bias() {
        if (!epilogue_.has_bias()) {
            return;
        }
        std::size_t number = 0;
        for (std::int64_t field = 0; field < plan_.split.field_parts; ++field) {
            std::vector<TileId> holders;
            for (std::int64_t out = 0; out < plan_.split.out_parts; ++out) {
                for (const HeldCells& held : partials_[number++].front()) {
                    holders.push_back(held.tile);
                }
            }
            const Bytes bytes = bias_bytes(field_of({0, field, 0}));
            std::vector<graph::Receiver> others;
            for (const TileId tile : holders) {
                graph_.hold(bias_, tile, bytes);
                if (tile != holders.front()) {
                    others.push_back({tile, {bias_}});
                }
            }
            bias_homes_.push_back(holders.front());
            if (!others.empty()) {
                graph_.add_message(last_exchange_, holders.front(), {bias_}, bytes, others);
            }
        }
    }

    void add_bias_tensor() {
        if (!epilogue_.has_bias()) {
            return;
        }
        graph::Tensor bias{.name = "bias", .type = layout_.result, .shape = {workload_.n}};
        bias.given = true;
        for (std::size_t field = 0; field < bias_homes_.size(); ++field) {
            const Run columns = field_of({0, static_cast<std::int64_t>(field), 0});
            bias.pieces.push_back(graph::run_of(bias_homes_[field], {bias_}, columns.first,
                                                columns.size(), layout_.result));
        }
        graph_.add_tensor(std::move(bias));
    }

    /// On this step's result, where it stands.
    void add_epilogue(std::vector<program::Step>& steps) {
        if (epilogue_.is_empty()) {
            return;
        }
        const auto sets = epilogue_.add_sets(graph_, kPublishedOwner, in_step(""), steps);
        const std::int64_t halves = regroups() ? 2 : 1;
        for (const auto& partials : partials_) {
            for (const HeldCells& held : partials.front()) {
                std::vector<Epilogue::Strip> strips;
                for_columns(held, [&](std::int64_t, const Run& columns, Bytes offset) {
                    const Bytes row = layout_.result_cell / halves;
                    for (std::int64_t half = 0; half < halves; ++half) {
                        strips.push_back({offset + half * columns.size() * row, columns.size(),
                                          row / kWord, columns.first * bytes_of(layout_.result)});
                    }
                });
                epilogue_.add(graph_, machine_, sets, held.tile, held.place,
                              held.cells.size() * layout_.result_cell, bias_, strips);
            }
        }
    }

    /// each(out-group of the part, columns of it, their bytes behind held.place).
    template <class Each> void for_columns(const HeldCells& held, const Each& each) const {
        const std::int64_t columns = field_of(part(held.tile)).size();
        for (std::int64_t at = held.cells.first; at < held.cells.last;) {
            const std::int64_t group = at / columns;
            const std::int64_t end = std::min((group + 1) * columns, held.cells.last);
            each(group, Run{at - group * columns, end - group * columns},
                 (at - held.cells.first) * layout_.result_cell);
            at = end;
        }
    }

    /// FP32 results on each tile: from [group][column][16 rows] to [group][column][8 rows].
    void regroup(std::vector<program::Step>& steps) {
        const auto set =
            graph_.add_compute_set({in_step("regroup"), Role::Work, kPublishedOwner, "bytes"});
        const Bytes piece = layout_.result_cell / 2;
        for (auto& partials : partials_) {
            for (HeldCells& held : partials.front()) {
                const graph::Place from = held.place;
                const graph::Place to{regrouped_};
                const Bytes bytes = held.cells.size() * layout_.result_cell;
                graph_.hold(regrouped_, held.tile, bytes);
                for_columns(held, [&](std::int64_t, const Run& columns, Bytes offset) {
                    for (const Bytes half : {Bytes{0}, piece}) {
                        copy_pieces(set, held.tile, from + (offset + half),
                                    to + (offset + half / piece * columns.size() * piece),
                                    columns.size());
                    }
                });
                graph_.add_work(set, held.tile, bytes);
                held.place = to;
            }
        }
        steps.push_back(graph::run(set));
    }

    /// Every other half cell from `from` on, one after the other.
    void copy_pieces(graph::ComputeSetId set, TileId tile, graph::Place from, graph::Place to,
                     std::int64_t pieces) {
        const Bytes cell = layout_.result_cell;
        const Bytes piece = cell / 2;
        graph_.add_vertex(set, tile, "rearrange_lines64", program::VertexKind::MultiWorker,
                          {graph::read(from, (pieces - 1) * cell + piece),
                           graph::write(to, pieces * piece), graph::word(cell), graph::word(piece),
                           graph::word(pieces), graph::word(piece / kWord), graph::word(1)});
    }

    /// Sums of one partial result into the data's type.
    void cast(std::vector<program::Step>& steps) {
        const auto set =
            graph_.add_compute_set({in_step("cast"), Role::Reduce, kPublishedOwner, "elements"});
        for (auto& partials : partials_) {
            for (HeldCells& held : partials.front()) {
                const std::int64_t elements = held.cells.size() * layout_.out_group;
                const graph::Place to{cast_};
                graph_.hold(cast_, held.tile, elements * bytes_of(layout_.result));
                graph_.add_vertex(
                    set, held.tile, "Cast1D_float_half", program::VertexKind::MultiWorker,
                    {graph::read(held.place, elements * bytes_of(layout_.partials)),
                     graph::write(to, elements * bytes_of(layout_.result)), graph::word(elements)});
                graph_.add_work(set, held.tile, elements);
                held.place = to;
            }
        }
        steps.push_back(graph::run(set));
    }

    /// Of the sums of a reduction's stage.
    [[nodiscard]] bool is_last(std::size_t stage) const {
        return stage == plan_.intermediate_depths.size();
    }
    [[nodiscard]] Bytes sum_cell(std::size_t stage) const {
        return is_last(stage) ? layout_.result_cell : layout_.partial_cell;
    }

    /// A message of a reduction, and when it is sent: all sections' tiles in step.
    struct Turn {
        std::int64_t turn = 0;
        TileId from = 0;
        graph::Place place;
        Bytes bytes = 0;
        graph::Receiver to;
    };

    const spec::MachineSpec& machine_;
    const workload::MatmulWorkload& workload_;
    const published::DensePlan& plan_;
    const Layout& layout_;
    std::int64_t out_groups_;
    std::int64_t in_groups_;
    Epilogue epilogue_;
    graph::Graph graph_;
    graph::BufferId out_;
    graph::BufferId weights_;
    graph::BufferId x_;
    graph::BufferId home_weights_;
    graph::BufferId home_x_;
    graph::BufferId stack_;
    graph::BufferId slice_;
    graph::BufferId result_;
    graph::BufferId cast_;
    graph::BufferId regrouped_;
    graph::BufferId bias_;
    std::vector<TileId> bias_homes_;     ///< by field part
    graph::ExchangeId last_exchange_;    ///< of this step, so far
    std::vector<graph::BufferId> slots_; ///< of the reduction's stages
    std::vector<graph::BufferId> sums_;
    graph::Tensor weights_tensor_;
    graph::Tensor result_tensor_;
    std::vector<Bytes> home_bytes_; ///< of the weights of all steps, by tile
    std::vector<Bytes> result_bytes_;
    std::int64_t step_ = 0;
    std::vector<std::vector<Partial>> partials_; ///< of each (field, out) part
    std::vector<Turn> turns_;
};

/// Of the result element that has most, to the partials' type.
std::int64_t roundings_of(const Layout& layout, const published::DensePlan& plan) {
    const auto stages = static_cast<std::int64_t>(plan.intermediate_depths.size());
    const std::int64_t parts = plan.split.in_parts;
    if (layout.partials == ElementType::F16) {
        return plan.tile.in_groups + stages + (parts > 1 ? 1 : 0);
    }
    const std::int64_t of_cell = layout.data == ElementType::F32 ? layout.in_group : 4;
    return of_cell * plan.tile.in_groups + parts + stages;
}

} // namespace

Planned plan_published(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload,
                       double temporary_share) {
    const std::string name =
        fmt::format("matmul {} x {} x {}, published plan", workload.m, workload.k, workload.n);
    const published::DenseProblem problem{workload.m, workload.k, workload.n, workload.dtype,
                                          workload.partials};
    const published::DensePlan plan =
        published::plan_dense(problem, published::dense_machine(machine), temporary_share);
    const published::DenseSplit& split = plan.split;
    const Layout layout = layout_of(problem, plan.vertex);
    if (split.in_serial > 1) {
        throw NotModelled(fmt::format("{}: not modelled: its {} steps over k; see "
                                      "docs/published_plans.md",
                                      name, split.in_serial));
    }
    family::Division division;
    division.parts_m = split.out_parts;
    division.parts_k = split.in_parts;
    division.parts_n = split.field_parts;
    division.chunks = split.out_serial;
    division.tiles_busy = plan.tiles();
    division.roundings = roundings_of(layout, plan);
    division.predicted.compute = plan.phases.vertex + plan.phases.reduce;
    division.predicted.reduction = plan.phases.reduce;
    return {PublishedEmitter(machine, workload, plan, layout, name).run(), std::move(division)};
}

Cycles cost_of_published(const spec::MachineSpec& machine,
                         const workload::MatmulWorkload& workload) {
    const published::DenseProblem problem{workload.m, workload.k, workload.n, workload.dtype,
                                          workload.partials};
    return published::plan_dense(problem, machine).phases.total();
}

} // namespace tessera::matmul
