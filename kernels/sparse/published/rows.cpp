// SPDX-License-Identifier: MIT
#include "kernels/graph/filling.h"
#include "kernels/graph/halves.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/sparse/published/emitter.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

namespace tessera::sparse {
namespace {

using program::Role;

constexpr std::int64_t kSpread = 4; ///< words that a tile sums at least, where sums are spread
constexpr std::int64_t kPricedSync = 126;  ///< the one place where a barrier has a price
constexpr std::int64_t kWorkersOfMany = 2; ///< that a group has where there are more than workers

/// A tile's partial result of a row of a part, and where.
struct Contribution {
    TileId tile = 0;
    graph::Place place;
};

/// What a row of C has of a part's columns.
struct RowOfPart {
    Range elements;
    std::vector<Contribution> from;
};

/// Sums of one row and part on one tile, [partial][element] in its slots.
struct Piece {
    graph::Place slots;
    std::int64_t depth = 0;
    std::int64_t elements = 0;
    graph::Place sum;
    std::int64_t group_rows = 0; ///< rows and parts of its group
};

class Rows {
public:
    Rows(graph::Graph& graph, const PublishedLayout& layout, const PublishedBuffers& buffers)
        : graph_(graph), layout_(layout), buffers_(buffers), types_(layout.types),
          element_(layout.types.element), vector_(layout.types.vector),
          put_(bringing("put rows", "put rows: copy", "bytes")),
          reduce_(bringing("reduce: bring partial results", "reduce", "partial results")),
          move_(bringing("move rows", "move rows: copy", "bytes")), pieces_(layout.tiles.size()),
          reduce_cycles_(layout.tiles.size()) {}

    Cycles add(std::vector<graph::Step>& steps) {
        const Groups groups = by_contributors();
        for (const auto& [count, rows] : groups) {
            summed_groups_ += is_summed(count) ? 1 : 0;
            summed_rows_ += is_summed(count) ? std::ssize(rows) : 0;
        }
        std::int64_t start = 0;
        for (const auto& [count, rows] : groups) {
            if (is_summed(count)) {
                reduce_group(rows, static_cast<std::int64_t>(count), start);
            } else {
                for (const RowOfPart& row : rows) {
                    put_row(row);
                }
            }
        }
        for (TileId tile = 0; tile < layout_.tiles.size(); ++tile) {
            add_sums(tile);
        }
        graph::run_next(steps, put_.exchange, put_.copies, reduce_.exchange, reduce_.copies,
                        move_.exchange, move_.copies);
        return slowest_of(put_) + slowest_of(reduce_, std::move(reduce_cycles_)) +
               slowest_of(move_);
    }

private:
    [[nodiscard]] graph::Bringing bringing(const char* exchange, const char* set,
                                           const char* unit) {
        return {graph_, layout_.machine,
                graph_.add_exchange({exchange, Role::Reduce, kPublishedOwner}),
                graph_.add_compute_set({set, Role::Reduce, kPublishedOwner, unit})};
    }

    /// By how many tiles have some of them.
    using Groups = std::map<std::size_t, std::vector<RowOfPart>>;

    [[nodiscard]] Groups by_contributors() const {
        const std::size_t parts = layout_.plan.parts.size();
        std::vector<RowOfPart> rows(static_cast<std::size_t>(layout_.matrix.block_rows()) * parts);
        for (TileId tile = 0; tile < layout_.tiles.size(); ++tile) {
            const TileBlocks& mine = layout_.tiles[tile];
            graph::Place place{buffers_.out};
            for (const std::int32_t row : mine.rows) {
                RowOfPart& to = rows[static_cast<std::size_t>(row) * parts +
                                     static_cast<std::size_t>(mine.part)];
                to.elements = layout_.elements_of(row, mine.part);
                to.from.push_back({tile, place});
                place = place + layout_.partial_bytes(mine.part);
            }
        }
        Groups groups;
        for (RowOfPart& row : rows) {
            if (!row.from.empty()) {
                groups[row.from.size()].push_back(std::move(row));
            }
        }
        return groups;
    }
    /// One partial result alone is, where its type is not the result's.
    [[nodiscard]] bool is_summed(std::size_t contributors) const {
        return contributors > 1 || types_.casts;
    }

    /// A row that one tile has alone.
    void put_row(const RowOfPart& row) {
        const Contribution& from = row.from.front();
        layout_.c_homes.cut(row.elements, [&](TileId home, Range run, std::int64_t before) {
            give(put_, from.tile, from.place + (run.first - row.elements.first) * element_, home,
                 {buffers_.result, before * element_}, run.size() * element_);
        });
    }
    void give(graph::Bringing& by, TileId from, graph::Place place, TileId to, graph::Place there,
              Bytes bytes) {
        const bool copies = by.add(from, place, bytes, graph::Receiver{to, there});
        if (copies && by.copies != reduce_.copies) { // the work of which is partial results
            graph_.add_work(by.copies, to, bytes);
        }
    }

