// SPDX-License-Identifier: MIT
#include "kernels/workload/smtx.h"
#include "tests/kernels/workload/support.h"

#include <utility>

using tessera::IoError;
using tessera::test::config_error;
using tessera::test::ScratchFolder;
using namespace tessera::workload;

namespace {

using Place = std::pair<int, int>;

std::vector<Place> places(const CoordinateMatrix& matrix) {
    std::vector<Place> list;
    for (const auto& entry : matrix.entries) {
        list.emplace_back(entry.row, entry.column);
    }
    return list;
}

CoordinateMatrix read(const std::string& text) {
    return read_smtx(text, "a.smtx");
}

std::string error_of(const std::string& text) {
    return config_error([&] { return read(text); });
}

const std::string kHint = "; line 1 is rows, columns, non-zeros";
const std::string kTruncated = "; the file is truncated";

} // namespace

TEST_CASE("a mask of compressed rows is read", "[operands]") {
    const auto matrix = read("3, 4, 5\n0 2 2 5 \n1 3 0 2 3 \n");
    CHECK(matrix.rows == 3);
    CHECK(matrix.columns == 4);
    CHECK_FALSE(matrix.has_values());
    CHECK(places(matrix) == std::vector<Place>{{0, 1}, {0, 3}, {2, 0}, {2, 2}, {2, 3}});
    CHECK(matrix.entries[0].value == 1.0);
    CHECK(matrix.entries[0].line == 3);
}

TEST_CASE("a mask's blanks and line ends may be others", "[operands]") {
    CHECK(places(read("2,2,2\r\n0\t1  2\r\n\t1 0\r\n\r\n \n")) ==
          std::vector<Place>{{0, 1}, {1, 0}});
    CHECK(places(read(" 1 , 3 ,2\n 0 2\n0 2")) == std::vector<Place>{{0, 0}, {0, 2}});
    for (const char* empty : {"2, 3, 0\n0 0 0\n\n", "2, 3, 0\n0 0 0\n", "2, 3, 0\n0 0 0"}) {
        CHECK(read(empty).entries.empty());
    }
}

TEST_CASE("a mask is read as people's tools write it", "[operands]") {
    const std::string mark = "\xef\xbb\xbf";
    CHECK(places(read(mark + "\n 2, 2, 2 \r\n\r\n0 1 2\t\r\n\n1 0 \r\n")) ==
          std::vector<Place>{{0, 1}, {1, 0}});
    CHECK(error_of(mark + "2; 2") == "a.smtx:1:1: rows: got '2;', expected a whole number");
    CHECK(error_of("\xff\xfe") ==
          "a.smtx:1:1: got UTF-16 text, expected UTF-8; iconv -f UTF-16 -t UTF-8 converts it");
    const ScratchFolder folder;
    CHECK(read_smtx_size(folder.file("a.smtx", mark + "\n\n7, 9, 3\nnonsense")) ==
          MatrixShape{7, 9});
}

TEST_CASE("a place that a mask has twice counts once on request", "[operands]") {
    const std::string twice = "2, 3, 4\n0 3 4\n1 1 2 1\n";
    CHECK(places(read_smtx(twice, "a.smtx", Duplicates::Sum)) ==
          std::vector<Place>{{0, 1}, {0, 2}, {1, 1}});
    CHECK(error_of(twice).find("got 1 behind 1 in row 0") != std::string::npos);
    CHECK(config_error([] {
              return read_smtx("1, 3, 2\n0 2\n2 1\n", "a.smtx", Duplicates::Sum);
          }).find("got 1 behind 2 in row 0") != std::string::npos);
    // the first of a row repeats none of the row before
    CHECK(places(read_smtx("2, 1, 2\n0 1 2\n0 0\n", "a.smtx", Duplicates::Sum)).size() == 2);
}

TEST_CASE("mistakes in the first line of a mask are located", "[operands]") {
    CHECK(error_of("") ==
          "a.smtx:1:1: rows: got the end of the line, expected a whole number" + kHint);
    CHECK(error_of("%%MatrixMarket") ==
          "a.smtx:1:1: rows: got '%%MatrixMarket', expected a whole number");
    CHECK(error_of("2 2 1\n") == "a.smtx:1:3: got '2', expected a comma behind rows" + kHint);
    CHECK(error_of("2, 2\n") ==
          "a.smtx:1:5: got the end of the line, expected a comma behind columns" + kHint);
    CHECK(error_of("2, 2,\n1") ==
          "a.smtx:1:6: non-zeros: got the end of the line, expected a whole number" + kHint);
    CHECK(error_of("2,, 2") == "a.smtx:1:3: columns: got ',', expected a whole number");
    CHECK(error_of("0, 2, 0") == "a.smtx:1:1: rows: got 0, expected 1..2147483647");
    CHECK(error_of("2, -2, 0") == "a.smtx:1:4: columns: got -2, expected 1..2147483647");
    CHECK(error_of("2, 99999999999999999999, 0") ==
          "a.smtx:1:4: columns: got 99999999999999999999, expected 1..2147483647");
    CHECK(error_of("2, 2.0, 0") == "a.smtx:1:4: columns: got '2.0', expected a whole number");
    CHECK(error_of("2, 2, 5") == "a.smtx:1:7: non-zeros: got 5, expected 0..4");
    CHECK(error_of("2, 2, 1, 3") == "a.smtx:1:8: got ',', expected the end of the line" + kHint);
    CHECK(error_of("2, 2, 1 f\n") == "a.smtx:1:9: got 'f', expected the end of the line" + kHint);
}

