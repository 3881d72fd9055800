# SPDX-License-Identifier: MIT
"""Runs Tessera from Python: one run, the points of a sweep as they end, and stores as tables (docs/python.md).

The module starts the program `tessera` and reads its JSON, which gives keys and units: cycles are tile cycles, `_j` joules,
`_w` watts. It needs Python 3.11 and nothing else; only Rows.frame() needs pandas."""
import contextlib
import copy
import csv
import difflib
import html
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Self

Name = str | os.PathLike[str]  # a name that the program knows, or a file
Settings = Mapping[str, Any]  # parameters by their paths, as in {"tile.workers": 4}
_Points = Generator["Point", None, None]
_KINDS: "dict[int | str, type[TesseraError]]" = {}  # by the program's exit code and by a point's status
_JSON = {"True": "true", "False": "false", "None": "null"}  # words of values, as str() writes them
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?")
_TEXT = re.compile(r"key|status|machine|workload|mode|message|note|.*\.content|digests\..*")  # columns that are text


class TesseraError(Exception):
    """The program failed; str() is its own message. The classes below say why."""
    exit_code: int | None = None  # of the program; below 0 a signal; None of a sweep's point
    result: "Result | None" = None  # of a run whose answer is wrong

    def __init_subclass__(cls, of: Sequence[int | str]):
        _KINDS.update(dict.fromkeys(of, cls))


class CheckFailed(TesseraError, of=(1, "check_failed")): """The run ended, and its answer is wrong."""
class UsageError(TesseraError, of=(2,)): """The command line is wrong."""
class ConfigurationError(TesseraError, of=(3, "invalid")): """A machine, workload, sweep or data file is wrong, or a setting."""
class DoesNotFit(TesseraError, of=(4, "does_not_fit")): """It does not fit in tile memory or in streaming memory."""
class ProgramFault(TesseraError, of=(5, "fault")): """The tile program broke a rule of the machine."""
class NotModelled(ProgramFault, of=("not_modelled",)): """The run needs something that Tessera does not model."""
class FileError(TesseraError, of=(6,)): """A file cannot be read or written, or there is no program `tessera`."""
class Bug(TesseraError, of=(70, "crash", "error", "killed")): """The program has a bug, or something else ended it."""
class LimitExceeded(TesseraError, of=(71, "time_limit", "memory_limit")): """It takes more memory or time than it may."""
class TesseraWarning(UserWarning): """A warning that the program printed."""


def find_program(path: Name | None = None) -> str:
    """Returns the program that is started: `path` if given, else the environment's TESSERA, else the one that the source tree
    of this module has built (release, then dev) or that was installed with it, else that of PATH. Raises FileError."""
    named = path or os.environ.get("TESSERA")
    beside = ("../build/release/sim/tessera", "../build/dev/sim/tessera", "../../../bin/tessera")
    places: list[Name] = [named] if named else [*(Path(__file__).resolve().parent / place for place in beside), "tessera"]
    for place in places:
        if found := shutil.which(place):
            return os.path.abspath(found)
    failure = FileError(f"no program '{os.fspath(named or 'tessera')}'; the environment's TESSERA can name it")
    failure.exit_code = 6
    raise failure


class Node:
    """A part of a JSON document. Its keys are attributes; node["a.b"] is the value at a path, node["a key"] of any key."""

    def __init__(self, data: dict[str, Any]):
        self._data = data

    def __getitem__(self, path: str) -> Any:
        found: Any = self._data
        for key in [path] if path in self._data else path.split("."):
            if not isinstance(found, dict) or key not in found:
                near = difflib.get_close_matches(key, found, 1) if isinstance(found, dict) else []
                raise KeyError(f"no {path!r}" + "".join(f"; did you mean {one!r}?" for one in near))
            found = found[key]
        nodes = [Node(one) if isinstance(one, dict) else one for one in (found if isinstance(found, list) else [found])]
        return nodes if isinstance(found, list) else nodes[0]

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name] if not name.startswith("_") else object.__getattribute__(self, name)
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def get(self, path: str, default: Any = None) -> Any:
        """Returns the value at a path, or `default` where there is none."""
        with contextlib.suppress(KeyError):
            return self[path]
        return default

    def to_dict(self) -> dict[str, Any]:
        """Returns a copy of the JSON, as dictionaries and lists."""
        return copy.deepcopy(self._data)

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *filter(str.isidentifier, self._data)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._data)})"


