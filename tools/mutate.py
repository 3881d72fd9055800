#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many one-line mistakes the quick tests notice.

usage: tools/mutate.py [FOLDER ...] [--seed N] [--count N] [--skip REGEX] [--files N] [--part I/N]
                       [--again] [--budget SECONDS] [--labels REGEX] [--tests REGEX] [--without REGEX]
                       [--build FOLDER] [--targets NAME ...]

Takes mistakes at random from the sources of FOLDERs (base traces models kernels sim), two thirds of
them at boundaries: a comparison that takes its bound in or leaves it out, a number one higher,
std::min for std::max. All are compiled into one build, each behind tessera_mutant(NUMBER), which the
environment MUTATE=NUMBER turns on; the quick tests that reach a mistake run with it until one fails.
What no test notices is printed with its line.

--files N draws N sources, more likely those of more lines, and takes as many mistakes from each one.
Parsing and building all sources takes more than an hour of processor time, thirty a quarter of it.

--part 1/2 tries every second mistake. Tests can then be written and copied into this tree, where
only they are built anew, and --part 2/2 measures the rate with them. --again goes on with the
mistakes that survived: with the tests that they have not met, and those of programs built since.

Less time takes it to end a mistake's tests after --budget SECONDS, cheap tests first, to take only
tests with some --labels or names (--tests, --without), to build only the programs that --targets names, and to do so in the
--build of the dev preset, build/dev. On a machine that is busy with other things a budget ends
before many tests have run: "survived (7 of 15 tests)" says so, and --again goes on.

Sources are changed IN PLACE: use a git worktree of its own, with nothing uncommitted. Before another
seed, `git checkout . && rm base/mutant.h` takes the changes back. What is found goes to
build/mutants-SEED.json as it is found: the same command goes on where it was stopped.

Needs Debian's python3-clang-14; run it with /usr/bin/python3 where python3 is another.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/mutants"
SKIPPED = "activity|progress_line|interrupt|opcode_table|standard_constants"  # progress, tables
# What mistakes look like to the compiler; it does not say so of sources that have some.
WARNINGS = ["-W" + name for name in """
    aggressive-loop-optimizations array-bounds bool-compare bool-operation conversion dangling-else div-by-zero
    empty-body extra float-conversion int-in-bool-context logical-op maybe-uninitialized misleading-indentation
    narrowing nonnull overflow parentheses return-type sign-compare sign-conversion tautological-compare
    type-limits uninitialized unused unused-but-set-variable unused-function unused-parameter unused-value
    unused-variable""".split()]
HEADER = """#pragma once
""" + "".join(f'#pragma GCC diagnostic ignored "{name}"\n' for name in WARNINGS) + """
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
inline volatile char* tessera_mutant_hits() {
    const char* file = std::getenv("MUTATE_HITS");
    const int opened = file != nullptr ? ::open(file, O_RDWR | O_CLOEXEC) : -1;
    void* mapped = ::mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    return mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
}
inline bool tessera_mutant(int number) {
    static const char* const active = std::getenv("MUTATE");
    static const int on = active != nullptr ? std::atoi(active) : 0;
    static volatile char* const hits = tessera_mutant_hits();
    if (hits != nullptr && hits[number] == 0) { hits[number] = 1; }
    return number == on;
}
"""
# kind -> its share of all; the first four are at boundaries
SHARES = {"comparison": 32, "equality": 7, "number + 1": 20, "min/max": 8, "and/or": 6,
          "negated": 5, "arithmetic": 8, "arms": 4, "removed": 6, "unguarded": 4}
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
         "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+="}
KIND = {"==": "equality", "!=": "equality", "&&": "and/or", "||": "and/or",
        **dict.fromkeys(("<", "<=", ">", ">="), "comparison")}


