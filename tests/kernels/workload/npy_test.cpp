// SPDX-License-Identifier: MIT
#include "kernels/workload/npy.h"
#include "tests/kernels/workload/support.h"

#include <algorithm>
#include <cstring>
#include <limits>

using tessera::f16_to_f32;
using tessera::IoError;
using tessera::test::config_error;
using tessera::test::dense;
using tessera::test::ScratchFolder;
using namespace tessera::workload;

namespace {

std::string with_header(const std::string& header, const std::string& data, char major = 1,
                        char minor = 0) {
    std::string bytes("\x93NUMPY");
    bytes += major;
    bytes += minor;
    bytes += static_cast<char>(header.size() & 0xffU);
    bytes += static_cast<char>(header.size() >> 8U);
    if (major != 1) {
        bytes += std::string(2, '\0');
    }
    return bytes + header + data;
}

std::string header_of(const std::string& descr, const std::string& shape,
                      const std::string& order = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

template <typename Element> std::string bytes_of(const std::vector<Element>& elements) {
    std::string bytes(elements.size() * sizeof(Element), '\0');
    std::memcpy(bytes.data(), elements.data(), bytes.size());
    return bytes;
}

template <typename Element>
DenseF16 read_two_by_two(const std::string& descr, const std::vector<Element>& elements) {
    return read_npy(with_header(header_of(descr, "(2, 2)"), bytes_of(elements)), "a.npy");
}

std::string error_of(const std::string& bytes, std::optional<MatrixShape> expected = std::nullopt) {
    return config_error([&] { return read_npy(bytes, "a.npy", expected); });
}

} // namespace

TEST_CASE("all supported element types give the same matrix", "[operands]") {
    const DenseF16 expected = dense(2, 2, {1.0F, -2.0F, 3.0F, 4096.0F});
    CHECK(read_two_by_two<std::uint16_t>("<f2", expected.values).values == expected.values);
    CHECK(read_two_by_two<float>("<f4", {1, -2, 3, 4096}).values == expected.values);
    CHECK(read_two_by_two<double>("<f8", {1, -2, 3, 4096}).values == expected.values);
    CHECK(read_two_by_two<std::int32_t>("<i4", {1, -2, 3, 4096}).values == expected.values);
    CHECK(read_two_by_two<std::int64_t>("<i8", {1, -2, 3, 4096}).values == expected.values);
}

TEST_CASE("integers and bools of every width give the same matrix", "[operands]") {
    const DenseF16 expected = dense(2, 2, {1.0F, 0.0F, 3.0F, 100.0F});
    CHECK(read_two_by_two<std::uint8_t>("|u1", {1, 0, 3, 100}).values == expected.values);
    CHECK(read_two_by_two<std::int8_t>("|i1", {1, 0, 3, 100}).values == expected.values);
    CHECK(read_two_by_two<std::uint16_t>("<u2", {1, 0, 3, 100}).values == expected.values);
    CHECK(read_two_by_two<std::int16_t>("<i2", {1, 0, 3, 100}).values == expected.values);
    CHECK(read_two_by_two<std::uint32_t>("<u4", {1, 0, 3, 100}).values == expected.values);
    CHECK(read_two_by_two<std::uint64_t>("<u8", {1, 0, 3, 100}).values == expected.values);
    CHECK(read_two_by_two<std::uint8_t>("|b1", {1, 0, 1, 1}).values ==
          dense(2, 2, {1, 0, 1, 1}).values);
    CHECK(read_two_by_two<std::int8_t>("|i1", {-128, -1, 0, 127}).values ==
          dense(2, 2, {-128, -1, 0, 127}).values);
    CHECK(read_two_by_two<std::int16_t>("<i2", {-2048, -1, 0, 2047}).values ==
          dense(2, 2, {-2048, -1, 0, 2047}).values);
    CHECK(read_npy_f32(with_header(header_of("<i8", "(1, 1)"),
                                   bytes_of<std::int64_t>({(std::int64_t{1} << 54) + 1})),
                       "a.npy")
              .values[0] == 0x1p54F);
}

TEST_CASE("the highest byte may come first", "[operands]") {
    const auto turned = [](auto elements) {
        std::string bytes = bytes_of(elements);
        for (std::size_t at = 0; at < bytes.size(); at += sizeof(elements[0])) {
            std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                         bytes.begin() + static_cast<std::ptrdiff_t>(at + sizeof(elements[0])));
        }
        return bytes;
    };
    const auto read = [](const std::string& descr, const std::string& data) {
        return read_npy(with_header(header_of(descr, "(2, 2)"), data), "a.npy").values;
    };
    const auto expected = dense(2, 2, {1.0F, -2.0F, 3.0F, 4096.0F}).values;
    CHECK(read(">f2", turned(expected)) == expected);
    CHECK(read(">f4", turned(std::vector<float>{1, -2, 3, 4096})) == expected);
    CHECK(read(">f8", turned(std::vector<double>{1, -2, 3, 4096})) == expected);
    CHECK(read(">i2", turned(std::vector<std::int16_t>{1, -2, 3, 4096})) == expected);
    CHECK(read(">i4", turned(std::vector<std::int32_t>{1, -2, 3, 4096})) == expected);
    CHECK(read(">i8", turned(std::vector<std::int64_t>{1, -2, 3, 4096})) == expected);
    // of one byte the order is no order
    CHECK(read(">u1", std::string("\1\0\3\4", 4)) == dense(2, 2, {1, 0, 3, 4}).values);
    CHECK(read("=f2", bytes_of(expected)) == expected);
}

