#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Energy of runs: it adds up, is equal in both modes, and closes on the published figures.

usage: energy_test.py TESSERA [unittest arguments]
"""
import json
import pathlib
import subprocess
import sys
import unittest

BINARY = None
#: of FP16 products with FP16 and with FP32 partials, at chip level: Hot Chips 33; docs/evidence.md#energy
PUBLISHED_PJ_PER_FLOP = {"f16": 1.3, "f32": 1.75}
#: products of which some compute set keeps 95 % of the matrix units busy
SIZES = {"f16": {"m": 2048, "k": 16384, "n": 2048}, "f32": {"m": 2944, "k": 8192, "n": 2048}}
SYSTEMS = {"collective": "tiny4", "link_pattern": "tiny2"}


class EnergyTest(unittest.TestCase):
    def result(self, workload, machine, *more):
        done = subprocess.run([BINARY, "run", workload, "--machine", machine, "-q", "--json", "-", *more],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def test_kinds_and_steps_add_up(self):
        for workload, machine in ({"tiny_matmul": "tiny", "cora": "bow", "streamed_triad": "bow"} | SYSTEMS).items():
            with self.subTest(workload):
                result = self.result(workload, machine, "--mode", "timing")
                energy = result["energy"]
                self.assertAlmostEqual(sum(energy["by_kind"].values()) / energy["total_j"], 1)
                steps = sum(step["events_j"] + step["idle_j"] for step in energy["steps"])
                self.assertAlmostEqual((steps + energy["outside_steps_j"]) / energy["total_j"], 1)
                self.assertGreaterEqual(energy["outside_steps_j"], 0)
                self.assertAlmostEqual(energy["total_j"] / result["seconds"] / energy["mean_w"], 1)
                self.assertLess(energy["low_j"], energy["total_j"])
                self.assertLess(energy["total_j"], energy["high_j"])
                names = [step["name"] for key in ("compute_sets", "exchanges", "streams", "link_exchanges")
                         for step in result.get(key, [])]
                self.assertEqual([step["name"] for step in energy["steps"]], names)

    def test_what_takes_energy_is_equal_in_both_modes(self):
        for workload, machine in ({"tiny_matmul": "tiny", "tiny_spmm_b1": "tiny", "mlp": "bow"} | SYSTEMS).items():
            with self.subTest(workload):
                functional, timing = (self.result(workload, machine, "--mode", mode) for mode in ("functional", "timing"))
                for key in ("activity", "energy", "area"):
                    self.assertEqual(functional[key], timing[key])

    def test_messages_between_chips_and_the_board_take_energy(self):
        result = self.result("link_pattern", "tiny2", "--mode", "timing", "--set", "energy.board_w=100")
        self.assertEqual(result["activity"]["link_bytes"], sum(edge["link_bytes"] for edge in result["edges"]))
        self.assertGreater(result["energy"]["by_kind"]["links_j"], 0)
        self.assertAlmostEqual(result["energy"]["by_kind"]["board_j"], 100 * result["seconds"])

    def test_coefficients_move_no_cycle(self):
        plain, other = (self.result("tiny_matmul", "tiny", *more) for more in ([], ["--set", "energy.instruction_pj=30"]))
        self.assertEqual(other["digests"], plain["digests"])
        self.assertEqual(other["unused_parameters"], {})
        by_kind, others = plain["energy"]["by_kind"], other["energy"]["by_kind"]
        self.assertEqual([kind for kind in by_kind if by_kind[kind] != others[kind]], ["instructions_j"])
        self.assertAlmostEqual(others["instructions_j"] / by_kind["instructions_j"], 10)

    def test_the_matrix_units_close_on_the_published_energies_of_a_flop(self):
        """Closure, not evidence: the coefficients come from these two figures."""
        for partials, published in PUBLISHED_PJ_PER_FLOP.items():
            with self.subTest(partials):
                sets = [f"--set=workload.{key}={value}" for key, value in (SIZES[partials] | {"partials": partials}).items()]
                result = self.result("dense_4096_f16", "gc200", "--mode", "timing", *sets)
                steps = {step["name"]: step for step in result["energy"]["steps"] if step["kind"] == "compute_set"}
                peak = result["matrix_unit"]["macs_per_cycle"] * result["machine"]["chip"]["tiles"]
                found = []
                for one in result["compute_sets"]:
                    counts = one["counts"]["matrix_steps"]
                    macs = 64 * counts["f16v4hihov4"] + 32 * counts["f16v4siso"]
                    if macs >= 0.95 * peak * one["cycles"]:
                        step = steps[one["name"]]
                        found.append(1e12 * (step["events_j"] + step["idle_j"]) / (2 * macs))
                self.assertTrue(found)
                for pj_per_flop in found:
                    self.assertAlmostEqual(pj_per_flop / published, 1, delta=0.1)


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
