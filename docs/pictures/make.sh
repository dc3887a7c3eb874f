#!/usr/bin/env bash
# make.sh [RINGSIDE]: makes the pictures of README.md and docs/lessons.md anew. Needs no display.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
ringside=${1:-../../build/dev/cli/ringside}
shot() {
  local name=$1
  shift
  "$ringside" gui --screenshot "$name.png" --size 1100x620 "$@"
}
shot ring --lesson ring --at 40%
shot tree --lesson tree --at 30%
shot ll128 --lesson ll128 --at 40%
shot hang --lesson hang --at 100%
shot timeline --sim all_reduce --bytes 4M --algo ring --proto simple --channels 2 --at 30% --choose "rank=3 step=4"
