#!/usr/bin/python3
"""Rank 0 enters a monitored barrier after rank 1, and rank 2 never: both name rank 2, though rank 1's time-out ends first."""

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


def main():
    held = HeldPort()
    children = []
    for rank in range(3):
        child = os.fork()
        if child == 0:
            error = run(rank, held.number)
            print(f"rank {rank}: {error}", flush=True)
            time.sleep(5 * LATE_S if rank == 0 else 0)  # the store is served by rank 0, and the others still read it
            os._exit(0 if "rank 2" in error else 1)
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    sys.exit(1 if any(statuses) else 0)


if __name__ == "__main__":
    main()
