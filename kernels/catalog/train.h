// SPDX-License-Identifier: MIT
// Writes what a pipeline's `train` asks for into its steps: the steps of the file, the steps that
// make gradients, in reverse order, and one update of each tensor that is trained.
//
//     y = x w                          y = x w
//     e = y - t             becomes    e = y - t
//     train: e, of w                   w_gradient = x^T e_gradient
//                                      w = sgd(w, w_gradient)
//
// It stands between reading and resolving; families say their gradients in the pipeline's own words.
#pragma once

#include "base/error.h"
#include "kernels/catalog/catalog.h"
#include "kernels/catalog/resolve.h"
#include "kernels/workload/pipeline_workload.h"

#include <string>
#include <vector>

namespace tessera::catalog {

/// Says what a step of a trained pipeline comes from.
struct Origin {
    std::string pointer;        ///< JSON pointer of a step of the file, or of an entry of `train`
    bool is_made = false;       ///< the file does not have it itself
    std::vector<Origin> inside; ///< of a repeat with other steps than the file has: of these
};

struct Trained {
    workload::PipelineWorkload workload; ///< without `train`
    std::vector<Diagnostic> mistakes;    ///< all of them, with JSON pointers of the file
    std::vector<Origin> origins;         ///< one for each step of the longest list
    std::string list;                    ///< JSON pointer of that list

    /// A mistake that resolving `workload` has found, where the file has what it comes from.
    [[nodiscard]] Diagnostic in_file(Diagnostic mistake) const;
};

/// `forward`: the same workload, resolved without mistakes, though nobody may read some tensors yet.
[[nodiscard]] Trained with_training(const workload::PipelineWorkload& workload,
                                    const Resolved& forward,
                                    Families families = catalog::families());

/// The optimiser that is no family: w - rate * gradient, by steps of the families scale and add.
inline constexpr const char* kDescent = "descent";
inline constexpr const char* kRate = "rate"; ///< its option
inline constexpr double kDefaultRate = 0.01;
/// The option of optimisers without state: what of a momentum stays, whose steps come before them.
inline constexpr const char* kMomentum = "momentum";

/// Whether the steps of a family update weights by their gradient, where they stand.
[[nodiscard]] bool is_optimiser(const family::Family& family);

} // namespace tessera::catalog
