// SPDX-License-Identifier: MIT
// Text files as people's tools write them. All readers of text begin with `utf8_text`, so that a mark
// at the front, CRLF, blanks at the ends of lines and a missing last line end mean the same to all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

[[nodiscard]] bool is_utf16(std::string_view bytes);

/// `bytes` without a byte-order mark of UTF-8 at the front.
[[nodiscard]] std::string_view without_mark(std::string_view bytes);

/// The same, for a reader that throws.
/// @throws ConfigError that names `file` where they are UTF-16 or UTF-32
[[nodiscard]] std::string_view utf8_text(std::string_view bytes, const std::string& file);

[[nodiscard]] constexpr bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/// A word of a line and its column, from 1, in bytes.
struct Word {
    std::string_view text;
    int column = 0;
};

/// The lines of a text, one after the other; each without its end and the blanks before that.
class TextLines {
public:
    /// Stands before the first line. `text` is what `utf8_text` gives, and outlives the lines.
    explicit TextLines(std::string_view text) : text_(text) {}

    /// Moves to the next line; false behind the last one.
    bool next();
    /// Moves to the next line that is not blank.
    bool next_filled();

    [[nodiscard]] std::string_view line() const { return line_; }
    /// The line's number, from 1; it is 0 before the first line.
    [[nodiscard]] int number() const { return number_; }
    /// How much of the text is behind the line.
    [[nodiscard]] std::size_t bytes_left() const { return text_.size() - next_; }

private:
    std::string_view text_;
    std::string_view line_;
    std::size_t next_ = 0;
    int number_ = 0;
};

/// The word of `line` at or behind `at`, which moves behind it; empty at the end of the line.
[[nodiscard]] Word next_word(std::string_view line, std::size_t& at);

} // namespace tessera
