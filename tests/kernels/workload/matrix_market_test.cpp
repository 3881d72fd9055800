// SPDX-License-Identifier: MIT
#include "kernels/workload/matrix_market.h"
#include "tests/kernels/workload/gzip.h"
#include "tests/kernels/workload/support.h"
#include "tests/support/source_path.h"

#include <zlib.h>

#include <tuple>

using tessera::IoError;
using tessera::test::config_error;
using tessera::test::gzip_of;
using tessera::test::ScratchFolder;
using namespace tessera::workload;

namespace {

using Element = std::tuple<int, int, double>;

std::vector<Element> elements(const CoordinateMatrix& matrix) {
    std::vector<Element> list;
    for (const auto& entry : matrix.entries) {
        list.emplace_back(entry.row, entry.column, entry.value);
    }
    return list;
}

CoordinateMatrix read(const std::string& text) {
    return read_matrix_market(text, "a.mtx");
}

std::string error_of(const std::string& text) {
    return config_error([&] { return read(text); });
}

const std::string kReal = "%%MatrixMarket matrix coordinate real general\n";
const std::string kInteger = "%%MatrixMarket matrix coordinate integer general\n";
const std::string kPattern = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string kSymmetric = "%%MatrixMarket matrix coordinate pattern symmetric\n";
const std::string kSkew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
const std::string kArray = "%%MatrixMarket matrix array real ";
const std::string kHint = "; read are matrices, coordinate or array; real, integer or pattern; "
                          "general, symmetric or skew-symmetric";
const std::string kMark = "\xef\xbb\xbf";

} // namespace

TEST_CASE("a general real file is read in row order", "[operands]") {
    const auto matrix = read(kReal + "2 3 3\n2 1 -1.5e1\n1 3 +.25\n1 1 7\n");
    CHECK(matrix.rows == 2);
    CHECK(matrix.columns == 3);
    CHECK(matrix.has_values());
    CHECK(elements(matrix) == std::vector<Element>{{0, 0, 7.0}, {0, 2, 0.25}, {1, 0, -15.0}});
    CHECK(matrix.entries[1].line == 4);
}

TEST_CASE("a symmetric pattern file is mirrored and its diagonal is not", "[operands]") {
    const auto matrix = read(kSymmetric + "3 3 3\n1 1\n3 1\n3 2\n");
    CHECK_FALSE(matrix.has_values());
    CHECK(elements(matrix) ==
          std::vector<Element>{{0, 0, 1.0}, {0, 2, 1.0}, {1, 2, 1.0}, {2, 0, 1.0}, {2, 1, 1.0}});
}

TEST_CASE("a symmetric file with values mirrors them", "[operands]") {
    const auto matrix = read("%%matrixmarket MATRIX Coordinate Integer SYMMETRIC\n2 2 1\n2 1 -3\n");
    CHECK(elements(matrix) == std::vector<Element>{{0, 1, -3.0}, {1, 0, -3.0}});
}

TEST_CASE("comments and blank lines and CRLF and tabs are passed over", "[operands]") {
    const auto matrix =
        read("%%MatrixMarket matrix coordinate pattern general\r\n% one\r\n\r\n%\r\n"
             "\t2 2\t1 \r\n\r\n% two\r\n 2\t2\r\n\r\n");
    CHECK(elements(matrix) == std::vector<Element>{{1, 1, 1.0}});
    CHECK(matrix.entries[0].line == 8);
}

TEST_CASE("a file without a last line end and one without entries are read", "[operands]") {
    CHECK(elements(read(kPattern + "1 1 1\n1 1")).size() == 1);
    CHECK(read(kPattern + "5 4 0\n").entries.empty());
}

