// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/codelets/sum_cost.h"
#include "kernels/lower/lower.h"
#include "kernels/micro/limits.h"
#include "kernels/micro/micro.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

namespace tessera::micro {
namespace {

using workload::ReductionWorkload;

constexpr const char* kOwner = "reduction";
constexpr Bytes kOperandBytes = 4;
constexpr const char* kOwnOperands = "reduce: own operands";
constexpr const char* kGatheredSums = "reduce: gathered sums";
constexpr const char* kGather = "reduce: gather sums";
/// As many operands are one worker's work: six sums would have to be added up afterwards.
constexpr std::int64_t kOperandsOfOneWorker = 12;
/// So few tiles send to one of them in one stage only: groups of two make three tiles two and one.
constexpr std::int64_t kTilesOfOneStage = 3;
constexpr std::int64_t kMostStages = 2;
constexpr std::int64_t kOperandsOfRound = 2; ///< of the codelet's loop

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

class ReductionGraph {
public:
    /// `stages` to the one sum, or fewer where there are too few tiles.
    ReductionGraph(const spec::MachineSpec& machine, const ReductionWorkload& workload,
                   std::int64_t stages)
        : machine_(machine), workload_(workload),
          tiles_(tiles_or_all(machine, workload.tiles, machine.chip.tiles)) {
        for (const auto& mistake : workload.mistakes_on(tiles_)) {
            throw wrong_value(mistake.key,
                              fmt::format("{} (machine '{}')", mistake.message, machine.name));
        }
        Level level;
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            level.tiles.push_back(static_cast<TileId>(tile));
        }
        if (workload.outputs == 1 && stages == kMostStages && tiles_ > kTilesOfOneStage) {
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

    [[nodiscard]] graph::Graph graph(const std::string& name) const {
        graph::Graph graph(name);
        graph.codelets = {"sum"};
        const Buffers buffers = add_buffers(graph);
        std::vector<graph::Step> steps;
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            steps.push_back(add_sums(graph, buffers, level));
            if (levels_[level].groups > 0) {
                steps.push_back(add_gather(graph, buffers, level));
            }
        }
        graph.control = graph::repeat(workload_.repeats, std::move(steps));
        add_tensors(graph, buffers);
        return graph;
    }

    /// Expected, of one repetition without its exchanges.
    [[nodiscard]] Cycles cycles() const {
        Cycles sum = machine_.control.repeat_cycles;
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            sum += machine_.control.step_cycles + sum_cycles(most_operands(level));
        }
        return sum;
    }
    [[nodiscard]] std::int64_t stages() const {
        return std::count_if(levels_.begin(), levels_.end(),
                             [](const Level& level) { return level.groups > 0; });
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
    /// Vertices one after the other that share a tile's operands; 0: worker 0 adds them up alone.
    [[nodiscard]] std::int64_t cuts(std::int64_t operands) const {
        return operands > kOperandsOfOneWorker ? plan::cuts_of(operands, operands_of_cut()) : 0;
    }
    template <class Visit> void for_cuts(std::int64_t operands, const Visit& visit) const {
        if (cuts(operands) > 0) {
            plan::for_cuts(operands, operands_of_cut(), visit);
        }
    }
    [[nodiscard]] std::int64_t operands_of_cut() const {
        return machine_.tile.workers * plan::most_rounds(machine_) * kOperandsOfRound;
    }
    /// Of a tile's stub over so many operands.
    [[nodiscard]] Cycles sum_cycles(std::int64_t operands) const {
        const std::int64_t workers = machine_.tile.workers;
        plan::StubTimeline stub(machine_, false);
        for_cuts(operands, [&](std::int64_t /*first*/, std::int64_t own) {
            std::vector<std::int64_t> issues;
            for (std::int64_t w = 0; w < workers; ++w) {
                issues.push_back(codelets::sum_issues(own / workers + (w < own % workers ? 1 : 0)));
            }
            stub.multi_worker(issues);
        });
        stub.worker(
            codelets::sum_issues(cuts(operands) == 0 ? operands : cuts(operands) * workers));
        return stub.finish();
    }
    /// Buffers of the graph.
    struct Buffers {
        graph::BufferId sum;
        graph::BufferId sums_of_workers;
        std::vector<graph::BufferId> operands; ///< by level
    };

    [[nodiscard]] Buffers add_buffers(graph::Graph& graph) const {
        Buffers buffers;
        buffers.sum = graph.add_buffer({.name = "sum"});
        buffers.sums_of_workers =
            graph.add_buffer({.name = "sums of workers", .apart = {buffers.sum}});
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            const auto operands = graph.add_buffer(
                {.name = fmt::format("operands {}", level), .apart = {buffers.sum}});
            for (const TileId tile : levels_[level].tiles) {
                graph.hold(operands, tile, most_operands(level) * kOperandBytes);
            }
            buffers.operands.push_back(operands);
        }
        for (const TileId tile : levels_.front().tiles) {
            graph.hold(buffers.sum, tile, kOperandBytes);
            graph.hold(buffers.sums_of_workers, tile, sums_of_workers_bytes());
        }
        return buffers;
    }

    [[nodiscard]] Bytes sums_of_workers_bytes() const {
        std::int64_t most = 0;
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            most = std::max(most, cuts(most_operands(level)));
        }
        return most * machine_.tile.workers * kOperandBytes;
    }

