#!/bin/bash
# Builds a package for a GPU host without a compiler: tests, tables, ringside, the libraries that they link, and the scripts.
#
#   tests/gpu/bundle.sh DIR [ARCHITECTURE]     DIR and DIR.tgz; for sm_90 of H100 and H200 unless said
#
# There: DIR/run.sh OUT, and DIR/ringside (README.md). The GPU host's C library has to be at least as new as this host's.
# ringside and the tests are built together, since they share most of their objects. Host code waits for kernels, so it is optimised
# little; the compiler takes memory rather than time, and SimGrid stays at home.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
directory=${1:?a folder for the package}
build=build/gpu-bundle
targets=(ringside ringside_gpu_test ringside_gpu_processes_test ringside_gpu_page)
programs=("$build/cli/ringside" "$build/tests/cuda/ringside_gpu_test" "$build/tests/cuda/ringside_gpu_processes_test"
  "$build/tests/gpu/ringside_gpu_page")
generator=()
command -v ninja > /dev/null && generator=(-G Ninja)

# By RPATH a library finds the others in lib, too; RUNPATH serves the program alone.
# Not Release, for which some folders have another -O: GCC 12 fails on a header that was precompiled with less.
flags="-O1 -DNDEBUG -ffunction-sections -fdata-sections --param ggc-min-expand=400 --param ggc-min-heapsize=1000000"
cmake "${generator[@]}" -B "$build" -S . -DRINGSIDE_CUDA=ON -DRINGSIDE_BATCH=25 -DRINGSIDE_CUDA_ARCHITECTURES="${2:-90}" \
  -DRINGSIDE_SIMGRID_PROGRAM=OFF -DCMAKE_BUILD_TYPE=MinSizeRel "-DCMAKE_CXX_FLAGS_MINSIZEREL=$flags" \
  "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--gc-sections,--disable-new-dtags" -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON "-DCMAKE_INSTALL_RPATH=\$ORIGIN/lib"
cmake --build "$build" -j"${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" --target "${targets[@]}"

rm -rf "$directory"
mkdir -p "$directory/lib"
for program in "${programs[@]}"; do strip -o "$directory/$(basename "$program")" "$program"; done
cp tests/gpu/{run.sh,bounded.sh,tests.sh,page.sh,README.md} "$directory"
git rev-parse --short HEAD > "$directory/COMMIT" 2> /dev/null || rm -f "$directory/COMMIT"
# The C library is the GPU host's own.
ldd "${programs[@]}" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  grep -v -E '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' | xargs -I{} cp -L {} "$directory/lib"
strip --strip-unneeded "$directory"/lib/*
tar -C "$directory" -czf "$directory.tgz" .
du -sh "$directory" "$directory.tgz"
