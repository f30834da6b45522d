#!/usr/bin/env bash
# The distribution's own programs, unchanged, on this library: fi_info lists it, fi_strerror speaks, fi_pingpong moves
# messages of all sizes between two processes on each kind of endpoint, datagrams also between two libraries.
#   tools_test.sh FOLDER-OF-THE-LIBRARY
set -euo pipefail
export LD_LIBRARY_PATH=$1
port=$((16000 + $$ % 16000))  # below those that the kernel gives away, apart from other runs

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
says() { grep -q -- "$1" <<<"$2" || fail "expected '$1' in: $2"; }

for tool in fi_info fi_strerror fi_pingpong; do
    command -v "$tool" >/dev/null || fail "$tool is not installed (package libfabric-bin)"
    # Not through a pipe: grep ends at the first match, and what writes to it would fail.
    says "libfabric.so.1 => $1" "$(ldd "$(command -v "$tool")")"
done

says 'provider: shm' "$(fi_info)"
says 'type: FI_EP_MSG' "$(fi_info -p tcp)"
says 'provider: tcp' "$(fi_info -t FI_EP_RDM -c 'FI_MSG|FI_TAGGED')"
says 'FI_LOG_LEVEL' "$(fi_info -e)"
says 'FI_LOG_LOCATION' "$(fi_info -e)"
says '^tcp:' "$(fi_info -l)"
says 'fi_tx_attr' "$(fi_info -p shm -v)"
says 'Resource temporarily unavailable' "$(fi_strerror 11)"

# pingpong PROVIDER TYPE ITERATIONS SIZES...
pingpong() {
    local provider=$1 type=$2 count=$3 size server
    shift 3
    for size in "$@"; do
        port=$((port + 1))
        timeout 60 fi_pingpong -p "$provider" -e "$type" -I "$count" -S "$size" -c -B $port >/dev/null &
        server=$!
        sleep 0.3
        timeout 60 fi_pingpong -p "$provider" -e "$type" -I "$count" -S "$size" -c -P $port 127.0.0.1 >/dev/null ||
            fail "fi_pingpong -p $provider -e $type -S $size"
        wait $server || fail "the server of fi_pingpong -p $provider -e $type -S $size"
        printf 'fi_pingpong -p %s -e %s -S %s -I %s: fine\n' "$provider" "$type" "$size" "$count"
    done
}
# Both ends spin, so on a busy machine every answer may cost a turn of the scheduler: few iterations.
pingpong shm rdm 20 1 64 4096
pingpong shm rdm 2 1048576
pingpong tcp rdm 20 1 64 4096
pingpong tcp rdm 2 1048576
pingpong 'tcp;ofi_rxm' rdm 20 64
pingpong tcp msg 20 1 64 4096
pingpong tcp msg 2 1048576
pingpong udp dgram 20 1 64 1024

# Datagrams have no header of this library's: the distribution's own library at the other end understands them.
across() { # LIBRARY-OF-THE-SERVER LIBRARY-OF-THE-CLIENT
    port=$((port + 1))
    LD_LIBRARY_PATH=$1 timeout 60 fi_pingpong -p udp -e dgram -I 20 -S 64 -c -B $port >/dev/null &
    local server=$!
    sleep 0.3
    LD_LIBRARY_PATH=$2 timeout 60 fi_pingpong -p udp -e dgram -I 20 -S 64 -c -P $port 127.0.0.1 >/dev/null ||
        fail "fi_pingpong over udp with the server on '$1' and the client on '$2'"
    wait $server || fail "the server of fi_pingpong over udp on '$1', with the client on '$2'"
    printf 'fi_pingpong -p udp -e dgram across libraries: fine\n'
}
across "$LD_LIBRARY_PATH" ''
across '' "$LD_LIBRARY_PATH"
