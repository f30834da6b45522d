#!/bin/sh
# Runs a script of this folder under node; says what is missing, and is skipped (77), without node or the page.
# usage: run.sh NODE SCRIPT FILE ARGUMENT...
node=$1 script=$2 file=$3
shift 2
if [ ! -x "$node" ]; then echo "skipped: needs node"; exit 77; fi
if [ ! -e "$file" ]; then
    echo "skipped: $file is not built; it needs lld-16, wasi-libc, libc++-16-dev-wasm32 and libclang-rt-16-dev-wasm32"
    exit 77
fi
exec "$node" "$(dirname "$0")/$script" "$@"
