# The device itself, with rdma-core's own tools and Debian's libfabric: when these work and ours does not, it is ours.
# guest: --devices one --memory 512 --limit 240

# Started first, waited for, ended last: a server. Its output goes to the file server.out.
serve() {
    "$@" >server.out 2>&1 &
    server=$!
    trap 'kill $server 2>/dev/null || true; cat server.out' EXIT
}
# The client says "connection refused" until the server listens, and that is no failure of the device.
until_it_works() { # tries, command
    local tries=$1
    shift
    while ! "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        kill -0 "$server" || return 1
        sleep 0.5
    done
}

check_ibv_devinfo_shows_an_active_port() {
    ibv_devinfo -d rxe0 | tee devinfo
    grep -q 'state:.*PORT_ACTIVE' devinfo
}

check_ibv_rc_pingpong_moves_data() {
    serve ibv_rc_pingpong -d rxe0 -g 1 -n 200
    until_it_works 20 ibv_rc_pingpong -d rxe0 -g 1 -n 200 10.77.0.1
    wait "$server"
}

check_ibv_ud_pingpong_moves_data() {
    serve ibv_ud_pingpong -d rxe0 -g 1 -n 200
    until_it_works 20 ibv_ud_pingpong -d rxe0 -g 1 -n 200 10.77.0.1
    wait "$server"
}

check_rping_connects_by_ipv4_and_by_ipv6() {
    local address
    for address in 10.77.0.1 fd00:77:0::1; do
        serve rping -s -a "$address" -C 5
        until_it_works 20 rping -c -a "$address" -C 5 -V
        wait "$server"
    done
}

check_the_systems_libfabric_moves_data_over_verbs() {
    serve fi_pingpong -p verbs -e msg -d rxe0 -I 20 -S 4096
    until_it_works 20 fi_pingpong -p verbs -e msg -d rxe0 -I 20 -S 4096 10.77.0.1
    wait "$server"
}
