// SPDX-License-Identifier: MIT
#include "kernels/pipeline/pipeline.h"

#include "base/error.h"
#include "kernels/graph/append.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/places.h"
#include "kernels/graph/row_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tessera::pipeline {
namespace {

using graph::Leaf;
using graph::TensorId;
using program::Role;

/// A further try divides steps with so much of the memory of the one before, down to the least. So many tries may
/// differ: docs/kernels.md#pipelines.
constexpr double kNextBudget = 0.85;
constexpr int kTries = 4;
constexpr double kLeastBudget = 0.2;

Bytes whole_elements(Bytes bytes, Bytes element) {
    return std::max(element, bytes / (2 * element) * (2 * element));
}

/// The machine as a step plans for it: so many tiles, that share of the memory.
spec::MachineSpec part_of(const spec::MachineSpec& machine, std::int64_t tiles, double budget) {
    spec::MachineSpec part = machine;
    part.chip.tiles = tiles;
    if (budget < 1) {
        const auto share = [&](Bytes bytes) {
            return whole_elements(static_cast<Bytes>(budget * static_cast<double>(bytes)),
                                  machine.memory.element_bytes);
        };
        part.memory.region0_bytes = share(machine.memory.region0_bytes);
        part.memory.region1_bytes = share(machine.memory.region1_bytes);
    }
    return part;
}

std::int64_t placed_elements(const graph::Tensor& tensor) {
    std::int64_t sum = 0;
    for (const graph::Piece& piece : tensor.pieces) {
        std::int64_t elements = 1;
        for (const program::PieceDim& dim : piece.dims) {
            elements *= dim.count;
        }
        sum += elements;
    }
    return sum;
}

/// How steps are planned in one try to fit all of them.
struct Try {
    double budget = 1;         ///< share of the memory with which each step is divided
    bool brings_before = true; ///< what a repeat does not change is brought before it
};

constexpr std::size_t kStart = 0; ///< of the program, among beginnings

/// Hashes what decides whether buffers find room: their tiles and bytes, and the steps.
std::uint64_t outline_of(const graph::Graph& graph) {
    std::uint64_t hash = 0xcbf29ce484222325U; // FNV-1a, word by word
    const auto mix = [&hash](auto value) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001b3U;
    };
    for (const graph::Buffer& buffer : graph.buffers) {
        mix(buffer.kind);
        for (const graph::Held& held : buffer.held) {
            mix(held.tile);
            mix(held.bytes);
        }
    }
    for (const graph::Exchange& exchange : graph.exchanges) {
        mix(exchange.messages.size());
        mix(exchange.to.size());
    }
    mix(graph.compute_sets.size());
    return hash;
}

class Emitter {
public:
    Emitter(const spec::MachineSpec& machine, const Pipeline& pipeline, const Try& as,
            exchange_plan::KnownSchedules& known)
        : machine_(machine), pipeline_(pipeline), as_(as), known_(known), graph_(pipeline.name),
          tiles_(machine.chip.tiles - pipeline.io_tiles), standing_(pipeline.tensors.size()),
          readers_(pipeline.tensors.size()), is_unread_(pipeline.tensors.size()),
          writers_(pipeline.tensors.size()) {
        note_uses(pipeline.steps);
    }

    /// After run() that found no room: whether less for each step may help.
    [[nodiscard]] bool may_try_less() const { return may_try_less_; }
    [[nodiscard]] std::uint64_t outline() const { return outline_; }
    /// Whether it brought something before a repeat.
    [[nodiscard]] bool brought_before() const { return brought_before_; }

    /// Nothing where the graph is like one that found no room, by outline_of().
    std::optional<Planned> run(std::uint64_t without_room) {
        for (std::int64_t tile = tiles_; tile < machine_.chip.tiles; ++tile) {
            graph_.io_tiles.push_back(static_cast<TileId>(tile));
        }
        graph_.control = emit(pipeline_.steps, 0, tiles_);
        want_results();
        outline_ = outline_of(graph_);
        if (outline_ == without_room) {
            return std::nullopt;
        }
        lower::Lowered lowered = alone_ != nullptr
                                     ? std::move(*alone_)
                                     : lower::lower(machine_, std::move(graph_), known_);
        for (std::size_t i = 0; i < planned_.finished.size(); ++i) {
            Finished& finished = planned_.finished[i];
            complete(finished, finished_ends_[i]);
            for (Leaf& leaf : finished.leaves) {
                if (leaf.kind == graph::Step::Kind::StreamCopy) {
                    continue; // none is left out
                }
                const auto& numbers = leaf.kind == graph::Step::Kind::ComputeSet
                                          ? lowered.steps.set_numbers
                                          : lowered.steps.exchange_numbers;
                leaf.index = numbers.at(leaf.index);
            }
        }
        planned_.budget = as_.budget;
        planned_.lowered = std::move(lowered);
        return std::move(planned_);
    }

private:
    void note_uses(const std::vector<Node>& nodes) {
        for (const Node& node : nodes) {
            for (const std::size_t input : node.inputs) {
                ++readers_[input];
                is_unread_[input] = false;
                if (node.kind == Node::Kind::Step && pipeline_.tensors[input].outside) {
                    picked_.insert(input);
                }
            }
            for (const auto& output : node.outputs) {
                if (output) {
                    is_unread_[*output] = true;
                    ++writers_[*output];
                }
            }
            if (const auto use = node.step ? node.step->sparse_use() : std::nullopt) {
                matrices_[node.inputs[use->input]].uses.push_back(*use);
            }
            if (node.kind == Node::Kind::If || node.kind == Node::Kind::While) {
                ++readers_[node.word];
                is_unread_[node.word] = false;
            }
            note_uses(node.children);
            note_uses(node.otherwise);
            if (node.kind == Node::Kind::While) { // it is looked at behind each round, too
                is_unread_[node.word] = false;
            }
        }
    }

    /// Leaves after which what has been emitted is complete, or beginnings before whose first leaf it is.
    struct Ends {
        std::set<Leaf> leaves;
        std::set<std::size_t> begins; ///< in begins_

        void add(const Ends& other) {
            leaves.insert(other.leaves.begin(), other.leaves.end());
            begins.insert(other.begins.begin(), other.begins.end());
        }
    };

