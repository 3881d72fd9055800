// SPDX-License-Identifier: MIT
// From the text of a file to logical lines: lines that end in a backslash are joined with the next,
// and each comment is one space.
#pragma once

#include "models/isa/assembler/c_preprocessor/lexeme.h"
#include "models/isa/assembler/diagnostics.h"

namespace tessera::isa::assembly::cpp {

/// Must stay where it is while its text is in use.
struct LogicalLine {
    std::string_view text; ///< of the file, or of `storage`
    std::vector<Piece> pieces;
    std::string storage;

    [[nodiscard]] bool is_directive() const;
};

class LineReader {
public:
    /// The text must outlive the reader. `trail` is how the file came to be read.
    LineReader(std::string_view text, std::uint32_t file, std::uint32_t trail)
        : text_(text), file_(file), trail_(trail) {}

    [[nodiscard]] bool at_end() const { return offset_ >= text_.size(); }
    [[nodiscard]] std::uint32_t line() const { return line_; } ///< number of the next line, from 1
    [[nodiscard]] std::size_t offset() const { return offset_; }
    [[nodiscard]] std::uint32_t file() const { return file_; }
    [[nodiscard]] std::uint32_t trail() const { return trail_; }
    /// Whether the rest of the file, white space apart, begins with `c`.
    [[nodiscard]] bool next_is(char c) const;

    /// Needs `!at_end()`.
    void read(LogicalLine& line, Diagnostics& diagnostics);

private:
    std::string_view take_physical_line();
    void append_spliced(LogicalLine& raw);
    void remove_comments(LogicalLine& raw, LogicalLine& line, Diagnostics& diagnostics);
    bool skip_comment(LogicalLine& raw, std::size_t& column);

    std::string_view text_;
    std::size_t offset_ = 0;
    std::uint32_t line_ = 1;
    std::uint32_t file_;
    std::uint32_t trail_;
};

} // namespace tessera::isa::assembly::cpp
