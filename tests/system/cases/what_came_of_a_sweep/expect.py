# SPDX-License-Identifier: MIT
"""Six of eight points do not fit. How many and why, with one of them, is said when they run, and whenever the sweep is asked
for again."""
import re


def check(case):
    first = case.tessera("sweep", "run", "./sizes.json", "--store", "s").stdout
    case.assertRegex(first, r"^8 points in s, 6 does_not_fit, 2 ok; [0-9.]+ s\n"
                            r"  4 does_not_fit, as tiny tiny_matmul tile.workers=\d workload.n=\d+: .*does not fit.*\n"
                            r"  2 does_not_fit, as tiny tiny_matmul tile.workers=\d workload.n=8192: .*does not fit")
    again = case.tessera("sweep", "run", "./sizes.json", "--store", "s").stdout
    case.assertEqual(again.splitlines()[0], "8 points in s, 8 known before")
    case.assertEqual(re.sub("as tiny .*", "", again).splitlines()[1:], ["  4 does_not_fit, ", "  2 does_not_fit, "])
    case.assertEqual(case.tessera("sweep", "run", "./sizes.json", "--store", "s", "-q").stdout, "")
    some = case.tessera("sweep", "run", "./sizes.json", "--store", "s", "--set", "workload.n=16").stdout
    case.assertEqual(some, "2 points in s, 2 known before\n") # what else there is in the store is not this sweep's
