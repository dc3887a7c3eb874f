#!/bin/bash
# Builds for the GPU of this host, runs all that needs one, and writes docs/results/gpu-DEVICE.md. Under 8 minutes.
#
#   tests/gpu/run.sh [PAGE]     exit status 0: all well, 1: something is wrong, 3: it cannot run here (it says why)
#
# Needs nvcc 12 or newer, g++, CMake 3.25, Ninja or make, and the libraries that RINGSIDE_ONLY_GPU asks for, half of ringside's:
# on Debian libfmt-dev libyaml-cpp-dev nlohmann-json3-dev libpugixml-dev libhwloc-dev libhwy-dev libsodium-dev
# libflatbuffers-dev flatbuffers-compiler libxxhash-dev libgtest-dev libgmock-dev pkg-config.
#
# A host without these takes what another one has built: RINGSIDE_GPU_BINARIES=DIR, a folder by tests/gpu/bundle.sh.
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 3
begin=$SECONDS

cannot() {
  echo "gpu: $*" >&2
  exit 3
}

command -v nvidia-smi > /dev/null || cannot "no nvidia-smi: this host has no NVIDIA driver"
gpu=$(nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader 2>&1 | head -1) || cannot "nvidia-smi: $gpu"
IFS=, read -r name capability driver <<< "$gpu"
[[ $capability =~ ([0-9]+)\.([0-9]+) ]] || cannot "nvidia-smi says: $gpu"
architecture=${BASH_REMATCH[1]}${BASH_REMATCH[2]}
driver=${driver# }
PATH=$PATH:/usr/local/cuda/bin
build=build/gpu
mkdir -p "$build"
echo "gpu: $name (sm_$architecture), driver $driver"

build_here() {
  local tool generator=(-G "Unix Makefiles")
  for tool in nvcc cmake g++; do
    command -v "$tool" > /dev/null || cannot "no $tool; RINGSIDE_GPU_BINARIES=DIR takes what tests/gpu/bundle.sh has built elsewhere"
  done
  command -v ninja > /dev/null && generator=(-G Ninja)
  cmake "${generator[@]}" -B "$build" -S . -DRINGSIDE_ONLY_GPU=ON -DRINGSIDE_CUDA=ON -DRINGSIDE_BATCH=5 \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DRINGSIDE_CUDA_ARCHITECTURES="$architecture" > "$build/configure.log" 2>&1 ||
    { tail -20 "$build/configure.log" >&2; cannot "configuring failed: see above"; }
  grep -q 'found     CUDA Toolkit' "$build/configure.log" || cannot "nvcc is older than 12, or libcudart_static.a is not beside it"
  cmake --build "$build" -j"$(nproc)" --target ringside_gpu_test ringside_gpu_processes_test ringside_gpu_page > "$build/build.log" 2>&1 ||
    { grep -E -A5 'error' "$build/build.log" | tail -40 >&2; cannot "building failed: $build/build.log"; }
  tests=$build/tests/cuda/ringside_gpu_test
  processes=$build/tests/cuda/ringside_gpu_processes_test
  tables=$build/tests/gpu/ringside_gpu_page
}

if [[ -n ${RINGSIDE_GPU_BINARIES:-} ]]; then
  tests=$RINGSIDE_GPU_BINARIES/ringside_gpu_test
  processes=$RINGSIDE_GPU_BINARIES/ringside_gpu_processes_test
  tables=$RINGSIDE_GPU_BINARIES/ringside_gpu_page
  export LD_LIBRARY_PATH=$RINGSIDE_GPU_BINARIES/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  "$tests" --gtest_list_tests > /dev/null 2> "$build/start.log" || cannot "$tests does not start: $(head -1 "$build/start.log")"
else
  build_here
fi
echo "gpu: built after $((SECONDS - begin)) s"

status=0
ended=yes
# run_tests SECONDS PROGRAM [OPTION..]: one that is cut short has not said all.
run_tests() {
  timeout "$@" >> "$build/tests.log" 2>&1 && return
  local outcome=$?
  status=1
  [[ $outcome == 1 ]] || { ended=no; echo "gpu: $2 ended early: status $outcome" >&2; }
}
: > "$build/tests.log"
run_tests 80 "$tests"
# Processes take turns on the one GPU, so each message between two of them takes as long as a turn: the whole grid by one way
# through memory of GPUs, one through that of hosts, and one by proxies.
run_tests 120 "$processes" --gtest_filter='-*EveryCollectiveAndAlgorithm*/Ipc:*EveryCollectiveAndAlgorithm*/*Direct'
summary=$(grep -E '^\[  (PASSED|FAILED) ' "$build/tests.log" | head -20)
echo "$summary"

# A few cases of each protocol, under the sanitizer's tools; each launch takes a hundred times as long there. racecheck looks at
# shared memory, of which kernels have none: that it finds nothing says that none has come in.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2> /dev/null)
sanitized=""
if [[ -n $sanitizer ]]; then
  for tool in memcheck synccheck racecheck; do
    timeout 30 "$sanitizer" --tool "$tool" --error-exitcode 9 "$tests" \
      --gtest_filter='*OneSlotIsEnoughForAChain*:*NoByteBeside*/ll128' > "$build/$tool.log" 2>&1
    outcome=$?
    if [[ $outcome == 0 ]]; then
      sanitized+="| compute-sanitizer $tool | fine |"$'\n'
    elif grep -qi 'device not supported' "$build/$tool.log"; then
      sanitized+="| compute-sanitizer $tool | does not take this host's device |"$'\n'
    else
      sanitized+="| compute-sanitizer $tool | status $outcome: $(grep -m1 '=========.*[Ee]rror' "$build/$tool.log" | tr -d '|') |"$'\n'
      status=1
    fi
  done
else
  sanitized="| compute-sanitizer | not on this host |"$'\n'
fi

rm -f "$build/bars.md"
timeout 120 "$tables" "$build/bars.md" > "$build/tables.md" 2> "$build/tables.err" ||
  { status=1; echo "gpu: the tables ended early: $(cat "$build/tables.err")" >&2; }
timeout 60 "$tables" --processes >> "$build/tables.md" 2> "$build/tables.err" ||
  { status=1; echo "gpu: the tables of processes ended early: $(cat "$build/tables.err")" >&2; }

if [[ $(nvidia-smi -L | wc -l) -ge 2 ]] && ldconfig -p | grep -q 'libnccl\.so\.2'; then
  timeout 40 "$tables" --nccl >> "$build/tables.md" 2> "$build/tables.err" ||
    { status=1; echo "gpu: NCCL's table ended early: $(cat "$build/tables.err")" >&2; }
fi

# asked WHAT PATTERN: a row that says whether all tests of these names have passed.
asked() {
  local passed failed skipped verdict=held
  [[ $ended == no ]] && verdict="not all run"
  passed=$(grep -E -c "^\[       OK \] .*($2)" "$build/tests.log")
  failed=$(grep -E -c "^\[  FAILED  \] .*($2).*ms\)\$" "$build/tests.log")
  skipped=$(grep -E -c "^\[  SKIPPED \] .*($2).*ms\)\$" "$build/tests.log")
  [[ $passed == 0 ]] && verdict="not run"
  [[ $failed != 0 ]] && verdict=missed
  echo "| $1 | $passed passed, $failed failed, $skipped skipped | all | $verdict |"
}

slug=$(tr '[:upper:] ' '[:lower:]-' <<< "${name# }" | tr -cd 'a-z0-9-')
page=${1:-docs/results/gpu-$slug.md}
mkdir -p "$(dirname "$page")"
{
  echo "# $name"
  echo
  echo "By \`tests/gpu/run.sh\`, $((SECONDS - begin)) s. Ranks share the one GPU, in one launch (engine/cuda/README.md)."
  echo
  echo "| what | |"
  echo "|---|---|"
  echo "| compute capability | $capability |"
  echo "| driver | $driver |"
  echo "| nvcc | $(nvcc --version 2> /dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p') |"
  echo "| commit | $(git rev-parse --short HEAD 2> /dev/null || echo unknown) |"
  echo "| clocks (graphics, memory) | $(nvidia-smi --query-gpu=clocks.gr,clocks.mem --format=csv,noheader | head -1) |"
  echo "| tests | $(grep -c '^\[       OK' "$build/tests.log") passed, $(grep -c '^\[  FAILED  \] .*ms)$' "$build/tests.log") failed |"
  printf '%s' "$sanitized"
  echo
  echo "## What is asked of one H200"
  echo
  echo "| what | here | asked | |"
  echo "|---|---|---|---|"
  asked "every collective, algorithm, protocol of float32, bfloat16, float16, float8 on 2, 4, 8 ranks: the hosts' bits" \
    'CudaBits.EveryCollectiveAlgorithmAndProtocol'
  asked "every type and operation: the hosts' bits" 'CudaBits.EveryTypeAndOperation'
  grep . "$build/bars.md" 2> /dev/null || echo "| rates | the tables ended early | | not run |"
  asked "a rank that dies or hangs in a kernel: all end within the time-out, and say whom they waited for" \
    'ARankThatDoesNotCome|AWaitThatWillNotEnd|AnAbortEnds|ARankThatIsKilled|AnAbortOfOneRank|ARankThatDiesInAKernel'
  echo "| \`ringside hang\` names that rank by the dumps of such a job | | named | on fibres: tests/cuda/hang_test.cpp |"
  cat "$build/tables.md"
} > "$page"
echo "gpu: $page written after $((SECONDS - begin)) s, status $status"
exit $status
