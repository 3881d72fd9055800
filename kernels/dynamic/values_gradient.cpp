// SPDX-License-Identifier: MIT
#include "kernels/dynamic/values_gradient.h"

#include "kernels/dynamic/lines.h"
#include "kernels/dynamic/tile_buckets.h"
#include "kernels/dynamic/trip.h"
#include "kernels/dynamic/vertices.h"
#include "kernels/family/product.h"
#include "kernels/graph/copy.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

namespace tessera::dynamic {
namespace {

using program::Role;

constexpr Bytes kSumUnit = 16;

class ValuesEmitter {
public:
    ValuesEmitter(const spec::MachineSpec& machine, const Spmm& product)
        : machine_(machine), layout_(product.layout),
          split_(layout_.split), types_{product.types.data, ElementType::F32},
          matrix_vertex_(matrix_values_vertex_of(layout_.block, types_.data, layout_.n)),
          vertex_(matrix_vertex_ ? *matrix_vertex_ : values_vertex_of(layout_.block, types_.data)),
          x_(layout_, Lines::Of::Columns, product.columns, product.n, types_.data,
             kSumUnit / bytes_of(product.types.partials)),
          dy_(layout_, Lines::Of::Rows, product.rows, product.n, types_.data,
              kSumUnit / bytes_of(product.types.partials)),
          bytes_(layout_, ElementType::F32, kSumUnit), graph_(product.name),
          trip_(graph_, machine, layout_, bytes_, true) {}

    graph::Graph run() {
        graph_.codelets = {vertex_.codelet, "copy", "zero", "dynamic_next",
                           fmt::format("reduce_add_{}", codelets::suffix(types_))};
        add_buffers();
        if (matrix_vertex_) {
            graph_.codelets.push_back(fmt::format("dynamic_transpose_{}", name_of(types_.data)));
        }
        sample_ = graph_.add_compute_set({"sample", Role::Work, kOwner});
        // blocks are transposed before they are sampled
        copies_ = matrix_vertex_
                      ? graph_.add_compute_set({"copy operands", Role::Rearrange, kOwner, "bytes"})
                      : sample_;
        bring();
        zero();
        transpose();
        sample();
        bring_partials();
        travel_and_reduce();
        graph_.control = graph::sequence(std::move(steps_));
        add_tensors();
        return std::move(graph_);
    }

private:
    void add_buffers() {
        using graph::Where;
        const BucketBytes data(layout_, types_.data);
        const Bytes column = layout_.block * bytes_of(types_.data); // read behind the last one
        partials_ = add({.name = "partials", .where = Where::Region1}, bytes_.values_stride);
        metadata_ = add({.name = "home of metadata", .read_beyond = kReadBeyond}, bytes_.metadata);
        values_ = add({.name = "home of values", .read_beyond = kReadBeyond}, data.values);
        std::vector<graph::BufferId> apart{partials_, metadata_};
        if (split_.z > 1) {
            others_ = {add({.name = "metadata", .read_beyond = kReadBeyond, .apart = {partials_}},
                           (split_.z - 1) * bytes_.metadata),
                       add({.name = "other partials", .where = Where::Region1},
                           (split_.z - 1) * bytes_.values_stride)};
            slices_ = add(
                {.name = "slices", .where = Where::Region1, .apart = {partials_, others_.values}},
                (split_.z - 1) * bytes_.values_stride);
            apart.insert(apart.end(), {others_.metadata, others_.values});
        }
        dense_x_ = add({.name = "x", .read_beyond = column, .padded = x_.pads(), .apart = apart},
                       x_.whole_bytes());
        apart.push_back(dense_x_);
        dense_dy_ = add({.name = "dy", .read_beyond = column, .padded = dy_.pads(), .apart = apart},
                        dy_.whole_bytes());
        home_x_ = home_of(x_, dense_x_, "home of x");
        home_dy_ = home_of(dy_, dense_dy_, "home of dy");
        if (Trip::may_travel(split_)) {
            trip_.add_buffers(Where::Region1, {dense_x_, dense_dy_, metadata_, partials_});
        }
        result_ = add({.name = "gradient"},
                      bytes_.values_stride / bytes_of(ElementType::F32) * bytes_of(types_.data));
        scratch_ = add({.name = "scratch"}, kScratchBytes);
    }
    graph::BufferId add(graph::Buffer traits, Bytes bytes) {
        return graph_.add_buffer(std::move(traits), split_.tiles(), bytes);
    }
    /// Where a dense matrix stands between steps: runs of it, or the lines themselves.
    graph::BufferId home_of(const Lines& lines, graph::BufferId dense, const char* name) {
        if (stays(lines)) {
            return dense;
        }
        std::vector<graph::BufferId> apart{dense_x_, dense_dy_};
        if (split_.z > 1) {
            apart.push_back(others_.metadata);
        }
        return graph_.add_buffer({.name = name, .padded = lines.pads(), .apart = std::move(apart)});
    }
    /// A tile's lines are read where they stand between steps.
    [[nodiscard]] bool stays(const Lines& lines) const {
        return lines.sharers() == 1 && !matrix_vertex_;
    }

