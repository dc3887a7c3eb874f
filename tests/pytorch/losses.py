#!/usr/bin/python3
"""Trains the models of examples/pytorch, 20 steps on 3 ranks, over gloo and over ringside: the losses are the same.

    losses.py [SCRIPT ...]      "ddp.py", "fsdp.py 1", "fsdp.py 2"; default: those that this PyTorch has on CPUs

Stated tolerance: 1e-6 of the loss, for the order in which the ranks' gradients are added (float32).
"""

import os
import re
import sys
import tempfile

from forked_ranks import VERSION, spawn, start

RANKS = 3
STEPS = 20
TOLERANCE = 1e-6


def scripts():
    """FSDP cannot be imported in 1.13 on Python 3.11, and FSDP2 needs streams of the CPU."""
    return ["ddp.py"] + ["fsdp.py 1"] * (VERSION >= (2, 6)) + ["fsdp.py 2"] * (VERSION >= (2, 14))


def losses_over(backend, script, folder):
    begin = spawn if script == "fsdp.py 2" else start
    children = begin(RANKS, script.split(), folder, BACKEND=backend)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    logs = [open(os.path.join(folder, f"rank_{rank}.log")).read() for rank in range(RANKS)]
    if any(statuses):
        sys.exit(f"{script} over {backend}: statuses {statuses}:\n" + "\n".join(logs))
    return [float(loss) for loss in re.findall(r"loss (\S+)", logs[0])]


def main():
    is_good = True
    for script in sys.argv[1:] or scripts():
        losses = {}
        for backend in ("gloo", "ringside"):
            with tempfile.TemporaryDirectory(prefix="losses-", ignore_cleanup_errors=True) as folder:
                losses[backend] = losses_over(backend, script, folder)
        gloo, ringside = losses.values()
        worst = max((abs(a - b) / abs(a) for a, b in zip(gloo, ringside)), default=1)
        print(f"{script}: {len(gloo)} steps: loss {gloo[0]:.6f} to {gloo[-1]:.6f}, worst difference {worst:.2g}", flush=True)
        is_good &= len(gloo) == len(ringside) == STEPS and worst <= TOLERANCE
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
