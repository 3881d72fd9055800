#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A sweep of a million points, with results that nothing has run: planned, collected and shown in three
minutes on two cores, in 1 GiB of memory and 2 GB of store.

usage: sweep_scale_test.py TESSERA BENCH_SYNTHETIC_STORE
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SWEEP = {"schema_version": 1, "workload": "dense_4096_f16",
         "axes": [{"path": "tile.workers", "range": [1, 8, 1]},
                  {"path": "sync.internal_cycles", "range": [10, 2100, 10]},
                  {"path": "chip.clock_hz", "range": [1e9, 1.99e9, 1e7]},
                  {"path": "streaming.latency_us", "range": [0.5, 5, 0.9]}]}
POINTS = 8 * 210 * 100 * 6
MOST_SECONDS = 180
MOST_KIB = 1 << 20
MOST_STORE_BYTES = 2_000_000_000


def main():
    tessera, maker = (str(pathlib.Path(program).resolve()) for program in sys.argv[1:3])
    folder = pathlib.Path(tempfile.mkdtemp())
    seconds = 0.0
    worst = 0
    try:
        (folder / "million.json").write_text(json.dumps(SWEEP))
        subprocess.run([maker, "./million.json", "store"], cwd=folder, check=True)
        size = sum(file.stat().st_size for file in (folder / "store").iterdir())
        for arguments, words in (
                (["run", "./million.json", "--store", "store", "--dry-run"],
                 f"{POINTS:,} points, {POINTS:,} known in store, 0 to run"),
                (["collect", "store", "--sqlite", "all.db"], f"{POINTS:,} points of {POINTS:,} lines"),
                (["show", "store", "--sort", "cycles", "--limit", "10"], f"{POINTS - 10:,} more")):
            begin = time.time()
            process = subprocess.Popen([tessera, "sweep", *arguments], cwd=folder, text=True,
                                       stdout=subprocess.PIPE)
            output = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            took = time.time() - begin
            print(f"{took:6.1f} s {usage.ru_maxrss >> 10:5} MiB  tessera sweep {' '.join(arguments)}")
            assert status == 0 and words in output, output
            seconds += took
            worst = max(worst, usage.ru_maxrss)
        print(f"{seconds:6.1f} s {worst >> 10:5} MiB  together, {size / 1e9:.2f} GB of store")
        assert worst <= MOST_KIB and size <= MOST_STORE_BYTES
        assert seconds <= MOST_SECONDS
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
