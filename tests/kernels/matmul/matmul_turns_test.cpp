// SPDX-License-Identifier: MIT
// In which turn tiles of a dense product send what others wait for: in each turn every tile sends at most
// one message and gets at most one, and pairs take together what neither of them has.
#include "base/ceil_div.h"
#include "kernels/matmul/matmul_graph.h"
#include "kernels/matmul/published/plan.h"
#include "kernels/published/dense_planner.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace tessera;

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

workload::MatmulWorkload workload_of(std::int64_t m, std::int64_t k, std::int64_t n,
                                     ElementType data, ElementType partials) {
    workload::MatmulWorkload workload;
    workload.m = m;
    workload.k = k;
    workload.n = n;
    workload.dtype = data;
    workload.partials = partials;
    return workload;
}

struct Sent {
    TileId from = 0;
    std::string buffer;
    Bytes offset = 0;
    Bytes bytes = 0;
    bool is_paired = false;
    std::vector<TileId> to;
    std::vector<Bytes> into; ///< offsets
};

std::vector<Sent> messages_of(const graph::Graph& graph, const std::string& name) {
    std::vector<Sent> sent;
    for (const graph::Exchange& exchange : graph.exchanges) {
        if (exchange.name != name) {
            continue;
        }
        for (const graph::Message& message : exchange.messages) {
            Sent one;
            one.from = message.from.tile;
            one.buffer = graph.buffers.at(message.from.place().buffer.index).name;
            one.offset = message.from.place().offset;
            one.bytes = message.bytes;
            one.is_paired = message.paired;
            for (const auto& to :
                 std::span(exchange.to).subspan(message.first_to, message.receivers)) {
                one.to.push_back(to.tile);
                one.into.push_back(to.place().offset);
            }
            sent.push_back(one);
        }
    }
    return sent;
}

} // namespace

TEST_CASE("partial results of a dense product go on by one part in each turn", "[kernels]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        const matmul::Problem problem(workload_of(37, 640, 70, ElementType::F16, partials));
        for (const matmul::Partition& p :
             {matmul::Partition{2, 3, 2, 1, matmul::Paired::None},
              matmul::Partition{3, 4, 2, 1, matmul::Paired::A},
              matmul::Partition{4, 5, 1, 1, matmul::Paired::B},
              matmul::Partition{37, 7, 1, 1, matmul::Paired::None}}) { // some have no share
            const auto machine = machine_of(300);
            const matmul::Grid grid(problem, p);
            const auto emitted = matmul::emit(machine, grid, "test");
            CAPTURE(partials == ElementType::F16, p.parts_m, p.parts_k, p.parts_n);
            const auto sent = messages_of(emitted.graph, "reduce: bring partial results");
            std::vector<std::tuple<std::int64_t, TileId, TileId>> wanted; // turn, from, to
            for (std::int64_t turn = 1; turn < p.parts_k; ++turn) {
                for (TileId tile = 0; tile < static_cast<TileId>(p.tiles()); ++tile) {
                    matmul::TilePart to = grid.part(tile);
                    to.ik = (to.ik + turn) % p.parts_k;
                    if (grid.share(to).size() > 0) {
                        wanted.emplace_back(turn, tile, grid.tile(to));
                    }
                }
            }
            REQUIRE(sent.size() == wanted.size());
            std::map<TileId, std::set<Bytes>> slots;
            for (std::size_t i = 0; i < sent.size(); ++i) {
                const auto& [turn, from, to] = wanted[i];
                REQUIRE(sent[i].to.size() == 1);
                CHECK(sent[i].from == from);
                CHECK(sent[i].to.front() == to);
                const auto share = grid.share(grid.part(to));
                CHECK(sent[i].bytes == share.size() * matmul::kCellBytes);
                CHECK(sent[i].offset == share.first * matmul::kCellBytes);
                // the others' partial results stand in the order of their parts
                const std::int64_t ik = grid.part(from).ik;
                const std::int64_t rank = ik - (ik > grid.part(to).ik ? 1 : 0);
                CHECK(sent[i].into.front() == rank * sent[i].bytes);
                CHECK(slots[to].insert(sent[i].into.front()).second);
            }
        }
    }
}

