#!/usr/bin/env python3
"""Hangs a real PyTorch job over gloo, and asks it from outside by the process id of its launcher alone.

usage: torch_hang.py RINGSIDE [--python PYTHON] [--root FOLDER]... [--faults data,stop,receive] [--ranks N]

The faults are of rank 2, before its seventh step: `data` (its data loader returns no batch), `stop` (SIGSTOP), `receive` (it waits for
a message that no rank sends). `ringside attach --pid LAUNCHER` is asked twice: as soon as the fault is reached, when it may answer that
this is no hang yet but must name no other rank, and 15 s later, when it must name the rank. After `data` and `stop` the job goes on and
ends as it would have.

--root: a folder with another system, in which the job runs (chroot, which needs root); ringside runs outside of it. Default: the
folders in RINGSIDE_TORCH_ROOTS, with `:` between them, and this system. Exit status 77: none of them has PyTorch with gloo, or this
system needs gdb or py-spy because its PyTorch has no control plane.
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
from pathlib import Path

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
    """The job, and the root folder of its system (empty: this one)."""

    def __init__(self, arguments, root, fault):
        self.root = root
        sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
        from ringside.launch import HeldPort  # the ranks are other copies of this file, without the project beside them

        self.port = HeldPort()
        self.folder = tempfile.mkdtemp(prefix="torch-hang-", dir=self.root + "/tmp")
        inside = self.folder[len(self.root):]
        shutil.copy(os.path.abspath(__file__), self.folder + "/job.py")
        words = [arguments.python, inside + "/job.py", "launch", fault, inside, str(arguments.ranks), str(self.port.number),
                 "plane" if has_control_plane(arguments, root) else ""]
        self.launcher = subprocess.Popen(within(self.root, words))

    def wait_until_it_hangs(self):
        last = time.monotonic() + 400
        while not os.path.exists(self.folder + "/reached"):
            if time.monotonic() > last or self.launcher.poll() is not None:
                raise RuntimeError("the job did not reach its fault")
            time.sleep(0.2)

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


def try_python(arguments, root, program):
    return subprocess.run(within(root, [arguments.python, "-c", program]), capture_output=True, text=True, check=False)


def has_control_plane(arguments, root):
    return try_python(arguments, root, "import torch.distributed.elastic.control_plane").returncode == 0


def ask(arguments, job):
    """returns  the answer, and the exit status"""
    began = time.monotonic()
    run = subprocess.run([arguments.ringside, "attach", "--pid", str(job.launcher.pid), "--json"],
                         capture_output=True, text=True, timeout=150, check=False)
    took = time.monotonic() - began
    try:
        answer = json.loads(run.stdout)
    except ValueError as broken:
        raise RuntimeError(f"no answer: {run.stderr[-400:]}") from broken
    verdict = answer["hang"]["verdict"]
    said = [f"{one['what']} {one['where']}: {one['said']}" for one in answer["sources"]]
    print(f"  {verdict['kind']} {verdict['culprits']} ({verdict['confidence']}), the job is {answer['state']}, in {took:.1f} s: "
          f"{verdict['why']}\n    " + "\n    ".join(said), flush=True)
    return verdict, run.returncode


def check(arguments, root, fault):
    """returns  what is wrong; empty: nothing"""
    job = Job(arguments, root, fault)
    try:
        job.wait_until_it_hangs()
        print(f"{fault}, at once:", flush=True)
        early, _ = ask(arguments, job)
        if early["culprits"] not in ([], [FAULTY_RANK]):
            return f"asked at once: {early['kind']} {early['culprits']}"
        time.sleep(15)  # longer than the usual pause between two calls
        print(f"{fault}, 15 s later:", flush=True)
        verdict, status = ask(arguments, job)
        if verdict["culprits"] != [FAULTY_RANK] or status != 1:
            return f"{verdict['kind']} {verdict['culprits']}, exit status {status}"
        if fault == "receive":
            return ""
        ended = job.go_on(fault)
        return f"the job ended with status {ended}" if ended != 0 else ""
    except RuntimeError as error:
        return str(error)
    finally:
        job.end()


def check_system(arguments, root):
    """returns  the number of faults that were judged wrongly; None: the system cannot run the job"""
    name = root or "this system"
    found = try_python(arguments, root,
                       "import torch, torch.distributed as d; assert d.is_gloo_available(); print(torch.__version__)")
    if found.returncode != 0:
        print(f"{name}: skipped: needs PyTorch with gloo (python3-torch)")
        return None
    has_plane = has_control_plane(arguments, root)
    if not has_plane and shutil.which("gdb") is None and shutil.which("py-spy") is None:
        print(f"{name}: skipped: needs gdb or py-spy, because this PyTorch has no control plane")
        return None
    print(f"{name}: PyTorch {found.stdout.strip()}, {'with' if has_plane else 'without'} a control plane", flush=True)
    failures = 0
    for fault in arguments.faults.split(","):
        wrong = check(arguments, root, fault)
        if wrong:
            failures += 1
            print(f"{fault}: WRONG: {wrong}", flush=True)
    return failures


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "rank":
        return run_rank(sys.argv[2], sys.argv[3])
    if len(sys.argv) > 2 and sys.argv[1] == "launch":
        return launch(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), sys.argv[6] == "plane")
    parser = argparse.ArgumentParser()
    parser.add_argument("ringside")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--root", action="append")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--faults", default="data,stop,receive")
    arguments = parser.parse_args()
    roots = arguments.root or [*filter(None, os.environ.get("RINGSIDE_TORCH_ROOTS", "").split(":")), ""]
    failures = [check_system(arguments, root.rstrip("/")) for root in roots]
    if all(one is None for one in failures):
        return SKIPPED
    return 1 if any(failures) else 0


if __name__ == "__main__":
    sys.exit(main())
