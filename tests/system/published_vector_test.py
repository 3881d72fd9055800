#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Published-style vector kernels through the program: `tessera vertex` on their files.
tools/check_docs.py compares the page.

Usage: published_vector_test.py BINARY SOURCE_DIRECTORY
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


class VectorTest(unittest.TestCase):
    def test_closed_form_of_a_sum_of_partials(self):
        points = ["--set", "parameters.numPartials=4"]
        done = vertex("reduce_add_half_half", *points, "--fit", "a + b*ceildiv(outSize, 48)")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\n  b +120\n")  # 6 workers, 8 + 3 * 4 issues for 8 outputs

    def test_the_strong_function_is_applied(self):
        points = {}
        for name in ("apply_default", "apply_square"):
            done = vertex(name, "--set", "parameters.length=5", "--json", "-", "--arrays")
            self.assertEqual(done.returncode, 0, done.stderr)
            points[name] = json.loads(done.stdout)["points"]
        self.assertEqual(len(points["apply_default"]), 1)
        self.assertNotEqual(points["apply_default"], points["apply_square"])

    def test_another_seed_gives_other_numbers(self):
        done = vertex("random_bits", "--set", "parameters.seed=1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("y", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
