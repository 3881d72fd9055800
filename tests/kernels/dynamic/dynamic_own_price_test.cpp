// SPDX-License-Identifier: MIT
// What our planner of dynamic products expects and how it prices a division, written down once more:
// slowly, block by block.
#include "base/ceil_div.h"
#include "kernels/dynamic/dynamic.h"
#include "kernels/dynamic/emitter.h"
#include "kernels/dynamic/layout.h"
#include "kernels/dynamic/own_planner.h"
#include "kernels/dynamic/published/vertex_cycles.h"
#include "kernels/dynamic/travel.h"
#include "kernels/dynamic/values_gradient.h"
#include "kernels/dynamic/vertices.h"
#include "kernels/exchange_plan/known_schedules.h"
#include "kernels/family/family.h"
#include "kernels/family/product.h"
#include "kernels/plan/exchange_cost.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::dynamic;

namespace {

constexpr std::int64_t kPatterns = 8; ///< that are drawn

/// The least number of blocks that so large a share of all patterns does not exceed.
std::int64_t quantile(std::int64_t places, double density, double share) {
    if (density == 1) {
        return places;
    }
    const auto n = static_cast<double>(places);
    double below = 0; // the share of patterns with at most so many blocks
    for (std::int64_t blocks = 0; blocks < places; ++blocks) {
        const auto k = static_cast<double>(blocks);
        below += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                          k * std::log(density) + (n - k) * std::log(1 - density));
        if (below >= share) {
            return blocks;
        }
    }
    return places;
}

/// Lines of each of the parts of a size: all but the last ones have as many as the first.
std::vector<std::int64_t> cut(std::int64_t lines, std::int64_t parts) {
    std::vector<std::int64_t> made;
    const std::int64_t each = ceil_div(lines, parts);
    for (std::int64_t part = 0; part < parts; ++part) {
        made.push_back(std::min(each, lines));
        lines -= made.back();
    }
    return made;
}

std::int64_t block_lines(const Problem& problem, std::int64_t size) {
    const std::int64_t whole = (size + problem.block - 1) / problem.block;
    return whole * problem.block / problem.product_block();
}

using Way = std::pair<std::int64_t, std::int64_t>;

/// Each block that has no room at home goes to the part that is the fewest steps back and has room:
/// first in its row of parts, then anywhere. The fullest part is the first to send.
std::map<Way, std::int64_t> sent(const Split& split, std::int64_t room,
                                 std::vector<std::int64_t> parts) {
    const auto many = static_cast<std::int64_t>(parts.size());
    std::vector<std::int64_t> order;
    for (std::int64_t part = 0; part < many; ++part) {
        order.push_back(part);
    }
    std::stable_sort(order.begin(), order.end(), [&, by = parts](auto one, auto other) {
        return by[static_cast<std::size_t>(one)] > by[static_cast<std::size_t>(other)];
    });
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> moved; // by from and to
    for (const bool in_row : {true, false}) {
        for (const std::int64_t from : order) {
            const std::int64_t ring = in_row ? split.y : many;
            const std::int64_t first = from - from % ring;
            for (std::int64_t to = from; parts[static_cast<std::size_t>(from)] > room;) {
                to = to == first ? first + ring - 1 : to - 1;
                if (to == from) {
                    break;
                }
                while (parts[static_cast<std::size_t>(to)] < room &&
                       parts[static_cast<std::size_t>(from)] > room) {
                    ++parts[static_cast<std::size_t>(to)];
                    --parts[static_cast<std::size_t>(from)];
                    ++moved[{from, to}];
                }
            }
        }
    }
    std::map<Way, std::int64_t> most;
    for (const auto& [way, blocks] : moved) {
        const auto& [from, to] = way;
        const std::int64_t x = from / split.y - to / split.y;
        const std::int64_t y = from % split.y - to % split.y;
        std::int64_t& most_here = most[{x < 0 ? x + split.x : x, y < 0 ? y + split.y : y}];
        most_here = std::max(most_here, blocks);
    }
    return most;
}

