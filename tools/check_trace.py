#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a Perfetto trace that tessera wrote, independently of the code that wrote it.

    tools/check_trace.py TRACE [--result result.json]

TRACE is a plain or gzip'd Perfetto protobuf file. Viewers accept most mistakes without a word (they
show no slices, or wrong durations), so "it opens" proves nothing; this script reads the wire format
itself and holds the file to these rules:

  wire      every packet is whole and its fields are well formed
  sequence  the first packet of a sequence clears the incremental state; events that refer to
            interned names say that they need it
  names     interned ids are defined before they are used, and never redefined to another text
  tracks    an event's track is described before it; parents exist; uuids are unique; the tree is
            process > machine, links, tiles > tile_N > worker_i or supervisor, counters, notes
  slices    every begin has its end; time never goes back on a track; slices do not overlap (tracks
            are flat); none is empty; the `cycles` argument equals the duration
  cover     slices of the machine, and of each traced tile, cover the run from 0 without a gap
            (a tile of a truncated trace: until it ends)
  slowest   the critical tile's cycles by kind but sync are the machine's

With --result, against the result of the same run:

  machine   cycles by kind equal phases.*, and their sum is cycles
  tiles     the five kinds of a tile sum to cycles; each lies within tiles.<kind>_cycles.{min,max},
            and min, mean and max are reproduced if every tile of machine.chip.tiles is traced
  roles     a slice of the machine or of a link that has a role is called as a step of that role;
            every step that took time has such slices
  trace     trace.slices and trace.tiles are what the file holds

