// SPDX-License-Identifier: MIT
#include "base/text.h"
#include "sim/process/output.h"
#include "sim/result/result.h"
#include "sim/result/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::result {
namespace {

using nlohmann::json;
using namespace nlohmann::literals;

constexpr std::size_t kHead = 11; ///< columns of what stands in front of a line
constexpr std::size_t kBarCharacters = 40;
constexpr std::size_t kSlowestSteps = 8;
constexpr std::size_t kMostSentences = 4;
constexpr std::int64_t kWorthASentence = 20; ///< steps of at least one part in so many of the run
constexpr std::ptrdiff_t kOverBound = 5;     ///< column of steps that is a ratio of two others
constexpr std::size_t kLeastName = 13;       ///< columns that a step's name has in any case

std::string duration(double seconds) {
    if (seconds >= 1) {
        return fmt::format("{:.2f} s", seconds);
    }
    if (seconds >= 1e-3) {
        return fmt::format("{:.2f} ms", seconds * 1e3);
    }
    return fmt::format("{:.2f} us", seconds * 1e6);
}

std::string joules_text(double joules) {
    constexpr std::array<const char*, 4> kUnits{"J", "mJ", "uJ", "nJ"};
    std::size_t unit = 0;
    for (; joules > 0 && joules < 0.9995 && unit + 1 < kUnits.size(); ++unit) {
        joules *= 1000;
    }
    return fmt::format("{:.3g} {}", joules, kUnits.at(unit));
}

/// Four digits and the prefix with which they stand before no more than three others.
std::string quantity(double giga, const char* unit) {
    constexpr std::array<const char*, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
    std::size_t prefix = 3;
    // 999.95 and more would be shown as 1000
    for (; giga >= 999.95 && prefix + 1 < kPrefixes.size(); ++prefix) {
        giga /= 1000;
    }
    for (; giga > 0 && giga < 0.99995 && prefix > 0; --prefix) {
        giga *= 1000;
    }
    return fmt::format("{:.4g} {}{}", giga, kPrefixes.at(prefix), unit);
}

std::string clipped(const std::string& name, std::size_t room) {
    return name.size() > room ? name.substr(0, room - 3) + "..." : name;
}

using Row = std::vector<std::string>;

Row headings(const Columns& columns) {
    Row row;
    for (const Column& column : columns) {
        row.emplace_back(column.heading);
    }
    return row;
}

Row row_of(const json& record, const Columns& columns) {
    Row row;
    for (const Column& column : columns) {
        const json& value = record[json::json_pointer(column.at)];
        row.push_back(column.unit == Unit::Word      ? value.get<std::string>()
                      : column.unit == Unit::Number  ? std::to_string(value.get<std::int64_t>())
                      : column.unit == Unit::Percent ? fmt::format("{:.1f}", value.get<double>())
                                                     : grouped(std::llround(value.get<double>())));
    }
    return row;
}

/// The lines of one summary.
class Summary {
public:
    Summary(const json& result, const Layout& layout) : result_(result), layout_(layout) {}

    std::string text() {
        const json& machine = result_["machine"];
        const auto tiles = machine["chip"]["tiles"].get<std::int64_t>();
        line("workload", fmt::format("{}: {}", result_["workload"]["name"].get<std::string>(),
                                     result_["sentence"].get<std::string>()));
        line("machine",
             fmt::format("{}: {} tiles at {:.4g} GHz", machine["name"].get<std::string>(),
                         grouped(tiles), machine["chip"]["clock_hz"].get<double>() * 1e-9));
        unused();
        notes();
        line("cycles", fmt::format("{} ({})", grouped(result_["cycles"].get<std::int64_t>()),
                                   duration(result_["seconds"].get<double>())));
        speed();
        matrix_unit();
        if (result_.contains("estimate")) {
            estimate();
            return std::move(text_);
        }
        tiles_busy(tiles);
        shares("phases", result_["phases"], columns_.phases);
        shares("because of", result_["explanation"], columns_.explanation);
        line("critical", result_["critical_path"]["sentence"].get<std::string>());
        kernels();
        steps();
        sentences();
        memory();
        energy();
        results();
        check();
        host();
        return std::move(text_);
    }

private:
    void line(std::string_view head, const std::string& text) {
        text_ += paragraph(layout_, painted(layout_, Paint::Head, head), kHead, text);
    }

