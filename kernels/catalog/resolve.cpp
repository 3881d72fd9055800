// SPDX-License-Identifier: MIT
#include "kernels/catalog/resolve.h"

#include "base/config/document.h"
#include "base/config/suggest.h"
#include "base/float8.h"
#include "kernels/family/numbers.h"
#include "kernels/own_codelet/own_codelet.h"
#include "kernels/workload/overflow.h"
#include "kernels/workload/shared_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace tessera::catalog {
namespace {

using family::TensorType;
using pipeline::Node;
using workload::PipelineStep;
using workload::PipelineTensor;
using workload::PipelineWorkload;
using workload::Place;
using workload::SparsePattern;
using Kind = PipelineStep::Kind;

/// Far more than a chip holds; sizes below it can be multiplied.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

constexpr Bytes kWordBytes = 4; ///< rows outside the tiles have whole ones

/// "f16 2708 x 1433"
std::string type_text(const TensorType& type) {
    return fmt::format("{} {}{}", name_of(type.type), family::shape_text(type),
                       type.sparse == nullptr ? "" : ", sparse");
}

bool has_too_many_elements(const std::vector<std::int64_t>& shape) {
    std::int64_t elements = 1;
    return std::any_of(shape.begin(), shape.end(), [&](std::int64_t size) {
        const bool fits = size >= 1 && elements <= kMostElements / size;
        elements = fits ? elements * size : kMostElements;
        return !fits;
    });
}

/// Returns whether the type of a tensor has the constant that fills it, as it is or rounded.
bool can_hold(const PipelineTensor& tensor) {
    const double number = tensor.values.constant;
    switch (tensor.type) {
    case ElementType::I32:
        return number == static_cast<double>(
                             static_cast<std::int32_t>(std::clamp(number, -0x1p31, 0x1p31 - 1)));
    case ElementType::U32:
        return number ==
               static_cast<double>(static_cast<std::uint32_t>(std::clamp(number, 0.0, 0x1p32 - 1)));
    case ElementType::F32:
        return std::fabs(number) <= static_cast<double>(std::numeric_limits<float>::max());
    case ElementType::F143:
    case ElementType::F152:
        return std::fabs(number) <= static_cast<double>(f8_to_f32(0x7f, tensor.type));
    default:
        return std::fabs(number) <= workload::kLargestF16;
    }
}

/// A matrix of these sizes in which nothing is stored.
std::shared_ptr<const SparsePattern> nothing_stored(const PipelineTensor& tensor) {
    auto matrix = std::make_shared<SparsePattern>();
    matrix->rows = tensor.shape.at(0);
    matrix->columns = tensor.shape.at(1);
    matrix->block = tensor.block;
    matrix->row_start.assign(static_cast<std::size_t>(matrix->block_rows()) + 1, 0);
    return matrix;
}

using Names = std::set<std::string>;

void add_outputs(const PipelineStep& step, Names& outputs) {
    if (step.is_leaf()) {
        outputs.insert(step.outputs.begin(), step.outputs.end());
        outputs.erase("");
    }
    visit_lists(step, [&](const char*, const std::vector<PipelineStep>& inside) {
        for (const PipelineStep& child : inside) {
            add_outputs(child, outputs);
        }
    });
}

class Resolver {
public:
    Resolver(const PipelineWorkload& workload, Families families, const SparseMatrices& sparse,
             const Names& told)
        : families_(families), told_(told) {
        note_passes(workload.steps);
        for (const PipelineTensor& tensor : workload.tensors) {
            if (tensor.like.empty()) {
                give(tensor, sparse);
            } else {
                add(tensor.name, std::nullopt, &tensor);
            }
        }
        for (const PipelineTensor& tensor : workload.tensors) {
            if (!tensor.like.empty()) {
                take_type(tensor);
            }
        }
        note_writers(workload.steps, "/steps");
        is_some_step_hidden_ = workload.steps.empty();
        io_tiles_ = workload.io_tiles;
        out_.pipeline.io_tiles = workload.io_tiles;
        run(workload.steps, "/steps", out_.pipeline.steps);
        for (const auto& [name, known] : known_) {
            tensor(known).is_left = true;
        }
        if (!is_some_step_hidden_) {
            tell_unread(workload);
        }
    }

    Resolved take() { return std::move(out_); }

private:
    /// A tensor that exists at the step at hand.
    struct Known {
        std::size_t index = 0;
        bool has_type = false; ///< false: a mistake hides it
        const PipelineTensor* given = nullptr;
        bool is_read = false;
    };

    using KnownTensors = std::map<std::string, Known>;

    /// The branch of a parallel that is walked, and what each branch of it writes.
    struct Branch {
        std::size_t number = 0;
        std::vector<Names> outputs;
    };

    void fail(std::string pointer, std::string message, std::string hint = {}) {
        out_.mistakes.push_back(
            {"", 0, 0, std::move(pointer), std::move(message), std::move(hint)});
    }

    /// A mistake at `pointer` or below it is known already.
    [[nodiscard]] bool is_told(const std::string& pointer) const {
        return told_.count(pointer) > 0 || is_told_inside(pointer);
    }
    [[nodiscard]] bool is_told_inside(const std::string& pointer) const {
        const std::string inside = pointer + "/";
        const auto first = told_.lower_bound(inside);
        return first != told_.end() && first->compare(0, inside.size(), inside) == 0;
    }

    /// The nearest of many names takes long to find: not for mistakes that nobody reads.
    [[nodiscard]] std::string near(const std::string& name, const std::vector<std::string>& names) {
        return out_.mistakes.size() < kMostMistakesTold ? config::nearest_name(name, names) : "";
    }
    static std::string question(const std::string& name) {
        return name.empty() ? "" : "did you mean '" + name + "'?";
    }

