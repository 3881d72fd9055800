#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmarks of ./dev bench: how fast the simulator runs, beside a native sgemm measured in the
same minutes.

usage: tools/bench.py BUILD_DIRECTORY [--quick | --all] [--json FILE] [--compare OLD.json]

    --quick         loops, exchanges and the smaller chips: two minutes
    --all           also dense products up to 8192 cubed with data
    --json FILE     all that was measured
    --compare FILE  beside what --json wrote before: times as multiples of the native sgemm of their
                    own run, so that hosts and hours compare. Exits with 1 where one has grown by more
                    than --limit
    --repeat N      runs of each; the fastest counts

The machine that it runs on may be shared: quote the ratios, not the seconds.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

EXCHANGES = ["all-to-all", "random-pairs-30", "broadcast"]
# What OpenBLAS may be told to take the processor for: of one that it does not know it thinks little.
CORES = {"avx512bw": "SkylakeX", "avx2": "Haswell"}
# A hundred machines, none of which plans or takes as another.
MACHINES = ["exchange.lane_bytes=4,8", "sync.internal_cycles=10,20,30,40,50",
            "exchange.prologue_cycles=0,10,20,30,40", "control.step_cycles=4,8"]


def cube(size):
    return ["dense_4096_f16"] + [word for name in "mkn"
                                 for word in ("--set", f"workload.{name}={size}")]


def sparse(block):
    return [f"spmm_static_b{block}_4096"]


# name: arguments of `tessera run`, and from which set on
FUNCTIONAL = {"dense 512": (cube(512), 0), "dense 1024": (cube(1024), 0),
              "dense 2048": (cube(2048), 0), "dense 4096": (["dense_4096_f16"], 1),
              "dense 4096 f32": (["dense_4096_f32"], 1), "dense 8192": (cube(8192), 2),
              "sparse b1": (sparse(1), 1), "sparse b16": (sparse(16), 0), "cora": (["cora"], 0)}
TIMING = {name: (arguments, 0) for name, (arguments, _) in FUNCTIONAL.items()}
TIMING["dense 8192 8192 4096"] = (cube(8192) + ["--set", "workload.n=4096"], 0)


def output(command, **environment):
    return subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=os.environ | environment).stdout


def native_sgemm(build, size, threads):
    """Seconds, by whichever kernel of the library is fastest here."""
    command = [build / "tests" / "bench" / "bench_native_sgemm", size, threads, 3]
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    told = [{"OPENBLAS_CORETYPE": core} for flag, core in CORES.items() if flag in flags]
    return min(float(output(command, **core)) for core in [{}, *told])


def measure_loops(build, found):
    told = json.loads(output([build / "tests" / "bench" / "bench_interpreter",
                              "--benchmark_format=json", "--benchmark_min_time=0.3"]))
    for loop in told["benchmarks"]:
        rate = loop["items_per_second"]
        found[f"loop {loop['name']}"] = {"bundles_per_s": rate, "seconds": 1e9 / rate}
        print(f"one core, {loop['name']:<38}{rate / 1e6:8.0f} M bundles/s")


def measure_exchanges(build, found):
    empty = json.loads(output([build / "tests" / "bench" / "bench_supersteps", 2000]))
    found["superstep of nothing"] = {"seconds": 1e-9 * empty["ns_per_tile"]}
    print(f"supersteps with next to no work: {empty['ns_per_tile']:.0f} ns a tile and superstep")
    print(f"{'exchange':<22}{'bytes':>9}{'messages':>10}{'plan s':>9}{'execute s':>11}"
          f"{'cycles':>12}{'over bound':>12}")
    lines = output([build / "tests" / "bench" / "bench_exchange", "--json", *EXCHANGES])
    for row in map(json.loads, lines.decode().splitlines()):
        for part in ("plan", "execute"):
            found[f"{part} {row['pattern']} {row['bytes']}"] = {"seconds": row[f"{part}_s"],
                                                                "cycles": row["cycles"]}
        print(f"{row['pattern']:<22}{row['bytes']:>9}{row['transfers']:>10,}{row['plan_s']:>9.3f}"
              f"{row['execute_s']:>11.3f}{row['cycles']:>12,}"
              f"{row['cycles'] / row['bound_cycles']:>12.3f}")


