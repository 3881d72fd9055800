// SPDX-License-Identifier: MIT
#include "models/isa/assembler/lexer.h"

#include "base/float16.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace tessera::isa::assembly {
namespace {

constexpr std::array<std::string_view, 11> kLongPunctuation = {
    "+=", "++", "<<", ">>", "==", "!=", "<=", ">=", "<>", "&&", "||"};
constexpr std::string_view kShortPunctuation = "()[]:,$@+-*/%&|^~!<>=.?\\";

class Lexer {
public:
    Lexer(const Statement& statement, NamePool& names, Diagnostics& diagnostics,
          std::vector<Token>& tokens)
        : statement_(statement),
          text_(std::string_view(statement.line->text).substr(0, statement.end)), names_(names),
          diagnostics_(diagnostics), tokens_(tokens), next_(statement.begin) {}

    void run() {
        tokens_.clear();
        while (skip_space()) {
            lex_one();
        }
        Token end;
        end.at = position(next_);
        if (statement_.terminator != '\n') {
            constexpr std::string_view kSeparators = ";{}";
            end.kind = TokenKind::Punctuation;
            end.text = kSeparators.substr(kSeparators.find(statement_.terminator), 1);
            end.at = position(statement_.next);
        }
        tokens_.push_back(end);
    }

private:
    [[nodiscard]] char peek(std::size_t ahead = 0) const { return at(next_ + ahead); }

    [[nodiscard]] char at(std::size_t index) const {
        return index < text_.size() ? text_[index] : '\0';
    }

    /// Columns only grow: the piece is found by walking.
    [[nodiscard]] Origin position(std::size_t column) {
        const auto& pieces = statement_.line->pieces;
        while (piece_ + 1 < pieces.size() && pieces[piece_ + 1].column <= column) {
            ++piece_;
        }
        if (pieces.empty()) {
            return {};
        }
        Origin origin = pieces[piece_].from;
        if (pieces[piece_].verbatim) {
            origin.at.column += static_cast<std::uint32_t>(column - pieces[piece_].column);
        }
        return origin;
    }

    void push(TokenKind kind, std::size_t begin, std::size_t length, std::int64_t value = 0) {
        tokens_.push_back({kind, text_.substr(begin, length), value, position(begin)});
        next_ = begin + length;
    }

    bool skip_space() {
        while (next_ < text_.size() && is_blank(text_[next_])) {
            ++next_;
        }
        return next_ < text_.size();
    }

    void lex_one() {
        const char c = peek();
        if (is_digit(c)) {
            lex_number();
        } else if (is_letter(c) || (c == '.' && (is_word(peek(1)) || peek(1) == '.'))) {
            lex_identifier();
        } else if (c == '"') {
            lex_string();
        } else if (c == '\'' && end_of_quoted(text_, next_) > next_ + 1) {
            lex_character();
        } else {
            lex_punctuation();
        }
    }

    /// Symbols may hold `.`, `$` and `@`; no word follows the `@` suffix of a register.
    void lex_identifier() {
        std::size_t end = next_ + 1;
        while (end < text_.size()) {
            const char c = text_[end];
            const bool inner = c == '.' || ((c == '$' || c == '@') && is_word(at(end + 1)));
            if (!is_word(c) && !inner) {
                break;
            }
            ++end;
        }
        push(TokenKind::Identifier, next_, end - next_);
        tokens_.back().text = names_.intern(tokens_.back().text);
    }

    void lex_string() {
        const auto closing = closing_quote(text_, next_);
        if (!closing) {
            diagnostics_.add(position(next_), "string: got the end of the line, expected \"");
            push(TokenKind::String, next_, text_.size() - next_);
            return;
        }
        push(TokenKind::String, next_, *closing + 1 - next_);
        Token& token = tokens_.back();
        token.text = token.text.substr(1, token.text.size() - 2);
    }

