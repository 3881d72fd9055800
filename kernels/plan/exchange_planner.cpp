// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_planner.h"

#include "base/error.h"
#include "kernels/plan/exchange_jobs.h"
#include "kernels/plan/exchange_rows.h"
#include "kernels/plan/exchange_schedule.h"
#include "models/timing/exchange_latency.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <queue>
#include <utility>

namespace tessera::plan {

namespace {

/// A schedule nearer to the bound than this factor and one typical latency is taken at once.
constexpr double kGoodEnough = 1.03;
constexpr Cycles kTypicalLatency = 100;

/// Earliest-start evaluations that the dynamic order may spend, counted in receivers: a quarter of
/// a second or less.
constexpr std::int64_t kDynamicBudget = 500'000;

/// Exchanges of more messages than this get one order: each further one takes seconds, and was seen to be no
/// better.
constexpr std::size_t kManyMessages = 50'000;

/// One complete attempt.
struct Attempt {
    ExchangeSchedule schedule;
    Cycles longest_row_events = 0;
    std::int64_t wide_messages = 0;
    std::int64_t lowered_messages = 0;
};

class Attempts {
public:
    Attempts(const spec::MachineSpec& machine, std::span<const Job> jobs)
        : machine_(machine), timing_(machine), jobs_(jobs) {}

    [[nodiscard]] const timing::ExchangeTiming& timing() const { return timing_; }
    [[nodiscard]] bool found() const { return best_ != nullptr; }
    [[nodiscard]] const Attempt& best() const { return *best_; }

    /// Places the jobs one after another in the order given.
    void try_order(std::span<const std::uint32_t> order, bool allow_wide = true) {
        begin(allow_wide);
        for (const auto job : order) {
            const auto start = find(jobs_[job], 0);
            commit(jobs_[job], start);
        }
        finish();
    }

    /// Places at each step the job that can start earliest, in lazy evaluation.
    void try_earliest_first() {
        if (4 * receivers_of_all() > kDynamicBudget)
            return;
        begin(true);
        using Entry = std::pair<Cycles, std::uint32_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
        for (std::uint32_t job = 0; job < jobs_.size(); ++job)
            ready.push({0, job});
        std::int64_t spent = 0;
        while (!ready.empty()) {
            const auto [estimate, index] = ready.top();
            ready.pop();
            const auto& job = jobs_[index];
            const auto start = find(job, estimate);
            // A wide message that lost its partner's lane starts anew at a later estimate, which is
            // legal and only costs time.
            spent += static_cast<std::int64_t>(job.transfer->destinations.size());
            if (spent > kDynamicBudget)
                return;
            if (ready.empty() || start <= ready.top().first)
                commit(job, start);
            else
                ready.push({start, index});
        }
        finish();
    }

private:
    [[nodiscard]] std::int64_t receivers_of_all() const {
        std::int64_t receivers = 0;
        for (const auto& job : jobs_)
            receivers += static_cast<std::int64_t>(job.transfer->destinations.size());
        return receivers;
    }

    void begin(bool allow_wide) {
        allow_wide_ = allow_wide;
        attempt_ = std::make_unique<Attempt>(Attempt{ExchangeSchedule{machine_, timing_}});
    }

    /// The message in the width that it can have, left in `message_`.
    Cycles find(const Job& job, Cycles from) {
        message_ = make_message(timing_, job, job.wide && allow_wide_, receivers_);
        auto start = attempt_->schedule.earliest_start(message_, from);
        if (!start) {
            message_ = make_message(timing_, job, false, receivers_);
            start = attempt_->schedule.earliest_start(message_, from);
        }
        TESSERA_ASSERT(start.has_value());
        return *start;
    }

    void commit(const Job& job, Cycles start) {
        attempt_->schedule.place(message_, start);
        attempt_->wide_messages += message_.wide ? 1 : 0;
        attempt_->lowered_messages += job.transfer->paired && !message_.wide ? 1 : 0;
    }

    void finish() {
        attempt_->longest_row_events = attempt_->schedule.longest_row_events();
        if (!best_ || attempt_->longest_row_events < best_->longest_row_events)
            best_ = std::move(attempt_);
    }