Expected slowly_expected(const Problem& problem, const Split& split, const Bucket& bucket) {
    const auto rows = cut(block_lines(problem, problem.m), split.x);
    const auto columns = cut(block_lines(problem, problem.k), split.y);
    std::map<std::int64_t, std::vector<std::size_t>> parts_of; // by their places
    for (std::size_t part = 0; part < rows.size() * columns.size(); ++part) {
        parts_of[rows[part / columns.size()] * columns[part % columns.size()]].push_back(part);
    }
    std::vector<std::vector<std::int64_t>> patterns(
        kPatterns, std::vector<std::int64_t>(rows.size() * columns.size()));
    std::mt19937 random(1);
    for (const auto& [places, parts] : parts_of) {
        std::vector<std::int64_t> values;
        const std::size_t many = kPatterns * parts.size();
        for (std::size_t i = 0; i < many; ++i) {
            const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(many);
            values.push_back(quantile(places, problem.density, share));
        }
        for (std::size_t left = many; left > 1; --left) {
            std::swap(values[left - 1], values[random() % left]);
        }
        for (std::size_t i = 0; i < many; ++i) {
            patterns[i / parts.size()][parts[i % parts.size()]] = values[i];
        }
    }
    const std::int64_t room = split.z * bucket.blocks;
    Expected sum;
    for (const auto& parts : patterns) {
        const std::int64_t fullest = *std::max_element(parts.begin(), parts.end());
        sum.fullest_part += static_cast<double>(std::min(fullest, room));
        const auto found = sent(split, room, parts);
        Ways ways;
        for (const auto& [way, blocks] : found) {
            ways.insert(way);
            sum.moved_blocks += static_cast<double>(blocks);
        }
        sum.finding_scans += static_cast<double>(found.size());
        for (const std::uint32_t code : travel_codes(split, travel_of(split, ways))) {
            const bool goes_there = (code & TravelCode::kMore) != 0;
            const bool is_scan = (code & TravelCode::kScan) != 0;
            sum.scans += goes_there && is_scan ? 1 : 0;
            sum.moves += goes_there && !is_scan ? 1 : 0;
        }
    }
    const auto many = static_cast<double>(kPatterns);
    return {sum.fullest_part / many, sum.moves / many, sum.scans / many, sum.finding_scans / many,
            sum.moved_blocks / many};
}

void check_same(const Expected& made, const Expected& expected) {
    CHECK(made.fullest_part == Approx(expected.fullest_part));
    CHECK(made.moves == Approx(expected.moves));
    CHECK(made.scans == Approx(expected.scans));
    CHECK(made.finding_scans == Approx(expected.finding_scans));
    CHECK(made.moved_blocks == Approx(expected.moved_blocks));
}

Problem problem_of(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t block,
                   double density) {
    Problem problem;
    problem.m = m;
    problem.k = k;
    problem.n = n;
    problem.block = block;
    problem.density = density;
    problem.passes.input_gradient = false;
    return problem;
}

/// Of every kind of vertex, each with and without the gradient of the input.
std::vector<Problem> problems() {
    std::vector<Problem> made;
    for (const bool gradient : {false, true}) {
        for (Problem problem : {problem_of(96, 160, 24, 1, 1.0 / 16),
                                problem_of(64, 96, 32, 4, 0.25), problem_of(256, 128, 12, 8, 0.1),
                                problem_of(192, 256, 64, 16, 0.4), problem_of(64, 64, 16, 16, 1)}) {
            problem.passes.input_gradient = gradient;
            made.push_back(problem);
            problem.data = ElementType::F32;
            made.push_back(problem);
        }
    }
    return made;
}

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

/// The plan and its cycles by the rules of docs/kernels.md#sparse-pattern-known-at-run-time.
struct Priced {
    Plan plan;
    double at_home = 0; ///< of a mean part
    double all = 0;     ///< of the fullest one, with the travel
};

