# SPDX-License-Identifier: MIT
"""Makes a recording that fits a result, as a test input for pages: its sums by step are those of the result, the
shares of tiles are drawn. The layout is written down in docs/formats/recording.md."""

import gzip
import json
import random
import struct

KINDS = {"compute_sets": "compute_set", "exchanges": "exchange", "streams": "stream", "link_exchanges": "link_exchange"}
NO_PART = 0xFFFFFFFF


class Arrays:
    def __init__(self):
        self.bytes = bytearray()

    def add(self, kind, values):
        offset = len(self.bytes)
        self.bytes += struct.pack(f"<{len(values)}{'I' if kind == 'u32' else 'd'}", *values)
        return {"type": kind, "offset": offset}

    def column(self, values):
        """A number where all tiles have the same."""
        return values[0] if len(set(values)) == 1 else self.add("u32", values)


def steps_of(result, tiles, arrays, rng, shares):
    drawn = [rng.random() for _ in range(shares or 0)]
    for key, kind in KINDS.items():
        for index, step in enumerate(result.get(key, [])):
            slowest, active = step["slowest_cycles"], step["active_tiles"]
            part = (lambda tile: drawn[tile * 7 % shares]) if shares else (lambda tile: rng.random())
            cycles = [slowest - int(part(tile) * slowest / 8) if tile < active else 0 for tile in range(tiles)]
            if active:
                cycles[step["slowest_tile"] % active] = slowest
            columns = {"begin": arrays.column([0 if tile < active else NO_PART for tile in range(tiles)]),
                       "cycles": arrays.column(cycles)}
            few = [slowest] if shares else cycles  # then other columns are a number each, which is quicker to make
            times = step["executions"]
            if times > 1:
                columns["first"] = arrays.column([c // times for c in cycles])
            if kind == "compute_set":
                columns["issues"] = arrays.column([c * 3 // 4 for c in few])
                columns["matrix_steps"] = 0
            if kind == "exchange":
                columns["received"] = arrays.column([c // 2 for c in few])
                columns["sent"] = arrays.column([c // 3 for c in few])
            yield {"kind": kind, "index": index, "name": step["name"], "executions": times, "columns": columns}


def recording_of(result, seed=1, shares=None):
    """The bytes of a file of `--record`. With `shares`, tiles have only that many different shares of a step."""
    rng = random.Random(seed)
    arrays = Arrays()
    tiles = result["machine"]["chip"]["tiles"]
    steps = list(steps_of(result, tiles, arrays, rng, shares))
    lists = [step for key in KINDS for step in result.get(key, [])]
    step_of, begin, end, now = [], [], [], 0.0
    for number, step in enumerate(lists):
        for _ in range(min(step["executions"], 50)):
            step_of.append(number)
            begin.append(now)
            now += step["slowest_cycles"] / min(step["executions"], 50) if step["executions"] else 0
            end.append(now)
    count = len(step_of)
    header = {
        "schema_version": 1, "machine": result["machine"]["name"], "workload": result["workload"]["name"],
        "tiles": tiles, "clock_hz": result["machine"]["chip"]["clock_hz"], "cycles": max(result["cycles"], now),
        "mode": "functional", "steps": steps,
        "executions": {"count": count, "step": arrays.add("u32", step_of), "begin": arrays.add("f64", begin),
                       "end": arrays.add("f64", end), "times": arrays.add("u32", [1] * count)},
        "releases": {"count": count, "last_arrival": arrays.add("f64", end), "cycle": arrays.add("f64", end),
                     "critical": arrays.add("u32", [rng.randrange(tiles) for _ in range(count)]),
                     "times": arrays.add("u32", [1] * count)},
        "tiles_by_kind": {"compute": arrays.column([rng.randrange(1000) for _ in range(tiles)]), "exchange": 100,
                          "sync": 10, "stream": 0, "link": 0, "idle": 0}}
    head = json.dumps(header).encode()
    head += b" " * (-(12 + len(head)) % 8)  # arrays start at a multiple of 8
    return gzip.compress(b"TSRECORD" + struct.pack("<I", len(head)) + head + bytes(arrays.bytes), compresslevel=6)
