#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists every group of two calibrations, before and after: what a commit that moves a group says.

usage: tools/groups_moved.py BEFORE.json AFTER.json

The files are what `tessera calibrate --json FILE` writes. A group that only one of them has is listed
too. Exit code: 0; 1 if a group is farther off than before or misses a target that it reached.
"""
import json
import sys

FIGURES = [("rows", "rows", "{}"), ("ratio", "ratio_mean", "{:.3f}"), ("error", "error_mean", "{:.1%}"),
           ("p90", "error_p90", "{:.1%}"), ("seeds", "spread", "{:.3f}"),
           ("no sync", "ratio_no_sync", "{:.3f}"), ("ours", "ratio_ours", "{:.3f}"),
           ("sign", "sign_share", "{:.1%}")]
TOLERANCE = 5e-4 # half of the last digit that is shown


def groups_of(path):
    with open(path, encoding="utf-8") as file:
        return {group["name"]: group for group in json.load(file)["groups"]}


def cell(before, after, key, form):
    shown = [form.format(group[key]) if group and key in group else "-" for group in (before, after)]
    return shown[0] if shown[0] == shown[1] else " -> ".join(shown)


def verdict(before, after):
    """What became of the group, and whether that is worse."""
    if before is None or after is None:
        return ("new" if before is None else "gone"), before is not None
    if before["reached"] != after["reached"]:
        return ("reached now" if after["reached"] else "MISSED now"), not after["reached"]
    change = after["error_mean"] - before["error_mean"]
    if abs(change) < TOLERANCE:
        return "", False
    return ("nearer" if change < 0 else "FARTHER"), change > 0


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        first, *others = [text.ljust(width) for text, width in zip(row, widths)]
        print("  ".join([first, *others]).rstrip())


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    before, after = groups_of(sys.argv[1]), groups_of(sys.argv[2])
    names = list(after) + [name for name in before if name not in after]
    rows = [["group", *(title for title, _, _ in FIGURES), ""]]
    worse = False
    for name in names:
        pair = before.get(name), after.get(name)
        text, is_worse = verdict(*pair)
        worse = worse or is_worse
        rows.append([name, *(cell(*pair, key, form) for _, key, form in FIGURES), text])
    print_table(rows)
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
