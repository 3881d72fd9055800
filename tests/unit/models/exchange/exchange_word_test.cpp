// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "models/isa/exchange_word.h"

#include <catch2/catch.hpp>

#include <random>
#include <vector>

using namespace tessera;
using namespace tessera::isa;

namespace {

std::vector<std::uint32_t> words_for(const ExchangeInstruction& in) {
    std::vector<std::uint32_t> words;
    append_words(in, words);
    return words;
}

using Words = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("exchange instructions have the machine's majors and known fields", "[isa][exchange]") {
    CHECK(words_for({.op = ExchangeOp::Delay, .count = 5}) == Words{0x40a00004});
    CHECK(words_for({.op = ExchangeOp::Send, .count = 40, .address = 0x14000, .ctl = 2}) ==
          Words{0x78000000U | 39U << 21 | 0x14000U << 3 | 2U});
    CHECK(words_for({.op = ExchangeOp::Branch, .count = 0}) == Words{0x43000000U | 10U << 20});
    CHECK(words_for({.op = ExchangeOp::SendOff}) == Words{0x70000000});
    CHECK(words_for({.op = ExchangeOp::SendPic, .mux = MuxControl{}}) == Words{0x70100000});
    CHECK(words_for({.op = ExchangeOp::DelayPic, .pointer = PointerControl{}}) ==
          Words{0x60000000});
    CHECK(words_for({.op = ExchangeOp::DelayXpic, .mux = MuxControl{}}) == Words{0x64000000});
    CHECK(
        words_for({.op = ExchangeOp::SendPicp, .mux = MuxControl{}, .pointer = PointerControl{}}) ==
        Words{0xf0000000, 0});
}

TEST_CASE("sendpic sel 0 and 1 carry the mux and sel 2 and 3 the pointer", "[isa][exchange]") {
    const auto sel = [](const ExchangeInstruction& in) { return words_for(in)[0] >> 18 & 3; };
    const auto op = ExchangeOp::SendPic;
    CHECK(sel({.op = op, .mux = MuxControl{false, 1}}) == 0);
    CHECK(sel({.op = op, .mux = MuxControl{true, 1}}) == 1);
    CHECK(sel({.op = op, .pointer = PointerControl{false, 1}}) == 2);
    CHECK(sel({.op = op, .pointer = PointerControl{true, 1}}) == 3);
}

TEST_CASE("exchange words decode to what was encoded", "[isa][exchange]") {
    std::mt19937 random{7};
    const auto below = [&](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    for (int i = 0; i < 20000; ++i) {
        ExchangeInstruction in;
        in.op = static_cast<ExchangeOp>(below(8));
        in.count = in.op == ExchangeOp::Branch
                       ? 0
                       : 1 + below(static_cast<std::uint32_t>(max_count(in.op)));
        const MuxControl mux{below(2) == 1, below(1 << 13)};
        const PointerControl pointer{below(2) == 1, below(1 << kWhatIfAddressBits)};
        if (in.op == ExchangeOp::Send || in.op == ExchangeOp::SendPicp)
            in.address = below(1 << kWhatIfAddressBits);
        if (in.op == ExchangeOp::SendOff)
            in.delta = below(1 << 11);
        if (in.op == ExchangeOp::Send || in.op == ExchangeOp::SendPicp ||
            in.op == ExchangeOp::SendOff)
            in.ctl = below(8);
        const bool either = below(2) == 1;
        if (in.op == ExchangeOp::DelayXpic || in.op == ExchangeOp::SendPicp ||
            (in.op == ExchangeOp::SendPic && either))
            in.mux = mux;
        if (in.op == ExchangeOp::DelayPic || in.op == ExchangeOp::SendPicp ||
            (in.op == ExchangeOp::SendPic && !either))
            in.pointer = pointer;
        const auto words = words_for(in);
        REQUIRE(words.size() == words_of(in.op));
        REQUIRE(decode_exchange_word(words) == in);
    }
}

TEST_CASE("an address beyond the machine's bits takes a major that no instruction of a row has",
          "[isa][exchange]") {
    constexpr std::uint32_t kLast = (1 << kAddressBits) - 1;
    constexpr std::uint32_t kFirst = 1 << kAddressBits;
    const auto send = [](std::uint32_t address) {
        return words_for({.op = ExchangeOp::Send, .address = address})[0];
    };
    CHECK(send(kLast) == (0x78000000U | kLast << 3U));
    CHECK(send(kFirst) == 0xb8000000U);
    CHECK(send(kFirst + 5) == (0xb8000000U | 5U << 3U));
    const auto pointer = [](ExchangeOp op, std::uint32_t value) {
        return words_for({.op = op, .pointer = PointerControl{false, value}})[0];
    };
    CHECK(pointer(ExchangeOp::DelayPic, kLast) == (0x60000000U | kLast));
    CHECK(pointer(ExchangeOp::DelayPic, kFirst) == 0xa0000000U);
    CHECK(pointer(ExchangeOp::SendPic, kFirst) == 0xb0180000U);
    const auto both = [](std::uint32_t address, std::uint32_t value) {
        return words_for({.op = ExchangeOp::SendPicp,
                          .address = address,
                          .mux = MuxControl{},
                          .pointer = PointerControl{false, value}})[0];
    };
    CHECK(both(0, 0) == 0xf0000000U);
    CHECK(both(kFirst, 0) == 0xe0000000U);
    CHECK(both(0, kFirst) == 0xd0000000U);
    CHECK(both(kFirst, kFirst) == 0xc0000000U);
}

TEST_CASE("a major of a high address bit is no instruction where there is no address",
          "[isa][exchange]") {
    const auto swapped = [](const ExchangeInstruction& in) {
        return words_for(in)[0] ^ 0xc0000000;
    };
    CHECK_THROWS_WITH(decode_exchange_word(Words{swapped({.op = ExchangeOp::Delay})}),
                      Catch::Contains("0x80a00000 is no exchange instruction"));
    CHECK_THROWS_AS(decode_exchange_word(Words{swapped({.op = ExchangeOp::SendOff})}),
                    ProgramError);
    CHECK_THROWS_AS(
        decode_exchange_word(Words{swapped({.op = ExchangeOp::DelayXpic, .mux = MuxControl{}})}),
        ProgramError);
    CHECK_THROWS_AS(
        decode_exchange_word(Words{swapped({.op = ExchangeOp::SendPic, .mux = MuxControl{}})}),
        ProgramError);
    CHECK_THROWS_AS(decode_exchange_word(Words{swapped({.op = ExchangeOp::Branch, .count = 0})}),
                    ProgramError);
}

TEST_CASE("exchange fields that do not fit are errors", "[isa][exchange]") {
    const auto encode = [](const ExchangeInstruction& in) { return words_for(in); };
    using Catch::Contains;
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::Send, .count = 65}),
                      "send: got a count of 65, expected 1..64");
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::Delay, .count = 0}), Contains("1..524288"));
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::Delay, .count = (1 << 19) + 1}),
                      Contains("1..524288"));
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::SendOff, .count = 4097}), Contains("1..4096"));
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::DelayXpic, .count = 4097}), Contains("1..4096"));
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::DelayPic, .count = 129}), Contains("1..128"));
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::Send, .address = 1 << 19}),
                      "send: address got 524288, expected at most 19 bits");
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::SendOff, .delta = 1 << 11}), Contains("11 bits"));
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::Send, .ctl = 8}), Contains("3 bits"));
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::DelayXpic, .mux = MuxControl{false, 1 << 13}}),
                      Contains("13 bits"));
    CHECK_THROWS_WITH(
        encode({.op = ExchangeOp::DelayPic, .pointer = PointerControl{false, 1 << 19}}),
        Contains("19 bits"));
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::DelayXpic}), Contains("no mux control"));
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::DelayPic}), Contains("no pointer control"));
    CHECK_THROWS_WITH(encode({.op = ExchangeOp::SendPic}), Contains("exactly one"));
}

