// SPDX-License-Identifier: MIT
#include "kernels/published/dense_planner.h"
#include "tests/kernels/published/reference_rows.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::published;
using test::CsvRow;
using test::read_reference;

namespace {

DenseMachine bow() {
    return dense_machine(spec::MachineSpec{});
}

std::int64_t ceil_of(std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit;
}

struct ReferencePlan {
    DenseProblem problem;
    DenseSplit split;
    double measured_cycles = 0;
    std::string ratio; ///< measured / planned, two digits
};

std::vector<ReferencePlan> reference_plans() {
    std::vector<ReferencePlan> plans;
    for (const CsvRow& row : read_reference("published_dense_plans.csv")) {
        const auto number = [&](const char* column) { return std::stoll(row.at(column)); };
        ReferencePlan plan;
        plan.problem = {number("m"), number("k"), number("n"),
                        find_element_type(row.at("data"))->type,
                        find_element_type(row.at("partials"))->type};
        plan.split.field_parts = number("field_parts");
        plan.split.out_parts = number("out_parts");
        plan.split.out_serial = number("out_serial");
        plan.split.in_parts = number("in_parts");
        plan.split.inputs_once = plan.split.out_serial > 1; // dearer otherwise, where it fits
        plan.measured_cycles = std::stod(row.at("cycles"));
        plan.ratio = row.at("ratio");
        plans.push_back(plan);
    }
    return plans;
}

DenseProblem square(std::int64_t m, std::int64_t n, ElementType type) {
    return {m, m, n, type, type};
}

bool wasteful(std::int64_t grains, std::int64_t split) {
    return split > 1 && ceil_of(grains, split) == ceil_of(grains, split - 1);
}

/// Every plan that the rules allow.
std::vector<DensePlan> all_plans(const DenseProblem& problem, const DenseMachine& machine) {
    std::vector<DensePlan> plans;
    for (const DenseVertex& vertex : dense_vertices(problem, machine)) {
        const std::int64_t ins = ceil_of(problem.k, vertex.in_group);
        const std::int64_t outs = ceil_of(problem.m, vertex.out_group);
        const auto each_channel_split = [](std::int64_t groups, const auto& each) {
            for (std::int64_t parallel = 1; parallel <= groups; ++parallel) {
                for (std::int64_t serial = 1; parallel * serial <= groups; ++serial) {
                    if (!wasteful(groups, parallel * serial)) {
                        each(parallel, serial);
                    }
                }
            }
        };
        for (std::int64_t field = 1; field <= problem.n; ++field) {
            if (wasteful(problem.n, field)) {
                continue;
            }
            each_channel_split(outs, [&](std::int64_t out, std::int64_t out_serial) {
                each_channel_split(ins, [&](std::int64_t in, std::int64_t in_serial) {
                    if (field * out * in > machine.tiles || std::min(out_serial, in_serial) > 1) {
                        return;
                    }
                    for (const bool once : {false, true}) {
                        if (!once || out_serial > 1) {
                            plans.push_back(plan_of(problem, machine, vertex,
                                                    {field, out, out_serial, in, in_serial, once}));
                        }
                    }
                });
            });
        }
    }
    return plans;
}

} // namespace

TEST_CASE("the search finds every plan that is known, and its cycles to the digits known",
          "[kernels][published]") {
    const DenseMachine machine = bow();
    const auto references = reference_plans();
    CHECK(references.size() == 58);
    std::map<ElementType, std::pair<double, int>> logs;
    for (const ReferencePlan& reference : references) {
        const DensePlan plan = plan_dense(reference.problem, machine);
        CAPTURE(name_of(reference.problem.data), reference.problem.m, reference.problem.n);
        CHECK(plan.split == reference.split);
        const double ratio = reference.measured_cycles / static_cast<double>(plan.phases.total());
        CHECK(std::abs(ratio - std::stod(reference.ratio)) < 0.0051);
        auto& [sum, count] = logs[reference.problem.data];
        sum += std::log(ratio);
        ++count;
    }
    const auto geometric_mean = [&](ElementType type) {
        return std::exp(logs[type].first / logs[type].second);
    };
    CHECK(geometric_mean(ElementType::F16) == Approx(1.04).margin(0.005));
    CHECK(geometric_mean(ElementType::F32) == Approx(1.07).margin(0.005));
}

