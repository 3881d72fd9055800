// SPDX-License-Identifier: MIT
#include "kernels/family/sampled.h"

#include "kernels/family/numbers.h"
#include "kernels/workload/overflow.h"
#include "kernels/workload/reference.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::family {
namespace {

/// Elements of a dense matrix as arithmetic sees them; all types fit into binary32.
std::vector<float> numbers_of(const Value& value) {
    std::vector<float> numbers(static_cast<std::size_t>(value.type.elements()));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<float>(number_at(value, static_cast<std::int64_t>(i)));
    }
    return numbers;
}

struct Sums {
    double value = 0;
    double tolerance = 0; ///< of the sum before it is rounded to the result's type
};

/// Of rows of dy and x, n elements each.
Sums sums_of(const float* dy, const float* x, std::int64_t n, bool half_products) {
    Sums sums;
    double magnitude = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const double product = static_cast<double>(dy[i]) * static_cast<double>(x[i]);
        sums.value += product;
        magnitude += std::fabs(product);
        if (half_products) {
            sums.tolerance += workload::rounding(ElementType::F16, product);
        }
    }
    sums.tolerance += workload::single_precision_error(n) * (magnitude + sums.tolerance);
    return sums;
}

} // namespace

Family sampled_family(std::unique_ptr<Step> (*make)(const Request& request)) {
    Family family{
        "sddmm",
        "da = dy x^T where a sparse matrix a has blocks: the gradient of its values in a x",
        {"a", "dy", "x"},
        {{.key = "partials",
          .says = "as the products with a have them, so that all read one copy; sums here are f32",
          .words = {"f16", "f32"}},
         {.key = "plan",
          .says = "that of the products with a",
          .words = {"fastest", "published"},
          .word = "fastest"}},
        make};
    family.multiplies_first = true;
    family.samples_first = true;
    return family;
}

Sampled sampled_of(const Family& family, const Request& request) {
    const TensorType& a = request.inputs.at(0);
    if (a.sparse == nullptr) {
        throw Refused(0, {}, "got a dense matrix, expected a sparse one");
    }
    require_numbers(request, 0, "a");
    for (const int input : {1, 2}) {
        const TensorType& dense = request.inputs.at(static_cast<std::size_t>(input));
        require_dense(request, input, input == 1 ? "dy" : "x");
        if (dense.type != a.type) {
            throw Refused(
                input, {},
                fmt::format("got {}, expected {} as a has", name_of(dense.type), name_of(a.type)));
        }
        const std::int64_t rows = a.shape.at(input == 1 ? 0 : 1);
        if (dense.shape.size() != 2 || dense.shape[0] != rows) {
            throw Refused(input, {},
                          fmt::format("got {}, expected {} rows as a has {}", shape_text(dense),
                                      rows, input == 1 ? "rows" : "columns"));
        }
    }
    if (request.inputs[1].shape[1] != request.inputs[2].shape[1]) {
        throw Refused(2, {},
                      fmt::format("got {}, expected {} columns as dy has",
                                  shape_text(request.inputs[2]), request.inputs[1].shape[1]));
    }
    Sampled told;
    const std::string partials = word_of(family, request, "partials");
    told.partials = partials.empty() ? a.type : find_element_type(partials)->type;
    if (bytes_of(told.partials) < bytes_of(a.type)) {
        throw Refused(
            -1, "partials",
            fmt::format("got {}, expected at least {}", name_of(told.partials), name_of(a.type)));
    }
    told.plan = word_of(family, request, "plan") == "published" ? workload::PlanKind::Published
                                                                : workload::PlanKind::Fastest;
    return told;
}

Checked compare_sampled(std::span<const Value* const> inputs, const Value& output,
                        bool half_products) {
    const workload::SparsePattern& pattern = *output.type.sparse;
    const std::vector<float> dy = numbers_of(*inputs[1]);
    const std::vector<float> x = numbers_of(*inputs[2]);
    const std::int64_t n = inputs[1]->type.shape.at(1);
    const bool whole = inputs[1]->whole_numbers && inputs[2]->whole_numbers;
    Comparison comparison;
    const std::int64_t b = pattern.block;
    std::int64_t element = 0;
    for (std::int64_t block_row = 0; block_row < pattern.block_rows(); ++block_row) {
        const std::int64_t end = pattern.first_block(block_row + 1);
        for (std::int64_t block = pattern.first_block(block_row); block < end; ++block) {
            for (std::int64_t cell = 0; cell < b * b; ++cell, ++element) {
                const std::int64_t row = block_row * b + cell / b;
                const std::int64_t column = pattern.column_of(block) * b + cell % b;
                const bool is_inside = row < pattern.rows && column < pattern.columns;
                const Sums sums =
                    is_inside ? sums_of(&dy[static_cast<std::size_t>(row * n)],
                                        &x[static_cast<std::size_t>(column * n)], n, half_products)
                              : Sums{};
                const double before = whole ? 0 : sums.tolerance;
                comparison.add_rounded(
                    output.type.type, element_of(output, element), sums.value,
                    before + workload::rounding(output.type.type, std::fabs(sums.value) + before));
            }
        }
    }
    return comparison.finish();
}

} // namespace tessera::family
