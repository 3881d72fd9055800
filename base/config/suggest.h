// SPDX-License-Identifier: MIT
// The nearest valid name to one that is unknown.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::config {

/// Least number of letters inserted, deleted, replaced or swapped with their neighbour that turns
/// `a` into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The edit distance of two names, capitals apart, if one may be meant by the other: it is at most a
/// third of the longer name, rounded up where both begin with the same letter, else down, but 1 at
/// least. Names of one letter are near to nothing, and so are names beyond 200.
[[nodiscard]] std::optional<std::size_t> near_distance(std::string_view name,
                                                       std::string_view candidate);

/// The near candidate with the least distance; otherwise empty. Ties go to the earlier candidate.
[[nodiscard]] std::string nearest_name(std::string_view name,
                                       const std::vector<std::string>& candidates);

/// "did you mean 'x'?", or empty where nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       const std::vector<std::string>& candidates);

} // namespace tessera::config
