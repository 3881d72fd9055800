# SPDX-License-Identifier: MIT
"""A trace as all readers tell it: tracks with slices, counters, flows and metadata. Times are
cycles here. What is wrong with a slice, a sample or a track is found as it comes."""

import collections
import re

KINDS = ("compute", "exchange", "sync", "stream", "idle", "link")
PHASES = tuple(kind for kind in KINDS if kind != "idle")
MAX_REASONS = 20
NEVER_FALLING = ("words_moved",)
PEER = re.compile(r"link\.(to|from)_ipu_(\d+)")
EDGE = re.compile(r"edge\.to_ipu_(\d+)")


class Broken(Exception):
    """The file cannot be read further."""


class Slice:
    """One slice. `arguments` are those that the format carries."""
    __slots__ = ("begin", "end", "category", "name", "arguments")

    def __init__(self, begin, end, category, name, arguments):
        self.begin = begin
        self.end = end
        self.category = category
        self.name = name
        self.arguments = arguments


class Track:
    def __init__(self, name, parent, role):
        self.name = name
        self.parent = parent  # another Track
        self.role = role  # process, run, counter, machine, slowest, link, peer, tiles, tile, context, notes
        self.last = 0
        self.cover = 0
        self.slices = 0
        self.samples = 0
        self.value = None  # of a counter
        self.sum = 0  # of its values
        self.cycles = dict.fromkeys(KINDS, 0)

    def path(self):
        if self.parent and self.parent.role == "tile":
            return f"{self.parent.name}.{self.name}"
        return self.name

    def chip(self):
        """The number of its chip, by the name of its process."""
        if self.parent:
            return self.parent.chip()
        match = re.match(r"ipu_(\d+)\.", self.name)
        return int(match[1]) if match else 0


