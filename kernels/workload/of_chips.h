// SPDX-License-Identifier: MIT
// Which workloads are of several chips, and run on no machine of one.
#pragma once

#include "kernels/workload/workload.h"

#include <type_traits>
#include <variant>

namespace tessera::workload {

template <class Kind>
inline constexpr bool kIsOfChips =
    std::is_same_v<Kind, CollectiveWorkload> || std::is_same_v<Kind, LinkPatternWorkload>;

[[nodiscard]] inline bool is_of_chips(const Workload& workload) {
    return std::visit([](const auto& kind) { return kIsOfChips<std::decay_t<decltype(kind)>>; },
                      workload.kind);
}

} // namespace tessera::workload
