// SPDX-License-Identifier: MIT
#include "kernels/softmax/softmax.h"

#include "base/error.h"
#include "kernels/codelets/softmax_cost.h"
#include "kernels/family/numbers.h"
#include "kernels/graph/rows.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace tessera::softmax {
namespace {

using graph::RowBlock;

constexpr std::array kTypes{ElementType::F16, ElementType::F32};
constexpr double kBelowAll = 1000; ///< what is so far below the largest is 0 in any type

/// One row of the host reference, and what its elements may differ by.
///
/// With u = 2^-24 and to first order, an element p = e / s of the machine has these relative
/// errors:
///   e = exp(x - max)    |x - max| u for the difference, 3 u for exp within 1.5 units of the last place
///   s                   the mean of those, weighted by p: at most (ln n + 3) u, as the sum of p |x - max| is the
///                       entropy of p less ln s; and (n / 2 + 2) u for the sums of the two halves
///   1 / s, e (1 / s)    u each
/// together (|x - max| + ln n + n / 2 + 10) u, of which 1 is for what is not of first order; then y
/// is rounded to its type. FP32 numbers below 2^-126 become 0, in e and in p; FP16 is as fine as
/// 2^-24 near 0.
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

/// Bytes in which a worker keeps the exponentials of a row.
Bytes room_bytes(std::int64_t columns) {
    return (columns + 1) / 2 * 2 * bytes_of(ElementType::F32);
}

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
        graph.need_codelet(symbol());
        add_vertices(graph, set, site.machine.tile.workers, x, y);
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
    [[nodiscard]] std::string symbol() const { return fmt::format("softmax_{}", name_of(x_.type)); }

    void add_vertices(graph::Graph& graph, graph::ComputeSetId set, std::int64_t workers,
                      const graph::InRows& x, const graph::InRows& y) const {
        const auto room = graph.add_buffer({.name = "exponentials"});
        std::map<TileId, Bytes> taken;
        for (std::size_t i = 0; i < x.blocks.size(); ++i) {
            const RowBlock& from = x.blocks[i];
            const RowBlock& to = y.blocks[i];
            std::vector<graph::Field> state;
            graph::add_row_reads(state, from, columns() * bytes_of(x_.type));
            state.push_back(graph::write(to.place, to.rows * to.step));
            state.push_back(graph::word(from.step));
            state.push_back(graph::word(to.step));
            state.push_back(graph::word(from.rows));
            state.push_back(graph::word(columns()));
            if (x_.type == ElementType::F16) {
                const Bytes bytes = std::min(workers, from.rows) * room_bytes(columns());
                Bytes& offset = taken[from.tile];
                state.push_back(graph::write({room, offset}, bytes));
                state.push_back(graph::word(room_bytes(columns())));
                offset += bytes;
            }
            graph.add_work(set, from.tile, from.rows);
            graph.add_vertex(set, from.tile, symbol(), program::VertexKind::MultiWorker, state);
        }
        for (const auto& [tile, bytes] : taken) {
            graph.hold(room, tile, bytes);
        }
    }

    family::TensorType x_;
};

} // namespace

Cycles cycles(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
              std::int64_t columns) {
    const std::int64_t workers = machine.tile.workers;
    std::vector<std::int64_t> issues;
    for (std::int64_t w = 0; w < workers; ++w) {
        const std::int64_t own = rows / workers + (w < rows % workers ? 1 : 0);
        issues.push_back(codelets::softmax_issues(type, own, columns));
    }
    return plan::multi_worker_cycles(machine, issues);
}

const family::Family& family() {
    static const family::Family softmax{
        "softmax",
        "y = exp(x) / sum of exp(x), over each row",
        {"x"},
        {},
        [](const family::Request& request) -> std::unique_ptr<family::Step> {
            return std::make_unique<SoftmaxStep>(request);
        }};
    return softmax;
}

} // namespace tessera::softmax
