// SPDX-License-Identifier: MIT
// Dense tensors of .safetensors files, as the bytes that an .npy file of them has. A tensor is named
// behind a colon: weights.safetensors:encoder.fc1.weight.
#pragma once

#include <string>

namespace tessera::workload {

/// Whether a name is that of a tensor in a .safetensors file.
[[nodiscard]] bool is_tensor_of_file(const std::string& name);

/// The bytes of an .npy file with that tensor; only these bytes and the head of the file are read.
/// @throws IoError, or ConfigError where the file has no such tensor, or one of a type that .npy has not
[[nodiscard]] std::string npy_of_tensor(const std::string& name);

/// Returns what stands before the elements in it. @throws as the other does
[[nodiscard]] std::string npy_header_of_tensor(const std::string& name);

} // namespace tessera::workload
