// SPDX-License-Identifier: MIT
#include "kernels/dynamic/emitter.h"

#include "base/range.h"
#include "kernels/dynamic/lines.h"
#include "kernels/dynamic/tile_buckets.h"
#include "kernels/dynamic/trip.h"
#include "kernels/dynamic/vertices.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/halves.h"
#include "kernels/plan/repeat_limit.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace tessera::dynamic {
namespace {

using program::Role;

constexpr Bytes kSumUnit = 16;

/// Parts of the contraction.
std::int64_t summed_parts(const Spmm& product, Pass pass) {
    const Split& split = product.layout.split;
    return pass == Pass::Forward ? split.y : split.x;
}
bool sums_by_list(const Spmm& product, Pass pass) {
    return product.is_published && summed_parts(product, pass) > 1;
}
bool turns_blocks(const Spmm& product, Pass pass) {
    return pass == Pass::InputGradient && product.layout.block > 1;
}

/// Sources that its vertices need.
std::vector<std::string> codelets_of(const Spmm& product, Pass pass) {
    std::vector<std::string> names{
        vertex_of(product.layout.block, product.types, pass).codelet, "copy", "zero",
        "dynamic_next",
        sums_by_list(product, pass)
            ? std::string("published/reduce_add")
            : fmt::format("reduce_add_{}", codelets::suffix(product.types))};
    if (turns_blocks(product, pass)) {
        names.push_back(fmt::format("dynamic_transpose_{}", name_of(product.types.data)));
    }
    return names;
}

/// How it is cut, and what the planner expects of its compute sets.
family::Division division_of(const spec::MachineSpec& machine, const Spmm& product, Pass pass) {
    const Phases& phases =
        pass == Pass::Forward ? product.plan.forward : product.plan.input_gradient;
    const Split& split = product.layout.split;
    family::Division division;
    division.parts_m = split.x;
    division.parts_k = split.y;
    division.parts_n = split.z;
    division.tiles_busy = split.tiles();
    const Cycles step = machine.control.step_cycles;
    division.predicted.compute = 2 * step + phases.transpose + phases.zero + phases.compute;
    if (phases.reduce > 0) {
        division.predicted.add_sums(step + phases.reduce);
    }
    return division;
}

class Emitter {
public:
    Emitter(const spec::MachineSpec& machine, const Spmm& product, Pass pass)
        : machine_(machine), product_(product), layout_(product.layout), split_(layout_.split),
          vertex_(vertex_of(layout_.block, product.types, pass)), pass_(pass),
          in_(lines(pass == Pass::Forward ? Lines::Of::Columns : Lines::Of::Rows)),
          out_(lines(pass == Pass::Forward ? Lines::Of::Rows : Lines::Of::Columns)),
          bytes_(layout_, product.types.data), planned_{graph::Graph(product.name), {}},
          graph_(planned_.graph), trip_(graph_, machine, layout_, bytes_, false) {}

    family::Planned run() {
        graph_.codelets = codelets_of(product_, pass_);
        add_buffers();
        transpose();
        bring();
        zero();
        multiply();
        travel();
        reduce();
        graph_.control = graph::sequence(std::move(steps_));
        add_tensors();
        planned_.division = division_of(machine_, product_, pass_);
        return std::move(planned_);
    }

private:
    [[nodiscard]] std::int64_t tiles() const { return split_.tiles(); }
    [[nodiscard]] Bytes data_bytes() const { return bytes_of(product_.types.data); }
    [[nodiscard]] Bytes partial_bytes() const { return bytes_of(product_.types.partials); }
    [[nodiscard]] Bytes partials_bytes() const { return out_.elements() * partial_bytes(); }

    [[nodiscard]] Lines lines(Lines::Of of) const {
        return {layout_,
                of,
                of == Lines::Of::Columns ? product_.columns : product_.rows,
                product_.n,
                product_.types.data,
                kSumUnit / partial_bytes()};
    }

