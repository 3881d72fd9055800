#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tessera sweep show`, `diff` and `collect`: the whole text that they write of stores known by hand.

usage: sweep_tables_test.py TESSERA
"""
import csv
import hashlib
import io
import json
import math
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

TESSERA = None


def line(name, workload="tiny_matmul", mode="timing", status="ok", changes=None, result=None, **more):
    """A line of a store; one that is ok has a result."""
    made = {"key": hashlib.sha256(name.encode()).hexdigest(), "status": status, "machine": "tiny",
            "workload": workload, "mode": mode, "model": 1, "changes": changes or {}, **more}
    return made | ({} if result is None else {"result": result})


def point(name, workers, fabric, workload, cycles, busy):
    return line(name, workload, changes={"tile.workers": workers, "exchange.fabric": fabric},
                result={"cycles": cycles, "tiles_busy": busy})


POINTS = [
    line("8", "tiny_spmm_b1", changes={"tile.workers": 4, "exchange.fabric": "ring"},
         result={"cycles": 50, "empty_matrices": 1}, note="only zeros"),
    point("1", 2, "mesh", "tiny_matmul", 4000, 4), point("2", 2, "mesh", "tiny_spmm_b1", 1000, 2),
    point("3", 4, "mesh", "tiny_matmul", 2000, 4), point("4", 4, "mesh", "tiny_spmm_b1", 800, 4),
    point("5", 2, "ring", "tiny_matmul", 9000, 1), point("6", 2, "ring", "tiny_spmm_b1", 250, 1),
    line("7", status="does_not_fit", changes={"tile.workers": 4, "exchange.fabric": "ring"},
         message="tile 3: 5 bytes too many")]
LEFT_OUT = "tessera: warning: 1 of 4 candidates left out of --{}\n"
DOES_NOT_FIT = ("  1 does_not_fit, as tiny tiny_matmul exchange.fabric=ring tile.workers=4: "
                "tile 3: 5 bytes too many\n")
# Without what it changes, and with each change by itself; some of it was estimated too.
ONE_AT_A_TIME = [
    line("b", result={"cycles": 100}),
    line("x", changes={"tile.workers": 2}, result={"cycles": 50}),
    line("y", changes={"tile.workers": 4}, result={"cycles": 25}),
    line("m", changes={"exchange.fabric": "mesh"}, result={"cycles": 300}),
    line("e", mode="estimate", result={"cycles": 90}),
    line("f", mode="estimate", changes={"tile.workers": 2}, result={"cycles": 45})]


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def store(self, name, lines):
        (self.folder / name).mkdir()
        (self.folder / name / "x.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))

    def says(self, *arguments, out="", err="", code=0):
        """Whether a command writes this and nothing else."""
        done = subprocess.run([TESSERA, "sweep", *arguments], capture_output=True, text=True,
                              cwd=self.folder)
        self.assertEqual((done.stdout, done.stderr, done.returncode), (out, err, code))


class Tables(Case):
    def test_points(self):
        self.store("s", POINTS)
        head = "machine  workload      exchange.fabric  tile.workers  cycles  status        note\n"
        self.says("show", "s", out=head + """\
tiny     tiny_matmul   mesh                        2   4,000  ok
tiny     tiny_matmul   mesh                        4   2,000  ok
tiny     tiny_matmul   ring                        2   9,000  ok
tiny     tiny_matmul   ring                        4          does_not_fit
tiny     tiny_spmm_b1  mesh                        2   1,000  ok
tiny     tiny_spmm_b1  mesh                        4     800  ok
tiny     tiny_spmm_b1  ring                        2     250  ok
tiny     tiny_spmm_b1  ring                        4      50  ok            only zeros
""")
        self.says("show", "s", "--limit", "2", out="""\
machine  workload     exchange.fabric  tile.workers  cycles  status  note
tiny     tiny_matmul  mesh                        2   4,000  ok
tiny     tiny_matmul  mesh                        4   2,000  ok
6 more
""")
        # what has no such number comes last, up or down; no column comes twice
        self.says("show", "s", "--columns", "tiles_busy,status,note", "--sort",
                  "-tiles_busy,workload", out="""\
machine  workload      exchange.fabric  tile.workers  tiles_busy  status        note
tiny     tiny_matmul   mesh                        2           4  ok
tiny     tiny_matmul   mesh                        4           4  ok
tiny     tiny_spmm_b1  mesh                        4           4  ok
tiny     tiny_spmm_b1  mesh                        2           2  ok
tiny     tiny_matmul   ring                        2           1  ok
tiny     tiny_spmm_b1  ring                        2           1  ok
tiny     tiny_matmul   ring                        4              does_not_fit
tiny     tiny_spmm_b1  ring                        4              ok            only zeros
""")
        self.says("show", "s", "--filter", "cycles > 5000 && workload == tiny_spmm_b1",
                  out="machine  workload  exchange.fabric  tile.workers  cycles  status\n",
                  err="tessera: no point: --filter holds for none of 8 points\n")
        self.says("show", "s", "--filter", "1 / (cycles - 4000) > 0", out="""\
