// SPDX-License-Identifier: MIT
// What a chip tells of its run, and who hears it. The chip knows that it has listeners, not which.
//
//   tile         segment begun .. ended: what it did since it was told last
//   fabric       an exchange opens and its words move
//   port         a stream copy begins, ends
//   sync unit    all tiles have met and are released
#pragma once

#include "base/units.h"
#include "models/counts/counts.h"
#include "models/program/program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tessera::events {

/// What a tile spends cycles on.
enum class Doing : std::uint8_t {
    Control,    ///< the control program's own instructions
    ComputeSet, ///< its part of the control cost and its stub
    Exchange,   ///< prologue and its own row
    Told,       ///< hears a word that the control program goes on with
    Stream,     ///< waits for a copy that has begun
    Awaited,    ///< waits for other tiles of a copy that has not
    Link,       ///< prologue of a link exchange, its turn, and the wait for its messages
    Delayed     ///< its chip has not begun
};

inline constexpr std::size_t kMostWorkers = 8; ///< end of the range of tile.workers

/// The launch whose busiest worker has most more to do than the mean one. A launch is all that is
/// started up to a sync.
struct UnevenLaunch {
    std::int64_t launch = 0; ///< number in its compute set, from 1; 0: none
    int worker = 0;          ///< the busiest, the lowest number of equals
    Cycles busiest = 0;      ///< its cycles in the launch: a round for each of its issues
    Cycles mean = 0;         ///< over all workers of the tile

    [[nodiscard]] Cycles excess() const { return busiest - mean; }
};

/// What the contexts of a tile did in a compute set.
struct Work {
    counts::Counts counts = {};
    Cycles bound_cycles = 0;          ///< fewest cycles in which the tile can issue that
    Cycles busiest_worker_cycles = 0; ///< of the busiest worker of each launch, summed
    Cycles mean_worker_cycles = 0;    ///< of all launches, mean over all workers of the tile
    /// Each worker has taken so many issue slots; they sum to those of the counts.
    std::array<std::int64_t, kMostWorkers> issues_of = {};
    UnevenLaunch uneven;

    /// All but the launch.
    void add(const Work& other) {
        counts.add(other.counts);
        for (std::size_t worker = 0; worker < issues_of.size(); ++worker) {
            issues_of[worker] += other.issues_of[worker];
        }
        bound_cycles += other.bound_cycles;
        busiest_worker_cycles += other.busiest_worker_cycles;
        mean_worker_cycles += other.mean_worker_cycles;
    }
};

/// Cycles in which the two lanes of a tile move words in an exchange.
struct Lanes {
    Cycles in = 0;
    Cycles out = 0;

    [[nodiscard]] Cycles fuller() const { return in > out ? in : out; }
};

/// One context's activity, in cycles since the start of what it is told of: of a compute set to the
/// tile, of the run to listeners.
struct ContextSpan {
    int context = -1; ///< worker number, or -1 for the supervisor
    Address entry = 0;
    Cycles begin = 0;
    Cycles end = 0;

    friend bool operator==(const ContextSpan&, const ContextSpan&) = default;
};

/// Cycles [begin, end) of one tile. Spans of a tile follow each other without a gap between two
/// releases. Rounds of a repeat that do the same may be told as one (slow_motion.h): `times` is how
/// many they are, cycles and work are those of all. The same holds of what follows.
struct Span {
    Doing doing = Doing::Control;
    std::uint32_t index = 0; ///< of the compute set, exchange, stream copy or link exchange
    std::int64_t step = 0;   ///< number of the step in order of execution, from 1
    Cycles begin = 0;
    Cycles end = 0;
    TileId awaited = 0; ///< Awaited: the last tile to come
    Work work = {};     ///< ComputeSet
    Lanes lanes = {};   ///< Exchange
    std::int64_t times = 1;
    [[nodiscard]] Cycles cycles() const { return end - begin; }

    /// Leaves `part` of `whole` of what was done, rounded down.
    void take_part(Cycles part, Cycles whole) {
        work.counts.take_part(part, whole);
        for (Cycles* const done :
             {&work.bound_cycles, &work.busiest_worker_cycles, &work.mean_worker_cycles,
              &work.uneven.busiest, &work.uneven.mean, &lanes.in, &lanes.out}) {
            *done = *done * part / whole;
        }
        for (std::int64_t& issues : work.issues_of) {
            issues = issues * part / whole;
        }
    }
};

