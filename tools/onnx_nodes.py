#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Imports and runs the node models of ONNX's test data (Debian's libonnx-testdata), and holds what comes out
against the reference outputs.

usage: tools/onnx_nodes.py TESSERA [--every N] [--why]

    --every N   only each Nth model, and one of each operator that these leave out
    --why       names each model that is refused or wrong, with the reason

Counted are models all of whose operators are in the list of `tessera import --operators`. Sizes, axes and the like,
which these models take as inputs, are given to the import as constants. The machine is a Bow chip with 64 tiles. The
last rows are of all models, of those with a tensor of DOUBLE, which is FP32 here, and of all but those of Cast. The exit code is 1 where a result is wrong, a model is refused that once was not,
or less than 95 % of the models are equal; 77 where there are no test data, or the program reads no ONNX.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "system"))
import numpy  # noqa: E402  one of Debian's own Python

import onnx_model  # noqa: E402

DATA = pathlib.Path("/usr/share/libonnx-testdata/data/node")
SKIPPED = 77
LEAST = 0.95
# models that may be refused: of types and attributes that no family has, and of no elements
MAY_BE_REFUSED = re.compile("cast(like)?_.*(BFLOAT16|STRING).*|constantofshape_int_shape_zero|identity_(opt|sequence).*|maxpool_with_argmax.*|"
                            "reshape_allowzero_reordered|scatternd_(add|multiply)|slice_start_out_of_bounds|split_zero_size_splits|"
                            "training_dropout.*|tri[lu]_zero")
TYPES = {"f16": "f2", "f32": "f4", "i32": "i4", "u32": "u4"}
# inputs that an import has to know, by operator
PARAMETERS = {
    "Compress": [1], "ConstantOfShape": [0], "CumSum": [1], "Dropout": [1, 2], "Expand": [1], "GatherND": [1],
    "OneHot": [1, 2], "Pad": [1, 2], "Pow": [1], "Range": [0, 1, 2], "ReduceSum": [1], "Reshape": [1],
    "ReverseSequence": [1], "Scatter": [1], "ScatterElements": [1], "ScatterND": [1], "Slice": [1, 2, 3, 4],
    "Split": [1], "Squeeze": [1], "Tile": [1], "TopK": [1], "Trilu": [1], "Unsqueeze": [1]}

Outcome = collections.namedtuple("Outcome", "model operators has_double kind why")


def parts(text):
    """[(tensor, name in the model)] of "a, b ('x/y')"."""
    found = [re.fullmatch(r"(\S+)(?: \('(.*)'\))?", part) for part in text.split(", ") if part != "none"]
    return [(one.group(1), one.group(2) or one.group(1)) for one in found]


class Runner:
    def __init__(self, tessera):
        self.tessera = pathlib.Path(shutil.which(tessera) or tessera).resolve()
        self.environment = dict(os.environ, TESSERA_CONFIGS=str(ROOT / "configs"))
        listed = self.call("import", "--operators")
        self.operators = {line.split()[0] for line in listed.stdout.splitlines()}

    def call(self, *arguments, **options):
        return subprocess.run([self.tessera, *map(str, arguments)], capture_output=True, text=True,
                              env=self.environment, timeout=120, **options)

    def outcome(self, folder):
        model = onnx_model.Model((folder / "model.onnx").read_bytes())
        operators = sorted({node.op for node in model.nodes})
        if not operators or not self.operators.issuperset(operators):
            return None
        with tempfile.TemporaryDirectory() as scratch:
            kind, why = self.compared(folder, model, pathlib.Path(scratch))
        has_double = any(port.kind == "f8" for port in model.inputs + model.outputs)
        return Outcome(folder.name.removeprefix("test_"), operators, has_double, kind, why)

    @staticmethod
    def is_parameter(model, name, value):
        named = any(name in [node.inputs[i] for i in PARAMETERS.get(node.op, []) if i < len(node.inputs)]
                    for node in model.nodes)
        is_whole = value.dtype.kind in "iu"
        numbers_rows = any(node.op == "OneHot" and name == node.inputs[0] for node in model.nodes)
        return named or (numbers_rows and not is_whole)

    def compared(self, folder, model, scratch):
        told, given = [], {}
        for i, port in enumerate(model.inputs):
            value = None if port.kind is None else onnx_model.array(
                (folder / "test_data_set_0" / f"input_{i}.pb").read_bytes())
            if value is not None and self.is_parameter(model, port.name, value):
                numpy.save(scratch / f"constant_{i}.npy", value)
                told += ["--constant", f"{port.name}={scratch / f'constant_{i}.npy'}"]
            else:
                given[port.name] = value
        workload = scratch / "model.json"
        made = self.call("import", folder / "model.onnx", "-o", workload, *told)
        if made.returncode != 0:
            return "refused", made.stderr.strip().split(": ", 2)[-1]
        tensors = json.loads(workload.read_text())["tensors"]
        inputs, outputs = (parts(re.search(f"^{kind}: (.*)$", made.stdout, re.M).group(1))
                           for kind in ("inputs", "outputs"))
        sets = []
        for tensor, name in inputs:
            value = given[name].astype(TYPES[tensors[tensor]["type"]])
            numpy.save(scratch / f"{tensor}.npy", value.reshape(tensors[tensor]["shape"]))
            sets += ["--set", f"workload.tensors.{tensor}.values={tensor}.npy"]
        run = self.call("run", workload, "--set", "chip.tiles=64", "--threads", 1, "--out", "out", "-q", *sets,
                        cwd=scratch)
        if run.returncode != 0:
            return "wrong", run.stderr.strip()
        for i, (tensor, _) in enumerate(outputs):
            expected = onnx_model.array((folder / "test_data_set_0" / f"output_{i}.pb").read_bytes())
            name = "output.npy" if len(outputs) == 1 else f"output.{tensor}.npy"
            got = numpy.load(scratch / "out" / name)
            if got.shape != (expected.shape or (1,)):
                return "wrong", f"{tensor}: got {got.shape}, expected {expected.shape}"
            # the tolerance of ONNX's own tests
            if not numpy.allclose(got.reshape(expected.shape).astype(float), expected.astype(float), rtol=1e-3,
                                  atol=1e-7):
                return "wrong", f"{tensor}: got {got.ravel()[:8]}, expected {expected.ravel()[:8]}"
        return "equal", ""


