// SPDX-License-Identifier: MIT
#include "sim/calibrate/measurement.h"

#include "base/config/paths.h"
#include "models/spec/load.h"
#include "sim/calibrate/machine_text.h"
#include "sim/calibrate/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tessera::sim::calibrate {
namespace {

using nlohmann::json;

bool matches(const Rule& rule, const ReferenceRow& row) {
    return std::all_of(rule.row.begin(), rule.row.end(),
                       [&](const Says& says) { return row.says(says.column, says.words); });
}

const Rule* rule_of(const ReferenceRow& row) {
    for (const auto* rules : {&exchange_rules(), &memory_rules(), &reduction_rules(),
                              &stencil_rules(), &streaming_rules()}) {
        for (const Rule& rule : *rules) {
            if (matches(rule, row)) {
                return &rule;
            }
        }
    }
    return nullptr;
}

RowMachine loaded(const NamedMachine& named) {
    return {named.name, named.sets,
            spec::load_machine(named.name, config::default_config_paths(), named.sets).spec};
}

} // namespace

std::string Run::key() const {
    return fmt::format("{} {} {}", machine, fmt::join(machine_sets, " "), workload.dump());
}

json workload_of(const char* kind, json keys) {
    keys["schema_version"] = 1;
    keys["kind"] = kind;
    return keys;
}

Measurement measure_time(const ReferenceRow& row, const RowMachine& machine, json workload,
                         Timed timed, double repetitions) {
    Measurement measurement;
    measurement.timed = timed.text();
    measurement.runs = {{machine.name, machine.sets, std::move(workload)}};
    static_cast<void>(time_in_unit(row, 1, 1)); // a wrong unit is told before the run
    measurement.read = [row, timed = std::move(timed),
                        repetitions](const std::vector<json>& results) {
        return time_in_unit(row, cycles_of(results[0], timed) / repetitions, clock_of(results[0]));
    };
    return measurement;
}

Measurement measure_rate(const ReferenceRow& row, const RowMachine& machine, json workload,
                         Timed timed, double amount) {
    const double unit = unit_in(row, row.says("metric", {"flop"}) ? "flop/s" : "B/s");
    Measurement measurement;
    measurement.timed = timed.text();
    measurement.runs = {{machine.name, machine.sets, std::move(workload)}};
    measurement.read = [unit, amount, timed = std::move(timed)](const std::vector<json>& results) {
        return amount * clock_of(results[0]) / cycles_of(results[0], timed) / unit;
    };
    return measurement;
}

std::int64_t needed(const ReferenceRow& row, const std::string& column) {
    const auto count = row.count(column);
    if (!count) {
        throw row.error(column, fmt::format("column '{}': expected a whole number", column));
    }
    return *count;
}

Mapped measurement_of(const ReferenceRow& row, const std::vector<std::string>& machines) {
    const auto named = machine_of(row, machines);
    if (const auto* refused = std::get_if<NotCovered>(&named)) {
        return *refused;
    }
    const Rule* rule = rule_of(row);
    if (rule == nullptr) {
        return NotCovered{fmt::format("no micro-workload for '{}', {}", row.text("workload"),
                                      row.text("metric"))};
    }
    Mapped mapped = rule->measure(row, loaded(std::get<NamedMachine>(named)));
    if (auto* measurement = std::get_if<Measurement>(&mapped)) {
        static_cast<void>(row.value()); // what is no figure is told before the run
        measurement->group = rule->group;
    }
    return mapped;
}

} // namespace tessera::sim::calibrate
