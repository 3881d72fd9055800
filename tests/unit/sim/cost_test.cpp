// SPDX-License-Identifier: MIT
// Energy and area: what counts add up to, and what each coefficient weighs.
#include "models/spec/load.h"
#include "models/spec/matrix_unit.h"
#include "sim/cost/activity.h"
#include "sim/cost/area.h"
#include "sim/cost/energy.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

using namespace tessera;
using cost::Activity;
using counts::Group;

namespace {

constexpr double kSeconds = 0.5;

/// One of everything, each another number.
Activity some_activity() {
    Activity activity;
    std::int64_t number = 1000;
    for (const cost::Amount& amount : cost::kAmounts) {
        activity.*amount.value = number;
        number += 137;
    }
    return activity;
}

spec::MachineSpec machine_with(const std::string& set) {
    return spec::load_machine("bow", test::source_paths(), {set}).spec;
}

double total(const Activity& activity, const spec::MachineSpec& machine) {
    return cost::energy_of(activity, kSeconds, machine).joules.total();
}

std::vector<std::string> paths_of(const char* part) {
    std::vector<std::string> paths;
    for (const auto& one :
         config::parameters(*spec::machine_shape().find(part)->shape, std::string(part) + ".")) {
        paths.push_back(one.path);
    }
    return paths;
}

} // namespace

TEST_CASE("an activity is what counts add up to") {
    counts::Counts counts;
    std::int64_t number = 1;
    for (std::size_t group = 0; group < counts::kGroups.size(); ++group) {
        for (std::size_t kind = 0; kind < counts::kGroups.at(group).kinds.size(); ++kind) {
            counts.at(static_cast<Group>(group), kind) = number++;
        }
    }
    const auto at = [&](Group group, auto kind) { return counts.at(group, kind); };
    using enum counts::MatrixStep;
    using enum counts::VectorOperation;
    const Activity activity = cost::activity_of(counts);
    CHECK(activity.instructions == counts.sum(Group::WorkerBundles) +
                                       counts.sum(Group::WorkerFullBundles) +
                                       counts.sum(Group::SupervisorInstructions));
    CHECK(activity.memory_bytes == at(Group::MemoryBytes, counts::MemoryUse::Loaded) +
                                       at(Group::MemoryBytes, counts::MemoryUse::Stored));
    // of a step: the machine's rate for its types, where a step is an issue
    const auto unit = [](const char* machine) {
        return spec::matrix_unit(spec::load_machine(machine, test::source_paths()).spec);
    };
    const auto step = [&](counts::MatrixStep kind) { return at(Group::MatrixSteps, kind); };
    CHECK(activity.matrix_f16_macs ==
          unit("bow").macs_f16_f16 * step(F16v4Hihov4) +
              unit("bow").macs_f16_f32 * (step(F16v4Siso) + step(F16v4Siho)) +
              unit("gc2").macs_f16_f16 * step(F16v4Hiho));
    CHECK(activity.matrix_f32_macs ==
          unit("bow").macs_f32_f32 * step(F32Sisov2) + unit("gc2").macs_f32_f32 * step(F32Siso));
    CHECK(activity.matrix_f8_macs == unit("c600").macs_f8_f16 * step(F8v8Hihov4));
    const auto operation = [&](counts::VectorOperation kind) {
        return at(Group::VectorOperations, kind);
    };
    CHECK(activity.vector_f8 == 2 * operation(F8v2) + 4 * operation(F8v4));
    CHECK(activity.vector_f16 ==
          operation(F16) + 2 * operation(F16v2) + 4 * operation(F16v4) + 8 * operation(F16v8));
    CHECK(activity.vector_f32 == operation(F32) + 2 * operation(F32v2) + 4 * operation(F32v4));
    CHECK(activity.exchange_bytes == 4 * at(Group::Words, counts::Word::Received));
    CHECK(activity.streaming_bytes + activity.host_bytes == counts.sum(Group::StreamBytes));
    CHECK(activity.streaming_bytes == at(Group::StreamBytes, counts::Stream::MemoryRead) +
                                          at(Group::StreamBytes, counts::Stream::MemoryWrite));
    CHECK(activity.barriers == counts.sum(Group::Barriers));
    CHECK(activity.link_bytes == 0);

    Activity twice = activity;
    twice.add(activity);
    for (const cost::Amount& amount : cost::kAmounts) {
        CAPTURE(amount.key);
        CHECK(activity.*amount.value * 2 == twice.*amount.value);
    }
}

