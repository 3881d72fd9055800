# SPDX-License-Identifier: MIT
"""A tensor with "layout": "row_major" is called as the operand of the kernel that reads it.

The answer is right, and cycles are those of the same pipeline with another name, in both modes.
"""

INNER, OTHER = "x", "features"


def check(case):
    text = (case.scratch / "w.json").read_text()
    case.assertIn(f'"{INNER}"', text)
    case.file("other.json", text.replace(f'"{INNER}"', f'"{OTHER}"'))
    results = {}
    for workload in ("w", "other"):
        out = case.scratch / workload
        functional = case.result(f"./{workload}.json", "--machine", "tiny", "-q", "--out", out)
        case.assertTrue(functional["check"]["passed"])
        timing = case.result(f"./{workload}.json", "--machine", "tiny", "-q", "--mode", "timing")
        case.assertEqual(timing["cycles"], functional["cycles"])
        case.assertEqual(timing["digests"]["tile_cycles"], functional["digests"]["tile_cycles"])
        results[workload] = (functional["cycles"], (out / "output.npy").read_bytes())
    case.assertEqual(results["w"], results["other"])
