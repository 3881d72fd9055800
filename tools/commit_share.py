# SPDX-License-Identifier: MIT
"""Which part of the work is done for a commit, where CI does a part of it on each."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def share_of(items, count):
    """Every `count`-th of a list, from one on that the commit's hash selects; all of them without git or a commit."""
    told = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False, cwd=ROOT)
    return items[int(told.stdout, 16) % count::count] if told.returncode == 0 else items
