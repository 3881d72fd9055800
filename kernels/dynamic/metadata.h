// SPDX-License-Identifier: MIT
// The words of a bucket. Format: layout.h.
#pragma once

#include "kernels/dynamic/deal.h"
#include "kernels/dynamic/layout.h"

#include <cstdint>
#include <span>

namespace tessera::dynamic {

/// Writes what a bucket holds into its words, which are zero. Runs are brought into the order of rows,
/// which is that of the bucket's values.
void write_bucket(const Layout& layout, Holding& holding, const std::vector<DealtBlock>& blocks,
                  std::span<std::uint16_t> words);

} // namespace tessera::dynamic