TEST_CASE("a file may have a mark, blanks before and comments behind what is read", "[operands]") {
    const auto matrix =
        read(kMark + "  %%MatrixMarket matrix coordinate real general % by a solver\r\n"
                     "  % rows\n\t%\n 2 3 2 % size\n 1 2\t1.5 % first\n\n  2 3 -1 ");
    CHECK(elements(matrix) == std::vector<Element>{{0, 1, 1.5}, {1, 2, -1.0}});
    CHECK(matrix.entries[0].line == 5);
    // a column is counted without the mark
    CHECK(
        error_of(kMark + "%%MatrixMarket tensor coordinate real general\n").find("a.mtx:1:16: ") ==
        0);
    CHECK(error_of("\xff\xfe%%") ==
          "a.mtx:1:1: got UTF-16 text, expected UTF-8; iconv -f UTF-16 -t UTF-8 converts it");
    CHECK(error_of(kReal + "2 2 1\n1 1 % 3\n") == "a.mtx:3:1: entry: got 2 words, expected 3");
}

TEST_CASE("a skew-symmetric file is mirrored with the other sign", "[operands]") {
    const auto matrix = read(kSkew + "3 3 2\n2 1 -1.5\n3 2 4\n");
    CHECK(elements(matrix) ==
          std::vector<Element>{{0, 1, 1.5}, {1, 0, -1.5}, {1, 2, -4.0}, {2, 1, 4.0}});
    CHECK(error_of(kSkew + "3 3 1\n2 2 1\n") ==
          "a.mtx:3:3: entry (2, 2) lies on the diagonal, expected none there since the banner says "
          "skew-symmetric");
    CHECK(
        error_of(kSkew + "3 3 1\n1 2 1\n") ==
        "a.mtx:3:3: entry (1, 2) lies above the diagonal, expected column <= row since the banner "
        "says skew-symmetric; a skew-symmetric file holds the lower triangle");
    CHECK(error_of(kSkew + "3 3 4\n") == "a.mtx:2:5: entries: got 4, expected 0..3");
    CHECK(error_of(kSkew + "3 2 1\n") ==
          "a.mtx:2:1: size: got 3 x 2, expected a square matrix since the banner says "
          "skew-symmetric");
    CHECK(read(kSkew + "1 1 0\n").entries.empty());
}

TEST_CASE("an array has its values column by column, and zeros are no entries", "[operands]") {
    const auto matrix =
        read(kArray + "general\n% note\n2 3 % size\n1 0\n% more\n3\n4 0 6 % last\n");
    CHECK(matrix.has_values());
    CHECK(elements(matrix) ==
          std::vector<Element>{{0, 0, 1.0}, {0, 1, 3.0}, {1, 1, 4.0}, {1, 2, 6.0}});
    CHECK(elements(read(kArray + "symmetric\n3 3\n1\n2\n3\n4\n0\n6\n")) ==
          std::vector<Element>{{0, 0, 1.0},
                               {0, 1, 2.0},
                               {0, 2, 3.0},
                               {1, 0, 2.0},
                               {1, 1, 4.0},
                               {2, 0, 3.0},
                               {2, 2, 6.0}});
    CHECK(elements(read(kArray + "skew-symmetric\n3 3\n1\n2\n3\n")) ==
          std::vector<Element>{
              {0, 1, -1.0}, {0, 2, -2.0}, {1, 0, 1.0}, {1, 2, -3.0}, {2, 0, 2.0}, {2, 1, 3.0}});
    CHECK(elements(read("%%MatrixMarket matrix array integer general\n1 2\n7\n-8\n")) ==
          std::vector<Element>{{0, 0, 7.0}, {0, 1, -8.0}});
    CHECK(error_of(kArray + "general\n2 2\n1\n2\n3\n") ==
          "a.mtx:5:1: elements: got 3, expected 4 as line 2 says; the file is truncated");
    CHECK(error_of(kArray + "general\n1 2\n1 2 3\n") ==
          "a.mtx:3:5: elements: got more than the 2 of line 2");
    CHECK(error_of(kArray + "general\n1 2 2\n") == "a.mtx:2:5: size line: got 3 words, expected 2");
    CHECK(error_of(kArray + "general\n1 2\n1\nx\n") ==
          "a.mtx:4:1: value: got 'x', expected a finite number");
    CHECK(error_of(kArray + "general\n") ==
          "a.mtx:1:1: the file ends before the size line; expected rows, columns");
    // memory grows with what is there
    CHECK(error_of(kArray + "general\n2147483647 2147483647\n1\n").find("elements: got 1") !=
          std::string::npos);
}

