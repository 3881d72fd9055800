// SPDX-License-Identifier: MIT
// A schedule (schedule.h) as a JSON file, and the tensors of a checkpoint whose patterns change by
// it: the keys of the schedule and `param_name_patterns` (tensor_names.h), an expression or a list
// of them.
#pragma once

#include "base/config/document.h"
#include "kernels/pattern/schedule.h"
#include "kernels/pattern/tensor_names.h"
#include "kernels/workload/safetensors.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tessera::pattern {

class ScheduleFile {
public:
    /// @throws ConfigError with all mistakes of the file; IoError if it cannot be read
    explicit ScheduleFile(const std::string& path);

    [[nodiscard]] const Schedule& schedule() const { return schedule_; }
    /// Of each tensor whether it is named; `checkpoint` is the file that has them.
    /// @throws ConfigError where an expression matches no tensor, with the nearest name, where a
    /// tensor is named that is no matrix or has a type without marks, and where none is named
    [[nodiscard]] std::vector<bool> named(const std::vector<workload::TensorHead>& tensors,
                                          const std::string& checkpoint) const;

private:
    [[nodiscard]] const NamePattern* pattern_of(const workload::TensorHead& tensor) const;

    config::Document document_;
    Schedule schedule_;
    std::optional<std::vector<NamePattern>> names_;
};

/// What configs/schemas/schedule.schema.json holds.
[[nodiscard]] nlohmann::json schedule_schema();

} // namespace tessera::pattern
