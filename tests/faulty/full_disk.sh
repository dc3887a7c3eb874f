#!/usr/bin/env bash
# The disk is full when a job hangs: its dumps go to /dev/shm, and name the rank as they would have; where nothing is left
# there either, the job ends as soon and says so.
#
#     tests/faulty/full_disk.sh PATH/OF/ringside
#
# Status 77: no file system of its own may be mounted here (root).
set -euo pipefail

program=$(realpath "$1")
if [[ -z ${RINGSIDE_OWN_MOUNTS:-} ]]; then
  unshare --mount true 2>/dev/null || {
    echo "skipped: no mount namespace of its own may be made here"
    exit 77
  }
  RINGSIDE_OWN_MOUNTS=1 exec unshare --mount --propagation private "$0" "$program"
fi

folder=$(mktemp -d /tmp/ringside-full-disk.XXXXXX)
trap 'umount "$folder"/disk; rm -rf "$folder"' EXIT
mkdir "$folder/disk"
mount -t tmpfs -o size=64k tmpfs "$folder/disk"
mount -t tmpfs -o size=64m tmpfs /dev/shm # goes with the namespace

fail() {
  echo "FAILED: $1"
  cat "$folder/said" >&2
  exit 1
}

fill() { dd if=/dev/zero of="$1/full" bs=4k 2>/dev/null || true; }

run_job() {
  local status=0
  timeout 60 "$program" bench all_reduce -n 8 -b 64K -e 64K --fault skip:rank=3,call=20 --op-timeout 1s \
    --dumps "$folder/disk" >"$folder/said" 2>&1 || status=$?
  [[ $status == 3 ]] || fail "the job ended with status $status, not 3"
}

fill "$folder/disk"
run_job
grep -q 'cannot be written: the dump is in /dev/shm' "$folder/said" || fail "nothing is said of the full disk"
[[ $(find "$folder/disk" -name 'comm_lib*' | wc -l) == 0 ]] || fail "a part of a dump is left on the full disk"
"$program" hang /dev/shm >"$folder/said" 2>&1 || true
grep -q 'rank 3' "$folder/said" || fail "the dumps in /dev/shm do not name rank 3"

rm -f /dev/shm/*
fill /dev/shm
run_job
grep -q 'no dump:' "$folder/said" || fail "nothing is said of the dump that is not there"
[[ $(find /dev/shm -name 'comm_lib*' | wc -l) == 0 ]] || fail "a part of a dump is left in /dev/shm"
echo "ok"
