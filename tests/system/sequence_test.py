#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sequences of patterns on the command line: folders of files, regrowth by gradients, and the program
that stays the same.

Usage: sequence_test.py BINARY SOURCE_DIRECTORY
"""

import json
import unittest

from cli_case import CliTest

ROWS, COLUMNS, BATCH, BLOCK = 64, 96, 32, 8
MACHINE = ("--set", "chip.tiles=16")
ENDINGS = ("mtx", "npz", "smtx", "npy", "mtx.gz")
LAYER = {"x": {"shape": [COLUMNS, BATCH]}, "dy": {"shape": [ROWS, BATCH]}}
PASSES = [{"next": "w"},
          {"family": "spmm", "inputs": ["w", "x"], "output": "y"},
          {"family": "spmm", "inputs": ["w", "dy"], "transpose_a": True, "output": "dx"},
          {"family": "sddmm", "inputs": ["w", "dy", "x"], "output": "dw"},
          {"family": "add", "name": "new_w", "inputs": ["w", "dw"], "output": "w"}]
# What regrows by gradient: norms of the blocks of the dense gradient, to the host.
NORMS = {"norms": {"shape": [1, ROWS // BLOCK, COLUMNS // BLOCK], "type": "f32", "place": "host"}}
GRADIENT = [{"family": "matmul", "inputs": ["dy", "x"], "transpose_b": True, "output": "gradient"},
            {"family": "block_norms", "inputs": ["gradient"], "block": BLOCK, "output": "of_blocks"},
            {"store": "of_blocks", "into": "norms", "row_a_round": 0}]


class SequenceTest(CliTest):
    def workload(self, rounds, w, tensors=None, steps=()):
        return self.file("training.json", json.dumps({
            "schema_version": 1, "kind": "pipeline",
            "tensors": {"w": {"block": BLOCK, "mode": "dynamic", **w}, **LAYER, **(tensors or {})},
            "steps": [{"repeat": rounds, "steps": [*PASSES, *steps]}]}))

    def schedule(self, pattern_seed=1, rounds=4, tensors=None, steps=(), more=None, **schedule):
        return self.workload(rounds, {
            "shape": [ROWS, COLUMNS],
            "pattern": {"generator": "uniform", "density": 0.25, "seed": pattern_seed},
            "sequence": {"patterns": rounds, "decay": "none", **schedule}, **(more or {})},
            tensors, steps)

    def make(self, name, density=0.25, size=(ROWS, COLUMNS), seed=1, block=BLOCK):
        (self.scratch / name).parent.mkdir(exist_ok=True)
        self.tessera("pattern", "make", "uniform", f"{size[0]}x{size[1]}", f"density={density}",
                     f"seed={seed}", "--block", block, "-o", name)

    def make_folder(self):
        for i, ending in enumerate(ENDINGS):
            self.make(f"patterns/{i}.{ending}", seed=i)
        self.file("patterns/.hidden", "no pattern")

    def folder(self, rounds=len(ENDINGS), **w):
        return self.workload(rounds, {"sequence": {"folder": "patterns"}, **w})

    def equal_in_both_modes(self, workload):
        data = self.result(workload, *MACHINE)
        self.assertTrue(data["check"]["passed"])
        counted = self.result(workload, "--mode", "timing", *MACHINE)
        for digest in ("program", "tile_cycles"):
            self.assertEqual(data["digests"][digest], counted["digests"][digest])
        self.assertEqual(data["rounds"], counted["rounds"])
        return data, counted

    def test_a_folder_has_a_pattern_for_each_round(self):
        self.make_folder()
        data, counted = self.equal_in_both_modes(self.folder())
        for result in (data, counted):
            (facts,) = result["patterns"]
            self.assertEqual(facts["patterns"], len(ENDINGS))
            self.assertFalse(facts["drawn_instead"])
        self.assertEqual(data["patterns"], counted["patterns"])
        self.assertEqual(len(data["rounds"]), len(ENDINGS))
        self.tessera("check", "./training.json")
        threads = self.result("./training.json", *MACHINE, "--threads", 3)
        self.assertEqual(threads["digests"], data["digests"])

    def test_rounds_are_in_the_order_of_names(self):
        # as many blocks a round as its number says
        for i, name in enumerate(("c.npz", "a.mtx", "b.smtx")):
            self.make(f"patterns/{name}", density=(8 * i + 8) / 96, seed=i)
        result = self.result(self.folder(3, capacity=0.5), *MACHINE)
        self.assertTrue(result["check"]["passed"])
        (facts,) = result["patterns"]
        self.assertEqual(facts["patterns"], 3)
        orders = [self.tessera("pattern", "show", f"patterns/{name}", "--block", BLOCK, "--json",
                               "-").stdout for name in ("a.mtx", "b.smtx", "c.npz")]
        self.assertEqual(len(set(orders)), 3)
        # no more than a pattern has can go: a has 16 blocks, b 24
        self.assertLessEqual(facts["went"][0], 16)
        self.assertGreater(facts["went"][1], 24 - 8 - 1)

    def test_mistakes_in_a_folder_name_the_file(self):
        def says(text, *command, code=3):
            self.assertIn(text, self.tessera(*command, code=code).stderr)

        check = ("check", "./training.json")
        self.folder()
        says("cannot find 'patterns'", *check, code=6)
        (self.scratch / "patterns").mkdir()
        says("/tensors/w/sequence/folder: got", *check)
        says("which is empty, expected files of patterns", *check)
        self.make_folder()
        self.tessera(*check)
        self.folder(len(ENDINGS) + 1)
        says(f"got {len(ENDINGS) + 1} rounds, expected at most as many as 'w' has patterns", *check)
        self.folder()
        self.file("patterns/9.txt", "")
        says("patterns/9.txt: the ending says no format", *check)
        (self.scratch / "patterns/9.txt").unlink()
        self.make("patterns/9.npz", size=(ROWS, COLUMNS + BLOCK))
        says(f"patterns/9.npz: got a matrix of {ROWS} x {COLUMNS + BLOCK}, expected {ROWS} x {COLUMNS}",
             *check)
        self.file("patterns/9.npz", "no archive")
        says("patterns/9.npz", *check)
        (self.scratch / "patterns/9.npz").unlink()
        self.folder(shape=[ROWS, ROWS])
        says(f"/tensors/w/shape: got {ROWS} x {ROWS}, expected {ROWS} x {COLUMNS}", *check)
        self.folder(mode="static")
        says('got a sequence of patterns, expected "mode": "dynamic" with it', *check)

    def test_what_only_a_run_finds_in_a_file_names_it_too(self):
        self.make_folder()
        self.folder()
        self.make("patterns/3.npy", density=0.9)
        done = self.tessera("run", "./training.json", "-q", *MACHINE, code=4)
        self.assertIn("patterns/3.npy: ", done.stderr)
        self.assertIn("excess", done.stderr)
        self.file("patterns/3.npy", "")
        (self.scratch / "patterns/3.npy").unlink()
        self.file("patterns/3.mtx", "%%MatrixMarket matrix coordinate real general\n"
                                    f"{ROWS} {COLUMNS} 2\n1 1 1\n")
        self.tessera("check", "./training.json")
        for mode in ("functional", "timing"):
            done = self.tessera("run", "./training.json", "-q", "--mode", mode, *MACHINE, code=3)
            self.assertIn("patterns/3.mtx", done.stderr)

    def test_blocks_that_gradients_choose_cost_cycles_in_each_round(self):
        plain = self.result(self.schedule(regrow="random"), *MACHINE)
        grown = self.schedule(tensors=NORMS, steps=GRADIENT, regrow="gradient", gradients="norms")
        result = self.result(grown, *MACHINE)
        self.assertTrue(result["check"]["passed"])
        self.assertFalse(result["patterns"][0]["drawn_instead"])
        for one, other in zip(result["rounds"], plain["rounds"], strict=True):
            names = set(one["kernels"])
            self.assertTrue({"gradient", "of_blocks", "norms"} <= names, names)
            self.assertGreater(one["cycles"], other["cycles"])
        counted = self.result(grown, "--mode", "timing", *MACHINE)
        self.assertTrue(counted["patterns"][0]["drawn_instead"])
        self.assertEqual(counted["digests"]["program"], result["digests"]["program"])

    def test_mistakes_of_gradients(self):
        def says(text):
            self.assertIn(text, self.tessera("check", "./training.json", code=3).stderr)

        self.schedule(regrow="gradient")
        says("/tensors/w/sequence/gradients: missing")
        self.schedule(tensors=NORMS, steps=GRADIENT, gradients="norms")
        says('got a tensor of norms, which "regrow": "random" does not use')
        by = {"regrow": "gradient", "gradients": "norms"}
        self.schedule(**by)
        says("unknown tensor 'norms'")
        self.schedule(tensors=NORMS, **by)
        says("no step stores into 'norms'")
        self.schedule(tensors={"norms": NORMS["norms"] | {"shape": [1, 1, 1]}}, **by)
        says(f"got 'norms' of f32 1 x 1 x 1, expected f32 1 x {ROWS // BLOCK} x {COLUMNS // BLOCK}")

    def test_state_in_the_buckets_of_a_tensor_moves_along(self):
        momentum = {"momentum": {"like": "w"}}
        steps = [{"family": "scale", "factor": 0.5, "inputs": ["momentum"], "output": "momentum"},
                 {"family": "add", "name": "of_dw", "inputs": ["momentum", "dw"],
                  "output": "momentum"}]
        self.make_folder()
        by_folder = self.workload(3, {"sequence": {"folder": "patterns"}}, momentum, steps)
        self.equal_in_both_modes(by_folder)
        drawn = {"prune": "random", "regrow": "random"}
        moved, _ = self.equal_in_both_modes(
            self.schedule(tensors=momentum, steps=steps, **drawn))
        plain, _ = self.equal_in_both_modes(self.schedule(**drawn))
        for one, other in zip(moved["rounds"], plain["rounds"], strict=True):
            self.assertGreater(one["kernels"]["next_w"], other["kernels"]["next_w"])

    def test_state_that_no_step_writes_stays_zero(self):
        steps = [{"family": "add", "name": "same", "inputs": ["m", "dw"], "output": "sum"}]
        self.equal_in_both_modes(self.schedule(tensors={"m": {"like": "w"}}, steps=steps,
                                               prune="random", regrow="random"))

    def test_mistakes_of_state(self):
        def says(text, tensors, steps=()):
            self.schedule(tensors=tensors, steps=steps)
            self.assertIn(text, self.tessera("check", "./training.json", code=3).stderr)

        wanted = "expected a tensor with \"mode\": \"dynamic\" and a sequence"
        says(f"/tensors/m/like: got 'v', {wanted}", {"m": {"like": "v"}})
        says(f"/tensors/m/like: got 'x', {wanted}", {"m": {"like": "x"}})
        says("/tensors/m/like: got 'n'", {"m": {"like": "n"}, "n": {"like": "w"}})
        for key, value in (("sequence", {"patterns": 2}), ("sequence", {"folder": "patterns"}),
                           ("type", "f16"), ("shape", [ROWS, COLUMNS]),
                           ("pattern", {"generator": "uniform", "density": 0.25})):
            says(f"/tensors/m/{key}: does not go with 'like'", {"m": {"like": "w", key: value}})
        for other in ("m", "x"):  # no sequence
            says(f"/tensors/m/like: got '{other}', {wanted}", {"m": {"like": other}})
        says("/tensors/m/like: ", {"m": {"like": 3}})
        says("did you mean 'norms'?", {"m": {"like": "norm"}, **NORMS})
        says("/tensors/m: no step reads it", {"m": {"like": "w"}})
        says("got 'm', which is in the buckets of 'w', expected that one", {"m": {"like": "w"}},
             [{"family": "spmm", "inputs": ["m", "x"], "output": "z"}])

    def test_another_seed_has_the_same_program_and_another_capacity_another(self):
        first = self.result(self.schedule(), *MACHINE)
        other = self.result(self.schedule(pattern_seed=2, seed=3), *MACHINE)
        self.assertEqual(first["digests"]["program"], other["digests"]["program"])
        self.assertNotEqual(first["digests"]["output"], other["digests"]["output"])
        wide = self.result(self.schedule(more={"capacity": 0.5}), *MACHINE)
        self.assertNotEqual(first["digests"]["program"], wide["digests"]["program"])


if __name__ == "__main__":
    unittest.main(argv=["sequence_test.py"])
