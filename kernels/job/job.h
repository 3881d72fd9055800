// SPDX-License-Identifier: MIT
// What is to be computed: a workload with its operands, the program that computes it, and the check
// of its answer.
#pragma once

#include "kernels/family/family.h"
#include "kernels/plan/predicted_cycles.h"
#include "kernels/workload/workload.h"
#include "models/program/array_id.h"
#include "models/program/program.h"
#include "models/program/system_program.h"
#include "models/spec/machine_spec.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::job {

/// One operand as the host writes it.
struct HostArray {
    program::ArrayId array;
    std::span<const std::byte> bytes;
    std::size_t chip = 0;
};

/// A tensor that the workload is run for, as the host sees it: row-major.
struct Result {
    std::string name; ///< as its user calls it
    program::ArrayId array;
    ElementType type = ElementType::F16;
    std::vector<std::int64_t> shape;
};

/// How the answer compares with the host reference.
struct CheckOutcome {
    bool passed = false;
    nlohmann::json json; ///< the result's `check`
    std::string text;    ///< one line for people
    std::string warning; ///< what is right and yet not wanted, as a sentence; empty: nothing
};

using family::ProductWork;

/// The estimate by the closed forms of a family's planner, without a program.
struct Estimate {
    std::string family;
    plan::PredictedCycles predicted;
    bool uses_matrix_unit = false;
    nlohmann::json plan; ///< what was chosen by them, for the result's `plan`
};

/// The patterns that a tensor of a pipeline has had.
struct PatternFacts {
    std::string tensor;
    std::int64_t patterns = 0;
    std::vector<std::int64_t> went; ///< of each change: blocks that went
    bool is_drawn_instead = false; ///< the schedule goes by values, which timing mode does not know
};

/// The row-major array of a tensor of the program, or all rows of a remote buffer, as the run left
/// it.
using ReadArray = std::function<std::vector<std::byte>(program::ArrayId array)>;

/// The same of a chip.
using ReadChip = std::function<std::vector<std::byte>(std::size_t chip, program::ArrayId array)>;

/// A tensor that a job wants to see as a compute set, an exchange or a stream copy of its program leaves
/// it.
struct Look {
    program::Step::Kind kind = program::Step::Kind::ComputeSet;
    std::uint32_t index = 0;
    program::ArrayId tensor;
};

/// A sparse matrix whose pattern comes when the program runs, and the step by whose plan the host
/// encodes it. Steps with other plans have buckets of their own.
struct EncodedMatrix {
    std::string tensor;
    std::string step; ///< a workload of kind spmm has none
    const family::TensorType* type = nullptr;
    const family::Step* encoder = nullptr;
};

/// The operands whose values plan() makes: all, those that timing mode knows, or none.
enum class Operands { Made, Known, None };

class Job {
public:
    virtual ~Job() = default;

    /// Makes what does not depend on the machine (patterns, and operands if they are wanted), so that
    /// copies of the process have it; plan() otherwise does it. @throws as plan()
    virtual void share(Operands /*operands*/) {}

    /// Plans for the machine and makes the operands, if they are wanted. @throws DoesNotFit, NotModelled; ConfigError
    /// or IoError if a file of the workload is wrong or missing; OutOfHostMemory
    virtual const program::Program& plan(const spec::MachineSpec& machine, Operands operands) = 0;
    const program::Program& plan(const spec::MachineSpec& machine) {
        return plan(machine, Operands::Made);
    }

    /// After plan(): the programs of a system's chips, of which plan() has given that of chip 0; null for
    /// a workload of one chip.
    [[nodiscard]] virtual const program::SystemProgram* system() const { return nullptr; }

    /// By closed forms instead of plan(): patterns are made, and nothing else. Nothing where there
    /// are none for such a workload. @throws as plan()
    [[nodiscard]] virtual std::optional<Estimate> estimate(const spec::MachineSpec& /*machine*/) {
        return std::nullopt;
    }

    /// After plan(): those that it made. Rows that asked() gives are not among them.
    [[nodiscard]] virtual std::vector<HostArray> operands() const = 0;
    /// After plan(), in the order in which steps read them.
    [[nodiscard]] virtual std::vector<EncodedMatrix> encoded_matrices() const { return {}; }
    /// While the program runs: copy `copy` begins to read rows from `row` on of a buffer in the host's
    /// memory. `rows` are as operands() and copies have left them, and may be written; `read` has what
    /// copies have left in other buffers.
    virtual void asked(std::uint32_t /*copy*/, std::int64_t /*row*/, std::span<std::byte> /*rows*/,
                       const ReadArray& /*read*/) {}
    /// While the program runs: the bytes of stream copy `copy` stand in the tiles. For the check.
    virtual void arrived(std::uint32_t /*copy*/, const ReadArray& /*read*/) {}
    /// After plan().
    [[nodiscard]] virtual std::vector<Look> looks() const { return {}; }
    /// Before the program runs, with its operands in place. For the check, on `threads` host threads.
    virtual void begun(const ReadArray& /*read*/, int /*threads*/) {}
    /// While the program runs: a step of looks() has ended, of a stream copy with the row; `read` has
    /// what they name. For the check, on `threads` host threads.
    virtual void ended(const program::Step& /*leaf*/, const ReadArray& /*read*/, int /*threads*/) {}
    /// After plan(): the stream copy that a round of a sequence of patterns begins with; nothing where
    /// there is none.
    [[nodiscard]] virtual std::optional<std::uint32_t> round_copy() const { return std::nullopt; }
    /// After the run.
    [[nodiscard]] virtual std::vector<PatternFacts> patterns() const { return {}; }
    /// Host seconds in which patterns were made and encoded while the program ran.
    [[nodiscard]] virtual double encode_s() const { return 0; }
    /// Compares what the run left with the host reference, on `threads` host threads.
    [[nodiscard]] virtual CheckOutcome check(const ReadArray& read, int threads) = 0;
    /// The same of a workload of several chips.
    [[nodiscard]] virtual CheckOutcome check_chips(const ReadChip& read, int threads) {
        return check([&](program::ArrayId array) { return read(0, array); }, threads);
    }
    /// After plan(). The first one is the answer; none where bytes are moved for their own sake.
    [[nodiscard]] virtual std::vector<Result> results() const = 0;

    /// What the planner chose, for the result's `plan`.
    [[nodiscard]] virtual nlohmann::json plan_json() const = 0;
    /// After plan() or estimate(). Nothing where the workload does not multiply.
    [[nodiscard]] virtual std::optional<ProductWork> product() const = 0;
    /// Bytes that the workload moves for its user, whatever way they take; 0: it moves none.
    [[nodiscard]] virtual Bytes useful_bytes() const = 0;
    /// After plan() or estimate(). What a user should know of the workload before using figures of it:
    /// "a has no non-zeros: density 1e-06 rounds to no block of 1 x 1 in 2048 x 2048".
    [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
    /// After plan() or estimate(). Sparse matrices without non-zeros, of which the figures of a run
    /// say nothing.
    [[nodiscard]] virtual std::int64_t empty_matrices() const { return 0; }
    /// "matmul 4096 x 4096 x 4096, f16 partials"
    [[nodiscard]] virtual std::string sentence() const = 0;
};

[[nodiscard]] std::unique_ptr<Job> make_job(const workload::Workload& workload);

} // namespace tessera::job
