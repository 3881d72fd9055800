// SPDX-License-Identifier: MIT
#include "sim/calibrate/measurement.h"

#include "base/config/paths.h"
#include "models/machine_file/load.h"
#include "sim/calibrate/machine_text.h"
#include "sim/calibrate/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tessera::calibrate {
namespace {

using nlohmann::json;

bool matches(const Rule& rule, const ReferenceRow& row) {
    return std::all_of(rule.row.begin(), rule.row.end(),
                       [&](const Says& says) { return row.says(says.column, says.words); });
}

template <class Visit> void for_each_rule(const Visit& visit) {
    for (const auto* rules : {&link_rules(), &exchange_rules(), &memory_rules(), &reduction_rules(),
                              &stencil_rules(), &attention_rules(), &recall_rules(),
                              &streaming_rules(), &product_rules(), &convolution_rules()}) {
        std::for_each(rules->begin(), rules->end(), visit);
    }
}

const Rule* rule_of(const ReferenceRow& row) {
    const Rule* first = nullptr;
    for_each_rule(
        [&](const Rule& rule) { first = first == nullptr && matches(rule, row) ? &rule : first; });
    return first;
}

/// What is wrong with the numbers of the row's machine is told at its cell.
RowMachine loaded(const ReferenceRow& row, const NamedMachine& named) {
    try {
        return {named.name, named.sets,
                machine_file::load(named.name, config::default_config_paths(), named.sets).spec};
    } catch (const ConfigError& error) {
        std::vector<Diagnostic> mistakes;
        for (const Diagnostic& mistake : error.diagnostics()) {
            const bool of_row = mistake.file == "--set";
            mistakes.push_back(
                of_row
                    ? row.error("machine", fmt::format("{}: {}", mistake.pointer, mistake.message),
                                mistake.hint)
                          .diagnostics()
                          .front()
                    : mistake);
        }
        throw ConfigError(std::move(mistakes));
    }
}

/// Of the rules that all but the row's metric fits, the metrics.
std::string metrics_hint(const ReferenceRow& row) {
    std::vector<std::string> metrics;
    for_each_rule([&](const Rule& rule) {
        std::string metric;
        const bool fits = std::all_of(rule.row.begin(), rule.row.end(), [&](const Says& says) {
            const bool is_metric = says.column == std::string("metric");
            metric = is_metric ? fmt::format("{}", fmt::join(says.words, " ")) : metric;
            return is_metric || row.says(says.column, says.words);
        });
        if (fits && !metric.empty() &&
            std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) {
            metrics.push_back(metric);
        }
    });
    return metrics.empty() ? "" : fmt::format("; metrics: {}", fmt::join(metrics, ", "));
}

} // namespace

std::string Run::key() const {
    return fmt::format("{} {} {} {} {} {}", machine, fmt::join(machine_sets, " "), workload.dump(),
                       mode, vertex, fmt::join(parameters, " "));
}

bool Run::draws() const {
    const json* const pattern =
        workload.is_object() && workload.contains("pattern") ? &workload["pattern"] : nullptr;
    return pattern != nullptr && pattern->contains("seed");
}

Run Run::with_seed(int seed) const {
    Run other = *this;
    other.workload.at("pattern").at("seed") = seed;
    return other;
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

std::int64_t needed_product(const ReferenceRow& row, const std::vector<std::string>& columns) {
    constexpr double kLargest = 1e15;
    double exact = 1;
    for (const auto& column : columns) {
        exact *= static_cast<double>(needed(row, column));
        if (exact > kLargest) {
            throw row.error(column, fmt::format("got a product of {} above {}",
                                                fmt::join(columns, ", "), kLargest));
        }
    }
    return static_cast<std::int64_t>(exact);
}

std::int64_t needed_tiles(const ReferenceRow& row, const RowMachine& machine) {
    const std::int64_t tiles = needed(row, "tiles");
    if (tiles > machine.spec.chip.tiles) {
        throw row.error("tiles", fmt::format("got {} tiles, expected 1..{} (the row's machine)",
                                             tiles, machine.spec.chip.tiles));
    }
    return tiles;
}

std::int64_t whole_words(std::int64_t bytes) {
    constexpr std::int64_t kWord = 4;
    return (bytes + kWord - 1) / kWord * kWord;
}

void assume(Measurement& measurement, const std::string& what) {
    measurement.assumed += (measurement.assumed.empty() ? "" : ", ") + what;
}

void assume_words(Measurement& measurement, std::int64_t bytes) {
    if (bytes != whole_words(bytes)) {
        assume(measurement,
               fmt::format("messages of {} B move as {} B", bytes, whole_words(bytes)));
    }
}

bool is_time(const ReferenceRow& row) {
    const auto says = [&](const char* word) { return row.says("metric", {word}); };
    return says("latency") || says("time") || says("duration");
}

Mapped measurement_of(const ReferenceRow& row, const std::vector<std::string>& machines) {
    const Rule* rule = rule_of(row);
    if (says_several_chips(row) && (rule == nullptr || !rule->of_several_chips)) {
        return NotCovered{"more than one chip", rule == nullptr ? "" : rule->group};
    }
    const auto named = machine_of(row, machines);
    if (const auto* refused = std::get_if<NotCovered>(&named)) {
        return NotCovered{refused->reason, rule == nullptr ? "" : rule->group};
    }
    if (rule == nullptr) {
        return NotCovered{fmt::format("no micro-workload for '{}', {}{}", row.text("workload"),
                                      row.text("metric"), metrics_hint(row))};
    }
    Mapped mapped = rule->measure(row, loaded(row, std::get<NamedMachine>(named)));
    if (auto* measurement = std::get_if<Measurement>(&mapped)) {
        static_cast<void>(row.value()); // what is no figure is told before the run
        measurement->group = measurement->group.empty() ? rule->group : measurement->group;
        if (const std::string chosen = row.text("assumed"); !chosen.empty()) {
            assume(*measurement, chosen);
        }
    } else {
        std::get<NotCovered>(mapped).group = rule->group;
    }
    return mapped;
}

} // namespace tessera::calibrate
