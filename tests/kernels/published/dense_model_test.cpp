// SPDX-License-Identifier: MIT
// The costs of docs/published_plans.md#dense-products written down a second time, one phase after the
// other, and compared with the planner's over random products and splits.
#include "kernels/published/dense_planner.h"
#include "tests/kernels/published/reference_rows.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using namespace tessera::published;

std::int64_t up(std::int64_t value, std::int64_t unit) {
    return value / unit + (value % unit != 0 ? 1 : 0);
}

/// Of one product, split and machine, as the table of costs has it.
class Model {
public:
    Model(const DenseProblem& problem, const DenseMachine& machine, const DenseVertex& vertex,
          const DenseSplit& split)
        : problem_(problem), machine_(machine), vertex_(vertex), split_(split),
          s_(bytes_of(problem.data)), p_(bytes_of(problem.partials)),
          r_(bytes_of(problem.result())) {
        tile_.field = up(problem.n, split.field_parts);
        tile_.in_groups = up(up(problem.k, vertex.in_group), split.in_parts * split.in_serial);
        tile_.out_groups = up(up(problem.m, vertex.out_group), split.out_parts * split.out_serial);
        in_ = tile_.in_groups * vertex.in_group;
        out_ = tile_.out_groups * vertex.out_group;
        outputs_ = tile_.field * out_;
        stages_ = reduction_stages(split.in_parts, outputs_);
    }

    [[nodiscard]] const DenseTile& tile() const { return tile_; }

    [[nodiscard]] DensePhases phases() const {
        DensePhases phases;
        phases.serial_steps = split_.out_serial * split_.in_serial;
        phases.inputs_once = split_.inputs_once;
        const std::int64_t x = tile_.field * in_;
        const std::int64_t w = in_ * out_;
        const Bytes pair =
            split_.out_parts % 2 == 0 ? machine_.pair_bytes : machine_.exchange_bytes;
        phases.inputs = up((x - x / split_.out_parts) * s_, pair);
        phases.weights = up((w - w / split_.field_parts) * s_, machine_.exchange_bytes);
        phases.vertex =
            amp_vertex_cycles(machine_, vertex_, problem_.data, problem_.partials, tile_);
        phases.partials_first = up(outputs_ * p_, machine_.exchange_bytes);
        sum(phases);
        rearrange(phases);
        step(phases);
        phases.temporary_bytes = temporary_bytes();
        return phases;
    }

private:
    [[nodiscard]] ElementType summed_type() const {
        return split_.in_serial > 1 ? problem_.partials : problem_.result();
    }
    [[nodiscard]] Cycles cast(std::int64_t elements) const {
        const std::int64_t mine = up(elements, machine_.workers);
        const Bytes wider = std::max(p_, r_);
        return machine_.round_cycles * (26 + up(mine, 8 / wider));
    }
    void sum(DensePhases& phases) const {
        if (split_.in_parts == 1) {
            phases.reduce = problem_.partials == summed_type() ? 0 : cast(outputs_);
        }
        std::int64_t left = outputs_;
        for (std::size_t i = 0; i < stages_.size(); ++i) {
            const bool last = i + 1 == stages_.size();
            phases.reduce += reduction_stage_cycles(
                machine_, problem_.partials, last ? summed_type() : problem_.partials, stages_[i]);
            if (!last) {
                left = up(left, stages_[i].depth);
                phases.partials_later += up(left * p_, machine_.exchange_bytes);
            }
        }
    }

    [[nodiscard]] Bytes share(std::int64_t elements, Bytes bytes) const {
        return up(elements * bytes, split_.tiles());
    }
    [[nodiscard]] bool ragged_in() const { return problem_.k % vertex_.in_group != 0; }
    [[nodiscard]] bool ragged_out() const { return problem_.m % vertex_.out_group != 0; }
    /// Result groups stand 32 bytes wide.
    [[nodiscard]] bool regrouped() const { return vertex_.out_group * r_ != 32; }
    [[nodiscard]] Cycles copied(Bytes bytes, Bytes a_cycle) const {
        const bool whole = problem_.m * problem_.k * s_ % 8 == 0;
        return up(5 * bytes, (whole ? 4 : 3) * a_cycle);
    }
    [[nodiscard]] Cycles copied_and_sent(Bytes bytes, Bytes a_cycle) const {
        return copied(bytes, a_cycle) + up(bytes, machine_.exchange_bytes);
    }
    void rearrange(DensePhases& phases) const {
        const Bytes result = share(problem_.m * problem_.n, r_);
        if (ragged_in()) {
            phases.transform_inputs = copied_and_sent(share(problem_.k * problem_.n, s_), s_);
        }
        if (ragged_in() || ragged_out()) {
            phases.transform_weights = copied_and_sent(share(problem_.m * problem_.k, s_), s_);
        }
        if (ragged_out()) {
            phases.transform_outputs = copied_and_sent(result, r_);
        } else if (regrouped()) {
            phases.transform_outputs = copied(result, 8);
        }
    }

