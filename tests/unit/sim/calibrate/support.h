// SPDX-License-Identifier: MIT
// Rows of reference tables, what they are mapped to, and as much of a result as readings look at.
#pragma once

#include "base/error.h"
#include "sim/calibrate/measurement.h"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::test {

using calibrate::Measurement;
using calibrate::ReferenceRow;

inline const std::vector<std::string> kMachines{"bow", "c600", "gc2", "gc200", "tiny"};

/// A row with these columns; those that every row needs have values of their own.
inline ReferenceRow row_of(const std::vector<std::pair<std::string, std::string>>& columns) {
    std::string heading;
    std::string cells;
    const auto add = [&](const std::string& name, const std::string& cell) {
        heading += (heading.empty() ? "" : ",") + name;
        cells += (cells.empty() ? "" : ",") + calibrate::csv_cell(cell);
    };
    const std::vector<std::pair<std::string, std::string>> needed{
        {"id", "unseen"},      {"machine", "GC2"}, {"workload", "none"},
        {"metric", "latency"}, {"value", "1"},     {"unit", "cycles"}};
    for (const auto& [name, usual] : needed) {
        const std::string* cell = &usual;
        for (const auto& [given, value] : columns) {
            cell = given == name ? &value : cell;
        }
        add(name, *cell);
    }
    for (const auto& [name, value] : columns) {
        if (("," + heading + ",").find("," + name + ",") == std::string::npos) {
            add(name, value);
        }
    }
    calibrate::Reference reference;
    add_rows(reference, calibrate::parse_csv(heading + "\n" + cells + "\n", "rows.csv"));
    return reference.rows.front();
}

/// A row of one chip's exchange.
inline ReferenceRow exchange_row(const std::string& workload, const std::string& tiles,
                                 const std::string& bytes, const std::string& metric,
                                 const std::string& value = "1", const std::string& unit = "us",
                                 const std::string& machine = "GC2 (1216 tiles, 1.6 GHz)") {
    calibrate::Reference reference;
    add_rows(reference, calibrate::parse_csv(
                            "id,machine,workload,table,topology,ipus,tiles,msg_bytes,metric,value,"
                            "unit\nunseen,\"" +
                                machine + "\",\"" + workload + "\",4.x,on-chip,1," + tiles + "," +
                                bytes + "," + metric + "," + value + "," + unit + "\n",
                            "rows.csv"));
    return reference.rows.front();
}

inline Measurement measured(const ReferenceRow& row) {
    return std::get<Measurement>(measurement_of(row, kMachines));
}

/// Why nothing stands for the row.
inline std::string reason(const ReferenceRow& row) {
    return std::get<calibrate::NotCovered>(measurement_of(row, kMachines)).reason;
}

inline std::string refusal(const ReferenceRow& row) {
    try {
        static_cast<void>(measurement_of(row, kMachines));
    } catch (const ConfigError& error) {
        return error.diagnostics().front().text();
    }
    return "accepted";
}

inline constexpr double kPrologue = 30;
inline constexpr double kOwnPart = 70;

/// As much of a result as readings look at: an exchange of `cycles`, half of them again for sync.
inline nlohmann::json result_of(double cycles, double clock_hz) {
    using nlohmann::json;
    return {{"cycles", 1.5 * cycles},
            {"phases", {{"exchange", cycles}, {"sync", cycles / 2}}},
            {"machine",
             {{"chip", {{"clock_hz", clock_hz}}}, {"exchange", {{"prologue_cycles", kPrologue}}}}},
            {"compute_sets",
             json::array({{{"name", "own part"}, {"role", "rearrange"}, {"cycles", kOwnPart}}})},
            {"exchanges",
             json::array({{{"name", "halo"}, {"role", "bring"}, {"cycles", cycles / 4}}})}};
}

/// What the exchange tables' measuring program adds: the figure of an exchange of no cycles.
inline double fixed_cycles() {
    const auto row = exchange_row("broadcast one word", "7", "4", "latency", "1", "cycles");
    return measured(row).read({result_of(0, 1e9)});
}

} // namespace tessera::test
