// SPDX-License-Identifier: MIT
// Host access to tile memory: copies between row-major arrays and the strided pieces of a tensor.
#pragma once

#include "models/ipu/core/chip_memory.h"
#include "models/program/known_words.h"
#include "models/program/program.h"

#include <cstddef>
#include <span>

namespace tessera::ipu {

/// The number of elements of the tensor.
[[nodiscard]] std::int64_t elements_of(const program::Tensor& tensor);

/// Writes the host array `host` (elements_of * bytes_of(type) bytes) to all pieces.
/// @throws ProgramError if a piece is outside the array or tile memory, or the array has another
/// size.
void write_tensor(const program::Tensor& tensor, std::span<const std::byte> host,
                  ChipMemory& memory);

/// In timing mode, marks the words of all pieces as known. Call it after write_tensor().
void learn_tensor(const program::Tensor& tensor, program::KnownWords& known);

/// Gathers the pieces into `host`; elements that no piece holds keep their value. Errors as in
/// write_tensor.
void read_tensor(const program::Tensor& tensor, const ChipMemory& memory,
                 std::span<std::byte> host);

} // namespace tessera::ipu
