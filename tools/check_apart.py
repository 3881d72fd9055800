#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles every source by itself, without precompiled headers, and keeps nothing.

usage: tools/check_apart.py BUILD [--share N] [PART ...]

The usual build compiles several sources at a time behind headers that are parsed once, so that a source may
lack an #include and nobody sees it. BUILD is a build folder that was configured with TESSERA_UNITY off and
CMAKE_DISABLE_PRECOMPILE_HEADERS on (`./dev apart` does both). With PARTs, only sources whose paths contain one
of them; with --share, one N-th of them, which the commit's hash selects. Prints what the
compiler says of each source that fails, and ends with 1 if there is one.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True # no folder among the sources
from commit_share import share_of

OPTIMISATION = ("-O0", "-O1", "-O2", "-O3")


def command_of(entry):
    """The compiler's words for an entry, which then checks and writes nothing."""
    words = shlex.split(entry["command"])
    at = words.index("-o")
    del words[at:at + 2]
    if os.path.basename(words[0]) == "ccache":
        del words[0]
    words = [word for word in words if word not in OPTIMISATION and word != "-c"]
    return words + ["-O0", "-fsyntax-only"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--share", type=int, default=1, metavar="N")
    parser.add_argument("parts", nargs="*", metavar="PART")
    options = parser.parse_args()
    if options.share < 1:
        parser.error("--share: expected 1 or more")
    parts = options.parts
    entries = json.loads((options.build / "compile_commands.json").read_text())
    entries = [entry for entry in entries
               if not parts or any(part in entry["file"] for part in parts)]
    if not entries:
        sys.exit("check_apart: no source has a path with " + " or ".join(parts))
    if options.share > 1:
        entries = share_of(sorted(entries, key=lambda entry: entry["file"]), options.share)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = pool.map(
            lambda entry: (entry["file"],
                           subprocess.run(command_of(entry), cwd=entry["directory"], check=False,
                                          capture_output=True, text=True)), entries)
        for number, (file, run) in enumerate(runs, 1):
            if run.returncode != 0:
                failed += 1
                print(f"{file}\n{run.stderr}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{number} of {len(entries)} sources", end="", file=sys.stderr)
    print(f"{len(entries)} sources, {failed} that do not compile by themselves")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
