// SPDX-License-Identifier: MIT
// Rows of random instructions, walked event by event beside the walk by runs; and the ends of what a
// row may be.
#include "base/error.h"
#include "models/exchange/core/row_walk.h"
#include "models/isa/exchange_word.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::exchange;
using isa::ExchangeInstruction;
using isa::ExchangeOp;

namespace {

constexpr TileId kTile = 5;

spec::MachineSpec small_machine(Bytes lane_bytes) {
    spec::MachineSpec machine;
    machine.memory = {
        .base = 64, .region0_bytes = 1024, .region1_bytes = 1024, .element_bytes = 128};
    machine.tile.fetch_window_bytes = 64;
    machine.exchange.lane_bytes = lane_bytes;
    return machine;
}

std::vector<std::uint32_t> words_of(const std::vector<ExchangeInstruction>& row) {
    std::vector<std::uint32_t> words;
    for (const auto& in : row) {
        isa::append_words(in, words);
    }
    return words;
}

RowWalk walked(const spec::MachineSpec& machine, const std::vector<ExchangeInstruction>& row,
               Address address) {
    return walk_row(machine, "x", kTile, address, words_of(row));
}

std::string fault_of(const auto& does) {
    try {
        does();
    } catch (const ProgramError& error) {
        return error.what();
    }
    return "";
}

const ExchangeInstruction kEnd{.op = ExchangeOp::Branch, .count = 0};

/// What a row does in one event on the outgoing lane.
struct Sent {
    Cycles event = 0;
    Bytes address = 0;
    std::int64_t items = 0;
    unsigned ctl = 0;

    bool operator==(const Sent&) const = default;
};

struct Slow {
    std::vector<Sent> sent;
    std::vector<MuxChange> muxes;
    std::vector<PointerChange> pointers;
    std::map<std::int64_t, std::pair<Cycles, Cycles>> fetched; ///< by element: first and last event
    Cycles events = 0;
};

Slow walk_slowly(const spec::MachineSpec& machine, const std::vector<ExchangeInstruction>& row,
                 Address address) {
    Slow out;
    const std::int64_t lane = machine.exchange.lane_bytes / 4;
    Bytes next = 0;
    unsigned ctl = 0;
    for (const auto& in : row) {
        if (in.op == ExchangeOp::Branch) {
            break;
        }
        const bool delays = in.op == ExchangeOp::Delay || in.op == ExchangeOp::DelayPic ||
                            in.op == ExchangeOp::DelayXpic;
        if (in.op == ExchangeOp::Send || in.op == ExchangeOp::SendPicp) {
            ctl = in.ctl;
            next = Bytes{in.address} * ((ctl & 4U) != 0 ? 8 : 4);
        }
        const Cycles begin = out.events;
        if (delays || (ctl & 3U) == 0) {
            out.events += in.count;
        } else {
            for (std::int64_t left = in.count; left > 0; left -= lane) {
                const auto items = std::min(left, lane);
                out.sent.push_back({++out.events, next, items, ctl});
                next += items * ((ctl & 4U) != 0 ? 8 : 4);
            }
        }
        const auto control = static_cast<Event>(delays ? out.events : begin + 1);
        if (in.mux) {
            out.muxes.push_back({control, in.mux->paired, in.mux->source});
        }
        if (in.pointer) {
            out.pointers.push_back({control, in.pointer->format, in.pointer->value});
        }
        // The window: from the instruction's own word to as many bytes behind it.
        for (Bytes at = address; at <= address + machine.tile.fetch_window_bytes; at += 4) {
            if (at < machine.memory.region1_begin()) {
                const auto element = (at - machine.memory.base) / machine.memory.element_bytes;
                out.fetched.try_emplace(element, begin + 1, 0).first->second.second = out.events;
            }
        }
        address += static_cast<Address>(4 * isa::words_of(in.op));
    }
    return out;
}

} // namespace

