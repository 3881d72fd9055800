// SPDX-License-Identifier: MIT
#include "kernels/softmax/softmax.h"

#include "base/error.h"
#include "kernels/codelets/softmax_cost.h"
#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"
#include "kernels/graph/rows.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::softmax {
namespace {

using graph::RowBlock;

constexpr std::array kTypes{ElementType::F16, ElementType::F32};
constexpr double kBelowAll = 1000;           ///< what is so far below the largest is 0 in any type
constexpr std::int64_t kShortestShared = 64; ///< elements of a row that workers may share
constexpr Bytes kPartialBytes = 8;           ///< what a worker leaves of a row that is shared

/// One row of the host reference, and what its elements may differ by.
///
/// With u = 2^-24 and to first order, an element p = e / s of the machine has these relative
/// errors:
///   e = exp(x - max)    |x - max| u for the difference, 3 u for exp within 1.5 units of the last place
///   s                   the mean of those, weighted by p: at most (ln n + 3) u, as the sum of p |x - max| is the
///                       entropy of p less ln s; and (n / 2 + 2) u for the sums of the two halves
///   1 / s, e (1 / s)    u each
/// together (|x - max| + ln n + n / 2 + 10) u, of which 1 is for what is not of first order; then y
/// is rounded to its type. Workers that share a row multiply e, and what they have of s, by an
/// exponential each: 4 u more for both, and workers u for the sum of their parts, whose own sums are
/// shorter by at least n / 4 u. Rows are shared from kShortestShared on, where that is more. FP32
/// numbers below 2^-126 become 0, in e and in p; FP16 is as fine as 2^-24 near 0.
class Reference {
public:
    Reference(ElementType type, std::vector<double> x) : type_(type), x_(std::move(x)) {
        for (const double value : x_) {
            max_ = std::fmax(max_, value); // a NaN shows in the sum
        }
        for (const double value : x_) {
            sum_ += std::exp(value - max_);
        }
    }
    [[nodiscard]] double expected(std::size_t column) const {
        return std::exp(x_[column] - max_) / sum_;
    }
    [[nodiscard]] double tolerance(std::size_t column) const {
        const auto n = static_cast<double>(x_.size());
        const double below = std::fmin(max_ - x_[column], kBelowAll);
        const double computed =
            (below + std::log(n) + n / 2 + 10) * unit_roundoff(ElementType::F32);
        const double least = type_ == ElementType::F16 ? 0x1p-25 : 0x1p-125;
        return expected(column) * (computed + unit_roundoff(type_)) + least;
    }

private:
    ElementType type_;
    std::vector<double> x_;
    double max_ = -std::numeric_limits<double>::infinity();
    double sum_ = 0;
};

/// Rows of a block: whole ones, which are dealt to the workers, and behind them those that all
/// workers share.
struct Division {
    std::int64_t whole = 0;
    std::int64_t shared = 0;
};

/// Of so many units that are dealt to the workers in turn, those of worker `worker`.
std::int64_t dealt(std::int64_t units, std::int64_t workers, std::int64_t worker) {
    return units / workers + (worker < units % workers ? 1 : 0);
}

void add_vertices(plan::StubTimeline& stub, std::int64_t workers, ElementType type,
                  const Division& rows, std::int64_t columns) {
    const std::int64_t pairs = columns / 2;
    const std::int64_t all_pairs = pairs + columns % 2;
    std::vector<std::int64_t> whole;
    std::vector<std::int64_t> parts;
    std::vector<std::int64_t> join;
    for (std::int64_t w = 0; w < workers; ++w) {
        whole.push_back(codelets::softmax_issues(type, dealt(rows.whole, workers, w), columns));
        parts.push_back(codelets::softmax_parts_issues(type, rows.shared, dealt(pairs, workers, w),
                                                       columns % 2 != 0 && w == pairs % workers));
        join.push_back(
            codelets::softmax_join_issues(type, workers, rows.shared, dealt(all_pairs, workers, w),
                                          all_pairs % 2 != 0 && w == all_pairs % workers));
    }
    if (rows.whole > 0) {
        stub.multi_worker(whole);
    }
    if (rows.shared > 0) {
        stub.multi_worker(parts);
        stub.multi_worker(join);
    }
}

Cycles cycles_of(const spec::MachineSpec& machine, ElementType type, const Division& rows,
                 std::int64_t columns) {
    plan::StubTimeline stub(machine, false);
    add_vertices(stub, machine.tile.workers, type, rows, columns);
    return stub.finish();
}

/// The rows that leave workers idle are shared if that takes fewer cycles.
Division divide(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
                std::int64_t columns) {
    const Division whole{rows, 0};
    const std::int64_t rest = rows % machine.tile.workers;
    if (rest == 0 || columns < kShortestShared || columns / 2 < machine.tile.workers) {
        return whole;
    }
    const Division shared{rows - rest, rest};
    return cycles_of(machine, type, shared, columns) < cycles_of(machine, type, whole, columns)
               ? shared
               : whole;
}

/// Rows [first, first + rows) of a block.
RowBlock part_of(const RowBlock& block, std::int64_t first, std::int64_t rows) {
    RowBlock part = block;
    part.place = block.place + first * block.step;
    part.first_row += first * block.row_stride;
    part.rows = rows;
    return part;
}

/// Bytes in which a worker keeps the exponentials of a row.
Bytes room_bytes(std::int64_t columns) {
    return (columns + 1) / 2 * 2 * bytes_of(ElementType::F32);
}

/// The vertices of a softmax, and the memory that they share.
class Vertices {
public:
    Vertices(graph::Graph& graph, graph::ComputeSetId set, const spec::MachineSpec& machine,
             ElementType type, std::int64_t columns)
        : graph_(graph), set_(set), machine_(machine), type_(type), columns_(columns),
          exponentials_(graph.add_buffer({.name = "exponentials"})),
          partials_(graph.add_buffer({.name = "partials"})) {}

