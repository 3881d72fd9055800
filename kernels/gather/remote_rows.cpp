// SPDX-License-Identifier: MIT
#include "kernels/gather/remote_rows.h"

#include "kernels/gather/parts.h"
#include "kernels/graph/graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace tessera::gather {
namespace {

using graph::TensorId;

/// Adds one stream copy after the other to a graph.
class RowReader {
public:
    RowReader(graph::Graph& graph, const family::Site& site, const RemoteRows& rows)
        : graph_(graph), site_(site), rows_(rows),
          row_bytes_(rows.output.shape.back() * bytes_of(rows.output.type)),
          all_rows_(rows.groups * rows.numbers), grain_(grain()),
          held_(static_cast<std::size_t>(site.machine.chip.tiles)), words_(held_.size()),
          row_buffer_(graph.add_buffer({.name = "rows"})),
          word_buffer_(graph.add_buffer({.name = "row numbers"})), output_{.name = "y",
                                                                           .type = rows.output.type,
                                                                           .shape =
                                                                               rows.output.shape} {}

    family::Emitted read(TensorId ids, const family::TensorType& ids_type) {
        graph::Tensor words{.name = "row numbers", .type = ids_type.type, .shape = ids_type.shape};
        const std::int64_t most =
            std::max<std::int64_t>(site_.machine.streaming.copy_limit_bytes / row_bytes_, 1);
        const std::int64_t copies = largest(all_rows_, most);
        std::vector<graph::Step> reads;
        for (std::int64_t copy = 0; copy < copies; ++copy) {
            reads.push_back(add_copy(part_of(all_rows_, copies, copy), words));
        }
        for (std::size_t i = 0; i < held_.size(); ++i) {
            graph_.hold(row_buffer_, tile(i), held_[i]);
            graph_.hold(word_buffer_, tile(i), words_[i]);
        }
        std::vector<graph::Step> steps{bring_to(graph_, site_, ids, std::move(words))};
        std::ranges::move(reads, std::back_inserter(steps));
        const TensorId y = graph_.add_tensor(std::move(output_));
        return {{TensorId{}, ids}, {y}, graph::sequence(std::move(steps))};
    }

private:
    [[nodiscard]] TileId tile(std::size_t i) const {
        return site_.first_tile + static_cast<TileId>(i);
    }
    /// Whole rows on a tile, unless they are long: then whole requests.
    [[nodiscard]] Bytes grain() const {
        constexpr Bytes kLong = 1024;
        const Bytes request =
            (site_.machine.streaming.request_bytes + kUnitBytes - 1) / kUnitBytes * kUnitBytes;
        return row_bytes_ % kUnitBytes == 0 && row_bytes_ <= kLong ? row_bytes_ : request;
    }

    /// Rows [rows.first, rows.first + rows.count) of the output in even runs over the tiles, behind
    /// those of the copies before.
    graph::Step add_copy(Part rows, graph::Tensor& words) {
        graph::StreamCopy copy{.name = site_.owner,
                               .owner = site_.owner,
                               .remote_buffer = site_.remote.value(),
                               .rows = rows.count};
        const Bytes bytes = rows.count * row_bytes_;
        const std::int64_t grains = largest(bytes, grain_);
        const auto tiles = static_cast<std::int64_t>(held_.size());
        for (std::size_t i = 0; i < held_.size(); ++i) {
            const Part run = part_of(grains, tiles, static_cast<std::int64_t>(i));
            const Bytes begin = run.first * grain_;
            const Bytes end = std::min((run.first + run.count) * grain_, bytes);
            if (begin < end) {
                add_run(i, rows, begin, end, copy, words);
            }
        }
        return graph::stream(graph::Step::Kind::StreamCopy, graph_.add_stream_copy(std::move(copy)),
                             0);
    }

    /// Bytes [begin, end) of the copy's rows come to a tile, with the numbers of their rows.
    void add_run(std::size_t i, Part rows, Bytes begin, Bytes end, graph::StreamCopy& copy,
                 graph::Tensor& words) {
        const Bytes element = bytes_of(output_.type);
        const graph::Place place{row_buffer_, held_[i]};
        output_.pieces.push_back(graph::run_of(tile(i), place,
                                               (rows.first * row_bytes_ + begin) / element,
                                               (end - begin) / element, output_.type));
        const std::int64_t first = begin / row_bytes_;
        const std::int64_t last = (end - 1) / row_bytes_;
        for (std::int64_t row = first; row <= last; ++row) {
            const Bytes from = std::max(begin, row * row_bytes_);
            const Bytes to = std::min(end, (row + 1) * row_bytes_);
            copy.pieces.push_back({tile(i), place + (from - begin), to - from, from});
        }
        words.pieces.push_back(graph::run_of(tile(i), {word_buffer_, words_[i]}, rows.first + first,
                                             last - first + 1, words.type));
        for (std::int64_t row = first; row <= last;) {
            const std::int64_t group = (rows.first + row) / rows_.numbers;
            const std::int64_t behind =
                std::min(last + 1, (group + 1) * rows_.numbers - rows.first);
            copy.rows_from.push_back({tile(i),
                                      {word_buffer_, words_[i]},
                                      row,
                                      behind - row,
                                      group * rows_.table_rows,
                                      rows_.table_rows});
            words_[i] += (behind - row) * kIdBytes;
            row = behind;
        }
        held_[i] += (end - begin + kUnitBytes - 1) / kUnitBytes * kUnitBytes;
    }

    graph::Graph& graph_;
    const family::Site& site_;
    const RemoteRows& rows_;
    Bytes row_bytes_;
    std::int64_t all_rows_;
    Bytes grain_;
    std::vector<Bytes> held_;  ///< by tile of the site: of rows, so far
    std::vector<Bytes> words_; ///< the same, of row numbers
    graph::BufferId row_buffer_;
    graph::BufferId word_buffer_;
    graph::Tensor output_;
};

} // namespace

family::Emitted read_remote_rows(graph::Graph& graph, const family::Site& site,
                                 const RemoteRows& rows, TensorId ids,
                                 const family::TensorType& ids_type) {
    return RowReader(graph, site, rows).read(ids, ids_type);
}

} // namespace tessera::gather
