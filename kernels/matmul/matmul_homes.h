// SPDX-License-Identifier: MIT
// Where the operands of a partition stand before they are sent, and who receives them.
#pragma once

#include "kernels/matmul/matmul_grid.h"
#include "kernels/matmul/matmul_squares.h"
#include "kernels/plan/homes.h"
#include "models/spec/machine_spec.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tessera::matmul {

/// One of the two operands. A group of it is what all tiles of one (im, ik) or (ik, in) receive.
class Operand {
public:
    /// An operand that stands in squares is sent from where most of them stand, if it can be.
    Operand(const spec::MachineSpec& machine, const Grid& grid, bool is_a,
            const StandingSquares& standing = {});

    [[nodiscard]] bool is_a() const { return is_a_; }
    /// Nobody else needs it: it stands where it is used.
    [[nodiscard]] bool stays() const { return is_a_ ? grid_.a_stays() : grid_.b_stays(); }
    /// Goes to pairs at double width.
    [[nodiscard]] bool wide() const { return wide_; }
    [[nodiscard]] Bytes unit_bytes() const { return unit_bytes_; }

    /// Homes of a chunk; none where the operand stays.
    [[nodiscard]] const std::vector<plan::HomeRun>& runs(std::int64_t chunk) const {
        return runs_[static_cast<std::size_t>(chunk)];
    }
    [[nodiscard]] Bytes most_home_bytes() const { return std::ranges::max(filled_); }
    [[nodiscard]] std::size_t groups() const;
    [[nodiscard]] TilePart part_of_group(std::size_t group) const;
    /// Ascending.
    [[nodiscard]] std::vector<TileId> receivers(std::size_t group) const;
    /// Units of a group's chunk that come before those of an absolute k group, for tiles that hold
    /// all chunks.
    [[nodiscard]] std::int64_t units(const TilePart& part, std::int64_t k_groups) const;

private:
    [[nodiscard]] std::vector<plan::Home> deal(std::int64_t chunk, std::int64_t wide_member) const;
    /// Whether a tile may send beside messages at double width that this member of pairs sends.
    [[nodiscard]] bool may_send(TileId tile, std::int64_t wide_member) const;
    /// Lets homes of A begin at rows whose number is a multiple of 16, where that makes none shorter by more than an
    /// eighth. Squares of an operand that is turned begin there, and a square on two tiles is turned on both.
    void cut_at_squares(std::vector<plan::Home>& homes, std::int64_t shortest) const;

    const spec::MachineSpec& machine_;
    const Grid& grid_;
    bool is_a_;
    bool wide_;
    Bytes unit_bytes_;
    std::vector<std::vector<plan::HomeRun>> runs_; ///< by chunk, in the home buffer
    std::vector<Bytes> filled_;                    ///< of that, by tile
};

/// A grid, and those of the operands that are sent from where their squares stand.
struct Placing {
    Grid grid;
    StandingSquares standing;
};
/// Compares four choices: both operands are sent from where their squares stand, either one, or none. Returns the one
/// whose fullest tiles receive and turn the fewest squares; of equal ones that with fewer operands, as other homes send
/// longer messages.
[[nodiscard]] Placing best_placing(const spec::MachineSpec& machine, const Grid& grid,
                                   const StandingSquares& standing);

} // namespace tessera::matmul
