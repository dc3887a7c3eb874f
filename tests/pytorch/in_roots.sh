#!/usr/bin/env bash
# in_root.sh in each root of RINGSIDE_ROOTS: in_roots.sh BUILD_FOLDER
set -euo pipefail
if [[ -z ${RINGSIDE_ROOTS:-} || $EUID != 0 ]]; then
  echo "skipped: RINGSIDE_ROOTS names no root of another release, or this user is not root (docs/contributing/testing.md)"
  exit 77
fi
for root in $RINGSIDE_ROOTS; do
  "$(dirname "${BASH_SOURCE[0]}")/in_root.sh" "$root" "$1"
done
