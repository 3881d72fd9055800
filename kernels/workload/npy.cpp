// SPDX-License-Identifier: MIT
#include "kernels/workload/npy.h"

#include "base/element_type.h"
#include "base/error.h"
#include "base/float16.h"
#include "base/input_file.h"
#include "kernels/workload/half.h"
#include "kernels/workload/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <system_error>
#include <type_traits>
#include <vector>

namespace tessera::workload {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied, not swapped");

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr std::size_t kVersionEnd = 8;
constexpr std::int64_t kMaxDimension = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMostElements = std::size_t{1} << 31U; ///< more than a chip's memory holds

[[noreturn]] void fail(const std::string& file_name, std::string message, std::string hint = "") {
    throw ConfigError(Diagnostic{file_name, 0, 0, "", std::move(message), std::move(hint)});
}

constexpr const char* kTypes =
    "bools, floats of 2, 4 or 8 bytes or integers of 1, 2, 4 or 8, as |b1 or <f4";

/// What the header's dictionary says.
struct Header {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
};

/// Reads the Python literal of the header: one dictionary of strings, booleans and a tuple of
/// integers.
class HeaderReader {
public:
    HeaderReader(std::string_view text, const std::string& file_name)
        : text_(text), file_name_(file_name) {}

    Header read() {
        expect('{');
        while (!accept('}')) {
            read_item();
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        skip_space();
        if (at_ != text_.size()) {
            fail_here("the end of the header");
        }
        return header_;
    }

private:
    void read_item() {
        const std::string key = read_string();
        expect(':');
        if (key == "descr" && !header_.descr) {
            skip_space();
            if (at_ < text_.size() && text_[at_] == '[') {
                fail(file_name_, std::string("descr: got a structured type, expected ") + kTypes);
            }
            header_.descr = read_string();
        } else if (key == "fortran_order" && !header_.fortran_order) {
            header_.fortran_order = read_boolean();
        } else if (key == "shape" && !header_.shape) {
            header_.shape = read_tuple();
        } else {
            fail(file_name_, "header: got key " + quoted_word(key) +
                                 ", expected descr, fortran_order and shape, once each");
        }
    }

    std::string read_string() {
        skip_space();
        if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) {
            fail_here("a quoted string");
        }
        const std::size_t end = text_.find(text_[at_], at_ + 1);
        if (end == std::string_view::npos) {
            fail_here("a closing quote");
        }
        std::string word(text_.substr(at_ + 1, end - at_ - 1));
        at_ = end + 1;
        return word;
    }

    bool read_boolean() {
        skip_space();
        for (const auto& [word, value] :
             {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
            if (text_.substr(at_, word.size()) == word) {
                at_ += word.size();
                return value;
            }
        }
        fail_here("True or False");
    }

    std::vector<std::int64_t> read_tuple() {
        std::vector<std::int64_t> numbers;
        expect('(');
        while (!accept(')')) {
            skip_space();
            std::int64_t number = 0;
            const auto [stop, error] =
                std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
            if (error != std::errc{}) {
                fail_here("a whole number of at most 64 bit");
            }
            at_ = static_cast<std::size_t>(stop - text_.data());
            numbers.push_back(number);
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return numbers;
    }

    void skip_space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) {
            ++at_;
        }
    }
    bool accept(char wanted) {
        skip_space();
        if (at_ < text_.size() && text_[at_] == wanted) {
            ++at_;
            return true;
        }
        return false;
    }
    void expect(char wanted) {
        if (!accept(wanted)) {
            fail_here(quoted_word(std::string_view(&wanted, 1)));
        }
    }
    [[noreturn]] void fail_here(const std::string& expected) {
        const std::string got =
            at_ < text_.size() ? quoted_word(text_.substr(at_, 1)) : "the header's end";
        fail(file_name_, "header, character " + std::to_string(at_ + 1) + ": got " + got +
                             ", expected " + expected);
    }

