// SPDX-License-Identifier: MIT
#include "kernels/catalog/sparse_weights.h"

#include "base/config/read.h"
#include "base/config/suggest.h"
#include "base/text.h"
#include "kernels/pattern/sparsify.h"
#include "kernels/pattern/tensor_names.h"
#include "kernels/workload/pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace tessera::catalog {
namespace {

using config::child_pointer;
using pattern::NamePattern;
using workload::PatternSpec;
using workload::PipelineStep;
using workload::PipelineTensor;
using workload::PipelineWorkload;
using workload::SparsityRule;
using workload::SparsitySpec;
using workload::ValuesSpec;
using Kind = PipelineStep::Kind;

constexpr const char* kSection = "/sparsity";
constexpr std::size_t kMostNamed = 5; ///< tensors in a message

bool has_flag(const PipelineStep& step, const char* key) {
    const auto told = step.options.find(key);
    return told != step.options.end() && std::get<bool>(told->second);
}

std::string word_of(const PipelineStep& step, const char* key) {
    const auto told = step.options.find(key);
    return told == step.options.end() ? "" : std::get<std::string>(told->second);
}

class SparsitySteps {
public:
    SparsitySteps(const PipelineWorkload& told, const config::Document& document)
        : section_(*told.sparsity), document_(document) {
        out_.workload = told;
        out_.workload.sparsity.reset();
        add_names(told.steps);
        for (const PipelineTensor& tensor : told.tensors) {
            names_.insert(tensor.name);
        }
    }

    Sparsified take() {
        choose();
        if (out_.mistakes.empty()) {
            out_.workload.steps = rewritten(out_.workload.steps, "/steps", "/steps");
        }
        for (const auto& [name, by] : chosen_) {
            if (!multiplied_.contains(name) && out_.mistakes.empty()) {
                fail(by->pointer,
                     fmt::format("{} names '{}', which no product reads, expected an operand of a "
                                 "matmul",
                                 in_quotes(by->text()), name),
                     "tensors that are not named stay dense");
            }
        }
        return std::move(out_);
    }

private:
    void fail(std::string pointer, std::string message, std::string hint = {}) {
        out_.mistakes.push_back(
            {"", 0, 0, std::move(pointer), std::move(message), std::move(hint)});
    }

    void add_names(const std::vector<PipelineStep>& steps) {
        for (const PipelineStep& step : steps) {
            names_.insert(step.called());
            names_.insert(step.outputs.begin(), step.outputs.end());
            visit_lists(step, [this](const char*, const std::vector<PipelineStep>& inside) {
                add_names(inside);
            });
        }
    }

    /// Makes the tensors that the section names sparse.
    void choose() {
        const std::string at = std::string(kSection) + "/" + workload::kNamePatternsKey;
        const auto& written = document_.root.at("sparsity");
        if (!written.contains(workload::kNamePatternsKey)) {
            fail(kSection, fmt::format("expected {}: expressions for names of tensors",
                                       workload::kNamePatternsKey));
            return;
        }
        named_ =
            pattern::read_name_patterns(document_, at, section_.param_name_patterns, out_.mistakes);
        if (!written.contains("level")) {
            pattern::expect_levels(document_, named_, out_.mistakes);
        }
        if (named_.empty() && out_.mistakes.empty()) {
            fail(at, "got no expression, expected one at least");
        }
        if (!out_.mistakes.empty()) {
            return;
        }
        std::set<const NamePattern*> matching;
        for (PipelineTensor& tensor : out_.workload.tensors) {
            for (const NamePattern& named : named_) {
                if (named.names(tensor.name)) {
                    matching.insert(&named);
                }
            }
            const pattern::NamedBy by = pattern::named_by(named_, tensor.name, section_);
            if (by.other != nullptr) {
                fail(by.other->pointer, fmt::format("tensor '{}': {}", tensor.name,
                                                    pattern::conflict_text(by, section_)));
            } else if (by.first != nullptr) {
                make_sparse(tensor, *by.first);
            }
        }
        for (const NamePattern& named : named_) {
            if (!matching.contains(&named)) {
                tell_unmatched(named);
            }
        }
    }

    void tell_unmatched(const NamePattern& named) {
        std::vector<std::string> matrices;
        for (const PipelineTensor& tensor : out_.workload.tensors) {
            if (tensor.shape.size() == 2) {
                matrices.push_back(tensor.name);
            }
        }
        std::string hint = config::did_you_mean(named.text(), matrices);
        if (hint.empty() && !matrices.empty()) {
            const bool has_more = matrices.size() > kMostNamed;
            matrices.resize(std::min(matrices.size(), kMostNamed));
            hint = fmt::format("matrices are {}{}", fmt::join(matrices, ", "),
                               has_more ? " and others" : "");
        }
        fail(named.pointer, fmt::format("{} names no tensor", in_quotes(named.text())),
             std::move(hint));
    }

