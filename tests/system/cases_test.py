#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Situations that users met: each folder of tests/system/cases has inputs and an expect.py.

Usage: cases_test.py BINARY SOURCE_DIRECTORY [--quick | NAME ...]

expect.py begins with a docstring that says what the user did and what should come, and has one
function check(case). `case` is a CliTest whose scratch folder holds a copy of the inputs and is the
working folder of case.tessera(...) and case.result(...).
"""

import importlib.util
import pathlib
import shutil
import sys
import unittest

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import CliTest, main, slow

CASES = pathlib.Path(__file__).resolve().parent / "cases"


def expectation(folder):
    spec = importlib.util.spec_from_file_location(f"case_{folder.name}", folder / "expect.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_of(folder):
    def test(self):
        module = expectation(folder)
        self.assertTrue(module.__doc__, "expect.py says what should come")
        shutil.copytree(folder, self.scratch, dirs_exist_ok=True)
        module.check(self)
    return test


class CasesTest(CliTest):
    maxDiff = None


# On whole chips: without --quick.
SLOW = {"a_static_product_over_its_columns", "few_addresses", "numbers_of_a_step_have_one_basis",
        "one_row_keeps_one_worker_busy"}
NAMES = set(sys.argv[3:]) - {"--quick"}
for path in sorted(CASES.iterdir()):
    if path.is_dir() and (not NAMES or path.name in NAMES):
        test = test_of(path)
        setattr(CasesTest, f"test_{path.name}", slow(test) if path.name in SLOW else test)

if __name__ == "__main__":
    main()
