// SPDX-License-Identifier: MIT
#include "kernels/pattern/sparsity_section.h"

#include "base/config/describe.h"
#include "base/config/document.h"
#include "base/config/read.h"
#include "base/text.h"
#include "kernels/pattern/tensor_names.h"
#include "kernels/workload/shared_keys.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace tessera::pattern {
namespace detail {

/// The keys as they are written.
struct Keys {
    double sparsity = 0;
    InitMethod init_method = InitMethod::Random;
    std::uint64_t seed = 1;
    nlohmann::json param_name_patterns;

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/patterns.md#checkpoints";
        d.field("sparsity", &Keys::sparsity)
            .range(0.0, 1.0)
            .says("the share of elements that is pruned")
            .from(kSource);
        d.field("init_method", &Keys::init_method,
                {{"random", InitMethod::Random}, {"topk", InitMethod::TopK}})
            .says("whether kept elements are drawn, or those of largest magnitude")
            .from(kSource);
        workload::describe_seed<Keys>(d, kSource, "of what is drawn, with the tensor's name");
        d.field(kNamePatternsKey, &Keys::param_name_patterns)
            .json({"string", "array", "object"})
            .says("expressions for names of tensors; an object has a level for each")
            .from(kSource);
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
    if (!section.contains("sparsity") &&
        !(content->has_names && content->keys.param_name_patterns.is_object())) {
        config::throw_if_any({document.at_value(
            pointer, "sparsity: expected the share of elements that is pruned, 0..1")});
    }
    if (content->has_names) {
        std::vector<Diagnostic> wrong;
        content->names = read_name_patterns(document, pointer + "/" + kNamePatternsKey,
                                            content->keys.param_name_patterns, wrong);
        config::throw_if_any(std::move(wrong));
    }
    content_ = std::move(content);
}

SparsitySection::~SparsitySection() = default;

InitMethod SparsitySection::method() const {
    return content_->keys.init_method;
}

std::uint64_t SparsitySection::seed() const {
    return content_->keys.seed;
}

std::optional<double> SparsitySection::level_of(const workload::TensorHead& tensor,
                                                const std::string& file) const {
    const workload::MatrixSource from{file, tensor.name};
    if (!content_->has_names) {
        return is_weight(tensor) ? std::optional(content_->keys.sparsity) : std::nullopt;
    }
    const auto level_by = [this](const NamePattern& named) {
        return named.level.value_or(content_->keys.sparsity);
    };
    const NamePattern* found = nullptr;
    for (const NamePattern& named : content_->names) {
        if (!named.names(tensor.name)) {
            continue;
        }
        if (found != nullptr && level_by(*found) != level_by(named)) {
            from.fail(fmt::format("{} and {} both name it, with the levels {} and {}",
                                  in_quotes(found->text()), in_quotes(named.text()),
                                  level_by(*found), level_by(named)));
        }
        found = &named;
    }
    if (found == nullptr) {
        return std::nullopt;
    }
    expect_marks(tensor, *found, file);
    return level_by(*found);
}

} // namespace tessera::pattern
