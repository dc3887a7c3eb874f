#!/usr/bin/env bash
# screenshots.sh RINGSIDE: draws every view without a display, and checks that errors have status 2.
set -euo pipefail
ringside=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset DISPLAY WAYLAND_DISPLAY
die() {
  echo "$1" >&2
  exit 1
}
"$ringside" sim all_reduce --bytes 1M --on dgx-h100 --algo ring --trace "$folder/run.rtrace" >/dev/null
for view in timeline topology chunks slots numbers findings compare; do
  "$ringside" gui "$folder/run.rtrace" --beside "$folder/run.rtrace" --view $view --at 40% --size 640x400 --screenshot "$folder/$view.png"
  # An empty page of that size takes 2 KB.
  (($(stat -c %s "$folder/$view.png") > 9000)) || die "$view: too little is drawn"
done
# A stand-in for the encoder: 20 frames come to it, and they are not all the same.
mkdir "$folder/bin"
cat >"$folder/bin/ffmpeg" <<'END'
#!/bin/bash
cat >"${@: -1}"
END
chmod +x "$folder/bin/ffmpeg"
PATH="$folder/bin:$PATH" "$ringside" gui "$folder/run.rtrace" --view chunks --size 640x400 --seconds 0.8 --record "$folder/film.gif"
[[ $(stat -c %s "$folder/film.gif") == $((20 * 640 * 400 * 3)) ]] || die "--record: $(stat -c %s "$folder/film.gif") bytes"
cmp -s <(head -c 768000 "$folder/film.gif") <(tail -c 768000 "$folder/film.gif") && die "--record: nothing moves"
printf '#!/bin/bash\nexit 1\n' >"$folder/bin/ffmpeg"
status=0
printf GIF89a >"$folder/film.gif"
PATH="$folder/bin:$PATH" "$ringside" gui "$folder/run.rtrace" --size 200x100 --seconds 0.8 --record "$folder/film.gif" 2>"$folder/err" || status=$?
grep -q "ffmpeg gave up" "$folder/err" || die "an encoder that gives up: status $status"
[[ $(<"$folder/film.gif") == GIF89a ]] || die "the older film is gone"
"$ringside" gui "$folder/run.rtrace" --print --view chunks >"$folder/text"
grep -q "14 rounds" "$folder/text" || die "--print"
status=0
"$ringside" gui "$folder/run.rtrace" --print >/dev/full 2>"$folder/err" || status=$?
[[ $status == 3 ]] || die "--print to a full disk: status $status"
grep -q "^error: stdout: the answer is lost" "$folder/err" || die "--print to a full disk: $(cat "$folder/err")"
refused() {
  local status=0
  "$ringside" gui "$@" 2>"$folder/err" >/dev/null || status=$?
  [[ $status == 2 ]] || die "$*: status $status"
}
refused "$folder/run.rtrace" --view chunk --print
refused "$folder/none.rtrace" --print
refused --lesson rings --print
refused "$folder/run.rtrace" --size 3 --print
refused --print
refused "$folder/run.rtrace" --record "$folder/film.txt"
# What is there already is lost only where it is a picture, too, or by force.
cp "$folder/run.rtrace" "$folder/other.rtrace"
for option in --screenshot --record; do
  refused "$folder/run.rtrace" $option "$folder/other.rtrace"
  refused "$folder/run.rtrace" $option "$folder/run.rtrace" --force
  cmp -s "$folder/run.rtrace" "$folder/other.rtrace" || die "$option: a trace is overwritten"
done
"$ringside" gui "$folder/run.rtrace" --screenshot "$folder/other.rtrace" --force
"$ringside" gui "$folder/run.rtrace" --screenshot "$folder/other.rtrace" || die "it does not know its own picture"
lost() {
  local status=0
  "$ringside" gui "$@" 2>"$folder/err" || status=$?
  [[ $status == 3 ]] || die "a full disk: $*: status $status"
  grep -q "^error: .*No space left on device" "$folder/err" || die "a full disk: $*: $(<"$folder/err")"
}
lost "$folder/run.rtrace" --screenshot /dev/full
lost "$folder/run.rtrace" --print >/dev/full
lost --help >/dev/full
status=0
"$ringside" gui "$folder/run.rtrace" 2>"$folder/err" || status=$?
[[ $status != 0 ]] || die "a window without a display"
grep -q -- "--screenshot" "$folder/err" || die "it does not say what else there is"
mkdir "$folder/broken"
: >"$folder/broken/libGL.so.1"
status=0
LD_LIBRARY_PATH=$folder/broken "$ringside" gui "$folder/run.rtrace" --screenshot "$folder/none.png" 2>"$folder/err" || status=$?
[[ $status == 3 ]] || die "without libGL: status $status"
grep -q "^error: .*libGL.so.1" "$folder/err" || die "without libGL: $(<"$folder/err")"
