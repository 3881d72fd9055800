// SPDX-License-Identifier: MIT
// The log of changed words, beside sets of single words.
#include "models/program/known_words.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

using namespace tessera;
using program::ChangeLog;
using program::KnownWords;
using program::WordRange;

namespace {

using Words = std::set<std::uint32_t>;

constexpr std::uint32_t kMostRanges = 4096; ///< from one more on the log is shortened
constexpr std::uint32_t kApart = 3;         ///< words that are not neighbours

void insert(Words& words, WordRange range) {
    for (std::uint32_t word = range.first; word < range.first + range.count; ++word) {
        words.insert(word);
    }
}
/// Neighbours are one range.
std::vector<WordRange> ranges_of(const Words& words) {
    std::vector<WordRange> ranges;
    for (const std::uint32_t word : words) {
        if (!ranges.empty() && ranges.back().first + ranges.back().count == word) {
            ++ranges.back().count;
        } else {
            ranges.push_back({word, 1});
        }
    }
    return ranges;
}
Words words_of(const std::optional<std::vector<WordRange>>& ranges) {
    Words words;
    for (const WordRange& range : ranges.value()) {
        insert(words, range);
    }
    return words;
}

/// A mark and the words that changed since.
struct Since {
    ChangeLog::Mark mark;
    Words words;
};

/// Adds `count` words, `different` ones in turn.
void add_in_turn(ChangeLog& log, std::uint32_t count, std::uint32_t different) {
    for (std::uint32_t i = 0; i < count; ++i) {
        log.add({i % different * kApart, 1});
    }
}

} // namespace

TEST_CASE("a log has the words that changed since any of its marks", "[unit][program]") {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::uint32_t limit) {
            return static_cast<std::uint32_t>(random() % limit);
        };
        const std::uint32_t words = 1 + below(60);
        ChangeLog log;
        std::vector<Since> marks{{log.mark(), {}}};
        for (int round = 0; round < 60; ++round) {
            const std::uint32_t first = below(words);
            const WordRange range{first, 1 + below(words - first)};
            log.add(range);
            for (Since& since : marks) {
                insert(since.words, range);
            }
            if (below(5) == 0) {
                marks.push_back({log.mark(), {}});
            }
            for (const Since& since : marks) {
                CHECK(log.since(since.mark) == ranges_of(since.words));
            }
        }
    }
}

TEST_CASE("a log that is too long since a mark says so", "[unit][program]") {
    for (const std::uint32_t count : {kMostRanges - 1, kMostRanges, kMostRanges + 1}) {
        ChangeLog log;
        const auto mark = log.mark();
        add_in_turn(log, count, count);
        CHECK(log.since(mark).has_value() == (count <= kMostRanges));
    }
}

TEST_CASE("words that change again and again do not make a log too long", "[unit][program]") {
    constexpr std::uint32_t kHalf = (kMostRanges + 1) / 2;
    for (const std::uint32_t different : {2U, kHalf - 1, kHalf, kHalf + 1}) {
        CAPTURE(different);
        ChangeLog log;
        const auto mark = log.mark();
        add_in_turn(log, kMostRanges + 1, different);
        const auto since = log.since(mark);
        CHECK(since.has_value() == (different <= kHalf));
        if (since) {
            CHECK(since->size() == different);
        }
    }
    ChangeLog log;
    const auto mark = log.mark();
    add_in_turn(log, 100 * kMostRanges, 5);
    CHECK(log.since(mark)->size() == 5);
}

TEST_CASE("a log that was too long goes on from its next mark", "[unit][program]") {
    ChangeLog log;
    log.add({7, 1});
    const auto before = log.mark();
    add_in_turn(log, kMostRanges + 10, kMostRanges + 10);
    REQUIRE(!log.since(before).has_value());
    const auto mark = log.mark();
    log.add({2, 3});
    CHECK(!log.since(before).has_value());
    CHECK(log.since(mark) == std::vector<WordRange>{{2, 3}});
}

TEST_CASE("a range that goes on from the last one before a mark is one of its own",
          "[unit][program]") {
    ChangeLog log;
    log.add({10, 4});
    const auto mark = log.mark();
    log.add({12, 4});
    CHECK(log.since(mark) == std::vector<WordRange>{{12, 4}});
}

TEST_CASE("what is known of a tile's words changes in its log", "[unit][program]") {
    constexpr TileId kTiles = 2;
    constexpr Address kBase = 0x1000;
    constexpr std::uint32_t kWords = 150;
    const auto address = [](std::uint32_t word) { return kBase + 4 * word; };
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](std::uint32_t limit) {
            return static_cast<std::uint32_t>(random() % limit);
        };
        KnownWords known(kTiles, kBase, Bytes{4} * kWords);
        known.note_changes();
        for (int round = 0; round < 100; ++round) {
            CAPTURE(seed, round);
            std::vector<bool> before;
            for (std::uint32_t word = 0; word < kWords; ++word) {
                before.push_back(known.of_tile(0).get(word));
            }
            const auto mark = known.changes(0).mark();
            const auto other = known.changes(1).mark();
            const std::uint32_t first = below(kWords);
            const WordRange range{first, 1 + below(kWords - first)};
            const Bytes bytes = Bytes{4} * range.count;
            bool has_values = true; // what gets a value may have another one
            bool is_single = false;
            bool is_other = false;
            switch (below(8)) {
            case 0:
                known.learn(0, address(first), bytes);
                break;
            case 1:
                known.write(0, address(first), bytes);
                break;
            case 2:
                known.of_tile(0).set(first);
                is_single = true;
                break;
            case 3:
                known.of_tile(0).clear(first);
                is_single = true;
                has_values = false;
                break;
            case 4:
            case 5:
                known.forget(0, address(first), bytes);
                has_values = false;
                break;
            case 6:
                known.copy(1, address(first), 0, address(first), bytes);
                break;
            default:
                known.learn(1, address(first), bytes);
                is_other = true;
            }
            Words may;
            Words must;
            if (!is_other) {
                insert(may, is_single ? WordRange{first, 1} : range);
            }
            for (const std::uint32_t word : may) {
                const bool is_known = known.of_tile(0).get(word);
                if (has_values ? is_known || before[word] : before[word]) {
                    must.insert(word);
                }
            }
            const Words logged = words_of(known.changes(0).since(mark));
            CHECK(std::includes(may.begin(), may.end(), logged.begin(), logged.end()));
            CHECK(std::includes(logged.begin(), logged.end(), must.begin(), must.end()));
            if (must.empty()) {
                CHECK(logged.empty());
            }
            CHECK(words_of(known.changes(1).since(other)).empty() == !is_other);
        }
    }
}

TEST_CASE("what is written is known, and no longer shared", "[unit][program]") {
    constexpr Address kBase = 0x1000;
    const int identity = 0;
    KnownWords known(1, kBase, 80);
    known.learn(0, kBase + 8, 16); // words 2 to 5
    known.share(0, kBase + 8, 16, &identity);
    known.write(0, kBase + 24, 8);
    CHECK(known.shared(0).size() == 1);
    for (std::uint32_t word = 0; word < 20; ++word) {
        CHECK(known.is_known(0, kBase + 4 * word) == (word >= 2 && word < 8));
    }
    known.write(0, kBase + 20, 8);
    CHECK(known.shared(0).empty());
}

TEST_CASE("words that have a round are told by number", "[unit][program]") {
    KnownWords known(2, 0x1000, 80);
    known.add_round(1, 0x1000);
    known.add_round(1, 0x1010);
    CHECK(known.rounds(0).empty());
    CHECK(known.rounds(1) == std::vector<std::uint32_t>{0, 4});
}
