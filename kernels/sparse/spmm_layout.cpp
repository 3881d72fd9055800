// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_layout.h"

#include "kernels/plan/vertex_cost.h"

#include <algorithm>
#include <map>

namespace tessera::spmm {
namespace {

/// Messages shorter than this are dearer in control than in words.
constexpr Bytes kShortestMessage = 256;
/// Receivers of one message of a line that only some parts need: a message to n tiles waits until
/// all n are free, so short multicasts of irregular sets pack better (measured: 2 takes 0.47 of the
/// time of all at once).
constexpr std::size_t kGathered = 2;

} // namespace

Layout::Layout(const spec::MachineSpec& machine, const Partition& partition)
    : machine_(machine), partition_(partition),
      homes_x_(static_cast<std::size_t>(partition.split().parts_n)),
      filled_x_(static_cast<std::size_t>(machine.chip.tiles)),
      filled_values_(static_cast<std::size_t>(machine.chip.tiles)),
      copies_of_tile_(static_cast<std::size_t>(machine.chip.tiles)),
      reduction_(find_reduction(partition)) {
    find_runs();
    deal_x();
    if (!values_stay()) {
        deal_values();
    }
    find_steps();
}

Bytes Layout::value_unit_bytes() const {
    return partition_.problem().value_bytes() * values_a_unit();
}

std::int64_t Layout::values_a_unit() const {
    return partition_.problem().block == 1 ? 8 : 1;
}

void Layout::find_runs() {
    const std::int64_t lines = partition_.problem().matrix->block_columns();
    for (std::int64_t line = 0; line < lines; ++line) {
        if (runs_.empty() || partition_.users_of_line(line) != partition_.users_of_line(line - 1)) {
            runs_.push_back({line, line});
        }
        runs_.back().last = line + 1;
    }
}

/// A line that one tile needs is at home there. The others of slice `in` stand on the tiles of the
/// next slice, which never receive them.
void Layout::deal_x() {
    const Split& split = partition_.split();
    const Problem& problem = partition_.problem();
    for (std::int64_t in = 0; in < split.parts_n; ++in) {
        std::vector<std::int64_t> lines_of_run;
        for (const LineRun& run : runs_) {
            lines_of_run.push_back(users(run).size() == 1 ? 0 : run.length());
        }
        std::vector<TileId> candidates;
        if (split.parts_n > 1) {
            for (std::int64_t part = 0; part < split.parts(); ++part) {
                candidates.push_back(partition_.tile(part, (in + 1) % split.parts_n));
            }
        } else {
            for (std::int64_t tile = 0; tile < machine_.chip.tiles; ++tile) {
                candidates.push_back(static_cast<TileId>(tile));
            }
        }
        const Bytes line_bytes = problem.x_line_bytes(problem.slice(split, in).length());
        const auto receives = [&](TileId tile, std::size_t run) {
            const std::vector<std::int32_t>& parts = users(runs_[run]);
            return split.parts_n == 1 &&
                   std::binary_search(parts.begin(), parts.end(), static_cast<std::int32_t>(tile));
        };
        for (const plan::Home& home : plan::deal_homes(
                 lines_of_run, candidates, ceil_div(kShortestMessage, line_bytes), receives)) {
            homes_x_[static_cast<std::size_t>(in)].push_back({home, filled_x_[home.tile], 0});
            filled_x_[home.tile] += (home.last - home.first) * line_bytes;
            copies_of_tile_[home.tile] += receives(home.tile, home.group) ? 1 : 0;
        }
    }
}

void Layout::deal_values() {
    const Split& split = partition_.split();
    std::vector<std::int64_t> units;
    std::vector<std::vector<TileId>> receivers;
    std::int64_t least = 0;
    for (std::int64_t part = 0; part < split.parts(); ++part) {
        units.push_back(ceil_div(static_cast<std::int64_t>(partition_.part(part).blocks.size()),
                                 values_a_unit()));
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
    std::vector<plan::Home> homes;
    if (values_wide_) {
        homes = plan::deal_to_next_group(units, receivers, wide_units, 0);
    } else {
        std::vector<TileId> candidates;
        for (std::int64_t tile = 0; tile < machine_.chip.tiles; ++tile) {
            candidates.push_back(static_cast<TileId>(tile));
        }
        homes = plan::deal_homes(units, candidates, ceil_div(kShortestMessage, value_unit_bytes()),
                                 [&](TileId tile, std::size_t part) {
                                     return static_cast<std::size_t>(tile) /
                                                static_cast<std::size_t>(split.parts_n) ==
                                            part;
                                 });
    }
    std::map<std::size_t, std::int64_t> turns;
    for (const plan::Home& home : homes) {
        homes_values_.push_back({home, filled_values_[home.tile], turns[home.group]++});
        filled_values_[home.tile] += (home.last - home.first) * value_unit_bytes();
        const bool own =
            static_cast<std::size_t>(home.tile) / static_cast<std::size_t>(split.parts_n) ==
            home.group;
        copies_of_tile_[home.tile] += own ? 1 : 0;
    }
}

Range Layout::empty_share(std::int64_t part) const {
    const auto all = static_cast<std::int64_t>(reduction_.empty_rows.size());
    const std::int64_t parts = partition_.split().parts();
    return {part * all / parts, (part + 1) * all / parts};
}

Address Layout::x_line(std::int64_t part, std::int64_t line, std::int64_t columns) const {
    return memory_->address("x") +
           static_cast<Address>(partition_.part(part).local_line(static_cast<std::int32_t>(line)) *
                                partition_.problem().x_line_bytes(columns));
}

Address Layout::partial_line(std::int64_t part, std::int64_t row, std::int64_t columns) const {
    return memory_->address("partials") +
           static_cast<Address>(partition_.part(part).local_row(static_cast<std::int32_t>(row)) *
                                partition_.problem().partial_line_bytes(columns));
}

Address Layout::slice(const SumJob& job, std::size_t other, std::int64_t columns) const {
    const std::int64_t line = job.slices_offset + static_cast<std::int64_t>(other) * job.rows;
    return memory_->address("slices") +
           static_cast<Address>(line * partition_.problem().partial_line_bytes(columns));
}

Address Layout::result(const SumJob& job, std::int64_t columns) const {
    return memory_->address("result") +
           static_cast<Address>(job.result_offset *
                                partition_.problem().result_line_bytes(columns));
}

Address Layout::home_x(const HomeRun& run) const {
    return memory_->address("home of x") + static_cast<Address>(run.offset);
}

Address Layout::home_values(const HomeRun& run) const {
    return memory_->address("home of values") + static_cast<Address>(run.offset);
}

std::size_t Layout::messages() const {
    std::size_t count = homes_values_.size();
    for (const std::vector<HomeRun>& homes : homes_x_) {
        for (const HomeRun& run : homes) {
            count += (users(runs_[run.home.group]).size() + kGathered - 1) / kGathered;
        }
    }
    for (const SumJob& job : reduction_.jobs) {
        count += job.others.size() * static_cast<std::size_t>(partition_.split().parts_n);
    }
    return count;
}

void Layout::bring(std::vector<program::Transfer>& transfers,
                   std::vector<LocalCopy>& copies) const {
    const Split& split = partition_.split();
    const Problem& problem = partition_.problem();
    const auto add = [&](program::Transfer transfer,
                         const std::vector<program::Destination>& receivers) {
        for (const program::Destination& to : receivers) {
            if (to.tile == transfer.source_tile) {
                copies.push_back({to.tile, transfer.source_address, to.address, transfer.bytes});
            } else {
                transfer.destinations.push_back(to);
            }
        }
        if (!transfer.destinations.empty()) {
            transfers.push_back(std::move(transfer));
        }
    };
    std::vector<const HomeRun*> order;
    for (const HomeRun& run : homes_values_) {
        order.push_back(&run);
    }
    std::stable_sort(order.begin(), order.end(), [](const HomeRun* left, const HomeRun* right) {
        return left->turn < right->turn;
    });
    for (const HomeRun* run : order) {
        std::vector<program::Destination> receivers;
        for (std::int64_t in = 0; in < split.parts_n; ++in) {
            receivers.push_back({partition_.tile(static_cast<std::int64_t>(run->home.group), in),
                                 memory_->address("values") +
                                     static_cast<Address>(run->home.first * value_unit_bytes())});
        }
        add({run->home.tile,
             home_values(*run),
             (run->home.last - run->home.first) * value_unit_bytes(),
             values_wide_,
             {}},
            receivers);
    }
    for (std::int64_t in = 0; in < split.parts_n; ++in) {
        const std::int64_t columns = problem.slice(split, in).length();
        for (const HomeRun& run : homes_x(in)) {
            const LineRun& lines = runs_[run.home.group];
            // Tiles that have little in common wait for each other in a wide multicast.
            const std::size_t together =
                users(lines).size() == static_cast<std::size_t>(split.parts_m) ? users(lines).size()
                                                                               : kGathered;
            std::vector<program::Destination> receivers;
            const auto send = [&] {
                if (!receivers.empty()) {
                    add({run.home.tile,
                         home_x(run),
                         (run.home.last - run.home.first) * problem.x_line_bytes(columns),
                         false,
                         {}},
                        receivers);
                    receivers.clear();
                }
            };
            for (const std::int32_t part : users(lines)) {
                receivers.push_back({partition_.tile(part, in),
                                     x_line(part, lines.first + run.home.first, columns)});
                if (receivers.size() == together) {
                    send();
                }
            }
            send();
        }
    }
}

std::vector<program::Transfer> Layout::bring_partials() const {
    const Split& split = partition_.split();
    const Problem& problem = partition_.problem();
    std::vector<program::Transfer> transfers;
    const std::size_t turns = static_cast<std::size_t>(split.parts_k);
    for (std::size_t turn = 0; turn < turns; ++turn) {
        for (const SumJob& job : reduction_.jobs) {
            if (turn >= job.others.size()) {
                continue;
            }
            const std::size_t other =
                (turn + static_cast<std::size_t>(job.reducer)) % job.others.size();
            for (std::int64_t in = 0; in < split.parts_n; ++in) {
                const std::int64_t columns = problem.slice(split, in).length();
                program::Transfer transfer;
                transfer.source_tile = partition_.tile(job.others[other], in);
                transfer.source_address = partial_line(job.others[other], job.first_row, columns);
                transfer.bytes = job.rows * problem.partial_line_bytes(columns);
                transfer.destinations.push_back(
                    {partition_.tile(job.reducer, in), slice(job, other, columns)});
                transfers.push_back(std::move(transfer));
            }
        }
    }
    return transfers;
}

} // namespace tessera::spmm
