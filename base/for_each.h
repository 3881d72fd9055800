// SPDX-License-Identifier: MIT
// Work that is shared out over host threads by whoever has them.
#pragma once

#include <cstddef>
#include <functional>

namespace tessera {

/// Calls the body with 0 .. items - 1, in any order and on any threads; returns when all are done.
using ForEach =
    std::function<void(std::size_t items, const std::function<void(std::size_t item)>& body)>;

/// On this thread, in their order.
inline void one_after_another(std::size_t items, const std::function<void(std::size_t)>& body) {
    for (std::size_t item = 0; item < items; ++item) {
        body(item);
    }
}

} // namespace tessera
