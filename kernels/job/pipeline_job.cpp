// SPDX-License-Identifier: MIT
#include "kernels/job/pipeline_job.h"

#include "base/error.h"
#include "base/host_memory.h"
#include "base/stopwatch.h"
#include "kernels/catalog/resolve.h"
#include "kernels/exchange_plan/known_schedules.h"
#include "kernels/family/product.h"
#include "kernels/job/number_json.h"
#include "kernels/job/pattern_sequence.h"
#include "kernels/pipeline/pipeline.h"
#include "kernels/workload/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <span>

namespace tessera::job {
namespace {

using nlohmann::json;
using pipeline::Node;
using workload::PipelineStep;
using workload::PipelineTensor;
using workload::ValuesSpec;

json json_of(const family::Cuts& cuts, const plan::PredictedCycles& predicted) {
    json made{{"parts_m", cuts.parts_m},
              {"parts_k", cuts.parts_k},
              {"parts_n", cuts.parts_n},
              {"chunks", cuts.chunks},
              {"paired", family::name_of(cuts.paired)},
              {"predicted_cycles",
               {{"compute", predicted.compute},
                {"exchange", predicted.exchange},
                {"sync", predicted.sync},
                {"reduction", predicted.reduction},
                {"total", predicted.total()}}}};
    if (cuts.is_mirrored) {
        made["mirrored"] = true;
    }
    return made;
}

std::string sentence_of(const workload::CheckResult& result) {
    if (result.passed) {
        const std::string overflow =
            result.overflow.elements == 0 ? "" : "; " + workload::overflow_text(result);
        return (result.exact_required
                    ? fmt::format("exact: all {} elements equal the reference", result.elements)
                    : fmt::format(
                          "within tolerance: worst error {:.3g}, {:.1f} % of what is allowed",
                          result.max_error, 100 * result.max_error_over_tolerance)) +
               overflow;
    }
    return fmt::format(
        "WRONG: {} of {} elements, {} of them not finite; worst at row {} column {}: "
        "got {}, expected {}",
        result.failed_elements, result.elements, result.non_finite_elements, result.worst_row,
        result.worst_column, result.worst_got, result.worst_expected);
}

CheckOutcome outcome_of(const workload::CheckResult& result, std::int64_t roundings) {
    CheckOutcome outcome;
    outcome.passed = result.passed;
    outcome.text = sentence_of(result);
    if (result.overflow.elements > 0) {
        outcome.warning = workload::overflow_text(result);
    }
    outcome.json = {{"passed", result.passed},
                    {"exact_required", result.exact_required},
                    {"elements", result.elements},
                    {"failed_elements", result.failed_elements},
                    {"non_finite_elements", result.non_finite_elements},
                    {"overflowed_elements", result.overflow.elements},
                    {"tolerance", result.tolerance},
                    {"roundings", roundings},
                    {"max_error", number_or_text(result.max_error)},
                    {"max_error_over_tolerance", number_or_text(result.max_error_over_tolerance)},
                    {"worst_row", result.worst_row},
                    {"worst_column", result.worst_column},
                    {"sentence", outcome.text}};
    return outcome;
}

/// One step over all its rounds.
struct Outcome {
    const Node* node = nullptr;
    bool may_not_run = false;
    std::int64_t rounds = 0;
    family::Checked worst; ///< of the rounds; failing before passing
    std::int64_t overflowed_rounds = 0;
    std::string overflow; ///< of the first of them, as a sentence
};

class PipelineJob final : public Job {
public:
    explicit PipelineJob(Source source) : source_(std::move(source)) {}

    void share(Operands operands) override {
        make_matrices();
        resolve();
        make_values(operands);
    }

    /// Tells what does not fit the machine before the host has its operands, and mistakes of files
    /// before a long plan.
    const program::Program& plan(const spec::MachineSpec& machine, Operands operands) override {
        const bool made = operands == Operands::Made;
        const auto& draws = source_.draws;
        share(made && std::any_of(draws.begin(), draws.end(),
                                  [](const Draw& draw) {
                                      return draw.values.kind == ValuesSpec::Kind::File;
                                  })
                  ? Operands::Made
                  : Operands::None);
        planned_ = pipeline::plan(machine, pipeline_, known_schedules_);
        next_.clear();
        encode_s_ = 0;
        outcomes_.clear();
        for (const auto& finished : planned_.finished) {
            outcomes_.push_back({finished.node, finished.may_not_run, 0, {}, 0, {}});
        }
        if (made) {
            need_memory();
        }
        make_values(operands);
        encode(operands);
        return planned_.lowered.program;
    }

