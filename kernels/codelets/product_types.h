// SPDX-License-Identifier: MIT
// Types of a product: codelets of products come in a text for each.
#pragma once

#include "base/element_type.h"

#include <compare>

namespace tessera::codelets {

struct ProductTypes {
    ElementType data;     ///< operands and result
    ElementType partials; ///< sums that are not the result yet

    /// Whether a sum is the result as it stands.
    [[nodiscard]] constexpr bool sums_are_results() const { return data == partials; }
    [[nodiscard]] constexpr auto operator<=>(const ProductTypes& other) const = default;
};

/// The types of a product of FP16 operands.
[[nodiscard]] constexpr ProductTypes of_f16(ElementType partials) {
    return {ElementType::F16, partials};
}

/// The ending of codelet names for these types.
[[nodiscard]] constexpr const char* suffix(ProductTypes types) {
    if (types.data == ElementType::F32) {
        return "single";
    }
    return types.partials == ElementType::F16 ? "f16" : "f32";
}

} // namespace tessera::codelets
