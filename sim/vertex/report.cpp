// SPDX-License-Identifier: MIT
#include "sim/vertex/report.h"

#include "sim/vertex/code_text.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::vertex {
namespace {

constexpr std::size_t kMostLines = 20;

/// NaN and infinity have no JSON number.
Json number(double value) {
    if (std::isfinite(value)) {
        return std::floor(value) == value && std::fabs(value) < 9e15
                   ? Json(static_cast<std::int64_t>(value))
                   : Json(value);
    }
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json phase_json(const PhaseResult& phase) {
    Json workers = Json::array();
    for (const auto& run : phase.workers) {
        workers.push_back({{"worker", run.worker},
                           {"launch", run.launch},
                           {"entry", run.entry},
                           {"begin", run.begin},
                           {"end", run.end},
                           {"cycles", run.cycles}});
    }
    Json launches = Json::array();
    for (const auto& launch : phase.launches) {
        launches.push_back({{"entry", launch.entry},
                            {"workers", launch.workers},
                            {"begin", launch.begin},
                            {"end", launch.end},
                            {"cycles", launch.cycles}});
    }
    return {{"cycles", phase.outcome.cycles},
            {"supervisor_instructions", phase.outcome.counts.supervisor_instructions()},
            {"worker_issues", phase.outcome.counts.worker_issues()},
            {"worker_instructions", phase.outcome.counts.worker_bundles()},
            {"racing_accesses", phase.racing_accesses},
            {"unused_reads", phase.unused_reads},
            {"launches", std::move(launches)},
            {"conflicts", phase.conflicts_found},
            {"workers", std::move(workers)}};
}

Json activity_json(const Activity& activity) {
    return {{"issues", activity.issues},
            {"issue_cycles", activity.issue_cycles},
            {"stall_cycles", activity.stall_cycles}};
}

std::string context_text(int context) {
    return context < 0 ? std::string("supervisor") : fmt::format("worker_{}", context);
}

Json access_json(const Bench& bench, int context, Cycles cycle, Address pc) {
    return {{"context", context_text(context)},
            {"cycle", cycle},
            {"instruction", instruction_text(bench, pc)},
            {"source", source_line(bench, pc)}};
}

Json races_json(const Bench& bench, const PointResult& result) {
    Json races = Json::array();
    for (const auto& phase : result.phases) {
        for (const auto& race : phase.races) {
            Json first = access_json(bench, race.first_context, race.first_cycle, race.first_pc);
            Json second =
                access_json(bench, race.second_context, race.second_cycle, race.second_pc);
            first["writes"] = race.first_writes;
            second["writes"] = race.second_writes;
            races.push_back(
                {{"address", race.address},
                 {"first", std::move(first)},
                 {"second", std::move(second)},
                 {"used_at",
                  race.used_pc == 0 ? Json(nullptr) : Json(source_line(bench, race.used_pc))}});
        }
    }
    return races;
}

/// Null where nothing races, or one order alone was run.
Json order_json(const PointResult& result) {
    if (!result.order) {
        return nullptr;
    }
    const OrderEffect& effect = *result.order;
    std::int64_t accesses = 0;
    for (const auto& phase : result.phases) {
        accesses += phase.racing_accesses;
    }
    const bool ended = effect.other_fault.empty();
    return {{"racing_accesses", accesses},
            {"words", ended ? Json(effect.words) : Json(nullptr)},
            {"first_word", effect.words > 0 ? Json(effect.first_word) : Json(nullptr)},
            {"other_cycles", ended ? Json(effect.other_cycles) : Json(nullptr)},
            {"other_fault", ended ? Json(nullptr) : Json(effect.other_fault)}};
}

Json lines_json(const std::vector<CodeLine>& lines) {
    Json list = Json::array();
    for (const auto& line : lines) {
        if (list.size() < kMostLines) {
            list.push_back({{"source", line.source},
                            {"issues", line.issues},
                            {"cycles", line.cycles},
                            {"workers", line.workers}});
        }
    }
    return list;
}

Json placement_json(const Placement& placement) {
    Json lines = lines_json(placement.lines);
    for (Json& line : lines) {
        line.erase("issues");
        line.erase("workers");
    }
    return {{"cycles", placement.cycles}, {"share", placement.share}, {"lines", std::move(lines)}};
}

Json conflicts_json(const Bench& bench, const PointResult& result) {
    Json conflicts = Json::array();
    for (const auto& phase : result.phases) {
        for (const auto& conflict : phase.conflicts) {
            Json entry = access_json(bench, conflict.context, conflict.cycle, conflict.pc);
            entry["kind"] = conflict.kind == isa::ConflictKind::Fetch ? "fetch" : "element";
            entry["address"] = conflict.address;
            conflicts.push_back(std::move(entry));
        }
    }
    return conflicts;
}

Json check_json(const std::vector<ArrayCheck>& checks) {
    if (checks.empty()) {
        return nullptr;
    }
    Json arrays = Json::array();
    for (const auto& check : checks) {
        Json first = Json::array();
        for (const auto& mismatch : check.first) {
            first.push_back({{"index", mismatch.index},
                             {"got", number(mismatch.got)},
                             {"expected", number(mismatch.expected)}});
        }
        arrays.push_back({{"array", check.name},
                          {"elements", check.elements},
                          {"wrong", check.wrong},
                          {"first", std::move(first)}});
    }
    return {{"passed", passed(checks)}, {"arrays", std::move(arrays)}};
}

Json arrays_json(const Bench& bench, const PointResult& result) {
    Json arrays = Json::object();
    for (std::size_t i = 0; i < bench.arrays.size(); ++i) {
        const BenchArray& array = bench.arrays[i];
        Json values = Json::array();
        for (const double value : element_values(*array.type, result.arrays[i])) {
            values.push_back(number(value));
        }
        arrays[array.name] = {
            {"type", array.type->name}, {"shape", array.shape}, {"values", std::move(values)}};
    }
    return arrays;
}

} // namespace

Json point_json(const spec::MachineSpec& machine, const Bench& bench, const PointResult& result,
                const std::vector<ArrayCheck>& checks, bool with_arrays) {
    Json parameters = Json::array();
    for (const auto& [name, value] : bench.parameters) {
        parameters.push_back({{"name", name}, {"value", number(value)}});
    }
    Json phases = Json::array();
    for (const auto& phase : result.phases) {
        phases.push_back(phase_json(phase));
    }
    Json memory = Json::array();
    for (const auto& placed : bench.memory) {
        memory.push_back({{"name", placed.name},
                          {"address", placed.address},
                          {"bytes", placed.bytes},
                          {"element", element_of(machine.memory, placed.address)}});
    }
    Json undefined = Json::array();
    for (const auto& symbol : bench.undefined) {
        undefined.push_back({{"name", symbol.name}, {"place", symbol.place}});
    }
    Json point = {{"parameters", std::move(parameters)},
                  {"tile_cycles", result.tile_cycles},
                  {"worker_cycles", result.worker_cycles},
                  {"phases", std::move(phases)},
                  {"workers", activity_json(result.workers)},
                  {"supervisor", activity_json(result.supervisor)},
                  {"instructions",
                   {{"by_mnemonic", result.by_mnemonic},
                    {"by_class", result.by_class},
                    {"by_lane", result.by_lane}}},
                  {"lines", lines_json(result.lines)},
                  {"placement", placement_json(result.placement)},
                  {"races", races_json(bench, result)},
                  {"order", order_json(result)},
                  {"conflicts", conflicts_json(bench, result)},
                  {"code_bytes", bench.code_bytes},
                  {"undefined_symbols", std::move(undefined)},
                  {"memory", std::move(memory)},
                  {"check", check_json(checks)}};
    if (with_arrays) {
        point["arrays"] = arrays_json(bench, result);
    }
    return point;
}

Json fit_json(const Fit& fit, const std::string& of) {
    Json coefficients = Json::array();
    for (const auto& [name, value] : fit.coefficients) {
        coefficients.push_back({{"name", name}, {"value", value}});
    }
    return {{"formula", fit.formula},
            {"of", of},
            {"coefficients", std::move(coefficients)},
            {"fitted", fit.fitted},
            {"largest_residual", fit.largest_residual}};
}

Json result_json(const std::string& name, const std::string& machine, Json unused_parameters,
                 Json points, Json fit) {
    return {{"schema_version", kVertexResultSchemaVersion},
            {"name", name},
            {"machine", machine},
            {"unused_parameters", std::move(unused_parameters)},
            {"points", std::move(points)},
            {"fit", std::move(fit)}};
}

} // namespace tessera::vertex
