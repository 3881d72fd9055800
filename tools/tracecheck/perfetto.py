# SPDX-License-Identifier: MIT
"""Reads Perfetto's protobuf format off the wire."""

import struct

from .model import Broken, Slice, Trace

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDS = 1, 2
TICKS_A_SECOND = 10 ** 9


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


class Sequence:
    def __init__(self):
        self.cleared = False
        self.interned = {1: {}, 2: {}, 3: {}}  # categories, names, argument names
        self.parsed = {}  # bytes of an event -> what they say


class Event:
    def __init__(self):
        self.type = 0
        self.track = 0
        self.category = None
        self.name = ""
        self.value = 0
        self.interned = False  # whether it refers to interned texts
        self.arguments = {}
        self.flows = []  # (number, whether it ends)


class Reader:
    def __init__(self):
        self.trace = Trace("perfetto", TICKS_A_SECOND)
        self.tracks = {}  # by uuid
        self.open = {}  # by uuid: [(time, event)]
        self.last = {}  # by uuid: time of the last event
        self.sequences = {}

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
            self.trace.complain(f"packet {packets}: {error}")
        except (AttributeError, TypeError):
            self.trace.complain(f"packet {packets}: a number where text or a message belongs, or "
                                "the reverse")
        if packets == 0:
            self.trace.complain("no packets")
        for uuid, slices in self.open.items():
            for begin, _ in slices:
                self.trace.complain(f"{self.tracks[uuid].path()}: the slice at {begin} never ends")
        return self.trace

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
                self.trace.complain(f"sequence {sequence_id}: its first packet does not clear the "
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
                self.trace.complain("an event has no timestamp")
                return
            if parsed.interned and not flags & (CLEARED | NEEDS):
                self.trace.complain(f"an event at {timestamp} uses interned names without saying so")
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
                self.trace.complain(f"interned id {iid} of '{text}' is 0 or already another text")
            table[iid] = text

    def describe(self, fields):
        uuid = one(fields, 1, 0)
        name = one(fields, 2, b"").decode()
        parent = one(fields, 5)
        process = one(fields, 3)
        if uuid in self.tracks or uuid == 0:
            self.trace.complain(f"track '{name}': its uuid {uuid} is 0 or taken")
            return
        if process is not None:
            name = one(read_fields(process), 6, b"").decode()
            self.tracks[uuid] = self.trace.add_process(name)
            return
        over = self.tracks.get(parent)
        if over is None:
            self.trace.complain(f"track '{name}': its parent {parent} is not described before it")
        role = "counter" if one(fields, 8) is not None else None
        self.tracks[uuid] = self.trace.add(name, over, role)

    def parse_event(self, sequence, data):
        event = Event()
        tables = sequence.interned

        def lookup(table, iid, what):
            event.interned = True
            text = tables[table].get(iid)
            if text is None:
                self.trace.complain(f"{what} {iid} is used before it is defined")
            return text

        for number, value in read_fields(data):
            if number == 9:
                event.type = value
            elif number == 11:
                event.track = value
            elif number == 3:
                event.category = lookup(1, value, "category id")
            elif number == 10:
                event.name = lookup(2, value, "name id")
            elif number == 23:
                event.name = value.decode()
            elif number == 30:
                event.value = signed(value)
            elif number in (47, 48):
                event.flows.append((value, number == 48))
            elif number == 4:
                argument = read_fields(value)
                word = lookup(3, one(argument, 1), "argument name id")
                event.arguments[word] = self.value_of(argument)
        return event

    @staticmethod
    def value_of(argument):
        for number, value in argument:
            if number == 4:
                return signed(value)
            if number == 5:
                return struct.unpack("<d", value.to_bytes(8, "little"))[0]
            if number == 6:
                return value.decode()
        return None

    def event(self, time, event):
        track = self.tracks.get(event.track)
        if track is None:
            self.trace.complain(f"an event at {time} is on track {event.track}, which is not "
                                "described before it")
            return
        last = self.last.get(event.track, 0)
        if time < last:
            self.trace.complain(f"{track.path()}: time goes back from {last} to {time}")
        self.last[event.track] = time
        if event.type == BEGIN:
            slices = self.open.setdefault(event.track, [])
            if slices:
                self.trace.complain(f"{track.path()}: a slice begins at {time} inside the one "
                                    f"from {slices[-1][0]}: they overlap")
            slices.append((time, event))
        elif event.type == END:
            self.end(track, self.open.get(event.track), time)
        elif event.type == INSTANT:
            self.trace.note(track, time, event.name, event.arguments)
        elif event.type == COUNTER:
            self.trace.sample(track, time, event.value)
        else:
            self.trace.complain(f"{track.path()}: an event at {time} has the unknown type {event.type}")

    def end(self, track, slices, time):
        if not slices:
            self.trace.complain(f"{track.path()}: an end at {time} without a begin")
            return
        first, event = slices.pop()
        begin, end = self.trace.place(track, first, time, event.arguments)
        told = Slice(begin, end, event.category, event.name, event.arguments)
        self.trace.slice(track, told)
        for number, ends in event.flows:
            self.trace.flow(number, track, told, ends)


def read(data):
    return Reader().read(data)