    void lex_character() {
        const std::size_t end = end_of_quoted(text_, next_);
        const std::string value = unescaped(text_.substr(next_ + 1, end - next_ - 2));
        push(TokenKind::Number, next_, end - next_,
             value.empty() ? 0 : static_cast<unsigned char>(value[0]));
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

    /// 12, 0x1f, 017, 0b101, 1f and 1b (label references), 1.5h (half), 1.5 and 2e9 (real).
    void lex_number() {
        const char second = peek(1);
        if (peek() == '0' && (second == 'x' || second == 'X')) {
            lex_integer(next_ + 2, 16);
            return;
        }
        // 0b is the label 0 before, unless a binary digit follows.
        if (peek() == '0' && (second == 'b' || second == 'B') &&
            (peek(2) == '0' || peek(2) == '1')) {
            lex_integer(next_ + 2, 2);
            return;
        }
        std::size_t end = after_digits(next_);
        const char suffix = at(end);
        if ((suffix == 'f' || suffix == 'b') && !is_word(at(end + 1))) {
            push(TokenKind::LabelReference, next_, end + 1 - next_, integer(next_, end, 10));
            return;
        }
        const bool has_point = suffix == '.' && is_digit(at(end + 1));
        end = has_point ? after_digits(end + 1) : end;
        const bool is_signed = at(end + 1) == '+' || at(end + 1) == '-';
        const bool has_exponent =
            (at(end) == 'e' || at(end) == 'E') && is_digit(at(end + (is_signed ? 2U : 1U)));
        end = has_exponent ? after_digits(end + 2) : end;
        if (at(end) == 'h' && !is_word(at(end + 1))) {
            lex_half(end);
        } else if (has_point || has_exponent) {
            push(TokenKind::Real, next_, end - next_);
        } else {
            lex_integer(next_, peek() == '0' ? 8 : 10);
        }
    }

    [[nodiscard]] std::size_t after_digits(std::size_t index) const {
        while (is_digit(at(index))) {
            ++index;
        }
        return index;
    }

    void lex_half(std::size_t end) {
        float value = 0;
        const auto read = std::from_chars(text_.data() + next_, text_.data() + end, value);
        if (read.ec != std::errc{} || value >= 65520.0F) { // rounds beyond the largest half
            diagnostics_.add(position(next_),
                             "number: got " + std::string(text_.substr(next_, end + 1 - next_)) +
                                 ", expected a half of at most 65504h, or infh");
        }
        push(TokenKind::Half, next_, end + 1 - next_, f32_to_f16(value));
    }

    void lex_integer(std::size_t digits, int base) {
        std::size_t end = digits;
        while (is_word(at(end))) {
            ++end;
        }
        std::uint64_t bits = 0;
        const char* const last = text_.data() + end;
        const auto read = std::from_chars(text_.data() + digits, last, bits, base);
        if (read.ec == std::errc::result_out_of_range && read.ptr == last) {
            push(TokenKind::BigNumber, next_, end - next_);
            return;
        }
        const std::int64_t value = integer(digits, end, base);
        push(TokenKind::Number, next_, end - next_, value);
    }

    std::int64_t integer(std::size_t begin, std::size_t end, int base) {
        std::uint64_t value = 0;
        const char* last = text_.data() + end;
        const auto result = std::from_chars(text_.data() + begin, last, value, base);
        if (result.ec != std::errc{} || result.ptr != last) {
            const bool is_large = result.ec == std::errc::result_out_of_range;
            diagnostics_.add(position(next_),
                             "number: got " + std::string(text_.substr(next_, end - next_)) +
                                 (is_large    ? ", expected at most 64 bits"
                                  : base == 8 ? ", expected octal digits after the leading 0"
                                              : ", expected decimal, 0x or 0b digits"));
        }
        return static_cast<std::int64_t>(value);
    }

    const Statement& statement_;
    std::string_view text_;
    NamePool& names_;
    Diagnostics& diagnostics_;
    std::vector<Token>& tokens_;
    std::size_t next_;
    std::size_t piece_ = 0;
};

/// The value of up to `most` digits of `base` at `at`, which moves behind them.
unsigned digits_at(std::string_view text, std::size_t& at, unsigned base, unsigned most) {
    unsigned value = 0;
    for (unsigned taken = 0; taken < most && at < text.size(); ++taken, ++at) {
        unsigned digit = 0;
        const auto result =
            std::from_chars(&text[at], &text[at] + 1, digit, static_cast<int>(base));
        if (result.ec != std::errc{}) {
            break;
        }
        value = value * base + digit;
    }
    return value;
}

} // namespace

void lex(const Statement& statement, NamePool& names, Diagnostics& diagnostics,
         std::vector<Token>& tokens) {
    Lexer(statement, names, diagnostics, tokens).run();
}

std::string unescaped(std::string_view text) {
    constexpr std::string_view kLetters = "ntrbf";
    constexpr std::string_view kMeanings = "\n\t\r\b\f";
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] != '\\' || at + 1 == text.size()) {
            result += text[at++];
            continue;
        }
        const char letter = text[++at];
        if (letter == 'x' || letter == 'X') {
            ++at;
            result += static_cast<char>(digits_at(text, at, 16, 2));
        } else if (letter >= '0' && letter <= '7') {
            result += static_cast<char>(digits_at(text, at, 8, 3) & 0xffU);
        } else {
            const std::size_t known = kLetters.find(letter);
            result += known == std::string_view::npos ? letter : kMeanings[known];
            ++at;
        }
    }
    return result;
}

} // namespace tessera::isa::assembly
