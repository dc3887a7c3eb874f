"""Two groups of all ranks, as of tensor and of data parallelism. With `swap` rank 1 uses them in the other order."""

import datetime
import os
import sys

import torch
import torch.distributed as dist

import ringside.torch  # noqa: F401

dist.init_process_group("ringside", timeout=datetime.timedelta(seconds=float(os.environ.get("TIMEOUT", 60))))
rank = dist.get_rank()
tensor_parallel = dist.new_group(timeout=datetime.timedelta(seconds=float(os.environ.get("TIMEOUT", 60))))
data_parallel = dist.new_group(timeout=datetime.timedelta(seconds=float(os.environ.get("TIMEOUT", 60))))
data = torch.ones(1000)
for step in range(10):
    groups = [tensor_parallel, data_parallel]
    if "swap" in sys.argv[1:] and rank == 1 and step == 5:
        groups.reverse()
    for group in groups:
        dist.all_reduce(data, op=dist.ReduceOp.MAX, group=group)
print(f"rank {rank}: {data.sum():.0f}")
dist.destroy_process_group()
