#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how far `tessera run --mode estimate` is from `--mode timing`.

usage: tools/estimate_gap.py TESSERA [--update] [--quick] [FAMILY...]

Runs the products below in both modes and prints, for each and for each family, estimated cycles over
those of timing mode. Exits with 1 where a product lies outside the range that estimates tell (mean,
least and most, in sim/result/estimate_gap.h), or where a family's figures are not those. --update writes the
figures there instead; build again, raise kModelVersion (sim/result/result.h) if estimates have changed, and
run `tools/check_docs.py --update`. --quick takes a few products and holds the range alone.

A change of the cost models or of the simulator changes the figures. Products that estimates are bad at
belong in the list: the figures are for who does not know which kind his is.
"""
import argparse
import json
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "sim/result/estimate_gap.h"

# Of each: the machine if not bow, the workload, m x k x n if not its own, other parameters. `quick`
# marks those that a moment is enough for.
CUBE = "1024 1024 1024"
MATMUL = [
    ("dense_4096_f16", "", ""),
    ("dense_4096_f32", "", ""),
    ("cora_dense", "", ""),
    ("tiny_matmul", "", "quick"),
    ("tiny_matmul_f32", "", ""),
    ("tiny_matmul", "", "machine=tiny quick"),
    ("dense_4096_f16", "2048 2048 2048", ""),
    ("dense_4096_f16", CUBE, ""),
    ("dense_4096_f32", CUBE, ""),
    ("dense_4096_f16", "512 512 512", ""),
    ("dense_4096_f16", "1000 1000 1000", ""),
    ("dense_4096_f16", "256 4096 1024", ""),
    ("dense_4096_f16", "8192 512 512", ""),
    ("dense_4096_f16", "64 8192 64", ""),
    ("dense_4096_f16", "1 4096 4096", "quick"),
    ("dense_4096_f16", "5 4 31", "quick"),
    ("dense_4096_f16", "18 8 1539", "tile.workers=4"),
    ("dense_4096_f32", "300 3000 300", ""),
    ("dense_4096_f16", "2048 2048 2048", "tile.workers=4"),
    ("dense_4096_f16", "2048 2048 2048", "tile.workers=8"),
    ("dense_4096_f16", CUBE, "amp.steps_per_issue=2"),
    ("dense_4096_f16", CUBE, "chip.tiles=64 quick"),
    ("dense_4096_f16", CUBE, "chip.tiles=368 quick"),
    ("dense_4096_f16", "4096 4096 1024", "chip.tiles=736"),
    ("dense_4096_f16", "2048 2048 2048", "chip.tiles=2944"),
    ("dense_4096_f16", "2048 2048 2048", "exchange.lane_bytes=8"),
    ("dense_4096_f16", CUBE, "exchange.lane_bytes=16"),
    ("dense_4096_f16", CUBE, "exchange.pair_double=false"),
    ("dense_4096_f16", CUBE, "exchange.fabric=bound"),
    ("dense_4096_f32", CUBE, "machine=gc2"),
    ("dense_4096_f16", "2048 2048 2048", "memory.region1_bytes=65536"),
]
SPMM = [
    ("spmm_static_b16_4096", "", ""),
    ("spmm_static_b1_4096", "", ""),
    ("cora", "", ""),
    ("cora", "", "workload.n=64"),
    # few lines of the dense operand, each wanted by tiles all over
    ("spmm_static_b1_4096", "2012 61 5", "workload.pattern.density=0.2 quick"),
    ("spmm_static_b1_4096", "866 109 19", "workload.pattern.density=0.2"),
    ("spmm_static_b1_4096", "1024 4096 1", ""),
    ("spmm_static_b1_4096", "512 512 8", ""),
    ("spmm_static_b1_4096", "609 1837 100", "workload.pattern.density=0.005"),
    ("spmm_static_b1_4096", "2503 730 7", "workload.pattern.generator=banded"),
    ("spmm_static_b16_4096", "2128 112 34", "workload.pattern.generator=banded chip.tiles=736"),
    ("spmm_static_b16_4096", "1024 1024 4", ""),
    ("spmm_static_b16_4096", "96 384 5", "chip.tiles=64 quick"),
    ("tiny_spmm_b1", "", "quick"),
    ("tiny_spmm_b16", "", "quick"),
]
for one in ("spmm_static_b16_4096", "spmm_static_b1_4096"):
    for density in ("0.01", "0.25"):
        SPMM.append((one, "2048 2048 512", f"workload.pattern.density={density}"))
    for shape, others in [
            ("1024 1024 64", ""),
            ("512 4096 256", ""),
            ("4096 512 256", ""),
            ("1024 1024 256", "workload.partials=f32"),
            ("1024 1024 256", "tile.workers=4"),
            ("1024 1024 256", "chip.tiles=64 quick"),
            ("1024 1024 256", "workload.pattern.generator=banded"),
            ("1024 1024 256", "exchange.lane_bytes=8"),
            ("1024 1024 256", "exchange.fabric=bound")]:
        SPMM.append((one, shape, others))
for block in (1, 4, 8, 16):
    for others in ("workload.partials=f32", "workload.dtype=f32 workload.partials=f32"):
        if block in (4, 8) or "dtype" in others:
            SPMM.append(("spmm_static_b16_4096", "1024 1024 256", f"workload.block={block} {others}"))
    if block in (4, 8):
        SPMM.append(("spmm_static_b16_4096", "2048 2048 256", f"workload.block={block}"))
PRODUCTS = {"matmul": MATMUL, "spmm": SPMM}


def result_of(tessera, mode, product):
    workload, shape, others = product
    command = [tessera, "run", workload, "--mode", mode, "-q", "--json", "-"]
    for name, length in zip("mkn", shape.split()):
        command += ["--set", f"workload.{name}={length}"]
    for word in others.split():
        if word.startswith("machine="):
            command += ["--machine", word.removeprefix("machine=")]
        elif word != "quick":
            command += ["--set", word]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def measured(tessera, product):
    """The ratio, and what the estimate says of its family."""
    estimate = result_of(tessera, "estimate", product)
    timing = result_of(tessera, "timing", product)
    ratio = estimate["cycles"] / timing["cycles"]
    print(f"  {ratio:5.3f}  {estimate['cycles']:9,} over {timing['cycles']:9,}  "
          f"{' '.join(word for word in product if word)}".replace(" quick", ""), flush=True)
    return ratio, estimate["estimate"]["gap"]


def figures_of(ratios):
    logarithms = [math.log(ratio) for ratio in ratios]
    return {"rows": len(ratios),
            "mean": round(math.exp(sum(logarithms) / len(ratios)), 2),
            "least": math.floor(100 * min(ratios)) / 100,
            "most": math.ceil(100 * max(ratios)) / 100}


def text_of(figures):
    return (f"{figures['rows']} products: mean {figures['mean']:.2f}, {figures['least']:.2f} to "
            f"{figures['most']:.2f}")


def write(family, figures):
    line = "EstimateGap{{\"{}\", {rows}, {mean:.2f}, {least:.2f}, {most:.2f}}},".format(family, **figures)
    old = FIGURES.read_text()
    new, count = re.subn(rf'EstimateGap\{{"{family}", .*\}},', line, old)
    assert count == 1, f"{FIGURES}: no line of {family}"
    FIGURES.write_text(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tessera", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="write the figures")
    parser.add_argument("--quick", action="store_true", help="a few products, the range alone")
    parser.add_argument("family", nargs="*", default=list(PRODUCTS))
    options = parser.parse_args()
    wrong = 0
    for family in options.family:
        print(family)
        products = [one for one in PRODUCTS[family] if not options.quick or "quick" in one[2]]
        found = [measured(options.tessera.resolve(), product) for product in products]
        figures = figures_of([ratio for ratio, _ in found])
        told = found[0][1]
        print(f"{family}: {text_of(figures)}")
        outside = sum(not told["least"] <= ratio <= told["most"] for ratio, _ in found)
        if options.update:
            write(family, figures)
        elif outside or (not options.quick and any(told[key] != figures[key] for key in figures)):
            wrong += 1
            print(f"{family}: {outside} of them outside of what estimates tell: {text_of(told)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