TEST_CASE("phases of worked examples are known to the cycle", "[kernels][published]") {
    struct Worked {
        std::int64_t m, n, tiles;
        DenseTile tile;
        Cycles inputs, weights, vertex, first, later, reduce, slice, update, total;
    };
    // Source: docs/published_plans.md#dense-products; FP16 with FP16 partials.
    const std::vector<Worked> table{
        {1024, 4, 1408, {4, 1, 3}, 16, 0, 833, 96, 12, 645, 0, 0, 1602},
        {1024, 16, 1408, {16, 3, 1}, 189, 0, 1073, 128, 26, 774, 0, 0, 2190},
        {1024, 256, 1408, {128, 6, 1}, 3024, 384, 4661, 1024, 0, 1374, 0, 0, 10467},
        {1024, 1024, 1408, {128, 8, 3}, 3910, 2688, 17873, 3072, 0, 2361, 0, 0, 29904},
        {2048, 64, 1408, {64, 6, 2}, 1512, 0, 5873, 1024, 205, 1890, 0, 0, 10504},
        {4096, 16, 1376, {16, 16, 3}, 1013, 0, 14945, 384, 96, 756, 0, 0, 17194},
        {4096, 256, 1376, {256, 16, 3}, 16194, 0, 59873, 6144, 1536, 7506, 0, 0, 91253},
        {4096, 4096, 1456, {293, 20, 8}, 20510, 19018, 221335, 18752, 0, 17334, 1843, 763, 1136690},
        {8192, 16, 1472, {16, 23, 8}, 1449, 0, 55810, 1024, 205, 1890, 0, 0, 60378},
        {8192, 1024, 1472, {256, 23, 4}, 22080, 8832, 114438, 8192, 1639, 8772, 3247, 439, 1186552},
    };
    for (const Worked& worked : table) {
        CAPTURE(worked.m, worked.n);
        const DensePlan plan = plan_dense(square(worked.m, worked.n, ElementType::F16), bow());
        const DensePhases& phases = plan.phases;
        CHECK(plan.vertex == DenseVertex{16, 16, 16});
        CHECK(plan.tiles() == worked.tiles);
        CHECK(plan.tile.field == worked.tile.field);
        CHECK(plan.tile.in_groups == worked.tile.in_groups);
        CHECK(plan.tile.out_groups == worked.tile.out_groups);
        CHECK(phases.inputs == worked.inputs);
        CHECK(phases.weights == worked.weights);
        CHECK(phases.vertex == worked.vertex);
        CHECK(phases.partials_first == worked.first);
        CHECK(phases.partials_later == worked.later);
        CHECK(phases.reduce == worked.reduce);
        CHECK(phases.slice == worked.slice);
        CHECK(phases.update == worked.update);
        CHECK(phases.total() == worked.total);
    }
    const auto total = [](const DenseProblem& problem) {
        return plan_dense(problem, bow()).phases.total();
    };
    CHECK(total(square(1024, 16, ElementType::F32)) == 4183);
    CHECK(total(square(1024, 256, ElementType::F32)) == 27724);
    CHECK(total(square(1024, 16384, ElementType::F32)) == 1094460);
    CHECK(total({1024, 1024, 16, ElementType::F16, ElementType::F32}) == 2705);
    const auto bytes = [](std::int64_t m, std::int64_t n) {
        return plan_dense(square(m, n, ElementType::F16), bow()).phases.temporary_bytes;
    };
    CHECK(bytes(1024, 16) == 3584);
    CHECK(bytes(4096, 4096) == 344448);
    CHECK(bytes(8192, 16) == 110080);
}

TEST_CASE("plans next to the best one cost what is known of them", "[kernels][published]") {
    const DenseProblem problem = square(1024, 16, ElementType::F16);
    const auto total = [&](std::int64_t out, std::int64_t in) {
        return phases_of(problem, bow(), {16, 16, 16}, {1, out, 1, in, 1, false}).total();
    };
    CHECK(total(22, 64) == 2272);
    CHECK(total(64, 16) == 2393);
}

