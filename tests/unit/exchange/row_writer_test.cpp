// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_rows.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace tessera;
using namespace tessera::plan;
using isa::ExchangeInstruction;
using isa::ExchangeOp;

namespace {

const spec::MachineSpec kMachine;

RowControl mux_at(Cycles event, std::uint32_t source) {
    return {event, isa::MuxControl{false, source}, std::nullopt};
}

RowControl both_at(Cycles event, std::uint32_t source, std::uint32_t pointer) {
    return {event, isa::MuxControl{false, source}, isa::PointerControl{false, pointer}};
}

/// What a row does, event by event: the address that is sent (0: none) and the controls.
struct Event {
    std::uint32_t sent = 0;
    unsigned ctl = 0;
    std::optional<isa::MuxControl> mux;
    std::optional<isa::PointerControl> pointer;

    friend bool operator==(const Event&, const Event&) = default;
};

std::vector<Event> played(const std::vector<ExchangeInstruction>& row) {
    std::vector<Event> events(1);
    std::uint32_t next = 0;
    unsigned ctl = 0;
    std::size_t words = 0;
    for (const auto& in : row) {
        if (in.op == ExchangeOp::SendPicp)
            REQUIRE(words % 2 == 0);
        words += isa::words_of(in.op);
        const auto first = events.size();
        events.resize(first + static_cast<std::size_t>(in.events));
        const bool delay = in.op == ExchangeOp::Delay || in.op == ExchangeOp::DelayXpic ||
                           in.op == ExchangeOp::DelayPic;
        auto& carrier = delay ? events.back() : events[first];
        carrier.mux = in.mux;
        carrier.pointer = in.pointer;
        if (in.op == ExchangeOp::Send || in.op == ExchangeOp::SendPicp) {
            next = in.address;
            ctl = in.ctl;
        }
        for (auto e = first; !delay && ctl != 0 && e < events.size(); ++e) {
            events[e].sent = next++;
            events[e].ctl = ctl;
        }
    }
    return events;
}

} // namespace

TEST_CASE("controls inside a message ride on it and the rest continues", "[exchange][rows]") {
    const RowSend send{10, 300, 0x100, 3};
    const std::vector<RowControl> controls{mux_at(50, 7), mux_at(250, 8)};
    const auto row = row_instructions(kMachine, {&send, 1}, controls, 310);
    const std::vector<ExchangeInstruction> expected{
        {.op = ExchangeOp::Delay, .events = 10},
        {.op = ExchangeOp::Send, .events = 39, .address = 0x100, .ctl = 3},
        {.op = ExchangeOp::SendPic, .events = 64, .mux = isa::MuxControl{false, 7}},
        {.op = ExchangeOp::SendOff, .events = 136, .ctl = 3},
        {.op = ExchangeOp::SendPic, .events = 61, .mux = isa::MuxControl{false, 8}}};
    CHECK(row == expected);
}

TEST_CASE("a double control in a message restates its address", "[exchange][rows]") {
    const RowSend send{0, 20, 0x100, 1};
    const std::vector<RowControl> controls{both_at(11, 7, 0x200)};
    const auto row = row_instructions(kMachine, {&send, 1}, controls, 20);
    const std::vector<ExchangeInstruction> expected{
        {.op = ExchangeOp::Send, .events = 9, .address = 0x100, .ctl = 1},
        {.op = ExchangeOp::SendOff, .events = 1, .ctl = 1},
        {.op = ExchangeOp::SendPicp,
         .events = 10,
         .address = 0x10a,
         .ctl = 1,
         .mux = isa::MuxControl{false, 7},
         .pointer = isa::PointerControl{false, 0x200}}};
    CHECK(row == expected);
}

TEST_CASE("a double control finds its boundary even where nothing can be split",
          "[exchange][rows]") {
    const std::vector<RowControl> controls{mux_at(1, 4), both_at(2, 7, 0x200)};
    const auto row = row_instructions(kMachine, {}, controls, 2);
    const std::vector<ExchangeInstruction> expected{{.op = ExchangeOp::SendPicp,
                                                     .mux = isa::MuxControl{false, 4},
                                                     .pointer = isa::PointerControl{true, 0}},
                                                    {.op = ExchangeOp::SendPicp,
                                                     .mux = isa::MuxControl{false, 7},
                                                     .pointer = isa::PointerControl{false, 0x200}}};
    CHECK(row == expected);
}

TEST_CASE("delays beyond their fields are split", "[exchange][rows]") {
    const std::vector<RowControl> controls{mux_at(5000, 4),
                                           {5200, std::nullopt, isa::PointerControl{false, 9}}};
    const auto row = row_instructions(kMachine, {}, controls, 1'000'000);
    const std::vector<ExchangeInstruction> expected{
        {.op = ExchangeOp::Delay, .events = 904},
        {.op = ExchangeOp::DelayXpic, .events = 4096, .mux = isa::MuxControl{false, 4}},
        {.op = ExchangeOp::Delay, .events = 72},
        {.op = ExchangeOp::DelayPic, .events = 128, .pointer = isa::PointerControl{false, 9}},
        {.op = ExchangeOp::Delay, .events = 524288},
        {.op = ExchangeOp::Delay, .events = 1'000'000 - 5200 - 524288}};
    CHECK(row == expected);
}

TEST_CASE("crowded random rows do what was asked event by event", "[exchange][rows]") {
    std::mt19937 random{11};
    std::size_t doubles = 0;
    for (int round = 0; round < 3000; ++round) {
        const Cycles end = 1 + static_cast<Cycles>(random() % 40);
        std::vector<Event> wanted(static_cast<std::size_t>(end) + 1);
        std::vector<RowSend> sends;
        std::vector<RowControl> controls;
        const auto last = static_cast<std::uint32_t>(end);
        for (auto e = static_cast<std::uint32_t>(random() % 4); e < last;) {
            const auto items = std::min(last - e, 1 + static_cast<std::uint32_t>(random() % 6));
            sends.push_back({e, items, 0x100 * (e + 1), 3});
            e += items + static_cast<std::uint32_t>(random() % 5);
        }
        for (const auto& send : sends)
            for (Cycles k = 0; k < send.items; ++k) {
                auto& event = wanted[static_cast<std::size_t>(send.start + 1 + k)];
                event.sent = send.item_address + static_cast<std::uint32_t>(k);
                event.ctl = send.ctl;
            }
        for (Cycles e = 1; e <= end; ++e) {
            const bool starts = std::any_of(sends.begin(), sends.end(),
                                            [&](const auto& s) { return s.start + 1 == e; });
            if (starts || random() % 3 == 0)
                continue;
            RowControl control{e, std::nullopt, std::nullopt};
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
        auto got = played(row_instructions(kMachine, sends, controls, end));
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
    const std::vector<ExchangeInstruction> row{{.op = ExchangeOp::Delay, .events = 3}};
    CHECK(row_words(row) == std::vector<std::uint32_t>{0x40a00002, 0x43a00000});
}
