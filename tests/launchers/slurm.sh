#!/usr/bin/env bash
# A Slurm of two nodes on this machine, for as long as a command runs in it:
#
#     tests/launchers/slurm.sh COMMAND...
#
# munged, slurmctld and a slurmd a node, with files and ports of their own below a folder that goes with them; the machine's
# own Slurm, if there is one, is left alone. The nodes are n1 and n2, whose names mean this machine in a /etc/hosts that
# no other process sees. Status 77: something is missing, and the last line says what.
set -euo pipefail

readonly NODES=2 CPUS=64

leave_out() {
  echo "skipped: $1"
  exit 77
}

for program in munged munge slurmctld slurmd srun sinfo; do
  command -v "$program" >/dev/null || leave_out "no $program: apt-get install slurmctld slurmd slurm-client munge"
done
[[ $EUID == 0 ]] || leave_out "slurmd runs as root alone"

# A place of its own for /etc/hosts.
if [[ -z ${RINGSIDE_OWN_MOUNTS:-} ]]; then
  unshare --mount true 2>/dev/null || leave_out "no mount namespace of its own may be made here"
  RINGSIDE_OWN_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"
fi

folder=$(mktemp -d /tmp/ringside-slurm.XXXXXX)
running=()
# shellcheck disable=SC2317 # called by the trap
finish() {
  local process
  for process in "${running[@]}"; do kill "$process" 2>/dev/null || true; done
  for process in "${running[@]}"; do wait "$process" 2>/dev/null || true; done
  umount /etc/hosts 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
chmod 755 "$folder"

cp /etc/hosts "$folder/hosts"
for ((node = 1; node <= NODES; ++node)); do echo "127.0.0.1 n$node" >>"$folder/hosts"; done
mount --bind "$folder/hosts" /etc/hosts

# One key a run.
head -c 1024 /dev/urandom >"$folder/munge.key"
chmod 400 "$folder/munge.key"
munged --foreground --force --socket="$folder/munge.socket" --key-file="$folder/munge.key" \
  --log-file="$folder/munged.log" --pid-file="$folder/munged.pid" --seed-file="$folder/munged.seed" \
  >"$folder/munged.out" 2>&1 &
running+=($!)

# Ports that depend on the process, below those that the kernel gives away.
base=$((10000 + $$ % 8000))
cat >"$folder/slurm.conf" <<CONF
ClusterName=ringside
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$base
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
TmpFS=$folder/tmp.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
NodeName=n[1-$NODES] NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=[$((base + 1))-$((base + NODES))] CPUs=$CPUS State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
mkdir -p "$folder/state"
export SLURM_CONF=$folder/slurm.conf

slurmctld -D -f "$SLURM_CONF" >"$folder/slurmctld.out" 2>&1 &
running+=($!)
for ((node = 1; node <= NODES; ++node)); do
  mkdir -p "$folder/spool.n$node" "$folder/tmp.n$node"
  slurmd -D -N "n$node" -f "$SLURM_CONF" >"$folder/slurmd.n$node.out" 2>&1 &
  running+=($!)
done

for ((second = 0; ; ++second)); do
  idle=$(sinfo -h -N -t idle -o %N 2>/dev/null | wc -l || true)
  [[ $idle == "$NODES" ]] && break
  if ((second >= 30)); then
    tail -n 5 "$folder"/*.log "$folder"/*.out >&2 || true
    leave_out "slurmd does not come up here"
  fi
  sleep 1
done

"$@"
