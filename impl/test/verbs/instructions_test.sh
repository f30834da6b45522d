#!/usr/bin/env bash
# Instructions of the library for a short message over verbs, those of the device left out. A send is the call alone; a
# receive goes from posting it to reading its completion.
#   instructions_test.sh PROGRAM send:LIMIT receive:LIMIT
set -euo pipefail
program=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
collected() { # function, mode, count
    valgrind --tool=callgrind --callgrind-out-file="$folder/out" --toggle-collect="*$1*" \
        --toggle-collect='*quick_send*' --toggle-collect='*quick_receive*' --toggle-collect='*quick_poll*' "$program" "$2" "$3" \
        >"$folder/$2" 2>"$folder/log" || { cat "$folder/log" "$folder/$2" >&2; return 1; }
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$folder/log"
}
status=0
for pair in "$@"; do
    mode=${pair%:*}
    one=$(collected "measured_$mode" "$mode" 1000)
    two=$(collected "measured_$mode" "$mode" 2000)
    each=$(((two - one) / 1000))
    echo "$mode: $each instructions"
    [ "$each" -gt 0 ] && [ "$each" -lt "${pair#*:}" ] || status=1
done
exit "$status"
