// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_rows.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace tessera;
using namespace tessera::exchange_plan;
using isa::ExchangeInstruction;
using isa::ExchangeOp;

namespace {

const spec::MachineSpec kMachine;

exchange_plan::RowControl mux_at(Cycles event, std::uint32_t source) {
    return {event, isa::MuxControl{false, source}, std::nullopt};
}

exchange_plan::RowControl both_at(Cycles event, std::uint32_t source, std::uint32_t pointer) {
    return {event, isa::MuxControl{false, source}, isa::PointerControl{false, pointer}};
}

/// What a row does, event by event: the addresses that are sent and the controls.
struct Event {
    std::vector<std::uint32_t> sent;
    unsigned ctl = 0;
    std::optional<isa::MuxControl> mux;
    std::optional<isa::PointerControl> pointer;

    friend bool operator==(const Event&, const Event&) = default;
};

std::vector<Event> played(const std::vector<ExchangeInstruction>& row, std::int64_t lane_items) {
    std::vector<Event> events(1);
    std::uint32_t next = 0;
    unsigned ctl = 0;
    std::size_t words = 0;
    for (const auto& in : row) {
        if (in.op == ExchangeOp::SendPicp)
            REQUIRE(words % 2 == 0);
        words += isa::words_of(in.op);
        const auto first = events.size();
        const bool delay = in.op == ExchangeOp::Delay || in.op == ExchangeOp::DelayXpic ||
                           in.op == ExchangeOp::DelayPic;
        if (in.op == ExchangeOp::Send || in.op == ExchangeOp::SendPicp) {
            next = in.address;
            ctl = in.ctl;
        }
        const bool sends = !delay && ctl != 0;
        for (std::int64_t left = in.count; left > 0; left -= sends ? lane_items : 1) {
            auto& event = events.emplace_back();
            for (std::int64_t i = 0; sends && i < std::min(left, lane_items); ++i)
                event.sent.push_back(next++);
            event.ctl = sends ? ctl : 0;
        }
        auto& carrier = delay ? events.back() : events[first];
        carrier.mux = in.mux;
        carrier.pointer = in.pointer;
    }
    return events;
}

} // namespace

TEST_CASE("controls inside a message ride on it and the rest continues", "[exchange][rows]") {
    const exchange_plan::RowSend send{10, 300, 0x100, 3};
    const std::vector<exchange_plan::RowControl> controls{mux_at(50, 7), mux_at(250, 8)};
    const auto row = exchange_plan::row_instructions(kMachine, {&send, 1}, controls, 310);
    const std::vector<ExchangeInstruction> expected{
        {.op = ExchangeOp::Delay, .count = 10},
        {.op = ExchangeOp::Send, .count = 39, .address = 0x100, .ctl = 3},
        {.op = ExchangeOp::SendPic, .count = 64, .mux = isa::MuxControl{false, 7}},
        {.op = ExchangeOp::SendOff, .count = 136, .ctl = 3},
        {.op = ExchangeOp::SendPic, .count = 61, .mux = isa::MuxControl{false, 8}}};
    CHECK(row == expected);
}

TEST_CASE("a double control in a message restates its address", "[exchange][rows]") {
    const exchange_plan::RowSend send{0, 20, 0x100, 1};
    const std::vector<exchange_plan::RowControl> controls{both_at(11, 7, 0x200)};
    const auto row = exchange_plan::row_instructions(kMachine, {&send, 1}, controls, 20);
    const std::vector<ExchangeInstruction> expected{
        {.op = ExchangeOp::Send, .count = 9, .address = 0x100, .ctl = 1},
        {.op = ExchangeOp::SendOff, .count = 1, .ctl = 1},
        {.op = ExchangeOp::SendPicp,
         .count = 10,
         .address = 0x10a,
         .ctl = 1,
         .mux = isa::MuxControl{false, 7},
         .pointer = isa::PointerControl{false, 0x200}}};
    CHECK(row == expected);
}

TEST_CASE("a double control finds its boundary even where nothing can be split",
          "[exchange][rows]") {
    const std::vector<exchange_plan::RowControl> controls{mux_at(1, 4), both_at(2, 7, 0x200)};
    const auto row = exchange_plan::row_instructions(kMachine, {}, controls, 2);
    const std::vector<ExchangeInstruction> expected{{.op = ExchangeOp::SendPicp,
                                                     .mux = isa::MuxControl{false, 4},
                                                     .pointer = isa::PointerControl{true, 0}},
                                                    {.op = ExchangeOp::SendPicp,
                                                     .mux = isa::MuxControl{false, 7},
                                                     .pointer = isa::PointerControl{false, 0x200}}};
    CHECK(row == expected);
}

