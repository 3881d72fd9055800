// SPDX-License-Identifier: MIT
// The tests here say which programs of several chips belong together, and how those that do not are told.
#include "base/error.h"
#include "models/program/system_binding.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::program;

namespace {

constexpr TileId kTiles = 4;
constexpr std::int64_t kMostOfIndex = std::int64_t{1} << 21;

Step sync_of(std::uint32_t zone) {
    Step step;
    step.kind = Step::Kind::Sync;
    step.zone = SyncZone::group(zone);
    return step;
}

Step link_of(std::uint32_t index) {
    Step step;
    step.kind = Step::Kind::LinkExchange;
    step.index = index;
    return step;
}

/// Chips of a program each, with their two ends of exchange "e".
struct Chips {
    std::vector<Program> programs;
    SystemProgram system;

    explicit Chips(std::size_t chips) : programs(chips) {
        system.zones = {std::vector<std::uint32_t>(chips, 0)};
        for (std::size_t chip = 0; chip < chips; ++chip) {
            system.program_of_chip.push_back(chip);
            programs[chip].name = fmt::format("p{}", chip);
            LinkExchange exchange;
            exchange.name = "e";
            programs[chip].link_exchanges = {exchange};
            programs[chip].control.children = {link_of(0)};
        }
    }
    /// Two chips: 8 bytes go from tile 1 of chip 0 to tile 0 of chip 1, 4 from its tile 3 to tile 2.
    static Chips two() {
        Chips chips(2);
        chips.system.peers = {{{1, 0}}, {{0, 0}}};
        chips.of(0).sends = {{0, 0, {1, 0x50000, 8}}};
        chips.of(0).receives = {{0, 0, {2, 0x50100, 4}}};
        chips.of(1).sends = {{0, 0, {3, 0x50200, 4}}};
        chips.of(1).receives = {{0, 0, {0, 0x50300, 8}}};
        return chips;
    }

    LinkExchange& of(std::size_t chip) { return programs[chip].link_exchanges[0]; }
    LinkPlace& sent() { return of(0).sends[0].place; }
    LinkPlace& received() { return of(0).receives[0].place; }

