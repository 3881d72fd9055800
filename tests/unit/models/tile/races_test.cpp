// SPDX-License-Identifier: MIT
// Races: what is one, by value, by use and by order, and what is none.
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace tessera;

namespace {

constexpr std::string_view kSync = "sync TEXCH_SYNCZONE_LOCAL\n";
constexpr Address kWord = 0x80000;

std::string text_of(const std::string& supervisor, const std::string& workers) {
    return ".supervisor\n.globl start\nstart:\n" + supervisor + "br $lr\n.worker\n.align 8\n" +
           workers;
}

/// A worker for each text, launched one after the other, with $m2 = kWord, beside `supervisor`
/// (with $m2 as well).
std::string program_of(const std::vector<std::string>& workers,
                       const std::string& supervisor = "") {
    std::string code;
    std::string launches;
    for (std::size_t n = 0; n < workers.size(); ++n) {
        code += fmt::format("worker_{}: setzi $m2, {:#x}\n{}\nexitz $mzero\n.align 8\n", n, kWord,
                            workers[n]);
        launches += fmt::format("setzi $m0, worker_{}\nrun $m0, $mzero, 0\n", n);
    }
    return text_of(fmt::format("setzi $m2, {:#x}\n", kWord) + launches + supervisor +
                       std::string(kSync),
                   code);
}

std::string nops(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += "nop\n";
    }
    return text;
}

std::string write(int value, int word = 0) {
    return fmt::format("setzi $m3, {}\nst32 $m3, $m2, $mzero, {}\n", value, word);
}
std::string read_ahead(int word = 0) {
    return fmt::format("ld32 $m4, $m2, $mzero, {}\n", word);
}
const std::string kUse = "brnz $m4, 1f\n1:\n";
const std::string kUseAux = "atom $m4, $a0\n" + kUse;
std::string read(int word = 0) {
    return read_ahead(word) + kUse;
}
/// Long enough for all that comes without it to be over.
const std::string kLater = nops(20);

struct Found {
    std::vector<tile::Race> races;
    std::int64_t all = 0;
    std::int64_t unused = 0;
};

Found found_in(const std::string& text, std::size_t listed = 100) {
    test::AssembledLockstepTile tile(text, {}, tile::LockstepOptions{.listed_races = listed});
    tile.run();
    const auto races = tile.core().races();
    return {
        {races.begin(), races.end()}, tile.core().racing_accesses(), tile.core().unused_reads()};
}

std::int64_t races_of(const std::vector<std::string>& workers, const std::string& supervisor = "") {
    return found_in(program_of(workers, supervisor)).all;
}

} // namespace

TEST_CASE("a race names both accesses", "[unit][tile]") {
    const std::string text = program_of({write(7), kLater + read()});
    const auto races = found_in(text).races;
    REQUIRE(races.size() == 1);
    const tile::Race& race = races.front();
    const test::AssembledTile tile(text);
    const spec::MachineSpec machine;
    CHECK(race.address == kWord);
    CHECK(race.first_context == 0);
    CHECK(race.second_context == 1);
    CHECK(race.first_writes);
    CHECK_FALSE(race.second_writes);
    CHECK(race.first_pc == tile.symbol("worker_0") + 8);
    CHECK(race.second_pc == tile.symbol("worker_1") + 4 + 4 * 20);
    // each in its worker's slot
    CHECK(race.first_cycle % machine.tile.workers == 0);
    CHECK(race.second_cycle % machine.tile.workers == 1);

    const auto later_write = found_in(program_of({read(), kLater + write(7)})).races;
    REQUIRE(later_write.size() == 1);
    CHECK_FALSE(later_write.front().first_writes);
    CHECK(later_write.front().second_writes);
    const auto two_writes = found_in(program_of({write(7), kLater + write(9)})).races;
    REQUIRE(two_writes.size() == 1);
    CHECK(two_writes.front().first_writes);
    CHECK(two_writes.front().second_writes);
    CHECK(two_writes.front().first_cycle < two_writes.front().second_cycle);
}

