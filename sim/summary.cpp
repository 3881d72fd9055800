// SPDX-License-Identifier: MIT
#include "sim/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::sim {
namespace {

using nlohmann::json;
using namespace nlohmann::literals;

constexpr int kBarCharacters = 40;
constexpr std::size_t kSlowestSteps = 8;

/// 1234567 -> "1,234,567"
std::string grouped(std::int64_t value) {
    std::string digits = std::to_string(value);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (value < 0 ? 1 : 0);
         at -= 3) {
        digits.insert(static_cast<std::size_t>(at), ",");
    }
    return digits;
}

std::string duration(double seconds) {
    if (seconds >= 1) {
        return fmt::format("{:.2f} s", seconds);
    }
    if (seconds >= 1e-3) {
        return fmt::format("{:.2f} ms", seconds * 1e3);
    }
    return fmt::format("{:.2f} us", seconds * 1e6);
}

std::string share_line(const std::string& head, const std::string& word, double cycles,
                       double percent) {
    const auto bar = static_cast<std::size_t>(std::lround(percent / 100 * kBarCharacters));
    return fmt::format("{:<10} {:<14} {:>14} {:>6.1f} %  {}\n", head, word,
                       grouped(std::llround(cycles)), percent, std::string(bar, '#'));
}

std::string phases_text(const json& result) {
    const auto cycles = result["cycles"].get<double>();
    std::string text;
    for (const char* kind : {"compute", "exchange", "sync", "stream"}) {
        const auto part = result["phases"][kind].get<double>();
        if (part > 0 || std::string(kind) != "stream") {
            text += share_line(text.empty() ? "phases" : "", kind, part,
                               cycles == 0 ? 0 : 100 * part / cycles);
        }
    }
    return text;
}

std::string explanation_text(const json& result) {
    std::string text;
    for (const auto& [key, word] :
         {std::pair{"compute", "compute"}, std::pair{"exchange", "exchange"},
          std::pair{"sync", "sync"}, std::pair{"stream", "stream"}, std::pair{"control", "control"},
          std::pair{"reduction", "reduction"}, std::pair{"rearrangement", "rearrangement"},
          std::pair{"uneven_splits", "uneven splits"}}) {
        const auto& part = result["explanation"][key];
        const std::string_view name = key;
        const bool rare = name == "stream" || name == "control" || name == "rearrangement";
        if (rare && part["cycles"].get<double>() == 0) {
            continue;
        }
        text += share_line(text.empty() ? "because of" : "", word, part["cycles"].get<double>(),
                           part["percent"].get<double>());
    }
    return text;
}

/// Cycles over bound; empty for a step that had nothing to do.
std::string over_bound(const json& step) {
    const auto bound = step["bound_cycles"].get<double>();
    return bound == 0 ? "" : fmt::format("{:.2f}", step["cycles"].get<double>() / bound);
}

std::string steps_text(const json& result) {
    std::vector<const json*> steps;
    for (const char* list : {"compute_sets", "exchanges", "streams"}) {
        for (const auto& step : result[list]) {
            steps.push_back(&step);
        }
    }
    std::stable_sort(steps.begin(), steps.end(), [](const json* left, const json* right) {
        return (*left)["cycles"].get<std::int64_t>() > (*right)["cycles"].get<std::int64_t>();
    });
    steps.resize(std::min(steps.size(), kSlowestSteps));
    std::size_t name_width = std::string("slowest first").size();
    for (const json* step : steps) {
        name_width = std::max(name_width, (*step)["name"].get_ref<const std::string&>().size());
    }
    std::string text = fmt::format("{:<10} {:<{}} {:>6} {:>14} {:>14} {:>14} {:>7} {:>6} {:>8}\n",
                                   "steps", "slowest first", name_width, "times", "cycles", "mean",
                                   "bound", "x bound", "tiles", "slowest");
    for (const json* step : steps) {
        text += fmt::format("{:<10} {:<{}} {:>6} {:>14} {:>14} {:>14} {:>7} {:>6} {:>8}\n", "",
                            (*step)["name"].get<std::string>(), name_width,
                            (*step)["executions"].get<std::int64_t>(),
                            grouped((*step)["cycles"].get<std::int64_t>()),
                            grouped(std::llround((*step)["tile_cycles"]["mean"].get<double>())),
                            grouped((*step)["bound_cycles"].get<std::int64_t>()), over_bound(*step),
                            (*step)["active_tiles"].get<std::int64_t>(),
                            (*step)["slowest_tile"].get<std::int64_t>());
    }
    return text;
}

