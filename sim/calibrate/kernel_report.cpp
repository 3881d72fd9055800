// SPDX-License-Identifier: MIT
#include "sim/calibrate/kernel_report.h"

#include "base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tessera::sim::calibrate {
namespace {

using nlohmann::json;

constexpr std::size_t kWorstRows = 3;
constexpr std::size_t kStepsOfRow = 5;

std::string whole_cycles(double cycles) {
    return grouped(std::llround(cycles));
}

std::vector<Unexplained> unexplained_of(const std::vector<const RowOutcome*>& rows) {
    std::vector<Unexplained> all;
    all.reserve(rows.size());
    for (const RowOutcome* row : rows) {
        const KernelRun& run = *row->kernel;
        all.push_back({run.words, run.supersteps, run.measured - run.cycles, run.measured});
    }
    return all;
}

std::string steps_text(const KernelRun& run) {
    std::vector<std::string> steps;
    for (const auto& step : run.steps) {
        if (steps.size() == kStepsOfRow) {
            break;
        }
        steps.push_back(fmt::format("{} {}", step.name, whole_cycles(step.cycles)));
    }
    return fmt::format("{}", fmt::join(steps, ", "));
}

} // namespace

std::string worst_rows_text(const Calibration& calibration, const Layout& layout) {
    std::string text;
    for (const Group& group : groups()) {
        const auto rows = worst_kernels(calibration, group);
        if (rows.empty()) {
            continue;
        }
        text +=
            "\n" + painted(layout, Paint::Head, fmt::format("farthest off: {}", group.name)) + "\n";
        for (std::size_t i = 0; i < std::min(kWorstRows, rows.size()); ++i) {
            const KernelRun& run = *rows[i]->kernel;
            const std::string head = fmt::format("  {}", rows[i]->row.id());
            text += paragraph(layout, head, head.size() + 2,
                              fmt::format("{:.3f}: {} cycles simulated, {} measured; {}",
                                          *rows[i]->ratio(), whole_cycles(run.cycles),
                                          whole_cycles(run.measured), steps_text(run)));
        }
    }
    return text;
}

std::string unexplained_text(const Calibration& calibration, const Layout& layout) {
    std::vector<std::vector<std::string>> table_rows{
        {"group", "rows", "unexplained", "share", "a word", "a step", "left"}};
    for (const Group& group : groups()) {
        const auto rows = worst_kernels(calibration, group);
        if (rows.empty()) {
            continue;
        }
        const UnexplainedFit fit = fit_unexplained(unexplained_of(rows));
        table_rows.push_back({group.name, std::to_string(rows.size()), whole_cycles(fit.cycles),
                              fmt::format("{:.1f} %", 100 * fit.share),
                              fmt::format("{:.2g}", fit.a_word), fmt::format("{:.0f}", fit.a_step),
                              fmt::format("{:.0f} %", 100 * fit.left)});
    }
    if (table_rows.size() == 1) {
        return {};
    }
    return "\n" +
           table(layout, 0,
                 {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                  Align::Right},
                 table_rows) +
           wrapped(layout, 0,
                   "unexplained: measured less simulated cycles, and its share of the measured "
                   "ones; a word, a step: cycles for each word received and each exchange or "
                   "compute set that would explain it best; left: what that leaves of its squares. "
                   "Nothing of it is in any simulated figure");
}

json kernel_json(const KernelRun& run) {
    json steps = json::array();
    for (const auto& step : run.steps) {
        steps.push_back({{"name", step.name}, {"cycles", step.cycles}});
    }
    return {{"cycles", run.cycles},
            {"measured_cycles", run.measured},
            {"words", run.words},
            {"supersteps", run.supersteps},
            {"steps", std::move(steps)}};
}

json unexplained_json(const Calibration& calibration, const Group& group) {
    const auto rows = worst_kernels(calibration, group);
    if (rows.empty()) {
        return nullptr;
    }
    const UnexplainedFit fit = fit_unexplained(unexplained_of(rows));
    return {{"cycles", fit.cycles},
            {"share", fit.share},
            {"cycles_a_word", fit.a_word},
            {"cycles_a_superstep", fit.a_step},
            {"left", fit.left}};
}

} // namespace tessera::sim::calibrate
