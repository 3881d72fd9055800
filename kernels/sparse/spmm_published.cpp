// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_published.h"

#include "base/error.h"
#include "kernels/graph/append.h"
#include "kernels/graph/graph.h"
#include "kernels/lower/placing.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/published/static_planner.h"
#include "models/spec/matrix_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::spmm {
namespace {

using program::Role;

constexpr const char* kPublishedOwner = "spmm";
constexpr Bytes kWord = 8;          ///< that copies and reductions go by
constexpr Bytes kBehind = 128;      ///< that codelets may read behind their arrays
constexpr std::int64_t kSpread = 4; ///< words that a tile sums at least, where sums are spread
constexpr std::int64_t kMatrixInputs =
    32; ///< bytes of inputs that a weight set of the matrix unit has

/// What follows from the types of operands and result, and of partial results.
struct Types {
    /// `again`: partial results are used several times.
    Types(const spec::MachineSpec& machine, ElementType data_type, ElementType partials,
          std::int64_t block, bool again)
        : data(data_type), element(bytes_of(data)), partial(bytes_of(partials)),
          vector(kWord / element), set_inputs(std::min(block, kMatrixInputs / element)) {
        const bool half = data == ElementType::F16;
        const auto name = [](Bytes bytes) { return bytes == kHalf ? "half" : "float"; };
        const std::string both = fmt::format("{}_{}", name(element), name(partial));
        casts = element != partial;
        zeroes = (!half && (block == 8 || block == 16)) || (again && block > 1);
        const char* sums = casts ? "float_half" : name(element);
        reduce = fmt::format("ReduceMany_add_{}", sums);
        multiply = block == 1
                       ? "StaticSparseDenseElementWise_" + both
                       : fmt::format("StaticSparseDenseMatMulBlock_{0}x{0}_{1}", block, both);
        const bool one_set = spec::matrix_unit(machine).sets == 1;
        const char* file = block == 1 ? (half ? "elementwise" : "elementwise_float")
                           : casts    ? "block_half_float"
                           : half     ? (one_set ? "block_half_one_set" : "block_half")
                                      : (one_set ? "block_float_one_set" : "block_float");
        codelets = {fmt::format("published/sparse_dense_{}", file),
                    half && !casts ? "published/reduce_many"
                                   : fmt::format("published/reduce_many_{}", sums),
                    "copy"};
        if (zeroes) {
            codelets.emplace_back("published/cast_fill_1d");
        }
    }

    static constexpr Bytes kHalf = 2;

    ElementType data;
    Bytes element;
    Bytes partial;           ///< of a partial result
    std::int64_t vector;     ///< elements of a word; X's columns come in as many
    std::int64_t set_inputs; ///< columns of a block that stand together
    bool casts = false;      ///< partial results into the data's type
    bool zeroes = false;     ///< partial results in a step of their own
    std::string multiply = {};
    std::string reduce = {};
    std::vector<std::string> codelets = {};
};

std::int64_t ceil_div_of(std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit;
}

/// Elements [first, last).
struct Span {
    std::int64_t first = 0;
    std::int64_t last = 0;
    [[nodiscard]] std::int64_t size() const { return last - first; }
};

/// Elements that lie linearly over tiles from `start` on: as few tiles as the largest share allows,
/// whole grains on each, as evenly as possible.
class Linear {
public:
    Linear(std::int64_t elements, std::int64_t grain, std::int64_t tiles, std::int64_t least = 1,
           std::int64_t start = 0)
        : tiles_(tiles), start_(start) {
        const std::int64_t grains = ceil_div_of(elements, grain);
        const std::int64_t most = std::max(least, ceil_div_of(grains, tiles));
        const std::int64_t used = ceil_div_of(grains, most);
        for (std::int64_t i = 0; i <= used; ++i) {
            bounds_.push_back(
                std::min(elements, i * grains / std::max<std::int64_t>(used, 1) * grain));
        }
    }
    [[nodiscard]] std::int64_t used() const {
        return static_cast<std::int64_t>(bounds_.size()) - 1;
    }
    [[nodiscard]] TileId tile(std::int64_t number) const {
        return static_cast<TileId>((start_ + number) % tiles_);
    }
    [[nodiscard]] Span span(std::int64_t number) const {
        return {bounds_[static_cast<std::size_t>(number)],
                bounds_[static_cast<std::size_t>(number) + 1]};
    }
    /// Calls `take(tile, run, elements of the tile before the run)` for what each tile has of `run`.
    template <class Take> void cut(Span run, const Take& take) const {
        auto at = std::upper_bound(bounds_.begin(), bounds_.end(), run.first) - bounds_.begin() - 1;
        while (run.first < run.last) {
            const Span here = span(at);
            const Span piece{run.first, std::min(run.last, here.last)};
            if (piece.size() > 0) {
                take(tile(at), piece, piece.first - here.first);
                run.first = piece.last;
            }
            ++at;
        }
    }

private:
    std::int64_t tiles_;
    std::int64_t start_;
    std::vector<std::int64_t> bounds_;
};

/// What a tile multiplies.
struct TileBlocks {
    std::int64_t part = 0;              ///< of the columns of X
    std::vector<std::int64_t> blocks;   ///< numbers in the matrix, row by row
    std::vector<std::int64_t> order;    ///< of `blocks` in the order of bands, the first one
    std::vector<std::int32_t> rows;     ///< of `blocks`, each once
    std::vector<std::int32_t> columns;  ///< of `blocks`, each once, ascending
    std::vector<std::int64_t> row_ends; ///< of each row behind its last block

    [[nodiscard]] std::int64_t slot_of(std::int32_t column) const {
        return std::lower_bound(columns.begin(), columns.end(), column) - columns.begin();
    }
    [[nodiscard]] bool has(std::int32_t column) const {
        return std::binary_search(columns.begin(), columns.end(), column);
    }
};

/// A tile's partial result of a row, and where.
struct Contribution {
    TileId tile = 0;
    std::int64_t slot = 0;
};

/// One of several turns, each with columns of X and C of its own; all are as wide, but the last may have
/// less of the host's columns.
struct PassOf {
    std::int64_t number = 0;
    std::int64_t passes = 1;
    std::int64_t width = 0;

