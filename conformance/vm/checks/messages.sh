# The distribution's programs over the library's verbs: fi_pingpong, and Open MPI. $BUILD is the build folder.
# guest: --devices one --cpus 2 --memory 1024 --limit 400

export LD_LIBRARY_PATH=$BUILD/impl

# Its own socket tells when the server is ready; before, the client is refused.
pingpong() { # provider, endpoint, options
    local provider=$1 endpoint=$2 server
    shift 2
    fi_pingpong -p "$provider" -e "$endpoint" -d rxe0 -c "$@" >server.out 2>&1 &
    server=$!
    # shellcheck disable=SC2064
    trap "kill $server 2>/dev/null || true; cat server.out" EXIT
    until grep -qi ': 00000000:B9E8 ' /proc/net/tcp || grep -qi ':B9E8 ' /proc/net/tcp6; do
        kill -0 "$server"
        sleep 0.2
    done
    fi_pingpong -p "$provider" -e "$endpoint" -d rxe0 -c "$@" 10.77.0.1
    wait "$server"
}

sizes='1 4096 65536 1048576'

limit_of_fi_pingpong_over_connected_endpoints=120
check_fi_pingpong_over_connected_endpoints() { for size in $sizes; do pingpong verbs msg -I 10 -S "$size"; done; }

limit_of_fi_pingpong_over_addressed_endpoints=120
check_fi_pingpong_over_addressed_endpoints() { for size in $sizes; do pingpong 'verbs;ofi_rxm' rdm -I 10 -S "$size"; done; }

# Every message goes through libfabric (pml cm, mtl ofi), though both processes are on one machine.
limit_of_open_mpi_on_two_processes=180
check_open_mpi_on_two_processes() {
    export HOME=$PWD
    mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 --mca plm isolated --mca orte_tmpdir_base "$PWD" \
        --mca mpi_yield_when_idle 1 --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'verbs;ofi_rxm' \
        --mca osc pt2pt --mca btl self "$BUILD/impl/test/impl_mpi_program"
}
