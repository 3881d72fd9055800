#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Published-style kernels through the program: `tessera vertex` on their files, and the tables of
docs/kernels/published.md.

Usage: published_test.py BINARY SOURCE_DIRECTORY TEST_CLASS
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

BINARY, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()


def run(*command):
    environment = dict(os.environ, TESSERA_CONFIGS=str(SOURCE / "configs"))
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def vertex(name, *options):
    return run(str(BINARY), "vertex", name, *options)


class MatrixTest(unittest.TestCase):
    def check_exact(self, name, *options):
        done = vertex(name, "--json", "-", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        points = json.loads(done.stdout)["points"]
        for point in points:
            self.assertEqual(point["races"], [])
            self.assertEqual(point["conflicts"], [])
        return points

    def test_matrix_product(self):
        points = self.check_exact("conv_partial_1x1_half_half")
        self.assertEqual(len(points), 3)

    def test_fp8_needs_the_third_generation(self):
        self.check_exact("conv_partial_1x1_quarter_half", "--set", "parameters.M_field=6", "--set",
                         "parameters.K=32",
                         "--set", "parameters.N=16")
        done = vertex("conv_partial_1x1_quarter_half", "--machine", "bow")
        self.assertNotEqual(done.returncode, 0)

    def test_closed_form_of_a_block_sparse_product(self):
        sets = ["--set", "parameters.nzBlocksPerRow=2", "--set", "parameters.rowBlocks=3"]
        done = vertex("sparse_dense_block_8x8_half_half", *sets, "--fit", "a + b*n_perWorker")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fit of tile_cycles: a + b*n_perWorker", done.stdout)


class PageTest(unittest.TestCase):
    """The page shows what the tool prints; the larger rows are left to the reader."""

    def test_matrix_tables(self):
        page = (SOURCE / "docs" / "kernels" / "published.md").read_text(encoding="utf-8").splitlines()
        done = run(sys.executable, str(SOURCE / "tools" / "published_cycles.py"), str(BINARY),
                   str(SOURCE / "configs" / "reference" / "published_matrix_kernels.json"),
                   "--most-macs", "30e3")
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = done.stdout.splitlines()
        self.assertGreater(len(printed), 60)
        for line in printed:
            self.assertIn(line, page)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
