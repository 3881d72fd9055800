// SPDX-License-Identifier: MIT
#include "kernels/softmax/softmax_rows.h"

#include "kernels/codelets/softmax_cost.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

namespace tessera::softmax {
namespace {

using graph::RowBlock;

constexpr std::int64_t kShortestShared = 64; ///< elements of a row that workers may share
constexpr Bytes kPartialBytes = 8;           ///< what a worker leaves of a row that is shared
constexpr Bytes kWordBytes = 4;
/// Pairs of a row that softmax_scaled.S divides among workers, and workers.
constexpr std::int64_t kPairsDivided = 1 << 14;

/// Rows of a block: whole ones, which are dealt to the workers, and behind them those that all
/// workers share.
struct Division {
    std::int64_t whole = 0;
    std::int64_t shared = 0;
    std::int64_t shares = 0; ///< of each of those
};

/// Counts the units of worker `worker`, where so many are dealt to the workers in turn.
std::int64_t dealt(std::int64_t units, std::int64_t workers, std::int64_t worker) {
    return units / workers + (worker < units % workers ? 1 : 0);
}

/// Issues of vertices over rows of a block.
class Costs {
public:
    Costs(const spec::MachineSpec& machine, ElementType type, const Form& form, const Rows& rows,
          std::int64_t columns)
        : workers_(machine.tile.workers), type_(type), form_(form), rows_(rows), columns_(columns) {
    }

    [[nodiscard]] std::int64_t whole(const Division& division, std::int64_t worker) const {
        const std::int64_t own = dealt(division.whole, workers_, worker);
        if (form_.is_plain()) {
            return codelets::softmax_issues(type_, own, columns_);
        }
        if (own == 0) {
            return codelets::kSoftmaxNothing;
        }
        std::int64_t issues = codelets::softmax_scaled_cost(kind()).frame;
        for (std::int64_t row = worker; row < division.whole; row += workers_) {
            issues += codelets::softmax_scaled_row_issues(kind(), seen(row), columns_);
        }
        return issues;
    }
    [[nodiscard]] std::int64_t parts(const Division& division, std::int64_t worker) const {
        const std::int64_t pairs = columns_ / 2;
        if (form_.is_plain()) {
            return codelets::softmax_parts_issues(type_, division.shared,
                                                  dealt(pairs, workers_, worker),
                                                  columns_ % 2 != 0 && worker == pairs % workers_);
        }
        std::int64_t issues = codelets::softmax_scaled_cost(kind()).parts_frame;
        for (std::int64_t row = division.whole; row < division.whole + division.shared; ++row) {
            const std::int64_t seen_pairs = seen(row) / 2;
            issues += codelets::softmax_scaled_parts_row_issues(
                kind(), dealt(seen_pairs, workers_, worker),
                seen(row) % 2 != 0 && worker == seen_pairs % workers_,
                dealt(pairs + columns_ % 2, workers_, worker));
        }
        return issues;
    }
    [[nodiscard]] std::int64_t join(const Division& division, std::int64_t worker) const {
        const std::int64_t all_pairs = columns_ / 2 + columns_ % 2;
        return codelets::softmax_join_issues(type_, division.shares, division.shared,
                                             dealt(all_pairs, workers_, worker),
                                             all_pairs % 2 != 0 && worker == all_pairs % workers_);
    }
    [[nodiscard]] std::int64_t workers() const { return workers_; }

private:
    [[nodiscard]] codelets::SoftmaxScaledKind kind() const {
        return {type_, form_.is_masked, form_.is_causal};
    }
    /// Elements of the row that it sees.
    [[nodiscard]] std::int64_t seen(std::int64_t row) const {
        return form_.is_causal ? rows_.first + row * rows_.stride + 1 : columns_;
    }