class Finder:
    """The candidates of one source, in `found`."""

    def __init__(self, path, flags):
        import clang.cindex
        self.kinds = clang.cindex.CursorKind
        self.path, self.source, self.found = path, (ROOT / path).read_bytes(), {}
        unit = clang.cindex.Index.create().parse(str(ROOT / path), flags)
        for cursor in unit.cursor.get_children():
            self.visit(cursor, False, None)

    def text(self, start, end):
        return self.source[start:end].decode()

    def of(self, cursor):
        return self.text(cursor.extent.start.offset, cursor.extent.end.offset)

    def add(self, kind, extent, wrong, right):
        """`wrong` and `right`: the expression with the mistake and without; "": a statement left out."""
        line = self.source.count(b"\n", 0, extent[0]) + 1
        self.found[kind, extent] = {
            "file": self.path, "line": line, "last_line": line + self.source.count(b"\n", *extent),
            "start": extent[0], "end": extent[1], "kind": kind, "right": right, "wrong": wrong,
            "original": self.source.split(b"\n")[line - 1].decode().strip(),
            "mutated": wrong or f"without: {right}"}

    def visit(self, cursor, inside, parent):
        k, kind = self.kinds, cursor.kind
        extent, at = (cursor.extent.start.offset, cursor.extent.end.offset), cursor.location.offset
        text = self.text(*extent)
        elsewhere = str(cursor.extent.start.file) != str(ROOT / self.path)
        if elsewhere or re.match(r"[A-Z][A-Z_]+\(", text) or kind in (
                k.STATIC_ASSERT, k.ENUM_DECL, k.CXX_THROW_EXPR, k.TYPE_REF, k.TEMPLATE_REF, k.PARM_DECL):
            return
        children = list(cursor.get_children())
        function = kind in (k.FUNCTION_DECL, k.CXX_METHOD, k.CONSTRUCTOR, k.DESTRUCTOR,
                            k.FUNCTION_TEMPLATE, k.CONVERSION_FUNCTION)
        if function or kind == k.VAR_DECL:
            fixed = r"\bconst(expr|eval)\b" if function else r"\b(constexpr|static)\b"
            if re.search(fixed, self.text(extent[0], max(at, extent[0]))):
                return
            # what stands before a variable's name is of its type
            children = [c for c in children if function or c.extent.start.offset >= at]
            inside = inside or function
        if kind in (k.CASE_STMT, k.SWITCH_STMT) or re.match(r"if constexpr\b", text):
            children = children[1:]
        elif kind == k.CALL_EXPR and cursor.spelling in ("format", "print", "format_to"):
            return
        elif inside:
            self.mistakes(cursor, kind, extent, text, children, parent)
        for child in children:
            self.visit(child, inside, cursor)

    def mistakes(self, cursor, kind, extent, text, children, parent):
        k, parts = self.kinds, [self.of(c) for c in children]
        overloaded = kind == k.CALL_EXPR and len(children) == 3 and cursor.spelling[8:] in KIND
        if overloaded or (len(children) == 2 and kind in (k.BINARY_OPERATOR,
                                                          k.COMPOUND_ASSIGNMENT_OPERATOR)):
            start, end = children[0].extent.end.offset, children[-1].extent.start.offset
            if extent[0] <= start <= end <= extent[1]:  # else of a macro
                between = self.text(start, end)
                sign = between.strip(" \n()")
                shown = (self.text(extent[0], start) + between.replace(sign, OTHER.get(sign, ""))
                         + self.text(end, extent[1])) if sign in OTHER else None
                if shown and (sign in KIND or not overloaded):
                    self.add(KIND.get(sign, "arithmetic"), extent, shown, text)
        elif kind == k.INTEGER_LITERAL and re.fullmatch(r"(0x)?[0-9a-fA-F']+[uUlLzZ]*", text):
            # clang-format leaves no blank inside the brackets of templates
            before, after = self.text(extent[0] - 1, extent[0]), self.text(extent[1], extent[1] + 1)
            if before != "<" and after != ">" and (before != "[" or parent.kind != k.VAR_DECL):
                self.add("number + 1", extent, f"{text} + 1", text)
        elif kind == k.CALL_EXPR and re.match(r"std::(min|max)\b", text):
            other = re.sub(r"^std::m\w+", "std::max" if text[5:8] == "min" else "std::min", text)
            self.add("min/max", extent, other, text)
        elif kind == k.CONDITIONAL_OPERATOR and not any(part[:1] == '"' for part in parts):
            self.add("arms", extent, f"{parts[0]} ? {parts[2]} : {parts[1]}", text)
        elif kind == k.IF_STMT:
            then = next((i for i, c in enumerate(children) if c.kind == k.COMPOUND_STMT), 0)
            before = self.source[:children[then - 1].extent.start.offset].rstrip()[-1:]
            if then and children[then - 1].kind.is_expression() and before in (b"(", b";"):
                tested, condition = children[then - 1].extent, parts[then - 1]
                where, right = (tested.start.offset, tested.end.offset), f"static_cast<bool>({condition})"
                self.add("negated", where, f"!({condition})", right)
                last = ([""] + [self.of(c) for c in children[then].get_children()])[-1]
                if then == len(children) - 1 and re.match(r"(return|continue|break|throw)\b", last):
                    self.add("unguarded", where, "false", right)
        if parent is not None and parent.kind == k.COMPOUND_STMT and kind.is_expression():
            calls = kind in (k.CALL_EXPR, k.UNEXPOSED_EXPR) and re.search(r"\(| = ", text)
            assigns = kind in (k.COMPOUND_ASSIGNMENT_OPERATOR, k.BINARY_OPERATOR)
            unwanted = r"^(static_cast<void>|delete|co_)|activity|progress|\bput\(|print"
            if (assigns or calls or text[:2] in ("++", "--")) and not re.search(unwanted, text, re.I):
                self.add("removed", extent, "", text)


