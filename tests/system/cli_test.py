#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the program `tessera` as a user does. Usage: cli_test.py BINARY SOURCE_DIRECTORY TEST_CLASS"""

import copy
import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BINARY, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
TINY = ["tiny_matmul", "tiny_matmul_f32", "tiny_spmm_b1", "tiny_spmm_b16"]
# Micro-workloads, each cut down to a moment's run.
MICRO = {
    "exchange_all_to_all": ["tiles=4"],
    "exchange_broadcast": [],
    "self_copy": ["bytes=256"],
    "rearrange": ["rows=12", "cast=true"],
    "host_read": ["bytes=68"],
    "host_write": ["bytes=4"],
    "stream_triad": ["elements=80000"],
    "reduction": ["operands=20"],
    "stencil": ["width=61", "height=40", "iterations=3"],
}
KINDS = ["compute", "exchange", "sync", "stream", "idle"]


class CliTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def environment(self):
        return dict(os.environ, TESSERA_CONFIGS=str(SOURCE / "configs"))

    def tessera(self, *arguments, code=0, **options):
        done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                              cwd=self.scratch, env=self.environment(), **options)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def result(self, *arguments, code=0):
        done = self.tessera("run", *arguments, "--json", "-", code=code)
        return json.loads(done.stdout)

    def file(self, name, text):
        path = self.scratch / name
        path.write_text(text)
        return path


