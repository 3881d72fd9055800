// SPDX-License-Identifier: MIT
// A partition of the product over tiles, and what each tile has of it.
#pragma once

#include "base/ceil_div.h"
#include "base/units.h"
#include "kernels/family/product.h"
#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/plan/parts.h"
#include "kernels/workload/workload.h"

#include <cstdint>
#include <vector>

namespace tessera::matmul {

using Partition = family::Cuts;
using family::Paired;
using plan::part_of;

/// The problem in the units of the matrix unit.
struct Problem {
    explicit Problem(const workload::MatmulWorkload& workload);

    std::int64_t m = 0;
    std::int64_t k = 0;
    std::int64_t n = 0;
    ElementType partials = ElementType::F16;
    std::int64_t group = 16;     ///< outputs of one weight load
    std::int64_t k_groups = 0;   ///< of 16 inputs
    std::int64_t out_groups = 0; ///< of `group` outputs
    Epilogue epilogue;

    [[nodiscard]] Bytes block_bytes() const { return group * 32; }
    /// Bytes of a row of one out group's results.
    [[nodiscard]] Bytes result_cell() const { return group * 2; }
};

/// Bytes of a row of 16 inputs, and of a row of one out group's partials.
inline constexpr Bytes kCellBytes = 32;

struct TilePart {
    std::int64_t im = 0;
    std::int64_t ik = 0;
    std::int64_t in = 0;
};

/// Tiles in order of their parts. The part that differs inside a pair is counted fastest: parts that differ in it alone
/// are a block.
class Grid {
public:
    Grid(const Problem& problem, const Partition& partition)
        : problem_(problem), partition_(partition) {}

    /// Block `i` of the parts on block `tiles[i]` of the tiles.
    [[nodiscard]] Grid with_blocks(std::vector<std::int64_t> tiles) const;

    [[nodiscard]] const Problem& problem() const { return problem_; }
    [[nodiscard]] const Partition& partition() const { return partition_; }
    /// As reports tell of it, but what it is predicted to take.
    [[nodiscard]] family::Division division() const;

    [[nodiscard]] TileId tiles() const { return static_cast<TileId>(partition_.tiles()); }
    [[nodiscard]] TileId tile(const TilePart& part) const;
    [[nodiscard]] TilePart part(TileId tile) const;

    [[nodiscard]] Range rows(std::int64_t im) const {
        return part_of(problem_.m, partition_.parts_m, im);
    }
    [[nodiscard]] Range k_groups(std::int64_t ik) const {
        return part_of(problem_.k_groups, partition_.parts_k, ik);
    }
    [[nodiscard]] Range out_groups(std::int64_t in) const {
        return part_of(problem_.out_groups, partition_.parts_n, in);
    }
    /// k groups of a chunk, absolute.
    [[nodiscard]] Range chunk(std::int64_t ik, std::int64_t chunk) const {
        const Range all = k_groups(ik);
        const Range inside = part_of(all.size(), partition_.chunks, chunk);
        return {all.first + inside.first, all.first + inside.last};
    }
    /// Row cells of the partial result that tile (im, ik, in) sums up: a range of [out group][row].
    [[nodiscard]] Range share(const TilePart& part) const {
        return part_of(out_groups(part.in).size() * rows(part.im).size(), partition_.parts_k,
                       part.ik);
    }
    /// Cells [share.first, share.last) of [out group][row], by their rows of one out group.
    [[nodiscard]] std::vector<Epilogue::Strip> strips(Range share, std::int64_t rows) const;

    [[nodiscard]] std::int64_t most_rows() const {
        return ceil_div(problem_.m, partition_.parts_m);
    }
    [[nodiscard]] std::int64_t most_k_groups() const {
        return ceil_div(problem_.k_groups, partition_.parts_k);
    }
    [[nodiscard]] std::int64_t most_chunk_groups() const {
        return ceil_div(most_k_groups(), partition_.chunks);
    }
    [[nodiscard]] std::int64_t most_out_groups() const {
        return ceil_div(problem_.out_groups, partition_.parts_n);
    }
    /// A stays where it is when nobody else needs it; B likewise.
    [[nodiscard]] bool a_stays() const { return partition_.parts_n == 1; }
    [[nodiscard]] bool b_stays() const { return partition_.parts_m == 1; }
    [[nodiscard]] bool reduces() const {
        return partition_.parts_k > 1 || problem_.partials == ElementType::F32;
    }

private:
    [[nodiscard]] std::int64_t block_size() const {
        return partition_.paired == Paired::B ? partition_.parts_m : partition_.parts_n;
    }

    Problem problem_;
    Partition partition_;
    std::vector<std::int64_t> tiles_of_blocks_; ///< empty: each on its own
    std::vector<std::int64_t> blocks_of_tiles_; ///< the inverse
};

} // namespace tessera::matmul
