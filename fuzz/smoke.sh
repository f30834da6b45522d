#!/usr/bin/env bash
# One fuzz target for a while, from its corpus and the saved findings: smoke.sh BUILD TARGET SECONDS
# Always the same inputs, from one seed: whoever wants to find something new runs `./run fuzz`.
# Ends with 77 if the target is not built (./run test builds it), 0 if nothing was found.
set -euo pipefail
build=$1 target=$2 seconds=$3
cd "$(dirname "${BASH_SOURCE[0]}")/.."
binary=$build/fuzz/fuzz_$target
[ -x "$binary" ] || { echo "smoke.sh: $binary is not built"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folders=("$work/learnt")
mkdir "$work/learnt"
fuzz/corpus.sh unpack "$target" "$work/corpus"
for folder in "$work/corpus" "fuzz/regress/$target"; do
    if [ -d "$folder" ]; then folders+=("$folder"); fi
done
export RES_OPTIONS=attempts:0
# What fits into a third of a minute of a slow processor: the corpus, and some changes of it.
case $target in
    hints | differential) runs=500000 ;;
    strings) runs=2250 ;;
    sequence) runs=100000 ;;
    side_effects) runs=5000 ;;
    transfers) runs=1250 ;;
    frames_peer) runs=1000 ;;
    *) runs=800000 ;;
esac
dictionary=()
case $target in frames_*) ;; *) dictionary=(-dict=fuzz/corpus/selvage.dict) ;; esac
schedule=()
if [ "$target" = hints ]; then schedule=(-entropic=0); fi
status=0
"$binary" -seed=1 -runs="$runs" -max_total_time="$seconds" -error_exitcode=1 -timeout_exitcode=1 -timeout=20 -print_pcs=0 -artifact_prefix="$work/" "${schedule[@]}" "${dictionary[@]}" \
    "${folders[@]}" >"$work/log" 2>&1 || status=$?
grep -aE 'DONE|selvage:|ERROR' "$work/log" || true
if [ "$status" -ne 0 ]; then
    tail -n 40 "$work/log"
    for file in "$work"/crash-* "$work"/timeout-*; do
        if [ -e "$file" ]; then echo "the input, base64: $(base64 -w0 "$file")"; fi
    done
fi
exit "$status"