TEST_CASE("elements may stand in Fortran's order", "[operands]") {
    const auto read = [](const std::string& shape, const std::vector<float>& columns,
                         std::optional<MatrixShape> expected = std::nullopt) {
        return read_npy(with_header(header_of("<f4", shape, "True"), bytes_of(columns)), "a.npy",
                        expected)
            .values;
    };
    CHECK(read("(2, 3)", {1, 4, 2, 5, 3, 6}) == dense(2, 3, {1, 2, 3, 4, 5, 6}).values);
    CHECK(read("(1, 3)", {1, 2, 3}) == dense(1, 3, {1, 2, 3}).values);
    CHECK(read("(3,)", {1, 2, 3}, MatrixShape{1, 3}) == dense(1, 3, {1, 2, 3}).values);
    // a stack of two matrices of 2 x 2
    CHECK(read("(2, 2, 2)", {1, 5, 3, 7, 2, 6, 4, 8}, MatrixShape{4, 2, {2}}) ==
          dense(4, 2, {1, 2, 3, 4, 5, 6, 7, 8}).values);
    const auto both = read_npy(
        with_header(header_of(">i2", "(2, 2)", "True"), std::string("\0\1\0\3\0\2\0\4", 8)),
        "a.npy");
    CHECK(both.values == dense(2, 2, {1, 2, 3, 4}).values);
}

TEST_CASE("an array of any shape has its elements in rows, lowest byte first", "[operands]") {
    const auto array = read_npy_array(with_header(header_of(">u2", "(2, 1, 3)", "True"),
                                                  std::string("\0\1\0\4\0\2\0\5\0\3\0\6", 12)),
                                      "a.npy");
    CHECK(array.descr == "<u2");
    CHECK(array.shape == std::vector<std::int64_t>{2, 1, 3});
    CHECK(array.data == std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12));
    CHECK(read_npy_array(with_header(header_of("|b1", "()"), "\1"), "a.npy").data == "\1");
    CHECK(read_npy_array(with_header(header_of("<f8", "(0, 4611686018427387904)", "True"), ""),
                         "a.npy")
              .data.empty());
    CHECK(config_error([] {
              return read_npy_array(with_header(header_of("<f8", "(2,)", "True"), "x"), "a.npy");
          }) == "a.npy: data: got 1 bytes, expected the elements of shape (2,) of type <f8");
    for (const std::size_t bytes : {4, 7, 9, 12}) { // of two elements of four bytes
        CHECK(config_error([&] {
                  return read_npy_array(
                      with_header(header_of("<f4", "(2,)"), std::string(bytes, 'x')), "a.npy");
              }) == "a.npy: data: got " + std::to_string(bytes) +
                        " bytes, expected the elements of shape (2,) of type <f4");
    }
    CHECK(read_npy_array(with_header(header_of("<f4", "(2,)"), "12345678"), "a.npy").data ==
          "12345678");
    CHECK(config_error([] {
              return read_npy_array(with_header(header_of("<f4", "(-2,)"), ""), "a.npy");
          }).find("expected the elements of shape (-2,)") != std::string::npos);
}

