// SPDX-License-Identifier: MIT
// Patterns of messages between the tiles of one chip. What their rows time:
//   "excludes sync"     the exchange row alone, between two readings of a tile's cycle counter
//   words one by one    the exchange with the sync before it, as the note of such a row says
//   other tables        the exchange and a fixed part: what the measuring program does around it,
//                       from one row (docs/evidence.md#calibrated-rows); in some the sync before it
//                       and the copy of what a root has for itself
//                       (docs/evidence.md#exchange-tables)
#include "base/error.h"
#include "models/timing/exchange_latency.h"
#include "sim/calibrate/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

namespace tessera::calibrate {
namespace {

using nlohmann::json;

const Timed kWhole{.phases = {"all"}, .steps = {}};
const Timed kRowOnly{.phases = {"exchange"}, .steps = {}, .fixed_cycles = 0, .row_only = true};
const Timed kWithSync{.phases = {"sync", "exchange"}, .steps = {}};

/// Fixed part: measured less simulated cycles of JIA-T4.8-01, one word to one tile in 150.
constexpr double kTableCycles = 48;
const Timed kTable{.phases = {"exchange"}, .steps = {}, .fixed_cycles = kTableCycles};
const Timed kTableAndSync{
    .phases = {"sync", "exchange"}, .steps = {}, .fixed_cycles = kTableCycles};
/// With the copy of what a root has for itself.
constexpr StepsOf kOwnCopy{
    .called = "rearrange", .list = "compute_sets", .role = program::Role::Rearrange};
const Timed kTableAndCopy{
    .phases = {"exchange"}, .steps = {kOwnCopy}, .fixed_cycles = kTableCycles};
const Timed kTableAndBoth{
    .phases = {"sync", "exchange"}, .steps = {kOwnCopy}, .fixed_cycles = kTableCycles};
constexpr std::int64_t kWordBytes = 4;
/// A large message where a row gives no size: what the broadcast tables use.
constexpr std::int64_t kLargeBytes = 102'400;

json pattern(const char* name, std::int64_t tiles, std::int64_t bytes) {
    return workload_of("exchange_pattern", {{"pattern", name}, {"tiles", tiles}, {"bytes", bytes}});
}

json point_to_point(TileId source, TileId destination, std::int64_t bytes) {
    return workload_of("exchange_pattern", {{"pattern", "point_to_point"},
                                            {"bytes", bytes},
                                            {"source", source},
                                            {"destination", destination}});
}

/// All pairs of different tiles.
template <class Visit> void for_each_pair(const RowMachine& machine, const Visit& visit) {
    const auto tiles = static_cast<TileId>(machine.spec.chip.tiles);
    for (TileId from = 0; from < tiles; ++from) {
        for (TileId to = 0; to < tiles; ++to) {
            if (from != to) {
                visit(from, to);
            }
        }
    }
}

/// A pair of tiles whose latency is that of the mean pair, or next to it.
json ordinary_pair(const RowMachine& machine, std::int64_t bytes) {
    const timing::ExchangeTiming timing(machine.spec);
    Cycles sum = 0;
    std::int64_t pairs = 0;
    for_each_pair(machine, [&](TileId from, TileId to) {
        sum += timing.latency(from, to);
        ++pairs;
    });
    const double mean = static_cast<double>(sum) / static_cast<double>(pairs);
    std::pair<TileId, TileId> best{0, 1};
    double distance = std::numeric_limits<double>::infinity();
    for_each_pair(machine, [&](TileId from, TileId to) {
        const double other = std::abs(static_cast<double>(timing.latency(from, to)) - mean);
        if (other < distance) {
            distance = other;
            best = {from, to};
        }
    });
    return point_to_point(best.first, best.second, bytes);
}

/// A rooted pattern of `tiles` tiles, the root being one of them.
json with_root(const char* name, std::int64_t tiles, std::int64_t bytes) {
    json workload = pattern(name, tiles, bytes);
    workload["include_self"] = true;
    return workload;
}

/// One worker copies what stands in words of 8 bytes (docs/evidence.md#halo-copies).
json by_one_worker(json workload) {
    constexpr std::int64_t kItemBytes = 8;
    if (workload["bytes"].get<std::int64_t>() % kItemBytes == 0) {
        workload["copies"] = "one_worker";
    }
    return workload;
}

/// From the last tile to the first n others. From four on the last island listens as a whole, and
/// the root's partner is left out where all tiles are meant, so that all receivers are pairs.
json broadcast(const RowMachine& machine, std::int64_t tiles, std::int64_t bytes) {
    const std::int64_t all = machine.spec.chip.tiles;
    const std::int64_t listeners = tiles < 4 ? tiles : (tiles + 3) / 4 * 4;
    json workload = pattern("broadcast", std::min(listeners, all - 2), bytes);
    workload["source"] = all - 1;
    return workload;
}

/// `count` messages at a time between tiles that each send and receive at most one.
json concurrent(const RowMachine& machine, std::int64_t count, std::int64_t bytes) {
    if (count == 1) {
        return ordinary_pair(machine, bytes);
    }
    return pattern(count % 2 == 0 ? "pairs" : "shift", count, bytes);
}

// --- one word between two tiles, device-timed -------------------------------------------------

/// Tiles on one side of a latency: their grid positions.
using Allowed = bool (*)(const timing::TilePosition& from, const timing::TilePosition& to);

bool same_column(const timing::TilePosition& from, const timing::TilePosition& to) {
    return from.column == to.column;
}
bool any_pair(const timing::TilePosition& /*from*/, const timing::TilePosition& /*to*/) {
    return true;
}
/// Columns 0..7 run out and 8..15 back beside them.
int place(int column) {
    return column < 8 ? column : 15 - column;
}
bool right_to_left(const timing::TilePosition& from, const timing::TilePosition& to) {
    return place(from.column) == 7 && place(to.column) == 0;
}

/// The pair whose exchange of a word takes least or most of those that `allowed` lets through: its
/// latency, or what a receiver's row needs from its mux to its pointer.
std::pair<TileId, TileId> extreme_pair(const RowMachine& machine, Allowed allowed, bool most) {
    const timing::ExchangeTiming timing(machine.spec);
    std::optional<Cycles> best;
    std::pair<TileId, TileId> pair{0, 1};
    for_each_pair(machine, [&](TileId from, TileId to) {
        if (!allowed(timing.grid().position(from), timing.grid().position(to))) {
            return;
        }
        const Cycles word = std::max(timing.latency(from, to), timing.mux_to_pointer(to));
        if (!best || (most ? word > *best : word < *best)) {
            best = word;
            pair = {from, to};
        }
    });
    return pair;
}

auto extreme_word(Allowed allowed, bool most) {
    return [allowed, most](const ReferenceRow& row, const RowMachine& machine) -> Mapped {
        const auto [from, to] = extreme_pair(machine, allowed, most);
        return measure_time(row, machine, point_to_point(from, to, kWordBytes), kRowOnly);
    };
}

/// What one row of the grid adds: the farthest destination in tile 0's column against the nearest.
Mapped word_per_row(const ReferenceRow& row, const RowMachine& machine) {
    const timing::TileGrid grid(machine.spec);
    const auto home = grid.position(0);
    std::vector<TileId> column(static_cast<std::size_t>(grid.rows()), 0);
    for (TileId tile = 1; tile < static_cast<TileId>(grid.tiles()); ++tile) {
        const auto& at = grid.position(tile);
        if (at.column == home.column && at.sub == home.sub) {
            column[static_cast<std::size_t>(at.row)] = tile;
        }
    }
    const auto rows = column.size();
    if (rows < 3) {
        return NotCovered{"the chip has fewer than three rows"};
    }
    const auto word_to = [&](TileId tile) {
        return measure_time(row, machine, point_to_point(0, tile, kWordBytes), kRowOnly);
    };
    Measurement near = word_to(column[1]);
    Measurement far = word_to(column[rows - 1]);
    Measurement both;
    both.timed = near.timed;
    both.runs = {near.runs[0], far.runs[0]};
    const auto steps = static_cast<double>(rows - 2);
    both.read = [near, far, steps](const std::vector<json>& results) {
        return std::abs(far.read({results[1]}) - near.read({results[0]})) / steps;
    };
    return both;
}

// --- tables of latencies and rates ---------------------------------------------------------------

using Make = json (*)(const RowMachine&, std::int64_t tiles, std::int64_t bytes);

/// From n tiles besides the root.
json gather(const RowMachine& machine, std::int64_t tiles, std::int64_t bytes) {
    return pattern("gather", std::min(tiles, machine.spec.chip.tiles - 1), bytes);
}
/// From n tiles, the root being one of them.
json gather_with_root(const RowMachine& /*machine*/, std::int64_t tiles, std::int64_t bytes) {
    return by_one_worker(with_root("gather", tiles, bytes));
}
/// To n tiles, the root being one of them: its own part stays where it is.
json scatter(const RowMachine& /*machine*/, std::int64_t tiles, std::int64_t bytes) {
    return pattern("scatter", tiles - 1, bytes);
}
json scatter_with_root(const RowMachine& /*machine*/, std::int64_t tiles, std::int64_t bytes) {
    return with_root("scatter", tiles, bytes);
}
json all_to_all(const RowMachine& /*machine*/, std::int64_t tiles, std::int64_t bytes) {
    return pattern("all_to_all", tiles, bytes);
}
json random_pairs(const RowMachine& /*machine*/, std::int64_t tiles, std::int64_t bytes) {
    return pattern("random", tiles, bytes);
}
json one_pair(const RowMachine& machine, std::int64_t /*tiles*/, std::int64_t bytes) {
    return ordinary_pair(machine, bytes);
}

/// Of one tile's message to itself in fewer than 20 cycles: no worker can have been launched.
const NotCovered kElided{"a tile's message to itself that takes less time than launching workers: "
                         "the measured program leaves it where it is"};

/// A time, or a rate of all bytes that arrive.
auto table(Make make, const Timed& timed) {
    return [make, timed](const ReferenceRow& row, const RowMachine& machine) -> Mapped {
        const std::int64_t tiles = needed_tiles(row, machine);
        const auto bytes = row.count("msg_bytes");
        const std::int64_t message = bytes.value_or(kLargeBytes);
        if (tiles == 1 && (make == scatter || make == scatter_with_root)) {
            return kElided;
        }
        const json workload = make(machine, tiles, whole_words(message));
        Measurement measurement =
            is_time(row) ? measure_time(row, machine, workload, timed)
                         : measure_rate(row, machine, workload, timed,
                                        static_cast<double>(tiles) * static_cast<double>(message));
        if (!bytes) {
            assume(measurement, fmt::format("messages of {} B", message));
        }
        assume_words(measurement, message);
        return measurement;
    };
}

Mapped left_in_place(const ReferenceRow& /*row*/, const RowMachine& /*machine*/) {
    return kElided;
}

/// A copy inside a tile: of a message to itself, or by all workers between memory regions.
Mapped copied(const ReferenceRow& row, const RowMachine& machine) {
    const std::int64_t bytes = needed(row, "msg_bytes");
    json workload = workload_of("self_copy", {{"tiles", 1}, {"bytes", whole_words(bytes)}});
    if (!row.says("workload", {"standard to interleaved"})) {
        workload = by_one_worker(std::move(workload));
    } else if (bytes % 8 == 0) { // other copies go by words of 4 bytes
        workload["copies"] = "paced";
    }
    const Timed timed{.phases = {"compute"}, .steps = {}};
    Measurement measurement =
        is_time(row) ? measure_time(row, machine, workload, timed)
                     : measure_rate(row, machine, workload, timed, static_cast<double>(bytes));
    assume_words(measurement, bytes);
    return measurement;
}

// --- how a broadcast's rate grows with the message -----------------------------------------------

/// The rate of a broadcast of kLargeBytes is the peak.
double rate(const json& result, std::int64_t bytes) {
    return static_cast<double>(bytes) / cycles_of(result, kTable);
}

Mapped broadcast_fraction(const ReferenceRow& row, const RowMachine& machine) {
    const std::int64_t bytes = needed(row, "msg_bytes");
    const double unit = unit_in(row, "1");
    Measurement measurement;
    measurement.timed = kTable.text();
    for (const std::int64_t size : {whole_words(bytes), kLargeBytes}) {
        measurement.runs.push_back(
            {machine.name, machine.sets, broadcast(machine, needed_tiles(row, machine), size)});
    }
    assume(measurement, fmt::format("the peak is the rate at {} B", kLargeBytes));
    assume_words(measurement, bytes);
    measurement.read = [bytes, unit](const std::vector<json>& results) {
        return rate(results[0], bytes) / rate(results[1], kLargeBytes) / unit;
    };
    return measurement;
}

/// The size at which the rate passes nine tenths of the peak, on a straight line between two sizes.
Mapped broadcast_ninety_percent(const ReferenceRow& row, const RowMachine& machine) {
    static constexpr std::array<std::int64_t, 8> kSizes{2048,   4096,   8192,   12'288,
                                                        16'384, 24'576, 49'152, kLargeBytes};
    const double unit = unit_in(row, "B");
    Measurement measurement;
    measurement.timed = kTable.text();
    for (const std::int64_t size : kSizes) {
        measurement.runs.push_back(
            {machine.name, machine.sets, broadcast(machine, needed_tiles(row, machine), size)});
    }
    assume(measurement, fmt::format("the peak is the rate at {} B", kLargeBytes));
    measurement.read = [unit](const std::vector<json>& results) {
        const double wanted = 0.9 * rate(results.back(), kSizes.back());
        std::size_t i = 1;
        while (rate(results[i], kSizes[i]) < wanted) { // the last one's is above
            ++i;
        }
        const double above = rate(results[i], kSizes[i]);
        const double below = rate(results[i - 1], kSizes[i - 1]);
        const double part = std::clamp((wanted - below) / (above - below), 0.0, 1.0);
        const auto lower = static_cast<double>(kSizes[i - 1]);
        return (lower + part * (static_cast<double>(kSizes[i]) - lower)) / unit;
    };
    return measurement;
}

// --- the barrier -----------------------------------------------------------------------------

Mapped barrier(const ReferenceRow& row, const RowMachine& machine) {
    constexpr std::int64_t kRepeats = 100;
    return measure_time(row, machine, workload_of("sync", {{"repeats", kRepeats}}), kWhole,
                        static_cast<double>(kRepeats));
}

} // namespace

const std::vector<Rule>& exchange_rules() {
    static const std::vector<Rule> rules{
        {"sync", {{"workload", {"hardware global synchronisation on chip"}}}, barrier},
        {"exchange: one word",
         {{"workload", {"tile-to-tile", "word", "excludes sync", "within a column, minimum"}}},
         extreme_word(same_column, false)},
        {"exchange: one word",
         {{"workload", {"tile-to-tile", "word", "excludes sync", "within a column, maximum"}}},
         extreme_word(same_column, true)},
        {"exchange: one word",
         {{"workload", {"tile-to-tile", "word", "excludes sync", "across columns, maximum"}}},
         extreme_word(any_pair, true)},
        {"exchange: one word",
         {{"workload",
           {"tile-to-tile", "word", "excludes sync", "right-most columns to left-most"}}},
         extreme_word(right_to_left, false)},
        {"exchange: one word",
         {{"workload", {"tile-to-tile", "word", "excludes sync", "per island"}}},
         word_per_row},
        {"exchange: one word",
         {{"workload", {"point-to-point", "one word"}}, {"metric", {"latency"}}},
         table(one_pair, kWithSync)},
        {"exchange: one word",
         {{"workload", {"concurrent one-word transfers to random tiles"}}},
         table(random_pairs, kWithSync)},
        {"exchange: pairs",
         {{"workload", {"point-to-point", "large message"}}, {"metric", {"bandwidth"}}},
         table(concurrent, kTable)},
        {"exchange: pairs",
         {{"workload", {"concurrent pairs"}}, {"metric", {"bandwidth"}}},
         table(concurrent, kTable)},
        {"self copy", {{"workload", {"copy to self"}}}, left_in_place},
        {"self copy",
         {{"workload", {"gather"}}, {"note", {"self copy"}}, {"metric", {"bandwidth"}}},
         copied},
        {"self copy", {{"workload", {"copy inside a tile"}}}, copied},
        {"exchange: broadcast",
         {{"workload", {"broadcast"}}, {"metric", {"latency"}}},
         table(broadcast, kTable)},
        {"exchange: broadcast",
         {{"workload", {"broadcast"}}, {"metric", {"bandwidth"}}},
         table(broadcast, kTable)},
        {"exchange: broadcast",
         {{"workload", {"broadcast"}}, {"metric", {"fraction_of_peak"}}},
         broadcast_fraction},
        {"exchange: broadcast",
         {{"workload", {"broadcast", "90% of peak"}}, {"metric", {"message_size"}}},
         broadcast_ninety_percent},
        {"exchange: gather",
         {{"workload", {"gather"}}, {"metric", {"latency"}}},
         table(gather, kTable)},
        {"exchange: long gather",
         {{"workload", {"gather"}}, {"metric", {"bandwidth"}}},
         table(gather_with_root, kTableAndBoth)},
        {"exchange: scatter",
         {{"workload", {"scatter"}}, {"metric", {"latency"}}},
         table(scatter_with_root, kTableAndCopy)},
        {"exchange: long scatter",
         {{"workload", {"scatter"}}, {"metric", {"bandwidth"}}},
         table(scatter, kTableAndSync)},
        {"exchange: all to all", {{"workload", {"all-to-all"}}}, table(all_to_all, kTableAndSync)},
    };
    return rules;
}

} // namespace tessera::calibrate
