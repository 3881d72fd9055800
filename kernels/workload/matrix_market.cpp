// SPDX-License-Identifier: MIT
#include "kernels/workload/matrix_market.h"

#include "base/activity.h"
#include "base/error.h"
#include "base/input_file.h"
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
constexpr const char* kSupported = "supported are matrix coordinate files; real, integer or "
                                   "pattern; general or symmetric";

constexpr std::size_t kMostPatternBytes = 256 * kMiB; ///< some 20 million entries

enum class Field { Real, Integer, Pattern };

struct Token {
    std::string_view text;
    int column = 0; ///< from 1
};

/// The words of one line. More than kCapacity are counted, not kept.
struct Line {
    static constexpr std::size_t kCapacity = 6;
    std::array<Token, kCapacity> tokens;
    std::size_t words = 0;
};

bool same_word(std::string_view word, std::string_view lower) {
    return std::equal(word.begin(), word.end(), lower.begin(), lower.end(), [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
}

class Reader {
public:
    Reader(std::string_view text, const std::string& file_name)
        : text_(text), file_name_(file_name) {}

    CoordinateMatrix read();
    MatrixShape size();

private:
    bool next_line();
    void split(std::string_view line);
    void read_banner();
    void read_size_line();
    void read_entry();
    void finish();
    void reject_duplicates() const;
    [[nodiscard]] std::int64_t read_integer(const Token& token, const char* what, std::int64_t low,
                                            std::int64_t high) const;
    [[nodiscard]] double read_value(const Token& token) const;
    void expect_words(std::size_t expected, const char* what) const;
    [[noreturn]] void fail(int line, int column, std::string message, std::string hint = "") const {
        throw ConfigError(
            Diagnostic{file_name_, line, column, "", std::move(message), std::move(hint)});
    }

    std::string_view text_;
    std::string file_name_;
    std::size_t position_ = 0;
    int line_number_ = 0;
    Line line_;
    Field field_ = Field::Real;
    bool symmetric_ = false;
    int size_line_number_ = 0;
    std::int64_t entries_said_ = 0;
    std::int64_t entries_read_ = 0;
    CoordinateMatrix matrix_;
};

/// Moves to the next line that has words and is no comment; false at the end of the text.
bool Reader::next_line() {
    while (position_ < text_.size()) {
        const std::size_t end = std::min(text_.find('\n', position_), text_.size());
        std::string_view line = text_.substr(position_, end - position_);
        position_ = end + 1;
        if (line_number_ < std::numeric_limits<int>::max()) {
            ++line_number_;
        }
        if (!line.empty() && line.back() == '\r') {
            line.remove_suffix(1);
        }
        const bool comment = line_number_ > 1 && !line.empty() && line.front() == '%';
        if (comment) {
            continue;
        }
        split(line);
        if (line_.words > 0 || line_number_ == 1) {
            return true;
        }
    }
    return false;
}

void Reader::split(std::string_view line) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
    line_.words = 0;
    std::size_t at = 0;
    while (true) {
        while (at < line.size() && is_space(line[at])) {
            ++at;
        }
        if (at == line.size()) {
            return;
        }
        const std::size_t begin = at;
        while (at < line.size() && !is_space(line[at])) {
            ++at;
        }
        if (line_.words < Line::kCapacity) {
            const auto column = std::min<std::size_t>(begin, std::numeric_limits<int>::max() - 1);
            line_.tokens[line_.words] = {line.substr(begin, at - begin),
                                         static_cast<int>(column) + 1};
        }
        ++line_.words;
    }
}

void Reader::read_banner() {
    static constexpr std::size_t kBannerWords = 5;
    if (!next_line() || line_.words == 0 || !same_word(line_.tokens[0].text, "%%matrixmarket")) {
        fail(1, 1, "not a Matrix Market file: expected a first line '%%MatrixMarket matrix ...'");
    }
    if (line_.words != kBannerWords) {
        fail(1, 1, "banner: got " + std::to_string(line_.words) + " words, expected 5", kSupported);
    }
    const auto reject = [this](std::size_t word, const char* what, const char* expected) {
        fail(1, line_.tokens[word].column,
             std::string(what) + ": got " + quoted_word(line_.tokens[word].text) + ", expected " +
                 expected,
             kSupported);
    };
    if (!same_word(line_.tokens[1].text, "matrix")) {
        reject(1, "object", "matrix");
    }
    if (!same_word(line_.tokens[2].text, "coordinate")) {
        reject(2, "format", "coordinate");
    }
    const std::string_view field = line_.tokens[3].text;
    if (same_word(field, "real")) {
        field_ = Field::Real;
    } else if (same_word(field, "integer")) {
        field_ = Field::Integer;
    } else if (same_word(field, "pattern")) {
        field_ = Field::Pattern;
    } else {
        reject(3, "field", "real, integer or pattern");
    }
    symmetric_ = same_word(line_.tokens[4].text, "symmetric");
    if (!symmetric_ && !same_word(line_.tokens[4].text, "general")) {
        reject(4, "symmetry", "general or symmetric");
    }
}

void Reader::expect_words(std::size_t expected, const char* what) const {
    if (line_.words == expected) {
        return;
    }
    const std::size_t at = std::min({line_.words, expected, Line::kCapacity - 1});
    const int column = line_.words > expected ? line_.tokens[at].column : line_.tokens[0].column;
    fail(line_number_, column,
         std::string(what) + ": got " + std::to_string(line_.words) + " words, expected " +
             std::to_string(expected));
}

std::int64_t Reader::read_integer(const Token& token, const char* what, std::int64_t low,
                                  std::int64_t high) const {
    std::int64_t value = 0;
    const char* const end = token.text.data() + token.text.size();
    const auto [stop, error] = std::from_chars(token.text.data(), end, value);
    const bool all_read = stop == end;
    if (!all_read || error == std::errc::invalid_argument) {
        fail(line_number_, token.column,
             std::string(what) + ": got " + quoted_word(token.text) + ", expected a whole number");
    }
    if (error != std::errc{} || value < low || value > high) {
        fail(line_number_, token.column,
             std::string(what) + ": got " + bare_word(token.text) + ", expected " +
                 std::to_string(low) + ".." + std::to_string(high));
    }
    return value;
}

double Reader::read_value(const Token& token) const {
    if (field_ == Field::Integer) {
        return static_cast<double>(read_integer(token, "value",
                                                std::numeric_limits<std::int64_t>::min(),
                                                std::numeric_limits<std::int64_t>::max()));
    }
    std::string_view digits = token.text;
    if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') {
        digits.remove_prefix(1);
    }
    double value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool all_read = stop == digits.data() + digits.size();
    if (!all_read || error != std::errc{} || !std::isfinite(value)) {
        const bool too_far = all_read && error == std::errc::result_out_of_range;
        fail(line_number_, token.column,
             "value: got " + quoted_word(token.text) + ", expected a finite number" +
                 (too_far ? " within the range of binary64" : ""));
    }
    return value;
}

