// SPDX-License-Identifier: MIT
// Sparse-dense product C[m x n] = A[m x k] * B[k x n], or A^T[k x m] * B[m x n], A sparse in square
// blocks whose places come when the program runs.
//
// Planning knows a capacity: how many blocks there are at most. Each tile has a bucket with room for
// its share of them and for the words that say where they are. Other patterns are other words: the
// program stays. Source: docs/kernels.md#sparse-pattern-known-at-run-time.
#pragma once

#include "kernels/dynamic/encode.h"
#include "kernels/dynamic/layout.h"
#include "kernels/family/family.h"
#include "kernels/workload/operands.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

namespace tessera::dynamic {

/// An operand's plan and layout, which all steps share that read it.
struct Planned {
    Plan plan;
    Layout layout;
};
/// `a`: a sparse operand with a capacity. By the published plan the gradient of the input counts in
/// the choice, whoever asks for it. @throws DoesNotFit where no division can be encoded
[[nodiscard]] Planned planned(const spec::MachineSpec& machine, const family::TensorType& a,
                              ElementType partials, workload::PlanKind plan);

/// A step that reads a sparse operand with a capacity, as the host sees it.
class Encoder {
public:
    Encoder() = default;
    Encoder(const Encoder&) = delete;
    Encoder& operator=(const Encoder&) = delete;
    virtual ~Encoder() = default;

    /// After emit() of the step.
    [[nodiscard]] virtual const Planned& planned() const = 0;
    /// The same. Throws BucketsOverflow, with the excess that would do.
    [[nodiscard]] virtual Encoding encode(const workload::SparsePattern& pattern) const = 0;
};
/// Null of other steps.
[[nodiscard]] const Encoder* encoder_of(const family::Step& step);

/// The product as a step of a pipeline: spmm(a, b), a sparse with a capacity.
[[nodiscard]] const family::Family& family();

} // namespace tessera::dynamic
