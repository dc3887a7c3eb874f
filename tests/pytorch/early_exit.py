#!/usr/bin/python3
"""Rank 1 ends while rank 0 still calls: rank 0 gets an error that names it, long before the time-out."""

import datetime
import os
import signal
import sys
import time

from forked_ranks import HeldPort, dist, end, tcp_store, torch

TIMEOUT_S = 120
END_S = 10
# name: calls of rank 0, calls of rank 1 before it ends, error of rank 0
CASES = {
    "all_reduce": (["all_reduce"] * 3, ["all_reduce"] * 2, "rank 1 has left the communicator after"),
    "send and recv": (["recv"] * 3, ["send"] * 2, "rank 1 has left the communicator without this message"),
    "recv first": (["recv"], [], "rank 1 has left the communicator without this message"),
    "send first": (["send"], [], "rank 1 has left the communicator without this message"),
    "recv from any rank": (["recv_any"] * 2, ["send"], "every other rank has left the communicator"),
    "recv, killed": (["recv"] * 2, ["send", "kill"], "rank 1 is gone"),
    "recv first, killed": (["recv"], ["kill"], "rank 1 is gone"),
}


def run(case, rank, port):
    """Returns the error of the rank, and how long its last call took."""
    store = tcp_store(port, rank, 2)
    timeout = datetime.timedelta(seconds=TIMEOUT_S)
    dist.init_process_group("ringside", store=store, rank=rank, world_size=2, timeout=timeout)
    data = torch.ones(1000)
    begin = time.monotonic()
    try:
        for call in CASES[case][rank]:
            begin = time.monotonic()
            if call == "all_reduce":
                dist.all_reduce(data)
            elif call == "recv":
                dist.recv(data, 1 - rank)
            elif call == "recv_any":
                dist.recv(data)
            elif call == "send":
                dist.send(data, 1 - rank)
            else:
                os.kill(os.getpid(), signal.SIGKILL)
    except RuntimeError as error:
        return str(error), time.monotonic() - begin
    return "", 0


def main():
    for case in sys.argv[1:] or CASES:
        *_, wanted = CASES[case]
        held = HeldPort()
        children = []
        for rank in range(2):
            child = os.fork()
            if child == 0:
                error, took = run(case, rank, held.number)
                if rank == 0:
                    print(f"{case}: after {took:.1f} s: {error}", flush=True)
                end(0 if rank == 1 or (wanted in error and took < END_S) else 1)
            children.append(child)
        statuses = [os.waitpid(child, 0)[1] for child in children]
        if any(one not in (0, signal.SIGKILL) for one in statuses):
            sys.exit(f"{case}: statuses {statuses}, wanted {wanted!r} within {END_S} s")


if __name__ == "__main__":
    main()
