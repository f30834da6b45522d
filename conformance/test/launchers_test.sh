#!/usr/bin/env bash
# One run shared by the tasks of a launcher, and the two sides of one run as two tasks: under Slurm (a cluster of this one
# machine) and under Open MPI.
#   launchers_test.sh TOOL LIBRARY srun|mpirun [CASES]
# Exit status 77: skipped, as the launcher is not installed or this is not root, whom slurmd wants to be.
set -euo pipefail
tool=$1 library=$2 launcher=$3 cases=${4:-200}

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
skip() { printf 'skipped: %s\n' "$*"; exit 77; }
command -v "$launcher" >/dev/null || skip "$launcher is not installed"
# Ports of its own, so that any number of these run beside each other.
if [[ -z ${SELVAGE_OWN_NETWORK:-} ]]; then
    unshare --net true 2>/dev/null || skip "network namespaces may not be made here (root makes them)"
    SELVAGE_OWN_NETWORK=1 exec unshare --net "$0" "$@"
fi
command -v ip >/dev/null || skip "the program ip (iproute2) is not installed"
ip link set lo up
# The resolver finds no address on a machine that has loopback alone.
ip link add veth0 type veth peer name veth1 2>/dev/null || skip "no veth devices here"
ip address add 10.83.2.1/24 dev veth0
ip link set veth0 up
scratch=$(mktemp -d)
daemons=()
trap '((${#daemons[@]} == 0)) || kill "${daemons[@]}" 2>/dev/null || true; wait; rm -rf "$scratch"' EXIT

# A controller and one node, which believe whoever asks.
start_slurm() {
    command -v slurmctld slurmd >/dev/null || skip "slurmctld and slurmd are not installed"
    export SLURM_CONF=$scratch/slurm.conf
    mkdir "$scratch/state"
    cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=localhost
AuthType=auth/none
CredType=cred/none
SlurmUser=root
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
    slurmctld -D -i >"$scratch/slurmctld.log" 2>&1 &
    daemons+=($!)
    slurmd -D -N localhost >"$scratch/slurmd.log" 2>&1 &
    daemons+=($!)
    local looks
    for ((looks = 0; looks < 300; ++looks)); do
        sinfo -h -t idle 2>/dev/null | grep -q . && return
        sleep 0.1
    done
    fail "no node within 30 s: $(tail -n 3 "$scratch"/slurm*.log)"
}

launch() { # ARGUMENTS.. of check
    local command=("$tool" check --library "$library" --cases "$cases" --no-compiler --quiet "$@")
    case $launcher in
        srun) srun --ntasks 2 --overcommit --chdir "$scratch" "${command[@]}" ;;
        mpirun) mpirun --allow-run-as-root --oversubscribe -n 2 --wdir "$scratch" "${command[@]}" ;;
    esac
}

[[ $launcher != srun ]] || start_slurm
"$tool" check --library "$library" --cases "$cases" --no-compiler --quiet --provider shm --report "$scratch/alone.json"
launch --provider shm --report 'part-{shard}.json' || fail "a part of the run ends with $?"
"$tool" merge "$scratch"/part-[01].json --report "$scratch/whole.json" >/dev/null || fail "the parts are no whole run"
# What was asked and judged is the same, whoever did it.
questions() { grep -o '"\(judged\|queries\|cases\)": *[0-9]*' "$1" | head -n 40; }
[[ $(questions "$scratch/alone.json") == "$(questions "$scratch/whole.json")" ]] ||
    fail "two tasks did not do what one does: $(diff <(questions "$scratch/alone.json") <(questions "$scratch/whole.json") | head)"

GTEST_FILTER='traffic.*' launch --provider tcp --peer localhost:7471 --report two.json || fail "the two sides end with $?"
grep -q '"transfers": "on two machines"' "$scratch/two.json" || fail "the report does not say where the endpoints were"
grep -q "was lost" "$scratch/two.json" && fail "the agent was lost"
echo "$launcher: two parts are the whole, and two tasks are the two sides of one run"
