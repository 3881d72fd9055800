// SPDX-License-Identifier: MIT
// Pseudo-instructions as rewrite rules.
//
// A pattern has one letter an operand: m = $m, a = $a, A = $a pair, i = constant, c = control
// register. A recipe has one letter an operand of the real instruction: 0..2 = operand of the
// pseudo-instruction, n = operand 2 negated, z = 0, Z = $azeros, N = $m14, F = $a13.
#include "models/isa/assembler/match.h"

#include <algorithm>
#include <array>

namespace tessera::isa::assembly {
namespace {

struct Rule {
    std::string_view mnemonic;
    std::string_view pattern;
    std::string_view real;
    std::string_view recipe;
    bool is_canonical = false; ///< the mnemonic exists only as a pseudo-instruction
};

constexpr std::array kRules = {
    Rule{"nop", "", "setzi", "Nz", true},
    Rule{"fnop", "", "setzi", "Fz", true},
    Rule{"mov", "mm", "or", "01z", true},
    Rule{"mov", "aa", "or", "01z", true},
    Rule{"mov", "AA", "or64", "01Z", true},
    Rule{"mov", "ma", "atom", "01", true},
    Rule{"zero", "m", "setzi", "0z", true},
    Rule{"zero", "a", "setzi", "0z", true},
    Rule{"zero", "A", "or64", "0ZZ", true},
    Rule{"ldconst", "mi", "", "", true},
    Rule{"ldconst", "ai", "", "", true},
    Rule{"swap16", "mm", "roll16", "011", true},
    Rule{"swap16", "aa", "roll16", "011", true},
    Rule{"sub", "mmi", "add", "01n"},
    Rule{"get", "ac", "uget", "01"},
    Rule{"put", "ca", "uput", "01"},
};

/// What `sub d, s, constant` takes: the constant and its negative both fit 16 bits with a sign.
constexpr std::int64_t kMostSubtracted = 32767;

bool letter_fits(char letter, const Operand& operand) {
    if (letter == 'i') {
        return operand.shape == OperandShape::Expression;
    }
    if (letter == 'c') {
        return operand.shape != OperandShape::Register;
    }
    return operand.shape == OperandShape::Register && operand.suffix == Suffix::None &&
           operand.broadcast == Broadcast::None &&
           operand.file == (letter == 'm' ? RegisterFile::Main : RegisterFile::Aux) &&
           operand.width == (letter == 'A' ? 2 : 1);
}

const Rule* find_rule(std::string_view mnemonic, std::span<const Operand> operands) {
    const auto rule = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& candidate) {
        return candidate.mnemonic == mnemonic &&
               std::equal(candidate.pattern.begin(), candidate.pattern.end(), operands.begin(),
                          operands.end(), letter_fits) &&
               (candidate.recipe.find('n') == std::string_view::npos ||
                (operands[2].value >= -kMostSubtracted && operands[2].value <= kMostSubtracted));
    });
    return rule == kRules.end() ? nullptr : &*rule;
}

Operand constant(std::int64_t value) {
    Operand operand;
    operand.value = value;
    return operand;
}

Operand fixed_register(RegisterFile file, std::uint8_t first, std::uint8_t width) {
    Operand operand;
    operand.shape = OperandShape::Register;
    operand.file = file;
    operand.first = first;
    operand.width = width;
    return operand;
}

Operand cooked(char letter, std::span<const Operand> operands) {
    switch (letter) {
    case 'n': {
        Operand negated = operands[2];
        negated.value = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(negated.value));
        return negated;
    }
    case 'z':
        return constant(0);
    case 'Z':
        return fixed_register(RegisterFile::Aux, 14, 2);
    case 'N':
        return fixed_register(RegisterFile::Main, 14, 1);
    case 'F':
        return fixed_register(RegisterFile::Aux, 13, 1);
    default:
        return operands[static_cast<std::size_t>(letter - '0')];
    }
}

/// setzi for the low 20 bits, or for the rest. A value that is no 32-bit word stays whole and fails
/// to match.
std::vector<RealInstruction> load_constant(std::span<const Operand> operands, bool is_long) {
    const Operand& target = operands[0];
    const std::int64_t value = operands[1].value;
    const bool is_word = value >= -0x80000000LL && value <= 0xffffffffLL;
    if (!is_long || !is_word) {
        return {{"setzi", {target, operands[1]}}};
    }
    return {{"setzi", {target, constant(value & 0xfffff)}},
            {"or", {target, target, constant(value & 0xfff00000LL)}}};
}

} // namespace

std::vector<RealInstruction> expand_pseudo(std::string_view mnemonic,
                                           std::span<const Operand> operands, bool is_long) {
    const Rule* rule = find_rule(mnemonic, operands);
    if (rule == nullptr) {
        return {{mnemonic, {operands.begin(), operands.end()}}};
    }
    if (rule->real.empty()) {
        return load_constant(operands, is_long);
    }
    RealInstruction real{rule->real, {}};
    for (const char letter : rule->recipe) {
        real.operands.push_back(cooked(letter, operands));
    }
    return {std::move(real)};
}

std::string pseudo_forms(std::string_view mnemonic) {
    std::string text;
    for (const Rule& rule : kRules) {
        if (rule.mnemonic != mnemonic || !rule.is_canonical) {
            continue;
        }
        text += text.empty() ? "" : " or ";
        text += rule.pattern.empty() ? "no operands" : "";
        for (std::size_t i = 0; i < rule.pattern.size(); ++i) {
            const char letter = rule.pattern[i];
            text += i == 0 ? "" : ", ";
            text += letter == 'm'   ? "$m"
                    : letter == 'a' ? "$a"
                    : letter == 'A' ? "$a pair"
                                    : "constant";
        }
    }
    return text;
}

std::string pseudo_constant(std::string_view mnemonic, std::size_t operand) {
    for (const Rule& rule : kRules) {
        if (rule.mnemonic == mnemonic && rule.recipe.find('n') == operand) {
            return "constant -" + std::to_string(kMostSubtracted) + ".." +
                   std::to_string(kMostSubtracted);
        }
    }
    return {};
}

std::span<const std::string_view> pseudo_mnemonics() {
    static const auto names = [] {
        std::vector<std::string_view> list;
        for (const Rule& rule : kRules) {
            if (rule.is_canonical && (list.empty() || list.back() != rule.mnemonic)) {
                list.push_back(rule.mnemonic);
            }
        }
        return list;
    }();
    return names;
}

} // namespace tessera::isa::assembly
