// SPDX-License-Identifier: MIT
#include "kernels/dynamic/tile_buckets.h"

#include "base/ceil_div.h"
#include "kernels/dynamic/vertices.h"
#include "kernels/plan/repeat_limit.h"

namespace tessera::dynamic {

BucketBytes::BucketBytes(const Layout& layout, ElementType type, Bytes unit)
    : metadata(ceil_div(layout.bucket.metadata * 2, Bytes{8}) * 8),
      values(layout.bucket.values * bytes_of(type)), values_stride(ceil_div(values, unit) * unit) {}

Buckets add_home(graph::Graph& graph, const Layout& layout, const BucketBytes& bytes) {
    const std::int64_t tiles = layout.buckets();
    return {graph.add_buffer({.name = "home of metadata", .read_beyond = kReadBeyond}, tiles,
                             bytes.metadata),
            graph.add_buffer({.name = "home of values", .read_beyond = kReadBeyond}, tiles,
                             bytes.values)};
}

void bring_along_z(graph::Graph& graph, graph::ExchangeId exchange, const Layout& layout,
                   graph::BufferId from, graph::BufferId to, Bytes stride, Bytes bytes) {
    std::vector<graph::Receiver> receivers;
    for (std::int64_t number = 0; number < layout.buckets(); ++number) {
        receivers.clear();
        const std::int64_t own = layout.z_of(number);
        for (std::int64_t z = 0; z < layout.split.z; ++z) {
            const auto at =
                static_cast<TileId>(layout.bucket_of(layout.x_of(number), layout.y_of(number), z));
            if (z != own) {
                receivers.push_back({at, {to, (own - (own > z ? 1 : 0)) * stride}});
            }
        }
        graph.add_message(exchange, static_cast<TileId>(number), {from}, bytes, receivers);
    }
}

void add_zero(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
              std::int64_t tiles, graph::BufferId buffer, Bytes bytes) {
    const std::int64_t workers = machine.tile.workers;
    const std::int64_t words = bytes / 8;
    static_cast<void>(plan::counted_rounds(machine, ceil_div(words, workers), "partial results"));
    for (TileId at = 0; at < tiles; ++at) {
        graph.add_work(set, at, bytes);
        graph.add_vertex(set, at, "zero64", program::VertexKind::MultiWorker,
                         {graph::write({buffer}, bytes), graph::word(words / workers),
                          graph::word(words % workers)});
    }
}

graph::Tensor values_tensor(const Layout& layout, const char* name, bool is_given, ElementType type,
                            graph::BufferId buffer) {
    std::vector<std::int64_t> shape{layout.buckets() * layout.bucket.blocks, layout.block,
                                    layout.block};
    graph::Tensor values = is_given ? graph::given_tensor(name, type, std::move(shape))
                                    : graph::wanted_tensor(name, type, std::move(shape));
    for (std::int64_t number = 0; number < layout.buckets(); ++number) {
        values.pieces.push_back(graph::run_of(static_cast<TileId>(number), {buffer},
                                              number * layout.bucket.values, layout.bucket.values,
                                              type));
    }
    return values;
}

graph::Tensor metadata_tensor(const Layout& layout, graph::BufferId buffer) {
    graph::Tensor metadata = graph::given_tensor("metadata", ElementType::U16,
                                                 {layout.buckets() * layout.bucket.metadata});
    metadata.known = true;
    for (std::int64_t number = 0; number < layout.buckets(); ++number) {
        metadata.pieces.push_back(graph::run_of(static_cast<TileId>(number), {buffer},
                                                number * layout.bucket.metadata,
                                                layout.bucket.metadata, ElementType::U16));
    }
    return metadata;
}

} // namespace tessera::dynamic
