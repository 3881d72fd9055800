// SPDX-License-Identifier: MIT
// A run known by hand, and its result.
#pragma once

#include "sim/result/result.h"
#include "tests/unit/models/listeners/told.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tessera::test {

class FakeJob final : public job::Job {
public:
    const program::Program& plan(const spec::MachineSpec&, job::Operands) override {
        return program_;
    }
    std::vector<job::HostArray> operands() const override { return {}; }
    job::CheckOutcome check(const job::ReadArray&, int) override { return {}; }
    std::vector<job::Result> results() const override { return {}; }
    nlohmann::json plan_json() const override { return nlohmann::json::object(); }
    std::optional<job::ProductWork> product() const override {
        return job::ProductWork{flops, 64000, partials, ElementType::F16, vector_flops};
    }
    std::vector<std::string> notes() const override { return noted; }
    std::vector<job::PatternFacts> patterns() const override { return sequences; }
    std::int64_t empty_matrices() const override { return empty; }
    Bytes useful_bytes() const override { return useful; }
    std::string sentence() const override { return "spmm by hand"; }

    ElementType partials = ElementType::F32;
    Bytes useful = 0;
    std::int64_t flops = 4000;
    std::int64_t vector_flops = 0;
    std::vector<std::string> noted;
    std::vector<job::PatternFacts> sequences;
    std::int64_t empty = 0;

private:
    program::Program program_;
};

/// Two compute sets, one of them a reduction, and an exchange, on four tiles.
struct Scene {
    Scene() {
        machine.name = "four";
        machine.chip.tiles = 4;
        machine.chip.clock_hz = 1e9;
        machine_json = {{"name", "four"}, {"chip", {{"tiles", 4}, {"clock_hz", 1e9}}}};
        program.compute_sets.resize(2);
        program.compute_sets[0].name = "multiply";
        program.compute_sets[1].name = "reduce_sum";
        program.compute_sets[1].role = program::Role::Reduce;
        program.exchanges.resize(1);
        program.exchanges[0].name = "scatter";
        program.image_of_tile = {0, 1, program::Program::kNoImage, program::Program::kNoImage};
        program.images.resize(2);
        program.images[0].segments.push_back({0, 100, program::SegmentKind::Code, "code", nullptr});
        program.images[1].segments.push_back({0, 80, program::SegmentKind::Code, "code", nullptr});
        program.images[1].segments.push_back({0, 900, program::SegmentKind::Tensor, "a", nullptr});
    }

    nlohmann::json result() {
        listeners::Account account(program, 4);
        test::Told run(4, {&account});
        run.phase(events::Doing::ComputeSet, 0, {{0, 100}, {1, 60}});
        run.released(50);
        run.moved({.bytes = 64, .sent_bytes = 24, .bound_cycles = 32});
        run.phase(events::Doing::Exchange, 0, {{0, 40}, {1, 40}, {2, 40}, {3, 40}}, {}, {32, 24});
        run.phase(events::Doing::ComputeSet, 1, {{0, 20}});
        return result_of(account);
    }

    /// Of closed forms, of which the job itself has none.
    nlohmann::json estimated() {
        return result::make_result(
            result::EstimateFacts{.machine = machine,
                                  .machine_resolved = machine_json,
                                  .unused_parameters = nlohmann::json::object(),
                                  .workload_name = "by_hand",
                                  .workload_resolved = workload_json,
                                  .job = job,
                                  .estimate = estimate,
                                  .host = {}});
    }

    result::RunFacts facts_of(const listeners::Account& account) {
        return {.machine = machine,
                .machine_resolved = machine_json,
                .unused_parameters = {{"host.latency_us", "the run has no x"}},
                .workload_name = "by_hand",
                .workload_resolved = workload_json,
                .job = job,
                .program = program,
                .account = account,
                .check = std::nullopt,
                .trace = std::nullopt,
                .output_digest = "00000000",
                .host = {}};
    }
    nlohmann::json result_of(const listeners::Account& account) {
        return result::make_result(facts_of(account));
    }

    spec::MachineSpec machine;
    nlohmann::json machine_json;
    nlohmann::json workload_json = nlohmann::json::object();
    program::Program program;
    FakeJob job;
    job::Estimate estimate{
        .family = "spmm",
        .predicted = {.compute = 150, .exchange = 40, .sync = 20, .reduction = 7},
        .uses_matrix_unit = true,
        .plan = {{"parts_m", 2},
                 {"parts_k", 1},
                 {"parts_n", 3},
                 {"chunks", 4},
                 {"paired", "a"},
                 {"bytes_estimated", 12345},
                 {"predicted_cycles", {{"compute", 150}, {"exchange", 40}, {"sync", 20}}}}};
};

} // namespace tessera::test
