#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What holds of every workload of configs/ when a tile's parameters change.

Usage: what_if_test.py BINARY SOURCE_DIRECTORY TEST_CLASS
"""
import functools
import json
import os
import pathlib
import subprocess
import sys
import unittest

BINARY, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()

# Each workload of configs/ on a few tiles, and what makes it small enough to run in a blink.
REDUCED = {
    "activation_gradients": "chip.tiles=4 workload.tensors.x.shape=[32,64] workload.tensors.dy.shape=[32,64]",
    "adam_update": "chip.tiles=16" + "".join(f" workload.tensors.{name}.shape=[40,50]"
                                             for name in ("weights", "gradient", "moment_1", "moment_2")),
    "attention_head": "chip.tiles=16 workload.tensors.queries.shape=[16,64] workload.tensors.keys.shape=[64,64]"
                      " workload.tensors.values.shape=[64,64]",
    "benchmark_dense": "chip.tiles=16 workload.m=256 workload.k=256 workload.n=256",
    "benchmark_static": "chip.tiles=16 workload.m=256 workload.k=256 workload.n=64",
    "attention_layer": "chip.tiles=16 workload.sizes.batch=2 workload.sizes.length=16 workload.sizes.hidden=32 workload.sizes.heads=2",
    "bert_layer": "chip.tiles=32 workload.sizes.batch=2 workload.sizes.length=16 workload.sizes.hidden=32 workload.sizes.heads=2",
    "bert_layer_training": "chip.tiles=32 workload.sizes.batch=2 workload.sizes.length=16 workload.sizes.hidden=32 workload.sizes.heads=2",
    "bert_base_training": "chip.tiles=32 workload.sizes.batch=2 workload.sizes.length=16 workload.sizes.hidden=32 workload.sizes.heads=2"
                          " workload.sizes.layers=3",
    "bert_large_stage": "chip.tiles=32 workload.sizes.batch=2 workload.sizes.length=16 workload.sizes.hidden=32 workload.sizes.heads=2"
                        " workload.sizes.layers=2",
    "masked_attention_layer": "chip.tiles=16 workload.sizes.batch=2 workload.sizes.length=16 workload.sizes.hidden=32 workload.sizes.heads=2",
    "class_ids": "chip.tiles=16 workload.tensors.logits.shape=[32,50] workload.tensors.classes.shape=[32]"
                 " workload.tensors.classes.below=50 workload.steps.0.classes=50",
    "collective": "chip.tiles=4 system.chips=4 workload.elements=1000",
    "link_pattern": "chip.tiles=4 system.chips=2",
    "converge": "chip.tiles=16 workload.tensors.a.shape=[64,64] workload.tensors.x.shape=[64,32]",
    "cora": "chip.tiles=64 workload.n=16",
    "cora_dense": "chip.tiles=64 workload.m=300 workload.k=300 workload.n=128",
    "dense_4096_f16": "chip.tiles=16 workload.m=256 workload.k=256 workload.n=256",
    "dense_4096_f32": "chip.tiles=16 workload.m=256 workload.k=256 workload.n=128",
    "dynamic_training": "chip.tiles=16 workload.tensors.w.shape=[64,96] workload.tensors.x.shape=[96,32] workload.tensors.dy.shape=[64,32]"
                        " workload.tensors.w.block=4 workload.steps.0.repeat=3",
    "cross_entropy": "chip.tiles=16 workload.tensors.logits.shape=[32,50] workload.tensors.targets.shape=[32,50]",
    "dynamic_training_gradient": "chip.tiles=16 workload.tensors.w.shape=[64,96] workload.tensors.x.shape=[96,32]"
                                 " workload.tensors.dy.shape=[64,32] workload.tensors.norms.shape=[1,16,24]"
                                 " workload.tensors.w.block=4 workload.steps.0.steps.5.block=4 workload.steps.0.repeat=3",
    "exchange_all_to_all": "chip.tiles=16 workload.tiles=16",
    "exchange_broadcast": "chip.tiles=16",
    "feed_forward": "chip.tiles=16 workload.sizes.length=8 workload.sizes.hidden=32",
    "four_tiles": "chip.tiles=4",
    "gcn_training": "chip.tiles=64 workload.train.steps=2 workload.tensors.features.shape=[2708,64] workload.tensors.weights_1.shape=[64,16]",
    "gcn_2_layers": "chip.tiles=64 workload.tensors.features.shape=[2708,64] workload.tensors.weights_1.shape=[64,16]",
    "gpt2_block": "chip.tiles=16 workload.sizes.length=16 workload.sizes.hidden=32 workload.sizes.heads=2",
    "gpt2_attention": "chip.tiles=16 workload.sizes.length=16 workload.sizes.hidden=32 workload.sizes.heads=2",
    "host_read": "chip.tiles=4",
    "host_write": "chip.tiles=4",
    "known_gather": "chip.tiles=16 workload.tensors.table.shape=[256,64] workload.tensors.ids.shape=[100]"
                    " workload.tensors.ids.below=300",
    "lamb_update": "chip.tiles=16" + "".join(f" workload.tensors.{name}.shape=[40,50]"
                                             for name in ("weights", "gradient", "moment_1", "moment_2")),
    "layer_gradients": "chip.tiles=16 workload.tensors.x.shape=[64,32] workload.tensors.weights.shape=[32,48]"
                       " workload.tensors.bias.shape=[48] workload.tensors.y_gradient.shape=[64,48]",
    "mlp": "chip.tiles=16 workload.tensors.x.shape=[32,64] workload.tensors.weights_1.shape=[64,128]"
           " workload.tensors.bias_1.shape=[128] workload.tensors.weights_2.shape=[128,64] workload.tensors.bias_2.shape=[64]",
    "own_codelet": "chip.tiles=16 workload.tensors.a.shape=[64,32] workload.tensors.b.shape=[32,48]"
                   " workload.tensors.x.shape=[64,48]",
    "own_row_dot": "chip.tiles=16 workload.tensors.features.shape=[100,16] workload.tensors.weights.shape=[16]"
                   " workload.steps.1.outputs.y.shape=[1,100]",
    "product_gradients": "chip.tiles=16 workload.tensors.x.shape=[64,32] workload.tensors.weights.shape=[32,48]"
                         " workload.tensors.y_gradient.shape=[64,48]",
    "rearrange": "chip.tiles=4 workload.rows=64 workload.columns=32",
    "reduction": "chip.tiles=4 workload.operands=500",
    "remote_read": "chip.tiles=4 workload.row_bytes=4096",
    "remote_write": "chip.tiles=4 workload.row_bytes=4096",
    "self_copy": "chip.tiles=4 workload.bytes=4096",
    "sparse_feed_forward": "chip.tiles=16 workload.sizes.length=32 workload.sizes.hidden=32",
    "sparse_training": "chip.tiles=16 workload.sizes.tokens=16 workload.sizes.hidden=32",
    "sparse_update": "chip.tiles=16 workload.tensors.matrix.shape=[256,256] workload.tensors.x.shape=[256,16]",
    "softmax_training": "chip.tiles=4" + "".join(f" workload.tensors.{name}.shape=[16,64]"
                                                 for name in ("x", "dy", "velocity")),
    "sparq_attention": "chip.tiles=16 workload.sizes.length=64 workload.sizes.components=16 workload.sizes.r=4 workload.sizes.k=8",
    "spmm_dynamic_b16_4096": "chip.tiles=16 workload.m=256 workload.k=256 workload.n=64",
    "spmm_dynamic_b1_4096": "chip.tiles=16 workload.m=256 workload.k=256 workload.n=64",
    "spmm_static_b16_4096": "chip.tiles=16 workload.m=256 workload.k=256 workload.n=64",
    "spmm_static_b1_4096": "chip.tiles=16 workload.m=256 workload.k=256 workload.n=64",
    "stencil": "chip.tiles=16 workload.width=64 workload.height=32",
    "stream_triad": "chip.tiles=4 workload.elements=16000",
    "streamed_attention": "chip.tiles=16 workload.sizes.rounds=2 workload.sizes.heads=2 workload.sizes.length=64 workload.sizes.components=16",
    "streamed_layers": "chip.tiles=4 workload.tensors.x.shape=[32,32] workload.tensors.weights.shape=[8,32,32] workload.tensors.activations.shape=[8,32,32]",
    "streamed_sparq_attention": "chip.tiles=16 workload.sizes.heads=3 workload.sizes.length=64 workload.sizes.components=16 workload.sizes.r=4 workload.sizes.k=8",
    "streamed_layers_ahead": "chip.tiles=8 workload.io_tiles=2 workload.tensors.x.shape=[32,32]"
                             " workload.tensors.weights.shape=[8,32,32] workload.tensors.activations.shape=[8,32,32]",
    "streamed_triad": "chip.tiles=16 workload.io_tiles=4 workload.elements=24576 workload.chunk_elements=64",
    "sync": "chip.tiles=4",
    "tiny_matmul": "chip.tiles=4",
    "tiny_matmul_f32": "chip.tiles=4",
    "tiny_spmm_b1": "chip.tiles=4",
    "tiny_spmm_b16": "chip.tiles=4",
    "norm_gradients": "chip.tiles=8 workload.tensors.x.shape=[24,40] workload.tensors.y_gradient.shape=[24,40]"
                      " workload.tensors.scale.shape=[40] workload.tensors.offset.shape=[40]",
    "dropout_gradients": "chip.tiles=4 workload.tensors.x.shape=[32,64] workload.tensors.y_gradient.shape=[32,64]",
    "arithmetic_gradients": "chip.tiles=4 workload.tensors.x.shape=[32,64] workload.tensors.y.shape=[32,64]"
                            " workload.tensors.loss_gradient.shape=[32,64]",
    "whole_numbers": "chip.tiles=4 workload.tensors.x.shape=[32,64] workload.tensors.y.shape=[32,64]",
    "swish_gradients": "chip.tiles=4 workload.tensors.x.shape=[32,64] workload.tensors.y_gradient.shape=[32,64]",
    "topk": "chip.tiles=16 workload.n=1000 workload.k=9",
    "topk_bucketed": "chip.tiles=16 workload.n=1000 workload.k=9 workload.buckets=10 workload.kept=2",
    "train_adam": "chip.tiles=16 workload.train.steps=2 workload.tensors.x.shape=[32,16]"
                  " workload.tensors.weights_1.shape=[16,24] workload.tensors.bias_1.shape=[24]"
                  " workload.tensors.weights_2.shape=[24,16] workload.tensors.minus_target.shape=[32,16]",
    "train_classes": "chip.tiles=16 workload.train.steps=2 workload.tensors.x.shape=[32,16]"
                     " workload.tensors.weights_1.shape=[16,24] workload.tensors.bias_1.shape=[24]"
                     " workload.tensors.weights_2.shape=[24,16] workload.tensors.targets.shape=[32,16]",
    "train_embedding": "chip.tiles=16 workload.train.steps=2 workload.tensors.table.shape=[64,32] workload.tensors.ids.shape=[20]"
                       " workload.tensors.ids.below=70 workload.tensors.target.shape=[20,32]",
    "train_lamb": "chip.tiles=16 workload.train.steps=2 workload.tensors.x.shape=[32,16]"
                  " workload.tensors.weights_1.shape=[16,24] workload.tensors.bias_1.shape=[24]"
                  " workload.tensors.weights_2.shape=[24,16] workload.tensors.target.shape=[32,16]",
    "train_sigmoid": "chip.tiles=16 workload.train.steps=2 workload.tensors.x.shape=[32,16]"
                     " workload.tensors.weights_1.shape=[16,24] workload.tensors.bias_1.shape=[24]"
                     " workload.tensors.weights_2.shape=[24,16] workload.tensors.target.shape=[32,16]",
    "train_two_layers": "chip.tiles=16 workload.train.steps=2 workload.tensors.x.shape=[32,16]"
                        " workload.tensors.weights_1.shape=[16,24] workload.tensors.bias_1.shape=[24]"
                        " workload.tensors.weights_2.shape=[24,16] workload.tensors.minus_target.shape=[32,16]",
    "update_loop": "chip.tiles=4 workload.tensors.weights.shape=[32,64] workload.tensors.change.shape=[32,64]",
    "two_side_by_side": "chip.tiles=16 workload.steps.0.parallel.0.tiles=8 workload.steps.0.parallel.1.tiles=8" +
                        "".join(f" workload.tensors.{name}.shape=[64,64]"
                                for name in ("a_1", "a_2", "b_1", "b_2")),
}
STANDARD_ROUND = 6
# Of a run: what a partition that the planner prefers may be worse than another by.
MISJUDGED = 0.02

# The roles that steps of each kind of workload have, by list of the result.
ROLES = {
    "collective": {"compute_sets": {"reduce"}, "link_exchanges": {"link"}},
    "link_pattern": {"link_exchanges": {"link"}},
    "exchange_pattern": {"exchanges": {"bring"}, "compute_sets": {"rearrange"}},
    "host_transfer": {"streams": {"stream"}},
    "matmul": {"compute_sets": {"work", "reduce"}, "exchanges": {"bring", "reduce"}},
    "memory_stream": {"compute_sets": {"work"}},
    "pipeline": {"compute_sets": {"work", "bring", "reduce", "rearrange", "control"},
                 "exchanges": {"bring", "reduce", "rearrange"}, "streams": {"stream"}},
    "rearrange": {"compute_sets": {"rearrange"}},
    "reduction": {"compute_sets": {"reduce"}, "exchanges": {"reduce"}},
    "remote_buffer": {"streams": {"stream"}},
    "self_copy": {"compute_sets": {"rearrange"}},
    "spmm": {"compute_sets": {"work", "reduce", "control"}, "exchanges": {"bring", "reduce"}},
    "stencil": {"compute_sets": {"work", "rearrange"}, "exchanges": {"bring"}},
    "streamed_triad": {"compute_sets": {"work"}, "exchanges": {"bring"}, "streams": {"stream"}},
    "sync": {},
    "top_k": {"compute_sets": {"work"}, "exchanges": {"reduce"}},
}
# What must be there in any case.
SURE_ROLES = {"matmul": {"work"}, "memory_stream": {"work"}, "pipeline": {"work"},
              "rearrange": {"rearrange"}, "reduction": {"reduce"},
              "remote_buffer": {"stream"}, "host_transfer": {"stream"}, "self_copy": {"rearrange"},
              "spmm": {"work"},
              "stencil": {"work", "bring", "rearrange"},
              "streamed_triad": {"work", "bring", "stream"},
              "exchange_pattern": {"bring"}, "collective": {"reduce"}, "link_pattern": set(), "sync": set(), "top_k": {"work"}}


@functools.cache
def run(name, sizes, *sets):
    """A result, which nobody changes: several rules look at the same run."""
    command = [str(BINARY), "run", name, "--json", "-"]
    for override in (*sizes.split(), *sets):
        command += ["--set", override]
    environment = dict(os.environ, TESSERA_CONFIGS=str(SOURCE / "configs"))
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: exit code {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


USUAL_WORKERS = 6 # of the machines here


class Rules:
    """What both sizes of workloads are held against."""

    def check_workers(self, name, sizes):
        """A worker issues once in a round however few there are, so fewer are not faster. Partitions are chosen by an
        estimate: where the choices differ, one may be a few cycles worse than the other."""
        fewer = None
        for workers in self.WORKERS:
            result = run(name, sizes, *([f"tile.workers={workers}"] if workers != USUAL_WORKERS else []))
            if fewer is not None:
                phases = sum(step["executions"] for step in fewer["compute_sets"])
                choices = [[made["plan"].get(part)
                            for part in ("parts_m", "parts_k", "parts_n", "paired", "stages")]
                           for made in (fewer, result)]
                misjudged = 0 if choices[0] == choices[1] else MISJUDGED * result["cycles"]
                with self.subTest(name=name, workers=workers):
                    self.assertGreaterEqual(fewer["cycles"],
                                            result["cycles"] - STANDARD_ROUND * phases - misjudged)
            fewer = result

    def check_steps(self, name, sizes):
        """A faster matrix unit is not slower, and no run does more than it can."""
        slower = None
        for steps in (0.5, 1, 2, 4):
            result = run(name, sizes, f"amp.steps_per_issue={steps}")
            with self.subTest(name=name, steps=steps):
                if "peak_tflops" in result:
                    self.assertLess(result["fraction_of_peak"], 1)
                    if slower:
                        self.assertAlmostEqual(result["peak_tflops"], 2 * slower["peak_tflops"])
                        self.assertEqual(result["matrix_unit"]["memory_bytes_per_cycle"],
                                         2 * slower["matrix_unit"]["memory_bytes_per_cycle"])
                if slower:
                    self.assertLessEqual(result["cycles"], slower["cycles"])
            slower = result


class ReducedTest(unittest.TestCase, Rules):
    WORKERS = (1, 2, 5, 6)

    def test_every_workload_has_a_reduced_size(self):
        names = {file.stem for file in (SOURCE / "configs" / "workloads").glob("*.json")}
        self.assertEqual(names, set(REDUCED))

    def test_fewer_workers_are_not_faster(self):
        for name, sizes in REDUCED.items():
            self.check_workers(name, sizes)

    def test_every_step_has_a_role_of_its_kind_of_workload(self):
        kinds = set()
        for name, sizes in REDUCED.items():
            result = run(name, sizes)
            kind = result["workload"]["kind"]
            kinds.add(kind)
            seen = set()
            with self.subTest(name=name):
                for steps in ("compute_sets", "exchanges", "streams", "link_exchanges"):
                    roles = {step["role"] for step in result.get(steps, [])}
                    self.assertLessEqual(roles, ROLES[kind].get(steps, set()), steps)
                    seen |= roles
                self.assertLessEqual(SURE_ROLES[kind], seen)
                parts = result["explanation"]
                for part, role in (("reduction", "reduce"), ("rearrangement", "rearrange")):
                    self.assertEqual(parts[part]["cycles"] > 0, role in seen, part)
        self.assertEqual(kinds, set(ROLES))

    def test_more_workers_than_pipeline_stages_make_the_round_longer(self):
        six = run("self_copy", REDUCED["self_copy"])["cycles"]
        eight = run("self_copy", REDUCED["self_copy"], "tile.workers=8")["cycles"]
        self.assertGreater(eight, six)
        self.assertLess(eight, six * 8 / 6)

    def test_steps_per_issue(self):
        for name in ("dense_4096_f16", "dense_4096_f32", "spmm_static_b16_4096", "tiny_spmm_b1"):
            self.check_steps(name, REDUCED[name])

    def test_memory_may_begin_anywhere(self):
        """Address 0, behind which the machine keeps its first code, included."""
        for name, sizes in REDUCED.items():
            usual = run(name, sizes)
            moved = run(name, sizes, "memory.base=0")
            with self.subTest(name=name):
                self.assertEqual(moved["cycles"], usual["cycles"])
                self.assertEqual(moved["check"], usual["check"])

    def test_kernels_divide_by_the_workers_that_there_are(self):
        environment = dict(os.environ, TESSERA_CONFIGS=str(SOURCE / "configs"))
        for name in ("unary_op_relu_half", "reduce_add_float_float", "transpose_2d_half",
                     "multi_slice_half", "zero", "scaled_add",
                     "scaled_add_mix", "conv_partial_1x1_half_half",
                     "sparse_dense_block_8x8_half_half"):
            for workers in (1, 4, 7):
                done = subprocess.run([str(BINARY), "vertex", name, "--set",
                                       f"tile.workers={workers}"],
                                      capture_output=True, text=True, check=False, env=environment)
                with self.subTest(name=name, workers=workers):
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_vertex_may_stand_at_the_start_of_a_memory_that_begins_at_0(self):
        command = [str(BINARY), "vertex", "scaled_add", "--json", "-"]
        environment = dict(os.environ, TESSERA_CONFIGS=str(SOURCE / "configs"))
        results = [json.loads(subprocess.run(command + sets, capture_output=True, text=True,
                                             check=True,
                                             env=environment).stdout)
                   for sets in ([], ["--set", "memory.base=0"])]
        for point, moved in zip(*(result["points"] for result in results)):
            self.assertEqual(point["tile_cycles"], moved["tile_cycles"])


class WholeTest(unittest.TestCase, Rules):
    WORKERS = (1, 3, 5, 6)

    def test_fewer_workers_are_not_faster(self):
        for name in REDUCED:
            self.check_workers(name, "")

    def test_steps_per_issue(self):
        for name in ("cora_dense", "dense_4096_f16", "dense_4096_f32", "spmm_static_b16_4096"):
            self.check_steps(name, "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