TEST_CASE("no plan that the rules allow is better than the one found", "[kernels][published]") {
    spec::MachineSpec spec;
    const std::vector<std::tuple<std::int64_t, ElementType, ElementType>> cases{
        {1, ElementType::F16, ElementType::F16}, // X gathered once costs as much, and more bytes
        {8, ElementType::F16, ElementType::F16},
        {40, ElementType::F16, ElementType::F32},
        {23, ElementType::F32, ElementType::F32},
    };
    std::int64_t out_steps = 1;
    std::int64_t in_steps = 1; // of any plan that is found
    for (const auto& [tiles, data, partials] : cases) {
        for (const auto& [m, k, generation] :
             {std::tuple(200, 96, spec::Generation::Ipu1),
              {200, 96, spec::Generation::Ipu2},
              {16, 512, spec::Generation::Ipu2}}) { // whose out-channels are too few for a split
            spec.chip.tiles = tiles;
            spec.chip.generation = generation;
            const DenseMachine machine = dense_machine(spec);
            const DenseProblem problem{m, k, 37, data, partials};
            const auto plans = all_plans(problem, machine);
            for (const double share : {0.004, 0.03, 0.6}) {
                const DensePlan found = plan_dense(problem, machine, share);
                Bytes bound = static_cast<Bytes>(share * static_cast<double>(machine.tile_bytes));
                const auto least = [&] {
                    std::optional<std::pair<Cycles, Bytes>> best;
                    for (const DensePlan& plan : plans) {
                        const Bytes bytes = plan.phases.temporary_bytes;
                        if (bytes <= bound &&
                            (!best || std::pair(plan.phases.total(), bytes) < *best)) {
                            best = {plan.phases.total(), bytes};
                        }
                    }
                    return best;
                };
                while (!least()) {
                    bound *= 2;
                }
                CAPTURE(tiles, share, bound, plans.size());
                CHECK(std::pair(found.phases.total(), found.phases.temporary_bytes) == *least());
                CHECK(found.tiles() <= tiles);
                CHECK(found.phases == phases_of(problem, machine, found.vertex, found.split));
                out_steps = std::max(out_steps, found.split.out_serial);
                in_steps = std::max(in_steps, found.split.in_serial);
            }
        }
    }
    CHECK(out_steps > 1);
    CHECK(in_steps > 1);
}

TEST_CASE("twice a tile's memory is the last bound of temporary bytes, and then there is none",
          "[kernels][published]") {
    const DenseProblem problem = square(256, 64, ElementType::F16);
    DenseMachine machine = bow();
    machine.tiles = 40;
    const auto bytes_of_plan = [&](Bytes tile_bytes) {
        machine.tile_bytes = tile_bytes;
        return plan_dense(problem, machine, 1.0).phases.temporary_bytes;
    };
    const Bytes most = bytes_of_plan(Bytes{1} << 30);
    Bytes least = most; // of any plan
    for (Bytes bound = most - 1; bytes_of_plan(bound) <= bound; bound = least - 1) {
        least = bytes_of_plan(bound);
    }
    REQUIRE(least % 4 == 0);
    REQUIRE(2 * least < most);
    CHECK(bytes_of_plan(least) == least);
    CHECK(bytes_of_plan(least / 2) == least);
    CHECK(bytes_of_plan(least / 4) == most);
}

TEST_CASE("a larger machine, a faster exchange or more memory make no plan slower",
          "[kernels][published]") {
    const DenseProblem problem = square(1024, 512, ElementType::F16);
    spec::MachineSpec machine;
    const Cycles before = plan_dense(problem, machine).phases.total();
    SECTION("tiles") {
        machine.chip.tiles *= 2;
    }
    SECTION("exchange") {
        machine.exchange.lane_bytes *= 2;
    }
    SECTION("memory") {
        machine.memory.region1_bytes *= 2;
    }
    SECTION("matrix unit") {
        machine.amp.steps_per_issue = 2;
    }
    CHECK(plan_dense(problem, machine).phases.total() <= before);
}

TEST_CASE("without double width into pairs an even number of out parts gains nothing",
          "[kernels][published]") {
    spec::MachineSpec machine;
    const DenseProblem problem = square(1024, 16, ElementType::F16);
    const DenseSplit split{1, 64, 1, 22, 1, false};
    const Cycles pairs = phases_of(problem, dense_machine(machine), {16, 16, 16}, split).inputs;
    machine.exchange.pair_double = false;
    CHECK(phases_of(problem, dense_machine(machine), {16, 16, 16}, split).inputs == 2 * pairs);
}

