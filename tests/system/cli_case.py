# SPDX-License-Identifier: MIT
"""What tests of the program `tessera` share. Their arguments: BINARY SOURCE_DIRECTORY ..."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BINARY, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
TINY = ["tiny_matmul", "tiny_matmul_f32", "tiny_spmm_b1", "tiny_spmm_b16"]
# Micro-workloads, each cut down to a moment's run.
MICRO = {
    "exchange_all_to_all": ["tiles=4"],
    "exchange_broadcast": [],
    "self_copy": ["bytes=256"],
    "rearrange": ["rows=12", "cast=true"],
    "host_read": ["bytes=68"],
    "host_write": ["bytes=4"],
    "stream_triad": ["elements=80000"],
    "reduction": ["operands=20"],
    "stencil": ["width=61", "height=40", "iterations=3"],
}
KINDS = ["compute", "exchange", "sync", "stream", "idle"]


class CliTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def environment(self):
        return dict(os.environ, TESSERA_CONFIGS=str(SOURCE / "configs"))

    def tessera(self, *arguments, code=0, **options):
        done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True,
                              timeout=120,
                              cwd=self.scratch, env=self.environment(), **options)
        if code is not None:  # any is an answer
            self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def result(self, *arguments, code=0):
        done = self.tessera("run", *arguments, "--json", "-", code=code)
        return json.loads(done.stdout)

    def file(self, name, text):
        path = self.scratch / name
        path.write_text(text)
        return path


def slow(test):
    """Marks a test that takes a minute: it is left out with --quick."""
    test.is_slow = True
    return test


def tests_in(suite):
    """The single tests of a suite."""
    tests = []
    for item in suite:
        tests += tests_in(item) if isinstance(item, unittest.TestSuite) else [item]
    return tests


def main():
    """Runs the tests of the program, with --quick behind its other arguments those that are not slow."""
    tests = tests_in(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    if "--quick" in sys.argv:
        tests = [test for test in tests
                 if not hasattr(getattr(test, test._testMethodName), "is_slow")]
    result = unittest.TextTestRunner().run(unittest.TestSuite(tests))
    sys.exit(0 if result.wasSuccessful() else 1)
