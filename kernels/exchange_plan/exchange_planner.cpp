// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_planner.h"

#include "base/activity.h"
#include "kernels/exchange_plan/exchange_check.h"
#include "kernels/exchange_plan/exchange_jobs.h"
#include "kernels/exchange_plan/exchange_late_first.h"
#include "kernels/exchange_plan/exchange_orders.h"
#include "kernels/exchange_plan/exchange_parts.h"
#include "kernels/exchange_plan/exchange_schedule.h"
#include "kernels/exchange_plan/exchange_timelines.h"
#include "kernels/exchange_plan/known_schedules.h"
#include "kernels/exchange_plan/search_effort.h"
#include "models/timing/exchange_latency.h"

#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <list>
#include <optional>
#include <span>
#include <utility>

namespace tessera::exchange_plan {

namespace {

/// A schedule nearer to the bound than this factor and one typical latency is taken at once.
constexpr double kGoodEnough = 1.03;
constexpr Cycles kTypicalLatency = 100;

/// A multicast that would end behind this factor of the bound and one typical latency goes to each receiver by itself.
/// That is little enough to find gaps, and early enough to leave room behind what stays whole.
constexpr double kLate = 0.97;

/// The first order with late tiles in front is seldom shorter than the one that it comes from.
constexpr std::size_t kFewestLateFirst = 2;

/// Where the first orders with late tiles in front come to the same within a part of this size, the order does not
/// matter: messages wait for each other, such as those of both members of a pair that want double width.
constexpr std::size_t kLateFirstLooks = 3;
constexpr Cycles kSamePart = 200;

/// Events of the smallest pieces that are tried first: dividing messages costs row instructions.
constexpr std::uint32_t kLeastPiece = 2;

/// One way to send the messages of a list.
struct Attempt {
    const JobList* list = nullptr;
    const Parts* parts = nullptr; ///< whose list it is, where messages are taken apart
    JobOrder order;
    PlacementRules rules;
};

/// Tries orders until one is good enough or the budget is spent; keeps the best.
class Attempts {
public:
    Attempts(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing,
             const JobList& list, Cycles bound, const SearchEffort& effort)
        : machine_(machine), timing_(timing), effort_(effort), size_(list.receivers.size()),
          late_(static_cast<Cycles>(kLate * static_cast<double>(bound)) + kTypicalLatency),
          near_bound_(static_cast<Cycles>(kGoodEnough * static_cast<double>(bound)) +
                      kTypicalLatency),
          good_(std::max(near_bound_, longest_alone(list))) {}

    [[nodiscard]] const Attempt& best() const { return best_; }
    [[nodiscard]] Schedule& schedule() { return *schedule_; }

    /// Whether a further attempt is wanted and within the budget.
    [[nodiscard]] bool go_on() const {
        return !(schedule_ && schedule_->longest_row_events <= good_) && affords(1);
    }
    /// Whether so many attempts are within the budget. The first always is.
    [[nodiscard]] bool affords(std::size_t attempts) const {
        return spent_ + attempts * size_ <= std::max(effort_.attempts, size_);
    }

    /// Messages taken apart in another way.
    void try_parts(Parts made) {
        const auto& parts = parts_.emplace_back(std::move(made));
        try_one({&parts.list, &parts, parts.order, {}});
    }

    /// An attempt again, with what comes late sent to each receiver by itself.
    void try_late_alone(Attempt attempt) {
        auto rules = attempt.rules;
        rules.late = late_;
        MessagePlacer placer{machine_, timing_, *attempt.list};
        bool shorter = placer.place_all(attempt.order, rules, to_beat());
        if (shorter && !placer.aside().empty()) {
            auto made = late_alone(*attempt.list, attempt.order, placer.aside());
            if (attempt.parts != nullptr)
                made.of_job = of_whole(*attempt.parts, made.of_job);
            attempt.parts = &parts_.emplace_back(std::move(made));
            attempt.list = &attempt.parts->list;
            const std::span<const std::uint32_t> order = attempt.order = attempt.parts->order;
            attempt.rules.least_piece = kLeastPiece;
            placer.go_on(*attempt.list);
            shorter = placer.place_all(order.last(attempt.parts->late), attempt.rules, to_beat());
        }
        take(std::move(attempt), shorter ? std::optional(placer.take_schedule()) : std::nullopt);
    }

