// SPDX-License-Identifier: MIT
#include "kernels/family/product.h"

#include "base/error.h"
#include "base/float16.h"
#include "base/float8.h"
#include "kernels/family/numbers.h"
#include "kernels/family/standing.h"
#include "kernels/graph/append.h"
#include "kernels/graph/transpose.h"
#include "kernels/graph/unit_rows.h"
#include "kernels/lower/codelet_library.h"
#include "kernels/workload/reference.h"
#include "kernels/workload/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <type_traits>

namespace tessera::family {
namespace {

std::string text_of(const TensorType& type) {
    return fmt::format("{} {}", name_of(type.type), fmt::join(type.shape, " x "));
}

/// Matrix `number` of several that stand one below the other, as the product reads it: of FP8 the
/// numbers in FP16.
template <class Element>
workload::Dense<Element> matrix_of(const Value& value, bool is_transposed,
                                   std::int64_t matrices = 1, std::int64_t number = 0) {
    const ElementType type = value.type.type;
    const std::int64_t elements = value.type.elements() / matrices;
    const std::int64_t columns = value.type.shape.back();
    workload::Dense<Element> made{elements / columns, columns, {}};
    made.values.resize(static_cast<std::size_t>(elements));
    const std::byte* from = value.bytes.data() + number * elements * bytes_of(type);
    if (bytes_of(type) > 1) {
        std::memcpy(made.values.data(), from, made.values.size() * sizeof(Element));
    } else if constexpr (std::is_same_v<Element, std::uint16_t>) {
        std::transform(from, from + elements, made.values.begin(), [&](std::byte code) {
            return f32_to_f16(f8_to_f32(std::to_integer<std::uint8_t>(code), type));
        });
    }
    if (is_transposed) {
        return workload::transposed(made);
    }
    return made;
}

Checked checked_of(const workload::CheckResult& result) {
    Checked made{result};
    if (result.overflow.elements > 0) {
        made.overflow_warning = workload::overflow_text(result);
    }
    made.sentence = sentence_of(
        result, fmt::format("worst at row {} column {}: got {}, expected {}", result.worst_row,
                            result.worst_column, result.worst_got, result.worst_expected));
    return made;
}

/// Sizes of a matrix as the product reads it.
struct Sides {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
};
Sides sides_of(const TensorType& type, bool is_transposed) {
    const std::size_t rank = type.shape.size();
    const Sides sides{type.shape[rank - 2], type.shape[rank - 1]};
    return is_transposed ? Sides{sides.columns, sides.rows} : sides;
}

} // namespace

Placed placed(const spec::MachineSpec& machine, Planned planned, workload::Accumulate accumulate) {
    planned = accumulated(machine, std::move(planned), accumulate);
    lower::PlacedGraph lowering(machine, planned.graph);
    const Cycles least = planned.division.predicted.total() + lowering.least_exchanges().total();
    return {std::move(planned), std::move(lowering), least};
}

Divided lowered(const spec::MachineSpec& machine, Placed placed,
                exchange_plan::KnownSchedules& known) {
    lower::Lowered made = std::move(placed.lowering).lower(known);
    Planned& planned = placed.planned;
    planned.division.predicted += lower::predicted_exchanges(machine, made);
    return {std::move(planned.division), std::move(made), std::move(planned.graph),
            planned.has_given_a};
}

Divided lowered(const spec::MachineSpec& machine, Planned planned, workload::Accumulate accumulate,
                exchange_plan::KnownSchedules& known) {
    return lowered(machine, placed(machine, std::move(planned), accumulate), known);
}

void check_estimable(const spec::MachineSpec& machine, const std::string& what,
                     const std::vector<std::string>& codelets, workload::PlanKind plan) {
    if (plan == workload::PlanKind::Published) {
        throw NotModelled(what + ": not modelled: its published plan; see docs/published_plans.md");
    }
    const spec::Fabric fabric = machine.exchange.fabric;
    if (fabric == spec::Fabric::Mesh || fabric == spec::Fabric::Ring) {
        throw NotModelled(fmt::format(
            "{}: not modelled: an estimate with exchange.fabric {}, where messages wait for links "
            "that they share; see docs/timing_mode.md#estimates",
            what, fabric == spec::Fabric::Mesh ? "mesh" : "ring"));
    }
    graph::Graph graph(what);
    graph.codelets = codelets;
    static_cast<void>(lower::CodeletLibrary(machine, graph));
}

std::vector<Option> product_options() {
    return {{.key = "partials",
             .says = "type in which products are summed; else the result's",
             .words = {"f16", "f32"}},
            {.key = "plan",
             .says = "the planner's own choices, or the published ones that measured hardware ran",
             .words = {"fastest", "published"},
             .word = "fastest"},
            {.key = "transpose_a",
             .says = "the left operand stands as its transpose, k x m",
             .words = {},
             .is_flag = true},
            {.key = "transpose_b",
             .says = "the right operand stands as its transpose, n x k",
             .words = {},
             .is_flag = true},
            {.key = "accumulate",
             .says = "the product is added to the last input, which has its type and sizes",
             .words = {},
             .is_flag = true}};
}

Product::Product(const Family& family, const Request& request)
    : inputs_(request.inputs), transposed_{flag_of(family, request, "transpose_a"),
                                           flag_of(family, request, "transpose_b")} {
    const TensorType& a = inputs_.at(0);
    const TensorType& b = inputs_.at(1);
    if (b.sparse != nullptr) {
        throw Refused(1, {}, "got a sparse matrix, expected a dense one");
    }
    for (int input = 0; input < 2; ++input) {
        const TensorType& type = inputs_[static_cast<std::size_t>(input)];
        if (!is_float(type.type) || type.shape.size() < 2) {
            throw Refused(
                input, {},
                fmt::format("got {}, expected a matrix of f16, f32 or FP8", text_of(type)));
        }
    }
    const auto refuse_pair = [&](const char* expected) {
        throw Refused(1, {},
                      fmt::format("got {} and {}, expected {}", text_of(a), text_of(b), expected));
    };
    if (a.type != b.type) {
        refuse_pair("operands of one type");
    }
    if (a.sparse != nullptr && transposed_[0]) {
        turned_ = workload::transposed(*a.sparse);
    }
    const Sides left = sides_of(a, transposed_[0]);
    const Sides right = sides_of(b, transposed_[1]);
    if (!std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin(), b.shape.end() - 2)) {
        refuse_pair("the same sizes before the last two");
    }
    if (left.columns != right.rows) {
        refuse_pair("as many rows as the left operand has columns");
    }
    told_.groups = a.elements() / (left.rows * left.columns);
    told_.m = left.rows;
    told_.k = left.columns;
    told_.n = right.columns;
    told_.dtype = a.type;
    told_.partials = workload::result_type(a.type);
    const bool accumulates = flag_of(family, request, "accumulate");
    const std::size_t others = inputs_.size() - (accumulates ? 1 : 0); // with the operands
    if (others < 2) {
        throw Refused(-1, "accumulate", "got true, expected a further input to add the product to");
    }
    told_.bias = others > 2;
    if (others > 3 || (told_.bias && a.sparse != nullptr)) {
        throw Refused(static_cast<int>(inputs_.size()) - 1, {},
                      "got one more tensor than is read, expected it with accumulate");
    }
    const auto refuse_other = [&](std::size_t input, const std::vector<std::int64_t>& sizes) {
        const TensorType expected{workload::result_type(a.type), with_leading(sizes)};
        const TensorType& got = inputs_[input];
        if (got.sparse != nullptr || got.type != expected.type || got.shape != expected.shape) {
            throw Refused(static_cast<int>(input), {},
                          fmt::format("got {}, expected {}", text_of(got), text_of(expected)));
        }
    };
    if (told_.bias) {
        refuse_other(2, {told_.n});
    }
    if (accumulates) {
        refuse_other(inputs_.size() - 1, {told_.m, told_.n});
        told_.accumulate = workload::Accumulate::Over;
    }
    const std::string partials = word_of(family, request, "partials");
    if (!partials.empty()) {
        told_.partials = find_element_type(partials)->type;
    }
    for (const workload::Mistake& mistake : workload::wrong_partials(told_.dtype, told_.partials)) {
        throw Refused(-1, mistake.key, mistake.message);
    }
    if (word_of(family, request, "plan") == "published") {
        told_.plan = workload::PlanKind::Published;
    }
}