    [[nodiscard]] std::int64_t first() const { return number * width; }
};

class StaticEmitter {
public:
    StaticEmitter(const spec::MachineSpec& machine, const workload::SpmmWorkload& workload,
                  const workload::SparsePattern& matrix, const published::StaticPlan& plan,
                  const PassOf& pass, const std::string& name)
        : machine_(machine), matrix_(matrix), plan_(plan), pass_(pass),
          types_(machine, workload.dtype, workload.partials, matrix.block, pass.passes > 1),
          element_(types_.element), vector_(types_.vector), all_n_(workload.n),
          n_(std::min(pass.width, workload.n - pass.first())), b_(matrix.block),
          padded_n_(ceil_div_of(pass.width, vector_) * vector_),
          x_homes_(matrix.block_columns() * padded_n_ * b_, grain(), machine.chip.tiles),
          c_homes_(matrix.block_rows() * padded_n_ * b_, grain(), machine.chip.tiles),
          nz_homes_(ceil_div_of(matrix.blocks() * b_ * b_, vector_) * vector_,
                    std::max<std::int64_t>(vector_, b_), machine.chip.tiles),
          graph_(name) {
        deal_blocks();
    }

    graph::Graph run() {
        graph_.codelets = types_.codelets;
        add_buffers();
        const auto bring = graph_.add_exchange({"bring", Role::Bring, kPublishedOwner});
        const auto multiply =
            graph_.add_compute_set({"multiply", Role::Work, kPublishedOwner, "non-zeros"});
        bring_x(bring, multiply);
        if (moves_blocks() && pass_.number == 0) { // they stay
            bring_blocks(bring, multiply);
        }
        for (TileId tile = 0; tile < tiles_.size(); ++tile) {
            add_multiply(multiply, tile);
        }
        std::vector<program::Step> steps{graph::run(bring)};
        if (types_.zeroes) {
            steps.push_back(graph::run(add_zeros()));
        }
        steps.push_back(graph::run(multiply));
        add_rows(steps);
        graph_.control = graph::sequence(std::move(steps));
        add_tensors();
        return std::move(graph_);
    }

    /// Buffers of this pass' columns; all others are those of the first pass, too.
    [[nodiscard]] std::vector<graph::BufferId> own_buffers() const { return {home_x_, result_}; }

    /// What stands in a tile's memory while it multiplies, whatever else does.
    [[nodiscard]] std::vector<graph::BufferId> while_multiplying() const {
        return {result_, x_, out_, values_};
    }

    /// Roundings to the partials' type of the result element that has most: of each tile's partial result, and with
    /// FP32 ones or blocks also of each product or block.
    [[nodiscard]] std::int64_t roundings() const {
        const bool half = types_.partial == Types::kHalf;
        if (half && b_ == 1) {
            return 1; // sums of a row are FP32
        }
        std::int64_t most = 0;
        std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> of_row;
        for (const TileBlocks& tile : tiles_) {
            std::int64_t before = 0;
            for (std::size_t slot = 0; slot < tile.rows.size(); ++slot) {
                const std::int64_t blocks = tile.row_ends[slot] - before;
                before = tile.row_ends[slot];
                std::int64_t& of_this = of_row[{tile.part, tile.rows[slot]}];
                of_this = half ? std::max(of_this, blocks + 1) : of_this + blocks * b_ + 1;
                most = std::max(most, of_this);
            }
        }
        return most;
    }
    /// What its vertices were found to take when they were added, copies apart.
    [[nodiscard]] Cycles multiply_cycles() const { return multiply_cycles_; }
    [[nodiscard]] Cycles reduce_cycles() const { return reduce_cycles_; }
    [[nodiscard]] std::int64_t busy() const {
        return std::count_if(tiles_.begin(), tiles_.end(),
                             [](const TileBlocks& tile) { return !tile.blocks.empty(); });
    }

private:
    /// Elements of X and C that stand together.
    [[nodiscard]] std::int64_t grain() const { return b_ == 1 ? vector_ : vector_ * vector_; }
    [[nodiscard]] std::int64_t column_of(const published::StaticBand& band, std::int64_t i) const {
        return plan_.column_order[static_cast<std::size_t>(band.first_column + i)];
    }
    [[nodiscard]] bool moves_blocks() const { return plan_.parts.size() > 1; }
    [[nodiscard]] std::int64_t columns_on(std::int64_t part) const {
        return plan_.parts[static_cast<std::size_t>(part)].columns;
    }
    [[nodiscard]] Bytes line_bytes(std::int64_t part) const {
        return columns_on(part) * b_ * element_;
    }
    /// The same of partial results.
    [[nodiscard]] Bytes partial_bytes(std::int64_t part) const {
        return columns_on(part) * b_ * types_.partial;
    }
    [[nodiscard]] Bytes block_bytes() const { return b_ * b_ * element_; }
    /// Of a row of X or C the elements of a part.
    [[nodiscard]] Span elements_of(std::int64_t row, std::int64_t part) const {
        const published::StaticPart& columns = plan_.parts[static_cast<std::size_t>(part)];
        const std::int64_t first = (row * padded_n_ + columns.first_column) * b_;
        return {first, first + columns.columns * b_};
    }

