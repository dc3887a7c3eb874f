#!/usr/bin/env python3
"""All-reduce between hosts of a known line rate (hosts.py), beside the line.

    tests/network/line_rate.py PATH/OF/ringside [--rate 1gbit] [--rounds 5]

Prints, for 2 and 4 hosts of one rank each, the bus bandwidth of 64 MiB as a share of the line: the median of the rounds, and
their range; and the same with 2 % of the packets lost, whose data are checked, too. For docs/benchmarks.md; no test.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True
from hosts import Hosts, wait_all, why_not  # noqa: E402

GBITS = {"gbit": 1.0, "mbit": 1e-3}


def gigabytes(rate):
    unit = next(unit for unit in GBITS if rate.endswith(unit))
    return float(rate[: -len(unit)]) * GBITS[unit] / 8


def one_round(program, nhosts, rate, permille):
    with Hosts(nhosts, rate) as hosts:
        if permille:
            hosts.lose(2, permille)
        words = [program, "bench", "all_reduce", "-b", "64M", "-e", "64M", "--iters", "5", "-w", "1", "--json"]
        ranks = hosts.start_ranks(words, nhosts)
        if wait_all(ranks, 180) is None:
            sys.exit(f"no end in 180 s:\n{hosts.said(0)}")
        row = json.loads(hosts.said(0))["results"][0]
        return row["busbw_gbs"], row["wrong"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    reason = why_not()
    if reason:
        sys.exit(f"left out: {reason}")
    line = gigabytes(options.rate)
    program = str(Path(options.program).resolve())
    print(f"line {options.rate}: {line:.3f} GB/s a direction; all_reduce, 64 MiB, float, {options.rounds} rounds")
    for nhosts in (2, 4):
        for permille in (0, 20):
            rounds = [one_round(program, nhosts, options.rate, permille) for _ in range(options.rounds)]
            shares = sorted(100 * busbw / line for busbw, _ in rounds)
            wrong = sum(wrong for _, wrong in rounds)
            print(f"{nhosts} hosts, {permille / 10:.0f} % lost: {statistics.median(shares):.1f} % of the line "
                  f"({shares[0]:.1f} to {shares[-1]:.1f}), wrong: {wrong}")


if __name__ == "__main__":
    main()
