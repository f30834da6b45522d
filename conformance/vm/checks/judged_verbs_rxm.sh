# The library's verbs;ofi_rxm judged by the conformance kit, with a device. $BUILD is the build folder, $SOURCE the sources.
# guest: --devices one --memory 1024 --limit 800

CASES=${CASES:-1000} # see judged_verbs.sh

# What takes so long on an emulated processor that a call seems to hang.
export SELVAGE_PATIENCE=5
judge() { "$BUILD/conformance/selvage" check --verbose --library "$BUILD/impl/libfabric.so.1" --provider 'verbs;ofi_rxm' "$@"; }

limit_of_no_promise_is_broken=500
check_no_promise_is_broken() { judge --strict --cases "$CASES" --processes 1; }

limit_of_what_is_declared_is_kept=250
check_what_is_declared_is_kept() {
    GTEST_FILTER='classes*:random*' judge --cases 2000 --profile "$SOURCE/impl/transport/verbs/verbs_rxm.toml"
}
