# The library's verbs, judged by the conformance kit as a library of other releases. $BUILD is the build folder.
# guest: --devices one --memory 1024 --limit 850
# A group's queues and what moves its messages are the same in all releases: judged_verbs*.sh judge them once.

export SELVAGE_PATIENCE=5
judge() { # release, provider
    SELVAGE_STANDIN_LIBRARY=$BUILD/impl/libfabric.so.1 SELVAGE_STANDIN_VERSION=$1 GTEST_FILTER='-side_effects.*:openings.*:strings.*:groups.*' \
        "$BUILD/conformance/selvage" check --verbose --strict --library "$BUILD/conformance/test/libstandin.so" --provider "$2" --cases 100 --processes 1
}

limit_of_release_1_0_is_kept=160
check_release_1_0_is_kept() { judge 1.0 verbs && judge 1.0 'verbs;ofi_rxm'; }
limit_of_release_1_5_is_kept=160
check_release_1_5_is_kept() { judge 1.5 verbs && judge 1.5 'verbs;ofi_rxm'; }
limit_of_release_1_20_is_kept=160
check_release_1_20_is_kept() { judge 1.20 verbs && judge 1.20 'verbs;ofi_rxm'; }
limit_of_release_2_0_is_kept=160
check_release_2_0_is_kept() { judge 2.0 verbs && judge 2.0 'verbs;ofi_rxm'; }
limit_of_release_2_6_is_kept=160
check_release_2_6_is_kept() { judge 2.6 verbs && judge 2.6 'verbs;ofi_rxm'; }
