// SPDX-License-Identifier: MIT
// How large a program's remote buffers are, and that streaming memory holds them.
#pragma once

#include "models/program/program.h"

#include <string>
#include <vector>

namespace tessera::program {

/// Bytes of each buffer. `capacity` is that of the streaming memory of `machine`, for all buffers
/// in it together. @throws DoesNotFit; ProgramError for a buffer without rows or with rows that are
/// not whole words
[[nodiscard]] std::vector<Bytes> remote_sizes(const std::vector<RemoteBuffer>& buffers,
                                              Bytes capacity, const std::string& machine);

} // namespace tessera::program
