// SPDX-License-Identifier: MIT
// Timing mode on one tile: the cycles and counts of the functional mode, or a fault that names what
// needs data; what it takes for known is what stands there; classes are of tiles that do the same.
#include "models/tile/core/tile_classes.h"
#include "tests/support/assembled_tile.h"
#include "tests/support/random_code.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>

using namespace tessera;
using Catch::Matchers::Contains;
using Kind = isa::ShadowRead::Kind;

namespace {

constexpr Address kData = 0x80000;
constexpr TileId kTiles = 4;

/// Tiles with one program, in timing mode.
class TimedTiles {
public:
    explicit TimedTiles(const std::string& text)
        : codelets_{isa::assemble("test", {{"test.S", text}}, spec_.memory.region0_begin(),
                                  isa::options_for(isa::target_of(spec_)))},
          cache_(codelets_), known_(kTiles, spec_.memory.region0_begin(), spec_.memory.bytes()) {
        const auto& words = codelets_.front().words;
        auto bytes = std::make_shared<std::vector<std::byte>>(words.size() * 4);
        std::memcpy(bytes->data(), words.data(), bytes->size());
        image_.segments.push_back({codelets_.front().address, static_cast<Bytes>(bytes->size()),
                                   program::SegmentKind::Code, "test", bytes});
    }

    /// Words that the tile holds from the start, of that kind.
    void hold(std::vector<std::uint32_t> words,
              program::SegmentKind kind = program::SegmentKind::VertexState) {
        auto bytes = std::make_shared<std::vector<std::byte>>(words.size() * 4);
        std::memcpy(bytes->data(), words.data(), bytes->size());
        hold(bytes, kind);
    }
    void hold(const program::SharedBytes& bytes, program::SegmentKind kind) {
        held_ = {{kData, static_cast<Bytes>(bytes->size()), kind, "data", bytes}};
    }

    void mark_known() { held_.front().known = true; }
    /// Memory without data that is taken behind step 1.
    void hold_later(Bytes bytes, program::SegmentKind kind) {
        held_ = {{kData, bytes, kind, "data", nullptr, {1, 2}}};
    }
    /// The word at kData has a round: from now on, on this tile.
    void tell_rounds(TileId tile) { known_.add_round(tile, kData); }
    /// Where the phase, which is one vertex, may scatter.
    void scatter_in(std::vector<program::ByteRange> ranges) {
        scattered_ = {std::move(ranges)};
        vertices_ = {{.entry = codelets_.front().symbols.at("start"), .scatters = 0}};
    }

    /// The same of the vertex with this entry, whose state is at the begin of memory.
    void scatter_in(const std::string& symbol, std::vector<program::ByteRange> ranges) {
        vertices_.push_back({.entry = codelets_.front().symbols.at(symbol),
                             .state_address = spec_.memory.region0_begin(),
                             .scatters = static_cast<std::uint32_t>(scattered_.size())});
        scattered_.push_back(std::move(ranges));
    }

    /// A phase of tile `tile`, which holds what was said last.
    tile::ComputeOutcome run(TileId tile, bool audited = false) {
        auto image = image_;
        image.segments.insert(image.segments.end(), held_.begin(), held_.end());
        memories_[tile].assign(static_cast<std::size_t>(spec_.memory.bytes()) / 8, 0);
        known_.forget(tile, spec_.memory.region0_begin(), spec_.memory.bytes());
        tile::TileCore core(spec_, tile, reinterpret_cast<std::byte*>(memories_[tile].data()));
        core.set_timing(mode_);
        core.load(image, cache_);
        core.set_audited(audited);
        const auto outcome = core.run(codelets_.front().symbols.at("start"), nullptr, vertices_);
        facts_ = core.known_facts();
        return outcome;
    }
    /// Of the last phase.
    [[nodiscard]] const tile::KnownFacts& facts() const { return facts_; }

