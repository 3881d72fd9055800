// SPDX-License-Identifier: MIT
// Walks a control program: the compute sets, exchanges and syncs in the order in which they run.
#pragma once

#include "models/program/program.h"

#include <cstdint>
#include <vector>

namespace tessera::ipu {

class ControlCursor {
public:
    /// `root` outlives the cursor.
    explicit ControlCursor(const program::Step& root);

    /// The next step that does something, or null at the end.
    [[nodiscard]] const program::Step* next();

private:
    struct Level {
        const program::Step* step;
        std::size_t child;
        std::uint32_t rounds_left;
    };
    void enter(const program::Step& step);

    const program::Step* root_;
    std::vector<Level> levels_;
};

/// Steps that next() will return in all.
[[nodiscard]] std::int64_t executed_steps(const program::Step& root);

} // namespace tessera::ipu
