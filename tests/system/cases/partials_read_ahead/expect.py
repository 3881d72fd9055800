"""A kernel lets partial sums of the next row into the matrix unit, where another worker writes them
meanwhile; they never leave. That was called a race. What does leave is one, and the report says
where it is used and what it decides."""
# SPDX-License-Identifier: MIT

import json


def check(case):
    done = case.tessera("vertex", "amp_race.json", "--json", "-")
    case.assertNotIn("RACE", done.stderr) # the report
    case.assertIsNone(json.loads(done.stdout)["points"][0]["order"])
    case.tessera("vertex", "amp_race.json", "--lockstep")
    # two steps later the partials of phase 2 are what leaves
    source = (case.scratch / "amp_race.S").read_text().splitlines()
    store = next(i for i, line in enumerate(source) if "st64" in line)
    later = source[store + 2]
    source[store + 2] = later.replace("nop", "st64 $a6:7, $m2, $mzero, 0")
    case.file("amp_race.S", "\n".join(source) + "\n")
    done = case.tessera("vertex", "amp_race.json")
    case.assertEqual(done.stderr, "")
    case.assertIn("RACE", done.stdout)
    case.assertIn(f"amp_race.S:{store + 3}", " ".join(done.stdout.split()).split("used at ")[1][:20])
    case.tessera("vertex", "amp_race.json", "--lockstep", code=5)
