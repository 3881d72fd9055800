# SPDX-License-Identifier: MIT
"""A sweep over patterns names files beside it: they are found from any folder, and one of the same name
in the working folder is not taken. The store keeps them for `run --point`."""
import json
import shutil


def check(case):
    case.tessera("sweep", "run", "in/sw.json", "--store", "s.sweep", "-q")
    show = lambda store: json.loads(case.tessera("sweep", "show", store, "--format", "json",
                                                 "--columns", "cycles,flops,key").stdout)
    lines = {line["workload.pattern.file"]: line for line in show("s.sweep")}
    case.assertEqual({name: line["flops"] for name, line in lines.items()},
                     {"a.mtx": 2 * 2 * 16, "b.mtx": 2 * 4 * 16})
    # the same from a workload, whose options name files in the working folder
    case.tessera("sweep", "run", "in/w.json", "--machine", "tiny",
                 "--set", "workload.pattern.file=a.mtx,in/b.mtx", "--store", "t.sweep", "-q")
    case.assertEqual({line["flops"] for line in show("t.sweep")}, {2 * 1 * 16, 2 * 4 * 16})
    # what the sweep read is in its store
    shutil.rmtree(case.scratch / "in")
    again = json.loads(case.tessera("run", "--point", lines["b.mtx"]["key"], "--store", "s.sweep",
                                    "-q", "--json", "-").stdout)
    case.assertEqual(again["cycles"], lines["b.mtx"]["cycles"])
    case.assertIn("cycles", case.tessera("sweep", "show", "s.sweep", "--best").stdout)
    # a file that is not there is an answer, and the next line is served
    asked = ('{"workload": "tiny_spmm_b1", "workload.pattern.file": "nope.mtx"}\n'
             '{"tile.workers": 4}\n')
    answers = case.tessera("sweep", "worker", "tiny_matmul", "--machine", "tiny", "--stdin",
                           input=asked).stdout.splitlines()
    case.assertEqual([json.loads(answer)["status"] for answer in answers], ["invalid", "ok"])
