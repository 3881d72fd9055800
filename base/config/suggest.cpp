// SPDX-License-Identifier: MIT
#include "base/config/suggest.h"

#include <algorithm>
#include <cctype>

namespace tessera::config {
namespace {

std::string lower(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

} // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> now(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        last[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = std::min(now[j], before[j - 2] + 1);
            }
        }
        std::swap(before, last);
        std::swap(last, now);
    }
    return last[b.size()];
}

std::optional<std::size_t> near_distance(std::string_view name, std::string_view candidate) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    const std::size_t shorter = std::min(name.size(), candidate.size());
    // A name this long is no slip of the fingers, and the search is quadratic.
    constexpr std::size_t kLongestName = 200;
    if (longer > kLongestName) {
        return std::nullopt;
    }
    const std::string wanted = lower(name);
    const std::string known = lower(candidate);
    // The first letter is seldom mistyped.
    const bool begin_alike = shorter > 0 && wanted.front() == known.front();
    const std::size_t limit = longer < 2    ? 0
                              : begin_alike ? (longer + 2) / 3
                                            : std::max<std::size_t>(1, longer / 3);
    if (longer - shorter > limit) {
        return std::nullopt;
    }
    const std::size_t distance = edit_distance(wanted, known);
    return distance <= limit ? std::optional(distance) : std::nullopt;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
    std::string best;
    std::size_t best_distance = 0;
    for (const auto& candidate : candidates) {
        const auto distance = near_distance(name, candidate);
        if (distance && (best.empty() || *distance < best_distance)) {
            best = candidate;
            best_distance = *distance;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
    const std::string best = nearest_name(name, candidates);
    return best.empty() ? std::string{} : "did you mean '" + best + "'?";
}

} // namespace tessera::config
