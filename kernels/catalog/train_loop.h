// SPDX-License-Identifier: MIT
// A repeat whose rounds are layers, and the repeat that goes back through them. Each round loads its
// own weights, and makes of one tensor, which is carried from round to round, the next one:
//
//     repeat 12                              repeat 12, from the last row to the first
//       store y into y_stash                   load y_stash as y_before
//       load w as round.w                      load w as w_row
//       h = matmul(y, round.w)                 w_row_gradient, y_before_gradient = ...
//       y = relu(h)                            w_row = sgd(w_row, w_row_gradient); store it into w
//                                              y_next_gradient = y_before_gradient
//
// A round stores what the backward steps will read of it, as a row of a tensor in streaming memory or
// in rows on the tiles.
#pragma once

#include "base/error.h"
#include "kernels/family/family.h"
#include "kernels/workload/pipeline_workload.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace tessera::catalog {

/// Holds the steps of a round of a repeat as a list by itself.
struct LoopRound {
    std::string carried; ///< the tensor that each round makes of the one before
    std::string before;  ///< its name in `steps`, as the round finds it
    std::string next;    ///< and as the round leaves it
    std::vector<workload::PipelineStep> steps; ///< without loads; a row of `w` is called w_row
    std::vector<std::size_t> numbers;          ///< of each: which step of the repeat it is
    /// By name in `steps`: the load that brings it.
    std::map<std::string, const workload::PipelineStep*> rows;
    std::set<std::string> made; ///< by `steps`
};

/// `depends`: tensors that depend on those whose gradients are wanted, with these.
/// Otherwise gives what is in the way of a gradient, with a JSON pointer below that of the repeat.
[[nodiscard]] std::variant<LoopRound, Diagnostic> round_of(const workload::PipelineStep& repeat,
                                                           const std::set<std::string>& depends);

/// Says which tensor of a forward round is stored, and where.
struct StashedRows {
    std::string tensor;       ///< as the forward round calls it
    std::string known_as;     ///< as LoopRound::steps call it
    std::string rows;         ///< the tensor that has it as a row
    bool is_at_begin = false; ///< as the round finds it; otherwise as a step of it leaves it
};

/// The backward steps of a round with the loads and stores that they need.
struct RoundBack {
    std::vector<workload::PipelineStep> steps;
    std::vector<std::size_t> from;  ///< of each: number of the step given to loads_and_stores()
    std::vector<StashedRows> stash; ///< what each round has to store
    std::vector<std::string> names; ///< of tensors and steps, those that are new
};

/// Adds to the backward steps of a round the loads of what they read and the stores of what they
/// leave: each as late, and as early, as may be. `state`: given tensors that they were written with,
/// whose rows stand in tensors called as rows_of_state() says.
[[nodiscard]] RoundBack loads_and_stores(const workload::PipelineStep& repeat,
                                         const LoopRound& round,
                                         const std::vector<workload::PipelineStep>& steps,
                                         const std::map<std::string, family::TensorType>& state);

/// Adds the stores to the forward repeat. Returns for each of its steps then the number of the one
/// that it was, or that it belongs to.
std::vector<std::size_t> add_stores(workload::PipelineStep& repeat,
                                    const std::vector<StashedRows>& stash);

/// Where the rows stand of what goes with weights: "w_moment_1" of "w_row_moment_1", for a row that
/// comes from `w`.
struct RowsOfState {
    std::string name;
    std::string weights;
};
[[nodiscard]] RowsOfState rows_of_state(const LoopRound& round, const std::string& state);

} // namespace tessera::catalog
