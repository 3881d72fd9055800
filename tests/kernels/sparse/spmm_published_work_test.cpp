// SPDX-License-Identifier: MIT
// What is told of a published sparse plan beside its program: the work of its tiles, its roundings and
// the cycles that are expected; and where its sums are made, by docs/published_plans.md#static-sums.
#include "base/ceil_div.h"
#include "kernels/sparse/published/layout.h"
#include "kernels/sparse/published/plan.h"
#include "kernels/sparse/spmm.h"
#include "tests/kernels/sparse/sparse_operands.h"
#include "tests/support/gc2.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace tessera;

struct Case {
    std::int64_t tiles;
    std::int64_t block;
    std::int64_t n;
    int kept_of_100;
    codelets::ProductTypes types;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const codelets::ProductTypes& types : test::kProductTypes) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            all.push_back({16, block, 30, 40, types});
            all.push_back({64, block, 640, 20, types}); // several parts of the columns
            all.push_back({64, block, 8, 70, types});
        }
    }
    return all;
}

published::StaticPlan plan_of(const spec::MachineSpec& machine,
                              const workload::SpmmWorkload& workload,
                              const workload::SparseF16& a) {
    published::StaticProblem problem;
    problem.n = workload.n;
    problem.block = a.block;
    problem.type = workload.dtype;
    problem.column_counts.resize(static_cast<std::size_t>(a.block_columns()));
    for (std::size_t row = 0; row + 1 < a.row_start.size(); ++row) {
        problem.row_counts.push_back(a.row_start[row + 1] - a.row_start[row]);
    }
    for (const std::int32_t column : a.block_column) {
        ++problem.column_counts[static_cast<std::size_t>(column)];
    }
    return *published::plan_static(problem, published::static_machine(machine));
}

/// A product, its plan, what of it stands on which tile, and its graph.
struct Laid {
    explicit Laid(const Case& of, const spec::MachineSpec& on = {})
        : machine(on),
          a(test::sparse_operand({24 * of.block, 20 * of.block, of.n, of.block, of.kept_of_100})) {
        machine.chip.tiles = of.tiles;
        workload.n = of.n;
        workload.block = of.block;
        workload.dtype = of.types.data;
        workload.partials = of.types.partials;
        workload.plan = workload::PlanKind::Published;
        plan = plan_of(machine, workload, a);
        layout.emplace(machine, workload, a, plan, of.n, false);
        planned.emplace(sparse::plan_published(machine, workload, a));
    }

    [[nodiscard]] const graph::Graph& graph() const { return planned->graph; }
    [[nodiscard]] const graph::ComputeSet* set(const std::string& name) const {
        const auto& sets = graph().compute_sets;
        const auto found = std::find_if(sets.begin(), sets.end(),
                                        [&](const auto& one) { return one.name == name; });
        return found == sets.end() ? nullptr : &*found;
    }
    /// By tile.
    [[nodiscard]] std::vector<std::int64_t> work(const std::string& name) const {
        std::vector<std::int64_t> all(static_cast<std::size_t>(machine.chip.tiles));
        if (const graph::ComputeSet* of = set(name)) {
            std::copy(of->work.begin(), of->work.end(), all.begin());
        }
        return all;
    }
    [[nodiscard]] std::int64_t all_work(const std::string& name) const {
        const auto all = work(name);
        return std::accumulate(all.begin(), all.end(), std::int64_t{0});
    }
    /// By row and part the tiles that have some of it.
    [[nodiscard]] std::map<std::pair<std::int32_t, std::int64_t>, std::vector<TileId>>
    contributors() const {
        std::map<std::pair<std::int32_t, std::int64_t>, std::vector<TileId>> tiles;
        for (TileId tile = 0; tile < layout->tiles.size(); ++tile) {
            for (const std::int32_t row : layout->tiles[tile].rows) {
                tiles[{row, layout->tiles[tile].part}].push_back(tile);
            }
        }
        return tiles;
    }
    [[nodiscard]] bool casts() const { return workload.dtype != workload.partials; }

    spec::MachineSpec machine;
    workload::SparseF16 a;
    workload::SpmmWorkload workload;
    published::StaticPlan plan;
    std::optional<sparse::PublishedLayout> layout;
    std::optional<family::Planned> planned;
};

