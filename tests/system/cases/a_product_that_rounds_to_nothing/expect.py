# SPDX-License-Identifier: MIT
"""A density that rounds to no block is a run of no product: its points say so and win nothing, neither a sweep nor a choice by
estimates, and no mean counts them. Where there is nothing else, that is said instead of an empty table."""
import json


def check(case):
    case.tessera("sweep", "run", "./sweep.json", "--store", "s", "-q")
    rows = json.loads(case.tessera("sweep", "show", "s", "--format", "json").stdout)
    empty = [row for row in rows if row["workload.pattern.density"] == 1e-6]
    case.assertEqual([row["status"] for row in rows], 6 * ["ok"])
    for row in rows:
        case.assertEqual("rounds to no block" in row.get("note", ""), row in empty)
    fewest = min(row["cycles"] for row in rows if row not in empty)
    for look in ("--best", "--pareto"):
        told = case.tessera("sweep", "show", "s", look, "--format", "json")
        won, = json.loads(told.stdout)
        case.assertEqual(won["value" if look == "--best" else "cycles"], fewest)
        case.assertRegex(told.stderr, rf"2 of 6 candidates left out of {look}\n  2 has computed no product, as tiny w .*"
                                      "a has no non-zeros: density 1e-06 rounds to no block")
    grouped = json.loads(case.tessera("sweep", "show", "s", "--group", "workload.block", "--format", "json").stdout)
    case.assertEqual([group["left out"] for group in grouped], [1, 1])
    for group in grouped:
        cycles = [row["cycles"] for row in rows if row["workload.block"] == group["workload.block"] and row not in empty]
        case.assertAlmostEqual(group["mean cycles"], sum(cycles) / len(cycles))
    case.assertIn("1 point of 6 kept", case.tessera("sweep", "run", "./sweep.json", "--store", "e", "--screen", "estimate",
                                              "--keep", "1%").stdout)
    kept = json.loads(case.tessera("sweep", "show", "e", "--filter", "mode == timing", "--format", "json").stdout)
    case.assertEqual([row.get("note") for row in kept], [None])

    case.tessera("sweep", "run", "./nothing.json", "--store", "n", "-q")
    for look in ("--best", "--pareto", "--sensitivity"):
        told = case.tessera("sweep", "show", "n", look, code=1)
        case.assertEqual(told.stdout, "")
        case.assertRegex(told.stderr, "2 has computed no product, as .*density 1e-06 rounds to no block")
        case.assertIn("no point can be compared", told.stderr)
