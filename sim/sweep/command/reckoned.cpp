// SPDX-License-Identifier: MIT
#include "sim/sweep/command/reckoned.h"

#include "base/error.h"
#include "kernels/catalog/load.h"
#include "models/machine_file/load.h"
#include "sim/cost/activity.h"
#include "sim/result/cost_tables.h"
#include "sim/sweep/command/result_paths.h"
#include "sim/sweep/frozen.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace tessera::sweep {
namespace {

using Json = nlohmann::json;

/// Adds to a table those parameters among `paths` that its points do not change. Their values are read
/// from the files that the store has frozen.
void fill_parameters(PointTable& table, const std::vector<std::string>& paths,
                     const std::filesystem::path& store, const config::ConfigPaths& configs) {
    const FrozenNames frozen(store);
    std::map<std::pair<std::string, Called>, Json> loaded;
    const auto load = [&](const char* kind, const Called& called) -> const Json& {
        const auto [known, is_new] = loaded.try_emplace({kind, called});
        const auto file = frozen.find(kind, called.written, called.content);
        if (is_new && file) {
            known->second = kind == kMachinePath ? machine_file::load(*file, configs).resolved
                                                 : catalog::load_workload(*file, configs).resolved;
        }
        return known->second;
    };
    for (const std::string& path : paths) {
        if (!is_parameter(path) || is_result_path(path)) {
            continue;
        }
        const bool of_workload = path.starts_with(catalog::kSetPrefix);
        const std::size_t column = of_workload ? PointTable::kWorkload : PointTable::kMachine;
        std::string pointer =
            "/" + path.substr(of_workload ? std::string(catalog::kSetPrefix).size() : 0);
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        const Json::json_pointer at(pointer);
        for (std::size_t row = 0; row < table.rows(); ++row) {
            const Json& config =
                load(of_workload ? kWorkloadPath : kMachinePath, table.called(row, column));
            if (config.is_object() && config.contains(at)) {
                table.set(row, path, config.at(at));
            }
        }
    }
}

bool is_of(const std::string& path, const char* part) {
    return path.starts_with(part) && is_result_path(path);
}

bool is_energy(const std::string& path) {
    return is_of(path, "energy.");
}

bool is_area(const std::string& path) {
    return is_of(path, "area.");
}

/// Machine parameters that energy and area hang on.
const std::vector<std::string>& cost_parameters() {
    static const std::vector<std::string> paths = [] {
        std::vector<std::string> all{"amp.steps_per_issue",  "chip.clock_hz",
                                     "chip.generation",      "chip.tiles",
                                     "exchange.fabric",      "exchange.lane_bytes",
                                     "memory.region0_bytes", "memory.region1_bytes",
                                     "system.chips",         "tile.workers"};
        for (const char* part : {"energy", "area"}) {
            const config::Field* const field = spec::machine_shape().find(part);
            for (const config::Parameter& one :
                 config::parameters(*field->shape, std::string(part) + ".")) {
                all.push_back(one.path);
            }
        }
        return all;
    }();
    return paths;
}

/// Reads those of a row into a machine.
class Machines {
public:
    explicit Machines(const PointTable& table) : table_(table) {
        for (const std::string& path : cost_parameters()) {
            const auto column = table.column(path);
            TESSERA_ASSERT(column.has_value());
            const std::size_t dot = path.find('.');
            const config::Field* const object = spec::machine_shape().find(path.substr(0, dot));
            readers_.push_back({*column, object->enter,
                                object->shape->find(path.substr(dot + 1))->assign,
                                object->shape->find(path.substr(dot + 1))->type});
        }
    }