    void deal_blocks() {
        tiles_.resize(static_cast<std::size_t>(machine_.chip.tiles));
        std::vector<std::int32_t> row_of_block(static_cast<std::size_t>(matrix_.blocks()));
        for (std::int64_t row = 0; row < matrix_.block_rows(); ++row) {
            for (std::int64_t i = matrix_.row_start[static_cast<std::size_t>(row)];
                 i < matrix_.row_start[static_cast<std::size_t>(row) + 1]; ++i) {
                row_of_block[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(row);
            }
        }
        for (std::size_t number = 0; number < plan_.parts.size(); ++number) {
            const published::StaticPart& part = plan_.parts[number];
            std::vector<std::size_t> band_of(static_cast<std::size_t>(matrix_.block_columns()));
            for (std::size_t band = 0; band < part.bands.size(); ++band) {
                const auto& columns = part.bands[band];
                for (std::int64_t i = 0; i < columns.columns; ++i) {
                    band_of[static_cast<std::size_t>(column_of(columns, i))] = band;
                }
            }
            std::vector<std::vector<std::int64_t>> blocks_of(part.bands.size());
            for (std::int64_t i = 0; i < matrix_.blocks(); ++i) {
                const auto column =
                    static_cast<std::size_t>(matrix_.block_column[static_cast<std::size_t>(i)]);
                blocks_of[band_of[column]].push_back(i);
            }
            std::int64_t order = 0;
            for (std::size_t band = 0; band < part.bands.size(); ++band) {
                deal_band(static_cast<std::int64_t>(number), part.bands[band], blocks_of[band],
                          row_of_block, order);
            }
            if (number == 0) {
                for (const auto& blocks : blocks_of) {
                    in_order_.insert(in_order_.end(), blocks.begin(), blocks.end());
                }
            }
        }
    }

    void deal_band(std::int64_t part, const published::StaticBand& band,
                   const std::vector<std::int64_t>& blocks,
                   const std::vector<std::int32_t>& row_of_block, std::int64_t& order) {
        const auto count = static_cast<std::int64_t>(blocks.size());
        const std::int64_t share = ceil_div_of(count, band.tiles);
        for (std::int64_t i = 0; i * share < count; ++i) {
            TileBlocks& tile = tiles_[static_cast<std::size_t>(band.first_tile + i)];
            tile.part = part;
            for (std::int64_t j = i * share; j < std::min(count, (i + 1) * share); ++j) {
                const auto block = blocks[static_cast<std::size_t>(j)];
                const std::int32_t row = row_of_block[static_cast<std::size_t>(block)];
                if (tile.rows.empty() || tile.rows.back() != row) {
                    tile.rows.push_back(row);
                    tile.row_ends.push_back(static_cast<std::int64_t>(tile.blocks.size()));
                }
                tile.blocks.push_back(block);
                tile.order.push_back(order++);
                tile.row_ends.back() = static_cast<std::int64_t>(tile.blocks.size());
                tile.columns.push_back(matrix_.block_column[static_cast<std::size_t>(block)]);
            }
            std::sort(tile.columns.begin(), tile.columns.end());
            tile.columns.erase(std::unique(tile.columns.begin(), tile.columns.end()),
                               tile.columns.end());
        }
    }

    void add_buffers() {
        using graph::Where;
        const bool pads_k = matrix_.columns % b_ != 0;
        const bool pads_n = n_ != padded_n_;
        values_ = graph_.add_buffer({.name = "values", .read_beyond = kBehind});
        meta_ = graph_.add_buffer({.name = "meta", .kind = program::SegmentKind::Metadata});
        out_ = graph_.add_buffer({.name = "partials",
                                  .where = b_ == 1 ? Where::Any : Where::Region1,
                                  .read_beyond = kBehind,
                                  .zeroed = b_ > 1 && !types_.zeroes});
        x_ = graph_.add_buffer({.name = "x",
                                .read_beyond = kBehind,
                                .padded = pads_n,
                                .apart = {out_, values_, meta_}});
        home_x_ = graph_.add_buffer(
            {.name = "home of x", .padded = pads_k || pads_n, .apart = {x_, values_}});
        home_values_ = graph_.add_buffer(
            {.name = "home of values", .padded = b_ == 1, .apart = {x_, values_}});
        result_ = graph_.add_buffer({.name = "result", .zeroed = true});
        slots_ = graph_.add_buffer({.name = "slices", .read_beyond = kBehind});
        sums_ = graph_.add_buffer({.name = "sums", .apart = {slots_}});
        for (std::int64_t i = 0; i < x_homes_.used(); ++i) {
            graph_.hold(home_x_, x_homes_.tile(i), x_homes_.span(i).size() * element_);
        }
        for (std::int64_t i = 0; i < c_homes_.used(); ++i) {
            graph_.hold(result_, c_homes_.tile(i), c_homes_.span(i).size() * element_);
        }
        for (std::int64_t i = 0; moves_blocks() && i < nz_homes_.used(); ++i) {
            graph_.hold(home_values_, nz_homes_.tile(i), nz_homes_.span(i).size() * element_);
        }
        for (TileId tile = 0; tile < tiles_.size(); ++tile) {
            const TileBlocks& mine = tiles_[tile];
            if (mine.blocks.empty()) {
                continue;
            }
            graph_.hold(values_, tile,
                        moves_blocks() ? values_of(mine).size() * element_
                                       : count_of(mine.blocks) * block_bytes());
            graph_.hold(x_, tile, count_of(mine.columns) * line_bytes(mine.part));
            graph_.hold(out_, tile, count_of(mine.rows) * partial_bytes(mine.part));
        }
    }
    template <class Of> [[nodiscard]] static std::int64_t count_of(const std::vector<Of>& list) {
        return static_cast<std::int64_t>(list.size());
    }

    void copy(graph::ComputeSetId set, TileId tile, graph::Place from, graph::Place to,
              Bytes bytes) {
        const std::int64_t workers = machine_.tile.workers;
        const std::int64_t words = bytes / kWord;
        graph_.add_vertex(set, tile, "copy64", program::VertexKind::MultiWorker,
                          {graph::read(from, bytes), graph::write(to, bytes),
                           graph::word(words / workers), graph::word(words % workers)});
    }

    /// Each row of X goes to the tiles of a band whose blocks touch it. Pairs take it together where
    /// both have it at one place.
    void bring_x(graph::ExchangeId bring, graph::ComputeSetId multiply) {
        for (std::size_t number = 0; number < plan_.parts.size(); ++number) {
            for (const published::StaticBand& band : plan_.parts[number].bands) {
                for (std::int64_t i = 0; i < band.columns; ++i) {
                    const std::int64_t row = column_of(band, i);
                    x_homes_.cut(elements_of(row, static_cast<std::int64_t>(number)),
                                 [&](TileId home, Span run, std::int64_t before) {
                                     send_x(bring, multiply, band, row,
                                            static_cast<std::int64_t>(number), home, run, before);
                                 });
                }
            }
        }
    }

    void send_x(graph::ExchangeId bring, graph::ComputeSetId multiply,
                const published::StaticBand& band, std::int64_t row, std::int64_t part, TileId home,
                Span run, std::int64_t before) {
        const Bytes bytes = run.size() * element_;
        const graph::Place from{home_x_, before * element_};
        const Bytes into = (run.first - elements_of(row, part).first) * element_;
        const auto column = static_cast<std::int32_t>(row);
        std::vector<graph::Receiver> wide;
        std::vector<graph::Receiver> narrow;
        const bool may_be_wide =
            machine_.exchange.pair_double && bytes >= machine_.exchange.pair_min_items * kWord;
        const auto place_on = [&](TileId tile) {
            const TileBlocks& mine = tiles_[tile];
            return graph::Place{x_, mine.slot_of(column) * line_bytes(mine.part) + into};
        };
        for (std::int64_t i = 0; i < band.tiles; ++i) {
            const auto tile = static_cast<TileId>(band.first_tile + i);
            if (!tiles_[tile].has(column)) {
                continue;
            }
            const graph::Place to = place_on(tile);
            if (tile == home) {
                copy(multiply, tile, from, to, bytes);
                continue;
            }
            const TileId partner = tile ^ 1U;
            const bool together = may_be_wide && partner != home && partner < tiles_.size() &&
                                  tiles_[partner].part == part && tiles_[partner].has(column) &&
                                  place_on(partner) == to && is_in(band, partner);
            (together ? wide : narrow).push_back({tile, to});
        }
        if (!wide.empty()) {
            graph_.add_message(bring, home, from, bytes, wide, true);
        }
        if (!narrow.empty()) {
            graph_.add_message(bring, home, from, bytes, narrow);
        }
    }
    [[nodiscard]] static bool is_in(const published::StaticBand& band, TileId tile) {
        const auto number = static_cast<std::int64_t>(tile);
        return number >= band.first_tile && number < band.first_tile + band.tiles;
    }

    /// What a tile has of the values in the order of bands: whole words, so that single elements
    /// move with their neighbours.
    [[nodiscard]] Span values_of(const TileBlocks& mine) const {
        const std::int64_t size = b_ * b_;
        return {mine.order.front() * size / vector_ * vector_,
                ceil_div_of((mine.order.back() + 1) * size, vector_) * vector_};
    }
    [[nodiscard]] Bytes values_offset(const TileBlocks& mine) const {
        return moves_blocks() ? (mine.order.front() * b_ * b_ - values_of(mine).first) * element_
                              : 0;
    }

    /// Each run of blocks goes to the tiles that use it.
    void bring_blocks(graph::ExchangeId bring, graph::ComputeSetId multiply) {
        std::set<std::int64_t> cuts{0};
        std::vector<std::vector<std::pair<Span, TileId>>> users(plan_.parts.size());
        for (TileId tile = 0; tile < tiles_.size(); ++tile) {
            const TileBlocks& mine = tiles_[tile];
            if (!mine.blocks.empty()) {
                const Span span = values_of(mine);
                cuts.insert({span.first, span.last});
                users[static_cast<std::size_t>(mine.part)].emplace_back(span, tile);
            }
        }
        for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
            nz_homes_.cut({*cut, *std::next(cut)}, [&](TileId home, Span run, std::int64_t before) {
                const graph::Place from{home_values_, before * element_};
                const Bytes bytes = run.size() * element_;
                std::vector<graph::Receiver> others;
                for (const auto& of_part : users) {
                    auto user = std::upper_bound(
                        of_part.begin(), of_part.end(), run.first,
                        [](std::int64_t at, const auto& one) { return at < one.first.first; });
                    while (user != of_part.begin() && (--user)->first.last > run.first) {
                        const graph::Place to{values_, (run.first - user->first.first) * element_};
                        if (user->second == home) {
                            copy(multiply, home, from, to, bytes);
                        } else {
                            others.push_back({user->second, to});
                        }
                    }
                }
                if (!others.empty()) {
                    graph_.add_message(bring, home, from, bytes, others);
                }
            });
        }
    }

