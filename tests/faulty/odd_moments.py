#!/usr/bin/env python3
"""Disturbs jobs of 8 real ranks at odd moments: kills and stops ranks, babbles at their ports, holds connections open.

    tests/faulty/odd_moments.py PATH/OF/ringside [ROUNDS [SEED]]

A job that was only babbled at has to end well, with right data; one that lost a rank has to end within its time-out and a few
seconds, name a rank that it lost, itself or by its dumps, and leave no process. Status 1: one did not.
"""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

RANKS = 8
TIMEOUT_S = 2
GRACE_S = 12  # on a machine that does other things, too


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def sockets_of(pid):
    """Inodes of the process's sockets."""
    found = set()
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            try:
                match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(entry.path))
            except OSError:
                continue
            if match:
                found.add(match[1])
    except OSError:
        pass
    return found


def ports_of(pids):
    """Where these processes listen on loopback."""
    inodes = set().union(*[sockets_of(pid) for pid in pids]) if pids else set()
    ports = set()
    with open("/proc/net/tcp", encoding="ascii") as file:
        for line in file.readlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:  # LISTEN
                ports.add(int(words[1].split(":")[1], 16))
    return ports


def state_of(pid):
    """returns  as ps has it: T is stopped, Z has ended"""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "gone"


def babble(pids, rng, held):
    for port in ports_of(pids):
        try:
            stranger = socket.create_connection(("127.0.0.1", port), timeout=1)
            stranger.setblocking(False)
            stranger.send(rng.choice([b"", b"GET / HTTP/1.0\r\n\r\n", b"RSDE", rng.randbytes(300)]) or b"\0")
            held.append(stranger)  # and says no more
        except OSError:
            pass


def disturb(job, rng, faults, held):
    """returns  the ranks that were killed or stopped"""
    lost = set()
    ranks = []
    begun = time.monotonic()
    moment = rng.choice([0.05, 0.2, 0.6, 1.2]) * rng.random()
    while time.monotonic() - begun < moment or len(ranks) < RANKS:
        ranks = children_of(job.pid)
        if job.poll() is not None:
            return lost
        time.sleep(0.001)
    if rng.random() < 0.7:
        babble(ranks, rng, held)
    for _ in range(faults):
        rank = rng.randrange(RANKS)
        try:
            os.kill(ranks[rank], rng.choice([signal.SIGKILL, signal.SIGSTOP]))
            lost.add(rank)
        except ProcessLookupError:
            pass
    return lost


def culprits_of(program, dumps):
    """returns  the ranks that `hang` names by the dumps; none without dumps"""
    if not os.listdir(dumps):
        return set()
    answer = subprocess.run([program, "hang", "--json", dumps], capture_output=True, text=True, check=False).stdout
    return set(json.loads(answer)["verdict"]["culprits"]) if answer else set()


def play(program, seed):
    """returns  what went wrong, or nothing; and a line that describes the round"""
    rng = random.Random(seed)
    faults = rng.choice([0, 1, 1, 1, 2])
    held = []
    with tempfile.TemporaryDirectory(prefix=f"ringside-odd-{os.getpid()}-") as dumps:
        job = subprocess.Popen(
            [program, "bench", "all_reduce", "-n", str(RANKS), "-b", "8", "-e", "1M", "-f", "8", "--iters", "300",
             "--warmup", "2", "--op-timeout", f"{TIMEOUT_S}s", "--dumps", dumps, "--transport", rng.choice(["shm", "tcp"])],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        began = time.monotonic()
        lost = disturb(job, rng, faults, held)
        ranks = children_of(job.pid)
        try:
            said = job.communicate(timeout=60)[0]
        except subprocess.TimeoutExpired:
            states = {pid: state_of(pid) for pid in [job.pid, *children_of(job.pid)]}
            job.kill()
            said = job.communicate()[0]
            return f"did not end: {states}\n{said}", f"lost {sorted(lost)}"
        took = time.monotonic() - began
        for stranger in held:
            stranger.close()
        # An exchange outside the data path knows its neighbours alone; then the dumps have to show it.
        named_by_dumps = culprits_of(program, dumps)
        summary = f"lost {sorted(lost)} status {job.returncode} {took:.1f} s, {len(os.listdir(dumps))} dumps"
    left = [pid for pid in ranks if os.path.exists(f"/proc/{pid}")]
    if left:
        return f"left processes {left}\n{said}", summary
    if job.returncode == 0:
        # A rank that was hit may have had nothing left to do.
        return ("" if "Out of bounds values : 0 OK" in said else f"wrong data\n{said}"), summary
    if not lost:
        return f"failed though no rank was lost\n{said}", summary
    if took > TIMEOUT_S + GRACE_S:
        return f"took {took:.1f} s\n{said}", summary
    named = {int(rank) for rank in re.findall(r"ranks? (\d+)", said)} | named_by_dumps
    if not named & lost:
        return f"lost {sorted(lost)}, and it is not said, nor by the dumps, which name {sorted(named_by_dumps)}\n{said}", summary
    return "", summary


def main():
    program = os.path.realpath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    wrong = 0
    for at in range(seed, seed + rounds):
        why, summary = play(program, at)
        wrong += bool(why)
        print(f"{at:4} {'BAD ' if why else 'ok  '} {summary}" + (f": {why}" if why else ""), flush=True)
    print(f"{rounds} jobs, {wrong} of them wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
