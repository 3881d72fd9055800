// SPDX-License-Identifier: MIT
// Tensors in which elements are pruned. The mark of a pruned element is NaN, in the element's place;
// all other elements are kept, also those of value 0.
#pragma once

#include "kernels/workload/sparsity_spec.h"
#include "kernels/workload/value_type.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::pattern {

using workload::InitMethod;

/// The types that tensors with marks have: f16, bf16 and f32.
[[nodiscard]] constexpr bool has_marks(workload::ValueType type) {
    return type == workload::ValueType::F16 || type == workload::ValueType::BF16 ||
           type == workload::ValueType::F32;
}

/// The seed of a tensor: a function of the base seed and the tensor's name alone, so that it does
/// not depend on which other tensors there are.
[[nodiscard]] std::uint64_t seed_of(std::uint64_t base, std::string_view name);

struct Pruned {
    std::int64_t elements = 0;
    std::int64_t before = 0; ///< pruned ones
    std::int64_t after = 0;
};

/// Prunes round(level * elements) elements of a tensor, halves up. What is pruned already stays so
/// where that is no more; where it is more, elements drawn at random are kept again, with the value
/// 0. `bytes` are values of a type with marks; kept elements keep their bits.
Pruned sparsify(std::string& bytes, workload::ValueType type, double level, InitMethod method,
                std::uint64_t seed);

/// Elements that are NaN. Types without NaN have none.
[[nodiscard]] std::int64_t marks_in(std::string_view bytes, workload::ValueType type);

/// Makes elements that are NaN 0; returns how many they were.
std::int64_t finalize(std::string& bytes, workload::ValueType type);

} // namespace tessera::pattern
