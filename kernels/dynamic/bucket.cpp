// SPDX-License-Identifier: MIT
#include "kernels/dynamic/bucket.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tessera::dynamic {
namespace {

class BucketReader {
public:
    BucketReader(const Layout& layout, std::span<const std::uint16_t> words, std::int64_t bucket)
        : layout_(layout), words_(words), bucket_(bucket) {}

    BucketRead read() {
        while (word(at_) != 0) {
            sub_group();
        }
        made_.words = at_ + 1;
        return std::move(made_);
    }

private:
    void sub_group() {
        SubGroupRead& group = made_.groups.emplace_back();
        const std::int64_t first = at_;
        const std::int64_t number = word(first + SubGroup::kNumber);
        group.word = first;
        group.x = word(first + SubGroup::kX);
        group.y = word(first + SubGroup::kY);
        if (number > layout_.groups() || group.x * layout_.split.y + group.y + 1 != number) {
            refuse(first, "no sub-group of this number and place");
        }
        const std::int64_t rows =
            std::min(layout_.part_rows, layout_.rows - group.x * layout_.part_rows);
        const std::int64_t columns =
            std::min(layout_.part_columns, layout_.columns - group.y * layout_.part_columns);
        at_ += layout_.header_words();
        for (std::int64_t left = word(first + SubGroup::kRowsLess1) + 1; left > 0; --left) {
            RowRead row{at_, word(at_), std::ssize(group.columns), word(at_ + 1) + 1};
            if (row.row >= rows) {
                refuse(at_, "no such row in the part");
            }
            at_ += 2;
            for (const std::int64_t last = at_ + row.blocks; at_ < last; ++at_) {
                const std::int64_t step = layout_.place_step();
                const std::int64_t column = word(at_) / step;
                if (word(at_) % step != 0 || column >= columns) {
                    refuse(at_, "no such column in the part");
                }
                if (made_.blocks == layout_.bucket.blocks) {
                    refuse(at_, "more blocks than the bucket holds");
                }
                group.columns.push_back(column);
                ++made_.blocks;
            }
            group.rows.push_back(row);
        }
        group.words = at_ - first;
        if (group.words != word(first + SubGroup::kWords) ||
            std::ssize(group.columns) != word(first + SubGroup::kBlocks)) {
            refuse(first, "the sub-group ends elsewhere than it says");
        }
    }

    [[nodiscard]] std::int64_t word(std::int64_t at) const {
        if (at >= std::ssize(words_)) {
            refuse(at, "the metadata have no end");
        }
        return words_[static_cast<std::size_t>(at)];
    }
    [[noreturn]] void refuse(std::int64_t at, std::string_view what) const {
        throw ProgramError(fmt::format("bucket {}, word {}: {}", bucket_, at, what));
    }

    const Layout& layout_;
    std::span<const std::uint16_t> words_;
    std::int64_t bucket_;
    BucketRead made_;
    std::int64_t at_ = 0;
};

} // namespace

BucketRead read_bucket(const Layout& layout, std::span<const std::uint16_t> words,
                       std::int64_t number) {
    return BucketReader(layout, words, number).read();
}

} // namespace tessera::dynamic
