#!/bin/bash
# Builds what tests/gpu/run.sh runs, for a GPU host that has not the libraries to build it, with those that it links.
#
#   tests/gpu/bundle.sh DIR [ARCHITECTURE]     90, of H100 and H200, unless said; then there: RINGSIDE_GPU_BINARIES=DIR tests/gpu/run.sh
#
# The GPU host's C library is its own, and at least as new as this one's.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
directory=${1:?a folder for the programs}
build=build/gpu-bundle
programs=("$build/tests/cuda/ringside_gpu_test" "$build/tests/cuda/ringside_gpu_processes_test" "$build/tests/gpu/ringside_gpu_page")

cmake -B "$build" -S . -DRINGSIDE_ONLY_GPU=ON -DRINGSIDE_CUDA=ON -DRINGSIDE_BATCH=5 -DCMAKE_BUILD_TYPE=Release \
  -DRINGSIDE_CUDA_ARCHITECTURES="${2:-90}"
cmake --build "$build" -j"$(nproc)" --target ringside_gpu_test ringside_gpu_processes_test ringside_gpu_page
mkdir -p "$directory/lib"
cp "${programs[@]}" "$directory"
strip "$directory"/ringside_gpu_*
ldd "${programs[@]}" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  grep -v -E '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' | xargs -I{} cp -L {} "$directory/lib"
du -sh "$directory"
