// SPDX-License-Identifier: MIT
#include "kernels/graph/replicate.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace tessera::graph {
namespace {

std::int64_t elements_of(const Tensor& tensor) {
    return std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1},
                           std::multiplies<>());
}

class Replicator {
public:
    Replicator(Graph part, std::int64_t copies, std::int64_t stride)
        : graph_(std::move(part)), copies_(copies), stride_(stride),
          tables_(static_cast<std::uint32_t>(graph_.tables.size())) {}

    Graph run() {
        for (Buffer& buffer : graph_.buffers) {
            repeat(buffer.held, [this](Held& held, std::int64_t copy) { move(held.tile, copy); });
        }
        repeat(graph_.tables, [this](Table& table, std::int64_t copy) {
            move(table.tile, copy);
            table.fields = fields_in(table.fields, copy);
        });
        for (ComputeSet& set : graph_.compute_sets) {
            repeat(set.vertices, [this](Vertex& vertex, std::int64_t copy) {
                move(vertex.tile, copy);
                vertex.fields = fields_in(vertex.fields, copy);
            });
            if (!set.work.empty()) {
                set.work.resize(static_cast<std::size_t>(stride_));
                repeat(set.work, [](std::int64_t&, std::int64_t) {});
            }
            if (!set.items.empty()) {
                set.items.resize(static_cast<std::size_t>(stride_));
                repeat(set.items, [](program::WorkItem&, std::int64_t) {});
            }
        }
        for (Exchange& exchange : graph_.exchanges) {
            const auto receivers = static_cast<std::uint32_t>(exchange.to.size());
            repeat(exchange.messages, [&](Message& message, std::int64_t copy) {
                move(message.from.tile, copy);
                message.first_to += static_cast<std::uint32_t>(copy) * receivers;
            });
            repeat(exchange.to, [this](TilePlace& to, std::int64_t copy) { move(to.tile, copy); });
        }
        repeat_streams();
        for (Tensor& tensor : graph_.tensors) {
            const std::int64_t elements = elements_of(tensor);
            repeat(tensor.pieces, [&](Piece& piece, std::int64_t copy) {
                move(piece.tile, copy);
                piece.host_offset += copy * elements;
            });
            tensor.shape.insert(tensor.shape.begin(), copies_);
        }
        return std::move(graph_);
    }

private:
    /// All of the part, then all of its next copy.
    template <class Of, class Change> void repeat(std::vector<Of>& all, const Change& change) {
        const std::size_t one = all.size();
        all.reserve(one * static_cast<std::size_t>(copies_));
        for (std::int64_t copy = 1; copy < copies_; ++copy) {
            for (std::size_t i = 0; i < one; ++i) {
                Of made = all[i];
                change(made, copy);
                all.push_back(std::move(made));
            }
        }
    }
    /// A row of a remote buffer has the copies' rows one behind the other.
    void repeat_streams() {
        for (StreamCopy& stream : graph_.stream_copies) {
            if (!stream.rows_from.empty()) {
                throw NotModelled(fmt::format("stream copy {}: words name its rows: not modelled: "
                                              "several of it at once; see docs/kernels.md",
                                              stream.name));
            }
            const Bytes row_bytes = graph_.remote_buffers.at(stream.remote_buffer).row_bytes;
            std::vector<StreamPiece> pieces;
            for (std::int64_t copy = 0; copy < copies_; ++copy) {
                for (const StreamPiece& piece : stream.pieces) {
                    add_piece(piece, copy, row_bytes, pieces);
                }
            }
            stream.pieces = std::move(pieces);
        }
        for (program::RemoteBuffer& buffer : graph_.remote_buffers) {
            buffer.row_bytes *= copies_;
        }
        repeat(graph_.io_tiles, [this](TileId& tile, std::int64_t copy) { move(tile, copy); });
    }
    /// Adds the piece of a copy, cut where its rows end.
    void add_piece(const StreamPiece& piece, std::int64_t copy, Bytes row_bytes,
                   std::vector<StreamPiece>& pieces) const {
        for (Bytes done = 0; done < piece.bytes;) {
            const Bytes row = (piece.offset + done) / row_bytes;
            const Bytes in_row = (piece.offset + done) % row_bytes;
            StreamPiece part = piece;
            move(part.tile, copy);
            part.place = piece.place + done;
            part.bytes = std::min(piece.bytes - done, row_bytes - in_row);
            part.offset = (row * copies_ + copy) * row_bytes + in_row;
            done += part.bytes;
            pieces.push_back(part);
        }
    }
    void move(TileId& tile, std::int64_t copy) const {
        tile += static_cast<TileId>(copy * stride_);
    }
    /// Places say nothing of tiles, so copies share fields, but for those that name tables.
    Fields fields_in(Fields fields, std::int64_t copy) {
        const auto of_part = graph_.fields_of(fields);
        if (std::none_of(of_part.begin(), of_part.end(), is_table)) {
            return fields;
        }
        const Fields made{static_cast<std::uint32_t>(graph_.fields.size()), fields.count};
        for (std::uint32_t i = 0; i < fields.count; ++i) {
            Field field = graph_.fields[fields.first + i];
            field.word += is_table(field) ? static_cast<std::uint32_t>(copy) * tables_ : 0;
            graph_.fields.push_back(field);
        }
        return made;
    }
    static bool is_table(const Field& field) { return field.kind == Field::Kind::Table; }

    Graph graph_;
    std::int64_t copies_;
    std::int64_t stride_;
    std::uint32_t tables_; ///< of the part
};

} // namespace

Graph replicated(Graph part, std::int64_t copies, std::int64_t stride) {
    return Replicator(std::move(part), copies, stride).run();
}

void join(Tensor& first, Tensor behind) {
    const std::int64_t before = elements_of(first);
    for (Piece& piece : behind.pieces) {
        piece.host_offset += before;
        first.pieces.push_back(std::move(piece));
    }
    first.shape.front() += behind.shape.front();
}

} // namespace tessera::graph
