#!/usr/bin/env bash
# Checks a PROMELA model exhaustively with SPIN.
#
#     check_model.sh pass STATES MODEL [-DNAME...]     no error in any state, and at least so many states
#     check_model.sh ends STATES MODEL [-DNAME...]     no cycle of states: something happens for ever in no schedule
#     check_model.sh fail assertion|deadlock|cycle MODEL [-DNAME...]     such an error is found
#
# A check that passes for a wrong reason fails: the search must have been complete, every statement of the model must have
# been reached, there must be as many states as expected, and each NAME must occur in the model. A trace of the shortest
# error is printed where none is expected.
set -euo pipefail

die() { printf 'check_model: %s\n' "$*" >&2; exit 1; }

[ $# -ge 3 ] || die "usage: check_model.sh pass|ends STATES | fail assertion|deadlock|cycle, MODEL [-DNAME...]"
expected=$1 detail=$2 model=$(realpath "$3")
shift 3
command -v spin >/dev/null || die "spin is not installed (.ci/packages)"
for define in "$@"; do
    name=${define#-D} name=${name%%=*}
    case $define in -D*) ;; *) die "$define is no definition" ;; esac
    grep -qw -- "$name" "$model" "$(dirname "$0")/tso.pml" || die "$(basename "$model") knows no $name"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
spin -a "$@" "$model" >spin.out 2>&1 || { cat spin.out; die "spin failed"; }
if grep -qi 'error' spin.out; then cat spin.out; die "spin reports an error"; fi
# Errors are looked for breadth first, so that the first is the shortest; their absence is shown depth first.
search=(-O0 -DBFS)
if [ "$expected" = pass ]; then [ "$detail" -lt 100000 ] && search=(-O0) || search=(-O1); fi
property=-DSAFETY run=()
# A model without progress labels has a cycle without progress if it has any.
if [ "$expected" = ends ] || [ "$detail" = cycle ]; then search=(-O1) property=-DNP run=(-l); fi
cc -w "$property" -DMEMLIM=4096 "${search[@]}" -o pan pan.c
./pan -w22 -m2000000 "${run[@]}" >pan.out 2>&1 || true
states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' pan.out)
errors=$(sed -n 's/^State-vector.*errors: \([0-9]*\)$/\1/p' pan.out)
[ -n "$states" ] && [ -n "$errors" ] || { cat pan.out; die "the search did not end"; }

trace() {
    [ -f ./*.trail ] || return 0
    # A store buffer's steps and the model's own, without the parts of a step.
    spin -t -p -k ./*.trail "$@" "$model" | grep -v 'tso.pml.*\(tso_[ij]\|DO\|IF\|goto\|break\|sub-sequence\)' | tail -n 200
}

if [ "$expected" = pass ] || [ "$expected" = ends ]; then
    [ "$errors" = 0 ] || { trace "$@"; grep '^pan:' pan.out; die "$errors error(s)"; }
    if grep -qi 'search depth too small\|not completed\|out of memory\|memory exhausted\|interrupted' pan.out; then
        cat pan.out
        die "the search was not complete"
    fi
    unreached=$(sed -n 's/^\t\(.*state [0-9]*, .*\)/\1/p' pan.out | grep -v '"-end-"$' || true)
    [ "$expected" = ends ] || [ -z "$unreached" ] || { printf '%s\n' "$unreached"; die "statements that are never reached"; }
    [ "$states" -ge "$detail" ] || die "$states states, at least $detail expected"
    printf 'no error in %s states\n' "$states"
elif [ "$expected" = fail ]; then
    [ "$errors" -ge 1 ] || die "no error in $states states"
    case $detail in
        assertion) grep '^pan:.*assertion violated' pan.out || { cat pan.out; die "another error"; } ;;
        deadlock) grep '^pan:.*invalid end state' pan.out || { cat pan.out; die "another error"; } ;;
        cycle) grep '^pan:.*non-progress cycle' pan.out || { cat pan.out; die "another error"; } ;;
        *) die "unknown error $detail" ;;
    esac
    [ -z "${SHOW_TRACE:-}" ] || trace "$@"
    printf 'found among %s states\n' "$states"
else
    die "unknown expectation $expected"
fi
