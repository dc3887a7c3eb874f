#!/usr/bin/python3
"""Messages that were sent and never received are printed when all ranks have left, and named from the dumps; others never are.

    messages_left.py RINGSIDE

All of them are small enough for the engine to buffer: the sends return. Over gloo they hang.
"""

import datetime
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from forked_ranks import HeldPort, dist, end, tcp_store, torch

FLOATS = 2000


def after(rank, first):
    """Returns when rank `first` has called this: a receiver that left before would be noticed by the send."""
    store = dist.distributed_c10d._get_default_store()
    if rank == first:
        store.set("done", "")
    store.wait(["done"])


def omits_last_recv(rank, _group):
    for step in range(5):
        if rank == 0:
            dist.send(torch.ones(FLOATS), 2)
        elif rank == 2 and step < 4:
            dist.recv(torch.ones(FLOATS), 0)
    after(rank, 0)


def omits_two_in_sub_group(rank, group):
    for step in range(3):
        if rank == 2:
            dist.send(torch.ones(FLOATS), 1, group=group, tag=7)
        elif rank == 1 and step < 1:
            dist.recv(torch.ones(FLOATS), 2, group=group, tag=7)
    after(rank, 2)


def receives_late(rank, _group):
    if rank == 0:
        for work in [dist.isend(torch.ones(FLOATS), 2) for _ in range(4)]:
            work.wait()
    elif rank == 2:
        dist.recv(torch.ones(FLOATS), 0)
        time.sleep(1.5)  # rank 0 has left, and waits for its end
        for _ in range(3):
            dist.recv(torch.ones(FLOATS), 0)


def receives_from_any(rank, _group):
    for _ in range(3):
        if rank == 0:
            for _ in range(2):
                dist.recv(torch.ones(FLOATS))
        else:
            dist.send(torch.ones(FLOATS), 0)
    time.sleep(0.3 * rank)


def leaves_by_exception(rank, _group):
    if rank == 0:
        for _ in range(3):
            dist.send(torch.ones(FLOATS), 2)
    elif rank == 2:
        dist.recv(torch.ones(FLOATS), 0)
    after(rank, 0)
    if rank == 2:
        raise RuntimeError("its own mistake")


def is_never_waited_for(rank, _group):
    if rank == 0:
        dist.isend(torch.ones(FLOATS), 2)
    else:
        time.sleep(2)  # rank 0 leaves first


# The body of the script, the texts that the ranks print (all of them, and no other warning), the verdict.
CASES = {
    omits_last_recv: ([r"rank 2 never received message 5 of rank 0 \(8000 bytes, sent at .*messages_left.py:\d+, group default_pg\)"],
                      ("p2p_unmatched", [2])),
    omits_two_in_sub_group: ([r"rank 1 \(rank 0 of group \w+\) never received message 2 of rank 2 \(rank 1 of group \w+\) "
                              r"\(8000 bytes, tag 7, sent at",
                              r"rank 1 \(rank 0 of group \w+\) never received message 3 of rank 2"],
                             ("p2p_unmatched", [1])),
    receives_late: ([], None),
    receives_from_any: ([], None),
    leaves_by_exception: ([], None),
    is_never_waited_for: ([r"rank 2 had not received message 1 of rank 0 .* when rank 0 left the process group"], None),
}  # fmt: skip


def run(case, rank, port, folder):
    log = os.open(os.path.join(folder, f"rank_{rank}.log"), os.O_CREAT | os.O_WRONLY)
    os.dup2(log, 2)
    os.environ.update(RANK=str(rank), WORLD_SIZE="3", TORCH_FR_DUMP_TEMP_FILE=os.path.join(folder, "nccl_trace_rank_"))
    status = 1
    try:
        store = tcp_store(port, rank, 3)
        dist.init_process_group("ringside", store=store, rank=rank, world_size=3, timeout=datetime.timedelta(seconds=20))
        group = dist.new_group([1, 2])
        case(rank, group)
        dist.destroy_process_group()
        status = 0
    except RuntimeError as error:
        print(error, file=sys.stderr, flush=True)
        sys.last_type, sys.last_value = type(error), error
    end(status)


def main():
    program, *names = sys.argv[1:]
    for case, (wanted, verdict) in CASES.items():
        if names and case.__name__ not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            held = HeldPort()
            children = []
            for rank in range(3):
                child = os.fork()
                if child == 0:
                    run(case, rank, held.number, folder)
                children.append(child)
            for child in children:
                os.waitpid(child, 0)
            text = "".join(path.read_text() for path in sorted(Path(folder).glob("rank_*.log")))
            warnings = [line for line in text.splitlines() if line.startswith("ringside: ")]
            print(f"{case.__name__}: {len(warnings)} warnings", flush=True)
            absent = [one for one in wanted if not any(re.search(one, line) for line in warnings)]
            if absent or len(warnings) != len(wanted):
                sys.exit(f"{case.__name__}: wanted {wanted}, got:\n{text}")
            if verdict:
                answer = subprocess.run([program, "hang", folder], capture_output=True, text=True, check=False)
                kind, ranks = verdict
                begin = f"{kind}: rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"
                if answer.returncode != 1 or not answer.stdout.startswith(begin):
                    sys.exit(f"{case.__name__}: wanted {begin!r}, got status {answer.returncode}:\n{answer.stdout}{answer.stderr}")


if __name__ == "__main__":
    main()
