// SPDX-License-Identifier: MIT
// Exchanges that users plan: who sends how many bytes to whom. For tests and benchmarks.
#pragma once

#include "base/units.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tessera::exchange_patterns {

using Transfers = std::vector<program::Transfer>;

/// Gives transfers their addresses: every tile sends from the first quarter of region 1, over and
/// over, and receives behind it, packed.
class Layout {
public:
    explicit Layout(const spec::MachineSpec& machine)
        : begin_(machine.memory.region1_begin()), end_(machine.memory.end()),
          tiles_(static_cast<TileId>(machine.chip.tiles)) {
        const auto pair = static_cast<Address>(2 * machine.memory.element_bytes);
        receive_begin_ = begin_ + std::max(pair, (end_ - begin_) / 4 / pair * pair);
        send_at_.assign(tiles_, begin_);
        receive_at_.assign(tiles_, receive_begin_);
    }

    [[nodiscard]] TileId tiles() const { return tiles_; }

    void send(TileId source, const std::vector<TileId>& receivers, Bytes bytes,
              bool paired = false) {
        auto& from = send_at_[source];
        if (from + bytes > static_cast<Bytes>(receive_begin_))
            from = begin_;
        fits_ = fits_ && from + bytes <= static_cast<Bytes>(receive_begin_);
        program::Transfer transfer{source, from, bytes, paired, {}};
        from += static_cast<Address>(bytes);
        Address common = 0;
        for (const auto tile : receivers)
            common = std::max(common, receive_at_[tile]);
        for (const auto tile : receivers) {
            const auto at = paired ? common : receive_at_[tile];
            fits_ = fits_ && at + bytes <= static_cast<Bytes>(end_);
            transfer.destinations.push_back({tile, at});
            receive_at_[tile] = at + static_cast<Address>(bytes);
        }
        if (!receivers.empty())
            transfers_.push_back(std::move(transfer));
    }

    /// Nothing when the memories are too small.
    [[nodiscard]] std::optional<Transfers> take() {
        return fits_ ? std::optional{std::move(transfers_)} : std::nullopt;
    }

private:
    Address begin_;
    Address end_;
    Address receive_begin_ = 0;
    TileId tiles_;
    bool fits_ = true;
    std::vector<Address> send_at_;
    std::vector<Address> receive_at_;
    Transfers transfers_;
};

inline std::vector<TileId> all_but(TileId tiles, TileId out, TileId also_out) {
    std::vector<TileId> others;
    for (TileId tile = 0; tile < tiles; ++tile)
        if (tile != out && tile != also_out)
            others.push_back(tile);
    return others;
}

/// The largest grid of whole rows: {rows, columns}, columns the integer nearest below the root.
inline std::pair<TileId, TileId> grid_of(TileId tiles) {
    TileId columns = 1;
    while ((columns + 1) * (columns + 1) <= tiles)
        ++columns;
    return {tiles / columns, columns};
}

/// At double width a root's own partner needs a message of its own.
inline void broadcast(Layout& to, Bytes bytes, TileId roots, bool paired) {
    for (TileId i = 0; i < roots; ++i) {
        const auto root = i * (to.tiles() / roots) / 2 * 2;
        if (!paired) {
            to.send(root, all_but(to.tiles(), root, root), bytes);
            continue;
        }
        to.send(root, all_but(to.tiles(), root, root ^ 1U), bytes, true);
        to.send(root, {root ^ 1U}, bytes);
    }
}

inline void gather(Layout& to, Bytes bytes) {
    for (TileId tile = 1; tile < to.tiles(); ++tile)
        to.send(tile, {0}, bytes);
}

inline void scatter(Layout& to, Bytes bytes) {
    for (TileId tile = 1; tile < to.tiles(); ++tile)
        to.send(0, {tile}, bytes);
}

inline void transpose(Layout& to, Bytes bytes) {
    const auto side = grid_of(to.tiles()).second;
    for (TileId row = 0; row < side; ++row)
        for (TileId column = 0; column < side; ++column)
            if (row != column)
                to.send(row * side + column, {column * side + row}, bytes);
}

