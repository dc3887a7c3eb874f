#!/usr/bin/python3
"""Trains the model of examples/pytorch/ddp.py, 20 steps on 3 ranks, over gloo and over ringside: the losses are the same.

Stated tolerance: 1e-6 of the loss, for the order in which the ranks' gradients are added (float32).
"""

import os
import re
import sys
import tempfile

from forked_ranks import start

RANKS = 3
TOLERANCE = 1e-6


def losses_over(backend, top, port):
    folder = os.path.join(top, backend)
    os.mkdir(folder)
    children = start(RANKS, ["ddp.py"], folder, port, BACKEND=backend)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    text = open(os.path.join(folder, "rank_0.log")).read()
    if any(statuses):
        sys.exit(f"{backend}: statuses {statuses}: {text}")
    return [float(loss) for loss in re.findall(r"loss (\S+)", text)]


def main():
    with tempfile.TemporaryDirectory(prefix="ddp-losses-", ignore_cleanup_errors=True) as top:
        port = 20000 + os.getpid() % 20000
        gloo = losses_over("gloo", top, port)
        ringside = losses_over("ringside", top, port + 1)
    worst = max(abs(a - b) / abs(a) for a, b in zip(gloo, ringside))
    print(f"{len(gloo)} steps: loss {gloo[0]:.6f} to {gloo[-1]:.6f}, worst difference {worst:.2g}")
    sys.exit(0 if len(gloo) == len(ringside) == 20 and worst <= TOLERANCE else 1)


if __name__ == "__main__":
    main()
