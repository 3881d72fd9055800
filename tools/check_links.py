#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every page and section of docs/ that code or a page points to exists.

usage: tools/check_links.py             exit 1 with one line a dead link
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MENTION = re.compile(r"docs/[\w/]+\.(?:md|svg)(?:#[\w-]+)?")
LINK = re.compile(r"\]\(([^)\s]+)\)")
TEXT = {".h", ".cpp", ".def", ".S", ".in", ".py", ".json", ".md", ".txt", ".cmake"}


def anchors(page):
    names = set()
    for line in page.read_text().splitlines():
        if line.startswith("#"):
            title = line.lstrip("#").strip().lower()
            names.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
        names.update(re.findall(r'<a name="([\w-]+)">', line))
    return names


def dead(target, base):
    name, _, anchor = target.partition("#")
    page = (base / name).resolve() if name else base
    if not page.exists():
        return f"no such file: {target}"
    if anchor and page.suffix == ".md" and anchor not in anchors(page):
        return f"no section '{anchor}' in {name}"
    return None


def main():
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                           stdout=subprocess.PIPE, text=True)
    problems = []
    for name in files.stdout.splitlines():
        path = ROOT / name
        if path.suffix not in TEXT or not path.exists() or name.startswith("tests/"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = [(t, ROOT) for t in MENTION.findall(line) if path.suffix != ".md"
                     or "](" not in line]
            if path.suffix == ".md":
                found += [(t, path.parent if not t.startswith("#") else path)
                          for t in LINK.findall(line) if "://" not in t]
            for target, base in found:
                reason = dead(target, base)
                if reason:
                    problems.append(f"{name}:{number}: {reason}")
    print("\n".join(problems) if problems else "links: all alive")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
