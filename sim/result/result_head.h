// SPDX-License-Identifier: MIT
// What the results of runs and of estimates have in common: what was asked for, cycles and speed.
#pragma once

#include "kernels/job/job.h"
#include "models/spec/machine_spec.h"
#include "sim/result/result_table.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tessera::result {

struct HeadFacts {
    const spec::MachineSpec& machine;
    const nlohmann::json& machine_resolved;
    const nlohmann::json& unused_parameters;
    const std::string& workload_name;
    const nlohmann::json& workload_resolved;
    const job::Job& job;
    Cycles cycles = 0;
    const program::Program* program = nullptr; ///< null: an estimate has none
};

/// 0 of nothing.
[[nodiscard]] inline double ratio(double part, double whole) {
    return whole == 0 ? 0.0 : part / whole;
}

[[nodiscard]] double seconds(const HeadFacts& facts);

/// But for `cycles`, of which each says where they come from.
[[nodiscard]] Table<HeadFacts> head_table();

/// `own`, and what all results have; `head_of` makes it from the facts.
template <class Facts, class Head>
[[nodiscard]] Table<Facts> with_head(Table<Facts> own, const Head& head_of) {
    for (const auto& entry : head_table()) {
        own.push_back({entry, head_of});
    }
    return own;
}

} // namespace tessera::result
