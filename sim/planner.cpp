// SPDX-License-Identifier: MIT
#include "sim/planner.h"

#include "kernels/matmul/matmul.h"
#include "kernels/sparse/spmm.h"

namespace tessera::sim {
namespace {

Plan from(plan::PlannedProgram planned) {
    const plan::PlanInfo& info = planned.info;
    nlohmann::json json = {{"parts_m", info.parts_m},
                           {"parts_k", info.parts_k},
                           {"parts_n", info.parts_n},
                           {"chunks", info.chunks},
                           {"paired", info.paired},
                           {"tiles_busy", info.tiles_busy},
                           {"bytes_by_buffer", info.bytes_by_buffer},
                           {"bytes_used", info.bytes_used},
                           {"predicted_cycles",
                            {{"compute", info.predicted.compute},
                             {"exchange", info.predicted.exchange},
                             {"sync", info.predicted.sync},
                             {"reduction", info.predicted.reduction},
                             {"total", info.predicted.total()}}}};
    return {std::move(planned.program), info.roundings, std::move(json)};
}

} // namespace

Plan plan(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload) {
    return from(matmul::plan_matmul(machine, workload));
}

Plan plan(const spec::MachineSpec& machine, const workload::SpmmWorkload& workload,
          const workload::SparseF16& a) {
    return from(spmm::plan_spmm(machine, workload, a));
}

} // namespace tessera::sim
