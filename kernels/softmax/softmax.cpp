// SPDX-License-Identifier: MIT
#include "kernels/softmax/softmax.h"

#include "base/error.h"
#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/places.h"
#include "kernels/graph/rows.h"
#include "kernels/graph/unit_rows.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/softmax/softmax_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::softmax {
namespace {

using graph::RowBlock;

constexpr std::array kTypes{ElementType::F16, ElementType::F32};
constexpr double kBelowAll = 1000; ///< what is so far below the largest is 0 in any type
constexpr double kLargest = std::numeric_limits<float>::max();

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
/// shorter by at least n / 4 u. Rows are shared if they have 64 elements, where that is more. A slice
/// of a row that tiles share has 64 elements too. FP32 numbers below 2^-126 become 0, in e and in p;
/// FP16 is as fine as 2^-24 near 0.
/// Scaled and masked numbers are rounded as the machine's are, and then are x here. Their largest is at
/// least the least FP32 number, and s is 2^-126 more: a row of which all are -infinity has zeros.
class Reference {
public:
    Reference(ElementType type, const Form& form, std::vector<double> x)
        : type_(type), has_zeros_(!form.is_plain()), x_(std::move(x)) {
        if (has_zeros_) {
            max_ = -kLargest;
            sum_ = 0x1p-126;
        }
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
        if (has_zeros_ && std::isinf(x_[column]) && x_[column] < 0) {
            return 0;
        }
        const auto n = static_cast<double>(x_.size());
        const double below = std::fmin(max_ - x_[column], kBelowAll);
        const double computed =
            (below + std::log(n) + n / 2 + 10) * unit_roundoff(ElementType::F32);
        const double least = type_ == ElementType::F16 ? 0x1p-25 : 0x1p-125;
        return expected(column) * (computed + unit_roundoff(type_)) + least;
    }

private:
    ElementType type_;
    bool has_zeros_;
    std::vector<double> x_;
    double max_ = -std::numeric_limits<double>::infinity();
    double sum_ = 0;
};

/// Rows of a mask on the tiles that read them.
class MaskRows {
public:
    /// Rows of so many columns.
    MaskRows(graph::Graph& graph, const family::TensorType& type, std::int64_t columns)
        : columns_(columns),
          buffer_(graph.add_buffer({.name = "rows of the mask"})), tensor_{.name =
                                                                               "rows of the mask",
                                                                           .type = type.type,
                                                                           .shape = type.shape} {}

    /// Where a row stands on a tile.
    graph::Place row_on(TileId tile, std::int64_t row) {
        Bytes& end = ends_[tile];
        const auto [place, is_new] = known_.try_emplace({tile, row}, graph::Place{buffer_, end});
        if (is_new) {
            tensor_.pieces.push_back(
                graph::run_of(tile, place->second, row * columns_, columns_, tensor_.type));
            end += graph::units_of(columns_ * bytes_of(tensor_.type)) * graph::kUnitBytes;
        }
        return place->second;
    }
    /// The steps that bring the rows from where the mask stands.
    graph::Step bring(graph::Graph& graph, const family::Site& site, graph::TensorId mask) && {
        for (const auto& [tile, end] : ends_) {
            graph.hold(buffer_, tile, end);
        }
        const graph::TensorId rows = graph.add_tensor(std::move(tensor_));
        graph::Step steps = graph::add_copy(graph, site.machine, mask, rows, program::Role::Bring,
                                            site.owner, "bring the mask");
        graph.tensors.pop_back(); // the vertices' business alone: no tensor of the program
        return steps;
    }

private:
    std::int64_t columns_;
    graph::BufferId buffer_;
    graph::Tensor tensor_;
    std::map<std::pair<TileId, std::int64_t>, graph::Place> known_;
    std::map<TileId, Bytes> ends_;
};

class SoftmaxStep final : public family::Step {
public:
    SoftmaxStep(const family::Request& request, const Form& form)
        : inputs_(request.inputs), x_(inputs_[0]), form_(form) {}

