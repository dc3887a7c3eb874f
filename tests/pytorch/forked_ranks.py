"""Ranks of a job, forked from one process that has imported PyTorch."""

import ctypes
import datetime
import os
import runpy
import sys
import time
import traceback
from pathlib import Path

try:
    import torch  # noqa: F401
    import torch.distributed as dist  # noqa: F401
    from torch.nn.parallel import DistributedDataParallel  # noqa: F401
except ImportError:
    print("no PyTorch for this Python")
    sys.exit(77)
import ringside.script
import ringside.torch
from ringside.launch import HeldPort

# Debian builds PyTorch without libuv, which 2.4 and later take for TCPStore unless they are told otherwise.
os.environ["USE_LIBUV"] = "0"
VERSION = tuple(int(part) for part in torch.__version__.split(".")[:2])
_held = []
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "pytorch"


def tcp_store(port, rank, ranks):
    """A store that rank 0 serves."""
    words = {"use_libuv": False} if VERSION >= (2, 4) else {}
    return dist.TCPStore("127.0.0.1", port, ranks, rank == 0, timeout=datetime.timedelta(seconds=60), **words)


def start(ranks, words, folder, **environment):
    """Starts a script, of the examples if it is no path from the root; its output goes to rank_R.log in the folder. Returns the processes."""
    children = []
    port = _new_port()
    for rank in range(ranks):
        child = os.fork()
        if child == 0:
            _run(rank, ranks, words, folder, port, environment)
        children.append(child)
    return children


def spawn(ranks, words, folder, **environment):
    """As start(), but each rank imports PyTorch itself: a forked one that has used FSDP2 crashes in exit(), over gloo, too."""
    children = []
    port = _new_port()
    for rank in range(ranks):
        log = os.path.join(folder, f"rank_{rank}.log")
        files = [(os.POSIX_SPAWN_OPEN, 1, log, os.O_CREAT | os.O_WRONLY, 0o644), (os.POSIX_SPAWN_DUP2, 1, 2)]
        own = {**os.environ, **_environment(rank, ranks, folder, port), **environment}
        program = [sys.executable, str(EXAMPLES / words[0]), *words[1:]]
        children.append(os.posix_spawn(sys.executable, program, own, file_actions=files))
    return children


def _new_port():
    """Of a job of this process: held until the process ends."""
    _held.append(HeldPort())
    return _held[-1].number


def _environment(rank, ranks, folder, port):
    return {
        "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
        "TORCH_FR_DUMP_TEMP_FILE": os.path.join(folder, "nccl_trace_rank_"),
    }  # fmt: skip


def _run(rank, ranks, words, folder, port, environment):
    """Never returns."""
    log = os.open(os.path.join(folder, f"rank_{rank}.log"), os.O_CREAT | os.O_WRONLY)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ.update({**_environment(rank, ranks, folder, port), **environment})
    if "BACKEND" not in os.environ:
        ringside.script.replace_backends()
    sys.argv = [str(EXAMPLES / words[0]), *words[1:]]
    status = 1
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
        status = 0
    except BaseException as thrown:  # noqa: BLE001
        traceback.print_exc()
        print(f"failed at {time.time()}")
        sys.last_type, sys.last_value = type(thrown), thrown
    end(status)


def end(status):
    """Ends a forked rank as the interpreter does: a process that has left its groups waits for the others."""
    sys.stdout.flush()
    sys.stderr.flush()
    ringside.torch._leave()
    ctypes.CDLL(None).exit(status)
