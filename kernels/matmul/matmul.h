// SPDX-License-Identifier: MIT
// Dense C[m x n] = A[m x k] * B[k x n], FP16 operands and result, FP16 or FP32 partials, on all
// tiles of a chip.
//
//         n cut in parts_n
//        +------+------+    A's rows are the rows of the matrix unit, B's blocks its weights, C's
//        |      |      |    columns its outputs. Tile (im, ik, in) multiplies A[im, ik] with
//     m  +------+------+    B[ik, in]; the parts_k tiles of one (im, in), layers in this drawing,
//        |      | tile |    then add up their partial results, each a share of the rows.
//        +------+------+
//
// Per chunk of k: an exchange brings A's chunk to all tiles of its (im, ik) and B's to all of its
// (ik, in), then one vertex a tile multiplies. Behind the last chunk: an exchange and a reduction,
// if parts_k > 1 or partials are FP32.
// Timing: kernels/matmul/matmul_cost.h.
// Any m, k, n >= 1 on any number of tiles; k is padded with zeros to multiples of 16, n to 16 (FP32
// partials: 8). Sources: docs/models/amp_vertex.md, docs/kernels.md.
// FP32 operands, and published plans: kernels/matmul/published/plan.h.
#pragma once

#include "kernels/family/product.h"
#include "kernels/matmul/matmul_squares.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

namespace tessera::matmul {

/// The best partition by the cost model that fits in tile memory, of C = A B or, without a bias, of
/// C' = B' A', whichever takes less, and its program; the published plan where it is asked for, for FP32, where the machine's matrix unit has no codelets of ours, and where
/// no partition of ours fits. @throws DoesNotFit when none fits
/// `known`: schedules that earlier plans have found, and for later ones. `may_mirror`: the operands
/// and the result may stand in any order; the mirrored product leaves its columns where the other one
/// leaves rows, which steps behind it pay for. `standing`: operands that stand on tiles already.
[[nodiscard]] family::Divided choose(const spec::MachineSpec& machine,
                                     const workload::MatmulWorkload& workload,
                                     exchange_plan::KnownSchedules& known, bool may_mirror = true,
                                     const StandingSquares& standing = {});

/// By closed forms alone the division that choose() plans first, in milliseconds. @throws DoesNotFit
/// when none fits by its estimated bytes; NotModelled as choose(), and for what
/// family::check_estimable says
[[nodiscard]] family::Estimate choose_by_estimate(const spec::MachineSpec& machine,
                                                  const workload::MatmulWorkload& workload);

/// The product as a step of a pipeline: matmul(a, b).
[[nodiscard]] const family::Family& family();

} // namespace tessera::matmul
