// SPDX-License-Identifier: MIT
#include "models/isa/assembler/diagnostics.h"

#include "base/config/suggest.h"
#include "models/isa/assembler/source_text.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace tessera::isa::assembly {
namespace {

constexpr std::size_t kMaxNameLength = 63;
constexpr std::size_t kMaxTrailShown = 8;

bool is_same_place(const Position& a, const Position& b) {
    return a.file == b.file && a.line == b.line && a.column == b.column;
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
    std::optional<std::size_t> best;
    std::string_view chosen;
    for (const std::string_view candidate : candidates) {
        if (candidate.size() > kMaxNameLength) {
            continue;
        }
        if (comparisons_left_ == 0) {
            return {};
        }
        --comparisons_left_;
        const auto distance = config::near_distance(name, candidate);
        if (distance && (!best || *distance < *best)) {
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
