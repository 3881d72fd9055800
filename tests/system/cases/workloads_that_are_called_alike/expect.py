# SPDX-License-Identifier: MIT
"""Different workloads have one file name, in different folders or after a file was changed between two
sweeps into one store: every table tells them apart, and what is judged are the lines of the sweep at
hand."""
import json

HEAD = "%%MatrixMarket matrix coordinate pattern general\n64 64 40\n"


def check(case):
    case.tessera("sweep", "run", "./sw.json", "--store", "s.sweep", "-q")
    show = lambda *more: json.loads(case.tessera("sweep", "show", "s.sweep", "--format", "json", *more).stdout)
    lines = show()
    case.assertEqual({line["workload"] for line in lines}, {"bert/ffn", "gpt/ffn"})
    cycles = {(line["workload"], line["tile.workers"]): line["cycles"] for line in lines}
    groups = {row["workload"]: row["mean cycles"] for row in show("--group", "workload")}
    case.assertEqual(groups, {name: (cycles[name, 4] + cycles[name, 6]) / 2 for name in groups})
    case.assertEqual(len(groups), 2)
    case.assertEqual(len(show("--best")), 1)
    case.assertEqual(len(show("--filter", "workload == ffn && tile.workers == 4")), 2)
    table = case.tessera("run", "bert/ffn.json", "gpt/ffn.json", "--machine", "tiny", "--mode", "timing").stdout
    case.assertEqual([line.split()[0] for line in table.splitlines()[-2:]], ["bert/ffn", "gpt/ffn"])
    case.assertIn("4 equal, 0 different, 0 only before, 0 only after",
                  case.tessera("sweep", "diff", "s.sweep", "s.sweep").stdout)

    best = []
    for rows in ("1 {}\n", "{} {}\n"):  # one row has all entries, or each has one
        case.file("g.mtx", 
            HEAD + "".join(rows.format(i, i) for i in range(1, 41)))
        case.tessera("sweep", "run", "./g.json", "--machine", "tiny", "--set", "tile.workers=4,6",
                     "--store", "s.sweep", "-q")
        best.append(show("--best")[0]["value"])
    case.assertNotEqual(*best)
    lines = [line for line in show() if line["workload"].startswith("g#")]
    by_content = {}
    for line in lines:
        by_content.setdefault(line["workload"], []).append(line["cycles"])
    case.assertEqual(sorted(map(min, by_content.values())), sorted(best))
    means = {row["workload"]: row["mean cycles"] for row in show("--group", "workload")}
    for name, values in by_content.items():
        case.assertEqual(means[name], sum(values) / 2)
