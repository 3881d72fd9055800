// SPDX-License-Identifier: MIT
#include "models/isa/exchange_word.h"

#include "base/error.h"

#include <fmt/format.h>

namespace tessera::isa {

namespace {

struct OpFormat {
    ExchangeOp op;
    const char* mnemonic;
    std::uint32_t major;
    std::uint32_t major_mask;
    std::int64_t max_events;
};

// sendoff and sendpic share 0x70 and differ in bit 20; `br` is fixed to $m10.
constexpr OpFormat kFormats[] = {
    {ExchangeOp::Delay, "delay", 0x40a00000, 0xfff80000, 1 << 19},
    {ExchangeOp::DelayXpic, "delayxpic", 0x64000000, 0xfc000000, 4096},
    {ExchangeOp::DelayPic, "delaypic", 0x60000000, 0xfc000000, 128},
    {ExchangeOp::Send, "send", 0x78000000, 0xf8000000, 64},
    {ExchangeOp::SendOff, "sendoff", 0x70000000, 0xf8100000, 4096},
    {ExchangeOp::SendPic, "sendpic", 0x70100000, 0xf8100000, 64},
    {ExchangeOp::SendPicp, "sendpicp", 0xf0000000, 0xf0000000, 64},
    {ExchangeOp::Branch, "br", 0x43a00000, 0xffffffff, 0},
};

const OpFormat& format_of(ExchangeOp op) {
    for (const auto& format : kFormats)
        if (format.op == op)
            return format;
    TESSERA_ASSERT(false);
    return kFormats[0];
}

/// `value` in `bits` bits, or an error that names the field.
std::uint32_t field(const OpFormat& format, const char* name, std::uint64_t value, int bits) {
    if (value >> bits != 0)
        throw ProgramError(fmt::format("{}: {} got {}, expected at most {} bits", format.mnemonic,
                                       name, value, bits));
    return static_cast<std::uint32_t>(value);
}

std::uint32_t mux_bits(const OpFormat& format, const ExchangeInstruction& instruction) {
    if (!instruction.mux)
        throw ProgramError(fmt::format("{}: got no mux control, expected one", format.mnemonic));
    return field(format, "mux source", instruction.mux->source, 13);
}

std::uint32_t pointer_bits(const OpFormat& format, const ExchangeInstruction& instruction) {
    if (!instruction.pointer)
        throw ProgramError(
            fmt::format("{}: got no pointer control, expected one", format.mnemonic));
    return field(format, "pointer value", instruction.pointer->value, 18);
}

constexpr std::uint32_t bits_of(std::uint32_t word, int low, int bits) {
    return (word >> low) & ((1U << bits) - 1U);
}

std::uint32_t encode_sendpic(const OpFormat& format, const ExchangeInstruction& in,
                             std::uint32_t count) {
    if (in.mux.has_value() == in.pointer.has_value())
        throw ProgramError("sendpic: got both or no controls, expected exactly one");
    if (in.mux)
        return count << 21 | (in.mux->paired ? 1U : 0U) << 18 | mux_bits(format, in);
    return count << 21 | (in.pointer->format ? 3U : 2U) << 18 | pointer_bits(format, in);
}

/// The operand bits of the (first) word.
std::uint32_t encode_operands(const OpFormat& format, const ExchangeInstruction& in) {
    const auto count = static_cast<std::uint32_t>(in.events - 1);
    const auto ctl = field(format, "ctl", in.ctl, 3);
    switch (in.op) {
    case ExchangeOp::Delay:
        return count;
    case ExchangeOp::DelayXpic: {
        const auto source = mux_bits(format, in);
        return count << 14 | (in.mux->paired ? 1U : 0U) << 13 | source;
    }
    case ExchangeOp::DelayPic: {
        const auto value = pointer_bits(format, in);
        return count << 19 | (in.pointer->format ? 1U : 0U) << 18 | value;
    }
    case ExchangeOp::Send:
        return count << 21 | field(format, "address", in.address, 18) << 3 | ctl;
    case ExchangeOp::SendOff:
        return (count & 63U) << 21 | (count >> 6) << 14 |
               field(format, "delta", in.delta, 11) << 3 | ctl;
    case ExchangeOp::SendPic:
        return encode_sendpic(format, in, count);
    case ExchangeOp::SendPicp:
        mux_bits(format, in);
        return (in.mux->paired ? 1U : 0U) << 27 | count << 21 |
               field(format, "address", in.address, 18) << 3 | ctl;
    case ExchangeOp::Branch:
        return 0;
    }
    return 0;
}

void decode_controls(ExchangeInstruction& in, std::uint32_t word,
                     std::span<const std::uint32_t> words) {
    switch (in.op) {
    case ExchangeOp::DelayXpic:
        in.mux = MuxControl{bits_of(word, 13, 1) != 0, bits_of(word, 0, 13)};
        break;
    case ExchangeOp::DelayPic:
        in.pointer = PointerControl{bits_of(word, 18, 1) != 0, bits_of(word, 0, 18)};
        break;
    case ExchangeOp::SendPic:
        if (bits_of(word, 19, 1) == 0)
            in.mux = MuxControl{bits_of(word, 18, 1) != 0, bits_of(word, 0, 13)};
        else
            in.pointer = PointerControl{bits_of(word, 18, 1) != 0, bits_of(word, 0, 18)};
        break;
    case ExchangeOp::SendPicp:
        if (words.size() < 2)
            throw ProgramError("sendpicp: got one word, expected two");
        in.mux = MuxControl{bits_of(word, 27, 1) != 0, bits_of(words[1], 19, 13)};
        in.pointer = PointerControl{bits_of(words[1], 18, 1) != 0, bits_of(words[1], 0, 18)};
        break;
    default:
        break;
    }
}

std::string text_of(const MuxControl& mux) {
    return fmt::format("{} 0x{:x}", mux.paired ? "muxpair" : "mux", mux.source);
}

std::string text_of(const PointerControl& pointer) {
    return fmt::format("{} 0x{:x}", pointer.format ? "format" : "pointer", pointer.value);
}

} // namespace

std::int64_t max_events(ExchangeOp op) {
    return format_of(op).max_events;
}

std::size_t words_of(ExchangeOp op) {
    return op == ExchangeOp::SendPicp ? 2 : 1;
}

void append_words(const ExchangeInstruction& instruction, std::vector<std::uint32_t>& words) {
    const auto& format = format_of(instruction.op);
    const std::int64_t least = instruction.op == ExchangeOp::Branch ? 0 : 1;
    if (instruction.events < least || instruction.events > format.max_events)
        throw ProgramError(fmt::format("{}: got {} events, expected {}..{} events", format.mnemonic,
                                       instruction.events, least, format.max_events));
    const auto operands =
        instruction.op == ExchangeOp::Branch ? 0U : encode_operands(format, instruction);
    words.push_back(format.major | operands);
    if (instruction.op == ExchangeOp::SendPicp) {
        const auto pointer = pointer_bits(format, instruction);
        words.push_back(instruction.mux->source << 19 |
                        (instruction.pointer->format ? 1U : 0U) << 18 | pointer);
    }
}

ExchangeInstruction decode_exchange_word(std::span<const std::uint32_t> words) {
    TESSERA_ASSERT(!words.empty());
    const auto word = words[0];
    for (const auto& format : kFormats) {
        if ((word & format.major_mask) != format.major)
            continue;
        ExchangeInstruction in;
        in.op = format.op;
        switch (in.op) {
        case ExchangeOp::Delay:
            in.events = bits_of(word, 0, 19) + 1;
            break;
        case ExchangeOp::DelayXpic:
            in.events = bits_of(word, 14, 12) + 1;
            break;
        case ExchangeOp::DelayPic:
            in.events = bits_of(word, 19, 7) + 1;
            break;
        case ExchangeOp::SendOff:
            in.events = (bits_of(word, 14, 6) << 6 | bits_of(word, 21, 6)) + 1;
            in.delta = bits_of(word, 3, 11);
            in.ctl = bits_of(word, 0, 3);
            break;
        case ExchangeOp::Send:
        case ExchangeOp::SendPicp:
            in.events = bits_of(word, 21, 6) + 1;
            in.address = bits_of(word, 3, 18);
            in.ctl = bits_of(word, 0, 3);
            break;
        case ExchangeOp::SendPic:
            in.events = bits_of(word, 21, 6) + 1;
            break;
        case ExchangeOp::Branch:
            in.events = 0;
            break;
        }
        decode_controls(in, word, words);
        return in;
    }
    throw ProgramError(fmt::format("exchange row: word 0x{:08x} is no exchange instruction", word));
}

std::string text_of(const ExchangeInstruction& in) {
    const auto* mnemonic = format_of(in.op).mnemonic;
    if (in.op == ExchangeOp::Branch)
        return "br $m10";
    auto text = fmt::format("{} {}", mnemonic, in.events);
    if (in.op == ExchangeOp::Send || in.op == ExchangeOp::SendPicp)
        text += fmt::format(", 0x{:x}, {}", in.address, in.ctl);
    if (in.op == ExchangeOp::SendOff)
        text += fmt::format(", {}, {}", in.delta, in.ctl);
    if (in.mux)
        text += ", " + text_of(*in.mux);
    if (in.pointer)
        text += ", " + text_of(*in.pointer);
    return text;
}

} // namespace tessera::isa