TEST_CASE("the vertices of a type are those that the machine has units for",
          "[kernels][published]") {
    using Vertices = std::vector<DenseVertex>;
    const auto of = [](ElementType data, ElementType partials, std::int64_t sets) {
        DenseMachine machine = bow();
        machine.amp_sets = sets;
        return dense_vertices({1, 1, 1, data, partials}, machine);
    };
    CHECK(of(ElementType::F16, ElementType::F16, 2) == Vertices{{16, 16, 16}, {16, 8, 8}});
    CHECK(of(ElementType::F16, ElementType::F16, 1) == Vertices{{16, 8, 8}});
    CHECK(of(ElementType::F32, ElementType::F32, 2) == Vertices{{8, 16, 16}, {8, 8, 8}});
    CHECK(of(ElementType::F32, ElementType::F32, 1) == Vertices{{8, 8, 8}});
    for (const std::int64_t sets : {1, 2}) {
        CHECK(of(ElementType::F16, ElementType::F32, sets) == Vertices{{16, 8, 8}, {16, 16, 8}});
        for (const ElementType quarter : {ElementType::F143, ElementType::F152}) {
            CHECK(of(quarter, ElementType::F16, sets) == Vertices{{32, 16, 16}});
        }
    }
    CHECK(bow().amp_sets == 2);
}

TEST_CASE("what a planner knows of a machine is what the machine has", "[kernels][published]") {
    spec::MachineSpec spec;
    spec.chip.tiles = 77;
    spec.tile.workers = 5;
    spec.exchange.lane_bytes = 8;
    const DenseMachine machine = dense_machine(spec);
    CHECK(machine.tiles == 77);
    CHECK(machine.workers == 5);
    CHECK(machine.round_cycles == spec.tile.round_cycles());
    CHECK(machine.tile_bytes == spec.memory.bytes());
    CHECK(machine.element_bytes == spec.memory.element_bytes);
    CHECK(machine.exchange_bytes ==
          (spec.exchange.has_wide_lanes() ? 8 : spec.exchange.link_bytes));
    CHECK(machine.pair_bytes == (spec.exchange.pairs() ? 16 : machine.exchange_bytes));
    spec.exchange.pair_double = false;
    CHECK(dense_machine(spec).pair_bytes == dense_machine(spec).exchange_bytes);
    // a row of FP16 channels takes four steps, of FP32 ones eight
    CHECK(machine.row_issues_f16 == spec.amp.issues_of(4));
    CHECK(machine.row_issues_f32 == spec.amp.issues_of(8));
}

TEST_CASE("temporaries of just the bound fit", "[kernels][published]") {
    // the whole of a tile is the bound, so that it is a whole number
    for (const auto& [tiles, data] :
         {std::pair<std::int64_t, ElementType>{8, ElementType::F16}, {23, ElementType::F32}}) {
        DenseMachine machine = bow();
        machine.tiles = tiles;
        const DenseProblem problem{200, 96, 37, data, data};
        const DensePlan wanted = plan_dense(problem, machine, 1.0);
        machine.tile_bytes = wanted.phases.temporary_bytes;
        REQUIRE(plan_of(problem, machine, wanted.vertex, wanted.split).phases.total() ==
                wanted.phases.total()); // sums with room for less are no slower here
        CHECK(plan_dense(problem, machine, 1.0).split == wanted.split);
        --machine.tile_bytes;
        const DensePlan other = plan_dense(problem, machine, 1.0);
        CHECK(other.phases.temporary_bytes < wanted.phases.temporary_bytes);
        CHECK(other.phases.total() >= wanted.phases.total());
        // where nothing fits into one tile, two tiles are the last bound
        const auto plans = all_plans(problem, machine);
        Bytes least = plans.front().phases.temporary_bytes;
        for (const DensePlan& plan : plans) {
            least = std::min(least, plan.phases.temporary_bytes);
        }
        machine.tile_bytes = (least + 1) / 2;
        CHECK(plan_dense(problem, machine, 1.0).phases.temporary_bytes <= 2 * machine.tile_bytes);
        machine.tile_bytes = (least - 1) / 2;
        CHECK(plan_dense(problem, machine, 1.0).phases.total() ==
              std::min_element(
                  plans.begin(), plans.end(),
                  [&](const DensePlan& one, const DensePlan& next) {
                      const auto total = [&](const DensePlan& plan) {
                          return plan_of(problem, machine, plan.vertex, plan.split).phases.total();
                      };
                      return total(one) < total(next);
                  })
                  ->phases.total());
    }
}

