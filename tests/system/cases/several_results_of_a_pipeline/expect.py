# SPDX-License-Identifier: MIT
"""Four branches side by side leave a result each.

All are saved, by their tensors' names, and told; output.npy is the last step's. Results of an older
run in the folder go.
"""

ROWS = {"y0": 38, "y1": 33, "y2": 29, "y3": 26}


def check(case):
    out = case.scratch / "out"
    out.mkdir()
    (out / "output.y9.npy").write_bytes(b"of an older run")
    (out / "output.my.notes.npy").write_bytes(b"somebody's own")
    done = case.tessera("run", "./w.json", "--threads", 1, "--out", "out")
    case.assertRegex(" ".join(done.stdout.split()), "results 4 tensors, each in output.NAME.npy of "
                                                    "--out, the first in output.npy too: y3, y0, y1, y2")
    case.assertEqual(sorted(path.name for path in out.iterdir()),
                     ["output.my.notes.npy", "output.npy"] + [f"output.{name}.npy" for name in ROWS] +
                     ["recording.bin.gz", "result.json", "trace.pftrace.gz"])
    for name, rows in ROWS.items():
        data = (out / f"output.{name}.npy").read_bytes()
        case.assertIn(f"'shape': ({rows}, 96)", data[:128].decode("latin-1"))
    case.assertEqual((out / "output.npy").read_bytes(), (out / "output.y3.npy").read_bytes())
    clash = case.tessera("run", "./w.json", "-q", "--out", "out", "--json", "out/output.y1.npy", code=2)
    case.assertIn("one file", clash.stderr)
