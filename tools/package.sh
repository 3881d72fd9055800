#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An installed program with every library that it needs beyond the C library, as one tarball: docs/package.md.
# usage: tools/package.sh BUILD_DIRECTORY OUTPUT_DIRECTORY
set -euo pipefail
export LC_ALL=C
source=$(realpath "$(dirname "$0")/..")

# What is loaded while it runs: the host's reference (kernels/workload/blas.cpp) and TBB's allocator.
loaded=(libopenblas.so.0 libtbbmalloc.so.2)
# What is compiled in.
headers=(libeigen3-dev libprotozero-dev nlohmann-json3-dev)
# What every Linux has, and has to be its own.
c_library=libc6

fail() {
  printf 'package: %s\n' "$*" >&2
  exit 1
}

# package_of FILE: the Debian package that a file is of; packages know files by their place from before /lib was a link
package_of() {
  local found
  found=$(dpkg-query -S "$1" 2>/dev/null || dpkg-query -S "${1#/usr}" 2>/dev/null) || return 1
  printf '%s\n' "${found%%:*}"
}

# copy_licence PACKAGE
copy_licence() {
  [ -s "/usr/share/doc/$1/copyright" ] || fail "no licence of $1: /usr/share/doc/$1/copyright is missing"
  cp -L "/usr/share/doc/$1/copyright" "$licences/$1"
}

# tell LIBRARY PACKAGE: a line of what is in it
tell() {
  # shellcheck disable=SC2016
  dpkg-query -W -f="$(printf '%-36s' "$1") "'${Package} ${Version}\n' "$2" >>"$folder/share/doc/tessera/libraries"
}

[ $# = 2 ] || fail "usage: tools/package.sh BUILD_DIRECTORY OUTPUT_DIRECTORY"
for tool in cmake dpkg-query gzip readelf strip tar; do
  command -v "$tool" >/dev/null || fail "no $tool"
done
cache=$1/CMakeCache.txt
[ -f "$cache" ] || fail "no $cache: nothing is built there"
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$cache")
[ -n "$version" ] || fail "no version in $cache"
[ -x "$1/sim/tessera" ] || fail "no $1/sim/tessera: nothing is built there"
[ -d "$2" ] || fail "no folder $2"
date=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct)} ||
  fail "no date for the files: git knows no commit of $source, and SOURCE_DATE_EPOCH is not set"

name=tessera-$version
out=$2/$name-linux-$(uname -m).tar.gz
scratch=$(mktemp -d "$2/.package.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
folder=$(realpath "$scratch")/$name
cmake --install "$1" --prefix "$folder" --strip 2>"$scratch/said" >/dev/null ||
  fail "cmake --install: $(cat "$scratch/said")"
program=$folder/bin/tessera
[ -x "$program" ] || fail "cmake --install gives no bin/tessera"
licences=$folder/share/doc/tessera/licences
mkdir -p "$folder/lib" "$licences/common-licenses"
cp "$source/LICENSE" "$folder/LICENSE"

# The loader says what it would load, from where.
printf -v preload '%s:' "${loaded[@]}"
LD_PRELOAD=${preload%:} LD_TRACE_LOADED_OBJECTS=1 "$program" >"$scratch/needed" 2>/dev/null ||
  fail "the loader cannot tell what bin/tessera needs"
mapfile -t missing < <(sed -nE 's/^\t(.*) => not found$/\1/p' "$scratch/needed")
for library in "${loaded[@]}"; do
  grep -q "^	$library => /" "$scratch/needed" || missing+=("$library")
done
[ ${#missing[@]} = 0 ] || fail "libraries that are not installed: ${missing[*]}"

sed -nE 's/^\t([^ ]+) => (.*) \(0x[0-9a-f]+\)$/\1 \2/p' "$scratch/needed" | sort >"$scratch/libraries"
while read -r library file; do
  file=$(realpath "$file")
  package=$(package_of "$file") || fail "no licence of $library: $file is of no Debian package"
  [ "$package" != "$c_library" ] || continue
  install -m 644 "$file" "$folder/lib/$library"
  copy_licence "$package"
  tell "$library" "$package"
done <"$scratch/libraries"
for package in "${headers[@]}"; do
  copy_licence "$package"
  tell - "$package"
done
# Licences that the files above name by their place in Debian.
grep -rhoE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9]' "$licences" | sort -u >"$scratch/named"
while read -r file; do
  [ ! -f "$file" ] || cp -L "$file" "$licences/common-licenses/"
done <"$scratch/named"
for file in "$program" "$folder"/lib/*; do
  readelf -W --version-info "$file" | grep -oE 'GLIBC_[0-9.]+' || true
done | sort -Vu | tail -n 1 | sed 's/GLIBC_/glibc /' >"$scratch/glibc"

# The same program and libraries give the same bytes.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$date" --mode=u=rwX,go=rX --format=gnu \
  -C "$scratch" -cf - "$name" | gzip -n -9 >"$scratch/tar.gz"
chmod 644 "$scratch/tar.gz"
mv "$scratch/tar.gz" "$out"
echo "$out: $(du -h --apparent-size "$out" | cut -f 1), for $(cat "$scratch/glibc") and later"
