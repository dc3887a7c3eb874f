#!/usr/bin/env python3
"""How fast `ringside audit` reads the log of a large job, beside wc and ripgrep.

    tests/peers/audit_speed.py BUILD_FOLDER [--log FILE] [--rounds N] [--write FILE]

Without --log it generates one: 1,024 ranks on 128 hosts, about 1 GB, of known truth (nothing is wrong with
it). Each program runs N times from the page cache, in turn; printed is the median rate and the range, and
the most memory that one run took. Needs taskset (util-linux) and rg (ripgrep).
"""

import argparse
import datetime
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

GENERATE = ["--on", "dgx-h100", "--nodes", "128", "--nccl", "2.21.5", "--interleave",
            "--subsys", "INIT,GRAPH,ENV,NET,TUNING,COLL", "--repeat", "4", "--calls", "330"]
TIMEOUT_S = 170


def programs(ringside, log):
    """Name, command, and whether its exit status may be 1 (a finding)."""
    return [
        ("wc -l", ["taskset", "-c", "0", "wc", "-l", log], False),
        ("rg -c 'NCCL INFO'", ["taskset", "-c", "0", "rg", "-c", "-j1", "NCCL INFO", log], False),
        ("rg, two captures a line",
         ["taskset", "-c", "0", "rg", "-j1", "-N", "-o", r"\[(\d+)\] NCCL INFO (\w+)", "-r", "$1 $2",
          log], False),
        ("ringside audit, one core", ["taskset", "-c", "0", ringside, "audit", log], True),
        ("ringside audit, two cores", ["taskset", "-c", "0,1", ringside, "audit", log], True),
    ]


def run(command, may_find):
    """Seconds of wall clock, and the most memory in MB."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - begin
    code = os.waitstatus_to_exitcode(status)
    if code != 0 and not (may_find and code == 1):
        sys.exit(f"error: {' '.join(command)} ended with {code}\n"
                 f"{child.stderr.read().decode(errors='replace')}")
    return seconds, usage.ru_maxrss / 1024


def generate(ringside, folder):
    begin = time.monotonic()
    subprocess.run([ringside, "topo", "--logs", folder, *GENERATE], check=True, timeout=TIMEOUT_S,
                   stdout=subprocess.DEVNULL)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return os.path.join(folder, "job.log"), time.monotonic() - begin, children.ru_maxrss / 1024


def cpu_name():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()


def measure(ringside, log, rounds):
    size = os.path.getsize(log)
    seen = {}
    for _ in range(rounds):
        for name, command, may_find in programs(ringside, log):
            seconds, memory = run(command, may_find)
            rates, peaks = seen.setdefault(name, ([], []))
            rates.append(size / seconds / 1e9)
            peaks.append(memory)
    return seen


def report(log, seen, rounds, generated):
    size = os.path.getsize(log)
    lines = ["## audit", "",
             f"{datetime.date.today()}, {os.cpu_count()} cores of {cpu_name()}. A log of {size / 1e9:.2f} GB from "
             f"the page cache, {rounds} rounds in turn, median (range).", "",
             "| program | GB/s | most memory, MB |", "|---|---|---|"]
    for name, (rates, peaks) in seen.items():
        lines.append(f"| {name} | {statistics.median(rates):.2f} ({min(rates):.2f} .. {max(rates):.2f}) | "
                     f"{max(peaks):.0f} |")
    if generated:
        seconds, memory = generated
        lines += ["", f"`ringside topo --logs DIR {' '.join(GENERATE)}` wrote it in {seconds:.1f} s "
                      f"within {memory:.0f} MB."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="build folder with cli/ringside")
    parser.add_argument("--log", help="an existing log instead of a generated one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", help="also write the table into this file")
    arguments = parser.parse_args()
    ringside = os.path.join(arguments.build, "cli", "ringside")
    with tempfile.TemporaryDirectory(prefix="ringside-audit-") as folder:
        log, generated = arguments.log, None
        if not log:
            log, seconds, memory = generate(ringside, folder)
            generated = (seconds, memory)
        text = report(log, measure(ringside, log, arguments.rounds), arguments.rounds, generated)
    if arguments.write:
        with open(arguments.write, "w", encoding="utf-8") as file:
            file.write(text)
    print(text, end="")


if __name__ == "__main__":
    main()