    std::optional<Estimate> estimate(const spec::MachineSpec& machine) override {
        share(Operands::None);
        const Node* node = only_step();
        if (node == nullptr) {
            return std::nullopt;
        }
        const auto estimate = node->step->estimate(machine);
        if (!estimate) {
            return std::nullopt;
        }
        json chosen = json_of(estimate->cuts, estimate->predicted);
        chosen["bytes_estimated"] = estimate->bytes;
        return Estimate{std::string(node->family->name), estimate->predicted,
                        !is_elementwise(*node), std::move(chosen)};
    }

    std::vector<HostArray> operands() const override {
        std::vector<HostArray> arrays;
        for (const auto& write : planned_.writes) {
            if (write.encoder != nullptr) {
                const std::vector<std::byte>& form =
                    encoded_.at({write.encoder, write.tensor}).at(write.form);
                if (!form.empty()) { // else they are not known
                    arrays.push_back({write.array, form});
                }
            } else if (given_[write.tensor] != nullptr) {
                arrays.push_back({write.array, given_[write.tensor]->bytes});
            }
        }
        return arrays;
    }

    std::vector<EncodedMatrix> encoded_matrices() const override {
        std::vector<EncodedMatrix> matrices;
        for (const auto& write : planned_.writes) {
            if (write.encoder == nullptr || write.form != 0 ||
                pipeline_.tensors[write.tensor].like) {
                continue;
            }
            const auto step = std::ranges::find_if(planned_.finished, [&](const auto& finished) {
                return finished.node->step.get() == write.encoder;
            });
            const pipeline::Tensor& tensor = pipeline_.tensors[write.tensor];
            matrices.push_back({tensor.name, step->node->name, &tensor.type, write.encoder});
        }
        return matrices;
    }

    void asked(std::uint32_t copy, std::int64_t row, std::span<std::byte> rows,
               const ReadArray& read) override {
        const auto buffer =
            program::remote_buffer(planned_.lowered.program.stream_copies.at(copy).buffer);
        for (const auto& asked : planned_.asked) {
            if (asked.array == buffer && asked.encoder != nullptr) {
                give_next(asked, rows, read);
            } else if (asked.array == buffer && given_[asked.tensor] != nullptr) {
                const family::Value& given = *given_[asked.tensor];
                const std::size_t first = bounds_of(given, row).first;
                std::memcpy(rows.data(), &given.bytes[first], rows.size());
            }
        }
    }

    std::optional<std::uint32_t> round_copy() const override {
        for (const auto& asked : planned_.asked) {
            const auto& copies = planned_.lowered.program.stream_copies;
            const auto first = std::ranges::find_if(copies, [&](const auto& copy) {
                return asked.encoder != nullptr &&
                       program::remote_buffer(copy.buffer) == asked.array;
            });
            if (first != copies.end()) {
                return static_cast<std::uint32_t>(first - copies.begin());
            }
        }
        return std::nullopt;
    }
    std::vector<PatternFacts> patterns() const override {
        std::vector<PatternFacts> facts;
        for (const auto& [tensor, next] : next_) {
            facts.push_back({pipeline_.tensors[tensor].name, next.patterns.changes() + 1,
                             next.patterns.went(), next.patterns.is_drawn_instead()});
        }
        return facts;
    }
    double encode_s() const override { return encode_s_; }

    std::vector<Look> looks() const override {
        std::vector<Look> looks;
        if (source_.is_kind) { // nothing comes behind its step
            return looks;
        }
        for (const auto& finished : planned_.finished) {
            for (const graph::Leaf& leaf : finished.leaves) {
                for (const program::ArrayId output : finished.outputs) {
                    looks.push_back({leaf.kind, leaf.index, output});
                }
            }
        }
        return looks;
    }

    void begun(const ReadArray& read, int threads) override {
        for (std::size_t i = 0; i < planned_.finished.size(); ++i) {
            if (planned_.finished[i].from_start && !source_.is_kind) {
                look_at(i, 0, read, threads);
            }
        }
    }

    void ended(const program::Step& leaf, const ReadArray& read, int threads) override {
        for (std::size_t i = 0; i < planned_.finished.size(); ++i) {
            const auto& finished = planned_.finished[i];
            const auto& leaves = finished.leaves;
            if (std::find(leaves.begin(), leaves.end(), graph::Leaf{leaf.kind, leaf.index}) !=
                leaves.end()) {
                look_at(i, row_of(leaf, i), read, threads);
            }
        }
    }