    void add_multiply(graph::ComputeSetId set, TileId tile) {
        const TileBlocks& mine = tiles_[tile];
        if (mine.blocks.empty()) {
            return;
        }
        graph_.add_work(set, tile, count_of(mine.blocks));
        const Bytes line = line_bytes(mine.part);
        const graph::Field values =
            graph::read({values_, values_offset(mine)}, count_of(mine.blocks) * block_bytes());
        const graph::Field x = graph::read({x_}, count_of(mine.columns) * line);
        const Bytes out_bytes = count_of(mine.rows) * partial_bytes(mine.part);
        if (b_ == 1) {
            const auto meta = element_meta(mine, line);
            const auto bytes = static_cast<Bytes>(meta->size());
            graph_.hold(meta_, tile, meta);
            graph_.add_vertex(set, tile, types_.multiply, program::VertexKind::MultiWorker,
                              {graph::write({out_}, out_bytes), values, graph::read({meta_}, bytes),
                               x, graph::word(columns_on(mine.part))});
            return;
        }
        multiply_cycles_ = std::max(multiply_cycles_, block_cycles(mine));
        graph_.add_vertex(set, tile, types_.multiply, program::VertexKind::Supervisor,
                          {graph::pointer({out_}, out_bytes, graph::Access::Update), values,
                           block_lists(tile, mine, line), worklists(tile, columns_on(mine.part)),
                           graph::word(partial_bytes(mine.part)),
                           graph::word(count_of(mine.rows) - 1)});
    }

    /// Of the vertices of FP16 blocks of 16 without the supervisor's waits (issues:
    /// sparse_dense_block_half.S, sparse_dense_block_half_float.S), of others as of ours, which differ
    /// in a row's first block alone; with one set of matrix units nothing is known.
    [[nodiscard]] Cycles block_cycles(const TileBlocks& mine) const {
        if (spec::matrix_unit(machine_).sets == 1 && types_.data != ElementType::F16) {
            return 0;
        }
        const bool half = types_.partial == Types::kHalf;
        const std::int64_t columns = columns_on(mine.part);
        if (b_ == 16 && types_.data == ElementType::F16) {
            const std::int64_t own = ceil_div_of(columns, machine_.tile.workers);
            const std::int64_t loads = half ? 64 : 2 * 32;
            const std::int64_t issues = half ? 4 * own + 17 : 2 * (4 * own + 20);
            return count_of(mine.blocks) * (loads + machine_.tile.round_cycles() * issues);
        }
        std::vector<std::int32_t> row_blocks;
        std::int64_t before = 0;
        for (const std::int64_t end : mine.row_ends) {
            row_blocks.push_back(static_cast<std::int32_t>(end - before));
            before = end;
        }
        plan::StubTimeline stub(machine_, true);
        stub.blocks(b_, {types_.data, half ? ElementType::F16 : ElementType::F32}, columns,
                    row_blocks);
        return stub.finish();
    }

    /// Partial results that the codelet does not begin itself.
    graph::ComputeSetId add_zeros() {
        const auto zero = graph_.add_compute_set({"zero", Role::Work, kPublishedOwner, "bytes"});
        for (TileId tile = 0; tile < tiles_.size(); ++tile) {
            const TileBlocks& mine = tiles_[tile];
            const Bytes bytes = count_of(mine.rows) * partial_bytes(mine.part);
            if (bytes > 0) {
                graph_.add_work(zero, tile, bytes);
                graph_.add_vertex(zero, tile, "Zero1D", program::VertexKind::MultiWorker,
                                  {graph::write({out_}, bytes), graph::word(bytes / kWord)});
            }
        }
        return zero;
    }

