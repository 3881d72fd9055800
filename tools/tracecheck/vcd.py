# SPDX-License-Identifier: MIT
"""Reads value changes (IEEE 1364), and slices out of them: one begins where `kind` is written."""

import re

from .model import Broken, Slice, Trace

TICKS_A_SECOND = 10 ** 12
TOKEN = re.compile(rb"\S+")
NOTHING = "none"
COUNTERS = ("active_tiles", "exchange_bytes", "words_moved", "memory_bytes")
UNITS = {"cycles": ("1", "ns"), "machine": ("1", "ps")}


class Variable:
    def __init__(self, form, name):
        self.form = form  # string or integer
        self.name = name
        self.value = None
        self.first_set = False  # in $dumpvars


class Scope:
    """A scope with a `kind`, which is a track."""

    def __init__(self, track):
        self.track = track
        self.variables = {}  # by name
        self.open = None  # (begin, category, name, arguments)


class Reader:
    def __init__(self):
        self.trace = Trace("vcd", TICKS_A_SECOND)
        self.variables = {}  # by identifier
        self.scopes = {}  # by path
        self.scope_of = {}  # identifier of a kind -> Scope
        self.counter_of = {}  # identifier -> track
        self.notes = None
        self.path = ()
        self.now = None
        self.written = {}  # identifiers written at this time, in their order
        self.processes = {}  # by the scope of their chip
        self.tiles = {}

    def read(self, data):
        tokens = (match.group().decode() for match in TOKEN.finditer(data))
        try:
            self.definitions(tokens)
            self.changes(tokens)
        except (Broken, UnicodeDecodeError) as error:
            self.trace.complain(f"{'time ' + str(self.now) if self.now is not None else 'head'}: {error}")
        except (KeyError, ValueError) as error:
            self.trace.complain(f"time {self.now}: not as it should be: {error!r}")
        for scope in self.scopes.values():
            if scope.open:
                self.trace.complain(f"{scope.track.path()}: the slice at {scope.open[0]} never ends")
        return self.trace

    # Definitions

    @staticmethod
    def until_end(tokens):
        words = []
        for token in tokens:
            if token == "$end":
                return words
            words.append(token)
        raise Broken("a section has no $end")

    def definitions(self, tokens):
        timescale = None
        for token in tokens:
            words = self.until_end(tokens)
            if token == "$comment":
                self.comment(words)
            elif token == "$timescale":
                timescale = tuple(words)
            elif token == "$scope":
                if len(words) != 2 or words[0] != "module":
                    raise Broken(f"the scope '{' '.join(words)}' is no module with a name")
                self.path += (words[1],)
            elif token == "$upscope":
                if not self.path:
                    raise Broken("$upscope above all scopes")
                self.path = self.path[:-1]
            elif token == "$var":
                self.variable(words)
            elif token == "$enddefinitions":
                break
            elif token not in ("$version", "$date"):
                raise Broken(f"'{token}' among the definitions")
        else:
            raise Broken("no $enddefinitions")
        if self.path:
            self.trace.complain(f"the scope {'.'.join(self.path)} is not left")
        clock = self.trace.metadata.get("trace_clock", "cycles")
        if timescale != UNITS.get(clock):
            self.trace.complain(f"the timescale is {' '.join(timescale or ['missing'])}, expected "
                                f"{' '.join(UNITS.get(clock, '?'))} for the clock '{clock}'")

    def comment(self, words):
        for word in words:
            name, equals, text = word.partition("=")
            if not equals:
                continue
            if name == "truncated":
                self.trace.truncated = True
            else:
                self.trace.metadata[name] = (float(text) if name == "clock_hz" else
                                             int(text) if name == "cycles" else text)

    def variable(self, words):
        if len(words) != 4 or (words[0], words[1]) not in (("string", "1"), ("integer", "64")):
            raise Broken(f"the variable '{' '.join(words)}' is no string 1 or integer 64 with "
                         "identifier and name")
        form, _, identifier, name = words
        if not all("!" <= letter <= "~" for letter in identifier) or identifier in self.variables:
            self.trace.complain(f"the identifier '{identifier}' of {'.'.join(self.path)}.{name} is not "
                                "printable or taken")
        self.variables[identifier] = Variable(form, name)
        chip, path = self.split(self.path)
        if name in COUNTERS and path == ("machine",):
            self.counter_of[identifier] = self.trace.add(name, self.process(chip), "counter")
            return
        if path == ("edge",):
            self.counter_of[identifier] = self.trace.add(f"edge.{name}", self.process(chip), "counter")
            return
        if name == "notes" and path == ("machine",):
            return
        scope = self.scopes.get(self.path)
        if scope is None:
            scope = self.scopes[self.path] = Scope(self.track_of(self.path))
        scope.variables[name] = self.variables[identifier]
        if name == "kind":
            self.scope_of[identifier] = scope

    @staticmethod
    def split(path):
        """The scope of the chip, where there are several, and the path in it."""
        return (path[:1], path[1:]) if path and re.fullmatch(r"ipu_\d+", path[0]) else ((), path)

    def process(self, chip):
        if chip not in self.processes:
            self.processes[chip] = self.trace.add("".join(f"{name}." for name in chip), None, "process")
        return self.processes[chip]

    def track_of(self, scopes):
        chip, path = self.split(scopes)
        process = self.process(chip)
        if path == ("machine",) or path == ("machine", "slowest"):
            return self.trace.add(path[-1], process)
        if path[0] == "links":
            return self.trace.add(".".join(path[1:]), process)
        if path[0] == "link":
            return self.trace.add(".".join(path), process)
        if path[0] == "tiles" and chip not in self.tiles:
            self.tiles[chip] = self.trace.add("tiles", process)
        if path[0] == "tiles" and len(path) == 2:
            return self.trace.add(path[1], self.tiles[chip])
        over = self.scopes.get(scopes[:-1])
        return self.trace.add(path[-1], over.track if over else None)

    # Changes

    def changes(self, tokens):
        dumping = False
        for token in tokens:
            letter = token[0]
            if letter == "#":
                self.time(int(token[1:]))
            elif token == "$dumpvars":
                if self.now != 0:
                    self.trace.complain(f"$dumpvars at {self.now}, expected at 0")
                dumping = True
            elif token == "$end" and dumping:
                dumping = False
                missing = [identifier for identifier in self.variables if identifier not in self.written]
                if missing:
                    self.trace.complain(f"$dumpvars leaves out {len(missing)} variables, first "
                                        f"'{missing[0]}'")
            elif letter in "sb":
                self.value(letter, token[1:], next(tokens, ""))
            else:
                raise Broken(f"'{token}' among the changes")
        self.step()
        if self.now is None:
            raise Broken("no changes")
        cycles = self.trace.metadata.get("cycles")
        if cycles is not None and self.now != self.trace.tick_of(cycles):
            self.trace.complain(f"the last time is {self.now}, expected {self.trace.tick_of(cycles)}")

    def time(self, time):
        if self.now is None and time != 0:
            self.trace.complain(f"the first time is {time}, expected 0")
        if self.now is not None and time <= self.now:
            self.trace.complain(f"time goes back from {self.now} to {time}")
        self.step()
        self.now = time

    def value(self, letter, text, identifier):
        variable = self.variables.get(identifier)
        if variable is None:
            self.trace.complain(f"a value at {self.now} is of '{identifier}', which is no variable")
            return
        if self.now is None:
            raise Broken("a value before the first time")
        if (letter == "s") != (variable.form == "string") or not text or (
                letter == "b" and not re.fullmatch("[01]{1,64}|x", text)):
            self.trace.complain(f"'{letter}{text}' at {self.now} is no {variable.form}, which "
                                f"'{variable.name}' is")
            return
        if identifier in self.written:
            self.trace.complain(f"'{variable.name}' has two values at {self.now}")
        variable.value = text if letter == "s" else None if text == "x" else int(text, 2)
        self.written[identifier] = variable

    def step(self):
        """All values of a time are there."""
        for identifier, variable in self.written.items():
            if identifier in self.scope_of:
                self.kind_written(self.scope_of[identifier], variable.value)
            elif identifier in self.counter_of and variable.value is not None:
                self.trace.sample(self.counter_of[identifier], self.now, variable.value)
        self.written = {}

    def kind_written(self, scope, kind):
        path = scope.track.path()
        if scope.open:
            begin, category, name, arguments = scope.open
            self.trace.slice(scope.track, Slice(self.trace.cycle_at(begin, path),
                                                self.trace.cycle_at(self.now, path), category, name,
                                                arguments))
        scope.open = None
        values = {name: variable.value for name, variable in scope.variables.items()}
        name = values.pop("name", None)
        del values["kind"]
        arguments = {word: value for word, value in values.items() if value not in (None, "-")}
        if kind == NOTHING:
            if name != "-" or arguments:
                self.trace.complain(f"{path}: no slice at {self.now}, and yet a name or arguments")
            return
        scope.open = (self.now, kind, name, arguments)


def read(data):
    return Reader().read(data)
