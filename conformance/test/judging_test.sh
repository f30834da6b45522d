#!/usr/bin/env bash
# Instructions that judging a random query of shm takes, counted by callgrind: they are the same on a busy machine,
# and on a slow one.
#   judging_test.sh CONFORMANCE_TEST
set -euo pipefail
program=$1
queries=60000 # as in speed_test.cc
most=33000      # 29,700 are needed

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
command -v valgrind >/dev/null || fail "valgrind is not installed"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Under callgrind it takes too long, and says so.
valgrind --tool=callgrind --collect-atstart=no "--toggle-collect=selvage::conformance::judge_issued(*" \
    "--callgrind-out-file=$scratch/%p" "$program" --gtest_filter=Speed.AMillion* >"$scratch/log" 2>&1 || true
grep -q "a query takes" "$scratch/log" || fail "$(cat "$scratch/log")"
each=$(($(sed -n 's/^totals: //p' "$scratch"/[0-9]* | sort -n | tail -1) / queries))
echo "instructions to judge a query: $each"
((each > 1000)) || fail "$each instructions for a query: nothing was counted"
((each < most)) || fail "$each instructions for a query, $most are too many"
