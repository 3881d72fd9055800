// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/text_lines.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tessera;

namespace {

using Strings = std::vector<std::string>;

Strings lines_of(std::string_view text) {
    TextLines lines(text);
    Strings all;
    while (lines.next()) {
        all.emplace_back(lines.line());
    }
    return all;
}

} // namespace

TEST_CASE("lines end as people's tools end them", "[unit]") {
    CHECK(lines_of("").empty());
    CHECK(lines_of("a") == Strings{"a"});
    CHECK(lines_of("a\n") == Strings{"a"});
    CHECK(lines_of("a\r\nb\r\n") == Strings{"a", "b"});
    CHECK(lines_of("a \t\r\n\n b") == Strings{"a", "", " b"});
    CHECK(lines_of("\n") == Strings{""});
    CHECK(lines_of("a\rb \n") == Strings{"a\rb"});
}

TEST_CASE("a line knows its number and what is behind it", "[unit]") {
    TextLines lines("a\n \nbc");
    CHECK(lines.number() == 0);
    CHECK(lines.next_filled());
    CHECK(lines.number() == 1);
    CHECK(lines.bytes_left() == 4);
    CHECK(lines.next_filled());
    CHECK(lines.line() == "bc");
    CHECK(lines.number() == 3);
    CHECK(lines.bytes_left() == 0);
    CHECK_FALSE(lines.next_filled());
    CHECK(lines.line().empty());
    CHECK(lines.number() == 3);
}

TEST_CASE("words have their columns", "[unit]") {
    std::size_t at = 0;
    const std::string_view line = " ab\tc";
    Word word = next_word(line, at);
    CHECK(word.text == "ab");
    CHECK(word.column == 2);
    word = next_word(line, at);
    CHECK(word.text == "c");
    CHECK(word.column == 5);
    CHECK(next_word(line, at).text.empty());
}

TEST_CASE("a mark at the front is no text, and other text is refused", "[unit]") {
    CHECK(utf8_text("\xef\xbb\xbf"
                    "a",
                    "f") == "a");
    CHECK(utf8_text("\xef\xbb", "f") == "\xef\xbb");
    CHECK(utf8_text("a\xef\xbb\xbf", "f") == "a\xef\xbb\xbf");
    CHECK(utf8_text("", "f").empty());
    for (const std::string_view mark : {"\xff\xfe", "\xfe\xff"}) {
        CHECK(is_utf16(mark));
        try {
            static_cast<void>(utf8_text(mark, "f.txt"));
            FAIL("no mistake was told");
        } catch (const ConfigError& error) {
            CHECK(std::string(error.what()) == "f.txt:1:1: got UTF-16 text, expected UTF-8; iconv "
                                               "-f UTF-16 -t UTF-8 converts it");
        }
    }
    CHECK_FALSE(is_utf16("\xff"));
}