TEST_CASE("each coefficient of energy weighs something of its own, in proportion") {
    const Activity activity = some_activity();
    const double before = total(activity, spec::MachineSpec{});
    std::set<double> differences;
    const auto paths = paths_of("energy");
    for (const std::string& path : paths) {
        CAPTURE(path);
        const double zero = total(activity, machine_with(path + "=0"));
        const double one = total(activity, machine_with(path + "=1"));
        const double three = total(activity, machine_with(path + "=3"));
        CHECK(one > zero);
        CHECK(three - zero == Approx(3 * (one - zero)));
        CHECK(before - zero >= 0);
        differences.insert(one - zero);
    }
    // no two weigh the same, but for the static power of one chip and the board
    CHECK(differences.size() == paths.size() - 1);
}

TEST_CASE("each amount takes energy of its kind, and power takes time") {
    const spec::MachineSpec machine = machine_with("energy.board_w=100");
    const cost::Energy none = cost::energy_of({}, kSeconds, machine);
    CHECK(none.joules.total() ==
          Approx(kSeconds * (machine.energy.static_w +
                             machine.energy.clock_w_per_ghz * 1e-9 * machine.chip.clock_hz + 100)));
    CHECK(cost::energy_of({}, 0, machine).joules.total() == 0);
    for (const cost::Amount& amount : cost::kAmounts) {
        CAPTURE(amount.key);
        Activity activity;
        activity.*amount.value = 1'000'000;
        const cost::Energy some = cost::energy_of(activity, kSeconds, machine);
        CHECK(some.joules.total() > none.joules.total());
        CHECK(some.joules.idle() == none.joules.idle());
        CHECK(some.low_j < some.joules.total());
        CHECK(some.high_j > some.joules.total());
    }
    spec::MachineSpec four = machine;
    four.system.chips = 4;
    CHECK(cost::energy_of({}, kSeconds, four).joules.total() - kSeconds * 100 ==
          Approx(4 * (none.joules.total() - kSeconds * 100)));
}

TEST_CASE("the range of an energy is what descriptions of its coefficients say") {
    const Activity activity = some_activity();
    double low = 0;
    double high = 0;
    for (const std::string& path : paths_of("energy")) {
        CAPTURE(path);
        const std::string sentence = config::field_at(spec::machine_shape(), path)->sentence;
        const std::string words = "believed to lie in ";
        const std::size_t at = sentence.find(words);
        REQUIRE(at != std::string::npos);
        double from = 0;
        double to = 0;
        REQUIRE(std::sscanf(sentence.c_str() + at + words.size(), "%lf to %lf", &from, &to) == 2);
        if (path == "energy.board_w") { // 0 of a chip by itself
            continue;
        }
        const double zero = total(activity, machine_with(path + "=0"));
        low += total(activity, machine_with(path + "=" + std::to_string(from))) - zero;
        high += total(activity, machine_with(path + "=" + std::to_string(to))) - zero;
    }
    const cost::Energy energy = cost::energy_of(activity, kSeconds, spec::MachineSpec{});
    CHECK(energy.low_j == Approx(low));
    CHECK(energy.high_j == Approx(high));
}

TEST_CASE("each part of an area is its amount times its coefficient") {
    spec::MachineSpec machine = machine_with("chip.tiles=6");
    machine.tile.workers = 5;
    machine.exchange.lane_bytes = 8;
    machine.area = {.memory_mm2_per_mib = 2,
                    .worker_mm2 = 0.5,
                    .matrix_mm2_per_mac = 0.25,
                    .exchange_mm2_per_lane_byte = 0.125,
                    .rest_mm2 = 7};
    const cost::Area area = cost::area_of(machine);
    const double mib = static_cast<double>(machine.memory.bytes()) / (1U << 20U);
    CHECK(area.memory_mm2 == Approx(6 * 2 * mib));
    CHECK(area.workers_mm2 == Approx(6 * 0.5 * 5));
    CHECK(area.matrix_mm2 ==
          Approx(6 * 0.25 * static_cast<double>(spec::matrix_unit(machine).macs_f16_f16)));
    CHECK(area.exchange_mm2 == Approx(6 * 0.125 * 8));
    CHECK(area.other_mm2 == 7);
}

TEST_CASE("the area of a GC200 closes on its die, and each coefficient is part of it") {
    constexpr double kDie = 823; // mm2; docs/evidence.md#area
    const auto gc200 = spec::load_machine("gc200", test::source_paths()).spec;
    CHECK(cost::area_of(gc200).total_mm2() == Approx(kDie).epsilon(0.05));
    for (const std::string& path : paths_of("area")) {
        CAPTURE(path);
        CHECK(cost::area_of(machine_with(path + "=50")).total_mm2() !=
              cost::area_of(spec::MachineSpec{}).total_mm2());
    }
    for (const std::string more :
         {"chip.tiles=1600", "memory.region1_bytes=458752", "tile.workers=7",
          "amp.steps_per_issue=2", "exchange.lane_bytes=8"}) {
        CAPTURE(more);
        CHECK(cost::area_of(machine_with(more)).total_mm2() >
              cost::area_of(spec::MachineSpec{}).total_mm2());
    }
}
