#!/usr/bin/python3
"""`ringside run SCRIPT.py`: starts ranks, prints the verdict of a hang, keeps files, and refuses what it cannot do.

    run_script.py RINGSIDE
"""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from ringside.launch import HeldPort

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "pytorch"


def run(program, *words):
    return subprocess.run(
        [program, "run", *words, "--python", sys.executable], capture_output=True, text=True, check=False, timeout=300
    )


def check(answer, status, *texts):
    shown = answer.stdout + answer.stderr
    for text in texts:
        if text not in shown:
            sys.exit(f"{answer.args}: no {text!r} in:\n{shown}")
    if answer.returncode != status:
        sys.exit(f"{answer.args}: status {answer.returncode}, not {status}:\n{shown}")


def listens(address, port, shares):
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, shares)
        try:
            one.bind((address, port))
            one.listen()
        except OSError:
            return False
        return True


def check_held_port():
    with HeldPort() as port:
        taken = any(listens(address, port, 0) for address in ("", "127.0.0.1", "127.0.0.2"))
        if taken or not listens("", port, 1):
            sys.exit(f"port {port} is not kept for those who share it")


def written(top, name, text):
    path = os.path.join(top, name)
    Path(path).write_text("import os, sys, torch, torch.distributed as dist\n" + text)
    return path


def check_output(program, top):
    """Each line has its rank, and none is lost: neither the last one without an end, nor those before os._exit()."""
    script = written(
        top,
        "output.py",
        """
rank = os.environ["RANK"]
for line in range(2000):
    print("line", line, "of", rank)
print("error of", rank, file=sys.stderr)
sys.stdout.write("last of " + rank)
os._exit(0)
""",
    )
    answer = run(program, script, "-n", "3")
    check(answer, 0)
    for rank in range(3):
        begin = f"[rank {rank}] "
        own = [line for line in answer.stdout.splitlines() if line.startswith(begin)]
        wanted = [f"{begin}line {line} of {rank}" for line in range(2000)] + [f"{begin}last of {rank}"]
        if own != wanted or f"{begin}error of {rank}\n" not in answer.stderr:
            sys.exit(f"rank {rank} wrote {len(own)} lines: {own[-3:]}; {answer.stderr}")


def check_early_end(program, top):
    """A rank that leaves with status 0 is named with its status, and not as one that the kernel has killed."""
    script = written(
        top,
        "early.py",
        """
dist.init_process_group("gloo")
dist.all_reduce(torch.ones(10))
if dist.get_rank() == 2:
    os._exit(0)
dist.all_reduce(torch.ones(10))
""",
    )
    answer = run(program, script, "-n", "3", "--timeout", "4")
    check(
        answer, 1, "rank 2 ended with exit status 0", "ranks 0, 1 ended with exit status 1", "dead_rank: rank 2",
        "Rank 2 ended with exit status 0", "Find where the program of rank 2 ends",
    )  # fmt: skip
    if "oom" in answer.stdout.lower():
        sys.exit(f"a rank that left is said to be killed:\n{answer.stdout}")


def check_lasting_rank(program, top):
    """A rank that fails ends the job, even if the ranks before it go on."""
    script = written(top, "lasting.py", """
import time
if os.environ["RANK"] == "0":
    time.sleep(600)
sys.exit(5)
""")
    check(run(program, script, "-n", "2"), 3, "rank 0 did not end and was killed", "rank 1 ended with exit status 5")


def check_sub_group(program, top):
    """Errors in a group name its ranks as the job does, and calls as the verdict does."""
    script = written(
        top,
        "sub.py",
        """
dist.init_process_group("gloo")
rank = dist.get_rank()
group = dist.new_group([1, 3])
if rank in (1, 3):
    dist.all_reduce(torch.ones(5), group=group)
    dist.all_reduce(torch.ones(6 if rank == 3 else 5), group=group)
""",
    )
    answer = run(program, script, "-n", "4", "--timeout", "4")
    check(
        answer, 1, "as call 2 of this communicator rank 1 (rank 0 of group ", "called all_reduce of 5 float sum, rank 3 (rank 1 of group ",
        "shape_mismatch", "at all_reduce 2 of group ",
    )  # fmt: skip


def main():
    check_held_port()
    program = sys.argv[1]
    script = str(EXAMPLES / "all_reduce.py")
    check(run(program, script, "-n", "2"), 0, "[rank 0] rank 0: 0.500\n", "[rank 1] rank 1: 0.500\n")
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "hung")
        hung = run(program, script, "-n", "2", "--fault", "skip:rank=1,call=12", "--timeout", "2", "-o", folder)
        check(hung, 1, "missing_rank: rank 1", "all_reduce.py:15")
        left = sorted(os.listdir(folder))
        wanted = ["nccl_trace_rank_0", "nccl_trace_rank_1", "rank_0.log", "rank_1.log", "run.rtrace"]
        if left != wanted:
            sys.exit(f"{folder} holds {left}, not {wanted}")
        check(run(program, script, "-o", folder), 2, "not empty")
        check_output(program, top)
        check_early_end(program, top)
        check_lasting_rank(program, top)
        check_sub_group(program, top)
    check(run(program, script, "--fault", "skp:rank=1"), 2, "skip")
    check(run(program, "absent.py"), 2, "absent.py")
    check(run(program, script, "-n", "0"), 2)
    print("ringside run: a script that ends, scripts that hang, their output, and bad usage")


if __name__ == "__main__":
    main()