class Result(Node):
    """What came out of a run; `tessera schema result` has its keys. print() shows the command line's report."""
    _report = ""
    cycles: int  # tile cycles
    seconds: float  # of the simulated machine

    def __str__(self) -> str:
        return self._report or repr(self)

    def __repr__(self) -> str:
        return f"Result({', '.join(f'{name} {text}' for name, text in self._lines()[:4])})"

    def _repr_html_(self) -> str:
        cells = (f"<td style='text-align:left'>{html.escape(text)}</td>" for line in self._lines() for text in line)
        return "<table>" + "".join(f"<tr>{name}{text}</tr>" for name, text in zip(cells, cells)) + "</table>"

    def _lines(self) -> list[tuple[str, str]]:
        get = self.get
        lines = {"workload": get("workload.name") or get("sentence"), "machine": get("machine.name"),
                 "cycles": f"{self.cycles:,}", "time": f"{self.seconds * 1e6:,.2f} us"}
        if get("gbytes_per_s"):
            lines["speed"] = f"{self.gbytes_per_s:.4g} GB/s"
        elif get("tflops"):
            lines["speed"] = f"{self.tflops:.4g} TFLOP/s, {self.fraction_of_peak:.1%} of the peak"
        if phases := get("phases"):
            lines["phases"] = ", ".join(f"{kind} {phases[kind]:,}" for kind in phases if phases[kind]) + " cycles"
        if energy := get("energy"):
            total, low, high = (f"{energy[key] * 1e6:,.4g}" for key in ("total_j", "low_j", "high_j"))
            lines["energy"] = f"about {total} uJ ({low} to {high}), {energy.mean_w:.3g} W"
        lines["check"] = get("check.sentence", "none")
        return [(name, text) for name, text in lines.items() if text is not None]


class Point(Node):
    """A point of a sweep that ended: its line of the store (docs/sweeps.md). `asked` is what sweep() was asked for."""
    @property
    def error(self) -> TesseraError | None:
        """Why the point is not ok; None if it is."""
        status = self._data["status"]
        return None if status == "ok" else _KINDS.get(status, TesseraError)(self._data.get("message", status))

    @property
    def result(self) -> Result:
        """What came out, without lists of steps and without energy, which load() has. Raises `error` if there is one."""
        if error := self.error:
            raise error
        return Result(self._data["result"])


@contextlib.contextmanager
def _child(program: Name | None, *words: Name, fine: Sequence[int] = (0,)) -> Iterator[Any]:
    """A process of the program. Where the `with` ends, this waits for it, and raises what it failed with or warns of what it
    warned of. An exception in the `with` ends it."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said, subprocess.Popen(
            [find_program(program), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
            encoding="utf-8", errors="replace", bufsize=1) as child:
        try:
            yield child
            child.communicate()
        finally:
            child.terminate()  # does nothing where it has ended
        said.seek(0)
        message = said.read().strip()
    code = child.returncode
    if code not in fine:
        is_absent = code == 5 and re.search(r"not\s+modelled|timing\s+mode\s+does\s+not\s+have", message)
        failure = _KINDS.get("not_modelled" if is_absent else code, Bug)(message or f"tessera ended with {code}")
        failure.exit_code = code
        raise failure
    if message:
        warnings.warn(message, TesseraWarning, stacklevel=4)


def _options(settings: Settings | None, **others: Any) -> list[str]:
    words = [f"--{name}={value}" for name, value in others.items() if value is not None]
    for path, value in (settings or {}).items():
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        words.append(f"--set={path}={_JSON.get(text, text)}")
    return words


def run(workload: Name, *, machine: Name = "bow", set: Settings | None = None, mode: str | None = None,
        plan: str | None = None, options: Sequence[str] = (), program: Name | None = None) -> Result:
    """Runs a workload (a name, a file or a matrix) once, as `tessera run` does.
    `set` has parameters in the units that `tessera describe` prints. `mode` is functional (if not given), timing, auto or
    estimate; `plan` is fastest (if not given) or published. `options` are further words of the command line, as in
    ["--out", "folder"]. Raises the TesseraError of the exit code; the program's warnings are TesseraWarnings."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        words = _options(set, machine=machine, mode=mode, plan=plan, json=file)
        try:
            with _child(program, "run", workload, *words, *options) as child:
                report = child.stdout.read()
        except CheckFailed as failure:
            failure.result = Result(json.loads(file.read_text("utf-8")))
            raise
        result = Result(json.loads(file.read_text("utf-8")))
        result._report = report
        return result


