// SPDX-License-Identifier: MIT
// How the vendor's open library cuts a sparse product whose pattern comes at run time: quantities,
// search and costs. Rules only: no graph, no tile programs.
// Source: PopLibs sdk-release-3.4 @7eac0f26 as restated in
// docs/published_plans.md#dynamic-sparse-products, which says what was open and how it was found.
//
//   W[m,k] * X[k,n], W in square blocks: the rows of W are cut into x parts, its columns into y, the
//   columns of X into z. A tile has part (x, y, z) and one bucket: a z-th of the blocks of part
//   (x, y) with their places. The z tiles of (x, y) bring each other their buckets, then multiply.
//
// Cuts are even, since a plan knows a density and no pattern. All costs are the planner's own: no
// barriers, no launches, and nothing for blocks that are in a bucket of another part.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/published/dense_planner.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace tessera::dynamic {

/// The passes that a plan serves beside W X. Steps that read the same W may share it.
struct Passes {
    bool input_gradient = true;   ///< W^T dY counts in the objective
    bool values_gradient = false; ///< dY X^T at the blocks of W: metadata have room for its lists
};

struct Problem {
    std::int64_t m = 0; ///< padded to whole blocks, as k
    std::int64_t k = 0;
    std::int64_t n = 0;
    std::int64_t block = 1;                  ///< 1, 4, 8 or 16
    double density = 0;                      ///< of blocks, above 0, at most 1
    ElementType data = ElementType::F16;     ///< F16 or F32: of W, X and result
    ElementType partials = ElementType::F32; ///< F16 or F32, no narrower than data
    double excess = 0.3;                     ///< room of a bucket beyond its even share
    Passes passes;

    /// Blocks as the product has them: of FP32 those of 16 are cut into blocks of 8.
    [[nodiscard]] std::int64_t product_block() const {
        return data == ElementType::F32 && block == 16 ? 8 : block;
    }
    /// Columns of X that stay together.
    [[nodiscard]] std::int64_t n_grain() const { return block == 1 ? 8 / bytes_of(data) : 1; }
};

struct Split {
    std::int64_t x = 1; ///< of rows of W
    std::int64_t y = 1; ///< of columns of W
    std::int64_t z = 1; ///< of columns of X

    [[nodiscard]] std::int64_t tiles() const { return x * y * z; }
    bool operator==(const Split&) const = default;
};

/// A tile's part at most, in blocks and columns of X, and what is expected in it.
struct Part {
    std::int64_t rows = 0;             ///< block rows
    std::int64_t columns = 0;          ///< block columns
    std::int64_t n = 0;                ///< columns of X, whole grains
    std::int64_t occupied_rows = 0;    ///< with at least one block
    std::int64_t row_blocks = 0;       ///< blocks of an occupied row
    std::int64_t occupied_columns = 0; ///< with at least one block
    std::int64_t column_blocks = 0;    ///< blocks of an occupied column
    bool operator==(const Part&) const = default;
};

inline constexpr std::int64_t kMetadataGrain = 4; ///< words that a bucket has a multiple of

/// The room in every bucket, which is the same for all.
struct Bucket {
    std::int64_t blocks = 0;
    std::int64_t values = 0;   ///< elements of these blocks
    std::int64_t metadata = 0; ///< words of 16 bits
    Bytes bytes = 0;           ///< of both

    bool operator==(const Bucket&) const = default;
};

/// Cycles of the phases of a pass, in program order.
struct Phases {
    Cycles transpose = 0; ///< blocks of a bucket, for the gradient of the input
    Cycles inputs = 0;    ///< exchange: X, or dY
    Cycles buckets = 0;   ///< exchange
    Cycles zero = 0;      ///< of partial results
    Cycles compute = 0;
    Cycles partials = 0; ///< exchange
    Cycles reduce = 0;   ///< or the cast, where nothing is summed

    [[nodiscard]] Cycles total() const {
        return transpose + inputs + buckets + zero + compute + partials + reduce;
    }
    bool operator==(const Phases&) const = default;
};

struct Plan {
    std::int64_t block = 1; ///< Problem::product_block()
    Split split;
    Part part;
    Bucket bucket;
    Phases forward;
    Phases input_gradient; ///< zeros if Passes has it not
    Bytes temporary_bytes = 0;
    /// The bound under which the plan was found: 1, 2 or 4 times the first one; 0 is none.
    std::int64_t bound_factor = 1;

    /// The objective.
    [[nodiscard]] Cycles cycles() const { return forward.total() + input_gradient.total(); }
};

/// The costs of a split. bound_factor is the smallest under which it fits.
[[nodiscard]] Plan plan_of(const Problem& problem, const published::DenseMachine& machine,
                           const Split& split);

/// Places in a part are words of 16 bits, of elements byte offsets into its part of X. Some splits
/// exceed them.
[[nodiscard]] bool is_encodable(const Problem& problem, const Split& split);
/// Those that a plan for so many tiles may have, by x, y, z.
[[nodiscard]] std::vector<Split> encodable_splits(const Problem& problem, std::int64_t tiles);

/// The plan with the least cycles, then the least temporary bytes, then the first by x, y, z, under
/// the first of the bounds that some split keeps: published::kTemporaryShare of a tile, doubled up
/// to two tiles, none. Nothing where no split is encodable. Sizes below 1, other
/// blocks, types and densities than those above are a broken invariant.
[[nodiscard]] std::optional<Plan> plan(const Problem& problem,
                                       const published::DenseMachine& machine);

} // namespace tessera::dynamic
