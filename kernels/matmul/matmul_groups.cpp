// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_groups.h"

#include "base/activity.h"
#include "base/error.h"
#include "kernels/graph/append.h"
#include "kernels/graph/replicate.h"
#include "kernels/matmul/matmul_grid.h"
#include "kernels/plan/chip_memory.h"
#include "models/timing/tile_position.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::matmul {
namespace {

constexpr const char* kGroupsOwner = "matmul";
/// Shares of the memory that is left beside the other turns' operands, one after the other until it
/// fits.
constexpr double kBudgets[] = {1.0, 0.85, 0.7};

/// So many groups side by side.
struct Turns {
    std::int64_t at_once = 1;
    std::int64_t stride = 1; ///< tiles of each
    std::int64_t turns = 1;
    Cycles cost = 0; ///< of all turns
};

/// The machine as one group has it: `budget` of the memory that the other turns leave. Nothing where
/// they leave none.
std::optional<spec::MachineSpec> share_of(const spec::MachineSpec& machine,
                                          const workload::MatmulWorkload& group, const Turns& turns,
                                          double budget) {
    spec::MachineSpec share = machine;
    share.chip.tiles = turns.stride;
    const double taken = static_cast<double>(turns.turns - 1) * operand_bytes(group) /
                         static_cast<double>(turns.stride);
    const double left = budget * (1.0 - taken / static_cast<double>(plan::bytes_for_data(machine)));
    if (left <= 0) {
        return std::nullopt;
    }
    const Bytes unit = 2 * machine.memory.element_bytes;
    for (Bytes* region : {&share.memory.region0_bytes, &share.memory.region1_bytes}) {
        *region = static_cast<Bytes>(left * static_cast<double>(*region)) / unit * unit;
    }
    return share;
}

/// Whole exchange pairs, where there are several tiles.
std::int64_t stride_of(const spec::MachineSpec& machine, std::int64_t at_once) {
    const std::int64_t tiles = machine.chip.tiles / at_once;
    const std::int64_t block = 2 * timing::pair_bit(machine.chip);
    return tiles > block ? tiles / block * block : tiles;
}

/// Powers of two, and what makes the turns few, cheapest first.
std::vector<Turns> candidates(const spec::MachineSpec& machine,
                              const workload::MatmulWorkload& workload, const PlanOfGroup& group) {
    const std::int64_t groups = workload.groups;
    constexpr std::int64_t kFewTurns = 8;
    const std::int64_t most = std::min(groups, machine.chip.tiles);
    std::set<std::int64_t> counts;
    for (std::int64_t count = 1; count <= most; count *= 2) {
        counts.insert(count);
    }
    const std::int64_t fewest = ceil_div(groups, most);
    for (std::int64_t turns = fewest; turns < fewest + kFewTurns; ++turns) {
        counts.insert(ceil_div(groups, turns));
    }
    std::vector<Turns> all;
    const Activity trying("groups side by side", std::ssize(counts));
    for (const std::int64_t count : counts) {
        trying.step();
        Turns turns{count, stride_of(machine, count), ceil_div(groups, count), 0};
        if (const auto share = share_of(machine, workload, turns, 1.0)) {
            try {
                turns.cost = turns.turns * group.cost(*share, workload);
                all.push_back(turns);
            } catch (const DoesNotFit&) {
                continue;
            }
        }
    }
    std::ranges::stable_sort(all, {}, &Turns::cost);
    return all;
}

/// What is planned for one group, for all of them.
family::Planned all_turns(const family::Planned& one, std::int64_t groups, const Turns& turns) {
    graph::Graph whole(fmt::format("{}, {} groups", one.graph.name, groups));
    std::vector<graph::Step> steps;
    std::vector<graph::Tensor> tensors;
    for (std::int64_t first = 0; first < groups; first += turns.at_once) {
        const std::int64_t here = std::min(turns.at_once, groups - first);
        const auto turn =
            graph::append(whole, graph::replicated(one.graph, here, turns.stride), 0, kGroupsOwner);
        steps.push_back(turn.control);
        if (tensors.empty()) {
            tensors = std::move(whole.tensors);
        } else {
            TESSERA_ASSERT(whole.tensors.size() == tensors.size());
            for (std::size_t i = 0; i < tensors.size(); ++i) {
                graph::join(tensors[i], std::move(whole.tensors[i]));
            }
        }
        whole.tensors.clear();
    }
    whole.control = graph::sequence(std::move(steps));
    whole.tensors = std::move(tensors);
    family::Division division = one.division;
    division.groups_at_once = turns.at_once;
    division.tiles_busy *= turns.at_once;
    division.predicted.compute *= turns.turns;
    division.predicted.reduction *= turns.turns;
    return {std::move(whole), std::move(division)};
}

} // namespace

double operand_bytes(const workload::MatmulWorkload& group) {
    const auto m = static_cast<double>(group.m);
    const auto k = static_cast<double>(group.k);
    const auto n = static_cast<double>(group.n);
    return static_cast<double>(bytes_of(group.dtype)) * (m * k + k * n) +
           static_cast<double>(bytes_of(workload::result_type(group.dtype))) * m * n;
}

family::Divided choose_groups(const spec::MachineSpec& machine,
                              const workload::MatmulWorkload& workload,
                              exchange_plan::KnownSchedules& known, const PlanOfGroup& group) {
    const std::string name = fmt::format("matmul {} x {} x {}, {} groups", workload.m, workload.k,
                                         workload.n, workload.groups);
    const double bytes = static_cast<double>(workload.groups) * operand_bytes(workload);
    if (plan::exceeds_chip(machine, bytes)) {
        throw DoesNotFit(fmt::format("{} does not fit in tile memory: operands and results are "
                                     "{:.0f} bytes, and all tiles have {}",
                                     name, bytes, machine.chip.tiles * machine.memory.bytes()));
    }
    std::string reason;
    for (const Turns& turns : candidates(machine, workload, group)) {
        for (const double budget : kBudgets) {
            const auto share = share_of(machine, workload, turns, budget);
            if (!share) {
                break;
            }
            try {
                auto planned = all_turns(group.plan(*share, workload), workload.groups, turns);
                return family::lowered(machine, std::move(planned), workload.accumulate, known);
            } catch (const DoesNotFit& error) {
                reason = fmt::format("{} ({} groups side by side on {} tiles each, the last number "
                                     "that was tried)",
                                     error.what(), turns.at_once, turns.stride);
            }
        }
    }
    throw DoesNotFit(reason.empty() ? name + " does not fit in tile memory" : reason);
}

Cycles cost_of_groups(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload,
                      const PlanOfGroup& group) {
    const auto turns = candidates(machine, workload, group);
    if (turns.empty()) {
        throw DoesNotFit("no number of groups side by side fits");
    }
    return turns.front().cost;
}

} // namespace tessera::matmul
