// SPDX-License-Identifier: MIT
// What no row can do, found in the transfers before they are planned.
#pragma once

#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <span>
#include <string>

namespace tessera::plan {

/// Throws ProgramError as plan_exchange says.
void check_transfers(const spec::MachineSpec& machine, const std::string& name,
                     std::span<const program::Transfer> transfers);

} // namespace tessera::plan
