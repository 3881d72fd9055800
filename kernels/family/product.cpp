// SPDX-License-Identifier: MIT
#include "kernels/family/product.h"

#include "base/error.h"
#include "base/text.h"
#include "kernels/graph/append.h"
#include "kernels/lower/codelet_library.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/workload/reference.h"

#include <fmt/format.h>

#include <cstring>

namespace tessera::family {
namespace {

std::string text_of(const TensorType& type) {
    return fmt::format("{} {}", name_of(type.type), fmt::join(type.shape, " x "));
}

workload::DenseF16 dense(const Value& value) {
    workload::DenseF16 made{value.type.shape[0], value.type.shape[1], {}};
    made.values.resize(value.bytes.size() / sizeof(std::uint16_t));
    std::memcpy(made.values.data(), value.bytes.data(), value.bytes.size());
    return made;
}

Checked checked(const workload::CheckResult& result) {
    Checked made{.passed = result.passed,
                 .elements = result.elements,
                 .failed_elements = result.failed_elements,
                 .max_error = result.max_error,
                 .max_error_over_tolerance = result.max_error_over_tolerance,
                 .overflow = result.overflow,
                 .sentence = {},
                 .overflow_warning = {}};
    if (result.overflow.elements > 0) {
        made.overflow_warning = workload::overflow_text(result);
    }
    made.sentence =
        result.passed
            ? fmt::format("{:.1f} % of what is allowed", 100 * result.max_error_over_tolerance)
            : fmt::format("WRONG: {} of {} elements; worst at row {} column {}: got {}, "
                          "expected {}",
                          result.failed_elements, result.elements, result.worst_row,
                          result.worst_column, result.worst_got, result.worst_expected);
    return made;
}

} // namespace

Divided lowered(const spec::MachineSpec& machine, graph::Graph graph, Division division,
                plan::KnownSchedules& known) {
    lower::Lowered made = lower::lower(machine, std::move(graph), known);
    division.predicted += lower::predicted_exchanges(machine, made);
    return {std::move(division), std::move(made)};
}

Estimate fitting(const spec::MachineSpec& machine, const std::string& what, Estimate estimate) {
    if (estimate.bytes > plan::bytes_for_data(machine)) {
        const Cuts& cuts = estimate.cuts;
        throw DoesNotFit(fmt::format(
            "{}: by estimate the division that takes the fewest bytes, {} x {} x {} parts in {} "
            "chunks, takes {} bytes of a tile, which has {} for data",
            what, cuts.parts_m, cuts.parts_k, cuts.parts_n, cuts.chunks, grouped(estimate.bytes),
            grouped(plan::bytes_for_data(machine))));
    }
    return estimate;
}

void check_plan(workload::PlanKind plan, const std::string& what) {
    if (plan == workload::PlanKind::Published) {
        throw NotModelled(what + ": not modelled: its published plan; see docs/published_plans.md");
    }
}

void check_estimable(const spec::MachineSpec& machine, const std::string& what,
                     const std::vector<std::string>& codelets) {
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

Option partials_option() {
    return {.key = "partials",
            .says = "type in which products are summed",
            .words = {"f16", "f32"},
            .number = 0,
            .word = "f16"};
}

Product::Product(const Family& family, const Request& request)
    : a_(request.inputs.at(0)), b_(request.inputs.at(1)),
      partials_(word_of(family, request, "partials") == "f32" ? ElementType::F32
                                                              : ElementType::F16) {
    for (int input = 0; input < 2; ++input) {
        const TensorType& type = request.inputs[static_cast<std::size_t>(input)];
        if (type.type != ElementType::F16 || type.shape.size() != 2) {
            throw Refused(input, {}, fmt::format("got {}, expected an f16 matrix", text_of(type)));
        }
    }
    if (a_.shape[1] != b_.shape[0]) {
        throw Refused(
            1, {},
            fmt::format("got {} and {}, expected as many rows as the left operand has columns",
                        text_of(a_), text_of(b_)));
    }
    if (b_.sparse != nullptr) {
        throw Refused(1, {}, "got a sparse matrix, expected a dense one");
    }
}

TensorType Product::output() const {
    return {ElementType::F16, {a_.shape[0], b_.shape[1]}};
}

double Product::flops() const {
    const double products = a_.sparse == nullptr ? static_cast<double>(a_.elements())
                                                 : static_cast<double>(a_.sparse->values.size());
    return 2 * products * static_cast<double>(n());
}

Emitted Product::emit(graph::Graph& graph, const Site& site,
                      std::span<const std::optional<graph::TensorId>> /*where*/) {
    ProductPart made = part(site.machine, site.known);
    roundings_ = made.roundings;
    auto appended = graph::append(graph, std::move(made.graph), site.first_tile, site.owner);
    for (const graph::TensorId tensor : appended.tensors) {
        graph.tensors[tensor.index].given = false;
        graph.tensors[tensor.index].wanted = false;
    }
    return {{appended.tensors.at(0), appended.tensors.at(1)},
            appended.tensors.at(2),
            std::move(appended.control)};
}

Checked Product::check(std::span<const Value* const> inputs, const Value& output,
                       int threads) const {
    const bool exact = inputs[0]->whole_numbers && inputs[1]->whole_numbers;
    const workload::CheckOptions options{.partials = partials_,
                                         .roundings = roundings_,
                                         .half_products =
                                             a_.sparse != nullptr && a_.sparse->block == 1,
                                         .exact_required = exact,
                                         .threads = threads};
    const auto b = dense(*inputs[1]);
    const auto c = dense(output);
    return checked(a_.sparse == nullptr ? workload::check(c.values, dense(*inputs[0]), b, options)
                                        : workload::check(c.values, *a_.sparse, b, options));
}

} // namespace tessera::family