    /// What was set in vain.
    void unused() {
        for (const auto& [path, reason] : result_["unused_parameters"].items()) {
            line("unused", path + ": " + reason.get<std::string>());
        }
    }

    /// What there is to know before the figures are used.
    void notes() {
        for (const json& note : result_["notes"]) {
            line("note", note.get<std::string>());
        }
    }

    /// Of a machine whose matrix unit is not as built.
    void matrix_unit() {
        const double steps = result_["machine"].value("/amp/steps_per_issue"_json_pointer, 1.0);
        if (steps != 1 && result_.contains("matrix_unit")) {
            const json& unit = result_["matrix_unit"];
            line("amp",
                 fmt::format("{} steps an issue: {} MACs and {} bytes of memory a tile cycle",
                             steps, unit["macs_per_cycle"].get<std::int64_t>(),
                             unit["memory_bytes_per_cycle"].get<std::int64_t>()));
        }
    }

    void energy() {
        const json& energy = result_["energy"];
        const auto joules = [&](const char* key) { return joules_text(energy[key].get<double>()); };
        const std::string of_a_flop =
            energy.contains("pj_per_flop")
                ? fmt::format(", {:.4g} pJ a flop", energy["pj_per_flop"].get<double>())
                : "";
        line("energy",
             fmt::format("about {} ({} to {}), {:.3g} W{}", joules("total_j"), joules("low_j"),
                         joules("high_j"), energy["mean_w"].get<double>(), of_a_flop));
    }

    void speed() {
        if (result_.contains("tflops") && result_["flops"].get<std::int64_t>() > 0) {
            line("speed",
                 fmt::format("{}, {:.1f} % of the peak of {}",
                             quantity(1e3 * result_["tflops"].get<double>(), "FLOP/s"),
                             100 * result_["fraction_of_peak"].get<double>(),
                             quantity(1e3 * result_["peak_tflops"].get<double>(), "FLOP/s")));
            ceiling(result_["ceiling"]);
        }
        if (result_.contains("gbytes_per_s")) {
            line("speed",
                 fmt::format("{}: {} bytes", quantity(result_["gbytes_per_s"].get<double>(), "B/s"),
                             grouped(result_["useful_bytes"].get<std::int64_t>())));
        }
    }

    /// Of a product that the matrix units do not make, or not all of it.
    void ceiling(const json& ceiling) {
        const std::string units = ceiling["units"].get<std::string>();
        if (units != "matrix") {
            line("", fmt::format("element-wise products are made in the vector units, not in the "
                                 "matrix units: {:.1f} % of the {} that {} could make",
                                 100 * ceiling["fraction"].get<double>(),
                                 quantity(1e3 * ceiling["tflops"].get<double>(), "FLOP/s"),
                                 units == "vector" ? "they" : "both units together"));
        }
    }

    void tiles_busy(std::int64_t tiles) {
        std::string kinds;
        for (const Column& column : columns_.busy) {
            const auto busy =
                result_["tiles_busy_by_kind"][json::json_pointer(column.at)].get<std::int64_t>();
            if (busy > 0) {
                kinds += fmt::format("{} {} {}", kinds.empty() ? ":" : ",", column.heading,
                                     grouped(busy));
            }
        }
        line("tiles busy",
             fmt::format("{} of {}{}", grouped(result_["tiles_busy"].get<std::int64_t>()),
                         grouped(tiles), kinds));
    }

    /// A share of the run's cycles with its bar, which is as long as there is room at 100 %.
    void share(const char* head, const char* word, double cycles, double percent) {
        const std::string words =
            fmt::format("{:<18} {:>13} {:>6.1f} %", word, grouped(std::llround(cycles)), percent);
        const std::size_t before = kHead + words.size() + 2;
        const auto longest = static_cast<double>(
            std::min(kBarCharacters, std::max(layout_.columns, before + 1) - before));
        const auto bar = static_cast<std::size_t>(std::lround(percent / 100 * longest));
        text_ +=
            painted(layout_, Paint::Head, head) + std::string(kHead - width_of(head), ' ') + words +
            (bar == 0 ? "" : "  " + painted(layout_, Paint::Quiet, std::string(bar, '#'))) + "\n";
    }