TEST_CASE("a text is the only element of an array of texts of its length", "[operands]") {
    const auto wide = [](const std::string& text) { // four bytes a character
        std::string bytes;
        for (const char c : text) {
            bytes += c + std::string(3, '\0');
        }
        return bytes;
    };
    const auto read = [](const std::string& descr, const std::string& data) {
        return read_npy_text(with_header(header_of(descr, "()"), data), "a.npy");
    };
    CHECK(read("|S3", "csr") == "csr");
    CHECK(read("S3", "csr") == "csr");
    CHECK(read("|S1", "c") == "c");
    CHECK(read("|S0", "").empty());
    CHECK(read("<U3", wide("csr")) == "csr");
    CHECK(read("U3", wide("csr")) == "csr");
    CHECK(read("<U12", wide("a longer one")) == "a longer one");
    // NumPy fills with zeros behind a shorter text, and takes these away
    CHECK(read("|S5", std::string("csr\0\0", 5)) == "csr");
    CHECK(read("|S5", std::string("c\0r\0\0", 5)) == std::string("c\0r", 3));
    CHECK(read("|S2", std::string(2, '\0')).empty());
    // a character is shown as '?' whichever of its upper bytes is not zero
    for (std::size_t at = 0; at < 12; ++at) {
        std::string bytes = wide("csr");
        bytes[at] = '\x7e';
        std::string expected = "csr";
        expected[at / 4] = at % 4 == 0 ? '~' : '?';
        CHECK(read("<U3", bytes) == expected);
    }
    const auto refusal = [&](const std::string& descr, const std::string& data) {
        const auto said = config_error([&] { return read(descr, data); });
        CHECK(said == "a.npy: got " + std::to_string(data.size()) + " bytes of type '" + descr +
                          "', expected one text, as |S3");
    };
    for (const std::string descr : {"|S3x", "|Sx", "||S3", "|V3", "<f4", "3", ""}) {
        refusal(descr, "csr");
        refusal(descr, "");
    }
    refusal("|S", "csr");
    for (const std::size_t bytes : {0, 1, 2, 4, 6}) {
        refusal("|S3", std::string(bytes, 'c'));
    }
    for (const std::size_t bytes : {0, 3, 8, 11, 13, 16, 24}) {
        refusal("<U3", std::string(bytes, 'c'));
    }
    refusal(">U3", std::string("\0\0\0c\0\0\0s\0\0\0r", 12));
    CHECK(read(">S3", "csr") == "csr"); // of one byte the order is no order
}

TEST_CASE("names of types are those of NumPy", "[operands]") {
    CHECK(npy_type("<f2")->descr == "<f2");
    CHECK(npy_type(">f8")->is_big_endian);
    CHECK(npy_type("|u1")->bytes == 1);
    for (const char* name : {"<f1", "|f2", "<c8", "<U4", "|S4", "|O", "<i3", "<i16", "f4", "",
                             "|V2", "|b2", "<b4", "|i4", "*f4"}) {
        CAPTURE(name);
        CHECK_FALSE(npy_type(name));
    }
    for (const char* name : {"<i1", ">u1", "=b1", "|i1"}) {
        CAPTURE(name);
        const auto type = npy_type(name);
        REQUIRE(type);
        CHECK(type->bytes == 1);
        CHECK_FALSE(type->is_big_endian); // of one byte the order is no order
        CHECK(type->descr == "|" + std::string(name).substr(1));
    }
    CHECK_FALSE(npy_type("=f8")->is_big_endian);
    CHECK(npy_type(">i2")->descr == "<i2");
}

