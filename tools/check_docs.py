#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares every output that README.md and docs/ show with what the program prints now.

usage: tools/check_docs.py TESSERA [--update] [--slow] [--times] [PAGE...]

    --update    rewrites the pages instead of complaining
    --slow      the blocks marked `slow` too (whole chips, minutes)
    --times     says how long each command took

A fenced block whose first line starts with `$ ` is a session: its commands run one after another,
and below each stands what it prints on stdout and stderr. `...` alone on a line stands for any
lines. A command below which nothing stands must only succeed.

Other blocks are held by a comment before them, one or several of

    <!-- check: prints COMMAND -->   the fenced block or table below is what COMMAND prints
    <!-- check: says COMMAND -->     each line that COMMAND prints stands in the paragraph below
    <!-- check: file NAME -->        the fenced block below is the text of file NAME, for the
                                     page's commands
    <!-- check: runs COMMAND -->     nothing is shown; COMMAND makes what later ones need
    <!-- check: slow -->             only with --slow
    <!-- check: varies REGEX -->     what matches differs from run to run
    <!-- check: fails CODE -->       the commands below end with CODE
    <!-- check: cells -->            the page's blocks of ```python from here on are cells of a notebook:
                                     they run one after another in one Python, and what a cell prints
                                     stands in the fenced block behind it; expressions print their value

A page's commands run in one empty folder that holds links to the project's folders; `tessera` is
TESSERA, and `import tessera` finds python/tessera.py. The numbers of a summary's line `host` differ from run to run anyway, and so does how far a sweep is.
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3"  # whose packages are Debian's
LINKS = ["configs", "kernels", "tests", "tools", "docs"]
PROGRESS = re.compile(r"[\d,]+ of [\d,]+ points?(, \S+ a second, .* left| in \d)") # of a sweep, if it takes long
COMMENT = re.compile(r"<!-- check: (\w+) ?(.*?) -->$")
# Reads cells, a JSON string a line, and answers each with what it prints: a JSON string a line, too.
CELLS = r"""
import ast, contextlib, io, json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            for statement in ast.parse(json.loads(line)).body:
                exec(compile(ast.Interactive([statement]), "cell", "single"), names)
        except Exception as mistake:
            traceback.print_exception(mistake, limit=0)
    print(json.dumps(text.getvalue()), flush=True)
"""
WITH_ARGUMENT = {"prints", "says", "file", "runs", "varies", "fails"}


class Mistake(Exception):
    pass


def dev_run_command():
    """What `./dev run` does behind building."""
    match = re.search(r"^  build/release/sim/(tessera run .*) \"\$@\"$", (ROOT / "dev").read_text(),
                      re.M)
    return match.group(1)


