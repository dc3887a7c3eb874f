#!/usr/bin/env bash
# The tests of the PyTorch backend that a build has made: calls against gloo, training against gloo, hung scripts.
#
#   run.sh BUILD_FOLDER [PYTHON]        without a Python that has PyTorch: exit status 77, which ctest takes as skipped
set -euo pipefail
build=$1
python=${2:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ -z $python || ! -d $build/python/lib ]]; then
  echo "no Python with PyTorch and its headers (Debian 12: python3-torch libtorch-dev)"
  exit 77
fi
export PYTHONPATH=$build/python/lib PYTHONUNBUFFERED=1
"$python" "$here/agree_with_gloo.py"
"$python" "$here/losses.py"
"$python" "$here/late_barrier.py"
"$python" "$here/early_exit.py"
"$python" "$here/messages_left.py" "$build/cli/ringside"
"$python" "$here/hung_scripts.py" "$build/cli/ringside"
"$python" "$here/run_script.py" "$build/cli/ringside"