def chosen(known, every):
    """Each `every`-th folder of models, and for each known operator that these leave out a model of it alone, if there is one."""
    folders = sorted(DATA.iterdir())
    some, models = folders[::every], collections.defaultdict(list)
    for folder in folders:
        operators = {node.op for node in onnx_model.Model((folder / "model.onnx").read_bytes()).nodes}
        for operator in operators if known.issuperset(operators) else ():
            models[operator].append((len(operators), folder))
    left_out = {min(of_operator)[1] for of_operator in models.values() if not {folder for _, folder in of_operator} & set(some)}
    return sorted({*some, *left_out})


def row(name, outcomes):
    kinds = collections.Counter(outcome.kind for outcome in outcomes)
    return f"| {name} | {len(outcomes)} | {kinds['equal']} | {kinds['refused']} | {kinds['wrong']} |"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("tessera")
    options.add_argument("--every", type=int, default=1)
    options.add_argument("--why", action="store_true")
    options = options.parse_args()
    if not DATA.is_dir():
        print(f"no {DATA}: libonnx-testdata is not installed")
        return SKIPPED
    runner = Runner(options.tessera)
    if "no reader of ONNX" in runner.call("import", os.devnull, "-o", "none.json").stderr:
        print("this build reads no ONNX")
        return SKIPPED
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = [one for one in pool.map(runner.outcome, chosen(runner.operators, options.every)) if one]
    by_operator = collections.defaultdict(list)
    for outcome in outcomes:
        by_operator[outcome.operators[0] if len(outcome.operators) == 1 else "several"].append(outcome)
    others = [outcome for outcome in outcomes if outcome.operators != ["Cast"]]
    print("| operator | models | equal | refused | wrong |\n| --- | --- | --- | --- | --- |")
    for name in sorted(by_operator, key=lambda name: (name == "several", name)):
        print(row(name, by_operator[name]))
    print(row("all", outcomes))
    print(row("with DOUBLE", [outcome for outcome in outcomes if outcome.has_double]))
    print(row("all but Cast", others))
    for outcome in outcomes if options.why else []:
        if outcome.kind != "equal":
            print(f"{outcome.model}: {outcome.kind}: {outcome.why}")
    equal = sum(outcome.kind == "equal" for outcome in outcomes)
    lost = [outcome for outcome in outcomes if outcome.kind == "refused" and not MAY_BE_REFUSED.fullmatch(outcome.model)]
    for outcome in lost:
        print(f"{outcome.model} was not refused before: {outcome.why}", file=sys.stderr)
    is_wrong = lost or any(outcome.kind == "wrong" for outcome in outcomes)
    return 1 if is_wrong or equal < LEAST * len(outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