TEST_CASE("races go by value", "[unit][tile]") {
    struct Row {
        std::string first;
        std::string second;
        std::int64_t races;
    };
    const std::vector<Row> rows = {
        {write(7), write(7), 0},
        {write(7), write(9), 1},
        // what is last counts, whoever is
        {write(7) + write(9), write(9), 0},
        {write(7) + write(9), write(7) + write(9), 0},
        {write(9) + write(7), write(9), 1},
        {write(7), kLater + write(9) + write(7), 0},
        // a write of what stands there
        {write(0), read(), 0},
        {write(0), kLater + read(), 0},
        {read(), kLater + write(0), 0},
        {read(), kLater + write(1), 1},
        {write(1), kLater + read(), 1},
        // it was there before in one order only
        {write(7) + write(0), kLater + read(), 1},
        // a word of one's own
        {write(7) + read(), kLater + write(7), 0},
        {write(7) + read(), kLater + write(8), 2},
        {write(7) + kLater + kLater + read(), kLater + write(7), 0},
        {write(5) + write(7) + kLater + kLater + read(), kLater + write(7), 0},
        {read() + write(7), kLater + write(7), 1},
        // neighbouring words
        {write(7), write(9, 1), 0},
        {write(7), kLater + read(1), 0},
        {read(1), kLater + write(7), 0},
        {read(), read(), 0},
        // halves and bytes of a word, of which a write changes some
        {write(7), kLater + "ldz16 $m4, $m2, $mzero, 0\n" + kUse, 1},
        {write(7), kLater + "ldz16 $m4, $m2, $mzero, 1\n" + kUse, 0},
        {write(0x70000), kLater + "ldz16 $m4, $m2, $mzero, 1\n" + kUse, 1},
        {write(0x700), kLater + "ldz8 $m4, $m2, $mzero, 1\n" + kUse, 1},
        {write(0x700), kLater + "ldz8 $m4, $m2, $mzero, 0\n" + kUse, 0},
        {write(0x700), kLater + "ldz8 $m4, $m2, $mzero, 2\n" + kUse, 0},
        {write(0x70000), kLater + "ldz16 $m4, $m2, $mzero, 2\n" + kUse, 0},
        {write(7) + write(0x10007), kLater + "ldb16 $a0, $m2, $mzero, 0\n" + kUseAux, 1},
        // two words at once
        {write(7, 1), kLater + "ld64 $a0:1, $m2, $mzero, 0\natom $m4, $a1\n" + kUse, 1},
        {write(7, 1), kLater + "ld64 $a0:1, $m2, $mzero, 0\n" + kUseAux, 0},
        {write(7, 2), kLater + "ld64 $a0:1, $m2, $mzero, 0\natom $m4, $a1\n" + kUse, 0},
        {"setzi $a0, 7\nsetzi $a1, 9\nst64 $a0:1, $m2, $mzero, 0\n", kLater + read(1), 1},
        {"setzi $a0, 7\nst64 $a0:1, $m2, $mzero, 0\n", kLater + read(1), 0},
    };
    for (const Row& row : rows) {
        CAPTURE(row.first, row.second);
        CHECK(races_of({row.first, row.second}) == row.races);
    }
}

