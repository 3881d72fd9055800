// SPDX-License-Identifier: MIT
#include "sim/sentences.h"

#include "base/text.h"
#include "sim/result_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace tessera::sim {

using listeners::PathShare;
using listeners::StepRecord;

namespace {

/// Two figures behind the point are shown; what is nearer to 1 is no difference.
constexpr double kShown = 0.005;
/// Percent of a step that are worth a clause.
constexpr double kWorth = 1;
/// An exchange that is so near to its bound is as good as there.
constexpr double kNearBound = 1.05;
/// Issue slots that are full enough not to be spoken of, in percent.
constexpr double kFullSlots = 95;

double percent(Cycles part, Cycles whole) {
    return 100 * ratio(static_cast<double>(part), static_cast<double>(whole));
}

/// The tile that is on a path longest, the lowest number of equals.
const PathShare& longest(const std::vector<PathShare>& path) {
    return *std::max_element(
        path.begin(), path.end(),
        [](const PathShare& left, const PathShare& right) { return left.cycles < right.cycles; });
}

std::string who(const StepRecord& record) {
    const PathShare& most = longest(record.path);
    return record.path.size() == 1
               ? fmt::format("tile {}", most.tile)
               : fmt::format("{} tiles in turn, tile {} most,", record.path.size(), most.tile);
}

const char* takes(const StepRecord& record) {
    return record.path.size() == 1 ? "takes" : "take";
}

/// Why there is nothing to say of the critical tile, if so.
std::optional<std::string> off_the_path(const StepRecord& record) {
    if (record.executions == 0) {
        return "did not run";
    }
    if (record.cycles == 0) {
        return "nothing waits for it";
    }
    return std::nullopt;
}

/// What the critical tile has to do over the mean of the tiles that have any of it; 0 if unknown.
double share_of_work(const StepRecord& record, const program::ComputeSet& set) {
    const TileId tile = critical_tile(record);
    if (record.path.size() != 1 || tile >= set.work.size()) {
        return 0;
    }
    const auto sum = std::accumulate(set.work.begin(), set.work.end(), std::int64_t{0});
    const auto have =
        std::count_if(set.work.begin(), set.work.end(), [](std::int64_t work) { return work > 0; });
    return ratio(static_cast<double>(set.work[tile]) * static_cast<double>(have),
                 static_cast<double>(sum));
}

std::string against_the_mean(const StepRecord& record, const program::ComputeSet& set,
                             double mean) {
    const std::string subject = who(record);
    const double time = ratio(static_cast<double>(record.cycles), mean);
    if (record.active_tiles == 1) {
        return subject + " alone has a part in it";
    }
    if (time < 1 - kShown) {
        return fmt::format("{} {} {:.2f} of the mean time, and is last for what it does elsewhere",
                           subject, takes(record), time);
    }
    if (time < 1 + kShown) {
        return fmt::format("{} {} as long as the mean of {} tiles", subject, takes(record),
                           grouped(record.active_tiles));
    }
    const double work = share_of_work(record, set);
    if (work < 1 + kShown) {
        return fmt::format("{} {} {:.2f} times the mean time{}", subject, takes(record), time,
                           work == 0 ? "" : " for no more " + set.work_unit + " than others");
    }
    return fmt::format("{} has {:.2f} times the mean {}", subject, work, set.work_unit);
}

} // namespace

TileId critical_tile(const StepRecord& record) {
    return record.path.empty() ? 0 : longest(record.path).tile;
}

std::string compute_set_sentence(const StepRecord& record, const program::ComputeSet& set) {
    if (const auto off = off_the_path(record)) {
        return *off;
    }
    const auto sum =
        std::accumulate(record.tile_cycles.begin(), record.tile_cycles.end(), Cycles{0});
    const double mean = ratio(static_cast<double>(sum), static_cast<double>(record.active_tiles));
    const auto cycles = static_cast<double>(record.cycles);
    std::string said = against_the_mean(record, set, mean);
    const double waited = 100 * (cycles - mean) / cycles;
    if (waited >= kWorth) {
        said += fmt::format("; {:.0f} % of the step is waiting for it", waited);
    }
    const double slots = percent(record.bound_cycles, record.slowest_cycles);
    if (record.bound_cycles > 0 && slots < kFullSlots) {
        said += fmt::format("; the slowest tile could issue it in {:.0f} % of its time", slots);
    }
    return said;
}

std::string exchange_sentence(const StepRecord& record) {
    if (const auto off = off_the_path(record)) {
        return *off;
    }
    if (record.bound_cycles == 0) {
        return fmt::format("{} {} {} cycles in which no words move", who(record), takes(record),
                           grouped(record.cycles));
    }
    const double over =
        ratio(static_cast<double>(record.cycles), static_cast<double>(record.bound_cycles));
    if (over <= kNearBound) {
        return fmt::format("{:.2f} times its bound: the busiest lane is full", over);
    }
    return fmt::format("{} {} {:.2f} times the bound; {:.0f} % of the step is prologue, latency "
                       "and gaps in the schedule",
                       who(record), takes(record), over, 100 * (over - 1) / over);
}

std::string stream_sentence(const StepRecord& record) {
    if (record.executions > 0 && record.cycles > 0) {
        return fmt::format("{} {} waiting {:.0f} % of the time from its start to its end, in which "
                           "the link is busy for {:.0f} %",
                           who(record), record.path.size() == 1 ? "is" : "are",
                           percent(record.cycles, record.transfer_cycles),
                           percent(record.bound_cycles, record.transfer_cycles));
    }
    return *off_the_path(record);
}

CriticalPath critical_path(const listeners::Account& account) {
    CriticalPath path;
    const auto add = [&path](const std::vector<StepRecord>& records) {
        for (const StepRecord& record : records) {
            path.by_role.at(static_cast<std::size_t>(record.role)) += record.cycles;
        }
    };
    add(account.compute_sets());
    add(account.exchanges());
    add(account.streams());
    path.by_role[static_cast<std::size_t>(program::Role::Control)] += account.control_cycles();
    path.barriers = account.phases().sync;
    path.tiles = static_cast<std::int64_t>(account.path().size());
    if (path.tiles == 0) {
        path.sentence = "nothing but barriers";
        return path;
    }
    const PathShare& most = longest(account.path());
    path.tile = most.tile;
    path.tile_cycles = most.cycles;
    path.sentence =
        path.tiles == 1
            ? fmt::format("tile {} all the time", path.tile)
            : fmt::format("{} tiles in turn, tile {} for {:.1f} % of the run", path.tiles,
                          path.tile, percent(path.tile_cycles, account.cycles()));
    auto part = [&, mark = ":"](std::string_view word, Cycles cycles) mutable {
        if (cycles > 0) {
            path.sentence +=
                fmt::format("{} {} {:.1f} %", mark, word, percent(cycles, account.cycles()));
            mark = ",";
        }
    };
    for (std::size_t role = 0; role < program::kRoles.size(); ++role) {
        part(program::kRoles.at(role).word, path.by_role.at(role));
    }
    part("barriers", path.barriers);
    return path;
}

} // namespace tessera::sim