    const spec::MachineSpec& machine_;
    timing::ExchangeTiming timing_;
    std::span<const Job> jobs_;
    std::vector<Receiver> receivers_;
    Message message_;
    bool allow_wide_ = true;
    std::unique_ptr<Attempt> attempt_;
    std::unique_ptr<Attempt> best_;
};

/// Tries orders until one is good enough; the best is left in `attempts`.
void find_schedule(Attempts& attempts, std::span<const Job> jobs, std::int64_t tiles,
                   const ExchangeBound& bound) {
    const auto good = [&] {
        return static_cast<double>(attempts.best().longest_row_events - kTypicalLatency) <=
               kGoodEnough * static_cast<double>(bound.cycles());
    };
    const auto grouped = grouped_order(jobs, tiles);
    attempts.try_order(grouped);
    if (good() || jobs.size() > kManyMessages)
        return;
    std::vector<std::uint32_t> given(jobs.size());
    std::iota(given.begin(), given.end(), 0U);
    attempts.try_order(given);
    // Wide messages wait for complete pairs; where these are scattered, 32 bits win.
    if (std::any_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.wide; }))
        attempts.try_order(grouped, false);
    if (!good())
        attempts.try_order(round_order(jobs, tiles));
    if (!good())
        attempts.try_earliest_first();
}

bool contiguous(const ReceiveRun& before, const ReceiveRun& after) {
    return static_cast<Bytes>(before.address) + before.bytes() == after.address;
}

/// The mux and pointer controls of one tile, one entry an event.
class ControlList {
public:
    void mux(Cycles event, bool paired, std::uint32_t source) {
        controls_.push_back({event, isa::MuxControl{paired, source}, std::nullopt});
    }
    void pointer(Cycles event, bool format, std::uint32_t value) {
        controls_.push_back({event, std::nullopt, isa::PointerControl{format, value}});
    }

    std::vector<RowControl> take() {
        std::stable_sort(controls_.begin(), controls_.end(),
                         [](const auto& a, const auto& b) { return a.event < b.event; });
        std::vector<RowControl> merged;
        for (const auto& control : controls_) {
            if (merged.empty() || merged.back().event != control.event) {
                merged.push_back(control);
                continue;
            }
            auto& same = merged.back();
            TESSERA_ASSERT(!(same.mux && control.mux) && !(same.pointer && control.pointer));
            if (control.mux)
                same.mux = control.mux;
            else
                same.pointer = control.pointer;
        }
        return merged;
    }

private:
    std::vector<RowControl> controls_;
};

void add_run_controls(const timing::TileGrid& grid, TileId tile, const TileTimeline& timeline,
                      std::size_t index, std::uint32_t neutral, ControlList& controls) {
    const auto& runs = timeline.receives;
    const auto& run = runs[index];
    const auto* before = index > 0 ? &runs[index - 1] : nullptr;
    const auto* after = index + 1 < runs.size() ? &runs[index + 1] : nullptr;
    const bool joins_before = before != nullptr && before->mux_end() == run.mux_first;
    const bool joins_after = after != nullptr && after->mux_first == run.mux_end();
    if (!run.late) {
        // The paired mux of a tile in the upper half of its pair names the sender's partner lane.
        const auto half = run.wide() ? grid.position(tile).physical_id & 2U : 0U;
        if (!joins_before || before->source != run.source)
            controls.mux(run.mux_first, run.wide(), grid.position(run.source).physical_id ^ half);
        if (!joins_after)
            controls.mux(run.mux_end(), run.wide(), neutral);
    }
    const auto arrival = timeline.arrival(run);
    if (before == nullptr || !contiguous(*before, run))
        controls.pointer(arrival, false, run.address / 4);
    if (!run.wide())
        return;
    if (!joins_before)
        controls.pointer(arrival - kFormatLead, true, run.wide_direction);
    if (!joins_after)
        controls.pointer(arrival - kFormatLead + run.items, true, 0);
}

