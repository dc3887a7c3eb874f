#!/usr/bin/env bash
# page_in_browser.sh RINGSIDE CHROMIUM: the exported page runs in a browser, joins sends with receives as we do, and finds
# each chunk whole in the end. Of more than 100,000 events it is smaller than 3 MB, and runs as well.
set -euo pipefail
ringside=$1
browser=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# show PAGE VIEW: what the page says of itself
show() {
  HOME=$folder timeout 150 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-quic \
    --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$folder/profile" \
    --virtual-time-budget=3000 --dump-dom "file://$folder/$1#$2" >"$folder/dom" 2>"$folder/err"
  grep -o 'data-ready="[^"]*"' "$folder/dom" || { tail -5 "$folder/err"; exit 1; }
}
"$ringside" sim all_reduce --bytes 1M --on dgx-h100 --algo ring --proto simple --channels 2 --trace "$folder/run.rtrace" >/dev/null
"$ringside" trace export --html "$folder/run.html" "$folder/run.rtrace"
# 8 ranks, 2 channels, 15 steps each, 14 of them with a send; 8 calls; 8 ranks x 16 chunks.
show run.html chunks@100 | grep -q 'data-ready="events 248 transfers 224 chunks 128 of 128 switched 0 rounds 14 unfinished 0"'

# Of NVLS all goes by the switch, and no share is taken for a result: 8 ranks x 8 heads x 4 channels x 8 loops, there
# and back, in 2 rounds.
"$ringside" sim all_reduce --bytes 8M --on dgx-h100 --algo nvls --proto simple --channels 4 --trace "$folder/nvls.rtrace" >/dev/null
"$ringside" trace export --html "$folder/nvls.html" "$folder/nvls.rtrace"
show nvls.html topology@50 | grep -q 'transfers 4096 chunks 2048 of 2048 switched 4096 rounds 2 unfinished 0"'
# A channel's strands run at the same time: no bar covers another one, and the pointer names the bar that is drawn.
grep -q 'data-covered="0"' "$folder/dom"

# A tree of 4 nodes: chains of 8 ranks below the nodes' tree, of which one channel is drawn.
"$ringside" sim all_reduce --bytes 64K --on dgx-h100 --nodes 4 --algo tree --proto ll --channels 2 --trace "$folder/tree.rtrace" >/dev/null
"$ringside" trace export --html "$folder/tree.html" "$folder/tree.rtrace"
show tree.html topology@50 | grep -q 'unfinished 0 tree 9 deep from 0"'

# A job that hung: the page says so, with the call and the ranks.
cat >"$folder/hung.yaml" <<'END'
ringside: scenario/1
name: hung
ranks: 4
steps:
- all_reduce: {on: world, count: 1024, type: float}
- all_reduce: {on: world, count: 2048, type: float}
faults:
- stall: {rank: 2, call: 1}
END
"$ringside" run "$folder/hung.yaml" -o "$folder/hung" >/dev/null || true
"$ringside" trace export --html "$folder/hung.html" "$folder/hung/run.rtrace"
show hung.html timeline | grep -q 'unfinished 1"'
grep -q 'role="alert">This job hung\.' "$folder/dom"
grep -q 'all_reduce 8K, call 2 never ended on ranks 0-1, 3; rank 2 never entered it' "$folder/dom"
# The list of calls names the current one.
grep -q 'data-call="all_reduce 8K, call 2"' "$folder/dom"

# Groups: calls with equal numbers are named by their groups, and kernels have lanes.
cat >"$folder/groups.yaml" <<'END'
ringside: scenario/1
name: groups
ranks: 4
groups: {pair: [0-1, 2-3]}
steps:
- kernel: 1ms
- all_reduce: {on: pair, count: 1024, type: float}
END
"$ringside" run "$folder/groups.yaml" -o "$folder/groups" >/dev/null
"$ringside" trace export --html "$folder/groups.html" "$folder/groups/run.rtrace"
show groups.html timeline@90 >/dev/null
grep -q 'data-call="all_reduce 4K, call 1 in pair' "$folder/dom"
grep -q 'data-rows="2 groups, 8 lanes"' "$folder/dom"

# 8 ranks, 16 channels, 54 loops of 15 steps each; 8 calls.
"$ringside" sim all_reduce --bytes 216M --on dgx-h100 --algo ring --proto simple --channels 16 --set NCCL_BUFFSIZE=65536 \
  --trace "$folder/long.rtrace" >/dev/null
"$ringside" trace export --html "$folder/long.html" "$folder/long.rtrace"
events=$(show long.html timeline@50 | grep -o 'events [0-9]*')
((${events#events } >= 100000)) || { echo "the long trace has $events"; exit 1; }
bytes=$(stat -c %s "$folder/long.html")
((bytes < 3000000)) || { echo "a page of $bytes bytes for $events"; exit 1; }