TEST_CASE("a read of which nothing comes is no race", "[unit][tile]") {
    const std::vector<std::string> unused = {
        read_ahead(),
        read_ahead() + "setzi $m4, 1\n" + kUse,
        read_ahead() + "add $m5, $m4, 1\n",
        read_ahead() + "mov $m5, $m4\nmov $m4, $m5\nsetzi $m4, 0\nsetzi $m5, 0\n" + kUse,
        "ld32 $mzero, $m2, $mzero, 0\n",
        "ld64step $azeros, $mzero, $m2+=, 1\n",
        "ld32 $a0, $m2, $mzero, 0\nf32add $a1, $a0, $a0\nf32v2add $a2:3, $a0:1, $a0:1\n",
        "ld32 $a0, $m2, $mzero, 0\nf32mac $a0, $a0\n",
        // accumulators that are cleared
        "ld32 $a0, $m2, $mzero, 0\nf32mac $a0, $a0\nsetzi $a1, 8\nuput $FP_CLR, $a1\n"
        "f16v4gacc $a0:1\n" +
            kUseAux,
        // the other lane of a pair
        "ld32 $a0, $m2, $mzero, 0\nf32v2add $a2:3, $a0:1, $a4:5\natom $m4, $a3\n" + kUse,
    };
    for (const std::string& worker : unused) {
        CAPTURE(worker);
        const Found found = found_in(program_of({write(7), kLater + worker}));
        CHECK(found.all == 0);
        const bool is_discarded = worker.find("zero") < worker.find(",");
        const bool is_thrown = worker.find("azeros") != std::string::npos;
        CHECK(found.unused == (is_discarded || is_thrown ? 0 : 1));
    }
    const std::string store = "st32 $m4, $m2, $mzero, 8\n";
    const std::string own = "setzi $m5, 0x81000\n";
    const std::vector<std::string> used = {
        read_ahead() + kUse,
        read_ahead() + store,
        read_ahead() + "add $m5, $m4, 1\nmov $m4, $m5\n" + store,
        read_ahead() + "and $m4, $m4, 0\nld32 $m5, $m2, $m4, 1\n",
        read_ahead() + "and $m4, $m4, 0\nadd $m4, $m4, $m2\nld32 $m5, $m4, $mzero, 1\n",
        read_ahead() + "put $DBG_DATA, $m4\n",
        read_ahead() + ".align 8\nnop\nrpt $m4, 0\n{ nop ; fnop }\n",
        read_ahead() + "exitz $m4\n",
        read_ahead() + "movnz $m5, $m4, $m2\nbrz $m5, 1f\n1:\n",
        "ld32 $a0, $m2, $mzero, 0\nuput $TAS, $a0\n",
        "ld32 $a0, $m2, $mzero, 0\nf32add $a1, $a0, $a0\n" + own + "st32 $a1, $m5, $mzero, 0\n",
        "ld32 $a0, $m2, $mzero, 0\nf32mac $a0, $a0\nf16v4gacc $a0:1\n" + kUseAux,
        // a clear of something else than the accumulators
        "ld32 $a0, $m2, $mzero, 0\nf32mac $a0, $a0\nsetzi $a1, 1\nuput $FP_CLR, $a1\n"
        "f16v4gacc $a0:1\n" +
            kUseAux,
        // flags that somebody asks for, or that trap
        "ld32 $a0, $m2, $mzero, 0\nf32add $a1, $a0, $a0\nuget $a2, $FP_STS\n",
        "setzi $a1, 7\nuput $FP_CTL, $a1\nld32 $a0, $m2, $mzero, 0\nf32add $a1, $a0, $a0\n",
    };
    for (const std::string& worker : used) {
        CAPTURE(worker);
        CHECK(races_of({write(7), kLater + worker}) == 1);
        CHECK(races_of({worker, kLater + kLater + write(7)}) == 1);
    }
}

TEST_CASE("a value of very many reads counts as used", "[unit][tile]") {
    const auto sum_of = [](int words) {
        return fmt::format("{}setzi $m5, {}\n1: ld32step $m4, $mzero, $m2+=, 1\nadd $m6, $m6, $m4\n"
                           "brnzdec $m5, 1b\n",
                           kLater, words - 1);
    };
    CHECK(races_of({write(7), sum_of(64)}) == 0);
    CHECK(races_of({write(7), sum_of(65)}) == 1);
}

TEST_CASE("every pair of contexts that race is told", "[unit][tile]") {
    const auto contexts = [](const std::vector<std::string>& workers) {
        std::vector<std::pair<int, int>> pairs;
        for (const tile::Race& race : found_in(program_of(workers)).races) {
            pairs.emplace_back(race.first_context, race.second_context);
        }
        std::sort(pairs.begin(), pairs.end());
        return pairs;
    };
    using Pairs = std::vector<std::pair<int, int>>;
    const std::string last = kLater + kLater + write(7);
    CHECK(contexts({read(), read(), last}) == Pairs{{0, 2}, {1, 2}});
    // a second read of one hides no other reader
    CHECK(contexts({read(), read() + read(), last}) == Pairs{{0, 2}, {1, 2}});
    CHECK(contexts({read() + nops(9) + read(), nops(4) + read(), last}) == Pairs{{0, 2}, {1, 2}});
    CHECK(contexts({read(), read(), read(), last}) == Pairs{{0, 3}, {1, 3}, {2, 3}});
    // nor does a read that is not used
    CHECK(contexts({read(), nops(9) + read_ahead(), last}) == Pairs{{0, 2}});
    CHECK(contexts({read() + nops(9) + read_ahead(), read(), last}) == Pairs{{0, 2}, {1, 2}});
    CHECK(contexts({write(7), nops(9) + write(8), last}) == Pairs{{0, 1}, {1, 2}});
    // of two that write the same, the later
    CHECK(contexts({write(7), nops(9) + write(7), kLater + read()}) == Pairs{{1, 2}});
    CHECK(contexts({write(0), nops(9) + write(7), kLater + read()}) ==
          Pairs{{0, 1}, {0, 2}, {1, 2}});
}

