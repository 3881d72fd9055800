// SPDX-License-Identifier: MIT
#include "kernels/dynamic/published/planner.h"

#include "base/ceil_div.h"
#include "base/error.h"
#include "kernels/dynamic/published/vertex_cycles.h"
#include "kernels/published/dense_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>
#include <vector>

namespace tessera::dynamic {
namespace {

using published::DenseMachine;

constexpr Bytes kLaneBytes = 4;        ///< what a bucket's values are a multiple of
constexpr std::int64_t kSubGroups = 2; ///< that metadata of a bucket have headers for
constexpr std::int64_t kMostOffset = 65535;
constexpr std::int64_t kMostRows = 65536;

/// Rounded up, but not for what is above a whole number by rounding alone.
std::int64_t whole(double value) {
    return static_cast<std::int64_t>(std::ceil(value * (1 - 1e-12)));
}

/// How many of `lines` have a block, if each of their `length` places has one with `density`.
std::int64_t occupied(std::int64_t lines, std::int64_t length, double density) {
    const double empty = std::pow(1 - density, static_cast<double>(length));
    return std::max<std::int64_t>(1, whole(static_cast<double>(lines) * (1 - empty)));
}

/// Splits that are the smallest with their largest part.
std::vector<std::int64_t> splits_of(std::int64_t grains, std::int64_t most) {
    std::vector<std::int64_t> splits;
    for (std::int64_t split = 1; split <= std::min(grains, most); ++split) {
        if (split == 1 || ceil_div(grains, split) != ceil_div(grains, split - 1)) {
            splits.push_back(split);
        }
    }
    return splits;
}

class Costs {
public:
    Costs(const Problem& problem, const DenseMachine& machine)
        : problem_(problem), machine_(machine), b_(problem.product_block()),
          rows_(ceil_div(problem.m, problem.block) * (problem.block / b_)),
          columns_(ceil_div(problem.k, problem.block) * (problem.block / b_)),
          n_grain_(problem.n_grain()),
          blocks_(whole(problem.density * static_cast<double>(rows_ * columns_))) {}

    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] std::int64_t columns() const { return columns_; }
    [[nodiscard]] std::int64_t n_grains() const { return ceil_div(problem_.n, n_grain_); }

    [[nodiscard]] Part part(const Split& split) const {
        Part part;
        part.rows = ceil_div(rows_, split.x);
        part.columns = ceil_div(columns_, split.y);
        part.n = ceil_div(n_grains(), split.z) * n_grain_;
        const std::int64_t blocks =
            whole(problem_.density * static_cast<double>(part.rows * part.columns));
        part.occupied_rows = occupied(part.rows, part.columns, problem_.density);
        part.row_blocks = ceil_div(blocks, part.occupied_rows);
        part.occupied_columns = occupied(part.columns, part.rows, problem_.density);
        part.column_blocks = ceil_div(blocks, part.occupied_columns);
        return part;
    }

    [[nodiscard]] bool encodable(const Part& part) const {
        const std::int64_t place =
            b_ > 1 ? 1 : part.n * bytes_of(problem_.data); // of the next column
        return (part.columns - 1) * place <= kMostOffset && part.rows <= kMostRows &&
               part.n <= kMostOffset;
    }

    [[nodiscard]] Bucket bucket(const Split& split, const Part& part) const {
        const double room = 1 + problem_.excess;
        const Bytes block_bytes = b_ * b_ * bytes_of(problem_.data);
        const std::int64_t grain = std::lcm(block_bytes, kLaneBytes) / block_bytes;
        Bucket bucket;
        bucket.blocks =
            grain *
            ceil_div(std::llround(room * static_cast<double>(ceil_div(blocks_, split.tiles()))),
                     grain);
        bucket.values = bucket.blocks * b_ * b_;
        // The places of all blocks of part (x, y), although the bucket has a z-th of them.
        const std::int64_t lists =
            whole(room * static_cast<double>(part.occupied_rows * (2 + part.row_blocks)));
        bucket.metadata =
            ceil_div(kSubGroups * header_words() + lists, kMetadataGrain) * kMetadataGrain;
        bucket.bytes = bucket.blocks * block_bytes + bucket.metadata * 2;
        return bucket;
    }

