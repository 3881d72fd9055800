#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pipelines that train, beside the same training in numpy. Usage: training_test.py BINARY SOURCE_DIRECTORY"""

import json
import sys
import unittest

import numpy

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import CliTest

BATCH, INPUTS, HIDDEN, OUTPUTS = 24, 20, 18, 10
RATE, STEPS = 1e-3, 20
TRAINED = ["weights_1", "bias_1", "weights_2"]
SHAPES = {"x": [BATCH, INPUTS], "weights_1": [INPUTS, HIDDEN], "bias_1": [HIDDEN],
          "weights_2": [HIDDEN, OUTPUTS], "minus_target": [BATCH, OUTPUTS]}
NETWORK = [
    {"family": "matmul", "inputs": ["x", "weights_1", "bias_1"], "output": "sums"},
    {"family": "multiply", "inputs": ["sums", "sums"], "output": "hidden"},
    {"family": "matmul", "inputs": ["hidden", "weights_2"], "output": "y"},
    {"family": "add", "inputs": ["y", "minus_target"], "output": "y_gradient"}]


def trained(values, steps):
    """The weights behind so many steps, in binary64."""
    x, w1, b1, w2, minus_target = (values[name].astype(float) for name in SHAPES)
    for _ in range(steps):
        sums = x @ w1 + b1
        hidden = sums * sums
        error = hidden @ w2 + minus_target
        sums_gradient = 2 * sums * (error @ w2.T)
        w1 = w1 - RATE * (x.T @ sums_gradient)
        b1 = b1 - RATE * sums_gradient.sum(axis=0)
        w2 = w2 - RATE * (hidden.T @ error)
    return {"weights_1": w1, "bias_1": b1, "weights_2": w2}


class TrainingTest(CliTest):
    def network(self, values, steps):
        tensors = {}
        for name, shape in SHAPES.items():
            numpy.save(self.scratch / f"{name}.npy", values[name])
            tensors[name] = {"shape": shape, "type": "f32", "values": f"{name}.npy"}
        return self.file("network.json", json.dumps({
            "schema_version": 1, "kind": "pipeline", "tensors": tensors, "steps": NETWORK,
            "train": {"outputs": ["y"], "with_respect_to": TRAINED, "steps": steps,
                      "optimiser": {"family": "descent", "rate": RATE}}}, indent=1))

    def drawn(self):
        draw = numpy.random.default_rng(1)
        return {name: draw.uniform(-0.5, 0.5, shape).astype(numpy.float32)
                for name, shape in SHAPES.items()}

    def test_a_network_of_two_layers_follows_numpy(self):
        values = self.drawn()
        for steps in (1, 2, STEPS):
            with self.subTest(steps=steps):
                file = self.network(values, steps)
                self.tessera("run", file, "--out", f"out_{steps}", "-q")
                for name, expected in trained(values, steps).items():
                    got = numpy.load(self.scratch / f"out_{steps}" / f"output.{name}.npy")
                    moved = numpy.abs(expected - values[name]).max()
                    self.assertGreater(moved, 1e-3)
                    numpy.testing.assert_allclose(got, expected, rtol=0, atol=1e-4 * moved)

    def test_both_modes_and_the_expanded_file_have_equal_cycles(self):
        file = self.network(self.drawn(), 3)
        compact = self.result(file)
        self.assertTrue(compact["check"]["passed"])
        self.assertIn("train", compact["workload"])
        self.assertEqual(self.result(file, "--mode", "timing")["cycles"], compact["cycles"])
        flat = self.file("flat.json",
                         self.tessera("describe", "workload", file, "--expanded").stdout)
        again = self.result(flat)
        for key in ("cycles", "digests", "kernels"):
            self.assertEqual(again[key], compact[key], key)
        self.assertEqual(self.tessera("describe", "workload", flat, "--expanded").stdout,
                         flat.read_text())

    def test_sparse_weights_train(self):
        schedule = {"prune": "random", "regrow": "random", "fraction": 0.5, "decay": "cosine",
                    "patterns": 3, "seed": 1}
        for name, keys, first in (("known pattern", {}, []), ("dynamic", {"mode": "dynamic"}, []),
                                  ("sequence", {"mode": "dynamic", "sequence": schedule},
                                   [{"next": "w"}])):
            with self.subTest(name):
                pattern = {"generator": "uniform", "density": 0.3}
                file = self.file("sparse.json", json.dumps({
                    "schema_version": 1, "kind": "pipeline",
                    "tensors": {"w": {"shape": [128, 192], "block": 16, "pattern": pattern, **keys},
                                "x": {"shape": [192, 32]}, "minus_target": {"shape": [128, 32]}},
                    "steps": [*first,
                              {"family": "spmm", "inputs": ["w", "x"], "output": "y"},
                              {"family": "add", "inputs": ["y", "minus_target"],
                               "output": "y_gradient"}],
                    "train": {"outputs": ["y"], "with_respect_to": ["w", "x"], "steps": 3,
                              "optimiser": {"family": "descent", "rate": 1e-3}}}))
                few = ("--set", "chip.tiles=16")
                result = self.result(file, *few)
                self.assertTrue(result["check"]["passed"])
                self.assertEqual(self.result(file, *few, "--mode", "timing")["cycles"],
                                 result["cycles"])

    def test_configured_workloads_train(self):
        for name in ("layer_gradients", "train_two_layers"):
            with self.subTest(name):
                result = self.result(name)
                self.assertTrue(result["check"]["passed"])
                self.assertEqual(self.result(name, "--mode", "timing")["cycles"], result["cycles"])

    def test_expanded_is_of_a_workload(self):
        for arguments in (["machine", "bow"], ["workload"]):
            told = self.tessera("describe", *arguments, "--expanded", code=2)
            self.assertIn("--expanded needs the name of a workload", told.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