std::vector<std::int64_t> Product::with_leading(std::vector<std::int64_t> sizes) const {
    sizes.insert(sizes.begin(), inputs_[1].shape.begin(), inputs_[1].shape.end() - 2);
    return sizes;
}

workload::Accumulate Product::accumulate_on(const Site& site) const {
    const bool is_over = site.input_under(0) == inputs_.size() - 1;
    return told_.accumulate == workload::Accumulate::None || is_over ? told_.accumulate
                                                                     : workload::Accumulate::Apart;
}

std::vector<TensorType> Product::outputs() const {
    return {{workload::result_type(told_.dtype), with_leading({told_.m, told_.n})}};
}

double Product::flops() const {
    return static_cast<double>(product()->flops);
}

std::optional<ProductWork> Product::product() const {
    ProductWork work{2 * told_.groups * told_.m * told_.k * told_.n, std::nullopt, told_.partials,
                     told_.dtype};
    if (a().sparse != nullptr) {
        work.flops_dense_equivalent = work.flops;
        work.flops = 2 * a().sparse->stored_elements() * told_.n;
        work.vector_flops = a().sparse->block == 1 ? work.flops : 0;
    }
    return work;
}

Emitted Product::emit(graph::Graph& graph, const Site& site,
                      std::span<const std::optional<graph::TensorId>> where) {
    for (std::size_t i = 0; i < 2; ++i) {
        stands_[i] = where[i].has_value();
        squares_[i] =
            where[i] ? standing_squares(graph.tensors.at(where[i]->index), site, i) : std::nullopt;
    }
    Divided chosen = choose(site);
    division_ = std::move(chosen.division);
    for (std::size_t i = 0; i < 2; ++i) {
        graph::Tensor& tensor = chosen.graph.tensors.at(i);
        if (inputs_[i].capacity || (i == 0 && chosen.has_given_a)) {
            continue; // it stands as it is, whoever reads it
        }
        if (transposed_[i] && inputs_[i].sparse != nullptr) {
            graph::transpose_blocks(tensor, turned_->from);
        } else if (transposed_[i]) {
            graph::transpose(tensor);
        }
        if (inputs_[i].sparse == nullptr) {
            tensor.shape = inputs_[i].shape;
        }
    }
    const workload::Accumulate accumulate = accumulate_on(site);
    const bool is_over = accumulate == workload::Accumulate::Over;
    const std::size_t last = inputs_.size() - 1;
    std::vector<Wanted> wanted; // by input
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const bool is_c = accumulate != workload::Accumulate::None && i == last;
        const std::size_t tensor = i < 2     ? i
                                   : !is_c   ? 3
                                   : is_over ? 2
                                             : chosen.graph.tensors.size() - 1;
        const bool may_stand =
            where[i] && (i < 2 || (is_c && graph::has_own_units(graph, *where[i])));
        wanted.push_back({graph::TensorId{static_cast<std::uint32_t>(tensor)},
                          may_stand ? where[i] : std::nullopt, is_c && is_over});
    }
    std::vector<graph::TensorId> forms; // behind operands and result
    if (inputs_[0].capacity) {
        const std::size_t end =
            chosen.graph.tensors.size() - (accumulate == workload::Accumulate::Apart ? 1 : 0);
        for (std::size_t form = 3; form < end; ++form) {
            forms.push_back({static_cast<std::uint32_t>(form)});
        }
    }
    const Standing stands = standing(graph, chosen.graph, site, wanted, forms);
    auto appended =
        graph::append(graph, std::move(chosen.graph), site.first_tile, site.owner, stands.shared);
    Emitted made{{},
                 {appended.tensors.at(2)},
                 std::move(appended.control),
                 {},
                 std::make_shared<lower::Lowered>(std::move(chosen.lowered))};
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const graph::TensorId id = appended.tensors.at(wanted[i].tensor.index);
        graph.tensors[id.index].shape = i < 2 ? graph.tensors[id.index].shape : inputs_[i].shape;
        made.inputs.push_back(stands.inputs[i] ? *where[i] : id);
    }
    if (is_over) {
        made.outputs[0] = made.inputs[last];
    }
    for (std::size_t i = 0; i < forms.size(); ++i) {
        made.forms.push_back(stands.forms ? site.forms[i] : appended.tensors[forms[i].index]);
    }
    graph.tensors[made.outputs[0].index].shape = output().shape;
    for (const graph::TensorId tensor : appended.tensors) {
        graph.tensors[tensor.index].given = false;
        graph.tensors[tensor.index].wanted = false;
    }
    return made;
}

