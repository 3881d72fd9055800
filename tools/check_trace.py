#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a trace that tessera wrote, independently of the code that wrote it.

    tools/check_trace.py TRACE [--result result.json]

TRACE is a plain or gzip'd file: Perfetto's protobuf, Chrome's trace events or value changes (VCD);
which one, its content says. Viewers accept most mistakes without a word (they show no slices, or
wrong durations), so "it opens" proves nothing; this script reads the formats itself
(tools/tracecheck/, a reader each) and holds the file to these rules:

  tracks    an event's track is described before it; parents exist; numbers are unique; the tree is
            process > run, machine, slowest, links, link.to_ipu_N, link.from_ipu_N, tiles > tile_N >
            worker_i or supervisor, counters, notes; of several chips a process each
  slices    time never goes back on a track; slices do not overlap (tracks are flat); none is empty;
            each has a name and one of the six kinds; the `cycles` argument equals the duration
  cover     slices of the machine, and of each traced tile, cover the run from 0 without a gap
            (a tile of a truncated trace: until it ends)
  slowest   the critical tile's cycles by kind but sync are the machine's
  flows     each ends once, at a sync of the machine; it begins on `slowest` and at most on one
            tile's track, at slices that end where that sync begins, and that tile is the sync's
            slowest one
  messages  each slice of what a chip sends to another one has a flow, which ends at a slice of the
            other chip that is later and has the same bytes and messages
  counters  no value is below 0; words_moved never falls
  metadata  workload, machine, clock_hz, tessera, trace_clock, time_unit and cycles are there; the
            machine's track ends at cycles
  clock     where the trace's time is the machine's, each time is that of a cycle, to the nearest
            tick; slices that are no longer told apart by it say their cycles

of each format:

  perfetto  every packet is whole, its fields well formed; the first packet of a sequence clears the
            incremental state; events that refer to interned names say that they need it; interned
            ids are defined before they are used, and never redefined; every begin has its end
  chrome    one JSON object with its four keys; times are decimal and whole cycles or picoseconds;
            a place of the order is taken once; a flow's points are in order and bind to slices
  vcd       sections have their end; scopes are left; identifiers are unique; the first values are
            all there; time goes forward; a value fits its variable, which has one a time; no slice
            lasts beyond the end

With --result, against the result of the same run:

  machine   cycles by kind equal phases.*, and their sum is cycles
  edges     the values of each edge's counter sum to link_bytes of `edges`
  tiles     (of the chip that ends last) the six kinds of a tile sum to cycles; each lies within tiles.<kind>_cycles.{min,max},
            and min, mean and max are reproduced if every tile of machine.chip.tiles is traced
  roles     a slice of the machine or of a link that has a role is called as a step of that role;
            every step that took time has such slices
  metadata  workload, machine and clock_hz are the result's
  trace     trace.slices, trace.tiles, trace.format and trace.clock are what the file holds

Prints a summary of five lines. Exit code 0 if all rules hold, 1 with the reasons (at most 20) on
standard error if not, 2 for wrong usage. Needs Python 3 and nothing else.
"""

import argparse
import gzip
import json
import sys
import zlib

sys.dont_write_bytecode = True  # no folder among the sources
from tracecheck import chrome, perfetto, rules, vcd


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def reader_of(data):
    """By what a file begins with: JSON, a section of a VCD, or anything else."""
    first = data[:64].lstrip()
    if first.startswith(b"{"):
        return chrome
    return vcd if first.startswith(b"$") else perfetto


def read(path):
    try:
        data = load(path)
    except (OSError, EOFError, zlib.error) as error:
        trace = perfetto.read(b"")
        trace.complain(f"cannot be read: {error}")
        return trace
    return reader_of(data).read(data)


def main():
    parser = argparse.ArgumentParser(description="Checks a trace that tessera wrote.")
    parser.add_argument("trace", help="plain or gzip'd Perfetto protobuf, Chrome JSON or VCD file")
    parser.add_argument("--result", help="result.json of the same run")
    options = parser.parse_args()
    trace = read(options.trace)
    rules.check(trace)
    if options.result and trace.of_role("machine"):
        try:
            with open(options.result, encoding="utf-8") as file:
                rules.compare(trace, json.load(file))
        except (OSError, ValueError) as error:
            trace.complain(f"{options.result}: {error}")
        except KeyError as error:
            trace.complain(f"{options.result}: the key {error} is missing")
    print("\n".join(trace.summary()))
    for reason in trace.reasons:
        print(f"{options.trace}: {reason}", file=sys.stderr)
    if trace.total_reasons > len(trace.reasons):
        more = trace.total_reasons - len(trace.reasons)
        print(f"{options.trace}: and {more} more", file=sys.stderr)
    return 1 if trace.total_reasons else 0


if __name__ == "__main__":
    sys.exit(main())
