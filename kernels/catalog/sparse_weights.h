// SPDX-License-Identifier: MIT
// Writes what a pipeline's `sparsity` asks for into its tensors and steps: tensors that it names become
// sparse matrices, and products that read them sparse products.
//
//     "sparsity": {level 0.9, w}
//     y = gelu(x w + b)    becomes    w: a pattern of 0.1 of its blocks
//                                     y_turned = w^T x^T, sparse;   y_product = y_turned^T, where it stands
//                                     y_biased = y_product + b;     y = gelu(y_biased)
//
// It stands behind modules and in front of `train`; what it makes can be written by hand.
#pragma once

#include "base/config/document.h"
#include "base/error.h"
#include "kernels/workload/pipeline_workload.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera::catalog {

/// Says what became of a tensor.
struct SparseWeight {
    std::string name;
    std::vector<std::int64_t> shape; ///< rows and columns
    std::int64_t block = 1;
    double level = 0;             ///< share of blocks that was asked to be pruned
    std::int64_t kept_blocks = 0; ///< blocks - round(level * blocks), halves of what is pruned up
    std::int64_t blocks = 0;      ///< of the whole matrix
    bool is_dynamic = false;
};

struct Sparsified {
    workload::PipelineWorkload workload; ///< without `sparsity`
    std::vector<Diagnostic> mistakes;    ///< all of them, with JSON pointers of the file
    std::vector<SparseWeight> weights;   ///< by name

    /// A mistake in `workload`, with a JSON pointer of it, where the file has what it comes from.
    [[nodiscard]] Diagnostic in_file(Diagnostic mistake) const;

    struct Origin {
        std::string pointer; ///< of the step of the file
        std::string made;    ///< "spmm": the family, where the file has another step in its place
    };
    std::map<std::string, Origin> origins; ///< by JSON pointer of a step of `workload`
};

/// `workload`: with `sparsity`, resolved without mistakes. `document`: of the same file.
[[nodiscard]] Sparsified with_sparsity(const workload::PipelineWorkload& workload,
                                       const config::Document& document);

} // namespace tessera::catalog
