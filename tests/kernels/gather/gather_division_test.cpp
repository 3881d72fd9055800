// SPDX-License-Identifier: MIT
// How gather divides its table, beside the rule written down a second time: of all divisions whose bytes
// fit the one of the least cycles.
#include "base/error.h"
#include "kernels/codelets/gather_rows_cost.h"
#include "kernels/exchange_plan/known_schedules.h"
#include "kernels/gather/gather.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/workload/random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;

constexpr Bytes kUnit = 8;
constexpr Bytes kId = 4;

std::int64_t in_parts(std::int64_t all, std::int64_t parts) {
    return all / parts + (all % parts == 0 ? 0 : 1);
}

struct Shape {
    ElementType type = ElementType::F16;
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    std::int64_t numbers = 1;

    [[nodiscard]] std::int64_t units() const { return in_parts(columns * bytes_of(type), kUnit); }
};

/// A division, with what the fullest tile holds and how long the step takes.
struct Division {
    std::int64_t of_rows = 1;
    std::int64_t of_columns = 1;
    Bytes bytes = 0;
    Cycles cycles = 0;
};

Cycles on_workers(const spec::MachineSpec& machine, std::int64_t all, auto issues_of) {
    const std::int64_t workers = machine.tile.workers;
    std::vector<std::int64_t> issues(static_cast<std::size_t>(workers));
    for (std::int64_t one = 0; one < all; ++one) {
        ++issues[static_cast<std::size_t>(one % workers)];
    }
    std::ranges::transform(issues, issues.begin(), issues_of);
    return plan::multi_worker_cycles(machine, issues);
}

Division division_of(const spec::MachineSpec& machine, const Shape& shape, std::int64_t of_rows,
                     std::int64_t of_columns) {
    const std::int64_t width = in_parts(shape.units(), of_columns);
    const Cycles step = plan::row_overhead(machine.exchange) + machine.sync.internal_cycles;
    Division made{of_rows, of_columns, 0, 0};
    made.bytes = (in_parts(shape.rows, of_rows) + 1) * width * kUnit // with a row of zeros
                 + shape.numbers * width * kUnit                     // what is picked
                 + 2 * shape.numbers * kId; // the numbers, and those that stand there
    made.cycles = step + shape.numbers + on_workers(machine, shape.numbers, [&](std::int64_t own) {
                      return codelets::gather_rows_issues(own, width);
                  });
    if (of_rows > 1) {
        const std::int64_t joined = in_parts(shape.numbers, of_rows) * width;
        const std::int64_t others = of_rows - 1;
        made.bytes += 2 * shape.numbers * width * kUnit; // of others, and joined
        made.cycles += step + others * joined * (kUnit / kId) +
                       on_workers(machine, joined, [&](std::int64_t own) {
                           return codelets::join_rows_issues(own, others);
                       });
    }
    return made;
}

/// Rows in 1, 2, 4 ... parts, or in as many as there can be.
std::vector<Division> divisions_of(const spec::MachineSpec& machine, const Shape& shape) {
    std::vector<Division> all;
    for (std::int64_t columns = 1; columns <= machine.chip.tiles && columns <= shape.units();
         ++columns) {
        const std::int64_t most = std::min(shape.rows, machine.chip.tiles / columns);
        std::set<std::int64_t> parts{most};
        for (std::int64_t power = 1; power < most; power *= 2) {
            parts.insert(power);
        }
        if (in_parts(shape.units(), columns) <= plan::most_rounds(machine)) {
            for (const std::int64_t rows : parts) {
                all.push_back(division_of(machine, shape, rows, columns));
            }
        }
    }
    return all;
}

Bytes room_of(const spec::MachineSpec& machine) {
    return machine.memory.region0_bytes + machine.memory.region1_bytes -
           2 * machine.memory.element_bytes;
}

Division expected(const spec::MachineSpec& machine, const Shape& shape) {
    const auto all = divisions_of(machine, shape);
    std::vector<Division> fitting;
    std::ranges::copy_if(all, std::back_inserter(fitting),
                         [&](const Division& one) { return one.bytes <= room_of(machine); });
    return fitting.empty() ? *std::ranges::min_element(all, {}, &Division::bytes)
                           : *std::ranges::min_element(fitting, {}, &Division::cycles);
}

struct Emitted {
    std::int64_t of_rows = 0;
    std::int64_t of_columns = 0;
    Bytes bytes =
        0; ///< that the fullest tile holds of buffers whose size is the table's or the list's
};

