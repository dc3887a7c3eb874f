#!/usr/bin/env bash
# What debian.sh runs in a bare root, with the packages next to this file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export DEBIAN_FRONTEND=noninteractive
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# expect STATUS WORDS COMMAND...: the exit status, and words of what it prints.
expect() {
  local status=0 wanted=$1 words=$2 out
  shift 2
  out=$("$@" 2>&1) || status=$?
  [[ $status == "$wanted" ]] || fail "status $status of: $*"$'\n'"$out"
  grep -qF -- "$words" <<<"$out" || fail "no '$words' from: $*"$'\n'"$out"
  echo "fine: $*"
}
list_files() { find / -xdev \( -path /proc -o -path /tmp -o -path /dev -o -path /var -o -path /root \) -prune -o -print | sort; }

# Manual pages are left out of a minimal root.
rm -f /etc/dpkg/dpkg.cfg.d/docker /etc/dpkg/dpkg.cfg.d/01_nodoc
apt-get -q update >apt.log
apt-get -qy --no-install-recommends install man-db bash-completion >>apt.log 2>&1

# man and completion in bash, wherever ringside is.
expect_pages() {
  expect 0 'ringside hang' man ringside-hang
  local typed
  typed=$(printf '. /usr/share/bash-completion/bash_completion\nringside aud\t --col\tnev\t /none\nexit\n' |
    script -qec 'bash -i' /dev/null 2>/dev/null || true)
  grep -qE 'ringside audit +--color +never +/none' <<<"$typed" || fail "completion: $typed"
  echo 'fine: completion in bash -i'
}

# The archive first, as docs/install.md has it: nothing that it needs is installed yet.
(
  mkdir -p ~/.local
  tar -xzf ringside-*-linux-*.tar.gz -C ~/.local --strip-components=1
  export PATH="$HOME/.local/bin:$PATH"
  work=$(mktemp -d)
  cd "$work"
  expect 0 '0.' ringside --version
  expect 0 'algbw' ringside sim all_reduce --bytes 64M --on dgx-h100 --nodes 2 --fidelity chunk
  expect 0 'dumps' ringside run scenarios/hangs/skipped-collective.yaml -o dumps
  expect 1 'diverged_control_flow: rank 3' ringside hang dumps
  expect_pages
  if ldd ~/.local/bin/ringside ~/.local/libexec/ringside/ringside-simgrid | grep 'not found'; then fail 'archive: libraries'; fi
  rm -rf ~/.local
)

list_files >before
apt-get -qy --no-install-recommends install ./ringside_*.deb ./ringside-gui_*.deb ./libringside-dev_*.deb >>apt.log 2>&1 ||
  { tail -n 20 apt.log >&2 && fail 'apt install'; }
echo "installed: $(dpkg-query -Wf '${Package} ${Installed-Size} KiB; ' ringside ringside-gui libringside-dev)"

[[ $(dpkg-query -Wf '${binary:Synopsis}\n' ringside ringside-gui libringside-dev | sort -u | wc -l) == 3 ]] || fail 'summaries are alike'

# The tutorial of a hang, from a folder with nothing in it.
work=$(mktemp -d)
chmod 1777 "$work"
cd "$work"
expect 0 'dumps' ringside run scenarios/hangs/skipped-collective.yaml -o dumps
expect 1 'diverged_control_flow: rank 3' ringside hang dumps
expect 0 'diverged_control_flow' ringside hang --about diverged_control_flow
expect 1 '"schema": "ringside.hang/1"' ringside hang dumps --json
expect 1 'diverged_control_flow' ringside hang dumps --html page.html
expect 0 'hang.yaml' ringside reproduce dumps -o hang.yaml
expect 0 'as the scenario expects' ringside run hang.yaml --on real -o real-dumps
expect 3 '' ringside bench all_reduce -n 8 -e 1M --fault skip:rank=3,call=40 --op-timeout 2s --dumps bench-dumps
expect 1 'missing_rank: rank 3' ringside hang bench-dumps
expect 0 'A job hangs' ringside help docs/tutorials/hang.md

# Manual, completion, window, library.
expect_pages
man -w ringside ringside-gui ringside-trace >/dev/null || fail 'pages of the manual'
expect 0 '' ringside gui --lesson ring --screenshot ring.png
[[ $(stat -c %s ring.png) -gt 10000 ]] || fail 'the picture is empty'
[[ -e /usr/lib/$(dpkg --print-architecture | sed s/amd64/x86_64/)-linux-gnu/libringside.so ]]

apt-get -qy purge ringside ringside-gui libringside-dev >>/tmp/packages/apt.log 2>&1
apt-get -qy autoremove --purge >>/tmp/packages/apt.log 2>&1
cd /tmp/packages
list_files >after
grep ringside after && fail 'files stay after removal'
echo "fine: removal leaves nothing"