    [[nodiscard]] std::vector<family::TensorType> outputs() const override { return {x_}; }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        const graph::TileRange tiles{site.first_tile, site.machine.chip.tiles};
        const std::int64_t slices = slices_of(site.machine, x_.type, form_,
                                              {.count = rows(),
                                               .columns = columns(),
                                               .tiles = tiles.count,
                                               .together = rows_together(graph, where, tiles),
                                               .is_read = !site.is_only});
        if (columns() / slices / 2 > plan::most_rounds(site.machine)) {
            throw NotModelled(fmt::format("softmax: not modelled: rows of {} elements, expected at "
                                          "most {}; see docs/kernels.md",
                                          columns(), 2 * plan::most_rounds(site.machine) + 1));
        }
        // A slice of a row is a row of its own, of which the tensor has `slices` times as many.
        const graph::InRows x =
            rows_to_read(graph, where.front(),
                         {.name = site.owner + ": x", .type = x_.type, .shape = shape_of(slices)},
                         tiles, slices);
        const graph::InRows y = graph::add_rows_beside(
            graph, {.name = site.owner + ": y", .type = x_.type, .shape = shape_of(slices)},
            x.blocks);
        graph.tensors.at(y.tensor.index).shape = x_.shape;

        std::vector<graph::TensorId> inputs{x.tensor};
        std::vector<graph::Step> steps;
        std::optional<MaskRows> masks;
        if (form_.is_masked) {
            inputs.push_back(where[1] ? *where[1]
                                      : graph::add_runs(graph, tiles,
                                                        {.name = site.owner + ": mask",
                                                         .type = inputs_[1].type,
                                                         .shape = inputs_[1].shape},
                                                        graph::kUnitBytes));
            masks.emplace(graph, inputs_[1], columns() / slices);
        }
        const auto set =
            graph.add_compute_set({"softmax", program::Role::Work, site.owner, "rows"});
        Vertices vertices(graph, set, site.machine, x_.type, form_, columns() / slices);
        std::vector<graph::Step> joining;
        if (slices > 1) {
            joining = add_slices(graph, site.owner, vertices, masks, x.blocks, y.blocks, slices);
        } else {
            for (std::size_t i = 0; i < x.blocks.size(); ++i) {
                add_block(vertices, masks, x.blocks[i], y.blocks[i]);
            }
        }
        vertices.finish();
        if (masks) {
            steps.push_back(std::move(*masks).bring(graph, site, inputs[1]));
        }
        steps.push_back(graph::run(set));
        std::move(joining.begin(), joining.end(), std::back_inserter(steps));
        return {inputs, {y.tensor}, graph::sequence(std::move(steps))};
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        family::Comparison comparison;
        for (std::int64_t row = 0; row < rows(); ++row) {
            std::vector<double> x;
            for (std::int64_t column = 0; column < columns(); ++column) {
                x.push_back(before_softmax(inputs, row, column));
            }
            const Reference reference(x_.type, form_, std::move(x));
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
    [[nodiscard]] std::int64_t rows() const { return x_.elements() / columns(); }
    [[nodiscard]] std::int64_t rows_of_matrix() const { return x_.shape[x_.shape.size() - 2]; }
    /// That read one row of the mask.
    [[nodiscard]] std::int64_t rows_of_mask() const {
        return form_.is_masked ? rows() / (inputs_[1].elements() / columns()) : rows();
    }

    /// x in rows, each cut into so many.
    [[nodiscard]] std::vector<std::int64_t> shape_of(std::int64_t slices) const {
        return slices == 1 ? x_.shape : std::vector{rows() * slices, columns() / slices};
    }
    [[nodiscard]] Bytes alignment() const { return 2 * bytes_of(x_.type); }

    /// On the fullest tile, if x stands there in whole rows.
    [[nodiscard]] std::int64_t rows_together(const graph::Graph& graph,
                                             std::span<const std::optional<graph::TensorId>> where,
                                             graph::TileRange tiles) const {
        const auto blocks = where.front()
                                ? graph::rows_of(graph, *where.front(), alignment(), tiles)
                                : std::nullopt;
        std::map<TileId, std::int64_t> of_tile;
        std::int64_t most = 0;
        for (const RowBlock& block : blocks.value_or(std::vector<RowBlock>{})) {
            most = std::max(most, of_tile[block.tile] += block.rows);
        }
        return most;
    }
    /// The offered tensor where it stands so, else a new one of x's shape.
    [[nodiscard]] graph::InRows rows_to_read(graph::Graph& graph,
                                             std::optional<graph::TensorId> offered,
                                             graph::Tensor otherwise, graph::TileRange tiles,
                                             std::int64_t slices) const {
        if (slices == 1) {
            return graph::in_rows(graph, offered, std::move(otherwise), alignment(), tiles);
        }
        if (offered) {
            if (auto standing = standing_slices(graph, *offered, tiles, slices)) {
                return {*offered, std::move(*standing)};
            }
        }
        graph::InRows x = graph::add_rows(graph, std::move(otherwise), tiles);
        graph.tensors.at(x.tensor.index).shape = x_.shape;
        return x;
    }
    /// The slices of the tensor where each has a tile of its own, in their order.
    [[nodiscard]] std::optional<std::vector<RowBlock>> standing_slices(graph::Graph& graph,
                                                                       graph::TensorId offered,
                                                                       graph::TileRange tiles,
                                                                       std::int64_t slices) const {
        graph::Tensor in_slices = graph.tensors.at(offered.index);
        in_slices.shape = shape_of(slices);
        const graph::TensorId looked_at = graph.add_tensor(std::move(in_slices));
        auto blocks = graph::rows_of(graph, looked_at, alignment(), tiles);
        graph.tensors.pop_back(); // a look alone
        if (!blocks) {
            return std::nullopt;
        }
        std::ranges::sort(*blocks, {}, &RowBlock::first_row);
        std::set<TileId> taken;
        const bool fits = std::ranges::all_of(*blocks, [&](const RowBlock& block) {
            return block.rows == 1 && taken.insert(block.tile).second;
        });
        return fits ? blocks : std::nullopt;
    }

    /// The slices of all rows, one on each tile, and the steps behind their exponentials.
    [[nodiscard]] std::vector<graph::Step>
    add_slices(graph::Graph& graph, const std::string& owner, Vertices& vertices,
               std::optional<MaskRows>& masks, std::span<const RowBlock> x,
               std::span<const RowBlock> y, std::int64_t slices) const {
        const auto bring = graph.add_exchange({"bring partials", program::Role::Reduce, owner});
        const auto join =
            graph.add_compute_set({"join slices", program::Role::Work, owner, "rows"});
        std::vector<graph::Place> partials;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::int64_t row = x[i].first_row / slices;
            const std::int64_t slice = x[i].first_row % slices;
            const graph::Place mask =
                masks ? masks->row_on(x[i].tile, row / rows_of_mask() * slices + slice)
                      : graph::Place{};
            partials.push_back(vertices.add_slice(x[i], y[i], mask, slice, slices, join));
        }
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto first = i - static_cast<std::size_t>(x[i].first_row % slices);
            std::vector<graph::Receiver> others;
            for (std::size_t other = first; other < first + static_cast<std::size_t>(slices);
                 ++other) {
                if (other != i) {
                    others.push_back({x[other].tile, partials[i]});
                }
            }
            graph.add_message(bring, x[i].tile, partials[i], vertices.slice_bytes(), others);
        }
        std::vector<graph::Step> steps;
        graph::run_next(steps, bring, join);
        return steps;
    }

