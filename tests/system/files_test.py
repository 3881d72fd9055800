#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files and processes of the program `tessera`. Usage: files_test.py BINARY SOURCE_DIRECTORY
TEST_CLASS"""

import contextlib
import gzip
import json
import os
import pathlib
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import BINARY, SOURCE, CliTest

RUN = ["run", "tiny_matmul", "--machine", "tiny"]
# A run with a phase that is longer than its limit.
TOO_LONG = [part for key, value in (("workload.m", 512), ("workload.k", 512), ("workload.n", 512),
                                    ("tile.pipeline_cycles", 64), ("tile.phase_limit_cycles", 1000000))
            for part in ("--set", f"{key}={value}")]


def npy(rows, columns, value):
    """A matrix of one value, as binary16."""
    header = f"{{'descr': '<f2', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n".encode()
    values = struct.pack("<e", value) * (rows * columns)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + values


class FilesCase(CliTest):
    def file(self, name, text):
        (self.scratch / name).parent.mkdir(parents=True, exist_ok=True)
        return super().file(name, text)

    def names(self, folder="."):
        return sorted(path.name for path in (self.scratch / folder).iterdir())

    @contextlib.contextmanager
    def held(self, *arguments):
        """A run that has opened its files and waits for the reader of a pipe."""
        pipe = self.scratch / "pipe"
        os.mkfifo(pipe)
        process = subprocess.Popen([BINARY, *RUN, "--trace", "pipe", *arguments], cwd=self.scratch,
                                   env=self.environment(), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        try:
            deadline = time.monotonic() + 60
            while not list(self.scratch.rglob(".tessera-*.tmp")) and time.monotonic() < deadline:
                time.sleep(0.005)
            # what is opened last is the pipe
            while self.state(process.pid) != "S" and time.monotonic() < deadline:
                time.sleep(0.005)
            yield process
        finally:
            process.kill()
            process.communicate()
            pipe.unlink()

    def state(self, process):
        """Its letter in /proc; "gone" once it has been waited for."""
        try:
            text = pathlib.Path(f"/proc/{process}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return "gone"
        return text.rpartition(")")[2].split()[0]

    def refused(self, *arguments, code, says):
        done = self.tessera(*arguments, code=code)
        self.assertEqual(done.stdout, "")
        self.assertIn(says, done.stderr)
        return done


class MatrixTest(FilesCase):
    """A matrix stands in place of a workload."""

    MATRIX = "%%MatrixMarket matrix coordinate real general\n4 6 3\n1 1 2.5\n2 3 -1\n4 6 7\n"

    def test_it_is_the_product_with_it(self):
        self.file("a.mtx", self.MATRIX)
        self.file("b.mtx.gz", "")
        (self.scratch / "b.mtx.gz").write_bytes(gzip.compress(self.MATRIX.encode()))
        self.file("c.smtx", "4, 6, 3\n0 1 2 2 3\n0 2 5\n")
        whole = {"schema_version": 1, "kind": "spmm", "n": 7, "pattern": {"file": "a.mtx", "values": "file"}}
        self.file("whole.json", json.dumps(whole))
        options = ["--machine", "tiny", "--set", "workload.n=7"]
        expected = self.result("whole.json", "--machine", "tiny")
        self.assertEqual(expected["check"]["passed"], True)
        for name, values in ("a.mtx", True), ("b.mtx.gz", True), ("c.smtx", False):
            got = self.result(name, *options)
            self.assertEqual(got["cycles"], expected["cycles"], name)
            same = got["digests"]["output"] == expected["digests"]["output"]
            self.assertEqual(same, values, name)

    def test_sweeps_and_checks_take_it(self):
        self.file("a.mtx", self.MATRIX)
        self.tessera("sweep", "run", "a.mtx", "--machine", "tiny", "--set", "workload.n=1,9", "-q")
        shown = self.tessera("sweep", "show", "a.sweep", "--format", "json").stdout
        self.assertEqual([row["status"] for row in json.loads(shown)], ["ok", "ok"])
        self.assertEqual(self.tessera("check", "a.mtx").stdout,
                         "a.mtx: ok, workload a; 4 x 6, 3 entries\n")
        self.file("bad.mtx", self.MATRIX.replace("4 6 7", "5 6 7"))
        for command in (["run", "bad.mtx", "--machine", "tiny"], ["check", "bad.mtx"]):
            refused = self.tessera(*command, code=3)
            self.assertEqual(refused.stderr, "bad.mtx:5:1: row: got 5, expected 1..4\n")
        self.assertIn("cannot be read", self.tessera("run", "absent.mtx", code=6).stderr)

    def test_a_kind_is_described_alone(self):
        shown = self.tessera("describe", "workload", "spmm").stdout
        self.assertIn("workload.pattern.density", shown)
        self.assertNotIn("workload.activation", shown)
        self.assertIn("unknown workload 'spm'", self.tessera("describe", "workload", "spm", code=3).stderr)


class OutputsTest(FilesCase):
    """Each file is one run's, whole, and where it was asked for."""

    def test_two_runs_may_write_one_file(self):
        runs = [subprocess.Popen([BINARY, *RUN, "--json", "r.json"], cwd=self.scratch,
                                 env=self.environment(),
                                 stdout=subprocess.DEVNULL) for _ in range(3)]
        self.assertEqual([run.wait(timeout=60) for run in runs], [0, 0, 0])
        self.assertEqual(json.loads((self.scratch / "r.json").read_text())["status"], "ok")
        self.assertEqual(self.names(), ["r.json"])

    def test_a_folder_is_one_runs_at_a_time(self):
        with self.held("--out", "out"):
            self.refused(*RUN, "--out", "./out", code=6,
                         says="out: another run writes into this folder")
            self.refused("run", "tiny_matmul", "tiny_spmm_b1", "--machine", "tiny", "--out", "out",
                         code=6,
                         says="another run writes into this folder")
            self.refused("vertex", "scaled_add", "--out", "out", code=6,
                         says="another run writes into this folder")
        self.tessera(*RUN, "--out", "out")
        self.assertEqual(self.names("out"), ["output.npy", "recording.bin.gz", "result.json", "trace.pftrace.gz"])
        result = json.loads((self.scratch / "out/result.json").read_text())
        (named,) = result["results"]
        self.assertEqual(named["file"], "output.npy")
        self.assertGreater(result["host"]["simulate_s"], 0)

    def test_one_file_twice_is_a_mistake_of_the_command_line(self):
        (self.scratch / "real").mkdir()
        (self.scratch / "real/f").write_text("mine")
        (self.scratch / "folder").symlink_to("real")
        (self.scratch / "link").symlink_to("real/f")
        for pair in (["--json", "x", "--memory", "x"], ["--json", "x", "--memory", "./x"],
                     ["--trace", "x", "--json", "real/../x"],
                     ["--json", "link", "--memory", "folder/f"],
                     ["--out", "new", "--json", "./new/result.json"],
                     ["--out", "new", "--memory", "new/output.npy"],
                     ["--out", "new", "--memory", "new/trace.pftrace.gz"],
                     ["--out", "new", "--memory", "new/recording.bin.gz"], ["--record", "x", "--trace", "x"],
                     ["--json", "-", "--memory", "-"],
                     ["--json", "-", "--memory", "/dev/stdout"]):
            with self.subTest(pair):
                self.refused(*RUN, *pair, code=2, says="are one file, expected different ones")
        several = ["run", "tiny_matmul", "tiny_spmm_b1", "--machine", "tiny", "--out", "new"]
        self.refused(*several, "--json", "new/tiny_spmm_b1/result.json", code=2,
                     says="are one file")
        one = ["vertex", "scaled_add", "--set", "parameters.length=24"]
        for pair in (["--json", "x", "--trace", "x"], ["--konata", "x", "--trace", "x"],
                     ["--dump", "x=f", "--dump", "y=f"], ["--out", "new", "--dump", "x=new/y.npy"]):
            with self.subTest(pair):
                self.refused(*one, *pair, code=2, says="are one file")
        self.file("a.S", "nop\n")
        self.refused("asm", "a.S", "--out", "x", "--json", "x", code=2, says="are one file")
        self.assertEqual(self.names(), ["a.S", "folder", "link", "real"])
        self.assertEqual((self.scratch / "real/f").read_text(), "mine")
        with open(self.scratch / "all", "w") as both:
            done = subprocess.run([BINARY, *RUN, "--json", "all"], cwd=self.scratch,
                                  env=self.environment(), stdout=both,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("'all' and standard output are one file", done.stderr)
        self.tessera(*RUN, "--json", "/dev/null", "--memory", "/dev/null")

    def test_a_replaced_file_keeps_its_mode_and_a_link_is_followed(self):
        target = self.file("real.json", "old")
        target.chmod(0o640)
        (self.scratch / "link.json").symlink_to("real.json")
        self.tessera(*RUN, "--json", "link.json")
        self.assertTrue((self.scratch / "link.json").is_symlink())
        self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o640)
        self.assertEqual(json.loads(target.read_text())["status"], "ok")
        self.assertEqual(self.names(), ["link.json", "real.json"])

    def test_nothing_of_an_older_run_stays_in_the_folder(self):
        self.tessera(*RUN, "--out", "out")
        self.file("out/mine.txt", "mine")
        self.tessera(*RUN, "--out", "out", "--trace", "t.pftrace")
        self.assertEqual(self.names("out"), ["mine.txt", "output.npy", "recording.bin.gz", "result.json"])
        self.tessera(*RUN, "--out", "out", "--record", "r.bin")
        self.assertEqual(self.names("out"), ["mine.txt", "output.npy", "result.json", "trace.pftrace.gz"])
        # where it is without the option
        for trace in ("out/trace.pftrace.gz", "out/../out/trace.pftrace.gz"):
            self.tessera(*RUN, "--out", "out", "--trace", trace)
            self.assertEqual(self.names("out"),
                             ["mine.txt", "output.npy", "recording.bin.gz", "result.json", "trace.pftrace.gz"])
        self.tessera("run", "sync", "--machine", "tiny", "--out", "out")
        self.assertEqual(self.names("out"), ["mine.txt", "recording.bin.gz", "result.json", "trace.pftrace.gz"])
        self.tessera(*RUN, "--out", "out", "--set", "tile.worker=1", code=3)
        self.assertIn("result.json", self.names("out"))
        self.tessera(*RUN, "--out", "out", *TOO_LONG, code=5)
        self.assertEqual(self.names("out"), ["mine.txt"])

    def test_points_of_an_older_vertex_run_go(self):
        self.tessera("vertex", "scaled_add", "--out", "out")
        points = [f"point_{i}" for i in range(4)]
        self.assertEqual(self.names("out"), [*points, "result.json"])
        self.assertEqual(self.names("out/point_3"), ["x.npy", "y.npy"])
        self.file("out/point_2/mine.txt", "mine")
        self.tessera("vertex", "scaled_add", "--set", "parameters.length=24", "--out", "out")
        self.assertEqual(self.names("out"), ["point_2", "result.json", "x.npy", "y.npy"])
        self.assertEqual(self.names("out/point_2"), ["mine.txt"])
        self.tessera("vertex", "scaled_add", "--out", "out")
        self.assertEqual(self.names("out"), [*points, "result.json"])
        (self.scratch / "out/point_2/mine.txt").unlink()
        text = (SOURCE / "configs/vertices/scaled_add.json").read_text()
        shutil.copy(SOURCE / "configs/vertices/scaled_add.S", self.scratch)
        for kept in (3, 2): # so many of the points that were there
            few = self.file("few.json", text.replace(', {"length": 384}, {"length": 390}]',
                                                     ', {"length": 384}]' if kept == 3 else "]"))
            self.tessera("vertex", few, "--out", "out")
            self.assertEqual(self.names("out"), [*points[:kept], "result.json"])
            self.assertEqual(self.names(f"out/point_{kept - 1}"), ["x.npy", "y.npy"])

    def test_a_dash_is_stdout_for_every_file_and_the_summary_goes_to_stderr(self):
        one = ["vertex", "scaled_add", "--set", "parameters.length=24"]
        self.file("a.S", ".worker\nexitz $mzero\n")
        for command, starts, people in ((RUN + ["--json"], b"{\n", b"tiles busy"),
                                        (RUN + ["--memory"], b"{\n", b"tiles busy"),
                                        (RUN + ["--trace"], b"\n", b"tiles busy"),
                                        (one + ["--json"], b"{\n", b"scaled_add on"),
                                        (one + ["--trace"], b"\n", b"scaled_add on"),
                                        (one + ["--konata"], b"Kanata", b"scaled_add on"),
                                        (["asm", "a.S", "--json"], b"{\n", b"bytes at"),
                                        (["asm", "a.S", "--out"], b"\x00\x00\xf2\x43",
                                         b"bytes at")):
            for name in ("-", "/dev/stdout"):
                with self.subTest(command=command, name=name):
                    done = subprocess.run([BINARY, *command, name], capture_output=True,
                                          cwd=self.scratch,
                                          env=self.environment(), timeout=60)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue(done.stdout.startswith(starts), done.stdout[:40])
                    self.assertIn(people, done.stderr)
                    self.assertNotIn(people, done.stdout)
        done = subprocess.run([BINARY, *one, "--dump", "x=-"], capture_output=True,
                              cwd=self.scratch,
                              env=self.environment(), timeout=60)
        self.assertEqual(done.stdout[:6], b"\x93NUMPY")
        self.refused(*RUN, "--out", "-", code=2, says="run: --out: got '-', expected a folder")
        self.refused(*one, "--out", "-", code=2, says="vertex: --out: got '-', expected a folder")
        self.assertEqual(self.names(), ["a.S"])

    def test_stdout_redirected_into_a_file_is_written_behind_what_is_there(self):
        with open(self.scratch / "all", "w") as out:
            out.write("before\n")
            out.flush()
            subprocess.run([BINARY, *RUN, "--json", "/dev/stdout"], cwd=self.scratch,
                           env=self.environment(), stdout=out,
                           stderr=subprocess.DEVNULL, timeout=60, check=True)
        first, _, rest = (self.scratch / "all").read_text().partition("\n")
        self.assertEqual(first, "before")
        self.assertEqual(json.loads(rest)["status"], "ok")

    def test_a_full_stdout_is_told(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([BINARY, *RUN, "--json", "-"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60,
                                  env=self.environment())
        self.assertEqual(done.returncode, 6)
        self.assertIn("standard output: cannot be written: No space left on device", done.stderr)

    def test_traces_of_a_vertex_are_found_unwritable_before_the_run(self):
        one = ["vertex", "scaled_add", "--set", "parameters.length=24"]
        for option in ("--trace", "--konata"):
            self.refused(*one, option, "no/such/place", code=6, says="no/such/place")


class ProcessesTest(FilesCase):
    """Signals, limits and kills leave no file and no process behind."""

    def test_signals_leave_no_file(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGXCPU):
            with self.subTest(number), self.held("--json", "r.json", "--memory",
                                                 "m.json") as process:
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=60), 128 + number)
                self.assertEqual(self.names(), ["pipe"])

    def test_what_is_ignored_at_the_start_stays_so(self):
        # as under nohup
        process = subprocess.Popen([BINARY, *RUN, "--json", "r.json"], cwd=self.scratch,
                                   env=self.environment(),
                                   stdout=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        for _ in range(20):
            process.send_signal(signal.SIGHUP)
            time.sleep(0.005)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(self.names(), ["r.json"])

    def test_what_a_killed_run_left_goes_with_the_next(self):
        with self.held("--json", "r.json"):
            pass # killed
        left = self.names()
        self.assertEqual(len(left), 1)
        self.assertRegex(left[0], r"^\.tessera-\d+-\d+\.tmp$")
        self.tessera(*RUN, "--json", "other.json")
        self.assertEqual(self.names(), ["other.json"])

    def test_a_living_runs_files_stay(self):
        with self.held("--json", "r.json"):
            held = self.names()
            self.tessera(*RUN, "--json", "other.json")
            self.assertEqual(self.names(), sorted([*held, "other.json"]))

    def test_a_limit_on_the_size_of_files(self):
        done = self.tessera(*RUN, "--json", "r.json", code=6,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                  (1000, 1000)))
        self.assertIn("r.json: cannot be written: File too large", done.stderr)
        self.assertEqual(self.names(), [])

    def test_a_reader_that_goes_away(self):
        process = subprocess.Popen([BINARY, *RUN, "--json", "-", "--memory", "m.json"],
                                   cwd=self.scratch,
                                   env=self.environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 128 + signal.SIGPIPE)
        self.assertEqual(self.names(), [])

    def test_a_killed_parents_child_ends_and_leaves_no_file(self):
        process = subprocess.Popen([BINARY, "run", "dense_4096_f16", "cora", "--out", "out"],
                                   cwd=self.scratch,
                                   env=self.environment(), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not list(self.scratch.rglob(".tessera-*.tmp")) and time.monotonic() < deadline:
            time.sleep(0.01)
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        self.assertEqual(len(children), 1)
        process.kill()
        process.wait()
        while self.state(children[0]) not in ("Z", "gone") and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertLess(time.monotonic(), deadline)
        self.assertEqual(list(self.scratch.rglob(".tessera-*.tmp")), [])

    def test_a_run_that_fails_does_not_stop_the_others(self):
        large = self.file("large.json", json.dumps({"schema_version": 1, "kind": "matmul",
                                                    "m": 4096, "k": 4096, "n": 4096}))
        odd = self.file("odd.json", json.dumps({"schema_version": 1, "kind": "matmul", "m": 8,
                                                "k": 8, "n": 8, "values": "x.npy"}))
        (self.scratch / "x.npy").write_bytes(npy(8, 8, 1)[:-2])  # its header is good
        self.file("out/large/output.npy", "of an older run")
        for workloads, code in ((["tiny_matmul", large, "tiny_spmm_b1"], 4),
                                ([large, odd, "tiny_matmul"], 3),
                                ([large, large.with_name("./large.json")], 4)):
            arguments = ["--out", "out"] if workloads[0] == "tiny_matmul" else []
            with self.subTest(workloads):
                done = self.tessera("run", *workloads, "--machine", "tiny", "--json", "r.json",
                                    *arguments, code=code)
                runs = json.loads((self.scratch / "r.json").read_text())["runs"]
                labels = [run["workload"]["name"] for run in runs]
                names = [label.rsplit("/", 1)[-1] for label in labels]
                self.assertEqual(names, [pathlib.Path(w).stem for w in workloads])
                self.assertEqual(len(set(labels)), len(labels))  # told apart where called alike
                for run, name in zip(runs, names):
                    failed = name in ("large", "odd")
                    self.assertEqual(run["status"], "failed" if failed else "ok")
                    if failed:
                        self.assertEqual(run["exit_code"],
                                         4 if name == "large" else 3)
                        self.assertIn(run["message"], done.stderr)
                        self.assertIn(f"failed with exit code {run['exit_code']}", done.stdout)
                self.assertEqual("cycles ratio" in done.stdout,
                                 any(run["status"] == "ok" for run in runs))
        self.assertEqual(self.names("out/large"), [])
        self.assertEqual(self.names("out/tiny_spmm_b1"),
                         ["output.npy", "recording.bin.gz", "result.json", "trace.pftrace.gz"])

    def test_a_crash_is_one_of_the_failures(self):
        process = subprocess.Popen([BINARY, "run", "dense_4096_f16", "tiny_matmul", "--json",
                                    "r.json", "--out", "out"],
                                   cwd=self.scratch, env=self.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True)
        deadline = time.monotonic() + 60
        while not list(self.scratch.glob("out/*/.tessera-*.tmp")) and time.monotonic() < deadline:
            time.sleep(0.01)
        child = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())
        os.kill(child, signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 71)
        self.assertIn("dense_4096_f16: the run ended by signal 9", errors)
        runs = json.loads((self.scratch / "r.json").read_text())["runs"]
        self.assertEqual([run["status"] for run in runs], ["failed", "ok"])
        self.assertEqual(runs[0]["exit_code"], 71)


