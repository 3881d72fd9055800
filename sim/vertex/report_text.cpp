// SPDX-License-Identifier: MIT
#include "base/config/shape.h"
#include "sim/vertex/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::vertex {
namespace {

constexpr std::size_t kMostListed = 10;
constexpr std::size_t kHead = 13; ///< columns of what stands in front of a line

std::string plain(const Json& value) {
    return value.is_string() ? value.get<std::string>() : config::value_text(value);
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

std::string access_text(const Json& access) {
    return fmt::format("{} @ {}: {}: {}", plain(access.at("context")), plain(access.at("cycle")),
                       plain(access.at("source")), plain(access.at("instruction")));
}

/// "0", "0-5".
std::string range_text(std::int64_t first, std::int64_t last) {
    return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::string race_text(const Json& race) {
    const auto did = [](const Json& access) {
        return access_text(access) + (access.at("writes") == true ? " writes" : " reads");
    };
    return fmt::format("word {:#x}: {}; {}{}", race.at("address").get<std::uint64_t>(),
                       did(race.at("first")), did(race.at("second")),
                       race.at("used_at").is_null() ? ""
                                                    : "; used at " + plain(race.at("used_at")));
}

std::string conflict_text(const Json& conflict) {
    return fmt::format("{} at {:#x}: {}", plain(conflict.at("kind")),
                       conflict.at("address").get<std::uint64_t>(), access_text(conflict));
}

std::string places_of(const Json& entry) {
    return entry.contains("first") ? plain(entry.at("first").at("source")) + " " +
                                         plain(entry.at("second").at("source"))
                                   : plain(entry.at("kind")) + " " + plain(entry.at("source"));
}

/// The lines about one point.
class PointText {
public:
    PointText(const Json& result, const Json& point, const Layout& layout)
        : result_(result), point_(point), layout_(layout) {}

    std::string text() {
        const Json& workers = point_.at("workers");
        const Json& supervisor = point_.at("supervisor");
        const Json& instructions = point_.at("instructions");
        line("vertex", fmt::format("{} on {}{}", plain(result_.at("name")),
                                   plain(result_.at("machine")), parameters_text(point_)));
        line("tile", fmt::format("{} cycles from the first instruction of the stub to its return",
                                 plain(point_.at("tile_cycles"))));
        phases();
        line("issues", fmt::format("{} of workers, {} of the supervisor",
                                   plain(workers.at("issues")), plain(supervisor.at("issues"))));
        line("classes", counts_text(instructions.at("by_class")));
        line("mnemonics", counts_text(instructions.at("by_mnemonic")));
        line("lanes", counts_text(instructions.at("by_lane")));
        line("stalls", "workers: " + counts_text(workers.at("stall_cycles")) + " cycles");
        line("", "supervisor: " + counts_text(supervisor.at("stall_cycles")) + " cycles");
        hot_lines();
        placement();
        troubles();
        order();
        line("code", plain(point_.at("code_bytes")) + " bytes");
        undefined();
        memory();
        check();
        return std::move(text_);
    }

private:
    void line(const std::string& head, const std::string& words) {
        text_ += paragraph(layout_, painted(layout_, Paint::Head, head), kHead, words);
    }

    /// Rows with `head` in front of the first.
    void rows(const std::string& head, const std::vector<Align>& columns,
              const std::vector<std::vector<std::string>>& rows) {
        if (!rows.empty()) {
            std::string lines = table(layout_, kHead, columns, rows);
            text_ += lines.replace(0, head.size(), painted(layout_, Paint::Head, head));
        }
    }

    void phases() {
        const Json& phases = point_.at("phases");
        std::size_t launches_in_all = 0;
        for (std::size_t i = 0; i < phases.size(); ++i) {
            const Json& launches = phases[i].at("launches");
            launches_in_all += launches.size();
            if (phases.size() > 1) {
                line(fmt::format("phase {}", i),
                     fmt::format("{} cycles", plain(phases[i].at("cycles"))));
            }
            if (launches.size() > 1) {
                launches_table(launches);
            } else {
                worker_runs(phases[i].at("workers"));
            }
        }
        if (launches_in_all > 1) {
            line("workers",
                 plain(point_.at("worker_cycles")) + " cycles, the slowest of each launch");
        }
    }

    /// Runs of one entry side by side that take the same are one line.
    void worker_runs(const Json& workers) {
        for (std::size_t i = 0; i < workers.size();) {
            const Json& first = workers[i];
            std::int64_t begin = first.at("begin");
            std::int64_t end = first.at("end");
            std::int64_t last = first.at("worker");
            std::size_t next = i + 1;
            while (next < workers.size() && workers[next].at("worker") == last + 1 &&
                   workers[next].at("cycles") == first.at("cycles") &&
                   workers[next].at("entry") == first.at("entry")) {
                begin = std::min(begin, workers[next].at("begin").get<std::int64_t>());
                end = std::max(end, workers[next].at("end").get<std::int64_t>());
                last = workers[next++].at("worker");
            }
            const bool is_one = next == i + 1;
            line((is_one ? "worker " : "workers ") + range_text(first.at("worker"), last),
                 fmt::format("{} cycles{}, {}..{}, {}", plain(first.at("cycles")),
                             is_one ? "" : " each", begin, end, plain(first.at("entry"))));
            i = next;
        }
    }

    /// A row a launch; those of one entry that follow each other and take the same are one row.
    void launches_table(const Json& launches) {
        std::vector<std::vector<std::string>> lines{{"", "workers", "cycles", "begin", "entry"}};
        for (std::size_t i = 0; i < launches.size();) {
            const Json& first = launches[i];
            std::size_t next = i + 1;
            while (next < launches.size() && launches[next].at("entry") == first.at("entry") &&
                   launches[next].at("workers") == first.at("workers") &&
                   launches[next].at("cycles") == first.at("cycles")) {
                ++next;
            }
            lines.push_back(
                {range_text(static_cast<std::int64_t>(i), static_cast<std::int64_t>(next) - 1),
                 plain(first.at("workers")), plain(first.at("cycles")), plain(first.at("begin")),
                 plain(first.at("entry")) + (next == i + 1 ? "" : ", each")});
            i = next;
        }
        rows("launches", {Align::Left, Align::Right, Align::Right, Align::Right, Align::Left},
             lines);
    }

    /// Cycles of a line are those of all workers that run it: together more than the tile's.
    void hot_lines() {
        std::vector<std::vector<std::string>> lines;
        const Json& all = point_.at("lines");
        for (std::size_t i = 0; i < std::min(kMostListed, all.size()); ++i) {
            const auto workers = all[i].at("workers").get<int>();
            lines.push_back({plain(all[i].at("cycles")), workers > 1 ? "worker-cycles" : "cycles",
                             plain(all[i].at("issues")), "issues", plain(all[i].at("source"))});
        }
        rows("hot lines", {Align::Right, Align::Left, Align::Right, Align::Left, Align::Left},
             lines);
        if (all.size() > kMostListed) {
            line("", fmt::format("and {} more lines; --json lists all", all.size() - kMostListed));
        }
    }

    void placement() {
        const Json& found = point_.at("placement");
        const Json& lines = found.at("lines");
        if (lines.empty()) {
            return;
        }
        std::string text =
            fmt::format("{} cycles of workers, {:.1f} %, are lost by branches to bundles at 4 "
                        "modulo 8: .align 8 "
                        "before",
                        plain(found.at("cycles")), 100 * found.at("share").get<double>());
        const std::size_t shown = std::min<std::size_t>(3, lines.size());
        for (std::size_t i = 0; i < shown; ++i) {
            text += fmt::format("{} {} ({} cycles)", i == 0 ? "" : ",",
                                plain(lines[i].at("source")), plain(lines[i].at("cycles")));
        }
        if (lines.size() > shown) {
            text += fmt::format(", and {} more", lines.size() - shown);
        }
        line("placement", text);
    }

    /// What races come to.
    void order() {
        const Json& found = point_.at("order");
        if (found.is_null()) {
            return;
        }
        const bool is_one = found.at("racing_accesses") == 1;
        const std::string accesses =
            fmt::format("{} pair{} of accesses race{}", plain(found.at("racing_accesses")),
                        is_one ? "" : "s", is_one ? "s" : "");
        if (!found.at("other_fault").is_null()) {
            line("order", fmt::format("{}; shown is the machine's order, slot by slot; one context "
                                      "after the other the run ends in a fault: {}",
                                      accesses, plain(found.at("other_fault"))));
            return;
        }
        const auto words = found.at("words").get<std::int64_t>();
        const bool other_cycles = found.at("other_cycles") != point_.at("tile_cycles");
        if (words == 0 && !other_cycles) {
            line("order", accesses + "; no word of memory and no cycle depends on their order, "
                                     "slot by slot or one context after the other");
            return;
        }
        std::string decides;
        if (words > 0) {
            decides =
                fmt::format("{} word{} of memory, the first at {:#x}", words, words == 1 ? "" : "s",
                            found.at("first_word").get<std::uint64_t>());
        }
        if (other_cycles) {
            decides +=
                fmt::format("{}the cycles, {} if one context runs after the other",
                            decides.empty() ? "" : ", and ", plain(found.at("other_cycles")));
        }
        line("order",
             fmt::format("{}; their order decides {}; shown is the machine's, slot by slot",
                         accesses, decides));
    }

    void troubles() {
        folded("RACE", point_.at("races"), race_text);
        folded("CONFLICT", point_.at("conflicts"), conflict_text);
    }

    /// Entries whose instructions stand at the same places are shown once.
    template <class Text> void folded(const std::string& head, const Json& entries, Text text_of) {
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
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const std::size_t more = places[i].second - 1;
            line(painted(layout_, Paint::Bad, head),
                 shown[i] + (more == 0 ? "" : fmt::format("; {} more of them", more)));
        }
    }

    void undefined() {
        std::string names;
        for (const auto& symbol : point_.at("undefined_symbols")) {
            names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", plain(symbol.at("name")),
                                 plain(symbol.at("place")));
        }
        if (!names.empty()) {
            line("undefined", names + ": in no source; nothing that ran needs it");
        }
    }

    void memory() {
        std::vector<std::vector<std::string>> places;
        for (const auto& placed : point_.at("memory")) {
            places.push_back({fmt::format("{:#x}", placed.at("address").get<std::uint64_t>()),
                              plain(placed.at("bytes")) + " B", "element",
                              plain(placed.at("element")), plain(placed.at("name"))});
        }
        rows("memory", {Align::Left, Align::Right, Align::Left, Align::Right, Align::Left}, places);
    }

    void check() {
        if (point_.at("check").is_null()) {
            return;
        }
        for (const auto& check : point_.at("check").at("arrays")) {
            const std::string elements = plain(check.at("elements"));
            line("check", fmt::format("{}: {}", plain(check.at("array")),
                                      check.at("wrong") == 0
                                          ? painted(layout_, Paint::Good, "all") +
                                                fmt::format(" {} elements as expected", elements)
                                          : painted(layout_, Paint::Bad, "WRONG:") +
                                                fmt::format(" {} of {} elements",
                                                            plain(check.at("wrong")), elements)));
            for (const auto& mismatch : check.at("first")) {
                line("", fmt::format("[{}] got {}, expected {}", plain(mismatch.at("index")),
                                     plain(mismatch.at("got")), plain(mismatch.at("expected"))));
            }
        }
    }

    const Json& result_;
    const Json& point_;
    const Layout& layout_;
    std::string text_;
};

std::string points_table(const Json& result, const Layout& layout) {
    std::vector<std::vector<std::string>> rows;
    const Json& points = result.at("points");
    const Json& fit = result.at("fit");
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::vector<std::string> head;
        std::vector<std::string> row;
        for (const auto& parameter : points[i].at("parameters")) {
            head.push_back(plain(parameter.at("name")));
            row.push_back(plain(parameter.at("value")));
        }
        head.insert(head.end(), {"tile cycles", "worker cycles"});
        row.insert(row.end(),
                   {plain(points[i].at("tile_cycles")), plain(points[i].at("worker_cycles"))});
        if (!fit.is_null()) {
            head.emplace_back("fitted");
            row.push_back(fmt::format("{:.2f}", fit.at("fitted")[i].get<double>()));
        }
        if (rows.empty()) {
            rows.push_back(std::move(head));
        }
        rows.push_back(std::move(row));
    }
    return table(layout, 0, std::vector<Align>(rows.front().size(), Align::Right), rows);
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

std::string report_text(const Json& result, const Layout& layout) {
    std::string text;
    for (const auto& point : result.at("points")) {
        text += (text.empty() ? "" : "\n") + PointText(result, point, layout).text();
    }
    if (result.at("points").size() > 1) {
        text += "\n" + points_table(result, layout);
    }
    if (!result.at("fit").is_null()) {
        text += "\n" + fit_text(result.at("fit"));
    }
    for (const auto& [path, reason] : result.at("unused_parameters").items()) {
        text += paragraph(layout, painted(layout, Paint::Head, "unused"), kHead,
                          path + ": " + plain(reason));
    }
    return text;
}

} // namespace tessera::vertex
