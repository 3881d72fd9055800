# SPDX-License-Identifier: MIT
"""Of a sweep whose points were chosen by estimates, means are of estimates or of runs, never of both."""
import json


def check(case):
    case.tessera("sweep", "run", "tiny_matmul", "--machine", "tiny", "--set", "tile.workers=2,4,6", "--set", "workload.n=16,32",
                 "--screen", "estimate", "--keep", "50%", "--store", "s", "-q")
    rows = json.loads(case.tessera("sweep", "show", "s", "--format", "json").stdout)
    case.assertEqual({row["mode"] for row in rows}, {"estimate", "timing"})
    groups = json.loads(case.tessera("sweep", "show", "s", "--group", "tile.workers", "--format", "json").stdout)
    for group in groups:
        own = [row["cycles"] for row in rows if all(row[path] == group[path] for path in ("mode", "tile.workers"))]
        case.assertEqual(group["points"], len(own))
        case.assertAlmostEqual(group["mean cycles"], sum(own) / len(own))
    case.assertEqual(sum(group["points"] for group in groups), len(rows))
    one = json.loads(case.tessera("sweep", "show", "s", "--group", "tile.workers", "--filter", "mode == timing",
                                  "--format", "json").stdout)
    case.assertTrue(all("mode" not in group for group in one))
