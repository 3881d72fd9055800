// SPDX-License-Identifier: MIT
// Contexts that wait for each other through words of memory: both models of a tile run them slot by
// slot, such words do not race and order what stands behind them, and who waits for ever is named.
#include "models/tile/core/tile_classes.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace tessera;

namespace {

constexpr Address kData = 0x80000;
constexpr std::size_t kWords = 32; ///< that are compared

/// Supervisor code between `before` and `behind` a launch of all workers, which run `workers`: in
/// $m0 their number, in $m1 the data.
std::string text_of(const std::string& workers, const std::string& behind = "",
                    const std::string& functions = "") {
    return fmt::format(
        ".supervisor\n.globl start\nstart:\nsetzi $m0, worker\nrunall $m0, $mzero, 0\n"
        "setzi $m1, {0:#x}\n{1}\nsync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n"
        ".align 8\nworker: get $m0, $WSR\nand $m0, $m0, 7\nsetzi $m1, {0:#x}\n{2}\n"
        "exitz $mzero\n{3}",
        kData, behind, workers, functions);
}

struct Outcome {
    std::string fault;
    Cycles cycles = 0;
    std::vector<std::uint32_t> words;
    std::int64_t races = 0;
};

template <class Tile> Outcome outcome_of(test::BasicAssembledTile<Tile>& tile) {
    Outcome outcome;
    try {
        std::vector<tile::ContextSpan> spans;
        outcome.cycles = tile.run("start", &spans).cycles;
    } catch (const tile::TileFault& fault) {
        outcome.fault = fault.what();
    }
    outcome.words = tile.template read<std::uint32_t>(kData, kWords);
    return outcome;
}

/// What timing mode makes of it, of a tile of which it knows all; then of another one.
std::vector<Outcome> timed(const test::AssembledTile& like, bool audited = false) {
    constexpr TileId kTiles = 2;
    const spec::MachineSpec& machine = like.spec();
    const Address base = machine.memory.region0_begin();
    const Bytes bytes = machine.memory.bytes();
    const auto& codelet = like.codelets().front();
    const auto code = std::make_shared<std::vector<std::byte>>(codelet.words.size() * 4);
    std::memcpy(code->data(), codelet.words.data(), code->size());
    program::Image image;
    image.segments = {{codelet.address, static_cast<Bytes>(code->size()),
                       program::SegmentKind::Code, "test", code}};
    program::KnownWords known(kTiles, base, bytes);
    tile::TileClasses classes;
    tile::TimingMode mode{known, classes};
    tile::CodeCache cache(like.codelets());
    std::vector<Outcome> outcomes;
    for (TileId number = 0; number < kTiles; ++number) {
        std::vector<std::uint64_t> memory(static_cast<std::size_t>(bytes) / 8);
        tile::TileCore core(machine, number, reinterpret_cast<std::byte*>(memory.data()));
        known.learn(number, base, bytes);
        core.set_timing(mode);
        core.set_audited(audited);
        core.load(image, cache);
        Outcome& outcome = outcomes.emplace_back();
        try {
            std::vector<tile::ContextSpan> spans;
            outcome.cycles = core.run(like.symbol("start"), &spans).cycles;
        } catch (const tile::TileFault& fault) {
            outcome.fault = fault.what();
        }
        outcome.words.resize(kWords);
        std::memcpy(outcome.words.data(), core.memory(kData, kWords * 4).data(), kWords * 4);
        for (std::uint32_t word = 0; word < kWords; ++word) {
            CHECK(known.is_known(number, kData + word * 4));
        }
        if (!outcome.fault.empty()) {
            break;
        }
    }
    return outcomes;
}

/// What both models make of it, which must be the same, with data and without.
Outcome both(const std::string& text) {
    CAPTURE(text);
    test::AssembledTile fast(text);
    test::AssembledLockstepTile lockstep(text);
    const Outcome a = outcome_of(fast);
    Outcome b = outcome_of(lockstep);
    CHECK(a.fault == b.fault);
    CHECK(a.cycles == b.cycles);
    CHECK(a.words == b.words);
    for (int context = -1; b.fault.empty() && context < fast.spec().tile.workers; ++context) {
        const isa::Context& left = fast.core().context(context);
        const isa::Context& right = lockstep.core().context(context);
        CHECK(std::equal(left.main, left.main + 12, right.main));
    }
    for (const bool audited : {false, true}) {
        for (const Outcome& without_data : timed(fast, audited)) {
            CHECK(without_data.fault == b.fault);
            CHECK(without_data.cycles == b.cycles);
            CHECK(without_data.words == b.words);
        }
    }
    b.races = lockstep.core().racing_accesses();
    return b;
}

const std::string kWaitForFirst = "1: ld32 $m2, $m1, $mzero, 0\nbrz $m2, 1b\n";

} // namespace

