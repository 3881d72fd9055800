#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module returns what the command line prints. Usage: python_test.py BINARY SOURCE_DIRECTORY

It needs Debian's python3-pandas and mypy. The cells of docs/python.md are run by tools/check_docs.py."""

import contextlib
import copy
import csv
import html.parser
import io
import json
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

import pandas

sys.dont_write_bytecode = True  # no folder among the sources
from cli_case import BINARY, SOURCE, CliTest

sys.path.insert(0, str(SOURCE / "python"))
import tessera

TINY = {"machine": "tiny", "program": BINARY}
HOSTILE = "</script><img src=x onerror=alert(1)>"


def processes():
    """The processes that run: number, parent and command of each."""
    rows = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                rows.append((folder.name, parent, (folder / "cmdline").read_text("utf-8", "replace").replace("\0", " ").strip()))
    return rows


def children():
    """Those of the program that this one, or one of its children, has begun."""
    rows, parents = processes(), {str(os.getpid())}
    for _ in range(3):
        parents |= {row[0] for row in rows if row[1] in parents}
    return [row for row in rows if row[1] in parents and row[2].startswith(f"{BINARY} ")]


def without_host(result):
    return {key: value for key, value in result.items() if key != "host"}


class ModuleTest(CliTest):
    def setUp(self):
        super().setUp()
        before, environment = os.getcwd(), dict(os.environ)
        os.chdir(self.scratch)
        os.environ["TESSERA_CONFIGS"] = str(SOURCE / "configs")
        os.environ.pop("TESSERA", None)
        self.addCleanup(os.chdir, before)
        self.addCleanup(os.environ.update, environment)

    def fake(self, text, name="fake"):
        """A program of a few lines."""
        path = self.file(name, "#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)
        return path


class RunTest(ModuleTest):
    def test_a_result_is_the_json_of_the_command_line(self):
        for mode in ("functional", "timing"):
            with self.subTest(mode):
                result = tessera.run("tiny_matmul", set={"tile.workers": 4, "workload.bias": True}, mode=mode, **TINY)
                said = self.result("tiny_matmul", "--machine", "tiny", "--set", "tile.workers=4", "--set", "workload.bias=true",
                                   "--mode", mode)
                self.assertEqual(without_host(result.to_dict()), without_host(said))
        self.assertEqual(result.cycles, said["cycles"])
        self.assertEqual(result.machine.tile.workers, 4)
        self.assertEqual(result["machine.tile.workers"], 4)
        self.assertIs(result.workload.bias, True)
        self.assertEqual(result.workload.values, "integer")  # a key that dictionaries have as a method
        buffer = next(name for name in said["plan"]["bytes_by_buffer"] if " " in name)
        self.assertEqual(result[f"plan.bytes_by_buffer.{buffer}"], said["plan"]["bytes_by_buffer"][buffer])
        self.assertEqual([step.name for step in result.compute_sets], [step["name"] for step in said["compute_sets"]])
        self.assertEqual(list(result.phases), list(said["phases"]))

    def test_plan_and_further_options_reach_the_command_line(self):
        result = tessera.run("tiny_matmul", plan="published", options=["--out", "left"], **TINY)
        self.assertEqual(result.workload.plan, "published")
        self.assertEqual(json.loads(pathlib.Path("left/result.json").read_text())["cycles"], result.cycles)

    def test_the_report_is_that_of_the_command_line(self):
        said = self.tessera("run", "tiny_matmul", "--machine", "tiny").stdout
        lines = [[line for line in text.splitlines() if not line.startswith("host")]
                 for text in (str(tessera.run("tiny_matmul", **TINY)), said)]
        self.assertEqual(*lines)

    def test_a_key_that_is_not_there_is_told_with_the_nearest(self):
        result = tessera.Result({"cycles": 1, "phases": {"compute": 1}})
        with self.assertRaisesRegex(AttributeError, "no 'cycels'; did you mean 'cycles'"):
            result.cycels
        with self.assertRaisesRegex(KeyError, "no 'phases.compote'; did you mean 'compute'"):
            result["phases.compote"]
        with self.assertRaises(KeyError):
            result["cycles.more"]
        with self.assertRaisesRegex(KeyError, r"no 'phases.compute.x'\W*$"):
            result["phases.compute.x"]
        two = tessera.Result({"compute_a": 1, "compute_b": 2})
        with self.assertRaisesRegex(KeyError, r"no 'compute_c'; did you mean 'compute_[ab]'\?\W*$"):  # one name, though two are near
            two["compute_c"]
        self.assertIsNone(result.get("phases.sync"))
        self.assertEqual(result.get("phases.sync", 7), 7)
        self.assertIn("phases", dir(result))
        self.assertNotIn("a key", dir(tessera.Result({"a key": 1})))  # it cannot be an attribute

    def test_a_result_is_copied_and_its_dictionary_is_its_own(self):
        result = tessera.Result({"cycles": 1, "steps": [{"a": 1}]})
        result.to_dict()["steps"][0]["a"] = 2
        for one in (result, copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
            self.assertEqual(one.steps[0].a, 1)


class MistakesTest(ModuleTest):
    def refused(self, kind, code, *words, **arguments):
        with self.assertRaises(kind) as caught:
            tessera.run(*words, **({"program": BINARY} | arguments))
        self.assertIs(type(caught.exception), kind)
        self.assertEqual(caught.exception.exit_code, code)
        return caught.exception

    def test_each_exit_code_is_an_exception_with_the_programs_message(self):
        for kind, code, words in [
                (tessera.UsageError, 2, ["tiny_matmul", "--nonsense"]),
                (tessera.ConfigurationError, 3, ["tiny_matmul", "--set=tile.workers=99"]),
                (tessera.DoesNotFit, 4, ["dense_4096_f16", "--machine=tiny", "--mode=estimate"]),
                (tessera.ProgramFault, 5, ["tiny_matmul", "--machine=tiny", "--max-cycles=100"]),
                (tessera.NotModelled, 5, ["stream_triad", "--mode=estimate"]),
                (tessera.FileError, 6, ["./absent.json"])]:
            with self.subTest(words):
                said = self.tessera("run", "-q", *words, code=code).stderr.strip()
                options = [word for word in words[1:] if word != "--machine=tiny"]
                mistake = self.refused(kind, code, words[0], options=options, machine="tiny" if "--machine=tiny" in words else "bow")
                self.assertEqual(str(mistake), said)

    def test_a_wrong_answer_has_its_result(self):
        for ending in (".S", ".json"):
            shutil.copy(SOURCE / "configs/vertices" / f"row_dot{ending}", self.scratch)
        self.file("wrong.json", json.dumps({
            "schema_version": 1, "kind": "pipeline",
            "tensors": {"x": {"type": "f32", "shape": [16, 8]}, "w": {"type": "f32", "shape": [8]}},
            "steps": [{"family": "relu", "inputs": ["x"], "output": "active"},
                      {"codelet": "row_dot.S", "vertex": "row_dot.json", "inputs": {"x": "active", "w": "w"},
                       "outputs": {"y": {"tensor": "scores", "shape": [16]}}, "expect": {"y": 1e6}},
                      {"family": "relu", "inputs": ["scores"], "output": "out"}]}))
        mistake = self.refused(tessera.CheckFailed, 1, "wrong.json", machine="tiny")
        self.assertIs(mistake.result.check.passed, False)
        self.assertGreater(mistake.result.cycles, 0)

    def test_other_ends_are_exceptions_too(self):
        for text, kind, code, message in [("echo 'tessera: internal error: x' >&2; exit 70", tessera.Bug, 70, "tessera: internal error: x"),
                                          ("echo 'no memory' >&2; exit 71", tessera.LimitExceeded, 71, "no memory"),
                                          ("kill -9 $$", tessera.Bug, -9, "tessera ended with -9"),
                                          # of a fault alone the words say what it is
                                          ("echo 'x.json: not modelled' >&2; exit 3", tessera.ConfigurationError, 3, "x.json: not modelled"),
                                          ("echo 'tile_0 @ 5: not' >&2; echo '  modelled: x' >&2; exit 5", tessera.NotModelled, 5,
                                           "tile_0 @ 5: not\n  modelled: x"),
                                          ("echo 'tensor data that timing mode does not have' >&2; exit 5", tessera.NotModelled, 5,
                                           "tensor data that timing mode does not have")]:
            with self.subTest(text):
                self.assertEqual(str(self.refused(kind, code, "tiny_matmul", program=self.fake(text))), message)

    def test_arguments_are_words_of_the_command_line(self):
        said = self.refused(tessera.UsageError, 2, "x", program=self.fake('printf "%s\\n" "$@" >&2; exit 2'), machine="M", mode="",
                            set={"a.file": "Matrix.mtx", "a.is": True, "a.is_not": False, "a.list": (1, "B"), "a.all": [2.5], "a.zero": 0})
        words = [word for word in str(said).splitlines() if not word.startswith("--json=")]
        self.assertEqual(words, ["run", "x", "--machine=M", "--mode=", "--set=a.file=Matrix.mtx", "--set=a.is=true",
                                 "--set=a.is_not=false", "--set=a.list=1,B", "--set=a.all=2.5", "--set=a.zero=0"])

    def test_warnings_of_the_program_are_warnings(self):
        says = self.fake("""for word; do case $word in --json=*) echo '{"cycles": 7}' > "${word#--json=}";; esac; done
                            echo 'tessera: warning: it is late' >&2""")
        with self.assertWarnsRegex(tessera.TesseraWarning, "^tessera: warning: it is late$") as caught:
            self.assertEqual(tessera.run("x", program=says).cycles, 7)
        self.assertEqual(caught.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tessera.run("tiny_matmul", **TINY)

    def test_the_page_has_each_exception(self):
        page = (SOURCE / "docs/python.md").read_text()
        kinds = {kind.__name__ for kind in vars(tessera).values()
                 if isinstance(kind, type) and issubclass(kind, tessera.TesseraError)} - {"TesseraError"}
        self.assertEqual(set(re.findall(r"^\| `(\w+)`.* \| \d", page, re.M)), kinds)


class TableTest(ModuleTest):
    """The table that a notebook shows."""

    def cells(self, result):
        cells, tags = [], set()

        class Reader(html.parser.HTMLParser):
            def handle_starttag(self, tag, attributes):
                tags.add(tag)
                if tag == "td":
                    cells.append("")

            def handle_data(self, data):
                cells[-1] += data

        Reader().feed(result._repr_html_())
        self.assertEqual(tags, {"table", "tr", "td"})
        return dict(zip(cells[::2], cells[1::2]))

    def test_it_has_the_figures_of_the_result(self):
        result = tessera.run("tiny_matmul", **TINY)
        cells = self.cells(result)
        self.assertEqual(list(cells), ["workload", "machine", "cycles", "time", "speed", "phases", "energy", "check"])
        self.assertEqual(cells["cycles"], f"{result.cycles:,}")
        self.assertEqual(cells["time"], f"{result.seconds * 1e6:.2f} us")
        self.assertEqual(cells["phases"], f"compute {result.phases.compute:,}, exchange {result.phases.exchange:,}, "
                                          f"sync {result.phases.sync:,} cycles")
        self.assertIn(f"{result.energy.mean_w:.3g} W", cells["energy"])
        self.assertEqual(cells["check"], result.check.sentence)

    def test_it_has_what_there_is(self):
        self.assertEqual(self.cells(tessera.run("tiny_matmul", mode="timing", **TINY))["check"], "none")
        estimate = self.cells(tessera.run("tiny_matmul", mode="estimate", **TINY))
        self.assertNotIn("phases", estimate)
        bare = {"cycles": 1200, "seconds": 1e-6, "workload": {}, "machine": {"name": "m"}, "sentence": "it is a sentence"}
        self.assertEqual(self.cells(tessera.Result(bare)), {
            "workload": "it is a sentence", "machine": "m", "cycles": "1,200", "time": "1.00 us", "check": "none"})
        self.assertEqual(repr(tessera.Result(bare)), "Result(workload it is a sentence, machine m, cycles 1,200, time 1.00 us)")
        self.assertEqual(self.cells(tessera.Result(bare | {"check": {"sentence": ""}}))["check"], "")
        copied = self.cells(tessera.run("self_copy", set={"workload.bytes": 256}, mode="timing", **TINY))
        self.assertRegex(copied["speed"], "^[0-9.]+ GB/s$")

    def test_names_are_text(self):
        name = HOSTILE.replace("/", "")
        self.file(f"{name}.json", (SOURCE / "configs/workloads/tiny_matmul.json").read_text())
        self.assertEqual(self.cells(tessera.run(f"./{name}.json", **TINY))["workload"], name)
        hostile = {"cycles": 1, "seconds": 1e-6, "workload": {"name": HOSTILE}, "machine": {"name": HOSTILE}, "check": {"sentence": HOSTILE}}
        cells = self.cells(tessera.Result(hostile))
        self.assertEqual([cells["workload"], cells["machine"], cells["check"]], [HOSTILE] * 3)


class SweepTest(ModuleTest):
    AXES = {"tile.workers": [4, 6], "workload.n": (32, 64)}

    def tearDown(self):
        self.assertEqual(children(), [])

    def cycles(self, workers, n):
        return self.result("tiny_matmul", "--machine", "tiny", "--mode", "timing", "--set", f"tile.workers={workers}",
                           "--set", f"workload.n={n}")["cycles"]

    def test_points_are_those_of_runs(self):
        wanted = {(workers, n): self.cycles(workers, n) for workers in (4, 6) for n in (32, 64)}
        points = list(tessera.sweep("tiny_matmul", self.AXES, **TINY))
        self.assertEqual([(*point.asked.to_dict().values(), point.result.cycles) for point in points],
                         [(*asked, cycles) for asked, cycles in wanted.items()])
        self.assertEqual({point.status for point in points}, {"ok"})
        several = tessera.sweep("tiny_matmul", [dict(zip(self.AXES, asked)) for asked in wanted], jobs=3, **TINY)
        self.assertEqual({tuple(point.asked.to_dict().values()): point.result.cycles for point in several}, wanted)

    def test_workloads_and_numbers_of_numpy_are_values_as_well(self):
        workers = list(pandas.Series([4, 6]).to_numpy())
        points = list(tessera.sweep("tiny_matmul", {"tile.workers": workers, "workload": ["tiny_matmul", "tiny_spmm_b1"]}, **TINY))
        self.assertEqual([point.workload for point in points], ["tiny_matmul", "tiny_spmm_b1"] * 2)
        self.assertEqual([point.changes["tile.workers"] for point in points], [4, 4, 6, 6])

    def test_a_point_that_cannot_run_has_an_error_and_ends_nothing(self):
        bad, good = tessera.sweep("tiny_matmul", [{"tile.workers": 99}, {}], **TINY)
        self.assertIsInstance(bad.error, tessera.ConfigurationError)
        self.assertEqual(str(bad.error), "--set: tile.workers: got 99 workers, expected 1..8 workers")
        with self.assertRaisesRegex(tessera.ConfigurationError, "got 99 workers"):
            bad.result
        self.assertIsNone(good.error)

    def test_each_status_of_a_store_is_a_class(self):
        page = (SOURCE / "docs/sweeps.md").read_text()
        table = page[page.index("| `status` | meaning |"):].split("\n\n")[0]
        statuses = set(re.findall("`([a-z_]+)`", " ".join(line.split("|")[1] for line in table.splitlines()[2:])))
        self.assertIn("does_not_fit", statuses)
        for status in statuses - {"ok"}:
            with self.subTest(status):
                mistake = tessera.Point({"status": status, "message": "so"}).error
                self.assertIsNot(type(mistake), tessera.TesseraError)
                self.assertEqual(str(mistake), "so")
        excluded = tessera.Point({"status": "excluded"}).error
        self.assertEqual((type(excluded), str(excluded)), (tessera.TesseraError, "excluded"))

    def test_a_generator_is_asked_after_the_results_before_were_seen(self):
        seen, asked = [], []

        def points():
            for workers in (4, 6, 8):
                asked.append(list(seen))
                yield {"tile.workers": workers}

        for point in tessera.sweep("tiny_matmul", points(), **TINY):
            seen.append(point.asked["tile.workers"])
        self.assertEqual(asked, [[], [4], [4, 6]])

    def test_what_no_point_can_run_with_is_raised(self):
        for points in ([{}], None):
            with self.assertRaisesRegex(tessera.ConfigurationError, "unknown sweep or workload 'absent'"):
                next(tessera.sweep("absent", points, **TINY))
        with self.assertRaises(tessera.UsageError):
            next(tessera.sweep("tiny_matmul", [{}], options=["--nonsense"], **TINY))
        self.assertEqual(list(tessera.sweep("tiny_matmul", [], **TINY)), [])
        with self.assertRaisesRegex(tessera.Bug, "ended with -9"):
            list(tessera.sweep("x", [{}, {}], program=self.fake("read line; kill -9 $$"), jobs=2))

    def test_a_program_that_ends_before_it_is_asked_is_told(self):
        ends = self.fake("echo 'it ends' >&2; exit 3", "ends_at_once")

        def points():
            self.wait(lambda: not any("ends_at_once" in row[2] for row in processes()))
            yield {}

        with self.assertRaisesRegex(tessera.ConfigurationError, "^it ends$"):
            next(tessera.sweep("x", points(), program=ends))

    def test_processes_end_with_the_sweep(self):
        def one(**more):
            sweep = tessera.sweep("tiny_matmul", self.AXES, **TINY, **more)
            next(sweep)
            self.assertNotEqual(children(), [])
            return sweep

        with one():
            pass
        self.assertEqual(children(), [])
        one(jobs=2).close()
        self.assertEqual(children(), [])
        one()  # forgotten
        self.assertEqual(children(), [])
        with self.assertRaises(ZeroDivisionError), one() as points:
            for _ in points:
                1 / 0
        self.assertEqual(children(), [])

        def breaks():
            yield {}
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            list(tessera.sweep("tiny_matmul", breaks(), **TINY))

    def test_an_exception_ends_a_program_that_does_not_end(self):
        def late(*_):
            raise TimeoutError

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, late))
        sleeps = self.fake("exec sleep 1000.25")
        for call in (lambda: tessera.run("x", program=sleeps), lambda: next(tessera.sweep("x", [{}], jobs=2, program=sleeps)),
                     lambda: next(tessera.sweep("x", program=sleeps)), lambda: tessera.load("x", program=sleeps)):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            self.assertRaises(TimeoutError, call)
            self.assertEqual([row for row in processes() if row[2] == "sleep 1000.25"], [])

    def test_processes_end_with_python(self):
        """An interrupt ends the points that run. A kill leaves them their end, and the workers end then."""
        for number, least, points in ((signal.SIGINT, 4, "'dense_4096_f16', itertools.repeat({}), mode='functional'"),
                                      (signal.SIGKILL, 2, "'tiny_matmul', ({'workload.seed': i} for i in itertools.count()), machine='tiny'")):
            with self.subTest(number):
                script = f"import itertools, tessera\nfor point in tessera.sweep({points}, jobs=2): pass"
                environment = dict(os.environ, PYTHONPATH=str(SOURCE / "python"), TESSERA=str(BINARY))
                with subprocess.Popen([sys.executable, "-c", script], env=environment, stderr=subprocess.DEVNULL) as process:
                    self.wait(lambda: len(children()) >= least)  # two workers, and their points
                    ours = {row[0] for row in children()}
                    process.send_signal(number)
                self.wait(lambda: not ours & {row[0] for row in processes()})

    def wait(self, condition):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)


