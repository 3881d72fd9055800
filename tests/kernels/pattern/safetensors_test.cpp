// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/pattern/dense.h"
#include "kernels/workload/safetensors.h"
#include "tests/kernels/pattern/scene.h"

using namespace tessera::pattern;
using namespace tessera::workload;
using tessera::ConfigError;
using tessera::test::check_same;
using tessera::test::random_matrix;

namespace {

/// Gives the bytes of a text in pieces as a file does.
ByteSource source_of(const std::string& bytes) {
    return [bytes, at = std::size_t{0}](std::string& out, std::size_t count) mutable {
        const std::size_t taken = std::min(count, bytes.size() - at);
        out.append(bytes, at, taken);
        at += taken;
    };
}

std::string with_length(const std::string& head) {
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(head.size() & 0xffU);
    bytes[1] = static_cast<char>(head.size() >> 8U);
    return bytes + head;
}

} // namespace

TEST_CASE("tensors come in the order of their bytes", "[pattern]") {
    const std::string head = R"({"b": {"dtype": "U8", "shape": [2], "data_offsets": [3, 5]},
        "__metadata__": {"format": "pt"},
        "none": {"dtype": "F32", "shape": [0, 4], "data_offsets": [3, 3]},
        "a": {"dtype": "F8_E4M3", "shape": [3], "data_offsets": [0, 3]}} )";
    SafetensorsReader reader(source_of(with_length(head) + "aaabb"), "c.safetensors");
    REQUIRE(reader.tensors().size() == 3);
    CHECK(reader.tensors()[0].name == "a");
    CHECK_FALSE(reader.tensors()[0].type.has_value());
    CHECK(reader.tensors()[1].elements() == 0);
    CHECK(reader.tensors()[2].type == ValueType::U8);
    CHECK(reader.head_bytes() == with_length(head));
    CHECK(reader.next() == "aaa");
    CHECK(reader.next().empty());
    CHECK(reader.next() == "bb");
    reader.expect_end();
}

TEST_CASE("a file that goes on behind its tensors is refused", "[pattern]") {
    const CoordinateMatrix matrix = random_matrix(4, 4, 2, ValueType::F16, 1);
    SafetensorsReader reader(source_of(safetensors_bytes(matrix, {"a", "w"}) + "x"), "a");
    check_same(read_safetensors_matrix(reader, "w", Marks::Refused), matrix);
    CHECK_THROWS_AS(reader.expect_end(), ConfigError);
}

TEST_CASE("a damaged .safetensors file gives a matrix or a mistake that names it", "[pattern]") {
    const CoordinateMatrix matrix = random_matrix(4, 6, 2, ValueType::BF16, 2);
    const std::string good = safetensors_bytes(matrix, {"a", "w"});
    const auto read = [](const std::string& bytes) {
        SafetensorsReader reader(source_of(bytes), "a");
        return read_safetensors_matrix(reader, "", Marks::Refused);
    };
    check_same(read(good), matrix);
    for (std::size_t end = 0; end < good.size(); ++end) {
        CHECK_THROWS_AS(read(good.substr(0, end)), ConfigError);
    }
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (const int bits : {0x01, 0x10, 0x80}) {
            std::string damaged = good;
            damaged[at] = static_cast<char>(damaged[at] ^ bits);
            try {
                const CoordinateMatrix made = read(damaged);
                CHECK(made.rows * made.columns <= static_cast<std::int64_t>(good.size()));
            } catch (const ConfigError& error) {
                CHECK(error.diagnostics().front().file == "a");
            }
        }
    }
}

TEST_CASE("a number that nothing holds is a mistake of the head", "[pattern]") {
    for (const char* number : {"1e999", "-1e999", "99999999999999999999e9999999999"}) {
        const std::string head = R"({"w": {"dtype": "U8", "shape": [)" + std::string(number) +
                                 R"(], "data_offsets": [0, 0]}})";
        CHECK_THROWS_AS(SafetensorsReader(source_of(with_length(head)), "a"), ConfigError);
    }
}