/// A run of words of one sum, as its vertex has it.
struct Region {
    TileId tile = 0;
    std::int64_t vertex = 0; ///< of the tile, in their order
    std::int64_t depth = 0;  ///< partial results that become one
    std::int64_t words = 0;  ///< of one partial result
    std::string to;          ///< buffer
};

std::vector<Region> regions_of(const graph::Graph& graph, const graph::ComputeSet& set) {
    std::vector<Region> regions;
    for (const graph::Vertex& vertex : set.vertices) {
        std::int64_t number = 0;
        for (const graph::Field& field : graph.fields_of(vertex.fields)) {
            if (field.kind != graph::Field::Kind::Table) {
                continue;
            }
            const auto state = graph.fields_of(graph.tables[field.word].fields);
            const std::int64_t count = state[0].word + 1;
            for (std::int64_t i = 0; i < count; ++i) {
                const auto at = static_cast<std::size_t>(1 + 4 * i);
                regions.push_back({vertex.tile, number, (state[at + 2].word & 0xffffU) + 2 - 1,
                                   (state[at + 2].word >> 16U) + 1,
                                   graph.buffers[state[at].place.buffer.index].name});
            }
            ++number;
        }
    }
    return regions;
}

} // namespace

TEST_CASE("the work of a published sparse plan is what its tiles have", "[kernels]") {
    bool has_sums = false;
    for (const Case& of : cases()) {
        const Laid laid(of);
        CAPTURE(of.tiles, of.block, of.n, name_of(of.types.data), name_of(of.types.partials));
        const auto multiply = laid.work("multiply");
        for (TileId tile = 0; tile < laid.layout->tiles.size(); ++tile) {
            CHECK(multiply[tile] == std::ssize(laid.layout->tiles[tile].blocks));
        }
        CHECK(laid.all_work("multiply") == laid.a.blocks() * std::ssize(laid.plan.parts));
        // partial results in words of eight bytes, whoever has them
        const Bytes partial = bytes_of(of.types.partials);
        std::int64_t words = 0;
        Bytes put = 0;
        for (const auto& [row, tiles] : laid.contributors()) {
            const std::int64_t elements = laid.layout->elements_of(row.first, row.second).size();
            if (tiles.size() > 1 || laid.casts()) {
                words += std::ssize(tiles) * elements * partial / 8;
            } else {
                put += elements * partial;
            }
        }
        CHECK(laid.all_work("reduce") == words);
        has_sums = has_sums || words > 0;
        Bytes sent = 0;
        for (const graph::Exchange& exchange : laid.graph().exchanges) {
            for (const graph::Message& message : exchange.messages) {
                sent += exchange.name == "put rows" ? Bytes{message.bytes} : 0;
            }
        }
        CHECK(laid.all_work("put rows: copy") + sent == put);
        Bytes zeroed = 0;
        if (laid.set("zero") != nullptr) {
            for (const sparse::TileBlocks& tile : laid.layout->tiles) {
                zeroed += tile.blocks.empty()
                              ? 0
                              : std::ssize(tile.rows) * laid.layout->partial_bytes(tile.part);
            }
        }
        CHECK(laid.all_work("zero") == zeroed);
        CHECK((zeroed > 0) == (of.types.data == ElementType::F32 && of.block >= 8));
    }
    CHECK(has_sums);
}

