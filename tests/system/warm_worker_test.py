#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs of a warm worker (sim/run/warm_worker.h) come to what each comes to in a process of its own.

usage: warm_worker_test.py TESSERA BENCH_WARM_WORKER PROJECT_DIRECTORY
"""
import itertools
import json
import subprocess
import sys

# Points that share operands, plans, schedules or nothing; the last lane is a mistake, and so many
# tiles do not hold the second product.
AXES = {"exchange.lane_bytes": ["4", "8", "5"], "chip.clock_hz": ["1.3e9", "1.85e9"],
        "sync.internal_cycles": ["20", "126"], "workload.n": ["24", "100000000"]}


def cold(tessera, project, mode, workload, sets):
    command = [tessera, "run", workload, "--mode", mode, "-q", "--json", "-", "--threads", "1"]
    command += [] if mode == "estimate" else ["--no-check"]
    for one in sets:
        command += ["--set", one]
    done = subprocess.run(command, capture_output=True, text=True, cwd=project)
    if done.returncode != 0:
        return {"message": done.stderr.strip()}
    result = json.loads(done.stdout)
    return {"cycles": result["cycles"],
            "tile_cycles": result.get("digests", {}).get("tile_cycles")}


def main():
    tessera, warm, project = sys.argv[1:]
    wrong = 0
    points = 0
    failed = 0
    for mode, workload in itertools.product(["functional", "timing", "estimate"],
                                            ["tiny_spmm_b1", "tiny_matmul"]):
        axes = [f"{path}={','.join(values)}" for path, values in AXES.items()]
        done = subprocess.run([warm, "2", mode, workload, *axes], capture_output=True, text=True,
                              cwd=project, check=True)
        for got in json.loads(done.stdout)["results"]:
            points += 1
            expected = cold(tessera, project, mode, workload, got.pop("set"))
            failed += "message" in expected
            if got != expected:
                wrong += 1
                print(f"{mode} {workload}: got {got}, expected {expected}")
    print(f"{points} points, {failed} that cannot run, {wrong} differences")
    return 1 if wrong or failed in (0, points) else 0


if __name__ == "__main__":
    sys.exit(main())
