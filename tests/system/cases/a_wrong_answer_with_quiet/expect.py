# SPDX-License-Identifier: MIT
"""With -q, too, a wrong answer ends with 1 and is told on stderr, and values that overflow FP16 are a warning there; nothing
else is printed."""


def check(case):
    told = case.tessera("vertex", "./v.json", "-q", code=1)
    case.assertEqual(told.stdout, "")
    case.assertRegex(told.stderr, r"^tessera: (./)?v: ")
    case.assertIn("of 2 elements of q", told.stderr)
    for workloads in (["./w.json"], ["./w.json", "tiny_matmul"]):
        told = case.tessera("run", *workloads, "--machine", "tiny", "-q")
        case.assertEqual(told.stdout, "")
        case.assertIn("overflow f16", told.stderr)
        case.assertIn("16 of 16 elements", told.stderr)
    right = case.tessera("run", "tiny_matmul", "--machine", "tiny", "-q")
    case.assertEqual(right.stdout + right.stderr, "")