std::string memory_text(const json& result) {
    const json& memory = result["memory"];
    const auto most = memory["max_bytes"].get<std::int64_t>();
    const auto has = memory["tile_bytes"].get<std::int64_t>();
    std::string kinds;
    for (const auto& [kind, bytes] : memory["worst_tile_bytes_by_kind"].items()) {
        if (bytes.get<std::int64_t>() > 0) {
            kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", kind,
                                 grouped(bytes.get<std::int64_t>()));
        }
    }
    return fmt::format("{:<10} fullest tile {}: {} of {} bytes ({:.1f} %) in '{}': {}\n", "memory",
                       memory["worst_tile"].get<std::int64_t>(), grouped(most), grouped(has),
                       100.0 * static_cast<double>(most) / static_cast<double>(has),
                       memory["peak_step"].get<std::string>(), kinds);
}

std::string host_text(const json& result) {
    const json& host = result["host"];
    return fmt::format(
        "{:<10} plan {}, simulate {} ({:.1f} M bundles/s, {} threads), check {}, {:.0f} MiB\n",
        "host", duration(host["plan_s"].get<double>()), duration(host["simulate_s"].get<double>()),
        host["bundles_per_s"].get<double>() * 1e-6, host["threads"].get<int>(),
        duration(host["check_s"].get<double>()),
        host["peak_rss_bytes"].get<double>() / (1024.0 * 1024.0));
}

std::string check_text(const json& result) {
    const json& check = result["check"];
    return fmt::format("{:<10} {}\n", "check",
                       check.is_null() ? "not made" : check["sentence"].get<std::string>());
}

/// What was set in vain.
std::string unused_text(const json& result) {
    std::string text;
    for (const auto& [path, reason] : result["unused_parameters"].items()) {
        text += fmt::format("{:<10} {}: {}\n", "unused", path, reason.get<std::string>());
    }
    return text;
}

std::string speed_text(const json& result) {
    std::string text;
    if (result.contains("tflops")) {
        text += fmt::format("{:<10} {:.4g} TFLOP/s, {:.1f} % of the peak of {:.4g} TFLOP/s\n",
                            "speed", result["tflops"].get<double>(),
                            100 * result["fraction_of_peak"].get<double>(),
                            result["peak_tflops"].get<double>());
    }
    if (result.contains("gbytes_per_s")) {
        text += fmt::format("{:<10} {:.4g} GB/s: {} bytes\n", "speed",
                            result["gbytes_per_s"].get<double>(),
                            grouped(result["useful_bytes"].get<std::int64_t>()));
    }
    return text;
}

/// Of a machine whose matrix unit is not as built.
std::string matrix_unit_text(const json& result) {
    const double steps = result["machine"].value("/amp/steps_per_issue"_json_pointer, 1.0);
    if (steps == 1 || !result.contains("matrix_unit")) {
        return {};
    }
    const json& unit = result["matrix_unit"];
    return fmt::format("{:<10} {} steps an issue: {} MACs and {} bytes of memory a tile cycle\n",
                       "amp", steps, unit["macs_per_cycle"].get<std::int64_t>(),
                       unit["memory_bytes_per_cycle"].get<std::int64_t>());
}

std::string of_peak_text(const json& result) {
    return result.contains("fraction_of_peak")
               ? fmt::format("{:.1f} %", 100 * result["fraction_of_peak"].get<double>())
               : "-";
}

} // namespace

std::string summary_text(const nlohmann::json& result) {
    const json& machine = result["machine"];
    const auto tiles = machine["chip"]["tiles"].get<std::int64_t>();
    std::string text =
        fmt::format("{:<10} {}: {}\n", "workload", result["workload"]["name"].get<std::string>(),
                    result["sentence"].get<std::string>());
    text += fmt::format("{:<10} {}: {} tiles at {:.4g} GHz\n", "machine",
                        machine["name"].get<std::string>(), grouped(tiles),
                        machine["chip"]["clock_hz"].get<double>() * 1e-9);
    text += unused_text(result);
    text += fmt::format("{:<10} {} ({})\n", "cycles", grouped(result["cycles"].get<std::int64_t>()),
                        duration(result["seconds"].get<double>()));
    text += speed_text(result) + matrix_unit_text(result);
    text += fmt::format("{:<10} {} of {}\n", "tiles busy",
                        grouped(result["tiles_busy"].get<std::int64_t>()), grouped(tiles));
    return text + phases_text(result) + explanation_text(result) + steps_text(result) +
           memory_text(result) + check_text(result) + host_text(result);
}

std::string ratio_text(const std::vector<nlohmann::json>& results) {
    std::string text = fmt::format("{:<28} {:>14} {:>12} {:>10} {:>14}\n", "workload", "cycles",
                                   "time", "of peak", "cycles ratio");
    const auto first = results.front()["cycles"].get<double>();
    for (const auto& result : results) {
        text += fmt::format("{:<28} {:>14} {:>12} {:>10} {:>14.3f}\n",
                            result["workload"]["name"].get<std::string>(),
                            grouped(result["cycles"].get<std::int64_t>()),
                            duration(result["seconds"].get<double>()), of_peak_text(result),
                            first == 0 ? 0.0 : result["cycles"].get<double>() / first);
    }
    return text;
}

} // namespace tessera::sim
