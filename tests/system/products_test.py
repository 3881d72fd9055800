#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every product kernel against its reference: types, plans, shapes, patterns, machines, and the
sizes just inside and just outside tile memory.

usage: products_test.py TESSERA PROJECT_DIRECTORY TEST_CLASS
"""

import concurrent.futures
import copy
import itertools
import json
import os
import re
import resource
import struct
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import BINARY, CliTest

PROCESSES = min(2, os.cpu_count() or 1)
DOES_NOT_FIT, FAULT = 4, 5
PLANS = ["fastest", "published"]
TYPES = {"f16": ("f16", "f16"), "f16 in f32": ("f16", "f32"), "f32": ("f32", "f32"),
         "f143": ("f143", "f16"), "f152": ("f152", "f16")}
FP8 = ["f143", "f152"]
NOT_FP8 = [name for name in TYPES if name not in FP8]
BLOCKS = [1, 4, 8, 16]
# A name of these tests: the machine, and what is set on it. 64 tiles keep runs short.
FEW = ["chip.tiles=64"]
MACHINES = {"tiny": ("tiny", []), "bow 64": ("bow", FEW), "gc200 64": ("gc200", FEW),
            "gc2 64": ("gc2", FEW), "c600 64": ("c600", FEW),
            "bow": ("bow", []), "gc200": ("gc200", []), "gc2": ("gc2", []), "c600": ("c600", [])}
FEW_TILES = ["tiny", "bow 64", "gc200 64", "gc2 64"]

DENSE_SHAPES = {  # m, k, n
    "aligned": (128, 96, 64),
    "ragged": (67, 101, 43),
    "tiny": (1, 1, 1),
    "row": (1, 96, 61),
    "column": (53, 96, 1),
    "outer": (70, 1, 35),
    "inner": (1, 3001, 1),
    "large": (131, 259, 67),
}
DENSE_EXTRAS = {
    "plain": {},
    "groups": {"groups": 5},
    "bias": {"bias": True, "activation": "relu"},
    "transposed": {"transpose_a": True, "transpose_b": True},
    "all": {"groups": 5, "bias": True, "activation": "gelu", "transpose_a": True,
            "transpose_b": True},
}
SPARSE_SHAPES = {  # m, k, n and the pattern; a file's entries are in MASKS
    "aligned": (128, 160, 32, {"generator": "uniform", "density": 0.2}),
    "ragged": (67, 101, 43, {"generator": "uniform", "density": 0.3}),
    "tiny": (1, 1, 1, {"generator": "uniform", "density": 1}),
    "block": ("block", "block", 5, {"generator": "uniform", "density": 1}),
    "row": (1, 96, 61, {"generator": "uniform", "density": 0.5}),
    "column": (53, 96, 1, {"generator": "uniform", "density": 0.3}),
    "outer": (70, 1, 35, {"generator": "uniform", "density": 1}),
    "full": (80, 71, 20, {"generator": "uniform", "density": 1}),
    "none": (80, 71, 20, {"generator": "uniform", "density": 0.000001}),
    "banded": (150, 140, 24, {"generator": "banded", "density": 0.1}),
    "power law": (160, 150, 18, {"generator": "power_law", "density": 0.1, "exponent": 2}),
    "n of m": (96, 130, 10, {"generator": "n_of_m", "density": 0.5, "group": 2}),
    "large": (517, 389, 67, {"generator": "uniform", "density": 0.1}),
    "empty": (67, 101, 13, {"file": "empty.mtx"}),
    "in a row": (67, 101, 13, {"file": "in_a_row.mtx"}),
    "in a column": (67, 101, 13, {"file": "in_a_column.npy"}),
    "in a corner": (67, 101, 13, {"file": "in_a_corner.smtx"}),
}
MASKS = {  # entries of masks of 67 x 101
    "empty.mtx": [],
    "in_a_row.mtx": [(41, column) for column in range(101)],
    "in_a_column.npy": [(row, 59) for row in range(67)],
    "in_a_corner.smtx": [(66, 100)],
}
SPARSE_EXTRAS = {"plain": {}, "transposed": {"transpose_a": True, "transpose_b": True}}


def entry(row, column):
    """A small whole number other than 0."""
    return (1, -2, 3, -1, 2)[(3 * row + column) % 5]


def npy(shape, values, code):
    numbers = "".join(f"{size}, " for size in shape)
    header = f"{{'descr': '<{code}', 'fortran_order': False, 'shape': ({numbers}), }}"
    header = header.ljust(117) + "\n"
    form = {"f2": "e", "f4": "f", "i4": "i"}[code]
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(values)}{form}", *values))


def read_npy(path):
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    form, size = {"<f2": ("e", 2), "<f4": ("f", 4)}[
        re.search(rb"'descr': '(..?\d)'", data)[1].decode()]
    body = data[10 + length:]
    return list(struct.unpack(f"<{len(body) // size}{form}", body))


def mask(name, rows, columns, entries):
    """The bytes of a file of a pattern, of the form that its ending says."""
    entries = sorted(entries)
    if name.endswith(".mtx"):
        return ("%%MatrixMarket matrix coordinate integer general\n"
                f"{rows} {columns} {len(entries)}\n" +
                "".join(f"{row + 1} {column + 1} {entry(row, column)}\n"
                        for row, column in entries)).encode()
    if name.endswith(".smtx"):
        offsets = [sum(of < row for of, _ in entries) for row in range(rows + 1)]
        return (f"{rows}, {columns}, {len(entries)}\n{' '.join(map(str, offsets))}\n"
                f"{' '.join(str(column) for _, column in entries)}\n").encode()
    values = [0] * (rows * columns)
    for row, column in entries:
        values[row * columns + column] = entry(row, column)
    return npy((rows, columns), values, "f4")


def product(kind, types, shape, plan, **more):
    dtype, partials = TYPES[types]
    m, k, n = shape
    return {"schema_version": 1, "kind": kind, "m": m, "k": k, "n": n, "dtype": dtype,
            "partials": partials, "plan": plan, **more}


def dense(types, shape, plan, **more):
    return product("matmul", types, shape, plan, **more)


def sparse(types, block, shape, plan, pattern, **more):
    sizes = [block if size == "block" else size for size in shape]
    made = product("spmm", types, sizes, plan, mode="static", block=block, pattern=pattern, **more)
    if "file" in pattern:
        del made["m"], made["k"]
    return made


def dense_cases():
    """(name, machine, workload), most with whole numbers, so that the result must be exact."""
    kinds = [(types, FEW_TILES) for types in NOT_FP8] + [(types, ["c600 64"]) for types in FP8]
    count = itertools.count()
    for types, machines in kinds:
        for machine, plan in itertools.product(machines, PLANS):
            for (shape, sizes), (extra, keys) in itertools.product(DENSE_SHAPES.items(),
                                                                   DENSE_EXTRAS.items()):
                values = "integer" if next(count) % 4 else "uniform"
                yield (f"dense {types}, {shape}, {extra}, {plan}, {machine}", machine,
                       dense(types, sizes, plan, values=values, **keys))


def sparse_cases():
    count = itertools.count()
    for types, block, machine, plan in itertools.product(NOT_FP8, BLOCKS, FEW_TILES, PLANS):
        for (shape, (m, k, n, pattern)), (extra, keys) in itertools.product(SPARSE_SHAPES.items(),
                                                                            SPARSE_EXTRAS.items()):
            if extra != "plain" and shape not in ("ragged", "in a row", "in a column"):
                continue
            values = "integer" if next(count) % 4 else "uniform"
            if "file" in pattern: # with values of its own it takes no others
                pattern = pattern | {"values": "ones" if values == "integer" else "file"}
            yield (f"sparse {types}, block {block}, {shape}, {extra}, {plan}, {machine}", machine,
                   sparse(types, block, (m, k, n), plan, pattern, values=values, **keys))


def whole_chip_cases():
    """Small products on all tiles."""
    for machine, plan in itertools.product(["bow", "gc200", "gc2", "c600"], PLANS):
        for types in TYPES if machine == "c600" else NOT_FP8:
            yield (f"dense {types}, {plan}, {machine}", machine,
                   dense(types, (259, 517, 131), plan, values="uniform"))
        for types, block in itertools.product(NOT_FP8, BLOCKS):
            yield (f"sparse {types}, block {block}, {plan}, {machine}", machine,
                   sparse(types, block, (517, 389, 67), plan,
                          {"generator": "uniform", "density": 0.1}, values="uniform"))


def timing_cases():
    """Larger products on all tiles."""
    for machine, plan in itertools.product(["bow", "gc200", "gc2", "c600"], PLANS):
        for types in TYPES if machine == "c600" else NOT_FP8:
            yield (f"large dense {types}, {plan}, {machine}", machine,
                   dense(types, (1024, 1000, 517), plan))
        for block in BLOCKS:
            yield (f"large sparse f16, block {block}, {plan}, {machine}", machine,
                   sparse("f16", block, (1024, 1024, 517), plan,
                          {"generator": "uniform", "density": 0.0625}))


class ProductsTest(CliTest):
    """Runs products, some at a time, and tells all that is wrong with them together."""

    def setUp(self):
        super().setUp()
        for name, entries in MASKS.items():
            (self.scratch / name).write_bytes(mask(name, 67, 101, entries))
            turned = [(column, row) for row, column in entries]
            (self.scratch / f"turned_{name}").write_bytes(mask(name, 101, 67, turned))
        self.numbers = itertools.count()

    def run_product(self, machine, workload, *options):
        """Exit code, result and messages."""
        workload = copy.deepcopy(workload)
        pattern = workload.get("pattern", {})
        if workload.get("transpose_a") and pattern.get("file") in MASKS:
            pattern["file"] = f"turned_{pattern['file']}"
        path = self.scratch / f"product_{next(self.numbers)}.json"
        path.write_text(json.dumps(workload))
        name, sets = MACHINES[machine]
        command = [BINARY, "run", path, "--machine", name, "--threads", "1", "-q", "--json", "-",
                   *options]
        for one in sets:
            command += ["--set", one]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300,
                              cwd=self.scratch, env=self.environment())
        try:
            result = json.loads(done.stdout) if done.stdout else None
        except json.JSONDecodeError:
            result = None
        return done.returncode, result, done.stderr

    def wrong_about(self, workload, code, result, error):
        """What is wrong with a functional run: nothing, or a line."""
        if code != 0 or not result:
            return f"exit code {code}: {error.strip()}"
        check = result.get("check")
        if not check:
            return "nothing was checked"
        if result["workload"]["plan"] != workload["plan"]:
            return f"plan {result['workload']['plan']}"
        ran = result["workload"]
        rows = 67 if "file" in workload.get("pattern", {}) else workload["m"]
        elements = workload.get("groups", 1) * rows * workload["n"]
        if any(ran[key] != workload[key] for key in ("dtype", "partials", "n")):
            return f"another product: {ran}"
        if check["elements"] != elements:
            return f"{check['elements']} elements checked, expected {elements}"
        if (check["passed"] is not True or check["failed_elements"] != 0
                or check["non_finite_elements"] != 0):
            return f"WRONG: {check}"
        if workload.get("values") == "integer":
            # GELU of a whole number is none
            if workload.get("activation") != "gelu" and check["exact_required"] is not True:
                return f"whole numbers, but not compared exactly: {check}"
        if not 0 <= check["max_error_over_tolerance"] <= 1:
            return f"not within tolerance: {check}"
        expects_work = "empty" not in json.dumps(workload.get("pattern", {})) and (
            workload.get("pattern", {}).get("density", 1) > 0.00001)
        if expects_work != (result["cycles"] > 0):
            return f"{result['cycles']} cycles"
        return None

    def wrong_about_timing(self, workload, code, result, error):
        del workload
        if code != 0 or not result:
            return f"exit code {code}: {error.strip()}"
        if result["check"] is not None or result["cycles"] <= 0:
            return f"check {result['check']}, {result['cycles']} cycles"
        return None

    def in_turns(self, work, cases):
        """What `work` says of each, some at a time."""
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            return list(pool.map(work, cases))

    def check_all(self, cases, judge, *options):
        def work(case):
            name, machine, workload = case
            code, result, error = self.run_product(machine, workload, *options)
            wrong = judge(workload, code, result, error)
            return wrong and f"{name}: {json.dumps(workload)}: {wrong}"
        cases = list(cases)
        self.assertTrue(cases)
        self.assertEqual(len({name for name, _, _ in cases}), len(cases))
        wrong = [line for line in self.in_turns(work, cases) if line]
        print(f"{len(cases)} products, {len(wrong)} wrong", file=sys.stderr)
        self.assertFalse(wrong, "\n".join(["", *wrong]))

    def check_by_hand(self, machine, plan):
        """Operands of one's own, multiplied here: whole numbers, so that nothing is rounded."""
        m, k, n, groups = 7, 5, 3, 2
        a = [[[entry(i + g, 2 * j) for j in range(k)] for i in range(m)] for g in range(groups)]
        b = [[[entry(2 * i, j + g) for j in range(n)] for i in range(k)] for g in range(groups)]
        bias = [[entry(g, 3 * j) for j in range(n)] for g in range(groups)]

        def turned(matrix):
            return [list(column) for column in zip(*matrix)]

        def flat(matrices):
            return [value for matrix in matrices for row in matrix for value in row]

        def times(left, right):
            return [[sum(x * y for x, y in zip(row, column)) for column in turned(right)]
                    for row in left]

        for name, shape, values in (("a.npy", (groups, m, k), flat(a)),
                                    ("a_turned.npy", (groups, k, m), flat(map(turned, a))),
                                    ("b.npy", (groups, k, n), flat(b)),
                                    ("b_turned.npy", (groups, n, k), flat(map(turned, b))),
                                    ("bias.npy", (groups, 1, n), flat([bias])),
                                    ("x.npy", (k, n), flat([b[0]])),
                                    ("x_turned.npy", (n, k), flat([turned(b[0])]))):
            (self.scratch / name).write_bytes(npy(shape, values, "f4"))
        kept = {(i, j) for i in range(m) for j in range(k) if (i + j) % 3 == 0}
        pattern = [[entry(i, j) if (i, j) in kept else 0 for j in range(k)] for i in range(m)]
        (self.scratch / "kept.mtx").write_bytes(mask("kept.mtx", m, k, kept))
        (self.scratch / "kept_turned.npy").write_bytes(
            npy((k, m), flat([turned(pattern)]), "f4"))

        products = [[[value + bias[g][j] for j, value in enumerate(row)]
                     for row in times(a[g], b[g])] for g in range(groups)]
        expected_dense = [max(0, value) for value in flat(products)]
        expected_sparse = flat([times(pattern, b[0])])
        self.assertIn(0, expected_dense)
        self.assertGreater(len(set(expected_dense)), 5)
        self.assertGreater(len(set(expected_sparse)), 5)
        cases = []
        for types, turn in itertools.product(TYPES if machine.startswith("c600") else NOT_FP8,
                                             [False, True]):
            ending = "_turned.npy" if turn else ".npy"
            keys = {"transpose_a": turn, "transpose_b": turn}
            cases.append((f"dense {types}, turned {turn}",
                          dense(types, (m, k, n), plan, groups=groups, bias=True,
                                activation="relu", values_a=f"a{ending}", values_b=f"b{ending}",
                                values_bias="bias.npy", **keys), expected_dense))
            for block in BLOCKS if types in NOT_FP8 else []:
                file = "kept_turned.npy" if turn else "kept.mtx"
                cases.append((f"sparse {types}, block {block}, turned {turn}",
                              sparse(types, block, (m, k, n), plan,
                                     {"file": file, "values": "file"}, values_b=f"x{ending}",
                                     **keys), expected_sparse))

        def work(case):
            name, workload, expected = case
            out = self.scratch / f"{name} {plan} {machine}"
            code, result, error = self.run_product(machine, workload, "--out", out)
            if code != 0 or not result["check"]["passed"]:
                return f"{name}, {plan}, {machine}: exit code {code}: {error}"
            got = read_npy(out / "output.npy")
            return None if got == expected else f"{name}: got {got}, expected {expected}"
        wrong = [line for line in self.in_turns(work, cases) if line]
        print(f"{len(cases)} products by hand, {len(wrong)} wrong", file=sys.stderr)
        self.assertFalse(wrong, "\n".join(["", *wrong]))

    def largest(self, machine, make, guess):
        """A size that fits while the next does not, from a guess on."""
        def fits(size):
            if size < 1:
                return True
            code, result, error = self.run_product(machine, make(size), "--mode", "timing")
            if code not in (0, DOES_NOT_FIT) or (code == 0) != bool(result):
                raise AssertionError(f"exit code {code} at size {size}: {error}")
            return code == 0
        step = 1
        if fits(guess):
            low, high = guess, guess + 1
            while fits(high):
                step *= 2
                low, high = high, high + step
        else:
            low, high = guess - 1, guess
            while not fits(low):
                step *= 2
                low, high = max(0, low - step), low
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def check_limit(self, case, wrong_about, *options):
        """What is wrong around the largest that fits."""
        name, machine, make, guess = case
        start = time.monotonic()
        try:
            size = self.largest(machine, make, guess)
        except AssertionError as wrong:
            return f"{name}: {wrong}"
        if size < 1:
            return f"{name}: none fits"
        name = f"{name}: {size} fit"
        workload = make(size)
        code, result, error = self.run_product(machine, workload, *options)
        wrong = wrong_about(workload, code, result, error)
        if wrong:
            return f"{name}: {json.dumps(workload)}: {wrong}"
        code, nothing, message = self.run_product(machine, make(size + 1), *options)
        if code != DOES_NOT_FIT or nothing is not None:
            return f"{name}, exit code {code} of one more: {message}"
        if not any(form.fullmatch(message) for form in DOES_NOT_FIT_MESSAGES):
            return f"{name}, one more does not and says: {message}"
        # The operands and the result, of all tiles' memory: they fill a good part of it.
        size_of = {"f16": 2, "f32": 4, "f143": 1, "f152": 1}[workload["dtype"]]
        m, k, n = (workload[key] for key in "mkn")
        density = workload.get("pattern", {}).get("density", 1)
        least = workload.get("groups", 1) * (size_of * (density * m * k + k * n)
                                             + max(2, size_of) * m * n)
        share = least / (TILES.get(machine, 64) * result["memory"]["tile_bytes"])
        print(f"{name}, {100 * share:.0f} % of all memory, "
              f"{time.monotonic() - start:.0f} s", file=sys.stderr)
        if share < LEAST_SHARE:
            return f"{name}, but these are {100 * share:.0f} % of all tiles' memory"
        return None

    def check_limits(self, cases, wrong_about, *options):
        wrong = [line for line in self.in_turns(
            lambda case: self.check_limit(case, wrong_about, *options), cases) if line]
        self.assertFalse(wrong, "\n".join(["", *wrong]))


