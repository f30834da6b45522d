#!/usr/bin/env bash
# The distribution's fi_pingpong on its own libfabric at one end, and on this library at the other, over tcp: the two wires
# differ. Nobody takes the one for the other; this library's end gets an error in bounded time where it has something to
# get, and says in one line who speaks another protocol.
#   other_wire_test.sh FOLDER-OF-THE-LIBRARY
# What only waits to be called waits on, as it may be called by another; and the distribution's library keeps trying, or
# waiting, for ever in places. Those are ended here.
set -euo pipefail
own=$1
unset LD_LIBRARY_PATH FI_LOG_PROV FI_LOG_SUBSYS FI_LOG_LOCATION FI_PROVIDER
export FI_TCP_CONNECT_TIMEOUT=2000  # 10 s otherwise
port=$((20000 + $$ % 8000))         # below those that the kernel gives away, apart from tools_test.sh
scratch=$(mktemp -d "${TMPDIR:-/tmp}/selvage-wire-XXXXXX")
server=0
# shellcheck disable=SC2317
end() {
    [ "$server" = 0 ] || kill "$server" 2>/dev/null || true
    rm -rf "$scratch"
}
trap end EXIT

fail() { printf 'FAILED: %s\n' "$*" >&2; tail -n 20 "$scratch"/*.log >&2; exit 1; }

command -v fi_pingpong >/dev/null || fail "fi_pingpong is not installed (package libfabric-bin)"
! grep -q "libfabric.so.1 => $own" <<<"$(ldd "$(command -v fi_pingpong)")" || fail "fi_pingpong runs on $own by itself"

# pingpong LIBRARY LOG OPTIONS...; becomes the program.
pingpong() {
    local library=$1 log=$2
    shift 2
    [ "$library" = system ] || export LD_LIBRARY_PATH=$own
    exec timeout 60 fi_pingpong -I 2 -c "$@" >"$log" 2>&1
}

# await LOG PATTERN: the pattern is in the log within ten seconds.
await() {
    local tries
    for ((tries = 0; tries < 200; ++tries)); do
        if grep -q "$2" "$1"; then return; fi
        sleep 0.05
    done
    fail "no '$2' in $(basename "$1")"
}

listens() { grep -q ":$(printf %04X "$1") 0*:0000 0A" /proc/net/tcp /proc/net/tcp6; }

# call SERVER CLIENT PROVIDER TYPE SIZE: starts both. The client is the caller's to wait for.
call() {
    local tries
    port=$((port + 1))
    rm -f "$scratch"/*.log
    (pingpong "$1" "$scratch/server.log" -p "$3" -e "$4" -S "$5" -B $port) &
    server=$!
    for ((tries = 0; tries < 200; ++tries)); do
        if listens $port; then break; fi
        sleep 0.05
    done
    (pingpong "$2" "$scratch/client.log" -p "$3" -e "$4" -S "$5" -P $port 127.0.0.1) &
    client=$!
}

# Ends what is left; nobody has printed a result.
finish() {
    kill "$server" "$client" 2>/dev/null || true
    wait "$server" "$client" 2>/dev/null || true
    server=0
    ! grep -qi "MB/sec" "$scratch"/*.log || fail "$1: messages were exchanged"
    printf '%s: fine\n' "$1"
}

# The client ends by itself, with an error.
client_fails() {
    local code=0
    wait "$client" || code=$?
    case $code in
    0 | 124) fail "$1: the client ended with $code" ;;
    esac
}

count_lines() { grep -c 'another protocol' "$1" || true; }
one_line() { [ "$(count_lines "$1")" = 1 ] || fail "$(basename "$1"): not one line about the other protocol"; }

foreign_caller='tcp:ep_ctrl:.*<warn> fi_sockaddr://[0-9.]*:[0-9]* called and speaks another protocol'
foreign_listener='tcp:ep_ctrl:.*<warn> fi_sockaddr://[0-9.]*:[0-9]* closed the connection without .* another protocol'
foreign_peer='tcp:ep_ctrl:.*<warn> fi_sockaddr://[0-9.]*:[0-9]* closes every connection .* another protocol'

call own system tcp msg 64
client_fails 'the system calls'
await "$scratch/server.log" "$foreign_caller"
one_line "$scratch/server.log"
finish 'FI_EP_MSG, the system calls'

call system own tcp msg 64
client_fails 'the system is called'
await "$scratch/client.log" "$foreign_listener"
one_line "$scratch/client.log"
finish 'FI_EP_MSG, the system is called'

# The system's ofi_rxm calls again and again.
call own system 'tcp;ofi_rxm' rdm 64
await "$scratch/server.log" "$foreign_caller"
kill -0 "$server" || fail 'the server ended'
finish 'FI_EP_RDM, the system calls'

# A long message completes when it was received, so its sender gets the error.
call system own 'tcp;ofi_rxm' rdm 65536
client_fails 'the system is called by ofi_rxm'
await "$scratch/client.log" "$foreign_peer"
one_line "$scratch/client.log"
finish 'FI_EP_RDM, the system is called'
