// SPDX-License-Identifier: MIT
// Runs of several chips, each in a process of its own, as SystemC elaborates once.
#pragma once

#include "models/simulation/simulation.h"
#include "sim/process/child.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace tessera::test {

using RunBody = std::function<nlohmann::json()>;

/// What the bodies say, two at a time. Of one that throws: its `mistake` and the `exit_code` of it.
inline std::vector<nlohmann::json> alone(const std::vector<RunBody>& bodies,
                                         const process::ChildLimits& limits = {}) {
    std::vector<process::ChildBody> children;
    for (const RunBody& body : bodies) {
        children.push_back([&body] {
            nlohmann::json said;
            try {
                said = body();
            } catch (...) {
                const auto failure = process::failure_of(std::current_exception());
                said = {{"mistake", failure.message}, {"exit_code", failure.exit_code}};
            }
            return process::ChildOutcome{process::kOk, said.dump()};
        });
    }
    std::vector<nlohmann::json> all;
    for (const auto& outcome : process::run_children(children, 2, {}, limits)) {
        CHECK_FALSE(outcome.was_late);
        REQUIRE(outcome.exit_code == process::kOk);
        all.push_back(nlohmann::json::parse(outcome.text));
    }
    return all;
}

inline nlohmann::json alone(const RunBody& body) {
    return alone(std::vector{body}).front();
}

/// Cycles of each kind of every tile of every chip, bound, time and what binds of its link exchanges, and the bytes on
/// edges.
inline nlohmann::json facts_of(const simulation::Simulation& simulation) {
    nlohmann::json facts;
    for (std::size_t chip = 0; chip < simulation.chips(); ++chip) {
        for (const auto& tile : simulation.account(chip).tiles()) {
            facts["tiles"].push_back(
                {tile.compute, tile.exchange, tile.sync, tile.stream, tile.link, tile.idle});
        }
        facts["cycles"].push_back(simulation.account(chip).cycles());
        for (const auto& step : simulation.account(chip).links()) {
            facts["links"].push_back({step.bound_cycles, step.transfer_cycles, step.bound_by});
        }
    }
    for (const auto& edge : simulation.edges()) {
        facts["edges"].push_back({edge.from, edge.to, edge.payload_bytes, edge.bytes,
                                  edge.busy_cycles, edge.most_waiting});
    }
    return facts;
}

} // namespace tessera::test