    /// Notes all ends: of a beginning those before it, now that nothing is brought there any more.
    void complete(Finished& finished, Ends ends) const {
        for (std::size_t begin = begins_.size(); begin-- > 0;) { // inner before outer
            if (ends.begins.contains(begin)) {
                ends.add(begins_[begin]);
            }
        }
        finished.leaves.assign(ends.leaves.begin(), ends.leaves.end());
        finished.from_start = ends.begins.contains(kStart);
    }

    /// A loop whose steps are being added.
    struct Loop {
        std::set<std::size_t> changed; ///< tensors that its rounds make anew
        std::set<std::size_t> views;   ///< that its rounds have made so far
        std::vector<graph::Step> before;
        std::size_t begin = 0;                     ///< in begins_
        std::optional<graph::BufferId> round = {}; ///< where a repeat stores it, if a step asks
    };

    /// Whether a view is one of any of the tensors.
    static bool shows_any(const Node& view, const std::set<std::size_t>& tensors) {
        return std::ranges::any_of(view.inputs,
                                   [&](std::size_t input) { return tensors.contains(input); });
    }

    /// A view changes if what it is a view of does.
    static void note_changed(const std::vector<Node>& nodes, std::set<std::size_t>& changed) {
        for (const Node& node : nodes) {
            for (const auto& output : node.outputs) {
                if (output && (!is_view(node) || shows_any(node, changed))) {
                    changed.insert(*output);
                }
            }
            note_changed(node.children, changed);
            note_changed(node.otherwise, changed);
        }
    }

    /// The steps of a loop: `around(steps, round)` makes the loop of them.
    template <class Around>
    graph::Step emit_loop(const Node& node, TileId first_tile, std::int64_t tiles,
                          const Around& around) {
        Loop& opened = loops_.emplace_back();
        note_changed(node.children, opened.changed);
        note_changed(node.children, opened.changed); // views of what is written further down
        opened.begin = begins_.size();
        begins_.push_back(std::exchange(ends_, Ends{{}, {opened.begin}}));
        graph::Step steps = emit(node.children, first_tile, tiles);
        Loop loop = std::move(loops_.back());
        loops_.pop_back();
        if (node.kind == Node::Kind::While) {
            ends_.add({{}, {loop.begin}});
        }
        loop.before.push_back(around(std::move(steps), loop.round));
        return graph::sequence(std::move(loop.before));
    }

    graph::Step emit(const std::vector<Node>& nodes, TileId first_tile, std::int64_t tiles) {
        made_.clear();
        std::vector<graph::Step> steps;
        for (const Node& node : nodes) {
            switch (node.kind) {
            case Node::Kind::Step:
                steps.push_back(emit_step(node, first_tile, tiles));
                break;
            case Node::Kind::Load:
                steps.push_back(emit_load(node));
                break;
            case Node::Kind::Store:
                steps.push_back(emit_store(node));
                break;
            case Node::Kind::Next:
                steps.push_back(emit_next(node, first_tile, tiles));
                break;
            case Node::Kind::Repeat:
                steps.push_back(
                    emit_loop(node, first_tile, tiles, [&](graph::Step inner, const auto& round) {
                        return round ? graph::repeat(node.repeats, {std::move(inner)}, *round)
                                     : graph::repeat(node.repeats, {std::move(inner)});
                    }));
                break;
            case Node::Kind::While:
                steps.push_back(emit_while(node, first_tile, tiles));
                break;
            case Node::Kind::If:
                steps.push_back(emit_if(node, first_tile, tiles));
                break;
            case Node::Kind::Parallel:
                steps.push_back(emit_branches(node, first_tile, tiles));
                break;
            case Node::Kind::Branch:
                TESSERA_ASSERT(!"a branch stands in a parallel");
            }
        }
        made_.clear();
        return graph::sequence(std::move(steps));
    }

    graph::Step emit_while(const Node& node, TileId first_tile, std::int64_t tiles) {
        const bool may_not_run = std::exchange(may_not_run_, true);
        graph::Step loop = emit_loop(node, first_tile, tiles, [&](graph::Step inner, const auto&) {
            return graph::as_long_as(word_of(node), {std::move(inner)});
        });
        may_not_run_ = may_not_run;
        return loop;
    }

    graph::Step emit_if(const Node& node, TileId first_tile, std::int64_t tiles) {
        const Ends before = ends_;
        const bool may_not_run = std::exchange(may_not_run_, true);
        graph::Step then = emit(node.children, first_tile, tiles);
        const Ends of_then = std::exchange(ends_, before);
        std::vector<graph::Step> otherwise;
        if (!node.otherwise.empty()) {
            otherwise.push_back(emit(node.otherwise, first_tile, tiles));
        }
        may_not_run_ = may_not_run;
        ends_.add(of_then);
        return graph::when(word_of(node), {std::move(then)}, std::move(otherwise));
    }

    /// Where the word is that a while or an if looks at. A tensor of its own has it too, so that messages
    /// can call it by its name.
    graph::TilePlace word_of(const Node& node) {
        const TensorId tensor = standing_or_given(node.word);
        const auto place = graph::place_of(graph_.tensors[tensor.index], node.element);
        TESSERA_ASSERT(place.has_value());
        const Tensor& called = pipeline_.tensors[node.word];
        graph::Tensor word{.name = called.name, .type = called.type.type, .shape = {}};
        word.pieces.push_back({place->tile, place->place(), 0, {}});
        graph_.add_tensor(std::move(word));
        return *place;
    }

    graph::Step emit_branches(const Node& node, TileId first_tile, std::int64_t tiles) {
        std::int64_t wanted = 0;
        for (const Node& branch : node.children) {
            wanted += branch.tiles;
        }
        if (wanted > tiles) {
            throw ConfigError(
                Diagnostic{"",
                           0,
                           0,
                           node.pointer,
                           fmt::format("got branches with {} tiles together, expected "
                                       "at most the {} that there are",
                                       wanted, tiles),
                           {}});
        }
        std::optional<graph::Step> all;
        const Ends before = ends_;
        for (const Node& branch : node.children) {
            // no leaf of a branch comes before another branch's steps
            ends_ = before;
            const std::size_t first_finished = finished_ends_.size();
            const std::size_t first_begin = begins_.size();
            graph::Step steps = emit(branch.children, first_tile, branch.tiles);
            first_tile += static_cast<TileId>(branch.tiles);
            if (!all) {
                all = std::move(steps);
                continue;
            }
            auto woven = graph::side_by_side(graph_, *all, steps);
            all = std::move(woven.steps);
            const std::map<Leaf, Leaf> moved(woven.moved.begin(), woven.moved.end());
            for (std::size_t i = first_finished; i < finished_ends_.size(); ++i) {
                move_leaves(finished_ends_[i], moved);
            }
            for (std::size_t i = first_begin; i < begins_.size(); ++i) {
                move_leaves(begins_[i], moved);
            }
        }
        ends_ = before;
        note_leaves(*all);
        return std::move(*all);
    }

