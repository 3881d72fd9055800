// SPDX-License-Identifier: MIT
#include "models/isa/exchange_word.h"

#include "base/error.h"
#include "models/isa/instruction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tessera::isa {

namespace {

/// By ExchangeOp.
constexpr std::array kOpcodes{Opcode::delay,   Opcode::delayxpic, Opcode::delaypic, Opcode::send,
                              Opcode::sendoff, Opcode::sendpic,   Opcode::sendpicp, Opcode::br};
static_assert(kOpcodes.size() == static_cast<std::size_t>(ExchangeOp::Branch) + 1);

constexpr std::uint8_t kLinkRegister = 10; // a row ends with `br $m10`

Opcode opcode_of(ExchangeOp op) {
    return kOpcodes[static_cast<std::size_t>(op)];
}

/// What the instruction table says of an op.
struct OpSize {
    std::int64_t max_count = 0;
    std::size_t words = 1;
};

std::array<OpSize, kOpcodes.size()> find_sizes() {
    std::array<OpSize, kOpcodes.size()> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].words = has_two_words(kOpcodes[i]) ? 2 : 1;
        if (kOpcodes[i] != Opcode::br)
            all[i].max_count = std::int64_t{1}
                               << spec_of(spec_of(kOpcodes[i]).form).operands[0].bits;
    }
    return all;
}

const std::array<OpSize, kOpcodes.size()> kSizes = find_sizes();

const OpSize& size_of(ExchangeOp op) {
    return kSizes[static_cast<std::size_t>(op)];
}

std::optional<ExchangeOp> exchange_op_of(Opcode opcode) {
    const auto* const found = std::find(kOpcodes.begin(), kOpcodes.end(), opcode);
    if (found == kOpcodes.end())
        return std::nullopt;
    return static_cast<ExchangeOp>(found - kOpcodes.begin());
}

std::string_view mnemonic_of(ExchangeOp op) {
    return spec_of(opcode_of(op)).mnemonic;
}

/// `value` in `bits` bits, or an error that names the field.
std::int32_t field(ExchangeOp op, const char* name, std::uint64_t value, int bits) {
    if (value >> bits != 0)
        throw ProgramError(fmt::format("{}: {} got {}, expected at most {} bits", mnemonic_of(op),
                                       name, value, bits));
    return static_cast<std::int32_t>(value);
}

std::int32_t mux_source(const ExchangeInstruction& in) {
    if (!in.mux)
        throw ProgramError(fmt::format("{}: got no mux control, expected one", mnemonic_of(in.op)));
    return field(in.op, "mux source", in.mux->source, 13);
}

std::int32_t pointer_value(const ExchangeInstruction& in) {
    if (!in.pointer)
        throw ProgramError(
            fmt::format("{}: got no pointer control, expected one", mnemonic_of(in.op)));
    return field(in.op, "pointer value", in.pointer->value, kWhatIfAddressBits);
}

// selectors of sendpic
constexpr std::uint8_t kMux = 0;
constexpr std::uint8_t kMuxPair = 1;
constexpr std::uint8_t kPointer = 2;
constexpr std::uint8_t kFormat = 3;

void set_sendpic(const ExchangeInstruction& in, Operation& operation) {
    if (in.mux.has_value() == in.pointer.has_value())
        throw ProgramError("sendpic: got both or no controls, expected exactly one");
    if (in.mux) {
        operation.d = in.mux->paired ? kMuxPair : kMux;
        operation.imm2 = mux_source(in);
    } else {
        operation.d = in.pointer->format ? kFormat : kPointer;
        operation.imm2 = pointer_value(in);
    }
}

/// Bit kAddressBits of an item address and of a pointer: a what-if, for which the machine's words
/// have no place. A row's word says it by a major that no instruction of a row has: 0b01... of an
/// instruction of one word becomes 0b10..., and of the 0b1111... of a sendpicp a bit is cleared.
struct HighBits {
    bool address = false;
    bool pointer = false;
};
constexpr std::uint32_t kTopBits = 0xc0000000;
constexpr std::uint32_t kHighAddress = 0x10000000; ///< cleared in a sendpicp; likewise the next
constexpr std::uint32_t kHighPointer = 0x20000000;

bool has_address(ExchangeOp op) {
    return op == ExchangeOp::Send || op == ExchangeOp::SendPicp;
}

std::uint32_t with_high_bits(const ExchangeInstruction& in, std::uint32_t first_word) {
    const bool address = has_address(in.op) && (in.address >> kAddressBits) != 0;
    const bool pointer = in.pointer && (in.pointer->value >> kAddressBits) != 0;
    if (words_of(in.op) == 2)
        return first_word ^ (address ? kHighAddress : 0U) ^ (pointer ? kHighPointer : 0U);
    return first_word ^ (address || pointer ? kTopBits : 0U);
}

/// Turns the first word of an instruction into the machine's. Of one word it is not known which of
/// the two there is.
HighBits take_high_bits(std::uint32_t& first_word) {
    const std::uint32_t top = first_word >> 30U;
    if (top == 3) {
        const HighBits high{(first_word & kHighAddress) == 0, (first_word & kHighPointer) == 0};
        first_word |= kHighAddress | kHighPointer;
        return high;
    }
    if (top == 2)
        first_word ^= kTopBits;
    return {top == 2, top == 2};
}

/// False where the instruction has neither an address nor a pointer that could have them.
bool set_high_bits(HighBits high, ExchangeInstruction& in) {
    const bool address = high.address && has_address(in.op);
    const bool pointer = high.pointer && in.pointer;
    if (address)
        in.address |= 1U << kAddressBits;
    if (pointer)
        in.pointer->value |= 1U << kAddressBits;
    return address || pointer || !(high.address || high.pointer);
}

