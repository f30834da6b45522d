#!/usr/bin/env bash
# The library, its engine and transports aside, compiles with -O3, as CMAKE_BUILD_TYPE=Release has it, and without a
# warning.
#   optimised_test.sh SOURCE-FOLDER TOGETHER COMPILER...      with its launcher in front, if it has one
# TOGETHER has files that include several sources of a folder each (cmake/together.cmake); without it each is compiled by itself.
set -euo pipefail
source=$1 together=$2
shift 2
scratch=$(mktemp -d "${TMPDIR:-/tmp}/selvage-optimised-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

options=(-std=c++20 -O3 -DNDEBUG -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -fno-semantic-interposition
    -fno-strict-enums -Wall -Wextra -Wconversion -Wshadow -Werror -Wno-maybe-uninitialized -Wno-restrict)
root=$source
[ -d "$root/impl/base" ] || root=$(dirname "$source") # configured from impl/ alone
failed=0
GLOBIGNORE=$root/impl/engine/*:$root/impl/transport/*:$root/impl/provider/*:$root/impl/test/*
files=("$root"/impl/*/*.cc)
unset GLOBIGNORE
if [ -d "$together" ]; then
    for i in "${!files[@]}"; do
        batch=$(grep -lF "\"${files[i]#"$root"/}\"" "$together"/*.cc) && files[i]=$batch
    done
    mapfile -t files < <(printf '%s\n' "${files[@]}" | sort -u)
fi
[ -e "${files[0]}" ] || { echo "no sources in $root/impl" >&2; exit 1; }
for file in "${files[@]}"; do
    "$@" "${options[@]}" -I "$root" -c "$file" -o "$scratch/object.o" || failed=1
done
[ $failed = 0 ] || exit 1
printf '%s files, no warning\n' "${#files[@]}"
