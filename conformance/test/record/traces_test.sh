#!/usr/bin/env bash
# Replays the traces of a program, which lie in an archive: traces_test.sh SELVAGE LIBRARY ARCHIVE
# Ends with 77 where the machine has no network interface beside the loopback one, and tcp was recorded with one.
set -euo pipefail
selvage=$1 library=$2 archive=$3
case $archive in
    *-tcp*) [ -n "$(ip -o address show up scope global)" ] || { echo "no network interface"; exit 77; } ;;
esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -xzf "$archive" -C "$folder"
cd "$folder"
"$selvage" replay --library "$library" -- *.trace