    /// The best order again, with far receivers served first. This may be shorter than the longest
    /// message that is sent to all its receivers at once.
    void try_far_first() {
        if (schedule_->longest_row_events > near_bound_ && best_.rules.least_piece == 0)
            if (auto parts = far_first(*best_.list, best_.order, timing_)) {
                if (best_.parts != nullptr)
                    parts->of_job = of_whole(*best_.parts, parts->of_job);
                try_parts(std::move(*parts));
            }
    }

    /// Begins the search of try_late_first() on another host thread, where an attempt takes long: seldom does an attempt
    /// that comes before it make the best shorter.
    void begin_late_first() {
        if (!go_on() || size_ < effort_.settled_from ||
            tbb::this_task_arena::max_concurrency() == 1)
            return;
        look_for_late_first();
        if (late_first_)
            begun_.run([this] { late_first_->run(*this); });
    }

    /// The best order again and again, each time with the messages of late tiles further in front.
    void try_late_first() {
        begun_.wait();
        if (!late_first_ || late_first_->from != bests_) {
            look_for_late_first();
            if (!late_first_)
                return;
            late_first_->run(*this);
        }
        if (late_first_->best)
            take(std::move(late_first_->of_best), std::move(late_first_->best));
    }

    /// The list outlives the attempts.
    void try_one(Attempt attempt) {
        auto made = placed(attempt);
        take(std::move(attempt), std::move(made));
    }

    /// What `first` and `second` make, in turn while attempts at `list` are wanted. Where there are host threads for
    /// it they are placed at once; the second then counts as if it had come after the first.
    template <typename First, typename Second> void try_two(First first, Second second) {
        const bool both = affords(2) && tbb::this_task_arena::max_concurrency() > 1;
        if (!go_on())
            return;
        if (!both) {
            try_made(first());
            if (go_on())
                try_made(second());
            return;
        }
        std::array<std::optional<Attempt>, 2> attempts;
        std::array<std::optional<Schedule>, 2> made;
        const auto make = [&](std::size_t i, auto& maker) {
            attempts[i] = maker();
            if (attempts[i])
                made[i] = placed(*attempts[i]);
        };
        tbb::parallel_invoke([&] { make(0, first); }, [&] { make(1, second); });
        for (std::size_t i = 0; i < attempts.size(); ++i)
            if (attempts[i] && go_on())
                take(std::move(*attempts[i]), std::move(made[i]));
    }

private:
    /// Attempts that each put late tiles further in front than the one before.
    struct LateFirstSearch {
        std::size_t from = 0; ///< bests that there were before
        Cycles to_beat = 0;
        LateFirst orders;
        Attempt attempt;                ///< the next one
        std::optional<Schedule> best{}; ///< nothing where none is shorter than the best before
        Attempt of_best{};

        /// Ends early where there is another best meanwhile.
        void run(const Attempts& of) {
            auto least = std::numeric_limits<Cycles>::max();
            Cycles longest = 0;
            for (std::size_t i = 0; i < of.most_late_first() && to_beat > of.near_bound_; ++i) {
                const bool is_settled = i == kLateFirstLooks &&
                                        of.size_ >= of.effort_.settled_from &&
                                        longest - least < longest / kSamePart;
                if (is_settled || of.bests_ != from)
                    return;
                MessagePlacer placer{of.machine_, of.timing_, *attempt.list};
                placer.place_all(attempt.order, attempt.rules);
                const Cycles events = placer.schedule().longest_row_events;
                least = std::min(least, events);
                longest = std::max(longest, events);
                auto next = orders.next(placer.schedule());
                if (events < to_beat) {
                    to_beat = events;
                    best = placer.take_schedule();
                    of_best = attempt;
                }
                attempt.order = std::move(next);
            }
        }
    };

    [[nodiscard]] std::size_t most_late_first() const {
        return std::min(effort_.most_late_first, effort_.late_first / size_);
    }

