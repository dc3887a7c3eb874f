#!/usr/bin/env python3
"""All-reduce of float sums: ringside compared with Open MPI and Gloo, in one sitting.

    tests/peers/compare.py BUILD_FOLDER [--write FILE] [--rounds N] [--quick]

All run alternately, N times, rank r bound to core r modulo the cores; a run's figure is the median over its
iterations of the slowest rank's time, all by `ringside bench --backend`. Printed are the median and the range over the
runs, and the ratio of ringside's median to the best peer's. Buffers of the peers are ordinary memory, ringside's are in
SharedMemory; a column has ringside on ordinary memory. Gloo
knows no shared memory: its figures over loopback TCP, measured together with the first transport, are shown next to both.
"""

import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys

SIZES = [  # bytes, iterations
    (8, 1000),
    (1 << 10, 1000),
    (64 << 10, 300),
    (1 << 20, 60),
    (64 << 20, 6),
    (256 << 20, 3),
]
HEADLINE_SIZES = (64 << 10, 64 << 20)  # shown for both kinds of buffers, above the table
CASES = [("shm", 2), ("shm", 4), ("tcp", 2), ("tcp", 4)]
TIMEOUT_S = 120


def output_of(command, **variables):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, env={**os.environ, **variables})
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)} ended with {done.returncode}\n{done.stderr}")
    return done.stdout


TITLE = "All-reduce compared with Open MPI and Gloo"


def ringside_us(build, transport, ranks, size, iterations, buffers="shared"):
    command = [f"{build}/cli/ringside", "bench", "all_reduce", "-n", str(ranks), "-b", str(size),
               "-e", str(size), "--iters", str(iterations), "--transport", transport,
               "--bind", "core", "--buffers", buffers, "--json"]
    result = json.loads(output_of(command))["results"][0]
    if result["wrong"] or result["in_place"]["wrong"]:
        sys.exit("error: wrong data: " + " ".join(command))
    return result["time_us"]


def peer_us(backend, build, transport, ranks, size, iterations):
    layers = "self,vader" if transport == "shm" else "self,tcp"
    command = [f"{build}/cli/ringside", "bench", "all_reduce", "-n", str(ranks), "-b", str(size), "-e", str(size),
               "--iters", str(iterations), "--backend", backend, "--bind", "none" if backend == "mpi" else "core", "--json"]
    result = json.loads(output_of(command, OMPI_MCA_btl=layers))["results"][0]
    if result["wrong"]:
        sys.exit("error: wrong data: " + " ".join(command))
    return result["time_us"]


def mpi_us(*call):
    return peer_us("mpi", *call)


def gloo_us(*call):
    return peer_us("gloo", *call)


def size_text(size):
    for step, unit in ((1 << 20, "M"), (1 << 10, "K")):
        if size % step == 0:
            return f"{size // step}{unit}"
    return str(size)


def summary(times):
    return f"{statistics.median(times):.2f} ({min(times):.2f} .. {max(times):.2f})"


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")),
                     platform.machine())
    mpi = output_of(["mpirun", "--version"]).splitlines()[0]
    return (f"{os.cpu_count()} cores ({model}), Linux {platform.release()}; {mpi}; load average at the "
            f"start {os.getloadavg()[0]:.1f}")


def replace_section(path, lines):
    """The other sections of the page stay as they are."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    section = "\n".join(lines) + "\n"
    old = re.compile(rf"^## {re.escape(TITLE)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    page = (old.sub(lambda _: section + "\n", page) if old.search(page)
            else f"{page.rstrip()}\n\n{section}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page.rstrip() + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--write", metavar="FILE", help="also write the table here, as Markdown")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a fifth of the iterations")
    options = parser.parse_args()
    peers = [("Open MPI", mpi_us)]
    if os.path.exists(f"{options.build}/harness/peers/ringside-peer-gloo.so"):
        peers.append(("Gloo (tcp)", gloo_us))

    names = " | ".join(f"{name} us" for name, _ in peers)
    lines = [
        f"## {TITLE}",
        "",
        f"`./run bench --peers` on {datetime.date.today()}: float sums, {options.rounds} runs of each in "
        "turn; us per call, median (least .. most) of the runs. A ratio below 1 means that ringside takes "
        "less time than the best of the others.",
        f"Machine: {machine()}. All ranks bound, rank r to core r modulo the cores. Each core copies "
        f"{output_of([f'{options.build}/tests/peers/ringside_peer_memory_copy']).strip()} GB/s around the "
        "caches while the others do: what an all-reduce of 2 ranks can reach, since each must read and "
        "write its buffer.",
        "",
        f"| transport | ranks | size | ringside us | {names} | ratio | busbw GB/s | private us | private ratio |",
        "|---|---|---|---|" + "---|" * len(peers) + "---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    heads = []
    gloo_times = {}
    for transport, ranks in CASES:
        for size, iterations in SIZES:
            count = max(2, iterations // 5) if options.quick else iterations
            known = gloo_times.get((ranks, size))
            ours, private, theirs = [], [], [[] for _ in peers]
            for _ in range(options.rounds):
                ours.append(ringside_us(options.build, transport, ranks, size, count))
                if transport == "shm":
                    private.append(
                        ringside_us(options.build, transport, ranks, size, count, "private"))
                for times, (_, measure) in zip(theirs, peers):
                    if measure is gloo_us and known:
                        continue
                    times.append(measure(options.build, transport, ranks, size, count))
            if known:
                theirs[-1] = known
            elif len(peers) > 1:
                gloo_times[(ranks, size)] = theirs[-1]
            mine = statistics.median(ours)
            best = min(statistics.median(times) for times in theirs)
            busbw = size / mine * 2 * (ranks - 1) / ranks / 1e3
            columns = " | ".join(summary(times) for times in theirs)
            own = f"{summary(private)} | {statistics.median(private) / best:.2f}" if private else " | "
            lines.append(f"| {transport} | {ranks} | {size_text(size)} | {summary(ours)} | {columns} "
                         f"| {mine / best:.2f} | {busbw:.2f} | {own} |")
            print(lines[-1], flush=True)
            if private and size in HEADLINE_SIZES:
                heads.append(f"{size_text(size)} among {ranks} ranks takes {mine / best:.2f} of the best peer's time "
                             f"in SharedMemory and {statistics.median(private) / best:.2f} in ordinary memory")
    headline = "In shared memory: " + "; ".join(heads) + "."
    print("\n" + headline, flush=True)
    lines[5:5] = [headline, ""]
    if options.write:
        replace_section(options.write, lines)


if __name__ == "__main__":
    main()
