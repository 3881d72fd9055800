// SPDX-License-Identifier: MIT
// Machine parameters that do not affect a run, because its program has nothing that uses them.
#pragma once

#include "kernels/job/job.h"
#include "models/program/program.h"
#include "models/spec/load.h"

#include <nlohmann/json.hpp>

#include <set>
#include <string>

namespace tessera::run {

/// Words that a parameter's `used_by` may name.
[[nodiscard]] const std::set<std::string>& known_parts();

/// The known parts that a program has, whether or not a decision reaches them.
[[nodiscard]] std::set<std::string> parts_of(const program::Program& program);

/// The known parts that the closed forms of an estimate take into account.
[[nodiscard]] std::set<std::string> parts_of(const job::Estimate& estimate);

/// The known parts of a vertex on its tile.
[[nodiscard]] std::set<std::string> parts_of(const program::Codelet& code);

/// {path: reason} of the parameters that --set gave and that nothing in `parts` uses.
[[nodiscard]] nlohmann::json unused_parameters(const spec::LoadedMachine& machine,
                                               const std::set<std::string>& parts);

} // namespace tessera::run
