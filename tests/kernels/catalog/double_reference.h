// SPDX-License-Identifier: MIT
// Families of the catalog in binary64 on the host, one plain function each: what central differences
// are taken of. Sparse matrices are dense ones with a mask.
#pragma once

#include "kernels/workload/pipeline_workload.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// Row-major.
struct Array {
    std::vector<std::int64_t> shape;
    std::vector<double> values;
    std::vector<bool> stored = {}; ///< of a sparse matrix: which elements it stores

    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(values.size()); }
    [[nodiscard]] std::int64_t columns() const { return shape.back(); }
    [[nodiscard]] std::int64_t rows() const { return size() / columns(); }
    double& at(std::int64_t index) { return values[static_cast<std::size_t>(index)]; }
    [[nodiscard]] double at(std::int64_t index) const {
        return values[static_cast<std::size_t>(index)];
    }
};

/// All elements are 0.
[[nodiscard]] Array zeros(std::vector<std::int64_t> shape);

using Arrays = std::vector<Array>;
using Reference = std::function<Arrays(const workload::PipelineStep& step, const Arrays& inputs)>;

/// By family.
[[nodiscard]] const std::map<std::string, Reference>& references();

} // namespace tessera::test
