#!/usr/bin/python3
"""Monitored barriers: rank 0, which serves the store, may end at once after one.

Rank 0 enters one after rank 1, and rank 2 never: both name rank 2, though rank 1's time-out ends first. All pass others.
"""

import datetime
import os
import sys
import time

from forked_ranks import HeldPort, dist, tcp_store

LATE_S = 1.0
TIMEOUT = datetime.timedelta(seconds=2)


def run(rank, port):
    """returns  the error of the barrier"""
    store = tcp_store(port, rank, 3)
    dist.init_process_group("ringside", store=store, rank=rank, world_size=3)
    group = dist.distributed_c10d._get_default_group()
    try:
        if rank == 2:
            time.sleep(2 * LATE_S + TIMEOUT.total_seconds())
            return "rank 2"
        time.sleep(LATE_S if rank == 0 else 0)
        group.monitored_barrier(timeout=TIMEOUT)
    except RuntimeError as error:
        return str(error)
    return "no error"


def run_passing(rank, port):
    """returns  the error of the barriers, if there is one"""
    store = tcp_store(port, rank, 3)
    dist.init_process_group("ringside", store=store, rank=rank, world_size=3)
    group = dist.distributed_c10d._get_default_group()
    try:
        for _ in range(3):
            group.monitored_barrier(timeout=TIMEOUT * 10)
    except RuntimeError as error:
        return str(error)
    return "passed"


def check(body, wanted):
    """Forks three ranks that end right after the body, which must return a text that contains `wanted`."""
    held = HeldPort()
    children = []
    for rank in range(3):
        child = os.fork()
        if child == 0:
            text = body(rank, held.number)
            print(f"rank {rank}: {text}", flush=True)
            os._exit(0 if wanted in text else 1)
        children.append(child)
    if any([os.waitpid(child, 0)[1] for child in children]):
        sys.exit(f"wanted {wanted!r}")


def main():
    check(run, "rank 2")
    for _ in range(4):
        check(run_passing, "passed")


if __name__ == "__main__":
    main()
