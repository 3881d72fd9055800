// SPDX-License-Identifier: MIT
#include "kernels/exchange/exchange_planner.h"

#include "base/activity.h"
#include "kernels/exchange/exchange_check.h"
#include "kernels/exchange/exchange_jobs.h"
#include "kernels/exchange/exchange_orders.h"
#include "kernels/exchange/exchange_parts.h"
#include "kernels/exchange/exchange_schedule.h"
#include "kernels/exchange/exchange_timelines.h"
#include "models/timing/exchange_latency.h"

#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <utility>

namespace tessera::plan {

namespace {

/// A schedule nearer to the bound than this factor and one typical latency is taken at once.
constexpr double kGoodEnough = 1.03;
constexpr Cycles kTypicalLatency = 100;

/// Receivers that one exchange may place in all its attempts, after the first: about a quarter of a
/// second.
constexpr std::size_t kAttemptBudget = 500'000;

/// Messages that the search for an order may look at: a tenth of a second.
constexpr std::size_t kMostLooks = 30'000'000;

/// Tries orders until one is good enough or the budget is spent; keeps the best.
class Attempts {
public:
    Attempts(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing,
             const JobList& list, Cycles bound)
        : machine_(machine), timing_(timing),
          near_bound_(static_cast<Cycles>(kGoodEnough * static_cast<double>(bound)) +
                      kTypicalLatency),
          good_(std::max(near_bound_, longest_alone(list))) {}

    [[nodiscard]] const ExchangeSchedule& best() const { return *best_; }
    [[nodiscard]] const JobList& best_list() const { return *best_list_; }

    [[nodiscard]] bool good() const {
        return best_ != nullptr && best_->longest_row_events() <= good_;
    }

    /// Whether a further attempt at `list` is wanted and within the budget.
    [[nodiscard]] bool go_on(const JobList& list) const {
        return !good() && (spent_ == 0 || spent_ + list.receivers.size() <= kAttemptBudget);
    }

    /// Messages taken apart in another way.
    void try_parts(Parts parts) {
        const auto& list = lists_.emplace_back(std::move(parts.list));
        try_order(list, std::move(parts.order));
    }

    /// The best order again, with far receivers served first. This may be shorter than the longest
    /// message that is sent to all its receivers at once.
    void try_far_first() {
        if (best_->longest_row_events() > near_bound_ && best_rules_.least_piece == 0)
            if (auto parts = far_first(*best_list_, best_order_, timing_))
                try_parts(std::move(*parts));
    }

    /// `list` outlives the attempts.
    void try_order(const JobList& list, JobOrder order, const PlacementRules& rules = {}) {
        auto schedule = std::make_unique<ExchangeSchedule>(machine_, timing_, list);
        schedule->place_all(order, rules);
        spent_ += list.receivers.size();
        if (best_ && schedule->longest_row_events() >= best_->longest_row_events())
            return;
        best_ = std::move(schedule);
        best_list_ = &list;
        best_order_ = std::move(order);
        best_rules_ = rules;
    }

    /// The best order again, with messages divided where that fills a gap.
    void try_pieces(std::uint32_t least) {
        auto rules = best_rules_;
        rules.least_piece = least;
        try_order(*best_list_, best_order_, rules);
    }

private:
    /// Row events of the message that takes longest when it is alone.
    [[nodiscard]] Cycles longest_alone(const JobList& list) const {
        Cycles longest = 0;
        for (const auto& job : list.jobs) {
            Cycles latency = 0;
            Cycles start = 0;
            for (const auto& to : list.of(job)) {
                latency = std::max(latency, to.offset(job.wide) + timing_.mux_to_pointer(to.tile));
                start = std::max(start, -to.offset(job.wide));
            }
            longest = std::max(longest, start + latency + list.events(job, job.wide) +
                                            machine_.exchange.row_tail_cycles);
        }
        return longest;
    }