    [[nodiscard]] Cycles dyn(std::int64_t elements, Bytes bytes) const {
        const std::int64_t vectors = up(elements, machine_.workers) / (8 / bytes);
        return 25 + machine_.round_cycles * (39 + 24 + 2 * vectors);
    }
    void step(DensePhases& phases) const {
        const std::int64_t tiles = split_.tiles();
        const std::int64_t summed = up(outputs_, split_.in_parts); // on a tile
        if (split_.out_serial > 1) {
            phases.slice = dyn(up(up(problem_.m * problem_.k, tiles), split_.out_serial), s_);
            phases.update = dyn(up(summed, split_.out_serial), r_);
        }
        if (split_.in_serial > 1) {
            phases.slice = dyn(up(up(problem_.m * problem_.k, tiles), split_.in_serial), s_) +
                           dyn(up(up(problem_.k * problem_.n, tiles), split_.in_serial), s_);
            phases.update =
                11 + machine_.round_cycles * (58 + 2 * up(up(summed, machine_.workers), 8 / p_));
            phases.final_cast = p_ == r_ ? 0 : cast(summed);
        }
    }

    [[nodiscard]] Bytes temporary_bytes() const {
        const Bytes x = tile_.field * in_ * s_;
        const Bytes w = in_ * out_ * s_;
        Bytes operands = 0; // rearranged, of one step together
        if (ragged_in()) {
            operands += share(problem_.k * problem_.n, s_);
        }
        if (ragged_in() || ragged_out()) {
            operands += share(problem_.m * problem_.k, s_);
        }
        const Bytes result =
            regrouped() || ragged_out() ? share(problem_.m * problem_.n, r_) : Bytes{0};
        Bytes largest = std::max(2 * operands, 2 * result); // before and behind
        largest = std::max(largest, (split_.inputs_once ? 0 : x) + w + outputs_ * p_);
        for (std::size_t i = 0; i + 1 < stages_.size(); ++i) {
            largest = std::max(largest, stages_[i].depth * stages_[i].outputs * p_);
        }
        const Bytes kept = split_.in_serial > 1 ? up(outputs_, split_.in_parts) * p_ : Bytes{0};
        return largest + (split_.inputs_once ? x : 0) + kept;
    }

    DenseProblem problem_;
    DenseMachine machine_;
    DenseVertex vertex_;
    DenseSplit split_;
    Bytes s_;
    Bytes p_;
    Bytes r_;
    DenseTile tile_;
    std::int64_t in_ = 0;
    std::int64_t out_ = 0;
    std::int64_t outputs_ = 0;
    std::vector<ReductionStage> stages_;
};

const std::vector<std::pair<ElementType, ElementType>> kTypes{
    {ElementType::F16, ElementType::F16},
    {ElementType::F16, ElementType::F32},
    {ElementType::F32, ElementType::F32},
    {ElementType::F143, ElementType::F16},
};

DenseMachine bow() {
    return dense_machine(spec::MachineSpec{});
}

} // namespace

