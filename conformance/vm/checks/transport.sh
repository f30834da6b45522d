# The library's own tests of its verbs transport, on a device. $BUILD is the build folder.
# guest: --devices one --memory 1024 --limit 600

tests=$BUILD/impl/test/impl_verbs_guest
export LD_LIBRARY_PATH=$BUILD/impl

limit_of_addressed_endpoints=200
check_addressed_endpoints() { "$tests" --gtest_filter='VerbsRdm.*'; }

limit_of_connected_endpoints=100
check_connected_endpoints() { "$tests" --gtest_filter='VerbsMsg.*'; }

# Whatever is not named here or in datagrams.sh, so that nothing is left out.
limit_of_long_messages=150
check_long_messages() { "$tests" --gtest_filter='-VerbsRdm.*:VerbsMsg.*:VerbsDgram.*:*VerbsMemory*'; }

limit_of_memory_by_device_and_by_engine=200
check_memory_by_device_and_by_engine() { "$tests" --gtest_filter='*VerbsMemory*'; }

limit_of_atomics_by_device=60
check_atomics_by_device() { FI_VERBS_DEVICE_ATOMICS=1 "$tests" --gtest_filter='*Atomic*'; }

# The last: there is no device afterwards.
limit_of_a_device_that_is_removed=60
check_a_device_that_is_removed() {
    SELVAGE_REMOVE_DEVICE=1 "$tests" --gtest_filter='*DeviceThatIsRemoved*'
    local tries
    for tries in {1..20}; do
        [ -z "$(rdma link)" ] && return
        sleep 0.5
    done
    echo "the device is still there after $tries looks"
    return 1
}
