#!/usr/bin/env python3
"""Times by `flow` over those by `event`, for docs/lab/accuracy.md.

    tests/study/flow_beside_event.py RINGSIDE [NODES ...]

One column a size; a row for each algorithm and protocol that NCCL has on DGX-H100 and that `flow` is off by more than 3 %
with in one of them. stderr says how many were looked at.
"""
import json
import subprocess
import sys

SIZES = ["1M", "16M", "128M", "1G"]
PAIRS = [
    (collective, algorithm, protocol)
    for collective, algorithms in [
        ("all_reduce", ["ring", "tree", "nvls_tree"]),
        ("all_gather", ["ring", "nvls"]),
        ("reduce_scatter", ["ring", "nvls"]),
        ("broadcast", ["ring"]),
        ("reduce", ["ring"]),
    ]
    for algorithm in algorithms
    for protocol in (["ll", "ll128", "simple"] if algorithm in ("ring", "tree") else ["simple"])
]


def time_of(program, pair, size, nodes, fidelity):
    """Microseconds, or None."""
    collective, algorithm, protocol = pair
    words = [program, "sim", collective, "--bytes", size, "--on", "dgx-h100", "--nodes", str(nodes)]
    words += ["--algo", algorithm, "--proto", protocol, "--fidelity", fidelity, "--json"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout)["results"][0]["time_us"] if done.returncode == 0 else None


def main():
    program, *nodes = sys.argv[1:]
    print("| nodes | collective | by |" + "".join(f" {size} |" for size in SIZES))
    print("|---|---|---|" + "---|" * len(SIZES))
    looked_at = 0
    for count in nodes or ["1", "2", "4"]:
        for pair in PAIRS:
            ratios = []
            for size in SIZES:
                event = time_of(program, pair, size, count, "event")
                flow = time_of(program, pair, size, count, "flow")
                ratios.append(flow / event if event and flow else None)
            known = [ratio for ratio in ratios if ratio is not None]
            looked_at += bool(known)
            if any(abs(ratio - 1) > 0.03 for ratio in known):
                cells = [f"{ratio:.3f}" if ratio is not None else "-" for ratio in ratios]
                print(f"| {count} | {pair[0]} | {pair[1]} {pair[2]} | " + " | ".join(cells) + " |",
                      flush=True)
    print(f"{looked_at} rows looked at", file=sys.stderr)


if __name__ == "__main__":
    main()