TEST_CASE("a head has eight levels below its own at most", "[pattern]") {
    const auto is_too_deep = [](std::size_t levels) {
        const std::string head =
            "{\"w\": " + std::string(levels, '[') + std::string(levels, ']') + "}";
        try {
            SafetensorsReader(source_of(with_length(head)), "a");
        } catch (const ConfigError& error) {
            return error.diagnostics().front().text().find("nested deeper") != std::string::npos;
        }
        return false;
    };
    for (const std::size_t levels : {1U, 7U, 8U, 9U, 100U}) {
        CHECK(is_too_deep(levels) == (levels > 8));
    }
}

TEST_CASE("a head that is none says why", "[pattern]") {
    const auto told = [](const std::string& bytes) {
        try {
            SafetensorsReader(source_of(bytes), "a");
        } catch (const ConfigError& error) {
            return error.diagnostics().front().text();
        }
        return std::string();
    };
    CHECK(told("1234567") == "a: not a .safetensors file: it ends inside the length of its head");
    CHECK(told(std::string(8, '\x7f')).ends_with("; the file may be none of .safetensors"));
    const auto of = [&](const std::string& head) { return told(with_length(head)); };
    const auto tensor = [](const std::string& offsets) {
        return R"({"dtype": "U8", "shape": [2], "data_offsets": )" + offsets + "}";
    };
    CHECK(of("{}").empty());
    CHECK(of("[]") == "a: head: expected a JSON object");
    CHECK(of("{\"w\": }") == "a: head, byte 7: expected JSON");
    CHECK(of(R"({"w": )" + tensor("[0, 2]") + R"(, "w": )" + tensor("[0, 2]") + "}") ==
          "a: head: tensor 'w' is given twice");
    CHECK(of(R"({"w": {"dtype": "U8", "shape": [1e999], "data_offsets": [0, 0]}})") ==
          "a: head: got a number that is too large, expected whole numbers of at most 2^62");
    CHECK(of(R"({"w": )" + tensor("[1, 3]") + "}") ==
          "a: tensor 'w': data_offsets: got bytes from 1 on, expected from 0 on, without gap or "
          "overlap");
    CHECK(of(R"({"v": )" + tensor("[0, 2]") + R"(, "w": )" + tensor("[3, 5]") + "}") ==
          "a: tensor 'w': data_offsets: got bytes from 3 on, expected from 2 on, without gap or "
          "overlap");
    CHECK(of(R"({"w": {"dtype": "U8", "shape": [2]}})") ==
          "a: tensor 'w': expected dtype, shape and data_offsets");
}

TEST_CASE("with marks zeros are entries and NaN is none", "[pattern]") {
    constexpr std::uint16_t kNan = 0x7e00;
    const std::vector<std::uint16_t> halves{0, 0x3c00, kNan, 0x8000};
    const std::string_view bytes(reinterpret_cast<const char*>(halves.data()), 8);
    const CoordinateMatrix read =
        tessera::workload::entries_of(bytes, 2, 2, ValueType::F16, Marks::Read, {"a", "w"});
    CHECK(tessera::test::entries_of(read) ==
          tessera::test::Entries{{0, 0, 0.0}, {0, 1, 1.0}, {1, 1, -0.0}});
    CHECK_THROWS_AS(
        tessera::workload::entries_of(bytes, 2, 2, ValueType::F16, Marks::Refused, {"a", "w"}),
        ConfigError);
}