    void bring() {
        const auto exchange = graph_.add_exchange({"bring operands", Role::Bring, kOwner});
        graph::Bringing bringing{graph_, machine_, exchange, copies_};
        if (!stays(x_)) {
            x_.bring(bringing, home_x_, dense_x_);
        }
        if (!stays(dy_)) {
            dy_.bring(bringing, home_dy_, dense_dy_);
        }
        if (split_.z > 1) {
            bring_along_z(graph_, exchange, layout_, metadata_, others_.metadata, bytes_.metadata,
                          bytes_.metadata);
        }
        graph::run_next(steps_, exchange);
    }

    void zero() {
        const auto set = graph_.add_compute_set({"zero partials", Role::Work, kOwner, "bytes"});
        add_zero(graph_, machine_, set, split_.tiles(), partials_, bytes_.values_stride);
        if (split_.z > 1) {
            add_zero(graph_, machine_, set, split_.tiles(), others_.values,
                     (split_.z - 1) * bytes_.values_stride);
        }
        graph::run_next(steps_, set);
    }

    /// The matrix unit wants the columns of a block next to each other; lines have its rows so.
    void transpose() {
        if (!matrix_vertex_) {
            return;
        }
        graph::run_next(steps_, copies_);
        const auto set = graph_.add_compute_set({"transpose operands", Role::Rearrange, kOwner});
        const std::int64_t square = layout_.block * layout_.block;
        const auto add = [&](TileId at, const Lines& lines, graph::BufferId buffer) {
            graph_.add_vertex(
                set, at,
                fmt::format("dynamic_transpose_block{}_{}", layout_.block, name_of(types_.data)),
                program::VertexKind::MultiWorker,
                {graph::pointer({buffer}, lines.bytes(), graph::Access::Update),
                 graph::word(lines.elements() / square)});
        };
        for (TileId at = 0; at < split_.tiles(); ++at) {
            add(at, x_, dense_x_);
            add(at, dy_, dense_dy_);
        }
        graph::run_next(steps_, set);
    }

    void sample() {
        add_vertices(sample_, {metadata_, partials_}, 1);
        graph::run_next(steps_, sample_);
        if (split_.z > 1) {
            const auto set = graph_.add_compute_set({"sample others", Role::Work, kOwner});
            add_vertices(set, others_, split_.z - 1);
            graph::run_next(steps_, set);
        }
    }

    /// Each tile looks through `count` buckets, and adds to partial gradients of them.
    void add_vertices(graph::ComputeSetId set, const Buckets& buckets, std::int64_t count) {
        for (std::int64_t number = 0; number < split_.tiles(); ++number) {
            const std::int64_t group = layout_.x_of(number) * split_.y + layout_.y_of(number);
            graph_.add_vertex(
                set, static_cast<TileId>(number), vertex_.name, program::VertexKind::Supervisor,
                {graph::pointer({buckets.values}, count * bytes_.values_stride,
                                graph::Access::Update),
                 graph::read({buckets.metadata}, count * bytes_.metadata), graph::word(0),
                 graph::read({dense_x_}, x_.bytes()), graph::word(bytes_.metadata),
                 graph::word(bytes_.values_stride), graph::word(count - 1), graph::word(group + 1),
                 graph::word(layout_.n), graph::write({scratch_}, kScratchBytes),
                 graph::read({dense_dy_}, dy_.bytes())});
        }
    }

