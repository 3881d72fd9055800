#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tessera import` on the command line. Usage: import_test.py BINARY SOURCE_DIRECTORY"""

import json
import pathlib
import subprocess
import sys
import unittest

import numpy

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import BINARY, CliTest
from onnx_model import external_tensor, field, model, node, port, tensor

SKIPPED = 77
RNG = numpy.random.default_rng(1)
BATCH, INPUTS, HIDDEN, OUTPUTS = 6, 20, 18, 10
CONFIG = 3


def numbers(*shape):
    return RNG.uniform(-1, 1, shape).astype("f4")


class ImportTest(CliTest):
    def write(self, name, data):
        path = self.scratch / name
        path.write_bytes(data)
        return path

    def import_model(self, data, *options, code=0):
        return self.tessera("import", self.write("m.onnx", data), "-o", "m.json", *options, code=code)

    def run_model(self, *names, **values):
        """The results by name; with one name, this result alone is there."""
        sets = []
        for name, value in values.items():
            numpy.save(self.scratch / f"{name}.npy", value)
            sets += ["--set", f"workload.tensors.{name}.values={name}.npy"]
        self.tessera("run", "m.json", "--set", "chip.tiles=64", "--out", "out", "-q", *sets)
        files = {name: "output.npy" if len(names) == 1 else f"output.{name}.npy" for name in names}
        return {name: numpy.load(self.scratch / "out" / file) for name, file in files.items()}

    def assert_near(self, got, expected):
        numpy.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-5)

    def mistakes(self, data, *options):
        """What is wrong with a model, without the file's name; nothing is written."""
        done = self.import_model(data, *options, code=CONFIG)
        self.assertFalse((self.scratch / "m.json").exists())
        self.assertFalse((self.scratch / "m.safetensors").exists())
        return [line.split("m.onnx: ", 1)[-1] for line in done.stderr.splitlines()]


