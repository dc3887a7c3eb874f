"""All-reduces that run beside other work. With `forget` rank 1 starts one less and does not wait for any.

The ranks that do wait hang in the all-reduce that rank 1 has not started.
"""

import datetime
import os
import sys
import time

import torch
import torch.distributed as dist

import ringside.torch  # noqa: F401

dist.init_process_group("ringside", timeout=datetime.timedelta(seconds=float(os.environ.get("TIMEOUT", 60))))
rank = dist.get_rank()
forgets = "forget" in sys.argv[1:] and rank == 1
buckets = [torch.full((100_000,), float(rank)) for _ in range(8)]
works = [dist.all_reduce(bucket, async_op=True) for bucket in (buckets[:-1] if forgets else buckets)]
if forgets:
    time.sleep(3600)  # it computes on
for work in works:
    work.wait()
print(f"rank {rank}: {sum(float(bucket[0]) for bucket in buckets):.0f}")
dist.destroy_process_group()
