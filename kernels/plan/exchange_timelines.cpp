// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_timelines.h"

#include "base/sort_keys.h"

#include <algorithm>

namespace tessera::plan {

RowMaker::RowMaker(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing,
                   const JobList& list, const ExchangeSchedule& schedule)
    : machine_(machine), timing_(timing), list_(list), schedule_(schedule),
      neutral_(timing::neutral_source(machine)) {
    divide_by_tile();
}

void RowMaker::divide_by_tile() {
    const auto tiles = static_cast<std::size_t>(machine_.chip.tiles);
    const auto& placements = schedule_.placements();
    sends_begin_.assign(tiles + 1, 0);
    runs_begin_.assign(tiles + 1, 0);
    for (const auto& placed : placements) {
        const auto& job = list_.jobs[placed.job];
        ++sends_begin_[job.source];
        for (const auto& to : list_.of(job))
            ++runs_begin_[to.tile];
    }
    // Counts become ends, and beginnings when the parts are filled from behind.
    for (std::size_t tile = 1; tile <= tiles; ++tile) {
        sends_begin_[tile] += sends_begin_[tile - 1];
        runs_begin_[tile] += runs_begin_[tile - 1];
    }
    all_sends_.resize(sends_begin_[tiles]);
    all_runs_.resize(runs_begin_[tiles]);
    for (auto at = placements.rbegin(); at != placements.rend(); ++at) {
        const auto& job = list_.jobs[at->job];
        const auto offset = static_cast<Address>(at->offset());
        const auto item_bytes = static_cast<Address>(Job::item_bytes(at->wide));
        all_sends_[--sends_begin_[job.source]] = {
            at->start, at->items, (job.address + offset) / item_bytes, list_.ctl(job, at->wide)};
        for (const auto& to : list_.of(job))
            all_runs_[--runs_begin_[to.tile]] = {
                static_cast<std::uint32_t>(at->start + 1 + to.offset(at->wide)),
                at->items,
                job.source,
                to.address + offset,
                to.direction,
                at->wide,
                at->wide && to.late()};
    }
}

/// Messages that continue each other on the lane and in memory are one for the row.
void RowMaker::add_send(const RowSend& send) {
    if (!row_sends_.empty()) {
        auto& last = row_sends_.back();
        if (last.start + last.items == send.start && last.ctl == send.ctl &&
            last.item_address + static_cast<std::uint32_t>(last.items) == send.item_address) {
            last.items += send.items;
            return;
        }
    }
    row_sends_.push_back(send);
}

void RowMaker::add_sends(TileId tile) {
    sort_items(
        std::span<const RowSend>{all_sends_.data() + sends_begin_[tile],
                                 all_sends_.data() + sends_begin_[tile + 1]},
        [](const RowSend& send) { return send.start; }, keys_, scratch_, sorted_sends_);
    row_sends_.clear();
    for (const auto& send : sorted_sends_)
        add_send(send);
}

void RowMaker::add_run(TileId tile, const Run& run, const Run* before, const Run* after) {
    const bool joins_before = before != nullptr && before->mux_end() == run.mux_first;
    const bool joins_after = after != nullptr && after->mux_first == run.mux_end();
    const auto& grid = timing_.grid();
    if (!run.late) {
        // The paired mux of a tile in the upper half of its pair names the sender's partner lane.
        const auto half = run.wide ? grid.position(tile).physical_id & 2U : 0U;
        if (!joins_before || before->source != run.source)
            muxes_.push_back(
                {run.mux_first,
                 isa::MuxControl{run.wide, grid.position(run.source).physical_id ^ half},
                 std::nullopt});
        if (!joins_after)
            muxes_.push_back({run.mux_end(), isa::MuxControl{run.wide, neutral_}, std::nullopt});
    }
    const Cycles arrival = run.mux_first + (run.wide ? 1 : 0) + timing_.mux_to_pointer(tile);
    const auto pointer = [&](Cycles event, bool format, std::uint32_t value) {
        pointers_.push_back({event, std::nullopt, isa::PointerControl{format, value}});
    };
    if (run.wide && !joins_before)
        pointer(arrival - kFormatLead, true, run.direction);
    const auto bytes = [](const Run& of) { return of.items * Job::item_bytes(of.wide); };
    if (before == nullptr || static_cast<Bytes>(before->address) + bytes(*before) != run.address)
        pointer(arrival, false, run.address / 4);
    if (run.wide && !joins_after)
        pointer(arrival - kFormatLead + run.items, true, 0);
}

void RowMaker::add_controls(TileId tile) {
    sort_items(
        std::span<const Run>{all_runs_.data() + runs_begin_[tile],
                             all_runs_.data() + runs_begin_[tile + 1]},
        [](const Run& run) { return run.mux_first; }, keys_, scratch_, runs_);
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

void RowMaker::merge_controls() {
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

std::vector<program::ExchangeRow> RowMaker::rows() {
    std::vector<program::ExchangeRow> rows;
    for (TileId tile = 0; tile < static_cast<TileId>(machine_.chip.tiles); ++tile) {
        add_sends(tile);
        add_controls(tile);
        if (row_sends_.empty() && runs_.empty() && schedule_.borrowed_until(tile) == 0)
            continue;
        const auto row =
            row_instructions(machine_, row_sends_, controls_, schedule_.row_events(tile));
        rows.push_back({tile, 0, row_words(row)});
    }
    return rows;
}

} // namespace tessera::plan
