// SPDX-License-Identifier: MIT
// Checks of parts of a result, as one.
#include "kernels/workload/reference.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <vector>

using namespace tessera;
using workload::CheckResult;

namespace {

CheckResult part(double error, double over_tolerance, std::int64_t failed = 0,
                 std::int64_t non_finite = 0) {
    CheckResult made;
    made.passed = failed == 0;
    made.elements = 10;
    made.failed_elements = failed;
    made.non_finite_elements = non_finite;
    made.tolerance = over_tolerance > 0 ? error / over_tolerance : 0;
    made.max_error = error;
    made.max_error_over_tolerance = over_tolerance;
    made.worst_row = 1;
    made.worst_column = 2;
    made.worst_got = over_tolerance;
    return made;
}

CheckResult joined(const std::vector<CheckResult>& parts) {
    constexpr std::int64_t kRows = 5;
    CheckResult all;
    std::int64_t first_row = 0;
    for (const CheckResult& one : parts) {
        workload::join(all, one, first_row);
        first_row += kRows;
    }
    return all;
}

} // namespace

TEST_CASE("the worst element of joined checks is the worst of any part, whatever their order",
          "[kernels]") {
    // from the worst down; errors grow the other way, so that they are no help
    const std::vector<CheckResult> ranked{part(1, 0.25, 2, 1), part(2, 3, 1), part(3, 2, 1),
                                          part(4, 1), part(5, 0.5)};
    std::vector<std::size_t> order{0, 1, 2, 3, 4};
    do {
        for (std::size_t length = 1; length <= order.size(); ++length) {
            std::vector<CheckResult> parts;
            std::size_t worst = order[0];
            double error = 0;
            double over = 0;
            std::int64_t failed = 0;
            for (std::size_t i = 0; i < length; ++i) {
                parts.push_back(ranked[order[i]]);
                worst = std::min(worst, order[i]);
                error = std::max(error, parts.back().max_error);
                over = std::max(over, parts.back().max_error_over_tolerance);
                failed += parts.back().failed_elements;
            }
            const CheckResult all = joined(parts);
            CAPTURE(order, length);
            CHECK(all.worst_got == ranked[worst].worst_got);
            const auto at = std::find(order.begin(), order.end(), worst) - order.begin();
            CHECK(all.worst_row == 5 * at + 1);
            CHECK(all.worst_column == 2);
            CHECK(all.max_error == error);
            CHECK(all.max_error_over_tolerance == over);
            CHECK(all.failed_elements == failed);
            CHECK(all.passed == (failed == 0));
            CHECK(all.elements == static_cast<std::int64_t>(10 * length));
        }
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("of equally bad parts the first has the worst element", "[kernels]") {
    CHECK(joined({part(1, 0.5), part(1, 0.5)}).worst_row == 1);
    CHECK(joined({part(1, 2, 1), part(1, 2, 1)}).worst_row == 1);
    CHECK(joined({part(1, 0.5, 1, 1), part(9, 9, 1, 1)}).worst_row == 1);
    // parts without elements add nothing
    CheckResult none;
    none.passed = true;
    CHECK(joined({none, part(1, 0.5)}).worst_row == 5 + 1);
    CHECK(joined({part(1, 0.5), none}).worst_row == 1);
}

TEST_CASE("joined checks have the numbers of all parts, and the last one's kind", "[kernels]") {
    CheckResult one = part(0.5, 0.25, 0);
    one.tolerance = 4;
    one.worst_expected = 7;
    CheckResult other = part(1, 0.5, 2, 1);
    other.tolerance = 3;
    other.worst_expected = 9;
    other.exact_required = true;
    other.type = ElementType::F32;
    other.columns = 6;
    const CheckResult all = joined({one, other, part(0.5, 0.25, 1, 1)});
    CHECK(all.elements == 30);
    CHECK(all.failed_elements == 3);
    CHECK(all.non_finite_elements == 2);
    CHECK(all.tolerance == 4);
    CHECK(all.worst_expected == 9);
    CHECK(all.max_error == 1);
    CHECK(all.max_error_over_tolerance == 0.5);
    const CheckResult two = joined({one, other});
    CHECK(two.exact_required);
    CHECK(two.type == ElementType::F32);
    CHECK(two.columns == 6);
    CHECK_FALSE(joined({other, one}).exact_required);
}

TEST_CASE("the first row of a result may be its worst", "[kernels]") {
    CheckResult first = part(5, 3, 1);
    first.worst_row = 0;
    CHECK(joined({first, part(1, 0.5)}).worst_row == 0);
    CHECK(joined({first, part(1, 0.5)}).worst_got == 3);
    CHECK_FALSE(joined({first, part(1, 0.5)}).passed);
    // where exactness is required, one that fails is worse than what is further off and passes
    CHECK(joined({part(5, 0.9), part(1, 0.5, 1)}).worst_row == 5 + 1);
    CHECK(joined({part(1, 0.5, 1), part(0.5, 0.25, 1)}).worst_row == 1);
}
