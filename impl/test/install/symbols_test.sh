#!/usr/bin/env bash
# What the library exports, with versions, is what the list says; or: has everything that the system's libfabric exports.
#   symbols_test.sh LIBRARY list FILE
#   symbols_test.sh LIBRARY system       exit code 77: there is none
set -euo pipefail
export LC_ALL=C

die() { printf 'symbols_test: %s\n' "$*" >&2; exit 1; }
exported() { nm -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { print $NF }' | sort; }

library=$1
own=$(exported "$library")
[ -n "$own" ] || die "$library exports nothing"
grep -q 'soname: \[libfabric\.so\.1\]' <<<"$(readelf -d "$library")" || die "the soname is not libfabric.so.1"

case $2 in
list)
    difference=$(diff <(grep -v '^#' "$3" | sort) <(printf '%s\n' "$own")) ||
        die "not what $3 says (< the list, > the library):
$difference"
    ;;
system)
    # The reader reads all: a writer whose reader is gone fails, and with pipefail so does the line.
    system=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk '$1 == "libfabric.so.1" && !found++ { print $NF }')
    if [ -z "$system" ]; then
        echo "skipped: no libfabric.so.1 is installed (Debian: libfabric1)"
        exit 77
    fi
    # Which of them a link takes is each library's own affair.
    missing=$(comm -23 <(exported "$system" | sed 's/@@/@/' | sort) <(printf '%s\n' "${own//@@/@}" | sort))
    [ -z "$missing" ] || die "exported by $system and not by $library:
$missing"
    ;;
*) die "what: $2" ;;
esac
printf '%s symbols, none is missing\n' "$(wc -l <<<"$own")"
