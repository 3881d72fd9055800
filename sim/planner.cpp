// SPDX-License-Identifier: MIT
#include "sim/planner.h"

#include "kernels/matmul/matmul.h"
#include "kernels/sparse/spmm.h"

#include <utility>

namespace tessera::sim {
namespace {

nlohmann::json to_json(const plan::PlanInfo& info) {
    return {
        {"parts", {{"m", info.parts_m}, {"k", info.parts_k}, {"n", info.parts_n}}},
        {"chunks", info.chunks},
        {"paired", info.paired},
        {"tiles_busy", info.tiles_busy},
        {"roundings", info.roundings},
        {"bytes_by_buffer", info.bytes_by_buffer},
        {"bytes_used", info.bytes_used},
        {"predicted_cycles",
         {{"compute", info.predicted.compute},
          {"exchange", info.predicted.exchange},
          {"sync", info.predicted.sync},
          {"reduction", info.predicted.reduction},
          {"total", info.predicted.total()}}},
    };
}

Plan from(plan::PlannedProgram planned) {
    return {std::move(planned.program), planned.info.roundings, to_json(planned.info)};
}

} // namespace

Plan plan(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload) {
    return from(matmul::plan_matmul(machine, workload));
}

Plan plan(const spec::MachineSpec& machine, const workload::SpmmWorkload& workload,
          const workload::SparseF16& a) {
    return from(sparse::plan_spmm(machine, workload, a));
}

} // namespace tessera::sim
