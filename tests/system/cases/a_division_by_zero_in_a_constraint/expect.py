# SPDX-License-Identifier: MIT
"""A constraint divides by zero at one of two points. That point breaks it, which is told with the place of the constraint, and
the other is best. A filter that does so lists the points for which it has a value."""


def check(case):
    case.tessera("sweep", "run", "./sweep.json", "--store", "s", "-q")
    why = "character 3: division by zero; so it does not hold for 1 point"
    best = case.tessera("sweep", "show", "s", "--best", "--format", "json")
    case.assertIn("tile.workers = 4", best.stdout)
    case.assertIn("/constraints/0: '1 / (tile.workers - 6) < 1', " + why, best.stderr)
    case.assertRegex(best.stderr, r"sweep-\w+\.json:\d+:\d+: /constraints/0")
    listed = case.tessera("sweep", "show", "s")
    case.assertIn("broken", listed.stdout)
    case.assertIn(why, listed.stderr)
    some = case.tessera("sweep", "show", "s", "--sweep", "tiny_matmul", "--filter", "1 / (tile.workers - 6) < 1")
    case.assertEqual(len(some.stdout.splitlines()), 2)
    case.assertIn("--filter: '1 / (tile.workers - 6) < 1', " + why, some.stderr)
