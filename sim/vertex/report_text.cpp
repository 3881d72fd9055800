// SPDX-License-Identifier: MIT
#include "base/config/shape.h"
#include "sim/vertex/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::vertex {
namespace {

constexpr std::size_t kMostListed = 10;

std::string plain(const Json& value) {
    return value.is_string() ? value.get<std::string>() : config::value_text(value);
}

std::string line(const std::string& head, const std::string& text) {
    return fmt::format("{:<13}{}\n", head, text);
}

std::string parameters_text(const Json& point) {
    std::string text;
    for (const auto& parameter : point.at("parameters")) {
        text += fmt::format(", {} {}", plain(parameter.at("name")), plain(parameter.at("value")));
    }
    return text;
}

/// "name 12, other 3", the greatest first.
std::string counts_text(const Json& counts) {
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& [name, value] : counts.items()) {
        order.emplace_back(value.get<std::int64_t>(), name);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (const auto& [value, name] : order) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
    }
    return text.empty() ? "none" : text;
}

std::string phases_text(const Json& point) {
    std::string text;
    const Json& phases = point.at("phases");
    for (std::size_t i = 0; i < phases.size(); ++i) {
        if (phases.size() > 1) {
            text += line(fmt::format("phase {}", i),
                         fmt::format("{} cycles", plain(phases[i].at("cycles"))));
        }
        for (const auto& run : phases[i].at("workers")) {
            text += line(fmt::format("worker {}", plain(run.at("worker"))),
                         fmt::format("{} cycles, {}..{}, {}", plain(run.at("cycles")),
                                     plain(run.at("begin")), plain(run.at("end")),
                                     plain(run.at("entry"))));
        }
    }
    return text;
}

std::string lines_text(const Json& point) {
    std::string text;
    const Json& lines = point.at("lines");
    for (std::size_t i = 0; i < std::min(kMostListed, lines.size()); ++i) {
        text += line(i == 0 ? "hot lines" : "",
                     fmt::format("{:>8} cycles {:>8} issues  {}", plain(lines[i].at("cycles")),
                                 plain(lines[i].at("issues")), plain(lines[i].at("source"))));
    }
    return text;
}

std::string access_text(const Json& access) {
    return fmt::format("{} @ {}: {}: {}", plain(access.at("context")), plain(access.at("cycle")),
                       plain(access.at("source")), plain(access.at("instruction")));
}

std::string troubles_text(const Json& point) {
    std::string text;
    for (const auto& race : point.at("races")) {
        text += line(
            "RACE", fmt::format("word {:#x}: {} {}; {} {}", race.at("address").get<std::uint64_t>(),
                                access_text(race.at("first")),
                                race.at("first").at("writes") == true ? "writes" : "reads",
                                access_text(race.at("second")),
                                race.at("second").at("writes") == true ? "writes" : "reads"));
    }
    for (const auto& conflict : point.at("conflicts")) {
        text += line("CONFLICT", fmt::format("{} at {:#x}: {}", plain(conflict.at("kind")),
                                             conflict.at("address").get<std::uint64_t>(),
                                             access_text(conflict)));
    }
    return text;
}

std::string memory_text(const Json& point) {
    std::string text;
    for (const auto& placed : point.at("memory")) {
        text +=
            line(text.empty() ? "memory" : "",
                 fmt::format("{:#x} {:>8} B  element {:>2}  {}",
                             placed.at("address").get<std::uint64_t>(), plain(placed.at("bytes")),
                             plain(placed.at("element")), plain(placed.at("name"))));
    }
    return text;
}