/// The operands as the table's forms have them: events, then address and ctl or selector and value,
/// then controls. High bits of address and pointer are left out.
Operation operation_of(const ExchangeInstruction& in) {
    Operation operation;
    operation.opcode = opcode_of(in.op);
    operation.imm = static_cast<std::int32_t>(in.count);
    const auto ctl = static_cast<std::uint8_t>(field(in.op, "ctl", in.ctl, 3));
    switch (in.op) {
    case ExchangeOp::Delay:
        break;
    case ExchangeOp::DelayXpic:
        operation.imm2 = mux_source(in);
        operation.d = in.mux->paired ? 1 : 0;
        break;
    case ExchangeOp::DelayPic:
        operation.imm2 = pointer_value(in);
        operation.d = in.pointer->format ? 1 : 0;
        break;
    case ExchangeOp::SendOff:
        operation.imm2 = field(in.op, "delta", in.delta, 11);
        operation.d = ctl;
        break;
    case ExchangeOp::SendPic:
        set_sendpic(in, operation);
        break;
    case ExchangeOp::SendPicp:
        operation.imm3 = mux_source(in);
        operation.a = in.mux->paired ? 1 : 0;
        operation.imm4 = pointer_value(in);
        operation.b = in.pointer->format ? 1 : 0;
        [[fallthrough]];
    case ExchangeOp::Send:
        operation.imm2 = field(in.op, "address", in.address, kWhatIfAddressBits);
        operation.d = ctl;
        break;
    case ExchangeOp::Branch:
        operation.imm = 0;
        operation.a = kLinkRegister;
        break;
    }
    return operation;
}

/// The controls of a decoded operation.
void set_controls(const Operation& operation, ExchangeInstruction& in) {
    constexpr std::uint32_t kSourceMask = (1U << 13U) - 1U;
    const auto value = static_cast<std::uint32_t>(operation.imm2);
    switch (in.op) {
    case ExchangeOp::DelayXpic:
        in.mux = MuxControl{operation.d != 0, value};
        break;
    case ExchangeOp::DelayPic:
        in.pointer = PointerControl{operation.d != 0, value};
        break;
    case ExchangeOp::SendPic:
        if (operation.d < kPointer)
            in.mux = MuxControl{operation.d == kMuxPair, value & kSourceMask};
        else
            in.pointer = PointerControl{operation.d == kFormat, value};
        break;
    case ExchangeOp::SendPicp:
        in.mux = MuxControl{operation.a != 0, static_cast<std::uint32_t>(operation.imm3)};
        in.pointer = PointerControl{operation.b != 0, static_cast<std::uint32_t>(operation.imm4)};
        break;
    default:
        break;
    }
}

[[noreturn]] void fail_word(std::uint32_t word) {
    throw ProgramError(fmt::format("exchange row: word 0x{:08x} is no exchange instruction", word));
}

std::string text_of(const MuxControl& mux) {
    return fmt::format("{} 0x{:x}", mux.paired ? "muxpair" : "mux", mux.source);
}

std::string text_of(const PointerControl& pointer) {
    return fmt::format("{} 0x{:x}", pointer.format ? "format" : "pointer", pointer.value);
}

} // namespace

std::int64_t max_count(ExchangeOp op) {
    return size_of(op).max_count;
}

std::size_t words_of(ExchangeOp op) {
    return size_of(op).words;
}

void append_words(const ExchangeInstruction& instruction, std::vector<std::uint32_t>& words) {
    const std::int64_t least = instruction.op == ExchangeOp::Branch ? 0 : 1;
    const std::int64_t most = max_count(instruction.op);
    if (instruction.count < least || instruction.count > most)
        throw ProgramError(fmt::format("{}: got a count of {}, expected {}..{}",
                                       mnemonic_of(instruction.op), instruction.count, least,
                                       most));
    const Operation operation = operation_of(instruction);
    const std::uint64_t both = encode_both(operation);
    words.push_back(with_high_bits(instruction, static_cast<std::uint32_t>(both)));
    if (words_of(instruction.op) == 2)
        words.push_back(static_cast<std::uint32_t>(both >> 32U));
}

ExchangeInstruction decode_exchange_word(std::span<const std::uint32_t> words) {
    TESSERA_ASSERT(!words.empty());
    std::uint32_t first = words[0];
    const HighBits high = take_high_bits(first);
    const Operation operation = decode(first, words.size() > 1 ? words[1] : 0);
    const auto op = exchange_op_of(operation.opcode);
    const bool two_words = op && words_of(*op) == 2;
    const bool is_bundle_half = (first & kBundleBit) != 0 && !two_words;
    if (!op || is_bundle_half || (op == ExchangeOp::Branch && operation.a != kLinkRegister))
        fail_word(words[0]);
    if (two_words && words.size() < 2)
        throw ProgramError("sendpicp: got one word, expected two");
    ExchangeInstruction in;
    in.op = *op;
    in.count = operation.imm;
    if (in.op == ExchangeOp::SendOff)
        in.delta = static_cast<std::uint32_t>(operation.imm2);
    if (has_address(in.op))
        in.address = static_cast<std::uint32_t>(operation.imm2);
    if (has_address(in.op) || in.op == ExchangeOp::SendOff)
        in.ctl = operation.d;
    set_controls(operation, in);
    if (!set_high_bits(high, in))
        fail_word(words[0]);
    return in;
}

std::string text_of(const ExchangeInstruction& in) {
    if (in.op == ExchangeOp::Branch)
        return "br $m10";
    auto text = fmt::format("{} {}", mnemonic_of(in.op), in.count);
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
