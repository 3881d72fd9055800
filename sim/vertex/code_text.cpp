// SPDX-License-Identifier: MIT
#include "sim/vertex/code_text.h"

#include "models/isa/assembler.h"
#include "models/isa/instruction.h"
#include "models/program/source_place.h"

#include <fmt/format.h>

#include <cstring>

namespace tessera::vertex {

std::vector<std::uint32_t> words_at(const Bench& bench, Address address) {
    for (const auto& segment : bench.image.segments) {
        const auto offset = static_cast<std::size_t>(address - segment.address);
        if (segment.kind != program::SegmentKind::Code || address < segment.address ||
            offset + 4 > segment.data->size()) {
            continue;
        }
        std::vector<std::uint32_t> words(1);
        std::memcpy(words.data(), segment.data->data() + offset, 4);
        if ((words.front() & isa::kBundleBit) != 0 && offset + 8 <= segment.data->size()) {
            words.resize(2);
            std::memcpy(&words[1], segment.data->data() + offset + 4, 4);
        }
        return words;
    }
    return {};
}

std::string instruction_text(const Bench& bench, Address address) {
    const auto words = words_at(bench, address);
    return words.empty() ? std::string{} : isa::disassemble(words, address).front().text;
}

std::string source_line(const Bench& bench, Address address) {
    const program::Codelet& codelet = bench.codelets.front();
    if (address < codelet.address || address - codelet.address >= codelet.words.size() * 4) {
        return "stub";
    }
    const std::string place = program::source_place(codelet, address);
    return place.empty() ? fmt::format("{:#x}", address) : place;
}

std::string symbol_text(const Bench& bench, Address address) {
    std::string best;
    Address best_address = 0;
    for (const auto& [name, at] : bench.codelets.front().symbols) {
        if (at <= address && (best.empty() || at > best_address)) {
            best = name;
            best_address = at;
        }
    }
    if (best.empty()) {
        return fmt::format("{:#x}", address);
    }
    return address == best_address ? best : fmt::format("{}+{:#x}", best, address - best_address);
}

} // namespace tessera::vertex
