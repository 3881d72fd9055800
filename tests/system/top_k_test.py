#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The largest elements of rows, by the program `tessera`, and their recall. Usage: top_k_test.py BINARY SOURCE_DIRECTORY"""

import csv
import json
import math
import sys
import unittest

import numpy

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import SOURCE, CliTest

REPETITIONS = 64  # of the published simulation
ALLOWED = 0.01    # beyond three standard errors


class TopKTest(CliTest):
    def values(self, rows, columns, dtype="float16", seed=1):
        """Rows of which no two elements are equal in FP32."""
        generator = numpy.random.default_rng(seed)
        drawn = numpy.array([generator.permutation(columns) / 64 for _ in range(rows)]).astype(dtype)
        name = self.scratch / f"values_{rows}_{columns}_{dtype}_{seed}.npy"
        numpy.save(name, drawn if rows > 1 else drawn[0])
        return drawn, name

    def outputs(self, *arguments):
        out = self.scratch / "out"
        self.tessera("run", *arguments, "--out", out, "-q")
        result = json.loads((out / "result.json").read_text())
        return result, {path.stem: numpy.load(path) for path in out.glob("*.npy")}

    def test_values_and_numbers_are_those_of_a_stable_sort_in_both_modes(self):
        given, name = self.values(1, 65536)
        sets = ["--set", "workload.n=65536", "--set", f"workload.values={name}"]
        result, arrays = self.outputs("topk", *sets)
        self.assertTrue(result["check"]["passed"])
        order = numpy.argsort(-given[0].astype("float32"), kind="stable")[:64]
        numpy.testing.assert_array_equal(arrays["output.indices"], order)
        numpy.testing.assert_array_equal(arrays["output.values"], given[0][order])
        for threads in (1, 2):
            timed = self.result("topk", *sets, "--mode", "timing", "--threads", threads)
            self.assertEqual(timed["cycles"], result["cycles"])

    def test_the_next_step_gathers_what_was_selected(self):
        workload = self.file("picked.json", json.dumps({
            "schema_version": 1, "kind": "pipeline",
            "tensors": {"scores": {"shape": [500]}, "table": {"shape": [500, 24]}},
            "steps": [{"family": "top_k", "inputs": ["scores"], "outputs": [None, "best"], "k": 20},
                      {"family": "gather", "inputs": ["table", "best"], "output": "rows"}]}))
        run = self.result(workload, "--set", "chip.tiles=16")
        self.assertTrue(run["check"]["passed"], run["check"])
        timed = self.result(workload, "--set", "chip.tiles=16", "--mode", "timing")
        self.assertEqual(timed["cycles"], run["cycles"])

    def test_attention_by_the_largest_components_is_that_of_numpy(self):
        length, components, r, k = 1024, 128, 32, 64  # as the workload has them
        generator = numpy.random.default_rng(3)
        query, keys, values = (generator.integers(-16, 17, shape).astype("float16") / numpy.float16(16)
                               for shape in ((components, 1), (length, components), (length, components)))
        sets = []
        for name, array in {"query": query, "keys": keys, "values": values, "keys_by_component": keys.T}.items():
            numpy.save(self.scratch / f"{name}.npy", array)
            sets += ["--set", f"workload.tensors.{name}.values={self.scratch / name}.npy"]
        result, arrays = self.outputs("sparq_attention", *sets)
        self.assertTrue(result["check"]["passed"], result["check"])
        single = [array.astype("float32") for array in (query[:, 0], keys, values)]
        best = numpy.argsort(-numpy.abs(single[0]), kind="stable")[:r]
        # sums of these products are exact in FP32, so that FP16 scores are those of the tiles
        guessed = (single[1][:, best] @ single[0][best]).astype("float16")
        chosen = numpy.argsort(-guessed.astype("float32"), kind="stable")[:k]
        scores = (single[1][chosen] @ single[0]) / math.sqrt(components)
        weights = numpy.exp(scores - scores.max())
        expected = weights @ single[2][chosen] / weights.sum()
        numpy.testing.assert_allclose(arrays["output"].reshape(-1), expected, atol=2e-3)

    def test_mistakes_are_told_at_their_keys(self):
        for wrong, told in {"k=70000": "workload.k: got 70000, expected at most 65536",
                            "kept=3": "workload.kept: got 3, expected a power of two",
                            "buckets=8": "kept: got 4 of each of 8 buckets, which are 32 elements, "
                                         "expected at least 64"}.items():
            done = self.tessera("run", "topk_bucketed", "--set", f"workload.{wrong}", code=3)
            self.assertIn(told, done.stderr)


class RecallTest(CliTest):
    def test_recall_is_the_published_one(self):
        """The mean of one's own rows and the published mean differ by three standard errors of both at most, or by 0.01."""
        told = self.scratch / "recall.json"
        self.tessera("calibrate", "--group", "top-k recall", "--check", "--json", told, "-q")
        calibration = json.loads(told.read_text())
        rows = [row for row in calibration["rows"] if row.get("group") == "top-k recall"]
        self.assertEqual(len(rows), 34)
        lines = (SOURCE / "configs" / "reference" / "measured" / "top_k_recall.csv").read_text().splitlines()
        published = {row["id"]: row for row in csv.DictReader(
            line for line in lines if not line.startswith("#"))}
        for row in rows:
            of = published[row["id"]]
            drawn = row["runs"][0]["workload"]["rows"]
            error = float(of["std"]) * math.sqrt(1 / REPETITIONS + 1 / drawn)
            with self.subTest(row["id"]):
                self.assertEqual(row["measured"], float(of["value"]))
                self.assertLessEqual(abs(row["simulated"] - row["measured"]),
                                     max(3 * error, ALLOWED))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
