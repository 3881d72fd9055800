# SPDX-License-Identifier: MIT
"""Few rows of a power-law matrix have most of its non-zeros, and a row is one worker's by the published plan (ours cuts it). The step was
said to wait for a tile with 1.06 times the mean non-zeros, where one worker of it was busy all the
time and the others were not.

The sentence blames unequal workers for most of the wait, names the worker and its row, and is the same
in both modes, as are the numbers that it comes from. The default trace has the critical tile.
"""

import json
import re

ARGUMENTS = ["spmm_static_b1_4096", "--set", "workload.n=512", "--set",
             "workload.pattern.generator=power_law", "--set", "workload.pattern.exponent=0.8", "--set",
             "workload.pattern.density=0.005", "--plan", "published"]


def multiply(result):
    return next(step for step in result["compute_sets"] if step["name"] == "multiply")


def check(case):
    timing = case.result(*ARGUMENTS, "--mode", "timing", "--trace", "t.pftrace.gz")
    step = multiply(timing)
    said = step["sentence"]
    found = re.search(r"(\d+) % of the step is waiting for it: (\d+) % for unequal workers, of which "
                      r"(?:in launch \d+ )?worker (\d) is busy for ([\d,]+) cycles, (\d+) % of them with row (\d+), and the "
                      r"mean worker for ([\d,]+)", said)
    case.assertTrue(found, said)
    waits, unequal, worker, busy, of_row = (int(found[i].replace(",", "")) for i in range(1, 6))
    case.assertGreater(2 * unequal, waits)
    case.assertLess(worker, 6)
    case.assertGreater(of_row, 80)
    # the tile's other launches are copies
    mean = int(found[7].replace(",", ""))
    for said, whole in ((busy, "busiest"), (mean, "mean")):
        case.assertLessEqual(said, step[f"critical_{whole}_worker_cycles"])
        case.assertLess(step[f"critical_{whole}_worker_cycles"] - said, 1000)
    # worker and supervisor fill the step
    case.assertLess(busy, step["cycles"])
    case.assertLess(step["cycles"] - busy, 1000)
    case.assertIn(timing["critical_path"]["tile"], timing["trace"]["tiles"])
    case.assertEqual(len(timing["trace"]["tiles"]), 17)
    functional = case.result(*ARGUMENTS, "--no-check", "--threads", "1")
    for key in ("compute_sets", "exchanges", "explanation"):
        case.assertEqual(json.dumps(functional[key]), json.dumps(timing[key]), key)
    case.assertGreater(timing["explanation"]["unequal_workers"]["cycles"],
                       5 * timing["explanation"]["uneven_splits"]["cycles"])
