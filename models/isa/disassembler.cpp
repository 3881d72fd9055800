// SPDX-License-Identifier: MIT
#include "models/isa/assembler.h"
#include "models/isa/assembler/match.h"
#include "models/isa/assembler/operand.h"

#include <fmt/format.h>

#include <array>

namespace tessera::isa {
namespace {

/// Constants of 4096 and more are addresses, masks or packed fields: hexadecimal.
std::string constant_text(std::int64_t value) {
    return value > 4095 ? fmt::format("{:#x}", value) : fmt::format("{}", value);
}

/// The text of an instruction, or empty when the assembler would not make this operation from it.
std::string instruction_text(const Operation& operation, CsrContext context) {
    if (operation.opcode == Opcode::kNone) {
        return {};
    }
    const auto operands = assembly::operands_of(operation, context);
    const auto gives_it = [&](std::string_view mnemonic) {
        const auto matched = assembly::match(mnemonic, operands);
        const auto* again = std::get_if<Operation>(&matched);
        return again != nullptr && *again == operation;
    };
    std::string_view mnemonic = spec_of(operation.opcode).mnemonic;
    if (!gives_it(mnemonic)) {
        mnemonic = alias_of(operation.opcode);
    }
    if (mnemonic.empty() || !gives_it(mnemonic) ||
        !assembly::operation_problem(operation).empty()) {
        return {};
    }
    std::string text(is_nop(operation) ? shown_mnemonic(operation) : mnemonic);
    if (is_nop(operation)) {
        return text;
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        text += i == 0 ? " " : ", ";
        text += operands[i].shape == assembly::OperandShape::Expression
                    ? constant_text(operands[i].value)
                    : assembly::text_of(operands[i]);
    }
    return text;
}

} // namespace

bool is_nop(const Operation& operation) {
    static const auto nops = [] {
        std::array<Operation, 2> list;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const auto real = assembly::expand_pseudo(i == 0 ? "nop" : "fnop", {}, false).front();
            list[i] = std::get<Operation>(assembly::match(real.mnemonic, real.operands));
        }
        return list;
    }();
    return operation == nops[0] || operation == nops[1];
}

std::string_view shown_mnemonic(const Operation& operation) {
    const OpcodeSpec& spec = spec_of(operation.opcode);
    return !is_nop(operation) ? spec.mnemonic : spec.lane == Lane::Main ? "nop" : "fnop";
}

std::vector<ListingLine> disassemble(const std::vector<std::uint32_t>& words, Address address,
                                     CsrContext context) {
    std::vector<ListingLine> listing;
    for (std::size_t i = 0; i < words.size();) {
        ListingLine line;
        line.address = address + static_cast<Address>(4 * i);
        line.words = {words[i]};
        const Operation first = decode(words[i], i + 1 < words.size() ? words[i + 1] : 0);
        const bool is_long = has_two_words(first.opcode);
        const bool is_bundle = (words[i] & kBundleBit) != 0 && !is_long;
        if (is_long && (i + 1 == words.size() || line.address % 8 != 0)) {
            // cut short, or at an address where it does not assemble
        } else if (is_bundle && i + 1 < words.size() && (words[i + 1] & kBundleBit) == 0) {
            const Operation second = decode(words[i + 1]);
            const std::string main = instruction_text(first, context);
            const std::string aux = instruction_text(second, context);
            if (!main.empty() && !aux.empty() && assembly::bundle_problem(first, second).empty()) {
                line.words.push_back(words[i + 1]);
                line.text = "{ " + main + " ; " + aux + " }";
            }
        } else if (!is_bundle) {
            line.text = instruction_text(first, context);
            if (is_long && !line.text.empty()) {
                line.words.push_back(words[i + 1]);
            }
        }
        if (line.text.empty()) {
            line.text = fmt::format(".word {:#010x}", words[i]);
        }
        i += line.words.size();
        listing.push_back(std::move(line));
    }
    return listing;
}

} // namespace tessera::isa
