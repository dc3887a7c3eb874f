#!/usr/bin/env bash
# The tests of run.sh with the PyTorch of another Debian release, in a root of that release. Needs root.
#
#   in_root.sh ROOT BUILD_FOLDER [TEST [ARGUMENTS]]      default: all tests of run.sh
#
# How to make a root: docs/contributing/testing.md.
# The backend is compiled there, against that PyTorch; libringside.so and the program are those of BUILD_FOLDER, with the
# libraries that they were linked with: a newer C library runs them.
set -euo pipefail
root=$(realpath "$1")
build=$(realpath "$2")
shift 2
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[[ -x $root/usr/bin/python3 ]] || { echo "in_root.sh: $root has no /usr/bin/python3" >&2; exit 77; }

place=$root/tmp/ringside-pytorch
# The compiled backend and its sources stay. What differs gets a new time, so that it is compiled again: another tree's files
# may be older.
if [[ -d $place ]]; then
  find "$place" -mindepth 1 -maxdepth 1 ! -name python-build ! -name python ! -name include -exec rm -rf {} +
fi
update() {
  local file
  mkdir -p "$place/$1"
  (cd "$place" && find "$1" -type f) | while read -r file; do
    [[ -e $tree/$file ]] || rm "$place/$file"
  done
  (cd "$tree" && find "$1" -type f) | while read -r file; do
    cmp -s "$tree/$file" "$place/$file" || install -D -m 644 "$tree/$file" "$place/$file"
  done
}
mkdir -p "$place/api" "$place/libraries" "$place/cli"
update include
update python
mkdir "$place/tests" "$place/examples"
cp -a "$tree/tests/pytorch" "$place/tests/"
cp -a "$tree/examples/pytorch" "$place/examples/"
cp -a "$build"/api/libringside.so* "$place/api/"
cp -a "$build/cli/ringside" "$place/cli/program"
# The C and C++ libraries are the root's own.
ldd "$build/api/libringside.so" "$build/cli/ringside" | awk '$2 == "=>" && $3 ~ "^/" {print $3}' | sort -u |
  grep -vE '/(libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt|libresolv|ld-linux[^/]*)\.so|/libringside\.so' |
  while read -r library; do
    # A library that the root has must stay its own: others of the root need it.
    [[ -e $root/usr/lib/$(uname -m)-linux-gnu/${library##*/} ]] || cp -L "$library" "$place/libraries/"
  done
cat >"$place/cli/ringside" <<'TEXT'
#!/bin/sh
LD_LIBRARY_PATH=/tmp/ringside-pytorch/libraries:/tmp/ringside-pytorch/api exec /tmp/ringside-pytorch/cli/program "$@"
TEXT
chmod +x "$place/cli/ringside"
cat >"$place/inside.sh" <<'TEXT'
set -euo pipefail
cd /tmp/ringside-pytorch
export LC_ALL=C.UTF-8 OMP_NUM_THREADS=1
# Only the linker and the backend need the copied libraries: g++ and Python have their own.
export LDFLAGS="-Wl,-rpath-link,$PWD/libraries -Wl,-rpath,$PWD/libraries -Wl,--disable-new-dtags"
export RINGSIDE_BUILD=$PWD MAX_JOBS=2
(cd python && python3 setup.py -q build --build-lib ../python-build/lib --build-temp ../python-build/temp)
# The compiler has its own libraries: only what runs needs the copied ones.
export LD_LIBRARY_PATH=$PWD/libraries:$PWD/api
mkdir -p build/cli build/python && ln -sfn "$PWD/cli/ringside" build/cli/ringside && ln -sfn "$PWD/python-build/lib" build/python/lib
if (($# == 0)); then
  exec tests/pytorch/run.sh "$PWD/build" python3
fi
test=$1
shift
export PYTHONPATH=$PWD/build/python/lib PYTHONUNBUFFERED=1
exec python3 "tests/pytorch/$test" "$@"
TEXT
# shellcheck disable=SC2016  # the inner shell expands it
exec unshare -m --propagation private bash -c '
  set -e
  mount -t proc proc "$0/proc"
  mkdir -p "$0/dev/shm"
  mount -t tmpfs tmpfs "$0/dev/shm"
  exec chroot "$0" bash /tmp/ringside-pytorch/inside.sh "$@"' "$root" "$@"
