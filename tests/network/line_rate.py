#!/usr/bin/env python3
"""All-reduce between hosts of a known line rate (hosts.py), compared with the line.

    tests/network/line_rate.py PATH/OF/ringside [--rate 1gbit] [--rounds 5]

Prints, for 2 and 4 hosts of one rank each, the bus bandwidth of 64 MiB as a share of the line: the median of the rounds, and
their range; and the same with 2 % of the packets lost, whose data are checked, too. Before each round the same hosts send
plain TCP streams around the same ring: what this machine gets out of such a line at that time. For docs/lab/benchmarks.md; no test.
"""

import argparse
import json
import os
import socket
import statistics
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True
from hosts import Hosts, wait_all, why_not  # noqa: E402

GBITS = {"gbit": 1.0, "mbit": 1e-3}


def gigabytes(rate):
    unit = next(unit for unit in GBITS if rate.endswith(unit))
    return float(rate[: -len(unit)]) * GBITS[unit] / 8


PORT = 29700
STREAM_S = 3


def stream(target):
    """Sends to the next host and takes from the one before, for a while. Prints the GB/s that came."""
    door = socket.create_server(("0.0.0.0", PORT))
    time.sleep(0.5)
    out = socket.create_connection((target, PORT), timeout=10)
    came, _ = door.accept()
    end = time.monotonic() + STREAM_S

    def send():
        piece = bytes(256 << 10)
        out.settimeout(0.2)
        while time.monotonic() < end:
            try:
                out.send(piece)
            except TimeoutError:
                pass

    sender = threading.Thread(target=send)
    sender.start()
    room, total, began = bytearray(1 << 20), 0, time.monotonic()
    came.settimeout(0.2)
    while time.monotonic() < end:
        try:
            total += came.recv_into(room)
        except TimeoutError:
            pass
    print(total / (time.monotonic() - began) / 1e9, flush=True)
    sender.join()
    time.sleep(0.5)


def plain_rate(hosts, nhosts):
    """GB/s of the slowest of the streams."""
    files = [hosts.folder / f"stream.{host}" for host in range(nhosts)]
    running = [hosts.start(host + 1, [sys.executable, __file__, "stream", f"10.88.0.{(host + 1) % nhosts + 1}"], output=file)
               for host, file in enumerate(files)]
    wait_all(running, 60)
    return min(float(file.read_text()) for file in files)


def one_round(program, nhosts, rate, permille):
    with Hosts(nhosts, rate) as hosts:
        if permille:
            hosts.lose(2, permille)
        plain = plain_rate(hosts, nhosts)
        words = [program, "bench", "all_reduce", "-b", "64M", "-e", "64M", "--iters", "5", "-w", "1", "--json"]
        ranks = hosts.start_ranks(words, nhosts)
        if wait_all(ranks, 180) is None:
            sys.exit(f"no end in 180 s:\n{hosts.said(0)}")
        row = json.loads(hosts.said(0))["results"][0]
        return row["busbw_gbs"], row["wrong"], plain


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "stream":
        stream(sys.argv[2])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    reason = why_not()
    if reason:
        sys.exit(f"skipped: {reason}")
    line = gigabytes(options.rate)
    program = str(Path(options.program).resolve())
    print(f"line {options.rate}: {line:.3f} GB/s a direction; all_reduce, 64 MiB, float, {options.rounds} rounds; "
          f"load {os.getloadavg()[0]:.1f}")
    for nhosts in (2, 4):
        for permille in (0, 20):
            rounds = [one_round(program, nhosts, options.rate, permille) for _ in range(options.rounds)]
            shares = sorted(100 * busbw / line for busbw, _, _ in rounds)
            wrong = sum(wrong for _, wrong, _ in rounds)
            plain = statistics.median(100 * plain / line for _, _, plain in rounds)
            ratio = statistics.median(busbw / plain for busbw, _, plain in rounds)
            print(f"{nhosts} hosts, {permille / 10:.0f} % lost: {statistics.median(shares):.1f} % of the line "
                  f"({shares[0]:.1f} to {shares[-1]:.1f}); plain streams {plain:.1f} %, ratio {ratio:.2f}; wrong: {wrong}")


if __name__ == "__main__":
    main()