    [[nodiscard]] bool is_known(TileId tile, Address address) {
        return known_.is_known(tile, address);
    }
    [[nodiscard]] std::uint32_t word(TileId tile, Address address) const {
        std::uint32_t value = 0;
        std::memcpy(&value,
                    reinterpret_cast<const std::byte*>(memories_[tile].data()) +
                        (address - spec_.memory.region0_begin()),
                    sizeof value);
        return value;
    }
    tile::TileClasses& classes() { return classes_; }
    /// What the classes find for a tile as it stands, at the begin of a phase.
    tile::TileClasses::Found found(TileId tile) {
        return classes_.find({codelets_.front().symbols.at("start"), 0, 0, 0},
                             {reinterpret_cast<const std::byte*>(memories_[tile].data()),
                              &known_.of_tile(tile), &known_.shared(tile), tile});
    }

private:
    spec::MachineSpec spec_;
    std::vector<program::Codelet> codelets_;
    tile::CodeCache cache_;
    program::KnownWords known_;
    tile::TileClasses classes_;
    std::vector<std::vector<program::ByteRange>> scattered_;
    std::vector<program::Vertex> vertices_;
    tile::KnownFacts facts_;
    tile::TimingMode mode_{known_, classes_, &scattered_};
    program::Image image_;
    std::vector<program::Segment> held_;
    std::array<std::vector<std::uint64_t>, kTiles> memories_;
};

/// Counts down from the word at kData, and leaves twice that word behind it.
const char* const kCountDown = R"(
    .supervisor
    .globl start
    start:
        setzi $m1, 0x80000
        ld32 $m0, $m1, $mzero, 0
        add $m2, $m0, $m0
        st32 $m2, $m1, $mzero, 1
    1:  brnzdec $m0, 1b
        br $lr
)";

} // namespace

TEST_CASE("random programs take their cycles without data too, or say what they need",
          "[unit][tile]") {
    constexpr unsigned kPrograms = 1200;
    std::array<unsigned, 2> compared{};
    unsigned known_words = 0;
    for (unsigned seed = 0; seed < kPrograms; ++seed) {
        std::mt19937 random(seed);
        const test::RandomProgram program(
            [&random] { return static_cast<std::uint32_t>(random()); });
        const test::RandomOutcome functional = program.run(isa::engines().back());
        if (!functional.fault.empty()) {
            continue; // flags and elements may be what data decide
        }
        for (const bool memory_known : {false, true}) {
            CAPTURE(seed, memory_known);
            const auto timed = program.run_timing(memory_known);
            if (timed.needs_data) {
                continue;
            }
            ++compared[memory_known ? 1 : 0];
            CHECK(timed.outcome.fault.empty());
            CHECK(timed.outcome.cycles == functional.cycles);
            CHECK((timed.outcome.counts == functional.counts));
            unsigned wrong = 0;
            for (std::size_t word = 0; word < timed.known.size(); ++word) {
                known_words += timed.known[word] ? 1 : 0;
                wrong += timed.known[word] && std::memcmp(&timed.outcome.memory[word * 4],
                                                          &functional.memory[word * 4], 4) != 0
                             ? 1
                             : 0;
            }
            CHECK(wrong == 0);
            const auto counted = program.run_timing(memory_known, 2);
            CHECK(counted.classes == 1);
            CHECK(counted.outcome.cycles == functional.cycles);
            CHECK((counted.known == timed.known));
            const auto audited = program.run_timing(memory_known, 2, true);
            CHECK(audited.outcome.cycles == functional.cycles);
            CHECK((audited.known == timed.known));
        }
    }
    // or the property would hold of nothing
    CHECK(compared[0] > kPrograms / 40);
    CHECK(compared[1] > kPrograms / 40);
    CHECK(known_words > kPrograms * 10);
}

TEST_CASE("workers that go a known way leave what they leave instruction by instruction",
          "[unit][tile]") {
    constexpr unsigned kPrograms = 600;
    constexpr int kMemories = 8;
    for (const bool compares_workers : {false, true}) {
        std::int64_t met = 0;
        std::int64_t alike = 0;
        for (unsigned seed = 0; seed < kPrograms; ++seed) {
            std::mt19937 random(seed);
            const test::RandomProgram program(
                [&random] { return static_cast<std::uint32_t>(random()); });
            CAPTURE(seed, compares_workers);
            const auto found = program.run_by_recipes(kMemories, compares_workers);
            CHECK(found.wrong == 0);
            met += found.met;
            alike += found.alike;
        }
        CHECK((compares_workers ? alike : met) >
              kPrograms); // or the property would hold of nothing
    }
}