TEST_CASE("all tiles may have parts of the in-channels", "[kernels][published]") {
    DenseMachine machine = bow();
    for (const std::int64_t tiles : {1, 2, 16, 40}) {
        machine.tiles = tiles;
        const DensePlan plan =
            plan_dense({16, 4096, 1, ElementType::F16, ElementType::F16}, machine);
        CHECK(plan.split.in_parts <= tiles);
        CHECK((tiles > 16 || plan.split.in_parts == tiles));
    }
}

TEST_CASE("where no plan fits the bound is raised, and at last dropped", "[kernels][published]") {
    const DenseMachine machine = bow();
    const DensePlan plan = plan_dense(square(8192, 65536, ElementType::F16), machine);
    CHECK(plan.phases.temporary_bytes > 2 * machine.tile_bytes);
    CHECK(plan.split.serial_steps() == 1);
}

TEST_CASE("a serial split of the in-channels adds to the output and casts it once",
          "[kernels][published]") {
    const DenseProblem problem{64, 256, 24, ElementType::F16, ElementType::F32};
    const DensePhases phases = phases_of(problem, bow(), {16, 16, 8}, {1, 4, 1, 2, 4, false});
    CHECK(phases.update > 0);
    CHECK(phases.final_cast > 0);
    DensePhases once = phases;
    once.serial_steps = 1;
    CHECK(phases.total() == 4 * (once.total() - once.final_cast) + once.final_cast);
}

TEST_CASE("dimensions that do not fill their groups pay for rearrangements",
          "[kernels][published]") {
    const auto phases = [](std::int64_t m, std::int64_t k) {
        return phases_of({m, k, 16, ElementType::F16, ElementType::F16}, bow(), {16, 16, 16}, {});
    };
    CHECK(phases(64, 64).transform_inputs == 0);
    CHECK(phases(64, 64).transform_weights == 0);
    CHECK(phases(64, 64).transform_outputs == 0);
    CHECK(phases(64, 60).transform_inputs > 0);
    CHECK(phases(64, 60).transform_weights > 0);
    CHECK(phases(64, 60).transform_outputs == 0);
    CHECK(phases(60, 64).transform_inputs == 0);
    CHECK(phases(60, 64).transform_weights > 0);
    CHECK(phases(60, 64).transform_outputs > 0);
}

TEST_CASE("a vertex of the matrix unit takes what the library says, and what Bow took",
          "[kernels][published]") {
    const auto rows = read_reference("published_amp_vertex.csv");
    CHECK(rows.size() == 91);
    for (const CsvRow& row : rows) {
        const Cycles cycles =
            amp_vertex_cycles(bow(), {16, 16, 16}, ElementType::F16, ElementType::F16,
                              {std::stoll(row.at("rows")), 1, 1});
        CAPTURE(row.at("rows"));
        CHECK(cycles == std::stoll(row.at("estimated_cycles")));
        CHECK(static_cast<double>(cycles) ==
              Approx(std::stod(row.at("measured_cycles"))).epsilon(0.02));
    }
}