/// All-to-all within groups: `strided` groups are i, i + groups, ..., others neighbours.
inline void all_to_all(Layout& to, Bytes bytes, TileId group, bool strided = false) {
    const auto groups = to.tiles() / group;
    const auto tile = [&](TileId g, TileId i) { return strided ? g + i * groups : g * group + i; };
    for (TileId g = 0; g < groups; ++g)
        for (TileId i = 0; i < group; ++i)
            for (TileId k = 0; k < group; ++k)
                if (i != k)
                    to.send(tile(g, i), {tile(g, k)}, bytes);
}

/// All-to-all of `count` tiles of the chip alone: 0, stride, 2 * stride, ...
inline void all_to_all_among(Layout& to, Bytes bytes, TileId count, TileId stride) {
    for (TileId i = 0; i < count; ++i)
        for (TileId k = 0; k < count; ++k)
            if (i != k)
                to.send(i * stride, {k * stride}, bytes);
}

/// `each` messages a tile, all tiles receive as many: so many random permutations.
inline void random_permutations(Layout& to, Bytes bytes, int each) {
    std::mt19937 random{1};
    std::vector<TileId> target(to.tiles());
    std::iota(target.begin(), target.end(), 0U);
    for (int i = 0; i < each; ++i) {
        std::shuffle(target.begin(), target.end(), random);
        for (TileId tile = 0; tile < to.tiles(); ++tile)
            if (target[tile] != tile)
                to.send(tile, {target[tile]}, bytes);
    }
}

/// Messages of `least` to `most` bytes between random tiles, `each` a tile on average.
inline void random_pairs(Layout& to, Bytes least, Bytes most, int each) {
    std::mt19937 random{1};
    for (int i = 0; i < each * static_cast<int>(to.tiles()); ++i) {
        const auto source = static_cast<TileId>(random() % to.tiles());
        const auto target =
            static_cast<TileId>((source + 1 + random() % (to.tiles() - 1)) % to.tiles());
        const auto words = static_cast<Bytes>(random()) % ((most - least) / 4 + 1);
        to.send(source, {target}, least + 4 * words);
    }
}

inline void shift(Layout& to, Bytes bytes, TileId by) {
    for (TileId tile = 0; tile < to.tiles(); ++tile)
        to.send(tile, {(tile + by) % to.tiles()}, bytes);
}

/// On the largest grid of tiles with ends joined: to four or eight neighbours, corners `corner`.
inline void halo(Layout& to, Bytes bytes, Bytes corner) {
    const auto [rows, columns] = grid_of(to.tiles());
    for (TileId r = 0; r < rows; ++r)
        for (TileId c = 0; c < columns; ++c)
            for (int dr = -1; dr <= 1; ++dr)
                for (int dc = -1; dc <= 1; ++dc) {
                    const bool is_corner = dr != 0 && dc != 0;
                    const auto size = is_corner ? corner : bytes;
                    if ((dr == 0 && dc == 0) || size == 0)
                        continue;
                    const auto to_r = (r + rows + static_cast<TileId>(dr)) % rows;
                    const auto to_c = (c + columns + static_cast<TileId>(dc)) % columns;
                    to.send(r * columns + c, {to_r * columns + to_c}, size);
                }
}

inline void halves(Layout& to, Bytes bytes) {
    const auto half = to.tiles() / 2;
    for (TileId tile = 0; tile < half; ++tile)
        to.send(tile, {half + (tile * 7 + 3) % half}, bytes);
}

/// Every tile's part to all others of its group, one pass each.
inline void all_gather(Layout& to, Bytes bytes, TileId group, bool strided) {
    const auto groups = to.tiles() / group;
    const auto tile = [&](TileId g, TileId i) { return strided ? g + i * groups : g * group + i; };
    for (TileId g = 0; g < groups; ++g)
        for (TileId i = 0; i < group; ++i) {
            std::vector<TileId> others;
            for (TileId k = 0; k < group; ++k)
                if (k != i)
                    others.push_back(tile(g, k));
            to.send(tile(g, i), others, bytes);
        }
}

} // namespace tessera::exchange_patterns
