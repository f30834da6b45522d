#!/usr/bin/env bash
# What a message costs between contexts of one endpoint, 64 of them, and between 64 endpoints: instructions, counted by
# callgrind.
#   scaling_test.sh PROGRAM
set -euo pipefail
program=$1
rounds=50 # as in scaling.cc

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
command -v valgrind >/dev/null || fail "valgrind is not installed"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# counted KIND PAIRS: per message, from the receive to both completions
counted() {
    valgrind --tool=callgrind --collect-atstart=no --toggle-collect=measured_messages \
        "--callgrind-out-file=$scratch/out" "$program" shm "$1" "$2" >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
    echo $(($(awk '/^(totals|summary):/ { print $2; exit }' "$scratch/out") / (rounds * $2)))
}

one=$(counted endpoints 1)
many=$(counted endpoints 64)
contexts=$(counted contexts 64)
echo "instructions per message: $one for one endpoint, $many for each of 64, $contexts for each of 64 contexts"
((contexts * 100 <= many * 120)) || fail "64 contexts cost more than 64 endpoints"
