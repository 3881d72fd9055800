"""A kernel in which a worker polls a word that other workers write: `tessera vertex` ran for ever.
It ends, with the values of the machine's order, without a warning; where the word never comes, the
error names who waits, for which word, and where; words by which workers synchronise in a way that
is not recognised can be named."""
# SPDX-License-Identifier: MIT

import json

WAIT_IN_FUNCTION = """
.globl k
.worker
k: ld32 $m0, $mvertex_base, 0
 get $m1, $WSR
 and $m1, $m1, 7
 brnz $m1, set
wait: call $m3, look
 brz $m2, wait
 ld32 $m4, $m0, 2
 add $m4, $m4, 1
 st32 $m4, $m0, 1
 exitz $mzero
set: cmpeq $m2, $m1, 3
 brz $m2, done
 setzi $m2, 20
 st32 $m2, $m0, 2
 st32 $m1, $m0, 0
done: exitz $mzero
look: ld32 $m2, $m0, 0
 br $m3
"""


def check(case):
    done = case.tessera("vertex", "spin.json", "--json", "r.json", "--arrays")
    case.assertEqual(done.stderr, "")
    case.assertNotIn("RACE", done.stdout)
    case.assertNotIn("warning", done.stdout)
    values = json.loads((case.scratch / "r.json").read_text())["points"][0]["arrays"]["q"]["values"]
    # each of the others stores its number, in the order of slots; worker 0 sees one of them
    case.assertEqual(values[0], 5)
    case.assertIn(values[1], (1, 2, 3, 4, 5))
    case.tessera("vertex", "spin.json", "--lockstep")

    file = json.loads((case.scratch / "spin.json").read_text())
    alone = case.file("alone.json", json.dumps(dict(file, kind="worker")))
    error = case.tessera("vertex", alone, code=5).stderr
    case.assertRegex(error, r"wait for ever.*worker_0 for the word at 0x\w+ \(spin\.S:8\)")
    case.assertIn("ld32 $m2, $m0, $mzero, 0", error)

    case.file("call.S", WAIT_IN_FUNCTION)
    file.update(sources=["call.S"], arrays={"q": {"type": "u32", "length": 3}},
                expect={"q": [3, 21, 20]})
    plain = case.tessera("vertex", case.file("call.json", json.dumps(file)))
    case.assertEqual(plain.stderr, "")
    case.assertIn("RACE", plain.stdout) # nothing says that the first word orders the others
    file["synchronises"] = [{"array": "q", "length": 1}]
    named = case.tessera("vertex", case.file("named.json", json.dumps(file)), "--lockstep")
    case.assertNotIn("RACE", named.stdout)
    file["synchronises"] = ["p", {"array": "q", "offset_elements": 4}]
    wrong = case.tessera("vertex", case.file("wrong.json", json.dumps(file)), code=3).stderr
    case.assertIn("unknown array 'p'", wrong)
