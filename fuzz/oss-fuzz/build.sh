#!/bin/bash -eu
# The build script of OSS-Fuzz and ClusterFuzzLite: targets, corpora, dictionary and options go to $OUT.
#
# Expected of the image: the packages of .ci/packages, $SRC/selvage, and $OUT, $SANITIZER as OSS-Fuzz sets them.  The
# targets load the library and run fuzz_fresh_names, so both go along; they are found beside the target.
cd "$SRC/selvage"
case ${SANITIZER:-address} in
    address | undefined) preset=fuzz-asan ;;
    *) preset=fuzz ;;
esac
cmake --preset "$preset"
cmake --build --preset "$preset"
build=build/$preset
for target in hints sequence strings side_effects transfers frames_notes frames_peer frames_ring frames_values; do
    cp "$build/fuzz/fuzz_$target" "$OUT/"
    if [ -e "fuzz/corpus/$target.tar.gz" ]; then
        fuzz/corpus.sh unpack "$target" "$WORK/corpus/$target"
        (cd "$WORK/corpus/$target" && zip -q "$OUT/fuzz_${target}_seed_corpus.zip" ./*)
    fi
    if [ -f "fuzz/oss-fuzz/$target.options" ]; then cp "fuzz/oss-fuzz/$target.options" "$OUT/fuzz_$target.options"; fi
done
cp -L "$build/impl/libfabric.so.1" "$build/fuzz/fuzz_fresh_names" "$OUT/"
cp fuzz/corpus/selvage.dict "$OUT/"
