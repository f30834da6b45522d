#!/usr/bin/env bash
# The C programs that are saved with findings show them: the first of some mutants exits with 1 on the mutant and with 0 on the sound library.
#   programs_test.sh TOOL FOLDER-OF-MUTANTS SOUND-LIBRARY
set -euo pipefail
tool=$1 mutants=$2 sound=$3

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

run_on() { # LIBRARY PROGRAM: prints its exit status
    local status=0
    LD_PRELOAD=$1 timeout 60 "$2" >"$2.out" 2>&1 || status=$?
    echo "$status"
}

# shows MUTANT CLAUSE [PROCESSES]
shows() {
    local saved=$scratch/$1 mutant=$mutants/libmutant-$1.so status=0 programs=0
    GTEST_FILTER='traffic.*' "$tool" check --no-compiler --library "$mutant" --provider shm --clause "$2" --cases 3000 --quiet --processes "${3:-2}" --save "$saved" || status=$?
    ((status == 1)) || fail "$1: the check exits with $status"
    for program in "$saved"/001-*.c; do
        cc -Wall -Werror -o "$program.program" "$program" -lfabric || fail "$program does not compile"
        status=$(run_on "$mutant" "$program.program")
        ((status == 1)) || fail "$program exits with $status on the mutant: $(cat "$program.program.out")"
        status=$(run_on "$sound" "$program.program")
        ((status == 0)) || fail "$program exits with $status on the sound library: $(cat "$program.program.out")"
        programs=$((programs + 1))
    done
    ((programs > 0)) || fail "$1: no program was saved"
    echo "$1: $programs programs"
}

shows many-overlaps msg.multi-recv.packed
shows source-untold cq.source.told
shows atomic-vector atomic.update.vector
shows swap-always atomic.update.compared
shows send-reordered msg.match.order
shows write-reordered endpoint.order-size.kept
shows tag-changed tagged.match.tag
shows boundary-lost msg.match.boundaries
# These count what a process has done with a pair. What the kit reads between two exchanges, to know that all has come, is
# no part of a program: apart, B may be spoilt by the third of its reads of which the program makes two.
shows history-read-spoils msg.send.whole 1
shows history-count-off cntr.count.send 1
