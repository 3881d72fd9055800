#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows of tensors in streaming memory that words on the tiles name, and attention by them, by the program `tessera`.
Usage: remote_rows_test.py BINARY SOURCE_DIRECTORY"""

import json
import math
import sys
import unittest

import numpy

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import CliTest


def table_file(place="remote", groups=3, rows=40, columns=24, k=5, **more):
    """A pipeline that gathers the rows of the largest scores."""
    table = {"shape": [groups, rows, columns]} | ({"place": place} if place != "tiles" else {})
    return {"schema_version": 1, "kind": "pipeline",
            "tensors": {"scores": {"shape": [groups, 1, rows]}, "table": table},
            "steps": [{"family": "top_k", "inputs": ["scores"], "outputs": [None, "best"], "k": k},
                      {"family": "gather", "inputs": ["table", "best"], "output": "picked"}]} | more


class RemoteRowsTest(CliTest):
    def workload(self, made):
        return self.file("made.json", json.dumps(made))

    def outputs(self, *arguments):
        out = self.scratch / "out"
        self.tessera("run", *arguments, "--out", out, "-q")
        result = json.loads((out / "result.json").read_text())
        self.assertTrue(result["check"]["passed"], result["check"])
        return result, {path.stem: numpy.load(path) for path in out.glob("*.npy")}

    def given(self, **arrays):
        """Sets that give tensors these values."""
        sets = []
        for name, array in arrays.items():
            numpy.save(self.scratch / f"{name}.npy", array)
            sets += ["--set", f"workload.tensors.{name}.values={self.scratch / name}.npy"]
        return sets

    def check_modes(self, cycles, *arguments):
        for threads in (1, 2):
            timed = self.result(*arguments, "--mode", "timing", "--threads", threads)
            self.assertEqual(timed["cycles"], cycles)

    def test_rows_are_those_of_numpy_from_each_of_several_tables(self):
        generator = numpy.random.default_rng(2)
        for groups, rows, columns, k in ((1, 9, 2, 3), (3, 40, 24, 5), (2, 12, 3000, 12), (5, 700, 128, 64)):
            with self.subTest(groups=groups, rows=rows, columns=columns, k=k):
                file = self.workload(table_file(groups=groups, rows=rows, columns=columns, k=k))
                scores = numpy.array([generator.permutation(rows) for _ in range(groups)]).astype("float16")
                table = generator.integers(-99, 99, (groups, rows, columns)).astype("float16")
                sets = ["--set", "chip.tiles=12", *self.given(scores=scores.reshape(groups, 1, rows), table=table)]
                result, arrays = self.outputs(file, *sets)
                best = numpy.argsort(-scores, axis=1)[:, :k]
                numpy.testing.assert_array_equal(arrays["output"], numpy.take_along_axis(table, best[:, :, None], 1))
                self.check_modes(result["cycles"], file, *sets)

    def test_copies_beyond_the_limit_of_one_are_several(self):
        file = self.workload(table_file(groups=2, rows=30, columns=64, k=20))
        sets = ["--set", "chip.tiles=12"]
        one, _ = self.outputs(file, *sets)
        sets += ["--set", f"streaming.copy_limit_bytes={10 * 64 * 2}"]
        four, _ = self.outputs(file, *sets)
        streams = [result["streams"] for result in (one, four)]
        self.assertEqual([len(copies) for copies in streams], [1, 4])
        self.assertEqual(*(sum(copy["bytes"] for copy in copies) for copies in streams))
        self.check_modes(four["cycles"], file, *sets)

    def test_a_loop_stores_into_a_table_and_loads_and_gathers_from_it(self):
        made = table_file(groups=2, rows=8, columns=16, k=3)
        made["tensors"]["x"] = {"shape": [8, 16]}
        made["steps"] = [made["steps"][0],
                         {"repeat": 2, "steps": [
                             {"load": "table", "output": "rows"},
                             {"name": "more", "family": "add", "inputs": ["rows", "x"], "output": "sum"},
                             {"name": "keep", "store": "sum", "into": "table"}]},
                         made["steps"][1]]
        file = self.workload(made)
        sets = ["--set", "chip.tiles=4"]
        result, _ = self.outputs(file, *sets)
        self.check_modes(result["cycles"], file, *sets)

    def test_a_number_that_names_no_row_stops_the_run(self):
        file = self.workload({
            "schema_version": 1, "kind": "pipeline",
            "tensors": {"ids": {"shape": [4], "type": "u32"}, "table": {"shape": [9, 4], "place": "remote"}},
            "steps": [{"name": "pick", "family": "gather", "inputs": ["table", "ids"], "output": "y"}]})
        sets = ["--set", "chip.tiles=4", *self.given(ids=numpy.array([0, 8, 9, 1], "uint32"))]
        done = self.tessera("run", file, *sets, code=5)
        self.assertRegex(done.stderr, r"stream copy pick: got number 9 for row 2 of it at tile_\d+, 0x[0-9a-f]+, "
                                      r"expected 0 to 8: rows of table")
        self.tessera("run", file, *sets, "--mode", "timing")

    def test_mistakes_are_told_where_they_are(self):
        host = table_file("host")
        odd = table_file(columns=3)
        branch = table_file()
        branch["steps"] = [branch["steps"][0], {"parallel": [
            {"tiles": 2, "steps": branch["steps"][1:]},
            {"tiles": 2, "steps": [{"family": "relu", "inputs": ["scores"], "output": "z"}]}]}]
        shares = table_file()
        shares["tensors"]["table"]["shape"] = [4, 40, 24]
        for made, told in ((host, "'table', which is outside the tiles, expected one on them"),
                           (odd, "got rows of 6 bytes, expected whole words of 4 bytes"),
                           (branch, "gather from streaming memory inside a branch of parallel is not supported yet"),
                           (shares, "ids: got 3 x 1 x 5, expected row numbers for each of 4 tables")):
            done = self.tessera("check", self.workload(made), code=3)
            self.assertIn(told, done.stderr + done.stdout)


class AttentionTest(CliTest):
    outputs = RemoteRowsTest.outputs
    given = RemoteRowsTest.given
    check_modes = RemoteRowsTest.check_modes

    def tensors(self, *shape):
        """Of sixteenths, so that sums of products are exact in FP32."""
        return numpy.random.default_rng(5).integers(-16, 17, shape).astype("float16") / numpy.float16(16)

    @staticmethod
    def softmax(scores):
        weights = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True)

    def test_attention_from_streaming_memory_is_that_of_numpy(self):
        rounds, heads, length, components = 3, 4, 256, 64
        queries, keys, values = (self.tensors(rounds, heads, size, components) for size in (1, length, length))
        sets = ["--set", f"workload.sizes.rounds={rounds}", "--set", f"workload.sizes.heads={heads}",
                "--set", f"workload.sizes.length={length}", "--set", f"workload.sizes.components={components}",
                "--set", "chip.tiles=64"]
        result, arrays = self.outputs("streamed_attention", *sets,
                                      *self.given(queries=queries, keys=keys, values=values))
        single = [array.astype("float32") for array in (queries, keys, values)]
        weights = self.softmax(single[0] @ single[1].swapaxes(-1, -2) / math.sqrt(components))
        means = next(iter(arrays.values()))
        numpy.testing.assert_allclose(means.reshape(rounds, heads, 1, components), weights @ single[2], atol=2e-3)
        self.check_modes(result["cycles"], "streamed_attention", *sets)

    def test_sparse_attention_from_streaming_memory_is_that_of_numpy(self):
        heads, length, components, r, k = 3, 1024, 128, 16, 64
        query, keys, values = self.tensors(heads, components, 1), *(self.tensors(heads, length, components)
                                                                    for _ in range(2))
        values = values[:, ::-1]  # other ones than the keys
        sets = ["--set", f"workload.sizes.heads={heads}"]
        named = self.given(query=query, keys=keys, values=numpy.ascontiguousarray(values),
                           keys_by_component=numpy.ascontiguousarray(keys.swapaxes(1, 2)))
        result, arrays = self.outputs("streamed_sparq_attention", *sets, *named)
        self.check_modes(result["cycles"], "streamed_sparq_attention", *sets)
        for head in range(heads):
            one, all_keys, all_values = (array[head].astype("float32") for array in (query, keys, values))
            best = numpy.argsort(-numpy.abs(one[:, 0]), kind="stable")[:r]
            # sums of these products are exact in FP32, so that FP16 scores are those of the tiles
            guessed = (all_keys[:, best] @ one[best, 0]).astype("float16")
            chosen = numpy.argsort(-guessed.astype("float32"), kind="stable")[:k]  # of ties the lower number
            weights = self.softmax(all_keys[chosen] @ one[:, 0] / math.sqrt(components))
            numpy.testing.assert_allclose(arrays["output"][head].reshape(-1), weights @ all_values[chosen], atol=2e-3)

    def test_sparse_attention_over_65536_keys_runs_in_timing_mode(self):
        sets = ["--set", "workload.sizes.length=65536", "--mode", "timing"]
        result = self.result("streamed_sparq_attention", *sets)
        streams = {copy["name"]: copy for copy in result["streams"]}
        sizes = {"pick_columns": 16 * 65536 * 2, "pick_keys": 64 * 128 * 2, "pick_values": 64 * 128 * 2}
        self.assertEqual({name: copy["bytes"] for name, copy in streams.items()},
                         {name: 32 * bytes_a_head for name, bytes_a_head in sizes.items()})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
