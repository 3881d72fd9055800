// SPDX-License-Identifier: MIT
// What is told of a dense product beside its program: the work of its tiles, its roundings, the cycles that
// are expected of groups, and how far what comes behind the product may be off.
#include "base/ceil_div.h"
#include "base/error.h"
#include "kernels/function/function.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_cost.h"
#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/matmul/matmul_graph.h"
#include "kernels/matmul/matmul_groups.h"
#include "kernels/matmul/published/layout.h"
#include "kernels/matmul/published/plan.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/workload/overflow.h"
#include "models/timing/tile_position.h"
#include "tests/kernels/graph/tight.h"
#include "tests/support/gc2.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace tessera;
using workload::Activation;
using workload::MatmulWorkload;

struct Types {
    ElementType data;
    ElementType partials;
};
constexpr Types kHalf{ElementType::F16, ElementType::F16};
constexpr Types kMixed{ElementType::F16, ElementType::F32};
constexpr Types kFloat{ElementType::F32, ElementType::F32};

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

MatmulWorkload workload_of(std::int64_t m, std::int64_t k, std::int64_t n, const Types& types,
                           Activation activation = Activation::None, bool bias = false) {
    MatmulWorkload workload;
    workload.m = m;
    workload.k = k;
    workload.n = n;
    workload.dtype = types.data;
    workload.partials = types.partials;
    workload.activation = activation;
    workload.bias = bias;
    return workload;
}

/// Of the compute sets whose names begin so, by all tiles.
std::int64_t work_of(const graph::Graph& graph, const std::string& name) {
    std::int64_t sum = 0;
    for (const graph::ComputeSet& set : graph.compute_sets) {
        if (set.name.rfind(name, 0) == 0) {
            sum = std::accumulate(set.work.begin(), set.work.end(), sum);
        }
    }
    return sum;
}

} // namespace

TEST_CASE("the work of a dense product's tiles is all of its weight loads and sums", "[kernels]") {
    for (const Types& types : {kHalf, kMixed}) {
        const MatmulWorkload given = workload_of(50, 300, 70, types, Activation::Relu, true);
        const matmul::Problem problem(given);
        for (const matmul::Partition& p : {matmul::Partition{3, 2, 2, 2, matmul::Paired::None},
                                           matmul::Partition{4, 3, 1, 1, matmul::Paired::B},
                                           matmul::Partition{1, 1, 1, 3, matmul::Paired::None},
                                           matmul::Partition{1, 7, 1, 1, matmul::Paired::None}}) {
            const matmul::Grid grid(problem, p);
            const auto emitted = matmul::emit(machine_of(32), grid, "test");
            const std::int64_t cells = problem.m * problem.out_groups;
            CAPTURE(name_of(types.partials), p.parts_m, p.parts_k, p.parts_n, p.chunks);
            CHECK(work_of(emitted.graph, "multiply chunk") == cells * problem.k_groups);
            // two units of 16 bytes in a cell of each part's partial results
            CHECK(work_of(emitted.graph, "reduce") == (grid.reduces() ? 2 * cells * p.parts_k : 0));
            // units of 8 bytes, each once
            CHECK(work_of(emitted.graph, "bias") == cells * problem.result_cell() / 8);
            CHECK(work_of(emitted.graph, "relu") == cells * problem.result_cell() / 8);
            CHECK(test::loose_buffers(emitted.graph) == std::vector<std::string>{});
        }
    }
}

