#!/usr/bin/env bash
# RDMA without an adapter: boots a virtual machine whose kernel has a software one (soft-RoCE), and runs there the contract
# tests of the transports and jobs between two network namespaces, whole and with what breaks between them.
#
#     tests/network/rdma_vm.sh PATH/OF/ringside PATH/OF/ringside_transport_contract_test [contract | proxies | jobs | faults | speed]...
#
# proxies: kernels on fibres whose messages an adapter takes from their slots; its test lies next to the other one's folder.
# The machine is made by tools/rdma-vm.sh in RINGSIDE_SHARED (default: ../shared). Status 77: it is not there, or cannot run.
set -euo pipefail

program=$(realpath "$1")
contract=$(realpath "$2")
shift 2
wanted=("$@")
((${#wanted[@]})) || wanted=(contract proxies jobs faults)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
machine=$(realpath -m "${RINGSIDE_SHARED:-$here/../../../shared}")/tools/rdma-vm.sh
readonly program contract here machine

leave_out() {
  echo "skipped: $1"
  exit 77
}
[[ -x $machine ]] || leave_out "no $machine (RINGSIDE_SHARED)"
PATH=$PATH:/usr/sbin:/sbin
for tool in qemu-system-x86_64 busybox cpio modprobe ibv_devinfo rdma; do
  command -v "$tool" >/dev/null ||
    leave_out "no $tool (apt-get install qemu-system-x86 busybox-static rdma-core ibverbs-providers ibverbs-utils iproute2 kmod cpio xz-utils)"
done

failed=0
# check NAME PATTERN: what was said last holds the pattern.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
check() {
  if grep -qE -- "$2" "$log"; then
    echo "ok:       $1"
  else
    echo "FAILED:   $1 (not said: $2)"
    # What was said of that fault, and what came last.
    { grep -F " ${1%%[ :,]*} " "$log" | tail -n 10; tail -n 10 "$log"; } | cut -c 1-600 | sed 's/^/  | /'
    failed=$((failed + 1))
  fi
}

# check_absent NAME PATTERN: it does not.
check_absent() {
  if grep -E -- "$2" "$log" | cut -c 1-300; then
    echo "FAILED:   $1 (said: $2)"
    failed=$((failed + 1))
  else
    echo "ok:       $1"
  fi
}

# in_machine LIMIT_S [OPTION...] -- COMMAND
in_machine() {
  local limit=$1
  shift
  "$machine" --mem 2048 --timeout "$limit" --add "$program" --add "$contract" "$@" >"$log" 2>&1 || true
}

for one in "${wanted[@]}"; do
  case $one in
    contract)
      "$machine" --prepare >"$log" 2>&1 || leave_out "the machine cannot be prepared: $(tail -n 1 "$log")"
      # Two processes on one adapter. What takes thousands of packets a second is left to real ones.
      in_machine 400 -- "$contract --gtest_filter='TransportTable*:*rdma*:-*64MiB*:*Thousand*' 2>&1 | grep -v 'OK \|RUN'"
      check "the contract of transports" 'PASSED  \] 9[0-9] tests'
      if grep -q 'FAILED\|SKIPPED' "$log"; then failed=$((failed + 1)); fi
      ;;
    proxies)
      proxies=$(realpath "$(dirname "$contract")/../cuda/ringside_cuda_processes_test")
      "$machine" --prepare >"$log" 2>&1 || leave_out "the machine cannot be prepared: $(tail -n 1 "$log")"
      in_machine 400 --add "$proxies" -- \
        "$proxies --gtest_filter='*ASenderWaits*Rdma*:*TheKindsOfItsConnections*Rdma*:*ABenchmark*Rdma*' 2>&1 | grep -v 'OK \|RUN'"
      check "kernels whose slots an adapter reads and writes" 'PASSED  \] 6 tests'
      if grep -q 'FAILED\|SKIPPED' "$log"; then failed=$((failed + 1)); fi
      ;;
    jobs)
      "$machine" --suite testing --prepare >"$log" 2>&1 || leave_out "the machine cannot be prepared: $(tail -n 1 "$log")"
      in_machine 300 --suite testing --add "$here/rdma_jobs.sh" -- "$here/rdma_jobs.sh $program jobs"
      check "8 ranks in two namespaces, 4 in each" '8 ranks over shm\+rdma'
      check "their data" 'Out of bounds values : 0 OK'
      check "the debug log names the adapter" 'NET/IB : Using \[0\]rx1:1/RoCE'
      check "several queue pairs, split" 'split: .*#wrong 0'
      check "an invalid GID index" 'NCCL_IB_GID_INDEX=77: rx1:1/RoCE has no GID there'
      check "RDMA turned off" 'off: 2 ranks over tcp'
      ;;
    faults)
      "$machine" --suite testing --prepare >"$log" 2>&1 || leave_out "the machine cannot be prepared: $(tail -n 1 "$log")"
      in_machine 500 --suite testing --add "$here/rdma_jobs.sh" -- "$here/rdma_jobs.sh $program faults"
      for fault in black_hole link_down mtu wrong_gid removed; do
        check "$fault" "$fault: network_stall.* (rank [01] lost rank [01]|from rank [01] to rank [01]|cannot reach rank 1)"
        # Who is asked for its dump before it has heard the reason writes that.
        for rank in 0 1; do
          check "$fault, as rank $rank has it" "$fault dump $rank: (rank [01] (lost|cannot reach) rank [01]|a call of another)"
        done
        check_absent "$fault: no rank is taken for dead" "$fault (rank|dump) .*is gone: its process"
      done
      check "mtu: the likely cause" 'mtu dump [01]: .*the MTU differs on the way'
      check "removed: the likely cause" 'removed dump [01]: .*an adapter was removed'
      check "killed" 'killed: dead_rank: rank 1'
      check "half open" 'half_open: dead_rank: rank 1'
      check "stopped" 'stopped: [a-z_]*: rank 1'
      check "1 % lost: the data" 'loss: Out of bounds values : 0 OK'
      check "a slow link is named" 'slow: WARN +low_bandwidth.*rank 1'
      ;;
    speed)
      exchange=$(mktemp)
      g++ -O2 -std=c++20 -o "$exchange" "$here/rdma_exchange.cpp" -libverbs || : >"$exchange"
      in_machine 300 --add "$(command -v ib_write_lat)" --add "$exchange" --add "$here/rdma_jobs.sh" -- \
        "$here/rdma_jobs.sh $program speed $exchange"
      rm -f "$exchange"
      cat "$log"
      ;;
    *)
      echo "no such part: $one" >&2
      exit 2
      ;;
  esac
done
exit $((failed > 0))
