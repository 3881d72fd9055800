// SPDX-License-Identifier: MIT
#include "models/isa/assembler/lexer.h"

#include "base/float16.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>

namespace tessera::isa::assembly {
namespace {

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr bool is_word(char c) {
    return is_letter(c) || is_digit(c);
}

constexpr std::array<std::string_view, 10> kLongPunctuation = {
    "+=", "++", "<<", ">>", "==", "!=", "<=", ">=", "&&", "||"};
constexpr std::string_view kShortPunctuation = "{}()[];:,$@+-*/%&|^~!<>=.?\\";

/// Preprocessor lines that a comment must not be mistaken for.
constexpr std::array<std::string_view, 14> kPreprocessorWords = {
    "define", "undef", "include", "if",      "ifdef", "ifndef", "elif",
    "else",   "endif", "error",   "warning", "line",  "import", "pragma"};

class Lexer {
public:
    Lexer(std::string_view text, std::uint32_t file, Diagnostics& diagnostics)
        : text_(text), file_(file), diagnostics_(diagnostics) {
        tokens_.reserve(text.size() / 3 + 2);
    }

    std::vector<Token> run() {
        while (skip_space()) {
            lex_one();
        }
        push(TokenKind::Newline, next_, 0);
        push(TokenKind::End, next_, 0);
        return std::move(tokens_);
    }

private:
    [[nodiscard]] char peek(std::size_t ahead = 0) const {
        return next_ + ahead < text_.size() ? text_[next_ + ahead] : '\0';
    }

    [[nodiscard]] Position position(std::size_t index) const {
        return {file_, line_, static_cast<std::uint32_t>(index - line_start_) + 1};
    }

    void push(TokenKind kind, std::size_t begin, std::size_t length, std::int64_t value = 0) {
        tokens_.push_back(
            {kind, space_before_, text_.substr(begin, length), value, position(begin)});
        space_before_ = false;
        next_ = begin + length;
    }

    void start_line() {
        ++line_;
        line_start_ = next_;
    }

    [[nodiscard]] bool at_line_start() const {
        return tokens_.empty() || tokens_.back().kind == TokenKind::Newline;
    }

    /// Skips blanks and comments; false at the end of the text.
    bool skip_space() {
        while (next_ < text_.size()) {
            const char c = peek();
            if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
                ++next_;
            } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
                next_ += peek(1) == '\n' ? 2 : 3;
                start_line();
            } else if (c == '/' && peek(1) == '/') {
                skip_line();
            } else if (c == '/' && peek(1) == '*') {
                skip_block_comment();
            } else if (c == '#' && at_line_start() && !is_preprocessor_line()) {
                skip_line();
            } else {
                return true;
            }
            space_before_ = true;
        }
        return false;
    }

    void skip_line() { next_ = std::min(text_.find('\n', next_), text_.size()); }

    void skip_block_comment() {
        const Position begin = position(next_);
        const std::size_t end = text_.find("*/", next_ + 2);
        if (end == std::string_view::npos) {
            diagnostics_.add(begin, "comment: got the end of the file, expected */");
        }
        const std::size_t stop = end == std::string_view::npos ? text_.size() : end + 2;
        for (; next_ < stop; ++next_) {
            if (text_[next_] == '\n') {
                ++line_;
                line_start_ = next_ + 1;
            }
        }
    }

    [[nodiscard]] bool is_preprocessor_line() const {
        std::size_t begin = next_ + 1;
        while (begin < text_.size() && (text_[begin] == ' ' || text_[begin] == '\t')) {
            ++begin;
        }
        std::size_t end = begin;
        while (end < text_.size() && is_word(text_[end])) {
            ++end;
        }
        return std::find(kPreprocessorWords.begin(), kPreprocessorWords.end(),
                         text_.substr(begin, end - begin)) != kPreprocessorWords.end();
    }

    void lex_one() {
        const char c = peek();
        if (c == '\n') {
            push(TokenKind::Newline, next_, 1);
            start_line();
        } else if (c == '#' && at_line_start()) {
            push(TokenKind::Hash, next_, 1);
        } else if (is_digit(c)) {
            lex_number();
        } else if (is_letter(c) || (c == '.' && (is_word(peek(1)) || peek(1) == '.'))) {
            lex_identifier();
        } else if (c == '"') {
            lex_string();
        } else {
            lex_punctuation();
        }
    }

    /// Symbols may hold `.`, `$` and `@`; a register name after `$` ends before its `@` suffix.
    void lex_identifier() {
        const bool is_register = !tokens_.empty() && tokens_.back().is("$");
        std::size_t end = next_ + 1;
        while (end < text_.size()) {
            const char c = text_[end];
            const bool inner = (c == '.' || c == '$' || c == '@') && !is_register &&
                               (c == '.' || (end + 1 < text_.size() && is_word(text_[end + 1])));
            if (!is_word(c) && !inner) {
                break;
            }
            ++end;
        }
        push(TokenKind::Identifier, next_, end - next_);
    }