TEST_CASE("exponents may be Fortran's", "[operands]") {
    const auto value = [](const std::string& word) {
        return read(kReal + "1 1 1\n1 1 " + word + "\n").entries.at(0).value;
    };
    CHECK(value("1.5D+03") == 1500.0);
    CHECK(value("-2d-1") == -0.2);
    CHECK(value("+.5D0") == 0.5);
    for (const std::string word : {"D", "1D", "1DD2", "1D2E3", "0x1p3", "1,5"}) {
        CHECK(error_of(kReal + "1 1 1\n1 1 " + word + "\n") ==
              "a.mtx:3:5: value: got '" + word + "', expected a finite number");
    }
}

TEST_CASE("entries of one place are summed on request", "[operands]") {
    const auto sum = [](const std::string& text) {
        return elements(read_matrix_market(text, "a.mtx", Duplicates::Sum));
    };
    CHECK(sum(kReal + "2 2 4\n2 1 1\n1 1 5\n2 1 2.5\n2 1 -0.5\n") ==
          std::vector<Element>{{0, 0, 5.0}, {1, 0, 3.0}});
    CHECK(sum("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 1\n2 1 2\n2 2 4\n") ==
          std::vector<Element>{{0, 1, 3.0}, {1, 0, 3.0}, {1, 1, 4.0}});
    CHECK(sum(kSkew + "2 2 1\n2 1 1\n") == std::vector<Element>{{0, 1, -1.0}, {1, 0, 1.0}});
    // in the order of the file, and a pattern has the place once
    CHECK(sum(kReal + "1 1 3\n1 1 1e30\n1 1 -1e30\n1 1 1\n") == std::vector<Element>{{0, 0, 1.0}});
    CHECK(sum(kPattern + "1 2 2\n1 2\n1 2\n") == std::vector<Element>{{0, 1, 1.0}});
    CHECK(sum(kReal + "2 2 0\n").empty());
    CHECK(config_error([&] { return sum(kReal + "1 2 2\n1 1 1e308\n1 1 1e308\n"); }) ==
          "a.mtx:4:1: value: the sum of this place's entries is not finite");
}

TEST_CASE("a packed file is read as it is", "[operands]") {
    const ScratchFolder folder;
    const std::string text = kReal + "2 2 1\n2 1 7\n";
    const std::string packed = gzip_of(text);
    const std::string path = folder.file("a.mtx.gz", packed);
    CHECK(elements(read_matrix_market_file(path)) == std::vector<Element>{{1, 0, 7.0}});
    CHECK(read_matrix_market_size(path) == MatrixShape{2, 2});
    // what is packed follows from the bytes, not from the name; members follow each other
    CHECK(read_matrix_market_file(folder.file("b.mtx", packed)).entries.size() == 1);
    CHECK(read_matrix_market_file(folder.file("c.mtx.gz", text)).entries.size() == 1);
    CHECK(read_matrix_market_file(
              folder.file("d.mtx.gz", gzip_of(text.substr(0, 40)) + gzip_of(text.substr(40))))
              .entries.size() == 1);
    const auto error_of_file = [&](const std::string& bytes) {
        const std::string bad = folder.file("bad.mtx.gz", bytes);
        return config_error([&] { return read_matrix_market_file(bad); }).substr(bad.size());
    };
    CHECK(error_of_file(packed.substr(0, packed.size() - 9)) == ": gzip: the file is truncated");
    CHECK(error_of_file(packed.substr(0, 12) + "zzzzzzzz" + packed.substr(20)) ==
          ": gzip: the data are damaged");
    CHECK(error_of_file(gzip_of(kReal + "2 2 1\n2 1 x\n")) ==
          ":3:5: value: got 'x', expected a finite number");
    // of several pieces
    std::string comments;
    for (int line = 0; line < 200'000; ++line) {
        comments += "% " + std::to_string(line * 7919 % 100003) + "\n";
    }
    CHECK(read_matrix_market_file(
              folder.file("e.mtx.gz", gzip_of(kReal + comments + "2 2 1\n2 1 7\n")))
              .entries.size() == 1);
    CHECK_THROWS_AS(read_matrix_market_file(folder.file("absent.mtx.gz")), IoError);
}

