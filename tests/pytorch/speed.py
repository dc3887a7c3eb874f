#!/usr/bin/python3
"""All-reduces of PyTorch over ringside and over gloo, alternately in the same processes.

    speed.py [--ranks 2] [--rounds 15] [SIZE ...]        sizes in bytes: 4096 67108864

For each size: the median of the rounds for both, and the median of the ratios of the pairs. The time of a round is that of
the slowest rank, per call.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from datetime import timedelta

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
except ImportError:
    sys.exit(77)


def time_of(group, data, calls):
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(calls):
        dist.all_reduce(data, group=group)
    taken = torch.tensor([(time.perf_counter() - begin) / calls], dtype=torch.float64)
    dist.all_reduce(taken, op=dist.ReduceOp.MAX)
    return float(taken)


def run_rank(rank, ranks, sizes, rounds, folder):
    import ringside.torch  # noqa: F401

    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks, timeout=timedelta(seconds=300)
    )
    groups = {"ringside": dist.new_group(backend="ringside"), "gloo": dist.new_group(backend="gloo")}
    if rank == 0:
        print(f"torch {torch.__version__}, {ranks} ranks, {os.cpu_count()} cores, all_reduce of float32, {rounds} rounds")
        print(f"{'bytes':>12} {'ringside us':>12} {'gloo us':>12} {'ratio':>7}   ratios of pairs: 10 % .. 90 %")
    for size in sizes:
        data = torch.zeros(max(1, size // 4))
        calls = max(1, min(500, (64 << 20) // max(1, size)))
        pairs = []
        for number in range(rounds + 1):
            names = ["ringside", "gloo"] if number % 2 == 0 else ["gloo", "ringside"]
            times = {name: time_of(groups[name], data, calls) for name in names}
            if number > 0:  # the first one warms up
                pairs.append((times["ringside"], times["gloo"]))
        ratios = sorted(theirs / ours for ours, theirs in pairs)
        if rank == 0:
            ours, theirs = (statistics.median(column) * 1e6 for column in zip(*pairs))
            low, high = ratios[len(ratios) // 10], ratios[-1 - len(ratios) // 10]
            print(f"{size:>12} {ours:>12.1f} {theirs:>12.1f} {statistics.median(ratios):>7.2f}   {low:.2f} .. {high:.2f}", flush=True)
    dist.barrier()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("sizes", type=int, nargs="*", default=[4096, 64 << 20])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run_rank, (asked.ranks, asked.sizes, asked.rounds, folder), nprocs=asked.ranks)


if __name__ == "__main__":
    main()