    /// Of those parts of the run that took any.
    void shares(const char* head, const json& parts, const Columns& columns) {
        const auto whole = result_["cycles"].get<double>();
        for (const Column& column : columns) {
            const auto cycles = parts[json::json_pointer(column.at)].get<double>();
            if (cycles > 0) {
                share(head, column.heading, cycles, 100 * cycles / whole);
                head = "";
            }
        }
    }

    /// Whose the cycles were, where they are not all of one.
    void kernels() {
        const json& kernels = result_["kernels"];
        const auto owned = std::count_if(kernels.begin(), kernels.end(), [](const json& kernel) {
            return kernel["compute"].get<std::int64_t>() + kernel["exchange"].get<std::int64_t>() >
                   0;
        });
        if (owned < 2) {
            return;
        }
        std::vector<Row> rows{headings(columns_.kernels)};
        for (const json& kernel : kernels) {
            rows.push_back(row_of(kernel, columns_.kernels));
        }
        table_of("kernels", kHead, std::move(rows));
    }

    /// Of the two columns before it; empty for a step that had nothing to do.
    static std::string over_bound(const json& step) {
        const auto bound = step["critical_bound_cycles"].get<double>();
        return bound == 0 ? "" : fmt::format("{:.2f}", step["cycles"].get<double>() / bound);
    }

    static std::int64_t cycles_of(const json* step) {
        return (*step)["cycles"].get<std::int64_t>();
    }

    [[nodiscard]] std::vector<const json*> slowest_first() const {
        std::vector<const json*> steps;
        for (const char* list : {"compute_sets", "exchanges", "streams", "link_exchanges"}) {
            if (const auto found = result_.find(list);
                found != result_.end()) { // links: of systems
                for (const auto& step : *found) {
                    steps.push_back(&step);
                }
            }
        }
        std::stable_sort(steps.begin(), steps.end(), [](const json* left, const json* right) {
            return cycles_of(left) > cycles_of(right);
        });
        return steps;
    }

    /// Of the steps that take most of the run.
    void sentences() {
        const char* head = "why";
        const auto run = result_["cycles"].get<std::int64_t>();
        const std::vector<const json*> steps = slowest_first();
        for (std::size_t i = 0; i < std::min(steps.size(), kMostSentences); ++i) {
            const json* const step = steps[i];
            if (cycles_of(step) * kWorthASentence < run || cycles_of(step) == 0) {
                return;
            }
            const std::string name =
                clipped((*step)["name"].get<std::string>(),
                        std::max(layout_.columns, kHead + 1 + kLeastName) - kHead - 1);
            line(head, fmt::format("{}: {}", name, (*step)["sentence"].get<std::string>()));
            head = "";
        }
    }

    void steps() {
        const std::vector<const json*> steps = slowest_first();
        if (steps.empty()) {
            return;
        }
        const std::size_t shown = std::min(steps.size(), kSlowestSteps);
        std::vector<Row> rows{headings(columns_.steps)};
        rows.front().insert(rows.front().begin() + kOverBound, "x bound");
        for (std::size_t i = 0; i < shown; ++i) {
            rows.push_back(row_of(*steps[i], columns_.steps));
            rows.back().insert(rows.back().begin() + kOverBound, over_bound(*steps[i]));
        }
        steps_table(std::move(rows));
        if (shown < steps.size()) {
            std::int64_t rest = 0;
            for (std::size_t i = shown; i < steps.size(); ++i) {
                rest += cycles_of(steps[i]);
            }
            line("", fmt::format("and {} more of {} cycles together; --json lists all",
                                 steps.size() - shown, grouped(rest)));
        }
    }

