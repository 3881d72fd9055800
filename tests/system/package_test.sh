#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What tools/package.sh makes runs on a Debian 12 with nothing but its base, wherever its folder stands.
# usage: package_test.sh BUILD_DIRECTORY SOURCE_DIRECTORY
# It takes root, and debootstrap with a Debian mirror (DEBIAN_MIRROR); without them it ends with 77 behind what needs none.
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C
build=$(realpath "$1")
source=$(realpath "$2")
unset TESSERA_CONFIGS LD_LIBRARY_PATH
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
scratch=$(mktemp -d)
trap 'rm -r --one-file-system "$scratch"' EXIT

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}
skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

# is_c_library NAME
is_c_library() {
    case $1 in
    libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | ld-linux*.so.*) ;;
    *) return 1 ;;
    esac
}

echo "== the package"
mkdir "$scratch/out" "$scratch/again"
"$source/tools/package.sh" "$build" "$scratch/out"
(umask 077 && "$source/tools/package.sh" "$build" "$scratch/again" >/dev/null)
tarball=$(echo "$scratch"/out/tessera-*-linux-"$(uname -m)".tar.gz)
[ "$(ls -A "$scratch/out")" = "$(basename "$tarball")" ] || fail "left behind: $(ls -A "$scratch/out")"
cmp "$tarball" "$scratch/again/$(basename "$tarball")"
echo "twice the same bytes"
tar -tzf "$tarball" >"$scratch/files"
name=$(head -n 1 "$scratch/files")
name=${name%/}
! grep -v "^$name/" "$scratch/files" || fail "stands outside of $name/"
for file in LICENSE bin/tessera share/tessera/configs/machines/bow.json share/tessera/python/tessera.py \
    share/man/man1/tessera.1 \
    share/bash-completion/completions/tessera share/zsh/site-functions/_tessera; do
    grep -qx "$name/$file" "$scratch/files" || fail "no $file"
done
if "$source/tools/package.sh" "$scratch" "$scratch" 2>"$scratch/said"; then
    fail "a package of nothing"
fi
grep -q 'CMakeCache.txt: nothing is built there' "$scratch/said" || fail "said: $(cat "$scratch/said")"

