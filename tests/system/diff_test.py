#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tessera diff` and `tessera explain`: reasons add up, the first one is what was changed, and what is promised holds.

usage: diff_test.py TESSERA SOURCE_DIRECTORY [unittest arguments]
"""
import gzip
import json
import re
import struct
import sys
import unittest

sys.dont_write_bytecode = True  # no folder among the sources
from cli_case import CliTest

TWO_STEPS = {"schema_version": 1, "kind": "pipeline", "seed": 1,
             "tensors": {"x": {"shape": [256, 128], "values": "uniform"}, "w": {"shape": [128, 64], "values": "uniform"}},
             "steps": [{"name": "product", "family": "matmul", "inputs": ["x", "w"], "output": "y"},
                       {"name": "activation", "family": "gelu", "inputs": ["y"], "output": "z"}]}


class Case(CliTest):
    def tessera(self, *arguments, code=0):
        done = super().tessera(*arguments, code=code)
        return done.stdout if code == 0 else done.stderr

    def run_to(self, out, workload, *sets, machine="tiny", mode="timing"):
        self.tessera("run", workload, "--machine", machine, "--mode", mode, "--out", out, "-q", *(f"--set={one}" for one in sets))
        return json.loads((self.scratch / out / "result.json").read_text())


class DiffTest(Case):
    def compared(self, a, b):
        text = self.tessera("diff", a, b)
        found = json.loads(self.tessera("diff", a, b, "--json", "-", "-q"))
        self.assertAlmostEqual(sum(one["cycles"] for one in found["reasons"]), found["change"], delta=len(found["reasons"]) + 8)
        self.assertEqual(found["change"], found["b"]["cycles"] - found["a"]["cycles"])
        for step in found["steps"]:
            self.assertAlmostEqual(sum(one["cycles"] for one in step["reasons"]), step["b"] - step["a"], delta=8)
        if found["reasons"]:
            self.assertIn(found["reasons"][0]["sentence"], text.replace("\n           ", " "))
        return found

    def check_first(self, reason, a, b, machine="tiny", workload="tiny_spmm_b1"):
        """What is changed is the only setting that differs, and the first reason."""
        self.run_to("a", workload, *a, machine=machine)
        self.run_to("b", workload, *b, machine=machine)
        found = self.compared("a", "b")
        self.assertEqual([one["path"] for one in found["settings"]], [one.split("=")[0] for one in b or a])
        self.assertNotEqual(found["change"], 0)
        self.assertEqual(found["reasons"][0]["reason"], reason, found["reasons"])

    def test_the_first_reason_is_what_was_changed(self):
        for reason, a, b, machine, workload in (
                ("word_time", ["exchange.lane_bytes=8"], ["exchange.lane_bytes=4"], "bow", "exchange_broadcast"),
                ("word_time", ["exchange.lane_bytes=8"], ["exchange.lane_bytes=4"], "bow", "dense_4096_f16"),
                ("issue_time", ["tile.workers=6"], ["tile.workers=5"], "tiny", "tiny_spmm_b1"),
                ("issues", ["workload.pattern.density=0.3"], ["workload.pattern.density=0.6"], "tiny", "tiny_spmm_b1"),
                ("barrier_time", ["sync.internal_cycles=100"], ["sync.internal_cycles=400"], "bow", "sync")):
            with self.subTest(reason, b=b, workload=workload):
                self.check_first(reason, a, b, machine, workload)

    def test_another_seed_and_another_plan_are_told_and_add_up(self):
        for a, b, workload, machine in (("workload.pattern.seed=1", "workload.pattern.seed=2", "tiny_spmm_b1", "tiny"),
                                        ("workload.plan=fastest", "workload.plan=published", "dense_4096_f16", "bow")):
            with self.subTest(b):
                self.run_to("a", workload, a, machine=machine)
                self.run_to("b", workload, b, machine=machine)
                found = self.compared("a", "b")
                self.assertEqual([one["path"] for one in found["settings"]], [b.split("=")[0]])
        self.assertTrue(found["plan"])

    def test_a_step_more_is_a_step_that_one_lacks(self):
        more = TWO_STEPS | {"steps": TWO_STEPS["steps"] + [{"name": "rows", "family": "softmax", "inputs": ["z"], "output": "p"}]}
        for name, text in (("two", TWO_STEPS), ("three", more)):
            (self.scratch / f"{name}.json").write_text(json.dumps(text))
            self.run_to(name, f"./{name}.json")
        found = self.compared("two", "three")
        self.assertEqual(found["reasons"][0]["reason"], "steps_only_of_b")
        self.assertGreater(found["reasons"][0]["cycles"], 0)
        back = self.compared("three", "two")
        self.assertEqual(back["change"], -found["change"])
        self.assertIn("steps that only A has", back["reasons"][0]["sentence"])

    def test_a_result_beside_itself_differs_in_nothing(self):
        self.run_to("a", "tiny_matmul")
        found = self.compared("a", "a")
        self.assertEqual((found["settings"], found["reasons"], found["steps"], found["change"]), ([], [], [], 0))
        self.assertIn("no cycle differs", self.tessera("diff", "a", "a"))

    def test_points_of_stores(self):
        (self.scratch / "s.json").write_text(json.dumps({
            "schema_version": 1, "machine": "tiny", "workload": "tiny_matmul",
            "axes": [{"path": "exchange.lane_bytes", "values": [4, 8]}]}))
        self.tessera("sweep", "run", "./s.json", "--keep", "full", "--store", "full", "-q")
        self.tessera("sweep", "run", "./s.json", "--store", "short", "-q")
        keys = {}
        for file in (self.scratch / "full").glob("*.jsonl"):
            for line in map(json.loads, file.read_text().splitlines()):
                keys[line["changes"]["exchange.lane_bytes"]] = line["key"][:12]
        found = self.compared(f"full:{keys[4]}", f"full:{keys[8]}")
        self.run_to("a", "tiny_matmul", "exchange.lane_bytes=4")
        self.run_to("b", "tiny_matmul", "exchange.lane_bytes=8")
        alone = self.compared("a", "b")
        self.assertEqual(found["reasons"], alone["reasons"])
        self.assertEqual(found["settings"], alone["settings"])
        self.assertEqual(found["figures"], alone["figures"])
        self.assertTrue({"energy.total_j", "area.total_mm2"} <= {one["path"] for one in found["figures"]}, found["figures"])
        short = json.loads(self.tessera("diff", f"short:{keys[4]}", f"short:{keys[8]}", "--json", "-", "-q"))
        self.assertFalse(short["has_steps"])
        self.assertIn("none are kept: the point's sweep was run without --keep full", self.tessera("explain", f"short:{keys[4]}"))
        self.assertIn("the result has no steps", self.tessera("explain", f"short:{keys[4]}", "multiply", code=2))
        self.assertEqual(short["change"], alone["change"])
        self.assertIn("no key of 'full' begins with 'zz'", self.tessera("diff", "full:zz", "a", code=2))
        self.assertIn("has no result.json; of a store's points say STORE:KEY", self.tessera("diff", "full", "a", code=2))

    def test_points_without_operations_have_the_figures_of_their_runs(self):
        (self.scratch / "s.json").write_text(json.dumps({
            "schema_version": 1, "machine": "tiny", "workload": "sync",
            "axes": [{"path": "sync.internal_cycles", "values": [100, 200]}]}))
        self.tessera("sweep", "run", "./s.json", "--keep", "full", "--store", "s", "-q")
        keys = {line["changes"]["sync.internal_cycles"]: line["key"][:12] for file in (self.scratch / "s").glob("*.jsonl")
                for line in map(json.loads, file.read_text().splitlines())}
        for cycles in keys:
            self.run_to(f"run_{cycles}", "sync", f"sync.internal_cycles={cycles}")
        found = self.compared(f"s:{keys[100]}", f"s:{keys[200]}")
        self.assertEqual(found["figures"], self.compared("run_100", "run_200")["figures"])
        self.assertTrue(found["figures"])
        self.assertFalse([one["path"] for one in found["figures"] if "flop" in one["path"]])

    def test_mistakes(self):
        self.run_to("a", "tiny_matmul")
        (self.scratch / "no.json").write_text('{"x": 1}')
        (self.scratch / "broken.json").write_text('{"x": ')
        self.assertIn("expected a result", self.tessera("diff", "a", "no.json", code=3))
        self.assertIn("broken.json", self.tessera("diff", "a", "broken.json", code=3))
        for odd in ('{"cycles": 1, "machine": "bow", "workload": {}}', '{"cycles": 1e300, "machine": {"name": "m"}, "workload": {"name": "w"}}',
                    '{"cycles": 1, "machine": {"name": 3}, "workload": {"name": null}}', "[1]"):
            (self.scratch / "odd.json").write_text(odd)
            for command in (("diff", "a", "odd.json"), ("explain", "odd.json"), ("plot", "odd.json", "--chart", "steps", "--output", "f.svg")):
                self.assertIn("expected a result", self.tessera(*command, code=3))
        before = (self.scratch / "a/result.json").read_bytes()
        self.assertIn("expected another file", self.tessera("diff", "a", "a", "--json", "a/result.json", code=2))
        self.assertEqual((self.scratch / "a/result.json").read_bytes(), before)
        self.assertIn("nothing", self.tessera("diff", "a", "nothing", code=6))


class ExplainTest(Case):
    def gains(self, folder):
        """By setting: the most that it is worth in percent, and whether that is exact."""
        found = {}
        text = re.sub(r"\n +", " ", self.tessera("explain", folder))
        for setting, most, percent in re.findall(r"\(--set (\S+)\): (at most )?([0-9.]+) % less", text):
            found[setting] = (float(percent), not most)
        return found

    def check_promise(self, workload, machine, path, least):
        before = self.run_to("a", workload, machine=machine)
        (setting, (percent, is_exact)), = [one for one in self.gains("a").items() if one[0].startswith(path)]
        after = self.run_to("b", workload, setting, machine=machine)
        less = 100 * (1 - after["cycles"] / before["cycles"])
        if is_exact:
            self.assertAlmostEqual(less, percent, delta=0.06)
        else:
            self.assertLess(less, percent + 0.06)
            self.assertGreater(less, least * percent)

    def test_what_it_promises_holds(self):
        for workload, machine, path, least in (("exchange_broadcast", "bow", "exchange.lane_bytes", 0.9),
                                               ("cora", "bow", "exchange.lane_bytes", 0.5),
                                               ("dense_4096_f16", "bow", "exchange.lane_bytes", 0.5),
                                               ("dense_4096_f16", "bow", "amp.steps_per_issue", 0.3),
                                               ("sync", "bow", "sync.internal_cycles", None)):
            with self.subTest(workload, path=path):
                self.check_promise(workload, machine, path, least)

    def test_a_promise_about_barriers_is_exact_only_where_nothing_else_is_waited_for(self):
        for workload, machine in (("streamed_triad", "bow"), ("collective", "tiny4")):
            before = self.run_to("a", workload, machine=machine)
            text = re.sub(r"\n +", " ", self.tessera("explain", "a"))
            after = self.run_to("b", workload, "sync.internal_cycles=63", machine=machine)
            for most, percent in re.findall(r"barriers of 63 cycles \(--set sync.internal_cycles=63\): (at most )?([0-9.]+) % less", text):
                self.assertTrue(most)
                self.assertLess(100 * (1 - after["cycles"] / before["cycles"]), float(percent) + 0.06)

    def told_without(self, file, content, why):
        """A damaged recording is told, and the step is explained as without one."""
        file.write_bytes(content)
        done = CliTest.tessera(self, "explain", "a", "multiply")
        self.assertRegex(done.stderr, why)
        self.assertIn("bound ", done.stdout)
        self.assertNotIn("have a part", done.stdout)

    def test_damaged_recordings_and_those_of_other_runs(self):
        self.run_to("a", "tiny_matmul")
        file = self.scratch / "a/recording.bin.gz"
        whole = file.read_bytes()
        data = gzip.decompress(whole)
        length, = struct.unpack("<I", data[8:12])
        header = json.loads(data[12:12 + length])

        def with_header(changed):
            text = json.dumps(changed).encode()
            return gzip.compress(data[:8] + struct.pack("<I", len(text)) + text + data[12 + length:])
        [chip] = header["chips"]
        steps = chip["steps"]

        def with_steps(changed):
            return {"chips": [chip | {"steps": changed}]}
        far = [steps[0] | {"columns": steps[0]["columns"] | {"cycles": {"type": "u32", "offset": 2**60}}}, *steps[1:]]
        for changed in ({"tiles": "x"}, {"tiles": -1}, {"tiles": 10**12}, with_steps(3), with_steps(far),
                        with_steps([{"kind": "exchange"}]), {"chips": 3}, {"chips": [3]}, {"last": 1}, {"last": -1}, {"schema_version": 1}):
            self.told_without(file, with_header(header | changed), "is no recording|is damaged")
        without = [step | {"columns": {key: one for key, one in step["columns"].items() if key != "cycles"}} for step in steps]
        self.told_without(file, with_header(header | with_steps(without)), "a step has no cycles")
        self.told_without(file, whole[:-200], "damaged or cut off")
        file.write_bytes(with_header(header | {"cycles": header["cycles"] + 1}))  # of another run
        self.assertNotIn("have a part", self.tessera("explain", "a", "multiply"))
        file.write_bytes(whole)
        self.assertIn("have a part", self.tessera("explain", "a", "multiply"))

    def test_names_that_terminals_would_obey(self):
        result = self.run_to("a", "tiny_matmul")
        result["workload"]["name"] = "\x1b]0;title\x07x"
        result["compute_sets"][0]["name"] = "\x1b[31mred\nnext"
        (self.scratch / "r.json").write_text(json.dumps(result))
        for said in (self.tessera("explain", "r.json"), self.tessera("diff", "a", "r.json")):
            self.assertNotIn("\x1b", said)
            self.assertIn("?]0;title?x", said)

    def test_a_step_is_told_as_its_tiles_saw_it(self):
        result = self.run_to("a", "cora", machine="bow")
        text = re.sub(r"\n +", " ", self.tessera("explain", "a", "multiply"))
        step, = [one for one in result["compute_sets"] if one["name"] == "multiply"]
        self.assertIn(f"multiply: {step['cycles']:,} cycles in 1 execution", text)
        self.assertIn(f"least {step['tile_cycles']['min']:,}, ", text)
        self.assertIn(f"most {step['tile_cycles']['max']:,}; ", text)
        self.assertIn(f"issue slots: tile {step['critical_tile']} has ", text)
        self.assertNotIn("have a part", self.tessera("explain", "a/result.json", "multiply"))
        self.assertIn("no step is called 'multipl_'; did you mean 'multiply'?", self.tessera("explain", "a", "multipl_", code=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