TEST_CASE("tiles that read the same are counted, others are run", "[unit][tile]") {
    TimedTiles tiles(kCountDown);
    tiles.hold({5, 0});
    const Cycles five = tiles.run(0).cycles;
    CHECK(tiles.run(1).cycles == five);
    CHECK(tiles.classes().classes() == 1);
    CHECK(tiles.classes().phases() == 2);
    CHECK(tiles.is_known(1, kData + 4));
    CHECK(tiles.word(1, kData + 4) == 10);
    tiles.hold({6, 0});
    const Cycles six = tiles.run(2).cycles;
    CHECK(six > five);
    CHECK(tiles.classes().classes() == 2);
    tiles.hold({5, 7}); // the second word is written, never read
    CHECK(tiles.run(3).cycles == five);
    CHECK(tiles.word(3, kData + 4) == 10);
    CHECK(tiles.classes().classes() == 2);
}

TEST_CASE("a count that is tensor data is refused by name", "[unit][tile]") {
    TimedTiles tiles(kCountDown);
    tiles.hold({5, 0}, program::SegmentKind::Tensor);
    try {
        static_cast<void>(tiles.run(2));
        FAIL("ran");
    } catch (const tile::TileFault& fault) {
        CHECK(fault.fault().needs_data);
        CHECK(fault.fault().not_modelled);
        CHECK_THAT(fault.what(), Contains("tile_2.supervisor") && Contains("test.S:9") &&
                                     Contains("brnzdec $m0") && Contains("tensor data ($m0)"));
    }
    CHECK(tiles.classes().classes() == 0);
}

TEST_CASE("a tensor that is known decides", "[unit][tile]") {
    TimedTiles tiles(kCountDown);
    tiles.hold({5, 0});
    const Cycles five = tiles.run(0).cycles;
    tiles.hold({5, 0}, program::SegmentKind::Tensor);
    tiles.mark_known();
    CHECK(tiles.run(1).cycles == five);
}

TEST_CASE("memory that is taken later is not known from the start", "[unit][tile]") {
    TimedTiles tiles(kCountDown);
    tiles.hold_later(8, program::SegmentKind::Metadata);
    CHECK_THROWS_WITH(tiles.run(0), Contains("depends on tensor data"));
}

namespace {

/// Loads from where the word at kData says, stores that behind it, and a known word, too.
const char* const kLoadWhereItSays = R"(
    .supervisor
    .globl start
    start:
        setzi $m1, 0x80000
        ld32 $m0, $m1, $mzero, 0
        ld32 $m2, $m0, $mzero, 0
        st32 $m2, $m1, $mzero, 1
        setzi $m3, 7
        st32 $m3, $m1, $mzero, 2
        br $lr
)";

/// Stores a 7 where the word at kData says.
const char* const kStoreWhereItSays = R"(
    .supervisor
    .globl start
    start:
        setzi $m1, 0x80000
        ld32 $m0, $m1, $mzero, 0
        setzi $m3, 7
        st32 $m3, $m0, $mzero, 0
        br $lr
)";

} // namespace

TEST_CASE("a load from an unknown address gives an unknown word in the same cycles",
          "[unit][tile]") {
    TimedTiles tiles(kLoadWhereItSays);
    tiles.hold({kData + 16, 1, 2, 3, 4});
    const Cycles known = tiles.run(0).cycles;
    CHECK(tiles.word(0, kData + 4) == 4);
    CHECK(tiles.facts().unknown_addresses == 0);
    tiles.hold({kData + 16, 1, 2, 3, 4}, program::SegmentKind::Tensor);
    CHECK(tiles.run(1).cycles == known);
    CHECK(!tiles.is_known(1, kData + 4));
    CHECK(tiles.is_known(1, kData + 8));
    CHECK(tiles.facts().unknown_addresses == 1);
}

TEST_CASE("a store to an unknown address makes unknown what its vertex may write", "[unit][tile]") {
    TimedTiles tiles(kStoreWhereItSays);
    tiles.hold({kData + 8, 1, 2, 3});
    const Cycles known = tiles.run(0).cycles;
    CHECK(tiles.word(0, kData + 8) == 7);
    tiles.hold({kData + 8, 1, 2, 3}, program::SegmentKind::Tensor);
    CHECK_THROWS_WITH(tiles.run(1), Contains("depends on tensor data ($m0)"));
    tiles.scatter_in({{kData + 0x100, 16}});
    CHECK(tiles.run(1).cycles == known);
    CHECK(tiles.facts().unknown_addresses == 1);
    tiles.hold({kData + 8, 1, 2, 3});
    CHECK(tiles.run(2).cycles == known); // known: it makes nothing unknown
    CHECK(tiles.is_known(2, kData + 4));
}