Emitted emitted(const spec::MachineSpec& machine, const Shape& shape) {
    const family::TensorType table{shape.type, {shape.rows, shape.columns}};
    const family::TensorType ids{ElementType::U32, {shape.numbers}};
    const auto step = gather::family().make({{table, ids}, {}});
    graph::Graph graph("test");
    exchange_plan::KnownSchedules known;
    const family::Site site{machine, known, 0, "step"};
    const std::array<std::optional<graph::TensorId>, 2> nowhere;
    const auto made = step->emit(graph, site, nowhere);
    std::set<std::int64_t> first_rows;
    std::set<std::int64_t> first_columns;
    const graph::Tensor& placed = graph.tensors[made.inputs[0].index];
    for (const graph::Piece& piece : placed.pieces) {
        first_rows.insert(piece.host_offset / shape.columns);
        first_columns.insert(piece.host_offset % shape.columns);
    }
    CHECK(placed.pieces.size() == first_rows.size() * first_columns.size());
    std::map<TileId, Bytes> held;
    for (const graph::Buffer& buffer : graph.buffers) {
        for (const graph::Held& one : buffer.held) {
            held[one.tile] += one.bytes;
        }
    }
    Emitted result{static_cast<std::int64_t>(first_rows.size()),
                   static_cast<std::int64_t>(first_columns.size()), 0};
    for (const auto& [tile, bytes] : held) {
        result.bytes = std::max(result.bytes, bytes);
    }
    return result;
}

void check_division(const spec::MachineSpec& machine, const Shape& shape) {
    CAPTURE(machine.chip.tiles, machine.tile.workers, room_of(machine), shape.rows, shape.columns,
            shape.numbers, bytes_of(shape.type));
    const Division chosen = expected(machine, shape);
    const Emitted made = emitted(machine, shape);
    CHECK(made.of_rows == chosen.of_rows);
    CHECK(made.of_columns == chosen.of_columns);
    CHECK(made.bytes < chosen.bytes + kUnit); // numbers end in a double word
}

} // namespace

TEST_CASE("a gather's table is divided as takes the least cycles of what fits",
          "[kernels][gather]") {
    const workload::CounterRandom random(3, 4);
    std::uint64_t drawn = 0;
    const auto below = [&](std::uint64_t bound) {
        return static_cast<std::int64_t>(random.below(bound, drawn++));
    };
    std::set<std::pair<bool, bool>> seen; // rows are divided, columns are
    for (int i = 0; i < 150; ++i) {
        spec::MachineSpec machine;
        machine.chip.tiles = 1 + below(40);
        machine.tile.workers = 1 + below(6);
        const Shape shape{below(2) == 0 ? ElementType::F16 : ElementType::F32,
                          1 + below(below(2) == 0 ? 30 : 3000), 1 + below(70), 1 + below(200)};
        check_division(machine, shape);
        // as much memory as a division takes, and a byte less
        const auto all = divisions_of(machine, shape);
        const auto& one = all[static_cast<std::size_t>(below(all.size()))];
        machine.memory.region0_bytes = 2 * machine.memory.element_bytes;
        for (const Bytes room : {one.bytes, one.bytes - 1, Bytes{8}}) {
            machine.memory.region1_bytes = room;
            check_division(machine, shape);
            const Division chosen = expected(machine, shape);
            seen.emplace(chosen.of_rows > 1, chosen.of_columns > 1);
        }
    }
    CHECK(seen.size() == 4);
}

TEST_CASE("rows of a table are as long as a repeat counts, times tiles", "[kernels][gather]") {
    for (const std::int64_t tiles : {1, 2}) {
        spec::MachineSpec machine;
        machine.chip.tiles = tiles;
        const std::int64_t most = tiles * plan::most_rounds(machine) * kUnit / 2; // elements
        const auto of_columns = [&](std::int64_t columns) {
            return emitted(machine, {ElementType::F16, 1, columns, 1}).of_columns;
        };
        CHECK(of_columns(most) == tiles);
        CHECK_THROWS_AS(of_columns(most + 1), NotModelled);
        CHECK_THROWS_WITH(of_columns(most + 1),
                          "gather: not modelled: rows of " + std::to_string(most + 1) +
                              " elements on " + std::to_string(tiles) +
                              " tiles, which are more than a repeat copies; see docs/kernels.md");
    }
}
