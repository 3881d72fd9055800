// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_published_layout.h"

#include "models/spec/matrix_unit.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::spmm {
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

Linear::Linear(std::int64_t elements, std::int64_t grain, std::int64_t tiles, std::int64_t least,
               std::int64_t start)
    : tiles_(tiles), start_(start) {
    const std::int64_t grains = ceil_div(elements, grain);
    const std::int64_t most = std::max(least, ceil_div(grains, tiles));
    const std::int64_t used = ceil_div(grains, most);
    for (std::int64_t i = 0; i <= used; ++i) {
        bounds_.push_back(std::min(elements, i * grains / std::max<std::int64_t>(used, 1) * grain));
    }
}

PublishedLayout::PublishedLayout(const spec::MachineSpec& machine,
                                 const workload::SpmmWorkload& workload,
                                 const workload::SparsePattern& matrix,
                                 const published::StaticPlan& plan, std::int64_t width, bool again)
    : machine_(machine), matrix_(matrix), plan_(plan),
      types_(machine, workload.dtype, workload.partials, matrix.block, again), n_(workload.n),
      padded_columns_(ceil_div(width, types_.vector) * types_.vector),
      x_homes_(matrix.block_columns() * padded_columns_ * matrix.block, grain(),
               machine.chip.tiles),
      c_homes_(matrix.block_rows() * padded_columns_ * matrix.block, grain(), machine.chip.tiles),
      value_homes_(ceil_div(matrix.blocks() * matrix.block * matrix.block, types_.vector) *
                       types_.vector,
                   std::max<std::int64_t>(types_.vector, matrix.block), machine.chip.tiles) {
    deal_blocks();
}

Span PublishedLayout::elements_of(std::int64_t row, std::int64_t part) const {
    const published::StaticPart& columns = plan_.parts[static_cast<std::size_t>(part)];
    const std::int64_t first = (row * padded_columns_ + columns.first_column) * block();
    return {first, first + columns.columns * block()};
}

Span PublishedLayout::values_of(const TileBlocks& mine) const {
    const std::int64_t size = block() * block();
    return {mine.order.front() * size / types_.vector * types_.vector,
            ceil_div((mine.order.back() + 1) * size, types_.vector) * types_.vector};
}

Bytes PublishedLayout::values_offset(const TileBlocks& mine) const {
    return moves_blocks()
               ? (mine.order.front() * block() * block() - values_of(mine).first) * types_.element
               : 0;
}

void PublishedLayout::deal_blocks() {
    tiles_.resize(static_cast<std::size_t>(machine_.chip.tiles));
    std::vector<std::int32_t> row_of_block(static_cast<std::size_t>(matrix_.blocks()));
    for (std::int64_t row = 0; row < matrix_.block_rows(); ++row) {
        for (std::int64_t i = matrix_.row_start[static_cast<std::size_t>(row)];
             i < matrix_.row_start[static_cast<std::size_t>(row) + 1]; ++i) {
            row_of_block[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(row);
        }
    }
    for (std::size_t number = 0; number < plan_.parts.size(); ++number) {
        const published::StaticPart& part = plan_.parts[number];
        std::vector<std::size_t> band_of(static_cast<std::size_t>(matrix_.block_columns()));
        for (std::size_t band = 0; band < part.bands.size(); ++band) {
            const auto& columns = part.bands[band];
            for (std::int64_t i = 0; i < columns.columns; ++i) {
                band_of[static_cast<std::size_t>(column_of(columns, i))] = band;
            }
        }
        std::vector<std::vector<std::int64_t>> blocks_of(part.bands.size());
        for (std::int64_t i = 0; i < matrix_.blocks(); ++i) {
            const auto column =
                static_cast<std::size_t>(matrix_.block_column[static_cast<std::size_t>(i)]);
            blocks_of[band_of[column]].push_back(i);
        }
        std::int64_t order = 0;
        for (std::size_t band = 0; band < part.bands.size(); ++band) {
            deal_band(static_cast<std::int64_t>(number), part.bands[band], blocks_of[band],
                      row_of_block, order);
        }
        if (number == 0) {
            for (const auto& blocks : blocks_of) {
                in_order_.insert(in_order_.end(), blocks.begin(), blocks.end());
            }
        }
    }
}

void PublishedLayout::deal_band(std::int64_t part, const published::StaticBand& band,
                                const std::vector<std::int64_t>& blocks,
                                const std::vector<std::int32_t>& row_of_block,
                                std::int64_t& order) {
    const auto count = static_cast<std::int64_t>(blocks.size());
    const std::int64_t share = ceil_div(count, band.tiles);
    for (std::int64_t i = 0; i * share < count; ++i) {
        TileBlocks& tile = tiles_[static_cast<std::size_t>(band.first_tile + i)];
        tile.part = part;
        for (std::int64_t j = i * share; j < std::min(count, (i + 1) * share); ++j) {
            const auto block = blocks[static_cast<std::size_t>(j)];
            const std::int32_t row = row_of_block[static_cast<std::size_t>(block)];
            if (tile.rows.empty() || tile.rows.back() != row) {
                tile.rows.push_back(row);
                tile.row_ends.push_back(static_cast<std::int64_t>(tile.blocks.size()));
            }
            tile.blocks.push_back(block);
            tile.order.push_back(order++);
            tile.row_ends.back() = static_cast<std::int64_t>(tile.blocks.size());
        }
        collect_columns(tile);
    }
}

void PublishedLayout::collect_columns(TileBlocks& tile) {
    const auto slot_of = [&](std::int32_t column) -> std::int32_t& {
        return slot_of_column_[static_cast<std::size_t>(column)];
    };
    const auto column_of_block = [&](std::int64_t block) {
        return matrix_.block_column[static_cast<std::size_t>(block)];
    };
    slot_of_column_.resize(static_cast<std::size_t>(matrix_.block_columns()), -1);
    for (const std::int64_t block : tile.blocks) {
        const std::int32_t column = column_of_block(block);
        if (slot_of(column) < 0) {
            slot_of(column) = 0;
            tile.columns.push_back(column);
        }
    }
    std::sort(tile.columns.begin(), tile.columns.end());
    for (std::size_t slot = 0; slot < tile.columns.size(); ++slot) {
        slot_of(tile.columns[slot]) = static_cast<std::int32_t>(slot);
    }
    tile.slots.reserve(tile.blocks.size());
    for (const std::int64_t block : tile.blocks) {
        tile.slots.push_back(slot_of(column_of_block(block)));
    }
    for (const std::int32_t column : tile.columns) {
        slot_of(column) = -1;
    }
}

} // namespace tessera::spmm
