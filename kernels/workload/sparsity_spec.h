// SPDX-License-Identifier: MIT
// A file says this of pruning: which tensors by their names, how much of each, and how. A checkpoint is
// pruned by it (kernels/pattern/sparsity_section.h), and a pipeline (kernels/catalog/sparse_weights.h).
#pragma once

#include "kernels/workload/shared_keys.h"

#include <nlohmann/json.hpp>

#include <cstdint>

namespace tessera::workload {

/// Says what is kept.
enum class InitMethod : std::uint8_t {
    Random, ///< each set of as many is equally likely
    TopK    ///< what has the largest magnitude, of equals the first
};

struct SparsityRule {
    double level = 0; ///< share that is pruned
    InitMethod init_method = InitMethod::Random;
    std::uint64_t seed = 1; ///< of what is drawn, with a tensor's name

    bool operator==(const SparsityRule&) const = default;

    /// Its keys; `Owner` is it, or a struct that has more.
    template <class Owner = SparsityRule, class Description>
    static void describe(Description& d, const char* source = "docs/patterns.md#checkpoints") {
        d.field("level", of<Owner>(&SparsityRule::level))
            .range(0.0, 1.0)
            .says("the share that is pruned")
            .from(source);
        d.field("init_method", of<Owner>(&SparsityRule::init_method),
                {{"random", InitMethod::Random}, {"topk", InitMethod::TopK}})
            .says("whether what is kept is drawn, or has the largest magnitude")
            .from(source);
        d.field("seed", of<Owner>(&SparsityRule::seed))
            .range(0, kLargestSeed)
            .says("of what is drawn, with the tensor's name")
            .from(source);
    }

protected:
    template <class Owner, class Class, class Member>
    static constexpr auto of(Member Class::*member) {
        return static_cast<Member Owner::*>(member);
    }
};

inline constexpr const char* kNamePatternsKey = "param_name_patterns";

struct SparsitySpec : SparsityRule {
    nlohmann::json
        param_name_patterns; ///< as it is written; kernels/pattern/tensor_names.h reads it
    std::int64_t block = 1;  ///< side of the blocks that are kept or left out
    bool is_dynamic = false; ///< patterns come when the program runs

    template <class Owner = SparsitySpec, class Description>
    static void describe(Description& d, const char* source = "docs/patterns.md#checkpoints") {
        SparsityRule::describe<Owner>(d, source);
        d.field(kNamePatternsKey, of<Owner>(&SparsitySpec::param_name_patterns))
            .json({"string", "array", "object"})
            .says("expressions for names of tensors; an object has a level for each, or keys of "
                  "its own")
            .from(source);
        d.field("block", of<Owner>(&SparsitySpec::block))
            .unit("elements")
            .one_of({1, 4, 8, 16})
            .says("side of the square blocks that are kept or left out")
            .from(source);
        d.field("mode", of<Owner>(&SparsitySpec::is_dynamic),
                {{"static", false}, {"dynamic", true}})
            .says("static: the pattern is known when planning; dynamic: it comes when the program "
                  "runs")
            .from(source);
    }
};

} // namespace tessera::workload
