// SPDX-License-Identifier: MIT
// The published plan of a dense product as a graph: its splits, places and steps
// (kernels/published/dense_planner.h), with vertices in the published loop structure.
//
//   C[m x n] = A[m x k] * B[k x n]: A holds the weights of the matrix unit, B's columns are the
//   field that passes it. Tile (in, field, out) multiplies its rows of A and channels of k with its
//   columns of B; the tiles that differ in `in` then sum their partial results, in stages.
//
// Layouts: A [in group][out group][16 rows][16 of k], B [in group][column][16 of k], partial results
// and C [out group][column][16 rows]; FP32 has 8 instead of 16 of k, and each tile rearranges its
// share of C into [out group][column][8 rows] in the end. A piece that several tiles need stands evenly on those
// tiles; each sends what it holds to the others and copies it to where it is read.
// Sources: docs/published_plans.md#dense-products.
#pragma once

#include "kernels/family/product.h"
#include "kernels/published/dense_planner.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

namespace tessera::matmul {

/// What the published planner finds for one product whose temporaries may take so much of a tile's
/// memory.
[[nodiscard]] published::DensePlan
published_plan(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload,
               double temporary_share = published::kTemporaryShare);
/// The planner's own sum of its phases, without rearranging operands: they stand as the vertices read them.
[[nodiscard]] Cycles published_cycles(const spec::MachineSpec& machine,
                                      const workload::MatmulWorkload& workload);
/// The product by that plan. FP32 has no other. @throws NotModelled for plans with steps over k
[[nodiscard]] family::Planned plan_published(const spec::MachineSpec& machine,
                                             const workload::MatmulWorkload& workload,
                                             const published::DensePlan& plan);
} // namespace tessera::matmul
