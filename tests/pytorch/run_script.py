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


def main():
    check_held_port()
    program = sys.argv[1]
    script = str(EXAMPLES / "all_reduce.py")
    check(run(program, script, "-n", "2"), 0, "rank 0: 0.500", "rank 1: 0.500")
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "hung")
        hung = run(program, script, "-n", "2", "--fault", "skip:rank=1,call=12", "--timeout", "2", "-o", folder)
        check(hung, 1, "missing_rank: rank 1", "all_reduce.py:15")
        left = sorted(os.listdir(folder))
        wanted = ["nccl_trace_rank_0", "nccl_trace_rank_1", "rank_0.log", "rank_1.log", "run.rtrace"]
        if left != wanted:
            sys.exit(f"{folder} holds {left}, not {wanted}")
        check(run(program, script, "-o", folder), 2, "not empty")
    check(run(program, script, "--fault", "skp:rank=1"), 2, "skip")
    check(run(program, "absent.py"), 2, "absent.py")
    check(run(program, script, "-n", "0"), 2)
    print("ringside run: a script that ends, one that hangs, and bad usage")


if __name__ == "__main__":
    main()
