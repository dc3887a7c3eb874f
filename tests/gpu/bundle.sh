#!/bin/bash
# Builds a package for a GPU host without a compiler: tests, tables, ringside, the libraries that they link, and the scripts.
#
#   tests/gpu/bundle.sh DIR [ARCHITECTURE]     DIR and DIR.tgz; for sm_90 of H100 and H200 unless said
#
# There: DIR/run.sh OUT, and DIR/ringside (README.md). The GPU host's C library has to be at least as new as this host's.
# ringside and the tests are built together, since they share most of their objects. Host code waits for kernels, so it is optimised
# little. The compiler uses memory to save time. SimGrid and PMIx are omitted: both load plugins that a package cannot carry.
#
# exit status  0: the package is there, 2: the command line is wrong, 3: the package cannot be built here, else that of cmake
set -eu -o pipefail
fail() {
  echo "bundle: $2" >&2
  exit "$1"
}
usage="usage: bundle.sh DIR [ARCHITECTURE], for example bundle.sh build/package 90"
(($# == 1 || $# == 2)) || fail 2 "$usage"
[[ $1 ]] || fail 2 "DIR is empty; $usage"
architecture=${2:-90}
[[ $architecture =~ ^[0-9]{2,3}$ ]] || fail 2 "'$architecture' is no compute capability: write 90 for 9.0; $usage"
directory=$(realpath -m -- "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# The folder is replaced, and COMMIT is what a package begins with.
if [[ -e $directory && ! -e $directory/COMMIT ]] && ! rmdir "$directory" 2> /dev/null; then
  fail 2 "$directory has files that are not a package: name another folder"
fi
build=build/gpu-bundle
targets=(ringside ringside_gpu_test ringside_gpu_processes_test ringside_gpu_page)
programs=("$build/cli/ringside" "$build/tests/cuda/ringside_gpu_test" "$build/tests/cuda/ringside_gpu_processes_test"
  "$build/tests/gpu/ringside_gpu_page")
generator=()
command -v ninja > /dev/null && generator=(-G Ninja)

# By RPATH a library finds the others in lib, too; RUNPATH serves the program alone.
# Not Release, for which some folders have another -O: GCC 12 fails on a header that was precompiled with less.
flags="-Og -DNDEBUG -ffunction-sections -fdata-sections --param ggc-min-expand=400 --param ggc-min-heapsize=1000000"
configured=$(cmake "${generator[@]}" -B "$build" -S . -DRINGSIDE_CUDA=ON -DRINGSIDE_BATCH=30 -DRINGSIDE_CUDA_ARCHITECTURES="$architecture" \
  -DRINGSIDE_PMIX=OFF -DCMAKE_BUILD_TYPE=MinSizeRel "-DCMAKE_CXX_FLAGS_MINSIZEREL=$flags" \
  "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--gc-sections,--disable-new-dtags" -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON "-DCMAKE_INSTALL_RPATH=\$ORIGIN/lib")
echo "$configured"
[[ $configured == *"found     CUDA Toolkit"* ]] ||
  fail 3 "no nvcc 12 or newer with libcudart_static.a on PATH or in /usr/local/cuda: install the CUDA Toolkit"
cmake --build "$build" -j"${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" --target "${targets[@]}"

rm -rf "$directory" "$directory.tgz"
mkdir -p "$directory/lib"
git rev-parse --short HEAD > "$directory/COMMIT" 2> /dev/null || echo unknown > "$directory/COMMIT"
for program in "${programs[@]}"; do strip -o "$directory/$(basename "$program")" "$program"; done
cp tests/gpu/{run.sh,bounded.sh,tests.sh,page.sh,README.md} "$directory"
# The C library is the GPU host's own.
ldd "${programs[@]}" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  grep -v -E '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' | xargs -I{} cp -L {} "$directory/lib"
strip --strip-unneeded "$directory"/lib/*
tar -C "$directory" -czf "$directory.tgz" .
du -sh "$directory" "$directory.tgz"
