// SPDX-License-Identifier: MIT
#include "kernels/workload/smtx.h"

#include "base/activity.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/text_lines.h"
#include "kernels/workload/packed_file.h"
#include "kernels/workload/text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

namespace tessera::workload {
namespace {

constexpr std::int64_t kMaxSmtxIndex = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMostSmtxBytes = 256 * kMiB;

struct WholeRange {
    std::int64_t low = 0;
    std::int64_t high = 0;

    [[nodiscard]] std::string text() const {
        return low == high ? std::to_string(low)
                           : std::to_string(low) + ".." + std::to_string(high);
    }
};

class SmtxReader {
public:
    SmtxReader(std::string_view text, const std::string& file_name, Duplicates duplicates)
        : lines_(utf8_text(text, file_name)), file_name_(file_name), duplicates_(duplicates) {}

    CoordinateMatrix read() {
        read_sizes();
        read_offsets();
        read_columns();
        expect_end();
        return std::move(matrix_);
    }

    MatrixShape size() {
        read_sizes();
        return {matrix_.rows, matrix_.columns};
    }

private:
    static constexpr std::size_t kShortestNumberBytes = 2; ///< "1 "

    /// Moves over blanks; false at the end of the line.
    bool at_word() {
        while (at_ < text_.size() && is_blank(text_[at_])) {
            ++at_;
        }
        return at_ < text_.size();
    }

    /// What stands here, up to a blank, the line's end or a comma.
    [[nodiscard]] std::string_view word() const {
        const std::size_t end = std::min(text_.find_first_of(" \t,", at_), text_.size());
        return text_.substr(at_, std::max(end, at_ + 1) - at_);
    }

    /// The next line that is not blank; an empty one at the end of the text.
    void next_line() {
        is_at_end_ = !lines_.next_filled();
        text_ = lines_.line();
        at_ = 0;
    }

    /// `name` makes the words that tell which number it is.
    template <class Name> std::int64_t number(const Name& name, WholeRange range) {
        const std::string_view got = word();
        std::int64_t value = 0;
        const auto [stop, error] = std::from_chars(got.data(), got.data() + got.size(), value);
        if (stop != got.data() + got.size() || error == std::errc::invalid_argument) {
            fail(name() + ": got " + quoted_word(got) + ", expected a whole number");
        }
        if (error != std::errc{} || value < range.low || value > range.high) {
            fail(name() + ": got " + bare_word(got) + ", expected " + range.text());
        }
        at_ += got.size();
        return value;
    }

    std::int64_t size_number(const char* name, std::int64_t low, std::int64_t high) {
        if (!at_word()) {
            fail(std::string(name) + ": got the end of the line, expected a whole number",
                 "line 1 is rows, columns, non-zeros");
        }
        return number([&] { return std::string(name); }, {low, high});
    }

    void comma_behind(const char* name) {
        if (!at_word() || text_[at_] != ',') {
            fail("got " + (at_word() ? quoted_word(word()) : "the end of the line") +
                     ", expected a comma behind " + name,
                 "line 1 is rows, columns, non-zeros");
        }
        ++at_;
    }

    void read_sizes() {
        next_line();
        matrix_.rows = size_number("rows", 1, kMaxSmtxIndex);
        comma_behind("rows");
        matrix_.columns = size_number("columns", 1, kMaxSmtxIndex);
        comma_behind("columns");
        non_zeros_ = size_number("non-zeros", 0, matrix_.rows * matrix_.columns);
        if (at_word()) {
            fail("got " + quoted_word(word()) + ", expected the end of the line",
                 "line 1 is rows, columns, non-zeros");
        }
    }

    /// Calls take(number of the word) at each word of a line that has `expected` of them.
    template <class Take> void words(const char* what, std::int64_t expected, const Take& take) {
        next_line();
        std::int64_t got = 0;
        for (; at_word(); ++got) {
            if (got == expected) {
                fail(std::string(what) + ": got more than the " + std::to_string(expected) +
                     " that line 1 says");
            }
            take(got);
        }
        if (got < expected) {
            fail(std::string(what) + ": got " + std::to_string(got) + ", expected " +
                     std::to_string(expected) + " as line 1 says",
                 is_at_end_ || lines_.bytes_left() == 0 ? "the file is truncated" : "");
        }
    }

