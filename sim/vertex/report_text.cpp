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

/// "0", "0-5".
std::string range_text(std::int64_t first, std::int64_t last) {
    return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

/// Runs of one entry side by side that take the same are one line.
std::string workers_text(const Json& workers) {
    std::string text;
    for (std::size_t i = 0; i < workers.size();) {
        const Json& first = workers[i];
        std::int64_t end = first.at("end");
        std::int64_t last = first.at("worker");
        std::size_t next = i + 1;
        while (next < workers.size() && workers[next].at("worker") == last + 1 &&
               workers[next].at("cycles") == first.at("cycles") &&
               workers[next].at("entry") == first.at("entry")) {
            end = std::max(end, workers[next].at("end").get<std::int64_t>());
            last = workers[next++].at("worker");
        }
        const bool is_one = next == i + 1;
        std::int64_t begin = first.at("begin");
        for (std::size_t k = i; k < next; ++k) {
            begin = std::min(begin, workers[k].at("begin").get<std::int64_t>());
        }
        text += line((is_one ? "worker " : "workers ") + range_text(first.at("worker"), last),
                     fmt::format("{} cycles{}, {}..{}, {}", plain(first.at("cycles")),
                                 is_one ? "" : " each", begin, end, plain(first.at("entry"))));
        i = next;
    }
    return text;
}

/// A line a launch; launches of one entry that follow each other and take the same are one line.
std::string launches_text(const Json& launches) {
    std::string text =
        line("launches", fmt::format("{:>9} {:>9} {:>9}  entry", "workers", "cycles", "begin"));
    for (std::size_t i = 0; i < launches.size();) {
        const Json& first = launches[i];
        std::size_t next = i + 1;
        while (next < launches.size() && launches[next].at("entry") == first.at("entry") &&
               launches[next].at("workers") == first.at("workers") &&
               launches[next].at("cycles") == first.at("cycles")) {
            ++next;
        }
        text += line(
            "  " + range_text(static_cast<std::int64_t>(i), static_cast<std::int64_t>(next) - 1),
            fmt::format("{:>9} {:>9} {:>9}  {}{}", plain(first.at("workers")),
                        plain(first.at("cycles")), plain(first.at("begin")),
                        plain(first.at("entry")), next == i + 1 ? "" : ", each"));
        i = next;
    }
    return text;
}

std::string phases_text(const Json& point) {
    std::string text;
    const Json& phases = point.at("phases");
    std::size_t launches_in_all = 0;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        launches_in_all += phases[i].at("launches").size();
        if (phases.size() > 1) {
            text += line(fmt::format("phase {}", i),
                         fmt::format("{} cycles", plain(phases[i].at("cycles"))));
        }
        const Json& launches = phases[i].at("launches");
        text +=
            launches.size() > 1 ? launches_text(launches) : workers_text(phases[i].at("workers"));
    }
    if (launches_in_all > 1) {
        text += line("workers",
                     plain(point.at("worker_cycles")) + " cycles, the slowest of each launch");
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

std::string race_text(const Json& race) {
    const auto does = [](const Json& access) {
        return access.at("writes") == true ? "writes" : "reads";
    };
    return fmt::format("word {:#x}: {} {}; {} {}", race.at("address").get<std::uint64_t>(),
                       access_text(race.at("first")), does(race.at("first")),
                       access_text(race.at("second")), does(race.at("second")));
}

std::string conflict_text(const Json& conflict) {
    return fmt::format("{} at {:#x}: {}", plain(conflict.at("kind")),
                       conflict.at("address").get<std::uint64_t>(), access_text(conflict));
}

/// Where the instructions of an entry stand: entries that differ in other things only are shown once.
std::string places_of(const Json& entry) {
    return entry.contains("first") ? plain(entry.at("first").at("source")) + " " +
                                         plain(entry.at("second").at("source"))
                                   : plain(entry.at("kind")) + " " + plain(entry.at("source"));
}

template <class Text>
std::string folded_text(const std::string& head, const Json& entries, Text text_of) {
    std::vector<std::pair<std::string, std::size_t>> places; // with how many there are
    std::vector<std::string> shown;
    for (const auto& entry : entries) {
        const std::string place = places_of(entry);
        const auto known = std::find_if(places.begin(), places.end(),
                                        [&](const auto& one) { return one.first == place; });
        if (known != places.end()) {
            ++known->second;
            continue;
        }
        places.emplace_back(place, 1);
        shown.push_back(text_of(entry));
    }
    std::string text;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const std::size_t more = places[i].second - 1;
        text += line(head, shown[i] + (more == 0 ? "" : fmt::format("; {} more of them", more)));
    }
    return text;
}

std::string troubles_text(const Json& point) {
    return folded_text("RACE", point.at("races"), race_text) +
           folded_text("CONFLICT", point.at("conflicts"), conflict_text);
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