class AutoModeTest(FilesCase):
    """Mode auto runs without data where that goes, in a process of its own that hands back everything."""

    #: The second is a loop for as long as a tensor says, which here only its data tells.
    LOOP = ["run", "converge", "--machine", "tiny", "--set", "workload.tensors.a.shape=[32,32]", "--set",
            "workload.tensors.x.shape=[32,8]"]
    UNKNOWN = ["--set", "workload.tensors.left.known=false"]

    def answers(self, command, mode, *more):
        self.tessera(*command, "--mode", mode, "--out", mode, *more, "-q")
        files = {name: (self.scratch / mode / name).read_bytes() for name in self.names(mode)}
        result = json.loads(files.pop("result.json"))
        for key in ("host", "trace"):
            result.pop(key, None)
        return result, files

    def test_it_gives_what_timing_mode_gives(self):
        for command in (RUN, self.LOOP, ["run", "collective", "--machine", "tiny4"]):
            with self.subTest(command):
                tables = ["--edges", "edges.csv", "--memory", "memory.json"]
                timed = *self.answers(command, "timing", *tables), *map(self.text, tables[1::2])
                self.assertEqual((*self.answers(command, "auto", *tables), *map(self.text, tables[1::2])), timed)
                self.assertIn("timing", timed[0])
                self.assertIn("recording.bin.gz", timed[1])

    def text(self, name):
        return (self.scratch / name).read_text()

    def test_with_data_where_timing_mode_needs_them(self):
        done = self.tessera(*self.LOOP, *self.UNKNOWN, "--mode", "timing", code=5)
        self.assertIn("tensor data that timing mode does not have", done.stderr)
        done = self.tessera(*self.LOOP, *self.UNKNOWN, "--mode", "auto", "--json", "r.json", "-q")
        self.assertIn("warning: run with all data, as timing mode cannot: the control program goes on with the word at",
                      done.stderr)
        result = json.loads(self.text("r.json"))
        self.assertTrue(result["check"]["passed"])
        self.assertNotIn("timing", result)

    def test_what_fails_for_other_reasons_is_not_tried_again(self):
        for more, code in ((TOO_LONG, 5), (["--set", "workload.m=1000000", "--set", "workload.n=100000"], 4)):
            timed = self.tessera(*RUN, *more, "--mode", "timing", code=code)
            done = self.tessera(*RUN, *more, "--mode", "auto", code=code)
            self.assertEqual(done.stderr, timed.stderr)


