# SPDX-License-Identifier: MIT
"""Sums of billions of terms in a sweep's expressions are refused with their place before anything runs, not computed."""


def check(case):
    for file, place in [("derive", "/derive/workload.n"), ("exclude", "/exclude/0"), ("constraint", "/constraints/0")]:
        refused = case.tessera("sweep", "run", f"./{file}.json", "--store", "s", code=3)
        case.assertRegex(refused.stderr, rf"{file}\.json:\d:\d+: {place}: '.*the expressions of a point may take \d+ steps")
    case.assertFalse((case.scratch / "s").exists())
    case.tessera("sweep", "run", "tiny_matmul", "--machine", "tiny", "--store", "s", "-q")
    endless = case.tessera("sweep", "show", "s", "--filter", "cycles > sum(k, 0, 10000000000, k)")
    case.assertIn("may take 40000000 steps", endless.stderr)
