// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/text.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;

TEST_CASE("a word is cut behind its last shown byte and its length is told", "[unit][base]") {
    for (const std::size_t longest : {std::size_t{1}, std::size_t{7}, kLongestShown}) {
        const std::string just(longest, 'a');
        CHECK(cut(just, longest) == just);
        CHECK(in_quotes(just, longest) == "'" + just + "'");
        const std::string size = std::to_string(longest + 1);
        CHECK(cut(just + "b", longest) == just + "... (" + size + " bytes)");
        CHECK(in_quotes(just + "b", longest) == "'" + just + "...' (" + size + " bytes)");
    }
    CHECK(cut("").empty());
}

TEST_CASE("a character of several bytes is never cut in two", "[unit][base]") {
    const std::string word = "a\u00e9\u20ac"; // 1, 2 and 3 bytes
    CHECK(cut(word, 1) == "a... (6 bytes)");
    CHECK(cut(word, 2) == "a... (6 bytes)");
    CHECK(cut(word, 3) == "a\u00e9... (6 bytes)");
    CHECK(cut(word, 5) == "a\u00e9... (6 bytes)");
    CHECK(cut(word, 6) == word);
    CHECK(cut("\u20ac\u20ac", 2) == "... (6 bytes)");
}

TEST_CASE("of a text the words are cut that no name can be as long as", "[unit][base]") {
    const std::string path(500, 'p');
    CHECK(with_words_cut("at " + path + "\n two  spaces ") == "at " + path + "\n two  spaces ");
    CHECK(with_words_cut("got " + path + "p, more") ==
          "got " + std::string(kLongestShown, 'p') + "... (502 bytes) more");
    CHECK(with_words_cut(path + "p").find(" (501 bytes)") != std::string::npos);
    CHECK(with_words_cut("").empty());
}

TEST_CASE("a comma is before every three digits that others are before", "[unit][base]") {
    for (const auto& [value, text] : std::vector<std::pair<std::int64_t, std::string>>{
             {0, "0"},
             {9, "9"},
             {99, "99"},
             {999, "999"},
             {1000, "1,000"},
             {12'345, "12,345"},
             {123'456, "123,456"},
             {1'234'567, "1,234,567"},
             {std::numeric_limits<std::int64_t>::max(), "9,223,372,036,854,775,807"},
             {std::numeric_limits<std::int64_t>::min(), "-9,223,372,036,854,775,808"}}) {
        CHECK(grouped(value) == text);
        if (value > 0) {
            CHECK(grouped(-value) == "-" + text);
        }
    }
    CHECK(counted(0, "tile") == "0 tiles");
    CHECK(counted(1, "tile") == "1 tile");
    CHECK(counted(2, "tile") == "2 tiles");
    CHECK(counted(1000, "tile") == "1,000 tiles");
}

TEST_CASE("of very many mistakes the first are told and the others counted", "[unit][base]") {
    const auto text_of = [](std::size_t count) {
        std::vector<Diagnostic> mistakes;
        for (std::size_t i = 0; i < count; ++i) {
            mistakes.push_back({"f.json", static_cast<int>(i) + 1, 1, "", "wrong", ""});
        }
        return std::string(ConfigError(mistakes).what());
    };
    const auto lines_of = [&](std::size_t count) {
        const std::string text = text_of(count);
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    };
    CHECK(lines_of(kMostMistakesTold) == kMostMistakesTold);
    CHECK(lines_of(kMostMistakesTold + 1) == kMostMistakesTold + 1);
    CHECK(text_of(kMostMistakesTold + 1).find("more mistakes") == std::string::npos);
    const std::string text = text_of(kMostMistakesTold + 25);
    CHECK(lines_of(kMostMistakesTold + 25) == kMostMistakesTold + 1);
    CHECK(text.find("f.json:1:1: wrong\n") == 0);
    CHECK(text.find("f.json:100:1: wrong\nand 25 more mistakes") != std::string::npos);
}

TEST_CASE("a mistake's long words are cut and its file is not", "[unit][base]") {
    const std::string path = "/" + std::string(900, 'd');
    const std::string word(1000, 'w');
    const std::string text =
        Diagnostic{path, 3, 4, "/" + word, "got " + word, "not " + word}.text();
    CHECK(text.find(path + ":3:4: /" + std::string(59, 'w') + "... (1001 bytes): got www") == 0);
    CHECK(text.size() < path.size() + 400);
}

TEST_CASE("a mistake's text has what is known of it", "[unit][base]") {
    const std::vector<std::pair<Diagnostic, const char*>> texts{
        {{"f", 3, 4, "/p", "got x", "try y"}, "f:3:4: /p: got x; try y"},
        {{"f", 0, 4, "/p", "got x", ""}, "f: /p: got x"},
        {{"f", 1, 0, "", "got x", ""}, "f:1:0: got x"},
        {{"", 0, 0, "/p", "got x", ""}, "/p: got x"},
        {{"", 0, 0, "", "got x", "try y"}, "got x; try y"},
        {{"f", 3, 4, "/p", "", ""}, "f:3:4: /p"}}; // a place alone
    for (const auto& [mistake, text] : texts) {
        CHECK(mistake.text() == text);
    }
}
