#!/usr/bin/env bash
# Which lines the checked-in corpora reach: coverage.sh BUILD OUTPUT
# BUILD is a build of the preset fuzz-coverage.  OUTPUT gets pages (index.html) and lines.txt, where a line that no input
# reaches has a count of 0.  Prints a table; ends with 1 if the matching code is reached by less than 95 in 100 lines.
set -euo pipefail
build=$(realpath "$1") output=$2 least=95
cd "$(dirname "${BASH_SOURCE[0]}")/.."
profdata=$(command -v llvm-profdata-16) && cov=$(command -v llvm-cov-16) ||
    { echo "coverage.sh: llvm-profdata-16 and llvm-cov-16 (package llvm-16) are needed" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$output"
output=$(realpath "$output")
export RES_OPTIONS=attempts:0
objects=()
for binary in "$build"/fuzz/fuzz_*; do
    target=${binary##*/fuzz_}
    [ -e "fuzz/corpus/$target.tar.gz" ] || [ -d "fuzz/regress/$target" ] || continue
    folders=("$work/learnt-$target")
    mkdir "${folders[0]}"
    fuzz/corpus.sh unpack "$target" "$work/corpus-$target"
    for folder in "$work/corpus-$target" "fuzz/regress/$target"; do [ ! -d "$folder" ] || folders+=("$folder"); done
    echo "coverage.sh: $target" >&2
    LLVM_PROFILE_FILE="$work/$target-%p-%m.profraw" "$binary" -runs=0 -timeout=60 "${folders[@]}" >"$work/$target.log" 2>&1 ||
        { tail -n 20 "$work/$target.log" >&2; exit 2; }
    objects+=(-object "$binary")
done
"$profdata" merge -sparse -o "$work/all.profdata" "$work"/*.profraw
# The library but its engine and transports, whose data moves in processes of their own.
GLOBIGNORE=impl/engine/:impl/transport/:impl/provider/:impl/test/
library=(impl/*/)
unset GLOBIGNORE
library=("${library[@]%/}")
what=("$build/impl/libfabric.so.1" "${objects[@]}" -instr-profile="$work/all.profdata")
"$cov" show "${what[@]}" -format=html -output-dir="$output" "${library[@]}" model >/dev/null 2>&1
"$cov" show "${what[@]}" "${library[@]}" model >"$output/lines.txt" 2>/dev/null
# What decides which offers answer a query.
matching=(impl/discovery/match*.cc impl/discovery/{getinfo,resolve}.cc impl/catalog/offer.cc)
"$cov" export "${what[@]}" -summary-only "${library[@]}" model 2>/dev/null |
    python3 fuzz/coverage.py "$least" "${matching[@]}"
