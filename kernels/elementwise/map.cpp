// SPDX-License-Identifier: MIT
#include "kernels/elementwise/map.h"

#include "base/float16.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace tessera::elementwise {
namespace {

using family::Refused;
using family::TensorType;
using family::Value;

constexpr double kLeastF16Subnormal = 0x1p-24;
constexpr double kLeastF32 = 0x1p-126;
constexpr double kMostF16 = 65504;

/// As the machine sees the element: FP32 subnormals are zero.
double element(const Value& value, std::int64_t index) {
    const auto at = static_cast<std::size_t>(index * bytes_of(value.type.type));
    if (value.type.type == ElementType::F16) {
        std::uint16_t half = 0;
        std::memcpy(&half, &value.bytes[at], sizeof half);
        return f16_to_f32(half);
    }
    float single = 0;
    std::memcpy(&single, &value.bytes[at], sizeof single);
    return std::fpclassify(single) == FP_SUBNORMAL ? std::copysign(0.0, single) : single;
}

/// The nearest that the type can hold in range: FP16 arithmetic saturates.
double in_range(ElementType type, double value) {
    if (type == ElementType::F16 && std::isfinite(value)) {
        return std::clamp(value, -kMostF16, kMostF16);
    }
    return std::fabs(value) > std::numeric_limits<float>::max()
               ? std::copysign(std::numeric_limits<double>::infinity(), value)
               : value;
}

} // namespace

Map::Map(Function function, std::vector<TensorType> inputs, TensorType output,
         std::vector<const char*> input_names)
    : function_(std::move(function)), inputs_(std::move(inputs)), output_(std::move(output)),
      input_names_(std::move(input_names)) {}

std::string Map::name_of_input(std::size_t input, const family::Site& site) const {
    return fmt::format("{} of {}", input_names_[input], site.owner);
}

std::string Map::name_of_output(const family::Site& site) {
    return fmt::format("output of {}", site.owner);
}

double Map::flops() const {
    return function_.flops * static_cast<double>(output_.elements());
}

family::Emitted Map::emit(graph::Graph& graph, const family::Site& site,
                          std::span<const std::optional<graph::TensorId>> where) {
    const auto is_lead = [&](const auto& offered) {
        return offered && is_on(site, graph.tensors.at(offered->index));
    };
    const auto lead = std::find_if(where.begin(), where.end(), is_lead);
    const auto number = static_cast<std::size_t>(lead == where.end() ? 0 : lead - where.begin());
    const graph::TensorId model =
        lead == where.end() ? add_runs(graph, site, name_of_input(0, site), inputs_[0]) : **lead;

    family::Emitted made;
    std::vector<Buffers> buffers; // of the model -> of inputs and output
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const auto buffers_of = [&](graph::TensorId tensor) {
            return alike(graph.tensors.at(model.index), graph.tensors.at(tensor.index));
        };
        const bool offered = i == number || (where[i] && buffers_of(*where[i]));
        const graph::TensorId input =
            i == number ? model
            : offered   ? *where[i]
                        : add_alike(graph, name_of_input(i, site), inputs_[i].type, model);
        align(graph, input);
        made.inputs.push_back(input);
        buffers.push_back(*buffers_of(input));
    }
    made.output = add_alike(graph, name_of_output(site), output_.type, model);
    buffers.push_back(*alike(graph.tensors.at(model.index), graph.tensors.at(made.output.index)));

    graph.need_codelet(function_.codelet);
    const auto set = graph.add_compute_set({function_.name, program::Role::Work, site.owner});
    const Placement placement = placement_of(graph.tensors.at(model.index));
    const Bytes in_bytes = bytes_of(inputs_[0].type);
    const Bytes out_bytes = bytes_of(output_.type);
    for (const Rows& rows : placement.rows) {
        std::vector<Side> sides;
        std::vector<graph::Field> uses;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const graph::BufferId buffer = buffers[i].at(rows.first.buffer.index);
            sides.push_back({{buffer, rows.first.offset}, rows.stride});
            for (const Run& run : placement.runs_of(rows)) {
                uses.push_back(
                    graph::use({buffer, run.begin}, run.end - run.begin, graph::Access::Read));
            }
        }
        sides.push_back(
            {{buffers.back().at(rows.first.buffer.index), rows.first.offset * out_bytes / in_bytes},
             rows.stride * out_bytes / in_bytes,
             kUnitBytes * out_bytes / in_bytes});
        add_written(uses, rows, sides.back());
        add_vertices(graph, site.machine, set, function_, rows, sides, uses);
    }
    made.steps = graph::run(set);
    return made;
}

