// SPDX-License-Identifier: MIT
#include "kernels/sparse/published/bring.h"

#include "kernels/graph/copy.h"
#include "models/timing/tile_position.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace tessera::spmm {
namespace {

class Bringer {
public:
    Bringer(graph::Graph& graph, const PublishedLayout& layout, const PublishedBuffers& buffers,
            graph::ExchangeId bring, graph::ComputeSetId copies)
        : graph_(graph), layout_(layout), buffers_(buffers), element_(layout.types().element),
          bring_(bring), copies_(copies) {}

    /// Each row of X goes to the tiles of a band whose blocks touch it. A pair takes together what both
    /// want of it and one of them does not have to give.
    void bring_x() {
        const std::vector<published::StaticPart>& parts = layout_.plan().parts;
        for (std::size_t number = 0; number < parts.size(); ++number) {
            const auto part = static_cast<std::int64_t>(number);
            for (const published::StaticBand& band : parts[number].bands) {
                for (std::int64_t i = 0; i < band.columns; ++i) {
                    const std::int64_t row = layout_.column_of(band, i);
                    layout_.x_homes().cut(layout_.elements_of(row, part),
                                          [&](TileId home, Span run, std::int64_t before) {
                                              send_x(band, row, part, home, run, before);
                                          });
                }
            }
        }
    }

    /// Each run of blocks goes to the tiles that use it.
    void bring_blocks() {
        std::set<std::int64_t> cuts{0};
        std::vector<std::vector<std::pair<Span, TileId>>> users(layout_.plan().parts.size());
        for (TileId tile = 0; tile < layout_.tiles().size(); ++tile) {
            const TileBlocks& mine = layout_.tiles()[tile];
            if (!mine.blocks.empty()) {
                const Span span = layout_.values_of(mine);
                cuts.insert({span.first, span.last});
                users[static_cast<std::size_t>(mine.part)].emplace_back(span, tile);
            }
        }
        for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
            layout_.value_homes().cut(
                {*cut, *std::next(cut)}, [&](TileId home, Span run, std::int64_t before) {
                    const graph::Place from{buffers_.home_values, before * element_};
                    const Bytes bytes = run.size() * element_;
                    std::vector<graph::Receiver> others;
                    for (const auto& of_part : users) {
                        auto user = std::upper_bound(
                            of_part.begin(), of_part.end(), run.first,
                            [](std::int64_t at, const auto& one) { return at < one.first.first; });
                        while (user != of_part.begin() && (--user)->first.last > run.first) {
                            const graph::Place to{buffers_.values,
                                                  (run.first - user->first.first) * element_};
                            if (user->second == home) {
                                copy(home, from, to, bytes);
                            } else {
                                others.push_back({user->second, to});
                            }
                        }
                    }
                    if (!others.empty()) {
                        graph_.add_message(bring_, home, from, bytes, others);
                    }
                });
        }
    }

private:
    /// Elements `run` of a row's part, which stand on tile `home` behind `before` others.
    void send_x(const published::StaticBand& band, std::int64_t row, std::int64_t part, TileId home,
                Span run, std::int64_t before) {
        const std::vector<TileBlocks>& tiles = layout_.tiles();
        const Bytes bytes = run.size() * element_;
        const graph::Place from{buffers_.home_x, before * element_};
        const Bytes into = (run.first - layout_.elements_of(row, part).first) * element_;
        const auto column = static_cast<std::int32_t>(row);
        std::vector<graph::Receiver> wide;
        std::vector<graph::Receiver> narrow;
        const bool may_be_wide = layout_.sends_wide(home, bytes);
        for (std::int64_t i = 0; i < band.tiles; ++i) {
            const auto tile = static_cast<TileId>(band.first_tile + i);
            const auto slot = tiles[tile].slot_of(column);
            if (!slot) {
                continue;
            }
            const graph::Place to{buffers_.x, *slot * layout_.line_bytes(part) + into};
            if (tile == home) {
                copy(tile, from, to, bytes);
                continue;
            }
            const bool together = may_be_wide && *slot < tiles[tile].together &&
                                  timing::partner_tile(layout_.machine().chip, tile) != home;
            (together ? wide : narrow).push_back({tile, to});
        }
        if (!wide.empty()) {
            graph_.add_message(bring_, home, from, bytes, wide, true);
        }
        if (!narrow.empty()) {
            graph_.add_message(bring_, home, from, bytes, narrow);
        }
    }

    void copy(TileId tile, graph::Place from, graph::Place to, Bytes bytes) {
        graph::copy_on_tile(graph_, layout_.machine(), copies_, tile, from, to, bytes);
    }

    graph::Graph& graph_;
    const PublishedLayout& layout_;
    const PublishedBuffers& buffers_;
    Bytes element_;
    graph::ExchangeId bring_;
    graph::ComputeSetId copies_;
};

} // namespace

void bring_operands(graph::Graph& graph, const PublishedLayout& layout,
                    const PublishedBuffers& buffers, const PassOf& pass, graph::ExchangeId bring,
                    graph::ComputeSetId copies) {
    Bringer bringer(graph, layout, buffers, bring, copies);
    bringer.bring_x();
    if (layout.moves_blocks() && pass.number == 0) {
        bringer.bring_blocks();
    }
}

} // namespace tessera::spmm
