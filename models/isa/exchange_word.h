// SPDX-License-Identifier: MIT
// The instructions of an exchange row as the exchange model and the planner handle them; words and
// fields are those of the instruction table.
// Majors are the machine's; field positions that are not published are chosen here to fill the free
// bits exactly (docs/models/exchange.md#encodings says which).
#pragma once

#include "base/units.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::isa {

enum class ExchangeOp : std::uint8_t {
    Delay,
    DelayXpic,
    DelayPic,
    Send,
    SendOff,
    SendPic,
    SendPicp,
    Branch
};

/// XPIC: sets the input mux (sel 0) or the paired mux (sel 1) to a physical tile id, 13 bits.
struct MuxControl {
    bool paired = false;
    std::uint32_t source = 0;

    friend bool operator==(const MuxControl&, const MuxControl&) = default;
};

/// PIC: sets the receive pointer in words above the incoming base (sel 0) or the item format (sel
/// 1: 0 = 32-bit, 1 or 2 = 64-bit from that direction), kAddressBits.
struct PointerControl {
    bool format = false;
    std::uint32_t value = 0;

    friend bool operator==(const PointerControl&, const PointerControl&) = default;
};

/// One instruction of a row. Fields that an op does not have are left at their defaults.
struct ExchangeInstruction {
    ExchangeOp op = ExchangeOp::Delay;
    /// What the count field says, 0 for Branch: items where something is put on the bus, else
    /// events.
    std::int64_t count = 1;
    std::uint32_t address = 0; ///< Send, SendPicp: in items (4 or 8 bytes) above the outgoing base
    std::uint32_t delta = 0;   ///< SendOff: items skipped
    unsigned ctl = 0;          ///< bits 0, 1 directions; bit 2 64-bit items
    std::optional<MuxControl> mux = std::nullopt;
    std::optional<PointerControl> pointer = std::nullopt;

    friend bool operator==(const ExchangeInstruction&, const ExchangeInstruction&) = default;
};

/// Bits of an item address and of a pointer in the machine's words. Rows for a larger memory have
/// kWhatIfAddressBits (docs/deviations.md#exchange-address-bits), which reach all 21 bits of a byte
/// address.
inline constexpr int kAddressBits = 18;
inline constexpr int kWhatIfAddressBits = 19;

/// The first byte address that a pointer in the machine's words cannot hold.
inline constexpr Bytes kExchangeReach = Bytes{4} << kAddressBits;

/// ctl bits of the directions; without one nothing is put on the bus.
inline constexpr unsigned kDirections = 3;

/// ctl bit of a message of 8-byte items.
inline constexpr unsigned kWideItems = 4;

/// Largest count that the op's field can hold.
[[nodiscard]] std::int64_t max_count(ExchangeOp op);

/// Words that the op takes: 2 for SendPicp, else 1.
[[nodiscard]] std::size_t words_of(ExchangeOp op);

/// Appends the instruction's words. Throws ProgramError when a field does not fit or a control that
/// the op needs is missing.
void append_words(const ExchangeInstruction& instruction, std::vector<std::uint32_t>& words);

/// The instruction at the front of `words`, which it takes words_of(op) of. Throws ProgramError for
/// a word that is no exchange instruction and for a SendPicp cut short.
[[nodiscard]] ExchangeInstruction decode_exchange_word(std::span<const std::uint32_t> words);

/// A listing's line: `sendpic 20, 3, muxpair 0x640`; addresses are in items.
[[nodiscard]] std::string text_of(const ExchangeInstruction& instruction);

} // namespace tessera::isa