class HostTest(FilesCase):
    """What the host has not is told, soon."""

    def limited(self, kilobytes):
        return lambda: resource.setrlimit(resource.RLIMIT_AS, (1024 * kilobytes, 1024 * kilobytes))

    def test_a_small_address_space(self):
        for command in (["--version"], ["list"], ["check", SOURCE / "configs/machines/bow.json"]):
            self.tessera(*command, preexec_fn=self.limited(150_000))
        self.tessera(*RUN, "--no-check", "--threads", "1", preexec_fn=self.limited(400_000))
        # less than the library and a buffer of it take by themselves
        done = self.tessera(*RUN, "--threads", "1", code=71, preexec_fn=self.limited(200_000))
        self.assertIn("--no-check runs without", done.stderr)
        self.tessera("run", "tiny_matmul", "--no-check", "--threads", "1",
                     preexec_fn=self.limited(400_000))
        done = self.tessera("run", "dense_4096_f16", "--no-check", "--threads", "1", code=71,
                            preexec_fn=self.limited(300_000))
        self.assertIn("GiB of the host's memory, and", done.stderr)

    def test_only_a_check_loads_the_library(self):
        libraries = subprocess.run(["ldd", BINARY], capture_output=True, text=True).stdout
        self.assertNotIn("blas", libraries)

    def test_a_run_that_needs_more_than_there_is(self):
        large = ["run", "remote_read", "--set", "streaming.capacity_bytes=1000000000000", "--set",
                 "workload.rows=100000000", "--set", "workload.row_bytes=8192", "--set",
                 "workload.chunk_rows=100"]
        started = time.monotonic()
        self.refused(*large, code=71, says="GiB of the host's memory, and")
        self.assertLess(time.monotonic() - started, 20)
        # what the machine has no room for either is told of the machine
        vast = [part for key in "mkn" for part in ("--set", f"workload.{key}=1000000")]
        self.refused("run", "tiny_matmul", *vast, code=4, says="does not fit")

    def test_rounds_without_a_barrier_are_held_with_data_and_counted_without(self):
        # A million rounds of each tile's span need hundreds of GiB; timing mode holds four of them.
        loop = ["run", "update_loop", "--set", "workload.steps.0.repeat=1000000", "--no-check"]
        limits = {"preexec_fn": self.limited(8_000_000)}
        self.tessera(*loop, "--mode", "timing", **limits)
        done = self.tessera(*loop, code=71, **limits)
        self.assertIn("what tiles do from one barrier to the next: needs", done.stderr)

    def test_nothing_of_the_kernels_goes_to_stdout(self):
        for command in (RUN, ["run", "tiny_spmm_b16", "--machine", "tiny", "--set",
                              "workload.pattern.density=1"]):
            self.refused(*command, "--json", "-", *TOO_LONG, code=5, says="seems to loop for ever")

    def test_input_without_end_is_refused_soon_and_in_little_memory(self):
        keys = '{"schema_version": 1, %s}' % ", ".join(f'"k{i}": 0' for i in range(90_000))
        self.file("keys.json", keys)
        self.file("duplicates.json", '{"a": 0%s}' % (', "a": 0' * 90_000))
        self.file("many.json", '{"a": 0%s}' % (', "a": 0' * 800_000))
        self.file("array.json", "[" + "0, " * 5_000_000 + "0]")
        self.file("token.json", '{"kind": "%s"}' % ("m" * 4_000_000))
        self.file("name.json", '{"%s": 1}' % ("m" * 4_000_000))
        self.file("deep.json", "[" * 4_000_000)
        self.file("word.S", "a" * 10_000_000)
        self.file("words.S", "nonsense here\n" * 200_000)
        self.file("word.hex", "1" * 10_000_000)
        self.file("table/t.csv", ",".join(f"c{i}" for i in range(400_000)))
        self.file("wide/t.csv", "a," * 5_000_000)
        self.file("word.mtx", "1" * 10_000_000)
        self.file("entry.mtx",
                  "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 " + "9" * 10_000_000)
        self.file("word.smtx", "1" * 10_000_000)
        self.file("offset.smtx", "2000000000, 2, 1\n" + "0 " * 1_000_000 + "9" * 10_000_000)
        with open(self.scratch / "sparse.npy", "wb") as file:
            file.write(npy(64, 96, 1))
            file.truncate(100_000_000_000)
        spmm = {"schema_version": 1, "kind": "spmm", "mode": "static", "n": 8, "block": 1,
                "values": "uniform"}
        for name, ending in (("word", "mtx"), ("entry", "mtx"), ("word", "smtx"), ("offset", "smtx"),
                             ("sparse", "npy")):
            self.file(f"{name}_{ending}.json",
                      json.dumps(spmm | {"pattern": {"file": f"{name}.{ending}", "values": "ones"}}))
        sums = "sum(i, 0, 1e6, sum(j, 0, 1e6, sum(k, 0, 1e6, 1)))"
        self.file("empty.S", "")
        vertex = {"schema_version": 1, "sources": ["empty.S"], "entry": "e", "kind": "worker"}
        self.file("sums.json",
                  json.dumps(vertex | {"arrays": {"x": {"type": "f32", "length": sums}}}))
        self.file("points.json", json.dumps(vertex | {"parameters": {"a": 1},
                                                      "points": [{"a": i} for i in range(20_000)]}))
        self.file("bytes.json", json.dumps(vertex | {"sources": ["/dev/zero"]}))
        for code, command in (
                (3, ["check", "/dev/zero"]), (3, ["check", "/dev/urandom"]),
                (3, ["check", "array.json"]),
                (3, ["check", "keys.json"]), (3, ["check", "duplicates.json"]),
                (3, ["check", "many.json"]),
                (3, ["check", "token.json"]), (3, ["check", "name.json"]),
                (3, ["check", "deep.json"]),
                (3, ["run", "tiny_matmul", "--machine", "/dev/zero"]),
                (3, ["vertex", "/dev/urandom"]),
                (3, RUN + ["--set", "tile.workers=" + "[" * 60_000 + "]" * 60_000]),
                (3, RUN + ["--set", "tile.workers=" + "9" * 100_000]),
                (3, RUN + ["--set", "x" * 100_000]),
                (3, RUN + ["--set", "tile." + "x" * 100_000 + "=1"]), (3, ["run", "w" * 100_000]),
                (2, ["x" * 100_000]), (2, ["run", "--" + "x" * 100_000]),
                (2, ["list", "x" * 100_000]),
                (2, RUN + ["--set", "a=1"] * 1001),
                (3, ["asm", "/dev/zero"]), (3, ["asm", "word.S"]), (3, ["asm", "words.S"]),
                (3, ["disasm", "/dev/urandom"]), (3, ["disasm", "--hex", "word.hex"]),
                (3, ["disasm", "--hex", "/dev/zero"]),
                (3, ["calibrate", "--reference", "table"]),
                (3, ["calibrate", "--reference", "wide"]),
                (3, ["run", "word_mtx.json", "--machine", "tiny"]),
                (3, ["run", "entry_mtx.json", "--machine", "tiny"]),
                (3, ["run", "word_smtx.json", "--machine", "tiny"]),
                (3, ["run", "offset_smtx.json", "--machine", "tiny"]),
                (3, ["run", "sparse_npy.json", "--machine", "tiny"]),
                (3, RUN + ["--set", "workload.values_a=sparse.npy"]),
                (3, ["vertex", "./sums.json"]), (3, ["vertex", "./points.json"]),
                (3, ["vertex", "./bytes.json"]),
                (2, ["vertex", "scaled_add", "--fit", f"a * {sums} + b"]),
                (2, ["vertex", "scaled_add", "--fit", "+".join(f"a{i}" for i in range(16_000))])):
            with self.subTest([str(part)[:40] for part in command]):
                started = time.monotonic()
                process = subprocess.Popen([BINARY, *map(str, command)], cwd=self.scratch,
                                           env=self.environment(),
                                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                           preexec_fn=self.limited(600_000))
                text = process.stdout.read()
                process.stdout.close()
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                if os.environ.get("TESSERA_TIMES"):
                    print(f"{used.ru_utime + used.ru_stime:6.2f} s {len(text):6} bytes",
                          [str(part)[:40] for part in command][:6],
                          text[:150])
                self.assertEqual(process.returncode, code, text[:500])
                self.assertLess(len(text), 40_000)
                self.assertLess(used.ru_utime + used.ru_stime, 4)
                self.assertLess(time.monotonic() - started, 60)


