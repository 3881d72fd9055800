// SPDX-License-Identifier: MIT
#include "sim/sweep/space.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace tessera::sweep;
using Json = nlohmann::json;

namespace {

Axis axis(const std::string& path, const std::vector<Json>& values) {
    Axis made{{path}, {}, {}};
    for (const Json& value : values) {
        made.choices.push_back({value});
    }
    return made;
}

Axis stretch(const std::string& path, Axis::Stretch numbers) {
    return {{path}, {}, numbers};
}

std::string text_of(const Changes& changes) {
    std::string text;
    for (const Change& change : changes) {
        text += (text.empty() ? "" : " ") + change.path + "=" + change.value.dump();
    }
    return text;
}

/// The values of one path in all points.
std::vector<double> values_of(const Space& space, const std::string& path) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < space.size(); ++i) {
        for (const Change& change : space.at(i)) {
            if (change.path == path) {
                values.push_back(change.value.get<double>());
            }
        }
    }
    return values;
}

} // namespace

TEST_CASE("a grid has every combination once, its last axis changes fastest", "[unit][sweep]") {
    const Axis together{{"c", "d"}, {{1, "x"}, {2, "y"}}, {}};
    const Space space({axis("a", {4, 6, 8}), axis("b", {true, false}), together}, {});
    REQUIRE(space.size() == 12);
    CHECK(text_of(space.at(0)) == R"(a=4 b=true c=1 d="x")");
    CHECK(text_of(space.at(1)) == R"(a=4 b=true c=2 d="y")");
    CHECK(text_of(space.at(2)) == R"(a=4 b=false c=1 d="x")");
    CHECK(text_of(space.at(11)) == R"(a=8 b=false c=2 d="y")");
    std::set<std::string> all;
    for (std::int64_t i = 0; i < space.size(); ++i) {
        all.insert(text_of(space.at(i)));
    }
    CHECK(all.size() == 12);
}

TEST_CASE("a sweep without axes is one point that changes nothing", "[unit][sweep]") {
    for (const Sampling kind : {Sampling::Grid, Sampling::OneAtATime}) {
        const Space space({}, {kind});
        CHECK(space.size() == 1);
        CHECK(space.at(0).empty());
    }
}

TEST_CASE("one at a time begins with the base and changes one axis a point", "[unit][sweep]") {
    const Space space({axis("a", {4, 6, 8}), axis("b", {1, 2})}, {Sampling::OneAtATime});
    REQUIRE(space.size() == 6);
    std::vector<std::string> points;
    for (std::int64_t i = 0; i < space.size(); ++i) {
        points.push_back(text_of(space.at(i)));
    }
    CHECK(points == std::vector<std::string>{"", "a=4", "a=6", "a=8", "b=1", "b=2"});
}

TEST_CASE("a count that no sweep can have is told, not computed", "[unit][sweep]") {
    std::vector<Json> many(1000);
    for (std::size_t i = 0; i < many.size(); ++i) {
        many[i] = i;
    }
    const std::vector<Axis> axes(4, axis("a", many));
    CHECK(Space::size_of(axes, {}) == 1'000'000'000'000);
    CHECK(Space::size_of(std::vector<Axis>(7, axes.front()), {}) == kEndless);
    CHECK(Space::size_of(axes, {Sampling::OneAtATime}) == 4001);
    CHECK(Space::size_of(axes, {Sampling::Random, 17}) == 17);
    CHECK(Axis::range_count(0, 1e300, 1e-300) == kEndless);
    CHECK(Axis::range_count(5, 1, 1) == 0);
    CHECK(Axis::range_count(0, 0x1p62, 1) == kEndless);
    CHECK(Axis::range_count(0, 0x1p62 - 512, 1) == kEndless - 512 + 1); // the number before
    CHECK(Space::size_of({axis("a", {}), axes.front()}, {}) == 0);
}

TEST_CASE("a range goes in steps and keeps its type", "[unit][sweep]") {
    using Choices = std::vector<std::vector<Json>>;
    CHECK(Axis::range(4, 8, 2) == Choices{{4}, {6}, {8}});
    CHECK(Axis::range(4, 9, 2) == Choices{{4}, {6}, {8}});
    CHECK(Axis::range(8, 4, -2) == Choices{{8}, {6}, {4}});
    CHECK(Axis::range(3, 3, 1) == Choices{{3}});
    CHECK(Axis::range(4, 8, 2).front().front().is_number_integer());
    const auto tenths = Axis::range(0.1, 0.3, 0.1); // 0.3 is no whole number of steps in binary
    REQUIRE(tenths.size() == 3);
    CHECK(tenths.back().front().get<double>() == Approx(0.3));
    CHECK(Axis::range(1, 2, 0.5) == Choices{{1.0}, {1.5}, {2.0}});
    CHECK(Axis::powers_of_two(4, 32) == Choices{{4}, {8}, {16}, {32}});
    CHECK(Axis::powers_of_two(1, 1) == Choices{{1}});
    CHECK(Axis::powers_of_two(std::int64_t{1} << 60, std::int64_t{1} << 62).size() == 3);
}

