// SPDX-License-Identifier: MIT
// Planned programs with one instruction changed: whichever it is, the fabric says which tile went
// wrong, at which event and why. Rows that are broken in other ways: broken_rows_test.cpp.
#include "base/error.h"
#include "kernels/exchange_plan/exchange_planner.h"
#include "models/timing/tile_position.h"
#include "tests/support/exchange_patterns.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <string>

using namespace tessera;
using namespace tessera::exchange_test;
using Catch::Contains;
using Instructions = std::vector<isa::ExchangeInstruction>;

namespace {

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

/// All-to-all of `words` words a message; received words do not adjoin, so every message has a
/// pointer control.
program::Exchange all_to_all(const spec::MachineSpec& machine, Bytes words) {
    exchange_patterns::Layout layout{machine};
    exchange_patterns::all_to_all(layout, 4 * words, layout.tiles());
    auto transfers = layout.take();
    for (auto& transfer : *transfers)
        for (auto& to : transfer.destinations)
            to.address += 4 * transfer.source_tile;
    return exchange_plan::plan_exchange(machine, "good", std::move(*transfers));
}

/// Changes instruction `at`; false where the change does not apply to it.
using Change = std::function<bool(Instructions&, std::size_t at)>;

/// Executes the exchange once for each instruction that the change applies to. Each time it must
/// fail, and name the exchange, a tile and an event. Returns how often.
int changes_found(const spec::MachineSpec& machine, const program::Exchange& good, TileId tile,
                  const Change& change, const std::string& reason = "") {
    int found = 0;
    const auto before = instructions_of(
        *std::find_if(good.rows.begin(), good.rows.end(),
                      [&](const program::ExchangeRow& row) { return row.tile == tile; }));
    for (std::size_t at = 0; at < before.size(); ++at) {
        auto instructions = before;
        if (!change(instructions, at))
            continue;
        auto broken = good;
        rewrite(row_of(broken, tile), instructions);
        CAPTURE(tile, at, isa::text_of(before[at]));
        CHECK_THROWS_WITH(execute(machine, broken), Contains("exchange good: tile ") &&
                                                        Contains(" event ") && Contains(reason));
        ++found;
    }
    return found;
}

/// The plain mux before instruction `at`.
std::uint32_t mux_before(const spec::MachineSpec& machine, const Instructions& row,
                         std::size_t at) {
    auto source = timing::neutral_source(machine);
    for (std::size_t i = 0; i < at; ++i)
        if (row[i].mux)
            source = row[i].mux->source;
    return source;
}

} // namespace

TEST_CASE("planned programs pass as they are", "[exchange][broken]") {
    const auto machine = machine_of(16);
    for (const Bytes words : {1, 5}) {
        auto good = all_to_all(machine, words);
        CHECK_NOTHROW(execute(machine, good));
    }
}

TEST_CASE("a mux that turns to another tile is caught", "[exchange][broken]") {
    const auto machine = machine_of(16);
    for (const Bytes words : {1, 5}) {
        const auto good = all_to_all(machine, words);
        for (const TileId tile : {0U, 7U, 15U}) {
            const auto found = changes_found(machine, good, tile, [&](auto& row, auto at) {
                if (!row[at].mux || row[at].mux->source == mux_before(machine, row, at))
                    return false; // changes nothing
                // Of the 16 tiles' ids, which fill a quarter of a row.
                row[at].mux->source = row[at].mux->source < 16 ? (row[at].mux->source + 1) % 16 : 0;
                return true;
            });
            CHECK(found >= 15); // one for each message received
        }
    }
}

TEST_CASE("a mux one event early or late is caught", "[exchange][broken]") {
    const auto machine = machine_of(16);
    const auto good = all_to_all(machine, 5);
    for (const int step : {-1, 1}) {
        int found = 0;
        for (TileId tile = 0; tile < 16; ++tile)
            found += changes_found(machine, good, tile, [&](auto& row, auto at) {
                if (row[at].op != isa::ExchangeOp::DelayXpic || at + 1 == row.size() ||
                    (row[at + 1].op != isa::ExchangeOp::DelayXpic &&
                     row[at + 1].op != isa::ExchangeOp::DelayPic &&
                     row[at + 1].op != isa::ExchangeOp::Delay))
                    return false;
                row[at].count += step;
                row[at + 1].count -= step;
                return row[at].count > 0 && row[at + 1].count > 0;
            });
        CHECK(found > 16);
    }
}

TEST_CASE("a pointer off by a word is caught", "[exchange][broken]") {
    const auto machine = machine_of(16);
    for (const Bytes words : {1, 5}) {
        const auto good = all_to_all(machine, words);
        for (const TileId tile : {0U, 7U, 15U}) {
            const auto found = changes_found(machine, good, tile, [](auto& row, auto at) {
                if (!row[at].pointer || row[at].pointer->format)
                    return false;
                row[at].pointer->value += 1;
                return true;
            });
            CHECK(found == 15);
        }
    }
}

TEST_CASE("a pointer outside memory is caught", "[exchange][broken]") {
    const auto machine = machine_of(16);
    const auto good = all_to_all(machine, 5);
    const auto found = changes_found(
        machine, good, 3,
        [&](auto& row, auto at) {
            if (!row[at].pointer || row[at].pointer->format)
                return false;
            row[at].pointer->value = (machine.memory.end() - 4 * 4) / 4; // one word too far
            return true;
        },
        "outside tile memory");
    CHECK(found == 15);
}

TEST_CASE("a send from the element that receives meanwhile is caught", "[exchange][broken]") {
    // Both tiles send 400 words and take 400; tile 0's send moves to the element that it receives
    // into, behind what it receives.
    const auto machine = machine_of(4);
    const auto begin = machine.memory.region1_begin();
    const auto pair = static_cast<Address>(2 * machine.memory.element_bytes);
    const auto good = exchange_plan::plan_exchange(machine, "good",
                                                   {transfer(0, begin, 1600, {{1, begin + pair}}),
                                                    transfer(1, begin, 1600, {{0, begin + pair}})});
    const auto found = changes_found(
        machine, good, 0,
        [&](auto& row, auto at) {
            if (row[at].op != isa::ExchangeOp::Send)
                return false;
            row[at].address = (begin + pair + 3200) / 4;
            return true;
        },
        "one memory element");
    CHECK(found == 1);
}

TEST_CASE("a send one event late is caught", "[exchange][broken]") {
    const auto machine = machine_of(16);
    const auto good = all_to_all(machine, 5);
    for (const TileId tile : {0U, 9U}) {
        const auto found = changes_found(machine, good, tile, [](auto& row, auto at) {
            const auto sends = [](const auto& in) { return in.op == isa::ExchangeOp::Send; };
            if (row[at].op != isa::ExchangeOp::Delay ||
                std::none_of(row.begin() + static_cast<std::ptrdiff_t>(at), row.end(), sends))
                return false;
            row[at].count += 1;
            return true;
        });
        CHECK(found > 0);
    }
}
