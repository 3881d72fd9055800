#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says what measured times between chips have over simulated ones, and what that grows with.

usage: tools/links_unexplained.py CALIBRATION.json

CALIBRATION.json is what `tessera calibrate --group links --json` writes. First a line for each group, its rows for
constants left out; then each open row with what its gap could grow with; then the gaps of open rows of words, fitted
to one number of cycles for each of these, by least squares. `left` is the share of the gaps' sum of squares that a
fit leaves.
"""
import json
import re
import sys

WORDS = "links: words of all tiles"
TILES, CONTEXTS, GHZ = 1216, 32, 1.6  # of GC2, of which all rows are that are no constants


def distance(a, b):
    """Edges of a ladder's route."""
    return abs(a // 2 - b // 2) + (a % 2 != b % 2)


class Row:
    def __init__(self, told):
        run = told["runs"][0]
        workload = run["workload"]
        sets = dict(re.match(r"([^=]+)=(.*)", one).groups() for one in run["machine_sets"])
        self.id = told["id"].removeprefix("JIA-")
        self.group = told["group"]
        self.is_open = told["use"] == "open"
        chips = int(sets["system.chips"])
        messages = {"point_to_point": 1, "bulk": TILES, "bulk_both": 2 * TILES, "random": chips * TILES}
        data = messages[workload["pattern"]] * workload["bytes"]
        cycles = {"us": lambda time: 1000 * GHZ * time, "GB/s": lambda rate: GHZ * data / rate}[told["unit"]]
        self.measured, self.simulated = cycles(told["measured"]), cycles(told["simulated"])
        self.gap = self.measured - self.simulated
        pairs = [(workload.get("source", 0), workload.get("destination", 1))]
        if workload["pattern"] == "random":
            pairs = [(a, b) for a in range(chips) for b in range(chips) if a != b]
        self.words = workload["bytes"] // 4
        self.turns = 1 if workload["pattern"] == "point_to_point" else TILES // CONTEXTS
        self.hops = sum(distance(a, b) for a, b in pairs) / len(pairs)
        self.distances = len({b - a for a, b in pairs}) if workload["pattern"] == "random" else 1


def fit(rows, of):
    """The cycles for each, and the share of the squares that is left."""
    per = sum(of(row) * row.gap for row in rows) / sum(of(row) ** 2 for row in rows)
    left = sum((row.gap - per * of(row)) ** 2 for row in rows) / sum(row.gap ** 2 for row in rows)
    return per, left


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    with open(sys.argv[1], encoding="utf-8") as file:
        told = json.load(file)
    rows = [Row(row) for row in told["rows"] if row["use"] in ("judged", "open")]
    print(f"{'group':<27} {'rows':>4} {'measured':>9} {'simulated':>9} {'unexplained':>11}")
    for group in dict.fromkeys(row.group for row in rows):
        some = [row for row in rows if row.group == group]
        measured, simulated = sum(row.measured for row in some), sum(row.simulated for row in some)
        print(f"{group:<27} {len(some):>4} {measured:>9,.0f} {simulated:>9,.0f} "
              f"{100 * (measured - simulated) / measured:>9.1f} %")
    print(f"\n{'open row':<10} {'measured':>9} {'simulated':>9} {'gap':>9} {'words':>6} {'turns':>6} {'hops':>5} "
          f"{'distances':>9}")
    for row in rows:
        if row.is_open:
            print(f"{row.id:<10} {row.measured:>9,.0f} {row.simulated:>9,.0f} {row.gap:>9,.0f} {row.words:>6,} "
                  f"{row.turns:>6} {row.hops:>5.2f} {row.distances:>9}")
    of_words = [row for row in rows if row.group == WORDS]
    print(f"\n{'words of all tiles, cycles for each':<40} {'fitted':>7} {'left':>7}")
    for name, of in (("turn, a word each", lambda row: row.turns),
                     ("turn and hop", lambda row: row.turns * row.hops),
                     ("turn, and hop behind the first", lambda row: row.turns * (row.hops - 1)),
                     ("turn and distance of chip numbers", lambda row: row.turns * row.distances)):
        per, left = fit(of_words, of)
        print(f"{name:<40} {per:>7.1f} {100 * left:>5.1f} %")


if __name__ == "__main__":
    main()