TEST_CASE("the work of a published dense plan is that of all of its steps", "[kernels]") {
    bool many_stages = false;
    bool steps = false;
    for (const Types& types : {kHalf, kMixed, kFloat}) {
        for (const auto& [tiles, m, k, n] :
             {std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>{4, 50, 100, 30},
              {64, 40, 4000, 6},
              {64, 16, 3000, 1},
              {4, 4000, 200, 100}}) {
            const auto machine = machine_of(tiles);
            auto given = workload_of(m, k, n, types, Activation::Relu, true);
            given.plan = workload::PlanKind::Published;
            const auto plan = matmul::published_plan(machine, given);
            const auto planned = matmul::plan_published(machine, given, plan);
            const std::int64_t outs = ceil_div(m, plan.vertex.out_group);
            const std::int64_t ins = ceil_div(k, plan.vertex.in_group);
            const Bytes partial = bytes_of(types.partials);
            const Bytes result = bytes_of(types.data);
            const std::int64_t elements = n * outs * plan.vertex.out_group;
            CAPTURE(name_of(types.data), name_of(types.partials), tiles, m, k, n,
                    plan.split.in_parts, plan.split.out_serial);
            const auto work = [&](const std::string& name) { return work_of(planned.graph, name); };
            CHECK(work("multiply") == n * outs * ins);
            CHECK(test::loose_buffers(planned.graph) == std::vector<std::string>{});
            // each stage sums what the one before it has left, 16 bytes a unit
            std::int64_t partials = plan.split.in_parts;
            std::int64_t summed = 0;
            for (const std::int64_t left : plan.intermediate_depths) {
                summed += partials * elements * partial / 16;
                partials = left;
                many_stages = true;
            }
            summed += partials > 1 ? partials * elements * partial / 16 : 0;
            CHECK(work("reduce") == summed);
            const bool casts = types.data != types.partials && plan.split.in_parts == 1;
            CHECK(work("cast") == (casts ? elements : 0));
            const bool regroups = types.data == ElementType::F32 && plan.vertex.out_group != 8;
            CHECK(work("regroup") == (regroups ? elements * result : 0));
            CHECK(work("update") == (plan.split.out_serial > 1 ? elements * result : 0));
            CHECK(work("bias") == elements * result / 8);
            CHECK(work("relu") == elements * result / 8);
            steps = steps || plan.split.out_serial > 1;
        }
    }
    CHECK(many_stages);
    CHECK(steps);
}

TEST_CASE("a published dense plan is told as its split, with the roundings of its sums",
          "[kernels]") {
    for (const Types& types : {kHalf, kMixed, kFloat}) {
        for (const auto& [tiles, m, k, n] :
             {std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>{4, 50, 100, 30},
              {64, 40, 4000, 6},
              {64, 16, 3000, 1},
              {1, 16, 500, 10},
              {4, 4000, 200, 100}}) {
            const auto machine = machine_of(tiles);
            const auto given = workload_of(m, k, n, types);
            const auto plan = matmul::published_plan(machine, given);
            const auto division = matmul::plan_published(machine, given, plan).division;
            CAPTURE(name_of(types.data), name_of(types.partials), tiles, m, k, n);
            CHECK(division.parts_m == plan.split.out_parts);
            CHECK(division.parts_k == plan.split.in_parts);
            CHECK(division.parts_n == plan.split.field_parts);
            CHECK(division.chunks == plan.split.out_serial);
            CHECK(division.tiles_busy == plan.tiles());
            const auto& phases = plan.phases;
            const Cycles planned = phases.serial_steps * (phases.slice + phases.vertex +
                                                          phases.reduce + phases.update) +
                                   phases.final_cast;
            // FP32 results of groups of 16 rows are regrouped into groups of 8: of each, two lines of 32 bytes
            const bool regrouped = types.data == ElementType::F32 && plan.vertex.out_group != 8;
            if (regrouped) {
                CHECK(division.predicted.compute > planned);
            } else {
                CHECK(division.predicted.compute == planned);
            }
            CHECK(division.predicted.reduction == phases.serial_steps * phases.reduce);
            const auto stages = static_cast<std::int64_t>(plan.intermediate_depths.size()) +
                                (plan.split.in_parts > 1 ? 1 : 0);
            // FP16 sums are rounded once an in-group; FP32 sums once for four products of FP16
            // each, or for each product of FP32; and with each other partial result of a sum
            const std::int64_t ins = plan.tile.in_groups;
            const std::int64_t wanted =
                types.partials == ElementType::F16 ? ins + stages
                : types.data == ElementType::F16
                    ? 4 * ins + plan.split.in_parts + stages - (plan.split.in_parts > 1 ? 1 : 0)
                    : plan.vertex.in_group * ins + plan.split.in_parts + stages -
                          (plan.split.in_parts > 1 ? 1 : 0);
            CHECK(division.roundings == wanted);
        }
    }
}