    /// What a tile has added for the bucket of another one of its part goes there.
    void bring_partials() {
        if (split_.z == 1) {
            return;
        }
        const auto exchange =
            graph_.add_exchange({"reduce: bring partial gradients", Role::Reduce, kOwner});
        const auto slice = [&](std::int64_t of, std::int64_t at) {
            return (of - (of > at ? 1 : 0)) * bytes_.values_stride;
        };
        for (std::int64_t number = 0; number < split_.tiles(); ++number) {
            const std::int64_t own = layout_.z_of(number);
            for (std::int64_t turn = 1; turn < split_.z; ++turn) {
                const std::int64_t z = (own + turn) % split_.z;
                const auto to = static_cast<TileId>(
                    layout_.bucket_of(layout_.x_of(number), layout_.y_of(number), z));
                graph_.add_message(exchange, static_cast<TileId>(number),
                                   {others_.values, slice(z, own)}, bytes_.values_stride,
                                   {to, {slices_, slice(own, z)}});
            }
        }
        graph::run_next(steps_, exchange);
    }

    void travel_and_reduce() {
        if (!Trip::may_travel(split_)) {
            steps_.push_back(reduce(partials_));
            return;
        }
        steps_.push_back(trip_.run(
            {metadata_, partials_},
            [this](const Buckets& moved) {
                const auto look = graph_.add_compute_set({"sample moved", Role::Work, kOwner});
                add_vertices(look, moved, 1);
                return look;
            },
            [this](graph::BufferId partials) { return reduce(partials); }));
    }
    graph::Step reduce(graph::BufferId partials) {
        const auto set =
            graph_.add_compute_set({"reduce", Role::Reduce, kOwner, "partial gradients"});
        for (TileId at = 0; at < split_.tiles(); ++at) {
            family::add_sum(graph_, machine_, set, at, types_,
                            {{partials},
                             {split_.z > 1 ? slices_ : partials},
                             split_.z - 1,
                             bytes_.values_stride / kSumUnit,
                             {result_}});
        }
        return graph::run(set);
    }

    void add_tensors() {
        graph_.add_tensor(values_tensor(layout_, "a", true, types_.data, values_));
        graph_.add_tensor(dy_.tensor("dy", true, {home_dy_}));
        graph_.add_tensor(x_.tensor("x", true, {home_x_}));
        graph_.add_tensor(values_tensor(layout_, "da", false, types_.data, result_));
        graph_.add_tensor(metadata_tensor(layout_, metadata_));
        if (Trip::may_travel(split_)) {
            graph_.add_tensor(trip_.control());
        }
    }

    const spec::MachineSpec& machine_;
    const Layout& layout_;
    const Split& split_;
    codelets::ProductTypes types_; ///< of the gradient's sums
    std::optional<Vertex> matrix_vertex_;
    Vertex vertex_;
    Lines x_;
    Lines dy_;
    BucketBytes bytes_; ///< of partial gradients
    graph::Graph graph_;
    Trip trip_;
    std::vector<graph::Step> steps_;
    graph::ComputeSetId sample_;
    graph::ComputeSetId copies_; ///< of a tile's own lines
    graph::BufferId partials_;   ///< of the tile's own bucket
    graph::BufferId metadata_;
    graph::BufferId values_;
    Buckets others_; ///< of the other tiles of a tile's part: metadata, partial gradients
    graph::BufferId slices_;
    graph::BufferId dense_x_;
    graph::BufferId dense_dy_;
    graph::BufferId home_x_;
    graph::BufferId home_dy_;
    graph::BufferId result_;
    graph::BufferId scratch_;
};

} // namespace

graph::Graph emit_values_gradient(const spec::MachineSpec& machine, const Spmm& product) {
    return ValuesEmitter(machine, product).run();
}

} // namespace tessera::dynamic
