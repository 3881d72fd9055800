// SPDX-License-Identifier: MIT
#include "kernels/workload/matrix_market.h"

#include "base/activity.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/text_lines.h"
#include "kernels/workload/matrix_market_banner.h"
#include "kernels/workload/packed_file.h"
#include "kernels/workload/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <system_error>

namespace tessera::workload {
namespace {

constexpr std::int64_t kMaxIndex = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMostPatternBytes = 256 * kMiB; ///< some 20 million entries

/// The words of one line, up to a comment. More than kCapacity are counted, not kept.
struct Line {
    static constexpr std::size_t kCapacity = 6;
    std::array<Word, kCapacity> words;
    std::size_t count = 0;
};

class Reader {
public:
    Reader(std::string_view text, const std::string& file_name, Duplicates duplicates)
        : lines_(utf8_text(text, file_name)), file_name_(file_name), duplicates_(duplicates) {}

    CoordinateMatrix read();
    MatrixShape size();

private:
    bool next_line();
    void read_banner();
    void read_size_line();
    void read_entries();
    void read_entry();
    void read_elements();
    void read_element(const Word& word);
    void add(std::int64_t row, std::int64_t column, double value);
    void finish();
    void reject_duplicates() const;
    [[nodiscard]] bool is_whole() const { return banner_.symmetry == MatrixSymmetry::General; }
    [[nodiscard]] const char* symmetry_name() const {
        return banner_.symmetry == MatrixSymmetry::Skew ? "skew-symmetric" : "symmetric";
    }
    [[nodiscard]] std::int64_t room() const;
    [[nodiscard]] std::int64_t read_integer(const Word& word, const char* what, std::int64_t low,
                                            std::int64_t high) const;
    [[nodiscard]] double read_value(const Word& word) const;
    void expect_words(std::size_t expected, const char* what) const;
    [[noreturn]] void fail(int line, int column, std::string message, std::string hint = "") const {
        throw ConfigError(
            Diagnostic{file_name_, line, column, "", std::move(message), std::move(hint)});
    }