    /// Nothing where the store does not say what the machine is.
    [[nodiscard]] std::optional<spec::MachineSpec> machine_of(std::size_t row) const {
        spec::MachineSpec machine;
        for (const Reader& reader : readers_) {
            const Cell cell = table_.value(row, reader.column);
            if (cell.kind == Cell::Kind::Nothing) {
                return std::nullopt;
            }
            reader.assign(reader.enter(&machine), reader.type == config::FieldType::Integer
                                                      ? Json(static_cast<std::int64_t>(cell.number))
                                                  : cell.is_number() ? Json(cell.number)
                                                                     : Json(table_.text(cell)));
        }
        return machine;
    }

private:
    struct Reader {
        std::size_t column = 0;
        std::function<void*(void*)> enter;
        std::function<void(void*, const Json&)> assign;
        config::FieldType type = config::FieldType::Integer;
    };
    const PointTable& table_;
    std::vector<Reader> readers_;
};

std::optional<double> number_at(const PointTable& table, std::size_t row, const std::string& path) {
    const auto column = table.column(path);
    const Cell cell = column ? table.value(row, *column) : Cell{};
    return cell.is_number() ? std::optional(cell.number) : std::nullopt;
}

std::string activity_path(const cost::Amount& amount) {
    return std::string("activity.") + amount.key;
}

/// Nothing for an estimate, and for points of versions that did not tell.
std::optional<cost::Activity> activity_of(const PointTable& table, std::size_t row) {
    cost::Activity activity;
    for (const cost::Amount& amount : cost::kAmounts) {
        const auto number = number_at(table, row, activity_path(amount));
        if (!number) {
            return std::nullopt;
        }
        activity.*amount.value = static_cast<std::int64_t>(*number);
    }
    return activity;
}

/// Sets those of `paths` that begin with "`part`." and have a value among `values`.
void set_values(PointTable& table, std::size_t row, const std::vector<std::string>& paths,
                const std::string& part, const Json& values) {
    for (const std::string& path : paths) {
        if (path.starts_with(part + ".") && is_result_path(path)) {
            std::string pointer = path.substr(part.size());
            std::replace(pointer.begin(), pointer.end(), '.', '/');
            const Json::json_pointer at(pointer);
            if (values.contains(at)) {
                table.set(row, path, values.at(at));
            }
        }
    }
}

void fill_costs(PointTable& table, const std::vector<std::string>& paths) {
    const bool energy = std::any_of(paths.begin(), paths.end(), is_energy);
    const bool area = std::any_of(paths.begin(), paths.end(), is_area);
    if (!energy && !area) {
        return;
    }
    const Machines machines(table);
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto machine = machines.machine_of(row);
        if (!machine || !table.is_ok(row)) {
            continue;
        }
        if (area) {
            set_values(table, row, paths, "area", result::area_values(*machine));
        }
        const auto activity = energy ? activity_of(table, row) : std::nullopt;
        const auto seconds = energy ? number_at(table, row, "seconds") : std::nullopt;
        if (activity && seconds) {
            set_values(table, row, paths, "energy",
                       result::energy_values(*activity, *seconds, number_at(table, row, "flops"),
                                             *machine));
        }
    }
}

} // namespace

std::vector<MetricColumn> metrics_of(const SweepSpec& sweep, const config::Document& document) {
    std::vector<MetricColumn> metrics;
    for (const Metric& metric : sweep.metrics) {
        metrics.push_back(
            {metric.name,
             PointFormula(metric.expression,
                          document.at_value(config::child_pointer("/metrics", metric.name), ""))});
    }
    return metrics;
}

std::vector<std::string> with_needs(std::vector<std::string> paths,
                                    const std::vector<MetricColumn>& metrics) {
    const auto add = [&](const std::string& path) {
        if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
            paths.push_back(path);
        }
    };
    for (auto metric = metrics.rbegin(); metric != metrics.rend(); ++metric) { // what each needs
        if (std::find(paths.begin(), paths.end(), metric->name) != paths.end()) {
            for (const std::string& name : metric->formula.names()) {
                add(name);
            }
        }
    }
    const bool energy = std::any_of(paths.begin(), paths.end(), is_energy);
    if (energy) {
        for (const cost::Amount& amount : cost::kAmounts) {
            add(activity_path(amount));
        }
        add("seconds");
        add("flops");
    }
    if (energy || std::any_of(paths.begin(), paths.end(), is_area)) {
        for (const std::string& path : cost_parameters()) {
            add(path);
        }
    }
    return paths;
}

void reckon(PointTable& table, const std::vector<std::string>& paths,
            std::vector<MetricColumn>& metrics, const std::filesystem::path& store,
            const config::ConfigPaths& configs) {
    fill_parameters(table, paths, store, configs);
    fill_costs(table, paths);
    for (MetricColumn& metric : metrics) {
        if (!table.column(metric.name)) {
            continue;
        }
        for (std::size_t row = 0; row < table.rows(); ++row) {
            const auto value = table.is_ok(row) ? metric.formula.value(table, row) : std::nullopt;
            if (value) {
                table.set(row, metric.name, *value);
            }
        }
    }
}

} // namespace tessera::sweep