Prints a summary of five lines. Exit code 0 if all rules hold, 1 with the reasons (at most 20) on
standard error if not, 2 for wrong usage. Needs Python 3 and nothing else.
"""

import argparse
import gzip
import json
import re
import sys
import zlib

KINDS = ("compute", "exchange", "sync", "stream", "idle")
PHASES = KINDS[:4]
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDS = 1, 2
MAX_REASONS = 20


class Broken(Exception):
    """The bytes cannot be read further."""


def read_varint(data, position):
    value = shift = 0
    while True:
        if position >= len(data):
            raise Broken("a number runs past the end of its message")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 63:
            raise Broken("a number is longer than ten bytes")


def read_fields(data):
    """The fields of a message as a list of (number, value); value is an int or bytes."""
    fields = []
    position = 0
    while position < len(data):
        tag, position = read_varint(data, position)
        wire = tag & 7
        if wire == 0:
            value, position = read_varint(data, position)
        elif wire == 2:
            length, position = read_varint(data, position)
            value = data[position:position + length]
            position += length
        elif wire in (1, 5):
            width = 8 if wire == 1 else 4
            value = int.from_bytes(data[position:position + width], "little")
            position += width
        else:
            raise Broken(f"field {tag >> 3} has the unknown wire type {wire}")
        if position > len(data):
            raise Broken(f"field {tag >> 3} runs past the end of its message")
        fields.append((tag >> 3, value))
    return fields


def one(fields, number, default=None):
    for field, value in fields:
        if field == number:
            return value
    return default


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Track:
    def __init__(self, name, parent, role):
        self.name = name
        self.parent = parent
        self.role = role  # process, counter, machine, link, tiles, tile, context, notes
        self.open = []  # (time, category, cycles argument)
        self.last = 0
        self.cover = 0
        self.slices = 0
        self.events = 0
        self.cycles = dict.fromkeys(KINDS, 0)


class Sequence:
    def __init__(self):
        self.cleared = False
        self.interned = {1: {}, 2: {}, 3: {}}  # categories, names, argument names
        self.parsed = {}  # bytes of an event -> what they say


class Checker:
    def __init__(self):
        self.reasons = []
        self.total_reasons = 0
        self.tracks = {}
        self.sequences = {}
        self.truncated = False
        self.roles = set()  # (name, role) of slices that have a role

    def complain(self, reason):
        self.total_reasons += 1
        if len(self.reasons) < MAX_REASONS:
            self.reasons.append(reason)

    # Reading

    def read(self, data):
        position = packets = 0
        try:
            while position < len(data):
                tag, position = read_varint(data, position)
                length, position = read_varint(data, position)
                if tag != 0x0A:
                    raise Broken(f"byte {position}: not a packet of a trace")
                if position + length > len(data):
                    raise Broken("the last packet is cut off")
                self.packet(read_fields(data[position:position + length]))
                position += length
                packets += 1
        except (Broken, UnicodeDecodeError) as error:
            self.complain(f"packet {packets}: {error}")
        except (AttributeError, TypeError):
            self.complain(f"packet {packets}: a number where text or a message belongs, or the "
                          "reverse")
        if packets == 0:
            self.complain("no packets")

    def packet(self, fields):
        timestamp = event = interned = descriptor = None
        sequence_id = flags = 0
        for number, value in fields:
            if number == 8:
                timestamp = value
            elif number == 10:
                sequence_id = value
            elif number == 11:
                event = value
            elif number == 12:
                interned = value
            elif number == 13:
                flags = value
            elif number == 60:
                descriptor = value
        sequence = self.sequences.get(sequence_id)
        if sequence is None:
            sequence = self.sequences[sequence_id] = Sequence()
            if not flags & CLEARED:
                self.complain(f"sequence {sequence_id}: its first packet does not clear the "
                              "incremental state; viewers would drop its events")
        if flags & CLEARED:
            sequence.cleared = True
            sequence.interned = {1: {}, 2: {}, 3: {}}
            sequence.parsed = {}
        if interned is not None:
            self.intern(sequence, interned)
        if descriptor is not None:
            self.describe(read_fields(descriptor))
        if event is not None:
            parsed = sequence.parsed.get(event)
            if parsed is None:
                parsed = sequence.parsed[event] = self.parse_event(sequence, event)
            if timestamp is None:
                self.complain("an event has no timestamp")
                return
            if parsed[4] and not flags & (CLEARED | NEEDS):
                self.complain(f"an event at {timestamp} uses interned names without saying so")
            self.event(timestamp, parsed)

    def intern(self, sequence, data):
        for kind, entry in read_fields(data):
            table = sequence.interned.get(kind)
            if table is None:
                continue
            fields = read_fields(entry)
            iid = one(fields, 1, 0)
            text = one(fields, 2, b"").decode()
            if iid == 0 or table.get(iid, text) != text:
                self.complain(f"interned id {iid} of '{text}' is 0 or already another text")
            table[iid] = text

    def describe(self, fields):
        uuid = one(fields, 1, 0)
        name = one(fields, 2, b"").decode()
        parent = one(fields, 5)
        process = one(fields, 3)
        if uuid in self.tracks or uuid == 0:
            self.complain(f"track '{name}': its uuid {uuid} is 0 or taken")
            return
        if process is not None:
            name = one(read_fields(process), 6, b"").decode()
            if "(1 ns = 1 cycle)" not in name:
                self.complain(f"process '{name}' does not say that 1 ns is 1 cycle")
            self.tracks[uuid] = Track(name, parent, "process")
            return
        over = self.tracks.get(parent)
        if over is None:
            self.complain(f"track '{name}': its parent {parent} is not described before it")
        role = "counter" if one(fields, 8) is not None else self.role_of(name, over)
        self.tracks[uuid] = Track(name, parent, role)

    def role_of(self, name, over):
        above = over.role if over else ""
        if above == "process" and name in ("machine", "tiles", "notes"):
            return name
        if above == "process" and re.fullmatch(r"(streaming_memory|host)\.(read|write)", name):
            return "link"
        if above == "process" and name == "slowest":
            return name
        if above == "tiles" and re.fullmatch(r"tile_\d+", name):
            return "tile"
        if above == "tile" and re.fullmatch(r"worker_\d+|supervisor", name):
            return "context"
        self.complain(f"track '{name}' has no place below '{over.name if over else '?'}'")
        return "unknown"

    def parse_event(self, sequence, data):
        """(type, track uuid, category, cycles argument, uses interned names, name, role)."""
        kind = track = name = 0
        category = cycles = role = None
        interned = False
        tables = sequence.interned

        def lookup(table, iid, what):
            text = tables[table].get(iid)
            if text is None:
                self.complain(f"{what} {iid} is used before it is defined")
            return text

        for number, value in read_fields(data):
            if number == 9:
                kind = value
            elif number == 11:
                track = value
            elif number == 3:
                interned = True
                category = lookup(1, value, "category id")
            elif number == 10:
                interned = True
                name = lookup(2, value, "name id")
            elif number == 23:
                name = value.decode()
            elif number == 4:
                argument = read_fields(value)
                iid = one(argument, 1)
                if iid is not None:
                    interned = True
                    word = lookup(3, iid, "argument name id")
                    if word == "cycles":
                        cycles = signed(one(argument, 4, 0))
                    elif word == "role":
                        role = one(argument, 6, b"").decode()
        if kind == BEGIN and not name:
            self.complain(f"a slice on track {track} has no name")
        return kind, track, category, cycles, interned, name, role

    # Events

    def event(self, time, parsed):
        kind, uuid, category, cycles, _, name, role = parsed
        track = self.tracks.get(uuid)
        if track is None:
            self.complain(f"an event at {time} is on track {uuid}, which is not described before it")
            return
        if time < track.last:
            self.complain(f"{self.path(track)}: time goes back from {track.last} to {time}")
        track.last = time
        track.events += 1
        if kind == BEGIN:
            if track.role not in ("machine", "slowest", "link", "tile", "context"):
                self.complain(f"{self.path(track)}: a slice at {time} on a track without slices")
            if track.open:
                self.complain(f"{self.path(track)}: a slice begins at {time} inside the one "
                              f"from {track.open[-1][0]}: they overlap")
            track.open.append((time, category, cycles))
            if role is not None:
                self.roles.add((name, role))
        elif kind == END:
            self.end(track, time)
        elif kind == INSTANT:
            if track.role != "notes":
                self.complain(f"{self.path(track)}: an instant at {time} outside the notes")
            self.truncated |= name == "truncated"
        elif kind == COUNTER:
            if track.role != "counter":
                self.complain(f"{self.path(track)}: a counter value at {time} on another track")
        else:
            self.complain(f"{self.path(track)}: an event at {time} has the unknown type {kind}")

    def end(self, track, time):
        if not track.open:
            self.complain(f"{self.path(track)}: an end at {time} without a begin")
            return
        begin, category, cycles = track.open.pop()
        track.slices += 1
        if time == begin:
            self.complain(f"{self.path(track)}: the slice at {begin} is empty")
        if cycles is not None and cycles != time - begin:
            self.complain(f"{self.path(track)}: the slice at {begin} says {cycles} cycles and "
                          f"lasts {time - begin}")
        if category not in track.cycles:
            self.complain(f"{self.path(track)}: the slice at {begin} has the category {category}")
        else:
            track.cycles[category] += time - begin
        if track.role not in ("context", "link", "slowest"):
            if begin > track.cover:
                self.complain(f"{self.path(track)}: nothing from {track.cover} to {begin}")
            track.cover = max(track.cover, time)

    def path(self, track):
        parent = self.tracks.get(track.parent)
        if parent and parent.role == "tile":
            return f"{parent.name}.{track.name}"
        return track.name

    # Rules about the whole file

    def of_role(self, role):
        return [track for track in self.tracks.values() if track.role == role]

    def whole(self):
        for track in self.tracks.values():
            for begin, _, _ in track.open:
                self.complain(f"{self.path(track)}: the slice at {begin} never ends")
        machines = self.of_role("machine")
        if len(machines) != 1:
            self.complain(f"{len(machines)} machine tracks, expected 1")
            return
        machine = machines[0]
        if machine.cycles["idle"]:
            self.complain(f"machine: {machine.cycles['idle']} cycles idle, expected none")
        for track in self.of_role("slowest"):
            for kind in KINDS:
                if kind != "sync":
                    self.same(f"the critical tile's {kind} cycles", track.cycles[kind],
                              "the machine's", machine.cycles[kind])
        for track in self.of_role("tile") + self.of_role("context") + self.of_role("link"):
            if track.last > machine.last:
                self.complain(f"{self.path(track)}: ends at {track.last}, after the machine's "
                              f"{machine.last}")
        for track in self.of_role("tile"):
            if track.last < machine.last and not self.truncated:
                self.complain(f"{self.path(track)}: ends at {track.last}, before the machine's "
                              f"{machine.last}")

    def against(self, result):
        machine = self.of_role("machine")[0]
        cycles = result["cycles"]
        self.same("the machine's cycles", sum(machine.cycles.values()), "cycles", cycles)
        for kind in PHASES:
            self.same(f"the machine's {kind} cycles", machine.cycles[kind], f"phases.{kind}",
                      result["phases"][kind])
        tiles = self.of_role("tile")
        for track in tiles:
            if not self.truncated:
                self.same(f"{track.name}: its cycles", sum(track.cycles.values()), "cycles", cycles)
            for kind in KINDS:
                self.within(track, kind, result["tiles"][f"{kind}_cycles"])
        self.against_roles(result)
        self.same("slices", self.slices(), "trace.slices", result["trace"]["slices"])
        numbers = sorted(int(track.name[5:]) for track in tiles)
        if numbers != sorted(result["trace"]["tiles"]) and not self.truncated:
            self.complain(f"tiles: the trace shows {numbers}, trace.tiles says "
                          f"{sorted(result['trace']['tiles'])}")
        chip = result.get("machine", {}).get("chip", {})
        if tiles and chip.get("tiles") == len(tiles) and not self.truncated:
            self.all_tiles(tiles, result["tiles"])

    def against_roles(self, result):
        steps = [step for kind in ("compute_sets", "exchanges", "streams")
                 for step in result.get(kind, [])]
        for name, role in sorted(self.roles - {(step["name"], step["role"]) for step in steps}):
            self.complain(f"a slice '{name}' has the role '{role}', which no step of that name has")
        for step in steps:
            if step["cycles"] and (step["name"], step["role"]) not in self.roles:
                self.complain(f"the step '{step['name']}' of role '{step['role']}' has no slice that says so")

    def same(self, what, got, key, expected):
        if got != expected:
            self.complain(f"{what}: the trace says {got}, {key} says {expected}")

    def within(self, track, kind, bounds):
        got = track.cycles[kind]
        if got > bounds["max"] or (got < bounds["min"] and not self.truncated):
            self.complain(f"{track.name}: {got} cycles {kind}, outside tiles.{kind}_cycles "
                          f"{bounds['min']}..{bounds['max']}")

    def all_tiles(self, tiles, expected):
        for kind in KINDS:
            values = [track.cycles[kind] for track in tiles]
            bounds = expected[f"{kind}_cycles"]
            key = f"tiles.{kind}_cycles"
            self.same(f"least {kind} cycles", min(values), f"{key}.min", bounds["min"])
            self.same(f"most {kind} cycles", max(values), f"{key}.max", bounds["max"])
            mean = sum(values) / len(values)
            if abs(mean - bounds["mean"]) > 1e-6 * max(1.0, abs(mean)):
                self.complain(f"mean {kind} cycles: the trace says {mean}, {key}.mean says "
                              f"{bounds['mean']}")

    # Summary

    def slices(self):
        return sum(track.slices for track in self.tracks.values())

    def summary(self):
        tiles = self.of_role("tile")
        contexts = self.of_role("context")
        tracks = sum(1 for track in self.tracks.values() if track.slices)
        cycles = max((track.last for track in self.of_role("machine")), default=0)
        cut = ", truncated" if self.truncated else ""
        counters = ", ".join(f"{track.name} {track.events}" for track in self.of_role("counter"))

        def totals(chosen):
            return ", ".join(f"{kind} {sum(track.cycles[kind] for track in chosen)}"
                             for kind in KINDS)

        return [
            f"trace: {self.slices()} slices on {tracks} tracks, {cycles} cycles{cut}",
            f"machine: {totals(self.of_role('machine'))}",
            f"tiles ({len(tiles)}): {totals(tiles)}",
            f"workers and supervisors ({len(contexts)}): {totals(contexts)}",
            f"counter samples: {counters or 'none'}",
        ]


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def main():
    parser = argparse.ArgumentParser(description="Checks a Perfetto trace that tessera wrote.")
    parser.add_argument("trace", help="plain or gzip'd Perfetto protobuf file")
    parser.add_argument("--result", help="result.json of the same run")
    options = parser.parse_args()
    checker = Checker()
    try:
        checker.read(load(options.trace))
    except (OSError, EOFError, zlib.error) as error:
        checker.complain(f"cannot be read: {error}")
    checker.whole()
    if options.result and checker.of_role("machine"):
        try:
            with open(options.result, encoding="utf-8") as file:
                checker.against(json.load(file))
        except (OSError, ValueError) as error:
            checker.complain(f"{options.result}: {error}")
        except KeyError as error:
            checker.complain(f"{options.result}: the key {error} is missing")
    print("\n".join(checker.summary()))
    for reason in checker.reasons:
        print(f"{options.trace}: {reason}", file=sys.stderr)
    if checker.total_reasons > len(checker.reasons):
        more = checker.total_reasons - len(checker.reasons)
        print(f"{options.trace}: and {more} more", file=sys.stderr)
    return 1 if checker.total_reasons else 0


if __name__ == "__main__":
    sys.exit(main())
