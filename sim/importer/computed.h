// SPDX-License-Identifier: MIT
// Arithmetic of whole numbers and truth values that are known when a model is translated, such as exporters write
// for shapes.
#pragma once

#include "sim/importer/builder.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace tessera::importer {

using OfTwo = std::function<std::int64_t(std::int64_t a, std::int64_t b)>;

/// A function of known whole numbers or truth values, with broadcast, of the kind of x or of `kind`. Nothing where an
/// input is another. @throws Refused where the kind does not have a result
[[nodiscard]] std::optional<Value> computed(const Value& x, const Value& y, const OfTwo& function,
                                            const std::optional<ElementKind>& kind = {});

} // namespace tessera::importer
