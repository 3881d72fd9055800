// SPDX-License-Identifier: MIT
// What kinds of workloads say of operands in the same way.
#pragma once

#include "base/config/describe.h"
#include "base/config/shape.h"
#include "kernels/workload/operand_spec.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tessera::catalog {

inline constexpr std::int64_t kLongestDimension = 1'000'000;

/// `text` stands at the JSON pointer `key`.
[[nodiscard]] workload::ValuesSpec values_of(const std::string& text, std::string key);
[[nodiscard]] std::string values_text(const workload::ValuesSpec& values);

/// {"generator": ..., "density": ..., "seed": ...}.
[[nodiscard]] std::shared_ptr<const config::Shape> generator_shape();

/// {"file": ..., "values": ...} or a generator.
[[nodiscard]] std::shared_ptr<const config::Shape> pattern_shape();
/// The same with a generator that goes by the values of the tensor that has the pattern.
[[nodiscard]] std::shared_ptr<const config::Shape> tensor_pattern_shape();

/// Describes the keys "mode", "capacity" and "excess" of a sparse operand.
template <class Struct> void describe_mode(config::Describe<Struct>& d) {
    constexpr const char* kSource = "docs/kernels.md";
    d.field("mode", &Struct::is_dynamic, {{"static", false}, {"dynamic", true}})
        .says(
            "static: the pattern is known when planning; dynamic: it comes when the program runs, "
            "of which planning knows a capacity")
        .from(kSource);
    d.field("capacity", &Struct::capacity)
        .range(0, 1)
        .used_with("mode", {"dynamic"})
        .zero_if_absent("as the pattern has")
        .says("dynamic: blocks that there is room for, over all blocks")
        .from(kSource);
    d.field("excess", &Struct::excess)
        .range(0, 100)
        .used_with("mode", {"dynamic"})
        .says("dynamic: room of a tile beyond its even share")
        .from(kSource);
}

} // namespace tessera::catalog
