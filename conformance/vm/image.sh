#!/usr/bin/env bash
# Makes what the guest starts from, out of the machine's own packages: image.sh FOLDER
#
# FOLDER gets `kernel` and `initramfs`, and `made-from`, which says of what they were made: they are made again only when
# that changes. Prints nothing but errors. Several may call at once; the first works, the others wait.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:/usr/sbin:/sbin # modprobe, for those who are not root

die() { printf 'guest: %s\n' "$*" >&2; exit 125; }

# In the order of need: shares, network devices, and the RDMA device with what user space reaches it by. crc32 is what
# rxe looks for at run time, and no dependency of it says so.
modules=(virtio_pci 9pnet_virtio 9p overlay crc32_generic dummy veth sch_netem sch_tbf sch_ingress cls_matchall
    act_gact rdma_rxe rdma_ucm ib_umad)

# The newest kernel that has the software RDMA device and can be read.
newest_release() {
    local release
    for release in $(ls -1 /lib/modules 2>/dev/null | sort -rV); do
        if [ -r "/boot/vmlinuz-$release" ] && modprobe -S "$release" --show-depends rdma_rxe >/dev/null 2>&1; then
            echo "$release"
            return
        fi
    done
}

# insmod's arguments, each module once, what it needs before it.
module_files() {
    local module
    for module in "${modules[@]}"; do
        modprobe -S "$1" --show-depends "$module" || die "the kernel $1 lacks the module $module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

fill_root() { # folder, kernel release
    local file
    mkdir -p "$1/bin" "$1/modules"
    cp /bin/busybox "$1/bin/busybox"
    cp "$here/init" "$1/init"
    chmod 755 "$1/init"
    module_files "$2" >"$1/order"
    while read -r file; do cp "$file" "$1/modules/"; done <"$1/order"
    sed -i 's|.*/||' "$1/order"
}

main() {
    local folder=$1 release work made_from
    mkdir -p "$folder"
    exec 9>"$folder/lock"
    flock -w 120 9 || die "$folder/lock is held for two minutes"

    [ -x /bin/busybox ] || die "/bin/busybox is missing (package busybox-static)"
    command -v cpio >/dev/null || die "cpio is missing (package cpio)"
    command -v modprobe >/dev/null || die "modprobe is missing (package kmod)"
    release=$(newest_release)
    [ -n "$release" ] || die "no kernel with rdma_rxe in /boot and /lib/modules (package linux-image-amd64)"

    made_from=$(echo "$release"; stat -c '%n %s %Y' "/boot/vmlinuz-$release" /bin/busybox; cksum "$here/init" "$here/image.sh")
    if [ -f "$folder/made-from" ] && [ "$(cat "$folder/made-from")" = "$made_from" ]; then return; fi

    rm -f "$folder/made-from"
    work=$(mktemp -d "$folder/work.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf '$work'" EXIT
    if ! python3 "$here/vmlinux.py" "/boot/vmlinuz-$release" "$work/kernel" 2>/dev/null; then
        cp "/boot/vmlinuz-$release" "$work/kernel"
    fi
    fill_root "$work/root" "$release"
    (cd "$work/root" && find . | cpio -o -H newc --quiet) >"$work/initramfs"
    mv "$work/kernel" "$work/initramfs" "$folder/"
    printf '%s\n' "$made_from" >"$folder/made-from"
}

main "$@"
