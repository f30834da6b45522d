# The library's verbs judged by the conformance kit, with a device. $BUILD is the build folder, $SOURCE the sources.
# guest: --devices one --memory 1024 --limit 800

# A processor that is emulated on a slow machine judges five transfers a second: as many as that has time for. More with
# CASES=4000 conformance/vm/run_checks.sh ...
CASES=${CASES:-1000}

# What takes so long on an emulated processor that a call seems to hang.
export SELVAGE_PATIENCE=5
judge() { "$BUILD/conformance/selvage" check --verbose --library "$BUILD/impl/libfabric.so.1" --provider 'verbs' "$@"; }

limit_of_no_promise_is_broken=500
check_no_promise_is_broken() { judge --strict --cases "$CASES" --processes 1; }

# Emulated, two processes take three times as long as one.
limit_of_none_between_two_processes=250
check_none_between_two_processes() { GTEST_FILTER='traffic.*' judge --strict --cases $((CASES / 4)); }

limit_of_what_is_declared_is_kept=250
check_what_is_declared_is_kept() {
    GTEST_FILTER='classes*:random*' judge --cases 2000 --profile "$SOURCE/impl/transport/verbs/verbs.toml"
}
