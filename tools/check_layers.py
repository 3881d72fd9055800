#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the layers of docs/architecture.md: which folder may include which, who may include SystemC,
and that a folder is a namespace.

usage: tools/check_layers.py            exit 1 with one line an offence
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

DATA = ["models/counts", "models/spec", "models/isa", "models/program", "models/timing", "base"]
UNIT = DATA + ["models/events", "models/ports"]
UNITS = ["models/tile", "models/exchange", "models/sync", "models/memory", "models/link"]

# What a family of kernels stands on; families meet in a graph and never include each other. A folder
# of kernels/ that is not in the table is a family.
FAMILY = DATA + ["kernels/family", "kernels/function", "kernels/graph", "kernels/lower",
                 "kernels/plan", "kernels/published", "kernels/codelets", "kernels/workload"]

# What a room of sim/ stands on, and one that runs something and tells of it.
BELOW = ["base", "traces", "models", "kernels"]
ON_RESULTS = BELOW + ["sim/cli", "sim/cost", "sim/process", "sim/recording", "sim/result"]

# folder -> folders that it may include, besides itself; the longest matching folder counts
ALLOWED = {
    "base": [],
    "traces": ["base"],
    "models/counts": ["base"],
    "models/spec": ["base"],
    "models/program": ["base"],
    "models/isa": ["base", "models/counts", "models/program", "models/spec"],
    "models/timing": ["base", "models/program", "models/spec"],
    "models/events": ["base", "models/counts", "models/program"],
    "models/ports": ["base", "models/events", "models/program"],
    "models/tile": UNIT + ["models/tile/core"],
    "models/tile/core": UNIT + ["traces"],
    "models/exchange": UNIT,
    "models/sync": UNIT,
    "models/memory": UNIT,
    "models/link": UNIT + ["models/link/core"],
    "models/link/core": DATA,
    "models/machine_file": ["base", "models/spec", "models/link/core"],
    "models/ipu": UNIT + UNITS,
    "models/listeners": DATA + ["traces", "models/events"],
    "models/system": UNIT + UNITS + ["models/ipu"],
    "models/simulation": UNIT + ["models/ipu", "models/listeners", "models/system"],
    "kernels/workload": DATA,
    "kernels/pattern": DATA + ["kernels/workload"],
    "kernels/vertex": DATA + ["kernels/workload"],
    "kernels/codelets": DATA + ["kernels/workload"],
    "kernels/collective": ["base"],
    "kernels/exchange_plan": DATA,
    "kernels/graph": DATA,
    "kernels/family": DATA + ["kernels/codelets", "kernels/function", "kernels/graph",
                              "kernels/lower", "kernels/plan", "kernels/workload"],
    "kernels/function": DATA + ["kernels/codelets", "kernels/graph", "kernels/plan",
                                "kernels/workload"],
    "kernels/catalog": DATA + ["kernels"],
    "kernels/modules": ["base"],
    "kernels/plan": DATA + ["kernels/codelets", "kernels/workload"],
    "kernels/published": DATA,
    "kernels/lower": DATA + ["kernels/graph", "kernels/exchange_plan", "kernels/plan",
                             "kernels/codelets"],
    "kernels/own_codelet": FAMILY + ["kernels/vertex"],
    "kernels/pipeline": FAMILY,
    "kernels/job": DATA + ["kernels"],
    "kernels/micro": FAMILY + ["kernels/rearrange"],
    "kernels/chips": FAMILY + ["kernels/collective", "kernels/micro"],
    "sim/cli": ["base"],
    "sim/process": ["base", "traces", "sim/cli"],
    "sim/cost": ["base", "models/counts", "models/spec"],
    "sim/recording": ["base", "models", "traces", "sim/result"],
    "sim/result": BELOW + ["sim/cli", "sim/cost", "sim/process"],
    "sim/sweep": BELOW + ["sim/cost"],
    "sim/vertex": BELOW + ["sim/result"],
    "sim/report": ["base", "traces", "sim/process", "sim/recording", "sim/result"],
    "sim/run": ON_RESULTS + ["sim/report", "sim/sweep"],
    "sim/compare": ON_RESULTS + ["sim/report", "sim/sweep"],
    "sim/explain": ON_RESULTS + ["sim/compare"],
    "sim/plot": ON_RESULTS + ["sim/compare", "sim/sweep"],
    "sim/pattern": ON_RESULTS,
    "sim/importer": ON_RESULTS,
    "sim/assemble": ON_RESULTS + ["sim/vertex"],
    "sim/calibrate": ON_RESULTS + ["sim/run", "sim/sweep", "sim/vertex"],
    "sim/vertex/command": ON_RESULTS + ["sim/run", "sim/vertex"],
    "sim/sweep/command": ON_RESULTS + ["sim/run", "sim/sweep"],
    "sim/report/command": ON_RESULTS + ["sim/report", "sim/run", "sim/sweep"],
    "sim/inquire": ["base", "traces", "models", "kernels", "sim"],
    "sim": ["base", "traces", "models", "kernels", "sim"],
    "tests": ["base", "traces", "models", "kernels", "sim"],
}

# The only folders whose files may include SystemC, and not their cores.
SYSTEMC = ["models/ports", "models/tile", "models/exchange", "models/sync", "models/memory",
           "models/link", "models/ipu", "models/system", "models/simulation", "sim", "tests"]

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def folder_of(path, table):
    parts = path.split("/")
    for length in range(len(parts), 0, -1):
        name = "/".join(parts[:length])
        if name in table:
            return name
    return "/".join(parts[:2]) if parts[0] == "kernels" else None


def offences(path):
    own = folder_of(path, ALLOWED)
    for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, name = match.group(1) == '"', match.group(2)
        if not quoted:
            if name.startswith("systemc") and (
                not any(path.startswith(f + "/") for f in SYSTEMC) or "/core/" in path
            ):
                yield f"{path}:{number}: includes SystemC; only {', '.join(SYSTEMC)} may, outside core/"
            continue
        target = folder_of(name, ALLOWED)
        if target is None:
            yield f'{path}:{number}: "{name}" is not a path from the project root'
        elif target != own and not any(
            target == f or target.startswith(f + "/") for f in ALLOWED.get(own, FAMILY)
        ):
            yield f"{path}:{number}: {own} may not include {target} ({name})"


# What a folder's namespace is: `tessera`, then the folder below the top; base has both.
NAMESPACE = re.compile(r"^namespace (tessera[\w:]*) \{$(.*?)^\}", re.MULTILINE | re.DOTALL)
FORWARD = re.compile(r"\s*((class|struct) \w+;\s*)+")


def strange_namespaces(path):
    parts = path.split("/")
    if parts[0] == "tests" or len(parts) < 3 and parts[0] in ("base", "sim"):
        return
    own = "traces" if parts[0] == "traces" else parts[1]
    for match in NAMESPACE.finditer((ROOT / path).read_text()):
        name = match.group(1).split("::")
        if name[1:2] != [own] and not FORWARD.fullmatch(match.group(2)):
            yield f"{path}: namespace {match.group(1)}, expected tessera::{own}"


def main():
    sources = [
        str(p.relative_to(ROOT))
        for folder in ("base", "traces", "models", "kernels", "sim", "tests")
        for p in sorted((ROOT / folder).rglob("*"))
        if p.suffix in (".h", ".cpp", ".def")
    ]
    found = [line for path in sources for check in (offences, strange_namespaces)
             for line in check(path)]
    print("\n".join(found) if found else f"layers: {len(sources)} files, no offence")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
