#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmarks of ./dev bench: how fast the simulator runs, beside native sgemms measured in the
same minutes. docs/performance.md says what each is.

usage: tools/bench.py BUILD_DIRECTORY [--quick | --all] [--json FILE] [--compare OLD.json]

    --quick         loops, exchanges and the smaller chips: three minutes
    --all           also dense products of 8192 with data
    --json FILE     all that was measured
    --compare FILE  beside what --json wrote before: times as multiples of the native sgemm of their
                    own run, so that hosts and hours compare. Exits with 1 where one has grown by
                    more than --limit in processor time (where none was taken, of the clock)
    --repeat N      runs of each; the fastest counts

Exits with 1 also where planning takes longer than PLANNING says.

The machine that it runs on may be shared: quote the ratios, not the seconds.
"""
import argparse
import functools
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

# What OpenBLAS may be told to take the processor for: of one that it does not know it thinks little.
CORES = {"avx512bw": "SkylakeX", "avx2": "Haswell"}
THREADS = (1, 2)
FORMAT = 2  # of --json
YARDSTICK = (4096, 4096, 4096)
# A hundred machines, none of which plans or takes as another.
MACHINES = ["exchange.lane_bytes=4,8", "sync.internal_cycles=10,20,30,40,50",
            "exchange.prologue_cycles=0,10,20,30,40", "control.step_cycles=4,8"]

# What planning of a run in timing mode may take on two threads, in native sgemms of 4096 cubed. Targets: docs/performance.md.
PLANNING = {"sparse b16": 2.5, "cora": 1.5}

# Pipelines in timing mode, and what their kernels and their runs may take, in cycles. Targets: docs/performance.md.
WHOLE = "the run"
PIPELINES = {"attention_head": {"softmax": 5000},
             "product_gradients": {"gradient_of_x": 41460, "gradient_of_weights": 41460},
             "update_loop": {WHOLE: 40000}}


# Products whose pattern comes at run time beside those whose pattern is known when planning, by block.
AT_RUN_TIME = (1, 16)
ROUNDS = 8  # of training whose pattern changes


def cube(size):
    return ["dense_4096_f16"] + [word for name in "mkn"
                                 for word in ("--set", f"workload.{name}={size}")]


def sparse(block):
    return [f"spmm_static_b{block}_4096"]


# name: arguments of `tessera run`, and from which set on, with data and without: 0 is --quick, 2 --all
RUNS = {"dense 512": (cube(512), 0, 0), "dense 1024": (cube(1024), 0, 0),
        "dense 2048": (cube(2048), 0, 0), "dense 4096": (["dense_4096_f16"], 1, 0),
        "dense 4096 f32": (["dense_4096_f32"], 1, 0),
        "dense 8192 8192 4096": (cube(8192) + ["--set", "workload.n=4096"], 2, 1),
        "dense 8192": (cube(8192), 2, 1), "sparse b1": (sparse(1), 1, 0),
        "sparse b16": (sparse(16), 0, 0), "cora": (["cora"], 0, 0)}


def output(command, **environment):
    return subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=os.environ | environment).stdout


def processor():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"^model name\s*: (.*)$", text, re.M)
    return {"name": name.group(1) if name else "unknown", "cores": os.cpu_count(),
            "flags": [flag for flag in CORES if flag in text.split()]}


def effort(entry):
    return entry.get("processor_s", entry["seconds"])


def timed(command):
    """What it prints, and how long it takes by the clock and by all its processes."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    text = output(command)
    seconds, behind = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return text, {"seconds": seconds, "processor_s": behind.ru_utime + behind.ru_stime
                                                     - before.ru_utime - before.ru_stime}


def counted(threads):
    return "1 thread" if threads == 1 else f"{threads} threads"


