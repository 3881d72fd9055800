#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where the cycles of products of a sweep go, by phase, as CSV on stdout.

usage: tools/phases.py STORE...      stores of `tessera sweep run SWEEP --keep full`

    distribution   operands and buckets come to the tiles
    zero           of partial results
    compute        multiplication by what has come
    travel         buckets move to other parts, and tiles look through them again
    reduction      partial results come, and are summed
    control        what is left of the cycles of the run: barriers, and words that the program looks at to go on
"""
import csv
import json
import pathlib
import sys

PHASES = ["distribution", "zero", "compute", "travel", "reduction"]
COLUMNS = ["product", "n", "block", "density", "status", "cycles", *PHASES, "control"]
PRODUCTS = {"benchmark_dense": "dense", "benchmark_static": "static"}


def phase_of(step):
    name = step["name"]
    if name.startswith("move buckets") or name == "multiply moved" or name.endswith("move of buckets"):
        return "travel"
    if name == "zero partials":
        return "zero"
    return {"bring": "distribution", "reduce": "reduction", "work": "compute"}[step["role"]]


def row_of(point):
    changes = point["changes"]
    row = {"product": PRODUCTS.get(point["workload"], "dynamic"), "status": point["status"],
           **{key: changes.get(f"workload.{path}", "") for key, path in
              (("n", "n"), ("block", "block"), ("density", "pattern.density"))}}
    if point["status"] != "ok":
        return row
    row["cycles"] = left = point["result"]["cycles"]
    row.update(dict.fromkeys(PHASES, 0))
    for kind in ("compute_sets", "exchanges"):
        for step in point["lists"][kind]:
            row[phase_of(step)] += step["cycles"]
            left -= step["cycles"]
    row["control"] = left
    return row


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lines = [line for store in sys.argv[1:] for file in pathlib.Path(store).glob("*.jsonl")
             for line in file.read_text().splitlines()]
    rows = [row_of(json.loads(line)) for line in lines]
    number = lambda text: float(text or 0)
    rows.sort(key=lambda row: (["dense", "static", "dynamic"].index(row["product"]), number(row["n"]),
                               number(row["block"]), -number(row["density"])))
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


if __name__ == "__main__":
    main()
