// SPDX-License-Identifier: MIT
#include "kernels/dynamic/emitter.h"

#include "base/ceil_div.h"
#include "base/range.h"
#include "kernels/dynamic/travel.h"
#include "kernels/dynamic/vertices.h"
#include "kernels/graph/cells.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/halves.h"
#include "kernels/plan/repeat_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace tessera::dynamic {
namespace {

using program::Role;

constexpr const char* kOwner = "spmm";
constexpr Bytes kLeastRun = 128; ///< of an operand or a result on a tile
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
          vertex_(vertex_of(layout_.block, product.types, pass)),
          pass_(pass), planned_{graph::Graph(product.name), {}}, graph_(planned_.graph) {}

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
    // The operand's lines are those of `in`, the result's those of `out`.
    [[nodiscard]] bool is_forward() const { return pass_ == Pass::Forward; }
    [[nodiscard]] std::int64_t ins() const { return is_forward() ? split_.y : split_.x; }
    [[nodiscard]] std::int64_t outs() const { return is_forward() ? split_.x : split_.y; }
    [[nodiscard]] std::int64_t in_lines() const {
        return is_forward() ? layout_.part_columns : layout_.part_rows;
    }
    [[nodiscard]] std::int64_t out_lines() const {
        return is_forward() ? layout_.part_rows : layout_.part_columns;
    }
    [[nodiscard]] std::int64_t in_size() const {
        return is_forward() ? product_.columns : product_.rows;
    }
    [[nodiscard]] std::int64_t out_size() const {
        return is_forward() ? product_.rows : product_.columns;
    }
    [[nodiscard]] TileId tile(std::int64_t in, std::int64_t out, std::int64_t z) const {
        return static_cast<TileId>(is_forward() ? layout_.bucket_of(out, in, z)
                                                : layout_.bucket_of(in, out, z));
    }
    [[nodiscard]] std::int64_t tiles() const { return split_.tiles(); }

    // Elements of a tile's lines, which are [line][column][block].
    [[nodiscard]] std::int64_t in_elements() const {
        return in_lines() * layout_.n * layout_.block;
    }
    [[nodiscard]] std::int64_t out_elements() const {
        return out_lines() * layout_.n * layout_.block;
    }
    [[nodiscard]] Bytes data_bytes() const { return bytes_of(product_.types.data); }
    [[nodiscard]] Bytes partial_bytes() const { return bytes_of(product_.types.partials); }
    [[nodiscard]] Bytes values_bytes() const {
        return ceil_div(layout_.bucket.values * data_bytes(), Bytes{8}) * 8;
    }
    /// Whole words of 4 bytes; those behind them up to the next bucket's are nothing.
    [[nodiscard]] Bytes own_values_bytes() const { return layout_.bucket.values * data_bytes(); }
    /// Whether a tile's lines go beyond the operand.
    [[nodiscard]] bool pads_lines() const {
        return layout_.n * split_.z != product_.n ||
               in_lines() * ins() * layout_.block != in_size() || in_elements() % grain() != 0;
    }
    [[nodiscard]] Bytes metadata_bytes() const {
        return ceil_div(layout_.bucket.metadata * 2, Bytes{8}) * 8;
    }

    /// Runs of the elements of a tile's lines, for so many tiles: whole blocks, words of 8 bytes of
    /// data and units of sums.
    [[nodiscard]] std::int64_t grain() const {
        return std::lcm(std::lcm(layout_.block, 8 / data_bytes()), kSumUnit / partial_bytes());
    }
    [[nodiscard]] Range run_of(std::int64_t elements, std::int64_t parts, std::int64_t part) const {
        const std::int64_t grains = ceil_div(elements, grain());
        const std::int64_t least = ceil_div(kLeastRun, grain() * data_bytes());
        const std::int64_t each = std::max(ceil_div(grains, parts), least);
        const auto bound = [&](std::int64_t of) { return std::min(of * each, grains) * grain(); };
        return {bound(part), bound(part + 1)};
    }

    struct Buckets {
        graph::BufferId metadata;
        graph::BufferId values;
    };

