// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "sim/calibrate/csv.h"
#include "sim/calibrate/reference.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::calibrate;

namespace {

std::string refusal(const std::string& text) {
    try {
        Reference reference;
        add_rows(reference, parse_csv(text, "rows.csv"));
    } catch (const ConfigError& error) {
        return error.diagnostics().front().text();
    }
    return "accepted";
}

std::vector<std::string> texts(const std::vector<CsvCell>& cells) {
    std::vector<std::string> out;
    for (const auto& cell : cells) {
        out.push_back(cell.text);
    }
    return out;
}

} // namespace

TEST_CASE("cells may be quoted, and then hold commas, quotes and line ends") {
    const auto table =
        parse_csv("# a comment\na,b,c\n1,\"x, \"\"y\"\"\",\"two\nlines\"\r\n,,last", "rows.csv");
    CHECK(table.heading == std::vector<std::string>{"a", "b", "c"});
    REQUIRE(table.rows.size() == 2);
    CHECK(texts(table.rows[0]) == std::vector<std::string>{"1", "x, \"y\"", "two\nlines"});
    CHECK(texts(table.rows[1]) == std::vector<std::string>{"", "", "last"});
}

TEST_CASE("a byte order mark, empty lines, comments and spaces round cells say nothing") {
    const auto table = parse_csv(
        "\xef\xbb\xbf# first\n\n a ,b\r\n \t,\r\n  # later\n 1 ,\t\" 2 \" \n", "rows.csv");
    CHECK(table.heading == std::vector<std::string>{"a", "b"});
    REQUIRE(table.rows.size() == 1);
    REQUIRE(texts(table.rows[0]) == std::vector<std::string>{"1", " 2 "});
    CHECK(table.rows[0][0].line == 6);
    CHECK(table.rows[0][0].column == 2);
}

TEST_CASE("the last line ends with LF or CRLF or the file, even in the middle of CRLF") {
    for (const std::string end : {"", "\n", "\r\n", "\r"}) {
        CAPTURE(end.size());
        const auto table = parse_csv("a,b\n1,2" + end, "rows.csv");
        REQUIRE(table.rows.size() == 1);
        CHECK(texts(table.rows[0]) == std::vector<std::string>{"1", "2"});
    }
}

TEST_CASE("a cell knows its line and column") {
    const auto table = parse_csv("a,b\n\"1\n2\",3\n4,5\n", "rows.csv");
    REQUIRE(table.rows.size() == 2);
    REQUIRE(table.rows[0].size() == 2);
    REQUIRE(table.rows[1].size() == 2);
    CHECK(table.rows[0][1].line == 3);
    CHECK(table.rows[0][1].column == 4);
    CHECK(table.rows[1][1].line == 4);
    CHECK(table.rows[1][1].column == 3);
}

TEST_CASE("written cells read back as they were") {
    for (const std::string text : {"plain", "a,b", "say \"x\"", "two\nlines", "", "# no comment",
                                   " before", "after ", "\ttab", "a\rb", "no # comment"}) {
        const auto table = parse_csv("a,b\n" + csv_cell(text) + ",end\n", "rows.csv");
        REQUIRE(table.rows.size() == 1);
        CHECK(texts(table.rows[0]) == std::vector<std::string>{text, "end"});
    }
}

TEST_CASE("only cells that need it are quoted") {
    for (const std::string bare : {"", "plain", "a#b", "a b", "1;2", "it's"}) {
        CHECK(csv_cell(bare) == bare);
    }
    CHECK(csv_cell("#a") == "\"#a\"");
    CHECK(csv_cell("##") == "\"##\"");
    CHECK(csv_cell(" a") == "\" a\"");
    CHECK(csv_cell("a\t") == "\"a\t\"");
    CHECK(csv_cell("a\rb") == "\"a\rb\"");
    CHECK(csv_cell("\"a\"") == "\"\"\"a\"\"\"");
}

TEST_CASE("a row of too few cells is told where it ends, one of too many where it goes on") {
    CHECK(refusal("a,b,c\n1,2\n") ==
          "rows.csv:2:3: got 2 cells, expected 3, as many as the heading names");
    CHECK(refusal("a\n1,2,3\n") ==
          "rows.csv:2:3: got 3 cells, expected 1, as many as the heading names");
    CHECK(refusal("a;b,c\n1,2\n").find("no column") == std::string::npos); // it has a comma
    CHECK(refusal("a\tb\n").find("rows.csv:1:1: got names without a comma") == 0);
}

TEST_CASE("commas behind the last column are no columns") {
    const auto table = parse_csv("a,b,, \n1,2\n3,4,\n5,,\n6,7,\"\",\n", "rows.csv");
    CHECK(table.heading == std::vector<std::string>{"a", "b"});
    REQUIRE(table.rows.size() == 4);
    for (const auto& row : table.rows) {
        CHECK(row.size() == 2);
    }
    CHECK(texts(table.rows[2]) == std::vector<std::string>{"5", ""});
    // also where the heading has none
    CHECK(parse_csv("a,b\n1,2,,\n", "rows.csv").rows[0].size() == 2);
    CHECK(refusal("a,b,\n1,2,3\n") ==
          "rows.csv:2:5: got 3 cells, expected 2, as many as the heading names");
    CHECK(refusal("a,b,\n1\n") ==
          "rows.csv:2:1: got 1 cell, expected 2, as many as the heading names");
    CHECK(refusal(",\n").find("rows.csv:1:1: got an empty file") == 0);
    CHECK(refusal("\xff\xfe"
                  "a")
              .find("rows.csv:1:1: got UTF-16 text, expected UTF-8") == 0);
}

