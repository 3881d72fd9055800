// SPDX-License-Identifier: MIT
// Sums over all elements, by a pair of sums that each worker of each vertex leaves: their places, and how
// far they may be off.
#pragma once

#include "base/element_type.h"
#include "kernels/family/pair_sums.h"
#include "kernels/function/function.h"
#include "kernels/function/near.h"
#include "kernels/graph/graph.h"
#include "models/spec/machine_spec.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::elementwise {

/// A sum of squares of numbers that are off.
class SumOfSquares {
public:
    void add(const function::Near& number) {
        const double most = std::fabs(number.exact) + number.off;
        exact_ += number.exact * number.exact;
        off_ += most * most - number.exact * number.exact;
        most_ += most * most;
        ++count_;
    }
    /// After so many additions one behind the other; one rounding is that of the square.
    [[nodiscard]] function::Near sum(std::int64_t additions) const {
        const double roundings =
            static_cast<double>(additions + 1) * unit_roundoff(ElementType::F32);
        return {ElementType::F32, exact_, off_ + roundings * most_ + count_ * 0x1p-126};
    }

private:
    double exact_ = 0;
    double off_ = 0;
    double most_ = 0;
    double count_ = 0;
};

/// No worker's sum has more additions one behind the other.
[[nodiscard]] std::int64_t most_units_on_a_tile(const graph::Graph& graph, graph::TensorId tensor);

/// Lives while vertices are added, then hold() gives the tiles their memory.
class WorkerPairs {
public:
    WorkerPairs(graph::Graph& graph, const spec::MachineSpec& machine)
        : graph_(graph),
          workers_(machine.tile.workers), made_{graph.add_buffer({.name = "sums of workers"}), {}} {
    }

    /// Lets each vertex of the function have the place behind its constants.
    void add_to(function::Function& function) {
        function.more = [this](TileId tile) {
            std::int64_t& taken = made_.count[tile];
            const graph::Place place{made_.pairs, std::exchange(taken, taken + workers_) * kBytes};
            return std::vector{graph::write(place, workers_ * kBytes)};
        };
    }
    family::PairsOnTiles hold() && {
        for (const auto& [tile, pairs] : made_.count) {
            graph_.hold(made_.pairs, tile, pairs * kBytes);
        }
        return std::move(made_);
    }

private:
    static constexpr Bytes kBytes = 8;
    graph::Graph& graph_;
    std::int64_t workers_;
    family::PairsOnTiles made_;
};

} // namespace tessera::elementwise
