// SPDX-License-Identifier: MIT
// Which micro-workload stands for which kind of reference row: one list a subject, looked through in
// order, first match wins.
#pragma once

#include "models/spec/machine_spec.h"
#include "sim/calibrate/measurement.h"
#include "sim/calibrate/reading.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera::sim::calibrate {

/// A row's machine as a run takes it, and as mappings look at it.
struct RowMachine {
    std::string name;
    std::vector<std::string> sets;
    spec::MachineSpec spec;
};

/// Words that a column must hold, capitals apart.
struct Says {
    const char* column;
    std::vector<std::string> words;
};

struct Rule {
    const char* group;
    std::vector<Says> row; ///< all must hold
    std::function<Mapped(const ReferenceRow&, const RowMachine&)> measure;
};

[[nodiscard]] const std::vector<Rule>& exchange_rules();
[[nodiscard]] const std::vector<Rule>& memory_rules();
[[nodiscard]] const std::vector<Rule>& reduction_rules();
[[nodiscard]] const std::vector<Rule>& stencil_rules();
[[nodiscard]] const std::vector<Rule>& streaming_rules();

/// A workload file of a kind with the given keys.
[[nodiscard]] nlohmann::json workload_of(const char* kind, nlohmann::json keys);

/// A time: cycles of one run, over `repetitions`.
[[nodiscard]] Measurement measure_time(const ReferenceRow& row, const RowMachine& machine,
                                       nlohmann::json workload, Timed timed,
                                       double repetitions = 1);

/// A rate: `amount` (bytes or flops, of all repetitions) over the time of one run.
[[nodiscard]] Measurement measure_rate(const ReferenceRow& row, const RowMachine& machine,
                                       nlohmann::json workload, Timed timed, double amount);

/// The count in a column. @throws ConfigError where the cell is empty
[[nodiscard]] std::int64_t needed(const ReferenceRow& row, const std::string& column);

} // namespace tessera::sim::calibrate
