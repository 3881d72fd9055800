# SPDX-License-Identifier: MIT
"""A wrong answer ends with 1 and is told on stderr, although nothing else is: of a run, of one of several, of a vertex and
of a sweep. A sweep says so each time that it is asked for, with the points that it knows already."""


def check(case):
    tiny = ["--machine", "tiny"]
    runs = [["run", "./w.json", *tiny], ["run", "./w.json", "tiny_matmul", *tiny], ["vertex", "./v.json"],
            ["sweep", "run", "./w.json", *tiny, "--mode", "functional", "--store", "s"]]
    for command in runs + runs[-1:]:
        told = case.tessera(*command, "-q", code=1)
        case.assertEqual(told.stdout, "")
        case.assertRegex(told.stderr, r"^tessera: (./)?[wv]: (1 check_failed, as .*: )?|tessera: ./w.json: ")
        case.assertIn("of 2 elements of q" if "vertex" in command else "of 16 elements", told.stderr)
    loud = case.tessera(*runs[-1], code=1)
    case.assertIn("1 point in s, 1 known before\n  1 check_failed, as ", loud.stdout)
    case.assertEqual(loud.stderr, "")
    right = case.tessera("run", "tiny_matmul", *tiny, "-q")
    case.assertEqual(right.stdout + right.stderr, "")