void Reader::read_size_line() {
    if (!next_line()) {
        fail(line_number_, 1,
             "the file ends before the size line; expected rows, columns, entries");
    }
    expect_words(3, "size line");
    size_line_number_ = line_number_;
    matrix_.rows = read_integer(line_.tokens[0], "rows", 1, kMaxIndex);
    matrix_.columns = read_integer(line_.tokens[1], "columns", 1, kMaxIndex);
    if (symmetric_ && matrix_.rows != matrix_.columns) {
        fail(line_number_, line_.tokens[0].column,
             "size: got " + std::to_string(matrix_.rows) + " x " + std::to_string(matrix_.columns) +
                 ", expected a square matrix since the banner says symmetric");
    }
    const std::int64_t room =
        symmetric_ ? matrix_.rows * (matrix_.rows + 1) / 2 : matrix_.rows * matrix_.columns;
    entries_said_ = read_integer(line_.tokens[2], "entries", 0, room);

    // The shortest entry is "1 1\n": what the text can hold bounds what is reserved.
    static constexpr std::size_t kShortestEntryBytes = 4;
    const std::size_t possible =
        (text_.size() - std::min(position_, text_.size())) / kShortestEntryBytes + 1;
    const std::size_t reserved = std::min(static_cast<std::size_t>(entries_said_), possible);
    matrix_.entries.reserve(symmetric_ ? 2 * reserved : reserved);
}