    /// Where a level's tile leaves its sum: a group's first where the others' will stand.
    [[nodiscard]] graph::Place sum_place(const Buffers& buffers, std::size_t level,
                                         TileId tile) const {
        const std::vector<TileId> leaders = levels_[level].leaders();
        const bool leads = std::binary_search(leaders.begin(), leaders.end(), tile);
        return {leads ? buffers.operands[level + 1] : buffers.sum};
    }

    graph::Step add_sums(graph::Graph& graph, const Buffers& buffers, std::size_t level) const {
        const auto set = graph.add_compute_set(
            {level == 0 ? kOwnOperands : kGatheredSums, program::Role::Reduce, kOwner});
        const std::int64_t workers = machine_.tile.workers;
        for (std::size_t i = 0; i < levels_[level].tiles.size(); ++i) {
            const TileId tile = levels_[level].tiles[i];
            graph::Place from{buffers.operands[level]};
            std::int64_t alone = operands_of(level, i);
            const std::int64_t operands = alone;
            if (cuts(operands) > 0) {
                graph::Place partial{buffers.sums_of_workers};
                for_cuts(operands, [&](std::int64_t first, std::int64_t own) {
                    graph.add_vertex(
                        set, tile, "sum_f32", program::VertexKind::MultiWorker,
                        {graph::read(from + first * kOperandBytes, own * kOperandBytes),
                         graph::write(partial, workers * kOperandBytes), graph::word(own / workers),
                         graph::word(own % workers)});
                    partial = partial + workers * kOperandBytes;
                });
                from = {buffers.sums_of_workers};
                alone = cuts(operands) * workers;
            }
            graph.add_vertex(set, tile, "sum_f32", program::VertexKind::Worker,
                             {graph::read(from, alone * kOperandBytes),
                              graph::write(sum_place(buffers, level, tile), kOperandBytes),
                              graph::word(alone), graph::word(0)});
        }
        return graph::run(set);
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

    graph::Step add_gather(graph::Graph& graph, const Buffers& buffers, std::size_t level) const {
        const auto exchange = graph.add_exchange({kGather, program::Role::Reduce, kOwner});
        const Level& senders = levels_[level];
        for (std::int64_t group = 0; group < senders.groups; ++group) {
            const std::size_t first = senders.first_of(group);
            const std::size_t end =
                group + 1 == senders.groups ? senders.tiles.size() : senders.first_of(group + 1);
            for (std::size_t i = first + 1; i < end; ++i) {
                const auto slot = static_cast<Bytes>(i - first) * kOperandBytes;
                graph.add_message(exchange, senders.tiles[i], {buffers.sum}, kOperandBytes,
                                  {senders.tiles[first], {buffers.operands[level + 1], slot}});
            }
        }
        return graph::run(exchange);
    }

    void add_tensors(graph::Graph& graph, const Buffers& buffers) const {
        auto operands =
            graph::array_tensor("operands", ElementType::F32, tiles_ * workload_.operands);
        operands.given = true;
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            operands.pieces.push_back(
                graph::run_of(static_cast<TileId>(tile), {buffers.operands[0]},
                              tile * workload_.operands, workload_.operands, ElementType::F32));
        }
        const std::vector<TileId>& last = levels_.back().tiles;
        auto sums =
            graph::array_tensor("sums", ElementType::F32, static_cast<std::int64_t>(last.size()));
        sums.wanted = true;
        for (std::size_t i = 0; i < last.size(); ++i) {
            sums.pieces.push_back(graph::run_of(last[i], {buffers.sum},
                                                static_cast<std::int64_t>(i), 1, ElementType::F32));
        }
        graph.add_tensor(std::move(operands));
        graph.add_tensor(std::move(sums));
    }

    spec::MachineSpec machine_;
    ReductionWorkload workload_;
    std::int64_t tiles_;
    std::vector<Level> levels_;
};

/// As many stages as are faster, of those that fit.
std::int64_t choose_stages(const spec::MachineSpec& machine, const ReductionWorkload& workload,
                           const std::string& sentence) {
    std::optional<Cycles> fewest;
    std::int64_t best = 0;
    for (std::int64_t stages = 1; stages <= kMostStages; ++stages) {
        try {
            const ReductionGraph made(machine, workload, stages);
            const auto lowered = lower::lower(machine, made.graph(sentence));
            const Cycles cycles =
                made.cycles() + lower::predicted_exchanges(machine, lowered).total();
            if (!fewest || cycles < *fewest) {
                fewest = cycles;
                best = stages;
            }
        } catch (const DoesNotFit&) {
            if (!fewest && stages == kMostStages) {
                throw;
            }
        }
    }
    return best;
}

} // namespace

Emitted emit(const spec::MachineSpec& machine, const ReductionWorkload& workload) {
    const std::int64_t tiles = tiles_or_all(machine, workload.tiles, machine.chip.tiles);
    const std::string sentence =
        fmt::format("sum of {} operands on each of {} tiles, {}, {} times", workload.operands,
                    tiles, workload.outputs == 1 ? "one sum" : "a sum a tile", workload.repeats);
    const bool choose = workload.stages == 0 && workload.outputs == 1;
    const ReductionGraph made(
        machine, workload, choose ? choose_stages(machine, workload, sentence) : workload.stages);
    Emitted emitted{made.graph(sentence), [made] {
                        return Values{{{program::tensor(0), made.operands()}},
                                      {{program::tensor(1), made.expected()}}};
                    }};
    emitted.useful_bytes = tiles * workload.operands * kOperandBytes * workload.repeats;
    emitted.choices = {{"stages", made.stages()}};
    emitted.expected_cycles = made.cycles();
    return emitted;
}

} // namespace tessera::micro
