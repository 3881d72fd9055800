#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `cmake --install` gives a program that finds its configurations, with manual page, completions and Python module.
# usage: install_test.sh BUILD_DIRECTORY
set -eu
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
cmake --install "$1" --prefix "$scratch/there" >/dev/null
cd "$scratch"
there=$scratch/there
"$there/bin/tessera" --version | grep -q '^tessera '
env -u TESSERA_CONFIGS "$there/bin/tessera" list machines --paths | grep -q "$there/share/tessera/configs/machines/bow.json"
"$there/bin/tessera" manual | cmp - "$there/share/man/man1/tessera.1"
"$there/bin/tessera" completion bash | cmp - "$there/share/bash-completion/completions/tessera"
"$there/bin/tessera" completion zsh | cmp - "$there/share/zsh/site-functions/_tessera"
[ -s "$there/share/man/man1/tessera.1" ]
"$there/bin/tessera" run tiny_matmul --machine tiny -q
cycles=$(env -u TESSERA_CONFIGS -u TESSERA PATH=/usr/bin:/bin PYTHONPATH="$there/share/tessera/python" PYTHONDONTWRITEBYTECODE=1 \
    /usr/bin/python3 -c 'import tessera; print(tessera.find_program(), tessera.run("tiny_matmul", machine="tiny").cycles)')
[ "$cycles" = "$there/bin/tessera $("$there/bin/tessera" run tiny_matmul --machine tiny -q --json - | sed -n 's/^  "cycles": \([0-9]*\),$/\1/p')" ]
