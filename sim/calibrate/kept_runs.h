// SPDX-License-Identifier: MIT
// Results of runs that are kept in a store as they come, so that a calibration that was ended goes on
// where it was. The store is of the same form as a sweep's; neither takes the other's lines.
#pragma once

#include "sim/calibrate/measurement.h"
#include "sim/sweep/store.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::calibrate {

class KeptRuns {
public:
    /// What the store has of this version of the model. Runs that failed are not kept: they are
    /// tried again; runs of vertices are not kept either, as they take milliseconds. @throws IoError
    /// where the store cannot be read or written
    KeptRuns(const std::filesystem::path& folder, int model_version);

    /// The run's result; nothing where it is not kept.
    [[nodiscard]] std::optional<nlohmann::json> result_of(const Run& run) const;
    /// On disk when it returns. @throws IoError
    void keep(const Run& run, const nlohmann::json& result);

private:
    [[nodiscard]] sweep::PointKey key_of(const Run& run) const;
    [[nodiscard]] const std::string& machine_part(const Run& run) const;

    int model_version_;
    mutable std::map<std::vector<std::string>, std::string> machine_parts_; ///< by name and sets
    std::map<sweep::PointKey, std::string> results_;                        ///< as text
    sweep::StoreWriter writer_;
};

} // namespace tessera::calibrate
