// SPDX-License-Identifier: MIT
#include "sim/plot/charts.h"

#include "models/spec/matrix_unit.h"
#include "sim/cli/cli.h"
#include "sim/result/result_file.h"
#include "sim/sweep/command/listings.h"
#include "sim/sweep/command/shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace tessera::plot {
namespace {

using Json = nlohmann::json;
using Numbers = std::vector<double>;

constexpr std::size_t kMostBars = 20;
constexpr std::size_t kMostCurves = 6;

double number(const Json& object, const std::string& pointer) {
    return result::number_at(object, pointer);
}

std::string title_of(const Json& result, const std::string& what) {
    return fmt::format("{} on {}: {}", result::text_at(result, "/workload/name"),
                       result::text_at(result, "/machine/name"), what);
}

/// Writes a key as words: "exchange_overhead" becomes "exchange overhead".
std::string words(std::string key) {
    std::replace(key.begin(), key.end(), '_', ' ');
    return key;
}

/// A bar for each entry of an object of numbers, or of objects with one, that is above 0.
Chart bars_of(const Json& object, const std::string& pointer, std::string title,
              std::string label) {
    Chart chart{std::move(title), std::move(label), "", Form::Bars, {}, {{"", {}, {}}}};
    std::vector<std::pair<std::string, double>> bars;
    for (const auto& [key, value] : object.items()) {
        const double length = pointer.empty() ? (value.is_number() ? value.get<double>() : 0)
                                              : number(value, pointer);
        if (length > 0) {
            bars.emplace_back(words(key), length);
        }
    }
    std::stable_sort(bars.begin(), bars.end(),
                     [](const auto& one, const auto& other) { return one.second > other.second; });
    for (const auto& [name, length] : bars) {
        chart.labels.push_back(name);
        chart.series.front().x.push_back(length);
    }
    return chart;
}

struct Step {
    std::string kind;
    Json step;
};

/// The slowest steps of a result.
std::vector<Step> slowest_steps(const Json& result, std::size_t most) {
    std::vector<Step> steps;
    for (const auto& [list, kind] : result::kStepLists) {
        const Json& all = result::list_at(result, list);
        for (std::size_t i = 0; i < all.size(); ++i) {
            steps.push_back({kind, all[i]});
            steps.back().step["index"] = i;
        }
    }
    std::stable_sort(steps.begin(), steps.end(), [](const Step& one, const Step& other) {
        return number(one.step, "/cycles") > number(other.step, "/cycles");
    });
    std::erase_if(steps, [](const Step& step) { return number(step.step, "/cycles") <= 0; });
    steps.resize(std::min(steps.size(), most));
    return steps;
}

Chart kernels_chart(const Json& result) {
    Chart chart{title_of(result, "kernels"), "cycles of the run", "", Form::Bars, {}, {}};
    for (const char* phase : {"compute", "exchange", "sync", "stream", "link"}) {
        Series series{phase, {}, {}};
        for (const Json& kernel : result::list_at(result, "kernels")) {
            series.x.push_back(number(kernel, std::string("/") + phase));
        }
        if (std::any_of(series.x.begin(), series.x.end(), [](double one) { return one > 0; })) {
            chart.series.push_back(std::move(series));
        }
    }
    for (const Json& kernel : result::list_at(result, "kernels")) {
        chart.labels.push_back(result::text_at(kernel, "/name"));
    }
    if (chart.labels.size() > kMostBars) {
        chart.title += fmt::format(", the first {} of {}", kMostBars, chart.labels.size());
        chart.labels.resize(kMostBars);
        for (Series& series : chart.series) {
            series.x.resize(kMostBars);
        }
    }
    return chart;
}

Chart steps_chart(const Json& result) {
    Chart chart{title_of(result, "slowest steps"),
                "cycles of the run",
                "",
                Form::Bars,
                {},
                {{"bound of the critical tile", {}, {}}, {"beyond it", {}, {}}}};
    for (const Step& one : slowest_steps(result, kMostBars)) {
        const double cycles = number(one.step, "/cycles");
        const double bound = std::min(cycles, number(one.step, "/critical_bound_cycles"));
        chart.labels.push_back(result::text_at(one.step, "/name"));
        chart.series[0].x.push_back(bound);
        chart.series[1].x.push_back(cycles - bound);
    }
    return chart;
}

/// Operations of a compute set: two a multiply-accumulate, one a number of a vector instruction.
double operations_of(const Json& step) {
    constexpr std::array<std::pair<const char*, double>, 7> kMatrix{{{"f16v4hihov4", 128},
                                                                     {"f16v4siso", 64},
                                                                     {"f16v4hiho", 64},
                                                                     {"f16v4siho", 64},
                                                                     {"f32siso", 16},
                                                                     {"f32sisov2", 32},
                                                                     {"f8v8hihov4", 256}}};
    constexpr std::array<std::pair<const char*, double>, 9> kVector{{{"f8v2", 2},
                                                                     {"f8v4", 4},
                                                                     {"f16", 1},
                                                                     {"f16v2", 2},
                                                                     {"f16v4", 4},
                                                                     {"f16v8", 8},
                                                                     {"f32", 1},
                                                                     {"f32v2", 2},
                                                                     {"f32v4", 4}}};
    double sum = 0;
    for (const auto& [kind, each] : kMatrix) {
        sum += each * number(step, std::string("/counts/matrix_steps/") + kind);
    }
    for (const auto& [kind, each] : kVector) {
        sum += each * number(step, std::string("/counts/vector_operations/") + kind);
    }
    return sum;
}

/// Compute sets, and two ceilings: the matrix units with FP16 partials, and tile memory.
Chart roofline_chart(const Json& result) {
    Chart chart{title_of(result, "compute sets under the ceilings"),
                "operations a byte of tile memory",
                "operations a second",
                Form::Points,
                {},
                {}};
    chart.has_log_x = chart.has_log_y = true;
    const double clock = number(result, "/machine/chip/clock_hz");
    const double tiles = number(result, "/machine/chip/tiles");
    Series sets{"compute sets", {}, {}};
    for (const Json& step : result::list_at(result, "compute_sets")) {
        const double bytes = number(step, "/counts/memory_bytes/loaded") +
                             number(step, "/counts/memory_bytes/stored");
        const double operations = operations_of(step);
        const double cycles = number(step, "/cycles");
        if (bytes > 0 && operations > 0 && cycles > 0) {
            sets.x.push_back(operations / bytes);
            sets.y.push_back(operations / cycles * clock);
        }
    }
    if (sets.x.empty()) {
        return chart;
    }
    spec::MachineSpec machine;
    machine.chip.generation = result::text_at(result, "/machine/chip/generation") == "ipu1"
                                  ? spec::Generation::Ipu1
                                  : spec::Generation::Ipu2;
    machine.amp.steps_per_issue = number(result, "/machine/amp/steps_per_issue");
    const spec::MatrixUnit unit = spec::matrix_unit(machine);
    const double most = 2.0 * static_cast<double>(unit.macs_f16_f16) * tiles * clock;
    const double bytes_a_second = static_cast<double>(unit.memory_bytes) * tiles * clock;
    const auto [least, largest] = std::minmax_element(sets.x.begin(), sets.x.end());
    const double ridge = most / bytes_a_second;
    const double from = std::min(*least, ridge) / 4;
    const double to = std::max(*largest, ridge) * 4;
    chart.series.push_back(std::move(sets));
    chart.series.push_back({"tile memory", {from, ridge}, {from * bytes_a_second, most}, true});
    chart.series.push_back({"matrix units, FP16", {ridge, to}, {most, most}, true});
    return chart;
}

Numbers counted_up(std::size_t count) {
    Numbers numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0.0);
    return numbers;
}

