// SPDX-License-Identifier: MIT
// Patterns of exchange with the message sizes that they are measured with, and how rows are executed
// without tiles.
#pragma once

#include "models/exchange/core/fabric.h"
#include "tests/support/exchange_patterns.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tessera::bench {

namespace patterns = exchange_patterns;

struct Pattern {
    std::string name;
    std::vector<Bytes> sizes;
    std::function<void(patterns::Layout&, Bytes)> make;
};

inline const std::vector<Bytes> kSizes{64, 256, 1024, 4096, 16384, 65536};
inline const std::vector<Bytes> kAllToAllSizes{4, 16, 64, 208, 512, 1024, 4096};
inline const std::vector<Bytes> kShared{4, 16, 64, 128}; // all of it in one tile's memory
inline const std::vector<Bytes> kGroupSizes{4, 16, 64, 256, 1024, 4096};

inline std::vector<Pattern> all_patterns(TileId tiles) {
    using patterns::Layout;
    std::vector<Pattern> list{
        {"all-to-all", kAllToAllSizes,
         [=](Layout& to, Bytes n) { patterns::all_to_all(to, n, tiles); }},
        {"random", kSizes, [](Layout& to, Bytes n) { patterns::random_permutations(to, n, 1); }},
        {"broadcast", kSizes, [](Layout& to, Bytes n) { patterns::broadcast(to, n, 1, true); }},
        {"broadcast-narrow", kSizes,
         [](Layout& to, Bytes n) { patterns::broadcast(to, n, 1, false); }},
        {"broadcast-4-roots", kSizes,
         [](Layout& to, Bytes n) { patterns::broadcast(to, n, 4, true); }},
        {"broadcast-16-roots", kSizes,
         [](Layout& to, Bytes n) { patterns::broadcast(to, n, 16, false); }},
        {"gather", kShared, patterns::gather},
        {"scatter", kShared, patterns::scatter},
        {"transpose", kSizes, patterns::transpose},
        {"random-8", kSizes, [](Layout& to, Bytes n) { patterns::random_permutations(to, n, 8); }},
        {"random-64", kSizes,
         [](Layout& to, Bytes n) { patterns::random_permutations(to, n, 64); }},
        {"random-pairs-1", kSizes,
         [](Layout& to, Bytes n) { patterns::random_pairs(to, n, n, 1); }},
        {"random-pairs-30", kSizes,
         [](Layout& to, Bytes n) { patterns::random_pairs(to, n, n, 30); }},
        {"random-mixed-16", kSizes,
         [](Layout& to, Bytes n) { patterns::random_pairs(to, 4, n, 16); }},
        {"random-mixed-200",
         {16, 64, 256, 1024},
         [](Layout& to, Bytes n) { patterns::random_pairs(to, 4, n, 200); }},
        {"shift-1", kSizes, [](Layout& to, Bytes n) { patterns::shift(to, n, 1); }},
        {"shift-100", kSizes, [](Layout& to, Bytes n) { patterns::shift(to, n, 100); }},
        {"halo-4", kSizes, [](Layout& to, Bytes n) { patterns::halo(to, n, 0); }},
        {"halo-8", kSizes, [](Layout& to, Bytes n) { patterns::halo(to, n, n); }},
        {"halo-8-small", kSizes, [](Layout& to, Bytes n) { patterns::halo(to, n, 4); }},
        {"halves", kSizes, patterns::halves},
        {"all-to-all-of-100", kGroupSizes,
         [](Layout& to, Bytes n) { patterns::all_to_all_among(to, n, 100, 1); }},
    };
    for (const TileId group : {16U, 32U, 64U}) {
        for (const bool strided : {false, true}) {
            const auto name = std::to_string(group) + (strided ? "-strided" : "");
            list.push_back({"all-to-all-in-" + name, kGroupSizes, [=](Layout& to, Bytes n) {
                                patterns::all_to_all(to, n, group, strided);
                            }});
            list.push_back({"all-gather-in-" + name, kGroupSizes, [=](Layout& to, Bytes n) {
                                patterns::all_gather(to, n, group, strided);
                            }});
        }
    }
    return list;
}

/// Gives the rows an address and executes them.
inline exchange::FabricOutcome execute(const spec::MachineSpec& machine,
                                       program::Exchange& exchange) {
    std::vector<const program::ExchangeRow*> row_of(static_cast<std::size_t>(machine.chip.tiles));
    for (auto& row : exchange.rows) {
        row.address = machine.memory.region0_begin();
        row_of[row.tile] = &row;
    }
    return exchange::execute_rows(
        machine, exchange, [&](TileId tile, Address, std::span<std::uint32_t> words) {
            std::copy_n(row_of[tile]->words.begin(), words.size(), words.begin());
        });
}

} // namespace tessera::bench
