#!/usr/bin/env bash
# Installs a build of ringside below a folder and builds the consumer against it, as a packager and
# a user of the package would.
#
#   run.sh BUILD_FOLDER WORK_FOLDER
set -euo pipefail
build=$1
work=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

rm -rf "$work"
mkdir -p "$work"
DESTDIR=$work/stage cmake --install "$build" --prefix /usr >"$work/install.log"
"$work/stage/usr/bin/ringside" --version
"$work/stage/usr/bin/ringside" sim all_reduce --bytes 1M --on 2x-l4
cmake -S "$here" -B "$work/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$work/stage/usr"
cmake --build "$work/consumer"
RINGSIDE_SIMGRID=$work/stage/usr/libexec/ringside/ringside-simgrid "$work/consumer/consumer"
# Installed below the same prefix, it needs no such help.
cp "$work/consumer/consumer" "$work/stage/usr/bin/"
"$work/stage/usr/bin/consumer"