Priced slowly_priced(const Problem& problem, const spec::MachineSpec& machine, const Split& split) {
    const auto knows = published::dense_machine(machine);
    const plan::ExchangeCost exchange(machine);
    Priced priced;
    Plan& plan = priced.plan = plan_of(problem, knows, split);
    const std::int64_t b = plan.block;
    const std::int64_t n = plan.part.n;
    const auto real = [](std::int64_t number) { return static_cast<double>(number); };

    // each block in a row of its own while there are rows, two headers and an end
    const std::int64_t header = layout_of(problem, knows, plan).header_words();
    std::int64_t words = header + header + 1;
    for (std::int64_t block = 0; block < plan.bucket.blocks; ++block) {
        words += block < plan.part.rows ? 3 : 1;
    }
    plan.bucket.metadata = (words + kMetadataGrain - 1) / kMetadataGrain * kMetadataGrain;
    plan.bucket.bytes =
        plan.bucket.blocks * b * b * bytes_of(problem.data) + 2 * plan.bucket.metadata;

    // a tile that looks through buckets
    const auto vertex = [&](std::int64_t buckets, double blocks, bool gradient) {
        if (b > 1) {
            const VertexWork work{1, static_cast<std::int64_t>(std::ceil(blocks)), n, buckets};
            return real(block_cycles(knows, b, problem.data, problem.partials, work));
        }
        const std::int64_t rows = gradient ? plan.part.occupied_columns : plan.part.occupied_rows;
        const double in_bucket = blocks / real(buckets);
        const double in_row = std::max(1.0, blocks / real(rows));
        const double of_bucket = std::max(1.0, std::min(std::ceil(in_bucket / in_row), real(rows)));
        const VertexWork work{static_cast<std::int64_t>(of_bucket),
                              static_cast<std::int64_t>(std::ceil(in_bucket / of_bucket)), n, 1};
        return real(buckets) * real(gradient ? element_transposed_cycles(knows, problem.data, work)
                                             : element_cycles(knows, problem.data, work));
    };
    const Expected likely = expected(problem, split, plan.bucket);
    const double mean_blocks = problem.density * real(block_lines(problem, problem.m)) *
                               real(block_lines(problem, problem.k)) / real(split.x * split.y);
    const Cycles barrier = machine.sync.internal_cycles;
    const Cycles step = machine.control.step_cycles;
    const Cycles whole_exchange = barrier + exchange.to_all_over(split.tiles());
    for (const bool gradient : {false, true}) {
        if (gradient && !problem.passes.input_gradient) {
            continue;
        }
        Phases& phases = gradient ? plan.input_gradient : plan.forward;
        const std::int64_t lines = gradient ? plan.part.columns : plan.part.rows;
        const Bytes partials = lines * b * n * bytes_of(problem.partials);
        phases.zero = knows.round_cycles * ceil_div(ceil_div(partials, Bytes{8}), knows.workers);
        phases.buckets = ceil_div((split.z - 1) * plan.bucket.bytes, knows.exchange_bytes);
        const Cycles exchanges = phases.partials > 0 ? 2 * whole_exchange : whole_exchange;
        const Cycles steps = (split.z > 1 ? 4 : 3) * step;
        phases.compute = 0;
        const double without = real(phases.total() + exchanges + steps);
        phases.compute = static_cast<Cycles>(vertex(split.z, likely.fullest_part, gradient));
        priced.at_home += without + std::floor(vertex(split.z, mean_blocks, gradient));
        priced.all += without + real(phases.compute);
    }

    const Cycles tell =
        machine.control.branch_cycles + barrier + exchange.to_all_over(machine.chip.tiles) + 1;
    const Cycles move = barrier + exchange.to_neighbours(split.tiles()) +
                        ceil_div(plan.bucket.bytes, knows.exchange_bytes);
    constexpr double kEmptyLook = 110;
    const double z = real(split.z);
    const double finding = z * likely.finding_scans;
    const double one = vertex(1, 1, false);
    const double moves = likely.moves * real((split.x > 1 && split.y > 1 ? 5 : 4) * tell + move);
    const double scans = likely.scans * real(3 * tell + (split.z - 1) * move);
    const double looks =
        finding * (real(step) + one) + (z * likely.scans - finding) * (real(step) + kEmptyLook);
    const double more = std::max(0.0, likely.moved_blocks - finding) * (vertex(1, 2, false) - one);
    priced.all +=
        std::floor(moves + scans + looks + more) * (problem.passes.input_gradient ? 2 : 1);
    return priced;
}

