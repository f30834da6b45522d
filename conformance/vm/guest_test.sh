#!/usr/bin/env bash
# What the script `guest` promises: guest_test.sh SCRATCH_FOLDER. Each line of output is one promise and whether it is kept.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
guest=$here/guest
mkdir -p "$1"
scratch=$(mktemp -d "$(realpath "$1")/guest_test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failures=0

expect() { # what it protects, command
    local what=$1
    shift
    if "$@"; then
        echo "ok      $what"
    else
        echo "FAILED  $what"
        failures=$((failures + 1))
    fi
}
run() { # file for the output, options and command; sets `status`
    local to=$1
    shift
    status=0
    "$guest" "$@" >"$to.out" 2>"$to.err" || status=$?
}
contains() { grep -qF -- "$2" "$1" || { echo "--- $1:"; cat "$1"; return 1; }; }

# One machine, many promises.
chmod 777 "$scratch" # for the run as another user
mkdir -m 777 "$scratch/kept"
cat >"$scratch/inside" <<TEXT
echo "arguments: <\$1> <\$2>"
echo "variable: \$COLOUR"
echo "folder: \$PWD"
echo "to stderr" >&2
echo changed >$scratch/not-kept
echo changed >$scratch/kept/file
ls /sys/class/infiniband
exit 7
TEXT
cd "$scratch"
run "$scratch/plain" --env 'COLOUR=dark blue' --write "$scratch/kept" -- bash "$scratch/inside" 'a  "b"' ''
expect "the exit status is the command's" test "$status" = 7
expect "arguments arrive as they are, empty ones too" contains plain.out 'arguments: <a  "b"> <>'
expect "variables named on the command line are set" contains plain.out 'variable: dark blue'
expect "the command runs in the caller's folder" contains plain.out "folder: $scratch"
expect "an RDMA device is there" contains plain.out rxe0
expect "what goes to stderr goes to stderr" contains plain.err 'to stderr'
expect "and nothing else" test "$(wc -l <plain.err)" = 1
expect "the host's files are not changed" test ! -e "$scratch/not-kept"
expect "but those below --write are" contains kept/file changed

# As another user, where this one may become another who can read the sources.
other=(setpriv --reuid nobody --regid nogroup --clear-groups)
if [ "$(id -u)" = 0 ] && "${other[@]}" test -x "$guest"; then
    status=0
    (cd / && "${other[@]}" env HOME="$scratch/kept" TMPDIR="$scratch/kept" \
        "$guest" -- ibv_devices) >other.out 2>other.err || status=$?
    expect "root is not needed" test "$status" = 0
    expect "and the device is there all the same" contains other.out rxe0
fi

run "$scratch/limit" --limit 2 -- bash -c 'trap "" TERM; echo before; sleep 1000 & sleep 1000; sleep 1000'
expect "a command that does not end is ended, with status 124" test "$status" = 124
expect "and what it said till then is shown" contains limit.out before

# A kernel that is none, and no QEMU.
mkdir broken-image
"$here/image.sh" "$scratch/broken-image"
echo 'no kernel' >broken-image/kernel
SELVAGE_GUEST_IMAGE=$scratch/broken-image run "$scratch/broken" -- true
expect "a machine that cannot start is a failure, not a skip" test "$status" = 125
expect "with the reason" contains broken.err 'guest: the machine cannot be started: '
# An image whose first process sleeps: what comes later in the archive counts.
mkdir sleepy-image
"$here/image.sh" "$scratch/sleepy-image"
printf '#!/bin/busybox sh\nexec /bin/busybox sleep 1000\n' >init
chmod +x init
echo init | cpio -o -H newc --quiet >>sleepy-image/initramfs
SELVAGE_GUEST_IMAGE=$scratch/sleepy-image run "$scratch/late" --start 10 --accel tcg -- true
expect "so is one that does not start in time" test "$status" = 125
expect "with where its processor was" contains late.err 'RIP='
PATH=/nowhere SELVAGE_GUEST_IMAGE=$scratch/broken-image /bin/bash "$guest" -- true >none.out 2>none.err && status=0 || status=$?
expect "a missing package is a failure" test "$status" = 125
run "$scratch/usage" --devices many -- true
expect "an unknown kind of device is refused" contains usage.err "no devices of the kind 'many'"

[ "$failures" = 0 ]
