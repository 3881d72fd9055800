// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_partition.h"

#include <algorithm>

namespace tessera::spmm {
namespace {

/// A line that most parts of a band need goes to all of them: one long message instead of several
/// short ones.
constexpr double kShareForAll = 0.75;

} // namespace

Problem::Problem(const workload::SpmmWorkload& workload, const workload::SparseF16& a)
    : matrix(&a), n(workload.n), block(a.block), partials(workload.partials) {}

std::int64_t Part::local_row(std::int32_t row) const {
    return std::lower_bound(rows.begin(), rows.end(), row) - rows.begin();
}

std::int64_t Part::local_line(std::int32_t line) const {
    return std::lower_bound(x_lines.begin(), x_lines.end(), line) - x_lines.begin();
}

Partition::Partition(const Problem& problem, const Split& split)
    : problem_(problem), split_(split), parts_(static_cast<std::size_t>(split.parts())) {
    cut_bands();
    cut_parts();
    collect_lines();
    collect_rows();
}

/// Column boundaries at equal shares of the blocks.
void Partition::cut_bands() {
    const workload::SparseF16& a = *problem_.matrix;
    std::vector<std::int64_t> blocks_of_column(static_cast<std::size_t>(a.block_columns()));
    for (const std::int32_t column : a.block_column) {
        ++blocks_of_column[static_cast<std::size_t>(column)];
    }
    band_of_column_.resize(blocks_of_column.size());
    std::int64_t before = 0;
    const std::int64_t all = std::max<std::int64_t>(a.blocks(), 1);
    for (std::size_t column = 0; column < blocks_of_column.size(); ++column) {
        const std::int64_t middle = 2 * before + blocks_of_column[column];
        band_of_column_[column] = static_cast<std::int32_t>(
            std::min(middle * split_.parts_k / (2 * all), split_.parts_k - 1));
        before += blocks_of_column[column];
    }
}

/// Row boundaries of every band at equal shares of its work.
void Partition::cut_parts() {
    const workload::SparseF16& a = *problem_.matrix;
    const auto bands = static_cast<std::size_t>(split_.parts_k);
    std::vector<std::int64_t> work(bands);
    std::vector<std::int64_t> blocks(bands);
    const auto blocks_by_band = [&](std::int64_t row) {
        std::fill(blocks.begin(), blocks.end(), 0);
        const std::int64_t end = a.row_start.at(static_cast<std::size_t>(row + 1));
        for (std::int64_t b = a.row_start[static_cast<std::size_t>(row)]; b < end; ++b) {
            const std::int32_t column = a.block_column[static_cast<std::size_t>(b)];
            ++blocks[static_cast<std::size_t>(band_of_column_[static_cast<std::size_t>(column)])];
        }
    };
    for (std::int64_t row = 0; row < a.block_rows(); ++row) {
        blocks_by_band(row);
        for (std::size_t band = 0; band < bands; ++band) {
            work[band] += problem_.row_work(blocks[band]);
        }
    }
    std::vector<std::int64_t> done(bands);
    for (std::int64_t row = 0; row < a.block_rows(); ++row) {
        blocks_by_band(row);
        std::vector<Part*> part_of_band(bands, nullptr);
        for (std::size_t band = 0; band < bands; ++band) {
            if (blocks[band] == 0) {
                continue;
            }
            const std::int64_t row_work = problem_.row_work(blocks[band]);
            const std::int64_t im =
                std::min((2 * done[band] + row_work) * split_.parts_m / (2 * work[band]),
                         split_.parts_m - 1);
            done[band] += row_work;
            Part& part = parts_[static_cast<std::size_t>(im) * bands + band];
            part.rows.push_back(static_cast<std::int32_t>(row));
            part.row_blocks.push_back(static_cast<std::int32_t>(blocks[band]));
            part_of_band[band] = &part;
        }
        for (std::int64_t b = a.row_start[static_cast<std::size_t>(row)];
             b < a.row_start[static_cast<std::size_t>(row + 1)]; ++b) {
            const std::int32_t column = a.block_column[static_cast<std::size_t>(b)];
            part_of_band[static_cast<std::size_t>(
                             band_of_column_[static_cast<std::size_t>(column)])]
                ->blocks.push_back(b);
        }
    }
}

void Partition::collect_lines() {
    const workload::SparseF16& a = *problem_.matrix;
    users_of_line_.resize(static_cast<std::size_t>(a.block_columns()));
    for (std::size_t number = 0; number < parts_.size(); ++number) {
        std::vector<std::int32_t> lines;
        for (const std::int64_t block : parts_[number].blocks) {
            lines.push_back(a.block_column[static_cast<std::size_t>(block)]);
        }
        std::sort(lines.begin(), lines.end());
        lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
        for (const std::int32_t line : lines) {
            users_of_line_[static_cast<std::size_t>(line)].push_back(
                static_cast<std::int32_t>(number));
        }
    }
    for (std::size_t line = 0; line < users_of_line_.size(); ++line) {
        std::vector<std::int32_t>& users = users_of_line_[line];
        const auto most = static_cast<double>(split_.parts_m);
        if (static_cast<double>(users.size()) >= kShareForAll * most && !users.empty()) {
            users.clear();
            for (std::int64_t im = 0; im < split_.parts_m; ++im) {
                users.push_back(
                    static_cast<std::int32_t>(im * split_.parts_k + band_of_column_[line]));
            }
        }
        for (const std::int32_t user : users) {
            parts_[static_cast<std::size_t>(user)].x_lines.push_back(
                static_cast<std::int32_t>(line));
        }
    }
    for (Part& part : parts_) {
        for (const std::int64_t block : part.blocks) {
            part.local_x.push_back(static_cast<std::int32_t>(
                part.local_line(a.block_column[static_cast<std::size_t>(block)])));
        }
    }
}

void Partition::collect_rows() {
    contributors_.resize(static_cast<std::size_t>(problem_.matrix->block_rows()));
    for (std::size_t number = 0; number < parts_.size(); ++number) {
        for (const std::int32_t row : parts_[number].rows) {
            contributors_[static_cast<std::size_t>(row)].push_back(
                static_cast<std::int32_t>(number));
        }
    }
}

std::size_t Partition::most_x_lines() const {
    std::size_t most = 0;
    for (const Part& part : parts_) {
        most = std::max(most, part.x_lines.size());
    }
    return most;
}

std::size_t Partition::most_rows() const {
    std::size_t most = 0;
    for (const Part& part : parts_) {
        most = std::max(most, part.rows.size());
    }
    return most;
}

std::size_t Partition::most_blocks() const {
    std::size_t most = 0;
    for (const Part& part : parts_) {
        most = std::max(most, part.blocks.size());
    }
    return most;
}

} // namespace tessera::spmm