TEST_CASE("paced and delta-list accesses race too", "[unit][tile]") {
    const std::string paced = "setzi $m4, 0x90008\ntapack $m6:7, $m4, $mzero, $m2\n"
                              "setzi $a3, 9\nldst64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0\n";
    CHECK(races_of({read(1), kLater + paced}) == 1);
    const std::string two = "setzi $m4, 0x90008\ntapack $m6:7, $m2, $m4, $mzero\n"
                            "ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0\n";
    CHECK(races_of({write(7), kLater + two + kUseAux}) == 1);
    CHECK(races_of({write(7), kLater + two + "atom $m4, $a2\n" + kUse}) == 0);
    const std::string list = "setzi $m4, 0x90000\nldd16a32 $a0, $m4++, $m2, $m5@\n";
    const std::string there = "setzi $m2, 0x90000\n";
    CHECK(races_of({write(7), kLater + list + kUseAux}) == 1);
    CHECK(races_of({write(7), kLater + list}) == 0);
    // the list itself gives the next delta, which the next access uses
    CHECK(races_of({there + write(8), kLater + list}) == 0);
    CHECK(races_of({there + write(8), kLater + list + "ldd16a32 $a0, $m4++, $m2, $m5@\n"}) == 1);
}

TEST_CASE("the supervisor races with a worker between its launch and the sync", "[unit][tile]") {
    const std::string sync(kSync);
    const std::string reads = read();
    CHECK(races_of({read()}, write(7)) == 1);
    CHECK(races_of({read()}, write(0)) == 0);
    CHECK(races_of({read_ahead()}, write(7)) == 0);
    CHECK(races_of({write(7)}, kLater + kLater + read()) == 1);
    CHECK(races_of({write(7)}, kLater + kLater + read_ahead()) == 0);
    CHECK(races_of({write(7)}, write(7)) == 0);
    CHECK(races_of({write(7)}, write(8)) == 1);
    CHECK(races_of({read()}, read()) == 0);
    // what the supervisor read and uses behind the sync
    CHECK(races_of({write(7)}, kLater + kLater + read_ahead() + sync + kUse) == 1);
    CHECK(races_of({write(7)}, kLater + kLater + read_ahead() + sync + "setzi $m4, 0\n" + kUse) ==
          0);
    // weights are used
    const std::string weights = "put $CCCSLOAD, $m2\nld64putcs 0\n";
    CHECK(races_of({kLater + write(7)}, sync + weights) == 0);

    const std::string worker = "one: setzi $m2, 0x80000\n" + write(7) + "exitz $mzero\n.align 8\n";
    const std::string start = "setzi $m2, 0x80000\nsetzi $m0, one\nsetzi $m1, two\n";
    const std::string launch = "run $m0, $mzero, 0\n";
    const auto of = [&](const std::string& supervisor, const std::string& workers) {
        return found_in(text_of(start + supervisor, workers + "two: setzi $m2, 0x80000\n" + kLater +
                                                        read() + "exitz $mzero\n"))
            .all;
    };
    // before the launch, and behind the sync
    CHECK(of(write(3) + launch + sync + read() + launch + sync, worker) == 0);
    // what was written between two launches is ordered before the second worker only
    const std::string quiet = "one: exitz $mzero\n.align 8\n";
    CHECK(of(launch + write(3) + "run $m1, $mzero, 0\n" + sync, quiet) == 0);
    CHECK(of(launch + write(3) + "run $m1, $mzero, 0\n" + sync,
             "one: setzi $m2, 0x80000\n" + read() + "exitz $mzero\n.align 8\n") == 1);
    CHECK(of(write(2) + launch + write(3) + "run $m1, $mzero, 0\n" + sync, quiet) == 0);
    // two values, of which the reader may get either
    CHECK(of("run $m1, $mzero, 0\n" + write(3) + write(0) + sync, quiet) == 1);
    CHECK(of(write(5) + "run $m1, $mzero, 0\n" + write(5) + sync, quiet) == 0);
    // a wait without a sync orders nothing
    CHECK(of(launch + kLater + kLater + read() + sync, worker) == 1);
}

