#!/usr/bin/env bash
# The two commands of README.md on a fresh Debian that has git and bash only, and how long each takes.
#
#   tests/clean-machine.sh FOLDER [COMMAND...]     default: ./run demo, then ./run test
#
# FOLDER gets a minimal Debian (debootstrap; made once, then taken as it is: remove it to begin with nothing again) and in
# root/ringside a clone of the last commit of this checkout. Each COMMAND is one line for bash there. RELEASE=trixie makes
# Debian 13 in place of 12, RELEASE=noble Ubuntu 24.04. Needs root and debootstrap, 2.5 GB of disk, and a mirror
# (package/bare-root.sh).
set -euo pipefail

if (($# == 0)) || [[ $EUID != 0 ]]; then
  echo "usage: [RELEASE=trixie] $0 FOLDER [COMMAND...]   (as root; FOLDER gets a minimal Debian)" >&2
  exit 2
fi
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(realpath -m "$1")
shift
(($# > 0)) || set -- './run demo' './run test'

"$checkout/tests/package/bare-root.sh" "${RELEASE:-bookworm}" "$folder" --include=git,ca-certificates

cleanup() {
  local mount
  for mount in dev/shm dev proc; do
    ! mountpoint -q "$folder/$mount" || umount --lazy "$folder/$mount" # processes may still end
  done
}
trap cleanup EXIT
mount -t proc proc "$folder/proc"
mount --bind /dev "$folder/dev"
mount --make-private "$folder/dev" # so that the next line stays out of this machine's own /dev
mount -t tmpfs tmpfs "$folder/dev/shm"

# What an installer would have written.
[[ -e $folder/etc/hosts ]] || echo '127.0.0.1 localhost' >"$folder/etc/hosts"

# How this machine reaches its mirror: name servers, and apt's proxy where there is one.
cp /etc/resolv.conf "$folder/etc/resolv.conf"
apt-config dump | grep -E '^Acquire::https?::Proxy ' >"$folder/etc/apt/apt.conf.d/90proxy" || true

clone=$folder/root/ringside
[[ -d $clone ]] || git init -q "$clone"
git -C "$clone" fetch -q "$checkout" HEAD
git -C "$clone" reset -q --hard FETCH_HEAD
echo "==> $(sed -n 's/^PRETTY_NAME=//p' "$folder/etc/os-release"), commit $(git -C "$clone" rev-parse --short HEAD)," \
  "$(nproc) cores"

times=()
for command in "$@"; do
  echo "==> $command (load $(cut -d ' ' -f 1 /proc/loadavg))"
  start=$SECONDS
  status=0
  chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    bash -c "cd /root/ringside && $command" || status=$?
  times+=("$(printf '%6d s  %s: %s' $((SECONDS - start)) "$command" \
    "$( ((status == 0)) && echo fine || echo "FAILED, status $status")")")
  ((status == 0)) || break
done
printf '==> %s\n' "${times[@]}"
((status == 0))
