// SPDX-License-Identifier: MIT
// Collectives as workloads, on chips of a few tiles: what each chip is left with, in every type, size and
// way of running them. Each run is a process of its own, as SystemC elaborates once.
#include "kernels/job/job.h"
#include "models/simulation/simulation.h"
#include "sim/process/child.h"
#include "tests/component/hand_program.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace tessera;
using workload::CollectiveKind;
using workload::CollectiveWorkload;

namespace {

struct Way {
    bool timing = false;
    int threads = 1;
    std::optional<std::uint64_t> shuffle = {};
};

spec::MachineSpec machine_of(std::int64_t chips, spec::Topology topology) {
    spec::MachineSpec machine = test::four_tiles();
    machine.system.chips = chips;
    machine.system.links.topology = topology;
    return machine;
}

/// The check's verdict and the cycles of all tiles by kind.
nlohmann::json run(const spec::MachineSpec& machine, const workload::Workload& workload,
                   const Way& way) {
    const auto job = job::make_job(workload);
    job->plan(machine, way.timing ? job::Operands::Known : job::Operands::Made);
    ipu::RunOptions options{.threads = way.threads};
    options.shuffle = way.shuffle;
    if (way.timing) {
        options.timing = ipu::TimingOptions{1};
    }
    const program::SystemProgram& system = *job->system();
    simulation::Simulation simulation(machine, system,
                                      std::vector<ipu::RunOptions>(system.chips(), options));
    for (const job::HostArray& operand : job->operands()) {
        simulation.write(operand.array, operand.bytes, operand.chip);
    }
    simulation.run();
    nlohmann::json facts;
    for (std::size_t chip = 0; chip < simulation.chips(); ++chip) {
        for (const auto& tile : simulation.account(chip).tiles()) {
            facts["tiles"].push_back(
                {tile.compute, tile.exchange, tile.sync, tile.stream, tile.link, tile.idle});
        }
    }
    if (!way.timing) {
        const auto read = [&](std::size_t chip, program::ArrayId array) {
            return simulation.read(array, chip);
        };
        facts["check"] = job->check_chips(read, 1).text;
    }
    return facts;
}

/// All of them, two at a time.
std::vector<nlohmann::json> run_all(const spec::MachineSpec& machine,
                                    const workload::Workload& workload,
                                    const std::vector<Way>& ways) {
    std::vector<process::ChildBody> bodies;
    for (const Way& way : ways) {
        bodies.push_back([&, way] {
            nlohmann::json said;
            try {
                said = run(machine, workload, way);
            } catch (const std::exception& error) {
                said = {{"mistake", error.what()}};
            }
            return process::ChildOutcome{process::kOk, said.dump()};
        });
    }
    std::vector<nlohmann::json> all;
    for (const auto& outcome : process::run_children(bodies, 2)) {
        REQUIRE(outcome.exit_code == process::kOk);
        all.push_back(nlohmann::json::parse(outcome.text));
        INFO(all.back().dump().substr(0, 300));
        REQUIRE(!all.back().contains("mistake"));
    }
    return all;
}

/// The answer is exact, and it and the cycles of all tiles are the same in both modes, for any number of
/// threads and in other orders of what happens in one cycle.
void check_all_ways(const spec::MachineSpec& machine, const CollectiveWorkload& collective) {
    const workload::Workload workload{"collective", collective};
    std::vector<Way> ways;
    for (const int threads : {1, 2, 3, 7}) {
        ways.push_back({.threads = threads});
        ways.push_back({.timing = true, .threads = threads});
    }
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        ways.push_back({.shuffle = seed});
        ways.push_back({.timing = true, .shuffle = seed});
    }
    const auto seen = run_all(machine, workload, ways);
    INFO(machine.system.chips << " chips, type " << name_of(collective.dtype));
    CHECK(seen.front()["check"].get<std::string>().starts_with("exact"));
    for (const auto& one : seen) {
        CHECK(one["tiles"] == seen.front()["tiles"]);
        CHECK(one.value("check", seen.front()["check"]) == seen.front()["check"]);
    }
}

} // namespace

TEST_CASE("collectives leave what a host leaves that adds in their order, in both modes alike") {
    for (const CollectiveKind kind :
         {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather}) {
        for (const ElementType type : {ElementType::F16, ElementType::F32, ElementType::I32}) {
            for (const auto& [chips, elements, tiles] : std::vector<std::tuple<int, int, int>>{
                     {2, 1, 1}, {2, 1000, 0}, {4, 77, 3}, {8, 640, 4}}) {
                const auto machine = machine_of(chips, spec::Topology::Ladder);
                const workload::Workload workload{
                    "collective", CollectiveWorkload{kind, elements, type, tiles, 3, 1}};
                const auto seen = run_all(machine, workload, {{}, {.timing = true}});
                INFO(chips << " chips, " << elements << " elements, type " << name_of(type));
                CHECK(seen[0]["check"].get<std::string>().starts_with("exact"));
                CHECK(seen[0]["tiles"] == seen[1]["tiles"]);
            }
        }
    }
}

TEST_CASE("a collective is the same for any number of threads and in any order") {
    check_all_ways(machine_of(4, spec::Topology::Full),
                   CollectiveWorkload{CollectiveKind::AllReduce, 500, ElementType::F16, 0, 5, 2});
}

TEST_CASE("a collective of a MiB on chips of all tiles", "[.slow]") {
    constexpr Bytes kBytes = Bytes{1} << 20U;
    for (const std::int64_t chips : {2, 4}) {
        for (const ElementType type : {ElementType::F16, ElementType::I32}) {
            spec::MachineSpec machine; // Bow
            REQUIRE(machine.chip.tiles == 1472);
            machine.system.chips = chips;
            check_all_ways(machine, CollectiveWorkload{CollectiveKind::AllReduce,
                                                       kBytes / bytes_of(type), type, 0, 1, 1});
        }
    }
}

TEST_CASE("messages between chips come where they shall") {
    using workload::LinkPatternKind;
    using workload::LinkPatternWorkload;
    for (const auto pattern : {LinkPatternKind::PointToPoint, LinkPatternKind::Bulk,
                               LinkPatternKind::BulkBoth, LinkPatternKind::Random}) {
        for (const std::int64_t chips : {2, 4}) {
            const auto machine = machine_of(chips, spec::Topology::Ladder);
            const workload::Workload workload{
                "link_pattern",
                LinkPatternWorkload{
                    .pattern = pattern, .bytes = 100, .destination = chips - 1, .repeats = 2}};
            const auto seen = run_all(machine, workload, {{}, {.timing = true}});
            CHECK(seen[0]["check"].get<std::string>().starts_with("exact"));
            CHECK(seen[0]["tiles"] == seen[1]["tiles"]);
        }
    }
}