    /// `from`: rows of x; `to`: those of y.
    void add(const RowBlock& from, const RowBlock& to) {
        const Division rows = divide(machine_, type_, from.rows, columns_);
        graph_.add_work(set_, from.tile, from.rows);
        if (rows.whole > 0) {
            add_whole(part_of(from, 0, rows.whole), part_of(to, 0, rows.whole));
        }
        if (rows.shared > 0) {
            add_shared(part_of(from, rows.whole, rows.shared),
                       part_of(to, rows.whole, rows.shared));
        }
    }
    /// Behind the last add().
    void finish() {
        for (const auto& [tile, bytes] : exponential_bytes_) {
            graph_.hold(exponentials_, tile, bytes);
        }
        for (const auto& [tile, bytes] : partial_bytes_) {
            graph_.hold(partials_, tile, bytes);
        }
    }

private:
    void add_whole(const RowBlock& from, const RowBlock& to) {
        std::vector<graph::Field> state;
        graph::add_row_reads(state, from, columns_ * bytes_of(type_));
        state.push_back(graph::write(to.place, to.rows * to.step));
        state.push_back(graph::word(from.step));
        state.push_back(graph::word(to.step));
        state.push_back(graph::word(from.rows));
        state.push_back(graph::word(columns_));
        if (is_half()) {
            const Bytes bytes = std::min(machine_.tile.workers, from.rows) * room_bytes(columns_);
            state.push_back(graph::write(room_on(from.tile, bytes), bytes));
            state.push_back(graph::word(room_bytes(columns_)));
        }
        call("softmax", from.tile, state);
    }

    void add_shared(const RowBlock& from, const RowBlock& to) {
        const std::int64_t workers = machine_.tile.workers;
        const std::int64_t pairs = columns_ / 2;
        const std::int64_t all_pairs = pairs + columns_ % 2;
        // the exponentials of FP32 stand where the result will
        const Bytes step = is_half() ? room_bytes(columns_) : to.step;
        const graph::Place exponentials =
            is_half() ? room_on(from.tile, from.rows * step) : to.place;
        const Bytes partial_bytes = from.rows * workers * kPartialBytes;
        const graph::Place partials{
            partials_,
            std::exchange(partial_bytes_[from.tile], partial_bytes_[from.tile] + partial_bytes)};

        std::vector<graph::Field> parts{graph::word(from.rows - 1)};
        graph::add_row_reads(parts, from, columns_ * bytes_of(type_));
        parts.push_back(graph::word(from.step));
        parts.push_back(graph::write(exponentials, from.rows * step));
        parts.push_back(graph::word(step));
        parts.push_back(graph::word(pairs / workers));
        parts.push_back(graph::word(pairs % workers));
        parts.push_back(graph::word(columns_ % 2 != 0 ? pairs % workers : workers));
        parts.push_back(graph::write(partials, partial_bytes));
        parts.push_back(graph::word(columns_ - 1));
        parts.push_back(
            graph::word(std::bit_cast<std::uint32_t>(std::numeric_limits<float>::lowest())));
        call("softmax_parts", from.tile, parts);

        // FP32: two vertices that write all of the same bytes would be refused
        const std::vector<graph::Field> join{
            graph::word(from.rows - 1),
            graph::pointer(to.place, to.rows * to.step,
                           is_half() ? graph::Access::Write : graph::Access::WritePart),
            graph::word(to.step),
            graph::read(exponentials, from.rows * step),
            graph::word(step),
            graph::word(all_pairs / workers),
            graph::word(all_pairs % workers),
            graph::word(all_pairs % 2 != 0 ? all_pairs % workers : workers),
            graph::read(partials, partial_bytes)};
        call("softmax_join", from.tile, join);
    }