    std::string_view text_;
    const std::string& file_name_;
    std::size_t at_ = 0;
    Header header_;
};

struct Sections {
    std::string_view header;
    std::string_view data;
};

Sections split_sections(std::string_view bytes, const std::string& file_name) {
    if (bytes.substr(0, kMagic.size()) != kMagic) {
        fail(file_name, "not an npy file: it does not start with \\x93NUMPY");
    }
    if (bytes.size() < kVersionEnd) {
        fail(file_name, "the file ends inside its version number");
    }
    const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const int major = byte_at(6);
    const int minor = byte_at(7);
    if ((major != 1 && major != 2) || minor != 0) {
        fail(file_name, "version: got " + std::to_string(major) + "." + std::to_string(minor) +
                            ", expected 1.0 or 2.0");
    }
    const std::size_t length_bytes = major == 1 ? 2 : 4;
    if (bytes.size() < kVersionEnd + length_bytes) {
        fail(file_name, "the file ends inside its header length");
    }
    std::size_t header_bytes = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) {
        header_bytes |= std::size_t{byte_at(kVersionEnd + i)} << (8 * i);
    }
    if (header_bytes > kMostNpyHeaderBytes - kVersionEnd - length_bytes) {
        fail(file_name, "header: got " + std::to_string(header_bytes) +
                            " bytes, expected at most " +
                            std::to_string(kMostNpyHeaderBytes - kVersionEnd - length_bytes));
    }
    const std::string_view rest = bytes.substr(kVersionEnd + length_bytes);
    if (rest.size() < header_bytes) {
        fail(file_name,
             "header: got " + std::to_string(rest.size()) + " bytes, expected " +
                 std::to_string(header_bytes),
             "the file is truncated");
    }
    return {rest.substr(0, header_bytes), rest.substr(header_bytes)};
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    }
    return text + (shape.size() == 1 ? ",)" : ")");
}

MatrixShape checked_shape(std::vector<std::int64_t> shape, std::optional<MatrixShape> expected,
                          const std::string& file_name) {
    if (expected) {
        std::vector<std::int64_t> stack = expected->leading;
        stack.push_back(expected->rows / matrices_in(stack));
        stack.push_back(expected->columns);
        const std::vector<std::int64_t> one{expected->rows, expected->columns};
        const bool is_row = expected->rows == 1 && shape == std::vector{expected->columns};
        if (shape != stack && shape != one && !is_row) {
            throw WrongShape(Diagnostic{
                file_name, 0, 0, "",
                "shape: got " + shape_text(shape) + ", expected " + shape_text(stack), ""});
        }
        shape = one; // one below the other
    }
    if (shape.size() != 2) {
        fail(file_name, "shape: got " + std::to_string(shape.size()) + " dimensions, expected 2");
    }
    for (const std::int64_t dimension : shape) {
        if (dimension < 1 || dimension > kMaxDimension) {
            fail(file_name, "shape: got " + shape_text(shape) + ", expected dimensions of 1.." +
                                std::to_string(kMaxDimension));
        }
    }
    return {shape[0], shape[1]};
}

/// An element that is a binary16 number.
struct Half {
    std::uint16_t bits;
};

/// An element of a file as one of a matrix.
template <typename To, typename Element> To converted(Element element) {
    if constexpr (std::is_same_v<To, float>) {
        if constexpr (std::is_same_v<Element, Half>) {
            return f16_to_f32(element.bits);
        } else {
            return static_cast<float>(element);
        }
    } else if constexpr (std::is_same_v<Element, Half>) {
        return element.bits;
    } else {
        return f64_to_f16(static_cast<double>(element));
    }
}

bool is_finite(float element) {
    return std::isfinite(element);
}
bool is_finite(std::uint16_t element) {
    return is_finite_f16(element);
}

template <typename To>
constexpr const char* kExpectedFinite = "f32, expected magnitudes below 2^128";
template <> constexpr const char* kExpectedFinite<std::uint16_t> = "f16, expected -65504..65504";

template <typename To, typename Element>
Dense<To> convert(std::string_view data, MatrixShape shape, const std::string& file_name) {
    const auto columns = static_cast<std::uint64_t>(shape.columns);
    const std::uint64_t elements = static_cast<std::uint64_t>(shape.rows) * columns;
    Dense<To> matrix{shape.rows, shape.columns, std::vector<To>(elements)};
    for (std::uint64_t i = 0; i < elements; ++i) {
        Element element;
        std::memcpy(&element, data.data() + i * sizeof(Element), sizeof(Element));
        const To value = converted<To>(element);
        if (!is_finite(value)) {
            fail(file_name, "element [" + std::to_string(i / columns) + ", " +
                                std::to_string(i % columns) + "] is not finite in " +
                                kExpectedFinite<To>);
        }
        matrix.values[i] = value;
    }
    return matrix;
}

