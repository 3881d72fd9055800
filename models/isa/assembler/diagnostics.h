// SPDX-License-Identifier: MIT
// Collects the mistakes of all sources, so that one run of the assembler shows them all.
#pragma once

#include "base/error.h"
#include "models/isa/assembler/token.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::isa::assembly {

class Diagnostics {
public:
    explicit Diagnostics(std::vector<std::string> file_names);

    /// Beyond kMaxShown mistakes are only counted.
    void add(Position at, std::string message, std::string hint = {});
    [[nodiscard]] bool empty() const { return found_.empty(); }

    /// "did you mean 'x'?", or empty when no candidate is near. Gives up after a fixed amount of
    /// work in total, so that a source full of mistakes still ends soon.
    [[nodiscard]] std::string nearest(std::string_view name,
                                      std::span<const std::string_view> candidates);

    /// @throws ConfigError with all mistakes in source order, if there are any.
    void throw_if_any();

    static constexpr std::size_t kMaxShown = 100;

private:
    struct Found {
        Position at;
        std::string message;
        std::string hint;
    };
    std::vector<std::string> file_names_;
    std::vector<Found> found_;
    std::size_t not_shown_ = 0;
    std::size_t comparisons_left_ = 200000;
};

} // namespace tessera::isa::assembly