    [[nodiscard]] SystemProgram made() const {
        SystemProgram all = system;
        for (const Program& program : programs) {
            all.programs.push_back(std::make_shared<const Program>(program));
        }
        return all;
    }
    [[nodiscard]] SystemBinding bound() const { return bind(made(), kTiles); }
};

/// Returns what is told of two chips after a change; empty where they are bound.
std::string told(const std::function<void(Chips&)>& change) {
    Chips chips = Chips::two();
    change(chips);
    try {
        static_cast<void>(chips.bound());
    } catch (const ProgramError& error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("messages of a channel are bound to their other ends", "[unit][program]") {
    const SystemBinding binding = Chips::two().bound();
    REQUIRE(binding.messages.size() == 2);
    const BoundMessage& there = binding.messages[0];
    CHECK(there.from_chip == 0);
    CHECK(there.to_chip == 1);
    CHECK(there.from.tile == 1);
    CHECK(there.from.address == 0x50000);
    CHECK(there.into.tile == 0);
    CHECK(there.into.address == 0x50300);
    const BoundMessage& back = binding.messages[1];
    CHECK(back.from_chip == 1);
    CHECK(back.to_chip == 0);
    CHECK(back.from.tile == 3);
    CHECK(back.into.tile == 2);
    using Numbers = std::vector<std::uint32_t>;
    CHECK(binding.exchanges[0][0].sends == Numbers{0});
    CHECK(binding.exchanges[0][0].receives == Numbers{1});
    CHECK(binding.exchanges[0][0].tiles == std::vector<TileId>{1, 2});
    CHECK_FALSE(binding.exchanges[0][0].indexed);
    CHECK(binding.exchanges[1][0].sends == Numbers{1});
    CHECK(binding.exchanges[1][0].receives == Numbers{0});
    CHECK(binding.exchanges[1][0].tiles == std::vector<TileId>{0, 3});
}

TEST_CASE("a chip sends by ascending tiles, and a tile in the program's order", "[unit][program]") {
    Chips chips = Chips::two();
    auto& sends = chips.of(0).sends;
    auto& receives = chips.of(1).receives;
    sends.clear();
    receives.clear();
    const std::vector<TileId> tiles = {3, 1, 3, 1};
    for (std::uint32_t index = 0; index < tiles.size(); ++index) {
        // the later ones of a tile stand lower
        sends.push_back({0, index, {tiles[index], 0x51000 - 0x100 * index, 4}});
        receives.push_back({0, index, {0, 0x52000 + 0x100 * index, 4}});
    }
    const SystemBinding binding = chips.bound();
    std::vector<Address> order;
    for (const std::uint32_t number : binding.exchanges[0][0].sends) {
        order.push_back(binding.messages[number].from.address);
    }
    CHECK(order == std::vector<Address>{0x50f00, 0x50d00, 0x51000, 0x50e00});
    CHECK(binding.exchanges[0][0].tiles == std::vector<TileId>{1, 2, 3});
    CHECK(binding.exchanges[1][0].tiles == std::vector<TileId>{0, 3});
}

TEST_CASE("programs, ranks and zones are of as many chips as there are", "[unit][program]") {
    CHECK(told([](Chips& chips) { chips.system.program_of_chip[1] = 2; }) ==
          "a chip runs program 2, expected one below 2");
    for (const std::size_t words : {1U, 3U}) {
        CHECK(told([&](Chips& chips) {
                  chips.system.ranks = {{"rank", std::vector<std::vector<std::int32_t>>(words)}};
              }) == fmt::format("ranks rank: got words for {} chips, expected 2", words));
        CHECK(told([&](Chips& chips) { chips.system.zones.emplace_back(words); }) ==
              fmt::format("zone 1: got groups for {} chips, expected 2", words));
    }
    const std::string no_zone = "link exchange e of chip 1: its zone is not one of the system's 1";
    CHECK(told([](Chips& chips) { chips.of(1).zone = SyncZone::group(1); }) == no_zone);
    CHECK(told([](Chips& chips) { chips.of(1).zone = SyncZone::chip(); }) == no_zone);
    CHECK(told([](Chips& chips) { chips.programs[1].link_exchanges.push_back(chips.of(1)); }) ==
          "link exchange e of chip 1: another one has that name");
    CHECK(told([](Chips& chips) {
              chips.system.zones.push_back({0, 0});
              chips.of(1).zone = SyncZone::group(1);
          }) == "link exchange e: chip 0 meets others in zone 0, chip 1 in zone 1");
    CHECK(told([](Chips& chips) {
              chips.system.zones[0] = {0, 1};
          }) ==
          "link exchange e: chips 0 and 1 have messages for each other and are in different groups "
          "of zone 0");
}

TEST_CASE("messages are whole words of a chip's tiles", "[unit][program]") {
    CHECK(told([](Chips& chips) { chips.sent().tile = 3; }).empty());
    CHECK(told([](Chips& chips) { chips.sent().tile = 4; }) ==
          "link exchange e of chip 0: 8 bytes of tile_4, 0x50000: expected a tile below 4");
    for (const Bytes bytes : {-4, 0, 6}) {
        CHECK(told([&](Chips& chips) { chips.received().bytes = bytes; }) ==
              fmt::format("link exchange e of chip 0: {} bytes of tile_2, 0x50100: expected whole "
                          "words, one at least",
                          bytes));
    }
    CHECK(told([](Chips& chips) { chips.sent().address = 0x50002; }) ==
          "link exchange e of chip 0: 8 bytes of tile_1, 0x50002: expected whole words, one at "
          "least");
}

TEST_CASE("a place that a word names is among whole words, in a range that can be computed",
          "[unit][program]") {
    const auto index = [](std::int64_t LinkIndex::*number, std::int64_t value) {
        return told([=](Chips& chips) {
            LinkIndex& made = chips.sent().indexed.emplace();
            made.*number = value;
        });
    };
    const std::string place =
        "link exchange e of chip 0: 8 bytes of tile_1, 0x50000: its index has ";
    const std::string above = place + "a stride, a count or a shift above 2097152";
    const std::string none = place +
                             "a word or a stride that is no multiple of 4, a count below 1, "
                             "or a sign that is not -1, 0 or 1";
    for (const auto number : {&LinkIndex::stride, &LinkIndex::shift}) {
        for (const std::int64_t sign : {-1, 1}) {
            CHECK(index(number, sign * kMostOfIndex).empty());
            CHECK(index(number, sign * (kMostOfIndex + 4)) == above);
        }
    }
    CHECK(index(&LinkIndex::shift, 3).empty());
    CHECK(index(&LinkIndex::stride, 2) == none);
    CHECK(index(&LinkIndex::count, kMostOfIndex).empty());
    CHECK(index(&LinkIndex::count, kMostOfIndex + 1) == above);
    CHECK(index(&LinkIndex::count, 1).empty());
    CHECK(index(&LinkIndex::count, 0) == none);
    for (int sign = -2; sign <= 2; ++sign) {
        CHECK(told([&](Chips& chips) { chips.sent().indexed.emplace().sign = sign; }) ==
              (sign == -2 || sign == 2 ? none : ""));
    }
    CHECK(told([](Chips& chips) { chips.sent().indexed.emplace().word = 0x50006; }) == none);
    Chips chips = Chips::two();
    chips.received().indexed.emplace();
    CHECK(chips.bound().exchanges[0][0].indexed);
    CHECK_FALSE(chips.bound().exchanges[1][0].indexed);
}

TEST_CASE("a channel leads to another chip's that leads back", "[unit][program]") {
    const auto nowhere = [](std::size_t channels) {
        return fmt::format(
            "link exchange e of chip 0: channel 0 leads nowhere, expected one below {}", channels);
    };
    CHECK(told([](Chips& chips) { chips.system.peers.clear(); }) == nowhere(0));
    CHECK(told([](Chips& chips) { chips.system.peers[0].clear(); }) == nowhere(0));
    CHECK(told([](Chips& chips) { chips.of(0).sends[0].channel = 1; }) ==
          "link exchange e: chip 1 receives message 0 of channel 0 (8 bytes of tile_0, 0x50300), "
          "and chip 0 sends none of that number");
    CHECK(told([](Chips& chips) {
              chips.of(0).sends[0].channel = 1;
              chips.of(1).receives.clear();
          }) == "link exchange e of chip 0: channel 1 leads nowhere, expected one below 1");
    const auto back = [](const Peer& peer) {
        return fmt::format(
            "channel 0 of chip 0 leads to channel {} of chip {}, which does not lead back",
            peer.channel, peer.chip);
    };
    for (const Peer peer : {Peer{2, 0}, Peer{0, 0}, Peer{1, 1}}) {
        CHECK(told([&](Chips& chips) { chips.system.peers[0][0] = peer; }) == back(peer));
    }
    CHECK(told([](Chips& chips) { // of a chip that there is not, which leads back
              chips.system.peers = {{{2, 0}}, {{0, 0}}, {{0, 0}}};
          }) == back({2, 0}));
    CHECK(told([](Chips& chips) { chips.system.peers.pop_back(); }) == back({1, 0}));
    CHECK(told([](Chips& chips) { chips.system.peers[1].clear(); }) == back({1, 0}));
    CHECK(told([](Chips& chips) { chips.system.peers[1][0] = {0, 1}; }) == back({1, 0}));
    CHECK(told([](Chips& chips) { chips.system.peers[1][0] = {1, 0}; }) == back({1, 0}));
    CHECK(told([](Chips& chips) { chips.of(1).name = "f"; }) ==
          "link exchange e of chip 0 has messages over channel 0, and chip 1 at its other end has "
          "no link exchange of that name");
}

TEST_CASE("each message of a channel has one other end, of its size", "[unit][program]") {
    CHECK(told([](Chips& chips) { chips.of(0).sends.push_back(chips.of(0).sends[0]); }) ==
          "link exchange e of chip 0: message 0 of channel 0 is there twice");
    CHECK(told([](Chips& chips) { chips.of(1).receives.push_back(chips.of(1).receives[0]); }) ==
          "link exchange e of chip 1: message 0 of channel 0 is there twice");
    CHECK(told([](Chips& chips) { chips.of(1).receives.clear(); }) ==
          "link exchange e: chip 0 sends message 0 of channel 0 (8 bytes of tile_1, 0x50000), and "
          "chip 1 receives none of that number");
    CHECK(told([](Chips& chips) { chips.of(1).sends.clear(); }) ==
          "link exchange e: chip 0 receives message 0 of channel 0 (4 bytes of tile_2, 0x50100), "
          "and chip 1 sends none of that number");
    CHECK(told([](Chips& chips) { chips.of(0).sends.clear(); }) ==
          "link exchange e: chip 1 receives message 0 of channel 0 (8 bytes of tile_0, 0x50300), "
          "and chip 0 sends none of that number");
    CHECK(told([](Chips& chips) { chips.of(1).sends[0].index = 1; }) ==
          "link exchange e: chip 0 receives message 0 of channel 0 (4 bytes of tile_2, 0x50100), "
          "and chip 1 sends none of that number");
    CHECK(told([](Chips& chips) { chips.sent().bytes = 12; }) ==
          "link exchange e: chip 0 sends message 0 of channel 0 (12 bytes of tile_1, 0x50000), and "
          "chip 1 receives 8 bytes of tile_0, 0x50300");
    CHECK(told([](Chips& chips) { chips.received().bytes = 8; }) ==
          "link exchange e: chip 0 receives message 0 of channel 0 (8 bytes of tile_2, 0x50100), "
          "and chip 1 sends 4 bytes of tile_3, 0x50200");
}

TEST_CASE("a step of messages has no word that is written and used otherwise", "[unit][program]") {
    struct Use {
        bool receives;
        TileId tile;
        Address address;
        Bytes bytes;
    };
    // Each use of chip 0 is a message of its own, to or from an own tile of chip 1's.
    const auto of_uses = [](const std::vector<Use>& uses) {
        return told([&](Chips& chips) {
            for (std::size_t chip = 0; chip < 2; ++chip) {
                chips.of(chip).sends.clear();
                chips.of(chip).receives.clear();
            }
            std::uint32_t index = 0;
            for (const Use& use : uses) {
                const LinkMessage ours{0, index, {use.tile, use.address, use.bytes}};
                const LinkMessage theirs{
                    0, index, {use.receives ? 0U : 1U, 0x50000 + 0x1000 * index, use.bytes}};
                ++index;
                auto& from = chips.of(use.receives ? 1 : 0).sends;
                auto& into = chips.of(use.receives ? 0 : 1).receives;
                from.push_back(use.receives ? theirs : ours);
                into.push_back(use.receives ? ours : theirs);
            }
        });
    };
    const auto meets = [](const std::string& where, const std::string& first,
                          const std::string& second) {
        const auto does = [](const std::string& way) {
            return way == "in" ? std::string("written by the message from chip 1")
                               : std::string("read by the message to chip 1");
        };
        return fmt::format("link exchange e: chip 0, {} is {} and {} in one step", where,
                           does(first), does(second));
    };
    // next to each other, on another tile, or both read
    CHECK(of_uses({{true, 2, 0x50000, 8}, {true, 2, 0x50008, 4}}).empty());
    CHECK(of_uses({{true, 2, 0x50000, 64}, {true, 3, 0x50000, 64}}).empty());
    CHECK(of_uses({{false, 2, 0x50000, 64}, {false, 2, 0x50010, 4}}).empty());
    CHECK(of_uses({{false, 2, 0x50000, 64}, {true, 2, 0x50040, 4}}).empty());
    CHECK(of_uses({{true, 2, 0x50000, 8}, {true, 2, 0x50004, 4}}) ==
          meets("tile_2, 0x50004", "in", "in"));
    CHECK(of_uses({{true, 2, 0x50004, 4}, {false, 2, 0x50000, 8}}) ==
          meets("tile_2, 0x50004", "out", "in"));
    CHECK(of_uses({{true, 2, 0x50000, 8}, {false, 2, 0x50004, 4}}) ==
          meets("tile_2, 0x50004", "in", "out"));
    // what reaches furthest is not what began last
    CHECK(of_uses({{false, 2, 0x50000, 64}, {false, 2, 0x50010, 4}, {true, 2, 0x5003c, 4}}) ==
          meets("tile_2, 0x5003c", "out", "in"));
    CHECK(of_uses({{true, 2, 0x50000, 64}, {false, 2, 0x50040, 4}, {true, 2, 0x50044, 4}}).empty());
    CHECK(of_uses({{true, 2, 0x50000, 4}, {false, 2, 0x50004, 64}, {true, 2, 0x50040, 4}}) ==
          meets("tile_2, 0x50040", "out", "in"));
    // of another tile nothing counts, however far it reaches
    CHECK(of_uses({{false, 1, 0x50000, 4096}, {false, 2, 0x50000, 4}, {true, 2, 0x50004, 4}})
              .empty());
    CHECK(
        of_uses({{true, 1, 0x50000, 4096}, {true, 2, 0x50000, 4}, {false, 2, 0x50004, 4}}).empty());
    // a place that a word names is looked at when it is known
    CHECK(told([](Chips& chips) { chips.received() = {1, 0x50000, 4, LinkIndex{}}; }).empty());
}

TEST_CASE("no message is written over code or rows", "[unit][program]") {
    const auto over = [](SegmentKind kind, Address address, Bytes bytes) {
        return told([&](Chips& chips) {
            Segment segment;
            segment.address = address;
            segment.bytes = bytes;
            segment.kind = kind;
            chips.programs[0].images = {{}, {{segment}}};
            chips.programs[0].image_of_tile = {0, Program::kNoImage, 1};
        });
    };
    // the message stands in 0x50100 to 0x50103
    const auto expected = [](const std::string& what) {
        return "link exchange e: chip 0, tile_2, 0x50100: the message from chip 1 would be written "
               "over " +
               what;
    };
    CHECK(over(SegmentKind::Code, 0x50100, 4) == expected("code"));
    CHECK(over(SegmentKind::Code, 0x50000, 0x104) == expected("code"));
    CHECK(over(SegmentKind::Code, 0x50000, 0x100).empty());
    CHECK(over(SegmentKind::Code, 0x50104, 0x100).empty());
    CHECK(over(SegmentKind::ExchangeRow, 0x50000, 0x200) == expected("a row of exchange"));
    CHECK(over(SegmentKind::Tensor, 0x50000, 0x200).empty());
    // what is sent may be code
    CHECK(told([](Chips& chips) {
              Segment segment;
              segment.address = 0x50000;
              segment.bytes = 8;
              segment.kind = SegmentKind::Code;
              chips.programs[0].images = {{{segment}}};
              chips.programs[0].image_of_tile = {Program::kNoImage, 0};
          }).empty());
}

namespace {

/// Returns what is told of the meetings of chips whose control programs are these.
std::string meetings(std::vector<std::vector<std::uint32_t>> zones,
                     const std::vector<std::vector<Step>>& ways) {
    Chips chips(ways.size());
    chips.system.zones = std::move(zones);
    for (std::size_t chip = 0; chip < ways.size(); ++chip) {
        chips.programs[chip].control.children = ways[chip];
        chips.programs[chip].link_exchanges.emplace_back().name = "f";
    }
    try {
        check_meetings(chips.made());
    } catch (const ProgramError& error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("chips of a zone meet for the same, and none waits for ever", "[unit][program]") {
    const Step e = link_of(0);
    const Step f = link_of(1);
    CHECK(meetings({{0, 0}}, {{e, f, sync_of(0)}, {e, f, sync_of(0)}}).empty());
    // groups of their own
    CHECK(meetings({{0, 1}}, {{e, f}, {f}}).empty());
    // chip 1 comes to its second step when chip 0 has found that all met for the first
    CHECK(meetings({{0, 0}}, {{e, f}, {e, e}}) ==
          "unbalanced zone 0: chip 1 is at link exchange e of zone 0 in step 2, chip 0 is at link "
          "exchange f of zone 0 in step 2");
    CHECK(
        meetings({{0, 0}}, {{e, sync_of(0)}, {e, e}}) ==
        "unbalanced zone 0: chip 1 is at link exchange e of zone 0 in step 2, chip 0 is at a sync "
        "of zone 0 in step 2");
    CHECK(meetings({{0, 0}}, {{sync_of(1)}, {}}) ==
          "chip 0 is at a sync of zone 1 in step 1, expected a zone below 1");
    CHECK(
        meetings({{0, 0}}, {{e, e}, {e}}) ==
        "chips would wait for ever: chip 0 is at link exchange e of zone 0 in step 2 and waits for "
        "chip 1; chip 1 has ended behind step 1");
    // who waits for one that waits for one that has ended
    CHECK(
        meetings({{0, 0, 1}, {0, 1, 1}}, {{e}, {sync_of(1)}, {}}) ==
        "chips would wait for ever: chip 0 is at link exchange e of zone 0 in step 1 and waits for "
        "chip 1; chip 1 is at a sync of zone 1 in step 1 and waits for chip 2; chip 2 has ended "
        "behind step 0");
    CHECK(
        meetings({{0, 0}, {0, 0}}, {{sync_of(0), sync_of(1)}, {sync_of(1), sync_of(0)}}) ==
        "chips would wait in a circle: chip 0 is at a sync of zone 0 in step 1 and waits for chip "
        "1; chip 1 is at a sync of zone 1 in step 1 and waits for chip 0");
    // chip 0 waits for the circle of two others and is no part of it
    CHECK(
        meetings({{0, 0, 1}, {0, 1, 1}, {0, 1, 1}}, {{e}, {sync_of(1)}, {sync_of(2)}}) ==
        "chips would wait in a circle: chip 1 is at a sync of zone 1 in step 1 and waits for chip "
        "2; chip 2 is at a sync of zone 2 in step 1 and waits for chip 1");
}

TEST_CASE("where a word decides, what comes behind it is found when it is run", "[unit][program]") {
    Step decides;
    decides.kind = Step::Kind::If;
    decides.value = TileValue{0, 0x50000};
    decides.children = {link_of(0)};
    CHECK(meetings({{0, 0}}, {{decides}, {}}).empty());
    CHECK(meetings({{0, 0}}, {{link_of(0)}, {decides}}).empty());
    CHECK(
        meetings({{0, 0}}, {{link_of(0), decides}, {sync_of(0)}}) ==
        "unbalanced zone 0: chip 0 is at link exchange e of zone 0 in step 1, chip 1 is at a sync "
        "of zone 0 in step 1");
}

TEST_CASE("chips of one program meet in one order", "[unit][program]") {
    Chips chips(2);
    chips.programs.resize(1);
    chips.system.program_of_chip = {0, 0};
    chips.programs[0].control.children = {sync_of(7)};
    CHECK_NOTHROW(check_meetings(chips.made()));
}
