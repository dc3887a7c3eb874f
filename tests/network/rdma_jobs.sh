#!/bin/bash
# Runs within the virtual machine of rdma_vm.sh: jobs between network namespaces h1, h2, ... with a software adapter each, by
# the kernel's own rdma-hosts of that machine.
#     rdma_jobs.sh PATH/OF/ringside jobs | faults | speed [PATH/OF/rdma_exchange]
set -u
program=$1
export RINGSIDE_PROGRAM=$program
cd /tmp || exit 1

# start NRANKS HOSTS WORDS...: as torchrun does, as many ranks on each host. Pids in $ranks, words in out.RANK. RANK1: a
# variable of rank 1 alone, as NAME=VALUE.
start() {
  local nranks=$1 hosts=$2 rank own
  local each=$((nranks / hosts))
  shift 2
  ranks=()
  for ((rank = 0; rank < nranks; ++rank)); do
    own=UNUSED=1
    ((rank == 1)) && own=${RANK1:-$own}
    ip netns exec h$((rank / each + 1)) env "$own" RANK=$rank WORLD_SIZE="$nranks" LOCAL_RANK=$((rank % each)) \
      LOCAL_WORLD_SIZE=$each MASTER_ADDR=10.79.0.1 MASTER_PORT=29500 "$program" "$@" >out.$rank 2>&1 &
    ranks+=($!)
  done
}

jobs_whole() {
  rdma-hosts 2
  NCCL_DEBUG=INFO NCCL_DEBUG_FILE=/tmp/log start 8 2 bench all_reduce -b 8 -e 64K -f 32 --iters 3 -w 1 --timeout 60s
  wait "${ranks[@]}"
  cat out.0
  grep -h 'NET/IB : Using' /tmp/log
  NCCL_IB_QPS_PER_CONNECTION=3 NCCL_IB_SPLIT_DATA_ON_QPS=1 start 2 2 bench all_reduce -b 1M -e 1M --iters 2 -w 1 --timeout 60s
  wait "${ranks[@]}"
  echo "split: #wrong $(awk '/sum/ { print $9 + $13 }' out.0)"
  NCCL_IB_GID_INDEX=77 start 2 2 bench all_reduce -b 8 -e 8 --timeout 20s
  wait "${ranks[@]}"
  cat out.0
  NCCL_IB_DISABLE=1 start 2 2 bench all_reduce -b 8 -e 8 --timeout 60s
  wait "${ranks[@]}"
  echo "off: $(grep -o '2 ranks over [a-z+]*' out.0)"
}

# fault NAME COMMAND: while a job of two ranks runs. NCCL_IB_TIMEOUT 14: 67 ms until a packet is sent again. Says how each rank
# ended and why, and what `hang` makes of the dumps.
fault() {
  local name=$1
  begin_faulty 1000000
  sleep 6
  eval "$2"
  check_end "$name"
}

begin_faulty() {
  rm -rf dumps
  NCCL_IB_TIMEOUT=14 start 2 2 bench all_reduce -b 64K -e 64K --iters "$1" -w 1 -c off --dumps dumps --op-timeout 20s \
    --timeout 30s
}

check_end() {
  local i rank status
  for ((i = 0; i < 300; ++i)); do
    # Ranks that a fault has killed or stopped are not waited for.
    kill -0 "${ranks[0]}" 2>/dev/null || break
    sleep 0.1
  done
  local took=$((i / 10))
  for ((i = 0; i < 30; ++i)); do
    kill -0 "${ranks[1]}" 2>/dev/null || break
    sleep 0.1
  done
  echo "$1 took $took s"
  for rank in 0 1; do
    kill -9 "${ranks[rank]}" 2>/dev/null
    wait "${ranks[rank]}" 2>/dev/null
    status=$?
    echo "$1 rank $rank ended with $status: $(grep -h '^error\|^help' out.$rank | tr '\n' ' ')"
    echo "$1 dump $rank: $(grep -a -o '\(rank [01] \(lost\|cannot reach\|is gone\|does not answer\)\|a call of another rank failed\)[^"]*' "dumps/comm_lib_trace_rank_$rank" 2>/dev/null | head -n 1 | tr -cd ' -~')"
  done
  echo "$1: $("$program" hang dumps | tr '\n' ' ' | tr -s ' ')"
}

