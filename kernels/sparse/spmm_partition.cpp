// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_partition.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tessera::sparse {
namespace {

/// A line that most parts of a band need goes to all of them: one long message instead of several
/// short ones.
constexpr double kShareForAll = 0.75;

/// One band's rows on their way to its parts: pieces of those that are cut go to one part after the other, the others
/// in their order to where a part's share of the work is not yet reached.
class Band {
public:
    Band(const Split& split, std::int64_t work) : split_(split), work_(work), all_(work) {
        dealt_.resize(static_cast<std::size_t>(split.parts_m));
    }

    /// Into how many pieces a row of so much work is cut.
    [[nodiscard]] std::int64_t pieces(std::int64_t row_work) const {
        return split_.cut == 0 ? 1
                               : std::min(ceil_div(row_work * split_.cut * split_.parts_m, work_),
                                          split_.parts_m);
    }
    [[nodiscard]] std::int64_t deal() { return std::exchange(next_, (next_ + 1) % split_.parts_m); }
    void note_cut(std::int64_t row_work) { all_ -= row_work; }
    /// What a piece that part `im` has costs it.
    void note_piece(std::int64_t im, std::int64_t piece_work) {
        dealt_[static_cast<std::size_t>(im)] += piece_work;
        all_ += piece_work;
    }
    void begin() {
        next_ = 0;
        std::int64_t before = 0;
        for (std::int64_t im = 1; im < split_.parts_m; ++im) {
            before += dealt_[static_cast<std::size_t>(im - 1)];
            const double share = real(all_ * im) / real(split_.parts_m);
            until_.push_back(share - real(before));
        }
    }
    /// The part of the next row that is not cut.
    [[nodiscard]] std::int64_t place(std::int64_t row_work) {
        const double middle = real(done_) + real(row_work) / 2;
        done_ += row_work;
        while (part_ < until_.size() && until_[part_] <= middle) {
            ++part_;
        }
        return static_cast<std::int64_t>(part_);
    }

private:
    const Split& split_;
    std::int64_t work_ = 0;           ///< of all rows
    std::int64_t all_ = 0;            ///< of all rows and pieces
    std::vector<std::int64_t> dealt_; ///< by part: work of its pieces
    /// Work of whole rows at which each part but the last ends; less than that of a part before it where
    /// its pieces are more than its share.
    std::vector<double> until_;
    std::int64_t next_ = 0; ///< part that has the next piece
    std::int64_t done_ = 0; ///< work of the whole rows that are placed
    std::size_t part_ = 0;  ///< where the last of them is
};

} // namespace

Problem::Problem(const workload::SpmmWorkload& workload, const workload::SparsePattern& a, Pass of)
    : matrix(&a), pass(of), n(workload.n), block(a.block), types{workload.dtype, workload.partials},
      kind(&kind_of(a.block, types)), by_rows(of == Pass::Sampled) {
    for (std::int64_t row = 0; row < a.block_rows(); ++row) {
        if (a.blocks_of_row(row) > 0) {
            row_blocks.push_back(a.blocks_of_row(row));
        }
    }
    std::ranges::sort(row_blocks, std::greater<>());
}

std::int64_t Part::local_row(std::int64_t row) const {
    return std::lower_bound(rows.begin(), rows.end(), row) - rows.begin();
}

std::int64_t Part::local_line(std::int64_t line) const {
    return std::lower_bound(b_lines.begin(), b_lines.end(), line) - b_lines.begin();
}

Partition::Partition(const Problem& problem, const Split& split)
    : problem_(problem), split_(split), parts_(static_cast<std::size_t>(split.parts())) {
    cut_bands();
    cut_parts();
    collect_lines();
    collect_rows();
}

Partition::Partition(const Problem& problem, const Partition& cut,
                     std::span<const std::int64_t> from)
    : problem_(problem), split_(cut.split().of(problem.pass)) {
    if (problem.pass != Pass::Transposed) {
        *this = cut;
        problem_ = problem;
        return;
    }
    parts_.resize(cut.parts_.size());
    take_transposed(cut, from);
    collect_lines();
    collect_rows();
}