machine  workload     exchange.fabric  tile.workers  cycles  status
tiny     tiny_matmul  ring                        2   9,000  ok
""", err="tessera: warning: sweep show: --filter: '1 / (cycles - 4000) > 0', character 3: division "
         "by zero; so it does not hold for 1 point\n")
        # rows that names do not tell apart have their keys, and those of several modes the mode
        self.store("twice", [line("p", result={"cycles": 1}), line("q", result={"cycles": 2})])
        self.says("show", "twice", out="""\
machine  workload     cycles  status  key
tiny     tiny_matmul       1  ok      148de9c5
tiny     tiny_matmul       2  ok      8e35c2cd
""")
        self.store("o", ONE_AT_A_TIME)
        self.says("show", "o", out="""\
machine  workload     mode      exchange.fabric  tile.workers  cycles  status
tiny     tiny_matmul  estimate                              2      45  ok
tiny     tiny_matmul  estimate                                     90  ok
tiny     tiny_matmul  timing    mesh                              300  ok
tiny     tiny_matmul  timing                                2      50  ok
tiny     tiny_matmul  timing                                4      25  ok
tiny     tiny_matmul  timing                                      100  ok
""")
        self.store("none", [])
        self.says("show", "none", "--format", "json", out="[]\n",
                  err="tessera: no point: none has none\n")

    def test_groups(self):
        self.store("s", POINTS)
        self.says("show", "s", "--group", "tile.workers", out=f"""\
tile.workers  points  mean cycles  left out
           2       4       {(4000 + 1000 + 9000 + 250) / 4:.1f}         0
           4       4        1,400         2
""")
        self.says("show", "s", "--group", "exchange.fabric,workload", "--columns",
                  "cycles,tiles_busy", "--sort", "-exchange.fabric", out="""\
exchange.fabric  workload      points  mean cycles  mean tiles_busy  left out
ring             tiny_matmul        2        9,000                1         1
ring             tiny_spmm_b1       2          250                1         1
mesh             tiny_matmul        2        3,000                4         0
mesh             tiny_spmm_b1       2          900                3         0
""")
        # numbers stand in their order, whatever the order of what else the points change
        self.store("n", [line(name, changes={"exchange.fabric": fabric, "tile.workers": workers, "workload.n": n},
                              result={"cycles": workers * n})
                         for name, fabric, workers, n in (("1", "mesh", 4, 16), ("2", "ring", 2, 32), ("3", "tree", 2, 8))])
        self.says("show", "n", "--group", "tile.workers,workload.n", out="""\
tile.workers  workload.n  points  mean cycles
           2           8       1           16
           2          32       1           64
           4          16       1           64
""")
        self.store("o", ONE_AT_A_TIME)
        self.says("show", "o", "--group", "tile.workers", out="""\
tile.workers  mode      points  mean cycles
           2  estimate       1           45
              estimate       1           90
              timing         2          200
           2  timing         1           50
           4  timing         1           25
""")

    def test_what_is_best(self):
        self.store("s", POINTS)
        mean = f"{math.sqrt(2000 * 800):.6g}"
        self.says("show", "s", "--best", out=f"""\
objective                   value  of the base  machine  what differs
geometric mean of cycles  {mean}  63.2 %       tiny     tile.workers = 4 (base 2)
""", err=LEFT_OUT.format("best") + DOES_NOT_FIT)
        # objectives that are given come in the place of cycles
        self.says("show", "s", "--best", "--objective", "cycles:max", "--objective",
                  "tiles_busy:max", out="""\
objective                     value  of the base  machine  what differs
geometric mean of cycles      2,000  100.0 %      tiny     nothing
geometric mean of tiles_busy      4  141.4 %      tiny     tile.workers = 4 (base 2)
""", err=LEFT_OUT.format("best") + DOES_NOT_FIT)
        self.says("show", "s", "--pareto", "--objective", "cycles:max", "--objective",
                  "tiles_busy:max", out=f"""\
machine  exchange.fabric  tile.workers  geometric mean of cycles  geometric mean of tiles_busy
tiny     mesh                        2                     2,000                       2.82843
tiny     mesh                        4                   {mean}                             4
""", err=LEFT_OUT.format("pareto") + DOES_NOT_FIT)
        # estimates are not compared with runs, but where there is nothing else
        self.store("o", ONE_AT_A_TIME)
        self.says("show", "o", "--best", out="""\
objective  value  of the base  machine  what differs
cycles        25  25.0 %       tiny     tile.workers = 4
""")
        self.says("show", "o", "--best", "--filter", "mode == estimate", out="""\
objective  value  of the base  machine  what differs
cycles        45  50.0 %       tiny     tile.workers = 2
""")
        # there is no ratio to a base that has no result, nor to 0
        self.store("fails", [line("b", status="does_not_fit", message="m"),
                             line("x", changes={"tile.workers": 2}, result={"cycles": 50})])
        self.says("show", "fails", "--best", out="""\
