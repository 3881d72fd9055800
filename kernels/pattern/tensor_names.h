// SPDX-License-Identifier: MIT
// Which tensors of a checkpoint a section of a JSON file names, by its key `param_name_patterns`: an
// expression of RE2, a list of them, or an object of expressions with a level each. An expression
// names a tensor if it matches any part of its name. A section without the key names tensors by
// is_weight().
#pragma once

#include "base/config/document.h"
#include "base/error.h"
#include "kernels/workload/safetensors.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace re2 {
class RE2;
} // namespace re2

namespace tessera::pattern {

struct NamePattern {
    std::shared_ptr<const re2::RE2> expression;
    std::string pointer;         ///< of the document
    std::optional<double> level; ///< in an object

    [[nodiscard]] bool names(const std::string& tensor) const;
    [[nodiscard]] const std::string& text() const;
};

inline constexpr const char* kNamePatternsKey = "param_name_patterns";

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