Chart balance_chart(const Json& result, const recording::Recording& recording) {
    Chart chart{title_of(result, "tiles of the slowest steps"),
                "tiles, in order of their cycles in the step",
                "cycles",
                Form::Lines,
                {},
                {}};
    for (const Step& step : slowest_steps(result, kMostCurves)) {
        if (const Json* const found =
                recording.step(step.kind, step.step["index"].get<std::size_t>())) {
            Numbers cycles =
                recording.numbers(found->at("columns").at("cycles"), recording.tiles());
            std::sort(cycles.begin(), cycles.end());
            chart.series.push_back({result::text_at(step.step, "/name"), counted_up(cycles.size()),
                                    std::move(cycles)});
        }
    }
    return chart;
}

Chart tiles_chart(const Json& result, const recording::Recording& recording) {
    Chart chart{
        title_of(result, "what tiles spend cycles on"), "tile", "cycles", Form::Lines, {}, {}};
    for (const char* kind : {"compute", "exchange", "sync", "stream", "link", "idle"}) {
        Numbers cycles =
            recording.numbers(recording.chip().at("tiles_by_kind").at(kind), recording.tiles());
        if (std::any_of(cycles.begin(), cycles.end(), [](double one) { return one > 0; })) {
            chart.series.push_back({kind, counted_up(cycles.size()), std::move(cycles)});
        }
    }
    return chart;
}

