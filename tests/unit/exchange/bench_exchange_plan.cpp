// SPDX-License-Identifier: MIT
// How long planning and checking take on the host, and how near plans come to their bound. Not a
// test:
//   cmake --build --preset dev --target bench_exchange_plan && build/dev/tests/bench_exchange_plan
// prints one line a pattern: processor milliseconds to plan and to execute, row events, bound,
// their ratio, the longest row and how many 64-bit messages there were.
#include "kernels/plan/exchange_planner.h"
#include "tests/unit/exchange/support.h"

#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::exchange_test;

namespace {

/// Processor time: other programs on the host do not count.
double milliseconds_since(std::clock_t start) {
    return 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Receives are packed from 0x88000 on, everything is sent from 0x80000.
class Layout {
public:
    explicit Layout(const spec::MachineSpec& machine)
        : from_(machine.memory.region1_begin()),
          next_(static_cast<std::size_t>(machine.chip.tiles), from_ + 0x8000) {}

    void add(TileId source, const std::vector<TileId>& receivers, std::int64_t words, bool paired) {
        program::Transfer transfer{source, from_, words * 4, paired, {}};
        for (const auto tile : receivers) {
            auto& at = next_[tile];
            // Memory is reused: only the timing matters here, and overlaps are not allowed.
            transfer.destinations.push_back({tile, at});
            at += static_cast<Address>(words * 4);
        }
        transfers_.push_back(std::move(transfer));
    }

    std::vector<program::Transfer> take() { return std::move(transfers_); }

private:
    Address from_;
    std::vector<Address> next_;
    std::vector<program::Transfer> transfers_;
};

void report(const std::string& name, spec::MachineSpec machine,
            std::vector<program::Transfer> transfers) {
    const auto start = std::clock();
    auto plan = plan::plan_exchange_with_stats(machine, name, std::move(transfers));
    const auto plan_ms = milliseconds_since(start);
    const auto begin = std::clock();
    const auto outcome = execute(machine, plan.exchange);
    const auto execute_ms = milliseconds_since(begin);
    const auto& stats = plan.stats;
    std::printf("%-44s %8.1f %8.1f %8lld %8lld %6.3f %6lld %6lld %6lld\n", name.c_str(), plan_ms,
                execute_ms, static_cast<long long>(stats.longest_row_events),
                static_cast<long long>(stats.bound.cycles()),
                static_cast<double>(stats.longest_row_events) /
                    static_cast<double>(stats.bound.cycles()),
                static_cast<long long>(stats.longest_row_bytes),
                static_cast<long long>(stats.wide_messages),
                static_cast<long long>(stats.lowered_messages));
}

std::vector<TileId> range(TileId first, TileId tiles, TileId step = 1) {
    std::vector<TileId> out;
    for (TileId i = 0; i < tiles; ++i)
        out.push_back(first + i * step);
    return out;
}

void without(std::vector<TileId>& tiles, TileId tile, bool pair) {
    std::erase_if(tiles,
                  [&](TileId other) { return pair ? other / 2 == tile / 2 : other == tile; });
}

/// Groups of neighbours; every tile (or every even tile) sends to all of its own or the next group.
void gather(TileId group, std::int64_t words, bool other_group, bool paired, TileId sender_step) {
    spec::MachineSpec machine;
    Layout layout{machine};
    const TileId groups = 1472 / group;
    for (TileId g = 0; g < groups; ++g) {
        for (TileId i = 0; i < group; i += sender_step) {
            const TileId source = g * group + i;
            auto receivers = range((other_group ? (g + 1) % groups : g) * group, group);
            without(receivers, source, paired);
            layout.add(source, receivers, words, paired);
        }
    }
    report("gather group " + std::to_string(group) + " words " + std::to_string(words) +
               (other_group ? " other" : " own") + (paired ? " paired" : "") + " step " +
               std::to_string(sender_step),
           machine, layout.take());
}

/// A grid of tiles: each sends one block along its row and one along its column.
void grid(TileId rows, TileId columns, std::int64_t words) {
    spec::MachineSpec machine;
    Layout layout{machine};
    for (TileId r = 0; r < rows; ++r) {
        for (TileId c = 0; c < columns; ++c) {
            const auto source = r * columns + c;
            auto along_row = range(r * columns, columns);
            without(along_row, source, false);
            auto along_column = range(c, rows, columns);
            without(along_column, source, false);
            layout.add(source, along_row, words, false);
            layout.add(source, along_column, words, false);
        }
    }
    report("grid " + std::to_string(rows) + "x" + std::to_string(columns) + " words " +
               std::to_string(words),
           machine, layout.take());
}

/// The first tiles of the chip hold data and send it, double width, to groups of all the others.
void distribute(TileId senders, TileId group, std::int64_t words, bool paired) {
    spec::MachineSpec machine;
    Layout layout{machine};
    const TileId groups = (1472 - senders) / group;
    for (TileId s = 0; s < senders; s += 2)
        for (TileId g = s / 2; g < groups; g += 8)
            layout.add(s, range(senders + g * group, group), words, paired);
    report("distribute from " + std::to_string(senders) + " to groups of " + std::to_string(group) +
               (paired ? " paired" : ""),
           machine, layout.take());
}

void random_unicast(int per_tile, std::int64_t words) {
    spec::MachineSpec machine;
    Layout layout{machine};
    std::mt19937 random{1};
    for (int i = 0; i < per_tile * 1472; ++i) {
        const auto source = static_cast<TileId>(random() % 1472);
        const auto to = static_cast<TileId>((source + 1 + random() % 1471) % 1472);
        layout.add(source, {to}, words, false);
    }
    report("random unicast " + std::to_string(per_tile) + " a tile words " + std::to_string(words),
           machine, layout.take());
}

/// Every tile sends a block to each of `peers` tiles spread over the chip.
void all_to_all(TileId peers, std::int64_t words) {
    spec::MachineSpec machine;
    Layout layout{machine};
    for (TileId source = 0; source < 1472; ++source)
        for (TileId i = 1; i <= peers; ++i)
            layout.add(source,
                       {(source + i * (1472 / peers) - 1) % 1472 == source
                            ? (source + 1) % 1472
                            : (source + i * (1472 / peers) - 1) % 1472},
                       words, false);
    report("all to all " + std::to_string(peers) + " peers words " + std::to_string(words), machine,
           layout.take());
}

} // namespace

int main() {
    std::printf("%-44s %8s %8s %8s %8s %6s %6s %6s %6s\n", "pattern", "plan ms", "exec ms",
                "events", "bound", "ratio", "row B", "wide", "narrow");
    for (const TileId group : {8U, 16U, 32U, 64U}) {
        for (const std::int64_t words : {128, 512}) {
            gather(group, words, true, false, 1);
            gather(group, words, false, false, 1);
            gather(group, words, true, true, 2);
            gather(group, words, true, true, 1);
            gather(group, words, false, true, 2);
        }
    }
    gather(16, 4000, true, false, 1);
    distribute(192, 64, 1000, true);
    distribute(192, 64, 1000, false);
    grid(32, 46, 500);
    grid(46, 32, 100);
    grid(23, 64, 300);
    random_unicast(30, 100);
    random_unicast(100, 100);
    all_to_all(64, 100);
    all_to_all(32, 8);
    return 0;
}
