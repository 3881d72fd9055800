// SPDX-License-Identifier: MIT
#include "kernels/lower/check.h"

#include "base/config/suggest.h"
#include "base/error.h"
#include "kernels/lower/uses.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::lower {
namespace {

/// Throws unless the machine has the tile. `where` says what is on it.
void check_tile(const spec::MachineSpec& machine, TileId tile, const auto& where) {
    if (static_cast<std::int64_t>(tile) >= machine.chip.tiles) {
        throw ProgramError(
            fmt::format("{}: expected one of the machine's {} tiles", where(), machine.chip.tiles));
    }
}

/// Throws unless a codelet has the symbol. `where` says who wants it.
void check_symbol(const graph::Graph& graph, const program::Codelet& codelets, std::uint32_t number,
                  const std::string& where) {
    const std::string& symbol = graph.symbols.at(number);
    if (codelets.symbols.contains(symbol)) {
        return;
    }
    std::vector<std::string> entries;
    for (const auto& [name, info] : codelets.symbol_info) {
        if (info.binding == program::SymbolBinding::Global) {
            entries.push_back(name);
        }
    }
    const std::string hint = config::did_you_mean(symbol, entries);
    throw ProgramError(fmt::format("{}: no codelet has symbol '{}'{}{}", where, symbol,
                                   hint.empty() ? "" : "; ", hint));
}

} // namespace

void check_tiles(const spec::MachineSpec& machine, const graph::Graph& graph) {
    for (const graph::Buffer& buffer : graph.buffers) {
        for (const graph::Held& held : buffer.held) {
            check_tile(machine, held.tile, [&] {
                return fmt::format("program '{}': buffer '{}', tile {}", graph.name, buffer.name,
                                   held.tile);
            });
        }
    }
    for (std::uint32_t set = 0; set < graph.compute_sets.size(); ++set) {
        for (const graph::Vertex& vertex : graph.compute_sets[set].vertices) {
            check_tile(machine, vertex.tile, [&] {
                return place_of_fault(graph, number_of(graph, graph::ComputeSetId{set}),
                                      vertex.tile);
            });
        }
    }
}

void check_symbols(const graph::Graph& graph, const program::Codelet& codelets) {
    std::vector<bool> known(graph.symbols.size());
    const auto check = [&](std::uint32_t symbol, const auto& where) {
        if (!known.at(symbol)) {
            check_symbol(graph, codelets, symbol, where());
            known[symbol] = true;
        }
    };
    for (std::uint32_t set = 0; set < graph.compute_sets.size(); ++set) {
        for (const graph::Vertex& vertex : graph.compute_sets[set].vertices) {
            check(vertex.symbol, [&] {
                return place_of_fault(graph, number_of(graph, graph::ComputeSetId{set}),
                                      vertex.tile);
            });
        }
    }
    for (const graph::Buffer& buffer : graph.buffers) {
        for (const graph::Held& held : buffer.held) {
            if (held.relocations == nullptr) {
                continue;
            }
            for (const graph::Relocation& relocation : *held.relocations) {
                if (relocation.is_symbol) {
                    check(relocation.symbol, [&] {
                        return fmt::format("program '{}': tile {}: contents of '{}'", graph.name,
                                           held.tile, buffer.name);
                    });
                }
            }
        }
    }
}

void hold_once(graph::Graph& graph) {
    for (graph::Buffer& buffer : graph.buffers) {
        std::map<TileId, std::size_t> at;
        std::vector<graph::Held> once;
        for (graph::Held& held : buffer.held) {
            const auto [entry, added] = at.emplace(held.tile, once.size());
            if (added) {
                once.push_back(std::move(held));
                continue;
            }
            graph::Held& known = once[entry->second];
            known.bytes = std::max(known.bytes, held.bytes);
            if (known.contents == nullptr) {
                known.contents = std::move(held.contents);
                known.relocations = std::move(held.relocations);
            } else if (held.contents != nullptr && (*held.contents != *known.contents ||
                                                    held.relocations != known.relocations)) {
                throw ProgramError(fmt::format("program '{}': tile {} is told two contents of '{}'",
                                               graph.name, held.tile, buffer.name));
            }
        }
        buffer.held = std::move(once);
    }
}

} // namespace tessera::lower
