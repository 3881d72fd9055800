// SPDX-License-Identifier: MIT
#include "sim/result/cost_tables.h"

#include "sim/cost/activity.h"
#include "sim/cost/area.h"
#include "sim/cost/energy.h"

#include <numeric>
#include <vector>

namespace tessera::result {
namespace {

using enum Unit;
using cost::Activity;
using listeners::Account;
using listeners::StepRecord;

struct StepEnergy {
    const char* kind = "";
    std::string name;
    double events_j = 0;
    double idle_j = 0;
};

struct EnergyFacts {
    cost::Energy energy;
    double mean_w = 0;
    std::optional<double> pj_per_flop;
};

struct EnergyOfRun : EnergyFacts {
    double outside_steps_j = 0;
    std::vector<StepEnergy> steps;
};

Activity activity(const RunFacts& facts) {
    Activity out;
    if (facts.chips.empty()) {
        out = cost::activity_of(facts.account.counts());
    }
    for (const Account* chip : facts.chips) {
        out.add(cost::activity_of(chip->counts()));
    }
    for (const simulation::EdgeRecord& edge : facts.edges) {
        out.link_bytes += edge.bytes;
    }
    return out;
}

/// What the steps of one kind took, each with what its chip takes anyway while it is on the critical
/// path.
void add_steps(const char* kind, const std::vector<StepRecord>& records, const RunFacts& facts,
               std::vector<StepEnergy>& out) {
    spec::MachineSpec chip = facts.machine;
    chip.system.chips = 1;
    chip.energy.board_w = 0;
    for (const StepRecord& record : records) {
        const double seconds = static_cast<double>(record.cycles) / chip.chip.clock_hz;
        const cost::Joules joules =
            cost::energy_of(cost::activity_of(record.counts), seconds, chip).joules;
        out.push_back({kind, record.name, joules.total() - joules.idle(), joules.idle()});
    }
}

EnergyFacts energy_facts(const Activity& activity, double seconds, std::optional<double> flops,
                         const spec::MachineSpec& machine) {
    EnergyFacts out{cost::energy_of(activity, seconds, machine), 0, std::nullopt};
    const double total = out.energy.joules.total();
    out.mean_w = ratio(total, seconds);
    if (flops && *flops > 0) {
        out.pj_per_flop = 1e12 * total / *flops;
    }
    return out;
}

EnergyOfRun energy_of_run(const RunFacts& facts) {
    const auto product = facts.job.product();
    EnergyOfRun out{
        energy_facts(activity(facts),
                     static_cast<double>(facts.account.cycles()) / facts.machine.chip.clock_hz,
                     product ? std::optional(static_cast<double>(product->flops)) : std::nullopt,
                     facts.machine),
        0,
        {}};
    add_steps("compute_set", facts.account.compute_sets(), facts, out.steps);
    add_steps("exchange", facts.account.exchanges(), facts, out.steps);
    add_steps("stream", facts.account.streams(), facts, out.steps);
    add_steps("link_exchange", facts.account.links(), facts, out.steps);
    out.outside_steps_j = std::accumulate(
        out.steps.begin(), out.steps.end(), out.energy.joules.total(),
        [](double left, const StepEnergy& step) { return left - step.events_j - step.idle_j; });
    return out;
}

Table<Activity> activity_table() {
    Table<Activity> table;
    for (const cost::Amount& amount : cost::kAmounts) {
        table.push_back({amount.key, Count, amount.sentence, amount.value});
    }
    return table;
}

Table<cost::Joules> joules_table() {
    Table<cost::Joules> table;
    for (std::size_t kind = 0; kind < cost::kEnergyKinds.size(); ++kind) {
        table.push_back({std::string(cost::kEnergyKinds[kind].key) + "_j", Number,
                         cost::kEnergyKinds[kind].sentence,
                         [kind](const cost::Joules& joules) { return joules.by_kind[kind]; }});
    }
    return table;
}

Table<StepEnergy> step_energy_table() {
    using Step = StepEnergy;
    return {{"kind", Word, "compute_set, exchange, stream or link_exchange", &Step::kind},
            {"name", Word, "as in the list of its kind, in whose order it stands", &Step::name},
            {"events_j", Number, "of what the step does, on all tiles", &Step::events_j},
            {"idle_j", Number,
             "of what the chip takes anyway while the step is on the critical path",
             &Step::idle_j}};
}

template <class Facts> Table<Facts> energy_table() {
    return {{"total_j", Number, "of the machine; the kinds sum to it",
             [](const Facts& facts) { return facts.energy.joules.total(); }},
            {"low_j", Number, "with each coefficient at the low end of its range",
             [](const Facts& facts) { return facts.energy.low_j; }},
            {"high_j", Number, "with each at the high end",
             [](const Facts& facts) { return facts.energy.high_j; }},
            {"mean_w", Number, "total_j over the run's time",
             [](const Facts& facts) { return facts.mean_w; }},
            {"pj_per_flop", Number, "total_j over flops; of products",
             [](const Facts& facts) { return facts.pj_per_flop; }},
            {"by_kind", "in J", joules_table(),
             [](const Facts& facts) { return facts.energy.joules; }}};
}

Table<EnergyOfRun> energy_of_run_table() {
    Table<EnergyOfRun> table = energy_table<EnergyOfRun>();
    table.push_back({"outside_steps_j", Number,
                     "what no step of the list below has: barriers, the control program, messages "
                     "between chips, other chips, the board",
                     &EnergyOfRun::outside_steps_j});
    table.push_back({"steps", "of the chip whose steps the result has", "a step",
                     step_energy_table(), &EnergyOfRun::steps});
    return table;
}

Table<cost::Area> parts_table() {
    using cost::Area;
    return {{"total_mm2", Number, "the parts together", &Area::total_mm2},
            {"memory_mm2", Number, "tile memory", &Area::memory_mm2},
            {"workers_mm2", Number, "workers and supervisors", &Area::workers_mm2},
            {"matrix_mm2", Number, "matrix units", &Area::matrix_mm2},
            {"exchange_mm2", Number, "exchange ports", &Area::exchange_mm2},
            {"other_mm2", Number, "links, exchange blocks, clocks", &Area::other_mm2}};
}

} // namespace

Table<RunFacts> cost_table() {
    return {{"activity", "what energy is reckoned from, of all chips", activity_table(), activity},
            {"energy",
             "activity, weighed with the machine's `energy`: a model with wide ranges, not a "
             "measurement",
             energy_of_run_table(), energy_of_run}};
}

Entry<HeadFacts> area_entry() {
    return {"area", "of one chip, reckoned with the machine's `area`: a view of designs",
            parts_table(), [](const HeadFacts& facts) { return cost::area_of(facts.machine); }};
}

nlohmann::json energy_values(const Activity& activity, double seconds, std::optional<double> flops,
                             const spec::MachineSpec& machine) {
    static const Table<EnergyFacts> table = energy_table<EnergyFacts>();
    return table.values(energy_facts(activity, seconds, flops, machine));
}

nlohmann::json area_values(const spec::MachineSpec& machine) {
    static const Table<cost::Area> table = parts_table();
    return table.values(cost::area_of(machine));
}

} // namespace tessera::result
