// SPDX-License-Identifier: MIT
#include "kernels/job/pipeline_job.h"

#include "base/error.h"
#include "base/float16.h"
#include "base/host_memory.h"
#include "kernels/catalog/resolve.h"
#include "kernels/job/number_json.h"
#include "kernels/pipeline/pipeline.h"
#include "kernels/workload/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

namespace tessera::job {
namespace {

using nlohmann::json;
using pipeline::Node;
using workload::PipelineStep;
using workload::PipelineTensor;
using workload::ValuesSpec;

/// Sums of whole numbers are exact up to this: see kernels/workload/values.h.
constexpr std::int64_t kExactLength = workload::kExactSum;

/// Tensors of a pipeline draw from streams of their own.
std::uint64_t seed_of(const workload::PipelineWorkload& workload, std::size_t tensor) {
    constexpr std::uint64_t kApart = 1ULL << 32U;
    return workload.seed + kApart * (tensor + 1);
}

template <class T> std::vector<std::byte> bytes_of_all(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

/// One step over all its rounds.
struct Outcome {
    const Node* node = nullptr;
    std::int64_t rounds = 0;
    family::Checked worst; ///< of the rounds; failing before passing
};

class PipelineJob final : public Job {
public:
    explicit PipelineJob(const workload::PipelineWorkload& workload) : workload_(workload) {}

    const program::Program& plan(const spec::MachineSpec& machine, Operands operands) override {
        catalog::SparseMatrices sparse;
        for (std::size_t i = 0; i < workload_.tensors.size(); ++i) {
            if (workload_.tensors[i].is_sparse()) {
                sparse[workload_.tensors[i].name] = make_sparse(i);
            }
        }
        auto resolved = catalog::resolve(workload_, catalog::families(), sparse);
        if (!resolved.mistakes.empty()) {
            throw ConfigError(std::move(resolved.mistakes));
        }
        pipeline_ = std::move(resolved.pipeline);
        pipeline_.name = sentence();
        if (operands == Operands::Made) {
            need_memory();
        }
        planned_ = pipeline::plan(machine, pipeline_);
        if (operands == Operands::Made) {
            make_values();
        }
        for (const auto& finished : planned_.finished) {
            outcomes_.push_back({finished.node, 0, {}});
        }
        return planned_.lowered.program;
    }

    std::vector<HostArray> operands() const override {
        std::vector<HostArray> arrays;
        for (const auto& write : planned_.writes) {
            const auto& sparse = pipeline_.tensors[write.tensor].type.sparse;
            arrays.push_back({write.standing_as, sparse == nullptr
                                                     ? std::span(given_[write.tensor].bytes)
                                                     : std::as_bytes(std::span(sparse->values))});
        }
        return arrays;
    }

    std::vector<Look> looks() const override {
        std::vector<Look> looks;
        for (const auto& finished : planned_.finished) {
            if (!finished.from_start) {
                looks.push_back({finished.kind, finished.index, finished.standing_as});
            }
        }
        return looks;
    }

    void begun(const ReadTensor& read, int threads) override {
        for (std::size_t i = 0; i < planned_.finished.size(); ++i) {
            if (planned_.finished[i].from_start) {
                look_at(i, read, threads);
            }
        }
    }

    void ended(const program::Step& leaf, const ReadTensor& read, int threads) override {
        for (std::size_t i = 0; i < planned_.finished.size(); ++i) {
            const auto& finished = planned_.finished[i];
            if (!finished.from_start && finished.kind == leaf.kind &&
                finished.index == leaf.index) {
                look_at(i, read, threads);
            }
        }
    }

    CheckOutcome check(const ReadTensor& /*read*/, int /*threads*/) override {
        CheckOutcome made;
        made.passed = true;
        json steps = json::array();
        double worst = 0;
        std::string wrong;
        for (const Outcome& outcome : outcomes_) {
            const bool passed = outcome.worst.passed; // not where there was no round
            made.passed = made.passed && passed;
            worst = std::max(worst, outcome.worst.max_error_over_tolerance);
            if (!passed && wrong.empty()) {
                wrong =
                    fmt::format("WRONG: step {}: {}", outcome.node->name,
                                outcome.rounds == 0 ? "it has not run" : outcome.worst.sentence);
            }
            steps.push_back({{"name", outcome.node->name},
                             {"family", outcome.node->family->name},
                             {"passed", passed},
                             {"rounds", outcome.rounds},
                             {"elements", outcome.worst.elements},
                             {"failed_elements", outcome.worst.failed_elements},
                             {"max_error", number_or_text(outcome.worst.max_error)},
                             {"max_error_over_tolerance",
                              number_or_text(outcome.worst.max_error_over_tolerance)},
                             {"sentence", outcome.worst.sentence}});
        }
        made.text =
            made.passed
                ? fmt::format("within tolerance: {} on the inputs that {} met, worst "
                              "at {:.1f} % of what is allowed",
                              outcomes_.size() == 1 ? "the step"
                                                    : fmt::format("all {} steps", outcomes_.size()),
                              outcomes_.size() == 1 ? "it" : "they", 100 * worst)
                : wrong;
        made.json = {{"passed", made.passed}, {"steps", std::move(steps)}, {"sentence", made.text}};
        return made;
    }

    std::string answer() const override { return planned_.answer; }

    json plan_json() const override {
        json steps = json::array();
        for (const auto& finished : planned_.finished) {
            steps.push_back(
                {{"name", finished.node->name}, {"family", finished.node->family->name}});
        }
        return {{"steps", std::move(steps)},
                {"budget", planned_.budget},
                {"bytes_by_buffer", planned_.lowered.bytes_by_buffer},
                {"bytes_used", planned_.lowered.bytes_used}};
    }

    std::optional<ProductWork> product() const override {
        const double flops = flops_of(pipeline_.steps, [](const Node&) { return true; });
        if (flops == 0) {
            return std::nullopt;
        }
        ProductWork work{static_cast<std::int64_t>(flops), std::nullopt, ElementType::F16};
        work.vector_flops = static_cast<std::int64_t>(
            flops_of(pipeline_.steps, [this](const Node& node) { return is_elementwise(node); }));
        return work;
    }
    Bytes useful_bytes() const override { return 0; }

    std::vector<std::string> notes() const override {
        std::vector<std::string> notes;
        for (std::size_t i = 0; i < workload_.tensors.size(); ++i) {
            const PipelineTensor& told = workload_.tensors[i];
            if (!told.is_sparse()) {
                continue;
            }
            if (const auto why =
                    workload::why_empty(*pipeline_.tensors[i].type.sparse, *told.pattern)) {
                notes.push_back(fmt::format("{} has no non-zeros: {}", told.name, *why));
            }
        }
        return notes;
    }

    std::string sentence() const override {
        std::string text;
        name_families(workload_.steps, text);
        return fmt::format("pipeline of {} tensor{}: {}", workload_.tensors.size(),
                           workload_.tensors.size() == 1 ? "" : "s", text);
    }

private:
    static void name_families(const std::vector<PipelineStep>& steps, std::string& text) {
        for (const PipelineStep& step : steps) {
            if (step.kind == PipelineStep::Kind::Family) {
                text += (text.empty() || text.back() == '(' ? "" : ", ") + step.family;
                continue;
            }
            text += text.empty() || text.back() == '(' ? "" : ", ";
            text += step.kind == PipelineStep::Kind::Repeat
                        ? fmt::format("{} times (", step.repeats)
                    : step.kind == PipelineStep::Kind::Parallel ? "side by side ("
                                                                : "(";
            name_families(step.children, text);
            text += ")";
        }
    }

    /// Of the steps that `counts` says.
    template <class Counts>
    static double flops_of(const std::vector<Node>& nodes, const Counts& counts) {
        double sum = 0;
        for (const Node& node : nodes) {
            if (node.kind != Node::Kind::Step) {
                sum += static_cast<double>(node.repeats) * flops_of(node.children, counts);
            } else if (counts(node)) {
                sum += node.step->flops();
            }
        }
        return sum;
    }

    /// Whether a step multiplies by single non-zeros.
    [[nodiscard]] bool is_elementwise(const Node& node) const {
        return std::any_of(node.inputs.begin(), node.inputs.end(), [this](std::size_t input) {
            const auto& sparse = pipeline_.tensors[input].type.sparse;
            return sparse != nullptr && sparse->block == 1;
        });
    }

    /// Where a pipeline's tensor has what stands at `pointer` in a workload of kind spmm.
    static std::string pointer_in(const PipelineTensor& tensor, const std::string& pointer) {
        if (pointer.empty()) { // of the pattern's file
            return pointer;
        }
        const std::string own = pointer == "/m"   ? "/shape/0"
                                : pointer == "/k" ? "/shape/1"
                                                  : pointer;
        return "/tensors/" + tensor.name + own;
    }

    std::shared_ptr<const workload::SparseF16> make_sparse(std::size_t index) const {
        const PipelineTensor& tensor = workload_.tensors[index];
        workload::SpmmWorkload spmm;
        if (!tensor.shape.empty()) {
            spmm.m = tensor.shape[0];
            spmm.k = tensor.shape[1];
        }
        spmm.n = 1;
        spmm.block = tensor.block;
        spmm.seed = seed_of(workload_, index);
        spmm.values = tensor.values;
        spmm.pattern = *tensor.pattern;
        try {
            return std::make_shared<const workload::SparseF16>(workload::make_sparse(spmm));
        } catch (const ConfigError& error) {
            std::vector<Diagnostic> mistakes = error.diagnostics();
            for (Diagnostic& mistake : mistakes) {
                mistake.pointer = pointer_in(tensor, mistake.pointer);
            }
            throw ConfigError(std::move(mistakes));
        }
    }

    /// Values and a copy of what the steps read and made.
    void need_memory() const {
        double bytes = 0;
        for (const auto& tensor : pipeline_.tensors) {
            bytes +=
                2 * static_cast<double>(tensor.type.sparse == nullptr
                                            ? tensor.type.elements() * bytes_of(tensor.type.type)
                                            : 0);
        }
        need_host_memory(bytes, sentence());
    }

    void make_values() {
        given_.resize(pipeline_.tensors.size());
        for (std::size_t i = 0; i < workload_.tensors.size(); ++i) {
            const PipelineTensor& told = workload_.tensors.at(i);
            family::Value& value = given_[i];
            value.type = pipeline_.tensors[i].type;
            const bool whole = told.values.kind == ValuesSpec::Kind::Integer;
            if (value.type.sparse != nullptr) {
                value.whole_numbers =
                    whole && workload::contraction_length(*value.type.sparse) <= kExactLength;
                continue;
            }
            const auto& shape = value.type.shape;
            const std::int64_t columns = shape.empty() ? 1 : shape.back();
            const std::int64_t rows = value.type.elements() / columns;
            const std::int64_t longest = std::max(rows, columns);
            value.whole_numbers = whole && longest <= kExactLength;
            const auto dense = workload::make_dense(
                rows, columns, told.values, seed_of(workload_, i), workload::Operand::B, longest);
            if (value.type.type == ElementType::F32) {
                std::vector<float> wide(dense.values.size());
                std::transform(dense.values.begin(), dense.values.end(), wide.begin(), f16_to_f32);
                value.bytes = bytes_of_all(wide);
            } else {
                value.bytes = bytes_of_all(dense.values);
            }
        }
        values_ = given_;
    }

    void look_at(std::size_t index, const ReadTensor& read, int threads) {
        const auto& finished = planned_.finished[index];
        const Node& node = *finished.node;
        family::Value output;
        output.type = pipeline_.tensors[node.output].type;
        output.bytes = read(finished.standing_as);
        std::vector<const family::Value*> inputs;
        for (const std::size_t input : node.inputs) {
            inputs.push_back(&values_[input]);
        }
        family::Checked checked = node.step->check(inputs, output, threads);
        Outcome& outcome = outcomes_[index];
        ++outcome.rounds;
        if (outcome.rounds == 1 || !checked.passed ||
            (outcome.worst.passed &&
             checked.max_error_over_tolerance > outcome.worst.max_error_over_tolerance)) {
            outcome.worst = std::move(checked);
        }
        values_[node.output] = std::move(output);
    }

    workload::PipelineWorkload workload_;
    pipeline::Pipeline pipeline_;
    pipeline::Planned planned_;
    std::vector<family::Value> given_;  ///< by tensor, as the host writes it
    std::vector<family::Value> values_; ///< by tensor, as it stands
    std::vector<Outcome> outcomes_;     ///< by planned_.finished
};

} // namespace

std::unique_ptr<Job> make_job(const workload::PipelineWorkload& workload) {
    return std::make_unique<PipelineJob>(workload);
}

} // namespace tessera::job
