# SPDX-License-Identifier: MIT
"""A tensor with "layout": "row_major" is called as the operand of the kernel that reads it, or of another.

The answer is right, and cycles are those of the same pipeline with another name, in both modes.
"""
import json

CALLED = {"a_before_matmul": "a", "bias_before_bias": "bias", "c_of_another_size": "c", "x_before_relu": "x"}
OTHER = "other"


def renamed(workload, name):
    tensors = {OTHER if key == name else key: tensor for key, tensor in workload["tensors"].items()}
    steps = [{**step, "inputs": [OTHER if key == name else key for key in step["inputs"]]} for step in workload["steps"]]
    return {**workload, "tensors": tensors, "steps": steps}


def runs_as(case, name):
    """Cycles and the answer of `name`.json, the same in both modes."""
    out = case.scratch / name
    functional = case.result(f"./{name}.json", "--machine", "tiny", "-q", "--out", out)
    case.assertTrue(functional["check"]["passed"])
    timing = case.result(f"./{name}.json", "--machine", "tiny", "-q", "--mode", "timing")
    case.assertEqual(timing["cycles"], functional["cycles"])
    case.assertEqual(timing["digests"]["tile_cycles"], functional["digests"]["tile_cycles"])
    return functional["cycles"], (out / "output.npy").read_bytes()


def check(case):
    for name, tensor in CALLED.items():
        with case.subTest(name):
            workload = json.loads((case.scratch / f"{name}.json").read_text())
            case.assertIn(tensor, workload["tensors"])
            case.file(f"{name}_renamed.json", json.dumps(renamed(workload, tensor)))
            case.assertEqual(runs_as(case, name), runs_as(case, f"{name}_renamed"))
