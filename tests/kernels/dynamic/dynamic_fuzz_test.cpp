// SPDX-License-Identifier: MIT
#include "kernels/dynamic/decode.h"
#include "kernels/dynamic/encode.h"
#include "kernels/dynamic/recut.h"
#include "tests/kernels/dynamic/dynamic_patterns.h"

#include <catch2/catch.hpp>

#include <array>
#include <optional>
#include <random>
#include <vector>

using namespace tessera;
using namespace tessera::dynamic;

namespace {

struct Case {
    Problem problem;
    Split split;
    Layout layout;
};

/// Small problems with random plans, most of which no search would choose.
std::vector<Case> random_cases(std::mt19937_64& random, int count) {
    const auto below = [&](std::int64_t bound) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
    };
    const published::DenseMachine machine = published::dense_machine(spec::MachineSpec{});
    std::vector<Case> cases;
    while (std::ssize(cases) < count) {
        Case made;
        Problem& problem = made.problem;
        problem.block =
            std::array<std::int64_t, 4>{1, 4, 8, 16}[static_cast<std::size_t>(below(4))];
        problem.data = below(2) == 0 ? ElementType::F16 : ElementType::F32;
        problem.m = 1 + below(20 * problem.block);
        problem.k = 1 + below(20 * problem.block);
        problem.n = 1 + below(40);
        problem.density = static_cast<double>(1 + below(8)) / 10;
        problem.excess = static_cast<double>(below(10)) / 10;
        problem.passes.values_gradient = below(2) == 0;
        made.split = {1 + below(4), 1 + below(4), 1 + below(4)};
        made.layout = layout_of(problem, machine, plan_of(problem, machine, made.split));
        // Parts of equal size may leave none for the last ones.
        if ((made.split.x - 1) * made.layout.part_rows < made.layout.rows &&
            (made.split.y - 1) * made.layout.part_columns < made.layout.columns) {
            cases.push_back(made);
        }
    }
    return cases;
}

/// Decodes what is encoded; every tenth overflow is encoded again with the room it asks for.
void fuzz(std::uint64_t seed, int patterns) {
    std::mt19937_64 random(seed);
    const published::DenseMachine machine = published::dense_machine(spec::MachineSpec{});
    const auto cases = random_cases(random, 500);
    int fitting = 0;
    int overflowing = 0;
    int wrong = 0;
    for (int i = 0; i < patterns; ++i) {
        const Case& one = cases[random() % cases.size()];
        const auto kind = static_cast<int>(random() % test::kSkewedKinds);
        const double density = one.problem.density * (kind == 9 && i % 2 == 0 ? 0.9 : 1);
        const auto pattern =
            test::skewed(one.problem.m, one.problem.k, one.problem.block, density, kind, random);
        try {
            const Encoding encoding = encode(one.layout, pattern);
            const auto decoded = decode(one.layout, encoding.metadata);
            const bool whole = pattern.block == one.layout.block;
            wrong += !test::same(decoded.pattern,
                                 whole ? pattern : recut(pattern, one.layout.block).pattern);
            ++fitting;
        } catch (const BucketsOverflow& refused) {
            const BucketsOverflow::Facts& facts = refused.facts();
            wrong += facts.group != 1 + one.layout.x_of(facts.bucket) * one.split.y +
                                        one.layout.y_of(facts.bucket) ||
                     facts.held >= facts.wanted;
            if (++overflowing % 10 != 0) {
                continue;
            }
            const LayoutOf layout_with = [&](double excess) {
                Problem other = one.problem;
                other.excess = excess;
                return std::optional(layout_of(other, machine, plan_of(other, machine, one.split)));
            };
            try {
                (void)encode(one.layout, one.problem.excess, layout_with, pattern);
                FAIL("it fits now");
            } catch (const BucketsOverflow& overflow) {
                REQUIRE(overflow.facts().excess);
                const double enough = *overflow.facts().excess;
                CHECK_NOTHROW(encode(*layout_with(enough), pattern));
                CHECK_THROWS_AS(encode(*layout_with(enough - kExcessStep), pattern),
                                BucketsOverflow);
            }
        }
    }
    CHECK(wrong == 0);
    CHECK(fitting > patterns / 2);
    CHECK(overflowing > patterns / 100);
}

} // namespace

TEST_CASE("dynamic_encode: decode inverts encode on 100,000 patterns", "[kernels][dynamic]") {
    fuzz(1, 100'000);
}
