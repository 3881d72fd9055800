// SPDX-License-Identifier: MIT
#include "kernels/dynamic/deal.h"

#include "base/error.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <iterator>
#include <queue>
#include <utility>

namespace tessera::dynamic {
namespace {

constexpr std::int64_t kRowWords = 2;      ///< before the places of its blocks
constexpr std::int64_t kMostCount = 65535; ///< of blocks or words, in a word

struct Overflow {
    std::int64_t bucket = 0;
    std::int64_t blocks = 0;
    std::vector<Run> runs; ///< by row
};

class Dealer {
public:
    Dealer(const Layout& layout, const workload::SparsePattern& pattern)
        : layout_(layout), pattern_(pattern),
          most_blocks_(std::min(layout.bucket.blocks, kMostCount)),
          most_words_(std::min(layout.bucket.metadata, kMostCount) - 1) {}

    [[nodiscard]] Deal run() {
        sort();
        cut();
        strip();
        if (!overflows_.empty()) {
            find_places();
        }
        return std::move(deal_);
    }

private:
    // Where buckets are tried, in this order.
    enum class Reach { Part, Rows, All };

    /// Calls each(part, block row in it, first block, behind the last one) for the blocks of each
    /// row of each part that has any; on several threads, of which each has all parts of some x.
    template <class Each> void each_row(const Each& each) const {
        tbb::parallel_for(std::int64_t{0}, layout_.split.x,
                          [&](std::int64_t x) { each_row_of(x, each); });
    }
    template <class Each> void each_row_of(std::int64_t x, const Each& each) const {
        const std::int64_t first = x * layout_.part_rows;
        const std::int64_t end_of_rows = std::min(layout_.rows, first + layout_.part_rows);
        for (std::int64_t row = first; row < end_of_rows; ++row) {
            const std::int64_t last = pattern_.first_block(row + 1);
            std::int64_t at = pattern_.first_block(row);
            while (at < last) {
                const std::int64_t y = pattern_.column_of(at) / layout_.part_columns;
                const std::int64_t end = (y + 1) * layout_.part_columns;
                std::int64_t behind = at + 1;
                while (behind < last && pattern_.column_of(behind) < end) {
                    ++behind;
                }
                each(x * layout_.split.y + y, row - first, at, behind);
                at = behind;
            }
        }
    }

    void sort() {
        const auto groups = static_cast<std::size_t>(layout_.groups());
        std::vector<std::int64_t> next(groups + 1);
        std::vector<std::size_t> runs(groups);
        each_row([&](std::int64_t group, std::int64_t, std::int64_t at, std::int64_t behind) {
            next[static_cast<std::size_t>(group) + 1] += behind - at;
            ++runs[static_cast<std::size_t>(group)];
        });
        for (std::size_t group = 0; group < groups; ++group) {
            next[group + 1] += next[group];
        }
        rows_.resize(groups);
        for (std::size_t group = 0; group < groups; ++group) {
            rows_[group].reserve(runs[group]);
        }
        deal_.blocks.resize(static_cast<std::size_t>(next[groups]));
        each_row([&](std::int64_t group, std::int64_t row, std::int64_t at, std::int64_t behind) {
            std::int64_t& to = next[static_cast<std::size_t>(group)];
            rows_[static_cast<std::size_t>(group)].push_back(
                {to, static_cast<std::int32_t>(row), static_cast<std::int32_t>(behind - at)});
            const auto first =
                static_cast<std::int32_t>(group % layout_.split.y * layout_.part_columns);
            for (std::int64_t block = at; block < behind; ++block, ++to) {
                deal_.blocks[static_cast<std::size_t>(to)] = {static_cast<std::int32_t>(block),
                                                              pattern_.column_of(block) - first};
            }
        });
    }

    void cut() {
        deal_.buckets.resize(static_cast<std::size_t>(layout_.buckets()));
        wanted_.resize(deal_.buckets.size());
        tbb::parallel_for(std::int64_t{0}, layout_.groups(),
                          [&](std::int64_t group) { cut_group(group); });
    }