/// A tile has come to `end`: a barrier or a stream step.
struct Segment {
    TileId tile = 0;
    Cycles begin = 0;
    Cycles end = 0;
    std::span<const Span> spans;
    std::span<const ContextSpan> contexts; ///< of tiles that a listener wants them of
};

/// A part of the critical path: what `tile` did in [span.begin, span.end). Where that is a part of
/// what it did without a break, `work` and `lanes` are as large a part of the whole.
struct PathSpan {
    TileId tile = 0;
    Span span;
};

/// All tiles met at a barrier and are released.
struct Release {
    Cycles last_arrival = 0;
    Cycles cycle = 0;
    TileId critical = 0; ///< arrived last; the lowest number of equals
    bool ends_program = false;
    std::int64_t steps_done = 0; ///< steps that all tiles have behind them
    /// From the release before to last_arrival, without a gap: what the critical tile did; where it
    /// awaited another tile, what that one did.
    std::span<const PathSpan> path;
    std::int64_t times = 1;
};

/// An exchange has opened, and its words have moved.
struct Moved {
    std::uint32_t exchange = 0;
    std::int64_t step = 0;
    Cycles begin = 0; ///< the release
    Cycles end = 0;   ///< of the slowest tile
    Bytes bytes = 0;  ///< counted where they are written
    Bytes sent_bytes = 0;
    Cycles bound_cycles = 0;
    std::int64_t times = 1;
};

/// Names of the ports of a chip: who is at their other end.
inline constexpr std::string_view kStreamingMemoryPort = "streaming_memory";
inline constexpr std::string_view kHostPort = "host";

/// A stream copy whose tiles have all come to it.
struct Flight {
    std::uint32_t copy = 0;
    std::int64_t step = 0;
    std::int64_t row = 0;
    bool background = false;
    std::string_view port = kStreamingMemoryPort;
    bool read = true;         ///< into tiles
    Cycles begin = 0;         ///< the last tile has come
    Cycles service_begin = 0; ///< holds the port from here
    Cycles service_end = 0;   ///< to here
    Cycles end = 0;           ///< the data is there
    Bytes sent_bytes = 0;     ///< of its rows
    Bytes bytes = 0;          ///< 0 until it has ended, then counted where they are written
    std::span<const TileId> tiles;
    std::int64_t times = 1;
};

/// A chip's part of a link exchange is over: all turns of its tiles and all messages to them.
struct Linked {
    std::uint32_t exchange = 0;
    std::int64_t step = 0;
    Cycles begin = 0; ///< the release
    Cycles end = 0;   ///< of the last turn and message
    Bytes bytes = 0;  ///< to this chip, counted where they are written
    Bytes sent_bytes = 0;
    Cycles bound_cycles = 0;
    std::string_view bound_by; ///< edge, context, lane, turn or barrier
};

/// Hears the events of one chip, all from one thread but passed(). Each event is told in the cycle
/// in which it ends, so of one tile in order of time.
class Listener {
public:
    Listener() = default;
    Listener(const Listener&) = default;
    Listener& operator=(const Listener&) = default;
    virtual ~Listener() = default;

    virtual void segment(const Segment& /*segment*/) {}
    virtual void released(const Release& /*release*/) {}
    virtual void moved(const Moved& /*moved*/) {}
    virtual void linked(const Linked& /*linked*/) {}
    virtual void copy_begun(const Flight& /*flight*/) {}
    virtual void copy_ended(const Flight& /*flight*/) {}

    /// Whether segments of `tile` are to have contexts. Asked once.
    [[nodiscard]] virtual bool wants_contexts(TileId /*tile*/) const { return false; }
    /// Whether passed() is wanted after this compute set or exchange. Asked once.
    [[nodiscard]] virtual bool watches(program::Step::Kind /*kind*/,
                                       std::uint32_t /*index*/) const {
        return false;
    }
    /// The memory of `tile` is as step `step` has left it, whatever the other tiles do. Called ahead
    /// of the step's time, on any host thread, of one tile on one at a time.
    virtual void passed(TileId /*tile*/, program::Step::Kind /*kind*/, std::uint32_t /*index*/,
                        std::int64_t /*step*/) {}
};

} // namespace tessera::events