TEST_CASE("every phase of a dense plan costs what its rule says", "[kernels][published]") {
    std::mt19937 random(1);
    const auto below = [&](std::int64_t bound) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
    };
    for (int i = 0; i < 2000; ++i) {
        const auto& [data, partials] = kTypes[static_cast<std::size_t>(i) % kTypes.size()];
        spec::MachineSpec spec;
        spec.chip.generation = i % 3 == 0 ? spec::Generation::Ipu1 : spec::Generation::Ipu2;
        spec.exchange.pair_double = i % 5 != 0;
        const DenseMachine machine = dense_machine(spec);
        // a third of the dimensions fill their groups
        const auto dimension = [&] { return i % 3 == 1 ? 32 * (1 + below(12)) : 1 + below(400); };
        const DenseProblem problem{dimension(), dimension(), 1 + below(300), data, partials};
        const auto vertices = dense_vertices(problem, machine);
        const DenseVertex vertex =
            vertices[static_cast<std::size_t>(below(static_cast<std::int64_t>(vertices.size())))];
        DenseSplit split{1 + below(problem.n), 1 + below(5), 1, 1 + below(3), 1, false};
        if (i % 7 == 0) {
            split.in_parts = 10 + below(200); // stages
        }
        if (i % 4 == 1) {
            split.out_serial = 2 + below(4);
            split.inputs_once = below(2) == 1;
        } else if (i % 4 == 2) {
            split.in_serial = 2 + below(4);
        }
        CAPTURE(problem.m, problem.k, problem.n, name_of(data), name_of(partials), vertex.out_group,
                split.field_parts, split.out_parts, split.out_serial, split.in_parts,
                split.in_serial, split.inputs_once);
        const DensePlan plan = plan_of(problem, machine, vertex, split);
        const Model model(problem, machine, vertex, split);
        CHECK(plan.tile.field == model.tile().field);
        CHECK(plan.tile.in_groups == model.tile().in_groups);
        CHECK(plan.tile.out_groups == model.tile().out_groups);
        CHECK(plan.intermediate_depths == intermediate_depths(split.in_parts));
        const DensePhases wanted = model.phases();
        const auto phases_of = [](const DensePhases& of) {
            return std::vector<Cycles>{of.serial_steps,
                                       of.slice,
                                       of.transform_inputs,
                                       of.transform_weights,
                                       of.inputs,
                                       of.weights,
                                       of.vertex,
                                       of.partials_first,
                                       of.partials_later,
                                       of.reduce,
                                       of.transform_outputs,
                                       of.update,
                                       of.final_cast,
                                       of.temporary_bytes};
        };
        REQUIRE(phases_of(plan.phases) == phases_of(wanted));
        CHECK(plan.phases == wanted);
    }
}

TEST_CASE("the sum of a plan's phases counts steps, and inputs that come once", "[kernels]") {
    DensePhases phases;
    phases.serial_steps = 5;
    const std::vector<Cycles DensePhases::*> of_a_step{
        &DensePhases::slice,  &DensePhases::transform_weights, &DensePhases::weights,
        &DensePhases::vertex, &DensePhases::partials_first,    &DensePhases::partials_later,
        &DensePhases::reduce, &DensePhases::transform_outputs, &DensePhases::update};
    Cycles cycles = 1; // powers of ten, so that each is seen
    Cycles sum = 0;
    for (const auto phase : of_a_step) {
        phases.*phase = cycles;
        sum += 5 * cycles;
        cycles *= 10;
    }
    CHECK(phases.total() == sum);
    phases.inputs = 3 * cycles;
    phases.transform_inputs = 100 * cycles;
    CHECK(phases.total() == sum + 5 * 103 * cycles);
    phases.inputs_once = true;
    CHECK(phases.total() == sum + 103 * cycles);
    phases.final_cast = 7;
    CHECK(phases.total() == sum + 103 * cycles + 7);
}