TEST_CASE("delays beyond their fields are split", "[exchange][rows]") {
    const std::vector<exchange_plan::RowControl> controls{
        mux_at(5000, 4), {5200, std::nullopt, isa::PointerControl{false, 9}}};
    const auto row = exchange_plan::row_instructions(kMachine, {}, controls, 1'000'000);
    const std::vector<ExchangeInstruction> expected{
        {.op = ExchangeOp::Delay, .count = 904},
        {.op = ExchangeOp::DelayXpic, .count = 4096, .mux = isa::MuxControl{false, 4}},
        {.op = ExchangeOp::Delay, .count = 72},
        {.op = ExchangeOp::DelayPic, .count = 128, .pointer = isa::PointerControl{false, 9}},
        {.op = ExchangeOp::Delay, .count = 524288},
        {.op = ExchangeOp::Delay, .count = 1'000'000 - 5200 - 524288}};
    CHECK(row == expected);
}

TEST_CASE("crowded random rows do what was asked event by event", "[exchange][rows]") {
    std::mt19937 random{11};
    std::size_t doubles = 0;
    spec::MachineSpec machine;
    machine.exchange.max_words_per_send = 9;
    machine.exchange.max_words_per_sendoff = 6;
    for (int round = 0; round < 3000; ++round) {
        machine.exchange.lane_bytes = Bytes{4} << round % 3;
        const auto lane = static_cast<std::uint32_t>(machine.exchange.lane_items());
        const Cycles end = 1 + static_cast<Cycles>(random() % 40);
        std::vector<Event> wanted(static_cast<std::size_t>(end) + 1);
        std::vector<exchange_plan::RowSend> sends;
        std::vector<exchange_plan::RowControl> controls;
        const auto last = static_cast<std::uint32_t>(end);
        for (auto e = static_cast<std::uint32_t>(random() % 4); e < last;) {
            const auto events = std::min(last - e, 1 + static_cast<std::uint32_t>(random() % 6));
            const auto items = events * lane - static_cast<std::uint32_t>(random() % lane);
            sends.push_back({e, items, 0x100 * (e + 1), 3});
            e += events + static_cast<std::uint32_t>(random() % 5);
        }
        for (const auto& send : sends)
            for (std::uint32_t k = 0; k < send.items; ++k) {
                auto& event = wanted[send.start + 1 + k / lane];
                event.sent.push_back(send.item_address + k);
                event.ctl = send.ctl;
            }
        for (Cycles e = 1; e <= end; ++e) {
            const bool starts = std::any_of(sends.begin(), sends.end(),
                                            [&](const auto& s) { return s.start + 1 == e; });
            if (starts || random() % 3 == 0)
                continue;
            exchange_plan::RowControl control{e, std::nullopt, std::nullopt};
            const auto kind = random() % 3;
            if (kind != 0)
                control.mux = isa::MuxControl{false, static_cast<std::uint32_t>(e)};
            if (kind != 1)
                control.pointer = isa::PointerControl{false, static_cast<std::uint32_t>(e)};
            doubles += kind == 2 ? 1 : 0;
            controls.push_back(control);
            wanted[static_cast<std::size_t>(e)].mux = control.mux;
            wanted[static_cast<std::size_t>(e)].pointer = control.pointer;
        }
        auto got = played(exchange_plan::row_instructions(machine, sends, controls, end), lane);
        // A control added for the boundary repeats what stands: the mux, or item format 0.
        isa::MuxControl standing{false, 0x640};
        REQUIRE(got.size() == wanted.size());
        for (std::size_t e = 0; e < got.size(); ++e) {
            if (got[e].pointer == isa::PointerControl{true, 0})
                got[e].pointer.reset();
            if (!wanted[e].mux && got[e].mux == standing)
                got[e].mux.reset();
            if (wanted[e].mux)
                standing = *wanted[e].mux;
        }
        REQUIRE(got == wanted);
    }
    CHECK(doubles > 1000);
}

TEST_CASE("row words end with the branch", "[exchange][rows]") {
    const std::vector<ExchangeInstruction> row{{.op = ExchangeOp::Delay, .count = 3}};
    CHECK(exchange_plan::row_words(row) == std::vector<std::uint32_t>{0x40a00002, 0x43a00000});
}
