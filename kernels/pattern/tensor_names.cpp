// SPDX-License-Identifier: MIT
#include "kernels/pattern/tensor_names.h"

#include "base/config/describe.h"
#include "base/config/read.h"
#include "base/text.h"
#include "kernels/pattern/sparsify.h"

#include <fmt/format.h>

#include <array>
#include <re2/re2.h>
#include <string_view>
#include <utility>

namespace tessera::pattern {
namespace {

/// Reads the value in its three forms.
class PatternReader {
public:
    PatternReader(const config::Document& document, std::vector<Diagnostic>& mistakes)
        : document_(document), mistakes_(mistakes) {}

    std::vector<NamePattern> read(const std::string& pointer, const nlohmann::json& value) {
        if (value.is_string()) {
            add(pointer, value, {});
        } else if (value.is_array()) {
            for (std::size_t i = 0; i < value.size(); ++i) {
                add(config::child_pointer(pointer, std::to_string(i)), value[i], {});
            }
        } else {
            for (const auto& [expression, level] : value.items()) {
                add_level(config::child_pointer(pointer, expression), expression, level);
            }
        }
        return std::move(patterns_);
    }

private:
    void add(const std::string& pointer, const nlohmann::json& expression, NamePattern rule) {
        if (!expression.is_string()) {
            mistakes_.push_back(document_.at_value(pointer, "got " + config::got_text(expression) +
                                                                ", expected an expression"));
            return;
        }
        RE2::Options options;
        options.set_log_errors(false);
        auto read = std::make_shared<const RE2>(expression.get<std::string>(), options);
        if (!read->ok()) {
            mistakes_.push_back(document_.at_value(
                pointer, fmt::format("got {}, expected an expression of RE2: {}",
                                     in_quotes(read->pattern()), read->error())));
            return;
        }
        rule.expression = std::move(read);
        rule.pointer = pointer;
        patterns_.push_back(std::move(rule));
    }

    void add_level(const std::string& pointer, const std::string& expression,
                   const nlohmann::json& level) {
        if (level.is_object()) {
            add_rule(pointer, expression, level);
            return;
        }
        const bool is_level = level.is_number() && level >= 0 && level <= 1;
        if (!is_level) {
            mistakes_.push_back(
                document_.at_value(pointer, "got " + config::got_text(level) + ", expected 0..1"));
            return;
        }
        add(pointer, expression, NamePattern{{}, {}, level.get<double>()});
    }

    void add_rule(const std::string& pointer, const std::string& expression,
                  const nlohmann::json& written) {
        SparsityRule rule;
        const auto wrong =
            config::read_at(*config::shape_of<SparsityRule>(), document_, pointer, &rule);
        mistakes_.insert(mistakes_.end(), wrong.begin(), wrong.end());
        if (!wrong.empty()) {
            return;
        }
        NamePattern named;
        if (written.contains("level")) {
            named.level = rule.level;
        }
        if (written.contains("init_method")) {
            named.init_method = rule.init_method;
        }
        if (written.contains("seed")) {
            named.seed = rule.seed;
        }
        add(pointer, expression, std::move(named));
    }

    const config::Document& document_;
    std::vector<Diagnostic>& mistakes_;
    std::vector<NamePattern> patterns_;
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

bool NamePattern::names(const std::string& tensor) const {
    return RE2::PartialMatch(tensor, *expression);
}

const std::string& NamePattern::text() const {
    return expression->pattern();
}

NamedBy named_by(const std::vector<NamePattern>& names, const std::string& tensor,
                 const SparsityRule& section) {
    NamedBy found;
    for (const NamePattern& named : names) {
        if (!named.names(tensor)) {
            continue;
        }
        if (found.first == nullptr) {
            found.first = &named;
        } else if (found.other == nullptr && found.first->rule(section) != named.rule(section)) {
            found.other = &named;
        }
    }
    return found;
}

std::string conflict_text(const NamedBy& both, const SparsityRule& section) {
    const SparsityRule one = both.first->rule(section);
    const SparsityRule two = both.other->rule(section);
    return fmt::format(
        "{} and {} both name it, with {}", in_quotes(both.first->text()),
        in_quotes(both.other->text()),
        one.level != two.level ? fmt::format("the levels {} and {}", one.level, two.level)
        : one.seed != two.seed ? fmt::format("the seeds {} and {}", one.seed, two.seed)
                               : "another init_method");
}

std::vector<NamePattern> read_name_patterns(const config::Document& document,
                                            const std::string& pointer, const nlohmann::json& value,
                                            std::vector<Diagnostic>& mistakes) {
    return PatternReader(document, mistakes).read(pointer, value);
}

void expect_levels(const config::Document& document, const std::vector<NamePattern>& names,
                   std::vector<Diagnostic>& mistakes) {
    for (const NamePattern& named : names) {
        if (!named.level) {
            mistakes.push_back(document.at_value(
                named.pointer, "expected a level, 0..1, here or for the whole section"));
        }
    }
}

bool is_weight(const workload::TensorHead& tensor) {
    return tensor.shape.size() >= 2 && !is_dense_by_name(tensor.name) && tensor.type &&
           has_marks(*tensor.type);
}

void expect_marks(const workload::TensorHead& tensor, const NamePattern& named,
                  const std::string& file) {
    if (!tensor.type || !has_marks(*tensor.type)) {
        workload::MatrixSource{file, tensor.name}.fail("dtype: got " + in_quotes(tensor.dtype) +
                                                       ", expected F16, BF16 or F32, since " +
                                                       in_quotes(named.text()) + " names it");
    }
}

} // namespace tessera::pattern