    /// Makes a search from the best; none where none is wanted or within the budget.
    void look_for_late_first() {
        late_first_.reset();
        if (schedule_->longest_row_events <= near_bound_ || most_late_first() < kFewestLateFirst)
            return;
        LateFirst orders{*best_.list, best_.order, schedule_->rows.size()};
        Attempt attempt = best_;
        attempt.rules.least_piece = kLeastPiece;
        attempt.order = orders.next(*schedule_);
        late_first_.emplace(
            LateFirstSearch{bests_, to_beat(), std::move(orders), std::move(attempt)});
    }

    /// Row events of the best, of which a better one has fewer.
    [[nodiscard]] Cycles to_beat() const {
        return schedule_ ? schedule_->longest_row_events : std::numeric_limits<Cycles>::max();
    }

    /// Parts of `parts` as parts of whole messages.
    static std::vector<std::uint32_t> of_whole(const Parts& parts,
                                               std::vector<std::uint32_t> jobs) {
        for (auto& job : jobs)
            job = parts.of_job[job];
        return jobs;
    }

    void try_made(std::optional<Attempt> attempt) {
        if (attempt)
            try_one(std::move(*attempt));
    }

    /// Nothing where the rows are not shorter than the best.
    [[nodiscard]] std::optional<Schedule> placed(const Attempt& attempt) const {
        MessagePlacer placer{machine_, timing_, *attempt.list};
        const bool shorter = placer.place_all(attempt.order, attempt.rules, to_beat());
        return shorter ? std::optional(placer.take_schedule()) : std::nullopt;
    }

