#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tessera sweep`: what a store holds after one run, after more, after kills and mistakes.

usage: sweep_test.py TESSERA
"""
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TESSERA = None
SWEEP = {
    "schema_version": 1, "machine": "tiny", "workload": ["tiny_matmul", "tiny_spmm_b1"],
    "axes": [{"path": "tile.workers", "values": [2, 4, 6]},
             {"path": "exchange.lane_bytes", "log2": [4, 8]},
             {"path": "sync.internal_cycles", "range": [20, 80, 20]}],
    "exclude": ["tile.workers == 2 && exchange.lane_bytes > 4 && exchange.fabric != mesh"],
}
POINTS = 2 * (3 * 2 - 1) * 4


def children_of(process):
    try:
        return map(int, pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split())
    except OSError:
        return []


class Sweeps(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, sweep, name="s.json"):
        (self.folder / name).write_text(json.dumps(sweep))
        return f"./{name}"

    def tessera(self, *arguments, code=0):
        done = subprocess.run([TESSERA, *arguments], capture_output=True, text=True,
                              cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done.stdout if code == 0 else done.stderr

    def lines(self, store):
        found = collections.defaultdict(list)
        for file in sorted((self.folder / store).glob("*.jsonl")):
            for line in file.read_text().split("\n")[:-1]:
                point = json.loads(line)
                found[point["key"]].append(point)
        return found

    def results(self, store):
        """By key, what every run of a point agrees on: one record each."""
        found = {}
        for key, points in self.lines(store).items():
            self.assertEqual(len(points), 1)
            found[key] = {name: value for name, value in points[0].items() if name != "host"}
        return found

    def test_all_points_once(self):
        sweep = self.write(SWEEP)
        self.assertEqual(self.tessera("sweep", "run", sweep, "--dry-run"),
                         f"{POINTS} points, 0 known in s.sweep, {POINTS} to run\n")
        self.assertFalse((self.folder / "s.sweep").exists())
        self.assertIn(f"{POINTS} points in s.sweep, {POINTS} ok; ",
                      self.tessera("sweep", "run", sweep))
        first = self.results("s.sweep")
        self.assertEqual(len(first), POINTS)
        for point in first.values():
            sets = [f"--set={path}={value}" for path, value in point["changes"].items()]
            self.assertEqual(point["status"], "ok")
            if point["changes"]["sync.internal_cycles"] == 60:
                alone = json.loads(self.tessera(
                    "run", point["workload"], "--machine", point["machine"], "--mode", "timing",
                    "-q", "--json", "-", *sets))
                self.assertEqual(point["result"]["cycles"], alone["cycles"])
        # nothing runs twice, in this sweep or in another with the same points
        self.assertEqual(self.tessera("sweep", "run", sweep),
                         f"{POINTS} points in s.sweep, {POINTS} known before\n")
        other = self.write(SWEEP | {"workload": "tiny_matmul", "exclude": []}, "other.json")
        self.assertIn("24 points in s.sweep, 20 known before, 4 ok; ",
                      self.tessera("sweep", "run", other, "--store", "s.sweep"))
        shown = self.tessera("sweep", "show", "s.sweep").splitlines()
        self.assertEqual(len(shown), 1 + POINTS + 4)
        self.assertEqual(shown[0].split(), ["machine", "workload", "exchange.lane_bytes",
                                            "sync.internal_cycles", "tile.workers", "cycles",
                                            "status"])

    def test_what_cannot_run_is_a_result(self):
        sweep = self.write({"schema_version": 1, "machine": "tiny", "workload": "tiny_matmul",
                            "axes": [{"path": "workload.n", "values": [32, 1000000]}]})
        self.assertIn("2 points in s.sweep, 1 does_not_fit, 1 ok; ",
                      self.tessera("sweep", "run", sweep))
        failed, = [point for point in self.results("s.sweep").values()
                   if point["status"] != "ok"]
        self.assertIn("does not fit", failed["message"])

    def test_a_point_ends_at_its_limits(self):
        sweep = self.write({"schema_version": 1, "workload": "dense_4096_f16", "mode": "functional"})
        self.assertIn("1 point in s.sweep, 1 time_limit; ",
                      self.tessera("sweep", "run", sweep, "--time-limit", "1"))
        shutil.rmtree(self.folder / "s.sweep")
        self.assertIn("1 point in s.sweep, 1 memory_limit; ",
                      self.tessera("sweep", "run", sweep, "--memory-limit", "200"))

    def test_what_follows(self):
        sweep = self.write({"schema_version": 1, "machine": "tiny", "workload": "tiny_matmul",
                            "axes": [{"path": "tile.workers", "values": [2, 4]}],
                            "derive": {"chip.clock_hz": "1e9 * tile.workers / 2"}})
        self.tessera("sweep", "run", sweep)
        clocks = {point["changes"]["tile.workers"]: point["changes"]["chip.clock_hz"]
                  for point in self.results("s.sweep").values()}
        self.assertEqual(clocks, {2: 1_000_000_000, 4: 2_000_000_000})

    def test_kills(self):
        sweep = self.write(SWEEP)
        self.tessera("sweep", "run", sweep, "--store", "calm")
        expected = self.results("calm")
        chance = random.Random(5)
        for _ in range(12):
            running = subprocess.Popen([TESSERA, "sweep", "run", sweep, "--store", "killed", "-q"],
                                       cwd=self.folder, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0.05, 0.4))
            if chance.random() < 0.5:
                running.send_signal(signal.SIGKILL)
            else:  # a child, which the parent then tells of
                for child in children_of(running.pid):
                    os.kill(child, signal.SIGKILL)
                time.sleep(0.05)
                running.send_signal(signal.SIGINT)
            running.wait()
        # what a kill ended is a result of its own: those points run again alone
        for file in (self.folder / "killed").glob("*.jsonl"):
            kept = [line for line in file.read_text().split("\n")[:-1]
                    if json.loads(line)["status"] == "ok"]
            file.write_text("".join(line + "\n" for line in kept))
        self.tessera("sweep", "run", sweep, "--store", "killed")
        self.assertEqual(self.results("killed"), expected)

    def test_mistakes(self):
        def mistake(sweep, words, code=3):
            self.assertIn(words, self.tessera("sweep", "run", self.write(sweep), code=code))
            self.assertFalse((self.folder / "s.sweep").exists())
        base = {"schema_version": 1, "machine": "tiny", "workload": "tiny_matmul"}
        axis = lambda path, *values: base | {"axes": [{"path": path, "values": values}]}
        mistake(axis("tile.workrs", 4), "did you mean 'tile.workers'?")
        mistake(axis("tile.workers", 4, "many"), "got string")
        mistake(axis("exchange.mesh.columns", 4), "")
        mistake(axis("tile.workers"), "got an empty list")
        mistake(base | {"exclude": ["tile.workers >"]}, "character 15")
        mistake(base | {"exclude": ["tile.workrs > 3"]}, "did you mean 'tile.workers'?")
        mistake(base | {"derive": {"tile.workers": "tile.workers + 1"}}, "follows from itself")
        mistake({"schema_version": 1, "machine": "tinny", "workload": "tiny_matmul"}, "did you mean 'tiny'?")
        mistake(base | {"axes": [{"path": f"a{i}", "range": [1, 1000, 1]} for i in range(4)]},
                "1,000,000,000,000 points")
        self.assertIn("no store there", self.tessera("sweep", "show", "nothing", code=6))
        self.assertIn("did you mean 'run'?", self.tessera("sweep", "rnu", "x", code=2))


if __name__ == "__main__":
    TESSERA = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
