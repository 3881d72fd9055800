#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `tessera completion bash` offers. usage: completion_test.sh TESSERA SOURCE_DIRECTORY
set -u
export TESSERA_CONFIGS=$2/configs
tessera=$1
cd "$(mktemp -d)" || exit 1
touch a.json
mkdir folder
source <("$tessera" completion bash) || exit 1
compopt() { :; } # of a real completion only
failures=0

# offers EXPECTED WORD...: what is offered for the last of the words, in its order
offers() {
    local expected=$1
    shift
    COMP_WORDS=("$@")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _tessera "$tessera"
    if [ "${COMPREPLY[*]}" != "$expected" ]; then
        echo "$*: offered '${COMPREPLY[*]}', expected '$expected'"
        failures=$((failures + 1))
    fi
}

offers "run" tessera ru
offers "completion" tessera comp
offers "--version" tessera --v
offers "cora cora_dense" tessera run cor
offers "a.json" tessera run a.j
offers "--machine --memory --mode --max-cycles" tessera run --m
offers "--edges" tessera run --e
offers "--quiet" tessera asm --q
offers "gc2 gc200 gc2_ladder16" tessera run cora --machine g
offers "gc2 gc200 gc2_ladder16" tessera run cora --machine = g
offers "machine tile worker" tessera run cora --trace-level ""
offers "auto always never" tessera list --color ""
offers "folder" tessera run cora --out f
offers "" tessera run cora --threads ""
offers "tile.pipeline_cycles=" tessera run cora --set tile.pip
offers "workload.n=" tessera run cora --set workload.n
offers "machine workload" tessera describe ""
offers "bow bow2000" tessera describe machine bo
offers "cora cora_dense" tessera describe workload cor
offers "scaled_add scaled_add_axpy scaled_add_mix" tessera vertex scaled_
offers "asm" tessera help as
offers "machines" tessera list mach
offers "bash" tessera completion b
rm -r "$PWD"

if command -v zsh >/dev/null; then
    "$tessera" completion zsh | zsh -n || failures=$((failures + 1))
fi
if command -v groff >/dev/null; then
    complaints=$("$tessera" manual | groff -man -Tutf8 -ww 2>&1 >/dev/null)
    if [ -n "$complaints" ]; then
        echo "$complaints"
        failures=$((failures + 1))
    fi
fi
exit "$failures"
