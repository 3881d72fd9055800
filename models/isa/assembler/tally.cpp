// SPDX-License-Identifier: MIT
#include "models/isa/assembler/tally.h"

#include "models/isa/assembler/match.h"

#include <algorithm>

namespace tessera::isa::assembly {
namespace {

class Counter {
public:
    explicit Counter(const program::Codelet& codelet) : codelet_(codelet) {}

    void count(const Section& section) {
        SectionTally& tally = section_named(section.name);
        tally.padding_bytes += section.gap;
        for (const Item& item : section.items) {
            switch (item.kind) {
            case Item::Kind::Padding:
                tally.padding_bytes += item.bytes;
                break;
            case Item::Kind::Instruction:
            case Item::Kind::Bundle:
                tally.code_bytes += item.bytes;
                tally_.bundles += item.kind == Item::Kind::Bundle ? 1 : 0;
                count_instructions(section.base + item.offset, item.bytes / 4);
                break;
            default:
                tally.data_bytes += item.bytes;
                break;
            }
        }
    }
    AssemblyTally take() { return std::move(tally_); }

private:
    SectionTally& section_named(std::string_view name) {
        auto& all = tally_.sections;
        const auto found = std::find_if(
            all.begin(), all.end(), [name](const SectionTally& one) { return one.name == name; });
        return found != all.end() ? *found : all.emplace_back(SectionTally{std::string(name)});
    }
    /// Of an item of one word or two: an instruction each, or one of two words.
    void count_instructions(Address address, std::uint32_t words) {
        const std::size_t first = (address - codelet_.address) / 4;
        for (std::size_t i = first; i < first + words; ++i) {
            const Operation operation = decode(codelet_.words[i]);
            ++tally_.mnemonics[std::string(shown_mnemonic(operation))];
            ++tally_.instructions;
            i += has_two_words(operation.opcode) ? 1 : 0;
        }
    }

    const program::Codelet& codelet_;
    AssemblyTally tally_;
};

} // namespace

AssemblyTally tally_of(const Unit& unit, const program::Codelet& codelet) {
    Counter counter(codelet);
    for (const Section& section : unit.sections) {
        if (section.is_loaded && section.bytes != 0) {
            counter.count(section);
        }
    }
    return counter.take();
}

} // namespace tessera::isa::assembly