DOES_NOT_FIT_MESSAGES = [re.compile(
    r"tessera: does not fit: (matmul|spmm) [^\n]* does not fit in tile memory: " + form + r"\n")
    for form in (
        r"tile_\d+ is \d+ bytes over \('[^'\n]+' finds no place\); most is kept in step "
        r"'[^'\n]+': (tensor|code|exchange rows) \d+ B[^\n]*; the buffers of that step: [^\n]+ \d+ B[^\n]*",
        # of groups, on all tiles together
        r"operands and results are \d+ bytes, and all tiles have \d+")]
LEAST_SHARE = 0.15 # of products in many passes, rows of exchanges take more
TILES = {"bow": 1472, "gc200": 1472, "gc2": 1216, "c600": 1472}
CHIP_UNIT = 256 # sizes of whole chips' products, by which the largest are sought


def limit_cases():
    """(name, machine, a workload by its size, about the largest size that fits)"""
    def with_guess(name, make):
        yield name, name.rsplit(", ", 1)[1], make, LIMITS.get(name, 256)
    for machine, plan in itertools.product(["bow 64", "gc2 64"], PLANS):
        for types in NOT_FP8 if machine == "bow 64" else ["f16"]:
            yield from with_guess(
                f"columns of dense {types}, {plan}, {machine}",
                lambda n, t=types, p=plan: dense(t, (256, 256, n), p, values="integer"))
            yield from with_guess(
                f"rows and inner of dense {types}, {plan}, {machine}",
                lambda m, t=types, p=plan: dense(t, (m, m, 64), p, values="uniform"))
        yield from with_guess(
            f"columns of groups, {plan}, {machine}",
            lambda n, p=plan: dense("f16", (128, 128, n), p, groups=5, values="integer"))
        yield from with_guess(
            f"groups, {plan}, {machine}",
            lambda g, p=plan: dense("f16", (48, 200, 48), p, groups=g, values="integer"))
    for plan, types, block in itertools.product(PLANS, NOT_FP8, BLOCKS):
        yield from with_guess(
            f"columns of sparse {types}, block {block}, {plan}, bow 64",
            lambda n, t=types, p=plan, b=block: sparse(
                t, b, (256, 256, n), p, {"generator": "uniform", "density": 0.0625},
                values="integer"))
    for block in (4, 8, 16): # single elements take minutes
        yield from with_guess(
            f"rows and inner of sparse, block {block}, fastest, bow 64",
            lambda m, b=block: sparse(
                "f16", b, (m, m, 2048), "fastest", {"generator": "uniform", "density": 0.015625},
                values="uniform"))
    for types in FP8:
        yield from with_guess(
            f"columns of dense {types}, c600 64",
            lambda n, t=types: dense(t, (256, 256, n), "published", values="integer"))