    /// A narrow screen has the heading on a line of its own, and no means.
    void steps_table(std::vector<Row> rows) {
        const std::string_view head = "steps";
        const bool narrow = layout_.columns < Layout{}.columns;
        const std::size_t indent = narrow ? 2 : kHead;
        if (narrow) {
            constexpr std::ptrdiff_t kMean = 3;
            for (Row& row : rows) {
                row.erase(row.begin() + kMean);
            }
            line(head, "");
        }
        table_of(narrow ? "" : head, indent, std::move(rows));
    }

    /// With `head` in front of its headings.
    void table_of(std::string_view head, std::size_t indent, std::vector<Row> rows) {
        clip_names(rows, indent);
        std::vector<Align> columns(rows.front().size(), Align::Right);
        columns.front() = Align::Left;
        text_ += table(layout_, indent, columns, rows)
                     .replace(0, head.size(), painted(layout_, Paint::Head, head));
    }

    /// Shortens the names in the first column to what the others leave of a line.
    void clip_names(std::vector<Row>& rows, std::size_t indent) const {
        std::size_t others = indent;
        for (std::size_t column = 1; column < rows.front().size(); ++column) {
            std::size_t width = 0;
            for (const Row& row : rows) {
                width = std::max(width, row[column].size());
            }
            others += 2 + width;
        }
        const std::size_t room = std::max(layout_.columns, others + kLeastName) - others;
        for (Row& row : rows) {
            row.front() = clipped(row.front(), room);
        }
    }

    void memory() {
        const json& memory = result_["memory"];
        const auto most = memory["max_bytes"].get<std::int64_t>();
        const auto has = memory["tile_bytes"].get<std::int64_t>();
        line("memory",
             fmt::format("fullest tile {}: {} of {} bytes ({:.1f} %) in '{}'",
                         memory["worst_tile"].get<std::int64_t>(), grouped(most), grouped(has),
                         100.0 * static_cast<double>(most) / static_cast<double>(has),
                         memory["peak_step"].get<std::string>()));
        std::string kinds;
        for (const auto& [kind, bytes] : memory["worst_tile_bytes_by_kind"].items()) {
            if (bytes.get<std::int64_t>() > 0) {
                kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", kind,
                                     grouped(bytes.get<std::int64_t>()));
            }
        }
        if (!kinds.empty()) {
            line("", kinds);
        }
    }

    /// Where there are several.
    void results() {
        const json& all = result_["results"];
        if (all.size() < 2) {
            return;
        }
        std::string names;
        for (const json& one : all) {
            names += (names.empty() ? "" : ", ") + one["name"].get<std::string>();
        }
        line("results", fmt::format("{} tensors, each in output.NAME.npy of --out, the first in "
                                    "{} too: {}",
                                    all.size(), process::kAnswerFile, names));
    }

    void check() {
        const json& check = result_["check"];
        if (result_.contains("timing") && !result_["timing"].is_null()) {
            timing(result_["timing"]);
            return;
        }
        if (check.is_null()) {
            line("check", "not made");
            return;
        }
        const std::string sentence = check["sentence"].get<std::string>();
        const std::size_t word = sentence.find(' ');
        const Paint paint = check["passed"].get<bool>() ? Paint::Good : Paint::Bad;
        line("check", painted(layout_, paint, sentence.substr(0, word)) +
                          (word == std::string::npos ? "" : sentence.substr(word)));
    }

    /// What closed forms expect, and how near they come.
    void estimate() {
        const json& plan = result_["plan"];
        const json& predicted = plan["predicted_cycles"];
        const auto whole = result_["cycles"].get<double>();
        const char* head = "predicted";
        for (const char* kind : {"compute", "exchange", "sync"}) {
            const auto cycles = predicted[kind].get<double>();
            share(head, kind, cycles, whole == 0 ? 0 : 100 * cycles / whole);
            head = "";
        }
        const auto chunks = plan["chunks"].get<std::int64_t>();
        const std::string paired = plan["paired"].get<std::string>();
        line("division",
             fmt::format("{} x {} x {} parts of m, k and n{}{}; about {} bytes a tile",
                         plan["parts_m"].get<std::int64_t>(), plan["parts_k"].get<std::int64_t>(),
                         plan["parts_n"].get<std::int64_t>(),
                         chunks == 1 ? "" : fmt::format(" in {} chunks", chunks),
                         paired == "none" ? "" : ", " + paired + " at double width",
                         grouped(plan["bytes_estimated"].get<std::int64_t>())));
        const json& gap = result_["estimate"]["gap"];
        line("estimate",
             fmt::format("closed forms of {}; estimate over timing mode of {} products: mean "
                         "{:.2f}, {:.2f} to {:.2f}",
                         result_["estimate"]["family"].get<std::string>(), gap["rows"].get<int>(),
                         gap["mean"].get<double>(), gap["least"].get<double>(),
                         gap["most"].get<double>()));
        const json& host = result_["host"];
        line("host", fmt::format("plan {}, {:.0f} MiB", duration(host["plan_s"].get<double>()),
                                 host["peak_rss_bytes"].get<double>() / (1024.0 * 1024.0)));
    }

