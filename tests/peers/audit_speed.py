#!/usr/bin/env python3
"""How fast `ringside audit` reads the logs of a large job, compared with wc and ripgrep.

    tests/peers/audit_speed.py BUILD_FOLDER [--log FILE] [--rounds N] [--write FILE]

Without --log it generates three, each about 1 GB of 1,024 ranks on 128 hosts with nothing wrong: "calls" has
every collective (COLL), "tuning" what was chosen for it (TUNING) too, "init" what NCCL_DEBUG=INFO alone
prints, of many communicators. Each program runs N times from the page cache, alternately; printed is the median rate of
the wall clock with its range, and the most memory that one run took. Needs taskset (util-linux) and rg
(ripgrep).
"""

import argparse
import datetime
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

CLUSTER = ["--on", "dgx-h100", "--nodes", "128", "--nccl", "2.21.5", "--interleave"]
LOGS = {
    "calls": ["--subsys", "INIT,ENV,NET,COLL", "--repeat", "4", "--calls", "510"],
    "tuning": ["--subsys", "INIT,GRAPH,ENV,NET,TUNING,COLL", "--repeat", "4", "--calls", "330"],
    "init": ["--repeat", "99"],
}
CAPTURED = 100_000_000  # bytes of the log for ripgrep's captures, which take 0.05 GB/s
TIMEOUT_S = 170


def programs(ringside, log):
    """Name, command, and whether its exit status may be 1 (a finding)."""
    one = ["taskset", "-c", "0"]
    return [
        ("wc -l", [*one, "wc", "-l", log], False),
        ("rg -c 'NCCL INFO'", [*one, "rg", "-c", "-j1", "NCCL INFO", log], False),
        ("ringside audit, one core", [*one, ringside, "audit", "--threads", "1", log], True),
        ("ringside audit, two cores",
         ["taskset", "-c", "0,1", ringside, "audit", "--threads", "2", log], True),
    ]


def captures(log, folder):
    """GB/s of ripgrep that prints two captures a line, once, of the log's first bytes."""
    head = os.path.join(folder, "head.log")
    with open(log, "rb") as source, open(head, "wb") as file:
        file.write(source.read(CAPTURED))
    seconds, memory = run(["taskset", "-c", "0", "rg", "-j1", "-N", "-o",
                           r"\[(\d+)\] NCCL INFO (\w+)", "-r", "$1 $2", head], False)
    return os.path.getsize(head) / seconds / 1e9, memory


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


def generate(ringside, folder, options):
    begin = time.monotonic()
    subprocess.run([ringside, "generate", "logs", "-o", folder, *CLUSTER, *options], check=True,
                   timeout=TIMEOUT_S, stdout=subprocess.DEVNULL)
    return os.path.join(folder, "job.log"), time.monotonic() - begin


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


def rows(name, log, seen, captured):
    size = os.path.getsize(log) / 1e9
    lines = [f"| {name}, {size:.2f} GB | {program} | {statistics.median(rates):.2f} ({min(rates):.2f} .. "
             f"{max(rates):.2f}) | {max(peaks):.0f} |" for program, (rates, peaks) in seen.items()]
    rate, memory = captured
    lines.append(f"| {name}, its first {CAPTURED / 1e9:.1f} GB | rg, two captures a line, once | {rate:.2f} | "
                 f"{memory:.0f} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="build folder with cli/ringside")
    parser.add_argument("--log", help="an existing log instead of a generated one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", help="also write the table into this file")
    arguments = parser.parse_args()
    ringside = os.path.join(arguments.build, "cli", "ringside")
    lines = [f"{datetime.date.today()}, {os.cpu_count()} cores of {cpu_name()}, load average at the start "
             f"{os.getloadavg()[0]:.1f}. From the page cache, {arguments.rounds} alternating rounds, median (range).",
             "", "| log | program | GB/s | most memory, MB |", "|---|---|---|---|"]
    for name, options in [("given", None)] if arguments.log else LOGS.items():
        with tempfile.TemporaryDirectory(prefix="ringside-audit-") as folder:
            log, seconds = arguments.log, None
            if not log:
                log, seconds = generate(ringside, folder, options)
            seen = measure(ringside, log, arguments.rounds)
            lines += rows(name, log, seen, captures(log, folder))
            if seconds:
                print(f"{name}: generate logs {' '.join(CLUSTER + options)}: {seconds:.1f} s", file=sys.stderr)
    text = "\n".join(lines) + "\n"
    if arguments.write:
        with open(arguments.write, "w", encoding="utf-8") as file:
            file.write(text)
    print(text, end="")


if __name__ == "__main__":
    main()