TEST_CASE("a reduction's stage takes what the library's estimate says", "[kernels][published]") {
    // Its estimates are of partials that do not stand in interleaved elements: of a machine whose
    // memory has no room for these.
    DenseMachine machine = bow();
    machine.tile_bytes = 16;
    int compared = 0;
    for (const test::CsvRow& row : test::read_reference("vertex_estimates.csv")) {
        if (row.at("vertex") != "ReduceAdd(conv partials)") {
            continue;
        }
        std::map<std::string, std::int64_t> values;
        std::istringstream words(row.at("params"));
        for (std::string word; words >> word;) {
            const auto equals = word.find('=');
            values[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
        }
        const std::string types = row.at("type");
        const ElementType from = types.starts_with("half") ? ElementType::F16 : ElementType::F32;
        const ElementType to = types.ends_with("half") ? ElementType::F16 : ElementType::F32;
        CAPTURE(types, row.at("params"));
        CHECK(reduction_stage_cycles(machine, from, to,
                                     {values["numPartials"], 1, values["outSize"]}) ==
              std::stoll(row.at("cycles")));
        ++compared;
    }
    CHECK(compared == 11);
}

TEST_CASE("a reduction's stage over whole vectors in a sixteenth of the memory loads two at once",
          "[kernels][published]") {
    const DenseMachine machine = bow();
    for (const bool f16 : {true, false}) {
        const ElementType from = f16 ? ElementType::F16 : ElementType::F32;
        const std::int64_t lanes = f16 ? 8 : 4;
        for (const ElementType to : {ElementType::F16, ElementType::F32}) {
            // issues behind the sum: stores of FP32 take one more, sums in FP32 two less
            const Cycles behind = (f16 ? 8 : 6) + (to == ElementType::F32 ? 1 : 0);
            const auto stage = [&](std::int64_t depth, std::int64_t outputs) {
                return reduction_stage_cycles(machine, from, to, {depth, 1, outputs});
            };
            CAPTURE(f16, name_of(to));
            for (const std::int64_t depth : {2, 3, 9}) {
                for (const std::int64_t vectors : {1, 5, 6, 7, 12, 13}) {
                    CAPTURE(depth, vectors);
                    const std::int64_t mine = up(vectors, machine.workers);
                    CHECK(stage(depth, vectors * lanes) ==
                          33 + machine.round_cycles * (20 + (2 * (depth - 1) + behind + 1) * mine));
                    // a ragged vector: loops that every worker has, and a tail of one
                    for (std::int64_t more = 1; more < lanes; ++more) {
                        std::int64_t loops = vectors;
                        for (std::int64_t bit = 1; bit < lanes; bit *= 2) {
                            loops += (more & bit) != 0 ? 1 : 0;
                        }
                        const bool even = loops % machine.workers == 0;
                        const Cycles tail = even ? 0 : 2 * depth + (f16 ? 11 : 13);
                        CHECK(stage(depth, vectors * lanes + more) ==
                              machine.round_cycles *
                                  (32 + tail + (3 * depth + behind) * (loops / machine.workers)));
                    }
                }
            }
        }
    }
}

TEST_CASE("what a reduction's stage receives must leave room, in whole elements of memory",
          "[kernels]") {
    DenseMachine machine = bow();
    const auto stage = [&](std::int64_t outputs) {
        return reduction_stage_cycles(machine, ElementType::F16, ElementType::F16, {2, 1, outputs});
    };
    const auto at_once = [&](std::int64_t outputs) {
        return 33 + machine.round_cycles * (20 + 11 * up(outputs / 8, machine.workers));
    };
    const auto alone = [&](std::int64_t outputs) {
        return machine.round_cycles * (32 + 14 * up(outputs / 8, machine.workers));
    };
    const std::int64_t of_element = machine.element_bytes / 2; // outputs of which one is received
    REQUIRE(of_element % 8 == 0);
    for (const std::int64_t elements : {2, 5}) {
        // a sixteenth of the memory is just so many elements, or a byte more
        machine.tile_bytes = 16 * elements * machine.element_bytes;
        const std::int64_t below = (elements - 1) * of_element;
        CHECK(stage(below) == at_once(below));
        CHECK(stage(below + 8) == alone(below + 8));
        machine.tile_bytes += 16;
        CHECK(stage(below + 8) == at_once(below + 8));
        CHECK(stage(below + of_element) == at_once(below + of_element));
        CHECK(stage(below + of_element + 8) == alone(below + of_element + 8));
    }
}

TEST_CASE("a reduction's stages have the least sum of ratios near the roots", "[kernels]") {
    const auto root = [](std::int64_t value, double power) { // rounded down
        auto found = static_cast<std::int64_t>(std::pow(static_cast<double>(value), power) + 1e-9);
        return found;
    };
    for (std::int64_t parts = 0; parts <= 3000; ++parts) {
        std::vector<std::vector<std::int64_t>> offered;
        if (parts >= 125) {
            for (const std::int64_t i : {0, 1}) {
                for (const std::int64_t j : {0, 1}) {
                    offered.push_back({root(parts, 2.0 / 3) + i, root(parts, 1.0 / 3) + j});
                }
            }
        } else if (parts >= 16) {
            offered = {{root(parts, 0.5)}, {root(parts, 0.5) + 1}};
        }
        std::vector<std::int64_t> best;
        double least = std::numeric_limits<double>::infinity();
        for (const auto& depths : offered) {
            double sum = static_cast<double>(depths.back());
            for (std::size_t i = 0; i < depths.size(); ++i) {
                sum += static_cast<double>(i == 0 ? parts : depths[i - 1]) /
                       static_cast<double>(depths[i]);
            }
            if (sum < least - 1e-12) {
                least = sum;
                best = depths;
            }
        }
        CAPTURE(parts);
        CHECK(intermediate_depths(parts) == best);
    }
}

TEST_CASE("a vertex of FP16 or FP32 costs the overheads of its groups, passes and rows",
          "[kernels]") {
    const DenseMachine machine = bow();
    const Cycles round = machine.round_cycles;
    const Cycles launches = 14;
    for (const auto& [data, partials] : kTypes) {
        for (const DenseVertex& vertex : dense_vertices({1, 1, 1, data, partials}, machine)) {
            if (bytes_of(data) == 1) {
                continue;
            }
            const bool f16 = data == ElementType::F16;
            // FP16 sums of eight units have prologues of their own
            const bool narrow = f16 && partials == ElementType::F16 && vertex.units == 8;
            const Cycles load = vertex.units * vertex.in_group * bytes_of(data) / 8;
            const std::int64_t passes = vertex.out_group / vertex.units;
            for (const std::int64_t rows : {3, 5}) { // of each worker
                const Cycles issues = f16 ? 38 + machine.row_issues_f16 * (rows - 3)
                                          : 46 + machine.row_issues_f32 * (rows - 3);
                const Cycles kept = f16 ? 7 : 0; // of the weight set before
                const Cycles zeroing = f16 ? -1 : 2 + 8 * rows;
                const Cycles added = round * (issues - kept) + launches;
                const Cycles zeroed = round * (issues - kept + zeroing) + launches;
                const Cycles start = 50 + (f16 ? 7 * round : 0) + (narrow ? 12 : 13) + 11;
                const Cycles of_in = (f16 ? 3 * round : 0) + (narrow ? 16 : 15);
                for (const auto& [ins, outs] :
                     {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 4}, {3, 1}, {3, 4}}) {
                    CAPTURE(name_of(data), name_of(partials), vertex.units, rows, ins, outs);
                    CHECK(amp_vertex_cycles(machine, vertex, data, partials,
                                            {rows * machine.workers, ins, outs}) ==
                          start + outs * ((narrow ? 19 : 18) + passes * (7 + load + zeroed)) +
                              (ins - 1) * (of_in + outs * (19 + passes * (6 + load + added))));
                }
            }
        }
    }
}