class StoreTest(ModuleTest):
    def sweep_file(self, **more):
        self.file("small.json", json.dumps({"schema_version": 1, "machine": "tiny", "workload": "tiny_matmul",
                                            "axes": [{"path": "tile.workers", "values": [4, 6, 8]}],
                                            "metrics": {"energy_delay": "energy.total_j * seconds"}} | more))

    def test_points_of_a_file_come_from_the_store_and_as_they_end(self):
        self.sweep_file()
        before = set(pathlib.Path(tempfile.gettempdir()).iterdir())
        first = list(tessera.sweep("./small.json", program=BINARY))
        self.assertEqual([point.changes["tile.workers"] for point in sorted(first, key=lambda one: one.changes["tile.workers"])], [4, 6, 8])
        self.assertFalse(pathlib.Path("small.sweep").exists())
        left = set(pathlib.Path(tempfile.gettempdir()).iterdir()) - before
        self.assertEqual([path for path in left if list(path.glob("*.jsonl"))], [])
        for _ in range(2):
            kept = list(tessera.sweep("./small.json", store="kept", program=BINARY))
            self.assertEqual(sorted(point.result.cycles for point in kept), sorted(point.result.cycles for point in first))
        pathlib.Path("kept/damaged.jsonl").write_text("{\n")
        with self.assertWarns(tessera.TesseraWarning):
            self.assertEqual(len(list(tessera.sweep("./small.json", store="kept", program=BINARY))), 3)

    def test_a_line_is_read_when_it_is_whole(self):
        writes = self.fake("""for word; do case $word in --store=*) file=${word#--store=}/a.jsonl;; esac; done
                              printf '{"key": 1}\\n{"key":' > $file; sleep 0.3; printf ' 2}\\n' >> $file; exit 1""")  # an answer is wrong
        pathlib.Path("kept").mkdir()
        self.assertEqual([point.key for point in tessera.sweep("x", store="kept", program=writes)], [1, 2])

    def test_points_that_fail_have_errors_and_raise_nothing(self):
        self.sweep_file(axes=[{"path": "workload.m", "values": [64, 500_000]}])
        errors = [type(point.error) for point in tessera.sweep("./small.json", program=BINARY)]
        self.assertEqual(set(errors), {type(None), tessera.DoesNotFit})

    def test_rows_are_those_that_collect_writes(self):
        points = list(tessera.sweep("tiny_matmul", {"tile.workers": [4, 6], "workload.n": [64]}, store="a", **TINY))
        list(tessera.sweep("tiny_spmm_b1", [{}], store="b", **TINY))
        rows = tessera.load("a", "b", program=BINARY)
        said = list(csv.DictReader(io.StringIO(self.tessera("sweep", "collect", "a", "b", "--csv", "-").stdout)))
        self.assertEqual([list(row) for row in rows], [list(row) for row in said])
        for row, line in zip(rows, said):
            for column, text in line.items():
                value = row[column]
                self.assertTrue(value is None and text == "" or str(value) == text or float(text) == value, (column, text, value))
        by_key = {row["key"]: row for row in rows}
        for point in points:
            row = by_key[point.key]
            self.assertEqual(row["tile.workers"], point.changes["tile.workers"])
            for path in ("cycles", "seconds", "phases.exchange", "memory.worst_tile", "digests.program", "sentence"):
                self.assertEqual(row[path], point.result[path])
                self.assertIs(type(row[path]), type(point.result[path]))
        self.assertIsNone(rows[-1]["tile.workers"])

    def test_words_that_look_like_numbers_stay_words_in_columns_of_words(self):
        prints = self.fake("""printf 'key,message,digests.output,workload.kind,x,y,z\\r\\n1e5,7,00012345,12,1,,007\\r\\n2,,1e123456,a,-2.5e-07,,0\\r\\n'""")
        rows = tessera.load("s", program=prints)
        self.assertEqual([list(row.values()) for row in rows],
                         [["1e5", "7", "00012345", "12", 1, None, "007"], ["2", None, "1e123456", "a", -2.5e-07, None, "0"]])

    def test_a_frame_has_numbers(self):
        points = list(tessera.sweep("tiny_matmul", {"tile.workers": [4, 6, 8]}, store="a", **TINY))
        frame = tessera.load("a", program=BINARY).frame()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(frame["cycles"].tolist(), [point.result.cycles for point in points])
        self.assertEqual([frame[path].dtype.kind for path in ("cycles", "tile.workers", "seconds", "workload")], ["i", "i", "f", "O"])
        self.assertEqual(frame.loc[frame["cycles"].idxmin(), "tile.workers"], 6)

    def test_columns_that_follow_from_others_are_computed(self):
        self.sweep_file()
        list(tessera.sweep("./small.json", store="a", program=BINARY))
        columns = ["cycles", "energy.total_j", "energy_delay"]
        rows = tessera.load("a", columns=columns, program=BINARY)
        said = json.loads(self.tessera("sweep", "show", "a", "--columns", ",".join(columns), "--format", "json").stdout)
        self.assertEqual([dict(row) for row in rows], [dict(row) for row in said])
        list(tessera.sweep("tiny_matmul", {"workload.n": [64]}, store="b", **TINY))
        both = tessera.load("a", "b", columns=["cycles"], program=BINARY)
        self.assertEqual([row["workload.n"] for row in both], [None] * 3 + [64])

    def test_a_store_that_is_not_there_is_told(self):
        for columns in ([], ["cycles"]):
            with self.assertRaisesRegex(tessera.FileError, "absent: no store there"):
                tessera.load("absent", columns=columns, program=BINARY)


