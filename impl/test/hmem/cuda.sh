#!/usr/bin/env bash
# Runs the tests of FI_HMEM on a machine with a CUDA device, where nothing is built.
#   [SELVAGE_BANDWIDTH=1] cuda.sh PROGRAM FOLDER-OF-LIBFABRIC
# The program is impl_hmem_test; it prints bandwidths, too, if it is asked for them. Without a device it says so, and exits
# with 77.
set -uo pipefail
program=$1
export LD_LIBRARY_PATH=$2${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if none=$("$program" --gtest_filter='*Endpoints*shmCuda' 2>&1 | grep 'no device'); then
    head -1 <<<"$none"
    exit 77
fi
result=0
for local in 1 0; do
    echo "== FI_SELVAGE_LOCAL=$local"
    FI_SELVAGE_LOCAL=$local timeout 300 "$program" --gtest_filter='*Cuda:*CudaFailures*:HmemRegistration*:HmemQuery*' \
        --gtest_brief=1 2>&1 || result=1
done
exit $result
