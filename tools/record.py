#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the record of results: what every workload of configs/ came to when it was last looked at.

usage: record.py [--update | --orders | --timing] [--slow | --all] [--share I/N] TESSERA [WORKLOAD ...]

Runs the workloads (named ones, else those that take a second or so; --slow: those that take longer;
--all: both) and compares plan, cycles, steps, memory and digests with tests/system/record.json.
Exits with 1 where something differs. --update writes what was found instead: a commit that changes
the record names the one mechanism that changed it, and raises kModelVersion (sim/result/result.h), without
which nothing is written. --orders runs each with other numbers of host
threads and simultaneous events in other orders: nothing may change. --timing runs each in timing
mode, with every tile audited: all but the answer must be as recorded.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests/system/record.json"
SLOW = {"bert_base_training", "bert_large_stage", "bert_layer", "bert_layer_training", "dense_4096_f16", "dense_4096_f32", "dynamic_training", "dynamic_training_gradient",
        "spmm_static_b1_4096"}
TIMED = {"bert_base_training", "bert_large_stage", "dynamic_training",
         "dynamic_training_gradient"}  # only in timing mode, which draws what values decide
TINY = ("tiny_", "four_tiles")
OF_CHIPS = ("collective", "link_pattern")
USUAL = [()]
TIMING = [("--mode", "timing", "--audit", "1000000"), ("--mode", "timing", "--threads", "1")]
ORDERS = [("--threads", "1", "--shuffle", "1"), ("--threads", "3", "--shuffle", "2"),
          ("--threads", "2", "--shuffle", "3")]


def entry_of(result):
    """The part of a result that the record keeps."""
    steps = {}
    for kind in ("compute_sets", "exchanges", "streams"):
        for number, step in enumerate(result[kind]):
            steps[f"{kind}/{number} {step['name']}"] = step["cycles"]
    return {
        "machine": result["machine"]["name"],
        "cycles": result["cycles"],
        "steps": steps,
        "control_cycles": result["explanation"]["control"]["cycles"],
        "memory_max_bytes": result["memory"]["max_bytes"],
        "plan": {key: value for key, value in result["plan"].items()
                 if not key.startswith("bytes_")},
        "digests": {key: result["digests"][key] for key in ("output", "tile_cycles")},
    }


def run(tessera, workload, folder, order):
    machine = "tiny" if workload.startswith(TINY) else "tiny4" if workload.startswith(OF_CHIPS) else "bow"
    command = [tessera, "run", workload, "--machine", machine, "-q", "--out", str(folder)]
    command += order
    if (order and order not in TIMING) or workload in SLOW:
        command.append("--no-check")
    if workload in TIMED and "timing" not in order:
        command += ["--mode", "timing"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    found = sorted(pathlib.Path(folder).rglob("result.json"))
    return entry_of(json.loads(found[0].read_text()))


def model_version(tessera):
    told = subprocess.run([tessera, "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"^model (\d+)$", told, re.MULTILINE).group(1))


def differences(before, after, path=""):
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from differences(before.get(key), after.get(key), f"{path}/{key}")
    elif before != after:
        yield f"{path}: recorded {before}, now {after}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--orders", action="store_true")
    parser.add_argument("--timing", action="store_true")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--share", default="1/1", metavar="I/N", help="every N-th of them, from the I-th on")
    parser.add_argument("tessera")
    parser.add_argument("workloads", nargs="*")
    options = parser.parse_args()
    tessera = os.path.abspath(options.tessera)
    every = sorted(path.stem for path in (ROOT / "configs/workloads").glob("*.json"))
    unknown = [name for name in options.workloads if name not in every]
    if unknown:
        sys.exit(f"no workload of configs/: {', '.join(unknown)}")
    chosen = options.workloads or [name for name in every if options.all
                                   or (name in SLOW) == options.slow]
    share, shares = map(int, options.share.split("/"))
    if not 1 <= share <= shares:
        sys.exit(f"--share: got {options.share}, expected I/N with I from 1 to N")
    chosen = chosen[share - 1::shares]
    recorded = json.loads(RECORD.read_text())
    record, version = recorded["workloads"], model_version(tessera)
    found = {}
    wrong = []
    for workload in chosen:
        for order in ORDERS if options.orders else TIMING if options.timing else USUAL:
            with tempfile.TemporaryDirectory() as folder:
                found[workload] = run(tessera, workload, folder, order)
            if options.timing:
                found[workload]["digests"]["output"] = record[workload]["digests"]["output"]
            wrong += differences(record.get(workload, {}), found[workload],
                                 " ".join((workload, *order)))
    changed = [line for line in wrong if line.split("/")[0].split()[0] in record]
    wrong += [f"{name}: recorded, but configs/ has no such workload" for name in record
              if name not in every]
    if version != recorded["model_version"]:
        wrong.append(f"model version: recorded {recorded['model_version']}, now {version}")
    for line in wrong:
        print(line)
    if options.update:
        if changed and version <= recorded["model_version"]:
            sys.exit(f"results changed, so kModelVersion has to be {recorded['model_version'] + 1}")
        record = {name: entry for name, entry in record.items() if name in every} | found
        RECORD.write_text(json.dumps({"model_version": version, "workloads": record}, indent=1,
                                     sort_keys=True) + "\n")
        return 0
    print(f"{len(chosen)} workloads, {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
