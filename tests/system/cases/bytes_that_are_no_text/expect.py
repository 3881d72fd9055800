# SPDX-License-Identifier: MIT
"""Bytes that are not UTF-8 end no run: `sweep worker --stdin` answers such a line and serves the next one, and a file that has
them in its name runs, alone and in a sweep. The name is written so that it can be read again."""
import json
import os
import shutil
import subprocess

import cli_case


def check(case):
    def run(*arguments, code=0, **options):
        done = subprocess.run([cli_case.BINARY, *arguments], capture_output=True, cwd=case.scratch,
                              env=case.environment(), timeout=120, **options)
        case.assertEqual(done.returncode, code, done.stderr)
        return done

    asked = b'{"workload.n": 16}\n{"workload.\xe9": 1}\n\xff\xfe\n{"machine": "\xff"}\n{"workload.n": 32}\n'
    answers = [json.loads(line) for line in run("sweep", "worker", "tiny_matmul", "--machine", "tiny", "--stdin",
                                                input=asked).stdout.decode().splitlines()]
    case.assertEqual([answer["status"] for answer in answers], ["ok", "invalid", "invalid", "invalid", "ok"])
    case.assertIn(r"\xff\xfe", answers[2]["message"])

    name, machine = b"caf\xe9.json", b"m\xe9.json"
    shutil.copy(cli_case.SOURCE / "configs/workloads/tiny_matmul.json", os.fsencode(case.scratch) + b"/" + name)
    shutil.copy(cli_case.SOURCE / "configs/machines/tiny.json", os.fsencode(case.scratch) + b"/" + machine)
    here = [b"./" + name, b"--machine", b"./" + machine]
    result = json.loads(run("run", *here, "--json", "-").stdout.decode())
    case.assertEqual(result["workload"]["name"], r"caf\xe9")
    run("run", *here, "--out", "o", "--trace", "t.json", "--memory", "m.json", "-q")
    json.loads((case.scratch / "t.json").read_text())
    run("run", *here, "--mode", "auto", "-q")
    run("run", *here[:1], "tiny_matmul", *here[1:], "--json", "all.json", "-q")
    json.loads((case.scratch / "all.json").read_text())

    for jobs in ("1", "2"):
        run("sweep", "run", *here, "--set", "workload.n=16,32", "--store", "s", "--jobs", jobs, "-q")
    listed = json.loads(run("sweep", "show", "s", "--format", "json", "--columns", "cycles,key").stdout.decode())
    case.assertEqual([(point["status"], point["workload"], point["machine"]) for point in listed],
                     2 * [("ok", r"caf\xe9", r"m\xe9")])
    run("run", "--point", listed[0]["key"], "--store", "s", "-q")
    case.assertIn(rb"m\xe9", run("sweep", "show", "s", "--best").stdout)
    refused = run("sweep", "run", "tiny_matmul", b"--set=workload.plan=\xe9", "--store", "t", code=3)
    case.assertIn(rb"\xe9", refused.stderr)
    case.assertIn(b"UTF-8", run("run", "tiny_matmul", b"--set=workload.plan=\xe9", code=3).stderr)