TEST_CASE("words that are no exchange instruction are errors", "[isa][exchange]") {
    CHECK_THROWS_AS(decode_exchange_word(Words{0x19000000}), ProgramError);
    CHECK_THROWS_AS(decode_exchange_word(Words{0x43900000}), ProgramError);
    CHECK_THROWS_WITH(decode_exchange_word(Words{0xf0000000}),
                      "sendpicp: got one word, expected two");
}

TEST_CASE("exchange instructions have a listing form", "[isa][exchange]") {
    CHECK(text_of({.op = ExchangeOp::Delay, .count = 45}) == "delay 45");
    CHECK(text_of({.op = ExchangeOp::Send, .count = 40, .address = 0x14000, .ctl = 2}) ==
          "send 40, 0x14000, 2");
    CHECK(text_of({.op = ExchangeOp::SendOff, .count = 7, .ctl = 3}) == "sendoff 7, 0, 3");
    CHECK(text_of({.op = ExchangeOp::SendPic, .count = 2, .pointer = PointerControl{true, 1}}) ==
          "sendpic 2, format 0x1");
    CHECK(text_of({.op = ExchangeOp::SendPicp,
                   .mux = MuxControl{true, 0x640},
                   .pointer = PointerControl{false, 16}}) ==
          "sendpicp 1, 0x0, 0, muxpair 0x640, pointer 0x10");
    CHECK(text_of({.op = ExchangeOp::Branch, .count = 0}) == "br $m10");
}
