// SPDX-License-Identifier: MIT
#include "kernels/pipeline/pipeline.h"

#include "base/error.h"
#include "kernels/graph/append.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tessera::pipeline {
namespace {

using graph::Leaf;
using graph::TensorId;
using program::Role;

/// Of the memory, each further try to fit: docs/kernels.md#pipelines.
constexpr double kNextBudget = 0.85;
constexpr int kTries = 4;

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

class Emitter {
public:
    Emitter(const spec::MachineSpec& machine, const Pipeline& pipeline, double budget,
            plan::KnownSchedules& known)
        : machine_(machine), pipeline_(pipeline), budget_(budget), known_(known),
          graph_(pipeline.name), standing_(pipeline.tensors.size()),
          readers_(pipeline.tensors.size()) {
        count_readers(pipeline.steps);
    }

    /// After run() that found no room: whether less for each step may help.
    [[nodiscard]] bool may_try_less() const { return may_try_less_; }

    Planned run() {
        graph_.control = emit(pipeline_.steps, 0, machine_.chip.tiles);
        want_results();
        lower::Lowered lowered = alone_ != nullptr
                                     ? std::move(*alone_)
                                     : lower::lower(machine_, std::move(graph_), known_);
        for (std::size_t i = 0; i < planned_.finished.size(); ++i) {
            Finished& finished = planned_.finished[i];
            for (Leaf& leaf : finished.leaves) {
                const auto& numbers = leaf.kind == graph::Step::Kind::ComputeSet
                                          ? lowered.steps.set_numbers
                                          : lowered.steps.exchange_numbers;
                leaf.index = numbers.at(leaf.index);
            }
        }
        planned_.budget = budget_;
        planned_.lowered = std::move(lowered);
        return std::move(planned_);
    }

private:
    void count_readers(const std::vector<Node>& nodes) {
        for (const Node& node : nodes) {
            for (const std::size_t input : node.inputs) {
                ++readers_[input];
            }
            if (node.kind == Node::Kind::While || node.kind == Node::Kind::If) {
                ++readers_[node.word];
            }
            count_readers(node.children);
            count_readers(node.otherwise);
        }
    }

    graph::Step emit(const std::vector<Node>& nodes, TileId first_tile, std::int64_t tiles) {
        std::vector<graph::Step> steps;
        for (const Node& node : nodes) {
            switch (node.kind) {
            case Node::Kind::Step:
                steps.push_back(emit_step(node, first_tile, tiles));
                break;
            case Node::Kind::Repeat: {
                const bool around = std::exchange(in_loop_, true);
                steps.push_back(
                    graph::repeat(node.repeats, {emit(node.children, first_tile, tiles)}));
                in_loop_ = around;
                break;
            }
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
        return graph::sequence(std::move(steps));
    }

    graph::Step emit_while(const Node& node, TileId first_tile, std::int64_t tiles) {
        const Ends before = ends_;
        const bool in_loop = std::exchange(in_loop_, true);
        const bool may_not_run = std::exchange(may_not_run_, true);
        graph::Step steps = emit(node.children, first_tile, tiles);
        in_loop_ = in_loop;
        may_not_run_ = may_not_run;
        ends_.add(before);
        return graph::as_long_as(word_of(node), {std::move(steps)});
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
            ends_ = before; // no leaf of a branch comes before another branch's steps
            const std::size_t first_finished = planned_.finished.size();
            graph::Step steps = emit(branch.children, first_tile, branch.tiles);
            first_tile += static_cast<TileId>(branch.tiles);
            if (!all) {
                all = std::move(steps);
                continue;
            }
            auto woven = graph::side_by_side(graph_, *all, steps);
            all = std::move(woven.steps);
            const std::map<Leaf, Leaf> moved(woven.moved.begin(), woven.moved.end());
            for (std::size_t i = first_finished; i < planned_.finished.size(); ++i) {
                Finished& finished = planned_.finished.at(i);
                for (Leaf& leaf : finished.leaves) {
                    const auto now = moved.find(leaf);
                    leaf = now == moved.end() ? leaf : now->second;
                }
            }
        }
        ends_ = before;
        note_leaves(*all);
        return std::move(*all);
    }

    graph::Step emit_step(const Node& node, TileId first_tile, std::int64_t tiles) {
        const Sizes before = sizes();
        const family::Site site{part_of(machine_, tiles, budget_),
                                known_,
                                first_tile,
                                node.name,
                                in_loop_,
                                pipeline_.steps.size() == 1 && &node == &pipeline_.steps.front()};
        std::vector<std::optional<TensorId>> where;
        for (const std::size_t input : node.inputs) {
            where.push_back(standing_[input]);
        }
        family::Emitted emitted = emit_part(node, site, where);
        std::vector<graph::Step> steps;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            steps.push_back(bring(node, node.inputs[i], emitted.inputs.at(i)));
        }
        steps.push_back(std::move(emitted.steps));
        note_leaves(graph::sequence(steps));
        planned_.finished.push_back(
            {&node, array_of(emitted.output), ends_.leaves, ends_.is_start, may_not_run_});
        std::optional<TensorId>& standing = standing_[node.output];
        if (standing) { // written anew, where its readers have it
            refuse_views(*standing, emitted.output, node);
            steps.push_back(graph::add_copy(graph_, machine_, emitted.output, *standing,
                                            Role::Rearrange, node.name));
            note_leaves(steps.back());
        } else {
            standing = emitted.output;
        }
        name_after(node, before);
        return graph::sequence(std::move(steps));
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
        if (tensor.type.sparse != nullptr) {
            place.given = true;
            planned_.writes.push_back({input, array_of(wanted)});
            return graph::sequence({});
        }
        if (!standing_[input]) {
            const bool leaves_out = placed_elements(place) < tensor.type.elements();
            if (!tensor.row_major && ((readers_[input] == 1 && !tensor.wanted) || !leaves_out)) {
                give(input, wanted);
            }
        }
        const TensorId from = standing_or_given(input);
        if (from == wanted) {
            return graph::sequence({});
        }
        return graph::add_copy(graph_, machine_, from, wanted, Role::Rearrange, node.name);
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
            give(tensor, add_runs(pipeline_.tensors[tensor]));
        }
        return *standing_[tensor];
    }

