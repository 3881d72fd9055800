# SPDX-License-Identifier: MIT
"""Pipes, sockets and devices in a store are not its files, and one that is given as an input and that nobody writes to is
told: no command waits for ever. A pipe with a writer is read."""
import os
import socket
import threading


def check(case):
    case.tessera("sweep", "run", "tiny_matmul", "--machine", "tiny", "--store", "s", "-q")
    table = case.tessera("sweep", "show", "s").stdout
    os.mkfifo(case.scratch / "s/pipe.jsonl")
    os.mkfifo(case.scratch / "s/sweeps/zzz.json")
    (case.scratch / "s/zero.jsonl").symlink_to("/dev/zero")
    (case.scratch / "s/gone.jsonl").symlink_to("nowhere")
    here = socket.socket(socket.AF_UNIX)
    here.bind(str(case.scratch / "s/socket.jsonl"))
    case.addCleanup(here.close)
    case.assertEqual(table, case.tessera("sweep", "show", "s").stdout)
    case.assertIn("1 known before", case.tessera("sweep", "run", "tiny_matmul", "--machine", "tiny", "--store", "s").stdout)
    case.tessera("sweep", "diff", "s", "s")
    case.tessera("sweep", "collect", "s", "--csv", "all.csv")

    pipe = case.scratch / "w.json"
    os.mkfifo(pipe)
    for command in (["run", "./w.json", "--machine", "tiny"], ["check", "w.json"], ["asm", "w.json"], ["sweep", "run", "./w.json"],
                    ["run", "tiny_matmul", "--machine", "./w.json"]):
        case.assertIn("w.json: cannot be read: is a pipe that nobody writes to", case.tessera(*command, code=6).stderr)
    writer = threading.Thread(target=lambda: pipe.write_text("00000000\n"))
    writer.start()
    case.assertTrue(case.tessera("disasm", "w.json", "--hex").stdout)
    writer.join()
