// SPDX-License-Identifier: MIT
// A pass of a sparse product whose pattern comes at run time, as a graph.
//
//     bring       each tile gets the dense lines of its part, and the buckets of its z tiles
//     zero        partial results
//     multiply    by what the buckets have of its part
//     travel      while some bucket has blocks of another part: buckets move on, tiles look again
//     reduce      partial results of the other parts of the contraction come, and are summed
//
// The graph hangs on the layout alone: other patterns are other words and values.
// Source: docs/published_plans.md#dynamic-sparse-products.
#pragma once

#include "kernels/codelets/product_types.h"
#include "kernels/dynamic/layout.h"
#include "kernels/dynamic/passes.h"
#include "kernels/family/product.h"
#include "kernels/graph/graph.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <string>

namespace tessera::dynamic {

/// A product's graph is made of this.
struct Spmm {
    Layout layout;
    Plan plan;
    codelets::ProductTypes types;
    std::int64_t n = 0;       ///< columns of the dense operand
    std::int64_t rows = 0;    ///< of W, elements
    std::int64_t columns = 0; ///< the same
    std::string name;         ///< of the program
    /// Partial results are summed by the library's vertex, behind a list of pointers.
    bool is_published = false;
};

/// Tensors of its graph, by number.
struct Tensors {
    static constexpr std::uint32_t kValues = 0;   ///< {places for blocks, b, b}: bucket_values()
    static constexpr std::uint32_t kDense = 1;    ///< {k, n}, of the gradient {m, n}
    static constexpr std::uint32_t kResult = 2;   ///< {m, n}, of the gradient {k, n}
    static constexpr std::uint32_t kMetadata = 3; ///< Encoding::metadata, u16
    static constexpr std::uint32_t kControl = 4;  ///< words of the control tile, u32
};

/// Source: docs/kernels.md#sparse-pattern-known-at-run-time. @throws DoesNotFit, NotModelled
[[nodiscard]] family::Planned emit_pass(const spec::MachineSpec& machine, const Spmm& product,
                                        Pass pass);

} // namespace tessera::dynamic
