// SPDX-License-Identifier: MIT
// Sorts 64-bit keys by their upper half; equal keys keep their order. The upper 32 bits hold the value
// to sort by, the lower ones the index of the item.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera {

[[nodiscard]] inline std::uint64_t sort_key(std::uint64_t value, std::uint32_t index) {
    return value << 32U | index;
}
[[nodiscard]] inline std::uint32_t index_of_key(std::uint64_t key) {
    return static_cast<std::uint32_t>(key);
}

[[nodiscard]] inline std::uint32_t value_of_key(std::uint64_t key) {
    return static_cast<std::uint32_t>(key >> 32U);
}

inline void sort_keys(std::span<std::uint64_t> keys, std::vector<std::uint64_t>& scratch) {
    constexpr std::size_t kFew = 64;
    constexpr unsigned kDigitBits = 11;
    constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
    const auto by_value = [](std::uint64_t a, std::uint64_t b) { return a >> 32U < b >> 32U; };
    if (std::is_sorted(keys.begin(), keys.end(), by_value))
        return;
    if (keys.size() < kFew) {
        std::stable_sort(keys.begin(), keys.end(), by_value);
        return;
    }
    std::uint64_t differing = 0;
    for (const auto key : keys)
        differing |= key ^ keys.front();
    scratch.resize(keys.size());
    for (unsigned shift = 32; shift < 64; shift += kDigitBits) {
        if ((differing >> shift & (kDigits - 1)) == 0)
            continue;
        std::array<std::uint32_t, kDigits + 1> at{};
        for (const auto key : keys)
            ++at[(key >> shift & (kDigits - 1)) + 1];
        for (std::size_t digit = 1; digit < kDigits; ++digit)
            at[digit] += at[digit - 1];
        for (const auto key : keys)
            scratch[at[key >> shift & (kDigits - 1)]++] = key;
        std::copy(scratch.begin(), scratch.end(), keys.begin());
    }
}

/// Writes `items` to `sorted` in ascending order of `value`, which is below 2^32. Items of equal value
/// keep their order.
template <typename Item, typename Value>
void sort_items(std::span<const Item> items, Value value, std::vector<std::uint64_t>& keys,
                std::vector<std::uint64_t>& scratch, std::vector<Item>& sorted) {
    keys.clear();
    for (std::uint32_t i = 0; i < items.size(); ++i)
        keys.push_back(sort_key(static_cast<std::uint64_t>(value(items[i])), i));
    sort_keys(keys, scratch);
    sorted.clear();
    sorted.reserve(items.size());
    for (const auto key : keys)
        sorted.push_back(items[index_of_key(key)]);
}

} // namespace tessera