    /// No more than the text can hold, whatever it says.
    [[nodiscard]] std::size_t possible(std::int64_t numbers) const {
        return std::min(static_cast<std::size_t>(numbers),
                        lines_.bytes_left() / kShortestNumberBytes + 1);
    }

    void read_offsets() {
        offsets_.reserve(possible(matrix_.rows + 1));
        words("row offsets", matrix_.rows + 1, [this](std::int64_t row) {
            const std::int64_t low = row == 0              ? 0
                                     : row == matrix_.rows ? non_zeros_
                                                           : offsets_.back();
            offsets_.push_back(number([row] { return "row offset " + std::to_string(row); },
                                      {low, row == 0 ? 0 : non_zeros_}));
        });
    }

    void read_columns() {
        matrix_.entries.reserve(possible(non_zeros_));
        const Activity reading("reading the pattern, entries", non_zeros_);
        std::size_t row = 0;
        std::int64_t least = 0;
        words("column indices", non_zeros_, [&](std::int64_t entry) {
            while (offsets_[row + 1] <= entry) {
                ++row;
                least = 0;
            }
            const std::size_t here = at_;
            const std::int64_t column =
                number([entry] { return "column index " + std::to_string(entry); },
                       {0, matrix_.columns - 1});
            if (column == least - 1 && duplicates_ == Duplicates::Sum) {
                return; // a mask has the place once
            }
            if (column < least) {
                at_ = here;
                fail("column index " + std::to_string(entry) + ": got " + std::to_string(column) +
                         " behind " + std::to_string(least - 1) + " in row " + std::to_string(row) +
                         ", expected more",
                     "the indices of a row ascend");
            }
            least = column + 1;
            matrix_.entries.push_back({static_cast<std::int32_t>(row),
                                       static_cast<std::int32_t>(column), lines_.number(), 1.0});
            constexpr std::int64_t kTold = 4096; // entries from one word about it to the next
            if (entry % kTold == kTold - 1) {
                reading.step(kTold);
            }
        });
    }

    void expect_end() {
        next_line();
        if (at_word()) {
            fail("got " + quoted_word(word()) + ", expected the end of the file");
        }
    }

    [[noreturn]] void fail(std::string message, std::string hint = "") const {
        const auto column = std::min<std::size_t>(at_, std::numeric_limits<int>::max() - 1);
        throw ConfigError(Diagnostic{file_name_, lines_.number() + (is_at_end_ ? 1 : 0),
                                     static_cast<int>(column) + 1, "", std::move(message),
                                     std::move(hint)});
    }

    TextLines lines_;
    std::string_view text_; ///< the line
    const std::string& file_name_;
    Duplicates duplicates_;
    std::size_t at_ = 0;
    bool is_at_end_ = false;
    std::int64_t non_zeros_ = 0;
    std::vector<std::int64_t> offsets_;
    CoordinateMatrix matrix_;
};

} // namespace

CoordinateMatrix read_smtx(std::string_view text, const std::string& file_name,
                           Duplicates duplicates) {
    return SmtxReader(text, file_name, duplicates).read();
}

CoordinateMatrix read_smtx_file(const std::string& path, Duplicates duplicates) {
    return read_smtx(read_packed_file(path, kMostSmtxBytes, "an smtx file"), path, duplicates);
}

MatrixShape read_smtx_size(const std::string& path) {
    constexpr std::size_t kPieceBytes = kMiB / 16;
    PackedFile file(path);
    std::string text;
    std::size_t asked = 0;
    do {
        asked += kPieceBytes;
        file.append_to(text, kPieceBytes);
    } while (text.size() == asked && asked < kMostSmtxBytes &&
             text.find('\n', text.find_first_not_of(" \t\r\n")) == std::string::npos);
    return SmtxReader(text, path, Duplicates::Error).size();
}

} // namespace tessera::workload
