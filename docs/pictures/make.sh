#!/usr/bin/env bash
# make.sh [RINGSIDE]: makes the pictures of README.md, docs/tutorials/lessons.md and docs/tutorials/replay-window.md. Needs no display.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
ringside=${1:-../../build/dev/cli/ringside}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
shot() {
  local name=$1
  shift
  "$ringside" gui --screenshot "$name.png" --size "${size:-1100x620}" "$@"
}
shot ring --lesson ring --at 40%
shot tree --lesson tree --at 30%
shot ll128 --lesson ll128 --at 40%
shot hang --lesson hang --at 100%
shot timeline --sim all_reduce --bytes 4M --algo ring --proto simple --channels 2 --at 30% --choose "rank=3 step=4"

# docs/tutorials/replay-window.md
cat >"$folder/slow-nic.yaml" <<'END'
ringside: cluster/1
name: slow-nic
nodes: [dgx-h100 x4]
fabric:
  kind: leaf_spine
  rails: optimised
  hosts_per_leaf: 4
  oversubscription: 1
  degraded:
  - {link: host 2 nic 5 <-> rail * leaf *, share: 0.2}
END
slow=(all_reduce --bytes 64M --on "$folder/slow-nic.yaml" --algo ring --proto simple --channels 8)
"$ringside" sim "${slow[@]}" --trace "$folder/slow.rtrace" >/dev/null
shot slow-link "$folder/slow.rtrace" --view numbers --at 50%
size=1100x760 shot slow-cable --sim "${slow[@]}" --nodes 4 --view topology --at 70%
for protocol in ll simple; do
  "$ringside" sim all_reduce --bytes 8K --on dgx-h100 --algo ring --proto $protocol --trace "$folder/$protocol.rtrace" >/dev/null
done
size=1100x360 shot ll-simple "$folder/ll.rtrace" --beside "$folder/simple.rtrace" --view compare
size=1100x480 shot killed-rank ../../scenarios/hangs/killed-rank.yaml
size=1100x400 shot killed-rank-timeline ../../scenarios/hangs/killed-rank.yaml --view timeline --at 100%
