#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs published-style kernels with `tessera vertex` and prints their cycles beside the published
estimates.

    tools/published_cycles.py build/release/sim/tessera [KERNELS.json] [--most-macs N]

KERNELS.json (configs/reference/published_matrix_kernels.json) lists for each vertex file the rows
of configs/reference/vertex_estimates.csv that it is compared with. Rows that do not fit in a tile
are said so. Prints Markdown.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "configs" / "reference"
WORKERS = 6
DOES_NOT_FIT = 4


def estimates():
    with open(REFERENCE / "vertex_estimates.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    for row in rows:
        words = (word.split("=", 1) for word in row["params"].split() if "=" in word)
        row["parameters"] = dict(words)
    return rows


def rows_of(kernel, rows, most_macs):
    wanted = kernel.get("estimate")
    if wanted is None:
        return [None]
    return [
        row
        for row in rows
        if row["vertex"] == wanted["vertex"]
        and row["type"] == wanted["type"]
        and all(row["parameters"].get(k) == str(v) for k, v in wanted.get("where", {}).items())
        and float(row["parameters"].get("macs", 3 * int(row["cycles"]))) <= most_macs
    ]


def measure(tessera, kernel, row):
    """Points of the result, or None where the operands do not fit."""
    command = [tessera, "vertex", kernel["spec"], "--json", "-"]
    if row is not None:
        for name in kernel["estimate"]["parameters"]:
            command += ["--set", f"parameters.{name}={row['parameters'][name]}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == DOES_NOT_FIT:
        return None
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    points = json.loads(done.stdout)["points"]
    for point in points:
        point["parameters"] = {p["name"]: p["value"] for p in point["parameters"]}
    return points


def varying(points):
    """Parameters that are not the same in all points."""
    names = points[0]["parameters"]
    return [name for name in names if len({point["parameters"][name] for point in points}) > 1]


def line(kernel, parameters, measured, estimate, unit):
    ratio = f"{measured / int(estimate):.3f}" if estimate else ""
    shown = " ".join(f"{name}={value:g}" for name, value in parameters)
    return f"| `{kernel['spec']}` | {shown} | {measured} {unit} | {estimate} | {ratio} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("tessera")
    parser.add_argument("--most-macs", type=float, default=1e6, help="leave out larger rows")
    parser.add_argument("kernels", nargs="?", default=REFERENCE / "published_matrix_kernels.json")
    options = parser.parse_args()
    kernels = json.loads(pathlib.Path(options.kernels).read_text(encoding="utf-8"))
    print("| kernel | vertex file | shows |\n| --- | --- | --- |")
    for kernel in kernels:
        print(f"| `{kernel['kernel']}` | `{kernel['spec']}` | {kernel['shows']} |")
    print("\n| vertex file | parameters | measured | estimate | ratio |\n| --- | --- | ---: | ---: | ---: |")
    rows = estimates()
    for kernel in kernels:
        for row in rows_of(kernel, rows, options.most_macs):
            points = measure(options.tessera, kernel, row)
            if points is None:
                print(f"| `{kernel['spec']}` | {row['params']} | does not fit | {row['cycles']} | |")
                continue
            for point in points:
                names = kernel["estimate"]["parameters"] if row else varying(points)
                parameters = [(name, point["parameters"][name]) for name in names]
                of_worker = row is not None and row["scope"] == "worker"
                measured = point["worker_cycles"] // WORKERS if of_worker else point["tile_cycles"]
                unit = "issues" if of_worker else "cycles"
                print(line(kernel, parameters, measured, row["cycles"] if row else "", unit))


if __name__ == "__main__":
    main()