    /// The row of a load or a store. What IO tiles have brought ahead comes once in each round, and so do
    /// rows on the tiles.
    [[nodiscard]] std::int64_t row_of(const program::Step& leaf, std::size_t finished) const {
        const Node& node = *planned_.finished[finished].node;
        const bool is_counted = node.prefetch > 0 || moves_stacked(node);
        return is_counted ? node.row + outcomes_[finished].rounds % node.rounds * node.row_a_round
                          : index_of(leaf);
    }
    [[nodiscard]] bool moves_stacked(const Node& node) const {
        return (node.kind == Node::Kind::Load && pipeline_.tensors[node.inputs.front()].in_rows) ||
               (node.kind == Node::Kind::Store &&
                pipeline_.tensors[node.outputs.front().value()].in_rows);
    }

    CheckOutcome check(const ReadArray& read, int threads) override {
        if (source_.is_kind) {
            outcomes_.front() = {planned_.finished.front().node, false, 0, {}, 0, {}};
            look_at(0, 0, read, threads);
            const Outcome& only = outcomes_.front();
            return outcome_of(only.worst, only.node->step->division()->roundings);
        }
        CheckOutcome made;
        json steps = json::array();
        double worst = 0;
        std::string overflows;
        std::string wrong = changed_result(read);
        made.passed = wrong.empty();
        for (const Outcome& outcome : outcomes_) {
            const bool has_run = outcome.rounds > 0;
            const bool passed = has_run ? outcome.worst.passed : outcome.may_not_run;
            const std::string sentence = has_run ? outcome.worst.sentence : "it has not run";
            made.passed = made.passed && passed;
            worst = std::max(worst, outcome.worst.max_error_over_tolerance);
            if (!passed && wrong.empty()) {
                wrong = fmt::format("WRONG: step {}: {}", outcome.node->name, sentence);
            }
            if (outcome.overflowed_rounds > 0) {
                overflows += (overflows.empty() ? "" : "; ") + outcome.overflow;
            }
            steps.push_back({{"name", outcome.node->name},
                             {"family", family_of(*outcome.node)},
                             {"passed", passed},
                             {"rounds", outcome.rounds},
                             {"elements", outcome.worst.elements},
                             {"failed_elements", outcome.worst.failed_elements},
                             {"overflowed_rounds", outcome.overflowed_rounds},
                             {"max_error", number_or_text(outcome.worst.max_error)},
                             {"max_error_over_tolerance",
                              number_or_text(outcome.worst.max_error_over_tolerance)},
                             {"sentence", sentence}});
        }
        made.text =
            made.passed
                ? fmt::format("within tolerance: {} on the inputs that {} met, worst "
                              "at {:.1f} % of what is allowed",
                              outcomes_.size() == 1 ? "the step"
                                                    : fmt::format("all {} steps", outcomes_.size()),
                              outcomes_.size() == 1 ? "it" : "they", 100 * worst)
                : wrong;
        made.text += overflows.empty() || !made.passed ? "" : "; " + overflows;
        made.warning = std::move(overflows);
        made.json = {{"passed", made.passed}, {"steps", std::move(steps)}, {"sentence", made.text}};
        return made;
    }

    std::vector<Result> results() const override {
        std::vector<Result> results;
        for (const auto& result : planned_.results) {
            const pipeline::Tensor& tensor = pipeline_.tensors[result.tensor];
            const bool is_outside = result.array.kind == program::ArrayId::Kind::RemoteBuffer;
            results.push_back(
                {tensor.name, result.array, tensor.type.type,
                 is_outside ? tensor.type.shape
                            : planned_.lowered.program.tensors.at(result.array.index).shape});
        }
        return results;
    }

    json plan_json() const override {
        if (source_.is_kind) {
            return plan_of(*pipeline_.steps.front().step->division());
        }
        json steps = json::array();
        for (const auto& finished : planned_.finished) {
            steps.push_back({{"name", finished.node->name}, {"family", family_of(*finished.node)}});
        }
        return {{"steps", std::move(steps)},
                {"budget", planned_.budget},
                {"bytes_by_buffer", planned_.lowered.bytes_by_buffer},
                {"bytes_used", planned_.lowered.bytes_used}};
    }