    [[nodiscard]] Plan plan(const Split& split) const {
        Plan plan;
        plan.block = b_;
        plan.split = split;
        plan.part = part(split);
        plan.bucket = bucket(split, plan.part);
        const Pass forward{plan.part.rows * b_, plan.part.columns * b_, split.x, split.y, 1};
        plan.forward = phases(plan, forward);
        plan.forward.compute = compute(plan);
        plan.temporary_bytes = temporary_bytes(plan, forward);
        if (problem_.passes.input_gradient) {
            const Pass gradient{forward.inputs, forward.outputs, split.y, split.x,
                                split.x * split.z};
            plan.input_gradient = phases(plan, gradient);
            plan.input_gradient.compute = gradient_compute(plan);
            if (b_ > 1) {
                plan.input_gradient.transpose =
                    transpose_cycles(machine_, b_, problem_.data, plan.bucket.blocks);
            }
            plan.temporary_bytes = std::max(plan.temporary_bytes, temporary_bytes(plan, gradient));
        }
        return plan;
    }

private:
    /// A product as its tiles see it: rows of dense elements that they have at most.
    struct Pass {
        std::int64_t outputs = 0;
        std::int64_t inputs = 0;
        std::int64_t input_tiles = 0;  ///< that need the same inputs
        std::int64_t output_tiles = 0; ///< that have partials of the same outputs
        std::int64_t input_stride = 0; ///< between tiles that need the same inputs
    };

    [[nodiscard]] std::int64_t header_words() const {
        const bool lists = problem_.passes.values_gradient;
        const std::int64_t workers = machine_.workers;
        return b_ == 1 ? 9 + 5 * workers + (lists ? 5 * workers : 0)
                       : 7 + (lists ? 4 * workers : 0);
    }

    /// All but what the blocks take.
    [[nodiscard]] Phases phases(const Plan& plan, const Pass& pass) const {
        Phases phases;
        const Split& split = plan.split;
        const std::int64_t n = plan.part.n;
        const std::int64_t outputs = pass.outputs * n;
        if (pass.input_tiles > 1) {
            const bool pairs = pass.input_stride == 1 &&
                               (pass.input_tiles % 2 == 0 || pass.input_tiles == split.tiles());
            phases.inputs = ceil_div(pass.inputs * n * bytes_of(problem_.data),
                                     pairs ? machine_.pair_bytes : machine_.exchange_bytes);
        }
        if (split.z > 1) {
            const bool pairs = split.x == 1 && split.z % 2 == 0;
            phases.buckets = ceil_div(split.z * plan.bucket.bytes,
                                      pairs ? machine_.pair_bytes : machine_.exchange_bytes);
        }
        phases.zero = machine_.round_cycles * ceil_div(outputs, machine_.workers);
        if (pass.output_tiles > 1) {
            phases.partials =
                ceil_div(outputs * bytes_of(problem_.partials), machine_.exchange_bytes);
            phases.reduce = published::reduction_list_cycles(
                machine_, problem_.partials, problem_.data,
                {pass.output_tiles, 1, ceil_div(outputs, pass.output_tiles)});
        } else if (problem_.partials != problem_.data) {
            phases.reduce =
                published::cast_cycles(machine_, problem_.partials, problem_.data, outputs);
        }
        return phases;
    }

    [[nodiscard]] Cycles compute(const Plan& plan) const {
        const Part& part = plan.part;
        const VertexWork work{part.occupied_rows, part.row_blocks, part.n, plan.split.z};
        return b_ == 1 ? element_cycles(machine_, problem_.data, work)
                       : block_cycles(machine_, b_, problem_.data, problem_.partials, work);
    }

    [[nodiscard]] Cycles gradient_compute(const Plan& plan) const {
        const Part& part = plan.part;
        const VertexWork work{part.occupied_columns, part.column_blocks, part.n, plan.split.z};
        return b_ == 1 ? element_transposed_cycles(machine_, problem_.data, work)
                       : block_cycles(machine_, b_, problem_.data, problem_.partials, work);
    }