class ErrorsTest(CliTest):
    """Each class of bad input has its exit code, a reason on stderr and nothing on stdout."""

    def refused(self, *arguments, code, says):
        done = self.tessera(*arguments, code=code)
        self.assertEqual(done.stdout, "")
        self.assertIn(says, done.stderr)
        self.assertNotIn("terminate called", done.stderr)
        return done

    def test_usage(self):
        self.refused(code=2, says="see `tessera help`")
        self.refused("run", code=2, says="expected a workload")
        self.refused("rum", code=2, says="did you mean 'run'?")
        self.refused("run", "tiny_matmul", "--thread", "2", code=2, says="did you mean '--threads'?")
        self.refused("run", "tiny_matmul", "--threads", "0", code=2, says="expected 1..1024 threads")
        self.refused("run", "tiny_matmul", "tiny_matmul_f32", "--memory", "m.json", code=2, says="--memory: got several")

    def test_unknown_names(self):
        self.refused("run", "tiny_matmull", code=3, says="did you mean 'tiny_matmul'?")
        self.refused("run", "tiny_matmul", "--machine", "tinny", code=3, says="did you mean 'tiny'?")

    def test_mistakes_in_options_are_told_together(self):
        done = self.refused("run", "tiny_matmul", "--machine", "tiny", "--set", "tile.worker=4", "--set",
                            "workload.m=0", code=3, says="did you mean 'tile.workers'?")
        self.assertIn("workload.m: got 0", done.stderr)

    def test_parameters_of_the_other_half_are_told(self):
        self.refused("run", "tiny_matmul", "--machine", "tiny", "--set", "n=4", code=3, says="did you mean 'workload.n'?")
        self.refused("describe", "workload", "stencil", "--set", "chip.tiles=4", code=3, says="start with 'workload.'")

    def test_broken_files(self):
        broken = self.file("broken.json", '{"schema_version": 1,\n "kind": }')
        self.refused("run", broken, code=3, says="broken.json:2:")
        self.refused("check", broken, code=3, says="broken.json:2:")
        pattern = self.file("bad.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 1\n")
        workload = self.file("w.json", json.dumps({
            "schema_version": 1, "kind": "spmm", "mode": "static", "n": 8, "block": 1, "dtype": "f16",
            "partials": "f16", "seed": 1, "values": "uniform", "pattern": {"file": pattern.name, "values": "ones"}}))
        self.refused("run", workload, "--machine", "tiny", code=3, says="bad.mtx")

    def test_hexadecimal_words(self):
        words = self.file("words.txt", "19001000 0x18000000\n  19001000\n\t 190010zz 1\n")
        self.refused("disasm", words, "--hex", code=3,
                     says="words.txt:3:3: got '190010zz', expected a word of up to 8 hexadecimal digits")
        self.refused("disasm", self.file("one.txt", "123456789"), "--hex", code=3, says="one.txt:1:1: got")
        self.refused("disasm", self.file("odd.bin", "12345"), code=3, says="got 5 bytes, expected words of 4")
        good = self.file("good.txt", "19001000\n0x19001000 ")
        self.assertEqual(len(self.tessera("disasm", good, "--hex").stdout.splitlines()), 2)

    def test_absent_files(self):
        self.refused("run", "./absent.json", code=6, says="absent.json")
        self.refused("check", "absent.json", code=6, says="absent.json")

    def test_outputs_are_found_unwritable_before_the_run(self):
        for option in ("--json", "--memory", "--trace"):
            self.refused("run", "tiny_matmul", "--machine", "tiny", option, "no/such/place", code=6,
                         says="no/such/place")
        self.file("file", "")
        self.refused("run", "tiny_matmul", "--machine", "tiny", "--out", "file/inside", code=6, says="file/inside")

    def test_what_is_not_modelled(self):
        self.refused("run", "tiny_matmul", "--machine", "gc2", code=5, says="matmul_amp_f16.S")

    def test_a_grid_too_large_is_refused_before_the_run(self):
        for command in ("run", "check"):
            machine = self.file("large.json", '{"schema_version": 1, "chip": {"tiles": 8130}}')
            arguments = ("tiny_matmul", "--machine", "./" + machine.name) if command == "run" else (machine.name,)
            self.refused(command, *arguments, code=3, says="large.json:1:41: /chip/tiles: got 8130 tiles")

    def test_full_stdout(self):
        # less and more than the buffer of the output
        for command in (["list", "machines"], ["schema", "vertex_result"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([BINARY, *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(done.returncode, 6)


class InquiriesTest(CliTest):
    """Commands that answer without simulating."""

    def test_list(self):
        self.assertIn("bow", self.tessera("list", "machines").stdout)
        self.assertIn("cora", self.tessera("list", "workloads").stdout)
        self.assertIn("runall", self.tessera("list", "instructions").stdout.split())
        self.assertIn("runall", self.tessera("list", "instructions", "--names").stdout.splitlines())
        self.assertIn("matmul", self.tessera("list", "families", "--names").stdout.splitlines())
        self.assertRegex(self.tessera("list", "families").stdout, r"\nspmm +a, b +partials f16\|f32 +\w")
        self.assertIn("tile.workers", self.tessera("list", "parameters", "--names").stdout.splitlines())
        settable = self.tessera("list", "parameters", "--names").stdout.splitlines()
        for key in ("schema_version", "extends", "workload.kind"):  # which no --set may name
            self.assertNotIn(key, settable)
        whole = self.tessera("list").stdout
        self.assertIn("cora", whole)
        self.assertRegex(whole, r"\n  [1-9]\d* mnemonics")
        broken = self.scratch / "mine" / "machines"
        broken.mkdir(parents=True)
        (broken / "broken.json").write_text("{")
        done = subprocess.run([BINARY, "list", "machines"], capture_output=True, text=True,
                              env=dict(os.environ, TESSERA_CONFIGS=str(self.scratch / "mine")), cwd=SOURCE)
        self.assertRegex(done.stdout, r"broken +cannot be read; see `tessera check")
        self.assertRegex(done.stdout, r"tiny +four tiles")

    def test_everything_that_is_listed_has_a_name_a_sentence_and_a_file(self):
        for kind in ("machines", "workloads", "vertices"):
            files = sorted((SOURCE / "configs" / kind).glob("*.json"))
            names = self.tessera("list", kind, "--names").stdout.splitlines()
            self.assertEqual(names, [file.stem for file in files])
            paths = [line.split() for line in self.tessera("list", kind, "--paths").stdout.splitlines()]
            # a path longer than a line stands below its name
            self.assertEqual({word for line in paths for word in line}, set(names) | {str(file) for file in files})
            for file in files:
                text = "\n".join(line.split("//")[0] if not '"' in line.split("//")[0] else line.split(" //")[0]
                                 for line in file.read_text().splitlines())
                description = json.loads(text)["description"]
                self.assertGreater(len(description), 5, file)
                self.assertNotIn("\n", description)
                self.assertFalse(description.endswith("."), file)

    def test_no_report_has_long_lines_or_blanks_at_their_end(self):
        vertices = ["softmax_rows_half", "scaled_add"]
        for command in (["help"], ["help", "vertex"], ["list"], ["list", "instructions"], ["list", "parameters"], ["list", "families"],
                        ["describe", "machine"], ["describe", "machine", "gc2"], ["describe", "workload"],
                        ["describe", "workload", "cora"], *(["vertex", name] for name in vertices)):
            for line in self.tessera(*command).stdout.splitlines():
                self.assertLessEqual(len(line), 100, f"{command}: {line}")
                self.assertEqual(line, line.rstrip())

    def test_every_checked_in_file_is_valid(self):
        files = sorted((SOURCE / "configs").glob("machines/*.json")) + sorted(
            (SOURCE / "configs").glob("workloads/*.json")) + sorted((SOURCE / "configs").glob("vertices/*.json"))
        done = self.tessera("check", *files)
        self.assertEqual(len(done.stdout.splitlines()), len(files))

    def test_a_file_to_check_may_have_the_name_of_another_thing(self):
        (self.scratch / "bow").write_text('{"schema_version": 1, "wings": 2}')
        done = subprocess.run([BINARY, "check", "bow"], capture_output=True, text=True, cwd=self.scratch)
        self.assertEqual(done.returncode, 3)
        self.assertIn("bow:1:23: /wings: unknown key", done.stderr)

    def test_describe(self):
        resolved = json.loads(self.tessera("describe", "machine", "tiny", "--json", "--set", "tile.workers=4").stdout)
        self.assertEqual(resolved["tile"]["workers"], 4)
        self.assertIn("--set", self.tessera("describe", "machine", "tiny", "--set", "tile.workers=4").stdout)
        again = self.file("again.json", json.dumps(resolved))
        self.assertEqual(json.loads(self.tessera("describe", "machine", again, "--json").stdout), resolved)
        self.assertIn("tile.workers", self.tessera("describe", "machine").stdout)
        text = self.tessera("describe", "machine", "tiny", "--set", "tile.workers=4").stdout
        self.assertRegex(text, r"\ntile\.workers +4 workers +1\.\.8 +6\n(    .*\n)*?    .*docs/evidence\.md#tile.*; set at --set\n")
        self.assertRegex(text, r"\nchip\.tiles +4 tiles +1\.\.\d+ +1472\n.*\n?.*set at\s+\S*tiny\.json:\d+\n")
        self.assertIn("512", self.tessera("describe", "workload", "cora").stdout)
        self.tessera("describe", "machine", "--json", code=2)

    def test_schemas_are_those_checked_in(self):
        for what in ("machine", "workload", "result", "results", "memory", "vertex", "vertex_result"):
            text = self.tessera("schema", what).stdout
            self.assertEqual(text, (SOURCE / "configs" / "schemas" / f"{what}.schema.json").read_text())

    def test_a_file_assembled_alone(self):
        section = (SOURCE / "docs" / "assembler.md").read_text().split("## One file alone")[1]
        self.file("copy.S", section.split("```asm\n")[1].split("```")[0])
        self.assertIn("symbol 'count_rows': not defined", self.tessera("asm", "copy.S", code=3).stderr)
        command, shown = section.split("```\n$ tessera ")[1].split("```")[0].split("\n", 1)
        self.assertEqual(self.tessera(*command.split()).stdout, shown)
        document = json.loads(self.tessera("asm", "--allow-undefined", "--json", "-", "copy.S").stdout)
        self.assertEqual(document["undefined"], [{"name": "count_rows", "place": "copy.S:4:13"}])
        self.assertEqual(document["summary"]["mnemonics"]["bri"], 1)
        self.assertEqual(document["summary"]["bundles"], 1)
        self.assertEqual(document["summary"]["sections"],
                         [{"name": ".text", "code_bytes": 28, "data_bytes": 0, "padding_bytes": 0}])

    def test_help_and_version(self):
        self.assertIn("tessera run", self.tessera("help").stdout)
        self.assertIn("--trace-tiles", self.tessera("help", "run").stdout)
        self.assertIn("tessera 0", self.tessera("--version").stdout)


class VertexTest(CliTest):
    """One vertex on one tile: the report, the files and the exit codes."""

    RACE = """
        .worker
        .globl race
race:   ld32 $m1, $mvertex_base, $mzero, 0
        ld32 $m2, $m1, $mzero, 0
        add $m2, $m2, 1
        st32step $m2, $mzero, $m1+=, 1
        exitz $mzero
        .globl crash
crash:  ld32 $m1, $mzero, $mzero, 1
        exitz $mzero
        .supervisor
        .globl gone
gone:   br $mzero
        .globl loop
loop:   bri loop
"""

    def vertex(self, **keys):
        self.file("race.S", self.RACE)
        document = {"schema_version": 1, "sources": ["race.S"], "entry": "race", "kind": "multi_worker",
                    "arrays": {"x": {"type": "u32", "length": 2}}, "state": [{"pointer": "x"}]}
        document.update(keys)
        return self.file("race.json", json.dumps(document))

    def test_report_and_json(self):
        done = self.tessera("vertex", "scaled_add", "--json", "result.json", "--fit", "a + b*ceildiv(pairs, workers)")
        self.assertIn("check        y: all 96 elements as expected", done.stdout)
        result = json.loads((self.scratch / "result.json").read_text())
        self.assertEqual(len(result["points"]), 4)
        slope = result["fit"]["coefficients"][1]
        self.assertEqual(slope["name"], "b")
        self.assertAlmostEqual(slope["value"], 4 * 6)  # bundles of the loop times workers
        self.assertLess(result["fit"]["largest_residual"], 1e-6)
        of_workers = self.tessera("vertex", "scaled_add", "--json", "-", "--fit", "a + b*ceildiv(pairs, workers)",
                                  "--fit-of", "worker_cycles")
        self.assertAlmostEqual(json.loads(of_workers.stdout)["fit"]["coefficients"][0]["value"], 16 * 6)
        self.assertIn("largest residual", of_workers.stderr)

    def test_arrays_go_out_and_come_back(self):
        one = ["vertex", "scaled_add", "--set", "parameters.length=24"]
        self.tessera(*one, "--out", "out", "--dump", "x=x.npy")
        written = (self.scratch / "out" / "y.npy").read_bytes()
        self.assertEqual(written[:6], b"\x93NUMPY")
        self.assertIn(b"'shape': (24,)", written)
        self.assertEqual((self.scratch / "x.npy").read_bytes(), (self.scratch / "out" / "x.npy").read_bytes())
        self.tessera(*one, "--expect", "out/y.npy")
        done = self.tessera(*one, "--expect", "y=x.npy", code=1)
        self.assertRegex(done.stdout, r"y: WRONG: \d+ of 24 elements")
        self.assertIn("[0] got", done.stdout)
        done = self.tessera(*one, "--json", "-", "--arrays")
        self.assertEqual(len(json.loads(done.stdout)["points"][0]["arrays"]["y"]["values"]), 24)

    def test_traces(self):
        one = ["vertex", "scaled_add", "--set", "parameters.length=24"]
        self.tessera(*one, "--konata", "k.txt", "--trace", "t.pftrace")
        self.assertTrue((self.scratch / "k.txt").read_text().startswith("Kanata\t0004\n"))
        self.assertGreater((self.scratch / "t.pftrace").stat().st_size, 1000)
        self.assertIn("expected one", self.tessera("vertex", "scaled_add", "--konata", "k.txt", code=2).stderr)

    def test_machine_options(self):
        done = self.tessera("vertex", "scaled_add", "--set", "tile.workers=4", "--set", "parameters.workers=4", "--set",
                            "parameters.length=24", "--json", "-")
        self.assertEqual(len(json.loads(done.stdout)["points"][0]["phases"][0]["workers"]), 4)

    def test_includes_and_defines_and_data(self):
        (self.scratch / "inc").mkdir()
        self.file("inc/step.h", "#define STEP(n) ((n) * 2)\n")
        self.file("data.S", """
#include "step.h"
        .worker
        .globl entry
entry:  ld32 $m0, $mvertex_base, $mzero, 0
        ld32 $m2, $mvertex_base, $mzero, 1
        ld32 $m1, $m2, $mzero, 0
        add $m1, $m1, STEP(COUNT)
        st32step $m1, $mzero, $m0+=, 1
        exitz $mzero
        .section .data.table
        .globl table
table:  .word 100
""")
        vertex = self.vertex(sources=["data.S"], entry="entry", kind="worker", include_directories=["inc"],
                             state=[{"pointer": "x"}, {"word": "symbol(table)"}], defines={"COUNT": "3 + 4"},
                             expect={"x": [114, 0]})
        done = self.tessera("vertex", vertex)
        self.assertRegex(done.stdout, r"0x50000 +4 B  element  1  data")
        again = self.vertex(sources=["data.S"], entry="entry", kind="worker", expect={"x": [120, 0]},
                            state=[{"pointer": "x"}, {"word": "symbol(table)"}])
        self.tessera("vertex", again, "-I", "inc", "-D", "COUNT=10")

    def test_ten_lines_are_shown_and_the_others_counted(self):
        shown = {}
        for instructions in range(6, 14):
            self.file("line.S", ".worker\n.globl line\nline:\n" + "add $m0, $m0, 1\n" * instructions + "exitz $mzero\n")
            done = self.tessera("vertex", self.vertex(sources=["line.S"], entry="line", kind="worker"), "--json", "r.json")
            lines = len(json.loads((self.scratch / "r.json").read_text())["points"][0]["lines"])
            shown[lines] = len(re.findall(r"cycles +\d+ +issues", done.stdout))
            self.assertEqual(shown[lines], min(lines, 10))
            more = re.findall(r"and (\d+) more lines; --json lists all", done.stdout)
            self.assertEqual(more, [str(lines - 10)] if lines > 10 else [])
        self.assertLessEqual({9, 10, 11}, set(shown))
        self.file("line.S", ".worker\n.globl line\nline:\n" + "add $m0, $m0, 1\n" * 30 + "exitz $mzero\n")
        self.tessera("vertex", self.vertex(sources=["line.S"], entry="line", kind="worker"), "--json", "r.json")
        self.assertEqual(len(json.loads((self.scratch / "r.json").read_text())["points"][0]["lines"]), 20)

    def test_a_table_of_launches_is_where_there_are_two(self):
        for launches in (1, 2, 3):
            self.file("launch.S", ".supervisor\n.globl twice\ntwice: setzi $m1, one\n" +
                      "runall $m1, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\n" * launches +
                      "br $lr\n.worker\n.align 8\none: nop\nexitz $mzero\n")
            done = self.tessera("vertex", self.vertex(sources=["launch.S"], entry="twice", kind="supervisor"))
            self.assertEqual("\nlaunches " in done.stdout, launches > 1)
            self.assertEqual("the slowest of each launch" in done.stdout, launches > 1)

    def test_an_array_may_want_the_last_memory_element(self):
        memory = json.loads(self.tessera("describe", "machine", "bow", "--json").stdout)["memory"]
        elements = (memory["region0_bytes"] + memory["region1_bytes"]) // memory["element_bytes"]
        for element in (elements - 1, elements):
            vertex = self.vertex(kind="worker", arrays={"x": {"type": "u32", "length": 2, "element": element}})
            if element < elements:
                self.tessera("vertex", vertex)
            else:
                self.assertIn(f"got {element}, expected a whole number of 0..{elements - 1}",
                              self.tessera("vertex", vertex, code=3).stderr)

    def test_exit_codes(self):
        race = self.vertex()
        self.assertIn("contexts race", self.tessera("vertex", race).stderr)
        done = self.tessera("vertex", race, "--lockstep", code=5)
        self.assertIn("RACE", done.stdout)
        self.assertIn("race.S:", done.stdout)
        self.assertIn("race.S:", self.tessera("vertex", self.vertex(entry="crash"), code=5).stderr)
        gone = self.tessera("vertex", self.vertex(entry="gone", kind="supervisor"), code=5)
        self.assertIn("'gone': ended the phase by a branch to address 0", gone.stderr)
        endless = self.vertex(entry="loop", kind="supervisor")
        self.assertRegex(self.tessera("vertex", endless, code=5).stderr, r"@ (19999999|20000000)\d: .*loop for ever")
        limited = ["--set", "tile.phase_limit_cycles=6000"]
        self.assertRegex(self.tessera("vertex", endless, *limited, code=5).stderr, r"@ (599|600)\d: .*loop for ever")
        self.tessera("vertex", self.vertex(expect={"x": 7}, entry="race", kind="worker"), code=1)
        self.tessera("vertex", self.vertex(arrays={"x": {"type": "u32", "length": 160000}}), code=4)
        self.assertIn("did you mean 'race'?", self.tessera("vertex", self.vertex(entry="rac"), code=3).stderr)
        self.tessera("vertex", "./absent.json", code=6)
        self.tessera("vertex", self.vertex(sources=["absent.S"]), code=6)
        self.tessera("vertex", self.vertex(), "--json", "no/such/place", code=6)
        for wrong in (["--fit", "a*b"], ["--expect", "z.npy"], ["--dump", "x"], ["--fit-of", "worker_cycles"],
                      ["-D", "=3"]):
            self.tessera("vertex", self.vertex(), *wrong, code=2)


class RunsTest(CliTest):
    """Whole runs on the machine with four tiles."""

    def without_host(self, result):
        result = copy.deepcopy(result)
        del result["host"]
        result.pop("trace", None)
        return result

    def check_accounts(self, result):
        self.assertEqual(result["cycles"], sum(result["phases"].values()))
        self.assertAlmostEqual(sum(result["tiles"][f"{kind}_cycles"]["mean"] for kind in KINDS), result["cycles"],
                               places=6)
        self.assertAlmostEqual(sum(part["cycles"] for part in result["explanation"].values()), result["cycles"],
                               places=6)
        # repeats, calls and decisions are the control program's
        self.assertEqual(result["phases"]["compute"], sum(step["cycles"] for step in result["compute_sets"]) +
                         result["explanation"]["control"]["cycles"])
        self.assertEqual(result["phases"]["exchange"], sum(step["cycles"] for step in result["exchanges"]))
        for step in result["exchanges"]:
            self.assertEqual(step["bytes"], 4 * step["words"])
            self.assertGreaterEqual(step["bytes"], step["sent_bytes"])
        for step in result["exchanges"] + result["compute_sets"]:
            self.assertLessEqual(step["bound_cycles"], step["cycles"], step["name"])
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
            result = self.result("exchange_all_to_all", "--machine", "tiny", "--set", "chip.tiles=3", "--set",
                                 f"exchange.fabric={fabric}", "--set", "workload.tiles=3")
            self.assertTrue(result["check"]["passed"])

    def test_parameters_that_are_set_in_vain_are_told(self):
        result = self.result("sync", "--machine", "tiny", "--set", "streaming.latency_us=1", "--set",
                             "sync.internal_cycles=130")
        self.assertEqual(result["unused_parameters"],
                         {"streaming.latency_us": "the run has no reads of streaming memory or writes to streaming memory"})
        summary = self.tessera("run", "sync", "--machine", "tiny", "--set", "control.call_cycles=1").stdout
        self.assertIn("unused     control.call_cycles: the run has no calls\n", summary)
        report = self.tessera("vertex", "scaled_add", "--set", "exchange.prologue_cycles=1").stdout
        self.assertIn("unused       exchange.prologue_cycles: the run has no exchanges or decisions\n", report)
        error = self.tessera("run", "sync", "--machine", "gc2", "--set", "streaming.latency_us=1", code=3).stderr
        self.assertIn("--set: streaming.latency_us: unused on this machine; it is used with streaming.capacity_bytes other "
                      "than 0, and that is 0 here", error)

    def test_phases_of_a_stencil_can_be_read(self):
        result = self.result("stencil", "--set", "workload.width=61", "--set", "workload.height=40", "--set",
                             "workload.iterations=1")
        self.assertEqual([step["name"] for step in result["compute_sets"]], ["halo pre", "halo post", "blur"])
        self.assertEqual([step["name"] for step in result["exchanges"]], ["halo exchange"])
        self.assertGreater(result["explanation"]["rearrangement"]["cycles"], 0)

    def test_what_shows_when_a_pipeline_is_planned_has_its_place(self):
        text = json.dumps({"schema_version": 1, "kind": "pipeline", "tensors": {
            "graph": {"pattern": {"file": "cora.mtx", "values": "gcn"}, "values": "integer"},
            "x": {"shape": [2708, 2]}}, "steps": [{"family": "spmm", "inputs": ["graph", "x"], "output": "y"}]}, indent=1)
        done = self.tessera("run", self.file("graph.json", text), code=3)
        line = next(number for number, words in enumerate(text.splitlines(), 1) if '"gcn"' in words)
        self.assertRegex(done.stderr, rf"graph\.json:{line}:\d+: /tensors/graph/pattern/values: got gcn together with")

    def test_micro_workloads_say_what_is_wrong_with_them(self):
        file = self.file("odd.json", '{"schema_version": 1, "kind": "exchange_pattern",\n "pattern": "pairs", '
                                     '"tiles": 3, "bytes": 6}')
        error = self.tessera("run", file, code=3).stderr
        self.assertIn("odd.json:2:43: /bytes: got 6 B, expected a multiple of 4 B", error)
        self.assertIn("/tiles: got 3 tiles, expected an even number of tiles", error)
        error = self.tessera("run", "exchange_broadcast", "--machine", "tiny", "--set", "workload.tiles=4",
                             code=3).stderr
        self.assertIn("--set: workload.tiles: got 4 tiles, expected 1..3 on machine 'tiny'", error)
        large = self.file("large.json", '{"schema_version": 1, "kind": "exchange_pattern",\n "pattern": "gather", '
                                        '"tiles": 5, "bytes": 8}')
        self.assertIn("large.json:2:32: /tiles: got 5 tiles, expected 1..3",
                      self.tessera("run", large, "--machine", "tiny", code=3).stderr)
        self.tessera("run", "self_copy", "--machine", "tiny", "--set", "workload.bytes=400000", code=4)
        file = self.file("read.json", '{"schema_version": 1, "kind": "remote_buffer",\n "direction": "read", '
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
                    self.assertEqual(cycles[fabric], sum(step["bound_cycles"] for step in result["exchanges"]))
        self.assertLess(cycles["bound"], min(cycles["compiled"], cycles["mesh"], cycles["ring"]))
        large = self.result("tiny_matmul", "--set", "exchange.fabric=mesh", "--set", "chip.tiles=1600")
        self.assertTrue(large["check"]["passed"])

    def test_grids_larger_than_a_machines_run_on_the_compiled_fabric(self):
        for generation in ("ipu1", "ipu2"):
            with self.subTest(generation):
                result = self.result("tiny_matmul_f32", "--set", f"chip.generation={generation}", "--set", "chip.tiles=2944")
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
            traced = self.result("tiny_matmul", "--machine", "tiny", "--trace", "t.pftrace", "--trace-level", level)
            self.assertEqual(self.without_host(plain), self.without_host(traced))
            (self.scratch / "result.json").write_text(json.dumps(traced))
            subprocess.run([sys.executable, SOURCE / "tools" / "check_trace.py", self.scratch / "t.pftrace", "--result",
                            self.scratch / "result.json"], check=True, stdout=subprocess.DEVNULL)

    def test_outputs(self):
        done = self.tessera("run", "tiny_matmul", "--machine", "tiny", "--threads", "5", "--json", "r.json", "--out",
                            "deep/er")
        written = json.loads((self.scratch / "r.json").read_text())
        self.assertEqual(written, json.loads((self.scratch / "deep/er/result.json").read_text()))
        self.assertIn("tiles busy", done.stdout)
        self.assertEqual(done.stderr, "")
        self.assertEqual(sorted(path.name for path in self.scratch.rglob("*")), ["deep", "er", "output.npy", "r.json", "result.json", "trace.pftrace.gz"])

    def on_terminal(self, *arguments, columns=80, **variables):
        """What a terminal gets, stdout and stderr."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = dict(self.environment(), TERM="xterm", **variables)
        process = subprocess.Popen([BINARY, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, cwd=self.scratch,
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
            lines = self.on_terminal("list", "workloads", "--color", "never", columns=columns).splitlines()
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

    def test_what_does_not_fit(self):
        done = self.tessera("run", "tiny_matmul", "--machine", "tiny", "--set", "workload.m=4096", "--set",
                            "workload.k=4096", "--set", "workload.n=4096", code=4)
        self.assertRegex(done.stderr, r"does not fit.* tile_[0-3] is \d+ bytes over \('[a-z ]+' finds no place\); most is "
                                      r"kept in step '[a-z0-9 ]+': tensor \d+ B, .*code \d+ B.*; the buffers of that step: ")
        self.assertIn("partials", done.stderr)
        for workload, key in (("host_read", "bytes=1000000"), ("remote_read", "row_bytes=10000000"),
                              ("stream_triad", "elements=500000"), ("rearrange", "rows=1000000")):
            done = self.tessera("run", workload, "--machine", "tiny", "--set", f"workload.{key}", code=4)
            self.assertRegex(done.stderr, r"tile_[0-3] is \d+ bytes over \('[a-z ]+' finds no place\); most is kept in step "
                                          r"'.+': tensor \d+ B.*; the buffers of that step: ")

    def test_memory_report(self):
        streamed = ["--set", "workload.io_tiles=1", "--set", "workload.elements=5000"]
        for workload, sets in [*((name, []) for name in TINY), ("streamed_triad", streamed),
                               ("remote_read", ["--set", "workload.row_bytes=4096"]), ("host_write", [])]:
            with self.subTest(workload):
                result = self.result(workload, "--machine", "tiny", "--memory", "memory.json", *sets)
                report = json.loads((self.scratch / "memory.json").read_text())
                steps = [step["name"] for step in report["steps"]]
                self.assertEqual(set(steps), {step["name"] for kind in ("compute_sets", "exchanges", "streams")
                                              for step in result[kind]})
                self.assertEqual(max(step["max_bytes"] for step in report["steps"]), result["memory"]["max_bytes"])
                self.assertIn(result["memory"]["peak_step"], steps)
                self.assertEqual(sum(len(self.numbers_of(tile["tiles"])) for tile in report["tiles"]), 4)
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
            return any(int(part.split("-")[0]) <= tile <= int(part.split("-")[-1]) for part in tiles.split(","))
        numbered = {number: step for step in report["steps"] for number in self.numbers_of(step["steps"])}
        self.assertEqual(sorted(numbered), list(range(len(numbered))))
        for number, step in numbered.items():
            kept = []
            for tile in range(4):
                live = sorted((buffer["address"], buffer["bytes"]) for buffer in report["buffers"]
                              if buffer["first_step"] <= number <= buffer["last_step"] and on(buffer["tiles"], tile))
                for (address, size), (following, _) in zip(live, live[1:]):
                    self.assertLessEqual(address + size, following)
                kept.append(sum(size for _, size in live))
            self.assertEqual(max(kept), step["max_bytes"])

    def test_a_parameter_moves_the_result(self):
        plain = self.result("tiny_matmul", "--machine", "tiny")
        # One cycle is too little for the planner to choose another partition.
        before = plain["machine"]["sync"]["internal_cycles"]
        slower = self.result("tiny_matmul", "--machine", "tiny", "--set", f"sync.internal_cycles={before + 1}")
        self.assertEqual(slower["plan"]["parts_k"], plain["plan"]["parts_k"])
        self.assertEqual(slower["cycles"], plain["cycles"] + plain["phases"]["sync"] // before)

    def test_interrupt_leaves_no_file(self):
        process = subprocess.Popen(
            [BINARY, "run", "dense_4096_f16", "--json", "r.json", "--trace", "t.pftrace"], cwd=self.scratch,
            env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len(list(self.scratch.glob(".tessera-*.tmp"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)
        self.assertEqual(list(self.scratch.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], sys.argv[3]], verbosity=2)
