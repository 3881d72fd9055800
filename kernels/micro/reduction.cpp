// SPDX-License-Identifier: MIT
#include "kernels/micro/micro_builder.h"
#include "kernels/micro/micro_plan.h"
#include "kernels/plan/repeat_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

namespace tessera::micro {
namespace {

using program::DType;
using workload::ReductionWorkload;

constexpr Bytes kOperandBytes = 4;
/// More tiles than these send to one tile in two stages, unless the workload says otherwise.
constexpr std::int64_t kTilesOfOneStage = 32;
/// As many operands are one worker's work: six sums would have to be added up afterwards.
constexpr std::int64_t kOperandsOfOneWorker = 12;

/// Whole numbers that all sums hold exactly: a tile's add up to about 20, in any order.
float operand(std::int64_t tile, std::int64_t index) {
    return static_cast<float>(index == 0 ? tile % 3 + 20 : index % 5 - 2);
}

/// Tiles that each have operands to sum up, in groups; the first of a group gets the others' sums.
struct Level {
    std::vector<TileId> tiles;
    std::int64_t groups = 0; ///< 0: the sums stay where they are

    [[nodiscard]] std::size_t first_of(std::int64_t group) const {
        return tiles.size() * static_cast<std::size_t>(group) / static_cast<std::size_t>(groups);
    }
    [[nodiscard]] std::vector<TileId> leaders() const {
        std::vector<TileId> leading;
        for (std::int64_t group = 0; group < groups; ++group) {
            leading.push_back(tiles[first_of(group)]);
        }
        return leading;
    }
    [[nodiscard]] std::int64_t largest_group() const {
        const auto all = static_cast<std::int64_t>(tiles.size());
        return groups == 0 ? 0 : (all + groups - 1) / groups;
    }
};

class ReductionPlanner {
public:
    ReductionPlanner(const spec::MachineSpec& machine, const ReductionWorkload& workload)
        : machine_(machine), workload_(workload),
          tiles_(tiles_or_all(machine, workload.tiles, machine.chip.tiles)) {
        Level level;
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            level.tiles.push_back(static_cast<TileId>(tile));
        }
        const bool two_stages =
            workload.stages == 0 ? tiles_ > kTilesOfOneStage : workload.stages == 2 && tiles_ > 3;
        if (workload.outputs == 1 && two_stages) {
            level.groups = static_cast<std::int64_t>(std::ceil(std::sqrt(tiles_)));
            levels_.push_back(level);
            level = {levels_.back().leaders(), 0};
        }
        if (workload.outputs == 1 && level.tiles.size() > 1) {
            level.groups = 1;
            levels_.push_back(level);
            level = {levels_.back().leaders(), 0};
        }
        levels_.push_back(level);
    }

    [[nodiscard]] program::Program program(const std::string& name) const {
        BuildRequest request;
        request.name = name;
        request.codelets = {"sum"};
        request.state_bytes = static_cast<Bytes>(levels_.size()) * 2 * 16;
        request.repeats = workload_.repeats;
        return build_program(machine_, request, [&](MicroBuilder& builder) { fill(builder); });
    }

    [[nodiscard]] std::vector<std::byte> operands() const {
        std::vector<float> values;
        values.reserve(static_cast<std::size_t>(tiles_ * workload_.operands));
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            for (std::int64_t i = 0; i < workload_.operands; ++i) {
                values.push_back(operand(tile, i));
            }
        }
        return bytes_of(values);
    }
    [[nodiscard]] std::vector<std::byte> expected() const {
        std::vector<float> sums(levels_.back().tiles.size());
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            float& sum = sums[sums.size() == 1 ? 0 : static_cast<std::size_t>(tile)];
            for (std::int64_t i = 0; i < workload_.operands; ++i) {
                sum += operand(tile, i);
            }
        }
        return bytes_of(sums);
    }
    [[nodiscard]] std::int64_t tiles() const { return tiles_; }
    [[nodiscard]] std::int64_t stages() const {
        return static_cast<std::int64_t>(levels_.size()) - 1;
    }

