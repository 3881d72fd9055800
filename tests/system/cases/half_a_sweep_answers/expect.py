# SPDX-License-Identifier: MIT
"""A sweep of several workloads that was stopped half way has run all of them on half of the machines, which can be judged."""
import json


def check(case):
    case.tessera("sweep", "run", "./sweep.json", "--jobs", "1", "--store", "s", "-q")
    lines = next((case.scratch / "s").glob("*.jsonl")).read_text().splitlines()
    points = [json.loads(line) for line in lines]
    case.assertEqual([point["changes"]["tile.workers"] for point in points], 3 * [2] + 3 * [3] + 3 * [4] + 3 * [6])

    file = next((case.scratch / "s").glob("*.jsonl"))
    file.write_text("\n".join(lines[:7]) + "\n") # the third machine has run one workload
    told = case.tessera("sweep", "show", "s", "--best", "--format", "json")
    best, = json.loads(told.stdout)
    of = lambda workers: [point["result"]["cycles"] for point in points if point["changes"]["tile.workers"] == workers]
    mean = lambda cycles: (cycles[0] * cycles[1] * cycles[2]) ** (1 / 3)
    case.assertAlmostEqual(best["value"], min(mean(of(2)), mean(of(3))), places=2)
    case.assertIn("has run 1 of 3 workloads, as tiny", told.stderr)
