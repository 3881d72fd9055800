// SPDX-License-Identifier: MIT
// A published plan of a static sparse product on its tiles: what follows from the types, which blocks
// each tile has, and where B, C and blocks stand. Made once, for all passes, and only read afterwards.
#pragma once

#include "base/ceil_div.h"
#include "base/element_type.h"
#include "base/units.h"
#include "kernels/published/linear.h"
#include "kernels/published/static_planner.h"
#include "kernels/workload/operands.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::sparse {

inline constexpr const char* kPublishedOwner = "spmm"; ///< of steps, as reports name it
inline constexpr Bytes kWord = 8;                      ///< that copies and reductions go by

using published::Linear;

/// What follows from the types of operands and result, and of partial results.
struct PublishedTypes {
    /// `again`: partial results are used several times.
    PublishedTypes(const spec::MachineSpec& machine, ElementType data_type, ElementType partials,
                   std::int64_t block, bool again);

    static constexpr Bytes kHalf = 2;

    ElementType data;
    Bytes element;
    Bytes partial;           ///< of a partial result
    std::int64_t vector;     ///< elements of a word; B's columns come in as many
    std::int64_t set_inputs; ///< columns of a block that stand together
    bool casts = false;      ///< partial results into the data's type
    bool zeroes = false;     ///< partial results in a step of their own
    std::string multiply = {};
    std::string reduce = {};
    std::vector<std::string> codelets = {};
};

/// What a tile multiplies.
struct TileBlocks {
    std::int64_t part = 0;            ///< of the columns of B
    std::int64_t band = 0;            ///< of the part
    std::vector<std::int64_t> blocks; ///< numbers in the matrix, row by row
    std::vector<std::int64_t> order;  ///< of `blocks` in the order of bands, the first one
    std::vector<std::int32_t> rows;   ///< of `blocks`, each once
    /// Of `blocks`, each once: first the `together` ones, whose rows of B the pair takes together, at
    /// one place for both tiles; then the others. Both ascending.
    std::vector<std::int32_t> columns;
    std::int64_t together = 0;
    std::vector<std::int32_t> slots;      ///< of each block: index into `columns`
    std::vector<std::int32_t> row_blocks; ///< of each row

    /// Where `column` is in `columns`.
    [[nodiscard]] std::optional<std::int64_t> slot_of(std::int32_t column) const {
        const auto middle = columns.begin() + together;
        for (const auto& [first, last] :
             {std::pair{columns.begin(), middle}, std::pair{middle, columns.end()}}) {
            const auto found = std::lower_bound(first, last, column);
            if (found != last && *found == column) {
                return found - columns.begin();
            }
        }
        return {};
    }
};

struct PublishedLayout {
    /// Of a plan of so many columns; `again`: it is run several times. Keeps references to machine,
    /// matrix and plan.
    PublishedLayout(const spec::MachineSpec& on_machine, const workload::SpmmWorkload& workload,
                    const workload::SparsePattern& of_matrix, const published::StaticPlan& by_plan,
                    std::int64_t columns, bool again);

    [[nodiscard]] std::int64_t block() const { return matrix.block; }
    /// Several parts need the same blocks.
    [[nodiscard]] bool moves_blocks() const { return plan.parts.size() > 1; }

    [[nodiscard]] std::int64_t column_of(const published::StaticBand& band, std::int64_t i) const {
        return plan.column_order[static_cast<std::size_t>(band.first_column + i)];
    }
    [[nodiscard]] std::int64_t columns_on(std::int64_t part) const {
        return plan.parts[static_cast<std::size_t>(part)].columns;
    }
    /// What a tile of the part has of a row of B, which is as many host rows as a block has.
    [[nodiscard]] Bytes line_bytes(std::int64_t part) const {
        return columns_on(part) * block() * types.element;
    }
    /// The same of partial results.
    [[nodiscard]] Bytes partial_bytes(std::int64_t part) const {
        return columns_on(part) * block() * types.partial;
    }
    /// Whether `bytes` of tile `home` go to pairs at double width. Their sender borrows its partner's
    /// lane from the exchange's start on, so only one tile of each pair, the first, sends so.
    [[nodiscard]] bool sends_wide(TileId home, Bytes bytes) const;
    [[nodiscard]] Bytes block_bytes() const { return block() * block() * types.element; }
    /// The elements of a row of B or C that a part has.
    [[nodiscard]] Range elements_of(std::int64_t row, std::int64_t part) const;

    /// What a tile has of values that move, in the order of bands: whole words, so that single
    /// elements move with their neighbours.
    [[nodiscard]] Range values_of(const TileBlocks& mine) const;
    /// Where its first block stands in them.
    [[nodiscard]] Bytes values_offset(const TileBlocks& mine) const;

    const spec::MachineSpec& machine;
    const workload::SparsePattern& matrix;
    const published::StaticPlan& plan;
    PublishedTypes types;
    std::int64_t n;     ///< columns of the host's B and C, of all passes
    std::int64_t width; ///< columns of a pass, of which the last may have less of the host's
    std::int64_t padded_columns; ///< the same as they stand, whole words of them
    Linear b_homes;
    Linear c_homes;
    Linear value_homes;                 ///< of blocks that move, in the order of bands
    std::vector<TileBlocks> tiles;      ///< by tile
    std::vector<std::int64_t> in_order; ///< blocks by band, row, column

private:
    void deal_blocks();
    void deal_part(std::int64_t number);
    void join_pair(TileBlocks& one, TileBlocks& other) const;
    [[nodiscard]] bool comes_wide(std::int32_t column, std::int64_t part) const;
    /// Elements of B and C that stand together.
    [[nodiscard]] std::int64_t grain() const {
        return block() == 1 ? types.vector : types.vector * types.vector;
    }
};

} // namespace tessera::sparse
