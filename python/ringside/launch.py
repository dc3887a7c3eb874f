"""Starts a training script on this machine, by torchrun's rules, and says why it hangs when it hangs.

    python3 -m ringside.launch -n 4 --fault skip:rank=3,call=12 --timeout 10 train.py --epochs 1

`ringside run train.py -n 4` does the same. Each rank is a process with RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and
MASTER_PORT set. Exit status: that of the script; 1 when it hung, with the verdict; 2 for bad usage; 3 when a rank failed.
"""

import argparse
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

FINE, FINDING, USAGE, FAILED = 0, 1, 2, 3
DUMP_PREFIX = "nccl_trace_rank_"


def arguments_of(words):
    parser = argparse.ArgumentParser(
        prog="ringside run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-n", "--ranks", type=int, default=2, help="processes to start (default 2)")
    parser.add_argument(
        "--fault", action="append", default=[], help="what goes wrong, as `ringside bench --fault` takes it; calls count from 0"
    )
    parser.add_argument("--fault-plan", help="a file of faults (docs/reference/planned-faults.md)")
    parser.add_argument("--timeout", type=float, help="seconds after which a call fails (default: as the script says)")
    parser.add_argument("--grace", type=float, default=2, help="seconds for the other ranks to end after one failed (2)")
    parser.add_argument("-o", "--output", help="keep dumps and logs in this new or empty folder")
    parser.add_argument("--trace", action="store_true", help="record every step in run.rtrace of the folder")
    parser.add_argument("script", help="the training script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    asked = parser.parse_args(words)
    if not 1 <= asked.ranks <= 512:
        parser.error(f"-n {asked.ranks}: give 1 to 512 processes")
    if asked.timeout is not None and not 0 < asked.timeout <= 86400:
        parser.error(f"--timeout {asked.timeout}: give seconds, up to a day")
    if asked.fault and asked.fault_plan:
        parser.error("--fault with --fault-plan: write all faults into the plan")
    if importlib.util.find_spec("torch") is None:
        parser.error(f"{sys.executable} has no PyTorch; install it, or start another Python")
    if not os.path.isfile(asked.script):
        parser.error(f"{asked.script}: no such script")
    if asked.output and os.path.isdir(asked.output) and os.listdir(asked.output):
        parser.error(f"-o {asked.output}: the folder is not empty")
    return asked


class HeldPort:
    """A TCP port that the kernel gives to no other socket while it is held, at any address of this machine, neither as any free port
    nor for a connection.

    A listener that asks for it by number and sets SO_REUSEADDR, as PyTorch's TCPStore does, gets it all the same. It is held at all
    addresses because that store listens at all: a port held at 127.0.0.1 alone is still free to a listener at the address of a NIC.
    """

    def __init__(self):
        try:
            self._socket = socket.socket(socket.AF_INET6)
            self._bind("::")
        except OSError:  # no IPv6 here
            self._socket = socket.socket()
            self._bind("0.0.0.0")
        self.number = self._socket.getsockname()[1]

    def _bind(self, address):
        if self._socket.family == socket.AF_INET6:
            self._socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((address, 0))

    def __enter__(self):
        return self.number

    def __exit__(self, *_):
        self._socket.close()


class Rank:
    """One process of the job. What it writes to stderr also goes to its log."""

    def __init__(self, number, asked, folder, port):
        environment = dict(os.environ)
        environment.update(
            RANK=str(number),
            LOCAL_RANK=str(number),
            GROUP_RANK="0",
            WORLD_SIZE=str(asked.ranks),
            LOCAL_WORLD_SIZE=str(asked.ranks),
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=str(port),
            TORCH_FR_DUMP_TEMP_FILE=os.path.join(folder, DUMP_PREFIX),
        )
        environment.setdefault("OMP_NUM_THREADS", "1")
        # PyTorch 2.4 and later take libuv for their store, even where they are built without it, as Debian's are.
        environment.setdefault("USE_LIBUV", "0")
        if asked.timeout:
            environment["RINGSIDE_OP_TIMEOUT"] = str(asked.timeout)
        if asked.fault or asked.fault_plan:
            environment["RINGSIDE_FAULTS"] = asked.fault_plan or ";".join(asked.fault)
        if asked.trace:
            environment["RINGSIDE_TRACE"] = os.path.join(folder, "run.rtrace")
        self.number = number
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ringside.script", asked.script, *asked.arguments],
            env=environment,
            stderr=subprocess.PIPE,
        )
        self.log = open(os.path.join(folder, f"rank_{number}.log"), "wb")
        self.reader = threading.Thread(target=self._copy, daemon=True)
        self.reader.start()

    def _copy(self):
        for line in self.process.stderr:
            self.log.write(line)
            self.log.flush()
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()

    def close(self):
        self.reader.join(timeout=1)
        self.log.close()


def run_ranks(asked, folder, port):
    """Runs the job. Returns the exit status of each rank; negative: the signal that ended it."""
    ranks = [Rank(number, asked, folder, port) for number in range(asked.ranks)]
    end = None
    try:
        while any(rank.process.poll() is None for rank in ranks):
            if end is None and any(rank.process.returncode not in (None, 0) for rank in ranks):
                end = time.monotonic() + asked.grace
            if end is not None and time.monotonic() > end:
                break
            time.sleep(0.05)
        statuses = [rank.process.poll() for rank in ranks]
    finally:
        for rank in ranks:
            if rank.process.poll() is None:
                rank.process.kill()
            rank.process.wait()
            rank.close()
    return statuses


def statuses_text(statuses):
    parts = []
    for number, status in enumerate(statuses):
        if status is None:
            parts.append(f"rank {number} did not end and was killed")
        elif status < 0:
            parts.append(f"rank {number} was killed by {signal.Signals(-status).name}")
        elif status > 0:
            parts.append(f"rank {number} ended with status {status}")
    return "; ".join(parts)


def print_verdict(folder):
    program = os.environ.get("RINGSIDE_PROGRAM") or shutil.which("ringside")
    if program is None:
        print(f"note: no program `ringside` in PATH: run `ringside hang {folder}` where there is one", file=sys.stderr)
        return FINDING
    sys.stdout.flush()
    return subprocess.run([program, "hang", folder], check=False).returncode


def main(words=None):
    asked = arguments_of(sys.argv[1:] if words is None else words)
    if asked.output:
        os.makedirs(asked.output, exist_ok=True)
    folder = os.path.abspath(asked.output) if asked.output else tempfile.mkdtemp(prefix="ringside-run-")
    with HeldPort() as port:
        statuses = run_ranks(asked, folder, port)
    has_dumps = any(Path(folder).glob(DUMP_PREFIX + "*"))
    keeps = bool(asked.output)
    status = FINE
    if any(one != 0 for one in statuses):
        print(f"ringside run: {statuses_text(statuses)}", file=sys.stderr)
        status = FAILED
        if has_dumps:
            keeps = True
            print(f"ringside run: dumps and logs are in {folder}", file=sys.stderr)
            status = FINDING if print_verdict(folder) == FINDING else FAILED
    if not keeps:
        shutil.rmtree(folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