    /// A vertex has rows of one matrix if they are to be told apart, and reads one row of the mask.
    void add_block(Vertices& vertices, std::optional<MaskRows>& masks, const RowBlock& x,
                   const RowBlock& y) const {
        const std::int64_t together = form_.is_causal ? rows_of_matrix() : rows_of_mask();
        std::int64_t end = 0;
        for (std::int64_t first = 0; first < x.rows; first = end) {
            const std::int64_t number = x.first_row + first * x.row_stride;
            const std::int64_t left = together - number % together;
            end = std::min(x.rows, first + (left + x.row_stride - 1) / x.row_stride);
            const graph::Place mask =
                masks ? masks->row_on(x.tile, number / rows_of_mask()) : graph::Place{};
            vertices.add(part_of(x, first, end - first), part_of(y, first, end - first),
                         number % rows_of_matrix(), mask);
        }
    }

    /// Products and sums in double that are rounded once more are those of FP32.
    [[nodiscard]] double before_softmax(std::span<const family::Value* const> inputs,
                                        std::int64_t row, std::int64_t column) const {
        double x = family::element_of(*inputs[0], row * columns() + column);
        if (form_.is_plain()) {
            return x;
        }
        if (form_.is_causal && column > row % rows_of_matrix()) {
            return -std::numeric_limits<double>::infinity();
        }
        x = double{static_cast<float>(double{*form_.scale} * x)};
        if (form_.is_masked) {
            const std::int64_t at = row / rows_of_mask() * columns() + column;
            x = double{static_cast<float>(x + family::element_of(*inputs[1], at))};
        }
        return x;
    }

