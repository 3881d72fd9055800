// SPDX-License-Identifier: MIT
#include "kernels/published/dense_costs.h"

#include <bit>

namespace tessera::published {

std::vector<std::int64_t> intermediate_depths(std::int64_t parts) {
    constexpr std::int64_t kTwoStages = 16;
    constexpr std::int64_t kThreeStages = 125;
    if (parts < kTwoStages) {
        return {};
    }
    const auto sum = [&](const std::vector<std::int64_t>& depths) {
        double ratios = 0;
        std::int64_t before = parts;
        for (const std::int64_t depth : depths) {
            ratios += static_cast<double>(before) / static_cast<double>(depth);
            before = depth;
        }
        return ratios + static_cast<double>(before);
    };
    // floor(parts^(power/stages)), in whole numbers.
    const auto root = [&](std::int64_t power, std::int64_t stages) {
        std::int64_t all = 1;
        for (std::int64_t i = 0; i < power; ++i) {
            all *= parts;
        }
        const auto too_large = [&](std::int64_t value) {
            std::int64_t raised = 1;
            for (std::int64_t i = 0; i < stages; ++i) {
                raised *= value;
            }
            return raised > all;
        };
        std::int64_t value = 1;
        while (!too_large(value + 1)) {
            ++value;
        }
        return value;
    };
    std::vector<std::int64_t> best;
    const auto offer = [&](std::vector<std::int64_t> depths) {
        if (best.empty() || sum(depths) < sum(best)) {
            best = std::move(depths);
        }
    };
    if (parts < kThreeStages) {
        const std::int64_t middle = root(1, 2);
        offer({middle});
        offer({middle + 1});
        return best;
    }
    const std::int64_t first = root(2, 3);
    const std::int64_t second = root(1, 3);
    for (const std::int64_t i : {first, first + 1}) {
        for (const std::int64_t j : {second, second + 1}) {
            offer({i, j});
        }
    }
    return best;
}

std::vector<ReductionStage> reduction_stages(std::int64_t parts, std::int64_t outputs) {
    std::vector<ReductionStage> stages;
    if (parts > 1) {
        each_reduction_stage(intermediate_depths(parts), parts, outputs,
                             [&](const ReductionStage& stage) { stages.push_back(stage); });
    }
    return stages;
}

Cycles reduction_list_cycles(const DenseMachine& machine, ElementType from, ElementType to,
                             const ReductionStage& stage) {
    const bool f16 = from == ElementType::F16;
    const bool to_f16 = to == ElementType::F16;
    const std::int64_t lanes = f16 ? 8 : 4;
    const Cycles step = f16 ? (to_f16 ? 8 : 9) : (to_f16 ? 6 : 7);
    const std::int64_t ragged = std::popcount(static_cast<std::uint64_t>(stage.outputs % lanes));
    const std::int64_t loops = stage.outputs / lanes + ragged;
    std::int64_t of_worker = loops / machine.workers;
    Cycles tail = 0;
    if (loops % machine.workers != 0) {
        if (ragged != 0) {
            tail = 2 * stage.depth + (f16 ? 11 : 13);
        } else {
            ++of_worker;
        }
    }
    return machine.round_cycles * (32 + tail + (3 * stage.depth + step) * of_worker);
}

Cycles reduction_stage_cycles(const DenseMachine& machine, ElementType from, ElementType to,
                              const ReductionStage& stage) {
    const bool f16 = from == ElementType::F16;
    const bool to_f16 = to == ElementType::F16;
    const std::int64_t lanes = f16 ? 8 : 4;
    const Bytes exchanged = (stage.depth - 1) * stage.outputs * bytes_of(from);
    const Bytes allowed = machine.tile_bytes / 16;
    const Bytes whole_elements = ceil_div(exchanged, machine.element_bytes) * machine.element_bytes;
    if (stage.outputs % lanes == 0 && whole_elements < allowed) {
        const Cycles step = f16 ? (to_f16 ? 9 : 10) : (to_f16 ? 7 : 8);
        return 33 +
               machine.round_cycles * (20 + (2 * (stage.depth - 1) + step) *
                                                ceil_div(stage.outputs / lanes, machine.workers));
    }
    return reduction_list_cycles(machine, from, to, stage);
}

} // namespace tessera::published
