#!/bin/bash
# Runs all that needs a GPU on the GPU of this host, and writes a page about it. Under 8 minutes.
#
#   tests/gpu/run.sh [OUT]     OUT/page.md and OUT/logs.tgz; OUT is build/gpu-page unless given. OUT may be a page's name, DIR/NAME.md
#
# exit status  0: all well, 1: something is wrong, or was not reached, 2: the command line is wrong, 3: it cannot run here (it says why)
#
# Where it lies next to programs that bundle.sh has built, or RINGSIDE_GPU_BINARIES names their folder, it runs those. Else it builds them
# in build/gpu first, which needs nvcc 12 or newer, g++, CMake 3.25, Ninja or make, and the libraries that RINGSIDE_ONLY_GPU asks for, half
# of ringside's: on Debian libfmt-dev libyaml-cpp-dev nlohmann-json3-dev libpugixml-dev libhwloc-dev libhwy-dev libsodium-dev
# libflatbuffers-dev flatbuffers-compiler libxxhash-dev libgtest-dev libgmock-dev pkg-config.
#
# RINGSIDE_GPU_SECONDS is all the time that it takes without building, 460 unless said: a stage that comes late has less. The page is
# written anew after each stage, and no program can hold up the stages behind it. No setting of the GPU is changed.
# shellcheck disable=SC2034  # the sourced files use its variables
set -u -o pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 3
limit=${RINGSIDE_GPU_SECONDS:-460}
if (($# > 1)) || [[ ${1:-} == -* ]]; then
  echo "usage: run.sh [OUT], the folder of the page" >&2
  exit 2
elif [[ ! $limit =~ ^[1-9][0-9]{0,5}$ ]]; then
  echo "gpu: RINGSIDE_GPU_SECONDS is '$limit': give seconds, for example 460" >&2
  exit 2
fi
begin=$SECONDS
# shellcheck disable=SC1091  # they lie next to it
. "$here/bounded.sh" && . "$here/tests.sh" && . "$here/page.sh" || exit 3

cannot() {
  echo "gpu: $*" >&2
  exit 3
}
# share PERCENT: seconds of the whole time, rounded up.
share() { echo $(((limit * $1 + 99) / 100)); }
quiet=$(share 7) # a program that prints nothing for so long hangs
megabytes=50     # a program that prints more fills the disk

binaries=${RINGSIDE_GPU_BINARIES:-}
[[ -z $binaries && -x $here/ringside_gpu_test ]] && binaries=$here
if [[ -n $binaries ]]; then
  binaries=$(cd "$binaries" && pwd) || cannot "RINGSIDE_GPU_BINARIES: no such folder"
  out=${1:-gpu-page}
else
  cd "$here/../.." || exit 3
  out=${1:-build/gpu-page}
fi
page=$out/page.md
[[ $out == *.md ]] && { page=$out; out=$(dirname "$page"); }
mkdir -p "$out" || cannot "cannot make $out"
out=$(cd "$out" && pwd)
page=$out/$(basename "$page")
logs=$out/logs
[[ ! -e $logs || -e $logs/results.txt ]] || cannot "$logs is there, and not from run.sh: name another folder"
rm -rf "$logs"
mkdir "$logs" || cannot "cannot write to $out"
touch "$logs"/{tests.log,alone.log,alone.txt,tables.md,bars.md,results.txt,wrong.txt}
# One file of the logs, whatever ends this script.
# shellcheck disable=SC2317  # the trap calls it
pack() {
  kill -- "-$guard" 2> /dev/null
  [[ -n $running ]] && end_group "$running"
  tar -C "$out" -czf "$out/logs.tgz" logs 2> /dev/null && rm -rf "$logs"
}
running="" guard=""
start_guard "$logs/running"
trap pack EXIT
trap 'exit 1' TERM INT HUP
trap : PIPE # the page is written even if the reader of the output is gone

PATH=$PATH:/usr/local/cuda/bin:/usr/sbin:/sbin
command -v nvidia-smi > /dev/null || cannot "no nvidia-smi: this host has no NVIDIA driver"
gpu=$(timeout -k 2 "$(share 5)" nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader 2>&1) ||
  cannot "nvidia-smi: ${gpu:-no answer within $(share 5) s, or no output}"
gpu=${gpu%%$'\n'*}
IFS=, read -r name capability driver <<< "$gpu"
[[ $capability =~ ([0-9]+)\.([0-9]+) ]] || cannot "nvidia-smi says: $gpu"
architecture=${BASH_REMATCH[1]}${BASH_REMATCH[2]}
capability=${capability# } driver=${driver# }
echo "gpu: $name (sm_$architecture), driver $driver"
commit=$(git -C "$here" rev-parse --short HEAD 2> /dev/null || echo unknown)
stage=start status=1 facts=""

build_here() {
  local tool generator=(-G "Unix Makefiles") build=build/gpu
  for tool in nvcc cmake g++; do
    command -v "$tool" > /dev/null || cannot "no $tool; RINGSIDE_GPU_BINARIES=DIR takes what tests/gpu/bundle.sh has built elsewhere"
  done
  command -v ninja > /dev/null && generator=(-G Ninja)
  cmake "${generator[@]}" -B "$build" -S . -DRINGSIDE_ONLY_GPU=ON -DRINGSIDE_CUDA=ON -DRINGSIDE_BATCH=5 \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DRINGSIDE_CUDA_ARCHITECTURES="$architecture" > "$logs/configure.log" 2>&1 ||
    { tail -20 "$logs/configure.log" >&2; cannot "configuring failed: see above"; }
  grep -q 'found     CUDA Toolkit' "$logs/configure.log" || cannot "nvcc is older than 12, or libcudart_static.a is not next to it"
  cmake --build "$build" -j"$(nproc)" --target ringside_gpu_test ringside_gpu_processes_test ringside_gpu_page > "$logs/build.log" 2>&1 ||
    { grep -E -A5 'error' "$logs/build.log" | tail -40 >&2; cannot "building failed: $out/logs.tgz has the log"; }
  tests=$build/tests/cuda/ringside_gpu_test
  processes=$build/tests/cuda/ringside_gpu_processes_test
  tables=$build/tests/gpu/ringside_gpu_page
}

if [[ -n $binaries ]]; then
  tests=$binaries/ringside_gpu_test
  processes=$binaries/ringside_gpu_processes_test
  tables=$binaries/ringside_gpu_page
  [[ -r $binaries/COMMIT ]] && commit=$(< "$binaries/COMMIT")
  export LD_LIBRARY_PATH=$binaries/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  timeout -k 2 "$(share 3)" "$tests" --gtest_list_tests > /dev/null 2> "$logs/start.log" ||
    cannot "$tests does not start (status $?): $(head -1 "$logs/start.log")"
else
  build_here
  echo "gpu: built after $((SECONDS - begin)) s"
  begin=$SECONDS
fi

# wrong WHAT: something that is no test.
wrong() {
  echo "$*" >> "$logs/wrong.txt"
  echo "gpu: $*" >&2
}
begin_stage() {
  stage=$1
  write_page
  echo "gpu: $((SECONDS - begin)) s: $stage"
}
finish() {
  stage=finished
  write_page
  verdict > "$logs/verdict.txt" # sets the status
  echo "gpu: $page written after $((SECONDS - begin)) s: $(< "$logs/verdict.txt")"
  exit "$status"
}

# A driver that no program uses shuts the GPU down, and the next program waits seconds for it: this script keeps the device files open
# all along, and with them the driver. RINGSIDE_GPU_DEVICES: the folder of these files, for tests.
for device in "${RINGSIDE_GPU_DEVICES:-/dev}"/nvidia[0-9]*; do
  { exec {held}< "$device"; } 2> /dev/null || echo "gpu: $device cannot be opened, so the driver may start anew for each program" >&2
done

begin_stage "open the GPU"
# Tests are skipped where there is no GPU. Here there is one, so not to open it is a failure.
if bounded "$(share 9)" "$(share 9)" "$logs/facts.log" "$tables" --facts; then
  facts=$(tail -1 "$logs/facts.log")
  echo "gpu: $facts"
else
  outcome=$?
  wrong "the GPU does not open ($(ending "$outcome")): $(paste -sd' ' "$logs/facts.log")"
  finish
fi

begin_stage "tests"
run_tests "$(share 24)" "$tests" '*'

# tables_of SECONDS TITLE OPTION..
tables_of() {
  local before outcome lines line seconds=$1 title=$2
  shift 2
  before=$(stat -c %s "$logs/tables.md")
  bounded "$seconds" "$(share 8)" "$logs/tables.md" "$tables" "$@"
  outcome=$?
  [[ $outcome == 0 ]] && return
  [[ $outcome == 1 ]] || wrong "$title: $(ending "$outcome")"
  lines=$(tail -c +$((before + 1)) "$logs/tables.md" | grep -E 'failed:|^Failed|^After the last' | head -20)
  [[ -z $lines && $outcome == 1 ]] && lines="wrong elements"
  while read -r line; do [[ -n $line ]] && wrong "$title: $line"; done <<< "$lines"
}
begin_stage "tables"
tables_of "$(share 24)" "tables" "$logs/bars.md"
begin_stage "tables of processes"
tables_of "$(share 12)" "tables of processes" --processes
if [[ $(timeout -k 2 "$(share 2)" nvidia-smi -L | wc -l) -ge 2 ]] && ldconfig -p | grep -q 'libnccl\.so\.2'; then
  begin_stage "NCCL's table"
  tables_of "$(share 9)" "NCCL's table" --nccl
fi

begin_stage "tests of processes"
run_tests "$(share 24)" "$processes" '-*CudaProcessGrid*'

begin_stage "tests alone"
run_alone "$tests"
run_alone "$processes"

# A few cases of each protocol under the sanitizer's tools, where each launch takes a hundred times as long. racecheck looks at
# shared memory, where warps keep their steps.
begin_stage "compute-sanitizer"
sanitize() {
  local tool=$1 log=$logs/$1.log outcome
  : > "$log"
  bounded "$(share 7)" "$(share 7)" "$log" "$sanitizer" --tool "$tool" --error-exitcode 9 "$tests" \
    --gtest_filter='*OneSlotIsEnoughForAChain*:*NoByteOutside*/ll128'
  outcome=$?
  if [[ $outcome == 0 ]]; then
    echo "| compute-sanitizer $tool | no problem found |"
  elif grep -qi 'device not supported' "$log"; then
    echo "| compute-sanitizer $tool | does not take this host's device |"
  elif [[ $outcome == 124 ]]; then
    echo "| compute-sanitizer $tool | $(ending "$outcome") |"
  else
    # The first line that is not its heading.
    wrong "compute-sanitizer $tool, status $outcome: $(grep -E '^========= [A-Z]' "$log" | grep -v -m1 COMPUTE-SANITIZER)"
    echo "| compute-sanitizer $tool | problems found |"
  fi
}
if sanitizer=$(command -v compute-sanitizer); then
  for tool in memcheck synccheck racecheck; do sanitize "$tool" >> "$logs/sanitizer.md"; done
else
  echo "| compute-sanitizer | not on this host |" > "$logs/sanitizer.md"
fi

# Processes take turns on the one GPU, so each message between two of them takes as long as a turn. So the grid comes last, a test for each
# collective, by one way through memory of GPUs, one through memory of hosts, and one by proxies.
begin_stage "grid of processes"
run_tests "$(left)" "$processes" '*CudaProcessGrid*-*/Ipc_*:*/*Direct_*:*/Rdma_*'
finish
