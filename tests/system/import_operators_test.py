#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Operators of ONNX with attributes and sizes drawn at random, beside numpy: many nodes in one model.
Usage: import_operators_test.py BINARY SOURCE_DIRECTORY

The node models of ONNX's test data have few sizes each, so that a bound that is one off, or an axis that is another,
may leave them as they are. Refusals at the bounds are in tables here, each with the nearest case that is taken."""

import itertools
import json
import pathlib
import subprocess
import sys
import unittest

import numpy

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import BINARY, CliTest
from onnx_model import model, node, port, tensor

SKIPPED = 77
CONFIG = 3
RNG = numpy.random.default_rng(30)


def drawn(low, high):
    """A whole number from low to high."""
    return int(RNG.integers(low, high + 1))


def numbers(*shape):
    return RNG.uniform(-1, 1, shape).astype("f4")


def places(size, kernel, stride, dilation, before, out):
    """[window][place], of which some are beyond the edges."""
    return stride * numpy.arange(out)[:, None] + dilation * numpy.arange(kernel) - before


def windows(x, axis, at, beyond):
    """x with two axes in place of one: [window][place], `beyond` outside."""
    inside = (at >= 0) & (at < x.shape[axis])
    taken = numpy.take(x, at.clip(0, x.shape[axis] - 1), axis)
    return numpy.where(inside.reshape((1,) * axis + at.shape + (1,) * (x.ndim - axis - 1)), taken, beyond)


class OperatorsTest(CliTest):
    def setUp(self):
        super().setUp()
        self.nodes, self.inputs, self.known, self.expected = [], {}, {}, {}

    def given(self, x, is_known=False):
        """The name of a tensor that the model has, or that it is run with."""
        name = f"{'c' if is_known else 'x'}{len(self.inputs) + len(self.known)}"
        (self.known if is_known else self.inputs)[name] = x
        return name

    def add(self, op, inputs, expected, **attributes):
        """Arrays of whole numbers are known, others are given; `expected` are the outputs."""
        names = [one if isinstance(one, str) else self.given(numpy.asarray(one), numpy.asarray(one).dtype == numpy.int64)
                 for one in inputs]
        expected = expected if isinstance(expected, list) else [expected]
        outputs = [f"y{len(self.expected) + i}" for i in range(len(expected))]
        self.nodes.append(node(op, names, outputs, **attributes))
        for output, value in zip(outputs, expected):
            self.expected[output] = (op, attributes, numpy.asarray(value))

    def check(self, opset=17):
        """Runs all nodes as one pipeline."""
        kinds = {numpy.dtype("f4"): 1, numpy.dtype("i4"): 6}
        (self.scratch / "m.onnx").write_bytes(model(
            self.nodes, [port(name, list(x.shape), kinds[x.dtype]) for name, x in self.inputs.items()],
            [port(name, list(value.shape)) for name, (_, _, value) in self.expected.items()],
            [tensor(*one) for one in self.known.items()], opset))
        self.tessera("import", "m.onnx", "-o", "m.json")
        sets = []
        read = json.loads((self.scratch / "m.json").read_text())["tensors"] # others are asked for their sizes alone
        for name, x in self.inputs.items():
            if name not in read:
                continue
            numpy.save(self.scratch / f"{name}.npy", x)
            sets += ["--set", f"workload.tensors.{name}.values={name}.npy"]
        self.tessera("run", "m.json", "--set", "chip.tiles=16", "--out", "out", "-q", *sets)
        for name, (op, attributes, value) in self.expected.items():
            got = numpy.load(self.scratch / "out" / ("output.npy" if len(self.expected) == 1 else f"output.{name}.npy"))
            with self.subTest(op, **attributes):
                self.assertEqual(got.shape, value.shape or (1,))
                numpy.testing.assert_allclose(got, value.reshape(got.shape), rtol=2e-3, atol=2e-5)

    def mistake(self, one, shapes, known=(), opset=17):
        """What is wrong with a node; nothing where it is taken."""
        (self.scratch / "m.onnx").write_bytes(model([one], [port(name, list(shape)) for name, shape in shapes.items()],
                                                    [port("y", [1])], [tensor(*entry) for entry in dict(known).items()], opset))
        done = self.tessera("import", "m.onnx", "-o", "m.json", code=None)
        self.assertIn(done.returncode, (0, CONFIG), done.stderr)
        return done.stderr.partition("m.onnx: ")[2].strip() if done.returncode else ""


class RowsTest(OperatorsTest):
    def test_powers(self):
        above = numpy.float32([0.9, 1.05, 1.2, 1])
        x = numpy.concatenate([-above, above])
        for exponent in (0, 1, 2, 3, 7, 63, 64, -1, -2, -63, -64): # by products, whatever the sign
            self.add("Pow", [x, self.given(numpy.float32([exponent]), True)], x ** exponent)
        for exponent in (0.5, 1.5, -0.5, 65, -65): # by logarithms
            self.add("Pow", [above, self.given(numpy.float32([exponent]), True)], above ** numpy.float32(exponent))
        self.check()

    def test_reductions(self):
        functions = {"ReduceSum": numpy.sum, "ReduceMean": numpy.mean, "ReduceMax": numpy.max, "ReduceMin": numpy.min,
                     "ReduceL1": lambda x, **how: numpy.abs(x).sum(**how),
                     "ReduceL2": lambda x, **how: numpy.sqrt((x * x).sum(**how)),
                     "ReduceSumSquare": lambda x, **how: (x * x).sum(**how),
                     "ReduceLogSumExp": lambda x, **how: numpy.log(numpy.exp(x).sum(**how)),
                     "ReduceLogSum": lambda x, **how: numpy.log(x.sum(**how))}
        for op, function in functions.items():
            for axes, keeps in (((-1,), 1), ((2, 0), 0)):
                x = numpy.abs(numbers(3, 4, 5)) + 0.1 if op == "ReduceLogSum" else numbers(3, 4, 5)
                attributes = {} if op == "ReduceSum" else {"axes": list(axes)}
                self.add(op, [x, *([numpy.array(axes)] if op == "ReduceSum" else [])],
                         function(x, axis=axes, keepdims=bool(keeps)), keepdims=keeps, **attributes)
        x, none = numbers(2, 3), numpy.zeros(0, "i8")
        self.add("ReduceMean", [x], x.mean(keepdims=True))
        self.add("ReduceSum", [x, none], x, noop_with_empty_axes=1)
        self.add("ReduceSum", [x, none], x.sum(keepdims=True))
        x = numbers(2, 3, 4)
        self.add("GlobalAveragePool", [x], x.mean(axis=2, keepdims=True))
        self.add("GlobalMaxPool", [x], x.max(axis=2, keepdims=True))
        large = numpy.array([[300, 301], [-300, -301]], "f4")
        most = large.max(axis=1, keepdims=True)
        self.add("ReduceLogSumExp", [large], most + numpy.log(numpy.exp(large - most).sum(axis=1, keepdims=True)), axes=[1])
        self.check()

    def test_the_largest(self):
        for axis, keeps, last in itertools.product((0, 1, -1), (0, 1), (0, 1)):
            x = RNG.integers(0, 3, (3, 4, 5)).astype("f4") # with equals
            for op, function in (("ArgMax", numpy.argmax), ("ArgMin", numpy.argmin)):
                found = function(numpy.flip(x, axis), axis, keepdims=bool(keeps)) if last else function(x, axis, keepdims=bool(keeps))
                self.add(op, [x], x.shape[axis] - 1 - found if last else found, axis=axis, keepdims=keeps, select_last_index=last)
        for k, axis, largest in ((1, 0, 1), (4, 1, 0), (3, -1, 1), (5, -1, 0)):
            x = numpy.argsort(numbers(60)).reshape(3, 4, 5).astype("f4")
            order = numpy.argsort(-x if largest else x, axis).take(range(k), axis)
            self.add("TopK", [x, numpy.array([k])], [numpy.take_along_axis(x, order, axis), order], axis=axis, largest=largest)
        for axis in (0, -1):
            x = RNG.integers(0, 3, (3, 5)).astype("f4")
            self.add("Hardmax", [x], numpy.indices(x.shape)[axis] == x.argmax(axis, keepdims=True), axis=axis)
        self.check()

    def test_softmax_and_norms(self):
        def softmax(x, axes):
            grown = numpy.exp(x)
            return grown / grown.sum(axis=axes, keepdims=True)

        for axis in (0, 1, -1):
            x = numbers(2, 3, 4)
            self.add("Softmax", [x], softmax(x, axis), axis=axis)
            self.add("LogSoftmax", [x], numpy.log(softmax(x, axis)), axis=axis)
        for axis in (1, -1):
            x = numbers(3, 4, 5)
            axes = tuple(range(axis % 3, 3))
            scale, shift = numbers(*x.shape[axis:]), numbers(*x.shape[axis:])
            mean = x.mean(axis=axes, keepdims=True)
            root = 1 / numpy.sqrt(x.var(axis=axes, keepdims=True) + 0.1)
            self.add("LayerNormalization", [x, scale, shift], [(x - mean) * root * scale + shift, mean, root], axis=axis, epsilon=0.1)
        x, scale = numbers(4, 5), numbers(5)
        normal = (x - x.mean(axis=1, keepdims=True)) / numpy.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
        self.add("LayerNormalization", [x, scale], normal * scale)
        x, scale, shift = numbers(2, 3, 4), numbers(3), numbers(3)
        mean, variance = numbers(3), numpy.abs(numbers(3))

        def of_channels(value):
            return value[:, None]

        self.add("BatchNormalization", [x, scale, shift, mean, variance],
                 (x - of_channels(mean)) / numpy.sqrt(of_channels(variance) + 1e-5) * of_channels(scale) + of_channels(shift))
        m, v = x.mean(axis=(0, 2)), x.var(axis=(0, 2))
        self.add("BatchNormalization", [x, scale, shift, mean, variance],
                 [(x - of_channels(m)) / numpy.sqrt(of_channels(v) + 0.5) * of_channels(scale) + of_channels(shift),
                  0.7 * mean + 0.3 * m, 0.7 * variance + 0.3 * v], training_mode=1, epsilon=0.5, momentum=0.7)
        m, v = x.mean(axis=2, keepdims=True), x.var(axis=2, keepdims=True)
        self.add("InstanceNormalization", [x, scale, shift], (x - m) / numpy.sqrt(v + 0.25) * of_channels(scale) + of_channels(shift),
                 epsilon=0.25)
        x = numbers(2, 3, 4, 2)
        for axes in ((0, 2, 3), (1,)):
            m, deviation = x.mean(axis=axes, keepdims=True), x.std(axis=axes, keepdims=True)
            self.add("MeanVarianceNormalization", [x], (x - m) / (deviation + 1e-9), **({} if axes == (0, 2, 3) else {"axes": list(axes)}))
        self.check()

    def test_older_softmax_goes_over_all_axes_behind_one(self):
        x = numbers(2, 3, 4)
        for axis in (None, 0, 1, 2):
            grown = numpy.exp(x)
            axes = tuple(range(1 if axis is None else axis, 3))
            expected = grown / grown.sum(axis=axes, keepdims=True)
            attributes = {} if axis is None else {"axis": axis}
            self.add("Softmax", [x], expected, **attributes)
            self.add("LogSoftmax", [x], numpy.log(expected), **attributes)
        self.check(opset=11)

    def test_losses(self):
        for reduction, ignored, weighted in itertools.product(("none", "sum", "mean"), (None, 1, 7), (False, True)):
            x, targets, weights = numbers(4, 3, 5), RNG.integers(0, 3, (4, 5)).astype("i4"), numpy.abs(numbers(3)) + 0.1
            logs = x - numpy.log(numpy.exp(x).sum(axis=1, keepdims=True))
            each = (weights if weighted else numpy.ones(3))[targets] * (targets != ignored)
            attributes = {"reduction": reduction, **({} if ignored is None else {"ignore_index": ignored})}
            for op, of in (("SoftmaxCrossEntropyLoss", logs), ("NegativeLogLikelihoodLoss", x)):
                losses = -each * numpy.take_along_axis(of, targets[:, None], 1)[:, 0]
                made = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / each.sum()}[reduction]
                outputs = [made, logs] if op.startswith("Softmax") else made
                self.add(op, [x, targets, *([weights] if weighted else [])], outputs, **attributes)
        self.check()


class SelectionTest(OperatorsTest):
    def test_slices_are_those_of_python(self):
        least, most = -(1 << 63), (1 << 63) - 1
        cases = [(0, 5, 1), (1, 4, 2), (-4, -1, 1), (4, 0, -1), (-1, -6, -1), (most, least, -2), (0, most, 3), (-5, 5, 4), (3, -100, -2),
                 (4, least, -4), (0, 1, most), (-100, 100, 1)]
        for start, end, step in cases:
            x = numbers(2, 5)
            bounds = [numpy.array([one]) for one in (start, end, 1, step)]
            self.add("Slice", [x, *bounds], x[:, slice(start, None if end == least else end, step)])
        x = numbers(3, 4, 5)
        self.add("Slice", [x, numpy.array([1, -3]), numpy.array([3, -1])], x[1:3, -3:-1])
        self.add("Slice", [x, numpy.array([0, 1]), numpy.array([2, 4]), numpy.array([-1, 0])], x[1:4, :, 0:2])
        self.check()

    def test_parts(self):
        x = numbers(4, 6)
        self.add("Split", [x], numpy.split(x, 2, 0))
        self.add("Split", [x], numpy.split(x, 3, 1), axis=1)
        self.add("Split", [x, numpy.array([1, 3, 2])], numpy.split(x, [1, 4], -1), axis=-1)
        for repeats in ((2, 3), (1, 1), (3, 1)):
            self.add("Tile", [x, numpy.array(repeats)], numpy.tile(x, repeats))
        for upper, k in itertools.product((0, 1), (-4, -1, 0, 2, 5)):
            self.add("Trilu", [x, numpy.array([k])], (numpy.triu if upper else numpy.tril)(x, k), upper=upper)
        self.add("Trilu", [x], numpy.triu(x))
        for condition in ([1, 0, 0, 1], [0, 1]):
            self.add("Compress", [x, numpy.array(condition)], numpy.compress(condition, x, 0), axis=0)
        self.add("Compress", [x, numpy.array([0, 1] * 7)], x.ravel()[1:14:2])
        self.add("Compress", [x, numpy.array([0, 1, 0, 0, 0, 1])], x[:, [1, 5]], axis=-1)
        for order, axis in (((1, 0), 0), ((0, 1), 1)):
            lengths = [drawn(1, x.shape[axis]) for _ in range(x.shape[1 - axis])]
            lengths[0], lengths[-1] = x.shape[axis], 1
            expected = x.copy()
            for batch, length in enumerate(lengths):
                row = expected[:, batch] if axis == 0 else expected[batch]
                row[:length] = row[:length][::-1].copy()
            self.add("ReverseSequence", [x, numpy.array(lengths)], expected, batch_axis=order[0], time_axis=axis)
        self.check()

    def test_pads(self):
        x = numbers(3, 4)
        for mode in ("constant", "edge", "reflect"):
            for pads in ((0, 0, 0, 0), (2, 3, 2, 3), (1, 0, 0, 2), (0, 1, 0, 0)):
                how = [(pads[axis], pads[axis + 2]) for axis in (0, 1)]
                more = [numpy.array(0.5, "f4")] if mode == "constant" else []
                known = [self.given(one, True) for one in more]
                self.add("Pad", [x, numpy.array(pads), *known],
                         numpy.pad(x, how, mode, **({"constant_values": 0.5} if more else {})), mode=mode)
        self.add("Pad", [x, numpy.array([-1, -2, 1, -1])], numpy.pad(x[1:, 2:3], ((0, 1), (0, 0))))
        self.check()

    def test_scattered_updates(self):
        for axis in (0, 1, -1):
            x, updates = numbers(3, 4), numbers(2, 2)
            size = x.shape[axis]
            indices = numpy.array([[0, -1], [2, 1]])
            expected = x.copy()
            numpy.put_along_axis(expected[:, :2] if axis == 0 else expected[:2], indices % size, updates, axis)
            self.add("ScatterElements", [x, indices, updates], expected, axis=axis)
        x, updates = numbers(3, 4), numbers(2, 3)
        expected = x.copy()
        indices = numpy.array([[1, 1, -3], [-2, 1, 0]]) # three times one place
        for (row, column), number in numpy.ndenumerate(indices):
            expected[number % 3, column] += updates[row, column]
        self.add("ScatterElements", [x, indices, updates], expected, axis=0, reduction="add")
        x = numbers(3, 4, 2)
        for indices in ([[0], [2]], [[1, -1], [-3, 0], [2, 2]], [[[0, 0, 0], [-1, -1, -1]]]):
            indices = numpy.array(indices)
            updates = numbers(*indices.shape[:-1], *x.shape[indices.shape[-1]:])
            expected = x.copy()
            expected[tuple(numpy.moveaxis(indices, -1, 0))] = updates
            self.add("ScatterND", [x, indices, updates], expected)
            self.add("GatherND", [x, indices], x[tuple(numpy.moveaxis(indices, -1, 0))])
        x = numbers(2, 3, 4)
        indices = numpy.array([[[1], [-1]], [[0], [2]]])
        self.add("GatherND", [x, indices], numpy.stack([x[batch][indices[batch, :, 0]] for batch in (0, 1)]), batch_dims=1)
        indices = numpy.array([[[3], [0], [-4]], [[1], [-1], [2]]])
        self.add("GatherND", [x, indices], numpy.take_along_axis(x, indices % 4, 2)[..., 0], batch_dims=2)
        self.check()

    def test_classes(self):
        for axis in (-1, 0, 1, -2):
            ids = numpy.array([[0, 3, -1], [-4, 4, -5]]) # the last two of these are no classes
            expected = numpy.where((ids % 4)[..., None] == numpy.arange(4), 2.5, -1)
            expected[1, 1:] = -1
            self.add("OneHot", [ids, numpy.array([4]), self.given(numpy.array([-1, 2.5], "f4"), True)], numpy.moveaxis(expected, -1, axis),
                     axis=axis)
        self.check()


class WindowsTest(OperatorsTest):
    def draw(self, rank):
        """Sizes of axes with at least one window each, in which there is an element."""
        while True:
            kernel, stride, dilation = ([drawn(1, 3) for _ in range(rank)] for _ in range(3))
            size = [drawn(1, 7) for _ in range(rank)]
            before, behind = ([drawn(0, kernel[i] - 1) for i in range(rank)] for _ in range(2))
            reach = [(kernel[i] - 1) * dilation[i] + 1 for i in range(rank)]
            out = [(size[i] + before[i] + behind[i] - reach[i]) // stride[i] + 1 for i in range(rank)]
            at = [places(size[i], kernel[i], stride[i], dilation[i], before[i], max(out[i], 0)) for i in range(rank)]
            if all(len(one) > 0 and ((one >= 0) & (one < size[i])).any(axis=1).all() for i, one in enumerate(at)):
                return size, {"strides": stride, "dilations": dilation, "pads": before + behind}, kernel, at

    def test_pools(self):
        for rank in [1] * 8 + [2] * 4:
            size, attributes, kernel, at = self.draw(rank)
            x = numbers(2, 2, *size)
            axes = tuple(3 + 2 * i for i in range(rank))
            made, ones = x, numpy.ones(x.shape)
            for i in range(rank):
                made, ones = windows(made, 2 + 2 * i, at[i], -numpy.inf), windows(ones, 2 + 2 * i, at[i], 0)
            self.add("MaxPool", [x], made.max(axis=axes), kernel_shape=kernel, **attributes)
            if max(attributes["dilations"]) == 1:
                made = numpy.where(ones == 1, made, 0)
                del attributes["dilations"]
                self.add("AveragePool", [x], made.sum(axis=axes) / ones.sum(axis=axes), kernel_shape=kernel, **attributes)
                self.add("AveragePool", [x], made.mean(axis=axes), kernel_shape=kernel, count_include_pad=1, **attributes)
        self.check()

    def test_convolutions(self):
        for rank, groups in ((1, 1), (1, 2), (1, 3), (2, 1), (2, 2)):
            size, attributes, kernel, at = self.draw(rank)
            inputs, outputs = drawn(1, 2), drawn(1, 2)
            x, w, b = numbers(2, groups * inputs, *size), numbers(groups * outputs, inputs, *kernel), numbers(groups * outputs)
            made = x
            for i in range(rank):
                made = windows(made, 2 + 2 * i, at[i], 0)
            made = made.reshape(2, groups, inputs, *made.shape[2:])
            apart = w.reshape(groups, outputs, *w.shape[1:])
            places_of, kernel_of = "xy"[:rank], "ij"[:rank]
            both = "".join(a + b for a, b in zip(places_of, kernel_of))
            expected = numpy.einsum(f"ngc{both},goc{kernel_of}->ngo{places_of}", made, apart)
            expected = expected.reshape(2, groups * outputs, *expected.shape[3:])
            self.add("Conv", [x, w], expected, group=groups, **attributes)
            self.add("Conv", [x, w, b], expected + b.reshape(-1, *[1] * rank), group=groups, kernel_shape=kernel, **attributes)
        self.check()

    def test_pads_that_follow_from_sizes(self):
        for size, kernel, stride in ((5, 3, 2), (6, 2, 1), (6, 3, 2), (4, 1, 3), (7, 4, 3)):
            x = numbers(1, 1, size)
            for automatic in ("SAME_UPPER", "SAME_LOWER", "VALID"):
                out = (size - kernel) // stride + 1 if automatic == "VALID" else -(-size // stride)
                pad = 0 if automatic == "VALID" else max((out - 1) * stride + kernel - size, 0)
                before = pad // 2 if automatic == "SAME_UPPER" else pad - pad // 2
                at = places(size, kernel, stride, 1, before, out)
                self.add("MaxPool", [x], windows(x, 2, at, -numpy.inf).max(axis=3), kernel_shape=[kernel], strides=[stride],
                         auto_pad=automatic)
            # the last window may begin among the pads in front and the elements, not behind them
            for before, behind in ((0, 0), (kernel - 1, kernel - 1)):
                out = -(-(size + before + behind - kernel) // stride) + 1
                out -= (out - 1) * stride >= size + before
                at = places(size, kernel, stride, 1, before, out)
                self.add("MaxPool", [x], windows(x, 2, at, -numpy.inf).max(axis=3), kernel_shape=[kernel], strides=[stride],
                         pads=[before, behind], ceil_mode=1)
        self.check()


class ShapesTest(OperatorsTest):
    def test_elements_that_are_moved(self):
        x = numbers(2, 3, 4)
        for axis in (-3, -1, 0, 1, 3):
            at = axis % 3 if axis != 3 else 3
            self.add("Flatten", [x], x.reshape(int(numpy.prod(x.shape[:at])), -1), axis=axis)
        self.add("Flatten", [x], x.reshape(2, 12))
        for perm in ([2, 0, 1], [1, 0, 2]):
            self.add("Transpose", [x], x.transpose(perm), perm=perm)
        self.add("Transpose", [x], x.transpose())
        for sizes in ([0, -1], [0, 0, 2, -1], [-1, 4], [4, 3, 2]):
            self.add("Reshape", [x, numpy.array(sizes)], x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(sizes)]))
        for axes in ([0], [-1], [1, 3], [4, 0, -3]):
            self.add("Unsqueeze", [x, numpy.array(axes)], numpy.expand_dims(x, tuple(axes)))
        thin = numbers(1, 3, 1, 2)
        for axes in ([0], [-2], [2, 0]):
            self.add("Squeeze", [thin, numpy.array(axes)], thin.squeeze(tuple(axes)))
        for axis in (0, 1, -1):
            others = [numbers(*(size + i if at == axis % 3 else size for at, size in enumerate(x.shape))) for i in range(3)]
            self.add("Concat", others, numpy.concatenate(others, axis), axis=axis)
        for sizes in ([2, 3, 4], [5, 1, 1, 1], [3, 1]):
            self.add("Expand", [x, numpy.array(sizes)], x * numpy.ones(sizes, "f4"))
        deep = numbers(2, 12, 2, 3)
        apart = deep.reshape(2, 2, 2, 3, 2, 3)
        self.add("DepthToSpace", [deep], apart.transpose(0, 3, 4, 1, 5, 2).reshape(2, 3, 4, 6), blocksize=2)
        apart = deep.reshape(2, 3, 2, 2, 2, 3)
        self.add("DepthToSpace", [deep], apart.transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 4, 6), blocksize=2, mode="CRD")
        wide = numbers(2, 3, 4, 6)
        apart = wide.reshape(2, 3, 2, 2, 3, 2)
        self.add("SpaceToDepth", [wide], apart.transpose(0, 3, 5, 1, 2, 4).reshape(2, 12, 2, 3), blocksize=2)
        self.check()

    def test_elements_that_are_known(self):
        x = numbers(3, 4)
        for k in (-2, 0, 1, 3):
            self.nodes.append(node("EyeLike", [self.given(x)], [f"e{k}"], k=k))
            self.add("Add", [f"e{k}", x], numpy.eye(3, 4, k) + x)
        for start, limit, delta in ((0, 5, 2), (3, 3, 1), (5, 0, -2), (-1, 5, 3), (0, 4, 2)):
            expected = numpy.arange(start, limit, delta)
            bounds = [self.given(numpy.array(one, "f4"), True) for one in (start, limit, delta)]
            name = f"r{len(self.nodes)}"
            self.nodes.append(node("Range", bounds, [name]))
            ends = [name, self.given(x.ravel())]
            self.add("Concat", ends, numpy.concatenate([expected, x.ravel()]), axis=0)
        self.nodes += [node("Size", [self.given(x)], ["size"]), node("Shape", [self.given(numbers(2, 6))], ["sizes"])]
        self.add("Reshape", [x, "sizes"], x.reshape(2, 6))
        for op, function in (("Xor", numpy.logical_xor), ("And", numpy.logical_and), ("Or", numpy.logical_or)):
            left, right = numpy.array([0, 0, 1, 1], bool), numpy.array([0, 1, 0, 1], bool)
            self.nodes += [node(op, [self.given(left, True), self.given(right, True)], [op]), node("Cast", [op], [op + "_f"], to=1)]
            self.add("Mul", [x, op + "_f"], x * function(left, right))
        self.nodes.append(node("Cast", ["size"], ["wide"], to=1))
        self.add("Mul", [x, "wide"], 12 * x)
        self.check()


class RefusalsTest(OperatorsTest):
    """Each bound from both sides: what is taken, and the nearest that is not."""

    def check_bounds(self, cases, shapes):
        for op, taken, refused, told in cases:
            for is_taken, (inputs, known, attributes, *opset) in ((True, taken), (False, refused)):
                with self.subTest(op, taken=is_taken, **attributes):
                    mistake = self.mistake(node(op, inputs, ["y"], **attributes), shapes,
                                           {name: numpy.asarray(value) for name, value in known.items()}, *opset)
                    self.assertEqual(mistake == "", is_taken, mistake)
                    if not is_taken:
                        self.assertIn(told, mistake)

    def test_numbers_of_elements(self):
        x = ["x", "c"]

        def one(inputs, *opset, known=(), **attributes):
            return (inputs, dict(known), attributes, *opset)

        def counted(value, *opset, inputs=x, **attributes):
            return one(inputs, *opset, known={"c": numpy.array(value)}, **attributes)

        self.check_bounds([
            ("TopK", counted([4]), counted([5]), "got k 5 of 4 elements"),
            ("TopK", counted([1]), counted([0]), "got k 0 of 4 elements"),
            ("TopK", counted([1]), counted([1, 1]), "got k 1 x 1 of 4"),
            ("Gather", counted([3], axis=1), counted([4], axis=1), "got element 4 of 4"),
            ("Gather", counted([-4], axis=1), counted([-5], axis=1), "got element -5 of 4"),
            ("GatherElements", counted([[0] * 4]), counted([[0] * 5]), "got more indices along an axis than x has elements"),
            ("GatherElements", counted([[0]] * 3, axis=1), counted([[0]] * 4, axis=1), "got more indices along an axis"),
            ("Compress", counted([0, 0, 1], axis=0), counted([0, 0, 0, 1], axis=0), "got element 3 of 3"),
            ("ReverseSequence", counted([3, 0, 1, 2]), counted([4, 0, 1, 2]), "got a length of 4 of 3"),
            ("ReverseSequence", counted([3, 0, 1, 2]), counted([-1, 0, 1, 2]), "got a length of -1 of 3"),
            ("ReverseSequence", counted([3, 0, 1, 2]), counted([3, 0, 1]), "got no length for each batch"),
            ("ReverseSequence", counted([3, 0, 1, 2]), counted([3, 0, 1, 2], batch_axis=0), "got no length"),
            ("Pad", counted([0, 3, 0, 3], mode="reflect"), counted([0, 4, 0, 0], mode="reflect"), "reflects more than 4 elements"),
            ("Pad", counted([2, 0, 2, 0], mode="reflect"), counted([0, 0, 3, 0], mode="reflect"), "reflects more than 3 elements"),
            ("Pad", counted([0, 0, 0, 0]), counted([0, 0, 0]), "got no two pads for each axis"),
            ("Pad", counted([0, 0, 0, 0]), counted([0, 0, 0, 0], mode="wrap"), "attribute 'mode' is wrap"),
            ("Tile", counted([1, 1]), counted([1]), "got 1 repeats for 2 sizes"),
            ("Trilu", counted([0]), counted([0], inputs=["one", "c"]), "got no matrix and one number"),
            ("CumSum", counted([1]), counted([2]), "2"),
            ("CumSum", counted([-2]), counted([-3]), "-3"),
            ("Flatten", one(["x"], axis=2), one(["x"], axis=3), "got axis 3 of 2 sizes"),
            ("Flatten", one(["x"], axis=-2), one(["x"], axis=-3), "got axis -3 of 2 sizes"),
            ("Squeeze", counted([0], inputs=["thin", "c"]), counted([1], inputs=["thin", "c"]), "axis 1 has 3 elements"),
            ("Reshape", counted([-1, 2]), counted([-1, -1]), "got shape -1 x -1"),
            ("Reshape", counted([0, 4]), counted([-2, 4]), "got shape -2 x 4"),
            ("Transpose", one(["x"], perm=[1, 0]), one(["x"], perm=[1]), "got 1 axes of 2"),
            ("DepthToSpace", one(["deep"], blocksize=2), one(["deep"], blocksize=3), "got blocks of 3"),
            ("DepthToSpace", one(["deep"], blocksize=1), one(["deep"], blocksize=0), "got blocks of 0"),
            ("DepthToSpace", one(["deep"], blocksize=1), one(["deep"], blocksize=2, mode="DRC"), "got blocks of 2"),
            ("DepthToSpace", one(["flat"], blocksize=1), one(["flat"], blocksize=2), "got blocks of 2 of 1 x 1 x 2 x 2"),
            ("SpaceToDepth", one(["deep"], blocksize=2), one(["deep"], blocksize=4), "got blocks of 4"),
            ("SpaceToDepth", one(["deep"], blocksize=1), one(["deep"], blocksize=0), "got blocks of 0"),
            ("GlobalMaxPool", one(["image"]), one(["x"]), "got less than three sizes"),
            ("InstanceNormalization", one(["image", "two", "two"]), one(["x", "four", "four"]), "got less than three sizes"),
            ("ArgMax", one(["x"], axis=1), one(["x"], axis=2), "2"),
            ("Slice", one(["x", "c", "d"], known={"c": [0], "d": [1]}), one(["x", "c", "d"], known={"c": [0], "d": [1, 2]}), "got no starts and as many ends"),
            ("Slice", one(["x", "c", "d", "c"], known={"c": [0], "d": [1]}), one(["x", "c", "d", "e"], known={"c": [0], "d": [1], "e": [0, 1]}),
             "got other numbers of starts, axes and steps"),
            ("Split", counted([3], axis=0), counted([4], axis=0), "got parts of 4 of 3 elements"),
            ("Split", counted([3], axis=0), counted([2], axis=0), "got parts of 2 of 3 elements"),
            ("OneHot", one(["i", "n", "both"], known={"i": [0], "n": [1], "both": [0, 1]}),
             one(["i", "n", "both"], known={"i": [0], "n": [0], "both": [0, 1]}), "got a depth of 0"),
            ("OneHot", one(["i", "n", "both"], known={"i": [0], "n": [1], "both": [0, 1]}),
             one(["i", "n", "both"], known={"i": [0], "n": [1], "both": [0, 1, 2]}), "got no two values"),
        ], {"x": (3, 4), "one": (4,), "thin": (1, 3), "deep": (1, 4, 2, 2), "flat": (1, 1, 2, 2), "image": (1, 2, 4), "two": (2,), "four": (4,)})

    def test_windows(self):
        def pool(**attributes):
            return (["x"], {}, attributes)

        def filters(x, *shape, **attributes):
            return ([x, "w"], {"w": numpy.ones(shape, "f4")}, attributes)

        self.check_bounds([
            ("MaxPool", pool(kernel_shape=[5]), pool(kernel_shape=[6]), "got no window of 6 in 5"),
            ("MaxPool", pool(kernel_shape=[3], dilations=[2]), pool(kernel_shape=[3], dilations=[3]), "got no window of 7 in 5"),
            ("MaxPool", pool(kernel_shape=[1]), pool(kernel_shape=[0]), "got a window, a stride or a dilation of 0"),
            ("MaxPool", pool(kernel_shape=[1], strides=[1]), pool(kernel_shape=[1], strides=[0]), "got a window, a stride"),
            ("MaxPool", pool(kernel_shape=[1], dilations=[1]), pool(kernel_shape=[1], dilations=[0]), "got a window, a stride"),
            ("MaxPool", pool(kernel_shape=[2], pads=[1, 1]), pool(kernel_shape=[1], pads=[1, 0]), "got a window of pads alone"),
            ("MaxPool", pool(kernel_shape=[2]), pool(kernel_shape=[2], pads=[1]), "attribute 'pads' is 1 for 2 axes"),
            ("MaxPool", pool(kernel_shape=[2]), pool(kernel_shape=[2], pads=[0, -1]), "attribute 'pads' is 0 x -1"),
            ("MaxPool", pool(kernel_shape=[2]), pool(kernel_shape=[2, 2]), "got no window for 1 x 4 x 5"),
            ("MaxPool", pool(kernel_shape=[2]), pool(kernel_shape=[2], auto_pad="SAME"), "attribute 'auto_pad' is SAME"),
            ("MaxPool", pool(kernel_shape=[2]), pool(kernel_shape=[2], storage_order=1), "attribute 'storage_order' is 1"),
            ("Conv", filters("x", 2, 2, 1, group=2), filters("x", 2, 2, 1), "got filters of 2 x 2 x 1"),
            ("Conv", filters("x", 2, 2, 1, group=2), filters("x", 3, 2, 1, group=2), "got filters of 3 x 2 x 1"),
            ("Conv", filters("x", 1, 4, 1), filters("x", 1, 4, 1, group=0), "in 0 groups"),
            ("Conv", filters("x", 4, 1, 1, group=4), filters("x", 2, 1, 1, group=4), "in 4 groups"),
            ("Conv", filters("x", 1, 4, 1), filters("x", 1, 4), "got filters of 1 x 4 for"),
            ("Conv", filters("x", 1, 4, 5), filters("x", 1, 4, 6), "got no window of 6 in 5"),
        ], {"x": (1, 4, 5)})

    def test_losses(self):
        def loss(x, targets, known=(), **attributes):
            return ([x, targets, *(known and ["w"])], {"ids": numpy.zeros(3, "i8"), "more": numpy.zeros(4, "i8"),
                                                       **({"w": numpy.ones(known, "f4")} if known else {})}, attributes)

        self.check_bounds([
            ("NegativeLogLikelihoodLoss", loss("x", "ids"), loss("x", "more"), "got classes of 4 for 3 x 5"),
            ("NegativeLogLikelihoodLoss", loss("x", "ids"), loss("row", "ids"), "got classes of 3 for 3"),
            ("NegativeLogLikelihoodLoss", loss("x", "ids"), loss("x", "row"), "got classes of 3 for 3 x 5"),
            ("NegativeLogLikelihoodLoss", loss("x", "ids", [5]), loss("x", "ids", [4]), "got weights of 4 for 5 classes"),
            ("NegativeLogLikelihoodLoss", loss("x", "ids"), loss("x", "ids", reduction="max"), "attribute 'reduction' is max"),
            ("SoftmaxCrossEntropyLoss", loss("x", "ids"), loss("row", "ids"), "got no axis of classes"),
        ], {"x": (3, 5), "row": (3,)})


if __name__ == "__main__":
    probe = subprocess.run([BINARY, "import", pathlib.Path(__file__), "-o", "no.json"], capture_output=True, text=True, check=False)
    if "no reader of ONNX" in probe.stderr:
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
