# SPDX-License-Identifier: MIT
"""A network lists layers of one shape under several names: each name is a line and counts in sums
and means, and what they have in common runs once."""
import json
import sqlite3


def check(case):
    said = case.tessera("sweep", "run", "./net.json", "--store", "s.sweep").stdout
    case.assertIn("4 points in s.sweep for 8 lines, 4 ok", said)
    show = lambda *more: json.loads(case.tessera("sweep", "show", "s.sweep", "--format", "json", *more).stdout)
    lines = show()
    case.assertEqual(len(lines), 8)
    case.assertEqual(len({(line["workload"], line["tile.workers"]) for line in lines}), 8)
    cycles = {(line["workload"], line["tile.workers"]): line["cycles"] for line in lines}
    qkv, up = cycles["qkv_1", 6], cycles["up_1", 6]
    case.assertEqual(show("--best")[0]["value"], 9 * qkv + up)
    # the same points under further names are not run again
    said = case.tessera("sweep", "run", "./mean.json", "--store", "s.sweep").stdout
    case.assertIn("4 known before", said)
    case.assertNotIn("ok", said)
    case.assertAlmostEqual(show("--best")[0]["value"] / (qkv ** 3 * up) ** 0.25, 1, places=4)
    case.assertEqual(show("--best", "--sweep", "./net.json")[0]["value"], 9 * qkv + up)
    case.tessera("sweep", "collect", "s.sweep", "--sqlite", "all.db", "--csv", "all.csv")
    rows = sqlite3.connect(case.scratch / "all.db").execute(
        "SELECT workload, count(*) FROM points GROUP BY workload").fetchall()
    case.assertEqual(rows, [("././qkv_2.json", 2)] + [(f"./{name}.json", 2)
                            for name in ("qkv_1", "qkv_2", "qkv_3", "up_1")])
    table = case.tessera("run", "./qkv_1.json", "./qkv_2.json", "--machine", "tiny", "--mode", "timing").stdout
    case.assertEqual([line.split()[0] for line in table.splitlines()[-2:]], ["qkv_1", "qkv_2"])
