#!/usr/bin/env bash
# Open MPI as the distribution ships it, on this library: a program of ours in which every MPI message goes through
# libfabric (pml cm, mtl ofi), on 2 and on 8 processes; one-sided calls also by remote memory access (osc rdma, btl ofi), and
# threads by scalable endpoints.
#   mpi_test.sh FOLDER-OF-THE-LIBRARY PROGRAM SHIM PROVIDER
# PROVIDER: tcp, tcp;ofi_rxm, or shm; the last with the shim that takes FI_REMOTE_COMM out of Open MPI's queries.
set -euo pipefail
folder=$1 program=$2 shim=$3 provider=$4
export LD_LIBRARY_PATH=$folder
export PMIX_MCA_gds=hash # with PMIx's default, spawned processes now and then hang in PMIx_Init, with any libfabric

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
command -v mpirun >/dev/null || fail "mpirun is not installed (package openmpi-bin)"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Regions that the library named itself, by process, and whose process is gone. Other tests use the folder, too.
left_behind() {
    local file pid
    for file in /dev/shm/selvage-shm-*-*.*; do
        pid=${file##*-} && pid=${pid%%.*}
        [[ -e $file && $pid =~ ^[0-9]+$ && ! -d /proc/$pid ]] && echo "$file"
    done
    true
}

options=(--oversubscribe --allow-run-as-root --bind-to none --mca plm isolated --mca orte_tmpdir_base "$scratch"
         --mca mpi_yield_when_idle 1 --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include "$provider")
if [[ $provider == shm ]] || ! fi_info -p "$provider" -c 'FI_TAGGED|FI_REMOTE_COMM' >/dev/null 2>&1; then
    echo "with FI_REMOTE_COMM taken out of the queries"
    options+=(-x "LD_PRELOAD=$shim")
fi

# run PROCESSES WHAT OPTION...
run() {
    local count=$1 what=$2 status=0
    shift 2
    # shellcheck disable=SC2086
    timeout 120 mpirun "${options[@]}" "$@" -n "$count" "$program" $what >"$scratch/out" 2>&1 || status=$?
    grep -v '^libfabric:' "$scratch/out" || true
    ((status == 0)) || fail "status $status: mpirun $* -n $count $program $what"
}

before=$(left_behind)
for count in 2 8; do
    run "$count" '' --mca osc pt2pt --mca btl self
    [[ $provider == *ofi_rxm* ]] && continue # btl ofi refuses any provider with that in its name
    echo "one-sided calls by remote memory access:"
    run "$count" one_sided --mca osc rdma --mca btl ofi,self --mca btl_ofi_provider_include "$provider"
done
echo "threads on one endpoint:"
run 2 threads --mca osc pt2pt --mca btl self
# Scalable endpoints; then a context for each communicator, and a thread for each of these. (Grouped, one-sided calls by
# osc pt2pt hang on Debian's libfabric as well.)
contexts=(--mca osc pt2pt --mca btl self --mca mtl_ofi_enable_sep 1 --mca mtl_ofi_num_ctxts 8)
echo "with scalable endpoints:"
run 2 '' "${contexts[@]}"
run 3 threads "${contexts[@]}" --mca mtl_ofi_thread_grouping 1 -x FI_LOG_LEVEL=info -x FI_LOG_SUBSYS=ep_ctrl
grep -q '/t7[: ]' "$scratch/out" || fail "the last of eight contexts was not used"
[[ $(left_behind) == "$before" ]] || fail "left in /dev/shm: $(left_behind)"
