// SPDX-License-Identifier: MIT
#include "sim/calibrate/reading.h"

#include "base/config/suggest.h"
#include "base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace tessera::calibrate {
namespace {

using nlohmann::json;

struct Unit {
    const char* base;
    double size;
};

const std::map<std::string, Unit>& units() {
    static const std::map<std::string, Unit> all{{"s", {"s", 1}},
                                                 {"ms", {"s", 1e-3}},
                                                 {"us", {"s", 1e-6}},
                                                 {"\u00b5s", {"s", 1e-6}},
                                                 {"ns", {"s", 1e-9}},
                                                 {"cycles", {"cycles", 1}},
                                                 {"B/s", {"B/s", 1}},
                                                 {"KiB/s", {"B/s", 1024}},
                                                 {"MiB/s", {"B/s", 1024.0 * 1024}},
                                                 {"GiB/s", {"B/s", 1024.0 * 1024 * 1024}},
                                                 {"kB/s", {"B/s", 1e3}},
                                                 {"MB/s", {"B/s", 1e6}},
                                                 {"GB/s", {"B/s", 1e9}},
                                                 {"TB/s", {"B/s", 1e12}},
                                                 {"B", {"B", 1}},
                                                 {"KiB", {"B", 1024}},
                                                 {"kB", {"B", 1e3}},
                                                 {"MiB", {"B", 1024.0 * 1024}},
                                                 {"%", {"1", 0.01}},
                                                 {"1", {"1", 1}},
                                                 {"x", {"1", 1}},
                                                 {"GFLOP/s", {"flop/s", 1e9}},
                                                 {"TFLOP/s", {"flop/s", 1e12}}};
    return all;
}

/// The row's unit. @throws ConfigError if it is one of none of the `bases`
Unit unit_among(const ReferenceRow& row, const std::vector<std::string>& bases) {
    std::vector<std::string> names;
    for (const auto& [name, unit] : units()) {
        if (std::find(bases.begin(), bases.end(), unit.base) != bases.end()) {
            if (name == row.text("unit")) {
                return unit;
            }
            names.push_back(name);
        }
    }
    throw row.error("unit",
                    fmt::format("got {}, expected one of {}", in_quotes(row.text("unit")),
                                fmt::join(names, ", ")),
                    config::did_you_mean(row.text("unit"), names));
}

double steps_cycles(const json& result, const StepsOf& steps) {
    double cycles = 0;
    std::size_t alike = 0;
    for (const json& step : result.value(steps.list, json::array())) {
        if (step.at("role") == program::word(steps.role) && alike++ % steps.turns == steps.turn) {
            cycles += step.at("cycles").get<double>();
        }
    }
    if (alike <= steps.turn) {
        throw IoError(fmt::format("the run has no {}: {} of role {}", steps.text(), steps.list,
                                  program::word(steps.role)));
    }
    return cycles;
}

} // namespace

std::string StepsOf::text() const {
    return fmt::format("step '{}'", called);
}

std::string Timed::text() const {
    std::vector<std::string> parts = phases;
    for (const auto& step : steps) {
        parts.push_back(step.text());
    }
    if (fixed_cycles != 0) {
        parts.push_back(fmt::format("{} cycles", fixed_cycles));
    }
    return fmt::format("{}{}", fmt::join(parts, " + "), row_only ? " without prologue" : "");
}

double cycles_of(const json& result, const Timed& timed) {
    double cycles = timed.fixed_cycles;
    if (timed.row_only) {
        cycles -= result.at("machine").at("exchange").at("prologue_cycles").get<double>();
    }
    for (const auto& phase : timed.phases) {
        if (phase == "all") {
            cycles += result.at("cycles").get<double>();
        } else if (result.at("phases").contains(phase)) {
            cycles += result.at("phases").at(phase).get<double>();
        } else {
            throw IoError(fmt::format("the run has no phase '{}'", phase));
        }
    }
    for (const auto& step : timed.steps) {
        cycles += steps_cycles(result, step);
    }
    return cycles;
}

double clock_of(const json& result) {
    return result.at("machine").at("chip").at("clock_hz").get<double>();
}

double unit_in(const ReferenceRow& row, const std::string& base) {
    return unit_among(row, {base}).size;
}

double time_in_unit(const ReferenceRow& row, double cycles, double clock_hz) {
    const Unit unit = unit_among(row, {"s", "cycles"});
    return unit.base == std::string("cycles") ? cycles : cycles / clock_hz / unit.size;
}

} // namespace tessera::calibrate
