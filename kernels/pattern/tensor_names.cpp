// SPDX-License-Identifier: MIT
#include "kernels/pattern/tensor_names.h"

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
    void add(const std::string& pointer, const nlohmann::json& expression,
             std::optional<double> level) {
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
        patterns_.push_back({std::move(read), pointer, level});
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

std::vector<NamePattern> read_name_patterns(const config::Document& document,
                                            const std::string& pointer, const nlohmann::json& value,
                                            std::vector<Diagnostic>& mistakes) {
    return PatternReader(document, mistakes).read(pointer, value);
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
