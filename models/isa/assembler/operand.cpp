// SPDX-License-Identifier: MIT
#include "models/isa/assembler/operand.h"

#include <array>
#include <deque>
#include <map>
#include <vector>

namespace tessera::isa::assembly {
namespace {

struct Names {
    std::deque<std::string> storage;
    std::map<std::string_view, RegisterName> registers;
    std::vector<std::string_view> all;

    Names() {
        for (std::uint8_t number = 0; number < 16; ++number) {
            add("m" + std::to_string(number), {RegisterFile::Main, number, 1});
            add("a" + std::to_string(number), {RegisterFile::Aux, number, 1});
        }
        for (std::uint8_t pair = 0; pair < 8; ++pair) {
            add("ap" + std::to_string(pair),
                {RegisterFile::Aux, static_cast<std::uint8_t>(2 * pair), 2});
        }
        add("bp", {RegisterFile::Main, 8, 1});
        add("fp", {RegisterFile::Main, 9, 1});
        add("lr", {RegisterFile::Main, 10, 1});
        add("sp", {RegisterFile::Main, 11, 1});
        add("mworker_base", {RegisterFile::Main, 12, 1});
        add("mvertex_base", {RegisterFile::Main, 13, 1});
        add("mzero", {RegisterFile::Main, 15, 1});
        add("azero", {RegisterFile::Aux, 15, 1});
        add("azeros", {RegisterFile::Aux, 14, 2});
        for (const CsrName& csr : csr_names()) {
            all.push_back(csr.name);
        }
    }

    void add(std::string name, RegisterName meaning) {
        storage.push_back(std::move(name));
        registers.emplace(storage.back(), meaning);
        all.push_back(storage.back());
    }
};

const Names& names() {
    static const Names table;
    return table;
}

std::string register_text(const Operand& operand) {
    std::string text = operand.file == RegisterFile::Main ? "$m" : "$a";
    if (operand.file == RegisterFile::Main && operand.first == 15 && operand.width == 1) {
        text = "$mzero";
    } else if (operand.file == RegisterFile::Aux && operand.first == 15 && operand.width == 1) {
        text = "$azero";
    } else if (operand.file == RegisterFile::Aux && operand.first == 14 && operand.width == 2) {
        text = "$azeros";
    } else {
        text += std::to_string(operand.first);
        if (operand.width > 1) {
            text += ":" + std::to_string(operand.first + operand.width - 1);
        }
    }
    constexpr std::array<std::string_view, 4> kBroadcasts = {"", ":BL", ":BU", ":B"};
    constexpr std::array<std::string_view, 5> kSuffixes = {"", "+=", "++", "@", ">>"};
    text += kBroadcasts[static_cast<std::size_t>(operand.broadcast)];
    text += kSuffixes[static_cast<std::size_t>(operand.suffix)];
    return text;
}

} // namespace

std::optional<RegisterName> find_register(std::string_view name) {
    const auto& table = names().registers;
    const auto found = table.find(name);
    return found == table.end() ? std::nullopt : std::optional(found->second);
}

std::span<const std::string_view> dollar_names() {
    return names().all;
}

std::string text_of(const Operand& operand) {
    switch (operand.shape) {
    case OperandShape::Register:
        return register_text(operand);
    case OperandShape::Csr:
        return "$" + std::string(operand.csr->name);
    case OperandShape::Expression:
        return std::to_string(operand.value);
    }
    return {};
}

} // namespace tessera::isa::assembly