TEST_CASE("a round is a class of its own only where something follows from it", "[unit][tile]") {
    for (const bool follows : {false, true}) {
        CAPTURE(follows);
        TimedTiles tiles(std::string(R"(
            .supervisor
            .globl start
            start:
                setzi $m1, 0x80000
                ld32 $m0, $m1, $mzero, 0
                shl $m0, $m0, 2
        )") + (follows ? "st32 $m0, $m1, $mzero, 1\n" : "") +
                         "br $lr\n");
        tiles.hold({3, 0});
        tiles.tell_rounds(0);
        tiles.tell_rounds(1);
        static_cast<void>(tiles.run(0));
        CHECK(tiles.facts().rounds_met == (follows ? 1 : 0));
        tiles.hold({4, 0});
        static_cast<void>(tiles.run(1));
        CHECK(tiles.facts().rounds_met == (follows ? 1 : 0));
        CHECK(tiles.classes().classes() == (follows ? 2 : 1));
        CHECK(tiles.word(1, kData + 4) == (follows ? 16U : 0U));
    }
}

TEST_CASE("what counts cycles or the tile is no common ground", "[unit][tile]") {
    const auto program = [](const char* get) {
        return fmt::format(R"(
            .supervisor
            .globl start
            start:
                get $m0, ${}
                and $m0, $m0, 3
            1:  brnzdec $m0, 1b
                br $lr
        )",
                           get);
    };
    TimedTiles by_number(program("TILE_ID"));
    for (TileId tile = 1; tile < kTiles; ++tile) {
        CHECK(by_number.run(tile).cycles == by_number.run(0).cycles + tile * 6);
    }
    CHECK(by_number.classes().classes() == kTiles);
    TimedTiles by_clock(program("SCOUNT_L"));
    CHECK_THROWS_WITH(by_clock.run(0), Contains("depends on tensor data"));
}

TEST_CASE("lists that tiles share are one step, by identity", "[unit][tile]") {
    TimedTiles tiles(kCountDown);
    const auto bytes = std::make_shared<std::vector<std::byte>>(8, std::byte{1});
    const auto equal = std::make_shared<std::vector<std::byte>>(*bytes);
    std::memset(bytes->data(), 0, 8);
    (*bytes)[0] = std::byte{3};
    *equal = *bytes;
    tiles.hold(bytes, program::SegmentKind::Metadata);
    const Cycles cycles = tiles.run(0).cycles;
    CHECK(tiles.run(1).cycles == cycles);
    CHECK(tiles.classes().classes() == 1);
    tiles.hold(equal, program::SegmentKind::Metadata); // found out by running it
    CHECK(tiles.run(2).cycles == cycles);
    CHECK(tiles.classes().classes() == 2);
}

namespace {

/// Classes alone, found for tiles of a few known words.
class Classes {
public:
    static constexpr std::uint32_t kWords = 64;

    void hold(std::uint32_t word, std::uint32_t value) {
        std::memcpy(memory_.data() + std::size_t{word} * 4, &value, sizeof value);
        known_.set(word);
    }
    tile::TileClasses::Found find() {
        return classes.find({}, {memory_.data(), &known_, &shared, 0});
    }

    tile::TileClasses classes;
    std::vector<program::SharedWords> shared;

private:
    std::array<std::uint64_t, 1> bits_{};
    std::vector<std::byte> memory_ = std::vector<std::byte>(std::size_t{kWords} * 4);
    program::TileWords known_{bits_.data()};
};

tile::PhaseResult result_of(Cycles cycles) {
    tile::PhaseResult result;
    result.outcome.cycles = cycles;
    return result;
}

} // namespace

