// SPDX-License-Identifier: MIT
#include "kernels/dynamic/metadata.h"

#include "base/error.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace tessera::dynamic {
namespace {

/// A row of a sub-group.
struct Row {
    std::int64_t number = 0;
    std::int64_t blocks = 0;
    std::int64_t words = 0;         ///< from the sub-group
    std::int64_t blocks_before = 0; ///< in the sub-group
};

/// Rows and grains of columns of X that a worker takes.
struct Rectangle {
    std::int64_t first_row = 0;
    std::int64_t rows = 0;
    std::int64_t first_grain = 0;
    std::int64_t grains = 0;

    [[nodiscard]] std::int64_t cells() const { return rows * grains; }
};

class Words {
public:
    explicit Words(std::span<std::uint16_t> words) : words_(words) {}

    void set(std::int64_t at, std::int64_t value) {
        TESSERA_ASSERT(value >= 0 && value <= std::numeric_limits<std::uint16_t>::max());
        words_[static_cast<std::size_t>(at)] = static_cast<std::uint16_t>(value);
    }

private:
    std::span<std::uint16_t> words_;
};

/// The largest rectangle is halved, by rows if it has several, until there is one for each worker.
std::vector<Rectangle> halved(std::int64_t rows, std::int64_t grains, std::int64_t workers) {
    std::vector<Rectangle> pieces{{0, rows, 0, grains}};
    while (std::ssize(pieces) < workers) {
        const auto largest =
            std::max_element(pieces.begin(), pieces.end(), [](const auto& one, const auto& other) {
                return one.cells() < other.cells();
            });
        if (largest->cells() == 1) {
            break;
        }
        Rectangle half = *largest;
        if (half.rows > 1) {
            half.rows /= 2;
            largest->rows -= half.rows;
            half.first_row += largest->rows;
        } else {
            half.grains /= 2;
            largest->grains -= half.grains;
            half.first_grain += largest->grains;
        }
        pieces.push_back(half);
    }
    return pieces;
}

/// Rows are dealt so that workers have nearly equal numbers of blocks.
std::vector<Rectangle> by_blocks(const std::vector<Row>& rows, std::int64_t grains,
                                 std::int64_t workers) {
    std::vector<Rectangle> pieces;
    const std::int64_t all = rows.back().blocks_before + rows.back().blocks;
    std::int64_t first = 0;
    for (std::int64_t worker = 1; worker <= workers; ++worker) {
        std::int64_t last = first;
        while (last < std::ssize(rows) &&
               rows[static_cast<std::size_t>(last)].blocks_before * workers < all * worker) {
            ++last;
        }
        pieces.push_back({first, last - first, 0, grains});
        first = last;
    }
    return pieces;
}

class SubGroupWriter {
public:
    SubGroupWriter(const Layout& layout, std::span<std::uint16_t> words)
        : layout_(layout), words_(words) {}

    /// Words that the sub-group takes.
    std::int64_t write(std::int64_t group, const std::vector<Row>& rows) {
        const std::int64_t all = rows.back().blocks_before + rows.back().blocks;
        const std::int64_t size = rows.back().words + kRowWords + rows.back().blocks;
        words_.set(SubGroup::kNumber, group + 1);
        words_.set(SubGroup::kX, group / layout_.split.y);
        words_.set(SubGroup::kY, group % layout_.split.y);
        words_.set(SubGroup::kBlocks, all);
        words_.set(SubGroup::kWords, size);
        words_.set(SubGroup::kRowsLess1, std::ssize(rows) - 1);
        words_.set(SubGroup::kLists, layout_.lists ? layout_.workers : 0);
        if (layout_.block == 1) {
            words_.set(SubGroup::kColumns, layout_.n);
            words_.set(SubGroup::kRows, layout_.header_words());
            entries(rows);
        }
        if (layout_.lists) {
            lists(rows, all);
        }
        for (const Row& row : rows) {
            words_.set(row.words, row.number);
            words_.set(row.words + 1, row.blocks - 1);
        }
        return size;
    }

    static constexpr std::int64_t kRowWords = 2;

private:
    void entries(const std::vector<Row>& rows) {
        const std::int64_t grains = layout_.n / layout_.n_grain;
        const std::int64_t workers = layout_.workers;
        const auto pieces = std::ssize(rows) > 2 * workers
                                ? by_blocks(rows, grains, workers)
                                : halved(std::ssize(rows), grains, workers);
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const Rectangle& piece = pieces[i];
            if (piece.rows == 0) {
                continue;
            }
            const Row& first = rows[static_cast<std::size_t>(piece.first_row)];
            const std::int64_t at =
                SubGroup::kElementHeader + WorkerEntry::kWords * static_cast<std::int64_t>(i);
            words_.set(at + WorkerEntry::kBlocksBefore, first.blocks_before);
            words_.set(at + WorkerEntry::kColumns, piece.grains * layout_.n_grain);
            words_.set(at + WorkerEntry::kFirstColumn, piece.first_grain * layout_.n_grain);
            words_.set(at + WorkerEntry::kRows, piece.rows);
            words_.set(at + WorkerEntry::kRowsWords, first.words);
        }
    }

    void lists(const std::vector<Row>& rows, std::int64_t all) {
        const std::int64_t step =
            layout_.block == 1 ? WorkerList::kElementWords : WorkerList::kBlockWords;
        auto row = rows.begin();
        for (std::int64_t worker = 0; worker < layout_.workers; ++worker) {
            const std::int64_t first = all * worker / layout_.workers;
            const std::int64_t last = all * (worker + 1) / layout_.workers;
            if (first == last) {
                continue;
            }
            while (row->blocks_before + row->blocks <= first) {
                ++row;
            }
            const std::int64_t at = layout_.lists_at() + worker * step;
            const std::int64_t in_row = first - row->blocks_before;
            words_.set(at + WorkerList::kBlocksBefore, first);
            words_.set(at + WorkerList::kRowWords, row->words);
            words_.set(at + WorkerList::kPlaceWords, row->words + kRowWords + in_row);
            words_.set(at + WorkerList::kBlocks, last - first);
            if (layout_.block == 1) {
                words_.set(at + WorkerList::kRowBlocks,
                           std::min(row->blocks - in_row, last - first));
            }
        }
    }

    const Layout& layout_;
    Words words_;
};

} // namespace

void write_bucket(const Layout& layout, Holding& holding, const std::vector<DealtBlock>& blocks,
                  std::span<std::uint16_t> words) {
    const std::int64_t step = layout.place_step();
    std::vector<Row> rows;
    for (Piece& piece : holding.pieces) {
        std::sort(piece.runs.begin(), piece.runs.end(),
                  [](const Run& one, const Run& other) { return one.first < other.first; });
        rows.clear();
        std::int64_t at = layout.header_words();
        std::int64_t before = 0;
        for (const Run& run : piece.runs) {
            if (rows.empty() || rows.back().number != run.row) {
                rows.push_back({run.row, 0, at, before});
                at += SubGroupWriter::kRowWords;
            }
            rows.back().blocks += run.blocks;
            before += run.blocks;
            const auto first = blocks.begin() + run.first;
            for (auto block = first; block != first + run.blocks; ++block, ++at) {
                words[static_cast<std::size_t>(at)] =
                    static_cast<std::uint16_t>(block->column * step);
            }
        }
        const std::int64_t size = SubGroupWriter(layout, words).write(piece.group, rows);
        TESSERA_ASSERT(size == at);
        words = words.subspan(static_cast<std::size_t>(size));
    }
    TESSERA_ASSERT(!words.empty());
}

} // namespace tessera::dynamic