echo "== what its files need"
tar -xzf "$tarball" -C "$scratch"
here=$scratch/$name
# DT_RPATH, which libraries inherit; a library with a path of its own would no longer go by it
path=$(readelf -d "$here/bin/tessera" | sed -nE 's/.*\((R.*PATH)\).*\[(.*)\]/\1 \2/p')
[ "$path" = "RPATH \$ORIGIN/../lib" ] || fail "bin/tessera has the path '$path'"
for file in "$here/bin/tessera" "$here"/lib/*; do
    [ "$file" = "$here/bin/tessera" ] || ! readelf -d "$file" | grep -E 'R(UN)?PATH' || fail "$file has a path"
    while read -r needed; do
        is_c_library "$needed" || [ -f "$here/lib/$needed" ] || fail "$file needs $needed, which is not in lib/"
    done < <(readelf -d "$file" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')
done
for library in "${libraries[@]}"; do
    ! is_c_library "$(basename "$library")" || fail "the C library's $library is in it"
    package=$(awk -v name="$(basename "$library")" '$1 == name {print $2}' "$here/share/doc/tessera/libraries")
    [ -s "$here/share/doc/tessera/licences/$package" ] || fail "no licence of $library"
done
libraries=("$here"/lib/*)
echo "nothing but the C library and ${#libraries[@]} libraries in lib/, with their licences"
readelf -W --version-info "$here/bin/tessera" "$here"/lib/* | grep -o 'GLIBC_[0-9.]*' | sort -Vu >"$scratch/glibc"
wanted=$(tail -n 1 "$scratch/glibc")
grep -q "glibc ${wanted#GLIBC_} " "$source/docs/package.md" || fail "docs/package.md does not say that it wants $wanted"

echo "== a bare Debian 12"
[ "$(id -u)" = 0 ] || skip "the bare Debian is made by debootstrap and entered by chroot, which takes root"
unshare --mount --pid --net --fork true 2>/dev/null || skip "no namespaces: unshare does not work here"
if ! command -v debootstrap >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >"$scratch/apt" 2>&1 ||
        skip "no debootstrap, and apt does not install it: $(tail -n 1 "$scratch/apt")"
fi
root=$scratch/root
# its mounts end with the namespace
unshare --mount --fork debootstrap --variant=minbase bookworm "$root" "$mirror" >"$scratch/debootstrap" 2>&1 ||
    skip "debootstrap makes no root from $mirror: $(tail -n 3 "$scratch/debootstrap")"
for library in libsystemc libopenblas libtbb libfmt libboost; do
    [ -z "$(find "$root/usr/lib" -name "$library*")" ] || fail "the bare Debian has $library"
done
# shellcheck disable=SC2016
chroot "$root" sh -c '. /etc/os-release; echo "$PRETTY_NAME, $(dpkg-query -W | wc -l) packages"'

# bare COMMAND...: there, as nobody, without network
bare() {
    # shellcheck disable=SC2016
    unshare --mount --pid --net --fork --mount-proc="$root/proc" \
        chroot --userspec=65534:65534 "$root" env -i PATH=/usr/bin:/bin HOME=/nonexistent \
        sh -c 'cd "$0" && exec "$@"' "$work" "$@"
}
work=/var/tmp/work
install -d -o 65534 -g 65534 "$root$work" "$root/srv/first" "$root/srv/a place" "$root/srv/alone"
cp "$tarball" "$root/srv/package.tar.gz"
bare tar -xzf /srv/package.tar.gz -C /srv/first
bare mv "/srv/first/$name" "/srv/a place/of its own"
there="/srv/a place/of its own"
bare cp "$there/bin/tessera" /srv/alone
if bare /srv/alone/tessera --version 2>"$scratch/said"; then
    fail "the bare Debian has all libraries: this test shows nothing"
fi
cat "$scratch/said"

# like_here ARGUMENT...: it prints there what the built program prints here; lines that tell of hosts aside, and the
# order of lines, which in stores is that in which points ended
like_here() {
    echo "\$ tessera $*"
    bare "$there/bin/tessera" "$@" >"$scratch/bare" 2>&1 || fail "ends with $?: $(cat "$scratch/bare")"
    cat "$scratch/bare"
    (cd "$scratch" && TESSERA_CONFIGS=$source/configs "$build/sim/tessera" "$@") >"$scratch/built" 2>&1 ||
        fail "here it ends with $?: $(cat "$scratch/built")"
    diff <(grep -v '^host ' "$scratch/bare" | sort) <(grep -v '^host ' "$scratch/built" | sort) || fail "differs from the built program"
}
like_here --version
like_here run tiny_matmul
grep -qE '^check +(exact|within tolerance)' "$scratch/bare" || fail "not checked"
like_here run tiny_matmul --mode timing
like_here sweep run workers --dry-run
like_here list machines
bare "$there/bin/tessera" list machines --paths | grep -F "$there/share/tessera/configs/machines/bow.json" ||
    fail "other configurations"
bare "$there/bin/tessera" sweep run workers -q
(cd "$scratch" && TESSERA_CONFIGS=$source/configs "$build/sim/tessera" sweep run workers -q)
like_here sweep show workers.sweep

echo "== what is loaded there"
bare env LD_DEBUG=libs LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu "$there/bin/tessera" run tiny_matmul -q 2>&1 |
    sed -nE 's/^ *[0-9]+:\t(calling init: )//p' | sort -u >"$scratch/loaded"
cat "$scratch/loaded"
while read -r file; do
    is_c_library "$(basename "$file")" || [ "${file#"$there/bin/../lib/"}" != "$file" ] || fail "loads $file"
done <"$scratch/loaded"
for library in "${libraries[@]}"; do
    grep -qF "/lib/$(basename "$library")" "$scratch/loaded" || fail "$library is not used"
done
echo "passed"