    pipeline::Tensor& tensor(const Known& known) { return out_.pipeline.tensors[known.index]; }

    Known& add(const std::string& name, std::optional<TensorType> type,
               const PipelineTensor* given) {
        Known& known = known_[name];
        known = {out_.pipeline.tensors.size(), type.has_value(), given, false};
        pipeline::Tensor& added = out_.pipeline.tensors.emplace_back();
        storages_.emplace_back();
        added.name = name;
        added.is_left = false; // until all steps have been walked
        added.type = type ? std::move(*type) : TensorType{};
        if (given != nullptr) {
            added.given = true;
            added.row_major = given->row_major;
            added.in_rows = given->place == Place::TileRows;
            if (given->place != Place::Tiles && !added.in_rows) {
                added.outside = given->place == Place::Host
                                    ? program::RemoteBuffer::Place::Host
                                    : program::RemoteBuffer::Place::StreamingMemory;
            }
            added.grain_bytes = given->grain_bytes;
            added.is_returned = given->sequence.has_value() || !given->like.empty();
        }
        return known;
    }

    void give(const PipelineTensor& tensor, const SparseMatrices& sparse) {
        const std::string pointer = "/tensors/" + tensor.name;
        if (is_told(pointer) || tensor.shape.empty()) {
            add(tensor.name, std::nullopt, &tensor);
            return;
        }
        if (has_too_many_elements(tensor.shape)) {
            fail(pointer + "/shape", fmt::format("got {} elements, expected at most {}",
                                                 fmt::join(tensor.shape, " x "), kMostElements));
            add(tensor.name, std::nullopt, &tensor);
            return;
        }
        if (!can_hold(tensor)) {
            fail(pointer + "/constant",
                 fmt::format("got {}, expected {} that {} holds", tensor.values.constant,
                             is_float(tensor.type) ? "a number" : "a whole number",
                             name_of(tensor.type)));
        }
        if (tensor.below != 0 && is_float(tensor.type)) {
            fail(pointer + "/below",
                 fmt::format("got a bound of elements of {}, expected it of i32 or u32",
                             name_of(tensor.type)));
        }
        TensorType type{tensor.type, tensor.shape};
        type.known = tensor.known;
        if (tensor.place != Place::Tiles) {
            check_rows(tensor, type, pointer);
        }
        if (tensor.is_sparse()) {
            const auto found = sparse.find(tensor.name);
            type.sparse = found == sparse.end() ? nothing_stored(tensor) : found->second;
            give_capacity(tensor, type);
        }
        add(tensor.name, std::move(type), &tensor);
    }

    /// Gives a tensor in the buckets of another the type of that one, which may be given behind it.
    void take_type(const PipelineTensor& given) {
        const auto other = known_.find(given.like);
        const bool is_known = other != known_.end();
        const bool is_hidden =
            is_known && !other->second.has_type && other->second.given->like.empty();
        if (is_hidden || is_told("/tensors/" + given.name)) {
            return;
        }
        if (!is_known || other->second.given->patterns() == 0 ||
            !tensor(other->second).type.capacity) {
            const Names all = names();
            fail("/tensors/" + given.name + "/like",
                 fmt::format("got '{}', expected a tensor with \"mode\": \"dynamic\" and a "
                             "sequence",
                             given.like),
                 is_known ? "" : question(near(given.like, {all.begin(), all.end()})));
            return;
        }
        Known& known = known_.at(given.name);
        known.has_type = true;
        tensor(known).type = tensor(other->second).type;
        tensor(known).like = other->second.index;
    }

    /// Unless it is told the capacity is what the pattern has: of a pattern without blocks, one.
    void give_capacity(const PipelineTensor& tensor, TensorType& type) {
        const std::string pointer = "/tensors/" + tensor.name + "/sequence";
        if ((tensor.sequence || tensor.folder) && !tensor.is_dynamic) {
            fail(pointer, "got a sequence of patterns, expected \"mode\": \"dynamic\" with it");
        }
        if (tensor.sequence) {
            const bool by_gradient =
                tensor.sequence->regrow == workload::Schedule::Regrow::Gradient;
            if (by_gradient && tensor.sequence->gradients.empty()) {
                fail(pointer + "/gradients",
                     "missing, expected the name of a tensor with the norms of the gradient's "
                     "blocks, as \"regrow\": \"gradient\" needs them");
            } else if (!by_gradient && !tensor.sequence->gradients.empty()) {
                fail(pointer + "/gradients", "got a tensor of norms, which \"regrow\": \"random\" "
                                             "does not use, expected \"gradient\" with it");
            }
        }
        if (!tensor.is_dynamic) {
            return;
        }
        type.capacity = workload::Capacity{
            .block = tensor.block, .density = tensor.capacity, .excess = tensor.excess};
        const SparsePattern& pattern = *type.sparse;
        if (type.capacity->density == 0) {
            const auto all = static_cast<double>(pattern.block_rows()) *
                             static_cast<double>(pattern.block_columns());
            type.capacity->density =
                static_cast<double>(std::max<std::int64_t>(1, pattern.blocks())) / all;
        }
        type.capacity->input_gradient = read_transposed_.contains(tensor.name);
        type.capacity->values_gradient = sampled_.contains(tensor.name);
    }

