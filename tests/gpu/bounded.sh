# shellcheck shell=bash disable=SC2154,SC2034  # variables of run.sh
# Sourced by run.sh: programs that end in time, whatever they do.

# left: seconds until all time is up.
left() { echo $((limit - SECONDS + begin)); }

# start_guard FILE: starts a process that kills the process group whose id is in FILE as soon as this script is gone. A signal that the script
# catches ends its programs anyway (pack() of run.sh), but after SIGKILL they would keep the GPU busy for ever.
start_guard() {
  set -m # a process group of its own: what kills this script's group leaves it alive
  (
    while kill -0 $$ 2> /dev/null; do sleep 0.5; done
    kill -KILL -- "-$(< "$1")"
  ) < /dev/null > /dev/null 2>&1 &
  guard=$!
  set +m
  disown "$guard"
}

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
# QUIET seconds, or too much. Its output is appended to LOG. Processes that it leaves behind are killed: they would keep the GPU busy.
#
# returns  its exit status; 124: ended here, and `why` is the reason
bounded() {
  local most=$1 quiet=$2 log=$3 pid since=$SECONDS changed=$SECONDS size before=-1 largest i
  shift 3
  why=""
  (($(left) < most)) && most=$(left)
  ((most < 1)) && { why="no time was left"; return 124; }
  set -m # a process group of its own
  "$@" >> "$log" 2>&1 < /dev/null &
  pid=$!
  set +m
  running=$pid
  echo "$pid" > "$logs/running"
  largest=$(($(stat -c %s "$log") + megabytes * 1000000))
  for ((i = 0; ; i++)); do
    if ((i < 10)); then sleep 0.02; else sleep 0.1; fi
    kill -0 "$pid" 2> /dev/null || break
    size=$(stat -c %s "$log")
    [[ $size != "$before" ]] && { before=$size; changed=$SECONDS; }
    ((SECONDS - changed > quiet)) && why="no output for $quiet s"
    ((size > largest)) && why="more than $megabytes MB of output"
    ((SECONDS - since >= most)) && why="not done after $most s"
    [[ -n $why ]] && { end_group "$pid"; break; }
  done
  (($(stat -c %s "$log") > largest)) && truncate -s "$largest" "$log"
  # A process that waits in the driver may outlast SIGKILL: it is not waited for.
  for ((i = 0; i < 50; i++)); do
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.1
  done
  running=""
  : > "$logs/running"
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
