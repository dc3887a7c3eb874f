"""Starts a training script on this machine, by torchrun's rules, and says why it hangs when it hangs.

    python3 -m ringside.launch -n 4 --fault skip:rank=3,call=12 --timeout 10 train.py --epochs 1

`ringside run train.py -n 4` does the same. Each rank is a process with RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and
MASTER_PORT set. Each line that a rank writes is printed as `[rank 2] line`; the ranks write without a buffer of Python's.
Exit status: 0 when all ranks ended with 0 and left no dump; 1 when the job hung, or left a message that no rank received, with the
verdict; 2 for bad usage; 3 when a rank failed otherwise.
"""

import argparse
import importlib.util
import os
import select
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
STATUS_LOG = "ringside_run.log"  # read by `ringside hang`, as the ranks' logs are


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


class Output:
    """Where the lines of all ranks are printed, each as a whole."""

    def __init__(self, stream):
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, line):
        with self._lock:
            try:
                self._stream.write(line)
                self._stream.flush()
            except OSError:
                pass  # the reader has ended; the ranks go on


class Reader(threading.Thread):
    """Copies what a rank writes to one of its streams, until its process has ended and all of its output is read."""

    AFTER_END_S = 1  # without output: other processes that the rank has started may hold its stream

    def __init__(self, rank, stream, output, log=None):
        super().__init__(daemon=True)
        self._prefix = f"[rank {rank.number}] ".encode()
        self._process = rank.process
        self._stream = stream
        self._output = output
        self._log = log
        self.start()

    def run(self):
        rest = b""
        ended = None
        while True:
            if select.select([self._stream], [], [], 0.1)[0]:
                data = os.read(self._stream.fileno(), 1 << 16)
                if not data:
                    break
                ended = None
                if self._log:
                    self._log.write(data)
                    self._log.flush()
                *lines, rest = (rest + data).split(b"\n")
                self._print(lines)
            elif self._process.poll() is not None:
                ended = ended or time.monotonic()
                if time.monotonic() > ended + self.AFTER_END_S:
                    break
        if rest:
            self._print([rest])
        if self._log:
            self._log.close()

    def _print(self, lines):
        if lines:
            self._output.write(b"".join(self._prefix + line + b"\n" for line in lines))


class Rank:
    """One process of the job. What it writes to stderr also goes to its log."""

    def __init__(self, number, asked, folder, port, outputs):
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
        # Lines appear when they are written, and a rank that ends without exit() loses none.
        environment.setdefault("PYTHONUNBUFFERED", "1")
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
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        log = open(os.path.join(folder, f"rank_{number}.log"), "wb")  # noqa: SIM115  (its reader closes it)
        self._readers = [
            Reader(self, self.process.stdout, outputs[0]),
            Reader(self, self.process.stderr, outputs[1], log),
        ]

    def close(self):
        for reader in self._readers:
            reader.join()


def run_ranks(asked, folder, port):
    """Runs the job. Returns the exit status of each rank; negative: the signal that ended it; None: it was killed here."""
    outputs = [Output(sys.stdout.buffer), Output(sys.stderr.buffer)]
    ranks = [Rank(number, asked, folder, port, outputs) for number in range(asked.ranks)]
    end = None
    try:
        while None in (statuses := [rank.process.poll() for rank in ranks]):
            if end is None and any(statuses):
                end = time.monotonic() + asked.grace
            if end is not None and time.monotonic() > end:
                break
            time.sleep(0.05)
    finally:
        for rank in ranks:
            if rank.process.poll() is None:
                rank.process.kill()
            rank.process.wait()
            rank.close()
    return statuses


def status_text(status):
    if status is None:
        return "did not end and was killed"
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"was killed by signal {-status} ({signal.Signals(-status).name})"
    except ValueError:  # a real-time signal
        return f"was killed by signal {-status}"


def statuses_text(statuses):
    """What became of the ranks: `rank 2 ended with exit status 0; ranks 0, 1 ended with exit status 1`."""
    ranks = {}
    for number, status in enumerate(statuses):
        ranks.setdefault(status_text(status), []).append(number)
    return "; ".join(
        f"rank{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))} {text}" for text, numbers in ranks.items()
    )


def write_statuses(folder, statuses):
    """Logs the ranks that ended by themselves without a dump: their end is what others wait for."""
    lines = [
        f"ringside run: rank {number} {status_text(status)} without a dump\n"
        for number, status in enumerate(statuses)
        if status is not None and not os.path.exists(os.path.join(folder, f"{DUMP_PREFIX}{number}"))
    ]
    if lines:
        Path(folder, STATUS_LOG).write_text("".join(lines))


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
    has_failed = any(one != 0 for one in statuses)
    if not has_failed and not has_dumps:
        status = FINE
    else:
        if has_failed:
            print(f"ringside run: {statuses_text(statuses)}", file=sys.stderr)
        else:
            print("ringside run: all ranks ended with exit status 0, but left dumps", file=sys.stderr)
        status = FAILED if has_failed else FINE
        if has_dumps:
            keeps = True
            if has_failed:
                write_statuses(folder, statuses)
            print(f"ringside run: dumps and logs are in {folder}", file=sys.stderr)
            status = FINDING if print_verdict(folder) == FINDING else status
    if not keeps:
        shutil.rmtree(folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