def whole_chip_limit_cases():
    """Cubes, in units, of all tiles; about the largest that fits."""
    def cube(units):
        return (CHIP_UNIT * units,) * 3
    for types, machine, guess in [("f16", "bow", 37), ("f32", "bow", 18), ("f16", "gc2", 14)]:
        yield (f"cubes of dense {types}, {machine}", machine,
               lambda units, t=types: dense(t, cube(units), "fastest"), guess)
    for block, plan, machine, guess in [(16, "fastest", "bow", 33), (8, "published", "gc200", 26)]:
        yield (f"cubes of sparse f16, block {block}, {plan}, {machine}", machine,
               lambda units, b=block, p=plan: sparse(
                   "f16", b, cube(units), p, {"generator": "uniform", "density": 0.0625}), guess)


# About what fits; where it is no longer so, the search takes longer.
LIMITS = {
    "test_the_largest_that_fit (__main__.LimitsTest.test_the_largest_that_fit) ... rows and inner of dense f16, fastest, bow 64": 3456,
    "columns of dense f16, fastest, bow 64": 25024,
    "rows and inner of dense f16 in f32, fastest, bow 64": 3392,
    "columns of dense f16 in f32, fastest, bow 64": 24576,
    "rows and inner of dense f32, fastest, bow 64": 2304,
    "columns of groups, fastest, bow 64": 13405,
    "groups, fastest, bow 64": 800,
    "columns of dense f16, published, bow 64": 25024,
    "columns of dense f32, fastest, bow 64": 12480,
    "rows and inner of dense f16, published, bow 64": 3328,
    "columns of dense f16 in f32, published, bow 64": 24576,
    "rows and inner of dense f16 in f32, published, bow 64": 3360,
    "rows and inner of dense f32, published, bow 64": 2304,
    "columns of dense f32, published, bow 64": 12480,
    "columns of dense f16, fastest, gc2 64": 9830,
    "rows and inner of dense f16, fastest, gc2 64": 1856,
    "columns of groups, fastest, gc2 64": 5696,
    "groups, fastest, gc2 64": 320,
    "columns of dense f16, published, gc2 64": 9830,
    "rows and inner of dense f16, published, gc2 64": 1856,
    "columns of groups, published, gc2 64": 5696,
    "groups, published, gc2 64": 320,
    "columns of sparse f16, block 1, fastest, bow 64": 28928,
    "columns of sparse f16, block 4, fastest, bow 64": 32000,
    "columns of sparse f16, block 8, fastest, bow 64": 33664,
    "columns of sparse f16, block 16, fastest, bow 64": 35328,
    "columns of sparse f16 in f32, block 1, fastest, bow 64": 29696,
    "columns of sparse f16 in f32, block 4, fastest, bow 64": 31232,
    "columns of sparse f16 in f32, block 8, fastest, bow 64": 32768,
    "columns of sparse f16 in f32, block 16, fastest, bow 64": 34816,
    "columns of sparse f32, block 1, fastest, bow 64": 15360,
    "columns of sparse f32, block 4, fastest, bow 64": 15872,
    "columns of sparse f32, block 8, fastest, bow 64": 16896,
    "columns of sparse f32, block 16, fastest, bow 64": 17664,
    "columns of sparse f16, block 1, published, bow 64": 30720,
    "columns of sparse f16, block 4, published, bow 64": 32000,
    "columns of sparse f16, block 8, published, bow 64": 33664,
    "columns of sparse f16, block 16, published, bow 64": 35328,
    "columns of sparse f16 in f32, block 1, published, bow 64": 29696,
    "columns of sparse f16 in f32, block 4, published, bow 64": 31232,
    "columns of sparse f16 in f32, block 8, published, bow 64": 32768,
    "columns of sparse f16 in f32, block 16, published, bow 64": 34816,
    "columns of sparse f32, block 1, published, bow 64": 15360,
    "columns of sparse f32, block 4, published, bow 64": 15872,
    "columns of sparse f32, block 8, published, bow 64": 16896,
    "columns of sparse f32, block 16, published, bow 64": 17664,
    "groups, published, bow 64": 896,
    "rows and inner of sparse, block 4, fastest, bow 64": 2816,
    "rows and inner of sparse, block 16, fastest, bow 64": 3712,
    "rows and inner of sparse, block 8, fastest, bow 64": 3328,
    "columns of dense f143, c600 64": 46768,
    "columns of dense f152, c600 64": 46768,
    "AssertionError: ['columns of groups, published, bow 64": 15910,
    "columns of groups, published, bow 64": 15910,
}