TEST_CASE("shared words are found by where they begin, whatever others a tile shares",
          "[unit][tile]") {
    Classes tile;
    const auto shares = [&tile](std::uint64_t first, std::uint64_t second) {
        tile.shared = {{{8, 2}, first}, {{20, 4}, second}};
        return tile.find();
    };
    tile.classes.add(shares(1, 2), {{Kind::Shared, 20, 2}}, result_of(7));
    for (std::uint64_t first : {1U, 2U, 3U}) {
        for (std::uint64_t second : {1U, 2U, 3U}) {
            CAPTURE(first, second);
            CHECK((shares(first, second).result != nullptr) == (second == 2));
        }
    }
}

TEST_CASE("a phase whose first read is another than that of its like is no class", "[unit][tile]") {
    Classes tile;
    tile.hold(5, 1);
    tile.hold(6, 1);
    const auto root = tile.find();
    const std::uint64_t one = isa::shadow_value(true, 1);
    const std::uint64_t two = isa::shadow_value(true, 2);
    tile.classes.add(root, {{Kind::Word, 5, one}}, result_of(7));
    for (const isa::ShadowRead& other :
         {isa::ShadowRead{Kind::Word, 6, two}, {Kind::Shared, 5, two}, {Kind::Round, 6, two}}) {
        tile.classes.add(root, {other}, result_of(8));
        CHECK(tile.classes.classes() == 1);
    }
    tile.hold(5, 2);
    CHECK(tile.find().result == nullptr);
    tile.classes.add(root, {{Kind::Word, 5, two}}, result_of(8));
    CHECK(tile.classes.classes() == 2);
    REQUIRE(tile.find().result != nullptr);
    CHECK(tile.find().result->outcome.cycles == 8);
}

TEST_CASE("results are equal where all that a phase came to is", "[unit][tile]") {
    tile::PhaseResult result = result_of(7);
    result.contexts = {{0, 0x4c000, 1, 5}};
    result.registers = 3;
    result.lost = {{4, 2}};
    result.stored = {{9, 1}};
    result.stored_values = {77};
    const std::vector<std::function<void(tile::PhaseResult&)>> changes = {
        [](auto& other) { ++other.outcome.cycles; },
        [](auto& other) { ++other.contexts[0].end; },
        [](auto& other) { other.contexts.clear(); },
        [](auto& other) { ++other.registers; },
        [](auto& other) { ++other.lost[0].first; },
        [](auto& other) { ++other.stored[0].count; },
        [](auto& other) { ++other.stored_values[0]; },
        [](auto& other) { ++other.unknown_addresses; },
        [](auto& other) { other.knows_rounds = true; },
    };
    CHECK(result == tile::PhaseResult(result));
    for (std::size_t i = 0; i < changes.size(); ++i) {
        CAPTURE(i);
        tile::PhaseResult other = result;
        changes[i](other);
        CHECK_FALSE(result == other);
    }
}

TEST_CASE("two classes that were made one are caught by an audit", "[unit][tile]") {
    TimedTiles tiles(kCountDown);
    tiles.hold({5, 0});
    const auto right = tiles.run(0);
    const auto found = tiles.found(0); // the word that was read still stands there
    REQUIRE(found.result != nullptr);
    // that a tile with a 6 does the same is made up
    const std::uint32_t word = (kData - spec::MachineSpec().memory.region0_begin()) / 4;
    const tile::TileClasses::Found at_root{nullptr, found.root};
    tiles.classes().add(at_root, {{Kind::Word, word, isa::shadow_value(true, 6)}}, *found.result);
    tiles.hold({6, 0});
    CHECK(tiles.run(1).cycles == right.cycles); // counted, wrongly
    CHECK_THROWS_AS(tiles.run(2, true), std::logic_error);
    CHECK_THROWS_WITH(tiles.run(2, true), Contains("tile_2") && Contains("audit"));
}