TEST_CASE("what a product goes on with costs its own steps and the bias' words", "[kernels]") {
    const auto machine = machine_of(32);
    const plan::ExchangeCost exchange(machine);
    for (const Types& types : {kHalf, kMixed}) {
        for (const matmul::Partition& p : {matmul::Partition{1, 1, 2, 1, matmul::Paired::None},
                                           matmul::Partition{4, 1, 2, 2, matmul::Paired::None},
                                           matmul::Partition{1, 3, 2, 1, matmul::Paired::None}}) {
            const auto estimate = [&](bool bias, Activation activation) {
                const matmul::Problem problem(workload_of(50, 300, 70, types, activation, bias));
                return matmul::estimate(machine, exchange, matmul::Grid(problem, p));
            };
            const auto bytes = [&](bool bias) {
                const matmul::Problem problem(
                    workload_of(50, 300, 70, types, Activation::None, bias));
                return matmul::estimate_bytes(machine, matmul::Grid(problem, p));
            };
            const auto given = workload_of(50, 300, 70, types, Activation::Gelu, true);
            const matmul::Problem problem(given);
            const matmul::Grid grid(problem, p);
            const std::int64_t share =
                ceil_div(grid.most_rows() * grid.most_out_groups(), p.parts_k);
            const auto strips = grid.strips({0, share}, grid.most_rows());
            const auto [added, activated] =
                problem.epilogue.cycles(machine, share * problem.result_cell(), strips);
            CHECK(added > 0);
            CHECK(activated > 0);
            const Cycles step = machine.control.step_cycles;
            const auto plain = estimate(false, Activation::None);
            CAPTURE(name_of(types.partials), p.parts_m, p.parts_k);
            CHECK(estimate(true, Activation::None).compute == plain.compute + step + added);
            CHECK(estimate(false, Activation::Gelu).compute == plain.compute + step + activated);
            CHECK(estimate(true, Activation::Gelu).compute ==
                  plain.compute + 2 * step + added + activated);
            // it moves where several tiles have the columns, in words of 4 bytes
            const std::int64_t words = grid.most_out_groups() * problem.result_cell() / 4;
            const bool moves = p.parts_m * p.parts_k > 1;
            CHECK(estimate(true, Activation::None).exchange ==
                  plain.exchange + (moves ? ceil_div(4 * words, machine.exchange.lane_bytes) : 0));
            CHECK(estimate(false, Activation::Gelu).exchange == plain.exchange);
            CHECK(bytes(true) == bytes(false) + 4 * words);
        }
    }
}

TEST_CASE("cells of a share are told as rows of one group of outputs", "[kernels]") {
    const matmul::Problem problem(workload_of(7, 16, 60, kHalf));
    const matmul::Grid grid(problem, {});
    const Bytes cell = problem.result_cell();
    for (std::int64_t begin = 0; begin < 28; ++begin) {
        for (std::int64_t end = begin; end <= 28; ++end) {
            std::int64_t at = begin;
            for (const auto& strip : grid.strips({begin, end}, 7)) {
                CHECK(strip.offset == (at - begin) * cell);
                CHECK(strip.units == cell / 8);
                CHECK(strip.rows > 0);
                CHECK(strip.bias == at / 7 * 16 * 2); // that group's elements
                CHECK((at + strip.rows - 1) / 7 == at / 7);
                CHECK((at + strip.rows == end || (at + strip.rows) % 7 == 0));
                at += strip.rows;
            }
            CHECK(at == end);
        }
    }
}

