"""Training with FSDP: parameters are sharded, gathered for each layer, and gradients are reduced to their shards.

    fsdp.py [1|2] [conditional]      version of FSDP: FullyShardedDataParallel, or fully_shard (PyTorch 2.14 on CPUs)

With `conditional` rank 1 skips a layer in one step, as early exits and mixtures of experts do: it gathers the parameters of
the next layer, while the others gather those of the skipped one.
"""

import datetime
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel

import ringside.torch  # noqa: F401


class Net(nn.Module):
    def __init__(self, shard):
        super().__init__()
        self.first = shard(nn.Linear(64, 128))
        self.middle = shard(nn.Linear(128, 128))
        self.last = shard(nn.Linear(128, 10))

    def forward(self, data, uses_middle=True):
        hidden = torch.relu(self.first(data))
        if uses_middle:
            hidden = hidden + torch.relu(self.middle(hidden))
        return self.last(hidden)


def sharded_model(version):
    if version == 1:
        def shard(layer):
            return FullyShardedDataParallel(layer, device_id=torch.device("cpu"))

        return shard(Net(shard))
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    return fully_shard(Net(lambda layer: fully_shard(layer, mesh=mesh)), mesh=mesh)


def main():
    words = sys.argv[1:]
    backend = os.environ.get("BACKEND", "ringside")
    dist.init_process_group(backend, timeout=datetime.timedelta(seconds=float(os.environ.get("TIMEOUT", 60))))
    rank = dist.get_rank()
    torch.manual_seed(7)
    torch.set_num_threads(1)
    model = sharded_model(2 if "2" in words else 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(100 + rank)
    for step in range(20):
        data = torch.randn((8, 64), generator=generator)
        labels = torch.randint(0, 10, (8,), generator=generator)
        skips = "conditional" in words and rank == 1 and step == 10
        loss = nn.functional.cross_entropy(model(data, not skips), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average = loss.detach().clone()
        dist.all_reduce(average)
        if rank == 0:
            print(f"step {step}: loss {average.item() / dist.get_world_size():.9f}")
    dist.barrier()
    dist.destroy_process_group()


main()
