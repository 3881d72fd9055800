// SPDX-License-Identifier: MIT
#include "base/sort_keys.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>
#include <vector>

using namespace tessera;

TEST_CASE("a key gives back its value and its index", "[unit][base]") {
    constexpr std::uint32_t kLargest = std::numeric_limits<std::uint32_t>::max();
    for (const std::uint32_t value : {0U, 1U, 0x80000000U, kLargest}) {
        for (const std::uint32_t index : {0U, 1U, 0x80000000U, kLargest}) {
            const auto key = sort_key(value, index);
            CHECK(value_of_key(key) == value);
            CHECK(index_of_key(key) == index);
        }
    }
}

TEST_CASE("keys are sorted by their values, equal ones as they stood", "[unit][base]") {
    std::mt19937 random(7);
    std::vector<std::uint64_t> scratch;
    for (const std::size_t count : {0U, 1U, 2U, 3U, 63U, 64U, 65U, 300U}) {
        // of one digit, of several, and such as differ in the lowest or the highest bits only
        for (const std::uint32_t mask : {1U, 0x7ffU, 0x800U, 0xfffU, 0x3ff800U, 0x400000U,
                                         0x80000000U, 0xffc00001U, 0xffffffffU}) {
            std::vector<std::uint64_t> keys;
            for (std::uint32_t i = 0; i < count; ++i) {
                keys.push_back(sort_key(static_cast<std::uint32_t>(random()) & mask,
                                        static_cast<std::uint32_t>(random())));
            }
            auto expected = keys;
            std::stable_sort(expected.begin(), expected.end(), [](auto left, auto right) {
                return value_of_key(left) < value_of_key(right);
            });
            CAPTURE(count, mask);
            sort_keys(keys, scratch);
            CHECK(keys == expected);
            sort_keys(keys, scratch); // sorted ones stay
            CHECK(keys == expected);
        }
    }
}

TEST_CASE("items are sorted by what is asked of them", "[unit][base]") {
    std::mt19937 random(3);
    std::vector<std::uint64_t> keys{1, 2, 3};
    std::vector<std::uint64_t> scratch;
    std::vector<std::pair<int, int>> sorted{{9, 9}};
    for (const int count : {0, 1, 5, 200}) {
        std::vector<std::pair<int, int>> items;
        for (int i = 0; i < count; ++i) {
            items.emplace_back(static_cast<int>(random() % 50), i);
        }
        sort_items<std::pair<int, int>>(
            items, [](const auto& item) { return item.first; }, keys, scratch, sorted);
        std::stable_sort(items.begin(), items.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        CHECK(sorted == items);
    }
}