TEST_CASE("a wider element is rounded once", "[operands]") {
    const auto matrix = read_two_by_two<double>("<f8", {1.0 + 0x1p-11 + 0x1p-40, 0, 0, 65519.0});
    CHECK(f16_to_f32(matrix.values[0]) == 1.0F + 0x1p-10F);
    CHECK(f16_to_f32(matrix.values[3]) == 65504.0F);
}

TEST_CASE("a binary32 matrix takes the same files and rounds once", "[operands]") {
    const auto read = [](const std::string& descr, const auto& elements) {
        return read_npy_f32(with_header(header_of(descr, "(2, 2)"), bytes_of(elements)), "a.npy")
            .values;
    };
    const std::vector<float> expected{1, -2, 0.5F, 4096};
    CHECK(read("<f2", dense(2, 2, expected).values) == expected);
    CHECK(read("<f4", expected) == expected);
    CHECK(read("<f8", std::vector<double>{1.0 + 0x1p-24 + 0x1p-50, 0, 0, 1e30}) ==
          std::vector<float>{1.0F + 0x1p-23F, 0, 0, 1e30F});
    CHECK(read("<i4", std::vector<std::int32_t>{(1 << 24) + 1, 1, 2, 3}) ==
          std::vector<float>{0x1p24F, 1, 2, 3});
    CHECK(config_error([&] {
              static_cast<void>(
                  read("<f4", std::vector<float>{0, std::numeric_limits<float>::infinity(), 0, 0}));
          }) == "a.npy: element [0, 1] is not finite in f32, expected magnitudes below 2^128");
}

TEST_CASE("version 2 and other spellings of the header are read", "[operands]") {
    const std::string data = bytes_of<float>({1, 2, 3, 4, 5, 6});
    const auto read = [](const std::string& bytes) { return read_npy(bytes, "a.npy").values; };
    const auto expected = dense(2, 3, {1, 2, 3, 4, 5, 6}).values;
    CHECK(read(with_header(header_of("<f4", "(2, 3)"), data, 2)) == expected);
    CHECK(read(with_header("{\"shape\":(2,3,),\"fortran_order\":False,\"descr\":\"<f4\"}", data)) ==
          expected);
}

TEST_CASE("f16 matrices survive writing and reading bit for bit", "[operands]") {
    const ScratchFolder folder;
    const DenseF16 matrix = dense(3, 2, {0.5F, -0.0F, 65504.0F, 0x1p-24F, 1.0F, -7.0F});
    static_cast<void>(folder.file("c.npy", npy_bytes_f16(matrix.values, {3, 2})));
    const DenseF16 again = read_npy_file(folder.file("c.npy"), MatrixShape{3, 2});
    CHECK(again.rows == 3);
    CHECK(again.columns == 2);
    CHECK(again.values == matrix.values);
}

TEST_CASE("f32 matrices are written as NumPy writes them", "[operands]") {
    const std::vector<float> values{1.0F, 2.0F};
    const std::string bytes = npy_bytes_f32(values, {1, 2});
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
    header.resize(117, ' ');
    CHECK(bytes == with_header(header + "\n", bytes_of(values)));
    CHECK((bytes.size() - bytes_of(values).size()) % 64 == 0);
    // a header of more than 255 bytes has its length in two
    std::vector<std::int64_t> shape(100, 1);
    const std::string many = npy_bytes("<f4", shape, bytes_of<float>({7}));
    const auto array = read_npy_array(many, "a.npy");
    CHECK(array.shape == shape);
    CHECK(array.data == bytes_of<float>({7}));
    CHECK((many.size() - 4) % 64 == 0);
    // however long the shape's text is
    for (const std::int64_t rows : {1, 10, 100, 1000, 10'000, 100'000, 1'000'000}) {
        CHECK((npy_bytes("<f4", {rows, 1}, "").size()) % 64 == 0);
    }
}

