# SPDX-License-Identifier: MIT
"""Reads Chrome's trace-event format, an event at a time."""

import json
import re

from .model import Broken, Slice, Trace

TICKS_A_SECOND = 10 ** 12
BLANKS = re.compile(r"[ \t\n\r]*")
NUMBER = re.compile(r"(\d+)(?:\.(\d{1,6}))?")
MICROSECOND = 10 ** 6


class Text:
    """A JSON text and how far it is read. Numbers with a point stay texts: they are exact."""

    def __init__(self, text):
        self.text = text
        self.at = 0
        self.decoder = json.JSONDecoder(parse_float=str)
        self.skip()

    def skip(self):
        self.at = BLANKS.match(self.text, self.at).end()

    def value(self):
        try:
            value, self.at = self.decoder.raw_decode(self.text, self.at)
        except ValueError as error:
            raise Broken(f"no JSON: {error}") from None
        self.skip()
        return value

    def take(self, letter):
        if not self.text.startswith(letter, self.at):
            return False
        self.at += 1
        self.skip()
        return True

    def expect(self, letter):
        if not self.take(letter):
            raise Broken(f"no JSON: byte {self.at}: expected '{letter}'")

    def members(self):
        """The keys of an object; who takes one reads its value."""
        yield from self.listed("{", "}", lambda: (self.value(), self.expect(":"))[0])

    def elements(self):
        yield from self.listed("[", "]", self.value)

    def listed(self, begin, end, item):
        self.expect(begin)
        if self.take(end):
            return
        while True:
            yield item()
            if self.take(end):
                return
            self.expect(",")


