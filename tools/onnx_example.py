#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes an encoder layer in ONNX form, of the operators that exporters write, with random weights.

usage: tools/onnx_example.py FILE.onnx [--hidden N] [--heads N] [--inner N]

The input x has `length` rows, a size with a name, and `hidden` columns; the output y has the same sizes. The first norm
and GELU are written out as older exporters do, by ReduceMean, Sub, Pow, Sqrt and Div, and by Erf.
"""
import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "system"))
import numpy  # noqa: E402

import onnx_model  # noqa: E402

EPSILON = 1e-5
SEED = 1


class Layer:
    def __init__(self, hidden, heads, inner):
        random = numpy.random.default_rng(SEED)
        self.hidden, self.heads = hidden, heads
        shapes = {"q": (hidden, hidden), "k": (hidden, hidden), "v": (hidden, hidden), "out": (hidden, hidden),
                  "up": (hidden, inner), "down": (inner, hidden)}
        self.weights = {name: random.normal(0, 1 / numpy.sqrt(shape[0]), shape).astype("f4")
                        for name, shape in shapes.items()}
        self.weights |= {name + "_bias": random.normal(0, 0.1, shape[1]).astype("f4")
                         for name, shape in shapes.items()}
        self.nodes = []

    def add(self, op, *inputs, called="", **attributes):
        """Adds a node, and gives its output's name."""
        name = called or f"/{op}_{len(self.nodes)}"
        self.nodes.append(onnx_model.node(op, inputs, [name], name="node" + name, **attributes))
        return name

    def constant(self, name, value):
        self.weights[name] = numpy.asarray(value)
        return name

    def linear(self, x, name):
        return self.add("Add", self.add("MatMul", x, name), name + "_bias")

    def attention(self, x):
        apart = self.constant("apart", numpy.array([-1, self.heads, self.hidden // self.heads]))
        q, k, v = (self.add("Transpose", self.add("Reshape", self.linear(x, name), apart), perm=order)
                   for name, order in (("q", [1, 0, 2]), ("k", [1, 2, 0]), ("v", [1, 0, 2])))
        root = self.constant("root", numpy.float32(numpy.sqrt(self.hidden / self.heads)))
        weights = self.add("Softmax", self.add("Div", self.add("MatMul", q, k), root), axis=-1)
        mixed = self.add("Transpose", self.add("MatMul", weights, v), perm=[1, 0, 2])
        together = self.constant("together", numpy.array([-1, self.hidden]))
        return self.linear(self.add("Reshape", mixed, together), "out")

    def norm(self, x):
        less = self.add("Sub", x, self.add("ReduceMean", x, axes=[-1]))
        square = self.add("Pow", less, self.constant("two", numpy.float32(2)))
        variance = self.add("ReduceMean", square, axes=[-1])
        epsilon = self.constant("epsilon", numpy.float32(EPSILON))
        return self.add("Div", less, self.add("Sqrt", self.add("Add", variance, epsilon)))

    def gelu(self, x):
        scaled = self.add("Div", x, self.constant("root_of_two", numpy.float32(numpy.sqrt(2))))
        grown = self.add("Add", self.add("Erf", scaled), self.constant("one", numpy.float32(1)))
        return self.add("Mul", self.add("Mul", x, grown), self.constant("half", numpy.float32(0.5)))

    def model(self):
        first = self.norm(self.add("Add", "x", self.attention("x")))
        inner = self.linear(self.gelu(self.linear(first, "up")), "down")
        ones = self.constant("ones", numpy.ones(self.hidden, "f4"))
        self.add("LayerNormalization", self.add("Add", first, inner), ones, called="y", epsilon=EPSILON)
        sizes = ["length", self.hidden]
        return onnx_model.model(self.nodes, [onnx_model.port("x", sizes)], [onnx_model.port("y", sizes)],
                                [onnx_model.tensor(*one) for one in self.weights.items()])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("file", type=pathlib.Path)
    options.add_argument("--hidden", type=int, default=64)
    options.add_argument("--heads", type=int, default=4)
    options.add_argument("--inner", type=int, default=256)
    options = options.parse_args()
    options.file.write_bytes(Layer(options.hidden, options.heads, options.inner).model())


if __name__ == "__main__":
    main()