TEST_CASE("a result may be off by the product's tolerance and by what comes behind it",
          "[kernels]") {
    for (const Types& types : {kHalf, kFloat}) {
        const auto given = [&](Activation activation, bool bias) {
            return workload_of(4, 4, 3, types, activation, bias);
        };
        const std::vector<double> bias{0.5, -3, 100};
        CHECK_FALSE(matmul::after_product(given(Activation::None, false), {}));
        const auto gelu = function::gelu(types.data);
        for (const double product : {-2.0, -0.1, 0.0, 0.75, 3.0, 1000.0}) {
            for (const double off : {0.0, 0.01, 1.0}) {
                CAPTURE(name_of(types.data), product, off);
                // the bias' sum is rounded once, wherever in its tolerance it is
                for (std::int64_t column = 0; column < 3; ++column) {
                    const double sum = product + bias[static_cast<std::size_t>(column)];
                    const auto made = matmul::after_product(given(Activation::None, true),
                                                            bias)(0, column, {product, off});
                    CHECK(made.value == sum);
                    CHECK(made.tolerance ==
                          Approx(off + workload::rounding(types.data, std::fabs(sum) + off))
                              .epsilon(1e-14));
                    const auto both = matmul::after_product(given(Activation::Relu, true),
                                                            bias)(0, column, {product, off});
                    CHECK(both.value == std::max(sum, 0.0));
                    CHECK(both.tolerance == Approx(made.tolerance).epsilon(1e-14));
                }
                const auto relu =
                    matmul::after_product(given(Activation::Relu, false), {})(0, 0, {product, off});
                CHECK(relu.value == std::max(product, 0.0));
                CHECK(relu.tolerance == off); // exact, and no steeper than 1
                const auto smooth =
                    matmul::after_product(given(Activation::Gelu, false), {})(0, 0, {product, off});
                CHECK(smooth.value == gelu.value(product, 0));
                double own = 0;
                for (const double x : {product - off, product, product + off}) {
                    own = std::max(own, gelu.tolerance(x, 0, gelu.value(x, 0)));
                }
                CHECK(smooth.tolerance == Approx(1.13 * off + own).epsilon(1e-14));
                // what an argument in its tolerance is made to is in that of the result
                for (double share = -1; share <= 1; share += 0.125) {
                    CHECK(std::fabs(gelu.value(product + share * off, 0) - smooth.value) <=
                          1.13 * off + 1e-12);
                }
            }
        }
        // no smaller slope would do
        double steepest = 0;
        for (double x = -6; x < 6; x += 1e-3) {
            steepest = std::max(steepest, (gelu.value(x + 1e-3, 0) - gelu.value(x, 0)) / 1e-3);
        }
        CHECK(steepest < 1.13);
        CHECK(steepest > 1.125);
    }
}