TEST_CASE("a vertex of any type and many groups takes what the library says",
          "[kernels][published]") {
    int compared = 0;
    for (const CsvRow& row : read_reference("vertex_estimates.csv")) {
        if (row.at("vertex") != "ConvPartial1x1Out(AMP matmul)" ||
            row.at("type").starts_with("quarter")) {
            continue;
        }
        std::map<std::string, std::int64_t> values;
        std::istringstream words(row.at("params"));
        for (std::string word; words >> word;) {
            const auto equals = word.find('=');
            values[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
        }
        if (values["coeffLoadBytesPerCycle"] != 8) {
            continue;
        }
        const auto type_of = [](const std::string& name) {
            return name == "half" ? ElementType::F16 : ElementType::F32;
        };
        const std::string types = row.at("type");
        const auto slash = types.find('/');
        const DenseVertex vertex{values["inChansPerGroup"], values["outChansPerGroup"],
                                 values["convUnits"]};
        CAPTURE(types, row.at("params"));
        CHECK(amp_vertex_cycles(bow(), vertex, type_of(types.substr(0, slash)),
                                type_of(types.substr(slash + 1)),
                                {values["M_field"], values["K"] / vertex.in_group,
                                 values["N"] / vertex.out_group}) == std::stoll(row.at("cycles")));
        ++compared;
    }
    CHECK(compared == 9);
}

TEST_CASE("no vertex is faster than the matrix unit's peak", "[kernels][published]") {
    const DenseMachine machine = bow();
    for (const auto& [data, partials] : {std::pair(ElementType::F16, ElementType::F16),
                                         {ElementType::F16, ElementType::F32},
                                         {ElementType::F32, ElementType::F32}}) {
        const bool both_f16 = data == ElementType::F16 && partials == ElementType::F16;
        for (const DenseVertex& vertex : dense_vertices({1, 1, 1, data, partials}, machine)) {
            const std::int64_t macs_per_cycle = both_f16 ? 4 * vertex.units : 32;
            for (const std::int64_t field : {1, 5, 6, 13, 100, 10000}) {
                for (const std::int64_t groups : {1, 3, 64}) {
                    CHECK(amp_vertex_cycles(machine, vertex, data, partials,
                                            {field, groups, groups}) *
                              macs_per_cycle >=
                          field * groups * vertex.in_group * groups * vertex.out_group);
                }
            }
        }
    }
}

TEST_CASE("partials are summed in the stages that are known", "[kernels][published]") {
    using Depths = std::vector<std::int64_t>;
    CHECK(intermediate_depths(15).empty());
    CHECK(intermediate_depths(16) == Depths{4});
    for (const std::int64_t parts : {22, 23, 27}) {
        CHECK(intermediate_depths(parts) == Depths{5});
    }
    CHECK(intermediate_depths(32) == Depths{6});
    CHECK(intermediate_depths(64) == Depths{8});
    CHECK(intermediate_depths(124).size() == 1);
    CHECK(intermediate_depths(128) == Depths{25, 5});
    CHECK(intermediate_depths(256) == Depths{40, 6});
}

TEST_CASE("stages sum all partials and leave every output once", "[kernels][published]") {
    CHECK(reduction_stages(1, 100).empty());
    for (std::int64_t parts = 2; parts <= 1472; ++parts) {
        CAPTURE(parts);
        std::int64_t partials = parts;
        std::int64_t outputs = 4096;
        for (const ReductionStage& stage : reduction_stages(parts, outputs)) {
            CHECK(stage.left < partials);
            CHECK(stage.depth == ceil_of(partials, stage.left));
            CHECK(stage.outputs * stage.depth >= outputs);
            partials = stage.left;
            outputs = stage.outputs;
        }
        CHECK(partials == 1);
    }
}

TEST_CASE("the last parts have a grain more", "[kernels][published]") {
    CHECK(part_of(10, 4, 0) == Range{0, 2});
    CHECK(part_of(10, 4, 1) == Range{2, 4});
    CHECK(part_of(10, 4, 2) == Range{4, 7});
    CHECK(part_of(10, 4, 3) == Range{7, 10});
    for (std::int64_t grains = 1; grains < 60; ++grains) {
        for (std::int64_t parts = 1; parts <= grains; ++parts) {
            std::int64_t reached = 0;
            for (std::int64_t part = 0; part < parts; ++part) {
                const Range run = part_of(grains, parts, part);
                CHECK(run.first == reached);
                CHECK(run.size() == grains / parts + (part >= parts - grains % parts ? 1 : 0));
                reached = run.last;
            }
            CHECK(reached == grains);
        }
    }
}

TEST_CASE("parts take the first tiles, out-channels innermost", "[kernels][published]") {
    const DenseSplit split{3, 5, 2, 4, 1, true};
    std::set<TileId> tiles;
    for (std::int64_t in = 0; in < split.in_parts; ++in) {
        for (std::int64_t field = 0; field < split.field_parts; ++field) {
            for (std::int64_t out = 0; out < split.out_parts; ++out) {
                const TileId tile = tile_of(split, {in, field, out});
                CHECK(tile == tiles.size());
                CHECK(part_on(split, tile) == DensePart{in, field, out});
                tiles.insert(tile);
            }
        }
    }
    CHECK(tiles.size() == static_cast<std::size_t>(split.tiles()));
}

TEST_CASE("a piece is spread in whole grains over the tiles that need it", "[kernels][published]") {
    for (const std::int64_t elements : {1, 15, 16, 100, 256, 1000}) {
        for (const std::int64_t tiles : {1, 3, 22, 64}) {
            for (const std::int64_t least : {0, 64}) {
                constexpr std::int64_t kGrain = 16;
                CAPTURE(elements, tiles, least);
                const auto runs = spread_piece(elements, tiles, kGrain, least);
                const std::int64_t most =
                    std::max(ceil_of(ceil_of(elements, kGrain), tiles) * kGrain, least);
                CHECK(std::ssize(runs) <= tiles);
                std::int64_t reached = 0;
                for (const Range& run : runs) {
                    CHECK(run.first == reached);
                    CHECK(run.first % kGrain == 0);
                    CHECK(run.size() > 0);
                    CHECK(run.size() <= most);
                    reached = run.last;
                }
                CHECK(reached == elements);
            }
        }
    }
    CHECK(spread_piece(0, 4, 16, 0).empty());
    // 256 outputs of 22 tiles: 16 of them sum 16 each.
    CHECK(spread_reduction(256, 22, ElementType::F16).size() == 16);
}

TEST_CASE("operands stand where they are needed", "[kernels][published]") {
    const DensePlan plan = plan_dense(square(1024, 16, ElementType::F16), bow());
    // f = 1: every weight stands where it is used.
    CHECK(spread_weights(48 * 16, plan, ElementType::F16) == std::vector<Range>{{0, 48 * 16}});
    // 48 channels of 16 columns in pieces of at least 128 B = 64 elements.
    CHECK(spread_inputs(48 * 16, plan, ElementType::F16).size() == 12);
    DensePlan parts;
    parts.split = {6, 10, 1, 1, 1, false};
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        parts.vertex = dense_vertices({1, 1, 1, type, type}, bow()).front();
        const std::int64_t weight_set = parts.vertex.in_group * parts.vertex.out_group;
        CHECK(spread_weights(9 * weight_set, parts, type) ==
              spread_piece(9 * weight_set, 6, weight_set, 256 / bytes_of(type)));
        CHECK(spread_inputs(40 * parts.vertex.in_group, parts, type) ==
              spread_piece(40 * parts.vertex.in_group, 10, parts.vertex.in_group,
                           128 / bytes_of(type)));
        CHECK(spread_weights(9 * weight_set, parts, type).front().last % weight_set == 0);
        CHECK(spread_reduction(100, 9, type) == spread_piece(100, 9, 16, 0));
    }
}

