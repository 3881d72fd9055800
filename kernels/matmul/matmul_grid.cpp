// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_grid.h"

#include "kernels/codelets/matmul_amp_cost.h"

namespace tessera::matmul {

Problem::Problem(const workload::MatmulWorkload& workload)
    : m(workload.m), k(workload.k), n(workload.n), partials(workload.partials),
      group(codelets::amp_group(workload.partials)), k_groups(ceil_div(workload.k, 16)),
      out_groups(ceil_div(workload.n, group)) {}

TileId Grid::tile(const TilePart& part) const {
    const Partition& p = partition_;
    const std::int64_t index = p.paired == Paired::B
                                   ? (part.in * p.parts_k + part.ik) * p.parts_m + part.im
                                   : (part.im * p.parts_k + part.ik) * p.parts_n + part.in;
    return static_cast<TileId>(index);
}

TilePart Grid::part(TileId tile) const {
    const Partition& p = partition_;
    const auto index = static_cast<std::int64_t>(tile);
    if (p.paired == Paired::B) {
        return {index % p.parts_m, index / p.parts_m % p.parts_k, index / p.parts_m / p.parts_k};
    }
    return {index / p.parts_n / p.parts_k, index / p.parts_n % p.parts_k, index % p.parts_n};
}

} // namespace tessera::matmul