    /// Rows that equally many tiles have some of: summed where C stands, or spread evenly and then
    /// brought there. `start`: the tile behind the last one that has spread sums.
    void reduce_group(const std::vector<RowOfPart>& rows, std::int64_t depth, std::int64_t& start) {
        std::int64_t all = 0;
        for (const RowOfPart& row : rows) {
            all += row.elements.size();
        }
        if (is_summed_there(rows, depth, all)) {
            for (const RowOfPart& row : rows) {
                layout_.c_homes.cut(row.elements, [&](TileId home, Range run, std::int64_t before) {
                    reduce_piece(row, run, home, {buffers_.result, before * element_},
                                 std::ssize(rows));
                });
            }
            return;
        }
        const std::int64_t tiles = layout_.machine.chip.tiles;
        const Linear homes(all, vector_, tiles, kSpread, start);
        start = (start + homes.used()) % tiles;
        std::int64_t at = 0;
        for (const RowOfPart& row : rows) {
            const std::int64_t to_row = row.elements.first - at;
            homes.cut({at, at + row.elements.size()}, [&](TileId home, Range run, std::int64_t) {
                const Range here{run.first + to_row, run.last + to_row};
                const graph::Place sum =
                    sums_.add(graph_, buffers_.sums, home, here.size() * element_);
                reduce_piece(row, here, home, sum, std::ssize(rows));
                layout_.c_homes.cut(here, [&](TileId to, Range moved, std::int64_t before) {
                    give(move_, home, sum + (moved.first - here.first) * element_, to,
                         {buffers_.result, before * element_}, moved.size() * element_);
                });
            });
            at += row.elements.size();
        }
    }

    /// What the published rule expects to take fewer cycles for `all` elements: sums where C stands?
    [[nodiscard]] bool is_summed_there(const std::vector<RowOfPart>& rows, std::int64_t depth,
                                       std::int64_t all) const {
        std::map<TileId, std::int64_t> outputs;
        for (const RowOfPart& row : rows) {
            layout_.c_homes.cut(row.elements, [&outputs](TileId home, Range run, std::int64_t) {
                outputs[home] += run.size();
            });
        }
        const std::int64_t most = std::ranges::max(outputs | std::views::values);
        const std::int64_t tiles = layout_.machine.chip.tiles;
        const std::int64_t even = 8 * ceil_div(ceil_div(all, 8), tiles);
        const std::int64_t sync = kPricedSync;
        const std::int64_t there =
            ceil_div(most * types_.partial, 4) + depth * ceil_div(most, vector_) + sync;
        const std::int64_t move = ceil_div(most * element_, 4); // to the fullest tile of C
        const std::int64_t spread = ceil_div(even * depth * types_.partial, 4) +
                                    depth * ceil_div(even, vector_) + move + 2 * sync;
        return there < spread;
    }

    /// Elements `run` of a row, summed on a tile into `sum`.
    void reduce_piece(const RowOfPart& row, Range run, TileId tile, graph::Place sum,
                      std::int64_t group_rows) {
        const Bytes bytes = run.size() * types_.partial;
        const std::int64_t depth = std::ssize(row.from);
        graph::Place slot = slots_.add(graph_, buffers_.slots, tile, depth * bytes);
        pieces_[tile].push_back({slot, depth, run.size(), sum, group_rows});
        for (const Contribution& from : row.from) {
            give(reduce_, from.tile, from.place + (run.first - row.elements.first) * types_.partial,
                 tile, slot, bytes);
            slot = slot + bytes;
        }
    }

    /// The reductions of a tile: those of each group by the workers that it has, evenly, side by side.
    void add_sums(TileId tile) {
        std::map<std::int64_t, std::vector<Piece>> groups;
        for (const Piece& piece : pieces_[tile]) {
            groups[piece.depth].push_back(piece);
        }
        if (groups.empty()) {
            return;
        }
        std::vector<graph::Field> vertices;
        std::vector<std::int64_t> issues; // of each of them, as reduce_many.h has them
        for (const auto& [depth, pieces] : groups) {
            std::int64_t words = 0;
            for (const Piece& piece : pieces) {
                words += words_of(piece);
            }
            graph_.add_work(reduce_.copies, tile, words * depth);
            const std::int64_t workers = std::min(words, workers_of(pieces.front()));
            for (std::int64_t worker = 0; worker < workers; ++worker) {
                const Range mine{worker * words / workers, (worker + 1) * words / workers};
                vertices.push_back(regions_of(tile, pieces, mine, issues.emplace_back()));
            }
        }
        reduce_cycles_[tile] = cycles_of(issues);
        std::vector<graph::Field> state{graph::word(std::ssize(vertices) - 1),
                                        graph::word(together(std::ssize(vertices)) - 1)};
        state.insert(state.end(), vertices.begin(), vertices.end());
        graph_.add_vertex(reduce_.copies, tile, types_.reduce, program::VertexKind::Supervisor,
                          state);
    }