    void add_buffers() {
        using graph::Where;
        const Bytes partials = ceil_div(out_elements(), grain()) * grain() * partial_bytes();
        partials_ = add({.name = "partials", .where = Where::Region1}, partials);
        const Bytes lines = ceil_div(in_elements(), grain()) * grain() * data_bytes();
        b_ = add({.name = "b", .padded = pads_lines(), .apart = {partials_}}, lines);
        home_values_ =
            add({.name = "home of values", .read_beyond = kReadBeyond, .apart = {b_, partials_}},
                own_values_bytes());
        home_metadata_ =
            add({.name = "home of metadata", .read_beyond = kReadBeyond, .apart = {b_}},
                metadata_bytes());
        own_ = {home_metadata_, home_values_};
        if (turns()) {
            own_.values = add(
                {.name = "transposed values", .read_beyond = kReadBeyond, .apart = {b_, partials_}},
                own_values_bytes());
        }
        if (split_.z > 1) {
            const std::vector<graph::BufferId> apart{b_, partials_, own_.values, own_.metadata};
            others_ = {add({.name = "metadata", .read_beyond = kReadBeyond, .apart = apart},
                           (split_.z - 1) * metadata_bytes()),
                       add({.name = "values", .read_beyond = kReadBeyond, .apart = apart},
                           (split_.z - 1) * values_bytes())};
        }
        if (ins_move()) {
            home_b_ = add({.name = "home of b",
                           .padded = pads_lines(),
                           .apart = split_.z > 1 ? std::vector{b_, others_.metadata, others_.values}
                                                 : std::vector{b_}},
                          0);
        }
        if (may_travel()) {
            std::vector<graph::BufferId> apart{b_, own_.metadata, own_.values};
            moving_[0] = add_moving(apart);
            apart.insert(apart.end(), {moving_[0].metadata, moving_[0].values});
            moving_[1] = add_moving(apart);
            control_ = graph_.add_buffer({.name = "control"});
            graph_.hold(control_, control_tile(), 4 * (kTravelWords + most_travel_codes(split_)));
        }
        scratch_ = add({.name = "scratch"}, kScratchBytes);
    }
    /// Zeros until buckets come: a look may seem to come before that.
    Buckets add_moving(const std::vector<graph::BufferId>& apart) {
        return {add({.name = "moving metadata",
                     .read_beyond = kReadBeyond,
                     .zeroed = true,
                     .apart = apart},
                    metadata_bytes()),
                add({.name = "moving values",
                     .read_beyond = kReadBeyond,
                     .zeroed = true,
                     .apart = apart},
                    values_bytes())};
    }
    graph::BufferId add(graph::Buffer traits, Bytes bytes) {
        const bool is_everywhere = bytes > 0;
        return is_everywhere ? graph_.add_buffer(std::move(traits), tiles(), bytes)
                             : graph_.add_buffer(std::move(traits));
    }
    [[nodiscard]] bool ins_move() const { return outs() > 1; }
    [[nodiscard]] bool may_travel() const { return split_.x * split_.y > 1; }
    /// The first that has no bucket, else the last one.
    [[nodiscard]] TileId control_tile() const {
        return static_cast<TileId>(std::min(machine_.chip.tiles - 1, tiles()));
    }

