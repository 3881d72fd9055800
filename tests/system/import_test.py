#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tessera import` on the command line. Usage: import_test.py BINARY SOURCE_DIRECTORY"""

import importlib.util
import json
import math
import pathlib
import subprocess
import sys
import unittest

import numpy

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import BINARY, SOURCE, CliTest
from onnx_model import external_tensor, field, listed_tensor, model, node, port, tensor

SKIPPED = 77
RNG = numpy.random.default_rng(1)
BATCH, INPUTS, HIDDEN, OUTPUTS = 6, 20, 18, 10
CONFIG, IO = 3, 6


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

    def test_sizes_that_are_compared_and_chosen_are_known(self):
        rows, columns = 3, 4
        known = {"wish": numpy.array([-1, columns]), "minus": numpy.array(-1), "zero": numpy.array(0),
                 "step": numpy.array(1), "axis": numpy.array([0])}
        nodes = [node("Shape", ["x"], ["shape"]), node("Equal", ["wish", "minus"], ["open"]),
                 node("Where", ["open", "shape", "wish"], ["sizes"]), node("Expand", ["row", "sizes"], ["rows"]),
                 node("Gather", ["sizes", "zero"], ["count"]), node("Range", ["zero", "count", "step"], ["numbers"]),
                 node("Not", ["open"], ["closed"]), node("Or", ["open", "closed"], ["all"]),
                 node("Cast", ["all"], ["ones"], to=7), node("Mul", ["sizes", "ones"], ["again"]),
                 node("Max", ["again", "wish"], ["largest"]), node("Reshape", ["rows", "largest"], ["table"]),
                 node("Gather", ["table", "numbers"], ["y"])]
        self.import_model(model(nodes, [port("x", [rows, columns]), port("row", [1, columns])],
                                [port("y", [rows, columns])], [tensor(*one) for one in known.items()]))
        steps = json.loads((self.scratch / "m.json").read_text())["steps"]
        self.assertEqual({step["family"] for step in steps}, {"gather"})
        row = numbers(1, columns)
        self.assertEqual(self.run_model("y", row=row)["y"].tolist(), row.repeat(rows, axis=0).tolist())

    def test_names_are_letters_that_workloads_take(self):
        x = numbers(4)
        names = {"a b": "a_b", "c$d": "c_d", "é+x": "___x", "k-1": "k-1", "/m//n/": "m.n", "w" * 70: "w" * 60, "//": "tensor",
                 "/".join("abcdefghijklmnopqr"): ".".join("cdefghijklmnopqr")}
        outputs = list(names)
        self.import_model(model([node("Relu" if i % 2 else "Abs", ["x"], [name]) for i, name in enumerate(outputs)],
                                [port("x", [4])], [port(name, [4]) for name in outputs]))
        got = self.run_model(*names.values(), x=x)
        for i, name in enumerate(names.values()):
            self.assert_near(got[name], numpy.maximum(x, 0) if i % 2 else numpy.abs(x))

    def test_what_has_no_elements_joins_nothing(self):
        x = numbers(2, 3)
        for order in (["none", "x", "none", "x"], ["x", "none", "x", "none"], ["x", "x"]):
            self.import_model(model([node("Concat", order, ["y"], axis=0)], [port("x", [2, 3]), port("none", [0, 3])],
                                    [port("y", [4, 3])]))
            steps = json.loads((self.scratch / "m.json").read_text())["steps"]
            self.assertEqual([step["family"] for step in steps].count("concat"), 1)
            self.assert_near(self.run_model("y", x=x)["y"], numpy.concatenate([x, x]))

    def test_parts_of_a_shape_are_those_of_python(self):
        shape = [2, 3, 4]
        for start, end in ((0, 3), (-2, 100), (1, -1), (-100, 2), (2, 1), (3, 3), (0, -3)):
            with self.subTest(start=start, end=end):
                part = shape[start:end]
                wish = numpy.array([24 // math.prod(part)])
                nodes = [node("Shape", ["x"], ["part"], start=start, end=end), node("Concat", ["part", "wish"], ["sizes"], axis=0),
                         node("Reshape", ["x", "sizes"], ["y"])]
                self.import_model(model(nodes, [port("x", shape)], [port("y", [24])], [tensor("wish", wish)]))
                got = self.run_model("y", x=numbers(*shape))["y"]
                self.assertEqual(list(got.shape), [*part, *wish])

    def test_a_vector_that_is_added_to_a_product_is_its_bias(self):
        w, b = numbers(INPUTS, OUTPUTS), numbers(OUTPUTS)
        shape = [2, BATCH, INPUTS]
        for others in ([], ["p"]): # with the product as an output, it stays
            outputs = ["y", *others]
            data = model([node("MatMul", ["x", "w"], ["p"]), node("Add", ["b", "p"], ["y"])], [port("x", shape)],
                         [port(name, [2, BATCH, OUTPUTS]) for name in outputs], [tensor("w", w), tensor("b", b)])
            self.import_model(data)
            families = [step["family"] for step in json.loads((self.scratch / "m.json").read_text())["steps"]]
            self.assertEqual("bias" in families, bool(others))
            x = numbers(*shape)
            got = self.run_model(*outputs, x=x)
            self.assert_near(got["y"], x @ w + b)
            if others:
                self.assert_near(got["p"], x @ w)

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


class ExampleTest(ImportTest):
    LENGTH, HIDDEN, HEADS, INNER = 12, 16, 2, 24

    def test_the_encoder_layer_of_the_page(self):
        tool = SOURCE / "tools" / "onnx_example.py"
        subprocess.run([sys.executable, tool, self.scratch / "m.onnx", "--hidden", str(self.HIDDEN), "--heads",
                        str(self.HEADS), "--inner", str(self.INNER)], check=True)
        self.import_model((self.scratch / "m.onnx").read_bytes(), "--size", f"length={self.LENGTH}")
        specification = importlib.util.spec_from_file_location("onnx_example", tool)
        example = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(example)
        w = example.Layer(self.HIDDEN, self.HEADS, self.INNER).weights
        x = numbers(self.LENGTH, self.HIDDEN)

        def linear(rows, name):
            return rows @ w[name].astype(float) + w[name + "_bias"]

        def norm(rows):
            less = rows - rows.mean(axis=1, keepdims=True)
            return less / numpy.sqrt((less ** 2).mean(axis=1, keepdims=True) + example.EPSILON)

        q, k, v = (linear(x, name).reshape(self.LENGTH, self.HEADS, -1).transpose(1, 0, 2) for name in "qkv")
        p = numpy.exp(q @ k.transpose(0, 2, 1) / numpy.sqrt(self.HIDDEN / self.HEADS))
        mixed = (p / p.sum(axis=2, keepdims=True) @ v).transpose(1, 0, 2).reshape(self.LENGTH, self.HIDDEN)
        first = norm(x + linear(mixed, "out"))
        inner = linear(first, "up")
        grown = inner * 0.5 * (1 + numpy.vectorize(math.erf)(inner / numpy.sqrt(2)))
        self.assert_near(self.run_model("y", x=x)["y"], norm(first + linear(grown, "down")))


class NumbersTest(ImportTest):
    """Operators whose node models are run by tools/onnx_nodes.py have no cases here but those of other inputs."""

    def outcome(self, nodes, ports, outputs, initialisers=(), **values):
        """The outputs of a model of these nodes, by name."""
        self.import_model(model(nodes, ports, [port(name, [1]) for name in outputs], initialisers))
        return self.run_model(*outputs, **values)

    def test_numbers_below_0_count_from_the_end_while_the_model_runs(self):
        rows, columns = 5, 3
        table, ids = numbers(rows, columns), numpy.array([0, -1, 4, -5, 2], "i4")
        got = self.outcome([node("Gather", ["x", "i"], ["rows"]), node("OneHot", ["i", "depth", "both"], ["hot"]),
                            node("GatherElements", ["x", "e"], ["elements"], axis=0)],
                           [port("x", [rows, columns]), port("i", [5], 7), port("e", [2, columns], 7)],
                           ["rows", "hot", "elements"],
                           [tensor("depth", numpy.array(rows)), tensor("both", numpy.array([7, -9], "i4"))],
                           x=table, i=ids, e=numpy.array([[0, -1, 2], [-5, 4, -2]], "i4"))
        self.assertEqual(got["rows"].tolist(), table[ids].tolist())
        self.assertEqual(got["hot"].tolist(), numpy.where(numpy.eye(rows)[ids] == 1, -9, 7).tolist())
        self.assertEqual(got["elements"].tolist(),
                         numpy.take_along_axis(table, numpy.array([[0, 4, 2], [0, 4, 3]]), 0).tolist())

    def test_whole_numbers_have_as_many_bits_as_their_type(self):
        for number, kind in ((2, "u1"), (3, "i1"), (4, "u2"), (5, "i2"), (6, "i4"), (12, "u4")):
            with self.subTest(kind):
                limits = numpy.iinfo(kind)
                x = numpy.array([limits.max, limits.min, 7, 100], kind)
                y = numpy.array([limits.max, 1, 3, 100], kind)
                operators = ["Add", "Sub", "Mul", "Max", "Min", "Greater", "Equal"]
                operators += ["Div"] if limits.bits < 32 else []
                wide = "u4" if limits.min == 0 else "i4"
                got = self.outcome([node(operator, ["x", "y"], [operator]) for operator in operators],
                                   [port("x", [4], number), port("y", [4], number)], operators,
                                   x=x.astype(wide), y=y.astype(wide))
                with numpy.errstate(over="ignore"):
                    expected = {"Add": x + y, "Sub": x - y, "Mul": x * y, "Max": numpy.maximum(x, y),
                                "Min": numpy.minimum(x, y), "Greater": x > y, "Equal": x == y}
                if limits.bits < 32:
                    expected["Div"] = numpy.trunc(x.astype(float) / y).astype(kind)
                for operator, value in expected.items():
                    self.assertEqual(got[operator].tolist(), value.astype(wide).tolist(), operator)

    def test_doubles_are_fp32(self):
        x = RNG.uniform(-1, 1, 6)
        done = self.import_model(model([node("Mul", ["x", "c"], ["y"])], [port("x", [6], 11)], [port("y", [6], 11)],
                                       [tensor("c", numpy.array(0.1))]))
        self.assertIn("DOUBLE is f32: c, x, y", done.stdout)
        self.assert_near(self.run_model("y", x=x.astype("f4"))["y"], 0.1 * x)

    def test_comparisons_choose_elements(self):
        x, y = numbers(4, 6), numbers(6)
        y[2] = x[1, 2]
        got = self.outcome([node("Greater", ["x", "y"], ["c"]), node("Where", ["c", "x", "y"], ["larger"]),
                            node("Not", ["c"], ["n"]), node("Cast", ["x"], ["t"], to=9), node("Clip", ["x", "a"], ["clipped"])],
                           [port("x", [4, 6]), port("y", [6])], ["c", "larger", "n", "t", "clipped"],
                           [tensor("a", numpy.array(0.25, "f4"))], x=x, y=y)
        self.assertEqual(got["c"].tolist(), (x > y).astype(int).tolist())
        self.assertEqual(got["larger"].tolist(), numpy.maximum(x, y).tolist())
        self.assertEqual(got["n"].tolist(), (x <= y).astype(int).tolist())
        self.assertEqual(got["t"].tolist(), (x != 0).astype(int).tolist())
        self.assertEqual(got["clipped"].tolist(), numpy.maximum(x, numpy.float32(0.25)).tolist())

    def test_a_convolution_in_groups_behind_a_pool(self):
        batch, channels, size, groups, outputs, kernel = 2, 4, 8, 2, 6, 3
        x, w, b = numbers(batch, channels, size, size), numbers(outputs, channels // groups, kernel, kernel), numbers(outputs)
        got = self.outcome([node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
                            node("Conv", ["p", "w", "b"], ["y"], group=groups, pads=[1, 1, 1, 1], strides=[2, 1])],
                           [port("x", list(x.shape))], ["y"], [tensor("w", w), tensor("b", b)], x=x)["y"]
        pooled = x.reshape(batch, channels, size // 2, 2, size // 2, 2).max(axis=(3, 5))
        padded = numpy.pad(pooled, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = numpy.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(2, 3))[:, :, ::2]
        windows = windows.reshape(batch, groups, channels // groups, *windows.shape[2:])
        expected = numpy.einsum("ngchwij,gocij->ngohw", windows, w.reshape(groups, -1, *w.shape[1:]))
        self.assert_near(got, expected.reshape(batch, outputs, *expected.shape[3:]) + b[:, None, None])

    def test_sums_go_along_an_axis_from_either_end(self):
        x = numbers(3, 4)
        cases = [(axis, exclusive, reverse) for axis in (0, 1) for exclusive in (0, 1) for reverse in (0, 1)]
        got = self.outcome([node("CumSum", ["x", f"axis{axis}"], [f"y{axis}{exclusive}{reverse}"], exclusive=exclusive, reverse=reverse)
                            for axis, exclusive, reverse in cases] + [node("Sum", ["x", "x", "x"], ["three"]), node("Sum", ["x"], ["one"])],
                           [port("x", [3, 4])], [f"y{axis}{exclusive}{reverse}" for axis, exclusive, reverse in cases] + ["three", "one"],
                           [tensor(f"axis{axis}", numpy.array(axis)) for axis in (0, 1)], x=x)
        for axis, exclusive, reverse in cases:
            ordered = numpy.flip(x, axis) if reverse else x
            sums = ordered.cumsum(axis) - (ordered if exclusive else 0)
            numpy.testing.assert_allclose(got[f"y{axis}{exclusive}{reverse}"], numpy.flip(sums, axis) if reverse else sums, atol=1e-5)
        self.assert_near(got["three"], 3 * x)
        self.assert_near(got["one"], x)

    def test_known_numbers_are_compared_and_taken_to_powers(self):
        (told,) = self.mistakes(model([node("Pow", ["x", "q"], ["y"])], [port("x", [3], 6)], [port("y", [3])],
                                      [tensor("q", numpy.array(0.5, "f4"))]))
        self.assertIn("got whole numbers to a power that is none", told)
        x = numpy.array([2, -3, 5], "i4")
        known = {"a": numpy.array([2, 9]), "b": numpy.array([6, 3]), "p": numpy.array([3, 2, 0]), "half": numpy.array(2.0, "f4")}
        got = self.outcome([node("Min", ["a", "b"], ["least"]), node("Max", ["a", "b"], ["most"]), node("Reshape", ["t", "least"], ["y"]),
                            node("Reshape", ["u", "most"], ["z"]), node("Pow", ["x", "p"], ["powers"]), node("Pow", ["x", "half"], ["squares"])],
                           [port("x", [3], 6), port("t", [6]), port("u", [54])], ["y", "z", "powers", "squares"],
                           [tensor(*one) for one in known.items()], x=x, t=numbers(6), u=numbers(54))
        self.assertEqual((got["y"].shape, got["z"].shape), ((2, 3), (6, 9)))
        self.assertEqual(got["powers"].tolist(), [8, 9, 1])
        self.assertEqual(got["squares"].tolist(), [4, 9, 25])

    def test_elements_are_gathered_along_each_axis(self):
        x = numbers(3, 4, 5)
        ids = {axis: numpy.array([size - 1, 0, 1, -2]) for axis, size in enumerate(x.shape)}
        known = {axis: numpy.stack([numpy.full((2, 2), number) for number in (1, 0, -1)], axis) for axis in range(3)}
        nodes, outputs = [], []
        for axis in range(3):
            for operator, indices in (("Gather", f"i{axis}"), ("GatherElements", f"k{axis}"), ("GatherElements", f"d{axis}")):
                outputs.append(operator.lower() + indices)
                nodes.append(node(operator, ["x", indices], [outputs[-1]], axis=axis))
        got = self.outcome(nodes, [port("x", list(x.shape)), *(port(f"i{axis}", [4], 7) for axis in range(3)),
                                   *(port(f"d{axis}", list(known[axis].shape), 7) for axis in range(3))], outputs,
                           [tensor(f"k{axis}", known[axis]) for axis in range(3)], x=x,
                           **{f"i{axis}": ids[axis].astype("i4") for axis in range(3)},
                           **{f"d{axis}": known[axis].astype("i4") for axis in range(3)})
        for axis in range(3):
            self.assertEqual(got[f"gatheri{axis}"].tolist(), x.take(ids[axis], axis).tolist())
            expected = numpy.take_along_axis(x[tuple(slice(0, size if at == axis else 2) for at, size in enumerate(x.shape))],
                                             known[axis] % x.shape[axis], axis)
            for name in "kd":
                self.assertEqual(got[f"gatherelements{name}{axis}"].tolist(), expected.tolist(), (name, axis))

    def test_values_of_one_hot_have_bits_for_their_difference(self):
        most = 1 << 23
        for values in ([most, 0], [0, -most], [most + 1, 0], [0, most + 1], [-most - 1, 3]):
            with self.subTest(values):
                data = model([node("OneHot", ["i", "n", "both"], ["y"])], [port("i", [3], 7)], [port("y", [3, 3])],
                             [tensor("n", numpy.array(3)), tensor("both", numpy.array(values, "i4"))])
                if max(map(abs, values)) > most:
                    self.assertIn("of more than 23 bits", self.mistakes(data)[0])
                else:
                    self.import_model(data)
                    got = self.run_model("y", i=numpy.array([0, 1, 2], "i4"))["y"]
                    self.assertEqual(got.tolist(), numpy.where(numpy.eye(3) == 1, values[1], values[0]).tolist())
                    for file in ("m.json", "m.safetensors"):
                        (self.scratch / file).unlink(missing_ok=True)

    def test_sizes_of_1_go_where_axes_name_them(self):
        x = numbers(1, 3, 1)
        got = self.outcome([node("Squeeze", ["x", "first"], ["y"]), node("Squeeze", ["x"], ["z"])], [port("x", [1, 3, 1])], ["y", "z"],
                           [tensor("first", numpy.array([0]))], x=x)
        self.assertEqual((got["y"].shape, got["z"].shape), ((3, 1), (3,)))

    def test_pads_are_those_of_numpy(self):
        x = numbers(3, 4)
        pads = numpy.array([1, 2, 2, 0])  # before each axis, then behind it
        modes = ("constant", "edge", "reflect")
        got = self.outcome([node("Pad", ["x", "pads"], [mode], mode=mode) for mode in modes], [port("x", [3, 4])], list(modes),
                           [tensor("pads", pads)], x=x)
        for mode in modes:
            self.assertEqual(got[mode].tolist(), numpy.pad(x, [(1, 2), (2, 0)], mode=mode).tolist(), mode)

    def test_the_least_sizes_of_operators_on_images(self):
        one, row = numbers(1, 1, 1), numbers(1, 2, 5)
        w, single, deep, each = numbers(3, 2, 2), numbers(1, 1, 1), numbers(1, 4, 2, 2), numbers(2, 1, 2)
        batch = numbers(6, 3)  # of channels without places
        vectors = [tensor(name, numpy.full(3, value, "f4")) for name, value in (("ones", 1), ("zeros", 0))]
        got = self.outcome([node("Conv", ["row", "w"], ["rows"]), node("Conv", ["row", "each"], ["depthwise"], group=2),
                            node("BatchNormalization", ["batch", "ones", "zeros", "zeros", "ones"], ["normal", "mean", "v"], training_mode=1,
                                 epsilon=1e-5), node("Conv", ["one", "single"], ["point"]),
                            node("DepthToSpace", ["deep"], ["depth"], blocksize=1), node("SpaceToDepth", ["deep"], ["space"], blocksize=1),
                            node("DepthToSpace", ["deep"], ["spread"], blocksize=2)],
                           [port("row", list(row.shape)), port("one", list(one.shape)), port("deep", list(deep.shape)), port("batch", [6, 3])],
                           ["rows", "depthwise", "normal", "point", "depth", "space", "spread"],
                           [tensor("w", w), tensor("single", single), tensor("each", each), *vectors], row=row, one=one, deep=deep, batch=batch)
        windows = numpy.lib.stride_tricks.sliding_window_view(row[0], 2, axis=1)
        self.assert_near(got["rows"], numpy.einsum("cxi,oci->ox", windows, w)[None])
        self.assert_near(got["depthwise"], numpy.einsum("cxi,ci->cx", windows, each[:, 0])[None])
        self.assert_near(got["normal"], (batch - batch.mean(axis=0)) / numpy.sqrt(batch.var(axis=0) + 1e-5))
        self.assert_near(got["point"], one * single)
        self.assert_near(got["depth"], deep)
        self.assert_near(got["space"], deep)
        self.assert_near(got["spread"], deep.reshape(1, 2, 2, 1, 2, 2).transpose(0, 3, 4, 1, 5, 2).reshape(1, 1, 4, 4))

    def test_half_types_take_constants_rounded_to_them(self):
        x = numpy.linspace(-3, 3, 24).astype("f2")
        got = self.outcome([node("HardSigmoid", ["x"], ["h"]), node("Elu", ["x"], ["e"], alpha=0.3)],
                           [port("x", [24], 10)], ["h", "e"], x=x)
        wide = x.astype(float)
        numpy.testing.assert_allclose(got["h"], numpy.clip(0.2 * wide + 0.5, 0, 1), rtol=0, atol=2e-3)
        numpy.testing.assert_allclose(got["e"], numpy.where(wide > 0, wide, 0.3 * (numpy.exp(wide) - 1)), rtol=0,
                                      atol=2e-3)

    def test_casts_between_whole_numbers_keep_the_bits_of_the_type(self):
        x, u = numpy.array([-1, -128, 5, 127], "i1"), numpy.array([200, 255, 5, 127], "u1")
        got = self.outcome([node("Cast", ["x"], ["a"], to=2), node("Cast", ["x"], ["b"], to=4),
                            node("Cast", ["u"], ["c"], to=3), node("Cast", ["u"], ["d"], to=5),
                            node("Cast", ["a"], ["e"], to=1)],
                           [port("x", [4], 3), port("u", [4], 2)], list("abcde"), x=x.astype("i4"), u=u.astype("u4"))
        for name, expected in {"a": x.astype("u1"), "b": x.astype("u2"), "c": u.astype("i1"), "d": u.astype("i2"),
                               "e": x.astype("u1")}.items():
            self.assertEqual(got[name].tolist(), expected.tolist(), name)

    def test_moving_means_keep_their_own_types(self):
        x = numbers(4, 2)
        for kinds in (("f2", "f4"), ("f4", "f2")):
            self.import_model(model([node("BatchNormalization", ["x", "ones", "ones", "mean", "variance"], ["y", "m", "v"], training_mode=1)],
                                    [port("x", [4, 2])], [port(name, [2]) for name in "mv"],
                                    [tensor("ones", numpy.ones(2, "f4")), tensor("mean", numpy.ones(2, kinds[0])),
                                     tensor("variance", numpy.ones(2, kinds[1]))]))
            got = self.run_model("m", "v", x=x)
            self.assertEqual(tuple(got[name].dtype.str[1:] for name in "mv"), kinds)

    def test_half_types_are_summed_in_fp32(self):
        count, large = 1024, 1000 # of which the sum and the squares are no numbers of FP16
        x = numpy.full((1, 2, count), large, "f2")
        x[0, :, ::2] = -large
        images = numpy.full((1, 1, 4, 4), 60000, "f2")
        channels = numpy.zeros((1, 64, 4, 4), "f2")  # of each place, far apart: 60000 + 60000 - 60000
        channels[:, [0, 24, 48]] = numpy.array([60000, 60000, -60000], "f2")[:, None, None]
        ones = [tensor(name, numpy.full(2, value, "f2")) for name, value in (("one", 1), ("zero", 0), ("v", 0))]
        got = self.outcome([node("Abs", ["x"], ["size"]), node("ReduceMean", ["size"], ["mean"], axes=[2]),
                            node("GlobalAveragePool", ["size"], ["pool"]),
                            node("ReduceL2", ["size"], ["length"], axes=[2]),
                            node("InstanceNormalization", ["x", "one", "zero"], ["instance"]),
                            node("BatchNormalization", ["x", "one", "zero", "v", "one"], ["batch", "m", "n"],
                                 training_mode=1),
                            node("MeanVarianceNormalization", ["x"], ["normal"], axes=[2]),
                            node("AveragePool", ["i"], ["window"], kernel_shape=[2, 2]),
                            node("Mean", ["i", "i"], ["both"]), node("Conv", ["c", "w"], ["convolution"])],
                           [port("x", list(x.shape), 10), port("i", list(images.shape), 10), port("c", list(channels.shape), 10)],
                           ["mean", "pool", "length", "instance", "batch", "normal", "window", "both", "convolution"],
                           [*ones, tensor("w", numpy.ones((1, 64, 1, 1), "f2"))], x=x, i=images, c=channels)
        self.assertEqual(set(got["convolution"].ravel()), {images[0, 0, 0, 0]})
        for name in ("mean", "pool"):
            self.assertEqual(got[name].ravel().tolist(), [large] * 2)
        for name in ("window", "both"):
            self.assertEqual(set(got[name].ravel()), {images[0, 0, 0, 0]})
        self.assertEqual(got["length"].ravel().tolist(), [large * math.isqrt(count)] * 2)
        for name in ("instance", "batch", "normal"):
            numpy.testing.assert_allclose(got[name], x / numpy.float16(large), rtol=2e-3)

    def test_a_number_is_added_to_a_product_of_one_column(self):
        a, b = numbers(BATCH, INPUTS), numbers(INPUTS, 1)
        got = self.outcome([node("Gemm", ["a", "b", "c"], ["y"])], [port("a", [BATCH, INPUTS])], ["y"],
                           [tensor("b", b), tensor("c", numpy.float32(3))], a=a)["y"]
        self.assert_near(got, a @ b + 3)

    def test_numbers_without_sizes_stay_so(self):
        x, table = numbers(4, 3), numbers(5, 3)
        scalars = [node("Reciprocal", ["m"], ["r"]), node("Erf", ["m"], ["e"]), node("Softsign", ["m"], ["s"])]
        got = self.outcome([node("ReduceMean", ["x"], ["m"], keepdims=0), *scalars,
                            *(node("Shape", [name], [name + "_sizes"]) for name in "res"),
                            node("Neg", ["one"], ["n"]), node("Gather", ["table", "n"], ["last"]),
                            node("Shape", ["last"], ["last_sizes"]), node("ConstantOfShape", ["none"], ["zero"]),
                            node("Shape", ["zero"], ["zero_sizes"]),
                            node("Concat", [name + "_sizes" for name in (*"res", "last", "zero")], ["sizes"], axis=0)],
                           [port("x", [4, 3]), port("table", [5, 3])], [*"res", "last", "sizes"],
                           [tensor("one", numpy.array(1)), tensor("none", numpy.zeros(0, "i8"))], x=x, table=table)
        mean = float(x.mean())
        for name, expected in {"r": 1 / mean, "e": math.erf(mean), "s": mean / (1 + abs(mean))}.items():
            self.assert_near(got[name], [expected])
        self.assertEqual(got["last"].tolist(), table[-1].tolist())
        self.assertEqual(got["sizes"].tolist(), [3])

    def test_functions_of_half_types_go_by_fp32(self):
        x = numpy.array([-1000, -300, -2, -0.5, 0.1, 0.3, 2, 300, 1000], "f2")
        most = float(numpy.finfo("f4").max)
        self.import_model(model([node("Erf", ["x"], ["e"]), node("Clip", ["x"], ["c"], min=-most, max=6.0)],
                                [port("x", [9], 10)], [port("e", [9], 10), port("c", [9], 10)], opset=10))
        got = self.run_model("e", "c", x=x)
        numpy.testing.assert_allclose(got["e"], [math.erf(one) for one in x], rtol=1e-3)
        self.assertEqual(got["c"].tolist(), numpy.minimum(x, 6).tolist())

    def test_slopes_of_older_operator_sets_are_of_channels(self):
        x, slopes = numbers(1, 3, 3, 3), numpy.array([1, 2, 3], "f4")
        self.import_model(model([node("PRelu", ["x", "s"], ["y"])], [port("x", list(x.shape))],
                                [port("y", list(x.shape))], [tensor("s", slopes)], opset=6))
        self.assert_near(self.run_model("y", x=x)["y"], numpy.where(x > 0, x, slopes[:, None, None] * x))

    def test_a_power_of_0_is_1_and_a_list_of_no_axes_names_all(self):
        x = numpy.array([-1, 0, 1, 2], "f4")
        got = self.outcome([node("Pow", ["x", "zero"], ["ones"]), node("Add", ["x", "ones"], ["y"]),
                            node("ReduceLogSumExp", ["x"], ["l"], axes=[])],
                           [port("x", [4])], ["y", "l"], [tensor("zero", numpy.float32(0))], x=x)
        self.assert_near(got["y"], x + 1)
        self.assert_near(got["l"], [numpy.log(numpy.exp(x).sum())])

    def test_a_pool_far_beyond_the_edges(self):
        far, size = 1000, 5
        x = numbers(1, 1, size)
        got = self.outcome([node("MaxPool", ["x"], ["y"], kernel_shape=[far], pads=[far - 1, far - 1], dilations=[2],
                                 strides=[far])], [port("x", list(x.shape))], ["y"], x=x)["y"]
        places = far * numpy.arange(len(got.ravel()))[:, None] + 2 * numpy.arange(far) - (far - 1)
        padded = numpy.where((places >= 0) & (places < size), x.ravel()[places.clip(0, size - 1)], -numpy.inf)
        self.assertEqual(got.ravel().tolist(), padded.max(axis=1).tolist())

    def test_losses_of_half_types_are_summed_in_fp32(self):
        rows, classes, loss = 2048, 4, 40
        x = numpy.full((rows, classes), -loss, "f2")
        got = self.outcome([node("NegativeLogLikelihoodLoss", ["x", "t"], ["y"])],
                           [port("x", [rows, classes], 10), port("t", [rows], 7)], ["y"], x=x,
                           t=numpy.arange(rows, dtype="i4") % classes)["y"]
        self.assertEqual(got.tolist(), [loss])


class ReaderTest(ImportTest):
    """What a file says, however it says it."""
    FLOAT, BFLOAT16 = 1, 16

    def known(self):
        """The elements of the only known tensor."""
        data = (self.scratch / "m.safetensors").read_bytes()
        head = int.from_bytes(data[:8], "little")
        return numpy.frombuffer(data[8 + head:], "<f4").tolist()

    def test_elements_of_every_type_are_bytes_or_a_list(self):
        for dtype, values in (("f4", [0.1, -2]), ("f8", [0.5, -2]), ("f2", [0.5, -65504]), ("?", [True, False]),
                              ("u1", [255, 1]), ("i1", [-128, 127]), ("u2", [65535, 1]), ("i2", [-32768, 32767]),
                              ("i4", [-1 << 31, 7]), ("u4", [1 << 31, 7]), ("i8", [-1 << 40, 7]), ("u8", [1 << 40, 7])):
            elements = numpy.array(values, dtype)
            for write in (tensor, listed_tensor):
                with self.subTest(dtype, write=write.__name__):
                    self.import_model(model([node("Cast", ["c"], ["y"], to=self.FLOAT)], [], [port("y", [2])], [write("c", elements)]))
                    self.assertEqual(self.known(), elements.astype("f4").tolist())
        bits = numpy.array([0x3fc0, 0xc040], "u2")
        self.import_model(model([node("Cast", ["c"], ["y"], to=self.FLOAT)], [], [port("y", [2])],
                                [listed_tensor("c", bits, self.BFLOAT16)]))
        self.assertEqual(self.known(), [1.5, -3])

    def test_attributes_are_read_by_their_kind(self):
        for value, expected in ((tensor("", numpy.array([3, 4], "f4")), [3, 4]), ([0.5, -2.0], [0.5, -2])):
            key = "value" if isinstance(value, bytes) else "value_floats"
            self.import_model(model([node("Constant", [], ["y"], **{key: value})], [], [port("y", [2])]))
            self.assertEqual(self.known(), expected)
        for key, value in (("value_int", 3), ("value_float", 3.0), ("value_ints", [3])):
            self.import_model(model([node("Constant", [], ["c"], **{key: value}), node("Cast", ["c"], ["y"], to=self.FLOAT)], [],
                                    [port("y", [1])]))
            self.assertEqual(self.known(), [3])

    def test_tensors_that_are_refused(self):
        def of(*initialisers, **more):
            return model([node("Add", ["x", "w"], ["y"])], [port("x", [4])], [port("y", [4])], initialisers, **more)

        good = tensor("w", numbers(4))
        for kind, name in ((8, "STRING"), (14, "COMPLEX64"), (15, "COMPLEX128"), (17, "type 17"), (0, "type 0")):
            self.assertEqual(self.mistakes(of(field(1, 4) + field(2, kind) + field(8, "w") + field(9, bytes(16)))),
                             [f"initialiser 'w': elements of {name}, expected numbers or truth values"])
        self.assertEqual(self.mistakes(of(good + field(3, field(1, 0) + field(2, 4)))),
                         ["initialiser 'w': got a segment of a tensor, expected a whole one"])
        self.assertEqual(self.mistakes(of(good, tensor("w", numbers(4)))), ["initialiser 'w': is given twice"])
        self.assertEqual(self.mistakes(of(field(1, 4) + field(2, 1) + field(9, bytes(15)), good)),
                         ["initialiser without a name: got 15 bytes, expected 4 elements of 4 bytes"])
        self.assertEqual(self.mistakes(of(good, more=field(15, field(1, tensor("s", numbers(1)))))),
                         ["initialiser 's': got a sparse tensor, expected a dense one"])
        short = field(1, 4) + field(2, 1) + field(9, bytes(12))
        self.assertEqual(self.mistakes(model([node("Constant", [], ["y"], name="n", value=short),
                                              node("Constant", [], ["z"], value=short)], [], [port("y", [4])])),
                         [f"node {name} (Constant): attribute 'value': got 12 bytes, expected 4 elements of 4 bytes"
                          for name in ("'n'", "without a name")])

    def test_domains_and_inputs(self):
        x = numbers(4)
        relu = node("Relu", ["x"], ["y"])
        port_of_x = [port("x", [4]), port("w", [4])] # the second one is an initialiser too
        self.import_model(model([relu + field(7, "ai.onnx"), node("Add", ["y", "w"], ["z"])], port_of_x, [port("z", [4])],
                                [tensor("w", x)]))
        self.assert_near(self.run_model("z", x=x)["z"], numpy.maximum(x, 0) + x)
        graph = field(7, field(1, relu) + field(11, port("x", [4])) + field(12, port("y", [4])))

        def sets(*domains):
            return field(1, 8) + graph + b"".join(field(8, (field(1, domain) if domain else b"") + field(2, version))
                                                  for domain, version in domains)

        self.import_model(sets(("com.acme", 99), ("ai.onnx", 17)))
        self.import_model(sets(("", 17), ("com.acme", 99)))
        for name in ("m.json", "m.safetensors"):
            (self.scratch / name).unlink(missing_ok=True)
        (told,) = self.mistakes(sets(("com.acme", 1), ("ai.onnx", 18)))
        self.assertEqual(told, "got operator set 18, expected at most 17; export the model with an older one")
        for data in (field(1, 8) + graph, field(1, 8) + field(8, field(2, 17))):
            (told,) = self.mistakes(data)
            self.assertEqual(told, "got no graph and operator set, expected an ONNX model; the file may be truncated, or none of ONNX")
        sequence = field(1, "x") + field(2, field(4, b""))
        self.assertEqual(self.mistakes(model([relu], [sequence], [port("y", [4])])), ["input 'x': got no tensor, expected one"])

    def test_files_in_folders_below_the_model(self):
        w = numbers(4)
        (self.scratch / "sub").mkdir()
        self.write("sub/w.bin", w.tobytes()) # no byte more
        for location, options in (("sub/w.bin", {}), ("./sub/w.bin", {"length": 16})):
            self.import_model(model([], [], [port("w", [4])], [external_tensor("w", w.shape, location, 0, **options)]))
            self.assertEqual(self.known(), w.tolist())
        # what has no elements may begin where its file ends, and no later
        for offset, code in ((len(w.tobytes()), 0), (len(w.tobytes()) + 1, CONFIG)):
            self.import_model(model([node("Concat", ["w", "none"], ["y"], axis=0)], [], [port("y", [4])],
                                    [tensor("w", w), external_tensor("none", [0], "sub/w.bin", offset)]), code=code)
        (self.scratch / "m.json").unlink()
        (self.scratch / "m.safetensors").unlink()
        for location in ("sub/../sub/w.bin", ".."):
            self.assertEqual(self.mistakes(model([], [], [port("w", [4])], [external_tensor("w", w.shape, location, 0)])),
                             [f"initialiser 'w': external data: location: got '{location}', expected a file in the model's folder "
                              "or below it"])

    def test_what_was_written_is_told(self):
        data = model([node("MatMul", ["a/b", "w"], ["p"]), node("Add", ["p", "b"], ["y"]), node("Relu", ["p"], ["r"])],
                     [port("a/b", [2, 30])], [port("y", [2, 30]), port("r", [2, 30])],
                     [tensor("w", numbers(30, 30)), tensor("b", numbers(30))])
        self.assertEqual(self.import_model(data).stdout,
                         "m.json: 3 steps of 3 nodes\nm.safetensors: 2 tensors of 3,720 bytes\n"
                         "inputs: a.b ('a/b')\noutputs: y, r\n")
        one = model([node("Mul", ["x", "c"], ["y"])], [port("x", [2], 11)], [port("y", [2], 11)], [tensor("c", numpy.array([2.0, 3.0]))])
        self.assertEqual(self.import_model(one).stdout,
                         "m.json: 1 step of 1 node\nm.safetensors: 1 tensor of 8 bytes\nDOUBLE is f32: c, x, y\n"
                         "inputs: x\noutputs: y\n")
        self.assertEqual(self.import_model(model([node("Constant", [], ["y"], value_ints=[1, 2])], [], [port("y", [2])])).stdout,
                         "m.json: 1 step of 1 node\nm.safetensors: 1 tensor of 8 bytes\ninputs: none\noutputs: y\n")
        self.assertEqual(self.import_model(one, "-q").stdout, "")


class MistakesTest(ImportTest):
    def test_ten_unknown_operators_are_all_named(self):
        nodes = [node(f"Unknown{i}", ["x" if i == 0 else f"t{i - 1}"], [f"t{i}"], name=f"/layer.{i}")
                 for i in range(10)]
        told = self.mistakes(model(nodes, [port("x", [4])], [port("t9", [4])]))
        self.assertEqual(told, [f"node '/layer.{i}' (Unknown{i}): no family has this operator" for i in range(10)])

    def test_operators_and_attributes_and_types_that_are_refused(self):
        nodes = [node("If", ["x"], ["a"]), node("Dropout", ["x", "", "t"], ["b"]),
                 node("Relu", ["x"], ["c"], slope=2), node("Relu", ["d"], ["e"]),
                 node("Div", ["i", "i"], ["f"]), node("MatMul", ["x", "w"], ["g"], name="product")]
        told = self.mistakes(model(nodes, [port("x", [4]), port("d", [4], 16), port("i", [4], 6)],
                                   [port(name, [4]) for name in "abcefg"],
                                   [tensor("t", numpy.array(True)), tensor("w", numbers(3, 2))]))
        self.assertEqual(told, [
            "node that makes 'a' (If): control flow is not translated",
            "node that makes 'b' (Dropout): in training, which draws random numbers",
            "node that makes 'c' (Relu): attribute 'slope' is not translated",
            "node that makes 'e' (Relu): 'd' has elements of BFLOAT16, expected FLOAT or FLOAT16",
            "node that makes 'f' (Div): 'i' has whole numbers of more than 16 bits, and no family divides them",
            "node 'product' (MatMul): got 1 x 4 and 3 x 2, which do not go together"])

    def test_a_name_is_written_once(self):
        for nodes in ([node("Relu", ["x"], ["y"]), node("Tanh", ["x"], ["y"])], [node("Relu", ["x"], ["x"]), node("Relu", ["x"], ["y"])]):
            name = "y" if len(nodes) == 2 and b"Tanh" in nodes[1] else "x"
            told = self.mistakes(model(nodes, [port("x", [4])], [port("y", [4])]))
            self.assertEqual([line.partition(": ")[2] for line in told], [f"writes '{name}', which there is already"])

    def test_numbers_that_no_tensor_has(self):
        most = (1 << 63) - 1
        none = numpy.zeros(0, "f4")
        cases = [
            (17, node("Reshape", ["x", "c"], ["y"]), [1 << 40, 1 << 40, -1], "got a size of 1099511627776"),
            (11, node("Split", ["x"], ["y", "z"], split=[most, most]), 0, "got parts of"),
            (10, node("Pad", ["x"], ["y"], pads=[-most - 1, most]), 0, "got a pad of more elements than a tensor has"),
            (17, node("Slice", ["x", "c", "c", "c", "s"], ["y"]), [0], "got a step of 0"),
            (17, node("OneHot", ["i", "n", "both"], ["y"]), 0, "got no depth"),
            (17, node("OneHot", ["i", "nan", "both"], ["y"]), 0, "got no depth"),
            (17, node("Dropout", ["x", "n"], ["y"]), 0, "input 1 has 0 elements, expected one"),
            (17, node("LeakyRelu", ["x"], ["y"], alpha=math.nan), 0, "factor of scale is no finite number"),
            (17, node("Mul", ["c", "c"], ["y"]), [1 << 52], "a known number becomes one that its type does not have"),
            (17, node("DepthToSpace", ["x"], ["y"], blocksize=1 << 32), 0, "got blocks of 4294967296"),
            (17, node("TopK", ["x", "c"], ["y", "z"]), [most], "got k"),
            (17, node("Range", ["zero", "c", "step"], ["y"]), [1 << 40], "e+25 numbers"),
            (17, node("Range", ["zero", "c", "one"], ["y"]), [1 << 28], "got 268435456 numbers"),
            (17, node("Gather", ["x", "c"], ["y"]), [most], "of 4"),
            (17, node("MaxPool", ["images"], ["y"], kernel_shape=[most]), 0, "attribute 'kernel_shape' is"),
            (17, node("Conv", ["images", "w"], ["y"], group=most), 0, "groups"),
            (17, node("MaxPool", ["images"], ["y"], kernel_shape=[1 << 27], pads=[1 << 27] * 2), 0, "got more than"),
            (17, node("Tile", ["table", "c"], ["y"]), [1 << 20, 1 << 20], "got more than 268435456 elements"),
            (10, node("Pad", ["s"], ["y"], pads=[1 << 27, 1 << 27]), 0, "got a size of 268435457"),
            (17, node("Trilu", ["x", "c"], ["y"]), [1], "got no matrix and one number of a diagonal"),
            (17, node("CumSum", ["x", "c"], ["y"]), [0, 0], "got no axis"),
            (10, node("Pad", ["x"], ["y"], pads=[4, 0], mode="reflect"), 0, "reflects more than 4 elements"),
            (17, node("Reshape", ["x", "c"], ["y"]), [4, 0], "size 1 is 0, and x has none there"),
        ]
        known = {"n": none, "nan": numpy.float32(math.nan), "both": numpy.array([0, 1], "f4"), "s": numpy.array([0]),
                 "zero": numpy.array(0, "f4"), "step": numpy.array(1e-13, "f4"), "one": numpy.array(1, "f4"), "w": numbers(2, 2, 3),
                 "table": numbers(1, 1)}
        for opset, one, constant, expected in cases:
            with self.subTest(expected):
                elements = numpy.array(constant, "f4" if expected.endswith("numbers") else "i8").reshape(
                    () if expected.endswith("numbers") else -1)
                told = self.mistakes(model([one], [port("x", [4]), port("i", [4], 7), port("images", [1, 2, 8])],
                                           [port("y", [4])],
                                           [tensor(*entry) for entry in {**known, "c": elements}.items()], opset))
                self.assertEqual(len(told), 1)
                self.assertIn(expected, told[0])

    def test_a_tensor_has_at_most_so_many_elements(self):
        most = 1 << 28
        for shape, told in (([most], None), ([most + 1], f"got a size of {most + 1}, expected 0..{most}"),
                            ([2, most // 2], None), ([2, most // 2 + 1], f"got more than {most} elements"),
                            ([0, most, 1], None), ([0, most, 2], f"got more than {most} elements")):
            with self.subTest(shape):
                read = model([node("Relu", ["x"], ["y"])], [port("x", shape)], [port("y", shape)])
                if told:
                    self.assertIn(told, "".join(self.mistakes(read)))
                elif 0 in shape: # it may be of that size, but no step takes a tensor without elements
                    self.assertNotIn("got", "".join(self.mistakes(read)))
                else:
                    self.import_model(read)
                    (self.scratch / "m.json").unlink()

    def test_sizes_that_do_not_go_together(self):
        known = {"c": numpy.float32(1), "w": numpy.ones((0, 3), "f4"), "i": numpy.array([[3]]),
                 "i3": numpy.zeros((3, 1), "i8"), "i0": numpy.zeros((0, 1), "i8"), "l": numpy.array([0, 0]), "e": numpy.zeros(0, "f4"),
                 "c8": numpy.array(2), "filters": numpy.ones((1, 1, 2, 2), "f4"), "n": numpy.array(3),
                 "far": numpy.array([1e8, 1], "f4")}
        cases = [
            (node("ScatterND", ["x", "i", "long"], ["y"]), "got updates of 1 x 8, expected 1 x 4"),
            (node("ScatterND", ["x", "i", "short"], ["y"]), "got updates of 1 x 2, expected 1 x 4"),
            (node("Add", ["none", "c"], ["y"]), "'none' has no elements (2 x 0)"),
            (node("Add", ["c", "e"], ["y"]), "'e' has no elements (0)"),
            (node("MatMul", ["none", "w"], ["y"]), "'none' has no elements (2 x 0)"),
            (node("Gemm", ["none", "w"], ["y"]), "'none' has no elements (2 x 0)"),
            (node("ReverseSequence", ["none", "l"], ["y"], batch_axis=0, time_axis=1), "'none' has no elements"),
            (node("InstanceNormalization", ["none3", "c", "c"], ["y"]), "'none3' has no elements"),
            (node("SpaceToDepth", ["none4"], ["y"], blocksize=1 << 62), "'none4' has no elements"),
            (node("GatherND", ["none", "i0"], ["y"]), "'none' has no elements"),
            (node("GatherND", ["row", "i3"], ["y"], batch_dims=1), "got indices of 3 x 1 for 1 x 4"),
            (node("GatherND", ["c", "i3"], ["y"], batch_dims=1), "got indices of 3 x 1 for no sizes"),
            (node("GatherND", ["x", "w"], ["y"]), "got indices of 0 x 3 for 4 x 4"),
            (node("LayerNormalization", ["x", ""], ["y"]), "input 1 is not there"),
            (node("Where", ["b", "x", "c8"], ["y"]), "got FLOAT and i64, expected one type"),
            (node("Conv", ["half", "filters"], ["y"]), "got FLOAT16 and f32, expected one type"),
            (node("Conv", ["image", "filters"], ["y"], kernel_shape=[3, 3]), "'kernel_shape' is 3 x 3 for filters of"),
            (node("OneHot", ["i", "n", "far"], ["y"]), "got values 100000000 and 1, whose difference is rounded"),
        ]
        ports = [port("x", [4, 4]), port("long", [1, 8]), port("short", [1, 2]), port("none", [2, 0]),
                 port("none3", [1, 2, 0]), port("none4", [1, 3, 0, 0]), port("row", [1, 4]),
                 port("b", [4], 9), port("half", [1, 1, 4, 4], 10), port("image", [1, 1, 4, 4])]
        for one, expected in cases:
            with self.subTest(expected):
                (told,) = self.mistakes(model([one], ports, [port("y", [4])],
                                              [tensor(*entry) for entry in known.items()]))
                self.assertIn(expected, told)

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
        for dtype in ("c16", "U1", "M8[s]"):
            numpy.save(self.scratch / "shape.npy", numpy.array([2, 4]).astype(dtype))
            done = self.import_model(data, "--size", "n=2", "--constant", "shape=shape.npy", code=CONFIG)
            self.assertRegex(done.stderr, r"^shape\.npy: descr: got '.*', expected bools, floats of ")
        for dtype in ("u1", "i1", "<u2", ">i4", "u8", "f2", ">f4", "f8"):
            numpy.save(self.scratch / "shape.npy", numpy.array([2, 4], dtype))
            self.import_model(data, "--size", "n=2", "--constant", "shape=shape.npy")
        numpy.save(self.scratch / "shape.npy", numpy.array([2, -1]))
        self.import_model(data, "--size", "n=2", "--constant", "shape=shape.npy")
        x = numbers(2, 4)
        self.assert_near(self.run_model("y", x=x)["y"], x)

    def test_files_that_are_no_models(self):
        whole = model([node("Relu", ["x"], ["y"])], [port("x", [4])], [port("y", [4])])
        for data in (whole[:-9], b"\x89PNG and so on", b"PK\x03\x04", b""):
            with self.subTest(data=data):
                (told,) = self.mistakes(data)
                self.assertRegex(told, "expected an ONNX model; the file (is|may be) truncated, or none of ONNX")
        for length in range(len(whole)): # wherever the file ends
            with self.subTest(length=length):
                self.assertNotEqual(self.mistakes(whole[:length]), [])
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
        for offset in (-4, "4x", "", 1 << 63, 1 << 70):
            (told,) = self.mistakes(of(external_tensor("w", [4], "w.bin", offset)))
            self.assertEqual(told, f"initialiser 'w': external data: offset: got '{offset}', expected a number of bytes")
        for offset in (1, 15, 16, 1 << 40, (1 << 63) - 1):
            (told,) = self.mistakes(of(external_tensor("w", [4], "w.bin", offset)))
            self.assertRegex(told, f"got 15 bytes in .*, expected 16 from byte {offset} on")
        (told,) = self.mistakes(of(external_tensor("w", [4], "w.bin", 0, length=12)))
        self.assertEqual(told, "initialiser 'w': external data: length: got 12 bytes, expected 16")
        (told,) = self.mistakes(of(external_tensor("w", [4], "", 0)))
        self.assertEqual(told, "initialiser 'w': external data: got no location")
        (told,) = self.mistakes(of(external_tensor("w", [4], "/etc/hosts", 0)))
        self.assertIn("expected a file in the model's folder or below it", told)
        absent = self.tessera("import", self.write("m.onnx", of(external_tensor("w", [4], "absent.bin", 0))), "-o",
                              "m.json", code=IO)
        self.assertRegex(absent.stderr, "cannot read .*absent.bin: No such file")
        (told,) = self.mistakes(of(tensor("w", numpy.array([1, 2, numpy.inf, 4], "f4"))))
        self.assertIn("known tensor 'w': got element 2, which is not finite", told)
        self.assertIn("got more than", self.mistakes(of(external_tensor("w", [1 << 20, 1 << 20], "w.bin", 0)))[0])

    def test_a_wrong_command_line(self):
        self.write("m.onnx", b"")
        with_out = ["m.onnx", "-o", "m.json"]
        self.assertIn("expected a model and a workload's file", self.tessera("import", "m.onnx", code=2).stderr)
        for arguments, told in ((["m.onnx", "-o", "m.txt"], "--out: got 'm.txt', expected a name that ends in .json"),
                                ([*with_out, "--size", "n"], "--size: got 'n', expected NAME=VALUE"),
                                ([*with_out, "--size", "=3"], "--size: got '=3', expected NAME=VALUE"),
                                ([*with_out, "--size", "n="], "--size: got 'n=', expected NAME=VALUE"),
                                ([*with_out, "--constant", "c.npy"], "--constant: got 'c.npy', expected NAME=VALUE"),
                                *(([*with_out, "--size", f"n={size}"], f"--size: got '{size}', expected a number from 1 on")
                                  for size in ("0", "-1", "1x", "x", "1.5", 1 << 63))):
            self.assertEqual(self.tessera("import", *arguments, code=2).stderr, f"tessera: import: {told}\n")
        # the name is all before the last sign
        self.import_model(model([node("Relu", ["x"], ["y"])], [port("x", ["n=m"])], [port("y", [1])]), "--size", "n=m=1")


if __name__ == "__main__":
    probe = subprocess.run([BINARY, "import", pathlib.Path(__file__), "-o", "no.json"], capture_output=True, text=True)
    if "no reader of ONNX" in probe.stderr:
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
