// SPDX-License-Identifier: MIT
// Reads models of ONNX, by Debian's libonnx. A build without that library has the same functions and
// says so.
//
// Read: graphs of operator sets 1 to 17, tensors in the file or in files beside it, of all types but
// texts and complex numbers.
// Refused: newer operator sets, sparse initialisers, files of 2 GiB or more (a limit of protobuf).
#pragma once

#include "sim/importer/model.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tessera::importer {

inline constexpr std::int64_t kNewestOpset = 17;

/// Whether this build reads such files.
[[nodiscard]] bool reads_onnx();

/// Bytes [first, first + count) of the file `location` beside the model. @throws IoError, or
/// std::runtime_error with what is wrong with the location
using ExternalBytes =
    std::function<std::string(const std::string& location, std::int64_t first, std::int64_t count)>;

/// `file_name` is for messages only. @throws ConfigError with all mistakes, which name the file;
/// NotModelled in a build without the library
[[nodiscard]] Model read_onnx(std::string_view bytes, const std::string& file_name,
                              const ExternalBytes& external);

/// The same from a path. Files of tensors must be in its folder or below it. @throws IoError too
[[nodiscard]] Model read_onnx_file(const std::string& path);

} // namespace tessera::importer
