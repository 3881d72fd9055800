// SPDX-License-Identifier: MIT
// What timing mode knows of tile memories, beside a table of every single word.
#include "models/program/known_words.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace tessera;
using program::KnownWords;
using program::WordRange;

namespace {

constexpr TileId kTiles = 3;
constexpr Address kBase = 0x1000;
constexpr std::uint32_t kWords = 40; ///< of a tile that shares words
const WordRange kShared{10, 5};
const int kIdentity = 0;

/// Both, and what is asked of either.
struct Beside {
    explicit Beside(std::uint32_t words_of_tile)
        : known(kTiles, kBase, Bytes{4} * words_of_tile), words(words_of_tile),
          table(kTiles, std::vector<bool>(words_of_tile)) {}

    KnownWords known;
    std::uint32_t words;
    std::vector<std::vector<bool>> table;
};

Address address_of(std::uint32_t word) {
    return kBase + 4 * word;
}

} // namespace

TEST_CASE("a word is known from when it is learnt or copied until it is forgotten",
          "[unit][program]") {
    // A tile's words fill 64 bits just, not quite, or by one more.
    for (const std::uint32_t words : {63U, 64U, 65U, 200U}) {
        Beside both(words);
        CHECK(both.known.words_of_tile() == words);
        std::mt19937 random(words);
        const auto below = [&](std::uint32_t limit) {
            return static_cast<std::uint32_t>(random() % limit);
        };
        for (int round = 0; round < 600; ++round) {
            CAPTURE(words, round);
            const TileId tile = below(kTiles);
            auto& row = both.table[tile];
            const std::uint32_t first = below(words);
            const std::uint32_t count = 1 + below(std::min(words - first, 70U));
            const auto begin = row.begin() + first;
            switch (below(6)) {
            case 0:
                both.known.learn(tile, address_of(first), Bytes{4} * count);
                std::fill_n(begin, count, true);
                break;
            case 1:
            case 2:
                both.known.forget(tile, address_of(first), Bytes{4} * count);
                std::fill_n(begin, count, false);
                break;
            case 3: {
                const TileId to = (tile + 1) % kTiles;
                const std::uint32_t at = below(words - count + 1);
                const bool any = std::count(begin, begin + count, true) > 0;
                CHECK(both.known.copy(tile, address_of(first), to, address_of(at),
                                      Bytes{4} * count) == any);
                std::copy_n(begin, count, both.table[to].begin() + at);
                break;
            }
            case 4:
                both.known.of_tile(tile).set(first);
                row[first] = true;
                break;
            default:
                both.known.of_tile(tile).clear(first);
                row[first] = false;
            }
            const std::uint32_t asked = below(words);
            const std::uint32_t many = below(words - asked + 1);
            CHECK(both.known.of_tile(tile).any({asked, many}) ==
                  (std::count(row.begin() + asked, row.begin() + asked + many, true) > 0));
            std::size_t wrong = 0;
            for (TileId other = 0; other < kTiles; ++other) {
                for (std::uint32_t word = 0; word < words; ++word) {
                    const bool known = both.table[other][word];
                    wrong += both.known.of_tile(other).get(word) == known ? 0 : 1;
                    wrong += both.known.is_known(other, address_of(word)) == known ? 0 : 1;
                }
            }
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("words that are shared are no longer when one of them changes", "[unit][program]") {
    const auto left_after = [&](const auto& change) {
        KnownWords known(kTiles, kBase, Bytes{4} * kWords);
        known.learn(0, kBase, Bytes{4} * kWords);
        known.learn(1, kBase, Bytes{4} * kWords);
        for (const TileId tile : {TileId{0}, TileId{1}}) {
            known.share(tile, address_of(kShared.first), Bytes{4} * kShared.count, &kIdentity);
        }
        change(known);
        CHECK(known.shared(1).size() == 1); // of another tile
        CHECK(known.shared(1).front().words == kShared);
        return known.shared(0).size();
    };
    for (std::uint32_t first = 0; first < 20; ++first) {
        for (const std::uint32_t count : {1U, 5U, 9U}) {
            CAPTURE(first, count);
            const bool meets =
                first < kShared.first + kShared.count && kShared.first < first + count;
            CHECK(left_after([&](KnownWords& known) {
                      known.changed(0, {first, count});
                  }) == (meets ? 0 : 1));
            CHECK(left_after([&](KnownWords& known) {
                      known.forget(0, address_of(first), Bytes{4} * count);
                  }) == (meets ? 0 : 1));
            CHECK(left_after([&](KnownWords& known) {
                      known.copy(1, address_of(0), 0, address_of(first), Bytes{4} * count);
                  }) == (meets ? 0 : 1));
        }
    }
    // what is not known cannot change
    KnownWords unknown(kTiles, kBase, Bytes{4} * kWords);
    unknown.share(0, address_of(kShared.first), Bytes{4} * kShared.count, &kIdentity);
    unknown.forget(0, kBase, Bytes{4} * kWords);
    CHECK(unknown.shared(0).size() == 1);
}
