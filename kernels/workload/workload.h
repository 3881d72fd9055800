// SPDX-License-Identifier: MIT
// A workload as read from its JSON file: what to compute, not how.
#pragma once

#include "base/element_type.h"
#include "kernels/workload/compute_workloads.h"
#include "kernels/workload/exchange_workloads.h"
#include "kernels/workload/link_workloads.h"
#include "kernels/workload/micro_workloads.h"
#include "kernels/workload/mistake.h"
#include "kernels/workload/operand_spec.h"
#include "kernels/workload/pipeline_workload.h"
#include "kernels/workload/stream_workloads.h"
#include "kernels/workload/top_k_workload.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tessera::workload {

/// Whose choice of splits, places and steps a product uses.
enum class PlanKind {
    Fastest,  ///< the fastest that the planner finds
    Published ///< that of the published planner, for comparison with measured hardware
};

/// Type of a product's result, and of what is added to it.
[[nodiscard]] inline ElementType result_type(ElementType data) {
    return bytes_of(data) == 1 ? ElementType::F16 : data;
}

/// Sums of FP32 products are FP32, of FP8 ones FP16.
[[nodiscard]] inline std::vector<Mistake> wrong_partials(ElementType data, ElementType partials) {
    const ElementType result = result_type(data);
    if ((data == ElementType::F32 || result != data) && partials != result) {
        return {{"partials", fmt::format("got {}, expected {} for dtype {}", name_of(partials),
                                         name_of(result), name_of(data))}};
    }
    return {};
}

/// Where the sum of a product and of what it is added to stands.
enum class Accumulate {
    None, ///< there is none
    Apart,
    Over ///< over what the product is added to
};

/// What is made of a product's elements.
enum class Activation { None, Relu, Gelu };
/// Of each of them, as workloads say it.
inline constexpr std::array<const char*, 3> kActivations{"none", "relu", "gelu"};

template <class Kind> void refuse_values_c(const Kind& kind, std::vector<Mistake>& found) {
    if (kind.values_c && kind.accumulate == Accumulate::None) {
        found.push_back({"values_c", "got values, expected none where accumulate is false"});
    }
}

/// C[m x n] = activation(A[m x k] * B[k x n] + bias), the bias an element for each column, for each
/// of the groups. With accumulate C is added to that. `values` are of all operands but for those that say others.
struct MatmulWorkload {
    std::int64_t groups = 1;
    std::int64_t m = 0;
    std::int64_t k = 0;
    std::int64_t n = 0;
    ElementType dtype = ElementType::F16;    ///< or F32
    ElementType partials = ElementType::F16; ///< or F32: always with a dtype of F32
    bool transpose_a = false;                ///< the left operand is given as its transpose
    bool transpose_b = false;                ///< the right one
    bool bias = false;
    Activation activation = Activation::None;
    Accumulate accumulate = Accumulate::None;
    bool unmirrored = false; ///< C = A B is what tiles multiply, never C' = B' A'
    PlanKind plan = PlanKind::Fastest;
    std::uint64_t seed = 1;
    ValuesSpec values;
    std::optional<ValuesSpec> values_a;
    std::optional<ValuesSpec> values_b;
    std::optional<ValuesSpec> values_bias;
    std::optional<ValuesSpec> values_c; ///< before the product is added to it

    [[nodiscard]] const ValuesSpec& of_a() const { return values_a ? *values_a : values; }
    [[nodiscard]] const ValuesSpec& of_b() const { return values_b ? *values_b : values; }
    [[nodiscard]] const ValuesSpec& of_bias() const { return values_bias ? *values_bias : values; }
    [[nodiscard]] const ValuesSpec& of_c() const { return values_c ? *values_c : values; }

    [[nodiscard]] std::vector<Mistake> mistakes() const {
        std::vector<Mistake> found = wrong_partials(dtype, partials);
        if (values_bias && !bias) {
            found.push_back({"values_bias", "got values, expected none where bias is false"});
        }
        refuse_values_c(*this, found);
        return found;
    }
};

/// C[m x n] = A[m x k] * B[k x n], A sparse in square blocks of `block`, pattern known when
/// planning; with accumulate C is added to that. m and k of 0 mean: as the pattern file says.
struct SpmmWorkload {
    std::int64_t m = 0;
    std::int64_t k = 0;
    std::int64_t n = 0;
    std::int64_t block = 1;                  ///< 1, 4, 8 or 16
    ElementType dtype = ElementType::F16;    ///< or F32
    ElementType partials = ElementType::F16; ///< or F32: always with a dtype of F32
    bool transpose_a = false;                ///< the left operand is given as its transpose
    bool transpose_b = false;                ///< the right one
    Accumulate accumulate = Accumulate::None;
    PlanKind plan = PlanKind::Fastest;
    std::uint64_t seed = 1;
    ValuesSpec values;
    /// All elements of A have these, and kept blocks have theirs. Nothing: `values` are of kept ones alone.
    std::optional<ValuesSpec> whole_a = {};
    std::optional<ValuesSpec> values_b; ///< of B
    std::optional<ValuesSpec> values_c; ///< before the product is added to it
    PatternSpec pattern;
    bool is_dynamic = false; ///< the pattern comes when the program runs
    double capacity = 0;     ///< of blocks, dynamic: a density; 0: as the pattern has
    double excess = 0.3;     ///< dynamic: room of a tile beyond its even share

    [[nodiscard]] const ValuesSpec& of_b() const { return values_b ? *values_b : values; }
    [[nodiscard]] const ValuesSpec& of_c() const { return values_c ? *values_c : values; }

    [[nodiscard]] std::vector<Mistake> mistakes() const {
        std::vector<Mistake> found = wrong_partials(dtype, partials);
        refuse_values_c(*this, found);
        return found;
    }
};

struct Workload {
    std::string name; ///< file name without directory and ending
    std::variant<MatmulWorkload, SpmmWorkload, SyncWorkload, ExchangePatternWorkload,
                 SelfCopyWorkload, RearrangeWorkload, MemoryStreamWorkload, ReductionWorkload,
                 StencilWorkload, RemoteBufferWorkload, HostTransferWorkload, StreamedTriadWorkload,
                 TopKWorkload, CollectiveWorkload, LinkPatternWorkload, PipelineWorkload>
        kind;
};

} // namespace tessera::workload