    std::vector<family::TensorType> inputs_;
    family::TensorType x_;
    Form form_;
};

/// A mask has the first sizes of x, none or more of those that number matrices, and its columns.
void require_mask(const family::Request& request) {
    const family::TensorType& x = request.inputs[0];
    const family::TensorType& mask = request.inputs[1];
    family::require_dense(request, 1, "mask");
    family::require_same_type(request);
    const auto numbering = static_cast<std::ptrdiff_t>(x.shape.size()) - 2;
    const auto leading = static_cast<std::ptrdiff_t>(mask.shape.size()) - 1;
    const bool fits = leading >= 0 && leading <= numbering && mask.shape.back() == x.shape.back() &&
                      std::equal(mask.shape.begin(), mask.shape.end() - 1, x.shape.begin());
    if (!fits) {
        throw family::Refused(
            1, "",
            fmt::format("got {} for {}, expected the columns, behind none or more of the first "
                        "sizes that number matrices",
                        family::shape_text(mask), family::shape_text(x)));
    }
}

std::unique_ptr<family::Step> make_softmax(const family::Request& request) {
    const family::TensorType& x = request.inputs[0];
    static_cast<void>(family::matrices_input({{x}, {}}, kTypes));
    const double scale = family::number_of(family(), request, "scale");
    if (!(std::fabs(scale) <= kLargest)) {
        throw family::Refused(-1, "scale",
                              fmt::format("got {}, expected a number that f32 can hold", scale));
    }
    Form form{.is_masked = request.inputs.size() > 1,
              .is_causal = family::flag_of(family(), request, "causal")};
    if (form.is_masked) {
        require_mask(request);
    }
    if (form.is_causal && x.shape[x.shape.size() - 2] != x.shape.back()) {
        throw family::Refused(
            -1, "causal",
            fmt::format("got {}, expected as many rows as columns", family::shape_text(x)));
    }
    if (scale != 1 || form.is_masked || form.is_causal) {
        form.scale = static_cast<float>(scale);
    }
    return std::make_unique<SoftmaxStep>(request, form);
}

/// What the form hides has a y of 0, and so a gradient of 0.
family::Steps backward(const family::GradientRequest& request) {
    if (request.wants(1)) {
        throw family::Refused(1, "", "the gradient of a mask is wanted, which there is none of");
    }
    const std::string& dx = request.of_inputs[0];
    const std::vector<std::string> reads{request.step.outputs[0], request.of_outputs[0]};
    const auto told = request.step.options.find("scale");
    if (told == request.step.options.end()) {
        return {family::backward_step("softmax_gradient", reads, dx)};
    }
    return {family::backward_step("softmax_gradient", reads, dx + "_scaled"),
            family::backward_step("scale", {dx + "_scaled"}, dx, {{"factor", told->second}})};
}

} // namespace

Cycles cycles(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
              std::int64_t columns) {
    return cycles(machine, type, {}, {.count = rows}, columns);
}

const family::Family& family() {
    static const family::Family softmax = family::with_gradient(
        family::Family{.name = "softmax",
                       .says = "y = exp(z) / sum of exp(z), over each row, for z = scale x + mask",
                       .inputs = {"x", "mask"},
                       .options = {{.key = "scale",
                                    .says = "what x is multiplied by before",
                                    .words = {},
                                    .number = 1},
                                   {.key = "causal",
                                    .says = "whether row i of each matrix sees columns 0 to i only",
                                    .words = {},
                                    .is_flag = true}},
                       .make = make_softmax,
                       .optional_inputs = 1},
        backward);
    return softmax;
}

} // namespace tessera::softmax
