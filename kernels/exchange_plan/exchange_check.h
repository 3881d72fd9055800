// SPDX-License-Identifier: MIT
// Checks the transfers of an exchange, before planning, for what no exchange row can do.
#pragma once

#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <span>
#include <string>

namespace tessera::exchange_plan {

/// Throws ProgramError as plan_exchange says.
void check_transfers(const spec::MachineSpec& machine, const std::string& name,
                     std::span<const program::Transfer> transfers);

} // namespace tessera::exchange_plan
