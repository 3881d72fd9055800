// SPDX-License-Identifier: MIT
#include "kernels/dynamic/lines.h"

#include "base/ceil_div.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace tessera::dynamic {
namespace {

constexpr Bytes kLeastRun = 128;
constexpr Bytes kWord = 8;

} // namespace

Lines::Lines(const Layout& layout, Of of, std::int64_t size, std::int64_t n, ElementType type,
             std::int64_t run_unit)
    : layout_(layout), split_(layout.split), of_(of), size_(size), n_(n), type_(type),
      grain_(std::lcm(std::lcm(layout.block, kWord / bytes_of(type)), run_unit)) {}

std::int64_t Lines::whole_elements() const {
    return ceil_div(elements(), grain_) * grain_;
}

bool Lines::pads() const {
    return layout_.n * split_.z != n_ || lines() * parts() * layout_.block != size_ ||
           elements() % grain_ != 0;
}

Range Lines::run_of(std::int64_t sharer) const {
    const std::int64_t grains = ceil_div(elements(), grain_);
    const std::int64_t least = ceil_div(kLeastRun, grain_ * bytes_of(type_));
    const std::int64_t each = std::max(ceil_div(grains, sharers()), least);
    const auto bound = [&](std::int64_t of) { return std::min(of * each, grains) * grain_; };
    return {bound(sharer), bound(sharer + 1)};
}

graph::CellGrid Lines::cells(std::int64_t part, std::int64_t z) const {
    return {.rows = layout_.n,
            .group = layout_.block,
            .first_row = z * layout_.n,
            .first_group = part * lines(),
            .host_inner = size_,
            .host_rows = n_,
            .host_row_stride = 1,
            .host_inner_stride = n_,
            .cell_bytes = layout_.block * bytes_of(type_),
            .element_bytes = bytes_of(type_)};
}

graph::Tensor Lines::tensor(const char* name, bool is_given, graph::Place place) const {
    graph::Tensor tensor = is_given ? graph::given_tensor(name, type_, {size_, n_})
                                    : graph::wanted_tensor(name, type_, {size_, n_});
    for (std::int64_t part = 0; part < parts(); ++part) {
        for (std::int64_t z = 0; z < split_.z; ++z) {
            const graph::CellGrid grid = cells(part, z);
            for (std::int64_t sharer = 0; sharer < sharers(); ++sharer) {
                const Range run = run_of(sharer);
                const std::int64_t last = std::min(run.last, elements());
                if (run.first < last) {
                    graph::add_cells(tensor, tile(part, sharer, z), place, grid,
                                     run.first / layout_.block, last / layout_.block);
                }
            }
        }
    }
    return tensor;
}

void Lines::bring(graph::Bringing& bringing, graph::BufferId home, graph::BufferId to) const {
    const bool paired =
        sharers() % 2 == 0 && tile(0, 1, 0) == 1 && bringing.machine.exchange.pair_double;
    for (std::int64_t turn = 0; turn < sharers(); ++turn) {
        const Range run = run_of(turn);
        if (run.size() == 0) {
            continue;
        }
        const Bytes bytes = run.size() * bytes_of(type_);
        for (std::int64_t part = 0; part < parts(); ++part) {
            for (std::int64_t z = 0; z < split_.z; ++z) {
                const TileId holder = tile(part, turn, z);
                bringing.graph.hold(home, holder, bytes);
                std::vector<graph::Receiver> far;
                std::vector<graph::Receiver> near; // the holder and its partner
                for (std::int64_t sharer = 0; sharer < sharers(); ++sharer) {
                    const bool is_near = paired ? sharer / 2 == turn / 2 : sharer == turn;
                    (is_near || !paired ? near : far)
                        .push_back({tile(part, sharer, z), {to, run.first * bytes_of(type_)}});
                }
                bringing.graph.add_message(bringing.exchange, holder, {home}, bytes, far, paired);
                bringing.add(holder, {home}, bytes, near);
            }
        }
    }
}

} // namespace tessera::dynamic