    /// Blocks of the gradient of the input are transposed, in a copy: other passes read them, too.
    void transpose() {
        if (!turns()) {
            return;
        }
        const auto copy = graph_.add_compute_set({"copy values", Role::Rearrange, kOwner, "bytes"});
        const auto turn = graph_.add_compute_set({"transpose blocks", Role::Rearrange, kOwner});
        for (TileId at = 0; at < tiles(); ++at) {
            graph_.add_work(copy, at, own_values_bytes());
            graph::copy_on_tile(graph_, machine_, copy, at, {home_values_}, {own_.values},
                                own_values_bytes());
            graph_.add_vertex(
                turn, at,
                fmt::format("dynamic_transpose_block{}_{}", layout_.block,
                            name_of(product_.types.data)),
                program::VertexKind::MultiWorker,
                {graph::pointer({own_.values}, own_values_bytes(), graph::Access::Update),
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
            bring_lines(bringing);
        }
        if (split_.z > 1) {
            bring_buckets(exchange);
        }
        graph::run_next(steps_, exchange);
    }

    /// Each of the tiles that need the same lines has some of them. Both of a pair take them together,
    /// but for what one of them holds.
    void bring_lines(graph::Bringing& bringing) {
        const bool paired = outs() % 2 == 0 && tile(0, 1, 0) == 1 && machine_.exchange.pair_double;
        for (std::int64_t turn = 0; turn < outs(); ++turn) {
            const Range run = run_of(in_elements(), outs(), turn);
            if (run.size() == 0) {
                continue;
            }
            const Bytes bytes = run.size() * data_bytes();
            for (std::int64_t in = 0; in < ins(); ++in) {
                for (std::int64_t z = 0; z < split_.z; ++z) {
                    const TileId holder = tile(in, turn, z);
                    graph_.hold(home_b_, holder, bytes);
                    std::vector<graph::Receiver> far;
                    std::vector<graph::Receiver> near; // the holder and its partner
                    for (std::int64_t out = 0; out < outs(); ++out) {
                        const bool is_near = paired ? out / 2 == turn / 2 : out == turn;
                        (is_near || !paired ? near : far)
                            .push_back({tile(in, out, z), {b_, run.first * data_bytes()}});
                    }
                    graph_.add_message(bringing.exchange, holder, {home_b_}, bytes, far, paired);
                    bringing.add(holder, {home_b_}, bytes, near);
                }
            }
        }
    }

    /// To the other tiles of its part, which have those before their own first.
    void bring_buckets(graph::ExchangeId exchange) {
        std::vector<graph::Receiver> receivers;
        const auto send = [&](std::int64_t number, graph::BufferId from, graph::BufferId to,
                              Bytes stride, Bytes bytes) {
            receivers.clear();
            const std::int64_t own = layout_.z_of(number);
            for (std::int64_t z = 0; z < split_.z; ++z) {
                const auto at = static_cast<TileId>(
                    layout_.bucket_of(layout_.x_of(number), layout_.y_of(number), z));
                if (z != own) {
                    receivers.push_back({at, {to, (own - (own > z ? 1 : 0)) * stride}});
                }
            }
            graph_.add_message(exchange, static_cast<TileId>(number), {from}, bytes, receivers);
        };
        for (std::int64_t number = 0; number < tiles(); ++number) {
            send(number, own_.metadata, others_.metadata, metadata_bytes(), metadata_bytes());
            send(number, own_.values, others_.values, values_bytes(), own_values_bytes());
        }
    }

    void zero() {
        const auto set = graph_.add_compute_set({"zero partials", Role::Work, kOwner, "bytes"});
        const std::int64_t workers = machine_.tile.workers;
        const std::int64_t words =
            ceil_div(out_elements(), grain()) * grain() * partial_bytes() / 8;
        static_cast<void>(
            plan::counted_rounds(machine_, ceil_div(words, workers), "partial results"));
        for (TileId at = 0; at < tiles(); ++at) {
            graph_.add_work(set, at, 8 * words);
            graph_.add_vertex(set, at, "zero64", program::VertexKind::MultiWorker,
                              {graph::write({partials_}, 8 * words), graph::word(words / workers),
                               graph::word(words % workers)});
        }
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
        const Bytes partials = out_elements() * partial_bytes();
        for (std::int64_t number = 0; number < tiles(); ++number) {
            const std::int64_t group =
                layout_.x_of(number) * split_.y + layout_.y_of(number); // of sub-groups
            std::vector<graph::Field> state{
                graph::pointer({partials_}, partials, graph::Access::Update),
                graph::read({buckets.metadata}, count * metadata_bytes()),
                graph::read({buckets.values}, own_values_bytes()),
                graph::read({b_}, in_elements() * data_bytes()),
                graph::word(metadata_bytes()),
                graph::word(values_bytes()),
                graph::word(count - 1),
                graph::word(group + 1),
                graph::word(layout_.n),
                graph::write({scratch_}, kScratchBytes)};
            for (std::int64_t other = 1; other < count; ++other) {
                state.push_back(graph::use({buckets.values, other * values_bytes()},
                                           own_values_bytes(), graph::Access::Read));
            }
            graph_.add_vertex(set, static_cast<TileId>(number), vertex_.name,
                              program::VertexKind::Supervisor, state);
        }
    }

    void travel() {
        if (!may_travel()) {
            return;
        }
        const auto next = add_next("next move of buckets");
        // leaves the words as they were found; and the pass, which may end here, by a step that runs once
        const auto last = add_next("first move of buckets");
        std::vector<graph::Step> move{
            graph::when(word(TravelCode::kAtHome), {moves(own_, 0, "home")},
                        {graph::when(word(TravelCode::kSecond), {moves(moving_[1], 0, "second")},
                                     {moves(moving_[0], 1, "first")})})};
        std::vector<graph::Step> scan{
            graph::when(word(TravelCode::kSecond), {scans(1)}, {scans(0)})};
        std::vector<graph::Step> round{
            graph::when(word(TravelCode::kScan), std::move(scan), std::move(move)),
            graph::run(next)};
        steps_.push_back(graph::as_long_as(word(TravelCode::kMore), std::move(round)));
        steps_.push_back(graph::run(last));
    }
    graph::ComputeSetId add_next(const char* called) {
        const auto set = graph_.add_compute_set({called, Role::Control, kOwner});
        graph_.add_vertex(
            set, control_tile(), "dynamic_next", program::VertexKind::Worker,
            {graph::pointer({control_}, 4 * (kTravelWords + most_travel_codes(split_)),
                            graph::Access::Update)});
        return set;
    }
    [[nodiscard]] graph::TilePlace word(std::uint32_t bit) const {
        const auto number = static_cast<Bytes>(std::countr_zero(bit));
        return {control_tile(), {control_, 4 * number}};
    }

    /// All buckets go to the next part.
    graph::Step moves(const Buckets& from, std::size_t to, const char* called) {
        const auto along = [&](bool x) {
            const auto exchange = graph_.add_exchange(
                {fmt::format("move buckets along {}, from {}", x ? "x" : "y", called), Role::Bring,
                 kOwner});
            for (std::int64_t number = 0; number < tiles(); ++number) {
                const std::int64_t at_x = layout_.x_of(number) + (x ? 1 : 0);
                const std::int64_t at_y = layout_.y_of(number) + (x ? 0 : 1);
                move(exchange, number, from, moving_[to],
                     layout_.bucket_of(at_x % split_.x, at_y % split_.y, layout_.z_of(number)));
            }
            return graph::run(exchange);
        };
        if (split_.x == 1 || split_.y == 1) {
            return along(split_.y == 1);
        }
        graph::Step along_x = along(true);
        return graph::when(word(TravelCode::kAlongX), {std::move(along_x)}, {along(false)});
    }
    void move(graph::ExchangeId exchange, std::int64_t number, const Buckets& from,
              const Buckets& to, std::int64_t tile) {
        const auto at = static_cast<TileId>(number);
        graph_.add_message(exchange, at, {from.metadata}, metadata_bytes(),
                           {static_cast<TileId>(tile), {to.metadata}});
        graph_.add_message(exchange, at, {from.values}, own_values_bytes(),
                           {static_cast<TileId>(tile), {to.values}});
    }

    /// Each tile looks through the buckets of its z tiles, which go round; the first is in buffer
    /// `first`.
    graph::Step scans(std::size_t first) {
        const std::size_t other = 1 - first;
        std::vector<graph::Step> steps{look(first)};
        const std::int64_t moves = split_.z - 1;
        const auto there_and_look = [&](std::size_t from, std::size_t to) {
            return graph::sequence({move_along_z(from, to), look(to)});
        };
        if (moves >= 2) {
            std::vector<graph::Step> both{there_and_look(first, other),
                                          there_and_look(other, first)};
            steps.push_back(graph::repeat(moves / 2, std::move(both)));
        }
        if (moves % 2 == 1) {
            steps.push_back(there_and_look(first, other));
        }
        return graph::sequence(std::move(steps));
    }
    graph::Step move_along_z(std::size_t from, std::size_t to) {
        std::optional<graph::ExchangeId>& known = along_z_[from];
        if (!known) {
            known = graph_.add_exchange({"move buckets along z", Role::Bring, kOwner});
            for (std::int64_t number = 0; number < tiles(); ++number) {
                move(*known, number, moving_[from], moving_[to],
                     layout_.bucket_of(layout_.x_of(number), layout_.y_of(number),
                                       (layout_.z_of(number) + 1) % split_.z));
            }
        }
        return graph::run(*known);
    }
    graph::Step look(std::size_t buffer) {
        std::optional<graph::ComputeSetId>& known = looks_[buffer];
        if (!known) {
            known = graph_.add_compute_set({"multiply moved", Role::Work, kOwner});
            add_vertices(*known, moving_[buffer], 1);
        }
        return graph::run(*known);
    }

    /// Each of the tiles with partial results of the same elements sums some of them.
    void reduce() {
        if (ins() == 1 && product_.types.sums_are_results()) {
            return;
        }
        const bool sums = ins() > 1;
        const Range longest = run_of(out_elements(), ins(), 0);
        result_ = add({.name = "result"}, longest.size() * data_bytes());
        const auto exchange =
            graph_.add_exchange({"reduce: bring partial results", Role::Reduce, kOwner});
        const auto set =
            graph_.add_compute_set({"reduce", Role::Reduce, kOwner, "partial results"});
        if (sums) {
            slices_ = add({.name = "slices", .where = graph::Where::Region1, .apart = {partials_}},
                          (ins() - 1) * longest.size() * partial_bytes());
        }
        for (std::int64_t own = 0; own < ins(); ++own) {
            const Range run = run_of(out_elements(), ins(), own);
            const Bytes bytes = run.size() * partial_bytes();
            for (std::int64_t out = 0; out < outs() && bytes > 0; ++out) {
                for (std::int64_t z = 0; z < split_.z; ++z) {
                    const TileId at = tile(own, out, z);
                    for (std::int64_t turn = 1; turn < ins(); ++turn) {
                        graph_.add_message(exchange, tile((own + turn) % ins(), out, z),
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
                                     ins() - 1,
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
        for (std::int64_t slice = 0; slice < ins() - 1; ++slice) {
            pointers.push_back(graph::read({slices_, slice * bytes}, bytes));
        }
        pointers.push_back(pointers.back()); // the one behind the last is read too
        const auto word_of = [](ElementType type) {
            return type == ElementType::F16 ? "half" : "float";
        };
        graph_.add_work(set, at, bytes / kSumUnit * ins());
        graph_.add_vertex(set, at,
                          fmt::format("ReduceAdd_{}_{}", word_of(product_.types.partials),
                                      word_of(product_.types.data)),
                          program::VertexKind::MultiWorker,
                          {graph::write({result_}, elements * data_bytes()),
                           graph::table(graph_.add_table(at, pointers)),
                           graph::halves(plan::counted_rounds(machine_, ins(), "partial results"),
                                         elements, "sums")});
    }

    void add_tensors() {
        const std::int64_t block = layout_.block;
        graph::Tensor values = graph::given_tensor("a", product_.types.data,
                                                   {tiles() * layout_.bucket.blocks, block, block});
        graph::Tensor metadata =
            graph::given_tensor("metadata", ElementType::U16, {tiles() * layout_.bucket.metadata});
        metadata.known = true;
        for (std::int64_t number = 0; number < tiles(); ++number) {
            const auto at = static_cast<TileId>(number);
            values.pieces.push_back(graph::run_of(at, {home_values_},
                                                  number * layout_.bucket.values,
                                                  layout_.bucket.values, product_.types.data));
            metadata.pieces.push_back(graph::run_of(at, {home_metadata_},
                                                    number * layout_.bucket.metadata,
                                                    layout_.bucket.metadata, ElementType::U16));
        }
        graph_.add_tensor(std::move(values));
        graph_.add_tensor(dense_tensor());
        graph_.add_tensor(result_tensor());
        graph_.add_tensor(std::move(metadata));
        if (may_travel()) {
            const std::int64_t words = kTravelWords + most_travel_codes(split_);
            graph::Tensor control = graph::given_tensor("control", ElementType::U32, {words});
            control.known = true;
            control.pieces.push_back(
                graph::run_of(control_tile(), {control_}, 0, words, ElementType::U32));
            graph_.add_tensor(std::move(control));
        }
    }

    /// Lines of part `number` of so many elements in all, and columns of z.
    [[nodiscard]] graph::CellGrid cells(std::int64_t number, std::int64_t lines, std::int64_t size,
                                        std::int64_t z) const {
        return {.rows = layout_.n,
                .group = layout_.block,
                .first_row = z * layout_.n,
                .first_group = number * lines,
                .host_inner = size,
                .host_rows = product_.n,
                .host_row_stride = 1,
                .host_inner_stride = product_.n,
                .cell_bytes = layout_.block * data_bytes(),
                .element_bytes = data_bytes()};
    }
    void add_run(graph::Tensor& tensor, TileId at, graph::Place place, const graph::CellGrid& grid,
                 std::int64_t elements, const Range& run) const {
        const std::int64_t last = std::min(run.last, elements);
        if (run.first < last) {
            graph::add_cells(tensor, at, place, grid, run.first / layout_.block,
                             last / layout_.block);
        }
    }

    [[nodiscard]] graph::Tensor dense_tensor() const {
        graph::Tensor tensor =
            graph::given_tensor("b", product_.types.data, {in_size(), product_.n});
        for (std::int64_t in = 0; in < ins(); ++in) {
            for (std::int64_t z = 0; z < split_.z; ++z) {
                const graph::CellGrid grid = cells(in, in_lines(), in_size(), z);
                for (std::int64_t out = 0; out < outs(); ++out) {
                    add_run(tensor, tile(in, out, z), {ins_move() ? home_b_ : b_}, grid,
                            in_elements(), run_of(in_elements(), outs(), out));
                }
            }
        }
        return tensor;
    }
    [[nodiscard]] graph::Tensor result_tensor() const {
        graph::Tensor tensor =
            graph::wanted_tensor("c", product_.types.data, {out_size(), product_.n});
        const bool is_reduced = ins() > 1 || !product_.types.sums_are_results();
        for (std::int64_t out = 0; out < outs(); ++out) {
            for (std::int64_t z = 0; z < split_.z; ++z) {
                const graph::CellGrid grid = cells(out, out_lines(), out_size(), z);
                for (std::int64_t in = 0; in < ins(); ++in) {
                    add_run(tensor, tile(in, out, z), {is_reduced ? result_ : partials_}, grid,
                            out_elements(), run_of(out_elements(), ins(), in));
                }
            }
        }
        return tensor;
    }

    const spec::MachineSpec& machine_;
    const Spmm& product_;
    const Layout& layout_;
    const Split& split_;
    Vertex vertex_;
    Pass pass_;
    family::Planned planned_;
    graph::Graph& graph_;
    std::vector<graph::Step> steps_;
    graph::ComputeSetId multiply_;
    graph::BufferId partials_;
    graph::BufferId b_;
    graph::BufferId home_b_;
    graph::BufferId home_values_;
    graph::BufferId home_metadata_;
    Buckets own_;    ///< as the pass has it
    Buckets others_; ///< of the other tiles of a tile's part
    std::array<Buckets, 2> moving_;
    std::array<std::optional<graph::ExchangeId>, 2> along_z_; ///< by the buffer that they leave
    std::array<std::optional<graph::ComputeSetId>, 2> looks_; ///< by buffer
    graph::BufferId control_;
    graph::BufferId scratch_;
    graph::BufferId slices_;
    graph::BufferId result_;
};

} // namespace

family::Planned emit_pass(const spec::MachineSpec& machine, const Spmm& product, Pass pass) {
    return Emitter(machine, product, pass).run();
}

} // namespace tessera::dynamic
