#!/usr/bin/env bash
# The seeds of a fuzz target, which lie in one archive, fuzz/corpus/TARGET.tar.gz.
#   corpus.sh unpack TARGET FOLDER   puts them into a folder, if the target has any
#   corpus.sh pack TARGET FOLDER     replaces them by the files of a folder; the same files give the same archive
set -euo pipefail
usage() { sed -n '3,4s/^# *//p' "$0" >&2; exit 2; }
[ $# -eq 3 ] || usage
action=$1 folder=$3
archive=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/corpus/$2.tar.gz
case $action in
    unpack)
        mkdir -p "$folder"
        [ ! -e "$archive" ] || tar -xzf "$archive" -C "$folder"
        ;;
    pack)
        [ -n "$(find "$folder" -maxdepth 1 -type f -print -quit)" ] || { echo "corpus.sh: no file in $folder" >&2; exit 2; }
        (cd "$folder" && find . -maxdepth 1 -type f -printf '%f\0' | LC_ALL=C sort -z |
            tar -c --null --files-from=- --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=0644) |
            gzip -9n >"$archive.new"
        mv "$archive.new" "$archive"
        ;;
    *) usage ;;
esac