void check_element_total(std::size_t elements, MatrixShape shape) {
    TESSERA_ASSERT(shape.rows >= 0 && shape.columns >= 0);
    TESSERA_ASSERT(elements ==
                   static_cast<std::size_t>(shape.rows) * static_cast<std::size_t>(shape.columns));
}

/// A header whose type is one that is read, and what follows it.
struct ReadHeader {
    NpyType type;
    bool is_fortran = false;
    std::vector<std::int64_t> shape;
    std::string_view data;
};

ReadHeader read_header(std::string_view bytes, const std::string& file_name) {
    const Sections sections = split_sections(bytes, file_name);
    const Header header = HeaderReader(sections.header, file_name).read();
    if (!header.descr || !header.fortran_order || !header.shape) {
        fail(file_name, std::string("header: ") +
                            (!header.descr           ? "descr"
                             : !header.fortran_order ? "fortran_order"
                                                     : "shape") +
                            " is missing");
    }
    const auto type = npy_type(*header.descr);
    if (!type) {
        fail(file_name,
             "descr: got " + quoted_word(*header.descr) + ", expected " + std::string(kTypes));
    }
    return {*type, *header.fortran_order, *header.shape, sections.data};
}

/// The elements in row-major order, lowest byte first; a copy where they stand otherwise.
std::string_view arranged(const ReadHeader& header, std::string& storage) {
    const std::size_t bytes = header.type.bytes;
    const bool is_turned = header.is_fortran && header.shape.size() > 1;
    if (header.data.empty() || (!header.type.is_big_endian && !is_turned)) {
        return header.data;
    }
    storage.resize(header.data.size());
    NpyOrder order(header.shape, is_turned);
    for (std::size_t at = 0; at < header.data.size(); at += bytes, order.next()) {
        char* const to = storage.data() + order.row_major_index() * bytes;
        std::memcpy(to, header.data.data() + at, bytes);
        if (header.type.is_big_endian) {
            std::reverse(to, to + bytes);
        }
    }
    return storage;
}

template <typename To>
using Convert = Dense<To> (*)(std::string_view, MatrixShape, const std::string&);

/// What elements of a type are made to be matrix elements by.
template <typename To> Convert<To> convert_of(const NpyType& type) {
    struct Known {
        std::string_view descr;
        Convert<To> convert;
    };
    static constexpr std::array<Known, 12> kKnown{{{"<f2", convert<To, Half>},
                                                   {"<f4", convert<To, float>},
                                                   {"<f8", convert<To, double>},
                                                   {"|b1", convert<To, std::uint8_t>},
                                                   {"|i1", convert<To, std::int8_t>},
                                                   {"|u1", convert<To, std::uint8_t>},
                                                   {"<i2", convert<To, std::int16_t>},
                                                   {"<u2", convert<To, std::uint16_t>},
                                                   {"<i4", convert<To, std::int32_t>},
                                                   {"<u4", convert<To, std::uint32_t>},
                                                   {"<i8", convert<To, std::int64_t>},
                                                   {"<u8", convert<To, std::uint64_t>}}};
    const auto known = std::find_if(kKnown.begin(), kKnown.end(),
                                    [&](const Known& one) { return one.descr == type.descr; });
    TESSERA_ASSERT(known != kKnown.end());
    return known->convert;
}

void check_data_bytes(const ReadHeader& header, MatrixShape shape, const std::string& file_name) {
    // At most 2^31 - 1 a side: the product of the three stays below 2^65, so it is compared by
    // division.
    const std::uint64_t elements =
        static_cast<std::uint64_t>(shape.rows) * static_cast<std::uint64_t>(shape.columns);
    const std::size_t got = header.data.size();
    const std::size_t bytes = header.type.bytes;
    if (got / bytes != elements || got % bytes != 0) {
        fail(file_name,
             "data: got " + std::to_string(got) + " bytes, expected " + std::to_string(elements) +
                 " elements of " + std::to_string(bytes) + " bytes",
             got / bytes < elements ? "the file is truncated" : "");
    }
}