    void add_buffers() {
        using graph::Where;
        partials_ = add({.name = "partials", .where = Where::Region1},
                        out_.whole_elements() * partial_bytes());
        b_ = add({.name = "b", .padded = in_.pads(), .apart = {partials_}}, in_.whole_bytes());
        home_.values =
            add({.name = "home of values", .read_beyond = kReadBeyond, .apart = {b_, partials_}},
                bytes_.values);
        home_.metadata =
            add({.name = "home of metadata", .read_beyond = kReadBeyond, .apart = {b_}},
                bytes_.metadata);
        own_ = home_;
        if (turns()) {
            own_.values = add(
                {.name = "transposed values", .read_beyond = kReadBeyond, .apart = {b_, partials_}},
                bytes_.values);
        }
        if (split_.z > 1) {
            const std::vector<graph::BufferId> apart{b_, partials_, own_.values, own_.metadata};
            others_ = {add({.name = "metadata", .read_beyond = kReadBeyond, .apart = apart},
                           (split_.z - 1) * bytes_.metadata),
                       add({.name = "values", .read_beyond = kReadBeyond, .apart = apart},
                           (split_.z - 1) * bytes_.values_stride)};
        }
        if (ins_move()) {
            home_b_ = add({.name = "home of b",
                           .padded = in_.pads(),
                           .apart = split_.z > 1 ? std::vector{b_, others_.metadata, others_.values}
                                                 : std::vector{b_}},
                          0);
        }
        if (Trip::may_travel(split_)) {
            trip_.add_buffers(Where::Any, {b_, own_.metadata, own_.values});
        }
        scratch_ = add({.name = "scratch"}, kScratchBytes);
    }
    graph::BufferId add(graph::Buffer traits, Bytes bytes) {
        const bool is_everywhere = bytes > 0;
        return is_everywhere ? graph_.add_buffer(std::move(traits), tiles(), bytes)
                             : graph_.add_buffer(std::move(traits));
    }
    [[nodiscard]] bool ins_move() const { return in_.sharers() > 1; }
    /// Parts of the contraction.
    [[nodiscard]] std::int64_t summed() const { return out_.sharers(); }

    /// Blocks of the gradient of the input are transposed, in a copy: other passes read them, too.
    void transpose() {
        if (!turns()) {
            return;
        }
        const auto copy = graph_.add_compute_set({"copy values", Role::Rearrange, kOwner, "bytes"});
        const auto turn = graph_.add_compute_set({"transpose blocks", Role::Rearrange, kOwner});
        for (TileId at = 0; at < tiles(); ++at) {
            graph_.add_work(copy, at, bytes_.values);
            graph::copy_on_tile(graph_, machine_, copy, at, {home_.values}, {own_.values},
                                bytes_.values);
            graph_.add_vertex(turn, at,
                              fmt::format("dynamic_transpose_block{}_{}", layout_.block,
                                          name_of(product_.types.data)),
                              program::VertexKind::MultiWorker,
                              {graph::pointer({own_.values}, bytes_.values, graph::Access::Update),
                               graph::word(layout_.bucket.blocks)});
        }
        graph::run_next(steps_, copy, turn);
    }
    [[nodiscard]] bool turns() const { return turns_blocks(product_, pass_); }

    void bring() {
        const auto exchange = graph_.add_exchange({"bring operands", Role::Bring, kOwner});
        multiply_ = graph_.add_compute_set({"multiply", Role::Work, kOwner});
        graph::Bringing bringing{graph_, machine_, exchange, multiply_};
        if (ins_move()) {
            in_.bring(bringing, home_b_, b_);
        }
        if (split_.z > 1) { // which have those before their own first
            bring_along_z(graph_, exchange, layout_, own_.metadata, others_.metadata,
                          bytes_.metadata, bytes_.metadata);
            bring_along_z(graph_, exchange, layout_, own_.values, others_.values,
                          bytes_.values_stride, bytes_.values);
        }
        graph::run_next(steps_, exchange);
    }

    void zero() {
        const auto set = graph_.add_compute_set({"zero partials", Role::Work, kOwner, "bytes"});
        add_zero(graph_, machine_, set, tiles(), partials_,
                 out_.whole_elements() * partial_bytes());
        graph::run_next(steps_, set);
    }

    void multiply() {
        add_vertices(multiply_, own_, 1);
        graph::run_next(steps_, multiply_);
        if (split_.z > 1) {
            const auto set = graph_.add_compute_set({"multiply others", Role::Work, kOwner});
            add_vertices(set, others_, split_.z - 1);
            graph::run_next(steps_, set);
        }
    }

    /// Each tile looks through `count` buckets.
    void add_vertices(graph::ComputeSetId set, const Buckets& buckets, std::int64_t count) {
        const Bytes partials = partials_bytes();
        for (std::int64_t number = 0; number < tiles(); ++number) {
            const std::int64_t group =
                layout_.x_of(number) * split_.y + layout_.y_of(number); // of sub-groups
            std::vector<graph::Field> state{
                graph::pointer({partials_}, partials, graph::Access::Update),
                graph::read({buckets.metadata}, count * bytes_.metadata),
                graph::read({buckets.values}, bytes_.values),
                graph::read({b_}, in_.bytes()),
                graph::word(bytes_.metadata),
                graph::word(bytes_.values_stride),
                graph::word(count - 1),
                graph::word(group + 1),
                graph::word(layout_.n),
                graph::write({scratch_}, kScratchBytes)};
            for (std::int64_t other = 1; other < count; ++other) {
                state.push_back(graph::use({buckets.values, other * bytes_.values_stride},
                                           bytes_.values, graph::Access::Read));
            }
            graph_.add_vertex(set, static_cast<TileId>(number), vertex_.name,
                              program::VertexKind::Supervisor, state);
        }
    }

