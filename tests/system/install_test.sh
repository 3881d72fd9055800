#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `cmake --install` gives a program that finds its configurations, with manual page and completions.
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