TEST_CASE("a row sends, turns and fetches in each event what its instructions say",
          "[exchange][walk]") {
    for (const Bytes lane_bytes : {4, 8, 16}) {
        const auto machine = small_machine(lane_bytes);
        const std::int64_t lane = lane_bytes / 4;
        std::mt19937 random(static_cast<unsigned>(lane_bytes));
        const auto below = [&](std::int64_t limit) {
            return std::uniform_int_distribution<std::int64_t>{0, limit - 1}(random);
        };
        std::size_t joined = 0;
        for (int round = 0; round < 300; ++round) {
            CAPTURE(lane_bytes, round);
            auto at = static_cast<Address>(64 + 8 * below(60));
            const Address address = at;
            std::vector<ExchangeInstruction> row;
            Bytes next = 0; // what a continuation would send from; 0: none
            unsigned ctl = 0;
            const auto pointer = [&] {
                return isa::PointerControl{below(3) == 0, static_cast<std::uint32_t>(below(400))};
            };
            for (auto many = below(40); many > 0; --many) {
                ExchangeInstruction in;
                in.op = static_cast<ExchangeOp>(below(7));
                const auto is = [&](ExchangeOp one, ExchangeOp other) {
                    return in.op == one || in.op == other;
                };
                if ((is(ExchangeOp::SendOff, ExchangeOp::SendPic) && next == 0) ||
                    (in.op == ExchangeOp::SendPicp && at % 8 != 0)) {
                    in.op = ExchangeOp::Delay;
                }
                const bool starts = is(ExchangeOp::Send, ExchangeOp::SendPicp);
                const bool continues = is(ExchangeOp::SendOff, ExchangeOp::SendPic);
                in.count = 1 + below(continues ? 7 : 12);
                if (starts) {
                    ctl = static_cast<unsigned>(below(8));
                    ctl = ctl == 4 ? 5U : ctl;
                    const Bytes item = (ctl & 4U) != 0 ? 8 : 4;
                    // now and then just where the message before ended
                    const Bytes from =
                        next % item == 0 && next > 0 && below(2) == 0 ? next : 64 + 8 * below(100);
                    in.address = static_cast<std::uint32_t>(from / item);
                    in.ctl = ctl;
                    next = from + in.count * item;
                } else if (continues) {
                    in.ctl = in.op == ExchangeOp::SendOff ? ctl : 0;
                    next += in.count * ((ctl & 4U) != 0 ? 8 : 4);
                } else {
                    next = 0;
                }
                if (next > machine.memory.end()) {
                    break;
                }
                const isa::MuxControl mux{below(2) == 0 && in.op != ExchangeOp::SendPicp,
                                          static_cast<std::uint32_t>(below(900))};
                if (in.op == ExchangeOp::DelayXpic || in.op == ExchangeOp::SendPicp ||
                    (in.op == ExchangeOp::SendPic && below(2) == 0)) {
                    in.mux = mux;
                }
                if (in.op == ExchangeOp::DelayPic || in.op == ExchangeOp::SendPicp ||
                    (in.op == ExchangeOp::SendPic && !in.mux)) {
                    in.pointer = pointer();
                }
                at += static_cast<Address>(4 * isa::words_of(in.op));
                row.push_back(in);
            }
            row.push_back(kEnd);
            if (at + 4 > machine.memory.region1_begin()) {
                continue;
            }
            const RowWalk got = walked(machine, row, address);
            const Slow expected = walk_slowly(machine, row, address);
            CHECK(got.tile == kTile);
            CHECK(got.address == address);
            CHECK(got.bytes == static_cast<Bytes>(4 * words_of(row).size()));
            CHECK(got.events == expected.events);
            std::vector<Sent> sent;
            for (const auto& run : got.sends) {
                for (std::int64_t i = 0; i < run.items; i += lane) {
                    sent.push_back({run.first_event + i / lane, run.address + i * run.item_bytes(),
                                    std::min(lane, run.items - i), run.ctl});
                }
            }
            CHECK(sent == expected.sent);
            // Runs are as long as they can be.
            joined += sent.size() - got.sends.size();
            for (std::size_t i = 1; i < got.sends.size(); ++i) {
                const auto& before = got.sends[i - 1];
                const auto& run = got.sends[i];
                CHECK_FALSE((before.items % lane == 0 && before.ctl == run.ctl &&
                             before.first_event + before.items / lane == run.first_event &&
                             before.address + before.items * before.item_bytes() == run.address));
            }
            REQUIRE(got.muxes.size() == expected.muxes.size());
            for (std::size_t i = 0; i < got.muxes.size(); ++i) {
                CHECK(got.muxes[i].event == expected.muxes[i].event);
                CHECK(got.muxes[i].paired == expected.muxes[i].paired);
                CHECK(got.muxes[i].source == expected.muxes[i].source);
            }
            REQUIRE(got.pointers.size() == expected.pointers.size());
            for (std::size_t i = 0; i < got.pointers.size(); ++i) {
                CHECK(got.pointers[i].event == expected.pointers[i].event);
                CHECK(got.pointers[i].format == expected.pointers[i].format);
                CHECK(got.pointers[i].value == expected.pointers[i].value);
            }
            std::map<std::int64_t, std::pair<Cycles, Cycles>> fetched;
            for (const auto& fetch : got.fetches) {
                CHECK(
                    fetched.try_emplace(fetch.element, fetch.first_event, fetch.last_event).second);
            }
            CHECK(fetched == expected.fetched);
        }
        CHECK(joined > 100);
    }
}

