#!/usr/bin/env python3
"""All-reduce of float sums over shared memory: ringside beside Open MPI, in one sitting.

    tests/peers/compare.py BUILD_FOLDER [--write FILE] [--pairs N]

For each case the two run in turn, N times; a run's figure is the median over its iterations of the
slowest rank's time. Printed are the median and the range over the runs, and the ratio of the medians.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys

CASES = [  # ranks, bytes, iterations
    (2, 8, 2000),
    (2, 1 << 10, 2000),
    (2, 64 << 10, 500),
    (2, 1 << 20, 100),
    (2, 16 << 20, 30),
    (2, 64 << 20, 15),
    (4, 8, 500),
    (4, 64 << 10, 200),
    (4, 16 << 20, 20),
]


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)} ended with {done.returncode}\n{done.stderr}")
    return done.stdout


def ringside_us(build, ranks, size, iterations):
    command = [f"{build}/cli/ringside", "bench", "all_reduce", "-n", str(ranks), "-b", str(size),
               "-e", str(size), "--iters", str(iterations), "--json"]
    result = json.loads(output_of(command))["results"][0]
    if result["wrong"] or result["in_place"]["wrong"]:
        sys.exit("error: wrong data: " + " ".join(command))
    return result["time_us"]


def mpi_us(build, ranks, size, iterations):
    # By default Open MPI binds each rank to a core while there are enough, and none beyond that.
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks),
               f"{build}/tests/peers/ringside_peer_mpi", str(size), str(size), "2", str(iterations)]
    return float(output_of(command).split()[1])


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
    return f"{os.cpu_count()} cores ({model}), Linux {platform.release()}; {mpi}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--write", metavar="FILE", help="also write the table here, as Markdown")
    parser.add_argument("--pairs", type=int, default=7)
    options = parser.parse_args()

    lines = [
        "# All-reduce beside Open MPI",
        "",
        f"`./run bench --peers` on {datetime.date.today()}: float sums, shared memory, "
        f"{options.pairs} runs of each in turn; us per call, median (least .. most) of the runs.",
        f"Machine: {machine()}. Open MPI with its defaults; ringside unpinned, built with -O2.",
        "",
        "| ranks | size | ringside us | Open MPI us | time ratio | ringside busbw GB/s | Open MPI busbw GB/s |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for ranks, size, iterations in CASES:
        ours, theirs = [], []
        for _ in range(options.pairs):
            ours.append(ringside_us(options.build, ranks, size, iterations))
            theirs.append(mpi_us(options.build, ranks, size, iterations))
        a, b = statistics.median(ours), statistics.median(theirs)
        busbw = [size / us * 2 * (ranks - 1) / ranks / 1e3 for us in (a, b)]
        lines.append(f"| {ranks} | {size_text(size)} | {summary(ours)} | {summary(theirs)} "
                     f"| {a / b:.2f} | {busbw[0]:.2f} | {busbw[1]:.2f} |")
        print(lines[-1], flush=True)
    if options.write:
        with open(options.write, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