objective  value  of the base  machine  what differs
cycles        50               tiny     tile.workers = 2
""", err="tessera: warning: 1 of 2 candidates left out of --best\n"
         "  1 does_not_fit, as tiny tiny_matmul: m\n")
        self.store("zero", [line("b", result={"cycles": 100, "tiles_busy": 0}),
                            line("x", changes={"tile.workers": 2},
                                 result={"cycles": 50, "tiles_busy": 4})])
        self.says("show", "zero", "--best", "--objective", "tiles_busy:max", out="""\
objective   value  of the base  machine  what differs
tiles_busy      4               tiny     tile.workers = 2
""")
        self.store("bad", [line("p", status="crash", message="killed by signal 9")])
        for look in ("best", "pareto"):
            self.says("show", "bad", f"--{look}", code=1, err=f"""\
tessera: warning: 1 of 1 candidate left out of --{look}
  1 crash, as tiny tiny_matmul: killed by signal 9
tessera: --{look}: no point can be compared
""")

    def test_effects(self):
        self.store("s", POINTS)
        self.says("show", "s", "--sensitivity", out="""\
objective                 path             largest over smallest  points  elasticity  mean by value
geometric mean of cycles  tile.workers                     1.369       3      -0.453  2: 1732.05, 4: 1264.91
geometric mean of cycles  exchange.fabric                   1.06       3              mesh: 1590.54, ring: 1500
""", err=LEFT_OUT.format("sensitivity") + DOES_NOT_FIT)
        done = subprocess.run([TESSERA, "sweep", "show", "s", "--sensitivity", "--format", "json"],
                              capture_output=True, text=True, cwd=self.folder)
        self.assertEqual([row["path"] for row in json.loads(done.stdout)], ["tile.workers", "exchange.fabric"])
        self.store("o", ONE_AT_A_TIME)
        self.says("show", "o", "--sensitivity", out="""\
objective  path             largest over smallest  points  elasticity  mean by value
cycles     tile.workers                         4       3              2: 50, 4: 25, as it is: 100
cycles     exchange.fabric                      3       2              as it is: 100, mesh: 300
""")
        self.store("seeds", [line(f"{n} {seed}", changes={"workload.n": n, "workload.seed": seed},
                                  result={"cycles": n * seed}) for n in (8, 16) for seed in (1, 4)])
        self.says("show", "seeds", "--sensitivity", out="""\
objective  path           largest over smallest  points  elasticity  mean by value
cycles     workload.n                         2       4           1  8: 16, 16: 32
cycles     workload.seed                      4       2              spread of points that differ in their seeds alone
""")
        self.says("show", "s", "--sensitivity", "--filter",
                  "tile.workers == 2 && exchange.fabric == mesh", code=1,
                  err="tessera: no effect to be seen: what the points differ in has the same value "
                      "in all that can be compared, or the objective is not above 0\n")

    def test_what_a_sweep_says_is_good(self):
        self.store("s", POINTS)
        (self.folder / "s.json").write_text(json.dumps({
            "schema_version": 1, "machine": "tiny", "workload": ["tiny_matmul", "tiny_spmm_b1"],
            "axes": [{"path": "exchange.fabric", "values": ["mesh", "ring"]},
                     {"path": "tile.workers", "values": [2, 4, 6]}],
            "constraints": ["cycles < 9000", "tiles_busy > 0"],
            "objectives": [{"path": "cycles", "over": "weighted_sum", "weights": [1, 10]},
                           {"path": "tiles_busy", "goal": "max", "over": "worst"}]}))
        show = "show", "s", "--sweep", "./s.json"
        self.says(*show, "--filter", "exchange.fabric == ring", out="""\
machine  workload      exchange.fabric  tile.workers  cycles  tiles_busy  status        note        constraints
tiny     tiny_matmul   ring                        2   9,000           1  ok                        broken
tiny     tiny_matmul   ring                        4                      does_not_fit
tiny     tiny_spmm_b1  ring                        2     250           1  ok
tiny     tiny_spmm_b1  ring                        4      50              ok            only zeros  broken
""")
        left_out = ("tessera: warning: 2 of 4 candidates left out of --{}\n  1 breaks 'cycles < 9000'"
                    ", as tiny tiny_matmul exchange.fabric=ring tile.workers=2\n" + DOES_NOT_FIT)
        self.says(*show, "--best", out=f"""\
objective                value  of the base  machine  what differs
weighted sum of cycles  {2000 + 10 * 800:,}  71.4 %       tiny     tile.workers = 4 (base 2)
worst tiles_busy             4  200.0 %      tiny     tile.workers = 4 (base 2)
""", err=left_out.format("best"))
        self.says(*show, "--pareto", out="""\
machine  exchange.fabric  tile.workers  weighted sum of cycles  worst tiles_busy
tiny     mesh                        4                  10,000                 4
""", err=left_out.format("pareto"))
        # how a path acts is seen in what breaks a constraint too
        self.says(*show, "--sensitivity", out="""\