    void timing(const json& timing) {
        line("timing",
             fmt::format("of {} compute phases of tiles {} were run, {} counted; {} tiles "
                         "audited",
                         grouped(timing["phases"].get<std::int64_t>()),
                         grouped(timing["phases_run"].get<std::int64_t>()),
                         grouped(timing["phases_counted"].get<std::int64_t>()),
                         timing["audited_tiles"].get<std::int64_t>()));
        if (const auto unknown = timing["unknown_addresses"].get<std::int64_t>(); unknown > 0) {
            line("", fmt::format("{} loads and stores at addresses that depend on data",
                                 grouped(unknown)));
        }
        std::string missing;
        for (const json& one : timing["missing"]) {
            missing += (missing.empty() ? "" : ", ") + one.get<std::string>();
        }
        line("", "not found without data: " + missing);
    }

    void host() {
        const json& host = result_["host"];
        line("host",
             fmt::format("plan {}, simulate {} ({:.1f} M bundles/s, {} threads), check {}, "
                         "{:.0f} MiB",
                         duration(host["plan_s"].get<double>()),
                         duration(host["simulate_s"].get<double>()),
                         host["bundles_per_s"].get<double>() * 1e-6, host["threads"].get<int>(),
                         duration(host["check_s"].get<double>()),
                         host["peak_rss_bytes"].get<double>() / (1024.0 * 1024.0)));
    }

    const json& result_;
    const Layout& layout_;
    const ResultColumns columns_ = result_columns();
    std::string text_;
};

std::string of_peak_text(const json& result) {
    return result.contains("fraction_of_peak")
               ? fmt::format("{:.1f} %", 100 * result["fraction_of_peak"].get<double>())
               : "-";
}

} // namespace

std::string summary_text(const nlohmann::json& result, const Layout& layout) {
    return Summary(result, layout).text();
}

std::string ratio_text(const std::vector<nlohmann::json>& results, const Layout& layout,
                       bool with_machines) {
    std::vector<Row> rows{{"workload", "cycles", "time", "of peak", "cycles ratio"}};
    std::vector<Align> aligns{Align::Left, Align::Right, Align::Right, Align::Right, Align::Right};
    if (with_machines) {
        rows.front().insert(rows.front().begin() + 1, "machine");
        rows.front().emplace_back("time ratio");
        aligns.insert(aligns.begin() + 1, Align::Left);
        aligns.push_back(Align::Right);
    }
    const auto ratio = [&](const nlohmann::json& result, const char* key) {
        const auto first = results.front()[key].get<double>();
        return fmt::format("{:.3f}", first == 0 ? 0.0 : result[key].get<double>() / first);
    };
    for (const auto& result : results) {
        Row& row = rows.emplace_back(Row{result["workload"]["name"].get<std::string>()});
        if (with_machines) {
            row.push_back(result["machine"]["name"].get<std::string>());
        }
        row.push_back(grouped(result["cycles"].get<std::int64_t>()));
        row.push_back(duration(result["seconds"].get<double>()));
        row.push_back(of_peak_text(result));
        row.push_back(ratio(result, "cycles"));
        if (with_machines) {
            row.push_back(ratio(result, "seconds"));
        }
    }
    return table(layout, 0, aligns, rows);
}

} // namespace tessera::result
