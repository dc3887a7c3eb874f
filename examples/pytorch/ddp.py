"""Training with DistributedDataParallel: a small convolutional network with BatchNorm.

An argument brings in one of the mistakes that hang such jobs:

    unused      rank 1 leaves out a branch of the model in one step, so a bucket of gradients is never reduced
    uneven      rank 1 has one batch more than the others
    validate    rank 0 alone validates, through the DDP module, which broadcasts its buffers
    checkpoint  rank 0 alone writes a checkpoint, with a barrier that the others do not come to
    shape       rank 1 reduces a metric of another shape
    skip_nan    rank 1 skips its step because its loss is not finite
"""

import datetime
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import ringside.torch  # noqa: F401


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten()
        )
        self.branch = nn.Linear(256, 256)
        self.head = nn.Linear(256, 10)

    def forward(self, images, uses_branch=True):
        features = self.trunk(images)
        if uses_branch:
            features = features + self.branch(features)
        return self.head(features)


def main():
    mistake = sys.argv[1] if len(sys.argv) > 1 else ""
    backend = os.environ.get("BACKEND", "ringside")
    dist.init_process_group(backend, timeout=datetime.timedelta(seconds=float(os.environ.get("TIMEOUT", 60))))
    rank = dist.get_rank()
    torch.manual_seed(7)
    torch.set_num_threads(1)
    model = DistributedDataParallel(Net(), bucket_cap_mb=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(100 + rank)
    batches = 21 if mistake == "uneven" and rank == 1 else 20
    for step in range(batches):
        images = torch.randn((8, 3, 16, 16), generator=generator)
        labels = torch.randint(0, 10, (8,), generator=generator)
        is_bad = rank == 1 and step == 10
        loss = nn.functional.cross_entropy(model(images, not (mistake == "unused" and is_bad)), labels)
        optimizer.zero_grad()
        if mistake == "skip_nan" and is_bad:
            continue
        loss.backward()
        optimizer.step()
        if mistake == "validate" and rank == 0 and step == 10:
            with torch.no_grad():
                model(images)
        if mistake == "checkpoint" and rank == 0 and step == 10:
            torch.save(model.state_dict(), os.devnull)
            dist.barrier()
        if mistake == "shape" and step == 10:
            dist.all_reduce(torch.zeros(3 if rank == 1 else 2))
        if mistake == "unused" and step == 10:
            dist.barrier()
        average = loss.detach().clone()
        dist.all_reduce(average)
        if rank == 0:
            print(f"step {step}: loss {average.item() / dist.get_world_size():.9f}")
    dist.barrier()
    dist.destroy_process_group()


main()