    std::int64_t workers_;
    ElementType type_;
    const Form& form_;
    const Rows& rows_;
    std::int64_t columns_;
};

Cycles cycles_of(const spec::MachineSpec& machine, const Costs& costs, const Division& division) {
    plan::StubTimeline stub(machine, false);
    std::vector<std::int64_t> whole;
    std::vector<std::int64_t> parts;
    std::vector<std::int64_t> join;
    for (std::int64_t w = 0; w < costs.workers(); ++w) {
        whole.push_back(costs.whole(division, w));
        parts.push_back(costs.parts(division, w));
        join.push_back(costs.join(division, w));
    }
    if (division.whole > 0) {
        stub.multi_worker(whole);
    }
    if (division.shared > 0) {
        stub.multi_worker(parts);
        stub.multi_worker(join);
    }
    return stub.finish();
}

/// The rows that leave workers idle are shared if that takes fewer cycles.
Division divide(const spec::MachineSpec& machine, ElementType type, const Form& form,
                const Rows& rows, std::int64_t columns) {
    const Division whole{rows.count, 0, 0};
    const std::int64_t workers = machine.tile.workers;
    const std::int64_t rest = rows.count % workers;
    const std::int64_t pairs = columns / 2;
    if (rest == 0 || columns < kShortestShared || pairs < workers ||
        (!form.is_plain() && pairs + workers >= kPairsDivided)) {
        return whole;
    }
    const Division shared{rows.count - rest, rest, workers};
    const Costs costs(machine, type, form, rows, columns);
    return cycles_of(machine, costs, shared) < cycles_of(machine, costs, whole) ? shared : whole;
}

/// Bytes in which a worker keeps the exponentials of a row.
Bytes room_bytes(std::int64_t columns) {
    return (columns + 1) / 2 * 2 * bytes_of(ElementType::F32);
}

/// By estimate, of an exchange that brings a tile so many bytes.
Cycles exchange_cycles(const spec::MachineSpec& machine, Bytes bytes) {
    return machine.sync.internal_cycles + plan::row_overhead(machine.exchange) +
           bytes / kWordBytes + machine.control.step_cycles;
}

graph::Field number(float value) {
    return graph::word(std::bit_cast<std::uint32_t>(value));
}

} // namespace

RowBlock part_of(const RowBlock& block, std::int64_t first, std::int64_t rows) {
    RowBlock part = block;
    part.place = block.place + first * block.step;
    part.first_row += first * block.row_stride;
    part.rows = rows;
    return part;
}

Cycles cycles(const spec::MachineSpec& machine, ElementType type, const Form& form,
              const Rows& rows, std::int64_t columns) {
    return cycles_of(machine, Costs(machine, type, form, rows, columns),
                     divide(machine, type, form, rows, columns));
}

SliceCycles slice_cycles(const spec::MachineSpec& machine, ElementType type, const Form& form,
                         std::int64_t columns, std::int64_t slices) {
    const Rows one{.count = 1};
    const Costs costs(machine, type, form, one, columns / slices);
    const Division division{0, 1, slices * machine.tile.workers};
    SliceCycles cycles;
    for (auto [part, of] :
         {std::pair(&cycles.parts, &Costs::parts), std::pair(&cycles.join, &Costs::join)}) {
        plan::StubTimeline stub(machine, false);
        std::vector<std::int64_t> issues;
        for (std::int64_t w = 0; w < costs.workers(); ++w) {
            issues.push_back((costs.*of)(division, w));
        }
        stub.multi_worker(issues);
        *part = stub.finish();
    }
    return cycles;
}

std::int64_t slices_of(const spec::MachineSpec& machine, ElementType type, const Form& form,
                       const RowsOnTiles& rows) {
    const Bytes row_bytes = rows.columns * bytes_of(type);
    const std::int64_t most = std::min(rows.tiles / std::max<std::int64_t>(rows.count, 1),
                                       rows.columns / kShortestShared);
    std::int64_t best = 1;
    if (form.is_causal) {
        return best;
    }
    const std::int64_t dealt_rows = (rows.count + rows.tiles - 1) / rows.tiles;
    const std::int64_t on_one = rows.together > 0 ? rows.together : dealt_rows;
    Cycles least = rows.columns / 2 > plan::most_rounds(machine)
                       ? std::numeric_limits<Cycles>::max()
                       : cycles(machine, type, form, {.count = on_one}, rows.columns);
    const Cycles moved =
        (rows.together > 0 ? exchange_cycles(machine, rows.together * row_bytes) : 0) +
        (rows.is_read ? exchange_cycles(machine, row_bytes) : 0);
    for (std::int64_t slices = 2; slices <= most; ++slices) {
        const std::int64_t columns = rows.columns / slices;
        if (row_bytes % (slices * graph::kRowAlignment) != 0 ||
            columns / 2 < machine.tile.workers ||
            (!form.is_plain() && columns / 2 + machine.tile.workers >= kPairsDivided)) {
            continue;
        }
        const SliceCycles of = slice_cycles(machine, type, form, rows.columns, slices);
        const Bytes partials = (slices - 1) * machine.tile.workers * kPartialBytes;
        const Cycles all = of.parts + of.join + exchange_cycles(machine, partials) + moved;
        if (all < least) {
            least = all;
            best = slices;
        }
    }
    return best;
}

Vertices::Vertices(graph::Graph& graph, graph::ComputeSetId set, const spec::MachineSpec& machine,
                   ElementType type, const Form& form, std::int64_t columns)
    : graph_(graph), set_(set), machine_(machine), type_(type), form_(form), columns_(columns),
      exponentials_(graph.add_buffer({.name = "exponentials"})),
      partials_(graph.add_buffer({.name = "partials"})) {}

void Vertices::add(const RowBlock& from, const RowBlock& to, std::int64_t first,
                   graph::Place mask) {
    const Division rows =
        divide(machine_, type_, form_, {from.rows, first, from.row_stride}, columns_);
    graph_.add_work(set_, from.tile, from.rows);
    if (rows.whole > 0) {
        add_whole(part_of(from, 0, rows.whole), part_of(to, 0, rows.whole), first, mask);
    }
    if (rows.shared > 0) {
        add_shared(part_of(from, rows.whole, rows.shared), part_of(to, rows.whole, rows.shared),
                   first + rows.whole * from.row_stride, mask);
    }
}

void Vertices::finish() {
    for (const auto& [tile, bytes] : exponential_bytes_) {
        graph_.hold(exponentials_, tile, bytes);
    }
    for (const auto& [tile, bytes] : partial_bytes_) {
        graph_.hold(partials_, tile, bytes);
    }
}

void Vertices::add_whole(const RowBlock& from, const RowBlock& to, std::int64_t first,
                         graph::Place mask) {
    std::vector<graph::Field> state;
    const Bytes room = room_bytes(columns_);
    const Bytes bytes = std::min(machine_.tile.workers, from.rows) * room;
    const graph::Field out = graph::write(to.place, to.rows * to.step);
    if (form_.is_plain()) {
        graph::add_row_reads(state, from, row_bytes());
        state.insert(state.end(), {out, graph::word(from.step), graph::word(to.step),
                                   graph::word(from.rows), graph::word(columns_)});
        if (is_half()) {
            state.push_back(graph::write(room_on(from.tile, bytes), bytes));
            state.push_back(graph::word(room));
        }
    } else {
        state.push_back(graph::word(from.rows));
        graph::add_row_reads(state, from, row_bytes());
        state.insert(state.end(),
                     {graph::word(from.step), out, graph::word(to.step),
                      graph::word((columns_ + 1) / 2), graph::word(room),
                      graph::word(last_seen(first)),
                      graph::word(form_.is_causal ? from.row_stride : 0), number(*form_.scale),
                      number(std::numeric_limits<float>::lowest())});
        if (is_half()) {
            state.push_back(graph::write(room_on(from.tile, bytes), bytes));
        }
        if (form_.is_masked) {
            state.push_back(graph::read(mask, row_bytes()));
        }
    }
    call(set_, kind(), kind(), from.tile, state);
}

void Vertices::add_shared(const RowBlock& from, const RowBlock& to, std::int64_t first,
                          graph::Place mask) {
    const std::int64_t workers = machine_.tile.workers;
    const Bytes partial_bytes = from.rows * workers * kPartialBytes;
    const graph::Place partials{
        partials_,
        std::exchange(partial_bytes_[from.tile], partial_bytes_[from.tile] + partial_bytes)};
    const Exponentials exponentials = exponentials_of(from, to);
    add_parts(from, first, mask, exponentials, partials);
    add_join(set_, from, to, exponentials, partials, {workers, 0});
}

graph::Place Vertices::add_slice(const RowBlock& from, const RowBlock& to, graph::Place mask,
                                 std::int64_t slice, std::int64_t slices,
                                 graph::ComputeSetId join) {
    const std::int64_t workers = machine_.tile.workers;
    const Shares shares{slices * workers, slice * workers};
    const graph::Place partials{partials_, 0};
    partial_bytes_[from.tile] = shares.all * kPartialBytes;
    graph_.add_work(set_, from.tile, from.rows);
    const Exponentials exponentials = exponentials_of(from, to);
    const graph::Place own = partials + shares.first * kPartialBytes;
    add_parts(from, 0, mask, exponentials, own);
    add_join(join, from, to, exponentials, partials, shares);
    return own;
}

Bytes Vertices::slice_bytes() const {
    return machine_.tile.workers * kPartialBytes;
}

/// Those of FP32 stand where the result will.
Vertices::Exponentials Vertices::exponentials_of(const RowBlock& from, const RowBlock& to) {
    const Bytes step = is_half() ? room_bytes(columns_) : to.step;
    return {is_half() ? room_on(from.tile, from.rows * step) : to.place, step};
}

void Vertices::add_join(graph::ComputeSetId set, const RowBlock& from, const RowBlock& to,
                        const Exponentials& exponentials, graph::Place partials,
                        const Shares& shares) {
    const std::int64_t workers = machine_.tile.workers;
    const std::int64_t all_pairs = (columns_ + 1) / 2;
    // FP32: two vertices that write all of the same bytes would be refused
    const std::vector<graph::Field> join{
        graph::word(from.rows - 1),
        graph::pointer(to.place, to.rows * to.step,
                       is_half() ? graph::Access::Write : graph::Access::WritePart),
        graph::word(to.step),
        graph::read(exponentials.place, from.rows * exponentials.step),
        graph::word(exponentials.step),
        graph::word(all_pairs / workers),
        graph::word(all_pairs % workers),
        graph::word(all_pairs % 2 != 0 ? all_pairs % workers : workers),
        graph::read(partials, shares.all * from.rows * kPartialBytes),
        graph::word(shares.all),
        graph::word(shares.first)};
    call(set, "softmax_split", "softmax_join", from.tile, join);
}

void Vertices::add_parts(const RowBlock& from, std::int64_t first, graph::Place mask,
                         const Exponentials& exponentials, graph::Place partials) {
    const std::int64_t workers = machine_.tile.workers;
    const std::int64_t pairs = columns_ / 2;
    const std::int64_t all_pairs = (columns_ + 1) / 2;
    const auto lowest = number(std::numeric_limits<float>::lowest());
    const auto left = graph::write(partials, from.rows * workers * kPartialBytes);
    std::vector<graph::Field> parts{graph::word(from.rows - 1)};
    graph::add_row_reads(parts, from, row_bytes());
    parts.insert(parts.end(), {graph::word(from.step),
                               graph::write(exponentials.place, from.rows * exponentials.step),
                               graph::word(exponentials.step)});
    if (form_.is_plain()) {
        parts.insert(parts.end(), {graph::word(pairs / workers), graph::word(pairs % workers),
                                   graph::word(columns_ % 2 != 0 ? pairs % workers : workers), left,
                                   graph::word(columns_ - 1), lowest});
        call(set_, "softmax_split", "softmax_parts", from.tile, parts);
        return;
    }
    parts.insert(parts.end(),
                 {graph::word(all_pairs / workers), graph::word(all_pairs % workers),
                  graph::word(last_seen(first)), graph::word(form_.is_causal ? from.row_stride : 0),
                  number(*form_.scale), lowest, left});
    if (form_.is_masked) {
        parts.push_back(graph::read(mask, row_bytes()));
    }
    call(set_, kind(), kind() + "_parts", from.tile, parts);
}

void Vertices::call(graph::ComputeSetId set, std::string_view codelet, std::string_view vertex,
                    TileId tile, std::span<const graph::Field> state) {
    graph_.need_codelet(fmt::format("{}_{}", codelet, name_of(type_)));
    graph_.add_vertex(set, tile, fmt::format("{}_{}", vertex, name_of(type_)),
                      program::VertexKind::MultiWorker, state);
}

std::string Vertices::kind() const {
    if (form_.is_plain()) {
        return "softmax";
    }
    return form_.is_causal ? (form_.is_masked ? "softmax_causal_mask" : "softmax_causal")
                           : (form_.is_masked ? "softmax_masked" : "softmax_scaled");
}

std::int64_t Vertices::last_seen(std::int64_t first) const {
    return form_.is_causal ? first : columns_ - 1;
}

graph::Place Vertices::room_on(TileId tile, Bytes bytes) {
    Bytes& taken = exponential_bytes_[tile];
    return {exponentials_, std::exchange(taken, taken + bytes)};
}

} // namespace tessera::softmax
