// SPDX-License-Identifier: MIT
// Static sparse-dense product C[m x n] = A[m x k] * B[k x n]: A sparse in square blocks, its
// pattern known when planning.
//
//     B: parts_n slices of columns     A: parts_k bands of columns with nearly equal work; in each
//                                         band parts_m parts of consecutive rows, likewise
//     +----+----+----+
//     |    |    |    |  band 0         +-------+-------+
//     |    |    |    |                 |  part |       |
//     +----+----+----+                 +-------+  part |   Tile (im, ik, in) multiplies part im of
//     |    |    |    |  band 1         |       |       |   band ik with the rows of B's slice in
//     |    |    |    |                 |  part +-------+   that it needs.
//     +----+----+----+                 |       |  part |
//                                      +-------+-------+
//                                       band 0  band 1
//
// One exchange brings every tile the rows of B that its non-zeros touch and, when parts_n > 1, the
// values of its non-zeros; then one vertex multiplies. Rows of C with several contributing bands
// are then reduced: each contributor sums up some.
// Placement: every row of B and every value is on one tile. Rows of B that only one tile needs are on
// that tile. Rows of C without non-zeros in A are zero-filled memory that no vertex writes: they are
// zero in the image.
// A row with much of the work may be cut into pieces for several parts (Split::cut). The slices of B may come in several
// passes, one slice a tile in each (Split::passes).
// Timing: kernels/sparse/spmm_cost.h. Not modelled: passes over k. Source: docs/kernels.md.
#pragma once

#include "kernels/family/product.h"
#include "kernels/workload/operands.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

namespace tessera::sparse {

/// The best partition by the cost model that fits in tile memory, or the published plan where that
/// takes less or fits alone, and its program. Tensors: "a"
/// {blocks, block, block} (values as stored), "b" {k, n}, "c" {m, n}. Only n and partials of the
/// workload are read; the shape of A is that of `matrix`. Throws DoesNotFit, naming what takes the
/// memory; NotModelled for a machine that does not run programs.
/// `known`: schedules that earlier plans have found, and for later ones. `in_loop`: the program may run
/// the product several times.
[[nodiscard]] family::Divided choose(const spec::MachineSpec& machine,
                                     const workload::SpmmWorkload& workload,
                                     const workload::SparsePattern& matrix,
                                     exchange_plan::KnownSchedules& known, bool in_loop = false);

/// The best partition by our cost model, whatever the published plan takes: what choose() compares
/// with that. A machine that has_kind().
[[nodiscard]] family::Divided choose_ours(const spec::MachineSpec& machine,
                                          const workload::SpmmWorkload& workload,
                                          const workload::SparsePattern& matrix,
                                          exchange_plan::KnownSchedules& known);

/// By closed forms alone the division that choose() plans first: the pattern is cut, nothing is
/// planned. @throws DoesNotFit when none fits by its estimated bytes; NotModelled as choose(), and
/// for what family::check_estimable says
[[nodiscard]] family::Estimate choose_by_estimate(const spec::MachineSpec& machine,
                                                  const workload::SpmmWorkload& workload,
                                                  const workload::SparsePattern& matrix);

/// The product as a step of a pipeline: spmm(a, b), a sparse.
[[nodiscard]] const family::Family& family();
/// The gradient of its values: sddmm(a, dy, x).
[[nodiscard]] const family::Family& sampled();

} // namespace tessera::sparse
