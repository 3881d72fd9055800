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
LONG = {"bert_layer", "bert_base_training", "bert_large_stage", "bert_layer_training", "dynamic_training", "dynamic_training_gradient",
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
        self.chip = self.header["chips"][self.header["last"]]

    def numbers(self, place, count):
        if isinstance(place, int):
            return numpy.full(count, place)
        kind = {"u32": "<u4", "f64": "<f8"}[place["type"]]
        return numpy.frombuffer(self.arrays, kind, count, place["offset"])

    def steps(self, chip=None):
        for step in (chip or self.chip)["steps"]:
            yield step, {name: self.numbers(place, self.tiles).astype(numpy.float64)
                         for name, place in step["columns"].items()}

    def events(self, what):
        events = self.chip[what]
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
        chip = recording.chip
        self.assertEqual(chip["cycles"], result["cycles"])
        self.assertEqual([one["chip"] for one in header["chips"]], list(range(result["machine"]["system"]["chips"])))
        self.assertEqual(max(one["cycles"] for one in header["chips"]), result["cycles"])
        kinds = {kind: recording.numbers(chip["tiles_by_kind"][kind], recording.tiles) for kind in KINDS}
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
                of_workers = [columns[f"issues_of_{worker}"] for worker in range(result["machine"]["tile"]["workers"])]
                numpy.testing.assert_array_equal(sum(of_workers), columns["issues"])
                self.assertEqual(columns["matrix_steps"].sum(), sum(told["counts"]["matrix_steps"].values()))
            if step["kind"] == "exchange":
                self.assertLessEqual(columns["received"].max(), cycles.max())
                self.check_pairs(step, told, recording)
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
        counts = numpy.bincount(executions["step"].astype(int), executions["times"], len(chip["steps"]))
        if chip["executions"]["left_out"] == 0:
            for number, step in enumerate(chip["steps"]):
                if step["kind"] == "compute_set":
                    self.assertEqual(counts[number], step["executions"])

    def check_pairs(self, step, told, recording):
        """Words by pairs of blocks sum to those that the exchange's receivers got; no tile's block is beyond the chip."""
        pairs = step.get("pairs", {"count": 0, "from": 0, "to": 0, "words": 0})
        of_from, to, words = (recording.numbers(pairs[name], pairs["count"]) for name in ("from", "to", "words"))
        self.assertEqual(words.sum(), told["counts"]["words"]["received"], step["name"])
        self.assertTrue((words > 0).all())
        self.assertEqual(len({*zip(of_from, to)}), pairs["count"])
        block = recording.header["block_tiles"]
        self.assertLessEqual(-(-recording.tiles // block), 46)
        for blocks in (of_from, to):
            self.assertLess(blocks.max(initial=0) * block, recording.tiles)

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
                    for threads in (1, 3) if EVERY or mode == "timing" else (3,):
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

    def test_pairs_are_the_blocks_that_send_and_receive(self):
        """Tile 0 sends 4 KiB to all others; of 64 tiles a block has two, and of the first one only tile 1 receives."""
        result, recording = self.recorded("exchange_broadcast", "timing", 1, "--set", "chip.tiles=64")
        self.check_sums(result, recording)
        self.assertEqual(recording.header["block_tiles"], 2)
        [pairs] = [step["pairs"] for step, _ in recording.steps() if step["kind"] == "exchange"]
        words = {(int(a), int(b)): int(words) for a, b, words in zip(*(
            recording.numbers(pairs[name], pairs["count"]) for name in ("from", "to", "words")))}
        self.assertEqual(words, {(0, block): (1 if block == 0 else 2) * 4096 // 4 for block in range(32)})

    def test_a_window_has_single_executions(self):
        for mode in ("functional", "timing"):
            _, whole = self.recorded("update_loop", mode, 1)
            events = whole.events("executions")
            middle = len(events["begin"]) // 2
            begin, end = events["begin"][middle], events["end"][middle]
            self.recorded("update_loop", mode, 1, "--record-window", f"{int(begin)}:{int(end)}")
            recording = Recording(self.scratch / "r.bin")
            window = recording.chip["window"]
            count = window["count"]
            self.assertEqual((window["from"], window["to"], window["left_out"]), (begin, end, 0))
            meets = (events["begin"] < end) & (events["end"] > begin)
            self.assertGreaterEqual(count, 1)
            self.assertLess(count, len(meets))
            for name in ("step", "begin", "times"):
                numpy.testing.assert_array_equal(recording.numbers(window[name], count), events[name][meets])
            tiles = recording.tiles
            of_tiles = {name: recording.numbers(window[name], count * tiles).reshape(count, tiles).astype(float)
                        for name in ("tile_begin", "tile_cycles")}
            part = of_tiles["tile_begin"] != NO_PART
            self.assertFalse(of_tiles["tile_cycles"][~part].any())
            for number in range(count):
                ends = (of_tiles["tile_begin"] + of_tiles["tile_cycles"])[number][part[number]]
                self.assertEqual(ends.max(), (events["end"] - events["begin"])[meets][number])
                self.assertEqual(of_tiles["tile_begin"][number].min(), 0)

    def test_each_chip_has_its_own(self):
        result, recording = self.recorded("collective", "timing", 1)
        chips = recording.header["chips"]
        self.assertEqual(len(chips), 4)
        for chip in chips:
            kinds = [recording.numbers(chip["tiles_by_kind"][kind], recording.tiles) for kind in KINDS]
            self.assertTrue((sum(kinds) == chip["cycles"]).all())
            self.assertTrue(any(step["kind"] == "link_exchange" for step in chip["steps"]))
        self.assertEqual([chip["cycles"] for chip in chips], [chip["cycles"] for chip in result["chips"]])
        # the first of those that end last
        self.assertGreater([chip["cycles"] for chip in chips].count(result["cycles"]), 1)
        self.assertEqual(recording.header["last"], [chip["cycles"] for chip in chips].index(result["cycles"]))

    def test_what_timing_mode_tells_is_of_all_chips(self):
        """Four chips do the same: each tile adds what comes, at addresses that it is told, as often."""
        for audited in (0, 1, 3):
            result, _ = self.recorded("collective", "timing", 1, "--audit", str(audited))
            timing, (adds,) = result["timing"], result["compute_sets"]
            self.assertEqual(timing["phases"], 4 * 4 * adds["executions"])
            self.assertEqual(timing["phases_run"] % 4, 0)
            self.assertEqual(timing["phases_run"] + timing["phases_counted"], timing["phases"])
            self.assertEqual(timing["audited_tiles"], 4 * audited)
            self.assertEqual(timing["unknown_addresses"] % timing["phases"], 0)
            self.assertGreater(timing["unknown_addresses"], 0)

    def test_a_wrong_window_is_told(self):
        for window in ("", "5", "5:", ":5", "5:5", "6:5", "-1:5", "1:2:3", "a:b", "1:99999999999999999999"):
            done = self.tessera("run", "tiny_matmul", "--machine", "tiny", "--record", "r.bin", "--record-window", window, code=2)
            self.assertIn("--record-window", done.stderr)
        done = self.tessera("run", "tiny_matmul", "--machine", "tiny", "--record-window", "0:5", code=2)
        self.assertIn("--record-window is of a recording", done.stderr)
        self.assertEqual(list(self.scratch.iterdir()), [])

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
