// SPDX-License-Identifier: MIT
#include "models/isa/assembler/diagnostics.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

namespace tessera::isa::assembly {
namespace {

constexpr std::size_t kMaxNameLength = 63;

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::array<std::size_t, kMaxNameLength + 1> row{};
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0U : 1U);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row[b.size()];
}

} // namespace

Diagnostics::Diagnostics(std::vector<std::string> file_names)
    : file_names_(std::move(file_names)) {}

void Diagnostics::add(Position at, std::string message, std::string hint) {
    if (found_.size() >= kMaxShown) {
        ++not_shown_;
        return;
    }
    found_.push_back({at, std::move(message), std::move(hint)});
}

std::string Diagnostics::nearest(std::string_view name,
                                 std::span<const std::string_view> candidates) {
    if (found_.size() >= kMaxShown || name.size() > kMaxNameLength) {
        return {};
    }
    std::size_t best = name.size() <= 2 ? 2 : name.size() <= 5 ? 3 : 4;
    std::string_view chosen;
    for (const std::string_view candidate : candidates) {
        const std::size_t longer = std::max(candidate.size(), name.size());
        const std::size_t shorter = std::min(candidate.size(), name.size());
        if (candidate.size() > kMaxNameLength || longer - shorter >= best) {
            continue;
        }
        if (comparisons_left_ == 0) {
            return {};
        }
        --comparisons_left_;
        const std::size_t distance = edit_distance(name, candidate);
        if (distance < best) {
            best = distance;
            chosen = candidate;
        }
    }
    return chosen.empty() ? std::string{} : "did you mean '" + std::string(chosen) + "'?";
}

void Diagnostics::throw_if_any() {
    if (found_.empty()) {
        return;
    }
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
        return std::tie(a.at.file, a.at.line, a.at.column) <
               std::tie(b.at.file, b.at.line, b.at.column);
    });
    std::vector<Diagnostic> list;
    for (Found& found : found_) {
        list.push_back({file_names_[found.at.file], static_cast<int>(found.at.line),
                        static_cast<int>(found.at.column), "", std::move(found.message),
                        std::move(found.hint)});
    }
    if (not_shown_ != 0) {
        list.push_back({file_names_.back(), 0, 0, "",
                        "and " + std::to_string(not_shown_) + " more mistakes", ""});
    }
    throw ConfigError(std::move(list));
}

} // namespace tessera::isa::assembly
