#!/usr/bin/env python3
"""All-reduce of float sums: ringside compared with Open MPI and Gloo, in one sitting.

    tests/peers/compare.py BUILD_FOLDER [--write FILE] [--rounds N] [--quick]

All run alternately, N times, rank r bound to core r modulo the cores; a run's figure is the median over its
iterations of the slowest rank's time, all by `ringside bench --backend`. Printed are the median over the runs, and the
ratio of ringside's median to the best peer's; --write adds the range. Buffers of the peers are ordinary memory, ringside's are in
SharedMemory; a column has ringside on ordinary memory. Gloo
knows no shared memory: its figures over loopback TCP, measured together with the first transport, are shown next to both.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
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


# name, function, module of harness/peers, Debian's packages
PEERS = [
    ("Open MPI", mpi_us, "mpi", "openmpi-bin libopenmpi-dev"),
    ("Gloo (tcp)", gloo_us, "gloo", "libgloo-dev"),
]


def size_text(size):
    for step, unit in ((1 << 20, "M"), (1 << 10, "K")):
        if size % step == 0:
            return f"{size // step}{unit}"
    return str(size)


def summary(times):
    return f"{statistics.median(times):.2f} ({min(times):.2f} .. {max(times):.2f})"


def found_peers(build):
    """Those that this build and this machine have: [(name, function)]. Reports the others."""
    found = []
    for name, measure, module, packages in PEERS:
        if not os.path.exists(f"{build}/harness/peers/ringside-peer-{module}.so"):
            print(f"note: without {name}: it was not there when {build} was configured: apt-get install {packages}", file=sys.stderr)
        elif module == "mpi" and shutil.which("mpirun") is None:
            print(f"note: without {name}: no program mpirun: apt-get install openmpi-bin", file=sys.stderr)
        else:
            found.append((name, measure))
    if not found:
        sys.exit("error: nothing to compare with: neither Open MPI nor Gloo is there\n"
                 "  ringside alone: ./run bench all_reduce -n 2 -b 8 -e 64M -f 8")
    return found


def time_text(time_us):
    return f"{time_us:.2f}" if time_us < 1000 else f"{time_us:.0f}"


def print_row(transport, ranks, size, *cells):
    print(f"{transport:<9}{ranks:>6}{size:>6}  " + "".join(f"{cell:>12}" for cell in cells).rstrip(), flush=True)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")),
                     platform.machine())
    mpi = f"; {output_of(['mpirun', '--version']).splitlines()[0]}" if shutil.which("mpirun") else ""
    return (f"{os.cpu_count()} cores ({model}), Linux {platform.release()}{mpi}; load average at the "
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
    parser.add_argument("--write", metavar="FILE", help="also write the table here, as Markdown, with ranges")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a fifth of the iterations")
    options = parser.parse_args()
    peers = found_peers(options.build)

    about = machine()
    copies = output_of([f"{options.build}/tests/peers/ringside_peer_memory_copy"]).strip()
    lines = [
        f"## {TITLE}",
        "",
        f"`./run bench --peers` on {datetime.date.today()}: float sums, {options.rounds} runs of each in "
        "turn; us per call, median (least .. most) of the runs. A ratio below 1 means that ringside takes "
        "less time than the best of the others.",
        f"Machine: {about}. All ranks bound, rank r to core r modulo the cores. Each core copies "
        f"{copies} GB/s around the caches while the others do: what an all-reduce of 2 ranks can reach, since each must "
        "read and write its buffer.",
        "",
        f"| transport | ranks | size | ringside us | {' | '.join(f'{name} us' for name, _ in peers)} | ratio | busbw GB/s "
        "| private us | private ratio |",
        "|---|---|---|---|" + "---|" * len(peers) + "---|---|---|---|",
    ]
    print(f"{about}; each core copies {copies} GB/s\n"
          f"all_reduce of float, us per call: the median of {options.rounds} runs of each, one after the other\n"
          "ratio: ringside's time to that of the best of the others; below 1 ringside is faster\n"
          "private: the same with ringside's buffers in ordinary memory, as those of the others are\n")
    print_row("transport", "ranks", "size", "ringside", *(name for name, _ in peers), "ratio", "busbw GB/s", "private", "ratio")
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
            elif peers[-1][1] is gloo_us:
                gloo_times[(ranks, size)] = theirs[-1]
            mine = statistics.median(ours)
            medians = [statistics.median(times) for times in theirs]
            best = min(medians)
            ratio = f"{mine / best:.2f}"
            busbw = f"{size / mine * 2 * (ranks - 1) / ranks / 1e3:.2f}"
            private_ratio = f"{statistics.median(private) / best:.2f}" if private else ""
            print_row(transport, ranks, size_text(size), time_text(mine), *map(time_text, medians), ratio, busbw,
                      time_text(statistics.median(private)) if private else "", private_ratio)
            cells = [transport, ranks, size_text(size), summary(ours), *map(summary, theirs), ratio, busbw,
                     summary(private) if private else "", private_ratio]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
            if private and size in HEADLINE_SIZES:
                heads.append(f"{size_text(size)} among {ranks} ranks takes {ratio} of the best peer's time "
                             f"in SharedMemory and {private_ratio} in ordinary memory")
    if options.write:
        lines[5:5] = ["In shared memory: " + "; ".join(heads) + ".", ""]
        replace_section(options.write, lines)
        print(f"\nwith the range of the runs: {options.write}")


if __name__ == "__main__":
    main()
