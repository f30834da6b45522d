#!/usr/bin/env bash
# The C programs that are saved with the findings on a mutant show them: each exits with 1 on the mutant and with 0 on the sound library.
#   programs_test.sh TOOL FOLDER-OF-MUTANTS SOUND-LIBRARY MUTANT CLAUSE PROCESSES
set -euo pipefail
tool=$1 mutant=$2/libmutant-$4.so sound=$3 clause=$5 processes=$6

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

run_on() { # LIBRARY PROGRAM: prints its exit status
    local status=0
    LD_PRELOAD=$1 timeout 60 "$2" >"$2.out" 2>&1 || status=$?
    echo "$status"
}

status=0 programs=0
GTEST_FILTER='traffic.*' "$tool" check --no-compiler --library "$mutant" --provider shm --clause "$clause" --cases 600 --quiet \
    --processes "$processes" --save "$scratch" || status=$?
((status == 1)) || fail "the check exits with $status"
for program in "$scratch"/001-*.c; do
    cc -Wall -Werror -o "$program.program" "$program" -lfabric || fail "$program does not compile"
    status=$(run_on "$mutant" "$program.program")
    ((status == 1)) || fail "$program exits with $status on the mutant: $(cat "$program.program.out")"
    status=$(run_on "$sound" "$program.program")
    ((status == 0)) || fail "$program exits with $status on the sound library: $(cat "$program.program.out")"
    programs=$((programs + 1))
done
((programs > 0)) || fail "no program was saved"
echo "$programs programs"
