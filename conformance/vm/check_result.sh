#!/usr/bin/env bash
# Tells what came of a check that run_checks.sh has run: check_result.sh RESULTS NAME
set -euo pipefail
[ -f "$1/$2/status" ] || { echo "$2 was not run"; exit 1; }
cat "$1/$2/output"
exit "$(cat "$1/$2/status")"