    /// Which first inputs are read as their transposes, and of which the values have a gradient.
    void note_passes(const std::vector<PipelineStep>& steps) {
        for (const PipelineStep& step : steps) {
            const auto transposed = step.options.find("transpose_a");
            const family::Family* family = find(step.family, families_);
            if (step.is_leaf() && !step.inputs.empty()) {
                if (transposed != step.options.end() &&
                    transposed->second == PipelineStep::OptionValue(true)) {
                    read_transposed_.insert(step.inputs.front());
                }
                if (family != nullptr && family->samples_first) {
                    sampled_.insert(step.inputs.front());
                }
            }
            visit_lists(step, [&](const char*, const std::vector<PipelineStep>& inside) {
                note_passes(inside);
            });
        }
    }

    /// Sets the number of columns: all products with one matrix have as many columns as the first, for which it is planned.
    void take_columns(const PipelineStep& step, const std::vector<const Known*>& inputs,
                      const std::string& pointer) {
        if (inputs.size() < 2 || !tensor(*inputs.front()).type.capacity) {
            return;
        }
        auto& capacity = tensor(*inputs.front()).type.capacity;
        const std::vector<std::int64_t>& dense = tensor(*inputs[1]).type.shape;
        const auto turned = step.options.find("transpose_b");
        const bool is_turned =
            turned != step.options.end() && turned->second == PipelineStep::OptionValue(true);
        const std::size_t rank = dense.size();
        const std::int64_t n = rank < 2 ? 1 : dense[rank - (is_turned ? 2 : 1)];
        if (capacity->n != 0 && capacity->n != n) {
            fail(pointer + "/inputs/1",
                 fmt::format("got a matrix with {} columns, expected {} as the first product with "
                             "'{}' has",
                             n, capacity->n, tensor(*inputs.front()).name));
        }
        capacity->n = capacity->n == 0 ? n : capacity->n;
    }

    /// Checks a tensor in rows.
    void check_rows(const PipelineTensor& tensor, const TensorType& type,
                    const std::string& pointer) {
        const Bytes row_bytes = type.elements() / type.shape.front() * bytes_of(type.type);
        if (row_bytes % kWordBytes != 0) {
            fail(pointer + "/shape",
                 fmt::format("got rows of {} bytes, expected whole words of {} bytes", row_bytes,
                             kWordBytes));
        }
        if (tensor.row_major) {
            fail(pointer + "/layout", "got row_major, expected it of a tensor on the tiles alone",
                 "outside the tiles all tensors stand so");
        }
        if (tensor.place == Place::TileRows && tensor.known) {
            fail(pointer + "/known", "got it of a tensor in rows on the tiles, expected it of one "
                                     "elsewhere: timing mode does not follow such rows");
        }
    }

