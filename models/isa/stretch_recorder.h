// SPDX-License-Identifier: MIT
// Makes a StretchRecipe of a worker while it runs in timing mode: every main register's value is
// followed as a sum of what the worker found. Where a sum does not say what happens (a condition, a
// bit-wise operation, a repeat count), what it is made of has to be the same the next time.
#pragma once

#include "models/isa/stretch_recipe.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tessera::isa {

struct RecordedStretch {
    const MicroOperation* next = nullptr; ///< where the next stretch begins; null behind an exit
    /// Null where no recipe says what happened: by instructions or addresses that sums do not follow.
    std::unique_ptr<const StretchRecipe> recipe;
    std::uint32_t instructions = 0; ///< that the shadow engine carries out for the stretch, about
    std::size_t sums = 0;           ///< that it takes to apply the recipe, about
};

/// Runs a stretch of a worker from its first operation as the shadow engine does, with every pass of
/// every repeat. @throws ExecutionFault
[[nodiscard]] RecordedStretch record_stretch(Context& worker, const MicroOperation* first);

} // namespace tessera::isa
