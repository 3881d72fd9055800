# SPDX-License-Identifier: MIT
"""A static product is swept over its columns: each doubling makes it faster a flop. Sums of more than six vertices on a tile took
twice their time, as each six waited for the longest of them: 27.7, 25.0, 26.6, 40.3 TFLOP/s. The largest group of rows is summed where
the result stands, by tiles that have up to twice the mean of it (docs/published_plans.md#static-sums)."""


def check(case):
    before = 0
    for columns in (1024, 2048, 4096, 8192):
        result = case.result("./product.json", "--mode", "timing", "--set", f"workload.n={columns}")
        case.assertGreater(result["tflops"], before, f"with {columns} columns")
        before = result["tflops"]
        sums = next(step for step in result["compute_sets"] if step["name"] == "reduce")
        case.assertLess(sums["cycles"], 2 * sums["bound_cycles"], f"sums with {columns} columns")
