#!/usr/bin/env bash
# The two commands of README.md on a fresh Debian 12 that has git and bash only.
#
#   tests/clean-machine.sh FOLDER [COMMAND...]     default: ./run demo, then ./run test
#
# FOLDER gets a minimal Debian (debootstrap; made once, then taken as it is) with a clone of the last
# commit of this checkout in root/ringside. Each COMMAND is one line for bash there. Needs root and
# debootstrap, 2.5 GB of disk, and a Debian mirror: the one this machine's apt uses. RELEASE=trixie tries
# a newer Debian.
set -euo pipefail

if (($# == 0)) || [[ $EUID != 0 ]]; then
  echo "usage: $0 FOLDER [COMMAND...]   (as root; FOLDER gets a minimal Debian 12)" >&2
  exit 2
fi
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(realpath -m "$1")
shift
(($# > 0)) || set -- './run demo' './run test'

if [[ ! -e $folder/etc/debian_version ]]; then
  # shellcheck disable=SC2016  # apt expands $(REPO_URI)
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v -e -security | head -n 1)
  debootstrap --variant=minbase --include=git,ca-certificates "${RELEASE:-bookworm}" "$folder" "$mirror"
fi

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
if [[ -d $clone ]]; then
  git -C "$clone" pull -q --ff-only "$checkout" HEAD
else
  git clone -q --no-hardlinks "$checkout" "$clone"
fi

for command in "$@"; do
  echo "==> $command"
  start=$SECONDS
  chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    bash -c "cd /root/ringside && $command"
  echo "==> $command: fine after $((SECONDS - start)) s"
done
