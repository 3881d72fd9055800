// SPDX-License-Identifier: MIT
#include "kernels/sparse/published/layout.h"

#include "models/spec/matrix_unit.h"
#include "models/timing/tile_position.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tessera::sparse {
namespace {

constexpr std::int64_t kMatrixInputs =
    32; ///< bytes of inputs that a weight set of the matrix unit has

} // namespace

PublishedTypes::PublishedTypes(const spec::MachineSpec& machine, ElementType data_type,
                               ElementType partials, std::int64_t block, bool again)
    : data(data_type), element(bytes_of(data)), partial(bytes_of(partials)),
      vector(kWord / element), set_inputs(std::min(block, kMatrixInputs / element)) {
    const bool half = data == ElementType::F16;
    const auto name = [](Bytes bytes) { return bytes == kHalf ? "half" : "float"; };
    const std::string both = fmt::format("{}_{}", name(element), name(partial));
    casts = element != partial;
    zeroes = (!half && (block == 8 || block == 16)) || (again && block > 1);
    const char* sums = casts ? "float_half" : name(element);
    reduce = fmt::format("ReduceMany_add_{}", sums);
    multiply = block == 1 ? "StaticSparseDenseElementWise_" + both
                          : fmt::format("StaticSparseDenseMatMulBlock_{0}x{0}_{1}", block, both);
    const bool one_set = spec::matrix_unit(machine).sets == 1;
    const char* file = block == 1 ? (half ? "elementwise" : "elementwise_float")
                       : casts    ? "block_half_float"
                       : half     ? (one_set ? "block_half_one_set" : "block_half")
                                  : (one_set ? "block_float_one_set" : "block_float");
    codelets = {fmt::format("published/sparse_dense_{}", file),
                half && !casts ? "published/reduce_many"
                               : fmt::format("published/reduce_many_{}", sums),
                "copy"};
    if (zeroes) {
        codelets.emplace_back("published/cast_fill_1d");
    }
}

PublishedLayout::PublishedLayout(const spec::MachineSpec& on_machine,
                                 const workload::SpmmWorkload& workload,
                                 const workload::SparsePattern& of_matrix,
                                 const published::StaticPlan& by_plan, std::int64_t columns,
                                 bool again)
    : machine(on_machine), matrix(of_matrix), plan(by_plan),
      types(machine, workload.dtype, workload.partials, matrix.block, again), n(workload.n),
      width(columns), padded_columns(ceil_div(width, types.vector) * types.vector),
      b_homes(matrix.block_columns() * padded_columns * matrix.block, grain(), machine.chip.tiles),
      c_homes(matrix.block_rows() * padded_columns * matrix.block, grain(), machine.chip.tiles),
      value_homes(ceil_div(matrix.blocks() * matrix.block * matrix.block, types.vector) *
                      types.vector,
                  std::max<std::int64_t>(types.vector, matrix.block), machine.chip.tiles) {
    deal_blocks();
}

Range PublishedLayout::elements_of(std::int64_t row, std::int64_t part) const {
    const published::StaticPart& columns = plan.parts[static_cast<std::size_t>(part)];
    const std::int64_t first = (row * padded_columns + columns.first_column) * block();
    return {first, first + columns.columns * block()};
}

Range PublishedLayout::values_of(const TileBlocks& mine) const {
    const std::int64_t size = block() * block();
    return {mine.order.front() * size / types.vector * types.vector,
            ceil_div((mine.order.back() + 1) * size, types.vector) * types.vector};
}

Bytes PublishedLayout::values_offset(const TileBlocks& mine) const {
    return moves_blocks()
               ? (mine.order.front() * block() * block() - values_of(mine).first) * types.element
               : 0;
}

