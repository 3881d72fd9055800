// SPDX-License-Identifier: MIT
#include "base/config/document.h"
#include "base/text.h"
#include "base/text_lines.h"

#include <cctype>

namespace tessera::config {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepestNesting = 64;
constexpr std::size_t kMostValues = 100'000;
constexpr std::size_t kLongestPointer = 1000; ///< every value keeps its own
constexpr std::size_t kLongestSyntaxMessage = 200;

/// Walks the text in step with the parser's events. The parser reports no positions, but its events
/// come in the order of the text and only for valid tokens, so the start of the next token is what
/// follows the last one after white space, separators and comments.
class Cursor {
public:
    explicit Cursor(std::string_view text) : text_(text) {}

    struct Position {
        int line = 1;
        int column = 1;
    };

    /// Moves over what stands before the next token and over that token; returns where it starts.
    Position take_token() {
        skip_to_token();
        const Position start = here_;
        if (index_ >= text_.size()) {
            return start;
        }
        const char first = text_[index_];
        if (first == '"') {
            take_string();
        } else if (std::isalnum(static_cast<unsigned char>(first)) != 0 || first == '-') {
            while (index_ < text_.size() && is_word(text_[index_])) {
                advance();
            }
        } else {
            advance();
        }
        return start;
    }

    /// The start of the token that holds the byte `last`, at which the parser gave up. Separators
    /// before it were good, so this cursor stands behind the last good value.
    Position broken_token(std::size_t last) {
        if (index_ > last) { // two tokens without space between, such as 01
            return Cursor{text_}.position_of(last);
        }
        while (index_ < last && index_ < text_.size()) {
            const char c = text_[index_];
            if (c == '/' && comment_end() <= last) {
                position_of(comment_end());
            } else if (is_space(c) || c == ',' || c == ':') {
                advance();
            } else {
                break;
            }
        }
        return here_;
    }

    /// Line and column of a byte offset at or after the current one.
    Position position_of(std::size_t offset) {
        while (index_ < offset && index_ < text_.size()) {
            advance();
        }
        return here_;
    }

private:
    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
    static bool is_word(char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.';
    }

    void advance() {
        const auto byte = static_cast<unsigned char>(text_[index_++]);
        if (byte == '\n') {
            ++here_.line;
            here_.column = 1;
        } else if (index_ >= text_.size() ||
                   (static_cast<unsigned char>(text_[index_]) & 0xc0U) != 0x80U) {
            ++here_.column; // a character ends where the next byte does not continue it
        }
    }

    void skip_to_token() {
        while (index_ < text_.size()) {
            const char c = text_[index_];
            if (c == '/') {
                position_of(comment_end());
            } else if (is_space(c) || c == ',' || c == ':') {
                advance();
            } else {
                return;
            }
        }
    }

    /// Where the comment that starts here ends; beyond the text for one that is not closed.
    [[nodiscard]] std::size_t comment_end() const {
        const bool block = text_.substr(index_, 2) == "/*";
        const std::size_t end = text_.find(block ? "*/" : "\n", index_ + 2);
        if (end == std::string_view::npos) {
            return text_.size() + (block ? 1U : 0U);
        }
        return end + (block ? 2U : 1U);
    }

    void take_string() {
        advance();
        while (index_ < text_.size() && text_[index_] != '"') {
            if (text_[index_] == '\\') {
                advance();
            }
            advance();
        }
        if (index_ < text_.size()) {
            advance();
        }
    }

    std::string_view text_;
    std::size_t index_ = 0;
    Position here_;
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

/// The parser's sentence in our form: "syntax error: got '}', expected a string".
std::string syntax_message(const std::string& what) {
    const auto overflow = what.find("number overflow parsing '");
    if (overflow != std::string::npos) {
        const auto from = what.find('\'', overflow) + 1;
        return "got " + cut(what.substr(from, what.rfind('\'') - from)) +
               ", expected a number that binary64 can hold";
    }
    const auto dash = what.find(" - ", what.find("syntax error"));
    std::string tail = dash == std::string::npos ? what : what.substr(dash + 3);
    std::string expected;
    const auto expects = tail.rfind("; expected ");
    if (expects != std::string::npos) {
        expected = tail.substr(expects + 11);
        tail.resize(expects);
    }
    replace_all(expected, "'[', '{', or a literal", "a value");
    if (tail.rfind("unexpected ", 0) == 0) {
        tail = "got " + tail.substr(11);
    }
    for (auto* part : {&tail, &expected}) {
        replace_all(*part, "string literal", "a string");
        replace_all(*part, "number literal", "a number");
        replace_all(*part, "end of input", "the end of the file");
    }
    return "syntax error: " + cut(tail, kLongestSyntaxMessage) +
           (expected.empty() ? "" : ", expected " + expected);
}

class Builder : public nlohmann::json_sax<json> {
public:
    Builder(std::string_view text, std::string file) : file_(std::move(file)), cursor_(text) {}

