#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every test that ctest knows has a time limit: of minutes, but for those labelled slow.

usage: time_limits_test.py CTEST BUILD_DIRECTORY
"""
import json
import subprocess
import sys

QUICK_SECONDS = 300
SLOW_SECONDS = 3600


def main(ctest, directory):
    listing = subprocess.run(
        [ctest, "--test-dir", directory, "--show-only=json-v1"], capture_output=True, text=True,
        check=True
    )
    tests = json.loads(listing.stdout)["tests"]
    wrong = []
    for test in tests:
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        if "_NOT_BUILT" in test["name"]:  # its program's tests come when it is built
            continue
        most = SLOW_SECONDS if "slow" in properties.get("LABELS", []) else QUICK_SECONDS
        limit = properties.get("TIMEOUT")
        if limit is None or not 0 < limit <= most:
            wrong.append(f"{test['name']}: time limit {limit}, expected at most {most} s")
    print("\n".join(wrong) or f"{len(tests)} tests, all with a limit")
    return 1 if wrong or not tests else 0


sys.exit(main(sys.argv[1], sys.argv[2]))
