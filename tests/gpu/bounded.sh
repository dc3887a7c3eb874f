# shellcheck shell=bash disable=SC2154,SC2034  # variables of run.sh
# Sourced by run.sh: programs that end in time, whatever they do.

# left: seconds until all time is up.
left() { echo $((limit - SECONDS + begin)); }

# end_group PID: ends the process group that a program leads; kills what SIGTERM does not end, or a stopped process.
end_group() {
  local i
  kill -TERM -- "-$1" 2> /dev/null
  kill -CONT -- "-$1" 2> /dev/null
  for ((i = 0; i < 20; i++)); do
    kill -0 -- "-$1" 2> /dev/null || return
    sleep 0.1
  done
  kill -KILL -- "-$1" 2> /dev/null
}

# bounded SECONDS QUIET LOG COMMAND [ARGUMENT..]: runs a program, and ends it after that time, or when nothing has come to LOG for
# QUIET seconds. Its output is appended to LOG. Processes that it leaves behind are killed: they would keep the GPU busy.
#
# returns  its exit status; 124: ended here, and `why` is the reason
bounded() {
  local most=$1 quiet=$2 log=$3 pid since=$SECONDS changed=$SECONDS size before=-1 i
  shift 3
  why=""
  (($(left) < most)) && most=$(left)
  ((most < 1)) && { why="no time was left"; return 124; }
  set -m # a process group of its own
  "$@" >> "$log" 2>&1 < /dev/null &
  pid=$!
  set +m
  running=$pid
  for ((i = 0; ; i++)); do
    if ((i < 10)); then sleep 0.02; else sleep 0.1; fi
    kill -0 "$pid" 2> /dev/null || break
    size=$(stat -c %s "$log")
    [[ $size != "$before" ]] && { before=$size; changed=$SECONDS; }
    ((SECONDS - changed > quiet)) && why="no output for $quiet s"
    ((SECONDS - since >= most)) && why="not done after $most s"
    [[ -n $why ]] && { end_group "$pid"; break; }
  done
  # A process that waits in the driver may outlast SIGKILL: it is not waited for.
  for ((i = 0; i < 50; i++)); do
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.1
  done
  running=""
  if kill -0 "$pid" 2> /dev/null; then
    why+=", and SIGKILL does not end it"
    disown "$pid"
    return 124
  fi
  { wait "$pid"; } 2> /dev/null
  i=$?
  kill -KILL -- "-$pid" 2> /dev/null
  [[ -n $why ]] && return 124
  return "$i"
}

# ending STATUS: how the program that bounded() has run last ended, in words.
ending() {
  if [[ -n $why ]]; then
    echo "hung: $why"
  elif (($1 > 128)); then
    echo "crashed: signal $(($1 - 128)) (SIG$(kill -l $(($1 - 128))))"
  else
    echo "ended with status $1"
  fi
}