    Document take() { return std::move(document_); }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(value); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(json::object()); }
    bool start_array(std::size_t) override { return open(json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        const auto at = cursor_.take_token();
        const auto& top = open_.back();
        const std::string pointer = child_pointer(top.pointer, name);
        if (pointer.size() > kLongestPointer) {
            throw ConfigError(Diagnostic{file_, at.line, at.column, top.pointer,
                                         "got key " + in_quotes(name) + ", expected keys of " +
                                             std::to_string(kLongestPointer) +
                                             " bytes at most, with those around them",
                                         ""});
        }
        if (top.node->contains(name)) {
            const auto& first = document_.origins.at(pointer);
            document_.duplicates.push_back(
                {file_, at.line, at.column, pointer,
                 "duplicate key, first given at line " + std::to_string(first.key_line), ""});
        }
        key_ = name;
        key_at_ = at;
        return true;
    }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception& error) override {
        const auto at = cursor_.broken_token(position == 0 ? 0 : position - 1);
        throw ConfigError(
            Diagnostic{file_, at.line, at.column, "", syntax_message(error.what()), ""});
    }

private:
    struct Open {
        json* node;
        std::string pointer;
    };

    /// Puts a value where it belongs and notes its origin; returns the place and its pointer.
    Open place(json value) {
        const auto at = cursor_.take_token();
        if (++values_ > kMostValues) {
            throw ConfigError(Diagnostic{file_, at.line, at.column, "",
                                         "got more values than " + std::to_string(kMostValues) +
                                             ", the most of a file",
                                         "large arrays belong in files of their own"});
        }
        Origin origin{file_, at.line, at.column, 0, 0, {}};
        Open placed{&document_.root, ""};
        if (open_.empty()) {
            document_.root = std::move(value);
        } else if (open_.back().node->is_array()) {
            auto& array = *open_.back().node;
            placed.pointer = child_pointer(open_.back().pointer, std::to_string(array.size()));
            array.push_back(std::move(value));
            placed.node = &array.back();
        } else {
            placed.pointer = child_pointer(open_.back().pointer, key_);
            placed.node = &(*open_.back().node)[key_];
            *placed.node = std::move(value);
            origin.key_line = key_at_.line;
            origin.key_column = key_at_.column;
        }
        document_.origins[placed.pointer] = std::move(origin);
        return placed;
    }

    bool add(json value) {
        place(std::move(value));
        return true;
    }

    bool open(json empty) {
        const Open placed = place(std::move(empty));
        if (open_.size() == kDeepestNesting) {
            throw ConfigError(document_.at_value(
                placed.pointer, "nested deeper than " + std::to_string(kDeepestNesting)));
        }
        open_.push_back(placed);
        return true;
    }

    bool close() {
        cursor_.take_token();
        open_.pop_back();
        return true;
    }

    std::string file_;
    Cursor cursor_;
    Document document_;
    std::vector<Open> open_;
    std::size_t values_ = 0;
    std::string key_;
    Cursor::Position key_at_;
};

} // namespace

Document parse_document(std::string_view bytes, const std::string& file) {
    const std::string_view text = utf8_text(bytes, file);
    Builder builder{text, file};
    json::sax_parse(text.begin(), text.end(), &builder, json::input_format_t::json, true, true);
    return builder.take();
}

std::optional<json> parse_value(std::string_view text, const std::string& file) {
    return json::accept(text) ? std::optional(parse_document(text, file).root) : std::nullopt;
}

} // namespace tessera::config