/// The blocks of each part, in the order of the transpose.
void Partition::take_transposed(const Partition& cut, std::span<const std::int64_t> from) {
    std::vector<std::int32_t> part_of_block(from.size());
    for (std::size_t number = 0; number < cut.parts_.size(); ++number) {
        for (const std::int64_t block : cut.parts_[number].blocks) {
            part_of_block[static_cast<std::size_t>(block)] = static_cast<std::int32_t>(number);
        }
    }
    const workload::SparsePattern& a = *problem_.matrix;
    for (std::int64_t row = 0; row < a.block_rows(); ++row) {
        for (std::int64_t b = a.first_block(row); b < a.first_block(row + 1); ++b) {
            const std::int64_t block = from[static_cast<std::size_t>(b)];
            const std::int32_t number = part_of_block[static_cast<std::size_t>(block)];
            Part& part = parts_[static_cast<std::size_t>(number)];
            if (part.rows.empty() || part.rows.back() != row) {
                add_row(number, row, b, b);
            }
            ++part.row_blocks.back();
            part.blocks.push_back(b);
        }
    }
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
    // Columns ascend in a row, and bands with them: a row's blocks of one band are neighbours.
    const auto for_each_band = [&](auto visit) {
        for (std::int64_t row = 0; row < a.block_rows(); ++row) {
            const std::int64_t end = a.first_block(row + 1);
            for (std::int64_t b = a.first_block(row); b < end;) {
                const std::int64_t first = b;
                const std::int32_t band = band_of_block(first);
                while (b < end && band_of_block(b) == band) {
                    ++b;
                }
                visit(static_cast<std::size_t>(band), row, first, b);
            }
        }
    };
    const auto for_each_piece = [](std::int64_t pieces, std::int64_t first, std::int64_t last,
                                   auto visit) {
        for (std::int64_t piece = 0; piece < pieces; ++piece) {
            visit(first + piece * (last - first) / pieces,
                  first + (piece + 1) * (last - first) / pieces);
        }
    };
    std::vector<std::int64_t> work(static_cast<std::size_t>(split_.parts_k));
    for_each_band([&](std::size_t band, std::int64_t /*row*/, std::int64_t first,
                      std::int64_t last) { work[band] += problem_.row_work(last - first); });
    std::vector<Band> bands;
    for (const std::int64_t of_band : work) {
        bands.emplace_back(split_, of_band);
    }
    if (split_.cut > 0) {
        for_each_band(
            [&](std::size_t at, std::int64_t /*row*/, std::int64_t first, std::int64_t last) {
                Band& band = bands[at];
                const std::int64_t pieces =
                    std::min(band.pieces(problem_.row_work(last - first)), last - first);
                if (pieces > 1) {
                    band.note_cut(problem_.row_work(last - first));
                    for_each_piece(pieces, first, last, [&](std::int64_t begin, std::int64_t end) {
                        band.note_piece(band.deal(), problem_.row_work(end - begin));
                    });
                }
            });
    }
    for (Band& band : bands) {
        band.begin();
    }
    for_each_band([&](std::size_t at, std::int64_t row, std::int64_t first, std::int64_t last) {
        Band& band = bands[at];
        const std::int64_t row_work = problem_.row_work(last - first);
        const std::int64_t pieces = std::min(band.pieces(row_work), last - first);
        const auto part = [&](std::int64_t im) {
            return im * split_.parts_k + static_cast<std::int64_t>(at);
        };
        if (pieces == 1) {
            add_row(part(band.place(row_work)), row, first, last);
            return;
        }
        for_each_piece(pieces, first, last, [&](std::int64_t begin, std::int64_t end) {
            add_row(part(band.deal()), row, begin, end);
        });
    });
}

void Partition::add_row(std::int64_t part, std::int64_t row, std::int64_t first,
                        std::int64_t last) {
    Part& to = parts_[static_cast<std::size_t>(part)];
    to.rows.push_back(static_cast<std::int32_t>(row));
    to.row_blocks.push_back(static_cast<std::int32_t>(last - first));
    for (std::int64_t b = first; b < last; ++b) {
        to.blocks.push_back(b);
    }
}

std::int32_t Partition::band_of_block(std::int64_t block) const {
    return band_of_column_[static_cast<std::size_t>(problem_.matrix->column_of(block))];
}

void Partition::collect_lines() {
    const workload::SparsePattern& a = *problem_.matrix;
    users_of_line_.resize(static_cast<std::size_t>(a.block_columns()));
    std::vector<std::int32_t> last_user(users_of_line_.size(), -1);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        const auto number = static_cast<std::int32_t>(part);
        for (const std::int64_t block : parts_[part].blocks) {
            const auto line = static_cast<std::size_t>(a.column_of(block));
            if (std::exchange(last_user[line], number) != number) {
                users_of_line_[line].push_back(number);
            }
        }
    }
    for (std::size_t line = 0; line < users_of_line_.size(); ++line) {
        std::vector<std::int32_t>& users = users_of_line_[line];
        const auto most = real(split_.parts_m);
        // parts that a transpose has taken have no common bands
        if (!band_of_column_.empty() && real(users.size()) >= kShareForAll * most &&
            !users.empty()) {
            users.clear();
            for (std::int64_t im = 0; im < split_.parts_m; ++im) {
                users.push_back(
                    static_cast<std::int32_t>(im * split_.parts_k + band_of_column_[line]));
            }
        }
        for (const std::int32_t user : users) {
            parts_[static_cast<std::size_t>(user)].b_lines.push_back(
                static_cast<std::int32_t>(line));
        }
    }
    std::vector<std::int32_t> place_of_line(users_of_line_.size()); // in the part at hand
    for (Part& part : parts_) {
        for (std::size_t place = 0; place < part.b_lines.size(); ++place) {
            place_of_line[static_cast<std::size_t>(part.b_lines[place])] =
                static_cast<std::int32_t>(place);
        }
        part.local_b.reserve(part.blocks.size());
        for (const std::int64_t block : part.blocks) {
            part.local_b.push_back(place_of_line[static_cast<std::size_t>(a.column_of(block))]);
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

std::int64_t Partition::end_of_run(std::int64_t row) const {
    const auto others = std::find_if(
        contributors_.begin() + row, contributors_.end(),
        [&](const std::vector<std::int32_t>& parts) { return parts != contributors(row); });
    return others - contributors_.begin();
}

} // namespace tessera::sparse
