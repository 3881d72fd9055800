// SPDX-License-Identifier: MIT
#include "models/isa/assembler/diagnostics.h"

#include "models/isa/assembler/source_text.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

namespace tessera::isa::assembly {
namespace {

constexpr std::size_t kMaxNameLength = 63;
constexpr std::size_t kMaxTrailShown = 8;

bool is_same_place(const Position& a, const Position& b) {
    return a.file == b.file && a.line == b.line && a.column == b.column;
}

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

void Diagnostics::add(const Origin& origin, std::string message, std::string hint) {
    if (found_.size() >= kMaxShown) {
        ++not_shown_;
        return;
    }
    // A mistake in the body of a macro or a repetition comes again with each expansion.
    for (const Found& found : found_) {
        if (is_same_place(found.origin.at, origin.at) && found.message == message) {
            return;
        }
    }
    found_.push_back({origin, std::move(message), std::move(hint)});
}

void Diagnostics::warn(const Origin& origin, std::string message) {
    if (warnings_.size() < kMaxShown) {
        warnings_.push_back({origin, std::move(message), {}});
    }
}

std::vector<std::string> Diagnostics::warnings() const {
    std::vector<std::string> texts;
    for (const Found& found : warnings_) {
        texts.push_back(shown(found).text());
    }
    return texts;
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

std::string Diagnostics::trail_text(std::uint32_t trail) const {
    std::string text;
    std::size_t steps = 0;
    while (trail != 0) {
        const Trail& step = map_.trails[trail];
        if (++steps > kMaxTrailShown && step.parent != 0) {
            text += steps == kMaxTrailShown + 1 ? "\n  ..." : "";
        } else {
            text += "\n  " + map_.files[step.at.file] + ":" + std::to_string(step.at.line) + ":" +
                    std::to_string(step.at.column) + ": " + step.what;
        }
        trail = step.parent;
    }
    return text;
}

Diagnostic Diagnostics::shown(const Found& found) const {
    Diagnostic diagnostic{map_.files[found.origin.at.file],
                          static_cast<int>(found.origin.at.line),
                          static_cast<int>(found.origin.at.column),
                          "",
                          found.message,
                          found.hint};
    // Behind everything that is shown of the mistake.
    (found.hint.empty() ? diagnostic.message : diagnostic.hint) += trail_text(found.origin.trail);
    return diagnostic;
}

void Diagnostics::throw_if_any() {
    if (found_.empty()) {
        return;
    }
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
        return std::tie(a.origin.at.file, a.origin.at.line, a.origin.at.column) <
               std::tie(b.origin.at.file, b.origin.at.line, b.origin.at.column);
    });
    std::vector<Diagnostic> list;
    for (const Found& found : found_) {
        list.push_back(shown(found));
    }
    if (not_shown_ != 0) {
        list.push_back({list.back().file, 0, 0, "",
                        "and " + std::to_string(not_shown_) + " more mistakes", ""});
    }
    throw ConfigError(std::move(list));
}

} // namespace tessera::isa::assembly
