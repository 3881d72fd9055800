// SPDX-License-Identifier: MIT
// What spmm_block16.S costs: its workers' issues in front of a weight load of matmul_amp.S, and the
// supervisor's walk over the list. tests/kernels/codelets/codelet_cost_test.cpp counts the
// constants in the assembled codelets.
#pragma once

#include "base/element_type.h"
#include "kernels/codelets/supervisor_timeline.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <vector>

namespace tessera::codelets {

constexpr std::int64_t kBlock16Columns = 13;  ///< .Lcolumns, once a vertex
constexpr std::int64_t kBlock16Addresses = 5; ///< spmm_block16_*_fresh, _add

/// spmm_block16_<p> over `columns` columns, from its first instruction to behind its return; one
/// entry a weight load: does it start from zero?
void run_block16(SupervisorTimeline& time, const spec::AmpSpec& amp, ElementType partials,
                 std::int64_t columns, const std::vector<bool>& fresh);

} // namespace tessera::codelets