/// Whether what meets in the fullest step leaves room for code, rows of exchanges and gaps.
bool has_room(const Problem& problem, const spec::MachineSpec& machine, const Plan& plan) {
    const std::int64_t line = plan.block * plan.part.n;
    const Bytes data = bytes_of(problem.data);
    const Bytes partial = bytes_of(problem.partials);
    const auto meets = [&](std::int64_t ins, std::int64_t outs, std::int64_t in_parts,
                           std::int64_t out_parts, bool turns) {
        Bytes bytes = ins * line * data + outs * line * partial;
        if (out_parts > 1) { // lines at home
            bytes += ceil_div(ins * line * data, out_parts);
        }
        std::int64_t buckets = plan.split.z;
        buckets += plan.split.x > 1 || plan.split.y > 1 ? 2 : 0;
        buckets += turns ? 1 : 0;
        const Bytes slices =
            in_parts > 1 ? outs * line * partial + ceil_div(outs * line * partial, in_parts) : 0;
        return bytes + std::max(buckets * plan.bucket.bytes, slices);
    };
    const auto limit = 0.85 * static_cast<double>(published::dense_machine(machine).tile_bytes);
    const auto fits = [&](Bytes bytes) { return static_cast<double>(bytes) <= limit; };
    const auto& [x, y, z] = plan.split;
    return fits(meets(plan.part.columns, plan.part.rows, y, x, false)) &&
           (!problem.passes.input_gradient ||
            fits(meets(plan.part.rows, plan.part.columns, x, y, plan.block > 1)));
}

} // namespace

TEST_CASE("dynamic_planner: what patterns are expected to do is what quantiles of them do",
          "[kernels][dynamic]") {
    int travelling = 0;
    int along_x = 0;
    for (const Problem& problem : problems()) {
        for (const Split& split : {Split{1, 1, 1}, Split{4, 1, 1}, Split{1, 4, 2}, Split{3, 4, 1},
                                   Split{5, 3, 2}, Split{7, 2, 3}}) {
            const std::int64_t places =
                block_lines(problem, problem.m) * block_lines(problem, problem.k);
            const double mean =
                problem.density * static_cast<double>(places) / static_cast<double>(split.tiles());
            for (const double room : {1.0, 1.02, 1.1, 1.3, 2.0, 4.0}) {
                CAPTURE(problem.m, problem.block, name_of(problem.data), split.x, split.y, split.z,
                        room);
                Bucket bucket;
                bucket.blocks = static_cast<std::int64_t>(std::ceil(mean * room));
                const Expected made = expected(problem, split, bucket);
                check_same(made, slowly_expected(problem, split, bucket));
                travelling += made.scans > 0 ? 1 : 0;
                along_x += made.moves > static_cast<double>(split.y) ? 1 : 0;
            }
        }
    }
    CHECK(travelling > 50);
    CHECK(along_x > 10);
}

TEST_CASE("dynamic_planner: nothing travels where the whole part has room", "[kernels][dynamic]") {
    const Problem problem = problem_of(64, 64, 16, 4, 0.5);
    const Split split{2, 4, 2};
    const std::int64_t places = (64 / 4 / split.x) * (64 / 4 / split.y);
    Bucket bucket;
    bucket.blocks = places / split.z;
    const Expected likely = expected(problem, split, bucket);
    CHECK(likely.moves == 0);
    CHECK(likely.scans == 0);
    CHECK(likely.finding_scans == 0);
    CHECK(likely.moved_blocks == 0);
    CHECK(likely.fullest_part > 0.5 * static_cast<double>(places));
    CHECK(likely.fullest_part < static_cast<double>(places));
}