objective               path             largest over smallest  points  elasticity  mean by value
weighted sum of cycles  tile.workers                     1.269       3      -0.344  2: 12688.6, 4: 10000
weighted sum of cycles  exchange.fabric                  1.029       3              mesh: 11832.2, ring: 11500
worst tiles_busy        tile.workers                     2.828       3         1.5  2: 1.41421, 4: 4
worst tiles_busy        exchange.fabric                  2.828       3              mesh: 2.82843, ring: 1
""", err=LEFT_OUT.format("sensitivity") + DOES_NOT_FIT)

    def test_metrics_have_no_value_where_their_formula_has_none(self):
        self.store("s", POINTS)
        text = json.dumps({"schema_version": 1, "machine": "tiny", "workload": ["tiny_matmul", "tiny_spmm_b1"],
                           "metrics": {"inverse": "1 / (cycles - 4000)", "twice": "2 * inverse"}})
        (self.folder / "s.json").write_text(text)
        at = text.index('"1 / (') + 1
        self.says("show", "s", "--sweep", "./s.json", "--columns", "inverse,twice", "--filter",
                  "tile.workers == 2 && exchange.fabric == mesh", out="""\
machine  workload      exchange.fabric  tile.workers       inverse         twice  status
tiny     tiny_matmul   mesh                        2                              ok
tiny     tiny_spmm_b1  mesh                        2  -0.000333333  -0.000666667  ok
""", err=f"tessera: warning: ./s.json:1:{at}: /metrics/inverse: '1 / (cycles - 4000)', character 3: division by "
         "zero; so it has no value for 1 point\n")

    def test_mistakes(self):
        self.store("s", POINTS)
        for mistake, text in (
                (["--filter", "tile.workrs == 2"],
                 "--filter: no point has 'tile.workrs'; did you mean 'tile.workers'?"),
                (["--filter", "1 +"],
                 "--filter '1 +': character 4: got the end, expected a number, a name or '('"),
                (["--objective", "cycle"],
                 "--objective: no result has 'cycle'; did you mean 'cycles'?"),
                (["--objective", "cycles:most"],
                 "--objective: got 'cycles:most', expected PATH, PATH:min or PATH:max"),
                (["--columns", "a,,b"], "got 'a,,b', expected paths"),
                (["--columns", "cycle"], "--columns: no point has 'cycle'; did you mean 'cycles'?"),
                (["--sort", "x"], "--sort: no point has 'x'"),
                (["--group", "tile.worker"],
                 "--group: no point has 'tile.worker'; did you mean 'tile.workers'?")):
            self.says("show", "s", *mistake, err=f"tessera: sweep show: {text}\n", code=2)


def contents(workload):
    return {"contents": {"machine": "1" * 16, "workload": workload * 16}}


BEFORE = [
    line("1", result={"cycles": 100}),
    line("2", changes={"tile.workers": 2}, result={"cycles": 100}),
    line("3", changes={"tile.workers": 4}, status="crash"),
    line("4", "x/w.json", result={"cycles": 7}, **contents("2")),
    line("5", "gone", result={"cycles": 1}), line("z", "zero", result={"cycles": 0})]
AFTER = [
    line("1", result={"cycles": 100}),
    line("2", changes={"tile.workers": 2}, result={"cycles": 150}),
    line("3", changes={"tile.workers": 4}, result={"cycles": 5}),
    line("4", "y/w.json", result={"cycles": 8}, **contents("3")),
    line("6", "new", result={"cycles": 1}), line("7", "newer", result={"cycles": 1}),
    line("z", "zero", result={"cycles": 3})]


class Differences(Case):
    def test_points_of_two_stores(self):
        self.store("before", BEFORE)
        self.store("after", AFTER)
        self.says("diff", "before", "after", code=1, out="""\
point                                   before  after  after/before
tiny tiny_matmul timing tile.workers=2  100       150           1.5
tiny tiny_matmul timing tile.workers=4  crash       5
tiny#11111111 x/w -> y/w timing         7           8        1.1429
tiny zero timing                        0           3
cycles: 1 equal, 4 different, 1 only before, 2 only after
""")
        self.says("diff", "before", "before",
                  out="cycles: 6 equal, 0 different, 0 only before, 0 only after\n")
        self.says("diff", "before", "after", "--path", "tiles_busy", code=1, out="""\
point                                   before  after  after/before
tiny tiny_matmul timing tile.workers=4  crash   ok
tiles_busy: 4 equal, 1 different, 1 only before, 2 only after
""")
        self.says("diff", "before", "before", "--format", "json", out="[]\n")
        self.says("diff", "before", "after", "--path", "cycle", code=2,
                  err="tessera: sweep diff: --path: no result has 'cycle'; did you mean 'cycles'?\n")

    def test_a_name_that_stood_for_several_contents(self):
        self.store("before", [line("1", "w.json", result={"cycles": 1}, **contents("a")),
                              line("2", "w.json", result={"cycles": 2}, **contents("b"))])
        self.store("after", [line("2", "v/w.json", result={"cycles": 20}, **contents("b")),
                             line("3", "w.json", result={"cycles": 30}, **contents("c")),
                             line("1", "w.json", result={"cycles": 1}, **contents("a"))])
        self.says("diff", "before", "after", code=1, out="""\
