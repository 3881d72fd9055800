// SPDX-License-Identifier: MIT
// Where everything of a partition stands, and what has to move.
#pragma once

#include "kernels/plan/homes.h"
#include "kernels/plan/liveness.h"
#include "kernels/plan/memory_plan.h"
#include "kernels/sparse/spmm_partition.h"
#include "kernels/sparse/spmm_reduction.h"
#include "models/program/pointer_format.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <optional>
#include <vector>

namespace tessera::spmm {

/// How the lists of single elements say where a line of the dense operand begins: in bytes from the first.
inline constexpr auto kLineOffset = program::PointerFormat::Scaled16;

/// Consecutive lines of X that the same parts need.
struct LineRun {
    std::int64_t first = 0;
    std::int64_t last = 0;

    [[nodiscard]] std::int64_t length() const { return last - first; }
};

/// Some lines of a run, or some units of a part's values, on their home tile.
struct HomeRun {
    plan::Home home;  ///< group: number of the run or of the part
    Bytes offset = 0; ///< in the home buffer
    std::int64_t turn = 0;
};

struct LocalCopy {
    TileId tile = 0;
    Address from = 0;
    Address to = 0;
    Bytes bytes = 0;
};

class Layout {
public:
    Layout(const spec::MachineSpec& machine, const Partition& partition);

    /// Places all buffers behind `code`; false when they do not fit (memory() then says why).
    [[nodiscard]] bool place(plan::CodeRoom code);
    [[nodiscard]] const plan::MemoryPlan& memory() const { return *memory_; }
    /// The steps of the program, and what they use.
    [[nodiscard]] const plan::Liveness& steps() const { return steps_; }
    /// A tile that has most to hold.
    [[nodiscard]] TileId fullest_tile() const;
    [[nodiscard]] const Partition& partition() const { return partition_; }

    /// Values of a part travel in units of this many bytes: 8 elements, or a block.
    [[nodiscard]] Bytes value_unit_bytes() const;
    [[nodiscard]] std::int64_t values_a_unit() const;
    [[nodiscard]] bool values_stay() const { return partition_.split().parts_n == 1; }
    [[nodiscard]] bool reduces() const { return !reduction_.jobs.empty(); }

    [[nodiscard]] const std::vector<LineRun>& runs() const { return runs_; }
    [[nodiscard]] const std::vector<std::int32_t>& users(const LineRun& run) const {
        return partition_.users_of_line(run.first);
    }
    [[nodiscard]] const std::vector<HomeRun>& homes_x(std::int64_t in) const {
        return homes_x_[static_cast<std::size_t>(in)];
    }
    [[nodiscard]] const std::vector<HomeRun>& homes_values() const { return homes_values_; }
    [[nodiscard]] const Reduction& reduction() const { return reduction_; }

    [[nodiscard]] Address x_line(std::int64_t part, std::int64_t line, std::int64_t columns) const;
    [[nodiscard]] Address partial_line(std::int64_t part, std::int64_t row,
                                       std::int64_t columns) const;
    [[nodiscard]] Address slice(const SumJob& job, std::size_t other, std::int64_t columns) const;
    [[nodiscard]] Address result(const SumJob& job, std::int64_t columns) const;
    [[nodiscard]] Address home_x(const HomeRun& run) const;
    [[nodiscard]] Address home_values(const HomeRun& run) const;
    /// Bytes of a part's lists: offsets and counts, or entries.
    [[nodiscard]] Bytes metadata_bytes(const Part& part) const;

    /// Rows of C without blocks stand evenly on the tiles of a slice; the share of part `part`:
    /// positions in the reduction's empty rows.
    [[nodiscard]] Range empty_share(std::int64_t part) const;

    /// Upper bound on the transfers of `bring` and `bring_partials`.
    [[nodiscard]] std::size_t messages() const;

    void bring(std::vector<program::Transfer>& transfers, std::vector<LocalCopy>& copies) const;
    [[nodiscard]] std::vector<program::Transfer> bring_partials() const;

private:
    void find_runs();
    void find_steps();
    [[nodiscard]] bool brings() const;
    void deal_x();
    void deal_values();
    [[nodiscard]] Bytes state_bytes() const;
    [[nodiscard]] Bytes empty_rows_bytes() const;

    const spec::MachineSpec& machine_;
    const Partition& partition_;
    std::vector<LineRun> runs_;
    std::vector<std::vector<HomeRun>> homes_x_;
    std::vector<HomeRun> homes_values_;
    bool values_wide_ = false;
    std::vector<Bytes> filled_x_;
    std::vector<Bytes> filled_values_;
    std::vector<std::int64_t> copies_of_tile_;
    Reduction reduction_;
    plan::Liveness steps_;
    std::optional<plan::MemoryPlan> memory_;
};

} // namespace tessera::spmm
