// SPDX-License-Identifier: MIT
#include "sim/pattern/bucket_words.h"

#include "base/text.h"
#include "kernels/dynamic/bucket.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace tessera::pattern {

using dynamic::RowRead;
using dynamic::SubGroup;
using dynamic::SubGroupRead;
using dynamic::WorkerEntry;
using dynamic::WorkerList;

namespace {

class Teller {
public:
    Teller(const dynamic::Layout& layout, std::span<const std::uint16_t> words)
        : layout_(layout), words_(words), unit_(layout.block == 1 ? "element" : "block") {}

    std::vector<WordsTold> tell(const dynamic::BucketRead& bucket) {
        for (const SubGroupRead& group : bucket.groups) {
            tell_group(group);
        }
        add(bucket.words - 1, 1, "the end");
        return std::move(told_);
    }

private:
    void tell_group(const SubGroupRead& group) {
        const std::int64_t at = group.word;
        const bool of_elements = layout_.block == 1;
        const auto word = [&](std::int64_t number) { return word_at(at + number); };
        const std::int64_t lists = word(SubGroup::kLists);
        std::string says = fmt::format(
            "sub-group {}, of part x {}, y {}: {} in {} words, {}; {}", word(SubGroup::kNumber),
            group.x, group.y, count(std::ssize(group.columns), unit_), group.words,
            count(std::ssize(group.rows), "row"),
            lists == 0 ? "no lists" : "lists of " + count(lists, "worker"));
        if (of_elements) {
            says +=
                fmt::format("; {}; rows from word {} on", count(word(SubGroup::kColumns), "column"),
                            at + word(SubGroup::kRows));
        }
        add(at, of_elements ? SubGroup::kElementHeader : SubGroup::kBlockHeader, std::move(says));
        if (of_elements) {
            for (std::int64_t worker = 0; worker < layout_.workers; ++worker) {
                tell_entry(at, worker);
            }
        }
        if (layout_.lists) {
            for (std::int64_t worker = 0; worker < layout_.workers; ++worker) {
                tell_list(at, worker);
            }
        }
        for (const RowRead& row : group.rows) {
            tell_row(group, row);
        }
    }

    void tell_entry(std::int64_t group, std::int64_t worker) {
        const std::int64_t at = group + SubGroup::kElementHeader + worker * WorkerEntry::kWords;
        const auto word = [&](std::int64_t number) { return word_at(at + number); };
        const std::int64_t rows = word(WorkerEntry::kRows);
        add(at, WorkerEntry::kWords,
            rows == 0
                ? fmt::format("worker {}: nothing to do", worker)
                : fmt::format("worker {}: {} from word {} on, columns {} to {} of the dense "
                              "operand; {} before its own",
                              worker, count(rows, "row"), group + word(WorkerEntry::kRowsWords),
                              word(WorkerEntry::kFirstColumn),
                              word(WorkerEntry::kFirstColumn) + word(WorkerEntry::kColumns) - 1,
                              count(word(WorkerEntry::kBlocksBefore), unit_)));
    }

    void tell_list(std::int64_t group, std::int64_t worker) {
        const bool of_elements = layout_.block == 1;
        const std::int64_t words =
            of_elements ? WorkerList::kElementWords : WorkerList::kBlockWords;
        const std::int64_t at = group + layout_.lists_at() + worker * words;
        const auto word = [&](std::int64_t number) { return word_at(at + number); };
        const std::int64_t own = word(WorkerList::kBlocks);
        if (own == 0) {
            add(at, words, fmt::format("list of worker {}: nothing to do", worker));
            return;
        }
        std::string says = fmt::format(
            "list of worker {}: {}, the first in the row at word {}, its place at word "
            "{}; {} before its own",
            worker, count(own, unit_), group + word(WorkerList::kRowWords),
            group + word(WorkerList::kPlaceWords), count(word(WorkerList::kBlocksBefore), unit_));
        if (of_elements) {
            says += fmt::format("; {} of them in that row", word(WorkerList::kRowBlocks));
        }
        add(at, words, std::move(says));
    }

    void tell_row(const SubGroupRead& group, const RowRead& row) {
        const char* const line = layout_.block == 1 ? "" : "block ";
        add(row.word, 2,
            fmt::format("{}row {} of the part, {} of the matrix: {}", line, row.row,
                        group.x * layout_.part_rows + row.row, count(row.blocks, unit_)));
        std::vector<std::int64_t> in_part;
        std::vector<std::int64_t> in_matrix;
        for (std::int64_t i = row.first; i < row.first + row.blocks; ++i) {
            in_part.push_back(group.columns[static_cast<std::size_t>(i)]);
            in_matrix.push_back(group.y * layout_.part_columns + in_part.back());
        }
        add(row.word + 2, row.blocks,
            fmt::format("{}{} {} of the part, {} of the matrix", line,
                        row.blocks == 1 ? "column" : "columns", fmt::join(in_part, " "),
                        fmt::join(in_matrix, " ")));
    }

    [[nodiscard]] std::int64_t word_at(std::int64_t at) const {
        return words_[static_cast<std::size_t>(at)];
    }
    void add(std::int64_t word, std::int64_t words, std::string says) {
        told_.push_back(
            {word,
             fmt::format("{}", fmt::join(words_.subspan(static_cast<std::size_t>(word),
                                                        static_cast<std::size_t>(words)),
                                         " ")),
             std::move(says)});
    }
    [[nodiscard]] static std::string count(std::int64_t number, std::string_view what) {
        return counted(static_cast<std::size_t>(number), what);
    }

    const dynamic::Layout& layout_;
    std::span<const std::uint16_t> words_;
    const char* unit_;
    std::vector<WordsTold> told_;
};

} // namespace

std::vector<WordsTold> told_words(const dynamic::Layout& layout,
                                  std::span<const std::uint16_t> words, std::int64_t number) {
    return Teller(layout, words).tell(dynamic::read_bucket(layout, words, number));
}

} // namespace tessera::pattern
