#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Vertices declare the memory that their codelets use (tests/support/declared_twins.h), in every
workload of configs/, reduced.

usage: declared_test.py DECLARED_CHECK SOURCE_FOLDER [TEST ...]
"""
import os
import subprocess
import sys
import unittest

CHECK, SOURCE = sys.argv[1:3]
# what_if_test takes its program and sources from the command line as it is imported
from what_if_test import REDUCED  # noqa: E402

LONG = {"bert_base_training", "bert_layer", "bert_layer_training", "bert_large_stage",
        "dynamic_training_gradient", "gcn_2_layers", "gcn_training", "train_lamb", "train_sigmoid", "train_two_layers"}
# They run no vertices on a chip of its own.
WITHOUT_VERTICES = {"collective", "exchange_all_to_all", "exchange_broadcast", "host_read", "host_write", "link_pattern",
                    "remote_read", "remote_write", "sync"}


def faults(names, *options):
    lines = "".join(f"{name} {REDUCED[name]}\n" for name in names)
    done = subprocess.run([CHECK, *options], input=lines, capture_output=True, text=True, check=False,
                          env=dict(os.environ, TESSERA_CONFIGS=os.path.join(SOURCE, "configs")))
    if done.returncode not in (0, 1) or done.stderr:
        raise AssertionError(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout.splitlines()


class QuickTest(unittest.TestCase):
    def test_fields_say_what_codelets_read_and_write(self):
        self.assertEqual(faults(sorted(set(REDUCED) - LONG)), [])

    def test_a_field_too_few_is_noticed(self):
        """The check itself, on workloads of all kinds of memory: rows, buckets, streams, tables."""
        names = {"tiny_matmul", "tiny_spmm_b1", "streamed_triad", "streamed_layers", "topk", "stencil",
                 "spmm_dynamic_b1_4096", "softmax_training"}
        for missing in ("read", "write"):
            told = {line.partition(":")[0] for line in faults(sorted(names), "--forget", missing)}
            self.assertEqual(told, names, missing)

    def test_what_has_no_vertices_is_listed(self):
        told = {line.partition(":")[0] for line in faults(sorted(WITHOUT_VERTICES), "--forget", "write")}
        self.assertEqual(told, set())


class LongTest(unittest.TestCase):
    def test_fields_say_what_codelets_read_and_write(self):
        self.assertEqual(faults(sorted(LONG)), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
