// SPDX-License-Identifier: MIT
// Collects the mistakes of all sources, so that one run of the assembler shows them all.
#pragma once

#include "base/error.h"
#include "models/isa/assembler/position.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::isa::assembly {

struct SourceMap;

class Diagnostics {
public:
    /// `map` outlives the diagnostics.
    explicit Diagnostics(const SourceMap& map) : map_(map) {}

    /// Beyond kMaxShown mistakes are only counted.
    void add(const Origin& origin, std::string message, std::string hint = {});
    void add(Position at, std::string message, std::string hint = {}) {
        add(Origin{at}, std::move(message), std::move(hint));
    }
    [[nodiscard]] bool empty() const { return found_.empty(); }

    /// Something to look at that stops nothing.
    void warn(const Origin& origin, std::string message);
    /// As `file:line:column: message`, in the order in which they were found.
    [[nodiscard]] std::vector<std::string> warnings() const;

    /// "did you mean 'x'?", or empty when no candidate is near. Gives up after a fixed amount of
    /// work in total, so that a source full of mistakes still ends soon.
    [[nodiscard]] std::string nearest(std::string_view name,
                                      std::span<const std::string_view> candidates);

    /// @throws ConfigError with all mistakes in source order, if there are any; each with the way
    /// through macros and includes, a line a step, behind it.
    void throw_if_any();

    static constexpr std::size_t kMaxShown = kMostMistakesTold;

private:
    struct Found {
        Origin origin;
        std::string message;
        std::string hint;
    };
    [[nodiscard]] Diagnostic shown(const Found& found) const;
    [[nodiscard]] std::string trail_text(std::uint32_t trail) const;

    const SourceMap& map_;
    std::vector<Found> found_;
    std::vector<Found> warnings_;
    std::size_t not_shown_ = 0;
    std::size_t comparisons_left_ = 200000;
};

} // namespace tessera::isa::assembly
