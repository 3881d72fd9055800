// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_epilogue.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::matmul {
namespace {

using function::Function;
using graph::kUnitBytes;
using workload::Activation;

std::optional<Function> activation_of(const workload::MatmulWorkload& workload) {
    switch (workload.activation) {
    case Activation::Relu:
        return function::relu(workload::result_type(workload.dtype));
    case Activation::Gelu:
        return function::gelu(workload::result_type(workload.dtype));
    case Activation::None:
        break;
    }
    return std::nullopt;
}

} // namespace

Epilogue::Epilogue(const workload::MatmulWorkload& workload, Neighbours neighbours)
    : type_(workload::result_type(workload.dtype)), neighbours_(neighbours) {
    std::vector<After> after;
    if (workload.bias) {
        after.push_back(
            {neighbours == Neighbours::OfRow ? function::add(type_) : function::add_to_rows(type_),
             true});
        after.back().function.name = "bias";
    }
    if (auto activation = activation_of(workload)) {
        after.push_back({std::move(*activation)});
    }
    after_ = std::make_shared<const std::vector<After>>(std::move(after));
}

std::vector<Epilogue::Strip> Epilogue::After::rows_of(Bytes bytes,
                                                      std::span<const Strip> strips) const {
    return is_bias ? std::vector<Strip>(strips.begin(), strips.end())
                   : std::vector<Strip>{{0, 1, bytes / kUnitBytes, 0}};
}

void Epilogue::add_codelets(std::vector<std::string>& sources) const {
    for (const After& after : *after_) {
        sources.push_back(after.function.codelet);
    }
}

graph::Tensor Epilogue::bring_bias(graph::Graph& graph, graph::ExchangeId exchange,
                                   graph::BufferId bias, std::span<const BiasPart> parts) const {
    graph::Tensor tensor = graph::given_tensor("bias", type_, {0});
    for (const BiasPart& part : parts) {
        const TileId home = part.tiles.front();
        std::vector<graph::Receiver> others;
        for (const TileId tile : part.tiles) {
            graph.hold(bias, tile, part.bytes);
            if (tile != home) {
                others.push_back({tile, {bias}});
            }
        }
        graph.add_message(exchange, home, {bias}, part.bytes, others);
        tensor.pieces.push_back(graph::run_of(home, {bias}, part.first, part.columns, type_));
        tensor.shape.front() += part.columns;
    }
    return tensor;
}

std::vector<graph::ComputeSetId> Epilogue::add_sets(graph::Graph& graph, const char* owner,
                                                    const std::string& suffix,
                                                    std::vector<graph::Step>& steps) const {
    std::vector<graph::ComputeSetId> sets;
    for (const After& after : *after_) {
        sets.push_back(graph.add_compute_set(
            {after.function.name + suffix, program::Role::Work, owner, "8-byte units"}));
        steps.push_back(graph::run(sets.back()));
    }
    return sets;
}

void Epilogue::add(graph::Graph& graph, const spec::MachineSpec& machine,
                   std::span<const graph::ComputeSetId> sets, TileId tile, graph::Place result,
                   Bytes bytes, graph::BufferId bias, std::span<const Strip> strips) const {
    const bool is_row = neighbours_ == Neighbours::OfRow;
    for (std::size_t i = 0; bytes > 0 && i < after_->size(); ++i) {
        const After& after = (*after_)[i];
        graph.add_work(sets[i], tile, bytes / kUnitBytes);
        for (const Strip& strip : after.rows_of(bytes, strips)) {
            const Bytes row = strip.units * kUnitBytes;
            const graph::UnitRows rows{tile, result + strip.offset, strip.rows, strip.units, row};
            const function::Side standing{rows.first, row};
            std::vector<function::Side> sides{standing};
            std::vector<graph::Field> reads{
                graph::use(rows.first, strip.rows * row, graph::Access::Read)};
            if (after.is_bias) {
                const graph::Place slice{bias, strip.bias};
                const Bytes element = tessera::bytes_of(type_);
                sides.push_back(is_row ? function::Side{slice, 0}
                                       : function::Side{slice, element, 0});
                reads.push_back(
                    graph::use(slice, is_row ? row : strip.rows * element, graph::Access::Read));
            }
            sides.push_back(standing);
            function::add_vertices(graph, machine, sets[i], after.function, rows, sides, reads);
        }
    }
}

Epilogue::Taken Epilogue::cycles(const spec::MachineSpec& machine, Bytes bytes,
                                 std::span<const Strip> strips) const {
    Taken taken{};
    for (std::size_t i = 0; bytes > 0 && i < after_->size(); ++i) {
        const After& after = (*after_)[i];
        plan::StubTimeline stub(machine, false);
        for (const Strip& strip : after.rows_of(bytes, strips)) {
            function::add_cycles(stub, machine, after.function.loop, strip.rows, strip.units);
        }
        taken[i] = stub.finish();
    }
    return taken;
}

Cycles Epilogue::steps_of(const spec::MachineSpec& machine, const Taken& slowest) const {
    const auto steps = static_cast<std::int64_t>(after_->size());
    return steps * machine.control.step_cycles + slowest[0] + slowest[1];
}

workload::AfterProduct after_product(const workload::MatmulWorkload& workload,
                                     std::vector<double> bias) {
    const auto activation = activation_of(workload);
    if (bias.empty() && !activation) {
        return {};
    }
    const ElementType type = workload::result_type(workload.dtype);
    const auto rounding = function::one_rounding(type);
    // by which an error of the argument grows at most
    const double slope = workload.activation == Activation::Gelu ? 1.13 : 1.0;
    return [=, bias = std::move(bias)](std::int64_t /*row*/, std::int64_t column,
                                       workload::Expected product) {
        if (!bias.empty()) {
            product.value =
                workload::in_range(type, product.value) + bias[static_cast<std::size_t>(column)];
            product.tolerance += rounding(0, 0, std::fabs(product.value) + product.tolerance);
        }
        if (!activation) {
            return product;
        }
        const double off = product.tolerance;
        workload::Expected result{activation->value(product.value, 0), slope * off};
        double own = 0; // the activation's: its argument is anywhere between these
        for (const double x : {product.value - off, product.value, product.value + off}) {
            own = std::max(own, activation->tolerance
                                    ? activation->tolerance(x, 0, activation->value(x, 0))
                                    : 0.0);
        }
        result.tolerance += own;
        return result;
    };
}

} // namespace tessera::matmul
