# SPDX-License-Identifier: MIT
"""Traces with one fault each, which tools/check_trace.py has to name.
Usage: check_trace_test.py TRACE_WRITER SOURCE_DIRECTORY"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

WRITER, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
RESULT = json.loads((SOURCE / "tests/unit/traces/run_result.json").read_text())
FORMATS = {"perfetto": "pftrace", "chrome": "json", "vcd": "vcd"}


class CheckTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def write(self, form, scene="run", clock="cycles"):
        path = self.scratch / f"{scene}_{clock}.{FORMATS[form]}"
        subprocess.run([WRITER, scene, path, clock], check=True)
        return path

    def check(self, path, code, said, *arguments):
        done = subprocess.run([sys.executable, SOURCE / "tools/check_trace.py", path, *arguments],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertIn(said, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def rejects(self, form, said, before, after, clock="cycles", count=1, scene="run"):
        """The trace of the run in which a pattern is replaced."""
        path = self.write(form, scene, clock)
        text = path.read_text()
        broken, times = re.subn(before, after, text, count=count)
        self.assertGreaterEqual(times, 1, f"'{before}' is not in\n{text}")
        path.write_text(broken)
        self.check(path, 1, said)

    def result(self, **trace):
        path = self.scratch / "result.json"
        path.write_text(json.dumps({**RESULT, "trace": {**RESULT["trace"], **trace}}))
        return path


class SoundTest(CheckTest):
    def test_a_run_is_accepted_in_every_format_and_clock(self):
        for form in FORMATS:
            for clock in ("cycles", "machine"):
                with self.subTest(form=form, clock=clock):
                    self.check(self.write(form, clock=clock), 0,
                               f"{form} trace: 21 slices on 8 tracks, 75 cycles", "--result",
                               self.result(format=form, clock=clock))

    def test_a_cut_run_is_accepted_in_every_format(self):
        for form in FORMATS:
            with self.subTest(form):
                self.check(self.write(form, "truncated_run"), 0, "75 cycles, truncated", "--result",
                           self.result(format=form, slices=12))

    def test_several_chips_are_accepted_in_every_format_and_clock(self):
        for form in FORMATS:
            for clock in ("cycles", "machine"):
                with self.subTest(form=form, clock=clock):
                    self.check(self.write(form, "two_chips", clock), 0,
                               f"{form} trace: 10 slices on 6 tracks, 50 cycles")
                    self.check(self.write(form, "two_chips", clock), 0,
                               "counter samples: edges 2; flows: " + ("0" if form == "vcd" else "1"))

    def test_flows_are_seen_where_the_format_has_them(self):
        for form, flows in (("perfetto", 1), ("chrome", 1), ("vcd", 0)):
            self.check(self.write(form), 0, f"flows: {flows}")

    def test_what_is_no_trace_is_told(self):
        path = self.scratch / "t"
        for text, said in (("", "no packets"), ("{", "no JSON"), ("[]", "packet 0"),
                           ("$version x", "no $end"), ("{\"traceEvents\":[]}", "'otherData'"),
                           ("$comment $end\n$enddefinitions $end\n", "no changes")):
            path.write_text(text)
            self.check(path, 1, said)
        self.check(self.scratch / "missing", 1, "cannot be read")


class RulesTest(CheckTest):
    """Rules of all formats, on that in which a fault is easiest to write."""

    def test_metadata(self):
        for word in ("workload", "machine", "tessera", "trace_clock", "time_unit"):
            self.rejects("chrome", f"the metadata lacks '{word}'", rf'"{word}":"[^"]*",?',
                         '"other":"",' if word != "time_unit" else '"other":""')
        self.rejects("chrome", "the metadata lacks 'clock_hz'", '"clock_hz":', '"clock":')
        self.rejects("chrome", "says 74 cycles, the machine's track ends at 75", '"cycles":75}\n',
                     '"cycles":74}\n')
        self.rejects("chrome", "the unit '1 ns = 2 cycles'", '"time_unit":"1 ns = 1 cycle"',
                     '"time_unit":"1 ns = 2 cycles"')
        self.rejects("chrome", "does not say that 1 ns is 1 cycle", r"tiny \(1 ns = 1 cycle\)", "tiny")

    def test_flows(self):
        start = r',\n\{"ph":"s"[^\n]*(?=,\n)'
        self.rejects("chrome", "flow 1: ends 0 times", r'"ph":"f"', '"ph":"t"')
        self.rejects("chrome", "flow 1: has no end", r'"ph":"f"', '"ph":"t"')
        self.rejects("chrome", "flow 1: 't' comes after 'None'", start, "")
        self.rejects("chrome", "flow 1: begins on tile_0, expected slowest", start, "")
        self.rejects("chrome", "expected a sync of the machine",
                     r'("ph":"f",[^\n]*"tid":)2,("ts":)0.040', r'\g<1>37,\g<2>0.050')
        self.rejects("chrome", "the slice on slowest ends at 39, the barrier begins at 40",
                     r'("tid":37,"ts":0.000,"dur":)0.040(.*"cycles":)40', r"\g<1>0.039\g<2>39")
        self.rejects("chrome", "begins on slowest with tile 1, and the barrier's slowest tile is 0",
                     r'("tid":37,"ts":0.000,"dur":0.040,"args":\{"tile":)0', r"\g<1>1")
        self.rejects("chrome", "flow 1: no slice begins at 41 on machine",
                     r'("ph":"f".*"ts":)0.040', r"\g<1>0.041")
        self.rejects("chrome", "'f' does not bind to the slice around it", r'("ph":"f",)"bp":"e",',
                     r"\1")

    def test_counters(self):
        self.rejects("chrome", "words_moved: falls from 100 to 64 at 70",
                     r'("words_moved","pid":1,"ts":0.000,"args":\{"words of 4 bytes":)0', r"\g<1>100")
        self.rejects("chrome", "active_tiles: the value at 25 is -1, expected 0 or more",
                     r'("ts":0.025,"args":\{"tiles":)1', r"\g<1>-1")
        self.rejects("chrome", "active_tiles: time goes back from 25 to 24",
                     r'("active_tiles","pid":1,"ts":)0.040', r"\g<1>0.024")

    def test_slices(self):
        self.rejects("chrome", "they overlap", r'("tid":2,"ts":)0.050,"dur":0.020',
                     r"\g<1>0.045,\"dur\":0.025".replace("\\\"", "\""))
        self.rejects("chrome", "the slice at 50 says 20 cycles and lasts 21",
                     r'("tid":2,"ts":0.050,"dur":)0.020', r"\g<1>0.021")
        self.rejects("chrome", "machine: nothing from 70 to 71",
                     r'("tid":2,"ts":)0.070,"dur":0.005', r'\g<1>0.071,"dur":0.004')
        self.rejects("chrome", "the slice at 50 has no name", r'"name":"gather rows"', '"name":""')
        self.rejects("chrome", "has the category computing", r'"cat":"compute"', '"cat":"computing"')
        self.rejects("chrome", "the slice at 70 is empty", r'("tid":2,"ts":0.070,"dur":)0.005',
                     r"\g<1>0.000")

    def test_the_machines_clock(self):
        said = "which are 0 to 22162"
        self.rejects("chrome", said, r'("begin_cycle":0,"cycles":)40', r"\g<1>41", clock="machine")
        self.rejects("chrome", "does not say in which cycle it begins",
                     r'"begin_cycle":0,', "", clock="machine")
        self.rejects("vcd", "no cycle begins at 13515", "#13514\n", "#13515\n", clock="machine")


class ChipsTest(CheckTest):
    """The slices are those of link.to_ipu_1 and link.from_ipu_0."""

    def rejects(self, said, before, after):
        super().rejects("chrome", said, before, after, scene="two_chips")

    def test_messages(self):
        self.rejects("flow 1: 64 bytes are sent and 60 come", r'("ts":0.040.*"bytes":)64', r"\g<1>60")
        self.rejects("flow 1: 2 messages are sent and 3 come", r'("ts":0.040.*"messages":)2', r"\g<1>3")
        self.rejects("flow 1: what is sent from 21 to 49 comes from 40 to 49",
                     r'("ts":0.021,"dur":0.)009(.*"cycles":)9', r"\g<1>028\g<2>28")
        self.rejects("flow 1: leads from ipu_0.link.to_ipu_2 to ipu_1.link.from_ipu_0",
                     '"link.to_ipu_1"', '"link.to_ipu_2"')
        self.rejects("is of kind exchange, expected link", r'"cat":"link"(.*"ts":0.021)',
                     r'"cat":"exchange"\1')
        self.rejects("link.to_ipu_1: ends at 60, after the machine's 50",
                     r'("ts":0.021,"dur":0.0)09(.*"cycles":)9', r"\g<1>39\g<2>39")

    def test_a_slice_without_its_flow(self):
        self.rejects("slices of messages between chips: the trace says 2, flows of them says 0",
                     r'\{"ph":"s"[^\n]*\n\{"ph":"f"[^\n]*\n', "")

    def test_bytes_of_an_edge(self):
        result = json.loads(self.result().read_text())
        result["edges"] = [{"from": 0, "to": 1, "link_bytes": 85}, {"from": 1, "to": 0, "link_bytes": 14}]
        (self.scratch / "result.json").write_text(json.dumps(result))
        for said in ("bytes from ipu_0 to ipu_1: the trace says 84, edges says 85",
                     "bytes from ipu_1 to ipu_0: the trace says 0, edges says 14"):
            self.check(self.write("perfetto", "two_chips"), 1, said, "--result", self.scratch / "result.json")


class ChromeTest(CheckTest):
    def test_what_viewers_take_for_other_events(self):
        for said, before, after in (
                ("no JSON", r'"ph":"X"', '"ph":X'),
                ("no JSON", r"\n\],", "\n"),
                ("more behind the end", r"\}\n$", "}\n{}"),
                ("the key 'displayTimeUnit' is there 0 times", '"displayTimeUnit":"ns",', ""),
                ("displayTimeUnit is 'ms'", '"displayTimeUnit":"ns"', '"displayTimeUnit":"ms"'),
                ("unknown phase 'B'", r'"ph":"X"', '"ph":"B"'),
                ("which is no whole cycle", r'"dur":0.040', '"dur":0.0405'),
                ("at most six digits", r'"dur":0.040', '"dur":4e-2'),
                ("not as it should be", r'"dur":0.040', '"duration":0.040'),
                ("is on thread 3 of process 1, which is not named", r'"tid":2,"ts"', '"tid":3,"ts"'),
                ("its process 9 is not named", r'("thread_name","pid":)1', r"\g<1>9"),
                ("process_sort_index 2 of process 3 is taken", r'(:3,"args":\{"sort_index":)3', r"\g<1>2"),
                ("its number 2 is taken", r'("process_name","pid":)3', r"\g<1>2"),
                ("track 'tile' has no place", r'(\{"name":)"tile_0"', r'\g<1>"tile"')):
            with self.subTest(said):
                self.rejects("chrome", said, before, after)


class VcdTest(CheckTest):
    def test_what_viewers_take_for_other_values(self):
        for said, before, after in (
                ("has no $end", r"(?s)\$enddefinitions.*", "$var"),
                ("no $enddefinitions", r"(?s)\$enddefinitions.*", ""),
                ("the scope tiles is not left", r"\$upscope \$end\n(\$enddefinitions)", r"\1"),
                ("$upscope above all scopes", r"(\$scope)", r"$upscope $end\n\1"),
                ("is no module with a name", r"\$scope module tiles", "$scope module two tiles"),
                ("is no string 1 or integer 64", r"\$var string 1", "$var string 8"),
                ("printable or taken", r'\$var string 1 " name', "$var string 1 ! name"),
                ("the timescale is 1 ps", r"\$timescale 1 ns", "$timescale 1 ps"),
                ("'$dumpall' among the changes", r"\$dumpvars", "$dumpall"),
                ("$dumpvars leaves out 1 variables", r"(?s)(\$dumpvars\n)[^\n]*\n", r"\1"),
                ("the first time is 1, expected 0", "#0\n", "#1\n"),
                ("time goes back from 25 to 20", "#40\n", "#20\n"),
                ("the last time is 76, expected 75", "#75\n", "#76\n"),
                ("'kind' has two values at 40", r"#40\n(s\S+ \S+\n)", r"#40\n\1\1"),
                ("which is no variable", r"(#40\ns\S+) \S+", r"\1 ~~~"),
                ("is no string, which 'kind' is", r"#40\ns\S+", "#40\nb101"),
                ("a value before the first time", "#0\n", ""),
                ("the slice at 70 never ends", r"(?s)#75\n.*", "#75\n"),
                ("and yet a name", r"(#75\nsnone \S+\n)s- ", r"\1sname "),
                ("has no place below", "tile_1", "tiles_1")):
            with self.subTest(said):
                self.rejects("vcd", said, before, after)

    def test_a_result_of_another_run(self):
        path = self.write("vcd")
        result = json.loads(self.result(format="vcd").read_text())
        result["phases"]["compute"] += 1
        (self.scratch / "result.json").write_text(json.dumps(result))
        self.check(path, 1, "phases.compute says 41", "--result", self.scratch / "result.json")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