class PlaceTest(ModuleTest):
    """Which program the module starts."""

    def found(self, module, **environment):
        done = subprocess.run([sys.executable, "-c", "import tessera; print(tessera.find_program())"], text=True, capture_output=True,
                              env={"PYTHONPATH": str(module), "PATH": "/usr/bin:/bin"} | environment, cwd=self.scratch)
        return pathlib.Path(done.stdout.strip()).resolve().relative_to(self.scratch.resolve()) if done.returncode == 0 else done.stderr

    def test_it_is_the_named_one_or_that_beside_it_or_that_of_the_path(self):
        for folder in ("tree/python", "tree/build/dev/sim", "tree/build/release/sim", "there/bin", "there/share/tessera/python", "path"):
            (self.scratch / folder).mkdir(parents=True)
        for module in ("tree/python", "there/share/tessera/python"):
            shutil.copy(SOURCE / "python/tessera.py", self.scratch / module)
        tree, there = self.scratch / "tree/python", self.scratch / "there/share/tessera/python"
        self.assertIn("FileError: no program 'tessera'", self.found(tree))
        self.fake("", "path/tessera")
        path = {"PATH": f"{self.scratch}/path:/usr/bin:/bin"}
        self.assertEqual(str(self.found(tree, **path)), "path/tessera")
        for place in ("tree/build/dev/sim/tessera", "tree/build/release/sim/tessera"):
            self.fake("", place)
            self.assertEqual(str(self.found(tree, **path)), place)
        self.fake("", "there/bin/tessera")
        self.assertEqual(str(self.found(there, **path)), "there/bin/tessera")
        self.assertEqual(str(self.found(there, TESSERA=str(self.scratch / "path/tessera"))), "path/tessera")
        self.assertIn("FileError: no program './absent'", self.found(there, TESSERA="./absent"))
        os.environ["TESSERA"] = str(self.scratch / "there/bin/tessera")  # what is given goes before it
        self.assertEqual(tessera.find_program(self.scratch / "path/tessera"), str(self.scratch / "path/tessera"))


class TypesTest(unittest.TestCase):
    def test_types_are_right(self):
        done = subprocess.run(["/usr/bin/python3", "-m", "mypy", "--strict", "--cache-dir=/dev/null", SOURCE / "python/tessera.py"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