    const spec::MachineSpec& machine_;
    const timing::ExchangeTiming& timing_;
    Cycles near_bound_;
    Cycles good_; ///< row events that need no further attempt
    std::size_t spent_ = 0;
    std::unique_ptr<ExchangeSchedule> best_;
    const JobList* best_list_ = nullptr;
    std::list<JobList> lists_; ///< those that attempts have made
    JobOrder best_order_;
    PlacementRules best_rules_;
};

void find_schedule(Attempts& attempts, const JobList& list, const timing::TileGrid& grid,
                   const timing::ExchangeBound& bound, bool far_first_too) {
    const bool multicasts = list.receivers.size() > list.jobs.size();
    const auto try_order = [&](JobOrder order) { attempts.try_order(list, std::move(order)); };
    if (multicasts) {
        const auto grouped = grouped_order(list, grid);
        try_order(grouped);
        // Wide messages wait for complete pairs; where these are scattered, 32 bits win.
        if (attempts.go_on(list) && std::any_of(list.jobs.begin(), list.jobs.end(),
                                                [](const Job& job) { return job.wide; }))
            attempts.try_order(list, grouped, {.wide = false});
        if (attempts.go_on(list))
            if (auto parts = divide_receivers(list, grid, bound))
                attempts.try_parts(std::move(*parts));
    }
    for (auto* order : {shift_order, busiest_order, round_order})
        if (attempts.go_on(list))
            try_order(order(list, grid));
    // Dividing messages costs row instructions, so large pieces come first.
    for (const std::uint32_t least : {2U, 1U})
        if (attempts.go_on(list))
            attempts.try_pieces(least);
    if (attempts.go_on(list))
        if (auto order = earliest_order(list, grid, kMostLooks))
            try_order(std::move(*order));
    if (attempts.go_on(list))
        try_order(given_order(list));
    if (multicasts && far_first_too)
        attempts.try_far_first();
}

ExchangeStats stats_of(const JobList& list, const ExchangeSchedule& schedule,
                       std::span<const program::ExchangeRow> rows) {
    ExchangeStats stats;
    for (std::size_t index = 0; index < list.jobs.size(); ++index) {
        const auto& job = list.jobs[index];
        stats.words_sent += job.words;
        stats.words_received += std::int64_t{job.words} * job.receivers;
        const bool wide = schedule.placements()[index].wide; // further pieces are not
        stats.wide_messages += wide ? 1 : 0;
        stats.lowered_messages += job.paired && !wide ? 1 : 0;
    }
    for (const auto& row : rows) {
        const auto bytes = static_cast<Bytes>(row.words.size() * 4);
        stats.row_bytes += bytes;
        stats.longest_row_bytes = std::max(stats.longest_row_bytes, bytes);
    }
    stats.longest_row_events = schedule.longest_row_events();
    stats.active_tiles = static_cast<std::int64_t>(rows.size());
    return stats;
}

/// Of a fabric that executes no rows.
ExchangeStats stats_without_rows(std::span<const program::Transfer> transfers,
                                 std::span<const timing::TransferRun> runs, Cycles bound) {
    ExchangeStats stats;
    stats.longest_row_events = bound;
    for (const auto& run : runs) {
        const std::int64_t words = run.bytes / 4;
        stats.words_sent += words;
        stats.words_received +=
            words * static_cast<std::int64_t>(transfers[run.first].destinations.size());
    }
    return stats;
}

/// Rows and their statistics.
void plan_rows(const spec::MachineSpec& machine, std::span<const program::Transfer> transfers,
               std::span<const timing::TransferRun> runs, const timing::ExchangeBound& bound,
               PlannedExchange& plan) {
    const timing::ExchangeTiming timing{machine};
    std::optional<Activity> activity(std::in_place, "finding messages");
    const auto list = make_jobs(timing, transfers, runs);
    activity.emplace("placing messages");
    Attempts attempts{machine, timing, list, bound.cycles()};
    find_schedule(attempts, list, timing.grid(), bound, machine.exchange.far_first);
    activity.emplace("writing rows");
    const auto& best = attempts.best_list();
    plan.exchange.rows = Timelines{machine, timing, best, attempts.best()}.rows();
    plan.stats = stats_of(best, attempts.best(), plan.exchange.rows);
}

} // namespace

PlannedExchange plan_exchange_with_stats(const spec::MachineSpec& machine, std::string name,
                                         std::vector<program::Transfer> transfers) {
    PlannedExchange plan;
    std::vector<timing::TransferRun> runs;
    const Activity planning("planning an exchange");
    tbb::parallel_invoke([&] { check_transfers(machine, name, transfers); },
                         [&] { runs = timing::transfer_runs(machine, transfers); });
    const auto bound = timing::exchange_bound(machine, transfers, runs);
    if (machine.exchange.fabric == spec::Fabric::Compiled)
        plan_rows(machine, transfers, runs, bound, plan);
    else
        plan.stats = stats_without_rows(transfers, runs, bound.cycles());
    plan.stats.bound = bound;
    plan.exchange.name = std::move(name);
    plan.exchange.transfers = std::move(transfers);
    return plan;
}

program::Exchange plan_exchange(const spec::MachineSpec& machine, std::string name,
                                std::vector<program::Transfer> transfers) {
    return plan_exchange_with_stats(machine, std::move(name), std::move(transfers)).exchange;
}

} // namespace tessera::plan
