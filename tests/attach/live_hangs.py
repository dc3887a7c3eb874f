#!/usr/bin/env python3
"""Hangs real jobs of 8 ranks by seeded faults, and asks each from outside, with `ringside attach` alone.

usage: live_hangs.py RINGSIDE HELD_JOB PLANS [--least RIGHT] [--compare] [--hold SECONDS]

A verdict is right when it comes within 15 s, is a hang, and names exactly the rank of the fault. --compare runs each plan once
more without attach: the job must end in the same way. Exit status 1: fewer than --least right, or a job that ended otherwise.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from ringside.launch import HeldPort  # noqa: E402

# Places of the five kinds in real_hang.cpp's table, which a seed modulo 15 selects.
KINDS = {0: "skip", 2: "wrong_count", 8: "reorder", 1: "kill", 11: "stop"}
LONGEST_S = 15.0


def ask(arguments, port):
    """returns  what attach answers, and its seconds"""
    began = time.monotonic()
    run = subprocess.run([arguments.ringside, "attach", "--json", f"localhost:{port}"],
                         capture_output=True, text=True, timeout=120, check=False)
    took = time.monotonic() - began
    try:
        return json.loads(run.stdout), took
    except ValueError:
        return {"error": run.stderr.strip().splitlines()[-2:]}, took


def run_job(arguments, seed, asks):
    """returns  the truth, attach's answer, its seconds, how the job ended"""
    with HeldPort() as port:
        return ask_job(arguments, seed, asks, port)


def ask_job(arguments, seed, asks, port):
    job = subprocess.Popen([arguments.held_job, str(seed), str(port), str(arguments.hold)],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    truth = json.loads(job.stdout.readline())
    answer, took = {}, 0.0
    if asks:
        # On a busy machine the job takes a while to reach its fault: until then it moves, and attach says so.
        while answer.get("state", "moves") == "moves" and job.poll() is None:
            time.sleep(1.0)
            answer, took = ask(arguments, port)
    ended = job.stdout.read().strip().splitlines()[-1:]
    job.wait()
    return truth, answer, took, ended


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ringside")
    parser.add_argument("held_job")
    parser.add_argument("plans", type=int)
    parser.add_argument("--first", type=int, default=0, help="of the seeds")
    parser.add_argument("--least", type=int)
    parser.add_argument("--hold", type=float, default=14)
    parser.add_argument("--compare", action="store_true")
    arguments = parser.parse_args()
    right = unlike = 0
    slowest = 0.0
    places = list(KINDS)
    for plan in range(arguments.plans):
        seed = 15 * (arguments.first + plan // len(places)) + places[plan % len(places)]
        truth, answer, took, ended = run_job(arguments, seed, True)
        while ended == ["ended well"]:
            # The fault did no harm: calls of one size that change places, say. Another one is drawn.
            seed += 15 * 1000
            truth, answer, took, ended = run_job(arguments, seed, True)
        verdict = answer.get("hang", {}).get("verdict", {})
        is_right = (verdict.get("culprits") == truth["culprits"] and took <= LONGEST_S
                    and verdict.get("kind") not in ("not_a_hang", None))
        right += is_right
        slowest = max(slowest, took)
        told = "" if is_right else f" | {verdict.get('why', answer.get('error'))}"
        print(f"{seed:4} {'ok  ' if is_right else 'MISS'} {truth['workload']:9} {truth['fault']:28} "
              f"{answer.get('state')} {verdict.get('kind')} {verdict.get('culprits')} {took:.1f} s, "
              f"job: {ended}{told}", flush=True)
        if arguments.compare:
            _, _, _, alone = run_job(arguments, seed, False)
            if alone != ended:
                unlike += 1
                print(f"     the job ended otherwise than alone: {alone}")
    print(f"{right} of {arguments.plans} right, slowest {slowest:.1f} s, {unlike} jobs ended otherwise")
    least = arguments.plans if arguments.least is None else arguments.least
    return 0 if right >= least and unlike == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
