// SPDX-License-Identifier: MIT
// The race detector remembers a few accesses of each word; here every access is compared with all before it.
#include "models/tile/core/race_detector.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

using namespace tessera;

namespace {

constexpr Address kBase = 0x1000;
constexpr std::size_t kWords = 6;
constexpr int kWorkers = 4;

struct Access {
    int context;
    Cycles cycle;
    std::size_t first_word;
    std::size_t last_word;
    bool writes;
};

/// All accesses since the last sync.
class Everything {
public:
    void launched(int worker, Cycles cycle) { launched_[static_cast<std::size_t>(worker)] = cycle; }
    void synchronised() {
        accesses_.clear();
        raced_ = {};
    }
    /// The accesses that race with this one in a word that no race was found in before.
    std::vector<Access> racing_with(const Access& now, std::size_t word) {
        std::vector<Access> found;
        for (const Access& before : accesses_) {
            const bool supervisor_before_launch =
                before.context < 0 && now.context >= 0 &&
                before.cycle <= launched_[static_cast<std::size_t>(now.context)];
            if (before.first_word <= word && word <= before.last_word &&
                before.context != now.context && (before.writes || now.writes) &&
                !supervisor_before_launch) {
                found.push_back(before);
            }
        }
        raced_.at(word) = raced_.at(word) || !found.empty();
        return found;
    }
    [[nodiscard]] bool raced(std::size_t word) const { return raced_.at(word); }
    void add(const Access& access) { accesses_.push_back(access); }

private:
    std::array<Cycles, kWorkers> launched_{};
    std::array<bool, kWords> raced_{};
    std::vector<Access> accesses_;
};

} // namespace

TEST_CASE("the first race of a word is found where any two accesses race", "[unit][tile]") {
    int found = 0;
    int none = 0;
    for (unsigned seed = 0; seed < 2000; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto below = [&random](unsigned limit) {
            return static_cast<unsigned>(random() % limit);
        };
        tile::RaceDetector detector(kBase, 4 * kWords, kWorkers, 1000);
        detector.start_phase();
        Everything everything;
        const unsigned writes_of_eight = below(5);
        for (Cycles cycle = 1; cycle < 40; ++cycle) {
            const unsigned event = below(16);
            if (event == 0) {
                detector.synchronised();
                everything.synchronised();
                continue;
            }
            if (event <= 2) {
                const auto worker = static_cast<int>(below(kWorkers));
                detector.launched(worker, cycle);
                everything.launched(worker, cycle);
                continue;
            }
            const unsigned log_bytes = below(5); // 1 to 16 bytes, aligned
            const unsigned bytes = 1U << log_bytes;
            const unsigned at = below(4 * kWords / bytes) * bytes;
            const Access access{static_cast<int>(below(kWorkers + 1)) - 1, cycle, at / 4,
                                (at + bytes - 1) / 4, below(8) < writes_of_eight};
            std::vector<std::size_t> fresh; // words in which no race was found yet
            std::size_t racing_words = 0;
            std::vector<Access> partners;
            for (std::size_t word = access.first_word; word <= access.last_word; ++word) {
                if (!everything.raced(word)) {
                    fresh.push_back(word);
                    const auto with = everything.racing_with(access, word);
                    racing_words += with.empty() ? 0 : 1;
                    partners.insert(partners.end(), with.begin(), with.end());
                }
            }
            const bool all_fresh = fresh.size() == access.last_word - access.first_word + 1;
            const std::int64_t before = detector.racing_accesses();
            const std::size_t listed = detector.races().size();
            detector.touched(access.context, cycle, static_cast<Address>(4 * cycle),
                             {kBase + at, static_cast<std::uint8_t>(bytes), access.writes});
            everything.add(access);
            if (!all_fresh) {
                continue;
            }
            REQUIRE(detector.racing_accesses() - before == static_cast<std::int64_t>(racing_words));
            (racing_words == 0 ? none : found) += 1;
            if (racing_words > 0) {
                REQUIRE(detector.races().size() > listed);
                const tile::Race& race = detector.races()[listed];
                CHECK(race.second_context == access.context);
                CHECK(race.second_cycle == cycle);
                CHECK(race.second_pc == 4 * cycle);
                CHECK(race.second_writes == access.writes);
                CHECK(race.address % 4 == 0);
                const std::size_t word = (race.address - kBase) / 4;
                CHECK(std::any_of(partners.begin(), partners.end(), [&](const Access& partner) {
                    return partner.context == race.first_context &&
                           partner.cycle == race.first_cycle &&
                           partner.writes == race.first_writes && partner.first_word <= word &&
                           word <= partner.last_word;
                }));
            }
        }
    }
    CHECK(found > 1000);
    CHECK(none > 10000);
}

TEST_CASE("a new phase forgets races and accesses of the last one", "[unit][tile]") {
    tile::RaceDetector detector(kBase, 4 * kWords, kWorkers, 1);
    const isa::MemoryAccess write{kBase, 4, true};
    for (int phase = 0; phase < 2; ++phase) {
        detector.start_phase();
        CHECK(detector.races().empty());
        CHECK(detector.racing_accesses() == 0);
        detector.touched(0, 1, 4, write);
        CHECK(detector.racing_accesses() == 0);
        detector.touched(1, 2, 8, write);
        detector.touched(2, 3, 12, write); // beyond the list
        detector.touched(1, 4, 8, write);
        CHECK(detector.racing_accesses() == 3);
        CHECK(detector.races().size() == 1);
    }
}
