#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs workloads by the program `tessera` as a user does. Usage: runs_test.py BINARY SOURCE_DIRECTORY TEST_CLASS"""

import collections
import copy
import csv
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest
import zlib

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import BINARY, CliTest, KINDS, MICRO, SOURCE, TINY


class RunsTest(CliTest):
    """Whole runs on the machine with four tiles."""

    def without_host(self, result):
        result = copy.deepcopy(result)
        del result["host"]
        result.pop("trace", None)
        return result

    def check_accounts(self, result):
        self.assertEqual(result["cycles"], sum(result["phases"].values()))
        self.assertAlmostEqual(sum(result["tiles"][f"{kind}_cycles"]["mean"] for kind in KINDS),
                               result["cycles"],
                               places=6)
        self.assertAlmostEqual(sum(part["cycles"] for part in result["explanation"].values()),
                               result["cycles"],
                               places=6)
        # repeats, calls and decisions are the control program's
        self.assertEqual(result["phases"]["compute"],
                         sum(step["cycles"] for step in result["compute_sets"]) +
                         result["explanation"]["control"]["cycles"])
        self.assertEqual(result["phases"]["exchange"],
                         sum(step["cycles"] for step in result["exchanges"]))
        for step in result["exchanges"]:
            self.assertEqual(step["bytes"], 4 * step["words"])
            self.assertGreaterEqual(step["bytes"], step["sent_bytes"])
        for step in result["exchanges"] + result["compute_sets"]:
            self.assertLessEqual(step["bound_cycles"], step["cycles"], step["name"])
        for step in result["exchanges"] + result["compute_sets"] + result["streams"]:
            self.assertLessEqual(step["critical_bound_cycles"], step["cycles"], step["name"])
        for copy_ in result["streams"]:
            self.assertLessEqual(copy_["bound_cycles"], copy_["transfer_cycles"], copy_["name"])
        self.assertLessEqual(result["memory"]["max_bytes"], result["memory"]["tile_bytes"])

    def test_every_tiny_workload_is_exact(self):
        for workload in TINY:
            with self.subTest(workload):
                result = self.result(workload, "--machine", "tiny")
                self.assertTrue(result["check"]["passed"])
                self.assertEqual(result["schema_version"], 1)
                self.assertEqual(result["workload"]["name"], workload)
                self.assertEqual(list(result), sorted(result))
                self.assertGreater(result["tiles_busy"], 0)
                self.check_accounts(result)

    def test_micro_workloads_are_exact_on_every_machine(self):
        for machine in ("tiny", "bow", "gc200", "gc2"):
            for workload, keys in MICRO.items():
                with self.subTest(machine=machine, workload=workload):
                    sets = [part for key in keys for part in ("--set", f"workload.{key}")]
                    result = self.result(workload, "--machine", machine, *sets)
                    self.assertTrue(result["check"]["passed"])
                    self.assertGreater(result["check"]["bytes"], 0)
                    self.assertGreater(result["useful_bytes"], 0)
                    self.check_accounts(result)

    def test_other_fabrics_take_odd_numbers_of_tiles(self):
        for fabric in ("mesh", "ring"):
            result = self.result("exchange_all_to_all", "--machine", "tiny", "--set",
                                 "chip.tiles=3", "--set",
                                 f"exchange.fabric={fabric}", "--set", "workload.tiles=3")
            self.assertTrue(result["check"]["passed"])

    def test_parameters_that_are_set_in_vain_are_told(self):
        result = self.result("sync", "--machine", "tiny", "--set", "streaming.latency_us=1",
                             "--set",
                             "sync.internal_cycles=130")
        self.assertEqual(result["unused_parameters"],
                         {"streaming.latency_us": "the run has no reads of streaming memory or writes to streaming memory"})
        summary = self.tessera("run", "sync", "--machine", "tiny", "--set",
                               "control.call_cycles=1").stdout
        self.assertIn("unused     control.call_cycles: the run has no calls\n", summary)
        report = self.tessera("vertex", "scaled_add", "--set", "exchange.prologue_cycles=1").stdout
        self.assertIn("unused       exchange.prologue_cycles: the run has no exchanges or decisions\n", report)
        error = self.tessera("run", "sync", "--machine", "gc2", "--set", "streaming.latency_us=1",
                             code=3).stderr
        self.assertIn("--set: streaming.latency_us: unused on this machine; it is used with streaming.capacity_bytes other "
                      "than 0, and that is 0 here", error)

    def test_collectives_say_which_they_are(self):
        for collective, words in (("all_reduce", "ring all-reduce"), ("reduce_scatter", "ring reduce-scatter"), ("all_gather", "ring all-gather")):
            for repeats, times in ((1, ""), (3, ", 3 times")):
                result = self.result("collective", "--machine", "tiny4", "--mode", "timing", "--set", f"workload.collective={collective}",
                                     "--set", "workload.elements=64", "--set", "workload.dtype=f32", "--set", f"workload.repeats={repeats}")
                self.assertEqual(result["sentence"], f"{words} of 64 f32 elements on 4 chips{times}")

    def test_a_table_of_edges_adds_up_to_the_result(self):
        result = self.result("collective", "--machine", "tiny4", "--mode", "timing", "--edges", "e.csv", "--set", "workload.elements=640")
        text = (self.scratch / "e.csv").read_bytes().decode()
        self.assertTrue(text.startswith("from,to,begin_cycle,end_cycle,payload_bytes,bytes\r\n"))
        self.assertEqual(text.count("\n"), text.count("\r\n"))
        sums, last = collections.defaultdict(lambda: [0, 0]), {}
        for row in csv.DictReader(text.splitlines()):
            edge = int(row["from"]), int(row["to"])
            begin, end = int(row["begin_cycle"]), int(row["end_cycle"])
            self.assertLess(begin, end)
            self.assertGreaterEqual(begin, last.get(edge, 0)) # one behind the other
            last[edge] = end
            self.assertGreater(int(row["bytes"]), 0)
            for i, key in enumerate(("payload_bytes", "bytes")):
                sums[edge][i] += int(row[key])
        self.assertEqual(dict(sums), {(edge["from"], edge["to"]): [edge["bytes"], edge["link_bytes"]]
                                      for edge in result["edges"] if edge["link_bytes"]})
        chips = [chip["cycles"] for chip in result["chips"]]
        self.assertEqual(result["cycles"], max(chips))
        # all chips do the same
        of_chip = sum(step["executions"] * step["active_tiles"] for step in result["compute_sets"])
        self.assertEqual(result["timing"]["phases"], len(chips) * of_chip)

    def test_phases_of_a_stencil_can_be_read(self):
        result = self.result("stencil", "--set", "workload.width=61", "--set", "workload.height=40",
                             "--set",
                             "workload.iterations=1")
        self.assertEqual([step["name"] for step in result["compute_sets"]],
                         ["halo pre", "halo post", "blur"])
        self.assertEqual([step["name"] for step in result["exchanges"]], ["halo exchange"])
        self.assertGreater(result["explanation"]["rearrangement"]["cycles"], 0)

    def test_skewed_patterns_run_and_pattern_files_of_all_formats_give_the_same(self):
        product = {"schema_version": 1, "kind": "spmm", "mode": "static", "n": 16, "partials": "f32"}
        for block in (1, 16):
            for generator in ({"generator": "power_law", "density": 0.1, "exponent": 1.5},
                              {"generator": "n_of_m", "density": 0.5, "group": 2}):
                with self.subTest(block=block, **generator):
                    workload = self.file("skewed.json", json.dumps(
                        product | {"m": 96, "k": 80, "block": block, "values": "integer",
                                   "pattern": generator}))
                    result = self.result(workload, "--machine", "tiny")
                    self.assertTrue(result["check"]["passed"])
                    # the slowest tile of a step need not be the one that the run waits for
                    for step in result["compute_sets"] + result["exchanges"]:
                        self.assertLessEqual(step["bound_cycles"], step["slowest_cycles"])
        rows, columns = 40, 24
        mask = [[(3 * row + column) % 7 == 0 for column in range(columns)] for row in range(rows)]
        kept = [[column for column in range(columns) if of_row[column]] for of_row in mask]
        non_zeros = sum(map(len, kept))
        self.file("mask.mtx", f"%%MatrixMarket matrix coordinate pattern general\n{rows} {columns} {non_zeros}\n" +
                  "".join(f"{row + 1} {column + 1}\n" for row in range(rows) for column in kept[row]))
        offsets = [sum(map(len, kept[:row])) for row in range(rows + 1)]
        self.file("mask.smtx", f"{rows}, {columns}, {non_zeros}\n{' '.join(map(str, offsets))} \n" +
                  " ".join(str(column) for of_row in kept for column in of_row) + " \n")
        header = f"{{'descr': '|b1', 'fortran_order': False, 'shape': ({rows}, {columns}), }}".ljust(117) + "\n"
        (self.scratch / "mask.npy").write_bytes(
            b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            bytes(element for of_row in mask for element in of_row))
        results = []
        for ending in ("mtx", "smtx", "npy"):
            sparse = self.file(f"{ending}.json", json.dumps(
                product | {"pattern": {"file": f"mask.{ending}", "values": "file"},
                           "values": "integer"}))
            results.append(self.result(sparse, "--machine", "tiny"))
            self.assertTrue(results[-1]["check"]["passed"])
            self.assertEqual(results[-1]["cycles"], results[0]["cycles"])
            whole = self.file("pipeline.json", json.dumps(
                {"schema_version": 1, "kind": "pipeline", "tensors": {
                    "a": {"pattern": {"file": f"mask.{ending}"}}, "x": {"shape": [columns, 8]}},
                 "steps": [{"family": "spmm", "inputs": ["a", "x"], "output": "y"}]}))
            self.assertTrue(self.result(whole, "--machine", "tiny")["check"]["passed"])

    def test_what_shows_when_a_pipeline_is_planned_has_its_place(self):
        text = json.dumps({"schema_version": 1, "kind": "pipeline", "tensors": {
            "graph": {"pattern": {"file": "cora.mtx", "values": "gcn"}, "values": "integer"},
            "x": {"shape": [2708, 2]}}, "steps": [{"family": "spmm", "inputs": ["graph", "x"],
                                                   "output": "y"}]}, indent=1)
        done = self.tessera("run", self.file("graph.json", text), code=3)
        line = next(number for number, words in enumerate(text.splitlines(), 1) if '"gcn"' in words)
        self.assertRegex(done.stderr,
                         rf"graph\.json:{line}:\d+: /tensors/graph/pattern/values: got gcn together with")

    def test_micro_workloads_say_what_is_wrong_with_them(self):
        file = self.file("odd.json",
                         '{"schema_version": 1, "kind": "exchange_pattern",\n "pattern": "pairs", '
                                     '"tiles": 3, "bytes": 6}')
        error = self.tessera("run", file, code=3).stderr
        self.assertIn("odd.json:2:43: /bytes: got 6 B, expected a multiple of 4 B", error)
        self.assertIn("/tiles: got 3 tiles, expected an even number of tiles", error)
        error = self.tessera("run", "exchange_broadcast", "--machine", "tiny", "--set",
                             "workload.tiles=4",
                             code=3).stderr
        self.assertIn("--set: workload.tiles: got 4 tiles, expected 1..3 on machine 'tiny'", error)
        large = self.file("large.json",
                          '{"schema_version": 1, "kind": "exchange_pattern",\n "pattern": "gather", '
                                        '"tiles": 5, "bytes": 8}')
        self.assertIn("large.json:2:32: /tiles: got 5 tiles, expected 1..3",
                      self.tessera("run", large, "--machine", "tiny", code=3).stderr)
        self.tessera("run", "self_copy", "--machine", "tiny", "--set", "workload.bytes=400000",
                     code=4)
        file = self.file("read.json",
                         '{"schema_version": 1, "kind": "remote_buffer",\n "direction": "read", '
                                      '"rows": 2,\n "row_bytes": 64, "tiles": 1473}')
        for machine, tiles in (("bow", 1472), ("tiny", 4)):
            error = self.tessera("run", file, "--machine", machine, code=3).stderr
            self.assertIn(f"read.json:3:28: /tiles: got 1473 tiles, expected 1..{tiles} on machine '{machine}'", error)
        error = self.tessera("run", "reduction", "--set", "workload.outputs=7", code=3).stderr
        self.assertIn("--set: workload.outputs: got 7 outputs, expected 1 for one sum, or 0 or 1472", error)

    def test_whole_chips_of_every_generation(self):
        for machine in ("gc200", "c600", "gc2"):
            for workload in ("tiny_matmul_f32", "tiny_spmm_b1"):
                with self.subTest(machine=machine, workload=workload):
                    result = self.result(workload, "--machine", machine)
                    self.assertTrue(result["check"]["passed"])
                    self.check_accounts(result)

    def test_other_fabrics(self):
        cycles = {}
        for fabric in ("compiled", "bound", "mesh", "ring"):
            with self.subTest(fabric):
                result = self.result("tiny_matmul", "--set", f"exchange.fabric={fabric}")
                self.assertTrue(result["check"]["passed"])
                self.check_accounts(result)
                cycles[fabric] = result["phases"]["exchange"]
                if fabric == "bound":
                    self.assertEqual(cycles[fabric],
                                     sum(step["bound_cycles"] for step in result["exchanges"]))
        self.assertLess(cycles["bound"], min(cycles["compiled"], cycles["mesh"], cycles["ring"]))
        large = self.result("tiny_matmul", "--set", "exchange.fabric=mesh", "--set",
                            "chip.tiles=1600")
        self.assertTrue(large["check"]["passed"])

    def test_grids_larger_than_a_machines_run_on_the_compiled_fabric(self):
        for generation in ("ipu1", "ipu2"):
            with self.subTest(generation):
                result = self.result("tiny_matmul_f32", "--set", f"chip.generation={generation}",
                                     "--set", "chip.tiles=2944")
                self.assertTrue(result["check"]["passed"])
                self.check_accounts(result)

    def test_wider_lanes(self):
        before = self.result("tiny_matmul")["phases"]["exchange"]
        for lane_bytes in (8, 16):
            with self.subTest(lane_bytes):
                result = self.result("tiny_matmul", "--set", f"exchange.lane_bytes={lane_bytes}")
                self.assertTrue(result["check"]["passed"])
                self.check_accounts(result)
                self.assertLess(result["phases"]["exchange"], before)

    def test_threads_change_nothing(self):
        for workload in TINY:
            one, two = (self.result(workload, "--machine", "tiny", "--threads", n) for n in (1, 2))
            self.assertEqual(self.without_host(one), self.without_host(two))
            self.assertEqual(one["host"]["threads"], 1)

    def test_a_trace_changes_nothing_and_agrees(self):
        plain = self.result("tiny_matmul", "--machine", "tiny")
        for level in ("machine", "tile", "worker"):
            traced = self.result("tiny_matmul", "--machine", "tiny", "--trace", "t.pftrace",
                                 "--trace-level", level)
            self.assertEqual(self.without_host(plain), self.without_host(traced))
            (self.scratch / "result.json").write_text(json.dumps(traced))
            subprocess.run([sys.executable, SOURCE / "tools" / "check_trace.py",
                            self.scratch / "t.pftrace", "--result",
                            self.scratch / "result.json"], check=True, stdout=subprocess.DEVNULL)

    def test_outputs(self):
        done = self.tessera("run", "tiny_matmul", "--machine", "tiny", "--threads", "5", "--json",
                            "r.json", "--out",
                            "deep/er")
        written = json.loads((self.scratch / "r.json").read_text())
        self.assertEqual(written, json.loads((self.scratch / "deep/er/result.json").read_text()))
        self.assertIn("tiles busy", done.stdout)
        self.assertEqual(done.stderr, "")
        self.assertEqual(sorted(path.name for path in self.scratch.rglob("*")),
                         ["deep", "er", "output.npy", "r.json", "recording.bin.gz", "result.json", "trace.pftrace.gz"])

    def on_terminal(self, *arguments, columns=80, **variables):
        """What a terminal gets, stdout and stderr."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = dict(self.environment(), TERM="xterm", **variables)
        process = subprocess.Popen([BINARY, *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
                                   cwd=self.scratch,
                                   env=environment)
        os.close(theirs)
        text = b""
        while True:
            try:
                text += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 0, text)
        return text.decode().replace("\r\n", "\n")

    def test_a_terminal_sees_progress_that_leaves_nothing(self):
        text = self.on_terminal("run", "self_copy")
        clear = "\r\033[K"
        self.assertIn(clear + "self_copy: ", text)
        before, after = text.split("workload", 1)[0], text.split("workload", 1)[1]
        self.assertTrue(before.removesuffix("\033[1m").endswith(clear), before)
        self.assertNotIn("\r", after)
        self.assertNotIn("\n", before)
        self.assertEqual(self.on_terminal("run", "self_copy", "-q"), "")
        self.assertEqual(self.tessera("run", "self_copy", "--machine", "tiny").stderr, "")

    def test_colors_are_where_a_terminal_is_or_where_they_are_asked_for(self):
        run = ["run", "tiny_matmul", "--machine", "tiny"]
        self.assertIn("\033[1mworkload\033[0m", self.on_terminal(*run))
        self.assertNotIn("\033[1m", self.on_terminal(*run, NO_COLOR="1"))
        self.assertIn("\033[1m", self.on_terminal(*run, NO_COLOR=""))
        self.assertNotIn("\033[1m", self.on_terminal(*run, "--color", "never"))
        self.assertNotIn("\033", self.tessera(*run).stdout)
        colored = self.tessera(*run, "--color", "always").stdout
        self.assertIn("\033[1mworkload\033[0m", colored)
        self.assertIn("\033[32mexact:\033[0m", colored)
        self.assertIn("\033[", self.tessera("run", "absent", "--color", "always", code=3).stderr)

    def test_a_report_is_as_wide_as_its_terminal(self):
        widest = {}
        for columns in (40, 80, 120, 300):
            lines = self.on_terminal("list", "workloads", "--color", "never",
                                     columns=columns).splitlines()
            widest[columns] = max(map(len, lines))
            self.assertLessEqual(widest[columns], min(160, max(80, columns)))
        self.assertEqual(widest[40], widest[80])
        self.assertGreater(widest[120], widest[80])

    def test_quiet(self):
        run = ["run", "tiny_matmul", "--machine", "tiny", "-q"]
        self.assertEqual(self.tessera(*run).stdout, "")
        done = self.tessera(*run, "--json", "-")
        self.assertEqual(done.stderr, "")
        json.loads(done.stdout)
        self.assertEqual(self.tessera("run", *TINY, "--machine", "tiny", "-q").stdout, "")
        self.assertEqual(self.tessera("vertex", "scaled_add", "-q").stdout, "")
        self.file("a.S", "one: nop\n")
        self.assertEqual(self.tessera("asm", "a.S", "-q", "--out", "a.bin").stdout, "")
        self.assertEqual((self.scratch / "a.bin").stat().st_size, 4)

    def test_times_of_the_host_are_parts_of_the_whole(self):
        for more in ([], ["--no-check"], ["--mode", "timing"]): # steps of a pipeline are checked while it runs
            host = self.result("mlp", "--set", "chip.tiles=64", *more)["host"]
            self.assertGreater(host["plan_s"], 0)
            self.assertGreater(host["simulate_s"], 0)
            self.assertGreaterEqual(host["check_s"], 0)
            self.assertEqual(host["check_s"] > 1e-3, not more)
            self.assertLessEqual(host["encode_s"], host["simulate_s"])
            parts = host["plan_s"] + host["simulate_s"] + host["check_s"]
            self.assertLessEqual(parts, host["wall_s"])
            self.assertGreater(parts, 0.5 * host["wall_s"])

    def test_the_digest_of_the_output_is_of_names_and_elements(self):
        for workload, machine, keys, chips in (
                ("tiny_matmul", "tiny", [], 1), ("stream_triad", "bow", MICRO["stream_triad"], 1), ("stencil", "tiny", MICRO["stencil"], 1),
                ("host_read", "tiny", [], 1), ("host_write", "tiny", MICRO["host_write"], 0), ("collective", "tiny4", [], 4)):
            with self.subTest(workload):
                result = self.result(workload, "--machine", machine, "--out", workload, *(f"--set=workload.{key}" for key in keys))
                crc = 0
                for _ in range(chips): # which all have the same array
                    for kept in result["results"]:
                        data = (self.scratch / workload / kept["file"]).read_bytes()
                        elements = data[10 + struct.unpack_from("<H", data, 8)[0]:]
                        crc = zlib.crc32(kept["name"].encode() + elements, crc)
                self.assertEqual(result["digests"]["output"], f"{crc:08x}")
                self.assertEqual(len(result["results"]) > 0, chips > 0)

    def test_no_check(self):
        self.assertIsNone(self.result("tiny_matmul", "--machine", "tiny", "--no-check")["check"])

    def test_several_workloads(self):
        done = self.tessera("run", *TINY, "--machine", "tiny", "--json", "-", "--out", "all")
        runs = json.loads(done.stdout)["runs"]
        self.assertEqual([run["workload"]["name"] for run in runs], TINY)
        self.assertIn("cycles ratio", done.stderr)
        for workload, run in zip(TINY, runs):
            alone = self.result(workload, "--machine", "tiny")
            self.assertEqual(self.without_host(run), self.without_host(alone))
            self.assertTrue((self.scratch / "all" / workload / "result.json").exists())
        self.tessera("run", "tiny_matmul", "nonsense", "--machine", "tiny", code=3)
        # a summary each and a table, with a line between them
        parts = self.tessera("run", *TINY, "--machine", "tiny").stdout.split("\n\n")
        self.assertEqual([part.split()[:2] for part in parts],
                         [*(["workload", f"{workload}:"] for workload in TINY), ["workload", "cycles"]])
        self.assertEqual(len(parts[-1].splitlines()), 1 + len(TINY))

    def test_several_machines(self):
        other = self.file("other.json", json.dumps({"schema_version": 1, "extends": "tiny", "name": "other",
                                                    "chip": {"clock_hz": 3.7e9}}))
        machines = ["--machine", "tiny", "--machine", other]
        large = self.file("large.json", json.dumps({"schema_version": 1, "kind": "matmul",
                                                    "m": 4096, "k": 4096, "n": 4096}))
        done = self.tessera("run", "tiny_matmul", large, *machines, "--json", "r.json", "--csv",
                            "r.csv", "--out", "out", code=4)
        runs = json.loads((self.scratch / "r.json").read_text())["runs"]
        pairs = [("tiny_matmul", "tiny"), ("tiny_matmul", "other"), ("large", "tiny"),
                 ("large", "other")]
        self.assertEqual([(run["workload"]["name"], run["machine"]["name"]) for run in runs], pairs)
        self.assertEqual([run["status"] for run in runs], ["ok", "ok", "failed", "failed"])
        for machine, run in zip(("tiny", other), runs):
            alone = self.result("tiny_matmul", "--machine", machine)
            self.assertEqual(self.without_host(run), self.without_host(alone))
        for workload, machine in pairs[:2]:
            kept = json.loads((self.scratch / "out" / workload / machine / "result.json").read_text())
            self.assertEqual(kept["machine"]["name"], machine)
        # half the time in as many cycles
        self.assertRegex(done.stdout, r"tiny_matmul +other .* 1\.000 +0\.500\n")
        for workload, machine in pairs[2:]:
            self.assertRegex(done.stdout, rf"{workload} on {machine} +failed with exit code 4")
            self.assertIn(f"tessera: {workload} on {machine}: does not fit", done.stderr)
        with open(self.scratch / "r.csv", newline="") as file:
            lines = list(csv.DictReader(file))
        of_runs = [line for line in lines if line["part"] == "run"]
        self.assertEqual([(line["workload"], line["machine"]) for line in of_runs], pairs)
        for run, line in zip(runs[:2], of_runs):
            self.assertEqual(int(line["cycles"]), run["cycles"])
            steps = [step for step in lines if step["part"] == "step" and
                     step["machine"] == line["machine"]]
            lists = run["compute_sets"] + run["exchanges"] + run["streams"]
            self.assertEqual([step["name"] for step in steps], [step["name"] for step in lists])
            self.assertEqual([int(step["cycles"]) for step in steps],
                             [step["cycles"] for step in lists])

    def test_mistakes_of_any_machine_are_told_before_the_first_run(self):
        done = self.tessera("run", "sync", "--machine", "tiny", "--machine", "nonsense", code=3)
        self.assertEqual(done.stdout, "")
        done = self.tessera("run", "sync", "--machine", "tiny", "--machine", "gc2", "--set",
                            "streaming.latency_us=1", code=3)
        self.assertEqual(done.stdout, "")
        self.assertIn("on gc2: ", done.stderr)
        done = self.tessera("run", *TINY, "--machine", "gc2", "--set", "streaming.latency_us=1",
                            code=3) # of one machine there is nothing to say
        self.assertIn("streaming", done.stderr)
        self.assertNotIn("on gc2: ", done.stderr)
        for folder in ("a", "b"):
            (self.scratch / folder).mkdir()
        self.file("a/m.json", json.dumps({"schema_version": 1, "extends": "tiny", "name": "m"}))
        self.file("b/m.json", json.dumps({"schema_version": 1, "extends": "tiny", "name": "m"}))
        both = ["run", "sync", "--machine", "a/m.json", "--machine", "b/m.json"]
        self.assertIn("--out: got machine 'm' twice", self.tessera(*both, "--out", "o", code=2).stderr)
        done = self.tessera(*both, "--json", "-")
        self.assertEqual([run["machine"]["name"] for run in json.loads(done.stdout)["runs"]],
                         ["a/m", "b/m"])
        self.assertIn("--json 'x' and --csv 'x' are one file",
                      self.tessera("run", "sync", "--machine", "tiny", "--json", "x", "--csv", "x",
                                   code=2).stderr)

    def test_a_table_of_one_run_goes_to_stdout(self):
        done = self.tessera("run", "tiny_matmul", "--machine", "tiny", "--csv", "-")
        lines = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual(lines[0]["part"], "run")
        self.assertIn("cycles ", done.stderr)

    def test_what_does_not_fit(self):
        done = self.tessera("run", "tiny_matmul", "--machine", "tiny", "--set", "workload.m=4096",
                            "--set",
                            "workload.k=4096", "--set", "workload.n=4096", code=4)
        self.assertRegex(done.stderr,
                         r"does not fit.* tile_[0-3] is \d+ bytes over \('[a-z ]+' finds no place\); most is "
                                      r"kept in step '[a-z0-9 ]+': tensor \d+ B, .*code \d+ B.*; the buffers of that step: ")
        self.assertIn("partials", done.stderr)
        for workload, key in (("host_read", "bytes=1000000"), ("remote_read", "row_bytes=10000000"),
                              ("stream_triad", "elements=500000"), ("rearrange", "rows=1000000")):
            done = self.tessera("run", workload, "--machine", "tiny", "--set", f"workload.{key}",
                                code=4)
            self.assertRegex(done.stderr,
                             r"tile_[0-3] is \d+ bytes over \('[a-z ]+' finds no place\); most is kept in step "
                                          r"'.+': tensor \d+ B.*; the buffers of that step: ")

    def test_memory_report(self):
        streamed = ["--set", "workload.io_tiles=1", "--set", "workload.elements=5000"]
        for workload, sets in [*((name, []) for name in TINY), ("streamed_triad", streamed),
                               ("remote_read", ["--set", "workload.row_bytes=4096"]),
                               ("host_write", [])]:
            with self.subTest(workload):
                result = self.result(workload, "--machine", "tiny", "--memory", "memory.json",
                                     *sets)
                report = json.loads((self.scratch / "memory.json").read_text())
                steps = [step["name"] for step in report["steps"]]
                self.assertEqual(set(steps), {step["name"]
                                              for kind in ("compute_sets", "exchanges", "streams")
                                              for step in result[kind]})
                self.assertEqual(max(step["max_bytes"] for step in report["steps"]),
                                 result["memory"]["max_bytes"])
                self.assertIn(result["memory"]["peak_step"], steps)
                self.assertEqual(sum(len(self.numbers_of(tile["tiles"]))
                                     for tile in report["tiles"]), 4)
                for tile in report["tiles"]:
                    self.assertEqual(tile["peak_bytes"] + tile["free_bytes"], report["tile_bytes"])
                    self.assertEqual(tile["peak_bytes"], tile["always_bytes"]
                                     + sum(tile["peak_not_always_bytes_by_kind"].values()))
                self.check_buffers(report)

    def numbers_of(self, text):
        return [number for part in text.split(",")
                for number in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)]

    def check_buffers(self, report):
        """What stands in one tile at the same time does not overlap, and adds up to the steps' most."""
        def on(tiles, tile):
            return any(int(part.split("-")[0]) <= tile <= int(part.split("-")[-1])
                       for part in tiles.split(","))
        numbered = {number: step for step in report["steps"]
                    for number in self.numbers_of(step["steps"])}
        self.assertEqual(sorted(numbered), list(range(len(numbered))))
        for number, step in numbered.items():
            kept = []
            for tile in range(4):
                live = sorted((buffer["address"], buffer["bytes"]) for buffer in report["buffers"]
                              if buffer["first_step"] <= number <= buffer["last_step"]
                              and on(buffer["tiles"], tile))
                for (address, size), (following, _) in zip(live, live[1:]):
                    self.assertLessEqual(address + size, following)
                kept.append(sum(size for _, size in live))
            self.assertEqual(max(kept), step["max_bytes"])

    def test_a_parameter_moves_the_result(self):
        plain = self.result("tiny_matmul", "--machine", "tiny")
        # One cycle is too little for the planner to choose another partition.
        before = plain["machine"]["sync"]["internal_cycles"]
        slower = self.result("tiny_matmul", "--machine", "tiny", "--set",
                             f"sync.internal_cycles={before + 1}")
        self.assertEqual(slower["plan"]["parts_k"], plain["plan"]["parts_k"])
        self.assertEqual(slower["cycles"], plain["cycles"] + plain["phases"]["sync"] // before)

    def test_a_product_in_groups_says_how_many_of_them_it_makes_at_once(self):
        for groups in (1, 3):
            plan = self.result("tiny_matmul", "--set", f"workload.groups={groups}")["plan"]
            at_once = plan.get("groups_at_once", 0)
            self.assertLessEqual(at_once, groups)
            self.assertEqual(at_once > 0, groups > 1)

    def test_interrupt_leaves_no_file(self):
        process = subprocess.Popen(
            [BINARY, "run", "dense_4096_f16", "--json", "r.json", "--trace", "t.pftrace"],
            cwd=self.scratch,
            env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len(list(self.scratch.glob(".tessera-*.tmp"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)
        self.assertEqual(list(self.scratch.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], sys.argv[3]], verbosity=2)