void PublishedLayout::deal_blocks() {
    tiles.resize(static_cast<std::size_t>(machine.chip.tiles));
    in_order.resize(static_cast<std::size_t>(matrix.blocks()));
    for (std::size_t number = 0; number < plan.parts.size(); ++number) {
        deal_part(static_cast<std::int64_t>(number));
    }
    for (TileBlocks& tile : tiles) {
        std::ranges::sort(tile.columns);
        const auto again = std::ranges::unique(tile.columns);
        tile.columns.erase(again.begin(), again.end());
    }
    for (TileId tile = 0; tile < tiles.size(); ++tile) {
        const auto partner = timing::partner_tile(machine.chip, tile);
        if (partner && tile < *partner) {
            join_pair(tiles[tile], tiles[*partner]);
        }
    }
    for (TileBlocks& tile : tiles) {
        for (const std::int64_t block : tile.blocks) {
            tile.slots.push_back(static_cast<std::int32_t>(*tile.slot_of(matrix.column_of(block))));
        }
    }
}

void PublishedLayout::deal_part(std::int64_t number) {
    const published::StaticPart& part = plan.parts[static_cast<std::size_t>(number)];
    std::vector<std::size_t> band_of(static_cast<std::size_t>(matrix.block_columns()));
    std::vector<std::int64_t> before{0}; // blocks of the bands before each
    for (std::size_t band = 0; band < part.bands.size(); ++band) {
        for (std::int64_t i = 0; i < part.bands[band].columns; ++i) {
            band_of[static_cast<std::size_t>(column_of(part.bands[band], i))] = band;
        }
        before.push_back(before.back() + part.bands[band].blocks);
    }
    std::vector<std::int64_t> dealt(part.bands.size()); // blocks of each band so far
    for (std::int32_t row = 0; row < matrix.block_rows(); ++row) {
        for (std::int64_t i = matrix.first_block(row); i < matrix.first_block(row + 1); ++i) {
            const std::int32_t column = matrix.column_of(i);
            const std::size_t number_of_band = band_of[static_cast<std::size_t>(column)];
            const published::StaticBand& band = part.bands[number_of_band];
            const std::int64_t at = dealt[number_of_band]++;
            const std::int64_t on = at / ceil_div(band.blocks, band.tiles);
            TileBlocks& tile = tiles[static_cast<std::size_t>(band.first_tile + on)];
            tile.part = number;
            tile.band = static_cast<std::int64_t>(number_of_band);
            if (tile.rows.empty() || tile.rows.back() != row) {
                tile.rows.push_back(row);
                tile.row_blocks.push_back(0);
            }
            ++tile.row_blocks.back();
            tile.blocks.push_back(i);
            tile.columns.push_back(column);
            tile.order.push_back(before[number_of_band] + at);
            if (number == 0) {
                in_order[static_cast<std::size_t>(tile.order.back())] = i;
            }
        }
    }
}

/// Both tiles begin with what both want and at least some of which comes at double width.
void PublishedLayout::join_pair(TileBlocks& one, TileBlocks& other) const {
    if (one.part != other.part || one.band != other.band) {
        return;
    }
    std::vector<std::int32_t> both;
    std::set_intersection(one.columns.begin(), one.columns.end(), other.columns.begin(),
                          other.columns.end(), std::back_inserter(both));
    const auto single = std::remove_if(both.begin(), both.end(), [&](std::int32_t column) {
        return !comes_wide(column, one.part);
    });
    both.erase(single, both.end());
    for (TileBlocks* tile : {&one, &other}) {
        const auto is_together = [&both](std::int32_t column) {
            return std::binary_search(both.begin(), both.end(), column);
        };
        std::stable_partition(tile->columns.begin(), tile->columns.end(), is_together);
        tile->together = std::ssize(both);
    }
}

bool PublishedLayout::comes_wide(std::int32_t column, std::int64_t part) const {
    bool wide = false;
    b_homes.cut(elements_of(column, part), [&](TileId home, Range run, std::int64_t /*before*/) {
        wide = wide || sends_wide(home, run.size() * types.element);
    });
    return wide;
}

bool PublishedLayout::sends_wide(TileId home, Bytes bytes) const {
    const auto partner = timing::partner_tile(machine.chip, home);
    return machine.exchange.pairs() && partner && home < *partner &&
           bytes >= machine.exchange.pair_min_items * kWord;
}

} // namespace tessera::sparse