    void lex_string() {
        std::size_t end = next_ + 1;
        while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
            end += text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n' ? 2 : 1;
        }
        if (end >= text_.size() || text_[end] != '"') {
            diagnostics_.add(position(next_), "string: got the end of the line, expected \"");
            push(TokenKind::String, next_, end - next_);
            return;
        }
        push(TokenKind::String, next_, end + 1 - next_);
        Token& token = tokens_.back();
        token.text = token.text.substr(1, token.text.size() - 2);
    }

    void lex_punctuation() {
        const std::string_view two = text_.substr(next_, 2);
        if (std::find(kLongPunctuation.begin(), kLongPunctuation.end(), two) !=
            kLongPunctuation.end()) {
            push(TokenKind::Punctuation, next_, 2);
        } else if (kShortPunctuation.find(peek()) != std::string_view::npos && peek() != '\0') {
            push(TokenKind::Punctuation, next_, 1);
        } else {
            const auto code = static_cast<unsigned char>(peek());
            const bool printable = code > 0x20 && code < 0x7f;
            diagnostics_.add(position(next_),
                             printable ? "got the character '" + std::string(1, peek()) +
                                             "', expected a label, directive or instruction"
                                       : "got the byte " + std::to_string(code) +
                                             ", expected printable text");
            ++next_;
        }
    }

    /// 12, 0x1f, 0b101, 1f and 1b (label references), 1.5h (half).
    void lex_number() {
        std::size_t end = next_;
        const char second = peek(1);
        if (peek() == '0' && (second == 'x' || second == 'X')) {
            lex_integer(next_ + 2, 16);
            return;
        }
        if (peek() == '0' && second == 'b' && (peek(2) == '0' || peek(2) == '1')) {
            lex_integer(next_ + 2, 2);
            return;
        }
        while (end < text_.size() && is_digit(text_[end])) {
            ++end;
        }
        const auto after = [this](std::size_t index) {
            return index < text_.size() ? text_[index] : '\0';
        };
        const char suffix = after(end);
        if ((suffix == 'f' || suffix == 'b') && !is_word(after(end + 1))) {
            const std::int64_t number = integer(next_, end, 10);
            push(TokenKind::LabelReference, next_, end + 1 - next_, number);
            return;
        }
        if (suffix == '.' && is_digit(after(end + 1))) {
            ++end;
            while (is_digit(after(end))) {
                ++end;
            }
            lex_half(end);
            return;
        }
        if (suffix == 'h' && !is_word(after(end + 1))) {
            lex_half(end);
            return;
        }
        lex_integer(next_, 10);
    }

    void lex_half(std::size_t end) {
        float value = 0;
        std::from_chars(text_.data() + next_, text_.data() + end, value);
        const std::size_t begin = next_;
        if (end >= text_.size() || text_[end] != 'h') {
            diagnostics_.add(position(begin), "number: got " +
                                                  std::string(text_.substr(begin, end - begin)) +
                                                  ", expected an integer or a half such as 1.0h");
            push(TokenKind::Half, begin, end - begin);
            return;
        }
        push(TokenKind::Half, begin, end + 1 - begin, f32_to_f16(value));
    }

    void lex_integer(std::size_t digits, int base) {
        std::size_t end = digits;
        while (end < text_.size() && is_word(text_[end])) {
            ++end;
        }
        const std::int64_t value = integer(digits, end, base);
        push(TokenKind::Number, next_, end - next_, value);
    }

    std::int64_t integer(std::size_t begin, std::size_t end, int base) {
        std::int64_t value = 0;
        const char* last = text_.data() + end;
        const auto result = std::from_chars(text_.data() + begin, last, value, base);
        if (result.ec != std::errc{} || result.ptr != last) {
            const bool is_large = result.ec == std::errc::result_out_of_range;
            diagnostics_.add(position(next_),
                             "number: got " + std::string(text_.substr(next_, end - next_)) +
                                 (is_large ? ", expected at most 63 bits"
                                           : ", expected decimal, 0x or 0b digits"));
        }
        return value;
    }

    std::string_view text_;
    std::uint32_t file_;
    Diagnostics& diagnostics_;
    std::vector<Token> tokens_;
    std::size_t next_ = 0;
    std::size_t line_start_ = 0;
    std::uint32_t line_ = 1;
    bool space_before_ = false;
};

} // namespace

std::vector<Token> lex(std::string_view text, std::uint32_t file, Diagnostics& diagnostics) {
    return Lexer(text, file, diagnostics).run();
}

} // namespace tessera::isa::assembly