    void cut_group(std::int64_t group) {
        const std::vector<Run>& rows = rows_[static_cast<std::size_t>(group)];
        std::int64_t all = 0;
        for (const Run& row : rows) {
            all += row.blocks;
        }
        const std::int64_t share = ceil_div(all, layout_.split.z);
        auto row = rows.begin();
        Run left = all > 0 ? *row : Run{};
        for (std::int64_t z = 0; z < layout_.split.z && all > 0; ++z) {
            const std::int64_t number =
                layout_.bucket_of(group / layout_.split.y, group % layout_.split.y, z);
            Piece piece{group, {}};
            std::int64_t room = std::min(share, all);
            all -= room;
            wanted_[static_cast<std::size_t>(number)] = room;
            while (room > 0) {
                const auto taken =
                    static_cast<std::int32_t>(std::min<std::int64_t>(room, left.blocks));
                piece.runs.push_back({left.first, left.row, taken});
                room -= taken;
                left.first += taken;
                left.blocks -= taken;
                if (left.blocks == 0 && ++row != rows.end()) {
                    left = *row;
                }
            }
            bucket(number).pieces.push_back(std::move(piece));
        }
    }

    /// Counts what buckets have, and takes rows from the end of those that have too much.
    void strip() {
        for (std::int64_t number = 0; number < layout_.buckets(); ++number) {
            Holding& holding = bucket(number);
            if (holding.pieces.empty()) {
                continue;
            }
            std::vector<Run>& runs = holding.pieces.front().runs;
            holding.words = layout_.header_words();
            for (const Run& run : runs) {
                holding.blocks += run.blocks;
                holding.words += kRowWords + run.blocks;
            }
            Overflow over;
            over.bucket = number;
            while (!runs.empty() &&
                   (holding.blocks > most_blocks_ || holding.words > most_words_)) {
                holding.blocks -= runs.back().blocks;
                holding.words -= kRowWords + runs.back().blocks;
                over.blocks += runs.back().blocks;
                over.runs.push_back(runs.back());
                runs.pop_back();
            }
            if (runs.empty()) {
                holding = {};
            }
            if (!over.runs.empty()) {
                std::reverse(over.runs.begin(), over.runs.end());
                overflows_.push_back(std::move(over));
            }
        }
        deal_.overfull = std::ssize(overflows_);
    }

    void find_places() {
        for (const Reach reach : {Reach::Part, Reach::Rows, Reach::All}) {
            for (const bool in_pieces : {false, true}) {
                place(reach, in_pieces);
                std::erase_if(overflows_, [](const Overflow& over) { return over.runs.empty(); });
            }
        }
        std::stable_sort(
            overflows_.begin(), overflows_.end(),
            [](const Overflow& one, const Overflow& other) { return one.blocks > other.blocks; });
        for (const Overflow& over : overflows_) {
            const std::int64_t wanted = wanted_[static_cast<std::size_t>(over.bucket)];
            deal_.left.push_back({over.bucket, wanted, wanted - over.blocks});
        }
    }

    /// Whichever has most left goes next, to the nearest bucket that takes any of it.
    void place(Reach reach, bool in_pieces) {
        using Next = std::pair<std::int64_t, std::ptrdiff_t>; // blocks; less the overflow's number
        std::priority_queue<Next> queue;
        std::vector<std::int64_t> back(overflows_.size()); // buckets that took all they can
        for (std::ptrdiff_t i = 0; i < std::ssize(overflows_); ++i) {
            queue.emplace(overflows_[static_cast<std::size_t>(i)].blocks, -i);
        }
        const std::int64_t many = buckets_in(reach);
        while (!queue.empty()) {
            const std::ptrdiff_t i = -queue.top().second;
            queue.pop();
            Overflow& over = overflows_[static_cast<std::size_t>(i)];
            std::int64_t& at = back[static_cast<std::size_t>(i)];
            const std::int64_t before = over.blocks;
            while (at < many && over.blocks == before) {
                give(over, behind(over.bucket, many, at), in_pieces);
                ++at;
            }
            if (over.blocks > 0 && at < many) {
                queue.emplace(over.blocks, -i);
            }
        }
    }