    void take(Attempt attempt, std::optional<Schedule> made) {
        spent_ += size_;
        if (!made || made->longest_row_events >= to_beat())
            return;
        schedule_ = std::move(made);
        best_ = std::move(attempt);
        ++bests_;
    }

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
    const SearchEffort& effort_;
    std::size_t size_; ///< receivers of the exchange
    Cycles late_;      ///< what would end behind this event is late
    Cycles near_bound_;
    Cycles good_;            ///< row events that need no further attempt
    std::size_t spent_ = 0;  ///< receivers that attempts have placed
    std::list<Parts> parts_; ///< those that attempts have made
    Attempt best_;
    std::optional<Schedule> schedule_;          ///< of the best
    std::atomic<std::size_t> bests_ = 0;        ///< so far
    std::optional<LateFirstSearch> late_first_; ///< the one that was begun last
    tbb::task_group begun_;
};

void find_schedule(Attempts& attempts, const JobList& list, const timing::TileGrid& grid,
                   const timing::ExchangeBound& bound, bool far_first_too,
                   const SearchEffort& effort) {
    const bool multicasts = list.receivers.size() > list.jobs.size();
    const auto in_order = [&](JobOrder order) {
        return std::optional(Attempt{&list, nullptr, std::move(order), {}});
    };
    // The best again, with messages divided where that fills a gap. Dividing them costs row
    // instructions, so large pieces come first.
    const auto in_pieces = [&](std::uint32_t least) -> std::optional<Attempt> {
        auto attempt = attempts.best();
        if (attempt.rules.least_piece == least)
            return std::nullopt;
        attempt.rules.least_piece = least;
        return attempt;
    };
    if (multicasts) {
        const Attempt grouped{&list, nullptr, grouped_order(list, grid), {}};
        if (attempts.affords(2))
            attempts.try_one(grouped);
        else
            attempts.try_late_alone(grouped);
        attempts.begin_late_first();
        // Wide messages wait for complete pairs; where these are scattered, 32 bits win.
        if (attempts.go_on() && std::any_of(list.jobs.begin(), list.jobs.end(),
                                            [](const Job& job) { return job.wide; }))
            attempts.try_one({&list, nullptr, grouped.order, {.wide = false}});
        if (attempts.go_on())
            if (auto parts = divide_receivers(list, grid, bound))
                attempts.try_parts(std::move(*parts));
        if (attempts.go_on())
            attempts.try_late_alone(attempts.best());
        if (attempts.go_on())
            if (auto attempt = in_pieces(kLeastPiece))
                attempts.try_late_alone(std::move(*attempt));
    }
    if (attempts.go_on())
        attempts.try_one({&list, nullptr, shift_order(list, grid), {}});
    attempts.try_two([&] { return in_order(busiest_order(list, grid)); },
                     [&] { return in_order(round_order(list, grid)); });
    attempts.try_two([&] { return in_pieces(kLeastPiece); }, [&] { return in_pieces(1); });
    if (attempts.go_on())
        if (auto order = earliest_order(list, grid, effort.looks))
            attempts.try_one({&list, nullptr, std::move(*order), {}});
    attempts.try_late_first();
    if (multicasts && far_first_too)
        attempts.try_far_first();
}

ExchangeStats stats_of(const JobList& list, const Schedule& schedule,
                       std::span<const program::ExchangeRow> rows) {
    ExchangeStats stats;
    for (std::size_t index = 0; index < list.jobs.size(); ++index) {
        const auto& job = list.jobs[index];
        stats.words_sent += job.words;
        stats.words_received += std::int64_t{job.words} * job.receivers;
        const bool wide = schedule.placements[index].wide; // further pieces are not
        stats.wide_messages += wide ? 1 : 0;
        stats.lowered_messages += job.paired && !wide ? 1 : 0;
    }
    for (const auto& row : rows) {
        const auto bytes = static_cast<Bytes>(row.words.size() * 4);
        stats.row_bytes += bytes;
        stats.longest_row_bytes = std::max(stats.longest_row_bytes, bytes);
    }
    stats.longest_row_events = schedule.longest_row_events;
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
               KnownSchedules* known, const SearchEffort& effort, PlannedExchange& plan) {
    const timing::ExchangeTiming timing{machine};
    std::optional<Activity> activity(std::in_place, "finding messages");
    auto list = make_jobs(timing, transfers, runs);
    const auto bind = [&](const JobList& sent, const Schedule& schedule) {
        activity.emplace("writing rows");
        plan.exchange.rows = Timelines{machine, timing, sent, schedule}.rows();
        plan.stats = stats_of(sent, schedule, plan.exchange.rows);
    };
    if (known != nullptr) {
        if (const auto found = known->find(machine, list)) {
            bind(found->parts ? *found->parts : list, *found->schedule);
            return;
        }
    }
    activity.emplace("placing messages");
    Attempts attempts{machine, timing, list, bound.cycles(), effort};
    find_schedule(attempts, list, timing.grid(), bound, machine.exchange.far_first, effort);
    bind(*attempts.best().list, attempts.schedule());
    if (known != nullptr) {
        const Parts* parts = attempts.best().parts;
        known->keep(machine, std::move(list), std::move(attempts.schedule()),
                    parts != nullptr ? std::optional(*parts) : std::nullopt);
    }
}

} // namespace

PlannedExchange plan_exchange_with_stats(const spec::MachineSpec& machine, std::string name,
                                         std::vector<program::Transfer> transfers,
                                         KnownSchedules* known, const SearchEffort& effort) {
    PlannedExchange plan;
    std::vector<timing::TransferRun> runs;
    const Activity planning("planning an exchange");
    tbb::parallel_invoke([&] { check_transfers(machine, name, transfers); },
                         [&] { runs = timing::transfer_runs(machine, transfers); });
    const auto bound = timing::exchange_bound(machine, transfers, runs);
    if (machine.exchange.fabric == spec::Fabric::Compiled)
        plan_rows(machine, transfers, runs, bound, known, effort, plan);
    else
        plan.stats = stats_without_rows(transfers, runs, bound.cycles());
    plan.stats.bound = bound;
    plan.exchange.name = std::move(name);
    plan.exchange.transfers = std::move(transfers);
    return plan;
}

PlannedExchange plan_exchange_with_stats(const spec::MachineSpec& machine, std::string name,
                                         std::vector<program::Transfer> transfers,
                                         KnownSchedules* known) {
    return plan_exchange_with_stats(machine, std::move(name), std::move(transfers), known, {});
}

program::Exchange plan_exchange(const spec::MachineSpec& machine, std::string name,
                                std::vector<program::Transfer> transfers) {
    return plan_exchange_with_stats(machine, std::move(name), std::move(transfers)).exchange;
}

} // namespace tessera::exchange_plan
