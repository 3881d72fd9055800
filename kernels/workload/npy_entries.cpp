// SPDX-License-Identifier: MIT
#include "kernels/workload/npy_entries.h"

#include "base/activity.h"
#include "base/element_type.h"
#include "base/error.h"
#include "base/float16.h"
#include "base/input_file.h"
#include "kernels/workload/npy.h"
#include "kernels/workload/packed_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace tessera::workload {
namespace {

constexpr std::size_t kMostNpyEntries = std::size_t{1} << 27U;

[[noreturn]] void fail_in_npy(const std::string& path, std::string message, std::string hint = "") {
    throw ConfigError(Diagnostic{path, 0, 0, "", std::move(message), std::move(hint)});
}

template <class Element> double decoded(const char* bytes) {
    Element element;
    std::memcpy(&element, bytes, sizeof(Element));
    return static_cast<double>(element);
}

double decoded_f16(const char* bytes) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes, sizeof(half));
    return static_cast<double>(f16_to_f32(half));
}

struct NpyElement {
    std::string_view descr;
    std::size_t bytes = 0;
    double (*decode)(const char*) = nullptr;
};

const NpyElement& element_of(std::string_view descr) {
    static constexpr std::array<NpyElement, 12> kElements{
        {{npy_of(ElementType::Bool), 1, decoded<std::uint8_t>},
         {npy_of(ElementType::I8), 1, decoded<std::int8_t>},
         {npy_of(ElementType::U8), 1, decoded<std::uint8_t>},
         {npy_of(ElementType::I16), 2, decoded<std::int16_t>},
         {npy_of(ElementType::U16), 2, decoded<std::uint16_t>},
         {npy_of(ElementType::I32), 4, decoded<std::int32_t>},
         {npy_of(ElementType::U32), 4, decoded<std::uint32_t>},
         {"<i8", 8, decoded<std::int64_t>},
         {"<u8", 8, decoded<std::uint64_t>},
         {npy_of(ElementType::F16), 2, decoded_f16},
         {npy_of(ElementType::F32), 4, decoded<float>},
         {"<f8", 8, decoded<double>}}};
    const auto* const found =
        std::find_if(kElements.begin(), kElements.end(),
                     [&](const NpyElement& element) { return element.descr == descr; });
    TESSERA_ASSERT(found != kElements.end());
    return *found;
}

/// The bytes of the elements, one after the other.
class ElementStream {
public:
    /// Stands at the first element.
    explicit ElementStream(const std::string& path) : file_(path), path_(path) {
        file_.append_to(bytes_, kMostNpyHeaderBytes);
        header_ = read_npy_header(bytes_, path);
        at_ = header_.header_bytes;
        element_ = element_of(header_.type.descr);
    }

    [[nodiscard]] const NpyMatrixHeader& header() const { return header_; }

    double next() {
        if (!has(element_.bytes)) {
            const auto got = read_ * element_.bytes + (bytes_.size() - at_);
            fail_in_npy(path_, "data: got " + std::to_string(got) + " bytes, expected " + wanted(),
                        "the file is truncated");
        }
        if (header_.type.is_big_endian) {
            std::reverse(bytes_.data() + at_, bytes_.data() + at_ + element_.bytes);
        }
        const double value = element_.decode(bytes_.data() + at_);
        at_ += element_.bytes;
        ++read_;
        return value;
    }

    void expect_end() {
        if (has(1)) {
            fail_in_npy(path_, "data: got more than the expected " + wanted());
        }
    }

private:
    bool has(std::size_t count) {
        constexpr std::size_t kPieceBytes = kMiB;
        if (bytes_.size() - at_ < count) {
            bytes_.erase(0, at_);
            at_ = 0;
            file_.append_to(bytes_, kPieceBytes);
        }
        return bytes_.size() - at_ >= count;
    }

    [[nodiscard]] std::string wanted() const {
        return std::to_string(header_.shape.rows * header_.shape.columns) + " elements of " +
               std::to_string(element_.bytes) + " bytes";
    }

    PackedFile file_;
    const std::string& path_;
    std::string bytes_;
    std::size_t at_ = 0;
    std::uint64_t read_ = 0; ///< elements
    NpyMatrixHeader header_;
    NpyElement element_;
};

} // namespace

CoordinateMatrix read_npy_entries_file(const std::string& path) {
    ElementStream stream(path);
    CoordinateMatrix matrix;
    matrix.rows = stream.header().shape.rows;
    matrix.columns = stream.header().shape.columns;
    matrix.has_values = stream.header().type.descr != npy_of(ElementType::Bool);
    const bool is_fortran = stream.header().is_fortran;
    const std::int64_t lines = is_fortran ? matrix.columns : matrix.rows;
    const std::int64_t elements = is_fortran ? matrix.rows : matrix.columns;
    const Activity reading(is_fortran ? "reading the pattern, column" : "reading the pattern, row",
                           lines);
    for (std::int64_t line = 0; line < lines; ++line) {
        for (std::int64_t element = 0; element < elements; ++element) {
            const std::int64_t row = is_fortran ? element : line;
            const std::int64_t column = is_fortran ? line : element;
            const double value = stream.next();
            if (!std::isfinite(value)) {
                fail_in_npy(path, "element [" + std::to_string(row) + ", " +
                                      std::to_string(column) +
                                      "] is not finite, expected a finite number");
            }
            if (value == 0.0) {
                continue;
            }
            if (matrix.entries.size() == kMostNpyEntries) {
                fail_in_npy(path, "got more than " + std::to_string(kMostNpyEntries) +
                                      " elements that are not zero, the most of a pattern");
            }
            matrix.entries.push_back({static_cast<std::int32_t>(row),
                                      static_cast<std::int32_t>(column), 0,
                                      matrix.has_values ? value : 1.0});
        }
        reading.step();
    }
    stream.expect_end();
    sort_by_place(matrix.entries);
    return matrix;
}

MatrixShape read_npy_size(const std::string& path) {
    return ElementStream(path).header().shape;
}

} // namespace tessera::workload
