"""The backend `ringside` of torch.distributed, for tensors of the CPU.

    import torch.distributed as dist
    import ringside.torch
    dist.init_process_group("ringside")
"""

import atexit
import os
import sys
from datetime import timedelta

import torch
import torch.distributed as dist

from . import _backend

__all__ = ["monitored_barrier", "register"]


def _op_timeout():
    """RINGSIDE_OP_TIMEOUT: limits calls of all groups, whatever the script says, but not the time that ranks take to join."""
    text = os.environ.get("RINGSIDE_OP_TIMEOUT")
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= 86400:
        raise ValueError(f"RINGSIDE_OP_TIMEOUT={text}: give seconds, more than 0 and up to a day")
    return timedelta(seconds=seconds)


def _create(options, _backend_options):
    is_default = options.group_id in ("", "0", "default_pg")
    return _backend.create(
        options.store,
        options.group_rank,
        options.group_size,
        options.timeout,
        _op_timeout() or options.timeout,
        options.group_id or "0",
        "default_pg" if is_default else "undefined",
        list(getattr(options, "global_ranks_in_group", ())),
    )


def register():
    """Makes the backend known to torch.distributed. Importing this package does it."""
    if hasattr(dist.Backend, "RINGSIDE"):
        return
    devices = {} if torch.__version__.startswith("1.") else {"devices": ["cpu"]}
    dist.Backend.register_backend("ringside", _create, extended_api=True, **devices)
    sys.exit = _exit
    atexit.register(_leave)


_exit_status = None
_plain_exit = sys.exit


def _exit(status=None):
    """sys.exit(), which also keeps the status for _leave(): torch.multiprocessing ends a process so after an exception."""
    global _exit_status
    _exit_status = status
    _plain_exit(status)


def _leave():
    """A rank that ends by an exception or a bad status reports it to the others, which would wait for it in vain."""
    kind = getattr(sys, "last_type", None)
    rank = dist.get_rank() if dist.is_initialized() else "?"
    why = ""
    if kind is not None:
        why = f"rank {rank} ends by an exception: {kind.__name__}: {sys.last_value}"
    elif _exit_status not in (None, 0):
        why = f"rank {rank} ends with status {_exit_status}"
    _backend.leave_all(why)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """torch.distributed.monitored_barrier, which takes only groups of gloo."""
    group = group or dist.distributed_c10d._get_default_group()
    if timeout is None:
        timeout = timedelta(milliseconds=-1)
    group.monitored_barrier(timeout, wait_all_ranks=wait_all_ranks)


register()