    [[nodiscard]] std::int64_t buckets_in(Reach reach) const {
        const Split& split = layout_.split;
        return reach == Reach::Part   ? split.z
               : reach == Reach::Rows ? split.z * split.y
                                      : split.tiles();
    }

    /// The bucket `back` places before `own` among the `many` next to each other that it is one of:
    /// buckets travel the other way. Their order is x, y, z, and they are a ring.
    [[nodiscard]] std::int64_t behind(std::int64_t own, std::int64_t many,
                                      std::int64_t back) const {
        const std::int64_t in_part = layout_.split.z;
        const std::int64_t in_rows = layout_.split.y * in_part;
        const std::int64_t at =
            layout_.x_of(own) * in_rows + layout_.y_of(own) * in_part + layout_.z_of(own);
        const std::int64_t first = at / many * many;
        const std::int64_t place = first + (at - first + many - back) % many;
        return layout_.bucket_of(place / in_rows, place % in_rows / in_part, place % in_part);
    }

    /// Moves what fits.
    void give(Overflow& over, std::int64_t to, bool in_pieces) {
        Holding& holding = bucket(to);
        if (holding.blocks >= most_blocks_ || holding.words >= most_words_) {
            return;
        }
        const std::int64_t group = group_of(over.bucket);
        auto piece = std::find_if(holding.pieces.begin(), holding.pieces.end(),
                                  [&](const Piece& one) { return one.group == group; });
        std::vector<Run> left;
        for (Run& run : over.runs) {
            const bool is_new = piece == holding.pieces.end();
            const bool has_row =
                !is_new && std::any_of(piece->runs.rbegin(), piece->runs.rend(),
                                       [&](const Run& one) { return one.row == run.row; });
            const std::int64_t words =
                (is_new ? layout_.header_words() : 0) + (has_row ? 0 : kRowWords);
            const std::int64_t room =
                std::min(most_blocks_ - holding.blocks, most_words_ - holding.words - words);
            const std::int64_t taken = room >= run.blocks ? run.blocks
                                       : in_pieces        ? std::max<std::int64_t>(room, 0)
                                                          : 0;
            if (taken > 0) {
                if (is_new) {
                    holding.pieces.push_back({group, {}});
                    piece = std::prev(holding.pieces.end());
                }
                const auto blocks = static_cast<std::int32_t>(taken);
                piece->runs.push_back({run.first, run.row, blocks});
                holding.blocks += taken;
                holding.words += words + taken;
                over.blocks -= taken;
                run.first += taken;
                run.blocks -= blocks;
            }
            if (run.blocks > 0) {
                left.push_back(run);
            }
        }
        over.runs = std::move(left);
    }

    [[nodiscard]] Holding& bucket(std::int64_t number) {
        return deal_.buckets[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] std::int64_t group_of(std::int64_t number) const {
        return layout_.x_of(number) * layout_.split.y + layout_.y_of(number);
    }

    const Layout& layout_;
    const workload::SparsePattern& pattern_;
    std::int64_t most_blocks_;
    std::int64_t most_words_;
    std::vector<std::vector<Run>> rows_; ///< of each part
    std::vector<std::int64_t> wanted_;   ///< blocks of each bucket's run
    std::vector<Overflow> overflows_;
    Deal deal_;
};

} // namespace

Deal deal(const Layout& layout, const workload::SparsePattern& pattern) {
    TESSERA_ASSERT(pattern.block == layout.block);
    TESSERA_ASSERT(pattern.block_rows() == layout.rows);
    TESSERA_ASSERT(pattern.block_columns() == layout.columns);
    TESSERA_ASSERT((layout.part_columns - 1) * layout.place_step() <= kMostCount);
    TESSERA_ASSERT(layout.part_rows <= kMostCount + 1);
    return Dealer(layout, pattern).run();
}

} // namespace tessera::dynamic
