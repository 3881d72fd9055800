#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tessera plot`: every chart of several results is well-formed and shows what the result says, whatever names say.

usage: plot_test.py TESSERA SOURCE_DIRECTORY [unittest arguments]
"""
import json
import os
import sys
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True  # no folder among the sources
from cli_case import CliTest

OF_RESULTS = ("phases", "kernels", "steps", "energy", "memory", "roofline", "balance", "tiles")
HOSTILE = "a\"b'c`touch hacked`$(touch hacked2)<img>&"


class PlotTest(CliTest):
    path = os.environ["PATH"]

    def environment(self):
        return super().environment() | {"PATH": self.path}

    def tessera(self, *arguments, code=0):
        done = super().tessera(*arguments, code=code)
        return done.stdout if code == 0 else done.stderr

    def texts(self, what, chart):
        """All texts of the picture."""
        self.tessera("plot", what, "--chart", chart, "--output", "f.svg")
        root = xml.etree.ElementTree.fromstring((self.scratch / "f.svg").read_text())
        return "\n".join("".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text"))

    def test_every_chart_of_a_run(self):
        self.tessera("run", "mlp", "--mode", "timing", "--out", "out", "-q")
        result = json.loads((self.scratch / "out/result.json").read_text())
        for chart in OF_RESULTS:
            with self.subTest(chart):
                texts = self.texts("out", chart)
                self.assertIn("mlp on bow", texts)
        for kernel in result["kernels"]:
            self.assertIn(kernel["name"], self.texts("out", "kernels"))
        slowest = max(result["compute_sets"], key=lambda one: one["cycles"])
        self.assertIn(slowest["name"], self.texts("out", "steps"))
        self.assertIn(slowest["name"], self.texts("out", "balance"))
        self.assertIn("matrix", self.texts("out", "energy"))
        self.tessera("plot", "out", "--chart", "steps", "--output", "f.pdf")
        self.assertTrue((self.scratch / "f.pdf").read_bytes().startswith(b"%PDF"))

    def test_runs_with_little_in_them(self):
        for workload, machine, sets in (("sync", "tiny", []), ("tiny_matmul", "tiny", ["chip.tiles=1", "exchange.pair_double=false"]),
                                        ("exchange_broadcast", "bow", []),
                                        ("sync", "tiny", ["energy.static_w=0", "energy.clock_w_per_ghz=0", "energy.barrier_uj=0"])):
            self.tessera("run", workload, "--machine", machine, "--mode", "timing", "--out", "out", "-q", *(f"--set={one}" for one in sets))
            for chart in OF_RESULTS:
                with self.subTest(workload, chart=chart):
                    self.texts("out", chart)

    def test_stores(self):
        sweep = {"schema_version": 1, "machine": "tiny", "workload": "tiny_matmul",
                 "axes": [{"path": "tile.workers", "values": [2, 4, 6]}, {"path": "sync.internal_cycles", "values": [20, 60]}],
                 "objectives": [{"path": "cycles"}, {"path": "energy.total_j"}]}
        (self.scratch / "s.json").write_text(json.dumps(sweep))
        self.tessera("sweep", "run", "./s.json", "-q")
        self.assertIn("energy.total_j", self.texts("s.sweep", "scatter"))
        self.assertIn("front", self.texts("s.sweep", "scatter"))
        self.assertIn("sync.internal_cycles", self.texts("s.sweep", "sensitivity"))
        (self.scratch / "one.json").write_text(json.dumps(sweep | {"axes": [], "set": {"tile.workers": 4}}))
        self.tessera("sweep", "run", "./one.json", "-q")
        self.texts("one.sweep", "scatter")
        self.assertIn("there is nothing to show", self.texts("one.sweep", "sensitivity"))
        failed = sweep | {"set": {"workload.n": 1000000}, "axes": [{"path": "tile.workers", "values": [4, 6]}]}
        (self.scratch / "none.json").write_text(json.dumps(failed))
        self.tessera("sweep", "run", "./none.json", "-q")
        self.assertIn("there is nothing to show", self.texts("none.sweep", "scatter"))
        (self.scratch / "single.json").write_text(json.dumps(sweep | {"objectives": [{"path": "cycles"}]}))
        self.tessera("sweep", "run", "./single.json", "-q")
        self.assertIn("'scatter' shows two", self.tessera("plot", "single.sweep", "--chart", "scatter", "--output", "f.svg", code=2))

    def points(self, store, chart):
        """The blocks of data that gnuplot is given."""
        fake = self.scratch / "fake"
        fake.mkdir(exist_ok=True)
        (fake / "gnuplot").write_text(f"#!/bin/sh\nexec tee {self.scratch}/script\n")
        (fake / "gnuplot").chmod(0o755)
        self.path = f"{fake}:{os.environ['PATH']}"
        self.tessera("plot", store, "--chart", chart, "--output", "f.svg")
        return [block.split("END_OF_DATA")[1].splitlines()[1:] for block in (self.scratch / "script").read_text().split("<<")[1:]]

    def test_charts_of_stores_have_the_numbers_of_sweep_show(self):
        sweep = {"schema_version": 1, "machine": "tiny", "workload": "tiny_matmul",
                 "axes": [{"path": "tile.workers", "values": [2, 4, 6]}, {"path": "sync.internal_cycles", "values": [20, 60]}],
                 "objectives": [{"path": "cycles"}, {"path": "energy.total_j"}]}
        (self.scratch / "s.json").write_text(json.dumps(sweep))
        self.tessera("sweep", "run", "./s.json", "-q")

        def shown(*options):
            return json.loads(self.tessera("sweep", "show", "s.sweep", "--format", "json", *options))

        def pairs(rows):
            return sorted((row["cycles"], float(f"{row['energy.total_j']:.6g}")) for row in rows)

        points, front = ([tuple(map(float, line.split())) for line in block] for block in self.points("s.sweep", "scatter"))
        every = pairs(shown("--columns", "cycles,energy.total_j"))
        self.assertEqual(len(every), 6)
        self.assertEqual(sorted((x, float(f"{y:.6g}")) for x, y in points), every)
        self.assertEqual(sorted((x, float(f"{y:.6g}")) for x, y in front),
                         [one for one in every if not any(other != one and other[0] <= one[0] and other[1] <= one[1] for other in every)])
        [bars] = self.points("s.sweep", "sensitivity")
        effects = [row for row in shown("--sensitivity") if row["objective"] == "cycles"]
        self.assertEqual(len(bars), 2)
        self.assertEqual([bar.split('"')[1] for bar in bars], [row["path"] for row in effects])
        means = {path: [sum(row["cycles"] for row in shown("--columns", "cycles") if row[path] == value)
                        for value in values] for path, values in (("tile.workers", [2, 4, 6]), ("sync.internal_cycles", [20, 60]))}
        for bar in bars:
            _, path, ends = bar.split('"')
            self.assertAlmostEqual(float(ends.split()[1]), max(means[path]) / min(means[path]) - 1, places=2)

    def test_names_are_texts_and_no_commands(self):
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--mode", "timing", "--out", "out", "-q")
        file = self.scratch / "out/result.json"
        result = json.loads(file.read_text())
        result["workload"]["name"] = HOSTILE
        for key in ("compute_sets", "exchanges", "kernels"):
            for one in result[key]:
                one["name"] = HOSTILE + one["name"] + "\nsystem 'touch hacked3'"
        file.write_text(json.dumps(result))
        for chart in OF_RESULTS:
            texts = self.texts("out", chart)
            self.assertIn("`touch hacked`$(touch hacked2)<img>&", texts)
        self.assertEqual([path.name for path in self.scratch.glob("hacked*")], [])

    def test_mistakes(self):
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--mode", "timing", "--out", "out", "-q")
        plot = ("plot", "out", "--chart")
        self.assertIn("'stepps'", self.tessera(*plot, "stepps", "--output", "f.svg", code=2))
        self.assertIn("expected FILE.svg or FILE.pdf", self.tessera(*plot, "steps", "--output", "f.png", code=2))
        self.assertIn("expected --output", self.tessera(*plot, "steps", code=2))
        self.assertIn("needs a recording", self.tessera("plot", "out/result.json", "--chart", "balance", "--output", "f.svg", code=2))
        (self.scratch / "f.svg").write_text("mine")
        self.path = "/nowhere"
        self.assertIn("there is no gnuplot here", self.tessera(*plot, "steps", "--output", "f.svg", code=6))
        self.assertEqual((self.scratch / "f.svg").read_text(), "mine")
        (self.scratch / "out/recording.bin.gz").write_bytes(b"TSRECORD\xff\xff\xff\xff{")
        self.assertIn("its header is cut off", self.tessera(*plot, "balance", "--output", "f.svg", code=6))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
