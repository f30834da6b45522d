#!/usr/bin/env bash
# Runs a file of checks, all in one machine: run_checks.sh CHECKS BUILD RESULTS
#
# CHECKS is a bash script whose functions `check_NAME` succeed or fail. A comment line "# guest: OPTIONS" holds the options
# of the machine. A check has a minute, or `limit_of_NAME=SECONDS`. RESULTS/NAME/ gets its `output` and `status`, which
# check_result.sh tells. Succeeds when every check was run, whatever came of it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Inside the machine: one check, in an empty folder of its own.
one() { # checks, name
    set -euo pipefail
    cd "$(mktemp -d)"
    # shellcheck disable=SC1090
    source "$1"
    "check_$2"
}

names() { sed -n 's|^check_\([a-z0-9_]*\)() {.*|\1|p' "$1"; }

# Inside the machine: all of them, one after the other.
all() { # checks, results
    local name limit began status
    for name in $(names "$1"); do
        limit=$(sed -n "s/^limit_of_$name=\([0-9]*\)\$/\1/p" "$1")
        mkdir -p "$2/$name"
        began=$SECONDS
        status=0
        timeout -k 5 "${limit:-60}" bash "$here/run_checks.sh" --one "$1" "$name" >"$2/$name/output" 2>&1 </dev/null || status=$?
        echo "(status $status, $((SECONDS - began)) s of ${limit:-60} s)" >>"$2/$name/output"
        echo "$status" >"$2/$name/status"
        printf '%3d s  status %d  %s\n' $((SECONDS - began)) "$status" "$name"
    done
}

case $1 in
    --one) shift; one "$@"; exit ;;
    --all) shift; all "$@"; exit ;;
esac
checks=$(realpath "$1") build=$(realpath "$2")
rm -rf "$3"
mkdir -p "$3"
results=$(realpath "$3")
read -r -a options <<<"$(sed -n 's/^# guest: //p' "$checks")"
[ -z "${CASES:-}" ] || options+=(--env CASES="$CASES")
"$here/guest" --verbose "${options[@]}" --write "$results" --keep "$results/machine" \
    --env BUILD="$build" --env SOURCE="$(realpath "$here/../..")" -- \
    bash "$here/run_checks.sh" --all "$checks" "$results"