TEST_CASE("each tile of a published reduction begins with what its next neighbour has",
          "[kernels]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        for (const std::int64_t parts : {3, 7, 12}) {
            const auto machine = machine_of(64);
            // FP32 cells of as many elements as there are parts, and each sums some
            auto given = workload_of(64, 1600, 12, ElementType::F16, partials);
            published::DensePlan plan =
                published::plan_of({given.m, given.k, given.n, given.dtype, given.partials},
                                   published::dense_machine(machine),
                                   published::dense_vertices({1, 1, 1, given.dtype, given.partials},
                                                             published::dense_machine(machine))
                                       .front(),
                                   {1, 2, 1, parts, 1, false});
            REQUIRE(plan.intermediate_depths.empty());
            const auto planned = matmul::plan_published(machine, given, plan);
            std::map<TileId, std::vector<std::int64_t>> senders; // parts, by receiver
            const auto sent = messages_of(planned.graph, "reduce: bring partial results");
            REQUIRE(!sent.empty());
            std::map<TileId, std::size_t> got;
            std::int64_t last_turn = 0;
            for (const Sent& one : sent) {
                REQUIRE(one.to.size() == 1);
                const auto from = published::part_on(plan.split, one.from);
                const auto to = published::part_on(plan.split, one.to.front());
                CHECK(from.out == to.out);
                CHECK(from.field == to.field);
                senders[one.to.front()].push_back(from.in);
                const std::int64_t turn = (from.in - to.in + parts) % parts;
                CHECK(turn >= last_turn); // all tiles in step
                last_turn = turn;
            }
            for (const auto& [tile, order] : senders) {
                const std::int64_t own = published::part_on(plan.split, tile).in;
                std::vector<std::int64_t> wanted;
                for (std::int64_t turn = 1; turn < parts; ++turn) {
                    wanted.push_back((own + turn) % parts);
                }
                CAPTURE(partials == ElementType::F16, parts, tile);
                CHECK(order == wanted);
            }
        }
    }
}

TEST_CASE("pairs take inputs of a published plan together, but for what one of them holds",
          "[kernels]") {
    for (const bool pairs : {true, false}) {
        for (const std::int64_t outs : {1, 2, 3, 4, 6}) {
            auto machine = machine_of(64);
            machine.exchange.pair_double = pairs;
            const auto given = workload_of(16 * 12, 160, 40, ElementType::F16, ElementType::F16);
            const published::DenseProblem problem{given.m, given.k, given.n, given.dtype,
                                                  given.partials};
            const published::DensePlan plan =
                published::plan_of(problem, published::dense_machine(machine), {16, 16, 16},
                                   {2, outs, 1, 2, 1, false});
            const auto planned = matmul::plan_published(machine, given, plan);
            const bool wide = pairs && outs % 2 == 0;
            CAPTURE(pairs, outs);
            std::map<TileId, std::map<Bytes, Bytes>> got; // bytes of X, by receiver and place
            for (const Sent& one : messages_of(planned.graph, "bring")) {
                const auto from = published::part_on(plan.split, one.from);
                if (one.buffer == "home of a") { // weights, to other parts of the field
                    CHECK_FALSE(one.is_paired);
                    for (const TileId tile : one.to) {
                        const auto to = published::part_on(plan.split, tile);
                        CHECK(to.in == from.in);
                        CHECK(to.out == from.out);
                        CHECK(to.field != from.field);
                    }
                    CHECK(one.to.size() == 1);
                    continue;
                }
                REQUIRE(one.buffer == "home of b");
                const std::set<TileId> receivers(one.to.begin(), one.to.end());
                CHECK(receivers.size() == one.to.size());
                CHECK(receivers.count(one.from) == 0);
                for (std::size_t i = 0; i < one.to.size(); ++i) {
                    const auto to = published::part_on(plan.split, one.to[i]);
                    CHECK(to.in == from.in);
                    CHECK(to.field == from.field);
                    CHECK(got[one.to[i]].emplace(one.into[i], one.bytes).second);
                    CHECK((!one.is_paired || receivers.count(one.to[i] ^ 1U) == 1));
                }
                if (wide) { // its own partner takes it alone
                    CHECK(one.is_paired == (receivers.count(one.from ^ 1U) == 0));
                    CHECK((one.is_paired || one.to.size() == 1));
                } else {
                    CHECK_FALSE(one.is_paired);
                    CHECK(static_cast<std::int64_t>(one.to.size()) == outs - 1);
                }
            }
            CHECK((outs > 1) == !got.empty());
        }
    }
}
