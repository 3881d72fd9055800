#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program of docs/sweeps/optuna.md finds a machine that is faster than Bow. Without Debian's
python3-optuna it ends with 77.

usage: optuna_test.py TESSERA
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PYTHON = "/usr/bin/python3"  # whose packages are Debian's


def main():
    tessera = pathlib.Path(sys.argv[1]).resolve()
    if subprocess.run([PYTHON, "-c", "import optuna"], capture_output=True).returncode != 0:
        print("skipped: no python3-optuna")
        sys.exit(77)
    page = pathlib.Path(__file__).resolve().parents[2] / "docs/sweeps/optuna.md"
    program = re.search("```python\n(.*?)```", page.read_text(), re.S).group(1)
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PATH": f"{tessera.parent}:{os.environ['PATH']}"}
        done = subprocess.run([PYTHON, "-c", program], cwd=folder, env=environment,
                              capture_output=True, text=True)
        print(done.stdout + done.stderr)
        assert done.returncode == 0
        best = float(re.search(r"([0-9.]+) us", done.stdout).group(1))
        alone = subprocess.run([tessera, "run", "dense_4096_f16", "--mode", "timing", "-q",
                                "--json", "-"], capture_output=True, text=True, check=True)
        bow = json.loads(alone.stdout)["seconds"] * 1e6
        print(f"Bow: {bow:.1f} us")
        assert best < bow


if __name__ == "__main__":
    main()