TEST_CASE("a row's count goes up to the machine's limit for its instruction", "[exchange][walk]") {
    auto machine = small_machine(4);
    machine.exchange.max_words_per_send = 5;
    machine.exchange.max_words_per_sendoff = 9;
    const auto row_with = [&](ExchangeOp op, std::int64_t count) {
        std::vector<ExchangeInstruction> row;
        if (op == ExchangeOp::SendOff || op == ExchangeOp::SendPic) {
            row.push_back({.op = ExchangeOp::Send, .count = 1, .address = 32, .ctl = 1});
        }
        ExchangeInstruction in{.op = op, .count = count, .ctl = 1};
        if (op == ExchangeOp::Send || op == ExchangeOp::SendPicp) {
            in.address = 32;
        }
        if (op == ExchangeOp::SendPic || op == ExchangeOp::SendPicp) {
            in.pointer = isa::PointerControl{};
        }
        if (op == ExchangeOp::SendPicp) {
            in.mux = isa::MuxControl{};
        }
        if (op == ExchangeOp::SendPic || op == ExchangeOp::Delay) {
            in.ctl = 0;
        }
        row.push_back(in);
        row.push_back(kEnd);
        return fault_of([&] { walked(machine, row, 64); });
    };
    for (const auto op : {ExchangeOp::Send, ExchangeOp::SendPic, ExchangeOp::SendPicp}) {
        CHECK(row_with(op, 5).empty());
        CHECK_THAT(row_with(op, 6), Catch::Contains("got a count of 6, expected at most 5"));
    }
    CHECK(row_with(ExchangeOp::SendOff, 9).empty());
    CHECK_THAT(row_with(ExchangeOp::SendOff, 10),
               Catch::Contains("got a count of 10, expected at most 9"));
    CHECK(row_with(ExchangeOp::Delay, isa::max_count(ExchangeOp::Delay)).empty());
}

TEST_CASE("a row lasts no longer than its events can be numbered", "[exchange][walk]") {
    spec::MachineSpec machine;
    machine.memory.region0_bytes = 1 << 20;
    const std::int64_t most = isa::max_count(ExchangeOp::Delay);
    const std::int64_t limit = std::numeric_limits<Event>::max();
    std::vector<ExchangeInstruction> row(static_cast<std::size_t>(limit / most),
                                         {.op = ExchangeOp::Delay, .count = most});
    const auto address = machine.memory.region0_begin();
    const std::int64_t left = limit % most;
    REQUIRE(left > 0);
    row.push_back({.op = ExchangeOp::Delay, .count = left});
    row.push_back(kEnd);
    CHECK(walked(machine, row, address).events == limit);
    row[row.size() - 2].count = left + 1;
    CHECK_THAT(fault_of([&] { walked(machine, row, address); }),
               Catch::Contains("the row lasts longer than 2147483647 events"));
}

