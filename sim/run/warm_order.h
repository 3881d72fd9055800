// SPDX-License-Identifier: MIT
// The order in which runs of a warm worker start, and what is made for several of them before.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::run {

/// What a run may share. Runs with equal keys have equal operands, equal plans, or plans that have much
/// in common. Runs with equal plans have equal operands.
struct WarmKeys {
    std::string operands;
    std::string plan;
    std::string schedule;
};

/// What is done with runs, by their numbers. What one of the first two throws, each run that would have
/// shared it finds out by itself.
struct WarmSteps {
    std::function<void(std::size_t run)> make_operands;
    std::function<void(std::size_t run)> make_plan;
    std::function<void(std::size_t run, std::size_t from)> share_operands;
    std::function<void(std::size_t run, std::size_t from)> share_plan;
    std::function<void(std::size_t run)> start;
    std::function<void(std::size_t run)> drop; ///< what it holds, once it has started
};

/// Starts each run that has keys once, in their order, but for two kinds: runs that share a plan start
/// together, as one plan is held at a time, and operands for several runs are held eight at a time,
/// so that runs with the oldest ones start before the ninth are made. A plan that a run has for
/// itself is left to the run. It is made before only if it is the first of four or more that have
/// their schedules, and their operands, in common.
void start_warm(const std::vector<std::optional<WarmKeys>>& runs, const WarmSteps& steps);

} // namespace tessera::run
