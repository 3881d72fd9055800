// SPDX-License-Identifier: MIT
#include "kernels/dynamic/trip.h"

#include "kernels/dynamic/travel.h"
#include "kernels/dynamic/vertices.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace tessera::dynamic {

using program::Role;

Trip::Trip(graph::Graph& graph, const spec::MachineSpec& machine, const Layout& layout,
           BucketBytes bytes, bool comes_back)
    : graph_(graph), machine_(machine), layout_(layout), split_(layout.split), bytes_(bytes),
      comes_back_(comes_back) {}

/// They are zeros until buckets come: a look may seem to come before that.
void Trip::add_buffers(graph::Where values, std::vector<graph::BufferId> apart) {
    const auto add = [&](const char* name, graph::Where where, Bytes bytes) {
        return graph_.add_buffer({.name = name,
                                  .where = where,
                                  .read_beyond = kReadBeyond,
                                  .zeroed = true,
                                  .apart = apart},
                                 split_.tiles(), bytes);
    };
    for (Buckets& moving : moving_) {
        moving = {add("moving metadata", graph::Where::Any, bytes_.metadata),
                  add("moving values", values, bytes_.values_stride)};
        apart.insert(apart.end(), {moving.metadata, moving.values});
    }
    add_control();
}
void Trip::add_control() {
    control_ = graph_.add_buffer({.name = "control"});
    graph_.hold(control_, control_tile(), control_bytes());
}

/// The first that has no bucket, else the last one.
TileId Trip::control_tile() const {
    return static_cast<TileId>(std::min(machine_.chip.tiles - 1, split_.tiles()));
}
Bytes Trip::control_bytes() const {
    return 4 * (kTravelWords + most_travel_codes(split_));
}
graph::TilePlace Trip::word(std::uint32_t bit) const {
    const auto number = static_cast<Bytes>(std::countr_zero(bit));
    return {control_tile(), {control_, 4 * number}};
}

graph::Tensor Trip::control() const {
    const std::int64_t words = control_bytes() / 4;
    graph::Tensor control = graph::given_tensor("control", ElementType::U32, {words});
    control.known = true;
    control.pieces.push_back(graph::run_of(control_tile(), {control_}, 0, words, ElementType::U32));
    return control;
}

graph::Step Trip::run(const Buckets& home,
                      const std::function<graph::ComputeSetId(const Buckets&)>& look,
                      const std::function<graph::Step(graph::BufferId values)>& at_home) {
    look_ = look;
    const auto next = add_next("next move of buckets");
    // leaves the words as they were found; and the pass, which may end here, by a step that runs once
    const auto last = add_next("first move of buckets");
    std::vector<graph::Step> move{
        graph::when(word(TravelCode::kAtHome), {moves(home, 0, "home")},
                    {graph::when(word(TravelCode::kSecond), {moves(moving_[1], 0, "second")},
                                 {moves(moving_[0], 1, "first")})})};
    std::vector<graph::Step> scan{graph::when(word(TravelCode::kSecond), {scans(1)}, {scans(0)})};
    std::vector<graph::Step> round{
        graph::when(word(TravelCode::kScan), std::move(scan), std::move(move)), graph::run(next)};
    std::vector<graph::Step> steps{graph::as_long_as(word(TravelCode::kMore), std::move(round))};
    if (comes_back_) {
        std::vector<graph::Step> back{
            graph::when(word(TravelCode::kSecond), {moves_back(1)}, {moves_back(0)}),
            graph::run(next)};
        steps.push_back(graph::as_long_as(word(TravelCode::kBack), std::move(back)));
        steps.push_back(
            graph::when(word(TravelCode::kAtHome), {at_home(home.values)},
                        {graph::when(word(TravelCode::kSecond), {at_home(moving_[1].values)},
                                     {at_home(moving_[0].values)})}));
    }
    steps.push_back(graph::run(last));
    return graph::sequence(std::move(steps));
}

