#!/usr/bin/env python3
"""Whether MSG_ZEROCOPY makes sends between two hosts (hosts.py) cheaper: CPU seconds of the sender, and the rate.

    tests/network/zero_copy.py [--rate 10gbit] [--rounds 5]

Sends 1 GiB in pieces of 256 KiB, as tcp's slots between hosts are, both ways of sending alternately. For docs/lab/benchmarks.md; no test.
The kernel says of each send whether it was copied all the same, as it does where the receiver is on the same machine.
"""

import argparse
import os
import resource
import select
import socket
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True
from hosts import Hosts, search_path, why_not  # noqa: E402

SO_ZEROCOPY = 60
MSG_ZEROCOPY = 0x4000000
PIECE = 256 << 10
ALL = 1 << 30
PORT = 29600


def receive():
    with socket.create_server(("0.0.0.0", PORT)) as door:
        peer, _ = door.accept()
        room = bytearray(1 << 20)
        while peer.recv_into(room):
            pass


def notices(peer):
    """returns  sends that the kernel has ended, those of them that it copied"""
    ended = copied = 0
    while True:
        try:
            _, extra, _, _ = peer.recvmsg(0, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return ended, copied
        for _, _, data in extra:
            # struct sock_extended_err: the range of sends in info and data; code 1: copied
            _, _, _, code, _, first, last = struct.unpack_from("=IBBBBII", data)
            ended += last - first + 1
            copied += (last - first + 1) * (code == 1)


def send(address, flag):
    peer = socket.create_connection((address, PORT))
    if flag:
        peer.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    piece = memoryview(os.urandom(PIECE))
    sends = ended = copied = sent = 0
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
    while sent < ALL or ended < sends:
        if flag:
            more = notices(peer)
            ended, copied = ended + more[0], copied + more[1]
        if sent < ALL:
            try:
                sent += peer.send(piece, MSG_ZEROCOPY if flag else 0)
                sends += flag
            except OSError:  # ENOBUFS: too much is on its way
                time.sleep(0.0005)
        elif ended < sends:
            select.select([], [], [peer], 0.01)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(cpu, ALL / (time.monotonic() - began) / 1e9, copied / max(1, sends))


def main():
    if len(sys.argv) == 2 and sys.argv[1] == "receive":
        return receive()
    if len(sys.argv) == 4 and sys.argv[1] == "send":
        return send(sys.argv[2], int(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", default="10gbit")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    reason = why_not()
    if reason:
        sys.exit(f"skipped: {reason}")
    print(f"1 GiB in pieces of 256 KiB over {options.rate}, load {os.getloadavg()[0]:.1f}; median of {options.rounds}")
    results = {0: [], 1: []}
    for _ in range(options.rounds):
        for flag in results:
            with Hosts(2, options.rate) as hosts:
                hosts.start(2, [sys.executable, __file__, "receive"])
                time.sleep(0.5)
                words = ["ip", "netns", "exec", hosts.name(1), sys.executable, __file__, "send", "10.88.0.2", str(flag)]
                said = subprocess.run(words, capture_output=True, text=True, check=True,
                                      env={**os.environ, "PATH": search_path()}).stdout
                results[flag].append([float(word) for word in said.split()])
    for flag, rounds in results.items():
        cpu, rate, copied = (statistics.median(values) for values in zip(*rounds))
        print(f"{'MSG_ZEROCOPY' if flag else 'copied      '}: {cpu:.3f} CPU s of the sender, {rate:.3f} GB/s"
              + (f", copied all the same: {100 * copied:.0f} % of the sends" if flag else ""))
    return None


if __name__ == "__main__":
    main()