TEST_CASE("a worker that waits sees what a later one writes", "[unit][tile]") {
    const Outcome done = both(text_of("brnz $m0, 2f\n" + kWaitForFirst +
                                      "st32 $m2, $m1, $mzero, 1\nexitz $mzero\n"
                                      "2: st32 $m0, $m1, $mzero, 0"));
    CHECK(done.fault.empty());
    CHECK(done.words[0] == 5); // the last in a round
    CHECK(done.words[1] > 0);  // the value when it looked
    CHECK(done.races == 0);
}

TEST_CASE("what a worker does before it sets a flag is ordered before who saw the flag",
          "[unit][tile]") {
    // worker n waits for flag n - 1, adds n to the sum that all share, and sets its own
    const std::string chain = "shl $m3, $m0, 2\nadd $m3, $m3, $m1\nbrz $m0, 2f\n"
                              "1: ld32 $m2, $m3, $mzero, 0\nbrz $m2, 1b\n"
                              "2: ld32 $m4, $m1, $mzero, 20\nadd $m4, $m4, $m0\n"
                              "st32 $m4, $m1, $mzero, 20\nsetzi $m2, 1\n"
                              "st32 $m2, $m3, $mzero, 1\n";
    const Outcome up = both(text_of(chain));
    CHECK(up.words[20] == 0 + 1 + 2 + 3 + 4 + 5);
    CHECK(up.races == 0);
    // the same from the last worker down, so that the fast order is the wrong one
    const Outcome down = both(text_of("mov $m5, $m0\nsetzi $m6, 5\nsub $m0, $m6, $m0\n" + chain));
    CHECK(down.words[20] == up.words[20]);
    CHECK(down.races == 0);
    // without the flags the sum races
    CHECK(both(text_of("ld32 $m4, $m1, $mzero, 20\nadd $m4, $m4, $m0\nst32 $m4, $m1, $mzero, 20\n"
                       "brnz $m0, 2f\n" +
                       kWaitForFirst + "2: st32 $m0, $m1, $mzero, 0"))
              .races > 0);
}

TEST_CASE("a phase that waited and its like run slot by slot again", "[unit][tile]") {
    const std::string text = text_of("brnz $m0, 2f\n" + kWaitForFirst +
                                     "st32 $mzero, $m1, $mzero, 0\nexitz $mzero\n"
                                     "2: st32 $m0, $m1, $mzero, 0");
    test::AssembledTile fast(text);
    test::AssembledLockstepTile lockstep(text);
    for (int time = 0; time < 3; ++time) {
        CHECK(outcome_of(fast).cycles == outcome_of(lockstep).cycles);
        fast.write<std::uint32_t>(kData, {0});
        lockstep.write<std::uint32_t>(kData, {0});
    }
}

TEST_CASE("spans of a phase that is run again stand once", "[unit][tile]") {
    test::AssembledTile fast(text_of("st32 $m0, $m1, $mzero, 0\n" + kWaitForFirst));
    std::vector<tile::ContextSpan> spans(2);
    fast.run("start", &spans);
    CHECK(spans.size() == 2 + static_cast<std::size_t>(fast.spec().tile.workers));
}

TEST_CASE("a supervisor that waits sees what a worker writes", "[unit][tile]") {
    const Outcome done =
        both(text_of("st32 $mzero, $m1, $mzero, 1\nsetzi $m4, 200\n3: brnzdec $m4, 3b\n"
                     "setzi $m2, 7\nst32 $m2, $m1, $mzero, 0",
                     "1: ld32 $m2, $m1, $mzero, 0\nbrz $m2, 1b\n"
                     "st32 $m2, $m1, $mzero, 2"));
    CHECK(done.fault.empty());
    CHECK(done.words[2] == 7);
}

