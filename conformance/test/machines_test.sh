#!/usr/bin/env bash
# A check between two machines: two network namespaces with a cable between them, and nothing else that they share but
# the file system. The two tasks of a launcher have one command line.
#   machines_test.sh TOOL LIBRARY [CASES]
# Exit status 77: skipped, as namespaces need privileges and the program ip.
set -euo pipefail
tool=$1 library=$2 cases=${3:-200}

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
skip() { printf 'skipped: %s\n' "$*"; exit 77; }
command -v ip >/dev/null || skip "the program ip (iproute2) is not installed"
a=selvage-a-$$ b=selvage-b-$$
ip netns add "$a" 2>/dev/null || skip "network namespaces may not be made here (root makes them)"
scratch=$(mktemp -d)
trap 'ip netns delete "$a"; ip netns delete "$b" 2>/dev/null || true; rm -rf "$scratch"' EXIT
ip netns add "$b"
ip link add veth0 netns "$a" type veth peer name veth0 netns "$b" || skip "no veth devices here"
for side in "$a 10.83.1.1" "$b 10.83.1.2"; do
    read -r name address <<<"$side"
    ip -n "$name" address add "$address/24" dev veth0
    ip -n "$name" link set veth0 up
    ip -n "$name" link set lo up
done

task() { # NAMESPACE RANK FILTER
    ip netns exec "$1" env OMPI_COMM_WORLD_RANK="$2" OMPI_COMM_WORLD_SIZE=2 GTEST_FILTER="$3" "$tool" check \
        --library "$library" --provider tcp --cases "$cases" --no-compiler --quiet \
        --report "$scratch/report.json" --peer 10.83.1.2:7471
}
task "$b" 1 '*' &
agent=$!
status=0
task "$a" 0 'traffic.*' || status=$?
((status < 2)) || fail "the check could not run: $status"
wait "$agent" || fail "the agent exits with $?"
grep -q '"transfers": "on two machines"' "$scratch/report.json" || fail "the report does not say where the endpoints were"
grep -q "was lost" "$scratch/report.json" && fail "the agent was lost"
# The system's library breaks promises; the bundled one keeps them all.
broken=$(grep -c '"grade"' "$scratch/report.json" || true)
echo "tcp between two machines: exit status $status, $broken deviations"
[[ $library == /usr/lib/* ]] || ((status == 0)) || fail "$(cat "$scratch/report.json")"