    void make_sparse(PipelineTensor& tensor, const NamePattern& by) {
        const SparsityRule rule = by.rule(section_);
        const std::string at = child_pointer("/tensors", tensor.name);
        const auto refuse = [&](const std::string& key, const std::string& message) {
            fail(at + key,
                 fmt::format("{}, since {} in sparsity names it", message, in_quotes(by.text())));
        };
        const std::size_t before = out_.mistakes.size();
        if (tensor.is_sparse() || !tensor.like.empty()) {
            refuse("", "got a sparse matrix, expected a dense one");
            return;
        }
        const bool is_matrix = tensor.shape.size() == 2;
        const auto divides = [this](std::int64_t size) { return size % section_.block == 0; };
        if (!is_matrix) {
            refuse("/shape", fmt::format("got {}, expected rows and columns",
                                         fmt::join(tensor.shape, " x ")));
        } else if (!std::ranges::all_of(tensor.shape, divides)) {
            refuse("/shape", fmt::format("got {}, expected multiples of {}, the block",
                                         fmt::join(tensor.shape, " x "), section_.block));
        }
        if (tensor.type != ElementType::F16 && tensor.type != ElementType::F32) {
            refuse("/type", fmt::format("got {}, expected f16 or f32", name_of(tensor.type)));
        }
        if (tensor.place != workload::Place::Tiles) {
            refuse("/place", "got a tensor outside the tiles, expected one on the tiles");
        }
        if (tensor.row_major) {
            refuse("/layout", "got row_major, expected codelet");
        }
        if (tensor.values.kind == ValuesSpec::Kind::Constant) {
            refuse("/values", "got constant, expected uniform, integer or a file");
        }
        if (out_.mistakes.size() != before) {
            return;
        }
        SparseWeight weight{tensor.name,
                            tensor.shape,
                            section_.block,
                            rule.level,
                            0,
                            tensor.shape[0] / section_.block * (tensor.shape[1] / section_.block),
                            section_.is_dynamic};
        weight.kept_blocks = weight.blocks - workload::kept_blocks({1, weight.blocks}, rule.level);
        if (weight.kept_blocks == 0) {
            fail(by.pointer, fmt::format("got level {}, which prunes all {} blocks of '{}'",
                                         rule.level, weight.blocks, tensor.name));
            return;
        }
        PatternSpec& pattern = tensor.pattern.emplace();
        pattern.source = rule.init_method == workload::InitMethod::TopK
                             ? PatternSpec::Source::Largest
                             : PatternSpec::Source::Uniform;
        pattern.density =
            static_cast<double>(weight.kept_blocks) / static_cast<double>(weight.blocks);
        pattern.seed = pattern::seed_of(rule.seed, tensor.name) % workload::kLargestSeed;
        tensor.block = section_.block;
        tensor.is_dynamic = section_.is_dynamic;
        chosen_[tensor.name] = &by;
        out_.weights.push_back(std::move(weight));
    }

    [[nodiscard]] bool is_weight(const std::string& tensor) const {
        return chosen_.contains(tensor);
    }

    /// The steps of a list, with sparse products. `from`: its JSON pointer in the file; `to`: behind it.
    std::vector<PipelineStep> rewritten(const std::vector<PipelineStep>& steps,
                                        const std::string& from, const std::string& to) {
        std::vector<PipelineStep> made;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const std::string at = fmt::format("{}/{}", from, i);
            PipelineStep step = steps[i];
            const std::string place = fmt::format("{}/{}", to, made.size());
            if (!step.is_leaf()) {
                visit_lists(step, [&](const char* key, std::vector<PipelineStep>& inside) {
                    inside = rewritten(inside, at + "/" + key, place + "/" + key);
                });
            } else if (multiplies(step, at)) {
                for (PipelineStep& part : sparse_product(step, at)) {
                    out_.origins[fmt::format("{}/{}", to, made.size())] = {at, part.family};
                    made.push_back(std::move(part));
                }
                continue;
            }
            out_.origins[place] = {at, ""};
            made.push_back(std::move(step));
        }
        return made;
    }