    /// For each worker values and words before its own, first row, rows; then for each the counts
    /// less one of its rows and the offsets of its non-zeros. Rows go to a worker until it has its
    /// share of the non-zeros.
    [[nodiscard]] program::SharedBytes element_meta(const TileBlocks& mine, Bytes line) const {
        const auto workers = static_cast<std::size_t>(machine_.tile.workers);
        std::vector<std::size_t> ends;
        std::size_t row = 0;
        const std::int64_t all = count_of(mine.blocks);
        for (std::size_t worker = 0; worker < workers; ++worker) {
            const std::int64_t fair =
                all * static_cast<std::int64_t>(worker + 1) / static_cast<std::int64_t>(workers);
            if (mine.rows.size() <= workers) {
                row = std::min(worker + 1, mine.rows.size());
            } else {
                while (row < mine.rows.size() && (row == 0 ? 0 : mine.row_ends[row - 1]) < fair) {
                    ++row;
                }
            }
            ends.push_back(worker + 1 == workers ? mine.rows.size() : row);
        }
        std::vector<std::uint16_t> heads;
        std::vector<std::uint16_t> lists;
        const std::size_t head = 4 * workers;
        std::size_t first = 0;
        const auto half = [](auto value) { return static_cast<std::uint16_t>(value); };
        for (const std::size_t end : ends) {
            const std::int64_t before = first == 0 ? 0 : mine.row_ends[first - 1];
            heads.insert(heads.end(),
                         {half(before), half(head + lists.size()), half(first), half(end - first)});
            for (std::size_t i = first; i < end; ++i) {
                lists.push_back(half(mine.row_ends[i] - (i == 0 ? 0 : mine.row_ends[i - 1]) - 1));
            }
            for (std::int64_t i = before; i < (end == 0 ? 0 : mine.row_ends[end - 1]); ++i) {
                const auto block =
                    static_cast<std::size_t>(mine.blocks[static_cast<std::size_t>(i)]);
                lists.push_back(half(mine.slot_of(matrix_.block_column[block]) * line));
            }
            first = end;
        }
        heads.insert(heads.end(), lists.begin(), lists.end());
        heads.insert(heads.end(), 4, 0); // one more of each is read
        auto bytes = std::make_shared<std::vector<std::byte>>(heads.size() * sizeof(std::uint16_t));
        std::memcpy(bytes->data(), heads.data(), bytes->size());
        return bytes;
    }

    graph::Field block_lists(TileId tile, const TileBlocks& mine, Bytes line) {
        std::vector<graph::Field> words;
        std::int64_t at = 0;
        for (const std::int64_t end : mine.row_ends) {
            words.push_back(graph::word(end - at - 1));
            for (; at < end; ++at) {
                const auto block =
                    static_cast<std::size_t>(mine.blocks[static_cast<std::size_t>(at)]);
                words.push_back(
                    graph::read({x_, mine.slot_of(matrix_.block_column[block]) * line}, line));
            }
        }
        words.insert(words.end(), 2, graph::word(0)); // that the codelet reads behind them
        return graph::table(graph_.add_table(tile, words));
    }

    graph::Field worklists(TileId tile, std::int64_t columns) {
        const std::int64_t workers = machine_.tile.workers;
        const std::int64_t share = ceil_div_of(columns, workers);
        std::vector<graph::Field> words;
        for (std::int64_t worker = 0; worker < workers; ++worker) {
            const std::int64_t first = std::min(columns, worker * share);
            const std::int64_t last = std::min(columns, first + share);
            words.push_back(graph::word(first | ((last - first) << 16)));
        }
        return graph::table(graph_.add_table(tile, words));
    }

    /// What the tiles have of C becomes C.
    void add_rows(std::vector<program::Step>& steps) {
        // by how many tiles have some of a row of a part, the rows and parts
        std::map<std::size_t, std::vector<std::pair<std::int64_t, std::int64_t>>> groups;
        contributions_.assign(
            plan_.parts.size(),
            std::vector<std::vector<Contribution>>(static_cast<std::size_t>(matrix_.block_rows())));
        for (TileId tile = 0; tile < tiles_.size(); ++tile) {
            const TileBlocks& mine = tiles_[tile];
            for (std::size_t slot = 0; slot < mine.rows.size(); ++slot) {
                contributions_[static_cast<std::size_t>(mine.part)]
                              [static_cast<std::size_t>(mine.rows[slot])]
                                  .push_back({tile, static_cast<std::int64_t>(slot)});
            }
        }
        std::size_t reductions = 0;
        for (std::int64_t row = 0; row < matrix_.block_rows(); ++row) {
            for (std::size_t part = 0; part < plan_.parts.size(); ++part) {
                const std::size_t count =
                    contributions_[part][static_cast<std::size_t>(row)].size();
                if (count > 0) {
                    groups[count].emplace_back(row, static_cast<std::int64_t>(part));
                    reductions += count > 1 || types_.casts ? 1U : 0U;
                }
            }
        }
        const auto put = graph_.add_exchange({"put rows", Role::Reduce, kPublishedOwner});
        const auto put_here =
            graph_.add_compute_set({"put rows: copy", Role::Reduce, kPublishedOwner, "bytes"});
        bring_partials_ =
            graph_.add_exchange({"reduce: bring partial results", Role::Reduce, kPublishedOwner});
        reduce_ =
            graph_.add_compute_set({"reduce", Role::Reduce, kPublishedOwner, "partial results"});
        move_ = graph_.add_exchange({"move rows", Role::Reduce, kPublishedOwner});
        move_here_ =
            graph_.add_compute_set({"move rows: copy", Role::Reduce, kPublishedOwner, "bytes"});
        pieces_.resize(tiles_.size());
        std::int64_t start = 0;
        for (const auto& [count, rows] : groups) {
            if (count == 1 && !types_.casts) {
                for (const auto& [row, part] : rows) {
                    put_row(put, put_here, row, part);
                }
            } else {
                reduce_group(rows, static_cast<std::int64_t>(count), start);
            }
        }
        for (TileId tile = 0; tile < tiles_.size(); ++tile) {
            add_sums(tile, reductions);
        }
        for (const auto& [exchange, set] : {std::pair(put, put_here)}) {
            steps.push_back(graph::run(exchange));
            steps.push_back(graph::run(set));
        }
        steps.push_back(graph::run(bring_partials_));
        steps.push_back(graph::run(reduce_));
        steps.push_back(graph::run(move_));
        steps.push_back(graph::run(move_here_));
    }

