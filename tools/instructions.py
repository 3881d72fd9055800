#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the host instructions of fixed pieces of work and holds them to tests/bench/instructions.json:
times on shared machines say nothing of a few per cent, counts do. They are the same on every host: the
programs take the portable engine and one thread, and the C library is told to use nothing that some
processors lack, such as string instructions, each pass of which would count.

usage: instructions.py [--update] BENCH_INSTRUCTIONS COMPILER

COMPILER is what made the program, for example GNU-12-RelWithDebInfo. Exits with 1 where a count has grown by
more than LIMIT or shrunk by as much (record it, then, with --update), with 77 where nothing is
recorded of that compiler and build type.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).resolve().parent.parent / "tests/bench/instructions.json"
LIMIT = 0.03
PLAIN_LIBRARY = ("glibc.cpu.hwcaps=-ERMS,-FSRM,-AVX2,-AVX,-FMA,-FMA4,-SSE4_2,-SSE4_1,-SSSE3,"
                 "-AVX_Fast_Unaligned_Load,-Fast_Unaligned_Copy:"
                 "glibc.cpu.x86_non_temporal_threshold=0x1000000")


def cases(program):
    told = subprocess.run([program], capture_output=True, text=True).stderr
    return told.split("one of", 1)[1].split()


def count(program, case):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=*measured*",
             f"--callgrind-out-file={folder}/out", program, case],
            capture_output=True, text=True, env=os.environ | {"GLIBC_TUNABLES": PLAIN_LIBRARY})
    if done.returncode != 0:
        sys.exit(f"{case}: ended with {done.returncode}\n{done.stderr}")
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def main():
    words = [word for word in sys.argv[1:] if word != "--update"]
    update = "--update" in sys.argv
    program, compiler = words
    record = json.loads(RECORD.read_text())
    if shutil.which("valgrind") is None:
        print("no valgrind here")
        return 77
    if compiler not in record and not update:
        print(f"no counts recorded of {compiler}")
        return 77
    names = cases(program)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as several:
        counts = dict(zip(names, several.map(lambda case: count(program, case), names)))
    wrong = 0
    for case, now in counts.items():
        before = record.get(compiler, {}).get(case)
        change = "new" if before is None else f"{100 * (now / before - 1):+.1f} %"
        print(f"{case:<28}{now:>16,}  {change}")
        wrong += before is None or abs(now / before - 1) > LIMIT
    if update:
        record[compiler] = counts
        RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
        return 0
    if wrong:
        print(f"{wrong} counts differ by more than {100 * LIMIT:.0f} %; "
              "tools/instructions.py --update records what a change is worth")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
