#!/usr/bin/env bash
# drive_window.sh RINGSIDE RINGSIDE_GUI: the real window on a display of its own: opened, played, zoomed, clicked into, searched,
# compared, closed. What it has left in its settings shows that the keys arrived.
set -euo pipefail
ringside=$1
program=$2
folder=$(mktemp -d)
export XDG_STATE_HOME=$folder/state HOME=$folder LIBGL_ALWAYS_SOFTWARE=1
cleanup() {
  [[ -z ${window_pid:-} ]] || kill "$window_pid" 2>/dev/null || true
  [[ -z ${display_pid:-} ]] || kill "$display_pid" 2>/dev/null || true
  rm -rf "$folder"
}
trap cleanup EXIT
die() {
  echo "$1" >&2
  cat "$folder/err" >&2
  exit 1
}
"$ringside" sim all_reduce --bytes 1M --on dgx-h100 --algo ring --trace "$folder/run.rtrace" >/dev/null
Xvfb -displayfd 4 -screen 0 1400x900x24 -nolisten tcp 4>"$folder/display" 2>/dev/null &
display_pid=$!
for _ in {1..100}; do
  [[ ! -s $folder/display ]] || break
  sleep 0.1
done
DISPLAY=:$(<"$folder/display")
export DISPLAY
"$ringside" sim all_reduce --bytes 1M --on dgx-h100 --algo tree --trace "$folder/tree.rtrace" >/dev/null
"$program" "$folder/run.rtrace" --beside "$folder/tree.rtrace" 2>"$folder/err" &
window_pid=$!
window=$(timeout 60 xdotool search --sync --onlyvisible --name ringside | head -n 1)
[[ -n $window ]] || die "no window"
xdotool windowfocus "$window"
sleep 2
for key in 1 space plus plus g e r period slash; do
  xdotool key --window "$window" "$key"
  sleep 0.2
done
xdotool type --window "$window" --delay 100 "rank=3"
sleep 0.2
xdotool key --window "$window" Return
sleep 0.5
xdotool mousemove --window "$window" 600 400 click 4
sleep 0.2
xdotool mousemove --window "$window" 700 260 click 1
sleep 0.2
for key in b 7 2 5 3 question question; do
  xdotool key --window "$window" "$key"
  sleep 0.3
done
# What is typed into the dialog is no command: q would close the window. Escape is looked at frame by frame.
xdotool key --window "$window" o
sleep 0.5
xdotool type --window "$window" --delay 50 "q"
sleep 0.5
kill -0 "$window_pid" || die "a letter in the dialog closed the window"
xdotool keydown --window "$window" Escape
sleep 0.3
xdotool keyup --window "$window" Escape
sleep 0.3
kill -0 "$window_pid" || die "the window is gone"
xdotool key --window "$window" q
for _ in {1..100}; do
  kill -0 "$window_pid" 2>/dev/null || break
  sleep 0.1
done
! kill -0 "$window_pid" 2>/dev/null || die "q does not close it"
wait "$window_pid" || die "it ended with $?"
window_pid=
grep -q '"view": "chunks"' "$folder/state/ringside/gui.json" || { cat "$folder/state/ringside/gui.json" >&2; die "the keys did not arrive"; }
grep -q 'run.rtrace' "$folder/state/ringside/gui.json" || die "the file is not remembered"
