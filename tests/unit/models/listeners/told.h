// SPDX-License-Identifier: MIT
// Tells a listener of a run that a test makes up.
#pragma once

#include "models/events/events.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tessera::test {

class Told {
public:
    Told(std::size_t tiles, std::vector<events::Listener*> listeners)
        : listeners_(std::move(listeners)), arrived_(tiles), done_(tiles) {}

    /// `tile` spends cycles on something, from where it has come.
    void does(TileId tile, events::Doing doing, Cycles cycles, std::uint32_t index = 0,
              events::Work work = {}, events::Lanes lanes = {}) {
        const events::Span span{.doing = doing,
                                .index = index,
                                .step = step,
                                .begin = arrived_[tile],
                                .end = arrived_[tile] + cycles,
                                .work = work,
                                .lanes = lanes};
        arrived_[tile] = span.end;
        done_[tile].push_back(span);
        for (auto* listener : listeners_) {
            listener->segment({.tile = tile,
                               .begin = span.begin,
                               .end = span.end,
                               .spans = {&span, 1},
                               .contexts = {}});
        }
    }
    /// All tiles are released `barrier` cycles after the last of them has come.
    void released(Cycles barrier) {
        const auto last = std::max_element(arrived_.begin(), arrived_.end());
        const auto critical = static_cast<TileId>(last - arrived_.begin());
        std::vector<events::PathSpan> path;
        for (const auto& span : done_[critical]) {
            path.push_back({critical, span});
        }
        const events::Release release{.last_arrival = *last,
                                      .cycle = *last + barrier,
                                      .critical = critical,
                                      .ends_program = false,
                                      .steps_done = step,
                                      .path = path};
        for (auto* listener : listeners_) {
            listener->released(release);
        }
        std::fill(arrived_.begin(), arrived_.end(), release.cycle);
        for (auto& spans : done_) {
            spans.clear();
        }
    }
    void begun(const events::Flight& flight) {
        for (auto* listener : listeners_) {
            listener->copy_begun(flight);
        }
    }

    struct Share {
        TileId tile = 0;
        Cycles cycles = 0;
    };
    /// A step that the tiles of `shares` take part in, between two releases of no cycles.
    /// The first of them does `work`, and the lanes of each are as busy.
    void phase(events::Doing doing, std::uint32_t index, const std::vector<Share>& shares,
               events::Work work = {}, events::Lanes lanes = {}) {
        ++step;
        for (const auto& [tile, cycles] : shares) {
            does(tile, doing, cycles, index, std::exchange(work, {}), lanes);
        }
        released(0);
    }
    /// All tiles spend cycles on something that is no step's.
    void all(events::Doing doing, Cycles cycles) {
        for (TileId tile = 0; tile < arrived_.size(); ++tile) {
            does(tile, doing, cycles);
        }
        released(0);
    }
    void moved(const events::Moved& moved) {
        for (auto* listener : listeners_) {
            listener->moved(moved);
        }
    }
    void linked(const events::Linked& linked) {
        for (auto* listener : listeners_) {
            listener->linked(linked);
        }
    }
    void ended(const events::Flight& flight) {
        for (auto* listener : listeners_) {
            listener->copy_ended(flight);
        }
    }

    std::int64_t step = 1; ///< that the tiles are at

private:
    std::vector<events::Listener*> listeners_;
    std::vector<Cycles> arrived_;
    std::vector<std::vector<events::Span>> done_; ///< by tile, since the last release
};

} // namespace tessera::test