class Bench:
    """What is measured where; `entries` is what --json writes."""

    def __init__(self, build, repeat):
        self.build = build
        self.repeat = repeat
        self.entries = {}
        told = [{"OPENBLAS_CORETYPE": core} for flag, core in CORES.items()
                if flag in processor()["flags"]]
        self.kernels = min([{}, *told], key=lambda core: self.sgemm((2048, 2048, 2048), 1, core)[0])
        self.yardsticks = self.measure_yardsticks()

    def program(self, name):
        return self.build / "tests" / "bench" / name

    def sgemm(self, sizes, threads, kernels=None):
        """Seconds of the clock and of processor time, with those kernels of the library that are
        fastest here if none are named."""
        runs = 1 if math.prod(sizes) > math.prod(YARDSTICK) else 3
        told = output([self.program("bench_native_sgemm"), *sizes, threads, runs],
                      **(self.kernels if kernels is None else kernels))
        return tuple(map(float, told.split()))

    @functools.cache
    def sgemm_of_run(self, sizes, threads):
        return self.sgemm(sizes, threads)[0]

    def measure_yardsticks(self):
        """By what `beside` of entries says."""
        alone, processor_time = self.sgemm(YARDSTICK, 1)
        return {"1 thread": alone, "2 threads": self.sgemm(YARDSTICK, 2)[0],
                "processor time": processor_time}

    def measure_parts(self):
        told = json.loads(output([self.program("bench_micro"), "--benchmark_format=json",
                                  "--benchmark_min_time=0.1",
                                  "--benchmark_enable_random_interleaving=true",
                                  f"--benchmark_repetitions={2 * self.repeat}"]))
        for one in told["benchmarks"]:
            if one["run_type"] == "aggregate" or one.get("error_occurred"):
                continue
            name = re.sub(r"/(real_time|manual_time|process_time|iterations:\d+|repeats:\d+)", "", one["name"])
            unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}[one["time_unit"]]
            entry = {"seconds": one["real_time"] * unit,
                     "beside": "1 thread" if "items_per_second" in one else "2 threads"}
            if "manual_time" not in one["name"]:
                entry["processor_s"] = one["cpu_time"] * unit
            items = "packet_hops_per_s" if name.startswith("links/") else "bundles_per_s"
            for key, counter in ((items, "items_per_second"), ("cycles", "cycles"),
                                 ("messages", "messages"), ("ns_per_tile", "ns_per_tile")):
                if counter in one:
                    entry[key] = one[counter]
            if name not in self.entries or effort(entry) < effort(self.entries[name]):
                self.entries[name] = entry
        for name, entry in sorted(self.entries.items()):
            for key, what in (("bundles_per_s", "bundles"), ("packet_hops_per_s", "packet hops")):
                if key in entry:
                    shown = f"{entry[key] / 1e6:>12,.1f} M {what}/s a core"
                    break
            else:
                shown = f"{1e3 * entry['seconds']:>12.3f} ms"
            print(f"{name:<40}{shown}")

    def measure_run(self, arguments, mode, threads):
        best = None
        for _ in range(self.repeat):
            text, times = timed([self.build / "sim" / "tessera", "run", *arguments, "--mode", mode,
                                 "--threads", threads, "-q", "--json", "-"])
            result = json.loads(text)
            if best is None or times["seconds"] < best["seconds"]:
                host = result["host"]
                best = {**times, "beside": counted(threads),
                        "cycles": result["cycles"],
                        **{key: host[key] for key in ("plan_s", "simulate_s", "check_s",
                                                      "bundles_per_s", "peak_rss_bytes")}}
        sizes = re.search(r"(\d+) x (\d+) x (\d+)", result["sentence"])
        best["native_sgemm_s"] = self.sgemm_of_run(tuple(map(int, sizes.groups())), threads)
        return best

    def measure_runs(self, level):
        head = ["cycles", "M bundles/s", "plan s", "simulate s", "check s", "wall s", "MiB",
                "sgemm s"]
        print(f"{'run':<42}" + "".join(f"{h:>13}" for h in head))
        for mode in ("functional", "timing"):
            for name, (arguments, *needed) in RUNS.items():
                if needed[mode == "timing"] > level:
                    continue
                for threads in THREADS:
                    run = self.measure_run(arguments, mode, threads)
                    full_name = f"{mode} {name}, {counted(threads)}"
                    self.entries[full_name] = run
                    row = [f"{run['cycles']:,}", f"{run['bundles_per_s'] / 1e6:,.0f}",
                           f"{run['plan_s']:.3f}", f"{run['simulate_s']:.3f}",
                           f"{run['check_s']:.3f}", f"{run['seconds']:.3f}",
                           f"{run['peak_rss_bytes'] / 2**20:,.0f}",
                           f"{run['native_sgemm_s']:.4f}"]
                    print(f"{full_name:<42}" + "".join(f"{cell:>13}" for cell in row), flush=True)

    def measure_pipelines(self):
        """How many kernels take more cycles than they may."""
        longer = 0
        for name, most in PIPELINES.items():
            command = [self.build / "sim" / "tessera", "run", name, "--mode", "timing",
                       "--threads", 2, "-q", "--json", "-"]
            text, times = min((timed(command) for _ in range(self.repeat)),
                              key=lambda run: run[1]["seconds"])
            result = json.loads(text)
            self.entries[f"timing {name}, 2 threads"] = {**times, "beside": "2 threads",
                                                         "cycles": result["cycles"]}
            for kernel in [*result["kernels"], {"name": WHOLE, "cycles": result["cycles"]}]:
                limit = most.get(kernel["name"], math.inf)
                longer += kernel["cycles"] > limit
                print(f"{name}, {kernel['name']}: {kernel['cycles']:,} cycles"
                      + (f" of {limit:,}" if limit < math.inf else "")
                      + (", too many" if kernel["cycles"] > limit else ""))
        return longer

    def measure_changing_patterns(self):
        """In timing mode: a product with a pattern that comes at run time beside the one that is planned for
        it, and rounds of training."""
        tessera = self.build / "sim" / "tessera"

        def measure(name, *arguments):
            text, times = min((timed([tessera, "run", *arguments, "--mode", "timing", "--threads", 2,
                                      "-q", "--json", "-"]) for _ in range(self.repeat)),
                              key=lambda run: run[1]["processor_s"])
            self.entries[f"timing {name}, 2 threads"] = {**times, "beside": "2 threads",
                                                         "cycles": json.loads(text)["cycles"]}
            return times

        for block in AT_RUN_TIME:
            dynamic, static = (measure(f"{mode} b{block} 1024", f"spmm_{mode}_b{block}_4096", "--plan",
                                       "fastest", "--set", "workload.n=1024")
                               for mode in ("dynamic", "static"))
            print(f"pattern at run time / when planning, blocks of {block}: "
                  f"{dynamic['processor_s'] / static['processor_s']:.2f} of the processor time, "
                  f"{dynamic['seconds'] / static['seconds']:.2f} by the clock")
        for block in (1, 4, 8, 16):
            times = measure(f"training b{block}, {ROUNDS} rounds", "dynamic_training", "--set",
                            f"workload.tensors.w.block={block}", "--set",
                            f"workload.steps.0.repeat={ROUNDS}", "--set",
                            f"workload.tensors.w.sequence.patterns={ROUNDS}")
            print(f"{ROUNDS} rounds of training, blocks of {block}: {times['processor_s']:.2f} s of processor "
                  f"time, {times['seconds']:.2f} s by the clock")

    def measure_machines(self):
        text, times = timed([self.program("bench_warm_worker"), 2, "timing", "dense_4096_f16",
                             *MACHINES])
        told = json.loads(text)
        self.entries["100 machines, dense 4096, timing"] = {**times, "beside": "2 threads"}
        print(f"{told['runs']} machines, dense 4096 in timing mode, two children of one warm worker "
              f"at a time: {told['seconds']:.1f} s")

    def measure_tracing(self):
        without, traced = (
            self.measure_run(["dense_4096_f16", "--no-check", *options], "functional", 2)
            for options in ([], ["--trace", "/dev/null", "--trace-level", "tile",
                                 "--trace-tiles", "all"]))
        self.entries["tracing phases of all tiles"] = {
            key: traced[key] for key in ("seconds", "processor_s", "beside")}
        print("tracing the phases of all tiles: "
              f"{traced['seconds'] / without['seconds']:.3f} times the run without")

    def measure_yardsticks_again(self):
        for name, again in self.measure_yardsticks().items():
            print(f"native sgemm 4096 cubed, {name}: {self.yardsticks[name]:.3f} s before, "
                  f"{again:.3f} s behind")
            self.yardsticks[name] = min(again, self.yardsticks[name])

    def print_ratios(self):
        both = self.entries["functional dense 4096, 2 threads"]["simulate_s"]
        alone = self.entries["functional dense 4096, 1 thread"]["simulate_s"]
        print(f"dense 4096, simulate / native sgemm: {both / self.yardsticks['2 threads']:.2f}; "
              f"one thread / two: {alone / both:.2f}")

    def check_planning(self):
        """How many runs plan for longer than they may."""
        longer = 0
        for name, most in PLANNING.items():
            took = self.entries[f"timing {name}, 2 threads"]["plan_s"] / self.yardsticks["2 threads"]
            longer += took > most
            print(f"planning {name} / native sgemm: {took:.2f} of {most}"
                  + (", too long" if took > most else ""))
        return longer

    def document(self):
        return {"format": FORMAT, "host": processor(), "entries": self.entries,
                "native_sgemm_s": self.yardsticks}


