#!/usr/bin/env bash
# page_in_browser.sh RINGSIDE CHROMIUM: the exported page runs in a browser, joins sends with receives as we do, and finds
# each chunk whole in the end.
set -euo pipefail
ringside=$1
browser=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$ringside" sim all_reduce --bytes 1M --on dgx-h100 --algo ring --proto simple --channels 2 --trace "$folder/run.rtrace" >/dev/null
"$ringside" trace export --html "$folder/run.html" "$folder/run.rtrace"
HOME=$folder timeout 100 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
  --user-data-dir="$folder/profile" --virtual-time-budget=3000 --dump-dom "file://$folder/run.html#chunks@100" >"$folder/dom" 2>"$folder/err"
# 8 ranks, 2 channels, 15 steps each, 14 of them with a send; 8 calls; 8 ranks x 16 chunks.
grep -o 'data-ready="[^"]*"' "$folder/dom" || { tail -5 "$folder/err"; exit 1; }
grep -q 'data-ready="events 248 transfers 224 chunks 128 of 128"' "$folder/dom"