TEST_CASE("mistakes in CSV are told with file, line and column") {
    CHECK(refusal("") == "rows.csv:1:1: got an empty file, expected a heading");
    CHECK(refusal("\n# only this\n") == "rows.csv:1:1: got an empty file, expected a heading");
    CHECK(refusal("a;b\n").find("rows.csv:1:1: got names without a comma between them") == 0);
    CHECK(refusal("a,b\r1,2\r").find("rows.csv:1:4: got byte 13") == 0);
    CHECK(refusal(std::string("a,b\n1,\0\n", 9)).find("rows.csv:2:3: got byte 0") == 0);
    CHECK(refusal("a,,b\n").find("rows.csv:1:3: got a column without a name") == 0);
    CHECK(refusal("a,b,a\n") == "rows.csv:1:5: got column 'a' twice");
    CHECK(refusal("a,b\n1,2\n1,2,3\n") ==
          "rows.csv:3:5: got 3 cells, expected 2, as many as the heading names");
    CHECK(refusal("a,b\n1\n") ==
          "rows.csv:2:1: got 1 cell, expected 2, as many as the heading names");
    CHECK(refusal("a,b\n1,x\"y\"\n").find("rows.csv:2:4: got a quote inside a cell") == 0);
    CHECK(refusal("a,b\n1,\"x\n\n") == "rows.csv:2:3: got a quote without an end");
    CHECK(refusal("a,b\n\"1\"x,2\n") ==
          "rows.csv:2:4: got 'x' after a closing quote, expected a comma");
}

TEST_CASE("rows need an id that no other has") {
    const std::string heading = "id,machine,workload,metric,value,unit\n";
    CHECK(refusal(heading + ",gc2,x,latency,1,us\n") == "rows.csv:2:1: id: got an empty id");
    CHECK(refusal(heading + "r,gc2,x,latency,1,us\nr,gc2,x,latency,1,us\n") ==
          "rows.csv:3:1: id: got id 'r' twice, first at rows.csv:2");
}

TEST_CASE("all wrong ids are told together") {
    Reference reference;
    const auto table = parse_csv("id,machine,workload,metric,value,unit\n"
                                 ",gc2,x,latency,1,us\nr,gc2,x,latency,1,us\n,gc2,x,latency,1,us\n",
                                 "rows.csv");
    try {
        add_rows(reference, table);
        FAIL("accepted");
    } catch (const ConfigError& error) {
        REQUIRE(error.diagnostics().size() == 2);
        CHECK(error.diagnostics()[1].line == 4);
    }
}

TEST_CASE("a file of another form is named with its reason, and its rows are counted") {
    Reference reference;
    add_rows(reference, parse_csv("id,machine,worklod,metric,value,unit\na,b,c,d,1,us\n", "x.csv"));
    CHECK(reference.rows.empty());
    REQUIRE(reference.other_files.size() == 1);
    CHECK(reference.other_files[0].reason == "no column 'workload'; did you mean 'worklod'?");
    CHECK(reference.other_files[0].rows == 1);
}

TEST_CASE("a table has a most of bytes, columns and rows") {
    const auto refusal = [](const auto& body) {
        try {
            static_cast<void>(body());
        } catch (const tessera::ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    const auto heading = [](int columns) {
        std::string text = "c0";
        for (int i = 1; i < columns; ++i) {
            text += ",c" + std::to_string(i);
        }
        return text + "\n";
    };
    CHECK(parse_csv(heading(100), "f.csv").heading.size() == 100);
    CHECK(refusal([&] { return parse_csv(heading(101), "f.csv"); }) ==
          "f.csv:1:391: got 101 columns, expected at most 100");
    const auto rows = [](int count) {
        std::string text = "a\n";
        for (int i = 0; i < count; ++i) {
            text += "1\n";
        }
        return text;
    };
    CHECK(parse_csv(rows(10'000), "f.csv").rows.size() == 10'000);
    CHECK(refusal([&] { return parse_csv(rows(10'001), "f.csv"); }) ==
          "f.csv:10002:1: got more rows than 10000, the most of a table");
    CHECK(refusal([] { return read_csv("/dev/zero"); }) ==
          "/dev/zero: got more than 4 MiB, the most of a table");
    CHECK_THROWS_AS(read_csv("/no/such/file.csv"), tessera::IoError);
}

TEST_CASE("of a folder every file of rows is read, whatever else it holds") {
    const test::ScratchFolder folder;
    const auto rows = [](const std::string& id) {
        return "id,machine,workload,metric,value,unit\n" + id + ",gc2,x,latency,1,us\n";
    };
    CHECK_THROWS_AS(read_reference(folder.path()), IoError);
    std::filesystem::create_directories(folder.path("folder.csv"));
    CHECK_THROWS_AS(read_reference(folder.path()), IoError);
    static_cast<void>(folder.write("b.csv", rows("b")));
    static_cast<void>(folder.write("a.CSV", rows("a")));
    static_cast<void>(folder.write("c.txt", rows("c")));
    const Reference reference = read_reference(folder.path());
    REQUIRE(reference.rows.size() == 2);
    CHECK(reference.rows[0].id() == "a");
    CHECK(reference.rows[1].id() == "b");
    CHECK(reference.other_files.empty());
}