    /// Whether a step is a product with a sparse operand. Other uses of such a tensor are mistakes.
    bool multiplies(const PipelineStep& step, const std::string& at) {
        const auto tell = [&](const std::string& key, const std::string& tensor,
                              const std::string& how) {
            const NamePattern& by = *chosen_.at(tensor);
            fail(at + key,
                 fmt::format("{} '{}', which {} in sparsity makes sparse", how, tensor,
                             in_quotes(by.text())),
                 "as a sparse matrix it is an operand of products alone");
        };
        for (std::size_t i = 0; i < step.outputs.size(); ++i) {
            if (is_weight(step.outputs[i])) {
                const std::string key = step.kind != Kind::Family ? ""
                                        : step.outputs.size() > 1 ? fmt::format("/outputs/{}", i)
                                                                  : "/output";
                tell(key, step.outputs[i], "writes");
            }
        }
        const bool is_product =
            step.kind == Kind::Family && step.family == "matmul" && step.inputs.size() > 1;
        std::size_t operands = 0;
        for (std::size_t i = 0; i < step.inputs.size(); ++i) {
            const std::string& input = step.inputs[i];
            if (!is_weight(input)) {
                continue;
            }
            const std::string key = step.kind == Kind::Family  ? fmt::format("/inputs/{}", i)
                                    : step.kind == Kind::Store ? "/store"
                                                               : "";
            multiplied_.insert(input); // or told here
            if (!is_product || i > 1) {
                tell(key, input, "reads");
            } else if (++operands == 2) {
                tell(key, input, "multiplies with another sparse matrix");
            } else if (has_flag(step, "unmirrored")) {
                tell("/unmirrored", input, "got true, expected false for a product with");
            }
        }
        return is_product && operands == 1;
    }

    /// The steps that a matmul with one sparse operand becomes. The last one makes what it made.
    std::vector<PipelineStep> sparse_product(const PipelineStep& step, const std::string& at) {
        const bool is_left = is_weight(step.inputs[0]);
        const bool accumulates = has_flag(step, "accumulate");
        const std::size_t others = step.inputs.size() - (accumulates ? 1 : 0);
        const std::string activation = word_of(step, "activation");
        const bool turned_a = has_flag(step, "transpose_a");
        const bool turned_b = has_flag(step, "transpose_b");

        std::vector<PipelineStep> made;
        const auto add = [&](const char* family, std::vector<std::string> inputs,
                             const char* ending) -> PipelineStep& {
            PipelineStep& part = made.emplace_back();
            part.family = family;
            part.inputs = std::move(inputs);
            part.outputs = {step.called() + ending};
            part.recompute = step.recompute;
            return part;
        };
        const auto last = [&] { return made.back().outputs.front(); };

        // x w = (w^T x^T)^T: the sparse operand is on the left
        PipelineStep& product =
            add("spmm", {step.inputs[is_left ? 0 : 1], step.inputs[is_left ? 1 : 0]},
                is_left ? "_product" : "_turned");
        const std::pair<const char*, bool> flags[] = {
            {"transpose_a", is_left ? turned_a : !turned_b},
            {"transpose_b", is_left ? turned_b : !turned_a}};
        for (const auto& [key, is_set] : flags) {
            if (is_set) {
                product.options[key] = true;
            }
        }
        for (const char* const key : {"partials", "plan"}) {
            if (const auto told = step.options.find(key); told != step.options.end()) {
                product.options[key] = told->second;
            }
        }
        if (!is_left) {
            add("transpose", {last()}, "_product");
        }
        if (others > 2) {
            add("bias", {last(), step.inputs[2]}, "_biased");
        }
        if (!activation.empty() && activation != "none") {
            add(activation == "relu" ? "relu" : "gelu", {last()}, "_activated");
        }
        if (accumulates) {
            add("add", {last(), step.inputs.back()}, "_sum");
        }
        made.back().outputs = step.outputs;
        made.back().name = step.name;
        for (std::size_t i = 0; i + 1 < made.size(); ++i) {
            const std::string& name = made[i].outputs.front();
            if (!names_.insert(name).second) {
                fail(at, fmt::format("got a tensor or step '{}', expected another name: one that "
                                     "the sparse product makes is called so",
                                     name));
            }
        }
        return made;
    }

    const SparsitySpec& section_;
    const config::Document& document_;
    Sparsified out_;
    std::vector<NamePattern> named_;
    std::map<std::string, const NamePattern*> chosen_; ///< by tensor that is sparse
    std::set<std::string> multiplied_;                 ///< of them those that steps read
    std::set<std::string> names_;                      ///< of tensors and steps
};

} // namespace

Diagnostic Sparsified::in_file(Diagnostic mistake) const {
    for (std::size_t end = mistake.pointer.size(); end != 0 && end != std::string::npos;
         end = mistake.pointer.rfind('/', end - 1)) {
        const auto found = origins.find(mistake.pointer.substr(0, end));
        if (found == origins.end()) {
            continue;
        }
        const Origin& origin = found->second;
        if (!origin.made.empty()) {
            mistake.message =
                fmt::format("in {}, which is made for sparsity: {}", origin.made, mistake.message);
        }
        mistake.pointer = origin.pointer + (origin.made.empty() ? mistake.pointer.substr(end) : "");
        break;
    }
    return mistake;
}

Sparsified with_sparsity(const PipelineWorkload& workload, const config::Document& document) {
    return SparsitySteps(workload, document).take();
}

} // namespace tessera::catalog