TEST_CASE("the longest row of a tile of elements is told with the worker that has it",
          "[kernels]") {
    int later = 0; // workers behind the first
    int few = 0;
    int many = 0;
    for (const auto& [tiles, kept] : {std::pair{16, 20}, {16, 90}, {2, 40}, {3, 90}}) {
        const Laid laid({tiles, 1, 30, kept, {ElementType::F16, ElementType::F16}});
        const auto& items = laid.set("multiply")->items;
        for (TileId tile = 0; tile < laid.layout->tiles.size(); ++tile) {
            const sparse::TileBlocks& mine = laid.layout->tiles[tile];
            if (mine.blocks.empty()) {
                continue;
            }
            std::int64_t most = 0;
            std::int32_t longest = -1; // the first of the longest
            for (std::size_t i = 0; i < mine.rows.size(); ++i) {
                if (mine.row_blocks[i] > most) {
                    most = mine.row_blocks[i];
                    longest = mine.rows[i];
                }
            }
            REQUIRE(tile < items.size());
            CHECK(items[tile].amount == most);
            CHECK(items[tile].number == longest);
            // few rows: one each; else a worker takes rows until it has its share of the elements
            const std::int64_t workers = laid.machine.tile.workers;
            const auto all = std::ssize(mine.blocks);
            std::int64_t worker = 0;
            std::int64_t before = 0;
            for (std::size_t i = 0; mine.rows[i] != longest; ++i) {
                before += mine.row_blocks[i];
                ++worker;
            }
            if (std::ssize(mine.rows) > workers) {
                worker = 0;
                while (before >= all * (worker + 1) / workers) {
                    ++worker;
                }
            }
            CHECK(items[tile].worker == worker);
            later += worker > 0 ? 1 : 0;
            few += std::ssize(mine.rows) <= workers ? 1 : 0;
            many += std::ssize(mine.rows) > workers ? 1 : 0;
        }
    }
    CHECK(later > 0);
    CHECK(few > 0);
    CHECK(many > 0);
}

TEST_CASE("a published sparse plan is told with its parts, tiles and roundings", "[kernels]") {
    for (const Case& of : cases()) {
        const Laid laid(of);
        CAPTURE(of.tiles, of.block, of.n, name_of(of.types.data), name_of(of.types.partials));
        const family::Division& division = laid.planned->division;
        const auto parts = std::ssize(laid.plan.parts);
        const auto bands = std::ssize(laid.plan.parts.front().bands);
        CHECK(division.parts_n == parts);
        CHECK(division.parts_k == bands);
        CHECK(division.parts_m == of.tiles / (parts * bands));
        CHECK(division.tiles_busy ==
              std::count_if(laid.layout->tiles.begin(), laid.layout->tiles.end(),
                            [](const sparse::TileBlocks& tile) { return !tile.blocks.empty(); }));
        // blocks of each row on each tile that has some of it
        std::map<std::tuple<std::int64_t, std::int64_t, TileId>, std::int64_t> blocks;
        for (TileId tile = 0; tile < laid.layout->tiles.size(); ++tile) {
            for (const std::int64_t block : laid.layout->tiles[tile].blocks) {
                const auto row =
                    std::upper_bound(laid.a.row_start.begin(), laid.a.row_start.end(), block) -
                    laid.a.row_start.begin() - 1;
                ++blocks[{row, laid.layout->tiles[tile].part, tile}];
            }
        }
        const bool half = of.types.partials == ElementType::F16;
        std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> wide;
        std::int64_t most = 1; // FP16 elements: the partial result alone
        for (const auto& [place, count] : blocks) {
            auto& all = wide[{std::get<0>(place), std::get<1>(place)}];
            all += count * of.block + 1;
            if (!half) {
                most = std::max(most, all);
            } else if (of.block > 1) {
                most = std::max(most, count + 1);
            }
        }
        CHECK(division.roundings == most);
    }
}

