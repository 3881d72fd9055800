// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_timelines.h"

#include "base/sort_keys.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <numeric>

namespace tessera::exchange_plan {

namespace {

/// Writes the rows of tiles one after another.
class RowMaker {
public:
    RowMaker(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing,
             const Schedule& schedule)
        : machine_(machine), timing_(timing), lane_(timing.lane()), schedule_(schedule),
          neutral_(timing::neutral_source(machine)) {}

    /// The row's words; none where the tile has nothing to do.
    std::vector<std::uint32_t> row(TileId tile, std::span<const RowSend> sends,
                                   std::span<const ReceiveRun> runs) {
        if (sends.empty() && runs.empty() && schedule_.rows[tile].borrowed_until == 0)
            return {};
        add_sends(sends);
        add_controls(tile, runs);
        return row_words(
            row_instructions(machine_, row_sends_, controls_, schedule_.rows[tile].events));
    }

private:
    /// Messages that continue each other on the lane and in memory are one for the row.
    void add_send(const RowSend& send) {
        if (!row_sends_.empty()) {
            auto& last = row_sends_.back();
            if (last.items % lane_.items() == 0 &&
                last.start + lane_.events(last.items) == send.start && last.ctl == send.ctl &&
                last.item_address + last.items == send.item_address) {
                last.items += send.items;
                return;
            }
        }
        row_sends_.push_back(send);
    }

    void add_sends(std::span<const RowSend> sends) {
        sort_items(
            sends, [](const RowSend& send) { return send.start; }, keys_, scratch_, sorted_sends_);
        row_sends_.clear();
        for (const auto& send : sorted_sends_)
            add_send(send);
    }

    void add_run(TileId tile, const ReceiveRun& run, const ReceiveRun* before,
                 const ReceiveRun* after) {
        const bool joins_before = before != nullptr && before->mux_end(lane_) == run.mux_first;
        const bool joins_after = after != nullptr && after->mux_first == run.mux_end(lane_);
        const auto& grid = timing_.grid();
        if (!run.late) {
            // The paired mux of a tile in the upper half of its pair names the sender's partner
            // lane.
            const auto half = run.wide ? grid.position(tile).physical_id & 2U : 0U;
            if (!joins_before || before->source != run.source)
                muxes_.push_back(
                    {run.mux_first,
                     isa::MuxControl{run.wide, grid.position(run.source).physical_id ^ half},
                     std::nullopt});
            if (!joins_after)
                muxes_.push_back(
                    {run.mux_end(lane_), isa::MuxControl{run.wide, neutral_}, std::nullopt});
        }
        const Cycles arrival = run.mux_first + (run.wide ? 1 : 0) + timing_.mux_to_pointer(tile);
        const auto pointer = [&](Cycles event, bool format, std::uint32_t value) {
            pointers_.push_back({event, std::nullopt, isa::PointerControl{format, value}});
        };
        if (run.wide && !joins_before)
            pointer(arrival - kFormatLead, true, run.direction);
        const auto bytes = [](const ReceiveRun& of) { return of.items * Job::item_bytes(of.wide); };
        if (before == nullptr ||
            static_cast<Bytes>(before->address) + bytes(*before) != run.address)
            pointer(arrival, false, run.address / 4);
        if (run.wide && !joins_after)
            pointer(arrival - kFormatLead + lane_.events(run.items), true, 0);
    }

    void add_controls(TileId tile, std::span<const ReceiveRun> runs) {
        sort_items(
            runs, [](const ReceiveRun& run) { return run.mux_first; }, keys_, scratch_, runs_);
        muxes_.clear();
        pointers_.clear();
        for (std::size_t i = 0; i < runs_.size(); ++i)
            add_run(tile, runs_[i], i > 0 ? &runs_[i - 1] : nullptr,
                    i + 1 < runs_.size() ? &runs_[i + 1] : nullptr);
        // Only the formats around wide runs stand out of order.
        const auto by_event = [](const auto& a, const auto& b) { return a.event < b.event; };
        if (!std::is_sorted(pointers_.begin(), pointers_.end(), by_event))
            std::stable_sort(pointers_.begin(), pointers_.end(), by_event);
        merge_controls();
    }

