// SPDX-License-Identifier: MIT
// The words of a recording's format, for those who write it and those who read it.
#pragma once

#include "sim/result/result_file.h"

#include <cstddef>
#include <string_view>

namespace tessera::recording {

inline constexpr std::string_view kMagic = "TSRECORD";
inline constexpr int kSchemaVersion = 2;
inline constexpr const char* kU32 = "u32";
inline constexpr const char* kF64 = "f64";
/// Pairs of tiles are told by blocks: so many of them, or a block a tile on smaller chips.
inline constexpr std::size_t kMostBlocks = 46;
/// What a folder of `--out` calls it.
inline constexpr const char* kFile = result::kRecordingFile;

} // namespace tessera::recording