    void travel() {
        if (Trip::may_travel(split_)) {
            steps_.push_back(trip_.run(own_, [this](const Buckets& moved) {
                const auto look = graph_.add_compute_set({"multiply moved", Role::Work, kOwner});
                add_vertices(look, moved, 1);
                return look;
            }));
        }
    }

    /// Each of the tiles with partial results of the same elements sums some of them.
    void reduce() {
        if (summed() == 1 && product_.types.sums_are_results()) {
            return;
        }
        const bool sums = summed() > 1;
        const Range longest = out_.run_of(0);
        result_ = add({.name = "result"}, longest.size() * data_bytes());
        const auto exchange =
            graph_.add_exchange({"reduce: bring partial results", Role::Reduce, kOwner});
        const auto set =
            graph_.add_compute_set({"reduce", Role::Reduce, kOwner, "partial results"});
        if (sums) {
            slices_ = add({.name = "slices", .where = graph::Where::Region1, .apart = {partials_}},
                          (summed() - 1) * longest.size() * partial_bytes());
        }
        for (std::int64_t own = 0; own < summed(); ++own) {
            const Range run = out_.run_of(own);
            const Bytes bytes = run.size() * partial_bytes();
            for (std::int64_t out = 0; out < out_.parts() && bytes > 0; ++out) {
                for (std::int64_t z = 0; z < split_.z; ++z) {
                    const TileId at = out_.tile(out, own, z);
                    for (std::int64_t turn = 1; turn < summed(); ++turn) {
                        graph_.add_message(exchange, out_.tile(out, (own + turn) % summed(), z),
                                           {partials_, run.first * partial_bytes()}, bytes,
                                           {at, {slices_, (turn - 1) * bytes}});
                    }
                    const graph::Place own_place{partials_, run.first * partial_bytes()};
                    if (sums_by_list()) {
                        add_sum_of_list(set, at, own_place, run.size());
                        continue;
                    }
                    family::add_sum(graph_, machine_, set, at, product_.types,
                                    {own_place,
                                     {sums ? slices_ : partials_},
                                     summed() - 1,
                                     bytes / kSumUnit,
                                     {result_}});
                }
            }
        }
        if (sums) {
            graph::run_next(steps_, exchange);
        }
        graph::run_next(steps_, set);
    }

    [[nodiscard]] bool sums_by_list() const { return dynamic::sums_by_list(product_, pass_); }
    void add_sum_of_list(graph::ComputeSetId set, TileId at, graph::Place own,
                         std::int64_t elements) {
        const Bytes bytes = elements * partial_bytes();
        std::vector<graph::Field> pointers{graph::read(own, bytes)};
        for (std::int64_t slice = 0; slice < summed() - 1; ++slice) {
            pointers.push_back(graph::read({slices_, slice * bytes}, bytes));
        }
        pointers.push_back(pointers.back()); // the one behind the last is read too
        const auto word_of = [](ElementType type) {
            return type == ElementType::F16 ? "half" : "float";
        };
        graph_.add_work(set, at, bytes / kSumUnit * summed());
        graph_.add_vertex(
            set, at,
            fmt::format("ReduceAdd_{}_{}", word_of(product_.types.partials),
                        word_of(product_.types.data)),
            program::VertexKind::MultiWorker,
            {graph::write({result_}, elements * data_bytes()),
             graph::table(graph_.add_table(at, pointers)),
             graph::halves(plan::counted_rounds(machine_, summed(), "partial results"), elements,
                           "sums")});
    }

    void add_tensors() {
        const bool is_reduced = summed() > 1 || !product_.types.sums_are_results();
        graph_.add_tensor(values_tensor(layout_, "a", true, product_.types.data, home_.values));
        graph_.add_tensor(in_.tensor("b", true, {ins_move() ? home_b_ : b_}));
        graph_.add_tensor(out_.tensor("c", false, {is_reduced ? result_ : partials_}));
        graph_.add_tensor(metadata_tensor(layout_, home_.metadata));
        if (Trip::may_travel(split_)) {
            graph_.add_tensor(trip_.control());
        }
    }

    const spec::MachineSpec& machine_;
    const Spmm& product_;
    const Layout& layout_;
    const Split& split_;
    Vertex vertex_;
    Pass pass_;
    Lines in_;
    Lines out_;
    BucketBytes bytes_;
    family::Planned planned_;
    graph::Graph& graph_;
    std::vector<graph::Step> steps_;
    graph::ComputeSetId multiply_;
    graph::BufferId partials_;
    graph::BufferId b_;
    graph::BufferId home_b_;
    Trip trip_;
    Buckets home_;
    Buckets own_;    ///< as the pass has it
    Buckets others_; ///< of the other tiles of a tile's part
    graph::BufferId scratch_;
    graph::BufferId slices_;
    graph::BufferId result_;
};

} // namespace

family::Planned emit_pass(const spec::MachineSpec& machine, const Spmm& product, Pass pass) {
    return Emitter(machine, product, pass).run();
}

} // namespace tessera::dynamic
