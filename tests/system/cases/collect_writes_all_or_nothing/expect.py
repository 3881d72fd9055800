# SPDX-License-Identifier: MIT
"""`sweep collect` refuses one path for two outputs and a database on standard output, before it writes anything. Killed
at any moment, it leaves no database or a whole one, and no journal; one that was there keeps what it had."""
import os
import signal
import sqlite3
import subprocess
import time

import cli_case


def points_of(file):
    return sqlite3.connect(file).execute("SELECT count(*) FROM points").fetchone()[0]


def check(case):
    case.tessera("sweep", "run", "tiny_matmul", "--machine", "tiny", "--set", "tile.workers=2,4,6", "--store", "s", "-q")
    (case.scratch / "link.db").symlink_to("all.db")
    for outputs, why in [(["--csv", "f", "--sqlite", "f"], "--sqlite 'f' and --csv 'f' are one file"),
                         (["--csv", "all.db", "--sqlite", "link.db"], "are one file"),
                         (["--into", "f", "--csv", "./f"], "--into 'f' and --csv './f' are one path"),
                         (["--into", "f", "--sqlite", "f"], "are one path"),
                         (["--sqlite", "-"], "--sqlite: got '-', expected a file"),
                         (["--sqlite", "/dev/stdout"], "expected a file"),
                         (["--into", "-"], "--into: got '-', expected a folder")]:
        refused = case.tessera("sweep", "collect", "s", *outputs, code=2)
        case.assertIn(why, refused.stderr)
    case.tessera("sweep", "collect", "s", "--sqlite", "x.db", "--csv", "none/x.csv", code=6)
    case.assertEqual({"s", "link.db", "expect.py"}, {entry.name for entry in case.scratch.iterdir()})

    # a store of many lines, so that there is time to be killed in
    line = next((case.scratch / "s").glob("*.jsonl")).read_text().splitlines()[0]
    key = line.split('"key":"')[1][:64]
    (case.scratch / "many").mkdir()
    (case.scratch / "many" / "x.jsonl").write_text("".join(line.replace(key, f"{i:064x}") + "\n" for i in range(2000)))
    command = [cli_case.BINARY, "sweep", "collect", "many", "--sqlite", "many.db", "-q"]
    for whole_before in (False, True):
        begin = time.monotonic()
        case.tessera(*command[1:])
        took = time.monotonic() - begin
        case.assertEqual(points_of(case.scratch / "many.db"), 2000)
        for moment in range(5):
            if not whole_before:
                (case.scratch / "many.db").unlink(missing_ok=True)
            process = subprocess.Popen(command, cwd=case.scratch, env=case.environment())
            time.sleep(took * (moment + 1) / 6)
            process.send_signal(signal.SIGKILL if moment % 2 else signal.SIGTERM)
            process.wait()
            there = (case.scratch / "many.db").exists()
            case.assertTrue(there or not whole_before)
            if there:
                case.assertEqual(points_of(case.scratch / "many.db"), 2000)
            if not whole_before:
                case.assertFalse(any("journal" in name for name in os.listdir(case.scratch)))