point                          before  after  after/before
tiny w#bbbbbbbb -> v/w timing       2     20            10
cycles: 1 equal, 1 different, 0 only before, 1 only after
""")


    def test_of_lines_that_are_alike_those_of_one_name_are_compared(self):
        def lines(*folders):
            return [line(folder, f"{folder}/w.json", result={"cycles": ord(folder)}, **contents("a")) for folder in folders]
        self.store("before", lines("x", "y"))
        self.store("after", lines("y", "x"))
        self.says("diff", "before", "after", out="cycles: 2 equal, 0 different, 0 only before, 0 only after\n")


class Collections(Case):
    def test_tables(self):
        self.store("s", POINTS)
        self.store("o", ONE_AT_A_TIME)
        self.says("collect", "s", "--csv", "s.csv", "--into", "all",
                  out="8 points of 8 lines, 8 added to all, written to s.csv\n")
        self.says("collect", "s", "o", "o", "--into", "all", "--sqlite", "a.db",
                  out="14 points of 20 lines, 6 added to all, written to a.db\n")
        self.says("collect", "s", "-q", "--csv", "quiet.csv")
        self.assertEqual((self.folder / "quiet.csv").read_bytes(),
                         (self.folder / "s.csv").read_bytes())
        rows = list(csv.reader(io.StringIO((self.folder / "s.csv").read_bytes().decode(), newline="")))
        head = rows.pop(0)
        self.assertEqual(head, [
            "key", "status", "machine", "workload", "machine.content", "workload.content", "mode",
            "model", "message", "note", "host.wall_s", "host.peak_rss_bytes", "exchange.fabric",
            "tile.workers", "cycles", "empty_matrices", "tiles_busy"])

        def values(one):
            own = {**one["changes"], **one.get("result", {}), **one}
            return [str(own.get(name, "")) for name in head]

        self.assertEqual(rows, [values(one) for one in POINTS])
        # whole numbers are whole numbers in a database, and what is not there is nothing
        found = sqlite3.connect(self.folder / "a.db").execute(
            'SELECT cycles, "tile.workers", message FROM points WHERE mode = \'timing\' '
            'ORDER BY cycles, workload').fetchall()
        every = sorted(((one.get("result", {}).get("cycles"), one["changes"].get("tile.workers"),
                         one.get("message")) for one in POINTS + ONE_AT_A_TIME[:4]),
                       key=lambda row: (row[0] is not None, row[0] or 0))
        self.assertEqual(sorted(map(repr, found)), sorted(map(repr, every)))

    def test_mistakes(self):
        self.store("before", BEFORE)
        self.store("after", AFTER)
        (self.folder / "other").mkdir()
        (self.folder / "other" / "notes.txt").write_text("no points\n")
        self.says("show", "other", code=6,
                  err="tessera: other: no store there; `tessera sweep run` makes one\n")
        for arguments, code, text in (
                (["before", "--csv", "a", "--into", "a"], 2,
                 "sweep collect: --into 'a' and --csv 'a' are one path, expected different ones"),
                (["before", "--sqlite", "a", "--into", "./a"], 2,
                 "sweep collect: --into './a' and --sqlite 'a' are one path, expected different "
                 "ones"),
                (["before", "--sqlite", "-"], 2,
                 "sweep collect: --sqlite: got '-', expected a file: a database is not written in "
                 "a row"),
                (["before", "--sqlite", "a", "--csv", "./a"], 2,
                 "sweep collect: --sqlite 'a' and --csv './a' are one file, expected different "
                 "ones"),
                (["nothing", "--csv", "a"], 6,
                 "nothing: no store there; `tessera sweep run` makes one"),
                (["other", "--csv", "a"], 6,
                 "other: no store there; `tessera sweep run` makes one"),
                (["before", "after", "--csv", "a"], 6,
                 "two different results of one point, which is a bug: key "
                 + hashlib.sha256(b"2").hexdigest())):
            self.says("collect", *arguments, err=f"tessera: {text}\n", code=code)
            self.assertFalse((self.folder / "a").exists())


class Plans(Case):
    def test_what_is_to_run_and_how_long_it_takes(self):
        (self.folder / "s.json").write_text(json.dumps({
            "schema_version": 1, "machine": "tiny", "workload": ["tiny_matmul", "tiny_spmm_b1"],
            "axes": [{"path": "tile.workers", "values": [2, 4, 6]}],
            "exclude": ["tile.workers == 6 && workload.kind == spmm"]}))
        dry = "run", "./s.json", "--dry-run", "--store", "d"
        self.says(*dry, out="5 points, 0 known in d, 5 to run\n1 point excluded\ntime: unknown\n")
        self.assertFalse((self.folder / "d").exists())
        # a point takes as long as the stored points of its workload did on average
        subprocess.run([TESSERA, "sweep", "run", "./s.json", "-q", "--store", "d", "--set",
                        "tile.workers=4"], check=True, cwd=self.folder)
        file, = (self.folder / "d").glob("*.jsonl")
        known = [json.loads(one) for one in file.read_text().splitlines()]
        self.assertEqual(len(known), 2)
        for one in known:
            one["host"]["wall_s"] = {"tiny_matmul": 20, "tiny_spmm_b1": 100}[one["workload"]]
        model = known[0]["model"]

        def took(name, workload, seconds, status="ok"):
            return line(name, workload, status=status, result={},
                        host={"wall_s": seconds}) | {"model": model}
        file.write_text("".join(json.dumps(one) + "\n" for one in [
            *known, took("a", "tiny_matmul", 40), took("b", "tiny_matmul", 9000, "time_limit"),
            took("c", "other", 9000)]))
        seconds = 2 * (20 + 40) / 2 + 100
        said = "5 points, 2 known in d, 3 to run\n1 point excluded\ntime: about {}, as stored points took\n"
        for jobs in 2, 4:
            self.says(*dry, "--jobs", str(jobs), out=said.format(f"{seconds / jobs:.0f} s"))
        # of a store alone, whatever has run in it
        mean = (20 + 40 + 100 + 9000) / 4
        self.says("status", "d", "--sweep", "./s.json",
                  out=f"s: 5 points in d, 2 ok, 3 to run; about {3 * mean:.0f} s of one process\n")
        # nobody knows how long a workload takes of which nothing has run
        file.write_text("".join(json.dumps(one) + "\n" for one in known
                                if one["workload"] == "tiny_matmul"))
        self.says(*dry, out="5 points, 1 known in d, 4 to run\n1 point excluded\ntime: unknown\n")

    def test_only_what_there_is_has_a_line(self):
        write = lambda values, exclude: (self.folder / "s.json").write_text(json.dumps({
            "schema_version": 1, "machine": "tiny", "workload": ["tiny_matmul"],
            "axes": [{"path": "tile.workers", "values": values}], "exclude": exclude}))
        dry = "run", "./s.json", "--dry-run", "--store", "d"
        write([2, 4], [])
        self.says(*dry, out="2 points, 0 known in d, 2 to run\ntime: unknown\n")
        subprocess.run([TESSERA, "sweep", "run", "./s.json", "-q", "--store", "d"], check=True, cwd=self.folder)
        self.says(*dry, out="2 points, 2 known in d, 0 to run\n")
        write([2, 4, 6], ["tile.workers == 6"])
        self.says(*dry, out="2 points, 2 known in d, 0 to run\n1 point excluded\n")

    def test_a_status_has_what_is_not_ok(self):
        (self.folder / "s.json").write_text(json.dumps({
            "schema_version": 1, "machine": "tiny", "workload": ["tiny_matmul"],
            "axes": [{"path": "tile.workers", "values": [2, 4, 6]}]}))
        subprocess.run([TESSERA, "sweep", "run", "./s.json", "-q", "--store", "d"], check=False, cwd=self.folder)
        file, = (self.folder / "d").glob("*.jsonl")
        points = [json.loads(one) for one in file.read_text().splitlines()]
        (name,) = {pathlib.Path(one).stem.rpartition("-")[0] for one in (self.folder / "d" / "sweeps").glob("*.json")}
        self.says("status", "d", out=f"{name}: 3 points in d, 3 ok, 0 to run\n")
        points[0] |= {"status": "crash", "message": "killed by signal 9"}
        del points[0]["result"]
        del points[1]
        file.write_text("".join(json.dumps(one) + "\n" for one in points))
        done = subprocess.run([TESSERA, "sweep", "status", "d"], capture_output=True, text=True, cwd=self.folder, check=True)
        head, *others = done.stdout.splitlines()
        self.assertRegex(head, f"^{name}: 3 points in d, 1 crash, 1 ok, 1 to run; about [0-9]+ s of one process$")
        self.assertEqual(len(others), 1)
        self.assertRegex(others[0], r"^  1 crash, as tiny tiny_matmul tile.workers=[246]: killed by signal 9$")
        file.write_text("")
        self.says("status", "d", out=f"{name}: 3 points in d, 3 to run\n")


class Runs(Case):
    def stored(self, change=lambda one: None):
        """The lines of the store d, each as `change` leaves it."""
        file, = (self.folder / "d").glob("*.jsonl")
        lines = [json.loads(one) for one in file.read_text().splitlines()]
        for one in lines:
            change(one)
        file.write_text("".join(json.dumps(one) + "\n" for one in lines))
        return lines

    def test_a_run_says_what_is_not_ok_whether_it_was_known_or_not(self):
        (self.folder / "s.json").write_text(json.dumps({
            "schema_version": 1, "machine": "tiny", "workload": "tiny_matmul",
            "axes": [{"path": "workload.n", "values": [64, 1000000]}, {"path": "chip.tiles", "values": [4, 5, 7, 9, 11]},
                     {"path": "exchange.pair_double", "values": [True, False]}]}))
        run = "run", "./s.json", "--store", "d"
        # an odd number of tiles has no pairs
        odd = "".join(f"tessera: warning: --set: chip.tiles: got {tiles} tiles, expected an even number while "
                      "exchange.pair_double is true\n" for tiles in (5, 7, 9)) + "tessera: warning: 5 more points cannot be\n"
        done = subprocess.run([TESSERA, "sweep", *run], capture_output=True, text=True, cwd=self.folder, check=True)
        self.assertEqual(done.stderr, odd)
        self.assertRegex(done.stdout.splitlines()[0], "^12 points in d, 6 does_not_fit, 8 invalid, 6 ok; [0-9.]+ s$")

        def point(one):
            return f"as tiny tiny_matmul {' '.join(f'{key}={json.dumps(value)}' for key, value in one['changes'].items())}"

        def shorter(one):
            if one["status"] != "ok":
                one["message"] = f"tile {one['changes']['chip.tiles']}: no room"
        large = next(one for one in self.stored(shorter) if one["status"] != "ok")
        said = f"  6 does_not_fit, {point(large)}: {large['message']}\n"
        self.says(*run, out="12 points in d, 12 known before, 8 invalid\n" + said, err=odd)
        self.says(*run, "-q", err=odd)
        # a wrong answer is told in any case
        wrong = next(one for one in self.stored() if one["status"] == "ok")

        def fails(one):
            if one["key"] == wrong["key"]:
                one["status"], one["result"]["check"] = "check_failed", {"sentence": "row 3 is wrong"}
        self.stored(fails)
        failed = f"1 check_failed, {point(wrong)}: row 3 is wrong\n"
        self.says(*run, out=f"12 points in d, 12 known before, 8 invalid\n{said}  {failed}", err=odd, code=1)
        self.says(*run, "-q", err=f"{odd}tessera: s: {failed}", code=1)
        self.says("status", "d", out="s: 12 points in d, 1 check_failed, 6 does_not_fit, 5 ok, 8 invalid, 0 to run\n"
                  f"{said}  {failed}")

        # one that was killed has no result
        def killed(one):
            if one["key"] == large["key"]:
                one["status"] = "killed"
        self.stored(killed)
        self.says(*run, "--dry-run", "--retry", "check_failed", err=odd,
                  out="12 points, 10 known in d, 2 to run\ntime: about 1 s, as stored points took\n")

    def test_another_name_gets_what_is_known_of_its_point(self):
        write = lambda workload: (self.folder / "s.json").write_text(json.dumps({
            "schema_version": 1, "machine": "tiny", "workload": workload,
            "axes": [{"path": "workload.n", "values": [64, 1000000]}]}))
        run = "sweep", "run", "./s.json", "--store", "d", "-q"
        write("tiny_matmul")
        subprocess.run([TESSERA, *run], cwd=self.folder, check=True)
        good, bad = sorted(self.stored(), key=lambda one: one["status"] != "ok")
        # of what was said of a point the last counts, but for a result
        crash = {key: value for key, value in good.items() if key != "result"} | {"status": "crash", "message": "killed"}
        file, = (self.folder / "d").glob("*.jsonl")
        file.write_text("".join(json.dumps(one) + "\n" for one in (
            crash, bad | {"message": "first"}, good, bad | {"message": "last"})))
        shutil.copy(pathlib.Path(__file__).resolve().parents[2] / "configs/workloads/tiny_matmul.json",
                    self.folder / "other.json")
        write("./other.json")
        subprocess.run([TESSERA, *run], cwd=self.folder, check=True)
        other, = set((self.folder / "d").glob("*.jsonl")) - {file}
        told = sorted(map(json.loads, other.read_text().splitlines()), key=lambda one: one["status"] != "ok")
        self.assertEqual([(one["workload"], one["status"], one.get("message")) for one in told],
                         [("./other.json", "ok", None), ("./other.json", "does_not_fit", "last")])
        self.assertEqual(told[0]["result"], good["result"])

    def test_a_log_says_how_far_a_run_is_and_what_went_wrong(self):
        (self.folder / "s.json").write_text(json.dumps({
            "schema_version": 1, "machine": "bow", "workload": "dense_4096_f16",
            "axes": [{"path": "sync.internal_cycles", "range": [20, 160, 20]}, {"path": "workload.n", "values": [1000000, 4096]}]}))
        done = subprocess.run([TESSERA, "sweep", "run", "./s.json", "--jobs", "1"], capture_output=True, text=True,
                              cwd=self.folder, check=True)
        for one in done.stderr.splitlines():  # one a second at most
            self.assertRegex(one, r"^\d+ of 16 points, [0-9.e+]+ a second, .* left, (\d) not ok: \1 does_not_fit$")

    def test_a_screen_that_leaves_nothing_says_why(self):
        (self.folder / "s.json").write_text(json.dumps({
            "schema_version": 1, "machine": "tiny", "workload": "tiny_matmul", "constraints": ["cycles < 0"],
            "axes": [{"path": "workload.n", "values": [64, 128]}]}))
        self.says("run", "./s.json", "--store", "d", "--screen", "estimate", "-q", code=5,
                  err="--screen estimate: no point is left to choose from\n"
                      "  2 breaks 'cycles < 0', as tiny tiny_matmul workload.n=64\n")
        self.assertEqual({one["mode"] for one in self.stored()}, {"estimate"})

    def test_a_worker_says_what_is_wrong_with_a_line(self):
        (self.folder / "s.json").write_text(json.dumps({
            "schema_version": 1, "machine": "tiny", "workload": "tiny_matmul", "exclude": ["tile.workers == 2"]}))
        for asked, answer in (
                ({"tile.workers": 2}, {"status": "excluded"}),
                ({"tile.workers": 99}, "--set: tile.workers: got 99 workers, expected 1..8 workers"),
                ([], "got '[]', expected {\"PATH\": VALUE, ...}"),
                ({"workload": 3}, "workload: got 3, expected a name"),
                ({"tile.workers": None}, "tile.workers: got null, expected a value"),
                ({"tile.workers": {}}, "tile.workers: got {}, expected a value")):
            done = subprocess.run([TESSERA, "sweep", "worker", "./s.json", "--stdin"], input=f" \t\n{json.dumps(asked)}\n",
                                  capture_output=True, text=True, cwd=self.folder, check=True)
            told = answer if isinstance(answer, dict) else {"status": "invalid", "message": answer}
            self.assertEqual((json.loads(done.stdout), done.stderr), (told, ""))
        # a point that is known under another name is told, and kept, under the new one
        shutil.copy(pathlib.Path(__file__).resolve().parents[2] / "configs/workloads/tiny_matmul.json",
                    self.folder / "other.json")
        lines = [{}, {"workload": "./other.json"}, {}, {"workload": "./other.json"}]
        done = subprocess.run([TESSERA, "sweep", "worker", "./s.json", "--stdin", "--store", "d"], capture_output=True,
                              input="".join(json.dumps(one) + "\n" for one in lines), text=True, cwd=self.folder, check=True)
        answers = [json.loads(one) for one in done.stdout.splitlines()]
        self.assertEqual([one["workload"] for one in answers], ["tiny_matmul", "./other.json"] * 2)
        self.assertEqual(answers[:2], answers[2:])
        self.assertEqual({json.dumps(one["result"]) for one in answers}, {json.dumps(answers[0]["result"])})
        self.assertEqual(self.stored(), answers[:2])


class Submissions(Case):
    def submit(self, *arguments, path="/nowhere"):
        return subprocess.run([TESSERA, "sweep", "submit", "tiny_matmul", "--machine", "tiny",
                               "--set", "tile.workers=2,4,6", *arguments], capture_output=True,
                              text=True, cwd=self.folder, env={**os.environ, "PATH": path})

    def script(self, store, shards, more=""):
        sweep, = (self.folder / store / "sweeps").glob("*.json")
        # what a shell would take apart is quoted
        word = lambda text: f"'{text}'" if " " in str(text) else text
        return f"""\
