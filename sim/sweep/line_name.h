// SPDX-License-Identifier: MIT
// What a line of a sweep is called. A point is known by its content (point_key.h) and runs once. A
// line is known by its name: the machine, the workload, the mode and the settings as the sweep writes
// them. Several lines may have the content of one point, and, after a file was changed, one name may
// have stood for several contents.
#pragma once

#include "sim/sweep/point_key.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::sweep {

/// A number, word or truth, or the text of a list; nothing where there is none.
using Value = std::optional<std::variant<double, std::string>>;
[[nodiscard]] Value value_of(const nlohmann::json& json);
[[nodiscard]] std::string value_text(const Value& value);
/// "[1, 2, a]".
[[nodiscard]] std::string list_text(const std::vector<Value>& values);

/// Values by their paths, in any order.
using Settings = std::vector<std::pair<std::string, Value>>;

/// Enough of the SHA-256 of a name that no two lines of a store have the same.
using LineName = std::uint64_t;
[[nodiscard]] LineName line_name(const std::string& machine, const std::string& workload,
                                 const std::string& mode, Settings settings);

/// A line of a store: one name with one content.
struct LineId {
    PointKey point;
    LineName name = 0;
    friend bool operator==(const LineId&, const LineId&) = default;

    struct Hash {
        std::size_t operator()(const LineId& id) const {
            return PointKey::Hash{}(id.point) ^ id.name;
        }
    };
};

} // namespace tessera::sweep
