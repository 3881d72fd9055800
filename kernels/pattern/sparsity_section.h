// SPDX-License-Identifier: MIT
// What a JSON file says of pruning: which tensors, how much of each, and how.
//
//   { "level": 0.9, "init_method": "topk", "seed": 7, "param_name_patterns": "fc[12]\\.weight" }
//
// or the same as the object `sparsity` of a larger file, such as a model file. A file without that object
// may call the level `sparsity`. The key `param_name_patterns` is that of tensor_names.h; without it tensors
// are pruned for which is_weight() holds.
#pragma once

#include "kernels/workload/safetensors.h"
#include "kernels/workload/sparsity_spec.h"

#include <memory>
#include <optional>
#include <string>

namespace tessera::pattern {

class SparsitySection {
public:
    /// @throws ConfigError with all mistakes of the file; IoError if it cannot be read
    explicit SparsitySection(const std::string& path);
    ~SparsitySection();
    SparsitySection(const SparsitySection&) = delete;
    SparsitySection& operator=(const SparsitySection&) = delete;

    /// How a tensor's elements are to be pruned; nothing: it is left dense.
    /// @throws ConfigError that names `file` and the tensor, where two expressions match that have
    /// different rules, or where a tensor is named whose type has no marks
    [[nodiscard]] std::optional<workload::SparsityRule> rule_of(const workload::TensorHead& tensor,
                                                                const std::string& file) const;

private:
    struct Content;
    std::unique_ptr<const Content> content_;
};

} // namespace tessera::pattern
