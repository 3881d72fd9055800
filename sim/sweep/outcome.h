// SPDX-License-Identifier: MIT
// What came of a sweep's points: why those that are not ok are not.
#pragma once

#include "sim/sweep/point_key.h"
#include "sim/sweep/reasons.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <unordered_set>

namespace tessera::sweep {

class Outcome {
public:
    /// The line of a point that has run.
    void add(const nlohmann::json& record);
    /// Points that are not ok, as a store has them.
    void add_known(const std::filesystem::path& store,
                   const std::unordered_set<PointKey, PointKey::Hash>& points);

    [[nodiscard]] const Reasons& not_ok() const { return not_ok_; }
    /// Those whose answer is wrong.
    [[nodiscard]] const Reasons& wrong() const { return wrong_; }

private:
    Reasons not_ok_;
    Reasons wrong_;
};

} // namespace tessera::sweep