    /// A row that one tile has alone.
    void put_row(graph::ExchangeId put, graph::ComputeSetId put_here, std::int64_t row,
                 std::int64_t part) {
        const Contribution from =
            contributions_[static_cast<std::size_t>(part)][static_cast<std::size_t>(row)].front();
        const Span all = elements_of(row, part);
        c_homes_.cut(all, [&](TileId home, Span run, std::int64_t before) {
            const graph::Place place =
                partial_place(from, part) + (run.first - all.first) * element_;
            give(put, put_here, from.tile, place, home, {result_, before * element_},
                 run.size() * element_);
        });
    }
    [[nodiscard]] graph::Place partial_place(const Contribution& from, std::int64_t part) const {
        return {out_, from.slot * partial_bytes(part)};
    }
    void give(graph::ExchangeId exchange, graph::ComputeSetId set, TileId from, graph::Place place,
              TileId to, graph::Place there, Bytes bytes) {
        if (from == to) {
            copy(set, to, place, there, bytes);
            graph_.add_work(set, to, bytes);
        } else {
            graph_.add_message(exchange, from, place, bytes, {to, there});
        }
    }

    /// Sums of one row and part on one tile, [partial][element] in its slots.
    struct Piece {
        Bytes slots = 0;
        std::int64_t depth = 0;
        std::int64_t elements = 0;
        graph::Place sum;
        std::size_t reductions = 0; ///< of its group
    };

    /// Rows that equally many tiles have some of: summed where C stands, or spread evenly and then
    /// brought there, by what the published rule expects to take fewer cycles.
    void reduce_group(const std::vector<std::pair<std::int64_t, std::int64_t>>& rows,
                      std::int64_t depth, std::int64_t& start) {
        std::map<TileId, std::int64_t> outputs;
        std::int64_t all = 0;
        for (const auto& [row, part] : rows) {
            const Span span = elements_of(row, part);
            all += span.size();
            c_homes_.cut(span, [&outputs](TileId home, Span run, std::int64_t /*before*/) {
                outputs[home] += run.size();
            });
        }
        std::int64_t most = 0;
        for (const auto& [tile, count] : outputs) {
            most = std::max(most, count);
        }
        const std::int64_t tiles = machine_.chip.tiles;
        const std::int64_t even = 8 * ceil_div_of(ceil_div_of(all, 8), tiles);
        const std::int64_t sync = kPricedSync;
        const std::int64_t there =
            ceil_div_of(most * types_.partial, 4) + depth * ceil_div_of(most, vector_) + sync;
        const std::int64_t spread = ceil_div_of(even * depth * types_.partial, 4) +
                                    depth * ceil_div_of(even, vector_) +
                                    ceil_div_of(even * element_, 4) + 2 * sync;
        if (there < spread) {
            for (const auto& [row, part] : rows) {
                const Span span = elements_of(row, part);
                c_homes_.cut(
                    span, [&, row = row, part = part](TileId home, Span run, std::int64_t before) {
                        reduce_piece(row, part, run, home, {result_, before * element_}, depth,
                                     rows.size());
                    });
            }
            return;
        }
        const Linear homes(all, vector_, tiles, kSpread, start);
        start = (start + homes.used()) % tiles;
        std::int64_t at = 0;
        for (const auto& [row, part] : rows) {
            const Span span = elements_of(row, part);
            homes.cut({at, at + span.size()}, [&, row = row, part = part](TileId home, Span run,
                                                                          std::int64_t /*before*/) {
                const Span here{span.first + run.first - at, span.first + run.last - at};
                const graph::Place sum{sums_, sum_bytes_[home]};
                sum_bytes_[home] += here.size() * element_;
                graph_.hold(sums_, home, sum_bytes_[home]);
                reduce_piece(row, part, here, home, sum, depth, rows.size());
                c_homes_.cut(here, [&](TileId to, Span moved, std::int64_t before) {
                    give(move_, move_here_, home, sum + (moved.first - here.first) * element_, to,
                         {result_, before * element_}, moved.size() * element_);
                });
            });
            at += span.size();
        }
    }

    void reduce_piece(std::int64_t row, std::int64_t part, Span run, TileId tile, graph::Place sum,
                      std::int64_t depth, std::size_t reductions) {
        const Bytes bytes = run.size() * types_.partial;
        const Bytes slots = slot_bytes_[tile];
        slot_bytes_[tile] += depth * bytes;
        graph_.hold(slots_, tile, slot_bytes_[tile]);
        pieces_[tile].push_back({slots, depth, run.size(), sum, reductions});
        const Span all = elements_of(row, part);
        Bytes slot = slots;
        for (const Contribution& from :
             contributions_[static_cast<std::size_t>(part)][static_cast<std::size_t>(row)]) {
            give(bring_partials_, reduce_, from.tile,
                 partial_place(from, part) + (run.first - all.first) * types_.partial, tile,
                 {slots_, slot}, bytes);
            slot += bytes;
        }
    }

    /// The reductions of a tile: those of each group by the workers that it has, evenly, side by side.
    void add_sums(TileId tile, std::size_t all_reductions) {
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
            graph_.add_work(reduce_, tile, words * depth);
            const std::int64_t workers =
                std::min(words, workers_of(pieces.front(), groups.size(), all_reductions));
            for (std::int64_t worker = 0; worker < workers; ++worker) {
                const Span mine{worker * words / workers, (worker + 1) * words / workers};
                vertices.push_back(regions_of(tile, pieces, mine));
                issues.push_back(12 + mine.size() * (11 + depth));
            }
        }
        Cycles cycles = 0; // as many at a time as there are workers
        const auto workers = static_cast<std::size_t>(machine_.tile.workers);
        for (std::size_t first = 0; first < issues.size(); first += workers) {
            const std::size_t last = std::min(first + workers, issues.size());
            const auto slowest =
                *std::max_element(issues.begin() + static_cast<std::ptrdiff_t>(first),
                                  issues.begin() + static_cast<std::ptrdiff_t>(last));
            cycles += machine_.tile.round_cycles() * (slowest + 5);
        }
        reduce_cycles_ = std::max(reduce_cycles_, cycles);
        std::vector<graph::Field> state{graph::word(count_of(vertices) - 1)};
        state.insert(state.end(), vertices.begin(), vertices.end());
        graph_.add_vertex(reduce_, tile, types_.reduce, program::VertexKind::Supervisor, state);
    }

    /// Of one partial result.
    [[nodiscard]] std::int64_t words_of(const Piece& piece) const {
        return piece.elements * types_.partial / kWord;
    }

