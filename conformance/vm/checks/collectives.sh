# Collectives over the library's verbs, and members that are killed. $BUILD is the build folder.
# guest: --devices one --memory 1024 --limit 400

export LD_LIBRARY_PATH=$BUILD/impl

# A join has all of them call each other.
limit_of_three_members=350
check_three_members() { "$BUILD/impl/test/impl_collectives" 'verbs;ofi_rxm' "$BUILD/impl" 3; }
