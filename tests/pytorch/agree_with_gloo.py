#!/usr/bin/python3
"""Makes generated calls over ringside and over gloo and compares the results: equal to the last bit.

    agree_with_gloo.py [--calls 3000] [--seed 1] [--only WORLD_SIZE]

Each world size gets a third of the calls: collective x type x reduction x root x size x layout, sync and async. Where gloo of
this PyTorch lacks a call, its result is composed of calls that it has. Values are small integers, so sums are exact.
"""

import argparse
import os
import random
import sys
import tempfile
import warnings
from datetime import timedelta

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
except ImportError:
    sys.exit(77)

WORLD_SIZES = (2, 3, 4)
TYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16,
    torch.int8, torch.uint8, torch.int32, torch.int64, torch.bool,
]  # fmt: skip
MOVED_TYPES = [*TYPES, torch.int16, torch.complex64]
OPS = {
    "SUM": dist.ReduceOp.SUM,
    "AVG": dist.ReduceOp.AVG,
    "PRODUCT": dist.ReduceOp.PRODUCT,
    "MIN": dist.ReduceOp.MIN,
    "MAX": dist.ReduceOp.MAX,
}
COLLECTIVES = [
    "all_reduce", "all_reduce_coalesced", "broadcast", "reduce", "all_gather", "all_gather_uneven", "all_gather_into_tensor",
    "gather", "scatter", "reduce_scatter", "reduce_scatter_tensor", "all_to_all", "all_to_all_single",
    "all_to_all_single_split", "send_recv", "recv_any", "batch_isend_irecv", "barrier", "all_gather_object",
]  # fmt: skip
REDUCING = {"all_reduce", "all_reduce_coalesced", "reduce", "reduce_scatter", "reduce_scatter_tensor"}


class Case:
    """A call: drawn alike on every rank."""

    def __init__(self, number, seed, world):
        draw = random.Random(f"{seed}/{world}/{number}")
        self.number = number
        self.world = world
        self.collective = COLLECTIVES[number % len(COLLECTIVES)]
        self.type = draw.choice(TYPES if self.collective in REDUCING else MOVED_TYPES)
        self.op = draw.choice(list(OPS))
        if self.type in (torch.bool,) and self.op == "AVG":
            self.op = "MAX"
        self.root = draw.randrange(world)
        self.rows = draw.choice([0, 1, 2, 3, 5, 17, 64, 257, 1000, 4096])
        self.columns = draw.choice([1, 1, 2, 3])
        self.is_strided = draw.random() < 0.2
        self.is_async = draw.random() < 0.3
        self.splits = [[draw.randrange(4) for _ in range(world)] for _ in range(world)]
        self.tag = draw.choice([0, 0, 0, 3])

    def __str__(self):
        return (
            f"call {self.number}: {self.collective} {self.type} {self.op} root {self.root}, "
            f"{self.rows} x {self.columns}{' strided' if self.is_strided else ''}{' async' if self.is_async else ''}, {self.world} ranks"
        )

    def tensor(self, rank, rows=None, salt=0):
        """Values that differ by rank and place. Products of 4 ranks stay exact in float16."""
        rows = self.rows if rows is None else rows
        size = rows * self.columns
        values = (torch.arange(size) * 7 + rank * 3 + salt + self.number) % (4 if self.op == "PRODUCT" else 8)
        if self.type in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int32, torch.int64):
            values = values - 2
        if self.op == "AVG":  # whole averages
            values = values * self.world
        values = values.reshape(rows, self.columns)
        values = values % 2 == 1 if self.type == torch.bool else values.to(self.type)
        if self.is_strided and rows > 1 and self.columns > 1:
            return values.t().contiguous().t()
        return values


def wait(works):
    for work in works if isinstance(works, list) else [works]:
        if work is not None:
            work.wait()