    /// Words `mine` of all pieces as a worker's regions.
    graph::Field regions_of(TileId tile, const std::vector<Piece>& pieces, Span mine) {
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
            state.insert(
                state.end(),
                {graph::write(piece.sum + first * sum_word, (last - first) * sum_word),
                 graph::read({slots_, piece.slots + first * kWord}, reach + (last - first) * kWord),
                 graph::word((piece.depth - 1) | ((last - first - 1) << 16)), graph::word(words)});
        }
        state.front() = graph::word(regions - 1);
        return graph::table(graph_.add_table(tile, state));
    }
    [[nodiscard]] std::int64_t workers_of(const Piece& piece, std::size_t groups,
                                          std::size_t all_reductions) const {
        const std::int64_t workers = machine_.tile.workers;
        if (groups == 1) {
            return workers;
        }
        if (static_cast<std::int64_t>(groups) > workers) {
            return 2;
        }
        return ceil_div_of(workers * static_cast<std::int64_t>(piece.reductions),
                           static_cast<std::int64_t>(std::max<std::size_t>(all_reductions, 1)));
    }

    void add_tensors() {
        graph::Tensor a{.name = "a", .type = types_.data, .shape = {matrix_.blocks(), b_, b_}};
        a.given = true;
        if (moves_blocks()) {
            for (std::int64_t i = 0; i < nz_homes_.used(); ++i) {
                const Span span = nz_homes_.span(i);
                add_values(a, nz_homes_.tile(i), {home_values_}, in_order_, span);
            }
        } else {
            for (TileId tile = 0; tile < tiles_.size(); ++tile) {
                add_values(a, tile, {values_}, tiles_[tile].blocks,
                           {0, count_of(tiles_[tile].blocks) * b_ * b_});
            }
        }
        graph_.add_tensor(std::move(a));
        graph::Tensor x{.name = "b", .type = types_.data, .shape = {matrix_.columns, all_n_}};
        x.given = true;
        add_lines_of(x, x_homes_, home_x_, matrix_.columns);
        graph_.add_tensor(std::move(x));
        graph::Tensor c{.name = "c", .type = types_.data, .shape = {matrix_.rows, all_n_}};
        c.wanted = true;
        add_lines_of(c, c_homes_, result_, matrix_.rows);
        graph_.add_tensor(std::move(c));
    }

    /// Elements `span` of the blocks in `order`, runs of blocks that follow each other in the matrix
    /// at once. Blocks that are wider than a weight set stand as [set][row][column of the set].
    void add_values(graph::Tensor& tensor, TileId tile, graph::Place place,
                    const std::vector<std::int64_t>& order, Span span) const {
        const std::int64_t size = b_ * b_;
        for (std::int64_t at = span.first; at < span.last;) {
            const auto number = static_cast<std::size_t>(at / size);
            if (number >= order.size()) {
                return; // the rest of a word
            }
            if (types_.set_inputs < b_) {
                at = add_rows_of_set(tensor, tile, place + (at - span.first) * element_,
                                     order[number], at, span.last);
                continue;
            }
            std::size_t last = number;
            while (last + 1 < order.size() && order[last + 1] == order[last] + 1) {
                ++last;
            }
            const std::int64_t end =
                std::min(span.last, static_cast<std::int64_t>(last + 1) * size);
            graph::Piece piece;
            piece.tile = tile;
            piece.place = place + (at - span.first) * element_;
            piece.host_offset = order[number] * size + at % size;
            piece.dims = {{end - at, 1, element_}};
            tensor.pieces.push_back(std::move(piece));
            at = end;
        }
    }

    /// Elements [at, last) of a block, at most to the end of their set; returns behind them.
    std::int64_t add_rows_of_set(graph::Tensor& tensor, TileId tile, graph::Place place,
                                 std::int64_t block, std::int64_t at, std::int64_t last) const {
        const std::int64_t wide = types_.set_inputs;
        const std::int64_t set_elements = b_ * wide;
        const std::int64_t end = std::min(last, (at / set_elements + 1) * set_elements);
        const std::int64_t set = at % (b_ * b_) / set_elements;
        const std::int64_t row = at % set_elements / wide;
        graph::Piece piece;
        piece.tile = tile;
        piece.place = place;
        piece.host_offset = block * b_ * b_ + row * b_ + set * wide;
        piece.dims = {{(end - at) / wide, b_, wide * element_}, {wide, 1, element_}};
        tensor.pieces.push_back(std::move(piece));
        return end;
    }

    /// [block of rows][column][b] of a tensor {rows, n} as it lies over the tiles.
    void add_lines_of(graph::Tensor& tensor, const Linear& homes, graph::BufferId buffer,
                      std::int64_t rows) const {
        for (std::int64_t i = 0; i < homes.used(); ++i) {
            const Span span = homes.span(i);
            for (std::int64_t at = span.first; at < span.last;) {
                const std::int64_t line = at / (padded_n_ * b_);
                const std::int64_t column = at / b_ - line * padded_n_;
                // whole columns of the line, or what there is of one
                const std::int64_t row = at % b_;
                const std::int64_t here = std::min(span.last, (line + 1) * padded_n_ * b_) - at;
                const bool whole = row == 0 && here >= b_;
                const std::int64_t length = whole ? here / b_ * b_ : std::min(here, b_ - row);
                const std::int64_t columns = std::min(whole ? length / b_ : 1, n_ - column);
                const std::int64_t rows_here =
                    std::min(whole ? b_ : length, rows - line * b_ - row);
                if (columns > 0 && rows_here > 0) {
                    graph::Piece piece;
                    piece.tile = homes.tile(i);
                    piece.place = graph::Place{buffer, (at - span.first) * element_};
                    piece.host_offset = (line * b_ + row) * all_n_ + pass_.first() + column;
                    piece.dims = {{columns, 1, b_ * element_}, {rows_here, all_n_, element_}};
                    tensor.pieces.push_back(std::move(piece));
                }
                at += length;
            }
        }
    }

    static constexpr std::int64_t kPricedSync = 126; ///< the one place where a barrier has a price

    const spec::MachineSpec& machine_;
    const workload::SparsePattern& matrix_;
    const published::StaticPlan& plan_;
    PassOf pass_;
    Types types_;
    Bytes element_;
    std::int64_t vector_;
    std::int64_t all_n_;
    std::int64_t n_; ///< of this pass
    std::int64_t b_;
    std::int64_t padded_n_;
    Linear x_homes_;
    Linear c_homes_;
    Linear nz_homes_;
    graph::Graph graph_;
    std::vector<TileBlocks> tiles_;
    std::vector<std::int64_t> in_order_; ///< blocks by band, row, column
    graph::BufferId values_;
    graph::BufferId meta_;
    graph::BufferId out_;
    graph::BufferId x_;
    graph::BufferId home_x_;
    graph::BufferId home_values_;
    graph::BufferId result_;
    graph::BufferId slots_;
    graph::BufferId sums_;
    graph::ExchangeId bring_partials_;
    graph::ExchangeId move_;
    graph::ComputeSetId reduce_;
    graph::ComputeSetId move_here_;
    std::vector<std::vector<std::vector<Contribution>>> contributions_; ///< by part, by row
    std::vector<std::vector<Piece>> pieces_;                            ///< by tile
    std::map<TileId, Bytes> slot_bytes_;
    std::map<TileId, Bytes> sum_bytes_;
    Cycles multiply_cycles_ = 0;
    Cycles reduce_cycles_ = 0;
};

