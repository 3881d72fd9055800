# SPDX-License-Identifier: MIT
"""What --best, --pareto and --sensitivity leave out is said with its reasons, and where nothing is left, instead of a heading."""


def check(case):
    case.tessera("sweep", "run", "./big.json", "--store", "s", "-q")
    best = case.tessera("sweep", "show", "s", "--best")
    case.assertEqual(len(best.stdout.splitlines()), 2)
    case.assertRegex(best.stderr, r"3 of 4 candidates left out of --best\n  2 does_not_fit, as tiny \w+ .*n=16384.*: .*does not fit"
                                  r".*\n  1 breaks 'tile.workers < 6', as tiny \w+ tile.workers=6 workload.n=16\n")
    effects = case.tessera("sweep", "show", "s", "--sensitivity")
    case.assertIn("2 of 4 candidates left out of --sensitivity", effects.stderr)
    case.assertNotIn("breaks", effects.stderr)
    for look in ("--best", "--pareto", "--sensitivity"):
        for more, why in [("workload.n > 1000", "2 of 2 candidates left out"),
                          ("cycles > 1e12", "no point: --filter holds for none of 8 points")]:
            told = case.tessera("sweep", "show", "s", look, "--filter", more, code=1)
            case.assertEqual(told.stdout, "")
            case.assertIn(why, told.stderr)
    case.assertEqual(case.tessera("sweep", "show", "s", "--best", "--filter", "cycles > 1e12", "--format", "json", code=1).stdout,
                     "[]\n")
    nothing = case.tessera("sweep", "show", "s", "--sensitivity", "--filter", "tile.workers == 4 && workload.n == 16", code=1)
    case.assertIn("no effect to be seen", nothing.stderr)
    listed = case.tessera("sweep", "show", "s", "--filter", "cycles > 1e12")
    case.assertIn("no point: --filter holds for none of 8 points", listed.stderr)