private:
    static std::vector<std::byte> bytes_of(const std::vector<float>& values) {
        std::vector<std::byte> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        return bytes;
    }

    /// Operands of a level: its own, or a sum of each member of the largest group before it.
    [[nodiscard]] std::int64_t most_operands(std::size_t level) const {
        return level == 0 ? workload_.operands : levels_[level - 1].largest_group();
    }
    static std::string buffer(std::size_t level) { return fmt::format("operands {}", level); }

    void fill(MicroBuilder& builder) const {
        const auto place = [&](const std::string& name, std::int64_t words) {
            builder.place({name,
                           program::SegmentKind::Tensor,
                           words * kOperandBytes,
                           16,
                           plan::Where::Any,
                           {"sum"}});
        };
        place("sum", 1);
        place("sums of workers", machine_.tile.workers);
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            place(buffer(level), most_operands(level));
            for (const TileId tile : levels_[level].tiles) {
                builder.hold(tile, buffer(level), most_operands(level) * kOperandBytes);
            }
        }
        for (const TileId tile : levels_.front().tiles) {
            builder.hold(tile, "sum", kOperandBytes);
            builder.hold(tile, "sums of workers", machine_.tile.workers * kOperandBytes);
        }
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            add_sums(builder, level);
            add_gather(builder, level);
        }
        add_tensors(builder);
    }

    /// Where a level's tile leaves its sum: a group's first where the others' will stand.
    [[nodiscard]] Address sum_address(const MicroBuilder& builder, std::size_t level,
                                      TileId tile) const {
        const std::vector<TileId> leaders = levels_[level].leaders();
        const bool leads = std::binary_search(leaders.begin(), leaders.end(), tile);
        return builder.address(leads ? buffer(level + 1) : "sum");
    }

    void add_sums(MicroBuilder& builder, std::size_t level) const {
        const auto workers = static_cast<std::uint32_t>(machine_.tile.workers);
        Vertices vertices = builder.no_vertices();
        for (std::size_t i = 0; i < levels_[level].tiles.size(); ++i) {
            const TileId tile = levels_[level].tiles[i];
            const auto operands = static_cast<std::uint32_t>(operands_of(level, i));
            plan::check_repeat_count(machine_, "sum", (operands + workers - 1) / workers / 2);
            Address from = builder.address(buffer(level));
            std::uint32_t alone = operands;
            if (operands > kOperandsOfOneWorker) {
                const Address partial = builder.address("sums of workers");
                vertices[tile].push_back(builder.workers(
                    tile, "sum_f32", {from, partial, operands / workers, operands % workers}));
                from = partial;
                alone = workers;
            }
            vertices[tile].push_back(builder.worker(
                tile, "sum_f32", {from, sum_address(builder, level, tile), alone, 0}));
        }
        builder.add_compute_set(level == 0 ? "reduce: own operands" : "reduce: gathered sums",
                                std::move(vertices));
    }

    /// Of the i-th tile of a level.
    [[nodiscard]] std::int64_t operands_of(std::size_t level, std::size_t i) const {
        if (level == 0) {
            return workload_.operands;
        }
        const Level& before = levels_[level - 1];
        const auto group = static_cast<std::int64_t>(i);
        const std::size_t end =
            group + 1 == before.groups ? before.tiles.size() : before.first_of(group + 1);
        return static_cast<std::int64_t>(end - before.first_of(group));
    }

    void add_gather(MicroBuilder& builder, std::size_t level) const {
        const Level& senders = levels_[level];
        std::vector<program::Transfer> transfers;
        for (std::int64_t group = 0; group < senders.groups; ++group) {
            const std::size_t first = senders.first_of(group);
            const std::size_t end =
                group + 1 == senders.groups ? senders.tiles.size() : senders.first_of(group + 1);
            for (std::size_t i = first + 1; i < end; ++i) {
                const auto slot = static_cast<Address>((i - first) * kOperandBytes);
                transfers.push_back(
                    {senders.tiles[i],
                     builder.address("sum"),
                     kOperandBytes,
                     false,
                     {{senders.tiles[first], builder.address(buffer(level + 1)) + slot}}});
            }
        }
        builder.add_exchange("reduce: gather sums", std::move(transfers));
    }

    void add_tensors(MicroBuilder& builder) const {
        auto operands = array_tensor("operands", DType::F32, tiles_ * workload_.operands);
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            operands.pieces.push_back(run_of(static_cast<TileId>(tile), builder.address(buffer(0)),
                                             tile * workload_.operands, workload_.operands,
                                             DType::F32));
        }
        const std::vector<TileId>& last = levels_.back().tiles;
        auto sums = array_tensor("sums", DType::F32, static_cast<std::int64_t>(last.size()));
        for (std::size_t i = 0; i < last.size(); ++i) {
            sums.pieces.push_back(run_of(last[i], builder.address("sum"),
                                         static_cast<std::int64_t>(i), 1, DType::F32));
        }
        builder.add_tensor(std::move(operands));
        builder.add_tensor(std::move(sums));
    }

    const spec::MachineSpec& machine_;
    const ReductionWorkload& workload_;
    std::int64_t tiles_;
    std::vector<Level> levels_;
};

} // namespace

MicroPlan plan(const spec::MachineSpec& machine, const ReductionWorkload& workload) {
    const ReductionPlanner planner(machine, workload);
    MicroPlan plan;
    plan.sentence = fmt::format(
        "sum of {} operands on each of {} tiles, {}, {} times", workload.operands, planner.tiles(),
        workload.outputs == 1 ? "one sum" : "a sum a tile", workload.repeats);
    plan.program = planner.program(plan.sentence);
    plan.operands.push_back({"operands", planner.operands()});
    plan.expected.push_back({"sums", planner.expected()});
    plan.useful_bytes = planner.tiles() * workload.operands * kOperandBytes * workload.repeats;
    plan.choices = {{"stages", planner.stages()}};
    return plan;
}

} // namespace tessera::micro
