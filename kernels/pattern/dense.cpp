// SPDX-License-Identifier: MIT
#include "kernels/pattern/dense.h"

#include "base/error.h"
#include "kernels/workload/safetensors.h"
#include "kernels/workload/value_type.h"

#include <fmt/format.h>

#include <cstddef>

namespace tessera::pattern {

using workload::CoordinateEntry;
using workload::CoordinateMatrix;
using workload::MatrixSource;
using workload::ValueType;

namespace {

constexpr std::int64_t kMostDenseElements = std::int64_t{1} << 31U;

void put(const CoordinateEntry& entry, ValueType type, char* to, const MatrixSource& target) {
    if (!workload::encode(type, entry.value, to)) {
        target.fail(fmt::format("{}: {} has not exactly the value {}",
                                workload::element_text(entry.row, entry.column),
                                workload::facts_of(type).name, entry.value),
                    "--type chooses another type");
    }
}

} // namespace

std::string dense_bytes(const CoordinateMatrix& matrix, const MatrixSource& to) {
    if (matrix.rows > kMostDenseElements / matrix.columns) {
        to.fail(fmt::format("got {} x {}, expected at most {} elements where all of them are "
                            "written",
                            matrix.rows, matrix.columns, kMostDenseElements));
    }
    const std::size_t bytes = workload::facts_of(matrix.type).bytes;
    std::string dense(static_cast<std::size_t>(matrix.rows * matrix.columns) * bytes, '\0');
    for (const CoordinateEntry& entry : matrix.entries) {
        const auto element = static_cast<std::size_t>(entry.row * matrix.columns + entry.column);
        put(entry, matrix.type, dense.data() + element * bytes, to);
    }
    return dense;
}

std::string value_bytes(const CoordinateMatrix& matrix, const MatrixSource& to) {
    const std::size_t bytes = workload::facts_of(matrix.type).bytes;
    std::string values(matrix.entries.size() * bytes, '\0');
    char* at = values.data();
    for (const CoordinateEntry& entry : matrix.entries) {
        put(entry, matrix.type, at, to);
        at += bytes;
    }
    return values;
}

std::string safetensors_bytes(const CoordinateMatrix& matrix, const MatrixSource& to) {
    constexpr const char* kName = "weight"; // where the user names none
    const std::string data = dense_bytes(matrix, to);
    const workload::TensorHead head{to.tensor.empty() ? kName : to.tensor,
                                    std::string(workload::facts_of(matrix.type).safetensors),
                                    matrix.type,
                                    {matrix.rows, matrix.columns},
                                    data.size()};
    return workload::safetensors_head({&head, 1}) + data;
}

} // namespace tessera::pattern
