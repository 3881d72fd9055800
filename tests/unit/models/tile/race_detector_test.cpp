// SPDX-License-Identifier: MIT
// The race detector by itself: one word, contexts that read and write it in a given order.
#include "models/tile/core/race_detector.h"

#include <catch2/catch.hpp>

using namespace tessera;
using tile::RaceDetector;

namespace {

constexpr Address kWord = 0x80010;
constexpr int kSupervisor = -1;
constexpr Address kUse = 0x4c100; ///< of the instruction that uses what was read

/// A word of memory and what four workers and the supervisor do to it, a cycle each.
class Word {
public:
    Word() : races_(view(), 4, 100) {}

    Word& launch(int worker) {
        races_.launched(worker, now_); // in the cycle of what the supervisor did last
        return *this;
    }
    Word& write(int context, std::uint32_t value) {
        races_.write(context, ++now_, pc_ += 4, kWord, value_, value);
        value_ = value;
        return *this;
    }
    /// A read that is used at once.
    Word& read(int context, std::uint32_t mask = 0xffffffffU) {
        const auto id = ahead(context, mask);
        races_.use(id, kUse);
        races_.release(id);
        return *this;
    }
    RaceDetector::ReadId ahead(int context, std::uint32_t mask = 0xffffffffU) {
        return races_.read(context, ++now_, pc_ += 4, kWord, value_, mask);
    }
    RaceDetector& races() { return races_; }
    std::int64_t found() {
        races_.end_phase();
        return races_.races_found();
    }

private:
    static const isa::MemoryView& view() {
        static isa::MemoryView memory;
        memory.base = 0x80000;
        memory.span_bytes = 64;
        return memory;
    }

    RaceDetector races_;
    Cycles now_ = 0;
    Address pc_ = 0;
    std::uint32_t value_ = 0;
};

} // namespace

TEST_CASE("what the supervisor did up to the launch is ordered", "[unit][tile]") {
    CHECK(Word().write(kSupervisor, 3).launch(0).read(0).found() == 0);
    CHECK(Word().launch(0).write(kSupervisor, 3).read(0).found() == 1);
    CHECK(Word().write(kSupervisor, 3).launch(0).write(0, 4).found() == 0);
    CHECK(Word().launch(0).write(kSupervisor, 3).write(0, 4).found() == 1);
    CHECK(Word().read(kSupervisor).launch(0).write(0, 4).found() == 0);
    CHECK(Word().launch(0).read(kSupervisor).write(0, 4).found() == 1);
    // of one worker, not of another
    CHECK(Word().launch(1).write(kSupervisor, 3).launch(0).read(0).read(1).found() == 1);
    // a second launch orders what stands between
    CHECK(Word().launch(0).write(0, 4).write(kSupervisor, 3).found() == 1);
    CHECK(Word().launch(0).write(0, 4).write(kSupervisor, 3).launch(0).write(0, 4).found() == 0);
    // the worker never comes before the supervisor
    CHECK(Word().launch(0).write(0, 4).read(kSupervisor).found() == 1);
}

TEST_CASE("every value that a context wrote may be read", "[unit][tile]") {
    // 1, 3, 7: bit 1 changed on the way, bit 3 never
    CHECK(Word().write(0, 1).write(0, 3).write(0, 7).read(1, 2).found() == 1);
    CHECK(Word().write(0, 1).write(0, 3).write(0, 7).read(1, 8).found() == 0);
    CHECK(Word().write(0, 1).write(0, 3).write(0, 7).write(0, 7).read(1, 2).found() == 1);
    CHECK(Word().write(1, 7).write(0, 1).write(0, 3).write(0, 7).read(1, 2).found() == 1);
    CHECK(Word().write(1, 7).write(0, 1).write(0, 3).write(0, 7).read(1, 8).found() == 0);
    // the race names the write that left something else
    Word word;
    word.write(0, 1).write(0, 3).write(0, 3).write(1, 3).read(1);
    REQUIRE(word.found() == 1);
    CHECK(word.races().races().front().first_pc == 4);
    Word last;
    last.write(0, 1).write(0, 3).read(1);
    CHECK(last.found() == 1);
}

TEST_CASE("a read may get what stood there without the others", "[unit][tile]") {
    // its own value, where that is later than the supervisor's, and the other way round
    CHECK(Word().launch(0).write(0, 9).write(1, 9).read(0).found() == 0);
    CHECK(Word().launch(0).write(0, 5).write(1, 9).write(1, 5).write(1, 9).read(0).found() >= 1);
    Word relaunched;
    relaunched.write(kSupervisor, 5).launch(0).write(0, 5).write(kSupervisor, 9).launch(0);
    relaunched.write(1, 9).read(0).write(kSupervisor, 9).launch(0);
    CHECK(relaunched.found() == 2); // 5 of worker 0 against 9 of both others, as last values
    // one of two values of the supervisor, of which the later is not ordered
    CHECK(Word().write(kSupervisor, 3).launch(0).write(kSupervisor, 3).read(0).found() == 0);
    Word own;
    own.write(kSupervisor, 3).launch(0).write(0, 5).write(kSupervisor, 3).read(0);
    own.write(0, 3);
    CHECK(own.found() == 1); // without the supervisor's it reads its own 5
}

