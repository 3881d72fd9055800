# SPDX-License-Identifier: MIT
"""A sweep with constraints is run by shards, by a worker that is asked, or with a screen, and its parts
are collected: the best keeps the constraints, whoever ran it."""
import json
import subprocess

from cli_case import BINARY


def check(case):
    def best(store):
        row, = json.loads(case.tessera("sweep", "show", store, "--best", "--format", "json").stdout)
        return row["value"]

    case.tessera("sweep", "run", "./sweep.json", "--store", "whole", "-q")
    lines = json.loads(case.tessera("sweep", "show", "whole", "--format", "json").stdout)
    allowed = min(line["cycles"] for line in lines if line["tile.workers"] < 6)
    case.assertLess(min(line["cycles"] for line in lines), allowed)
    case.assertEqual(best("whole"), allowed)
    for shard in range(2):
        case.tessera("sweep", "worker", "./sweep.json", "--shard", f"{shard}/2", "--store", "parts", "-q")
        case.tessera("sweep", "worker", "./sweep.json", "--shard", f"{shard}/2", "--store", f"p{shard}",
                     "-q")
    case.tessera("sweep", "collect", "p0", "p1", "--into", "all", "-q")
    asked = "".join(json.dumps({"tile.workers": workers}) + "\n" for workers in (2, 4, 6, 8))
    subprocess.run([BINARY, "sweep", "worker", "./sweep.json", "--stdin", "--store", "asked"],
                   input=asked, text=True, check=True, capture_output=True, cwd=case.scratch)
    case.tessera("sweep", "run", "./sweep.json", "--screen", "estimate", "--keep", "50%", "--store",
                 "screened", "-q")
    for store in ("parts", "all", "asked", "screened"):
        case.assertEqual(best(store), allowed, store)
