#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pipelines that train, beside the same training in numpy.

Usage: training_test.py BINARY SOURCE_DIRECTORY [--quick]
"""

import json
import sys
import unittest

import numpy

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import CliTest, main, slow

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


def gradients(values, weights):
    x, minus_target = (values[name].astype(float) for name in ("x", "minus_target"))
    w1, b1, w2 = (weights[name] for name in TRAINED)
    sums = x @ w1 + b1
    hidden = sums * sums
    error = hidden @ w2 + minus_target
    sums_gradient = 2 * sums * (error @ w2.T)
    return {"weights_1": x.T @ sums_gradient, "bias_1": sums_gradient.sum(axis=0),
            "weights_2": hidden.T @ error}


def class_gradients(values, weights):
    """Of the cross entropy of two layers and relu between them."""
    x, targets = (values[name].astype(float) for name in ("x", "minus_target"))
    w1, b1, w2 = (weights[name] for name in TRAINED)
    sums = x @ w1 + b1
    hidden = numpy.maximum(sums, 0)
    logits = hidden @ w2
    exponentials = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    error = exponentials / exponentials.sum(axis=1, keepdims=True) - targets
    sums_gradient = (sums > 0) * (error @ w2.T)
    return {"weights_1": x.T @ sums_gradient, "bias_1": sums_gradient.sum(axis=0),
            "weights_2": hidden.T @ error}


class Descent:
    def __init__(self, rate, momentum=0):
        self.rate, self.momentum, self.moved = rate, momentum, 0

    def __call__(self, weights, gradient):
        self.moved = self.momentum * self.moved + gradient
        return weights - self.rate * self.moved


class Adam:
    """With the rounds counted, as the books have it."""

    def __init__(self, rate, beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0):
        self.rate, self.betas, self.epsilon, self.weight_decay = rate, (beta1, beta2), epsilon, weight_decay
        self.round, self.moments = 0, [0, 0]

    def direction(self, weights, gradient):
        self.round += 1
        self.moments = [beta * moment + (1 - beta) * new for beta, moment, new
                        in zip(self.betas, self.moments, (gradient, gradient ** 2))]
        first, second = (moment / (1 - beta ** self.round)
                         for beta, moment in zip(self.betas, self.moments))
        return first / (numpy.sqrt(second) + self.epsilon) + self.weight_decay * weights

    def __call__(self, weights, gradient):
        return weights - self.rate * self.direction(weights, gradient)


class Lamb(Adam):
    def __call__(self, weights, gradient):
        direction = self.direction(weights, gradient)
        norms = numpy.linalg.norm(weights), numpy.linalg.norm(direction)
        return weights - self.rate * norms[0] / norms[1] * direction


OPTIMISERS = [
    ({"family": "descent", "rate": RATE}, lambda: Descent(RATE)),
    ({"family": "sgd", "rate": RATE}, lambda: Descent(RATE)),
    ({"family": "sgd", "rate": RATE, "momentum": 0.75}, lambda: Descent(RATE, 0.75)),
    ({"family": "descent", "rate": RATE, "momentum": 0.75}, lambda: Descent(RATE, 0.75)),
    ({"family": "adam"}, lambda: Adam(1e-3)),
    ({"family": "adam", "rate": 0.01, "beta1": 0.5, "beta2": 0.875, "epsilon": 1e-3, "weight_decay": 0.25},
     lambda: Adam(0.01, 0.5, 0.875, 1e-3, 0.25)),
    ({"family": "lamb", "rate": 0.02, "weight_decay": 0.125}, lambda: Lamb(0.02, weight_decay=0.125)),
]


def trained(values, steps, optimiser, gradients=gradients):
    """The weights behind so many steps, in binary64."""
    weights = {name: values[name].astype(float) for name in TRAINED}
    optimisers = {name: optimiser() for name in TRAINED}
    for _ in range(steps):
        of = gradients(values, weights)
        weights = {name: optimisers[name](weights[name], of[name]) for name in TRAINED}
    return weights


class TrainingTest(CliTest):
    def network(self, values, steps, optimiser, network=NETWORK, of={"outputs": ["y"]}):
        tensors = {}
        for name, value in values.items():
            numpy.save(self.scratch / f"{name}.npy", value)
            tensors[name] = {"shape": value.shape, "type": "f32", "values": f"{name}.npy"}
        return self.file("network.json", json.dumps({
            "schema_version": 1, "kind": "pipeline", "tensors": tensors, "steps": network,
            "train": {**of, "with_respect_to": TRAINED, "steps": steps, "optimiser": optimiser}},
            indent=1))

    def expect_trained(self, file, values, steps, in_numpy, of=gradients):
        self.tessera("run", file, "--out", "out", "-q")
        for name, expected in trained(values, steps, in_numpy, of).items():
            got = numpy.load(self.scratch / "out" / f"output.{name}.npy")
            moved = numpy.abs(expected - values[name]).max()
            self.assertGreater(moved, 5e-4)
            numpy.testing.assert_allclose(got, expected, rtol=0, atol=1e-4 * moved)

    def drawn(self):
        draw = numpy.random.default_rng(1)
        return {name: draw.uniform(-0.5, 0.5, shape).astype(numpy.float32)
                for name, shape in SHAPES.items()}

    def test_a_network_of_two_layers_follows_numpy(self):
        values = self.drawn()
        for optimiser, in_numpy in OPTIMISERS:
            for steps in (1, 2, STEPS):
                with self.subTest(optimiser=optimiser, steps=steps):
                    file = self.network(values, steps, optimiser)
                    self.expect_trained(file, values, steps, in_numpy)

    def test_a_loss_is_trained_as_the_gradient_of_its_outputs(self):
        values = self.drawn()
        told = {name: value for name, value in values.items() if name != "minus_target"}
        told["target"] = -values["minus_target"]
        network = [*NETWORK[:-1], {"family": "sum_of_squares", "inputs": ["y", "target"],
                                   "factor": 0.5, "output": "loss"}]
        losses = []
        for steps in (1, STEPS):
            for optimiser, in_numpy in OPTIMISERS[1:]:
                with self.subTest(optimiser=optimiser, steps=steps):
                    file = self.network(told, steps, optimiser, network, {"loss": "loss"})
                    self.expect_trained(file, values, steps, in_numpy)
                    losses.append(numpy.load(self.scratch / "out" / "output.loss.npy")[0])
        self.assertEqual(len(set(losses[:len(losses) // 2])), 1)
        first, later = losses[0], losses[len(losses) // 2:]
        self.assertLess(max(later), first)
        x = values["x"] @ values["weights_1"] + values["bias_1"]
        error = x * x @ values["weights_2"] + values["minus_target"]
        self.assertAlmostEqual(first, (error.astype(float) ** 2).sum() / 2, delta=1e-4 * first)

    def test_a_cross_entropy_is_trained_as_in_numpy(self):
        values = self.drawn()
        classes = numpy.random.default_rng(2).integers(OUTPUTS, size=BATCH)
        values["minus_target"] = numpy.eye(OUTPUTS, dtype=numpy.float32)[classes]
        network = [{**NETWORK[0], "output": "hidden", "activation": "relu"}, NETWORK[2],
                   {"family": "cross_entropy", "inputs": ["y", "minus_target"], "output": "loss"}]
        for steps in (1, STEPS):
            for optimiser, in_numpy in (OPTIMISERS[2], OPTIMISERS[4], OPTIMISERS[6]):
                with self.subTest(optimiser=optimiser, steps=steps):
                    file = self.network(values, steps, optimiser, network, {"loss": "loss"})
                    self.expect_trained(file, values, steps, in_numpy, class_gradients)

    def test_attention_of_several_heads_follows_central_differences_in_numpy(self):
        batch, length, heads, size = 2, 5, 3, 4
        hidden = heads * size
        draw = numpy.random.default_rng(3)
        values = {name: draw.uniform(-0.7, 0.7, shape).astype(numpy.float32) for name, shape in
                  {"x": (batch * length, hidden), "qkv_weight": (hidden, 3 * hidden), "weight": (hidden, hidden)}.items()}

        def loss_of(weights):
            apart = (values["x"].astype(float) @ weights["qkv_weight"]).reshape(batch, length, 3, heads, size)
            q, k, v = apart.transpose(2, 0, 3, 1, 4)
            scores = numpy.exp(q @ k.swapaxes(-1, -2))
            means = scores / scores.sum(axis=-1, keepdims=True) @ v
            y = means.transpose(0, 2, 1, 3).reshape(batch * length, hidden) @ weights["weight"]
            return (y ** 2).sum() / 2

        tensors = {}
        for name, value in values.items():
            numpy.save(self.scratch / f"{name}.npy", value)
            tensors[name] = {"shape": value.shape, "type": "f32", "values": f"{name}.npy"}
        rate, step = 0.01, 1e-5
        file = self.file("attention.json", json.dumps({
            "schema_version": 1, "kind": "pipeline", "tensors": tensors, "steps": [
                {"family": "matmul", "inputs": ["x", "qkv_weight"], "output": "qkv"},
                {"family": "split_heads", "inputs": ["qkv"], "outputs": ["q", "k", "v"], "heads": heads, "batch": batch},
                {"family": "matmul", "inputs": ["q", "k"], "transpose_b": True, "output": "scores"},
                {"family": "softmax", "inputs": ["scores"], "output": "p"},
                {"family": "matmul", "inputs": ["p", "v"], "output": "means"},
                {"family": "join_heads", "inputs": ["means"], "output": "joined"},
                {"family": "matmul", "inputs": ["joined", "weight"], "output": "y"},
                {"family": "sum_of_squares", "inputs": ["y"], "factor": 0.5, "output": "loss"}],
            "train": {"loss": "loss", "with_respect_to": ["qkv_weight", "weight"], "steps": 1,
                      "optimiser": {"family": "descent", "rate": rate}}}, indent=1))
        few = ("--set", "chip.tiles=8")
        self.tessera("run", file, *few, "--out", "out", "-q")
        weights = {name: values[name].astype(float) for name in ("qkv_weight", "weight")}
        loss = numpy.load(self.scratch / "out" / "output.loss.npy")[0]
        self.assertAlmostEqual(loss, loss_of(weights), delta=1e-5 * loss_of(weights))
        for name, before in weights.items():
            gradient = numpy.zeros_like(before)
            for at in numpy.ndindex(before.shape):
                moved = [{**weights, name: before.copy()} for _ in range(2)]
                moved[0][name][at] += step
                moved[1][name][at] -= step
                gradient[at] = (loss_of(moved[0]) - loss_of(moved[1])) / (2 * step)
            got = (before - numpy.load(self.scratch / "out" / f"output.{name}.npy")) / rate
            largest = numpy.abs(gradient).max()
            self.assertGreater(largest, 0.01)
            numpy.testing.assert_allclose(got, gradient, rtol=0, atol=1e-4 * largest)
        result = self.result(file, *few)
        self.assertTrue(result["check"]["passed"])
        self.assertEqual(self.result(file, *few, "--mode", "timing")["cycles"], result["cycles"])

    def test_both_modes_and_the_expanded_file_have_equal_cycles(self):
        for optimiser, _ in OPTIMISERS:
            with self.subTest(optimiser=optimiser):
                file = self.network(self.drawn(), 3, optimiser)
                compact = self.result(file)
                self.assertTrue(compact["check"]["passed"])
                self.assertIn("train", compact["workload"])
                self.assertEqual(self.result(file, "--mode", "timing")["cycles"], compact["cycles"])
                self.assertEqual(self.result(file, "--threads", "1")["cycles"], compact["cycles"])
                flat = self.file("flat.json",
                                 self.tessera("describe", "workload", file, "--expanded").stdout)
                again = self.result(flat)
                for key in ("cycles", "digests", "kernels"):
                    self.assertEqual(again[key], compact[key], key)
                self.assertEqual(self.tessera("describe", "workload", flat, "--expanded").stdout,
                                 flat.read_text())

    def test_a_part_that_runs_again_comes_to_the_same_weights(self):
        values = self.drawn()
        optimiser = {"family": "adam"}
        found = {}
        for told in (None, "all", "each"):
            network = [dict(step) for step in NETWORK]
            for i, step in enumerate(network):
                if told is not None:
                    step["recompute"] = "all" if told == "all" else f"part{i // 2}"
            file = self.network(values, 3, optimiser, network)
            result = self.result(file, "--out", "out")
            self.assertTrue(result["check"]["passed"])
            self.assertEqual(self.result(file, "--mode", "timing")["cycles"], result["cycles"])
            found[told] = result["cycles"], {
                name: (self.scratch / "out" / f"output.{name}.npy").read_bytes() for name in TRAINED}
        self.assertEqual(found["all"][1], found[None][1])
        self.assertEqual(found["each"][1], found[None][1])
        self.assertGreater(found["all"][0], found[None][0])

    def test_the_scale_of_a_loss_leaves_no_trace_in_the_weights(self):
        """A power of two, so that scaling is exact."""
        values = self.drawn()
        told = {name: value for name, value in values.items() if name != "minus_target"}
        told["target"] = -values["minus_target"]
        network = [*NETWORK[:-1], {"family": "sum_of_squares", "inputs": ["y", "target"],
                                   "factor": 0.5, "output": "loss"}]
        for optimiser, _ in (OPTIMISERS[0], OPTIMISERS[2], OPTIMISERS[6]):
            found = {}
            for scale in (1, 256):
                with self.subTest(optimiser=optimiser, scale=scale):
                    file = self.network(told, 3, optimiser, network,
                                        {"loss": "loss", "loss_scale": scale})
                    self.assertTrue(self.result(file, "--out", "out")["check"]["passed"])
                    found[scale] = [(self.scratch / "out" / f"output.{name}.npy").read_bytes()
                                    for name in TRAINED]
            self.assertEqual(found[1], found[256])

    def test_gradients_of_several_batches_are_summed_for_one_update(self):
        values = self.drawn()
        parts = 3
        draw = numpy.random.default_rng(5)
        batches = {name: draw.uniform(-0.5, 0.5, [parts, *SHAPES[name]]).astype(numpy.float32)
                   for name in ("x", "minus_target")}

        def summed(values, weights):
            of = [gradients({name: batch[i] for name, batch in batches.items()}, weights)
                  for i in range(parts)]
            return {name: sum(one[name] for one in of) for name in TRAINED}

        for optimiser, in_numpy, *counts in ((*OPTIMISERS[2], 4), (*OPTIMISERS[6], 1, 3)):
            for steps in counts:
                with self.subTest(optimiser=optimiser, steps=steps):
                    file = self.network({**values, **batches}, steps, optimiser)
                    document = json.loads(file.read_text())
                    for name in batches:
                        document["tensors"][f"all_{name}"] = {**document["tensors"].pop(name),
                                                              "place": "remote"}
                    document["steps"] = [*({"load": f"all_{name}", "output": name} for name in batches),
                                         *document["steps"]]
                    document["train"]["accumulate"] = parts
                    file.write_text(json.dumps(document, indent=1))
                    self.expect_trained(file, values, steps, in_numpy, summed)
                    result = self.result(file)
                    self.assertTrue(result["check"]["passed"])
                    self.assertEqual(self.result(file, "--mode", "timing")["cycles"], result["cycles"])

    def test_sums_and_scales_are_for_updates(self):
        values = self.drawn()
        for train, expected in (({"accumulate": 2}, "/train/accumulate: got it without an optimiser"),
                                ({"loss_scale": 8}, "/train/loss_scale: got it without an optimiser"),
                                ({"loss_scale": 8, "optimiser": {"family": "sgd"}},
                                 'expected a "loss"')):
            file = self.network(values, 1, {"family": "sgd"})
            document = json.loads(file.read_text())
            del document["train"]["optimiser"]
            document["train"].update(train)
            file.write_text(json.dumps(document, indent=1))
            refused = self.tessera("check", file, code=3)
            self.assertIn(expected, refused.stderr)
            self.assertRegex(refused.stderr, r"network\.json:\d+:\d+")

    def test_state_of_sparse_weights_moves_with_their_sequence(self):
        def told(keys, optimiser):
            schedule = {"prune": "random", "regrow": "random", "fraction": 0.5, "decay": "cosine",
                        "patterns": 3, "seed": 1}
            tensor = {"shape": [128, 192], "block": 16, "mode": "dynamic", "sequence": schedule,
                      "pattern": {"generator": "uniform", "density": 0.3}, **keys}
            return self.file("sparse.json", json.dumps({
                "schema_version": 1, "kind": "pipeline",
                "tensors": {"w": {key: value for key, value in tensor.items() if value},
                            "x": {"shape": [192, 32], "type": tensor.get("type", "f16")},
                            "minus_target": {"shape": [128, 32], "type": tensor.get("type", "f16")}},
                "steps": [*([{"next": "w"}] if tensor["sequence"] else []),
                          {"family": "spmm", "inputs": ["w", "x"], "output": "y"},
                          {"family": "add", "inputs": ["y", "minus_target"], "output": "y_gradient"}],
                "train": {"outputs": ["y"], "with_respect_to": ["w"], "steps": 3,
                          "optimiser": optimiser}}))
        few = ("--set", "chip.tiles=16")
        for keys, optimiser in (({}, {"family": "sgd", "rate": 1e-3, "momentum": 0.5}),
                                ({"type": "f32"}, {"family": "adam", "rate": 1e-3})):
            with self.subTest(optimiser=optimiser):
                file = told(keys, optimiser)
                result = self.result(file, *few)
                self.assertTrue(result["check"]["passed"])
                self.assertEqual(self.result(file, *few, "--mode", "timing")["cycles"],
                                 result["cycles"])
        for keys, optimiser, of in (({}, {"family": "adam"}, "f32"),
                                    ({"sequence": None, "mode": None},
                                     {"family": "sgd", "momentum": 0.5}, "f16")):
            refused = self.tessera("check", told(keys, optimiser), code=3)
            self.assertIn("got the sparse matrix 'w', expected a dense tensor, or one with a "
                          f"sequence of patterns and of {of}: the optimiser keeps state beside it",
                          refused.stderr)

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

    def test_a_momentum_of_which_nothing_stays_is_none(self):
        """The resolved form of a file tells it."""
        def cycles(**told):
            return self.result(self.file("w.json", json.dumps({
                "schema_version": 1, "kind": "pipeline",
                "tensors": {"w": {"shape": [48, 32]}, "x": {"shape": [24, 48]}, "y_gradient": {"shape": [24, 32]}},
                "steps": [{"family": "matmul", "inputs": ["x", "w"], "output": "y"}],
                "train": {"outputs": ["y"], "with_respect_to": ["w"],
                          "optimiser": {"family": "descent", **told}}})), "--set", "chip.tiles=16")["cycles"]
        self.assertEqual(cycles(momentum=0), cycles())
        self.assertGreater(cycles(momentum=0.5), cycles())

    def test_a_gated_layer_trains_with_equal_cycles_in_both_modes(self):
        for kind in ("f16", "f32"):
            with self.subTest(kind):
                file = self.file("gated.json", json.dumps({
                    "schema_version": 1, "kind": "pipeline",
                    "tensors": {name: {"shape": [24, 40], "type": kind} for name in ("x", "gate", "z_gradient")},
                    "steps": [{"family": "sigmoid", "inputs": ["x"], "output": "positive"},
                              {"family": "rsqrt", "inputs": ["positive"], "output": "y"},
                              {"family": "glu", "inputs": ["y", "gate"], "output": "z"}],
                    "train": {"outputs": ["z"], "with_respect_to": ["x", "gate"]}}))
                few = ("--set", "chip.tiles=16")
                result = self.result(file, *few)
                self.assertTrue(result["check"]["passed"])
                self.assertIn("positive_gradient", [kernel["name"] for kernel in result["kernels"]])
                self.assertEqual(self.result(file, *few, "--mode", "timing")["cycles"],
                                 result["cycles"])

    @slow # the record has their results, too
    def test_configured_workloads_train(self):
        for name in ("dropout_gradients", "gcn_training", "layer_gradients", "norm_gradients", "swish_gradients", "train_adam", "train_classes", "train_lamb", "train_sigmoid", "train_two_layers"):
            with self.subTest(name):
                result = self.result(name)
                self.assertTrue(result["check"]["passed"])
                self.assertEqual(self.result(name, "--mode", "timing")["cycles"], result["cycles"])

    def test_expanded_is_of_a_workload(self):
        for arguments in (["machine", "bow"], ["workload"]):
            told = self.tessera("describe", *arguments, "--expanded", code=2)
            self.assertIn("--expanded needs the name of a workload", told.stderr)


if __name__ == "__main__":
    main()
