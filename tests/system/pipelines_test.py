#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pipelines run by the program `tessera`.

Usage: pipelines_test.py BINARY SOURCE_DIRECTORY [--quick]
"""

import json
import pathlib
import struct
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import BINARY, SOURCE, CliTest, main, slow

CONFIGURED = ["activation_gradients", "adam_update", "attention_head", "cross_entropy", "gcn_2_layers", "lamb_update", "mlp", "product_gradients", "softmax_training", "sparse_update",
              "streamed_layers", "two_side_by_side", "update_loop"]
FAMILIES = ["matmul", "bias", "relu", "gelu", "relu_gradient", "gelu_gradient", "add", "multiply", "scale", "cast", "transpose",
            "reduce", "softmax"]


def pipeline(tensors, steps):
    return json.dumps({"schema_version": 1, "kind": "pipeline", "tensors": tensors, "steps": steps})


def step(family, inputs, output, **options):
    return {"family": family, "inputs": inputs, "output": output, **options}


class PipelinesTest(CliTest):
    def result(self, workload, *arguments):
        path = self.scratch / "result.json"
        self.run_ok("run", str(workload), "--json", str(path), "-q", *arguments)
        return json.loads(path.read_text())

    def run_ok(self, *arguments):
        done = subprocess.run([BINARY, *arguments], cwd=self.scratch, env=self.environment(),
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def expect_shares(self, result):
        self.assertEqual(sum(kernel["cycles"] for kernel in result["kernels"]), result["cycles"])
        self.assertTrue(result["check"]["passed"])
        for checked in result["check"]["steps"]:
            self.assertTrue(checked["passed"], checked)
            self.assertGreater(checked["rounds"], 0, checked)

    @slow # the record has their results, too
    def test_configured_pipelines_are_right_and_their_steps_add_up(self):
        for name in CONFIGURED:
            with self.subTest(name):
                trace = self.scratch / f"{name}.trace.gz"
                result = self.result(name, "--trace", str(trace))
                self.expect_shares(result)
                told = subprocess.run(
                    [sys.executable, str(pathlib.Path(SOURCE) / "tools" / "check_trace.py"),
                     str(trace), "--result", str(self.scratch / "result.json")],
                    capture_output=True, text=True)
                self.assertEqual(told.returncode, 0, told.stdout + told.stderr)

    def counting(self, rounds, **keys):
        """A product in a loop that a counter ends, and a step that runs in no round."""
        whole = {"shape": [1], "type": "i32", "values": "constant", **keys}
        return self.file("counting.json", pipeline(
            {"a": {"shape": [64, 64]}, "x": {"shape": [64, 32]}, "left": {**whole, "constant": rounds},
             "down": {**whole, "constant": -1}, "never": {**whole, "constant": 0}},
            [{"while": "left", "steps": [
                step("matmul", ["a", "x"], "sums"), step("scale", ["sums"], "x", name="scale", factor=0.1),
                {"if": "never", "then": [step("relu", ["x"], "x", name="not_done")]},
                step("add", ["left", "down"], "left", name="count")]}]))

    def test_a_million_rounds_that_load_a_row_each_are_counted(self):
        most = 1_000_000
        bodies = {"no barrier": [step("add", ["w", "x"], "w")],
                  "barriers": [step("matmul", ["x", "w"], "y"), step("add", ["y", "w"], "w")]}
        for name, body in bodies.items():
            for place in ("host", "remote"):
                with self.subTest(f"{name}, {place}"):
                    cycles = {}
                    for rounds in (3, 4, most):
                        loop = {"repeat": rounds, "steps": [
                            {"load": "data", "output": "x", "row": 0, "row_a_round": 1}, *body]}
                        file = self.file("rows.json", pipeline(
                            {"data": {"shape": [rounds, 8, 8], "place": place},
                             "w": {"shape": [8, 8]}}, [loop]))
                        begun = time.monotonic()
                        result = self.result(
                            file, "--mode", "timing" if rounds == most else "functional")
                        cycles[rounds] = result["cycles"]
                        self.assertLess(time.monotonic() - begun, 10)
                        self.assertEqual({each["executions"] for each in result["streams"]}, {rounds})
                    self.assertEqual(cycles[most] - cycles[4], (most - 4) * (cycles[4] - cycles[3]))

    def test_loops_end_by_words_that_their_steps_write(self):
        results = {}
        for rounds, threads in ((4, 1), (4, 2), (4, 3), (9, 2)):
            result = self.result(self.counting(rounds), "--threads", str(threads))
            self.assertTrue(result["check"]["passed"])
            times = {checked["name"]: checked["rounds"] for checked in result["check"]["steps"]}
            self.assertEqual(times, {"sums": rounds, "scale": rounds, "not_done": 0, "count": rounds})
            results.setdefault(rounds, []).append((result["cycles"], result["digests"]))
        self.assertEqual(results[4].count(results[4][0]), 3)
        self.assertGreater(results[9][0][0], 2 * results[4][0][0])

    def test_timing_mode_names_the_tensor_that_it_does_not_know(self):
        done = subprocess.run([BINARY, "run", str(self.counting(4)), "--mode", "timing"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 5)
        self.assertIn("'left', tensor data that timing mode does not have", done.stderr)

    def test_rows_outside_the_tiles_are_loaded_and_stored_round_by_round(self):
        steps = [{"load": "data", "output": "x", "row": 4, "row_a_round": -1},
                 step("matmul", ["x", "w"], "y"), {"store": "y", "into": "log", "row": 1}]
        for place in ("host", "remote"):
            workload = self.file("rows.json", pipeline(
                {"data": {"shape": [6, 40, 64], "place": place}, "w": {"shape": [64, 32]},
                 "log": {"shape": [6, 40, 32], "place": place, "values": "constant"}},
                [{"repeat": 5, "steps": steps}]))
            cycles = set()
            for arguments in (["--threads", "1"], ["--threads", "3"], ["--mode", "timing"]):
                result = self.result(workload, *arguments)
                cycles.add(result["cycles"])
                if "timing" not in arguments:
                    times = {one["name"]: one["rounds"] for one in result["check"]["steps"]}
                    self.assertEqual(times, {"x": 5, "y": 5, "log": 5})
                    self.assertTrue(result["check"]["passed"])
            self.assertEqual(len(cycles), 1)

    def test_rows_of_every_type_come_and_go_as_they_are(self):
        sizes = {"f16": [3, 2], "f32": [5], "i32": [7], "u32": [1], "f143": [3, 4], "f152": [12]}
        for place in ("host", "remote"):
            for element, row in sizes.items():
                with self.subTest(f"{element} {place}"):
                    workload = self.file("rows.json", pipeline(
                        {"from": {"shape": [4, *row], "type": element, "place": place},
                         "to": {"shape": [3, *row], "type": element, "place": place,
                                "values": "constant"}},
                        [{"repeat": 3, "steps": [
                            {"load": "from", "output": "x", "row": 3, "row_a_round": -1},
                            {"store": "x", "into": "to"}]}]))
                    result = self.result(workload, "--machine", "tiny")
                    self.assertTrue(result["check"]["passed"])
                    timing = self.result(workload, "--machine", "tiny", "--mode", "timing")
                    self.assertEqual(result["cycles"], timing["cycles"])

    def test_a_loaded_row_gives_what_the_same_tensor_on_the_tiles_does(self):
        header = "{'descr': '<f2', 'fortran_order': False, 'shape': (%s), }"
        def npy(name, shape, numbers):
            text = (header % ", ".join(map(str, shape))).ljust(117) + "\n"
            (self.scratch / name).write_bytes(
                b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() +
                struct.pack(f"<{len(numbers)}e", *numbers))
        numbers = [(i * 37 % 101 - 50) / 8 for i in range(3 * 24 * 16)]
        npy("all.npy", [3 * 24, 16], numbers)  # a file has a matrix
        npy("row.npy", [24, 16], numbers[24 * 16:2 * 24 * 16])
        npy("x.npy", [40, 24], numbers[:40 * 24])
        product = step("matmul", ["x", "w"], "y")
        given = {"x": {"shape": [40, 24], "values": "x.npy"}}
        outputs = set()
        for place in ("tiles", "host", "remote"):
            if place == "tiles":
                tensors, steps = {**given, "w": {"shape": [24, 16], "values": "row.npy"}}, [product]
            else:
                tensors = {**given, "all": {"shape": [3, 24, 16], "values": "all.npy", "place": place}}
                steps = [{"load": "all", "output": "w", "row": 1}, product]
            workload = self.file("one.json", pipeline(tensors, steps))
            for threads in ("1", "2", "3"):
                out = self.scratch / f"{place}{threads}"
                self.run_ok("run", str(workload), "--out", str(out), "-q", "--threads", threads)
                outputs.add((out / "output.npy").read_bytes())
        self.assertEqual(len(outputs), 1)

    def test_side_by_side_takes_no_longer_than_the_slower_one_alone(self):
        product = {"schema_version": 1, "kind": "matmul", "m": 1024, "k": 1024, "n": 1024}
        alone = self.result(self.file("alone.json", json.dumps(product)), "--set",
                            "chip.tiles=736", "--no-check")
        both = self.result("two_side_by_side", "--no-check")
        self.assertLessEqual(both["cycles"], 1.05 * alone["cycles"])

    def test_products_in_a_row_take_what_they_take_alone_and_the_rearranging(self):
        pattern = {"file": "cora.mtx", "values": "gcn"}
        sparse = {"schema_version": 1, "kind": "spmm", "mode": "static", "n": 256, "pattern": pattern}
        dense = {"schema_version": 1, "kind": "matmul", "m": 2708, "k": 256, "n": 64,
                 "unmirrored": True}  # as in a row
        alone = sum(self.result(self.file(f"{name}.json", json.dumps(told)), "--no-check")["cycles"]
                    for name, told in (("sparse", sparse), ("dense", dense)))
        both = self.result(self.file("both.json", pipeline(
            {"a": {"pattern": pattern}, "x": {"shape": [2708, 256]}, "w": {"shape": [256, 64]}},
            [step("spmm", ["a", "x"], "h"), step("matmul", ["h", "w"], "y")])))
        self.expect_shares(both)
        rearranging = sum(kernel["rearrange_cycles"] for kernel in both["kernels"])
        control = both["machine"]["control"]["step_cycles"]
        self.assertLessEqual(both["cycles"], alone + rearranging + 3 * control)
        self.assertGreater(rearranging, 0)

    def test_every_family_follows_every_other(self):
        machine = ["--machine", "tiny"]
        one = {"gelu": {}, "relu": {}, "sigmoid": {}, "tanh": {}, "scale": {"factor": 0.5}, "transpose": {}, "softmax": {}}
        for first, its in one.items():
            for second, others in one.items():
                with self.subTest(f"{first}, {second}"):
                    self.expect_shares(self.result(self.file("two.json", pipeline(
                        {"x": {"shape": [9, 14]}},
                        [step(first, ["x"], "y", **its), step(second, ["y"], "z", **others)])),
                        *machine))

    def test_rows_of_a_framework_are_rearranged_and_told(self):
        def cycles(layout):
            result = self.result(self.file("rows.json", pipeline(
                {"x": {"shape": [64, 48], "layout": layout}, "w": {"shape": [48, 32]}},
                [step("matmul", ["x", "w"], "y")])), "--machine", "tiny")
            self.expect_shares(result)
            return result["cycles"], result["kernels"][0]["rearrange_cycles"]
        plain, nothing = cycles("codelet")
        rows, rearranging = cycles("row_major")
        self.assertEqual(nothing, 0)
        self.assertGreater(rearranging, 0)
        self.assertEqual(rows, plain + rearranging)

    def rearranging(self, result, name):
        return next(kernel["rearrange_cycles"] for kernel in result["kernels"]
                    if kernel["name"] == name)

    def expect_same_in_timing_mode(self, result, file, *arguments):
        timed = self.result(file, "--mode", "timing", *arguments)
        self.assertEqual(timed["cycles"], result["cycles"])

    def test_an_element_wise_step_writes_over_its_input_where_that_stands(self):
        updates = [("add", ["w", "d"], {}), ("add", ["d", "w"], {}), ("add", ["w", "w"], {}),
                   ("multiply", ["d", "w"], {}), ("scale", ["w"], {"factor": 0.75}), ("relu", ["w"], {}),
                   ("gelu", ["w"], {}), ("bias", ["w", "row"], {})]
        rounds = 3
        for family, inputs, options in updates:
            for rows, columns in ((16, 24), (15, 7)):
                for kind in ("f16", "f32"):
                    for is_read_first in (False, True):
                        if is_read_first and kind == "f32":
                            continue
                        with self.subTest(f"{family} {rows} {columns} {kind} {is_read_first}"):
                            tensors = {"w": {"shape": [rows, columns], "type": kind}}
                            if "d" in inputs:
                                tensors["d"] = {"shape": [rows, columns], "type": kind}
                            if "row" in inputs:
                                tensors["row"] = {"shape": [columns], "type": kind}
                            steps = [{"repeat": rounds,
                                      "steps": [step(family, inputs, "w", name="update", **options)]}]
                            if is_read_first:
                                tensors["x"] = {"shape": [20, rows]}
                                steps[0]["steps"].insert(0, step("matmul", ["x", "w"], "y"))
                            file = self.file("update.json", pipeline(tensors, steps))
                            result = self.result(file, "--machine", "tiny")
                            self.expect_shares(result)
                            self.assertEqual([checked["rounds"] for checked in result["check"]["steps"]],
                                             [rounds] * (2 if is_read_first else 1))
                            if rows * columns % 16 == 0 and len(inputs) == 1:
                                self.assertEqual(self.rearranging(result, "update"), 0)
                            self.expect_same_in_timing_mode(result, file, "--machine", "tiny")

    def test_what_a_loop_does_not_change_is_brought_before_it(self):
        def rearranging(rounds):
            result = self.result(self.file("loop.json", pipeline(
                {"x": {"shape": [64, 48]}, "w": {"shape": [48, 32], "layout": "row_major"}},
                [{"repeat": rounds, "steps": [step("matmul", ["x", "w"], "y")]}])),
                "--machine", "tiny")
            self.expect_shares(result)
            return self.rearranging(result, "y")
        self.assertEqual(rearranging(1), rearranging(5))

    def test_a_view_in_a_loop_of_what_stands_before_it_is_right(self):
        self.expect_shares(self.result(self.file("views.json", pipeline(
            {"x": {"shape": [24, 16], "layout": "row_major"}, "d": {"shape": [16, 24]}},
            [{"repeat": 3, "steps": [step("transpose", ["x"], "t"), step("transpose", ["t"], "again"),
                                     step("add", ["d", "t"], "d"), step("relu", ["again"], "z")]}])),
            "--machine", "tiny"))

    def test_views_of_views_are_looked_at_when_all_that_they_show_is_made(self):
        x = {"shape": [2, 96]}
        wide = {"shape": [1, 192]}
        made = [step("relu", ["x0"], "a"), step("relu", ["x1"], "b")]
        cases = {
            "a third part made in between": ({"x0": x, "x1": x, "x2": x}, [
                *made, step("relu", ["x2"], "e"), step("concat", ["a", "b"], "c"),
                step("concat", ["c", "e"], "d"), step("relu", ["d"], "y")]),
            "a view of sizes, made later than the other part": ({"x0": x, "x1": wide}, [
                *made, step("reshape", ["a"], "a2", size_1=1, size_2=192),
                step("concat", ["a2", "b"], "c")]),
            "written in place in between": ({"x0": x, "x2": wide, "g": wide}, [
                step("relu", ["x0"], "a"), step("sgd", ["x2", "g"], "x2", rate=1),
                step("reshape", ["a"], "a2", size_1=1, size_2=192),
                step("concat", ["a2", "x2"], "d"), step("relu", ["d"], "y")]),
        }
        for name, (tensors, steps) in cases.items():
            for times in (1, 3):
                with self.subTest(name, times=times):
                    body = steps if times == 1 else [{"repeat": times, "steps": steps}]
                    workload = self.file("views.json", pipeline(tensors, body))
                    result = self.result(workload, "--set", "chip.tiles=16")
                    self.assertTrue(result["check"]["passed"])

    def test_all_that_steps_leave_unread_are_results(self):
        file = self.file("updates.json", pipeline(
            {"w": {"shape": [8, 8]}, "v": {"shape": [8, 8]}},
            [{"repeat": 2, "steps": [step("scale", ["w"], "w", name="of_w", factor=0.5),
                                     step("add", ["w", "v"], "v", name="of_v")]},
             step("relu", ["w"], "y")]))
        result = self.result(file, "--machine", "tiny", "--out", str(self.scratch / "out"))
        saved = {path.name for path in (self.scratch / "out").rglob("*.npy")}
        self.assertEqual(saved, {"output.npy", "output.v.npy", "output.y.npy"})
        self.assertEqual(result["results"], [{"name": name, "file": f"output.{name}.npy"} for name in "yv"])

    def test_results_do_not_depend_on_threads(self):
        def told(threads):
            result = self.result("mlp", "--threads", str(threads))
            del result["host"]
            return result
        self.assertEqual(told(1), told(2))


if __name__ == "__main__":
    main()
