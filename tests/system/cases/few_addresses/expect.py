# SPDX-License-Identifier: MIT
"""A small run on a whole chip, under `ulimit -v 800000` and in a sweep with --memory-limit 800.

It has room: a tile takes the addresses that its program names, and the result is the same as without
a limit. Where even less is left, exit code 71 says so; it is never taken for a bug (70).
"""

import json
import resource


def limited(kib):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (kib * 1024, kib * 1024))


def check(case):
    free = case.result("./w.json", "-q")
    for mode in ("functional", "timing"):
        done = case.tessera("run", "./w.json", "-q", "--mode", mode, "--json", "-",
                            preexec_fn=limited(800000))
        result = json.loads(done.stdout)
        case.assertEqual(result["digests"]["tile_cycles"], free["digests"]["tile_cycles"])
        if mode == "functional":
            case.assertTrue(result["check"]["passed"])
            case.assertEqual(result["digests"], free["digests"])
    case.file("one.json", json.dumps({"schema_version": 1, "workload": "./w.json",
                                      "mode": "functional",
                                      "axes": [{"path": "tile.workers", "values": [6]}]}))
    sweep = case.tessera("sweep", "run", "./one.json", "-q", "--memory-limit", 800)
    shown = case.tessera("sweep", "show", "one.sweep", "--format", "csv").stdout.split("\n")
    case.assertTrue(shown[1].endswith(",ok"), f"{shown} {sweep.stderr}")
    # whatever is left, and however many threads are wanted
    for kib in range(100_000, 700_000, 43_000):
        for threads in (1, 8):
            done = case.tessera("run", "./w.json", "-q", "--mode", "timing", "--threads", threads,
                                code=None, preexec_fn=limited(kib))
            case.assertIn(done.returncode, (0, 71), f"{kib} KiB, {threads} threads: {done.stderr}")
            if done.returncode == 71:
                case.assertIn("memory", done.stderr + "memory" * ("of the system" in done.stderr))
