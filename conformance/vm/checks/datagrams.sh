# FI_EP_DGRAM over the library's verbs: its own tests, and the distribution's programs. $BUILD is the build folder.
# guest: --devices one --memory 1024 --limit 300

tests=$BUILD/impl/test/impl_verbs_guest
own=$BUILD/impl
system=/nowhere # no library of ours there: the distribution's is found
export LD_LIBRARY_PATH=$own

limit_of_datagrams_between_two_endpoints=120
check_datagrams_between_two_endpoints() { "$tests" --gtest_filter='VerbsDgram.*'; }

# Its own socket tells when the server is ready; before, the client is refused. The distribution's library takes the first
# address of the port, which is a link-local one and has no way to others; the second is that of 10.77.0.1.
pingpong() { # library of the server, of the client, bytes
    local options=(-p verbs -e dgram -d rxe0-dgram -c -I 10 -S "$3") server
    export FI_VERBS_GID_IDX=1
    LD_LIBRARY_PATH=$1 fi_pingpong "${options[@]}" >server.out 2>&1 &
    server=$!
    # shellcheck disable=SC2064
    trap "kill $server 2>/dev/null || true; cat server.out" EXIT
    until grep -qi ': 00000000:B9E8 ' /proc/net/tcp || grep -qi ':B9E8 ' /proc/net/tcp6; do
        kill -0 "$server"
        sleep 0.2
    done
    LD_LIBRARY_PATH=$2 fi_pingpong "${options[@]}" 10.77.0.1
    wait "$server"
}

limit_of_fi_pingpong_over_datagrams=120
check_fi_pingpong_over_datagrams() { for size in 1 64 1024 4096; do pingpong "$own" "$own" "$size"; done; }

# When this works and the next two do not, it is ours.
check_fi_pingpong_over_the_systems_library() { pingpong "$system" "$system" 1024; }

check_the_systems_library_understands_our_datagrams() { pingpong "$system" "$own" 1024; }

check_our_library_understands_the_systems_datagrams() { pingpong "$own" "$system" 1024; }

# The last: there is no device afterwards.
limit_of_a_device_that_is_removed=60
check_a_device_that_is_removed() {
    SELVAGE_REMOVE_DATAGRAM_DEVICE=1 "$tests" --gtest_filter='VerbsDgram.ADeviceThatIsRemoved*'
}
