#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints, as Markdown, what each change of layout of the workload `rearrange` takes; a whole Bow
takes the same.

usage: tools/rearrange_cycles.py TESSERA"""
import json
import subprocess
import sys


def main():
    print("| before | change | cycles |\n| --- | --- | ---: |")
    for dtype in ("f16", "f32"):
        for change in ("copy", "transpose", "cast", "cast, transpose"):
            sets = [f"dtype={dtype}"] + [f"{key}={str(key in change).lower()}"
                                         for key in ("cast", "transpose")]
            command = [sys.argv[1], "run", "rearrange", "--machine", "tiny", "--no-check", "-q",
                       "--json", "-"]
            command += [word for one in sets for word in ("--set", f"workload.{one}")]
            cycles = json.loads(subprocess.check_output(command))["cycles"]
            print(f"| {dtype.replace('f', 'FP')} | {change} | {cycles:,} |")


if __name__ == "__main__":
    main()
