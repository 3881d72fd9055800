// SPDX-License-Identifier: MIT
// A round is as the one before if the words that changed in it have the values that they had then.
#include "models/tile/core/round_state.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

using namespace tessera;
using program::WordRange;

namespace {

constexpr std::uint32_t kWords = 20'002;
constexpr std::uint32_t kCounter = 70; ///< has the repeat's own round

/// A tile whose rounds are asked for.
class Rounds {
public:
    Rounds() { known_.note_in(log_); }
    Rounds(const Rounds&) = delete;
    Rounds& operator=(const Rounds&) = delete;

    void store(std::uint32_t word, std::uint32_t value) {
        std::memcpy(memory_.data() + std::size_t{word} * 4, &value, sizeof value);
        known_.set(word);
    }
    void forget(std::uint32_t word) { known_.clear(word); }
    /// Of unknown words: their bytes mean nothing.
    void disturb(std::uint32_t word, std::uint32_t value) {
        std::memcpy(memory_.data() + std::size_t{word} * 4, &value, sizeof value);
    }
    bool end() {
        return state_.end_round({.known = known_,
                                 .changes = log_,
                                 .memory = memory_.data(),
                                 .facts = facts,
                                 .own_rounds = {kCounter}});
    }

    tile::KnownFacts facts;

private:
    std::array<std::uint64_t, (kWords + 63) / 64> bits_{};
    std::vector<std::byte> memory_ = std::vector<std::byte>(std::size_t{kWords} * 4);
    program::ChangeLog log_;
    program::TileWords known_{bits_.data()};
    tile::RoundState state_;
};

} // namespace

TEST_CASE("a round that changes nothing is as the one before", "[unit][tile]") {
    Rounds rounds;
    rounds.store(3, 1); // before the repeat
    CHECK(!rounds.end());
    CHECK(rounds.end());
    CHECK(rounds.end());
}

TEST_CASE("a round that leaves a word as the last one did is as the one before", "[unit][tile]") {
    for (const std::uint32_t word : {0U, 63U, 64U, kWords - 1}) {
        Rounds rounds;
        CHECK(!rounds.end());
        rounds.store(word, 5);
        CHECK(!rounds.end()); // the first round may have begun with another value
        rounds.store(word, 5);
        CHECK(rounds.end());
        rounds.store(word, 4); // on the way
        rounds.store(word, 5);
        CHECK(rounds.end());
        rounds.store(word, 6);
        CHECK(!rounds.end());
        rounds.store(word, 6);
        CHECK(rounds.end());
        CHECK(rounds.end()); // as it is, and not changed
    }
}

TEST_CASE("a round that changes more words is not as the one before, one that changes fewer is",
          "[unit][tile]") {
    const std::vector<std::uint32_t> all{2, 3, 9, 100};
    for (std::uint32_t first = 0; first < 16; ++first) {
        for (std::uint32_t then = 0; then < 16; ++then) {
            CAPTURE(first, then);
            Rounds rounds;
            const auto store = [&](std::uint32_t chosen) {
                for (std::uint32_t i = 0; i < all.size(); ++i) {
                    if ((chosen >> i & 1U) != 0) {
                        rounds.store(all[i], 10 + i);
                    }
                }
            };
            rounds.end();
            store(first);
            CHECK(rounds.end() == (first == 0));
            store(then);
            CHECK(rounds.end() == ((then & ~first) == 0));
        }
    }
}

TEST_CASE("rounds are as the last one that was not, whatever fewer words those between change",
          "[unit][tile]") {
    Rounds rounds;
    rounds.end();
    const auto round_with = [&rounds](const std::vector<std::uint32_t>& words) {
        for (const std::uint32_t word : words) {
            rounds.store(word, 5);
        }
        return rounds.end();
    };
    CHECK(!round_with({2, 3, 9}));
    for (const std::vector<std::uint32_t>& fewer :
         {std::vector<std::uint32_t>{}, {2}, {3, 9}, {9}, {2, 3, 9}}) {
        CHECK(round_with(fewer));
        CHECK(round_with({2, 3, 9}));
    }
}

TEST_CASE("neighbouring words are compared each by itself", "[unit][tile]") {
    constexpr std::uint32_t kFirst = 61;
    constexpr std::uint32_t kCount = 7;
    for (std::uint32_t other = 0; other <= kCount; ++other) {
        CAPTURE(other);
        Rounds rounds;
        rounds.end();
        const auto store = [&](std::uint32_t different) {
            for (std::uint32_t i = 0; i < kCount; ++i) {
                rounds.store(kFirst + i, i == different ? 100 : i);
            }
        };
        store(kCount);
        rounds.end();
        store(other);
        CHECK(rounds.end() == (other == kCount));
    }
}

TEST_CASE("a word that becomes known or unknown is not as before", "[unit][tile]") {
    Rounds rounds;
    rounds.store(4, 0);
    rounds.end();
    rounds.forget(4);
    CHECK(!rounds.end());
    rounds.store(4, 0);
    CHECK(!rounds.end());
    rounds.forget(4);
    CHECK(!rounds.end());
    rounds.store(4, 1);
    rounds.forget(4);
    rounds.disturb(4, 77); // no value
    CHECK(rounds.end());
}

TEST_CASE("the word of the repeat's own round does not count", "[unit][tile]") {
    for (const std::uint32_t word : {kCounter - 1, kCounter, kCounter + 1}) {
        Rounds rounds;
        rounds.end();
        rounds.store(word, 1);
        rounds.end();
        rounds.store(word, 2);
        CHECK(rounds.end() == (word == kCounter));
    }
}

TEST_CASE("registers and phases that had to know a round count, others do not", "[unit][tile]") {
    const auto same_after = [](const std::function<void(tile::KnownFacts&)>& change) {
        Rounds rounds;
        rounds.facts = {10, 20, 30, 40};
        rounds.end();
        REQUIRE(rounds.end());
        change(rounds.facts);
        const bool same = rounds.end();
        CHECK(rounds.end()); // as they are now
        return same;
    };
    CHECK(same_after([](tile::KnownFacts& facts) { ++facts.phases; }));
    CHECK(same_after([](tile::KnownFacts& facts) { ++facts.unknown_addresses; }));
    CHECK(!same_after([](tile::KnownFacts& facts) { ++facts.rounds_met; }));
    CHECK(!same_after([](tile::KnownFacts& facts) { ++facts.registers; }));
}

TEST_CASE("a round that changes too many words to tell is not as the one before", "[unit][tile]") {
    constexpr std::uint32_t kTooMany = 10'000;
    Rounds rounds;
    rounds.end();
    CHECK(rounds.end());
    for (int round = 0; round < 2; ++round) {
        for (std::uint32_t i = 0; i < kTooMany; ++i) {
            rounds.store(2 * i, 1); // no word is behind the one before
        }
        CHECK(!rounds.end());
    }
    CHECK(rounds.end());
    rounds.store(0, 1);
    CHECK(!rounds.end()); // what it was before is not held
    rounds.store(0, 1);
    CHECK(rounds.end());
}