TEST_CASE("each group is summed where fewer cycles are expected, spread ones behind each other",
          "[kernels]") {
    int stays = 0;
    int spread = 0;
    int by_destination = 0; ///< would be elsewhere with the move priced by even shares
    for (const Case& of : cases()) {
        const Laid laid(of);
        const graph::ComputeSet* reduce = laid.set("reduce");
        if (reduce == nullptr || reduce->vertices.empty()) {
            continue;
        }
        CAPTURE(of.tiles, of.block, of.n, name_of(of.types.data), name_of(of.types.partials));
        const Bytes partial = bytes_of(of.types.partials);
        const Bytes element = bytes_of(of.types.data);
        const std::int64_t vector = 8 / element;
        std::map<std::int64_t, std::vector<std::pair<std::int32_t, std::int64_t>>> groups;
        for (const auto& [row, tiles] : laid.contributors()) {
            if (tiles.size() > 1 || laid.casts()) {
                groups[std::ssize(tiles)].push_back(row);
            }
        }
        std::map<std::int64_t, std::set<std::string>> made_in;
        std::map<std::int64_t, std::set<TileId>> made_on;
        std::map<std::pair<std::int64_t, TileId>, std::int64_t> words_on;
        for (const Region& region : regions_of(laid.graph(), *reduce)) {
            made_in[region.depth].insert(region.to);
            made_on[region.depth].insert(region.tile);
            words_on[{region.depth, region.tile}] += region.words;
        }
        std::int64_t start = 0;
        for (const auto& [depth, rows] : groups) {
            std::map<TileId, std::int64_t> at_home;
            std::int64_t all = 0;
            for (const auto& [row, part] : rows) {
                const Range span = laid.layout->elements_of(row, part);
                all += span.size();
                laid.layout->c_homes.cut(span, [&](TileId home, Range run, std::int64_t) {
                    at_home[home] += run.size();
                });
            }
            std::int64_t fullest = 0;
            for (const auto& [tile, elements] : at_home) {
                fullest = std::max(fullest, elements);
            }
            const std::int64_t even = ceil_div(ceil_div(all, 8), of.tiles) * 8;
            const Cycles there =
                ceil_div(fullest * partial, 4) + depth * ceil_div(fullest, vector) + 126;
            const Cycles spread_sums =
                ceil_div(even * depth * partial, 4) + depth * ceil_div(even, vector) + 252;
            // they move to where C stands, so to the tile that has most of it
            const Cycles elsewhere = spread_sums + ceil_div(fullest * element, 4);
            by_destination +=
                (there < elsewhere) != (there < spread_sums + ceil_div(even * element, 4)) ? 1 : 0;
            CAPTURE(depth, there, elsewhere);
            CHECK(made_in[depth] == std::set<std::string>{there < elsewhere ? "result" : "sums"});
            std::set<TileId> wanted;
            if (there < elsewhere) {
                ++stays;
                for (const auto& [tile, elements] : at_home) {
                    wanted.insert(tile);
                    CHECK(words_on[{depth, tile}] == elements * partial / 8);
                }
            } else {
                ++spread;
                // as few tiles as have no more than they need to, four words at least
                const std::int64_t words = ceil_div(all, vector);
                const std::int64_t most = std::max<std::int64_t>(4, ceil_div(words, of.tiles));
                const std::int64_t used = ceil_div(words, most);
                for (std::int64_t i = 0; i < used; ++i) {
                    wanted.insert(static_cast<TileId>((start + i) % of.tiles));
                }
                start = (start + used) % of.tiles;
            }
            CHECK(made_on[depth] == wanted);
        }
    }
    CHECK(stays > 3);
    CHECK(spread > 3);
    CHECK(by_destination > 0);
}

TEST_CASE("a published sparse plan's compute sets take nearly as long as predicted", "[kernels]") {
    std::int64_t products = 0;
    double all = 0;
    for (const std::int64_t workers : {4, 6, 8}) {
        for (const Case& of : cases()) {
            spec::MachineSpec machine;
            machine.tile.workers = workers;
            Laid laid(of, machine);
            CAPTURE(workers, of.tiles, of.block, of.n, name_of(of.types.data),
                    name_of(of.types.partials));
            exchange_plan::KnownSchedules known;
            const family::Divided planned = family::lowered(
                laid.machine, family::placed(laid.machine, std::move(*laid.planned)), known);
            const std::vector<std::uint16_t> x(static_cast<std::size_t>(laid.a.columns * of.n));
            const auto outcome =
                test::run_program(laid.machine, planned.lowered.program,
                                  {{"a", test::operand(laid.a.values, of.types.data)},
                                   {"b", test::operand(x, of.types.data)}});
            const auto predicted = static_cast<double>(planned.division.predicted.compute);
            const auto taken = static_cast<double>(outcome.cycles.compute);
            // the supervisor's waits between weight loads of FP16 blocks of 16 are left out
            const bool waits = of.block == 16 && of.types.data == ElementType::F16;
            CHECK(predicted == Approx(taken).epsilon(waits ? 0.2 : 0.1).margin(150));
            CHECK(planned.division.predicted.reduction <= planned.division.predicted.compute);
            all += predicted / taken;
            ++products;
        }
    }
    CHECK(all / static_cast<double>(products) == Approx(1).epsilon(0.03));
}