family::Checked Map::check(std::span<const Value* const> inputs, const Value& output,
                           int /*threads*/) const {
    family::Checked checked;
    checked.elements = output_.elements();
    std::string first_wrong;
    for (std::int64_t i = 0; i < checked.elements; ++i) {
        const double x = element(*inputs[0], i);
        const double y =
            inputs.size() < 2 ? 0 : element(*inputs[1], i % inputs[1]->type.elements());
        const double got = element(output, i);
        const double expected = in_range(output_.type, function_.value(x, y));
        const double error = std::fabs(got - expected);
        const double tolerance = function_.tolerance ? function_.tolerance(x, expected) : 0;
        bool passed = !std::isfinite(got) && !std::isfinite(expected);
        if (std::isfinite(got) && std::isfinite(expected)) {
            passed = error <= tolerance;
            checked.max_error = std::max(checked.max_error, error);
            if (tolerance > 0) {
                checked.max_error_over_tolerance =
                    std::max(checked.max_error_over_tolerance, error / tolerance);
            }
        }
        if (!passed && checked.failed_elements++ == 0) {
            first_wrong = fmt::format("element {}: got {}, expected {} within {}", i, got, expected,
                                      tolerance);
        }
    }
    checked.passed = checked.failed_elements == 0;
    checked.sentence = checked.passed
                           ? fmt::format("all {} elements are right, the largest error is {:.3g}",
                                         checked.elements, checked.max_error)
                           : fmt::format("{} of {} elements are wrong, first {}",
                                         checked.failed_elements, checked.elements, first_wrong);
    return checked;
}

void require_numbers(const family::Request& request, int number, const char* name) {
    const TensorType& type = request.inputs.at(static_cast<std::size_t>(number));
    const auto refuse = [&](const std::string& what) {
        throw Refused(number, "", fmt::format("{}: {}", name, what));
    };
    if (type.sparse != nullptr) {
        refuse("got a sparse matrix, expected a dense tensor");
    }
    if (type.type != ElementType::F16 && type.type != ElementType::F32) {
        refuse(fmt::format("got {}, expected f16 or f32", tessera::name_of(type.type)));
    }
    if (type.elements() == 0) {
        refuse(fmt::format("got {}, expected at least one element", shape_text(type)));
    }
}

void require_same_type(const family::Request& request) {
    const TensorType& x = request.inputs[0];
    const TensorType& y = request.inputs[1];
    if (x.type != y.type) {
        throw Refused(1, "",
                      fmt::format("got {} and {}, expected equal types", tessera::name_of(x.type),
                                  tessera::name_of(y.type)));
    }
}

std::string shape_text(const TensorType& type) {
    return type.shape.empty() ? "one element" : fmt::format("{}", fmt::join(type.shape, " x "));
}

std::function<double(double, double)> one_rounding(ElementType type) {
    return [type](double, double expected) { return rounding(type, expected); };
}

double rounding(ElementType type, double expected) {
    const double least = type == ElementType::F16 ? kLeastF16Subnormal / 2 : kLeastF32;
    return std::max(unit_roundoff(type) * std::fabs(expected), least);
}

} // namespace tessera::elementwise