template <typename To>
Dense<To> matrix_of(std::string_view bytes, const std::string& file_name,
                    std::optional<MatrixShape> expected) {
    const ReadHeader header = read_header(bytes, file_name);
    const MatrixShape shape = checked_shape(header.shape, expected, file_name);
    check_data_bytes(header, shape, file_name);
    std::string storage;
    return convert_of<To>(header.type)(arranged(header, storage), shape, file_name);
}

/// Bytes of the elements, by a header that `bytes` begin with.
std::size_t data_bytes(const std::string& bytes, const std::string& path,
                       std::optional<MatrixShape> expected) {
    const ReadHeader header = read_header(bytes, path);
    const MatrixShape shape = checked_shape(header.shape, expected, path);
    const auto elements =
        static_cast<std::size_t>(shape.rows) * static_cast<std::size_t>(shape.columns);
    if (elements > kMostElements) {
        fail(path, "shape: got " + shape_text({shape.rows, shape.columns}) + ", expected at most " +
                       std::to_string(kMostElements) + " elements");
    }
    return elements * header.type.bytes;
}

template <typename To>
Dense<To> matrix_in(const std::string& path, std::optional<MatrixShape> expected) {
    InputFile file(path);
    std::string bytes;
    file.append_to(bytes, kMostNpyHeaderBytes);
    // Up to a header more than there should be, so that what is too much is seen.
    file.append_to(bytes, data_bytes(bytes, path, expected));
    return matrix_of<To>(bytes, path, expected);
}

} // namespace

void check_npy_file(const std::string& path, const MatrixShape& expected) {
    std::string bytes;
    InputFile(path).append_to(bytes, kMostNpyHeaderBytes);
    check_npy_header(bytes, path, expected);
}

void check_npy_header(const std::string& bytes, const std::string& file_name,
                      const MatrixShape& expected) {
    static_cast<void>(data_bytes(bytes, file_name, expected));
}

std::optional<NpyType> npy_type(std::string_view descr) {
    constexpr std::string_view kOrders = "<>|=";
    if (descr.size() != 3 || kOrders.find(descr[0]) == std::string_view::npos) {
        return std::nullopt;
    }
    const std::size_t bytes = static_cast<unsigned char>(descr[2]) - std::size_t{'0'};
    const bool is_power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    const char kind = descr[1];
    const bool is_one = kind == 'b'                  ? bytes == 1
                        : kind == 'f'                ? is_power && bytes > 1
                        : kind == 'i' || kind == 'u' ? is_power
                                                     : false;
    const bool has_order = descr[0] != '|' || bytes == 1;
    if (!is_one || !has_order) {
        return std::nullopt;
    }
    NpyType type;
    type.descr = (bytes == 1 ? "|" : "<") + std::string(descr.substr(1));
    type.bytes = bytes;
    type.is_big_endian = descr[0] == '>' && bytes > 1;
    return type;
}

NpyOrder::NpyOrder(const std::vector<std::int64_t>& shape, bool is_fortran)
    : is_fortran_(is_fortran), sizes_(shape), place_(shape.size(), 0), steps_(shape.size(), 1) {
    for (std::size_t i = shape.size(); i-- > 1;) {
        steps_[i - 1] = steps_[i] * shape[i];
    }
}

void NpyOrder::next() {
    if (!is_fortran_) {
        ++index_;
        return;
    }
    for (std::size_t i = 0; i < place_.size(); ++i) {
        index_ += steps_[i];
        if (++place_[i] < sizes_[i]) {
            return;
        }
        index_ -= steps_[i] * sizes_[i];
        place_[i] = 0;
    }
}

