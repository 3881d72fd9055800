#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Layers that are rounds of one repeat, beside numpy and beside layers one behind the other.
Usage: phased_test.py BINARY SOURCE_DIRECTORY"""

import json
import sys
import unittest

import numpy

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import SOURCE, CliTest
from training_test import Adam, Descent, Lamb

ROWS, WIDTH, LAYERS = 24, 32, 5
FEW = ("--set", "chip.tiles=16")
WEIGHTS = {"weight": (WIDTH, WIDTH), "bias": (WIDTH,)}
LAYER = {"inputs": ["x"], "outputs": ["y"],
         "tensors": {name: {"shape": list(shape), "type": "f32"} for name, shape in WEIGHTS.items()},
         "steps": [{"family": "matmul", "inputs": ["x", "weight"], "output": "product"},
                   {"family": "bias", "inputs": ["product", "bias"], "output": "h"},
                   {"family": "tanh", "inputs": ["h"], "output": "a"},
                   {"family": "add", "inputs": ["a", "x"], "output": "y"}]}
OPTIMISERS = [
    ({"family": "sgd", "rate": 0.01, "momentum": 0.75}, lambda: Descent(0.01, 0.75)),
    ({"family": "adam", "rate": 0.01}, lambda: Adam(0.01)),
    ({"family": "lamb", "rate": 0.02, "weight_decay": 0.125}, lambda: Lamb(0.02, weight_decay=0.125)),
]


def forward(x, weights):
    """The inputs of the layers, with the last one's output behind them."""
    ys = [x]
    for weight, bias in zip(weights["weight"], weights["bias"]):
        ys.append(numpy.tanh(ys[-1] @ weight + bias) + ys[-1])
    return ys


def trained(values, steps, optimiser):
    """In binary64: the loss of each step, and weights and gradients behind the last."""
    x, target = (values[name].astype(float) for name in ("x", "target"))
    weights = {name: values[name].astype(float) for name in WEIGHTS}
    optimisers = {name: [optimiser() for _ in range(LAYERS)] for name in WEIGHTS}
    for _ in range(steps):
        ys = forward(x, weights)
        loss = ((ys[-1] - target) ** 2).sum() / 2
        of_y = ys[-1] - target
        gradients = {name: numpy.zeros_like(value) for name, value in weights.items()}
        for i in reversed(range(LAYERS)):
            of_h = of_y * (1 - (ys[i + 1] - ys[i]) ** 2)
            gradients["weight"][i] = ys[i].T @ of_h
            gradients["bias"][i] = of_h.sum(axis=0)
            of_y = of_y + of_h @ weights["weight"][i].T
        for name in WEIGHTS:
            for i in range(LAYERS):
                weights[name][i] = optimisers[name][i](weights[name][i], gradients[name][i])
    return loss, weights, gradients, of_y


