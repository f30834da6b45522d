# What fi_getinfo offers on a machine with two RDMA devices, and that it keeps every promise. $BUILD is the build folder.
# guest: --devices two --memory 512 --limit 300

export LD_LIBRARY_PATH=$BUILD/impl
list=$BUILD/impl/test/impl_list
selvage=$BUILD/conformance/selvage
library=$BUILD/impl/libfabric.so.1

same() { # expected, seen
    [ "$1" = "$2" ] || { printf 'expected:\n%s\nseen:\n%s\n' "$1" "$2"; return 1; }
}

check_each_address_of_a_device_is_offered_connected_and_for_datagrams_by_the_plain_name() {
    same "result 0 
offer verbs rxe0 FI_EP_MSG
offer verbs rxe0-dgram FI_EP_DGRAM
offer verbs rxe0 FI_EP_MSG
offer verbs rxe0-dgram FI_EP_DGRAM
offer verbs rxe1 FI_EP_MSG
offer verbs rxe1-dgram FI_EP_DGRAM
offer verbs rxe1 FI_EP_MSG
offer verbs rxe1-dgram FI_EP_DGRAM" "$($list verbs)"
}

check_and_addressed_by_the_layered_name_in_either_order() {
    local name expected="result 0 
offer verbs;ofi_rxm rxe0 FI_EP_RDM
offer verbs;ofi_rxm rxe0 FI_EP_RDM
offer verbs;ofi_rxm rxe1 FI_EP_RDM
offer verbs;ofi_rxm rxe1 FI_EP_RDM"
    for name in 'verbs;ofi_rxm' 'ofi_rxm;verbs'; do same "$expected" "$($list "$name")"; done
}

check_a_destination_on_another_machine_or_of_a_device_is_reached_and_loopback_is_not() {
    $list verbs 10.77.0.99 | tee offers
    grep -q 'offer verbs rxe0' offers
    $list verbs 10.77.0.1 | tee offers
    grep -q 'offer verbs rxe0' offers
    $list verbs fd00:77:1::1 | tee offers
    grep -q 'offer verbs rxe1' offers
    same 'result -61 No data available' "$($list verbs 127.0.0.1)"
}

check_variables_choose_the_device_and_the_interface() {
    FI_VERBS_DEVICE_NAME=rxe1 $list verbs | tee offers
    same 4 "$(grep -c 'rxe1' offers)"
    same 0 "$(grep -c 'rxe0' offers || true)"
    FI_VERBS_IFACE=nic0 $list verbs | tee offers
    same 4 "$(grep -c 'rxe0' offers)"
    same 0 "$(grep -c 'rxe1' offers || true)"
}

check_the_log_says_which_interface_is_on_which_device() {
    FI_LOG_LEVEL=info FI_LOG_PROV=verbs $list verbs 2>&1 | tee log
    grep -q 'nic0 is on port 1 of device rxe0' log
    grep -q 'nic1 is on port 1 of device rxe1' log
}

check_the_log_names_a_device_without_an_address() {
    ip link set nic0 down
    ip link set nic1 down
    trap 'ip link set nic0 up; ip link set nic1 up; ip addr add fd00:77:0::1/64 dev nic0 nodad; ip addr add fd00:77:1::1/64 dev nic1 nodad' EXIT
    FI_LOG_LEVEL=info FI_LOG_PROV=verbs $list verbs 2>&1 | tee log
    grep -q 'device rxe0 has no active port with an address' log
    grep -q 'result -61' log
}

check_fi_info_shows_the_card() {
    fi_info -p verbs -d rxe0 -v >info
    sed -n '/nic:/,/---/p' info
    local line
    for line in 'name: rxe0' 'vendor_id: 0x' 'mtu: 4096' 'state: FI_LINK_UP' 'network_type: Ethernet' \
        "address: $(cat /sys/class/net/nic0/address)"; do
        grep -q "$line" info || { echo "no line '$line'"; return 1; }
    done
}

check_a_device_that_is_removed_is_no_longer_offered() {
    rdma link delete rxe1
    trap 'rdma link add rxe1 type rxe netdev nic1' EXIT
    same "result 0 
offer verbs rxe0 FI_EP_MSG
offer verbs rxe0-dgram FI_EP_DGRAM
offer verbs rxe0 FI_EP_MSG
offer verbs rxe0-dgram FI_EP_DGRAM" "$($list verbs)"
}

check_what_is_declared_of_verbs_is_what_is_seen() {
    $selvage profile --library "$library" --diff "$SOURCE/impl/transport/verbs/verbs.toml"
}

check_what_is_declared_of_verbs_and_ofi_rxm_is_what_is_seen() {
    $selvage profile --library "$library" --diff "$SOURCE/impl/transport/verbs/verbs_rxm.toml"
}