    static void move_leaves(Ends& ends, const std::map<Leaf, Leaf>& moved) {
        std::set<Leaf> now;
        for (const Leaf& leaf : ends.leaves) {
            const auto to = moved.find(leaf);
            now.insert(to == moved.end() ? leaf : to->second);
        }
        ends.leaves = std::move(now);
    }

    [[nodiscard]] family::Site site_of(const Node& node, TileId first_tile,
                                       std::int64_t tiles) const {
        return {part_of(machine_, tiles, as_.budget),
                known_,
                first_tile,
                node.name,
                !loops_.empty(),
                pipeline_.steps.size() == 1 && &node == &pipeline_.steps.front()};
    }

    graph::Step emit_step(const Node& node, TileId first_tile, std::int64_t tiles) {
        const Sizes before = sizes();
        family::Site site = site_of(node, first_tile, tiles);
        site.over = over_of(node);
        site.forms = forms_of(node);
        site.matrix = matrix_of(node);
        if (!node.inputs.empty() && pipeline_.tensors[node.inputs.front()].outside) {
            site.remote = buffer_of(node.inputs.front());
        }
        std::vector<std::optional<TensorId>> where;
        for (const std::size_t input : node.inputs) {
            stand_like(node, input);
            where.push_back(standing_[input]);
        }
        family::Emitted emitted = emit_part(node, site, where);
        std::optional<graph::Step> brought; // all inputs at once
        for (std::size_t i = site.remote ? 1 : 0; i < node.inputs.size(); ++i) {
            graph::Step one = bring(node, node.inputs[i], emitted.inputs.at(i));
            if (!brought || one.children.empty()) {
                brought = brought ? std::move(brought) : std::move(one);
                continue;
            }
            brought = graph::side_by_side(graph_, *brought, one).steps;
            keep_apart(*brought);
        }
        if (!emitted.forms.empty()) {
            give_forms(node, emitted);
        }
        note_encoders(node, emitted);
        const bool stands = !brought || brought->children.empty();
        std::vector<graph::Step> steps;
        if (brought) {
            steps.push_back(std::move(*brought));
        }
        steps.push_back(std::move(emitted.steps));
        note_leaves(graph::sequence(steps));
        const std::optional<Made> shown = is_view(node) && stands ? last_shown(node) : std::nullopt;
        Finished& finished = note_finished(node, shown ? shown->ends : ends_);
        for (const TensorId output : emitted.outputs) {
            finished.outputs.push_back(array_of(output));
            finished.encoders.push_back(encoder_of(output));
        }
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (!keeps(node, i)) { // until it is looked at
                graph_.tensors[emitted.outputs.at(i).index].wanted = true;
            }
            if (node.outputs[i]) {
                for (Loop& around : loops_) {
                    if (is_view(node)) {
                        around.views.insert(*node.outputs[i]);
                    }
                }
                steps.push_back(put(node, *node.outputs[i], emitted.outputs.at(i)));
                note_leaves(steps.back());
                made_[*node.outputs[i]] = shown ? *shown : made_now();
            }
        }
        name_after(node, before);
        return graph::sequence(std::move(steps));
    }

    /// A tensor that the list of steps at hand has made, behind all loops and decisions in it.
    struct Made {
        std::size_t order = 0;
        Ends ends; ///< where it is complete
    };
    [[nodiscard]] Made made_now() { return {made_count_++, ends_}; }
    /// The last of what a view shows, if the list at hand has made it. The host looks at the view
    /// where that is complete: later a part that no step reads may have given way to another tensor. To
    /// a view of the view it is as old as that.
    [[nodiscard]] std::optional<Made> last_shown(const Node& view) const {
        std::optional<Made> last;
        for (const std::size_t input : view.inputs) {
            const auto found = made_.find(input);
            if (found != made_.end() && (!last || found->second.order > last->order)) {
                last = found->second;
            }
        }
        return last;
    }

    [[nodiscard]] family::SharedMatrix* matrix_of(const Node& node) {
        const auto use = node.step->sparse_use();
        return use ? &matrices_.at(node.inputs[use->input]) : nullptr;
    }
    [[nodiscard]] std::vector<TensorId> forms_of(const Node& node) const {
        const auto forms = node.inputs.empty() ? forms_.end() : forms_.find(node.inputs.front());
        return forms == forms_.end() ? std::vector<TensorId>{} : forms->second;
    }
    /// The host encodes the first input as the step says.
    void give_forms(const Node& node, const family::Emitted& emitted) {
        const std::size_t input = node.inputs.front();
        for (Standing& write : planned_.writes) {
            if (write.tensor == input && write.encoder == nullptr &&
                write.array == array_of(emitted.inputs.front())) {
                write.encoder = node.step.get();
            }
        }
        std::vector<TensorId>& standing = forms_[input];
        for (std::size_t i = 0; i < emitted.forms.size(); ++i) {
            if (std::ranges::find(standing, emitted.forms[i]) == standing.end()) {
                graph_.tensors[emitted.forms[i].index].given = true;
                planned_.writes.push_back(
                    {input, array_of(emitted.forms[i]), node.step.get(), i + 1});
            }
        }
        standing = emitted.forms;
    }

    /// What stands in buckets is read by the step that made them, or whose buckets an input has.
    void note_encoders(const Node& node, const family::Emitted& emitted) {
        const family::Step* encoder = nullptr;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const Tensor& tensor = pipeline_.tensors[node.inputs[i]];
            if (!tensor.type.capacity) {
                continue;
            }
            const TensorId place = emitted.inputs[i];
            if (i == 0 && !emitted.forms.empty()) {
                encoders_.try_emplace(place.index, node.step.get());
            }
            encoder = encoder == nullptr ? encoder_of(place) : encoder;
            if (encoder == nullptr) {
                throw NotModelled(fmt::format(
                    "{}: step '{}' is the first to read '{}', whose pattern comes at run time: not "
                    "modelled: before a product with it; see docs/kernels.md#pipelines",
                    pipeline_.name, node.name, tensor.name));
            }
            encoders_.try_emplace(place.index, encoder);
        }
        const auto types = node.step->outputs();
        for (std::size_t i = 0; i < types.size(); ++i) {
            if (types[i].capacity) {
                encoders_.try_emplace(emitted.outputs[i].index, encoder);
            }
        }
    }
    [[nodiscard]] const family::Step* encoder_of(TensorId tensor) const {
        const auto found = encoders_.find(tensor.index);
        return found == encoders_.end() ? nullptr : found->second;
    }
    /// A copy of what stands in buckets, to others of the same plan.
    void refuse_other_buckets(const Node& node, std::size_t tensor, TensorId from,
                              TensorId to) const {
        if (pipeline_.tensors[tensor].type.capacity &&
            !graph::alike(graph_.tensors[from.index], graph_.tensors[to.index])) {
            throw NotModelled(
                fmt::format("{}: step '{}' has another plan for '{}' than the steps before: not "
                            "modelled: moving it between buckets; see docs/kernels.md#pipelines",
                            pipeline_.name, node.name, pipeline_.tensors[tensor].name));
        }
    }

    /// Whether a later step reads an output of the step, or it is a result.
    [[nodiscard]] bool keeps(const Node& node, std::size_t output) const {
        const auto& tensor = node.outputs[output];
        return tensor &&
               (!is_unread_[*tensor] || (!is_view(node) && pipeline_.tensors[*tensor].is_left));
    }
    [[nodiscard]] static bool is_view(const Node& node) {
        return node.family != nullptr && node.family->is_view;
    }

    /// In one exchange a tile may send from any buffer that another copy reads while it receives.
    void keep_apart(const graph::Step& steps) {
        for (const graph::Step& step : steps.children) {
            if (step.kind != graph::Step::Kind::Exchange) {
                continue;
            }
            const graph::Exchange& exchange = graph_.exchanges[step.index];
            std::set<std::uint32_t> from;
            std::set<std::uint32_t> to;
            for (const graph::Message& message : exchange.messages) {
                from.insert(message.from.buffer.index);
            }
            for (const graph::TilePlace& place : exchange.to) {
                to.insert(place.buffer.index);
            }
            for (const std::uint32_t receives : to) {
                auto& apart = graph_.buffers[receives].apart;
                for (const std::uint32_t sends : from) {
                    if (sends != receives &&
                        std::ranges::find(apart, graph::BufferId{sends}) == apart.end()) {
                        apart.push_back({sends});
                    }
                }
            }
        }
    }

    /// What puts a step's output where the tensor's readers have it.
    graph::Step put(const Node& node, std::size_t tensor, TensorId made) {
        std::optional<TensorId>& standing = standing_[tensor];
        const Tensor& written = pipeline_.tensors[tensor];
        if (!standing) {
            const bool keeps_given = written.given && may_not_run_; // what the host gives stays
            // whenever the step runs, it has to find zeros where it does not write
            const bool has_other = keeps_given || (writers_[tensor] > 1 && !loops_.empty());
            const TensorId place =
                has_other && is_kept_zero(made)
                    ? graph::add_alike(graph_, written.name, written.type.type, made)
                    : made;
            if (const family::Step* encoder = encoder_of(made)) {
                encoders_.try_emplace(place.index, encoder);
            }
            if (!keeps_given) {
                standing = place;
            } else {
                written.row_major ? give_in_runs(tensor) : give(tensor, place);
            }
            if (!keeps_given && place == made) {
                return graph::sequence({});
            }
        }
        refuse_views(tensor, made, node);
        if (*standing == made) { // written there
            return graph::sequence({});
        }
        refuse_other_buckets(node, tensor, made, *standing);
        return graph::add_copy(graph_, machine_, made, *standing, Role::Rearrange, node.name);
    }

    [[nodiscard]] bool is_kept_zero(TensorId tensor) const {
        return std::ranges::any_of(graph_.tensors[tensor.index].pieces,
                                   [&](const graph::Piece& piece) {
                                       return graph_.buffers[piece.place.buffer.index].zeroed;
                                   });
    }

    /// Outputs that are one of the step's inputs.
    static std::vector<family::Over> over_of(const Node& node) {
        std::vector<family::Over> over;
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const auto input = std::ranges::find(node.inputs, node.outputs[i]);
            if (node.outputs[i] && input != node.inputs.end()) {
                over.push_back({i, static_cast<std::size_t>(input - node.inputs.begin())});
            }
        }
        return over;
    }

    /// The row comes in runs over all tiles.
    graph::Step emit_load(const Node& node) {
        const Sizes before = sizes();
        const std::size_t output = node.outputs.front().value();
        const std::size_t input = node.inputs.front();
        const bool is_stacked = pipeline_.tensors[input].in_rows;
        const TensorId row =
            is_stacked && stacks_.contains(input)
                ? graph::add_alike(graph_, "row", pipeline_.tensors[output].type.type,
                                   stacks_.at(input).model)
                : add_row(pipeline_.tensors[output].type, {0, tiles_});
        std::vector<graph::Step> steps{is_stacked          ? move_stacked(node, input, row, true)
                                       : node.prefetch > 0 ? take_ahead(node, row)
                                                           : copy_row(node, input, row, true)};
        note_finished(node, ends_).outputs = {array_of(row)};
        steps.push_back(put(node, output, row));
        note_leaves(steps.back());
        made_[output] = made_now();
        name_after(node, before);
        return graph::sequence(std::move(steps));
    }

    /// IO tiles have rows ahead, each in a slot of its own. A round takes its row to the other tiles, and
    /// then the slot's next row is begun:
    ///
    ///     start slots 0, 1
    ///     repeat { in rounds 0, 2, ...: wait for slot 0; take it; start the row of the round after next
    ///              in rounds 1, 3, ...: the same with slot 1 }
    graph::Step take_ahead(const Node& node, TensorId row) {
        using Kind = graph::Step::Kind;
        const std::int64_t slots = std::min(node.prefetch, node.rounds);
        const family::TensorType& type = pipeline_.tensors[node.outputs.front().value()].type;
        const std::int64_t rows = rows_of_index(node.inputs.front());
        const std::int64_t first = node.row * rows;
        const std::int64_t by = node.row_a_round * rows;
        std::vector<graph::Step> steps;
        Ends ends;
        for (std::int64_t slot = 0; slot < slots; ++slot) {
            const TensorId ahead =
                add_row(type, {static_cast<TileId>(tiles_), machine_.chip.tiles - tiles_});
            const graph::CopyId copy = add_row_copy(node, node.inputs.front(), ahead, true);
            loops_.back().before.push_back(
                graph::stream(Kind::StreamStart, copy, first + slot * by));
            graph::Step taken =
                graph::add_copy(graph_, machine_, ahead, row, Role::Bring, node.name);
            note_leaves(taken);
            ends.add(ends_);
            graph::Step next = graph::in_rounds(
                {slot, slots, node.rounds - slots},
                {graph::stream_by_round(Kind::StreamStart, copy, first + slots * by, by)});
            steps.push_back(graph::in_rounds(
                {slot, slots, node.rounds},
                {graph::stream(Kind::StreamWait, copy, 0), std::move(taken), std::move(next)}));
        }
        ends_ = std::move(ends);
        return graph::sequence(std::move(steps));
    }

    graph::Step emit_store(const Node& node) {
        const Sizes before = sizes();
        const std::size_t input = node.inputs.front();
        std::vector<graph::Step> steps;
        TensorId row = standing_or_given(input);
        const std::size_t output = node.outputs.front().value();
        const bool is_stacked = pipeline_.tensors[output].in_rows;
        if (!is_stacked || !can_be_stacked(output, row)) {
            const family::TensorType& type = pipeline_.tensors[input].type;
            const TensorId wanted =
                is_stacked && stacks_.contains(output)
                    ? graph::add_alike(graph_, "row", type.type, stacks_.at(output).model)
                    : add_row(type, {0, tiles_});
            if (!graph::alike(graph_.tensors[row.index], graph_.tensors[wanted.index])) {
                steps.push_back(rearranged(node, input, row, wanted));
                note_leaves(steps.back());
                row = wanted;
            }
        }
        steps.push_back(is_stacked ? move_stacked(node, output, row, false)
                                   : copy_row(node, output, row, false));
        note_finished(node, ends_).outputs = {array_of(row)};
        name_after(node, before);
        return graph::sequence(std::move(steps));
    }

    /// Whether a row of a tensor that stands in rows on the tiles can be copied as it stands.
    [[nodiscard]] bool can_be_stacked(std::size_t tensor, TensorId row) const {
        const auto stack = stacks_.find(tensor);
        return stack == stacks_.end() ? graph::can_stack(graph_, row, tiles_)
                                      : graph::alike(graph_.tensors[stack->second.model.index],
                                                     graph_.tensors[row.index])
                                            .has_value();
    }
    /// Copies between a row of a tensor that stands in rows on the tiles and `row`. The first one that is
    /// moved says where they stand.
    graph::Step move_stacked(const Node& node, std::size_t tensor, TensorId row, bool loads) {
        if (!stacks_.contains(tensor)) {
            const Tensor& rows = pipeline_.tensors[tensor];
            stacks_.emplace(tensor,
                            graph::add_row_stack(graph_, rows.name, rows.type.shape.front(), row));
            give(tensor, stacks_.at(tensor).rows);
        }
        graph::RowOfRound which{node.row, node.row_a_round, std::nullopt};
        if (node.rounds > 1 && node.row_a_round != 0) {
            std::optional<graph::BufferId>& round = loops_.back().round;
            round = round ? round : graph_.add_round(node.name);
            which.round = round;
        }
        const graph::RowStack& stack = stacks_.at(tensor);
        graph::Step step = loads ? graph::load_row(graph_, machine_, stack, row, which, node.name)
                                 : graph::store_row(graph_, machine_, stack, row, which, node.name);
        note_leaves(step);
        return step;
    }

    /// The host's next pattern of a tensor. Where it is made of values that a step writes, the host gets
    /// them before.
    graph::Step emit_next(const Node& node, TileId first_tile, std::int64_t tiles) {
        const Sizes before = sizes();
        const std::size_t tensor = node.inputs.front();
        if (!standing_[tensor]) {
            stand(node, tensor, first_tile, tiles);
        }
        std::vector<Standing> rows = forms_that_stand(tensor);
        for (std::size_t i = 1; i < node.inputs.size(); ++i) { // those that stand like it
            stand_like(node, node.inputs[i]);
            rows.push_back(forms_that_stand(node.inputs[i]).front());
        }
        const bool is_new = next_buffers_.try_emplace(tensor, graph_.remote_buffers.size()).second;
        auto buffer = static_cast<std::uint32_t>(next_buffers_.at(tensor));
        std::vector<graph::Step> steps;
        std::vector<graph::Step> reads;
        for (const Standing& row : rows) {
            const TensorId place{row.array.index};
            if (is_new) {
                add_next_buffer(row.tensor, place, row.form);
                planned_.asked.push_back(
                    {row.tensor, program::remote_buffer(buffer), row.encoder, row.form});
            }
            const bool is_written = writers_[row.tensor] > 1; // not by this step alone
            if (row.form == 0 && is_written && pipeline_.tensors[row.tensor].is_returned) {
                steps.push_back(copy_all(node, buffer, place, false));
            }
            reads.push_back(copy_all(node, buffer, place, true));
            ++buffer;
        }
        graph::Step& sync = steps.emplace_back(); // the host has what all tiles have left
        sync.kind = graph::Step::Kind::Sync;
        std::ranges::move(reads, std::back_inserter(steps));
        Finished& finished = note_finished(node, ends_);
        for (const std::size_t input : node.inputs) {
            made_.erase(input);
            finished.outputs.push_back(array_of(*standing_[input]));
            finished.encoders.push_back(encoder_of(*standing_[input]));
        }
        name_after(node, before);
        return graph::sequence(std::move(steps));
    }
    /// A tensor in buckets: its values, then what says where they are.
    [[nodiscard]] std::vector<Standing> forms_that_stand(std::size_t tensor) const {
        const family::Step* encoder = encoder_of(*standing_[tensor]);
        std::vector<Standing> forms{{tensor, array_of(*standing_[tensor]), encoder, 0}};
        const auto others = forms_.find(tensor);
        for (std::size_t i = 0; others != forms_.end() && i < others->second.size(); ++i) {
            forms.push_back({tensor, array_of(others->second[i]), encoder, i + 1});
        }
        return forms;
    }
    /// In the buckets of another tensor, if that is where it belongs and it stands nowhere yet.
    void stand_like(const Node& node, std::size_t tensor) {
        const auto& like = pipeline_.tensors[tensor].like;
        if (!like || standing_[tensor]) {
            return;
        }
        const Tensor& called = pipeline_.tensors[tensor];
        if (!standing_[*like]) {
            throw NotModelled(fmt::format(
                "{}: step '{}' reads '{}' before a product reads '{}', in whose buckets it is: not "
                "modelled; see docs/kernels.md#pipelines",
                pipeline_.name, node.name, called.name, pipeline_.tensors[*like].name));
        }
        const TensorId model = *standing_[*like];
        const TensorId place = graph::add_alike(graph_, called.name, called.type.type, model);
        give(tensor, place);
        planned_.writes.back().encoder = encoder_of(model);
        encoders_.try_emplace(place.index, encoder_of(model));
    }
    /// Where the first product with the tensor will have it.
    void stand(const Node& node, std::size_t tensor, TileId first_tile, std::int64_t tiles) {
        const Node* reader = first_product(pipeline_.steps, tensor);
        if (reader == nullptr) {
            throw NotModelled(fmt::format("{}: step '{}' brings patterns of '{}', which no product "
                                          "reads: not modelled; see docs/kernels.md#pipelines",
                                          pipeline_.name, node.name,
                                          pipeline_.tensors[tensor].name));
        }
        const family::Emitted stands =
            reader->step->stand(graph_, site_of(*reader, first_tile, tiles));
        give(tensor, stands.inputs.front());
        give_forms(*reader, stands);
        encoders_.try_emplace(stands.inputs.front().index, reader->step.get());
    }
    [[nodiscard]] static const Node* first_product(const std::vector<Node>& nodes,
                                                   std::size_t tensor) {
        for (const Node& node : nodes) {
            if (node.step != nullptr && node.family->multiplies_first &&
                node.inputs.front() == tensor) {
                return &node;
            }
            for (const auto* inside : {&node.children, &node.otherwise}) {
                if (const Node* found = first_product(*inside, tensor)) {
                    return found;
                }
            }
        }
        return nullptr;
    }
    /// A row that the host writes anew each time. Timing mode knows all but values.
    void add_next_buffer(std::size_t tensor, TensorId place, std::size_t form) {
        const graph::Tensor& stands = graph_.tensors[place.index];
        std::int64_t elements = 1;
        for (const std::int64_t size : stands.shape) {
            elements *= size;
        }
        graph_.remote_buffers.push_back(
            {form == 0 ? pipeline_.tensors[tensor].name
                       : fmt::format("{}: {}", pipeline_.tensors[tensor].name, stands.name),
             program::RemoteBuffer::Place::Host, 1, elements * bytes_of(stands.type), form > 0});
    }
    /// A copy between all of a tensor and row 0 of a buffer.
    graph::Step copy_all(const Node& node, std::uint32_t buffer, TensorId place, bool read) {
        using Direction = program::StreamCopy::Direction;
        graph::StreamCopy copy{.name = node.name,
                               .owner = node.name,
                               .remote_buffer = buffer,
                               .direction = read ? Direction::Read : Direction::Write};
        const graph::Tensor& tensor = graph_.tensors[place.index];
        const Bytes element = bytes_of(tensor.type);
        for (const graph::Piece& piece : tensor.pieces) {
            copy.pieces.push_back({piece.tile, piece.place, piece.dims.at(0).count * element,
                                   piece.host_offset * element});
        }
        graph::Step step = graph::stream_by_round(graph::Step::Kind::StreamCopy,
                                                  graph_.add_stream_copy(std::move(copy)), 0, 0);
        note_leaves(step);
        return step;
    }

    Finished& note_finished(const Node& node, Ends ends) {
        finished_ends_.push_back(std::move(ends));
        return planned_.finished.emplace_back(Finished{&node, {}, {}, {}, false, may_not_run_});
    }

    /// Runs of whole requests over the tiles.
    TensorId add_row(const family::TensorType& type, graph::TileRange tiles) {
        return graph::add_runs(graph_, tiles,
                               {.name = "row", .type = type.type, .shape = type.shape},
                               (machine_.streaming.request_bytes + 7) / 8 * 8);
    }

    /// A copy between a row of a tensor outside the tiles and `row`, which stands in runs.
    graph::Step copy_row(const Node& node, std::size_t outside, TensorId row, bool read) {
        graph::Step step = graph::stream_by_round(
            graph::Step::Kind::StreamCopy, add_row_copy(node, outside, row, read),
            node.row * rows_of_index(outside), node.row_a_round * rows_of_index(outside));
        note_leaves(step);
        return step;
    }
    graph::CopyId add_row_copy(const Node& node, std::size_t outside, TensorId row, bool read) {
        using Direction = program::StreamCopy::Direction;
        graph::StreamCopy copy{.name = node.name,
                               .owner = node.name,
                               .remote_buffer = buffer_of(outside),
                               .direction = read ? Direction::Read : Direction::Write,
                               .rows = rows_of_index(outside)};
        graph::Tensor& runs = graph_.tensors[row.index];
        runs.known = runs.known || (read && pipeline_.tensors[outside].type.known);
        const Bytes element = bytes_of(runs.type);
        for (const graph::Piece& piece : runs.pieces) {
            copy.pieces.push_back({piece.tile, piece.place, piece.dims.at(0).count * element,
                                   piece.host_offset * element});
        }
        return graph_.add_stream_copy(std::move(copy));
    }

    /// Rows of the remote buffer for each index of a tensor's first size: one, or, where steps name rows
    /// of its last size, as many as those.
    [[nodiscard]] std::int64_t rows_of_index(std::size_t tensor) const {
        const auto& shape = pipeline_.tensors[tensor].type.shape;
        return picked_.contains(tensor)
                   ? pipeline_.tensors[tensor].type.elements() / (shape.front() * shape.back())
                   : 1;
    }

    /// Number of the remote buffer that has the rows of a tensor. The host writes it before the run, or
    /// gives rows from its own memory when they are asked for.
    std::uint32_t buffer_of(std::size_t tensor) {
        const auto next = static_cast<std::uint32_t>(graph_.remote_buffers.size());
        const auto [buffer, is_new] = buffers_.try_emplace(tensor, next);
        if (is_new) {
            const Tensor& rows = pipeline_.tensors[tensor];
            const std::int64_t count = rows.type.shape.front() * rows_of_index(tensor);
            graph_.remote_buffers.push_back(
                {rows.name, *rows.outside, count,
                 rows.type.elements() / count * bytes_of(rows.type.type), rows.type.known});
            const bool is_asked =
                rows.outside == program::RemoteBuffer::Place::Host && writers_[tensor] == 0;
            (is_asked ? planned_.asked : planned_.writes)
                .push_back({tensor, program::remote_buffer(next)});
        }
        return buffer->second;
    }

    /// What does not fit is tried again with less, for that leaves more to the other steps: but not
    /// where there is no other.
    family::Emitted emit_part(const Node& node, const family::Site& site,
                              std::span<const std::optional<TensorId>> where) {
        const bool is_only = node.name.empty();
        may_try_less_ = may_try_less_ && !is_only;
        family::Emitted emitted = node.step->emit(graph_, site, where);
        if (is_only) {
            alone_ = emitted.alone;
        }
        return emitted;
    }

    /// What a step has added is called by its name.
    struct Sizes {
        std::size_t tensors = 0;
        std::size_t compute_sets = 0;
        std::size_t exchanges = 0;
    };
    [[nodiscard]] Sizes sizes() const {
        return {graph_.tensors.size(), graph_.compute_sets.size(), graph_.exchanges.size()};
    }
    void name_after(const Node& node, const Sizes& before) {
        if (node.name.empty()) {
            return;
        }
        const auto rename = [&](auto& all, std::size_t first) {
            for (std::size_t i = first; i < all.size(); ++i) {
                if (all[i].name != node.name) {
                    all[i].name = node.name + ": " + all[i].name;
                }
            }
        };
        rename(graph_.tensors, before.tensors);
        rename(graph_.compute_sets, before.compute_sets);
        rename(graph_.exchanges, before.exchanges);
    }

    /// What brings a tensor to where the step reads it.
    graph::Step bring(const Node& node, std::size_t input, TensorId wanted) {
        const Tensor& tensor = pipeline_.tensors[input];
        graph::Tensor& place = graph_.tensors[wanted.index];
        const bool may_stand_twice =
            tensor.type.sparse != nullptr && !tensor.like && writers_[input] == 0;
        if (standing_[input] && *standing_[input] != wanted && may_stand_twice) {
            place.given = true; // the host writes it there, too
            planned_.writes.push_back({input, array_of(wanted)});
            return graph::sequence({});
        }
        if (!standing_[input]) {
            const bool leaves_out =
                !tensor.type.capacity && placed_elements(place) < tensor.type.stored_elements();
            const bool is_alone = readers_[input] == 1 && !tensor.wanted && writers_[input] == 0;
            if (!tensor.row_major && (is_alone || !leaves_out)) {
                give(input, wanted);
            }
        }
        const TensorId from = standing_or_given(input);
        return from == wanted ? graph::sequence({}) : rearranged(node, input, from, wanted);
    }

    /// What brings a tensor from one place to another: where a loop does not change it, before that.
    graph::Step rearranged(const Node& node, std::size_t input, TensorId from, TensorId wanted) {
        refuse_other_buckets(node, input, from, wanted);
        graph::Step steps =
            graph::add_copy(graph_, machine_, from, wanted, Role::Rearrange, node.name);
        const auto loop = std::ranges::find_if(
            loops_, [&](const Loop& around) { return !around.changed.contains(input); });
        const bool is_overwritten =
            is_view(node) && std::ranges::any_of(node.outputs, [&](const auto& output) {
                return output && writers_[*output] > 1;
            });
        if (!as_.brings_before || loop == loops_.end() || is_overwritten) {
            return steps;
        }
        if (loop->views.contains(input)) { // its step is looked at inside
            graph_.tensors[from.index].wanted = true;
        }
        bring_before(*loop, std::move(steps));
        return graph::sequence({});
    }

    void bring_before(Loop& loop, graph::Step steps) {
        brought_before_ = true;
        const Ends at_hand = std::exchange(ends_, begins_[loop.begin]);
        note_leaves(steps);
        begins_[loop.begin] = std::exchange(ends_, at_hand);
        loop.before.push_back(std::move(steps));
    }

    /// The host writes `tensor` of the pipeline there.
    void give(std::size_t tensor, TensorId place) {
        TESSERA_ASSERT(pipeline_.tensors[tensor].given);
        graph_.tensors[place.index].given = true;
        graph_.tensors[place.index].known = pipeline_.tensors[tensor].type.known;
        standing_[tensor] = place;
        planned_.writes.push_back({tensor, array_of(place)});
    }

    /// Where a tensor stands. The host writes one that stands nowhere yet, in runs.
    TensorId standing_or_given(std::size_t tensor) {
        if (!standing_[tensor]) {
            give_in_runs(tensor);
        }
        return *standing_[tensor];
    }
    void give_in_runs(std::size_t tensor) { give(tensor, add_runs(pipeline_.tensors[tensor])); }

    /// As a framework puts it: runs of elements in the order of the tiles.
    TensorId add_runs(const Tensor& tensor) {
        return graph::add_runs(
            graph_, {0, tiles_},
            {.name = tensor.name, .type = tensor.type.type, .shape = tensor.type.stored_shape()},
            (tensor.grain_bytes + 7) / 8 * 8);
    }

    void note_leaves(const graph::Step& step) {
        using Kind = graph::Step::Kind;
        const bool is_leaf =
            step.kind == Kind::ComputeSet ? !graph_.compute_sets[step.index].vertices.empty()
            : step.kind == Kind::Exchange ? !graph_.exchanges[step.index].messages.empty()
                                          : step.kind == Kind::StreamCopy;
        if (is_leaf) {
            ends_ = {{Leaf{step.kind, step.index}}, {}};
        }
        for (const graph::Step& child : step.children) {
            note_leaves(child);
        }
    }

    /// A tensor that another one is a view of cannot be written anew; nor can a view of it be
    /// written over it.
    void refuse_views(std::size_t tensor, TensorId by, const Node& node) const {
        const TensorId written = *standing_[tensor];
        std::set<std::uint32_t> buffers;
        for (const graph::Piece& piece : graph_.tensors[written.index].pieces) {
            buffers.insert(piece.place.buffer.index);
        }
        const auto refuse_if_view = [&](TensorId other, const std::string& called) {
            for (const graph::Piece& piece : graph_.tensors[other.index].pieces) {
                if (buffers.contains(piece.place.buffer.index)) {
                    throw NotModelled(fmt::format(
                        "{}: step '{}' writes '{}' anew, of which {} is a view: not modelled; "
                        "see docs/kernels.md#pipelines",
                        pipeline_.name, node.name, pipeline_.tensors[tensor].name, called));
                }
            }
        };
        if (by != written) {
            refuse_if_view(by, "its own output");
        }
        for (std::size_t other = 0; other < standing_.size(); ++other) {
            if (other != tensor && standing_[other]) {
                refuse_if_view(*standing_[other], "'" + pipeline_.tensors[other].name + "'");
            }
        }
    }

    /// Lowering keeps the order of a graph's tensors.
    static program::ArrayId array_of(TensorId tensor) { return program::tensor(tensor.index); }

    /// What no later step reads is a result, and so are what the last step makes and what is stored.
    void want_results() {
        const Finished& last = planned_.finished.back();
        for (std::size_t i = 0; i < last.outputs.size(); ++i) {
            const auto tensor = last.node->outputs[i];
            if (tensor && pipeline_.tensors[*tensor].is_left) {
                // a store has a row of the tensor alone; another step may have written the tensor where
                // words decide
                const bool is_there =
                    last.node->kind != Node::Kind::Store && standing_[*tensor] && !last.may_not_run;
                planned_.results.push_back(
                    {*tensor, is_there ? last.outputs[i] : *left_at(*tensor)});
            }
        }
        const auto of_last = planned_.results;
        for (std::size_t tensor = 0; tensor < standing_.size(); ++tensor) {
            const bool is_told = std::ranges::any_of(
                of_last, [&](const Standing& result) { return result.tensor == tensor; });
            const auto left = left_at(tensor);
            if (!is_told && left && pipeline_.tensors[tensor].is_left &&
                (is_unread_[tensor] || pipeline_.tensors[tensor].wanted ||
                 left->kind == program::ArrayId::Kind::RemoteBuffer)) {
                planned_.results.push_back({tensor, *left});
            }
        }
        for (Standing& result : planned_.results) {
            if (result.array.kind == program::ArrayId::Kind::Tensor) {
                graph_.tensors[result.array.index].wanted = true;
                result.encoder = encoder_of(TensorId{result.array.index});
            }
        }
    }
    /// Where the program leaves a tensor. Nothing: it makes no such tensor.
    [[nodiscard]] std::optional<program::ArrayId> left_at(std::size_t tensor) const {
        if (pipeline_.tensors[tensor].outside) {
            return writers_[tensor] > 0 ? std::optional(program::remote_buffer(buffers_.at(tensor)))
                                        : std::nullopt;
        }
        return standing_[tensor] ? std::optional(array_of(*standing_[tensor])) : std::nullopt;
    }

    const spec::MachineSpec& machine_;
    const Pipeline& pipeline_;
    Try as_;
    exchange_plan::KnownSchedules& known_;
    graph::Graph graph_;
    std::int64_t tiles_;                            ///< that steps run on: the first ones
    std::vector<std::optional<TensorId>> standing_; ///< by tensor of the pipeline
    std::vector<std::int64_t> readers_;             ///< the same
    std::vector<bool> is_unread_;       ///< the same: no step reads what was written last
    std::vector<std::int64_t> writers_; ///< the same
    std::vector<Loop> loops_;           ///< around the step at hand
    bool brought_before_ = false;
    bool may_try_less_ = true;
    std::uint64_t outline_ = 0;
    std::shared_ptr<lower::Lowered> alone_; ///< of a step without a name
    Ends ends_{{}, {kStart}};
    std::vector<Ends> begins_{
        Ends{}};                      ///< what is complete before the program, and before each loop
    std::vector<Ends> finished_ends_; ///< by planned_.finished
    std::map<std::size_t, Made> made_; ///< by tensor of the pipeline
    std::size_t made_count_ = 0;
    std::map<std::size_t, std::uint32_t> buffers_;    ///< of tensors outside the tiles
    std::map<std::size_t, graph::RowStack> stacks_;   ///< of those in rows on the tiles
    std::set<std::size_t> picked_;                    ///< of them those of which steps name rows
    std::map<std::size_t, std::size_t> next_buffers_; ///< the first one of a tensor's next patterns
    std::map<std::size_t, std::vector<TensorId>> forms_; ///< of tensors with a capacity
    /// Of the graph's tensors that stand in buckets: what knows them.
    std::map<std::uint32_t, const family::Step*> encoders_;
    std::map<std::size_t, family::SharedMatrix> matrices_; ///< by tensor
    bool may_not_run_ = false;                             ///< of the step at hand
    Planned planned_;
};

} // namespace

