#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `tessera calibrate` as a user does. Usage: calibrate_test.py BINARY SOURCE_DIRECTORY"""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BINARY, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
HEADING = "id,machine,workload,metric,value,unit\n"
BARRIER = "hardware global synchronisation on chip"


class CalibrateTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def calibrate(self, *arguments, code=0):
        environment = dict(os.environ, TESSERA_CONFIGS=str(SOURCE / "configs"))
        done = subprocess.run([BINARY, "calibrate", *map(str, arguments)], capture_output=True,
                              text=True, timeout=300,
                              cwd=self.scratch, env=environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def rows(self, text):
        (self.scratch / "rows.csv").write_text(HEADING + text)
        return "--reference", self.scratch

    def test_own_rows(self):
        document = json.loads(self.calibrate("--group", "sync", "--json", "-", "--csv",
                                             "rows.csv").stdout)
        self.assertEqual([group["name"] for group in document["groups"]], ["sync"])
        for row in document["rows"]:
            self.assertEqual(row["use"], "judged")
            self.assertAlmostEqual(row["ratio"], row["simulated"] / row["measured"])
        with open(self.scratch / "rows.csv", encoding="utf-8") as file:
            self.assertEqual([row["id"] for row in csv.DictReader(file)],
                             [row["id"] for row in document["rows"]])

    def test_rows_from_elsewhere(self):
        where = self.rows(f"mine,Bow x1,{BARRIER},latency,150,cycles\nother,Bow x4,{BARRIER},latency,1,us\n"
                          "odd,Bow x1,a walk in the park,latency,1,us\n")
        text = self.calibrate(*where).stdout
        self.assertRegex(text, r"mine +cycles +150 +\d+")
        self.assertIn("1  more than one chip: other", text)
        self.assertIn("1  no micro-workload for 'a walk in the park', latency: odd", text)

    def test_mistakes_are_told_together(self):
        where = self.rows(f"a,Bow x1,{BARRIER},latency,fast,cycles\nb,Bow x1,{BARRIER},latency,1,cycle\n")
        done = self.calibrate(*where, code=3)
        self.assertEqual(done.stdout, "")
        self.assertIn("rows.csv:2:58: value: got 'fast', expected a number", done.stderr)
        self.assertIn("rows.csv:3:60: unit: got 'cycle', expected one of cycles, ms, ns, s, us",
                      done.stderr)

    def test_wrong_names(self):
        self.assertIn("did you mean 'sync'?", self.calibrate("--group", "synk", code=3).stderr)
        self.assertIn("has no .csv file",
                      self.calibrate("--reference", self.scratch, code=6).stderr)
        self.assertIn("cannot be read",
                      self.calibrate("--reference", self.scratch / "none", code=6).stderr)

    def test_no_row_is_no_answer(self):
        self.assertIn("rows.csv:1:1: no rows below the heading",
                      self.calibrate(*self.rows(""), code=3).stderr)
        (self.scratch / "rows.csv").write_bytes(b"")
        self.assertIn("rows.csv:1:1: got an empty file",
                      self.calibrate("--reference", self.scratch, code=3).stderr)
        where = self.rows(f"far,Bow x4,{BARRIER},latency,1,us\n")
        self.calibrate(*where)
        self.assertIn("no row was judged", self.calibrate(*where, "--check", code=1).stderr)

    def test_a_row_that_cannot_run_does_not_stop_the_others(self):
        (self.scratch / "rows.csv").write_text(
            "id,machine,workload,tiles,msg_bytes,metric,value,unit\n"
            "large,GC2 (16 tiles),broadcast,4,1000000,latency,1,us\n"
            "small,GC2 (16 tiles),broadcast,4,4,latency,0.09,us\n")
        text = self.calibrate("--reference", self.scratch).stdout
        self.assertRegex(text, r"large .* failed .*does not fit in tile\s+memory")
        self.assertRegex(text, r"small +us +0.09 +0\.\d+")

    def test_products_by_published_plans(self):
        (self.scratch / "rows.csv").write_text(
            "id,machine,workload,m,k,n,block,density_inv,rows,dtype,metric,value,unit\n"
            "dense,Bow,dense GEMM,512,512,64,,,,FP16,flop_rate,1,TFLOP/s\n"
            "thirds,Bow,static SpMM,256,256,16,3,4,,FP16,flop_rate,1,TFLOP/s\n"
            "faster,Bow,static SpMM vs dense,512,512,64,16,4,,FP16,speedup,2,x\n"
            'vertex,Bow,"ConvPartial1x1, [N,16]x[16,16], f16 in/out/accumulate",,,,,,48,,cycles,500,cycles\n')
        done = self.calibrate("--reference", self.scratch, "--group", "kernels", "--unexplained",
                              "--threads", "1", "--json", "rows.json")
        rows = {row["id"]: row for row in json.loads((self.scratch / "rows.json").read_text())["rows"]}
        dense = rows["dense"]
        self.assertEqual([run["mode"] for run in dense["runs"]], ["timing"])
        self.assertEqual(dense["runs"][0]["workload"]["plan"], "published")
        self.assertAlmostEqual(dense["ratio"], dense["measured"] / dense["simulated"])
        self.assertLess(dense["ratio_no_sync"], dense["ratio"])
        self.assertIn("ratio_ours", dense)
        self.assertAlmostEqual(dense["measured_cycles"], 2 * 512 * 512 * 64 * 1.85e9 / 1e12)
        self.assertEqual(rows["thirds"]["use"], "failed")
        self.assertIn("/block: got number 3", rows["thirds"]["note"])
        self.assertEqual(len(rows["faster"]["runs"]), 2)
        self.assertEqual(rows["faster"]["runs"][0], dense["runs"][0])
        self.assertEqual(rows["vertex"]["use"], "judged")
        self.assertIn("farthest off", done.stdout)
        self.assertIn("unexplained", done.stdout)

    def test_one_group_alone(self):
        (self.scratch / "other.csv").write_text("a,b\n1,2\n")
        where = self.rows(f"triad,GC2,stream triad,time,1,us\nbarrier,Bow,{BARRIER},latency,150,cycles\n"
                          f"far,Bow x4,{BARRIER},latency,1,us\n")
        document = json.loads(self.calibrate(*where, "--group", "sync", "--json", "-").stdout)
        # a row of the group that no run stands for is listed too
        self.assertEqual([(row["id"], row["use"]) for row in document["rows"]],
                         [("barrier", "judged"), ("far", "not covered")])
        self.assertEqual(document["other_files"], [])
        # what people read goes beside it, and not at all where they want to be left alone
        told = self.calibrate(*where, "--group", "sync", "--json", "-")
        self.assertIn("barrier", told.stderr)
        quiet = self.calibrate(*where, "--group", "sync", "--csv", "-", "--quiet")
        self.assertEqual(quiet.stderr, "")
        self.assertEqual(len(quiet.stdout.splitlines()), 3)
        self.assertEqual(self.calibrate(*where, "--group", "sync", "--quiet").stdout, "")

    def test_rows_of_several_chips_are_told_in_their_group(self):
        where = self.rows(f"far,Bow x4,{BARRIER},latency,1,us\n")
        for group in ["micro", "sync"]:
            text = self.calibrate(*where, "--group", group).stdout
            self.assertIn("1  more than one chip: far", text)

    def test_a_group_without_rows_is_a_mistake(self):
        where = self.rows(f"far,Bow x4,{BARRIER},latency,1,us\nnear,Bow,{BARRIER},latency,1,us\n"
                          "odd,Bow x1,a walk in the park,latency,1,us\n")
        told = self.calibrate(*where, "--group", "kernels", code=3).stderr
        self.assertIn("--group: no row is of group 'kernels'", told)
        self.assertIn("rows: 2 of 'sync', 1 of no group", told)

    def test_seeds_and_a_store(self):
        (self.scratch / "rows.csv").write_text(
            "id,machine,workload,m,k,n,block,density_inv,dtype,metric,value,unit\n"
            "drawn,Bow (64 tiles),static SpMM,256,256,16,4,16,FP16,flop_rate,1,TFLOP/s\n"
            "dense,Bow (64 tiles),dense GEMM,256,256,16,,,FP16,flop_rate,1,TFLOP/s\n")

        def rows(*arguments):
            document = json.loads(self.calibrate("--reference", self.scratch, "--json", "-", "-q",
                                                 *arguments).stdout)
            return {row["id"]: row for row in document["rows"]}

        def lines():
            return sorted(line for file in (self.scratch / "kept").iterdir()
                          for line in file.read_text().splitlines())

        one = rows("--seeds", "1", "--store", "kept")
        self.assertNotIn("of_seeds", one["drawn"])
        kept = lines()
        self.assertEqual(len(kept), 4) # two rows, each by two plans
        three = rows("--store", "kept")
        self.assertEqual(len(lines()), 6) # two further patterns
        seeds = three["drawn"]["of_seeds"]
        self.assertEqual(len(seeds), 3)
        self.assertEqual(seeds[0], one["drawn"]["simulated"])
        self.assertGreater(len(set(seeds)), 1)
        self.assertAlmostEqual(three["drawn"]["simulated"], (seeds[0] * seeds[1] * seeds[2]) ** (1 / 3))
        self.assertEqual(three["dense"], one["dense"])
        two = rows("--seeds", "2", "--store", "kept")["drawn"]
        self.assertEqual(two["of_seeds"], seeds[:2])
        self.assertAlmostEqual(two["simulated"], (seeds[0] * seeds[1]) ** 0.5)
        # what is kept is what is told
        for file in (self.scratch / "kept").iterdir():
            file.write_text(re.sub(r'"cycles":(?=\d)', '"cycles":1', file.read_text()))
        self.assertNotEqual(rows("--store", "kept")["dense"]["simulated"], one["dense"]["simulated"])
        for wrong in ["0", "101", "two"]:
            self.calibrate("--seeds", wrong, code=2)

    def test_targets_decide_the_exit_code_only_where_asked(self):
        (self.scratch / "rows.csv").write_text(
            "id,machine,workload,topology,tiles,msg_bytes,metric,value,unit\n"
            "far,GC2 x1,host to tiles,host,1,4,latency,1e-6,us\n")
        self.calibrate("--reference", self.scratch)
        missed = self.calibrate("--reference", self.scratch, "--check", code=1)
        self.assertIn("MISSED", missed.stdout)
        self.assertEqual(missed.stderr, "")
        quiet = self.calibrate("--reference", self.scratch, "--check", "--quiet", code=1)
        self.assertEqual((quiet.stdout, quiet.stderr),
                         ("", "tessera: --check: a group misses its target: see the table without --quiet\n"))

        def heading_and(*rows):
            (self.scratch / "rows.csv").write_text(
                "id,machine,workload,topology,tiles,msg_bytes,metric,value,unit,calibrates\n"
                + "".join(rows))
            return json.loads(self.calibrate("--reference", self.scratch, "--quiet",
                                             "--json", "-").stdout)["rows"][0].get("simulated")

        host = "near,GC2 x1,host to tiles,host,1,4,latency,{},us,\n"
        barrier = f"barrier,Bow x1,{BARRIER},,,,latency,150,cycles,\n"
        large = "large,GC2 (16 tiles),copy inside a tile,,,10000000,latency,1,us,\n"
        simulated = heading_and(host.format(1))
        heading_and(host.format(simulated), barrier)
        self.calibrate("--reference", self.scratch, "--check")
        heading_and(host.format(simulated),  # one that a constant was taken from judges nothing
                    "any,GC2 (16 tiles),broadcast,,4,4,latency,1,us,the fixed part\n")
        self.calibrate("--reference", self.scratch, "--check")
        heading_and(host.format(simulated), large)  # a run that fails misses its group's target
        failed = self.calibrate("--reference", self.scratch, "--check", code=1)
        self.assertEqual(failed.stderr, "")
        heading_and("far,Bow x4,broadcast,,4,4,latency,1,us,\n")
        unjudged = self.calibrate("--reference", self.scratch, "--check", code=1)
        self.assertEqual(unjudged.stderr, "--check: no row was judged by a target\n")


unittest.main(argv=[sys.argv[0]], verbosity=2)
