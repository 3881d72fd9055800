#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings: their sums are the result's, in both modes and for any number of threads.

usage: recording_test.py TESSERA [--all] [unittest arguments]
"""
import gzip
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = None
EVERY = False
SOME = ["tiny_matmul", "cora", "mlp", "sync", "update_loop", "streamed_triad", "converge", "exchange_broadcast", "host_read"]
#: in functional mode these take minutes
LONG = {"bert_layer", "bert_base_training", "bert_large_attention", "bert_large_feed_forward", "bert_layer_training", "dynamic_training", "dynamic_training_gradient",
        "streamed_layers_ahead", "streamed_layers", "gpt2_block", "gpt2_attention", "streamed_sparq_attention"}
OF_CHIPS = {"collective", "link_pattern"}
LISTS = {"compute_set": "compute_sets", "exchange": "exchanges", "stream": "streams", "link_exchange": "link_exchanges"}
KINDS = ("compute", "exchange", "sync", "stream", "link", "idle")
NO_PART = 2**32 - 1


class Recording:
    """A recording as numpy arrays."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if data[:8] != b"TSRECORD":
            raise ValueError("no recording")
        length, = struct.unpack("<I", data[8:12])
        self.header = json.loads(data[12:12 + length])
        self.arrays = data[12 + length:]
        self.tiles = self.header["tiles"]

    def numbers(self, place, count):
        if isinstance(place, int):
            return numpy.full(count, place)
        kind = {"u32": "<u4", "f64": "<f8"}[place["type"]]
        return numpy.frombuffer(self.arrays, kind, count, place["offset"])

    def steps(self):
        for step in self.header["steps"]:
            yield step, {name: self.numbers(place, self.tiles).astype(numpy.float64)
                         for name, place in step["columns"].items()}

    def events(self, what):
        events = self.header[what]
        return {name: self.numbers(place, events["count"]).astype(numpy.float64)
                for name, place in events.items() if isinstance(place, dict)}


class RecordingTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.scratch)

    def tessera(self, *arguments, code=0):
        done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, cwd=self.scratch)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def recorded(self, workload, mode, threads, *more):
        machine = ["--machine", "tiny4"] if workload in OF_CHIPS else ["--machine", "tiny"] if "tiny" in workload else []
        self.tessera("run", workload, *machine, "--mode", mode, "--threads", str(threads), "--json", "r.json", "-q", "--no-check",
                     "--record", "r.bin", *more)
        return json.loads((self.scratch / "r.json").read_text()), Recording(self.scratch / "r.bin")

    def check_sums(self, result, recording):
        header = recording.header
        self.assertEqual(header["cycles"], result["cycles"])
        self.assertEqual(header["tiles"], result["machine"]["chip"]["tiles"])
        kinds = {kind: recording.numbers(header["tiles_by_kind"][kind], recording.tiles) for kind in KINDS}
        self.assertTrue((sum(kinds.values()) == result["cycles"]).all())
        for step, columns in recording.steps():
            told = result[LISTS[step["kind"]]][step["index"]]
            self.assertEqual((step["name"], step["executions"]), (told["name"], told["executions"]))
            cycles = columns["cycles"]
            for key, of in (("min", numpy.min), ("max", numpy.max), ("mean", numpy.mean)):
                self.assertAlmostEqual(of(cycles), told["tile_cycles"][key], msg=step)
            if "begin" not in columns:
                self.assertEqual(cycles.max(), 0)
                continue
            part = columns["begin"] != NO_PART
            self.assertFalse(cycles[~part].any())
            if step["kind"] == "compute_set":
                self.assertEqual(columns["issues"].sum(), sum(told["counts"]["worker_issues"].values()))
                self.assertEqual(columns["matrix_steps"].sum(), sum(told["counts"]["matrix_steps"].values()))
            if step["kind"] == "exchange":
                self.assertLessEqual(columns["received"].max(), cycles.max())
            if "most" in columns:
                for name in ("first", "last", "slowest"):
                    self.assertTrue((columns[name][part] >= columns["least"][part]).all(), (step, name))
                    self.assertTrue((columns[name][part] <= columns["most"][part]).all(), (step, name))
                self.assertTrue((cycles <= columns["most"] * step["executions"]).all())
            elif step["kind"] == "compute_set":
                self.assertEqual(columns["begin"][part].min(), 0)
        releases = recording.events("releases")
        self.assertTrue((releases["last_arrival"] <= releases["cycle"]).all())
        self.assertTrue((releases["cycle"][:-1] <= releases["last_arrival"][1:]).all())
        executions = recording.events("executions")
        self.assertTrue((executions["begin"] <= executions["end"]).all())
        self.assertLessEqual(executions["end"].max(initial=0), result["cycles"])
        counts = numpy.bincount(executions["step"].astype(int), executions["times"], len(header["steps"]))
        if header["executions"]["left_out"] == 0:
            for number, step in enumerate(header["steps"]):
                if step["kind"] == "compute_set":
                    self.assertEqual(counts[number], step["executions"])

    def check_equal(self, one, other):
        for (step, columns), (_, others) in zip(one.steps(), other.steps(), strict=True):
            for name in columns:
                numpy.testing.assert_array_equal(columns[name], others[name], f"{step['name']}: {name}")

    def test_sums_are_the_results_in_both_modes_and_for_any_number_of_threads(self):
        names = sorted(path.stem for path in (ROOT / "configs/workloads").glob("*.json")) if EVERY else SOME
        for name in names:
            with self.subTest(name):
                first = None
                for mode in ("timing", "functional"):
                    if mode == "functional" and name in LONG:
                        continue
                    for threads in (1, 3):
                        result, recording = self.recorded(name, mode, threads)
                        self.check_sums(result, recording)
                        if first is not None:
                            self.check_equal(first, recording)
                        first = first or recording

    def test_a_loop_has_what_differs_between_its_rounds(self):
        _, recording = self.recorded("update_loop", "functional", 1)
        repeated = [(step, columns) for step, columns in recording.steps() if step["executions"] > 1]
        self.assertTrue(repeated)
        for step, columns in repeated:
            part = columns["begin"] != NO_PART
            cycles, times = columns["cycles"][part], step["executions"]
            self.assertTrue((times * columns["least"][part] <= cycles).all(), step)
            self.assertTrue((cycles <= times * columns["most"][part]).all(), step)
            alike = columns["least"][part] == columns["most"][part]
            numpy.testing.assert_array_equal(cycles[alike], times * columns["first"][part][alike])

    def test_what_is_asked_wrongly_is_told(self):
        done = self.tessera("run", "tiny_matmul", "--machine", "tiny", "--record", "no/such/r.bin", code=6)
        self.assertIn("no/such", done.stderr)
        done = self.tessera("run", "tiny_matmul", "cora", "--record", "r.bin", code=2)
        self.assertIn("--record: got several workloads, expected one a recording", done.stderr)
        done = self.tessera("run", "dense_4096_f16", "--mode", "estimate", "--record", "r.bin", code=2)
        self.assertIn("--mode estimate makes no program", done.stderr)
        self.assertEqual(list(self.scratch.iterdir()), [])


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    if "--all" in sys.argv:
        sys.argv.remove("--all")
        EVERY = True
    unittest.main()