TEST_CASE("contexts that wait for ever are named", "[unit][tile]") {
    // each waits for the word of the next
    const Outcome ring = both(text_of("shl $m3, $m0, 2\nadd $m3, $m3, $m1\n"
                                      "1: ld32 $m2, $m3, $mzero, 2\nbrz $m2, 1b\n"
                                      "st32 $m2, $m3, $mzero, 1"));
    CHECK(ring.fault.find("tile_0.worker_0 @ ") == 0);
    CHECK(ring.fault.find("ld32 $m2, $m3, $mzero, 2") != std::string::npos);
    for (unsigned worker = 0; worker < 6; ++worker) {
        CHECK(ring.fault.find(fmt::format("worker_{} for the word at {:#x} (test.S:", worker,
                                          kData + 8 + 4 * worker)) != std::string::npos);
    }
    // workers that are done are not, and who goes on is no reason
    const Outcome one = both(text_of("brnz $m0, 2f\n" + kWaitForFirst + "2: nop"));
    CHECK(one.fault.find("worker_0 for the word at 0x80000") != std::string::npos);
    CHECK(one.fault.find("worker_1") == std::string::npos);
    // the supervisor too
    const Outcome supervisor = both(text_of("nop", kWaitForFirst));
    CHECK(supervisor.fault.find("tile_0.supervisor @ ") == 0);
    CHECK(supervisor.fault.find("supervisor for the word at 0x80000") != std::string::npos);
    // .. or it cannot go on, as workers hold all slots
    const Outcome held = both(text_of(kWaitForFirst, "st32 $m1, $m1, $mzero, 0\n"));
    CHECK(held.fault.find("worker_5 for the word at 0x80000") != std::string::npos);
    CHECK(held.fault.find("supervisor") == std::string::npos);
    const Outcome with_worker =
        both(text_of("brnz $m0, 2f\n" + kWaitForFirst + "2: nop", kWaitForFirst));
    CHECK(with_worker.fault.find("; supervisor for the word") != std::string::npos);
}

TEST_CASE("a wait ends however late the word is written", "[unit][tile]") {
    // long after all others wait, by one who counts meanwhile
    const Outcome late = both(text_of("brz $m0, 2f\n" + kWaitForFirst +
                                      "exitz $mzero\n2: setzi $m4, 20000\n3: brnzdec $m4, 3b\n"
                                      "setzi $m2, 1\nst32 $m2, $m1, $mzero, 0"));
    CHECK(late.fault.empty());
    CHECK(late.cycles > 6 * 20000);
    // words that change and are not what it waits for
    CHECK(both(text_of("brz $m0, 2f\n" + kWaitForFirst +
                       "exitz $mzero\n2: setzi $m4, 300\n3: st32 $m4, $m1, $mzero, 9\n"
                       "brnzdec $m4, 3b\nsetzi $m2, 1\nst32 $m2, $m1, $mzero, 0"))
              .fault.empty());
}

TEST_CASE("a register in which a wait reads no longer holds what it read before", "[unit][tile]") {
    // All but the first worker read word 5 ahead, which the first writes later.
    const auto races = [](const std::string& use) {
        return both(text_of("brz $m0, 2f\nld32 $m2, $m1, $mzero, 5\n" + use + kWaitForFirst +
                            "exitz $mzero\n2: setzi $m4, 100\n3: brnzdec $m4, 3b\nsetzi $m2, 1\n"
                            "st32 $m2, $m1, $mzero, 5\nst32 $m2, $m1, $mzero, 0"))
            .races;
    };
    CHECK(races("") == 0);
    CHECK(races("brnz $m2, 4f\n4:\n") == 5);
}

