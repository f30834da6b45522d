#!/usr/bin/env bash
# The library, its engine and transports aside, compiles with -O3, as CMAKE_BUILD_TYPE=Release has it, and without a
# warning.
#   optimised_test.sh SOURCE-FOLDER COMPILER...      with its launcher in front, if it has one
set -euo pipefail
source=$1
shift
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
[ -e "${files[0]}" ] || { echo "no sources in $root/impl" >&2; exit 1; }
for file in "${files[@]}"; do
    "$@" "${options[@]}" -I "$root" -c "$file" -o "$scratch/object.o" || failed=1
done
[ $failed = 0 ] || exit 1
printf '%s files, no warning\n' "${#files[@]}"
