#!/usr/bin/env bash
# Runs what can find a race for as long as one likes, from a new seed in each round: the kit's transfers on the library
# and on the one with delays at its atomic accesses (points.h), processes that are killed, rings that go cold, random
# schedules. Begins with SEED (1), so that a round can be run again; ends with 1 at the first failure, whose output it
# leaves under report/soak/.
#   soak.sh BUILD MINUTES [SEED]
set -euo pipefail
build=$(realpath "$1") minutes=$2 seed=${3:-1}
out=report/soak
mkdir -p "$out"
end=$(($(date +%s) + minutes * 60))
delayed=$build/impl/test/schedule
crowd=$build/impl/test

# step NAME COMMAND...
step() {
    local name=$1 began status=0
    shift
    began=$(date +%s)
    "$@" >"$out/$name.log" 2>&1 || status=$?
    # What the kit saw once and not again is no deviation to it; here it is what is looked for.
    if grep -q "and not again" "$out/$name.log"; then status=1; fi
    printf 'seed %s  %-24s %3s s  %s\n' "$seed" "$name" $(($(date +%s) - began)) "$( ((status)) && echo FAILED || echo ok)"
    ((status == 0)) && return
    mv "$out/$name.log" "$out/$name.seed-$seed.log"
    printf 'run: failed with seed %s; %s has the output\n' "$seed" "$out/$name.seed-$seed.log" >&2
    exit 1
}
traffic() { GTEST_FILTER="traffic.$2" "$build/conformance/selvage" check --verbose --strict --library "$1" --provider "$2" --seed "$seed"; }
with_delays() { SELVAGE_DELAYS="$seed:5:300" LD_LIBRARY_PATH="$delayed" "$@"; }

while (($(date +%s) < end)); do
    for provider in shm tcp 'tcp;ofi_rxm'; do
        step "traffic-$provider" traffic "$build/impl/libfabric.so.1" "$provider"
        SELVAGE_DELAYS="$seed:5:300" step "delayed-traffic-$provider" traffic "$delayed/libfabric.so.1" "$provider"
    done
    for provider in shm tcp; do
        step "kill-$provider" with_delays "$crowd/impl_kill" "$provider" --kills 10 --seed "$seed"
        step "kill-$provider-automatic" with_delays "$crowd/impl_kill" "$provider" --kills 5 --automatic --seed "$seed"
    done
    for provider in shm tcp; do
        step "endurance-$provider" "$crowd/impl_endurance" "$provider" --seconds 60 --processes 16 --seed "$seed"
        step "delayed-endurance-$provider" with_delays "$crowd/impl_endurance" "$provider" --seconds 30 --processes 8 --seed "$seed"
    done
    step cold-race "$crowd/impl_cold_race" --seconds 20 --senders 40
    SELVAGE_SCHEDULE_SEED=$seed step schedules "$delayed/impl_schedule_test" --gtest_filter='*AtRandomEither'
    seed=$((seed + 1))
done
echo "nothing found; the next seed is $seed"
