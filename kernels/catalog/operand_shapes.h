// SPDX-License-Identifier: MIT
// What kinds of workloads say of operands in the same way.
#pragma once

#include "base/config/shape.h"
#include "kernels/workload/operand_spec.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tessera::catalog {

inline constexpr std::int64_t kLongestDimension = 1'000'000;

/// `text` stands at the JSON pointer `key`.
[[nodiscard]] workload::ValuesSpec values_of(const std::string& text, std::string key);
[[nodiscard]] std::string values_text(const workload::ValuesSpec& values);

/// {"generator": ..., "density": ..., "seed": ...}.
[[nodiscard]] std::shared_ptr<const config::Shape> generator_shape();

/// {"file": ..., "values": ...} or a generator.
[[nodiscard]] std::shared_ptr<const config::Shape> pattern_shape();

} // namespace tessera::catalog