    std::optional<ProductWork> product() const override {
        if (source_.is_kind) {
            return pipeline_.steps.front().step->product();
        }
        if (decides(pipeline_.steps)) { // nobody knows how often steps run
            return std::nullopt;
        }
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

    std::int64_t empty_matrices() const override {
        return std::count_if(
            pipeline_.tensors.begin(), pipeline_.tensors.end(), [](const auto& tensor) {
                return tensor.type.sparse != nullptr && tensor.type.sparse->blocks() == 0;
            });
    }
    std::vector<std::string> notes() const override {
        std::vector<std::string> notes;
        for (std::size_t i = 0; i < source_.draws.size(); ++i) {
            const auto& matrix = matrices_.at(i).pattern;
            if (matrix == nullptr) {
                continue;
            }
            if (const auto why = workload::why_empty(*matrix, source_.draws[i].sparse->pattern)) {
                notes.push_back(
                    fmt::format("{} has no non-zeros: {}", pipeline_.tensors[i].name, *why));
            }
        }
        return notes;
    }

    std::string sentence() const override {
        if (source_.is_kind) {
            return pipeline_.steps.front().step->sentence();
        }
        std::string text;
        const auto& pipeline = source_.pipeline;
        name_families(pipeline.steps, text);
        return fmt::format("pipeline of {} tensor{}: {}", pipeline.tensors.size(),
                           pipeline.tensors.size() == 1 ? "" : "s", text);
    }

private:
    /// "10 times ("
    static std::string words_before(const PipelineStep& step) {
        switch (step.kind) {
        case PipelineStep::Kind::Repeat:
            return fmt::format("{} times (", step.repeats);
        case PipelineStep::Kind::While:
            return fmt::format("while {} (", step.word);
        case PipelineStep::Kind::If:
            return fmt::format("if {} (", step.word);
        case PipelineStep::Kind::Parallel:
            return "side by side (";
        case PipelineStep::Kind::Family:
        case PipelineStep::Kind::Codelet:
        case PipelineStep::Kind::Load:
        case PipelineStep::Kind::Store:
        case PipelineStep::Kind::Next:
        case PipelineStep::Kind::Branch:
            break;
        }
        return "(";
    }

    /// Or what a step is that has none.
    static std::string family_of(const Node& node) {
        return node.kind == Node::Kind::Load    ? "load"
               : node.kind == Node::Kind::Next  ? "next"
               : node.kind == Node::Kind::Store ? "store"
                                                : std::string(node.family->name);
    }

    static bool decides(const std::vector<Node>& nodes) {
        return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
            return node.kind == Node::Kind::While || node.kind == Node::Kind::If ||
                   decides(node.children);
        });
    }

    /// "relu", "load x"
    static std::string called(const PipelineStep& step) {
        switch (step.kind) {
        case PipelineStep::Kind::Family:
            return step.family;
        case PipelineStep::Kind::Codelet:
            return "codelet " + step.own->source;
        case PipelineStep::Kind::Load:
            return "load " + step.inputs.at(0);
        case PipelineStep::Kind::Next:
            return "next " + step.inputs.at(0);
        default:
            return "store " + step.inputs.at(0);
        }
    }

    static void name_families(const std::vector<PipelineStep>& steps, std::string& text) {
        for (const PipelineStep& step : steps) {
            if (step.is_leaf()) {
                text += text.empty() || text.back() == '(' ? "" : ", ";
                text += called(step);
                continue;
            }
            text += text.empty() || text.back() == '(' ? "" : ", ";
            text += words_before(step);
            name_families(step.children, text);
            text += ")";
            if (!step.otherwise.empty()) {
                text += " else (";
                name_families(step.otherwise, text);
                text += ")";
            }
        }
    }

