"""The backend `ringside` of torch.distributed, for tensors of the CPU.

    import torch.distributed as dist
    import ringside.torch
    dist.init_process_group("ringside")
"""

import atexit
import sys
from datetime import timedelta

import torch
import torch.distributed as dist

from . import _backend

__all__ = ["monitored_barrier", "register"]


def _create(options, _backend_options):
    is_default = options.group_id in ("", "0", "default_pg")
    return _backend.create(
        options.store,
        options.group_rank,
        options.group_size,
        options.timeout,
        options.group_id or "0",
        "default_pg" if is_default else "undefined",
    )


def register():
    """Makes the backend known to torch.distributed. Importing this package does it."""
    if hasattr(dist.Backend, "RINGSIDE"):
        return
    devices = {} if torch.__version__.startswith("1.") else {"devices": ["cpu"]}
    dist.Backend.register_backend("ringside", _create, extended_api=True, **devices)
    atexit.register(_leave)


def _leave():
    """A program that ends by an exception says so to the other ranks, which would wait for it in vain."""
    kind = getattr(sys, "last_type", None)
    why = ""
    if kind is not None:
        rank = dist.get_rank() if dist.is_initialized() else "?"
        why = f"rank {rank} ends by an exception: {kind.__name__}: {sys.last_value}"
    _backend.leave_all(why)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """torch.distributed.monitored_barrier, which takes only groups of gloo."""
    group = group or dist.distributed_c10d._get_default_group()
    if timeout is None:
        timeout = timedelta(milliseconds=-1)
    group.monitored_barrier(timeout, wait_all_ranks=wait_all_ranks)


register()