// The table of docs/published_plans.md#dense-products and how long each search takes.
TEST_CASE("plans and measured cycles as a table", "[.published-table]") {
    const DenseMachine machine = bow();
    fmt::print("| type | m = k | n | f, o x O, i | tiles | planned | measured | ratio | search |\n"
               "|---|--:|--:|---|--:|--:|--:|--:|--:|\n");
    auto references = reference_plans();
    ReferencePlan large;
    large.problem = square(8192, 65536, ElementType::F16);
    references.push_back(large);
    for (const ReferencePlan& reference : references) {
        const DenseProblem& problem = reference.problem;
        const auto begin = std::chrono::steady_clock::now();
        const DensePlan plan = plan_dense(problem, machine);
        const std::chrono::duration<double, std::milli> time =
            std::chrono::steady_clock::now() - begin;
        fmt::print("| {} | {} | {} | {}, {} x {}, {} | {} | {} | {} | {:.2f} | {:.1f} ms |\n",
                   name_of(problem.data), problem.m, problem.n, plan.split.field_parts,
                   plan.split.out_parts, plan.split.out_serial, plan.split.in_parts, plan.tiles(),
                   plan.phases.total(), reference.measured_cycles,
                   reference.measured_cycles / static_cast<double>(plan.phases.total()),
                   time.count());
    }
}