TEST_CASE("the length of a head and the sizes of a matrix have bounds", "[pattern]") {
    const auto refusal = [](const std::string& bytes) {
        try {
            SafetensorsReader reader(source_of(bytes), "a");
            static_cast<void>(read_safetensors_matrix(reader, "", Marks::Refused));
        } catch (const ConfigError& error) {
            return error.diagnostics().front().message;
        }
        return std::string("read");
    };
    const auto with_head_of = [](std::uint64_t length) {
        std::string bytes;
        for (int byte = 0; byte < 8; ++byte) {
            bytes += static_cast<char>(length >> (8 * byte) & 0xffU);
        }
        return bytes;
    };
    constexpr std::uint64_t kMostHead = 100'000'000;
    CHECK(refusal(with_head_of(kMostHead)) == "head: got 0 bytes, expected 100000000");
    CHECK(refusal(with_head_of(kMostHead + 1)) ==
          "head: got 100000001 bytes, expected at most 100000000");
    CHECK(refusal(with_head_of(std::uint64_t{1} << 63U)) ==
          "head: got 9223372036854775808 bytes, expected at most 100000000");
    const auto with_shape = [&](const std::string& shape, std::uint64_t bytes) {
        return refusal(with_length(R"({"w": {"dtype": "U8", "shape": [)" + shape +
                                   R"(], "data_offsets": [0, )" + std::to_string(bytes) + "]}}"));
    };
    const std::string largest = std::to_string(kLargestSize);
    const auto all = static_cast<std::uint64_t>(kLargestSize);
    const std::string expected = ", expected two sizes of 1.." + largest;
    // sizes are looked at before the data, of which there are none
    for (const auto& [one, other] : {std::pair{std::string("1"), largest}, {largest, "1"}}) {
        CHECK(with_shape(one + ", " + other, all) ==
              "tensor 'w': got 0 bytes, expected " + largest);
    }
    const std::string more = std::to_string(kLargestSize + 1);
    for (const std::string& shape : {"1, " + more, more + ", 1"}) {
        CHECK(with_shape(shape, all + 1) == "tensor 'w': shape: got [" + shape + "]" + expected);
    }
    for (const char* shape : {"0, 4", "4, 0"}) {
        CHECK(with_shape(shape, 0) ==
              "tensor 'w': shape: got [" + std::string(shape) + "]" + expected);
    }
    for (const char* shape : {"", "4", "2, 2, 1"}) {
        CHECK(with_shape(shape, shape[0] == '\0' ? 1 : 4) ==
              "tensor 'w': shape: got [" + std::string(shape) + "]" + expected);
    }
}

TEST_CASE("a tensor is the one of its name, or the only one", "[pattern]") {
    const auto read = [](const std::string& head, const std::string& data,
                         const std::string& tensor) {
        try {
            SafetensorsReader reader(source_of(with_length(head) + data), "a");
            const CoordinateMatrix made = read_safetensors_matrix(reader, tensor, Marks::Refused);
            return std::to_string(made.rows) + " x " + std::to_string(made.columns);
        } catch (const ConfigError& error) {
            const tessera::Diagnostic& first = error.diagnostics().front();
            return first.message + (first.hint.empty() ? "" : "; " + first.hint);
        }
    };
    const std::string one =
        R"({"weight": {"dtype": "U8", "shape": [1, 2], "data_offsets": [0, 2]}})";
    CHECK(read(one, "ab", "") == "1 x 2");
    CHECK(read(one, "ab", "weight") == "1 x 2");
    CHECK(read(one, "ab", "wieght") == "has no tensor 'wieght'; did you mean 'weight'?");
    const std::string two = R"({"v": {"dtype": "U8", "shape": [1, 2], "data_offsets": [0, 2]},
        "w": {"dtype": "U8", "shape": [3, 1], "data_offsets": [2, 5]}})";
    CHECK(read(two, "abcde", "v") == "1 x 2");
    CHECK(read(two, "abcde", "w") == "3 x 1");
    CHECK(read(two, "abcde", "") == "got 2 tensors, expected the name of one, such as 'v'");
    CHECK(read("{}", "", "") == "got 0 tensors, expected the name of one");
    CHECK(read("{}", "", "w") == "has no tensor 'w'");
}
