#!/usr/bin/env bash
# Packages of this tree, in a folder: ringside, ringside-gui and libringside-dev as .deb for Debian 12 and 13, and an archive for other
# distributions. `./run package` calls it. Needs Debian 12, so that what is built runs on both.
#
#   make.sh BUILD_FOLDER OUTPUT_FOLDER
#
# The same commit gives the same files, wherever it is built: no file has a path or the time of the build in it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(realpath -m "$1")
output=$(realpath -m "$2")
simgrid=${RINGSIDE_SIMGRID_SOURCE:-build/simgrid}
released=$(sed -n 's/^date-released: *//p' CITATION.cff)
SOURCE_DATE_EPOCH=$(date -u -d "$released" +%s)
export SOURCE_DATE_EPOCH
umask 022

packaging/simgrid.sh "$simgrid"
PKG_CONFIG_PATH=$(realpath "$simgrid") cmake --preset package -B "$build"
cmake --build "$build" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-2}"

rm -rf "$output" "$build/stage"
mkdir -p "$output"
(cd "$build" && cpack -G DEB -B "$build/stage/deb" >"$build/cpack.log") || {
  cat "$build/cpack.log" >&2
  exit 1
}
cp "$build"/stage/deb/*.deb "$output"

name=ringside-$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")-linux-$(uname -m)
for part in ringside ringside-gui libringside-dev archive; do
  cmake --install "$build" --prefix "$build/stage/$name" --component "$part" --strip >>"$build/install.log"
done
# Licences of the libraries that only the archive has, by Debian's packages.
licences=$build/stage/$name/share/doc/ringside/licenses
find "$build/stage/$name/lib/ringside" -type f -printf '%f\n' | while read -r library; do
  package=$(dpkg-query --search "*/$library" 2>/dev/null | head -n 1 | cut -d : -f 1) || continue
  [[ ! -e /usr/share/doc/$package/copyright ]] || cp "/usr/share/doc/$package/copyright" "$licences/$package"
done
find "$build/stage/$name/lib/ringside" -type f -exec strip --strip-unneeded {} +
tar --create --directory "$build/stage" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
  --mode=u+rw,go=rX "$name" | gzip -9n >"$output/$name.tar.gz"
(cd "$output" && sha256sum -- * >SHA256SUMS)
ls -l "$output"
