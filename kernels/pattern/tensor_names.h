// SPDX-License-Identifier: MIT
// Which tensors of a checkpoint a section of a JSON file names, by its key `param_name_patterns`: an
// expression of RE2, a list of them, or an object of expressions, each with a level or with an object
// of `level`, `init_method` and `seed`. An expression names a tensor if it matches any part of its name.
// A section of a checkpoint without the key names tensors by is_weight().
#pragma once

#include "base/config/document.h"
#include "base/error.h"
#include "kernels/workload/safetensors.h"
#include "kernels/workload/sparsity_spec.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace re2 {
class RE2;
} // namespace re2

namespace tessera::pattern {

using workload::InitMethod;
using workload::kNamePatternsKey;
using workload::SparsityRule;

struct NamePattern {
    std::shared_ptr<const re2::RE2> expression;
    std::string pointer; ///< of the document
    /// An object may say this of the tensors that it names, in place of the section.
    std::optional<double> level;
    std::optional<InitMethod> init_method = {};
    std::optional<std::uint64_t> seed = {};

    [[nodiscard]] bool names(const std::string& tensor) const;
    [[nodiscard]] const std::string& text() const;
    [[nodiscard]] SparsityRule rule(const SparsityRule& section) const {
        return {level.value_or(section.level), init_method.value_or(section.init_method),
                seed.value_or(section.seed)};
    }
};

/// Finds the expression that names a tensor: null if none does. `other` is one that names it too, with
/// another rule; null: none.
struct NamedBy {
    const NamePattern* first = nullptr;
    const NamePattern* other = nullptr;
};
[[nodiscard]] NamedBy named_by(const std::vector<NamePattern>& names, const std::string& tensor,
                               const SparsityRule& section);
/// "'fc' and 'fc1' both name it, with the levels 0.5 and 0.6"
[[nodiscard]] std::string conflict_text(const NamedBy& both, const SparsityRule& section);

/// Tells expressions without a level, where the section has none either. Puts mistakes behind `mistakes`.
void expect_levels(const config::Document& document, const std::vector<NamePattern>& names,
                   std::vector<Diagnostic>& mistakes);

/// Reads the value of the key, which stands at `pointer`. Puts mistakes behind `mistakes`.
[[nodiscard]] std::vector<NamePattern> read_name_patterns(const config::Document& document,
                                                          const std::string& pointer,
                                                          const nlohmann::json& value,
                                                          std::vector<Diagnostic>& mistakes);

/// Has two sizes or more and a type with marks, and none of `embedding`, `norm` and `lm_head` in its
/// name.
[[nodiscard]] bool is_weight(const workload::TensorHead& tensor);

/// @throws ConfigError that names the tensor of `file`, where it is named whose type has no marks
void expect_marks(const workload::TensorHead& tensor, const NamePattern& named,
                  const std::string& file);

} // namespace tessera::pattern