TEST_CASE("what is no Matrix Market file is refused", "[operands]") {
    const std::string text =
        "a.mtx:1:1: not a Matrix Market file: expected a first line '%%MatrixMarket matrix ...'";
    CHECK(error_of("") == text);
    CHECK(error_of("\n" + kPattern + "1 1 0\n") == text);
    CHECK(error_of("1 1 1\n1 1\n") == text);
    CHECK(error_of("%%MatrixMarketmatrix coordinate real general\n") == text);
}

TEST_CASE("kinds of Matrix Market files that are not read are named", "[operands]") {
    const auto banner = [](const std::string& words) {
        return error_of("%%MatrixMarket " + words + "\n1 1 0\n");
    };
    CHECK(banner("matrix coordinate real") == "a.mtx:1:1: banner: got 4 words, expected 5" + kHint);
    CHECK(banner("vector coordinate real general") ==
          "a.mtx:1:16: object: got 'vector', expected matrix" + kHint);
    CHECK(banner("matrix dense real general") ==
          "a.mtx:1:23: format: got 'dense', expected coordinate or array" + kHint);
    CHECK(banner("matrix array pattern general") ==
          "a.mtx:1:29: field: got 'pattern', expected real or integer" + kHint);
    CHECK(banner("matrix array complex general") ==
          "a.mtx:1:29: field: got 'complex', expected real or integer" + kHint);
    CHECK(banner("matrix coordinate complex general") ==
          "a.mtx:1:34: field: got 'complex', expected real, integer or pattern" + kHint);
    CHECK(banner("matrix coordinate pattern skew-symmetric") ==
          "a.mtx:1:42: symmetry: got 'skew-symmetric', expected general or symmetric" + kHint);
    CHECK(banner("matrix coordinate real hermitian") ==
          "a.mtx:1:39: symmetry: got 'hermitian', expected general, symmetric or skew-symmetric" +
              kHint);
}

TEST_CASE("mistakes in the size line are located", "[operands]") {
    CHECK(error_of(kPattern) ==
          "a.mtx:1:1: the file ends before the size line; expected rows, columns, entries");
    CHECK(error_of(kPattern + "3 3\n") == "a.mtx:2:1: size line: got 2 words, expected 3");
    for (int more = 1; more < 12; ++more) { // more words than are kept, too
        std::string words = "3 3 1";
        for (int i = 0; i < more; ++i) {
            words += " 1";
        }
        CHECK(error_of(kPattern + words + "\n") ==
              "a.mtx:2:7: size line: got " + std::to_string(3 + more) + " words, expected 3");
    }
    CHECK(error_of(kPattern + "3 3 1 1\n") == "a.mtx:2:7: size line: got 4 words, expected 3");
    CHECK(error_of(kPattern + "x 3 1\n") == "a.mtx:2:1: rows: got 'x', expected a whole number");
    CHECK(error_of(kPattern + "3 0 1\n") == "a.mtx:2:3: columns: got 0, expected 1..2147483647");
    CHECK(error_of(kPattern + "-3 3 1\n") == "a.mtx:2:1: rows: got -3, expected 1..2147483647");
    CHECK(error_of(kPattern + "2147483648 3 1\n") ==
          "a.mtx:2:1: rows: got 2147483648, expected 1..2147483647");
    CHECK(error_of(kPattern + "99999999999999999999 3 1\n") ==
          "a.mtx:2:1: rows: got 99999999999999999999, expected 1..2147483647");
    CHECK(error_of(kPattern + "2 3 7\n") == "a.mtx:2:5: entries: got 7, expected 0..6");
    CHECK(error_of(kSymmetric + "2 2 4\n") == "a.mtx:2:5: entries: got 4, expected 0..3");
    CHECK(error_of(kSymmetric + "2 3 1\n") ==
          "a.mtx:2:1: size: got 2 x 3, expected a square matrix since the banner says symmetric");
}