TEST_CASE("a vertex of FP8 costs the overheads that are published of it", "[kernels]") {
    const DenseMachine machine = bow();
    const std::int64_t w = machine.workers;
    const DenseVertex vertex{32, 16, 16};
    const Cycles load = 16 * 32 / 8; // of a weight set, 8 B a cycle
    for (const std::int64_t rows : {3, 5}) {
        const std::int64_t field = rows * w; // as many for each worker
        const Cycles row_issues = machine.row_issues_f16;
        const Cycles kept = 7;
        const Cycles issues = 38 + row_issues * (rows - 3) - kept;
        const Cycles launches = 14;
        const Cycles added = machine.round_cycles * issues + launches;
        const Cycles zeroed = machine.round_cycles * (issues - 1) + launches;
        const auto of = [&](std::int64_t ins, std::int64_t outs) {
            const Cycles out_groups = 6 * w + 10;
            return 46 + 2 * w + 9 + outs * (out_groups + 20 * w + 11 + load + zeroed) +
                   (ins - 1) * outs * (out_groups + 17 * w + 6 + load + added);
        };
        for (const ElementType data : {ElementType::F143, ElementType::F152}) {
            for (const auto& [ins, outs] :
                 {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 4}, {3, 1}, {3, 4}}) {
                CHECK(amp_vertex_cycles(machine, vertex, data, ElementType::F16,
                                        {field, ins, outs}) == of(ins, outs));
            }
        }
    }
}
