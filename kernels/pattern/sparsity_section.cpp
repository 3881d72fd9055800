// SPDX-License-Identifier: MIT
#include "kernels/pattern/sparsity_section.h"

#include "base/config/describe.h"
#include "base/config/document.h"
#include "base/config/read.h"
#include "base/text.h"
#include "kernels/workload/shared_keys.h"

#include <fmt/format.h>

#include <array>
#include <re2/re2.h>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::pattern {
namespace {

constexpr const char* kPatterns = "param_name_patterns";

} // namespace

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
        d.field(kPatterns, &Keys::param_name_patterns)
            .json({"string", "array", "object"})
            .says("expressions for names of tensors; an object has a level for each")
            .from(kSource);
    }
};

struct NamedLevel {
    std::unique_ptr<const RE2> expression;
    double level = 0;
};

} // namespace detail

namespace {

using detail::Keys;
using detail::NamedLevel;

/// Reads the values of `param_name_patterns` in their three forms.
class PatternReader {
public:
    PatternReader(const config::Document& document, std::string pointer, const Keys& keys)
        : document_(document), pointer_(std::move(pointer)), keys_(keys) {}

    std::vector<NamedLevel> read() {
        const nlohmann::json& patterns = keys_.param_name_patterns;
        if (patterns.is_string()) {
            add(pointer_, patterns, keys_.sparsity);
        } else if (patterns.is_array()) {
            for (std::size_t i = 0; i < patterns.size(); ++i) {
                add(config::child_pointer(pointer_, std::to_string(i)), patterns[i],
                    keys_.sparsity);
            }
        } else {
            for (const auto& [expression, level] : patterns.items()) {
                add_level(config::child_pointer(pointer_, expression), expression, level);
            }
        }
        return std::move(levels_);
    }

    [[nodiscard]] std::vector<Diagnostic> mistakes() { return std::move(mistakes_); }

private:
    void add(const std::string& pointer, const nlohmann::json& expression, double level) {
        if (!expression.is_string()) {
            mistakes_.push_back(document_.at_value(pointer, "got " + config::got_text(expression) +
                                                                ", expected an expression"));
            return;
        }
        RE2::Options options;
        options.set_log_errors(false);
        auto read = std::make_unique<const RE2>(expression.get<std::string>(), options);
        if (!read->ok()) {
            mistakes_.push_back(document_.at_value(
                pointer, fmt::format("got {}, expected an expression of RE2: {}",
                                     in_quotes(read->pattern()), read->error())));
            return;
        }
        levels_.push_back({std::move(read), level});
    }

    void add_level(const std::string& pointer, const std::string& expression,
                   const nlohmann::json& level) {
        const bool is_level = level.is_number() && level >= 0 && level <= 1;
        if (!is_level) {
            mistakes_.push_back(
                document_.at_value(pointer, "got " + config::got_text(level) + ", expected 0..1"));
            return;
        }
        add(pointer, expression, level.get<double>());
    }

    const config::Document& document_;
    std::string pointer_;
    const Keys& keys_;
    std::vector<NamedLevel> levels_;
    std::vector<Diagnostic> mistakes_;
};

bool is_dense_by_name(const std::string& name) {
    constexpr std::array<std::string_view, 3> kDense{"embedding", "norm", "lm_head"};
    for (const std::string_view word : kDense) {
        if (name.find(word) != std::string::npos) {
            return true;
        }
    }
    return false;
}

} // namespace

struct SparsitySection::Content {
    Keys keys;
    bool has_names = false;
    std::vector<NamedLevel> levels;
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
    content->has_names = section.contains(kPatterns);
    if (!section.contains("sparsity") &&
        !(content->has_names && content->keys.param_name_patterns.is_object())) {
        config::throw_if_any({document.at_value(
            pointer, "sparsity: expected the share of elements that is pruned, 0..1")});
    }
    if (content->has_names) {
        PatternReader reader(document, pointer + "/" + kPatterns, content->keys);
        content->levels = reader.read();
        config::throw_if_any(reader.mistakes());
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

std::optional<double> SparsitySection::level_of(const TensorHead& tensor,
                                                const std::string& file) const {
    const Source from{file, tensor.name};
    if (!content_->has_names) {
        const bool is_pruned = tensor.shape.size() >= 2 && !is_dense_by_name(tensor.name) &&
                               tensor.type && has_marks(*tensor.type);
        return is_pruned ? std::optional(content_->keys.sparsity) : std::nullopt;
    }
    const NamedLevel* found = nullptr;
    for (const NamedLevel& named : content_->levels) {
        if (!RE2::PartialMatch(tensor.name, *named.expression)) {
            continue;
        }
        if (found != nullptr && found->level != named.level) {
            from.fail(fmt::format("{} and {} both name it, with the levels {} and {}",
                                  in_quotes(found->expression->pattern()),
                                  in_quotes(named.expression->pattern()), found->level,
                                  named.level));
        }
        found = &named;
    }
    if (found == nullptr) {
        return std::nullopt;
    }
    if (!tensor.type || !has_marks(*tensor.type)) {
        from.fail("dtype: got " + in_quotes(tensor.dtype) + ", expected F16, BF16 or F32, since " +
                  in_quotes(found->expression->pattern()) + " names it");
    }
    return found->level;
}

} // namespace tessera::pattern