class QuickTest(ProductsTest):
    """Some of all."""

    def test_some_products(self):
        cases = [*dense_cases(), *sparse_cases()]
        self.check_all(cases[::17], self.wrong_about)

    def test_by_hand(self):
        self.check_by_hand("tiny", "fastest")

    def test_what_is_not_right_is_told(self):
        workload = dense("f16", (8, 8, 8), "fastest", values="integer")
        done = self.run_product("tiny", workload)
        self.assertIsNone(self.wrong_about(workload, *done))
        self.assertEqual(self.wrong_about(workload, *self.run_product("tiny", workload,
                                                                      "--no-check")),
                         "nothing was checked")
        for key, value in (("passed", False), ("failed_elements", 1), ("elements", 63),
                           ("max_error_over_tolerance", 1.1), ("exact_required", False)):
            code, result, error = copy.deepcopy(done)
            result["check"][key] = value
            self.assertIsNotNone(self.wrong_about(workload, code, result, error))

    def test_eight_bit_products_need_the_third_generation(self):
        for machine, types in itertools.product(["tiny", "gc2 64"], FP8):
            code, result, error = self.run_product(machine, dense(types, (8, 8, 8), "fastest"))
            self.assertEqual((code, result), (FAULT, None))
            self.assertIn("not modelled: FP8", error)


    def test_a_sparse_product_too_large_for_the_chip_is_refused_soon(self):
        most = 10 # s of processors, beside others; by itself it takes a third
        side = 16384
        workload = sparse("f16", 16, (side, side, 4096), "fastest",
                          {"generator": "uniform", "density": 0.0625})
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code, result, error = self.run_product("bow", workload, "--mode", "timing")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual((code, result), (DOES_NOT_FIT, None))
        self.assertIn(f"spmm {side} x {side} x 4096 does not fit in tile memory", error)
        self.assertLess(after.ru_utime - before.ru_utime, most)


class DenseTest(ProductsTest):
    def test_all(self):
        self.check_all(dense_cases(), self.wrong_about)


class SparseTest(ProductsTest):
    def test_all(self):
        self.check_all(sparse_cases(), self.wrong_about)


class ChipsTest(ProductsTest):
    def test_products_on_all_tiles(self):
        self.check_all(whole_chip_cases(), self.wrong_about)

    def test_larger_products_in_timing_mode(self):
        self.check_all(timing_cases(), self.wrong_about_timing, "--mode", "timing")

    def test_by_hand(self):
        for machine, plan in itertools.product(["bow 64", "gc2 64", "c600 64"], PLANS):
            self.check_by_hand(machine, plan)


class LimitsTest(ProductsTest):
    def test_the_largest_that_fit(self):
        self.check_limits(limit_cases(), self.wrong_about)

    def test_the_largest_on_whole_chips(self):
        self.check_limits(whole_chip_limit_cases(), self.wrong_about_timing, "--mode", "timing")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], sys.argv[3]], verbosity=2)
