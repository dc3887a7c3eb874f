#!/usr/bin/env bash
# Unpacks the archive in bare roots of Debian 12 and 13, then installs the packages there, uses them as a newcomer does, and
# removes them. Needs root and debootstrap; skipped (status 77) without.
#
#   debian.sh PACKAGES ROOTS [RELEASE...]     default: bookworm trixie; noble is Ubuntu 24.04. ROOTS/RELEASE is made once.
set -euo pipefail
if (($# < 2)); then
  echo "usage: $0 PACKAGES ROOTS [RELEASE...]" >&2
  exit 2
fi
if [[ $EUID != 0 ]] || ! command -v debootstrap >/dev/null; then
  echo "skipped: needs root and debootstrap"
  exit 77
fi
if ! compgen -G "$1/ringside_*.deb" >/dev/null; then
  echo "skipped: no packages in $1: ./run package makes them"
  exit 77
fi
packages=$(realpath "$1")
roots=$(realpath -m "$2")
shift 2
(($# > 0)) || set -- bookworm trixie
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# All mounts are in a namespace of their own, and end with it.
if [[ -z ${RINGSIDE_IN_NAMESPACE:-} ]]; then
  RINGSIDE_IN_NAMESPACE=1 exec unshare --mount --propagation private "$0" "$packages" "$roots" "$@"
fi

for release in "$@"; do
  root=$roots/$release
  "$here/bare-root.sh" "$release" "$root"
  # A copy that goes with the namespace: the root stays bare.
  work=$(mktemp -d)
  mount -t tmpfs tmpfs "$work"
  mkdir "$work/upper" "$work/work" "$work/root"
  mount -t overlay overlay -o "lowerdir=$root,upperdir=$work/upper,workdir=$work/work" "$work/root"
  root=$work/root
  mount -t proc proc "$root/proc"
  mount -t tmpfs tmpfs "$root/tmp"
  mkdir -p "$root/dev/shm"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount -t devpts devpts "$root/dev/pts" -o newinstance,ptmxmode=0666 2>/dev/null || true
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  apt-config dump | grep -E '^Acquire::https?::Proxy ' >"$root/etc/apt/apt.conf.d/90proxy" || true
  mkdir "$root/tmp/packages"
  cp "$packages"/* "$here/in-root.sh" "$root/tmp/packages"
  echo "== $(sed -n 's/^PRETTY_NAME=//p' "$root/etc/os-release")"
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb \
    bash /tmp/packages/in-root.sh
done