def compare(new, old, limit):
    """Prints the ratios and returns how many have grown by more than `limit`."""
    slower = 0

    def ratio(now, then, key, beside):
        if key not in now or key not in then:
            return None
        return (now[key] / new["native_sgemm_s"][beside]) / (then[key]
                                                             / old["native_sgemm_s"][beside])

    print(f"{'times as long, over sgemm':<44}{'processor':>11}{'clock':>11}")
    for name, entry in sorted(new["entries"].items()):
        before = old["entries"].get(name)
        if before is None:
            print(f"{name:<44}  only new")
            continue
        processor_time = ratio(entry, before, "processor_s", "processor time")
        clock = ratio(entry, before, "seconds", entry["beside"])
        worse = (processor_time or clock) > limit
        slower += worse
        notes = ["slower"] * worse
        if entry.get("cycles") != before.get("cycles"):
            notes.append(f"cycles {before.get('cycles')} before, {entry.get('cycles')} now")
        shown = f"{processor_time:.2f}" if processor_time else "-"
        print(f"{name:<44}{shown:>11}{clock:>11.2f}  {'; '.join(notes)}".rstrip())
    missing = [name for name in old["entries"] if name not in new["entries"]]
    print(f"{slower} slower by more than {limit:.2f} times, {len(missing)} only in the old file")
    return slower


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true")
    size.add_argument("--all", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=1.15)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat: expected 1 or more")
    old = json.loads(options.compare.read_text()) if options.compare else None
    if old and old.get("format") != FORMAT:
        parser.error(f"{options.compare}: written by another version of this tool")
    level = 0 if options.quick else 2 if options.all else 1

    bench = Bench(options.build, options.repeat)
    bench.measure_parts()
    bench.measure_runs(level)
    longer = bench.measure_pipelines()
    bench.measure_changing_patterns()
    bench.measure_machines()
    if level > 0:
        bench.measure_tracing()
    bench.measure_yardsticks_again()
    if level > 0:
        bench.print_ratios()
    longer += bench.check_planning()
    if options.json:
        options.json.write_text(json.dumps(bench.document(), indent=1, sort_keys=True) + "\n")
    slower = old and compare(bench.document(), old, options.limit)
    return 1 if longer or slower else 0


if __name__ == "__main__":
    sys.exit(main())
