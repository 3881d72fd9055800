#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks the program `tessera` as a user does, and tries what it refuses. Usage: cli_test.py BINARY SOURCE_DIRECTORY TEST_CLASS"""

import copy
import json
import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import BINARY, CliTest, SOURCE


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
        self.refused("run", "tiny_matmul", "--thread", "2", code=2,
                     says="did you mean '--threads'?")
        self.refused("run", "tiny_matmul", "--threads", "0", code=2,
                     says="expected 1..1024 threads")
        self.refused("run", "tiny_matmul", "tiny_matmul_f32", "--memory", "m.json", code=2,
                     says="--memory: got several")
        self.refused("run", "tiny_matmul", "tiny_matmul_f32", "--edges", "e.csv", code=2,
                     says="--edges: got several workloads, expected one a table")

    def test_unknown_names(self):
        self.refused("run", "tiny_matmull", code=3, says="did you mean 'tiny_matmul'?")
        self.refused("run", "tiny_matmul", "--machine", "tinny", code=3,
                     says="did you mean 'tiny'?")

    def test_a_workload_of_one_chip_does_not_run_on_several(self):
        says = "machine tiny4 has 4 chips, and workload tiny_matmul is of one chip"
        for mode in ("functional", "timing", "estimate"):
            done = self.refused("run", "tiny_matmul", "--machine", "tiny4", "--mode", mode, code=3, says=says)
            self.assertRegex(done.stderr, r"machines/tiny4.json:7:18: /system/chips: ")
        self.refused("run", "tiny_matmul", "--machine", "tiny", "--set", "system.chips=4", code=3,
                     says="--set: system.chips: machine tiny has 4 chips")
        sweep = self.file("s.json", json.dumps({
            "schema_version": 1, "machine": "tiny4", "workload": "tiny_matmul",
            "axes": [{"path": "system.chips", "values": [1, 2]}]}))
        self.refused("sweep", "run", sweep, "--store", self.scratch / "store", code=3,
                     says="machine tiny4 has 2 chips, and workload tiny_matmul is of one chip")
        one = self.result("tiny_matmul", "--machine", "tiny4", "--set", "system.chips=1")
        self.assertEqual(one["cycles"], self.result("tiny_matmul", "--machine", "tiny")["cycles"])

    def test_mistakes_in_options_are_told_together(self):
        done = self.refused("run", "tiny_matmul", "--machine", "tiny", "--set", "tile.worker=4",
                            "--set",
                            "workload.m=0", code=3, says="did you mean 'tile.workers'?")
        self.assertIn("workload.m: got 0", done.stderr)

    def test_parameters_of_the_other_half_are_told(self):
        self.refused("run", "tiny_matmul", "--machine", "tiny", "--set", "n=4", code=3,
                     says="did you mean 'workload.n'?")
        # what is nearly a machine's parameter stays so, also where a workload has that key
        self.refused("run", "exchange_broadcast", "--machine", "tiny", "--set", "tiles=4", code=3,
                     says="tiles: unknown key; did you mean 'chip.tiles'?")
        self.refused("describe", "workload", "stencil", "--set", "chip.tiles=4", code=3,
                     says="start with 'workload.'")

    def test_broken_files(self):
        broken = self.file("broken.json", '{"schema_version": 1,\n "kind": }')
        self.refused("run", broken, code=3, says="broken.json:2:")
        self.refused("check", broken, code=3, says="broken.json:2:")
        pattern = self.file("bad.mtx",
                            "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 1\n")
        workload = self.file("w.json", json.dumps({
            "schema_version": 1, "kind": "spmm", "mode": "static", "n": 8, "block": 1,
            "dtype": "f16",
            "partials": "f16", "seed": 1, "values": "uniform",
            "pattern": {"file": pattern.name, "values": "ones"}}))
        self.refused("run", workload, "--machine", "tiny", code=3, says="bad.mtx")

    def test_hexadecimal_words(self):
        words = self.file("words.txt", "19001000 0x18000000\n  19001000\n\t 190010zz 1\n")
        self.refused("disasm", words, "--hex", code=3,
                     says="words.txt:3:3: got '190010zz', expected a word of up to 8 hexadecimal digits")
        for text, shown in (("123456789", "123456789"), ("0X1", "0X1"), ("x" * 40, "x" * 40), ("x" * 41, "x" * 40)):
            done = self.refused("disasm", self.file("one.txt", f"00000000\n {text}\n"), "--hex", code=3, says="one.txt:2:2: ")
            self.assertEqual(done.stderr, f"{self.scratch}/one.txt:2:2: got '{shown}', expected a word of up to 8 hexadecimal digits\n")
        self.refused("disasm", self.file("odd.bin", "12345"), code=3,
                     says="got 5 bytes, expected words of 4")
        good = self.file("good.txt", "19001000\n0x19001000 ")
        self.assertEqual(len(self.tessera("disasm", good, "--hex").stdout.splitlines()), 2)

    def test_absent_files(self):
        self.refused("run", "./absent.json", code=6, says="absent.json")
        self.refused("check", "absent.json", code=6, says="absent.json")

    def test_outputs_are_found_unwritable_before_the_run(self):
        for option in ("--json", "--memory", "--edges", "--trace"):
            self.refused("run", "tiny_matmul", "--machine", "tiny", option, "no/such/place", code=6,
                         says="no/such/place")
        self.file("file", "")
        self.refused("run", "tiny_matmul", "--machine", "tiny", "--out", "file/inside", code=6,
                     says="file/inside")

    def test_what_is_not_modelled(self):
        self.refused("run", "tiny_matmul", "--set", "workload.dtype=f143", code=5,
                     says="not modelled: FP8 on a machine whose chip.generation is not ipu21")

    def test_what_has_no_closed_forms_is_not_estimated(self):
        for workload, kind in (("sync", "sync"), ("mlp", "pipeline")):
            self.refused("run", workload, "--mode", "estimate", code=5,
                         says=f"{workload}: not modelled: an estimate of kind {kind}; there are "
                              "closed forms of kinds matmul and spmm")
        self.refused("run", "tiny_matmul", "--mode", "estimate", "--set", "exchange.fabric=ring",
                     code=5, says="not modelled: an estimate with exchange.fabric ring")
        self.refused("run", "tiny_matmul", "--mode", "estimate", "--machine", "gc2", code=5,
                     says="not modelled: its published plan")
        self.refused("run", "dense_4096_f16", "--mode", "estimate", "--machine", "tiny", code=4,
                     says="tessera: does not fit: matmul 4096 x 4096 x 4096: by estimate")
        self.refused("run", "tiny_matmul", "--mode", "estimate", "--trace", "t.json", code=2,
                     says="--trace: --mode estimate makes no program")

    def test_a_grid_too_large_is_refused_before_the_run(self):
        for command in ("run", "check"):
            machine = self.file("large.json", '{"schema_version": 1, "chip": {"tiles": 8130}}')
            arguments = ("tiny_matmul", "--machine",
                         "./" + machine.name) if command == "run" else (machine.name,)
            self.refused(command, *arguments, code=3,
                         says="large.json:1:41: /chip/tiles: got 8130 tiles")

    def test_full_stdout(self):
        # less and more than the buffer of the output
        for command in (["list", "machines"], ["schema", "vertex_result"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([BINARY, *command], stdout=full, stderr=subprocess.PIPE,
                                      text=True, timeout=60)
            self.assertEqual(done.returncode, 6)


class InquiriesTest(CliTest):
    """Commands that answer without simulating."""

    def test_list(self):
        self.assertIn("bow", self.tessera("list", "machines").stdout)
        self.assertIn("cora", self.tessera("list", "workloads").stdout)
        self.assertIn("runall", self.tessera("list", "instructions").stdout.split())
        self.assertIn("runall", self.tessera("list", "instructions", "--names").stdout.splitlines())
        self.assertIn("matmul", self.tessera("list", "families", "--names").stdout.splitlines())
        families = self.tessera("list", "families").stdout
        self.assertRegex(families, r"\nspmm +a, b, c +c = a b")
        self.assertRegex(families, r"\n +partials f16\|f32 +type in which")
        self.assertRegex(families, r"\nscale +x +\w.*\n +factor +\w")
        self.assertIn("tile.workers",
                      self.tessera("list", "parameters", "--names").stdout.splitlines())
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
                              env=dict(os.environ, TESSERA_CONFIGS=str(self.scratch / "mine")),
                              cwd=SOURCE)
        self.assertRegex(done.stdout, r"broken +cannot be read; see `tessera check")
        self.assertRegex(done.stdout, r"tiny +four tiles")

    def test_everything_that_is_listed_has_a_name_a_sentence_and_a_file(self):
        for kind in ("machines", "workloads", "vertices"):
            files = sorted((SOURCE / "configs" / kind).glob("*.json"))
            names = self.tessera("list", kind, "--names").stdout.splitlines()
            self.assertEqual(names, [file.stem for file in files])
            paths = [line.split()
                     for line in self.tessera("list", kind, "--paths").stdout.splitlines()]
            # a path longer than a line stands below its name
            self.assertEqual({word for line in paths for word in line},
                             set(names) | {str(file) for file in files})
            for file in files:
                text = "\n".join(line.split("//")[0] if not '"' in line.split("//")[0]
                                 else line.split(" //")[0]
                                 for line in file.read_text().splitlines())
                description = json.loads(text)["description"]
                self.assertGreater(len(description), 5, file)
                self.assertNotIn("\n", description)
                self.assertFalse(description.endswith("."), file)

    def test_no_report_has_long_lines_or_blanks_at_their_end(self):
        vertices = ["softmax_rows_half", "scaled_add"]
        for command in (["help"], ["help", "vertex"], ["list"], ["list", "instructions"],
                        ["list", "parameters"], ["list", "families"],
                        ["describe", "machine"], ["describe", "machine", "gc2"],
                        ["describe", "workload"],
                        ["describe", "workload", "cora"], *(["vertex", name] for name in vertices)):
            for line in self.tessera(*command).stdout.splitlines():
                self.assertLessEqual(len(line), 100, f"{command}: {line}")
                self.assertEqual(line, line.rstrip())

    def test_every_checked_in_file_is_valid(self):
        files = sorted((SOURCE / "configs").glob("machines/*.json")) + sorted(
            (SOURCE / "configs").glob("workloads/*.json")) + sorted((SOURCE / "configs").glob("vertices/*.json"))
        done = self.tessera("check", *files)
        self.assertEqual(sum(": ok, " in line for line in done.stdout.splitlines()), len(files))

    def test_a_file_to_check_may_have_the_name_of_another_thing(self):
        (self.scratch / "bow").write_text('{"schema_version": 1, "wings": 2}')
        done = subprocess.run([BINARY, "check", "bow"], capture_output=True, text=True,
                              cwd=self.scratch)
        self.assertEqual(done.returncode, 3)
        self.assertIn("bow:1:23: /wings: unknown key", done.stderr)

    def test_describe(self):
        resolved = json.loads(self.tessera("describe", "machine", "tiny", "--json", "--set",
                                           "tile.workers=4").stdout)
        self.assertEqual(resolved["tile"]["workers"], 4)
        self.assertIn("--set",
                      self.tessera("describe", "machine", "tiny", "--set", "tile.workers=4").stdout)
        again = self.file("again.json", json.dumps(resolved))
        self.assertEqual(json.loads(self.tessera("describe", "machine", again, "--json").stdout),
                         resolved)
        self.assertIn("tile.workers", self.tessera("describe", "machine").stdout)
        text = self.tessera("describe", "machine", "tiny", "--set", "tile.workers=4").stdout
        self.assertRegex(text,
                         r"\ntile\.workers +4 workers +1\.\.8 +6\n(    .*\n)*?    .*docs/evidence\.md#tile.*; set at --set\n")
        self.assertRegex(text,
                         r"\nchip\.tiles +4 tiles +1\.\.\d+ +1472\n.*\n?.*set at\s+\S*tiny\.json:\d+\n")
        self.assertIn("512", self.tessera("describe", "workload", "cora").stdout)
        self.tessera("describe", "machine", "--json", code=2)

    def test_schemas_are_those_checked_in(self):
        for what in ("machine", "workload", "result", "results", "memory", "vertex",
                     "vertex_result", "calibration", "sweep", "schedule", "pattern"):
            text = self.tessera("schema", what).stdout
            self.assertEqual(text,
                             (SOURCE / "configs" / "schemas" / f"{what}.schema.json").read_text())

    def test_a_file_assembled_alone(self):
        section = (SOURCE / "docs" / "assembler.md").read_text().split("## One file alone")[1]
        self.file("copy.S", section.split("```asm\n")[1].split("```")[0])
        self.assertIn("symbol 'count_rows': not defined",
                      self.tessera("asm", "copy.S", code=3).stderr)
        command, shown = section.split("```\n$ tessera ")[1].split("```")[0].split("\n", 1)
        self.assertEqual(self.tessera(*command.split()).stdout, shown)
        document = json.loads(self.tessera("asm", "--allow-undefined", "--json", "-",
                                           "copy.S").stdout)
        self.assertEqual(document["undefined"], [{"name": "count_rows", "place": "copy.S:4:13"}])
        self.assertEqual(document["summary"]["mnemonics"]["bri"], 1)
        self.assertEqual(document["summary"]["bundles"], 1)
        self.assertEqual(document["summary"]["sections"],
                         [{"name": ".text", "code_bytes": 28, "data_bytes": 0, "padding_bytes": 0}])

    def test_help_and_version(self):
        self.assertIn("tessera run", self.tessera("help").stdout)
        self.assertIn("--trace-tiles", self.tessera("help", "run").stdout)
        for words in (["run"], ["sweep"], ["sweep", "run"]):
            for option in ("--help", "-h"):
                self.assertEqual(self.tessera(*words, option).stdout,
                                 self.tessera("help", *words).stdout)
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
        .globl long
long:   setzi $m2, 20000
1:      brnzdec $m2, 1b
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
        document = {"schema_version": 1, "sources": ["race.S"], "entry": "race",
                    "kind": "multi_worker",
                    "arrays": {"x": {"type": "u32", "length": 2}}, "state": [{"pointer": "x"}]}
        document.update(keys)
        return self.file("race.json", json.dumps(document))

    def test_report_and_json(self):
        done = self.tessera("vertex", "scaled_add", "--json", "result.json", "--fit",
                            "a + b*ceildiv(pairs, workers)")
        self.assertIn("check        y: all 96 elements as expected", done.stdout)
        result = json.loads((self.scratch / "result.json").read_text())
        self.assertEqual(len(result["points"]), 4)
        slope = result["fit"]["coefficients"][1]
        self.assertEqual(slope["name"], "b")
        self.assertAlmostEqual(slope["value"], 4 * 6)  # bundles of the loop times workers
        self.assertLess(result["fit"]["largest_residual"], 1e-6)
        of_workers = self.tessera("vertex", "scaled_add", "--json", "-", "--fit",
                                  "a + b*ceildiv(pairs, workers)",
                                  "--fit-of", "worker_cycles")
        self.assertAlmostEqual(json.loads(of_workers.stdout)["fit"]["coefficients"][0]["value"],
                               16 * 6)
        self.assertIn("largest residual", of_workers.stderr)

    def test_arrays_go_out_and_come_back(self):
        one = ["vertex", "scaled_add", "--set", "parameters.length=24"]
        self.tessera(*one, "--out", "out", "--dump", "x=x.npy")
        written = (self.scratch / "out" / "y.npy").read_bytes()
        self.assertEqual(written[:6], b"\x93NUMPY")
        self.assertIn(b"'shape': (24,)", written)
        self.assertEqual((self.scratch / "x.npy").read_bytes(),
                         (self.scratch / "out" / "x.npy").read_bytes())
        self.tessera(*one, "--expect", "out/y.npy")
        done = self.tessera(*one, "--expect", "y=x.npy", "--expect", "x.npy", "-q", code=1)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"^tessera: scaled_add: WRONG: \d+ of 24 elements of y\n$")
        done = self.tessera(*one, "--expect", "y=x.npy", code=1)
        self.assertRegex(done.stdout, r"y: WRONG: \d+ of 24 elements")
        self.assertIn("[0] got", done.stdout)
        done = self.tessera(*one, "--json", "-", "--arrays")
        self.assertEqual(len(json.loads(done.stdout)["points"][0]["arrays"]["y"]["values"]), 24)
        done = self.tessera("vertex", "scaled_add", "--set", "parameters.length=36", "--expect", "y=x.npy", code=3)
        self.assertEqual(done.stderr, "x.npy: got 24 elements, expected 36 of 'y'\n")

    def test_traces(self):
        one = ["vertex", "scaled_add", "--set", "parameters.length=24"]
        self.tessera(*one, "--konata", "k.txt", "--trace", "t.pftrace")
        self.assertTrue((self.scratch / "k.txt").read_text().startswith("Kanata\t0004\n"))
        self.assertGreater((self.scratch / "t.pftrace").stat().st_size, 1000)
        self.assertIn("expected one",
                      self.tessera("vertex", "scaled_add", "--konata", "k.txt", code=2).stderr)

    def test_arrays_that_there_are_not(self):
        for option, value in (("expect", "z.npy"), ("expect", "yy=y.npy"), ("dump", "yy=y.npy")):
            name = value.split("=")[0].removesuffix(".npy")
            hint = "" if name == "z" else "; did you mean 'y'?"
            self.assertEqual(self.tessera("vertex", "scaled_add", "--set", "parameters.length=24", f"--{option}", value, code=2).stderr,
                             f"tessera: vertex: --{option}: unknown array '{name}'{hint}\n")

    def test_machine_options(self):
        done = self.tessera("vertex", "scaled_add", "--set", "tile.workers=4", "--set",
                            "parameters.workers=4", "--set",
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
        vertex = self.vertex(sources=["data.S"], entry="entry", kind="worker",
                             include_directories=["inc"],
                             state=[{"pointer": "x"}, {"word": "symbol(table)"}],
                             defines={"COUNT": "3 + 4"},
                             expect={"x": [114, 0]})
        done = self.tessera("vertex", vertex)
        self.assertRegex(done.stdout, r"0x50000 +4 B  element  1  data")
        again = self.vertex(sources=["data.S"], entry="entry", kind="worker",
                            expect={"x": [120, 0]},
                            state=[{"pointer": "x"}, {"word": "symbol(table)"}])
        self.tessera("vertex", again, "-I", "inc", "-D", "COUNT=10")

    def test_ten_lines_are_shown_and_the_others_counted(self):
        shown = {}
        for instructions in range(6, 14):
            self.file("line.S", ".worker\n.globl line\nline:\n"
                      + "add $m0, $m0, 1\n" * instructions + "exitz $mzero\n")
            done = self.tessera("vertex", self.vertex(sources=["line.S"], entry="line",
                                                      kind="worker"), "--json", "r.json")
            lines = len(json.loads((self.scratch / "r.json").read_text())["points"][0]["lines"])
            shown[lines] = len(re.findall(r"cycles +\d+ +issues", done.stdout))
            self.assertEqual(shown[lines], min(lines, 10))
            more = re.findall(r"and (\d+) more lines; --json lists all", done.stdout)
            self.assertEqual(more, [str(lines - 10)] if lines > 10 else [])
        self.assertLessEqual({9, 10, 11}, set(shown))
        self.file("line.S",
                  ".worker\n.globl line\nline:\n" + "add $m0, $m0, 1\n" * 30 + "exitz $mzero\n")
        self.tessera("vertex", self.vertex(sources=["line.S"], entry="line", kind="worker"),
                     "--json", "r.json")
        self.assertEqual(len(json.loads((self.scratch / "r.json").read_text())["points"][0]["lines"]), 20)

    def test_a_table_of_launches_is_where_there_are_two(self):
        for launches in (1, 2, 3):
            self.file("launch.S", ".supervisor\n.globl twice\ntwice: setzi $m1, one\n" +
                      "runall $m1, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\n" * launches +
                      "br $lr\n.worker\n.align 8\none: nop\nexitz $mzero\n")
            done = self.tessera("vertex",
                                self.vertex(sources=["launch.S"], entry="twice", kind="supervisor"))
            self.assertEqual("\nlaunches " in done.stdout, launches > 1)
            self.assertEqual("the slowest of each launch" in done.stdout, launches > 1)

    def test_an_array_may_want_the_last_memory_element(self):
        memory = json.loads(self.tessera("describe", "machine", "bow", "--json").stdout)["memory"]
        elements = (memory["region0_bytes"] + memory["region1_bytes"]) // memory["element_bytes"]
        for element in (elements - 1, elements):
            vertex = self.vertex(kind="worker",
                                 arrays={"x": {"type": "u32", "length": 2, "element": element}})
            if element < elements:
                self.tessera("vertex", vertex)
            else:
                self.assertIn(f"got {element}, expected a whole number of 0..{elements - 1}",
                              self.tessera("vertex", vertex, code=3).stderr)

    def test_exit_codes(self):
        race = self.vertex()
        plain = self.tessera("vertex", race)
        self.assertEqual(plain.stderr, "")
        self.assertRegex(plain.stdout, "accesses races?;")
        done = self.tessera("vertex", race, "--lockstep", code=5)
        self.assertIn("RACE", done.stdout)
        alone = self.vertex(kind="worker")
        for lockstep in ([], ["--lockstep"]):
            self.assertEqual(self.tessera("vertex", alone, *lockstep).stderr, "")
        race = self.vertex()
        self.assertIn("race.S:", done.stdout)
        self.assertIn("race.S:", self.tessera("vertex", self.vertex(entry="crash"), code=5).stderr)
        gone = self.tessera("vertex", self.vertex(entry="gone", kind="supervisor"), code=5)
        self.assertIn("'gone': ended the phase by a branch to address 0", gone.stderr)
        endless = self.vertex(entry="loop", kind="supervisor")
        self.assertRegex(self.tessera("vertex", endless, code=5).stderr,
                         r"@ (19999999|20000000)\d: .*loop for ever")
        limited = ["--set", "tile.phase_limit_cycles=1000000"]
        self.assertRegex(self.tessera("vertex", endless, *limited, code=5).stderr,
                         r"@ (99999|100000)\d: .*within tile.phase_limit_cycles.*loop for ever")
        long = self.vertex(entry="long", kind="worker")
        self.tessera("vertex", long, "--lockstep-limit", "1000000")
        refused = self.tessera("vertex", long, "--lockstep-limit", "100000", code=5).stderr
        self.assertIn("got a phase of more than 100000 cycles", refused)
        self.assertIn("--lockstep-limit gives another", refused)
        self.tessera("vertex", long, "--lockstep-limit", "0", code=2)
        self.tessera("vertex", self.vertex(expect={"x": 7}, entry="race", kind="worker"), code=1)
        self.tessera("vertex", self.vertex(arrays={"x": {"type": "u32", "length": 160000}}), code=4)
        self.assertIn("did you mean 'race'?",
                      self.tessera("vertex", self.vertex(entry="rac"), code=3).stderr)
        self.tessera("vertex", "./absent.json", code=6)
        self.tessera("vertex", self.vertex(sources=["absent.S"]), code=6)
        self.tessera("vertex", self.vertex(), "--json", "no/such/place", code=6)
        for wrong in (["--fit", "a*b"], ["--expect", "z.npy"], ["--dump", "x"],
                      ["--fit-of", "worker_cycles"],
                      ["-D", "=3"]):
            self.tessera("vertex", self.vertex(), *wrong, code=2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], sys.argv[3]], verbosity=2)
