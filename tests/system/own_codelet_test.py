#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Codelets of one's own in pipelines, beside numpy. Usage: own_codelet_test.py BINARY SOURCE_DIRECTORY"""

import json
import random
import shutil
import sys
import unittest

import numpy

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import SOURCE, CliTest

VERTICES = SOURCE / "configs" / "vertices"
ROWS, COLUMNS = 64, 48


def row_dot(**told):
    """A step: the dot product of each row of `active` and w."""
    return {"codelet": "row_dot.S", "vertex": "row_dot.json", "inputs": {"x": "active", "w": "w"},
            "outputs": {"y": {"tensor": "scores", "shape": [ROWS]}}, **told}


def pipeline(step, rows=ROWS, columns=COLUMNS):
    return {"schema_version": 1, "kind": "pipeline",
            "tensors": {"x": {"type": "f32", "shape": [rows, columns]},
                        "w": {"type": "f32", "shape": [columns]}},
            "steps": [{"family": "relu", "inputs": ["x"], "output": "active"}, step,
                      {"family": "relu", "inputs": ["scores"], "output": "out"}]}


class OwnCodeletTest(CliTest):
    def setUp(self):
        super().setUp()
        for name in ("row_dot", "scaled_add"):
            for ending in (".S", ".json"):
                shutil.copy(VERTICES / (name + ending), self.scratch)

    def write(self, document):
        return self.file("own.json", json.dumps(document, indent=1))

    def cycles_in_both_modes(self, *sets):
        made = [self.result("own.json", "--mode", mode, *sets, "--threads", threads)
                for mode, threads in (("functional", "2"), ("timing", "1"))]
        self.assertEqual(made[0]["cycles"], made[1]["cycles"])
        return made[0]

    def answer(self, name, *sets):
        shutil.rmtree(self.scratch / "left", ignore_errors=True)
        self.tessera("run", "own.json", *sets, "--out", "left", "-q")
        one = self.scratch / "left" / "output.npy"
        return numpy.load(one if one.exists() else one.with_name(f"output.{name}.npy"))

    def given(self, tensors):
        """Random values for tensors, in files: sixteenths, so that sums of few products are exact."""
        draw = numpy.random.default_rng(1)
        values = {}
        for name, tensor in tensors.items():
            values[name] = (draw.integers(-16, 17, tensor["shape"]) / 16).astype(numpy.float32)
            numpy.save(self.scratch / f"{name}.npy", values[name])
            tensor["values"] = f"{name}.npy"
        return values

    def test_rows_of_random_shapes_on_random_tiles_are_those_of_numpy(self):
        drawn = random.Random(1)
        for number in range(8):
            rows, columns = drawn.randint(1, 200), 2 * drawn.randint(1, 40)
            sets = ["--set", f"chip.tiles={drawn.choice([2, 6, 16, 64])}"]
            with self.subTest(number=number, rows=rows, columns=columns, sets=sets):
                step = row_dot(outputs={"y": {"tensor": "scores", "shape": [rows]}})
                document = pipeline(step, rows, columns)
                values = self.given(document["tensors"])
                self.write(document)
                checked = self.cycles_in_both_modes(*sets)["check"]
                self.assertTrue(checked["passed"])
                self.assertEqual([one["family"] for one in checked["steps"]],
                                 ["relu", "codelet", "relu"])
                self.assertEqual(checked["steps"][1]["elements"], rows)
                wanted = numpy.maximum(numpy.maximum(values["x"], 0) @ values["w"].astype(float), 0)
                numpy.testing.assert_allclose(self.answer("out", *sets), wanted, rtol=1e-4,
                                              atol=1e-4)

    def test_elements_of_random_shapes_are_those_of_numpy(self):
        drawn = random.Random(2)
        for number in range(8):
            shape = [drawn.randint(1, 30) for _ in range(drawn.randint(1, 3))] + [2]
            sets = ["--set", f"chip.tiles={drawn.choice([2, 6, 16, 64])}"]
            over = bool(number % 2)
            with self.subTest(number=number, shape=shape, sets=sets, over=over):
                document = {
                    "schema_version": 1, "kind": "pipeline",
                    "tensors": {name: {"type": "f32", "shape": shape} for name in ("x", "y")},
                    "steps": [
                        {"family": "relu", "inputs": ["x"], "output": "active"},
                        {"codelet": "scaled_add.S", "vertex": "scaled_add.json",
                         "inputs": {"x": "active", "y": "y"}, "split": "elements",
                         "outputs": {"y": {} if over else {"tensor": "sum"}}},
                        {"family": "add", "inputs": ["y" if over else "sum", "y"],
                         "output": "out"}]}
                values = self.given(document["tensors"])
                self.write(document)
                self.assertTrue(self.cycles_in_both_modes(*sets)["check"]["passed"])
                total = 2.5 * numpy.maximum(values["x"], 0) + values["y"]
                wanted = total + (total if over else values["y"])
                numpy.testing.assert_allclose(self.answer("out", *sets), wanted, rtol=1e-5,
                                              atol=1e-5)

    def test_tiles_share_out_the_first_size(self):
        tiles, rows, columns = 6, 5, 8
        document = {
            "schema_version": 1, "kind": "pipeline",
            "tensors": {"x": {"type": "f32", "shape": [tiles, rows, columns]},
                        "w": {"type": "f32", "shape": [columns]}},
            "steps": [row_dot(inputs=["x", "w"], split="tiles",
                              outputs={"y": {"tensor": "scores", "shape": [tiles, rows]}})]}
        values = self.given(document["tensors"])
        self.write(document)
        sets = ["--set", f"chip.tiles={tiles}"]
        done = self.cycles_in_both_modes(*sets)
        self.assertTrue(done["check"]["passed"])
        numpy.testing.assert_allclose(self.answer("scores", *sets), values["x"] @ values["w"],
                                      rtol=1e-4, atol=1e-4)
        said = self.tessera("run", "own.json", "--set", f"chip.tiles={tiles - 2}", code=3).stderr
        self.assertRegex(said, r"^own\.json:\d+:\d+: /steps/0/split: got 6 shares, .* at most the 4 "
                               r"tiles that there are")

    def test_rounds_of_a_repeat_are_checked_each(self):
        step = {"codelet": "scaled_add.S", "vertex": "scaled_add.json",
                "inputs": {"x": "x", "y": "y"}, "outputs": {"y": {}}, "split": "elements"}
        document = {"schema_version": 1, "kind": "pipeline",
                    "tensors": {name: {"type": "f32", "shape": [60]} for name in ("x", "y")},
                    "steps": [{"repeat": 3, "steps": [step]}]}
        values = self.given(document["tensors"])
        self.write(document)
        sets = ["--set", "chip.tiles=4"]
        self.assertEqual(self.cycles_in_both_modes(*sets)["check"]["steps"][0]["rounds"], 3)
        numpy.testing.assert_allclose(self.answer("y", *sets), 7.5 * values["x"] + values["y"],
                                      rtol=1e-5, atol=1e-5)

    def test_modules_give_the_tensors_of_a_codelet_their_names(self):
        step = row_dot(inputs={"x": "h", "w": "w"}, outputs={"y": {"shape": ["rows"]}})
        document = {
            "schema_version": 1, "kind": "pipeline", "sizes": {"rows": ROWS, "columns": COLUMNS},
            "modules": {"score": {"inputs": ["h"], "outputs": ["y"],
                                  "tensors": {"w": {"type": "f32", "shape": ["columns"]}},
                                  "steps": [step]}},
            "tensors": {"x": {"type": "f32", "shape": ["rows", "columns"]}},
            "steps": [{"module": "score", "name": name, "inputs": ["x"], "output": output}
                      for name, output in (("first", "a"), ("second", "b"))]
            + [{"family": "add", "inputs": ["a", "b"], "output": "out"}]}
        self.write(document)
        steps = self.cycles_in_both_modes("--set", "chip.tiles=4")["check"]["steps"]
        self.assertEqual([step["name"] for step in steps], ["first.y", "second.y", "out"])
        document["modules"]["score"]["steps"][0]["inputs"]["w"] = "x"
        self.write(document)
        said = self.tessera("check", "own.json", code=3).stderr
        self.assertIn("/modules/score/steps/0/inputs/w", said)

    # Mistakes.

    def told(self, document, code=3, command="check"):
        self.write(document)
        sets = ["--set", "chip.tiles=8"] if command == "run" else []
        done = self.tessera(command, "own.json", *sets, code=code)
        return done.stdout + done.stderr

    def test_mistakes_of_a_step_are_told_at_their_place(self):
        wrong_shape = pipeline(row_dot())
        wrong_shape["tensors"]["w"]["shape"] = [COLUMNS - 2]
        wrong_type = pipeline(row_dot())
        wrong_type["tensors"]["w"]["type"] = "f16"
        cases = [
            (row_dot(inputs={"xx": "active", "w": "w"}),
             "/inputs/xx: row_dot.json has no array 'xx'; did you mean 'x'?"),
            (row_dot(inputs={"x": "actve", "w": "w"}),
             "/inputs/x: unknown tensor 'actve'; did you mean 'active'?"),
            (row_dot(inputs=["active", "w", "x"]),
             "/inputs: got 3 tensors, expected at most 2, as row_dot.json has arrays besides the "
             "outputs: x, w"),
            (row_dot(inputs=["active", 7]), "/inputs/1: got number 7, expected the name of a tensor"),
            (row_dot(outputs={"z": {"tensor": "scores", "shape": [ROWS]}}),
             "/outputs/z: row_dot.json has no array 'z'"),
            (row_dot(outputs={"y": {"tensor": "scores", "shape": [ROWS - 1]}}),
             "/outputs/y/shape: got f32 63, which has 63 elements, expected 64: array 'y' of "
             "row_dot.json has 64 with rows 64"),
            (row_dot(outputs={"y": {"tensor": "scores", "shape": [ROWS], "type": "f16"}}),
             "/outputs/y/type: got f16, expected f32 as in row_dot.json"),
            (row_dot(parameters={"colums": 4}),
             "/parameters/colums: row_dot.json has no parameter 'colums'; did you mean 'columns'?"),
            (row_dot(parameters={"rows": 4}), "/parameters/rows: got a value of what a tile's share"),
            (row_dot(parameters={"columns": 64}),
             "/inputs/x: got f32 64 x 48, whose rows have 48 elements, expected 64"),
            (row_dot(grain=7), "/grain: got a grain of 7 for 64 rows"),
            (row_dot(split="elements"), "/split: got elements, expected rows"),
            (row_dot(split="tiles"), "/inputs/x: got f32 64 x 48, expected a size that counts tiles"),
            (row_dot(split="row"), "/split: got string \"row\", expected"),
            (row_dot(expect={"yy": 1}), "/expect/yy: got 'yy', expected an array that is an output"),
            (row_dot(expect={"y": {"eech": "1"}}), "/expect/y: missing, expected generator or file"),
            (row_dot(spilt="rows"), "/spilt: unknown key; did you mean 'split'?"),
        ]
        for step, said in cases:
            with self.subTest(said=said):
                self.assertRegex(self.told(pipeline(step)), r"own\.json:\d+:\d+: /steps/1")
                self.assertIn("/steps/1" + said, self.told(pipeline(step)))
        self.assertIn("/steps/1/inputs/w: got f32 46, which has 46 elements, expected 48",
                      self.told(wrong_shape))
        self.assertIn("/steps/1/inputs/w: got f16 48, expected f32 as array 'w' of row_dot.json",
                      self.told(wrong_type))

    def test_files_that_are_not_there_are_told_with_where_they_were_looked_for(self):
        for key, name in (("codelet", "row_dott.S"), ("vertex", "../nowhere/row_dot.json")):
            with self.subTest(key=key):
                said = self.told(pipeline(row_dot(**{key: name})), code=None)
                self.assertRegex(said, r"own\.json:\d+:\d+: /steps/1/" + key +
                                 f": cannot find '{name}'; looked for")

    def vertex(self, **changes):
        """The vertex file with other values of keys."""
        vertex = json.loads((VERTICES / "row_dot.json").read_text())
        vertex.update(changes)
        self.file("row_dot.json", json.dumps(vertex, indent=1))

    def test_mistakes_of_the_vertex_file_are_told_in_it(self):
        state = json.loads((VERTICES / "row_dot.json").read_text())["state"]
        call = {"entry": "row_dot", "kind": "multi_worker"}
        cases = [
            ({"state": [{"pointer": "xx"}]}, "/state/0/pointer: unknown array 'xx'"),
            ({"state": [{"pointer": ""}]}, "/state/0/pointer: unknown array ''"),
            ({"sources": ["row_dot.S", "row_dot.S"]}, "/sources: got 2 sources, expected one"),
            ({"stack_bytes": 64}, "/stack_bytes: got it in a pipeline, expected a codelet that needs"),
            ({"synchronises": ["y"]}, "/synchronises: got it in a pipeline"),
            ({"arrays": {"x": {"type": "f32", "shape": ["2 * rows", "columns"]},
                         "w": {"type": "f32", "length": "columns"},
                         "y": {"type": "f32", "length": "rows"}}},
             "/arrays/x/shape/0: got string \"2 * rows\", expected the name of a parameter"),
        ]
        for changes, said in cases:
            with self.subTest(said=said):
                self.vertex(**changes)
                told = self.told(pipeline(row_dot()))
                self.assertRegex(told, r"(?m)^row_dot\.json:\d+:\d+: ")
                self.assertIn(said, told)
        vertex = json.loads((VERTICES / "row_dot.json").read_text())
        del vertex["entry"], vertex["kind"]
        vertex["calls"] = [call, call]
        self.file("row_dot.json", json.dumps(vertex, indent=1))
        self.assertIn("/calls: got 2 calls, expected one in a pipeline",
                      self.told(pipeline(row_dot())))
        # those that a machine shows
        for changes, said in (
                ({"entry": "row_dots"}, "/entry: row_dot.S has no symbol 'row_dots'; did you mean 'row_dot'?"),
                ({"state": state[:3] + [{"u32": "addr(x)"}]}, "addr() is not known here, with 8 rows on a tile; a pipeline places"),
                ({"state": state[:2] + [{"pointer": "y", "packing": "short_span"}]},
                 "got packing 'short_span', expected pointers that are words of their own")):
            with self.subTest(said=said):
                self.vertex(**changes)
                self.assertIn(said, self.told(pipeline(row_dot()), command="run"))

    def test_a_share_that_does_not_divide_is_told_where_the_vertex_file_divides_it(self):
        said = self.told(pipeline(row_dot(), columns=COLUMNS - 1), command="run")
        self.assertRegex(said, r"row_dot\.json:\d+:\d+: /state/4/u32: got 23\.5, expected a whole "
                               r"number of .*, with 8 rows on a tile")

    def test_a_wrong_answer_is_told_with_what_is_expected_where(self):
        said = self.told(pipeline(row_dot(expect={"y": {"each": "at(x, i * columns) - 9"}})), code=1,
                         command="run")
        self.assertIn("WRONG: step scores", said)
        self.assertRegex(" ".join(said.split()), r"array 'y' of tile 0, element 0: got .*, expected .* "
                                                 r"by own\.json:\d+:\d+|by \"expect\" of the step")
        self.vertex(expect={"y": 1e6})
        said = " ".join(self.told(pipeline(row_dot()), code=1, command="run").split())
        self.assertRegex(said, r"WRONG: 64 of 64 elements; array 'y' of tile 0, element 0: got .*, "
                               r"expected 1e\+06 by row_dot\.json:\d+:\d+")
        self.vertex(expect={"y": "colums"})
        said = self.told(pipeline(row_dot()), command="run")
        self.assertRegex(said, r"row_dot\.json:\d+:\d+: /expect/y: .*unknown name 'colums'")
        said = self.told(pipeline(row_dot(expect={"y": "colums"})), command="run")
        self.assertRegex(said, r"own\.json:\d+:\d+: /steps/1/expect/y: .*unknown name 'colums'")

    def test_a_mistake_in_the_source_is_told_at_its_line(self):
        text = (VERTICES / "row_dot.S").read_text().replace("mul     $m7", "mull    $m7")
        self.file("row_dot.S", text)
        line = next(i for i, said in enumerate(text.splitlines(), 1) if "mull" in said)
        self.assertIn(f"row_dot.S:{line}:", self.told(pipeline(row_dot()), command="run"))

    def test_a_symbol_that_a_family_has_too_is_told(self):
        """Sources of a program have one name each for their entries."""
        text = (VERTICES / "row_dot.S").read_text().replace("row_dot:", "relu_f32:\nrow_dot:")
        self.file("row_dot.S", text.replace(".globl row_dot", ".globl row_dot\n.globl relu_f32"))
        self.assertIn("relu_f32", self.told(pipeline(row_dot()), code=None, command="run"))

    def test_whatever_stands_in_a_step_or_a_vertex_file_there_is_an_answer(self):
        drawn = random.Random(3)
        others = [None, True, -1, 0, 1.5, 1e300, "", "x", "rows", [], [1], ["x", "y"], {}, {"x": "active"},
                  {"each": "at(x, 1e9)"}, "1/0"]

        def places(value, place=()):
            yield place
            inner = value.items() if isinstance(value, dict) else \
                enumerate(value) if isinstance(value, list) else ()
            for key, item in inner:
                yield from places(item, (*place, key))

        def replaced(whole, place, value):
            whole = json.loads(json.dumps(whole))
            around = whole
            for key in place[:-1]:
                around = around[key]
            around[place[-1]] = value
            return whole

        step = row_dot(grain=2, parameters={"columns": COLUMNS}, name="dot", split="rows",
                       expect={"y": {"each": "sum(k, 0, columns, at(x, i * columns + k) * at(w, k))"}})
        vertex = json.loads((VERTICES / "row_dot.json").read_text())
        cases = [(place, value, True) for place in places(step) if place for value in others]
        cases += [(place, value, False) for place in places(vertex) if place for value in others]
        for place, value, in_step in drawn.sample(cases, 120):
            with self.subTest(place=place, value=value, in_step=in_step):
                self.write(pipeline(replaced(step, place, value) if in_step else step))
                self.vertex(**({} if in_step else replaced(vertex, place, value)))
                done = self.tessera("run", "own.json", "--set", "chip.tiles=4", code=None)
                self.assertIn(done.returncode, (0, 1, 3, 4, 5, 6), done.stderr)

    def test_a_sweep_runs_with_the_files_that_were_frozen_with_it(self):
        self.write(pipeline(row_dot()))
        self.file("sweep.json", json.dumps({
            "schema_version": 1, "workload": ["own.json"],
            "axes": [{"path": "chip.tiles", "values": [4, 8]}]}))
        self.tessera("sweep", "submit", "sweep.json", "--print", "--store", "frozen.sweep")
        for name in ("own.json", "row_dot.S", "row_dot.json"):
            (self.scratch / name).unlink()
        (frozen,) = (self.scratch / "frozen.sweep" / "sweeps").glob("*.json")
        self.tessera("sweep", "worker", frozen, "--store", "frozen.sweep", "-q")
        shown = self.tessera("sweep", "show", "frozen.sweep").stdout.splitlines()
        self.assertEqual([line.split()[-1] for line in shown[1:]], ["ok", "ok"])
        # and says which file is missing
        next((frozen.with_suffix("") / "files").glob("row_dot*.S")).unlink()
        said = self.tessera("sweep", "worker", frozen, "--store", "other.sweep", code=None).stderr
        self.assertRegex(said, r"/steps/1/codelet: cannot find '.*row_dot.*\.S'")

    def test_a_codelet_has_no_gradient(self):
        document = pipeline(row_dot())
        document["train"] = {"outputs": ["out"], "with_respect_to": ["w"]}
        document["tensors"]["out_gradient"] = {"type": "f32", "shape": [ROWS]}
        self.assertIn("step 'scores' with codelet row_dot.S", self.told(document))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