def over_ringside(case, rank, group):
    world = case.world
    op = OPS[case.op]
    mine = case.tensor(rank)
    if case.collective == "all_reduce":
        wait(dist.all_reduce(mine, op, group=group, async_op=case.is_async))
        return [mine]
    if case.collective == "all_reduce_coalesced":
        tensors = [mine, case.tensor(rank, salt=1), case.tensor(rank, rows=3, salt=2)]
        wait(dist.all_reduce_coalesced(tensors, op, group=group, async_op=case.is_async))
        return tensors
    if case.collective == "broadcast":
        wait(dist.broadcast(mine, case.root, group=group, async_op=case.is_async))
        return [mine]
    if case.collective == "reduce":
        wait(dist.reduce(mine, case.root, op, group=group, async_op=case.is_async))
        return [mine] if rank == case.root else []
    if case.collective == "all_gather":
        outputs = [torch.empty_like(mine) for _ in range(world)]
        wait(dist.all_gather(outputs, mine, group=group, async_op=case.is_async))
        return outputs
    if case.collective == "all_gather_uneven":
        inputs = [case.tensor(peer, rows=case.rows + peer) for peer in range(world)]
        outputs = [torch.empty_like(one) for one in inputs]
        wait(dist.all_gather(outputs, inputs[rank], group=group, async_op=case.is_async))
        return outputs
    if case.collective == "all_gather_into_tensor":
        output = torch.empty((world * case.rows, case.columns), dtype=case.type)
        wait(dist.all_gather_into_tensor(output, mine.contiguous(), group=group, async_op=case.is_async))
        return [output]
    if case.collective == "gather":
        outputs = [torch.empty_like(mine) for _ in range(world)] if rank == case.root else None
        wait(dist.gather(mine, outputs, case.root, group=group, async_op=case.is_async))
        return outputs or []
    if case.collective == "scatter":
        inputs = [case.tensor(case.root, salt=peer) for peer in range(world)] if rank == case.root else None
        wait(dist.scatter(mine, inputs, case.root, group=group, async_op=case.is_async))
        return [mine]
    if case.collective == "reduce_scatter":
        wait(
            dist.reduce_scatter(
                mine, [case.tensor(rank, salt=peer) for peer in range(world)], op, group=group, async_op=case.is_async
            )
        )
        return [mine]
    if case.collective == "reduce_scatter_tensor":
        output = torch.empty((case.rows, case.columns), dtype=case.type)
        inputs = torch.cat([case.tensor(rank, salt=peer) for peer in range(world)])
        wait(dist.reduce_scatter_tensor(output, inputs, op, group=group, async_op=case.is_async))
        return [output]
    if case.collective == "all_to_all":
        outputs = [torch.empty_like(mine) for _ in range(world)]
        inputs = [case.tensor(rank, salt=peer) for peer in range(world)]
        wait(dist.all_to_all(outputs, inputs, group=group, async_op=case.is_async))
        return outputs
    if case.collective == "all_to_all_single":
        inputs = torch.cat([case.tensor(rank, salt=peer) for peer in range(world)]).contiguous()
        output = torch.empty_like(inputs)
        wait(dist.all_to_all_single(output, inputs, group=group, async_op=case.is_async))
        return [output]
    if case.collective == "all_to_all_single_split":
        return [split_all_to_all(case, rank, group)]
    if case.collective == "send_recv":
        return ring_exchange(case, rank, group)
    if case.collective == "recv_any":
        return from_any(case, rank, group)
    if case.collective == "batch_isend_irecv":
        output = torch.empty_like(mine.contiguous())
        wait(
            dist.batch_isend_irecv([
                dist.P2POp(dist.isend, mine.contiguous(), (rank + 1) % world, group),
                dist.P2POp(dist.irecv, output, (rank - 1) % world, group),
            ])
        )
        return [output]
    if case.collective == "barrier":
        wait(dist.barrier(group=group, async_op=case.is_async))
        return []
    outputs = [None] * world
    dist.all_gather_object(outputs, {"rank": rank, "rows": case.rows}, group=group)
    return [torch.tensor([one["rank"], one["rows"]]) for one in outputs]


def split_all_to_all(case, rank, group):
    sizes_in = case.splits[rank]
    sizes_out = [case.splits[peer][rank] for peer in range(case.world)]
    inputs = case.tensor(rank, rows=sum(sizes_in)).contiguous()
    output = torch.empty((sum(sizes_out), case.columns), dtype=case.type)
    wait(dist.all_to_all_single(output, inputs, sizes_out, sizes_in, group=group, async_op=case.is_async))
    return output


def ring_exchange(case, rank, group):
    """Sends first, on every rank: large messages must not block the receives."""
    mine = case.tensor(rank).contiguous()
    output = torch.empty_like(mine)
    send = dist.isend(mine, (rank + 1) % case.world, group=group, tag=case.tag)
    receive = dist.irecv(output, (rank - 1) % case.world, group=group, tag=case.tag)
    wait([send, receive])
    return [output]


def from_any(case, rank, group):
    """The root gets a message of each rank, in any order. A tag of its own: a rank may be ahead, with other messages."""
    mine = case.tensor(rank).contiguous()
    if rank != case.root:
        dist.send(mine, case.root, group=group, tag=7)
        return []
    received = {}
    for _ in range(case.world - 1):
        output = torch.empty_like(mine)
        received[dist.recv(output, group=group, tag=7)] = output
    assert sorted(received) == [peer for peer in range(case.world) if peer != rank], sorted(received)
    return [received[peer] for peer in sorted(received)]


def as_bytes(flat):
    raw = flat.view(torch.int16) if flat.dtype == torch.bfloat16 else flat
    return torch.frombuffer(bytearray(raw.numpy().tobytes()), dtype=torch.uint8)


