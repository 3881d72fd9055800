// SPDX-License-Identifier: MIT
// What is to be computed: a workload with its operands, the program that computes it, and the check
// of its answer.
#pragma once

#include "kernels/workload/workload.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::sim {

/// One operand as the host writes it.
struct HostArray {
    std::string tensor;
    std::span<const std::byte> bytes;
};

/// How the answer compares with the host reference.
struct CheckOutcome {
    bool passed = false;
    nlohmann::json json; ///< the result's `check`
    std::string text;    ///< one line for people
};

class Job {
public:
    virtual ~Job() = default;

    /// Plans for the machine. @throws DoesNotFit, NotModelled
    virtual const program::Program& plan(const spec::MachineSpec& machine) = 0;

    /// After plan().
    [[nodiscard]] virtual std::vector<HostArray> operands() const = 0;
    /// Compares tensor `c`, as read from the machine, on `threads` host threads.
    [[nodiscard]] virtual CheckOutcome check(std::span<const std::byte> c, int threads) const = 0;

    /// What the planner chose, for the result's `plan`.
    [[nodiscard]] virtual nlohmann::json plan_json() const = 0;
    [[nodiscard]] virtual std::int64_t flops() const = 0;
    /// Of the dense product of the same shape; nothing where the product is dense.
    [[nodiscard]] virtual std::optional<std::int64_t> flops_dense_equivalent() const = 0;
    [[nodiscard]] virtual workload::PartialsType partials() const = 0;
    /// "matmul 4096 x 4096 x 4096, f16 partials"
    [[nodiscard]] virtual std::string sentence() const = 0;
};

/// Makes the operands. @throws ConfigError or IoError if a file of the workload is wrong or
/// missing.
[[nodiscard]] std::unique_ptr<Job> make_job(const workload::Workload& workload);

} // namespace tessera::sim
