# SPDX-License-Identifier: MIT
"""Layers of a network with how often each comes: weights belong to the workloads in the order of the
sweep's file, whatever order their names, their ends or a table have."""
import json


def check(case):
    case.tessera("sweep", "run", "./net.json", "--store", "s.sweep", "-q")
    lines = json.loads(case.tessera("sweep", "show", "s.sweep", "--format", "json").stdout)
    cycles = {(line["workload"], line["tile.workers"]): line["cycles"] for line in lines}
    sums = {workers: cycles["up_1", workers] + 10 * cycles["qkv_1", workers] for workers in (4, 6)}
    case.assertNotEqual(cycles["up_1", 6], cycles["qkv_1", 6])
    show = lambda *more: json.loads(case.tessera("sweep", "show", "s.sweep", "--format", "json", *more).stdout)
    case.assertEqual(show("--best")[0]["value"], min(sums.values()))
    # nor does what else is in the store
    case.tessera("sweep", "run", "./qkv_1.json", "--machine", "tiny", "--set", "tile.workers=2",
                 "--store", "s.sweep", "-q")
    case.assertEqual(show("--best", "--sweep", "./net.json")[0]["value"], min(sums.values()))
    case.assertEqual(show("--sensitivity", "--sweep", "./net.json")[0]["mean by value"].split(", ")[0], f"4: {sums[4]:.6g}")