std::optional<graph::SquareTiles> Product::standing_squares(const graph::Tensor& tensor,
                                                            const Site& site,
                                                            std::size_t operand) const {
    const bool is_k_last = (operand == 0) != transposed_[operand];
    auto found = graph::tiles_of_squares(tensor, is_k_last ? 1 : 0);
    const auto is_here = [&](TileId tile) {
        return tile >= site.first_tile &&
               static_cast<std::int64_t>(tile - site.first_tile) < site.machine.chip.tiles;
    };
    if (!found || !std::ranges::all_of(found->squares, [&](const auto& square) {
            return is_here(square.tile) && is_here(square.other);
        })) {
        return std::nullopt;
    }
    for (graph::SquareTiles::Square& square : found->squares) {
        square.tile -= site.first_tile;
        square.other -= site.first_tile;
    }
    return found;
}

template <class Element>
workload::CheckResult Product::checked(std::span<const Value* const> inputs, const Value& output,
                                       workload::CheckOptions options) const {
    const auto c = matrix_of<Element>(output, false);
    const std::span<const Element> result(c.values);
    if (a().sparse != nullptr) {
        workload::Sparse<Element> sparse;
        sparse.values.resize(inputs[0]->bytes.size() / sizeof(Element));
        std::memcpy(sparse.values.data(), inputs[0]->bytes.data(), inputs[0]->bytes.size());
        const workload::SparsePattern& stands =
            *inputs[0]->type.sparse; // may differ from that of planning
        if (transposed_[0]) {
            const auto turned = workload::transposed(stands);
            static_cast<workload::SparsePattern&>(sparse) = turned.pattern;
            sparse.values = workload::transposed_values(sparse.values, turned);
        } else {
            static_cast<workload::SparsePattern&>(sparse) = stands;
        }
        options.roundings = roundings(sparse);
        options.after = accumulating({}, inputs, 0);
        return workload::check(result, sparse, matrix_of<Element>(*inputs[1], transposed_[1]),
                               options);
    }
    const auto elements = static_cast<std::size_t>(told_.m * told_.n);
    workload::CheckResult all;
    for (std::int64_t group = 0; group < told_.groups; ++group) {
        std::vector<double> bias;
        for (std::int64_t i = 0; told_.bias && i < told_.n; ++i) {
            bias.push_back(element_of(*inputs[2], group * told_.n + i));
        }
        options.after = accumulating(after(std::move(bias)), inputs, group);
        const auto left = matrix_of<Element>(*inputs[0], transposed_[0], told_.groups, group);
        const auto right = matrix_of<Element>(*inputs[1], transposed_[1], told_.groups, group);
        const auto own = result.subspan(static_cast<std::size_t>(group) * elements, elements);
        workload::join(all, workload::check(own, left, right, options), group * told_.m);
    }
    return all;
}