std::string check_text(const Json& point) {
    std::string text;
    if (point.at("check").is_null()) {
        return text;
    }
    for (const auto& check : point.at("check").at("arrays")) {
        const bool right = check.at("wrong") == 0;
        text += line("check", fmt::format("{}: {}", plain(check.at("array")),
                                          right ? fmt::format("all {} elements as expected",
                                                              plain(check.at("elements")))
                                                : fmt::format("WRONG: {} of {} elements",
                                                              plain(check.at("wrong")),
                                                              plain(check.at("elements")))));
        for (const auto& mismatch : check.at("first")) {
            text +=
                line("", fmt::format("[{}] got {}, expected {}", plain(mismatch.at("index")),
                                     plain(mismatch.at("got")), plain(mismatch.at("expected"))));
        }
    }
    return text;
}

std::string point_text(const Json& result, const Json& point) {
    const Json& workers = point.at("workers");
    const Json& supervisor = point.at("supervisor");
    std::string text =
        line("vertex", fmt::format("{} on {}{}", plain(result.at("name")),
                                   plain(result.at("machine")), parameters_text(point)));
    text += line("tile", fmt::format("{} cycles from the first instruction of the stub to its "
                                     "return",
                                     plain(point.at("tile_cycles"))));
    text += phases_text(point);
    text +=
        line("issues", fmt::format("{} of workers, {} of the supervisor",
                                   plain(workers.at("issues")), plain(supervisor.at("issues"))));
    text += line("classes", counts_text(point.at("instructions").at("by_class")));
    text += line("mnemonics", counts_text(point.at("instructions").at("by_mnemonic")));
    text += line("lanes", counts_text(point.at("instructions").at("by_lane")));
    text += line("stalls", "workers: " + counts_text(workers.at("stall_cycles")) + " cycles");
    text += line("", "supervisor: " + counts_text(supervisor.at("stall_cycles")) + " cycles");
    text += lines_text(point);
    text += troubles_text(point);
    text += line("code", plain(point.at("code_bytes")) + " bytes");
    text += memory_text(point);
    return text + check_text(point);
}

std::string table_text(const Json& result) {
    std::string text;
    const Json& points = result.at("points");
    const Json& fit = result.at("fit");
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::string head;
        std::string row;
        for (const auto& parameter : points[i].at("parameters")) {
            head += fmt::format("{:>12}", plain(parameter.at("name")));
            row += fmt::format("{:>12}", plain(parameter.at("value")));
        }
        head += fmt::format("{:>14}{:>14}", "tile cycles", "worker cycles");
        row += fmt::format("{:>14}{:>14}", plain(points[i].at("tile_cycles")),
                           plain(points[i].at("worker_cycles")));
        if (!fit.is_null()) {
            head += fmt::format("{:>14}", "fitted");
            row += fmt::format("{:>14.2f}", fit.at("fitted")[i].get<double>());
        }
        text += (i == 0 ? head + "\n" : "") + row + "\n";
    }
    return text;
}

std::string fit_text(const Json& fit) {
    std::string text =
        fmt::format("fit of {}: {}\n", plain(fit.at("of")), plain(fit.at("formula")));
    for (const auto& coefficient : fit.at("coefficients")) {
        text += fmt::format("  {:<10} {:.6g}\n", plain(coefficient.at("name")),
                            coefficient.at("value").get<double>());
    }
    // Cycles are whole: what is smaller is the rounding of the fit itself.
    constexpr double kRounding = 1e-6;
    const auto residual = fit.at("largest_residual").get<double>();
    return text +
           fmt::format("  largest residual {:.6g} cycles\n", residual < kRounding ? 0 : residual);
}

} // namespace

std::string report_text(const Json& result) {
    std::string text;
    for (const auto& point : result.at("points")) {
        text += (text.empty() ? "" : "\n") + point_text(result, point);
    }
    if (result.at("points").size() > 1) {
        text += "\n" + table_text(result);
    }
    if (!result.at("fit").is_null()) {
        text += "\n" + fit_text(result.at("fit"));
    }
    for (const auto& [path, reason] : result.at("unused_parameters").items()) {
        text += line("unused", path + ": " + plain(reason));
    }
    return text;
}

} // namespace tessera::vertex
