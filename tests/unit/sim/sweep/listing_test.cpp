// SPDX-License-Identifier: MIT
#include "sim/sweep/listing.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <string>
#include <unistd.h>
#include <vector>

using namespace tessera::sweep;

namespace {

/// What a listing prints to standard output.
std::string printed(const Listing& listing, const std::string& format, std::size_t most = 0) {
    std::fflush(stdout);
    std::FILE* const file = std::tmpfile();
    REQUIRE(file != nullptr);
    const int before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    listing.print(format, most);
    dup2(before, STDOUT_FILENO);
    close(before);
    std::rewind(file);
    std::string text;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
        text += static_cast<char>(c);
    }
    std::fclose(file);
    return text;
}

/// Cells as they are written; those of `numbers` columns are numbers.
Listing listing_of(std::vector<std::string> head, const std::vector<std::vector<std::string>>& rows,
                   std::vector<bool> numbers) {
    return {std::move(head), rows.size(), [=](std::size_t row, std::size_t column) {
                return ListedCell{rows[row][column], numbers[column]};
            }};
}

} // namespace

TEST_CASE("a table for people has numbers to the right and words to the left", "[unit][sweep]") {
    const Listing listing =
        listing_of({"point", "cycles", "share", "fabric"},
                   {{"bow dense", "1234567", "0.123456789", "mesh"}, {"x", "", "-12", ""}},
                   {false, true, true, false});
    const std::string head = "point         cycles     share  fabric\n";
    const std::string first = "bow dense  1,234,567  0.123457  mesh\n";
    CHECK(printed(listing, "text") == head + first + "x                          -12\n");
    CHECK(printed(listing, "text", 1) == head + first + "1 more\n");
    CHECK(printed(listing, "text", 2) == printed(listing, "text"));
    CHECK(printed(listing_of({"a"}, {}, {true}), "text") == "a\n");
    // a column of numbers with a word in it is one of words
    const std::vector<std::string> cells{"5", "x", "", "100000000000000000", "12345678901234567"};
    Listing mixed{{"long"}, cells.size(), [&](std::size_t row, std::size_t) {
                      return ListedCell{cells[row], row != 1};
                  }};
    CHECK(printed(mixed, "text") == "long\n5\nx\n\n100000000000000000\n12,345,678,901,234,567\n");
}

TEST_CASE("a table for programs has all digits, in CSV and in JSON", "[unit][sweep]") {
    const Listing listing =
        listing_of({"point", "cy,cles"}, {{"a \"b\"", "1234567"}, {"c", ""}, {"d", "0.123456789"}},
                   {false, true});
    CHECK(printed(listing, "csv") ==
          "point,\"cy,cles\"\r\n\"a \"\"b\"\"\",1234567\r\nc,\r\nd,0.123456789\r\n");
    CHECK(printed(listing, "csv", 1) == "point,\"cy,cles\"\r\n\"a \"\"b\"\"\",1234567\r\n");
    CHECK(printed(listing, "json") == "[\n  {\"cy,cles\":1234567,\"point\":\"a \\\"b\\\"\"},\n"
                                      "  {\"point\":\"c\"},\n"
                                      "  {\"cy,cles\":0.123456789,\"point\":\"d\"}\n]\n");
    CHECK(printed(listing_of({"a"}, {}, {true}), "json") == "[]\n");
    // more than goes out at once
    constexpr std::size_t kRows = 30'000;
    const Listing many{{"n"}, kRows, [](std::size_t row, std::size_t) {
                           return ListedCell{std::to_string(row), true};
                       }};
    std::string expected = "n\r\n";
    for (std::size_t row = 0; row < kRows; ++row) {
        expected += std::to_string(row) + "\r\n";
    }
    CHECK(printed(many, "csv") == expected);
}

TEST_CASE("a field of CSV is quoted where it must be", "[unit][sweep]") {
    for (const char* plain : {"", "a b", "a;b", "'"}) {
        CHECK(csv_field(plain) == plain);
    }
    for (const char* odd : {"a,b", "a\nb", "a\rb", ","}) {
        CHECK(csv_field(odd) == "\"" + std::string(odd) + "\"");
    }
    CHECK(csv_field("\"") == "\"\"\"\"");
}

TEST_CASE("numbers have as many digits as matter", "[unit][sweep]") {
    constexpr double kExact = 9007199254740992; // 2^53
    CHECK(number_text(3) == "3");
    CHECK(number_text(-3) == "-3");
    CHECK(number_text(0.123456789) == "0.123457");
    CHECK(number_text(99999.56) == "99999.6");
    CHECK(number_text(100000.5625) == "100001");
    CHECK(number_text(-100000.5625) == "-100001");
    CHECK(number_text(1234567.5) == "1234568");
    CHECK(number_text(kExact - 1) == "9007199254740991");
    CHECK(number_text(kExact) == "9.0072e+15");
    CHECK(number_text(-kExact) == "-9.0072e+15");
}
