// SPDX-License-Identifier: MIT
#include "kernels/lower/rows.h"

#include <algorithm>
#include <map>

namespace tessera::lower {

RowHomes find_row_homes(std::span<const program::Exchange> exchanges) {
    struct Standing {
        const program::ExchangeRow* row = nullptr;
        std::uint32_t exchange = 0;
    };
    std::map<TileId, std::vector<Standing>> of_tile;
    RowHomes homes;
    for (std::uint32_t index = 0; index < exchanges.size(); ++index) {
        homes.of_row.emplace_back();
        homes.bytes.push_back(0);
        for (const program::ExchangeRow& row : exchanges[index].rows) {
            auto& known = of_tile[row.tile];
            const auto same =
                std::find_if(known.begin(), known.end(), [&](const Standing& standing) {
                    return standing.row->words == row.words;
                });
            homes.of_row.back().push_back(same == known.end() ? index : same->exchange);
            if (same == known.end()) {
                known.push_back({&row, index});
                homes.bytes.back() =
                    std::max(homes.bytes.back(), static_cast<Bytes>(row.words.size() * 4));
            }
        }
    }
    return homes;
}

} // namespace tessera::lower