class Sweep(Iterator[Point]):
    """Points in the order of their ends. Its processes end when it is exhausted, closed, left by `with`, or forgotten."""

    def __init__(self, points: _Points):
        self._points, self.close = points, points.close

    def __next__(self) -> Point:
        return next(self._points)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def sweep(what: Name, points: Iterable[Settings] | Settings | None = None, *, machine: Name | None = None,
          set: Settings | None = None, mode: str | None = None, store: Name | None = None, jobs: int | None = None,
          options: Sequence[str] = (), program: Name | None = None) -> Sweep:
    """Runs points of `what`, a workload or a sweep's file, and gives each as a Point when it ends.
    `points` are settings of a point each, or {path: [values]} for all combinations; "machine" and "workload" are paths, too.
    Each is taken when it can run, so that a generator may wait for results. Without `points` all points of the file run,
    after those that `store` has. `store` keeps results; if not given, nothing does. `jobs` points run at a time; if not given
    one, of a file as many as there are cores. `mode` is timing, if neither it nor the file says another. A point that cannot
    run has an `error`; what no point can run with is raised, as by run()."""
    words = ["sweep", "worker", what, *_options(set, machine=machine, mode=mode, jobs=jobs, store=store), *options]
    if points is None:
        return Sweep(_of_file(program, words, store))
    if isinstance(points, Mapping):
        points = [dict(zip(points, values)) for values in itertools.product(*points.values())]
    return Sweep(_of_workers(program, [*words, "--stdin"], iter(points), jobs or 1))


def _of_workers(program: Name | None, words: list[Name], points: Iterator[Settings], jobs: int) -> _Points:
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(_child(program, *words)) for _ in range(jobs)]
        busy: dict[Any, Any] = {}
        while True:
            for child, point in zip(tuple(idle), points):
                idle.remove(child)
                busy[child.stdout] = child, point
                with contextlib.suppress(BrokenPipeError):  # it has ended, and has no answer
                    child.stdin.write(json.dumps(dict(point), default=lambda number: number.item()) + "\n")
            if not busy:
                return
            for stdout in wait(list(busy)):
                child, point = busy.pop(stdout)
                idle.append(child)
                if not (answer := child.stdout.readline()):
                    return  # _child says why
                yield Point({"asked": dict(point), **json.loads(answer)})


def _of_file(program: Name | None, words: list[Name], store: Name | None) -> _Points:
    with tempfile.TemporaryDirectory() as folder, _child(
            program, *words, "--quiet", *([] if store else [f"--store={folder}"]), fine=(0, 1)) as child:
        read: dict[Path, int] = {}  # bytes of each of the store's files
        while child.returncode is None:
            child.poll()  # what comes after it is read by the last round
            for file in sorted(Path(store or folder).glob("*.jsonl")):
                with file.open("rb") as lines:
                    lines.seek(read.setdefault(file, 0))
                    for line in itertools.takewhile(lambda line: line.endswith(b"\n"), lines):
                        read[file] += len(line)
                        with contextlib.suppress(ValueError):  # a damaged line; the program warns of it
                            yield Point(json.loads(line))
            time.sleep(0.02)


class Rows(list[dict[str, Any]]):
    """Rows of a table, which have the same keys; a value that a row does not have is None."""

    def frame(self) -> Any:
        """Returns a pandas.DataFrame. Raises ImportError where there is no pandas."""
        import pandas  # type: ignore
        return pandas.DataFrame(list(self))


def load(*stores: Name, columns: Sequence[str] = (), program: Name | None = None) -> Rows:
    """Returns a row for each point of the stores, with the columns of `tessera sweep collect --csv`. If `columns` are given, the
    rows have these, machine, workload and settings, as of `tessera sweep show`; energy, area and metrics have to be given."""
    rows = Rows()
    show = [["show", store, "--format=csv", *(f"--columns={column}" for column in columns)] for store in stores]
    for words in show if columns else [["collect", *stores, "--csv=-", "--quiet"]]:
        with _child(program, "sweep", *words) as child:
            rows += csv.DictReader(child.stdout)
    for column in dict.fromkeys(itertools.chain(*rows)):
        is_number = not _TEXT.fullmatch(column) and all(_NUMBER.fullmatch(row.get(column) or "0") for row in rows)
        for row in rows:
            text = row.get(column) or None
            row[column] = json.loads(text) if text and is_number else text
    return rows
