#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every parameter of a machine at both ends of its range, alone and with others: a run gives the right
answer, or is refused by the name of a parameter or by what takes the memory.

Usage: machine_walk_test.py BINARY SOURCE_DIRECTORY TEST_CLASS
"""
import json
import math
import os
import pathlib
import random
import resource
import subprocess
import sys
import unittest

BINARY, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
ENVIRONMENT = dict(os.environ, TESSERA_CONFIGS=str(SOURCE / "configs"))

# Workloads that run in a moment on few tiles.
SMALL = {
    "dense": "tiny_matmul --machine tiny",
    "dense, published": "tiny_matmul --machine tiny --plan published",
    "sparse": "tiny_spmm_b1 --machine tiny",
    "sparse, published": "tiny_spmm_b1 --machine tiny --plan published",
    "blocks": "tiny_spmm_b16 --machine tiny",
    "pipeline": "mlp --machine tiny --set workload.tensors.x.shape=[16,32]"
                " --set workload.tensors.weights_1.shape=[32,64] --set workload.tensors.bias_1.shape=[64]"
                " --set workload.tensors.weights_2.shape=[64,32] --set workload.tensors.bias_2.shape=[32]",
    "stream": "streamed_triad --machine tiny --set workload.io_tiles=1 --set workload.elements=3072"
              " --set workload.chunk_elements=64",
}
QUICK = ("dense", "sparse", "stream")
WHOLE = {
    "dense": "dense_4096_f16",
    "dense, published": "dense_4096_f16 --plan published",
    "sparse": "spmm_static_b16_4096 --set workload.n=256",
    "sparse, published": "spmm_static_b16_4096 --set workload.n=256 --plan published",
}
# Memory as far up as addresses go, and products of which a tile has more rows, columns or non-zeros
# than its vertices' state and loops can count: they are cut, planned in another way, or refused.
LARGE = ("--set memory.base=0 --set memory.region0_bytes=262144 --set memory.region1_bytes=1835008"
         " --set exchange.pair_double=false")
MUCH = [f"tiny_matmul --set chip.tiles={tiles} --set workload.m={m} --set workload.k={k} --set workload.n={n}"
        f" --set workload.partials={partials} --plan {plan}"
        for tiles, m, k, n, partials, plan in ((1, 16, 16, 12000, "f32", "published"),
                                               (1, 16, 16, 20000, "f16", "published"),
                                               (2, 512, 512, 512, "f16", "published"),
                                               (2, 20000, 16, 16, "f32", "published"),
                                               (1, 20000, 16, 16, "f32", "fastest"))]
MUCH += [f"tiny_spmm_b1 --set chip.tiles={tiles} --set workload.m={m} --set workload.k={k} --set workload.n={n}"
         f" --set workload.block={block} --set workload.pattern.density=1 --plan {plan}"
         for tiles, block, m, k, n, plan in ((1, 4, 4, 4, 100000, "fastest"),
                                             (2, 4, 4, 4, 100000, "published"),
                                             (2, 16, 16, 16, 20000, "published"),
                                             (4, 1, 64, 8192, 4, "fastest"),
                                             (4, 1, 16, 4096, 4, "published"))]
MODES = ("functional", "timing")
OK, REFUSED, DOES_NOT_FIT = 0, 3, 4
ADDRESS_SPACE, CODE_REACH = 1 << 21, 1 << 20


def ranges():
    """By path: (lowest, highest) of a number, or all words. Runs here are of one chip, for which `system` has no use;
    `energy` and `area` move none."""
    schema = subprocess.run([BINARY, "schema", "machine"], capture_output=True, text=True, check=True).stdout
    found = {}
    for section, of_section in json.loads(schema)["properties"].items():
        for key, field in of_section.get("properties", {}).items() if section not in ("system", "energy", "area") else ():
            path = f"{section}.{key}"
            if "enum" in field:
                found[path] = field["enum"]
            elif field["type"] == "boolean":
                found[path] = ["false", "true"]
            else:
                found[path] = (field["minimum"], field["maximum"])
    return found


RANGES = ranges()


def any_value(path, chance):
    """An end of the range as likely as something between."""
    values = RANGES[path]
    if isinstance(values, list):
        return chance.choice(values)
    lowest, highest = values
    if chance.random() < 0.5:
        return chance.choice(values)
    between = math.exp(chance.uniform(math.log(max(lowest, 1e-3)), math.log(highest)))
    if not isinstance(lowest, int) or not isinstance(highest, int):
        return min(max(lowest, round(between, 3)), highest)
    whole = int(between)
    if whole > 0 and chance.random() < 0.5:
        whole = 1 << (whole.bit_length() - 1)
    return min(max(lowest, whole), highest)


def memory_map(chance):
    """A memory that the rules allow, as far up and as large as they do."""
    element = 1 << chance.randint(10, 19)
    elements = CODE_REACH // element
    region0 = element * chance.choice([1, 2, chance.randint(1, elements), elements])
    base = chance.choice([0, CODE_REACH - region0, chance.randint(0, (CODE_REACH - region0) // 16) * 16])
    pairs = (ADDRESS_SPACE - base - region0) // (2 * element)
    region1 = 2 * element * chance.choice([0, pairs, pairs, chance.randint(0, pairs)])
    return [("memory.element_bytes", element), ("memory.region0_bytes", region0),
            ("memory.region1_bytes", region1), ("memory.base", base)]


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))


class Walk(unittest.TestCase):
    def judge(self, workload, mode, values):
        command = [str(BINARY), "run", *workload.split(), "--mode", mode, "--threads", "1", "-q"]
        for path, value in values:
            command += ["--set", f"{path}={value}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT,
                              timeout=60, preexec_fn=limited)
        with self.subTest(command=" ".join(command[1:])):
            self.assertIn(done.returncode, (OK, REFUSED, DOES_NOT_FIT), done.stdout + done.stderr)
            names = [path for path, _ in values]
            if done.returncode == DOES_NOT_FIT:
                names += ["most is kept in step", "chip.tiles"]
            if done.returncode != OK:
                self.assertTrue(any(name in done.stderr for name in names), done.stderr)
        return done.returncode

    def walk_ends(self, workload, modes=MODES):
        for path, values in RANGES.items():
            for value in values:
                for mode in modes:
                    self.judge(workload, mode, [(path, value)])

    def walk_pairs(self, workload, count, seed):
        chance = random.Random(seed)
        for _ in range(count):
            paths = chance.sample(sorted(RANGES), 2)
            self.judge(workload, chance.choice(MODES), [(path, any_value(path, chance)) for path in paths])

    def walk_memories(self, workload, count, seed, modes=MODES):
        """Maps of memory, often with one parameter more."""
        chance = random.Random(seed)
        ran = 0
        for _ in range(count):
            values = memory_map(chance)
            more = chance.choice(["exchange.fabric", "chip.generation", "tile.workers", None])
            if more is not None:
                values.append((more, any_value(more, chance)))
            ran += self.judge(workload, chance.choice(modes), values) == OK
        self.assertGreater(ran, count // 4)


class QuickTest(Walk):
    def test_ends(self):
        self.walk_ends(SMALL["dense"], ["functional"])

    def test_pairs(self):
        for name in QUICK:
            self.walk_pairs(SMALL[name], 30, 1)

    def test_memories(self):
        for name in ("dense", "sparse, published"):
            self.walk_memories(SMALL[name], 15, 1)


    def test_much_work_on_a_tile(self):
        for workload in MUCH:
            for generation in ("ipu1", "ipu2"):
                self.judge(f"{workload} {LARGE}", "functional",
                           [("chip.generation", generation), ("tile.workers", 2)])


class EndsTest(Walk):
    def test_small_machines(self):
        for workload in SMALL.values():
            self.walk_ends(workload)

    def test_whole_chips(self):
        for workload in WHOLE.values():
            self.walk_ends(workload, ["timing"])


class PairsTest(Walk):
    def test_small_machines(self):
        for workload in SMALL.values():
            for seed in range(3):
                self.walk_pairs(workload, 500, seed)


class MemoriesTest(Walk):
    def test_small_machines(self):
        for workload in SMALL.values():
            self.walk_memories(workload, 150, 2)

    def test_whole_chips(self):
        for workload in WHOLE.values():
            self.walk_memories(workload, 12, 3, ["timing"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
