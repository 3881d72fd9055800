# SPDX-License-Identifier: MIT
"""Makes a recording that fits a result, as a test input for pages: its sums by step are those of the result, the
shares of tiles are drawn. The layout is written down in docs/formats/recording.md."""

import gzip
import json
import random
import struct

KINDS = {"compute_sets": "compute_set", "exchanges": "exchange", "streams": "stream", "link_exchanges": "link_exchange"}
NO_PART = 0xFFFFFFFF
MOST_BLOCKS = 46


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


def split(total, rng, count):
    """Whole numbers that sum to a total."""
    ends = sorted(rng.randrange(total + 1) for _ in range(count - 1))
    return [end - begin for begin, end in zip([0] + ends, ends + [total])]


def pairs_of(step, blocks, arrays, rng):
    cells = rng.sample(range(blocks * blocks), min(blocks * blocks, 2 * blocks))
    words = split(step["counts"]["words"]["received"], rng, len(cells))
    kept = [(cell, some) for cell, some in sorted(zip(cells, words)) if some > 0]
    return {"count": len(kept), "from": arrays.add("u32", [cell % blocks for cell, _ in kept]),
            "to": arrays.add("u32", [cell // blocks for cell, _ in kept]),
            "words": arrays.add("f64", [some for _, some in kept])}


def steps_of(result, tiles, block_tiles, workers, arrays, rng, shares):
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
                for worker in range(workers):
                    columns[f"issues_of_{worker}"] = arrays.column([c // (8 + worker) for c in few])
            if kind == "exchange":
                columns["received"] = arrays.column([c // 2 for c in few])
                columns["sent"] = arrays.column([c // 3 for c in few])
            made = {"kind": kind, "index": index, "name": step["name"], "executions": times, "columns": columns}
            if kind == "exchange" and step["counts"]["words"]["received"] > 0:
                made["pairs"] = pairs_of(step, -(-tiles // block_tiles), arrays, rng)
            yield made


def window_of(span, executions, tiles, arrays, rng, left_out):
    """Executions that meet a span, each tile beginning and ending somewhere in it."""
    met = [one for one in executions if one[1] < span[1] and one[2] > span[0]]
    begins, cycles = [], []
    for _, begin, end in met:
        for _ in range(tiles):
            length = int(end - begin)
            late = rng.randrange(length // 2 + 1)
            begins.append(late)
            cycles.append(rng.randrange(length // 4, length - late + 1))
    return {"from": span[0], "to": span[1], "count": len(met), "left_out": left_out,
            "step": arrays.add("u32", [step for step, _, _ in met]), "begin": arrays.add("f64", [begin for _, begin, _ in met]),
            "times": 1, "tile_begin": arrays.add("u32", begins), "tile_cycles": arrays.add("u32", cycles)}


def chip_of(result, number, tiles, block_tiles, arrays, rng, shares, window, left_out):
    workers = result["machine"].get("tile", {}).get("workers", 6)
    steps = list(steps_of(result, tiles, block_tiles, workers, arrays, rng, shares))
    lists = [step for key in KINDS for step in result.get(key, [])]
    executions, now = [], 0.0
    for step_number, step in enumerate(lists):
        for _ in range(min(step["executions"], 50)):
            length = step["slowest_cycles"] / min(step["executions"], 50)
            executions.append((step_number, now, now + length))
            now += length
    count, ends = len(executions), [end for _, _, end in executions]
    chip = {
        "chip": number, "cycles": max(result["cycles"], now), "steps": steps,
        "executions": {"count": count, "step": arrays.add("u32", [step for step, _, _ in executions]),
                       "begin": arrays.add("f64", [begin for _, begin, _ in executions]),
                       "end": arrays.add("f64", ends), "times": arrays.add("u32", [1] * count)},
        "releases": {"count": count, "last_arrival": arrays.add("f64", ends), "cycle": arrays.add("f64", ends),
                     "critical": arrays.add("u32", [rng.randrange(tiles) for _ in range(count)]),
                     "times": arrays.add("u32", [1] * count)},
        "tiles_by_kind": {"compute": arrays.column([rng.randrange(1000) for _ in range(tiles)]), "exchange": 100,
                          "sync": 10, "stream": 0, "link": 0, "idle": 0}}
    if left_out:
        chip["executions"]["left_out"] = chip["releases"]["left_out"] = left_out
    if window:
        chip["window"] = window_of(window, executions, tiles, arrays, rng, left_out)
    return chip


def file_of(header, arrays):
    head = json.dumps(header).encode()
    head += b" " * (-(12 + len(head)) % 8)  # arrays start at a multiple of 8
    return gzip.compress(b"TSRECORD" + struct.pack("<I", len(head)) + head + arrays, compresslevel=6)


def recording_of(result, seed=1, shares=None, chips=1, window=None, left_out=0):
    """The bytes of a file of `--record`. With `shares`, tiles have only that many different shares of a step. A
    `window` is (from, to); `left_out` is how many executions found no room."""
    rng = random.Random(seed)
    arrays = Arrays()
    tiles = result["machine"]["chip"]["tiles"]
    block_tiles = -(-tiles // MOST_BLOCKS)
    made = [chip_of(result, number, tiles, block_tiles, arrays, rng, shares, window, left_out) for number in range(chips)]
    header = {
        "schema_version": 2, "machine": result["machine"]["name"], "workload": result["workload"]["name"],
        "tiles": tiles, "block_tiles": block_tiles, "clock_hz": result["machine"]["chip"]["clock_hz"],
        "cycles": made[-1]["cycles"], "mode": "functional", "last": chips - 1, "chips": made}
    return file_of(header, bytes(arrays.bytes))


def changed(recording, change):
    """The same recording with a changed header."""
    bytes_ = gzip.decompress(recording)
    length = int.from_bytes(bytes_[8:12], "little")
    header = json.loads(bytes_[12:12 + length])
    change(header)
    return file_of(header, bytes_[12 + length:])
