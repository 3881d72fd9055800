#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws a small sparse matrix and the buckets that hold its blocks, as SVG on stdout.

usage: tools/draw_buckets.py FILE WORKLOAD [OPTION...]     those of `tessera pattern encode`

Left the matrix in blocks, cut into the parts of the plan; right the tiles with their buckets. A block has the color
of the tile whose bucket holds it; in a bucket it has a dashed border if it is of another part.
"""
import json
import subprocess
import sys

COLORS = ["#9ecae9", "#ffbf79", "#88d27a", "#f2a2b0", "#cbb3e6", "#d9c09c", "#f4e27a", "#b3b3b3"]
CELL, GAP, HEAD, LINE = 34, 28, 46, 18


def encoded(arguments, bucket):
    done = subprocess.run(["tessera", "pattern", "encode", *arguments, "--bucket", str(bucket), "-q", "--json", "-"],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


class Svg:
    def __init__(self):
        self.lines, self.width, self.height = [], 0, 0

    def rect(self, x, y, width, height, **attributes):
        self.width, self.height = max(self.width, x + width), max(self.height, y + height)
        words = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
        self.lines.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}"{words}/>')

    def text(self, x, y, words, **attributes):
        more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
        self.lines.append(f'<text x="{x}" y="{y}"{more}>{words}</text>')

    def line(self, x1, y1, x2, y2):
        self.lines.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#000" stroke-width="2.5"/>')

    def print(self):
        width, height = self.width + GAP, self.height + GAP
        print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
              'font-family="sans-serif" font-size="13">')
        print(f'<rect width="{width}" height="{height}" fill="white"/>')
        print("\n".join(self.lines))
        print("</svg>")


def draw_block(svg, x, y, row, column, color, away=False):
    border = {"stroke": "#000", "stroke_dasharray": "4 3", "stroke_width": 1.5} if away else {"stroke": "#777"}
    svg.rect(x, y, CELL, CELL, fill=color, **border)
    svg.text(x + CELL / 2, y + CELL / 2 + 5, f"{row},{column}", text_anchor="middle")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    arguments = sys.argv[1:]
    told = encoded(arguments, 0)
    split, part, block = told["plan"]["split"], told["plan"]["part"], told["plan"]["block"]
    tiles = split["x"] * split["y"] * split["z"]
    buckets = [told["bucket"]] + [encoded(arguments, number)["bucket"] for number in range(1, tiles)]
    rows, columns = (-(-told["pattern"][side] // block) for side in ("rows", "columns"))
    svg = Svg()
    svg.text(GAP, GAP, f"the matrix: {rows} x {columns} blocks", font_weight="bold")
    for row in range(rows):
        for column in range(columns):
            svg.rect(GAP + column * CELL, HEAD + row * CELL, CELL, CELL, fill="white", stroke="#ccc")
    held = [[(group, row["row"], column) for group in bucket["groups"] for row in group["rows"]
             for column in row["columns"]] for bucket in buckets]
    for number, blocks in enumerate(held):
        for _, row, column in blocks:
            draw_block(svg, GAP + column * CELL, HEAD + row * CELL, row, column, COLORS[number % len(COLORS)])
    for x in range(split["x"] + 1):
        at = HEAD + min(x * part["rows"], rows) * CELL
        svg.line(GAP, at, GAP + columns * CELL, at)
    for y in range(split["y"] + 1):
        at = GAP + min(y * part["columns"], columns) * CELL
        svg.line(at, HEAD, at, HEAD + rows * CELL)
    left, room = 2 * GAP + columns * CELL, told["plan"]["bucket"]["blocks"]
    svg.text(left, GAP, f"the tiles, each with a bucket for {room} blocks", font_weight="bold")
    y = HEAD
    for number, (bucket, blocks) in enumerate(zip(buckets, held)):
        svg.text(left, y + LINE - 5, f"tile {number}: part x {bucket['x']}, y {bucket['y']}, z {bucket['z']}")
        for place in range(room):
            svg.rect(left + place * CELL, y + LINE, CELL, CELL, fill="white", stroke="#ccc")
        for place, (group, row, column) in enumerate(blocks):
            draw_block(svg, left + place * CELL, y + LINE, row, column, COLORS[number % len(COLORS)],
                       (group["x"], group["y"]) != (bucket["x"], bucket["y"]))
        y += LINE + CELL + 12
    svg.width = max(svg.width, left + 300)
    svg.print()


if __name__ == "__main__":
    main()