def measure_run(build, arguments, mode, threads, repeat):
    best = None
    for _ in range(repeat):
        start = time.monotonic()
        result = json.loads(output([build / "sim" / "tessera", "run", *arguments, "--mode", mode,
                                    "--threads", threads, "-q", "--json", "-"]))
        seconds = time.monotonic() - start
        if best is None or seconds < best["seconds"]:
            host = result["host"]
            best = {"seconds": seconds, "cycles": result["cycles"],
                    **{key: host[key] for key in ("plan_s", "simulate_s", "check_s",
                                                  "bundles_per_s", "peak_rss_bytes")}}
    return best


def measure_runs(build, level, repeat, found):
    head = ["cycles", "M bundles/s", "plan s", "simulate s", "check s", "wall s", "MiB"]
    print(f"{'run':<38}" + "".join(f"{h:>13}" for h in head))
    for mode, runs in (("functional", FUNCTIONAL), ("timing", TIMING)):
        for name, (arguments, needed) in runs.items():
            for threads in (1, 2):
                if needed > level:
                    continue
                run = measure_run(build, arguments, mode, threads, repeat)
                found[f"{mode} {name}, {threads} threads"] = run
                row = [f"{run['cycles']:,}", f"{run['bundles_per_s'] / 1e6:,.0f}",
                       f"{run['plan_s']:.2f}", f"{run['simulate_s']:.2f}",
                       f"{run['check_s']:.2f}", f"{run['seconds']:.2f}",
                       f"{run['peak_rss_bytes'] / 2**20:,.0f}"]
                print(f"{f'{mode} {name}, {threads} threads':<38}"
                      + "".join(f"{cell:>13}" for cell in row))


def measure_machines(build, found):
    told = json.loads(output([build / "tests" / "bench" / "bench_warm_worker", 2, "timing",
                              "dense_4096_f16", *MACHINES]))
    found["100 machines, dense 4096, timing"] = {"seconds": told["seconds"]}
    print(f"{told['runs']} machines, dense 4096 in timing mode, two children of one warm worker at "
          f"a time: {told['seconds']:.1f} s")


def measure_tracing(build, repeat, found):
    seconds = {}
    for name, trace in (("without", []), ("with", ["--trace", "/dev/null", "--trace-level", "tile",
                                                   "--trace-tiles", "all"])):
        run = measure_run(build, ["dense_4096_f16", "--no-check", *trace], "functional", 2, repeat)
        seconds[name] = run["seconds"]
    found["tracing phases of all tiles"] = {"seconds": seconds["with"]}
    print(f"tracing the phases of all tiles: {seconds['with'] / seconds['without']:.3f} times the "
          "run without")


def compare(found, native, old, limit):
    slower = 0
    print(f"{'beside':<44}{'old / sgemm':>13}{'new / sgemm':>13}{'ratio':>8}")
    for name, entry in found.items():
        if name not in old["entries"]:
            continue
        before = old["entries"][name]
        now, then = entry["seconds"] / native, before["seconds"] / old["native_sgemm_s"]
        worse = now / then > limit
        slower += worse
        cycles = "" if entry.get("cycles") == before.get("cycles") else "  cycles differ"
        print(f"{name:<44}{then:>13.4g}{now:>13.4g}{now / then:>8.2f}"
              f"{'  slower' if worse else ''}{cycles}")
    print(f"{slower} slower by more than {limit:.2f} times")
    return slower


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=1.15)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    old = json.loads(options.compare.read_text()) if options.compare else None
    level = 0 if options.quick else 2 if options.all else 1

    found = {}
    native = native_sgemm(options.build, 4096, 2)
    measure_loops(options.build, found)
    measure_exchanges(options.build, found)
    measure_runs(options.build, level, options.repeat, found)
    measure_machines(options.build, found)
    if level > 0:
        measure_tracing(options.build, options.repeat, found)
    for size in (512, 1024, 2048):
        print(f"native sgemm {size} cubed, 2 threads: "
              f"{native_sgemm(options.build, size, 2):.4f} s")
    native = min(native, native_sgemm(options.build, 4096, 2))
    print(f"native sgemm 4096 cubed, 2 threads: {native:.3f} s")
    if level > 0:
        dense = found["functional dense 4096, 2 threads"]["simulate_s"]
        alone = found["functional dense 4096, 1 threads"]["simulate_s"]
        print(f"dense 4096, simulate / native sgemm: {dense / native:.2f}; "
              f"one thread / two: {alone / dense:.2f}")
    if options.json:
        options.json.write_text(json.dumps({"native_sgemm_s": native, "entries": found}, indent=1,
                                           sort_keys=True) + "\n")
    return 1 if old and compare(found, native, old, options.limit) else 0


if __name__ == "__main__":
    sys.exit(main())