def find(job):
    return list(Finder(*job).found.values())


def run(command, check=True, **options):
    return subprocess.run(command, check=check, cwd=ROOT, **options)


def candidates(folders, skip, files, seed):
    """All of them, and the sources. A configuration without unity builds says how each is compiled."""
    parse, jobs = BUILD.with_name("mutants-parse"), []
    run(["cmake", "-S", ROOT, "-B", parse, "-G", "Ninja", "-DTESSERA_UNITY=OFF", "-DBUILD_TESTING=OFF",
         "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"], stdout=subprocess.DEVNULL)
    for entry in json.loads((parse / "compile_commands.json").read_text()):
        name = os.path.relpath(entry["file"], ROOT)
        if any(name.startswith(f.rstrip("/") + "/") for f in folders) and not re.search(skip, name):
            jobs.append((name, [f for f in shlex.split(entry["command"]) if re.match("-(I|D|std)", f)]))
    if files:
        draw = random.Random(seed)
        jobs = sorted(sorted(dict(jobs).items()), key=lambda job: -draw.random() ** (1 / lines_of(job[0])))[:files]
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        return [c for some in pool.map(find, sorted(jobs)) for c in some], [name for name, _ in jobs]


def folder_of(name):
    return "/".join(name.split("/")[:-1][:2])


def lines_of(name):
    return (ROOT / name).read_text().count("\n")


def choose(found, sources, count, seed, are_drawn):
    """`count` of them, spread over folders by their lines, over drawn sources evenly; kinds by their shares."""
    place_of = str if are_drawn else folder_of
    weights, draw = collections.Counter(), random.Random(seed)
    for name in sources:
        weights[place_of(name)] += 1 if are_drawn else lines_of(name)
    quota, due, each = {}, 0.0, count / sum(weights.values())
    for place in sorted(weights):
        due, before = due + each * weights[place], due
        quota[place] = round(due) - round(before)
    many, chosen = collections.Counter(c["kind"] for c in found), []
    for c in sorted(found, key=lambda c: -draw.random() ** (many[c["kind"]] / SHARES[c["kind"]])):
        apart = all(c["last_line"] < o["line"] or o["last_line"] < c["line"]
                    for o in chosen if o["file"] == c["file"])
        if quota[place_of(c["file"])] > 0 and apart:
            quota[place_of(c["file"])] -= 1
            chosen.append(c)
    chosen.sort(key=lambda c: (c["file"], c["start"]))
    return [{"id": number, **c} for number, c in enumerate(chosen, 1)]


def write_sources(mutants):
    """Every source with the mistakes that compile; -> file -> [(first line, last line, id)]."""
    spans, files = collections.defaultdict(list), {ROOT / "base/mutant.h": HEADER.encode()}
    for name in {m["file"] for m in mutants}:
        source = run(["git", "show", f"HEAD:{name}"], stdout=subprocess.PIPE).stdout
        text, at = b'#include "base/mutant.h"\n', 0
        for m in (m for m in mutants if m["file"] == name and m.get("result") != "not compiled"):
            text += source[at:m["start"]]
            first, on = text.count(b"\n") + 1, f"tessera_mutant({m['id']})"
            made = f"({on} ? ({m['wrong']}) : ({m['right']}))" if m["wrong"] else f"if (!{on}) {m['right']}"
            text, at = text + made.encode(), m["end"]
            spans[name].append((first, text.count(b"\n") + 1, m["id"]))
        files[ROOT / name] = text + source[at:]
    for path, text in files.items():
        if not path.exists() or path.read_bytes() != text:  # nothing is built twice
            path.write_bytes(text)
    return spans


