// SPDX-License-Identifier: MIT
#include "sim/calibrate/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::calibrate {
namespace {

constexpr std::size_t kWorst = 5;

std::optional<double> ratio_of(const RowOutcome& row, const std::optional<double>& simulated) {
    if (!simulated) {
        return std::nullopt;
    }
    const double ratio = *simulated / row.row.value();
    return row.measurement()->ratio_of_times ? 1 / ratio : ratio;
}

bool has_kind(const RowOutcome& row, Group::Kind kind) {
    return row.measurement() != nullptr && group_of(row.measurement()->group).kind == kind;
}

/// The ratio whose distance from 1 is the row's error. Below a ceiling, and within chance, there is none.
double judged_ratio(const RowOutcome& row) {
    const double ratio = *row.ratio();
    if (std::abs(*row.simulated - row.row.value()) <= row.measurement()->allowed) {
        return 1;
    }
    return has_kind(row, Group::Kind::Ceilings) ? std::min(1.0, ratio) : ratio;
}

/// Ratios and gaps of a group's judged rows.
struct Collected {
    std::vector<double> ratios;
    std::vector<double> no_sync;
    std::vector<double> ours;
    std::vector<double> spreads;
    std::vector<Factors> factors;
    std::vector<Factors> ours_factors;
    std::vector<Gap> gaps;

    void add(const RowOutcome& row) {
        const auto add_if = [](std::vector<double>& to, const std::optional<double>& ratio) {
            if (ratio) {
                to.push_back(*ratio);
            }
        };
        ratios.push_back(judged_ratio(row));
        add_if(spreads, row.spread());
        add_if(no_sync, row.no_sync_ratio());
        add_if(ours, row.ours_ratio());
        factors.push_back({row.row.value(), *row.simulated});
        if (row.ours) {
            ours_factors.push_back({row.row.value(), *row.ours});
        }
        if (const auto gap = row.gap()) {
            gaps.push_back(*gap);
        }
    }
};

double distance(const RowOutcome& row) {
    return std::abs(std::log(judged_ratio(row)));
}

void keep_worst(std::vector<const RowOutcome*>& rows) {
    std::erase_if(rows, [](const RowOutcome* row) { return distance(*row) == 0; });
    std::stable_sort(rows.begin(), rows.end(), [](const auto* left, const auto* right) {
        return distance(*left) > distance(*right);
    });
    rows.resize(std::min(rows.size(), kWorst));
}

/// Nothing where the group has no rows.
std::optional<GroupOutcome> outcome_of_group(const Group& group, const Calibration& calibration) {
    GroupOutcome outcome{.group = group, .nearness = {}};
    Collected of;
    std::vector<double> ours_alone;
    std::size_t rows = 0;
    for (const RowOutcome& row : calibration.rows) {
        if (row.measurement() == nullptr || row.measurement()->group != group.name) {
            continue;
        }
        ++rows;
        const std::string use = row.use();
        if (use == "not modelled" && row.ours) {
            ours_alone.push_back(*row.ours_ratio());
        }
        outcome.failed += use == "failed" ? 1 : 0;
        outcome.not_modelled += use == "not modelled" ? 1 : 0;
        if (use == "judged" || use == "open") {
            of.add(row);
            outcome.worst.push_back(&row);
        }
    }
    outcome.nearness = nearness(of.ratios);
    outcome.no_sync = nearness(of.no_sync);
    outcome.ours = nearness(of.ratios.empty() ? ours_alone : of.ours);
    outcome.unexplained = unexplained(of.gaps);
    if (!of.spreads.empty()) {
        outcome.spread = nearness(of.spreads).ratio_mean;
    }
    if (group.target.sign_share) {
        const double clear = group.kind == Group::Kind::Signs ? kClear : 0;
        outcome.signs = signs(of.factors, clear);
        outcome.ours_signs = signs(of.ours_factors, clear);
    }
    if (group.kind == Group::Kind::Micro) {
        outcome.worst.clear();
    }
    keep_worst(outcome.worst);
    return rows > 0 ? std::optional(std::move(outcome)) : std::nullopt;
}

} // namespace

const std::string& RowOutcome::group() const {
    const auto* none = std::get_if<NotCovered>(&mapped);
    return none != nullptr ? none->group : measurement()->group;
}

std::optional<double> RowOutcome::ratio() const {
    return ratio_of(*this, simulated);
}

std::optional<double> RowOutcome::ours_ratio() const {
    return ratio_of(*this, ours);
}

std::optional<double> RowOutcome::spread() const {
    if (of_seeds.empty()) {
        return std::nullopt;
    }
    const auto [least, most] = std::minmax_element(of_seeds.begin(), of_seeds.end());
    return *most / *least;
}

std::optional<double> RowOutcome::no_sync_ratio() const {
    const auto with = ratio();
    if (!with || facts.size() != 1 || !facts[0].sync_cycles ||
        !has_kind(*this, Group::Kind::Kernels)) {
        return std::nullopt;
    }
    return *with * (facts[0].cycles - *facts[0].sync_cycles) / facts[0].cycles;
}

std::optional<Gap> RowOutcome::gap() const {
    if (!ratio() || facts.size() != 1 || !has_kind(*this, Group::Kind::Kernels)) {
        return std::nullopt;
    }
    // facts are those of the first seed
    const auto of_facts = of_seeds.empty() ? ratio() : ratio_of(*this, of_seeds.front());
    return Gap{.measured_cycles = facts[0].cycles / *of_facts,
               .simulated_cycles = facts[0].cycles,
               .words = facts[0].words_per_tile,
               .steps = facts[0].steps};
}

std::string RowOutcome::use() const {
    if (measurement() == nullptr) {
        return "not covered";
    }
    if (!simulated) {
        return not_modelled ? "not modelled" : "failed";
    }
    return !row.text("calibrates").empty()                ? "calibrated"
           : group_of(measurement()->group).target.asks() ? "judged"
                                                          : "open";
}

std::string RowOutcome::note() const {
    if (const auto* none = std::get_if<NotCovered>(&mapped)) {
        return none->reason;
    }
    if (!simulated) {
        return failure;
    }
    const std::string taken = row.text("calibrates");
    const std::string& assumed = measurement()->assumed;
    const double allowed = measurement()->allowed;
    const std::string open = use() == "open" ? "open, not judged"
                             : allowed > 0   ? fmt::format("within {:.4f} by chance", allowed)
                                             : "";
    return !taken.empty() ? fmt::format("{} was taken from this row", taken)
           : assumed.empty()
               ? open
               : fmt::format("{}{}assumed: {}", open, open.empty() ? "" : "; ", assumed);
}

std::vector<GroupOutcome> group_outcomes(const Calibration& calibration) {
    std::vector<GroupOutcome> outcomes;
    for (const Group& group : groups()) {
        if (auto outcome = outcome_of_group(group, calibration)) {
            outcomes.push_back(std::move(*outcome));
        }
    }
    return outcomes;
}

} // namespace tessera::calibrate
