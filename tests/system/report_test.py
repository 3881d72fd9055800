#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pages of `tessera report`: the file by itself, and in a browser without a network.

Usage: report_test.py BINARY SOURCE_DIRECTORY [CLASS]
"""

import base64
import csv
import gzip
import hashlib
import html.parser
import io
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree
import zlib

from cli_case import SOURCE, CliTest
from recording_sample import changed, recording_of

HOSTILE = "</script><img src=x onerror=\"console.error('ran')\">&lt;<!--"
MODEL = json.loads((SOURCE / "tests/system/record.json").read_text())["model_version"] # the program's own
CHROMIUM = os.environ.get("TESSERA_CHROMIUM", "/usr/bin/chromium")


class Structure(html.parser.HTMLParser):
    """The elements of a page: that they close in order, their attributes, and the text of scripts."""
    EMPTY = {"meta", "br", "link", "img"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open:
            self.texts.append((self.open[-1], self.elements[-1][1], data))

    def texts_of(self, tag):
        return [(attributes, text) for one, attributes, text in self.texts if one == tag]


def data_of(page):
    text = next(text for attributes, text in Structure(page).texts_of("script") if attributes.get("id") == "page")
    return json.loads(zlib.decompress(base64.b64decode(text, validate=True)))


def recording_in(page, entry):
    [text] = [text for attributes, text in Structure(page).texts_of("script") if attributes.get("id") == entry["recording"]]
    return gzip.decompress(base64.b64decode(text, validate=True))


class ReportTest(CliTest):
    def page_of(self, *arguments):
        self.tessera("report", *arguments, "-o", "page.html", "-q")
        return (self.scratch / "page.html").read_text()

    def tiny(self, *arguments):
        """The result of a small run, in a file of its name."""
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--json", "tiny.json", "-q", *arguments)
        return json.loads((self.scratch / "tiny.json").read_text())

    def written(self, name, document):
        self.file(name, json.dumps(document))
        return name

    def store(self, workload="tiny_matmul", *arguments):
        self.tessera("sweep", "run", workload, "--machine", "tiny", "--store", "a.sweep", "-q", "--jobs", "1", *arguments)
        return "a.sweep"


class FileTest(ReportTest):
    def test_a_page_is_one_file_that_names_no_other(self):
        self.tiny()
        page = self.page_of("tiny.json")
        structure = Structure(page)
        for tag, attributes in structure.elements:
            self.assertFalse({"src", "href", "srcset", "action", "data"} & set(attributes), (tag, attributes))
            self.assertFalse([name for name in attributes if name.startswith("on")], (tag, attributes))
        self.assertFalse({"link", "iframe", "object", "embed", "base", "img"} & {tag for tag, _ in structure.elements})

    def test_its_policy_lets_only_its_own_script_and_style_sheet_through(self):
        self.tiny()
        structure = Structure(self.page_of("tiny.json"))
        policies = [attributes["content"] for tag, attributes in structure.elements
                    if attributes.get("http-equiv") == "Content-Security-Policy"]
        self.assertEqual(len(policies), 1)
        [script] = [text for attributes, text in structure.texts_of("script") if not attributes]
        [(_, style)] = structure.texts_of("style")
        hashes = {kind: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
                  for kind, text in (("script", script), ("style", style))}
        self.assertEqual(policies[0], f"default-src 'none'; script-src 'sha256-{hashes['script']}'; "
                                      f"style-src 'sha256-{hashes['style']}'")
        bundle = (SOURCE / "report/dist/report.js").read_text()
        self.assertTrue(script.strip() == bundle.strip())

    def test_its_data_are_the_result(self):
        result = self.tiny()
        data = data_of(self.page_of("tiny.json"))
        [entry] = data["entries"]
        self.assertEqual((entry["kind"], entry["label"], entry["source"]), ("run", "tiny_matmul on tiny", "tiny.json"))
        self.assertEqual(entry["result"], result)
        self.assertIsNone(entry["memory"])

    def test_it_has_the_licences_of_its_libraries(self):
        self.tiny()
        page = self.page_of("tiny.json")
        for name in ("d3-scale", "d3-shape"):
            self.assertTrue(re.search(name + r" \d+\.\d+\.\d+ \(ISC\)", page), name)
        self.assertGreater(page.count("Permission to use, copy, modify"), 5)

    def test_equal_results_have_equal_pages(self):
        self.tiny()
        self.assertTrue(self.page_of("tiny.json") == self.page_of("tiny.json"))

    def test_names_are_nowhere_but_in_the_data(self):
        result = self.tiny()
        result["workload"]["name"] = HOSTILE
        page = self.page_of(self.written("hostile.json", result))
        self.assertFalse("onerror" in page)
        self.assertEqual(data_of(page)["entries"][0]["label"], HOSTILE + " on tiny")

    def test_a_run_writes_its_page_with_its_memory_and_its_recording(self):
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--report", "page.html", "--memory", "memory.json",
                     "--record", "recording", "--json", "tiny.json", "-q")
        page = (self.scratch / "page.html").read_text()
        [entry] = data_of(page)["entries"]
        self.assertTrue(recording_in(page, entry) == (self.scratch / "recording").read_bytes())
        self.assertEqual(entry["memory"], json.loads((self.scratch / "memory.json").read_text()))
        self.assertEqual(entry["result"], json.loads((self.scratch / "tiny.json").read_text()))

    def test_several_runs_are_entries_of_one_page_also_one_that_failed(self):
        self.tessera("run", "tiny_matmul", "dense_4096_f16", "--machine", "tiny", "--mode", "timing", "--report",
                     "page.html", "--json", "both.json", "-q", code=4)
        own = (self.scratch / "page.html").read_text()
        for page in (own, self.page_of("both.json")):
            entries = data_of(page)["entries"]
            self.assertEqual([entry["kind"] for entry in entries], ["run", "failed"])
            self.assertIn("does not fit", entries[1]["message"])
        entry = data_of(own)["entries"][0]
        self.assertTrue(recording_in(own, entry).startswith(b"TSRECORD"))
        self.assertTrue(entry["memory"]["tiles"])

    def test_a_run_without_data_where_that_goes_has_its_recording_too(self):
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--mode", "auto", "--report", "page.html", "-q")
        page = (self.scratch / "page.html").read_text()
        [entry] = data_of(page)["entries"]
        self.assertTrue(recording_in(page, entry).startswith(b"TSRECORD"))

    def test_a_folder_of_several_runs_has_an_entry_for_each(self):
        self.tessera("run", "tiny_matmul", "tiny_spmm_b1", "--machine", "tiny", "--out", "out", "-q")
        page = self.page_of("out")
        entries = data_of(page)["entries"]
        for entry in entries:
            folder = (self.scratch / entry["source"]).parent
            self.assertTrue(recording_in(page, entry) == gzip.decompress((folder / "recording.bin.gz").read_bytes()))
        self.assertEqual([entry["source"] for entry in entries],
                         ["out/tiny_matmul/result.json", "out/tiny_spmm_b1/result.json"])
        self.assertEqual(len(data_of(self.page_of("out/tiny_matmul", "out"))["entries"]), 3)

    def test_an_estimate_has_a_page(self):
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--mode", "estimate", "--report", "page.html", "-q")
        [entry] = data_of((self.scratch / "page.html").read_text())["entries"]
        self.assertEqual(entry["result"]["mode"], "estimate")

    def test_the_page_goes_to_stdout_or_under_its_usual_name(self):
        self.tiny()
        said = self.tessera("report", "tiny.json").stdout
        self.assertRegex(said, r"^report.html: 1 entry, 0\.\d MiB\n$")
        self.assertTrue(self.tessera("report", "tiny.json", "-o", "-").stdout == (self.scratch / "report.html").read_text())

    def test_mistakes_are_told(self):
        self.file("no.json", "{")
        self.file("other.json", '{"cycles": 1}')
        self.written("lists.json", self.tiny() | {"compute_sets": 5})
        (self.scratch / "empty").mkdir()
        (self.scratch / "notes").mkdir()
        self.file("notes/of.txt", "no points")
        for name, code, words in (("no.json", 3, "no.json: got no JSON, expected a result"),
                                  ("other.json", 3, "other.json: got other JSON, expected a result of `tessera run --json`"),
                                  ("lists.json", 3, "lists.json: got other JSON, expected a result of `tessera run --json`"),
                                  ("empty", 6, "'empty': neither a result nor a store there"),
                                  ("notes", 6, "'notes': neither a result nor a store there"),
                                  ("none.json", 6, "none.json")):
            done = self.tessera("report", name, "-o", "page.html", code=code)
            self.assertIn(words, done.stderr)
            self.assertFalse((self.scratch / "page.html").exists())

    def test_a_store_is_what_sweep_show_says(self):
        store = self.store("tiny_matmul", "--set", "tile.workers=4,6", "--set", "workload.n=32,64")
        [entry] = data_of(self.page_of(store))["entries"]
        page = entry["store"]
        self.assertEqual((entry["label"], page["points"], page["rows"], page["seed"]), ("a.sweep", 4, 4, None))
        columns = {column["path"]: column for column in page["columns"]}
        shown = list(csv.DictReader(io.StringIO(
            self.tessera("sweep", "show", store, "--format", "csv", "--columns", "cycles,memory.max_bytes").stdout)))

        def points(rows):
            return sorted(tuple(float(row[path]) for path in ("tile.workers", "workload.n", "cycles", "memory.max_bytes"))
                          for row in rows)
        self.assertEqual(points([{path: columns[path]["numbers"][row] for path in columns if "numbers" in columns[path]}
                                 for row in range(4)]), points(shown))
        cycles = columns["cycles"]["numbers"]
        self.assertEqual([cycles[row] for row in page["best"]], [min(cycles)])
        best = next(csv.DictReader(io.StringIO(self.tessera("sweep", "show", store, "--best", "--format", "csv").stdout)))
        self.assertEqual(dict(zip(page["tables"]["best"]["head"], map(str, page["tables"]["best"]["rows"][0])))["what differs"],
                         best["what differs"])

    def test_metrics_and_objectives_of_a_sweep_are_columns(self):
        self.file("s.json", json.dumps({
            "schema_version": 1, "machine": "tiny", "workload": "tiny_matmul", "axes": [{"path": "tile.workers", "values": [4, 6]}],
            "metrics": {"thousands": "cycles / 1000"}, "objectives": [{"path": "activity.instructions", "goal": "min"}]}))
        self.tessera("sweep", "run", "./s.json", "--store", "a.sweep", "-q", "--jobs", "1")
        [entry] = data_of(self.page_of("a.sweep"))["entries"]
        columns = {column["path"]: column for column in entry["store"]["columns"]}
        shown = self.tessera("sweep", "show", "a.sweep", "--format", "csv", "--columns", "activity.instructions").stdout
        self.assertEqual(sorted(columns["activity.instructions"]["numbers"]),
                         sorted(int(row["activity.instructions"]) for row in csv.DictReader(io.StringIO(shown))))
        self.assertEqual(columns["thousands"]["numbers"], [cycles / 1000 for cycles in columns["cycles"]["numbers"]])

    def compared(self, *sets):
        """The page of two runs, of which only the second one has some settings, and what `tessera diff --json` says."""
        for folder, more in (("a", []), ("b", sets)):
            self.tessera("run", "tiny_matmul", "--machine", "tiny", "--out", folder, "-q", *(f"--set={one}" for one in more))
        self.tessera("diff", "a", "b", "--report", "page.html", "--json", "diff.json", "-q")
        return (self.scratch / "page.html").read_text(), json.loads((self.scratch / "diff.json").read_text())

    def test_a_comparison_has_its_json_and_both_runs_with_their_recordings(self):
        page, told = self.compared("exchange.lane_bytes=8")
        first, *sides = data_of(page)["entries"]
        self.assertEqual((first["kind"], first["sides"], [side["kind"] for side in sides]), ("comparison", [1, 2], ["run", "run"]))
        members = [(step.pop("members_a"), step.pop("members_b")) for step in first["comparison"]["steps"]]
        self.assertEqual(first["comparison"], told)
        for letter, side in zip("ab", sides):
            self.assertEqual(side["result"], json.loads((self.scratch / letter / "result.json").read_text()))
            self.assertTrue(recording_in(page, side) == gzip.decompress((self.scratch / letter / "recording.bin.gz").read_bytes()))
        lists = {"compute_set": "compute_sets", "exchange": "exchanges", "stream": "streams"}
        for step, numbers in zip(told["steps"], members):
            for side, own, count, cycles in zip(sides, numbers, (step["steps_a"], step["steps_b"]), (step["a"], step["b"])):
                steps = [side["result"][lists[step["kind"]]][number] for number in own]
                self.assertEqual((len(steps), sum(one["cycles"] for one in steps)), (count, cycles))

    def test_a_comparison_is_in_no_place_of_what_it_compares(self):
        self.compared()
        before = (self.scratch / "a/result.json").read_bytes()
        done = self.tessera("diff", "a", "b", "--report", "a/result.json", code=2)
        self.assertIn("--report: 'a/result.json' is what the command reads, expected another file", done.stderr)
        self.assertEqual((self.scratch / "a/result.json").read_bytes(), before)

    def test_a_recording_that_is_none_is_told_with_its_reason(self):
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--out", "out", "-q")
        (self.scratch / "out/recording.bin.gz").write_bytes(gzip.compress(b"something else"))
        done = self.tessera("report", "out", "-o", "page.html", "-q")
        self.assertIn("it does not begin as one; the page is without it", done.stderr)
        [entry] = data_of((self.scratch / "page.html").read_text())["entries"]
        self.assertIn("it does not begin as one", entry["no_recording"])
        self.assertNotIn("recording", entry)

    def test_names_that_look_like_numbers_stay_names(self):
        (self.scratch / "7.json").write_text((SOURCE / "configs/machines/tiny.json").read_text())
        self.tessera("sweep", "run", "tiny_matmul", "--machine", "./7.json", "--set", "tile.workers=4,6", "--store", "seven.sweep", "-q", "--jobs", "1")
        [entry] = data_of(self.page_of("seven.sweep"))["entries"]
        table = entry["store"]["tables"]["best"]
        best = dict(zip(table["head"], table["rows"][0]))
        self.assertEqual(best["machine"], "7")
        self.assertIsInstance(best["value"], (int, float))
        for column in entry["store"]["columns"]:  # each has a value of some point
            self.assertTrue(any(value is not None for key in ("numbers", "words") for value in column.get(key, [])), column["path"])

    def test_an_empty_store_has_a_page(self):
        (self.scratch / "empty").mkdir()
        self.file("empty/lines.jsonl", "")
        self.assertEqual(data_of(self.page_of("empty"))["entries"][0]["store"]["points"], 0)

    def test_what_is_shown_or_compared_is_not_overwritten(self):
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--out", "run", "--memory", "memory.json", "-q")
        shutil.copy(self.scratch / "memory.json", self.scratch / "run/memory.json")
        store = self.store()
        [lines] = (self.scratch / store).glob("*.jsonl")
        inputs = ["run/result.json", "run/recording.bin.gz", "run/memory.json", f"{store}/{lines.name}"]
        before = {name: (self.scratch / name).read_bytes() for name in inputs}
        for name in inputs:
            done = self.tessera("report", "run", store, "-o", name, "-q", code=2)
            self.assertIn(f"report: --output: '{name}' is what the command reads", done.stderr)
            for option in ("--json", "--report"):
                done = self.tessera("diff", "run", f"{store}:{json.loads(lines.read_text())['key'][:9]}", option, name, "-q", code=2)
                self.assertIn(f"diff: {option}: '{name}' is what the command reads", done.stderr)
        self.tessera("report", "run", "-o", "run/new.html", "-q")
        self.tessera("report", store, "-o", f"{store}/new.html", "-q", code=2)
        self.assertEqual(before, {name: (self.scratch / name).read_bytes() for name in inputs})

    def test_a_memory_report_of_another_run_is_left_out(self):
        self.tiny("--memory", "memory.json")
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--set", "workload.n=64", "--out", "run", "-q")
        shutil.copy(self.scratch / "memory.json", self.scratch / "run/memory.json")
        done = self.tessera("report", "run", "-o", "page.html", "-q")
        self.assertIn("is of another run than the result beside it", done.stderr)
        self.assertIsNone(data_of((self.scratch / "page.html").read_text())["entries"][0]["memory"])
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--out", "run", "-q")
        self.assertFalse((self.scratch / "run/memory.json").exists())
        for _ in range(2):
            self.tessera("run", "tiny_matmul", "--machine", "tiny", "--out", "new", "--memory", "new/memory.json", "-q")
            self.assertEqual((self.scratch / "new/memory.json").read_text(), (self.scratch / "memory.json").read_text())

    def test_bytes_behind_a_recording_are_left_out(self):
        """Browsers take no file of gzip with more behind it."""
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--out", "run", "-q")
        file = self.scratch / "run/recording.bin.gz"
        whole = file.read_bytes()
        file.write_bytes(whole + b"more")
        page = self.page_of("run")
        [entry] = data_of(page)["entries"]
        self.assertEqual(recording_in(page, entry), gzip.decompress(whole))


class BrowserTest(ReportTest):
    def setUp(self):
        super().setUp()
        for what, is_there in (("Chromium", os.path.exists(CHROMIUM)), ("node", shutil.which("node")),
                               ("playwright-core (npm ci in report/)", (SOURCE / "report/node_modules/playwright-core").exists())):
            if not is_there:
                self.skipTest(f"{what} is not there")

    def browse(self, page, *actions, **more):
        """Opens a page and does the actions; nothing may be said on the console, nothing asked from elsewhere."""
        asked = {"page": str(self.scratch / page), "actions": actions, **more}
        done = subprocess.run(["node", SOURCE / "report/browse.mjs"], input=json.dumps(asked), capture_output=True,
                              text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["failed"], answer["console"], answer["requests"]), (None, [], []))
        self.assertGreater(answer["ready_ms"], 0)
        return answer

    def entry(self, number, label):
        """What shows an entry of a page with several."""
        return [{"do": "choose", "selector": "header select", "value": f"{number}. {label}"}, {"do": "wait", "selector": f"html[data-shown='{number}']"}]

    def tables_of(self, page, *actions, **more):
        return self.browse(page, *actions, {"do": "tables"}, **more)["answers"][-1]

    def recorded(self, result, name="page.html", memory=None, **more):
        """A page of a result with a made-up recording, put together from a folder as `--out` leaves it."""
        folder = self.scratch / "out"
        folder.mkdir(exist_ok=True)
        (folder / "result.json").write_text(json.dumps(result))
        (folder / "recording.bin.gz").write_bytes(recording_of(result, **more))
        if memory is not None:
            (folder / "memory.json").write_text(json.dumps(memory))
        self.tessera("report", "out", "-o", name, "-q")
        return name

    def check_svgs(self, files):
        self.assertTrue(files)
        for name, text in files.items():
            root = xml.etree.ElementTree.fromstring(text)
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg", name)
            self.assertTrue(list(root.iter("{http://www.w3.org/2000/svg}text")), name)
            self.assertNotIn("var(", text, name)
            self.assertNotIn("NaN", text, name)


class OnePageTest(BrowserTest):
    """The page of one run: what CI looks at."""

    def test_its_tables_have_the_numbers_of_the_result(self):
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--out", "run", "--memory", "memory.json", "-q")
        result = json.loads((self.scratch / "run/result.json").read_text())
        memory = json.loads((self.scratch / "memory.json").read_text())
        result["workload"]["name"] = memory["workload"] = HOSTILE
        result["compute_sets"][0]["name"] = HOSTILE
        answer = self.browse(self.recorded(result, memory=memory), {"do": "tables"}, {"do": "offers", "label": "SVG"},
                             {"do": "offers", "label": "CSV"}, {"do": "text", "selector": "h1"},
                             {"do": "text", "selector": "img"}, {"do": "download", "selector": "[title='download the chart as SVG']"})
        tables, svgs, csvs, [title], images, [name, text] = answer["answers"]
        self.assertEqual(text, svgs[name])
        self.assertEqual(title, HOSTILE + " on tiny")
        self.assertEqual(images, [])
        summary = {row[0]: row[2] for row in tables["summary"]["rows"]}
        self.assertEqual((summary["cycles"], summary["time"]), (result["cycles"], result["seconds"]))
        self.assertEqual(summary["memory of the fullest tile"], result["memory"]["max_bytes"])
        self.assertEqual({row[0]: row[1] for row in tables["phases"]["rows"]}, result["phases"])
        self.assertEqual({row[1]: row[2] for row in tables["reasons"]["rows"]},
                         {key: part["cycles"] for key, part in result["explanation"].items()})
        self.assertEqual({(row[0], row[6]) for row in tables["balance"]["rows"]},
                         {(step["name"], step["tile_cycles"]["max"]) for key in ("compute_sets", "exchanges") for step in result[key]})
        self.assertEqual([row[0] for row in tables["exchanges"]["rows"]],
                         [step["name"] for step in sorted(result["exchanges"], key=lambda step: -step["cycles"])])
        self.assertEqual({row[0]: row[1] for row in tables["memory by kind"]["rows"]}, result["memory"]["worst_tile_bytes_by_kind"])
        self.assertEqual(sorted((row[0], row[2]) for row in tables["buffers"]["rows"]), sorted((one["name"], one["bytes"]) for one in memory["buffers"]))
        self.assertEqual(len(tables["executions"]["rows"]), len(result["compute_sets"]) + len(result["exchanges"]))
        tree = tables["tree"]["rows"]
        self.assertEqual((tree[0][0].lstrip("▾▸ "), tree[0][4]), (HOSTILE, result["cycles"]))
        self.assertEqual(sum(row[4] for row in tree[2:]), result["cycles"])
        self.check_recorded(tables, result)
        self.check_svgs(svgs)
        self.assertGreater(len(svgs), 14)
        self.assertEqual(list(csv.reader(io.StringIO(csvs["phases.csv"])))[1][:2], ["compute", str(result["phases"]["compute"])])

    def check_recorded(self, tables, result):
        """What is of issue slots and of pairs of tiles sums to the result."""
        self.assertEqual(sum(row[2] for row in tables["who sends to whom"]["rows"]),
                         sum(step["counts"]["words"]["received"] for step in result["exchanges"]))
        tiles, tile = result["machine"]["chip"]["tiles"], result["machine"]["tile"]
        self.assertGreaterEqual(tile["workers"], tile["pipeline_cycles"])  # then a slot of a round is a worker's
        sets = {step["name"]: step for step in result["compute_sets"]}
        self.assertEqual({row[0] for row in tables["issue slots"]["rows"]}, set(sets))
        for name, slots, share, issued, matrix, memory, other, supervisor, unequal, unowned, rest, launches in tables["issue slots"]["rows"]:
            step = sets[name]
            counts = step["counts"]
            self.assertEqual(slots, round(step["tile_cycles"]["mean"] * tiles))
            self.assertEqual(issued + matrix + memory + other + supervisor + unequal + unowned + rest, slots)
            self.assertEqual((issued, issued + matrix + memory + other, supervisor, launches), (
                sum(counts["worker_bundles"].values()), sum(counts["worker_issues"].values()),
                sum(counts["supervisor_instructions"].values()), counts["launches"]))
            self.assertEqual(unequal, round((step["busiest_worker_cycles"]["mean"] - step["mean_worker_cycles"]["mean"]) * tiles))
            self.assertEqual(unowned, 0)
            self.assertAlmostEqual(share, issued / slots)


class ComparisonTest(BrowserTest):
    def test_parts_sum_to_the_difference_and_steps_stand_out_in_both_timelines(self):
        for folder, lanes in (("a", 4), ("b", 8)):
            self.tessera("run", "tiny_matmul", "--machine", "tiny", "--out", folder, "-q", f"--set=exchange.lane_bytes={lanes}")
        self.tessera("diff", "a", "b", "--report", "page.html", "--json", "diff.json", "-q")
        told = json.loads((self.scratch / "diff.json").read_text())
        marked = {"do": "text", "selector": "[data-told=marked]"}
        tables, svgs, canvases, none, _, row, _, all_steps, _, step, _, _, run = self.browse(
            "page.html", {"do": "tables"}, {"do": "offers", "label": "SVG"}, {"do": "count", "selector": "canvas"}, marked,
            {"do": "click", "selector": "[data-table='parts of the difference'] tbody tr"}, marked,
            {"do": "press", "selector": "[data-section='Timelines'] button:text-is('all steps')", "key": "Enter"}, marked,
            {"do": "click", "selector": "canvas"}, marked,
            *self.entry(2, "A: tiny_matmul on tiny"), {"do": "text", "selector": "h1"})["answers"]
        rows = tables["parts of the difference"]["rows"]
        self.assertAlmostEqual(sum(one[3] for one in rows), told["change"])
        self.assertEqual({one[0] for one in rows if one[0]}, {one["name"] for one in told["steps"]})
        self.assertEqual([one[2] for one in tables["reasons of the difference"]["rows"]], [one["cycles"] for one in told["reasons"]])
        self.assertEqual([tuple(one) for one in tables["settings"]["rows"]], [("exchange.lane_bytes", "4", "8")])
        self.assertEqual({one[0]: one[1:3] for one in tables["figures"]["rows"]},
                         {one["path"]: [one["a"], one["b"]] for one in told["figures"] if one["a"] != one["b"]})
        self.assertEqual((canvases, none, all_steps), (2, [""], [""]))
        self.assertTrue(row[0].startswith(rows[0][0] + ": "), (row, rows[0]))
        self.assertRegex(step[0], ": ")
        self.assertEqual(run, ["A: tiny_matmul on tiny"])
        self.check_svgs(svgs)


class StorePagesTest(BrowserTest):
    """Pages of stores: those of sweeps, and of points that nobody would run."""

    def line(self, number, status="ok", **more):
        """A line of a store, of values that are drawn from its number."""
        rng = random.Random(number)
        workers, lanes = rng.choice([2, 4, 6, 8]), rng.choice([2, 4, 8, 16])
        cycles = 1000 + rng.randrange(100_000) // workers + rng.randrange(100_000) // lanes
        line = {"key": hashlib.sha256(str(number).encode()).hexdigest(), "status": status, "machine": "tiny",
                "workload": "tiny_matmul", "mode": "timing", "model": MODEL, "contents": {"machine": "m", "workload": "w"},
                "changes": {"tile.workers": workers, "exchange.lane_bytes": lanes, "workload.seed": number},
                "host": {"wall_s": 1.0}}
        if status == "ok":
            line["result"] = {"cycles": cycles, "seconds": cycles / 1e9, "empty_matrices": 0, "memory": {"max_bytes": 1000 * lanes + number % 7}}
        else:
            line["message"] = f"{HOSTILE}: got {number}"
        return json.dumps(line | more)

    def made(self, lines, name="made.sweep"):
        (self.scratch / name).mkdir()
        (self.scratch / name / "lines.jsonl").write_text("".join(line + "\n" for line in lines))
        return name

    def report(self, *names):
        self.tessera("report", *names, "-o", "page.html", "-q")
        return "page.html"

    def test_the_page_of_a_sweep_has_the_numbers_of_sweep_show(self):
        self.tessera("sweep", "run", "matrix_rate", "--store", "a.sweep", "-q", "--jobs", "1", "--set", "workload.m=256",
                     "--set", "workload.k=256", "--set", "workload.n=256")
        [tables, svgs] = self.browse(self.report("a.sweep"), {"do": "tables"}, {"do": "offers", "label": "SVG"})["answers"]
        shown = json.loads(self.tessera("sweep", "show", "a.sweep", "--format", "json").stdout)
        points = tables["points"]
        head = [cell.split(" ")[0] for cell in points["head"]]
        self.assertEqual(sorted((row[head.index("workload")], row[head.index("cycles")]) for row in points["rows"]),
                         sorted((row["workload"], row["cycles"]) for row in shown))
        for look, name in (("--best", "best"), ("--sensitivity", "sensitivity")):
            rows = json.loads(self.tessera("sweep", "show", "a.sweep", look, "--format", "json").stdout)
            self.assertEqual(len(tables[name]["rows"]), len(rows))
        self.check_svgs(svgs)

    def test_a_click_on_an_axis_keeps_lines_that_pass_there(self):
        self.made([self.line(number) for number in range(60)])
        visible = "figure[data-figure='Parallel coordinates'] path:not([visibility=hidden])"
        answers = self.browse(self.report("made.sweep"), {"do": "count", "selector": visible},
                              {"do": "click", "selector": "figure[data-figure='Parallel coordinates'] .brush"},
                              {"do": "count", "selector": visible},
                              {"do": "click", "selector": "figure[data-figure='Parallel coordinates'] .brush"},
                              {"do": "count", "selector": visible})["answers"]
        self.assertEqual((answers[0], answers[4]), (60, 60))
        self.assertTrue(0 < answers[2] < 60, answers)

    def test_points_that_all_failed_and_one_point_and_none(self):
        self.made([self.line(number, "fault") for number in range(5)], "failed.sweep")
        self.made([self.line(1)], "one.sweep")
        self.made([], "none.sweep")
        for name, words in (("failed.sweep", "No point is ok"), ("one.sweep", "All 1 point of the store are here"), ("none.sweep", "The store has no point")):
            [text, images] = self.browse(self.report(name), {"do": "text", "selector": "main"}, {"do": "text", "selector": "img"})["answers"]
            self.assertIn(words, text[0], name)
            self.assertEqual(images, [])

    def test_a_hundred_thousand_points_are_sampled(self):
        self.made([self.line(number) for number in range(100_000)])
        page = self.report("made.sweep")
        [told, tables] = self.browse(page, {"do": "text", "selector": "#told"}, {"do": "tables"}, timeout_ms=120000)["answers"]
        self.assertIn("The store has 100,000 points. 20,000 are here: the front, the best, the base and a sample of the others, drawn with seed 1.", told[0])
        best = json.loads(self.tessera("sweep", "show", "made.sweep", "--best", "--format", "json").stdout)
        self.assertEqual(tables["best"]["rows"][0][1], best[0]["value"])
        self.assertLess((self.scratch / page).stat().st_size, 20 << 20)


class DegenerateTest(BrowserTest):
    """Runs of which charts have little to show say what there is."""

    def texts_of(self, result):
        [text, svgs] = self.browse(self.recorded(result), {"do": "text", "selector": "main"}, {"do": "offers", "label": "SVG"})["answers"]
        self.check_svgs(svgs)
        return text[0]

    def test_one_tile_has_no_exchange(self):
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--set", "chip.tiles=1", "--set", "exchange.pair_double=false", "--json", "one.json", "-q")
        self.assertIn("The run has no exchange", self.texts_of(json.loads((self.scratch / "one.json").read_text())))

    def test_zero_energy_is_told(self):
        result = self.tiny()
        result["energy"] = {"total_j": 0, "by_kind": {}, "steps": [], "low_j": 0, "high_j": 0, "mean_w": 0}
        self.assertIn("The energy is 0", self.texts_of(result))

    def test_a_run_without_steps_and_cycles(self):
        result = self.tiny()
        for key in ("compute_sets", "exchanges", "streams", "kernels"):
            result[key] = []
        result["cycles"] = 0
        text = self.texts_of(result)
        for words in ("The run has no steps", "The recording has no step", "No step took cycles of a tile", "No compute set"):
            self.assertIn(words, text)

    def test_a_machine_of_several_chips(self):
        self.tessera("run", "collective", "--machine", "tiny4", "--report", "page.html", "--json", "r.json", "-q")
        result = json.loads((self.scratch / "r.json").read_text())
        tables = self.tables_of("page.html")
        self.assertEqual([row[1] for row in tables["chips"]["rows"]], [chip["cycles"] for chip in result["chips"]])
        self.assertEqual(sorted(row[2] for row in tables["edges"]["rows"]), sorted(edge["bytes"] for edge in result["edges"]))

    def test_fewer_workers_than_stages_and_instructions_of_several_issues(self):
        self.file("s.json", json.dumps({
            "schema_version": 1, "kind": "pipeline", "seed": 1, "tensors": {"x": {"shape": [64, 64], "values": "uniform"}},
            "steps": [{"name": "rows", "family": "softmax", "inputs": ["x"], "output": "y"}]}))
        self.tessera("run", "./s.json", "--machine", "tiny", "--set", "tile.workers=4", "--report", "page.html", "--json", "r.json", "-q")
        result = json.loads((self.scratch / "r.json").read_text())
        tables = self.tables_of("page.html")
        tiles, workers, stages = result["machine"]["chip"]["tiles"], 4, 6
        self.assertEqual(result["machine"]["tile"]["pipeline_cycles"], stages)
        sets = {step["name"]: step for step in result["compute_sets"]}
        held = 0
        for name, slots, _, issued, matrix, memory, other, supervisor, unequal, unowned, rest, _ in tables["issue slots"]["rows"]:
            counts = sets[name]["counts"]
            issues = sum(counts["worker_issues"].values())
            busiest = sets[name]["busiest_worker_cycles"]["mean"] * tiles
            self.assertEqual(issued + matrix + memory + other + supervisor + unequal + unowned + rest, slots)
            self.assertEqual(unowned, round(busiest * (stages - workers) / stages))
            self.assertEqual(unequal, round(busiest * workers / stages) - issues)
            self.assertEqual(matrix + memory + other, issues - sum(counts["worker_bundles"].values()))
            held += other
        self.assertGreater(held, 0)
        for name, turns, *shares in tables["contexts"]["rows"]:
            self.assertAlmostEqual(sum(shares[:workers]) * turns, sum(sets[name]["counts"]["worker_issues"].values()), delta=workers)

    def test_a_synchronisation_alone(self):
        self.tessera("run", "sync", "--machine", "tiny", "--report", "page.html", "-q")
        self.browse("page.html")

    def test_an_estimate_and_a_failed_run(self):
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--mode", "estimate", "--report", "page.html", "-q")
        self.browse("page.html")
        failed = {"status": "failed", "workload": {"name": HOSTILE}, "machine": {"name": "tiny"}, "message": HOSTILE, "exit_code": 4}
        [texts] = self.browse(self.report_of({"schema_version": 1, "runs": [failed]}), {"do": "text", "selector": "pre"})["answers"]
        self.assertIn(HOSTILE, texts)

    def report_of(self, document):
        self.tessera("report", self.written("some.json", document), "-o", "page.html", "-q")
        return "page.html"

    def test_of_several_runs_one_that_failed_is_among_them(self):
        self.tessera("run", "tiny_matmul", "dense_4096_f16", "--machine", "tiny", "--mode", "timing", "--report", "page.html", "-q", code=4)
        _, _, texts, pictures, _, _, back = self.browse(
            "page.html", *self.entry(2, "dense_4096_f16 on tiny"), {"do": "text", "selector": "main pre"}, {"do": "count", "selector": "canvas"},
            *self.entry(1, "tiny_matmul on tiny"), {"do": "count", "selector": "canvas"})["answers"]
        self.assertIn("does not fit", texts[0])
        self.assertEqual((pictures, back), (0, 1))

    def test_a_comparison_without_recordings_and_of_estimates(self):
        for name, mode in (("a", "timing"), ("b", "timing"), ("e", "estimate")):
            self.tessera("run", "tiny_matmul", "--machine", "tiny", "--mode", mode, "--json", f"{name}.json", "-q")
        for other, words in (("b", ["no recording is beside the result", "No cycle differs", "No setting of machine or workload differs"]),
                             ("e", ["Reasons cannot be told"])):
            self.tessera("diff", "a.json", f"{other}.json", "--report", "page.html", "-q")
            [text] = self.browse("page.html", {"do": "text", "selector": "main"})["answers"]
            for one in words:
                self.assertIn(one, text[0])

    def test_names_in_a_comparison_are_text(self):
        before = self.tiny()
        after = json.loads(json.dumps(before))
        after["workload"]["name"] = after["compute_sets"][0]["name"] = after["plan"]["odd"] = HOSTILE
        for name, result in (("a", before), ("b", after)):
            (self.scratch / name).mkdir()
            (self.scratch / name / "result.json").write_text(json.dumps(result))
            (self.scratch / name / "recording.bin.gz").write_bytes(recording_of(result))
        self.tessera("diff", "a", "b", "--report", "page.html", "-q")
        self.assertFalse("onerror" in (self.scratch / "page.html").read_text())
        text, images, tables = self.browse("page.html", {"do": "text", "selector": "main"}, {"do": "text", "selector": "img"}, {"do": "tables"})["answers"]
        self.assertIn("B: " + HOSTILE + " on tiny", text[0])
        self.assertEqual(images, [])
        self.assertIn(HOSTILE, {row[0] for row in tables["parts of the difference"]["rows"]})
        self.assertIn(HOSTILE, {row[2] for row in tables["plan"]["rows"]})

    def test_points_of_a_store_are_compared(self):
        self.store("tiny_matmul", "--set", "exchange.lane_bytes=4,8", "--keep", "full")
        keys = [json.loads(line)["key"][:12] for file in sorted((self.scratch / "a.sweep").glob("*.jsonl")) for line in file.read_text().splitlines()]
        self.tessera("diff", f"a.sweep:{keys[0]}", f"a.sweep:{keys[1]}", "--report", "page.html", "--json", "diff.json", "-q")
        told = json.loads((self.scratch / "diff.json").read_text())
        tables, _, _, title = self.browse("page.html", {"do": "tables"}, *self.entry(3, "B: tiny_matmul on tiny"), {"do": "text", "selector": "h1"})["answers"]
        self.assertEqual(title, ["B: tiny_matmul on tiny"])
        self.assertAlmostEqual(sum(one[3] for one in tables["parts of the difference"]["rows"]), told["change"])


class DamagedRecordingTest(BrowserTest):
    """A page whose recording is damaged says so and shows the rest."""

    def texts_of(self, recordings):
        """What a page says of the same result with each of the recordings."""
        result = self.tiny()
        for number in range(len(recordings)):
            folder = self.scratch / f"out/{number:02}"
            folder.mkdir(parents=True)
            (folder / "result.json").write_text(json.dumps(result))
            (folder / "recording.bin.gz").write_bytes(recording_of(result))
        page = self.page_of("out")
        for number, recording in enumerate(recordings):
            text = base64.b64encode(recording).decode()
            page, count = re.subn(rf'(id="recording-{number}">)[^<]*', lambda found: found.group(1) + text, page)
            self.assertEqual(count, 1)
        (self.scratch / "page.html").write_text(page)
        choices = [[*self.entry(number + 1, "tiny_matmul on tiny"), {"do": "text", "selector": "main"}] for number in range(len(recordings))]
        answers = self.browse("page.html", *[action for choice in choices for action in choice])["answers"]
        for number in range(len(recordings)):
            [main] = answers[3 * number + 2]
            self.assertIn(f"out/{number:02}/result.json", main)
            self.assertIn("Why the cycles were spent", main)
            yield main

    def test_it_is_told_what_is_wrong(self):
        whole = recording_of(self.tiny())
        bytes_ = gzip.decompress(whole)

        def older(header):
            header["schema_version"] = 1

        def beyond(header):
            header["chips"][0]["steps"][0]["columns"]["cycles"] = {"type": "u32", "offset": len(bytes_)}

        def negative(header):
            header["chips"][0]["executions"]["begin"]["offset"] = -8

        def no_step(header):
            header["chips"][0]["steps"].pop()

        def no_chip(header):
            header["last"] = 1

        def no_executions(header):
            del header["chips"][0]["executions"]

        cases = [(gzip.compress(b"something else"), "it is no recording"), (gzip.compress(b""), "it is no recording"),
                 (gzip.compress(bytes_[:200]), "its header is cut off"), (gzip.compress(bytes_[:-8]), "an array is not there"),
                 (whole[:-20], "The recording cannot be shown"), (b"not compressed", "The recording cannot be shown"),
                 (changed(whole, older), "it is of another version: 1"), (changed(whole, beyond), "an array is not there"),
                 (changed(whole, negative), "an array is not there"), (changed(whole, no_step), "an execution is of no step"),
                 (changed(whole, no_chip), "it has no chips or no tiles"), (changed(whole, no_executions), "its header is not whole")]
        for text, (_, words) in zip(self.texts_of([recording for recording, _ in cases]), cases, strict=True):
            self.assertIn("The recording cannot be shown: ", text)
            self.assertIn(words, text)


class TimelineTest(BrowserTest):
    def test_steps_and_tiles_are_shown_by_mouse_and_keys(self):
        self.tessera("run", "tiny_matmul", "--machine", "tiny", "--report", "page.html", "--record", "r", "--json", "r.json", "-q")
        result = json.loads((self.scratch / "r.json").read_text())
        answers = self.browse("page.html", {"do": "click", "selector": "canvas"}, {"do": "tables"},
                              {"do": "press", "selector": "canvas", "key": "+"}, {"do": "press", "selector": "canvas", "key": "ArrowRight"},
                              {"do": "press", "selector": "canvas", "key": "Enter"}, {"do": "press", "selector": "canvas", "key": "0"},
                              {"do": "fill", "selector": "[aria-label=tile]", "value": "3"}, {"do": "tables"},
                              {"do": "hover", "selector": "canvas"}, {"do": "text", "selector": "[data-figure=Timeline] .tip"})["answers"]
        tables = answers[1]
        self.assertEqual(len(tables["tiles of a step"]["rows"]), 4)
        cycles = {row[0]: row[4] for row in answers[7]["steps of tile 3"]["rows"]}
        for step in result["compute_sets"] + result["exchanges"]:
            self.assertLessEqual(cycles[step["name"]], step["tile_cycles"]["max"])
            self.assertGreaterEqual(cycles[step["name"]], step["tile_cycles"]["min"])
        self.assertRegex(answers[-1][0], r"^cycle [\d,]+, tile \d: ")

    def test_a_window_is_shown_and_what_was_left_out_is_told(self):
        result = self.tiny()
        window = (result["cycles"] // 4, result["cycles"] // 2)
        note = {"do": "text", "selector": "[data-section=Timeline] p.note"}
        axis = {"do": "content", "selector": "[data-figure=Timeline] svg text"}
        told, whole, _, zoomed, _, slowest = self.browse(
            self.recorded(result, window=window), note, axis, {"do": "click", "selector": "button:text-is('recorded window')"}, axis,
            {"do": "choose", "selector": "[data-section=Timeline] label:has-text('steps as in their') select", "value": "slowest execution"}, note)["answers"]
        self.assertRegex(told[0], rf"From cycle {window[0]:,} to {window[1]:,} each of \d executions? is drawn as it was")
        self.assertNotEqual(whole, zoomed)
        self.assertNotIn("0", zoomed[:zoomed.index("cycles")])
        self.assertEqual(told, slowest)  # no step of it runs twice
        [told] = self.browse(self.recorded(result, window=window, left_out=7), note)["answers"]
        for words in ("7 more found no room in it", "no room for 7 further executions", "not drawn through 7 further barriers"):
            self.assertIn(words, told[0])

    def test_a_table_that_is_cut_says_so(self):
        result = self.tiny()

        def many(header):
            header["chips"][0]["executions"] = {"count": 60_000, "step": 0, "begin": 0, "end": 1, "times": 1}

        self.recorded(result)
        (self.scratch / "out/recording.bin.gz").write_bytes(changed(recording_of(result), many))
        self.tessera("report", "out", "-o", "page.html", "-q")
        [texts] = self.browse("page.html", {"do": "content", "selector": "[data-section=Timeline] details p"})["answers"]
        self.assertEqual(texts, ["The table and its CSV have the first 50,000 of 60,000 executions."])

    def test_a_window_shows_single_executions(self):
        """A made-up window differs from the rest of its recording; that of a run whose steps run once does not."""
        result = self.tiny()
        whole = (0, result["cycles"] + 1)
        hover = [{"do": "hover", "selector": "canvas", "position": {"x": 4 + 60 * i, "y": 4 + 40 * j}} for i in range(8) for j in range(2)]
        tip = {"do": "text", "selector": "[data-figure=Timeline] .tip"}
        actions = [action for one in hover for action in (one, tip)]
        told = []
        for page in (self.recorded(result, "a.html"), self.recorded(result, "b.html", window=whole), "c.html", "d.html"):
            if page in ("c.html", "d.html"):
                more = ["--record-window", f"0:{result['cycles']}"] if page == "d.html" else []
                self.tessera("run", "tiny_matmul", "--machine", "tiny", "--report", page, "-q", *more)
            told.append(self.browse(page, *actions)["answers"][1::2])
        self.assertNotEqual(told[0], told[1])
        self.assertEqual(told[2], told[3])
        self.assertGreater(len({text.split(": ")[1] for [text] in told[2]}), 2)

    def test_one_chip_of_several_is_chosen_for_all_sections(self):
        choices = "label:has-text('recording of') select"
        before, count, _, after = self.browse(
            self.recorded(self.tiny(), chips=3), {"do": "text", "selector": choices}, {"do": "count", "selector": choices},
            {"do": "choose", "selector": choices, "value": "chip 1"},
            {"do": "tables"})["answers"]
        self.assertEqual((before[0].split("\n"), count), (["chip 0", "chip 1", "chip 2, which ends last"], 4))
        self.assertIsInstance(after["contexts"]["rows"][0][-1], str)  # counts of the supervisor are of the chip that ends last

    def test_marks_of_charts_are_reached_by_keys(self):
        self.tiny()
        self.tessera("report", "tiny.json", "-o", "page.html", "-q")
        chart = "figure[data-figure='The run by kind of phase'] svg"
        [_, tip] = self.browse("page.html", {"do": "press", "selector": chart, "key": "ArrowRight"},
                               {"do": "text", "selector": "figure[data-figure='The run by kind of phase'] .tip"})["answers"]
        self.assertRegex(tip[0], r"^compute [\d,]+, exchange [\d,]+")


class SizeTest(BrowserTest):
    """Pages stay below their sizes and are ready in their times. These are of the host's processors, so that the test
    does not depend on what else runs."""

    def test_a_product_on_a_whole_chip(self):
        self.tessera("run", "dense_4096_f16", "--mode", "timing", "--report", "page.html", "-q")
        self.assertLess((self.scratch / "page.html").stat().st_size, 3 << 20)
        self.assertLess(self.browse("page.html")["cpu_ms"], 2000)

    def test_a_pipeline_of_5000_steps(self):
        steps, tiles, rng = 2500, 1472, random.Random(1)
        result = self.tiny()
        result["machine"]["chip"]["tiles"] = tiles
        names = [f"layer.{number // 50}.part.{number % 50 // 10}.op{number}" for number in range(steps)]
        for key in ("compute_sets", "exchanges"):
            like = result[key][0]
            result[key] = []
            for number, name in enumerate(names):
                cycles = rng.randrange(1000, 100_000)
                result[key].append(like | {
                    "name": f"{name}: {key}", "cycles": cycles, "slowest_cycles": cycles, "bound_cycles": cycles // 2, "active_tiles": tiles,
                    "tile_cycles": {"min": 0, "mean": cycles * 0.9, "max": cycles}, "mean_cycles": cycles * 0.9, "slowest_tile": number % tiles})
        result["cycles"] = sum(step["cycles"] for key in ("compute_sets", "exchanges") for step in result[key])
        result["kernels"] = [{"name": name, "cycles": compute["cycles"] + exchange["cycles"], "percent": 0.04, "compute": compute["cycles"],
                              "exchange": exchange["cycles"], "sync": 0, "stream": 0, "link": 0, "rearrange_cycles": 0}
                             for name, compute, exchange in zip(names, result["compute_sets"], result["exchanges"])]
        page = self.recorded(result, shares=8)
        self.assertLess((self.scratch / page).stat().st_size, 20 << 20)
        answer = self.browse(page, {"do": "tables"}, timeout_ms=120000)
        self.assertLess(answer["cpu_ms"], 4000)
        self.assertEqual(answer["answers"][0]["tree"]["rows"][0][4], result["cycles"])


class PicturesTest(BrowserTest):
    """The pictures of docs/report.md and README.md. With TESSERA_UPDATE_PICTURES=1 they are written there."""
    FOLDER = SOURCE / "docs/report"

    def pictures(self, page, pictures, before=(), **more):
        self.browse(page, *before, *[{"do": "picture", "selector": selector, "file": str(self.scratch / name)} for name, selector in pictures.items()],
                    width=980, **more)
        for name in pictures:
            made = (self.scratch / name).read_bytes()
            self.assertTrue(made.startswith(b"\x89PNG") and len(made) < 150_000, (name, len(made)))
            if os.environ.get("TESSERA_UPDATE_PICTURES"):
                self.FOLDER.mkdir(exist_ok=True)
                (self.FOLDER / name).write_bytes(made)
            self.assertTrue((self.FOLDER / name).exists(), name)

    def figure(self, title):
        return f"figure[data-figure='{title}']"

    def test_of_a_run(self):
        self.tessera("run", "bert_layer", "--mode", "timing", "--report", "page.html", "-q")
        self.pictures("page.html", {"timeline.png": "[data-figure=Timeline]",
                                    "roofline.png": self.figure("Roofline of compute sets"), "kernels.png": self.figure("Kernels"),
                                    "memory.png": self.figure("Tile memory by step"), "slots.png": self.figure("Issue slots of compute sets"),
                                    "pairs.png": self.figure("Who sends to whom")},
                      before=[{"do": "choose", "selector": self.figure("Who sends to whom") + " label:has-text('colours') select", "value": "by powers"}])
        self.pictures("page.html", {"dark.png": self.figure("Why the cycles were spent")}, dark=True)

    def test_of_a_comparison(self):
        for folder, sets in (("narrow", []), ("wide", ["--set", "exchange.lane_bytes=8"])):
            self.tessera("run", "cora", "--mode", "timing", "--out", folder, "-q", *sets)
        self.tessera("diff", "narrow", "wide", "--report", "page.html", "-q")
        self.pictures("page.html", {"diff.png": "[data-section=Timelines]"},
                      before=[{"do": "click", "selector": "[data-table='parts of the difference'] tbody tr"}])

    def test_of_a_sweep(self):
        self.file("lanes.json", json.dumps({
            "schema_version": 1, "machine": "bow", "workload": "cora", "axes": [
                {"path": "exchange.lane_bytes", "log2": [4, 16]}, {"path": "tile.workers", "values": [4, 6, 8]},
                {"path": "chip.clock_hz", "values": [1.33e9, 1.85e9]}],
            "objectives": [{"path": "seconds", "goal": "min"}, {"path": "energy.mean_w", "goal": "min"}]}))
        self.tessera("sweep", "run", "./lanes.json", "--store", "a.sweep", "-q")
        self.tessera("report", "a.sweep", "-o", "page.html", "-q")
        self.pictures("page.html", {"front.png": self.figure("Two figures of each point"),
                                    "tornado.png": self.figure("Tornado: what each parameter does")})


def main():
    import sys
    names = sys.argv[3:4]
    module = sys.modules["__main__"]
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromTestCase(getattr(module, names[0])) if names else loader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