def build(mutants, targets, save):
    """Leaves out what does not compile, until the rest does."""
    if not (BUILD / "CMakeCache.txt").exists():
        run(["cmake", "--preset", "dev", "-B", BUILD], stdout=subprocess.DEVNULL)
    while True:
        spans, bad = write_sources(mutants), set()
        done = run(["cmake", "--build", BUILD, "-j2", "--target", *targets, "--", "-k", "0"], check=False, text=True,
                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == 0:
            return
        for path, line in re.findall(r"([^\s:]+\.cpp):(\d+):\d+: (?:error|  +required from)", done.stdout):
            near = [(max(first - int(line), int(line) - last, 0), number) for first, last, number
                    in spans.get(os.path.relpath(BUILD / path, ROOT), [])]
            bad |= {min(near)[1]} if near else set()
        if not bad:
            sys.exit(done.stdout[-5000:] + "\nthe build fails, and not by a mistake")
        for m in (m for m in mutants if m["id"] in bad):
            m["result"] = "not compiled"
            print(f"does not compile: {m['file']}:{m['line']}: {m['mutated']}", flush=True)
        save()


def outcome_of(test, mutant, limit, **environment):
    folder = [p["value"] for p in test["properties"] if p["name"] == "WORKING_DIRECTORY"]
    process = subprocess.Popen(
        test["command"], cwd=(folder or [BUILD])[0], process_group=0,
        env=dict(os.environ, MUTATE=str(mutant), **environment),  # some tests take TESSERA_* away
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return "failed" if process.wait(limit) else "passed"
    except subprocess.TimeoutExpired:
        return "too long"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # and what it started
        process.wait()


def look_at_tests(state, tests):
    """How long each takes with no mistake on, and which mistakes it reaches.

    All tests of a program or a script that is newer are new."""
    built = {name: max(os.path.getmtime(part) for part in test["command"] if os.path.isfile(part))
             for name, test in tests.items()}
    anew = {name for name, known in state["tests"].items() if name in built and known.get("built") != built[name]}
    for m in state["mutants"]:
        m["passed"] = [name for name in m.get("passed", []) if name not in anew]

    def look(name):
        hits, start = BUILD / f"hits.{threading.get_ident()}", time.monotonic()
        hits.write_bytes(bytes(65536))
        if outcome_of(tests[name], 0, 600, MUTATE_HITS=str(hits)) != "passed":
            print(f"left out, for it fails with no mistake on: {name}", flush=True)
            return
        reached = [number for number, byte in enumerate(hits.read_bytes()) if byte]
        state["tests"][name] = {"took": time.monotonic() - start, "reached": reached, "built": built[name]}

    left = [name for name in tests if name not in state["tests"] or name in anew]
    for name in left:
        state["tests"].pop(name, None)
    list(concurrent.futures.ThreadPoolExecutor(2).map(look, left))


def try_mutants(state, tests, chosen, budget, save):
    held, lock = collections.defaultdict(threading.Lock), threading.Lock()  # no test beside itself
    noticed = collections.Counter()  # (file, test or program): what noticed a mistake's neighbours goes first

    def attempt(m):
        start, passed = time.monotonic(), m.setdefault("passed", [])
        reaching = [n for n, t in state["tests"].items() if n in tests and m["id"] in t["reached"]]
        reaching.sort(key=lambda n: (-noticed[m["file"], n], -noticed[m["file"], tests[n]["command"][0]],
                                     state["tests"][n]["took"]))
        by = None
        for name in (n for n in reaching if n not in passed):
            if time.monotonic() - start > budget:
                break
            limit = max(60.0, 5 * state["tests"][name]["took"])
            with held[name]:
                outcome = outcome_of(tests[name], m["id"], limit)
                # a test that fails without the mistake too has noticed nothing
                if outcome != "passed" and outcome_of(tests[name], 0, 4 * limit) == "passed":
                    by = name
                    break
            passed.append(name)
        met = len(set(passed) & set(reaching))
        result = ("noticed" + (" (too long)" if outcome == "too long" else "") if by
                  else "not reached" if not reaching
                  else "survived" + (f" ({met} of {len(reaching)} tests)" if met < len(reaching) else ""))
        with lock:
            m.update(result=result, by=by, reaching=len(reaching), took=round(time.monotonic() - start, 1))
            if by:
                noticed[m["file"], by] += 1
                noticed[m["file"], tests[by]["command"][0]] += 1
            save()
        print(f"{m['id']:4} {m['file']}:{m['line']}: {m['kind']}: {result} ({m['took']} s)", flush=True)

    left = [m for m in chosen if "result" not in m]
    list(concurrent.futures.ThreadPoolExecutor(2).map(attempt, left))


def report(mutants):
    tried = [m for m in mutants if m.get("result", "not compiled") != "not compiled"]
    for m in (m for m in tried if not m["by"]):
        print(f"{m['id']:4} {m['file']}:{m['line']}: {m['kind']}, {m['result']} ({m['reaching']} tests)\n"
              f"        {m['original']}\n     -> {m['mutated']}")
    for key in (lambda m: folder_of(m["file"]), lambda m: m["kind"], lambda m: "all"):
        print(f"\n{'':24}{'tried':>8}{'noticed':>9}{'survived':>9}{'not reached':>12}")
        for name in sorted({key(m) for m in tried}):
            many = collections.Counter(m["result"].split(" (")[0] for m in tried if key(m) == name)
            print(f"{name:24}{sum(many.values()):8}{many['noticed']:9}{many['survived']:9}{many['not reached']:12}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="*", default=["base", "traces", "models", "kernels", "sim"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--skip", default="$.", help="sources not to touch, a regular expression")
    parser.add_argument("--files", type=int, default=0, help="sources that are drawn; 0: all")
    parser.add_argument("--part", default="1/1", help="I/N: of every N mistakes the I-th alone")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds for one mistake")
    parser.add_argument("--build", default="build/mutants", help="the build; that of the dev preset may be taken")
    parser.add_argument("--targets", nargs="+", default=["all"], help="programs of tests to build")
    parser.add_argument("--labels", default=".", help="of the tests, as ctest -L has it")
    parser.add_argument("--tests", default=".", help="names of the tests, as ctest -R has it")
    parser.add_argument("--without", default="$.", help="names of tests to leave out, as ctest -E has it")
    parser.add_argument("--again", action="store_true", help="mistakes that survived meet tests that are new to them")
    options = parser.parse_args()
    global BUILD
    BUILD = ROOT / options.build
    part, parts = map(int, options.part.split("/"))
    kept = ROOT / f"build/mutants-{options.seed}.json"
    state = json.loads(kept.read_text()) if kept.exists() else {}

    def save():
        kept.with_suffix(".new").write_text(json.dumps(state, indent=1))
        kept.with_suffix(".new").replace(kept)

    if not state:
        if run(["git", "diff", "--quiet", "HEAD"], check=False).returncode:
            sys.exit("there are uncommitted changes")
        found, sources = candidates(options.folders, f"{SKIPPED}|{options.skip}", options.files, options.seed)
        state.update(seed=options.seed, candidates=collections.Counter(c["kind"] for c in found), tests={},
                     mutants=choose(found, sources, options.count, options.seed, options.files > 0))
        print(f"{len(state['mutants'])} of {len(found)}: {dict(state['candidates'])}", flush=True)
        save()
    build(state["mutants"], options.targets, save)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also in the background: tests send it
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))  # the tests inherit them
    shown = run(["ctest", "--test-dir", BUILD, "-LE", "slow", "-L", options.labels, "-R", options.tests,
                 "-E", options.without, "--show-only=json-v1"],
                stdout=subprocess.PIPE).stdout
    tests = {test["name"]: test for test in json.loads(shown)["tests"]
             if os.path.exists((test.get("command") or ["/none"])[0])}  # else it was not built
    look_at_tests(state, tests)
    save()
    chosen = [m for m in state["mutants"] if m["id"] % parts == part - 1]
    for m in chosen if options.again else []:
        if m.get("result", "").startswith(("survived", "not reached")):
            del m["result"]
    try_mutants(state, tests, chosen, options.budget, save)
    report(chosen)


if __name__ == "__main__":
    main()