    /// Which step is the first to write a tensor.
    void note_writers(const std::vector<PipelineStep>& steps, const std::string& list) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const PipelineStep& step = steps[i];
            const std::string pointer = fmt::format("{}/{}", list, i);
            if (step.kind == Kind::Next) {
                continue; // of what is given
            }
            if (step.is_leaf()) {
                for (const std::string& output : step.outputs) {
                    writers_.emplace(output, pointer);
                }
            } else {
                visit_lists(step, [&](const char* key, const std::vector<PipelineStep>& inside) {
                    note_writers(inside, pointer + "/" + key);
                });
            }
        }
    }

    void run(const std::vector<PipelineStep>& steps, const std::string& list,
             std::vector<Node>& out) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            run_one(steps[i], fmt::format("{}/{}", list, i), out.emplace_back());
        }
    }

    void run_one(const PipelineStep& step, std::string pointer, Node& made) {
        made.pointer = std::move(pointer);
        made.name = step.called();
        is_some_step_hidden_ = is_some_step_hidden_ || (!step.is_leaf() && step.children.empty());
        switch (step.kind) {
        case Kind::Family:
            kernel(step, made);
            return;
        case Kind::Codelet:
            codelet(step, made);
            return;
        case Kind::Load:
            made.kind = Node::Kind::Load;
            move_row(step, made, "load");
            return;
        case Kind::Store:
            made.kind = Node::Kind::Store;
            move_row(step, made, "store");
            return;
        case Kind::Next:
            made.kind = Node::Kind::Next;
            next_pattern(step, made);
            return;
        case Kind::Repeat:
            made.kind = Node::Kind::Repeat;
            made.repeats = step.repeats;
            repeat(step, made);
            return;
        case Kind::While:
            made.kind = Node::Kind::While;
            loop(step, made);
            return;
        case Kind::If:
            made.kind = Node::Kind::If;
            condition(step, made);
            return;
        case Kind::Parallel:
            parallel(step, made);
            return;
        case Kind::Branch:
            made.kind = Node::Kind::Branch;
            made.tiles = step.tiles;
            branch_tiles(step, made.pointer);
            break;
        }
        run(step.children, made.pointer + "/steps", made.children);
    }

    void repeat(const PipelineStep& step, Node& made) {
        const std::string pointer = made.pointer + "/repeat";
        refuse_in_branch("repeat", pointer);
        const std::int64_t around = rounds_;
        if (step.repeats > workload::kMostRounds / around) {
            fail(pointer,
                 fmt::format("got {} times in repeats that make {} rounds, expected at most "
                             "{} rounds in all",
                             step.repeats, around, workload::kMostRounds));
        } else {
            rounds_ *= step.repeats; // otherwise one mistake is enough
        }
        const PipelineStep* const around_it = std::exchange(innermost_, &step);
        run(step.children, made.pointer + "/steps", made.children);
        innermost_ = around_it;
        rounds_ = around;
    }

    void refuse_in_branch(const std::string& kind, const std::string& pointer) {
        if (branch_ != nullptr) {
            fail(pointer, fmt::format("{} inside a branch of parallel is not supported yet", kind),
                 fmt::format("{} {} may stand around the parallel", kind == "if" ? "an" : "a",
                             kind));
        }
    }

    /// Of a load or a store.
    void move_row(const PipelineStep& step, Node& made, const std::string& key) {
        const bool loads = made.kind == Node::Kind::Load;
        const std::string from = made.pointer + "/" + key;
        const std::string into = pointer_of_output(step, made.pointer, 0);
        refuse_in_branch(key, from);
        name_step(step, made.pointer);
        made.row = step.row;
        made.row_a_round = step.row_a_round;
        made.prefetch = step.prefetch;
        made.rounds = innermost_rounds();
        check_prefetch(step, made.pointer);
        check_stacked(step, loads, from);
        made.outputs.resize(step.outputs.size());
        const Known* const source =
            step.inputs.empty() ? nullptr : placed(step.inputs.front(), loads, from);
        if (source != nullptr) {
            made.inputs = {source->index};
            auto& storage = storages_[source->index];
            storage = storage.value_or(storages_made_++);
        }
        const bool has_type = source != nullptr && source->has_type;
        is_some_step_hidden_ = is_some_step_hidden_ || step.inputs.empty() || step.outputs.empty();
        if (step.outputs.empty()) {
            return;
        }
        if (loads) {
            write(step, 0, has_type ? row_of(*source, step, made.pointer) : std::nullopt,
                  storages_made_++, made);
            return;
        }
        const Known* const target = placed(step.outputs.front(), true, into);
        if (target == nullptr) {
            return;
        }
        made.outputs.front() = target->index;
        const auto row = target->has_type ? row_of(*target, step, made.pointer) : std::nullopt;
        if (!row || !has_type) {
            return;
        }
        const TensorType& type = tensor(*source).type;
        if (type.sparse != nullptr || type.type != row->type || type.shape != row->shape) {
            fail(from, fmt::format("got {} to be stored as a row of '{}', expected {}",
                                   type_text(type), step.outputs.front(), type_text(*row)));
        }
    }

    [[nodiscard]] std::int64_t innermost_rounds() const {
        return innermost_ == nullptr ? 1 : innermost_->repeats;
    }

    /// Whether the step is one of those that the innermost repeat itself does in each round.
    [[nodiscard]] bool is_in_each_round(const PipelineStep& step) const {
        return innermost_ != nullptr &&
               std::ranges::any_of(innermost_->children,
                                   [&](const PipelineStep& child) { return &child == &step; });
    }

    /// Of a load or a store of rows on the tiles.
    void check_stacked(const PipelineStep& step, bool loads, const std::string& pointer) {
        const std::vector<std::string>& names = loads ? step.inputs : step.outputs;
        const auto rows = names.empty() ? known_.end() : known_.find(names.front());
        const bool is_stacked = rows != known_.end() && rows->second.given != nullptr &&
                                rows->second.given->place == Place::TileRows;
        if (is_stacked && innermost_ != nullptr && !is_in_each_round(step)) {
            fail(pointer, fmt::format("got rows of '{}' to be moved inside an if or a while, "
                                      "expected it in each round of the repeat: they stand on "
                                      "the tiles",
                                      names.front()));
        } else if (is_stacked && step.prefetch > 0) {
            fail(pointer.substr(0, pointer.rfind('/')) + "/prefetch",
                 fmt::format("got rows of '{}' to be brought ahead, expected 0: they stand on the "
                             "tiles",
                             names.front()));
        }
    }

    void check_prefetch(const PipelineStep& step, const std::string& pointer) {
        if (step.prefetch == 0) {
            return;
        }
        const std::string at = pointer + "/prefetch";
        if (io_tiles_ == 0) {
            fail(at, "got rows to be brought ahead without IO tiles, expected \"io_tiles\"",
                 "it stands beside \"steps\"");
        } else if (!is_in_each_round(step)) {
            fail(at, "got rows to be brought ahead, expected a load that is itself a step of a "
                     "repeat");
        } else if (stores_ahead(*innermost_, step)) {
            fail(at, fmt::format("got rows of '{}' to be brought ahead, expected rows that no step "
                                 "of the rounds before stores",
                                 step.inputs.front()));
        }
    }

    /// Whether a round stores the row that the load of a later one has brought already.
    static bool stores_ahead(const PipelineStep& repeat, const PipelineStep& load) {
        Stores stores;
        add_stores(repeat, load.inputs.front(), stores);
        for (const PipelineStep* store : stores) {
            for (std::int64_t ahead = 1; ahead <= std::min(load.prefetch, repeat.repeats - 1);
                 ahead++) {
                // row + by (round + ahead) of the load is that of the store in `round`
                const std::int64_t by = load.row_a_round - store->row_a_round;
                const std::int64_t apart = store->row - load.row - load.row_a_round * ahead;
                const bool meets = by == 0 ? apart == 0
                                           : apart % by == 0 && apart / by >= 0 &&
                                                 apart / by + ahead < repeat.repeats;
                if (meets) {
                    return true;
                }
            }
        }
        return false;
    }
    using Stores = std::vector<const PipelineStep*>;
    static void add_stores(const PipelineStep& around, const std::string& into, Stores& stores) {
        visit_lists(around, [&](const char*, const std::vector<PipelineStep>& inside) {
            for (const PipelineStep& step : inside) {
                if (step.kind == Kind::Store && !step.outputs.empty() &&
                    step.outputs.front() == into) {
                    stores.push_back(&step);
                }
                add_stores(step, into, stores);
            }
        });
    }

    /// Null if the tensor is not there, or elsewhere than the load or the store at hand has it.
    const Known* placed(const std::string& name, bool in_rows, const std::string& pointer) {
        if (is_told(pointer) || !may_read(name, pointer)) {
            return nullptr;
        }
        Known& known = known_.at(name);
        known.is_read = true;
        return is_placed(known, in_rows, name, pointer) ? &known : nullptr;
    }

    /// What a row of the tensor is. Nothing if the step's rows are not all there.
    std::optional<TensorType> row_of(const Known& known, const PipelineStep& step,
                                     const std::string& pointer) {
        const TensorType& all = tensor(known).type;
        TensorType row{all.type, {all.shape.begin() + 1, all.shape.end()}};
        row.known = all.known;
        const std::int64_t rows = all.shape.front();
        const std::int64_t last = step.row + (innermost_rounds() - 1) * step.row_a_round;
        const std::string& name = tensor(known).name;
        if (step.row >= rows || last < 0 || last >= rows) {
            fail(pointer + (step.row >= rows ? "/row" : "/row_a_round"),
                 fmt::format("got row{} of '{}', expected rows 0 to {}, which are all",
                             last == step.row ? fmt::format(" {}", last)
                                              : fmt::format("s {} to {}", step.row, last),
                             name, rows - 1));
            return std::nullopt;
        }
        return row;
    }

    /// Whether the tensor is whole on the tiles, or in rows, as the step has it.
    bool is_placed(const Known& known, bool in_rows, const std::string& name,
                   const std::string& pointer) {
        const bool stands_in_rows = known.given != nullptr && known.given->place != Place::Tiles;
        const bool is_hidden = known.given != nullptr && !known.has_type;
        if (stands_in_rows == in_rows || is_hidden) {
            return true;
        }
        fail(pointer,
             in_rows ? fmt::format("got '{}', which is on the tiles, expected a tensor with place "
                                   "host, remote or tile_rows",
                                   name)
             : known.given->place == Place::TileRows
                 ? fmt::format("got '{}', which is in rows on the tiles, expected one as a whole",
                               name)
                 : fmt::format("got '{}', which is outside the tiles, expected one on them", name),
             in_rows ? "" : "a step \"load\" brings a row of it");
        return false;
    }

    void loop(const PipelineStep& step, Node& made) {
        const std::string pointer = made.pointer + "/while";
        refuse_in_branch("while", pointer);
        const bool is_good = decide(step, pointer, made);
        const Names before = names();
        run(step.children, made.pointer + "/steps", made.children);
        take_new(before, made.pointer);
        Names outputs;
        add_outputs(step, outputs);
        if (is_good && !is_some_step_hidden_ && outputs.count(step.word) == 0) {
            fail(pointer,
                 fmt::format("no step of the loop writes '{}', expected one that does", step.word),
                 "otherwise the loop would never end");
        }
    }

    void condition(const PipelineStep& step, Node& made) {
        const std::string pointer = made.pointer + "/if";
        refuse_in_branch("if", pointer);
        decide(step, pointer, made);
        const Names before = names();
        run(step.children, made.pointer + "/then", made.children);
        const KnownTensors of_then = take_new(before, made.pointer);
        const KnownTensors* const around = std::exchange(of_then_, &of_then);
        run(step.otherwise, made.pointer + "/else", made.otherwise);
        of_then_ = around;
        for (const auto& written : take_new(before, made.pointer)) {
            if (of_then.count(written.first) > 0) {
                known_.insert(written);
            }
        }
    }

    [[nodiscard]] Names names() const {
        Names names;
        for (const auto& [name, known] : known_) {
            names.insert(name);
        }
        return names;
    }

    /// Steps at `pointer` that may not run do not make tensors for those behind them. Returns the tensors
    /// that they have added.
    KnownTensors take_new(const Names& before, const std::string& pointer) {
        KnownTensors added;
        for (auto known = known_.begin(); known != known_.end();) {
            const auto next = std::next(known);
            if (before.count(known->first) == 0) {
                inner_[known->first] = pointer;
                added.insert(known_.extract(known));
            }
            known = next;
        }
        return added;
    }

    /// Notes the word that decides. False if there is a mistake.
    bool decide(const PipelineStep& step, const std::string& pointer, Node& made) {
        if (step.word.empty() || is_told(pointer) || !may_read(step.word, pointer) ||
            !is_placed(known_.at(step.word), false, step.word, pointer)) {
            return false;
        }
        Known& known = known_.at(step.word);
        known.is_read = true;
        if (!known.has_type) {
            return false;
        }
        const TensorType& type = tensor(known).type;
        made.word = known.index;
        made.element = step.element;
        if (type.sparse != nullptr ||
            (type.type != ElementType::I32 && type.type != ElementType::U32)) {
            fail(pointer, fmt::format("got '{}' of type {}, expected i32 or u32", step.word,
                                      type.sparse != nullptr ? "sparse " + type_text(type)
                                                             : std::string(name_of(type.type))));
            return false;
        }
        if (step.element >= type.elements()) {
            fail(made.pointer + "/element",
                 fmt::format("got {} in '{}' of {} elements, expected a smaller number",
                             step.element, step.word, type.elements()));
            return false;
        }
        return true;
    }

    void next_pattern(const PipelineStep& step, Node& made) {
        const std::string pointer = made.pointer + "/next";
        refuse_in_branch("next", pointer);
        name_step(step, made.pointer);
        if (step.inputs.empty() || is_told(made.pointer) ||
            !may_read(step.inputs.front(), pointer)) {
            return;
        }
        Known& known = known_.at(step.inputs.front());
        known.is_read = true;
        if (!known.has_type) {
            return;
        }
        const bool has_sequence =
            known.given != nullptr && (known.given->sequence || known.given->folder);
        if (!has_sequence || !tensor(known).type.capacity) {
            fail(
                pointer,
                fmt::format("got '{}', expected a tensor with \"mode\": \"dynamic\" and a sequence",
                            step.inputs.front()));
            return;
        }
        const std::int64_t patterns = known.given->patterns();
        if (rounds_ > patterns) {
            fail(pointer, fmt::format("got {} rounds, expected at most as many as '{}' has "
                                      "patterns in its sequence, {}",
                                      rounds_, step.inputs.front(), patterns));
        }
        made.inputs = {known.index};
        for (const pipeline::Tensor& other : out_.pipeline.tensors) {
            if (other.like == known.index) {
                made.inputs.push_back(known_.at(other.name).index);
            }
        }
        made.outputs.assign(made.inputs.begin(), made.inputs.end());
        if (known.given->sequence && !known.given->sequence->gradients.empty()) {
            take_gradients(known);
        }
    }

    /// The norms of gradients by which a tensor's blocks come.
    void take_gradients(const Known& of) {
        const std::string& name = of.given->sequence->gradients;
        const std::string pointer = "/tensors/" + of.given->name + "/sequence/gradients";
        if (is_told(pointer) || !may_read(name, pointer)) {
            return;
        }
        Known& norms = known_.at(name);
        norms.is_read = true;
        if (!norms.has_type) {
            return;
        }
        const SparsePattern& pattern = *tensor(of).type.sparse;
        const TensorType wanted{ElementType::F32,
                                {1, pattern.block_rows(), pattern.block_columns()}};
        const TensorType& type = tensor(norms).type;
        const bool is_on_host = norms.given != nullptr && norms.given->place == Place::Host;
        if (!is_on_host || type.sparse != nullptr || type.type != wanted.type ||
            type.shape != wanted.shape) {
            fail(pointer,
                 fmt::format("got '{}' of {}, expected {} with place host: a norm for each "
                             "block of '{}'",
                             name, type_text(type), type_text(wanted), of.given->name));
        } else if (!writers_.contains(name)) {
            fail(pointer, fmt::format("no step stores into '{}', expected one that does", name));
        }
        tensor(of).gradients = norms.index;
    }

    void branch_tiles(const PipelineStep& step, const std::string& pointer) {
        if (step.tiles % 2 != 0 && !is_told(pointer + "/tiles")) {
            fail(pointer + "/tiles",
                 fmt::format("got {} tiles, expected an even number: whole pairs", step.tiles));
        }
    }

    void parallel(const PipelineStep& step, Node& made) {
        made.kind = Node::Kind::Parallel;
        const std::string list = made.pointer + "/parallel";
        if (branch_ != nullptr) {
            fail(list, "parallel inside a branch of parallel is not supported yet");
        }
        Branch branch;
        for (const PipelineStep& child : step.children) {
            add_outputs(child, branch.outputs.emplace_back());
        }
        const Branch* around = std::exchange(branch_, &branch);
        for (branch.number = 0; branch.number < step.children.size(); ++branch.number) {
            run_one(step.children[branch.number], fmt::format("{}/{}", list, branch.number),
                    made.children.emplace_back());
        }
        branch_ = around;
    }

    void kernel(const PipelineStep& step, Node& made) {
        const std::string& pointer = made.pointer;
        const family::Family* family = find(step.family, families_);
        std::vector<TensorType> types; // of the outputs; none: a mistake hides them
        std::vector<const Known*> inputs = read(step, pointer);
        if (step.family.empty() || is_told(pointer)) {
            is_some_step_hidden_ = is_some_step_hidden_ || step.inputs.empty();
        } else if (family == nullptr) {
            std::vector<std::string> names;
            for (const family::Family* known : families_) {
                names.emplace_back(known->name);
            }
            fail(pointer + "/family",
                 fmt::format("got '{}', expected one of {}", step.family, fmt::join(names, ", ")),
                 question(near(step.family, names)));
        } else if (step.inputs.size() > family->inputs.size() ||
                   step.inputs.size() + family->optional_inputs < family->inputs.size()) {
            const std::size_t least = family->inputs.size() - family->optional_inputs;
            fail(pointer + "/inputs",
                 fmt::format("got {} tensors, expected {}{}: {}", step.inputs.size(),
                             least < family->inputs.size() ? fmt::format("{} to ", least) : "",
                             family->inputs.size(), fmt::join(family->inputs, ", ")));
        } else if (std::all_of(inputs.begin(), inputs.end(), [](const Known* input) {
                       return input != nullptr && input->has_type;
                   })) {
            made.family = family;
            if (family->multiplies_first) {
                take_columns(step, inputs, pointer);
            }
            const auto& like = tensor(*inputs.front()).like;
            if (like && (family->multiplies_first || family->samples_first)) {
                fail(pointer + "/inputs/0",
                     fmt::format("got '{}', which is in the buckets of '{}', expected that one",
                                 step.inputs.front(), out_.pipeline.tensors[*like].name));
            } else {
                types = make(step, inputs, made);
            }
        }
        name_step(step, pointer);
        write_all(step, types, made);
    }
    /// `types`: none where a mistake hides them.
    void write_all(const PipelineStep& step, const std::vector<TensorType>& types, Node& made) {
        made.outputs.resize(step.outputs.size());
        for (std::size_t i = 0; i < step.outputs.size(); ++i) {
            const std::size_t storage = storage_of_output(made);
            if (!step.outputs[i].empty()) {
                write(step, i, i < types.size() ? std::optional(types[i]) : std::nullopt, storage,
                      made);
            }
        }
    }

    /// A step with a codelet of the user's own. One whose files were not found is not looked into.
    void codelet(const PipelineStep& step, Node& made) {
        const std::vector<const Known*> inputs = read(step, made.pointer);
        std::vector<TensorType> types;
        made.family = &own_codelet::family();
        const bool is_whole = std::ranges::all_of(
            inputs, [](const Known* input) { return input != nullptr && input->has_type; });
        is_some_step_hidden_ = is_some_step_hidden_ || is_told(made.pointer);
        if (is_whole && !is_told(made.pointer)) {
            std::vector<TensorType> read_types;
            for (const Known* input : inputs) {
                made.inputs.push_back(input->index);
                read_types.push_back(tensor(*input).type);
            }
            try {
                made.step = own_codelet::make(*step.own, made.pointer, read_types);
                types = made.step->outputs();
            } catch (const ConfigError& error) { // some of them in the vertex file
                const auto& found = error.diagnostics();
                out_.mistakes.insert(out_.mistakes.end(), found.begin(), found.end());
            }
        }
        name_step(step, made.pointer);
        write_all(step, types, made);
    }

    /// Where an output of the step is made. A tensor that the host gives stands where its first reader
    /// has it; with row_major that reader has a copy.
    std::size_t storage_of_output(const Node& node) {
        std::vector<std::size_t> read;
        for (const std::size_t input : node.inputs) {
            const pipeline::Tensor& one = out_.pipeline.tensors[input];
            const bool has_copy = !storages_[input] && one.row_major;
            storages_[input] = storages_[input].value_or(storages_made_++);
            read.push_back(has_copy ? storages_made_++ : *storages_[input]);
        }
        if (node.family == nullptr || !node.family->is_view || read.empty()) {
            return storages_made_++;
        }
        for (auto& storage : storages_) { // what is a view of several is in the bytes of all
            if (storage && std::ranges::find(read, *storage) != read.end()) {
                storage = read.front();
            }
        }
        return read.front();
    }

    /// Says what would change unseen if an output that is made in `storage` were written over tensor
    /// `index`; the text is empty where nothing would.
    [[nodiscard]] std::string view_of(std::size_t index, std::size_t storage) const {
        if (!storages_[index]) {
            return {};
        }
        if (*storages_[index] == storage) {
            return "the step's own output";
        }
        for (std::size_t other = 0; other < storages_.size(); ++other) {
            if (other != index && storages_[other] == storages_[index]) {
                return "'" + out_.pipeline.tensors[other].name + "'";
            }
        }
        return {};
    }

    /// Whether input `i` is in streaming memory, and the step reads it there.
    bool reads_remote(const PipelineStep& step, std::size_t i, const std::string& pointer) {
        const family::Family* family = step.own ? nullptr : find(step.family, families_);
        const Known& known = known_.at(step.inputs[i]);
        if (i > 0 || family == nullptr || !family->reads_remote || known.given == nullptr ||
            known.given->place != Place::Remote || !known.has_type) {
            return false;
        }
        const TensorType& type = tensor(known).type;
        const Bytes row_bytes = type.shape.back() * bytes_of(type.type);
        if (row_bytes % kWordBytes != 0) {
            fail(pointer, fmt::format("got rows of {} bytes, expected whole words of {} bytes",
                                      row_bytes, kWordBytes));
        }
        refuse_in_branch(step.family + " from streaming memory", pointer);
        return true;
    }

    /// Null for those that cannot be read here.
    std::vector<const Known*> read(const PipelineStep& step, const std::string& pointer) {
        std::vector<const Known*> inputs;
        // Where an element of the list is no name, the others have moved up.
        const bool has_places = !is_told_inside(pointer + "/inputs");
        for (std::size_t i = 0; i < step.inputs.size(); ++i) {
            const std::string& name = step.inputs[i];
            const auto known = known_.find(name);
            if (known != known_.end()) {
                known->second.is_read = true;
            }
            const std::string at = step.own ? own_codelet::input_pointer(*step.own, pointer, i)
                                            : fmt::format("{}/inputs/{}", pointer, i);
            const bool is_good =
                !has_places ||
                (may_read(name, at) &&
                 (reads_remote(step, i, at) || is_placed(known_.at(name), false, name, at)));
            inputs.push_back(is_good && known != known_.end() ? &known->second : nullptr);
        }
        return inputs;
    }

    bool may_read(const std::string& name, const std::string& pointer) {
        for (std::size_t other = 0; branch_ != nullptr && other < branch_->outputs.size();
             ++other) {
            if (other != branch_->number && branch_->outputs[other].count(name) > 0) {
                fail(pointer,
                     fmt::format("got '{}', which branch {} of the same parallel writes, expected "
                                 "a tensor that no other branch writes",
                                 name, other),
                     "branches run side by side");
                return false;
            }
        }
        if (known_.count(name) > 0) {
            return true;
        }
        if (const auto inner = inner_.find(name); inner != inner_.end()) {
            fail(pointer, fmt::format("got '{}', which is written inside step {} alone, expected a "
                                      "tensor that is there however its words decide",
                                      name, inner->second));
            return false;
        }
        const auto writer = writers_.find(name);
        if (writer != writers_.end()) {
            fail(pointer, fmt::format("got '{}', which step {} is the first to write, expected a "
                                      "tensor that is given or written before",
                                      name, writer->second));
            return false;
        }
        std::vector<std::string> names;
        for (const auto& [known, ignored] : known_) {
            names.push_back(known);
        }
        const std::string meant = near(name, names);
        if (!meant.empty()) {
            known_.at(meant).is_read = true; // one slip, one mistake
        }
        fail(pointer, fmt::format("unknown tensor '{}'", name), question(meant));
        return false;
    }

    std::vector<TensorType> make(const PipelineStep& step, const std::vector<const Known*>& inputs,
                                 Node& made) {
        family::Request request;
        for (const Known* input : inputs) {
            made.inputs.push_back(input->index);
            request.inputs.push_back(tensor(*input).type);
        }
        request.options = step.options;
        try {
            made.step = made.family->make(request);
            return made.step->outputs();
        } catch (const family::Refused& refused) {
            fail(made.pointer + (refused.input >= 0       ? fmt::format("/inputs/{}", refused.input)
                                 : refused.option.empty() ? ""
                                                          : "/" + refused.option),
                 refused.what());
            return {};
        }
    }

    void name_step(const PipelineStep& step, const std::string& pointer) {
        if (step.called().empty()) {
            return;
        }
        const auto [first, is_new] = step_names_.emplace(step.called(), pointer);
        if (!is_new) {
            fail(step.name.empty() ? pointer_of_output(step, pointer, 0) : pointer + "/name",
                 fmt::format("got a second step '{}', expected another name than that of {}",
                             step.called(), first->second),
                 !step.name.empty()        ? ""
                 : step.kind == Kind::Next ? "\"name\" gives it another one"
                                           : "a step without \"name\" has that of its output");
        }
    }

    [[nodiscard]] std::string pointer_of_output(const PipelineStep& step,
                                                const std::string& pointer,
                                                std::size_t number) const {
        if (step.kind == Kind::Store) {
            return pointer + "/into";
        }
        if (step.kind == Kind::Next) {
            return pointer + "/next";
        }
        if (step.kind == Kind::Codelet) {
            return config::child_pointer(pointer + "/outputs", step.own->outputs.at(number).array);
        }
        const family::Family* family = find(step.family, families_);
        const bool are_several = family != nullptr && family->outputs.size() > 1;
        return pointer + (are_several ? fmt::format("/outputs/{}", number) : "/output");
    }

    /// `type`: nothing if a mistake hides it.
    void write(const PipelineStep& step, std::size_t number, std::optional<TensorType> type,
               std::size_t storage, Node& made) {
        const std::string& output = step.outputs[number];
        const std::string pointer = pointer_of_output(step, made.pointer, number);
        const auto end = step.outputs.begin() + static_cast<std::ptrdiff_t>(number);
        if (std::find(step.outputs.begin(), end, output) != end) {
            fail(pointer, fmt::format("got '{}' again, expected each name once", output));
            return;
        }
        for (std::size_t other = 0; branch_ != nullptr && other < branch_->number; ++other) {
            if (branch_->outputs[other].count(output) > 0) {
                fail(pointer, fmt::format("got '{}', which branch {} of the same parallel writes "
                                          "too, expected a tensor that no other branch writes",
                                          output, other));
                break;
            }
        }
        auto known = known_.find(output);
        if (known == known_.end() && of_then_ != nullptr && of_then_->count(output) > 0) {
            known = known_.insert(*of_then_->find(output)).first;
        }
        if (known == known_.end()) {
            const std::size_t added = add(output, std::move(type), nullptr).index;
            made.outputs[number] = added;
            storages_[added] = storage;
            return;
        }
        const std::size_t index = known->second.index;
        made.outputs[number] = index;
        if (!is_placed(known->second, false, output, pointer)) {
            return;
        }
        TensorType& stands = tensor(known->second).type;
        if (type && known->second.has_type &&
            (type->type != stands.type || type->shape != stands.shape ||
             type->sparse != stands.sparse)) {
            fail(pointer, fmt::format("got {} to be written to '{}', expected {} as it is",
                                      type_text(*type), output, type_text(stands)));
        } else if (type && !known->second.has_type && known->second.given == nullptr) {
            stands = std::move(*type);
            known->second.has_type = true;
        } else if (const std::string view = view_of(index, storage); !view.empty()) {
            fail(
                pointer,
                fmt::format("got '{}' to be written anew, of which {} is a view, expected a tensor "
                            "that nothing is a view of",
                            output, view),
                "a new name keeps both; see docs/kernels.md#pipelines");
        }
        storages_[index] = storages_[index].value_or(storage);
    }

    void tell_unread(const PipelineWorkload& workload) {
        for (const PipelineTensor& tensor : workload.tensors) {
            const std::string pointer = "/tensors/" + tensor.name;
            if (!known_.at(tensor.name).is_read && !is_told(pointer)) {
                fail(pointer, "no step reads it, expected it among the inputs of a step",
                     "it would take memory for nothing");
            }
        }
    }

    Families families_;
    Names read_transposed_; ///< first inputs of steps that read them as their transposes
    Names sampled_;         ///< and of those that make the gradient of their values
    const Names& told_;
    Resolved out_;
    KnownTensors known_;
    /// While the else of an if is walked, the tensors that its then has added.
    const KnownTensors* of_then_ = nullptr;
    std::map<std::string, std::string> inner_;      ///< tensors that were, with their while or if
    std::map<std::string, std::string> writers_;    ///< first step that writes a tensor
    std::map<std::string, std::string> step_names_; ///< and the step that has them
    /// By tensor: those of one number stand in the same bytes. Nothing: it does not stand yet.
    std::vector<std::optional<std::size_t>> storages_;
    std::size_t storages_made_ = 0;
    std::int64_t rounds_ = 1;                 ///< of the repeats around the step at hand
    const PipelineStep* innermost_ = nullptr; ///< of them
    std::int64_t io_tiles_ = 0;
    const Branch* branch_ = nullptr;
    bool is_some_step_hidden_ = false;
};

} // namespace

Resolved resolve(const PipelineWorkload& workload, Families families, const SparseMatrices& sparse,
                 const std::set<std::string>& told) {
    return Resolver(workload, families, sparse, told).take();
}

} // namespace tessera::catalog