    /// The largest of distribution, propagation and reduction.
    [[nodiscard]] Bytes temporary_bytes(const Plan& plan, const Pass& pass) const {
        const std::int64_t n = plan.part.n;
        const Bytes data = bytes_of(problem_.data);
        const Bytes partial = bytes_of(problem_.partials);
        const Bytes inputs = pass.input_tiles > 1 ? pass.inputs * n * data : 0;
        const bool in_place = pass.output_tiles == 1 && partial == data;
        const Bytes partials = in_place ? 0 : pass.outputs * n * partial;
        Bytes reduction = 0;
        if (pass.output_tiles > 1) {
            const std::int64_t outputs = ceil_div(pass.outputs * n, pass.output_tiles);
            reduction = partials + outputs * (pass.output_tiles * partial + data);
        }
        const std::int64_t buckets = std::max<std::int64_t>(plan.split.z - 1, 2);
        return std::max(inputs + buckets * plan.bucket.bytes + partials, reduction);
    }

    const Problem& problem_;
    const DenseMachine& machine_;
    std::int64_t b_;
    std::int64_t rows_;
    std::int64_t columns_;
    std::int64_t n_grain_;
    std::int64_t blocks_;
};

void check(const Problem& problem) {
    const std::int64_t b = problem.block;
    TESSERA_ASSERT(b == 1 || b == 4 || b == 8 || b == 16);
    TESSERA_ASSERT(problem.m >= 1 && problem.k >= 1 && problem.n >= 1);
    TESSERA_ASSERT(problem.density > 0 && problem.density <= 1);
    TESSERA_ASSERT(problem.excess >= 0);
    TESSERA_ASSERT(problem.data == ElementType::F16 || problem.data == ElementType::F32);
    TESSERA_ASSERT(problem.partials == ElementType::F16 || problem.partials == ElementType::F32);
    TESSERA_ASSERT(bytes_of(problem.partials) >= bytes_of(problem.data));
}

/// Temporary bytes that a plan may take, in the order in which bounds are tried.
constexpr std::array<std::int64_t, 4> kBoundFactors{1, 2, 4, 0};

bool fits(Bytes temporary_bytes, std::int64_t factor, const DenseMachine& machine) {
    return factor == 0 || static_cast<double>(temporary_bytes) <=
                              static_cast<double>(factor) * published::kTemporaryShare *
                                  static_cast<double>(machine.tile_bytes);
}

std::int64_t bound_factor(Bytes temporary_bytes, const DenseMachine& machine) {
    return *std::find_if(kBoundFactors.begin(), kBoundFactors.end(), [&](std::int64_t factor) {
        return fits(temporary_bytes, factor, machine);
    });
}

/// Bounds are tried in this order.
std::size_t rank_of(std::int64_t factor) {
    return static_cast<std::size_t>(std::find(kBoundFactors.begin(), kBoundFactors.end(), factor) -
                                    kBoundFactors.begin());
}

} // namespace

Plan plan_of(const Problem& problem, const DenseMachine& machine, const Split& split) {
    check(problem);
    TESSERA_ASSERT(split.x >= 1 && split.y >= 1 && split.z >= 1);
    Plan plan = Costs(problem, machine).plan(split);
    plan.bound_factor = bound_factor(plan.temporary_bytes, machine);
    return plan;
}

bool is_encodable(const Problem& problem, const Split& split) {
    check(problem);
    const DenseMachine none;
    const Costs costs(problem, none);
    return costs.encodable(costs.part(split));
}

std::vector<Split> encodable_splits(const Problem& problem, std::int64_t tiles) {
    check(problem);
    const DenseMachine none;
    const Costs costs(problem, none);
    std::vector<Split> splits;
    for (const std::int64_t x : splits_of(costs.rows(), tiles)) {
        for (const std::int64_t y : splits_of(costs.columns(), tiles / x)) {
            const std::int64_t most = std::min(tiles / (x * y), costs.n_grains());
            for (std::int64_t z = 1; z <= most; ++z) {
                const Split split{x, y, z};
                if (costs.n_grains() % z == 0 && costs.encodable(costs.part(split))) {
                    splits.push_back(split);
                }
            }
        }
    }
    return splits;
}

std::optional<Plan> plan(const Problem& problem, const DenseMachine& machine) {
    check(problem);
    const Costs costs(problem, machine);
    std::optional<Plan> best;
    for (const Split& split : encodable_splits(problem, machine.tiles)) {
        Plan plan = costs.plan(split);
        plan.bound_factor = bound_factor(plan.temporary_bytes, machine);
        const auto key = [](const Plan& one) {
            return std::tuple(rank_of(one.bound_factor), one.cycles(), one.temporary_bytes);
        };
        if (!best || key(plan) < key(*best)) {
            best = plan;
        }
    }
    return best;
}

} // namespace tessera::dynamic