TEST_CASE("of a file no more is read than its header asks for", "[operands]") {
    const ScratchFolder folder;
    const auto error_of_file = [&](const std::string& bytes,
                                   std::optional<MatrixShape> expected = std::nullopt) {
        const std::string path = folder.file("a.npy", bytes);
        return config_error([&] { return read_npy_file(path, expected); }).substr(path.size());
    };
    CHECK_THROWS_AS(read_npy_file(folder.file("absent.npy")), IoError);
    const std::string data = bytes_of<float>({1, 2, 3, 4, 5, 6});
    const std::string whole = with_header(header_of("<f4", "(2, 3)"), data);
    CHECK(read_npy_file(folder.file("b.npy", whole)).values ==
          dense(2, 3, {1, 2, 3, 4, 5, 6}).values);
    // the shape is looked at before the data, of which there are none
    CHECK(error_of_file(with_header(header_of("<f4", "(2, 3)"), ""), MatrixShape{3, 2}) ==
          ": shape: got (2, 3), expected (3, 2)");
    CHECK(error_of_file(with_header(header_of("<f2", "(65536, 32769)"), "")) ==
          ": shape: got (65536, 32769), expected at most 2147483648 elements");
    CHECK(error_of_file(with_header(header_of("<f2", "(65536, 32768)"), "xx")) ==
          ": data: got 2 bytes, expected 2147483648 elements of 2 bytes; the file is truncated");
    // much too much: it is read to a header's length beyond
    CHECK(error_of_file(whole + std::string(1'000'000, 'x')).find(": data: got ") == 0);
    std::string long_header = header_of("<f4", "(2, 3)");
    long_header.insert(1, std::string(70'000, ' '));
    std::string bytes = with_header(long_header, data, 2);
    for (std::size_t i = 0; i < 4; ++i) {
        bytes[8 + i] = static_cast<char>(long_header.size() >> (8 * i));
    }
    CHECK(error_of_file(bytes) ==
          ": header: got " + std::to_string(long_header.size()) + " bytes, expected at most 65524");
    long_header = header_of("<f4", "(2, 3)");
    long_header.insert(1, std::string(65'524 - long_header.size(), ' '));
    bytes = with_header(long_header, data, 2);
    CHECK(read_npy_file(folder.file("long.npy", bytes)).columns == 3);
}

TEST_CASE("of large elements the whole file is read", "[operands]") {
    // more bytes than the first piece, which has the header
    const ScratchFolder folder;
    constexpr std::int64_t kElements = 10'000;
    std::vector<double> values(kElements);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<double>(i % 100);
    }
    const auto matrix =
        read_npy_file(folder.file("a.npy", npy_bytes("<f8", {1, kElements}, bytes_of(values))));
    CHECK(f16_to_f32(matrix.values.back()) == 99.0F);
}

TEST_CASE("a file that is no npy file or ends early is refused", "[operands]") {
    const std::string whole =
        with_header(header_of("<f4", "(1, 2)"), bytes_of<float>({1.0F, 2.0F}));
    CHECK(error_of("") == "a.npy: not an npy file: it does not start with \\x93NUMPY");
    CHECK(error_of("PK\x03\x04") == "a.npy: not an npy file: it does not start with \\x93NUMPY");
    CHECK(error_of(whole.substr(0, 7)) == "a.npy: the file ends inside its version number");
    CHECK(error_of(whole.substr(0, 8)) == "a.npy: the file ends inside its header length");
    CHECK(error_of(whole.substr(0, 9)) == "a.npy: the file ends inside its header length");
    CHECK(error_of(whole.substr(0, 10)) ==
          "a.npy: header: got 0 bytes, expected 60; the file is truncated");
    CHECK(error_of(whole.substr(0, 20)) ==
          "a.npy: header: got 10 bytes, expected 60; the file is truncated");
    CHECK(error_of(whole.substr(0, whole.size() - 1)) ==
          "a.npy: data: got 7 bytes, expected 2 elements of 4 bytes; the file is truncated");
    CHECK(error_of(whole + "x") == "a.npy: data: got 9 bytes, expected 2 elements of 4 bytes");
    CHECK(error_of(whole + "xxxx") == "a.npy: data: got 12 bytes, expected 2 elements of 4 bytes");
}

TEST_CASE("versions and types that are not read are named", "[operands]") {
    for (const int major : {0, 1, 2, 3}) {
        for (const int minor : {0, 1}) {
            const bool known = (major == 1 || major == 2) && minor == 0;
            const auto said =
                error_of(with_header("{}", "", static_cast<char>(major), static_cast<char>(minor)));
            CHECK((said == "a.npy: version: got " + std::to_string(major) + "." +
                               std::to_string(minor) + ", expected 1.0 or 2.0") == !known);
        }
    }
    const auto descr = [](const std::string& name) {
        return error_of(with_header(header_of(name, "(1, 1)"), std::string(16, '\0')));
    };
    const std::string expected =
        ", expected bools, floats of 2, 4 or 8 bytes or integers of 1, 2, 4 "
        "or 8, as |b1 or <f4";
    CHECK(descr("<c8") == "a.npy: descr: got '<c8'" + expected);
    CHECK(descr("") == "a.npy: descr: got ''" + expected);
    CHECK(error_of(with_header("{'descr': [('x', '<f4')], 'fortran_order': False}", "")) ==
          "a.npy: descr: got a structured type" + expected);
}

TEST_CASE("shapes that are not expected are refused", "[operands]") {
    const auto shape = [](const std::string& text, std::optional<MatrixShape> expected = {}) {
        return error_of(with_header(header_of("<f4", text), bytes_of<float>({1, 2, 3, 4, 5, 6})),
                        expected);
    };
    CHECK(shape("()") == "a.npy: shape: got 0 dimensions, expected 2");
    CHECK(shape("(6,)") == "a.npy: shape: got 1 dimensions, expected 2");
    // where one row is expected, a vector is one
    CHECK(read_npy(with_header(header_of("<f4", "(6,)"), bytes_of<float>({1, 2, 3, 4, 5, 6})),
                   "a.npy", MatrixShape{1, 6})
              .columns == 6);
    CHECK(shape("(6,)", MatrixShape{1, 5}) == "a.npy: shape: got (6,), expected (1, 5)");
    CHECK(shape("(6,)", MatrixShape{2, 3}) == "a.npy: shape: got (6,), expected (2, 3)");
    CHECK(shape("(2, 3)", MatrixShape{1, 6}) == "a.npy: shape: got (2, 3), expected (1, 6)");
    CHECK(shape("(6,)", MatrixShape{6, 1}) == "a.npy: shape: got (6,), expected (6, 1)");
    // several matrices, one below the other
    for (const auto& [text, leading] :
         {std::pair<const char*, std::vector<std::int64_t>>{"(3, 1, 2)", {3}},
          {"(3, 1, 1, 2)", {3, 1}},
          {"(3, 2)", {3, 1}}}) {
        CHECK(read_npy(with_header(header_of("<f4", text), bytes_of<float>({1, 2, 3, 4, 5, 6})),
                       "a.npy", MatrixShape{3, 2, leading})
                  .rows == 3);
    }
    CHECK(shape("(1, 3, 2)", MatrixShape{3, 2, {3}}) ==
          "a.npy: shape: got (1, 3, 2), expected (3, 1, 2)");
    CHECK(shape("(3, 1, 1, 2)", MatrixShape{3, 2, {1, 3}}) ==
          "a.npy: shape: got (3, 1, 1, 2), expected (1, 3, 1, 2)");
    CHECK(shape("(1, 3, 2)", MatrixShape{3, 2}) == "a.npy: shape: got (1, 3, 2), expected (3, 2)");
    CHECK(shape("(1, 2, 3)") == "a.npy: shape: got 3 dimensions, expected 2");
    CHECK(shape("(2, 3)", MatrixShape{3, 2}) == "a.npy: shape: got (2, 3), expected (3, 2)");
    CHECK(shape("(0, 3)") == "a.npy: shape: got (0, 3), expected dimensions of 1..2147483647");
    CHECK(shape("(-2, -3)") == "a.npy: shape: got (-2, -3), expected dimensions of 1..2147483647");
    CHECK(shape("(2147483647, 2147483647)") ==
          "a.npy: data: got 24 bytes, expected 4611686014132420609 elements of 4 bytes; "
          "the file is truncated");
    CHECK(shape("(4294967296, 4294967296)") ==
          "a.npy: shape: got (4294967296, 4294967296), expected dimensions of 1..2147483647");
}

TEST_CASE("a malformed header is located", "[operands]") {
    const auto header = [](const std::string& text) { return error_of(with_header(text, "")); };
    CHECK(header("") == "a.npy: header, character 1: got the header's end, expected '{'");
    CHECK(header("[") == "a.npy: header, character 1: got '[', expected '{'");
    CHECK(header("{descr") == "a.npy: header, character 2: got 'd', expected a quoted string");
    CHECK(header("{'descr") == "a.npy: header, character 2: got ''', expected a closing quote");
    CHECK(header("{'descr' 1") == "a.npy: header, character 10: got '1', expected ':'");
    CHECK(header("{'fortran_order': 0}") ==
          "a.npy: header, character 19: got '0', expected True or False");
    CHECK(header("{'shape': (x, 1)}") ==
          "a.npy: header, character 12: got 'x', expected a whole number of at most 64 bit");
    CHECK(header("{'shape': (99999999999999999999, 1)}") ==
          "a.npy: header, character 12: got '9', expected a whole number of at most 64 bit");
    CHECK(header("{'shape': (1 1)}") == "a.npy: header, character 14: got '1', expected ')'");
    CHECK(header("{'shape': (1, 1)") ==
          "a.npy: header, character 17: got the header's end, expected '}'");
    // a brace behind the header is none of it
    CHECK(error_of(with_header("{'shape': (1, 1)", "}")) ==
          "a.npy: header, character 17: got the header's end, expected '}'");
    CHECK(error_of(with_header("{'shape': (1, 1) ", "  }")) ==
          "a.npy: header, character 18: got the header's end, expected '}'");
    CHECK(header("{} x") == "a.npy: header, character 4: got 'x', expected the end of the header");
}

TEST_CASE("a header ends where its length says, whatever is behind it", "[operands]") {
    for (const std::string& header :
         {header_of("<f4", "(2, 3)"), std::string("{'descr': [('x', '<f4')], 'shape': ()}"),
          std::string("{ \"fortran_order\" : False,\n 'shape' : ( 2 , 3 , ) }")}) {
        for (std::size_t length = 0; length <= header.find('}'); ++length) {
            const std::string cut = header.substr(0, length);
            CAPTURE(cut);
            CHECK(error_of(with_header(cut, header.substr(length))) ==
                  error_of(with_header(cut, "")));
        }
    }
}

TEST_CASE("unknown and repeated and missing header keys are named", "[operands]") {
    const auto header = [](const std::string& text) { return error_of(with_header(text, "")); };
    const std::string expected = ", expected descr, fortran_order and shape, once each";
    CHECK(header("{'colour': 1}") == "a.npy: header: got key 'colour'" + expected);
    CHECK(header("{'shape': (1, 1), 'shape': (1, 1)}") ==
          "a.npy: header: got key 'shape'" + expected);
    CHECK(header("{}") == "a.npy: header: descr is missing");
    CHECK(header("{'descr': '<f4'}") == "a.npy: header: fortran_order is missing");
    CHECK(header("{'descr': '<f4', 'fortran_order': False}") == "a.npy: header: shape is missing");
}

TEST_CASE("elements that binary16 cannot hold are located", "[operands]") {
    const std::string text = " is not finite in f16, expected -65504..65504";
    const auto f4 = [](float value) {
        return config_error([&] { return read_two_by_two<float>("<f4", {0, 0, value, 0}); });
    };
    CHECK(f4(65520.0F) == "a.npy: element [1, 0]" + text);
    CHECK(f4(std::numeric_limits<float>::infinity()) == "a.npy: element [1, 0]" + text);
    CHECK(f4(std::numeric_limits<float>::quiet_NaN()) == "a.npy: element [1, 0]" + text);
    CHECK(config_error([&] {
              return read_two_by_two<std::uint16_t>("<f2", {0, 0x7c00, 0, 0});
          }) == "a.npy: element [0, 1]" + text);
    CHECK(config_error([&] {
              return read_two_by_two<std::int64_t>("<i8", {0, 0, 0, 70000});
          }) == "a.npy: element [1, 1]" + text);
}