def all_of(case, rank, mine):
    """Every rank's tensor, by gloo: as bytes, which it takes whatever the type."""
    flat = mine.contiguous()
    if flat.numel() == 0:
        return [torch.empty_like(flat) for _ in range(case.world)]
    data = as_bytes(flat)
    outputs = [torch.empty_like(data) for _ in range(case.world)]
    dist.all_gather(outputs, data)
    return [torch.frombuffer(bytearray(one.numpy().tobytes()), dtype=flat.dtype).reshape(flat.shape) for one in outputs]


def reduced(case, rank, mine):
    """A reduction by gloo where it knows type and operation, else of what it gathers."""
    if case.type in (torch.bfloat16, torch.float16, torch.bool) or case.op == "AVG" or mine.numel() == 0:
        wide = torch.stack([one.to(torch.float64) for one in all_of(case, rank, mine)])
        value = {
            "SUM": lambda: wide.sum(0), "AVG": lambda: wide.sum(0) / case.world, "PRODUCT": lambda: wide.prod(0),
            "MIN": lambda: wide.amin(0), "MAX": lambda: wide.amax(0),
        }[case.op]()  # fmt: skip
        return value.to(case.type)
    value = mine.contiguous().clone()
    dist.all_reduce(value, OPS[case.op])
    return value


def over_gloo(case, rank):
    world = case.world
    if case.collective == "all_reduce":
        return [reduced(case, rank, case.tensor(rank))]
    if case.collective == "all_reduce_coalesced":
        return [
            reduced(case, rank, case.tensor(rank)),
            reduced(case, rank, case.tensor(rank, salt=1)),
            reduced(case, rank, case.tensor(rank, rows=3, salt=2)),
        ]
    if case.collective == "reduce":
        value = reduced(case, rank, case.tensor(rank))
        return [value] if rank == case.root else []
    if case.collective in ("reduce_scatter", "reduce_scatter_tensor"):
        return [[reduced(case, rank, case.tensor(rank, salt=peer)) for peer in range(world)][rank]]
    if case.collective in ("all_gather",):
        return all_of(case, rank, case.tensor(rank))
    if case.collective == "all_gather_into_tensor":
        return [torch.cat(all_of(case, rank, case.tensor(rank)))]
    if case.collective == "broadcast":
        return [all_of(case, rank, case.tensor(rank))[case.root]]
    if case.collective == "gather":
        all_tensors = all_of(case, rank, case.tensor(rank))
        return all_tensors if rank == case.root else []
    if case.collective in ("send_recv", "batch_isend_irecv"):
        return [all_of(case, rank, case.tensor(rank))[(rank - 1) % world]]
    if case.collective == "recv_any":
        tensors = all_of(case, rank, case.tensor(rank))
        return [tensors[peer] for peer in range(world) if peer != rank] if rank == case.root else []
    # What is left follows from what the ranks pass.
    if case.collective == "all_gather_uneven":
        return [case.tensor(peer, rows=case.rows + peer) for peer in range(world)]
    if case.collective == "scatter":
        return [case.tensor(case.root, salt=rank)]
    if case.collective == "all_to_all":
        return [case.tensor(peer, salt=rank) for peer in range(world)]
    if case.collective == "all_to_all_single":
        return [torch.cat([case.tensor(peer, salt=rank) for peer in range(world)])]
    if case.collective == "all_to_all_single_split":
        parts = []
        for peer in range(world):
            begin = sum(case.splits[peer][:rank])
            rows = case.tensor(peer, rows=sum(case.splits[peer]))
            parts.append(rows[begin : begin + case.splits[peer][rank]])
        return [torch.cat(parts)]
    if case.collective == "barrier":
        return []
    return [torch.tensor([peer, case.rows]) for peer in range(world)]


def run_rank(rank, world, calls, seed, folder):
    import ringside.torch  # noqa: F401

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # all_reduce_coalesced is deprecated
    store = f"file://{folder}/store{world}"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world, timeout=timedelta(seconds=60))
    group = dist.new_group(backend="ringside")
    for number in range(calls):
        case = Case(number, seed, world)
        try:
            got = over_ringside(case, rank, group)
            wanted = over_gloo(case, rank)
        except Exception as thrown:
            raise RuntimeError(f"rank {rank}: {case}: {thrown}") from thrown
        if len(got) != len(wanted) or not all(map(torch.equal, got, wanted)):
            raise RuntimeError(f"rank {rank}: {case}: ringside has {got}, gloo {wanted}")
    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    arguments = parser.parse_args()
    sizes = [arguments.only] if arguments.only else WORLD_SIZES
    with tempfile.TemporaryDirectory() as folder:
        for world in sizes:
            mp.spawn(run_rank, (world, arguments.calls // len(sizes), arguments.seed, folder), nprocs=world)
    print(f"{arguments.calls // len(sizes) * len(sizes)} calls equal gloo's")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