TEST_CASE("files with fewer or more entries than they say are refused", "[operands]") {
    CHECK(error_of(kPattern + "3 3 2\n1 1\n\n") ==
          "a.mtx:4:1: entries: got 1, expected 2 as line 2 says; the file is truncated");
    CHECK(error_of(kPattern + "3 3 1\n1 1\n2 2\n") ==
          "a.mtx:4:1: entries: got more than the 1 that line 2 says");
}

TEST_CASE("a huge entry number costs no memory before the entries are there", "[operands]") {
    CHECK(error_of(kPattern + "2147483647 2147483647 4611686014132420609\n1 1\n") ==
          "a.mtx:3:1: entries: got 1, expected 4611686014132420609 as line 2 says; "
          "the file is truncated");
    const auto matrix = read(kPattern + "2147483647 2147483647 1\n2147483647 2147483647\n");
    CHECK(matrix.entries.at(0).row == 2147483646);
}

TEST_CASE("mistakes in an entry are located", "[operands]") {
    CHECK(error_of(kReal + "3 3 1\n1 1\n") == "a.mtx:3:1: entry: got 2 words, expected 3");
    CHECK(error_of(kPattern + "3 3 1\n1 1 1\n") ==
          "a.mtx:3:5: entry of a pattern file: got 3 words, expected 2");
    CHECK(error_of(kPattern + "3 4 1\n4 1\n") == "a.mtx:3:1: row: got 4, expected 1..3");
    CHECK(error_of(kPattern + "3 4 1\n0 1\n") == "a.mtx:3:1: row: got 0, expected 1..3");
    CHECK(error_of(kPattern + "3 4 1\n3  5\n") == "a.mtx:3:4: column: got 5, expected 1..4");
    CHECK(error_of(kPattern + "3 4 1\n1.0 1\n") ==
          "a.mtx:3:1: row: got '1.0', expected a whole number");
}

TEST_CASE("malformed values are located", "[operands]") {
    const auto value = [](const std::string& banner, const std::string& word) {
        return error_of(banner + "3 3 1\n1 1 " + word + "\n");
    };
    CHECK(value(kReal, "abc") == "a.mtx:3:5: value: got 'abc', expected a finite number");
    CHECK(value(kReal, "1.5x") == "a.mtx:3:5: value: got '1.5x', expected a finite number");
    CHECK(value(kReal, "+-1") == "a.mtx:3:5: value: got '+-1', expected a finite number");
    for (const std::string word : {"+", "-", "."}) {
        CHECK(value(kReal, word) ==
              "a.mtx:3:5: value: got '" + word + "', expected a finite number");
    }
    CHECK(read(kReal + "1 1 1\n1 1 +4\n").entries.at(0).value == 4.0);
    CHECK(read(kReal + "1 1 1\n1 1 -4\n").entries.at(0).value == -4.0);
    CHECK(value(kReal, "nan") == "a.mtx:3:5: value: got 'nan', expected a finite number");
    CHECK(value(kReal, "-inf") == "a.mtx:3:5: value: got '-inf', expected a finite number");
    CHECK(value(kReal, "1e999") == "a.mtx:3:5: value: got '1e999', expected a finite number within "
                                   "the range of binary64");
    CHECK(value(kInteger, "1.5") == "a.mtx:3:5: value: got '1.5', expected a whole number");
    CHECK(value(kReal, std::string(60, 'z')) == "a.mtx:3:5: value: got '" + std::string(40, 'z') +
                                                    "...' (60 bytes), expected a finite number");
    CHECK(value(kReal, "\x01\xff") == "a.mtx:3:5: value: got '?"
                                      "?', expected a finite number");
}

TEST_CASE("an entry above the diagonal of a symmetric file is refused", "[operands]") {
    CHECK(error_of(kSymmetric + "3 3 1\n1 3\n") ==
          "a.mtx:3:3: entry (1, 3) lies above the diagonal, expected column <= row since the "
          "banner says symmetric; a symmetric file holds the lower triangle");
}

TEST_CASE("the first repeated entry is refused with both its lines", "[operands]") {
    CHECK(error_of(kPattern + "3 3 4\n2 2\n1 1\n2 2\n1 1\n") ==
          "a.mtx:5:1: entry (2, 2) is given twice, first on line 3; \"duplicates\": \"sum\" adds "
          "them");
    CHECK(error_of(kSymmetric + "3 3 3\n3 1\n1 1\n3 1\n") ==
          "a.mtx:5:1: entry (3, 1) is given twice, first on line 3; \"duplicates\": \"sum\" adds "
          "them");
}

