// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_partition.h"

#include <algorithm>
#include <utility>

namespace tessera::spmm {
namespace {

/// A line that most parts of a band need goes to all of them: one long message instead of several
/// short ones.
constexpr double kShareForAll = 0.75;

} // namespace

Problem::Problem(const workload::SpmmWorkload& workload, const workload::SparsePattern& a)
    : matrix(&a), n(workload.n), block(a.block), types{workload.dtype, workload.partials},
      kind(&kind_of(a.block, types)) {}

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
    const workload::SparsePattern& a = *problem_.matrix;
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
    const workload::SparsePattern& a = *problem_.matrix;
    const auto bands = static_cast<std::size_t>(split_.parts_k);
    // Columns ascend in a row, and bands with them: a row's blocks of one band are neighbours.
    const auto for_each_band = [&](std::int64_t row, auto visit) {
        const std::int64_t end = a.row_start.at(static_cast<std::size_t>(row + 1));
        for (std::int64_t b = a.row_start[static_cast<std::size_t>(row)]; b < end;) {
            const std::int64_t first = b;
            const std::int32_t band = band_of_block(first);
            while (b < end && band_of_block(b) == band) {
                ++b;
            }
            visit(static_cast<std::size_t>(band), first, b);
        }
    };
    std::vector<std::int64_t> work(bands);
    for (std::int64_t row = 0; row < a.block_rows(); ++row) {
        for_each_band(row, [&](std::size_t band, std::int64_t first, std::int64_t last) {
            work[band] += problem_.row_work(last - first);
        });
    }
    std::vector<std::int64_t> done(bands);
    for (std::int64_t row = 0; row < a.block_rows(); ++row) {
        for_each_band(row, [&](std::size_t band, std::int64_t first, std::int64_t last) {
            const std::int64_t row_work = problem_.row_work(last - first);
            const std::int64_t im =
                std::min((2 * done[band] + row_work) * split_.parts_m / (2 * work[band]),
                         split_.parts_m - 1);
            done[band] += row_work;
            Part& part = parts_[static_cast<std::size_t>(im) * bands + band];
            part.rows.push_back(static_cast<std::int32_t>(row));
            part.row_blocks.push_back(static_cast<std::int32_t>(last - first));
            for (std::int64_t b = first; b < last; ++b) {
                part.blocks.push_back(b);
            }
        });
    }
}

std::int32_t Partition::band_of_block(std::int64_t block) const {
    const std::int32_t column = problem_.matrix->block_column[static_cast<std::size_t>(block)];
    return band_of_column_[static_cast<std::size_t>(column)];
}

void Partition::collect_lines() {
    const workload::SparsePattern& a = *problem_.matrix;
    users_of_line_.resize(static_cast<std::size_t>(a.block_columns()));
    std::vector<std::int32_t> last_user(users_of_line_.size(), -1);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        const auto number = static_cast<std::int32_t>(part);
        for (const std::int64_t block : parts_[part].blocks) {
            const auto line =
                static_cast<std::size_t>(a.block_column[static_cast<std::size_t>(block)]);
            if (std::exchange(last_user[line], number) != number) {
                users_of_line_[line].push_back(number);
            }
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
    std::vector<std::int32_t> place_of_line(users_of_line_.size()); // in the part at hand
    for (Part& part : parts_) {
        for (std::size_t place = 0; place < part.x_lines.size(); ++place) {
            place_of_line[static_cast<std::size_t>(part.x_lines[place])] =
                static_cast<std::int32_t>(place);
        }
        part.local_x.reserve(part.blocks.size());
        for (const std::int64_t block : part.blocks) {
            const std::int32_t line = a.block_column[static_cast<std::size_t>(block)];
            part.local_x.push_back(place_of_line[static_cast<std::size_t>(line)]);
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