    /// Of the steps that `counts` says.
    template <class Counts>
    static double flops_of(const std::vector<Node>& nodes, const Counts& counts) {
        double sum = 0;
        for (const Node& node : nodes) {
            if (!node.children.empty()) {
                sum += static_cast<double>(node.repeats) * flops_of(node.children, counts);
            } else if (node.step != nullptr && counts(node)) {
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

    json plan_of(const family::Division& division) const {
        json plan = json_of(division, division.predicted);
        plan["tiles_busy"] = division.tiles_busy;
        plan["bytes_by_buffer"] = planned_.lowered.bytes_by_buffer;
        plan["bytes_used"] = planned_.lowered.bytes_used;
        if (pipeline_.tensors.front().type.shape.size() > 2) {
            plan["groups_at_once"] = division.groups_at_once;
        }
        return plan;
    }

    /// The step that the pipeline is, and nothing else; null: it is more than that.
    [[nodiscard]] const Node* only_step() const {
        const auto& steps = pipeline_.steps;
        const bool is_one = steps.size() == 1 && steps.front().kind == Node::Kind::Step &&
                            std::none_of(pipeline_.tensors.begin(), pipeline_.tensors.end(),
                                         [](const auto& tensor) { return tensor.row_major; });
        return is_one ? &steps.front() : nullptr;
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

    void make_matrices() {
        if (!matrices_.empty()) {
            return;
        }
        std::vector<GivenMatrix> made(source_.draws.size());
        for (std::size_t i = 0; i < made.size(); ++i) {
            if (source_.draws[i].sparse) {
                made[i] = make_matrix(i);
            }
        }
        matrices_ = std::move(made);
    }

    [[nodiscard]] GivenMatrix make_matrix(std::size_t index) const {
        try {
            return given_matrix(source_.draws[index]);
        } catch (const ConfigError& error) {
            if (source_.is_kind) {
                throw;
            }
            std::vector<Diagnostic> mistakes = error.diagnostics();
            for (Diagnostic& mistake : mistakes) {
                mistake.pointer = pointer_in(source_.pipeline.tensors[index], mistake.pointer);
            }
            throw ConfigError(std::move(mistakes));
        }
    }

    void resolve() {
        if (!pipeline_.steps.empty()) {
            return;
        }
        catalog::SparseMatrices sparse;
        auto& tensors = source_.pipeline.tensors;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            if (const auto& matrix = matrices_[i].pattern) {
                sparse[tensors[i].name] = matrix;
                tensors[i].shape = {matrix->rows, matrix->columns};
            } else if (const auto of = source_.draws[i].of_sparse) {
                const workload::SparsePattern& of_matrix = *matrices_[*of].pattern;
                tensors[i].shape.front() = source_.draws[i].operand == workload::Operand::C
                                               ? of_matrix.rows
                                               : of_matrix.columns;
            }
        }
        auto resolved = catalog::resolve(source_.pipeline, catalog::families(), sparse);
        if (!resolved.mistakes.empty()) {
            throw ConfigError(std::move(resolved.mistakes));
        }
        pipeline_ = std::move(resolved.pipeline);
        if (source_.is_kind) {
            pipeline_.steps.front().name.clear();
        }
        pipeline_.name = sentence();
    }

    /// Counts what the host gives, what the steps make, and what references are computed from.
    void need_memory() const {
        constexpr double kReferenceBytes = 12; // binary64, and magnitudes in binary32
        double bytes = 0;
        for (const auto& tensor : pipeline_.tensors) {
            bytes +=
                static_cast<double>(tensor.type.stored_elements() * bytes_of(tensor.type.type));
        }
        bytes += kReferenceBytes * largest_right(pipeline_.steps);
        need_host_memory(bytes, sentence());
    }
    /// Elements of the largest right operand.
    [[nodiscard]] double largest_right(const std::vector<Node>& nodes) const {
        double largest = 0;
        for (const Node& node : nodes) {
            if (node.step != nullptr && node.step->product()) {
                largest = std::max(largest, static_cast<double>(
                                                pipeline_.tensors[node.inputs[1]].type.elements()));
            }
            largest =
                std::max({largest, largest_right(node.children), largest_right(node.otherwise)});
        }
        return largest;
    }

    void make_values(Operands operands) {
        auto made = given_;
        made.resize(pipeline_.tensors.size());
        for (std::size_t i = 0; i < source_.draws.size(); ++i) {
            const bool wanted = operands == Operands::Made ||
                                (operands == Operands::Known && pipeline_.tensors[i].type.known);
            if (wanted && made[i] == nullptr) {
                made[i] = std::make_shared<const family::Value>(value_of(i));
            }
        }
        given_ = std::move(made);
        values_ = given_;
        stored_.clear();
    }
    /// Tensors with a capacity, as the steps that read them have them. Timing mode knows where their
    /// blocks are, and no values.
    void encode(Operands operands) {
        encoded_.clear();
        for (const auto& write : planned_.writes) {
            if (operands == Operands::None || write.encoder == nullptr ||
                encoded_.contains({write.encoder, write.tensor})) {
                continue;
            }
            const auto& given = given_[write.tensor];
            encoded_[{write.encoder, write.tensor}] = encoded(
                write,
                given != nullptr ? *given
                                 : family::Value{pipeline_.tensors[write.tensor].type, {}, false},
                0);
        }
    }
    [[nodiscard]] static family::Value sparse_value(family::TensorType type, const Draw& draw,
                                                    std::vector<std::byte> values) {
        const bool whole =
            draw.values.kind == ValuesSpec::Kind::Integer &&
            (draw.is_exact || workload::contraction_length(*type.sparse) <= workload::kExactSum);
        return {std::move(type), std::move(values), whole};
    }
    [[nodiscard]] family::Value value_of(std::size_t tensor) {
        const Draw& draw = source_.draws[tensor];
        const family::TensorType& type = pipeline_.tensors[tensor].type;
        if (draw.sparse) {
            return sparse_value(type, draw, std::move(matrices_[tensor].values));
        }
        if (pipeline_.tensors[tensor].like) {
            const Bytes bytes = type.stored_elements() * bytes_of(type.type);
            return {type, std::vector<std::byte>(static_cast<std::size_t>(bytes)), false};
        }
        return given_values(
            type, draw,
            draw.of_sparse ? std::max<std::int64_t>(1, workload::contraction_length(
                                                           *source_.draws[*draw.of_sparse].sparse,
                                                           *matrices_[*draw.of_sparse].pattern))
                           : draw.contraction);
    }

    /// Steps are checked as they end. What the host reads when all have ended is what they left:
    /// otherwise which result is not, as a sentence.
    std::string changed_result(const ReadArray& read) const {
        for (const auto& result : planned_.results) {
            if (values_[result.tensor] == nullptr) {
                continue;
            }
            const auto& left = values_[result.tensor]->bytes;
            const auto got =
                by_blocks(result.encoder, values_[result.tensor]->type, read(result.array));
            if (got != left) {
                const auto at = std::mismatch(got.begin(), got.end(), left.begin()).first;
                return fmt::format("WRONG: result {}: byte {} has changed since its step left it",
                                   pipeline_.tensors[result.tensor].name, at - got.begin());
            }
        }
        return {};
    }

    /// Where a row of a tensor outside the tiles begins and ends among its bytes.
    struct Bounds {
        std::size_t first = 0;
        std::size_t bytes = 0;
    };
    [[nodiscard]] static Bounds bounds_of(const family::Value& rows, std::int64_t row) {
        const std::size_t bytes =
            rows.bytes.size() / static_cast<std::size_t>(rows.type.shape.front());
        return {static_cast<std::size_t>(row) * bytes, bytes};
    }

    /// Returns where a row that was copied differs from what it was copied from.
    static family::Checked compare_bytes(std::span<const std::byte> got,
                                         std::span<const std::byte> expected, Bytes element) {
        const auto size = static_cast<std::size_t>(element);
        family::Checked checked;
        checked.elements = static_cast<std::int64_t>(got.size() / size);
        std::size_t first = 0;
        for (std::size_t at = got.size(); at > 0; at -= size) {
            if (std::memcmp(&got[at - size], &expected[at - size], size) != 0) {
                ++checked.failed_elements;
                first = at / size - 1;
            }
        }
        checked.passed = checked.failed_elements == 0;
        checked.sentence =
            checked.passed ? fmt::format("exact: all {} elements as they were", checked.elements)
                           : fmt::format("WRONG: {} of {} elements are not as they were, the first "
                                         "of them number {}",
                                         checked.failed_elements, checked.elements, first);
        return checked;
    }

    /// What the host gave of a pattern is compared with what it meant to give, tensor by tensor.
    family::Checked check_next(const Node& node, std::vector<family::Value>& given) {
        const PatternSequence& patterns = next_.at(node.inputs.front()).patterns;
        const family::Value& now = patterns.now();
        given.front().whole_numbers = now.whole_numbers;
        const Bytes element = bytes_of(now.type.type);
        family::Checked checked = compare_bytes(given.front().bytes, now.bytes, element);
        for (std::size_t i = 1; i < given.size() && checked.passed; ++i) {
            checked = compare_bytes(given[i].bytes, patterns.states().at(i - 1), element);
        }
        return checked;
    }

    /// What a load has brought, or a store has taken, is compared with what stands at the other end.
    family::Checked check_row(const Node& node, std::int64_t row, family::Value& moved) {
        const Bytes element = bytes_of(moved.type.type);
        const family::Value& from = *values_[node.inputs.front()];
        moved.whole_numbers = from.whole_numbers;
        if (node.kind == Node::Kind::Load) {
            const Bounds of_row = bounds_of(from, row);
            return compare_bytes(
                moved.bytes, std::span(from.bytes).subspan(of_row.first, of_row.bytes), element);
        }
        return compare_bytes(moved.bytes, from.bytes, element);
    }

    /// A step has written `tensor`, a store row `row` of it.
    void take(const Node& node, std::size_t tensor, std::int64_t row, family::Value made) {
        if (node.kind != Node::Kind::Store) {
            values_[tensor] = std::make_shared<const family::Value>(std::move(made));
            return;
        }
        std::shared_ptr<family::Value>& rows = stored_[tensor];
        if (rows == nullptr) {
            rows = std::make_shared<family::Value>(*values_[tensor]);
            values_[tensor] = rows;
        }
        rows->whole_numbers = rows->whole_numbers && made.whole_numbers;
        std::memcpy(&rows->bytes[bounds_of(*rows, row).first], made.bytes.data(),
                    made.bytes.size());
    }

    /// Types of what a leaf of the pipeline leaves on the tiles.
    [[nodiscard]] std::vector<family::TensorType> types_of(const Node& node) const {
        switch (node.kind) {
        case Node::Kind::Load:
            return {pipeline_.tensors[*node.outputs.front()].type};
        case Node::Kind::Store:
            return {pipeline_.tensors[node.inputs.front()].type};
        case Node::Kind::Next:
            return std::vector(node.inputs.size(),
                               next_.at(node.inputs.front()).patterns.now().type);
        default:
            break;
        }
        std::vector<family::TensorType> types = node.step->outputs();
        const auto in_buckets = std::ranges::find_if(node.inputs, [&](std::size_t input) {
            return pipeline_.tensors[input].type.capacity.has_value();
        });
        for (family::TensorType& type : types) {
            if (type.capacity && in_buckets != node.inputs.end()) {
                type.sparse = values_[*in_buckets]->type.sparse; // that of the round
            }
        }
        return types;
    }

    /// What the host gives of a tensor with a sequence, and of those that stand like it.
    struct Next {
        PatternSequence patterns;
        std::vector<std::size_t> states;                ///< the others
        std::map<program::ArrayId, std::int64_t> given; ///< rows of each buffer
        /// By tensor, of the pattern at hand.
        std::map<std::size_t, std::vector<std::vector<std::byte>>> forms;
    };
    [[nodiscard]] Next& next_of(std::size_t tensor) {
        const auto found = next_.find(tensor);
        if (found != next_.end()) {
            return found->second;
        }
        const auto value_or_none = [&](std::size_t of) {
            return values_[of] != nullptr ? *values_[of]
                                          : family::Value{pipeline_.tensors[of].type, {}, false};
        };
        std::vector<std::size_t> states;
        std::vector<std::vector<std::byte>> bytes;
        for (const auto& asked : planned_.asked) {
            if (pipeline_.tensors[asked.tensor].like == tensor) {
                states.push_back(asked.tensor);
                bytes.push_back(value_or_none(asked.tensor).bytes);
            }
        }
        PatternSequence patterns(value_or_none(tensor), std::move(bytes));
        return next_.emplace(tensor, Next{std::move(patterns), std::move(states), {}, {}})
            .first->second;
    }
    /// A round asks for each buffer once; the first one brings the next pattern. Steps before may not
    /// have been looked at yet: what stands in values_ changes when this one is.
    void give_next(const pipeline::Standing& asked, std::span<std::byte> rows,
                   const ReadArray& read) {
        Stopwatch watch;
        const std::size_t tensor = pipeline_.tensors[asked.tensor].like.value_or(asked.tensor);
        Next& next = next_of(tensor);
        const std::int64_t round = next.given[asked.array]++;
        if (round > next.patterns.changes()) {
            go_on(tensor, asked.encoder, next, read);
            next.forms.clear();
        }
        auto& forms = next.forms[asked.tensor];
        if (forms.empty()) {
            family::Value value = next.patterns.now();
            if (asked.tensor != tensor) {
                const auto state = std::ranges::find(next.states, asked.tensor);
                value.bytes = next.patterns.states().at(
                    static_cast<std::size_t>(state - next.states.begin()));
            }
            forms = encoded(asked, value, round);
        }
        const std::vector<std::byte>& form = forms.at(asked.form);
        std::memcpy(rows.data(), form.data(), std::min(form.size(), rows.size()));
        encode_s_ += watch.lap();
    }
    void go_on(std::size_t tensor, const family::Step* encoder, Next& next, const ReadArray& read) {
        const PipelineTensor& given = source_.pipeline.tensors[tensor];
        PatternSequence& patterns = next.patterns;
        const bool has_values = given_[tensor] != nullptr;
        // the rows have what the last round left
        const auto left_of = [&](std::size_t of) {
            return has_values ? encoder->decoded(read(values_row(of)), patterns.now().type)
                              : std::vector<std::byte>{};
        };
        PatternSequence::Left left;
        for (const std::size_t state : next.states) {
            left.states.push_back(left_of(state));
        }
        if (given.folder) {
            patterns.take(file_of(tensor, patterns.changes() + 1, has_values), left);
            return;
        }
        left.values = left_of(tensor);
        const auto norms = pipeline_.tensors[tensor].gradients;
        if (has_values && norms) {
            left.gradients = read(buffer_of(*norms));
        }
        patterns.change(*given.sequence, left);
    }
    /// The pattern of a file of the tensor's folder.
    [[nodiscard]] family::Value file_of(std::size_t tensor, std::int64_t number,
                                        bool has_values) const {
        Draw draw = source_.draws[tensor];
        const auto& files = source_.pipeline.tensors[tensor].folder->files;
        draw.sparse->pattern =
            workload::pattern_of_file(files.at(static_cast<std::size_t>(number)));
        GivenMatrix matrix = given_matrix(draw);
        family::TensorType type = pipeline_.tensors[tensor].type;
        type.sparse = std::move(matrix.pattern);
        if (!has_values) {
            matrix.values.clear();
        }
        return sparse_value(std::move(type), draw, std::move(matrix.values));
    }
    /// A pattern in buckets; one of a file that has no room in them is called by the file.
    [[nodiscard]] std::vector<std::vector<std::byte>> encoded(const pipeline::Standing& standing,
                                                              const family::Value& value,
                                                              std::int64_t round) const {
        try {
            return standing.encoder->encoded(value);
        } catch (const DoesNotFit& overflow) {
            const auto& folder = source_.pipeline.tensors[standing.tensor].folder;
            if (!folder) {
                throw;
            }
            throw DoesNotFit(fmt::format(
                "{}: {}", folder->files.at(static_cast<std::size_t>(round)), overflow.what()));
        }
    }

    /// The buffer with the values of a tensor with a sequence.
    [[nodiscard]] program::ArrayId values_row(std::size_t tensor) const {
        const auto values = std::ranges::find_if(planned_.asked, [&](const auto& asked) {
            return asked.tensor == tensor && asked.form == 0;
        });
        return values->array;
    }
    /// The buffer with the rows of a tensor outside the tiles that steps write.
    [[nodiscard]] program::ArrayId buffer_of(std::size_t tensor) const {
        const auto rows = std::ranges::find_if(
            planned_.writes, [&](const auto& write) { return write.tensor == tensor; });
        return rows->array;
    }

    /// What stands in buckets, by the blocks of the pattern.
    static std::vector<std::byte> by_blocks(const family::Step* encoder,
                                            const family::TensorType& type,
                                            std::vector<std::byte> bytes) {
        return encoder == nullptr ? std::move(bytes) : encoder->decoded(bytes, type);
    }

    /// Returns the index of the first size of a tensor outside the tiles that a copy has moved.
    [[nodiscard]] std::int64_t index_of(const program::Step& leaf) const {
        return leaf.kind == program::Step::Kind::StreamCopy
                   ? leaf.row / planned_.lowered.program.stream_copies.at(leaf.index).rows
                   : leaf.row;
    }

    /// `row`: of a load or a store.
    void look_at(std::size_t index, std::int64_t row, const ReadArray& read, int threads) {
        const auto& finished = planned_.finished[index];
        const Node& node = *finished.node;
        std::vector<family::Value> outputs;
        const std::vector<family::TensorType> types = types_of(node);
        for (std::size_t i = 0; i < types.size(); ++i) {
            outputs.push_back(
                {types[i], by_blocks(i < finished.encoders.size() ? finished.encoders[i] : nullptr,
                                     types[i], read(finished.outputs[i]))});
        }
        std::vector<const family::Value*> inputs;
        for (const std::size_t input : node.inputs) {
            inputs.push_back(values_[input].get());
        }
        family::Checked checked =
            node.kind == Node::Kind::Step   ? node.step->check(inputs, outputs, threads)
            : node.kind == Node::Kind::Next ? check_next(node, outputs)
                                            : check_row(node, row, outputs.front());
        Outcome& outcome = outcomes_[index];
        ++outcome.rounds;
        if (!checked.overflow_warning.empty() && ++outcome.overflowed_rounds == 1) {
            outcome.overflow =
                fmt::format("step {}{}: {}", node.name,
                            outcome.rounds == 1 ? "" : fmt::format(", round {}", outcome.rounds),
                            checked.overflow_warning);
        }
        if (outcome.rounds == 1 || !checked.passed ||
            (outcome.worst.passed &&
             checked.max_error_over_tolerance > outcome.worst.max_error_over_tolerance)) {
            outcome.worst = std::move(checked);
        }
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (const auto tensor = node.outputs[i]) {
                take(node, *tensor, row, std::move(outputs[i]));
            }
        }
    }

    Source source_;
    std::vector<GivenMatrix> matrices_; ///< by tensor of the source; empty: not made yet
    pipeline::Pipeline pipeline_;       ///< without steps: not resolved yet
    pipeline::Planned planned_;
    exchange_plan::KnownSchedules known_schedules_;            ///< of all plans that it has made
    std::vector<std::shared_ptr<const family::Value>> given_;  ///< by tensor; null: not made
    std::vector<std::shared_ptr<const family::Value>> values_; ///< by tensor, as it stands
    /// Of them those outside the tiles that steps have written rows of.
    std::map<std::size_t, std::shared_ptr<family::Value>> stored_;
    /// Forms of tensors with a capacity, by the step that encodes them and the tensor: steps with other plans have others.
    std::map<std::pair<const family::Step*, std::size_t>, std::vector<std::vector<std::byte>>>
        encoded_;
    std::map<std::size_t, Next> next_; ///< of tensors with a sequence
    double encode_s_ = 0;
    std::vector<Outcome> outcomes_; ///< by planned_.finished
};

} // namespace

std::unique_ptr<Job> pipeline_job(Source source) {
    return std::make_unique<PipelineJob>(std::move(source));
}

} // namespace tessera::job