class Reader:
    def __init__(self):
        self.trace = Trace("chrome", TICKS_A_SECOND)
        self.processes = {}  # pid -> the track that its threads lie below
        self.tiles = {}  # by chip
        self.threads = {}  # (pid, tid) -> track
        self.places = {}  # (pid, tid) -> its place among its neighbours
        self.counters = {}
        self.slices = {}  # (pid, tid) -> {ticks at which one begins: slice}
        self.flows = {}  # number -> (phase, ticks) of its last point
        self.handlers = {"M": self.name, "X": self.slice, "C": self.sample, "i": self.note,
                         "s": self.flow, "t": self.flow, "f": self.flow}

    def read(self, data):
        events = 0
        try:
            text = Text(data.decode())
            keys = []
            for key in text.members():
                keys.append(key)
                if key != "traceEvents":
                    self.member(key, text.value())
                    continue
                for event in text.elements():
                    self.event(event)
                    events += 1
            if text.at != len(text.text):
                raise Broken(f"no JSON: byte {text.at}: more behind the end")
            for key in ("displayTimeUnit", "otherData", "traceEvents", "cycles"):
                if keys.count(key) != 1:
                    self.trace.complain(f"the key '{key}' is there {keys.count(key)} times, expected "
                                        "once")
        except (Broken, UnicodeDecodeError) as error:
            self.trace.complain(f"event {events}: {error}")
        except (AttributeError, TypeError, KeyError) as error:
            self.trace.complain(f"event {events}: not as it should be: {error!r}")
        for number, (phase, _) in self.flows.items():
            if phase != "f":
                self.trace.complain(f"flow {number}: has no end")
        return self.trace

    def member(self, key, value):
        if key == "otherData":
            for word, text in value.items():
                if word == "clock_hz":
                    value[word] = float(text)
            self.trace.metadata.update(value)
        elif key == "cycles":
            self.trace.metadata["cycles"] = value
        elif key == "displayTimeUnit" and value != "ns":
            self.trace.complain(f"displayTimeUnit is '{value}', expected 'ns'")

    def ticks(self, value, what):
        """Microseconds as picoseconds, or as cycles of a nanosecond each."""
        match = NUMBER.fullmatch(str(value))
        if not match:
            raise Broken(f"{what} is '{value}', expected microseconds with at most six digits behind "
                         "the point")
        ticks = int(match[1]) * MICROSECOND + int((match[2] or "").ljust(6, "0"))
        if self.trace.in_machine_time():
            return ticks
        if ticks % 1000:
            self.trace.complain(f"{what} is '{value}', which is no whole cycle")
        return ticks // 1000

    def event(self, event):
        handler = self.handlers.get(event.get("ph"))
        if handler is None:
            self.trace.complain(f"an event has the unknown phase '{event.get('ph')}'")
            return
        handler(event)

    def name(self, event):
        what, pid = event["name"], event["pid"]
        key = (pid, event.get("tid"))
        if what == "process_name":
            self.name_process(pid, event["args"]["name"])
        elif what == "thread_name":
            name = event["args"]["name"]
            over = self.processes.get(pid)
            if over is None:
                self.trace.complain(f"thread '{name}': its process {pid} is not named before it")
            if key in self.threads:
                self.trace.complain(f"thread '{name}': its number {key[1]} is taken")
                return
            if over and over.role == "tile" and name == over.name:
                self.threads[key] = over
            else:
                self.threads[key] = self.trace.add(name, over)
        elif what in ("process_sort_index", "thread_sort_index"):
            order = event["args"]["sort_index"]
            neighbours = "processes" if what.startswith("process") else pid
            if order in self.places.setdefault(neighbours, set()):
                self.trace.complain(f"{what} {order} of process {pid} is taken")
            self.places[neighbours].add(order)

    def name_process(self, pid, name):
        if pid in self.processes:
            self.trace.complain(f"process '{name}': its number {pid} is taken")
            return
        chip, own = re.fullmatch(r"(?:ipu_(\d+)\.)?(.*)", name).groups()
        if self.processes and "(" not in own:
            self.processes[pid] = self.trace.add(own, self.tiles.get(int(chip or 0)))
        else:
            process = self.processes[pid] = self.trace.add_process(name)
            self.tiles[process.chip()] = self.trace.add("tiles", process)

    def thread(self, event, what):
        key = (event["pid"], event["tid"])
        track = self.threads.get(key)
        if track is None:
            self.trace.complain(f"{what} at {event['ts']} is on thread {key[1]} of process {key[0]}, "
                                "which is not named before it")
        return key, track

    def slice(self, event):
        key, track = self.thread(event, "a slice")
        if track is None:
            return
        first = self.ticks(event["ts"], "ts")
        last = first + self.ticks(event["dur"], "dur")
        arguments = event.get("args", {})
        begin, end = self.trace.place(track, first, last, arguments)
        told = Slice(begin, end, event["cat"], event["name"], arguments)
        self.trace.slice(track, told)
        if track.role in ("machine", "slowest", "peer", "tile"):
            self.slices.setdefault(key, {})[first] = told

    def sample(self, event):
        key = (event["pid"], event["name"])
        if key not in self.counters:
            self.counters[key] = self.trace.add(event["name"], self.processes[event["pid"]], "counter")
        (value,) = event["args"].values()
        self.trace.sample(self.counters[key], self.ticks(event["ts"], "ts"), value)

    def note(self, event):
        _, track = self.thread(event, "an instant")
        if track is not None:
            self.trace.note(track, self.ticks(event["ts"], "ts"), event["name"], {})

    def flow(self, event):
        key, track = self.thread(event, "a flow")
        phase, number, ticks = event["ph"], event["id"], self.ticks(event["ts"], "ts")
        before, time = self.flows.get(number, (None, ticks))
        if (phase == "s") != (before is None) or before == "f":
            self.trace.complain(f"flow {number}: '{phase}' comes after '{before}'")
        if ticks < time:
            self.trace.complain(f"flow {number}: time goes back from {time} to {ticks}")
        if phase != "s" and event.get("bp") != "e":
            self.trace.complain(f"flow {number}: '{phase}' does not bind to the slice around it")
        self.flows[number] = (phase, ticks)
        told = self.slices.get(key, {}).get(ticks)
        if told is None:
            self.trace.complain(f"flow {number}: no slice begins at {ticks} on "
                                f"{track.path() if track else '?'}")
            return
        self.trace.flow(number, track, told, phase == "f")


def read(data):
    return Reader().read(data)
