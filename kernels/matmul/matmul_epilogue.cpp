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

/// By which an error of the argument grows at most: of relu 1, of gelu its steepest slope.
double steepest(Activation activation) {
    return activation == Activation::Gelu ? 1.13 : 1.0;
}

} // namespace

Epilogue::Epilogue(const workload::MatmulWorkload& workload, Neighbours neighbours)
    : type_(workload::result_type(workload.dtype)), neighbours_(neighbours) {
    if (workload.bias) {
        add_ = std::make_shared<const Function>(
            neighbours == Neighbours::OfRow ? function::add(type_) : function::add_to_rows(type_));
    }
    if (auto activation = activation_of(workload)) {
        activation_ = std::make_shared<const Function>(std::move(*activation));
    }
}

std::vector<std::string> Epilogue::codelets() const {
    std::vector<std::string> sources;
    for (const auto& function : {add_, activation_}) {
        if (function) {
            sources.push_back(function->codelet);
        }
    }
    return sources;
}

Epilogue::Sets Epilogue::add_sets(graph::Graph& graph, const char* owner, const std::string& suffix,
                                  std::vector<graph::Step>& steps) const {
    const auto make = [&](const std::string& name) {
        const auto set =
            graph.add_compute_set({name + suffix, program::Role::Work, owner, "8-byte units"});
        steps.push_back(graph::run(set));
        return set;
    };
    Sets sets;
    if (add_) {
        sets.add = make("bias");
    }
    if (activation_) {
        sets.activation = make(activation_->name);
    }
    return sets;
}

void Epilogue::add(graph::Graph& graph, const spec::MachineSpec& machine, const Sets& sets,
                   TileId tile, graph::Place result, Bytes bytes, graph::BufferId bias,
                   std::span<const Strip> strips) const {
    if (bytes == 0) {
        return;
    }
    if (add_) {
        const bool is_row = neighbours_ == Neighbours::OfRow;
        graph.add_work(*sets.add, tile, bytes / kUnitBytes);
        for (const Strip& strip : strips) {
            const Bytes row = strip.units * kUnitBytes;
            const graph::UnitRows rows{tile, result + strip.offset, strip.rows, strip.units, row};
            const graph::Place slice{bias, strip.bias};
            const function::Side standing{rows.first, row};
            const function::Side added = is_row
                                             ? function::Side{slice, 0}
                                             : function::Side{slice, tessera::bytes_of(type_), 0};
            const graph::Field reads[] = {
                graph::use(rows.first, strip.rows * row, graph::Access::Read),
                graph::use(slice, is_row ? row : strip.rows * tessera::bytes_of(type_),
                           graph::Access::Read)};
            function::add_vertices(graph, machine, *sets.add, *add_, rows,
                                   std::vector{standing, added, standing}, reads);
        }
    }
    if (activation_) {
        const graph::UnitRows rows{tile, result, 1, bytes / kUnitBytes, bytes};
        const function::Side standing{result, bytes};
        const graph::Field reads[] = {graph::use(result, bytes, graph::Access::Read)};
        graph.add_work(*sets.activation, tile, bytes / kUnitBytes);
        function::add_vertices(graph, machine, *sets.activation, *activation_, rows,
                               std::vector{standing, standing}, reads);
    }
}

Epilogue::Taken Epilogue::cycles(const spec::MachineSpec& machine, Bytes bytes,
                                 std::span<const Strip> strips) const {
    Taken taken;
    if (bytes == 0) {
        return taken;
    }
    if (add_) {
        plan::StubTimeline stub(machine, false);
        for (const Strip& strip : strips) {
            function::add_cycles(stub, machine, add_->loop, strip.rows, strip.units);
        }
        taken.add = stub.finish();
    }
    if (activation_) {
        plan::StubTimeline stub(machine, false);
        function::add_cycles(stub, machine, activation_->loop, 1, bytes / kUnitBytes);
        taken.activation = stub.finish();
    }
    return taken;
}

Cycles Epilogue::steps_of(const spec::MachineSpec& machine, const Taken& slowest) const {
    const Cycles steps = (add_ ? 1 : 0) + (activation_ ? 1 : 0);
    return steps * machine.control.step_cycles + slowest.add + slowest.activation;
}

workload::AfterProduct after_product(const workload::MatmulWorkload& workload,
                                     std::vector<double> bias) {
    const auto activation = activation_of(workload);
    if (bias.empty() && !activation) {
        return {};
    }
    const auto rounding = function::one_rounding(workload::result_type(workload.dtype));
    const double slope = steepest(workload.activation);
    return [=, bias = std::move(bias)](std::int64_t column, workload::Expected product) {
        if (!bias.empty()) {
            product.value += bias[static_cast<std::size_t>(column)];
            product.tolerance += rounding(0, std::fabs(product.value) + product.tolerance);
        }
        if (!activation) {
            return product;
        }
        const double off = product.tolerance;
        workload::Expected result{activation->value(product.value, 0), slope * off};
        double own = 0; // the activation's: its argument is anywhere between these
        for (const double x : {product.value - off, product.value, product.value + off}) {
            own = std::max(own, activation->tolerance
                                    ? activation->tolerance(x, activation->value(x, 0))
                                    : 0.0);
        }
        result.tolerance += own;
        return result;
    };
}

} // namespace tessera::matmul
