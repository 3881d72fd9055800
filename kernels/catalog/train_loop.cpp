// SPDX-License-Identifier: MIT
#include "kernels/catalog/train_loop.h"

#include "base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace tessera::catalog {
namespace {

using workload::PipelineStep;
using Kind = PipelineStep::Kind;
using Names = std::set<std::string>;
using State = std::map<std::string, family::TensorType>;

constexpr std::string_view kRow = "_row";       ///< behind the name of a tensor outside the tiles
constexpr std::string_view kBefore = "_before"; ///< behind that of a carried tensor
constexpr std::string_view kNext = "_next";
constexpr std::string_view kAgain = "_again"; ///< behind that of what a round has stored

Diagnostic in_the_way(std::string pointer, std::string message, std::string hint = {}) {
    return {"", 0, 0, std::move(pointer), std::move(message), std::move(hint)};
}

bool writes(const PipelineStep& step, const std::string& tensor) {
    return std::ranges::find(step.outputs, tensor) != step.outputs.end();
}

/// Tensors that the round reads before one of its steps writes them, if one does.
std::vector<std::string> carried_by(const PipelineStep& repeat) {
    Names early;
    Names written;
    std::vector<std::string> carried;
    for (const PipelineStep& step : repeat.children) {
        for (const std::string& input : step.inputs) {
            if (!written.contains(input)) {
                early.insert(input);
            }
        }
        for (const std::string& output : step.outputs) {
            if (early.contains(output) && written.insert(output).second &&
                step.kind != Kind::Store) {
                carried.push_back(output);
            }
            written.insert(output);
        }
    }
    return carried;
}

/// A copy of the load or the store of `rows` in the repeat that goes back: its rows come in reverse.
PipelineStep row_step(Kind kind, const std::string& rows, const std::string& tensor,
                      std::int64_t row, std::int64_t row_a_round) {
    PipelineStep step;
    step.kind = kind;
    step.row = row;
    step.row_a_round = row_a_round;
    step.inputs = {kind == Kind::Load ? rows : tensor};
    step.outputs = {kind == Kind::Load ? tensor : rows};
    step.name = kind == Kind::Store ? tensor + "_stored" : "";
    return step;
}

/// Puts loads and stores between the backward steps of a round.
class RowMover {
public:
    RowMover(const PipelineStep& repeat, const LoopRound& round,
             const std::vector<PipelineStep>& steps, const State& state)
        : repeat_(repeat), round_(round), steps_(steps), state_(state) {}

    RoundBack take() {
        find_last_writes();
        Names made;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            PipelineStep step = steps_[i];
            for (std::string& input : step.inputs) {
                if (!made.contains(input)) {
                    bring(input, i, made);
                }
                const auto again = again_.find(input);
                input = again == again_.end() ? input : again->second;
            }
            made.insert(step.outputs.begin(), step.outputs.end());
            const PipelineStep& added = add(std::move(step), i);
            const std::vector<std::string> outputs = added.outputs;
            for (const std::string& output : outputs) {
                const auto last = last_writes_.find(output);
                if (last != last_writes_.end() && last->second == i) {
                    const RowPlace place = place_of(output);
                    PipelineStep& store = add(
                        row_step(Kind::Store, place.rows, output, place.row, place.row_a_round), i);
                    out_.names.push_back(store.name);
                }
            }
        }
        return std::move(out_);
    }

private:
    struct RowPlace {
        std::string rows;
        std::int64_t row = 0;
        std::int64_t row_a_round = 0;
        std::int64_t prefetch = 0;
    };

    PipelineStep& add(PipelineStep step, std::size_t from) {
        out_.from.push_back(from);
        return out_.steps.emplace_back(std::move(step));
    }

    void find_last_writes() {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            for (const std::string& output : steps_[i].outputs) {
                if (round_.rows.contains(output) || state_.contains(output)) {
                    last_writes_[output] = i;
                }
            }
        }
    }

    /// Where the row of weights, or of what an optimiser keeps beside them, stands outside.
    [[nodiscard]] RowPlace place_of(const std::string& tensor) const {
        const std::int64_t rounds = repeat_.repeats;
        const auto row = round_.rows.find(tensor);
        if (row == round_.rows.end()) {
            return {rows_of_state(round_, tensor).name, rounds - 1, -1};
        }
        const PipelineStep& load = *row->second;
        return {load.inputs.front(), load.row + (rounds - 1) * load.row_a_round, -load.row_a_round,
                load.prefetch};
    }

    /// Loads what a backward step reads and none before it has made.
    void bring(const std::string& tensor, std::size_t from, Names& made) {
        if (round_.rows.contains(tensor) || state_.contains(tensor)) {
            const RowPlace place = place_of(tensor);
            add(row_step(Kind::Load, place.rows, tensor, place.row, place.row_a_round), from)
                .prefetch = place.prefetch;
            made.insert(tensor);
            return;
        }
        if (tensor == round_.before) {
            stash({round_.carried, tensor, round_.carried + "_stash", true}, tensor, from);
            made.insert(tensor);
        } else if (round_.made.contains(tensor) && !again_.contains(tensor)) {
            again_[tensor] = tensor + std::string(kAgain);
            out_.names.push_back(again_.at(tensor));
            stash(
                {tensor == round_.next ? round_.carried : tensor, tensor, tensor + "_stash", false},
                again_.at(tensor), from);
        }
    }
    void stash(StashedRows rows, const std::string& as, std::size_t from) {
        add(row_step(Kind::Load, rows.rows, as, repeat_.repeats - 1, -1), from);
        out_.stash.push_back(std::move(rows));
    }

    const PipelineStep& repeat_;
    const LoopRound& round_;
    const std::vector<PipelineStep>& steps_;
    const State& state_;
    std::map<std::string, std::size_t> last_writes_; ///< of rows that go back
    std::map<std::string, std::string> again_;       ///< names of what comes back from the stash
    RoundBack out_;
};

} // namespace

