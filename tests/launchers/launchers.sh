#!/usr/bin/env bash
# Starts `ringside bench`, and a scenario, under every launcher that is here, and checks its data: mpirun, torchrun, and Slurm with two nodes
# on this machine (slurm.sh).
#
#     tests/launchers/launchers.sh PATH/OF/ringside [mpirun | torchrun | slurm]...
#
# A launcher that is missing is skipped, with the reason. Status 1: one of them failed; 77: all were skipped.
set -euo pipefail

program=$(realpath "$1")
shift
wanted=("$@")
((${#wanted[@]})) || wanted=(mpirun torchrun slurm)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly program here
readonly BENCH=("$program" bench all_reduce -b 8 -e 1M -f 128 --iters 3 --warmup 1)
readonly LIMIT_S=60

tried=0
failed=0
log=$(mktemp)
trap 'rm -rf "$log" "$log".*' EXIT

skipped() { echo "skipped: $1: $2"; }

# expect NAME PATTERN COMMAND...: it ends well, or with whatever status where NAME begins with "!", and says PATTERN.
expect() {
  local name=$1 pattern=$2 status=0
  shift 2
  tried=$((tried + 1))
  timeout "$LIMIT_S" "$@" >"$log" 2>&1 || status=$?
  if { [[ $status == 0 ]] || [[ $name == !* && $status != 124 ]]; } && grep -qF -- "$pattern" "$log"; then
    echo "ok:       ${name#!}"
  else
    echo "FAILED:   ${name#!} (status $status, not said: $pattern)"
    tail -n 15 "$log" | sed 's/^/  | /'
    failed=$((failed + 1))
  fi
}

# Right data on four ranks, over what joins them.
check_data() {
  local name=$1 over=$2
  shift 2
  expect "$name" "4 ranks over $over," "$@"
  grep -q 'Out of bounds values : 0 OK' "$log" || {
    echo "FAILED:   $name: wrong data"
    failed=$((failed + 1))
  }
}

# A scenario of four ranks that hangs: the first rank has the verdict.
check_scenario() {
  local name=$1
  shift
  sed 's/^ranks: 8/ranks: 4/; s/^ranks_per_host: 4/ranks_per_host: 2/' \
    "$here/../../scenarios/hangs/skipped-collective.yaml" >"$log.yaml"
  rm -rf "$log.dumps"
  expect "$name" "expected    just that" "$@" "$program" run "$log.yaml" --on real -o "$log.dumps"
}

# Both at the head of the job die: another rank has to report it.
readonly DEATHS=(--fault 'kill:rank=0,call=2' --fault 'kill:rank=1,call=2')
readonly REPORTED='rank 0 is gone: its process or host ended without a goodbye, and so did rank 1'

try_mpirun() {
  command -v mpirun >/dev/null || {
    skipped mpirun "not here: apt-get install openmpi-bin"
    return
  }
  local run=(mpirun --allow-run-as-root --oversubscribe)
  check_data "mpirun" shm "${run[@]}" -np 4 "${BENCH[@]}"
  check_data "mpirun, two hosts" shm+tcp "${run[@]}" -np 2 -x NCCL_HOSTID=a "${BENCH[@]}" : \
    -np 2 -x NCCL_HOSTID=b "${BENCH[@]}"
  check_scenario "mpirun, a scenario that hangs" "${run[@]}" -np 4
}

try_torchrun() {
  # Debian's torchrun belongs to Debian's Python.
  local run=() python
  for python in /usr/bin/python3 python3; do
    "$python" -c 'import torch' 2>/dev/null || continue
    run=("$python" -m torch.distributed.run)
    break
  done
  ((${#run[@]})) || {
    skipped torchrun "no PyTorch: apt-get install python3-torch"
    return
  }
  # PyTorch 1.13 on Python 3.11, which is Debian 12, does not know its own default, 0, of these.
  run+=(--redirects 1 --tee 1 --log_dir "$log.torch" --no_python)
  check_data "torchrun" shm "${run[@]}" --standalone --nproc_per_node 4 "${BENCH[@]}"
  local port=$((10000 + $$ % 8000))
  local two=("${run[@]}" --nnodes 2 --nproc_per_node 2 --master_addr 127.0.0.1 --master_port "$port")
  NCCL_HOSTID=b timeout "$LIMIT_S" "${two[@]}" --node_rank 1 "${BENCH[@]}" >/dev/null 2>&1 &
  check_data "torchrun, two agents and hosts" shm+tcp env NCCL_HOSTID=a "${two[@]}" --node_rank 0 "${BENCH[@]}"
  wait
}

# Within slurm.sh.
try_steps() {
  local mpi
  # shellcheck disable=SC2016 # a task's own variables
  local as_host='NCCL_HOSTID=$SLURMD_NODENAME exec "$@"'
  for mpi in none pmi2 pmix; do
    check_data "srun --mpi=$mpi" shm srun --mpi="$mpi" -N1 -n4 "${BENCH[@]}"
    check_data "srun --mpi=$mpi, two nodes" shm+tcp srun --mpi="$mpi" -N2 -n4 bash -c "$as_host" - "${BENCH[@]}"
  done
  check_scenario "srun, a scenario that hangs" srun --mpi=none -N2 -n4
  expect "!srun, ranks 0 and 1 die together" "$REPORTED" \
    srun --mpi=none --kill-on-bad-exit=0 -N2 -n4 "${BENCH[@]}" "${DEATHS[@]}"
}

try_slurm() {
  local status=0
  "$here/slurm.sh" "$here/launchers.sh" "$program" steps >"$log.steps" 2>&1 || status=$?
  grep -E '^(ok|FAILED|  \|)' "$log.steps" || true
  tried=$((tried + $(grep -cE '^(ok|FAILED)' "$log.steps" || true)))
  case $status in
    0) ;;
    77) skipped slurm "$(tail -n 1 "$log.steps" | sed 's/^skipped: //')" ;;
    *) failed=$((failed + 1)) ;;
  esac
  rm -f "$log.steps"
}

for one in "${wanted[@]}"; do "try_$one"; done
((failed == 0)) || exit 1
((tried > 0)) || exit 77
