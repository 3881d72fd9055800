#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tessera sweep`: what a store holds after one run, after more, after kills and mistakes.

usage: sweep_test.py TESSERA
"""
import collections
import csv
import io
import json
import math
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

TESSERA = None
ROOT = pathlib.Path(__file__).resolve().parents[2]
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


class Case(unittest.TestCase):
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

    def kill_and_resume(self, sweep, kills):
        """Parent or children are killed at moments of chance; what is missing is run by the next."""
        file = self.write(sweep)
        start = time.monotonic()
        self.tessera("sweep", "run", file, "--store", "calm")
        longest = 1.4 * (time.monotonic() - start) / kills  # not all is done before the last kill
        expected = self.results("calm")
        chance = random.Random(5)
        for _ in range(kills):
            running = subprocess.Popen([TESSERA, "sweep", "run", file, "--store", "killed", "-q"],
                                       cwd=self.folder, stderr=subprocess.DEVNULL)
            time.sleep(0.05 + chance.uniform(0, longest))
            if chance.random() < 0.5:
                running.send_signal(signal.SIGKILL)
            else:  # its children, whose points it runs again, and then it itself
                for child in children_of(running.pid):
                    try:
                        os.kill(child, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                time.sleep(0.05)
                running.send_signal(signal.SIGINT)
            running.wait()
        before = len(self.results("killed"))
        self.tessera("sweep", "run", file, "--store", "killed")
        self.assertEqual(self.results("killed"), expected)
        return before, len(expected)


class Sweeps(Case):
    def test_all_points_once(self):
        sweep = self.write(SWEEP)
        self.assertEqual(self.tessera("sweep", "run", sweep, "--dry-run"),
                         f"{POINTS} points, 0 known in s.sweep, {POINTS} to run\n"
                         "8 points excluded\ntime: unknown\n")
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
        # what others of the same workload took tells how long more of them may take
        more = self.write(SWEEP | {"workload": "tiny_matmul", "exclude": [],
                                   "set": {"workload.n": 40}}, "more.json")
        self.assertRegex(self.tessera("sweep", "run", more, "--store", "s.sweep", "--dry-run"),
                         "^24 points, 0 known in s.sweep, 24 to run\ntime: about [0-9]+ s, ")
        other = self.write(SWEEP | {"workload": "tiny_matmul", "exclude": []}, "other.json")
        self.assertIn("24 points in s.sweep, 20 known before, 4 ok; ",
                      self.tessera("sweep", "run", other, "--store", "s.sweep"))
        shown = self.tessera("sweep", "show", "s.sweep").splitlines()
        self.assertEqual(len(shown), 1 + POINTS + 4)
        self.assertEqual(shown[0].split(), ["machine", "workload", "exchange.lane_bytes",
                                            "sync.internal_cycles", "tile.workers", "cycles",
                                            "status"])

    def test_energy_area_and_metrics_follow_from_what_a_store_has(self):
        axes = [{"path": "tile.workers", "values": [4, 6]}]
        sweep = {"schema_version": 1, "machine": "tiny", "workload": "tiny_matmul", "axes": axes,
                 "metrics": {"delay": "seconds", "product": "energy.total_j * delay"},
                 "objectives": [{"path": "product"}, {"path": "tile.workers"}],
                 "constraints": ["area.total_mm2 < 1000"]}
        self.tessera("sweep", "run", self.write(sweep))
        columns = ["product", "energy.total_j", "energy.by_kind.static_j", "area.total_mm2", "seconds", "tile.workers"]

        def shown(store, *more):
            return {(int(row["tile.workers"]), row.get("energy.static_w", "")): row for row in csv.DictReader(io.StringIO(
                self.tessera("sweep", "show", store, "--columns", ",".join(columns), "--format", "csv", *more)))}
        before = shown("s.sweep")
        for workers in (4, 6):
            row = before[workers, ""]
            alone = json.loads(self.tessera("run", "tiny_matmul", "--machine", "tiny", "--mode", "timing", "-q", "--json", "-",
                                            "--set", f"tile.workers={workers}"))
            self.assertEqual(float(row["energy.total_j"]), alone["energy"]["total_j"])
            self.assertEqual(float(row["area.total_mm2"]), alone["area"]["total_mm2"])
            self.assertAlmostEqual(float(row["product"]) / (alone["energy"]["total_j"] * alone["seconds"]), 1)
        for point in self.results("s.sweep").values():  # no line has what is reckoned
            self.assertNotIn("energy", point["result"])
            self.assertNotIn("area", point["result"])
            self.assertIn("instructions", point["result"]["activity"])
        # other coefficients: nothing runs, and the energy is another one
        other = sweep | {"set": {"energy.static_w": 24}}
        self.assertIn("2 known", self.tessera("sweep", "run", self.write(other, "other.json"), "--store", "s.sweep"))
        after = shown("s.sweep")
        for workers in (4, 6):
            old, new = before[workers, ""], after[workers, "24"]
            self.assertAlmostEqual(float(new["energy.by_kind.static_j"]) / float(old["energy.by_kind.static_j"]), 2)
            self.assertGreater(float(new["energy.total_j"]), float(old["energy.total_j"]))
        best = list(csv.DictReader(io.StringIO(self.tessera("sweep", "show", "s.sweep", "--best", "--format", "csv"))))
        self.assertEqual([row["objective"] for row in best], ["product", "tile.workers"])
        self.assertEqual(float(best[1]["value"]), 4)
        self.assertIn("no result has 'prodct'; did you mean 'product'?",
                      self.tessera("sweep", "show", "s.sweep", "--objective", "prodct", code=2))

    def test_points_without_a_result_have_no_energy_and_no_area(self):
        self.tessera("sweep", "run", self.write({"schema_version": 1, "machine": "tiny", "workload": "tiny_matmul",
                                                 "axes": [{"path": "workload.m", "values": [16, 1_000_000]}]}))
        rows = list(csv.DictReader(io.StringIO(self.tessera(
            "sweep", "show", "s.sweep", "--columns", "workload.m,area.total_mm2,energy.total_j", "--format", "csv"))))
        self.assertEqual({row["workload.m"]: (row["status"], row["area.total_mm2"] != "", row["energy.total_j"] != "") for row in rows},
                         {"16": ("ok", True, True), "1000000": ("does_not_fit", False, False)})

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

    def test_a_point_of_several_names_has_a_line_of_each(self):
        """The same content under other names: run once, in one sweep or after another, and told of each."""
        workload = (ROOT / "configs/workloads/tiny_matmul.json").read_text()
        for name in ("one", "two", "three"):
            (self.folder / f"{name}.json").write_text(workload)

        def sweep(*names):
            return self.write({"schema_version": 1, "machine": "tiny",
                               "workload": [f"./{name}.json" for name in names],
                               "axes": [{"path": "workload.n", "values": [64, 1_000_000]}]})

        def check(*names):
            """Each point has one result, and a line of each name with it."""
            points = self.lines("s.sweep")
            self.assertEqual(len(points), 2)
            for key, lines in points.items():
                self.assertEqual(sorted(line["workload"] for line in lines),
                                 sorted(f"./{name}.json" for name in names))
                for line in lines:
                    self.assertEqual(line.get("host"), lines[0].get("host"))  # of one run
                    self.assertEqual(line.get("result"), lines[0].get("result"))
            self.assertEqual({lines[0]["status"] for lines in points.values()},
                             {"ok", "does_not_fit"})

        run = "sweep", "run", sweep("one", "two"), "--store", "s.sweep"
        self.assertIn("2 points in s.sweep for 4 lines, 1 does_not_fit, 1 ok; ",
                      self.tessera(*run))
        check("one", "two")
        self.tessera(*run)
        check("one", "two")  # nothing is told twice
        sweep("three", "one")
        self.assertIn("2 points in s.sweep for 4 lines, 2 known before\n", self.tessera(*run))
        check("one", "two", "three")

    def test_kills(self):
        self.kill_and_resume(SWEEP, kills=12)

    def test_without_a_file(self):
        self.tessera("sweep", "run", "tiny_matmul", "--machine", "tiny", "--machine", "bow",
                     "--set", "tile.workers=2,4", "--set", "workload.n=32", "--store", "s.sweep")
        points = {(p["machine"], p["changes"]["tile.workers"], p["changes"]["workload.n"])
                  for p in self.results("s.sweep").values()}
        self.assertEqual(points, {(m, w, 32) for m in ("tiny", "bow") for w in (2, 4)})
        # options count more than the file
        sweep = self.write(SWEEP)
        self.tessera("sweep", "run", sweep, "--store", "t.sweep", "--set", "tile.workers=4",
                     "--set", "exchange.lane_bytes=4", "--set", "sync.internal_cycles=20,30,50")
        self.assertEqual(len(self.results("t.sweep")), 2 * 3)

    def test_a_killed_child_is_no_result(self):
        """Who kills a child from outside: its point runs again."""
        sweep = self.write({"schema_version": 1, "workload": "dense_4096_f16",
                            "mode": "functional"})
        running = subprocess.Popen([TESSERA, "sweep", "run", sweep, "-q"], cwd=self.folder)
        killed = False
        for _ in range(500):
            time.sleep(0.01)
            for child in children_of(running.pid):
                os.kill(child, signal.SIGKILL)
                killed = True
            if killed:
                break
        running.wait()
        self.assertTrue(killed)
        point, = self.results("s.sweep").values()
        self.assertEqual(point["status"], "ok")

    def kills(self, *arguments, asked=""):
        """Runs a command and kills all of its children; what it prints, and how many there were."""
        running = subprocess.Popen([TESSERA, *arguments], cwd=self.folder, text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        running.stdin.write(asked)
        running.stdin.close()
        killed = set()
        while running.poll() is None:
            time.sleep(0.01)
            for child in set(children_of(running.pid)) - killed:
                os.kill(child, signal.SIGKILL)
                killed.add(child)
        with running.stdout:
            return running.stdout.read(), len(killed)

    def test_who_kills_every_child_has_his_way(self):
        """A point is given up when three runs of it were killed, and run again by the next sweep."""
        sweep = self.write({"schema_version": 1, "workload": "dense_4096_f16",
                            "mode": "functional"})
        said, children = self.kills("sweep", "run", sweep)
        self.assertIn("1 point in s.sweep, 1 killed; ", said)
        self.assertEqual(children, 3)
        self.assertIn("1 point, 0 known in s.sweep, 1 to run\n",
                      self.tessera("sweep", "run", sweep, "--dry-run"))
        said, children = self.kills("sweep", "worker", sweep, "--stdin", asked="{}\n")
        self.assertEqual(json.loads(said)["status"], "killed")
        self.assertEqual(children, 3)

    def test_what_is_not_modelled_is_a_result(self):
        sweep = self.write({"schema_version": 1, "machine": "tiny", "workload": "tiny_matmul",
                            "mode": "estimate",
                            "axes": [{"path": "exchange.fabric", "values": ["compiled", "mesh"]}]})
        self.assertIn("1 not_modelled, 1 ok",
                      self.tessera("sweep", "run", sweep, "--retry", "not_modelled"))

    def test_retry(self):
        sweep = self.write({"schema_version": 1, "machine": "tiny", "workload": "tiny_matmul",
                            "axes": [{"path": "workload.n", "values": [32, 1000000]}]})
        self.tessera("sweep", "run", sweep)
        self.assertIn("2 points in s.sweep, 2 known before\n", self.tessera("sweep", "run", sweep))
        self.assertIn("2 points in s.sweep, 2 known before\n",
                      self.tessera("sweep", "run", sweep, "--retry", "crash"))
        self.assertIn("2 points in s.sweep, 1 known before, 1 does_not_fit; ",
                      self.tessera("sweep", "run", sweep, "--retry", "does_not_fit"))
        self.assertIn("1 known before", self.tessera("sweep", "run", sweep, "--retry", "failed"))
        self.assertIn("expected one of check_failed",
                      self.tessera("sweep", "run", sweep, "--retry", "bad", code=2))

    def test_lists_are_kept_where_asked(self):
        sweep = self.write({"schema_version": 1, "machine": "tiny", "workload": "tiny_matmul"})
        self.tessera("sweep", "run", sweep)
        line, = (lines[0] for lines in self.lines("s.sweep").values())
        self.assertNotIn("lists", line)
        self.assertIn("1 ok", self.tessera("sweep", "run", sweep, "--keep", "full"))
        self.assertIn("1 known before", self.tessera("sweep", "run", sweep, "--keep", "full"))
        line, = (lines[1] for lines in self.lines("s.sweep").values())
        alone = json.loads(self.tessera("run", "tiny_matmul", "--machine", "tiny", "--mode",
                                        "timing", "-q", "--json", "-"))
        self.assertEqual(line["lists"]["compute_sets"], alone["compute_sets"])
        self.assertEqual(line["result"]["phases"], alone["phases"])

    def test_shards_are_the_sweep(self):
        sweep = self.write(SWEEP)
        self.tessera("sweep", "run", sweep, "--store", "whole")
        for shard in range(3):
            self.tessera("sweep", "worker", sweep, "--shard", f"{shard}/3", "--store", "parts")
        self.assertEqual(self.results("parts"), self.results("whole"))
        self.assertIn("I from 0 to N - 1",
                      self.tessera("sweep", "worker", sweep, "--shard", "3/3", code=2))

    def test_what_is_submitted_stands_in_the_store(self):
        shutil.copy(ROOT / "configs/machines/tiny.json", self.folder / "mine.json")
        shutil.copy(ROOT / "configs/workloads/tiny_matmul.json", self.folder / "work.json")
        sweep = self.write(SWEEP | {"machine": "./mine.json", "workload": "./work.json"})
        self.tessera("sweep", "run", sweep, "--store", "whole")
        script = self.tessera("sweep", "submit", sweep, "--shards", "2", "--print", "--time-limit",
                              "60", "--", "--time=5", "-c", "2")
        self.assertIn("# sbatch --time=5 -c 2 <<", script)
        self.assertIn("#SBATCH --array=0-1\n", script)
        self.assertIn("--time-limit 60", script)
        for file in ("mine.json", "work.json", "s.json"):  # nobody needs them any more
            (self.folder / file).unlink()
        command = script[script.index("exec ") + 5:]
        for shard in range(2):
            subprocess.run(["sh", "-c", command], check=True, cwd="/",
                           env=os.environ | {"SLURM_ARRAY_TASK_ID": str(shard),
                                             "SLURM_CPUS_PER_TASK": "2"})
        parts, whole = self.results("s.sweep"), self.results("whole")
        self.assertEqual({key: point["result"] for key, point in parts.items()},
                         {key: point["result"] for key, point in whole.items()})
        # what they look like does not change what they are
        self.assertIn("mine", self.tessera("sweep", "show", "s.sweep").splitlines()[1])

    def test_a_worker_answers(self):
        lines = [{"tile.workers": 4}, {"tile.workers": 4}, {"tile.workers": 99}, {"a": 1}, [],
                 {"machine": "nope"}, {"workload": "tiny_spmm_b1", "seed": 3}]
        asked = "".join(json.dumps(line) + "\n" for line in lines) + "no JSON\n\n"
        done = subprocess.run([TESSERA, "sweep", "worker", "tiny_matmul", "--machine", "tiny",
                               "--stdin", "--store", "w"], input=asked, capture_output=True,
                              text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([a["status"] for a in answers],
                         ["ok", "ok"] + 4 * ["invalid"] + ["ok", "invalid"])
        self.assertEqual(answers[0], answers[1])
        self.assertIn("expected 1..", answers[2]["message"])
        self.assertEqual(answers[6]["changes"], {"workload.seed": 3})
        self.assertEqual(len(self.results("w")), 2)

    def test_collect(self):
        sweep = self.write(SWEEP)
        for shard in range(2):
            self.tessera("sweep", "worker", sweep, "--shard", f"{shard}/2", "--store", f"s{shard}")
        collect = lambda *more: self.tessera("sweep", "collect", "s0", "s1", "s0", *more)
        self.assertIn(f"{POINTS} points of {POINTS + POINTS // 2} lines, {POINTS} added to all",
                      collect("--into", "all", "--sqlite", "a.db", "--csv", "a.csv"))
        self.assertEqual(self.results("all"), self.results("s0") | self.results("s1"))
        read = lambda file: sqlite3.connect(self.folder / file).execute(
            "SELECT * FROM points ORDER BY key").fetchall()
        once, text = read("a.db"), (self.folder / "a.csv").read_bytes()
        self.assertIn(", 0 added to all",
                      collect("--into", "all", "--sqlite", "a.db", "--csv", "a.csv"))
        self.assertEqual((read("a.db"), (self.folder / "a.csv").read_bytes()), (once, text))
        rows = list(csv.DictReader(io.StringIO(text.decode())))
        self.assertEqual(len(rows), POINTS)
        points = self.results("all")
        for row in rows:
            point = points[row["key"]]
            self.assertEqual(int(row["cycles"]), point["result"]["cycles"])
            self.assertEqual(int(row["tile.workers"]), point["changes"]["tile.workers"])
            self.assertEqual(float(row["tiles.compute_cycles.mean"]),
                             point["result"]["tiles"]["compute_cycles"]["mean"])
        counted, = sqlite3.connect(self.folder / "a.db").execute(
            'SELECT count(*) FROM points WHERE "tile.workers" = 4 AND status = \'ok\'').fetchone()
        self.assertEqual(counted, sum(p["changes"]["tile.workers"] == 4 for p in points.values()))
        # a result that cannot be
        line = json.loads((self.folder / "all" / next((self.folder / "all").glob("*.jsonl")).name
                           ).read_text().splitlines()[0])
        line["result"]["cycles"] += 1
        (self.folder / "bad").mkdir()
        (self.folder / "bad/x.jsonl").write_text(json.dumps(line) + "\n")
        self.assertIn("two different results of one point, which is a bug: key " + line["key"],
                      self.tessera("sweep", "collect", "all", "bad", "--into", "c", code=6))
        self.assertFalse((self.folder / "c").exists())

    def test_show(self):
        sweep = self.write(SWEEP | {
            "objectives": [{"path": "cycles"}, {"path": "tiles_busy", "goal": "max"}],
            "constraints": ["tile.workers < 6"]})
        self.tessera("sweep", "run", sweep)
        show = lambda *more: json.loads(
            self.tessera("sweep", "show", "s.sweep", "--format", "json", *more))
        every = show("--columns", "cycles,phases.compute")
        points = self.results("s.sweep").values()
        self.assertEqual(len(every), POINTS)
        self.assertEqual(sum(row["cycles"] for row in every),
                         sum(p["result"]["cycles"] for p in points))
        self.assertEqual([row.get("constraints") for row in every],
                         ["broken" if row["tile.workers"] == 6 else None for row in every])
        some = show("--filter", "workload == tiny_matmul && tile.workers >= 4",
                    "--filter", "sync.internal_cycles == 20", "--sort", "-cycles")
        self.assertEqual(len(some), 4)
        self.assertEqual(some, sorted(some, key=lambda row: -row["cycles"]))
        self.assertEqual(show("--limit", "3"), show()[:3])
        # a parameter that nothing changes
        self.assertEqual(len(show("--filter", "memory.region0_bytes > 0")), POINTS)
        self.assertEqual(show("--filter", "memory.region0_bytes < 0"), [])
        means = {row["tile.workers"]: row for row in show("--group", "tile.workers")}
        for workers, row in means.items():
            own = [p["result"]["cycles"] for p in points if p["changes"]["tile.workers"] == workers]
            self.assertEqual(row["points"], len(own))
            self.assertAlmostEqual(row["mean cycles"] / (sum(own) / len(own)), 1, 4)
        # machines are judged by both workloads, and without what breaks a constraint
        machines = collections.defaultdict(list)
        for p in points:
            machines[tuple(sorted(p["changes"].items()))].append(p["result"]["cycles"])
        mean = {key: math.prod(own) ** 0.5 for key, own in machines.items() if len(own) == 2}
        allowed = {key: value for key, value in mean.items() if dict(key)["tile.workers"] < 6}
        best = show("--best", "--objective", "cycles")
        self.assertEqual(len(best), 1)
        self.assertAlmostEqual(best[0]["value"] / min(allowed.values()), 1, 4)
        front = show("--pareto")
        self.assertIn("geometric mean of cycles", front[0])
        self.assertAlmostEqual(front[0]["geometric mean of cycles"] / min(allowed.values()), 1, 4)
        effects = show("--sensitivity", "--objective", "cycles")
        self.assertEqual(len({row["path"] for row in effects}), len(effects))
        for row in effects:
            means = dict(one.split(": ") for one in row["mean by value"].split(", "))
            self.assertEqual(row["points"], len(mean))
            for value, told in means.items():
                own = [one for key, one in mean.items() if str(dict(key)[row["path"]]) == value]
                self.assertAlmostEqual(float(told) / math.prod(own) ** (1 / len(own)), 1, 4)
            found = list(map(float, means.values()))
            self.assertAlmostEqual(row["largest over smallest"], max(found) / min(found), 3)
        text = self.tessera("sweep", "show", "s.sweep", "--format", "csv")
        self.assertEqual(len(list(csv.DictReader(io.StringIO(text)))), POINTS)
        for wrong in (["--filter", "tile.worker > 1"], ["--columns", "cycle"], ["--sort", "x"],
                      ["--group", "tile.worker"], ["--filter", "1 +"], ["--objective", "cycle"],
                      ["--objective", "cycles:most"], ["--pareto", "--best"]):
            self.tessera("sweep", "show", "s.sweep", *wrong, code=2)

    def test_one_at_a_time(self):
        sweep = self.write({
            "schema_version": 1, "machine": "tiny", "workload": "tiny_matmul",
            "sample": {"kind": "one_at_a_time"},
            "axes": [{"path": "chip.clock_hz", "values": [1e9, 2e9]},
                     {"path": "workload.n", "values": [64, 128]}],
            "objectives": [{"path": "seconds"}]})
        self.tessera("sweep", "run", sweep)
        rows = json.loads(self.tessera("sweep", "show", "s.sweep", "--sensitivity", "--format",
                                       "json"))
        elasticity = {row["path"]: row["elasticity"] for row in rows}
        self.assertAlmostEqual(elasticity["chip.clock_hz"], -1, 3)  # seconds are cycles by clock
        self.assertGreater(elasticity["workload.n"], 0.3)
        best, = json.loads(self.tessera("sweep", "show", "s.sweep", "--best", "--format", "json"))
        self.assertEqual(best["what differs"], "chip.clock_hz = 2000000000 (base 1850000000)")

    def test_sampled_paths_have_ranges_and_derived_ones_no_line(self):
        sweep = self.write({
            "schema_version": 1, "machine": "tiny", "workload": "tiny_matmul", "sample": {"kind": "random", "n": 40, "seed": 3},
            "axes": [{"path": "sync.internal_cycles", "range": [20, 2000]}],
            "derive": {"chip.clock_hz": "1e9 + sync.internal_cycles"}})
        self.tessera("sweep", "run", sweep)
        row, = json.loads(self.tessera("sweep", "show", "s.sweep", "--sensitivity", "--format", "json"))
        self.assertEqual(row["path"], "sync.internal_cycles")
        means = dict(one.split(": ") for one in row["mean by value"].split(", "))
        self.assertEqual(len(means), 4)
        points = [(point["changes"]["sync.internal_cycles"], point["result"]["cycles"]) for point in self.results("s.sweep").values()]
        for value, told in means.items():
            low, high = map(float, value.split(".."))
            own = [cycles for barrier, cycles in points if low <= barrier <= high]
            self.assertGreater(len(own), len(points) / 8)
            self.assertAlmostEqual(float(told) / math.prod(own) ** (1 / len(own)), 1, 4)

    def test_best_beside_a_base_and_how_far_a_sweep_is(self):
        sweep = self.write({"schema_version": 1, "machine": ["tiny", "bow"], "workload": "tiny_matmul",
                            "axes": [{"path": "workload.n", "values": [32, 64, 1000000]}]})
        (self.folder / "s.sweep").mkdir()
        self.assertIn("s.sweep: no store there", self.tessera("sweep", "status", "s.sweep", code=6))
        (self.folder / "s.sweep" / "points.jsonl").touch()
        self.assertIn("sweep status: 's.sweep' has run no sweep", self.tessera("sweep", "status", "s.sweep", code=2))
        self.tessera("sweep", "worker", sweep, "--shard", "0/2", "--store", "s.sweep", "-q")
        status = self.tessera("sweep", "status", "s.sweep")
        self.assertRegex(status, "^s: 6 points in s.sweep, .* to run; about ")
        self.tessera("sweep", "run", sweep)
        status = self.tessera("sweep", "status", "s.sweep")
        self.assertIn("s: 6 points in s.sweep, ", status)
        self.assertIn(", 0 to run", status)
        self.assertRegex(status, "does_not_fit, as tiny")
        keys = {(point["machine"], point["changes"]["workload.n"]): (key, point["result"]["cycles"])
                for key, point in self.results("s.sweep").items() if point["status"] == "ok"}
        least = min(cycles for _, cycles in keys.values())
        for base, cycles in (("tiny", keys["tiny", 32][1]), ("bow", keys["bow", 32][1]), (keys["tiny", 64][0][:16], keys["tiny", 64][1])):
            best, = json.loads(self.tessera("sweep", "show", "s.sweep", "--best", "--base", base, "--format", "json"))
            self.assertEqual(best["of the base"], f"{100 * least / cycles:.1f} %")
        self.assertIn("no candidate has the machine 'gc2'", self.tessera("sweep", "show", "s.sweep", "--best", "--base", "gc2", code=2))
        self.assertIn("--base says what --best", self.tessera("sweep", "show", "s.sweep", "--base", "tiny", code=2))

    def test_estimates_first(self):
        sweep = self.write(SWEEP | {"exclude": []})
        self.tessera("sweep", "run", sweep, "--store", "all")
        said = self.tessera("sweep", "run", sweep, "--screen", "estimate", "--keep", "25%")
        self.assertIn("12 points of 48 kept by estimates\n12 points in s.sweep, 12 ok; ", said)
        kept = {key: point for key, point in self.results("s.sweep").items()
                if point["mode"] == "timing"}
        every = self.results("all")
        self.assertEqual(kept, {key: every[key] for key in kept})
        # whole machines, and the best by the estimates' geometric mean
        estimates = collections.defaultdict(list)
        for point in self.results("s.sweep").values():
            if point["mode"] == "estimate":
                estimates[str(point["changes"])].append(point["result"]["cycles"])
        self.assertEqual(len(estimates), 24)
        best = sorted(estimates, key=lambda one: math.prod(estimates[one]))
        chosen = {str(point["changes"]) for point in kept.values()}
        self.assertEqual(len(chosen), 6)
        worst = max(math.prod(estimates[one]) for one in chosen)
        self.assertLessEqual(worst, math.prod(estimates[best[5]]))
        best = json.loads(self.tessera("sweep", "show", "s.sweep", "--best", "--format", "json"))
        timed = collections.defaultdict(list)
        for point in kept.values():
            timed[str(point["changes"])].append(point["result"]["cycles"])
        self.assertAlmostEqual(best[0]["value"] / min(math.prod(c) for c in timed.values()) ** 0.5,
                               1, 4)
        self.assertIn("12 known before", self.tessera("sweep", "run", sweep, "--screen", "estimate",
                                                      "--keep", "25%"))
        other = self.write({"schema_version": 1, "workload": "mlp"}, "t.json")
        self.assertIn("no point has an estimate",
                      self.tessera("sweep", "run", other, "--screen", "estimate", code=5))
        for wrong in (["--keep", "10%"], ["--screen", "estimate", "--keep", "0%"],
                      ["--screen", "estimate", "--keep", "x"], ["--screen", "guess"]):
            self.tessera("sweep", "run", sweep, *wrong, code=2)

    def test_diff(self):
        sweep = self.write(SWEEP)
        self.tessera("sweep", "run", sweep, "--store", "a")
        shutil.copytree(self.folder / "a", self.folder / "b")
        self.assertEqual(self.tessera("sweep", "diff", "a", "b"),
                         f"cycles: {POINTS} equal, 0 different, 0 only before, 0 only after\n")
        file, = (self.folder / "b").glob("*.jsonl")
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        lines[0]["result"]["cycles"] *= 2
        for line in lines:
            line["model"] += 1
        file.write_text("".join(json.dumps(line) + "\n" for line in lines[:-1]))
        done = subprocess.run([TESSERA, "sweep", "diff", "a", "b"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("  2\n", done.stdout)
        self.assertIn(f"cycles: {POINTS - 2} equal, 1 different, 1 only before, 0 only after",
                      done.stdout)
        # another model's results are not this program's
        before = file.read_bytes()
        model = lines[0]["model"]
        self.assertIn(f"its points are of model version {model}, this program is of {model - 1}",
                      self.tessera("sweep", "run", sweep, "--store", "b", code=6))
        self.assertEqual(file.read_bytes(), before)

    def test_a_full_disk(self):
        sweep = self.write(SWEEP)
        done = subprocess.run(["sh", "-c", f"ulimit -f 20; exec {TESSERA} sweep run {sweep}"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 6)
        self.assertIn("File too large", done.stderr)
        kept = self.results("s.sweep")
        self.assertTrue(0 < len(kept) < POINTS)
        self.tessera("sweep", "run", sweep)
        self.assertEqual(len(self.results("s.sweep")), POINTS)

    def test_a_point_runs_again(self):
        shutil.copy(ROOT / "configs/workloads/tiny_matmul.json", self.folder / "work.json")
        sweep = self.write({"schema_version": 1, "machine": "tiny", "workload": "./work.json",
                            "axes": [{"path": "tile.workers", "values": [2, 4]}]})
        self.tessera("sweep", "run", sweep)
        (self.folder / "work.json").write_text("{}")  # what was frozen counts
        for key, point in self.results("s.sweep").items():
            result = json.loads(self.tessera("run", "--point", key[:12], "--store", "s.sweep",
                                             "-q", "--json", "-", "--trace", "t.json"))
            self.assertEqual(result["cycles"], point["result"]["cycles"])
            self.assertEqual(result["timing"], result["timing"] | point["result"]["timing"])
            self.assertIn("traceEvents", json.loads((self.folder / "t.json").read_text()))
        self.assertIn("no key of s.sweep begins with 'x'",
                      self.tessera("run", "--point", "x", "--store", "s.sweep", code=2))
        self.tessera("run", "--point", key, "--store", "s.sweep", "cora", code=2)
        self.assertIn("s.sweep begins with", self.tessera("run", "--point", "x", "--store", "s.sweep",
                                                          code=2))
        self.tessera("run", "--point", key, "-q")  # of all stores here
        shutil.rmtree(self.folder / "s.sweep/sweeps")
        self.assertIn("have changed since", self.tessera("run", "--point", key, "--store", "s.sweep",
                                                         code=6))

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
        mistake(base | {"constraints": ["cycle < 5"]}, "no result has 'cycle'; did you mean 'cycles'?")
        mistake(base | {"objectives": [{"path": "tops"}]}, "no result has 'tops'")
        mistake(base | {"constraints": ["cycles <"]}, "character 9")
        mistake({"schema_version": 1, "machine": "tinny", "workload": "tiny_matmul"}, "did you mean 'tiny'?")
        mistake(base | {"axes": [{"path": f"a{i}", "range": [1, 1000, 1]} for i in range(4)]},
                "1,000,000,000,000 points")
        self.assertIn("no store there", self.tessera("sweep", "show", "nothing", code=6))
        self.assertIn("did you mean 'sweep run'?", self.tessera("sweep", "rnu", "x", code=2))


class ManyKills(Case):
    def test_five_hundred_points(self):
        before, points = self.kill_and_resume(
            SWEEP | {"exclude": [], "axes": SWEEP["axes"][:2] + [
                {"path": "sync.internal_cycles", "range": [10, 420, 10]}]}, kills=20)
        self.assertEqual(points, 2 * 3 * 2 * 42)
        print(f"{points} points, {before} of them known when the kills were over")
        self.assertLess(before, points)


if __name__ == "__main__":
    TESSERA = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
