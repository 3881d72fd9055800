// SPDX-License-Identifier: MIT
// The bytes of lists of elements, as they stand in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace tessera {

/// Returns the bytes of a vector or a string.
template <class List> [[nodiscard]] std::vector<std::byte> bytes_of_all(const List& elements) {
    const auto bytes = std::as_bytes(std::span(elements));
    return {bytes.begin(), bytes.end()};
}

/// The same for several to share.
template <class List>
[[nodiscard]] std::shared_ptr<const std::vector<std::byte>> shared_bytes(const List& elements) {
    return std::make_shared<const std::vector<std::byte>>(bytes_of_all(elements));
}

} // namespace tessera
