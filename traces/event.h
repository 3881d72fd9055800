// SPDX-License-Identifier: MIT
// What a run says about itself: the vocabulary of spans and counters, and the sink that takes them.
#pragma once

#include "base/error.h"
#include "base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tessera::traces {

/// What a cycle was spent on: the words of the result's statistics.
enum class Kind : std::uint8_t { Compute, Exchange, Sync, Stream, Idle, Link };
inline constexpr std::array<std::string_view, 6> kKindWords = {"compute", "exchange", "sync",
                                                               "stream",  "idle",     "link"};
[[nodiscard]] constexpr std::string_view word(Kind kind) {
    return kKindWords[static_cast<std::size_t>(kind)];
}

/// How fine a trace looks: each level holds those before it.
enum class Level : std::uint8_t { Machine, Tile, Worker };
inline constexpr std::array<std::string_view, 3> kLevelWords = {"machine", "tile", "worker"};
[[nodiscard]] constexpr std::string_view word(Level level) {
    return kLevelWords[static_cast<std::size_t>(level)];
}

/// The context number of a tile's supervisor; workers are 0 .. tile.workers-1.
inline constexpr std::uint8_t kSupervisorContext = 0xff;

/// Where a span lies: the machine, one of its ports, what it sends to or gets from another chip, one
/// tile, or one context of a tile.
struct Track {
    Level level = Level::Machine;
    std::uint8_t context = 0;
    TileId tile = 0;        ///< of link_track(), the number of the other chip
    std::uint32_t chip = 0; ///< its number among the chips of a simulation

    /// The same track of chip `number`.
    [[nodiscard]] constexpr Track of_chip(std::uint32_t number) const {
        return {level, context, tile, number};
    }
    friend constexpr bool operator==(const Track&, const Track&) = default;
};
[[nodiscard]] constexpr Track machine_track() {
    return {};
}
/// What leads out of the chip: one track each way, of the machine's level. They may have gaps.
enum class Port : std::uint8_t { StreamingMemory, Host };
[[nodiscard]] constexpr Track port_track(Port port, bool read) {
    return {Level::Machine, static_cast<std::uint8_t>(1 + 2 * static_cast<int>(port) + !read), 0};
}
/// The critical tile, whichever it is: what it does from one release to the next.
[[nodiscard]] constexpr Track slowest_track() {
    return {Level::Machine, 5, 0};
}
/// By the context of a track of the machine's level.
inline constexpr std::array<std::string_view, 8> kMachineTracks = {
    "machine", "streaming_memory.read", "streaming_memory.write", "host.read", "host.write",
    "slowest", "link.to_ipu_",          "link.from_ipu_"};
inline constexpr std::uint8_t kFirstLinkContext = 6;
/// What goes over links to or from chip `other`: a span for each link exchange. They have gaps.
[[nodiscard]] constexpr Track link_track(bool from, std::uint32_t other) {
    return {Level::Machine, static_cast<std::uint8_t>(kFirstLinkContext + from), other};
}
[[nodiscard]] constexpr bool is_link(Track track) {
    return track.level == Level::Machine && track.context >= kFirstLinkContext;
}
[[nodiscard]] constexpr Track tile_track(TileId tile) {
    return {Level::Tile, 0, tile};
}
[[nodiscard]] constexpr Track worker_track(TileId tile, std::uint8_t worker) {
    return {Level::Worker, worker, tile};
}
[[nodiscard]] constexpr Track supervisor_track(TileId tile) {
    return {Level::Worker, kSupervisorContext, tile};
}

/// The path of a track within its chip, as the statistics spell it: `machine`, `tile_12`,
/// `tile_12.worker_3`.
[[nodiscard]] std::string path(Track track);
/// Its last part, as below the track of its tile: `worker_3`.
[[nodiscard]] std::string own_name(Track track);

/// A name as a small integer; kUnnamed shows the word of the span's kind.
using NameId = std::uint32_t;
inline constexpr NameId kUnnamed = 0;

/// Step, compute set and codelet names, interned once before the run. Ids are dense from 1.
class NameTable {
public:
    /// The id of `text`, the same for equal texts. Allocates on the first sight of a text.
    NameId intern(std::string_view text);
    /// The text of `id`, empty for kUnnamed. An id that was never handed out is a broken invariant.
    [[nodiscard]] std::string_view text(NameId id) const;

private:
    std::deque<std::string> texts_; // a deque keeps the keys of ids_ where they are
    std::unordered_map<std::string_view, NameId> ids_;
};