TEST_CASE("mistakes in the row offsets of a mask are located", "[operands]") {
    CHECK(error_of("2, 2, 1") ==
          "a.smtx:2:1: row offsets: got 0, expected 3 as line 1 says" + kTruncated);
    CHECK(error_of("2, 2, 1\n0 1") ==
          "a.smtx:2:4: row offsets: got 2, expected 3 as line 1 says" + kTruncated);
    CHECK(error_of("2, 2, 1\n0 1\n0") ==
          "a.smtx:2:4: row offsets: got 2, expected 3 as line 1 says");
    CHECK(error_of("2, 2, 1\n0 1 1 1\n0") ==
          "a.smtx:2:7: row offsets: got more than the 3 that line 1 says");
    CHECK(error_of("2, 2, 1\n1 1 1\n0") == "a.smtx:2:1: row offset 0: got 1, expected 0");
    CHECK(error_of("3, 2, 2\n0 2 1 2\n0 1") == "a.smtx:2:5: row offset 2: got 1, expected 2");
    CHECK(error_of("3, 3, 3\n0 2 1 3\n0 1") == "a.smtx:2:5: row offset 2: got 1, expected 2..3");
    CHECK(error_of("2, 2, 2\n0 1 1\n0 1") == "a.smtx:2:5: row offset 2: got 1, expected 2");
    CHECK(error_of("2, 2, 2\n0 3 2\n0 1") == "a.smtx:2:3: row offset 1: got 3, expected 0..2");
    CHECK(error_of("2, 2, 2\n0, 1 2\n0 1") ==
          "a.smtx:2:2: row offset 1: got ',', expected a whole number");
    CHECK(error_of("2, 2, 2\n0 x 2\n0 1") ==
          "a.smtx:2:3: row offset 1: got 'x', expected a whole number");
}

TEST_CASE("mistakes in the column indices of a mask are located", "[operands]") {
    const std::string head = "2, 3, 3\n0 2 3\n";
    CHECK(error_of(head) ==
          "a.smtx:3:1: column indices: got 0, expected 3 as line 1 says" + kTruncated);
    CHECK(error_of(head + "0 1\n2\n") ==
          "a.smtx:3:4: column indices: got 2, expected 3 as line 1 says");
    CHECK(error_of(head + "0 1 2 2\n") ==
          "a.smtx:3:7: column indices: got more than the 3 that line 1 says");
    CHECK(error_of(head + "0 3 2\n") == "a.smtx:3:3: column index 1: got 3, expected 0..2");
    CHECK(error_of(head + "0 -1 2\n") == "a.smtx:3:3: column index 1: got -1, expected 0..2");
    CHECK(error_of(head + "0 1e0 2\n") ==
          "a.smtx:3:3: column index 1: got '1e0', expected a whole number");
    const std::string hint = "; the indices of a row ascend";
    CHECK(error_of(head + "1 1 2\n") ==
          "a.smtx:3:3: column index 1: got 1 behind 1 in row 0, expected more" + hint);
    CHECK(error_of(head + "2 0 2\n") ==
          "a.smtx:3:3: column index 1: got 0 behind 2 in row 0, expected more" + hint);
    CHECK(places(read(head + "1 2 0\n")) == std::vector<Place>{{0, 1}, {0, 2}, {1, 0}});
    CHECK(error_of(head + "1 2 0\n\n 1 2 3\n") ==
          "a.smtx:5:2: got '1', expected the end of the file");
}

TEST_CASE("a mask's memory grows with its text, not with what it says", "[operands]") {
    CHECK(error_of("2147483647, 2147483647, 4000000000000000000\n0 1\n") ==
          "a.smtx:2:4: row offsets: got 2, expected 2147483648 as line 1 says" + kTruncated);
}

TEST_CASE("the size of a mask is read from its first line", "[operands]") {
    const ScratchFolder folder;
    CHECK(read_smtx_size(folder.file("a.smtx", "7, 9, 3\nnonsense")) == MatrixShape{7, 9});
    const std::string blanks(100000, ' ');
    CHECK(read_smtx_size(folder.file("b.smtx", "7," + blanks + "9, 3\n")) == MatrixShape{7, 9});
    CHECK(read_smtx_size(folder.file("b.smtx", "7, 9, 3")) == MatrixShape{7, 9});
    CHECK(read_smtx_size(folder.file("b.smtx", "\r\n \n" + blanks + "7, 9, 3")) ==
          MatrixShape{7, 9});
    CHECK(config_error([&] { return read_smtx_size(folder.file("c.smtx", "7; 9\n")); }) ==
          folder.file("c.smtx") + ":1:1: rows: got '7;', expected a whole number");
    CHECK_THROWS_AS(read_smtx_size(folder.file("absent.smtx")), IoError);
    CHECK_THROWS_AS(read_smtx_file(folder.file("absent.smtx")), IoError);
    CHECK(read_smtx_file(folder.file("d.smtx", "1, 1, 1\n0 1\n0\n")).entries.size() == 1);
}