class ModelsTest(ImportTest):
    def test_a_network_of_two_layers(self):
        w1, b1, w2 = numbers(INPUTS, HIDDEN), numbers(HIDDEN), numbers(OUTPUTS, HIDDEN)
        data = model([node("Gemm", ["x", "fc1/w", "fc1/b"], ["/fc1/sum"]), node("Relu", ["/fc1/sum"], ["h"]),
                      node("Gemm", ["h", "w2"], ["logits"], transB=1),
                      node("Softmax", ["logits"], ["y"], axis=1)],
                     [port("x", ["batch", INPUTS])], [port("y", ["batch", OUTPUTS]), port("h", ["batch", HIDDEN])],
                     [tensor("fc1/w", w1), tensor("fc1/b", b1), tensor("w2", w2)])
        done = self.import_model(data, "--size", f"batch={BATCH}")
        self.assertIn("inputs: x\noutputs: y, h\n", done.stdout)
        self.assertIn("m.safetensors: 3 tensors of 2,232 bytes", done.stdout)
        steps = json.loads((self.scratch / "m.json").read_text())["steps"]
        self.assertEqual(steps[0], {"family": "matmul", "inputs": ["x", "fc1.w", "fc1.b"], "output": "fc1.sum"})
        x = numbers(BATCH, INPUTS)
        got = self.run_model("y", "h", x=x)
        hidden = numpy.maximum(x @ w1 + b1, 0)
        logits = numpy.exp(hidden @ w2.T)
        self.assert_near(got["h"], hidden)
        self.assert_near(got["y"], logits / logits.sum(axis=1, keepdims=True))

    def test_a_head_of_attention_with_sizes_that_the_model_computes(self):
        length, heads, size = 8, 2, 4
        hidden = heads * size
        weights = {name: numbers(hidden, hidden) for name in "qkv"}
        nodes = [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "first"], ["length"]),
                 node("Unsqueeze", ["length", "axis"], ["lengths"]),
                 node("Concat", ["lengths", "heads"], ["apart"], axis=0)]
        for name, order in (("q", [1, 0, 2]), ("k", [1, 2, 0]), ("v", [1, 0, 2])):
            nodes += [node("MatMul", ["x", name], [name + "_rows"]),
                      node("Reshape", [name + "_rows", "apart"], [name + "_apart"]),
                      node("Transpose", [name + "_apart"], [name + "_heads"], perm=order)]
        nodes += [node("MatMul", ["q_heads", "k_heads"], ["scores"]), node("Div", ["scores", "root"], ["scaled"]),
                  node("Softmax", ["scaled"], ["p"]), node("MatMul", ["p", "v_heads"], ["mixed"]),
                  node("Transpose", ["mixed"], ["joined"], perm=[1, 0, 2]),
                  node("Reshape", ["joined", "together"], ["y"])]
        known = {"first": numpy.array(0), "axis": numpy.array([0]), "heads": numpy.array([heads, size]),
                 "together": numpy.array([0, -1]), "root": numpy.array(numpy.sqrt(size), "f4"), **weights}
        self.import_model(model(nodes, [port("x", [length, hidden])], [port("y", [length, hidden])],
                                [tensor(*one) for one in known.items()]))
        x = numbers(length, hidden)
        q, k, v = ((x @ weights[name]).reshape(length, heads, size).transpose(1, 0, 2) for name in "qkv")
        p = numpy.exp(q @ k.transpose(0, 2, 1) / numpy.sqrt(size))
        p /= p.sum(axis=2, keepdims=True)
        self.assert_near(self.run_model("y", x=x)["y"], (p @ v).transpose(1, 0, 2).reshape(length, hidden))

    def test_results_that_are_inputs_known_or_read_by_others(self):
        data = model([node("Identity", ["x"], ["same"]), node("Relu", ["x"], ["r"]), node("Tanh", ["r"], ["t"]),
                      node("Identity", ["r"], ["again"])],
                     [port("x", [4])], [port(name, [4]) for name in ("same", "r", "again", "t", "c")],
                     [tensor("c", numbers(4))])
        self.import_model(data)
        x = numbers(4)
        got = self.run_model("same", "r", "again", "t", "c", x=x)
        relu = numpy.maximum(x, 0)
        self.assert_near(got["same"], x)
        self.assert_near(got["r"], relu)
        self.assert_near(got["again"], relu)
        self.assert_near(got["t"], numpy.tanh(relu))

    def test_what_no_output_needs_is_left_out(self):
        data = model([node("Relu", ["x"], ["y"]), node("Erf", ["unused"], ["nothing"])],
                     [port("x", [4]), port("unused", ["n"])], [port("y", [4])])
        self.import_model(data)
        workload = json.loads((self.scratch / "m.json").read_text())
        self.assertEqual(list(workload["tensors"]), ["x"])
        self.assertEqual(len(workload["steps"]), 1)
        self.assertFalse((self.scratch / "m.safetensors").exists())

    def test_tensors_in_files_beside_the_model(self):
        w = numbers(INPUTS, OUTPUTS)
        self.write("w.bin", b"\0" * 8 + w.tobytes())
        self.import_model(model([node("MatMul", ["x", "w"], ["y"])], [port("x", [BATCH, INPUTS])],
                                [port("y", [BATCH, OUTPUTS])], [external_tensor("w", w.shape, "w.bin", 8)]))
        x = numbers(BATCH, INPUTS)
        self.assert_near(self.run_model("y", x=x)["y"], x @ w)


