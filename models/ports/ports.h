// SPDX-License-Identifier: MIT
// What units are bound to each other through.
//
//   tile --Barrier--> sync unit ----AtRelease--> chip, then Sleeper --> all tiles
//   tile --Alarm----> alarm --------------------------------Sleeper--> tile
//   tile --Streams--> stream ports ----AtCopy--> chip, then Sleeper --> tiles that wait
//   tile --Fabric---> exchange fabric
//   tile --Witness--> chip
//   sync unit --OuterBarrier--> a zone, then Sleeper --> sync unit
//   chip --Links--> link fabric, then LinkUser --> chip
#pragma once

#include "models/events/events.h"
#include "models/events/meeting.h"
#include "models/program/program.h"
#include "models/program/system_binding.h"

#include <systemc>

#include <cstdint>
#include <exception>
#include <span>

namespace tessera::ports {

class Barrier : public virtual sc_core::sc_interface {
public:
    /// `tile` comes to the barrier in this cycle. @throws ProgramError if it has come before, or
    /// others came for another meeting.
    virtual void arrive(TileId tile, const events::Meeting& meeting) = 0;
};

/// A barrier of several chips. It does not know what a chip is.
class OuterBarrier : public virtual sc_core::sc_interface {
public:
    /// All of chip `chip` has come to `meeting` in this cycle. The chip is woken where the barrier is
    /// released: later, from a process of the barrier's own.
    virtual void arrive(std::int64_t chip, const events::Meeting& meeting) = 0;
};

/// Who goes on when it is woken: what it asked to be woken for has come.
class Sleeper : public virtual sc_core::sc_interface {
public:
    virtual void wake() = 0;
};

class Alarm : public virtual sc_core::sc_interface {
public:
    /// `tile` is woken in `cycle`, which is to come.
    virtual void wake_at(TileId tile, Cycles cycle) = 0;
};

class Fabric : public virtual sc_core::sc_interface {
public:
    /// From the release to the end of the tile's own row; 0 where it has none.
    [[nodiscard]] virtual Cycles row_cycles(std::uint32_t exchange, TileId tile) const = 0;
    /// For how long its lanes move words of the exchange.
    [[nodiscard]] virtual events::Lanes lanes(std::uint32_t exchange, TileId tile) const = 0;
    /// The word that the last meeting for a value told, and for how long.
    struct Told {
        std::uint32_t word = 0;
        Cycles cycles = 0;
    };
    [[nodiscard]] virtual Told told() const = 0;
};

class Streams : public virtual sc_core::sc_interface {
public:
    /// `tile` comes to the copy in this cycle; the copy begins when all its tiles have. @throws
    /// ProgramError if the tile asks for another row than the others, or in another step.
    virtual void arrive(TileId tile, const events::Call& call) = 0;
    /// `tile` has waited for the end of the copy, in this cycle.
    virtual void left(TileId tile, std::uint32_t copy) = 0;
    /// How often the copy has ended.
    [[nodiscard]] virtual std::int64_t times_ended(std::uint32_t copy) const = 0;
    /// `tile` is woken when the copy ends.
    virtual void wait(TileId tile, std::uint32_t copy) = 0;
    /// Of the copy that ended last: its cycles, and which of its tiles came last (the lowest number
    /// of equals).
    struct Begun {
        Cycles cycle = 0;
        Cycles ended = 0;
        TileId last = 0;
    };
    [[nodiscard]] virtual Begun begun(std::uint32_t copy) const = 0;
};

/// The links between chips.
class Links : public virtual sc_core::sc_interface {
public:
    /// Chip `chip` is released in this cycle to link exchange `exchange` of its program, step `step`
    /// of its run, `round` of the repeat around it. Returns what its messages use of its memory.
    /// @throws ProgramError where a place is outside memory, or two messages use one word.
    virtual std::span<const program::LinkUse> open(std::int64_t chip, std::uint32_t exchange,
                                                   std::int64_t step, std::int64_t round) = 0;
};

/// A chip as the links see it.
class LinkUser : public virtual sc_core::sc_interface {
public:
    /// In this cycle the parts of `tiles`, ascending, are over.
    virtual void links_over(std::span<const TileId> tiles) = 0;
    /// The chip's part is over; told before the last of its tiles go on.
    virtual void linked(const events::Linked& linked) = 0;
};

/// Who is told what tiles do.
class Witness : public virtual sc_core::sc_interface {
public:
    virtual void segment(const events::Segment& segment) = 0;
    /// A module stops in this cycle. Of several in one cycle the lowest tile's is told; a module
    /// that is no tile comes after all of them.
    virtual void failed(std::int64_t tile, std::exception_ptr failure) = 0;
    static constexpr std::int64_t kNoTile = INT64_MAX;
};

/// Who does what belongs to a release before the tiles go on.
class AtRelease : public virtual sc_core::sc_interface {
public:
    /// In the cycle of the release. `last` arrived last, at `last_arrival`. Returns 0, or so many
    /// cycles in which all go round and round as before: the release comes again behind them.
    virtual Cycles at_release(const events::Meeting& meeting, TileId last, Cycles last_arrival) = 0;
};

/// Who does what belongs to a stream copy before its tiles go on.
class AtCopy : public virtual sc_core::sc_interface {
public:
    virtual void copy_begun(const events::Flight& flight) = 0;
    virtual void copy_ended(const events::Flight& flight) = 0;
};

} // namespace tessera::ports
