// SPDX-License-Identifier: MIT
// An array of a program as the host writes and reads it. Its number is its identity: names are
// labels for people, and several tensors may be called alike.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace tessera::program {

struct ArrayId {
    enum class Kind : std::uint8_t { Tensor, RemoteBuffer };
    Kind kind = Kind::Tensor;
    std::uint32_t index = 0; ///< in Program::tensors or Program::remote_buffers

    friend constexpr auto operator<=>(const ArrayId&, const ArrayId&) = default;
};

[[nodiscard]] constexpr ArrayId tensor(std::size_t index) {
    return {ArrayId::Kind::Tensor, static_cast<std::uint32_t>(index)};
}
[[nodiscard]] constexpr ArrayId remote_buffer(std::size_t index) {
    return {ArrayId::Kind::RemoteBuffer, static_cast<std::uint32_t>(index)};
}

} // namespace tessera::program