class MistakesTest(ImportTest):
    def test_ten_unknown_operators_are_all_named(self):
        nodes = [node(f"Unknown{i}", ["x" if i == 0 else f"t{i - 1}"], [f"t{i}"], name=f"/layer.{i}")
                 for i in range(10)]
        told = self.mistakes(model(nodes, [port("x", [4])], [port("t9", [4])]))
        self.assertEqual(told, [f"node '/layer.{i}' (Unknown{i}): no family has this operator" for i in range(10)])

    def test_operators_and_attributes_and_types_that_are_refused(self):
        nodes = [node("If", ["x"], ["a"]), node("Dropout", ["x", "", "t"], ["b"]),
                 node("Relu", ["x"], ["c"], slope=2), node("Relu", ["d"], ["e"]),
                 node("Div", ["x", "x"], ["f"]), node("MatMul", ["x", "w"], ["g"], name="product")]
        told = self.mistakes(model(nodes, [port("x", [4]), port("d", [4], 11)],
                                   [port(name, [4]) for name in "abcefg"],
                                   [tensor("t", numpy.array(True)), tensor("w", numbers(3, 2))]))
        self.assertEqual(told, [
            "node that makes 'a' (If): control flow is not translated",
            "node that makes 'b' (Dropout): in training, which draws random numbers",
            "node that makes 'c' (Relu): attribute 'slope' is not translated",
            "node that makes 'e' (Relu): 'd' has elements of DOUBLE, expected FLOAT or FLOAT16",
            "node that makes 'f' (Div): divisor 'x' is not known when the model is imported, and no family divides",
            "node 'product' (MatMul): got 1 x 4 and 3 x 2, which do not go together"])

    def test_sizes_and_constants(self):
        data = model([node("Reshape", ["x", "shape"], ["y"])], [port("x", ["n", 4]), port("shape", [2], 7)],
                     [port("y", [8])])
        self.assertEqual(self.mistakes(data), ["input 'x': size 'n' has no number, expected --size n=N"])
        numpy.save(self.scratch / "shape.npy", numpy.array([2, -1]))
        told = self.mistakes(data, "--size", "nn=2", "--constant", "shap=shape.npy")
        self.assertEqual(told[0], "--size: no input has a size 'nn'; did you mean 'n'?")
        self.assertEqual(told[1], "--constant: the model has no input 'shap'; did you mean 'shape'?")
        told = self.mistakes(data, "--size", "n=2")
        self.assertEqual(told, ["node that makes 'y' (Reshape): input 'shape' is not known when the model is "
                                "imported, expected an initialiser, or --constant shape=FILE.npy"])
        self.import_model(data, "--size", "n=2", "--constant", "shape=shape.npy")
        x = numbers(2, 4)
        self.assert_near(self.run_model("y", x=x)["y"], x)

    def test_files_that_are_no_models(self):
        whole = model([node("Relu", ["x"], ["y"])], [port("x", [4])], [port("y", [4])])
        for data in (whole[:-9], b"\x89PNG and so on", b"PK\x03\x04", b""):
            with self.subTest(data=data):
                (told,) = self.mistakes(data)
                self.assertRegex(told, "expected an ONNX model; the file (is|may be) truncated, or none of ONNX")
        (told,) = self.mistakes(model([], [], [], opset=18))
        self.assertEqual(told, "got operator set 18, expected at most 17; export the model with an older one")
        with open(self.scratch / "large.onnx", "wb") as large:
            large.truncate(1 << 31)
        done = self.tessera("import", "large.onnx", "-o", "m.json", code=CONFIG)
        self.assertIn("got 2147483648 bytes, expected at most 2146435072", done.stderr)

    def test_tensors_that_are_not_as_they_say(self):
        def of(*initialisers):
            return model([node("Add", ["x", "w"], ["y"])], [port("x", [4])], [port("y", [4])], initialisers)

        short = field(1, 4) + field(2, 1) + field(8, "w") + field(9, b"\0" * 12)
        self.assertEqual(self.mistakes(of(short)), ["initialiser 'w': got 12 bytes, expected 4 elements of 4 bytes"])
        (told,) = self.mistakes(of(external_tensor("w", [4], "../w.bin", 0)))
        self.assertIn("expected a file in the model's folder or below it", told)
        self.write("w.bin", b"\0" * 15)
        (told,) = self.mistakes(of(external_tensor("w", [4], "w.bin", 0)))
        self.assertRegex(told, "external data: got 15 bytes in .*, expected 16 from byte 0 on")
        (told,) = self.mistakes(of(tensor("w", numpy.array([1, 2, numpy.inf, 4], "f4"))))
        self.assertIn("known tensor 'w': got element 2, which is not finite", told)
        self.assertIn("got more than", self.mistakes(of(external_tensor("w", [1 << 20, 1 << 20], "w.bin", 0)))[0])

    def test_a_wrong_command_line(self):
        self.write("m.onnx", b"")
        for arguments, told in ((["m.onnx"], "expected a model and a workload's file"),
                                (["m.onnx", "-o", "m.txt"], "expected a name that ends in .json"),
                                (["m.onnx", "-o", "m.json", "--size", "n"], "expected NAME=VALUE"),
                                (["m.onnx", "-o", "m.json", "--size", "n=0"], "expected a number from 1 on")):
            self.assertIn(told, self.tessera("import", *arguments, code=2).stderr)


if __name__ == "__main__":
    probe = subprocess.run([BINARY, "import", pathlib.Path(__file__), "-o", "no.json"], capture_output=True, text=True)
    if "no reader of ONNX" in probe.stderr:
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