program::ExchangeRow make_row(const spec::MachineSpec& machine, const Attempts& attempts,
                              TileId tile) {
    const auto& schedule = attempts.best().schedule;
    const auto& timeline = schedule.tile(tile);
    std::vector<RowSend> sends;
    sends.reserve(timeline.sends.size());
    for (const auto& send : timeline.sends)
        sends.push_back({send.start, send.items,
                         send.address / static_cast<Address>(send.item_bytes()), send.ctl});
    ControlList controls;
    for (std::size_t i = 0; i < timeline.receives.size(); ++i)
        add_run_controls(attempts.timing().grid(), tile, timeline, i,
                         timing::neutral_source(machine), controls);
    const auto merged = controls.take();
    const auto row = row_instructions(machine, sends, merged, schedule.row_events(tile));
    return {tile, 0, row_words(row)};
}

void count_words(const program::Transfer& transfer, ExchangeStats& stats) {
    const auto words = transfer.bytes / 4;
    stats.words_sent += words;
    stats.words_received += words * static_cast<std::int64_t>(transfer.destinations.size());
}

/// Rows of `transfers` and what they come to.
void plan_rows(const spec::MachineSpec& machine, std::span<const program::Transfer> transfers,
               PlannedExchange& plan) {
    const auto jobs = make_jobs(machine, transfers);
    Attempts attempts{machine, jobs};
    find_schedule(attempts, jobs, machine.chip.tiles, plan.stats.bound);

    for (TileId tile = 0; tile < static_cast<TileId>(machine.chip.tiles); ++tile)
        if (attempts.best().schedule.tile(tile).active())
            plan.exchange.rows.push_back(make_row(machine, attempts, tile));
    for (const auto& row : plan.exchange.rows) {
        const auto bytes = static_cast<Bytes>(row.words.size() * 4);
        plan.stats.row_bytes += bytes;
        plan.stats.longest_row_bytes = std::max(plan.stats.longest_row_bytes, bytes);
    }
    plan.stats.longest_row_events = attempts.best().longest_row_events;
    plan.stats.wide_messages = attempts.best().wide_messages;
    plan.stats.lowered_messages = attempts.best().lowered_messages;
    plan.stats.active_tiles = static_cast<std::int64_t>(plan.exchange.rows.size());
}

} // namespace

bool pairable(const spec::MachineSpec& machine, const program::Transfer& transfer) {
    return pairable_bytes(machine, transfer, transfer.bytes);
}

ExchangeBound exchange_bound(const spec::MachineSpec& machine,
                             std::span<const program::Transfer> transfers) {
    std::vector<Cycles> in(static_cast<std::size_t>(machine.chip.tiles));
    std::vector<Cycles> out(in.size());
    for (const auto& transfer : transfers) {
        const bool wide = transfer.paired && pairable(machine, transfer);
        const auto items = transfer.bytes / (wide ? 8 : 4);
        out[transfer.source_tile] += items;
        if (wide)
            out[transfer.source_tile ^ 1U] += items;
        for (const auto& destination : transfer.destinations)
            in[destination.tile] += items;
    }
    return {*std::max_element(in.begin(), in.end()), *std::max_element(out.begin(), out.end())};
}

PlannedExchange plan_exchange_with_stats(const spec::MachineSpec& machine, std::string name,
                                         std::vector<program::Transfer> transfers) {
    check_transfers(machine, name, transfers);
    PlannedExchange plan;
    plan.stats.bound = exchange_bound(machine, transfers);
    if (machine.exchange.fabric == spec::Fabric::Compiled)
        plan_rows(machine, transfers, plan);
    else // other fabrics execute no rows
        plan.stats.longest_row_events = plan.stats.bound.cycles();
    for (const auto& transfer : transfers)
        count_words(transfer, plan.stats);
    plan.exchange.name = std::move(name);
    plan.exchange.transfers = std::move(transfers);
    return plan;
}

program::Exchange plan_exchange(const spec::MachineSpec& machine, std::string name,
                                std::vector<program::Transfer> transfers) {
    return plan_exchange_with_stats(machine, std::move(name), std::move(transfers)).exchange;
}

} // namespace tessera::plan