    /// As a framework puts it: runs of elements in the order of the tiles.
    TensorId add_runs(const Tensor& tensor) {
        return graph::add_runs(
            graph_, {0, machine_.chip.tiles},
            {.name = tensor.name, .type = tensor.type.type, .shape = tensor.type.shape},
            (tensor.grain_bytes + 7) / 8 * 8);
    }

    void note_leaves(const graph::Step& step) {
        if (step.kind == graph::Step::Kind::ComputeSet ||
            step.kind == graph::Step::Kind::Exchange) {
            const bool is_set = step.kind == graph::Step::Kind::ComputeSet;
            if (is_set ? !graph_.compute_sets[step.index].vertices.empty()
                       : !graph_.exchanges[step.index].messages.empty()) {
                ends_ = {{Leaf{step.kind, step.index}}, false};
            }
        }
        for (const graph::Step& child : step.children) {
            note_leaves(child);
        }
    }

    /// A tensor that another one is a view of cannot be written anew; nor can a view of it be
    /// written over it.
    void refuse_views(TensorId written, TensorId by, const Node& node) const {
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
                        pipeline_.name, node.name, pipeline_.tensors[node.output].name, called));
                }
            }
        };
        refuse_if_view(by, "its own output");
        for (std::size_t other = 0; other < standing_.size(); ++other) {
            if (other != node.output && standing_[other]) {
                refuse_if_view(*standing_[other], "'" + pipeline_.tensors[other].name + "'");
            }
        }
    }

    /// Lowering keeps the order of a graph's tensors.
    static program::ArrayId array_of(TensorId tensor) { return program::tensor(tensor.index); }

    /// What no step reads is a result, and so is what the last step makes.
    void want_results() {
        const Finished& last = planned_.finished.back();
        if (pipeline_.tensors[last.node->output].is_left) {
            // another step may have written the tensor where words decide
            planned_.results.push_back(
                {last.node->output,
                 last.may_not_run ? array_of(*standing_[last.node->output]) : last.output});
        }
        for (std::size_t tensor = 0; tensor < standing_.size(); ++tensor) {
            if (tensor != last.node->output && standing_[tensor] &&
                pipeline_.tensors[tensor].is_left &&
                (readers_[tensor] == 0 || pipeline_.tensors[tensor].wanted)) {
                planned_.results.push_back({tensor, array_of(*standing_[tensor])});
            }
        }
        for (const Standing& result : planned_.results) {
            graph_.tensors[result.array.index].wanted = true;
        }
    }

    const spec::MachineSpec& machine_;
    const Pipeline& pipeline_;
    double budget_;
    plan::KnownSchedules& known_;
    graph::Graph graph_;
    std::vector<std::optional<TensorId>> standing_; ///< by tensor of the pipeline
    std::vector<std::int64_t> readers_;             ///< the same
    bool in_loop_ = false;                          ///< the step at hand
    bool may_try_less_ = true;
    std::shared_ptr<lower::Lowered> alone_; ///< of a step without a name
    /// Leaves after which what has been emitted is complete.
    struct Ends {
        std::vector<Leaf> leaves;
        bool is_start = false; ///< or before any leaf

        void add(const Ends& other) {
            leaves.insert(leaves.end(), other.leaves.begin(), other.leaves.end());
            std::sort(leaves.begin(), leaves.end());
            leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
            is_start = is_start || other.is_start;
        }
    };
    Ends ends_{{}, true};
    bool may_not_run_ = false; ///< of the step at hand
    Planned planned_;
};

} // namespace

Planned plan(const spec::MachineSpec& machine, const Pipeline& pipeline) {
    plan::KnownSchedules known;
    return plan(machine, pipeline, known);
}

Planned plan(const spec::MachineSpec& machine, const Pipeline& pipeline,
             plan::KnownSchedules& known) {
    double budget = 1;
    for (int tries = 1;; ++tries, budget *= kNextBudget) {
        Emitter emitter(machine, pipeline, budget, known);
        try {
            return emitter.run();
        } catch (const DoesNotFit&) {
            if (tries == kTries || !emitter.may_try_less()) {
                throw;
            }
        }
    }
}

} // namespace tessera::pipeline
