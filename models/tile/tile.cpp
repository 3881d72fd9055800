// SPDX-License-Identifier: MIT
#include "models/tile/tile.h"

#include "base/error.h"
#include "models/ports/clock.h"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace tessera::tile {

using ports::Clock;
using Purpose = events::Meeting::Purpose;

Tile::Tile(const sc_core::sc_module_name& name, const WalkFacts& facts, TileId tile)
    : sc_module(name), barrier("barrier"), fabric("fabric"), streams("streams"), alarm("alarm"),
      witness("witness"), walk_(facts, tile) {
    SC_HAS_PROCESS(Tile);
    SC_METHOD(wake); // at the begin of the run
}

void Tile::load(const program::Image& image, CodeCache& code, std::span<std::byte> memory) {
    walk_.load(image, code, memory);
}

void Tile::compute_ahead(bool together) {
    if (ahead_) {
        return;
    }
    ahead_ = true;
    walk_.let_pause(together);
    if (!std::exchange(begun_, true)) {
        walk_.begin();
        return;
    }
    const Stop& stop = walk_.stop();
    switch (stop.kind) {
    case Stop::Kind::Barrier: {
        TileWalk::Heard heard;
        if (stop.meeting.purpose == Purpose::Exchange) {
            heard.row_cycles = fabric->row_cycles(stop.meeting.exchange, walk_.tile());
            heard.lanes = fabric->lanes(stop.meeting.exchange, walk_.tile());
        } else if (stop.meeting.purpose == Purpose::Value) {
            const auto told = fabric->told();
            heard.word = told.word;
            heard.word_cycles = told.cycles;
        }
        spans_told_ = 0;
        contexts_told_ = 0;
        walk_.released(Clock::now(), heard);
        return;
    }
    case Stop::Kind::Call:
        walk_.called();
        return;
    case Stop::Kind::Wait: {
        const auto begun = streams->begun(stop.call.copy);
        walk_.copy_ended(begun.cycle, begun.last, begun.ended);
        return;
    }
    case Stop::Kind::Links:
        walk_.link_over(Clock::now());
        return;
    case Stop::Kind::Failed:
        return;
    }
}

void Tile::wake() {
    try {
        if (awaited_) {
            streams->left(walk_.tile(), *std::exchange(awaited_, std::nullopt));
        }
        do {
            compute_ahead();
            if (walk_.stop().cycle > Clock::now()) {
                alarm->wake_at(walk_.tile(), walk_.stop().cycle);
                return;
            }
        } while (act());
    } catch (...) {
        witness->failed(walk_.tile(), std::current_exception());
    }
}

bool Tile::act() {
    const Stop& stop = walk_.stop();
    tell();
    switch (stop.kind) {
    case Stop::Kind::Barrier:
        ahead_ = false;
        barrier->arrive(walk_.tile(), stop.meeting);
        return false;
    case Stop::Kind::Call:
        ahead_ = false;
        streams->arrive(walk_.tile(), stop.call);
        return true;
    case Stop::Kind::Wait:
        ahead_ = false;
        if (streams->times_ended(stop.call.copy) >= stop.times) {
            streams->left(walk_.tile(), stop.call.copy);
            return true;
        }
        awaited_ = stop.call.copy;
        streams->wait(walk_.tile(), stop.call.copy);
        return false;
    case Stop::Kind::Links:
        ahead_ = false;
        return false;
    case Stop::Kind::Failed:
        fail();
        return false;
    }
    return false;
}

void Tile::tell() {
    const std::span spans(walk_.spans());
    const std::span contexts(walk_.contexts());
    if (walk_.stop().cycle > told_until_ || spans.size() > spans_told_) {
        const Cycles end = walk_.stop().cycle;
        witness->segment({.tile = walk_.tile(),
                          .begin = spans.size() > spans_told_ ? spans[spans_told_].begin : end,
                          .end = end,
                          .spans = spans.subspan(spans_told_),
                          .contexts = contexts.subspan(contexts_told_)});
        told_until_ = end;
    }
    spans_told_ = spans.size();
    contexts_told_ = contexts.size();
}

void Tile::fail() {
    try {
        std::rethrow_exception(walk_.stop().failure);
    } catch (const TileFault& found) {
        const Fault& fault = found.fault();
        const std::string context =
            fault.context < 0 ? std::string("supervisor") : fmt::format("worker_{}", fault.context);
        const std::string where =
            fault.source_line.empty() ? fmt::format("{:#x}", fault.address) : fault.source_line;
        const std::string text =
            fmt::format("{}.{} @ {}: {}: {}{}: {}{}{}", name(), context, fault.cycle, where,
                        fault.not_modelled ? "not modelled: " : "", fault.instruction, fault.reason,
                        fault.registers.empty() ? "" : "; ", fault.registers);
        witness->failed(walk_.tile(), fault.needs_data ? std::make_exception_ptr(NeedsData(text))
                                      : fault.not_modelled
                                          ? std::make_exception_ptr(NotModelled(text))
                                          : std::make_exception_ptr(ProgramError(text)));
    } catch (...) {
        witness->failed(walk_.tile(), std::current_exception());
    }
}

} // namespace tessera::tile
