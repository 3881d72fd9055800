// SPDX-License-Identifier: MIT
// Where the operands of a partition stand: homes, buffers and addresses.
#pragma once

#include "kernels/matmul/matmul_grid.h"
#include "kernels/plan/homes.h"
#include "kernels/plan/liveness.h"
#include "kernels/plan/memory_plan.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <optional>
#include <vector>

namespace tessera::matmul {

/// A run of one operand's chunk on its home tile, `offset` bytes into the home buffer.
struct HomeRun {
    plan::Home home;
    Bytes offset = 0;
    std::int64_t turn = 0; ///< messages of one group go one after the other
};

/// Local copy from a home to the buffer of the same tile: it cannot receive its own words.
struct LocalCopy {
    TileId tile = 0;
    Address from = 0;
    Address to = 0;
    Bytes bytes = 0;
};

class Layout {
public:
    Layout(const spec::MachineSpec& machine, const Grid& grid);

    /// Places all buffers behind `code`; false when they do not fit (memory() then says why).
    [[nodiscard]] bool place(plan::CodeRoom code);

    [[nodiscard]] const Grid& grid() const { return grid_; }
    [[nodiscard]] const plan::MemoryPlan& memory() const { return *memory_; }
    /// The steps of the program, and what they use.
    [[nodiscard]] const plan::Liveness& steps() const { return steps_; }
    /// A tile that has most to hold.
    [[nodiscard]] TileId fullest_tile() const;
    [[nodiscard]] const std::vector<HomeRun>& homes_a(std::int64_t chunk) const {
        return homes_a_[static_cast<std::size_t>(chunk)];
    }
    [[nodiscard]] const std::vector<HomeRun>& homes_b(std::int64_t chunk) const {
        return homes_b_[static_cast<std::size_t>(chunk)];
    }
    /// Group number -> (im, ik) or (ik, in).
    [[nodiscard]] TilePart group_a(std::size_t group) const;
    [[nodiscard]] TilePart group_b(std::size_t group) const;

    /// Buffer of a chunk on the tile.
    [[nodiscard]] Address x(const TilePart& part, std::int64_t chunk) const;
    [[nodiscard]] Address weights(const TilePart& part, std::int64_t chunk) const;
    [[nodiscard]] Address home(const char* buffer, const HomeRun& run) const {
        return memory_->address(buffer) + static_cast<Address>(run.offset);
    }

    /// Transfers that bring a chunk; copies for what its receivers already have.
    void bring(std::int64_t chunk, std::vector<program::Transfer>& transfers,
               std::vector<LocalCopy>& copies) const;
    /// Transfers of partial results to the tiles that sum them up.
    [[nodiscard]] std::vector<program::Transfer> bring_partials() const;

    /// Words of vertex state that one tile may need.
    [[nodiscard]] Bytes state_bytes() const;

private:
    /// What differs between the two operands.
    struct Operand {
        bool is_a = false;
        bool wide = false; ///< goes to pairs at double width
        Bytes unit_bytes = 0;
        std::size_t groups = 0;
        std::size_t receivers = 0; ///< tiles of a group
    };
    [[nodiscard]] Operand operand(bool is_a) const;
    [[nodiscard]] std::int64_t units(const Operand& op, std::size_t group,
                                     std::int64_t chunk) const;
    [[nodiscard]] TileId receiver(const Operand& op, std::size_t group, std::size_t number) const;
    [[nodiscard]] bool receives(const Operand& op, TileId tile, std::size_t group) const;
    [[nodiscard]] std::vector<program::Destination>
    destinations(const Operand& op, std::size_t group, std::int64_t chunk) const;

    void find_steps();
    /// Bytes of a buffer that a tile of `part` uses.
    [[nodiscard]] Bytes out_bytes(const TilePart& part) const;
    [[nodiscard]] Bytes x_bytes(const TilePart& part) const;
    [[nodiscard]] Bytes weights_bytes(const TilePart& part) const;

    void deal(const Operand& op, std::int64_t chunk);
    [[nodiscard]] std::vector<plan::Home> deal_wide(const Operand& op, std::int64_t chunk) const;
    [[nodiscard]] std::vector<plan::Home> deal_single(const Operand& op, std::int64_t chunk) const;
    void bring_operand(const Operand& op, std::int64_t chunk,
                       std::vector<program::Transfer>& transfers,
                       std::vector<LocalCopy>& copies) const;
    [[nodiscard]] program::Transfer message(const Operand& op, const HomeRun& run) const;

    const spec::MachineSpec& machine_;
    Grid grid_;
    std::vector<std::vector<HomeRun>> homes_a_;
    std::vector<std::vector<HomeRun>> homes_b_;
    std::vector<Bytes> filled_a_;
    std::vector<Bytes> filled_b_;
    std::vector<std::int64_t> copies_of_tile_;
    plan::Liveness steps_;
    std::optional<plan::MemoryPlan> memory_;
};

} // namespace tessera::matmul