TEST_CASE("dynamic_planner: a division's price is that of its phases, exchanges and travel",
          "[kernels][dynamic]") {
    const auto machine = machine_of(64);
    for (Problem problem : problems()) {
        for (const double excess : {0.0, 0.1, 0.6}) {
            problem.excess = excess;
            for (const Split& split :
                 {Split{1, 1, 1}, Split{4, 1, 1}, Split{1, 4, 1}, Split{1, 1, 2}, Split{3, 4, 1},
                  Split{4, 4, 3}, Split{8, 2, 4}}) {
                CAPTURE(problem.m, problem.block, name_of(problem.data), excess, split.x, split.y,
                        split.z, problem.passes.input_gradient);
                const OwnPlan made = priced_plan(problem, machine, split);
                const Priced priced = slowly_priced(problem, machine, split);
                CHECK(made.plan.bucket == priced.plan.bucket);
                CHECK(made.plan.forward == priced.plan.forward);
                CHECK(made.plan.input_gradient == priced.plan.input_gradient);
                CHECK(static_cast<double>(made.predicted) == priced.all);
            }
        }
    }
}

TEST_CASE("dynamic_planner: our plan is the cheapest of all divisions and rooms that fit",
          "[kernels][dynamic]") {
    int refused = 0;
    std::map<double, int> won; // by room
    for (const std::int64_t tiles : {4, 12}) {
        for (const std::int64_t kib : {624, 8}) {
            spec::MachineSpec machine = machine_of(tiles);
            if (kib < 16) {
                machine.memory.region0_bytes = kib * 1024;
                machine.memory.region1_bytes = kib * 1024;
            }
            for (Problem problem : problems()) {
                problem.excess = 0.05;
                CAPTURE(tiles, kib, problem.m, problem.block, name_of(problem.data),
                        problem.passes.input_gradient);
                std::optional<OwnPlan> best;
                double best_at_home = 0;
                double best_room = 0;
                for (const Split& split : encodable_splits(problem, tiles)) {
                    for (const double room : {1.0, 1.25, 1.5, 2.0, 3.0}) {
                        Problem roomy = problem;
                        roomy.excess = (1 + problem.excess) * room - 1;
                        const OwnPlan priced = priced_plan(roomy, machine, split);
                        if (!has_room(problem, machine, priced.plan)) {
                            ++refused;
                            continue;
                        }
                        const double at_home = slowly_priced(roomy, machine, split).at_home;
                        if (!best || priced.predicted < best->predicted ||
                            (priced.predicted == best->predicted && at_home < best_at_home)) {
                            best = priced;
                            best_at_home = at_home;
                            best_room = room;
                        }
                    }
                }
                const auto own = own_plan(problem, machine);
                REQUIRE(own.has_value() == best.has_value());
                if (best) {
                    CHECK(own->predicted == best->predicted);
                    CHECK(own->plan.split == best->plan.split);
                    CHECK(own->plan.bucket == best->plan.bucket);
                    ++won[best_room];
                }
            }
        }
    }
    CHECK(refused > 0);
    CHECK(won.size() > 1);
}

TEST_CASE("dynamic_planner: a pass is told with its cuts, and with what its phases take",
          "[kernels][dynamic]") {
    const auto machine = machine_of(32);
    int reduced = 0;
    for (Problem problem : problems()) {
        problem.passes.input_gradient = true;
        for (const Split& split :
             {Split{1, 1, 1}, Split{3, 1, 2}, Split{1, 4, 1}, Split{2, 3, 4}}) {
            CAPTURE(problem.m, problem.block, name_of(problem.data), split.x, split.y, split.z);
            const Plan plan = priced_plan(problem, machine, split).plan;
            const Layout layout = layout_of(problem, published::dense_machine(machine), plan);
            const Spmm product{layout,    plan,      {problem.data, problem.partials},
                               problem.n, problem.m, problem.k,
                               "test",    false};
            for (const Pass pass : {Pass::Forward, Pass::InputGradient}) {
                const auto division = emit_pass(machine, product, pass).division;
                const Phases& phases = pass == Pass::Forward ? plan.forward : plan.input_gradient;
                CHECK(division.parts_m == split.x);
                CHECK(division.parts_k == split.y);
                CHECK(division.parts_n == split.z);
                CHECK(division.tiles_busy == split.x * split.y * split.z);
                const Cycles step = machine.control.step_cycles;
                const Cycles sums = phases.reduce > 0 ? step + phases.reduce : 0;
                CHECK(division.predicted.compute ==
                      2 * step + phases.transpose + phases.zero + phases.compute + sums);
                CHECK(division.predicted.reduction == sums);
                reduced += sums > 0 ? 1 : 0;
            }
        }
    }
    CHECK(reduced > 0);
}

