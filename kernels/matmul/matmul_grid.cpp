// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_grid.h"

#include "kernels/codelets/matmul_amp_cost.h"

#include <algorithm>

namespace tessera::matmul {

Problem::Problem(const workload::MatmulWorkload& workload)
    : m(workload.m), k(workload.k), n(workload.n), partials(workload.partials),
      group(codelets::amp_group(workload.partials)), k_groups(ceil_div(workload.k, 16)),
      out_groups(ceil_div(workload.n, group)), epilogue(workload, Epilogue::Neighbours::OfRow) {}

family::Division Grid::division() const {
    const Partition& p = partition_;
    const std::int64_t roundings = problem_.partials == ElementType::F16
                                       ? most_k_groups() + (p.parts_k > 1 ? 1 : 0)
                                       : 4 * most_k_groups() + p.parts_k;
    return {p, p.tiles(), roundings, {}};
}

TileId Grid::tile(const TilePart& part) const {
    const Partition& p = partition_;
    const std::int64_t index = p.paired == Paired::B
                                   ? (part.in * p.parts_k + part.ik) * p.parts_m + part.im
                                   : (part.im * p.parts_k + part.ik) * p.parts_n + part.in;
    return static_cast<TileId>(index);
}

std::vector<Epilogue::Strip> Grid::strips(Range share, std::int64_t rows) const {
    std::vector<Epilogue::Strip> made;
    const Bytes cell = problem_.result_cell();
    for (std::int64_t at = share.first; at < share.last;) {
        const std::int64_t group = at / rows;
        const std::int64_t end = std::min((group + 1) * rows, share.last);
        made.push_back({(at - share.first) * cell, end - at, cell / graph::kUnitBytes,
                        group * problem_.group * 2});
        at = end;
    }
    return made;
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