TEST_CASE("a published sparse plan's two compute sets are predicted with a step of control each",
          "[kernels]") {
    const Case of{4, 8, 96, 40, {ElementType::F16, ElementType::F16}};
    const auto predicted = [&](Cycles step_cycles) {
        spec::MachineSpec machine;
        machine.control.step_cycles = step_cycles;
        return Laid(of, machine).planned->division.predicted;
    };
    const auto before = predicted(10);
    const auto after = predicted(17);
    CHECK(after.compute - before.compute == 2 * 7);
    CHECK(after.reduction == before.reduction);
}

TEST_CASE("passes of a published sparse plan take as often what one takes", "[kernels]") {
    const Case of{4, 8, 96, 40, {ElementType::F16, ElementType::F16}};
    const Laid laid(of);
    for (const std::int64_t passes : {2, 3, 6}) {
        const auto planned =
            sparse::plan_published(laid.machine, laid.workload, laid.a, {.passes = passes});
        const std::int64_t width = ceil_div(ceil_div(of.n, passes), std::int64_t{8}) * 8;
        workload::SpmmWorkload narrow = laid.workload;
        narrow.n = width;
        const auto plan = plan_of(laid.machine, narrow, laid.a);
        CAPTURE(passes);
        CHECK(planned.division.chunks == passes);
        CHECK(planned.division.predicted.compute ==
              passes * (plan.phases.compute + plan.phases.reduce));
        CHECK(planned.division.predicted.reduction == passes * plan.phases.reduce);
        // buffers of the operand stand once, for all passes
        CHECK(planned.graph.tensors.size() == 3);
        Bytes values = 0;
        for (const graph::Buffer& buffer : planned.graph.buffers) {
            for (const graph::Held& held : buffer.held) {
                values += buffer.name == "values" ? held.bytes : 0;
            }
        }
        CHECK(values == laid.a.blocks() * 8 * 8 * 2);
    }
}

TEST_CASE("elements lie on as few tiles as the largest share allows, evenly in whole grains",
          "[kernels]") {
    for (const std::int64_t tiles : {1, 5, 16}) {
        for (const std::int64_t grain : {1, 4}) {
            for (const std::int64_t least : {1, 3}) {
                for (std::int64_t elements = 0; elements <= 80; ++elements) {
                    const std::int64_t start = elements % tiles;
                    const sparse::Linear linear(elements, grain, tiles, least, start);
                    const std::int64_t grains = ceil_div(elements, grain);
                    const std::int64_t most = std::max(least, ceil_div(grains, tiles));
                    CAPTURE(tiles, grain, least, elements);
                    REQUIRE(linear.used() == ceil_div(grains, most));
                    std::int64_t end = 0;
                    for (std::int64_t i = 0; i < linear.used(); ++i) {
                        const Range span = linear.span(i);
                        CHECK(span.first == end);
                        CHECK(span.first % grain == 0);
                        CHECK(span.size() > 0);
                        CHECK(span.size() <= most * grain);
                        CHECK(linear.tile(i) == static_cast<TileId>((start + i) % tiles));
                        end = span.last;
                    }
                    CHECK(end == elements);
                    // any run is cut where the tiles' shares are
                    for (const std::int64_t first : {std::int64_t{0}, elements / 3}) {
                        std::int64_t at = first;
                        linear.cut({first, elements},
                                   [&](TileId tile, Range run, std::int64_t before) {
                                       CHECK(run.first == at);
                                       at = run.last;
                                       std::int64_t number = 0;
                                       while (linear.span(number).last <= run.first) {
                                           ++number;
                                       }
                                       CHECK(tile == linear.tile(number));
                                       CHECK(before == run.first - linear.span(number).first);
                                       CHECK(run.last <= linear.span(number).last);
                                   });
                        CHECK(at == elements);
                    }
                }
            }
        }
    }
}

