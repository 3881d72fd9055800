# SPDX-License-Identifier: MIT
"""Layers of a graph network in a loop, on whole numbers that grow beyond what FP16 holds.

The machine saturates, which is right: exit code 0. That the values overflow is told, with how many
elements, the first and the largest reference; also with -q.
"""


def check(case):
    done = case.tessera("run", "./w.json", "--machine", "tiny", "--threads", 1)
    case.assertNotIn("WRONG", done.stdout)
    case.assertRegex(done.stdout, r"check +within tolerance")
    case.assertRegex(" ".join(done.stdout.split()),
                     r"step h, round 3: the values overflow f16, which the machine saturates: \d+ of "
                     r"1280 elements, the first at row \d+ column \d+, magnitudes of the reference "
                     r"up to \d")
    quiet = case.tessera("run", "./w.json", "--machine", "tiny", "--threads", 1, "-q")
    case.assertEqual(quiet.stdout, "")
    case.assertRegex(quiet.stderr, r"^tessera: warning: w: step h, round 3: the values overflow f16")
    result = case.result("./w.json", "--machine", "tiny", "-q")
    case.assertTrue(result["check"]["passed"])
    rounds = {step["name"]: step["overflowed_rounds"] for step in result["check"]["steps"]}
    case.assertGreater(rounds["h"], 0)
