# SPDX-License-Identifier: MIT
"""One row of the sparse matrix is full, so by the published plan the tile that multiplies it is critical, and another
one takes longer to receive. A row of the summary's steps printed cycles of the one
beside a bound of the other, and "x bound" was neither over the other.

Each row's numbers are of the critical path: x bound is cycles over bound as printed. Causes of
the wait sum to it, and the tile that takes longest is named where it is not the critical one.
"""

import json
import re

ROWS, FULL = 20000, 20000


def matrix():
    """A full row, and two non-zeros in each two of the other rows."""
    places = {(1, column) for column in range(1, FULL + 1)}
    state = 1
    while len(places) < 3 * FULL:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        places.add((2 + (state >> 33) % (ROWS - 1), 1 + (state >> 17) % FULL))
    lines = [f"{row} {column}" for row, column in sorted(places)]
    return "\n".join(["%%MatrixMarket matrix coordinate pattern general",
                      f"{ROWS} {FULL} {len(lines)}", *lines, ""])


def check(case):
    case.file("hub.mtx", matrix())
    done = case.tessera("run", "./w.json", "--mode", "timing", "--json", "r.json")
    table = done.stdout.split("\nsteps ")[1].split("\nwhy ")[0].splitlines()
    case.assertEqual(table[0].split()[2:],
                     ["times", "cycles", "mean", "bound", "x", "bound", "tiles", "critical"])
    for line in table[1:]:
        cycles, _, bound, over = line.replace(",", "").split()[-6:-2]
        case.assertEqual(f"{int(cycles) / int(bound):.2f}", over, line)
        case.assertGreaterEqual(float(over), 1, line)
    result = json.loads((case.scratch / "r.json").read_text())
    steps = result["compute_sets"] + result["exchanges"]
    for step in steps:
        case.assertLessEqual(step["critical_bound_cycles"], step["cycles"], step["name"])
        case.assertLessEqual(step["bound_cycles"], step["slowest_cycles"], step["name"])
        # the causes sum to the wait, but for rounding
        waits = re.search(r"(\d+) % (?:of the step )?is waiting for it: (.*?)(?:; its issues|; tile|$)",
                          step["sentence"])
        if waits:
            parts = [(-1 if less else 1) * int(share)
                     for less, share in re.findall(r"(less )?(\d+) % for ", waits[2])]
            case.assertAlmostEqual(sum(parts), int(waits[1]), delta=len(parts), msg=step["sentence"])
    others = [step for step in steps if step["slowest_cycles"] > step["cycles"]]
    case.assertTrue(others)
    for step in others:
        case.assertNotEqual(step["slowest_tile"], step["critical_tile"])
    bring = next(step for step in others if step["name"] == "bring")
    case.assertIn(f"tile {bring['slowest_tile']} takes longest, {bring['slowest_cycles']:,} cycles",
                  bring["sentence"])
