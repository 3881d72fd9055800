// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_grid.h"

#include "kernels/codelets/matmul_amp_cost.h"

#include <algorithm>
#include <utility>

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

Grid Grid::with_blocks(std::vector<std::int64_t> tiles) const {
    Grid made = *this;
    made.blocks_of_tiles_.resize(tiles.size());
    for (std::size_t block = 0; block < tiles.size(); ++block) {
        made.blocks_of_tiles_[static_cast<std::size_t>(tiles[block])] =
            static_cast<std::int64_t>(block);
    }
    made.tiles_of_blocks_ = std::move(tiles);
    return made;
}

TileId Grid::tile(const TilePart& part) const {
    const Partition& p = partition_;
    const bool by_b = p.paired == Paired::B;
    std::int64_t block = (by_b ? part.in : part.im) * p.parts_k + part.ik;
    if (!tiles_of_blocks_.empty()) {
        block = tiles_of_blocks_[static_cast<std::size_t>(block)];
    }
    return static_cast<TileId>(block * block_size() + (by_b ? part.im : part.in));
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
    const std::int64_t in_block = static_cast<std::int64_t>(tile) % block_size();
    std::int64_t block = static_cast<std::int64_t>(tile) / block_size();
    if (!blocks_of_tiles_.empty()) {
        block = blocks_of_tiles_[static_cast<std::size_t>(block)];
    }
    if (p.paired == Paired::B) {
        return {in_block, block % p.parts_k, block / p.parts_k};
    }
    return {block / p.parts_k, block % p.parts_k, in_block};
}

} // namespace tessera::matmul