TEST_CASE("a row and what it sends stand in memory to the last word", "[exchange][walk]") {
    const auto machine = small_machine(4);
    const auto& memory = machine.memory;
    const std::vector<ExchangeInstruction> plain{{.op = ExchangeOp::Delay, .count = 1}, kEnd};
    const auto at = [&](Bytes address) {
        return fault_of([&] { walked(machine, plain, static_cast<Address>(address)); });
    };
    CHECK(at(memory.base).empty());
    CHECK(at(memory.region1_begin() - 8).empty());
    for (const Bytes wrong : {memory.base - 8, memory.base + 4, Bytes{memory.region1_begin()}}) {
        CHECK_THAT(at(wrong), Catch::Contains("row is not in region 0 on an 8-byte boundary"));
    }
    for (const bool wide : {false, true}) {
        const Bytes item = wide ? 8 : 4;
        const auto sends = [&](Bytes from, std::int64_t items) {
            return fault_of([&] {
                walked(machine,
                       {{.op = ExchangeOp::Send,
                         .count = items,
                         .address = static_cast<std::uint32_t>(from / item),
                         .ctl = wide ? 5U : 1U},
                        kEnd},
                       64);
            });
        };
        CHECK(sends(memory.base, 1).empty());
        CHECK_THAT(sends(memory.base - item, 2), Catch::Contains("outside tile memory"));
        CHECK(sends(memory.end() - 3 * item, 3).empty());
        CHECK_THAT(sends(memory.end() - 3 * item, 4), Catch::Contains("outside tile memory"));
    }
    // without a direction nothing is read, so nothing is outside
    CHECK(fault_of([&] {
              walked(machine, {{.op = ExchangeOp::Send, .count = 3, .address = 0, .ctl = 0}, kEnd},
                     64);
          }).empty());
}

TEST_CASE("a message is continued by its own kind and only while it runs", "[exchange][walk]") {
    const auto machine = small_machine(4);
    const ExchangeInstruction send{.op = ExchangeOp::Send, .count = 1, .address = 32, .ctl = 1};
    const auto fault = [&](std::vector<ExchangeInstruction> row) {
        row.push_back(kEnd);
        return fault_of([&] { walked(machine, row, 64); });
    };
    const auto off = [](unsigned ctl) {
        return ExchangeInstruction{.op = ExchangeOp::SendOff, .count = 1, .ctl = ctl};
    };
    CHECK(fault({send, off(1), off(1)}).empty());
    CHECK_THAT(fault({send, off(2)}), Catch::Contains("continues a message of ctl 1"));
    CHECK_THAT(fault({off(1)}), Catch::Contains("continues a message, but none is running"));
    CHECK_THAT(fault({send, {.op = ExchangeOp::Delay, .count = 1}, off(1)}),
               Catch::Contains("continues a message, but none is running"));
    CHECK_THAT(fault({{.op = ExchangeOp::Send, .count = 1, .address = 32, .ctl = 4}}),
               Catch::Contains("64-bit items without a direction"));
    // the paired mux and a pointer in one event; the plain mux may
    for (const bool paired : {false, true}) {
        const std::string got = fault({{.op = ExchangeOp::SendPicp,
                                        .count = 1,
                                        .address = 32,
                                        .ctl = 1,
                                        .mux = isa::MuxControl{paired, 1},
                                        .pointer = isa::PointerControl{}}});
        CHECK(got.empty() == !paired);
    }
    // a sendpicp's two words stand on an 8-byte boundary
    CHECK_THAT(fault({send,
                      {.op = ExchangeOp::SendPicp,
                       .count = 1,
                       .address = 32,
                       .ctl = 1,
                       .mux = isa::MuxControl{},
                       .pointer = isa::PointerControl{}}}),
               Catch::Contains("sendpicp is not on an 8-byte boundary"));
}