TEST_CASE("phases that are hardly ever alike are run without a search", "[unit][tile]") {
    constexpr std::uint32_t kPhases = 4096; // before a start is judged
    constexpr std::size_t kMuch = std::size_t{1} << 40U;
    for (const bool alike : {false, true}) {
        CAPTURE(alike);
        TimedTiles tiles(kCountDown);
        const auto run = [&](std::uint32_t value) {
            tiles.hold({value, 0});
            return tiles.run(0).cycles;
        };
        for (std::uint32_t phase = 1; phase <= kPhases; ++phase) {
            static_cast<void>(run(alike ? phase % 8 : phase));
        }
        const std::int64_t before = tiles.classes().classes();
        CHECK(before == (alike ? 8 : kPhases));
        const Cycles cycles = run(5);
        CHECK(tiles.classes().classes() == before); // known still: nobody has judged
        tiles.classes().between_steps(kMuch);
        CHECK(run(5) == cycles);
        CHECK(run(5) == cycles);
        CHECK(tiles.classes().classes() == before + (alike ? 0 : 2));
        tiles.classes().between_steps(0); // what was judged stays, what was found is forgotten
        CHECK(run(5) == cycles);
        CHECK(run(5) == cycles);
        CHECK(tiles.classes().classes() == before + (alike ? 1 : 4));
    }
}

TEST_CASE("what a list has for passes in the middle of a repeat makes no class", "[unit][tile]") {
    constexpr std::uint32_t kPasses = 20; // the list fills words 0 to 9
    constexpr Address kOut = 0x90000;
    TimedTiles tiles(R"(
    .supervisor
    .globl start
    start:
        setzi $m0, worker
        run $m0, $mzero, 0
        sync TEXCH_SYNCZONE_LOCAL
        br $lr
    .worker
        .align 8
    worker:
        setzi $m0, 0x80000
        setzi $m1, 0x90000
        setzi $m2, 8
        setzi $m3, 20
        nop
        rpt $m3, (2f - 1f) / 8 - 1
    1:  { ldd16a64 $a0:1, $m0++, $m1, $m2@ ; fnop }
    2:  st32 $m2, $m1, $mzero, 0
        exitz $mzero
)");
    std::vector<std::uint32_t> list(kPasses / 2);
    for (std::uint32_t pass = 0; pass < kPasses; ++pass) {
        list[pass / 2] |= 8 * (pass + 1) << 16 * (pass % 2);
    }
    tiles.hold(list);
    const Cycles cycles = tiles.run(0).cycles;
    CHECK(tiles.word(0, kOut) == 8 * kPasses); // the last distance of the list
    list[4] = 0;
    tiles.hold(list);
    CHECK(tiles.run(1).cycles == cycles);
    CHECK(tiles.classes().classes() == 1);
    CHECK(tiles.run(2, true).cycles == cycles); // an audit runs all passes, and agrees
    CHECK(tiles.classes().classes() == 1);
    list.back() = 0;
    tiles.hold(list);
    CHECK(tiles.run(3).cycles == cycles);
    CHECK(tiles.classes().classes() == 2);
    CHECK(tiles.word(3, kOut) == 0);
    // an unknown distance is looked at
    tiles.hold(std::vector<std::uint32_t>(list.begin(), list.begin() + 4));
    CHECK(tiles.run(0).cycles == cycles);
    CHECK(tiles.classes().classes() == 3);
    CHECK(tiles.facts().unknown_addresses > 0);
}

TEST_CASE("classes part where the first of their reads differs", "[unit][tile]") {
    Classes tile;
    tile.hold(5, 1);
    tile.hold(6, 1);
    const auto add = [&](std::uint32_t second, Cycles cycles) {
        tile.hold(6, second);
        tile.classes.add(tile.find(),
                         {{Kind::Word, 5, isa::shadow_value(true, 1)},
                          {Kind::AreKnown, 5, 1, 2},
                          {Kind::Word, 6, isa::shadow_value(true, second)},
                          {Kind::Word, 7, isa::shadow_value(false, 0)}},
                         result_of(cycles));
    };
    constexpr std::uint32_t kClasses = 5;
    for (std::uint32_t second = 0; second < kClasses; ++second) {
        add(second, second);
        CHECK(tile.classes.classes() == second + 1);
    }
    for (std::uint32_t second = 0; second < kClasses; ++second) {
        tile.hold(6, second);
        REQUIRE(tile.find().result != nullptr);
        CHECK(tile.find().result->outcome.cycles == second);
    }
    tile.hold(7, 0); // known now
    CHECK(tile.find().result == nullptr);
}