TEST_CASE("a latin hypercube has a point in every part of every axis", "[unit][sweep]") {
    for (const std::int64_t points : {1, 2, 7, 64}) {
        for (const std::uint64_t seed : {1U, 2U, 99U}) {
            CAPTURE(points, seed);
            const Space space({stretch("a", {0, 1, false, false}),
                               stretch("b", {1, 1000, false, true}), axis("c", {1, 2})},
                              {Sampling::LatinHypercube, points, seed});
            REQUIRE(space.size() == points);
            std::set<std::int64_t> linear;
            for (const double value : values_of(space, "a")) {
                linear.insert(static_cast<std::int64_t>(value * static_cast<double>(points)));
            }
            std::set<std::int64_t> logarithmic;
            for (const double value : values_of(space, "b")) {
                logarithmic.insert(static_cast<std::int64_t>(std::log(value) / std::log(1000.0) *
                                                             static_cast<double>(points)));
            }
            CHECK(linear.size() == static_cast<std::size_t>(points));
            CHECK(logarithmic.size() == static_cast<std::size_t>(points));
            const auto choices = values_of(space, "c");
            const auto ones = std::count(choices.begin(), choices.end(), 1.0);
            CHECK(std::abs(2 * ones - points) <= 1);
        }
    }
}

TEST_CASE("a random sample is even, and the same for whoever asks", "[unit][sweep]") {
    constexpr std::int64_t kPoints = 6000;
    const std::vector<Axis> axes{axis("a", {1, 2, 3}), stretch("b", {10, 19, true, false}),
                                 stretch("c", {1, 8, true, true})};
    const Space space(axes, {Sampling::Random, kPoints, 5});
    const Space again(axes, {Sampling::Random, kPoints, 5});
    const Space other(axes, {Sampling::Random, kPoints, 6});
    int differ = 0;
    for (std::int64_t i = kPoints; i-- > 0;) {
        REQUIRE(space.at(i) == again.at(i));
        differ += space.at(i) == other.at(i) ? 0 : 1;
    }
    CHECK(differ > kPoints / 2);
    const auto counted = [&](const std::string& path) {
        std::map<double, std::int64_t> counts;
        for (const double value : values_of(space, path)) {
            ++counts[value];
        }
        return counts;
    };
    // six standard deviations either way
    const auto even = [](std::int64_t count, double share) {
        const double expected = share * static_cast<double>(kPoints);
        return std::fabs(static_cast<double>(count) - expected) <
               6 * std::sqrt(expected * (1 - share));
    };
    for (const auto& [value, count] : counted("a")) {
        CHECK(even(count, 1.0 / 3));
    }
    const auto whole = counted("b");
    CHECK(whole.size() == 10);
    for (const auto& [value, count] : whole) {
        CHECK(std::floor(value) == value);
        CHECK(even(count, 0.1));
    }
    const auto logarithmic = counted("c");
    CHECK(logarithmic.size() == 8);
    for (const auto& [value, count] : logarithmic) {
        CHECK(even(count, std::log((value + 1) / value) / std::log(9.0)));
    }
}

namespace {

// Steele, Lea, Flood 2014: the finaliser of SplittableRandom with the increment before it
std::uint64_t splitmix64(std::uint64_t seed) {
    std::uint64_t z = seed + 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

} // namespace

TEST_CASE("a sample is made of splitmix64, so that it is the same in every version",
          "[unit][sweep]") {
    REQUIRE(splitmix64(0) == 0xe220a8397b1dcdafU); // the first number of the published generator
    const double low = 3;
    const double high = 50;
    constexpr std::uint64_t kSeed = 9;
    constexpr int kChoices = 5;
    const std::vector<Json> choices{0, 1, 2, 3, 4};
    const Space space({stretch("a", {low, high, false, false}),
                       stretch("b", {low, high, false, true}),
                       stretch("c", {low, high, true, true}), axis("d", choices)},
                      {Sampling::Random, 50, kSeed});
    for (std::uint64_t number = 0; number < 50; ++number) {
        const auto place = [&](std::uint64_t axis) {
            const std::uint64_t bits = splitmix64(splitmix64(splitmix64(kSeed) ^ axis) ^ number);
            return static_cast<double>(bits >> 11U) / 0x1p53;
        };
        const Changes changes = space.at(static_cast<std::int64_t>(number));
        REQUIRE(changes.size() == 4);
        CHECK(changes[0].value.get<double>() == Approx(low + (high - low) * place(0)));
        CHECK(changes[1].value.get<double>() == Approx(low * std::pow(high / low, place(1))));
        CHECK(changes[2].value == std::floor(low * std::pow((high + 1) / low, place(2))));
        CHECK(changes[3].value == static_cast<int>(kChoices * place(3)));
    }
}

TEST_CASE("a latin hypercube has every order of parts equally often", "[unit][sweep]") {
    constexpr std::int64_t kPoints = 4;
    constexpr int kSeeds = 4800;
    std::map<std::vector<int>, int> orders;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const Space space({stretch("a", {0, kPoints, false, false})},
                          {Sampling::LatinHypercube, kPoints, seed});
        std::vector<int> order;
        for (const double value : values_of(space, "a")) {
            order.push_back(static_cast<int>(value));
        }
        ++orders[order];
    }
    constexpr int kOrders = 4 * 3 * 2;
    CHECK(orders.size() == kOrders);
    const double expected = static_cast<double>(kSeeds) / kOrders;
    for (const auto& [order, count] : orders) {
        CHECK(std::fabs(count - expected) < 6 * std::sqrt(expected)); // six standard deviations
    }
}
