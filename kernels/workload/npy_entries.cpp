// SPDX-License-Identifier: MIT
#include "kernels/workload/npy_entries.h"

#include "base/activity.h"
#include "base/error.h"
#include "base/input_file.h"
#include "kernels/workload/npy.h"
#include "kernels/workload/packed_file.h"
#include "kernels/workload/value_type.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tessera::workload {
namespace {

[[noreturn]] void fail_in_npy(const std::string& path, std::string message, std::string hint = "") {
    throw ConfigError(Diagnostic{path, 0, 0, "", std::move(message), std::move(hint)});
}

/// The bytes of the elements, one after the other.
class ElementStream {
public:
    /// Stands at the first element.
    explicit ElementStream(const std::string& path) : file_(path), path_(path) {
        file_.append_to(bytes_, kMostNpyHeaderBytes);
        header_ = read_npy_header(bytes_, path);
        at_ = header_.header_bytes;
        const ValueTypeFacts* const facts =
            find_value_type(&ValueTypeFacts::npy, header_.type.descr);
        TESSERA_ASSERT(facts != nullptr);
        element_ = *facts;
    }

    [[nodiscard]] const NpyMatrixHeader& header() const { return header_; }
    [[nodiscard]] ValueType type() const { return element_.type; }

    double next() {
        if (!has(element_.bytes)) {
            const auto got = read_ * element_.bytes + (bytes_.size() - at_);
            fail_in_npy(path_, "data: got " + std::to_string(got) + " bytes, expected " + wanted(),
                        "the file is truncated");
        }
        if (header_.type.is_big_endian) {
            std::reverse(bytes_.data() + at_, bytes_.data() + at_ + element_.bytes);
        }
        const double value = decoded(element_.type, bytes_.data() + at_);
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
    ValueTypeFacts element_;
};

} // namespace

CoordinateMatrix read_npy_entries_file(const std::string& path) {
    ElementStream stream(path);
    CoordinateMatrix matrix;
    matrix.rows = stream.header().shape.rows;
    matrix.columns = stream.header().shape.columns;
    matrix.type = stream.type();
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
            if (matrix.entries.size() == kMostEntries) {
                fail_in_npy(path, "got more than " + std::to_string(kMostEntries) +
                                      " elements that are not zero, the most of a pattern");
            }
            matrix.entries.push_back(
                {static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), 0, value});
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