/// What a pass has of X and C joins what earlier ones have; W is the first's.
void join_tensors(graph::Graph& whole) {
    constexpr std::size_t kTensors = 3;
    for (std::size_t i = kTensors; i < whole.tensors.size(); ++i) {
        graph::Tensor& tensor = whole.tensors[i - kTensors];
        if (tensor.name != "a") {
            std::move(whole.tensors[i].pieces.begin(), whole.tensors[i].pieces.end(),
                      std::back_inserter(tensor.pieces));
        }
    }
    whole.tensors.resize(kTensors);
}

/// Without blocks nothing is multiplied: the result is zero where it stands.
std::optional<published::StaticPlan> plan_of(const published::StaticProblem& problem,
                                             const spec::MachineSpec& machine) {
    const bool empty = std::all_of(problem.row_counts.begin(), problem.row_counts.end(),
                                   [](std::int64_t blocks) { return blocks == 0; });
    if (!empty) {
        return published::plan_static(problem, published::static_machine(machine));
    }
    published::StaticPlan plan;
    plan.parts.push_back({0, problem.n, 0, machine.chip.tiles, {}});
    return plan;
}

std::string name_of(const workload::SpmmWorkload& workload, const workload::SparsePattern& matrix) {
    return fmt::format("spmm {} x {} x {} in {} x {} blocks, published plan", matrix.rows,
                       matrix.columns, workload.n, matrix.block, matrix.block);
}

/// The plan of `width` columns. @throws DoesNotFit where no split is valid
published::StaticPlan plan_of(const spec::MachineSpec& machine,
                              const workload::SpmmWorkload& workload,
                              const workload::SparsePattern& matrix, std::int64_t width) {
    published::StaticProblem problem;
    problem.type = workload.dtype;
    problem.n = width;
    problem.block = matrix.block;
    problem.column_counts.resize(static_cast<std::size_t>(matrix.block_columns()));
    for (std::int64_t row = 0; row < matrix.block_rows(); ++row) {
        const auto at = static_cast<std::size_t>(row);
        problem.row_counts.push_back(matrix.row_start[at + 1] - matrix.row_start[at]);
    }
    for (const std::int32_t column : matrix.block_column) {
        ++problem.column_counts[static_cast<std::size_t>(column)];
    }
    auto plan = plan_of(problem, machine);
    if (!plan) {
        throw DoesNotFit(name_of(workload, matrix) +
                         ": no split of the published planner is valid");
    }
    return std::move(*plan);
}

} // namespace

Cycles published_cycles(const spec::MachineSpec& machine, const workload::SpmmWorkload& workload,
                        const workload::SparsePattern& matrix) {
    return plan_of(machine, workload, matrix, workload.n).phases.total();
}

Planned plan_published(const spec::MachineSpec& machine, const workload::SpmmWorkload& workload,
                       const workload::SparsePattern& matrix, std::int64_t passes) {
    constexpr std::int64_t kColumns = 8; // that codelets take together
    const std::int64_t width =
        passes == 1 ? workload.n
                    : ceil_div_of(ceil_div_of(workload.n, passes), kColumns) * kColumns;
    const std::string name = name_of(workload, matrix);
    const published::StaticPlan plan = plan_of(machine, workload, matrix, width);
    StaticEmitter emitter(machine, workload, matrix, plan, {0, passes, width}, name);
    family::Division division;
    division.parts_n = static_cast<std::int64_t>(plan.parts.size());
    division.parts_k =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(plan.parts.front().bands.size()));
    division.parts_m = machine.chip.tiles / (division.parts_n * division.parts_k);
    division.tiles_busy = emitter.busy();
    division.roundings = emitter.roundings();
    division.predicted.compute = plan.phases.compute + plan.phases.reduce;
    division.predicted.reduction = plan.phases.reduce;
    if (passes == 1) {
        graph::Graph graph = emitter.run();
        if (emitter.multiply_cycles() > 0) {
            division.predicted.compute = emitter.multiply_cycles() + emitter.reduce_cycles() +
                                         2 * machine.control.step_cycles;
            division.predicted.reduction = emitter.reduce_cycles();
        }
        lower::check_together(machine, graph, emitter.while_multiplying(), "multiply");
        return {std::move(graph), std::move(division)};
    }
    graph::Graph whole(fmt::format("{} in {} passes", name, passes));
    std::vector<program::Step> steps;
    std::optional<graph::Appended> first;
    std::vector<graph::BufferId> together; ///< while the first pass multiplies
    for (std::int64_t number = 0; number * width < workload.n; ++number) {
        StaticEmitter pass(machine, workload, matrix, plan, {number, passes, width}, name);
        graph::Graph part = pass.run();
        const auto own = pass.own_buffers();
        const auto standing = number == 0 ? pass.while_multiplying() : own;
        graph::Appended turn =
            first ? graph::append_again(whole, std::move(part), *first, own, kPublishedOwner)
                  : graph::append(whole, std::move(part), 0, kPublishedOwner);
        steps.push_back(turn.control);
        for (const graph::BufferId buffer : standing) {
            together.push_back(turn.buffers[buffer.index]);
        }
        join_tensors(whole);
        if (!first) {
            first = std::move(turn);
        }
    }
    lower::check_together(machine, whole, together, "multiply");
    whole.control = graph::sequence(std::move(steps));
    division.chunks = passes;
    division.predicted.compute *= passes;
    division.predicted.reduction *= passes;
    return {std::move(whole), std::move(division)};
}

} // namespace tessera::spmm
