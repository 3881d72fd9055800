// SPDX-License-Identifier: MIT
#include "sim/calibrate/report_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tessera::calibrate {
namespace {

std::string target_text(const Target& target) {
    std::vector<std::string> parts;
    const auto add = [&](const char* what, const std::optional<double>& most) {
        if (most) {
            parts.push_back(fmt::format("{} {:.0f} %", what, 100 * *most));
        }
    };
    add("mean", target.error_mean);
    add("p90", target.error_p90);
    add("each", target.error_most);
    if (target.ratio_mean) {
        parts.insert(parts.begin(), fmt::format("{:.2f}..{:.2f}", target.ratio_mean->least,
                                                target.ratio_mean->most));
    }
    if (target.sign_share) {
        parts.push_back(fmt::format("sign {:.0f} %", 100 * *target.sign_share));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

struct MarkText {
    bool Group::Marks::*mark;
    const char* sign;
    const char* meaning;
};

constexpr std::array kMarks{
    MarkText{&Group::Marks::read, "*", "loops or parts were read from rows of this group"},
    MarkText{&Group::Marks::chosen, "+",
             "which steps of a run are timed was chosen after its figures were seen"},
    MarkText{&Group::Marks::constant, "=",
             "most of its figures is one constant of the machine or of the measuring program"}};

bool is_of_kernels(const std::string& group) {
    return group_of(group).kind != Group::Kind::Micro;
}

std::string ratio_text(const std::optional<double>& ratio) {
    return ratio ? fmt::format("{:.3f}", *ratio) : "-";
}

} // namespace

std::string percent_text(double fraction) {
    return fmt::format("{:.1f} %", 100 * fraction);
}

std::string verdict(const GroupOutcome& outcome, const Layout& layout) {
    std::string target = target_text(outcome.group.target);
    const bool judged = outcome.nearness.rows > 0 || outcome.failed > 0;
    target += target.empty()      ? "none"
              : !judged           ? ": no row judged"
              : outcome.reached() ? ": " + painted(layout, Paint::Good, "reached")
                                  : ": " + painted(layout, Paint::Bad, "MISSED");
    if (outcome.group.target.sign_share) {
        target +=
            fmt::format(", {} of {}", percent_text(outcome.signs.share()), outcome.signs.rows);
    }
    target += outcome.failed == 0 ? "" : fmt::format(", {} failed", outcome.failed);
    return target + (outcome.not_modelled == 0
                         ? ""
                         : fmt::format(", {} not modelled", outcome.not_modelled));
}

std::string marked_name(const Group& group) {
    std::string signs;
    for (const MarkText& mark : kMarks) {
        signs += group.marks.*mark.mark ? mark.sign : "";
    }
    return group.name + (signs.empty() ? "" : " " + signs);
}

std::string marks_text(const std::vector<GroupOutcome>& outcomes, const Layout& layout) {
    std::string text;
    for (const MarkText& mark : kMarks) {
        const bool is_used =
            std::any_of(outcomes.begin(), outcomes.end(), [&](const GroupOutcome& outcome) {
                return outcome.group.marks.*mark.mark;
            });
        text += is_used ? wrapped(layout, 0, fmt::format("{}: {}", mark.sign, mark.meaning)) : "";
    }
    return text.empty() ? ""
                        : text + wrapped(layout, 0,
                                         "such figures test less than they seem to: "
                                         "docs/evidence.md#calibrated-rows");
}

RowLines::RowLines(const Calibration& calibration, const Layout& layout, bool of_kernels)
    : layout_(layout), of_kernels_(of_kernels) {
    for (const RowOutcome& row : calibration.rows) {
        if (row.measurement() != nullptr && is_of_kernels(row.measurement()->group) == of_kernels) {
            id_width_ = std::max(id_width_, row.row.id().size());
            unit_width_ = std::max(unit_width_, row.row.text("unit").size());
        }
    }
}

std::string RowLines::heading() const {
    return painted(layout_, Paint::Quiet,
                   line("row", "unit", "measured", "simulated", "ratio", "no sync", "ours")) +
           "\n";
}

std::string RowLines::row(const RowOutcome& row) const {
    const std::string head = line(row.row.id(), row.row.text("unit"), row.row.text("value"),
                                  row.simulated      ? fmt::format("{:.5g}", *row.simulated)
                                  : row.not_modelled ? "-"
                                                     : "failed",
                                  ratio_text(row.ratio()), ratio_text(row.no_sync_ratio()),
                                  ratio_text(row.ours_ratio()));
    std::vector<std::string> notes;
    if (std::string note = row.note(); !note.empty()) {
        notes.push_back(std::move(note));
    }
    if (!row.best.empty()) {
        notes.push_back(fmt::format("best: {}", fmt::join(row.best, " and ")));
    }
    if (const auto spread = row.spread()) {
        notes.push_back(
            fmt::format("{} seeds, {} apart", row.of_seeds.size(), percent_text(*spread - 1)));
    }
    return paragraph(layout_, head, head.size() + 2, fmt::format("{}", fmt::join(notes, "; ")));
}

std::string RowLines::line(const std::string& id, const std::string& unit,
                           const std::string& measured, const std::string& simulated,
                           const std::string& ratio, const std::string& no_sync,
                           const std::string& ours) const {
    const std::string text = fmt::format("{:<{}}  {:<{}}  {:>9}  {:>9}  {:>6}", id, id_width_, unit,
                                         unit_width_, measured, simulated, ratio);
    return of_kernels_ ? fmt::format("{}  {:>7}  {:>6}", text, no_sync, ours) : text;
}

std::string rows_text(const Calibration& calibration, const Layout& layout, bool of_kernels) {
    const RowLines lines(calibration, layout, of_kernels);
    std::string text;
    for (const GroupOutcome& outcome : group_outcomes(calibration)) {
        if (is_of_kernels(outcome.group.name) != of_kernels) {
            continue;
        }
        text += "\n" + painted(layout, Paint::Head, outcome.group.name) + "\n";
        for (const RowOutcome& row : calibration.rows) {
            if (row.measurement() != nullptr && row.measurement()->group == outcome.group.name) {
                text += lines.row(row);
            }
        }
    }
    return text.empty() ? "" : lines.heading() + text;
}

} // namespace tessera::calibrate
