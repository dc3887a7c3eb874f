#!/usr/bin/env python3
"""Hangs a real PyTorch job over gloo, and asks it from outside by the process id of its launcher alone.

usage: torch_hang.py RINGSIDE [--python PYTHON] [--root FOLDER] [--faults data,stop,receive] [--ranks N]

The faults are of rank 2, before its seventh step: `data` (its data loader returns no batch), `stop` (SIGSTOP), `receive` (it waits for
a message that no rank sends). `ringside attach --pid LAUNCHER` must name the rank; after `data` and `stop` the job goes on and ends as
it would have. --root: a folder with another system, in which the job runs (chroot). Exit status 77: there is no PyTorch, or no gdb.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

STEPS = 20
FAULTY_STEP = 7
FAULTY_RANK = 2
SKIPPED = 77


def load_batch(folder):
    """The data loader that returns nothing until the test lets it."""
    while not os.path.exists(f"{folder}/go"):
        time.sleep(0.2)


def train(fault, folder):
    """One rank of the job."""
    import datetime

    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=300))
    rank = dist.get_rank()
    numbers = torch.ones(1000)
    for step in range(STEPS):
        if step == FAULTY_STEP and rank == FAULTY_RANK:
            open(f"{folder}/reached", "w", encoding="ascii").close()
            if fault == "data":
                load_batch(folder)
            elif fault == "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            else:
                dist.recv(numbers, src=0)
        dist.all_reduce(numbers)
    dist.barrier()


def run_rank(fault, folder):
    """A rank with the control plane of PyTorch 2.4 and later, where its launcher gives it a socket."""
    if "TORCH_WORKER_SERVER_SOCKET" not in os.environ:
        return train(fault, folder)
    from torch.distributed.elastic.control_plane import worker_main

    with worker_main():
        return train(fault, folder)


def launch(fault, folder, ranks, port, has_plane):
    """Starts the ranks as torchrun does: with variables."""
    started = []
    for rank in range(ranks):
        environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
                           LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), OMP_NUM_THREADS="1")
        if has_plane:
            environment["TORCH_WORKER_SERVER_SOCKET"] = f"{folder}/plane{rank}.sock"
        started.append(subprocess.Popen([sys.executable, os.path.abspath(__file__), "rank", fault, folder], env=environment))
    return max(abs(one.wait()) for one in started)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def children_of(pid):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as stat:
                    words = stat.read().rsplit(") ", 1)[1].split()
            except OSError:
                continue
            if int(words[1]) == pid:
                found.append((int(name), words[0]))
    return found


class Job:
    """The job, and the way to its system."""

    def __init__(self, arguments, fault):
        self.root = arguments.root.rstrip("/")
        self.folder = tempfile.mkdtemp(prefix="torch-hang-", dir=self.root + "/tmp")
        inside = self.folder[len(self.root):]
        shutil.copy(os.path.abspath(__file__), self.folder + "/job.py")
        words = [arguments.python, inside + "/job.py", "launch", fault, inside, str(arguments.ranks), str(free_port()),
                 "plane" if has_control_plane(arguments) else ""]
        self.launcher = subprocess.Popen(within(self.root, words))

    def wait_until_it_hangs(self):
        last = time.monotonic() + 400
        while not os.path.exists(self.folder + "/reached"):
            if time.monotonic() > last or self.launcher.poll() is not None:
                raise RuntimeError("the job did not reach its fault")
            time.sleep(0.2)
        time.sleep(15)  # longer than the usual pause between two calls

    def go_on(self, fault):
        open(self.folder + "/go", "w", encoding="ascii").close()
        if fault == "stop":
            for pid, state in children_of(self.launcher.pid):
                if state == "T":
                    os.kill(pid, signal.SIGCONT)
        return self.launcher.wait(timeout=120)

    def end(self):
        for pid, _ in children_of(self.launcher.pid):
            os.kill(pid, signal.SIGKILL)
        if self.launcher.poll() is None:
            self.launcher.kill()
        self.launcher.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def within(root, words):
    if not root:
        return words
    libraries = "/usr/lib/x86_64-linux-gnu/blas:/usr/lib/x86_64-linux-gnu/lapack"
    return ["chroot", root, "/usr/bin/env", f"LD_LIBRARY_PATH={libraries}", "USE_LIBUV=0", *words]


def try_python(arguments, program):
    return subprocess.run(within(arguments.root, [arguments.python, "-c", program]), capture_output=True, text=True, check=False)


def has_control_plane(arguments):
    return try_python(arguments, "import torch.distributed.elastic.control_plane").returncode == 0


def check(arguments, fault):
    """returns  what is wrong; empty: nothing"""
    job = Job(arguments, fault)
    try:
        job.wait_until_it_hangs()
        began = time.monotonic()
        run = subprocess.run([arguments.ringside, "attach", "--pid", str(job.launcher.pid), "--json"],
                             capture_output=True, text=True, timeout=150, check=False)
        took = time.monotonic() - began
        try:
            answer = json.loads(run.stdout)
        except ValueError:
            return f"no answer: {run.stderr[-400:]}"
        verdict = answer["hang"]["verdict"]
        said = [f"{one['what']} {one['where']}: {one['said']}" for one in answer["sources"]]
        print(f"{fault}: {verdict['kind']} {verdict['culprits']} ({verdict['confidence']}) in {took:.1f} s: {verdict['why']}\n  " +
              "\n  ".join(said), flush=True)
        if verdict["culprits"] != [FAULTY_RANK] or run.returncode != 1:
            return f"{verdict['kind']} {verdict['culprits']}, exit status {run.returncode}"
        if fault == "receive":
            return ""
        ended = job.go_on(fault)
        return f"the job ended with status {ended}" if ended != 0 else ""
    finally:
        job.end()


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "rank":
        return run_rank(sys.argv[2], sys.argv[3])
    if len(sys.argv) > 2 and sys.argv[1] == "launch":
        return launch(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), sys.argv[6] == "plane")
    parser = argparse.ArgumentParser()
    parser.add_argument("ringside")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--root", default="")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--faults", default="data,stop,receive")
    arguments = parser.parse_args()
    found = try_python(arguments, "import torch, torch.distributed as d; assert d.is_gloo_available(); print(torch.__version__)")
    if found.returncode != 0 or (shutil.which("gdb") is None and shutil.which("py-spy") is None):
        print("skipped: needs PyTorch with gloo (python3-torch), and gdb or py-spy")
        return SKIPPED
    print(f"PyTorch {found.stdout.strip()}, control plane: {has_control_plane(arguments)}", flush=True)
    failures = 0
    for fault in arguments.faults.split(","):
        wrong = check(arguments, fault)
        if wrong:
            failures += 1
            print(f"{fault}: WRONG: {wrong}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
