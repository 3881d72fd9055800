#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws dynamic sparse products beside static and dense ones, as SVG on stdout.

usage: tools/phases.py STORE... | tools/draw_phases.py COLUMNS DENSITY

Left the speed of sparse products of COLUMNS columns over the dense one, by density; right the cycles of those of
DENSITY, by phase.
"""
import csv
import math
import sys

COLORS = {1: "#d1495b", 4: "#e08e0b", 8: "#3a7d44", 16: "#2364aa"}
PHASES = {"distribution": "#9ecae9", "zero": "#cbb3e6", "compute": "#88d27a", "travel": "#f2a2b0",
          "reduction": "#ffbf79", "control": "#777777"}
LEFT, TOP, WIDTH, HEIGHT, GAP = 60, 50, 380, 320, 90


class Svg:
    def __init__(self, width, height):
        self.lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      'font-family="sans-serif" font-size="13">',
                      f'<rect width="{width}" height="{height}" fill="white"/>']

    def add(self, tag, text=None, **attributes):
        words = "".join(f' {name.replace("_", "-")}="{value:.1f}"' if isinstance(value, float)
                        else f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
        self.lines.append(f"<{tag}{words}/>" if text is None else f"<{tag}{words}>{text}</{tag}>")

    def print(self):
        print("\n".join(self.lines + ["</svg>"]))


def draw_speeds(svg, rows, dense):
    speeds = {}
    for row in rows:
        if row["product"] != "dense" and row["cycles"]:
            speeds.setdefault((row["product"], int(row["block"])), []).append(
                (float(row["density"]), dense / float(row["cycles"])))
    densities = sorted({density for line in speeds.values() for density, _ in line}, reverse=True)
    all_speeds = [speed for line in speeds.values() for _, speed in line] + [1]
    low, high = math.floor(math.log2(min(all_speeds))), math.ceil(math.log2(max(all_speeds)))
    x = lambda density: LEFT + WIDTH * densities.index(density) / (len(densities) - 1)
    y = lambda speed: TOP + HEIGHT * (high - math.log2(speed)) / (high - low)
    for power in range(low, high + 1):
        at = y(2.0 ** power)
        svg.add("line", x1=LEFT, y1=at, x2=LEFT + WIDTH, y2=at, stroke="#000" if power == 0 else "#ddd",
                stroke_width=1.5 if power == 0 else 1)
        svg.add("text", f"{2.0 ** power:g}", x=LEFT - 8, y=at + 4, text_anchor="end")
    for density in densities:
        svg.add("text", f"1/{round(1 / density)}", x=x(density), y=TOP + HEIGHT + 20, text_anchor="middle")
    svg.add("text", "density", x=LEFT + WIDTH / 2, y=TOP + HEIGHT + 40, text_anchor="middle")
    for (product, block), line in speeds.items():
        points = " ".join(f"{x(density):.1f},{y(speed):.1f}" for density, speed in sorted(line, reverse=True))
        dashes = {"stroke_dasharray": "7 4"} if product == "dynamic" else {}
        svg.add("polyline", points=points, fill="none", stroke=COLORS[block], stroke_width=2.2, **dashes)
        for density, speed in line:
            svg.add("circle", cx=x(density), cy=y(speed), r=3, fill=COLORS[block])
    for number, block in enumerate(sorted(COLORS)):
        at = LEFT + 60 * number
        svg.add("rect", x=at, y=TOP + HEIGHT + 52, width=12, height=12, fill=COLORS[block])
        svg.add("text", f"b = {block}", x=at + 16, y=TOP + HEIGHT + 63)
    for number, (product, dashes) in enumerate((("static", "none"), ("dynamic", "7 4"))):
        at = LEFT + 60 * len(COLORS) + 8 + 75 * number
        svg.add("line", x1=at, y1=TOP + HEIGHT + 58, x2=at + 24, y2=TOP + HEIGHT + 58, stroke="#000",
                stroke_width=2, stroke_dasharray=dashes)
        svg.add("text", product, x=at + 28, y=TOP + HEIGHT + 63)


def draw_phases(svg, rows, density):
    bars = [row for row in rows if row["cycles"] and (row["product"] == "dense" or
                                                      float(row["density"]) == density)]
    order = ["dense", "static", "dynamic"]
    bars.sort(key=lambda row: (int(row["block"] or 0), order.index(row["product"])))
    most = max(float(row["cycles"]) for row in bars)
    step = 10 ** math.floor(math.log10(most))
    step = step if most / step > 3 else step / 2 if most / step > 1.5 else step / 4
    left = LEFT + WIDTH + GAP
    y = lambda cycles: TOP + HEIGHT * (1 - cycles / most)
    for tick in range(int(most // step) + 1):
        at = y(tick * step)
        svg.add("line", x1=left, y1=at, x2=left + WIDTH + 40, y2=at, stroke="#ddd")
        svg.add("text", f"{tick * step / 1000:g}", x=left - 8, y=at + 4, text_anchor="end")
    pitch = (WIDTH + 40) / len(bars)
    for number, row in enumerate(bars):
        at, base = left + number * pitch + pitch * 0.14, 0.0
        for phase, color in PHASES.items():
            cycles = float(row[phase])
            if cycles > 0:
                svg.add("rect", x=at, y=y(base + cycles), width=pitch * 0.72, height=HEIGHT * cycles / most,
                        fill=color)
            base += cycles
        middle = at + pitch * 0.36
        svg.add("text", row["product"], x=middle, y=TOP + HEIGHT + 17, text_anchor="middle", font_size=11)
        if row["block"]:
            svg.add("text", f"b = {row['block']}", x=middle, y=TOP + HEIGHT + 33, text_anchor="middle", font_size=11)
    at = left
    for phase, color in PHASES.items():
        svg.add("rect", x=at, y=TOP + HEIGHT + 52, width=12, height=12, fill=color)
        svg.add("text", phase, x=at + 15, y=TOP + HEIGHT + 63, font_size=12)
        at += 30 + 6.2 * len(phase)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    columns, density = sys.argv[1], float(sys.argv[2])
    rows = [row for row in csv.DictReader(sys.stdin) if row["n"] == columns]
    dense = next(float(row["cycles"]) for row in rows if row["product"] == "dense")
    svg = Svg(LEFT + 2 * WIDTH + GAP + 70, TOP + HEIGHT + 85)
    svg.add("text", f"speed over dense, {columns} columns", x=LEFT, y=28, font_weight="bold")
    svg.add("text", f"thousands of cycles at a density of 1/{round(1 / density)}", x=LEFT + WIDTH + GAP, y=28,
            font_weight="bold")
    draw_speeds(svg, rows, dense)
    draw_phases(svg, rows, density)
    svg.print()


if __name__ == "__main__":
    main()
