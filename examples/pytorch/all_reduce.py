"""The plain all-reduce: every rank adds its gradients to those of the others, 20 times."""

import datetime
import os

import torch
import torch.distributed as dist

import ringside.torch  # noqa: F401

dist.init_process_group("ringside", timeout=datetime.timedelta(seconds=float(os.environ.get("TIMEOUT", 60))))
rank = dist.get_rank()
gradients = torch.full((250_000,), float(rank))
for step in range(20):
    dist.all_reduce(gradients, op=dist.ReduceOp.AVG)
print(f"rank {rank}: {gradients[0]:.3f}")
dist.destroy_process_group()