TEST_CASE("types of a published sparse plan have their codelets, and zeros where sums need them",
          "[kernels]") {
    const auto machines = {std::pair{spec::MachineSpec{}, false}, {test::gc2_with(4), true}};
    for (const auto& [machine, one_set] : machines) {
        for (const codelets::ProductTypes& types : test::kProductTypes) {
            for (const std::int64_t block : {1, 4, 8, 16}) {
                for (const bool again : {false, true}) {
                    const sparse::PublishedTypes made(machine, types.data, types.partials, block,
                                                      again);
                    const bool half = types.data == ElementType::F16;
                    const bool casts = types.data != types.partials;
                    CAPTURE(one_set, name_of(types.data), name_of(types.partials), block, again);
                    CHECK(made.element == bytes_of(types.data));
                    CHECK(made.partial == bytes_of(types.partials));
                    CHECK(made.vector == (half ? 4 : 2));
                    // a weight set has 32 bytes of inputs
                    CHECK(made.set_inputs == (half ? block : std::min<std::int64_t>(block, 8)));
                    CHECK(made.casts == casts);
                    // FP32 blocks of 8 and 16 are added to what is there, others only where
                    // there are earlier sums
                    CHECK(made.zeroes == ((!half && block >= 8) || (again && block > 1)));
                    const std::string from = half ? "half" : "float";
                    const std::string to = types.partials == ElementType::F16 ? "half" : "float";
                    const std::string sides = fmt::format("MatMulBlock_{}x{}", block, block);
                    CHECK(made.multiply == "StaticSparseDense" +
                                               (block == 1 ? std::string("ElementWise") : sides) +
                                               "_" + from + "_" + to);
                    const std::string sums = casts ? "float_half" : from;
                    CHECK(made.reduce == "ReduceMany_add_" + sums);
                    REQUIRE(made.codelets.size() == (made.zeroes ? 4 : 3));
                    const std::string file =
                        block == 1 ? (half ? "elementwise" : "elementwise_float")
                        : casts    ? "block_half_float"
                                   : "block_" + from + (one_set ? "_one_set" : "");
                    CHECK(made.codelets[0] == "published/sparse_dense_" + file);
                    CHECK(made.codelets[1] == (sums == "half" ? "published/reduce_many"
                                                              : "published/reduce_many_" + sums));
                    CHECK(made.codelets[2] == "copy");
                    CHECK((!made.zeroes || made.codelets[3] == "published/cast_fill_1d"));
                }
            }
        }
    }
}

TEST_CASE("what a published sparse vertex reads beside what it writes is apart from it, and padded",
          "[kernels]") {
    for (const std::int64_t block : {1, 4, 16}) {
        for (const std::int64_t cut_off : {0, 1}) {
            for (const std::int64_t n : {32, 30}) {
                for (const codelets::ProductTypes& types : test::kProductTypes) {
                    auto a = test::sparse_operand({12 * block, 12 * block - cut_off, n, block, 60});
                    workload::SpmmWorkload workload;
                    workload.n = n;
                    workload.block = block;
                    workload.dtype = types.data;
                    workload.partials = types.partials;
                    spec::MachineSpec machine;
                    machine.chip.tiles = 8;
                    const auto planned = sparse::plan_published(machine, workload, a);
                    const std::int64_t vector = 8 / bytes_of(types.data);
                    const bool pads_n = n % vector != 0;
                    const bool pads_k = a.columns % block != 0;
                    const bool zeroes = types.data == ElementType::F32 && block >= 8;
                    CAPTURE(block, cut_off, n, name_of(types.data));
                    for (const graph::Buffer& buffer : planned.graph.buffers) {
                        CAPTURE(buffer.name);
                        const auto is = [&](const char* name) { return buffer.name == name; };
                        std::set<std::string> apart;
                        for (const graph::BufferId other : buffer.apart) {
                            apart.insert(planned.graph.buffers[other.index].name);
                        }
                        std::set<std::string> wanted;
                        if (is("b")) {
                            wanted = {"partials", "values", "meta"};
                        } else if (is("home of b") || is("home of values")) {
                            wanted = {"b", "values"};
                        } else if (is("sums")) {
                            wanted = {"slices"};
                        }
                        CHECK(apart == wanted);
                        CHECK(buffer.padded ==
                              ((is("b") && pads_n) || (is("home of b") && (pads_k || pads_n)) ||
                               (is("home of values") && block == 1)));
                        // what is not written by a vertex is zero from the start
                        CHECK(buffer.zeroed ==
                              (is("result") || (is("partials") && block > 1 && !zeroes)));
                        CHECK((buffer.where == graph::Where::Region1) ==
                              (is("partials") && block > 1));
                        const bool read_on =
                            is("values") || is("partials") || is("b") || is("slices");
                        CHECK(buffer.read_beyond == (read_on ? 128 : 0));
                        CHECK((buffer.kind == program::SegmentKind::Metadata) == is("meta"));
                    }
                }
            }
        }
    }
}
