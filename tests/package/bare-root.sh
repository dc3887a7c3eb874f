#!/usr/bin/env bash
# A minimal root of a release of Debian or Ubuntu, made once, then taken as it is.
#
#   bare-root.sh RELEASE ROOT [option of debootstrap...]     RELEASE: bookworm, trixie, noble
#
# From the mirror of this machine's apt; Ubuntu from its own. Needs root and debootstrap.
set -euo pipefail
release=$1
root=$2
shift 2
if [[ -e $root/etc/os-release ]]; then
  found=$(sed -n 's/^VERSION_CODENAME=//p' "$root/etc/os-release")
  [[ $found == "$release" ]] || { echo "error: $root holds $found, not $release: give another folder" >&2 && exit 2; }
  exit 0
fi
script=()
if [[ $release == noble ]]; then
  mirror=http://archive.ubuntu.com/ubuntu
  set -- --components=main,universe "$@"
  # An older debootstrap does not know the release; its script for Ubuntu is the same for all.
  [[ -e /usr/share/debootstrap/scripts/$release ]] || script=(/usr/share/debootstrap/scripts/gutsy)
else
  # shellcheck disable=SC2016  # apt expands $(REPO_URI)
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
fi
debootstrap --variant=minbase "$@" "$release" "$root" "$mirror" "${script[@]}"