    void merge_controls() {
        controls_.clear();
        auto pointer = pointers_.cbegin();
        for (const auto& mux : muxes_) {
            while (pointer != pointers_.cend() && pointer->event < mux.event)
                controls_.push_back(*pointer++);
            controls_.push_back(mux);
            if (pointer != pointers_.cend() && pointer->event == mux.event)
                controls_.back().pointer = (pointer++)->pointer;
        }
        controls_.insert(controls_.end(), pointer, pointers_.cend());
    }

    const spec::MachineSpec& machine_;
    const timing::ExchangeTiming& timing_;
    timing::LaneTiming lane_;
    const Schedule& schedule_;
    std::uint32_t neutral_;
    // Scratch of one tile.
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint64_t> scratch_;
    std::vector<ReceiveRun> runs_;
    std::vector<RowSend> sorted_sends_;
    std::vector<RowSend> row_sends_; ///< joined where they continue each other
    std::vector<RowControl> muxes_;
    std::vector<RowControl> pointers_;
    std::vector<RowControl> controls_;
};

} // namespace

Timelines::Timelines(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing,
                     const JobList& list, const Schedule& schedule)
    : machine_(machine), timing_(timing), schedule_(schedule) {
    tbb::parallel_invoke([&] { divide_sends(list); }, [&] { divide_runs(list); });
}

// Counts become ends, and beginnings when the parts are filled from behind.

void Timelines::divide_sends(const JobList& list) {
    const auto tiles = static_cast<std::size_t>(machine_.chip.tiles);
    const auto& placements = schedule_.placements;
    sends_begin_.assign(tiles + 1, 0);
    for (const auto& placed : placements)
        ++sends_begin_[list.jobs[placed.job].source];
    std::partial_sum(sends_begin_.begin(), sends_begin_.end(), sends_begin_.begin());
    sends_.resize(sends_begin_[tiles]);
    for (auto at = placements.rbegin(); at != placements.rend(); ++at) {
        const auto& job = list.jobs[at->job];
        const auto item_bytes = static_cast<Address>(Job::item_bytes(at->wide));
        sends_[--sends_begin_[job.source]] = {static_cast<std::uint32_t>(at->start), at->items,
                                              (job.address + static_cast<Address>(at->offset())) /
                                                  item_bytes,
                                              list.ctl(job, at->wide)};
    }
}

void Timelines::divide_runs(const JobList& list) {
    const auto tiles = static_cast<std::size_t>(machine_.chip.tiles);
    const auto& placements = schedule_.placements;
    runs_begin_.assign(tiles + 1, 0);
    for (const auto& placed : placements)
        for (const auto& to : list.of(list.jobs[placed.job]))
            ++runs_begin_[to.tile];
    std::partial_sum(runs_begin_.begin(), runs_begin_.end(), runs_begin_.begin());
    runs_.resize(runs_begin_[tiles]);
    for (auto at = placements.rbegin(); at != placements.rend(); ++at) {
        const auto& job = list.jobs[at->job];
        const auto offset = static_cast<Address>(at->offset());
        for (const auto& to : list.of(job))
            runs_[--runs_begin_[to.tile]] = {
                static_cast<std::uint32_t>(at->start + 1 + to.offset(at->wide)),
                at->items,
                job.source,
                to.address + offset,
                to.direction,
                at->wide,
                at->wide && to.late()};
    }
}

std::vector<program::ExchangeRow> Timelines::rows() const {
    std::vector<program::ExchangeRow> rows(static_cast<std::size_t>(machine_.chip.tiles));
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rows.size()), [&](const auto& part) {
        RowMaker maker{machine_, timing_, schedule_};
        for (auto tile = part.begin(); tile != part.end(); ++tile) {
            const auto at = static_cast<TileId>(tile);
            rows[tile] = {at, 0, maker.row(at, sends(at), runs(at))};
        }
    });
    rows.erase(
        std::remove_if(rows.begin(), rows.end(), [](const auto& row) { return row.words.empty(); }),
        rows.end());
    return rows;
}

} // namespace tessera::exchange_plan
