// SPDX-License-Identifier: MIT
#include "sim/calibrate/statistics.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace tessera::calibrate;

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
    ratios.push_back(1 / (1 + large));
    CHECK(nearness(ratios).error_p90 == Approx(large)); // 2 of 11 are beyond
    CHECK(nearness({1 + large}).error_p90 == Approx(large));
}

TEST_CASE("half the time is as far off as twice the time") {
    for (const double factor : {1.01, 1.25, 2.0, 10.0}) {
        CAPTURE(factor);
        const auto slow = nearness({factor});
        const auto fast = nearness({1 / factor});
        CHECK(fast.error_mean == Approx(slow.error_mean));
        CHECK(fast.error_p90 == Approx(factor - 1));
        CHECK(slow.error_p90 == Approx(factor - 1));
        CHECK(fast.error_most == Approx(factor - 1));
        CHECK(slow.error_most == Approx(factor - 1));
    }
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

TEST_CASE("of any number of rows, nine tenths are within the percentile, and no fewer would be") {
    for (std::size_t rows = 1; rows <= 41; ++rows) {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < rows; ++i) {
            ratios.push_back(1 + static_cast<double>(i * 43 % rows + 1) / 64);
        }
        const auto near = nearness(ratios);
        const auto within = [&](double error) {
            std::size_t count = 0;
            for (const double ratio : ratios) {
                count += ratio - 1 <= error ? 1 : 0;
            }
            return 10 * count >= 9 * rows;
        };
        CAPTURE(rows);
        CHECK(near.rows == rows);
        CHECK(within(near.error_p90));
        CHECK_FALSE(within(near.error_p90 - 1.0 / 64));
        CHECK(near.error_most == static_cast<double>(rows) / 64);
    }
}

TEST_CASE("an error that is as large as the target's meets it") {
    const double most = 0.25;
    const auto with = [](double mean, double p90, double largest) {
        return Nearness{.rows = 1,
                        .ratio_mean = 1,
                        .error_mean = mean,
                        .error_p90 = p90,
                        .error_most = largest};
    };
    const Target target{.error_mean = most, .error_p90 = most, .error_most = most};
    CHECK(meets(with(most, most, most), target));
    const double more = 0.2500001;
    CHECK_FALSE(meets(with(more, most, most), target));
    CHECK_FALSE(meets(with(most, more, most), target));
    CHECK_FALSE(meets(with(most, most, more), target));
    CHECK_FALSE(Target{}.asks());
    CHECK(Target{.error_mean = most, .error_p90 = {}, .error_most = {}}.asks());
    CHECK(Target{.error_mean = {}, .error_p90 = most, .error_most = {}}.asks());
    CHECK(Target{.error_mean = {}, .error_p90 = {}, .error_most = most}.asks());
}

TEST_CASE("signs are counted where the measured factor is clear") {
    const double clear = std::exp2(kClear + 0.001);
    const double unclear = std::exp2(kClear - 0.001);
    const auto of = signs({{clear, 1.01},        // right
                           {1 / clear, 0.5},     // right
                           {4, 0.99},            // wrong
                           {clear, 1},           // neither is wrong
                           {unclear, 0.5},       // says nothing
                           {1 / unclear, 0.5}}); // says nothing
    CHECK(of.rows == 4);
    CHECK(of.right == 2);
    CHECK(of.share() == 0.5);
    CHECK(signs({}).share() == 0);
    const auto all = signs({{unclear, 0.5}, {1 / unclear, 0.5}, {1, 1}}, 0);
    CHECK(all.rows == 2); // a measured 1 has no order
    CHECK(all.right == 1);
}

TEST_CASE("a target may ask for a range of the mean ratio and for a share of signs") {
    const Target range{.error_mean = {},
                       .error_p90 = {},
                       .error_most = {},
                       .ratio_mean = Range{.least = 0.9, .most = 1.2}};
    CHECK(range.asks());
    CHECK(meets(nearness({0.9}), range));
    CHECK(meets(nearness({1.2}), range));
    CHECK_FALSE(meets(nearness({0.899}), range));
    CHECK_FALSE(meets(nearness({1.201}), range));
    CHECK(meets(nearness({0.5, 2.0}), range)); // the mean alone
    const Target share{
        .error_mean = {}, .error_p90 = {}, .error_most = {}, .ratio_mean = {}, .sign_share = 0.9};
    CHECK(share.asks());
    CHECK(meets({}, share, {.rows = 10, .right = 9}));
    CHECK_FALSE(meets({}, share, {.rows = 10, .right = 8}));
    CHECK_FALSE(meets({}, share));
}
