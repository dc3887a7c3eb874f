"""Runs a training script on ringside's backend: `python3 -m ringside.script train.py ...`

A script that names gloo, mpi or nothing gets ringside for tensors of the CPU, and is not changed otherwise.
"""

import atexit
import ctypes
import os
import runpy
import sys
import traceback
from functools import wraps


def _end_after_exception():
    """Ends a process whose script has failed without the end of the interpreter, which takes a process of PyTorch a multiple of the
    CPU time that exit() takes (docs/tutorials/pytorch.md). What exit() calls still runs: it waits for ranks that have to be waited for.
    """
    if getattr(sys, "last_type", None) is None:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).exit(1)


if __name__ == "__main__":
    # First of all, so that it is called last: after the functions that PyTorch and the script register.
    atexit.register(_end_after_exception)

import torch.distributed as dist  # noqa: E402

import ringside.torch  # noqa: E402,F401

REPLACED = {None, "", "undefined", "gloo", "mpi"}


def _on_ringside(function, position):
    """The function of torch.distributed, with the backend replaced."""

    @wraps(function)
    def replaced(*positional, **named):
        positional = list(positional)
        if len(positional) > position:
            if _is_replaced(positional[position]):
                positional[position] = "ringside"
        elif _is_replaced(named.get("backend")) and (position == 0 or dist.get_backend() == "ringside"):
            named["backend"] = "ringside"
        return function(*positional, **named)

    return replaced


def _is_replaced(backend):
    return backend is None or str(backend).lower() in REPLACED


def _print_exception(kind, thrown, trace):
    """As the interpreter does, without the frames of this module and of runpy."""
    inner = trace
    while inner is not None and inner.tb_frame.f_code.co_filename in (__file__, "<frozen runpy>", runpy.__file__):
        inner = inner.tb_next
    traceback.print_exception(kind, thrown, inner or trace)


def replace_backends():
    """From now on, process groups that name gloo, mpi or nothing are ringside's."""
    dist.init_process_group = dist.distributed_c10d.init_process_group = _on_ringside(dist.init_process_group, 0)
    dist.new_group = dist.distributed_c10d.new_group = _on_ringside(dist.new_group, 2)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: python3 -m ringside.script SCRIPT [ARGUMENTS]")
    replace_backends()
    sys.excepthook = _print_exception
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