/// What a span may carry beside its name.
enum class ArgKey : std::uint8_t {
    None,
    Bytes,       ///< payload moved in the span
    Step,        ///< number of the step in the control program's order of execution
    SlowestTile, ///< of a step, the one that is longest at it; of a barrier, the one that came last
    Bundles,     ///< instructions and bundles that workers have executed, all tiles together
    Role,        ///< what the step is for; a NameId
    Bound,       ///< fewest cycles in which the busiest tile or lane can do it
    SlowestCycles, ///< of the slowest tile
    OfBound,       ///< slowest_cycles over bound, in hundredths
    SlotsUsed,     ///< of the issue slots of tiles that take part, until each has ended; percent
    Tile,          ///< which tile it is
    MatrixUnit,    ///< of the matrix unit's steps that fit until each tile has ended; percent
    Times,         ///< rounds of a repeat that the span stands for, which do the same
    Messages       ///< that go from one chip to another
};
inline constexpr std::array<std::string_view, 14> kArgWords = {"",
                                                               "bytes",
                                                               "step",
                                                               "slowest_tile",
                                                               "bundles",
                                                               "role",
                                                               "bound",
                                                               "slowest_cycles",
                                                               "hundredths_of_bound",
                                                               "issue_slots_used_percent",
                                                               "tile",
                                                               "matrix_unit_percent",
                                                               "times",
                                                               "messages"};
struct Arg {
    ArgKey key = ArgKey::None;
    std::int64_t value = 0;
};

/// A chain of slices, drawn as arrows: from what the last tile to come did before a barrier to the
/// machine's slice of that barrier; from what a chip sends to what another one gets.
struct Flow {
    std::int64_t number = 0; ///< the same for all slices of a flow, of no other chip's; 0: none
    bool ends = false;       ///< this slice is where it leads
};

/// Flows within chip c have numbers above c times this; flows between chips come behind all of them.
inline constexpr std::int64_t kFlowsOfChip = std::int64_t{1} << 40;

/// Cycles [begin, end) of one track.
struct Span {
    Track track;
    Kind kind = Kind::Compute;
    NameId name = kUnnamed;
    Cycles begin = 0;
    Cycles end = 0;
    std::array<Arg, 10> args = {}; ///< unused entries have the key None
    Flow flow = {};

    /// Nothing: it does not carry it.
    [[nodiscard]] std::optional<std::int64_t> arg(ArgKey key) const {
        for (const Arg& one : args) {
            if (one.key == key) {
                return one.value;
            }
        }
        return std::nullopt;
    }
};

/// A machine-wide quantity over time.
enum class Counter : std::uint8_t {
    ActiveTiles,   ///< tiles that compute
    ExchangeBytes, ///< payload of the exchange phase that is running, 0 between phases
    WordsMoved,    ///< payload that exchanges and stream copies have moved since the start
    MemoryBytes,   ///< in use by what is still needed, on the tile where that is most
    EdgeBytes      ///< with packets that begin to leave over an edge until the next sample
};
inline constexpr std::array<std::string_view, 5> kCounterWords = {
    "active_tiles", "exchange_bytes", "words_moved", "memory_bytes", "edge.to_ipu_"};
inline constexpr std::array<std::string_view, 5> kCounterUnits = {
    "tiles", "bytes", "words of 4 bytes", "bytes", "bytes until the next sample"};

/// The value that `counter` has from `cycle` until its next sample.
struct CounterSample {
    Counter counter = Counter::ActiveTiles;
    Cycles cycle = 0;
    std::int64_t value = 0;
    std::uint32_t chip = 0;
    std::uint32_t to = 0; ///< EdgeBytes: the chip at the other end
};
/// `active_tiles`, `edge.to_ipu_3`
[[nodiscard]] std::string name_of(const CounterSample& sample);

/// Takes the events of a run.
///
/// Contract:
/// - Ask `wants()` first and build no event where it is false; it never turns from false to true.
/// - Spans of one track come in order of time and do not overlap (a track is flat). Spans of
///   different tracks come in any order. Samples of one counter come in order of time.
/// - The spans of level Tile of each tile cover the whole run without a gap, from cycle 0. So do the
///   spans of the machine. Of each chip the same is wanted.
///   A span of no cycles is allowed and has no meaning.
/// - All calls come from one thread; host threads that run tiles ask `wants()` before they start
///   and leave their spans in buffers.
/// - A sink changes nothing in the run: cycles are equal with and without it.
class TraceSink {
public:
    virtual ~TraceSink() = default;
    TraceSink(const TraceSink&) = delete;
    TraceSink& operator=(const TraceSink&) = delete;

    [[nodiscard]] bool wants(Track track) const {
        if (!enabled_ || track.level > level_) {
            return false;
        }
        return track.level == Level::Machine || (track.tile < tiles_.size() && tiles_[track.tile]);
    }
    [[nodiscard]] bool wants_counters() const { return enabled_; }

    virtual void span(const Span& span) = 0;
    virtual void counter(const CounterSample& sample) = 0;

protected:
    /// Wants nothing.
    TraceSink() = default;
    /// Wants the levels up to `level`, of the tiles whose entry is set.
    TraceSink(Level level, std::vector<bool> tiles)
        : enabled_(true), level_(level), tiles_(std::move(tiles)) {}
    /// From here on only the machine's own track is wanted.
    void stop_finer_levels() { level_ = Level::Machine; }

private:
    bool enabled_ = false;
    Level level_ = Level::Machine;
    std::vector<bool> tiles_;
};

/// Wants nothing and drops what it gets.
class NullSink final : public TraceSink {
public:
    void span(const Span&) override {}
    void counter(const CounterSample&) override {}
};

} // namespace tessera::traces
