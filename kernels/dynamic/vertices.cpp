// SPDX-License-Identifier: MIT
#include "kernels/dynamic/vertices.h"

#include <fmt/format.h>

namespace tessera::dynamic {
namespace {

/// FP32 sums of FP16 products are rounded once a chain of four; FP32 products each.
std::int64_t roundings_of(std::int64_t block, codelets::ProductTypes types) {
    if (block == 1) {
        return 1;
    }
    if (types.data == ElementType::F32) {
        return block;
    }
    return types.partials == ElementType::F16 ? 1 : block / 4;
}

} // namespace

Vertex vertex_of(std::int64_t block, codelets::ProductTypes types, Pass pass) {
    const std::string kind =
        block == 1 ? std::string("dynamic_elements") : fmt::format("dynamic_block{}", block);
    const char* of_pass = pass == Pass::Forward ? "" : "_input";
    const std::string name = fmt::format("{}{}_{}", kind, of_pass, codelets::suffix(types));
    return {.name = name,
            .codelet = block == 1
                           ? name
                           : fmt::format("dynamic_blocks{}_{}", of_pass, codelets::suffix(types)),
            .block_roundings = roundings_of(block, types)};
}

Vertex values_vertex_of(std::int64_t block, ElementType data) {
    const std::string suffix = codelets::suffix({data, ElementType::F32});
    if (block == 1) {
        const std::string name = "dynamic_elements_values_" + suffix;
        return {name, name, 1};
    }
    return {fmt::format("dynamic_block{}_values_{}", block, suffix),
            "dynamic_blocks_values_" + suffix, 1};
}

std::optional<Vertex> matrix_values_vertex_of(std::int64_t block, ElementType data,
                                              std::int64_t columns) {
    constexpr Bytes kGroupBytes = 32; // of a row
    if (block * bytes_of(data) != kGroupBytes || columns % block != 0) {
        return std::nullopt;
    }
    const std::string suffix = codelets::suffix({data, ElementType::F32});
    return Vertex{fmt::format("dynamic_block{}_amp_values_{}", block, suffix),
                  "dynamic_blocks_amp_values_" + suffix, 0};
}

} // namespace tessera::dynamic