    TextLines lines_;
    std::string file_name_;
    Duplicates duplicates_;
    Line line_;
    MatrixMarketBanner banner_;
    int size_line_number_ = 0;
    std::int64_t entries_said_ = 0;
    std::int64_t entries_read_ = 0;
    std::int64_t element_row_ = 0; ///< of an array: where the next one stands
    std::int64_t element_column_ = 0;
    CoordinateMatrix matrix_;
};

/// Moves to the next line that has words besides a comment; false at the end of the text.
bool Reader::next_line() {
    while (lines_.next()) {
        line_.count = 0;
        std::size_t at = 0;
        for (Word word = next_word(lines_.line(), at); !word.text.empty();
             word = next_word(lines_.line(), at)) {
            const bool is_comment =
                word.text.front() == '%' && (lines_.number() > 1 || line_.count > 0);
            if (is_comment) {
                break;
            }
            if (line_.count < Line::kCapacity) {
                line_.words[line_.count] = word;
            }
            ++line_.count;
        }
        if (line_.count > 0 || lines_.number() == 1) {
            return true;
        }
    }
    return false;
}

void Reader::read_banner() {
    const bool has_line = next_line();
    const std::size_t kept = has_line ? std::min(line_.count, Line::kCapacity) : 0;
    banner_ = read_matrix_market_banner({line_.words.data(), kept}, file_name_);
}

void Reader::expect_words(std::size_t expected, const char* what) const {
    if (line_.count == expected) {
        return;
    }
    const std::size_t at = std::min({line_.count, expected, Line::kCapacity - 1});
    const int column = line_.count > expected ? line_.words[at].column : line_.words[0].column;
    fail(lines_.number(), column,
         std::string(what) + ": got " + std::to_string(line_.count) + " words, expected " +
             std::to_string(expected));
}

std::int64_t Reader::read_integer(const Word& word, const char* what, std::int64_t low,
                                  std::int64_t high) const {
    std::int64_t value = 0;
    const char* const end = word.text.data() + word.text.size();
    const auto [stop, error] = std::from_chars(word.text.data(), end, value);
    const bool all_read = stop == end;
    if (!all_read || error == std::errc::invalid_argument) {
        fail(lines_.number(), word.column,
             std::string(what) + ": got " + quoted_word(word.text) + ", expected a whole number");
    }
    if (error != std::errc{} || value < low || value > high) {
        fail(lines_.number(), word.column,
             std::string(what) + ": got " + bare_word(word.text) + ", expected " +
                 std::to_string(low) + ".." + std::to_string(high));
    }
    return value;
}

double Reader::read_value(const Word& word) const {
    if (banner_.field == MatrixField::Integer) {
        return static_cast<double>(read_integer(word, "value",
                                                std::numeric_limits<std::int64_t>::min(),
                                                std::numeric_limits<std::int64_t>::max()));
    }
    std::string_view digits = word.text;
    if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') {
        digits.remove_prefix(1);
    }
    std::string fortran; // 1.5D+3 is Fortran's 1.5E+3
    if (const std::size_t letter = digits.find_first_of("dD"); letter != std::string_view::npos) {
        fortran = digits;
        fortran[letter] = 'e';
        digits = fortran;
    }
    double value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool all_read = stop == digits.data() + digits.size();
    if (!all_read || error != std::errc{} || !std::isfinite(value)) {
        const bool too_far = all_read && error == std::errc::result_out_of_range;
        fail(lines_.number(), word.column,
             "value: got " + quoted_word(word.text) + ", expected a finite number" +
                 (too_far ? " within the range of binary64" : ""));
    }
    return value;
}

/// How many entries or elements a file of this size may have.
std::int64_t Reader::room() const {
    const std::int64_t rows = matrix_.rows;
    switch (banner_.symmetry) {
    case MatrixSymmetry::Symmetric:
        return rows * (rows + 1) / 2;
    case MatrixSymmetry::Skew:
        return rows * (rows - 1) / 2;
    default:
        return rows * matrix_.columns;
    }
}

void Reader::read_size_line() {
    if (!next_line()) {
        fail(lines_.number(), 1,
             std::string("the file ends before the size line; expected rows, columns") +
                 (banner_.is_array ? "" : ", entries"));
    }
    expect_words(banner_.is_array ? 2 : 3, "size line");
    size_line_number_ = lines_.number();
    matrix_.rows = read_integer(line_.words[0], "rows", 1, kMaxIndex);
    matrix_.columns = read_integer(line_.words[1], "columns", 1, kMaxIndex);
    if (!is_whole() && matrix_.rows != matrix_.columns) {
        fail(lines_.number(), line_.words[0].column,
             "size: got " + std::to_string(matrix_.rows) + " x " + std::to_string(matrix_.columns) +
                 ", expected a square matrix since the banner says " + symmetry_name());
    }
    const std::int64_t most =
        duplicates_ == Duplicates::Sum ? std::numeric_limits<std::int64_t>::max() : room();
    entries_said_ = banner_.is_array ? room() : read_integer(line_.words[2], "entries", 0, most);
}

/// An entry, and below the diagonal its mirror image.
void Reader::add(std::int64_t row, std::int64_t column, double value) {
    CoordinateEntry entry{static_cast<std::int32_t>(row - 1), static_cast<std::int32_t>(column - 1),
                          lines_.number(), value};
    matrix_.entries.push_back(entry);
    if (!is_whole() && row != column) {
        std::swap(entry.row, entry.column);
        entry.value = banner_.symmetry == MatrixSymmetry::Skew ? -value : value;
        matrix_.entries.push_back(entry);
    }
}

void Reader::read_entries() {
    // The shortest entry is "1 1\n": what the text can hold bounds what is reserved.
    static constexpr std::size_t kShortestEntryBytes = 4;
    const std::size_t possible = lines_.bytes_left() / kShortestEntryBytes + 1;
    const std::size_t reserved = std::min(static_cast<std::size_t>(entries_said_), possible);
    matrix_.entries.reserve(is_whole() ? reserved : 2 * reserved);
    const Activity reading("reading the pattern, entries", entries_said_);
    constexpr std::int64_t kTold = 4096; // entries from one word about it to the next
    while (next_line()) {
        read_entry();
        if (entries_read_ % kTold == 0) {
            reading.step(kTold);
        }
    }
}

void Reader::read_entry() {
    const bool pattern = banner_.field == MatrixField::Pattern;
    if (entries_read_ == entries_said_) {
        fail(lines_.number(), 1,
             "entries: got more than the " + std::to_string(entries_said_) + " that line " +
                 std::to_string(size_line_number_) + " says");
    }
    expect_words(pattern ? 2 : 3, pattern ? "entry of a pattern file" : "entry");
    const std::int64_t row = read_integer(line_.words[0], "row", 1, matrix_.rows);
    const std::int64_t column = read_integer(line_.words[1], "column", 1, matrix_.columns);
    const auto place = [&] {
        return "entry (" + std::to_string(row) + ", " + std::to_string(column) + ") lies ";
    };
    if (!is_whole() && column > row) {
        fail(lines_.number(), line_.words[1].column,
             place() + "above the diagonal, expected column <= row since the banner says " +
                 symmetry_name(),
             std::string("a ") + symmetry_name() + " file holds the lower triangle");
    }
    if (banner_.symmetry == MatrixSymmetry::Skew && column == row) {
        fail(lines_.number(), line_.words[1].column,
             place() + "on the diagonal, expected none there since the banner says skew-symmetric");
    }
    add(row, column, pattern ? 1.0 : read_value(line_.words[2]));
    ++entries_read_;
}

/// Values column by column, any number of them on a line; zeros are no entries.
void Reader::read_elements() {
    const Activity reading("reading the pattern, elements", entries_said_);
    element_column_ = 1;
    element_row_ = banner_.symmetry == MatrixSymmetry::Skew ? 2 : 1;
    while (lines_.next()) {
        std::size_t at = 0;
        for (Word word = next_word(lines_.line(), at);
             !word.text.empty() && word.text.front() != '%'; word = next_word(lines_.line(), at)) {
            read_element(word);
            reading.step();
        }
    }
}

void Reader::read_element(const Word& word) {
    if (entries_read_ == entries_said_) {
        fail(lines_.number(), word.column,
             "elements: got more than the " + std::to_string(entries_said_) + " of line " +
                 std::to_string(size_line_number_));
    }
    const double value = read_value(word);
    if (value != 0.0) {
        add(element_row_, element_column_, value);
    }
    ++entries_read_;
    if (++element_row_ > matrix_.rows) {
        ++element_column_;
        element_row_ = is_whole()                                      ? 1
                       : banner_.symmetry == MatrixSymmetry::Symmetric ? element_column_
                                                                       : element_column_ + 1;
    }
}

void Reader::reject_duplicates() const {
    const CoordinateEntry* first = nullptr;
    const CoordinateEntry* again = nullptr;
    for (std::size_t i = 1; i < matrix_.entries.size(); ++i) {
        const auto& a = matrix_.entries[i - 1];
        const auto& b = matrix_.entries[i];
        if (a.row == b.row && a.column == b.column && (again == nullptr || b.line < again->line)) {
            first = &a;
            again = &b;
        }
    }
    if (again != nullptr) {
        const auto row = is_whole() ? again->row : std::max(again->row, again->column);
        const auto column = is_whole() ? again->column : std::min(again->row, again->column);
        fail(again->line, 1,
             "entry (" + std::to_string(std::int64_t{row} + 1) + ", " +
                 std::to_string(std::int64_t{column} + 1) + ") is given twice, first on line " +
                 std::to_string(first->line),
             "\"duplicates\": \"sum\" adds them");
    }
}

void Reader::finish() {
    if (entries_read_ < entries_said_) {
        fail(std::max(lines_.number(), 1), 1,
             std::string(banner_.is_array ? "elements" : "entries") + ": got " +
                 std::to_string(entries_read_) + ", expected " + std::to_string(entries_said_) +
                 " as line " + std::to_string(size_line_number_) + " says",
             "the file is truncated");
    }
    sort_by_place(matrix_.entries);
    if (duplicates_ == Duplicates::Sum) {
        if (const auto entry = sum_duplicates(matrix_)) { // in the order of the file
            fail(entry->line, 1, "value: the sum of this place's entries is not finite");
        }
    } else {
        reject_duplicates();
    }
}

CoordinateMatrix Reader::read() {
    read_banner();
    read_size_line();
    matrix_.type = banner_.field == MatrixField::Pattern   ? ValueType::Mask
                   : banner_.field == MatrixField::Integer ? ValueType::I64
                                                           : ValueType::F64;
    if (banner_.is_array) {
        read_elements();
    } else {
        read_entries();
    }
    finish();
    return std::move(matrix_);
}

MatrixShape Reader::size() {
    read_banner();
    read_size_line();
    return {matrix_.rows, matrix_.columns};
}

/// A whole line behind the first that has words besides a comment.
bool has_size_line(std::string_view text) {
    std::size_t at = text.find('\n');
    while (at != std::string_view::npos) {
        const std::size_t end = text.find('\n', at + 1);
        const std::size_t word = text.find_first_not_of(" \t\r\n", at + 1);
        if (end == std::string_view::npos) {
            return false;
        }
        if (word < end && text[word] != '%') {
            return true;
        }
        at = end;
    }
    return false;
}

} // namespace

MatrixShape read_matrix_market_size(const std::string& path) {
    constexpr std::size_t kPieceBytes = kMiB / 16;
    PackedFile file(path);
    std::string text;
    std::size_t asked = 0;
    do {
        asked += kPieceBytes;
        file.append_to(text, kPieceBytes);
    } while (text.size() == asked && asked < kMostPatternBytes && !has_size_line(text));
    return Reader(text, path, Duplicates::Sum).size();
}

CoordinateMatrix read_matrix_market(std::string_view text, const std::string& file_name,
                                    Duplicates duplicates) {
    return Reader(text, file_name, duplicates).read();
}

CoordinateMatrix read_matrix_market_file(const std::string& path, Duplicates duplicates) {
    return read_matrix_market(read_packed_file(path, kMostPatternBytes, "a Matrix Market file"),
                              path, duplicates);
}

} // namespace tessera::workload
