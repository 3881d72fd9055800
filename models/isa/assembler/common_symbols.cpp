// SPDX-License-Identifier: MIT
#include "models/isa/assembler/common_symbols.h"

#include <algorithm>
#include <map>

namespace tessera::isa::assembly {
namespace {

/// The sections of one name stand together: the first of them, or a new one.
Section& bss_of(Unit& unit) {
    const auto found = std::find_if(unit.sections.begin(), unit.sections.end(),
                                    [](const Section& section) { return section.name == ".bss"; });
    if (found != unit.sections.end()) {
        return *found;
    }
    Section fresh;
    fresh.name = ".bss";
    fresh.group = static_cast<std::uint32_t>(unit.sections.size());
    fresh.is_data = true;
    return unit.sections.emplace_back(std::move(fresh));
}

Expression constant(Unit& unit, std::int64_t value, const Origin& at) {
    Node node;
    node.value = value;
    node.at = at;
    const auto begin = static_cast<std::uint32_t>(unit.nodes.size());
    unit.nodes.push_back(node);
    return {begin, begin + 1};
}

void add_zeros(Unit& unit, Section& section, std::uint32_t bytes, const Origin& at) {
    if (bytes == 0) {
        return;
    }
    Item item;
    item.kind = Item::Kind::Fill;
    item.offset = section.bytes;
    item.bytes = bytes;
    item.element_bytes = 1;
    item.index = static_cast<std::uint32_t>(unit.data.size());
    unit.data.push_back(constant(unit, 0, at));
    section.items.push_back(item);
    section.bytes += bytes;
}

bool defines(const Scope& scope, std::string_view name) {
    const auto found = scope.symbols.find(name);
    if (found == scope.symbols.end()) {
        return false;
    }
    const Symbol& symbol = found->second;
    return symbol.is_global && !symbol.is_weak &&
           (symbol.kind == Symbol::Kind::Label || symbol.kind == Symbol::Kind::Assigned);
}

/// The first of them becomes a label, the others mean it.
void place(Unit& unit, const std::vector<Symbol*>& commons) {
    Symbol& first = *commons.front();
    std::uint32_t bytes = 0;
    std::uint32_t alignment = 1;
    for (Symbol* common : commons) {
        bytes = std::max(bytes, common->common_bytes);
        alignment = std::max(alignment, common->common_alignment);
        common->kind = Symbol::Kind::Declared;
    }
    Section& section = bss_of(unit);
    section.alignment = std::max(section.alignment, alignment);
    add_zeros(unit, section, (alignment - section.bytes % alignment) % alignment, first.at);
    first.kind = Symbol::Kind::Label;
    first.location = {static_cast<std::uint32_t>(&section - unit.sections.data()), section.bytes};
    first.bytes = constant(unit, bytes, first.at);
    add_zeros(unit, section, bytes, first.at);
}

} // namespace

void place_commons(Unit& unit) {
    std::map<std::string_view, std::vector<Symbol*>> commons;
    for (Scope& scope : unit.scopes) {
        for (auto& [name, symbol] : scope.symbols) {
            if (symbol.kind == Symbol::Kind::Common) {
                commons[name].push_back(&symbol);
            }
        }
    }
    for (const auto& [name, symbols] : commons) {
        const bool is_defined =
            std::any_of(unit.scopes.begin(), unit.scopes.end(),
                        [&, wanted = name](const Scope& scope) { return defines(scope, wanted); });
        if (!is_defined) {
            place(unit, symbols);
            continue;
        }
        for (Symbol* symbol : symbols) {
            symbol->kind = Symbol::Kind::Declared;
        }
    }
}

} // namespace tessera::isa::assembly