NpyArray read_npy_array(std::string_view bytes, const std::string& file_name) {
    const ReadHeader header = read_header(bytes, file_name);
    const std::size_t got = header.data.size();
    const std::uint64_t elements = got / header.type.bytes;
    std::uint64_t wanted = 1;
    for (const std::int64_t dimension : header.shape) {
        const bool fits = dimension >= 0 &&
                          (wanted == 0 || static_cast<std::uint64_t>(dimension) <= got / wanted);
        wanted = fits ? wanted * static_cast<std::uint64_t>(dimension) : got + 1;
    }
    if (wanted != elements || got % header.type.bytes != 0) {
        fail(file_name, "data: got " + std::to_string(got) +
                            " bytes, expected the elements of shape " + shape_text(header.shape) +
                            " of type " + header.type.descr);
    }
    std::string storage;
    const std::string_view data = arranged(header, storage);
    return {header.type.descr, header.shape, storage.empty() ? std::string(data) : storage};
}

std::string read_npy_text(std::string_view bytes, const std::string& file_name) {
    const Sections sections = split_sections(bytes, file_name);
    const Header header = HeaderReader(sections.header, file_name).read();
    const std::string descr = header.descr.value_or("");
    const std::size_t kind = descr.find_first_of("SU");
    std::size_t length = 0;
    const bool is_text =
        kind <= 1 &&
        std::from_chars(descr.data() + kind + 1, descr.data() + descr.size(), length).ptr ==
            descr.data() + descr.size();
    const std::size_t width = is_text && descr[kind] == 'U' ? 4 : 1;
    const std::string_view data = sections.data;
    if (!is_text || (width > 1 && descr[0] == '>') || data.size() % width != 0 ||
        data.size() / width != length) {
        fail(file_name, "got " + std::to_string(data.size()) + " bytes of type " +
                            quoted_word(descr) + ", expected one text, as |S3");
    }
    std::string text;
    for (std::size_t at = 0; at < data.size(); at += width) {
        const bool is_ascii =
            data.substr(at + 1, width - 1).find_first_not_of('\0') == std::string_view::npos;
        text += is_ascii ? data[at] : '?';
    }
    text.erase(text.find_last_not_of('\0') + 1);
    return text;
}

NpyMatrixHeader read_npy_header(std::string_view bytes, const std::string& file_name) {
    const ReadHeader header = read_header(bytes, file_name);
    return {header.type, header.is_fortran, checked_shape(header.shape, std::nullopt, file_name),
            bytes.size() - header.data.size()};
}

DenseF16 read_npy(std::string_view bytes, const std::string& file_name,
                  std::optional<MatrixShape> expected) {
    return matrix_of<std::uint16_t>(bytes, file_name, expected);
}

DenseF32 read_npy_f32(std::string_view bytes, const std::string& file_name,
                      std::optional<MatrixShape> expected) {
    return matrix_of<float>(bytes, file_name, expected);
}

DenseF16 read_npy_file(const std::string& path, std::optional<MatrixShape> expected) {
    return matrix_in<std::uint16_t>(path, expected);
}

DenseF32 read_npy_file_f32(const std::string& path, std::optional<MatrixShape> expected) {
    return matrix_in<float>(path, expected);
}

std::string npy_bytes(std::string_view descr, const std::vector<std::int64_t>& shape,
                      std::string_view data) {
    // The format aligns the data to 64 bytes: prefix, header, spaces and a newline.
    static constexpr std::size_t kAlignment = 64;
    static constexpr std::size_t kPrefixBytes = kVersionEnd + 2;
    std::string header = "{'descr': '" + std::string(descr) +
                         "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
    while ((kPrefixBytes + header.size() + 1) % kAlignment != 0) {
        header += ' ';
    }
    header += '\n';
    std::string bytes(kMagic);
    bytes += '\x01';
    bytes += '\x00';
    bytes += static_cast<char>(header.size() & 0xffU);
    bytes += static_cast<char>(header.size() >> 8U);
    bytes += header;
    bytes += data;
    return bytes;
}

std::string npy_bytes_f16(std::span<const std::uint16_t> values, MatrixShape shape) {
    check_element_total(values.size(), shape);
    return npy_bytes(npy_of(ElementType::F16), {shape.rows, shape.columns},
                     {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

std::string npy_bytes_f32(std::span<const float> values, MatrixShape shape) {
    check_element_total(values.size(), shape);
    return npy_bytes(npy_of(ElementType::F32), {shape.rows, shape.columns},
                     {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

} // namespace tessera::workload