#!/bin/sh
#SBATCH --job-name=tiny_matmul
#SBATCH --array=0-{shards - 1}
#SBATCH --output={word(self.folder / store / "slurm-%A_%a.out")}
#SBATCH --open-mode=append
#SBATCH --requeue
exec {TESSERA} sweep worker {word(sweep)} --store {word(self.folder / store)} --quiet \
--jobs "${{SLURM_CPUS_PER_TASK:-1}}" --shard "$SLURM_ARRAY_TASK_ID/{shards}"{more}
"""

    def test_a_script_is_shown(self):
        done = self.submit("--shards", "1", "--print")
        self.assertEqual(done.stdout, "# sbatch << EOF\n" + self.script("tiny_matmul.sweep", 1))
        done = self.submit("--shards", "20", "--print", "--store", "a b", "--time-limit", "60",
                           "--memory-limit", "500", "--retry", "crash", "--retry", "killed",
                           "--keep", "full", "--", "--time=5", "-c", "2", "it's")
        self.assertEqual(done.stdout, "# sbatch --time=5 -c 2 'it'\\''s' << EOF\n" + self.script(
            "a b", 20, " --time-limit 60 --memory-limit 500 --retry crash --retry killed "
            "--keep full"))

    def test_a_script_goes_to_sbatch(self):
        sbatch = self.folder / "bin/sbatch"
        sbatch.parent.mkdir()
        for code in (0, 3):
            sbatch.write_text(f"#!/bin/sh\nprintf '%s,' \"$@\" > options\ncat > script\nexit {code}\n")
            sbatch.chmod(0o755)
            done = self.submit("--shards", "2", "--", "-c", "2 3",
                               path=f"{sbatch.parent}:{os.environ['PATH']}")
            self.assertEqual((self.folder / "options").read_text(), "-c,2 3,")
            self.assertEqual((self.folder / "script").read_text(),
                             self.script("tiny_matmul.sweep", 2))
            self.assertEqual(done.stdout, "3 points in 2 shards, into "
                                          f"{self.folder / 'tiny_matmul.sweep'}\n")
            self.assertEqual((done.returncode, done.stderr), (0, "") if code == 0 else (
                6, "tessera: sbatch refused the sweep: see what it says above\n"))
        done = self.submit("--shards", "2")
        self.assertEqual((done.returncode, done.stderr), (
            2, "tessera: sweep submit: there is no sbatch here: Slurm's client is not installed; "
               "--print shows what would be submitted\n"))


if __name__ == "__main__":
    TESSERA = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