class Trace:
    def __init__(self, form, ticks_a_second):
        self.form = form
        self.ticks_a_second = ticks_a_second  # of a trace in the machine's time
        self.reasons = []
        self.total_reasons = 0
        self.tracks = []
        self.metadata = {}
        self.truncated = False
        self.carries_roles = True
        self.roles = set()  # (name, role) of slices that have a role
        self.flows = {}  # number -> [(track, slice, whether it ends there)]

    def complain(self, reason):
        self.total_reasons += 1
        if len(self.reasons) < MAX_REASONS:
            self.reasons.append(reason)

    # Time

    def clock_hz(self):
        value = self.metadata.get("clock_hz")
        return int(value + 0.5) if isinstance(value, (int, float)) and value >= 1 else None

    def in_machine_time(self):
        return self.metadata.get("trace_clock") == "machine" and self.clock_hz() is not None

    def tick_of(self, cycle):
        """When a cycle begins: to the nearest tick, halves up."""
        if not self.in_machine_time():
            return cycle
        hz = self.clock_hz()
        return (2 * cycle * self.ticks_a_second + hz) // (2 * hz)

    def cycle_at(self, tick, what):
        """The cycle that begins at a tick, where ticks are finer than cycles."""
        if not self.in_machine_time():
            return tick
        per_second = self.ticks_a_second
        cycle = (2 * tick * self.clock_hz() + per_second) // (2 * per_second)
        if self.tick_of(cycle) != tick:
            self.complain(f"{what}: no cycle begins at {tick}, cycle {cycle} does at "
                          f"{self.tick_of(cycle)}")
        return cycle

    def place(self, track, begin, end, arguments):
        """Ticks of a slice as cycles: its arguments say those, and must fit its times."""
        if not self.in_machine_time():
            return begin, end
        first, length = arguments.get("begin_cycle"), arguments.get("cycles")
        if first is None or length is None:
            self.complain(f"{track.path()}: the slice at {begin} does not say in which cycle it begins "
                          "and how many it lasts")
            return self.cycle_at(begin, track.path()), self.cycle_at(end, track.path())
        if (self.tick_of(first), self.tick_of(first + length)) != (begin, end):
            self.complain(f"{track.path()}: the slice from {begin} to {end} says {length} cycles from "
                          f"{first} on, which are {self.tick_of(first)} to "
                          f"{self.tick_of(first + length)}")
        return first, first + length

    # What readers tell

    def add(self, name, parent, role=None):
        """A track below `parent`, a Track; its role follows from its name unless it is given."""
        track = Track(name, parent, role or self.role_of(name, parent))
        self.tracks.append(track)
        return track

    def add_process(self, name):
        if "(1 ns = 1 cycle)" not in name and "(machine time at " not in name:
            self.complain(f"process '{name}' does not say that 1 ns is 1 cycle, or that its time is "
                          "the machine's")
        return self.add(name, None, "process")

    def role_of(self, name, over):
        above = over.role if over else ""
        if above == "process" and name in ("run", "machine", "slowest", "tiles", "notes"):
            return name
        if above == "process" and re.fullmatch(r"(streaming_memory|host)\.(read|write)", name):
            return "link"
        if above == "process" and PEER.fullmatch(name):
            return "peer"
        if above == "tiles" and re.fullmatch(r"tile_\d+", name):
            return "tile"
        if above == "tile" and re.fullmatch(r"worker_\d+|supervisor", name):
            return "context"
        self.complain(f"track '{name}' has no place below '{over.name if over else '?'}'")
        return "unknown"

    def slice(self, track, told):
        """The next slice of a track, in cycles."""
        begin, end, category = told.begin, told.end, told.category
        path = track.path()
        if track.role not in ("machine", "slowest", "link", "peer", "tile", "context"):
            self.complain(f"{path}: a slice at {begin} on a track without slices")
        if begin < track.last:
            self.complain(f"{path}: a slice begins at {begin}, and one before ends at {track.last}: "
                          "they overlap")
        track.last = max(track.last, end)
        track.slices += 1
        if end == begin:
            self.complain(f"{path}: the slice at {begin} is empty")
        said = told.arguments.get("cycles")
        if said is not None and said != end - begin:
            self.complain(f"{path}: the slice at {begin} says {said} cycles and lasts {end - begin}")
        if category not in track.cycles:
            self.complain(f"{path}: the slice at {begin} has the category {category}")
        else:
            track.cycles[category] += end - begin
        if not told.name:
            self.complain(f"{path}: the slice at {begin} has no name")
        if track.role == "peer" and category != "link":
            self.complain(f"{path}: the slice at {begin} is of kind {category}, expected link")
        if "role" in told.arguments:
            self.roles.add((told.name, told.arguments["role"]))
        if track.role not in ("context", "link", "peer", "slowest"):
            if begin > track.cover:
                self.complain(f"{path}: nothing from {track.cover} to {begin}")
            track.cover = max(track.cover, end)

    def flow(self, number, track, told, ends):
        self.flows.setdefault(number, []).append((track, told, ends))

    def sample(self, track, time, value):
        """The next value of a counter; `time` in ticks."""
        path = track.path()
        if track.role != "counter":
            self.complain(f"{path}: a counter value at {time} on another track")
            return
        if time < track.last:
            self.complain(f"{path}: time goes back from {track.last} to {time}")
        if value < 0:
            self.complain(f"{path}: the value at {time} is {value}, expected 0 or more")
        if track.name in NEVER_FALLING and track.value is not None and value < track.value:
            self.complain(f"{path}: falls from {track.value} to {value} at {time}")
        track.last = max(track.last, time)
        track.value = value
        track.sum += value
        track.samples += 1

    def note(self, track, time, name, arguments):
        """An instant; `time` in ticks."""
        if track.role == "notes":
            self.truncated |= name == "truncated"
        elif track.role == "run":
            self.metadata.update(arguments)
        else:
            self.complain(f"{track.path()}: an instant at {time} outside the notes")

    # What rules ask

    def of_role(self, role):
        return [track for track in self.tracks if track.role == role]

    def slices(self):
        return sum(track.slices for track in self.tracks)

    def summary(self):
        tiles = self.of_role("tile")
        contexts = self.of_role("context")
        tracks = sum(1 for track in self.tracks if track.slices)
        cycles = max((track.last for track in self.of_role("machine")), default=0)
        cut = ", truncated" if self.truncated else ""
        samples = collections.Counter()
        for track in self.of_role("counter"):
            samples["edges" if EDGE.fullmatch(track.name) else track.name] += track.samples
        counters = ", ".join(f"{name} {count}" for name, count in samples.items())

        def totals(chosen):
            return ", ".join(f"{kind} {sum(track.cycles[kind] for track in chosen)}"
                             for kind in KINDS)

        return [
            f"{self.form} trace: {self.slices()} slices on {tracks} tracks, {cycles} cycles{cut}",
            f"machine: {totals(self.of_role('machine'))}",
            f"tiles ({len(tiles)}): {totals(tiles)}",
            f"workers and supervisors ({len(contexts)}): {totals(contexts)}",
            f"counter samples: {counters or 'none'}; flows: {len(self.flows)}",
        ]