TEST_CASE("starts are judged between phases, by all of them", "[unit][tile]") {
    // 32 phases are judged: where fewer than one was alike and they have four sections each in the
    // mean, none is added from then on
    constexpr std::int64_t kPhases = 32;
    constexpr std::int64_t kSections = 4;
    const auto keeps_after = [](std::int64_t phases, std::int64_t alike, std::int64_t sections) {
        Classes tile;
        for (std::int64_t phase = 0; phase < phases; ++phase) {
            const auto value = static_cast<std::uint32_t>(std::max(phase, alike));
            tile.hold(5, value); // the first ones are alike, and the one that they are like
            const auto found = tile.find();
            CHECK(found.keeps);
            if (found.result == nullptr) {
                tile.classes.add(found, {{Kind::Word, 5, isa::shadow_value(true, value)}},
                                 result_of(7), sections * phases / (phases - alike));
            }
        }
        tile.classes.judge();
        return tile.find().keeps;
    };
    CHECK_FALSE(keeps_after(kPhases, 0, kSections));
    CHECK(keeps_after(kPhases, 0, kSections - 1));
    CHECK(keeps_after(kPhases, 1, 2 * kSections));
    CHECK(keeps_after(kPhases - 1, 0, kSections));
    CHECK_FALSE(keeps_after(2 * kPhases, 1, 2 * kSections));
    CHECK(keeps_after(2 * kPhases, 2, 2 * kSections));
}

TEST_CASE("a wait for a word of tensor data needs data", "[unit][tile]") {
    const std::string wait = "2: ld32 $m2, $m1, $mzero, 0\nbrz $m2, 2b\n";
    const std::string worker = ".supervisor\n.globl start\nstart: setzi $m0, worker\n"
                               "run $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\nbr $lr\n"
                               ".worker\nworker: setzi $m1, 0x80000\n" +
                               wait + "exitz $mzero\n";
    const std::string supervisor =
        ".supervisor\n.globl start\nstart: setzi $m1, 0x80000\n" + wait + "br $lr\n";
    for (const std::string& text : {worker, supervisor}) {
        CAPTURE(text);
        TimedTiles tiles(text);
        tiles.hold({1});
        CHECK(tiles.run(0).cycles > 0); // known, and what it waits for
        tiles.hold({1}, program::SegmentKind::Tensor);
        try {
            tiles.run(1);
            FAIL("the phase ended");
        } catch (const tile::TileFault& found) {
            CHECK(found.fault().needs_data);
            CHECK(found.fault().reason.find("tensor data ($m2)") != std::string::npos);
        }
    }
}

TEST_CASE("of vertices that take turns each may store where it says alone", "[unit][tile]") {
    // worker 0 sets a flag behind a store at an unknown address, for which worker 1 waits
    const std::string text = R"(
        .supervisor
        .globl start
        start:
            setzi $m0, first
            setzi $m2, second
            run $m0, $mzero, 0
            run $m2, $mzero, 0
            sync TEXCH_SYNCZONE_LOCAL
            br $lr
        .worker
        .globl first, second
        first:
            setzi $m1, 0x80000
            ld32 $m0, $m1, $mzero, 64
            add $m0, $m0, $m1
            setzi $m2, 60
        1:  brnzdec $m2, 1b
            st32 $m2, $m0, $mzero, 1
            setzi $m2, 1
            st32 $m2, $m1, $mzero, 8
            exitz $mzero
        second:
            setzi $m1, 0x80000
            setzi $m4, 7
        2:  ld32 $m2, $m1, $mzero, 8
            st32 $m4, $m1, $mzero, 12
            brz $m2, 2b
            exitz $mzero
    )";
    const auto prepare = [](TimedTiles& tiles, const char* scatters) {
        tiles.hold(std::vector<std::uint32_t>(16)); // the flag is known, the address is not
        tiles.scatter_in(scatters, {{kData, 32}});
    };
    TimedTiles tiles(text);
    prepare(tiles, "first");
    test::AssembledLockstepTile lockstep(text);
    lockstep.write<std::uint32_t>(kData + 256, {8});
    CHECK(tiles.run(0).cycles == lockstep.run().cycles);
    CHECK_FALSE(tiles.is_known(0, kData + 4)); // it may be stored there
    CHECK(tiles.word(0, kData + 32) == 1);
    CHECK(tiles.word(0, kData + 48) == 7);
    TimedTiles other(text);
    prepare(other, "second");
    CHECK_THROWS_WITH(other.run(0), Contains("$m0") && Contains("tensor data"));
}