TEST_CASE(
    "dynamic_planner: what a gradient of values is made of stands apart from its operands alone",
    "[kernels][dynamic]") {
    const auto machine = machine_of(32);
    int homes = 0;
    for (Problem problem : problems()) {
        problem.passes.values_gradient = true;
        for (const Split& split :
             {Split{1, 1, 1}, Split{3, 1, 2}, Split{4, 4, 1}, Split{2, 3, 4}}) {
            CAPTURE(problem.m, problem.block, name_of(problem.data), split.x, split.y, split.z);
            const Plan plan = priced_plan(problem, machine, split).plan;
            const Layout layout = layout_of(problem, published::dense_machine(machine), plan);
            const graph::Graph graph =
                emit_values_gradient(machine, {layout,
                                               plan,
                                               {problem.data, problem.partials},
                                               problem.n,
                                               problem.m,
                                               problem.k,
                                               "test",
                                               false});
            for (const graph::Buffer& buffer : graph.buffers) {
                if (buffer.name != "home of x" && buffer.name != "home of dy") {
                    continue;
                }
                ++homes;
                std::set<std::string> apart;
                for (const graph::BufferId other : buffer.apart) {
                    apart.insert(graph.buffers[other.index].name);
                }
                // other tiles' metadata come where tiles share a product's columns
                CHECK(apart == (split.z > 1 ? std::set<std::string>{"x", "dy", "metadata"}
                                            : std::set<std::string>{"x", "dy"}));
            }
        }
    }
    CHECK(homes > 0);
}

TEST_CASE("dynamic_planner: a result is rounded for each block of its longest line and each part",
          "[kernels][dynamic]") {
    const auto machine = machine_of(24);
    for (const std::int64_t block : {1, 4, 16}) {
        for (const ElementType type : {ElementType::F16, ElementType::F32}) {
            for (const auto& [is_transposed, is_empty] :
                 {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
                CAPTURE(block, name_of(type), is_transposed, is_empty);
                // five blocks in the longest row, three in the longest column; or no block at all
                const auto pattern =
                    is_empty
                        ? std::make_shared<const workload::SparsePattern>(workload::SparsePattern{
                              6 * block, 8 * block, block, {0, 0, 0, 0, 0, 0, 0}, {}})
                        : std::make_shared<const workload::SparsePattern>(
                              workload::SparsePattern{6 * block,
                                                      8 * block,
                                                      block,
                                                      {0, 5, 6, 7, 7, 7, 7},
                                                      {0, 2, 4, 5, 7, 2, 2}});
                family::TensorType a{type, {6 * block, 8 * block}, pattern};
                a.capacity = workload::Capacity{.block = block, .density = 0.5, .excess = 1};
                a.capacity->n = 32;
                const std::int64_t rows = (is_transposed ? 6 : 8) * block;
                const auto step = dynamic::family().make(
                    {{a, {type, {rows, 32}}},
                     {{"partials", std::string("f32")}, {"transpose_a", is_transposed}}});
                graph::Graph graph("test");
                exchange_plan::KnownSchedules known;
                const std::array<std::optional<graph::TensorId>, 2> nowhere;
                static_cast<void>(step->emit(graph, {machine, known, 0, "step"}, nowhere));
                const family::Division& division = *step->division();
                const std::int64_t cut = type == ElementType::F32 && block == 16 ? 2 : 1;
                const std::int64_t of_block =
                    vertex_of(block / cut, {type, ElementType::F32}, Pass::Forward).block_roundings;
                const std::int64_t longest = is_empty ? 0 : is_transposed ? 3 : 5;
                CHECK(division.roundings ==
                      longest * cut * of_block +
                          (is_transposed ? division.parts_m : division.parts_k));
            }
        }
    }
}
