// SPDX-License-Identifier: MIT
// Rules by which a published plan brings operands, each by what stands in its graph.
#include "kernels/sparse/published/plan.h"
#include "tests/kernels/sparse/sparse_operands.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;

spec::MachineSpec machine_with(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

graph::Graph planned(const spec::MachineSpec& machine, const workload::SparseF16& a, std::int64_t n,
                     const sparse::PublishedUse& use = {}) {
    workload::SpmmWorkload workload;
    workload.n = n;
    workload.block = a.block;
    workload.plan = workload::PlanKind::Published;
    return std::move(sparse::plan_published(machine, workload, a, use).graph);
}

/// Calls `each(exchange, message, receivers)`.
template <class Each> void for_each_message(const graph::Graph& graph, const Each& each) {
    for (const graph::Exchange& exchange : graph.exchanges) {
        for (const graph::Message& message : exchange.messages) {
            each(exchange, message,
                 std::span(exchange.to).subspan(message.first_to, message.receivers));
        }
    }
}

std::string source_of(const graph::Graph& graph, const graph::Message& message) {
    return graph.buffers.at(message.from.place().buffer.index).name;
}

} // namespace

TEST_CASE("blocks that several parts share come in the first pass alone", "[kernels]") {
    const auto machine = machine_with(16);
    const auto a = test::sparse_operand({256, 250, 0, 16, 20});
    const auto bytes_of_blocks = [&](std::int64_t passes) {
        Bytes bytes = 0;
        const graph::Graph graph = planned(machine, a, 512, {.passes = passes});
        for_each_message(graph, [&](const auto&, const graph::Message& message, const auto&) {
            bytes += source_of(graph, message) == "home of values" ? Bytes{message.bytes} : 0;
        });
        return bytes;
    };
    const Bytes once = static_cast<Bytes>(a.values.size()) * 2;
    for (const std::int64_t passes : {1, 2, 4}) {
        CAPTURE(passes);
        const Bytes bytes = bytes_of_blocks(passes);
        CHECK(bytes > 0);
        CHECK(bytes <= once); // a block's home may use it itself
    }
}

TEST_CASE("every pass brings its own columns of X", "[kernels]") {
    const auto machine = machine_with(4);
    const auto a = test::sparse_operand({64, 64, 0, 16, 50});
    for (const std::int64_t n : {33, 40, 63, 64}) {
        CAPTURE(n);
        const graph::Graph graph = planned(machine, a, n, {.passes = 2});
        std::set<std::int64_t> columns; // of C's tensor
        const auto c = std::find_if(graph.tensors.begin(), graph.tensors.end(),
                                    [](const graph::Tensor& tensor) { return tensor.wanted; });
        REQUIRE(c != graph.tensors.end());
        for (const graph::Piece& piece : c->pieces) {
            for (std::int64_t i = 0; i < piece.dims.front().count; ++i) {
                columns.insert(piece.host_offset % n + i);
            }
        }
        CHECK(static_cast<std::int64_t>(columns.size()) == n);
        CHECK(*columns.rbegin() == n - 1);
    }
}

TEST_CASE("pairs take a row of X together from the least number of words on, not below it",
          "[kernels]") {
    // one part and one band: each of the 64 columns of X is in a message of 2 * 16 * 8 bytes
    auto machine = machine_with(4);
    const auto a = test::sparse_operand({256, 256, 0, 16, 100});
    constexpr std::int64_t kColumns = 8;
    const auto paired = [&] {
        std::size_t count = 0;
        const graph::Graph graph = planned(machine, a, kColumns);
        for_each_message(graph, [&](const auto&, const graph::Message& message, const auto&) {
            count += message.paired && source_of(graph, message) == "home of b" ? 1 : 0;
        });
        return count;
    };
    std::map<std::uint32_t, std::size_t> by_bytes;
    {
        const graph::Graph graph = planned(machine, a, kColumns);
        for_each_message(graph, [&](const auto&, const graph::Message& message, const auto&) {
            by_bytes[message.bytes] += source_of(graph, message) == "home of b" ? 1 : 0;
        });
    }
    constexpr std::int64_t kItemBytes = 8;
    const auto most = static_cast<std::int64_t>(by_bytes.rbegin()->first) / kItemBytes;
    machine.exchange.pair_min_items = most;
    CHECK(paired() > 0);
    machine.exchange.pair_min_items = most + 1;
    CHECK(paired() == 0);
    machine.exchange.pair_min_items = 1;
    machine.exchange.pair_double = false;
    CHECK(paired() == 0);
}

TEST_CASE("both tiles of a pair that takes a row together have it at one place", "[kernels]") {
    for (const std::int64_t block : {1, 4, 16}) {
        for (const int kept : {10, 40, 100}) {
            CAPTURE(block, kept);
            const auto machine = machine_with(16);
            const auto a = test::sparse_operand({16 * block, 12 * block, 0, block, kept});
            const graph::Graph graph = planned(machine, a, 64);
            std::size_t alone = 0;
            for_each_message(graph, [&](const auto&, const graph::Message& message,
                                        const auto& receivers) {
                if (source_of(graph, message) != "home of b") {
                    return;
                }
                std::map<TileId, std::pair<std::uint32_t, Bytes>> places;
                for (const auto& receiver : receivers) {
                    const graph::Place place = receiver.place();
                    places[receiver.tile] = {place.buffer.index, place.offset};
                }
                for (const auto& [tile, place] : places) {
                    const auto partner = places.find(tile ^ 1U);
                    if (message.paired) {
                        REQUIRE(partner != places.end());
                        CHECK(partner->second == place);
                    } else {
                        alone += partner != places.end() ? 1 : 0;
                        // who may take it together does: a sender borrows its partner's lane, so
                        // only the first tile of each pair sends at double width
                        const bool is_short = message.bytes < 8 * machine.exchange.pair_min_items;
                        const bool is_second = message.from.tile % 2 == 1;
                        CHECK((is_short || is_second || partner == places.end() ||
                               partner->second != place));
                    }
                }
            });
            if (kept == 40 && block == 1) {
                CHECK(alone > 0); // both want the row, at different places
            }
        }
    }
}
