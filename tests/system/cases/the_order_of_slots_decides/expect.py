"""A kernel that relies on how long its workers take: its values were those of workers one after the
other, and were called wrong. Memory, check, JSON, arrays and files are those of the machine's order."""
# SPDX-License-Identifier: MIT

import ast
import json


def check(case):
    done = case.tessera("vertex", "order.json", "--json", "r.json", "--arrays", "--out", "out",
                        "--dump", "q=q.npy")
    case.assertEqual(done.stderr, "")
    case.assertIn("all 2 elements as expected", done.stdout)
    case.assertRegex(" ".join(done.stdout.split()),
                     r"order 1 pair of accesses races; their order decides 1 word of memory, the "
                     r"first at 0x\w+; shown is the machine's, slot by slot")
    case.assertRegex(done.stdout, r"used at\s+order\.S:13")
    point = json.loads((case.scratch / "r.json").read_text())["points"][0]
    address = next(block["address"] for block in point["memory"] if block["name"] == "q")
    case.assertEqual(point["arrays"]["q"]["values"], [address, address])
    case.assertEqual(point["order"]["words"], 1)
    case.assertEqual(point["order"]["first_word"], address + 4)
    words = (address.to_bytes(4, "little")) * 2
    for file in ("q.npy", "out/q.npy"):
        case.assertTrue((case.scratch / file).read_bytes().endswith(words))
    case.tessera("vertex", "order.json", "--lockstep", code=5)
