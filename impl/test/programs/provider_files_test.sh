#!/usr/bin/env bash
# The provider files in the distribution's own libfabric, or in the one of a folder: it lists them, and programs exchange
# messages over them; with the distribution's also by way of its own layer.
#   provider_files_test.sh FOLDER-OF-THE-FILES [PROGRAM-FOR-MPI|'' [FOLDER-OF-A-LIBFABRIC]]
set -euo pipefail
export FI_PROVIDER_PATH=$1
program=${2-} host=${3-}
unset LD_LIBRARY_PATH
[[ -z $host ]] || export LD_LIBRARY_PATH=$host

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
[[ -z $host ]] || grep -q "$host/libfabric.so.1 " <<<"$(ldd "$(command -v fi_info)")" || fail "not run on $host"
for tool in fi_info fi_pingpong mpirun; do
    command -v $tool >/dev/null || fail "$tool is not installed (packages libfabric-bin, openmpi-bin)"
done
scratch=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null || true; rm -rf "$scratch"' EXIT

# What each file exports: its entry, and nothing that a program could take for the host's.
for file in "$FI_PROVIDER_PATH"/lib*-fi.so; do
    [[ $(nm -D --defined-only "$file" | awk '{print $3}') == fi_prov_ini ]] || fail "$file exports more than its entry"
done

fi_info -l >"$scratch/list"
for name in selvage_shm selvage_tcp selvage_udp selvage_verbs; do
    grep -qx "$name:" "$scratch/list" || fail "$name is not listed"
done
for pair in selvage_shm:FI_EP_RDM selvage_tcp:FI_EP_MSG selvage_tcp:FI_EP_RDM selvage_udp:FI_EP_DGRAM; do
    fi_info -p "${pair%:*}" -t "${pair#*:}" >"$scratch/offers" || fail "${pair%:*} does not offer ${pair#*:}"
    grep -q "provider: ${pair%:*}\$" "$scratch/offers" || fail "${pair%:*} is not what answers for it"
done
# The host reads FI_PROVIDER; the files pass over it.
FI_PROVIDER=selvage_tcp fi_info -p selvage_tcp >/dev/null || fail "FI_PROVIDER=selvage_tcp hides selvage_tcp"
FI_PROVIDER=^selvage_tcp fi_info -p selvage_tcp >/dev/null 2>&1 && fail "FI_PROVIDER=^selvage_tcp does not hide it"

# pingpong PROVIDER TYPE OPTION...: a port of its own for each run, as the last may linger. Ports come in blocks, as two of
# these scripts with process ids that follow each other run at a time, and lie below those that the kernel gives away.
port=$((10000 + $$ % 1200 * 8))
pingpong() {
    local provider=$1 type=$2
    shift 2
    port=$((port + 1))
    timeout 60 fi_pingpong -p "$provider" -e "$type" -B $port -I 200 "$@" >"$scratch/server" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        [[ -n $(ss -Htln "sport = :$port") ]] && break
        sleep 0.05
    done
    timeout 60 fi_pingpong -p "$provider" -e "$type" -P $port -I 200 "$@" 127.0.0.1 >"$scratch/client" 2>&1 ||
        fail "fi_pingpong over $provider, $type: $(tail -3 "$scratch/client"); its server: $(tail -3 "$scratch/server")"
    wait $server || fail "the server of fi_pingpong over $provider, $type: $(tail -3 "$scratch/server")"
    server=
    grep -q '^64 ' "$scratch/client" || fail "no figures from fi_pingpong over $provider: $(cat "$scratch/client")"
}
pingpong selvage_shm rdm
pingpong selvage_tcp rdm -d lo
pingpong selvage_tcp msg -d lo
pingpong selvage_udp dgram -d lo
[[ -n $host ]] || pingpong 'selvage_tcp;ofi_rxm' rdm -d lo

if [[ -n $program ]]; then
    timeout 120 mpirun --oversubscribe --allow-run-as-root --bind-to none --mca plm isolated \
        --mca orte_tmpdir_base "$scratch" --mca mpi_yield_when_idle 1 --mca pml cm --mca mtl ofi \
        --mca mtl_ofi_provider_include selvage_tcp --mca osc pt2pt --mca btl self -n 2 "$program" >"$scratch/mpi" 2>&1 ||
        fail "Open MPI over selvage_tcp: $(tail -5 "$scratch/mpi")"
fi