class Runner:
    def __init__(self, tessera, scratch, times):
        self.scratch = pathlib.Path(scratch)
        self.times = times
        (self.scratch / "bin").mkdir()
        (self.scratch / "bin" / "tessera").symlink_to(tessera)
        for name in LINKS:
            (self.scratch / name).symlink_to(ROOT / name)
        # a build folder stands beside the program, for what is no part of it
        (self.scratch / "build").symlink_to(tessera.parent.parent.parent)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("TESSERA_")}
        self.environment.update(PATH=f"{self.scratch}/bin:{os.environ['PATH']}", LC_ALL="C.UTF-8",
                                TESSERA=str(tessera), PYTHONPATH=str(ROOT / "python"), PYTHONDONTWRITEBYTECODE="1")
        self.cells = None

    def cell(self, source):
        """The lines that a notebook would show below a cell."""
        if self.cells is None:
            self.cells = subprocess.Popen([PYTHON, "-c", CELLS], cwd=self.scratch, env=self.environment, text=True,
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        begin = time.monotonic()
        self.cells.stdin.write(json.dumps(source) + "\n")
        self.cells.stdin.flush()
        lines = json.loads(self.cells.stdout.readline()).splitlines()
        if self.times:
            print(f"{time.monotonic() - begin:8.2f} s  {source.splitlines()[0][:100]}")
        return [line.rstrip() for line in lines]

    def close(self):
        if self.cells is not None:
            self.cells.communicate()

    def output(self, command, wanted):
        real = dev_run_command() if command == "./dev run" else command
        begin = time.monotonic()
        done = subprocess.run(["bash", "-c", "set -o pipefail; " + real], cwd=self.scratch,
                              env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if self.times:
            print(f"{time.monotonic() - begin:8.2f} s  {command[:100]}")
        if done.returncode != wanted:
            raise Mistake(f"`{command}` ended with {done.returncode}:\n{done.stdout}")
        lines = [line.rstrip() for line in done.stdout.splitlines()]
        return with_host_in_one_line([line for line in lines if not PROGRESS.match(line)])


def with_host_in_one_line(lines):
    """A summary's last line has a continuation or none, as long as its times happen to be."""
    whole = []
    for line in lines:
        if whole and re.match(r"host +plan ", whole[-1]) and line.startswith(" " * 11):
            whole[-1] += " " + line.lstrip()
        else:
            whole.append(line)
    return whole


def normal(line, varies):
    line = line.rstrip()
    if re.match(r"host +plan ", line):
        return "host"
    for pattern in varies:
        line = re.sub(pattern, "#", line)
    return re.sub(r" +#", " #", line)


def without_ellipsis(shown, printed):
    """What of `printed` the lines before and behind a `...` of `shown` stand for."""
    if "..." not in shown:
        return printed
    if shown.count("...") > 1:
        raise Mistake("a block can have one line `...`")
    before = shown.index("...")
    behind = len(shown) - before - 1
    if before + behind > len(printed):
        return printed
    return printed[:before] + ["..."] + (printed[-behind:] if behind else [])


def merged(shown, printed, varies):
    """The printed lines, those that are shown but for what varies as they are shown; None where all are."""
    kept = without_ellipsis(shown, printed)
    if [normal(line, varies) for line in shown] == [normal(line, varies) for line in kept]:
        return None
    known = {}
    for line in shown:
        known.setdefault(normal(line, varies), []).append(line)

    def as_shown(line):
        lines = known.get(normal(line, varies), [line])
        return lines.pop(0) if len(lines) > 1 else lines[0]

    return [as_shown(line) for line in kept]


class Page:
    def __init__(self, path, runner, options):
        self.path = path
        self.runner = runner
        self.options = options
        self.old = path.read_text().splitlines()
        self.new = []
        self.notes = {}
        self.mistakes = []
        self.checked = 0
        self.has_cells = False
        self.below_cell = []  # what the last cell printed and no block has shown yet

    def complain(self, number, text):
        self.mistakes.append(f"{self.path.relative_to(ROOT)}:{number}: {text}")

    def differs(self, number, command, shown, printed):
        lines = difflib.unified_diff(shown, printed, "shown", "printed", lineterm="", n=2)
        self.complain(number,
                      f"`{command}` prints something else; tools/check_docs.py TESSERA --update mends it\n" +
                      "\n".join(lines))

    def compared(self, number, command, shown):
        wanted = int(self.notes.get("fails", ["0"])[0])
        printed = self.runner.output(command, wanted)
        if not printed:
            raise Mistake(f"`{command}` prints nothing")
        return self.compared_with(printed, number, command, shown)

    def compared_with(self, printed, number, command, shown):
        self.checked += 1
        better = merged(shown, printed, self.notes.get("varies", []))
        if better is None:
            return shown
        if not self.options.update:
            self.differs(number, command, shown, better)
            return shown
        return better

    def note(self, number, kind, argument):
        if (kind in WITH_ARGUMENT) != bool(argument) or kind not in WITH_ARGUMENT | {"slow", "cells"}:
            raise Mistake(f"{self.path}:{number}: unknown note '{kind} {argument}'")
        self.has_cells = self.has_cells or kind == "cells"
        self.notes.setdefault(kind, []).append(argument)

    def skipped(self):
        return "slow" in self.notes and not self.options.slow

    def block(self, number, body, fenced):
        """Lines to stand instead of `body`."""
        if self.skipped():
            return body
        for name in self.notes.get("file", []):
            (self.runner.scratch / name).write_text("\n".join(body) + "\n")
        for command in self.notes.get("runs", []):
            self.checked += 1
            self.runner.output(command, 0)
        for command in self.notes.get("prints", []):
            body = self.compared(number, command, body)
        if fenced and body and body[0].startswith("$ "):
            body = self.session(number, body)
        return body

    def cell(self, number, body):
        self.no_cell_is_left(number)
        self.checked += 1
        self.below_cell = self.runner.cell("\n".join(body))

    def no_cell_is_left(self, number):
        if self.below_cell:
            raise Mistake("the cell before prints, and no block shows it:\n" + "\n".join(self.below_cell))

    def session(self, number, body):
        out = []
        starts = [i for i, line in enumerate(body) if line.startswith("$ ")] + [len(body)]
        for first, end in zip(starts, starts[1:]):
            shown = body[first + 1 : end]
            out.append(body[first])
            if shown:
                out += self.compared(number + first, body[first][2:], shown)
            else:
                self.checked += 1
                self.runner.output(body[first][2:], 0)
        return out

    def paragraph(self, number, body):
        for command in [] if self.skipped() else self.notes.get("says", []):
            self.checked += 1
            text = " ".join(" ".join(body).split())
            for line in self.runner.output(command, 0):
                if " ".join(line.split()) not in text:
                    self.complain(number, f"does not say: {line}")

    def end_of(self, at, is_inside):
        while at < len(self.old) and is_inside(self.old[at]):
            at += 1
        return at

    def check(self):
        at = 0
        while at < len(self.old):
            line = self.old[at]
            self.new.append(line)
            at += 1
            comment = COMMENT.match(line)
            try:
                if comment:
                    self.note(at, comment.group(1), comment.group(2))
                    if at == len(self.old) or not self.old[at].strip():
                        self.block(at, [], False)  # a `runs` by itself
                        self.notes = {}
                elif line.startswith("```"):
                    end = self.end_of(at, lambda other: other != "```")
                    body = self.old[at:end]
                    if self.has_cells and line == "```python":
                        self.cell(at, body)
                    elif self.below_cell:
                        body = self.compared_with(self.below_cell, at + 1, "the cell", body)
                        self.below_cell = []
                    self.new += self.block(at + 1, body, True)
                    at, self.notes = end, {}
                    self.new.append("```")
                    at += 1
                elif line.startswith("| ") and "prints" in self.notes:
                    end = self.end_of(at, lambda other: other.startswith("|"))
                    self.new[-1:] = self.block(at, self.old[at - 1 : end], False)
                    at, self.notes = end, {}
                elif line.strip() and self.notes:
                    end = self.end_of(at, lambda other: other.strip())
                    self.paragraph(at, self.old[at - 1 : end])
                    self.new += self.old[at:end]
                    at, self.notes = end, {}
            except Mistake as mistake:
                self.complain(at, str(mistake))
                self.new += self.old[at:]  # what comes later may need what has failed
                break
        if self.below_cell and not self.mistakes:
            self.complain(at, "the last cell prints, and no block shows it:\n" + "\n".join(self.below_cell))
        if self.options.update and self.new != self.old:
            self.path.write_text("\n".join(self.new) + "\n")
            print(f"{self.path.relative_to(ROOT)}: rewritten")


def update_four_tiles(tessera):
    """docs/four_tiles.md shows what rules give; its test knows them."""
    test = tessera.parent.parent / "tests" / "test_system_four_tiles"
    if test.exists():
        subprocess.run([test], env=dict(os.environ, TESSERA_UPDATE_DOCS="1"),
                       stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tessera", type=pathlib.Path)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    tessera = options.tessera.resolve(strict=True)
    pages = [page.resolve() for page in options.pages] or [ROOT / "README.md",
                                                           *sorted((ROOT / "docs").rglob("*.md"))]
    mistakes, checked = [], 0
    for path in pages:
        with tempfile.TemporaryDirectory() as scratch:
            runner = Runner(tessera, scratch, options.times)
            page = Page(path, runner, options)
            page.check()
            runner.close()
        mistakes += page.mistakes
        checked += page.checked
    if options.update and not options.pages:
        update_four_tiles(tessera)
    print("\n".join(mistakes) if mistakes
          else f"docs: {checked} outputs on {len(pages)} pages, all as printed")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