TEST_CASE("words that are named order contexts without a wait loop", "[unit][tile]") {
    // a wait in a function, which is not found
    const std::string text = text_of("brz $m0, 2f\n1: call $m5, look\nbrz $m2, 1b\n"
                                     "ld32 $m4, $m1, $mzero, 8\nadd $m4, $m4, $m0\n"
                                     "shl $m3, $m0, 2\nadd $m3, $m3, $m1\n"
                                     "st32 $m4, $m3, $mzero, 10\nexitz $mzero\n"
                                     "2: setzi $m2, 40\nst32 $m2, $m1, $mzero, 8\n"
                                     "st32 $m2, $m1, $mzero, 0",
                                     "", "look: ld32 $m2, $m1, $mzero, 0\nbr $m5\n");
    const auto races = [&](Bytes named, Address from = kData) {
        test::AssembledLockstepTile tile(text);
        tile.core().synchronise_by(from, named);
        const Outcome done = outcome_of(tile);
        CHECK(done.fault.empty());
        CHECK(done.words[12] == 42);
        return tile.core().racing_accesses();
    };
    CHECK(races(4) == 0);
    CHECK(races(0) > 0);
    // a word is named by any of its bytes, and by none beside it
    CHECK(races(1, kData + 3) == 0);
    CHECK(races(5, kData - 4) == 0);
    CHECK(races(4, kData - 4) > 0);
    CHECK(races(4, kData + 4) > 0);
    test::AssembledLockstepTile tile(text);
    CHECK_THROWS_AS(tile.core().synchronise_by(4, 4), ProgramError);
}

TEST_CASE("loops that wait where no wait loop is seen end where that is asked for",
          "[unit][tile]") {
    const std::string text =
        text_of("1: call $m5, look\nbrz $m2, 1b", "", "look: ld32 $m2, $m1, $mzero, 3\nbr $m5\n");
    spec::MachineSpec machine;
    machine.tile.phase_limit_cycles = 5000;
    const auto fault = [&](bool asked) {
        test::AssembledLockstepTile tile(text, machine,
                                         tile::LockstepOptions{.end_standstills = asked});
        return outcome_of(tile).fault;
    };
    CHECK(fault(true).find("worker_5 for the word at 0x8000c (test.S:") != std::string::npos);
    CHECK(fault(false).find("loop for ever") != std::string::npos);
    test::AssembledLockstepTile endless(text_of("1: bri 1b"), machine,
                                        tile::LockstepOptions{.end_standstills = true});
    CHECK(outcome_of(endless).fault.find("it loops for ever") != std::string::npos);
}

namespace {

/// Workers take turns in a random order: in turn t one of them waits for flag t, computes on a word
/// that all share, and sets flag t + 1. Before that each is busy for a random time.
struct Turns {
    std::string text;
    std::uint32_t result = 0;
    std::uint32_t turns = 0;
};

Turns random_turns(std::mt19937& random) {
    Turns made;
    made.turns = 1 + static_cast<std::uint32_t>(random() % 12);
    std::vector<std::string> code(6);
    for (std::uint32_t turn = 0; turn < made.turns; ++turn) {
        std::string& own = code[random() % code.size()];
        own += fmt::format(".align 8\nnop\nrpt {}, 0\n{{nop; fnop}}\n", random() % 40);
        if (turn > 0) {
            own += fmt::format("1: ld32 $m2, $m1, $mzero, {}\nbrz $m2, 1b\n", turn);
        }
        own += fmt::format("ld32 $m3, $m1, $mzero, 31\nmul $m3, $m3, 3\nadd $m3, $m3, {0}\n"
                           "st32 $m3, $m1, $mzero, 31\nsetzi $m2, 1\nst32 $m2, $m1, $mzero, {1}\n",
                           turn, turn + 1);
        made.result = made.result * 3 + turn;
    }
    std::string workers;
    for (std::size_t n = 0; n < code.size(); ++n) {
        workers += fmt::format("cmpeq $m5, $m0, {0}\nbrz $m5, not_{0}\n{1}exitz $mzero\nnot_{0}:\n",
                               n, code[n]);
    }
    made.text = text_of(workers);
    return made;
}

} // namespace

TEST_CASE("random turns of workers come out in their order", "[unit][tile]") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const Turns turns = random_turns(random);
        const Outcome done = both(turns.text);
        CHECK(done.fault.empty());
        CHECK(done.races == 0);
        CHECK(done.words[31] == turns.result);
        CHECK(done.words[turns.turns] == 1);
    }
}
