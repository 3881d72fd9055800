// SPDX-License-Identifier: MIT
#include "kernels/pattern/sparsity_section.h"

#include "base/config/describe.h"
#include "base/config/document.h"
#include "base/config/read.h"
#include "kernels/pattern/tensor_names.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace tessera::pattern {
namespace detail {

/// The keys as they are written.
struct Keys : workload::SparsitySpec {
    double sparsity = 0; ///< the level, by another name

    template <class Description> static void describe(Description& d) {
        workload::SparsitySpec::describe<Keys>(d);
        d.field("sparsity", &Keys::sparsity)
            .range(0.0, 1.0)
            .says("the share of elements that is pruned, in a file of its own")
            .from("docs/patterns.md#checkpoints");
    }
};

} // namespace detail

using detail::Keys;

struct SparsitySection::Content {
    Keys keys;
    bool has_names = false;
    std::vector<NamePattern> names;
};

SparsitySection::SparsitySection(const std::string& path) {
    const config::Document document = config::read_document(path);
    const nlohmann::json& root = document.root;
    const bool is_inner =
        root.is_object() && root.contains("sparsity") && root["sparsity"].is_object();
    const std::string pointer = is_inner ? "/sparsity" : "";
    auto content = std::make_unique<Content>();
    auto mistakes = config::read_at(*config::shape_of<Keys>(), document, pointer, &content->keys);
    mistakes.insert(mistakes.end(), document.duplicates.begin(), document.duplicates.end());
    config::throw_if_any(std::move(mistakes));
    const nlohmann::json& section = is_inner ? root["sparsity"] : root;
    content->has_names = section.contains(kNamePatternsKey);
    const bool has_level = section.contains("level");
    if (has_level && section.contains("sparsity")) {
        config::throw_if_any(
            {document.at_value(pointer + "/sparsity", "got a level twice, expected level alone")});
    }
    if (!has_level) {
        content->keys.level = content->keys.sparsity;
    }
    if (content->keys.block != 1) {
        config::throw_if_any({document.at_value(
            pointer + "/block", fmt::format("got {}, expected 1: elements of a checkpoint are "
                                            "pruned one by one",
                                            content->keys.block))});
    }
    if (!has_level && !section.contains("sparsity") &&
        !(content->has_names && content->keys.param_name_patterns.is_object())) {
        config::throw_if_any({document.at_value(
            pointer, "sparsity: expected the share of elements that is pruned, 0..1")});
    }
    if (content->has_names) {
        std::vector<Diagnostic> wrong;
        content->names = read_name_patterns(document, pointer + "/" + kNamePatternsKey,
                                            content->keys.param_name_patterns, wrong);
        if (!has_level && !section.contains("sparsity")) {
            expect_levels(document, content->names, wrong);
        }
        config::throw_if_any(std::move(wrong));
    }
    content_ = std::move(content);
}

SparsitySection::~SparsitySection() = default;

std::optional<workload::SparsityRule> SparsitySection::rule_of(const workload::TensorHead& tensor,
                                                               const std::string& file) const {
    const workload::SparsityRule& section = content_->keys;
    if (!content_->has_names) {
        return is_weight(tensor) ? std::optional(section) : std::nullopt;
    }
    const NamedBy found = named_by(content_->names, tensor.name, section);
    if (found.first == nullptr) {
        return std::nullopt;
    }
    if (found.other != nullptr) {
        workload::MatrixSource{file, tensor.name}.fail(conflict_text(found, section));
    }
    expect_marks(tensor, *found.first, file);
    return found.first->rule(section);
}

} // namespace tessera::pattern
