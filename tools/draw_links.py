#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws what several chips do, what they send each other, and what goes over their links, as SVG on stdout.

usage: tools/draw_links.py TRACE.json UNTIL

TRACE.json is a trace of Chrome's events of a run on several chips, of level machine. Drawn are the cycles from 0 to
UNTIL: above a line for each chip with an arrow for what goes to another one, below a line for each edge that
carries something.
"""
import json
import re
import sys

COLORS = {"compute": "#88d27a", "exchange": "#9ecae9", "sync": "#dddddd", "stream": "#cbb3e6", "link": "#ffbf79",
          "idle": "#ffffff"}
LEFT, TOP, WIDTH, LINE, BAR = 66, 46, 900, 24, 12


class Svg:
    def __init__(self):
        self.lines = []

    def add(self, tag, text=None, **attributes):
        words = "".join(f' {name.replace("_", "-")}="{value:.1f}"' if isinstance(value, float)
                        else f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
        self.lines.append(f"<{tag}{words}/>" if text is None else f"<{tag}{words}>{text}</{tag}>")

    def print(self, width, height):
        print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
              'font-size="12">')
        print('<defs><marker id="head" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="5" markerHeight="5" '
              'orient="auto"><path d="M0 0L6 3L0 6z" fill="#2364aa"/></marker></defs>')
        print(f'<rect width="{width}" height="{height}" fill="white"/>')
        print("\n".join(self.lines + ["</svg>"]))


class Run:
    """Slices of the machine's track, what is sent and what goes over edges, by the number of the chip."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        chips = {event["pid"]: int(re.match(r"ipu_(\d+)\.", event["args"]["name"])[1])
                 for event in events if event["name"] == "process_name"}
        threads = {(event["pid"], event["tid"]): event["args"]["name"]
                   for event in events if event["name"] == "thread_name"}
        self.chips = sorted(chips.values())
        self.slices = []  # (chip, begin, end, kind)
        self.arrows = []  # (chip, cycle, chip, cycle)
        self.edges = {}  # (chip, chip) -> [(cycle, bytes)]
        ends = {}
        for event in events:
            chip = chips[event["pid"]]
            track = threads.get((event["pid"], event.get("tid")))
            if event["ph"] == "X":
                begin = round(1000 * event["ts"])
                end = begin + round(1000 * event["dur"])
                ends[track, chip, begin] = end
                if track == "machine":
                    self.slices.append((chip, begin, end, event["cat"]))
            elif event["ph"] == "C" and event["name"].startswith("edge.to_ipu_"):
                edge = chip, int(event["name"].removeprefix("edge.to_ipu_"))
                self.edges.setdefault(edge, []).append((round(1000 * event["ts"]), *event["args"].values()))
        starts = {}
        for event in events:
            track = threads.get((event["pid"], event.get("tid")), "")
            if event["ph"] == "s" and track.startswith("link."):
                starts[event["id"]] = chips[event["pid"]], round(1000 * event["ts"])
            elif event["ph"] == "f" and event["id"] in starts:
                chip = chips[event["pid"]]
                end = ends[track, chip, round(1000 * event["ts"])]
                self.arrows.append((*starts[event["id"]], chip, end))


def draw(run, until):
    svg = Svg()
    x = lambda cycle: LEFT + WIDTH * min(cycle, until) / until
    y = lambda chip: float(TOP + LINE * run.chips.index(chip))
    for number, kind in enumerate(kind for kind in COLORS if any(one[3] == kind for one in run.slices)):
        svg.add("rect", x=LEFT + 90 * number, y=12, width=12, height=12, fill=COLORS[kind], stroke="#777")
        svg.add("text", kind, x=LEFT + 90 * number + 18, y=22)
    for chip in run.chips:
        svg.add("text", f"ipu_{chip}", x=LEFT - 8, y=y(chip) + 10, text_anchor="end")
    for chip, begin, end, kind in run.slices:
        if begin < until:
            svg.add("rect", x=x(begin), y=y(chip), width=x(end) - x(begin), height=BAR, fill=COLORS[kind],
                    stroke="#777", stroke_width=0.5)
    for source, begin, target, end in run.arrows:
        if end <= until:
            down = y(target) > y(source)
            svg.add("line", x1=x(begin), y1=y(source) + (BAR if down else 0), x2=x(end),
                    y2=y(target) + (0 if down else BAR), stroke="#2364aa", stroke_width=0.8,
                    marker_end="url(#head)")
    top = TOP + LINE * len(run.chips) + 26
    most = max(value for samples in run.edges.values() for _, value in samples)
    svg.add("text", f"bytes over each edge, at most {most:,} in an interval of "
            f"{min(b - a for samples in run.edges.values() for (a, _), (b, _) in zip(samples, samples[1:])):,} cycles",
            x=LEFT, y=top)
    for number, (edge, samples) in enumerate(sorted(run.edges.items())):
        base = float(top + 8 + LINE * (number + 1) - 6)
        svg.add("text", f"{edge[0]} to {edge[1]}", x=LEFT - 8, y=base - 4, text_anchor="end")
        points = [f"M{LEFT:.1f} {base:.1f}"]
        for cycle, value in samples:
            if cycle < until:
                points.append(f"H{x(cycle):.1f}V{base - 18 * value / most:.1f}")
        svg.add("path", d="".join(points) + f"H{LEFT + WIDTH:.1f}V{base:.1f}z", fill="#d1495b")
        svg.add("line", x1=LEFT, y1=base, x2=LEFT + WIDTH, y2=base, stroke="#777", stroke_width=0.5)
    bottom = top + 8 + LINE * len(run.edges) + 10
    for tick in range(5):
        cycle = until * tick // 4
        svg.add("text", f"{cycle:,}", x=x(cycle), y=bottom + 6, text_anchor="middle")
    svg.add("text", "cycles", x=LEFT + WIDTH / 2, y=bottom + 22, text_anchor="middle")
    svg.print(LEFT + WIDTH + 30, bottom + 30)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    draw(Run(sys.argv[1]), int(sys.argv[2]))


if __name__ == "__main__":
    main()
