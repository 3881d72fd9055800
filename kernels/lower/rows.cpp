// SPDX-License-Identifier: MIT
#include "kernels/lower/rows.h"

#include "kernels/lower/code_zone.h"
#include "kernels/plan/lowest_fit.h"

#include <algorithm>
#include <functional>
#include <map>

namespace tessera::lower {

RowHomes find_row_homes(std::span<const program::Exchange> exchanges,
                        std::span<const std::uint32_t> last) {
    struct Standing {
        const program::ExchangeRow* row = nullptr;
        std::uint32_t exchange = 0;
    };
    std::map<TileId, std::vector<Standing>> of_tile;
    RowHomes homes;
    for (std::uint32_t index = 0; index < exchanges.size(); ++index) {
        homes.of_row.emplace_back();
        homes.rooms.emplace_back();
        for (const program::ExchangeRow& row : exchanges[index].rows) {
            auto& known = of_tile[row.tile];
            auto same = std::find_if(known.begin(), known.end(), [&](const Standing& standing) {
                return standing.row->words == row.words;
            });
            if (same == known.end()) {
                same = known.insert(known.end(), {&row, index});
            }
            homes.of_row.back().push_back(same->exchange);
            RowRoom& room = homes.rooms[same->exchange];
            room.bytes = std::max(room.bytes, static_cast<Bytes>(row.words.size() * 4));
            room.last = std::max(room.last, last[index]);
        }
    }
    return homes;
}

RowBlocks lay_out_rows(const spec::MachineSpec& machine, std::span<const RowRoom> rooms) {
    std::map<std::uint32_t, Bytes, std::greater<>> bytes; // by last step
    RowBlocks rows;
    for (const RowRoom& room : rooms) {
        if (room.bytes > 0) {
            bytes[room.last] += plan::round_up(room.bytes, kCodeAlignment);
        }
    }
    std::map<std::uint32_t, RowBlocks::Place> next;
    for (const auto& [last, all] : bytes) {
        next[last] = {static_cast<std::uint32_t>(rows.blocks.size()), 0};
        rows.blocks.push_back({all + fetched_behind(machine), last});
    }
    for (const RowRoom& room : rooms) {
        RowBlocks::Place at;
        if (room.bytes > 0) {
            at = next[room.last];
            next[room.last].offset += plan::round_up(room.bytes, kCodeAlignment);
        }
        rows.of_exchange.push_back(at);
    }
    return rows;
}

bool have_room(std::span<const RowRoom> needed, std::span<const RowRoom> kept) {
    return std::equal(needed.begin(), needed.end(), kept.begin(), kept.end(),
                      [](const RowRoom& need, const RowRoom& room) {
                          return need.bytes == 0 ||
                                 (need.bytes <= room.bytes && need.last <= room.last);
                      });
}

} // namespace tessera::lower
