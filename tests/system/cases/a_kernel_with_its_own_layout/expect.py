"""What authors of kernels have: a word read below an array, a symbol of another file that nothing
calls, a table whose count shares a word with its pointer, FP8 numbers, a loop that is not aligned,
and both outputs in one file, in which lines stay whole."""
# SPDX-License-Identifier: MIT

import json
import subprocess

from cli_case import BINARY


def check(case):
    done = case.tessera("vertex", "kernel.json", "--json", "r.json", "--dump", "f8=f8.npy")
    case.assertEqual(done.stderr, "")
    words = " ".join(done.stdout.split())
    case.assertIn("undefined of_another_file (", words)
    case.assertIn("in no source; nothing that ran needs it", words)
    point = json.loads((case.scratch / "r.json").read_text())["points"][0]
    case.assertEqual([line["source"] for line in point["placement"]["lines"]], ["kernel.S:18"])
    case.assertEqual(point["placement"]["cycles"], 3 * 6) # a turn for each branch back
    case.assertIn(".align 8 before kernel.S:18 (18 cycles)", words)
    aligned = (case.scratch / "kernel.S").read_text().replace("loop:", ".align 8\nloop:")
    case.file("aligned.S", aligned)
    file = json.loads((case.scratch / "kernel.json").read_text())
    better = case.file("aligned.json", json.dumps(dict(file, sources=["aligned.S"])))
    case.assertNotIn("placement", case.tessera("vertex", better).stdout)

    file["entry"] = "never"
    case.file("kernel.S", (case.scratch / "kernel.S").read_text().replace(".globl k", ".globl never"))
    called = case.tessera("vertex", case.file("called.json", json.dumps(file)), code=3).stderr
    case.assertIn("symbol 'of_another_file': not defined", called)

    # a warning, behind a report that is longer than a buffer
    case.file("early.S", ".supervisor\n.globl early\nearly: setzi $m0, stop\n"
                         "run $m0, $mzero, 0\nbr $lr\n.globl late\nlate: sync 2\nbr $lr\n"
                         ".worker\nstop: setzi $m2, 50\n1: brnzdec $m2, 1b\nexitz $mzero\n")
    early = case.file("early.json", json.dumps(
        {"schema_version": 1, "sources": ["early.S"],
         "arrays": {f"a{i}": {"type": "u32", "length": 4} for i in range(100)},
         "calls": [{"entry": "early", "kind": "supervisor"},
                   {"entry": "late", "kind": "supervisor"}]}))
    merged = subprocess.run([BINARY, "vertex", early], cwd=case.scratch, env=case.environment(),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    told = [line for line in merged.stdout.splitlines() if "tessera: warning:" in line]
    case.assertEqual(len(told), 1, merged.stdout)
    case.assertTrue(told[0].startswith("tessera: warning:"), told[0])
