// SPDX-License-Identifier: MIT
// A store of a sweep as an entry of a page: its points as columns, and what `tessera sweep show`
// says of them.
#pragma once

#include "sim/report/page.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace tessera::report {

/// A page has all points of a store up to this number; else those that matter and a sample.
inline constexpr std::size_t kMostPoints = 20'000;
inline constexpr std::uint64_t kSampleSeed = 1;

/// The numbers of `kept` and a sample of the others, `most` in all (or all of `kept`), in their
/// order. Which ones are drawn depends only on `seed`.
[[nodiscard]] std::vector<std::size_t> sample(std::size_t count, std::size_t most,
                                              const std::vector<std::size_t>& kept,
                                              std::uint64_t seed);

/// @throws IoError, ConfigError as `tessera sweep show`
[[nodiscard]] Entry entry_of_store(const std::filesystem::path& folder);

} // namespace tessera::report
