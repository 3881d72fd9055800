// SPDX-License-Identifier: MIT
#include "base/bytes.h"
#include "base/error.h"
#include "kernels/codelets/static_elementwise_cost.h"
#include "kernels/graph/halves.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/sparse/published/emitter.h"
#include "models/spec/matrix_unit.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tessera::sparse {
namespace {

/// Of the vertices of FP16 blocks of 16 without the supervisor's waits (issues:
/// sparse_dense_block_half.S, sparse_dense_block_half_float.S), of others as of ours, which differ
/// in a row's first block alone; with one set of matrix units nothing is known.
Cycles block_cycles(const PublishedLayout& layout, const TileBlocks& mine) {
    const spec::MachineSpec& machine = layout.machine;
    const PublishedTypes& types = layout.types;
    if (spec::matrix_unit(machine).sets == 1 && types.data != ElementType::F16) {
        return 0;
    }
    const bool half = types.partial == PublishedTypes::kHalf;
    const std::int64_t columns = layout.columns_on(mine.part);
    if (layout.block() == 16 && types.data == ElementType::F16) {
        const std::int64_t own = ceil_div(columns, machine.tile.workers);
        const std::int64_t loads = half ? 64 : 2 * 32;
        const std::int64_t issues = half ? 4 * own + 17 : 2 * (4 * own + 20);
        return std::ssize(mine.blocks) * (loads + machine.tile.round_cycles() * issues);
    }
    plan::StubTimeline stub(machine, true);
    stub.blocks(layout.block(), {types.data, half ? ElementType::F16 : ElementType::F32}, columns,
                mine.row_blocks);
    return stub.finish();
}

Bytes meta_bytes(const PublishedLayout& layout, const TileBlocks& mine) {
    constexpr std::int64_t kHead = 4;   ///< of each worker
    constexpr std::int64_t kBehind = 4; ///< one more of each is read
    return 2 * (kHead * layout.machine.tile.workers + std::ssize(mine.rows) +
                std::ssize(mine.blocks) + kBehind);
}

/// Behind the last row of each worker. Rows go to a worker until it has its share of the non-zeros.
std::vector<std::size_t> worker_ends(const TileBlocks& mine, std::size_t workers) {
    std::vector<std::size_t> ends;
    std::size_t row = 0;
    std::int64_t before = 0; // non-zeros of the rows so far
    const std::int64_t all = std::ssize(mine.blocks);
    for (std::size_t worker = 0; worker < workers; ++worker) {
        const std::int64_t fair =
            all * static_cast<std::int64_t>(worker + 1) / static_cast<std::int64_t>(workers);
        if (mine.rows.size() <= workers) {
            row = std::min(worker + 1, mine.rows.size());
        } else {
            while (row < mine.rows.size() && before < fair) {
                before += mine.row_blocks[row++];
            }
        }
        ends.push_back(worker + 1 == workers ? mine.rows.size() : row);
    }
    return ends;
}

/// Of the vertex of single non-zeros, whose workers have rows up to `ends`; and its largest row.
Cycles element_cycles(const PublishedLayout& layout, const TileBlocks& mine,
                      const std::vector<std::size_t>& ends, program::WorkItem& largest) {
    const PublishedTypes& types = layout.types;
    std::vector<std::int64_t> issues;
    std::size_t row = 0;
    for (const std::size_t end : ends) {
        const auto worker = static_cast<int>(issues.size());
        std::int64_t own =
            row < end ? codelets::kStaticElementwiseFrame : codelets::kStaticElementwiseNothing;
        for (; row < end; ++row) {
            if (mine.row_blocks[row] > largest.amount) {
                largest = {mine.rows[row], mine.row_blocks[row], worker};
            }
            own += codelets::static_elementwise_row(
                types.data, types.partial == PublishedTypes::kHalf, mine.row_blocks[row],
                layout.columns_on(mine.part));
        }
        issues.push_back(own);
    }
    plan::StubTimeline stub(layout.machine, false);
    stub.multi_worker(issues);
    return stub.finish();
}

/// For each worker values and words before its own, first row, rows; then for each the counts
/// less one of its rows and the offsets of its non-zeros.
program::SharedBytes element_meta(const PublishedLayout& layout, const TileBlocks& mine, Bytes line,
                                  const std::vector<std::size_t>& ends) {
    const std::size_t workers = ends.size();
    std::vector<std::uint16_t> heads;
    std::vector<std::uint16_t> lists;
    const std::size_t head = 4 * workers;
    std::size_t first = 0;
    std::size_t block = 0;
    const auto half = [](auto value) {
        return graph::half(static_cast<std::int64_t>(value), "rows, non-zeros and their columns");
    };
    for (const std::size_t end : ends) {
        heads.insert(heads.end(),
                     {half(block), half(head + lists.size()), half(first), half(end - first)});
        std::size_t last = block;
        for (; first < end; ++first) {
            lists.push_back(half(plan::counted_rounds(layout.machine, mine.row_blocks[first] - 1,
                                                      "non-zeros of a row")));
            last += static_cast<std::size_t>(mine.row_blocks[first]);
        }
        for (; block < last; ++block) {
            lists.push_back(half(mine.slots[block] * line));
        }
    }
    heads.insert(heads.end(), lists.begin(), lists.end());
    heads.insert(heads.end(), 4, 0); // one more of each is read
    TESSERA_ASSERT(2 * std::ssize(heads) == meta_bytes(layout, mine));
    return shared_bytes(heads);
}

} // namespace

