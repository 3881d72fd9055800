# SPDX-License-Identifier: MIT
"""A disk lost a part of a line of a store: the line is told and left out, all others count, and the
point runs again. A line that says ok and has no result is no point either."""
import json


def check(case):
    run = lambda: case.tessera("sweep", "run", "tiny_matmul", "--machine", "tiny", "--set",
                               "tile.workers=2,4,6", "--store", "s.sweep").stdout
    case.assertIn("3 ok", run())
    file, = (case.scratch / "s.sweep").glob("*.jsonl")
    lines = file.read_text().splitlines()
    lines[0] = lines[0][:100]
    point = json.loads(lines[1])
    del point["result"]
    lines[1] = json.dumps(point)
    file.write_text("".join(line + "\n" for line in lines))
    shown = case.tessera("sweep", "show", "s.sweep", "--format", "csv").stdout
    case.assertEqual(len(shown.splitlines()), 1 + 1)
    case.assertIn("3 points in s.sweep, 1 known before, 2 ok", run())
    case.assertIn("3 known before", run())
