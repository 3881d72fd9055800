// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

using namespace tessera;

TEST_CASE("characters of UTF-8 are of 1 to 4 bytes, none longer than it must be", "[unit][base]") {
    for (const char* text :
         {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xec\xbf\xbf", "\xed\x9f\xbf",
          "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf3\xbf\xbf\xbf",
          "\xf4\x8f\xbf\xbf", "caf\xc3\xa9 \xe2\x82\xac"}) {
        CAPTURE(text);
        CHECK(is_utf8(text));
        CHECK(utf8_of(text) == text);
    }
    for (const char* bytes :
         {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x7f", "\xc2\xc0", "\xe0\x9f\xbf",
          "\xed\xa0\x80", "\xe1\x80", "\xe1\x80\x7f", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
          "\xf5\x80\x80\x80", "\xf1\x80\x80", "\xf1\x80\x80\xc0", "\xff", "a\xe9"}) {
        CAPTURE(bytes);
        CHECK_FALSE(is_utf8(bytes));
        CHECK(is_utf8(utf8_of(bytes)));
        CHECK(bytes_of(utf8_of(bytes)) == bytes);
    }
}

TEST_CASE("bytes that are no text are told by their numbers, and nothing is lost", "[unit][base]") {
    CHECK(utf8_of("caf\xe9.json") == "caf\\xe9.json");
    CHECK(utf8_of("caf\\xe9.json") == "caf\\x5cxe9.json"); // a name that has a backslash
    CHECK(utf8_of("a\\b") == "a\\b");
    CHECK(bytes_of("a\\b") == "a\\b");
    CHECK(bytes_of("\\x") == "\\x");
    CHECK(bytes_of("\\x4g") == "\\x4g");
    CHECK(bytes_of("\\xE9") == "\xe9");
    std::uint32_t bits = 1;
    for (int i = 0; i < 2000; ++i) { // no two names are written alike
        std::string name;
        for (int length = i % 9; length > 0; --length) {
            constexpr std::string_view kBytes = "\\x5ce9\xe9\xc3\xa9\x80";
            bits = bits * 1664525 + 1013904223;
            name += kBytes[(bits >> 16U) % kBytes.size()];
        }
        CAPTURE(name);
        CHECK(bytes_of(utf8_of(name)) == name);
    }
}

TEST_CASE("a clipped text has at most so many bytes, and whole characters") {
    CHECK(clipped("four", 4) == "four");
    CHECK(clipped("fives", 4) == "f...");
    CHECK(clipped("", 3).empty());
    CHECK(clipped("abcd", 3) == "...");
    for (const std::string& text :
         {std::string("gr\u00f6\u00dfe"), std::string("\u65e5\u672c\u8a9e\u65e5\u672c"),
          std::string("a\U0001f600b\U0001f600c")}) {
        for (std::size_t most = 3; most <= text.size() + 1; ++most) {
            CAPTURE(text, most);
            const std::string cut = clipped(text, most);
            CHECK(cut.size() <= most);
            CHECK(is_utf8(cut));
            CHECK((cut == text) == (text.size() <= most));
        }
    }
}