    void call(std::string_view codelet, TileId tile, std::span<const graph::Field> state) {
        graph_.need_codelet(
            fmt::format("softmax{}_{}", codelet == "softmax" ? "" : "_split", name_of(type_)));
        graph_.add_vertex(set_, tile, fmt::format("{}_{}", codelet, name_of(type_)),
                          program::VertexKind::MultiWorker, state);
    }

    [[nodiscard]] bool is_half() const { return type_ == ElementType::F16; }
    graph::Place room_on(TileId tile, Bytes bytes) {
        Bytes& taken = exponential_bytes_[tile];
        return {exponentials_, std::exchange(taken, taken + bytes)};
    }

    graph::Graph& graph_;
    graph::ComputeSetId set_;
    const spec::MachineSpec& machine_;
    ElementType type_;
    std::int64_t columns_;
    graph::BufferId exponentials_; ///< of FP16
    graph::BufferId partials_;     ///< of rows that workers share
    std::map<TileId, Bytes> exponential_bytes_;
    std::map<TileId, Bytes> partial_bytes_;
};

class SoftmaxStep : public family::Step {
public:
    explicit SoftmaxStep(const family::Request& request)
        : x_(family::matrices_input(request, kTypes)) {}

    [[nodiscard]] std::vector<family::TensorType> outputs() const override { return {x_}; }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        if (columns() / 2 > plan::most_rounds(site.machine)) {
            throw NotModelled(fmt::format("softmax: not modelled: rows of {} elements, expected at "
                                          "most {}; see docs/kernels.md",
                                          columns(), 2 * plan::most_rounds(site.machine) + 1));
        }
        const Bytes alignment = 2 * bytes_of(x_.type);
        const graph::InRows x = graph::in_rows(
            graph, where.front(), {.name = site.owner + ": x", .type = x_.type, .shape = x_.shape},
            alignment, {site.first_tile, site.machine.chip.tiles});
        const graph::InRows y = graph::add_rows_beside(
            graph, {.name = site.owner + ": y", .type = x_.type, .shape = x_.shape}, x.blocks);
        const auto set =
            graph.add_compute_set({"softmax", program::Role::Work, site.owner, "rows"});
        Vertices vertices(graph, set, site.machine, x_.type, columns());
        for (std::size_t i = 0; i < x.blocks.size(); ++i) {
            vertices.add(x.blocks[i], y.blocks[i]);
        }
        vertices.finish();
        return {{x.tensor}, {y.tensor}, graph::sequence({graph::run(set)})};
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        family::Comparison comparison;
        for (std::int64_t row = 0; row < x_.elements() / columns(); ++row) {
            std::vector<double> x;
            for (std::int64_t column = 0; column < columns(); ++column) {
                x.push_back(family::element_of(*inputs.front(), row * columns() + column));
            }
            const Reference reference(x_.type, std::move(x));
            for (std::int64_t column = 0; column < columns(); ++column) {
                const auto at = static_cast<std::size_t>(column);
                comparison.add(family::element_of(outputs[0], row * columns() + column),
                               reference.expected(at), reference.tolerance(at));
            }
        }
        return comparison.finish();
    }

    /// A comparison, a difference, an exponential, a sum and a quotient of each element.
    [[nodiscard]] double flops() const override { return 5 * static_cast<double>(x_.elements()); }

private:
    [[nodiscard]] std::int64_t columns() const { return x_.shape.back(); }

    family::TensorType x_;
};

} // namespace

Cycles cycles(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
              std::int64_t columns) {
    return cycles_of(machine, type, divide(machine, type, rows, columns), columns);
}

namespace {

family::Steps backward(const family::GradientRequest& request) {
    return {family::backward_step("softmax_gradient",
                                  {request.step.outputs[0], request.of_outputs[0]},
                                  request.of_inputs[0])};
}

} // namespace

const family::Family& family() {
    static const family::Family softmax =
        family::with_gradient({"softmax",
                               "y = exp(x) / sum of exp(x), over each row",
                               {"x"},
                               {},
                               [](const family::Request& request) -> std::unique_ptr<family::Step> {
                                   return std::make_unique<SoftmaxStep>(request);
                               }},
                              backward);
    return softmax;
}

} // namespace tessera::softmax