TEST_CASE("a used read of a context and value stands for the earlier ones", "[unit][tile]") {
    // of which launches order fewer
    CHECK(Word().read(kSupervisor).launch(0).read(kSupervisor).write(0, 7).found() == 1);
    Word reversed;
    const auto first = reversed.ahead(kSupervisor);
    reversed.launch(0);
    const auto second = reversed.ahead(kSupervisor);
    reversed.races().use(second, kUse);
    reversed.races().use(first, kUse);
    CHECK(reversed.write(0, 7).found() == 1);
    // but a later one that nobody has used yet does not stand for it
    Word unused;
    const auto used = unused.ahead(1);
    static_cast<void>(unused.ahead(1));
    unused.races().use(used, kUse);
    CHECK(unused.write(0, 7).found() == 1);
    // of another value or mask it does not
    CHECK(Word().read(0).write(0, 5).read(0).write(1, 5).found() == 1);
    CHECK(Word().read(0, 0xff).read(0, 0xff00).write(1, 1).found() == 1);
    CHECK(Word().read(0, 0xff00).read(0, 0xff).write(1, 1).found() == 1);
    // nor of another context
    CHECK(Word().read(0).read(1).write(2, 1).found() == 2);
}

TEST_CASE("of many writers each is held against those of another value", "[unit][tile]") {
    CHECK(Word().write(0, 5).write(1, 7).found() == 1);
    CHECK(Word().write(0, 5).write(1, 7).write(2, 7).found() == 2);
    CHECK(Word().write(0, 5).write(1, 7).write(2, 5).found() == 2);
    CHECK(Word().write(0, 5).write(1, 5).write(2, 5).write(3, 5).found() == 0);
    CHECK(Word().write(0, 5).write(1, 5).write(2, 5).write(3, 6).found() == 1);
}

TEST_CASE("a sync orders all and forgets nothing that is held", "[unit][tile]") {
    Word word;
    word.write(0, 5);
    word.races().synchronised();
    CHECK(word.read(1).write(1, 7).found() == 0);
    Word held;
    const auto id = held.ahead(1);
    held.write(0, 5);
    CHECK(held.races().unused_reads() == 1);
    held.races().synchronised();
    CHECK(held.races().races_found() == 0);
    held.races().use(id, kUse);
    CHECK(held.races().races_found() == 1);
    CHECK(held.races().unused_reads() == 0);
    held.races().use(id, kUse); // once
    CHECK(held.races().races_found() == 1);
    held.races().release(id);
    // a read that is gone is gone, and its number may come again
    const auto next = held.ahead(2);
    CHECK(next == id);
    held.races().release(next);
    CHECK(held.write(3, 9).races().unused_reads() == 0);
    // several holders
    const auto shared = held.ahead(2);
    held.races().hold(shared);
    held.races().release(shared);
    held.write(3, 11);
    CHECK(held.races().unused_reads() == 1);
    held.races().release(shared);
    held.races().start_phase();
    CHECK(held.races().races_found() == 0);
    CHECK(held.races().races().empty());
}

TEST_CASE("races are listed by their second cycle, those of one cycle in the order of their words",
          "[unit][tile]") {
    constexpr Address kBase = 0x80000;
    constexpr Cycles kTogether = 100; // when the second worker writes all words
    isa::MemoryView memory;
    memory.base = kBase;
    memory.span_bytes = 256;
    for (const Address words : {1U, 2U, 3U, 20U}) {
        RaceDetector races(memory, 4, 100);
        Address pc = 0;
        for (Address word = 0; word < words; ++word) {
            races.write(0, word + 1, pc += 4, kBase + 4 * word, 0, 1);
        }
        const Address last = kBase + 4 * words; // touched last, but the first race to come
        races.write(0, words + 1, pc += 4, last, 0, 1);
        races.write(2, kTogether - 1, pc += 4, last, 1, 2);
        for (Address word = 0; word < words; ++word) {
            races.write(1, kTogether, pc += 4, kBase + 4 * word, 1, 2);
        }
        races.end_phase();
        REQUIRE(races.races().size() == words + 1);
        CHECK(races.races()[0].address == last);
        for (Address word = 0; word < words; ++word) {
            CHECK(races.races()[word + 1].address == kBase + 4 * word);
            CHECK(races.races()[word + 1].second_cycle == kTogether);
        }
    }
}
