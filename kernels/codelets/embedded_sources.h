// SPDX-License-Identifier: MIT
// The assembly texts of this folder, as they stand in the binary.
#pragma once

#include "models/isa/assembler.h"

#include <vector>

namespace tessera::codelets {

/// Every source (`copy.S`, `matmul_amp_f16.S`, ...) and what these include (`matmul_amp.S`,
/// `worker_share.inc`, ...). A source is assembled with all of them as AssemblyOptions::embedded.
[[nodiscard]] const std::vector<isa::SourceFile>& embedded_sources();

} // namespace tessera::codelets
