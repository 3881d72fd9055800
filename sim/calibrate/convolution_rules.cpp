// SPDX-License-Identifier: MIT
// Convolutions that are products: filters of one point, no groups.
#include "sim/calibrate/rules.h"

namespace tessera::calibrate {
namespace {

/// Rows are output channels, the contraction is over input channels, columns are the points of all
/// output fields.
Mapped convolution(const ReferenceRow& row, const RowMachine& machine) {
    const std::int64_t filter = needed(row, "filter");
    const std::int64_t channel_groups = needed(row, "groups");
    if (filter != 1 || channel_groups != 1) {
        return NotCovered{
            channel_groups != 1
                ? "a convolution in groups of channels: no workload runs it"
                : "a convolution with a filter of more than one point: no workload runs it"};
    }
    static_cast<void>(needed_product(row, {"batch", "in_size", "in_size"})); // its limit
    const std::int64_t stride = needed(row, "stride");
    const std::int64_t edge = (needed(row, "in_size") - 1) / stride + 1;
    const ProductSize size{.m = needed(row, "out_ch"),
                           .k = needed(row, "in_ch"),
                           .n = needed(row, "batch") * edge * edge};
    ProductTypes types = product_types(row);
    const bool unsaid = types.dtype == "f16" && types.partials == "f16";
    if (unsaid) { // GC2's peak is that of FP16 with FP32 sums: docs/evidence.md#product-rows
        types.partials = "f32";
    }
    Measurement measurement = measure_product(
        row, size, [&](const char* plan) { return dense_run(machine, size, types, plan); });
    if (unsaid) {
        assume(measurement, "FP32 partials");
    }
    return measurement;
}

} // namespace

const std::vector<Rule>& convolution_rules() {
    static const std::vector<Rule> rules{
        {"GC2: 1x1 convolutions",
         {{"workload", {"forward convolution"}}, {"machine", {"gc2"}}, {"metric", {"flop_rate"}}},
         convolution},
    };
    return rules;
}

} // namespace tessera::calibrate
