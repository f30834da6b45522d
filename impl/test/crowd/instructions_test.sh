#!/usr/bin/env bash
# Instructions of the library per small message over shared memory, counted by callgrind: they are the same on a busy
# machine. Send and completion of 8 tagged bytes must stay below 150, of 64 below 300; of those that wait for a counter,
# below 500 when each is started by itself, and below 240 when fifty are started together. A broadcast of 8 bytes between two must stay
# below 530 at its root and below 720 at the other, an allreduce below 3250 at both together.
#   instructions_test.sh PROGRAM
set -euo pipefail
program=$1
messages=10000 # as in instructions.cc

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
command -v valgrind >/dev/null || fail "valgrind is not installed"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What callgrind's file says of the functions of the library. The line after calls= repeats what is told of the callee.
in_library() {
    awk -v messages=$messages '
        /^c?ob=/ {
            number = $1; sub(/^c?ob=/, "", number)
            if (NF > 1) library[number] = $2 ~ /libfabric/
            if (/^ob=/) inside = library[number]
        }
        /^calls=/ { getline; next }
        /^[-+*0-9]/ && inside { sum += $NF }
        END { printf "%.0f\n", sum / messages }' "$1"
}

# counted FUNCTION
counted() {
    valgrind --tool=callgrind --collect-atstart=no "--toggle-collect=$1" "--callgrind-out-file=$scratch/$1" \
        "$program" >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
    in_library "$scratch/$1"
}

# counted_below LIMIT FUNCTION: what is done every few milliseconds counts, too, and is done more often for a message on
# a busy machine.
counted_below() {
    local count
    for _ in 1 2 3 4; do
        count=$(counted "$2")
        ((count >= $1)) || break
    done
    echo "$count"
}

sends=$(counted_below 150 measured_sends)
longer=$(counted_below 300 measured_longer_sends)
triggers=$(counted_below 500 measured_triggers)
windows=$(counted_below 240 measured_windows)
arrivals=$(counted measured_arrivals)
posts=$(counted measured_posts)
writes=$(counted measured_writes)
service=$(counted measured_service)
ends=$(counted measured_ends)
broadcasts=$(counted_below 530 measured_broadcasts)
received=$(counted_below 720 measured_broadcasts_received)
reductions=$(counted_below 3250 measured_reductions)
echo "instructions per write: $writes to post it, $service at the target, $ends for its end and completion"
echo "instructions per message: $sends for send and completion, $arrivals for arrival and completion, $posts for a receive, $longer for send and completion of 64 bytes"
echo "instructions per broadcast: $broadcasts at the root, $received at the other; per allreduce: $reductions at both"
((sends > 20)) || fail "$sends instructions for a message: nothing was counted"
((sends < 150)) || fail "$sends instructions for a message and its completion, 150 are too many"
((longer > 20)) || fail "$longer instructions for a message of 64 bytes: nothing was counted"
((longer < 300)) || fail "$longer instructions for a message of 64 bytes and its completion, 300 are too many"
echo "instructions per message that waits for a counter: $triggers by itself, $windows with others"
((windows > 20)) || fail "$windows instructions for a message that waits: nothing was counted"
((triggers < 500)) || fail "$triggers instructions for a message that waits for a counter, 500 are too many"
((windows < 240)) || fail "$windows instructions for one that is started with others, 240 are too many"
((broadcasts > 20)) || fail "$broadcasts instructions for a broadcast: nothing was counted"
((broadcasts < 530)) || fail "$broadcasts instructions for a broadcast at its root, 530 are too many"
((received < 720)) || fail "$received instructions for a broadcast at another member, 720 are too many"
((reductions < 3250)) || fail "$reductions instructions for an allreduce at both members, 3250 are too many"
