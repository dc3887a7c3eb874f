#!/usr/bin/env bash
# again.sh PACKAGES FOLDER: makes the packages of the last commit once more, in a clone in FOLDER, without ccache, and compares them with those in
# PACKAGES, byte by byte.
set -euo pipefail
packages=$(realpath "$1")
folder=$(realpath -m "$2")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ -z $(git status --porcelain) ]] || echo "again: not committed, so not compared: $(git status --porcelain | wc -l) files" >&2
rm -rf "$folder"
git clone -q --no-hardlinks . "$folder/a-clone-elsewhere"
export CCACHE_DISABLE=1
RINGSIDE_SIMGRID_SOURCE=$(realpath build/simgrid) "$folder/a-clone-elsewhere/packaging/make.sh" "$folder/build" "$folder/packages"
diff -r "$packages" "$folder/packages" && echo "again: the same $(find "$packages" -type f | wc -l) files"
