#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""At which density a sparse product becomes faster than the dense one, by block size.

    tessera sweep show STORE --format csv | tools/crossover.py

Takes a sweep's points of one dense (`matmul`) and one or several sparse (`spmm`) workloads, with the axes `workload.block` and
`workload.pattern.density`. For every machine and sparse workload, with whatever else differs, it prints dense / sparse cycles by density, and
the density where they are equal: between two that were run, on a straight line of both logarithms.
"""

import csv
import math
import sys

BLOCK = "workload.block"
DENSITY = "workload.pattern.density"
LEFT_OUT = {"workload", BLOCK, DENSITY, "cycles", "status"}


def equal_at(points):
    """The density where the speed-up is 1, of (density, speed-up) from the densest on; text."""
    points = sorted(points, reverse=True)
    if points[0][1] > 1:
        return f"> {points[0][0]:g}"
    for (denser, slow), (sparser, fast) in zip(points, points[1:]):
        if fast > 1:
            share = -math.log(slow) / (math.log(fast) - math.log(slow))
            return f"{denser * (sparser / denser) ** share:.3f}"
    return f"< {points[-1][0]:g}"


def main():
    rows = [row for row in csv.DictReader(sys.stdin) if row.get("status") == "ok"]
    if not rows or BLOCK not in rows[0] or DENSITY not in rows[0]:
        sys.exit(f"crossover: got {len(rows)} points that are ok, expected some with {BLOCK} and {DENSITY}")
    others = [name for name in rows[0] if name not in LEFT_OUT]
    # a parameter that is everywhere the same says nothing
    shown = [name for name in others if len({row[name] for row in rows}) > 1]
    dense, sparse = {}, {}
    for row in rows:
        machine = tuple(row[name] for name in shown)
        if row[BLOCK]:
            of_workload = sparse.setdefault(machine, {}).setdefault(row["workload"], {})
            of_workload[int(row[BLOCK]), float(row[DENSITY])] = float(row["cycles"])
        else:
            dense[machine] = float(row["cycles"])
    missing = [machine for machine in sparse if machine not in dense]
    if missing:
        sys.exit(f"crossover: got no dense point for {dict(zip(shown, missing[0]))}")
    workloads = list(dict.fromkeys(name for of_machine in sparse.values() for name in of_machine))
    several = ["workload"] if len(workloads) > 1 else []
    densities = sorted({density for of_machine in sparse.values() for points in of_machine.values()
                        for _, density in points}, reverse=True)
    table = [shown + ["block"] + several + [f"d = {density:g}" for density in densities] + ["equal at"]]
    for machine, of_machine in sparse.items():
        lines = sorted((block, workloads.index(name)) for name, points in of_machine.items()
                       for block in {block for block, _ in points})
        for block, number in lines:
            points = of_machine[workloads[number]]
            speedups = {d: dense[machine] / points[block, d] for d in densities if (block, d) in points}
            cells = [f"{speedups[d]:.2f}" if d in speedups else "-" for d in densities]
            name = [workloads[number]] if several else []
            table.append([*machine, str(block), *name, *cells, equal_at(list(speedups.items()))])
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for row in table:
        print("  ".join(cell.ljust(width) if i < 1 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))).rstrip())


if __name__ == "__main__":
    main()
