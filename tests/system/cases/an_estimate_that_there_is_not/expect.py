# SPDX-License-Identifier: MIT
"""Points cannot be chosen by estimates where one workload has none, which `check`, --dry-run and the run say before any
point runs."""


def check(case):
    why = "there is no estimate of 'two_side_by_side' (pipeline)"
    none = "--screen estimate: no point has an estimate of 'two_side_by_side' (pipeline)"
    case.assertIn("both.json: ok, sweep both; " + why + ": --screen estimate would refuse it",
                  case.tessera("check", "both.json").stdout)
    for more in ([], ["--dry-run"]):
        refused = case.tessera("sweep", "run", "./both.json", "--screen", "estimate", *more, code=5)
        case.assertIn(none + "; there are closed forms of kinds matmul and spmm", refused.stderr)
    case.assertIn(why, case.tessera("sweep", "run", "./both.json", "--mode", "estimate", "--dry-run").stderr)
    case.assertFalse((case.scratch / "both.sweep").exists())
    case.tessera("sweep", "run", "two_side_by_side", "--mode", "estimate", code=5)
    case.tessera("sweep", "run", "tiny_matmul", "--screen", "estimate", "--dry-run")