    /// Of so many vertices those that are started before the supervisor waits for all workers: all,
    /// where they fill the round, as it has no slot then until one of them is done.
    [[nodiscard]] std::int64_t together(std::int64_t vertices) const {
        const spec::TileSpec& tile = layout_.machine.tile;
        return tile.round_cycles() == tile.workers ? vertices : std::min(vertices, tile.workers);
    }

    /// Of vertices with so many issues: each on the first worker that is done with earlier ones.
    [[nodiscard]] Cycles cycles_of(const std::vector<std::int64_t>& issues) const {
        constexpr std::int64_t kLaunch = 6; // rounds from a worker's exit to its next vertex
        const spec::TileSpec& tile = layout_.machine.tile;
        std::vector<std::int64_t> rounds(static_cast<std::size_t>(tile.workers));
        const std::int64_t wave = together(std::ssize(issues));
        for (std::int64_t i = 0; i < std::ssize(issues); ++i) {
            if (i % wave == 0) {
                std::fill(rounds.begin(), rounds.end(),
                          *std::max_element(rounds.begin(), rounds.end()));
            }
            *std::min_element(rounds.begin(), rounds.end()) +=
                issues[static_cast<std::size_t>(i)] + kLaunch;
        }
        return tile.round_cycles() * *std::max_element(rounds.begin(), rounds.end());
    }

    /// Of one partial result.
    [[nodiscard]] std::int64_t words_of(const Piece& piece) const {
        return piece.elements * types_.partial / kWord;
    }

    /// Words `mine` of all pieces as a worker's regions, and its issues by the header of reduce_many.h.
    graph::Field regions_of(TileId tile, const std::vector<Piece>& pieces, Range mine,
                            std::int64_t& issues) {
        std::vector<graph::Field> state{graph::word(0)};
        const Bytes sum_word = kWord * element_ / types_.partial;
        std::int64_t at = 0;
        std::int64_t regions = 0;
        for (const Piece& piece : pieces) {
            const std::int64_t words = words_of(piece);
            const std::int64_t first = std::max(mine.first, at) - at;
            const std::int64_t last = std::min(mine.last, at + words) - at;
            at += words;
            if (first >= last) {
                continue;
            }
            ++regions;
            const Bytes reach = (piece.depth - 1) * words * kWord;
            state.insert(state.end(),
                         {graph::write(piece.sum + first * sum_word, (last - first) * sum_word),
                          graph::read(piece.slots + first * kWord, reach + (last - first) * kWord),
                          graph::halves(plan::counted_rounds(layout_.machine, piece.depth - 1,
                                                             "partial results"),
                                        last - first - 1, "words of partial results"),
                          graph::word(words)});
        }
        const bool half = types_.partial == PublishedTypes::kHalf;
        const std::int64_t word = half || element_ == PublishedTypes::kHalf ? 11 : 10;
        issues = (half ? 6 : 7) + 6 * regions + mine.size() * (word + pieces.front().depth);
        state.front() = graph::word(regions - 1);
        return graph::table(graph_.add_table(tile, state));
    }
    /// Of a tile's workers those that a group has, whatever other groups the tile has some of: the
    /// library shares them out once for all tiles.
    [[nodiscard]] std::int64_t workers_of(const Piece& piece) const {
        const std::int64_t workers = layout_.machine.tile.workers;
        return summed_groups_ > workers
                   ? kWorkersOfMany
                   : ceil_div(workers * piece.group_rows, std::max<std::int64_t>(summed_rows_, 1));
    }

    graph::Graph& graph_;
    const PublishedLayout& layout_;
    const PublishedBuffers& buffers_;
    const PublishedTypes& types_;
    Bytes element_;
    std::int64_t vector_;
    graph::Bringing put_;
    graph::Bringing reduce_; ///< partial results, and the sums of them
    graph::Bringing move_;
    std::vector<std::vector<Piece>> pieces_; ///< by tile
    graph::Filling slots_;
    graph::Filling sums_;
    std::int64_t summed_groups_ = 0;
    std::int64_t summed_rows_ = 0;      ///< and parts, of all these groups
    std::vector<Cycles> reduce_cycles_; ///< by tile
};

} // namespace

Cycles slowest_of(const graph::Bringing& copies, std::vector<Cycles> vertices) {
    vertices.resize(static_cast<std::size_t>(copies.machine.chip.tiles));
    std::map<std::int64_t, Cycles> known;
    for (const auto& [tile, copied] : copies.copied_words) {
        for (const std::int64_t words : copied) {
            const auto [at, is_new] = known.try_emplace(words);
            at->second = is_new ? plan::copy_cycles(copies.machine, words) : at->second;
            vertices[tile] += at->second;
        }
    }
    return *std::ranges::max_element(vertices);
}

Cycles add_rows(graph::Graph& graph, const PublishedLayout& layout, const PublishedBuffers& buffers,
                std::vector<graph::Step>& steps) {
    return Rows(graph, layout, buffers).add(steps);
}

} // namespace tessera::sparse
