#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The law of timing mode: cycles of every tile, steps and phases are those of the functional mode.

usage: timing_test.py TESSERA PROJECT_DIRECTORY COUNT [SEED]

COUNT random small workloads on random small machines, each with data on one thread and without data
on two, first with all tiles audited: every counted tile is run as well, every pass of every repeat, and
held against its class. Then without audits, so that known ways of workers are taken over.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

COMPARED = ["cycles", "compute_sets", "exchanges", "streams", "phases", "tiles", "critical_path",
            "explanation", "memory", "plan", "kernels", "counts"]


def product(draw):
    sparse = draw.random() < 0.5
    block = draw.choice([1, 16])
    unit = block if sparse else 1
    shape = {name: unit * draw.randint(1, most // unit) for name, most in
             (("m", 128), ("k", 160))}
    workload = {"kind": "spmm" if sparse else "matmul", **shape, "n": draw.randint(1, 96),
                "dtype": "f16", "partials": draw.choice(["f16", "f32"]), "values": "integer",
                "seed": draw.randint(1, 1000)}
    if sparse:
        workload |= {"mode": "static", "block": block,
                     "pattern": {"generator": "uniform", "density": draw.choice([0.05, 0.2, 1.0]),
                                 "seed": draw.randint(1, 1000)}}
    return workload


def published(draw):
    """As measured hardware ran it; FP32 has no other plan."""
    data, partials = draw.choice([("f16", "f16"), ("f16", "f32"), ("f32", "f32")])
    return {"kind": "matmul", "m": draw.randint(1, 128), "k": draw.randint(1, 300),
            "n": draw.randint(1, 96), "dtype": data, "partials": partials, "plan": "published",
            "values": "integer", "seed": draw.randint(1, 1000)}


def pattern(draw):
    return {"kind": "exchange_pattern", "pattern": "all_to_all", "tiles": draw.randint(2, 8),
            "bytes": 4 * draw.randint(1, 64)}


def reduction(draw):
    return {"kind": "reduction", "operands": draw.randint(1, 300)}


def rearrange(draw):
    return {"kind": "rearrange", "rows": 4 * draw.randint(1, 12), "columns": 4 * draw.randint(1, 12),
            "dtype": "f16", "transpose": draw.random() < 0.5}


def copy(draw):
    return {"kind": "self_copy", "bytes": 8 * draw.randint(1, 200)}


def barriers(draw):
    return {"kind": "sync", "repeats": draw.randint(1, 20)}


def remote(draw):
    return {"kind": "remote_buffer", "direction": draw.choice(["read", "write"]),
            "rows": draw.randint(1, 6), "row_bytes": 512 * draw.randint(1, 8),
            "repeats": draw.randint(1, 3)}


def pipeline(draw):
    m, k, n = (8 * draw.randint(1, 8) for _ in range(3))
    tensors = {"x": {"shape": [m, k], "values": "uniform"},
               "w": {"shape": [k, n], "values": "uniform"},
               "b": {"shape": [n], "values": "uniform"}}
    steps = [{"name": "dense", "family": "matmul", "inputs": ["x", "w"], "output": "y0"}]
    for number in range(draw.randint(1, 3)):
        family = draw.choice(["bias", "relu", "gelu"])
        inputs = [f"y{number}"] + (["b"] if family == "bias" else [])
        steps.append({"name": f"step_{number}", "family": family, "inputs": inputs,
                      "output": f"y{number + 1}"})
    return {"kind": "pipeline", "seed": draw.randint(1, 1000), "tensors": tensors, "steps": steps}


def gather(draw):
    """By row numbers that timing mode knows or does not; both ways addresses follow from them."""
    rows = draw.randint(1, 200)
    tensors = {"table": {"shape": [rows, draw.randint(1, 40)], "type": draw.choice(["f16", "f32"])},
               "ids": {"shape": [draw.randint(1, 60)], "type": "u32",
                       "below": draw.choice([1, rows, 2 * rows]), "known": draw.random() < 0.5}}
    steps = [{"family": "gather", "inputs": ["table", "ids"], "output": "y"}]
    if draw.random() < 0.5:
        tensors["rows"] = {"shape": [*tensors["ids"]["shape"], draw.randint(1, 40)], "type": "f32"}
        steps.append({"family": "scatter_add", "inputs": ["rows", "ids"], "output": "sums", "rows": rows})
    if draw.random() < 0.3:
        steps.append({"family": "relu", "inputs": ["y"], "output": "z"})
        steps = [{"repeat": draw.randint(2, 9), "steps": steps}]
    return {"kind": "pipeline", "seed": draw.randint(1, 1000), "tensors": tensors, "steps": steps}


def top_k(draw):
    """The largest elements of rows, all or of buckets; rows that they name may be gathered by the next step."""
    n, rows = draw.randint(1, 300), draw.choice([1, 1, 3, 40])
    selected = {"k": draw.randint(1, n)}
    if draw.random() < 0.4:
        selected["buckets"] = draw.randint(1, n)
        selected["kept"] = 1 if selected["buckets"] == 1 else draw.choice(
            [kept for kept in (1, 2, 4) if kept <= n])
        selected["k"] = min(selected["k"], selected["buckets"] if selected["buckets"] > 1 else n)
    type_ = draw.choice(["f16", "f32"])
    if draw.random() < 0.5:
        return {"kind": "top_k", "n": n, "rows": rows, "dtype": type_, "seed": draw.randint(1, 1000),
                **selected}
    return {"kind": "pipeline", "seed": draw.randint(1, 1000),
            "tensors": {"x": {"shape": [rows, n], "type": type_}, "table": {"shape": [n, 5]}},
            "steps": [{"family": "top_k", "inputs": ["x"], "outputs": ["values", "best"], **selected},
                      {"family": "gather", "inputs": ["table", "best"], "output": "y"}]}


def dynamic(draw):
    """A pattern that comes at run time: the product, or that and gradients of its operands."""
    block = draw.choice([1, 4, 8, 16])
    m, k = (draw.randint(1, 12 * max(block, 4)) for _ in range(2))
    n = draw.randint(1, 40)
    data, partials = draw.choice([("f16", "f16"), ("f16", "f32"), ("f32", "f32")])
    plan = draw.choice(["published", "fastest"])
    sparse = {"mode": "dynamic", "block": block, "excess": draw.choice([0.3, 1, 4]),
              "pattern": draw.choice([
                  {"generator": "uniform", "density": draw.choice([0.05, 0.3, 1.0])},
                  {"generator": "power_law", "density": 0.2, "exponent": draw.choice([0.5, 1.5])},
                  {"generator": "banded", "density": 0.1}])}
    sparse["pattern"]["seed"] = draw.randint(1, 1000)
    if draw.random() < 0.5:
        return {"kind": "spmm", "m": m, "k": k, "n": n, "dtype": data, "partials": partials,
                "plan": plan, "values": "integer", "seed": draw.randint(1, 1000), **sparse}
    options = {"partials": partials, "plan": plan}
    steps = [{"family": "spmm", "inputs": ["a", "x"], "output": "y", **options}]
    if draw.random() < 0.7:
        steps += [{"family": "sddmm", "inputs": ["a", "dy", "x"], "output": "da", **options}]
    if len(steps) == 1 or draw.random() < 0.5:
        steps += [{"family": "spmm", "inputs": ["a", "dy"], "output": "dx", "transpose_a": True,
                   **options}]
    steps = draw.sample(steps, len(steps))
    if draw.random() < 0.4:  # what values decide is not known in timing mode
        patterns = draw.randint(1, 4)
        sparse["sequence"] = {"prune": "random", "fraction": 0.5, "patterns": patterns}
        if any(step["output"] == "da" for step in steps) and draw.random() < 0.5:
            steps += [{"family": "add", "inputs": ["a", "da"], "output": "a"}]
        steps = [{"repeat": patterns, "steps": [{"next": "a"}, *steps]}]
    return {"kind": "pipeline", "seed": draw.randint(1, 1000),
            "tensors": {"a": {"shape": [m, k], "type": data, **sparse},
                        "x": {"shape": [k, n], "type": data},
                        "dy": {"shape": [m, n], "type": data}},
            "steps": steps}


def passes(draw):
    """A known pattern: the product and gradients of its operands by one plan."""
    workload = dynamic(draw)
    while workload["kind"] != "pipeline" or "sequence" in workload["tensors"]["a"]:
        workload = dynamic(draw)
    for key in ("mode", "excess"):
        del workload["tensors"]["a"][key]
    return workload


KINDS = [product, product, product, published, pattern, reduction, rearrange, copy, barriers, remote,
         pipeline, gather, top_k, dynamic, dynamic, passes, passes]


def machine_sets(draw):
    sets = [f"chip.tiles={draw.choice([8, 12, 32])}"]
    for path, values in (("tile.workers", [1, 4, 6, 8]), ("exchange.lane_bytes", [4, 8, 16]),
                         ("amp.steps_per_issue", [0.5, 1, 2, 4]),
                         ("exchange.fabric", ["compiled", "bound"])):
        if draw.random() < 0.3:
            sets.append(f"{path}={draw.choice(values)}")
    return sets


def run(tessera, project, workload, sets, more):
    command = [tessera, "run", workload, "--machine", "bow", "-q", "--no-check", "--json", "-", *more]
    for one in sets:
        command += ["--set", one]
    done = subprocess.run(command, capture_output=True, text=True, cwd=project)
    return done.returncode, done.stdout, done.stderr


def main():
    tessera, project, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    draw = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    ran = 0
    refused = 0
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        while ran < count and refused < 5 * count:
            workload = {"schema_version": 1, **draw.choice(KINDS)(draw)}
            sets = machine_sets(draw)
            file = pathlib.Path(folder) / "workload.json"
            file.write_text(json.dumps(workload))
            code, data, error = run(tessera, project, file, sets, ["--threads", "1"])
            timing_code, counted, timing_error = run(
                tessera, project, file, sets,
                ["--mode", "timing", "--audit", "100000", "--threads", "2"])
            usual_code, usual, usual_error = run(
                tessera, project, file, sets, ["--mode", "timing", "--audit", "0", "--threads", "2"])
            case = f"{json.dumps(workload)} {' '.join(sets)}"
            if code != timing_code:
                wrong.append(f"{case}: exit code {code}, in timing mode {timing_code}: "
                             f"{error}{timing_error}")
            if timing_code != usual_code:
                wrong.append(f"{case}: exit code {timing_code} with audits, {usual_code} without: "
                             f"{timing_error}{usual_error}")
            if code != 0:  # does not fit, or not on this machine
                refused += 1
                continue
            if timing_code != 0 or usual_code != 0:
                continue
            ran += 1
            data, counted, usual = json.loads(data), json.loads(counted), json.loads(usual)
            differing = [key for key in COMPARED if data[key] != counted[key]]
            if data["digests"]["tile_cycles"] != counted["digests"]["tile_cycles"]:
                differing.append("cycles of the tiles")
            if data["digests"]["tile_cycles"] != usual["digests"]["tile_cycles"]:
                differing.append("cycles of the tiles without audits")
            if counted["timing"]["phases_run"] > counted["timing"]["phases"]:
                differing.append("phases run")
            if differing:
                wrong.append(f"{case}: {', '.join(differing)} differ")
    for line in wrong:
        print(line)
    print(f"{ran} workloads, {refused} refused alike, {len(wrong)} differences")
    if ran < count:
        print(f"expected {count} that run")
    return 1 if wrong or ran < count else 0


if __name__ == "__main__":
    sys.exit(main())
