// SPDX-License-Identifier: MIT
// What `tessera pattern encode` prints, as text and as JSON.
#pragma once

#include "base/layout.h"
#include "kernels/dynamic/encode.h"
#include "kernels/dynamic/layout.h"
#include "kernels/workload/operands.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::pattern {

/// A pattern in the buckets of a workload.
struct Encoded {
    std::string file; ///< as it was named
    std::string workload;
    std::string machine;
    std::string tensor;
    std::string step; ///< empty: the workload is one product
    const workload::SparsePattern& pattern;
    const workload::Capacity& capacity;
    const dynamic::Layout& layout;
    const dynamic::Encoding& encoding;
    std::int64_t tiles = 0; ///< of the machine
};

/// `bucket`: also the words of that one.
[[nodiscard]] std::string buckets_text(const Encoded& encoded, std::optional<std::int64_t> bucket,
                                       const Layout& layout);
[[nodiscard]] nlohmann::json buckets_json(const Encoded& encoded,
                                          std::optional<std::int64_t> bucket);

/// What configs/schemas/buckets.schema.json holds: the schema of buckets_json().
[[nodiscard]] nlohmann::json buckets_schema();

} // namespace tessera::pattern