workload::AfterProduct Product::accumulating(workload::AfterProduct after,
                                             std::span<const Value* const> inputs,
                                             std::int64_t group) const {
    if (told_.accumulate == workload::Accumulate::None) {
        return after;
    }
    const ElementType type = workload::result_type(told_.dtype);
    return [=, after = std::move(after), &c = *inputs.back(), m = told_.m,
            n = told_.n](std::int64_t row, std::int64_t column, workload::Expected product) {
        workload::Expected sum = after ? after(row, column, product) : product;
        sum.value =
            workload::in_range(type, sum.value) + number_at(c, (group * m + row) * n + column);
        sum.tolerance += workload::rounding(type, std::fabs(sum.value) + sum.tolerance);
        return sum;
    };
}

Checked Product::check(std::span<const Value* const> inputs, std::span<const Value> outputs,
                       int threads) const {
    const bool exact = keeps_whole_numbers() &&
                       std::all_of(inputs.begin(), inputs.end(),
                                   [](const Value* input) { return input->whole_numbers; });
    const workload::CheckOptions options{.partials = told_.partials,
                                         .roundings = division_.roundings,
                                         .half_products = a().sparse != nullptr &&
                                                          a().sparse->block == 1 &&
                                                          told_.dtype == ElementType::F16,
                                         .exact_required = exact,
                                         .after = {},
                                         .threads = threads};
    return checked_of(told_.dtype == ElementType::F32
                          ? checked<float>(inputs, outputs[0], options)
                          : checked<std::uint16_t>(inputs, outputs[0], options));
}

} // namespace tessera::family
