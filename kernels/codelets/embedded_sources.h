// SPDX-License-Identifier: MIT
// The assembly texts of this folder, as they stand in the binary.
#pragma once

#include "models/isa/assembler.h"

#include <vector>

namespace tessera::codelets {

/// Every source: `copy.S`, and the templates for both partial types (`matmul_amp_f16.S`,
/// `matmul_amp_f32.S`, ...).
[[nodiscard]] const std::vector<isa::SourceFile>& embedded_sources();

} // namespace tessera::codelets