TEST_CASE("races are listed once for each pair of instructions and all are counted",
          "[unit][tile]") {
    const std::string reader = "setzi $m5, 9\n2: " + read() + "brnzdec $m5, 2b\n";
    const std::string text = program_of({write(7), kLater + reader, kLater + reader});
    const Found all = found_in(text);
    CHECK(all.races.size() == 2);
    CHECK(all.all == 2 * 10);
    const Found one = found_in(text, 1);
    CHECK(one.races.size() == 1);
    CHECK(one.all == 2 * 10);
    CHECK(std::is_sorted(all.races.begin(), all.races.end(), [](const auto& a, const auto& b) {
        return a.second_cycle < b.second_cycle;
    }));
    test::AssembledLockstepTile again(text);
    again.run();
    again.run(); // a phase of its own: the word now holds what is written
    CHECK(again.core().racing_accesses() == 0);
}

TEST_CASE("a race is reported although it makes a worker fault", "[unit][tile]") {
    // one overwrites the address that two loads and follows
    const std::string text =
        program_of({write(3), kLater + read_ahead() + "ld32 $m5, $m4, $mzero, 0\n"});
    test::AssembledLockstepTile tile(text);
    tile.write(kWord, std::vector<std::uint32_t>{kWord});
    CHECK_THROWS_AS(tile.run(), tile::TileFault);
    CHECK(tile.core().races().size() == 1);
    // of writes too, which are compared at the end
    test::AssembledLockstepTile writes(
        program_of({write(3), write(4) + kLater + "ld32 $m5, $mzero, $mzero, 0\n"}));
    CHECK_THROWS_AS(writes.run(), tile::TileFault);
    CHECK(writes.core().races().size() == 1);
}

TEST_CASE("a register keeps what it read into the next run", "[unit][tile]") {
    const std::string text = program_of({write(7), kLater + read_ahead()}) +
                             ".globl again\n.supervisor\nagain: setzi $m0, uses\nrun $m0, $mzero, "
                             "0\nrun $m0, $mzero, 0\n" +
                             std::string(kSync) + "br $lr\n.worker\n.align 8\nuses: " + kUse +
                             "exitz $mzero\n";
    test::AssembledLockstepTile tile(text);
    tile.run();
    CHECK(tile.core().racing_accesses() == 0);
    tile.run("again");
    CHECK(tile.core().racing_accesses() == 1);
    // unless it is given another value
    test::AssembledLockstepTile other(text);
    other.run();
    other.core().set_register(1, 4, 5);
    CHECK(other.core().context(1).main[4] == 5);
    other.run("again");
    CHECK(other.core().racing_accesses() == 0);
}

TEST_CASE("what stood in a word before is known in every word of memory", "[unit][tile]") {
    const spec::MachineSpec machine;
    const auto end = static_cast<Address>(machine.memory.end());
    for (const Address word : {kWord, kWord + 4, end - 8, end - 4}) {
        CAPTURE(word);
        // The supervisor leaves 7; one worker writes 7 again, which the other's read does not see.
        const auto races = [&](int left, int again) {
            const std::string address = fmt::format("setzi $m2, {}\nshl $m2, $m2, 2\n", word / 4);
            const std::string text =
                text_of(address + write(left) +
                            fmt::format("setzi $m0, worker_0\nrun $m0, $mzero, 0\n"
                                        "setzi $m0, worker_1\nrun $m0, $mzero, 0\n") +
                            std::string(kSync),
                        "worker_0: " + address + write(again) +
                            "exitz $mzero\n.align 8\nworker_1: " + address + kLater + read() +
                            "exitz $mzero\n");
            return found_in(text).all;
        };
        CHECK(races(7, 7) == 0);
        CHECK(races(7, 9) == 1);
    }
}