case $2 in
  jobs) jobs_whole ;;
  faults)
    rdma-hosts 4
    fault black_hole 'tc qdisc add dev p2 root netem loss 100%'
    tc qdisc del dev p2 root
    fault link_down 'ip link set p2 down'
    ip link set p2 up
    sleep 3
    # shellcheck disable=SC2016  # expanded when it happens
    fault killed 'kill -9 ${ranks[1]}'
    # shellcheck disable=SC2016
    fault stopped 'kill -STOP ${ranks[1]}'
    # As when a host loses its power and comes back: no peer got a notice.
    # shellcheck disable=SC2016
    fault half_open 'ip link set p2 down; kill -9 ${ranks[1]}; sleep 1; ip link set p2 up'
    sleep 3
    fault mtu 'ip link set p2 mtu 600'
    ip link set p2 mtu 1500
    # A GID of rank 1 that rank 0's does not reach: the link-local one.
    RANK1=NCCL_IB_GID_INDEX=0 begin_faulty 100
    check_end wrong_gid
    # These two slow a job and break nothing.
    tc qdisc add dev p2 root netem loss 1%
    NCCL_IB_TIMEOUT=14 start 2 2 bench all_reduce -b 8 -e 1M -f 32 --iters 3 -w 1 -c every --timeout 60s
    wait "${ranks[@]}"
    echo "loss: $(grep -ho 'Out of bounds values.*\|^error.*' out.0 out.1)"
    tc qdisc replace dev p2 root tbf rate 8mbit burst 16k latency 400ms
    start 4 4 probe --pairs --size 256K
    wait "${ranks[@]}"
    sed 's/^/slow: /' out.0
    tc qdisc del dev p2 root
    fault removed 'ip netns exec h2 rdma link del rx2 &'
    ;;
  speed)
    for round in 1 2 3 4 5; do
      echo "round $round"
      for test in 'ib_write_lat -s 8 -n 1000' 'ib_write_bw -s 65536 -n 300' 'ib_write_bw -b -s 65536 -n 300'; do
        read -ra words <<<"$test -d rxe0 -x $GID_INDEX"
        "${words[@]}" >/dev/null &
        sleep 1
        "${words[@]}" 127.0.0.1 | grep -E '^ +[0-9]+ ' | sed "s/^/${test%%-s*} /"
        wait
      done
      # What no program on verbs gets below.
      [[ -x ${3:-} ]] && "$3" rxe0 "$GID_INDEX" 1
      # 8 B one way: half a round trip, between two ranks that take themselves for two hosts.
      for rank in 0 1; do
        NCCL_HOSTID=h$rank RANK=$rank WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=10.77.0.1 MASTER_PORT=29500 \
          "$program" probe --pairs --size 64K --json >pairs.$rank 2>&1 &
      done
      wait
      echo "pairs $(grep -h latency_us pairs.0 | tr -d '\n')"
      # By shared memory: what this machine, which is emulated, takes for the rest of a call.
      for call in 'all_reduce rdma 8 400' 'send_recv rdma 8 400' 'broadcast rdma 8M 5' 'all_reduce rdma 8M 5' 'all_reduce shm 8 400'; do
        read -r collective transport bytes runs <<<"$call"
        "$program" bench "$collective" -n 2 -w 2 --transport "$transport" -b "$bytes" -e "$bytes" --iters "$runs" 2>/dev/null |
          grep float | sed "s/^/$collective $transport /"
      done
    done
    ;;
esac
