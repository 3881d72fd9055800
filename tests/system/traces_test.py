# SPDX-License-Identifier: MIT
"""Traces of workloads in every format, each held to the result of its run by tools/check_trace.py.
Usage: traces_test.py BINARY SOURCE_DIRECTORY QuickTest|WholeTest"""

import csv
import json
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import SOURCE, TINY, CliTest
from what_if_test import REDUCED

FORMATS = {"perfetto": "t.pftrace.gz", "chrome": "t.json.gz", "vcd": "t.vcd.gz"}
LINKED = ["host_read", "host_write", "remote_read", "streamed_triad"]


class TracesTest(CliTest):
    def traced(self, form, *arguments, clock="cycles"):
        """The result of a run and what the checker says of its trace."""
        trace, result = self.scratch / FORMATS[form], self.scratch / "result.json"
        self.tessera("run", *arguments, "--trace", trace, "--trace-clock", clock, "--json", result, "-q")
        done = subprocess.run([sys.executable, SOURCE / "tools/check_trace.py", trace, "--result", result],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stdout}{done.stderr}")
        told = json.loads(result.read_text())
        self.assertEqual((told["trace"]["format"], told["trace"]["clock"]), (form, clock))
        return told, done.stdout

    def agree(self, *arguments, clocks=("cycles",)):
        """All formats and clocks show the same, beside what a format has no place for."""
        told = {}
        for form in FORMATS:
            for clock in clocks:
                with self.subTest(arguments=arguments, form=form, clock=clock):
                    result, summary = self.traced(form, *arguments, clock=clock)
                    lines = summary.split("\n")
                    shown = [lines[0].removeprefix(form), *lines[1:4]]
                    told.setdefault("cycles", result["cycles"])
                    told.setdefault("shown", shown)
                    self.assertEqual((result["cycles"], shown), (told["cycles"], told["shown"]))


class QuickTest(TracesTest):
    def test_tiny_workloads_in_every_format_and_clock(self):
        for workload in [*TINY, "four_tiles"]:
            self.agree(workload, "--machine", "tiny", clocks=("cycles", "machine"))

    def test_workloads_that_use_the_links(self):
        for workload in LINKED:
            sets = [word for pair in REDUCED[workload].split() for word in ("--set", pair)]
            self.agree(workload, *sets)

    def test_workloads_of_several_chips(self):
        for chips in ("tiny2", "tiny4"):
            self.agree("collective", "--machine", chips, "--set", "workload.elements=64",
                       clocks=("cycles", "machine"))
        self.agree("collective", "--machine", "tiny2", "--set", "chip.tiles=40", "--set", "workload.tiles=40")
        self.agree("link_pattern", "--machine", "tiny8", "--set", "workload.pattern=random",
                   "--set", "workload.bytes=256", "--set", "workload.repeats=3")

    def test_edges_by_time(self):
        """The file's bytes are those of the result, and its intervals lie behind each other."""
        edges, result = self.scratch / "e.csv", self.scratch / "r.json"
        self.tessera("run", "collective", "--machine", "tiny4", "--edges", edges, "--json", result, "-q")
        told = json.loads(result.read_text())
        with open(edges, newline="", encoding="utf-8") as file:
            rows = [{key: int(value) for key, value in row.items()} for row in csv.DictReader(file)]
        for edge in told["edges"]:
            of_edge = [row for row in rows if (row["from"], row["to"]) == (edge["from"], edge["to"])]
            self.assertEqual(sum(row["bytes"] for row in of_edge), edge["link_bytes"])
            self.assertEqual(sum(row["payload_bytes"] for row in of_edge), edge["bytes"])
            for before, row in zip(of_edge, of_edge[1:]):
                self.assertLessEqual(before["end_cycle"], row["begin_cycle"])
            for row in of_edge:
                self.assertLess(row["begin_cycle"], told["cycles"])
                self.assertGreater(row["bytes"], 0) # intervals in which nothing passes are left out
        self.assertGreater(len(rows), len(told["edges"]))
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--edges", edges, "-q")
        self.assertEqual(edges.read_text().count("\n"), 1)

    def test_levels_and_tiles(self):
        for level in ("machine", "tile"):
            self.agree("tiny_matmul", "--machine", "tiny", "--trace-level", level, "--trace-tiles", "1-2")

    def test_clocks_that_divide_nanoseconds_badly(self):
        for clock_hz in ("1e6", "1.0000003e9", "3e9", "1e11"):
            self.agree("four_tiles", "--machine", "tiny", "--set", f"chip.clock_hz={clock_hz}",
                       clocks=("machine",))

    def test_names_of_files_are_metadata(self):
        workload = self.file("my \"own\" $end.json",
                             (SOURCE / "configs/workloads/tiny_matmul.json").read_text())
        self.agree(str(workload), "--machine", "tiny")

    def test_a_folder_gets_perfettos_and_a_trace_elsewhere_its_own(self):
        self.tessera("run", "four_tiles", "--machine", "tiny", "--out", "out", "--trace", "t.vcd", "-q")
        self.assertTrue((self.scratch / "t.vcd").read_text().startswith("$version tessera"))
        self.assertFalse((self.scratch / "out/trace.pftrace.gz").exists())
        self.tessera("run", "four_tiles", "--machine", "tiny", "--out", "out", "--trace-clock", "machine",
                     "-q")
        told = json.loads((self.scratch / "out/result.json").read_text())["trace"]
        self.assertEqual((told["format"], told["clock"]), ("perfetto", "machine"))

    def test_what_cannot_be_written_is_told_before_the_run(self):
        for name in ("t.json", "t.vcd.gz"):
            done = self.tessera("run", "four_tiles", "--machine", "tiny", "--trace", f"no/{name}", code=6)
            self.assertIn(f"no/{name}: cannot be written: No such file or directory", done.stderr)

    def test_instructions_of_a_vertex(self):
        for name in FORMATS.values():
            self.tessera("vertex", "scaled_add", "--set", "parameters.length=24", "--trace", name, "-q")
            done = subprocess.run([sys.executable, SOURCE / "tools/check_trace.py", self.scratch / name],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("on 9 tracks", done.stdout)


class WholeTest(TracesTest):
    def test_every_workload_in_every_format(self):
        for path in sorted((SOURCE / "configs/workloads").glob("*.json")):
            self.agree(path.stem, "--no-check")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], sys.argv[3]], verbosity=2)
