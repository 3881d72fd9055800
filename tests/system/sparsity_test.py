#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The section `sparsity` of pipelines: beside pipelines written by hand, beside numpy, and what is wrong in it.
Usage: sparsity_test.py BINARY SOURCE_DIRECTORY"""

import copy
import json
import sys
import unittest

import numpy

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import CliTest

TOKENS, HIDDEN, INNER, BLOCK = 48, 64, 128, 16
SIZES = {"up": (HIDDEN, INNER), "down": (INNER, HIDDEN)}
FEW = ("--set", "chip.tiles=64")


def matmul(inputs, output, **options):
    return {"family": "matmul", "inputs": inputs, "output": output, **options}


def pipeline(tensors, steps, **keys):
    return {"schema_version": 1, "kind": "pipeline", "tensors": tensors, "steps": steps, **keys}


def layer(kind="f16", **keys):
    """Two products with bias; an activation inside the first."""
    shapes = {"x": (TOKENS, HIDDEN), "up_bias": (INNER,), "down_bias": (HIDDEN,), **SIZES}
    return pipeline({name: {"shape": list(shape), "type": kind} for name, shape in shapes.items()},
                    [matmul(["x", "up", "up_bias"], "h", activation="gelu"),
                     matmul(["h", "down", "down_bias"], "y")],
                    sparsity={"level": 0.75, "block": BLOCK, "param_name_patterns": "up$|down$"},
                    **keys)


def kept_blocks(name, level=0.75):
    rows, columns = SIZES[name]
    blocks = rows * columns // BLOCK ** 2
    return blocks - int(level * blocks + 0.5), blocks


def sparse_product(weight, other, turned, product):
    return [{"family": "spmm", "inputs": [weight, other], "transpose_a": True, "transpose_b": True, "output": turned},
            {"family": "transpose", "inputs": [turned], "output": product}]


def by_hand(model, seeds, **keys):
    """The same as layer() makes, without the section."""
    hand = copy.deepcopy(model)
    del hand["sparsity"]
    for name, seed in seeds.items():
        kept, blocks = kept_blocks(name)
        hand["tensors"][name].update(
            {"block": BLOCK, "pattern": {"generator": "uniform", "density": kept / blocks, "seed": seed}, **keys})
    hand["steps"] = [*sparse_product("up", "x", "h_turned", "h_product"),
                     {"family": "bias", "inputs": ["h_product", "up_bias"], "output": "h_biased"},
                     {"family": "gelu", "inputs": ["h_biased"], "output": "h"},
                     *sparse_product("down", "h", "y_turned", "y_product"),
                     {"family": "bias", "inputs": ["y_product", "down_bias"], "output": "y"},
                     *model["steps"][2:]]
    return hand


TRAIN = {"loss": "loss", "with_respect_to": ["up", "up_bias", "down", "down_bias"],
         "optimiser": {"family": "descent", "rate": 1e-3}, "steps": 2}


def with_training(model):
    model["steps"].append({"family": "sum_of_squares", "inputs": ["y"], "output": "loss"})
    return {**model, "train": TRAIN}


class SparsityTest(CliTest):
    def write(self, name, document):
        return self.file(name, json.dumps(document, indent=1))

    def expanded(self, file):
        return json.loads(self.tessera("describe", "workload", file, "--expanded").stdout)

    def seeds(self, file):
        return {name: tensor["pattern"]["seed"] for name, tensor in self.expanded(file)["tensors"].items()
                if "pattern" in tensor}

    def expect_same(self, one, other):
        self.assertTrue(one["check"]["passed"])
        self.assertEqual(one["cycles"], other["cycles"])
        self.assertEqual(one["digests"], other["digests"])
        for kind in ("compute_sets", "exchanges"):
            self.assertEqual([step["name"] for step in one[kind]], [step["name"] for step in other[kind]])

    def test_a_section_is_what_is_written_by_hand(self):
        for kind in ("f16", "f32"):
            for mode in ("static", "dynamic"):
                for trains in (False, True):
                    with self.subTest(f"{kind} {mode} {trains}"):
                        model = layer(kind)
                        model["sparsity"]["mode"] = mode
                        model = with_training(model) if trains else model
                        file = self.write("model.json", model)
                        mode_key = {} if mode == "static" else {"mode": mode}
                        hand = self.write("hand.json", by_hand(model, self.seeds(file), **mode_key))
                        flat = self.write("flat.json", self.expanded(file))
                        result = self.result(file, *FEW)
                        for other in (hand, flat):
                            self.expect_same(result, self.result(other, *FEW))
                        self.assertEqual(self.result(file, *FEW, "--mode", "timing")["cycles"], result["cycles"])

    def test_gradients_that_sparse_products_read_in_part_are_looked_at_whole(self):
        """Rows of a gradient that no kept block needs give way to other tensors."""
        tokens, hidden, inner = 96, 128, 512
        model = with_training(layer())
        shapes = {"x": [tokens, hidden], "up": [hidden, inner], "up_bias": [inner],
                  "down": [inner, hidden], "down_bias": [hidden]}
        for name, shape in shapes.items():
            model["tensors"][name]["shape"] = shape
        model["sparsity"]["level"] = 0.9
        file = self.write("part.json", model)
        for tiles in (60, 64, 96, 128):
            with self.subTest(tiles):
                result = self.result(file, "--set", f"chip.tiles={tiles}")
                self.assertTrue(result["check"]["passed"], result["check"]["sentence"])

    def values(self, kind="f4"):
        random = numpy.random.default_rng(1)
        values = {name: random.uniform(-1, 1, shape).astype(kind) for name, shape in SIZES.items()}
        for name, value in values.items():
            numpy.save(self.scratch / f"{name}.npy", value)
        return values

    def blocks_of(self, matrix, block=BLOCK):
        rows, columns = matrix.shape
        return matrix.reshape(rows // block, block, columns // block, block).swapaxes(1, 2).reshape(-1, block, block)

    def largest(self, matrix, kept, block=BLOCK):
        """The matrix with its blocks of the largest sums of magnitudes alone, of equal ones the first."""
        sums = numpy.abs(self.blocks_of(matrix, block).astype(float)).sum(axis=(1, 2))
        mask = numpy.zeros(len(sums), bool)
        mask[numpy.argsort(-sums, kind="stable")[:kept]] = True
        whole = numpy.repeat(numpy.repeat(mask.reshape(matrix.shape[0] // block, -1), block, 0), block, 1)
        return matrix * whole

    def test_topk_keeps_the_blocks_that_numpy_keeps(self):
        values = self.values()
        x = numpy.random.default_rng(2).uniform(-1, 1, (TOKENS, HIDDEN)).astype("f4")
        numpy.save(self.scratch / "x.npy", x)
        model = layer("f32")
        model["tensors"] = {name: {**model["tensors"][name], "values": f"{name}.npy"} for name in ("x", "up", "down")}
        model["steps"] = [matmul(["x", "up"], "h"), matmul(["h", "down"], "y")]
        model["sparsity"]["init_method"] = "topk"
        file = self.write("topk.json", model)
        result = self.result(file, *FEW, "--out", "out")
        self.assertTrue(result["check"]["passed"])
        got = numpy.load(self.scratch / "out" / "output.npy")
        expected = x.astype(float)
        for name in ("up", "down"):
            expected = expected @ self.largest(values[name], kept_blocks(name)[0])
        numpy.testing.assert_allclose(got, expected, atol=1e-3 * numpy.abs(expected).max())
        self.expect_same(result, self.result(self.write("flat.json", self.expanded(file)), *FEW))
        self.assertEqual(self.result(file, *FEW, "--mode", "timing")["cycles"], result["cycles"])

    def test_random_keeps_values_of_a_file(self):
        values = self.values()
        model = layer("f32")
        model["tensors"] = {"x": {"shape": [HIDDEN, HIDDEN], "type": "f32", "values": "identity.npy"},
                            "up": {**model["tensors"]["up"], "values": "up.npy"}}
        numpy.save(self.scratch / "identity.npy", numpy.eye(HIDDEN, dtype="f4"))
        model["steps"] = [matmul(["x", "up"], "y")]
        model["sparsity"]["param_name_patterns"] = "up"
        result = self.result(self.write("random.json", model), *FEW, "--out", "out")
        self.assertTrue(result["check"]["passed"])
        got = self.blocks_of(numpy.load(self.scratch / "out" / "output.npy"))
        given = self.blocks_of(values["up"])
        kept = [i for i, block in enumerate(got) if block.any()]
        self.assertEqual(len(kept), kept_blocks("up")[0])
        for i in kept:
            numpy.testing.assert_allclose(got[i], given[i], rtol=1e-6)

    def test_products_of_every_form(self):
        """A sparse operand on either side, with operands as their transposes, a bias, a sum and an activation."""
        m, k, n = 32, 64, 48
        random = numpy.random.default_rng(3)
        given = {name: random.integers(-3, 4, shape).astype("f4")
                 for name, shape in {"a": (m, k), "b": (k, n), "bias": (n,), "c": (m, n)}.items()}
        for is_left in (False, True):
            for turned in ((), ("a",), ("b",), ("a", "b")):
                for more in ((), ("bias",), ("c",), ("relu",), ("bias", "relu")):
                    with self.subTest(f"{is_left} {turned} {more}"):
                        names = ["a", "b", *(name for name in more if name in given)]
                        tensors = {}
                        for name in names:
                            value = given[name].T if name in turned else given[name]
                            numpy.save(self.scratch / f"{name}.npy", value)
                            tensors[name] = {"shape": value.shape, "type": "f32", "values": f"{name}.npy"}
                        sparse = "a" if is_left else "b"
                        options = {**{f"transpose_{name}": True for name in turned}, "accumulate": "c" in more,
                                   **({"activation": "relu"} if "relu" in more else {})}
                        model = pipeline(tensors, [matmul(names, "y", **options)],
                                         sparsity={"level": 0.5, "block": 4, "init_method": "topk",
                                                   "param_name_patterns": f"^{sparse}$"})
                        result = self.result(self.write("model.json", model), *FEW, "--out", "out")
                        self.assertTrue(result["check"]["passed"])
                        kept = given[sparse].T if sparse in turned else given[sparse]
                        kept = self.largest(kept, kept.size // 32, 4)
                        operands = {**given, sparse: kept.T if sparse in turned else kept}
                        expected = operands["a"] @ operands["b"]
                        expected += given["bias"] if "bias" in more else 0
                        expected = numpy.maximum(expected, 0) if "relu" in more else expected
                        expected += given["c"] if "c" in more else 0
                        numpy.testing.assert_array_equal(numpy.load(self.scratch / "out" / "output.npy"), expected)

    def test_every_expression_may_have_a_rule_of_its_own(self):
        model = layer()
        model["sparsity"] = {"block": BLOCK, "param_name_patterns": {
            "^up$": 0.5, "^down$": {"level": 0.875, "init_method": "topk", "seed": 3}}}
        expanded = self.expanded(self.write("model.json", model))["tensors"]
        self.assertEqual(expanded["up"]["pattern"]["generator"], "uniform")
        self.assertEqual(expanded["up"]["pattern"]["density"], 0.5)
        self.assertEqual(expanded["down"]["pattern"]["generator"], "largest")
        self.assertEqual(expanded["down"]["pattern"]["density"], 0.125)

    def test_a_seed_goes_with_the_name_alone(self):
        both = self.seeds(self.write("both.json", layer()))
        model = layer()
        model["sparsity"]["param_name_patterns"] = ["down"]
        del model["tensors"]["down_bias"]
        model["steps"][1]["inputs"].pop()
        self.assertEqual(self.seeds(self.write("one.json", model))["down"], both["down"])
        self.assertNotEqual(both["up"], both["down"])
        other = layer()
        other["sparsity"]["seed"] = 2
        self.assertNotEqual(self.seeds(self.write("other.json", other)), both)

    def test_check_lists_what_is_sparse(self):
        text = self.tessera("check", self.write("model.json", layer())).stdout
        self.assertIn("2 sparse weights", text)
        for name, (rows, columns) in SIZES.items():
            kept, blocks = kept_blocks(name)
            line = next(line for line in text.splitlines() if line.split()[:1] == [name])
            for part in (f"{rows} x {columns}", f"{BLOCK}", "0.75", f"{kept} of {blocks}", "static"):
                self.assertIn(part, line)

    def test_a_level_is_set_and_swept(self):
        file = self.write("model.json", layer())
        half = self.result(file, *FEW, "--set", "workload.sparsity.level=0.5")
        model = layer()
        model["sparsity"]["level"] = 0.5
        self.expect_same(half, self.result(self.write("half.json", model), *FEW))
        sweep = self.write("sweep.json", {
            "schema_version": 1, "workload": "model.json", "machine": "bow", "set": {"chip.tiles": 64},
            "axes": [{"path": "workload.sparsity.level", "values": [0.5, 0.75]}]})
        self.assertIn("2 ok", self.tessera("sweep", "run", sweep, "--mode", "timing").stdout)

    def test_tessera_pattern_reads_the_section_of_a_model(self):
        head = json.dumps({"up": {"dtype": "F32", "shape": [8, 8], "data_offsets": [0, 256]}}).encode()
        (self.scratch / "c.safetensors").write_bytes(
            len(head).to_bytes(8, "little") + head + numpy.arange(1, 65, dtype="<f4").tobytes())
        model = layer()
        file = self.write("model.json", model)
        refused = self.tessera("pattern", "sparsify", "c.safetensors", "--config", file, "-o", "d.safetensors", code=3)
        self.assertIn("/sparsity/block: got 16, expected 1", refused.stderr)
        model["sparsity"].update({"block": 1, "param_name_patterns": {"up": {"level": 0.25, "init_method": "topk"}}})
        told = self.tessera("pattern", "sparsify", "c.safetensors", "--config", self.write("one.json", model),
                            "-o", "d.safetensors").stdout
        self.assertIn("16", told)
        kept = numpy.frombuffer((self.scratch / "d.safetensors").read_bytes()[-256:], "<f4")
        numpy.testing.assert_array_equal(numpy.isnan(kept), numpy.arange(64) < 16)

    def test_mistakes_are_told_at_their_place(self):
        def section(**keys):
            def change(model):
                model["sparsity"].update(keys)
            return change

        def tensor(name, **keys):
            return lambda model: model["tensors"][name].update(keys)

        def also(*steps):
            return lambda model: model["steps"].extend(steps)

        def without(key):
            return lambda model: model["sparsity"].pop(key)

        mistakes = [
            (section(param_name_patterns="upp"), "/sparsity/param_name_patterns: 'upp' names no tensor; did you mean 'up'?"),
            (section(param_name_patterns=["up$", "down.weight"]), "/sparsity/param_name_patterns/1: 'down.weight' names no tensor"),
            (section(param_name_patterns="up"), "/tensors/up_bias/shape: got 128, expected rows and columns, since 'up' in "
                                                "sparsity names it"),
            (section(param_name_patterns="up("), "got 'up(', expected an expression of RE2"),
            (section(param_name_patterns={"^up$": 0.5, "up$": 0.6}), "'^up$' and 'up$' both name it, with the levels 0.5 and 0.6"),
            (section(param_name_patterns={"^up$": {"level": 0.5, "sed": 1}}), "unknown key; did you mean 'seed'?"),
            (section(param_name_patterns={"^up$": {"level": 2}}), "level: got 2, expected 0..1"),
            (without("level"), "/sparsity/param_name_patterns: expected a level, 0..1, here or for the whole section"),
            (without("param_name_patterns"), "/sparsity: expected param_name_patterns"),
            (section(level=1), "got level 1, which prunes all 32 blocks of 'down'"),
            (section(block=2), "/sparsity/block: got number 2, expected one of 1, 4, 8, 16"),
            (section(mode="sometimes"), "/sparsity/mode: got"),
            (section(methd="topk"), "unknown key"),
            (tensor("up", shape=[HIDDEN, 120]), None),
            (tensor("down", layout="row_major"), "/tensors/down/layout: got row_major, expected codelet, since 'up$|down$'"),
            (tensor("up", values="constant", constant=1), "/tensors/up/values: got constant, expected uniform, integer or a file"),
            (also({"family": "scale", "inputs": ["up"], "output": "z"}),
             "/steps/2/inputs/0: reads 'up', which 'up$|down$' in sparsity makes sparse"),
            (also({"family": "scale", "inputs": ["down"], "output": "down"}), "/steps/2/output: writes 'down'"),
            (also(matmul(["up", "down"], "z")), "/steps/2/inputs/1: multiplies with another sparse matrix 'down'"),
            (section(param_name_patterns=["up$", "^x$"]), "/steps/0/inputs/1: multiplies with another sparse matrix 'up'"),
        ]
        for number, (change, message) in enumerate(mistakes):
            with self.subTest(number):
                model = layer()
                change(model)
                file = self.write("wrong.json", model)
                told = self.tessera("check", file, code=3).stderr
                if message:
                    self.assertIn(message, told)
                for line in told.splitlines(): # each has its line and column
                    self.assertRegex(line, r"wrong.json:\d+:\d+: /")

    def test_a_size_that_blocks_do_not_divide_is_told_where_it_stands(self):
        model = pipeline({"x": {"shape": [32, 40]}, "w": {"shape": [40, 48]}}, [matmul(["x", "w"], "y")],
                         sparsity={"level": 0.5, "block": 16, "param_name_patterns": "w"})
        text = json.dumps(model, indent=1)
        told = self.tessera("check", self.file("odd.json", text), code=3).stderr
        self.assertIn("/tensors/w/shape: got 40 x 48, expected multiples of 16, the block, since 'w' in sparsity names it",
                      told)

    def test_a_matrix_that_no_product_reads_is_told(self):
        model = pipeline({"x": {"shape": [32, 48]}, "w": {"shape": [48, 48]}, "o": {"shape": [32, 48]}},
                         [matmul(["x", "w"], "h"), {"family": "add", "inputs": ["h", "o"], "output": "y"}],
                         sparsity={"level": 0.5, "block": 16, "param_name_patterns": ["w", "o"]})
        told = self.tessera("check", self.write("add.json", model), code=3).stderr
        self.assertIn("/steps/1/inputs/1: reads 'o', which 'o' in sparsity makes sparse", told)

    def test_mistakes_in_modules_are_told_there(self):
        model = {"schema_version": 1, "kind": "pipeline",
                 "modules": {"linear": {"inputs": ["x"], "outputs": ["y"],
                                        "tensors": {"weight": {"shape": [40, 40]}},
                                        "steps": [matmul(["x", "weight"], "y")]}},
                 "tensors": {"x": {"shape": [16, 40]}},
                 "steps": [{"module": "linear", "name": "stack", "for": 2, "inputs": ["x"], "output": "y"}],
                 "sparsity": {"level": 0.5, "block": 16, "param_name_patterns": r"stack\.1\.weight"}}
        told = self.tessera("check", self.write("modules.json", model), code=3).stderr
        self.assertIn("/modules/linear/tensors/weight/shape: got 40 x 40, expected multiples of 16", told)
        self.assertIn("in stack.1", told)
        model["sparsity"].update({"block": 8})
        text = self.tessera("check", self.write("modules.json", model)).stdout
        self.assertIn("1 sparse weight", text)
        self.assertIn("stack.1.weight", text)

    def test_what_training_makes_of_it_is_told_at_its_step(self):
        model = with_training(layer())
        model["train"] = {**TRAIN, "optimiser": {"family": "adam"}}
        told = self.tessera("check", self.write("adam.json", model), code=3).stderr
        self.assertIn("/train/with_respect_to/0: got the sparse matrix 'up'", told)

    def test_configured_workloads(self):
        for name in ("sparse_feed_forward", "sparse_training"):
            with self.subTest(name):
                result = self.result(name)
                self.assertTrue(result["check"]["passed"])
                self.assertEqual(self.result(name, "--mode", "timing")["cycles"], result["cycles"])
                self.expect_same(result, self.result(self.write("flat.json", self.expanded(name))))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