namespace {

std::vector<std::int64_t> asked_tiles;      // of shares, in the order of questions
family::Division planned_division;          // of one group
std::vector<std::int64_t> planned_on_tiles; // of shares that were planned

Cycles cost_of_turn(const spec::MachineSpec& machine, const MatmulWorkload& /*workload*/) {
    asked_tiles.push_back(machine.chip.tiles);
    return 100;
}
family::Planned plan_of_turn(const spec::MachineSpec& machine, const MatmulWorkload& workload) {
    auto planned =
        matmul::plan_published(machine, workload, matmul::published_plan(machine, workload));
    planned_division = planned.division;
    return planned;
}
family::Planned no_plan(const spec::MachineSpec& machine, const MatmulWorkload& /*workload*/) {
    planned_on_tiles.push_back(machine.chip.tiles);
    throw DoesNotFit("no plan");
}

std::string refusal(const spec::MachineSpec& machine, const MatmulWorkload& given) {
    exchange_plan::KnownSchedules known;
    try {
        static_cast<void>(matmul::choose_groups(machine, given, known, {cost_of_turn, no_plan}));
    } catch (const DoesNotFit& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("numbers of groups at once are powers of two, and those of the fewest turns",
          "[kernels]") {
    for (const std::int64_t tiles : {16, 61, 64}) {
        for (const std::int64_t groups : {2, 7, 8, 9, 64, 100}) {
            const auto machine = machine_of(tiles);
            asked_tiles.clear();
            static_cast<void>(refusal(machine, [&] {
                auto given = workload_of(16, 16, 16, kHalf);
                given.groups = groups;
                return given;
            }()));
            const std::int64_t most = std::min(groups, tiles);
            std::set<std::int64_t> counts;
            for (std::int64_t count = 1; count <= most; count *= 2) {
                counts.insert(count);
            }
            const std::int64_t fewest = ceil_div(groups, most);
            for (std::int64_t turns = fewest; turns < fewest + 8; ++turns) {
                counts.insert(ceil_div(groups, turns));
            }
            const std::int64_t pair = 2 * timing::pair_bit(machine.chip);
            std::vector<std::int64_t> wanted;
            for (const std::int64_t count : counts) {
                const std::int64_t each = tiles / count;
                wanted.push_back(each > pair ? each - each % pair : each);
            }
            CAPTURE(tiles, groups);
            CHECK(asked_tiles == wanted);
        }
    }
}

TEST_CASE("groups that have no plan say which number of them was tried last", "[kernels]") {
    auto given = workload_of(16, 16, 16, kHalf);
    given.groups = 8;
    planned_on_tiles.clear();
    // fewest turns first; each with less and less of the memory, down to all groups in turn
    CHECK(refusal(machine_of(64), given) ==
          "no plan (1 groups side by side on 64 tiles each, the last number that was tried)");
    REQUIRE(planned_on_tiles.size() % 3 == 0);
    CHECK(planned_on_tiles.front() == 8);
    CHECK(planned_on_tiles.back() == 64);
    for (std::size_t i = 0; i < planned_on_tiles.size(); i += 3) {
        CHECK(planned_on_tiles[i] == planned_on_tiles[i + 1]);
        CHECK(planned_on_tiles[i] == planned_on_tiles[i + 2]);
    }
    given = workload_of(1024, 1024, 1024, kHalf);
    given.groups = 5;
    planned_on_tiles.clear();
    CHECK(refusal(machine_of(4), given) ==
          "matmul 1024 x 1024 x 1024, 5 groups does not fit in tile memory: operands and results "
          "are 31457280 bytes, and all tiles have " +
              std::to_string(4 * machine_of(4).memory.bytes()));
    CHECK(planned_on_tiles.empty());
}

TEST_CASE("groups are told with what all of their turns take", "[kernels]") {
    for (const std::int64_t groups : {2, 5, 9}) {
        for (const std::int64_t tiles : {2, 4}) {
            // on a tile each: nothing is summed, and FP32 sums are cast without an exchange
            auto given = workload_of(40, 200, 30, kMixed);
            given.groups = groups;
            exchange_plan::KnownSchedules known;
            const auto divided = matmul::choose_groups(machine_of(tiles), given, known,
                                                       {cost_of_turn, plan_of_turn});
            const auto& division = divided.division;
            // all turns cost alike: as few of them as there can be, and no more groups than that takes
            const std::int64_t turns = ceil_div(groups, std::min(groups, tiles));
            CAPTURE(groups, tiles, division.groups_at_once);
            CHECK(division.groups_at_once == ceil_div(groups, turns));
            CHECK(division.tiles_busy == planned_division.tiles_busy * division.groups_at_once);
            CHECK(planned_division.predicted.reduction > 0);
            CHECK(division.predicted.compute == planned_division.predicted.compute * turns);
            CHECK((tiles / division.groups_at_once > 1 ||
                   division.predicted.reduction == planned_division.predicted.reduction * turns));
            CHECK(division.roundings == planned_division.roundings);
        }
    }
}

TEST_CASE("each vertex of a published dense plan has its codelet, its cells and its sums",
          "[kernels]") {
    using published::DenseVertex;
    constexpr Types kF143{ElementType::F143, ElementType::F16};
    struct Row {
        Types types;
        DenseVertex vertex;
        std::string codelet;
        std::string multiply;
        std::string sums;
        std::string last_sums;
        Bytes in_cell;
        Bytes partial_cell;
        Bytes result_cell;
    };
    const std::string name = "published/conv_partial_1x1";
    const std::string vertex = "ConvPartial1x1Out_";
    const std::vector<Row> rows{
        {kHalf, {16, 16, 16}, name, vertex + "half_half", "half_half", "half_half", 32, 32, 32},
        {kHalf,
         {16, 8, 8},
         name + "_half_8",
         vertex + "half_half_8",
         "half_half",
         "half_half",
         32,
         16,
         16},
        {kMixed, {16, 16, 8}, name, vertex + "half_float", "float_float", "float_half", 32, 64, 32},
        {kMixed,
         {16, 8, 8},
         name,
         vertex + "half_float_8",
         "float_float",
         "float_half",
         32,
         32,
         16},
        {kFloat,
         {8, 16, 16},
         name + "_float",
         vertex + "float_float",
         "float_float",
         "float_float",
         32,
         64,
         64},
        {kFloat,
         {8, 8, 8},
         name + "_float_8",
         vertex + "float_float_8",
         "float_float",
         "float_float",
         32,
         32,
         32},
        {kF143, {32, 16, 16}, name, vertex + "quarter_half", "half_half", "half_half", 32, 32, 32},
    };
    for (const Row& row : rows) {
        const auto cells =
            matmul::cells_of({40, 40, 40, row.types.data, row.types.partials}, row.vertex);
        CAPTURE(row.multiply);
        CHECK(cells.codelet == row.codelet);
        CHECK(cells.multiply == row.multiply);
        CHECK(std::string(cells.types) == row.sums);
        CHECK(std::string(cells.last_types) == row.last_sums);
        CHECK(cells.in_group == row.vertex.in_group);
        CHECK(cells.out_group == row.vertex.out_group);
        CHECK(cells.in_cell == row.in_cell);
        CHECK(cells.block == row.in_cell * row.vertex.out_group);
        CHECK(cells.partial_cell == row.partial_cell);
        CHECK(cells.result_cell == row.result_cell);
        // words from the last one that a pass writes of a column to the first of its next column
        const Bytes written = row.vertex.units * bytes_of(row.types.partials);
        CHECK(cells.out_stride == (row.partial_cell - written) / 8 + 1);
        CHECK(cells.result == workload::result_type(row.types.data));
    }
}

TEST_CASE("what a published dense vertex reads beside what it writes is apart from it, and padded",
          "[kernels]") {
    for (const bool bias : {false, true}) {
        for (const auto& [m, k] :
             {std::pair<std::int64_t, std::int64_t>{64, 64}, {64, 60}, {60, 64}, {60, 60}}) {
            const auto machine = machine_of(4);
            auto given = workload_of(m, k, 40, kHalf, Activation::None, bias);
            const auto plan = matmul::published_plan(machine, given);
            const auto planned = matmul::plan_published(machine, given, plan);
            REQUIRE(plan.vertex.in_group == 16);
            const bool pads_k = k % 16 != 0;
            const bool pads_a = pads_k || m % plan.vertex.out_group != 0;
            CAPTURE(m, k, bias);
            std::set<std::string> names;
            for (const graph::Buffer& buffer : planned.graph.buffers) {
                CAPTURE(buffer.name);
                names.insert(buffer.name);
                std::set<std::string> apart;
                for (const graph::BufferId other : buffer.apart) {
                    apart.insert(planned.graph.buffers[other.index].name);
                }
                const std::set<std::string> operands{"x", "weights"};
                const bool is_home = buffer.name == "home of a" || buffer.name == "home of b" ||
                                     buffer.name == "slice of a";
                if (is_home) {
                    CHECK(apart == operands); // an exchange sends while it receives
                } else if (operands.count(buffer.name) > 0 || buffer.name == "cast") {
                    CHECK(apart == std::set<std::string>{"partials"});
                } else if (buffer.name.rfind("sums stage", 0) == 0) {
                    CHECK(apart == std::set<std::string>{"slices" + buffer.name.substr(4)});
                } else {
                    CHECK(apart.empty());
                }
                const bool is_padded =
                    buffer.name == "weights" || buffer.name == "home of a" ? pads_a
                    : buffer.name == "x" || buffer.name == "home of b"     ? pads_k
                                                                           : buffer.name == "bias";
                CHECK(buffer.padded == is_padded);
                CHECK((buffer.where == graph::Where::Region1) == (buffer.name == "partials"));
                const bool read_on =
                    buffer.name == "partials" || buffer.name.find(" stage ") != std::string::npos;
                CHECK(buffer.read_beyond == (read_on ? 32 : 0));
                CHECK((buffer.kind == program::SegmentKind::Stack) == (buffer.name == "stack"));
            }
            CHECK(names.count("bias") == (bias ? 1 : 0));
        }
    }
}
