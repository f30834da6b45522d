#!/usr/bin/env bash
# Installs a build, builds a program on what was installed with pkg-config and with CMake, makes the Debian package and
# looks into it.  Everything happens below a scratch folder; nothing of the system is changed.
#   install_test.sh BUILD_FOLDER LIBDIR     LIBDIR as CMake has it: lib, or lib/<machine>
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
libdir=$2
unset LD_LIBRARY_PATH LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH DESTDIR FI_PROVIDER

scratch=$(mktemp -d "${TMPDIR:-/tmp}/selvage-install-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

step() { printf -- '-- %s\n' "$*"; }
die() { printf 'install_test: %s\n' "$*" >&2; exit 1; }

# Builds the probe with the flags of a pkg-config file.  $1: folder of the file, $2: the program; further: options.
build_with_pkg_config() {
    local folder=$1 program=$2 flags
    shift 2
    flags=$(PKG_CONFIG_PATH=$folder pkg-config "$@" --cflags --libs selvage-fabric)
    # shellcheck disable=SC2086
    cc -Wall -Werror -I "$here/../programs" -o "$program" "$here/probe.c" $flags
}

# What an installation may hold, one pattern per line, below its prefix.
expected_files() {
    cat <<TEXT
bin/selvage
$libdir/selvage/libfabric.so
$libdir/selvage/libfabric.so.1
$libdir/selvage/libfabric.so.1.18.1
$libdir/selvage/libselvage-record.so
$libdir/selvage/providers/libselvage_shm-fi.so
$libdir/selvage/providers/libselvage_tcp-fi.so
$libdir/selvage/providers/libselvage_udp-fi.so
$libdir/selvage/providers/libselvage_verbs-fi.so
$libdir/pkgconfig/selvage-fabric.pc
$libdir/cmake/selvage-fabric/selvage-fabric-config.cmake
$libdir/cmake/selvage-fabric/selvage-fabric-config-version.cmake
share/bash-completion/completions/selvage
share/doc/selvage/copyright
share/man/man1/selvage.1
share/zsh/site-functions/_selvage
TEXT
    [[ ! -e $build/model/playground/playground.html ]] || echo share/doc/selvage/playground.html
    local command
    for command in check clauses completion coverage diff explain findings info manual matrix merge profile record replay stat bench verify; do
        echo "share/man/man1/selvage-$command.1"
    done
}

# $1: a file of paths below the prefix.  They are exactly those expected.
check_files() {
    diff <(expected_files | sort) <(sort "$1") || die "these are not the files that were expected"
}

test_prefix() {
    local prefix=$scratch/prefix lib=$scratch/prefix/$libdir/selvage
    step "cmake --install"
    cmake --install "$build" --prefix "$prefix" >"$scratch/install.log" || { cat "$scratch/install.log"; exit 1; }
    (cd "$prefix" && find . ! -type d -printf '%P\n') >"$scratch/files"
    check_files "$scratch/files"
    "$prefix/bin/selvage" --version >/dev/null || die "the installed tool does not run"

    step "a program by pkg-config"
    build_with_pkg_config "$prefix/$libdir/pkgconfig" "$scratch/probe"
    "$scratch/probe" "$lib"
    grep -q "RUNPATH.*$lib" <<<"$(readelf -d "$scratch/probe")" || die "LD_LIBRARY_PATH would not override the path in the program"
    ! "$scratch/probe" "$scratch/elsewhere" 2>/dev/null || die "the probe does not see where the library lies"

    step "a program by CMake"
    mkdir "$scratch/consumer"
    cp "$here/consumer/CMakeLists.txt" "$here/probe.c" "$here/../programs/loaded.h" "$scratch/consumer"
    cmake -S "$scratch/consumer" -B "$scratch/consumer/build" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_INSTALL_PREFIX="$scratch/installed" >/dev/null
    cmake --build "$scratch/consumer/build" --target install >"$scratch/consumer.log" || { cat "$scratch/consumer.log"; exit 1; }
    "$scratch/consumer/build/probe" "$lib"
    "$scratch/installed/bin/probe" "$lib"

    step "an existing program by LD_LIBRARY_PATH"
    cc -I "$here/../programs" -o "$scratch/plain" "$here/probe.c" -lfabric
    LD_LIBRARY_PATH=$lib "$scratch/plain" "$lib"
}

# Lets dpkg say whether the package could be installed here, and unpacks it into a scratch root with a copy of the
# system's package database, so that conflicts over files are those of this machine.
install_package() {
    local deb=$1 root=$scratch/root
    mkdir -p "$root/var/lib"
    if [ "$(id -u)" -ne 0 ]; then
        step "dpkg-deb -x (dpkg needs root)"
        dpkg-deb -x "$deb" "$root"
        return
    fi
    step "dpkg -i, not acted out"
    dpkg --no-act -i "$deb" </dev/null >"$scratch/dpkg.log" 2>&1 || { cat "$scratch/dpkg.log"; die "dpkg would not install it"; }
    step "dpkg --unpack into a scratch root"
    cp -r /var/lib/dpkg "$root/var/lib/dpkg"
    rm -f "$root"/var/lib/dpkg/lock*
    dpkg --root="$root" --log=/dev/null --no-triggers --force-unsafe-io --unpack "$deb" </dev/null >"$scratch/dpkg.log" 2>&1 ||
        { cat "$scratch/dpkg.log"; die "dpkg cannot unpack it"; }
    grep -qx 'install ok unpacked' <<<"$(dpkg-query --root="$root" -W -f='${Status}\n' selvage)" || die "not unpacked"
}

test_package() {
    step "cpack -G DEB"
    (cd "$scratch" && cpack --config "$build/CPackConfig.cmake" -G DEB -B "$scratch/package" >cpack.log 2>&1) ||
        { cat "$scratch/cpack.log"; die "cpack failed"; }
    local deb root=$scratch/root
    deb=$(ls "$scratch"/package/selvage_*.deb)
    dpkg-deb -I "$deb"
    dpkg-deb -c "$deb" | awk '$1 !~ /^d/ { print $6 }' | sed 's,^\./usr/,,' >"$scratch/files"
    check_files "$scratch/files"
    grep -q libc6 <<<"$(dpkg-deb -f "$deb" Depends)" || die "the package names no dependencies"
    ! dpkg -L libfabric1 libfabric-dev | sort -u | grep -xF -f <(sed 's,^,/usr/,' "$scratch/files") ||
        die "a file of the system's libfabric would be overwritten"

    install_package "$deb"
    grep -qx 'prefix=/usr' "$root/usr/$libdir/pkgconfig/selvage-fabric.pc" || die "the package's prefix is not /usr"
    "$root/usr/bin/selvage" --version
    build_with_pkg_config "$root/usr/$libdir/pkgconfig" "$scratch/packaged" --define-variable=prefix="$root/usr"
    "$scratch/packaged" "$root/usr/$libdir/selvage"
}

test_prefix
test_package
step "done"
