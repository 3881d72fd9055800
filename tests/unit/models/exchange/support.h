// SPDX-License-Identifier: MIT
// What exchange tests share: rows in a tile's region 0, their listing, and their execution.
#pragma once

#include "models/exchange/core/fabric.h"
#include "models/isa/exchange_word.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tessera::exchange_test {

/// Places every row at the start of region 0 and executes it from there.
inline exchange::FabricOutcome execute(const spec::MachineSpec& machine,
                                       program::Exchange& exchange) {
    std::map<TileId, const program::ExchangeRow*> rows;
    for (auto& row : exchange.rows) {
        if (row.address == 0)
            row.address = machine.memory.region0_begin();
        rows[row.tile] = &row;
    }
    return exchange::execute_rows(
        machine, exchange, [&](TileId tile, Address address, std::span<std::uint32_t> words) {
            const auto& row = *rows.at(tile);
            const auto first = (address - row.address) / 4;
            std::copy_n(row.words.begin() + static_cast<std::ptrdiff_t>(first), words.size(),
                        words.begin());
        });
}

inline program::ExchangeRow& row_of(program::Exchange& exchange, TileId tile) {
    return *std::find_if(exchange.rows.begin(), exchange.rows.end(),
                         [&](const auto& row) { return row.tile == tile; });
}

/// The row's instructions, one text each.
inline std::vector<std::string> listing(const program::ExchangeRow& row) {
    std::vector<std::string> lines;
    const std::span<const std::uint32_t> words{row.words};
    for (std::size_t at = 0; at < words.size();) {
        const auto in = isa::decode_exchange_word(words.subspan(at));
        lines.push_back(isa::text_of(in));
        at += isa::words_of(in.op);
    }
    return lines;
}

/// The row's instructions as values, and back.
inline std::vector<isa::ExchangeInstruction> instructions_of(const program::ExchangeRow& row) {
    std::vector<isa::ExchangeInstruction> out;
    const std::span<const std::uint32_t> words{row.words};
    for (std::size_t at = 0; at < words.size(); at += isa::words_of(out.back().op))
        out.push_back(isa::decode_exchange_word(words.subspan(at)));
    return out;
}

inline void rewrite(program::ExchangeRow& row,
                    const std::vector<isa::ExchangeInstruction>& instructions) {
    row.words.clear();
    for (const auto& in : instructions)
        isa::append_words(in, row.words);
}

inline program::Transfer transfer(TileId source, Address from, Bytes bytes,
                                  std::vector<program::Destination> destinations,
                                  bool paired = false) {
    return {source, from, bytes, paired, std::move(destinations)};
}

} // namespace tessera::exchange_test