graph::ComputeSetId Trip::add_next(const char* called) {
    const auto set = graph_.add_compute_set({called, Role::Control, kOwner});
    graph_.add_vertex(set, control_tile(), "dynamic_next", program::VertexKind::Worker,
                      {graph::pointer({control_}, control_bytes(), graph::Access::Update),
                       graph::word(TravelCode::kMore | (comes_back_ ? TravelCode::kBack : 0))});
    return set;
}

graph::ExchangeId Trip::move(const char* called, const Buckets& from, const Buckets& to,
                             const Direction& by, bool with_metadata) {
    const auto exchange = graph_.add_exchange({called, Role::Bring, kOwner});
    for (std::int64_t number = 0; number < split_.tiles(); ++number) {
        const auto at = static_cast<TileId>(number);
        const auto moved = [](std::int64_t place, std::int64_t step, std::int64_t parts) {
            return (place + step + parts) % parts;
        };
        const auto tile =
            static_cast<TileId>(layout_.bucket_of(moved(layout_.x_of(number), by[0], split_.x),
                                                  moved(layout_.y_of(number), by[1], split_.y),
                                                  moved(layout_.z_of(number), by[2], split_.z)));
        if (with_metadata) {
            graph_.add_message(exchange, at, {from.metadata}, bytes_.metadata,
                               {tile, {to.metadata}});
        }
        graph_.add_message(exchange, at, {from.values}, bytes_.values, {tile, {to.values}});
    }
    return exchange;
}

graph::Step Trip::moves(const Buckets& from, std::size_t to, const char* called) {
    const auto along = [&](bool x) {
        const std::string name =
            fmt::format("move buckets along {}, from {}", x ? "x" : "y", called);
        return graph::run(move(name.c_str(), from, moving_[to],
                               x ? Direction{1, 0, 0} : Direction{0, 1, 0}, true));
    };
    if (split_.x == 1 || split_.y == 1) {
        return along(split_.y == 1);
    }
    graph::Step along_x = along(true);
    return graph::when(word(TravelCode::kAlongX), {std::move(along_x)}, {along(false)});
}

/// Against x and y, on along z: a look has them one tile short of a round of z.
graph::Step Trip::moves_back(std::size_t from) {
    const auto along = [&](const char* called, const Direction& by) {
        return graph::run(move(called, moving_[from], moving_[1 - from], by, false));
    };
    std::optional<graph::Step> back;
    if (split_.y > 1) {
        back = along("bring values back along y", {0, -1, 0});
    }
    const auto or_along = [&](std::uint32_t bit, graph::Step step) {
        back =
            back ? graph::when(word(bit), {std::move(step)}, {std::move(*back)}) : std::move(step);
    };
    if (split_.x > 1) {
        or_along(TravelCode::kAlongX, along("bring values back along x", {-1, 0, 0}));
    }
    if (split_.z > 1) {
        or_along(TravelCode::kAlongZ, along("bring values on along z", {0, 0, 1}));
    }
    return std::move(*back);
}

/// Each tile looks through the buckets of its z tiles, which go round; the first is in buffer `first`.
graph::Step Trip::scans(std::size_t first) {
    const std::size_t other = 1 - first;
    std::vector<graph::Step> steps{look(first)};
    const std::int64_t moves = split_.z - 1;
    const auto there_and_look = [&](std::size_t from) {
        return graph::sequence({move_along_z(from), look(1 - from)});
    };
    if (moves >= 2) {
        std::vector<graph::Step> both{there_and_look(first), there_and_look(other)};
        steps.push_back(graph::repeat(moves / 2, std::move(both)));
    }
    if (moves % 2 == 1) {
        steps.push_back(there_and_look(first));
    }
    return graph::sequence(std::move(steps));
}

graph::Step Trip::move_along_z(std::size_t from) {
    std::optional<graph::ExchangeId>& known = along_z_.at(from);
    if (!known) {
        known =
            move("move buckets along z", moving_.at(from), moving_.at(1 - from), {0, 0, 1}, true);
    }
    return graph::run(*known);
}

graph::Step Trip::look(std::size_t buffer) {
    std::optional<graph::ComputeSetId>& known = looks_.at(buffer);
    if (!known) {
        known = look_(moving_.at(buffer));
    }
    return graph::run(*known);
}

} // namespace tessera::dynamic