void Reader::read_entry() {
    const bool pattern = field_ == Field::Pattern;
    if (entries_read_ == entries_said_) {
        fail(line_number_, 1,
             "entries: got more than the " + std::to_string(entries_said_) + " that line " +
                 std::to_string(size_line_number_) + " says");
    }
    expect_words(pattern ? 2 : 3, pattern ? "entry of a pattern file" : "entry");
    const std::int64_t row = read_integer(line_.tokens[0], "row", 1, matrix_.rows);
    const std::int64_t column = read_integer(line_.tokens[1], "column", 1, matrix_.columns);
    if (symmetric_ && column > row) {
        fail(
            line_number_, line_.tokens[1].column,
            "entry (" + std::to_string(row) + ", " + std::to_string(column) +
                ") lies above the diagonal, expected column <= row since the banner says symmetric",
            "a symmetric file holds the lower triangle");
    }
    CoordinateEntry entry{static_cast<std::int32_t>(row - 1), static_cast<std::int32_t>(column - 1),
                          line_number_, pattern ? 1.0 : read_value(line_.tokens[2])};
    matrix_.entries.push_back(entry);
    if (symmetric_ && row != column) {
        std::swap(entry.row, entry.column);
        matrix_.entries.push_back(entry);
    }
    ++entries_read_;
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
        const auto row = symmetric_ ? std::max(again->row, again->column) : again->row;
        const auto column = symmetric_ ? std::min(again->row, again->column) : again->column;
        fail(again->line, 1,
             "entry (" + std::to_string(std::int64_t{row} + 1) + ", " +
                 std::to_string(std::int64_t{column} + 1) + ") is given twice, first on line " +
                 std::to_string(first->line));
    }
}

void Reader::finish() {
    if (entries_read_ < entries_said_) {
        fail(std::max(line_number_, 1), 1,
             "entries: got " + std::to_string(entries_read_) + ", expected " +
                 std::to_string(entries_said_) + " as line " + std::to_string(size_line_number_) +
                 " says",
             "the file is truncated");
    }
    const auto before = [](const CoordinateEntry& a, const CoordinateEntry& b) {
        return a.row != b.row         ? a.row < b.row
               : a.column != b.column ? a.column < b.column
                                      : a.line < b.line;
    };
    if (!std::is_sorted(matrix_.entries.begin(), matrix_.entries.end(), before)) {
        std::sort(matrix_.entries.begin(), matrix_.entries.end(), before);
    }
    reject_duplicates();
}

CoordinateMatrix Reader::read() {
    read_banner();
    read_size_line();
    matrix_.has_values = field_ != Field::Pattern;
    const Activity reading("reading the pattern, entries", entries_said_);
    constexpr std::int64_t kTold = 4096; // entries from one word about it to the next
    while (next_line()) {
        read_entry();
        if (entries_read_ % kTold == 0) {
            reading.step(kTold);
        }
    }
    finish();
    return std::move(matrix_);
}

MatrixShape Reader::size() {
    read_banner();
    read_size_line();
    return {matrix_.rows, matrix_.columns};
}

/// A whole line behind the first that has words and is no comment.
bool has_size_line(std::string_view text) {
    std::size_t at = text.find('\n');
    while (at != std::string_view::npos) {
        const std::size_t end = text.find('\n', at + 1);
        const std::size_t word = text.find_first_not_of(" \t\r\n", at + 1);
        if (end == std::string_view::npos) {
            return false;
        }
        if (word < end && text[at + 1] != '%') {
            return true;
        }
        at = end;
    }
    return false;
}

} // namespace

MatrixShape read_matrix_market_size(const std::string& path) {
    constexpr std::size_t kPieceBytes = kMiB / 16;
    InputFile file(path);
    std::string text;
    std::size_t asked = 0;
    do {
        asked += kPieceBytes;
        file.append_to(text, kPieceBytes);
    } while (text.size() == asked && asked < kMostPatternBytes && !has_size_line(text));
    return Reader(text, path).size();
}

CoordinateMatrix read_matrix_market(std::string_view text, const std::string& file_name) {
    return Reader(text, file_name).read();
}

CoordinateMatrix read_matrix_market_file(const std::string& path) {
    return read_matrix_market(read_file(path, kMostPatternBytes, "a Matrix Market file"), path);
}

} // namespace tessera::workload
