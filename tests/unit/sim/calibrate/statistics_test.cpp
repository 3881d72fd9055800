// SPDX-License-Identifier: MIT
#include "sim/calibrate/statistics.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace tessera::sim::calibrate;

TEST_CASE("the mean ratio lets errors cancel, the mean error does not") {
    const double factor = 1.25;
    const auto near = nearness({factor, 1 / factor});
    CHECK(near.ratio_mean == Approx(1.0));
    CHECK(near.error_mean == Approx(factor - 1));
    CHECK(near.error_most == Approx(factor - 1));
}

TEST_CASE("the 90th percentile is the error that nine of ten rows do not exceed") {
    const double small = 0.01;
    const double large = 0.5;
    std::vector<double> ratios(9, 1 + small);
    ratios.push_back(1 + large);
    CHECK(nearness(ratios).error_p90 == Approx(small));
    ratios.push_back(1 - large);
    CHECK(nearness(ratios).error_p90 == Approx(large)); // 2 of 11 are beyond
    CHECK(nearness({1 + large}).error_p90 == Approx(large));
}

TEST_CASE("no rows have no error") {
    const auto near = nearness({});
    CHECK(near.rows == 0);
    CHECK(near.ratio_mean == 1);
    CHECK(near.error_p90 == 0);
}

TEST_CASE("a target asks only for what it names") {
    const auto near = nearness({1.2, 1.0, 1.0, 1.0});
    CHECK(meets(near, {}));
    CHECK(meets(near, {.error_mean = 0.1, .error_p90 = {}, .error_most = {}}));
    CHECK_FALSE(meets(near, {.error_mean = {}, .error_p90 = 0.19, .error_most = {}}));
    CHECK(meets(near, {.error_mean = 0.1, .error_p90 = 0.25, .error_most = 0.25}));
    CHECK_FALSE(meets(near, {.error_mean = 0.01, .error_p90 = 0.25, .error_most = 0.25}));
}
