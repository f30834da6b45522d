# What transfers cost beside Debian's libfabric and a raw connection of the device: some rows of `selvage bench transfer`, and
# that they can be measured. No goal is required: emulated processors that wait for the host's own make any figure. $BUILD is
# the build folder.
# guest: --devices one --cpus 2 --memory 1024 --limit 500

# Debian's layer asks for longer completion queues than the device has, unless it expects few peers.
export FI_UNIVERSE_SIZE=64

# provider, rows; a table of A, the library, and B, Debian's
measure() {
    local row only=()
    for row in "${@:2}"; do only+=(--only "$1.msg.$row"); done
    "$BUILD/conformance/selvage" bench transfer --library "$BUILD/impl/libfabric.so.1" --no-count --quiet --pairs 1 \
        --milliseconds 15 "${only[@]}" | tee table
    # Each row has a figure of A.
    [ "$(grep -c '^message, [0-9]* [A-Za-z]* *[0-9.]* ' table)" -ge "$((${#only[@]} / 2))" ]
}

limit_of_memory_that_is_not_registered=240
check_memory_that_is_not_registered() { measure verbs-unregistered latency.65536 bandwidth.65536 bandwidth.1048576; }

limit_of_addressed_endpoints=240
check_addressed_endpoints() { measure verbs latency.8 latency.65536 bandwidth.65536 bandwidth.1048576; }

# No windows: Debian's has no flow control here, and its sender waits for the device's timers when the other is not served.
limit_of_connected_endpoints=200
check_connected_endpoints() { measure verbs-msg latency.8 latency.65536; }