namespace {

void check_io_tiles(const spec::MachineSpec& machine, const Pipeline& pipeline) {
    const std::int64_t most = machine.chip.tiles / 2;
    if (pipeline.io_tiles > most || pipeline.io_tiles % 2 != 0) {
        throw ConfigError(Diagnostic{
            "",
            0,
            0,
            "/io_tiles",
            fmt::format(
                "got {} IO tiles, expected an even number up to {} on machine '{}' with its "
                "{} tiles (chip.tiles)",
                pipeline.io_tiles, most, machine.name, machine.chip.tiles),
            {}});
    }
}

} // namespace

Planned plan(const spec::MachineSpec& machine, const Pipeline& pipeline) {
    exchange_plan::KnownSchedules known;
    return plan(machine, pipeline, known);
}

Planned plan(const spec::MachineSpec& machine, const Pipeline& pipeline,
             exchange_plan::KnownSchedules& known) {
    check_io_tiles(machine, pipeline);
    Try as;
    std::uint64_t without_room = 0;
    std::exception_ptr answer;
    for (int tries = 0;;) {
        Emitter emitter(machine, pipeline, as, known);
        try {
            if (std::optional<Planned> planned = emitter.run(without_room)) {
                return std::move(*planned);
            }
        } catch (const DoesNotFit&) {
            answer = std::current_exception();
            if (as.brings_before && emitter.brought_before()) {
                as.brings_before = false; // buffers may be the same then, but not as long
                continue;
            }
            without_room = emitter.outline();
            if (++tries == kTries || !emitter.may_try_less()) {
                throw;
            }
        }
        as.budget *= kNextBudget;
        if (as.budget < kLeastBudget) {
            std::rethrow_exception(answer);
        }
    }
}

} // namespace tessera::pipeline
