// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_tensors.h"

#include <algorithm>

namespace tessera::spmm {
namespace {

using program::Piece;
using program::Tensor;

bool half_partials(const Problem& problem) {
    return problem.partials == ElementType::F16;
}

/// Blocks [first, last) of a part's list, one after the other.
void add_values(Tensor& tensor, TileId tile, Address address, const Problem& problem,
                const Part& part, std::int64_t first, std::int64_t last) {
    const std::int64_t block = problem.block;
    for (std::int64_t at = first; at < last;) {
        std::int64_t end = at + 1;
        while (end < last && part.blocks[static_cast<std::size_t>(end)] ==
                                 part.blocks[static_cast<std::size_t>(end - 1)] + 1) {
            ++end;
        }
        Piece piece;
        piece.tile = tile;
        piece.address = address + static_cast<Address>((at - first) * problem.value_bytes());
        piece.host_offset = part.blocks[static_cast<std::size_t>(at)] * block * block;
        piece.dims = {{end - at, block * block, problem.value_bytes()}};
        if (block == 16 && half_partials(problem)) {
            // row r of the block is output r: set (r >> 1) & 1, unit 2 * (r >> 2) + (r & 1)
            piece.dims.insert(piece.dims.end(),
                              {{4, 64, 64}, {2, 32, 256}, {2, 16, 32}, {16, 1, 2}});
        } else if (block == 16) {
            piece.dims.insert(piece.dims.end(), {{16, 16, 32}, {16, 1, 2}});
        }
        tensor.pieces.push_back(std::move(piece));
        at = end;
    }
}

/// How a line of a slice stands in a tile.
struct LineShape {
    std::int64_t rows = 0; ///< of the host tensor
    std::int64_t n = 0;
    std::int64_t block = 1;
    Range slice;
    bool by_halves = false; ///< [2][column][8] instead of [column][16]
};

/// Lines [first, first + count) one after the other.
void add_lines(Tensor& tensor, TileId tile, Address address, const LineShape& shape,
               std::int64_t first, std::int64_t count) {
    const std::int64_t width = shape.slice.length();
    const std::int64_t valid = std::min(shape.n, shape.slice.end) - shape.slice.begin;
    const std::int64_t line_bytes = 2 * shape.block * width;
    const std::int64_t full = std::clamp<std::int64_t>(shape.rows / shape.block - first, 0, count);
    const auto add = [&](std::int64_t line, std::int64_t lines, std::int64_t rows) {
        const std::int64_t group = shape.by_halves ? 8 : shape.block;
        for (std::int64_t half = 0; half * group < rows; ++half) {
            Piece piece;
            piece.tile = tile;
            piece.address = address + static_cast<Address>((line - first) * line_bytes +
                                                           half * group * width * 2);
            piece.host_offset = (line * shape.block + half * group) * shape.n + shape.slice.begin;
            piece.dims = {{lines, shape.block * shape.n, line_bytes},
                          {valid, 1, 2 * group},
                          {std::min(group, rows - half * group), shape.n, 2}};
            tensor.pieces.push_back(std::move(piece));
        }
    };
    if (full > 0) {
        add(first, full, shape.block);
    }
    if (full < count) {
        add(first + full, count - full, shape.rows % shape.block);
    }
}

LineShape x_shape(const Layout& layout, std::int64_t in) {
    const Problem& problem = layout.partition().problem();
    return {problem.matrix->columns, problem.n, problem.block,
            problem.slice(layout.partition().split(), in), false};
}

LineShape c_shape(const Layout& layout, std::int64_t in) {
    const Problem& problem = layout.partition().problem();
    return {problem.matrix->rows, problem.n, problem.block,
            problem.slice(layout.partition().split(), in),
            problem.block == 16 && !half_partials(problem)};
}

/// Rows that one part alone contributes to stand in its partials: they are the result.
void add_sole_rows(Tensor& tensor, const Layout& layout, std::int64_t in) {
    const Partition& partition = layout.partition();
    const LineShape shape = c_shape(layout, in);
    const std::int64_t rows = partition.problem().matrix->block_rows();
    for (std::int64_t first = 0; first < rows;) {
        const std::vector<std::int32_t>& parts = partition.contributors(first);
        std::int64_t last = first + 1;
        while (last < rows && partition.contributors(last) == parts) {
            ++last;
        }
        if (parts.size() == 1) {
            add_lines(tensor, partition.tile(parts[0], in),
                      layout.partial_line(parts[0], first, shape.slice.length()), shape, first,
                      last - first);
        }
        first = last;
    }
}

void add_empty_rows(Tensor& tensor, const Layout& layout, std::int64_t in) {
    const Partition& partition = layout.partition();
    const LineShape shape = c_shape(layout, in);
    const Bytes line_bytes = partition.problem().result_line_bytes(shape.slice.length());
    for (std::int64_t part = 0; part < partition.split().parts(); ++part) {
        const Range share = layout.empty_share(part);
        for (std::int64_t at = share.begin; at < share.end; ++at) {
            add_lines(tensor, partition.tile(part, in),
                      layout.memory().address("empty rows") +
                          static_cast<Address>((at - share.begin) * line_bytes),
                      shape, layout.reduction().empty_rows[static_cast<std::size_t>(at)], 1);
        }
    }
}

} // namespace

Tensor values_tensor(const Layout& layout) {
    const Partition& partition = layout.partition();
    const Problem& problem = partition.problem();
    Tensor tensor{
        "a", ElementType::F16, {problem.matrix->blocks(), problem.block, problem.block}, {}};
    for (const HomeRun& run : layout.homes_values()) {
        const Part& part = partition.part(static_cast<std::int64_t>(run.home.group));
        const auto blocks = static_cast<std::int64_t>(part.blocks.size());
        add_values(tensor, run.home.tile, layout.home_values(run), problem, part,
                   run.home.first * layout.values_a_unit(),
                   std::min(blocks, run.home.last * layout.values_a_unit()));
    }
    for (std::int64_t part = 0; layout.values_stay() && part < partition.split().parts(); ++part) {
        const auto blocks = static_cast<std::int64_t>(partition.part(part).blocks.size());
        add_values(tensor, partition.tile(part, 0), layout.memory().address("values"), problem,
                   partition.part(part), 0, blocks);
    }
    return tensor;
}

Tensor dense_tensor(const Layout& layout) {
    const Partition& partition = layout.partition();
    const Problem& problem = partition.problem();
    Tensor tensor{"b", ElementType::F16, {problem.matrix->columns, problem.n}, {}};
    for (std::int64_t in = 0; in < partition.split().parts_n; ++in) {
        const LineShape shape = x_shape(layout, in);
        for (const HomeRun& run : layout.homes_x(in)) {
            const LineRun& lines = layout.runs()[run.home.group];
            add_lines(tensor, run.home.tile, layout.home_x(run), shape,
                      lines.first + run.home.first, run.home.last - run.home.first);
        }
        for (const LineRun& lines : layout.runs()) {
            const std::vector<std::int32_t>& users = layout.users(lines);
            if (users.size() == 1) {
                add_lines(tensor, partition.tile(users[0], in),
                          layout.x_line(users[0], lines.first, shape.slice.length()), shape,
                          lines.first, lines.length());
            }
        }
    }
    return tensor;
}

Tensor result_tensor(const Layout& layout) {
    const Partition& partition = layout.partition();
    const Problem& problem = partition.problem();
    Tensor tensor{"c", ElementType::F16, {problem.matrix->rows, problem.n}, {}};
    for (std::int64_t in = 0; in < partition.split().parts_n; ++in) {
        const LineShape shape = c_shape(layout, in);
        for (const SumJob& job : layout.reduction().jobs) {
            add_lines(tensor, partition.tile(job.reducer, in),
                      layout.result(job, shape.slice.length()), shape, job.first_row, job.rows);
        }
        if (half_partials(problem)) {
            add_sole_rows(tensor, layout, in);
        }
        if (!layout.reduction().empty_rows.empty()) {
            add_empty_rows(tensor, layout, in);
        }
    }
    return tensor;
}

} // namespace tessera::spmm