TEST_CASE("a Matrix Market file is read from a path", "[operands]") {
    const ScratchFolder folder;
    const std::string path = folder.file("x.mtx", kPattern + "2 2 1\n2 1\n");
    CHECK(read_matrix_market_file(path).entries.size() == 1);
    const std::string bad = folder.file("bad.mtx", kPattern + "2 2 1\n");
    CHECK(config_error([&] { return read_matrix_market_file(bad); }).rfind(bad + ":2:1: ", 0) == 0);
}

TEST_CASE("the size of a file is read without its entries", "[operands]") {
    const ScratchFolder folder;
    const auto size = [&](const std::string& text) {
        const auto found = read_matrix_market_size(folder.file("x.mtx", text));
        return std::pair{found.rows, found.columns};
    };
    CHECK(size(kPattern + "3 2 1\n2 1\n") == std::pair<std::int64_t, std::int64_t>{3, 2});
    CHECK(size(kPattern + "3 2 1") == std::pair<std::int64_t, std::int64_t>{3, 2});
    CHECK(size(kPattern + "3 2 1\nno entry\n") == std::pair<std::int64_t, std::int64_t>{3, 2});
    std::string comments; // several pieces of a file
    for (int line = 0; line < 20'000; ++line) {
        comments += "% 9 9 9\n\r\n";
    }
    CHECK(size(kPattern + comments + "3 2 1\n2 1\n") ==
          std::pair<std::int64_t, std::int64_t>{3, 2});
    CHECK(config_error([&] {
              return size(kPattern + comments);
          }).find("the file ends before the size line") != std::string::npos);
    CHECK(config_error([&] { return size("3 2 1\n"); }).find("not a Matrix Market file") !=
          std::string::npos);
    // a comment may be the last line of a piece, and the size the last line of the file
    const std::string piece(65'536 - kPattern.size() - 2, '%');
    CHECK(size(kPattern + piece + "\n\n" + "3 2 1\n") ==
          std::pair<std::int64_t, std::int64_t>{3, 2});
    CHECK(size(kPattern + piece + "\n" + "3 2 1\n") == std::pair<std::int64_t, std::int64_t>{3, 2});
    // of what is packed no more is unpacked than has the size: the rest may be damaged
    std::string entries;
    for (int line = 0; line < 300'000; ++line) {
        entries += std::to_string(line * 7919LL % 100'003) + " 1\n";
    }
    const std::string packed = gzip_of(kPattern + "% size\n\n3 2 1\n" + entries);
    const std::string cut = folder.file("cut.mtx.gz", packed.substr(0, packed.size() / 2));
    CHECK(read_matrix_market_size(cut) == MatrixShape{3, 2});
    CHECK_THROWS_WITH(read_matrix_market_file(cut), Catch::Contains("the file is truncated"));
    CHECK_THROWS_AS(read_matrix_market_size(folder.file("absent.mtx")), IoError);
    CHECK(read_matrix_market_size(tessera::test::source_path("configs/data/cora.mtx")).rows ==
          2708);
}

TEST_CASE("an absent file and a folder cannot be read", "[operands]") {
    const ScratchFolder folder;
    CHECK_THROWS_AS(read_matrix_market_file(folder.file("absent.mtx")), IoError);
    CHECK_THROWS_WITH(read_matrix_market_file(folder.file("absent.mtx")),
                      Catch::Contains("absent.mtx: cannot be read: "));
    CHECK_THROWS_WITH(read_matrix_market_file(folder.file("")),
                      Catch::Contains("is a folder, expected a file"));
}

TEST_CASE("the Cora graph has its published size", "[operands]") {
    const auto cora = read_matrix_market_file(tessera::test::source_path("configs/data/cora.mtx"));
    CHECK(cora.rows == 2708);
    CHECK(cora.columns == 2708);
    CHECK(cora.entries.size() == 13264);
}
