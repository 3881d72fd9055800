#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`fastest` is the least of all that there is: random products, in timing mode, beside other ways to the same result.

usage: fastest_test.py TESSERA PROJECT_DIRECTORY [PROBLEMS [SEED]]
"""

import concurrent.futures
import json
import math
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True # no folder among the sources
ARGUMENTS = sys.argv[3:]
from cli_case import CliTest

PROCESSES = min(2, os.cpu_count() or 1)
PROBLEMS = int(ARGUMENTS[0]) if ARGUMENTS else 300
SEED = int(ARGUMENTS[1]) if len(ARGUMENTS) > 1 else 1
DOES_NOT_FIT = 4
# What `fastest` may take more than another way: in nearly all problems, and at most.
MORE, SHARE_WITH_MORE, MOST = 0.05, 0.02, 0.15
# What some of the entries may take more than all of them.
SUBSET = 0.1


def size(random, low, high):
    """Even likely in every power of two."""
    return int(round(2 ** random.uniform(math.log2(low), math.log2(high))))


class Problems:
    """Random products, the same ones for a seed, and the other ways to the result of each."""

    def __init__(self, test, number):
        self.test = test
        self.random = random.Random(f"{SEED} {number}")
        self.number = number

    def dense(self):
        m, k, n = (size(self.random, 1, 4096) for _ in "mkn")
        dtype = self.random.choice(["f16", "f16", "f32"])
        return {"schema_version": 1, "kind": "matmul", "m": m, "k": k, "n": n, "dtype": dtype,
                "partials": dtype}

    def sparse(self):
        block = self.random.choice([1, 1, 4, 8, 16])
        m, k = (max(1, size(self.random, 64, 5000) // block) * block for _ in "mk")
        n = size(self.random, 1, 1500)
        density = 2 ** self.random.uniform(-7, -1.5)
        while m * k * density * n > 4e10 or m * k * density > 4e5 * block * block:
            density /= 2
        power = self.random.random() < 0.4
        pattern = {"generator": "power_law", "exponent": self.random.uniform(0.5, 1.5)} \
            if power else {"generator": "uniform"}
        dtype = self.random.choice(["f16", "f16", "f32"])
        return {"schema_version": 1, "kind": "spmm", "m": m, "k": k, "n": n, "block": block,
                "dtype": dtype, "partials": dtype,
                "pattern": {**pattern, "density": density, "seed": self.number}}

    def cycles(self, workload, *arguments):
        """Nothing where it does not fit."""
        name = self.test.file(f"{self.number}.json", json.dumps(workload))
        out = self.test.scratch / f"{self.number}.out.json"
        done = self.test.tessera("run", name, "--mode", "timing", "-q", "--json", out, *arguments,
                                 code=None)
        if done.returncode == DOES_NOT_FIT:
            return None
        self.test.assertEqual(done.returncode, 0, f"{workload}\n{done.stderr}")
        return json.loads(out.read_text())["cycles"]

    def halves(self, workload):
        """Both halves of the columns, one after the other. A run's cycles have its barriers and launches."""
        n = workload["n"]
        parts = [{**workload, "n": part} for part in (n // 2, n - n // 2)]
        cycles = [self.cycles(part) for part in parts]
        return None if None in cycles else sum(cycles)


def dense_ways(problems):
    problem = problems.dense()
    mirrored = {**problem, "m": problem["n"], "n": problem["m"]}
    ways = {"published": problems.cycles(problem, "--plan", "published"),
            "mirrored": problems.cycles(mirrored)}
    if problem["n"] > 1:
        ways["halves"] = problems.halves(problem)
    return problem, problems.cycles(problem), ways


def sparse_ways(problems):
    problem = problems.sparse()
    ways = {"published": problems.cycles(problem, "--plan", "published")}
    if problem["n"] > 1:
        ways["halves"] = problems.halves(problem)
    return problem, problems.cycles(problem), ways


def subset_ways(problems):
    """Single entries at random places, rows of which have unlike shares, and seven of ten of them."""
    some = problems.random
    m, k, n = size(some, 32, 2048), size(some, 32, 2048), size(some, 1, 512)
    uneven = some.uniform(0.3, 3)
    entries = {(int(m * some.random() ** uneven), some.randrange(k))
               for _ in range(size(some, 3, 30000))}
    kept = sorted(entry for entry in entries if some.random() < 0.7)

    def cycles_of(places):
        lines = "".join(f"{row + 1} {column + 1}\n" for row, column in sorted(places))
        name = problems.test.file(
            f"{problems.number}.mtx",
            f"%%MatrixMarket matrix coordinate pattern general\n{m} {k} {len(places)}\n{lines}")
        return problems.cycles({"schema_version": 1, "kind": "spmm", "m": m, "k": k, "n": n,
                                "block": 1, "pattern": {"file": str(name)}})

    return ({"m": m, "k": k, "n": n, "entries": len(entries), "kept": len(kept)},
            cycles_of(kept) if kept else 0, {"all entries": cycles_of(entries)})


class FastestTest(CliTest):
    def check(self, ways_of, more, share, most):
        def one(number):
            return ways_of(Problems(self, number))

        slower, compared = [], 0
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            for problem, cycles, ways in pool.map(one, range(PROBLEMS)):
                others = {way: other for way, other in ways.items() if other is not None}
                if cycles is None:
                    # Halves may fit where the whole does not; every other way is tried for it.
                    self.assertFalse(set(others) - {"halves"}, f"{problem} does not fit, {others}")
                    continue
                compared += 1
                for way, other in others.items():
                    if cycles > (1 + more) * other:
                        slower.append((cycles / other, way, cycles, other, problem))
        slower.sort(key=lambda one: -one[0])
        told = "\n".join(map(str, slower))
        print(f"{compared} of {PROBLEMS} compared, {len(slower)} slower\n{told}", flush=True)
        self.assertGreater(compared, PROBLEMS // 2)
        self.assertLessEqual(len(slower), share * PROBLEMS, told)
        if slower:
            self.assertLessEqual(slower[0][0], 1 + most, told)

    def test_dense(self):
        self.check(dense_ways, MORE, SHARE_WITH_MORE, MOST)

    def test_sparse(self):
        self.check(sparse_ways, MORE, SHARE_WITH_MORE, MOST)

    def test_some_of_the_entries(self):
        self.check(subset_ways, SUBSET, 0, SUBSET)


if __name__ == "__main__":
    del sys.argv[1:]
    unittest.main()
