// SPDX-License-Identifier: MIT
// How a sparse pattern changes while its values are trained: some of the kept blocks are pruned, and
// as many other blocks are kept instead. What a change does: kernels/pattern/schedule.h.
#pragma once

#include "kernels/workload/shared_keys.h"

#include <cstdint>

namespace tessera::workload {

struct Schedule {
    enum class Prune { Magnitude, Random };
    enum class Regrow { Random, Gradient };
    enum class Decay { Cosine, None };
    static constexpr std::int64_t kMostPatterns = 1'000'000;

    Prune prune = Prune::Magnitude;
    Regrow regrow = Regrow::Random;
    double fraction = 0.5;
    Decay decay = Decay::Cosine;
    std::int64_t patterns = 160;
    std::uint64_t seed = 1;

    /// Its keys; `Owner` is it, or a struct that has more.
    template <class Owner = Schedule, class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/patterns.md#sequences";
        d.field("prune", of<Owner>(&Schedule::prune),
                {{"magnitude", Prune::Magnitude}, {"random", Prune::Random}})
            .says("which blocks go: those of the least norms, or drawn ones")
            .from(kSource);
        d.field("regrow", of<Owner>(&Schedule::regrow),
                {{"random", Regrow::Random}, {"gradient", Regrow::Gradient}})
            .says("which blocks come: drawn ones, or those whose gradients have the largest norms")
            .from(kSource);
        d.field("fraction", of<Owner>(&Schedule::fraction))
            .range(0.0, 1.0)
            .says("the share of the kept blocks that the first change moves")
            .from(kSource);
        d.field("decay", of<Owner>(&Schedule::decay),
                {{"cosine", Decay::Cosine}, {"none", Decay::None}})
            .says("how the share falls from change to change")
            .from(kSource);
        d.field("patterns", of<Owner>(&Schedule::patterns))
            .unit("patterns")
            .range(1, kMostPatterns)
            .says("patterns of the sequence, with the one that it begins with")
            .from(kSource);
        d.field("seed", of<Owner>(&Schedule::seed))
            .range(0, kLargestSeed)
            .says("of what is drawn")
            .from(kSource);
    }

private:
    template <class Owner, class Member> static constexpr auto of(Member Schedule::*member) {
        return static_cast<Member Owner::*>(member);
    }
};

} // namespace tessera::workload