class PhasedTest(CliTest):
    def drawn(self):
        draw = numpy.random.default_rng(1)
        shapes = {"x": (ROWS, WIDTH), "target": (ROWS, WIDTH),
                  **{name: (LAYERS, *shape) for name, shape in WEIGHTS.items()}}
        values = {name: draw.uniform(-0.3, 0.3, shape).astype(numpy.float32)
                  for name, shape in shapes.items()}
        for name, value in values.items():
            numpy.save(self.scratch / f"{name}.npy", value)
        for name in WEIGHTS:
            for i, row in enumerate(values[name]):
                numpy.save(self.scratch / f"{name}.{i}.npy", row)
        return values

    def model(self, use={}, train=None, values=True, **keys):
        """With `values`, the weights are given in files: an expression cannot name one for each layer."""
        document = {
            "schema_version": 1, "kind": "pipeline", "sizes": {"layers": LAYERS},
            "modules": {"layer": LAYER},
            "tensors": {name: {"shape": [ROWS, WIDTH], "type": "f32", "values": f"{name}.npy"}
                        for name in (("x", "target") if train else ("x",))},
            "steps": [{"module": "layer", "name": "stack", "for": "layers", "inputs": ["x"],
                       "output": "y", **use}], **keys}
        if train:
            document["steps"].append({"family": "sum_of_squares", "inputs": ["y", "target"],
                                      "factor": 0.5, "output": "loss"})
            document["train"] = train
        return self.file("model.json", json.dumps(document, indent=1))

    def set_values(self, phased):
        """Options that give all weights from files."""
        told = []
        for name in WEIGHTS:
            for i in range(1 if phased else LAYERS):
                tensor = f"stack.{name}" if phased else f"stack.{i}.{name}"
                file = f"{name}.npy" if phased else f"{name}.{i}.npy"
                told += ["--set", f"workload.tensors.{tensor}.values={self.scratch / file}"]
        return told

    def saved(self, name):
        """Of the run before. A single result has no name."""
        path = self.scratch / "out" / f"output.{name}.npy"
        return path if path.exists() else self.scratch / "out" / "output.npy"

    def run_model(self, file, *options, phased=True):
        return self.result(file, *FEW, *self.set_values(phased), *options)

    def test_phased_layers_are_those_one_behind_the_other(self):
        values = self.drawn()
        expected = forward(values["x"].astype(float),
                           {name: values[name].astype(float) for name in WEIGHTS})[-1]
        for phased in (False, True):
            file = self.model({"phased": True} if phased else {})
            result = self.run_model(file, "--out", "out", phased=phased)
            self.assertTrue(result["check"]["passed"])
            numpy.testing.assert_allclose(numpy.load(self.saved("y")),
                                          expected, rtol=0, atol=1e-4)
            timing = self.run_model(file, "--mode", "timing", phased=phased)
            self.assertEqual(timing["cycles"], result["cycles"])

    def test_training_in_phases_follows_numpy(self):
        values = self.drawn()
        for (optimiser, in_numpy), recompute, stash, rows, steps in [
                (OPTIMISERS[0], False, "tiles", "remote", 1), (OPTIMISERS[0], True, "remote", "tiles", 3),
                (OPTIMISERS[1], False, "remote", "remote", 3), (OPTIMISERS[1], True, "tiles", "tiles", 2),
                (OPTIMISERS[2], False, "tiles", "tiles", 3), (OPTIMISERS[2], True, "remote", "remote", 3)]:
            with self.subTest(optimiser=optimiser, recompute=recompute, stash=stash, rows=rows, steps=steps):
                file = self.model({"phased": True, "recompute": recompute, "rows": rows},
                                  {"loss": "loss", "with_respect_to": ["stack.*"], "steps": steps,
                                   "optimiser": optimiser, "stash": stash})
                result = self.run_model(file, "--out", "out")
                self.assertTrue(result["check"]["passed"])
                loss, weights, _, _ = trained(values, steps, in_numpy)
                got = numpy.load(self.scratch / "out" / "output.loss.npy")[0]
                self.assertAlmostEqual(got, loss, delta=1e-4 * loss)
                for name, expected in weights.items():
                    moved = numpy.abs(expected - values[name]).max()
                    self.assertGreater(moved, 1e-3)
                    numpy.testing.assert_allclose(
                        numpy.load(self.scratch / "out" / f"output.stack.{name}.npy"), expected,
                        rtol=0, atol=2e-3 * moved)
                timing = self.run_model(file, "--mode", "timing")
                self.assertEqual(timing["cycles"], result["cycles"])
                one = self.run_model(file, "--mode", "timing", "--threads", "1")
                self.assertEqual(one["cycles"], result["cycles"])

    def test_names_that_begin_alike_keep_their_own_state(self):
        """A bias is called as the row of the weights and more: its momentum is called after the bias."""
        values = self.drawn()
        bias = "weight_row_b"
        layer = {**LAYER, "tensors": {"weight": LAYER["tensors"]["weight"], bias: LAYER["tensors"]["bias"]},
                 "steps": [LAYER["steps"][0], {**LAYER["steps"][1], "inputs": ["product", bias]}, *LAYER["steps"][2:]]}
        train = {"loss": "loss", "with_respect_to": ["stack.*"], "steps": 3, "optimiser": OPTIMISERS[0][0]}
        file = self.model({"phased": True}, train, modules={"layer": layer})
        told = [option.replace("stack.bias", f"stack.{bias}") for option in self.set_values(True)]
        self.assertTrue(self.result(file, *FEW, *told, "--out", "out")["check"]["passed"])
        _, weights, _, _ = trained(values, 3, OPTIMISERS[0][1])
        for name, called in (("weight", "weight"), ("bias", bias)):
            numpy.testing.assert_allclose(numpy.load(self.scratch / "out" / f"output.stack.{called}.npy"),
                                          weights[name], rtol=0, atol=1e-4)
            momentum = numpy.load(self.scratch / "out" / f"output.stack.{called}_momentum.npy")
            self.assertEqual(momentum.shape, (LAYERS, *WEIGHTS[name]))

    def test_gradients_without_an_optimiser_go_to_rows_of_their_own(self):
        values = self.drawn()
        _, _, gradients, of_x = trained(values, 1, lambda: Descent(0))
        told = {}
        for rows in ("remote", "tiles"):
            file = self.model({"phased": True, "rows": rows},
                              {"loss": "loss", "with_respect_to": ["stack.*", "x"], "stash": "tiles"})
            told[rows] = self.run_model(file, "--out", "out")
            self.assertTrue(told[rows]["check"]["passed"])
            self.assertEqual(self.run_model(file, "--mode", "timing")["cycles"], told[rows]["cycles"])
            for name, expected in (*((f"stack.{name}", of) for name, of in gradients.items()), ("x", of_x)):
                numpy.testing.assert_allclose(
                    numpy.load(self.saved(f"{name}_gradient")), expected, rtol=0,
                    atol=1e-4 * numpy.abs(expected).max())
        self.assertGreater(told["remote"]["phases"]["stream"], 0)
        self.assertEqual(told["tiles"]["phases"]["stream"], 0)
        self.assertLess(told["tiles"]["cycles"], told["remote"]["cycles"])

    def test_a_stash_takes_streams_or_memory_and_running_again_computes(self):
        self.drawn()
        told = {}
        for way in [(recompute, stash) for recompute in (False, True)
                    for stash in ("remote", "tiles")]:
            with self.subTest(way):
                file = self.model({"phased": True, "recompute": way[0]},
                                  {"loss": "loss", "with_respect_to": ["stack.*"], "stash": way[1],
                                   "optimiser": {"family": "sgd", "rate": 0.01}})
                told[way] = self.run_model(file, "--out", "out"), {
                    name: (self.scratch / "out" / f"output.stack.{name}.npy").read_bytes()
                    for name in WEIGHTS}
                self.assertTrue(told[way][0]["check"]["passed"])
                self.assertEqual(told[way][1], told[False, "remote"][1])
        kernels = {way: {kernel["name"]: kernel for kernel in result["kernels"]}
                   for way, (result, _) in told.items()}
        for stash in ("remote", "tiles"):
            self.assertIn("stack.round.a_stored", kernels[False, stash])
            self.assertNotIn("stack.round.a_stored", kernels[True, stash])
            self.assertIn("y_before_stored", kernels[True, stash])
        results = {way: result for way, (result, _) in told.items()}
        self.assertLess(results[False, "tiles"]["cycles"], results[True, "tiles"]["cycles"])
        self.assertLess(results[True, "tiles"]["cycles"], results[True, "remote"]["cycles"])
        self.assertLess(results[False, "tiles"]["cycles"], results[False, "remote"]["cycles"])

    def test_rows_on_tiles_are_moved_by_the_rounds(self):
        rows, into = numpy.arange(60, dtype=numpy.float32).reshape(5, 4, 3), "log"
        numpy.save(self.scratch / "rows.npy", rows)
        place = {"shape": [5, 4, 3], "type": "f32", "place": "tile_rows"}
        document = {
            "schema_version": 1, "kind": "pipeline",
            "tensors": {"rows": {**place, "values": "rows.npy"},
                        into: {**place, "values": "constant", "constant": -1}},
            "steps": [{"repeat": 2, "steps": [
                          {"repeat": 4, "steps": [
                              {"load": "rows", "output": "x", "row": 4, "row_a_round": -1},
                              {"family": "scale", "inputs": ["x"], "factor": 2, "output": "y"},
                              {"store": "y", "into": into}]}]},
                      {"load": "rows", "name": "first", "output": "z", "row": 1},
                      {"family": "scale", "inputs": ["z"], "factor": 3, "output": "first_3"}]}
        file = self.file("rows.json", json.dumps(document, indent=1))
        result = self.result(file, *FEW, "--out", "out")
        self.assertTrue(result["check"]["passed"])
        expected = numpy.full_like(rows, -1)
        expected[:4] = 2 * rows[:0:-1]
        numpy.testing.assert_array_equal(numpy.load(self.scratch / "out" / "output.log.npy"), expected)
        numpy.testing.assert_array_equal(
            numpy.load(self.scratch / "out" / "output.first_3.npy"), 3 * rows[1])
        self.assertEqual(self.result(file, *FEW, "--mode", "timing")["cycles"], result["cycles"])
        for old, new, expected in [
                ({"load": "rows", "output": "x", "row": 4, "row_a_round": -1},
                 {"family": "scale", "inputs": ["rows"], "factor": 1, "output": "x"},
                 "got 'rows', which is in rows on the tiles, expected one as a whole"),
                ({"store": "y", "into": into},
                 {"if": "flag", "then": [{"store": "y", "into": into}]},
                 "got rows of 'log' to be moved inside an if or a while")]:
            wrong = json.loads(json.dumps(document))
            inside = wrong["steps"][0]["steps"][0]["steps"]
            inside[inside.index(old)] = new
            wrong["tensors"]["flag"] = {"shape": [1], "type": "i32"}
            refused = self.tessera("check", self.file("wrong.json", json.dumps(wrong)), code=3)
            self.assertIn(expected, refused.stderr)

    def test_rows_come_ahead_to_the_same_result(self):
        self.drawn()
        train = {"loss": "loss", "with_respect_to": ["stack.*"], "steps": 2,
                 "optimiser": {"family": "adam", "rate": 0.01}}
        for of in (None, train):
            found = {}
            for prefetch in (0, 1, 2, LAYERS + 3):
                with self.subTest(prefetch=prefetch, train=of is not None):
                    file = self.model({"phased": True, "prefetch": prefetch}, of, io_tiles=4)
                    result = self.run_model(file, "--out", "out")
                    self.assertTrue(result["check"]["passed"])
                    timing = self.run_model(file, "--mode", "timing")
                    self.assertEqual(timing["cycles"], result["cycles"])
                    names = ["y"] if of is None else [f"stack.{name}" for name in WEIGHTS]
                    found[prefetch] = result["cycles"], [
                        self.saved(name).read_bytes() for name in names]
            self.assertEqual(len({str(bytes_of) for _, bytes_of in found.values()}), 1)
            self.assertLess(found[1][0], found[0][0])
            self.assertLessEqual(found[2][0], found[1][0] * 1.02)

    def test_two_rows_ahead_take_the_longer_of_both_sides(self):
        rounds, size = 40, 128
        file = self.file("ahead.json", json.dumps({
            "schema_version": 1, "kind": "pipeline", "seed": 1, "io_tiles": 8,
            "tensors": {"x": {"shape": [size, size]},
                        "weights": {"shape": [rounds, size, size], "place": "remote"}},
            "steps": [{"repeat": rounds, "steps": [
                {"load": "weights", "output": "w", "prefetch": 2},
                {"family": "matmul", "inputs": ["x", "w"], "output": "product"},
                {"family": "scale", "inputs": ["product"], "factor": 0.1, "output": "x"}]}]}))

        def cycles(gbytes_per_s):
            done = self.tessera(
                "run", file, "--mode", "timing", "-q", "--json", "-",
                "--set", "chip.tiles=64", "--set", "streaming.latency_us=0.5",
                "--set", "streaming.machine_gbytes_per_s=100000",
                "--set", f"streaming.read_gbytes_per_s={gbytes_per_s}")
            result = json.loads(done.stdout)
            return result["cycles"], result["machine"]["chip"]["clock_hz"]

        tiles, clock = cycles(10000)  # the link is never waited for
        for gbytes_per_s, longer in ((1, "link"), (7, "link"), (20, "tiles")):
            with self.subTest(gbytes_per_s=gbytes_per_s):
                link = rounds * size * size * 2 / (gbytes_per_s * 1e9) * clock
                self.assertEqual("link" if link > tiles else "tiles", longer)
                found, _ = cycles(gbytes_per_s)
                self.assertGreaterEqual(found, 0.99 * max(link, tiles))
                self.assertLessEqual(found, 1.05 * max(link, tiles))

    def test_mistakes_are_told_where_they_stand(self):
        self.drawn()
        train = {"loss": "loss", "with_respect_to": ["stack.*"]}
        twice = [{"module": "layer", "name": "inner", "for": 2, "phased": True, "inputs": ["x"],
                  "output": "y"}]
        for use, keys, expected in [
                ({"for": None, "phased": True}, {}, '"for"'),
                ({"phased": True, "prefetch": 2}, {}, '"io_tiles"'),
                ({"prefetch": 1}, {}, "got rows to be brought ahead, expected a phased use"),
                ({"rows": "tiles"}, {}, "got a place of rows, expected a phased use"),
                ({"phased": True, "rows": "tile"}, {}, "did you mean 'tiles'?"),
                ({"phased": True, "rows": "tiles", "prefetch": 1}, {"io_tiles": 2},
                 "to be brought ahead, expected 0: they stand on the tiles"),
                ({"phased": True, "prefetch": "layers / 2"}, {"io_tiles": 2},
                 "got 2.5 rows, expected a whole number from 0"),
                ({"phased": True, "module": "outer"},
                 {"modules": {"layer": LAYER, "outer": {"inputs": ["x"], "outputs": ["y"],
                                                        "steps": twice}}},
                 "got a phased use inside another one"),
                ({"phased": True}, {"modules": {"layer": {
                    **LAYER, "tensors": {**LAYER["tensors"], "bias": {
                        "shape": [WIDTH], "type": "f32", "layout": "row_major"}}}}},
                 "got 'layout' of a tensor in a phased use")]:
            with self.subTest(expected):
                file = self.model(use, **keys)
                if use.get("for", 1) is None:
                    document = json.loads(file.read_text())
                    del document["steps"][0]["for"]
                    file.write_text(json.dumps(document, indent=1))
                refused = self.tessera("check", file, code=3)
                self.assertIn(expected, refused.stderr)
                self.assertRegex(refused.stderr, r"model\.json:\d+:\d+")
        shared = {**LAYER, "inputs": ["x", "shared"],
                  "steps": [*LAYER["steps"][:3], {"family": "add", "inputs": ["a", "shared"], "output": "y"}]}
        file = self.model({"phased": True, "inputs": ["x", "target"]},
                          {**train, "with_respect_to": ["stack.*", "target"]}, modules={"layer": shared})
        refused = self.tessera("check", file, code=3)
        self.assertIn("got 'target', which each round reads", refused.stderr)

    def test_io_tiles_are_some_of_the_machine(self):
        self.drawn()
        for io_tiles in (3, 10):
            file = self.model({"phased": True, "prefetch": 1}, io_tiles=io_tiles)
            refused = self.tessera("run", file, *FEW, code=3)
            self.assertIn(f"got {io_tiles} IO tiles, expected an even number up to 8", refused.stderr)

    def test_check_tells_mistakes_of_a_model_at_their_lines(self):
        text = (SOURCE / "configs" / "workloads" / "bert_base_training.json").read_text()
        mistakes = [
            ('"schema_version": 1', '"schema_version": 3'),
            ('"kind": "pipeline"', '"kind": "pipelines"'),
            ('"seed": 1', '"seed": "one"'),
            ('"include": ["transformer.json"]', '"include": ["transformers.json"]'),
            ('"heads": 12', '"heads": "hidden / heads"'),
            ('"batch * length", "hidden"]},\n    "mask"', '"batch * lenght", "hidden"]},\n    "mask"'),
            ('"mask": {"shape"', '"mask": {"shapes"'),
            ('"module": "encoder_layer"', '"module": "encoder_layers"'),
            ('"for": "layers"', '"for": "layer"'),
            ('"phased": true', '"phased": "true"'),
            ('"recompute": true', '"recomputed": true'),
            ('"inner": "4 * hidden"', '"inner": "4 * * hidden"'),
            ('"inner": "4 * hidden"', '"outer": "4 * hidden"'),
            ('"inputs": ["x", "mask"]', '"inputs": ["x", "masks"]'),
            ('"output": "y"', '"output": ["y", "z"]'),
            ('"outputs": ["y"]', '"outputs": ["z"]'),
            ('"with_respect_to": ["encoder.*"]', '"with_respect_to": ["decoder.*"]'),
            ('"family": "lamb"', '"family": "lambda"'),
            ('"rate": 0.001', '"rate": "fast"'),
            ('"weight_decay": 0.01', '"weight_decays": 0.01')]
        for old, new in mistakes:
            with self.subTest(new):
                self.assertEqual(text.count(old), 1, old)
                line = text[:text.index(old)].count("\n") + 1
                file = self.file("wrong.json", text.replace(old, new))
                told = self.tessera("check", file, code=None)
                self.assertIn(told.returncode, (3, 4), told.stderr)
                self.assertIn(f"wrong.json:{line}:", told.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
