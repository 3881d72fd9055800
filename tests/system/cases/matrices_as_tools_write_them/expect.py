# SPDX-License-Identifier: MIT
"""Matrices written by solvers, spreadsheets and editors: with a byte-order mark, blanks before
comments, comments behind numbers, Fortran's exponents, gzip, arrays, skew symmetry, repeated
entries, CRLF. All of them run and give the right answer; what cannot be read says why."""
import gzip
import json

BANNER = "%%MatrixMarket matrix "
GENERAL = BANNER + "coordinate real general\n"


def run(case, name, data, mode="w", code=0, **pattern):
    path = case.scratch / name
    if mode == "wb":
        path.write_bytes(data)
    else:
        path.write_text(data, newline="")
    workload = {"schema_version": 1, "kind": "spmm", "mode": "static", "n": 16, "block": 1,
                "pattern": {"file": name, **pattern}}
    (case.scratch / "w.json").write_text(json.dumps(workload))
    return case.tessera("run", "./w.json", "--machine", "tiny", "--threads", "1", "--out", "out",
                        code=code)


def entries(case):
    with open(case.scratch / "out/result.json") as file:
        return json.load(file)


def check(case):
    good = {
        "mark.mtx": "\ufeff" + GENERAL + "3 3 2\n1 1 1.5\n2 3 -2.5\n",
        "lead.mtx": "  " + GENERAL + "  % c\n  3 3 2\n  1 1 1\n  2 3 4\n",
        "comments.mtx": BANNER + "coordinate real general % by a solver\n% rows\n4 4 2 % size\n"
                        "1 2 1.0 % first\n\t% second part\n2 3 1.0",
        "crlf.mtx": (GENERAL + "3 3 2\n1 1 1.5D+00\n2 3 -2.5d0\n\n").replace("\n", " \r\n"),
        "skew.mtx": BANNER + "coordinate real skew-symmetric\n3 3 1\n2 1 -1\n",
        "array.mtx": BANNER + "array real general\n2 2\n1\n0\n2\n3\n",
        "mask.smtx": "\ufeff3, 3, 2\r\n\r\n0 1 2 2 \r\n0 2",
    }
    for name, text in good.items():
        with case.subTest(name):
            run(case, name, text)
            case.assertTrue(entries(case)["check"]["passed"])
    packed = gzip.compress(good["skew.mtx"].encode())
    run(case, "skew.mtx.gz", packed, "wb")

    twice = GENERAL + "3 3 3\n1 1 1\n1 1 2\n2 3 1\n"
    done = run(case, "twice.mtx", twice, code=3)
    case.assertIn('twice.mtx:4:1: entry (1, 1) is given twice, first on line 3; "duplicates": "sum" '
                  'adds them', done.stderr)
    run(case, "twice.mtx", twice, duplicates="sum")

    bad = {
        "complex.mtx": (BANNER + "coordinate complex general\n1 1 1\n1 1 1 0\n",
                        "complex.mtx:1:34: field: got 'complex', expected real, integer or pattern"),
        "hermitian.mtx": (BANNER + "coordinate real hermitian\n1 1 0\n",
                          "symmetry: got 'hermitian', expected general, symmetric"),
    }
    for name, (text, message) in bad.items():
        with case.subTest(name):
            done = run(case, name, text, code=3)
            case.assertIn(message, done.stderr)
    done = run(case, "cut.mtx.gz", packed[:-9], "wb", code=3)
    case.assertIn("cut.mtx.gz: gzip: the file is truncated", done.stderr)
    done = run(case, "wide.mtx", GENERAL.encode("utf-16"), "wb", code=3)
    case.assertIn("wide.mtx:1:1: got UTF-16 text, expected UTF-8", done.stderr)

    # a name that is near to none has no suggestion
    done = case.tessera("run", "./w.json", "--machine", "A100", code=3)
    case.assertNotIn("did you mean", done.stderr)