void need(const Json& result, const char* key, const std::string& chart) {
    if (!result.contains(key) || !result.at(key).is_structured()) {
        throw cli::UsageError(
            fmt::format("plot: the result has no '{}', which the chart '{}' shows", key, chart));
    }
}

sweep::Shown shown_of(const std::string& store) {
    cli::SweepShowCommand show;
    show.store = store;
    show.look = "pareto";
    return sweep::read_shown(show);
}

Chart scatter_chart(sweep::Shown& shown, const sweep::Judgement& judgement,
                    const std::string& store) {
    if (shown.objectives.size() < 2) {
        throw cli::UsageError("plot: the sweep has one objective, and 'scatter' shows two");
    }
    Chart chart{"points of " + store,
                judgement.text_of(shown.objectives[0]),
                judgement.text_of(shown.objectives[1]),
                Form::Points,
                {},
                {}};
    Series points{"points", {}, {}};
    Series front{"front", {}, {}, true};
    for (const sweep::Judged& one : judgement.judged()) {
        if (one.is_compared()) {
            points.x.push_back(one.values[0]);
            points.y.push_back(one.values[1]);
        }
    }
    const std::vector<sweep::Objective> two(shown.objectives.begin(), shown.objectives.begin() + 2);
    for (const std::size_t one : sweep::front_of(judgement.judged(), two)) {
        front.x.push_back(judgement.judged()[one].values[0]);
        front.y.push_back(judgement.judged()[one].values[1]);
    }
    chart.series.push_back(std::move(points));
    chart.series.push_back(std::move(front));
    return chart;
}

Chart sensitivity_chart(const sweep::Listing& listing, const std::string& store) {
    Chart chart{"", "largest over smallest mean, less 1", "", Form::Bars, {}, {{"", {}, {}}}};
    std::string objective;
    for (std::size_t row = 0; row < listing.rows; ++row) {
        const std::string of = listing.cell(row, 0).text;
        objective = objective.empty() ? of : objective;
        if (of == objective && chart.labels.size() < kMostBars) {
            chart.labels.push_back(listing.cell(row, 1).text);
            chart.series.front().x.push_back(std::stod(listing.cell(row, 2).text) - 1);
        }
    }
    chart.title = fmt::format("{}: what {} hangs on", store, objective);
    return chart;
}

} // namespace

bool needs_recording(std::string_view chart) {
    return chart == "balance" || chart == "tiles";
}

Chart chart_of_result(const std::string& name, const Json& result,
                      const recording::Recording* recording) {
    if (recording == nullptr && needs_recording(name)) {
        throw cli::UsageError(
            fmt::format("plot: the chart '{}' needs a recording: give a folder of "
                        "`tessera run --out`, not a file",
                        name));
    }
    if (name == "phases") {
        need(result, "explanation", name);
        return bars_of(result["explanation"], "/cycles", title_of(result, "where cycles went"),
                       "cycles of the run");
    }
    if (name == "energy") {
        need(result, "energy", name);
        return bars_of(result["energy"]["by_kind"], "",
                       title_of(result, fmt::format("energy, {:.3g} J ({:.3g} to {:.3g})",
                                                    number(result, "/energy/total_j"),
                                                    number(result, "/energy/low_j"),
                                                    number(result, "/energy/high_j"))),
                       "J");
    }
    if (name == "memory") {
        need(result, "memory", name);
        return bars_of(
            result["memory"]["worst_tile_bytes_by_kind"], "",
            title_of(result, fmt::format("memory of the fullest tile, {:.1f} % of a tile's",
                                         100 * number(result, "/memory/max_bytes") /
                                             std::max(1.0, number(result, "/memory/tile_bytes")))),
            "bytes");
    }
    need(result, "compute_sets", name);
    return name == "kernels"    ? kernels_chart(result)
           : name == "steps"    ? steps_chart(result)
           : name == "roofline" ? roofline_chart(result)
           : name == "balance"  ? balance_chart(result, *recording)
                                : tiles_chart(result, *recording);
}

Chart chart_of_store(const std::string& name, const std::string& store) {
    sweep::Shown shown = shown_of(store);
    sweep::Judgement judgement(shown);
    return name == "scatter" ? scatter_chart(shown, judgement, store)
                             : sensitivity_chart(judgement.sensitivity(), store);
}

} // namespace tessera::plot
