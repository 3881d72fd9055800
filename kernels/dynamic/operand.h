// SPDX-License-Identifier: MIT
// A sparse operand with a capacity on a machine: its plan, which all steps share that read it, and its
// values and places as the host writes them.
#pragma once

#include "kernels/dynamic/encode.h"
#include "kernels/dynamic/layout.h"
#include "kernels/family/family.h"
#include "kernels/workload/operands.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace tessera::dynamic {

class Operand {
public:
    /// `a` has a capacity. By the published plan the gradient of the input counts in the choice, whoever
    /// asks for it. @throws DoesNotFit where no division can be encoded
    Operand(spec::MachineSpec machine, family::TensorType a, ElementType partials,
            workload::PlanKind kind);

    [[nodiscard]] const Plan& plan() const { return plan_; }
    [[nodiscard]] const Layout& layout() const { return layout_; }

    /// @throws BucketsOverflow, with the excess that would do
    [[nodiscard]] Encoding encode(const workload::SparsePattern& pattern) const;
    /// Adds the places where a step will find it: family::Step::stand().
    [[nodiscard]] family::Emitted stand(graph::Graph& graph, const family::Site& site) const;

    /// Values in the order of the buckets (none if there are none), metadata, and the control tile's
    /// words where buckets may travel. @throws BucketsOverflow
    [[nodiscard]] std::vector<std::vector<std::byte>> encoded(const family::Value& a) const;
    /// Values in the order of a pattern's blocks, of those in the order of its buckets.
    [[nodiscard]] std::vector<std::byte> decoded(const std::vector<std::byte>& buckets,
                                                 const family::TensorType& a) const;

private:
    [[nodiscard]] const Encoding& encoding_of(const family::TensorType& a) const;

    spec::MachineSpec machine_;
    family::TensorType a_;
    ElementType partials_;
    workload::PlanKind kind_;
    Plan plan_;
    Layout layout_;
    /// The last one that was asked for, and of what.
    mutable std::shared_ptr<const workload::SparsePattern> pattern_;
    mutable Encoding encoding_;
};

/// A step that reads one.
class OperandOwner {
public:
    OperandOwner() = default;
    OperandOwner(const OperandOwner&) = delete;
    OperandOwner& operator=(const OperandOwner&) = delete;
    virtual ~OperandOwner() = default;
    /// After emit() of the step, or stand().
    [[nodiscard]] virtual const Operand& operand() const = 0;
};

} // namespace tessera::dynamic
