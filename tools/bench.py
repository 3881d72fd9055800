#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmark of ./dev bench: how fast the simulator runs, beside a native sgemm measured in the
same minute.

usage: tools/bench.py BUILD_DIRECTORY [--repeat N] [--threads N]

The machine that it runs on may be shared: quote the ratios, not the seconds.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

WORKLOADS = ["dense_4096_f16", "spmm_static_b16_4096", "spmm_static_b1_4096", "cora"]
EXCHANGES = ["all-to-all", "random-pairs-30", "broadcast"]


# What OpenBLAS may be told to take the processor for: of one that it does not know it thinks little.
CORES = {"avx512bw": "SkylakeX", "avx2": "Haswell"}


def output(command, **environment):
    return subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=os.environ | environment).stdout


def native_sgemm(build, threads):
    """Seconds, by whichever kernel of the library is fastest here."""
    command = [build / "tests" / "bench" / "bench_native_sgemm", 4096, threads, 3]
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    told = [{"OPENBLAS_CORETYPE": core} for flag, core in CORES.items() if flag in flags]
    return min(float(output(command, **core)) for core in [{}, *told])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=2,
                        help="runs of each workload; the fastest counts")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()

    native = native_sgemm(options.build, options.threads)
    print(f"native sgemm 4096 x 4096 x 4096, {options.threads} threads: {native:.3f} s")

    units = json.loads(output([options.build / "tests" / "bench" / "bench_interpreter"]))
    for engine, rates in units.items():
        for name, rate in rates.items():
            print(f"one core, {engine + ',':<9} {name.replace('_', ' '):<18} {rate / 1e6:8.0f} M bundles/s")

    empty = json.loads(output([options.build / "tests" / "bench" / "bench_supersteps", 2000]))
    print(f"supersteps with next to no work: {empty['ns_per_tile']:.0f} ns a tile and superstep")

    print(f"{'exchange':<22}{'bytes':>9}{'messages':>10}{'plan s':>9}{'execute s':>11}{'cycles':>12}{'over bound':>12}")
    lines = output([options.build / "tests" / "bench" / "bench_exchange", "--json",
                    *EXCHANGES]).decode().splitlines()
    for row in map(json.loads, lines):
        print(f"{row['pattern']:<22}{row['bytes']:>9}{row['transfers']:>10,}{row['plan_s']:>9.3f}{row['execute_s']:>11.3f}"
              f"{row['cycles']:>12,}{row['cycles'] / row['bound_cycles']:>12.3f}")

    head = ["workload", "cycles", "of peak", "M bundles/s", "plan s", "simulate s", "check s",
            "wall s", "MiB"]
    print("".join(f"{h:>13}" if i else f"{h:<22}" for i, h in enumerate(head)))
    dense = None
    for workload in WORKLOADS:
        best = None
        for _ in range(options.repeat):
            command = [options.build / "sim" / "tessera", "run", workload, "--machine", "bow",
                       "--json", "-"]
            result = json.loads(output(command + ["--threads", options.threads]))
            if best is None or result["host"]["simulate_s"] < best["host"]["simulate_s"]:
                best = result
        host = best["host"]
        row = [
            f"{best['cycles']:,}", f"{best['fraction_of_peak']:.3f}",
            f"{host['bundles_per_s'] / 1e6:,.0f}",
            f"{host['plan_s']:.2f}", f"{host['simulate_s']:.2f}", f"{host['check_s']:.2f}",
            f"{host['wall_s']:.2f}", f"{host['peak_rss_bytes'] / 2**20:,.0f}",
        ]
        print(f"{workload:<22}" + "".join(f"{cell:>13}" for cell in row))
        if workload == "dense_4096_f16":
            dense = host["simulate_s"]
    native = min(native, native_sgemm(options.build, options.threads))
    print(f"dense_4096_f16 simulate / native sgemm: {dense / native:.2f} (target: at most 2.5)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