class OperandsTest(FilesCase):
    """A file for each operand of a product."""

    def workload(self, **keys):
        text = '{"schema_version": 1, "kind": "matmul", "m": 8, "k": 16, "n": 12'
        text += "".join(f',\n "{key}": "{value}"' for key, value in keys.items()) + "}"
        return self.file("w.json", text)

    def test_each_operand_has_its_file(self):
        (self.scratch / "a.npy").write_bytes(npy(8, 16, 0.5))
        (self.scratch / "b.npy").write_bytes(npy(16, 12, 3))
        workload = self.workload(values_a="a.npy", values_b="b.npy")
        result = self.result(workload, "--machine", "tiny", "--out", "out")
        self.assertTrue(result["check"]["passed"])
        self.assertFalse(result["check"]["exact_required"])
        self.assertEqual(result["workload"]["values_a"], "a.npy")
        data = (self.scratch / "out/output.npy").read_bytes()[-2 * 8 * 12:]
        self.assertEqual(set(struct.unpack(f"<{8 * 12}e", data)), {0.5 * 3 * 16})
        again = self.result(self.workload(), "--machine", "tiny", "--set",
                            "workload.values_b=b.npy", "--set",
                            "workload.values_a=a.npy")
        self.assertEqual(again["cycles"], result["cycles"])
        self.assertTrue(self.result(self.workload(values_a="integer", values_b="integer"),
                                    "--machine", "tiny")["check"]
                        ["exact_required"])

    def test_a_wrong_shape_is_told_where_the_file_is_named(self):
        (self.scratch / "a.npy").write_bytes(npy(8, 16, 0.5))
        done = self.refused("run", self.workload(values_b="a.npy"), "--machine", "tiny", code=3,
                            says="w.json:2:14: /values_b: ")
        self.assertIn("a.npy: shape: got (8, 16), expected (16, 12)", done.stderr)
        self.refused("run", self.workload(values="a.npy"), "--machine", "tiny", code=3,
                     says="expected (16, 12); values_a and values_b name a file for each operand")
        self.refused("run", self.workload(), "--machine", "tiny", "--set",
                     "workload.values_b=a.npy", code=3,
                     says="--set: workload.values_b: ")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], sys.argv[3]], verbosity=2)
