// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_homes.h"

#include <algorithm>
#include <numeric>

namespace tessera::sparse {
namespace {

using plan::kShortestMessage;

/// Fewest receivers of one message of a line that only some parts need.
constexpr std::size_t kFewestGathered = 2;

std::vector<Range> line_runs(const Partition& partition) {
    std::vector<Range> runs;
    const std::int64_t lines = partition.problem().matrix->block_columns();
    for (std::int64_t line = 0; line < lines; ++line) {
        if (runs.empty() || partition.users_of_line(line) != partition.users_of_line(line - 1)) {
            runs.push_back({line, line});
        }
        runs.back().last = line + 1;
    }
    return runs;
}

std::vector<TileId> all_tiles(const spec::MachineSpec& machine) {
    std::vector<TileId> tiles(static_cast<std::size_t>(machine.chip.tiles));
    std::iota(tiles.begin(), tiles.end(), TileId{0});
    return tiles;
}

std::size_t reduction_messages(const Partition& partition, const Reduction& reduction) {
    std::size_t count = 0;
    for (const SumJob& job : reduction.jobs) {
        count += job.others.size() * static_cast<std::size_t>(partition.split().slices());
    }
    return count;
}

} // namespace

/// A message to n tiles waits until all n are free, so short multicasts of irregular sets pack better (measured: two
/// receivers take 0.47 of the time of all at once), as long as homes have the time: a home sends each of its lines as
/// often as there are messages of it, and no tile takes more than its own lines.
std::size_t gathered(const spec::MachineSpec& machine, const Partition& partition) {
    const Problem& problem = partition.problem();
    const Split& split = partition.split();
    std::int64_t lines = 0;
    std::int64_t users = 0;
    for (std::int64_t line = 0; line < problem.matrix->block_columns(); ++line) {
        const std::size_t of_line = partition.users_of_line(line).size();
        lines += of_line > 0 ? 1 : 0;
        users += static_cast<std::int64_t>(of_line);
    }
    const Bytes line_bytes = problem.line_bytes_of(problem.widest_slice(split));
    const std::int64_t homes = split.parts_n > 1 ? split.parts() : machine.chip.tiles;
    const std::int64_t of_home =
        std::min(lines, std::max(ceil_div(kShortestMessage, line_bytes), ceil_div(lines, homes)));
    const auto mean_users = static_cast<std::size_t>(lines == 0 ? 0 : ceil_div(users, lines));
    std::size_t together = kFewestGathered;
    while (together < mean_users &&
           of_home * static_cast<std::int64_t>(messages_to(mean_users, together)) >
               partition.most_b_lines()) {
        together *= 2;
    }
    return together;
}

std::size_t messages_to(std::size_t users, std::size_t gathered) {
    return (users + gathered - 1) / gathered;
}

Homes::Homes(const spec::MachineSpec& machine, const Partition& partition)
    : machine_(machine), partition_(partition), gathered_(gathered(machine, partition)),
      runs_(line_runs(partition)), b_(static_cast<std::size_t>(partition.split().slices())),
      filled_b_(static_cast<std::size_t>(machine.chip.tiles)),
      filled_values_(static_cast<std::size_t>(machine.chip.tiles)) {
    deal_b();
    if (!values_stay()) {
        deal_values();
    }
}

std::size_t Homes::together(const Range& run) const {
    // Tiles that have little in common wait for each other in a wide multicast.
    const std::size_t all = users(run).size();
    return all == static_cast<std::size_t>(partition_.split().parts_m) ? all : gathered_;
}

std::size_t Homes::messages() const {
    std::size_t count = values_.size();
    for (const std::vector<HomeRun>& homes : b_) {
        for (const HomeRun& run : homes) {
            count += messages_to(users(runs_[run.group]).size(), gathered_);
        }
    }
    return count;
}

/// A line that one tile needs in the only pass is at home there. The others of slice `in` stand on the tiles of the
/// next slice, which never receive them. Lines that nobody needs are dealt with them, so that they
/// leave room where a line is received, and then stand nowhere.
void Homes::deal_b() {
    const Split& split = partition_.split();
    const Problem& problem = partition_.problem();
    for (std::int64_t in = 0; in < split.slices(); ++in) {
        std::vector<std::int64_t> lines_of_run;
        for (const Range& run : runs_) {
            lines_of_run.push_back(stays(run) ? 0 : run.size());
        }
        std::vector<TileId> candidates;
        if (split.parts_n > 1) {
            for (std::int64_t part = 0; part < split.parts(); ++part) {
                candidates.push_back(partition_.tile(part, in + 1));
            }
        } else {
            candidates = all_tiles(machine_);
        }
        const Bytes line_bytes = problem.line_bytes_of(problem.slice(split, in).size());
        const auto receives = [&](TileId tile, std::size_t run) {
            const std::vector<std::int32_t>& parts = users(runs_[run]);
            return split.parts_n == 1 &&
                   std::binary_search(parts.begin(), parts.end(), static_cast<std::int32_t>(tile));
        };
        for (const plan::Home& home : plan::deal_homes(
                 lines_of_run, candidates, ceil_div(kShortestMessage, line_bytes), receives)) {
            if (users(runs_[home.group]).empty()) {
                continue;
            }
            b_[static_cast<std::size_t>(in)].push_back({home, filled_b_[home.tile], 0});
            filled_b_[home.tile] += (home.last - home.first) * line_bytes;
        }
    }
}

void Homes::deal_values() {
    const Split& split = partition_.split();
    std::vector<std::int64_t> units;
    std::vector<std::vector<TileId>> receivers;
    std::int64_t least = 0;
    for (std::int64_t part = 0; part < split.parts(); ++part) {
        units.push_back(ceil_div(std::ssize(partition_.part(part).blocks), values_a_unit()));
        least = part == 0 ? units.back() : std::min(least, units.back());
        receivers.emplace_back();
        for (std::int64_t in = 0; in < split.parts_n; ++in) {
            receivers.back().push_back(partition_.tile(part, in));
        }
    }
    const std::int64_t wide_units =
        ceil_div(machine_.exchange.pair_min_items * 8, value_unit_bytes());
    values_wide_ = machine_.exchange.pairs() && split.parts_n % 2 == 0 && split.parts() > 1 &&
                   least >= wide_units;
    const auto homes =
        values_wide_ ? plan::deal_to_next_group(units, receivers, wide_units, 0)
                     : plan::deal_homes(units, all_tiles(machine_),
                                        ceil_div(kShortestMessage, value_unit_bytes()),
                                        [&](TileId tile, std::size_t part) {
                                            return static_cast<std::size_t>(tile) /
                                                       static_cast<std::size_t>(split.parts_n) ==
                                                   part;
                                        });
    values_ = plan::in_turns(homes, value_unit_bytes(), filled_values_);
}

std::size_t messages(const Homes& homes, const Reduction& reduction) {
    return homes.messages() + reduction_messages(homes.partition(), reduction);
}

/// Every part's values and every run of lines in every slice have at least one home.
std::size_t least_messages(const spec::MachineSpec& machine, const Partition& partition,
                           const Reduction& reduction) {
    const Split& split = partition.split();
    const std::size_t together = gathered(machine, partition);
    std::size_t count = 0;
    for (const Range& run : line_runs(partition)) {
        const std::size_t users = partition.users_of_line(run.first).size();
        count += users == 1 && split.passes == 1 ? 0 : messages_to(users, together);
    }
    count *= static_cast<std::size_t>(split.slices());
    for (std::int64_t part = 0; split.parts_n > 1 && part < split.parts(); ++part) {
        count += partition.part(part).blocks.empty() ? 0 : 1;
    }
    return count + reduction_messages(partition, reduction);
}

} // namespace tessera::sparse
