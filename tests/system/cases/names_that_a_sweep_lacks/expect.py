# SPDX-License-Identifier: MIT
"""`check` tells of a sweep what `sweep run` would refuse: machines, workloads, parameters and results that are not there, at
their places; and what some of its points cannot be."""


def check(case):
    for file, told in {
            "names.json": [r"names.json:3:25: /machine/1: unknown machine 'nosuch'; known: .*tiny",
                           r"names.json:3:35: /machine/2: .*gone.json: cannot be read",
                           r"names.json:4:33: /workload/1: unknown workload 'tiny_matmull'; did you mean 'tiny_matmul"],
            "paths.json": [r"paths.json:5:\d+: /set/chip.tiless: no machine and no workload .* has 'chip.tiless'; did you mean",
                           r"paths.json:6:\d+: /axes/0/path: .*'tile.wrkers'; did you mean 'tile.workers'",
                           r"paths.json:7:\d+: /axes/1/path: .*'workload.tensors.x.pattern.seed'",
                           r"paths.json:8:\d+: /points/0/workload.nn: .*'workload.nn'",
                           r"paths.json:9:\d+: /derive/workload.mm: .*'workload.mm'"],
            "results.json": [r"results.json:5:\d+: /constraints/0: no result has 'cycels'; did you mean 'cycles'",
                             r"results.json:6:\d+: /objectives/0/path: no result has 'cyles'"],
            "values.json": [r"values.json:6:\d+: /derive/workload.n: .*unknown name 'workload.q'"]}.items():
        checked = case.tessera("check", file, code=3).stderr
        for line in told:
            case.assertRegex(checked, line)
        for command in (["sweep", "run", f"./{file}", "--dry-run"], ["sweep", "submit", f"./{file}", "--shards", "2", "--print"],
                        ["sweep", "worker", f"./{file}", "--stdin"]):
            if command[1] != "worker" or file != "values.json": # its points are refused one by one
                refused = case.tessera(*command, code=3, input="").stderr
                case.assertEqual(refused.replace("./", ""), checked.replace("./", ""))
    case.assertRegex(case.tessera("check", "some.json").stdout,
                     r"some.json: ok, sweep some; \d+ points cannot be, as .*tile.workers: got \d+ workers, expected 1..8")
    case.assertEqual({"expect.py"} | {f"{name}.json" for name in ("names", "paths", "results", "values", "some")},
                     {entry.name for entry in case.scratch.iterdir()})