graph::Field PublishedEmitter::block_lists(TileId tile, Bytes line) {
    const TileBlocks& mine = layout_.tiles[tile];
    std::vector<graph::Field> words;
    auto slot = mine.slots.begin();
    for (const std::int32_t blocks : mine.row_blocks) {
        words.push_back(graph::word(blocks - 1));
        for (std::int32_t i = 0; i < blocks; ++i) {
            words.push_back(graph::read({buffers_.b, *slot++ * line}, line));
        }
    }
    words.insert(words.end(), 2, graph::word(0)); // that the codelet reads behind them
    return graph::table(graph_.add_table(tile, words));
}

graph::Field PublishedEmitter::worklists(TileId tile, std::int64_t columns) {
    const spec::MachineSpec& machine = layout_.machine;
    const std::int64_t workers = machine.tile.workers;
    const std::int64_t share = plan::counted_rounds(machine, ceil_div(columns, workers), "columns");
    std::vector<graph::Field> words;
    for (std::int64_t worker = 0; worker < workers; ++worker) {
        const std::int64_t first = std::min(columns, worker * share);
        const std::int64_t last = std::min(columns, first + share);
        words.push_back(graph::halves(first, last - first, "columns"));
    }
    return graph::table(graph_.add_table(tile, words));
}

/// Returns what it is expected to take, or 0.
Cycles PublishedEmitter::add_vertex(TileId tile) {
    const TileBlocks& mine = layout_.tiles[tile];
    graph_.add_work(multiply_, tile, std::ssize(mine.blocks));
    const std::string& codelet = layout_.types.multiply;
    const std::int64_t columns = layout_.columns_on(mine.part);
    const Bytes line = layout_.line_bytes(mine.part);
    const Bytes partial_line = layout_.partial_bytes(mine.part);
    const graph::Field values = graph::read({buffers_.values, layout_.values_offset(mine)},
                                            std::ssize(mine.blocks) * layout_.block_bytes());
    const Bytes out_bytes = std::ssize(mine.rows) * partial_line;
    if (layout_.block() == 1) {
        const Bytes bytes = meta_bytes(layout_, mine);
        const std::vector<std::size_t> ends =
            worker_ends(mine, static_cast<std::size_t>(layout_.machine.tile.workers));
        program::WorkItem largest;
        const Cycles cycles = element_cycles(layout_, mine, ends, largest);
        graph_.add_item(multiply_, tile, largest);
        if (columns_.first == 0) { // it stays
            graph_.hold(buffers_.meta, tile, element_meta(layout_, mine, line, ends));
        }
        graph_.add_vertex(
            multiply_, tile, codelet, program::VertexKind::MultiWorker,
            {graph::write({buffers_.out}, out_bytes), values, graph::read({buffers_.meta}, bytes),
             graph::read({buffers_.b}, std::ssize(mine.columns) * line), graph::word(columns)});
        return cycles;
    }
    graph_.add_vertex(multiply_, tile, codelet, program::VertexKind::Supervisor,
                      {graph::pointer({buffers_.out}, out_bytes, graph::Access::Update), values,
                       block_lists(tile, line), worklists(tile, columns), graph::word(partial_line),
                       graph::word(std::ssize(mine.rows) - 1)});
    return block_cycles(layout_, mine);
}

void PublishedEmitter::add_multiply(const graph::Bringing& bring) {
    std::vector<Cycles> vertices(layout_.tiles.size());
    for (TileId tile = 0; tile < layout_.tiles.size(); ++tile) {
        if (!layout_.tiles[tile].blocks.empty()) {
            vertices[tile] = add_vertex(tile);
        }
    }
    if (std::ranges::any_of(vertices, [](Cycles cycles) { return cycles > 0; })) {
        emitted_.multiply = slowest_of(bring, std::move(vertices));
    }
}

graph::ComputeSetId PublishedEmitter::add_zeros() {
    const auto zero =
        graph_.add_compute_set({"zero", program::Role::Work, kPublishedOwner, "bytes"});
    const spec::MachineSpec& machine = layout_.machine;
    const std::int64_t most = machine.tile.workers * plan::most_shared_rounds(machine);
    for (TileId tile = 0; tile < layout_.tiles.size(); ++tile) {
        const TileBlocks& mine = layout_.tiles[tile];
        const Bytes bytes = std::ssize(mine.rows) * layout_.partial_bytes(mine.part);
        if (bytes > 0) {
            graph_.add_work(zero, tile, bytes);
            plan::for_cuts(bytes / kWord, most, [&](std::int64_t first, std::int64_t words) {
                graph_.add_vertex(zero, tile, "Zero1D", program::VertexKind::MultiWorker,
                                  {graph::write({buffers_.out, first * kWord}, words * kWord),
                                   graph::word(words)});
            });
        }
    }
    return zero;
}

} // namespace tessera::sparse