RowsOfState rows_of_state(const LoopRound& round, const std::string& state) {
    // Rows may have names that begin alike, such as w_row and w_row_2_row: the longest one is meant.
    auto row = round.rows.end();
    for (auto one = round.rows.begin(); one != round.rows.end(); ++one) {
        const bool is_longer = row == round.rows.end() || one->first.size() > row->first.size();
        row = is_longer && state.starts_with(one->first + "_") ? one : row;
    }
    TESSERA_ASSERT(row != round.rows.end()); // it is called so
    const std::string& weights = row->second->inputs.front();
    return {weights + state.substr(row->first.size()), weights};
}

std::variant<LoopRound, Diagnostic> round_of(const PipelineStep& repeat,
                                             const std::set<std::string>& depends) {
    LoopRound round;
    std::vector<std::string> carried = carried_by(repeat);
    std::erase_if(carried, [&](const std::string& tensor) { return !depends.contains(tensor); });
    if (carried.size() != 1) {
        return in_the_way(
            "", fmt::format(
                    "got a repeat that carries {} from round to round on the way, expected one "
                    "tensor that each round makes of the one before",
                    carried.empty() ? "no tensor" : fmt::format("{}", fmt::join(carried, ", "))));
    }
    round.carried = carried.front();
    round.before = round.carried + std::string(kBefore);
    round.next = round.carried + std::string(kNext);
    std::map<std::string, std::string> names{{round.carried, round.before}};
    for (std::size_t i = 0; i < repeat.children.size(); ++i) {
        const PipelineStep& step = repeat.children[i];
        const std::string at = fmt::format("/steps/{}", i);
        if (step.kind == Kind::Load) {
            const std::string& rows = step.inputs.front();
            const std::string row = rows + std::string(kRow);
            if (depends.contains(rows) && step.row_a_round == 0 && repeat.repeats > 1) {
                return in_the_way(at, fmt::format("got the same row of '{}' in each round, "
                                                  "expected another one: its gradient is that of "
                                                  "one round",
                                                  rows));
            }
            if (!round.rows.emplace(row, &step).second) {
                return in_the_way(at, fmt::format("got a second load of '{}' in a round, expected "
                                                  "one",
                                                  rows));
            }
            names[step.outputs.front()] = row;
            continue;
        }
        if (step.kind != Kind::Family) {
            return in_the_way(at, "got a repeat on the way with more than loads and kernels in it, "
                                  "expected no others: they have no gradient");
        }
        PipelineStep own = step;
        for (std::string& input : own.inputs) {
            const auto name = names.find(input);
            input = name == names.end() ? input : name->second;
        }
        if (writes(step, round.carried)) {
            names[round.carried] = round.next;
            std::ranges::replace(own.outputs, round.carried, round.next);
        }
        for (const std::string& output : own.outputs) {
            if (!output.empty()) {
                round.made.insert(output);
            }
        }
        round.steps.push_back(std::move(own));
        round.numbers.push_back(i);
    }
    for (const PipelineStep& step : round.steps) {
        for (const std::string& input : step.inputs) {
            const bool is_own =
                input == round.before || round.made.contains(input) || round.rows.contains(input);
            if (!is_own && depends.contains(input)) {
                return in_the_way("", fmt::format("got '{}', which each round reads and whose "
                                                  "gradient is wanted, expected rows of a tensor "
                                                  "that the rounds load: sums over rounds are not "
                                                  "modelled",
                                                  input));
            }
        }
    }
    return round;
}

std::vector<std::size_t> add_stores(PipelineStep& repeat, const std::vector<StashedRows>& stash) {
    std::vector<PipelineStep> steps;
    std::vector<std::size_t> numbers;
    const auto store = [&](const StashedRows& rows, std::size_t number) {
        PipelineStep& step =
            steps.emplace_back(row_step(Kind::Store, rows.rows, rows.tensor, 0, 1));
        step.name = rows.known_as + "_stored";
        numbers.push_back(number);
    };
    for (const StashedRows& rows : stash) {
        if (rows.is_at_begin) {
            store(rows, 0);
        }
    }
    for (std::size_t i = 0; i < repeat.children.size(); ++i) {
        steps.push_back(repeat.children[i]);
        numbers.push_back(i);
        for (const StashedRows& rows : stash) {
            if (!rows.is_at_begin && writes(repeat.children[i], rows.tensor)) {
                store(rows, i);
            }
        }
    }
    repeat.children = std::move(steps);
    return numbers;
}

RoundBack loads_and_stores(const PipelineStep& repeat, const LoopRound& round,
                           const std::vector<PipelineStep>& steps, const State& state) {
    return RowMover(repeat, round, steps, state).take();
}

} // namespace tessera::catalog
