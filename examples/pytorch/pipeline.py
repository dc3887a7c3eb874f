"""Activations that pass from rank to rank. With `lost` rank 0 leaves out one send; with `cycle` all ranks receive first."""

import datetime
import os
import sys

import torch
import torch.distributed as dist

import ringside.torch  # noqa: F401

dist.init_process_group("ringside", timeout=datetime.timedelta(seconds=float(os.environ.get("TIMEOUT", 60))))
rank, size = dist.get_rank(), dist.get_world_size()
data = torch.ones(10_000)
for micro_batch in range(10):
    if "cycle" in sys.argv[1:] and micro_batch == 5:
        dist.recv(data, (rank - 1) % size)
        dist.send(data, (rank + 1) % size)
    if rank > 0:
        dist.recv(data, rank - 1)
    if rank < size - 1 and not ("lost" in sys.argv[1:] and rank == 0 and micro_batch == 5):
        dist.send(data, rank + 1)
dist.barrier()
print(f"rank {rank}: {data.sum():.0f}")
dist.destroy_process_group()
